/* value_json_write.c -- encoded values and items written as DynamoDB's JSON, member by member. */
#include <assert.h>
#include "json/writer.h"
#include "model/number.h"
#include "model/value_json.h"

static void write_number(struct json_writer *writer, struct bytes encoded)
{
    char text[NUMBER_TEXT_MAX];
    size_t size = number_format_encoded(encoded, text);
    json_write_string(writer, bytes_of(text, size));
}

/* A set's member, or a scalar without its type. */
static void write_scalar(struct json_writer *writer, const struct value *value)
{
    switch (value->type) {
    case VALUE_S:
        json_write_string(writer, value->data);
        break;
    case VALUE_N:
        write_number(writer, value->data);
        break;
    case VALUE_B:
        json_write_base64(writer, value->data);
        break;
    default:
        assert(value->type == VALUE_BOOL || value->type == VALUE_NULL);
        json_write_bool(writer, value->type == VALUE_NULL || value->boolean);
    }
}

static void write_elements(struct json_writer *writer, const struct value *container)
{
    struct value_iter iter;
    struct value element;
    struct bytes name;
    value_iter_init(&iter, container);
    while (value_iter_next(&iter, &name, &element)) {
        if (container->type == VALUE_M)
            json_write_name_bytes(writer, name);
        if (container->type == VALUE_L || container->type == VALUE_M)
            value_json_write(writer, &element); /* NESTING_DEPTH_MAX deep at most. */
        else
            write_scalar(writer, &element);
    }
}

void value_json_write(struct json_writer *writer, const struct value *value)
{
    json_open_object(writer);
    json_write_name(writer, value_type_name(value->type));
    switch (value->type) {
    case VALUE_M:
        json_open_object(writer);
        write_elements(writer, value);
        json_close_object(writer);
        break;
    case VALUE_L:
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        json_open_array(writer);
        write_elements(writer, value);
        json_close_array(writer);
        break;
    default:
        write_scalar(writer, value);
    }
    json_close_object(writer);
}

void item_json_write(struct json_writer *writer, const struct item *item)
{
    struct item_iter iter;
    struct bytes name;
    struct value value;
    json_open_object(writer);
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value)) {
        json_write_name_bytes(writer, name);
        value_json_write(writer, &value);
    }
    json_close_object(writer);
}
