/* token_bucket.c -- see token_bucket.h. */
#include "capacity/token_bucket.h"
#include <assert.h>
#include <stdatomic.h>

static_assert(TOKEN_BUCKET_RATE_MAX * TOKENS_PER_UNIT_AND_MS * TOKEN_BUCKET_BURST_MS_MAX <
                  INT64_MAX / 4,
              "a full bucket, and a refill of as much, fit");

static int64_t bounded_rate(int64_t rate)
{
    assert(rate >= 0);
    return rate < TOKEN_BUCKET_RATE_MAX ? rate : TOKEN_BUCKET_RATE_MAX;
}

static int64_t full(int64_t rate, int64_t burst_ms)
{
    return rate * TOKENS_PER_UNIT_AND_MS * burst_ms;
}

void token_bucket_init(struct token_bucket *bucket, int64_t rate, int64_t burst_ms, int64_t now_ms)
{
    assert(burst_ms >= 0 && burst_ms <= TOKEN_BUCKET_BURST_MS_MAX);
    rate = bounded_rate(rate);
    atomic_store_explicit(&bucket->balance, full(rate, burst_ms), memory_order_relaxed);
    atomic_store_explicit(&bucket->filled_ms, now_ms, memory_order_relaxed);
    atomic_store_explicit(&bucket->rate, rate, memory_order_relaxed);
    atomic_store_explicit(&bucket->burst_ms, burst_ms, memory_order_relaxed);
}

/* The balance after a refill. A balance above `most` was kept from a higher rate. */
static int64_t refilled(int64_t balance, int64_t rate, int64_t elapsed_ms, int64_t most)
{
    int64_t gain;
    if (balance >= most)
        return balance;
    if (__builtin_mul_overflow(rate * TOKENS_PER_UNIT_AND_MS, elapsed_ms, &gain) ||
        gain >= most - balance)
        return most;
    return balance + gain;
}

/* One thread gets each span of time, and adds what it gives. */
static void refill(struct token_bucket *bucket, int64_t now_ms)
{
    int64_t from_ms = atomic_load_explicit(&bucket->filled_ms, memory_order_relaxed);
    if (now_ms <= from_ms || !atomic_compare_exchange_strong(&bucket->filled_ms, &from_ms, now_ms))
        return;
    int64_t rate = atomic_load_explicit(&bucket->rate, memory_order_relaxed);
    int64_t most = full(rate, atomic_load_explicit(&bucket->burst_ms, memory_order_relaxed));
    int64_t balance = atomic_load_explicit(&bucket->balance, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&bucket->balance, &balance,
                                         refilled(balance, rate, now_ms - from_ms, most)))
        ; /* Another thread has charged. */
}

void token_bucket_set_rate(struct token_bucket *bucket, int64_t rate, int64_t burst_ms,
                           int64_t from_ms)
{
    assert(burst_ms >= 0 && burst_ms <= TOKEN_BUCKET_BURST_MS_MAX);
    refill(bucket, from_ms);
    atomic_store_explicit(&bucket->rate, bounded_rate(rate), memory_order_relaxed);
    atomic_store_explicit(&bucket->burst_ms, burst_ms, memory_order_relaxed);
}

bool token_bucket_has_rate(const struct token_bucket *bucket, int64_t rate, int64_t burst_ms)
{
    return atomic_load_explicit(&bucket->rate, memory_order_relaxed) == bounded_rate(rate) &&
           atomic_load_explicit(&bucket->burst_ms, memory_order_relaxed) == burst_ms;
}

int64_t token_bucket_balance(struct token_bucket *bucket, int64_t now_ms)
{
    refill(bucket, now_ms);
    return atomic_load_explicit(&bucket->balance, memory_order_relaxed);
}

void token_bucket_charge(struct token_bucket *bucket, int64_t half_units, int64_t now_ms)
{
    assert(half_units >= 0);
    refill(bucket, now_ms);
    atomic_fetch_sub_explicit(&bucket->balance, half_units * TOKENS_PER_HALF_UNIT,
                              memory_order_relaxed);
}
