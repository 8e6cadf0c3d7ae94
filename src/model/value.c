/* value.c -- the encoded form of attribute values: opening, walking, checking, appending.
 *
 * Opening a value reads its head only, so skipping one costs the same however large it is.
 * Elements of sets are not whole values: their type is the set's. Layout: doc/disk-format.md,
 * "Values".
 */
#include "model/value.h"
#include <assert.h>
#include "base/arena.h"
#include "model/limits.h"
#include "model/number.h"
#include "model/value_open.h"
#include "model/varint.h"

static const enum value_type type_of_tag[TAG_COUNT] = {
    [TAG_S] = VALUE_S,       [TAG_N] = VALUE_N,       [TAG_B] = VALUE_B,   [TAG_FALSE] = VALUE_BOOL,
    [TAG_TRUE] = VALUE_BOOL, [TAG_NULL] = VALUE_NULL, [TAG_L] = VALUE_L,   [TAG_M] = VALUE_M,
    [TAG_SS] = VALUE_SS,     [TAG_NS] = VALUE_NS,     [TAG_BS] = VALUE_BS,
};

static const struct {
    const char *name;
    uint8_t tag; /* Of containers. */
} types[VALUE_TYPE_COUNT] = {
    [VALUE_S] = { "S", 0 },        [VALUE_N] = { "N", 0 },        [VALUE_B] = { "B", 0 },
    [VALUE_BOOL] = { "BOOL", 0 },  [VALUE_NULL] = { "NULL", 0 },  [VALUE_L] = { "L", TAG_L },
    [VALUE_M] = { "M", TAG_M },    [VALUE_SS] = { "SS", TAG_SS }, [VALUE_NS] = { "NS", TAG_NS },
    [VALUE_BS] = { "BS", TAG_BS },
};

const char *value_type_name(enum value_type type)
{
    assert(type < VALUE_TYPE_COUNT);
    return types[type].name;
}

bool value_type_parse(struct bytes name, enum value_type *out)
{
    /* Asked for every value that is read, so the first letter chooses the one candidate. */
    static const int8_t of_one['S' + 1] = {
        ['S'] = VALUE_S + 1, ['N'] = VALUE_N + 1, ['B'] = VALUE_B + 1,
        ['L'] = VALUE_L + 1, ['M'] = VALUE_M + 1,
    };
    static const int8_t of_more['S' + 1] = {
        ['S'] = VALUE_SS + 1,
        ['N'] = VALUE_NS + 1,
        ['B'] = VALUE_BS + 1,
    };
    if (name.len == 0 || name.data[0] > 'S')
        return false;
    int found = name.len == 1 ? of_one[name.data[0]] : of_more[name.data[0]];
    if (name.len == 4)
        found = name.data[0] == 'B' ? VALUE_BOOL + 1 : VALUE_NULL + 1;
    if (found == 0 || (name.len > 1 && !bytes_equal_text(name, types[found - 1].name)))
        return false;
    *out = (enum value_type)(found - 1);
    return true;
}

bool value_type_is_set(enum value_type type)
{
    return type == VALUE_SS || type == VALUE_NS || type == VALUE_BS;
}

enum value_type value_type_of_member(enum value_type set)
{
    assert(value_type_is_set(set));
    return set == VALUE_SS ? VALUE_S : set == VALUE_NS ? VALUE_N : VALUE_B;
}

/* --- Opening and walking --- */

bool value_open(struct bytes *in, struct value *out)
{
    if (in->len == 0 || in->data[0] == 0 || in->data[0] >= TAG_COUNT)
        return false;
    const uint8_t *start = in->data;
    struct bytes rest = value_behind(*in, 1), data = bytes_of(rest.data, 0);
    uint32_t count = 0;
    enum value_type type = type_of_tag[*start];
    switch (type) {
    case VALUE_BOOL:
    case VALUE_NULL:
        break;
    case VALUE_N:
        if (!value_take_number(&rest, &data))
            return false;
        break;
    case VALUE_S:
    case VALUE_B:
        if (!value_take_prefixed(&rest, &data))
            return false;
        break;
    default:
        if (!value_take_prefixed(&rest, &data) || !varint_read(&data, &count))
            return false;
    }
    out->type = type;
    out->boolean = *start == TAG_TRUE;
    out->count = count;
    out->data = data;
    out->encoded = bytes_of(start, (size_t)(rest.data - start));
    *in = rest;
    return true;
}

