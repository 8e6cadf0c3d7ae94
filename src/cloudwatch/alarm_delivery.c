/* alarm_delivery.c -- see alarm_delivery.h. */
#include "cloudwatch/alarm_delivery.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/timed_wait.h"
#include "cloudwatch/alarm_record.h"
#include "http/server.h"

/* An action that waits, or is being carried out. */
struct job {
    uint64_t number;
    uint64_t target;    /* A hash: two targets with the same one wait for each other. */
    bool needs_network; /* Otherwise it needs the scaler, which is set after opening. */
    bool is_running;
    unsigned attempts;
    int64_t due_ms; /* Of the monotonic clock. */
};

struct worker {
    struct alarm_delivery *delivery;
    pthread_t thread;
    /* Guarded by the mutex. */
    struct outbound_client *client; /* NULL until it is needed. */
    bool is_busy;
    uint64_t target; /* Of the action that it is carrying out. */
};

struct alarm_delivery {
    struct alarm_delivery_options options;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    alarm_scaler *scaler;
    void *scaler_context;
    struct job *jobs; /* In the order of their numbers. */
    size_t job_count;
    size_t job_capacity;
    struct worker workers[ALARM_DELIVERY_THREADS];
    size_t worker_count;
    bool stopping;
    struct random random;
};

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static uint64_t hash_of(struct bytes target)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < target.len; i++)
        hash = (hash ^ target.data[i]) * UINT64_C(1099511628211);
    return hash;
}

/* --- Which action is next --- */

static bool is_target_busy(const struct alarm_delivery *delivery, uint64_t target)
{
    for (size_t i = 0; i < delivery->worker_count; i++)
        if (delivery->workers[i].is_busy && delivery->workers[i].target == target)
            return true;
    return false;
}

/* The next job that is due; NULL with the time until one may be. */
static struct job *find_due_locked(struct alarm_delivery *delivery, int64_t *wait_ms)
{
    int64_t now = now_ms();
    *wait_ms = TIMED_WAIT_FOREVER;
    for (size_t i = 0; i < delivery->job_count; i++) {
        struct job *job = &delivery->jobs[i];
        bool can_run = job->needs_network ? delivery->options.outside.network != NULL
                                          : delivery->scaler != NULL;
        if (job->is_running || !can_run)
            continue;
        if (job->due_ms > now) {
            *wait_ms = timed_wait_sooner(*wait_ms, job->due_ms - now);
            continue;
        }
        if (!is_target_busy(delivery, job->target))
            return job;
    }
    return NULL;
}

static struct job *find_locked(struct alarm_delivery *delivery, uint64_t number)
{
    for (size_t i = 0; i < delivery->job_count; i++)
        if (delivery->jobs[i].number == number)
            return &delivery->jobs[i];
    return NULL;
}

static void remove_locked(struct alarm_delivery *delivery, uint64_t number)
{
    struct job *job = find_locked(delivery, number);
    assert(job != NULL);
    size_t behind = (size_t)(delivery->jobs + delivery->job_count - (job + 1));
    memmove(job, job + 1, behind * sizeof *job);
    delivery->job_count--;
}

static int64_t pause_after(struct alarm_delivery *delivery, unsigned attempts)
{
    int64_t first_ms = delivery->options.outside.pause_ms != 0 ? delivery->options.outside.pause_ms
                                                               : ALARM_DELIVERY_PAUSE_MS;
    int64_t pause_ms = attempts > 20 ? ALARM_DELIVERY_PAUSE_MS_MAX : first_ms << (attempts - 1);
    if (pause_ms > ALARM_DELIVERY_PAUSE_MS_MAX)
        pause_ms = ALARM_DELIVERY_PAUSE_MS_MAX;
    return pause_ms + (int64_t)random_below(&delivery->random, (uint64_t)pause_ms / 4 + 1);
}

/* --- Carrying one out --- */

