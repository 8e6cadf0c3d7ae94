/* table_metrics.c -- the metrics that DynamoDB counts for each table, index and operation. */
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/collection.h"
#include "cloudwatch/latency_memory.h"
#include "cloudwatch/series.h"
#include "cloudwatch/value_histogram.h"
#include "metric/meter.h"

#define NS_PER_MS 1e6

/* The operations that have metrics; others, such as DescribeTable, have none. */
static const struct operation_rule {
    const char *name;
    bool returns_items; /* ReturnedItemCount. */
    /* ThrottledRequests exists only with a third dimension. */
    bool throttles_by_kind;
    bool is_of_stream; /* StreamLabel is a dimension, and bytes and records are counted. */
} operation_rules[] = {
    { .name = "PutItem" },
    { .name = "DeleteItem" },
    { .name = "UpdateItem" },
    { .name = "GetItem" },
    { .name = "BatchGetItem" },
    { .name = "Scan", .returns_items = true },
    { .name = "Query", .returns_items = true },
    { .name = "BatchWriteItem" },
    { .name = "TransactWriteItems" },
    { .name = "TransactGetItems" },
    { .name = "ExecuteTransaction", .throttles_by_kind = true },
    { .name = "BatchExecuteStatement", .throttles_by_kind = true },
    { .name = "ExecuteStatement", .returns_items = true, .throttles_by_kind = true },
    { .name = "GetRecords", .is_of_stream = true },
};

/* Names of the metrics of a table's or index's units, by direction. */
static const struct {
    const char *consumed;
    const char *throttles;
    const char *reasons[METER_REASONS];
} unit_metrics[METER_DIRECTIONS] = {
    [METER_READ] = { "ConsumedReadCapacityUnits",
                     "ReadThrottleEvents",
                     { [METER_PROVISIONED_THROUGHPUT] = "ReadProvisionedThroughputThrottleEvents",
                       [METER_KEY_RANGE_THROUGHPUT] = "ReadKeyRangeThroughputThrottleEvents",
                       [METER_MAX_ON_DEMAND_THROUGHPUT] = "ReadMaxOnDemandThroughputThrottleEvents",
                       [METER_ACCOUNT_LIMIT] = "ReadAccountLimitThrottleEvents" } },
    [METER_WRITE] = { "ConsumedWriteCapacityUnits",
                      "WriteThrottleEvents",
                      { [METER_PROVISIONED_THROUGHPUT] = "WriteProvisionedThroughputThrottleEvents",
                        [METER_KEY_RANGE_THROUGHPUT] = "WriteKeyRangeThroughputThrottleEvents",
                        [METER_MAX_ON_DEMAND_THROUGHPUT] =
                            "WriteMaxOnDemandThroughputThrottleEvents",
                        [METER_ACCOUNT_LIMIT] = "WriteAccountLimitThrottleEvents" } },
};

/* --- Small pieces --- */

static struct sample_set scaled(const struct meter_set *set, double divisor)
{
    return sample_set_of_statistics((double)set->count, (double)set->sum / divisor,
                                    (double)set->min / divisor, (double)set->max / divisor);
}

/* `count` events, each of which counts 1. */
static void add_events(struct collection *collection, const char *name, uint64_t count,
                       const struct series_dimension *dimensions, size_t dimension_count)
{
    if (count == 0)
        return;
    const struct sample_set set = sample_set_of_value(1, (double)count);
    collection_add(collection, name, UNIT_COUNT, dimensions, dimension_count, &set);
}

/* --- Units --- */

/* Writes have the same numbers once more by their source. All come from customers: what other
 * regions send is not counted (doc/differences-cloudwatch.md). */
