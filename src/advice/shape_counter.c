/* shape_counter.c -- see shape_counter.h. */
#include "advice/shape_counter.h"
#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "base/thread_number.h"
#include "expr/path.h"
#include "model/table_definition.h"

enum { LINE_SIZE = 64 };

struct hour {
    int64_t number; /* Hours since 1970. */
    struct shape_counts counts;
};

struct entry {
    uint64_t digest;
    uint64_t table_id;
    uint64_t index_id;
    const char *operation;
    enum expression_shape_kind kind;
    bool has_filter;
    bool is_projected;
    uint32_t projected_count;
    int64_t first_ms;
    int64_t last_ms;
    uint64_t rank; /* Calls since first_ms, and the rank of the entry that gave way to it. */
    struct hour hours[SHAPE_COUNTER_HOURS];
    size_t text_size;
    char text[EXPRESSION_SHAPE_SIZE_MAX];
};

struct place {
    struct entry *entries[SHAPE_COUNTER_WAYS]; /* NULL: free, as are all behind it. */
};

struct shard {
    _Alignas(LINE_SIZE) _Atomic bool taken; /* Guards the rest. */
    struct hour other[SHAPE_COUNTER_HOURS];
    size_t entry_count;
    struct place places[];
};

struct shape_counter {
    size_t place_count;                                   /* Of a shard. */
    _Atomic(struct shard *) shards[SHAPE_COUNTER_SHARDS]; /* NULL: not used yet. */
    _Alignas(LINE_SIZE) _Atomic uint64_t missed;
};

static size_t place_count_of(size_t shapes_max)
{
    size_t count = shapes_max / (SHAPE_COUNTER_SHARDS * SHAPE_COUNTER_WAYS);
    return count == 0 ? 1 : count;
}

static size_t shard_size(size_t place_count)
{
    size_t size = sizeof(struct shard) + place_count * sizeof(struct place);
    return (size + LINE_SIZE - 1) / LINE_SIZE * LINE_SIZE;
}

size_t shape_counter_memory_max(size_t shapes_max)
{
    size_t place_count = place_count_of(shapes_max);
    return SHAPE_COUNTER_SHARDS *
           (shard_size(place_count) + place_count * SHAPE_COUNTER_WAYS * sizeof(struct entry));
}

struct shape_counter *shape_counter_create(size_t shapes_max)
{
    assert(shapes_max > 0 && shapes_max <= SHAPE_COUNTER_SHAPES_MAX);
    struct shape_counter *counter = memory_checked(aligned_alloc(LINE_SIZE, sizeof *counter));
    memset(counter, 0, sizeof *counter);
    counter->place_count = place_count_of(shapes_max);
    return counter;
}

void shape_counter_destroy(struct shape_counter *counter)
{
    if (counter == NULL)
        return;
    for (size_t s = 0; s < SHAPE_COUNTER_SHARDS; s++) {
        struct shard *shard = atomic_load(&counter->shards[s]);
        for (size_t i = 0; shard != NULL && i < counter->place_count; i++) {
            for (size_t w = 0; w < SHAPE_COUNTER_WAYS; w++)
                free(shard->places[i].entries[w]);
        }
        free(shard);
    }
    free(counter);
}

/* --- Shards --- */

static bool shard_try(struct shard *shard)
{
    return !atomic_load_explicit(&shard->taken, memory_order_relaxed) &&
           !atomic_exchange_explicit(&shard->taken, true, memory_order_acquire);
}

static void shard_unlock(struct shard *shard)
{
    atomic_store_explicit(&shard->taken, false, memory_order_release);
}

static struct shard *shard_at(struct shape_counter *counter, size_t index)
{
    struct shard *shard = atomic_load_explicit(&counter->shards[index], memory_order_acquire);
    if (LIKELY(shard != NULL))
        return shard;
    size_t size = shard_size(counter->place_count);
    struct shard *made = memory_checked(aligned_alloc(LINE_SIZE, size));
    memset(made, 0, size);
    if (atomic_compare_exchange_strong(&counter->shards[index], &shard, made))
        return made;
    free(made);
    return shard;
}

/* --- Counting --- */

static void add_counts(struct shape_counts *into, const struct shape_counts *from)
{
    into->calls += from->calls;
    into->condition_failures += from->condition_failures;
    into->items_read += from->items_read;
    into->items_returned += from->items_returned;
    into->empty_pages += from->empty_pages;
    into->half_units += from->half_units;
    into->request_size += from->request_size;
    into->put_size += from->put_size;
}

