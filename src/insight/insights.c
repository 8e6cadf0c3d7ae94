/* insights.c -- see insights.h.
 *
 * Locks: a counters' mutex guards which of its data is where; a shard's flag guards the shard and
 * may be taken while holding that one, not the other way round. Counting only tries shards' locks.
 * Storing works in three steps, so that a reader finds every event exactly once without waiting for
 * the disk: read what is stored of the minutes that are over; under the lock take their summaries
 * out of the shards, merge both and keep the result as `closing`, which replaces what is stored of
 * that minute for readers; write it, and drop `closing`. Only one thread stores.
 */
#include "insight/insights.h"
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "insight/insight_store.h"
#include "insight/key_summary.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/table_runtime.h"

enum {
    SLOTS = 2, /* The open minute, and the one before until it is stored. */
    LINE_SIZE = 64,
    CLOSING_MAX = SLOTS * INSIGHTS_SHARDS, /* Minutes that may be stored in one step. */
    WALL_TRUSTED_MS = 1000,
};
static_assert(INSIGHTS_TARGETS_MAX == 1 + 2 * GLOBAL_INDEXES_MAX, "see insights.h");
static_assert(INSIGHTS_SHARDS == 8, "home_shard takes three bits");
static_assert(INSIGHTS_LIVE_MAX >= CLOSING_MAX + SLOTS * INSIGHTS_SHARDS, "all of it fits");

struct slot {
    int64_t minute_ms; /* Of what is in it. */
    struct key_summary *summaries[INSIGHT_RULE_COUNT];
};

struct shard {
    _Alignas(LINE_SIZE) _Atomic bool taken; /* Guards the rest: see shard_lock. */
    struct slot slots[SLOTS];
};

/* The counters of one table or index. */
struct target {
    _Atomic uint64_t id; /* 0: free. */
    _Atomic(struct shard *) shards[INSIGHTS_SHARDS];
    _Atomic uint64_t missed[INSIGHT_RULE_COUNT];
    /* Guarded by the counters' mutex. */
    struct slot closing[CLOSING_MAX];
    size_t closing_count;
    /* Rules that were forgotten while the thread that stores may be using `closing`: it drops their
     * summaries before it stores what was left from a tick that failed. */
    unsigned forgotten_rules;
    int64_t rolled_ms; /* Of the thread that stores. */
};

/* The counters of one table. */
struct counters {
    struct table_runtime_part part;
    struct insights *insights;
    pthread_mutex_t mutex;
    _Atomic(struct target *) targets[INSIGHTS_TARGETS_MAX];
};

struct insights {
    struct insights_options options;
    uint64_t seed;
    _Atomic size_t table_count; /* With counters. */
    /* insights_wall_ms: a time within the minute that lasts until then. Two threads may write them
     * at once; both are right then. */
    _Alignas(LINE_SIZE) _Atomic int64_t wall_ms;
    _Atomic int64_t wall_until_ns;
};

struct insights *insights_create(const struct insights_options *options)
{
    struct insights *insights = memory_checked(aligned_alloc(LINE_SIZE, sizeof *insights));
    struct random random;
    memset(insights, 0, sizeof *insights);
    insights->options = *options;
    if (options->keys_max == 0)
        insights->options.keys_max = INSIGHTS_KEYS_DEFAULT;
    if (options->rules_max == 0)
        insights->options.rules_max = INSIGHTS_RULES_DEFAULT;
    random_init_from_system(&random);
    insights->seed = random_next(&random);
    return insights;
}

void insights_destroy(struct insights *insights)
{
    if (insights == NULL)
        return;
    assert(atomic_load(&insights->table_count) == 0);
    free(insights);
}

size_t insights_keys_max(const struct insights *insights)
{
    return insights->options.keys_max;
}

size_t insights_rules_max(const struct insights *insights)
{
    return insights->options.rules_max;
}

uint64_t insights_seed(const struct insights *insights)
{
    return insights->seed;
}

size_t insights_memory_max(const struct insights_options *options)
{
    return options->rules_max * SLOTS * INSIGHTS_SHARDS * key_summary_memory_max(options->keys_max);
}

uint64_t insights_stored_size_max(const struct insights_options *options)
{
    /* Minutes are removed by the hour. */
    const uint64_t records =
        (INSIGHTS_MINUTES_KEPT_MS + 2 * INSIGHTS_HOUR_MS) / INSIGHTS_MINUTE_MS +
        (INSIGHTS_HOURS_KEPT_MS / INSIGHTS_HOUR_MS) + 1;
    return options->rules_max * records * key_summary_size_max(options->keys_max);
}

