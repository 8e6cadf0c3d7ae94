/* plain_json.c -- see plain_json.h. */
#include "format/plain_json.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/item.h"
#include "model/key.h"
#include "model/number.h"
#include "model/value.h"

/* --- Writing --- */

static void write_elements(struct json_writer *writer, const struct value *container)
{
    struct value_iter iter;
    struct value element;
    struct bytes name;
    value_iter_init(&iter, container);
    while (value_iter_next(&iter, &name, &element)) {
        if (container->type == VALUE_M)
            json_write_name_bytes(writer, name);
        plain_json_write_value(writer, &element); /* NESTING_DEPTH_MAX deep at most. */
    }
}

void plain_json_write_value(struct json_writer *writer, const struct value *value)
{
    char text[NUMBER_TEXT_MAX];
    switch (value->type) {
    case VALUE_S:
        json_write_string(writer, value->data);
        break;
    case VALUE_N:
        json_write_raw(writer, bytes_of(text, number_format_encoded(value->data, text)));
        break;
    case VALUE_B:
        json_write_base64(writer, value->data);
        break;
    case VALUE_BOOL:
        json_write_bool(writer, value->boolean);
        break;
    case VALUE_NULL:
        json_write_null(writer);
        break;
    case VALUE_M:
        json_open_object(writer);
        write_elements(writer, value);
        json_close_object(writer);
        break;
    default:
        json_open_array(writer);
        write_elements(writer, value);
        json_close_array(writer);
    }
}

void plain_json_write_item(struct json_writer *writer, const struct item *item)
{
    struct item_iter iter;
    struct bytes name;
    struct value value;
    json_open_object(writer);
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value)) {
        json_write_name_bytes(writer, name);
        plain_json_write_value(writer, &value);
    }
    json_close_object(writer);
}

/* --- Reading --- */

static bool read_value(struct json_reader *reader, struct json_writer *writer,
                       enum value_type string_type);

static bool read_members(struct json_reader *reader, struct json_writer *writer,
                         const struct key_attribute *typed, size_t typed_count)
{
    struct bytes name;
    json_open_object(writer);
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        enum value_type string_type = VALUE_S;
        for (size_t i = 0; i < typed_count; i++) {
            if (bytes_equal(name, typed[i].name))
                string_type = typed[i].type;
        }
        json_write_name_bytes(writer, name);
        if (!read_value(reader, writer, string_type))
            return false;
    }
    json_close_object(writer);
    return !json_failed(reader);
}

static bool read_list(struct json_reader *reader, struct json_writer *writer)
{
    json_open_array(writer);
    json_enter_array(reader);
    while (json_next_element(reader)) {
        if (!read_value(reader, writer, VALUE_S))
            return false;
    }
    json_close_array(writer);
    return !json_failed(reader);
}

/* The content of one value behind the name of its type. The reader bounds the recursion. */
static bool read_content(struct json_reader *reader, struct json_writer *writer,
                         enum json_type found, enum value_type string_type)
{
    struct bytes text;
    bool truth;
    switch (found) {
    case JSON_STRING:
        json_write_name(writer, value_type_name(string_type));
        if (!json_read_string(reader, &text))
            return false;
        json_write_string(writer, text);
        return true;
    case JSON_NUMBER:
        json_write_name(writer, "N");
        if (!json_read_number(reader, &text))
            return false;
        json_write_string(writer, text);
        return true;
    case JSON_BOOL:
        json_write_name(writer, "BOOL");
        if (!json_read_bool(reader, &truth))
            return false;
        json_write_bool(writer, truth);
        return true;
    case JSON_NULL:
        json_write_name(writer, "NULL");
        json_write_bool(writer, true);
        return json_read_null(reader);
    case JSON_OBJECT:
        json_write_name(writer, "M");
        return read_members(reader, writer, NULL, 0);
    case JSON_ARRAY:
        json_write_name(writer, "L");
        return read_list(reader, writer);
    default:
        return false;
    }
}

static bool read_value(struct json_reader *reader, struct json_writer *writer,
                       enum value_type string_type)
{
    json_open_object(writer);
    if (!read_content(reader, writer, json_peek(reader), string_type))
        return false;
    json_close_object(writer);
    return true;
}

bool plain_json_read_item(struct json_reader *reader, struct buffer *json,
                          const struct key_attribute *typed, size_t typed_count)
{
    struct json_writer writer;
    json_writer_init(&writer, json);
    return json_peek(reader) == JSON_OBJECT && read_members(reader, &writer, typed, typed_count);
}
