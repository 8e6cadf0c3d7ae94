/* form.c -- see form.h.
 *
 * The parameters are sorted by the parts of their names, numbers by their value. Then everything
 * that belongs to one structure, list or map is one range, and JSON is written in one pass over the
 * ranges, along the shape tables.
 */
#include "codec/form.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "codec/iso_time.h"
#include "json/utf8.h"
#include "json/writer.h"
#include "model/error.h"
#include "shape/shape.h"

enum {
    /* Digits of an element's number. */
    NUMBER_SIZE_MAX = 9,
    /* Characters of a value that messages repeat. */
    SHOWN_SIZE_MAX = 100,
};

struct parameter {
    struct bytes name;
    struct bytes value;
    size_t index; /* In the body. */
};

struct form {
    struct arena *arena;
    struct error *err;
    struct json_writer json;
    unsigned depth;
};

/* Parameters with the same beginning of their names, of `name_size` bytes without the point. */
struct range {
    const struct parameter *first;
    size_t count;
    size_t name_size;
};

/* --- The body --- */

static bool refuse(struct form *form, const char *reason, struct bytes name)
{
    struct bytes shown = bytes_of(name.data, utf8_prefix(name, SHOWN_SIZE_MAX));
    return error_set(form->err, ERROR_SERIALIZATION, "%s: %.*s", reason, BYTES_FMT(shown));
}