/* --- Shards --- */

/* Calls only try. Whoever stores or reports waits for a call that is counting, for less than a
 * microsecond unless its thread was preempted; a mutex would make each call dearer. */
static inline bool shard_try(struct shard *shard)
{
    return !atomic_load_explicit(&shard->taken, memory_order_relaxed) &&
           !atomic_exchange_explicit(&shard->taken, true, memory_order_acquire);
}

static void shard_lock(struct shard *shard)
{
    while (!shard_try(shard))
        sched_yield();
}

static inline void shard_unlock(struct shard *shard)
{
    atomic_store_explicit(&shard->taken, false, memory_order_release);
}

/* --- Counters of tables and indexes --- */

static void slot_clear(struct slot *slot, unsigned kept_rules)
{
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT; rule++) {
        if ((kept_rules & 1U << rule) != 0)
            continue;
        key_summary_destroy(slot->summaries[rule]);
        slot->summaries[rule] = NULL;
    }
}

static bool slot_is_empty(const struct slot *slot)
{
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT; rule++) {
        if (slot->summaries[rule] != NULL)
            return false;
    }
    return true;
}

static void counters_destroy(struct table_runtime_part *part)
{
    struct counters *counters = (struct counters *)part;
    for (size_t t = 0; t < INSIGHTS_TARGETS_MAX; t++) {
        struct target *target = atomic_load(&counters->targets[t]);
        if (target == NULL)
            break;
        for (size_t i = 0; i < target->closing_count; i++)
            slot_clear(&target->closing[i], 0);
        for (size_t s = 0; s < INSIGHTS_SHARDS; s++) {
            struct shard *shard = atomic_load(&target->shards[s]);
            if (shard == NULL)
                continue;
            for (size_t i = 0; i < SLOTS; i++)
                slot_clear(&shard->slots[i], 0);
            free(shard);
        }
        free(target);
    }
    pthread_mutex_destroy(&counters->mutex);
    atomic_fetch_sub(&counters->insights->table_count, 1);
    free(counters);
}

static __attribute__((noinline)) struct counters *counters_create(struct insights *insights,
                                                                  struct table_runtime *runtime)
{
    struct table_runtime_part *part = NULL;
    struct counters *made = memory_checked(calloc(1, sizeof *made));
    made->part.destroy = counters_destroy;
    made->insights = insights;
    pthread_mutex_init(&made->mutex, NULL);
    atomic_fetch_add(&insights->table_count, 1);
    if (atomic_compare_exchange_strong(&runtime->insight, &part, &made->part))
        return made;
    counters_destroy(&made->part);
    return (struct counters *)part;
}

static inline struct counters *counters_of(struct insights *insights, struct table_runtime *runtime)
{
    struct table_runtime_part *part = atomic_load_explicit(&runtime->insight, memory_order_acquire);
    return LIKELY(part != NULL) ? (struct counters *)part : counters_create(insights, runtime);
}

static struct target *find_target(struct counters *counters, uint64_t id)
{
    for (size_t i = 0; i < INSIGHTS_TARGETS_MAX; i++) {
        struct target *target = atomic_load_explicit(&counters->targets[i], memory_order_acquire);
        if (target == NULL)
            return NULL;
        if (atomic_load_explicit(&target->id, memory_order_acquire) == id)
            return target;
    }
    return NULL;
}

/* NULL: there is no room, since many indexes came and went and none was forgotten yet. */
static struct target *add_target(struct counters *counters, uint64_t id)
{
    struct target *target = NULL;
    pthread_mutex_lock(&counters->mutex);
    for (size_t i = 0; i < INSIGHTS_TARGETS_MAX && target == NULL; i++) {
        struct target *at = atomic_load(&counters->targets[i]);
        if (at == NULL) {
            at = memory_checked(calloc(1, sizeof *at));
            atomic_init(&at->id, id);
            atomic_store_explicit(&counters->targets[i], at, memory_order_release);
        }
        uint64_t found = atomic_load(&at->id);
        if (found == 0)
            atomic_store_explicit(&at->id, id, memory_order_release);
        if (found == 0 || found == id)
            target = at;
    }
    pthread_mutex_unlock(&counters->mutex);
    return target;
}

