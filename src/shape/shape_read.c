/* shape_read.c -- a request's JSON into the C structure that its shape describes.
 *
 * One pass, driven by the shape tables. The service's message about a mismatch depends both on the
 * expected shape and on the text, so refuse() makes all of them. Recursion follows the tables,
 * whose nesting is fixed, not the text.
 */
#include "shape/shape.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/give_way.h"
#include "json/reader.h"
#include "model/limits.h"
#include "model/serialization.h"
#include "model/value_json.h"

static_assert(SHAPE_JSON_DEPTH_MAX > 2 * NESTING_DEPTH_MAX + 8,
              "an item of the greatest depth fits into any request");

struct shape_reader {
    struct json_reader json;
    struct arena *arena;
    struct error *err;
    size_t held_max;      /* Memory of the arena, in bytes. */
    struct buffer values; /* Where attribute values are encoded. */
};

/* The context of a value: some messages differ inside a collection. */
enum place { PLACE_FIELD, PLACE_ELEMENT };

enum {
    ELEMENTS_FIRST_COUNT = 4,
    VALUE_COPIED_SIZE_MAX = 4096, /* Larger values are not copied out of the buffer. */
};

static bool read_value(struct shape_reader *reader, const struct shape *shape, enum place place,
                       void *out);

size_t shape_element_size(const struct shape *shape)
{
    switch (shape->kind) {
    case SHAPE_STRING:
        return sizeof(struct bytes);
    case SHAPE_BOOLEAN:
        return sizeof(struct shape_boolean);
    case SHAPE_INTEGER:
    case SHAPE_LONG:
    case SHAPE_TIMESTAMP:
        return sizeof(struct shape_integer);
    case SHAPE_DOUBLE:
        return sizeof(struct shape_double);
    case SHAPE_STRUCTURE:
        return sizeof(void *);
    case SHAPE_LIST:
        return sizeof(struct shape_list);
    case SHAPE_MAP:
        return sizeof(struct shape_map);
    case SHAPE_ITEM:
        return sizeof(struct shape_item);
    case SHAPE_VALUE:
        return sizeof(struct shape_value);
    }
    assert(false);
    return 0;
}

/* --- Messages --- */

static bool refuse_text(struct shape_reader *reader)
{
    return error_set(reader->err, ERROR_SERIALIZATION, "%s", "");
}

/* Millions of empty elements take little text but much memory. */
static bool refuse_memory(struct shape_reader *reader)
{
    return error_set(reader->err, ERROR_REQUEST_TOO_LARGE,
                     "The request takes too much memory to be read");
}

/* The Java name of the type, as the service's messages show it. */
static void append_java_type(struct buffer *out, const struct shape *shape)
{
    const struct bytes model_prefix = BYTES("com.amazonaws.dynamodb.v20120810.");
    const struct bytes map_prefix = BYTES("java.util.Map<java.lang.String, ");
    switch (shape->kind) {
    case SHAPE_STRING:
        buffer_append_bytes(out, BYTES("java.lang.String"));
        break;
    case SHAPE_BOOLEAN:
        buffer_append_bytes(out, BYTES("java.lang.Boolean"));
        break;
    case SHAPE_INTEGER:
        buffer_append_bytes(out, BYTES("java.lang.Integer"));
        break;
    case SHAPE_LONG:
        buffer_append_bytes(out, BYTES("java.lang.Long"));
        break;
    case SHAPE_DOUBLE:
        buffer_append_bytes(out, BYTES("java.lang.Double"));
        break;
    case SHAPE_TIMESTAMP:
        buffer_append_bytes(out, BYTES("java.util.Date"));
        break;
    case SHAPE_STRUCTURE:
        buffer_append_bytes(out, model_prefix);
        buffer_append_bytes(out, bytes_from_text(shape->type_name));
        break;
    case SHAPE_VALUE:
        buffer_append_bytes(out, model_prefix);
        buffer_append_bytes(out, BYTES("AttributeValue"));
        break;
    case SHAPE_LIST:
        buffer_append_bytes(out, BYTES("java.util.List<"));
        append_java_type(out, shape->element);
        buffer_append_byte(out, '>');
        break;
    case SHAPE_MAP:
        buffer_append_bytes(out, map_prefix);
        append_java_type(out, shape->element);
        buffer_append_byte(out, '>');
        break;
    case SHAPE_ITEM:
        buffer_append_bytes(out, map_prefix);
        buffer_append_bytes(out, model_prefix);
        buffer_append_bytes(out, BYTES("AttributeValue>"));
        break;
    }
}

