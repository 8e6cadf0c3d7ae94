/* value_json_write.c -- encoded values and items written as DynamoDB's JSON, member by member. */
#include <assert.h>
#include "base/arena.h"
#include "json/base64.h"
#include "json/writer.h"
#include "model/number.h"
#include "model/value_json.h"

/* A set's string or number as it is, one that stands alone with its type around it. */
static const struct json_frame member_frame = JSON_FRAME("\"", "\"");
static const struct json_frame string_frame = JSON_FRAME("{\"S\":\"", "\"}");
static const struct json_frame number_frame = JSON_FRAME("{\"N\":\"", "\"}");

static void write_number(struct json_writer *writer, const struct json_frame *frame,
                         struct bytes encoded)
{
    char text[NUMBER_TEXT_MAX];
    size_t size = number_format_encoded(encoded, text);
    json_write_framed(writer, frame, bytes_of(text, size));
}

static void write_set_member(struct json_writer *writer, const struct value *value)
{
    if (value->type == VALUE_S)
        json_write_framed(writer, &member_frame, value->data);
    else if (value->type == VALUE_N)
        write_number(writer, &member_frame, value->data);
    else
        json_write_base64(writer, value->data);
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
            write_set_member(writer, &element);
    }
}

static void write_container(struct json_writer *writer, const struct value *value)
{
    json_open_object(writer);
    json_write_name(writer, value_type_name(value->type));
    if (value->type == VALUE_M) {
        json_open_object(writer);
        write_elements(writer, value);
        json_close_object(writer);
    } else {
        json_open_array(writer);
        write_elements(writer, value);
        json_close_array(writer);
    }
    json_close_object(writer);
}

void value_json_write(struct json_writer *writer, const struct value *value)
{
    switch (value->type) {
    case VALUE_S:
        json_write_framed(writer, &string_frame, value->data);
        break;
    case VALUE_N:
        write_number(writer, &number_frame, value->data);
        break;
    case VALUE_B:
        json_open_object(writer);
        json_write_name(writer, "B");
        json_write_base64(writer, value->data);
        json_close_object(writer);
        break;
    case VALUE_BOOL:
        json_write_raw(writer,
                       value->boolean ? BYTES("{\"BOOL\":true}") : BYTES("{\"BOOL\":false}"));
        break;
    case VALUE_NULL:
        json_write_raw(writer, BYTES("{\"NULL\":true}"));
        break;
    default:
        write_container(writer, value);
    }
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

struct bytes value_json_scalar_text(struct arena *arena, const struct value *value)
{
    assert(value->type == VALUE_S || value->type == VALUE_N || value->type == VALUE_B);
    if (value->type == VALUE_N) {
        char text[NUMBER_TEXT_MAX];
        size_t len = number_format_encoded(value->data, text);
        return arena_copy(arena, bytes_of(text, len));
    }
    if (value->type == VALUE_B) {
        size_t len = base64_encoded_size(value->data.len);
        char *text = arena_alloc(arena, len);
        base64_encode(value->data, text);
        return bytes_of(text, len);
    }
    return value->data;
}