static void add_consumed(struct collection *collection, enum meter_direction direction,
                         const struct meter_set *half_units, const struct series_dimension *of,
                         size_t count)
{
    struct series_dimension dimensions[3];
    struct sample_set set = sample_set_of_value(0, 1);
    if (half_units != NULL && half_units->count > 0)
        set = scaled(half_units, 2);
    else if (collection->skips_zeros)
        return;
    collection_add(collection, unit_metrics[direction].consumed, UNIT_COUNT, of, count, &set);
    if (direction == METER_READ)
        return;
    for (size_t i = 0; i < count; i++)
        dimensions[i] = of[i];
    dimensions[count] = (struct series_dimension){ BYTES("Source"), BYTES("Customer") };
    collection_add(collection, unit_metrics[direction].consumed, UNIT_COUNT, dimensions, count + 1,
                   &set);
}

static void add_throttles(struct collection *collection, enum meter_direction direction,
                          const struct meter_units_reading *units,
                          const struct series_dimension *dimensions, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < METER_REASONS; i++) {
        total += units->minute.throttles[i];
        add_events(collection, unit_metrics[direction].reasons[i], units->minute.throttles[i],
                   dimensions, count);
    }
    add_events(collection, unit_metrics[direction].throttles, total, dimensions, count);
}

static struct bytes copy(struct collection *collection, struct bytes text)
{
    return arena_copy(collection->arena, text);
}

static const struct meter_index_reading *find_index(const struct meter_table_reading *reading,
                                                    struct bytes name)
{
    for (size_t i = 0; reading != NULL && i < reading->index_count; i++) {
        if (reading->indexes[i].exists && bytes_equal(reading->indexes[i].name, name))
            return &reading->indexes[i];
    }
    return NULL;
}

void table_metrics_add_consumed(struct collection *collection,
                                const struct table_definition *definition,
                                const struct meter_table_reading *reading)
{
    struct series_dimension dimensions[2] = { { BYTES("TableName"),
                                                copy(collection, definition->name) } };
    for (enum meter_direction i = METER_READ; i < METER_DIRECTIONS; i++)
        add_consumed(collection, i, reading == NULL ? NULL : &reading->units[i].minute.half_units,
                     dimensions, 1);
    for (size_t i = 0; i < definition->index_count; i++) {
        const struct index_definition *index = &definition->indexes[i];
        if (!index->global)
            continue;
        const struct meter_index_reading *counted = find_index(reading, index->name);
        dimensions[1] = (struct series_dimension){ BYTES("GlobalSecondaryIndexName"),
                                                   copy(collection, index->name) };
        for (enum meter_direction k = METER_READ; k < METER_DIRECTIONS; k++)
            add_consumed(collection, k,
                         counted == NULL ? NULL : &counted->units[k].minute.half_units, dimensions,
                         2);
    }
}

/* A table or an index that was deleted during the minute: only what it consumed. */
static void add_leftover(struct collection *collection, const struct meter_units_reading *units,
                         const struct series_dimension *dimensions, size_t count)
{
    for (enum meter_direction i = METER_READ; i < METER_DIRECTIONS; i++) {
        if (units[i].minute.half_units.count > 0)
            add_consumed(collection, i, &units[i].minute.half_units, dimensions, count);
    }
}

static void add_units(struct collection *collection, const struct meter_table_reading *table)
{
    struct series_dimension dimensions[2] = { { BYTES("TableName"),
                                                copy(collection, table->name) } };
    if (table->definition != NULL)
        table_metrics_add_consumed(collection, table->definition, table);
    else
        add_leftover(collection, table->units, dimensions, 1);
    for (enum meter_direction i = METER_READ; i < METER_DIRECTIONS; i++)
        add_throttles(collection, i, &table->units[i], dimensions, 1);
    for (size_t i = 0; i < table->index_count; i++) {
        const struct meter_index_reading *index = &table->indexes[i];
        if (!index->global)
            continue;
        dimensions[1] = (struct series_dimension){ BYTES("GlobalSecondaryIndexName"),
                                                   copy(collection, index->name) };
        if (table->definition == NULL || !index->exists)
            add_leftover(collection, index->units, dimensions, 2);
        for (enum meter_direction k = METER_READ; k < METER_DIRECTIONS; k++)
            add_throttles(collection, k, &index->units[k], dimensions, 2);
    }
}

