/* key_summary.c -- see key_summary.h. Bytes: doc/disk-format-monitoring.md, "Summaries of keys". */
#include "insight/key_summary.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "base/memory.h"
#include "insight/key_digest.h"

enum {
    COVERED_AT = 5, /* Behind the format and the checksum. */
    NUMBERS_SIZE = 6 * 8,
    COUNT_SIZE = 4,
    COUNTER_SIZE = 8 + 8 + 4, /* Then the key. */
};

/* Stored sketches of different runs are merged, so they all use this one. */
static const uint64_t distinct_seed = UINT64_C(0x9e3779b97f4a7c15);

static struct space_saving_options options_for(size_t counters_max)
{
    return (struct space_saving_options){ .counters_max = counters_max,
                                          .keys_size_max = counters_max * KEY_SUMMARY_KEY_SIZE };
}

size_t key_summary_memory_max(size_t counters_max)
{
    const struct space_saving_options options = options_for(counters_max);
    return sizeof(struct key_summary) + space_saving_memory_max(&options);
}

size_t key_summary_size_max(size_t counters_max)
{
    return COVERED_AT + NUMBERS_SIZE + 1 + sizeof(struct hyperloglog) + COUNT_SIZE +
           counters_max * (COUNTER_SIZE + KEY_SUMMARY_STORED_KEY_SIZE);
}

static struct key_summary *create(const struct space_saving_options *options, uint64_t seed)
{
    struct key_summary *summary = memory_checked(calloc(1, sizeof *summary));
    summary->keys = space_saving_create(options);
    summary->seed = seed;
    return summary;
}

struct key_summary *key_summary_create(size_t counters_max, uint64_t seed)
{
    const struct space_saving_options options = options_for(counters_max);
    return create(&options, seed);
}

void key_summary_destroy(struct key_summary *summary)
{
    if (summary == NULL)
        return;
    space_saving_destroy(summary->keys);
    free(summary);
}

static __attribute__((noinline)) void widen(struct key_summary *summary, uint64_t weight)
{
    if (summary->events == 0 || weight < summary->weight_min)
        summary->weight_min = weight;
    if (weight > summary->weight_max)
        summary->weight_max = weight;
}

/* A key that has a counter was counted as a different one when it got it. */
void key_summary_add(struct key_summary *summary, struct bytes key, uint64_t weight)
{
    if (UNLIKELY(weight - summary->weight_min > summary->weight_max - summary->weight_min))
        widen(summary, weight); /* Outside of both, since the subtraction wraps around. */
    summary->events++;
    if (space_saving_add(summary->keys, key_digest(summary->seed, key), key, weight))
        hyperloglog_add(&summary->distinct, key_digest(distinct_seed, key));
}

void key_summary_merge(struct key_summary *summary, const struct key_summary *other)
{
    assert(summary->seed == other->seed);
    space_saving_merge(summary->keys, other->keys);
    hyperloglog_merge(&summary->distinct, &other->distinct);
    if (other->weight_max > summary->weight_max)
        summary->weight_max = other->weight_max;
    if (summary->events == 0 || (other->events > 0 && other->weight_min < summary->weight_min))
        summary->weight_min = other->weight_min;
    summary->events += other->events;
    summary->missed += other->missed;
}

struct key_summary *key_summary_copy(const struct key_summary *summary, size_t counters_max)
{
    struct key_summary *copy = key_summary_create(counters_max, summary->seed);
    key_summary_merge(copy, summary);
    return copy;
}

bool key_summary_is_empty(const struct key_summary *summary)
{
    return space_saving_total(summary->keys) == 0 && summary->missed == 0;
}

/* --- Bytes --- */

static void append_u64(struct buffer *out, uint64_t value)
{
    uint8_t bytes[8];
    store_u64_le(bytes, value < SPACE_SAVING_WEIGHT_MAX ? value : SPACE_SAVING_WEIGHT_MAX);
    buffer_append(out, bytes, sizeof bytes);
}

static void append_u32(struct buffer *out, size_t value)
{
    uint8_t bytes[4];
    store_u32_le(bytes, (uint32_t)value);
    buffer_append(out, bytes, sizeof bytes);
}

/* How many of the largest counters fit into what may be stored. */
static size_t count_stored(const struct space_saving_counter *top, size_t count,
                           size_t counters_max)
{
    size_t left = counters_max * (COUNTER_SIZE + KEY_SUMMARY_STORED_KEY_SIZE);
    size_t stored = 0;
    for (; stored < count && stored < counters_max; stored++) {
        size_t size = COUNTER_SIZE + top[stored].key.len;
        if (size > left)
            break;
        left -= size;
    }
    return stored;
}

