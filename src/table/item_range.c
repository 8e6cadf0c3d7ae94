/* item_range.c -- see item_range.h.
 *
 * Every bound is a run of bytes that keys begin with, or the first run behind all that begin so.
 */
#include "table/item_range.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "model/key.h"
#include "model/table_definition.h"
#include "table/item_address.h"
#include "table/key_hash.h"
#include "table/layout.h"

/* --- One partition key --- */

/* The first bytes behind all that begin with `prefix`; empty if there are none. */
static struct bytes behind(struct arena *arena, struct bytes prefix)
{
    while (prefix.len > 0 && prefix.data[prefix.len - 1] == 0xFF)
        prefix.len--;
    if (prefix.len == 0)
        return BYTES("");
    uint8_t *out = arena_alloc(arena, prefix.len);
    memcpy(out, prefix.data, prefix.len);
    out[prefix.len - 1]++;
    return bytes_of(out, prefix.len);
}

static struct bytes with_part(struct arena *arena, struct bytes prefix, const struct value *value)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, prefix);
    key_encode_part(&out, value);
    return buffer_bytes(&out);
}

static struct bytes with_prefix_of_part(struct arena *arena, struct bytes prefix,
                                        const struct value *value)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, prefix);
    key_encode_prefix(&out, value->data);
    return buffer_bytes(&out);
}

/* Where a range begins or ends: with the prefix, or just before or behind the keys whose next part
 * is the condition's value. */
enum edge { EDGE_PREFIX, EDGE_BEFORE, EDGE_BEHIND };

static const struct {
    enum edge first;
    enum edge last;
    bool first_included; /* Whether the value itself is the first, or the last, that may be met. */
    bool last_included;
} edges[] = {
    [ITEM_RANGE_ALL] = { .first = EDGE_PREFIX, .last = EDGE_PREFIX },
    /* Observed: a page of `=` that reaches Limit can be gone on with, although it cannot hold more.
     */
    [ITEM_RANGE_EQUAL] = { .first = EDGE_BEFORE, .last = EDGE_BEHIND },
    [ITEM_RANGE_LESS] = { .first = EDGE_PREFIX, .last = EDGE_BEFORE },
    [ITEM_RANGE_LESS_EQUAL] = { .first = EDGE_PREFIX, .last = EDGE_BEHIND, .last_included = true },
    [ITEM_RANGE_GREATER] = { .first = EDGE_BEHIND, .last = EDGE_PREFIX },
    [ITEM_RANGE_GREATER_EQUAL] = { .first = EDGE_BEFORE,
                                   .last = EDGE_PREFIX,
                                   .first_included = true },
    [ITEM_RANGE_BETWEEN] = { .first = EDGE_BEFORE,
                             .last = EDGE_BEHIND,
                             .first_included = true,
                             .last_included = true },
    [ITEM_RANGE_BEGINS_WITH] = { .first = EDGE_PREFIX, .last = EDGE_PREFIX },
};

/* Sets the bounds within the keys that begin with `prefix`. */
static void set_bounds(struct arena *arena, struct bytes prefix,
                       const struct item_range_condition *condition, struct item_range *range)
{
    enum item_range_test test = condition->test;
    struct bytes low = { 0 };
    struct bytes high = { 0 };
    if (test == ITEM_RANGE_BEGINS_WITH)
        prefix = with_prefix_of_part(arena, prefix, &condition->values[0]);
    else if (test != ITEM_RANGE_ALL)
        low = high = with_part(arena, prefix, &condition->values[0]);
    if (test == ITEM_RANGE_BETWEEN)
        high = with_part(arena, prefix, &condition->values[1]);

    switch (edges[test].first) {
    case EDGE_PREFIX:
        range->engine.first = prefix;
        break;
    case EDGE_BEFORE:
        range->engine.first = low;
        break;
    case EDGE_BEHIND:
        range->engine.first = behind(arena, low);
        break;
    }
    assert(range->engine.first.len > 0); /* No encoded part is all FF. */
    range->engine.last = edges[test].last == EDGE_BEFORE
                             ? high
                             : behind(arena, edges[test].last == EDGE_PREFIX ? prefix : high);
    if (range->engine.reverse ? edges[test].first_included : edges[test].last_included)
        range->end = range->engine.reverse ? low : high;
}

static struct engine_place place_of_hash(const struct table_definition *table,
                                         const struct index_definition *index, uint64_t hash)
{
    return index == NULL ? item_address_of_hash(table, hash)
                         : item_address_of_index_hash(table, index, hash);
}

