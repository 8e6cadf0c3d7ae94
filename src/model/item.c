/* item.c -- stored items: sealing attributes into bytes, and reading them in place.
 *
 * Attributes stand sorted by name, so equal items have equal bytes and a search may stop early.
 * The size that DynamoDB charges is computed once, here, when an item is sealed. Layout:
 * doc/disk-format.md, "Items".
 */
#include "model/item.h"
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "model/limits.h"
#include "model/varint.h"

enum {
    FORMAT_VERSION = 0x01,
    CHECKSUM_AT = 1,
    SIZE_AT = 5, /* What the checksum covers begins here. */
    COUNT_AT = 9,
};

/* --- Reading --- */

bool item_open(struct bytes encoded, struct item *out)
{
    if (encoded.len <= COUNT_AT || encoded.data[0] != FORMAT_VERSION)
        return false;
    struct bytes covered = bytes_of(encoded.data + SIZE_AT, encoded.len - SIZE_AT);
    if (crc32c(covered) != load_u32_le(encoded.data + CHECKSUM_AT))
        return false;
    out->encoded = encoded;
    out->size = load_u32_le(encoded.data + SIZE_AT);
    out->attributes = bytes_of(encoded.data + COUNT_AT, encoded.len - COUNT_AT);
    return varint_read(&out->attributes, &out->count);
}

struct item item_copy(struct arena *arena, const struct item *item)
{
    struct item copy = *item;
    copy.encoded = arena_copy(arena, item->encoded);
    copy.attributes.data = copy.encoded.data + (item->attributes.data - item->encoded.data);
    return copy;
}

bool item_verify(const struct item *item)
{
    if (!value_verify_members(item->attributes, item->count, NESTING_DEPTH_MAX))
        return false;
    struct item_iter iter;
    struct bytes name;
    struct value value;
    size_t size = 0;
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value))
        size += name.len + value_size(&value);
    return size == item->size;
}

bool item_find(const struct item *item, struct bytes name, struct value *out)
{
    return value_find_member(item->attributes, name, out);
}

void item_iter_init(struct item_iter *iter, const struct item *item)
{
    iter->rest = item->attributes;
}

bool item_iter_next(struct item_iter *iter, struct bytes *name, struct value *out)
{
    return iter->rest.len > 0 && value_open_member(&iter->rest, name, out);
}

/* --- Sorting --- */

/* Runs of this length are sorted in place; a typical item is one run. */
enum { RUN_LENGTH = 16 };

static void insertion_sort(struct item_attribute *attributes, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct item_attribute moving = attributes[i];
        size_t to = i;
        for (; to > 0 && value_compare_names(attributes[to - 1].name, moving.name) > 0; to--)
            attributes[to] = attributes[to - 1];
        attributes[to] = moving;
    }
}

