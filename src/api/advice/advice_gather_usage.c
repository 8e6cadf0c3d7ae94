/* advice_gather_usage.c -- consumed units from CloudWatch's samples; targets of auto scaling. */
#include <assert.h>
#include <string.h>
#include "api/advice/advice_gather.h"
#include "api/operation.h"
#include "base/arena.h"
#include "cloudwatch/series.h"
#include "scaling/scaling.h"
#include "table/storage_error.h"

enum { HOUR_S = 3600, DAY_S = 86400 };

static const char *const consumed_names[METER_DIRECTIONS] = {
    [METER_READ] = "ConsumedReadCapacityUnits",
    [METER_WRITE] = "ConsumedWriteCapacityUnits",
};
static const char *const provisioned_names[METER_DIRECTIONS] = {
    [METER_READ] = "ProvisionedReadCapacityUnits",
    [METER_WRITE] = "ProvisionedWriteCapacityUnits",
};

/* The samples of a table or index. */
struct source {
    struct advice_gather *gather;
    struct bytes index_name; /* data NULL: the table. */
    /* Windows, in whole bins. None reaches back to before the table or index was created: those
     * samples are of an earlier one of that name. */
    int64_t long_start_s, start_s, end_s;
};

static enum engine_status read_bins(const struct source *source, const char *metric,
                                    int64_t start_s, struct series_bins *out)
{
    const struct series_dimension dimensions[] = {
        { BYTES("TableName"), source->gather->out->definition->name },
        { BYTES("GlobalSecondaryIndexName"), source->index_name }
    };
    const struct series_key key = { .namespace = BYTES("AWS/DynamoDB"),
                                    .name = bytes_from_text(metric),
                                    .dimensions = dimensions,
                                    .dimension_count = source->index_name.data == NULL ? 1 : 2,
                                    .unit = UNIT_ANY };
    return series_read(source->gather->reader, &key, ADVICE_BIN_S, start_s, source->end_s, out);
}

static struct source source_of(struct advice_gather *gather, const struct index_definition *index)
{
    int64_t end_s = gather->out->now_ms / 1000;
    int64_t created_s = gather->out->definition->created_ms / 1000;
    int64_t long_start_s = end_s - ADVICE_UNUSED_DAYS * DAY_S;
    int64_t start_s = end_s - ADVICE_CAPACITY_DAYS * DAY_S;
    if (index != NULL && index->created_ms / 1000 > created_s)
        created_s = index->created_ms / 1000;
    long_start_s = long_start_s > created_s ? long_start_s : created_s;
    start_s = start_s > created_s ? start_s : created_s;
    return (struct source){ .gather = gather,
                            .index_name = index == NULL ? (struct bytes){ 0 } : index->name,
                            .long_start_s = long_start_s - long_start_s % ADVICE_BIN_S,
                            .start_s = start_s - start_s % ADVICE_BIN_S,
                            .end_s = end_s };
}

/* The bins of the longer window hold those of the shorter one. */
static enum engine_status read_consumed(const struct source *source, enum meter_direction direction,
                                        struct advice_usage *out)
{
    static_assert(ADVICE_UNUSED_DAYS > ADVICE_CAPACITY_DAYS, "one read has both");
    struct series_bins bins;
    enum engine_status status =
        read_bins(source, consumed_names[direction], source->long_start_s, &bins);
    if (status != ENGINE_OK)
        return status;
    size_t first = 0, count = 0;
    while (first < bins.count && bins.bins[first].start_s < source->start_s)
        first++;
    double *values = arena_alloc(source->gather->arena, (bins.count - first) * sizeof *values + 1);
    int64_t hour = -1, hours = 0;
    for (size_t i = 0; i < bins.count; i++) {
        double units = bins.bins[i].set.sum;
        out->long_units[direction] += units;
        hours += bins.bins[i].start_s / HOUR_S != hour;
        hour = bins.bins[i].start_s / HOUR_S;
        if (i < first)
            continue;
        values[count++] = units;
        out->units[direction] += units;
    }
    out->bins[direction] = values;
    /* Both directions get a sample in each minute, so the counts are equal. */
    if (direction == METER_READ) {
        out->bin_count = count;
        out->hours = hours;
        out->first_ms = bins.count > 0 ? bins.bins[0].start_s * 1000 : 0;
    } else if (count < out->bin_count) {
        out->bin_count = count;
    }
    return ENGINE_OK;
}

static enum engine_status read_provisioned(const struct source *source,
                                           enum meter_direction direction, struct advice_usage *out)
{
    struct series_bins bins;
    double sum = 0, count = 0;
    enum engine_status status =
        read_bins(source, provisioned_names[direction], source->start_s, &bins);
    for (size_t i = 0; status == ENGINE_OK && i < bins.count; i++) {
        sum += bins.bins[i].set.sum;
        count += bins.bins[i].set.count;
    }
    out->provisioned[direction] = count == 0 ? 0 : sum / count;
    return status;
}

static enum engine_status read_direction(const struct source *source,
                                         enum meter_direction direction, struct advice_usage *out)
{
    enum engine_status status = read_consumed(source, direction, out);
    if (status == ENGINE_OK && source->gather->out->definition->billing_mode == BILLING_PROVISIONED)
        status = read_provisioned(source, direction, out);
    return status;
}

static void find_targets(const struct advice_gather *gather, const struct index_definition *index,
                         struct advice_usage *out)
{
    struct scaling *scaling = api_scaling(gather->gathering->call->api);
    struct bytes name = gather->out->definition->name;
    struct bytes resource = index == NULL
                                ? arena_printf(gather->scratch, "table/%.*s", BYTES_FMT(name))
                                : arena_printf(gather->scratch, "table/%.*s/index/%.*s",
                                               BYTES_FMT(name), BYTES_FMT(index->name));
    scaling_lock(scaling);
    for (size_t d = 0; d < METER_DIRECTIONS; d++) {
        enum scaling_dimension dimension =
            index == NULL ? (d == METER_READ ? SCALING_TABLE_READ : SCALING_TABLE_WRITE)
                          : (d == METER_READ ? SCALING_INDEX_READ : SCALING_INDEX_WRITE);
        const struct scaling_id id = { .resource_id = resource, .dimension = dimension };
        out->has_target[d] = scaling_find_target(scaling, &id) != NULL;
    }
    scaling_unlock(scaling);
}

/* Opening a reader collects the open minute of all tables, so that one serves all indexes of a
 * table. */
static enum engine_status open_samples(struct advice_gather *gather)
{
    enum engine_status status = ENGINE_OK;
    if (gather->reader != NULL)
        return ENGINE_OK;
    gather->reader_arena = arena_create();
    gather->reader =
        series_reader_open(api_series(gather->gathering->call->api), gather->reader_arena, &status);
    return status;
}

void advice_gather_close_samples(struct advice_gather *gather)
{
    series_reader_close(gather->reader);
    arena_destroy(gather->reader_arena);
    gather->reader = NULL;
    gather->reader_arena = NULL;
}

bool advice_gather_usage(struct advice_gather *gather, const struct index_definition *index,
                         struct advice_usage *out)
{
    const struct source source = source_of(gather, index);
    enum engine_status status = open_samples(gather);
    if (status == ENGINE_OK) {
        series_reader_set_arena(gather->reader, gather->scratch);
        status = read_direction(&source, METER_READ, out);
    }
    if (status == ENGINE_OK)
        status = read_direction(&source, METER_WRITE, out);
    if (status != ENGINE_OK)
        return storage_error_set(&gather->gathering->call->error, status, "GetAdvice");
    find_targets(gather, index, out);
    return true;
}