static int hex_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    uint8_t lower = byte | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Borrows text without escapes. */
static bool decode_text(struct form *form, struct bytes text, struct bytes *out)
{
    uint8_t *copy;
    size_t size = 0;
    *out = text;
    if (memchr(text.data, '%', text.len) != NULL || memchr(text.data, '+', text.len) != NULL) {
        copy = arena_alloc(form->arena, text.len);
        for (size_t i = 0; i < text.len; i++) {
            if (text.data[i] != '%') {
                copy[size++] = text.data[i] == '+' ? ' ' : text.data[i];
                continue;
            }
            int high = i + 2 < text.len ? hex_digit(text.data[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.data[i + 2]) : -1;
            if (high < 0 || low < 0)
                return refuse(form,
                              "The body has an escape that is not a percent sign with two "
                              "hexadecimal digits in",
                              text);
            copy[size++] = (uint8_t)(high << 4 | low);
            i += 2;
        }
        *out = bytes_of(copy, size);
    }
    return utf8_prefix(*out, out->len) == out->len ||
           refuse(form, "The body has text that is not UTF-8 in", text);
}

static struct bytes take_until(struct bytes *rest, uint8_t mark)
{
    const uint8_t *end = rest->len == 0 ? NULL : memchr(rest->data, mark, rest->len);
    size_t size = end == NULL ? rest->len : (size_t)(end - rest->data);
    size_t taken = end == NULL ? size : size + 1;
    struct bytes part = bytes_of(rest->data, size);
    *rest = bytes_of(rest->data + taken, rest->len - taken);
    return part;
}

static size_t count_parameters(struct bytes body)
{
    size_t count = 0;
    while (body.len > 0)
        count += take_until(&body, '&').len > 0;
    return count;
}

static bool read_parameters(struct form *form, struct bytes body, struct parameter *out)
{
    size_t count = 0;
    while (body.len > 0) {
        struct bytes value = take_until(&body, '&');
        if (value.len == 0)
            continue;
        struct bytes name = take_until(&value, '=');
        out[count].index = count;
        if (!decode_text(form, name, &out[count].name) ||
            !decode_text(form, value, &out[count].value))
            return false;
        count++;
    }
    return true;
}

/* A loop calls this for strangers' requests, so it does not go through all parameters. */
struct bytes form_find(struct bytes body, const char *name)
{
    size_t size = strlen(name);
    const uint8_t *end = body.data + body.len;
    const uint8_t *at = body.data;
    while ((at = memmem(at, (size_t)(end - at), name, size)) != NULL) {
        bool is_first = at == body.data || at[-1] == '&';
        at += size;
        if (is_first && at < end && *at == '=') {
            struct bytes rest = bytes_of(at + 1, (size_t)(end - at - 1));
            return take_until(&rest, '&');
        }
    }
    return (struct bytes){ 0 };
}

/* --- Order --- */

static bool is_number(struct bytes part)
{
    for (size_t i = 0; i < part.len; i++)
        if (part.data[i] < '0' || part.data[i] > '9')
            return false;
    return part.len > 0 && part.len <= NUMBER_SIZE_MAX;
}

static long number_of(struct bytes part)
{
    long number = 0;
    for (size_t i = 0; i < part.len; i++)
        number = number * 10 + (part.data[i] - '0');
    return number;
}

/* Numbers come first, by their value; "01" and "1" differ. */
static int compare_parts(struct bytes a, struct bytes b)
{
    bool a_is_number = is_number(a);
    if (a_is_number != is_number(b))
        return a_is_number ? -1 : 1;
    if (a_is_number && number_of(a) != number_of(b))
        return number_of(a) < number_of(b) ? -1 : 1;
    return bytes_compare(a, b);
}

static int compare_parameters(const void *left, const void *right)
{
    const struct parameter *a = left;
    const struct parameter *b = right;
    struct bytes a_rest = a->name;
    struct bytes b_rest = b->name;
    while (a_rest.len > 0 && b_rest.len > 0) {
        int order = compare_parts(take_until(&a_rest, '.'), take_until(&b_rest, '.'));
        if (order != 0)
            return order;
    }
    if (a_rest.len != b_rest.len)
        return a_rest.len < b_rest.len ? -1 : 1;
    if (a->name.len != b->name.len) /* One ends with a point. */
        return a->name.len < b->name.len ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

/* --- Ranges --- */

static struct bytes whole_name(const struct range *range)
{
    return range->first[range->count - 1].name;
}

/* The part of the name behind the range's; data NULL: the name ends with that. */
static struct bytes next_part(const struct range *range, const struct parameter *parameter)
{
    struct bytes name = parameter->name;
    size_t at = range->name_size == 0 ? 0 : range->name_size + 1;
    if (at > name.len)
        return (struct bytes){ 0 };
    struct bytes rest = bytes_of(name.data + at, name.len - at);
    return take_until(&rest, '.');
}

/* Takes the parameters off the range that have the same next part as its first one. */
static struct range take_range(struct range *range, struct bytes *part)
{
    size_t count = 1;
    *part = next_part(range, &range->first[0]);
    assert(part->data != NULL);
    while (count < range->count) {
        struct bytes next = next_part(range, &range->first[count]);
        if (!bytes_equal(next, *part))
            break;
        count++;
    }
    struct range taken = {
        .first = range->first,
        .count = count,
        .name_size = (range->name_size == 0 ? 0 : range->name_size + 1) + part->len,
    };
    range->first += count;
    range->count -= count;
    return taken;
}

/* Does a name of the range end with what its names share? Those are sorted first. */
static bool has_value(const struct range *range)
{
    return range->first[0].name.len <= range->name_size;
}

/* --- Scalars --- */

static const char *terminate(struct form *form, struct bytes text)
{
    char *copy = arena_alloc(form->arena, text.len + 1);
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}

static bool write_integer(struct form *form, const struct parameter *parameter)
{
    const char *text = terminate(form, parameter->value);
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    size_t size = (size_t)(end - text);
    /* strtoll skips white space. */
    if (size == 0 || size != parameter->value.len || errno == ERANGE ||
        isspace((unsigned char)text[0]))
        return refuse(form, "The value is not an integer", parameter->name);
    json_write_integer(&form->json, value);
    return true;
}

/* strtod reads hexadecimal and words as well. */
static bool is_decimal(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\0' || strchr("0123456789+-.eE", text.data[i]) == NULL)
            return false;
    return text.len > 0;
}

static bool write_double(struct form *form, const struct parameter *parameter)
{
    struct bytes value = parameter->value;
    char *end;
    if (bytes_equal_text(value, "NaN") || bytes_equal_text(value, "Infinity") ||
        bytes_equal_text(value, "-Infinity")) {
        json_write_string(&form->json, value);
        return true;
    }
    const char *text = terminate(form, value);
    double number = is_decimal(value) ? strtod(text, &end) : 0;
    if (!is_decimal(value) || end != text + value.len)
        return refuse(form, "The value is not a number", parameter->name);
    if (isfinite(number))
        json_write_double(&form->json, number);
    else
        json_write_text(&form->json, number < 0 ? "-Infinity" : "Infinity");
    return true;
}

static bool write_scalar(struct form *form, const struct shape *shape,
                         const struct parameter *parameter)
{
    int64_t time_ms;
    switch (shape->kind) {
    case SHAPE_STRING:
        json_write_string(&form->json, parameter->value);
        return true;
    case SHAPE_BOOLEAN:
        if (!bytes_equal_text(parameter->value, "true") &&
            !bytes_equal_text(parameter->value, "false"))
            return refuse(form, "The value is neither true nor false", parameter->name);
        json_write_raw(&form->json, parameter->value);
        return true;
    case SHAPE_INTEGER:
    case SHAPE_LONG:
        return write_integer(form, parameter);
    case SHAPE_DOUBLE:
        return write_double(form, parameter);
    case SHAPE_TIMESTAMP:
        if (!iso_time_parse(parameter->value, &time_ms))
            return refuse(form, "The value is not a time in ISO 8601", parameter->name);
        json_write_seconds(&form->json, time_ms);
        return true;
    default: /* Attribute values: no service with this protocol has them. */
        return refuse(form, "The parameter cannot be sent in a form", parameter->name);
    }
}

/* --- Containers --- */

static bool write_value(struct form *form, const struct shape *shape, const struct range *range);

static const struct shape_field *find_field(const struct shape *shape, struct bytes name)
{
    for (size_t i = 0; i < shape->field_count; i++)
        if (bytes_equal_text(name, shape->fields[i].name))
            return &shape->fields[i];
    return NULL;
}

static bool write_structure(struct form *form, const struct shape *shape, struct range range)
{
    struct bytes part;
    json_open_object(&form->json);
    while (range.count > 0) {
        struct range member = take_range(&range, &part);
        const struct shape_field *field = find_field(shape, part);
        if (field == NULL)
            continue;
        json_write_name(&form->json, field->name);
        if (!write_value(form, field->shape, &member))
            return false;
    }
    json_close_object(&form->json);
    return true;
}

static bool write_list(struct form *form, const struct shape *shape, struct range range)
{
    struct bytes part;
    json_open_array(&form->json);
    while (range.count > 0) {
        struct range element = take_range(&range, &part);
        if (!is_number(part))
            return refuse(form, "The name of a list's element has no number", whole_name(&element));
        if (!write_value(form, shape->element, &element))
            return false;
    }
    json_close_array(&form->json);
    return true;
}

static bool write_entry(struct form *form, const struct shape *shape, struct range range)
{
    struct bytes name = whole_name(&range);
    struct bytes part;
    struct range key = take_range(&range, &part);
    if (!bytes_equal_text(part, "key") || !has_value(&key) || range.count == 0)
        return refuse(form, "The entry of a map has no key or no value", name);
    struct range value = take_range(&range, &part);
    if (!bytes_equal_text(part, "value"))
        return refuse(form, "The entry of a map has no key or no value", name);
    json_write_name_bytes(&form->json, key.first[key.count - 1].value);
    return write_value(form, shape->element, &value);
}

static bool write_map(struct form *form, const struct shape *shape, struct range range)
{
    struct bytes part;
    json_open_object(&form->json);
    while (range.count > 0) {
        struct range entry = take_range(&range, &part);
        if (!is_number(part) || has_value(&entry))
            return refuse(form, "The name of a map's entry has the wrong form", whole_name(&entry));
        if (!write_entry(form, shape, entry))
            return false;
    }
    json_close_object(&form->json);
    return true;
}

/* A list, whose elements are behind "member", or a map, whose entries are behind "entry". */
static bool write_collection(struct form *form, const struct shape *shape, struct range range)
{
    struct bytes part;
    bool is_list = shape->kind == SHAPE_LIST;
    struct range inner = take_range(&range, &part);
    if (!bytes_equal_text(part, is_list ? "member" : "entry") || range.count > 0 ||
        has_value(&inner))
        return refuse(form, "The parameter is not the element of a list or map",
                      whole_name(&inner));
    return (is_list ? write_list : write_map)(form, shape, inner);
}

static bool is_container(const struct shape *shape)
{
    return shape->kind == SHAPE_STRUCTURE || shape->kind == SHAPE_LIST || shape->kind == SHAPE_MAP;
}

/* A container's name with an empty value stands for an empty one. */
static bool write_empty(struct form *form, const struct shape *shape, const struct range *range)
{
    if (range->count > 1 || range->first[0].value.len > 0)
        return refuse(form, "A value is found where a list, map or structure is expected",
                      range->first[0].name);
    json_write_raw(&form->json, shape->kind == SHAPE_LIST ? BYTES("[]") : BYTES("{}"));
    return true;
}

static bool write_value(struct form *form, const struct shape *shape, const struct range *range)
{
    bool ok;
    if (!is_container(shape)) {
        const struct parameter *last = &range->first[range->count - 1];
        if (last->name.len > range->name_size)
            return refuse(form, "Start of a list or structure found where not expected",
                          last->name);
        return write_scalar(form, shape, last);
    }
    if (has_value(range))
        return write_empty(form, shape, range);
    if (form->depth == CODEC_DEPTH_MAX)
        return refuse(form, "The parameter is nested too deeply", whole_name(range));
    form->depth++;
    ok = shape->kind == SHAPE_STRUCTURE ? write_structure(form, shape, *range)
                                        : write_collection(form, shape, *range);
    form->depth--;
    return ok;
}

bool form_decode(struct arena *arena, struct bytes body, const struct shape *shape,
                 struct bytes *json, struct error *err)
{
    assert(shape->kind == SHAPE_STRUCTURE);
    struct form form = { .arena = arena, .err = err };
    struct buffer out;
    size_t count = body.len > CODEC_INPUT_SIZE_MAX ? 0 : count_parameters(body);
    if (body.len > CODEC_INPUT_SIZE_MAX)
        return error_set(err, ERROR_REQUEST_TOO_LARGE, "Request body exceeds %d bytes",
                         CODEC_INPUT_SIZE_MAX);
    if (count > FORM_PARAMETERS_MAX)
        return error_set(err, ERROR_REQUEST_TOO_LARGE, "The request has more than %d parameters",
                         FORM_PARAMETERS_MAX);
    struct parameter *parameters = arena_alloc(arena, count * sizeof *parameters);
    if (!read_parameters(&form, body, parameters))
        return false;
    qsort(parameters, count, sizeof *parameters, compare_parameters);
    buffer_init(&out, arena);
    json_writer_init(&form.json, &out);
    if (!write_structure(&form, shape, (struct range){ .first = parameters, .count = count }))
        return false;
    *json = buffer_bytes(&out);
    return true;
}
