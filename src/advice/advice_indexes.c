/* advice_indexes.c -- rules about indexes: unused, too many, too wide, or moved about. */
#include "advice/advice.h"
#include "advice/advice_parts.h"

enum {
    INDEXES_MANY = 5,
    CHANGES_MIN = 100,
    CALLS_MIN = 100,
    UNUSED_HOURS_MIN = ADVICE_UNUSED_DAYS * 24 * 9 / 10, /* Hours with samples. */
};
#define READ_SHARE_MIN 0.01
#define SIZE_RATIO_MAX 0.8
#define ATTRIBUTES_SHARE_MAX 0.5
#define MOVES_SHARE_MAX 0.5

static struct advice_finding *add_for_index(struct advice_report *report,
                                            const struct advice_table *table, size_t index,
                                            const char *rule, bool is_warning)
{
    struct advice_finding *finding = advice_add(report, table, rule, is_warning);
    finding->index_name = table->definition->indexes[index].name;
    return finding;
}

static const struct advice_index_counts *counts_of(const struct advice_table *table, size_t index)
{
    const struct advice_counts *counts = &table->window.counts;
    for (size_t i = 0; i < counts->index_count; i++) {
        if (counts->indexes[i].id == table->definition->indexes[index].id)
            return &counts->indexes[i];
    }
    return NULL;
}

/* Writes and storage of an index, in USD per month. */
static double index_cost(const struct advice_table *table, size_t index)
{
    const struct advice_usage *usage = &table->index_usage[index];
    double cost = (double)table->index_sizes[index] * advice_storage_price(table->definition);
    double hours = (double)usage->hours;
    if (hours > 0)
        cost += usage->long_units[METER_WRITE] * ADVICE_MONTH_HOURS / hours *
                advice_unit_cost(table->definition, METER_WRITE);
    return cost;
}

/* --- Unused --- */

static int64_t created_of(const struct advice_table *table, size_t index)
{
    int64_t created_ms = table->definition->indexes[index].created_ms;
    return created_ms > 0 ? created_ms : table->definition->created_ms;
}

/* True if its reads are known over the whole time that counts: it existed, and the server ran. */
static bool is_known(struct advice_report *report, const struct advice_table *table, size_t index)
{
    static const char rule[] = "unused-index";
    const struct index_definition *definition = &table->definition->indexes[index];
    const struct advice_usage *usage = &table->index_usage[index];
    int64_t wanted_ms = table->now_ms - ADVICE_UNUSED_DAYS * ADVICE_DAY_MS;
    if (table->since_ms < wanted_ms)
        wanted_ms = table->since_ms;
    if (created_of(table, index) > wanted_ms) {
        advice_not_judged(report, table, definition, rule,
                          "the index is younger than 30 days, or than the window asked for");
        return false;
    }
    if (usage->first_ms == 0) {
        advice_not_judged(report, table, definition, rule, "there are no samples of its reads");
        return false;
    }
    if (usage->hours < UNUSED_HOURS_MIN) {
        advice_not_judged(report, table, definition, rule,
                          "there are samples of less than 90% of the last 30 days");
        return false;
    }
    return true;
}

static void judge_unused(struct advice_report *report, const struct advice_table *table,
                         size_t index)
{
    const struct advice_usage *usage = &table->index_usage[index];
    if (!is_known(report, table, index) || usage->long_units[METER_READ] > 0 ||
        usage->long_units[METER_WRITE] == 0)
        return;
    struct advice_finding *finding = add_for_index(report, table, index, "unused-index", true);
    finding->from_ms = table->now_ms - ADVICE_UNUSED_DAYS * ADVICE_DAY_MS;
    advice_evidence(finding, "ReadUnits", 0);
    advice_evidence(finding, "WriteUnits", usage->long_units[METER_WRITE]);
    advice_evidence(finding, "IndexBytes", (double)table->index_sizes[index]);
    advice_evidence(finding, "HoursWithData", (double)usage->hours);
    finding->summary = arena_printf(report->arena,
                                    "nobody has read the index for %d days; its writes took %.0f "
                                    "units",
                                    ADVICE_UNUSED_DAYS, usage->long_units[METER_WRITE]);
    finding->action = "Delete the index, unless a report that runs less than once a month needs "
                      "it.";
    advice_cost(finding, index_cost(table, index));
}

