/* account_metrics.c -- metrics that follow from the catalogue: zeros of tables without calls, what
 * is provisioned, quotas and their use. */
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "cloudwatch/collection.h"
#include "cloudwatch/series.h"
#include "metric/meter.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

enum { NAMES_PAGE = 100 };

/* The service's quotas, for reads and writes alike. */
static const double account_units_default = 80000;
static const double table_units_default = 40000;

/* What all tables have. */
struct sums {
    double table_count;
    double provisioned[METER_DIRECTIONS];
    double provisioned_max[METER_DIRECTIONS]; /* Of one table or index. */
};

static void add_value(struct collection *collection, const char *name, enum unit unit, double value,
                      const struct series_dimension *dimensions, size_t count)
{
    const struct sample_set set = sample_set_of_value(value, 1);
    collection_add(collection, name, unit, dimensions, count, &set);
}

/* --- A table or one of its global indexes --- */

static void add_provisioned(struct collection *collection, const struct throughput *throughput,
                            const struct series_dimension *dimensions, size_t count,
                            struct sums *sums)
{
    const double units[METER_DIRECTIONS] = { [METER_READ] = (double)throughput->read_units,
                                             [METER_WRITE] = (double)throughput->write_units };
    add_value(collection, "ProvisionedReadCapacityUnits", UNIT_COUNT, units[METER_READ], dimensions,
              count);
    add_value(collection, "ProvisionedWriteCapacityUnits", UNIT_COUNT, units[METER_WRITE],
              dimensions, count);
    for (size_t i = 0; i < METER_DIRECTIONS; i++) {
        sums->provisioned[i] += units[i];
        if (units[i] > sums->provisioned_max[i])
            sums->provisioned_max[i] = units[i];
    }
}

static void add_on_demand_max(struct collection *collection, const struct unit_pair *units,
                              const struct series_dimension *dimensions, size_t count)
{
    if (units->read_units != UNITS_UNSET)
        add_value(collection, "OnDemandMaxReadRequestUnits", UNIT_COUNT, (double)units->read_units,
                  dimensions, count);
    if (units->write_units != UNITS_UNSET)
        add_value(collection, "OnDemandMaxWriteRequestUnits", UNIT_COUNT,
                  (double)units->write_units, dimensions, count);
}

/* How far a new index is filled: items are filled in the order of their hashes. */
static void add_progress(struct collection *collection, const struct index_definition *index,
                         const struct series_dimension *dimensions)
{
    double part = 0;
    if (index->status != INDEX_ALLOCATING && index->status != INDEX_BACKFILLING)
        return;
    if (index->backfilled.len >= 8)
        part = (double)load_u64_be(index->backfilled.data) / 0x1p64;
    add_value(collection, "OnlineIndexPercentageProgress", UNIT_COUNT, part * 100, dimensions, 2);
    add_value(collection, "OnlineIndexConsumedWriteCapacity", UNIT_COUNT, 0, dimensions, 2);
    add_value(collection, "OnlineIndexThrottleEvents", UNIT_COUNT, 0, dimensions, 2);
}

static void add_sparse(struct collection *collection, const struct table_definition *definition,
                       struct sums *sums)
{
    bool is_provisioned = definition->billing_mode == BILLING_PROVISIONED;
    struct series_dimension dimensions[2] = { { BYTES("TableName"),
                                                arena_copy(collection->arena, definition->name) } };
    if (is_provisioned)
        add_provisioned(collection, &definition->throughput, dimensions, 1, sums);
    else
        add_on_demand_max(collection, &definition->on_demand_max, dimensions, 1);
    for (size_t i = 0; i < definition->index_count; i++) {
        const struct index_definition *index = &definition->indexes[i];
        if (!index->global)
            continue;
        dimensions[1] = (struct series_dimension){ BYTES("GlobalSecondaryIndexName"),
                                                   arena_copy(collection->arena, index->name) };
        if (is_provisioned)
            add_provisioned(collection, &index->throughput, dimensions, 2, sums);
        else
            add_on_demand_max(collection, &index->on_demand_max, dimensions, 2);
        add_progress(collection, index, dimensions);
    }
}

