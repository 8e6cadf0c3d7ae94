/* test_random.c -- a seed replays, bounds hold, and nothing is plainly lopsided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/random.h"

static void a_seed_replays(void **state)
{
    struct random a, b;
    (void)state;
    random_init(&a, 4711);
    random_init(&b, 4711);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(random_next(&a), random_next(&b));
}

static void seeds_differ(void **state)
{
    struct random a, b;
    (void)state;
    random_init(&a, 1);
    random_init(&b, 2);
    int same = 0;
    for (int i = 0; i < 1000; i++)
        same += random_next(&a) == random_next(&b);
    assert_int_equal(same, 0);
}

/* A seed of zero must not give the state that never leaves zero. */
static void every_seed_gives_a_state_that_moves(void **state)
{
    struct random random;
    (void)state;
    random_init(&random, 0);
    uint64_t seen = 0;
    for (int i = 0; i < 100; i++)
        seen |= random_next(&random);
    assert_int_equal(seen, UINT64_MAX);
}

static void a_seed_gives_the_same_numbers_in_every_release(void **state)
{
    struct random random = { { 1, 2, 3, 4 } };
    (void)state;
    static const uint64_t want[] = { 11520, 0, 1509978240, 1215971899390074240 };
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_int_equal(random_next(&random), want[i]);
}

static void below_stays_below_and_reaches_every_number(void **state)
{
    static const uint64_t bounds[] = { 1, 2, 3, 7, 10, 64 };
    struct random random;
    (void)state;
    random_init(&random, 99);
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        unsigned counts[64] = { 0 };
        for (unsigned n = 0; n < 1000 * bounds[i]; n++) {
            uint64_t value = random_below(&random, bounds[i]);
            assert_true(value < bounds[i]);
            counts[value]++;
        }
        /* Each about 1000 times; 200 is six standard deviations. */
        for (uint64_t value = 0; value < bounds[i]; value++)
            assert_in_range(counts[value], 800, 1200);
    }
}

static void below_a_bound_of_nearly_64_bits_is_not_lopsided(void **state)
{
    struct random random;
    (void)state;
    random_init(&random, 5);
    /* Without the rejection, the lowest third of the range would come twice as often. */
    uint64_t bound = UINT64_C(3) << 62;
    unsigned low = 0;
    for (int n = 0; n < 3000; n++) {
        uint64_t value = random_below(&random, bound);
        assert_true(value < bound);
        low += value < bound / 3;
    }
    assert_in_range(low, 800, 1200);
}

static void fill_writes_exactly_its_size(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 40; size++) {
        uint8_t bytes[48], again[48];
        struct random random;
        memset(bytes, 0x5A, sizeof bytes);
        memset(again, 0x5A, sizeof again);
        random_init(&random, size);
        random_fill(&random, bytes, size);
        for (size_t i = size; i < sizeof bytes; i++)
            assert_int_equal(bytes[i], 0x5A);
        random_init(&random, size);
        random_fill(&random, again, size);
        assert_memory_equal(bytes, again, sizeof bytes);
    }
}

static void the_system_seeds_differently_each_time(void **state)
{
    struct random a, b;
    (void)state;
    random_init_from_system(&a);
    random_init_from_system(&b);
    assert_int_not_equal(random_next(&a), random_next(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_replays),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(every_seed_gives_a_state_that_moves),
        cmocka_unit_test(a_seed_gives_the_same_numbers_in_every_release),
        cmocka_unit_test(below_stays_below_and_reaches_every_number),
        cmocka_unit_test(below_a_bound_of_nearly_64_bits_is_not_lopsided),
        cmocka_unit_test(fill_writes_exactly_its_size),
        cmocka_unit_test(the_system_seeds_differently_each_time),
    };
    return cmocka_run_group_tests_name("base/random", tests, NULL, NULL);
}
