/* history_entry.c -- see history_entry.h. */
#include "history/history_entry.h"
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "table/layout.h"

enum {
    FORMAT_AT = 0,
    CHECKSUM_AT = 1,
    FLAGS_AT = 5,

    FLAG_EXISTED = 0x01,
    FLAG_BY_SERVICE = 0x02,
    FLAGS_ALL = FLAG_EXISTED | FLAG_BY_SERVICE,

    /* Greater than the first byte of any time. */
    BEHIND_TIMES = 0xFF,
};
static_assert(FLAGS_AT + 1 == HISTORY_ENTRY_ITEM_AT, "the item comes last");
static_assert(CLOCK_WALL_SECOND_MAX / (24 * 60 * 60) < UINT32_MAX / 2, "a day fits, and twice");

struct engine_place history_place(uint64_t history_id, uint64_t partition)
{
    return (struct engine_place){ .owner = history_id,
                                  .partition = partition,
                                  .space = ENGINE_SPACE_HISTORY };
}

/* --- Keys --- */

/* A day, the item's key, and room for `tail_size` bytes. */
static uint8_t *make_key(struct arena *arena, uint32_t day, struct bytes item_key, size_t tail_size)
{
    uint8_t *key = arena_alloc(arena, HISTORY_DAY_SIZE + item_key.len + tail_size);
    store_u32_be(key, day);
    if (item_key.len > 0)
        memcpy(key + HISTORY_DAY_SIZE, item_key.data, item_key.len);
    return key;
}

struct bytes history_key_on_day(struct arena *arena, uint32_t day, struct bytes item_key,
                                int64_t commit_us)
{
    assert(commit_us >= 0);
    uint8_t *key = make_key(arena, day, item_key, HISTORY_TIME_SIZE);
    store_u64_be(key + HISTORY_DAY_SIZE + item_key.len, (uint64_t)commit_us);
    return bytes_of(key, HISTORY_DAY_SIZE + item_key.len + HISTORY_TIME_SIZE);
}

struct bytes history_key_encode(struct arena *arena, struct bytes item_key, int64_t commit_us)
{
    assert(item_key.len > 0 && commit_us >= 0);
    return history_key_on_day(arena, history_day(commit_us), item_key, commit_us);
}

struct bytes history_key_behind(struct arena *arena, uint32_t day, struct bytes item_key)
{
    uint8_t *key = make_key(arena, day, item_key, 1);
    key[HISTORY_DAY_SIZE + item_key.len] = BEHIND_TIMES;
    return bytes_of(key, HISTORY_DAY_SIZE + item_key.len + 1);
}

struct bytes history_key_of_day(struct arena *arena, uint32_t day)
{
    return bytes_of(make_key(arena, day, BYTES(""), 0), HISTORY_DAY_SIZE);
}

bool history_key_decode(struct bytes key, struct history_key *out)
{
    if (key.len <= HISTORY_DAY_SIZE + LAYOUT_HASH_SIZE + HISTORY_TIME_SIZE)
        return false;
    size_t time_at = key.len - HISTORY_TIME_SIZE;
    uint64_t commit_us = load_u64_be(key.data + time_at);
    if (commit_us > INT64_MAX)
        return false;
    out->day = load_u32_be(key.data);
    out->item_key = bytes_of(key.data + HISTORY_DAY_SIZE, time_at - HISTORY_DAY_SIZE);
    out->commit_us = (int64_t)commit_us;
    return (int64_t)out->day == out->commit_us / HISTORY_DAY_US;
}

/* --- Values --- */

struct bytes history_entry_encode(struct arena *arena, const struct history_entry *entry)
{
    assert(!entry->existed || entry->before.encoded.len > 0);
    size_t item_size = entry->existed ? entry->before.encoded.len : 0;
    size_t size = HISTORY_ENTRY_ITEM_AT + item_size;
    uint8_t *out = arena_alloc(arena, size);
    out[FORMAT_AT] = HISTORY_ENTRY_FORMAT;
    out[FLAGS_AT] =
        (uint8_t)((entry->existed ? FLAG_EXISTED : 0) | (entry->by_service ? FLAG_BY_SERVICE : 0));
    if (item_size > 0)
        memcpy(out + HISTORY_ENTRY_ITEM_AT, entry->before.encoded.data, item_size);
    store_u32_le(out + CHECKSUM_AT, crc32c(bytes_of(out + FLAGS_AT, size - FLAGS_AT)));
    return bytes_of(out, size);
}

bool history_entry_decode(struct bytes encoded, struct history_entry *out)
{
    *out = (struct history_entry){ 0 };
    if (encoded.len < HISTORY_ENTRY_ITEM_AT || encoded.data[FORMAT_AT] != HISTORY_ENTRY_FORMAT ||
        load_u32_le(encoded.data + CHECKSUM_AT) !=
            crc32c(bytes_of(encoded.data + FLAGS_AT, encoded.len - FLAGS_AT)))
        return false;
    unsigned flags = encoded.data[FLAGS_AT];
    struct bytes item =
        bytes_of(encoded.data + HISTORY_ENTRY_ITEM_AT, encoded.len - HISTORY_ENTRY_ITEM_AT);
    out->existed = (flags & FLAG_EXISTED) != 0;
    out->by_service = (flags & FLAG_BY_SERVICE) != 0;
    if ((flags & ~(unsigned)FLAGS_ALL) != 0)
        return false;
    return out->existed ? item_open(item, &out->before) : item.len == 0;
}
