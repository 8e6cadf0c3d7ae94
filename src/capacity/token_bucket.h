/* token_bucket.h -- capacity that refills with time: the admission rule of one limit.
 *
 * A bucket holds at most what its rate gives in its burst time, and starts full. Work is admitted
 * while the balance is positive, whatever it will cost; the cost is charged when it is known, so a
 * balance may become negative and has to be refilled before anything else is admitted.
 *
 * All arithmetic is exact: a token is a thousandth of half a unit, so a rate of one unit per second
 * gives two tokens in each millisecond.
 *
 * Any thread may use a bucket at any time; nobody waits. Threads that refill and charge at the same
 * moment may see a balance that lacks what another one is just adding. The error is as large as
 * that refill and gone with it.
 */
#ifndef STATOR_CAPACITY_TOKEN_BUCKET_H
#define STATOR_CAPACITY_TOKEN_BUCKET_H
#include <stdbool.h>
#include <stdint.h>

enum { TOKENS_PER_HALF_UNIT = 1000, TOKENS_PER_UNIT_AND_MS = 2 };
/* A higher rate is the same as this one, and a burst must not be longer. */
#define TOKEN_BUCKET_RATE_MAX INT64_C(1000000000)
#define TOKEN_BUCKET_BURST_MS_MAX INT64_C(1000000)

struct token_bucket {
    _Atomic int64_t balance;   /* In tokens. */
    _Atomic int64_t filled_ms; /* Until when it was refilled. */
    _Atomic int64_t rate;      /* In units per second. */
    _Atomic int64_t burst_ms;
};

/* Full. */
void token_bucket_init(struct token_bucket *bucket, int64_t rate, int64_t burst_ms, int64_t now_ms);
/* Refills at the old rate until `from_ms` and at the new one from then on. What is there stays,
 * even if it is more than the bucket will ever be refilled to. */
void token_bucket_set_rate(struct token_bucket *bucket, int64_t rate, int64_t burst_ms,
                           int64_t from_ms);
/* Whether it has this rate and burst. */
bool token_bucket_has_rate(const struct token_bucket *bucket, int64_t rate, int64_t burst_ms);
/* In tokens. A time before that of an earlier call refills nothing. */
int64_t token_bucket_balance(struct token_bucket *bucket, int64_t now_ms);
void token_bucket_charge(struct token_bucket *bucket, int64_t half_units, int64_t now_ms);

#endif
