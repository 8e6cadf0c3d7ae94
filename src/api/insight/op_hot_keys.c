/* op_hot_keys.c -- GetHotKeys, our own: the most used keys of a table or index, with error bounds.
 *
 * The same counters as GetInsightRuleReport's, in DynamoDB's words: keys are shown as attribute
 * values. `stator top` and the console use it. Keys are item data, so it needs stator:GetHotKeys on
 * the table. */
#include "api/common_shapes.h"
#include "api/insight/key_report.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "insight/insights.h"
#include "json/writer.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "table/catalogue.h"

enum { KEYS_DEFAULT = 10, WINDOW_DEFAULT_MS = 60 * 60 * 1000 };

struct get_hot_keys_request {
    struct bytes table_name;
    struct bytes index_name;
    struct bytes by;
    struct bytes of;
    struct shape_integer start_time;
    struct shape_integer end_time;
    struct shape_integer max_results;
};

static const char *const by_values[] = { "ACCESSED", "THROTTLED", NULL };
static const char *const of_values[] = { "PARTITION_KEYS", "ITEMS", NULL };
static const struct shape by_shape = { .kind = SHAPE_STRING,
                                       SHAPE_UNBOUNDED,
                                       .enum_values = by_values };
static const struct shape of_shape = { .kind = SHAPE_STRING,
                                       SHAPE_UNBOUNDED,
                                       .enum_values = of_values };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape max_results_shape = { .kind = SHAPE_INTEGER,
                                                .min = 1,
                                                .max = KEY_REPORT_CONTRIBUTORS_MAX };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct get_hot_keys_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
    { SHAPE_FIELD(struct get_hot_keys_request, index_name, "IndexName", &common_resource_name) },
    { SHAPE_FIELD(struct get_hot_keys_request, by, "By", &by_shape) },
    { SHAPE_FIELD(struct get_hot_keys_request, of, "Of", &of_shape) },
    { SHAPE_FIELD(struct get_hot_keys_request, start_time, "StartTime", &time_shape) },
    { SHAPE_FIELD(struct get_hot_keys_request, end_time, "EndTime", &time_shape) },
    { SHAPE_FIELD(struct get_hot_keys_request, max_results, "MaxResults", &max_results_shape) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct get_hot_keys_request, fields),
                                            .type_name = "GetHotKeysInput" };

static enum insight_rule rule_of(const struct get_hot_keys_request *request)
{
    bool throttled = bytes_equal_text(request->by, "THROTTLED");
    if (bytes_equal_text(request->of, "ITEMS"))
        return throttled ? INSIGHT_THROTTLED_KEYS : INSIGHT_ACCESSED_KEYS;
    return throttled ? INSIGHT_THROTTLED_PARTITION_KEYS : INSIGHT_ACCESSED_PARTITION_KEYS;
}

static bool find_target(struct api_call *call, const struct get_hot_keys_request *request,
                        const struct table_definition *table, struct key_report *report)
{
    report->target = (struct insight_target){ .table = table };
    report->rule = rule_of(request);
    if (request->index_name.data != NULL) {
        report->target.index = table_definition_index(table, request->index_name);
        if (report->target.index == NULL || !report->target.index->global)
            return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Index: %.*s not found for table: %.*s",
                             BYTES_FMT(request->index_name), BYTES_FMT(table->name));
    }
    if ((insight_target_rules(&report->target) & 1U << report->rule) != 0)
        return true;
    if (insight_rule_is_of_whole_keys(report->rule) &&
        !insight_target_has_sort_key(&report->target))
        return error_validation(&call->error,
                                "Of must be PARTITION_KEYS: there is no sort key, so they are the "
                                "keys of items");
    return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Contributor Insights does not count these keys of %.*s: enable it by "
                     "UpdateContributorInsights",
                     BYTES_FMT(table->name));
}

