/* command_line.h -- splits a command line into a command, its words, its flags and settings.
 *
 * Uses getopt_long with the options of command_table.c and config/setting_table.c, and three rules
 * of its own: names of flags cannot be abbreviated, since a new flag could make an abbreviation
 * ambiguous; the command comes first (`serve` if there is none); and `serve` accepts DynamoDB
 * Local's flags (`-port`, `-inMemory`), so that scripts and compose files written for it work.
 */
#ifndef STATOR_COMMAND_COMMAND_LINE_H
#define STATOR_COMMAND_COMMAND_LINE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"
#include "command/command.h"
#include "config/config.h"

enum { COMMAND_LINE_WORDS_MAX = 256 };

enum command_line_request {
    COMMAND_LINE_RUN,
    COMMAND_LINE_HELP,     /* --help: of the command, or of the program if none was named. */
    COMMAND_LINE_VERSION,  /* --version */
    COMMAND_LINE_SETTINGS, /* --print-config */
};

struct command_line {
    enum command_line_request request;
    bool is_named; /* The command line names its command; without one it is `serve`. */
    /* `config` is left NULL. With COMMAND_LINE_HELP and _VERSION only `command` is set. */
    struct command_call call;
    const struct config_flag *settings; /* In the order given. */
    size_t setting_count;
    const char *note; /* Names the flags that have no effect; NULL: there are none. */
};

/* False with one line for the user in `err`. Everything lives in the arena or is borrowed from
 * `argv`. Not thread-safe: getopt has static state. */
MUST_CHECK bool command_line_parse(struct arena *arena, int argc, char *const *argv,
                                   struct command_line *out, struct config_error *err);

#endif
