/* advice_access.c -- rules about access patterns: what requests read and write, and how. */
#include <string.h>
#include "advice/advice.h"
#include "advice/advice_parts.h"

enum {
    CALLS_MIN = 100,     /* Below, a ratio says little. */
    SCAN_CALLS_MIN = 10, /* Somebody who looks into a table is no access pattern. */
    SCAN_SHAPES_MAX = 20,
};
#define SCAN_TABLE_SIZE_MIN (1024 * 1024)
#define SCAN_SHARE_MAX 0.10
#define SCANS_PER_MINUTE_MAX 1.0
#define FILTER_RATIO_MAX 10.0
#define EMPTY_PAGES_MAX 0.20
#define UPDATE_UNITS_MAX 8.0
#define UPDATE_BYTES_SHARE_MIN 0.10
#define TRANSACTION_SHARE_MAX 0.10
#define FAILURE_SHARE_MAX 0.05

static bool is_operation(const struct shape_use *shape, const char *name)
{
    return strcmp(shape->operation, name) == 0;
}

static bool is_read(const struct shape_use *shape)
{
    return shape->kind == SHAPE_QUERY || shape->kind == SHAPE_SCAN;
}

static double units_of(const struct shape_use *shape)
{
    return (double)shape->counts.half_units / 2;
}

/* Minutes of the counters' window, at least one. */
static double minutes_of(const struct advice_table *table)
{
    double minutes = (double)(table->now_ms - table->shapes_from_ms) / 60000;
    return minutes < 1 ? 1 : minutes;
}

static double units_in_window(const struct advice_table *table, enum meter_direction direction)
{
    const struct advice_counts *counts = &table->window.counts;
    double half_units = (double)counts->half_units[direction];
    for (size_t i = 0; i < counts->index_count; i++)
        half_units += (double)counts->indexes[i].half_units[direction];
    return half_units / 2;
}

static struct advice_finding *add_for_shape(struct advice_report *report,
                                            const struct advice_table *table,
                                            const struct shape_use *shape, const char *rule)
{
    struct advice_finding *finding = advice_add(report, table, rule, true);
    size_t index = advice_index_of(table->definition, shape->index_id);
    if (index != SIZE_MAX)
        finding->index_name = table->definition->indexes[index].name;
    finding->operation = shape->operation;
    finding->shape = shape->text;
    advice_evidence(finding, "Calls", (double)shape->counts.calls);
    return finding;
}

/* What a part of the shape's units costs in a month. */
static void cost_of_share(struct advice_finding *finding, const struct advice_table *table,
                          const struct shape_use *shape, double share,
                          enum meter_direction direction)
{
    double monthly = advice_monthly(units_of(shape), table->shapes_from_ms, table->now_ms);
    advice_cost(finding, monthly * share * advice_unit_cost(table->definition, direction));
}

/* --- Scans --- */

struct scans {
    const struct shape_use *heaviest; /* NULL: there was none. */
    uint64_t calls;
    double units;
};

/* Of Scan, or of statements that are scans. */
static struct scans find_scans(const struct advice_table *table, bool of_statements)
{
    struct scans scans = { 0 };
    for (size_t i = 0; i < table->shape_count; i++) {
        const struct shape_use *shape = &table->shapes[i];
        if (shape->kind != SHAPE_SCAN || is_operation(shape, "ExecuteStatement") != of_statements)
            continue;
        scans.calls += shape->counts.calls;
        scans.units += units_of(shape);
        if (scans.heaviest == NULL || units_of(shape) > units_of(scans.heaviest))
            scans.heaviest = shape;
    }
    return scans;
}