/* Merges [0, middle) and [middle, count) of `from` into `to`. */
static void merge(const struct item_attribute *from, size_t middle, size_t count,
                  struct item_attribute *to)
{
    size_t left = 0, right = middle;
    for (size_t i = 0; i < count; i++) {
        bool take_left =
            right == count ||
            (left < middle && value_compare_names(from[left].name, from[right].name) <= 0);
        to[i] = from[take_left ? left++ : right++];
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void item_sort_attributes(struct item_attribute *attributes, size_t count,
                          struct item_attribute *scratch)
{
    for (size_t at = 0; at < count; at += RUN_LENGTH)
        insertion_sort(attributes + at, smaller(RUN_LENGTH, count - at));
    struct item_attribute *from = attributes;
    struct item_attribute *to = scratch;
    for (size_t run = RUN_LENGTH; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            size_t pair = smaller(2 * run, count - at);
            merge(from + at, smaller(run, pair), pair, to + at);
        }
        struct item_attribute *swap = from;
        from = to;
        to = swap;
    }
    if (from != attributes)
        memcpy(attributes, from, count * sizeof *attributes);
}

/* --- Building --- */

enum { BUILDER_FIRST_CAPACITY = 16 };

void item_builder_init(struct item_builder *builder, struct arena *arena)
{
    *builder = (struct item_builder){ .arena = arena };
}

void item_builder_add(struct item_builder *builder, struct bytes name, struct bytes encoded_value)
{
    if (builder->count == builder->capacity) {
        size_t capacity = builder->capacity == 0 ? BUILDER_FIRST_CAPACITY : builder->capacity * 2;
        size_t unit = sizeof *builder->attributes;
        builder->attributes = arena_grow(builder->arena, builder->attributes,
                                         builder->capacity * unit, capacity * unit);
        builder->capacity = capacity;
    }
    builder->attributes[builder->count++] =
        (struct item_attribute){ .name = name, .value = encoded_value };
}

/* Of several attributes of one name, which stand together in order, keeps the last. */
static void drop_overwritten(struct item_builder *builder)
{
    size_t kept = 0;
    for (size_t i = 0; i < builder->count; i++) {
        struct item_attribute *attribute = &builder->attributes[i];
        if (kept > 0 && bytes_equal(builder->attributes[kept - 1].name, attribute->name))
            kept--;
        builder->attributes[kept++] = *attribute;
    }
    builder->count = kept;
}

static size_t attribute_size(const struct item_attribute *attribute)
{
    struct bytes encoded = attribute->value;
    struct value value;
    bool opened = value_open(&encoded, &value);
    assert(opened && encoded.len == 0);
    return attribute->name.len + value_size(&value);
}

/* `data` holds the number of attributes and, from `attributes_at` on, these. */
static struct item seal(uint8_t *data, size_t size, size_t attributes_at, size_t count,
                        size_t item_size)
{
    data[0] = FORMAT_VERSION;
    store_u32_le(data + SIZE_AT, (uint32_t)item_size);
    store_u32_le(data + CHECKSUM_AT, crc32c(bytes_of(data + SIZE_AT, size - SIZE_AT)));
    return (struct item){
        .encoded = bytes_of(data, size),
        .attributes = bytes_of(data + attributes_at, size - attributes_at),
        .count = (uint32_t)count,
        .size = (uint32_t)item_size,
    };
}

struct item item_of_sorted(struct arena *arena, const struct item_attribute *attributes,
                           size_t count, size_t size)
{
    size_t encoded_max = COUNT_AT + VARINT_SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        encoded_max += VARINT_SIZE_MAX + attributes[i].name.len + attributes[i].value.len;
    assert(size <= UINT32_MAX && encoded_max <= UINT32_MAX); /* Requests are smaller by far. */
    uint8_t *data = arena_alloc(arena, encoded_max);
    size_t end = COUNT_AT + varint_write(count, data + COUNT_AT);
    size_t attributes_at = end;
    for (size_t i = 0; i < count; i++) {
        const struct item_attribute *attribute = &attributes[i];
        end += varint_write(attribute->name.len, data + end);
        if (attribute->name.len > 0)
            memcpy(data + end, attribute->name.data, attribute->name.len);
        end += attribute->name.len;
        memcpy(data + end, attribute->value.data, attribute->value.len);
        end += attribute->value.len;
    }
    assert(end <= encoded_max);
    return seal(data, end, attributes_at, count, size);
}

struct item item_builder_finish(struct item_builder *builder)
{
    size_t scratch_size = builder->count * sizeof *builder->attributes;
    size_t size = 0;
    item_sort_attributes(builder->attributes, builder->count,
                         arena_alloc(builder->arena, scratch_size));
    drop_overwritten(builder);
    for (size_t i = 0; i < builder->count; i++)
        size += attribute_size(&builder->attributes[i]);
    return item_of_sorted(builder->arena, builder->attributes, builder->count, size);
}

/* --- Changing --- */

/* The number of attributes, which stands before them, is known last. */
enum { ATTRIBUTES_AT_MAX = COUNT_AT + VARINT_SIZE_MAX };

void item_edit_init(struct item_edit *edit, struct arena *arena, const struct item *item)
{
    *edit =
        (struct item_edit){ .rest = item->attributes, .count = item->count, .size = item->size };
    buffer_init(&edit->out, arena);
    buffer_reserve(&edit->out, ATTRIBUTES_AT_MAX + item->attributes.len);
    edit->out.len = ATTRIBUTES_AT_MAX;
}

/* Copies what is left of the old item up to `end`, which lies in it, and goes on there. */
static void copy_until(struct item_edit *edit, const uint8_t *end)
{
    size_t size = (size_t)(end - edit->rest.data);
    buffer_append(&edit->out, edit->rest.data, size);
    edit->rest = bytes_of(end, edit->rest.len - size);
}

bool item_edit_take(struct item_edit *edit, struct bytes name, struct value *out)
{
    struct bytes behind = edit->rest, found;
    int order = -1;
    const uint8_t *at = behind.data;
    while (order < 0 && behind.len > 0) {
        at = behind.data;
        if (!value_open_member(&behind, &found, out))
            break;
        order = value_compare_names(found, name);
    }
    copy_until(edit, order < 0 ? behind.data : at);
    if (order != 0)
        return false;
    edit->rest = behind;
    edit->count--;
    edit->size -= name.len + value_size(out);
    return true;
}

void item_edit_put(struct item_edit *edit, struct bytes name, const struct value *value)
{
    value_append_length_prefixed(&edit->out, name);
    buffer_append_bytes(&edit->out, value->encoded);
    edit->count++;
    edit->size += name.len + value_size(value);
}

struct item item_edit_finish(struct item_edit *edit)
{
    uint8_t count[VARINT_SIZE_MAX];
    copy_until(edit, edit->rest.data + edit->rest.len);
    assert(edit->size <= UINT32_MAX && edit->out.len <= UINT32_MAX);
    size_t count_size = varint_write(edit->count, count);
    size_t unused = VARINT_SIZE_MAX - count_size;
    uint8_t *data = edit->out.data + unused;
    memcpy(data + COUNT_AT, count, count_size);
    return seal(data, edit->out.len - unused, COUNT_AT + count_size, edit->count, edit->size);
}
