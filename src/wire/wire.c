/* wire.c -- see wire.h. */
#include "wire/wire.h"
#include <stdlib.h>
#include "base/memory.h"
#include "call/call_runner.h"
#include "http/server.h"
#include "router/router.h"
#include "wire/answer.h"
#include "wire/dynamodb.h"
#include "wire/health.h"

struct wire {
    struct http_handler handler;
    struct call_runner *runner;
    struct router *router;
    struct dynamodb dynamodb;
    struct health health;
    struct metrics *metrics; /* NULL: there is no such page. */
};

/* --- The HTTP server's handler --- */

static void *open_loop(void *context, struct http_loop *http_loop)
{
    const struct wire *wire = context;
    return call_runner_open_loop(wire->runner, http_loop);
}

static void close_loop(void *loop_context)
{
    call_runner_close_loop(loop_context);
}

static void end_turn(void *loop_context)
{
    call_runner_end_turn(loop_context);
}

static void handle_request(void *context, void *loop_context, struct http_exchange *exchange)
{
    const struct wire *wire = context;
    router_handle(wire->router, loop_context, exchange);
}

static bool is_vital(void *context, struct bytes method, struct bytes target)
{
    const struct wire *wire = context;
    return router_is_vital(wire->router, method, target);
}

static void fill_refusal(void *loop_context, struct arena *arena, struct http_answer *answer)
{
    dynamodb_fill_refusal(call_worker_random(loop_context), arena, answer);
}

static void refuse_page(void *context, void *loop_context, struct http_exchange *exchange,
                        int status, struct bytes text)
{
    const struct wire *wire = context;
    answer_send_text(wire->router, call_worker_random(loop_context), exchange, status, text);
}

/* --- Start and stop --- */

struct wire *wire_create(struct api *api, const struct wire_options *options)
{
    struct wire *wire = memory_checked(malloc(sizeof *wire));
    wire->handler = (struct http_handler){ .context = wire,
                                           .loop_open = open_loop,
                                           .loop_close = close_loop,
                                           .request = handle_request,
                                           .is_vital = is_vital,
                                           .turn_end = end_turn,
                                           .refusal = fill_refusal };
    const struct call_runner_options runner = { .authentication = options->authentication,
                                                .slow_thread_count = options->slow_thread_count };
    wire->runner = call_runner_create(api, &runner);
    const struct router_options router = { .pages = options->pages,
                                           .context = wire,
                                           .refuse_page = refuse_page };
    wire->router = router_create(&router);
    dynamodb_init(&wire->dynamodb, wire->router, options->home, options->root, options->relay);
    wire->health = (struct health){ .not_ready = options->not_ready, .context = options->context };
    health_init(&wire->health, wire->router);
    wire->metrics = metrics_create(api, wire->runner, wire->router, &options->metrics);
    return wire;
}

void wire_stop(struct wire *wire)
{
    metrics_stop(wire->metrics);
    call_runner_stop(wire->runner);
}

void wire_destroy(struct wire *wire)
{
    metrics_destroy(wire->metrics);
    call_runner_destroy(wire->runner);
    router_destroy(wire->router);
    free(wire);
}

struct router *wire_router(struct wire *wire)
{
    return wire->router;
}

const struct http_handler *wire_http_handler(struct wire *wire)
{
    return &wire->handler;
}

const struct http_handler *wire_metrics_handler(struct wire *wire)
{
    return metrics_handler(wire->metrics);
}
