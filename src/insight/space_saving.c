/* space_saving.c -- see space_saving.h.
 *
 * Counters are in an array without holes up to k; `slots` is a hash table of their numbers, with
 * linear probing and no deletion marks. Keys are appended to one buffer; a counter that is taken
 * over leaves a hole, and the buffer is compacted when it is full. Since keys fill at most half of
 * its largest size, a compaction is paid for by as many bytes appended since the last one.
 *
 * The heap holds each counter once, with the count that it had when it was placed. Counts only
 * grow, so an entry is never above the truth: if the root is up to date, it is the smallest. If
 * not, it is placed again. Each such step is paid for by an update of that counter.
 *
 * Merging adds the other's floor to every counter whose key the other does not have. Instead of
 * visiting them all, `lift` grows by the floor and counters are stored without it.
 */
#include "insight/space_saving.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/compiler.h"
#include "base/memory.h"

enum {
    FIRST_COUNTERS = 16,
    FIRST_KEYS_SIZE = 512,
    NONE = -1,
    CHILDREN = 4, /* Of an entry in the heap: half as many steps as with two. */
    NUMBER_BITS = 16,
};
static_assert((int)SPACE_SAVING_COUNTERS_MAX == 1 << NUMBER_BITS, "a counter's number fits");

struct counter {
    uint64_t hash;
    uint64_t count; /* Without the lift. */
    uint64_t error; /* Without the lift, modulo 2^64: it may be smaller than that. */
    uint32_t key_at;
    uint32_t key_size;
    uint32_t heap_at;
};

struct space_saving {
    struct space_saving_options options;
    uint64_t total;
    uint64_t floor; /* With the lift. */
    uint64_t lift;

    struct counter *counters;
    uint64_t *heap; /* See entry_of. */
    size_t count;
    size_t capacity; /* Of both. */

    uint32_t *slots; /* Number of a counter plus 1; 0: free. */
    size_t slot_mask;

    uint8_t *keys;
    size_t keys_used;     /* Holes included. */
    size_t keys_live;     /* Without them: at most keys_size_max. */
    size_t keys_capacity; /* At most twice that. */
};

/* --- Memory --- */

/* Twice as many slots as counters, at least, and a power of two. */
static size_t slots_for(size_t capacity)
{
    size_t slots = 2;
    while (slots < 2 * capacity)
        slots *= 2;
    return slots;
}

static void place_in_slots(struct space_saving *summary, uint32_t number)
{
    size_t slot = summary->counters[number].hash & summary->slot_mask;
    while (summary->slots[slot] != 0)
        slot = (slot + 1) & summary->slot_mask;
    summary->slots[slot] = number + 1;
}

static void grow(struct space_saving *summary)
{
    size_t capacity = summary->capacity == 0 ? FIRST_COUNTERS : 2 * summary->capacity;
    if (capacity > summary->options.counters_max)
        capacity = summary->options.counters_max;
    assert(capacity > summary->count);
    summary->counters =
        memory_checked(realloc(summary->counters, capacity * sizeof *summary->counters));
    summary->heap = memory_checked(realloc(summary->heap, capacity * sizeof *summary->heap));
    summary->capacity = capacity;
    size_t slots = slots_for(capacity);
    free(summary->slots);
    summary->slots = memory_checked(calloc(slots, sizeof *summary->slots));
    summary->slot_mask = slots - 1;
    for (size_t i = 0; i < summary->count; i++)
        place_in_slots(summary, (uint32_t)i);
}

struct space_saving *space_saving_create(const struct space_saving_options *options)
{
    assert(options->counters_max > 0 && options->counters_max <= SPACE_SAVING_COUNTERS_MAX);
    assert(options->keys_size_max > 0 && options->keys_size_max <= SPACE_SAVING_KEYS_SIZE_MAX);
    struct space_saving *summary = memory_checked(calloc(1, sizeof *summary));
    summary->options = *options;
    grow(summary);
    summary->keys_capacity = 2 * options->keys_size_max;
    if (summary->keys_capacity > FIRST_KEYS_SIZE)
        summary->keys_capacity = FIRST_KEYS_SIZE;
    summary->keys = memory_checked(malloc(summary->keys_capacity));
    return summary;
}

void space_saving_destroy(struct space_saving *summary)
{
    if (summary == NULL)
        return;
    free(summary->counters);
    free(summary->heap);
    free(summary->slots);
    free(summary->keys);
    free(summary);
}

static size_t memory_for(size_t capacity, size_t keys_capacity)
{
    return sizeof(struct space_saving) + capacity * (sizeof(struct counter) + sizeof(uint64_t)) +
           slots_for(capacity) * sizeof(uint32_t) + keys_capacity;
}

