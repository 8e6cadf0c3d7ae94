/* simulation.c -- see simulation.h. */
#include "scaling/simulation.h"
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include "capacity/limiter.h"
#include "scaling/scaling_decide.h"

enum {
    MINUTE_S = 60,
    MINUTE_MS = 60 * 1000,
    HOUR_MS = 3600 * 1000,
    MINUTES_PER_DAY = 24 * 60,
    BURST_S = LIMITER_BURST_MS / 1000,
};

/* The first known minute at or after `from`; `count`: there is none. */
static size_t next_known(const struct simulation_load *load, size_t from)
{
    while (load->is_known != NULL && from < load->count && !load->is_known[from])
        from++;
    return from;
}

/* --- Provisioned --- */

/* A table with a bucket, which starts full. */
struct provision {
    int64_t capacity;
    double balance;
    struct simulation_result result;
};

static struct provision provision_of(int64_t capacity)
{
    assert(capacity > 0);
    return (struct provision){ .capacity = capacity,
                               .balance = (double)capacity * BURST_S,
                               .result = { .capacity_max = capacity } };
}

static void count_served(struct simulation_result *result, double wanted, double served)
{
    result->served_units += served;
    if (wanted > served) {
        result->throttled_units += wanted - served;
        result->throttled_minutes++;
    }
}

/* One minute; returns what was served. A balance that was saved up at a higher capacity is used up,
 * and not refilled before. */
static double serve(struct provision *provision, double wanted)
{
    double full = (double)provision->capacity * BURST_S;
    double available = provision->balance + (double)provision->capacity * MINUTE_S;
    double served = fmin(wanted, available);
    provision->balance = fmin(available - served, fmax(full, provision->balance - served));
    provision->result.unit_minutes += (double)provision->capacity;
    count_served(&provision->result, wanted, served);
    return served;
}

struct simulation_result simulation_provisioned(const struct simulation_load *load,
                                                int64_t capacity)
{
    struct provision provision = provision_of(capacity);
    for (size_t i = next_known(load, 0); i < load->count; i = next_known(load, i + 1))
        serve(&provision, load->units[i]);
    return provision.result;
}

static double highest_minute(const struct simulation_load *load)
{
    double highest = 0;
    for (size_t i = next_known(load, 0); i < load->count; i = next_known(load, i + 1))
        highest = fmax(highest, load->units[i]);
    return highest;
}

