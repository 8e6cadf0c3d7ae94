/* wire.c -- see wire.h. The order of checks is the service's: content type, operation,
 * credentials, and only then the body.
 *
 * A request is looked at on its loop's thread up to its operation. What follows runs there too, or
 * in the pool if it is large; either way the call ends once, and its loop answers. Reads of many
 * items begin on the loop (read_queue.h) and go on in the pool if they take long.
 */
#include "wire/wire.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "api/api.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "base/random.h"
#include "http/header.h"
#include "http/server.h"
#include "model/error.h"
#include "model/limits.h"
#include "wire/answer.h"
#include "wire/audit.h"
#include "wire/authentication.h"
#include "wire/compression.h"
#include "wire/origin.h"
#include "wire/read_queue.h"
#include "wire/slow_pool.h"

/* A compressed body is large if it may be after it was inflated: deflate makes at most about a
 * thousand bytes of one. */
enum { COMPRESSED_LARGE_SIZE_MIN = WIRE_LARGE_SIZE_MIN / 1024 };

/* What the last call of a connection was that writes many items: the next one will be alike. Only a
 * guess, but a transaction cannot be cut into slices. */
enum cost { COST_UNKNOWN, COST_LOW, COST_HIGH };

/* Threads apart from the loops (slow_pool.h), each with its own state. */
struct wire_pool {
    struct slow_pool *pool;
    struct wire_loop **loops;
};

struct wire {
    struct api *api;
    struct wire_options options;
    struct http_handler handler;
    struct wire_pool slow;       /* For large requests and those that write many items. */
    struct wire_pool background; /* For the rest of long reads, and to compress answers. */
    struct audit *audit;
    struct wire_loop *loops; /* Of the server, until they are closed. */
};

/* One per loop and per thread of the pool, so that nothing is shared between them. */
struct wire_loop {
    struct wire *wire;
    struct random random;
    struct authentication *authentication; /* NULL: any credentials are taken. */
    /* Writes of this turn, and those that wait; NULL for the pool, whose threads may wait. */
    struct txn_group *group;
    /* Unused for the pool: */
    struct wire_loop *next;
    struct http_loop *http_loop;
    struct http_task resume; /* Goes on with writes that had to wait. */
    struct read_queue reads;
    struct http_task wake; /* Begins another turn while reads wait. */
    bool is_woken;
};

struct wire_call {
    struct api_call call;
    struct http_task task;
    struct slow_task slow_task;
    struct read_task read_task;
    struct http_exchange *exchange;
    struct wire_loop *loop;              /* The exchange's. */
    struct authenticated *authenticated; /* NULL: nobody is told apart. */
    pthread_t thread;                    /* The loop's. */
    pthread_t runner;                    /* That which runs it: the loop's, or one of the pool's. */
    struct wire_loop *runner_loop;       /* NULL: it was not run. */
    struct http_answer answer;           /* Status 0: not prepared yet. */
    enum cost cost;                      /* What it turned out to be; UNKNOWN: it says nothing. */
    bool answers_plainly;                /* Even if the client takes gzip. */
};

/* --- Headers --- */

/* Does an Accept-Encoding list name gzip, and not with a weight of zero? */
static bool accepts_gzip(struct bytes list)
{
    while (list.len > 0) {
        struct bytes entry = http_header_next_part(&list, ',');
        struct bytes coding = http_header_next_part(&entry, ';');
        if (!http_header_equal(coding, BYTES("gzip")))
            continue;
        struct bytes weight = http_header_trim(entry);
        return !bytes_equal(weight, BYTES("q=0")) && !bytes_equal(weight, BYTES("q=0.0"));
    }
    return false;
}

static enum origin_verdict judge_origin(const struct wire *wire,
                                        const struct http_exchange *exchange, struct bytes *allowed)
{
    struct origin_headers headers = {
        .origin = http_exchange_header(exchange, "Origin"),
        .fetch_site = http_exchange_header(exchange, "Sec-Fetch-Site"),
        .host = http_exchange_header(exchange, "Host"),
    };
    return origin_judge(&wire->options.pages, &headers, allowed);
}

