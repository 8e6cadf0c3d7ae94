/* test_commit_histories.c -- the commit protocol keeps its promises whatever goes wrong when.
 *
 * Random histories first, then all interleavings of small transactions within bounds, then bugs
 * that are planted in the store below, each of which the checkers must notice. STATOR_TEST_LONG=1
 * runs a million histories and more; COMMIT_HISTORIES sets their number, COMMIT_SEED where the
 * seeds begin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/compiler.h"
#include "base/random.h"
#include "commit_world.h"
#include "partition_memory.h"
#include "run_length.h"

enum workload { REGISTERS, LISTS, BANK, WORKLOAD_COUNT };
static const char *const workload_names[] = { "registers", "lists", "bank" };

static enum world_access random_access(struct random *random, enum workload workload)
{
    static const enum world_access registers[] = {
        WORLD_READ, WORLD_PUT, WORLD_DELETE, WORLD_READ_PUT, WORLD_READ_DELETE,
    };
    if (workload == LISTS)
        return random_below(random, 3) == 0 ? WORLD_READ : WORLD_APPEND;
    return registers[random_below(random, COUNT_OF(registers))];
}

static struct world_plan random_plan(struct random *random, enum workload workload)
{
    struct world_plan plan = { 0 };
    if (workload == BANK && random_below(random, 3) == 0) {
        for (size_t key = 0; key < HISTORY_KEYS; key++)
            plan.access[key] = WORLD_READ;
        return plan;
    }
    if (workload == BANK) {
        size_t from = random_below(random, HISTORY_KEYS);
        size_t to = (from + 1 + random_below(random, HISTORY_KEYS - 1)) % HISTORY_KEYS;
        plan.access[from] = plan.access[to] = WORLD_TRANSFER;
        return plan;
    }
    /* Few keys, so that transactions meet. */
    size_t keys = 2 + random_below(random, HISTORY_KEYS - 1);
    for (size_t count = 1 + random_below(random, 3); count > 0; count--)
        plan.access[random_below(random, keys)] = random_access(random, workload);
    return plan;
}

static struct world_options random_options(struct random *random, enum workload workload)
{
    struct world_options options = {
        .client_count = 2 + random_below(random, WORLD_CLIENTS_MAX - 1),
        .faults_max = random_below(random, 5),
        .bank = workload == BANK,
    };
    for (size_t i = 0; i < options.client_count; i++) {
        options.clients[i].plan_count = 1 + random_below(random, 3);
        options.clients[i].sweeps = random_below(random, 8) == 0;
        for (size_t j = 0; j < options.clients[i].plan_count; j++)
            options.clients[i].plans[j] = random_plan(random, workload);
    }
    return options;
}

/* The history of a seed; NULL, or what is wrong with it. */
static const char *run_seed(struct world *world, uint64_t seed, unsigned bugs)
{
    struct random random;
    random_init(&random, seed);
    struct world_options options = random_options(&random, (enum workload)(seed % WORKLOAD_COUNT));
    options.bugs = bugs;
    return world_run_random(world, &options, random_next(&random));
}

static void print_counts(const char *name, const struct world *world)
{
    struct world_counts counts = world_counts(world);
    printf("%s: %llu histories, %llu steps, %llu committed, %llu refused, %llu unknown, "
           "%llu deaths, %llu lost answers, %llu late operations applied\n",
           name, (unsigned long long)counts.histories, (unsigned long long)counts.steps,
           (unsigned long long)counts.committed, (unsigned long long)counts.refused,
           (unsigned long long)counts.unknown, (unsigned long long)counts.deaths,
           (unsigned long long)counts.lost_answers, (unsigned long long)counts.late_applied);
}

