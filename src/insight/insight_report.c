/* insight_report.c -- see insight_report.h. */
#include "insight/insight_report.h"
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "insight/insight_store.h"
#include "insight/insights.h"
#include "insight/key_digest.h"
#include "insight/key_summary.h"

struct insight_report {
    struct insight_report_options options;
    struct arena *arena;
    struct engine_view *view; /* May move between threads. */
    struct engine_scan *scan; /* NULL: to be opened at `next_ms`. */
    bool of_minutes;          /* What is being scanned; hours come first. */
    bool has_ended;           /* Nothing is left in the store. */
    int64_t minutes_from_ms;  /* Where minutes begin. */
    int64_t next_ms;          /* What was stored before this was read. */
    int64_t live_done_ms;     /* Live pieces up to this one were read. */
    struct insight_live live[INSIGHTS_LIVE_MAX];
    size_t live_count;
    struct key_summary *piece;
    /* A stored piece that was read ahead: live ones may come before it. */
    struct key_summary *ahead;
    int64_t ahead_ms;
};

struct insight_report *insight_report_open(struct arena *arena,
                                           const struct insight_report_options *options,
                                           enum engine_status *status)
{
    struct insight_report *report = arena_alloc_zeroed(arena, sizeof *report);
    int64_t oldest_ms = insight_store_first_hour_ms(options->wall_ms);
    report->options = *options;
    report->arena = arena;
    if (report->options.from_ms < oldest_ms)
        report->options.from_ms = oldest_ms;
    report->minutes_from_ms = insight_store_first_minute_ms(options->wall_ms);
    *status = insights_look(options->insights, options->runtime, options->target, options->rule,
                            &report->view, report->live, &report->live_count);
    if (*status != ENGINE_OK)
        return NULL;
    report->view = engine_view_move(report->view);
    insight_report_rewind(report);
    return report;
}

void insight_report_pause(struct insight_report *report)
{
    engine_scan_close(report->scan);
    report->scan = NULL;
}

void insight_report_rewind(struct insight_report *report)
{
    insight_report_pause(report);
    key_summary_destroy(report->ahead);
    report->ahead = NULL;
    report->of_minutes = report->options.from_ms >= report->minutes_from_ms;
    report->has_ended = false;
    report->next_ms = report->options.from_ms;
    report->live_done_ms = INT64_MIN;
}

void insight_report_close(struct insight_report *report)
{
    if (report == NULL)
        return;
    insight_report_pause(report);
    engine_view_close(report->view);
    key_summary_destroy(report->piece);
    key_summary_destroy(report->ahead);
    for (size_t i = 0; i < report->live_count; i++)
        key_summary_destroy(report->live[i].summary);
}

/* --- What is stored --- */

static enum engine_status open_scan(struct insight_report *report)
{
    const struct insight_report_options *options = &report->options;
    uint8_t resolution = report->of_minutes ? INSIGHT_STORE_MINUTES : INSIGHT_STORE_HOURS;
    int64_t until_ms = options->until_ms;
    if (!report->of_minutes && until_ms > report->minutes_from_ms)
        until_ms = report->minutes_from_ms;
    if (until_ms < report->next_ms)
        until_ms = report->next_ms;
    struct engine_address first = insight_store_address(report->arena, options->target,
                                                        options->rule, resolution, report->next_ms);
    struct engine_address last =
        insight_store_address(report->arena, options->target, options->rule, resolution, until_ms);
    struct engine_range range = { .place = first.place, .first = first.key, .last = last.key };
    return engine_scan_open(report->view, &range, &report->scan);
}

/* ENGINE_OK with `ahead` set, or without because the piece was damaged; ENGINE_END behind the last
 * one. */
static enum engine_status read_entry(struct insight_report *report)
{
    struct engine_entry entry;
    enum insight_rule rule;
    uint8_t resolution;
    enum engine_status status = report->scan == NULL ? open_scan(report) : ENGINE_OK;
    if (status == ENGINE_OK)
        status = engine_scan_next(report->scan, &entry);
    if (status == ENGINE_END && !report->of_minutes) {
        insight_report_pause(report);
        report->of_minutes = true;
        report->next_ms = report->minutes_from_ms;
        return ENGINE_OK;
    }
    if (status != ENGINE_OK)
        return status;
    if (insight_store_read_key(entry.key, &rule, &resolution, &report->ahead_ms)) {
        report->next_ms = report->ahead_ms + 1;
        report->ahead = key_summary_decode(entry.value, insights_keys_max(report->options.insights),
                                           insights_seed(report->options.insights));
    }
    if (report->ahead == NULL)
        log_write(LOG_ERROR, "insight", "damaged summary of keys of %" PRIu64,
                  report->options.target);
    return ENGINE_OK;
}

