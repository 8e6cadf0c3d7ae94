/* call_runner.c -- see call_runner.h. */
#include "call/call_runner.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "api/api.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/give_way.h"
#include "base/memory.h"
#include "base/random.h"
#include "call/audit.h"
#include "compression/compression.h"
#include "call/read_queue.h"
#include "call/refusal_pace.h"
#include "call/slow_pool.h"
#include "http/server.h"
#include "model/error.h"
#include "model/limits.h"

/* A compressed body counts as large if it may be after inflating: deflate makes at most about a
 * thousand bytes of one. */
enum { COMPRESSED_LARGE_SIZE_MIN = CALL_LARGE_SIZE_MIN / 1024 };

struct call_pool {
    struct slow_pool *threads; /* NULL: stopped. */
    struct call_worker **workers;
    size_t thread_count;
};

struct call_runner {
    struct api *api;
    struct call_runner_options options;
    struct call_pool slow;       /* Large requests, and transactions of large items. */
    struct call_pool background; /* The rest of long reads, and compression of large answers. */
    struct call_pool waiting;    /* Operations that wait, */
    struct call_pool writing;    /* and those that write items as well. */
    struct audit *audit;
    struct call_worker *loops; /* Of the server, until they are closed. */
    _Atomic uint64_t refusals_delayed;
};

struct call_worker {
    struct call_runner *runner;
    struct random random;
    struct authentication *authentication; /* NULL: any credentials are accepted. */
    /* Writes of this turn, and those that wait; NULL: the thread's writes, if any, wait there. */
    struct txn_group *group;
    struct call_pool *slow_pool; /* Of a thread of the slow pool; NULL: of another one. */
    /* Loops only: */
    struct call_worker *next;
    struct http_loop *http_loop;
    struct http_task resume; /* Resumes writes that had to wait. */
    struct read_queue reads;
    struct http_task wake; /* Starts another turn while reads wait. */
    bool is_woken;
    struct refusal_pace refusals; /* Those for throttling. */
    size_t delayed_count;         /* Answers that wait: by fault injection, or refusals. */
};

/* In the arena of its exchange. */
struct call {
    struct api_call api;
    struct http_task task;
    struct slow_task slow_task;
    struct read_task read_task;
    struct http_exchange *exchange;
    const struct call_envelope *envelope;
    struct call_worker *loop;            /* The exchange's. */
    struct authenticated *authenticated; /* NULL: callers are not distinguished. */
    pthread_t loop_thread;
    pthread_t runner_thread;    /* The thread that runs the call, */
    struct call_worker *runner; /* and its worker; NULL: the call was not run. */
    struct http_answer answer;  /* Status 0: not prepared yet. */
    int64_t moved_ns;           /* When its rest was moved to a pool. */
    bool skips_compression;
};

static struct call *call_of_api(struct api_call *api_call)
{
    return (struct call *)((char *)api_call - offsetof(struct call, api));
}

static struct call *call_of_slow_task(struct slow_task *task)
{
    return (struct call *)((char *)task - offsetof(struct call, slow_task));
}

static struct call *call_of_read_task(struct read_task *task)
{
    return (struct call *)((char *)task - offsetof(struct call, read_task));
}

static bool accepts_compression(const struct call *call)
{
    return compression_choose(http_exchange_header(call->exchange, "Accept-Encoding")) !=
           COMPRESSION_NONE;
}

/* --- The end of a call --- */

/* Compressing a large answer takes long, so a thread of a pool prepares its own answers; `worker`
 * is that of the thread. */
static void prepare_answer(struct call_worker *worker, struct call *call)
{
    assert(call->answer.status == 0); /* A call ends once. */
    audit_call(worker->runner->audit, &call->api);
    authentication_release(call->authenticated);
    buffer_trim(&call->api.response); /* It may wait for its client for long. */
    const struct call_ending ending = {
        .exchange = call->exchange,
        .arena = call->api.arena,
        .random = &worker->random,
        .operation = call->api.operation,
        .error = &call->api.error,
        .response = buffer_bytes(&call->api.response),
        .may_compress = !call->skips_compression,
    };
    call->envelope->fill_answer(call->envelope->context, &ending, &call->answer);
    assert(call->answer.status != 0);
}

/* An answer that is delayed, in the arena of its exchange. */
struct delayed_answer {
    struct http_delayed delayed;
    struct call *call;
};

