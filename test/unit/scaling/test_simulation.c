/* Modes of capacity, simulated: against a naive model that keeps all history, against the real
 * bucket, and by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/random.h"
#include "capacity/token_bucket.h"
#include "scaling/simulation.h"

enum { DAY = 24 * 60, MINUTES = 3 * DAY, FIRST_MINUTE = 29000000 };

static struct simulation_load load_of(const double *units, size_t count)
{
    return (struct simulation_load){ .units = units, .count = count, .first_minute = FIRST_MINUTE };
}

/* --- The naive model: everything is looked up in the whole history --- */

struct naive {
    const struct simulation_policy *policy;
    int64_t capacity[MINUTES + 1]; /* In each minute. */
    double served[MINUTES];
    int64_t changed_at[MINUTES]; /* Minutes after whose end it changed; */
    int change[MINUTES];         /* 1: out, -1: in. */
    size_t changes;
    struct simulation_result result;
};

static bool were_all(const struct naive *naive, size_t minute, size_t wanted, double limit,
                     bool above)
{
    if (minute + 1 < wanted)
        return false;
    for (size_t i = 0; i < wanted; i++) {
        double served = naive->served[minute - i];
        if (above ? !(served > limit) : !(served < limit))
            return false;
    }
    return true;
}

static bool may_decrease(const struct naive *naive, int64_t end_minute)
{
    int today = 0;
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < naive->changes; i++) {
        if (naive->change[i] < 0 && naive->changed_at[i] / DAY == end_minute / DAY) {
            today++;
            last = naive->changed_at[i];
        }
    }
    return today < 4 || end_minute - last >= 60;
}

static bool is_cooling(const struct naive *naive, int64_t end_minute, int change,
                       int64_t cooldown_s)
{
    for (size_t i = 0; i < naive->changes; i++) {
        if (naive->change[i] == change && (end_minute - naive->changed_at[i]) * 60 < cooldown_s)
            return true;
    }
    return false;
}

static void naive_decide(struct naive *naive, size_t minute)
{
    const struct simulation_policy *policy = naive->policy;
    int64_t now = naive->capacity[minute], next = now;
    int64_t end = FIRST_MINUTE + (int64_t)minute + 1;
    double share = policy->target_percent / 100;
    int64_t wanted = (int64_t)ceil(naive->served[minute] / 60 / share);
    wanted = wanted < policy->min ? policy->min : wanted > policy->max ? policy->max : wanted;
    bool high = were_all(naive, minute, 2, (double)now * 60 * share, true);
    bool low = were_all(naive, minute, 15, (double)now * 60 * ((policy->target_percent - 20) / 100),
                        false);
    if (high && wanted > now && !is_cooling(naive, end, 1, policy->out_cooldown_s)) {
        next = wanted;
        naive->result.increases++;
    } else if (!high && low && wanted < now && !is_cooling(naive, end, -1, policy->in_cooldown_s) &&
               !is_cooling(naive, end, 1, policy->in_cooldown_s)) {
        if (may_decrease(naive, end)) {
            next = wanted;
            naive->result.decreases++;
        } else {
            naive->result.refused_decreases++;
        }
    }
    naive->capacity[minute + 1] = next;
    if (next != now) {
        naive->changed_at[naive->changes] = end;
        naive->change[naive->changes++] = next > now ? 1 : -1;
    }
}

static void naive_run(struct naive *naive, const struct simulation_load *load)
{
    double saved = (double)naive->capacity[0] * 300;
    for (size_t i = 0; i < load->count; i++) {
        double capacity = (double)naive->capacity[i];
        double most = saved + capacity * 60;
        double served = load->units[i] < most ? load->units[i] : most;
        double left = most - served;
        if (left > capacity * 300) /* The rest is lost, unless it was saved before. */
            left = saved - served > capacity * 300 ? saved - served : capacity * 300;
        saved = left;
        naive->served[i] = served;
        naive->result.unit_minutes += capacity;
        naive->result.served_units += served;
        naive->result.throttled_units += load->units[i] - served;
        naive->result.throttled_minutes += load->units[i] > served;
        naive_decide(naive, i);
        if (naive->capacity[i] > naive->result.capacity_max)
            naive->result.capacity_max = naive->capacity[i];
    }
}

/* A load that jumps, decays and pauses. */
static void fill_random(struct random *random, double *units, size_t count)
{
    double level = 100;
    for (size_t i = 0; i < count; i++) {
        uint64_t dice = random_next(random) % 200;
        if (dice == 0)
            level = (double)(random_next(random) % 100000);
        else if (dice == 1)
            level = 0;
        else if (dice < 20)
            level *= 0.7;
        units[i] = floor(level * (0.9 + 0.2 * (double)(random_next(random) % 100) / 100)) / 2;
    }
}

