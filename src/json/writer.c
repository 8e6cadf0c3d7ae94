/* writer.c -- JSON text with the fewest escapes: quote, backslash and control characters.
 *
 * Everything else, UTF-8 included, is copied in runs. Nothing is written between tokens.
 */
#include "json/writer.h"
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "json/base64.h"
#include "json/scan.h"

enum {
    INTEGER_TEXT_MAX = 20, /* "-9223372036854775808" */
    ESCAPE_SIZE_MAX = 6,   /* "\u001f" */
};

void json_writer_init(struct json_writer *writer, struct buffer *out)
{
    *writer = (struct json_writer){ .out = out };
}

/* Room for `size` bytes and the comma that is due before them, which is written. The caller adds
 * to `len` what it writes. */
static inline uint8_t *begin(struct json_writer *writer, size_t size)
{
    uint8_t *at = buffer_reserve(writer->out, size + 1);
    if (writer->needs_comma) {
        *at++ = ',';
        writer->out->len++;
    }
    return at;
}

static void open_container(struct json_writer *writer, uint8_t bracket)
{
    *begin(writer, 1) = bracket;
    writer->out->len++;
    writer->needs_comma = false;
}

static void close_container(struct json_writer *writer, uint8_t bracket)
{
    buffer_append_byte(writer->out, bracket);
    writer->needs_comma = true;
}

void json_open_object(struct json_writer *writer)
{
    open_container(writer, '{');
}

void json_close_object(struct json_writer *writer)
{
    close_container(writer, '}');
}

void json_open_array(struct json_writer *writer)
{
    open_container(writer, '[');
}

void json_close_array(struct json_writer *writer)
{
    close_container(writer, ']');
}

static size_t encode_escape(uint8_t byte, uint8_t *out)
{
    static const char digits[] = "0123456789abcdef";
    static const uint8_t letters[] = { ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                       ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't' };
    assert(scan_needs_escape(byte));
    out[0] = '\\';
    if (letters[byte] != 0) {
        out[1] = letters[byte];
        return 2;
    }
    memcpy(out + 1, "u00", 3);
    out[4] = (uint8_t)digits[byte >> 4];
    out[5] = (uint8_t)digits[byte & 0xF];
    return ESCAPE_SIZE_MAX;
}

/* Appends text that begins with a byte to escape. */
static void append_escaped(struct buffer *out, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        uint8_t *to = buffer_reserve(out, ESCAPE_SIZE_MAX + (size_t)(end - at));
        size_t escape = encode_escape(*at++, to);
        size_t clean = scan_copy_unescaped(to + escape, at, (size_t)(end - at));
        out->len += escape + clean;
        at += clean;
    }
}

static void append_text(struct buffer *out, struct bytes text)
{
    size_t clean = scan_copy_unescaped(buffer_reserve(out, text.len), text.data, text.len);
    out->len += clean;
    append_escaped(out, text.data + clean, text.data + text.len);
}

void json_write_framed(struct json_writer *writer, const struct json_frame *frame,
                       struct bytes value)
{
    static_assert(sizeof frame->before == JSON_FRAME_SIZE_MAX, "copied whole, used in part");
    uint8_t *start = begin(writer, value.len + 2 * JSON_FRAME_SIZE_MAX);
    memcpy(start, frame->before, sizeof frame->before);
    uint8_t *at = start + frame->before_size;
    size_t clean = scan_copy_unescaped(at, value.data, value.len);
    at += clean;
    writer->out->len += (size_t)(at - start);
    if (UNLIKELY(clean < value.len)) {
        append_escaped(writer->out, value.data + clean, value.data + value.len);
        at = buffer_reserve(writer->out, JSON_FRAME_SIZE_MAX);
    }
    memcpy(at, frame->behind, sizeof frame->behind);
    writer->out->len += frame->behind_size;
    writer->needs_comma = true;
}

static __attribute__((noinline)) size_t copy_long(uint8_t *to, struct bytes text)
{
    return scan_copy_unescaped(to, text.data, text.len);
}

/* `to` has room for a block more. */
static inline __attribute__((always_inline)) size_t copy_unescaped(uint8_t *to, struct bytes text,
                                                                   const uint8_t *readable)
{
    return text.len <= SCAN_BLOCK_SIZE && readable - text.data >= SCAN_BLOCK_SIZE
               ? scan_copy_short(to, text.data, text.len)
               : copy_long(to, text);
}

/* A member that has something to escape. Apart, so that others save no registers for it. */
static __attribute__((noinline)) void write_escaped_member(struct json_writer *writer,
                                                           struct bytes name,
                                                           const struct json_frame *frame,
                                                           struct bytes value)
{
    buffer_append_byte(writer->out, '"');
    append_text(writer->out, name);
    buffer_append(writer->out, frame->before, frame->before_size);
    append_text(writer->out, value);
    buffer_append(writer->out, frame->behind, frame->behind_size);
}

