/* capacity_report.c -- see capacity_report.h. */
#include "command/capacity_report.h"
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "advice/price_list.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "command/answer.h"
#include "json/writer.h"
#include "scaling/simulation.h"

enum {
    LINE_SIZE_MAX = 256,
    MINUTE_S = 60,
    MONTH_HOURS = 730,
    /* Of a new table, on demand, and the quota of any: the service's defaults. */
    INITIAL_READ_UNITS = 12000,
    INITIAL_WRITE_UNITS = 4000,
    QUOTA_UNITS = 40000,
};

static const char too_few[] = "there are samples of less than 24 hours";
static const char *const direction_names[REPORT_DIRECTIONS] = { "reads", "writes" };
static const char *const member_names[REPORT_DIRECTIONS] = { "Reads", "Writes" };
static const char *const metric_names[REPORT_DIRECTIONS] = { "ConsumedReadCapacityUnits",
                                                             "ConsumedWriteCapacityUnits" };
static const char *const query_ids[REPORT_DIRECTIONS] = { "reads", "writes" };

/* --- Prices --- */

enum price {
#define NAME_PRICE(identifier, price, unit) PRICE_##identifier,
    PRICE_LIST(NAME_PRICE)
#undef NAME_PRICE
};
static const double prices[] = {
#define SET_PRICE(identifier, price, unit) [PRICE_##identifier] = (price),
    PRICE_LIST(SET_PRICE)
#undef SET_PRICE
};

static double unit_price(const struct capacity_report *report, enum capacity_report_direction d)
{
    if (report->is_infrequent)
        return prices[d == REPORT_READS ? PRICE_IA_READ_REQUEST_UNIT : PRICE_IA_WRITE_REQUEST_UNIT];
    return prices[d == REPORT_READS ? PRICE_READ_REQUEST_UNIT : PRICE_WRITE_REQUEST_UNIT];
}

static double hour_price(const struct capacity_report *report, enum capacity_report_direction d)
{
    if (report->is_infrequent)
        return prices[d == REPORT_READS ? PRICE_IA_READ_CAPACITY_HOUR
                                        : PRICE_IA_WRITE_CAPACITY_HOUR];
    return prices[d == REPORT_READS ? PRICE_READ_CAPACITY_HOUR : PRICE_WRITE_CAPACITY_HOUR];
}

/* --- Reading --- */

struct reading {
    struct arena *arena;
    struct capacity_report *report;
    struct capacity_report_resource *resource;
};

static int64_t read_integer(struct arena *arena, struct bytes object, const char *name)
{
    double value = answer_number(arena, object, name);
    return value > 0 && value < 9e15 ? (int64_t)value : 0;
}

/* Of a table or index. */
static void read_throughput(struct arena *arena, struct bytes object,
                            struct capacity_report_resource *resource)
{
    struct bytes throughput = answer_json(arena, object, "ProvisionedThroughput");
    resource->sides[REPORT_READS].provisioned =
        read_integer(arena, throughput, "ReadCapacityUnits");
    resource->sides[REPORT_WRITES].provisioned =
        read_integer(arena, throughput, "WriteCapacityUnits");
}

static void read_index(void *context, struct bytes element)
{
    struct reading *reading = context;
    struct capacity_report *report = reading->report;
    if (report->resource_count == CAPACITY_REPORT_RESOURCES_MAX)
        return;
    struct capacity_report_resource *index = &report->resources[report->resource_count++];
    *index = (struct capacity_report_resource){ .index_name = answer_text(reading->arena, element,
                                                                          "IndexName") };
    read_throughput(reading->arena, element, index);
}

bool capacity_report_read_table(struct capacity_report *report, struct arena *arena,
                                struct bytes table)
{
    struct reading reading = { .arena = arena, .report = report };
    struct bytes mode = answer_json(arena, table, "BillingModeSummary");
    struct bytes class = answer_json(arena, table, "TableClassSummary");
    if (!answer_is_object(arena, table))
        return false;
    report->resource_count = 1;
    report->table_name = answer_text(arena, table, "TableName");
    report->is_on_demand =
        bytes_equal_text(answer_text(arena, mode, "BillingMode"), "PAY_PER_REQUEST");
    report->is_infrequent =
        bytes_equal_text(answer_text(arena, class, "TableClass"), "STANDARD_INFREQUENT_ACCESS");
    read_throughput(arena, table, &report->resources[0]);
    answer_visit(arena, answer_json(arena, table, "GlobalSecondaryIndexes"), read_index, &reading);
    return report->table_name.len > 0;
}

