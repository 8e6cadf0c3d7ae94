/* advice_items.c -- rules about items: their size, their names, and how long they live. */
#include "advice/advice.h"
#include "advice/advice_parts.h"

enum { PUTS_MIN = 100 };
#define LARGE_SHARE_MAX 0.01 /* So the 99th percentile is larger. */
#define EXPIRED_SHARE_MAX 0.20
#define NAMES_SHARE_MAX 0.30
#define BORDER_SHARE_MAX 0.30

const char advice_small_sample[] = "fewer than 10 items were looked at";

static void judge_sizes(struct advice_report *report, const struct advice_table *table)
{
    const struct advice_counts *counts = &table->window.counts;
    double share = advice_ratio((double)counts->large_items, (double)counts->items_put);
    if (!table->window.has_counts || counts->items_put == 0 ||
        (counts->huge_items == 0 && share <= LARGE_SHARE_MAX))
        return;
    struct advice_finding *finding = advice_add(report, table, "large-items", true);
    finding->from_ms = table->window.from_ms;
    advice_evidence(finding, "ItemsPut", (double)counts->items_put);
    advice_evidence(finding, "Above100KB", (double)counts->large_items);
    advice_evidence(finding, "Above300KB", (double)counts->huge_items);
    finding->summary =
        counts->huge_items > 0
            ? arena_printf(report->arena,
                           "%.0f items of more than 300 KB were put; an item has at most 400 KB",
                           (double)counts->huge_items)
            : arena_printf(report->arena, "%.1f%% of the items put have more than 100 KB",
                           100 * share);
    finding->action = "Give the elements of growing lists items of their own under the same "
                      "partition key, and keep large bodies in object storage with their address "
                      "in the item.";
    /* At least 100 units each. */
    advice_cost(finding, advice_monthly((double)counts->large_items * 100, table->window.from_ms,
                                        table->now_ms) *
                             advice_unit_cost(table->definition, METER_WRITE));
}

static void judge_expiry(struct advice_report *report, const struct advice_table *table)
{
    const struct advice_sample *sample = &table->sample;
    double share = advice_ratio((double)sample->expired_count, (double)sample->count);
    if (table->definition->expiry.status != EXPIRY_NONE || share <= EXPIRED_SHARE_MAX)
        return;
    struct advice_finding *finding = advice_add(report, table, "expired-items", false);
    finding->from_ms = table->now_ms; /* A look at the items as they are. */
    advice_evidence(finding, "ItemsLookedAt", (double)sample->count);
    advice_evidence(finding, "WithATimeInThePast", (double)sample->expired_count);
    finding->shape =
        arena_printf(report->arena, "attribute: %.*s", BYTES_FMT(sample->expired_name));
    finding->summary = arena_printf(report->arena,
                                    "in %.0f%% of the items, the attribute %.*s is a time in the "
                                    "past, and the table has no time to live",
                                    100 * share, BYTES_FMT(sample->expired_name));
    finding->action = "If it says when an item is of no use any more, enable time to live on it: "
                      "such deletions cost nothing.";
    if (table->has_stats)
        advice_cost(finding, (double)table->size * share * advice_storage_price(table->definition));
}

static void judge_names(struct advice_report *report, const struct advice_table *table)
{
    const struct advice_sample *sample = &table->sample;
    double share = advice_ratio(sample->name_size_average, sample->size_average);
    if (share <= NAMES_SHARE_MAX)
        return;
    struct advice_finding *finding = advice_add(report, table, "long-names", false);
    finding->from_ms = table->now_ms;
    advice_evidence(finding, "ItemsLookedAt", (double)sample->count);
    advice_evidence(finding, "ItemBytes", sample->size_average);
    advice_evidence(finding, "NameBytes", sample->name_size_average);
    finding->summary = arena_printf(
        report->arena, "names of attributes are %.0f%% of the items' bytes", 100 * share);
    finding->action = "Names count in the size of each item. In large tables, short names save "
                      "storage, and units where items cross a border of 1 or 4 KB.";
    if (table->has_stats)
        advice_cost(finding, (double)table->size * share * advice_storage_price(table->definition));
}

static void judge_border(struct advice_report *report, const struct advice_table *table)
{
    const struct advice_sample *sample = &table->sample;
    double share = advice_ratio((double)sample->barely_above, (double)sample->count);
    const struct advice_counts *counts = &table->window.counts;
    if (share <= BORDER_SHARE_MAX)
        return;
    struct advice_finding *finding = advice_add(report, table, "unit-border", false);
    finding->from_ms = table->now_ms;
    advice_evidence(finding, "ItemsLookedAt", (double)sample->count);
    advice_evidence(finding, "BarelyAboveABorder", (double)sample->barely_above);
    advice_evidence(finding, "ItemBytes", sample->size_average);
    finding->summary = arena_printf(report->arena,
                                    "%.0f%% of the items exceed a multiple of 1 KB by less than "
                                    "100 bytes, and each of their writes costs a unit more",
                                    100 * share);
    finding->action = "Make these items a little smaller: shorter names, no redundant attributes.";
    if (table->window.has_counts && counts->items_put >= PUTS_MIN)
        advice_cost(finding, advice_monthly((double)counts->items_put * share,
                                            table->window.from_ms, table->now_ms) *
                                 advice_unit_cost(table->definition, METER_WRITE));
}

/* An empty table has no such problem. */
static void judge_sample(struct advice_report *report, const struct advice_table *table)
{
    if (table->sample.count >= ADVICE_SAMPLE_MIN) {
        judge_expiry(report, table);
        judge_names(report, table);
        judge_border(report, table);
        return;
    }
    if (table->sample.count == 0)
        return;
    if (table->definition->expiry.status == EXPIRY_NONE)
        advice_not_judged(report, table, NULL, "expired-items", advice_small_sample);
    advice_not_judged(report, table, NULL, "long-names", advice_small_sample);
    advice_not_judged(report, table, NULL, "unit-border", advice_small_sample);
}

void advice_judge_items(struct advice_report *report, const struct advice_table *table)
{
    judge_sizes(report, table);
    judge_sample(report, table);
}
