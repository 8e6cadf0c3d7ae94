/* audit_line.c -- see audit_line.h. */
#include "wire/audit_line.h"
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include "base/log.h"
#include "json/utf8.h"

enum {
    ESCAPE_SIZE = 4,       /* \xNN */
    CUT_SIZE_MAX = 2 + 20, /* \+ and a number */
    PREFIX_SIZE_MAX = 80,  /* Of the log: time, level, area. */
};
static_assert((int)AUDIT_LINE_SIZE_MAX + PREFIX_SIZE_MAX <= (int)LOG_LINE_MAX,
              "the log does not cut a line");

/* U+0080 to U+009F are control characters. U+2028 to U+202E and U+2066 to U+2069 separate lines or
 * change the direction of text: a terminal could show a line as another one. */
static bool is_harmless(const uint8_t *at, size_t size)
{
    if (size == 2)
        return at[0] != 0xC2 || at[1] > 0x9F;
    if (size != 3 || at[0] != 0xE2)
        return true;
    return !(at[1] == 0x80 && at[2] >= 0xA8 && at[2] <= 0xAE) &&
           !(at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9);
}

/* Writes the character at `at`, or its first byte if it is not shown as it is. Returns how many
 * bytes were read; `*written` is how many were written. */
static size_t write_character(const uint8_t *at, const uint8_t *end, char out[ESCAPE_SIZE + 1],
                              size_t *written)
{
    size_t size = *at < 0x80 ? 1 : utf8_size(at, end);
    if (*at == '"' || *at == '\\') {
        out[0] = '\\';
        out[1] = (char)*at;
        *written = 2;
        return 1;
    }
    if (size == 0 || *at < 0x20 || *at == 0x7F || !is_harmless(at, size)) {
        snprintf(out, ESCAPE_SIZE + 1, "\\x%02X", (unsigned)*at);
        *written = ESCAPE_SIZE;
        return 1;
    }
    memcpy(out, at, size);
    *written = size;
    return size;
}

static void append(struct audit_line *line, const char *text, size_t size)
{
    assert(line->size + size <= AUDIT_LINE_SIZE_MAX);
    memcpy(line->text + line->size, text, size);
    line->size += size;
}

static void append_value(struct audit_line *line, struct bytes value, size_t size_max)
{
    const uint8_t *end = value.data + value.len;
    char text[ESCAPE_SIZE + 1], cut[CUT_SIZE_MAX + 1];
    size_t shown = 0, size;
    for (size_t i = 0; i < value.len;) {
        size_t taken = write_character(value.data + i, end, text, &size);
        if (shown + size > size_max) {
            int cut_size = snprintf(cut, sizeof cut, "\\+%zu", value.len - i);
            append(line, cut, (size_t)cut_size);
            return;
        }
        append(line, text, size);
        shown += size;
        i += taken;
    }
}

void audit_line_add(struct audit_line *line, const char *name, struct bytes value, size_t size_max)
{
    if (line->size > 0)
        append(line, " ", 1);
    append(line, name, strlen(name));
    append(line, "=\"", 2);
    append_value(line, value, size_max < AUDIT_VALUE_SIZE_MAX ? size_max : AUDIT_VALUE_SIZE_MAX);
    append(line, "\"", 1);
}
