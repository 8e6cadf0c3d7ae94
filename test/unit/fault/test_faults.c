/* Faults by themselves: what they draw, when they end, and how many there may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include "base/arena.h"
#include "base/clock.h"
#include "fault/faults.h"

enum { START_MS = 1000 * 1000, DRAWS = 10000 };

static struct fault_rule rule_of(double percent, uint64_t seed)
{
    return (struct fault_rule){ .table_name = BYTES("Tab"),
                                .operations = FAULT_ALL_OPERATIONS,
                                .kind = FAULT_THROTTLE,
                                .percent = percent,
                                .ends_ms = START_MS + 1000,
                                .seed = seed };
}

static struct fault *find(struct faults *faults, const char *table, enum fault_operation operation)
{
    struct fault *found[FAULTS_MAX];
    size_t count = faults_find(faults, bytes_from_text(table), operation, found);
    assert_true(count <= 1);
    return count == 0 ? NULL : found[0];
}

/* Adds a fault, lets it draw, and returns how many draws hit; `hits` has a bit of each. */
static size_t draw_all(struct faults *faults, const struct fault_rule *rule, bool *hits)
{
    uint64_t number = faults_add(faults, rule);
    struct fault *fault = find(faults, "Tab", FAULT_GET_ITEM);
    size_t count = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        hits[i] = fault_draw(fault).is_hit;
        count += hits[i];
    }
    fault_release(fault);
    assert_true(faults_remove(faults, number));
    return count;
}

static void the_same_seed_draws_the_same(void **state)
{
    (void)state;
    static bool first[DRAWS], second[DRAWS], other[DRAWS];
    struct clock clock = clock_fixed(START_MS);
    struct faults *faults = faults_create(&clock);
    struct fault_rule rule = rule_of(30, 7);
    size_t count = draw_all(faults, &rule, first);
    assert_int_equal(draw_all(faults, &rule, second), count);
    assert_memory_equal(first, second, sizeof first);
    rule.seed = 8;
    draw_all(faults, &rule, other);
    assert_memory_not_equal(first, other, sizeof first);
    faults_destroy(faults);
}

static void the_share_is_met(void **state)
{
    (void)state;
    static bool hits[DRAWS];
    static const double percents[] = { 0.1, 1, 30, 50, 99.9, 100 };
    struct clock clock = clock_fixed(START_MS);
    struct faults *faults = faults_create(&clock);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        struct fault_rule rule = rule_of(percents[i], i);
        double wanted = DRAWS * percents[i] / 100;
        double off = (double)draw_all(faults, &rule, hits) - wanted;
        assert_true(off * off <= 16 * wanted); /* Four standard deviations, at most. */
        assert_true(percents[i] < 100 || off == 0);
    }
    faults_destroy(faults);
}

struct crowd {
    struct faults *faults;
    _Atomic size_t hits;
};

static void *draw_many(void *argument)
{
    struct crowd *crowd = argument;
    for (size_t i = 0; i < 1000; i++) {
        struct fault *fault = find(crowd->faults, "Tab", FAULT_PUT_ITEM);
        if (fault == NULL)
            break;
        crowd->hits += fault_draw(fault).is_hit;
        fault_release(fault);
    }
    return NULL;
}

static void a_count_is_exact_among_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    struct clock clock = clock_fixed(START_MS);
    struct crowd crowd = { .faults = faults_create(&clock) };
    struct fault_rule rule = rule_of(50, 1);
    rule.count_max = 77;
    assert_int_equal(faults_add(crowd.faults, &rule), 1);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw_many, &crowd), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.hits, 77);
    assert_int_equal(faults_total(crowd.faults, FAULT_THROTTLE), 77);
    assert_false(faults_have_active(crowd.faults) &&
                 find(crowd.faults, "Tab", FAULT_PUT_ITEM) != NULL);
    faults_destroy(crowd.faults);
}

