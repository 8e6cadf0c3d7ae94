/* Limits of tables: the rules one by one, then random work against a naive model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/memory.h"
#include "base/random.h"
#include "capacity/demand_level.h"
#include "capacity/key_ranges.h"
#include "capacity/limiter.h"
#include "capacity/token_bucket.h"
#include "naive_capacity.h"

enum { START_MS = 7200000, QUOTA = 40000 };

static struct limiter *create(struct limiter_rates rates)
{
    struct limiter *limiter = limiter_create();
    limiter_configure(limiter, &rates, 1, START_MS);
    return limiter;
}

static struct limiter_rates provisioned(int64_t units)
{
    return (struct limiter_rates){ .id = 1,
                                   .provisioned = { units, units },
                                   .warm = { units, units },
                                   .max = { LIMITER_NO_MAX, LIMITER_NO_MAX },
                                   .quota = { QUOTA, QUOTA } };
}

static struct limiter_rates on_demand(int64_t warm, int64_t max)
{
    return (struct limiter_rates){ .id = 1,
                                   .on_demand = true,
                                   .warm = { warm, warm },
                                   .max = { max, max },
                                   .quota = { QUOTA, QUOTA } };
}

static enum limiter_limit ask(struct limiter *limiter, int64_t now_ms)
{
    return limiter_ask(
               limiter,
               &(struct limiter_question){ .id = 1, .direction = LIMITER_WRITE, .now_ms = now_ms })
        .limit;
}

static enum limiter_limit ask_key(struct limiter *limiter, uint64_t key, int64_t now_ms)
{
    return limiter_ask(limiter, &(struct limiter_question){ .id = 1,
                                                            .direction = LIMITER_WRITE,
                                                            .has_key = true,
                                                            .key = key,
                                                            .now_ms = now_ms })
        .limit;
}

static void charge(struct limiter *limiter, int64_t units, int64_t now_ms)
{
    limiter_charge(limiter, 1, LIMITER_WRITE, 2 * units, now_ms);
}

static void a_fresh_table_has_300_seconds_of_burst(void **state)
{
    (void)state;
    struct limiter *limiter = create(provisioned(1));
    for (int i = 0; i < 300; i++) {
        assert_int_equal(ask(limiter, START_MS), LIMITER_ADMITS);
        charge(limiter, 1, START_MS);
    }
    assert_int_equal(ask(limiter, START_MS), LIMITER_PROVISIONED);
    limiter_destroy(limiter);
}

static void a_balance_above_zero_admits_whatever_it_costs(void **state)
{
    (void)state;
    struct limiter *limiter = create(provisioned(1));
    charge(limiter, 299, START_MS);
    assert_int_equal(ask(limiter, START_MS), LIMITER_ADMITS);
    charge(limiter, 11, START_MS); /* Ten units of debt, which take ten seconds. */
    assert_int_equal(ask(limiter, START_MS + 10000), LIMITER_PROVISIONED);
    assert_int_equal(ask(limiter, START_MS + 10001), LIMITER_ADMITS);
    limiter_destroy(limiter);
}

static void unused_capacity_is_kept_for_300_seconds_only(void **state)
{
    (void)state;
    struct limiter *limiter = create(provisioned(2));
    charge(limiter, 600, START_MS);
    int64_t later_ms = START_MS + INT64_C(10000000);
    charge(limiter, 599, later_ms);
    assert_int_equal(ask(limiter, later_ms), LIMITER_ADMITS);
    charge(limiter, 1, later_ms);
    assert_int_equal(ask(limiter, later_ms), LIMITER_PROVISIONED);
    limiter_destroy(limiter);
}

static void directions_do_not_share_capacity(void **state)
{
    (void)state;
    struct limiter *limiter = create(provisioned(1));
    charge(limiter, 1000, START_MS);
    struct limiter_question read = { .id = 1, .direction = LIMITER_READ, .now_ms = START_MS };
    assert_int_equal(limiter_ask(limiter, &read).limit, LIMITER_ADMITS);
    read.id = 2; /* Not limited. */
    assert_int_equal(limiter_ask(limiter, &read).limit, LIMITER_ADMITS);
    limiter_destroy(limiter);
}

