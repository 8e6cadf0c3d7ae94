/* ticker.c -- see ticker.h. */
#include "cloudwatch/ticker.h"
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "cloudwatch/collector.h"
#include "cloudwatch/series.h"
#include "metric/meter.h"

enum { MINUTE_MS = 60 * 1000 };

struct ticker {
    struct ticker_options options;
    struct {
        ticker_hook *hook;
        void *context;
    } hooks[TICKER_HOOKS_MAX];
    size_t hook_count;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stops;       /* Guarded by `mutex`. */
    bool is_woken;    /* The same. */
    int64_t hooks_ms; /* The same: when a hook wants the next round. */
};

struct ticker *ticker_create(const struct ticker_options *options)
{
    struct ticker *ticker = memory_checked(calloc(1, sizeof *ticker));
    ticker->options = *options;
    pthread_mutex_init(&ticker->mutex, NULL);
    timed_wait_init(&ticker->wake);
    ticker->hooks_ms = TIMED_WAIT_FOREVER;
    return ticker;
}

void ticker_destroy(struct ticker *ticker)
{
    if (ticker == NULL)
        return;
    ticker_stop(ticker);
    pthread_cond_destroy(&ticker->wake);
    pthread_mutex_destroy(&ticker->mutex);
    free(ticker);
}

void ticker_add_hook(struct ticker *ticker, ticker_hook *hook, void *context)
{
    assert(!ticker->has_thread && ticker->hook_count < TICKER_HOOKS_MAX);
    ticker->hooks[ticker->hook_count].hook = hook;
    ticker->hooks[ticker->hook_count++].context = context;
}

static bool is_stopping(struct ticker *ticker)
{
    pthread_mutex_lock(&ticker->mutex);
    bool stops = ticker->stops;
    pthread_mutex_unlock(&ticker->mutex);
    return stops;
}

/* A failure is tried again in the next round: samples are kept, upkeep is not urgent. */
static void report(enum engine_status status, const char *doing)
{
    if (status != ENGINE_OK)
        log_write(LOG_WARN, "metrics", "cannot %s: %s", doing, engine_status_name(status));
}

void ticker_run(struct ticker *ticker)
{
    int64_t now_ms = clock_wall_ms(ticker->options.clock);
    bool more = true;
    report(collector_run(ticker->options.collector), "store metrics");
    for (size_t i = 0; i < TICKER_UPKEEP_PARTS_MAX && more && !is_stopping(ticker); i++)
        report(series_upkeep(ticker->options.store, now_ms / 1000, &more), "remove old metrics");
    int64_t hooks_ms = TIMED_WAIT_FOREVER;
    for (size_t i = 0; i < ticker->hook_count && !is_stopping(ticker); i++)
        hooks_ms =
            timed_wait_sooner(hooks_ms, ticker->hooks[i].hook(ticker->hooks[i].context, now_ms));
    pthread_mutex_lock(&ticker->mutex);
    ticker->hooks_ms = hooks_ms;
    pthread_mutex_unlock(&ticker->mutex);
}

/* Until the next round: the interval, or when the open minute will have settled, or when a hook is
 * due. With the mutex held. */
static int64_t until_next(const struct ticker *ticker)
{
    int64_t now_ms = clock_wall_ms(ticker->options.clock);
    int64_t settled_ms = MINUTE_MS - (now_ms - METER_SETTLE_MS) % MINUTE_MS;
    int64_t wait_ms = timed_wait_sooner(ticker->options.interval_ms, settled_ms + 10);
    return timed_wait_sooner(wait_ms, ticker->hooks_ms);
}

static void *run_thread(void *argument)
{
    struct ticker *ticker = argument;
    pthread_mutex_lock(&ticker->mutex);
    while (!ticker->stops) {
        if (!ticker->is_woken)
            timed_wait(&ticker->wake, &ticker->mutex, until_next(ticker));
        if (ticker->stops)
            break;
        ticker->is_woken = false;
        pthread_mutex_unlock(&ticker->mutex);
        ticker_run(ticker);
        pthread_mutex_lock(&ticker->mutex);
    }
    pthread_mutex_unlock(&ticker->mutex);
    return NULL;
}

void ticker_start(struct ticker *ticker)
{
    assert(!ticker->has_thread && ticker->options.interval_ms > 0);
    if (pthread_create(&ticker->thread, NULL, run_thread, ticker) != 0) {
        log_write(LOG_ERROR, "metrics", "cannot start a thread");
        abort();
    }
    pthread_setname_np(ticker->thread, "stator-ticker");
    ticker->has_thread = true;
}

void ticker_stop(struct ticker *ticker)
{
    if (!ticker->has_thread)
        return;
    pthread_mutex_lock(&ticker->mutex);
    ticker->stops = true;
    pthread_cond_signal(&ticker->wake);
    pthread_mutex_unlock(&ticker->mutex);
    pthread_join(ticker->thread, NULL);
    ticker->has_thread = false;
}

void ticker_wake(struct ticker *ticker)
{
    pthread_mutex_lock(&ticker->mutex);
    ticker->is_woken = true;
    pthread_cond_signal(&ticker->wake);
    pthread_mutex_unlock(&ticker->mutex);
}
