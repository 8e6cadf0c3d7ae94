/* loop.c -- see loop.h. */
#include "http/loop.h"
#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include "base/compiler.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread_priority.h"
#include "http/connection.h"

enum {
    TIMER_STEP_MS = 10, /* Deadlines closer together than this share one wake-up. */
    /* Room after the largest head, so that most bodies need no memory of their own. */
    INPUT_BODY_SIZE = 16 * 1024,
    /* The share of the memory of requests that all loops together may keep as spares. */
    SPARES_PART = 8,
};

/* --- Deadlines --- */

void http_deadline_clear(struct http_deadlines *deadlines, struct http_deadline *deadline)
{
    if (deadline->kind == HTTP_DEADLINE_NONE)
        return;
    if (deadline->previous != NULL)
        deadline->previous->next = deadline->next;
    else
        deadlines->queues[deadline->kind].first = deadline->next;
    if (deadline->next != NULL)
        deadline->next->previous = deadline->previous;
    else
        deadlines->queues[deadline->kind].last = deadline->previous;
    *deadline = (struct http_deadline){ .kind = HTTP_DEADLINE_NONE };
}

/* `now_ms` must not decrease between calls. Replaces a deadline that is set. */
static void set_deadline(struct http_deadlines *deadlines, struct http_deadline *deadline,
                         enum http_deadline_kind kind, uint64_t now_ms)
{
    assert(kind != HTTP_DEADLINE_NONE);
    http_deadline_clear(deadlines, deadline);
    struct http_deadline *last = deadlines->queues[kind].last;
    deadline->kind = kind;
    deadline->due_ms = now_ms + deadlines->queues[kind].duration_ms;
    assert(last == NULL || last->due_ms <= deadline->due_ms);
    deadline->previous = last;
    if (last != NULL)
        last->next = deadline;
    else
        deadlines->queues[kind].first = deadline;
    deadlines->queues[kind].last = deadline;
}

/* The next to expire; NULL if none is set. */
static struct http_deadline *first_deadline(const struct http_deadlines *deadlines)
{
    struct http_deadline *earliest = NULL;
    for (int kind = 0; kind < HTTP_DEADLINE_KIND_COUNT; kind++) {
        struct http_deadline *first = deadlines->queues[kind].first;
        if (first != NULL && (earliest == NULL || first->due_ms < earliest->due_ms))
            earliest = first;
    }
    return earliest;
}

static void on_timer(uv_timer_t *timer);

static void arm_timer(struct http_loop *loop, uint64_t due_ms)
{
    uint64_t now_ms = uv_now(&loop->uv);
    uv_timer_start(&loop->timer, on_timer, due_ms > now_ms ? due_ms - now_ms : 0, 0);
    loop->timer_due_ms = due_ms;
}

static void on_timer(uv_timer_t *timer)
{
    struct http_loop *loop = timer->data;
    uint64_t now_ms = uv_now(&loop->uv);
    loop->timer_due_ms = UINT64_MAX;
    struct http_deadline *first;
    while ((first = first_deadline(&loop->deadlines)) != NULL && first->due_ms <= now_ms)
        http_connection_expire(http_connection_of_deadline(first));
    if (first != NULL && first->due_ms < loop->timer_due_ms) {
        uint64_t soonest_ms = now_ms + TIMER_STEP_MS;
        arm_timer(loop, first->due_ms > soonest_ms ? first->due_ms : soonest_ms);
    }
}

void http_loop_set_deadline(struct http_loop *loop, struct http_deadline *deadline,
                            enum http_deadline_kind kind)
{
    set_deadline(&loop->deadlines, deadline, kind, uv_now(&loop->uv));
    /* Deadlines are mostly renewed before they expire, so the timer moves only when it fires. */
    if (deadline->due_ms < loop->timer_due_ms)
        arm_timer(loop, deadline->due_ms);
}

struct bytes http_loop_date(struct http_loop *loop)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return http_date_at(&loop->date, now.tv_sec);
}

/* --- Turns --- */

static void end_turn(struct http_loop *loop)
{
    const struct http_handler *handler = &loop->shared->handler;
    loop->turn_request_count = loop->request_count;
    if (handler->turn_end != NULL)
        handler->turn_end(loop->context);
}

