/* bench_json.c -- the cost of reading and writing a typical PutItem body, in nanoseconds.
 *
 * One line per measure, see measure.h.
 */
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/reader.h"
#include "json/writer.h"
#include "measure.h"

enum { DEPTH_MAX = 72 };

static const char put_item[] =
    "{\"TableName\":\"orders\",\"Item\":{"
    "\"customer_id\":{\"S\":\"customer#0000482913\"},"
    "\"order_id\":{\"S\":\"order#2026-11-15T05:40:04.123Z#7f3a\"},"
    "\"status\":{\"S\":\"SHIPPED\"},\"total\":{\"N\":\"1284.50\"},\"version\":{\"N\":\"17\"},"
    "\"paid\":{\"BOOL\":true},\"note\":{\"S\":\"leave at the door, ring twice\"},"
    "\"tags\":{\"SS\":[\"gift\",\"express\",\"fragile\"]},"
    "\"address\":{\"M\":{\"street\":{\"S\":\"12 Harbour Lane\"},\"city\":{\"S\":\"Aarhus\"},"
    "\"zip\":{\"S\":\"8000\"}}},\"checksum\":{\"B\":\"3q2+7wABAgM=\"}},"
    "\"ConditionExpression\":\"attribute_not_exists(customer_id)\"}";

/* The reader's calls for one value, however deep; returns how many values were seen. */
static unsigned read_value(struct json_reader *reader)
{
    struct bytes text;
    bool boolean;
    unsigned count = 1;
    switch (json_peek(reader)) {
    case JSON_OBJECT:
        json_enter_object(reader);
        while (json_next_member(reader, &text))
            count += read_value(reader);
        return count;
    case JSON_ARRAY:
        json_enter_array(reader);
        while (json_next_element(reader))
            count += read_value(reader);
        return count;
    case JSON_STRING:
        return json_read_string(reader, &text) ? 1 : 0;
    case JSON_NUMBER:
        return json_read_number(reader, &text) ? 1 : 0;
    case JSON_BOOL:
        return json_read_bool(reader, &boolean) ? 1 : 0;
    default:
        return json_read_null(reader) ? 1 : 0;
    }
}

static size_t read_all(void *context)
{
    struct arena *arena = context;
    struct json_reader reader;
    json_reader_init(&reader, arena, bytes_of(put_item, sizeof put_item - 1), DEPTH_MAX);
    unsigned count = read_value(&reader);
    if (!json_finish(&reader))
        abort();
    return count;
}

static size_t skip_all(void *context)
{
    struct arena *arena = context;
    struct json_reader reader;
    json_reader_init(&reader, arena, bytes_of(put_item, sizeof put_item - 1), DEPTH_MAX);
    json_skip(&reader);
    if (!json_finish(&reader))
        abort();
    return 1;
}

static void write_attribute(struct json_writer *writer, struct bytes name, const char *type,
                            struct bytes value)
{
    json_write_name_bytes(writer, name);
    json_open_object(writer);
    json_write_name(writer, type);
    json_write_string(writer, value);
    json_close_object(writer);
}

static void write_address(struct json_writer *writer)
{
    json_write_name_bytes(writer, BYTES("address"));
    json_open_object(writer);
    json_write_name(writer, "M");
    json_open_object(writer);
    write_attribute(writer, BYTES("street"), "S", BYTES("12 Harbour Lane"));
    write_attribute(writer, BYTES("city"), "S", BYTES("Aarhus"));
    write_attribute(writer, BYTES("zip"), "S", BYTES("8000"));
    json_close_object(writer);
    json_close_object(writer);
}

static void write_item(struct json_writer *writer)
{
    json_open_object(writer);
    write_attribute(writer, BYTES("customer_id"), "S", BYTES("customer#0000482913"));
    write_attribute(writer, BYTES("order_id"), "S", BYTES("order#2026-11-15T05:40:04.123Z#7f3a"));
    write_attribute(writer, BYTES("status"), "S", BYTES("SHIPPED"));
    write_attribute(writer, BYTES("total"), "N", BYTES("1284.50"));
    write_attribute(writer, BYTES("version"), "N", BYTES("17"));
    json_write_name_bytes(writer, BYTES("paid"));
    json_open_object(writer);
    json_write_name(writer, "BOOL");
    json_write_bool(writer, true);
    json_close_object(writer);
    write_attribute(writer, BYTES("note"), "S", BYTES("leave at the door, ring twice"));
    json_write_name_bytes(writer, BYTES("tags"));
    json_open_object(writer);
    json_write_name(writer, "SS");
    json_open_array(writer);
    json_write_string(writer, BYTES("gift"));
    json_write_string(writer, BYTES("express"));
    json_write_string(writer, BYTES("fragile"));
    json_close_array(writer);
    json_close_object(writer);
    write_address(writer);
    json_write_name_bytes(writer, BYTES("checksum"));
    json_open_object(writer);
    json_write_name(writer, "B");
    json_write_base64(writer, BYTES("\xDE\xAD\xBE\xEF\0\1\2\3"));
    json_close_object(writer);
    json_close_object(writer);
}

static size_t write_all(void *context)
{
    struct arena *arena = context;
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    json_open_object(&writer);
    json_write_name(&writer, "TableName");
    json_write_text(&writer, "orders");
    json_write_name(&writer, "Item");
    write_item(&writer);
    json_write_name(&writer, "ConditionExpression");
    json_write_text(&writer, "attribute_not_exists(customer_id)");
    json_close_object(&writer);
    if (!bytes_equal_text(buffer_bytes(&out), put_item))
        abort();
    return 1;
}

int main(void)
{
    struct arena *arena = arena_create();
    measure("json_read_putitem_500B", arena, read_all, arena);
    measure("json_skip_putitem_500B", arena, skip_all, arena);
    measure("json_write_putitem_500B", arena, write_all, arena);
    arena_destroy(arena);
    return 0;
}
