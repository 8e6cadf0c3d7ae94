/* op_meters.c -- GetMeters and GetSlowRequests, our own.
 *
 * GetMeters tells totals since the server's start, so two answers tell what happened in between.
 * Its latencies are sparse: pairs of a bucket's upper end in nanoseconds and its count.
 */
#include <string.h>
#include "api/call_meter.h"
#include "api/operation.h"
#include "api/common_shapes.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "metric/meter.h"
#include "metric/slow_log.h"
#include "model/error.h"
#include "model/insight_definition.h"
#include "model/table_definition.h"

enum { SLOW_SHOWN_DEFAULT = 20, COUNTS_ACCESSES = 1 << INSIGHT_ACCESSED_PARTITION_KEYS };

/* --- GetMeters --- */

struct no_request {
    char unused;
};

static const struct shape meters_shape = { .kind = SHAPE_STRUCTURE,
                                           .size = sizeof(struct no_request),
                                           .type_name = "GetMetersInput" };

static void write_count(struct json_writer *json, const char *name, uint64_t value)
{
    json_write_name(json, name);
    json_write_integer(json, (int64_t)value);
}

static void write_units(struct json_writer *json, const char *name, uint64_t half_units)
{
    json_write_name(json, name);
    json_write_half_units(json, (int64_t)half_units);
}

static void write_latency(struct json_writer *json, const struct histogram *latency)
{
    json_write_name(json, "LatencyBuckets");
    json_open_array(json);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (latency->buckets[i] == 0)
            continue;
        json_open_array(json);
        json_write_integer(json, (int64_t)histogram_bucket_last(i));
        json_write_integer(json, (int64_t)latency->buckets[i]);
        json_close_array(json);
    }
    json_close_array(json);
}

struct meters {
    struct json_writer json;
    struct meter *meter;
};

static void write_operation(struct meters *meters, size_t number,
                            const struct meter_operation_reading *operation)
{
    struct json_writer *json = &meters->json;
    uint64_t failures = 0;
    for (size_t i = ERROR_NONE + 1; i < ERROR_CODE_COUNT; i++)
        failures += operation->calls[i];
    json_open_object(json);
    json_write_name(json, "Operation");
    json_write_text(json, meter_operation_at(meters->meter, number)->name);
    write_count(json, "Successes", operation->calls[ERROR_NONE]);
    write_count(json, "Failures", failures);
    write_count(json, "ItemsRead", operation->items_read);
    write_count(json, "ItemsReturned", operation->items_returned);
    write_count(json, "ItemsWritten", operation->items_written);
    write_latency(json, &operation->latency_ns);
    json_close_object(json);
}

static uint64_t throttles_of(const struct meter_units_reading units[METER_DIRECTIONS])
{
    uint64_t count = 0;
    for (size_t d = 0; d < METER_DIRECTIONS; d++) {
        for (size_t i = 0; i < METER_REASONS; i++)
            count += units[d].throttles[i];
    }
    return count;
}

static void write_table(void *context, const struct meter_table_reading *table)
{
    struct meters *meters = context;
    struct json_writer *json = &meters->json;
    if (!table->is_pseudo && table->definition == NULL)
        return; /* Deleted. */
    json_open_object(json);
    json_write_name(json, "TableName");
    json_write_string(json, table->name);
    uint64_t throttles = throttles_of(table->units);
    uint64_t read = table->units[METER_READ].half_units;
    uint64_t written = table->units[METER_WRITE].half_units;
    for (size_t i = 0; i < table->index_count; i++) {
        throttles += throttles_of(table->indexes[i].units);
        read += table->indexes[i].units[METER_READ].half_units;
        written += table->indexes[i].units[METER_WRITE].half_units;
    }
    write_units(json, "ReadUnits", read);
    write_units(json, "WriteUnits", written);
    write_count(json, "Throttles", throttles);
    write_count(json, "ConditionalCheckFailed", table->condition_failures);
    write_count(json, "TransactionConflicts", table->conflicts);
    if (table->definition != NULL && (table->definition->insight_rules & COUNTS_ACCESSES) != 0) {
        json_write_name(json, "CountsKeys"); /* GetHotKeys knows the most used ones. */
        json_write_bool(json, true);
    }
    json_write_name(json, "Operations");
    json_open_array(json);
    for (size_t i = 0; i < meter_operation_count(meters->meter); i++) {
        if (table->operations[i].used)
            write_operation(meters, i, &table->operations[i]);
    }
    json_close_array(json);
    json_close_object(json);
}