/* A Java type with type parameters. */
static bool is_generic(const struct shape *shape)
{
    return shape->kind == SHAPE_LIST || shape->kind == SHAPE_MAP || shape->kind == SHAPE_ITEM;
}

static bool refuse_array(struct shape_reader *reader, const struct shape *shape)
{
    struct buffer type;
    buffer_init(&type, reader->arena);
    append_java_type(&type, shape);
    return error_set(reader->err, ERROR_SERIALIZATION, "Unrecognized collection type %s%.*s",
                     is_generic(shape) ? "" : "class ", BYTES_FMT(buffer_bytes(&type)));
}

/* The service's name for the type of the next scalar; NULL if the text is malformed. */
static const char *scalar_token(struct shape_reader *reader, enum json_type found)
{
    struct bytes text;
    bool boolean;
    switch (found) {
    case JSON_STRING:
        return json_read_string(&reader->json, &text) ? "STRING_VALUE" : NULL;
    case JSON_BOOL:
        if (!json_read_bool(&reader->json, &boolean))
            return NULL;
        return boolean ? "TRUE_VALUE" : "FALSE_VALUE";
    case JSON_NUMBER:
        if (!json_read_number(&reader->json, &text))
            return NULL;
        for (size_t i = 0; i < text.len; i++) {
            if (text.data[i] == '.' || text.data[i] == 'e' || text.data[i] == 'E')
                return "DECIMAL_VALUE";
        }
        return "NUMBER_VALUE";
    default:
        return NULL;
    }
}

static const char *scalar_type(enum shape_kind kind)
{
    switch (kind) {
    case SHAPE_STRING:
        return "String";
    case SHAPE_BOOLEAN:
        return "Boolean";
    case SHAPE_INTEGER:
        return "Integer";
    case SHAPE_LONG:
        return "Long";
    case SHAPE_DOUBLE:
        return "Double";
    case SHAPE_TIMESTAMP:
        return "Date";
    default:
        return NULL; /* A container. */
    }
}

/* Inside a collection the service fails while it formats the expected type, and shows that. */
static bool refuse_generic_element(struct shape_reader *reader, enum json_type found)
{
    if (found != JSON_OBJECT && found != JSON_ARRAY && scalar_token(reader, found) == NULL)
        return refuse_text(reader);
    return error_set(reader->err, ERROR_SERIALIZATION,
                     "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be "
                     "cast to class java.lang.Class (sun.reflect.generics.reflectiveObjects."
                     "ParameterizedTypeImpl and java.lang.Class are in module java.base of loader "
                     "'bootstrap')");
}

/* Reports that the next value, of type `found`, is not what `shape` expects. */
static bool refuse(struct shape_reader *reader, const struct shape *shape, enum place place,
                   enum json_type found)
{
    if (place == PLACE_ELEMENT && is_generic(shape))
        return refuse_generic_element(reader, found);
    if (found == JSON_OBJECT)
        return error_set(reader->err, ERROR_SERIALIZATION,
                         "Start of structure or map found where not expected");
    if (found == JSON_ARRAY)
        return refuse_array(reader, shape);
    const char *token = scalar_token(reader, found);
    if (token == NULL)
        return refuse_text(reader);
    const char *expected = scalar_type(shape->kind);
    if (expected == NULL)
        return error_set(reader->err, ERROR_SERIALIZATION,
                         place == PLACE_ELEMENT ? "Unexpected value type in payload"
                                                : "Unexpected field type");
    return error_set(reader->err, ERROR_SERIALIZATION, "%s cannot be converted to %s", token,
                     expected);
}

/* --- Scalars --- */

static bool read_string(struct shape_reader *reader, struct bytes *out)
{
    if (!json_read_string(&reader->json, out))
        return refuse_text(reader);
    if (out->data == NULL) /* NULL means "absent". */
        out->data = (const uint8_t *)"";
    return true;
}

static const char *terminate(struct arena *arena, struct bytes text)
{
    char *copy = arena_alloc(arena, text.len + 1);
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}

