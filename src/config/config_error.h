/* config_error.h -- why the settings were refused: one line that names where the value came from.
 */
#ifndef STATOR_CONFIG_CONFIG_ERROR_H
#define STATOR_CONFIG_CONFIG_ERROR_H
#include <stdbool.h>
#include "base/compiler.h"

enum { CONFIG_ERROR_MAX = 512 };

struct config_error {
    char text[CONFIG_ERROR_MAX]; /* Cut if longer; never more than one line. */
};

/* Returns false, so that a caller can fail in one statement. */
bool config_error_set(struct config_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