static void random_histories_are_serializable_and_leave_nothing_behind(void **state)
{
    (void)state;
    struct world *world = world_create();
    uint64_t seed = run_length_setting("COMMIT_SEED", 1);
    uint64_t end = seed + run_length("COMMIT_HISTORIES", 4000, 1000000);
    for (; seed < end; seed++) {
        const char *problem = run_seed(world, seed, 0);
        if (problem != NULL) {
            history_print(world_history(world));
            fail_msg("seed %llu (%s): %s", (unsigned long long)seed,
                     workload_names[seed % WORKLOAD_COUNT], problem);
        }
    }
    print_counts("random", world);
    struct world_counts counts = world_counts(world);
    assert_true(counts.deaths > 0 && counts.lost_answers > 0 && counts.late_applied > 0);
    assert_true(counts.committed > counts.refused); /* They make progress. */
    world_destroy(world);
}

/* Keys 0 and 3 share a partition; 1 and 2 have others. */
static const struct {
    const char *name;
    struct world_options options;
} searches[] = {
    { "two transactions that write what the other one reads",
      { .client_count = 2,
        .clients = { { .plan_count = 1, .plans = { { { WORLD_READ, WORLD_READ_PUT } } } },
                     { .plan_count = 1, .plans = { { { WORLD_READ_PUT, WORLD_READ } } } } } } },
    { "two transactions on the same two keys",
      { .client_count = 2,
        .clients = { { .plan_count = 1, .plans = { { { WORLD_APPEND, WORLD_APPEND } } } },
                     { .plan_count = 1, .plans = { { { WORLD_APPEND, WORLD_APPEND } } } } } } },
    { "a transaction, and one that reads all of it",
      { .client_count = 2,
        .clients = { { .plan_count = 1, .plans = { { { WORLD_PUT, WORLD_PUT } } } },
                     { .plan_count = 1, .plans = { { { WORLD_READ, WORLD_READ } } } } } } },
    { "puts and deletes of one key, which is absent in between",
      { .client_count = 2,
        .clients = { { .plan_count = 1, .plans = { { { WORLD_READ_PUT } } } },
                     { .plan_count = 2,
                       .plans = { { { WORLD_READ_DELETE } }, { { WORLD_READ } } } } } } },
    { "three transactions in a ring",
      { .client_count = 3,
        .clients = { { .plan_count = 1, .plans = { { { WORLD_READ_PUT, WORLD_READ } } } },
                     { .plan_count = 1,
                       .plans = { { { WORLD_NOTHING, WORLD_READ_PUT, WORLD_READ } } } },
                     { .plan_count = 1,
                       .plans = { { { WORLD_READ, WORLD_NOTHING, WORLD_READ_PUT } } } } } } },
    { "a transaction, and a server that sweeps and reads",
      { .client_count = 2,
        .clients = { { .plan_count = 1, .plans = { { { WORLD_READ_PUT, WORLD_PUT } } } },
                     { .plan_count = 1,
                       .plans = { { { WORLD_READ, WORLD_READ } } },
                       .sweeps = true } } } },
    { "two partitions, one of them twice, against single puts",
      { .client_count = 3,
        .clients = { { .plan_count = 1,
                       .plans = { { { WORLD_APPEND, WORLD_APPEND, WORLD_NOTHING, WORLD_PUT } } } },
                     { .plan_count = 1, .plans = { { { WORLD_READ_DELETE } } } },
                     { .plan_count = 1, .plans = { { { WORLD_NOTHING, WORLD_APPEND } } } } } } },
};

/* Returns what is wrong, or NULL after all histories, or the first `max` of them. */
static const char *search(struct world *world, const struct world_options *options, uint64_t max)
{
    bool done = false;
    world_search_begin(world);
    for (uint64_t i = 0; i < max && !done; i++) {
        const char *problem = world_search_next(world, options, &done);
        if (problem != NULL)
            return problem;
    }
    return NULL;
}

static void search_all(size_t preemptions, size_t faults, uint64_t max)
{
    struct world *world = world_create();
    for (size_t i = 0; i < COUNT_OF(searches); i++) {
        struct world_options options = searches[i].options;
        options.preemptions_max = preemptions;
        options.faults_max = faults;
        const char *problem = search(world, &options, max);
        if (problem != NULL) {
            history_print(world_history(world));
            fail_msg("%s: %s", searches[i].name, problem);
        }
    }
    char name[64];
    snprintf(name, sizeof name, "%zu preemptions, %zu faults", preemptions, faults);
    print_counts(name, world);
    world_destroy(world);
}

