/* shard.c -- see shard.h. Layout: doc/disk-format.md, "Shards". */
#include "log/shard.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "log/change_log.h"
#include "log/log_layout.h"

enum {
    FORMAT_AT = 0,
    CHECKSUM_AT = 1,
    LAST_AT = 5,
    KEPT_AT = 13,
    CREATED_AT = 21,
    PARENT_CREATED_AT = 29,
    CLOSED_AT = 37,
    CLOSED_SERVER_AT = 45,
    PARENT_PARTITION_AT = 53,
    UNSTAMPED_SIZE = LOG_SHARD_SIZE - LOG_STAMP_SIZE,
};
static_assert(CLOSED_SERVER_AT + LOG_STAMP_SIZE == LOG_SHARD_SIZE, "the server time comes last");
static_assert(PARENT_PARTITION_AT + 8 == LOG_SHARD_SPLIT_SIZE,
              "then where the parent is, if named");

struct engine_address shard_address(struct arena *arena, uint64_t log_id, uint64_t partition,
                                    uint64_t first)
{
    uint8_t *key = arena_alloc(arena, LOG_SEQUENCE_KEY_SIZE);
    key[0] = LOG_KEY_SHARD;
    store_u64_be(key + 1, first);
    return (struct engine_address){ .place = change_log_place(log_id, partition),
                                    .key = bytes_of(key, LOG_SEQUENCE_KEY_SIZE) };
}

static uint32_t checksum(const uint8_t *shard, size_t size)
{
    return crc32c(bytes_of(shard + LAST_AT, size - LAST_AT));
}

/* What is stored of a shard is consistent in itself. */
static bool is_plausible(const struct shard *shard)
{
    bool open = shard->last == 0;
    return shard->first >= LOG_FIRST_SEQUENCE && shard->kept > shard->first &&
           shard->created_ms >= 0 && shard->parent_created_ms >= 0 && shard->closed_ms >= 0 &&
           shard->closed_server_ms >= 0 &&
           (shard->parent_created_ms == 0) == (shard->parent_partition == 0) &&
           (open || (shard->last >= shard->first && shard->kept - 1 <= shard->last));
}

void shard_put(struct arena *arena, struct engine_write *write, uint64_t log_id,
               const struct shard *shard)
{
    uint8_t bytes[LOG_SHARD_SPLIT_SIZE];
    bool split_off = shard_is_split_off(shard);
    size_t size = split_off ? LOG_SHARD_SPLIT_SIZE : LOG_SHARD_SIZE;
    assert(is_plausible(shard));
    struct engine_address address = shard_address(arena, log_id, shard->partition, shard->first);
    bytes[FORMAT_AT] = split_off ? LOG_SHARD_SPLIT_FORMAT : LOG_SHARD_FORMAT;
    store_u64_le(bytes + LAST_AT, shard->last);
    store_u64_le(bytes + KEPT_AT, shard->kept);
    store_u64_le(bytes + CREATED_AT, (uint64_t)shard->created_ms);
    store_u64_le(bytes + PARENT_CREATED_AT, (uint64_t)shard->parent_created_ms);
    store_u64_le(bytes + CLOSED_AT, (uint64_t)shard->closed_ms);
    store_u64_le(bytes + CLOSED_SERVER_AT, (uint64_t)shard->closed_server_ms);
    if (split_off)
        store_u64_le(bytes + PARENT_PARTITION_AT, shard->parent_partition);
    store_u32_le(bytes + CHECKSUM_AT, checksum(bytes, size));
    engine_write_put(write, &address, bytes_of(bytes, size));
}

void shard_begin(struct arena *arena, struct engine_write *write, uint64_t log_id,
                 uint64_t partition, struct change_log_head *head, const struct shard *parent,
                 int64_t now_ms)
{
    assert(parent == NULL || parent->last == head->next - 1);
    /* The creation time is part of a shard's id, so it must differ from the parent's. */
    if (parent != NULL && now_ms <= parent->created_ms)
        now_ms = parent->created_ms + 1;
    struct shard shard = { .partition = partition,
                           .first = head->next,
                           .kept = head->next + 1,
                           .created_ms = now_ms,
                           .parent_created_ms = parent == NULL ? 0 : parent->created_ms,
                           .parent_partition = parent == NULL ? 0 : parent->partition };
    head->shard_first = head->next++;
    shard_put(arena, write, log_id, &shard);
}