/* Drops fractions; a number outside 64 bits becomes the greatest or smallest one inside. */
static int64_t integer_from_text(struct arena *arena, struct bytes text)
{
    const char *copy = terminate(arena, text);
    char *end;
    long long whole = strtoll(copy, &end, 10);
    if (*end == '\0')
        return whole;
    double value = strtod(copy, NULL);
    if (value >= 0x1p63)
        return INT64_MAX;
    if (value < -0x1p63)
        return INT64_MIN;
    return (int64_t)value;
}

/* Only digits, perhaps behind a minus sign. */
static bool is_integer_text(struct bytes text)
{
    size_t at = text.len > 0 && text.data[0] == '-' ? 1 : 0;
    if (at == text.len)
        return false;
    while (at < text.len && text.data[at] >= '0' && text.data[at] <= '9')
        at++;
    return at == text.len;
}

static bool read_integer(struct shape_reader *reader, const struct shape *shape, enum place place,
                         struct shape_integer *out)
{
    struct bytes text;
    /* A string is taken, as DynamoDB Local does and tools rely on, though the service refuses it.
     */
    if (json_peek(&reader->json) == JSON_STRING) {
        struct json_reader before = reader->json;
        if (!json_read_string(&reader->json, &text))
            return refuse_text(reader);
        if (!is_integer_text(text)) {
            reader->json = before;
            return refuse(reader, shape, place, JSON_STRING);
        }
    } else if (!json_read_number(&reader->json, &text)) {
        return refuse_text(reader);
    }
    *out =
        (struct shape_integer){ .present = true, .value = integer_from_text(reader->arena, text) };
    return true;
}

/* The protocol writes as text what JSON's numbers cannot express. */
static bool read_double(struct shape_reader *reader, const struct shape *shape, enum place place,
                        struct shape_double *out)
{
    struct bytes text;
    struct json_reader before = reader->json;
    out->present = true;
    if (json_peek(&reader->json) == JSON_NUMBER) {
        if (!json_read_number(&reader->json, &text))
            return refuse_text(reader);
        out->value = strtod(terminate(reader->arena, text), NULL);
        return true;
    }
    if (!json_read_string(&reader->json, &text))
        return refuse_text(reader);
    if (bytes_equal_text(text, "NaN")) {
        out->value = NAN;
    } else if (bytes_equal_text(text, "Infinity") || bytes_equal_text(text, "-Infinity")) {
        out->value = text.data[0] == '-' ? -INFINITY : INFINITY;
    } else {
        reader->json = before;
        return refuse(reader, shape, place, JSON_STRING);
    }
    return true;
}

/* Seconds, perhaps with a fraction. */
static bool read_timestamp(struct shape_reader *reader, struct shape_integer *out)
{
    struct bytes text;
    if (!json_read_number(&reader->json, &text))
        return refuse_text(reader);
    double value = round(strtod(terminate(reader->arena, text), NULL) * 1000);
    out->present = true;
    if (value >= (double)SHAPE_TIMESTAMP_MAX_MS)
        out->value = SHAPE_TIMESTAMP_MAX_MS;
    else if (value <= (double)SHAPE_TIMESTAMP_MIN_MS)
        out->value = SHAPE_TIMESTAMP_MIN_MS;
    else
        out->value = (int64_t)value;
    return true;
}

static bool read_boolean(struct shape_reader *reader, struct shape_boolean *out)
{
    out->present = true;
    if (json_peek(&reader->json) == JSON_BOOL)
        return json_read_bool(&reader->json, &out->value) ? true : refuse_text(reader);
    struct bytes text;
    if (!json_read_string(&reader->json, &text))
        return refuse_text(reader);
    return serialization_boolean_text(text, &out->value, reader->err);
}

/* --- Containers --- */

static const struct shape_field *find_field(const struct shape *shape, struct bytes name)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        if (bytes_equal_text(name, shape->fields[i].name))
            return &shape->fields[i];
    }
    return NULL;
}

static bool read_members(struct shape_reader *reader, const struct shape *shape, void *structure)
{
    struct bytes name;
    json_enter_object(&reader->json);
    while (json_next_member(&reader->json, &name)) {
        const struct shape_field *field = find_field(shape, name);
        if (field == NULL)
            json_skip(&reader->json);
        else if (!read_value(reader, field->shape, PLACE_FIELD, (char *)structure + field->offset))
            return false;
    }
    return json_failed(&reader->json) ? refuse_text(reader) : true;
}

