/* history_entry.h -- one entry of a table's history: what an item was before a change.
 *
 * A history is an owner of its own in the engine, with the table's partitions. Each change of an
 * item adds an entry, in the batch that changes the item, in the item's partition (txn/). An
 * entry's key is the day of the change, the item's key and the commit time (base/clock.h), so:
 *
 * - The entries of a day lie together and are removed together, by one range delete.
 * - Within a day they lie in the order of the items, so the state of a table at a moment is a merge
 *   of sorted ranges (history_reader.h).
 *
 * The item's state at a moment T, i.e. after exactly the changes with commit times before T, is
 * what its first entry with a commit time of T or later holds; without such an entry, the item is
 * as it was then. Layout: doc/disk-format-recovery.md, "History".
 */
#ifndef STATOR_HISTORY_HISTORY_ENTRY_H
#define STATOR_HISTORY_HISTORY_ENTRY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/item.h"

struct arena;

enum {
    HISTORY_DAY_SIZE = 4,  /* Before the item's key, big-endian. */
    HISTORY_TIME_SIZE = 8, /* Behind it, big-endian. */
    HISTORY_ENTRY_FORMAT = 1,
    HISTORY_ENTRY_ITEM_AT = 1 + 4 + 1, /* Behind format, checksum and flags. */
};
#define HISTORY_DAY_US (INT64_C(24) * 60 * 60 * 1000000)

static inline uint32_t history_day(int64_t commit_us)
{
    return (uint32_t)(commit_us / HISTORY_DAY_US);
}

/* Where the history of a table's partition is. */
struct engine_place history_place(uint64_t history_id, uint64_t partition);

struct history_key {
    uint32_t day;
    struct bytes item_key;
    int64_t commit_us;
};
/* The key lives in the arena. */
struct bytes history_key_encode(struct arena *arena, struct bytes item_key, int64_t commit_us);
/* Where the entries of an item with a commit time of `commit_us` or later begin on a day; the day
 * need not be that of the time. */
struct bytes history_key_on_day(struct arena *arena, uint32_t day, struct bytes item_key,
                                int64_t commit_us);
/* The first key behind all entries of an item on a day. No item's key is the beginning of another
 * one's, so what follows belongs to the next item. */
struct bytes history_key_behind(struct arena *arena, uint32_t day, struct bytes item_key);
/* The first key of a day. */
struct bytes history_key_of_day(struct arena *arena, uint32_t day);
/* False if it is not the key of an entry. The result borrows it. */
MUST_CHECK bool history_key_decode(struct bytes key, struct history_key *out);

struct history_entry {
    bool existed;       /* There was an item before the change. */
    bool by_service;    /* The item expired: the service deleted it, not a client. */
    struct item before; /* If it existed. */
};
struct bytes history_entry_encode(struct arena *arena, const struct history_entry *entry);
/* False if the bytes are not an entry. The result borrows them. */
MUST_CHECK bool history_entry_decode(struct bytes encoded, struct history_entry *out);

#endif
