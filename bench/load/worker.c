/* worker.c -- one event loop for each thread; a request costs it one send and one recv. */
#include "worker.h"
#include <assert.h>
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/thread_priority.h"
#include "connection.h"

enum { EVENTS_MAX = 256, TIMER_SLACK_NS = 1, NICENESS_MIN = -20, ERROR_SIZE_MAX = 600 };

#define NS_PER_S INT64_C(1000000000)
/* How long after the end the last answers may come. */
#define DRAIN_NS (60 * NS_PER_S)

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        err(1, "calloc");
    return memory;
}

static void watch(struct worker *worker, struct connection *connection, int operation,
                  uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = connection };
    if (epoll_ctl(worker->epoll, operation, connection->socket, &event) != 0)
        err(1, "epoll_ctl");
}

static void push_free(struct worker *worker, struct connection *connection)
{
    connection->next = NULL;
    *worker->free_end = connection;
    worker->free_end = &connection->next;
}

static struct connection *pop_free(struct worker *worker)
{
    struct connection *connection = worker->free;
    worker->free = connection->next;
    if (worker->free == NULL)
        worker->free_end = &worker->free;
    return connection;
}

static void copy_texts(const struct plan *plan, struct connection *connection)
{
    connection->texts = allocate(plan->template_count, sizeof *connection->texts);
    for (size_t i = 0; i < plan->template_count; i++) {
        const struct template *template = &plan->templates[i];
        connection->texts[i] = allocate(1, template->size);
        memcpy(connection->texts[i], template->text, template->size);
    }
}

void worker_open(struct worker *worker, struct plan *plan, unsigned number, size_t connection_count,
                 uint64_t seed)
{
    *worker = (struct worker){ .plan = plan,
                               .number = number,
                               .connection_count = connection_count,
                               .epoll = epoll_create1(EPOLL_CLOEXEC) };
    if (worker->epoll < 0)
        err(1, "epoll_create1");
    worker->free_end = &worker->free;
    random_init(&worker->random, seed + number);
    worker->intervals = allocate(plan->interval_count, sizeof *worker->intervals);
    worker->connections = allocate(connection_count, sizeof *worker->connections);
    for (size_t i = 0; i < connection_count; i++) {
        struct connection *connection = &worker->connections[i];
        connection_open(connection, plan->port, plan->tls);
        copy_texts(plan, connection);
        watch(worker, connection, EPOLL_CTL_ADD, EPOLLIN);
        push_free(worker, connection);
    }
}

static size_t choose_template(struct worker *worker)
{
    const struct plan *plan = worker->plan;
    if (plan->template_count == 1)
        return 0;
    uint64_t left = random_below(&worker->random, plan->weight_sum);
    size_t index = 0;
    while (left >= plan->templates[index].weight)
        left -= plan->templates[index++].weight;
    return index;
}

/* False if every key of a fill was put already. */
static bool choose_values(struct worker *worker, struct template_values *values)
{
    struct plan *plan = worker->plan;
    *values =
        (struct template_values){ .random = &worker->random,
                                  .key_range = plan->key_range,
                                  .token_high = (uint64_t)plan->begin_ns,
                                  .token_low = (uint64_t)worker->number << 48 | worker->begun };
    if (plan->fill_count > 0) {
        uint64_t request = atomic_fetch_add(&plan->fill_begun, 1);
        values->base = request * plan->key_count;
        values->stride = 1;
        return request < plan->fill_count;
    }
    values->base = random_below(&worker->random, plan->key_range);
    values->stride = plan->key_range / plan->key_count; /* Far from each other. */
    return true;
}

/* Sends a request whose time counts from `begin_ns`; false if there is none left to send. */
static bool begin_request(struct worker *worker, struct connection *connection, int64_t begin_ns)
{
    struct template_values values;
    if (!choose_values(worker, &values))
        return false;
    size_t index = choose_template(worker);
    const struct template *template = &worker->plan->templates[index];
    template_fill(template, &values, connection->texts[index]);
    connection->begin_ns = begin_ns;
    worker->begun++;
    if (connection_send(connection, connection->texts[index], template->size) == CONNECTION_SENDING)
        watch(worker, connection, EPOLL_CTL_MOD, EPOLLOUT);
    return true;
}

static void count_answer(struct worker *worker, const struct connection *connection, int64_t now_ns)
{
    const struct plan *plan = worker->plan;
    if (connection->status != 200 && worker->errors++ == 0)
        warnx("%.*s", ERROR_SIZE_MAX, connection->buffer);
    worker->answered++;
    worker->body_bytes += connection->body_size;
    worker->last_answer_ns = now_ns;
    size_t index = (size_t)((now_ns - plan->begin_ns) / plan->interval_ns);
    if (index >= plan->interval_count)
        index = plan->interval_count - 1; /* An answer after the end. */
    worker->intervals[index].answers++;
    histogram_add(&worker->intervals[index].times_ns, (uint64_t)(now_ns - connection->begin_ns));
}

