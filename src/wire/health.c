/* health.c -- see health.h. */
#include "wire/health.h"
#include "base/arena.h"
#include "call/call_runner.h"
#include "http/server.h"
#include "router/router.h"
#include "wire/answer.h"

static void answer_alive(void *context, void *loop_context, struct http_exchange *exchange)
{
    const struct health *health = context;
    answer_send_text(health->router, call_worker_random(loop_context), exchange, 200,
                     BYTES("ok\n"));
}

/* Reads a few words that other threads keep up to date: nothing here may wait. */
static void answer_ready(void *context, void *loop_context, struct http_exchange *exchange)
{
    const struct health *health = context;
    const char *reason = health->not_ready == NULL ? NULL : health->not_ready(health->context);
    if (reason == NULL && http_exchange_finds_pressure(exchange))
        reason = "memory pressure: requests hold most of request-memory-max";
    answer_send_text(
        health->router, call_worker_random(loop_context), exchange, reason == NULL ? 200 : 503,
        arena_printf(http_exchange_arena(exchange), "%s\n", reason == NULL ? "ok" : reason));
}

void health_init(struct health *health, struct router *router)
{
    health->router = router;
    const struct route alive = { .method = "GET",
                                 .path = "/healthz",
                                 .match = ROUTE_EXACT,
                                 .access = ROUTE_OPEN,
                                 .vital = true,
                                 .context = health,
                                 .handle = answer_alive };
    struct route ready = alive;
    ready.path = "/readyz";
    ready.handle = answer_ready;
    router_add(router, &alive);
    router_add(router, &ready);
}
