/* op_alarms.c -- what shows alarms: DescribeAlarms, DescribeAlarmsForMetric and
 * DescribeAlarmHistory. */
#include <stdlib.h>
#include "api/cloudwatch/alarm_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/alarms.h"
#include "json/writer.h"

enum {
    RECORDS_DEFAULT = 50, /* Of DescribeAlarms. */
    HISTORY_DEFAULT = 50,
    LOOKED_AT_MAX = 10000, /* Alarms of one page; it ends early, with a token. */
};

static void write_alarm(struct api_call *call, struct json_writer *json, const struct alarm *alarm)
{
    json_open_object(json);
    alarm_definition_write(json, &alarm->definition, false);
    json_write_name(json, "AlarmArn");
    json_write_string(json, alarm_request_arn(call, alarm->definition.name));
    json_write_name(json, "AlarmConfigurationUpdatedTimestamp");
    json_write_seconds(json, alarm->configured_ms);
    json_write_name(json, "StateValue");
    json_write_text(json, alarm_state_name(alarm->state));
    json_write_name(json, "StateReason");
    json_write_string(json, alarm->reason);
    if (alarm->reason_data.data != NULL) {
        json_write_name(json, "StateReasonData");
        json_write_string(json, alarm->reason_data);
    }
    json_write_name(json, "StateUpdatedTimestamp");
    json_write_seconds(json, alarm->updated_ms);
    json_write_name(json, "StateTransitionedTimestamp");
    json_write_seconds(json, alarm->transitioned_ms);
    json_close_object(json);
}

/* --- DescribeAlarms --- */

struct describe_request {
    struct shape_list names; /* of struct bytes; AlarmTypes as well */
    struct bytes prefix;
    struct shape_list types;
    struct bytes children_of;
    struct bytes parents_of;
    struct bytes state;
    struct bytes action_prefix;
    struct shape_integer max_records;
    struct bytes next_token;
};
static const struct shape action_prefix_shape = { .kind = SHAPE_STRING, .min = 1, .max = 1024 };
static const struct shape_field describe_fields[] = {
    { SHAPE_FIELD(struct describe_request, names, "AlarmNames", &alarm_request_names) },
    { SHAPE_FIELD(struct describe_request, prefix, "AlarmNamePrefix", &alarm_name_shape) },
    { SHAPE_FIELD(struct describe_request, types, "AlarmTypes", &alarm_request_types) },
    { SHAPE_FIELD(struct describe_request, children_of, "ChildrenOfAlarmName", &alarm_name_shape) },
    { SHAPE_FIELD(struct describe_request, parents_of, "ParentsOfAlarmName", &alarm_name_shape) },
    { SHAPE_FIELD(struct describe_request, state, "StateValue", &alarm_request_state) },
    { SHAPE_FIELD(struct describe_request, action_prefix, "ActionPrefix", &action_prefix_shape) },
    { SHAPE_FIELD(struct describe_request, max_records, "MaxRecords", &alarm_request_max_records) },
    { SHAPE_FIELD(struct describe_request, next_token, "NextToken", &alarm_request_string) },
};
static const struct shape describe_shape = {
    SHAPE_STRUCTURE_OF(struct describe_request, describe_fields), .type_name = "DescribeAlarmsInput"
};

static bool has_action(const struct alarm_definition *definition, struct bytes prefix)
{
    for (unsigned state = 0; state < ALARM_STATE_COUNT; state++) {
        const struct shape_list *list = alarm_actions_of(definition, (enum alarm_state)state);
        const struct bytes *actions = list->elements;
        for (size_t i = 0; i < list->kept; i++)
            if (bytes_starts_with(actions[i], prefix))
                return true;
    }
    return false;
}

static bool matches(const struct describe_request *request, const struct alarm *alarm)
{
    return (request->state.data == NULL ||
            bytes_equal_text(request->state, alarm_state_name(alarm->state))) &&
           (request->action_prefix.data == NULL ||
            has_action(&alarm->definition, request->action_prefix));
}

/* The alarms of a page, one after the other. */
struct walk {
    struct api_call *call;
    const struct describe_request *request;
    struct bytes *names; /* Sorted; NULL: all names with the prefix. */
    size_t name_index;
    struct bytes after; /* data NULL: at the beginning. */
};