static void add_scan_evidence(struct advice_report *report, const struct advice_table *table,
                              struct advice_finding *finding, const struct scans *scans)
{
    double all_units = units_in_window(table, METER_READ);
    double share = advice_ratio(scans->units, all_units);
    finding->evidence_count = 0; /* Of all scans, not of the heaviest one alone. */
    advice_evidence(finding, "Calls", (double)scans->calls);
    advice_evidence(finding, "CallsPerMinute", (double)scans->calls / minutes_of(table));
    advice_evidence(finding, "ReadUnits", scans->units);
    advice_evidence(finding, "ShareOfReadUnits", share > 1 ? 1 : share);
    advice_evidence(finding, "TableBytes", (double)table->size);
    finding->summary =
        arena_printf(report->arena,
                     "%.0f calls that read without a partition key took %.0f read units, %.0f%% "
                     "of all that the table and its indexes consumed",
                     (double)scans->calls, scans->units, 100 * (share > 1 ? 1 : share));
    advice_cost(finding, advice_monthly(scans->units, table->shapes_from_ms, table->now_ms) *
                             advice_unit_cost(table->definition, METER_READ));
}

static void judge_scans(struct advice_report *report, const struct advice_table *table)
{
    struct scans scans = find_scans(table, false);
    if (scans.heaviest == NULL)
        return;
    if (!table->has_stats) {
        advice_not_judged(report, table, NULL, "scan", "the table's size is not known");
        return;
    }
    bool often = (double)scans.calls / minutes_of(table) > SCANS_PER_MINUTE_MAX;
    bool much = scans.calls >= SCAN_CALLS_MIN &&
                scans.units > SCAN_SHARE_MAX * units_in_window(table, METER_READ);
    if (table->size <= SCAN_TABLE_SIZE_MIN || (!often && !much))
        return;
    struct advice_finding *finding = add_for_shape(report, table, scans.heaviest, "scan");
    add_scan_evidence(report, table, finding, &scans);
    finding->action = "Read by a key: give the attributes that these scans look for a global "
                      "index and use Query. Keep Scan for exports and rare reports.";
}

static void judge_statements(struct advice_report *report, const struct advice_table *table)
{
    struct scans scans = find_scans(table, true);
    if (scans.heaviest == NULL || (double)scans.calls / minutes_of(table) <= SCANS_PER_MINUTE_MAX)
        return;
    struct advice_finding *finding = add_for_shape(report, table, scans.heaviest, "partiql-scan");
    add_scan_evidence(report, table, finding, &scans);
    finding->action = "Name the partition key in WHERE by = or IN, of the table or of an index in "
                      "FROM; otherwise SELECT reads everything.";
}

/* Many different filters are the questions of people, not the patterns of a program. */
static void judge_variety(struct advice_report *report, const struct advice_table *table)
{
    size_t shapes = 0;
    uint64_t calls = 0;
    for (size_t i = 0; i < table->shape_count; i++) {
        if (table->shapes[i].kind != SHAPE_SCAN || !table->shapes[i].has_filter)
            continue;
        shapes++;
        calls += table->shapes[i].counts.calls;
    }
    if (shapes <= SCAN_SHAPES_MAX)
        return;
    struct advice_finding *finding = advice_add(report, table, "ad-hoc-queries", false);
    advice_evidence(finding, "DifferentScans", (double)shapes);
    advice_evidence(finding, "Calls", (double)calls);
    finding->summary = arena_printf(
        report->arena, "%zu different filters were used in scans of the table", shapes);
    finding->action = "Questions that change from day to day are what an analytical database is "
                      "for: export the table, or follow its stream, and ask there.";
}

/* --- Filters and pages --- */

static void judge_filter(struct advice_report *report, const struct advice_table *table,
                         const struct shape_use *shape)
{
    double read = (double)shape->counts.items_read;
    double returned = (double)shape->counts.items_returned;
    if (!is_read(shape) || !shape->has_filter || shape->counts.calls < CALLS_MIN ||
        read <= FILTER_RATIO_MAX * (returned < 1 ? 1 : returned))
        return;
    struct advice_finding *finding = add_for_shape(report, table, shape, "filter");
    double wasted = 1 - advice_ratio(returned, read);
    advice_evidence(finding, "ItemsRead", read);
    advice_evidence(finding, "ItemsReturned", returned);
    advice_evidence(finding, "ReadUnits", units_of(shape));
    finding->summary = arena_printf(report->arena,
                                    "the filter drops %.1f%% of the items that were read and "
                                    "paid for",
                                    100 * wasted);
    finding->action = "Let the key condition choose the items: make what the filter compares a "
                      "part of the sort key, or the key of a global index.";
    cost_of_share(finding, table, shape, wasted, METER_READ);
}

