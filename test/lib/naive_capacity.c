/* naive_capacity.c -- see naive_capacity.h. */
#include "naive_capacity.h"
#include <assert.h>

enum { HALF_UNIT = 1000, PROVISIONED_BURST_S = 300, ON_DEMAND_BURST_S = 1, KEY_BURST_S = 1 };

static int64_t capacity_of(const struct naive_bucket *bucket)
{
    return bucket->units_per_second * 2 * HALF_UNIT * bucket->seconds_of_burst;
}

static struct naive_bucket full_bucket(int64_t units, int64_t burst_s, int64_t now_ms)
{
    struct naive_bucket bucket = { .units_per_second = units,
                                   .seconds_of_burst = burst_s,
                                   .at_ms = now_ms };
    bucket.amount = capacity_of(&bucket);
    return bucket;
}

/* Every millisecond adds a thousandth of a second's units, unless the bucket is full. */
static void wait_until(struct naive_bucket *bucket, int64_t now_ms)
{
    for (; bucket->at_ms < now_ms; bucket->at_ms++) {
        if (bucket->amount >= capacity_of(bucket)) {
            bucket->at_ms = now_ms;
            return;
        }
        bucket->amount += bucket->units_per_second * 2 * HALF_UNIT / 1000;
        if (bucket->amount > capacity_of(bucket))
            bucket->amount = capacity_of(bucket);
    }
}

void naive_start_provisioned(struct naive_limit *limit, int64_t units, int64_t key_units,
                             int64_t now_ms)
{
    limit->on_demand = false;
    limit->has_max = false;
    limit->key_units = key_units;
    limit->key_count = 0;
    limit->second_count = 0;
    limit->main = full_bucket(units, PROVISIONED_BURST_S, now_ms);
}

/* Twice the most that any second of an earlier half hour has used. */
static int64_t level_at(const struct naive_limit *limit, int64_t now_ms)
{
    int64_t most = limit->warm;
    for (size_t i = 0; i < limit->second_count; i++) {
        if (limit->seconds[i] / 1800 < now_ms / 1000 / 1800 && limit->used_half_units[i] > most)
            most = limit->used_half_units[i]; /* Twice the units are the half units. */
    }
    return most;
}

static void follow_level(struct naive_limit *limit, int64_t now_ms)
{
    int64_t span_start_ms = now_ms / 1800000 * 1800000;
    int64_t level = level_at(limit, now_ms);
    if (level > limit->quota)
        level = limit->quota;
    if (level != limit->main.units_per_second) {
        wait_until(&limit->main, span_start_ms);
        limit->main.units_per_second = level;
    }
    wait_until(&limit->main, now_ms);
}

void naive_start_on_demand(struct naive_limit *limit, int64_t warm, int64_t quota, int64_t max,
                           int64_t key_units, int64_t now_ms)
{
    naive_start_provisioned(limit, 0, key_units, now_ms);
    limit->on_demand = true;
    limit->warm = warm;
    limit->quota = quota;
    limit->main = full_bucket(warm < quota ? warm : quota, ON_DEMAND_BURST_S, now_ms);
    limit->has_max = max >= 0;
    if (limit->has_max)
        limit->max = full_bucket(max, ON_DEMAND_BURST_S, now_ms);
}

void naive_provision(struct naive_limit *limit, int64_t units, int64_t now_ms)
{
    wait_until(&limit->main, now_ms);
    limit->on_demand = false;
    limit->has_max = false;
    limit->main.units_per_second = units;
    limit->main.seconds_of_burst = PROVISIONED_BURST_S;
}

void naive_turn_on_demand(struct naive_limit *limit, int64_t warm, int64_t quota, int64_t max,
                          int64_t now_ms)
{
    wait_until(&limit->main, now_ms);
    limit->on_demand = true;
    limit->warm = warm;
    limit->quota = quota;
    limit->main.units_per_second =
        level_at(limit, now_ms) < quota ? level_at(limit, now_ms) : quota;
    limit->main.seconds_of_burst = ON_DEMAND_BURST_S;
    if (max < 0) {
        limit->has_max = false;
    } else if (limit->has_max) {
        wait_until(&limit->max, now_ms);
        limit->max.units_per_second = max;
    } else {
        limit->has_max = true;
        limit->max = full_bucket(max, ON_DEMAND_BURST_S, now_ms);
    }
}

static struct naive_bucket *bucket_of_key(struct naive_limit *limit, uint64_t key)
{
    for (size_t i = 0; i < limit->key_count; i++) {
        if (limit->keys[i] == key)
            return &limit->key_buckets[i];
    }
    return 0;
}

enum naive_reason naive_ask(struct naive_limit *limit, bool has_key, uint64_t key, int64_t pending,
                            int64_t pending_of_key, int64_t now_ms)
{
    if (limit->on_demand) {
        follow_level(limit, now_ms);
        if (limit->has_max) {
            wait_until(&limit->max, now_ms);
            if (limit->max.amount - pending * HALF_UNIT <= 0)
                return NAIVE_MAX;
        }
        if (limit->main.amount - pending * HALF_UNIT <= 0)
            return level_at(limit, now_ms) >= limit->quota ? NAIVE_ACCOUNT : NAIVE_KEY;
    }
    wait_until(&limit->main, now_ms);
    if (limit->main.amount - pending * HALF_UNIT <= 0)
        return NAIVE_PROVISIONED;
    struct naive_bucket *bucket = has_key ? bucket_of_key(limit, key) : 0;
    if (!has_key)
        return NAIVE_ADMITTED;
    if (bucket == 0)
        return pending_of_key * HALF_UNIT < limit->key_units * 2 * HALF_UNIT ? NAIVE_ADMITTED
                                                                             : NAIVE_KEY;
    wait_until(bucket, now_ms);
    return bucket->amount - pending_of_key * HALF_UNIT > 0 ? NAIVE_ADMITTED : NAIVE_KEY;
}

static void remember_second(struct naive_limit *limit, int64_t half_units, int64_t now_ms)
{
    size_t last = limit->second_count;
    if (last > 0 && limit->seconds[last - 1] == now_ms / 1000) {
        limit->used_half_units[last - 1] += half_units;
        return;
    }
    assert(last < NAIVE_SECONDS_MAX);
    limit->seconds[last] = now_ms / 1000;
    limit->used_half_units[last] = half_units;
    limit->second_count++;
}

void naive_use(struct naive_limit *limit, int64_t half_units, int64_t now_ms)
{
    if (half_units == 0)
        return;
    if (limit->on_demand) {
        follow_level(limit, now_ms);
        remember_second(limit, half_units, now_ms);
        if (limit->has_max) {
            wait_until(&limit->max, now_ms);
            limit->max.amount -= half_units * HALF_UNIT;
        }
    }
    wait_until(&limit->main, now_ms);
    limit->main.amount -= half_units * HALF_UNIT;
}

void naive_use_key(struct naive_limit *limit, uint64_t key, int64_t half_units, int64_t now_ms)
{
    if (half_units == 0)
        return;
    struct naive_bucket *bucket = bucket_of_key(limit, key);
    if (bucket == 0) {
        assert(limit->key_count < NAIVE_KEYS_MAX);
        limit->keys[limit->key_count] = key;
        bucket = &limit->key_buckets[limit->key_count++];
        *bucket = full_bucket(limit->key_units, KEY_BURST_S, now_ms);
    }
    wait_until(bucket, now_ms);
    bucket->amount -= half_units * HALF_UNIT;
}