/* When request number `number` of this thread is due. The threads take turns. */
static int64_t due_ns(const struct worker *worker, uint64_t number)
{
    double seconds = (double)number / worker->plan->rate_per_s;
    return worker->plan->begin_ns + (int64_t)(seconds * (double)NS_PER_S);
}

/* With a rate, sends what is due; without, whatever there are free connections for. */
static void begin_requests(struct worker *worker, int64_t now_ns)
{
    const struct plan *plan = worker->plan;
    while (worker->free != NULL && now_ns < plan->end_ns) {
        int64_t begin_ns = now_ns;
        if (plan->rate_per_s > 0) {
            begin_ns = due_ns(worker, worker->begun);
            if (begin_ns > now_ns || begin_ns >= plan->end_ns)
                return;
        }
        struct connection *connection = pop_free(worker);
        if (!begin_request(worker, connection, begin_ns)) {
            push_free(worker, connection);
            return;
        }
    }
}

/* How long the thread may sleep: until the next request is due, or something must have come. */
static struct timespec time_to_wait(const struct worker *worker, int64_t now_ns)
{
    const struct plan *plan = worker->plan;
    int64_t until_ns = plan->end_ns + DRAIN_NS;
    if (plan->rate_per_s > 0 && worker->free != NULL && now_ns < plan->end_ns)
        until_ns = due_ns(worker, worker->begun);
    int64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    return (struct timespec){ .tv_sec = wait_ns / NS_PER_S, .tv_nsec = wait_ns % NS_PER_S };
}

static void take_event(struct worker *worker, const struct epoll_event *event)
{
    struct connection *connection = event->data.ptr;
    bool was_sending = connection->unsent_size > 0;
    enum connection_state state = connection_go_on(connection);
    if (was_sending && state == CONNECTION_RECEIVING)
        watch(worker, connection, EPOLL_CTL_MOD, EPOLLIN);
    if (state != CONNECTION_ANSWERED)
        return;
    count_answer(worker, connection, clock_monotonic_ns());
    push_free(worker, connection);
    begin_requests(worker, worker->last_answer_ns);
}

/* With a rate, times are measured, and this thread stands for clients on other machines: it takes a
 * twentieth of a core, but what it waits for one, behind threads of the server, counts as the
 * server's time. The first of these needs a privilege; without it the times are a little longer. */
static void come_first(void)
{
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS_MIN);
    thread_priority_shorten_slices();
}

static void *run(void *context)
{
    struct worker *worker = context;
    const struct plan *plan = worker->plan;
    struct epoll_event events[EVENTS_MAX];
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    if (plan->rate_per_s > 0)
        come_first();
    int64_t now_ns = clock_monotonic_ns();
    for (;;) {
        begin_requests(worker, now_ns);
        bool all_begun =
            now_ns >= plan->end_ns ||
            (plan->fill_count > 0 && atomic_load(&plan->fill_begun) >= plan->fill_count);
        if (worker->begun == worker->answered && all_begun)
            break;
        if (now_ns > plan->end_ns + DRAIN_NS)
            errx(1, "%llu requests have no answer",
                 (unsigned long long)(worker->begun - worker->answered));
        struct timespec wait = time_to_wait(worker, now_ns);
        int count = epoll_pwait2(worker->epoll, events, EVENTS_MAX, &wait, NULL);
        if (count < 0)
            err(1, "epoll_pwait2");
        for (int i = 0; i < count; i++)
            take_event(worker, &events[i]);
        now_ns = clock_monotonic_ns();
    }
    while (plan->rate_per_s > 0 && due_ns(worker, worker->begun + worker->unsent) < plan->end_ns)
        worker->unsent++;
    return NULL;
}

void worker_start(struct worker *worker)
{
    worker->last_answer_ns = worker->plan->begin_ns;
    int code = pthread_create(&worker->thread, NULL, run, worker);
    if (code != 0)
        errx(1, "pthread_create: %s", strerror(code));
}

void worker_join(struct worker *worker)
{
    int code = pthread_join(worker->thread, NULL);
    assert(code == 0);
    (void)code;
}

void worker_close(struct worker *worker)
{
    for (size_t i = 0; i < worker->connection_count; i++) {
        struct connection *connection = &worker->connections[i];
        for (size_t j = 0; j < worker->plan->template_count; j++)
            free(connection->texts[j]);
        free(connection->texts);
        connection_close(connection);
    }
    free(worker->connections);
    free(worker->intervals);
    close(worker->epoll);
}