/* The value of Access-Control-Allow-Origin; data NULL where there is to be none. */
static struct bytes allowed_origin(const struct wire *wire, const struct http_exchange *exchange)
{
    struct bytes allowed;
    return judge_origin(wire, exchange, &allowed) == ORIGIN_SERVED ? allowed : (struct bytes){ 0 };
}

static struct bytes media_type(const struct http_exchange *exchange)
{
    struct bytes type = http_exchange_header(exchange, "Content-Type");
    return http_header_next_part(&type, ';');
}

static struct answer_context answer_context(struct wire_loop *loop,
                                            const struct http_exchange *exchange)
{
    struct answer_context context = {
        .arena = http_exchange_arena(exchange),
        .random = &loop->random,
        .allowed_origin = allowed_origin(loop->wire, exchange),
        .gzip = accepts_gzip(http_exchange_header(exchange, "Accept-Encoding")),
    };
    if (http_header_equal(media_type(exchange), BYTES("application/json")))
        context.content_type = BYTES("application/json");
    return context;
}

/* --- Answers --- */

static void answer_text(struct wire_loop *loop, struct http_exchange *exchange, int status,
                        struct bytes text)
{
    struct answer_context context = answer_context(loop, exchange);
    context.content_type = BYTES("text/plain");
    struct http_answer answer = { .status = status };
    answer_fill(&context, text, &answer);
    http_exchange_answer(exchange, &answer);
}

static void answer_error(struct wire_loop *loop, struct http_exchange *exchange,
                         const struct error *err)
{
    struct answer_context context = answer_context(loop, exchange);
    struct http_answer answer = { 0 };
    answer_fill_error(&context, err, &answer);
    http_exchange_answer(exchange, &answer);
}

/* What the service says, in XML of all things, to a request that is not of its protocol. */
static void answer_foreign(struct wire_loop *loop, struct http_exchange *exchange)
{
    answer_text(loop, exchange, 404, BYTES("<UnknownOperationException/>\n"));
}

static bool refuse_missing_token(struct error *err)
{
    return error_set(err, ERROR_MISSING_AUTHENTICATION_TOKEN,
                     "Request is missing Authentication Token");
}

static void answer_missing_token(struct wire_loop *loop, struct http_exchange *exchange)
{
    struct error err;
    error_init(&err, http_exchange_arena(exchange));
    refuse_missing_token(&err);
    answer_error(loop, exchange, &err);
}

/* The answer with its checksum, and compressed if the client likes. `loop` is that of the thread
 * that does it: for a large answer this takes long, so the pool does it for its own. */
static void prepare_answer(struct wire_loop *loop, struct wire_call *call)
{
    struct answer_context context = answer_context(loop, call->exchange);
    context.gzip = context.gzip && !call->answers_plainly;
    audit_call(loop->wire->audit, &call->call);
    authentication_release(call->authenticated);
    buffer_trim(&call->call.response); /* It may have to wait for its client for long. */
    call->answer.status = 200;
    if (error_is_set(&call->call.error))
        answer_fill_error(&context, &call->call.error, &call->answer);
    else
        answer_fill(&context, buffer_bytes(&call->call.response), &call->answer);
}

/* On the thread of the exchange's loop. */
static void answer_call(struct wire_call *call)
{
    if (call->answer.status == 0)
        prepare_answer(call->loop, call);
    if (call->cost != COST_UNKNOWN)
        http_exchange_set_hint(call->exchange, (uint8_t)call->cost);
    http_exchange_answer(call->exchange, &call->answer);
}

static void run_answer_task(struct http_task *task)
{
    answer_call((struct wire_call *)((char *)task - offsetof(struct wire_call, task)));
}

static void run_compression(struct slow_task *task, void *thread_context)
{
    struct wire_call *call =
        (struct wire_call *)((char *)task - offsetof(struct wire_call, slow_task));
    call->answers_plainly = http_exchange_is_in_vain(call->exchange);
    prepare_answer(thread_context, call);
    call->task.run = run_answer_task;
    http_loop_post(http_exchange_loop(call->exchange), &call->task);
}