/* --- Operations --- */

/* The distribution of the minute's latencies, as far as the meter can tell: that of all calls since
 * the last collection, scaled to the number of calls of the minute. */
static void distribute(struct collection *collection, const struct histogram *since,
                       struct sample_set *set)
{
    struct value_histogram *out = arena_alloc(collection->arena, sizeof *out);
    double total = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        total += (double)since->buckets[i];
    if (total == 0 || set->minimum == set->maximum)
        return;
    value_histogram_init(out);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (since->buckets[i] == 0)
            continue;
        double middle =
            ((double)histogram_bucket_first(i) + (double)histogram_bucket_last(i)) / 2 / NS_PER_MS;
        middle = middle < set->minimum   ? set->minimum
                 : middle > set->maximum ? set->maximum
                                         : middle;
        value_histogram_add(out, middle, (double)since->buckets[i] * set->count / total);
    }
    set->histogram = out;
    set->is_distributed = true;
}

static void add_latency(struct collection *collection, const struct meter_table_reading *table,
                        unsigned operation, const struct series_dimension *dimensions,
                        size_t dimension_count)
{
    const struct meter_operation_reading *reading = &table->operations[operation];
    if (reading->minute.latency_ns.count > 0) {
        struct sample_set set = scaled(&reading->minute.latency_ns, NS_PER_MS);
        struct histogram *since = arena_alloc(collection->arena, sizeof *since);
        *since = reading->latency_ns;
        latency_memory_subtract(collection->latencies, table->id, operation, since);
        distribute(collection, since, &set);
        collection_add(collection, "SuccessfulRequestLatency", UNIT_MILLISECONDS, dimensions,
                       dimension_count, &set);
    }
    if (collection->is_final)
        latency_memory_set(collection->latencies, table->id, operation, &reading->latency_ns);
}

/* What PartiQL throttles has a third dimension: the verb of a statement, or whether a batch or
 * transaction reads or writes. */
static void add_throttled_by_kind(struct collection *collection, const struct operation_rule *rule,
                                  const uint64_t throttled[METER_VERBS],
                                  struct series_dimension dimensions[3])
{
    static const char *const verbs[METER_VERBS] = { [METER_VERB_SELECT] = "PartiQLSelect",
                                                    [METER_VERB_INSERT] = "PartiQLInsert",
                                                    [METER_VERB_UPDATE] = "PartiQLUpdate",
                                                    [METER_VERB_DELETE] = "PartiQLDelete" };
    bool is_statement = bytes_equal_text(bytes_from_text(rule->name), "ExecuteStatement");
    uint64_t writes = 0;
    dimensions[2].name = is_statement ? BYTES("Verb") : BYTES("OperationType");
    for (size_t verb = METER_VERB_SELECT; verb < METER_VERBS; verb++) {
        if (verb != METER_VERB_SELECT)
            writes += throttled[verb];
        dimensions[2].value = bytes_from_text(verbs[verb]);
        if (is_statement)
            add_events(collection, "ThrottledRequests", throttled[verb], dimensions, 3);
    }
    if (is_statement)
        return;
    dimensions[2].value = BYTES("Read");
    add_events(collection, "ThrottledRequests", throttled[METER_VERB_SELECT], dimensions, 3);
    dimensions[2].value = BYTES("Write");
    add_events(collection, "ThrottledRequests", writes, dimensions, 3);
}

/* GetRecords, which the meter counts for a table whose stream it reads. */
static void add_stream_operation(struct collection *collection,
                                 const struct meter_table_reading *table, unsigned operation,
                                 struct series_dimension dimensions[3])
{
    const struct meter_operation_reading *reading = &table->operations[operation];
    if (table->definition == NULL || table->definition->stream_label.data == NULL)
        return;
    dimensions[2] = (struct series_dimension){ BYTES("StreamLabel"),
                                               copy(collection, table->definition->stream_label) };
    add_latency(collection, table, operation, dimensions, 3);
    if (reading->minute.response_size.count > 0) {
        const struct sample_set bytes = scaled(&reading->minute.response_size, 1);
        collection_add(collection, "ReturnedBytes", UNIT_BYTES, dimensions, 3, &bytes);
    }
    if (reading->minute.returned_items.count > 0) {
        const struct sample_set records = scaled(&reading->minute.returned_items, 1);
        collection_add(collection, "ReturnedRecordsCount", UNIT_COUNT, dimensions, 3, &records);
    }
    add_events(collection, "SystemErrors", reading->minute.system_errors, dimensions, 2);
}