/* Those that have waited longest first. */
static void run_writers(struct http_loop *loop)
{
    struct http_turn *turn = &loop->turn;
    while (turn->writers.first != NULL && http_turn_has_write_room(turn))
        http_transport_go_on(http_transport_of_waiting(http_queue_take(&turn->writers)));
}

static void run_closers(struct http_loop *loop)
{
    const struct http_queue *closers = &loop->turn.closers;
    for (int i = 0; i < HTTP_TURN_CLOSES_MAX && closers->first != NULL; i++)
        http_connection_close(http_connection_of_waiting(closers->first));
}

static void run_tasks(struct http_loop *loop);

enum { NS_PER_MS = 1000000 };
#define NS_PER_MINUTE INT64_C(60000000000)

/* libuv has read its clock when the wait for input ended, so the turn's length needs one reading.
 */
static void count_turn(struct http_loop *loop)
{
    struct http_loop_counters *counters = &loop->counters;
    int64_t now_ns = (int64_t)uv_hrtime();
    int64_t took_ns = now_ns - (int64_t)uv_now(&loop->uv) * NS_PER_MS;
    int64_t minute = now_ns / NS_PER_MINUTE;
    size_t place = (size_t)minute % COUNT_OF(counters->longest);
    if (atomic_load_explicit(&counters->longest[place].minute, memory_order_relaxed) != minute) {
        atomic_store_explicit(&counters->longest[place].ns, 0, memory_order_relaxed);
        atomic_store_explicit(&counters->longest[place].minute, minute, memory_order_relaxed);
    }
    if (took_ns > atomic_load_explicit(&counters->longest[place].ns, memory_order_relaxed))
        atomic_store_explicit(&counters->longest[place].ns, took_ns, memory_order_relaxed);
    uint64_t turns = atomic_load_explicit(&counters->turns, memory_order_relaxed);
    atomic_store_explicit(&counters->turns, turns + 1, memory_order_relaxed);
    atomic_store_explicit(&counters->requests, loop->request_count, memory_order_relaxed);
    atomic_store_explicit(&counters->under_way, loop->owed_count, memory_order_relaxed);
}

void http_loop_read_statistics(const struct http_loop *loop, struct http_statistics *out)
{
    const struct http_loop_counters *counters = &loop->counters;
    int64_t minute = (int64_t)uv_hrtime() / NS_PER_MINUTE;
    out->loop_count++;
    out->turns += atomic_load_explicit(&counters->turns, memory_order_relaxed);
    out->requests += atomic_load_explicit(&counters->requests, memory_order_relaxed);
    out->requests_under_way += atomic_load_explicit(&counters->under_way, memory_order_relaxed);
    for (size_t i = 0; i < COUNT_OF(counters->longest); i++) {
        int64_t ns = atomic_load_explicit(&counters->longest[i].ns, memory_order_relaxed);
        bool recent =
            atomic_load_explicit(&counters->longest[i].minute, memory_order_relaxed) >= minute - 1;
        if (recent && ns > out->longest_turn_ns)
            out->longest_turn_ns = ns;
    }
}

static void on_round_end(uv_check_t *round_end)
{
    struct http_loop *loop = round_end->data;
    http_inbox_set_awake(&loop->inbox);
    uv_idle_stop(&loop->again);
    run_tasks(loop);
    end_turn(loop);
    run_closers(loop); /* Here, so that their places are free before the next are accepted. */
    count_turn(loop);
}

/* libuv does not wait while an idle handle is active. */
static void on_again(uv_idle_t *again)
{
    (void)again;
}

static void on_round(uv_prepare_t *round)
{
    struct http_loop *loop = round->data;
    http_turn_begin(&loop->turn);
    run_writers(loop);
    /* Timers and writers may have led to requests as well. Usually they have not, and then the turn
     * ends once, so that work which is bounded for each end is bounded for each turn. */
    if (loop->request_count != loop->turn_request_count)
        end_turn(loop);
    bool may_sleep = http_inbox_may_sleep(&loop->inbox);
    if (!may_sleep || loop->turn.writers.first != NULL || loop->turn.closers.first != NULL)
        uv_idle_start(&loop->again, on_again);
}

/* --- Tasks --- */

bool http_loop_has_room(const struct http_loop *loop)
{
    const struct http_shared *shared = loop->shared;
    return memory_budget_used(&shared->memory) <= shared->options.memory_max;
}