static int compare_names(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

static bool next_named(struct walk *walk, struct alarm *out)
{
    const struct shape_list *list = &walk->request->names;
    while (walk->name_index < list->kept) {
        struct bytes name = walk->names[walk->name_index++];
        if (walk->after.data != NULL && bytes_compare(name, walk->after) <= 0)
            continue; /* Shown, or named twice. */
        walk->after = name;
        if (alarms_find(api_alarms(walk->call->api), walk->call->arena, name, out))
            return true;
    }
    return false;
}

static bool next_alarm(struct walk *walk, struct alarm *out)
{
    struct alarms *alarms = api_alarms(walk->call->api);
    struct arena *arena = walk->call->arena;
    struct bytes prefix = walk->request->prefix;
    if (walk->names != NULL)
        return next_named(walk, out);
    bool begins = walk->after.data == NULL && prefix.data != NULL;
    if (!(begins && alarms_find(alarms, arena, prefix, out)) &&
        !alarms_next(alarms, arena, begins ? prefix : walk->after, out))
        return false;
    walk->after = out->definition.name;
    return prefix.data == NULL || bytes_starts_with(out->definition.name, prefix);
}

/* Writes the alarms and returns where to resume; data NULL: there are no more. */
static struct bytes write_page(struct walk *walk, struct json_writer *json)
{
    const struct shape_integer *max = &walk->request->max_records;
    size_t wanted = (size_t)(max->present ? max->value : RECORDS_DEFAULT);
    size_t written = 0;
    struct bytes last = walk->after;
    struct alarm alarm;
    for (size_t looked = 0; next_alarm(walk, &alarm); looked++) {
        if (written == wanted || looked == LOOKED_AT_MAX)
            return last;
        if (matches(walk->request, &alarm)) {
            write_alarm(walk->call, json, &alarm);
            written++;
        }
        last = alarm.definition.name;
    }
    return (struct bytes){ 0 };
}

static bool check_describe(struct api_call *call, const struct describe_request *request)
{
    if (request->names.count > 0 && request->prefix.data != NULL)
        return alarm_request_exclusive(call, "AlarmNames", "AlarmNamePrefix");
    if (request->children_of.data != NULL || request->parents_of.data != NULL)
        return error_validation(&call->error, "Composite alarms are not supported: "
                                              "ChildrenOfAlarmName and ParentsOfAlarmName must be "
                                              "absent");
    return true;
}

static bool describe(struct api_call *call, const struct describe_request *request)
{
    struct walk walk = { .call = call, .request = request };
    struct bytes resume = { 0 };
    struct json_writer json;
    if (!check_describe(call, request) ||
        !alarm_request_read_token(call, request->next_token, &walk.after))
        return false;
    if (request->names.kept > 0) {
        walk.names = arena_alloc(call->arena, request->names.kept * sizeof *walk.names);
        memcpy(walk.names, request->names.elements, request->names.kept * sizeof *walk.names);
        qsort(walk.names, request->names.kept, sizeof *walk.names, compare_names);
    }
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "CompositeAlarms");
    json_open_array(&json);
    json_close_array(&json);
    json_write_name(&json, "MetricAlarms");
    json_open_array(&json);
    if (alarm_request_wants_metric_alarms(&request->types))
        resume = write_page(&walk, &json);
    json_close_array(&json);
    if (resume.data != NULL) {
        json_write_name(&json, "NextToken");
        json_write_string(&json, alarm_request_token(call, resume));
    }
    json_close_object(&json);
    return true;
}

static void run_describe(struct api_call *call, const void *input)
{
    operation_end(call, describe(call, input));
}

const struct operation op_describe_alarms = { .name = "DescribeAlarms",
                                              .service = OPERATION_OF_CLOUDWATCH,
                                              .kind = OPERATION_DATA,
                                              .request = &describe_shape,
                                              .asks = OPERATION_ASKS_ACCOUNT,
                                              .waits = OPERATION_WAITS,
                                              .run = run_describe };

/* --- DescribeAlarmsForMetric --- */

