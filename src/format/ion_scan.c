/* ion_scan.c -- where the structs of a stream of Ion text begin and end. See ion.h.
 *
 * Knows just enough of the grammar to count brackets: strings, quoted symbols, blobs and comments
 * hide theirs. One byte at a time, so that a stream may be cut anywhere.
 */
#include <assert.h>
#include "format/ion.h"
#include "format/item_reader.h"

enum state {
    TOP,            /* Between records. */
    TOP_MARKER,     /* Within $ion_1_0; `token` counts its bytes. */
    TOP_SLASH,      /* A comment may begin. */
    TOP_LINE,       /* Comments, up to the end of the line; */
    TOP_BLOCK,      /* up to the star and slash; */
    TOP_BLOCK_STAR, /* behind a star. */
    INSIDE,         /* Within a record, outside of strings. */
    OPENED,         /* Behind a brace, which may be the first of two. */
    BLOB,
    BLOB_END, /* Behind the first of two closing braces. */
    SLASH,
    LINE,
    BLOCK,
    BLOCK_STAR,
    STRING,
    STRING_ESCAPE,
    QUOTES, /* Behind single quotes that open; `token` counts them. */
    SYMBOL, /* Within '...'; */
    LONG,   /* or within '''...'''. */
    QUOTED_ESCAPE,
    LONG_QUOTES, /* Behind single quotes within a long string. */
};

static const char marker[] = "$ion_1_0";
enum { MARKER_SIZE = sizeof marker - 1 };

void ion_scan_init(struct ion_scan *scan)
{
    *scan = (struct ion_scan){ .state = TOP };
}