/* Compressing a large answer would keep its loop busy for tens of milliseconds. Whether the pool
 * does it. Where it has no room the answer goes as it is, which every client understands. */
static bool is_compressed_in_pool(struct wire_call *call)
{
    if (call->call.response.len < WIRE_LARGE_ANSWER_SIZE_MIN || error_is_set(&call->call.error) ||
        !accepts_gzip(http_exchange_header(call->exchange, "Accept-Encoding")))
        return false;
    call->slow_task.run = run_compression;
    if (slow_pool_submit(call->loop->wire->background.pool, &call->slow_task))
        return true; /* From here on the call is the pool's. */
    call->answers_plainly = true;
    return false;
}

/* One that was refused before it read anything says nothing about the next. */
static void note_cost(struct wire_call *call)
{
    size_t size = call->call.written_size;
    if (size > 0 || !error_is_set(&call->call.error))
        call->cost = size > WIRE_LIGHT_WRITTEN_SIZE_MAX ? COST_HIGH : COST_LOW;
}

/* On whichever thread the call ended; the answer belongs to the exchange's loop. */
static void call_done(struct api_call *api_call)
{
    struct wire_call *call =
        (struct wire_call *)((char *)api_call - offsetof(struct wire_call, call));
    bool is_runner = call->runner_loop != NULL && pthread_equal(call->runner, pthread_self());
    bool is_loop = pthread_equal(call->thread, pthread_self());
    if (operation_writes_many(call->call.operation))
        note_cost(call);
    if (is_loop && is_compressed_in_pool(call))
        return;
    if (is_runner)
        prepare_answer(call->runner_loop, call);
    if (is_loop) {
        answer_call(call);
        return;
    }
    call->task.run = run_answer_task;
    http_loop_post(http_exchange_loop(call->exchange), &call->task);
}

/* --- Requests --- */

static const char *const service_names[] = {
    [OPERATION_OF_DYNAMODB] = "DynamoDB_20120810",
    [OPERATION_OF_STREAMS] = "DynamoDBStreams_20120810",
    [OPERATION_OF_STATOR] = "Stator_20261101",
};

static const struct operation *find_operation(const struct http_exchange *exchange)
{
    struct bytes target = http_exchange_header(exchange, "X-Amz-Target");
    struct bytes service = http_header_next_part(&target, '.');
    const struct operation *operation = operation_find(target);
    if (operation == NULL)
        return NULL;
    return bytes_equal_text(service, service_names[operation_service(operation)]) ? operation
                                                                                  : NULL;
}

struct bytes wire_target(struct arena *arena, const char *operation)
{
    const struct operation *found = operation_find(bytes_from_text(operation));
    assert(found != NULL);
    return arena_printf(arena, "%s.%s", service_names[operation_service(found)], operation);
}

/* The body as the operation reads it. */
static bool read_body(const struct http_exchange *exchange, struct bytes *out, struct error *err)
{
    struct bytes encoding = http_exchange_header(exchange, "Content-Encoding");
    enum compression_result result = COMPRESSION_DAMAGED;
    *out = http_exchange_body(exchange);
    if (encoding.len == 0 || http_header_equal(encoding, BYTES("identity")))
        return true;
    if (http_header_equal(encoding, BYTES("gzip")) || http_header_equal(encoding, BYTES("deflate")))
        result =
            compression_inflate(http_exchange_arena(exchange), *out, REQUEST_BODY_SIZE_MAX, out);
    if (result == COMPRESSION_OK)
        return true;
    if (result == COMPRESSION_TOO_LARGE)
        return error_set(err, ERROR_REQUEST_TOO_LARGE, "Request body exceeds %d bytes",
                         REQUEST_BODY_SIZE_MAX);
    return error_set(err, ERROR_SERIALIZATION, "The body does not follow its Content-Encoding");
}