static void add_operation(struct collection *collection, const struct meter_table_reading *table,
                          unsigned operation, const struct operation_rule *rule)
{
    const struct meter_operation_reading *reading = &table->operations[operation];
    struct series_dimension dimensions[3] = {
        { BYTES("TableName"), copy(collection, table->name) },
        { BYTES("Operation"), bytes_from_text(rule->name) },
    };
    if (rule->is_of_stream) {
        add_stream_operation(collection, table, operation, dimensions);
        return;
    }
    add_latency(collection, table, operation, dimensions, 2);
    if (rule->returns_items && reading->minute.returned_items.count > 0) {
        const struct sample_set set = scaled(&reading->minute.returned_items, 1);
        collection_add(collection, "ReturnedItemCount", UNIT_COUNT, dimensions, 2, &set);
    }
    add_events(collection, "SystemErrors", reading->minute.system_errors, dimensions, 2);
    add_events(collection, "FaultInjectionServiceInducedErrors", reading->minute.injected_errors,
               dimensions, 2);
    if (rule->throttles_by_kind)
        add_throttled_by_kind(collection, rule, reading->minute.throttled, dimensions);
    else
        add_events(collection, "ThrottledRequests", reading->minute.throttled[METER_VERB_NONE],
                   dimensions, 2);
}

static const struct operation_rule *find_rule(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(operation_rules); i++) {
        if (bytes_equal_text(bytes_from_text(name), operation_rules[i].name))
            return &operation_rules[i];
    }
    return NULL;
}

/* --- Tables --- */

static void note_seen(struct collection *collection, uint64_t table_id)
{
    if (collection->seen_count == collection->seen_capacity) {
        size_t larger = collection->seen_capacity == 0 ? 64 : collection->seen_capacity * 2;
        collection->seen =
            arena_grow(collection->arena, collection->seen,
                       collection->seen_capacity * sizeof table_id, larger * sizeof table_id);
        collection->seen_capacity = larger;
    }
    collection->seen[collection->seen_count++] = table_id;
}

static void visit(void *context, const struct meter_table_reading *table)
{
    struct collection *collection = context;
    if (table->is_pseudo)
        return;
    note_seen(collection, table->id);
    add_units(collection, table);
    for (unsigned i = 0; i < meter_operation_count(collection->meter); i++) {
        if (!table->operations[i].used)
            continue;
        const struct operation_rule *rule =
            find_rule(meter_operation_at(collection->meter, i)->name);
        if (rule != NULL)
            add_operation(collection, table, i, rule);
    }
    const struct series_dimension dimensions[] = { { BYTES("TableName"),
                                                     copy(collection, table->name) } };
    add_events(collection, "ConditionalCheckFailedRequests", table->minute.condition_failures,
               dimensions, 1);
    add_events(collection, "TimeToLiveDeletedItemCount", table->minute.expired_items, dimensions,
               1);
    if (table->minute.conflicts.count > 0) {
        const struct sample_set set = scaled(&table->minute.conflicts, 1);
        collection_add(collection, "TransactionConflict", UNIT_COUNT, dimensions, 1, &set);
    }
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

void table_metrics_collect(struct collection *collection)
{
    meter_read(collection->meter, collection->minute, visit, collection);
    if (collection->seen_count > 0)
        qsort(collection->seen, collection->seen_count, sizeof collection->seen[0], compare_ids);
    add_events(collection, "UserErrors",
               meter_read_errors(collection->meter, collection->minute).minute_user_errors, NULL,
               0);
}
