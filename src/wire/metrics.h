/* metrics.h -- GET /metrics: the server's metrics as a page that Prometheus reads.
 *
 * Without a signature, since no scraper sends one. So the page is shown to clients on this machine
 * only, or on a listener of its own, which the owner of the machine has asked for. It names tables
 * and indexes, and shows nothing of their items.
 *
 * A page may take milliseconds: it sums counters of thousands of tables and asks the store. So one
 * thread of its own forms it, at most METRICS_PAGES_MAX are under way, and further ones get 503.
 */
#ifndef STATOR_WIRE_METRICS_H
#define STATOR_WIRE_METRICS_H
#include <stdbool.h>
#include <stddef.h>
#include "http/server.h"

struct api;
struct call_runner;
struct metrics;
struct router;

enum { METRICS_PAGES_MAX = 4 };

struct metrics_options {
    bool on;               /* False: there is no such page. */
    bool has_own_listener; /* The page is shown on metrics_handler's server and nowhere else. */
    size_t tables_max;     /* With series of their own; 0: METRIC_PAGE_TABLES_DEFAULT. */
    const char *version;   /* For stator_build_info. */
    const char *commit;
    /* Adds what the HTTP servers tell. Called on the thread that forms a page. May be NULL. */
    void (*read_http)(void *context, struct http_statistics *out);
    void *context;
};

/* NULL if it is off. Borrows the api, the runner and what the options point to; adds its route. */
struct metrics *metrics_create(struct api *api, const struct call_runner *runner,
                               struct router *router, const struct metrics_options *options);
/* Ends pages under way. After the HTTP servers have stopped. NULL is allowed. */
void metrics_stop(struct metrics *metrics);
void metrics_destroy(struct metrics *metrics); /* It was stopped. NULL is allowed. */

/* For a listener of its own, which answers GET /metrics and nothing else. */
const struct http_handler *metrics_handler(struct metrics *metrics);

#endif