size_t space_saving_memory(const struct space_saving *summary)
{
    return memory_for(summary->capacity, summary->keys_capacity);
}

size_t space_saving_memory_max(const struct space_saving_options *options)
{
    return memory_for(options->counters_max, 2 * options->keys_size_max);
}

/* Makes room for `size` bytes behind the keys, which then fit. */
static void reserve_key(struct space_saving *summary, size_t size)
{
    size_t most = 2 * summary->options.keys_size_max;
    assert(summary->keys_live + size <= summary->options.keys_size_max);
    if (summary->keys_used + size <= summary->keys_capacity)
        return;
    size_t capacity = summary->keys_capacity;
    while (capacity < 2 * (summary->keys_live + size))
        capacity *= 2;
    if (capacity > most)
        capacity = most;
    uint8_t *keys = memory_checked(malloc(capacity));
    size_t used = 0;
    for (size_t i = 0; i < summary->count; i++) {
        struct counter *counter = &summary->counters[i];
        memcpy(keys + used, summary->keys + counter->key_at, counter->key_size);
        counter->key_at = (uint32_t)used;
        used += counter->key_size;
    }
    assert(used == summary->keys_live && used + size <= capacity);
    free(summary->keys);
    summary->keys = keys;
    summary->keys_used = used;
    summary->keys_capacity = capacity;
}

/* --- Counters --- */

static struct bytes key_of(const struct space_saving *summary, const struct counter *counter)
{
    return bytes_of(summary->keys + counter->key_at, counter->key_size);
}

static struct space_saving_counter show(const struct space_saving *summary,
                                        const struct counter *counter)
{
    return (struct space_saving_counter){ .key = key_of(summary, counter),
                                          .hash = counter->hash,
                                          .count = counter->count + summary->lift,
                                          .error = counter->error + summary->lift };
}

/* The slot of the key's counter, or NONE. */
static inline __attribute__((always_inline)) ptrdiff_t find_slot(const struct space_saving *summary,
                                                                 uint64_t hash, struct bytes key)
{
    for (size_t slot = hash & summary->slot_mask; summary->slots[slot] != 0;
         slot = (slot + 1) & summary->slot_mask) {
        const struct counter *counter = &summary->counters[summary->slots[slot] - 1];
        if (counter->hash == hash && bytes_equal(key_of(summary, counter), key))
            return (ptrdiff_t)slot;
    }
    return NONE;
}

/* Moves later entries of the same run back, so that no search stops before its key. */
static void free_slot(struct space_saving *summary, size_t slot)
{
    size_t hole = slot;
    for (size_t next = (slot + 1) & summary->slot_mask; summary->slots[next] != 0;
         next = (next + 1) & summary->slot_mask) {
        size_t home = summary->counters[summary->slots[next] - 1].hash & summary->slot_mask;
        if (((next - home) & summary->slot_mask) < ((next - hole) & summary->slot_mask))
            continue; /* Its search starts behind the hole. */
        summary->slots[hole] = summary->slots[next];
        hole = next;
    }
    summary->slots[hole] = 0;
}

static size_t slot_of_number(const struct space_saving *summary, uint32_t number)
{
    size_t slot = summary->counters[number].hash & summary->slot_mask;
    while (summary->slots[slot] != number + 1)
        slot = (slot + 1) & summary->slot_mask;
    return slot;
}

/* A count and, in the low bits, the number of a counter, in one word that is quickly compared. Only
 * the order of counts matters. Those beyond SPACE_SAVING_WEIGHT_MAX, which only merging leads to,
 * are alike. */
static uint64_t entry_of(uint64_t count, uint32_t number)
{
    const uint64_t most = (UINT64_C(1) << (64 - NUMBER_BITS)) - 1;
    return (count < most ? count : most) << NUMBER_BITS | number;
}

static uint32_t number_of(uint64_t entry)
{
    return (uint32_t)(entry & ((1U << NUMBER_BITS) - 1));
}

static void put_in_heap(struct space_saving *summary, size_t at, uint64_t entry)
{
    summary->heap[at] = entry;
    summary->counters[number_of(entry)].heap_at = (uint32_t)at;
}

static void sift_up(struct space_saving *summary, size_t at, uint64_t entry)
{
    while (at > 0 && summary->heap[(at - 1) / CHILDREN] > entry) {
        put_in_heap(summary, at, summary->heap[(at - 1) / CHILDREN]);
        at = (at - 1) / CHILDREN;
    }
    put_in_heap(summary, at, entry);
}

/* The place of the smaller of two entries. */
static inline size_t smaller(const uint64_t *heap, size_t a, size_t b)
{
    return heap[b] < heap[a] ? b : a;
}