static void send_delayed(struct http_delayed *delayed)
{
    struct call *call =
        ((struct delayed_answer *)((char *)delayed - offsetof(struct delayed_answer, delayed)))
            ->call;
    call->loop->delayed_count--;
    if (call->api.is_cut)
        http_exchange_abandon(call->exchange);
    else
        http_exchange_answer(call->exchange, &call->answer);
}

/* What fault injection does to an answer, or throttling. Nobody waits for a delay but the client.
 */
static void answer_late(struct call *call)
{
    struct call_worker *worker = call->loop;
    if (call->api.delay_ms > 0 && worker->delayed_count < CALL_DELAYED_MAX) {
        struct delayed_answer *delayed = arena_alloc(call->api.arena, sizeof *delayed);
        *delayed = (struct delayed_answer){ .delayed = { .run = send_delayed }, .call = call };
        worker->delayed_count++;
        http_loop_run_later(worker->http_loop, &delayed->delayed, (uint64_t)call->api.delay_ms);
    } else if (call->api.is_cut) {
        http_exchange_abandon(call->exchange);
    } else {
        http_exchange_answer(call->exchange, &call->answer);
    }
}

enum { NS_PER_MS = 1000 * 1000 };

static bool is_throttled(enum error_code code)
{
    return code == ERROR_PROVISIONED_THROUGHPUT_EXCEEDED || code == ERROR_THROTTLING ||
           code == ERROR_REQUEST_LIMIT_EXCEEDED;
}

/* Refusals that were asked for, to test a client, are not delayed beyond what was asked for. */
static void pace_refusal(struct call *call)
{
    struct call_worker *worker = call->loop;
    if (!is_throttled(call->api.error.code) || call->api.is_injected)
        return;
    int64_t delay_ms = refusal_pace_delay_ms(&worker->refusals, clock_monotonic_ns() / NS_PER_MS);
    if (delay_ms == 0)
        return;
    call->api.delay_ms += delay_ms;
    if (worker->delayed_count < CALL_DELAYED_MAX) /* Others are sent at once. */
        atomic_fetch_add_explicit(&worker->runner->refusals_delayed, 1, memory_order_relaxed);
}

/* On the loop's thread. */
static void answer(struct call *call)
{
    assert(pthread_equal(call->loop_thread, pthread_self()));
    if (call->answer.status == 0)
        prepare_answer(call->loop, call);
    if (UNLIKELY(error_is_set(&call->api.error)))
        pace_refusal(call);
    if (UNLIKELY(call->api.is_cut || call->api.delay_ms > 0))
        answer_late(call);
    else
        http_exchange_answer(call->exchange, &call->answer);
}

static void run_answer_task(struct http_task *task)
{
    answer((struct call *)((char *)task - offsetof(struct call, task)));
}

static void post_answer(struct call *call)
{
    call->task.run = run_answer_task;
    http_loop_post(http_exchange_loop(call->exchange), &call->task);
}

static void run_compression(struct slow_task *task, void *thread_context)
{
    struct call *call = call_of_slow_task(task);
    call->skips_compression = http_exchange_is_in_vain(call->exchange);
    prepare_answer(thread_context, call);
    post_answer(call);
}

/* Would preparing the answer keep a loop busy for milliseconds? */
static bool has_large_answer(const struct call *call)
{
    size_t size = call->api.response.len;
    if (error_is_set(&call->api.error))
        return false;
    return (size >= CALL_LARGE_ANSWER_SIZE_MIN && accepts_compression(call)) ||
           (size >= CALL_LARGE_CODED_SIZE_MIN && call->envelope->encodes);
}

/* Compressing a large answer would keep the loop busy for tens of milliseconds. True if the
 * background pool does it, and owns the call from here on. If the pool is full, the answer is sent
 * uncompressed, which every client understands. */
static bool is_prepared_in_background(struct call *call)
{
    if (!has_large_answer(call))
        return false;
    call->slow_task = (struct slow_task){ .run = run_compression };
    if (slow_pool_submit(call->loop->runner->background.threads, &call->slow_task))
        return true;
    call->skips_compression = true;
    return false;
}

/* On whichever thread the call ended. */
static void end_call(struct api_call *api_call)
{
    struct call *call = call_of_api(api_call);
    const struct call_worker *runner = call->runner;
    bool is_runner = runner != NULL && pthread_equal(call->runner_thread, pthread_self());
    bool is_loop = pthread_equal(call->loop_thread, pthread_self());
    /* Of a thread of the pool. A loop may be closed as soon as it has answered. */
    bool is_pooled = runner != NULL && runner->slow_pool != NULL;
    /* A thread that neither runs calls nor answers them leaves the answer to the loop. */
    bool is_loops = is_loop || (!is_runner && call->envelope->encodes);
    if (!is_loops || !is_prepared_in_background(call)) {
        if (is_runner)
            prepare_answer(call->runner, call);
        if (is_loop)
            answer(call);
        else
            post_answer(call);
    }
    /* The call is gone. A runner of the pool is not, before this. */
    if (is_pooled)
        slow_pool_end_work(runner->slow_pool->threads, runner);
}

