/* limiter.c -- see limiter.h. */
#include "capacity/limiter.h"
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/memory.h"
#include "capacity/demand_level.h"
#include "capacity/key_ranges.h"
#include "capacity/token_bucket.h"

/* The limits in one direction. On a cache line of its own, because reads and writes of a resource
 * have nothing in common. */
struct side {
    _Alignas(64) struct token_bucket main; /* Provisioned units, or what is served on demand. */
    struct token_bucket max;               /* On demand. */
    struct demand_level level;             /* On demand. */
    _Atomic bool on_demand;
    _Atomic bool has_max;
    _Atomic int64_t provisioned;
    _Atomic int64_t warm;
    _Atomic int64_t quota;
    _Atomic(struct key_ranges *) keys; /* NULL until a key is charged. */
};

struct resource {
    _Atomic uint64_t id; /* 0: free. */
    struct side sides[LIMITER_DIRECTIONS];
};

struct limiter {
    struct resource resources[LIMITER_RESOURCES_MAX];
};

struct limiter *limiter_create(void)
{
    struct limiter *limiter = memory_checked(aligned_alloc(64, sizeof *limiter));
    *limiter = (struct limiter){ 0 };
    return limiter;
}

void limiter_destroy(struct limiter *limiter)
{
    for (size_t i = 0; limiter != NULL && i < LIMITER_RESOURCES_MAX; i++) {
        for (size_t d = 0; d < LIMITER_DIRECTIONS; d++)
            key_ranges_destroy(atomic_load(&limiter->resources[i].sides[d].keys));
    }
    free(limiter);
}

/* --- Configuration --- */

static struct resource *find(struct limiter *limiter, uint64_t id)
{
    for (size_t i = 0; i < LIMITER_RESOURCES_MAX; i++) {
        if (atomic_load_explicit(&limiter->resources[i].id, memory_order_acquire) == id)
            return &limiter->resources[i];
    }
    return NULL;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What the main bucket gives per second, and whether the quota says so. */
static int64_t served_units(struct side *side, int64_t level, bool *is_quota)
{
    int64_t units = larger(atomic_load_explicit(&side->warm, memory_order_relaxed), level);
    int64_t quota = atomic_load_explicit(&side->quota, memory_order_relaxed);
    *is_quota = units >= quota;
    return *is_quota ? quota : units;
}

static void configure_max(struct side *side, int64_t max, bool is_new, int64_t now_ms)
{
    bool had = !is_new && atomic_load(&side->has_max);
    if (max == LIMITER_NO_MAX) {
        atomic_store(&side->has_max, false);
        return;
    }
    if (had)
        token_bucket_set_rate(&side->max, max, LIMITER_ON_DEMAND_BURST_MS, now_ms);
    else
        token_bucket_init(&side->max, max, LIMITER_ON_DEMAND_BURST_MS, now_ms);
    atomic_store(&side->has_max, true);
}

static void configure_side(struct side *side, const struct limiter_rates *rates,
                           enum limiter_direction direction, bool is_new, int64_t now_ms)
{
    int64_t rate = rates->provisioned[direction];
    int64_t burst_ms = LIMITER_BURST_MS;
    if (!rates->on_demand)
        atomic_store(&side->provisioned, rate);
    atomic_store(&side->warm, rates->warm[direction]);
    atomic_store(&side->quota, rates->quota[direction]);
    if (is_new)
        demand_level_init(&side->level, now_ms);
    if (rates->on_demand) {
        bool is_quota;
        int64_t since_ms;
        rate = served_units(side, demand_level_units(&side->level, now_ms, &since_ms), &is_quota);
        burst_ms = LIMITER_ON_DEMAND_BURST_MS;
    }
    if (is_new) {
        token_bucket_init(&side->main, rate, burst_ms, now_ms);
        key_ranges_clear(atomic_load(&side->keys)); /* Of a deleted index. */
    } else {
        token_bucket_set_rate(&side->main, rate, burst_ms, now_ms);
    }
    configure_max(side, rates->on_demand ? rates->max[direction] : LIMITER_NO_MAX, is_new, now_ms);
    atomic_store(&side->on_demand, rates->on_demand);
}

static bool is_listed(const struct limiter_rates *rates, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (rates[i].id == id)
            return true;
    }
    return false;
}

void limiter_configure(struct limiter *limiter, const struct limiter_rates *rates, size_t count,
                       int64_t now_ms)
{
    assert(count <= LIMITER_RESOURCES_MAX);
    for (size_t i = 0; i < LIMITER_RESOURCES_MAX; i++) {
        struct resource *resource = &limiter->resources[i];
        if (!is_listed(rates, count, atomic_load(&resource->id)))
            atomic_store(&resource->id, 0);
    }
    for (size_t i = 0; i < count; i++) {
        assert(rates[i].id != 0);
        struct resource *resource = find(limiter, rates[i].id);
        bool is_new = resource == NULL;
        if (is_new)
            resource = find(limiter, 0);
        assert(resource != NULL);
        for (int d = 0; d < LIMITER_DIRECTIONS; d++)
            configure_side(&resource->sides[d], &rates[i], (enum limiter_direction)d, is_new,
                           now_ms);
        atomic_store_explicit(&resource->id, rates[i].id, memory_order_release);
    }
}

