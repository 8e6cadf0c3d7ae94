/* table_stats.c -- see table_stats.h. Record layout: doc/disk-format.md, "Statistics". */
#include "table/table_stats.h"
#include <assert.h>
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "model/table_definition.h"
#include "table/item_address.h"
#include "table/layout.h"

enum {
    FORMAT_AT = 0,
    CHECKSUM_AT = 1,
    COUNT_AT = 5,
    SIZE_AT = 13,
    /* Within the part of an index. */
    INDEX_ID_AT = 0,
    INDEX_COUNT_AT = 8,
    INDEX_SIZE_AT = 16,
    RECORD_SIZE_MAX = LAYOUT_STATS_SIZE + INDEXES_MAX * LAYOUT_STATS_INDEX_SIZE,
};
static_assert(SIZE_AT + 8 == LAYOUT_STATS_SIZE, "the table's part ends with the size");
static_assert(INDEX_SIZE_AT + 8 == LAYOUT_STATS_INDEX_SIZE, "so does an index's");

/* A shard's key is its number. Literals, so that an address borrows nothing that dies. */
static const uint8_t shard_keys[LAYOUT_STATS_SHARDS] = { 0, 1, 2,  3,  4,  5,  6,  7,
                                                         8, 9, 10, 11, 12, 13, 14, 15 };

static struct engine_address shard_address(uint64_t owner, uint64_t partition, size_t shard)
{
    return (struct engine_address){
        .place = { .owner = owner, .partition = partition, .space = ENGINE_SPACE_STATS },
        .key = bytes_of(&shard_keys[shard], 1),
    };
}

struct engine_address table_stats_address(const struct item_address *address)
{
    return shard_address(address->address.place.owner, address->address.place.partition,
                         address->hash % LAYOUT_STATS_SHARDS);
}

bool table_stats_shared(const struct item_address *a, const struct item_address *b)
{
    return a->hash % LAYOUT_STATS_SHARDS == b->hash % LAYOUT_STATS_SHARDS &&
           engine_place_equal(&a->address.place, &b->address.place);
}

/* --- Records --- */

static uint32_t checksum(struct bytes record)
{
    return crc32c(bytes_of(record.data + COUNT_AT, record.len - COUNT_AT));
}

static void add(struct table_stats *sum, const struct table_stats *part)
{
    sum->item_count += part->item_count;
    sum->size += part->size;
}

/* Adds the part of an index to its sum, if the table has that index. */
static void add_index(const struct table_definition *table, const uint8_t *part,
                      struct table_stats *indexes)
{
    uint64_t id = load_u64_le(part + INDEX_ID_AT);
    size_t index = 0;
    while (index < table->index_count && table->indexes[index].id != id)
        index++;
    if (index == table->index_count)
        return;
    const struct table_stats stats = { .item_count = (int64_t)load_u64_le(part + INDEX_COUNT_AT),
                                       .size = (int64_t)load_u64_le(part + INDEX_SIZE_AT) };
    add(&indexes[index], &stats);
}

/* Adds a record to the sums. False if it is damaged. */
static bool add_record(const struct table_definition *table, struct bytes record,
                       struct table_stats *sum, struct table_stats *indexes)
{
    if (record.len < LAYOUT_STATS_SIZE ||
        (record.len - LAYOUT_STATS_SIZE) % LAYOUT_STATS_INDEX_SIZE != 0 ||
        record.data[FORMAT_AT] != LAYOUT_STATS_FORMAT ||
        load_u32_le(record.data + CHECKSUM_AT) != checksum(record))
        return false;
    const struct table_stats stats = { .item_count = (int64_t)load_u64_le(record.data + COUNT_AT),
                                       .size = (int64_t)load_u64_le(record.data + SIZE_AT) };
    add(sum, &stats);
    for (size_t at = LAYOUT_STATS_SIZE; at < record.len; at += LAYOUT_STATS_INDEX_SIZE)
        add_index(table, record.data + at, indexes);
    return true;
}

/* An index without entries has no part. Returns the size. */
static size_t encode(const struct table_definition *table, const struct table_stats *stats,
                     const struct table_stats *indexes, uint8_t record[RECORD_SIZE_MAX])
{
    size_t size = LAYOUT_STATS_SIZE;
    record[FORMAT_AT] = LAYOUT_STATS_FORMAT;
    store_u64_le(record + COUNT_AT, (uint64_t)stats->item_count);
    store_u64_le(record + SIZE_AT, (uint64_t)stats->size);
    for (size_t i = 0; i < table->index_count; i++) {
        if (indexes[i].item_count == 0 && indexes[i].size == 0)
            continue;
        store_u64_le(record + size + INDEX_ID_AT, table->indexes[i].id);
        store_u64_le(record + size + INDEX_COUNT_AT, (uint64_t)indexes[i].item_count);
        store_u64_le(record + size + INDEX_SIZE_AT, (uint64_t)indexes[i].size);
        size += LAYOUT_STATS_INDEX_SIZE;
    }
    store_u32_le(record + CHECKSUM_AT, checksum(bytes_of(record, size)));
    return size;
}