/* Who sends a request. `loop` is that of the thread that asks. */
static bool authenticate(struct wire_loop *loop, struct wire_call *call, struct error *err)
{
    struct bytes claimed = { 0 };
    if (loop->authentication == NULL)
        return http_exchange_header(call->exchange, "Authorization").data != NULL ||
               refuse_missing_token(err);
    call->authenticated = authentication_check(loop->authentication, call->exchange, &claimed, err);
    if (call->authenticated == NULL) {
        audit_stranger(loop->wire->audit, call->exchange, call->call.operation, claimed, err);
        return false;
    }
    call->call.caller = &call->authenticated->caller;
    return true;
}

/* On a loop's thread or on one of the pool's, whose own `loop` is. */
static void run_call(struct wire_loop *loop, struct wire_call *call)
{
    struct error *err = &call->call.error;
    call->runner = pthread_self();
    call->runner_loop = loop;
    call->call.group = loop->group;
    if (authenticate(loop, call, err) && read_body(call->exchange, &call->call.body, err))
        api_run(loop->wire->api, &call->call);
    else
        call->call.done(&call->call);
}

/* For a client that is gone, before anything was done for it. */
static void drop_call(struct wire_call *call)
{
    error_set(&call->call.error, ERROR_REQUEST_TIMEOUT, "The client is gone");
    call->call.done(&call->call);
}

static void run_in_pool(struct slow_task *task, void *thread_context)
{
    struct wire_call *call =
        (struct wire_call *)((char *)task - offsetof(struct wire_call, slow_task));
    if (http_exchange_is_in_vain(call->exchange))
        drop_call(call);
    else
        run_call(thread_context, call);
}

/* One slice. */
static void run_read(struct read_task *task, int64_t until_ns)
{
    struct wire_call *call =
        (struct wire_call *)((char *)task - offsetof(struct wire_call, read_task));
    bool is_paused = call->call.resume != NULL;
    call->call.pause_at_ns = until_ns;
    call->call.pause_at_size = is_paused ? SIZE_MAX : READ_QUEUE_FIRST_SIZE;
    if (!http_exchange_is_in_vain(call->exchange)) {
        if (is_paused)
            api_resume(&call->call);
        else
            run_call(call->loop, call);
    } else if (is_paused) {
        api_cancel(&call->call);
    } else {
        drop_call(call);
    }
}

/* The rest of a read that was paused, in one go. */
static void run_rest(struct slow_task *task, void *thread_context)
{
    struct wire_call *call =
        (struct wire_call *)((char *)task - offsetof(struct wire_call, slow_task));
    call->runner = pthread_self();
    call->runner_loop = thread_context;
    call->call.paused = NULL;
    if (http_exchange_is_in_vain(call->exchange))
        api_cancel(&call->call);
    else
        api_resume(&call->call);
}

/* A read that is not light goes on in the pool, so that its loop has a processor as soon as another
 * client comes. If there is no room it goes on here, in slices. */
static void call_paused(struct api_call *api_call)
{
    struct wire_call *call =
        (struct wire_call *)((char *)api_call - offsetof(struct wire_call, call));
    call->slow_task.run = run_rest;
    if (call->read_task.begun ||
        !slow_pool_submit(call->loop->wire->background.pool, &call->slow_task))
        read_queue_pause(&call->loop->reads, &call->read_task);
}

/* Whether a request would keep its loop's other clients waiting just by being read. */
static bool is_large(const struct http_exchange *exchange)
{
    size_t size = http_exchange_body(exchange).len;
    return size >= WIRE_LARGE_SIZE_MIN ||
           (size >= COMPRESSED_LARGE_SIZE_MIN &&
            http_exchange_header(exchange, "Content-Encoding").data != NULL);
}

/* A first transaction on a connection runs in the pool if there is room. Most are light, and a
 * thousand clients that have just come must not be refused for what a few of them may be up to. */
static void run_where_it_fits(struct wire_call *call)
{
    const struct operation *operation = call->call.operation;
    bool large = is_large(call->exchange);
    uint8_t expected =
        operation_writes_many(operation) ? http_exchange_hint(call->exchange) : COST_LOW;
    call->slow_task.run = run_in_pool;
    if ((large || expected != COST_LOW) &&
        slow_pool_submit(call->loop->wire->slow.pool, &call->slow_task))
        return;
    if (large || expected == COST_HIGH) {
        error_set(&call->call.error, ERROR_SERVICE_UNAVAILABLE,
                  "Too many large requests are waiting");
        call->call.done(&call->call);
    } else if (operation_reads_many(operation)) {
        call->call.paused = call_paused;
        call->read_task.run = run_read;
        read_queue_start(&call->loop->reads, &call->read_task);
    } else {
        run_call(call->loop, call);
    }
}