void capacity_report_set_window(struct capacity_report *report, struct arena *arena,
                                int64_t end_minute, size_t days)
{
    assert(days > 0 && days <= CAPACITY_REPORT_DAYS_MAX);
    report->sample_minutes =
        days > CAPACITY_REPORT_MINUTE_DAYS ? CAPACITY_REPORT_COARSE_MINUTES : 1;
    report->minute_count = days * CAPACITY_REPORT_MINUTES_PER_DAY;
    end_minute -= end_minute % (int64_t)report->sample_minutes;
    report->first_minute = end_minute - (int64_t)report->minute_count;
    for (size_t i = 0; i < report->resource_count; i++) {
        struct capacity_report_resource *resource = &report->resources[i];
        resource->is_known = arena_alloc_zeroed(arena, report->minute_count * sizeof(bool));
        resource->known_count = 0;
        for (size_t d = 0; d < REPORT_DIRECTIONS; d++)
            resource->sides[d].units =
                arena_alloc_zeroed(arena, report->minute_count * sizeof(double));
    }
}

/* --- GetMetricData --- */

static void write_dimension(struct json_writer *json, const char *name, struct bytes value)
{
    json_open_object(json);
    json_write_name(json, "Name");
    json_write_text(json, name);
    json_write_name(json, "Value");
    json_write_string(json, value);
    json_close_object(json);
}

static void write_query(struct json_writer *json, const struct capacity_report *report,
                        const struct capacity_report_resource *resource, size_t direction)
{
    json_open_object(json);
    json_write_name(json, "Id");
    json_write_text(json, query_ids[direction]);
    json_write_name(json, "MetricStat");
    json_open_object(json);
    json_write_name(json, "Metric");
    json_open_object(json);
    json_write_name(json, "Namespace");
    json_write_text(json, "AWS/DynamoDB");
    json_write_name(json, "MetricName");
    json_write_text(json, metric_names[direction]);
    json_write_name(json, "Dimensions");
    json_open_array(json);
    write_dimension(json, "TableName", report->table_name);
    if (resource->index_name.data != NULL)
        write_dimension(json, "GlobalSecondaryIndexName", resource->index_name);
    json_close_array(json);
    json_close_object(json);
    json_write_name(json, "Period");
    json_write_integer(json, (int64_t)report->sample_minutes * MINUTE_S);
    json_write_name(json, "Stat");
    json_write_text(json, "Sum");
    json_close_object(json);
    json_close_object(json);
}

struct bytes capacity_report_request(const struct capacity_report *report, struct arena *arena,
                                     size_t resource, struct bytes token)
{
    struct buffer body;
    struct json_writer json;
    int64_t first_s = report->first_minute * MINUTE_S;
    buffer_init(&body, arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "MetricDataQueries");
    json_open_array(&json);
    for (size_t d = 0; d < REPORT_DIRECTIONS; d++)
        write_query(&json, report, &report->resources[resource], d);
    json_close_array(&json);
    json_write_name(&json, "StartTime");
    json_write_integer(&json, first_s);
    json_write_name(&json, "EndTime");
    json_write_integer(&json, first_s + (int64_t)report->minute_count * MINUTE_S);
    if (token.data != NULL) {
        json_write_name(&json, "NextToken");
        json_write_string(&json, token);
    }
    json_close_object(&json);
    return buffer_bytes(&body);
}

/* An array of numbers, of which at most `max` are kept. */
struct numbers {
    double *values;
    size_t count, max;
};

static void read_number(void *context, struct bytes element)
{
    struct numbers *numbers = context;
    if (numbers->count < numbers->max)
        numbers->values[numbers->count++] = answer_number_of(element);
}

static struct numbers read_numbers(const struct reading *reading, struct bytes object,
                                   const char *name)
{
    struct numbers numbers = { .max = reading->report->minute_count };
    numbers.values = arena_alloc(reading->arena, numbers.max * sizeof *numbers.values);
    answer_visit(reading->arena, answer_json(reading->arena, object, name), read_number, &numbers);
    return numbers;
}

/* A sample of the minutes from the one at `index` on. */
static void add_sample(const struct capacity_report *report,
                       struct capacity_report_resource *resource, struct capacity_report_side *side,
                       size_t index, double value)
{
    size_t end = index + report->sample_minutes;
    for (; index < end && index < report->minute_count; index++) {
        side->units[index] += value / (double)report->sample_minutes;
        resource->known_count += !resource->is_known[index];
        resource->is_known[index] = true;
    }
}

