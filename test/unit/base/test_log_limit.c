/* test_log_limit.c -- how many lines pass a limit. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/log_limit.h"

enum { PER_SECOND = 5, BURST = 50, THREADS = 4, PER_THREAD = 10000 };
#define START_NS (INT64_C(1000) * LOG_LIMIT_SECOND_NS)

/* How many of `wanted` lines pass. */
static int take_many(struct log_limit *limit, int wanted, int64_t now_ns)
{
    uint64_t suppressed;
    int passed = 0;
    for (int i = 0; i < wanted; i++)
        passed += log_limit_take(limit, now_ns, &suppressed);
    return passed;
}

static void a_burst_passes_and_no_more(void **state)
{
    static const int wanted[] = { BURST - 1, BURST, BURST + 1, 10 * BURST };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct log_limit limit;
        log_limit_init(&limit, PER_SECOND, BURST);
        assert_int_equal(take_many(&limit, wanted[i], START_NS),
                         wanted[i] < BURST ? wanted[i] : BURST);
    }
}

static void lines_become_free_at_the_rate(void **state)
{
    struct log_limit limit;
    (void)state;
    log_limit_init(&limit, PER_SECOND, BURST);
    take_many(&limit, BURST, START_NS);
    assert_int_equal(take_many(&limit, 10, START_NS + LOG_LIMIT_SECOND_NS / PER_SECOND - 1), 0);
    assert_int_equal(take_many(&limit, 10, START_NS + LOG_LIMIT_SECOND_NS / PER_SECOND), 1);
    assert_int_equal(take_many(&limit, 100, START_NS + 3 * LOG_LIMIT_SECOND_NS),
                     3 * PER_SECOND - 1);
    /* A long quiet time gives no more than a burst. */
    assert_int_equal(take_many(&limit, 10 * BURST, START_NS + 1000000 * LOG_LIMIT_SECOND_NS),
                     BURST);
}

static void the_next_line_that_passes_tells_how_many_did_not(void **state)
{
    struct log_limit limit;
    uint64_t suppressed = 99;
    (void)state;
    log_limit_init(&limit, PER_SECOND, BURST);
    assert_true(log_limit_take(&limit, START_NS, &suppressed));
    assert_int_equal(suppressed, 0);
    take_many(&limit, BURST - 1 + 17, START_NS);
    assert_true(log_limit_take(&limit, START_NS + LOG_LIMIT_SECOND_NS, &suppressed));
    assert_int_equal(suppressed, 17);
    assert_true(log_limit_take(&limit, START_NS + LOG_LIMIT_SECOND_NS, &suppressed));
    assert_int_equal(suppressed, 0);
    take_many(&limit, 100, START_NS + LOG_LIMIT_SECOND_NS);
    assert_int_equal(log_limit_end(&limit), 100 - (PER_SECOND - 2));
    assert_int_equal(log_limit_end(&limit), 0);
}

static void *take_in_thread(void *context)
{
    return (void *)(intptr_t)take_many(context, PER_THREAD, START_NS);
}

static void threads_share_one_burst(void **state)
{
    struct log_limit limit;
    pthread_t threads[THREADS];
    intptr_t passed = 0;
    (void)state;
    log_limit_init(&limit, PER_SECOND, BURST);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_in_thread, &limit);
    for (int i = 0; i < THREADS; i++) {
        void *of_thread;
        pthread_join(threads[i], &of_thread);
        passed += (intptr_t)of_thread;
    }
    assert_int_equal(passed, BURST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_passes_and_no_more),
        cmocka_unit_test(lines_become_free_at_the_rate),
        cmocka_unit_test(the_next_line_that_passes_tells_how_many_did_not),
        cmocka_unit_test(threads_share_one_burst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
