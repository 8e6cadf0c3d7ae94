/* simulation.h -- what a table or index would have served and throttled in another mode. Pure.
 *
 * Input are the units that were consumed in each minute, reads or writes; a minute counts as even
 * load. What a mode does not serve counts as throttled and does not come again: how clients would
 * have retried is not known.
 *
 * - Provisioned: a bucket that holds 300 seconds of the capacity, as capacity/limiter.h has it.
 * - Auto scaled: the same, with a capacity that scaling_decide.h changes at the end of a minute:
 *   out after two minutes above the target, in after fifteen minutes 20 percent below it, and as
 *   often as decreases are allowed in a UTC day.
 * - On demand: at once what a new table serves, or twice the highest minute of any earlier half
 *   hour if that is more, up to the quota of a table.
 */
#ifndef STATOR_SCALING_SIMULATION_H
#define STATOR_SCALING_SIMULATION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIMULATION_DECREASES_FREE = 4, /* In a UTC day; then one an hour. */
    SIMULATION_HIGH_MINUTES = 2,
    SIMULATION_LOW_MINUTES = 15,
    SIMULATION_LOW_GAP = 20, /* Percent. */
    SIMULATION_SPAN_MINUTES = 30,
};

struct simulation_load {
    const double *units;  /* In each minute. */
    const bool *is_known; /* Which minutes have a sample; NULL: all. */
    size_t count;         /* Of minutes. */
    int64_t first_minute; /* Since 1970: says when UTC days begin. */
};

struct simulation_result {
    double unit_minutes; /* Capacity, summed up over the known minutes; 0 on demand. */
    double served_units;
    double throttled_units;
    size_t throttled_minutes;
    int64_t capacity_max; /* The highest at any time; 0 on demand. */
    size_t increases;
    size_t decreases;
    size_t refused_decreases; /* Minutes in which one was due and not allowed. */
};

struct simulation_result simulation_provisioned(const struct simulation_load *load,
                                                int64_t capacity);
/* The least capacity, at least 1, that throttles nothing. */
int64_t simulation_least_capacity(const struct simulation_load *load);

struct simulation_policy {
    int64_t min, max;
    double target_percent;
    int64_t first_capacity; /* 0: what the first minute needs. */
    int64_t out_cooldown_s, in_cooldown_s;
};
struct simulation_result simulation_scaled(const struct simulation_load *load,
                                           const struct simulation_policy *policy);

struct simulation_result simulation_on_demand(const struct simulation_load *load,
                                              int64_t initial_units_s, int64_t quota_units_s);

#endif