struct bytes key_summary_encode(struct arena *arena, const struct key_summary *summary,
                                size_t counters_max)
{
    struct buffer out;
    size_t count = space_saving_count(summary->keys);
    struct space_saving_counter *top = arena_alloc(arena, (count + 1) * sizeof *top);
    count = space_saving_top(summary->keys, top, count);
    size_t stored = count_stored(top, count, counters_max);
    uint64_t floor = space_saving_floor(summary->keys);
    if (stored < count && top[stored].count > floor)
        floor = top[stored].count;
    buffer_init(&out, arena);
    buffer_append(&out, (const uint8_t[COVERED_AT]){ KEY_SUMMARY_FORMAT }, COVERED_AT);
    append_u64(&out, space_saving_total(summary->keys));
    append_u64(&out, floor);
    append_u64(&out, summary->missed);
    append_u64(&out, summary->events);
    append_u64(&out, summary->weight_min);
    append_u64(&out, summary->weight_max);
    hyperloglog_encode(&summary->distinct, &out);
    append_u32(&out, stored);
    for (size_t i = 0; i < stored; i++) {
        append_u64(&out, top[i].count);
        append_u64(&out, top[i].error);
        append_u32(&out, top[i].key.len);
        buffer_append_bytes(&out, top[i].key);
    }
    store_u32_le(out.data + 1, crc32c(bytes_of(out.data + COVERED_AT, out.len - COVERED_AT)));
    assert(out.len <= key_summary_size_max(counters_max));
    return buffer_bytes(&out);
}

static uint64_t take_u64(struct bytes *in)
{
    uint64_t value = load_u64_le(in->data);
    *in = bytes_of(in->data + 8, in->len - 8);
    return value;
}

static uint32_t take_u32(struct bytes *in)
{
    uint32_t value = load_u32_le(in->data);
    *in = bytes_of(in->data + 4, in->len - 4);
    return value;
}

static bool decode_counters(struct bytes in, size_t count, struct space_saving *keys, uint64_t seed)
{
    struct space_saving_counter before = { .count = UINT64_MAX };
    for (size_t i = 0; i < count; i++) {
        struct space_saving_counter counter;
        if (in.len < COUNTER_SIZE)
            return false;
        counter.count = take_u64(&in);
        counter.error = take_u64(&in);
        size_t size = take_u32(&in);
        if (size > in.len || counter.count > before.count)
            return false;
        counter.key = bytes_of(in.data, size);
        counter.hash = key_digest(seed, counter.key);
        if ((counter.count == before.count && bytes_compare(before.key, counter.key) >= 0) ||
            !space_saving_load(keys, &counter))
            return false;
        in = bytes_of(in.data + size, in.len - size);
        before = counter;
    }
    return in.len == 0;
}

struct key_summary *key_summary_decode(struct bytes stored, size_t counters_max, uint64_t seed)
{
    struct hyperloglog distinct;
    if (stored.len > SPACE_SAVING_KEYS_SIZE_MAX || stored.len < COVERED_AT + NUMBERS_SIZE ||
        stored.data[0] != KEY_SUMMARY_FORMAT ||
        load_u32_le(stored.data + 1) !=
            crc32c(bytes_of(stored.data + COVERED_AT, stored.len - COVERED_AT)))
        return NULL;
    struct bytes in = bytes_of(stored.data + COVERED_AT, stored.len - COVERED_AT);
    uint64_t total = take_u64(&in), floor = take_u64(&in), missed = take_u64(&in);
    uint64_t events = take_u64(&in), weight_min = take_u64(&in), weight_max = take_u64(&in);
    if (missed > SPACE_SAVING_WEIGHT_MAX || events > SPACE_SAVING_WEIGHT_MAX ||
        weight_max > SPACE_SAVING_WEIGHT_MAX || weight_min > weight_max ||
        !hyperloglog_decode(&in, &distinct) || in.len < COUNT_SIZE)
        return NULL;
    size_t count = take_u32(&in);
    if (count > in.len / COUNTER_SIZE || count > KEY_SUMMARY_COUNTERS_MAX)
        return NULL;
    /* It may have been stored when the settings allowed more. */
    struct space_saving_options options = options_for(count > counters_max ? count : counters_max);
    if (options.keys_size_max < in.len)
        options.keys_size_max = in.len;
    struct key_summary *summary = create(&options, seed);
    summary->distinct = distinct;
    summary->missed = missed;
    summary->events = events;
    summary->weight_min = weight_min;
    summary->weight_max = weight_max;
    if (decode_counters(in, count, summary->keys, seed) &&
        space_saving_load_end(summary->keys, total, floor))
        return summary;
    key_summary_destroy(summary);
    return NULL;
}
