/* test_clock.c -- the system's clock, and one that a test sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/commit_clock.h"

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

static void setting_the_wall_clock_does_not_move_server_time(void **state)
{
    (void)state;
    struct clock clock = clock_fixed(1700000000123);
    clock.wall_ahead_ms = -5000;
    assert_int_equal(clock_wall_ms(&clock), 1699999995123);
    assert_int_equal(clock_server_ms(&clock), 1700000000123);
    clock.fixed_ms += 7;
    assert_int_equal(clock_wall_ms(&clock), 1699999995130);
    assert_int_equal(clock_server_ms(&clock), 1700000000130);
}

static void server_time_resumes_where_it_is_told_and_advances(void **state)
{
    (void)state;
    int64_t start_ns = clock_monotonic_ns();
    struct clock clock = clock_resume(999, 1000000);
    assert_in_range(clock_server_ms(&clock), 1000000, 1000000 + 60 * 1000);
    usleep(20 * 1000);
    int64_t now_ms = clock_server_ms(&clock);
    int64_t passed_ms = (clock_monotonic_ns() - start_ns) / 1000000;
    assert_in_range(now_ms, 1000019, 1000001 + passed_ms);
    int64_t wall_ms = clock_wall_ms(&clock_system);
    assert_in_range(clock_wall_ms(&clock) - wall_ms, 0, 60 * 1000);
}

static void what_has_no_server_time_is_as_old_as_the_origin(void **state)
{
    (void)state;
    struct clock clock = clock_fixed(5000);
    clock.server_origin_ms = 1000;
    static const struct {
        int64_t stamp_ms, age_ms;
    } cases[] = { { 0, 4000 },    { 999, 4000 }, { 1000, 4000 },
                  { 1001, 3999 }, { 5000, 0 },   { 5001, -1 } }; /* From before a crash. */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(clock_server_age_ms(&clock, cases[i].stamp_ms), cases[i].age_ms);
}

static void commit_time_follows_the_wall_clock_but_never_goes_back(void **state)
{
    (void)state;
    struct commit_clock store = { 0 };
    struct clock clock = clock_fixed(1000);
    clock.commits = &store;
    assert_int_equal(clock_take_commit_us(&clock, 0), 1000000);
    assert_int_equal(clock_take_commit_us(&clock, 0), 1000001);
    clock.wall_ahead_ms = 5;
    assert_int_equal(clock_take_commit_us(&clock, 0), 1005000);
    clock.wall_ahead_ms = -5;
    assert_int_equal(clock_take_commit_us(&clock, 0), 1005001);
    assert_int_equal(clock_take_commit_us(&clock, 1005006), 1005007);
    assert_int_equal(clock_take_commit_us(&clock, 1005006), 1005008);
    clock_raise_commit_us(&clock, 2000000);
    clock_raise_commit_us(&clock, 1000000);
    assert_int_equal(clock_take_commit_us(&clock, 0), 2000001);
    clock.fixed_ms = 3000;
    assert_int_equal(clock_take_commit_us(&clock, 0), 2995000);
}

static void a_clock_without_a_store_orders_commit_times_by_what_it_is_given(void **state)
{
    (void)state;
    struct clock clock = clock_fixed(1);
    clock_raise_commit_us(&clock, 5000);
    assert_int_equal(clock_take_commit_us(&clock, 0), 1000);
    assert_int_equal(clock_take_commit_us(&clock, 1000), 1001);
}

enum { COMMIT_THREADS = 4, COMMITS_EACH = 20000 };
struct commits {
    const struct clock *clock;
    int64_t taken_us[COMMITS_EACH];
};

static void *take_commit_times(void *context)
{
    struct commits *commits = context;
    for (size_t i = 0; i < COMMITS_EACH; i++)
        commits->taken_us[i] = clock_take_commit_us(commits->clock, 0);
    return NULL;
}