/* --- Running --- */

/* Identifies the sender of the request. `worker` is that of the running thread. */
static bool authenticate(struct call_worker *worker, struct call *call, struct error *err)
{
    struct bytes claimed = { 0 };
    if (worker->authentication == NULL)
        return http_exchange_header(call->exchange, "Authorization").data != NULL ||
               authentication_refuse_missing(err);
    call->authenticated = authentication_check(worker->authentication, call->exchange,
                                               call->envelope->service, &claimed, err);
    if (call->authenticated == NULL) {
        audit_stranger(worker->runner->audit, call->exchange, call->api.operation, claimed, err);
        return false;
    }
    call->api.caller = &call->authenticated->caller;
    return true;
}

/* The body without its Content-Encoding. */
static bool read_body(const struct http_exchange *exchange, struct bytes *out, struct error *err)
{
    struct bytes encoding = http_exchange_header(exchange, "Content-Encoding");
    enum compression_result result = COMPRESSION_DAMAGED;
    enum compression_format format;
    *out = http_exchange_body(exchange);
    if (encoding.len == 0 || http_header_equal(encoding, BYTES("identity")))
        return true;
    format = compression_find(encoding);
    if (format != COMPRESSION_NONE)
        result = compression_inflate(http_exchange_arena(exchange), *out, format,
                                     REQUEST_BODY_SIZE_MAX, out);
    if (result == COMPRESSION_OK)
        return true;
    if (result == COMPRESSION_TOO_LARGE)
        return error_set(err, ERROR_REQUEST_TOO_LARGE, "Request body exceeds %d bytes",
                         REQUEST_BODY_SIZE_MAX);
    return error_set(err, ERROR_SERIALIZATION, "The body does not follow its Content-Encoding");
}

/* The body as the operation reads it. */
static bool read_request(struct call *call, struct error *err)
{
    const struct call_envelope *envelope = call->envelope;
    struct bytes *body = &call->api.body;
    return read_body(call->exchange, body, err) &&
           (envelope->decode == NULL || envelope->decode(envelope->context, call->api.operation,
                                                         call->api.arena, *body, body, err));
}

/* On the thread of `worker`. */
static void run(struct call_worker *worker, struct call *call)
{
    struct error *err = &call->api.error;
    assert(call->runner == NULL);
    call->runner_thread = pthread_self();
    call->runner = worker;
    call->api.group = worker->group;
    if (authenticate(worker, call, err) && read_request(call, err))
        api_run(worker->runner->api, &call->api);
    else
        api_refuse(worker->runner->api, &call->api);
}

/* The client has gone, and nothing has been done for it. */
static void drop(struct call *call)
{
    assert(call->runner == NULL);
    error_set(&call->api.error, ERROR_REQUEST_TIMEOUT, "The client is gone");
    api_refuse(call->loop->runner->api, &call->api);
}

/* The rest of a paused read, in one go. */
static void run_rest(struct slow_task *task, void *thread_context)
{
    struct call *call = call_of_slow_task(task);
    assert(call->api.resume != NULL);
    call->runner_thread = pthread_self();
    call->runner = thread_context;
    call->api.paused = NULL;
    call->api.queue_ns += clock_monotonic_ns() - call->moved_ns;
    if (http_exchange_is_in_vain(call->exchange))
        api_cancel(&call->api);
    else
        api_resume(&call->api);
}

/* Moves the rest of a paused read to the background pool. False if that is full. */
static bool move_to_background(struct call *call)
{
    call->slow_task = (struct slow_task){ .run = run_rest };
    call->moved_ns = clock_monotonic_ns();
    return slow_pool_submit(call->loop->runner->background.threads, &call->slow_task);
}

/* On a thread of the slow pool, which has read the request and should not be kept by the rest. */
static void pause_in_pool(struct api_call *api_call)
{
    struct call *call = call_of_api(api_call);
    const struct call_worker *worker = call->runner;
    if (move_to_background(call)) {
        slow_pool_end_work(worker->slow_pool->threads, worker);
        return;
    }
    call->api.paused = NULL;
    api_resume(&call->api);
}