/* --- Counting --- */

static struct shard *shard_at(struct target *target, size_t index)
{
    struct shard *shard = atomic_load_explicit(&target->shards[index], memory_order_acquire);
    if (LIKELY(shard != NULL))
        return shard;
    struct shard *made = memory_checked(aligned_alloc(LINE_SIZE, sizeof *made));
    memset(made, 0, sizeof *made);
    if (atomic_compare_exchange_strong(&target->shards[index], &shard, made))
        return made;
    free(made);
    return shard;
}

/* The slot of a minute. One that was not stored in time is counted into: its events are dated later
 * than they happened, which is better than to lose them. */
static struct slot *slot_of_locked(struct shard *shard, int64_t minute_ms)
{
    struct slot *slot = &shard->slots[minute_ms / INSIGHTS_MINUTE_MS % SLOTS];
    if (UNLIKELY(slot->minute_ms != minute_ms) &&
        (slot->minute_ms < minute_ms || slot_is_empty(slot)))
        slot->minute_ms = minute_ms;
    return slot;
}

static void add_locked(struct insights *insights, struct shard *shard,
                       const struct insight_event *event, int64_t minute_ms)
{
    struct slot *slot = slot_of_locked(shard, minute_ms);
    for (unsigned rules = event->rules; rules != 0; rules &= rules - 1) {
        enum insight_rule rule = (enum insight_rule)__builtin_ctz(rules);
        struct bytes key = insight_rule_is_of_whole_keys(rule) ? event->key : event->partition_key;
        if (key.data == NULL)
            continue;
        if (UNLIKELY(slot->summaries[rule] == NULL))
            slot->summaries[rule] = key_summary_create(insights->options.keys_max, insights->seed);
        key_summary_add(slot->summaries[rule], key, event->weight);
    }
}

static void miss(struct target *target, const struct insight_event *event)
{
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT; rule++) {
        if ((event->rules & 1U << rule) != 0)
            atomic_fetch_add(&target->missed[rule], event->weight);
    }
}

int64_t insights_wall_ms(struct insights *insights, const struct clock *clock, int64_t now_ns)
{
    if (LIKELY(now_ns < atomic_load_explicit(&insights->wall_until_ns, memory_order_acquire)))
        return atomic_load_explicit(&insights->wall_ms, memory_order_relaxed);
    int64_t wall_ms = clock_wall_ms(clock);
    int64_t left_ms = INSIGHTS_MINUTE_MS - wall_ms % INSIGHTS_MINUTE_MS;
    if (left_ms > WALL_TRUSTED_MS)
        left_ms = WALL_TRUSTED_MS;
    if (clock->wall_us != clock_system.wall_us)
        left_ms = 0; /* A test moves it. */
    atomic_store_explicit(&insights->wall_ms, wall_ms, memory_order_relaxed);
    atomic_store_explicit(&insights->wall_until_ns, now_ns + left_ms * 1000000,
                          memory_order_release);
    return wall_ms;
}

/* A thread's first choice is the same each time, so that its counters stay in its cache. */
static size_t home_shard(void)
{
    uint64_t self = (uint64_t)(uintptr_t)pthread_self();
    return (size_t)((self >> 12) * UINT64_C(0x9E3779B97F4A7C15) >> 61);
}

void insights_count(struct insights *insights, struct table_runtime *runtime,
                    const struct insight_event *event, int64_t wall_ms)
{
    assert(event->target != 0 && event->partition_key.data != NULL);
    struct counters *counters = counters_of(insights, runtime);
    struct target *target = find_target(counters, event->target);
    if (UNLIKELY(target == NULL) && (target = add_target(counters, event->target)) == NULL)
        return;
    size_t home = home_shard();
    for (size_t i = 0; i < INSIGHTS_SHARDS; i++) {
        struct shard *shard = shard_at(target, (home + i) % INSIGHTS_SHARDS);
        if (UNLIKELY(!shard_try(shard)))
            continue;
        add_locked(insights, shard, event, wall_ms - wall_ms % INSIGHTS_MINUTE_MS);
        shard_unlock(shard);
        return;
    }
    miss(target, event);
}

/* --- Storing --- */

static struct slot *closing_of(struct slot *closing, size_t *count, int64_t minute_ms)
{
    for (size_t i = 0; i < *count; i++) {
        if (closing[i].minute_ms == minute_ms)
            return &closing[i];
    }
    if (*count == CLOSING_MAX)
        return NULL; /* The next tick stores it. */
    closing[*count] = (struct slot){ .minute_ms = minute_ms };
    return &closing[(*count)++];
}

