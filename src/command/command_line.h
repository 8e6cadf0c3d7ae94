/* command_line.h -- the words of a command that has flags of its own, such as `stator trigger`.
 *
 * The server's flags are settings, which config/ reads.
 */
#ifndef STATOR_COMMAND_COMMAND_LINE_H
#define STATOR_COMMAND_COMMAND_LINE_H
#include <stdbool.h>
#include "base/compiler.h"

/* Behind the name of the command. */
struct command_line {
    int argc;
    char *const *argv;
    int next; /* The first word that was not taken. */
};

/* Is --help or -h anywhere among them? */
bool command_line_asks_for_help(const struct command_line *line);
/* Is `word` the flag `name`, alone or with `=value` behind it? */
bool command_line_is_flag(const char *word, const char *name);
/* The value of the flag that was taken last as `word`: behind its `=`, or the next word, which is
 * taken too. NULL if there is none. */
const char *command_line_take_value(struct command_line *line, const char *word);
/* Prints "stator: what: why" as an error, and returns `code`. */
int command_line_fail(int code, const char *what, const char *why);

#endif
