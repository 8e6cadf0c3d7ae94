/* test_slow_pool.c -- the queue of large requests: its order, its bound, its end. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>
#include "call/slow_pool.h"

enum { NICENESS_MAX = 19 }; /* The system's. */

/* What the thread of a pool sees. */
struct record {
    sem_t begun, may_end;
    size_t count;
    size_t order[SLOW_POOL_WAITING_MAX + 2];
    int niceness;
};

struct numbered {
    struct slow_task task; /* First: the task is converted back. */
    size_t number;
};

static void note(struct slow_task *task, void *context)
{
    struct record *record = context;
    record->order[record->count++] = ((struct numbered *)task)->number;
    record->niceness = getpriority(PRIO_PROCESS, (id_t)gettid());
    sem_post(&record->begun);
}

static void note_and_wait(struct slow_task *task, void *context)
{
    struct record *record = context;
    note(task, context);
    sem_wait(&record->may_end);
}

static int set_up(void **state)
{
    struct record *record = calloc(1, sizeof *record);
    sem_init(&record->begun, 0, 0);
    sem_init(&record->may_end, 0, 0);
    *state = record;
    return 0;
}

static int tear_down(void **state)
{
    struct record *record = *state;
    sem_destroy(&record->begun);
    sem_destroy(&record->may_end);
    free(record);
    return 0;
}

static void so_many_wait_and_no_more(void **state)
{
    struct record *record = *state;
    struct slow_pool *pool = slow_pool_start((void *const *)state, 1, SLOW_POOL_AS_LOOPS);
    struct numbered *tasks = calloc(SLOW_POOL_WAITING_MAX + 2, sizeof *tasks);
    for (size_t i = 0; i < SLOW_POOL_WAITING_MAX + 2; i++)
        tasks[i] = (struct numbered){ .task.run = note, .number = i };
    tasks[0].task.run = note_and_wait;
    assert_true(slow_pool_submit(pool, &tasks[0].task));
    sem_wait(&record->begun); /* It runs, and does not wait any more. */
    for (size_t i = 1; i <= SLOW_POOL_WAITING_MAX; i++)
        assert_true(slow_pool_submit(pool, &tasks[i].task));
    assert_false(slow_pool_submit(pool, &tasks[SLOW_POOL_WAITING_MAX + 1].task));
    sem_post(&record->may_end);
    for (size_t i = 1; i <= SLOW_POOL_WAITING_MAX; i++)
        sem_wait(&record->begun);
    assert_true(slow_pool_submit(pool, &tasks[SLOW_POOL_WAITING_MAX + 1].task));
    sem_wait(&record->begun);
    slow_pool_stop(pool, NULL);
    assert_int_equal(record->count, SLOW_POOL_WAITING_MAX + 2);
    for (size_t i = 0; i < SLOW_POOL_WAITING_MAX + 2; i++)
        assert_int_equal(record->order[i], i);
    free(tasks);
}

static int niceness_of(void **state, enum slow_pool_priority priority)
{
    struct record *record = *state;
    struct numbered task = { .task.run = note };
    struct slow_pool *pool = slow_pool_start((void *const *)state, 1, priority);
    assert_true(slow_pool_submit(pool, &task.task));
    sem_wait(&record->begun);
    slow_pool_stop(pool, NULL);
    return record->niceness;
}

/* What it runs may hold latches that others wait for. */
static void a_pool_for_writes_has_the_priority_of_the_loops(void **state)
{
    assert_int_equal(niceness_of(state, SLOW_POOL_AS_LOOPS), getpriority(PRIO_PROCESS, 0));
}

static void a_background_pool_yields_to_the_loops(void **state)
{
    int wanted = getpriority(PRIO_PROCESS, 0) + SLOW_POOL_NICENESS;
    assert_int_equal(niceness_of(state, SLOW_POOL_BELOW_LOOPS),
                     wanted < NICENESS_MAX ? wanted : NICENESS_MAX);
}

static struct slow_task *handed_back;

static void hand_back(struct slow_task *task)
{
    assert_null(handed_back);
    handed_back = task;
}

/* It may hold something that it has to let go of. */
static void what_waits_at_the_end_is_handed_back(void **state)
{
    struct record *record = *state;
    struct numbered running = { .task.run = note_and_wait }, waiting = { .task.run = note };
    struct slow_pool *pool = slow_pool_start((void *const *)state, 1, SLOW_POOL_AS_LOOPS);
    handed_back = NULL;
    assert_true(slow_pool_submit(pool, &running.task));
    sem_wait(&record->begun);
    assert_true(slow_pool_submit(pool, &waiting.task));
    sem_post(&record->may_end); /* Whether the other one still gets its turn is a matter of luck. */
    slow_pool_stop(pool, hand_back);
    assert_in_range(record->count, 1, 2);
    assert_ptr_equal(handed_back, record->count == 1 ? &waiting.task : NULL);
    slow_pool_stop(NULL, hand_back);
}

#define POOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POOL_TEST(so_many_wait_and_no_more),
        POOL_TEST(a_pool_for_writes_has_the_priority_of_the_loops),
        POOL_TEST(a_background_pool_yields_to_the_loops),
        POOL_TEST(what_waits_at_the_end_is_handed_back),
    };
    return cmocka_run_group_tests_name("call/slow_pool", tests, NULL, NULL);
}