static bool was_seen(const struct collection *collection, uint64_t table_id)
{
    size_t low = 0, high = collection->seen_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (collection->seen[middle] < table_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < collection->seen_count && collection->seen[low] == table_id;
}

/* --- The account --- */

static void add_usage(struct collection *collection, const char *resource, double value)
{
    const struct series_dimension dimensions[] = {
        { BYTES("Class"), BYTES("None") },
        { BYTES("Resource"), bytes_from_text(resource) },
        { BYTES("Service"), BYTES("DynamoDB") },
        { BYTES("Type"), BYTES("Resource") },
    };
    add_value(collection, "ResourceCount", UNIT_NONE, value, dimensions, COUNT_OF(dimensions));
    struct series_samples *out = collection->out;
    out->samples[out->count - 1].key.namespace = BYTES("AWS/Usage");
}

static void add_account(struct collection *collection, const struct sums *sums)
{
    static const struct {
        const char *quota, *table_quota, *use, *greatest, *resource;
    } names[METER_DIRECTIONS] = {
        [METER_READ] = { "AccountMaxReads", "AccountMaxTableLevelReads",
                         "AccountProvisionedReadCapacityUtilization",
                         "MaxProvisionedTableReadCapacityUtilization",
                         "AccountProvisionedReadCapacityUnits" },
        [METER_WRITE] = { "AccountMaxWrites", "AccountMaxTableLevelWrites",
                          "AccountProvisionedWriteCapacityUtilization",
                          "MaxProvisionedTableWriteCapacityUtilization",
                          "AccountProvisionedWriteCapacityUnits" },
    };
    for (size_t i = 0; i < METER_DIRECTIONS; i++) {
        double of_account = (double)collection->account_units_max[i];
        double of_table = (double)collection->table_units_max[i];
        if (of_account == 0)
            of_account = account_units_default;
        if (of_table == 0)
            of_table = table_units_default;
        add_value(collection, names[i].quota, UNIT_COUNT, of_account, NULL, 0);
        add_value(collection, names[i].table_quota, UNIT_COUNT, of_table, NULL, 0);
        add_value(collection, names[i].use, UNIT_PERCENT, 100 * sums->provisioned[i] / of_account,
                  NULL, 0);
        add_value(collection, names[i].greatest, UNIT_PERCENT,
                  100 * sums->provisioned_max[i] / of_table, NULL, 0);
        add_usage(collection, names[i].resource, sums->provisioned[i]);
    }
    add_usage(collection, "TableCount", sums->table_count);
}

static void visit_table(struct collection *collection, const struct table_definition *definition,
                        bool is_sparse_due, struct sums *sums)
{
    sums->table_count++;
    if (definition->status != TABLE_ACTIVE && definition->status != TABLE_UPDATING)
        return;
    if (!was_seen(collection, definition->id))
        table_metrics_add_consumed(collection, definition, NULL);
    if (is_sparse_due)
        add_sparse(collection, definition, sums);
}

void account_metrics_collect(struct collection *collection)
{
    struct bytes names[NAMES_PAGE];
    struct sums sums = { 0 };
    size_t count;
    /* One sample for each five minutes, once their first minute has passed. */
    bool is_sparse_due = collection->is_over && collection->minute % COLLECTION_SPARSE_MINUTES == 0;
    if (!is_sparse_due && collection->skips_zeros)
        return;
    struct bytes after = BYTES("");
    while ((count = catalogue_list(collection->catalogue, collection->arena, after, names,
                                   NAMES_PAGE)) > 0) {
        for (size_t i = 0; i < count; i++) {
            struct table *table = catalogue_find(collection->catalogue, names[i]);
            if (table != NULL)
                visit_table(collection, table_definition(table), is_sparse_due, &sums);
            table_release(table);
        }
        after = names[count - 1];
    }
    if (is_sparse_due && sums.table_count > 0)
        add_account(collection, &sums);
}
