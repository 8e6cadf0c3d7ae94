/* router.c -- see router.h.
 *
 * The table is sorted by precedence, so the first match wins. A linear search is fast enough: most
 * routes have longer paths than the protocol's "/", and are skipped by their length.
 */
#include "router/router.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "http/relayed.h"
#include "http/server.h"

struct entry {
    struct route route;
    struct bytes method; /* data NULL: any. */
    struct bytes path;
};

struct router {
    struct router_options options;
    size_t count;
    struct entry entries[ROUTER_ROUTES_MAX];
};

/* --- The table --- */

/* Above 0 if `a` is tried first, below 0 if `b` is; 0 if they are the same route. */
static int precedence(const struct entry *a, const struct entry *b)
{
    if (a->path.len != b->path.len)
        return a->path.len > b->path.len ? 1 : -1;
    if (a->route.match != b->route.match)
        return a->route.match == ROUTE_EXACT ? 1 : -1;
    if ((a->method.data == NULL) != (b->method.data == NULL))
        return b->method.data == NULL ? 1 : -1;
    int order = bytes_compare(b->path, a->path);
    return order != 0 || a->method.data == NULL ? order : bytes_compare(b->method, a->method);
}

void router_add(struct router *router, const struct route *route)
{
    assert(route->access == ROUTE_OPEN || route->access == ROUTE_ASKS ||
           route->access == ROUTE_LOCAL);
    assert(route->handle != NULL && route->path != NULL);
    assert(router->count < ROUTER_ROUTES_MAX);
    struct entry entry = { .route = *route, .path = bytes_from_text(route->path) };
    if (route->method != NULL)
        entry.method = bytes_from_text(route->method);
    size_t at = router->count;
    while (at > 0 && precedence(&entry, &router->entries[at - 1]) > 0) {
        router->entries[at] = router->entries[at - 1];
        at--;
    }
    assert(at == 0 || precedence(&entry, &router->entries[at - 1]) != 0); /* No route twice. */
    router->entries[at] = entry;
    router->count++;
}

size_t router_count(const struct router *router)
{
    return router->count;
}

const struct route *router_at(const struct router *router, size_t index)
{
    assert(index < router->count);
    return &router->entries[index].route;
}

static bool method_matches(const struct entry *entry, struct bytes method)
{
    return entry->method.data == NULL || bytes_equal(entry->method, method) ||
           (bytes_equal_text(method, "HEAD") && bytes_equal_text(entry->method, "GET"));
}

const struct route *router_find(const struct router *router, struct bytes method,
                                struct bytes target)
{
    for (size_t i = 0; i < router->count; i++) {
        const struct entry *entry = &router->entries[i];
        bool has_length = entry->route.match == ROUTE_EXACT ? entry->path.len == target.len
                                                            : entry->path.len <= target.len;
        if (has_length && bytes_starts_with(target, entry->path) && method_matches(entry, method))
            return &entry->route;
    }
    return NULL;
}

/* --- Pages --- */

static enum origin_verdict judge_page(const struct router *router,
                                      const struct http_exchange *exchange, struct bytes *allowed)
{
    struct origin_headers headers = {
        .origin = http_exchange_header(exchange, "Origin"),
        .fetch_site = http_exchange_header(exchange, "Sec-Fetch-Site"),
    };
    if (!origin_is_page(&headers)) { /* Nearly always, so this costs no call. */
        *allowed = (struct bytes){ 0 };
        return ORIGIN_SERVED;
    }
    headers.host = http_exchange_header(exchange, "Host");
    return origin_judge(&router->options.pages, &headers, allowed);
}

struct bytes router_allowed_origin(const struct router *router,
                                   const struct http_exchange *exchange)
{
    struct bytes allowed;
    if (http_exchange_header(exchange, "Origin").data == NULL)
        return (struct bytes){ 0 }; /* Nearly always: none is allowed by name. */
    return judge_page(router, exchange, &allowed) == ORIGIN_SERVED ? allowed : (struct bytes){ 0 };
}

/* True if the request came from a page that may not call: it has been answered. */
static bool refuse_page(const struct router *router, void *loop_context,
                        struct http_exchange *exchange)
{
    const struct router_options *options = &router->options;
    struct bytes ignored;
    switch (judge_page(router, exchange, &ignored)) {
    case ORIGIN_SERVED:
        return false;
    case ORIGIN_REFUSED:
        options->refuse_page(options->context, loop_context, exchange, 403,
                             BYTES("Pages of this origin may not call: it is not in "
                                   "cors-origins\n"));
        return true;
    case ORIGIN_HOST_REFUSED:
        options->refuse_page(options->context, loop_context, exchange, 421,
                             BYTES("Pages may not use this name for the server: "
                                   "it is not in allowed-hosts\n"));
        return true;
    }
    assert(false);
    return true;
}

/* --- Requests --- */

static bool is_local(const struct http_exchange *exchange)
{
    char peer[HTTP_PEER_SIZE];
    if (http_exchange_header(exchange, HTTP_RELAYED_HEADER).data != NULL)
        return false; /* The address is that of the server which passed it on. */
    http_exchange_peer(exchange, peer);
    return strncmp(peer, "127.", 4) == 0 || strcmp(peer, "::1") == 0;
}

void router_handle(const struct router *router, void *loop_context, struct http_exchange *exchange)
{
    if (refuse_page(router, loop_context, exchange))
        return;
    const struct route *route =
        router_find(router, http_exchange_method(exchange), http_exchange_target(exchange));
    assert(route != NULL);
    if (route->access == ROUTE_LOCAL && !is_local(exchange)) {
        router->options.refuse_page(router->options.context, loop_context, exchange, 403,
                                    BYTES("only for clients on this machine\n"));
        return;
    }
    route->handle(route->context, loop_context, exchange);
}

bool router_is_vital(const struct router *router, struct bytes method, struct bytes target)
{
    const struct route *route = router_find(router, method, target);
    return route != NULL && route->vital;
}

struct router *router_create(const struct router_options *options)
{
    assert(options->refuse_page != NULL);
    assert(options->pages.origins != NULL && options->pages.hosts != NULL);
    struct router *router = memory_checked(malloc(sizeof *router));
    router->options = *options;
    router->count = 0;
    return router;
}

void router_destroy(struct router *router)
{
    free(router);
}
