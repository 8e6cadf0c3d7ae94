/* ion_read.c -- values of Ion text as DynamoDB's JSON. See ion.h.
 *
 * Types that no item has (timestamps, symbols, clobs, s-expressions, floats that are not finite)
 * are reported and stand as null, so that the rest of the record is read. Recursion is bounded by
 * ITEM_READER_DEPTH_MAX, which is above what items may have, so that model/ can report the rule.
 */
#include <assert.h>
#include "base/arena.h"
#include "format/ion.h"
#include "format/item_reader.h"
#include "json/utf8.h"
#include "json/writer.h"
#include "model/limits.h"

static_assert((int)ITEM_READER_DEPTH_MAX > (int)NESTING_DEPTH_MAX, "the rule is found first");

void ion_reader_init(struct ion_reader *reader, struct arena *arena, struct bytes text)
{
    *reader = (struct ion_reader){ .arena = arena, .at = text.data, .end = text.data + text.len };
}

static bool fail(struct ion_reader *reader, const char *failure)
{
    if (reader->failure == NULL)
        reader->failure = failure;
    reader->at = reader->end;
    return false;
}

/* --- Tokens --- */

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_name_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

static void skip_comment(struct ion_reader *reader)
{
    if (reader->at[1] == '/') {
        while (reader->at < reader->end && *reader->at != '\n')
            reader->at++;
        return;
    }
    for (reader->at += 2; reader->end - reader->at >= 2; reader->at++) {
        if (reader->at[0] == '*' && reader->at[1] == '/') {
            reader->at += 2;
            return;
        }
    }
    fail(reader, "a comment has no end");
}

/* The next byte that is neither white space nor of a comment; 0 at the end, where no value is. */
static uint8_t peek(struct ion_reader *reader)
{
    while (reader->at < reader->end) {
        uint8_t c = *reader->at;
        if (is_space(c))
            reader->at++;
        else if (c == '/' && reader->end - reader->at >= 2 &&
                 (reader->at[1] == '/' || reader->at[1] == '*'))
            skip_comment(reader);
        else
            return c;
    }
    return 0;
}

static bool take(struct ion_reader *reader, uint8_t byte)
{
    if (peek(reader) != byte)
        return false;
    reader->at++;
    return true;
}

/* --- Strings --- */

static int hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool read_hex(struct ion_reader *reader, unsigned digits, uint32_t *out)
{
    uint32_t code = 0;
    for (unsigned i = 0; i < digits; i++) {
        int value = reader->at < reader->end ? hex_value(*reader->at) : -1;
        if (value < 0)
            return fail(reader, "an escape is not hexadecimal");
        code = code << 4 | (uint32_t)value;
        reader->at++;
    }
    *out = code;
    return true;
}

static bool append_code(struct ion_reader *reader, struct buffer *out, uint32_t code)
{
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return fail(reader, "an escape is no character");
    out->len += utf8_encode(code, buffer_reserve(out, UTF8_SIZE_MAX));
    return true;
}

