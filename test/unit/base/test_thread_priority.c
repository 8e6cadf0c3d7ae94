/* test_thread_priority.c -- threads that yield to others, and threads that wake up soon. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/thread_priority.h"

/* As sched_getattr(2) has it. */
struct sched_attr {
    uint32_t size, sched_policy;
    uint64_t sched_flags;
    int32_t sched_nice;
    uint32_t sched_priority;
    uint64_t sched_runtime, sched_deadline, sched_period;
};

enum { NICENESS = 3, NICENESS_MAX = 19 };

static struct sched_attr attributes_of_thread(void)
{
    struct sched_attr attributes = { .size = sizeof attributes };
    assert_int_equal(syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0), 0);
    return attributes;
}

static void *lower(void *argument)
{
    thread_priority_lower(NICENESS);
    *(struct sched_attr *)argument = attributes_of_thread();
    return NULL;
}

static void *shorten(void *argument)
{
    thread_priority_shorten_slices();
    *(struct sched_attr *)argument = attributes_of_thread();
    return NULL;
}

static struct sched_attr in_a_thread(void *(*run)(void *argument))
{
    struct sched_attr found;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, &found), 0);
    pthread_join(thread, NULL);
    return found;
}

static void one_thread_yields_and_the_others_do_not(void **state)
{
    (void)state;
    struct sched_attr before = attributes_of_thread();
    int wanted = before.sched_nice + NICENESS;
    assert_int_equal(in_a_thread(lower).sched_nice, wanted < NICENESS_MAX ? wanted : NICENESS_MAX);
    assert_int_equal(attributes_of_thread().sched_nice, before.sched_nice);
}

static bool has_slices(void)
{
    struct utsname name;
    int major = 0, minor = 0;
    uname(&name);
    return sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 12));
}

static void shorter_slices_change_neither_policy_nor_niceness(void **state)
{
    (void)state;
    struct sched_attr before = attributes_of_thread();
    struct sched_attr after = in_a_thread(shorten);
    assert_int_equal(after.sched_policy, before.sched_policy);
    assert_int_equal(after.sched_nice, before.sched_nice);
    if (has_slices())
        assert_int_equal(after.sched_runtime, THREAD_PRIORITY_SLICE_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_yields_and_the_others_do_not),
        cmocka_unit_test(shorter_slices_change_neither_policy_nor_niceness),
    };
    return cmocka_run_group_tests_name("base/thread_priority", tests, NULL, NULL);
}