static void run_operation(struct wire_loop *loop, struct http_exchange *exchange)
{
    struct arena *arena = http_exchange_arena(exchange);
    const struct operation *operation = find_operation(exchange);
    if (operation == NULL) {
        struct error err;
        error_init(&err, arena);
        error_set(&err, ERROR_UNKNOWN_OPERATION, "%s", "");
        answer_error(loop, exchange, &err);
        return;
    }
    struct wire_call *call = arena_alloc(arena, sizeof *call);
    *call = (struct wire_call){
        .call = { .arena = arena,
                  .operation = operation,
                  .host = http_exchange_header(exchange, "Host"),
                  .done = call_done },
        .exchange = exchange,
        .loop = loop,
        .thread = pthread_self(),
    };
    error_init(&call->call.error, arena);
    buffer_init(&call->call.response, arena);
    run_where_it_fits(call);
}

static void answer_preflight(struct wire_loop *loop, struct http_exchange *exchange)
{
    struct arena *arena = http_exchange_arena(exchange);
    struct bytes origin = allowed_origin(loop->wire, exchange);
    struct bytes wanted = http_exchange_header(exchange, "Access-Control-Request-Headers");
    struct http_header *headers = arena_alloc(arena, 5 * sizeof *headers);
    size_t count = 0;
    if (origin.data != NULL) {
        headers[count++] = (struct http_header){ BYTES("Access-Control-Allow-Origin"), origin };
        headers[count++] =
            (struct http_header){ BYTES("Access-Control-Allow-Methods"), BYTES("POST") };
        headers[count++] = (struct http_header){ BYTES("Access-Control-Max-Age"), BYTES("172800") };
        if (wanted.data != NULL)
            headers[count++] =
                (struct http_header){ BYTES("Access-Control-Allow-Headers"), wanted };
    }
    headers[count++] = (struct http_header){ BYTES("Vary"), BYTES("Origin") };
    struct http_answer answer = {
        .status = 200, .headers = headers, .header_count = count, .body = BYTES("")
    };
    http_exchange_answer(exchange, &answer);
}

/* --- Health --- */

static const char alive_target[] = "/healthz", ready_target[] = "/readyz";

static bool is_get(struct bytes method)
{
    return bytes_equal_text(method, "GET") || bytes_equal_text(method, "HEAD");
}

static bool is_health_check(struct bytes method, struct bytes target)
{
    return is_get(method) &&
           (bytes_equal_text(target, alive_target) || bytes_equal_text(target, ready_target));
}

/* Reads a few words that others keep up to date: nothing here may wait. */
static void answer_ready(struct wire_loop *loop, struct http_exchange *exchange)
{
    const struct wire_options *options = &loop->wire->options;
    const char *reason = options->not_ready == NULL ? NULL : options->not_ready(options->context);
    if (reason == NULL && http_exchange_finds_pressure(exchange))
        reason = "memory pressure: requests hold most of request-memory-max";
    if (reason == NULL)
        answer_text(loop, exchange, 200, BYTES("ok\n"));
    else
        answer_text(loop, exchange, 503,
                    arena_printf(http_exchange_arena(exchange), "%s\n", reason));
}

static void answer_get(struct wire_loop *loop, struct http_exchange *exchange)
{
    struct bytes target = http_exchange_target(exchange);
    if (bytes_equal_text(target, alive_target))
        answer_text(loop, exchange, 200, BYTES("ok\n"));
    else if (bytes_equal_text(target, ready_target))
        answer_ready(loop, exchange);
    else if (bytes_equal_text(target, "/"))
        answer_missing_token(loop, exchange); /* Container health checks rely on this 400. */
    else
        answer_foreign(loop, exchange);
}

