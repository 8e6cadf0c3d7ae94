/* history_window.h -- to which moments a table can be restored.
 *
 * From the earliest moment of which the history is complete and within the recovery period, up to
 * now. Times are commit times (base/clock.h): the period goes by them, too, so that a step of the
 * wall clock neither opens a gap nor removes anything early.
 */
#ifndef STATOR_HISTORY_HISTORY_WINDOW_H
#define STATOR_HISTORY_HISTORY_WINDOW_H
#include <stdbool.h>
#include <stdint.h>

struct clock;
struct table_definition;

struct history_window {
    int64_t earliest_us;
    int64_t latest_us; /* All that was answered before the window was asked for is before it. */
};
/* Of a table whose recovery is enabled. While its history is being opened, both are now. */
struct history_window history_window(const struct table_definition *table,
                                     const struct clock *clock);
/* Whether the table can be restored to that moment. Times that people name are whole seconds, so
 * the rest of the current one counts as now: after history_cut no write takes an earlier time. */
bool history_window_has(const struct history_window *window, int64_t at_us);

/* What people see, both of which history_window_has: the earliest whole second, in milliseconds
 * since 1970, because most clients send whole seconds, and one of them must not be before it; */
int64_t history_window_earliest_ms(const struct history_window *window);
/* and the last whole second `lag_ms` ago, or the earliest if that is later. */
int64_t history_window_latest_ms(const struct history_window *window, int64_t lag_ms);

#endif