static void all_interleavings_within_bounds_are_serializable(void **state)
{
    (void)state;
    search_all(2, 0, run_length("COMMIT_SEARCH", 500, 1000000));
    search_all(3, 0, run_length("COMMIT_SEARCH", 100, 1000000));
}

static void every_step_may_fail_in_every_way(void **state)
{
    (void)state;
    search_all(0, 1, run_length("COMMIT_SEARCH", 1000, 1000000));
    search_all(1, 1, run_length("COMMIT_SEARCH", 300, 1000000));
    search_all(1, 2, run_length("COMMIT_SEARCH", 300, 1000000));
}

static const struct {
    const char *name;
    enum partition_bug bug;
} bugs[] = {
    { "a missing fence", PARTITION_BUG_NO_FENCE },
    { "a skipped comparison", PARTITION_BUG_NO_COMPARISON },
    { "a hold that is ignored", PARTITION_BUG_HOLD_IGNORED },
    { "resolving without deciding", PARTITION_BUG_UNDECIDED },
    { "records that vanish", PARTITION_BUG_NO_RECORD },
    { "intents of another transaction settled", PARTITION_BUG_ANY_INTENT },
    { "torn operations", PARTITION_BUG_TORN },
};

static void planted_bugs_are_noticed(void **state)
{
    (void)state;
    struct world *world = world_create();
    for (size_t i = 0; i < COUNT_OF(bugs); i++) {
        uint64_t seed = 1;
        const char *problem = NULL;
        while (problem == NULL && seed < 20000)
            problem = run_seed(world, seed++, (unsigned)bugs[i].bug);
        if (problem == NULL)
            fail_msg("%s was not noticed", bugs[i].name);
        printf("%s: noticed by history %llu: %s\n", bugs[i].name, (unsigned long long)seed - 1,
               problem);
    }
    world_destroy(world);
}

/* The checker itself: what it must refuse. */
static void the_checker_refuses_what_no_order_explains(void **state)
{
    (void)state;
    struct history_value one = { true, 1, { 1 } }, two = { true, 1, { 2 } };
    struct history history = { .count = 2 };
    struct history_transaction *first = &history.transactions[0];
    struct history_transaction *second = &history.transactions[1];
    *first = (struct history_transaction){ 1, 2, HISTORY_COMMITTED, .writes = { true } };
    first->left[0] = one;
    *second = (struct history_transaction){ 3, 4, HISTORY_COMMITTED, .reads = { true } };
    history.last[0] = one;
    assert_false(history_is_serializable(&history)); /* A stale read. */
    second->begin = 1;
    assert_true(history_is_serializable(&history)); /* At the same time it is none. */
    second->seen[0] = two;
    assert_false(history_is_serializable(&history)); /* A value that nobody wrote. */
    second->seen[0] = one;
    assert_true(history_is_serializable(&history));
    first->outcome = HISTORY_REFUSED;
    assert_false(history_is_serializable(&history)); /* A refused write that is seen. */
    first->outcome = HISTORY_UNKNOWN;
    assert_true(history_is_serializable(&history));
    history.last[0] = (struct history_value){ 0 };
    assert_false(history_is_serializable(&history)); /* A lost write. */
    first->writes[1] = true;
    first->left[1] = two;
    history.last[0] = one;
    assert_false(history_is_serializable(&history)); /* Half a transaction. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checker_refuses_what_no_order_explains),
        cmocka_unit_test(random_histories_are_serializable_and_leave_nothing_behind),
        cmocka_unit_test(all_interleavings_within_bounds_are_serializable),
        cmocka_unit_test(every_step_may_fail_in_every_way),
        cmocka_unit_test(planted_bugs_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
