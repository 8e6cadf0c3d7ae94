/* key_command.h -- `stator key` and `stator policy`: the access keys and what they may do.
 *
 * At the top of src/ because it connects layers, as serve.h does. Works on the file of keys, which
 * a running server follows; so it needs no server, and none needs a restart.
 */
#ifndef STATOR_COMMAND_KEY_COMMAND_H
#define STATOR_COMMAND_KEY_COMMAND_H
#include "base/compiler.h"

struct arena;
struct config_result;

/* Does what the words say. Returns the process's exit code: 0, or 1 or 2 with one line on standard
 * error if that failed or makes no sense. */
MUST_CHECK int key_command(struct arena *arena, const struct config_result *request);

#endif