/* Which minutes before `until_ms` are in memory. */
static size_t find_closed(struct target *target, int64_t until_ms, struct slot *out)
{
    size_t count = 0;
    for (size_t s = 0; s < INSIGHTS_SHARDS; s++) {
        struct shard *shard = atomic_load(&target->shards[s]);
        if (shard == NULL)
            continue;
        shard_lock(shard);
        for (size_t i = 0; i < SLOTS; i++) {
            if (shard->slots[i].minute_ms < until_ms && !slot_is_empty(&shard->slots[i]))
                closing_of(out, &count, shard->slots[i].minute_ms);
        }
        shard_unlock(shard);
    }
    return count;
}

/* Adds what is stored of these minutes: an event may come late, or the server was restarted. */
static enum engine_status read_stored(struct insights *insights, struct arena *arena, uint64_t id,
                                      struct slot *closing, size_t count)
{
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(insights->options.engine, ENGINE_STRONG, &view);
    for (size_t i = 0; i < count * INSIGHT_RULE_COUNT && status == ENGINE_OK; i++) {
        struct slot *slot = &closing[i / INSIGHT_RULE_COUNT];
        enum insight_rule rule = (enum insight_rule)(i % INSIGHT_RULE_COUNT);
        struct engine_value value = { 0 };
        struct engine_address address =
            insight_store_address(arena, id, rule, INSIGHT_STORE_MINUTES, slot->minute_ms);
        status = engine_view_get(view, &address, &value);
        if (status == ENGINE_OK) {
            slot->summaries[rule] =
                key_summary_decode(value.bytes, insights->options.keys_max, insights->seed);
            if (slot->summaries[rule] == NULL)
                log_write(LOG_ERROR, "insight", "damaged summary of keys of %" PRIu64, id);
        } else if (status == ENGINE_NOT_FOUND) {
            status = ENGINE_OK;
        }
        engine_value_release(&value);
    }
    engine_view_close(view);
    return status;
}

static void merge_into(struct key_summary **into, struct key_summary *from)
{
    if (*into == NULL) {
        *into = from;
        return;
    }
    key_summary_merge(*into, from);
    key_summary_destroy(from);
}

/* Moves the minutes from the shards to `closing`. The counters' mutex is held. */
static void take_closed_locked(struct target *target, struct slot *closing, size_t count)
{
    for (size_t s = 0; s < INSIGHTS_SHARDS; s++) {
        struct shard *shard = atomic_load(&target->shards[s]);
        if (shard == NULL)
            continue;
        struct slot taken[SLOTS];
        shard_lock(shard);
        for (size_t i = 0; i < SLOTS; i++) {
            size_t known = count;
            bool wanted =
                closing_of(closing, &known, shard->slots[i].minute_ms) != NULL && known == count;
            taken[i] = wanted ? shard->slots[i] : (struct slot){ 0 };
            if (wanted)
                memset(shard->slots[i].summaries, 0, sizeof shard->slots[i].summaries);
        }
        shard_unlock(shard);
        for (size_t i = 0; i < SLOTS * INSIGHT_RULE_COUNT; i++) {
            struct slot *from = &taken[i / INSIGHT_RULE_COUNT];
            struct key_summary *summary = from->summaries[i % INSIGHT_RULE_COUNT];
            if (summary != NULL)
                merge_into(&closing_of(closing, &count, from->minute_ms)
                                ->summaries[i % INSIGHT_RULE_COUNT],
                           summary);
        }
    }
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT; rule++) {
        if (count > 0 && closing[0].summaries[rule] != NULL)
            closing[0].summaries[rule]->missed += atomic_exchange(&target->missed[rule], 0);
    }
}

static enum engine_status write_closing(struct insights *insights, struct arena *arena, uint64_t id,
                                        unsigned rules, const struct slot *closing, size_t count)
{
    struct engine_write *write = NULL;
    enum engine_status status = engine_write_begin(insights->options.engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < count * INSIGHT_RULE_COUNT; i++) {
        const struct slot *slot = &closing[i / INSIGHT_RULE_COUNT];
        enum insight_rule rule = (enum insight_rule)(i % INSIGHT_RULE_COUNT);
        if (slot->summaries[rule] == NULL || (rules & 1U << rule) == 0)
            continue;
        struct engine_address address =
            insight_store_address(arena, id, rule, INSIGHT_STORE_MINUTES, slot->minute_ms);
        engine_write_put(
            write, &address,
            key_summary_encode(arena, slot->summaries[rule], insights->options.keys_max));
    }
    return engine_write_commit_wait(write);
}

