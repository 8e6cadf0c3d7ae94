/* alarm_texts.c -- the history's data and what actions send, in the forms of the service; see
 * alarm_record.h. */
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_record.h"
#include "json/writer.h"

struct bytes alarm_arn(struct arena *arena, const char *region, const char *account_id,
                       struct bytes name)
{
    const struct bytes parts[] = {
        BYTES("arn:aws:cloudwatch:"), bytes_from_text(region), BYTES(":"),
        bytes_from_text(account_id),  BYTES(":alarm:"),        name,
    };
    return arena_join(arena, parts, COUNT_OF(parts));
}

/* --- A JSON object that is built in the arena --- */

struct document {
    struct buffer out;
    struct json_writer json;
};

static void begin(struct document *document, struct arena *arena)
{
    buffer_init(&document->out, arena);
    json_writer_init(&document->json, &document->out);
    json_open_object(&document->json);
}

static struct bytes finish(struct document *document)
{
    json_close_object(&document->json);
    return buffer_bytes(&document->out);
}

static void write_text(struct json_writer *json, const char *name, const char *value)
{
    json_write_name(json, name);
    json_write_text(json, value);
}

static void write_string(struct json_writer *json, const char *name, struct bytes value)
{
    json_write_name(json, name);
    if (value.data == NULL)
        json_write_null(json);
    else
        json_write_string(json, value);
}

static void write_time(struct json_writer *json, const char *name, int64_t time_ms)
{
    char text[ALARM_TIME_SIZE];
    alarm_format_time(time_ms, text);
    write_text(json, name, text);
}

/* --- History --- */

static void write_configured(struct json_writer *json, const char *name, const struct alarm *alarm)
{
    json_write_name(json, name);
    json_open_object(json);
    alarm_definition_write(json, &alarm->definition, true);
    write_time(json, "alarmConfigurationUpdatedTimestamp", alarm->configured_ms);
    write_text(json, "stateValue", alarm_state_name(alarm->state));
    write_time(json, "stateUpdatedTimestamp", alarm->updated_ms);
    json_close_object(json);
}

struct bytes alarm_configuration_data(struct arena *arena, const char *type,
                                      const struct alarm *alarm, const struct alarm *before)
{
    struct document document;
    begin(&document, arena);
    write_text(&document.json, "version", "1.0");
    write_text(&document.json, "type", type);
    if (before != NULL) {
        write_configured(&document.json, "originalUpdatedAlarm", before);
        write_configured(&document.json, "updatedAlarm", alarm);
    } else {
        write_configured(&document.json, type[0] == 'C' ? "createdAlarm" : "deletedAlarm", alarm);
    }
    return finish(&document);
}

static void write_state(struct json_writer *json, const char *name, const struct alarm *alarm)
{
    json_write_name(json, name);
    json_open_object(json);
    write_text(json, "stateValue", alarm_state_name(alarm->state));
    write_string(json, "stateReason", alarm->reason);
    if (alarm->reason_data.data != NULL) {
        json_write_name(json, "stateReasonData");
        json_write_raw(json, alarm->reason_data);
    }
    json_close_object(json);
}

struct bytes alarm_state_data(struct arena *arena, const struct alarm *before,
                              const struct alarm *after)
{
    struct document document;
    begin(&document, arena);
    write_text(&document.json, "version", "1.0");
    write_state(&document.json, "oldState", before);
    write_state(&document.json, "newState", after);
    return finish(&document);
}

struct bytes alarm_action_data(struct arena *arena, const struct alarm_action *action,
                               const char *problem)
{
    struct document document;
    begin(&document, arena);
    write_text(&document.json, "actionState", problem == NULL ? "Succeeded" : "Failed");
    write_time(&document.json, "stateUpdateTimestamp", action->time_ms);
    write_string(&document.json, "notificationResource", action->target);
    write_string(&document.json, "publishedMessage", action->message);
    json_write_name(&document.json, "error");
    if (problem == NULL)
        json_write_null(&document.json);
    else
        json_write_text(&document.json, problem);
    return finish(&document);
}

/* --- What an action sends --- */

