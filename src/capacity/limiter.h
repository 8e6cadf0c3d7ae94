/* limiter.h -- the limits of a table and of its global indexes, and the decision what they admit.
 *
 * Each resource (the table, a global index) has limits in each direction (reads, writes):
 *
 * - provisioned mode: a bucket of the provisioned units, with LIMITER_BURST_MS of burst;
 * - on-demand mode: a bucket of what the resource serves at once (demand_level.h, at least its warm
 *   throughput, at most the quota of a table), and one of its maximum if it has one, both with
 *   LIMITER_ON_DEMAND_BURST_MS of burst;
 * - in both modes the limit of each partition key (key_ranges.h).
 *
 * A switch between the modes keeps the balance: what was saved up in the old mode is used up first.
 *
 * A limiter belongs to the runtime of a table and is shared by all its versions. Any thread may ask
 * and charge, and nobody waits; limiter_configure runs on one thread at a time. The time is server
 * time, passed in.
 */
#ifndef STATOR_CAPACITY_LIMITER_H
#define STATOR_CAPACITY_LIMITER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limiter;

enum {
    LIMITER_BURST_MS = 300 * 1000,
    LIMITER_ON_DEMAND_BURST_MS = 1000,
    /* A table, its global indexes, and some that were deleted lately. */
    LIMITER_RESOURCES_MAX = 26,
    LIMITER_NO_MAX = -1,
};

enum limiter_direction { LIMITER_READ, LIMITER_WRITE, LIMITER_DIRECTIONS };

/* The limits of a resource, in units per second. */
struct limiter_rates {
    uint64_t id; /* Of the table or index; not 0. */
    bool on_demand;
    int64_t provisioned[LIMITER_DIRECTIONS];
    int64_t warm[LIMITER_DIRECTIONS];
    int64_t max[LIMITER_DIRECTIONS];   /* On demand; LIMITER_NO_MAX: none. */
    int64_t quota[LIMITER_DIRECTIONS]; /* Of any table, on demand. */
};

struct limiter *limiter_create(void);
void limiter_destroy(struct limiter *limiter); /* NULL is allowed. */
/* Sets the limits of all resources from now on. A new one starts with full buckets; what is not
 * listed any more is not limited. At most LIMITER_RESOURCES_MAX. */
void limiter_configure(struct limiter *limiter, const struct limiter_rates *rates, size_t count,
                       int64_t now_ms);

/* Which limit refuses; named as the reasons of the service. */
enum limiter_limit {
    LIMITER_ADMITS,
    LIMITER_PROVISIONED,
    LIMITER_KEY_RANGE,
    LIMITER_MAX_ON_DEMAND,
    LIMITER_ACCOUNT,
};

struct limiter_question {
    uint64_t id; /* One that is not known is not limited. */
    enum limiter_direction direction;
    bool has_key;
    uint64_t key; /* The hash of the partition key. */
    /* What the request has used of the resource, and of the key, and was not charged yet. */
    int64_t pending_half_units;
    int64_t pending_key_half_units;
    int64_t now_ms;
};
struct limiter_answer {
    enum limiter_limit limit;
    bool on_demand; /* The mode of the resource. */
};
struct limiter_answer limiter_ask(struct limiter *limiter, const struct limiter_question *question);

/* Takes what a request has cost. */
void limiter_charge(struct limiter *limiter, uint64_t id, enum limiter_direction direction,
                    int64_t half_units, int64_t now_ms);
/* Takes the part of it that one key has cost, in addition, from that key's own limit. */
void limiter_charge_key(struct limiter *limiter, uint64_t id, enum limiter_direction direction,
                        uint64_t key, int64_t half_units, int64_t now_ms);

#endif