/* A write that failed is tried again with the next tick, together with what came since. */
static enum engine_status store_closing(struct insights *insights, struct counters *counters,
                                        struct target *target, unsigned rules, struct arena *arena)
{
    uint64_t id = atomic_load(&target->id);
    enum engine_status status =
        write_closing(insights, arena, id, rules, target->closing, target->closing_count);
    if (status != ENGINE_OK)
        return status;
    pthread_mutex_lock(&counters->mutex);
    for (size_t i = 0; i < target->closing_count; i++)
        slot_clear(&target->closing[i], 0);
    target->closing_count = 0;
    pthread_mutex_unlock(&counters->mutex);
    return ENGINE_OK;
}

/* A rule that is enabled again must not find what it counted before. */
static void drop_forgotten(struct counters *counters, struct target *target)
{
    pthread_mutex_lock(&counters->mutex);
    for (size_t i = 0; i < target->closing_count; i++)
        slot_clear(&target->closing[i], ~target->forgotten_rules);
    target->forgotten_rules = 0;
    pthread_mutex_unlock(&counters->mutex);
}

static enum engine_status flush(struct insights *insights, struct counters *counters,
                                struct target *target, unsigned rules, int64_t wall_ms)
{
    struct slot closing[CLOSING_MAX];
    enum engine_status status = ENGINE_OK;
    struct arena *arena = arena_create();
    drop_forgotten(counters, target);
    if (target->closing_count > 0) /* Left from a tick that failed. */
        status = store_closing(insights, counters, target, rules, arena);
    size_t count = find_closed(target, wall_ms - wall_ms % INSIGHTS_MINUTE_MS, closing);
    if (count > 0 && status == ENGINE_OK) {
        status = read_stored(insights, arena, atomic_load(&target->id), closing, count);
        if (status == ENGINE_OK) {
            pthread_mutex_lock(&counters->mutex);
            take_closed_locked(target, closing, count);
            memcpy(target->closing, closing, count * sizeof closing[0]);
            target->closing_count = count;
            pthread_mutex_unlock(&counters->mutex);
            status = store_closing(insights, counters, target, rules, arena);
        } else {
            for (size_t i = 0; i < count; i++)
                slot_clear(&closing[i], 0);
        }
    }
    arena_destroy(arena);
    return status;
}

static bool has_target(const struct table_definition *table, uint64_t id)
{
    struct insight_target of;
    for (size_t i = 0; insight_target_at(table, i, &of); i++) {
        if (insight_target_id(&of) == id)
            return true;
    }
    return false;
}

static void clear_shards(struct target *target, unsigned kept_rules)
{
    for (size_t s = 0; s < INSIGHTS_SHARDS; s++) {
        struct shard *shard = atomic_load(&target->shards[s]);
        if (shard == NULL)
            continue;
        shard_lock(shard);
        for (size_t i = 0; i < SLOTS; i++)
            slot_clear(&shard->slots[i], kept_rules);
        shard_unlock(shard);
    }
}

/* Forgets indexes that were removed, once no call can count for them. */
static void free_targets(struct counters *counters, const struct table *table)
{
    for (size_t i = 0; i < INSIGHTS_TARGETS_MAX; i++) {
        struct target *target = atomic_load(&counters->targets[i]);
        if (target == NULL)
            return;
        uint64_t id = atomic_load(&target->id);
        if (id == 0 || has_target(table_definition(table), id) || !table_is_only_version(table))
            continue;
        pthread_mutex_lock(&counters->mutex);
        clear_shards(target, 0);
        for (size_t c = 0; c < target->closing_count; c++)
            slot_clear(&target->closing[c], 0);
        target->closing_count = 0;
        target->forgotten_rules = 0;
        target->rolled_ms = 0;
        atomic_store(&target->id, 0);
        pthread_mutex_unlock(&counters->mutex);
    }
}