/* A transaction that was begun on a loop, in one go. Nothing has been done for it yet. */
static void run_transaction(struct slow_task *task, void *thread_context)
{
    struct call *call = call_of_slow_task(task);
    struct call_worker *worker = thread_context;
    call->runner_thread = pthread_self();
    call->runner = worker;
    call->api.group = worker->group;
    call->api.queue_ns += clock_monotonic_ns() - call->moved_ns;
    slow_pool_begin_work(worker->slow_pool->threads, worker);
    if (http_exchange_is_in_vain(call->exchange))
        api_cancel(&call->api);
    else
        api_resume(&call->api);
    api_group_run(worker->group);
}

static void refuse_large(struct call *call)
{
    error_set(&call->api.error, ERROR_SERVICE_UNAVAILABLE, "Too many large requests are waiting");
}

/* On a loop, whose other clients should not wait for a transaction of many large items. */
static void move_transaction(struct api_call *api_call)
{
    struct call *call = call_of_api(api_call);
    assert(pthread_equal(call->loop_thread, pthread_self()));
    call->slow_task = (struct slow_task){ .run = run_transaction, .is_heavy = true };
    call->moved_ns = clock_monotonic_ns();
    if (slow_pool_submit(call->loop->runner->slow.threads, &call->slow_task))
        return;
    refuse_large(call);
    api_cancel(api_call);
}

/* On a thread of a pool. In the slow one, a write that has to wait leaves the thread to others. */
static void run_in_pool(struct slow_task *task, void *thread_context)
{
    struct call *call = call_of_slow_task(task);
    struct call_worker *worker = thread_context;
    call->api.queue_ns = clock_monotonic_ns() - call->api.started_ns;
    if (http_exchange_is_in_vain(call->exchange)) {
        drop(call);
        return;
    }
    if (worker->slow_pool ==
        NULL) {             /* Of a pool where reads are not cut, and writes not grouped. */
        give_way_set(true); /* An operation that writes stops that when it has read its request. */
        run(worker, call);
        return;
    }
    slow_pool_begin_work(worker->slow_pool->threads, worker);
    if (operation_reads_many(call->api.operation)) {
        call->api.paused = pause_in_pool;
        call->api.pause_at_ns = clock_monotonic_ns() + READ_QUEUE_FIRST_NS;
        call->api.pause_at_size = READ_QUEUE_FIRST_SIZE;
    }
    give_way_set(true); /* Reading the request takes longest, and holds no latch yet. */
    run(worker, call);
    give_way_set(false);
    api_group_run(worker->group);
}

/* One slice, on the loop. */
static void run_read(struct read_task *task, int64_t until_ns)
{
    struct call *call = call_of_read_task(task);
    bool is_paused = call->api.resume != NULL;
    call->api.pause_at_ns = until_ns;
    call->api.pause_at_size = is_paused ? SIZE_MAX : READ_QUEUE_FIRST_SIZE;
    if (!is_paused) /* The slice has just begun. */
        call->api.queue_ns = until_ns - READ_QUEUE_FIRST_NS - call->api.started_ns;
    if (!http_exchange_is_in_vain(call->exchange)) {
        if (is_paused)
            api_resume(&call->api);
        else
            run(call->loop, call);
    } else if (is_paused) {
        api_cancel(&call->api);
    } else {
        drop(call);
    }
}

/* A read that outlasts its first slice moves to the background pool, so that its loop is free when
 * the next request comes. If the pool is full, the read stays on its loop, in slices. */
static void pause_read(struct api_call *api_call)
{
    struct call *call = call_of_api(api_call);
    assert(pthread_equal(call->loop_thread, pthread_self()));
    if (call->read_task.begun || !move_to_background(call))
        read_queue_pause(&call->loop->reads, &call->read_task);
}

/* True if just reading the request would make the loop's other clients wait for long. */
static bool is_large(const struct call *call)
{
    bool is_coded = call->envelope->decode != NULL;
    size_t size = http_exchange_body(call->exchange).len;
    size_t size_min = is_coded ? CALL_LARGE_CODED_SIZE_MIN : CALL_LARGE_SIZE_MIN;
    size_t compressed_size_min = is_coded ? 0 : COMPRESSED_LARGE_SIZE_MIN;
    return size >= size_min ||
           (size >= compressed_size_min &&
            http_exchange_header(call->exchange, "Content-Encoding").data != NULL);
}