/* ENGINE_NOT_FOUND if it is not stored any more. */
static enum engine_status read_action(struct alarm_delivery *delivery, struct arena *arena,
                                      uint64_t number, struct alarm_action *out)
{
    struct engine_view *view = NULL;
    struct engine_value value = { 0 };
    struct engine_address address = monitor_number_address(arena, MONITOR_KEY_ACTION, number);
    enum engine_status status = engine_view_open(delivery->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_view_get(view, &address, &value);
    if (status == ENGINE_OK && !alarm_action_decode(arena, value.bytes, out))
        status = ENGINE_CORRUPT;
    engine_value_release(&value);
    engine_view_close(view);
    return status;
}

/* NULL with one line for people if there can be none now. */
static struct outbound_client *client_of(struct worker *worker, char message[OUTBOUND_MESSAGE_MAX])
{
    struct alarm_delivery *delivery = worker->delivery;
    pthread_mutex_lock(&delivery->mutex);
    struct outbound_client *client = worker->client;
    pthread_mutex_unlock(&delivery->mutex);
    if (client != NULL)
        return client;
    client = outbound_client_create(delivery->options.outside.network, message);
    pthread_mutex_lock(&delivery->mutex);
    worker->client = client;
    bool stopping = delivery->stopping;
    pthread_mutex_unlock(&delivery->mutex);
    if (client != NULL && stopping)
        outbound_client_cancel(client);
    return client;
}

/* NULL if the server took the message; otherwise what went wrong. */
static const char *post(struct worker *worker, struct arena *arena,
                        const struct alarm_action *action, bool *cancelled)
{
    static const struct http_header headers[] = {
        { { (const uint8_t *)"Content-Type", 12 }, { (const uint8_t *)"application/json", 16 } },
        { { (const uint8_t *)"X-Amz-Sns-Message-Type", 22 },
          { (const uint8_t *)"Notification", 12 } },
        { { (const uint8_t *)"X-Amz-Sns-Rawdelivery", 21 }, { (const uint8_t *)"true", 4 } },
    };
    char *message = arena_alloc(arena, OUTBOUND_MESSAGE_MAX);
    struct outbound_client *client = client_of(worker, message);
    struct outbound_answer answer = { 0 };
    if (client == NULL)
        return message;
    const struct outbound_request request = { .method = "POST",
                                              .url = action->target,
                                              .headers = headers,
                                              .header_count = COUNT_OF(headers),
                                              .body = action->message,
                                              .timeout_ms = ALARM_DELIVERY_TIMEOUT_MS,
                                              .answer_size_max = ALARM_DELIVERY_ANSWER_SIZE_MAX };
    enum outbound_result result =
        worker->delivery->options.outside.send(client, arena, &request, &answer);
    *cancelled = result == OUTBOUND_CANCELLED;
    struct bytes problem = answer.problem;
    if (result == OUTBOUND_OK && answer.status >= 200 && answer.status < 300)
        return NULL;
    if (result == OUTBOUND_OK)
        problem = arena_printf(arena, "the server answered %d", answer.status);
    return (const char *)arena_printf(arena, "%.*s%c", BYTES_FMT(problem), '\0').data;
}

const char *alarm_delivery_scale(struct alarm_delivery *delivery, struct arena *arena,
                                 const struct alarm_action *action, bool repeated)
{
    pthread_mutex_lock(&delivery->mutex);
    alarm_scaler *scaler = delivery->scaler;
    void *context = delivery->scaler_context;
    pthread_mutex_unlock(&delivery->mutex);
    if (scaler == NULL)
        return "there is no such scaling policy";
    return scaler(context, arena, action, repeated);
}

/* True if the job has ended, either way. */
static bool carry_out(struct worker *worker, struct arena *arena, uint64_t number,
                      unsigned attempts)
{
    struct alarm_delivery *delivery = worker->delivery;
    struct alarm_action action;
    bool cancelled = false;
    const char *problem;
    enum engine_status status = read_action(delivery, arena, number, &action);
    if (status == ENGINE_NOT_FOUND)
        return true;
    if (status != ENGINE_OK) {
        log_write(LOG_ERROR, "alarm", "reading an action: %s", engine_status_name(status));
        return false;
    }
    if (alarm_action_is_url(action.target))
        problem = post(worker, arena, &action, &cancelled);
    else
        problem = alarm_delivery_scale(delivery, arena, &action, false);
    if (cancelled)
        return false;
    if (problem != NULL) {
        log_write(LOG_WARN, "alarm", "%.*s: action, attempt %u: %s", BYTES_FMT(action.alarm_name),
                  attempts, problem);
        if (attempts < ALARM_DELIVERY_ATTEMPTS_MAX && alarm_action_is_url(action.target))
            return false;
    }
    return delivery->options.ended(delivery->options.context, arena, number, &action, problem);
}

static void *worker_main(void *context)
{
    struct worker *worker = context;
    struct alarm_delivery *delivery = worker->delivery;
    struct arena *arena = arena_create();
    pthread_mutex_lock(&delivery->mutex);
    while (!delivery->stopping) {
        int64_t wait_ms;
        struct job *job = find_due_locked(delivery, &wait_ms);
        if (job == NULL) {
            timed_wait(&delivery->changed, &delivery->mutex, wait_ms);
            continue;
        }
        uint64_t number = job->number;
        unsigned attempts = ++job->attempts;
        job->is_running = true;
        worker->target = job->target;
        worker->is_busy = true;
        pthread_mutex_unlock(&delivery->mutex);
        bool ended = carry_out(worker, arena, number, attempts);
        arena_reset(arena);
        pthread_mutex_lock(&delivery->mutex);
        worker->is_busy = false;
        if (ended) {
            remove_locked(delivery, number);
        } else {
            job = find_locked(delivery, number);
            assert(job != NULL); /* Only this thread removes a job that it runs. */
            job->is_running = false;
            job->due_ms = now_ms() + pause_after(delivery, attempts);
        }
        pthread_cond_broadcast(&delivery->changed); /* The target is free. */
    }
    pthread_mutex_unlock(&delivery->mutex);
    arena_destroy(arena);
    return NULL;
}

/* --- From outside --- */

struct alarm_delivery *alarm_delivery_create(const struct alarm_delivery_options *options)
{
    struct alarm_delivery *delivery = memory_checked(calloc(1, sizeof *delivery));
    assert(options->outside.network == NULL || options->outside.send != NULL);
    delivery->options = *options;
    pthread_mutex_init(&delivery->mutex, NULL);
    timed_wait_init(&delivery->changed);
    random_init_from_system(&delivery->random);
    return delivery;
}

void alarm_delivery_destroy(struct alarm_delivery *delivery)
{
    if (delivery == NULL)
        return;
    pthread_mutex_lock(&delivery->mutex);
    delivery->stopping = true;
    for (size_t i = 0; i < delivery->worker_count; i++)
        if (delivery->workers[i].client != NULL)
            outbound_client_cancel(delivery->workers[i].client);
    pthread_cond_broadcast(&delivery->changed);
    pthread_mutex_unlock(&delivery->mutex);
    for (size_t i = 0; i < delivery->worker_count; i++) {
        pthread_join(delivery->workers[i].thread, NULL);
        outbound_client_destroy(delivery->workers[i].client);
    }
    pthread_cond_destroy(&delivery->changed);
    pthread_mutex_destroy(&delivery->mutex);
    free(delivery->jobs);
    free(delivery);
}

void alarm_delivery_set_scaler(struct alarm_delivery *delivery, alarm_scaler *scaler, void *context)
{
    pthread_mutex_lock(&delivery->mutex);
    delivery->scaler = scaler;
    delivery->scaler_context = context;
    pthread_cond_broadcast(&delivery->changed);
    pthread_mutex_unlock(&delivery->mutex);
}

/* One more thread for each action that waits, up to ALARM_DELIVERY_THREADS. */
static void start_worker_locked(struct alarm_delivery *delivery)
{
    if (delivery->worker_count == ALARM_DELIVERY_THREADS ||
        delivery->worker_count >= delivery->job_count)
        return;
    struct worker *worker = &delivery->workers[delivery->worker_count];
    worker->delivery = delivery;
    if (pthread_create(&worker->thread, NULL, worker_main, worker) == 0)
        delivery->worker_count++;
    else
        log_write(LOG_ERROR, "alarm", "cannot start a thread for actions");
}

void alarm_delivery_add(struct alarm_delivery *delivery, uint64_t number, struct bytes target)
{
    pthread_mutex_lock(&delivery->mutex);
    if (delivery->job_count == delivery->job_capacity) {
        delivery->job_capacity = delivery->job_capacity == 0 ? 16 : delivery->job_capacity * 2;
        delivery->jobs = memory_checked(
            realloc(delivery->jobs, delivery->job_capacity * sizeof *delivery->jobs));
    }
    delivery->jobs[delivery->job_count++] =
        (struct job){ .number = number,
                      .target = hash_of(target),
                      .needs_network = alarm_action_is_url(target),
                      .due_ms = now_ms() };
    start_worker_locked(delivery);
    pthread_cond_signal(&delivery->changed);
    pthread_mutex_unlock(&delivery->mutex);
}

size_t alarm_delivery_waiting(struct alarm_delivery *delivery)
{
    pthread_mutex_lock(&delivery->mutex);
    size_t count = delivery->job_count;
    pthread_mutex_unlock(&delivery->mutex);
    return count;
}
