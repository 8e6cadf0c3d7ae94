/* advice_keys.c -- rules about partition keys: hot ones, few ones, and times. */
#include <math.h>
#include "advice/advice.h"
#include "advice/advice_parts.h"

enum { HOT_MINUTES_MIN = 15, FEW_KEYS = 10, ITEMS_PER_KEY_MAX = 10000 };
#define HOT_SHARE_MAX 0.30
#define UNITS_PER_MINUTE_MIN 60.0 /* One in a second: less makes no key hot. */
#define TIME_SHARE_MAX 0.80
/* 3,000 read units or 1,000 write units in a second, which Contributor Insights counts threefold.
 */
#define KEY_UNITS_PER_SECOND 3000.0

/* The table itself, or one of its global indexes. */
struct target {
    const struct index_definition *index; /* NULL: the table. */
    const struct advice_keys *keys;
    const uint64_t *throttles; /* By direction. */
    int64_t item_count;
};

static struct advice_finding *add_for_target(struct advice_report *report,
                                             const struct advice_table *table,
                                             const struct target *target, const char *rule)
{
    struct advice_finding *finding = advice_add(report, table, rule, true);
    if (target->index != NULL)
        finding->index_name = target->index->name;
    return finding;
}

static double shards_for(const struct advice_keys *keys)
{
    double shards = ceil(keys->top_minute / 60 / KEY_UNITS_PER_SECOND);
    return shards < 2 ? 2 : shards;
}

static void judge_throttles(struct advice_report *report, const struct advice_table *table,
                            const struct target *target)
{
    double reads = (double)target->throttles[METER_READ];
    double writes = (double)target->throttles[METER_WRITE];
    if (reads + writes == 0)
        return;
    struct advice_finding *finding = add_for_target(report, table, target, "hot-partition");
    finding->from_ms = table->window.from_ms;
    advice_evidence(finding, "ReadKeyRangeThrottles", reads);
    advice_evidence(finding, "WriteKeyRangeThrottles", writes);
    if (target->keys->is_enabled && target->keys->total > 0) {
        advice_evidence(finding, "ShareOfHeaviestKey", target->keys->top / target->keys->total);
        advice_evidence(finding, "ShardsNeeded", shards_for(target->keys));
    }
    finding->summary = arena_printf(report->arena,
                                    "%.0f requests were throttled because of the limit of one "
                                    "partition key, whatever the table's capacity",
                                    reads + writes);
    finding->action = writes > 0
                          ? "Divide the heaviest keys: add a suffix from 0 to ShardsNeeded "
                            "- 1 to the partition key and read all of them. UpdateContributor"
                            "Insights shows which keys they are."
                          : "Cache what is read most, or store copies of it under several "
                            "keys. UpdateContributorInsights shows which keys they are.";
}

static void judge_share(struct advice_report *report, const struct advice_table *table,
                        const struct target *target)
{
    const struct advice_keys *keys = target->keys;
    double share = advice_ratio(keys->top, keys->total);
    if (!keys->is_enabled || keys->minutes < HOT_MINUTES_MIN || share <= HOT_SHARE_MAX ||
        keys->total < UNITS_PER_MINUTE_MIN * (double)keys->minutes)
        return;
    bool is_time = keys->top_is_time && share > TIME_SHARE_MAX;
    struct advice_finding *finding =
        add_for_target(report, table, target, is_time ? "time-key" : "hot-key");
    finding->from_ms = keys->from_ms;
    advice_evidence(finding, "Units", keys->total);
    advice_evidence(finding, "UnitsOfHeaviestKey", keys->top);
    advice_evidence(finding, "Share", share);
    advice_evidence(finding, "UnitsInItsBusiestMinute", keys->top_minute);
    advice_evidence(finding, "DifferentKeys", (double)keys->distinct);
    advice_evidence(finding, "Minutes", (double)keys->minutes);
    advice_evidence(finding, "ShardsNeeded", shards_for(keys));
    finding->summary =
        arena_printf(report->arena,
                     is_time ? "the heaviest partition key is a date or time and takes %.0f%% of "
                               "all units: everything happens in the newest one"
                             : "one partition key takes %.0f%% of all units",
                     100 * share);
    finding->action = is_time ? "Put something that differs between writers in front of the time, "
                                "such as a device or customer, and the time into the sort key."
                              : "Divide the key by a suffix (write sharding) for writes, or cache "
                                "it for reads. GetHotKeys shows which one it is.";
}

static void judge_few(struct advice_report *report, const struct advice_table *table,
                      const struct target *target)
{
    const struct advice_keys *keys = target->keys;
    if (!keys->is_enabled || !table->has_stats || keys->distinct == 0 ||
        keys->distinct >= FEW_KEYS ||
        target->item_count <= (int64_t)keys->distinct * ITEMS_PER_KEY_MAX)
        return;
    struct advice_finding *finding = add_for_target(report, table, target, "few-keys");
    finding->from_ms = keys->from_ms;
    advice_evidence(finding, "DifferentKeys", (double)keys->distinct);
    advice_evidence(finding, "Items", (double)target->item_count);
    finding->summary =
        arena_printf(report->arena, "only %.0f partition keys were used, for %.0f items",
                     (double)keys->distinct, (double)target->item_count);
    finding->action = "Choose a partition key with many values, such as an id; states, types and "
                      "dates belong into the sort key or into an index with a suffix.";
}

void advice_judge_keys(struct advice_report *report, const struct advice_table *table)
{
    const struct table_definition *definition = table->definition;
    const struct advice_counts *counts = &table->window.counts;
    const struct target own = { .keys = &table->keys,
                                .throttles = counts->key_range_throttles,
                                .item_count = table->item_count };
    judge_throttles(report, table, &own);
    judge_share(report, table, &own);
    judge_few(report, table, &own);
    if (!table->keys.is_enabled)
        advice_not_judged(report, table, NULL, "hot-key",
                          "Contributor Insights is not enabled for the table");
    for (size_t i = 0; i < definition->index_count; i++) {
        const uint64_t none[METER_DIRECTIONS] = { 0 };
        struct target target = { .index = &definition->indexes[i],
                                 .keys = &table->index_keys[i],
                                 .throttles = none,
                                 .item_count = table->index_counts[i] };
        if (!target.index->global)
            continue;
        for (size_t k = 0; k < counts->index_count; k++) {
            if (counts->indexes[k].id == target.index->id)
                target.throttles = counts->indexes[k].key_range_throttles;
        }
        judge_throttles(report, table, &target);
        judge_share(report, table, &target);
        judge_few(report, table, &target);
    }
}