enum engine_status shard_end(struct arena *arena, struct engine_view *view,
                             struct engine_write *write, uint64_t log_id, uint64_t partition,
                             const struct change_log_head *head, int64_t now_ms, int64_t server_ms,
                             struct shard *out)
{
    enum engine_status status = shard_get(arena, view, log_id, partition, head->shard_first, out);
    if (status != ENGINE_OK)
        return status == ENGINE_NOT_FOUND ? ENGINE_CORRUPT : status;
    out->last = head->next - 1;
    out->closed_ms = now_ms;
    out->closed_server_ms = server_ms;
    shard_put(arena, write, log_id, out);
    return ENGINE_OK;
}

static bool has_size_of_format(struct bytes stored)
{
    if (stored.len == LOG_SHARD_SIZE)
        return stored.data[FORMAT_AT] == LOG_SHARD_FORMAT;
    if (stored.len == LOG_SHARD_SPLIT_SIZE)
        return stored.data[FORMAT_AT] == LOG_SHARD_SPLIT_FORMAT;
    return stored.len == UNSTAMPED_SIZE && stored.data[FORMAT_AT] == LOG_UNSTAMPED_FORMAT;
}

bool shard_open_entry(uint64_t partition, const struct engine_entry *entry, struct shard *out)
{
    const uint8_t *bytes = entry->value.data;
    if (entry->key.len != LOG_SEQUENCE_KEY_SIZE || entry->key.data[0] != LOG_KEY_SHARD ||
        !has_size_of_format(entry->value) ||
        load_u32_le(bytes + CHECKSUM_AT) != checksum(bytes, entry->value.len))
        return false;
    *out = (struct shard){ .partition = partition,
                           .first = load_u64_be(entry->key.data + 1),
                           .last = load_u64_le(bytes + LAST_AT),
                           .kept = load_u64_le(bytes + KEPT_AT),
                           .created_ms = (int64_t)load_u64_le(bytes + CREATED_AT),
                           .parent_created_ms = (int64_t)load_u64_le(bytes + PARENT_CREATED_AT),
                           .closed_ms = (int64_t)load_u64_le(bytes + CLOSED_AT) };
    if (entry->value.len >= LOG_SHARD_SIZE)
        out->closed_server_ms = (int64_t)load_u64_le(bytes + CLOSED_SERVER_AT);
    bool split_off = entry->value.len == LOG_SHARD_SPLIT_SIZE;
    if (split_off)
        out->parent_partition = load_u64_le(bytes + PARENT_PARTITION_AT);
    else if (out->parent_created_ms != 0)
        out->parent_partition = partition;
    return is_plausible(out) && split_off == shard_is_split_off(out);
}

static enum engine_status damaged(void)
{
    log_write(LOG_ERROR, "stream", "damaged shard of a change log");
    return ENGINE_CORRUPT;
}

enum engine_status shard_get(struct arena *arena, struct engine_view *view, uint64_t log_id,
                             uint64_t partition, uint64_t first, struct shard *out)
{
    struct engine_address address = shard_address(arena, log_id, partition, first);
    struct engine_value value = { 0 };
    enum engine_status status = engine_view_get(view, &address, &value);
    struct engine_entry entry = { .key = address.key, .value = value.bytes };
    if (status == ENGINE_OK && !shard_open_entry(partition, &entry, out))
        status = damaged();
    engine_value_release(&value);
    return status;
}

enum engine_status shard_list(struct arena *arena, struct engine_view *view, uint64_t log_id,
                              uint64_t partition, struct shard **out, size_t *count)
{
    static const uint8_t first_key[] = { LOG_KEY_SHARD }, last_key[] = { LOG_KEY_SHARD + 1 };
    struct engine_range range = { .place = change_log_place(log_id, partition),
                                  .first = bytes_of(first_key, sizeof first_key),
                                  .last = bytes_of(last_key, sizeof last_key) };
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct buffer list;
    buffer_init(&list, arena);
    enum engine_status status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK && (status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        struct shard shard;
        if (shard_open_entry(partition, &entry, &shard))
            buffer_append(&list, &shard, sizeof shard);
        else
            status = damaged();
    }
    engine_scan_close(scan);
    *out = (struct shard *)(void *)list.data;
    *count = list.len / sizeof(struct shard);
    return status == ENGINE_END ? ENGINE_OK : status;
}
