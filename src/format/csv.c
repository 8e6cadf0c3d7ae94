/* csv.c -- see csv.h. */
#include "format/csv.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/utf8.h"

enum state { FIELD_START, UNQUOTED, QUOTED, QUOTE_IN_QUOTED };

void csv_scan_init(struct csv_scan *scan, uint8_t delimiter)
{
    assert(delimiter != '"' && delimiter != '\n');
    *scan = (struct csv_scan){ .state = FIELD_START, .delimiter = delimiter };
}

static uint8_t next_state(const struct csv_scan *scan, uint8_t c)
{
    switch (scan->state) {
    case FIELD_START:
        return c == '"' ? QUOTED : c == scan->delimiter ? FIELD_START : UNQUOTED;
    case QUOTED:
        return c == '"' ? QUOTE_IN_QUOTED : QUOTED;
    case QUOTE_IN_QUOTED:
        if (c == '"')
            return QUOTED;
        return c == scan->delimiter ? FIELD_START : UNQUOTED;
    default:
        return c == scan->delimiter ? FIELD_START : UNQUOTED;
    }
}

bool csv_scan_run(struct csv_scan *scan, const uint8_t *data, size_t len, size_t *at)
{
    for (size_t i = *at; i < len; i++) {
        uint8_t c = data[i];
        if (c == '\n' && scan->state != QUOTED) {
            scan->state = FIELD_START;
            *at = i + 1;
            return true;
        }
        scan->state = next_state(scan, c);
    }
    *at = len;
    return false;
}

/* Reads a quoted field from behind its first quote; moves `at` behind the last one. */
static const char *read_quoted(struct arena *arena, struct bytes row, size_t *at,
                               struct bytes *field)
{
    size_t start = *at, end = start, quotes = 0;
    for (;; end++) {
        if (end == row.len)
            return "a quoted field has no end";
        if (row.data[end] != '"')
            continue;
        if (end + 1 == row.len || row.data[end + 1] != '"')
            break;
        quotes++;
        end++;
    }
    *at = end + 1;
    *field = bytes_of(row.data + start, end - start);
    if (quotes == 0)
        return NULL;
    uint8_t *text = arena_alloc(arena, field->len);
    size_t len = 0;
    for (size_t i = start; i < end; i++) {
        text[len++] = row.data[i];
        i += row.data[i] == '"' ? 1 : 0;
    }
    assert(len + quotes == field->len);
    *field = bytes_of(text, len);
    return NULL;
}

static const char *read_field(struct arena *arena, struct bytes row, uint8_t delimiter, size_t *at,
                              struct bytes *field)
{
    if (*at < row.len && row.data[*at] == '"') {
        ++*at;
        const char *failure = read_quoted(arena, row, at, field);
        if (failure != NULL)
            return failure;
        if (*at < row.len && row.data[*at] != delimiter)
            return "text follows a quoted field";
    } else {
        size_t start = *at;
        for (; *at < row.len && row.data[*at] != delimiter; ++*at) {
            if (row.data[*at] == '"')
                return "a quote stands in a field that is not quoted";
        }
        *field = bytes_of(row.data + start, *at - start);
    }
    return utf8_prefix(*field, field->len) == field->len ? NULL : "a field is not UTF-8";
}

struct bytes *csv_split(struct arena *arena, struct bytes row, uint8_t delimiter, size_t count_max,
                        size_t *count, const char **failure)
{
    struct bytes *fields = NULL;
    size_t capacity = 0, at = 0;
    *failure = NULL;
    *count = 0;
    if (row.len > 0 && row.data[row.len - 1] == '\r')
        row.len--;
    for (;;) {
        if (*count == count_max) {
            *failure = "a row has too many columns";
            return NULL;
        }
        if (*count == capacity) {
            size_t larger = capacity == 0 ? 16 : 2 * capacity;
            fields = arena_grow(arena, fields, capacity * sizeof *fields, larger * sizeof *fields);
            capacity = larger;
        }
        *failure = read_field(arena, row, delimiter, &at, &fields[*count]);
        if (*failure != NULL)
            return NULL;
        ++*count;
        if (at == row.len)
            return fields;
        at++; /* The delimiter. */
    }
}