static void scaling_is_that_of_the_naive_model(void **state)
{
    (void)state;
    static double units[MINUTES];
    static struct naive naive;
    size_t changes = 0, refused = 0, throttled = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct random random;
        random_init(&random, seed);
        fill_random(&random, units, MINUTES);
        const struct simulation_load load = load_of(units, MINUTES);
        const struct simulation_policy policy = {
            .min = 1 + (int64_t)(random_next(&random) % 20),
            .max = 30 + (int64_t)(random_next(&random) % 2000),
            .target_percent = 20 + (double)(random_next(&random) % 71),
            .first_capacity = 25,
            .out_cooldown_s = seed % 3 == 0 ? (int64_t)(random_next(&random) % 600) : 0,
            .in_cooldown_s = seed % 4 == 0 ? (int64_t)(random_next(&random) % 3600) : 0,
        };
        struct simulation_result result = simulation_scaled(&load, &policy);
        naive = (struct naive){ .policy = &policy, .capacity = { 25 } };
        naive_run(&naive, &load);
        if (naive.capacity[MINUTES] > naive.result.capacity_max)
            naive.result.capacity_max = naive.capacity[MINUTES];
        assert_true(result.unit_minutes == naive.result.unit_minutes);
        assert_true(result.served_units == naive.result.served_units);
        assert_true(fabs(result.throttled_units - naive.result.throttled_units) < 1e-3);
        assert_int_equal(result.throttled_minutes, naive.result.throttled_minutes);
        assert_int_equal(result.increases, naive.result.increases);
        assert_int_equal(result.decreases, naive.result.decreases);
        assert_int_equal(result.refused_decreases, naive.result.refused_decreases);
        assert_int_equal(result.capacity_max, naive.result.capacity_max);
        changes += naive.changes;
        refused += naive.result.refused_decreases;
        throttled += naive.result.throttled_minutes;
    }
    assert_true(changes > 1000 && refused > 100 && throttled > 1000); /* All of it was tried. */
}

/* What the buckets of enforced tables admit, second by second, differs by what a minute hides. */
static void provisioned_capacity_serves_as_the_bucket_does(void **state)
{
    (void)state;
    static double units[DAY];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct random random;
        struct token_bucket bucket;
        int64_t capacity = 1 + (int64_t)(seed * 37 % 400), served = 0;
        random_init(&random, seed);
        fill_random(&random, units, DAY);
        token_bucket_init(&bucket, capacity, 300 * 1000, 0);
        for (int64_t second = 0; second < DAY * 60; second++) {
            int64_t wanted = (int64_t)(2 * units[second / 60] / 60); /* Half units. */
            int64_t has = token_bucket_balance(&bucket, second * 1000) / TOKENS_PER_HALF_UNIT;
            int64_t got = wanted < has ? wanted : has;
            token_bucket_charge(&bucket, got, second * 1000);
            served += got;
        }
        const struct simulation_load load = load_of(units, DAY);
        struct simulation_result result = simulation_provisioned(&load, capacity);
        double real = (double)served / 2;
        double rounding = DAY * 30; /* Half a unit in each second. */
        assert_true(fabs(result.served_units - real) <= rounding + 0.01 * real);
        assert_true(result.unit_minutes == (double)capacity * DAY);
    }
}

static void the_least_capacity_throttles_nothing_and_one_less_does(void **state)
{
    (void)state;
    static double units[DAY];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct random random;
        random_init(&random, seed);
        fill_random(&random, units, DAY);
        const struct simulation_load load = load_of(units, DAY);
        int64_t least = simulation_least_capacity(&load);
        assert_int_equal(simulation_provisioned(&load, least).throttled_minutes, 0);
        if (least > 1)
            assert_true(simulation_provisioned(&load, least - 1).throttled_units > 0);
    }
    const struct simulation_load nothing = load_of(units, 0);
    assert_int_equal(simulation_least_capacity(&nothing), 1);
}

/* Ten idle minutes save up 300 units, of which a minute of 360 uses all. */
static void burst_covers_five_minutes_of_capacity(void **state)
{
    (void)state;
    double units[] = { 0, 0, 360, 61, 60 };
    const struct simulation_load load = load_of(units, 5);
    struct simulation_result result = simulation_provisioned(&load, 1);
    assert_true(result.throttled_units == 1);
    assert_int_equal(result.throttled_minutes, 1);
    assert_true(result.served_units == 480);
}

/* The service's example: 150 units per second of 200, at 70 percent, become 215. */
static void a_load_above_the_target_scales_out_after_two_minutes(void **state)
{
    (void)state;
    double units[10];
    for (size_t i = 0; i < 10; i++)
        units[i] = 150 * 60;
    const struct simulation_load load = load_of(units, 10);
    const struct simulation_policy policy = {
        .min = 1, .max = 1000, .target_percent = 70, .first_capacity = 200
    };
    struct simulation_result result = simulation_scaled(&load, &policy);
    assert_true(result.unit_minutes == 2 * 200 + 8 * 215);
    assert_int_equal(result.increases, 1);
    assert_int_equal(result.capacity_max, 215);
}