/* Captured: a table that was switched from on-demand to 1 unit served about 8,000 at once. */
static void a_switch_of_modes_keeps_what_was_saved_up(void **state)
{
    (void)state;
    struct limiter *limiter = create(on_demand(12000, LIMITER_NO_MAX));
    struct limiter_rates rates = provisioned(1);
    limiter_configure(limiter, &rates, 1, START_MS);
    charge(limiter, 8000, START_MS);
    assert_int_equal(ask(limiter, START_MS), LIMITER_ADMITS);
    charge(limiter, 4000, START_MS);
    assert_int_equal(ask(limiter, START_MS), LIMITER_PROVISIONED);
    limiter_destroy(limiter);
}

static void a_rate_change_counts_from_its_time(void **state)
{
    (void)state;
    struct limiter *limiter = create(provisioned(1));
    charge(limiter, 320, START_MS); /* 20 units of debt. */
    struct limiter_rates rates = provisioned(10);
    limiter_configure(limiter, &rates, 1, START_MS + 10000);
    assert_int_equal(ask(limiter, START_MS + 11000), LIMITER_PROVISIONED);
    assert_int_equal(ask(limiter, START_MS + 11001), LIMITER_ADMITS);
    limiter_destroy(limiter);
}

static void a_key_has_a_limit_of_its_own(void **state)
{
    (void)state;
    struct limiter *limiter = create(provisioned(10000));
    limiter_charge_key(limiter, 1, LIMITER_WRITE, 7, 2 * KEY_RANGE_WRITE_UNITS, START_MS);
    assert_int_equal(ask_key(limiter, 7, START_MS), LIMITER_KEY_RANGE);
    assert_int_equal(ask_key(limiter, 8, START_MS), LIMITER_ADMITS);
    assert_int_equal(ask_key(limiter, 7, START_MS + 1), LIMITER_ADMITS);
    limiter_destroy(limiter);
}

static void hot_keys_are_known_among_many_cold_ones(void **state)
{
    (void)state;
    struct limiter *limiter = create(provisioned(40000));
    limiter_charge_key(limiter, 1, LIMITER_WRITE, 7, 5 * KEY_RANGE_WRITE_UNITS, START_MS);
    for (uint64_t key = 1000; key < 100000; key++)
        limiter_charge_key(limiter, 1, LIMITER_WRITE, key, 2, START_MS);
    assert_int_equal(ask_key(limiter, 7, START_MS), LIMITER_KEY_RANGE);
    limiter_destroy(limiter);
}

static void an_on_demand_table_serves_twice_its_previous_peak(void **state)
{
    (void)state;
    struct limiter *limiter = create(on_demand(4000, LIMITER_NO_MAX));
    charge(limiter, 4000, START_MS);
    assert_int_equal(ask(limiter, START_MS), LIMITER_KEY_RANGE);
    charge(limiter, 2000, START_MS); /* A peak of 6,000, which holds from the next half hour on. */
    int64_t next_ms = START_MS + DEMAND_LEVEL_SPAN_MS;
    charge(limiter, 4000, next_ms - 1000);
    assert_int_equal(ask(limiter, next_ms - 1000), LIMITER_KEY_RANGE);
    charge(limiter, 11999, next_ms + 1000);
    assert_int_equal(ask(limiter, next_ms + 1000), LIMITER_ADMITS);
    charge(limiter, 1, next_ms + 1000);
    assert_int_equal(ask(limiter, next_ms + 1000), LIMITER_KEY_RANGE);
    limiter_destroy(limiter);
}

static void the_quota_of_a_table_limits_on_demand_capacity(void **state)
{
    (void)state;
    struct limiter *limiter = create(on_demand(QUOTA + 1, LIMITER_NO_MAX));
    charge(limiter, QUOTA, START_MS);
    assert_int_equal(ask(limiter, START_MS), LIMITER_ACCOUNT);
    limiter_destroy(limiter);
}

static void a_maximum_limits_an_on_demand_table(void **state)
{
    (void)state;
    struct limiter *limiter = create(on_demand(4000, 5));
    charge(limiter, 5, START_MS);
    assert_int_equal(ask(limiter, START_MS), LIMITER_MAX_ON_DEMAND);
    assert_int_equal(ask(limiter, START_MS + 1), LIMITER_ADMITS);
    struct limiter_rates rates = on_demand(4000, LIMITER_NO_MAX);
    limiter_configure(limiter, &rates, 1, START_MS);
    assert_int_equal(ask(limiter, START_MS), LIMITER_ADMITS);
    limiter_destroy(limiter);
}

