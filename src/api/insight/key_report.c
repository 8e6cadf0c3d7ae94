/* key_report.c -- see key_report.h. */
#include "api/insight/key_report.h"
#include <assert.h>
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "insight/insight_report.h"
#include "insight/insights.h"
#include "insight/key_summary.h"
#include "model/key.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

/* While pieces are merged there is room for more keys than one has, so that errors hardly grow. */
enum { MERGED_KEYS_FACTOR = 8 };

struct run {
    struct api_call *call;
    struct key_report *report;
    struct insight_report *pieces;
    bool of_values;             /* The second pass. */
    struct key_summary *merged; /* First pass: of the window, */
    struct key_summary *period; /* and of the current period; NULL: none yet. */
    int64_t period_start_ms;
    size_t period_room;
};

double key_report_value(enum insight_rule rule, uint64_t weight)
{
    return insight_rule_is_of_throttles(rule) ? (double)weight : (double)weight / 2;
}

/* --- First pass: totals, periods and the heaviest keys --- */

static struct key_summary *create_merged(const struct run *run)
{
    const struct insights *insights = api_insights(run->call->api);
    size_t keys_max = insights_keys_max(insights) * MERGED_KEYS_FACTOR;
    if (keys_max > SPACE_SAVING_COUNTERS_MAX)
        keys_max = SPACE_SAVING_COUNTERS_MAX;
    return key_summary_create(keys_max, insights_seed(insights));
}

/* Keeps the contributors with the heaviest periods: any of those is among the heaviest of its own
 * period. */
static void note_maximum(struct run *run, const struct insight_contributor *contributor)
{
    struct key_report *report = run->report;
    struct key_report_contributor *least = NULL;
    for (size_t i = 0; i < report->contributor_count; i++) {
        struct key_report_contributor *at = &report->contributors[i];
        if (bytes_equal(at->key, contributor->key)) {
            if (contributor->weight > at->maximum)
                at->maximum = contributor->weight;
            return;
        }
        if (least == NULL || at->maximum < least->maximum)
            least = at;
    }
    if (report->contributor_count < report->contributors_max)
        least = &report->contributors[report->contributor_count++];
    else if (least == NULL || least->maximum >= contributor->weight)
        return;
    *least = (struct key_report_contributor){ .key = arena_copy(run->call->arena, contributor->key),
                                              .maximum = contributor->weight };
}

static void end_period(struct run *run)
{
    struct key_report *report = run->report;
    struct insight_contributor top[KEY_REPORT_CONTRIBUTORS_MAX];
    if (run->period == NULL)
        return;
    size_t count =
        insight_report_top(run->period, top, report->by_maximum ? report->contributors_max : 1);
    if (report->period_count == run->period_room) {
        size_t room = run->period_room * 2 + 16;
        report->periods =
            arena_grow(run->call->arena, report->periods,
                       run->period_room * sizeof *report->periods, room * sizeof *report->periods);
        run->period_room = room;
    }
    report->periods[report->period_count++] = (struct key_report_period){
        .start_ms = run->period_start_ms,
        .distinct = hyperloglog_estimate(&run->period->distinct),
        .heaviest = count > 0 ? top[0].weight : 0,
        .events = run->period->events,
        .total = space_saving_total(run->period->keys),
        .weight_min = run->period->weight_min,
        .weight_max = run->period->weight_max,
    };
    for (size_t i = 0; report->by_maximum && i < count; i++)
        note_maximum(run, &top[i]);
    key_summary_merge(run->merged, run->period);
    key_summary_destroy(run->period);
    run->period = NULL;
}

static int64_t period_of(const struct key_report *report, int64_t time_ms)
{
    return time_ms - time_ms % report->period_ms;
}

static void add_piece(struct run *run, int64_t time_ms, const struct key_summary *piece)
{
    int64_t start_ms = period_of(run->report, time_ms);
    if (run->period != NULL && run->period_start_ms != start_ms)
        end_period(run);
    if (run->period == NULL) {
        run->period = create_merged(run);
        run->period_start_ms = start_ms;
    }
    key_summary_merge(run->period, piece);
}

static void sort_by_maximum(struct key_report *report)
{
    for (size_t i = 1; i < report->contributor_count; i++) {
        struct key_report_contributor moved = report->contributors[i];
        size_t at = i;
        for (; at > 0 && report->contributors[at - 1].maximum < moved.maximum; at--)
            report->contributors[at] = report->contributors[at - 1];
        report->contributors[at] = moved;
    }
}

static void choose_contributors(struct run *run)
{
    struct key_report *report = run->report;
    struct insight_contributor top[KEY_REPORT_CONTRIBUTORS_MAX];
    report->total = space_saving_total(run->merged->keys);
    report->distinct = hyperloglog_estimate(&run->merged->distinct);
    if (report->by_maximum) {
        sort_by_maximum(report);
        for (size_t i = 0; i < report->contributor_count; i++) {
            struct insight_contributor found =
                insight_report_find(run->merged, report->contributors[i].key);
            report->contributors[i].weight = found.weight;
            report->contributors[i].error = found.error;
        }
        return;
    }
    report->contributor_count = insight_report_top(run->merged, top, report->contributors_max);
    for (size_t i = 0; i < report->contributor_count; i++)
        report->contributors[i] =
            (struct key_report_contributor){ .key = arena_copy(run->call->arena, top[i].key),
                                             .weight = top[i].weight,
                                             .error = top[i].error };
}