void item_range_of_key(struct arena *arena, const struct table_definition *table,
                       const struct item_range_key *key,
                       const struct item_range_condition *condition, bool reverse,
                       struct item_range *out)
{
    struct buffer prefix;
    buffer_init(&prefix, arena);
    buffer_reserve(&prefix, LAYOUT_HASH_SIZE);
    prefix.len = LAYOUT_HASH_SIZE; /* Filled in below, once the partition key is encoded. */
    for (size_t i = 0; i < key->hash_count; i++)
        key_encode_part(&prefix, key->hash[i]);
    uint64_t hash = key_hash_of_partition(
        table, key->index == NULL ? &table->key.hash : key->index->hash, key->hash_count,
        bytes_of(prefix.data + LAYOUT_HASH_SIZE, prefix.len - LAYOUT_HASH_SIZE));
    store_u64_be(prefix.data, hash);
    for (size_t i = 0; i < key->equal_count; i++)
        key_encode_part(&prefix, key->equal[i]);
    *out = (struct item_range){
        .engine = { .place = place_of_hash(table, key->index, hash), .reverse = reverse },
    };
    set_bounds(arena, buffer_bytes(&prefix), condition, out);
    /* There is one item at most, so nothing comes behind it. */
    if (key->index == NULL && !table->key.has_range)
        out->end = buffer_bytes(&prefix);
}

/* --- Segments --- */

/* Hashes from `first` up to, not including, `last`, which may be 2^64. */
struct hash_range {
    unsigned __int128 first;
    unsigned __int128 last;
};
#define HASHES ((unsigned __int128)1 << 64)

static struct hash_range hashes_of(const struct item_range_segment *segment)
{
    assert(segment->index < segment->total);
    return (struct hash_range){ .first = HASHES * segment->index / segment->total,
                                .last = HASHES * (segment->index + 1) / segment->total };
}

bool item_range_segment_contains(const struct item_range_segment *segment, uint64_t hash)
{
    struct hash_range hashes = hashes_of(segment);
    return hash >= hashes.first && hash < hashes.last;
}

/* The smallest key bytes of a hash; empty for 2^64, which is behind all. */
static struct bytes key_of_hash(struct arena *arena, unsigned __int128 hash)
{
    if (hash == HASHES)
        return BYTES("");
    uint8_t *key = arena_alloc(arena, LAYOUT_HASH_SIZE);
    store_u64_be(key, (uint64_t)hash);
    return bytes_of(key, LAYOUT_HASH_SIZE);
}

size_t item_range_of_segment(struct arena *arena, const struct table_definition *table,
                             const struct index_definition *index,
                             const struct item_range_segment *segment, struct item_range **out)
{
    bool own = index != NULL && index->global; /* Partitions of its own. */
    const struct partition *partitions = own ? index->partitions : table->partitions;
    size_t partition_count = own ? index->partition_count : table->partition_count;
    struct hash_range wanted = hashes_of(segment);
    struct item_range *ranges = arena_alloc(arena, partition_count * sizeof *ranges);
    size_t count = 0;
    for (size_t i = 0; i < partition_count; i++) {
        struct hash_range part = { .first = partitions[i].first_hash, .last = HASHES };
        if (i + 1 < partition_count)
            part.last = partitions[i + 1].first_hash;
        if (part.first < wanted.first)
            part.first = wanted.first;
        if (part.last > wanted.last)
            part.last = wanted.last;
        if (part.first >= part.last)
            continue;
        ranges[count++] = (struct item_range){
            .engine = { .place = place_of_hash(table, index, partitions[i].first_hash),
                        .first = key_of_hash(arena, part.first),
                        .last = key_of_hash(arena, part.last) },
        };
    }
    *out = ranges;
    return count;
}

/* --- Going on --- */

bool item_range_start_behind(struct arena *arena, struct item_range *range, struct bytes key)
{
    struct engine_range *engine = &range->engine;
    if (bytes_compare(key, engine->first) < 0 ||
        (engine->last.len > 0 && bytes_compare(key, engine->last) >= 0))
        return false;
    if (range->end.data != NULL && bytes_equal(key, range->end))
        return false;
    if (engine->reverse) {
        engine->last = key;
        return true;
    }
    uint8_t *first = arena_alloc(arena, key.len + 1);
    memcpy(first, key.data, key.len);
    first[key.len] = 0; /* The smallest that is greater. */
    engine->first = bytes_of(first, key.len + 1);
    return true;
}