/* --- Too many --- */

/* Another global index with the same partition key: one of the two could serve both. */
static bool overlaps(const struct table_definition *table, size_t index)
{
    const struct index_definition *own = &table->indexes[index];
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *other = &table->indexes[i];
        if (i != index && other->global && other->hash_count == own->hash_count &&
            bytes_equal(other->hash[0].name, own->hash[0].name))
            return true;
    }
    return false;
}

static void judge_many(struct advice_report *report, const struct advice_table *table)
{
    const struct table_definition *definition = table->definition;
    const struct advice_counts *counts = &table->window.counts;
    size_t global_count = 0, overlap_count = 0;
    double all_reads = (double)counts->half_units[METER_READ];
    for (size_t i = 0; i < counts->index_count; i++)
        all_reads += (double)counts->indexes[i].half_units[METER_READ];
    for (size_t i = 0; i < definition->index_count; i++) {
        global_count += definition->indexes[i].global;
        overlap_count += definition->indexes[i].global && overlaps(definition, i);
    }
    if (global_count <= INDEXES_MANY || overlap_count == 0 || all_reads == 0)
        return;
    double cost = 0;
    size_t rare_count = 0;
    for (size_t i = 0; i < definition->index_count; i++) {
        const struct advice_index_counts *index = counts_of(table, i);
        double reads = index == NULL ? 0 : (double)index->half_units[METER_READ];
        if (!definition->indexes[i].global || reads >= READ_SHARE_MIN * all_reads)
            continue;
        rare_count++;
        cost += index_cost(table, i);
    }
    if (rare_count == 0)
        return;
    struct advice_finding *finding = advice_add(report, table, "many-indexes", true);
    finding->from_ms = table->window.from_ms;
    advice_evidence(finding, "GlobalIndexes", (double)global_count);
    advice_evidence(finding, "WithTheSamePartitionKey", (double)overlap_count);
    advice_evidence(finding, "RarelyRead", (double)rare_count);
    finding->summary = arena_printf(report->arena,
                                    "of %zu global indexes, %zu serve less than 1%% of the reads "
                                    "each, and %zu have the partition key of another one",
                                    global_count, rare_count, overlap_count);
    finding->action = "Merge indexes with the same partition key, or overload one: generic key "
                      "attributes whose values carry the kind of item in a prefix.";
    advice_cost(finding, cost);
}

/* --- Too wide --- */

static void judge_projection(struct advice_report *report, const struct advice_table *table,
                             size_t index)
{
    const struct index_definition *definition = &table->definition->indexes[index];
    const struct advice_sample *sample = &table->index_samples[index];
    double ratio = advice_ratio((double)table->index_sizes[index], (double)table->size);
    uint32_t used = 0;
    uint64_t calls = 0;
    if (definition->projection != PROJECTION_ALL || !table->has_stats || ratio <= SIZE_RATIO_MAX)
        return;
    for (size_t i = 0; i < table->shape_count; i++) {
        const struct shape_use *shape = &table->shapes[i];
        if (shape->index_id != definition->id || shape->kind == SHAPE_REFUSED_CONSISTENT)
            continue;
        if (!shape->is_projected)
            return; /* It is read as a whole. */
        calls += shape->counts.calls;
        used = shape->projected_count > used ? shape->projected_count : used;
    }
    double share = advice_ratio(used, sample->attribute_average);
    if (calls < CALLS_MIN || sample->count == 0 || share >= ATTRIBUTES_SHARE_MAX)
        return;
    if (sample->count < ADVICE_SAMPLE_MIN) {
        advice_not_judged(report, table, definition, "wide-projection", advice_small_sample);
        return;
    }
    struct advice_finding *finding = add_for_index(report, table, index, "wide-projection", true);
    advice_evidence(finding, "IndexBytes", (double)table->index_sizes[index]);
    advice_evidence(finding, "ShareOfTableBytes", ratio);
    advice_evidence(finding, "Calls", (double)calls);
    advice_evidence(finding, "AttributesRead", used);
    advice_evidence(finding, "AttributesOfEntries", sample->attribute_average);
    finding->summary = arena_printf(report->arena,
                                    "the index repeats all attributes, and its reads ask for at "
                                    "most %u of about %.0f",
                                    used, sample->attribute_average);
    finding->action = "Create the index anew with ProjectionType INCLUDE and the attributes that "
                      "are read. Writes that change none of them then cost the index nothing.";
    advice_cost(finding, index_cost(table, index) * (1 - share));
}