/* --- Reading and writing --- */

/* Adds the shard that was read with `status` to the sums. One that nothing was counted in has no
 * record. */
static enum engine_status take(enum engine_status status, const struct table_definition *table,
                               struct engine_value *value, struct table_stats *sum,
                               struct table_stats *indexes)
{
    if (status == ENGINE_NOT_FOUND)
        return ENGINE_OK;
    if (status == ENGINE_OK && !add_record(table, value->bytes, sum, indexes)) {
        log_write(LOG_ERROR, "table", "damaged record of a table's statistics");
        status = ENGINE_CORRUPT;
    }
    engine_value_release(value);
    return status;
}

enum engine_status table_stats_change(struct engine_write *write,
                                      const struct table_definition *table,
                                      const struct engine_address *address,
                                      const struct table_stats *change,
                                      const struct table_stats *indexes)
{
    struct engine_value value = { 0 };
    struct table_stats sum = *change;
    struct table_stats index_sums[INDEXES_MAX];
    assert(table->index_count <= INDEXES_MAX);
    for (size_t i = 0; i < table->index_count; i++)
        index_sums[i] = indexes[i];
    enum engine_status status =
        take(engine_write_get(write, address, &value), table, &value, &sum, index_sums);
    if (status != ENGINE_OK)
        return status;
    uint8_t record[RECORD_SIZE_MAX];
    size_t size = encode(table, &sum, index_sums, record);
    engine_write_put(write, address, bytes_of(record, size));
    return ENGINE_OK;
}

/* Writes a shard anew if there is one. */
static enum engine_status drop_others(struct engine_write *write,
                                      const struct table_definition *table,
                                      const struct engine_address *address)
{
    static const struct table_stats none, none_of_indexes[INDEXES_MAX];
    struct engine_value value = { 0 };
    enum engine_status status = engine_write_get(write, address, &value);
    engine_value_release(&value);
    if (status == ENGINE_NOT_FOUND)
        return ENGINE_OK;
    return status == ENGINE_OK ? table_stats_change(write, table, address, &none, none_of_indexes)
                               : status;
}

/* A partition at a time, so that writers wait for a moment only. */
enum engine_status table_stats_drop_others(struct engine *engine,
                                           const struct table_definition *table)
{
    enum engine_status status = ENGINE_OK;
    for (size_t p = 0; p < table->partition_count && status == ENGINE_OK; p++) {
        struct engine_address addresses[LAYOUT_STATS_SHARDS];
        struct engine_write *write = NULL;
        for (size_t shard = 0; shard < LAYOUT_STATS_SHARDS; shard++)
            addresses[shard] = shard_address(table->id, table->partitions[p].id, shard);
        status = engine_write_begin(engine, addresses, LAYOUT_STATS_SHARDS, &write);
        for (size_t shard = 0; shard < LAYOUT_STATS_SHARDS && status == ENGINE_OK; shard++)
            status = drop_others(write, table, &addresses[shard]);
        if (status == ENGINE_OK)
            status = engine_write_commit_wait(write);
        else if (write != NULL)
            engine_write_abandon(write);
    }
    return status;
}

enum engine_status table_stats_sum(struct engine_view *view, const struct table_definition *table,
                                   struct table_stats *out, struct table_stats *indexes)
{
    assert(out != NULL && (indexes != NULL || table->index_count == 0));
    *out = (struct table_stats){ 0 };
    for (size_t i = 0; i < table->index_count; i++)
        indexes[i] = (struct table_stats){ 0 };
    for (size_t p = 0; p < table->partition_count; p++) {
        for (size_t shard = 0; shard < LAYOUT_STATS_SHARDS; shard++) {
            struct engine_address address =
                shard_address(table->id, table->partitions[p].id, shard);
            struct engine_value value = { 0 };
            enum engine_status status =
                take(engine_view_get(view, &address, &value), table, &value, out, indexes);
            if (status != ENGINE_OK)
                return status;
        }
    }
    return ENGINE_OK;
}
