/* trigger_command.h -- `stator trigger add|list|remove`: asks a running server over HTTP.
 *
 * Beside main.c like the other commands. It knows the words of the command line; what they mean is
 * the server's to decide.
 */
#ifndef STATOR_COMMAND_TRIGGER_COMMAND_H
#define STATOR_COMMAND_TRIGGER_COMMAND_H
#include "base/compiler.h"

/* `argv` holds the words behind "trigger". Returns the process's exit code: 0, 1 if the server
 * refused or cannot be reached, 2 if the command line makes no sense. */
MUST_CHECK int trigger_command(int argc, char *const *argv);

#endif