static void run_meters(struct api_call *call, const void *input)
{
    struct meters meters = { .meter = api_meter(call->api) };
    (void)input;
    json_writer_init(&meters.json, &call->response);
    json_open_object(&meters.json);
    json_write_name(&meters.json, "Time");
    json_write_seconds(&meters.json, clock_wall_ms(api_options(call->api)->clock));
    json_write_name(&meters.json, "Tables");
    json_open_array(&meters.json);
    meter_read(meters.meter, 0, write_table, &meters);
    json_close_array(&meters.json);
    json_close_object(&meters.json);
    operation_succeed(call);
}

/* On the control thread: it sums the counters of all threads. */
const struct operation op_get_meters = { .name = "GetMeters",
                                         .service = OPERATION_OF_STATOR,
                                         .kind = OPERATION_CONTROL,
                                         .request = &meters_shape,
                                         .asks = OPERATION_ASKS_ACCOUNT,
                                         .only_lists = true,
                                         .run = run_meters };

/* --- GetSlowRequests --- */

struct get_slow_requests_request {
    struct shape_integer max_results;
};

static const struct shape max_results_shape = { .kind = SHAPE_INTEGER,
                                                .min = 1,
                                                .max = SLOW_LOG_ENTRIES };
static const struct shape_field slow_fields[] = {
    { SHAPE_FIELD(struct get_slow_requests_request, max_results, "MaxResults",
                  &max_results_shape) },
};
static const struct shape slow_shape = { SHAPE_STRUCTURE_OF(struct get_slow_requests_request,
                                                            slow_fields),
                                         .type_name = "GetSlowRequestsInput" };

static void write_slow(struct json_writer *json, struct meter *meter,
                       const struct slow_request *request)
{
    json_open_object(json);
    json_write_name(json, "Time");
    json_write_seconds(json, request->wall_ms);
    json_write_name(json, "Seconds");
    json_write_double(json, (double)request->elapsed_ns / 1e9);
    json_write_name(json, "Operation");
    json_write_text(json, meter_operation_at(meter, request->operation)->name);
    json_write_name(json, "Code");
    json_write_string(json, error_short_name(request->error));
    if (request->table_count > 0) {
        json_write_name(json, "TableName");
        json_write_text(json, request->table);
        write_count(json, "TableCount", request->table_count);
    }
    if (request->index[0] != '\0') {
        json_write_name(json, "IndexName");
        json_write_text(json, request->index);
    }
    write_count(json, "ItemsRead", request->items_read);
    write_count(json, "ItemsReturned", request->items_returned);
    write_count(json, "ItemsWritten", request->items_written);
    write_count(json, "BatchCount", request->batch_count);
    write_units(json, "ReadUnits", request->read_half_units);
    write_units(json, "WriteUnits", request->write_half_units);
    write_count(json, "RequestBytes", request->request_size);
    write_count(json, "ResponseBytes", request->response_size);
    write_count(json, "Pauses", request->pause_count);
    json_write_name(json, "QueueSeconds");
    json_write_double(json, (double)request->queue_ns / 1e9);
    json_close_object(json);
}

static void run_slow(struct api_call *call, const void *input)
{
    const struct get_slow_requests_request *request = input;
    struct slow_log *log = api_slow_log(call->api);
    struct slow_request *slow = arena_alloc(call->arena, SLOW_LOG_ENTRIES * sizeof *slow);
    size_t max =
        request->max_results.present ? (size_t)request->max_results.value : SLOW_SHOWN_DEFAULT;
    size_t count = slow_log_read(log, slow, max);
    int64_t threshold_ns = slow_log_threshold_ns(log);
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    if (threshold_ns != INT64_MAX) {
        json_write_name(&json, "ThresholdSeconds");
        json_write_double(&json, (double)threshold_ns / 1e9);
    }
    json_write_name(&json, "Requests");
    json_open_array(&json);
    for (size_t i = 0; i < count; i++)
        write_slow(&json, api_meter(call->api), &slow[i]);
    json_close_array(&json);
    json_close_object(&json);
    operation_succeed(call);
}

const struct operation op_get_slow_requests = { .name = "GetSlowRequests",
                                                .service = OPERATION_OF_STATOR,
                                                .kind = OPERATION_CONTROL,
                                                .request = &slow_shape,
                                                .asks = OPERATION_ASKS_ACCOUNT,
                                                .only_lists = true,
                                                .run = run_slow };
