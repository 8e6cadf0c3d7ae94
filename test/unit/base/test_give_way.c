/* test_give_way.c -- long work gives way as often as it counts, on threads that are asked to. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/give_way.h"

static void a_thread_gives_way_once_for_each_portion_of_work(void **state)
{
    (void)state;
    uint64_t before = give_way_own.count;
    give_way_set(true);
    give_way_count(GIVE_WAY_EVERY - 1);
    assert_int_equal(give_way_own.count, before);
    give_way_count(1);
    assert_int_equal(give_way_own.count, before + 1);
    for (int i = 0; i < GIVE_WAY_EVERY; i++)
        give_way_count(3);
    assert_int_equal(give_way_own.count, before + 4);
    give_way_set(false);
}

static void a_thread_that_was_not_asked_does_not_give_way(void **state)
{
    (void)state;
    uint64_t before = give_way_own.count;
    give_way_count(GIVE_WAY_EVERY);
    assert_int_equal(give_way_own.count, before);
}

static void *count_in_a_thread(void *count)
{
    give_way_count(GIVE_WAY_EVERY);
    *(uint64_t *)count = give_way_own.count;
    return NULL;
}

static void asking_one_thread_does_not_ask_others(void **state)
{
    (void)state;
    uint64_t count = UINT64_MAX;
    pthread_t thread;
    give_way_set(true);
    assert_int_equal(pthread_create(&thread, NULL, count_in_a_thread, &count), 0);
    pthread_join(thread, NULL);
    give_way_set(false);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_gives_way_once_for_each_portion_of_work),
        cmocka_unit_test(a_thread_that_was_not_asked_does_not_give_way),
        cmocka_unit_test(asking_one_thread_does_not_ask_others),
    };
    return cmocka_run_group_tests_name("base/give_way", tests, NULL, NULL);
}