/* A page that may not call is told so before anything of its request is looked at. */
static bool refuse_page(struct wire_loop *loop, struct http_exchange *exchange)
{
    struct bytes ignored;
    switch (judge_origin(loop->wire, exchange, &ignored)) {
    case ORIGIN_SERVED:
        return false;
    case ORIGIN_REFUSED:
        answer_text(loop, exchange, 403,
                    BYTES("Pages of this origin may not call: it is not in cors-origins\n"));
        return true;
    case ORIGIN_HOST_REFUSED:
        answer_text(loop, exchange, 421,
                    BYTES("Pages may not use this name for the server: "
                          "it is not in allowed-hosts\n"));
        return true;
    }
    assert(false);
    return true;
}

static void handle_request(void *loop_context, struct http_exchange *exchange)
{
    struct wire_loop *loop = loop_context;
    struct bytes method = http_exchange_method(exchange);
    if (refuse_page(loop, exchange))
        return;
    if (bytes_equal_text(method, "POST")) {
        struct bytes type = media_type(exchange);
        if (http_header_equal(type, BYTES("application/x-amz-json-1.0")) ||
            http_header_equal(type, BYTES("application/json")))
            run_operation(loop, exchange);
        else
            answer_foreign(loop, exchange);
    } else if (bytes_equal_text(method, "OPTIONS")) {
        answer_preflight(loop, exchange);
    } else if (is_get(method)) {
        answer_get(loop, exchange);
    } else {
        answer_foreign(loop, exchange);
    }
}

/* A request that never became whole: a body in the protocol's form, so that SDKs show a reason. */
static void fill_refusal(void *loop_context, struct arena *arena, struct http_answer *answer)
{
    struct wire_loop *loop = loop_context;
    struct answer_context context = { .arena = arena, .random = &loop->random };
    struct error err;
    int status = answer->status;
    error_init(&err, arena);
    switch (status) {
    case 408:
        error_set(&err, ERROR_REQUEST_TIMEOUT, "The request did not arrive in time");
        break;
    case 413:
        error_set(&err, ERROR_REQUEST_TOO_LARGE, "Request body exceeds %d bytes",
                  REQUEST_BODY_SIZE_MAX);
        break;
    case 431:
        error_set(&err, ERROR_REQUEST_TOO_LARGE, "Request headers are too large");
        break;
    case 503:
        error_set(&err, ERROR_SERVICE_UNAVAILABLE,
                  "The server is stopping or has no room for this request");
        break;
    default:
        error_set(&err, ERROR_MALFORMED_HTTP, "The request is not valid HTTP/1.1");
        break;
    }
    answer_fill_error(&context, &err, answer);
    answer->status = status;
}

static struct wire_loop *create_loop(struct wire *wire)
{
    struct wire_loop *loop = memory_checked(malloc(sizeof *loop));
    *loop = (struct wire_loop){ .wire = wire };
    random_init_from_system(&loop->random);
    if (wire->options.authentication.keys != NULL)
        loop->authentication = authentication_create(&wire->options.authentication);
    return loop;
}

static void wake(struct http_task *task)
{
    struct wire_loop *loop = (struct wire_loop *)((char *)task - offsetof(struct wire_loop, wake));
    loop->is_woken = false; /* The turn that this belongs to has an end, too. */
}

static void run_resume_task(struct http_task *task)
{
    const struct wire_loop *loop =
        (struct wire_loop *)((char *)task - offsetof(struct wire_loop, resume));
    api_group_resume(loop->group);
}

/* On any thread, and not again before the task has run. */
static void wake_loop(void *context)
{
    struct wire_loop *loop = context;
    http_loop_post(loop->http_loop, &loop->resume);
}

static void *open_loop(void *context, struct http_loop *http_loop)
{
    struct wire *wire = context;
    struct wire_loop *loop = create_loop(wire);
    loop->http_loop = http_loop;
    loop->resume.run = run_resume_task;
    loop->group = api_group_create(wake_loop, loop);
    loop->wake.run = wake;
    read_queue_init(&loop->reads, clock_monotonic_ns);
    loop->next = wire->loops;
    wire->loops = loop;
    return loop;
}

