/* open_store.h -- a store opened for reading, for the commands that work without a server.
 *
 * At the top of src/ because it connects layers, as serve.h does.
 */
#ifndef STATOR_COMMAND_OPEN_STORE_H
#define STATOR_COMMAND_OPEN_STORE_H
#include "base/compiler.h"

struct config;
struct engine;

/* The store in `directory`, locked, with the settings' memory. NULL with one line on standard error
 * if it cannot be opened. */
MUST_CHECK struct engine *open_store(const struct config *config, const char *directory);

#endif
