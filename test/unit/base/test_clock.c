/* test_clock.c -- the system's clock, and one that a test sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>
#include "base/clock.h"

static void the_system_clock_tells_milliseconds_since_1970(void **state)
{
    (void)state;
    int64_t before_ms = (int64_t)time(NULL) * 1000;
    int64_t now_ms = clock_wall_ms(&clock_system);
    /* time() may lag behind the clock by one of its own ticks. */
    assert_in_range(now_ms - before_ms + 1000, 0, 60 * 1000);
}

static void a_fixed_clock_stands_still_until_it_is_set(void **state)
{
    (void)state;
    struct clock clock = clock_fixed(1700000000123);
    assert_int_equal(clock_wall_ms(&clock), 1700000000123);
    assert_int_equal(clock_wall_ms(&clock), 1700000000123);
    clock.fixed_ms += 15 * 60 * 1000;
    assert_int_equal(clock_wall_ms(&clock), 1700000900123);
}

static void fixed_clocks_are_independent(void **state)
{
    (void)state;
    struct clock a = clock_fixed(1), b = clock_fixed(2);
    a.fixed_ms = 3;
    assert_int_equal(clock_wall_ms(&a), 3);
    assert_int_equal(clock_wall_ms(&b), 2);
}

static void monotonic_time_never_goes_back_and_counts_nanoseconds(void **state)
{
    (void)state;
    int64_t start_ns = clock_monotonic_ns(), last_ns = start_ns;
    for (int i = 0; i < 10000; i++) {
        int64_t now_ns = clock_monotonic_ns();
        assert_true(now_ns >= last_ns);
        last_ns = now_ns;
    }
    struct timespec pause = { .tv_nsec = 2000000 };
    while (nanosleep(&pause, &pause) != 0)
        continue;
    assert_true(clock_monotonic_ns() - start_ns >= 2000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_clock_tells_milliseconds_since_1970),
        cmocka_unit_test(a_fixed_clock_stands_still_until_it_is_set),
        cmocka_unit_test(fixed_clocks_are_independent),
        cmocka_unit_test(monotonic_time_never_goes_back_and_counts_nanoseconds),
    };
    return cmocka_run_group_tests_name("base/clock", tests, NULL, NULL);
}