/* --- Moved about --- */

static void judge_moves(struct advice_report *report, const struct advice_table *table,
                        size_t index)
{
    const struct advice_index_counts *counts = counts_of(table, index);
    if (counts == NULL || counts->changes < CHANGES_MIN ||
        (double)counts->moves <= MOVES_SHARE_MAX * (double)counts->changes)
        return;
    struct advice_finding *finding = add_for_index(report, table, index, "moving-index-key", true);
    double share = (double)counts->moves / (double)counts->changes;
    finding->from_ms = table->window.from_ms;
    advice_evidence(finding, "EntriesWritten", (double)counts->changes);
    advice_evidence(finding, "EntriesMoved", (double)counts->moves);
    advice_evidence(finding, "ShareMoved", share);
    advice_evidence(finding, "WriteUnits", (double)counts->half_units[METER_WRITE] / 2);
    finding->summary = arena_printf(report->arena,
                                    "%.0f%% of the writes to the index change its key, which costs "
                                    "a deletion and an insertion",
                                    100 * share);
    finding->action = "Take attributes that change with nearly every write, such as the time of "
                      "the last change, out of the index's key.";
    /* Of a move's two writes one is saved. */
    double saved = (double)counts->half_units[METER_WRITE] / 2 * share / (1 + share);
    advice_cost(finding, advice_monthly(saved, table->window.from_ms, table->now_ms) *
                             advice_unit_cost(table->definition, METER_WRITE));
}

/* --- Local indexes --- */

static void judge_collections(struct advice_report *report, const struct advice_table *table)
{
    if (table->collection_size_max <= table->collection_size_limit / 2)
        return;
    struct advice_finding *finding = advice_add(report, table, "large-collection", true);
    finding->from_ms = table->started_ms;
    advice_evidence(finding, "CollectionBytes", (double)table->collection_size_max);
    advice_evidence(finding, "BytesAllowed", (double)table->collection_size_limit);
    finding->summary = arena_printf(report->arena,
                                    "an item collection has reached %.0f%% of what a partition key "
                                    "of a table with local indexes may hold",
                                    100 * (double)table->collection_size_max /
                                        (double)table->collection_size_limit);
    finding->action = "A local index cannot be removed: move to a table with a global index "
                      "instead, or divide large partition keys, before writes are refused.";
}

void advice_judge_indexes(struct advice_report *report, const struct advice_table *table)
{
    const struct table_definition *definition = table->definition;
    judge_many(report, table);
    judge_collections(report, table);
    for (size_t i = 0; i < definition->index_count; i++) {
        judge_moves(report, table, i);
        if (!definition->indexes[i].global || definition->indexes[i].status != INDEX_ACTIVE)
            continue; /* A local index is part of its table and cannot be deleted. */
        judge_unused(report, table, i);
        judge_projection(report, table, i);
    }
}