bool ion_scan_complete(const struct ion_scan *scan)
{
    return !scan->in_list && (scan->state == TOP || scan->state == TOP_LINE ||
                              (scan->state == TOP_MARKER && scan->token == MARKER_SIZE));
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* Between records. False if the byte has no place there. */
static bool step_top(struct ion_scan *scan, uint8_t c)
{
    if (is_space(c))
        return true;
    if (c == '/') {
        scan->state = TOP_SLASH;
    } else if (c == '{' && !(scan->in_list && scan->after_value)) {
        scan->state = OPENED;
        scan->depth = 1;
    } else if (c == '[' && !scan->in_list) {
        scan->in_list = true;
        scan->after_value = false;
    } else if (c == ']' && scan->in_list) {
        scan->in_list = false;
    } else if (c == ',' && scan->in_list && scan->after_value) {
        scan->after_value = false;
    } else if (c == '$' && !scan->in_list) {
        scan->state = TOP_MARKER;
        scan->token = 1;
    } else {
        return false;
    }
    return true;
}

static bool step_between(struct ion_scan *scan, uint8_t c)
{
    switch (scan->state) {
    case TOP:
        return step_top(scan, c);
    case TOP_MARKER:
        if (scan->token < MARKER_SIZE)
            return c == (uint8_t)marker[scan->token++];
        scan->state = TOP;
        return (is_space(c) || c == '/' || c == '{' || c == '[') && step_top(scan, c);
    case TOP_SLASH:
        scan->state = c == '/' ? TOP_LINE : TOP_BLOCK;
        return c == '/' || c == '*';
    case TOP_LINE:
        scan->state = c == '\n' ? TOP : TOP_LINE;
        return true;
    default:
        assert(scan->state == TOP_BLOCK || scan->state == TOP_BLOCK_STAR);
        if (scan->state == TOP_BLOCK_STAR && c == '/')
            scan->state = TOP;
        else
            scan->state = c == '*' ? TOP_BLOCK_STAR : TOP_BLOCK;
        return true;
    }
}

/* Within a record, outside of strings. */
static bool step_inside(struct ion_scan *scan, uint8_t c)
{
    scan->state = INSIDE;
    switch (c) {
    case '{':
        scan->state = OPENED;
        scan->depth++;
        return scan->depth <= 4 * ITEM_READER_DEPTH_MAX;
    case '[':
    case '(':
        scan->depth++;
        return scan->depth <= 4 * ITEM_READER_DEPTH_MAX;
    case '}':
    case ']':
    case ')':
        scan->depth--;
        if (scan->depth == 0)
            scan->state = TOP;
        return scan->depth > 0 || c == '}';
    case '"':
        scan->state = STRING;
        return true;
    case '\'':
        scan->state = QUOTES;
        scan->token = 1;
        return true;
    case '/':
        scan->state = SLASH;
        return true;
    default:
        return true;
    }
}

/* Single quotes: one opens a symbol, two are an empty one, three open a long string. */
static bool step_quotes(struct ion_scan *scan, uint8_t c)
{
    if (c == '\'') {
        if (++scan->token == 3)
            scan->state = LONG;
        return true;
    }
    if (scan->token == 2)
        return step_inside(scan, c);
    scan->state = c == '\\' ? QUOTED_ESCAPE : SYMBOL;
    scan->triple = false;
    return true;
}

static bool step_text(struct ion_scan *scan, uint8_t c)
{
    switch (scan->state) {
    case STRING:
        scan->state = c == '"' ? INSIDE : c == '\\' ? STRING_ESCAPE : STRING;
        return true;
    case STRING_ESCAPE:
        scan->state = STRING;
        return true;
    case QUOTES:
        return step_quotes(scan, c);
    case SYMBOL:
        scan->state = c == '\'' ? INSIDE : c == '\\' ? QUOTED_ESCAPE : SYMBOL;
        return true;
    case LONG_QUOTES:
        if (c == '\'' && ++scan->token == 3) {
            scan->state = INSIDE;
            return true;
        }
        if (c == '\'')
            return true;
        scan->state = LONG;
        return step_text(scan, c); /* Once: LONG does not come back here. */
    case LONG:
        if (c == '\'') {
            scan->state = LONG_QUOTES;
            scan->token = 1;
        } else if (c == '\\') {
            scan->state = QUOTED_ESCAPE;
            scan->triple = true;
        }
        return true;
    default:
        assert(scan->state == QUOTED_ESCAPE);
        scan->state = scan->triple ? LONG : SYMBOL;
        return true;
    }
}

static bool step_record(struct ion_scan *scan, uint8_t c)
{
    switch (scan->state) {
    case INSIDE:
        return step_inside(scan, c);
    case OPENED:
        if (c != '{')
            return step_inside(scan, c);
        scan->state = BLOB;
        scan->depth--;
        return scan->depth > 0; /* A record is no blob. */
    case BLOB:
        scan->state = c == '}' ? BLOB_END : BLOB;
        return c != '"' && c != '\''; /* A clob. */
    case BLOB_END:
        scan->state = INSIDE;
        return c == '}';
    case SLASH:
        scan->state = c == '/' ? LINE : BLOCK;
        return c == '/' || c == '*';
    case LINE:
        scan->state = c == '\n' ? INSIDE : LINE;
        return true;
    case BLOCK:
        scan->state = c == '*' ? BLOCK_STAR : BLOCK;
        return true;
    case BLOCK_STAR:
        scan->state = c == '/' ? INSIDE : c == '*' ? BLOCK_STAR : BLOCK;
        return true;
    default:
        return step_text(scan, c);
    }
}

/* Most bytes are plain text in a string; returns the first one that is not. */
static size_t skip_plain(const struct ion_scan *scan, const uint8_t *data, size_t len, size_t at)
{
    if (scan->state == STRING) {
        while (at < len && data[at] != '"' && data[at] != '\\')
            at++;
    } else if (scan->state == BLOB) {
        while (at < len && data[at] != '}' && data[at] != '"' && data[at] != '\'')
            at++;
    }
    return at;
}

enum ion_scan_result ion_scan_run(struct ion_scan *scan, const uint8_t *data, size_t len,
                                  size_t *at, size_t *begin)
{
    for (size_t i = *at; i < len; i++) {
        if (scan->state < INSIDE) {
            if (!step_between(scan, data[i]))
                return ION_SCAN_BROKEN;
            if (scan->state == OPENED)
                *begin = i;
            continue;
        }
        i = skip_plain(scan, data, len, i);
        if (i == len)
            break;
        if (!step_record(scan, data[i]))
            return ION_SCAN_BROKEN;
        if (scan->state == TOP) {
            scan->after_value = true;
            *at = i + 1;
            return ION_SCAN_RECORD;
        }
    }
    *at = len;
    return ION_SCAN_MORE;
}