static void sift_down(struct space_saving *summary, size_t at, uint64_t entry)
{
    const uint64_t *heap = summary->heap;
    for (;;) {
        size_t child = CHILDREN * at + 1, end = child + CHILDREN;
        if (child >= summary->count)
            break;
        if (LIKELY(end <= summary->count))
            child =
                smaller(heap, smaller(heap, child, child + 1), smaller(heap, child + 2, child + 3));
        else
            for (size_t i = child + 1; i < summary->count; i++)
                child = smaller(heap, child, i);
        if (heap[child] >= entry)
            break;
        put_in_heap(summary, at, heap[child]);
        at = child;
    }
    put_in_heap(summary, at, entry);
}

/* Brings the smallest counter to the root of the heap. */
static uint32_t find_smallest(struct space_saving *summary)
{
    assert(summary->count > 0);
    for (;;) {
        uint32_t number = number_of(summary->heap[0]);
        uint64_t entry = entry_of(summary->counters[number].count, number);
        if (summary->heap[0] == entry)
            return number;
        sift_down(summary, 0, entry);
    }
}

static void raise_floor(struct space_saving *summary, uint64_t floor)
{
    if (floor > summary->floor)
        summary->floor = floor;
}

/* Removes the smallest counter; what it had is now possible for every key without one. */
static void remove_smallest(struct space_saving *summary)
{
    uint32_t number = find_smallest(summary);
    struct counter *counter = &summary->counters[number];
    raise_floor(summary, counter->count + summary->lift);
    summary->keys_live -= counter->key_size;
    free_slot(summary, slot_of_number(summary, number));
    summary->count--;
    if (summary->count > 0)
        sift_down(summary, 0, summary->heap[summary->count]);
    uint32_t last = (uint32_t)summary->count;
    if (number == last)
        return;
    /* Fill the hole with the last counter. */
    size_t slot = slot_of_number(summary, last);
    *counter = summary->counters[last];
    summary->slots[slot] = number + 1;
    summary->heap[counter->heap_at] += (uint64_t)number - last;
}

static bool has_room(const struct space_saving *summary, size_t key_size)
{
    return summary->count < summary->options.counters_max &&
           summary->keys_live + key_size <= summary->options.keys_size_max;
}

/* Adds a counter for a key that has none, and for which there is room. Without the lift. */
static void append(struct space_saving *summary, uint64_t hash, struct bytes key, uint64_t count,
                   uint64_t error)
{
    assert(has_room(summary, key.len));
    if (summary->count == summary->capacity)
        grow(summary);
    reserve_key(summary, key.len);
    uint32_t number = (uint32_t)summary->count;
    summary->counters[number] = (struct counter){ .hash = hash,
                                                  .count = count,
                                                  .error = error,
                                                  .key_at = (uint32_t)summary->keys_used,
                                                  .key_size = (uint32_t)key.len };
    if (key.len > 0)
        memcpy(summary->keys + summary->keys_used, key.data, key.len);
    summary->keys_used += key.len;
    summary->keys_live += key.len;
    summary->count++;
    sift_up(summary, number, entry_of(count, number));
    place_in_slots(summary, number);
}

/* Stores the key of a counter, whose old one is not needed any more. */
static void replace_key(struct space_saving *summary, struct counter *counter, struct bytes key)
{
    summary->keys_live -= counter->key_size;
    if (key.len > counter->key_size) {
        counter->key_size = 0;
        reserve_key(summary, key.len);
        counter->key_at = (uint32_t)summary->keys_used;
        summary->keys_used += key.len;
    }
    if (key.len > 0)
        memcpy(summary->keys + counter->key_at, key.data, key.len);
    counter->key_size = (uint32_t)key.len;
    summary->keys_live += key.len;
}

/* Gives the smallest counter to a key that has none. Its entry in the heap stays where it is, as
 * after any update. False if the key is too long for that. */
static bool take_over(struct space_saving *summary, uint64_t hash, struct bytes key,
                      uint64_t weight)
{
    uint32_t number = find_smallest(summary);
    struct counter *counter = &summary->counters[number];
    if (summary->keys_live - counter->key_size + key.len > summary->options.keys_size_max)
        return false;
    raise_floor(summary, counter->count + summary->lift);
    free_slot(summary, slot_of_number(summary, number));
    replace_key(summary, counter, key);
    counter->hash = hash;
    counter->error = summary->floor - summary->lift;
    counter->count = counter->error + weight;
    place_in_slots(summary, number);
    return true;
}

static __attribute__((noinline)) void add_new(struct space_saving *summary, uint64_t hash,
                                              struct bytes key, uint64_t weight)
{
    if (key.len > summary->options.keys_size_max) {
        summary->floor += weight; /* It may have been the same key each time. */
        return;
    }
    if (LIKELY(summary->count == summary->options.counters_max) &&
        take_over(summary, hash, key, weight))
        return;
    /* Make room first: what goes raises the floor, which the new key starts from. */
    while (!has_room(summary, key.len))
        remove_smallest(summary);
    uint64_t error = summary->floor - summary->lift;
    append(summary, hash, key, error + weight, error);
}

