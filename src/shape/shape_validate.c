/* shape_validate.c -- the service model's constraints, collected the way the service does.
 *
 * Walks a request that shape_read filled in, in the order of the shape tables, which is the order
 * in which the service reports. Each broken constraint adds one sentence, up to SHAPE_ERRORS_MAX; a
 * few fields have a special message that is reported instead of everything else.
 */
#include "shape/shape.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/utf8.h"
#include "json/writer.h"

struct validation {
    struct arena *arena;
    struct buffer path;     /* "keySchema.1.member.attributeName" */
    struct buffer messages; /* Separated by "; ". */
    unsigned count;
    bool one_enum_error;  /* The shape's. */
    bool has_enum_error;  /* There is one among the messages. */
    const char *own_text; /* A special message, which replaces all others; NULL: none. */
};

static void append_text(struct buffer *out, const char *text)
{
    buffer_append_bytes(out, bytes_from_text(text));
}

/* Faster than snprintf: each element of a list has its index in its path, and a list may have tens
 * of thousands. */
static void append_integer(struct buffer *out, int64_t value)
{
    char digits[sizeof("-9223372036854775808")];
    char *end = digits + sizeof digits, *at = end;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        *--at = '-';
    buffer_append(out, at, (size_t)(end - at));
}

static void append_double(struct buffer *out, double value)
{
    char text[JSON_DOUBLE_TEXT_SIZE];
    if (isfinite(value))
        json_format_double(value, text);
    append_text(out, isfinite(value) ? text
                     : isnan(value)  ? "NaN"
                     : value < 0     ? "-Infinity"
                                     : "Infinity");
}

/* Paths and values show field names with a lower-case first letter: "tableName",
 * "sSESpecification". */
static void append_field_name(struct buffer *out, const char *name)
{
    buffer_append_byte(out, (uint8_t)tolower((unsigned char)name[0]));
    append_text(out, name + 1);
}

/* --- Values as the service prints them: Java's toString --- */

static bool is_absent(const struct shape *shape, const void *value)
{
    switch (shape->kind) {
    case SHAPE_STRING:
        return ((const struct bytes *)value)->data == NULL;
    case SHAPE_BOOLEAN:
        return !((const struct shape_boolean *)value)->present;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
    case SHAPE_TIMESTAMP:
        return !((const struct shape_integer *)value)->present;
    case SHAPE_DOUBLE:
        return !((const struct shape_double *)value)->present;
    case SHAPE_STRUCTURE:
        return *(void *const *)value == NULL;
    case SHAPE_LIST:
        return !((const struct shape_list *)value)->present;
    case SHAPE_MAP:
        return !((const struct shape_map *)value)->present;
    case SHAPE_ITEM:
        return !((const struct shape_item *)value)->present;
    case SHAPE_VALUE:
        return !((const struct shape_value *)value)->present;
    }
    assert(false);
    return true;
}

/* Stops soon after `limit`; render() cuts the rest. */
static void render_value(struct buffer *out, const struct shape *shape, const void *value,
                         size_t limit);

static void render_structure(struct buffer *out, const struct shape *shape, const char *structure,
                             size_t limit)
{
    append_text(out, shape->type_name);
    buffer_append_byte(out, '(');
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct shape_field *field = &shape->fields[i];
        if (i > 0)
            append_text(out, ", ");
        append_field_name(out, field->name);
        buffer_append_byte(out, '=');
        render_value(out, field->shape, structure + field->offset, limit);
    }
    buffer_append_byte(out, ')');
}

static void render_list(struct buffer *out, const struct shape *shape,
                        const struct shape_list *list, size_t limit)
{
    size_t size = shape_element_size(shape->element);
    buffer_append_byte(out, '[');
    for (size_t i = 0; i < list->kept && out->len <= limit; i++) {
        if (i > 0)
            append_text(out, ", ");
        render_value(out, shape->element, (const char *)list->elements + i * size, limit);
    }
    buffer_append_byte(out, ']');
}

static void render_map(struct buffer *out, const struct shape *shape, const struct shape_map *map,
                       size_t limit)
{
    size_t size = shape_element_size(shape->element);
    buffer_append_byte(out, '{');
    for (size_t i = 0; i < map->count && out->len <= limit; i++) {
        if (i > 0)
            append_text(out, ", ");
        buffer_append_bytes(out, map->names[i]);
        buffer_append_byte(out, '=');
        render_value(out, shape->element, (const char *)map->elements + i * size, limit);
    }
    buffer_append_byte(out, '}');
}

