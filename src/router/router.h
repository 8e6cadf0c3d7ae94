/* router.h -- which handler answers a request: one table of methods and paths.
 *
 * Stands between the HTTP server and everything that answers requests: protocols, health checks,
 * pages. It knows none of them; each adds its routes before the server starts.
 *
 * Among the routes with the request's method, the one with the longest matching path wins. If two
 * paths have the same length, an exact one wins over a prefix, and a named method over any method.
 *
 * Web pages that may not call (origin.h) are refused before a route is looked up, so no handler can
 * forget to check that.
 */
#ifndef STATOR_ROUTER_ROUTER_H
#define STATOR_ROUTER_ROUTER_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "router/origin.h"

struct http_exchange;
struct router;

enum { ROUTER_ROUTES_MAX = 64 };

enum route_match {
    ROUTE_EXACT,  /* The request's target is the path, without a query. */
    ROUTE_PREFIX, /* It starts with the path. End a prefix with '/'; "" matches every target. */
};

/* Every route states what a caller must be allowed to do. */
enum route_access {
    ROUTE_ACCESS_NOT_STATED, /* router_add does not take it. */
    ROUTE_OPEN,              /* Answers anybody. Shows and changes nothing that policies protect. */
    ROUTE_ASKS,              /* Authenticates the caller and asks policies about every call. */
    ROUTE_LOCAL, /* Answers clients with a loopback address; the router refuses others. */
};

struct route {
    const char *method; /* NULL: any. "GET" also takes HEAD. */
    const char *path;   /* As in the request line. */
    enum route_match match;
    enum route_access access;
    /* Answered even if memory is short or the server is stopping: small, cheap, answered at once.
     */
    bool vital;
    void *context;
    /* On the loop's thread. Must lead to exactly one http_exchange_answer, now or later. */
    void (*handle)(void *context, void *loop_context, struct http_exchange *exchange);
};

struct router_options {
    struct origin_rules pages; /* Which web pages may call. */
    /* Answers a page that may not call. */
    void (*refuse_page)(void *context, void *loop_context, struct http_exchange *exchange,
                        int status, struct bytes text);
    void *context; /* Passed to refuse_page. */
};

struct router *router_create(const struct router_options *options);
void router_destroy(struct router *router);

/* Copies the route; its texts and its context must outlive the router. Before the server starts.
 * No two routes may have the same method, path and match. */
void router_add(struct router *router, const struct route *route);

/* The routes in the order in which they are tried. */
size_t router_count(const struct router *router);
const struct route *router_at(const struct router *router, size_t index);
/* NULL if no route matches. */
const struct route *router_find(const struct router *router, struct bytes method,
                                struct bytes target);

/* For struct http_handler: hands a request to its route's handler. Some route must match every
 * request: the last resort has any method and the prefix "". */
void router_handle(const struct router *router, void *loop_context, struct http_exchange *exchange);
bool router_is_vital(const struct router *router, struct bytes method, struct bytes target);

/* The value of Access-Control-Allow-Origin for an answer; data NULL if it has no such header.
 * Borrows the request. */
struct bytes router_allowed_origin(const struct router *router,
                                   const struct http_exchange *exchange);

#endif