static inline __attribute__((always_inline)) void
write_member(struct json_writer *writer, struct bytes name, const uint8_t *name_readable,
             const struct json_frame *frame, struct bytes value, const uint8_t *value_readable)
{
    enum { ROOM = 1 + 2 * JSON_FRAME_SIZE_MAX + SCAN_BLOCK_SIZE };
    uint8_t *start = begin(writer, name.len + value.len + ROOM);
    uint8_t *at = start;
    writer->needs_comma = true;
    *at++ = '"';
    size_t clean = copy_unescaped(at, name, name_readable);
    at += clean;
    if (LIKELY(clean == name.len)) {
        memcpy(at, frame->before, sizeof frame->before);
        at += frame->before_size;
        clean = copy_unescaped(at, value, value_readable);
        at += clean;
        if (LIKELY(clean == value.len)) {
            memcpy(at, frame->behind, sizeof frame->behind);
            writer->out->len += (size_t)(at - start) + frame->behind_size;
            return;
        }
    }
    write_escaped_member(writer, name, frame, value);
}

void json_write_framed_member(struct json_writer *writer, struct bytes name,
                              const struct json_frame *frame, struct bytes value,
                              const uint8_t *readable)
{
    write_member(writer, name, readable, frame, value, readable);
}

void json_write_made_member(struct json_writer *writer, struct bytes name,
                            const struct json_frame *frame, struct bytes value,
                            const uint8_t *name_readable)
{
    write_member(writer, name, name_readable, frame, value,
                 value.data + value.len + SCAN_BLOCK_SIZE);
}
static_assert((int)JSON_BLOCK_SIZE == (int)SCAN_BLOCK_SIZE, "what scan_copy_short reads");

void json_write_name(struct json_writer *writer, const char *name)
{
    size_t size = strlen(name);
    uint8_t *at = begin(writer, size + 3);
    at[0] = '"';
    memcpy(at + 1, name, size);
    at[size + 1] = '"';
    at[size + 2] = ':';
    writer->out->len += size + 3;
    writer->needs_comma = false;
}

void json_write_name_bytes(struct json_writer *writer, struct bytes name)
{
    static const struct json_frame frame = JSON_FRAME("\"", "\":");
    json_write_framed(writer, &frame, name);
    writer->needs_comma = false;
}

void json_write_string(struct json_writer *writer, struct bytes value)
{
    static const struct json_frame frame = JSON_FRAME("\"", "\"");
    json_write_framed(writer, &frame, value);
}

void json_write_text(struct json_writer *writer, const char *value)
{
    json_write_string(writer, bytes_from_text(value));
}

void json_write_base64(struct json_writer *writer, struct bytes value)
{
    size_t size = base64_encoded_size(value.len);
    uint8_t *at = begin(writer, size + 2);
    at[0] = '"';
    base64_encode(value, (char *)at + 1);
    at[size + 1] = '"';
    writer->out->len += size + 2;
    writer->needs_comma = true;
}

void json_write_raw(struct json_writer *writer, struct bytes value)
{
    assert(value.len > 0);
    memcpy(begin(writer, value.len), value.data, value.len);
    writer->out->len += value.len;
    writer->needs_comma = true;
}

void json_write_bool(struct json_writer *writer, bool value)
{
    json_write_raw(writer, value ? BYTES("true") : BYTES("false"));
}

void json_write_null(struct json_writer *writer)
{
    json_write_raw(writer, BYTES("null"));
}

/* Writes the digits so that they end before `end`; returns where they begin. */
static uint8_t *digits_before(uint8_t *end, uint64_t value)
{
    do {
        *--end = (uint8_t)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

void json_write_integer(struct json_writer *writer, int64_t value)
{
    uint8_t text[INTEGER_TEXT_MAX];
    uint8_t *end = text + sizeof text;
    uint8_t *start = digits_before(end, magnitude(value));
    if (value < 0)
        *--start = '-';
    json_write_raw(writer, bytes_of(start, (size_t)(end - start)));
}

void json_format_double(double value, char out[JSON_DOUBLE_TEXT_SIZE])
{
    assert(isfinite(value));
    /* 15 digits are always exact, 17 always suffice. */
    for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(out, JSON_DOUBLE_TEXT_SIZE - 2, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    if (strpbrk(out, ".e") == NULL)
        memcpy(out + strlen(out), ".0", sizeof ".0");
}

void json_write_double(struct json_writer *writer, double value)
{
    char text[JSON_DOUBLE_TEXT_SIZE];
    json_format_double(value, text);
    json_write_raw(writer, bytes_from_text(text));
}

void json_write_seconds(struct json_writer *writer, int64_t milliseconds)
{
    uint8_t text[INTEGER_TEXT_MAX + 1]; /* The point is one more. */
    uint8_t *end = text + sizeof text;
    uint8_t *start = end;
    uint64_t fraction = magnitude(milliseconds) % 1000;
    if (fraction > 0) {
        for (int i = 0; i < 3; i++, fraction /= 10)
            *--start = (uint8_t)('0' + fraction % 10);
        while (end[-1] == '0')
            end--;
        *--start = '.';
    }
    start = digits_before(start, magnitude(milliseconds) / 1000);
    if (milliseconds < 0)
        *--start = '-';
    json_write_raw(writer, bytes_of(start, (size_t)(end - start)));
}

void json_write_half_units(struct json_writer *writer, int64_t half_units)
{
    assert(half_units >= 0); /* Nothing consumes less than no capacity. */
    uint8_t text[INTEGER_TEXT_MAX + 2];
    uint8_t *end = text + sizeof text;
    uint8_t *start = end;
    *--start = half_units % 2 == 0 ? '0' : '5';
    *--start = '.';
    start = digits_before(start, (uint64_t)half_units / 2);
    json_write_raw(writer, bytes_of(start, (size_t)(end - start)));
}
