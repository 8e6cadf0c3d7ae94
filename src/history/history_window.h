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

/* A moment that has not come yet is taken by making all later commit times follow it. They are
 * shared by all tables and never go back, so requests must not push them far ahead of the wall
 * clock, however many there are: this much. */
#define HISTORY_AHEAD_US (INT64_C(2) * 1000000)

struct history_window {
    int64_t earliest_us;
    int64_t latest_us; /* All that was answered before the window was asked for is before it. */
    int64_t end_us;    /* The last moment that can be asked for; not before `latest_us`. */
};
/* Of a table whose recovery is enabled. While its history is being opened, both are now. */
struct history_window history_window(const struct table_definition *table,
                                     const struct clock *clock);
/* Whether the table can be restored to that moment. Times that people name are whole seconds, so
 * the rest of the current one counts as now, within HISTORY_AHEAD_US of the wall clock: once commit
 * times were raised to it (clock_raise_commit_us), no write takes an earlier time. */
bool history_window_has(const struct history_window *window, int64_t at_us);

/* The earliest second to show, in milliseconds since 1970, rounded up because most clients send
 * whole seconds. It is within the window unless commit times are ahead of the wall clock. */
int64_t history_window_earliest_ms(const struct history_window *window);
/* The latest second to show: the last whole one `lag_ms` ago, or the earliest if that is later. */
int64_t history_window_latest_ms(const struct history_window *window, int64_t lag_ms);

#endif