static void render_value(struct buffer *out, const struct shape *shape, const void *value,
                         size_t limit)
{
    if (is_absent(shape, value)) {
        append_text(out, "null");
        return;
    }
    switch (shape->kind) {
    case SHAPE_STRING:
        buffer_append_bytes(out, *(const struct bytes *)value);
        break;
    case SHAPE_BOOLEAN:
        append_text(out, ((const struct shape_boolean *)value)->value ? "true" : "false");
        break;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
    case SHAPE_TIMESTAMP:
        append_integer(out, ((const struct shape_integer *)value)->value);
        break;
    case SHAPE_DOUBLE:
        append_double(out, ((const struct shape_double *)value)->value);
        break;
    case SHAPE_STRUCTURE:
        render_structure(out, shape, *(const char *const *)value, limit);
        break;
    case SHAPE_LIST:
        render_list(out, shape, value, limit);
        break;
    case SHAPE_MAP:
        render_map(out, shape, value, limit);
        break;
    case SHAPE_ITEM:
    case SHAPE_VALUE:
        append_text(out, "AttributeValue"); /* Messages do not repeat item data. */
        break;
    }
}

/* Appends the value, cut at the end of a character behind SHAPE_RENDERED_MAX. */
static void render(struct buffer *out, const struct shape *shape, const void *value)
{
    size_t limit = out->len + SHAPE_RENDERED_MAX;
    render_value(out, shape, value, limit);
    if (out->len <= limit)
        return;
    while ((out->data[limit] & 0xC0) == 0x80) /* Inside a UTF-8 character. */
        limit--;
    out->len = limit;
}

/* --- Collecting --- */

static bool is_full(const struct validation *run)
{
    return run->own_text != NULL || run->count == SHAPE_ERRORS_MAX;
}

/* Begins "Value '...' at 'path' failed to satisfy constraint: ". The caller adds the constraint. */
static struct buffer *begin_error(struct validation *run, const struct shape *shape,
                                  const void *value)
{
    struct buffer *out = &run->messages;
    if (run->count++ > 0)
        append_text(out, "; ");
    append_text(out, "Value");
    if (is_absent(shape, value)) {
        append_text(out, " null");
    } else if (!shape->bare) {
        append_text(out, " '");
        render(out, shape, value);
        append_text(out, "'");
    }
    append_text(out, " at '");
    buffer_append_bytes(out, buffer_bytes(&run->path));
    append_text(out, "' failed to satisfy constraint: ");
    return out;
}

static void add_bound_error(struct validation *run, const struct shape *shape, const void *value,
                            const char *constraint, int64_t bound)
{
    if (is_full(run))
        return;
    struct buffer *out = begin_error(run, shape, value);
    append_text(out, constraint);
    append_integer(out, bound);
}

static void check_length(struct validation *run, const struct shape *shape, const void *value,
                         size_t length)
{
    if ((int64_t)length < shape->min)
        add_bound_error(run, shape, value, "Member must have length greater than or equal to ",
                        shape->min);
    if ((int64_t)length > shape->max)
        add_bound_error(run, shape, value, "Member must have length less than or equal to ",
                        shape->max);
}

/* --- Scalars --- */

static bool is_enum_value(const struct shape *shape, struct bytes text)
{
    for (size_t i = 0; shape->enum_values[i] != NULL; i++) {
        if (bytes_equal_text(text, shape->enum_values[i]))
            return true;
    }
    return false;
}

static void add_enum_error(struct validation *run, const struct shape *shape, const void *value)
{
    if (run->one_enum_error && run->has_enum_error)
        return;
    run->has_enum_error = true;
    struct buffer *out = begin_error(run, shape, value);
    append_text(out, "Member must satisfy enum value set: [");
    for (size_t i = 0; shape->enum_values[i] != NULL; i++) {
        if (i > 0)
            append_text(out, ", ");
        append_text(out, shape->enum_values[i]);
    }
    append_text(out, "]");
}

static void check_pattern(struct validation *run, const struct shape *shape,
                          const struct bytes *value)
{
    if (shape->pattern == NULL || shape->matches(*value) || is_full(run))
        return;
    struct buffer *out = begin_error(run, shape, value);
    append_text(out, "Member must satisfy regular expression pattern: ");
    append_text(out, shape->pattern);
}

static void check_string(struct validation *run, const struct shape *shape,
                         const struct bytes *value)
{
    if (shape->exempt != NULL && shape->exempt(*value))
        return;
    size_t length = utf8_utf16_length(*value);
    if (shape->length_text != NULL &&
        ((int64_t)length < shape->min || (int64_t)length > shape->max)) {
        run->own_text = shape->length_text;
        return;
    }
    if (shape->empty_text != NULL && length == 0) {
        run->own_text = shape->empty_text;
        return;
    }
    if (shape->enum_text != NULL && !is_enum_value(shape, *value)) {
        run->own_text = shape->enum_text;
        return;
    }
    if (shape->enum_values != NULL && !is_enum_value(shape, *value))
        add_enum_error(run, shape, value);
    if (shape->length_first)
        check_length(run, shape, value, length);
    check_pattern(run, shape, value);
    if (!shape->length_first)
        check_length(run, shape, value, length);
}

static void check_number(struct validation *run, const struct shape *shape,
                         const struct shape_integer *number)
{
    if (number->value < shape->min)
        add_bound_error(run, shape, number, "Member must have value greater than or equal to ",
                        shape->min);
    if (number->value > shape->max)
        add_bound_error(run, shape, number, "Member must have value less than or equal to ",
                        shape->max);
}

/* --- Containers --- */

