/* help.h -- help, manual pages, the document of the settings and completions, from the tables of
 * commands and settings.
 *
 * The program itself writes them (`stator help --format ...`, called by the Makefile): the tables
 * are C data, so a separate tool would have to link them or parse C.
 */
#ifndef STATOR_COMMAND_HELP_H
#define STATOR_COMMAND_HELP_H
#include "base/bytes.h"

struct arena;
struct buffer;
struct command;

/* What --help prints for a command, or for the program if `command` is NULL. */
struct bytes help_text(struct arena *arena, const struct command *command);

/* "key create USER": the command line of one form, without the program. */
struct command_verb;
struct bytes help_usage(struct arena *arena, const struct command *command,
                        const struct command_verb *verb);

/* The manual pages in troff's man macros. */
void manual_write_command_page(struct buffer *out);  /* stator(1) */
void manual_write_settings_page(struct buffer *out); /* stator.conf(5) */
/* doc/configuration.md */
void manual_write_markdown(struct buffer *out);

void completion_write_bash(struct buffer *out);
void completion_write_zsh(struct buffer *out);

#endif
