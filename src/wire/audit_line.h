/* audit_line.h -- the text of an audit line: name="value" fields that nobody can forge.
 *
 * Values come from clients. In a value
 *   \" and \\    are a quote and a backslash;
 *   \xNN         is a byte of a control character, of one that changes the direction of text or
 *                separates lines, or of what is not UTF-8;
 *   \+N          at the end means that N more bytes were left out.
 * All else stands for itself. So a quote that follows no backslash ends a value, always.
 */
#ifndef STATOR_WIRE_AUDIT_LINE_H
#define STATOR_WIRE_AUDIT_LINE_H
#include <stddef.h>
#include "base/bytes.h"

enum {
    AUDIT_LINE_SIZE_MAX = 1900,
    AUDIT_VALUE_SIZE_MAX = 640, /* As written, without quotes and what tells that it was cut. */
};

struct audit_line {
    size_t size;
    char text[AUDIT_LINE_SIZE_MAX];
};

/* Adds a field to a line that was all zero at first. At most `size_max` bytes, or
 * AUDIT_VALUE_SIZE_MAX if that is less, of the value as written are shown. The caller's fields fit
 * in the line even if all are as long as they may be. */
void audit_line_add(struct audit_line *line, const char *name, struct bytes value, size_t size_max);

#endif
