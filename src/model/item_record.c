/* item_record.c -- see item_record.h. */
#include "model/item_record.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "model/item.h"
#include "model/value.h"

void item_record_add_text(struct item_builder *builder, const char *name, struct bytes text)
{
    struct buffer value;
    buffer_init(&value, builder->arena);
    value_append_string(&value, text);
    item_builder_add(builder, bytes_from_text(name), buffer_bytes(&value));
}

void item_record_add_numbers(struct item_builder *builder, const char *name,
                             const uint64_t *numbers, size_t count)
{
    uint8_t *bytes = arena_alloc(builder->arena, count * 8);
    for (size_t i = 0; i < count; i++)
        store_u64_be(bytes + i * 8, numbers[i]);
    struct buffer value;
    buffer_init(&value, builder->arena);
    value_append_binary(&value, bytes_of(bytes, count * 8));
    item_builder_add(builder, bytes_from_text(name), buffer_bytes(&value));
}

bool item_record_find_text(struct arena *arena, const struct item *record, const char *name,
                           size_t size_max, struct bytes *out)
{
    struct value value;
    if (!item_find(record, bytes_from_text(name), &value) || value.type != VALUE_S ||
        value.data.len == 0 || value.data.len > size_max)
        return false;
    *out = arena_copy(arena, value.data);
    return true;
}

bool item_record_find_numbers(struct arena *arena, const struct item *record, const char *name,
                              size_t count_max, uint64_t **out, size_t *count)
{
    struct value value;
    if (!item_find(record, bytes_from_text(name), &value) || value.type != VALUE_B ||
        value.data.len == 0 || value.data.len % 8 != 0 || value.data.len / 8 > count_max)
        return false;
    *count = value.data.len / 8;
    *out = arena_alloc(arena, value.data.len);
    for (size_t i = 0; i < *count; i++)
        (*out)[i] = load_u64_be(value.data.data + i * 8);
    return true;
}
