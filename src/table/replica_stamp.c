/* replica_stamp.c -- see replica_stamp.h. */
#include "table/replica_stamp.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/log.h"

enum {
    FORMAT_AT = 0,
    CHECKSUM_AT = 1,
    FLAGS_AT = 5,
    TIME_AT = 6,
    REGION_AT = 14,
    QUEUE_TIME_AT = 5,
    QUEUE_PREFIX_SIZE = 1 + 4,
    FLAG_DELETED = 1,
};

/* --- Keys --- */

struct engine_place replica_stamp_place(uint64_t table_id, uint64_t partition_id)
{
    return (struct engine_place){ .owner = table_id,
                                  .partition = partition_id,
                                  .space = ENGINE_SPACE_REPLICAS };
}

struct engine_address replica_stamp_address(struct arena *arena, const struct engine_address *item)
{
    uint8_t *key = arena_alloc(arena, 1 + item->key.len);
    key[0] = REPLICA_STAMP_KEY;
    memcpy(key + 1, item->key.data, item->key.len);
    return (struct engine_address){
        .place = replica_stamp_place(item->place.owner, item->place.partition),
        .key = bytes_of(key, 1 + item->key.len),
    };
}

struct engine_address replica_queue_address(struct arena *arena, const struct engine_address *item,
                                            uint32_t region)
{
    uint8_t *key = arena_alloc(arena, QUEUE_PREFIX_SIZE + item->key.len);
    key[0] = REPLICA_QUEUE_KEY;
    store_u32_be(key + 1, region);
    memcpy(key + QUEUE_PREFIX_SIZE, item->key.data, item->key.len);
    return (struct engine_address){
        .place = replica_stamp_place(item->place.owner, item->place.partition),
        .key = bytes_of(key, QUEUE_PREFIX_SIZE + item->key.len),
    };
}

struct bytes replica_stamp_first_key(void)
{
    return BYTES("S");
}

struct bytes replica_stamp_end_key(void)
{
    static_assert(REPLICA_STAMP_KEY == 'S', "the next letter ends the range");
    return BYTES("T");
}

struct bytes replica_queue_first_key(struct arena *arena, uint32_t region)
{
    uint8_t *key = arena_alloc(arena, QUEUE_PREFIX_SIZE);
    key[0] = REPLICA_QUEUE_KEY;
    store_u32_be(key + 1, region);
    return bytes_of(key, QUEUE_PREFIX_SIZE);
}

struct bytes replica_queue_end_key(struct arena *arena, uint32_t region)
{
    return region == UINT32_MAX ? BYTES("X") : replica_queue_first_key(arena, region + 1);
}

bool replica_stamp_decode_key(struct bytes key, uint32_t *region, struct bytes *item_key)
{
    size_t prefix = key.len > 0 && key.data[0] == REPLICA_STAMP_KEY ? 1 : QUEUE_PREFIX_SIZE;
    if (key.len <= prefix || (prefix != 1 && key.data[0] != REPLICA_QUEUE_KEY))
        return false;
    *region = prefix == 1 ? 0 : load_u32_be(key.data + 1);
    *item_key = bytes_of(key.data + prefix, key.len - prefix);
    return prefix == 1 || *region != 0;
}

/* --- Values --- */

struct bytes replica_stamp_encode(struct arena *arena, const struct replica_stamp *stamp)
{
    assert(stamp->commit_us > 0 && stamp->region != 0);
    uint8_t *out = arena_alloc(arena, REPLICA_STAMP_SIZE);
    out[FORMAT_AT] = REPLICA_STAMP_FORMAT;
    out[FLAGS_AT] = stamp->deleted ? FLAG_DELETED : 0;
    store_u64_be(out + TIME_AT, (uint64_t)stamp->commit_us);
    store_u32_be(out + REGION_AT, stamp->region);
    store_u32_le(out + CHECKSUM_AT,
                 crc32c(bytes_of(out + FLAGS_AT, REPLICA_STAMP_SIZE - FLAGS_AT)));
    return bytes_of(out, REPLICA_STAMP_SIZE);
}

bool replica_stamp_decode(struct bytes value, struct replica_stamp *out)
{
    if (value.len != REPLICA_STAMP_SIZE || value.data[FORMAT_AT] != REPLICA_STAMP_FORMAT ||
        load_u32_le(value.data + CHECKSUM_AT) !=
            crc32c(bytes_of(value.data + FLAGS_AT, value.len - FLAGS_AT)))
        return false;
    *out = (struct replica_stamp){ .commit_us = (int64_t)load_u64_be(value.data + TIME_AT),
                                   .region = load_u32_be(value.data + REGION_AT),
                                   .deleted = value.data[FLAGS_AT] == FLAG_DELETED };
    return value.data[FLAGS_AT] <= FLAG_DELETED && out->commit_us > 0 && out->region != 0;
}

struct bytes replica_queue_encode(struct arena *arena, int64_t commit_us)
{
    assert(commit_us >= 0);
    uint8_t *out = arena_alloc(arena, REPLICA_QUEUE_SIZE);
    out[FORMAT_AT] = REPLICA_QUEUE_FORMAT;
    store_u64_be(out + QUEUE_TIME_AT, (uint64_t)commit_us);
    store_u32_le(out + CHECKSUM_AT,
                 crc32c(bytes_of(out + QUEUE_TIME_AT, REPLICA_QUEUE_SIZE - QUEUE_TIME_AT)));
    return bytes_of(out, REPLICA_QUEUE_SIZE);
}

bool replica_queue_decode(struct bytes value, int64_t *commit_us)
{
    if (value.len != REPLICA_QUEUE_SIZE || value.data[FORMAT_AT] != REPLICA_QUEUE_FORMAT ||
        load_u32_le(value.data + CHECKSUM_AT) !=
            crc32c(bytes_of(value.data + QUEUE_TIME_AT, value.len - QUEUE_TIME_AT)))
        return false;
    *commit_us = (int64_t)load_u64_be(value.data + QUEUE_TIME_AT);
    return *commit_us >= 0;
}

/* --- Reading --- */

static enum engine_status open_stamp(enum engine_status status, struct engine_value *value,
                                     struct replica_stamp *out)
{
    *out = (struct replica_stamp){ 0 };
    if (status == ENGINE_OK && !replica_stamp_decode(value->bytes, out)) {
        log_write(LOG_ERROR, "replica", "a stamp is damaged");
        status = ENGINE_CORRUPT;
    }
    engine_value_release(value);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

enum engine_status replica_stamp_get_for_write(struct arena *arena, struct engine_write *write,
                                               const struct engine_address *item,
                                               struct replica_stamp *out)
{
    struct engine_value value = { 0 };
    struct engine_address address = replica_stamp_address(arena, item);
    return open_stamp(engine_write_get(write, &address, &value), &value, out);
}

enum engine_status replica_stamp_get(struct arena *arena, struct engine_view *view,
                                     const struct engine_address *item, struct replica_stamp *out)
{
    struct engine_value value = { 0 };
    struct engine_address address = replica_stamp_address(arena, item);
    return open_stamp(engine_view_get(view, &address, &value), &value, out);
}