/* Reads hold no latches, so a large one is parsed where it takes no CPU that a loop wants. */
static bool submit(struct call_runner *runner, struct call *call)
{
    const struct operation *operation = call->api.operation;
    switch (operation_waits(operation)) {
    case OPERATION_WAITS:
        return slow_pool_submit(runner->waiting.threads, &call->slow_task);
    case OPERATION_WAITS_AND_WRITES:
        return slow_pool_submit(runner->writing.threads, &call->slow_task);
    case OPERATION_WAITS_NOT:
        break;
    }
    return (operation_only_reads(operation) &&
            slow_pool_submit(runner->background.threads, &call->slow_task)) ||
           slow_pool_submit(runner->slow.threads, &call->slow_task);
}

/* Decides where the call runs. A request of medium size runs in the slow pool if there is room, and
 * otherwise here: most are cheap. */
static void start(struct call *call)
{
    const struct operation *operation = call->api.operation;
    struct call_runner *runner = call->loop->runner;
    bool waits = operation_waits(operation) != OPERATION_WAITS_NOT;
    bool large = is_large(call);
    bool medium = http_exchange_body(call->exchange).len >= CALL_MEDIUM_SIZE_MIN;
    call->slow_task.run = run_in_pool;
    call->slow_task.is_heavy = large;
    if ((medium || large || waits) && submit(runner, call))
        return;
    call->api.too_large = move_transaction;
    if (large || waits) {
        refuse_large(call);
        api_refuse(runner->api, &call->api);
    } else if (operation_reads_many(operation)) {
        call->api.paused = pause_read;
        call->read_task.run = run_read;
        read_queue_start(&call->loop->reads, &call->read_task);
    } else {
        run(call->loop, call);
    }
}

void call_runner_run(struct call_worker *worker, struct http_exchange *exchange,
                     const struct operation *operation, const struct call_envelope *envelope)
{
    assert(worker->http_loop == http_exchange_loop(exchange));
    struct arena *arena = http_exchange_arena(exchange);
    struct call *call = arena_alloc(arena, sizeof *call);
    *call = (struct call){
        .api = { .arena = arena,
                 .operation = operation,
                 .started_ns = api_start_ns(worker->runner->api),
                 .host = http_exchange_header(exchange, "Host"),
                 .done = end_call },
        .exchange = exchange,
        .envelope = envelope,
        .loop = worker,
        .loop_thread = pthread_self(),
    };
    error_init(&call->api.error, arena);
    buffer_init(&call->api.response, arena);
    start(call);
}

/* --- Workers --- */

struct random *call_worker_random(struct call_worker *worker)
{
    return &worker->random;
}

static struct call_worker *create_worker(struct call_runner *runner)
{
    struct call_worker *worker = memory_checked(malloc(sizeof *worker));
    *worker = (struct call_worker){ .runner = runner };
    random_init_from_system(&worker->random);
    if (runner->options.authentication.keys != NULL)
        worker->authentication = authentication_create(&runner->options.authentication);
    return worker;
}

static void destroy_worker(struct call_worker *worker)
{
    if (worker->authentication != NULL)
        authentication_destroy(worker->authentication);
    api_group_destroy(worker->group);
    free(worker);
}

static void resume_in_pool(void *thread_context)
{
    api_group_resume(((struct call_worker *)thread_context)->group);
}

/* On any thread. */
static void wake_in_pool(void *context)
{
    const struct call_worker *worker = context;
    slow_pool_wake(worker->slow_pool->threads, worker);
}

static void run_wake_task(struct http_task *task)
{
    struct call_worker *worker =
        (struct call_worker *)((char *)task - offsetof(struct call_worker, wake));
    worker->is_woken = false; /* The end of the turn that this task started runs the reads. */
}

static void run_resume_task(struct http_task *task)
{
    const struct call_worker *worker =
        (struct call_worker *)((char *)task - offsetof(struct call_worker, resume));
    api_group_resume(worker->group);
}

/* On any thread, and not again before the task has run. */
static void post_resume_task(void *context)
{
    struct call_worker *worker = context;
    http_loop_post(worker->http_loop, &worker->resume);
}

struct call_worker *call_runner_open_loop(struct call_runner *runner, struct http_loop *http_loop)
{
    struct call_worker *worker = create_worker(runner);
    worker->http_loop = http_loop;
    worker->resume.run = run_resume_task;
    worker->group = api_group_create(post_resume_task, worker);
    worker->wake.run = run_wake_task;
    read_queue_init(&worker->reads, clock_monotonic_ns);
    worker->next = runner->loops;
    runner->loops = worker;
    return worker;
}

