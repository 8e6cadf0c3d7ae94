/* config_file.h -- the lines of a settings file.
 *
 * `name = value` on a line, with any white space around both; empty lines and lines that begin
 * with # mean nothing. A # further on belongs to the value, as paths may contain one.
 */
#ifndef STATOR_CONFIG_CONFIG_FILE_H
#define STATOR_CONFIG_CONFIG_FILE_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct config_file {
    struct bytes rest;
    unsigned line_number; /* Of the line read last; the first is 1. */
};

enum config_file_status {
    CONFIG_FILE_SETTING,
    CONFIG_FILE_END,
    CONFIG_FILE_MALFORMED, /* Neither a comment nor `name = value`. */
};

/* Borrows `text`. */
void config_file_init(struct config_file *file, struct bytes text);
/* The next setting; `name` and `value` are trimmed, and point into the text. */
MUST_CHECK enum config_file_status config_file_next(struct config_file *file, struct bytes *name,
                                                    struct bytes *value);

#endif