int64_t simulation_least_capacity(const struct simulation_load *load)
{
    int64_t low = 1, high = (int64_t)ceil(highest_minute(load) / MINUTE_S);
    while (low < high) { /* `high` throttles nothing. */
        int64_t middle = low + (high - low) / 2;
        if (simulation_provisioned(load, middle).throttled_minutes == 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* --- Auto scaled --- */

/* Decreases of one table: the service allows some in a UTC day, and then one an hour. */
struct decreases {
    int64_t day;
    int64_t today;
    int64_t last_ms;
};

static bool take_decrease(struct decreases *decreases, int64_t now_ms)
{
    int64_t day = now_ms / MINUTE_MS / MINUTES_PER_DAY;
    if (day != decreases->day)
        decreases->today = 0;
    if (decreases->today >= SIMULATION_DECREASES_FREE && now_ms - decreases->last_ms < HOUR_MS)
        return false;
    *decreases = (struct decreases){ .day = day, .today = decreases->today + 1, .last_ms = now_ms };
    return true;
}

struct scaled {
    struct provision provision;
    struct scaling_target target;
    struct scaling_policy policy;
    struct decreases decreases;
    /* The last minutes, as the alarms see them, the newest first. */
    double served[SIMULATION_LOW_MINUTES];
    size_t served_count;
};

static void note_served(struct scaled *scaled, double served)
{
    for (size_t i = SIMULATION_LOW_MINUTES - 1; i > 0; i--)
        scaled->served[i] = scaled->served[i - 1];
    scaled->served[0] = served;
    if (scaled->served_count < SIMULATION_LOW_MINUTES)
        scaled->served_count++;
}

/* Thresholds in the arithmetic of the alarms of a policy. */
static double threshold(const struct scaled *scaled, double percent)
{
    return (double)scaled->provision.capacity * MINUTE_S * (percent / 100);
}

static bool is_high(const struct scaled *scaled)
{
    double limit = threshold(scaled, scaled->policy.target_value.value);
    bool all = scaled->served_count >= SIMULATION_HIGH_MINUTES;
    for (size_t i = 0; i < SIMULATION_HIGH_MINUTES && all; i++)
        all = scaled->served[i] > limit;
    return all;
}

static bool is_low(const struct scaled *scaled)
{
    double limit = threshold(scaled, scaled->policy.target_value.value - SIMULATION_LOW_GAP);
    bool all = scaled->served_count >= SIMULATION_LOW_MINUTES;
    for (size_t i = 0; i < SIMULATION_LOW_MINUTES && all; i++)
        all = scaled->served[i] < limit;
    return all;
}

static void set_capacity(struct scaled *scaled, int64_t capacity, int64_t now_ms)
{
    struct simulation_result *result = &scaled->provision.result;
    struct shape_integer now = { .present = true, .value = now_ms };
    if (capacity > scaled->provision.capacity) {
        result->increases++;
        scaled->policy.last_out_ms = now;
    } else if (take_decrease(&scaled->decreases, now_ms)) {
        result->decreases++;
        scaled->policy.last_in_ms = now;
    } else {
        result->refused_decreases++;
        return;
    }
    scaled->provision.capacity = capacity;
    if (capacity > result->capacity_max)
        result->capacity_max = capacity;
}

static void end_minute(struct scaled *scaled, int64_t now_ms)
{
    int64_t wanted;
    const struct scaling_situation situation = {
        .target = &scaled->target,
        .policy = &scaled->policy,
        .capacity = scaled->provision.capacity,
        .consumed_units_s = scaled->served[0] / MINUTE_S,
        .is_high = is_high(scaled),
        .is_low = is_low(scaled),
        .now_ms = now_ms,
    };
    if (scaling_decide(&situation, &wanted) == SCALING_SET)
        set_capacity(scaled, wanted, now_ms);
}

static struct shape_integer integer(int64_t value)
{
    return (struct shape_integer){ .present = true, .value = value };
}

static int64_t first_capacity(const struct simulation_load *load,
                              const struct simulation_policy *policy)
{
    size_t first = next_known(load, 0);
    double units_s = first == load->count ? 0 : load->units[first] / MINUTE_S;
    double wanted = policy->first_capacity > 0 ? (double)policy->first_capacity
                                               : ceil(units_s / (policy->target_percent / 100));
    wanted = fmin(fmax(wanted, (double)policy->min), (double)policy->max);
    return (int64_t)wanted;
}

struct simulation_result simulation_scaled(const struct simulation_load *load,
                                           const struct simulation_policy *policy)
{
    assert(policy->min > 0 && policy->max >= policy->min && policy->target_percent > 0);
    struct scaled scaled = {
        .provision = provision_of(first_capacity(load, policy)),
        .target = { .min = integer(policy->min), .max = integer(policy->max) },
        .policy = { .target_value = { .present = true, .value = policy->target_percent },
                    .out_cooldown_s = integer(policy->out_cooldown_s),
                    .in_cooldown_s = integer(policy->in_cooldown_s) },
    };
    for (size_t i = next_known(load, 0); i < load->count; i = next_known(load, i + 1)) {
        note_served(&scaled, serve(&scaled.provision, load->units[i]));
        end_minute(&scaled, (load->first_minute + (int64_t)i + 1) * MINUTE_MS);
    }
    return scaled.provision.result;
}

/* --- On demand --- */

struct simulation_result simulation_on_demand(const struct simulation_load *load,
                                              int64_t initial_units_s, int64_t quota_units_s)
{
    struct simulation_result result = { 0 };
    double peak = 0, span_peak = 0;
    int64_t span = load->first_minute / SIMULATION_SPAN_MINUTES;
    for (size_t i = next_known(load, 0); i < load->count; i = next_known(load, i + 1)) {
        int64_t now_span = (load->first_minute + (int64_t)i) / SIMULATION_SPAN_MINUTES;
        if (now_span != span) {
            peak = fmax(peak, span_peak);
            span_peak = 0;
            span = now_span;
        }
        double level = fmax((double)initial_units_s, 2 * peak);
        double most = fmin(level, (double)quota_units_s) * MINUTE_S;
        double served = fmin(load->units[i], most);
        span_peak = fmax(span_peak, served / MINUTE_S);
        count_served(&result, load->units[i], served);
    }
    return result;
}