static enum engine_status read_ahead(struct insight_report *report)
{
    enum engine_status status = ENGINE_OK;
    while (report->ahead == NULL && !report->has_ended && status == ENGINE_OK)
        status = read_entry(report);
    report->has_ended |= status == ENGINE_END;
    return status == ENGINE_END ? ENGINE_OK : status;
}

/* --- What is in memory --- */

/* The first live piece that was not read, or INT64_MAX. */
static int64_t next_live_ms(const struct insight_report *report)
{
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < report->live_count; i++) {
        int64_t at_ms = report->live[i].minute_ms;
        if (at_ms > report->live_done_ms && at_ms >= report->options.from_ms &&
            at_ms < report->options.until_ms && at_ms < next_ms)
            next_ms = at_ms;
    }
    return next_ms;
}

static bool is_replaced(const struct insight_report *report, int64_t time_ms)
{
    for (size_t i = 0; i < report->live_count; i++) {
        if (report->live[i].minute_ms == time_ms && report->live[i].replaces)
            return true;
    }
    return false;
}

static void merge_live(struct insight_report *report, int64_t time_ms)
{
    for (size_t i = 0; i < report->live_count; i++) {
        const struct insight_live *live = &report->live[i];
        if (live->minute_ms != time_ms)
            continue;
        if (report->piece == NULL)
            report->piece = key_summary_create(insights_keys_max(report->options.insights),
                                               insights_seed(report->options.insights));
        key_summary_merge(report->piece, live->summary);
    }
}

enum engine_status insight_report_next(struct insight_report *report, int64_t *time_ms,
                                       const struct key_summary **piece)
{
    key_summary_destroy(report->piece);
    report->piece = NULL;
    enum engine_status status = read_ahead(report);
    if (status != ENGINE_OK)
        return status;
    int64_t live_ms = next_live_ms(report);
    *time_ms = live_ms;
    if (report->ahead != NULL && report->ahead_ms <= live_ms) {
        *time_ms = report->ahead_ms;
        if (is_replaced(report, *time_ms))
            key_summary_destroy(report->ahead);
        else
            report->piece = report->ahead;
        report->ahead = NULL;
    }
    if (*time_ms == INT64_MAX)
        return ENGINE_END;
    if (live_ms == *time_ms) {
        merge_live(report, live_ms);
        report->live_done_ms = live_ms;
    }
    *piece = report->piece;
    assert(*piece != NULL);
    return ENGINE_OK;
}

/* --- Counters by what is certain --- */

static int compare(const void *a, const void *b)
{
    const struct insight_contributor *left = a, *right = b;
    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    return bytes_compare(left->key, right->key);
}

size_t insight_report_top(const struct key_summary *summary, struct insight_contributor *out,
                          size_t count_max)
{
    size_t count = space_saving_count(summary->keys);
    if (count == 0 || count_max == 0)
        return 0;
    struct space_saving_counter *all = memory_checked(malloc(count * sizeof *all));
    struct insight_contributor *sorted = memory_checked(malloc(count * sizeof *sorted));
    count = space_saving_top(summary->keys, all, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct insight_contributor){ .key = all[i].key,
                                                  .weight = all[i].count - all[i].error,
                                                  .error = all[i].error + summary->missed };
    qsort(sorted, count, sizeof *sorted, compare);
    size_t shown = count < count_max ? count : count_max;
    memcpy(out, sorted, shown * sizeof *out);
    free(sorted);
    free(all);
    return shown;
}

struct insight_contributor insight_report_find(const struct key_summary *summary, struct bytes key)
{
    struct space_saving_counter counter = { .count = space_saving_floor(summary->keys),
                                            .error = space_saving_floor(summary->keys) };
    (void)space_saving_find(summary->keys, key_digest(summary->seed, key), key, &counter);
    return (struct insight_contributor){ .key = key,
                                         .weight = counter.count - counter.error,
                                         .error = counter.error + summary->missed };
}
