/* test_timed_wait.c -- a wait ends when it is woken or when its time is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>
#include "base/clock.h"
#include "base/compiler.h"
#include "base/timed_wait.h"

struct fixture {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool woken;
};

static void set_up(struct fixture *fixture)
{
    pthread_mutex_init(&fixture->mutex, NULL);
    timed_wait_init(&fixture->condition);
    fixture->woken = false;
}

static void tear_down(struct fixture *fixture)
{
    pthread_cond_destroy(&fixture->condition);
    pthread_mutex_destroy(&fixture->mutex);
}

static void a_wait_ends_when_its_time_is_over(void **state)
{
    (void)state;
    static const int64_t waits_ms[] = { 0, 1, 1100 }; /* The last goes beyond a second. */
    struct fixture fixture;
    set_up(&fixture);
    pthread_mutex_lock(&fixture.mutex);
    for (size_t i = 0; i < COUNT_OF(waits_ms); i++) {
        int64_t until_ns = clock_monotonic_ns() + waits_ms[i] * 1000000;
        do /* It may return early. */
            timed_wait(&fixture.condition, &fixture.mutex, waits_ms[i]);
        while (clock_monotonic_ns() < until_ns);
    }
    pthread_mutex_unlock(&fixture.mutex);
    tear_down(&fixture);
}

static void *wake(void *context)
{
    struct fixture *fixture = context;
    pthread_mutex_lock(&fixture->mutex);
    fixture->woken = true;
    pthread_cond_signal(&fixture->condition);
    pthread_mutex_unlock(&fixture->mutex);
    return NULL;
}

static void a_wait_without_end_is_woken(void **state)
{
    (void)state;
    struct fixture fixture;
    pthread_t thread;
    set_up(&fixture);
    pthread_mutex_lock(&fixture.mutex);
    assert_int_equal(pthread_create(&thread, NULL, wake, &fixture), 0);
    while (!fixture.woken)
        timed_wait(&fixture.condition, &fixture.mutex, TIMED_WAIT_FOREVER);
    pthread_mutex_unlock(&fixture.mutex);
    pthread_join(thread, NULL);
    tear_down(&fixture);
}

static void for_ever_is_later_than_any_time(void **state)
{
    (void)state;
    assert_int_equal(timed_wait_sooner(3, 5), 3);
    assert_int_equal(timed_wait_sooner(5, 3), 3);
    assert_int_equal(timed_wait_sooner(0, TIMED_WAIT_FOREVER), 0);
    assert_int_equal(timed_wait_sooner(TIMED_WAIT_FOREVER, 7), 7);
    assert_int_equal(timed_wait_sooner(TIMED_WAIT_FOREVER, TIMED_WAIT_FOREVER), TIMED_WAIT_FOREVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_ends_when_its_time_is_over),
        cmocka_unit_test(a_wait_without_end_is_woken),
        cmocka_unit_test(for_ever_is_later_than_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