void http_loop_post(struct http_loop *loop, struct http_task *task)
{
    http_inbox_post(&loop->inbox, task);
}

void http_loop_post_if_running(struct http_loop *loop, struct http_task *task)
{
    if (!atomic_load(&loop->stop_asked))
        http_inbox_post(&loop->inbox, task);
}

static void run_tasks(struct http_loop *loop)
{
    struct http_task *task = http_inbox_take(&loop->inbox);
    while (task != NULL) {
        struct http_task *next = task->next; /* `run` may free the task. */
        task->run(task);
        task = next;
    }
}

/* --- Delays --- */

static void remove_first_delayed(struct http_loop *loop)
{
    struct http_delayed *next = loop->delayed.first->next;
    loop->delayed.first = next;
    if (next != NULL)
        next->previous = NULL;
    else
        loop->delayed.last = NULL;
}

static void on_later(uv_timer_t *timer);

static void arm_later(struct http_loop *loop)
{
    const struct http_delayed *first = loop->delayed.first;
    uint64_t now_ms = uv_now(&loop->uv);
    if (first != NULL)
        uv_timer_start(&loop->later, on_later, first->due_ms > now_ms ? first->due_ms - now_ms : 0,
                       0);
}

/* Runs those that are due by then. */
static void run_delayed(struct http_loop *loop, uint64_t until_ms)
{
    struct http_delayed *first;
    while ((first = loop->delayed.first) != NULL && first->due_ms <= until_ms) {
        remove_first_delayed(loop);
        first->run(first); /* May free it. */
    }
}

static void on_later(uv_timer_t *timer)
{
    struct http_loop *loop = timer->data;
    run_delayed(loop, uv_now(&loop->uv));
    arm_later(loop);
}

/* Most are due after those that wait already, so the place is sought from the end. */
void http_loop_run_later(struct http_loop *loop, struct http_delayed *delayed, uint64_t delay_ms)
{
    if (loop->stopping) {
        delayed->run(delayed);
        return;
    }
    struct http_delayed *before = loop->delayed.last;
    delayed->due_ms = uv_now(&loop->uv) + delay_ms;
    while (before != NULL && before->due_ms > delayed->due_ms)
        before = before->previous;
    delayed->previous = before;
    delayed->next = before == NULL ? loop->delayed.first : before->next;
    if (delayed->next != NULL)
        delayed->next->previous = delayed;
    else
        loop->delayed.last = delayed;
    if (before != NULL)
        before->next = delayed;
    else
        loop->delayed.first = delayed;
    if (loop->delayed.first == delayed)
        arm_later(loop);
}

/* --- Stopping --- */