struct value value_view(struct bytes encoded)
{
    struct value value;
    bool ok = value_open(&encoded, &value);
    assert(ok && encoded.len == 0);
    (void)ok;
    return value;
}

bool value_open_member(struct bytes *in, struct bytes *name, struct value *out)
{
    return value_take_prefixed(in, name) && value_open(in, out);
}

void value_iter_init(struct value_iter *iter, const struct value *container)
{
    *iter = (struct value_iter){ .rest = container->data, .container = container->type };
}

bool value_iter_next(struct value_iter *iter, struct bytes *name, struct value *out)
{
    struct bytes ignored;
    if (iter->rest.len == 0)
        return false;
    switch (iter->container) {
    case VALUE_M:
        return value_open_member(&iter->rest, name == NULL ? &ignored : name, out);
    case VALUE_L:
        return value_open(&iter->rest, out);
    case VALUE_NS:
        *out = (struct value){ .type = VALUE_N };
        return value_take_number(&iter->rest, &out->data);
    default:
        *out = (struct value){ .type = iter->container == VALUE_SS ? VALUE_S : VALUE_B };
        return value_take_prefixed(&iter->rest, &out->data);
    }
}

/* value_open for those who need only what comes next. */
static bool skip_value(struct bytes *in)
{
    if (in->len == 0)
        return false;
    struct bytes rest = value_behind(*in, 1), skipped;
    switch (in->data[0]) {
    case TAG_FALSE:
    case TAG_TRUE:
    case TAG_NULL:
        break;
    case TAG_N:
        if (!value_take_number(&rest, &skipped))
            return false;
        break;
    default:
        if (!value_take_prefixed(&rest, &skipped))
            return false;
    }
    *in = rest;
    return true;
}

bool value_find_member(struct bytes members, struct bytes name, struct value *out)
{
    struct bytes found;
    while (value_take_prefixed(&members, &found)) {
        int order = value_compare_names(found, name);
        if (order >= 0)
            return order == 0 && value_open(&members, out);
        if (!skip_value(&members))
            return false;
    }
    return false;
}

bool value_map_find(const struct value *map, struct bytes name, struct value *out)
{
    assert(map->type == VALUE_M);
    return value_find_member(map->data, name, out);
}

/* --- Sizes --- */

/* Documented: a list or map costs 3 bytes, and 1 for each element besides the element. */
enum { CONTAINER_OVERHEAD = 3, ELEMENT_OVERHEAD = 1 };

size_t value_size(const struct value *value)
{
    struct value_iter iter;
    struct value element;
    struct bytes name = BYTES("");
    size_t size = 0;

    switch (value->type) {
    case VALUE_S:
    case VALUE_B:
        return value->data.len;
    case VALUE_N:
        return number_storage_size(value->data);
    case VALUE_BOOL:
    case VALUE_NULL:
        return 1;
    case VALUE_L:
    case VALUE_M:
        size = CONTAINER_OVERHEAD + ELEMENT_OVERHEAD * (size_t)value->count;
        break;
    default:
        break;
    }
    value_iter_init(&iter, value);
    while (value_iter_next(&iter, &name, &element))
        size += name.len + value_size(&element); /* As deep as the value was verified to be. */
    return size;
}

/* --- Checking --- */

/* Well-formed UTF-8 as Unicode's table 3-7 has it: shortest form, no surrogates. */
static bool is_utf8(struct bytes text)
{
    const uint8_t *at = text.data, *end = text.data + text.len;
    while (at < end) {
        uint8_t lead = *at++;
        if (lead < 0x80)
            continue;
        int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
        if (lead < 0xC2 || lead > 0xF4 || end - at < more)
            return false;
        uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (*at < low || *at > high)
            return false;
        for (at++; --more > 0; at++) {
            if ((*at & 0xC0) != 0x80)
                return false;
        }
    }
    return true;
}

static bool verify_number(struct bytes encoded)
{
    struct number number;
    size_t size;
    return number_decode(encoded, &number, &size) && size == encoded.len;
}

static bool verify_scalar(const struct value *value)
{
    if (value->type == VALUE_S)
        return is_utf8(value->data);
    return value->type != VALUE_N || verify_number(value->data);
}

static bool verify_name(struct bytes name)
{
    return name.len > 0 && name.len <= ATTRIBUTE_NAME_SIZE_MAX && is_utf8(name);
}

static bool verify_opened(const struct value *value, unsigned depth_max);