/* --- Second pass: the contributors' values in each period --- */

static void begin_values(struct run *run)
{
    struct key_report *report = run->report;
    for (size_t i = 0; i < report->contributor_count; i++)
        report->contributors[i].periods = arena_alloc_zeroed(
            run->call->arena, (report->period_count + 1) * sizeof *report->contributors[i].periods);
    run->of_values = true;
    insight_report_rewind(run->pieces);
}

static void add_values(struct run *run, int64_t time_ms, const struct key_summary *piece)
{
    struct key_report *report = run->report;
    int64_t start_ms = period_of(report, time_ms);
    size_t at = 0;
    while (at < report->period_count && report->periods[at].start_ms != start_ms)
        at++;
    assert(at < report->period_count); /* Both passes read the same pieces. */
    for (size_t i = 0; i < report->contributor_count; i++)
        report->contributors[i].periods[at] +=
            insight_report_find(piece, report->contributors[i].key).weight;
}

/* --- The call --- */

static void end(struct run *run, bool ok)
{
    insight_report_close(run->pieces);
    key_summary_destroy(run->merged);
    key_summary_destroy(run->period);
    operation_end(run->call, ok);
}

static void go_on(struct run *run);

static void resume(struct api_call *call, bool cancelled)
{
    if (cancelled)
        end(call->resume_state, false);
    else
        go_on(call->resume_state);
}

/* False at the end of a pass. */
static enum engine_status step(struct run *run)
{
    int64_t time_ms;
    const struct key_summary *piece;
    enum engine_status status = insight_report_next(run->pieces, &time_ms, &piece);
    if (status != ENGINE_OK)
        return status;
    if (run->of_values)
        add_values(run, time_ms, piece);
    else
        add_piece(run, time_ms, piece);
    return ENGINE_OK;
}

static void go_on(struct run *run)
{
    struct api_call *call = run->call;
    for (;;) {
        enum engine_status status = step(run);
        if (status == ENGINE_OK) {
            if (!operation_is_pause_due(call, clock_monotonic_ns()))
                continue;
            insight_report_pause(run->pieces);
            operation_pause(call, resume, run);
            return;
        }
        if (status != ENGINE_END) {
            storage_error_set(&call->error, status, call->operation->name);
            end(run, false);
            return;
        }
        if (!run->of_values) {
            end_period(run);
            choose_contributors(run);
            begin_values(run);
            if (run->report->has_values)
                continue;
        }
        run->report->answer(call, run->report);
        end(run, true);
        return;
    }
}

void key_report_run(struct api_call *call, struct key_report *report)
{
    assert(report->period_ms > 0 && report->period_ms % INSIGHTS_MINUTE_MS == 0);
    assert(report->contributors_max <= KEY_REPORT_CONTRIBUTORS_MAX);
    struct run *run = arena_alloc_zeroed(call->arena, sizeof *run);
    enum engine_status status;
    run->call = call;
    run->report = report;
    run->merged = create_merged(run);
    run->pieces = insight_report_open(
        call->arena,
        &(struct insight_report_options){ .insights = api_insights(call->api),
                                          .runtime = table_runtime(report->table),
                                          .target = insight_target_id(&report->target),
                                          .rule = report->rule,
                                          .from_ms = report->from_ms,
                                          .until_ms = report->until_ms,
                                          .wall_ms = clock_wall_ms(api_options(call->api)->clock) },
        &status);
    if (run->pieces != NULL) {
        go_on(run);
        return;
    }
    storage_error_set(&call->error, status, call->operation->name);
    end(run, false);
}

/* --- Keys --- */

static size_t add_names(const struct key_attribute *attributes, size_t count,
                        struct key_report_attribute *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] =
            (struct key_report_attribute){ .name = attributes[i].name, .type = attributes[i].type };
    return count;
}

size_t key_report_names(const struct insight_target *target, enum insight_rule rule,
                        struct key_report_attribute out[KEY_REPORT_ATTRIBUTES_MAX])
{
    static_assert(INDEX_HASH_KEYS_MAX + INDEX_RANGE_KEYS_MAX <= KEY_REPORT_ATTRIBUTES_MAX,
                  "every key fits");
    const struct key_schema *key = &target->table->key;
    const struct index_definition *index = target->index;
    bool whole = insight_rule_is_of_whole_keys(rule);
    size_t count = index == NULL ? add_names(&key->hash, 1, out)
                                 : add_names(index->hash, index->hash_count, out);
    if (whole && index == NULL && key->has_range)
        count += add_names(&key->range, 1, out + count);
    if (whole && index != NULL)
        count += add_names(index->range, index->range_count, out + count);
    return count;
}

bool key_report_read_key(struct api_call *call, const struct insight_target *target,
                         enum insight_rule rule, struct bytes key,
                         struct key_report_attribute out[KEY_REPORT_ATTRIBUTES_MAX], size_t *count)
{
    *count = key_report_names(target, rule, out);
    for (size_t i = 0; i < *count; i++) {
        struct buffer encoded;
        struct value value;
        buffer_init(&encoded, call->arena);
        if (!key_decode_part(&key, out[i].type, &encoded))
            return false;
        out[i].encoded = buffer_bytes(&encoded);
        struct bytes in = out[i].encoded;
        if (!value_open(&in, &value))
            return false;
        out[i].text = value_json_scalar_text(call->arena, &value);
    }
    return key.len == 0;
}