static void an_idle_table_scales_in_after_fifteen_minutes(void **state)
{
    (void)state;
    double units[20] = { 0 };
    const struct simulation_load load = load_of(units, 20);
    const struct simulation_policy policy = {
        .min = 5, .max = 1000, .target_percent = 70, .first_capacity = 100
    };
    struct simulation_result result = simulation_scaled(&load, &policy);
    assert_true(result.unit_minutes == 15 * 100 + 5 * 5);
    assert_int_equal(result.decreases, 1);
}

static void on_demand_doubles_with_each_half_hour(void **state)
{
    (void)state;
    double units[90];
    for (size_t i = 0; i < 90; i++)
        units[i] = 20000.0 * 60;
    struct simulation_load load = load_of(units, 90);
    load.first_minute = 30 * 1000;
    struct simulation_result result = simulation_on_demand(&load, 4000, 40000);
    assert_true(result.served_units == 30 * 60 * (4000.0 + 8000 + 16000));
    assert_int_equal(result.throttled_minutes, 90);
    assert_true(result.unit_minutes == 0);
    result = simulation_on_demand(&load, 40000, 10000); /* The quota holds. */
    assert_true(result.served_units == 90 * 60 * 10000.0);
}

/* Minutes without a sample change nothing: neither costs nor throttles. */
static void unknown_minutes_are_left_out(void **state)
{
    (void)state;
    double units[60] = { 0 }, known_units[30];
    bool is_known[60];
    size_t count = 0;
    for (size_t i = 0; i < 60; i++) {
        is_known[i] = i % 4 >= 2;
        if (is_known[i])
            known_units[count++] = units[i] = (double)(i * 60);
    }
    struct simulation_load gaps = load_of(units, 60), close = load_of(known_units, count);
    gaps.is_known = is_known;
    gaps.first_minute = close.first_minute = DAY * 1000; /* Spans of half hours hold both. */
    const struct simulation_policy policy = { .min = 1, .max = 1000, .target_percent = 70 };
    struct simulation_result results[][2] = {
        { simulation_provisioned(&gaps, 25), simulation_provisioned(&close, 25) },
        { simulation_scaled(&gaps, &policy), simulation_scaled(&close, &policy) },
        { simulation_on_demand(&gaps, 100, 1000), simulation_on_demand(&close, 100, 1000) },
    };
    for (size_t i = 0; i < 3; i++) {
        assert_true(results[i][0].served_units == results[i][1].served_units);
        assert_true(results[i][0].throttled_units == results[i][1].throttled_units);
        assert_true(results[i][0].unit_minutes == results[i][1].unit_minutes);
        assert_int_equal(results[i][0].throttled_minutes, results[i][1].throttled_minutes);
    }
    assert_true(results[0][0].unit_minutes == 25 * 30);
    assert_true(results[0][0].throttled_units > 0);
    assert_int_equal(simulation_least_capacity(&gaps), simulation_least_capacity(&close));
}

/* Decreases are counted in days of the calendar, whatever is known of them. */
static void a_day_without_samples_is_a_day_for_decreases(void **state)
{
    (void)state;
    double units[3 * DAY] = { 0 };
    bool is_known[3 * DAY] = { false };
    const struct simulation_policy policy = { .min = 1, .max = 1000, .target_percent = 70 };
    struct simulation_load load = load_of(units, 3 * DAY);
    load.is_known = is_known;
    load.first_minute = DAY * 1000;
    for (size_t day = 0; day < 3; day += 2) {
        for (size_t i = 0; i < 100; i++) { /* Five times up and down. */
            is_known[day * DAY + i] = true;
            units[day * DAY + i] = i % 20 < 3 ? 100 * 60 : 0;
        }
    }
    struct simulation_result result = simulation_scaled(&load, &policy);
    assert_int_equal(result.decreases, 2 * SIMULATION_DECREASES_FREE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling_is_that_of_the_naive_model),
        cmocka_unit_test(provisioned_capacity_serves_as_the_bucket_does),
        cmocka_unit_test(the_least_capacity_throttles_nothing_and_one_less_does),
        cmocka_unit_test(burst_covers_five_minutes_of_capacity),
        cmocka_unit_test(a_load_above_the_target_scales_out_after_two_minutes),
        cmocka_unit_test(an_idle_table_scales_in_after_fifteen_minutes),
        cmocka_unit_test(on_demand_doubles_with_each_half_hour),
        cmocka_unit_test(unknown_minutes_are_left_out),
        cmocka_unit_test(a_day_without_samples_is_a_day_for_decreases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