static void add_to_hour(struct hour hours[SHAPE_COUNTER_HOURS], int64_t number,
                        const struct shape_counts *counts)
{
    struct hour *hour = &hours[(uint64_t)number % SHAPE_COUNTER_HOURS];
    if (hour->number > number)
        return; /* The wall clock was set back by more than a day. */
    if (hour->number < number)
        *hour = (struct hour){ .number = number };
    add_counts(&hour->counts, counts);
}

/* The one that was used least gives way. Its successor inherits its rank, as in space-saving
 * (insight/space_saving.h): so a shape that has more than its share of the calls stays, and one
 * that becomes frequent later gets in. */
static struct entry **choose_victim(struct place *place)
{
    struct entry **victim = &place->entries[0];
    for (size_t w = 1; w < SHAPE_COUNTER_WAYS; w++) {
        const struct entry *entry = place->entries[w];
        if (entry->rank < (*victim)->rank)
            victim = &place->entries[w];
    }
    return victim;
}

/* A shape that nobody has used for a day counts for less than any other, however much it was used
 * before. */
static void age_locked(struct place *place, int64_t wall_ms)
{
    for (size_t w = 0; w < SHAPE_COUNTER_WAYS; w++) {
        struct entry *entry = place->entries[w];
        if (wall_ms - entry->last_ms > SHAPE_COUNTER_HOURS * SHAPE_COUNTER_HOUR_MS)
            entry->rank = 0;
    }
}

static void displace_locked(struct shard *shard, const struct entry *entry)
{
    for (size_t i = 0; i < SHAPE_COUNTER_HOURS; i++) {
        if (entry->hours[i].number > 0)
            add_to_hour(shard->other, entry->hours[i].number, &entry->hours[i].counts);
    }
}

static void fill_entry(struct entry *entry, const struct shape_event *event, uint64_t digest,
                       const char *text, size_t text_size)
{
    const struct expression_shape *shape = event->shape;
    *entry = (struct entry){
        .digest = digest,
        .table_id = event->table_id,
        .index_id = shape->index == NULL ? 0 : shape->index->id,
        .operation = event->operation,
        .kind = shape->kind,
        .has_filter = shape->filter != NULL,
        .is_projected = shape->is_count_only || shape->projection != NULL,
        .projected_count = shape->is_count_only || shape->projection == NULL
                               ? 0
                               : (uint32_t)shape->projection->child_count,
        .first_ms = event->wall_ms,
        .text_size = text_size,
    };
    memcpy(entry->text, text, text_size);
}

static bool is_entry_of(const struct entry *entry, const struct shape_event *event, uint64_t digest)
{
    const struct index_definition *index = event->shape->index;
    return entry->digest == digest && entry->table_id == event->table_id &&
           entry->index_id == (index == NULL ? 0 : index->id) &&
           entry->operation == event->operation && entry->kind == event->shape->kind;
}

static struct entry *entry_locked(struct shard *shard, size_t place_count,
                                  const struct shape_event *event, const char *text,
                                  size_t text_size)
{
    uint64_t digest = expression_shape_digest(text, text_size);
    uint64_t mixed = (digest ^ event->table_id) * UINT64_C(0x9E3779B97F4A7C15);
    struct place *place = &shard->places[(mixed >> 32) % place_count];
    struct entry **at = NULL;
    uint64_t rank = 0;
    for (size_t w = 0; w < SHAPE_COUNTER_WAYS && at == NULL; w++) {
        struct entry *entry = place->entries[w];
        if (entry == NULL)
            at = &place->entries[w];
        else if (is_entry_of(entry, event, digest))
            return entry;
    }
    if (at == NULL) {
        age_locked(place, event->wall_ms);
        at = choose_victim(place);
        displace_locked(shard, *at);
        rank = (*at)->rank;
    } else {
        *at = memory_checked(malloc(sizeof **at));
        shard->entry_count++;
    }
    fill_entry(*at, event, digest, text, text_size);
    (*at)->rank = rank;
    return *at;
}

void shape_counter_count(struct shape_counter *counter, const struct shape_event *event)
{
    assert(event->table_id != 0 && event->wall_ms >= 0);
    char text[EXPRESSION_SHAPE_SIZE_MAX];
    size_t text_size = expression_shape_format(event->shape, text);
    unsigned home = thread_number();
    for (unsigned i = 0; i < SHAPE_COUNTER_SHARDS; i++) {
        struct shard *shard = shard_at(counter, (home + i) % SHAPE_COUNTER_SHARDS);
        if (!shard_try(shard))
            continue;
        struct entry *entry = entry_locked(shard, counter->place_count, event, text, text_size);
        entry->rank += event->counts.calls;
        entry->last_ms = event->wall_ms;
        add_to_hour(entry->hours, event->wall_ms / SHAPE_COUNTER_HOUR_MS, &event->counts);
        shard_unlock(shard);
        return;
    }
    atomic_fetch_add_explicit(&counter->missed, 1, memory_order_relaxed);
}