static bool read_structure(struct shape_reader *reader, const struct shape *shape, void **out)
{
    *out = arena_alloc_zeroed(reader->arena, shape->size);
    return read_members(reader, shape, *out);
}

/* Makes room for one more element of `size` bytes behind the first `count`. */
static void *grow_elements(struct arena *arena, void *elements, size_t count, size_t *capacity,
                           size_t size)
{
    if (count < *capacity)
        return elements;
    size_t larger = *capacity == 0 ? ELEMENTS_FIRST_COUNT : *capacity * 2;
    elements = arena_grow(arena, elements, *capacity * size, larger * size);
    *capacity = larger;
    return elements;
}

static bool read_list(struct shape_reader *reader, const struct shape *shape,
                      struct shape_list *list)
{
    size_t size = shape_element_size(shape->element);
    size_t capacity = 0;
    list->present = true;
    json_enter_array(&reader->json);
    for (; json_next_element(&reader->json); list->count++) {
        give_way_count(GIVE_WAY_ELEMENT);
        if (list->kept == SHAPE_ELEMENTS_KEPT_MAX && shape->max < SHAPE_ELEMENTS_KEPT_MAX) {
            json_skip(&reader->json);
            continue;
        }
        list->elements = grow_elements(reader->arena, list->elements, list->kept, &capacity, size);
        void *element = (char *)list->elements + list->kept * size;
        if (!read_value(reader, shape->element, PLACE_ELEMENT, element))
            return false;
        list->kept++;
    }
    return json_failed(&reader->json) ? refuse_text(reader) : true;
}

struct entry {
    struct bytes name;
    size_t index; /* Among the entries of the text. */
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    int order = bytes_compare(a->name, b->name);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* Sorts the entries by name and keeps the last of equal names. */
static void finish_map(struct arena *arena, struct shape_map *map, struct entry *entries,
                       const char *elements, size_t count, size_t size)
{
    if (count == 0)
        return;
    qsort(entries, count, sizeof(*entries), compare_entries);
    map->names = arena_alloc(arena, count * sizeof(*map->names));
    map->elements = arena_alloc(arena, count * size);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && bytes_equal(entries[i].name, entries[i + 1].name))
            continue;
        map->names[map->count] = entries[i].name;
        memcpy((char *)map->elements + map->count * size, elements + entries[i].index * size, size);
        map->count++;
    }
}

static bool read_map(struct shape_reader *reader, const struct shape *shape, struct shape_map *map)
{
    size_t size = shape_element_size(shape->element);
    size_t entry_capacity = 0, element_capacity = 0, count = 0;
    struct entry *entries = NULL;
    char *elements = NULL;
    struct bytes name;
    map->present = true;
    json_enter_object(&reader->json);
    while (json_next_member(&reader->json, &name)) {
        give_way_count(GIVE_WAY_ELEMENT);
        entries = grow_elements(reader->arena, entries, count, &entry_capacity, sizeof(*entries));
        elements = grow_elements(reader->arena, elements, count, &element_capacity, size);
        entries[count] = (struct entry){ .name = name, .index = count };
        if (!read_value(reader, shape->element, PLACE_ELEMENT, elements + count * size))
            return false;
        count++;
    }
    if (json_failed(&reader->json))
        return refuse_text(reader);
    finish_map(reader->arena, map, entries, elements, count, size);
    return true;
}

/* A nested reader may have set the error already; otherwise the text itself is malformed. */
static bool refuse_unless_set(struct shape_reader *reader)
{
    return error_is_set(reader->err) ? false : refuse_text(reader);
}

static struct error unbroken_rule(const struct shape_reader *reader)
{
    struct error rule;
    error_init(&rule, reader->arena);
    rule.family = reader->err->family;
    return rule;
}

/* NULL: it was not broken. */
static const struct error *keep_broken_rule(const struct shape_reader *reader,
                                            const struct error *rule)
{
    if (LIKELY(!error_is_set(rule)))
        return NULL;
    struct error *kept = arena_alloc(reader->arena, sizeof *kept);
    *kept = *rule;
    return kept;
}