/* Writes come first: they have waited for the others of this turn already. */
static void end_turn(void *loop_context)
{
    struct wire_loop *loop = loop_context;
    api_group_run(loop->group);
    if (LIKELY(read_queue_is_empty(&loop->reads))) {
        loop->reads.turn_used_ns = 0;
        return;
    }
    bool reads_wait = read_queue_end_turn(&loop->reads, http_loop_has_room(loop->http_loop));
    api_group_run(loop->group); /* Statements may write. */
    if (reads_wait && !loop->is_woken) {
        loop->is_woken = true;
        http_loop_post(loop->http_loop, &loop->wake);
    }
}

static void destroy_loop(struct wire_loop *loop)
{
    if (loop->authentication != NULL)
        authentication_destroy(loop->authentication);
    api_group_destroy(loop->group);
    free(loop);
}

static void close_loop(void *loop_context)
{
    struct wire_loop *loop = loop_context, **at = &loop->wire->loops;
    while (*at != loop)
        at = &(*at)->next;
    *at = loop->next;
    destroy_loop(loop);
}

static void forget_call(struct api_call *api_call)
{
    struct wire_call *call =
        (struct wire_call *)((char *)api_call - offsetof(struct wire_call, call));
    authentication_release(call->authenticated);
}

/* Nobody will answer it: a paused read lets go of the store. */
static void forget(struct wire_call *call)
{
    call->call.done = forget_call;
    if (call->call.resume != NULL)
        api_cancel(&call->call);
    else
        forget_call(&call->call);
}

static void forget_pool_task(struct slow_task *task)
{
    forget((struct wire_call *)((char *)task - offsetof(struct wire_call, slow_task)));
}

static void forget_reads(struct wire_loop *loop)
{
    struct read_task *task;
    while ((task = read_queue_take(&loop->reads)) != NULL)
        forget((struct wire_call *)((char *)task - offsetof(struct wire_call, read_task)));
}

static void start_pool(struct wire *wire, struct wire_pool *pool, enum slow_pool_priority priority)
{
    size_t count = wire->options.slow_thread_count;
    pool->loops = memory_checked(calloc(count, sizeof(*pool->loops)));
    for (size_t i = 0; i < count; i++)
        pool->loops[i] = create_loop(wire);
    pool->pool = slow_pool_start((void *const *)pool->loops, count, priority);
}

static void stop_pool(struct wire_pool *pool)
{
    slow_pool_stop(pool->pool, forget_pool_task);
    pool->pool = NULL;
}

static void destroy_pool(const struct wire *wire, struct wire_pool *pool)
{
    for (size_t i = 0; i < wire->options.slow_thread_count; i++)
        destroy_loop(pool->loops[i]);
    free(pool->loops);
}

struct wire *wire_create(struct api *api, const struct wire_options *options)
{
    assert(options->slow_thread_count > 0);
    struct wire *wire = memory_checked(malloc(sizeof *wire));
    *wire = (struct wire){ .api = api, .options = *options, .audit = audit_create() };
    wire->handler = (struct http_handler){ .context = wire,
                                           .loop_open = open_loop,
                                           .loop_close = close_loop,
                                           .request = handle_request,
                                           .is_vital = is_health_check,
                                           .turn_end = end_turn,
                                           .refusal = fill_refusal };
    start_pool(wire, &wire->slow, SLOW_POOL_AS_LOOPS);
    start_pool(wire, &wire->background, SLOW_POOL_BELOW_LOOPS);
    return wire;
}

void wire_stop(struct wire *wire)
{
    stop_pool(&wire->slow);
    stop_pool(&wire->background);
    for (struct wire_loop *loop = wire->loops; loop != NULL; loop = loop->next)
        forget_reads(loop);
}

void wire_destroy(struct wire *wire)
{
    wire_stop(wire);
    destroy_pool(wire, &wire->slow);
    destroy_pool(wire, &wire->background);
    audit_destroy(wire->audit);
    free(wire);
}

const struct http_handler *wire_http_handler(struct wire *wire)
{
    return &wire->handler;
}
