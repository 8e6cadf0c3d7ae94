/* test_inbox.c -- tasks from other threads reach a loop in their order, and wake it if it sleeps.
 */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "http/inbox.h"
#include "http/server.h"

enum { POSTS = 20000, POSTERS = 3 };

static void run_nothing(struct http_task *task)
{
    (void)task;
}

static bool is_woken(const struct http_inbox *inbox)
{
    struct pollfd wanted = { .fd = inbox->fd, .events = POLLIN };
    return poll(&wanted, 1, 0) == 1;
}

static int set_up(void **state)
{
    static struct http_inbox inbox;
    *state = &inbox;
    return http_inbox_init(&inbox) ? 0 : -1;
}

static int tear_down(void **state)
{
    http_inbox_deinit(*state);
    return 0;
}

static void tasks_are_taken_in_the_order_they_were_posted(void **state)
{
    struct http_inbox *inbox = *state;
    struct http_task tasks[3] = { { run_nothing, NULL },
                                  { run_nothing, NULL },
                                  { run_nothing, NULL } };
    assert_null(http_inbox_take(inbox));
    for (size_t i = 0; i < COUNT_OF(tasks); i++)
        http_inbox_post(inbox, &tasks[i]);
    const struct http_task *task = http_inbox_take(inbox);
    for (size_t i = 0; i < COUNT_OF(tasks); i++, task = task->next)
        assert_ptr_equal(task, &tasks[i]);
    assert_null(task);
    assert_null(http_inbox_take(inbox));
}

static void only_a_loop_that_sleeps_is_woken_and_only_once(void **state)
{
    struct http_inbox *inbox = *state;
    struct http_task tasks[3] = { { run_nothing, NULL },
                                  { run_nothing, NULL },
                                  { run_nothing, NULL } };
    http_inbox_post(inbox, &tasks[0]);
    assert_false(is_woken(inbox));
    assert_false(http_inbox_may_sleep(inbox)); /* Somebody has posted before. */
    assert_non_null(http_inbox_take(inbox));
    assert_true(http_inbox_may_sleep(inbox));
    assert_false(is_woken(inbox));
    http_inbox_post(inbox, &tasks[1]);
    assert_true(is_woken(inbox));
    http_inbox_clear(inbox);
    http_inbox_post(inbox, &tasks[2]);
    assert_false(is_woken(inbox));
    http_inbox_set_awake(inbox);
    assert_ptr_equal(http_inbox_take(inbox), &tasks[1]);
}

static void a_loop_can_be_woken_without_a_task(void **state)
{
    struct http_inbox *inbox = *state;
    http_inbox_wake(inbox);
    http_inbox_wake(inbox);
    assert_true(is_woken(inbox));
    http_inbox_clear(inbox);
    assert_false(is_woken(inbox));
    http_inbox_clear(inbox); /* Does not wait. */
}

static struct http_task many[POSTERS][POSTS];

struct poster {
    struct http_inbox *inbox;
    struct http_task *tasks;
};

static void *post_many(void *argument)
{
    const struct poster *poster = argument;
    for (size_t i = 0; i < POSTS; i++) {
        poster->tasks[i].run = run_nothing;
        http_inbox_post(poster->inbox, &poster->tasks[i]);
    }
    return NULL;
}

/* Without a time-out: a lost wake-up would stop the test. */
static void no_task_is_missed_by_a_loop_that_goes_to_sleep(void **state)
{
    struct http_inbox *inbox = *state;
    struct pollfd wanted = { .fd = inbox->fd, .events = POLLIN };
    struct poster posters[POSTERS];
    pthread_t threads[POSTERS];
    size_t taken = 0;
    for (size_t i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){ .inbox = inbox, .tasks = many[i] };
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, &posters[i]), 0);
    }
    while (taken < POSTERS * POSTS) {
        if (http_inbox_may_sleep(inbox) && poll(&wanted, 1, -1) == 1)
            http_inbox_clear(inbox);
        http_inbox_set_awake(inbox);
        for (const struct http_task *task = http_inbox_take(inbox); task != NULL; task = task->next)
            taken++;
    }
    assert_int_equal(taken, POSTERS * POSTS);
    for (size_t i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
}

#define INBOX_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        INBOX_TEST(tasks_are_taken_in_the_order_they_were_posted),
        INBOX_TEST(only_a_loop_that_sleeps_is_woken_and_only_once),
        INBOX_TEST(a_loop_can_be_woken_without_a_task),
        INBOX_TEST(no_task_is_missed_by_a_loop_that_goes_to_sleep),
    };
    return cmocka_run_group_tests_name("http/inbox", tests, NULL, NULL);
}