static void read_result(void *context, struct bytes element)
{
    const struct reading *reading = context;
    const struct capacity_report *report = reading->report;
    struct bytes id = answer_text(reading->arena, element, "Id");
    const struct numbers times = read_numbers(reading, element, "Timestamps");
    const struct numbers values = read_numbers(reading, element, "Values");
    for (size_t d = 0; d < REPORT_DIRECTIONS; d++) {
        if (!bytes_equal_text(id, query_ids[d]))
            continue;
        for (size_t i = 0; i < times.count && i < values.count; i++) {
            double minute = floor(times.values[i] / MINUTE_S) - (double)report->first_minute;
            double value = values.values[i];
            if (minute >= 0 && minute < (double)report->minute_count && value >= 0)
                add_sample(report, reading->resource, &reading->resource->sides[d], (size_t)minute,
                           value);
        }
    }
}

bool capacity_report_read_samples(struct capacity_report *report, struct arena *arena,
                                  size_t resource, struct bytes answer, struct bytes *token)
{
    struct reading reading = { .arena = arena,
                               .report = report,
                               .resource = &report->resources[resource] };
    assert(resource < report->resource_count);
    *token = (struct bytes){ 0 };
    struct bytes results = answer_json(arena, answer, "MetricDataResults");
    if (!answer_is_object(arena, answer) || results.data == NULL)
        return false;
    answer_visit(arena, results, read_result, &reading);
    struct bytes next = answer_text(arena, answer, "NextToken");
    if (next.len > 0)
        *token = next;
    return true;
}

/* --- Simulation --- */

/* What a mode would have done, and cost in a month. */
struct outcome {
    struct simulation_result result;
    double cost; /* In the window. */
    double cost_per_month;
};
struct comparison {
    double units;
    double peak; /* Units per second in the highest minute. */
    int64_t fixed_capacity;
    struct outcome on_demand, fixed, scaled;
};

static bool is_judged(const struct capacity_report_resource *resource)
{
    return resource->known_count >= CAPACITY_REPORT_MINUTES_PER_DAY;
}

static struct outcome outcome_of(const struct capacity_report_resource *resource, double cost,
                                 struct simulation_result result)
{
    double months = (double)resource->known_count / 60 / MONTH_HOURS;
    return (struct outcome){ .result = result, .cost = cost, .cost_per_month = cost / months };
}

static struct outcome provisioned_outcome(const struct capacity_report *report,
                                          const struct capacity_report_resource *resource,
                                          enum capacity_report_direction d,
                                          struct simulation_result result)
{
    return outcome_of(resource, result.unit_minutes / 60 * hour_price(report, d), result);
}

/* A table that is provisioned keeps its units; one on demand gets the fewest that suffice. Nothing
 * is simulated if there is too little data. */
static struct comparison compare(const struct capacity_report *report,
                                 const struct capacity_report_resource *resource,
                                 enum capacity_report_direction d)
{
    const struct capacity_report_side *side = &resource->sides[d];
    const struct simulation_load load = { .units = side->units,
                                          .is_known = resource->is_known,
                                          .count = report->minute_count,
                                          .first_minute = report->first_minute };
    const struct simulation_policy policy = { .min = report->min_units,
                                              .max = report->max_units,
                                              .target_percent = report->target_percent,
                                              .first_capacity = side->provisioned };
    struct comparison out = { .fixed_capacity = side->provisioned };
    for (size_t i = 0; i < report->minute_count; i++) {
        out.units += side->units[i];
        out.peak = fmax(out.peak, side->units[i] / MINUTE_S);
    }
    if (!is_judged(resource))
        return out;
    if (out.fixed_capacity == 0)
        out.fixed_capacity = simulation_least_capacity(&load);
    int64_t initial = d == REPORT_READS ? INITIAL_READ_UNITS : INITIAL_WRITE_UNITS;
    struct simulation_result on_demand = simulation_on_demand(&load, initial, QUOTA_UNITS);
    out.on_demand = outcome_of(resource, on_demand.served_units * unit_price(report, d), on_demand);
    out.fixed =
        provisioned_outcome(report, resource, d, simulation_provisioned(&load, out.fixed_capacity));
    out.scaled = provisioned_outcome(report, resource, d, simulation_scaled(&load, &policy));
    return out;
}