static void judge_pages(struct advice_report *report, const struct advice_table *table,
                        const struct shape_use *shape)
{
    double share = advice_ratio((double)shape->counts.empty_pages, (double)shape->counts.calls);
    if (!is_read(shape) || shape->counts.calls < CALLS_MIN || share <= EMPTY_PAGES_MAX)
        return;
    struct advice_finding *finding = add_for_shape(report, table, shape, "empty-pages");
    advice_evidence(finding, "EmptyPages", (double)shape->counts.empty_pages);
    advice_evidence(finding, "ShareOfPages", share);
    advice_evidence(finding, "ReadUnits", units_of(shape));
    finding->summary = arena_printf(report->arena,
                                    "%.0f%% of the pages are empty although more follows: Limit "
                                    "counts items before the filter",
                                    100 * share);
    finding->action = "Choose items by key condition rather than by filter. Programs have to "
                      "follow LastEvaluatedKey until it is absent, whatever Count says.";
    cost_of_share(finding, table, shape, share, METER_READ);
}

static void judge_refusals(struct advice_report *report, const struct advice_table *table,
                           const struct shape_use *shape)
{
    if (shape->kind != SHAPE_REFUSED_CONSISTENT)
        return;
    struct advice_finding *finding = add_for_shape(report, table, shape, "consistent-index-read");
    finding->summary = arena_printf(report->arena,
                                    "%.0f requests asked for a consistent read of a global index "
                                    "and were refused",
                                    (double)shape->counts.calls);
    finding->action = "Global indexes follow their table and have eventually consistent reads "
                      "only. Drop ConsistentRead, or read the table by its key.";
}

/* --- Writes --- */

static void judge_update(struct advice_report *report, const struct advice_table *table,
                         const struct shape_use *shape)
{
    const struct shape_counts *counts = &shape->counts;
    if (shape->kind != SHAPE_WRITE || !is_operation(shape, "UpdateItem") ||
        counts->calls < CALLS_MIN)
        return;
    double units = units_of(shape) / (double)counts->calls;
    double share = advice_ratio((double)counts->request_size, (double)counts->put_size);
    if (units <= UPDATE_UNITS_MAX || share >= UPDATE_BYTES_SHARE_MIN)
        return;
    struct advice_finding *finding = add_for_shape(report, table, shape, "large-update");
    advice_evidence(finding, "WriteUnitsPerCall", units);
    advice_evidence(finding, "ItemBytesPerCall", (double)counts->put_size / (double)counts->calls);
    advice_evidence(finding, "RequestBytesPerCall",
                    (double)counts->request_size / (double)counts->calls);
    finding->summary = arena_printf(report->arena,
                                    "an update costs %.1f write units although its request has "
                                    "only %.1f%% of the item's bytes: writes are charged by the "
                                    "whole item",
                                    units, 100 * share);
    finding->action = "Keep what changes often in an item of its own, under the same partition "
                      "key, apart from what is large.";
    cost_of_share(finding, table, shape, 1 - share, METER_WRITE);
}

