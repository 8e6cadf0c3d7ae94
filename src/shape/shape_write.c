/* shape_write.c -- see shape_write.h. Recursion follows the tables, whose nesting is fixed. */
#include "shape/shape_write.h"
#include "json/writer.h"
#include "model/value.h"
#include "model/value_json.h"
#include "shape/shape.h"

static bool is_present(const struct shape *shape, const void *value)
{
    switch (shape->kind) {
    case SHAPE_STRING:
        return ((const struct bytes *)value)->data != NULL;
    case SHAPE_BOOLEAN:
        return ((const struct shape_boolean *)value)->present;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
    case SHAPE_TIMESTAMP:
        return ((const struct shape_integer *)value)->present;
    case SHAPE_DOUBLE:
        return ((const struct shape_double *)value)->present;
    case SHAPE_STRUCTURE:
        return *(void *const *)value != NULL;
    case SHAPE_LIST:
        return ((const struct shape_list *)value)->present;
    case SHAPE_MAP:
        return ((const struct shape_map *)value)->present;
    case SHAPE_ITEM:
        return ((const struct shape_item *)value)->present;
    default:
        return ((const struct shape_value *)value)->present;
    }
}

static void write_value(struct json_writer *writer, const struct shape *shape, const void *value);

static void write_list(struct json_writer *writer, const struct shape *shape,
                       const struct shape_list *list)
{
    size_t size = shape_element_size(shape->element);
    json_open_array(writer);
    for (size_t i = 0; i < list->kept; i++)
        write_value(writer, shape->element, (const char *)list->elements + i * size);
    json_close_array(writer);
}

static void write_map(struct json_writer *writer, const struct shape *shape,
                      const struct shape_map *map)
{
    size_t size = shape_element_size(shape->element);
    json_open_object(writer);
    for (size_t i = 0; i < map->count; i++) {
        json_write_name_bytes(writer, map->names[i]);
        write_value(writer, shape->element, (const char *)map->elements + i * size);
    }
    json_close_object(writer);
}

static void write_value(struct json_writer *writer, const struct shape *shape, const void *value)
{
    if (!is_present(shape, value)) {
        json_write_null(writer); /* An element of a list that was null. */
        return;
    }
    switch (shape->kind) {
    case SHAPE_STRING:
        json_write_string(writer, *(const struct bytes *)value);
        break;
    case SHAPE_BOOLEAN:
        json_write_bool(writer, ((const struct shape_boolean *)value)->value);
        break;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        json_write_integer(writer, ((const struct shape_integer *)value)->value);
        break;
    case SHAPE_TIMESTAMP:
        json_write_seconds(writer, ((const struct shape_integer *)value)->value);
        break;
    case SHAPE_DOUBLE:
        json_write_double(writer, ((const struct shape_double *)value)->value);
        break;
    case SHAPE_STRUCTURE:
        shape_write(writer, shape, *(void *const *)value);
        break;
    case SHAPE_LIST:
        write_list(writer, shape, value);
        break;
    case SHAPE_MAP:
        write_map(writer, shape, value);
        break;
    case SHAPE_ITEM:
        item_json_write(writer, &((const struct shape_item *)value)->item);
        break;
    case SHAPE_VALUE: {
        struct value view = value_view(((const struct shape_value *)value)->encoded);
        value_json_write(writer, &view);
        break;
    }
    }
}

void shape_write(struct json_writer *writer, const struct shape *shape, const void *structure)
{
    json_open_object(writer);
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct shape_field *field = &shape->fields[i];
        const void *value = (const char *)structure + field->offset;
        if (!is_present(field->shape, value))
            continue;
        json_write_name(writer, field->name);
        write_value(writer, field->shape, value);
    }
    json_close_object(writer);
}