static void write_key(struct api_call *call, struct json_writer *writer,
                      const struct key_report *report, struct bytes key)
{
    struct key_report_attribute attributes[KEY_REPORT_ATTRIBUTES_MAX];
    size_t count;
    json_open_object(writer);
    if (key_report_read_key(call, &report->target, report->rule, key, attributes, &count)) {
        for (size_t i = 0; i < count; i++) {
            struct value value;
            struct bytes in = attributes[i].encoded;
            json_write_name_bytes(writer, attributes[i].name);
            if (value_open(&in, &value))
                value_json_write(writer, &value);
        }
    }
    json_close_object(writer);
}

static void answer(struct api_call *call, const struct key_report *report)
{
    struct json_writer writer;
    bool throttled = insight_rule_is_of_throttles(report->rule);
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "TableName");
    json_write_string(&writer, report->target.table->name);
    if (report->target.index != NULL) {
        json_write_name(&writer, "IndexName");
        json_write_string(&writer, report->target.index->name);
    }
    json_write_name(&writer, "StartTime");
    json_write_seconds(&writer, report->from_ms);
    json_write_name(&writer, "EndTime");
    json_write_seconds(&writer, report->until_ms);
    json_write_name(&writer, "Unit");
    json_write_text(&writer, throttled ? "ThrottledRequests" : "ConsumedThroughputUnits");
    json_write_name(&writer, "Total");
    json_write_double(&writer, key_report_value(report->rule, report->total));
    json_write_name(&writer, "ApproximateUniqueCount");
    json_write_integer(&writer, (int64_t)report->distinct);
    json_write_name(&writer, "HotKeys");
    json_open_array(&writer);
    for (size_t i = 0; i < report->contributor_count; i++) {
        const struct key_report_contributor *contributor = &report->contributors[i];
        json_open_object(&writer);
        json_write_name(&writer, "Key");
        write_key(call, &writer, report, contributor->key);
        json_write_name(&writer, "Value");
        json_write_double(&writer, key_report_value(report->rule, contributor->weight));
        json_write_name(&writer, "ErrorMax");
        json_write_double(&writer, key_report_value(report->rule, contributor->error));
        json_close_object(&writer);
    }
    json_close_array(&writer);
    json_close_object(&writer);
}

/* Times are rounded down to minutes, the end up. The whole window is one period. */
static bool set_window(struct api_call *call, const struct get_hot_keys_request *request,
                       struct key_report *report)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    int64_t end_ms = request->end_time.present ? request->end_time.value : now_ms + 1;
    int64_t start_ms =
        request->start_time.present ? request->start_time.value : end_ms - WINDOW_DEFAULT_MS;
    if (start_ms < 0)
        start_ms = 0;
    if (end_ms <= start_ms)
        return error_validation(&call->error, "StartTime must be before EndTime");
    report->from_ms = start_ms - start_ms % INSIGHTS_MINUTE_MS;
    end_ms += INSIGHTS_MINUTE_MS - 1;
    report->until_ms = end_ms - end_ms % INSIGHTS_MINUTE_MS;
    report->period_ms = INSIGHTS_HOURS_KEPT_MS;
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct get_hot_keys_request *request = input;
    struct key_report *report = arena_alloc_zeroed(call->arena, sizeof *report);
    struct table *table = table_operation_find(call, request->table_name);
    report->table = table;
    report->answer = answer;
    report->contributors_max =
        request->max_results.present ? (size_t)request->max_results.value : KEYS_DEFAULT;
    if (table != NULL && find_target(call, request, table_definition(table), report) &&
        set_window(call, request, report))
        key_report_run(call, report);
    else
        operation_fail(call);
}

const struct operation op_get_hot_keys = { .name = "GetHotKeys",
                                           .service = OPERATION_OF_STATOR,
                                           .kind = OPERATION_DATA,
                                           .request = &request_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .reads_many = true,
                                           .waits = OPERATION_WAITS,
                                           .run = run };