/* --- Reading --- */

static void sum_hours(const struct hour hours[SHAPE_COUNTER_HOURS], int64_t from_ms,
                      struct shape_counts *into)
{
    for (size_t i = 0; i < SHAPE_COUNTER_HOURS; i++) {
        if (hours[i].number > 0 && (hours[i].number + 1) * SHAPE_COUNTER_HOUR_MS > from_ms)
            add_counts(into, &hours[i].counts);
    }
}

static void add_entry(struct shape_uses *uses, struct arena *arena, const struct entry *entry,
                      int64_t from_ms)
{
    struct shape_counts counts = { 0 };
    sum_hours(entry->hours, from_ms, &counts);
    if (counts.calls == 0)
        return;
    uses->uses[uses->count++] = (struct shape_use){
        .table_id = entry->table_id,
        .index_id = entry->index_id,
        .operation = entry->operation,
        .kind = entry->kind,
        .has_filter = entry->has_filter,
        .is_projected = entry->is_projected,
        .projected_count = entry->projected_count,
        .text = arena_copy(arena, bytes_of((const uint8_t *)entry->text, entry->text_size)),
        .first_ms = entry->first_ms,
        .last_ms = entry->last_ms,
        .counts = counts,
    };
}

/* Calls hold a shard for less than a microsecond, unless their thread was preempted. */
static void shard_lock(struct shard *shard)
{
    while (!shard_try(shard))
        sched_yield();
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Of the same shape or not, whatever was counted. */
static int by_identity(const void *a, const void *b)
{
    const struct shape_use *x = a, *y = b;
    int order = compare_numbers(x->table_id, y->table_id);
    if (order == 0)
        order = compare_numbers(x->index_id, y->index_id);
    if (order == 0)
        order = compare_numbers((uintptr_t)x->operation, (uintptr_t)y->operation);
    if (order == 0)
        order = compare_numbers(x->kind, y->kind);
    return order != 0 ? order : bytes_compare(x->text, y->text);
}

/* A shape that several threads have used is in several shards. */
static void merge_same(struct shape_uses *uses)
{
    size_t kept = 0;
    if (uses->count > 1)
        qsort(uses->uses, uses->count, sizeof *uses->uses, by_identity);
    for (size_t i = 0; i < uses->count; i++) {
        struct shape_use *use = &uses->uses[i];
        struct shape_use *last = kept == 0 ? NULL : &uses->uses[kept - 1];
        if (last == NULL || by_identity(last, use) != 0) {
            uses->uses[kept++] = *use;
            continue;
        }
        add_counts(&last->counts, &use->counts);
        last->first_ms = use->first_ms < last->first_ms ? use->first_ms : last->first_ms;
        last->last_ms = use->last_ms > last->last_ms ? use->last_ms : last->last_ms;
    }
    uses->count = kept;
}

struct shape_uses shape_counter_read(struct shape_counter *counter, struct arena *arena,
                                     int64_t from_ms)
{
    struct shape_uses uses = { .missed = atomic_load(&counter->missed), .memory = sizeof *counter };
    size_t capacity = 0;
    for (size_t s = 0; s < SHAPE_COUNTER_SHARDS; s++) {
        struct shard *shard = atomic_load_explicit(&counter->shards[s], memory_order_acquire);
        if (shard == NULL)
            continue;
        shard_lock(shard);
        size_t wanted = capacity + shard->entry_count;
        uses.uses =
            arena_grow(arena, uses.uses, capacity * sizeof *uses.uses, wanted * sizeof *uses.uses);
        capacity = wanted;
        for (size_t i = 0; i < counter->place_count; i++) {
            const struct place *place = &shard->places[i];
            for (size_t w = 0; w < SHAPE_COUNTER_WAYS && place->entries[w] != NULL; w++)
                add_entry(&uses, arena, place->entries[w], from_ms);
        }
        sum_hours(shard->other, from_ms, &uses.other);
        uses.memory += shard_size(counter->place_count) + shard->entry_count * sizeof(struct entry);
        shard_unlock(shard);
    }
    merge_same(&uses);
    return uses;
}
