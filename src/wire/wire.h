/* wire.h -- everything between the HTTP server and the api: the call runner, the router, and the
 * routes of DynamoDB's protocol and of the health checks.
 *
 * Other protocols and pages add their routes to wire_router before the HTTP server starts.
 */
#ifndef STATOR_WIRE_WIRE_H
#define STATOR_WIRE_WIRE_H
#include <stddef.h>
#include "call/authentication.h"
#include "router/origin.h"
#include "wire/dynamodb.h"
#include "wire/metrics.h"

struct api;
struct http_handler;
struct relay;
struct router;
struct wire;

struct wire_options {
    struct origin_rules pages; /* Which web pages may call. */
    /* Where browsers that open "/" are sent; NULL: nowhere. Outlives the wire. */
    const char *home;
    enum dynamodb_root root;
    /* Returns why reads and writes are not possible now, in one line; NULL if they are. Called on
     * loops for each request of /readyz, so it must not wait. May be NULL: always ready. */
    const char *(*not_ready)(void *context);
    void *context; /* Passed to not_ready. */
    struct authentication_options authentication;
    struct relay *relay;      /* To the servers of other regions; NULL: there are none. */
    size_t slow_thread_count; /* Threads of each pool of the call runner; above 0. */
    struct metrics_options metrics;
};

/* Borrows `api` and whatever the options point to. Destroy it after the HTTP server has stopped. */
struct wire *wire_create(struct api *api, const struct wire_options *options);
/* No more calls start. After the HTTP server has stopped, and before the api is closed. */
void wire_stop(struct wire *wire);
void wire_destroy(struct wire *wire);

struct router *wire_router(struct wire *wire);
/* The handler to start the HTTP server with; lives as long as the wire. */
const struct http_handler *wire_http_handler(struct wire *wire);
/* For the metrics' listener of its own, if the options have asked for one. */
const struct http_handler *wire_metrics_handler(struct wire *wire);

#endif