static bool read_item(struct shape_reader *reader, struct shape_item *out)
{
    struct error rule = unbroken_rule(reader);
    out->present = true;
    if (!item_json_read(&reader->json, reader->arena, &out->item, &rule, reader->err))
        return refuse_unless_set(reader);
    out->rule = keep_broken_rule(reader, &rule);
    return true;
}

static bool read_attribute_value(struct shape_reader *reader, struct shape_value *out)
{
    struct buffer *values = &reader->values;
    struct error rule = unbroken_rule(reader);
    values->len = 0;
    out->present = true;
    if (!value_json_read(&reader->json, values, &rule, reader->err))
        return refuse_unless_set(reader);
    out->rule = keep_broken_rule(reader, &rule);
    if (values->len <= VALUE_COPIED_SIZE_MAX) {
        out->encoded = arena_copy(reader->arena, buffer_bytes(values));
        return true;
    }
    buffer_trim(values);
    out->encoded = buffer_bytes(values);
    buffer_init(values, reader->arena);
    return true;
}

/* --- One value of any shape --- */

static enum json_type expected_type(enum shape_kind kind)
{
    switch (kind) {
    case SHAPE_STRING:
        return JSON_STRING;
    case SHAPE_BOOLEAN:
        return JSON_BOOL;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
    case SHAPE_DOUBLE:
    case SHAPE_TIMESTAMP:
        return JSON_NUMBER;
    case SHAPE_LIST:
        return JSON_ARRAY;
    case SHAPE_STRUCTURE:
    case SHAPE_MAP:
    case SHAPE_ITEM:
    case SHAPE_VALUE:
        return JSON_OBJECT;
    }
    assert(false);
    return JSON_INVALID;
}

static bool is_read_from_string(enum shape_kind kind)
{
    return kind == SHAPE_BOOLEAN || kind == SHAPE_INTEGER || kind == SHAPE_LONG ||
           kind == SHAPE_DOUBLE;
}

static bool read_value(struct shape_reader *reader, const struct shape *shape, enum place place,
                       void *out)
{
    if (UNLIKELY(arena_held_size(reader->arena) > reader->held_max))
        return refuse_memory(reader);
    memset(out, 0, shape_element_size(shape)); /* A repeated member replaces the first. */
    enum json_type found = json_peek(&reader->json);
    if (found == JSON_NULL)
        return json_read_null(&reader->json) ? true : refuse_text(reader);
    if (found != expected_type(shape->kind) &&
        !(found == JSON_STRING && is_read_from_string(shape->kind)))
        return refuse(reader, shape, place, found);
    switch (shape->kind) {
    case SHAPE_STRING:
        return read_string(reader, out);
    case SHAPE_BOOLEAN:
        return read_boolean(reader, out);
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        return read_integer(reader, shape, place, out);
    case SHAPE_DOUBLE:
        return read_double(reader, shape, place, out);
    case SHAPE_TIMESTAMP:
        return read_timestamp(reader, out);
    case SHAPE_STRUCTURE:
        return read_structure(reader, shape, out);
    case SHAPE_LIST:
        return read_list(reader, shape, out);
    case SHAPE_MAP:
        return read_map(reader, shape, out);
    case SHAPE_ITEM:
        return read_item(reader, out);
    case SHAPE_VALUE:
        return read_attribute_value(reader, out);
    }
    assert(false);
    return false;
}

static size_t memory_for(struct bytes text)
{
    size_t size = text.len * SHAPE_MEMORY_FACTOR;
    return size > SHAPE_MEMORY_MIN ? size : SHAPE_MEMORY_MIN;
}

bool shape_read(struct arena *arena, struct bytes text, const struct shape *shape, void *out,
                struct error *err)
{
    assert(shape->kind == SHAPE_STRUCTURE);
    struct shape_reader reader = { .arena = arena,
                                   .err = err,
                                   .held_max = arena_held_size(arena) + memory_for(text) };
    buffer_init(&reader.values, arena);
    json_reader_init(&reader.json, arena, text, SHAPE_JSON_DEPTH_MAX);
    memset(out, 0, shape->size);
    enum json_type found = json_peek(&reader.json);
    if (found != JSON_OBJECT)
        return refuse(&reader, shape, PLACE_FIELD, found);
    if (!read_members(&reader, shape, out))
        return false;
    return json_finish(&reader.json) ? true : refuse_text(&reader);
}