bool space_saving_add(struct space_saving *summary, uint64_t hash, struct bytes key,
                      uint64_t weight)
{
    summary->total += weight;
    ptrdiff_t slot = find_slot(summary, hash, key);
    if (UNLIKELY(slot == NONE)) {
        add_new(summary, hash, key, weight);
        return true;
    }
    summary->counters[summary->slots[slot] - 1].count += weight;
    return false;
}

/* --- Merging --- */

/* Adds the counter of a key that has none here, or notes in the floor that it was left out. */
static void merge_new(struct space_saving *summary, const struct space_saving_counter *counter)
{
    const struct space_saving_options *options = &summary->options;
    while (!has_room(summary, counter->key.len)) {
        if (counter->key.len > options->keys_size_max ||
            summary->counters[find_smallest(summary)].count + summary->lift >= counter->count) {
            raise_floor(summary, counter->count);
            return;
        }
        remove_smallest(summary);
    }
    append(summary, counter->hash, counter->key, counter->count - summary->lift,
           counter->error - summary->lift);
}

void space_saving_merge(struct space_saving *summary, const struct space_saving *other)
{
    assert(summary != other);
    uint64_t floor_before = summary->floor;
    struct space_saving_counter *added = memory_checked(malloc((other->count + 1) * sizeof *added));
    size_t added_count = 0;
    summary->total += other->total;
    summary->lift += other->floor; /* What the other may have left out, for all keys. */
    summary->floor += other->floor;
    /* First the keys that both have, so that none of them goes before it is complete. */
    for (size_t i = 0; i < other->count; i++) {
        struct space_saving_counter from = show(other, &other->counters[i]);
        if (from.count < other->floor) { /* Long keys raised the floor. Stays true, and simple. */
            from.error += other->floor - from.count;
            from.count = other->floor;
        }
        ptrdiff_t slot = find_slot(summary, from.hash, from.key);
        if (slot == NONE) {
            from.count += floor_before;
            from.error += floor_before;
            added[added_count++] = from;
            continue;
        }
        struct counter *into = &summary->counters[summary->slots[slot] - 1];
        into->count += from.count - other->floor;
        into->error += from.error - other->floor;
    }
    for (size_t i = 0; i < added_count; i++)
        merge_new(summary, &added[i]);
    free(added);
}

/* --- Reading --- */

size_t space_saving_count(const struct space_saving *summary)
{
    return summary->count;
}

uint64_t space_saving_total(const struct space_saving *summary)
{
    return summary->total;
}

uint64_t space_saving_floor(const struct space_saving *summary)
{
    return summary->floor;
}

static int compare(const void *a, const void *b)
{
    const struct space_saving_counter *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return bytes_compare(left->key, right->key);
}

size_t space_saving_top(const struct space_saving *summary, struct space_saving_counter *out,
                        size_t count_max)
{
    if (summary->count == 0 || count_max == 0)
        return 0;
    struct space_saving_counter *all = memory_checked(malloc(summary->count * sizeof *all));
    for (size_t i = 0; i < summary->count; i++)
        all[i] = show(summary, &summary->counters[i]);
    qsort(all, summary->count, sizeof *all, compare);
    size_t count = summary->count < count_max ? summary->count : count_max;
    memcpy(out, all, count * sizeof *all);
    free(all);
    return count;
}

bool space_saving_find(const struct space_saving *summary, uint64_t hash, struct bytes key,
                       struct space_saving_counter *out)
{
    ptrdiff_t slot = find_slot(summary, hash, key);
    if (slot == NONE)
        return false;
    *out = show(summary, &summary->counters[summary->slots[slot] - 1]);
    return true;
}

/* --- Loading --- */

bool space_saving_load(struct space_saving *summary, const struct space_saving_counter *counter)
{
    assert(summary->total == 0 && summary->lift == 0);
    if (counter->error > counter->count || counter->count > SPACE_SAVING_WEIGHT_MAX ||
        !has_room(summary, counter->key.len) ||
        find_slot(summary, counter->hash, counter->key) != NONE)
        return false;
    append(summary, counter->hash, counter->key, counter->count, counter->error);
    return true;
}

bool space_saving_load_end(struct space_saving *summary, uint64_t total, uint64_t floor)
{
    assert(summary->total == 0 && summary->floor == 0);
    if (total > SPACE_SAVING_WEIGHT_MAX || floor > SPACE_SAVING_WEIGHT_MAX)
        return false;
    summary->total = total;
    summary->floor = floor;
    return true;
}