static int compare_times(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void no_two_threads_take_the_same_commit_time(void **state)
{
    (void)state;
    static struct commits commits[COMMIT_THREADS];
    static int64_t all_us[COMMIT_THREADS * COMMITS_EACH];
    struct commit_clock store = { 0 };
    struct clock clock = clock_fixed(1700000000000);
    pthread_t threads[COMMIT_THREADS];
    clock.commits = &store;
    for (size_t i = 0; i < COMMIT_THREADS; i++) {
        commits[i].clock = &clock;
        assert_int_equal(pthread_create(&threads[i], NULL, take_commit_times, &commits[i]), 0);
    }
    for (size_t i = 0; i < COMMIT_THREADS; i++) {
        pthread_join(threads[i], NULL);
        for (size_t j = 1; j < COMMITS_EACH; j++)
            assert_true(commits[i].taken_us[j] > commits[i].taken_us[j - 1]);
        memcpy(all_us + i * COMMITS_EACH, commits[i].taken_us, sizeof commits[i].taken_us);
    }
    qsort(all_us, COMMIT_THREADS * COMMITS_EACH, sizeof all_us[0], compare_times);
    for (size_t i = 1; i < COMMIT_THREADS * COMMITS_EACH; i++)
        assert_true(all_us[i] > all_us[i - 1]);
}

static void a_time_is_written_in_utc_by_the_second(void **state)
{
    (void)state;
    static const struct {
        int64_t wall_ms;
        const char *want;
    } cases[] = {
        { 0, "1970-01-01T00:00:00Z" },
        { 1794744000999, "2026-11-15T12:00:00Z" },
        { 253402300799999, "9999-12-31T23:59:59Z" },
        { -1, "1969-12-31T23:59:59Z" },
        { -1000, "1969-12-31T23:59:59Z" },
        { -1001, "1969-12-31T23:59:58Z" },
        /* Years have four digits. */
        { 253402300800000, "9999-12-31T23:59:59Z" },
        { INT64_MAX, "9999-12-31T23:59:59Z" },
        { -30610224000000, "1000-01-01T00:00:00Z" },
        { -30610224000001, "1000-01-01T00:00:00Z" },
        { INT64_MIN, "1000-01-01T00:00:00Z" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CLOCK_TEXT_SIZE];
        clock_format_utc(cases[i].wall_ms, text);
        assert_string_equal(text, cases[i].want);
    }
}

static void every_second_has_parts_with_a_year_of_four_digits(void **state)
{
    (void)state;
    static const struct {
        int64_t second;
        int year;
    } cases[] = { { INT64_MIN, 1000 }, { -30610224001, 1000 }, { -30610224000, 1000 },
                  { 0, 1970 },         { 253402300799, 9999 }, { 253402300800, 9999 },
                  { INT64_MAX, 9999 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tm parts = clock_utc(cases[i].second);
        assert_int_equal(parts.tm_year + 1900, cases[i].year);
    }
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

static void a_time_ahead_on_the_monotonic_clock_is_that_far_from_now(void **state)
{
    (void)state;
    static const int64_t cases_ms[] = { 0, 1, 999, 1000, 1001, INT64_C(365) * 24 * 3600 * 1000 };
    for (size_t i = 0; i < sizeof cases_ms / sizeof cases_ms[0]; i++) {
        int64_t before_ns = clock_monotonic_ns();
        struct timespec at = clock_monotonic_after_ms(cases_ms[i]);
        int64_t after_ns = clock_monotonic_ns();
        int64_t at_ns = (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
        assert_in_range(at.tv_nsec, 0, 999999999);
        assert_in_range(at_ns - cases_ms[i] * 1000000, before_ns, after_ns);
    }
    assert_in_range(clock_monotonic_after_ms(INT64_MAX).tv_sec, INT64_MAX / 1000, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_clock_tells_milliseconds_since_1970),
        cmocka_unit_test(a_fixed_clock_stands_still_until_it_is_set),
        cmocka_unit_test(fixed_clocks_are_independent),
        cmocka_unit_test(setting_the_wall_clock_does_not_move_server_time),
        cmocka_unit_test(server_time_resumes_where_it_is_told_and_advances),
        cmocka_unit_test(what_has_no_server_time_is_as_old_as_the_origin),
        cmocka_unit_test(commit_time_follows_the_wall_clock_but_never_goes_back),
        cmocka_unit_test(a_clock_without_a_store_orders_commit_times_by_what_it_is_given),
        cmocka_unit_test(no_two_threads_take_the_same_commit_time),
        cmocka_unit_test(every_second_has_parts_with_a_year_of_four_digits),
        cmocka_unit_test(a_time_is_written_in_utc_by_the_second),
        cmocka_unit_test(monotonic_time_never_goes_back_and_counts_nanoseconds),
        cmocka_unit_test(a_time_ahead_on_the_monotonic_clock_is_that_far_from_now),
    };
    return cmocka_run_group_tests_name("base/clock", tests, NULL, NULL);
}