static enum engine_status tick_table(struct insights *insights, const struct table *table,
                                     int64_t wall_ms)
{
    struct insight_target of;
    enum engine_status first = ENGINE_OK;
    struct counters *counters = counters_of(insights, table_runtime(table));
    free_targets(counters, table);
    for (size_t i = 0; insight_target_at(table_definition(table), i, &of); i++) {
        unsigned rules = insight_target_rules(&of);
        uint64_t id = insight_target_id(&of);
        struct target *target = rules == 0 ? NULL : find_target(counters, id);
        if (rules != 0 && target == NULL)
            target = add_target(counters, id); /* Its hours of earlier runs are to be made. */
        if (target == NULL)
            continue;
        enum engine_status status = flush(insights, counters, target, rules, wall_ms);
        if (status == ENGINE_OK)
            status = insight_store_roll(insights->options.engine, id, rules,
                                        insights->options.keys_max, wall_ms, &target->rolled_ms);
        if (first == ENGINE_OK)
            first = status;
    }
    return first;
}

static bool counts(const struct table_definition *definition, void *context)
{
    (void)context;
    return definition->counts_keys;
}

/* A table that is held here keeps its data, and its indexes' (control/table_life.h): nothing is
 * stored for one that is gone. */
enum engine_status insights_tick(struct insights *insights, struct catalogue *catalogue,
                                 int64_t wall_ms)
{
    struct arena *arena = arena_create();
    struct bytes after = BYTES("");
    struct table *table;
    enum engine_status first = ENGINE_OK;
    while ((table = catalogue_find_next(catalogue, after, counts, NULL)) != NULL) {
        enum engine_status status = tick_table(insights, table, wall_ms);
        if (status != ENGINE_OK)
            log_write(LOG_ERROR, "insight", "storing the keys of table %.*s: %s",
                      BYTES_FMT(table_definition(table)->name), engine_status_name(status));
        if (first == ENGINE_OK)
            first = status;
        after = arena_copy(arena, table_definition(table)->name);
        table_release(table);
    }
    arena_destroy(arena);
    return first;
}

enum engine_status insights_forget(struct insights *insights, struct table_runtime *runtime,
                                   uint64_t id, unsigned rules)
{
    struct counters *counters =
        (struct counters *)atomic_load_explicit(&runtime->insight, memory_order_acquire);
    struct target *target = counters == NULL ? NULL : find_target(counters, id);
    if (target != NULL) {
        pthread_mutex_lock(&counters->mutex);
        clear_shards(target, rules);
        target->forgotten_rules |= ~rules;
        pthread_mutex_unlock(&counters->mutex);
    }
    return insight_store_remove(insights->options.engine, id, rules);
}

/* --- Reading --- */

static void copy_slot(struct insights *insights, const struct slot *slot, enum insight_rule rule,
                      bool replaces, struct insight_live *live, size_t *count)
{
    if (slot->summaries[rule] == NULL)
        return;
    assert(*count < INSIGHTS_LIVE_MAX);
    live[(*count)++] = (struct insight_live){
        .minute_ms = slot->minute_ms,
        .summary = key_summary_copy(slot->summaries[rule], insights->options.keys_max),
        .replaces = replaces,
    };
}

enum engine_status insights_look(struct insights *insights, struct table_runtime *runtime,
                                 uint64_t id, enum insight_rule rule, struct engine_view **view,
                                 struct insight_live live[INSIGHTS_LIVE_MAX], size_t *live_count)
{
    struct counters *counters = counters_of(insights, runtime);
    struct target *target = find_target(counters, id);
    *live_count = 0;
    pthread_mutex_lock(&counters->mutex);
    enum engine_status status = engine_view_open(insights->options.engine, ENGINE_STRONG, view);
    if (status == ENGINE_OK && target != NULL) {
        bool is_forgotten = (target->forgotten_rules & 1U << rule) != 0;
        for (size_t i = 0; i < target->closing_count && !is_forgotten; i++)
            copy_slot(insights, &target->closing[i], rule, true, live, live_count);
        for (size_t s = 0; s < INSIGHTS_SHARDS; s++) {
            struct shard *shard = atomic_load(&target->shards[s]);
            if (shard == NULL)
                continue;
            shard_lock(shard);
            for (size_t i = 0; i < SLOTS; i++)
                copy_slot(insights, &shard->slots[i], rule, false, live, live_count);
            shard_unlock(shard);
        }
        if (*live_count > 0)
            live[0].summary->missed += atomic_load(&target->missed[rule]);
    }
    pthread_mutex_unlock(&counters->mutex);
    return status;
}