static void judge_transactions(struct advice_report *report, const struct advice_table *table)
{
    const struct shape_use *heaviest = NULL;
    double units = 0, calls = 0;
    for (size_t i = 0; i < table->shape_count; i++) {
        const struct shape_use *shape = &table->shapes[i];
        if (shape->kind != SHAPE_SINGLE_TRANSACTION || is_operation(shape, "TransactGetItems"))
            continue;
        units += units_of(shape);
        calls += (double)shape->counts.calls;
        if (heaviest == NULL || units_of(shape) > units_of(heaviest))
            heaviest = shape;
    }
    double all_units = units_in_window(table, METER_WRITE);
    if (heaviest == NULL || calls < CALLS_MIN || units <= TRANSACTION_SHARE_MAX * all_units)
        return;
    struct advice_finding *finding = add_for_shape(report, table, heaviest, "single-transaction");
    finding->evidence_count = 0;
    advice_evidence(finding, "Calls", calls);
    advice_evidence(finding, "WriteUnits", units);
    advice_evidence(finding, "ShareOfWriteUnits", advice_ratio(units, all_units));
    finding->summary = arena_printf(report->arena,
                                    "%.0f transactions wrote one item each and took %.0f%% of the "
                                    "table's write units; a transaction costs twice as much",
                                    calls, 100 * advice_ratio(units, all_units));
    finding->action = "Use PutItem, UpdateItem or DeleteItem with a condition: a single item is "
                      "always written as a whole or not at all.";
    advice_cost(finding, advice_monthly(units / 2, table->shapes_from_ms, table->now_ms) *
                             advice_unit_cost(table->definition, METER_WRITE));
}

static void judge_failures(struct advice_report *report, const struct advice_table *table)
{
    const struct advice_counts *counts = &table->window.counts;
    double failures = (double)(counts->condition_failures + counts->conflicts);
    double share = advice_ratio(failures, (double)counts->writes);
    if (!table->window.has_counts || counts->writes < CALLS_MIN || share <= FAILURE_SHARE_MAX)
        return;
    const struct shape_use *worst = NULL;
    for (size_t i = 0; i < table->shape_count; i++) {
        const struct shape_use *shape = &table->shapes[i];
        if (shape->counts.condition_failures > 0 &&
            (worst == NULL || shape->counts.condition_failures > worst->counts.condition_failures))
            worst = shape;
    }
    struct advice_finding *finding = advice_add(report, table, "failed-conditions", true);
    finding->from_ms = table->window.from_ms;
    if (worst != NULL) {
        finding->operation = worst->operation;
        finding->shape = worst->text;
        advice_evidence(finding, "FailuresOfShape", (double)worst->counts.condition_failures);
        advice_evidence(finding, "CallsOfShape", (double)worst->counts.calls);
    }
    advice_evidence(finding, "Writes", (double)counts->writes);
    advice_evidence(finding, "ConditionFailures", (double)counts->condition_failures);
    advice_evidence(finding, "TransactionConflicts", (double)counts->conflicts);
    advice_evidence(finding, "Share", share);
    finding->summary = arena_printf(report->arena,
                                    "%.1f%% of the writes failed by their condition or met another "
                                    "transaction; failed ones are charged as well",
                                    100 * share);
    finding->action = "Let updates that may be repeated do without a condition (ADD, "
                      "if_not_exists), divide items that many writers share, and retry with "
                      "growing random pauses.";
    double units =
        advice_ratio((double)counts->half_units[METER_WRITE] / 2, (double)counts->writes) *
        failures;
    advice_cost(finding, advice_monthly(units, table->window.from_ms, table->now_ms) *
                             advice_unit_cost(table->definition, METER_WRITE));
}

void advice_judge_access(struct advice_report *report, const struct advice_table *table)
{
    judge_failures(report, table);
    if (!table->counts_shapes) {
        advice_not_judged(report, table, NULL, "scan",
                          "expressions are not counted: the setting advice-shapes is 0");
        return;
    }
    judge_scans(report, table);
    judge_statements(report, table);
    judge_variety(report, table);
    judge_transactions(report, table);
    for (size_t i = 0; i < table->shape_count; i++) {
        judge_filter(report, table, &table->shapes[i]);
        judge_pages(report, table, &table->shapes[i]);
        judge_refusals(report, table, &table->shapes[i]);
        judge_update(report, table, &table->shapes[i]);
    }
}