static void indexes_come_and_go_without_end(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_create();
    for (uint64_t id = 2; id < 200; id++) {
        struct limiter_rates rates[2] = { provisioned(1), provisioned(1) };
        rates[1].id = id;
        limiter_configure(limiter, rates, 2, START_MS);
        limiter_charge(limiter, id, LIMITER_WRITE, 600, START_MS);
        struct limiter_question question = { .id = id,
                                             .direction = LIMITER_WRITE,
                                             .now_ms = START_MS };
        assert_int_equal(limiter_ask(limiter, &question).limit, LIMITER_PROVISIONED);
    }
    limiter_destroy(limiter);
}

static void a_new_index_does_not_inherit_hot_keys(void **state)
{
    (void)state;
    struct limiter *limiter = limiter_create();
    for (uint64_t id = 2; id < 4; id++) {
        struct limiter_rates rates[2] = { provisioned(40000), provisioned(40000) };
        rates[1].id = id;
        limiter_configure(limiter, rates, 2, START_MS);
        struct limiter_question question = {
            .id = id, .direction = LIMITER_WRITE, .has_key = true, .key = 7, .now_ms = START_MS
        };
        assert_int_equal(limiter_ask(limiter, &question).limit, LIMITER_ADMITS);
        limiter_charge_key(limiter, id, LIMITER_WRITE, 7, 2 * KEY_RANGE_WRITE_UNITS, START_MS);
        assert_int_equal(limiter_ask(limiter, &question).limit, LIMITER_KEY_RANGE);
    }
    limiter_destroy(limiter);
}

/* --- Random work against the naive model --- */

static void change_mode(struct random *random, struct limiter *limiter, struct naive_limit *naive,
                        int64_t now_ms)
{
    struct limiter_rates rates;
    if (random_below(random, 2) == 0) {
        rates = provisioned(1 + (int64_t)random_below(random, 3000));
        naive_provision(naive, rates.provisioned[LIMITER_WRITE], now_ms);
    } else {
        int64_t max =
            random_below(random, 2) == 0 ? LIMITER_NO_MAX : 1 + (int64_t)random_below(random, 100);
        rates = on_demand(1 + (int64_t)random_below(random, 500), max);
        rates.quota[LIMITER_WRITE] = 200 + (int64_t)random_below(random, 800);
        naive_turn_on_demand(naive, rates.warm[LIMITER_WRITE], rates.quota[LIMITER_WRITE], max,
                             now_ms);
    }
    limiter_configure(limiter, &rates, 1, now_ms);
}

static void run_random(struct random *random, struct naive_limit *naive)
{
    struct limiter_rates rates = provisioned(1 + (int64_t)random_below(random, 50));
    struct limiter *limiter = create(rates);
    int64_t now_ms = START_MS;
    naive_start_provisioned(naive, rates.provisioned[LIMITER_WRITE], KEY_RANGE_WRITE_UNITS, now_ms);
    for (int i = 0; i < 2000; i++) {
        static const int64_t waits_ms[] = { 0, 0, 1, 7, 100, 1000, 60000, 1900000 };
        now_ms += waits_ms[random_below(random, 8)];
        if (random_below(random, 200) == 0)
            change_mode(random, limiter, naive, now_ms);
        struct limiter_question question = {
            .id = 1,
            .direction = LIMITER_WRITE,
            .has_key = random_below(random, 8) != 0,
            .key = random_below(random, 5),
            .pending_half_units = (int64_t)random_below(random, 3),
            .now_ms = now_ms,
        };
        question.pending_key_half_units = question.pending_half_units;
        static const enum naive_reason reasons[] = { [LIMITER_ADMITS] = NAIVE_ADMITTED,
                                                     [LIMITER_PROVISIONED] = NAIVE_PROVISIONED,
                                                     [LIMITER_KEY_RANGE] = NAIVE_KEY,
                                                     [LIMITER_MAX_ON_DEMAND] = NAIVE_MAX,
                                                     [LIMITER_ACCOUNT] = NAIVE_ACCOUNT };
        enum naive_reason want =
            naive_ask(naive, question.has_key, question.key, question.pending_half_units,
                      question.pending_key_half_units, now_ms);
        assert_int_equal(reasons[limiter_ask(limiter, &question).limit], want);
        if (want != NAIVE_ADMITTED)
            continue;
        int64_t cost = 1 + (int64_t)random_below(random, random_below(random, 4) == 0 ? 900 : 9);
        limiter_charge(limiter, 1, LIMITER_WRITE, cost, now_ms);
        naive_use(naive, cost, now_ms);
        if (question.has_key) {
            limiter_charge_key(limiter, 1, LIMITER_WRITE, question.key, cost, now_ms);
            naive_use_key(naive, question.key, cost, now_ms);
        }
    }
    limiter_destroy(limiter);
}

