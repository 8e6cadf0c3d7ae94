/* template_error.h -- sets the error about a template. Private to template/.
 *
 * Each returns false, so that `return template_error_set(...)` fails. The first error counts.
 */
#ifndef STATOR_TEMPLATE_TEMPLATE_ERROR_H
#define STATOR_TEMPLATE_TEMPLATE_ERROR_H
#include <stdbool.h>
#include "base/compiler.h"
#include "template/template.h"

bool template_error_set(struct arena *arena, struct template_error *err, unsigned line,
                        const char *format, ...) PRINTF_LIKE(4, 5);

#endif
