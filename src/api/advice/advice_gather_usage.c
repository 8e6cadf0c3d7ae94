/* advice_gather_usage.c -- consumed units from CloudWatch's samples; targets of auto scaling. */
#include <string.h>
#include "api/advice/advice_gather.h"
#include "api/operation.h"
#include "base/arena.h"
#include "cloudwatch/series.h"
#include "scaling/scaling.h"
#include "table/storage_error.h"

enum { HOUR_S = 3600, DAY_S = 86400 };

static const char *const metric_names[METER_DIRECTIONS] = {
    [METER_READ] = "ConsumedReadCapacityUnits",
    [METER_WRITE] = "ConsumedWriteCapacityUnits",
};

static enum engine_status read_bins(struct series_reader *reader, struct bytes table,
                                    struct bytes index, enum meter_direction direction,
                                    int64_t period_s, int64_t start_s, int64_t end_s,
                                    struct series_bins *out)
{
    const struct series_dimension dimensions[] = { { BYTES("TableName"), table },
                                                   { BYTES("GlobalSecondaryIndexName"), index } };
    const struct series_key key = { .namespace = BYTES("AWS/DynamoDB"),
                                    .name = bytes_from_text(metric_names[direction]),
                                    .dimensions = dimensions,
                                    .dimension_count = index.data == NULL ? 1 : 2,
                                    .unit = UNIT_ANY };
    *out = (struct series_bins){ 0 };
    return series_read(reader, &key, period_s, start_s, end_s, out);
}

/* Bins from before the table or index was created are those of an earlier one of that name. */
static enum engine_status read_direction(struct series_reader *reader, struct arena *scratch,
                                         const struct advice_table *table,
                                         const struct index_definition *index,
                                         enum meter_direction direction, struct advice_usage *out)
{
    struct bytes name = table->definition->name;
    struct bytes index_name = index == NULL ? (struct bytes){ 0 } : index->name;
    int64_t end_s = table->now_ms / 1000;
    int64_t created_s = table->definition->created_ms / 1000;
    if (index != NULL && index->created_ms / 1000 > created_s)
        created_s = index->created_ms / 1000;
    int64_t start_s = end_s - ADVICE_CAPACITY_DAYS * DAY_S;
    start_s = start_s > created_s ? start_s : created_s;
    struct series_bins bins;
    enum engine_status status = read_bins(reader, name, index_name, direction, ADVICE_BIN_S,
                                          start_s - start_s % ADVICE_BIN_S, end_s, &bins);
    if (status != ENGINE_OK)
        return status;
    double *values = arena_alloc(scratch, bins.count * sizeof *values + 1);
    for (size_t i = 0; i < bins.count; i++) {
        values[i] = bins.bins[i].set.sum;
        out->units[direction] += values[i];
    }
    out->bins[direction] = values;
    /* Both directions get a sample in each minute, so the counts are equal. */
    out->bin_count =
        direction == METER_READ || bins.count < out->bin_count ? bins.count : out->bin_count;
    start_s = end_s - ADVICE_UNUSED_DAYS * DAY_S;
    start_s = start_s > created_s ? start_s : created_s;
    status = read_bins(reader, name, index_name, direction, HOUR_S, start_s - start_s % HOUR_S,
                       end_s, &bins);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < bins.count; i++)
        out->long_units[direction] += bins.bins[i].set.sum;
    if (direction == METER_READ) {
        out->hours = (int64_t)bins.count;
        out->first_ms = bins.count > 0 ? bins.bins[0].start_s * 1000 : 0;
    }
    return ENGINE_OK;
}

static void find_targets(const struct advice_gathering *gathering, struct arena *scratch,
                         const struct advice_table *table, const struct index_definition *index,
                         struct advice_usage *out)
{
    const struct scaling *scaling = api_scaling(gathering->call->api);
    struct bytes name = table->definition->name;
    struct bytes resource = index == NULL ? arena_printf(scratch, "table/%.*s", BYTES_FMT(name))
                                          : arena_printf(scratch, "table/%.*s/index/%.*s",
                                                         BYTES_FMT(name), BYTES_FMT(index->name));
    for (size_t d = 0; d < METER_DIRECTIONS; d++) {
        enum scaling_dimension dimension =
            index == NULL ? (d == METER_READ ? SCALING_TABLE_READ : SCALING_TABLE_WRITE)
                          : (d == METER_READ ? SCALING_INDEX_READ : SCALING_INDEX_WRITE);
        const struct scaling_id id = { .resource_id = resource, .dimension = dimension };
        out->has_target[d] = scaling_find_target(scaling, &id) != NULL;
    }
}

static enum engine_status read_usage(struct series_reader *reader, struct arena *scratch,
                                     const struct advice_table *table,
                                     const struct index_definition *index, struct advice_usage *out)
{
    enum engine_status status = read_direction(reader, scratch, table, index, METER_READ, out);
    if (status == ENGINE_OK)
        status = read_direction(reader, scratch, table, index, METER_WRITE, out);
    return status;
}

bool advice_gather_usage(const struct advice_gathering *gathering, struct arena *scratch,
                         struct advice_table *out)
{
    struct api *api = gathering->call->api;
    const struct table_definition *definition = out->definition;
    enum engine_status status = ENGINE_OK;
    struct series_reader *reader = series_reader_open(api_series(api), scratch, &status);
    if (reader != NULL)
        status = read_usage(reader, scratch, out, NULL, &out->usage);
    for (size_t i = 0; status == ENGINE_OK && i < definition->index_count; i++) {
        if (definition->indexes[i].global)
            status =
                read_usage(reader, scratch, out, &definition->indexes[i], &out->index_usage[i]);
    }
    series_reader_close(reader);
    if (status != ENGINE_OK)
        return storage_error_set(&gathering->call->error, status, "GetAdvice");
    scaling_lock(api_scaling(api));
    find_targets(gathering, scratch, out, NULL, &out->usage);
    for (size_t i = 0; i < definition->index_count; i++) {
        if (definition->indexes[i].global)
            find_targets(gathering, scratch, out, &definition->indexes[i], &out->index_usage[i]);
    }
    scaling_unlock(api_scaling(api));
    return true;
}
