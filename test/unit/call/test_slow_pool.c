/* test_slow_pool.c -- the queue of large requests: its order, its bound, its end; and work that
 * waits without its thread. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/give_way.h"
#include "call/slow_pool.h"

enum { NICENESS_MAX = 19 }; /* The system's. */

/* What the thread of a pool sees. */
struct record {
    sem_t begun, may_end;
    size_t count;
    size_t order[SLOW_POOL_WAITING_MAX + 2];
    int niceness;
    bool gives_way;
    struct slow_pool *pool; /* For tasks that leave work pending. */
    size_t resumed_count;
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
    record->gives_way = give_way_own.is_on;
    sem_post(&record->begun);
}

static void note_and_wait(struct slow_task *task, void *context)
{
    struct record *record = context;
    note(task, context);
    sem_wait(&record->may_end);
}

/* Its work is pending until somebody calls slow_pool_end_work. */
static void note_and_leave(struct slow_task *task, void *context)
{
    slow_pool_begin_work(((struct record *)context)->pool, context);
    note(task, context);
}

static void count_resumes(void *context)
{
    struct record *record = context;
    record->resumed_count++;
    sem_post(&record->begun);
}

static struct slow_pool *start(void **state, enum slow_pool_priority priority)
{
    struct record *record = *state;
    const struct slow_pool_options options = { .thread_contexts = (void *const *)state,
                                               .thread_count = 1,
                                               .priority = priority,
                                               .resume = count_resumes };
    record->pool = slow_pool_start(&options);
    return record->pool;
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
    struct slow_pool *pool = start(state, SLOW_POOL_AS_LOOPS);
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
    struct slow_pool *pool = start(state, priority);
    assert_true(slow_pool_submit(pool, &task.task));
    sem_wait(&record->begun);
    slow_pool_stop(pool, NULL);
    return record->niceness;
}

/* What it runs may hold latches that others wait for. */
static void a_pool_for_writes_has_the_priority_of_the_loops(void **state)
{
    assert_int_equal(niceness_of(state, SLOW_POOL_AS_LOOPS), getpriority(PRIO_PROCESS, 0));
    assert_false(((struct record *)*state)->gives_way);
}

static void a_background_pool_yields_to_the_loops(void **state)
{
    int wanted = getpriority(PRIO_PROCESS, 0) + SLOW_POOL_NICENESS;
    assert_int_equal(niceness_of(state, SLOW_POOL_BELOW_LOOPS),
                     wanted < NICENESS_MAX ? wanted : NICENESS_MAX);
    assert_true(((struct record *)*state)->gives_way);
}

/* Light tasks come first, but do not keep heavy ones out. */
static void one_heavy_task_runs_after_some_light_ones(void **state)
{
    enum { LIGHT = 2 * SLOW_POOL_LIGHT_PER_HEAVY, HEAVY = 3 };
    struct record *record = *state;
    struct slow_pool *pool = start(state, SLOW_POOL_AS_LOOPS);
    struct numbered tasks[1 + HEAVY + LIGHT];
    for (size_t i = 0; i < 1 + HEAVY + LIGHT; i++) {
        tasks[i] = (struct numbered){ .task.run = i == 0 ? note_and_wait : note, .number = i };
        tasks[i].task.is_heavy = i <= HEAVY;
        assert_true(slow_pool_submit(pool, &tasks[i].task));
        if (i == 0)
            sem_wait(&record->begun); /* The others wait for it. */
    }
    sem_post(&record->may_end);
    for (size_t i = 0; i < HEAVY + LIGHT; i++)
        sem_wait(&record->begun);
    slow_pool_stop(pool, NULL);
    size_t light = 1 + HEAVY, heavy = 1;
    for (size_t i = 1; i < 1 + HEAVY + LIGHT; i++) {
        bool is_heavy = i % (SLOW_POOL_LIGHT_PER_HEAVY + 1) == 0 || light == 1 + HEAVY + LIGHT;
        assert_int_equal(record->order[i], is_heavy ? heavy++ : light++);
    }
}