/* Behind `\u`; a pair of surrogates is one character. */
static bool read_unicode_escape(struct ion_reader *reader, struct buffer *out)
{
    uint32_t code, low;
    if (!read_hex(reader, 4, &code))
        return false;
    if (code >= 0xD800 && code <= 0xDBFF && reader->end - reader->at >= 6 &&
        reader->at[0] == '\\' && reader->at[1] == 'u') {
        reader->at += 2;
        if (!read_hex(reader, 4, &low))
            return false;
        if (low < 0xDC00 || low > 0xDFFF)
            return fail(reader, "an escape is no character");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    return append_code(reader, out, code);
}

/* Behind a backslash. */
static bool read_escape(struct ion_reader *reader, struct buffer *out)
{
    static const char letters[] = "abtnfrv0\"'\\/?";
    static const char values[] = "\a\b\t\n\f\r\v\0\"'\\/?";
    static_assert(sizeof letters == sizeof values, "one value for each letter");
    if (reader->at == reader->end)
        return fail(reader, "a string has no end");
    uint8_t c = *reader->at++;
    uint32_t code;
    switch (c) {
    case 'x':
        return read_hex(reader, 2, &code) && append_code(reader, out, code);
    case 'u':
        return read_unicode_escape(reader, out);
    case 'U':
        return read_hex(reader, 8, &code) && append_code(reader, out, code);
    case '\r':
        if (reader->at < reader->end && *reader->at == '\n')
            reader->at++;
        return true;
    case '\n':
        return true;
    default:
        for (size_t i = 0; i + 1 < sizeof letters; i++) {
            if (letters[i] == (char)c) {
                buffer_append_byte(out, (uint8_t)values[i]);
                return true;
            }
        }
        return fail(reader, "an escape is unknown");
    }
}

/* Reads up to the closing quotes, which are `quotes` in number; the opening ones are behind. */
static bool read_quoted(struct ion_reader *reader, uint8_t quote, unsigned quotes,
                        struct buffer *out)
{
    while (reader->at < reader->end) {
        const uint8_t *plain = reader->at;
        while (reader->at < reader->end && *reader->at >= 0x20 && *reader->at < 0x80 &&
               *reader->at != quote && *reader->at != '\\')
            reader->at++;
        buffer_append(out, plain, (size_t)(reader->at - plain));
        if (reader->at == reader->end)
            break;
        uint8_t c = *reader->at;
        if (c == quote) {
            if (quotes == 1 || (reader->end - reader->at >= 3 && reader->at[1] == quote &&
                                reader->at[2] == quote)) {
                reader->at += quotes;
                return true;
            }
            buffer_append_byte(out, c);
            reader->at++;
        } else if (c == '\\') {
            reader->at++;
            if (!read_escape(reader, out))
                return false;
        } else if (c >= 0x80) {
            size_t size = utf8_size(reader->at, reader->end);
            if (size == 0)
                return fail(reader, "a string is not UTF-8");
            buffer_append(out, reader->at, size);
            reader->at += size;
        } else if (quotes == 3 || c == '\t' || c == '\v' || c == '\f') {
            buffer_append_byte(out, c);
            reader->at++;
        } else {
            return fail(reader, "a string has a control character");
        }
    }
    return fail(reader, "a string has no end");
}

/* True if a long string, '''...''', begins here. */
static bool at_long_string(struct ion_reader *reader)
{
    return peek(reader) == '\'' && reader->end - reader->at >= 3 && reader->at[1] == '\'' &&
           reader->at[2] == '\'';
}

/* Long strings in a row are one string. */
static bool read_text(struct ion_reader *reader, struct bytes *out)
{
    struct buffer text;
    buffer_init(&text, reader->arena);
    if (at_long_string(reader)) {
        while (at_long_string(reader)) {
            reader->at += 3;
            if (!read_quoted(reader, '\'', 3, &text))
                return false;
        }
    } else if (take(reader, '"')) {
        if (!read_quoted(reader, '"', 1, &text))
            return false;
    } else {
        return fail(reader, "a string is expected");
    }
    *out = buffer_bytes(&text);
    return true;
}

/* A symbol: quoted, or letters, digits, `_` and `$`. */
static bool read_symbol(struct ion_reader *reader, struct bytes *out, bool *quoted)
{
    *quoted = peek(reader) == '\'';
    if (*quoted) {
        struct buffer text;
        buffer_init(&text, reader->arena);
        reader->at++;
        if (!read_quoted(reader, '\'', 1, &text))
            return false;
        *out = buffer_bytes(&text);
        return true;
    }
    const uint8_t *start = reader->at;
    while (reader->at < reader->end && is_name_byte(*reader->at))
        reader->at++;
    *out = bytes_of(start, (size_t)(reader->at - start));
    return out->len > 0 || fail(reader, "a value is expected");
}

/* --- Structs --- */

bool ion_at_struct(struct ion_reader *reader)
{
    return peek(reader) == '{' && !(reader->end - reader->at >= 2 && reader->at[1] == '{');
}

bool ion_enter_struct(struct ion_reader *reader)
{
    if (!ion_at_struct(reader))
        return fail(reader, "a struct is expected");
    reader->at++;
    return true;
}

/* The commas between fields are where the values end, in end_value. */
bool ion_next_field(struct ion_reader *reader, struct bytes *name)
{
    bool quoted;
    if (reader->failure != NULL || take(reader, '}'))
        return false;
    if (peek(reader) == '"' || at_long_string(reader)) {
        if (!read_text(reader, name))
            return false;
    } else if (!read_symbol(reader, name, &quoted)) {
        return false;
    } else if (!quoted && name->data[0] >= '0' && name->data[0] <= '9') {
        return fail(reader, "a field has no name");
    }
    if (!take(reader, ':') || peek(reader) == ':')
        return fail(reader, "a field has no value");
    return true;
}

/* A comma, or the end of the container, which stays. A comma before the end is allowed. */
static bool end_value(struct ion_reader *reader, uint8_t close)
{
    if (take(reader, ',') || peek(reader) == close)
        return true;
    return fail(reader, "a comma is missing");
}

bool ion_read_string(struct ion_reader *reader, struct bytes *out)
{
    return read_text(reader, out) && end_value(reader, '}');
}

bool ion_finish(struct ion_reader *reader)
{
    return reader->failure == NULL && peek(reader) == 0 && reader->at == reader->end;
}

/* --- Values --- */

static bool read_value(struct ion_reader *reader, struct json_writer *writer, unsigned depth);

static void unsupported(struct ion_reader *reader, struct json_writer *writer, const char *what)
{
    if (reader->unsupported == NULL)
        reader->unsupported = what;
    json_write_raw(writer, BYTES("{\"NULL\":true}"));
}

/* The base64 inside {{ }}, without white space. */
static bool read_blob(struct ion_reader *reader, struct bytes *out)
{
    struct buffer text;
    buffer_init(&text, reader->arena);
    for (reader->at += 2; reader->at < reader->end && *reader->at != '}'; reader->at++) {
        if (!is_space(*reader->at))
            buffer_append_byte(&text, *reader->at);
    }
    if (reader->end - reader->at < 2 || reader->at[1] != '}')
        return fail(reader, "a blob has no end");
    reader->at += 2;
    *out = buffer_bytes(&text);
    for (size_t i = 0; i < out->len; i++) {
        uint8_t c = out->data[i];
        if (!is_name_byte(c) && c != '+' && c != '/' && c != '=')
            return fail(reader, "a blob is not base64");
    }
    return true;
}

/* The text of a number as model/ reads it: no underscores, no point without digits behind it, and
 * `e` before the exponent. NULL data: it is another type that begins like a number. */
static struct bytes read_number(struct ion_reader *reader)
{
    struct buffer text;
    buffer_init(&text, reader->arena);
    const uint8_t *start = reader->at;
    bool number = true;
    for (; reader->at < reader->end; reader->at++) {
        uint8_t c = *reader->at;
        bool digit = c >= '0' && c <= '9';
        uint8_t before = reader->at > start ? reader->at[-1] : 0;
        bool sign = (c == '-' || c == '+') &&
                    (before == 'd' || before == 'D' || before == 'e' || before == 'E');
        if (!is_name_byte(c) && c != '.' && !sign && !(c == '-' && reader->at == start) &&
            c != ':' && c != '+' && c != '-')
            break;
        bool exponent = c == 'd' || c == 'D' || c == 'e' || c == 'E';
        if (c == '_')
            continue;
        number = number && (digit || c == '.' || sign || exponent || reader->at == start);
        bool point = c == '.' && !(reader->at + 1 < reader->end && reader->at[1] >= '0' &&
                                   reader->at[1] <= '9');
        if (!point)
            buffer_append_byte(&text, exponent ? 'e' : c);
    }
    return number ? buffer_bytes(&text) : bytes_of(NULL, 0);
}

/* --- Sets --- */

static const struct {
    const char *annotation;
    const char *type;
} sets[] = { { "$dynamodb_SS", "SS" }, { "$dynamodb_NS", "NS" }, { "$dynamodb_BS", "BS" } };

static bool read_set_member(struct ion_reader *reader, struct json_writer *writer, char kind)
{
    struct bytes text;
    uint8_t c = peek(reader);
    if (kind == 'S' && (c == '"' || at_long_string(reader))) {
        if (!read_text(reader, &text))
            return false;
    } else if (kind == 'N' && (c == '-' || (c >= '0' && c <= '9'))) {
        text = read_number(reader);
        if (text.data == NULL)
            return fail(reader, "a set of numbers has another value");
    } else if (kind == 'B' && c == '{' && reader->end - reader->at >= 2 && reader->at[1] == '{') {
        if (!read_blob(reader, &text))
            return false;
    } else {
        return fail(reader, "a set has a value of another type");
    }
    json_write_string(writer, text);
    return true;
}

static bool read_set(struct ion_reader *reader, struct json_writer *writer, const char *type)
{
    if (!take(reader, '['))
        return fail(reader, "a set is not a list");
    json_open_object(writer);
    json_write_name(writer, type);
    json_open_array(writer);
    while (!take(reader, ']')) {
        if (!read_set_member(reader, writer, type[0]) || !end_value(reader, ']'))
            return false;
    }
    json_close_array(writer);
    json_close_object(writer);
    return true;
}

/* --- Scalars and containers --- */

static bool read_members(struct ion_reader *reader, struct json_writer *writer, unsigned depth)
{
    struct bytes name;
    if (depth > ITEM_READER_DEPTH_MAX)
        return fail(reader, "structs and lists are nested too deeply");
    reader->at++;
    json_open_object(writer);
    while (ion_next_field(reader, &name)) {
        json_write_name_bytes(writer, name);
        if (!read_value(reader, writer, depth) || !end_value(reader, '}'))
            return false;
    }
    json_close_object(writer);
    return reader->failure == NULL;
}

static bool read_list(struct ion_reader *reader, struct json_writer *writer, unsigned depth)
{
    if (depth > ITEM_READER_DEPTH_MAX)
        return fail(reader, "structs and lists are nested too deeply");
    reader->at++;
    json_open_object(writer);
    json_write_name(writer, "L");
    json_open_array(writer);
    while (!take(reader, ']')) {
        if (!read_value(reader, writer, depth) || !end_value(reader, ']'))
            return false;
    }
    json_close_array(writer);
    json_close_object(writer);
    return true;
}

/* One value of text behind the name of its type. */
static void write_typed(struct json_writer *writer, const char *type, struct bytes text)
{
    json_open_object(writer);
    json_write_name(writer, type);
    json_write_string(writer, text);
    json_close_object(writer);
}

/* null, null.string, true, false, nan, an annotation of a set, or a symbol. */
static bool read_word(struct ion_reader *reader, struct json_writer *writer, unsigned depth)
{
    struct bytes word;
    bool quoted;
    if (!read_symbol(reader, &word, &quoted))
        return false;
    if (peek(reader) == ':' && reader->end - reader->at >= 2 && reader->at[1] == ':') {
        reader->at += 2;
        for (size_t i = 0; i < COUNT_OF(sets); i++) {
            if (bytes_equal_text(word, sets[i].annotation))
                return read_set(reader, writer, sets[i].type);
        }
        if (depth >= ITEM_READER_DEPTH_MAX)
            return fail(reader, "a value has too many annotations");
        return read_value(reader, writer, depth + 1); /* Other annotations mean nothing here. */
    }
    if (quoted) {
        unsupported(reader, writer, "symbol");
    } else if (bytes_equal(word, BYTES("true")) || bytes_equal(word, BYTES("false"))) {
        json_write_raw(writer,
                       word.len == 4 ? BYTES("{\"BOOL\":true}") : BYTES("{\"BOOL\":false}"));
    } else if (bytes_equal(word, BYTES("null"))) {
        if (reader->at < reader->end && *reader->at == '.') {
            reader->at++;
            if (!read_symbol(reader, &word, &quoted))
                return false;
        }
        json_write_raw(writer, BYTES("{\"NULL\":true}"));
    } else {
        unsupported(reader, writer, bytes_equal(word, BYTES("nan")) ? "float nan" : "symbol");
    }
    return true;
}

static bool read_sexp(struct ion_reader *reader)
{
    return fail(reader, "an s-expression is no part of an item");
}

static bool read_value(struct ion_reader *reader, struct json_writer *writer, unsigned depth)
{
    struct bytes text;
    uint8_t c = peek(reader);
    if (c == '"' || at_long_string(reader)) {
        if (!read_text(reader, &text))
            return false;
        write_typed(writer, "S", text);
        return true;
    }
    if (c == '{' && !ion_at_struct(reader)) {
        if (!read_blob(reader, &text))
            return false;
        write_typed(writer, "B", text);
        return true;
    }
    if (c == '{') {
        json_open_object(writer);
        json_write_name(writer, "M");
        if (!read_members(reader, writer, depth + 1))
            return false;
        json_close_object(writer);
        return true;
    }
    if (c == '[')
        return read_list(reader, writer, depth + 1);
    if (c == '(')
        return read_sexp(reader);
    if (c == '-' || c == '+' || (c >= '0' && c <= '9')) {
        text = read_number(reader);
        if (text.data == NULL)
            unsupported(reader, writer, "timestamp, hexadecimal or binary integer, or infinity");
        else
            write_typed(writer, "N", text);
        return true;
    }
    return read_word(reader, writer, depth);
}

bool ion_read_item(struct ion_reader *reader, struct buffer *json)
{
    struct json_writer writer;
    json_writer_init(&writer, json);
    if (!ion_at_struct(reader))
        return fail(reader, "Item is not a struct");
    return read_members(reader, &writer, 0) && end_value(reader, '}');
}

bool ion_read_texts(struct ion_reader *reader, struct buffer *json)
{
    struct json_writer writer;
    struct bytes name, text;
    json_writer_init(&writer, json);
    if (!ion_enter_struct(reader))
        return false;
    json_open_object(&writer);
    while (ion_next_field(reader, &name)) {
        if (!read_text(reader, &text) || !end_value(reader, '}'))
            return false;
        json_write_name_bytes(&writer, name);
        json_write_string(&writer, text);
    }
    json_close_object(&writer);
    return reader->failure == NULL && end_value(reader, '}');
}

/* Values that are not of interest are read like others, and forgotten. */
bool ion_skip(struct ion_reader *reader)
{
    struct json_writer writer;
    struct buffer ignored;
    const char *before = reader->unsupported;
    buffer_init(&ignored, reader->arena);
    json_writer_init(&writer, &ignored);
    if (!read_value(reader, &writer, 0))
        return false;
    reader->unsupported = before;
    return end_value(reader, '}');
}