static void write_actions(struct json_writer *json, const char *name, const struct shape_list *list)
{
    const struct bytes *actions = list->elements;
    json_write_name(json, name);
    json_open_array(json);
    for (size_t i = 0; i < list->kept; i++)
        json_write_string(json, actions[i]);
    json_close_array(json);
}

static struct bytes in_capitals(struct arena *arena, struct bytes text)
{
    uint8_t *out = arena_alloc(arena, text.len + 1);
    for (size_t i = 0; i < text.len; i++)
        out[i] = (uint8_t)(text.data[i] >= 'a' && text.data[i] <= 'z' ? text.data[i] - 0x20
                                                                      : text.data[i]);
    return bytes_of(out, text.len);
}

static void write_metric(struct arena *arena, struct json_writer *json,
                         const struct alarm_definition *definition)
{
    struct alarm_dimension *const *dimensions = definition->dimensions.elements;
    write_string(json, "MetricName", definition->metric_name);
    write_string(json, "Namespace", definition->namespace);
    if (definition->statistic.data != NULL) {
        write_text(json, "StatisticType", "Statistic");
        write_string(json, "Statistic", in_capitals(arena, definition->statistic));
    } else {
        write_text(json, "StatisticType", "ExtendedStatistic");
        write_string(json, "ExtendedStatistic", definition->extended_statistic);
    }
    write_string(json, "Unit", definition->unit);
    json_write_name(json, "Dimensions");
    json_open_array(json);
    for (size_t i = 0; i < definition->dimensions.kept; i++) {
        json_open_object(json);
        write_string(json, "value", dimensions[i]->value);
        write_string(json, "name", dimensions[i]->name);
        json_close_object(json);
    }
    json_close_array(json);
}

static void write_trigger(struct arena *arena, struct json_writer *json,
                          const struct alarm_definition *definition)
{
    struct bytes missing = definition->treat_missing_data;
    struct bytes low = definition->evaluate_low_sample_count_percentile;
    json_write_name(json, "Trigger");
    json_open_object(json);
    if (!definition->metrics.present)
        write_metric(arena, json, definition);
    json_write_name(json, "Period");
    json_write_integer(json, alarm_definition_period_s(definition));
    json_write_name(json, "EvaluationPeriods");
    json_write_integer(json, definition->evaluation_periods.value);
    if (definition->datapoints_to_alarm.present) {
        json_write_name(json, "DatapointsToAlarm");
        json_write_integer(json, definition->datapoints_to_alarm.value);
    }
    write_string(json, "ComparisonOperator", definition->comparison_operator);
    json_write_name(json, "Threshold");
    json_write_double(json, definition->threshold.value);
    write_string(json, "TreatMissingData", missing.data == NULL ? BYTES("missing") : missing);
    write_string(json, "EvaluateLowSampleCountPercentile", low.data == NULL ? BYTES("") : low);
    if (definition->metrics.present)
        alarm_definition_write_metrics(json, definition);
    json_close_object(json);
}

struct bytes alarm_message(struct arena *arena, const char *region, const char *account_id,
                           const struct alarm *alarm, enum alarm_state from)
{
    const struct alarm_definition *definition = &alarm->definition;
    struct document document;
    struct json_writer *json = &document.json;
    begin(&document, arena);
    write_string(json, "AlarmName", definition->name);
    write_string(json, "AlarmDescription", definition->description);
    write_text(json, "AWSAccountId", account_id);
    write_time(json, "AlarmConfigurationUpdatedTimestamp", alarm->configured_ms);
    write_text(json, "NewStateValue", alarm_state_name(alarm->state));
    write_string(json, "NewStateReason", alarm->reason);
    write_time(json, "StateChangeTime", alarm->transitioned_ms);
    write_text(json, "Region", region);
    write_string(json, "AlarmArn", alarm_arn(arena, region, account_id, definition->name));
    write_text(json, "OldStateValue", alarm_state_name(from));
    write_actions(json, "OKActions", &definition->ok_actions);
    write_actions(json, "AlarmActions", &definition->alarm_actions);
    write_actions(json, "InsufficientDataActions", &definition->insufficient_data_actions);
    write_trigger(arena, json, definition);
    return finish(&document);
}