/* A queue full of heavy tasks leaves light ones their own. */
static void each_kind_has_a_bound_of_its_own(void **state)
{
    struct record *record = *state;
    struct slow_pool *pool = start(state, SLOW_POOL_AS_LOOPS);
    struct numbered *tasks = calloc(SLOW_POOL_WAITING_MAX + 2, sizeof *tasks);
    struct numbered light = { .task.run = note }, refused = light;
    for (size_t i = 0; i <= SLOW_POOL_WAITING_MAX; i++) {
        tasks[i].task =
            (struct slow_task){ .run = i == 0 ? note_and_wait : note, .is_heavy = true };
        assert_true(slow_pool_submit(pool, &tasks[i].task));
        if (i == 0)
            sem_wait(&record->begun);
    }
    refused.task.is_heavy = true;
    assert_false(slow_pool_submit(pool, &refused.task));
    assert_true(slow_pool_submit(pool, &light.task));
    sem_post(&record->may_end);
    slow_pool_stop(pool, NULL);
    free(tasks);
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
    struct slow_pool *pool = start(state, SLOW_POOL_AS_LOOPS);
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

static void work_that_waits_does_not_hold_its_thread(void **state)
{
    struct record *record = *state;
    struct numbered waiting = { .task.run = note_and_leave },
                    next = { .task.run = note, .number = 1 };
    struct slow_pool *pool = start(state, SLOW_POOL_AS_LOOPS);
    assert_true(slow_pool_submit(pool, &waiting.task));
    sem_wait(&record->begun);
    assert_true(slow_pool_submit(pool, &next.task));
    sem_wait(&record->begun); /* The only thread runs it. */
    slow_pool_wake(pool, record);
    sem_wait(&record->begun);
    assert_int_equal(record->resumed_count, 1);
    slow_pool_end_work(pool, record);
    slow_pool_stop(pool, NULL);
}

/* The thread has both before it as soon as its first task ends. */
static void waiting_work_resumes_before_new_tasks_start(void **state)
{
    struct record *record = *state;
    struct numbered waiting = { .task.run = note_and_leave };
    struct numbered running = { .task.run = note_and_wait }, next = { .task.run = note_and_wait };
    struct slow_pool *pool = start(state, SLOW_POOL_AS_LOOPS);
    assert_true(slow_pool_submit(pool, &waiting.task));
    assert_true(slow_pool_submit(pool, &running.task));
    sem_wait(&record->begun);
    sem_wait(&record->begun);
    assert_true(slow_pool_submit(pool, &next.task));
    slow_pool_wake(pool, record);
    slow_pool_wake(pool, record); /* Twice before it is resumed is once. */
    sem_post(&record->may_end);
    sem_wait(&record->begun);
    sem_wait(&record->begun);
    assert_int_equal(record->count, 3);
    assert_int_equal(record->resumed_count, 1);
    sem_post(&record->may_end);
    slow_pool_end_work(pool, record);
    slow_pool_stop(pool, NULL);
}

static void so_much_work_waits_and_no_more(void **state)
{
    struct record *record = *state;
    struct slow_pool *pool = start(state, SLOW_POOL_AS_LOOPS);
    struct numbered *tasks = calloc(SLOW_POOL_PENDING_MAX + 1, sizeof *tasks);
    for (size_t i = 0; i <= SLOW_POOL_PENDING_MAX; i++) {
        tasks[i] = (struct numbered){ .task.run = note_and_leave, .number = i };
        assert_true(slow_pool_submit(pool, &tasks[i].task));
        if (i < SLOW_POOL_PENDING_MAX)
            sem_wait(&record->begun);
    }
    /* The last one stays in the queue, but what waits still resumes. */
    slow_pool_wake(pool, record);
    sem_wait(&record->begun);
    assert_int_equal(record->resumed_count, 1);
    assert_int_equal(record->count, SLOW_POOL_PENDING_MAX);
    slow_pool_end_work(pool, record);
    sem_wait(&record->begun);
    assert_int_equal(record->order[SLOW_POOL_PENDING_MAX], SLOW_POOL_PENDING_MAX);
    for (size_t i = 0; i < SLOW_POOL_PENDING_MAX; i++)
        slow_pool_end_work(pool, record);
    slow_pool_stop(pool, NULL);
    free(tasks);
}

static void *stop_pool(void *argument)
{
    slow_pool_stop(((struct record *)argument)->pool, NULL);
    return NULL;
}

static void a_pool_that_stops_ends_what_waits_first(void **state)
{
    struct record *record = *state;
    struct numbered waiting = { .task.run = note_and_leave };
    struct slow_pool *pool = start(state, SLOW_POOL_AS_LOOPS);
    pthread_t stopper;
    assert_true(slow_pool_submit(pool, &waiting.task));
    sem_wait(&record->begun);
    assert_int_equal(pthread_create(&stopper, NULL, stop_pool, record), 0);
    /* Whether the pool is stopping by now is a matter of luck; its thread resumes either way. */
    slow_pool_wake(pool, record);
    sem_wait(&record->begun);
    slow_pool_end_work(pool, record);
    pthread_join(stopper, NULL);
    assert_int_equal(record->resumed_count, 1);
}

#define POOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POOL_TEST(so_many_wait_and_no_more),
        POOL_TEST(a_pool_for_writes_has_the_priority_of_the_loops),
        POOL_TEST(a_background_pool_yields_to_the_loops),
        POOL_TEST(what_waits_at_the_end_is_handed_back),
        POOL_TEST(one_heavy_task_runs_after_some_light_ones),
        POOL_TEST(each_kind_has_a_bound_of_its_own),
        POOL_TEST(work_that_waits_does_not_hold_its_thread),
        POOL_TEST(waiting_work_resumes_before_new_tasks_start),
        POOL_TEST(so_much_work_waits_and_no_more),
        POOL_TEST(a_pool_that_stops_ends_what_waits_first),
    };
    return cmocka_run_group_tests_name("call/slow_pool", tests, NULL, NULL);
}
