/* backup_command.h -- `stator backup` and `stator restore`: a store into a directory of its own,
 * and back.
 *
 * At the top of src/ because it connects layers, as serve.h does.
 */
#ifndef STATOR_COMMAND_BACKUP_COMMAND_H
#define STATOR_COMMAND_BACKUP_COMMAND_H
#include "base/compiler.h"

struct config_result;

/* Prints one line about what was copied. Returns the process's exit code: 0 if the copy is complete
 * and on the disk, 1 if it is not, which one line on standard error tells, 2 if the command line
 * makes no sense. */
MUST_CHECK int backup_command(const struct config_result *result);

#endif