/* --- Admission --- */

/* Brings the main bucket to the level of now. True if the quota of a table limits it. */
static bool follow_level(struct side *side, int64_t now_ms)
{
    bool is_quota;
    int64_t since_ms;
    int64_t level = demand_level_units(&side->level, now_ms, &since_ms);
    int64_t units = served_units(side, level, &is_quota);
    if (!token_bucket_has_rate(&side->main, units, LIMITER_ON_DEMAND_BURST_MS))
        token_bucket_set_rate(&side->main, units, LIMITER_ON_DEMAND_BURST_MS, since_ms);
    return is_quota;
}

/* The same in provisioned mode: a thread that found the other mode, just before it was changed, may
 * have brought the bucket to its level since. */
static void follow_provisioned(struct side *side, int64_t now_ms)
{
    int64_t units = atomic_load_explicit(&side->provisioned, memory_order_relaxed);
    if (!token_bucket_has_rate(&side->main, units, LIMITER_BURST_MS))
        token_bucket_set_rate(&side->main, units, LIMITER_BURST_MS, now_ms);
}

static bool is_open(struct token_bucket *bucket, int64_t pending_half_units, int64_t now_ms)
{
    return token_bucket_balance(bucket, now_ms) > pending_half_units * TOKENS_PER_HALF_UNIT;
}

static int64_t key_units(enum limiter_direction direction)
{
    return direction == LIMITER_READ ? KEY_RANGE_READ_UNITS : KEY_RANGE_WRITE_UNITS;
}

static bool is_key_open(struct side *side, const struct limiter_question *question)
{
    struct key_ranges *keys = atomic_load_explicit(&side->keys, memory_order_acquire);
    if (!question->has_key)
        return true;
    int64_t balance = keys == NULL ? key_ranges_full(key_units(question->direction))
                                   : key_ranges_balance(keys, question->key, question->now_ms);
    return balance > question->pending_key_half_units * TOKENS_PER_HALF_UNIT;
}

struct limiter_answer limiter_ask(struct limiter *limiter, const struct limiter_question *question)
{
    struct resource *resource = find(limiter, question->id);
    if (resource == NULL)
        return (struct limiter_answer){ .limit = LIMITER_ADMITS };
    struct side *side = &resource->sides[question->direction];
    int64_t pending = question->pending_half_units, now_ms = question->now_ms;
    struct limiter_answer answer = { .limit = LIMITER_ADMITS,
                                     .on_demand = atomic_load_explicit(&side->on_demand,
                                                                       memory_order_relaxed) };
    bool is_quota = answer.on_demand && follow_level(side, now_ms);
    if (!answer.on_demand)
        follow_provisioned(side, now_ms);
    if (answer.on_demand && atomic_load_explicit(&side->has_max, memory_order_relaxed) &&
        !is_open(&side->max, pending, now_ms))
        answer.limit = LIMITER_MAX_ON_DEMAND;
    else if (!is_open(&side->main, pending, now_ms))
        answer.limit = !answer.on_demand ? LIMITER_PROVISIONED
                                         : (is_quota ? LIMITER_ACCOUNT : LIMITER_KEY_RANGE);
    else if (!is_key_open(side, question))
        answer.limit = LIMITER_KEY_RANGE;
    return answer;
}

/* --- Charges --- */

void limiter_charge(struct limiter *limiter, uint64_t id, enum limiter_direction direction,
                    int64_t half_units, int64_t now_ms)
{
    struct resource *resource = half_units == 0 ? NULL : find(limiter, id);
    if (resource == NULL)
        return;
    struct side *side = &resource->sides[direction];
    if (atomic_load_explicit(&side->on_demand, memory_order_relaxed)) {
        follow_level(side, now_ms);
        demand_level_charge(&side->level, half_units, now_ms);
        if (atomic_load_explicit(&side->has_max, memory_order_relaxed))
            token_bucket_charge(&side->max, half_units, now_ms);
    }
    token_bucket_charge(&side->main, half_units, now_ms);
}

static struct key_ranges *keys_of(struct side *side, enum limiter_direction direction)
{
    struct key_ranges *keys = atomic_load_explicit(&side->keys, memory_order_acquire);
    if (keys != NULL)
        return keys;
    struct key_ranges *made = key_ranges_create(key_units(direction));
    if (atomic_compare_exchange_strong(&side->keys, &keys, made))
        return made;
    key_ranges_destroy(made); /* Another thread was first. */
    return keys;
}

void limiter_charge_key(struct limiter *limiter, uint64_t id, enum limiter_direction direction,
                        uint64_t key, int64_t half_units, int64_t now_ms)
{
    struct resource *resource = half_units == 0 ? NULL : find(limiter, id);
    if (resource == NULL)
        return;
    key_ranges_charge(keys_of(&resource->sides[direction], direction), key, half_units, now_ms);
}