static void random_work_is_admitted_as_by_a_naive_model(void **state)
{
    (void)state;
    struct naive_limit *naive = memory_checked(malloc(sizeof *naive));
    struct random random;
    random_init(&random, 4711);
    for (int run = 0; run < 30; run++)
        run_random(&random, naive);
    free(naive);
}

/* --- Threads --- */

enum { THREADS = 4, CHARGES = 20000 };

static void *charge_many(void *context)
{
    for (int i = 0; i < CHARGES; i++) {
        limiter_charge(context, 1, LIMITER_WRITE, 2, START_MS + i / 100);
        limiter_charge_key(context, 1, LIMITER_WRITE, (uint64_t)(i % 3), 2, START_MS + i / 100);
        (void)ask_key(context, (uint64_t)(i % 3), START_MS + i / 100);
    }
    return NULL;
}

static void charges_of_all_threads_count(void **state)
{
    (void)state;
    struct limiter *limiter = create(provisioned(1000));
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, charge_many, limiter), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    /* 300,000 units at first, and at most 200 that came meanwhile. */
    int64_t left = 300000 - THREADS * CHARGES;
    charge(limiter, left - 1, START_MS);
    assert_int_equal(ask(limiter, START_MS), LIMITER_ADMITS);
    charge(limiter, 202, START_MS);
    assert_int_equal(ask(limiter, START_MS), LIMITER_PROVISIONED);
    limiter_destroy(limiter);
}

struct asker {
    struct limiter *limiter;
    _Atomic unsigned count;
    _Atomic bool stops;
};

static void *ask_on(void *context)
{
    struct asker *asker = context;
    while (!atomic_load(&asker->stops)) {
        (void)ask(asker->limiter, START_MS);
        atomic_fetch_add(&asker->count, 1);
    }
    return NULL;
}

/* A thread that asks while the mode changes must not leave the rate of the old mode behind. */
static void a_switch_of_modes_holds_whoever_asks_meanwhile(void **state)
{
    enum { SWITCHES = 900 };
    (void)state;
    struct asker asker = { .limiter = create(provisioned(1)) };
    const struct limiter_rates other = on_demand(4000, LIMITER_NO_MAX), own = provisioned(1);
    pthread_t thread;
    charge(asker.limiter, 301,
           START_MS); /* A second makes up for that, or a millisecond of 4,000. */
    assert_int_equal(pthread_create(&thread, NULL, ask_on, &asker), 0);
    for (int64_t now_ms = START_MS; now_ms < START_MS + SWITCHES; now_ms++) {
        limiter_configure(asker.limiter, &other, 1, now_ms);
        limiter_configure(asker.limiter, &own, 1, now_ms);
        unsigned seen = atomic_load(&asker.count);
        while (atomic_load(&asker.count) - seen < 2)
            sched_yield(); /* It may have found the other mode. */
        assert_int_equal(ask(asker.limiter, now_ms + 1), LIMITER_PROVISIONED);
    }
    atomic_store(&asker.stops, true);
    pthread_join(thread, NULL);
    limiter_destroy(asker.limiter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_table_has_300_seconds_of_burst),
        cmocka_unit_test(a_balance_above_zero_admits_whatever_it_costs),
        cmocka_unit_test(unused_capacity_is_kept_for_300_seconds_only),
        cmocka_unit_test(directions_do_not_share_capacity),
        cmocka_unit_test(a_switch_of_modes_keeps_what_was_saved_up),
        cmocka_unit_test(a_rate_change_counts_from_its_time),
        cmocka_unit_test(a_key_has_a_limit_of_its_own),
        cmocka_unit_test(hot_keys_are_known_among_many_cold_ones),
        cmocka_unit_test(an_on_demand_table_serves_twice_its_previous_peak),
        cmocka_unit_test(the_quota_of_a_table_limits_on_demand_capacity),
        cmocka_unit_test(a_maximum_limits_an_on_demand_table),
        cmocka_unit_test(indexes_come_and_go_without_end),
        cmocka_unit_test(a_new_index_does_not_inherit_hot_keys),
        cmocka_unit_test(random_work_is_admitted_as_by_a_naive_model),
        cmocka_unit_test(charges_of_all_threads_count),
        cmocka_unit_test(a_switch_of_modes_holds_whoever_asks_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
