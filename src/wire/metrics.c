/* metrics.c -- see metrics.h. */
#include "wire/metrics.h"
#include <stdatomic.h>
#include <stdlib.h>
#include "api/metric_page.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "compression/compression.h"
#include "call/call_runner.h"
#include "call/slow_pool.h"
#include "metric/exposition.h"
#include "router/router.h"
#include "wire/metrics_process.h"

enum { HEADERS_MAX = 5, COMPRESSED_SIZE_MIN = 1024 };

struct metrics {
    struct api *api;
    const struct call_runner *runner;
    struct metrics_options options;
    struct http_handler handler;
    int64_t start_second;
    atomic_uint under_way;
    struct slow_pool *pool; /* Of one thread; NULL: stopped. */
};

/* In the arena of its exchange. */
struct page {
    struct slow_task task;
    struct http_task answer_task;
    struct metrics *metrics;
    struct http_exchange *exchange;
    struct http_answer answer;
};

/* --- Answers --- */

static void add_header(struct page *page, struct http_header *headers, struct bytes name,
                       struct bytes value)
{
    headers[page->answer.header_count++] = (struct http_header){ .name = name, .value = value };
}

static void answer_text(struct http_exchange *exchange, int status, const char *text)
{
    static const struct http_header headers[] = {
        { { (const uint8_t *)"Server", 6 }, { (const uint8_t *)"stator", 6 } },
        { { (const uint8_t *)"Content-Type", 12 }, { (const uint8_t *)"text/plain", 10 } },
    };
    const struct http_answer answer = { .status = status,
                                        .headers = headers,
                                        .header_count = COUNT_OF(headers),
                                        .body = bytes_from_text(text) };
    http_exchange_answer(exchange, &answer);
}

static void send_answer(struct http_task *task)
{
    struct page *page = (struct page *)((char *)task - offsetof(struct page, answer_task));
    atomic_fetch_sub(&page->metrics->under_way, 1);
    http_exchange_answer(page->exchange, &page->answer);
}

/* --- Forming a page, on the pool's thread --- */

static struct bytes form(struct metrics *metrics, struct arena *arena, bool open_metrics)
{
    struct exposition *page = exposition_create(arena, open_metrics, METRIC_PAGE_SIZE_MAX);
    struct http_statistics http = { 0 };
    if (metrics->options.read_http != NULL)
        metrics->options.read_http(metrics->options.context, &http);
    metrics_process_add(page, metrics->start_second, metrics->options.version,
                        metrics->options.commit);
    metrics_process_add_http(page, &http);
    metrics_process_add_refusals(page, call_runner_refusals_delayed(metrics->runner));
    metric_page_add(metrics->api, arena, page, metrics->options.tables_max);
    return exposition_finish(page);
}

static void run_page(struct slow_task *task, void *thread_context)
{
    struct page *page = (struct page *)task;
    struct arena *arena = http_exchange_arena(page->exchange);
    struct http_header *headers = arena_alloc(arena, HEADERS_MAX * sizeof *headers);
    bool open_metrics =
        exposition_wants_open_metrics(http_exchange_header(page->exchange, "Accept"));
    (void)thread_context;
    page->answer = (struct http_answer){ .status = 200, .headers = headers };
    page->answer.body = form(page->metrics, arena, open_metrics);
    add_header(page, headers, BYTES("Server"), BYTES("stator"));
    add_header(page, headers, BYTES("Content-Type"), exposition_content_type(open_metrics));
    add_header(page, headers, BYTES("Cache-Control"), BYTES("no-store"));
    enum compression_format format =
        page->answer.body.len < COMPRESSED_SIZE_MIN
            ? COMPRESSION_NONE
            : compression_choose(http_exchange_header(page->exchange, "Accept-Encoding"));
    if (format != COMPRESSION_NONE) {
        page->answer.body = compression_deflate(arena, page->answer.body, format);
        add_header(page, headers, BYTES("Content-Encoding"), compression_name(format));
    }
    add_header(page, headers, BYTES("Vary"), BYTES("Accept, Accept-Encoding"));
    page->answer_task.run = send_answer;
    http_loop_post(http_exchange_loop(page->exchange), &page->answer_task);
}

/* --- Requests, on a loop --- */

static void start_page(struct metrics *metrics, struct http_exchange *exchange)
{
    struct page *page = arena_alloc_zeroed(http_exchange_arena(exchange), sizeof *page);
    page->task.run = run_page;
    page->metrics = metrics;
    page->exchange = exchange;
    if (atomic_fetch_add(&metrics->under_way, 1) < METRICS_PAGES_MAX &&
        slow_pool_submit(metrics->pool, &page->task))
        return;
    atomic_fetch_sub(&metrics->under_way, 1);
    answer_text(exchange, 503, "too many pages of metrics are being formed\n");
}

static void handle_route(void *context, void *loop_context, struct http_exchange *exchange)
{
    (void)loop_context;
    start_page(context, exchange);
}

static bool is_page(const struct http_exchange *exchange)
{
    struct bytes method = http_exchange_method(exchange);
    return (bytes_equal_text(method, "GET") || bytes_equal_text(method, "HEAD")) &&
           bytes_equal_text(http_exchange_target(exchange), "/metrics");
}

/* Of the listener of its own. */
static void handle_own(void *context, void *loop_context, struct http_exchange *exchange)
{
    (void)loop_context;
    if (is_page(exchange))
        start_page(context, exchange);
    else
        answer_text(exchange, 404, "here is only GET /metrics\n");
}

/* --- Start and stop --- */

struct metrics *metrics_create(struct api *api, const struct call_runner *runner,
                               struct router *router, const struct metrics_options *options)
{
    if (!options->on)
        return NULL;
    struct metrics *metrics = memory_checked(calloc(1, sizeof *metrics));
    metrics->api = api;
    metrics->runner = runner;
    metrics->options = *options;
    if (metrics->options.tables_max == 0)
        metrics->options.tables_max = METRIC_PAGE_TABLES_DEFAULT;
    metrics->start_second = clock_wall_ms(&clock_system) / 1000;
    metrics->handler = (struct http_handler){ .context = metrics, .request = handle_own };
    void *const thread_context = metrics;
    metrics->pool = slow_pool_start(&(struct slow_pool_options){
        .thread_contexts = &thread_context, .thread_count = 1, .priority = SLOW_POOL_BELOW_LOOPS });
    const struct route route = { .method = "GET",
                                 .path = "/metrics",
                                 .match = ROUTE_EXACT,
                                 .access = ROUTE_LOCAL,
                                 .context = metrics,
                                 .handle = handle_route };
    if (!options->has_own_listener)
        router_add(router, &route);
    return metrics;
}

void metrics_stop(struct metrics *metrics)
{
    if (metrics == NULL)
        return;
    slow_pool_stop(metrics->pool, NULL); /* Nobody waits for the pages any more. */
    metrics->pool = NULL;
}

void metrics_destroy(struct metrics *metrics)
{
    free(metrics);
}

const struct http_handler *metrics_handler(struct metrics *metrics)
{
    return &metrics->handler;
}
