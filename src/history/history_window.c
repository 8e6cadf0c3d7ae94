/* history_window.c -- see history_window.h. */
#include "history/history_window.h"
#include <assert.h>
#include "base/clock.h"
#include "history/history_entry.h"
#include "model/table_definition.h"

enum { US_PER_SECOND = 1000000, US_PER_MS = 1000, MS_PER_SECOND = 1000 };

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The end of the current second, unless that is too far ahead. */
static int64_t end_of(int64_t latest_us, const struct clock *clock)
{
    int64_t second_us = (latest_us / US_PER_SECOND + 1) * US_PER_SECOND;
    int64_t bound_us = clock_wall_us(clock) + HISTORY_AHEAD_US;
    return later(latest_us, second_us < bound_us ? second_us : bound_us);
}

struct history_window history_window(const struct table_definition *table,
                                     const struct clock *clock)
{
    int64_t now_us = clock_commit_now_us(clock);
    struct history_window window = { .earliest_us = now_us,
                                     .latest_us = now_us,
                                     .end_us = end_of(now_us, clock) };
    assert(table->recovery_days > 0);
    if (table->history.status != HISTORY_ACTIVE)
        return window;
    window.earliest_us = later(table->history.since_us, table->recovery_since_ms * US_PER_MS);
    window.earliest_us = later(window.earliest_us, now_us - table->recovery_days * HISTORY_DAY_US);
    window.latest_us = later(now_us, window.earliest_us);
    window.end_us = end_of(window.latest_us, clock);
    assert(window.earliest_us <= window.latest_us && window.latest_us <= window.end_us);
    return window;
}

bool history_window_has(const struct history_window *window, int64_t at_us)
{
    assert(window->earliest_us <= window->latest_us);
    return at_us >= window->earliest_us && at_us <= window->end_us;
}

int64_t history_window_earliest_ms(const struct history_window *window)
{
    return (window->earliest_us + US_PER_SECOND - 1) / US_PER_SECOND * MS_PER_SECOND;
}

int64_t history_window_latest_ms(const struct history_window *window, int64_t lag_ms)
{
    assert(lag_ms >= 0);
    int64_t second = (window->latest_us - lag_ms * US_PER_MS) / US_PER_SECOND;
    return later(second * MS_PER_SECOND, history_window_earliest_ms(window));
}