void call_runner_close_loop(struct call_worker *worker)
{
    assert(read_queue_is_empty(&worker->reads) && worker->delayed_count == 0);
    struct call_worker **at = &worker->runner->loops;
    while (*at != worker)
        at = &(*at)->next;
    *at = worker->next;
    destroy_worker(worker);
}

/* Writes come first: they have waited for the others of this turn already. */
void call_runner_end_turn(struct call_worker *worker)
{
    api_group_run(worker->group);
    if (LIKELY(read_queue_is_empty(&worker->reads))) {
        worker->reads.turn_used_ns = 0;
        return;
    }
    bool reads_wait = read_queue_end_turn(&worker->reads, http_loop_has_room(worker->http_loop));
    api_group_run(worker->group); /* Statements may write. */
    if (reads_wait && !worker->is_woken) {
        worker->is_woken = true;
        http_loop_post(worker->http_loop, &worker->wake);
    }
}

uint64_t call_runner_refusals_delayed(const struct call_runner *runner)
{
    return atomic_load_explicit(&runner->refusals_delayed, memory_order_relaxed);
}

/* --- Start and stop --- */

static void release_caller(struct api_call *api_call)
{
    authentication_release(call_of_api(api_call)->authenticated);
}

/* Ends a call that nobody will answer, so that a paused read releases what it holds of the store.
 */
static void forget(struct call *call)
{
    call->api.done = release_caller;
    if (call->api.resume != NULL)
        api_cancel(&call->api);
    else
        release_caller(&call->api);
}

static void forget_slow_task(struct slow_task *task)
{
    forget(call_of_slow_task(task));
}

static void forget_reads(struct call_worker *worker)
{
    struct read_task *task;
    while ((task = read_queue_take(&worker->reads)) != NULL)
        forget(call_of_read_task(task));
}

/* Pools that decide about writes have the priority of the loops. */
static void start_pool(struct call_runner *runner, struct call_pool *pool, size_t count)
{
    bool is_slow = pool == &runner->slow;
    bool decides = is_slow || pool == &runner->writing;
    pool->thread_count = count;
    pool->workers = memory_checked(calloc(count, sizeof(*pool->workers)));
    for (size_t i = 0; i < count; i++) {
        struct call_worker *worker = create_worker(runner);
        if (is_slow) {
            worker->slow_pool = pool;
            worker->group = api_group_create(wake_in_pool, worker);
        }
        pool->workers[i] = worker;
    }
    const struct slow_pool_options options = {
        .thread_contexts = (void *const *)pool->workers,
        .thread_count = count,
        .priority = decides ? SLOW_POOL_AS_LOOPS : SLOW_POOL_BELOW_LOOPS,
        .resume = is_slow ? resume_in_pool : NULL,
    };
    pool->threads = slow_pool_start(&options);
}

static void stop_pool(struct call_pool *pool)
{
    slow_pool_stop(pool->threads, forget_slow_task);
    pool->threads = NULL;
}

static void destroy_pool(struct call_pool *pool)
{
    for (size_t i = 0; i < pool->thread_count; i++)
        destroy_worker(pool->workers[i]);
    free(pool->workers);
}

struct call_runner *call_runner_create(struct api *api, const struct call_runner_options *options)
{
    assert(options->slow_thread_count > 0);
    struct call_runner *runner = memory_checked(malloc(sizeof *runner));
    *runner = (struct call_runner){ .api = api, .options = *options, .audit = audit_create() };
    start_pool(runner, &runner->slow, options->slow_thread_count);
    start_pool(runner, &runner->background, options->slow_thread_count);
    start_pool(runner, &runner->waiting, CALL_WAITING_THREADS);
    start_pool(runner, &runner->writing, CALL_WRITING_THREADS);
    return runner;
}

void call_runner_stop(struct call_runner *runner)
{
    stop_pool(&runner->slow);
    stop_pool(&runner->background);
    stop_pool(&runner->waiting);
    stop_pool(&runner->writing);
    for (struct call_worker *worker = runner->loops; worker != NULL; worker = worker->next)
        forget_reads(worker);
}

void call_runner_destroy(struct call_runner *runner)
{
    call_runner_stop(runner);
    destroy_pool(&runner->slow);
    destroy_pool(&runner->background);
    destroy_pool(&runner->waiting);
    destroy_pool(&runner->writing);
    audit_destroy(runner->audit);
    free(runner);
}