static void check_value(struct validation *run, const struct shape *shape, const void *value);

static void check_required(struct validation *run, const struct shape *shape, const void *value)
{
    if (is_full(run))
        return;
    if (is_absent(shape, value))
        append_text(begin_error(run, shape, value), "Member must not be null");
    else
        check_value(run, shape, value);
}

static void check_field(struct validation *run, const struct shape_field *field,
                        const char *structure)
{
    const void *value = structure + field->offset;
    bool absent = is_absent(field->shape, value);
    if (absent && field->absent_text != NULL)
        run->own_text = field->absent_text;
    if (absent && (field->absent_text != NULL || !field->required))
        return; /* Most fields of most requests: no path is needed. */
    size_t path_len = run->path.len;
    if (path_len > 0)
        buffer_append_byte(&run->path, '.');
    if (field->shape->bare)
        append_text(&run->path, field->name);
    else
        append_field_name(&run->path, field->name);
    check_required(run, field->shape, value);
    run->path.len = path_len;
}

static void check_fields(struct validation *run, const struct shape *shape, const char *structure,
                         bool alone)
{
    for (size_t i = 0; i < shape->field_count && !is_full(run); i++) {
        if (shape->fields[i].alone == alone)
            check_field(run, &shape->fields[i], structure);
    }
}

static void check_elements(struct validation *run, const struct shape *element,
                           const struct bytes *names, const void *elements, size_t count)
{
    size_t size = shape_element_size(element);
    size_t path_len = run->path.len;
    for (size_t i = 0; i < count && !is_full(run); i++) {
        buffer_append_byte(&run->path, '.');
        if (names == NULL)
            append_integer(&run->path, (int64_t)i + 1);
        else
            buffer_append_bytes(&run->path, names[i]);
        append_text(&run->path, ".member");
        const void *value = (const char *)elements + i * size;
        const struct shape_list *list = value;
        if (names != NULL && element->kind == SHAPE_LIST && list->present) /* Length: at the map. */
            check_elements(run, element->element, NULL, list->elements, list->kept);
        else
            check_required(run, element, value);
        run->path.len = path_len;
    }
}

/* Observed: the lengths of lists that are a map's elements are reported once, at the map. */
static void check_list_lengths(struct validation *run, const struct shape *shape,
                               const struct shape_map *map)
{
    const struct shape *element = shape->element;
    const struct shape_list *lists = map->elements;
    bool broken = false;
    for (size_t i = 0; i < map->count && !broken; i++) {
        int64_t count = (int64_t)lists[i].count;
        broken = lists[i].present && (count < element->min || count > element->max);
    }
    if (!broken || is_full(run))
        return;
    struct buffer *out = begin_error(run, shape, map);
    append_text(out, "Map value must satisfy constraint: [Member must have length less than or "
                     "equal to ");
    append_integer(out, element->max);
    append_text(out, ", Member must have length greater than or equal to ");
    append_integer(out, element->min);
    append_text(out, "]");
}

static void check_value(struct validation *run, const struct shape *shape, const void *value)
{
    const struct shape_list *list = value;
    const struct shape_map *map = value;
    switch (shape->kind) {
    case SHAPE_STRING:
        check_string(run, shape, value);
        break;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        check_number(run, shape, value);
        break;
    case SHAPE_STRUCTURE:
        check_fields(run, shape, *(const char *const *)value, false);
        break;
    case SHAPE_LIST:
        check_length(run, shape, list, list->count);
        check_elements(run, shape->element, NULL, list->elements, list->kept);
        break;
    case SHAPE_MAP:
        check_length(run, shape, map, map->count);
        if (shape->element->kind == SHAPE_LIST)
            check_list_lengths(run, shape, map);
        check_elements(run, shape->element, map->names, map->elements, map->count);
        break;
    case SHAPE_BOOLEAN:
    case SHAPE_DOUBLE: /* Its operation knows its bounds. */
    case SHAPE_TIMESTAMP:
    case SHAPE_ITEM: /* model/value_json.h has checked the attribute values. */
    case SHAPE_VALUE:
        break;
    }
}

static bool report(const struct validation *run, struct error *err)
{
    if (run->own_text != NULL)
        return error_validation(err, "%s", run->own_text);
    if (run->count == 0)
        return true;
    struct buffer message;
    buffer_init(&message, run->arena);
    append_integer(&message, run->count);
    append_text(&message,
                run->count == 1 ? " validation error detected: " : " validation errors detected: ");
    buffer_append_bytes(&message, buffer_bytes(&run->messages));
    return error_set_bytes(err, ERROR_VALIDATION, buffer_bytes(&message));
}

bool shape_validate(struct arena *arena, const struct shape *shape, const void *structure,
                    struct error *err)
{
    assert(shape->kind == SHAPE_STRUCTURE);
    struct validation run = { .arena = arena, .one_enum_error = shape->one_enum_error };
    buffer_init(&run.path, arena);
    buffer_init(&run.messages, arena);
    check_fields(&run, shape, structure, true);
    if (run.count == 0)
        check_fields(&run, shape, structure, false);
    return report(&run, err);
}
