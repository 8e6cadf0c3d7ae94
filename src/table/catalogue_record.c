/* catalogue_record.c -- see catalogue_record.h. */
#include "table/catalogue_record.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "model/item.h"
#include "table/layout.h"

const struct engine_place catalogue_record_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                                     .partition = LAYOUT_CATALOGUE_PARTITION,
                                                     .space = ENGINE_SPACE_CATALOGUE };

struct engine_address catalogue_record_address(struct arena *arena, uint8_t kind, struct bytes rest)
{
    uint8_t *key = arena_alloc(arena, 1 + rest.len);
    key[0] = kind;
    if (rest.len > 0)
        memcpy(key + 1, rest.data, rest.len);
    return (struct engine_address){ .place = catalogue_record_place,
                                    .key = bytes_of(key, 1 + rest.len) };
}

struct engine_address catalogue_record_dropped_address(struct arena *arena, uint64_t table_id)
{
    uint8_t id[8];
    store_u64_be(id, table_id);
    return catalogue_record_address(arena, LAYOUT_KEY_DROPPED, bytes_of(id, sizeof id));
}

struct bytes catalogue_record_encode_ids(struct arena *arena, const uint64_t *ids, size_t count)
{
    assert(ids != NULL && count > 0); /* A reader refuses an empty list. */
    uint8_t *data = arena_alloc(arena, count * 8);
    for (size_t i = 0; i < count; i++)
        store_u64_be(data + i * 8, ids[i]);
    struct buffer value;
    buffer_init(&value, arena);
    value_append_binary(&value, bytes_of(data, count * 8));
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_builder_add(&builder, BYTES("ids"), buffer_bytes(&value));
    return item_builder_finish(&builder).encoded;
}

struct bytes catalogue_record_decode_ids(struct bytes record)
{
    struct item item;
    struct value value;
    if (!item_open(record, &item) || !item_find(&item, BYTES("ids"), &value) ||
        value.type != VALUE_B || value.data.len == 0 || value.data.len % 8 != 0)
        return (struct bytes){ 0 };
    return value.data;
}
