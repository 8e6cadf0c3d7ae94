/* item_address.c -- see item_address.h. What hashes to where is decided here. */
#include "table/item_address.h"
#include <assert.h>
#include <inttypes.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/log.h"
#include "model/key.h"
#include "model/table_definition.h"
#include "table/key_hash.h"
#include "table/layout.h"

/* The last partition that starts at or before the hash. There are few: a plain loop is quickest. */
static uint64_t partition_of(const struct partition *partitions, size_t count, uint64_t hash)
{
    assert(count > 0 && partitions[0].first_hash == 0);
    size_t index = count - 1;
    while (partitions[index].first_hash > hash)
        index--;
    return partitions[index].id;
}

struct engine_place item_address_of_hash(const struct table_definition *table, uint64_t hash)
{
    return (struct engine_place){
        .owner = table->id,
        .partition = partition_of(table->partitions, table->partition_count, hash),
        .space = ENGINE_SPACE_ITEMS,
    };
}

struct engine_place item_address_of_index_hash(const struct table_definition *table,
                                               const struct index_definition *index, uint64_t hash)
{
    return (struct engine_place){
        .owner = index->id,
        .partition = index->global ? partition_of(index->partitions, index->partition_count, hash)
                                   : partition_of(table->partitions, table->partition_count, hash),
        .space = ENGINE_SPACE_INDEX,
    };
}

typedef bool key_reader(const struct key_schema *schema, const struct item *item,
                        struct buffer *hash, struct buffer *range, struct error *err);

static bool locate(struct arena *arena, const struct table_definition *table,
                   const struct item *item, key_reader *read, struct item_address *out,
                   struct error *err)
{
    struct buffer key, range;
    buffer_init(&key, arena);
    buffer_init(&range, arena);
    buffer_reserve(&key, LAYOUT_HASH_SIZE);
    key.len = LAYOUT_HASH_SIZE; /* Filled in below, once the partition key is known. */
    if (!read(&table->key, item, &key, &range, err))
        return false;
    out->hash =
        key_hash_of_partition(table, &table->key.hash, 1,
                              bytes_of(key.data + LAYOUT_HASH_SIZE, key.len - LAYOUT_HASH_SIZE));
    store_u64_be(key.data, out->hash);
    out->prefix_size = key.len;
    assert(out->prefix_size > LAYOUT_HASH_SIZE); /* No part of a key is empty. */
    buffer_append_bytes(&key, buffer_bytes(&range));
    out->address = (struct engine_address){
        .place = item_address_of_hash(table, out->hash),
        .key = buffer_bytes(&key),
    };
    return true;
}

bool item_address_of_item(struct arena *arena, const struct table_definition *table,
                          const struct item *item, struct item_address *out, struct error *err)
{
    return locate(arena, table, item, key_from_item, out, err);
}

bool item_address_of_key(struct arena *arena, const struct table_definition *table,
                         const struct item *key, struct item_address *out, struct error *err)
{
    return locate(arena, table, key, key_from_request, out, err);
}

bool item_address_of_stored_key(struct arena *arena, const struct table_definition *table,
                                const struct engine_place *place, struct bytes key,
                                struct item_address *out)
{
    struct buffer unused;
    if (key.len < LAYOUT_HASH_SIZE)
        return false;
    key = arena_copy(arena, key);
    struct bytes rest = bytes_of(key.data + LAYOUT_HASH_SIZE, key.len - LAYOUT_HASH_SIZE);
    buffer_init(&unused, arena);
    if (!key_decode_part(&rest, table->key.hash.type, &unused))
        return false;
    *out = (struct item_address){ .address = { .place = *place, .key = key },
                                  .hash = load_u64_be(key.data),
                                  .prefix_size = key.len - rest.len };
    return true;
}

/* The key is client data, so the log names the item by its hash only. */
static enum engine_status report_damage(const struct table_definition *table,
                                        const struct engine_place *place, uint64_t hash)
{
    log_write(LOG_ERROR, "table",
              "damaged item in table %.*s, partition %" PRIu64 ", hash %016" PRIx64,
              BYTES_FMT(table->name), place->partition, hash);
    return ENGINE_CORRUPT;
}

static enum engine_status open_item(enum engine_status status, const struct table_definition *table,
                                    const struct item_address *address, struct engine_value *value,
                                    struct item *out)
{
    if (status != ENGINE_OK)
        return status;
    if (item_open(value->bytes, out))
        return ENGINE_OK;
    engine_value_release(value);
    return report_damage(table, &address->address.place, address->hash);
}

enum engine_status item_address_open_entry(const struct table_definition *table,
                                           const struct engine_place *place,
                                           const struct engine_entry *entry, struct item *out)
{
    if (item_open(entry->value, out))
        return ENGINE_OK;
    return report_damage(table, place,
                         entry->key.len < LAYOUT_HASH_SIZE ? 0 : load_u64_be(entry->key.data));
}

enum engine_status item_address_get(struct engine_view *view, const struct table_definition *table,
                                    const struct item_address *address, struct engine_value *value,
                                    struct item *out)
{
    return open_item(engine_view_get(view, &address->address, value), table, address, value, out);
}

enum engine_status item_address_get_shown(struct engine_view *view,
                                          const struct table_definition *table,
                                          const struct item_address *address,
                                          struct engine_value *value, struct shown_item *out)
{
    enum engine_status status = engine_view_get(view, &address->address, value);
    out->rendered.json = (struct bytes){ 0 };
    if (status == ENGINE_OK && rendered_item_read(value->rendered, &out->rendered))
        return ENGINE_OK;
    return open_item(status, table, address, value, &out->item);
}

enum engine_status item_address_get_for_write(struct engine_write *write,
                                              const struct table_definition *table,
                                              const struct item_address *address,
                                              struct engine_value *value, struct item *out)
{
    return open_item(engine_write_get(write, &address->address, value), table, address, value, out);
}
