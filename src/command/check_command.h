/* check_command.h -- `stator check`: opens a store for reading, has it checked, prints what is
 * wrong.
 *
 * At the top of src/ because it connects layers, as serve.h does.
 */
#ifndef STATOR_COMMAND_CHECK_COMMAND_H
#define STATOR_COMMAND_CHECK_COMMAND_H
#include "base/compiler.h"

struct config;

/* Problems beyond these are only counted. */
enum { CHECK_COMMAND_LINES_MAX = 100 };

/* Of a backup, its files are compared with their digests as well.
 * Prints a line for each problem and one that sums up. Returns the process's exit code: 0 if the
 * store is whole, 1 if it is not or cannot be opened, which one line on standard error tells. */
MUST_CHECK int check_command(const struct config *config);

#endif