struct for_metric_request {
    struct bytes metric_name;
    struct bytes namespace;
    struct bytes statistic;
    struct bytes extended_statistic;
    struct shape_list dimensions; /* of struct alarm_dimension * */
    struct shape_integer period;
    struct bytes unit;
};
static const struct shape_field for_metric_fields[] = {
    { SHAPE_FIELD(struct for_metric_request, metric_name, "MetricName", &alarm_metric_name_shape),
      .required = true },
    { SHAPE_FIELD(struct for_metric_request, namespace, "Namespace", &alarm_namespace_shape),
      .required = true },
    { SHAPE_FIELD(struct for_metric_request, statistic, "Statistic", &alarm_statistic_shape) },
    { SHAPE_FIELD(struct for_metric_request, extended_statistic, "ExtendedStatistic",
                  &alarm_request_string) },
    { SHAPE_FIELD(struct for_metric_request, dimensions, "Dimensions", &alarm_dimensions_shape) },
    { SHAPE_FIELD(struct for_metric_request, period, "Period", &alarm_period_shape) },
    { SHAPE_FIELD(struct for_metric_request, unit, "Unit", &alarm_unit_shape) },
};
static const struct shape for_metric_shape = { SHAPE_STRUCTURE_OF(struct for_metric_request,
                                                                  for_metric_fields),
                                               .type_name = "DescribeAlarmsForMetricInput" };

/* A metric's dimensions are a set, in which no name comes twice. */
static bool has_same_dimensions(const struct shape_list *a, const struct shape_list *b)
{
    struct alarm_dimension *const *one = a->elements;
    struct alarm_dimension *const *other = b->elements;
    if (a->kept != b->kept)
        return false;
    for (size_t i = 0; i < a->kept; i++) {
        bool found = false;
        for (size_t j = 0; j < b->kept && !found; j++)
            found = bytes_equal(one[i]->name, other[j]->name) &&
                    bytes_equal(one[i]->value, other[j]->value);
        if (!found)
            return false;
    }
    return true;
}

static bool is_absent_or_equal(struct bytes wanted, struct bytes value)
{
    return wanted.data == NULL || (value.data != NULL && bytes_equal(wanted, value));
}

static bool watches(const struct alarm_definition *definition,
                    const struct for_metric_request *request)
{
    return definition->metric_name.data != NULL &&
           bytes_equal(definition->metric_name, request->metric_name) &&
           bytes_equal(definition->namespace, request->namespace) &&
           has_same_dimensions(&definition->dimensions, &request->dimensions) &&
           is_absent_or_equal(request->statistic, definition->statistic) &&
           is_absent_or_equal(request->extended_statistic, definition->extended_statistic) &&
           is_absent_or_equal(request->unit, definition->unit) &&
           (!request->period.present || request->period.value == definition->period.value);
}

static void run_for_metric(struct api_call *call, const void *input)
{
    const struct for_metric_request *request = input;
    struct arena *arena = arena_create(); /* All alarms are looked at, one by one. */
    struct buffer after;
    struct alarm alarm;
    struct json_writer json;
    struct bytes position = { 0 };
    buffer_init(&after, call->arena);
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "MetricAlarms");
    json_open_array(&json);
    while (alarms_next(api_alarms(call->api), arena, position, &alarm)) {
        if (watches(&alarm.definition, request))
            write_alarm(call, &json, &alarm);
        after.len = 0;
        buffer_append_bytes(&after, alarm.definition.name);
        position = buffer_bytes(&after);
        arena_reset(arena);
    }
    arena_destroy(arena);
    json_close_array(&json);
    json_close_object(&json);
    operation_succeed(call);
}

const struct operation op_describe_alarms_for_metric = { .name = "DescribeAlarmsForMetric",
                                                         .service = OPERATION_OF_CLOUDWATCH,
                                                         .kind = OPERATION_DATA,
                                                         .request = &for_metric_shape,
                                                         .asks = OPERATION_ASKS_ACCOUNT,
                                                         .waits = OPERATION_WAITS,
                                                         .run = run_for_metric };

/* --- DescribeAlarmHistory --- */

struct history_request {
    struct bytes name;
    struct shape_list types;
    struct bytes item_type;
    struct shape_integer start;
    struct shape_integer end;
    struct shape_integer max_records;
    struct bytes next_token;
    struct bytes scan_by;
};
static const char *const item_types[] = { "ConfigurationUpdate", "StateUpdate", "Action", NULL };
static const struct shape item_type_shape = { .kind = SHAPE_STRING,
                                              .enum_values = item_types,
                                              SHAPE_UNBOUNDED };