bool value_verify_members(struct bytes members, uint32_t count, unsigned depth_max)
{
    struct bytes name, previous = { 0 };
    struct value member;
    uint32_t seen = 0;
    for (; members.len > 0; seen++) {
        if (!value_open_member(&members, &name, &member) || !verify_name(name))
            return false;
        if (seen > 0 && bytes_compare(previous, name) >= 0)
            return false;
        if (!verify_opened(&member, depth_max))
            return false;
        previous = name;
    }
    return seen == count;
}

static bool verify_set(const struct value *set)
{
    struct value_iter iter;
    struct value element;
    struct bytes previous = { 0 };
    uint32_t seen = 0;

    value_iter_init(&iter, set);
    for (; value_iter_next(&iter, NULL, &element); seen++) {
        if (!verify_scalar(&element))
            return false;
        if (seen > 0 && bytes_compare(previous, element.data) >= 0)
            return false;
        previous = element.data;
    }
    return iter.rest.len == 0 && seen == set->count && seen > 0;
}

static bool verify_list(const struct value *list, unsigned depth_max)
{
    struct bytes rest = list->data;
    struct value element;
    uint32_t seen = 0;
    for (; rest.len > 0; seen++) {
        if (!value_open(&rest, &element) || !verify_opened(&element, depth_max))
            return false;
    }
    return seen == list->count;
}

static bool verify_opened(const struct value *value, unsigned depth_max)
{
    if (depth_max == 0)
        return false;
    switch (value->type) {
    case VALUE_L:
        return verify_list(value, depth_max - 1);
    case VALUE_M:
        return value_verify_members(value->data, value->count, depth_max - 1);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return verify_set(value);
    default:
        return verify_scalar(value);
    }
}

bool value_verify(struct bytes encoded, unsigned depth_max)
{
    struct value value;
    return value_open(&encoded, &value) && encoded.len == 0 && verify_opened(&value, depth_max);
}

/* --- Appending --- */

static void append_varint(struct buffer *out, size_t value)
{
    out->len += varint_write(value, buffer_reserve(out, VARINT_SIZE_MAX));
}

void value_append_length_prefixed(struct buffer *out, struct bytes text)
{
    append_varint(out, text.len);
    buffer_append_bytes(out, text);
}

void value_append_string(struct buffer *out, struct bytes text)
{
    buffer_append_byte(out, TAG_S);
    value_append_length_prefixed(out, text);
}

void value_append_binary(struct buffer *out, struct bytes data)
{
    buffer_append_byte(out, TAG_B);
    value_append_length_prefixed(out, data);
}

void value_append_number(struct buffer *out, struct bytes encoded_number)
{
    buffer_append_byte(out, TAG_N);
    buffer_append_bytes(out, encoded_number);
}

void value_append_bool(struct buffer *out, bool boolean)
{
    buffer_append_byte(out, boolean ? TAG_TRUE : TAG_FALSE);
}

void value_append_null(struct buffer *out)
{
    buffer_append_byte(out, TAG_NULL);
}

/* What stands before a container's elements. */
enum { HEAD_SIZE_MAX = 1 + VARINT_SIZE_MAX + VARINT_SIZE_MAX };

static size_t write_head(uint8_t out[HEAD_SIZE_MAX], enum value_type type, uint32_t count,
                         size_t elements_size)
{
    assert(type < VALUE_TYPE_COUNT && types[type].tag != 0);
    uint8_t count_bytes[VARINT_SIZE_MAX];
    size_t count_size = varint_write(count, count_bytes);
    out[0] = types[type].tag;
    size_t size = 1 + varint_write(count_size + elements_size, out + 1);
    memcpy(out + size, count_bytes, count_size);
    return size + count_size;
}

void value_append_container(struct buffer *out, enum value_type type, uint32_t count,
                            struct bytes elements)
{
    out->len += write_head(buffer_reserve(out, HEAD_SIZE_MAX), type, count, elements.len);
    buffer_append_bytes(out, elements);
}

void value_wrap_container(struct buffer *out, size_t elements_at, enum value_type type,
                          uint32_t count)
{
    assert(elements_at <= out->len);
    uint8_t head[HEAD_SIZE_MAX];
    size_t elements_size = out->len - elements_at;
    size_t head_size = write_head(head, type, count, elements_size);
    buffer_reserve(out, head_size);
    uint8_t *elements = out->data + elements_at;
    memmove(elements + head_size, elements, elements_size);
    memcpy(elements, head, head_size);
    out->len += head_size;
}