static void close_handle(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void close_handles(struct http_loop *loop)
{
    loop->ending = true;
    http_listener_close(&loop->listener);
    uv_walk(&loop->uv, close_handle, NULL);
}

static void close_connections(struct http_loop *loop)
{
    for (struct http_connection *connection = loop->connections; connection != NULL;
         connection = connection->next)
        http_connection_close(connection);
}

/* Does not wait for connections that came while stopping. */
void http_loop_end_if_done(struct http_loop *loop)
{
    if (!loop->stopping || loop->ending || loop->early_count > 0 || loop->owed_count > 0)
        return;
    http_listener_close(&loop->listener);
    if (loop->connections == NULL)
        close_handles(loop);
    else
        close_connections(loop); /* Again is allowed; the last one to close ends the loop. */
}

static void on_grace_over(uv_timer_t *timer)
{
    struct http_loop *loop = timer->data;
    http_listener_close(&loop->listener);
    close_connections(loop);
    if (loop->owed_count == 0)
        return;
    /* Other threads still hold these exchanges and may post to this loop, so it is not freed. */
    log_write(LOG_WARN, "http", "stopping with %zu requests unanswered", loop->owed_count);
    loop->abandoned = true;
    uv_stop(&loop->uv);
}

static void begin_to_stop(struct http_loop *loop, uint64_t grace_ms)
{
    loop->stopping = true;
    for (struct http_connection *connection = loop->connections; connection != NULL;
         connection = connection->next)
        http_connection_stop(connection);
    run_delayed(loop, UINT64_MAX);
    uv_timer_start(&loop->grace, on_grace_over, grace_ms, 0);
    http_loop_end_if_done(loop);
}

/* Tasks run at the end of the turn. */
static void on_wakeup(uv_poll_t *wakeup, int status, int events)
{
    (void)status;
    (void)events;
    struct http_loop *loop = wakeup->data;
    http_inbox_clear(&loop->inbox);
    if (atomic_load(&loop->stop_asked) && !loop->stopping)
        begin_to_stop(loop, loop->grace_ms);
}

void http_loop_ask_to_stop(struct http_loop *loop, uint64_t grace_ms)
{
    loop->grace_ms = grace_ms;
    atomic_store(&loop->stop_asked, true);
    http_inbox_wake(&loop->inbox);
}

/* --- Life --- */

static void set_durations(struct http_loop *loop, const struct http_options *options)
{
    loop->deadlines.queues[HTTP_DEADLINE_IDLE].duration_ms = options->idle_timeout_ms;
    loop->deadlines.queues[HTTP_DEADLINE_HEADER].duration_ms = options->header_timeout_ms;
    loop->deadlines.queues[HTTP_DEADLINE_BODY].duration_ms = options->body_timeout_ms;
    loop->deadlines.queues[HTTP_DEADLINE_WRITE].duration_ms = options->write_timeout_ms;
    loop->deadlines.queues[HTTP_DEADLINE_DRAIN].duration_ms = HTTP_DRAIN_TIMEOUT_MS;
}

static int init_handles(struct http_loop *loop, int fd)
{
    uv_timer_init(&loop->uv, &loop->timer); /* Cannot fail. */
    uv_timer_init(&loop->uv, &loop->grace);
    uv_timer_init(&loop->uv, &loop->later);
    uv_prepare_init(&loop->uv, &loop->round);
    uv_check_init(&loop->uv, &loop->round_end);
    uv_idle_init(&loop->uv, &loop->again);
    loop->uv.data = loop;
    loop->round.data = loop;
    loop->round_end.data = loop;
    uv_prepare_start(&loop->round, on_round);
    uv_check_start(&loop->round_end, on_round_end);
    loop->timer.data = loop;
    loop->grace.data = loop;
    loop->later.data = loop;
    loop->wakeup.data = loop;
    int error = uv_poll_init(&loop->uv, &loop->wakeup, loop->inbox.fd);
    if (error == 0)
        error = uv_poll_start(&loop->wakeup, UV_READABLE, on_wakeup);
    return error != 0 ? error : http_listener_init(&loop->listener, loop, fd);
}

static void free_loop(struct http_loop *loop)
{
    http_inbox_deinit(&loop->inbox);
    http_pool_deinit(&loop->pool);
    free(loop);
}

struct http_loop *http_loop_create(struct http_shared *shared, int fd)
{
    struct http_loop *loop = memory_checked(calloc(1, sizeof *loop));
    loop->shared = shared;
    loop->timer_due_ms = UINT64_MAX;
    loop->listener.fd = -1;
    set_durations(loop, &shared->options);
    http_pool_init(&loop->pool, shared->options.header_size_max + INPUT_BODY_SIZE,
                   shared->options.memory_max / SPARES_PART / shared->loop_count, &shared->memory);
    loop->relief.run = http_pressure_run_task;
    if (!http_inbox_init(&loop->inbox) || uv_loop_init(&loop->uv) != 0) {
        free_loop(loop);
        return NULL;
    }
    if (init_handles(loop, fd) != 0) {
        loop->listener.fd = -1; /* The caller still owns it. */
        http_loop_destroy(loop);
        return NULL;
    }
    return loop;
}

void http_loop_destroy(struct http_loop *loop)
{
    if (loop->abandoned)
        return;
    if (!loop->ending) {
        close_handles(loop);
        uv_run(&loop->uv, UV_RUN_DEFAULT);
    }
    int busy = uv_loop_close(&loop->uv);
    assert(busy == 0);
    (void)busy;
    free_loop(loop);
}

static void *run(void *argument)
{
    struct http_loop *loop = argument;
    /* Writing to a closed connection must be an error here, not the end of the process. */
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    thread_priority_shorten_slices();
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    if (!loop->abandoned)
        run_tasks(loop); /* Posted after the last wake-up. */
    return NULL;
}

bool http_loop_start(struct http_loop *loop)
{
    return pthread_create(&loop->thread, NULL, run, loop) == 0;
}