static const char *const orders[] = { "TimestampDescending", "TimestampAscending", NULL };
static const struct shape order_shape = { .kind = SHAPE_STRING,
                                          .enum_values = orders,
                                          SHAPE_UNBOUNDED };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape_field history_fields[] = {
    { SHAPE_FIELD(struct history_request, name, "AlarmName", &alarm_name_shape) },
    { SHAPE_FIELD(struct history_request, types, "AlarmTypes", &alarm_request_types) },
    { SHAPE_FIELD(struct history_request, item_type, "HistoryItemType", &item_type_shape) },
    { SHAPE_FIELD(struct history_request, start, "StartDate", &time_shape) },
    { SHAPE_FIELD(struct history_request, end, "EndDate", &time_shape) },
    { SHAPE_FIELD(struct history_request, max_records, "MaxRecords", &alarm_request_max_records) },
    { SHAPE_FIELD(struct history_request, next_token, "NextToken", &alarm_request_string) },
    { SHAPE_FIELD(struct history_request, scan_by, "ScanBy", &order_shape) },
};
static const struct shape history_shape = { SHAPE_STRUCTURE_OF(struct history_request,
                                                               history_fields),
                                            .type_name = "DescribeAlarmHistoryInput" };

static bool admits_history(struct api_call *call, const void *input)
{
    const struct history_request *request = input;
    return request->name.data != NULL ? alarm_request_may(call, request->name)
                                      : operation_may_use_account(call);
}

static void write_history(struct json_writer *json, const struct alarm_history *entry)
{
    json_open_object(json);
    json_write_name(json, "AlarmName");
    json_write_string(json, entry->alarm_name);
    json_write_name(json, "AlarmType");
    json_write_text(json, "MetricAlarm");
    json_write_name(json, "Timestamp");
    json_write_seconds(json, entry->time_ms);
    json_write_name(json, "HistoryItemType");
    json_write_text(json, alarm_history_type_name(entry->type));
    json_write_name(json, "HistorySummary");
    json_write_string(json, entry->summary);
    json_write_name(json, "HistoryData");
    json_write_string(json, entry->data);
    json_close_object(json);
}

static bool read_query(struct api_call *call, const struct history_request *request,
                       struct alarm_history_query *out)
{
    struct bytes token;
    *out = (struct alarm_history_query){
        .alarm_name = request->name,
        .has_type = request->item_type.data != NULL,
        .start_ms = request->start.present ? request->start.value : 0,
        .end_ms = request->end.present ? request->end.value : INT64_MAX,
        .is_ascending = bytes_equal_text(request->scan_by, "TimestampAscending"),
        .count_max =
            (size_t)(request->max_records.present ? request->max_records.value : HISTORY_DEFAULT),
    };
    for (unsigned i = 0; i < ALARM_HISTORY_TYPE_COUNT; i++)
        if (bytes_equal_text(request->item_type,
                             alarm_history_type_name((enum alarm_history_type)i)))
            out->type = (enum alarm_history_type)i;
    if (!alarm_request_read_token(call, request->next_token, &token))
        return false;
    if (token.data == NULL)
        return true;
    if (token.len == sizeof out->position)
        memcpy(&out->position, token.data, sizeof out->position);
    if (out->position == 0)
        return error_set(&call->error, ERROR_CW_INVALID_NEXT_TOKEN,
                         "The value for parameter NextToken is invalid.");
    return true;
}

static bool show_history(struct api_call *call, const struct history_request *request)
{
    struct alarm_history_query query;
    struct alarm_history_page page = { 0 };
    struct json_writer json;
    if (!read_query(call, request, &query))
        return false;
    if (alarm_request_wants_metric_alarms(&request->types)) {
        enum engine_status status =
            alarms_history(api_alarms(call->api), call->arena, &query, &page);
        if (status != ENGINE_OK)
            return alarm_request_failed(call, status);
    }
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "AlarmHistoryItems");
    json_open_array(&json);
    for (size_t i = 0; i < page.count; i++)
        write_history(&json, &page.entries[i]);
    json_close_array(&json);
    if (page.position != 0) {
        json_write_name(&json, "NextToken");
        json_write_string(
            &json, alarm_request_token(call, bytes_of(&page.position, sizeof page.position)));
    }
    json_close_object(&json);
    return true;
}

static void run_history(struct api_call *call, const void *input)
{
    operation_end(call, show_history(call, input));
}

const struct operation op_describe_alarm_history = { .name = "DescribeAlarmHistory",
                                                     .service = OPERATION_OF_CLOUDWATCH,
                                                     .kind = OPERATION_DATA,
                                                     .request = &history_shape,
                                                     .asks = OPERATION_ASKS_ITSELF,
                                                     .admits = admits_history,
                                                     .waits = OPERATION_WAITS,
                                                     .run = run_history };