/* --- Lines --- */

__attribute__((format(printf, 2, 3))) static void add_line(struct buffer *out, const char *format,
                                                           ...)
{
    char line[LINE_SIZE_MAX];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert(size >= 0);
    buffer_append(out, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

static void write_head(const struct capacity_report *report, struct buffer *out)
{
    char from[CLOCK_TEXT_SIZE], to[CLOCK_TEXT_SIZE];
    int64_t first_ms = report->first_minute * MINUTE_S * 1000;
    clock_format_utc(first_ms, from);
    clock_format_utc(first_ms + (int64_t)report->minute_count * MINUTE_S * 1000, to);
    add_line(out, "%.*s, %s, %s to %s\n", BYTES_FMT(report->table_name),
             report->is_on_demand ? "on demand" : "provisioned", from, to);
    add_line(out,
             "Throughput in " PRICE_LIST_CURRENCY " per month, list prices of " PRICE_LIST_REGION
             " of " PRICE_LIST_DATE " (version " PRICE_LIST_VERSION ")\n");
    add_line(out, "Auto scaling: target %g%%, %lld to %lld units\n\n", report->target_percent,
             (long long)report->min_units, (long long)report->max_units);
    add_line(out, "%-28s %7s %12s %9s  %10s %10s  %7s %10s %10s  %10s %10s %9s\n", "", "hours",
             "units", "peak/s", "on demand", "throttled", "fixed", "cost", "throttled", "scaled",
             "throttled", "changes");
}

static void write_row(struct buffer *out, const struct capacity_report_resource *resource, size_t d,
                      const struct comparison *row)
{
    char name[40];
    struct bytes index = resource->index_name;
    snprintf(name, sizeof name, "%.*s %s",
             index.data == NULL ? 5 : (int)(index.len > 20 ? 20 : index.len),
             index.data == NULL ? "table" : (const char *)index.data, direction_names[d]);
    add_line(out, "%-28s %7.1f %12.0f %9.1f  ", name, (double)resource->known_count / 60,
             row->units, row->peak);
    if (!is_judged(resource)) {
        add_line(out, "not judged: %s\n", too_few);
        return;
    }
    add_line(out, "%10.2f %10.0f  %7lld %10.2f %10.0f  %10.2f %10.0f %9zu\n",
             row->on_demand.cost_per_month, row->on_demand.result.throttled_units,
             (long long)row->fixed_capacity, row->fixed.cost_per_month,
             row->fixed.result.throttled_units, row->scaled.cost_per_month,
             row->scaled.result.throttled_units,
             row->scaled.result.increases + row->scaled.result.decreases);
}

/* Sums for the last line, of what was judged. */
struct totals {
    double on_demand, fixed, scaled;
    size_t judged_count;
};

static void add_totals(struct totals *totals, const struct capacity_report_resource *resource,
                       const struct comparison *row)
{
    if (!is_judged(resource))
        return;
    totals->on_demand += row->on_demand.cost_per_month;
    totals->fixed += row->fixed.cost_per_month;
    totals->scaled += row->scaled.cost_per_month;
    totals->judged_count++;
}

void capacity_report_write(const struct capacity_report *report, struct buffer *out)
{
    struct totals totals = { 0 };
    write_head(report, out);
    for (size_t i = 0; i < report->resource_count; i++) {
        const struct capacity_report_resource *resource = &report->resources[i];
        for (enum capacity_report_direction d = 0; d < REPORT_DIRECTIONS; d++) {
            struct comparison row = compare(report, resource, d);
            add_totals(&totals, resource, &row);
            write_row(out, resource, d, &row);
        }
    }
    if (totals.judged_count > 0)
        add_line(out, "%-28s %7s %12s %9s  %10.2f %10s  %7s %10.2f %10s  %10.2f\n",
                 totals.judged_count == report->resource_count * REPORT_DIRECTIONS ? "all"
                                                                                   : "all judged",
                 "", "", "", totals.on_demand, "", "", totals.fixed, "", totals.scaled);
    add_line(out,
             "\nhours: with samples, of %zu in the window; a month is computed from these alone.\n"
             "fixed: the units that are provisioned, or the fewest that throttle nothing.\n",
             report->minute_count / 60);
}

/* --- JSON --- */

static void write_double(struct json_writer *json, const char *name, double value)
{
    json_write_name(json, name);
    json_write_double(json, value);
}

/* To a millionth of a dollar. */
static void write_cost(struct json_writer *json, const char *name, double value)
{
    write_double(json, name, round(value * 1e6) / 1e6);
}

static void write_integer(struct json_writer *json, const char *name, int64_t value)
{
    json_write_name(json, name);
    json_write_integer(json, value);
}

/* `minutes` 0: not auto scaled. `capacity` 0: not fixed. */
static void write_outcome(struct json_writer *json, const char *name, const struct outcome *outcome,
                          int64_t capacity, size_t minutes)
{
    const struct simulation_result *result = &outcome->result;
    json_write_name(json, name);
    json_open_object(json);
    if (capacity > 0)
        write_integer(json, "CapacityUnits", capacity);
    write_cost(json, "Cost", outcome->cost);
    write_cost(json, "CostPerMonth", outcome->cost_per_month);
    write_double(json, "ThrottledUnits", result->throttled_units);
    write_integer(json, "ThrottledMinutes", (int64_t)result->throttled_minutes);
    if (minutes > 0) {
        write_double(json, "AverageCapacityUnits", result->unit_minutes / (double)minutes);
        write_integer(json, "MaxCapacityUnits", result->capacity_max);
        write_integer(json, "Increases", (int64_t)result->increases);
        write_integer(json, "Decreases", (int64_t)result->decreases);
        write_integer(json, "MinutesWithoutDecreaseLeft", (int64_t)result->refused_decreases);
    }
    json_close_object(json);
}

static void write_side(struct json_writer *json, const struct capacity_report_resource *resource,
                       const struct comparison *row)
{
    json_open_object(json);
    write_double(json, "ConsumedUnits", row->units);
    write_double(json, "PeakUnitsPerSecond", row->peak);
    write_integer(json, "MinutesWithSamples", (int64_t)resource->known_count);
    if (is_judged(resource)) {
        write_outcome(json, "OnDemand", &row->on_demand, 0, 0);
        write_outcome(json, "Provisioned", &row->fixed, row->fixed_capacity, 0);
        write_outcome(json, "AutoScaled", &row->scaled, 0, resource->known_count);
    } else {
        json_write_name(json, "NotJudged");
        json_write_text(json, too_few);
    }
    json_close_object(json);
}

static void write_resource(struct json_writer *json, const struct capacity_report *report,
                           const struct capacity_report_resource *resource, struct totals *totals)
{
    json_open_object(json);
    if (resource->index_name.data != NULL) {
        json_write_name(json, "IndexName");
        json_write_string(json, resource->index_name);
    }
    for (enum capacity_report_direction d = 0; d < REPORT_DIRECTIONS; d++) {
        struct comparison row = compare(report, resource, d);
        add_totals(totals, resource, &row);
        json_write_name(json, member_names[d]);
        write_side(json, resource, &row);
    }
    json_close_object(json);
}

static void write_totals(struct json_writer *json, const struct totals *totals)
{
    if (totals->judged_count == 0)
        return;
    json_write_name(json, "CostPerMonth");
    json_open_object(json);
    write_cost(json, "OnDemand", totals->on_demand);
    write_cost(json, "Provisioned", totals->fixed);
    write_cost(json, "AutoScaled", totals->scaled);
    json_close_object(json);
}

void capacity_report_write_json(const struct capacity_report *report, struct buffer *out)
{
    struct json_writer json;
    struct totals totals = { 0 };
    int64_t first_s = report->first_minute * MINUTE_S;
    json_writer_init(&json, out);
    json_open_object(&json);
    json_write_name(&json, "TableName");
    json_write_string(&json, report->table_name);
    json_write_name(&json, "BillingMode");
    json_write_text(&json, report->is_on_demand ? "PAY_PER_REQUEST" : "PROVISIONED");
    write_integer(&json, "StartTime", first_s);
    write_integer(&json, "EndTime", first_s + (int64_t)report->minute_count * MINUTE_S);
    price_list_write(&json, "Prices");
    write_double(&json, "TargetPercent", report->target_percent);
    write_integer(&json, "MinCapacityUnits", report->min_units);
    write_integer(&json, "MaxCapacityUnits", report->max_units);
    json_write_name(&json, "Resources");
    json_open_array(&json);
    for (size_t i = 0; i < report->resource_count; i++)
        write_resource(&json, report, &report->resources[i], &totals);
    json_close_array(&json);
    write_totals(&json, &totals);
    json_close_object(&json);
    buffer_append_bytes(out, BYTES("\n"));
}
