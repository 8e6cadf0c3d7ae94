/* naive_capacity.h -- a second model of what tables admit, as plain as possible.
 *
 * Written from the service's rules, not from src/capacity: it steps through every millisecond,
 * remembers every key and every second, and forgets nothing. Tests compare the two.
 */
#ifndef STATOR_TEST_NAIVE_CAPACITY_H
#define STATOR_TEST_NAIVE_CAPACITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Amounts are thousandths of half a unit. */
struct naive_bucket {
    int64_t amount;
    int64_t units_per_second;
    int64_t seconds_of_burst;
    int64_t at_ms;
};

enum { NAIVE_KEYS_MAX = 4096, NAIVE_SECONDS_MAX = 1 << 16 };

/* One direction of a table or index. */
struct naive_limit {
    bool on_demand;
    int64_t warm;
    int64_t quota;
    bool has_max;
    struct naive_bucket main;
    struct naive_bucket max;
    int64_t key_units;
    size_t key_count;
    uint64_t keys[NAIVE_KEYS_MAX];
    struct naive_bucket key_buckets[NAIVE_KEYS_MAX];
    size_t second_count; /* On demand: seconds in which something was used, in order. */
    int64_t seconds[NAIVE_SECONDS_MAX];
    int64_t used_half_units[NAIVE_SECONDS_MAX];
};

/* Why something is refused: NAIVE_ADMITTED or one of the service's reasons. */
enum naive_reason { NAIVE_ADMITTED, NAIVE_PROVISIONED, NAIVE_KEY, NAIVE_MAX, NAIVE_ACCOUNT };

/* `max` -1: none. */
void naive_start_provisioned(struct naive_limit *limit, int64_t units, int64_t key_units,
                             int64_t now_ms);
void naive_start_on_demand(struct naive_limit *limit, int64_t warm, int64_t quota, int64_t max,
                           int64_t key_units, int64_t now_ms);
/* Changes of a table in use. */
void naive_provision(struct naive_limit *limit, int64_t units, int64_t now_ms);
void naive_turn_on_demand(struct naive_limit *limit, int64_t warm, int64_t quota, int64_t max,
                          int64_t now_ms);

/* `pending` half units were used by the same request, of which `pending_of_key` by the key. */
enum naive_reason naive_ask(struct naive_limit *limit, bool has_key, uint64_t key, int64_t pending,
                            int64_t pending_of_key, int64_t now_ms);
void naive_use(struct naive_limit *limit, int64_t half_units, int64_t now_ms);
void naive_use_key(struct naive_limit *limit, uint64_t key, int64_t half_units, int64_t now_ms);

#endif
