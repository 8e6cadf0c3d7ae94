/* item_writer.c -- see item_writer.h. */
#include "format/item_writer.h"
#include <assert.h>
#include "base/arena.h"
#include "format/ion.h"
#include "format/plain_json.h"
#include "json/writer.h"
#include "model/item.h"
#include "model/number.h"
#include "model/value.h"
#include "model/value_json.h"

enum { MICROS_TEXT_MAX = 24 };

static void write_json_item(struct buffer *out, const struct item *item)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    item_json_write(&writer, item);
}

void item_writer_item(struct buffer *out, enum item_format format, const struct item *item)
{
    struct json_writer writer;
    assert(format != ITEM_FORMAT_CSV);
    if (format == ITEM_FORMAT_PLAIN_JSON) {
        json_writer_init(&writer, out);
        plain_json_write_item(&writer, item);
        buffer_append_byte(out, '\n');
    } else if (format == ITEM_FORMAT_ION) {
        buffer_append_bytes(out, BYTES("$ion_1_0 {Item:"));
        ion_write_item(out, item);
        buffer_append_bytes(out, BYTES("}\n"));
    } else {
        buffer_append_bytes(out, BYTES("{\"Item\":"));
        write_json_item(out, item);
        buffer_append_bytes(out, BYTES("}\n"));
    }
}

/* --- Changes --- */

static size_t format_micros(int64_t micros, char text[MICROS_TEXT_MAX])
{
    assert(micros >= 0);
    char digits[MICROS_TEXT_MAX];
    size_t at = sizeof digits;
    for (uint64_t rest = (uint64_t)micros; rest > 0 || at == sizeof digits; rest /= 10)
        digits[--at] = (char)('0' + rest % 10);
    memcpy(text, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

static void write_ion_image(struct buffer *out, struct bytes name, const struct item *image)
{
    if (image == NULL)
        return;
    buffer_append_byte(out, ',');
    buffer_append_bytes(out, name);
    buffer_append_byte(out, ':');
    ion_write_item(out, image);
}

static void write_json_image(struct buffer *out, struct bytes name, const struct item *image)
{
    if (image == NULL)
        return;
    buffer_append_bytes(out, BYTES(",\""));
    buffer_append_bytes(out, name);
    buffer_append_bytes(out, BYTES("\":"));
    write_json_item(out, image);
}

void item_writer_change(struct buffer *out, enum item_format format,
                        const struct item_change *change)
{
    char text[MICROS_TEXT_MAX];
    struct bytes micros = bytes_of(text, format_micros(change->write_micros, text));
    assert(format == ITEM_FORMAT_DYNAMODB_JSON || format == ITEM_FORMAT_ION);
    if (format == ITEM_FORMAT_ION) {
        buffer_append_bytes(out, BYTES("$ion_1_0 {Record:{Keys:"));
        ion_write_item(out, change->keys);
        buffer_append_bytes(out, BYTES(",Metadata:{WriteTimestampMicros:"));
        buffer_append_bytes(out, micros);
        buffer_append_bytes(out, BYTES(".}"));
        write_ion_image(out, BYTES("OldImage"), change->old_image);
        write_ion_image(out, BYTES("NewImage"), change->new_image);
        buffer_append_bytes(out, BYTES("}}\n"));
        return;
    }
    buffer_append_bytes(out, BYTES("{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\""));
    buffer_append_bytes(out, micros);
    buffer_append_bytes(out, BYTES("\"}}"));
    write_json_image(out, BYTES("Keys"), change->keys);
    write_json_image(out, BYTES("OldImage"), change->old_image);
    write_json_image(out, BYTES("NewImage"), change->new_image);
    buffer_append_bytes(out, BYTES("}\n"));
}

/* --- CSV --- */

/* Quotes where RFC 4180 asks for it, and where a reader might cut spaces off. */
static void write_field(struct buffer *out, struct bytes text)
{
    bool quoted = text.len > 0 && (text.data[0] == ' ' || text.data[text.len - 1] == ' ');
    for (size_t i = 0; i < text.len && !quoted; i++) {
        uint8_t c = text.data[i];
        quoted = c == ',' || c == '"' || c == '\n' || c == '\r';
    }
    if (!quoted) {
        buffer_append_bytes(out, text);
        return;
    }
    buffer_append_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"')
            buffer_append_byte(out, '"');
        buffer_append_byte(out, text.data[i]);
    }
    buffer_append_byte(out, '"');
}

static void write_cell(struct buffer *out, const struct value *value)
{
    struct arena *arena = out->arena;
    struct json_writer writer;
    struct buffer json;
    switch (value->type) {
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        write_field(out, value_json_scalar_text(arena, value));
        break;
    case VALUE_BOOL:
        buffer_append_bytes(out, value->boolean ? BYTES("true") : BYTES("false"));
        break;
    case VALUE_NULL:
        break;
    default:
        buffer_init(&json, arena);
        json_writer_init(&writer, &json);
        plain_json_write_value(&writer, value);
        write_field(out, buffer_bytes(&json));
    }
}

void item_writer_csv_header(struct buffer *out, const struct bytes *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_append_byte(out, ',');
        write_field(out, columns[i]);
    }
    buffer_append_byte(out, '\n');
}

void item_writer_csv_row(struct buffer *out, const struct bytes *columns, size_t count,
                         const struct item *item)
{
    size_t start = out->len;
    for (size_t i = 0; i < count; i++) {
        struct value value;
        if (i > 0)
            buffer_append_byte(out, ',');
        if (item_find(item, columns[i], &value))
            write_cell(out, &value);
    }
    if (out->len == start) /* A blank line would be no row. */
        buffer_append_bytes(out, BYTES("\"\""));
    buffer_append_byte(out, '\n');
}