static void a_fault_ends_in_time_and_stays_listed(void **state)
{
    (void)state;
    struct fault_reading list[FAULTS_MAX];
    struct arena *arena = arena_create();
    struct clock clock = clock_fixed(START_MS);
    struct faults *faults = faults_create(&clock);
    struct fault_rule rule = rule_of(100, 1);
    assert_false(faults_have_active(faults));
    assert_int_equal(faults_add(faults, &rule), 1);
    assert_true(faults_have_active(faults));
    clock.fixed_ms = rule.ends_ms - 1;
    struct fault *fault = find(faults, "Tab", FAULT_SCAN);
    assert_true(fault_draw(fault).is_hit);
    fault_release(fault);
    clock.fixed_ms = rule.ends_ms;
    assert_null(find(faults, "Tab", FAULT_SCAN));
    assert_false(faults_have_active(faults)); /* From here on it costs nothing. */
    assert_int_equal(faults_read(faults, arena, list), 1);
    assert_false(list[0].is_active);
    assert_int_equal(list[0].hits, 1);
    faults_destroy(faults);
    arena_destroy(arena);
}

static void only_its_table_and_operations_meet_it(void **state)
{
    (void)state;
    struct clock clock = clock_fixed(START_MS);
    struct faults *faults = faults_create(&clock);
    struct fault_rule rule = rule_of(100, 1);
    rule.operations = UINT32_C(1) << FAULT_PUT_ITEM;
    assert_int_equal(faults_add(faults, &rule), 1);
    assert_null(find(faults, "Tab", FAULT_GET_ITEM));
    assert_null(find(faults, "Tabs", FAULT_PUT_ITEM));
    fault_release(find(faults, "Tab", FAULT_PUT_ITEM));
    assert_int_equal(fault_operation_find("UpdateTable"), FAULT_OPERATIONS);
    for (enum fault_operation i = 0; i < FAULT_OPERATIONS; i++)
        assert_int_equal(fault_operation_find(fault_operation_name(i)), i);
    faults_destroy(faults);
}

static void ended_faults_make_room(void **state)
{
    (void)state;
    struct fault_reading list[FAULTS_MAX];
    struct arena *arena = arena_create();
    struct clock clock = clock_fixed(START_MS);
    struct faults *faults = faults_create(&clock);
    struct fault_rule rule = rule_of(100, 1);
    for (size_t i = 0; i < FAULTS_MAX; i++)
        assert_int_equal(faults_add(faults, &rule), i + 1);
    assert_int_equal(faults_add(faults, &rule), 0);
    clock.fixed_ms = rule.ends_ms;
    rule.ends_ms += 1000;
    assert_int_equal(faults_add(faults, &rule), FAULTS_MAX + 1);
    assert_int_equal(faults_read(faults, arena, list), FAULTS_MAX);
    assert_int_equal(list[0].number, 2); /* The oldest went. */
    assert_false(faults_remove(faults, 1));
    faults_destroy(faults);
    arena_destroy(arena);
}

static void delays_lie_between_their_bounds(void **state)
{
    (void)state;
    struct clock clock = clock_fixed(START_MS);
    struct faults *faults = faults_create(&clock);
    struct fault_rule rule = rule_of(100, 1);
    int64_t min = INT64_MAX, max = 0;
    rule.kind = FAULT_DELAY;
    rule.delay_ms = 20;
    rule.jitter_ms = 10;
    assert_int_equal(faults_add(faults, &rule), 1);
    struct fault *fault = find(faults, "Tab", FAULT_QUERY);
    for (size_t i = 0; i < 1000; i++) {
        int64_t delay_ms = fault_draw(fault).delay_ms;
        min = delay_ms < min ? delay_ms : min;
        max = delay_ms > max ? delay_ms : max;
    }
    fault_release(fault);
    assert_int_equal(min, 20);
    assert_int_equal(max, 30);
    faults_destroy(faults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_draws_the_same),
        cmocka_unit_test(the_share_is_met),
        cmocka_unit_test(a_count_is_exact_among_threads),
        cmocka_unit_test(a_fault_ends_in_time_and_stays_listed),
        cmocka_unit_test(only_its_table_and_operations_meet_it),
        cmocka_unit_test(ended_faults_make_room),
        cmocka_unit_test(delays_lie_between_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
