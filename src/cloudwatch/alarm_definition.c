/* alarm_definition.c -- see alarm_definition.h: the stored form, and what follows from it. */
#include "cloudwatch/alarm_definition.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "json/writer.h"
#include "model/error.h"

/* --- What follows from a definition --- */

const struct alarm_query *alarm_definition_watched(const struct alarm_definition *definition)
{
    struct alarm_query *const *queries = definition->metrics.elements;
    for (size_t i = 0; i < definition->metrics.kept; i++)
        if (!queries[i]->return_data.present || queries[i]->return_data.value)
            return queries[i];
    return NULL;
}

/* Of an expression without a period of its own: the longest of the metrics, as all of them are read
 * in it. */
int64_t alarm_definition_period_s(const struct alarm_definition *definition)
{
    const struct alarm_query *watched = alarm_definition_watched(definition);
    if (watched == NULL)
        return definition->period.value;
    if (watched->metric_stat != NULL)
        return watched->metric_stat->period.value;
    if (watched->period.present)
        return watched->period.value;
    struct alarm_query *const *queries = definition->metrics.elements;
    int64_t longest = 0;
    for (size_t i = 0; i < definition->metrics.kept; i++) {
        const struct alarm_metric_stat *stat = queries[i]->metric_stat;
        if (stat != NULL && stat->period.value > longest)
            longest = stat->period.value;
    }
    return longest == 0 ? 60 : longest;
}

int64_t alarm_definition_pace_s(const struct alarm_definition *definition)
{
    int64_t period_s = alarm_definition_period_s(definition);
    if (period_s < 60)
        return ALARM_HIGH_RESOLUTION_S;
    return period_s * definition->evaluation_periods.value > 86400 ? 3600 : 60;
}

static bool is_of_dynamodb(struct bytes namespace)
{
    return bytes_equal_text(namespace, "AWS/DynamoDB");
}

/* The service: alarms on metrics of DynamoDB ignore missing data, whatever they say. */
static bool watches_only_dynamodb(const struct alarm_definition *definition)
{
    struct alarm_query *const *queries = definition->metrics.elements;
    size_t metrics = 0;
    if (!definition->metrics.present)
        return is_of_dynamodb(definition->namespace);
    for (size_t i = 0; i < definition->metrics.kept; i++) {
        if (queries[i]->metric_stat == NULL)
            continue;
        if (!is_of_dynamodb(queries[i]->metric_stat->metric->namespace))
            return false;
        metrics++;
    }
    return metrics > 0;
}

void alarm_definition_rule(const struct alarm_definition *definition, struct alarm_rule *out)
{
    *out = (struct alarm_rule){
        .threshold = definition->threshold.value,
        .evaluation_periods = (size_t)definition->evaluation_periods.value,
        .datapoints_to_alarm = (size_t)(definition->datapoints_to_alarm.present
                                            ? definition->datapoints_to_alarm.value
                                            : definition->evaluation_periods.value),
        .has_datapoints_to_alarm = definition->datapoints_to_alarm.present,
    };
    bool known = alarm_comparison_parse(definition->comparison_operator, &out->comparison) &&
                 alarm_missing_parse(definition->treat_missing_data, &out->missing);
    assert(known);
    if (watches_only_dynamodb(definition))
        out->missing = ALARM_MISSING_IGNORE;
}

const struct shape_list *alarm_actions_of(const struct alarm_definition *definition,
                                          enum alarm_state state)
{
    switch (state) {
    case ALARM_STATE_OK:
        return &definition->ok_actions;
    case ALARM_STATE_ALARM:
        return &definition->alarm_actions;
    case ALARM_STATE_INSUFFICIENT_DATA:
        break;
    }
    return &definition->insufficient_data_actions;
}

/* --- As JSON --- */

/* What is written, and how names begin. */
struct output {
    struct json_writer *json;
    bool lower;
};

static void write_name(const struct output *out, const char *name)
{
    char lowered[64];
    size_t size = strlen(name);
    if (!out->lower) {
        json_write_name(out->json, name);
        return;
    }
    assert(size > 0 && size < sizeof lowered);
    memcpy(lowered, name, size);
    lowered[0] = (char)(lowered[0] | 0x20);
    json_write_name_bytes(out->json, bytes_of(lowered, size));
}

static void write_string(const struct output *out, const char *name, struct bytes value)
{
    if (value.data == NULL)
        return;
    write_name(out, name);
    json_write_string(out->json, value);
}

static void write_integer(const struct output *out, const char *name,
                          const struct shape_integer *value)
{
    if (!value->present)
        return;
    write_name(out, name);
    json_write_integer(out->json, value->value);
}

/* The service shows an empty list where none was given. */
static void write_actions(const struct output *out, const char *name, const struct shape_list *list)
{
    const struct bytes *actions = list->elements;
    write_name(out, name);
    json_open_array(out->json);
    for (size_t i = 0; i < list->kept; i++)
        json_write_string(out->json, actions[i]);
    json_close_array(out->json);
}

static void write_dimensions(const struct output *out, const struct shape_list *list)
{
    struct alarm_dimension *const *dimensions = list->elements;
    write_name(out, "Dimensions");
    json_open_array(out->json);
    for (size_t i = 0; i < list->kept; i++) {
        json_open_object(out->json);
        write_string(out, "Name", dimensions[i]->name);
        write_string(out, "Value", dimensions[i]->value);
        json_close_object(out->json);
    }
    json_close_array(out->json);
}

static void write_metric_stat(const struct output *out, const struct alarm_metric_stat *stat)
{
    write_name(out, "MetricStat");
    json_open_object(out->json);
    write_name(out, "Metric");
    json_open_object(out->json);
    write_string(out, "Namespace", stat->metric->namespace);
    write_string(out, "MetricName", stat->metric->name);
    write_dimensions(out, &stat->metric->dimensions);
    json_close_object(out->json);
    write_integer(out, "Period", &stat->period);
    write_string(out, "Stat", stat->stat);
    write_string(out, "Unit", stat->unit);
    json_close_object(out->json);
}

static void write_queries(const struct output *out, const struct shape_list *list)
{
    struct alarm_query *const *queries = list->elements;
    write_name(out, "Metrics");
    json_open_array(out->json);
    for (size_t i = 0; i < list->kept; i++) {
        const struct alarm_query *query = queries[i];
        json_open_object(out->json);
        write_string(out, "Id", query->id);
        if (query->metric_stat != NULL)
            write_metric_stat(out, query->metric_stat);
        write_string(out, "Expression", query->expression);
        write_string(out, "Label", query->label);
        write_name(out, "ReturnData");
        json_write_bool(out->json, !query->return_data.present || query->return_data.value);
        write_integer(out, "Period", &query->period);
        write_string(out, "AccountId", query->account_id);
        json_close_object(out->json);
    }
    json_close_array(out->json);
}

void alarm_definition_write(struct json_writer *json, const struct alarm_definition *definition,
                            bool lower)
{
    const struct output out = { .json = json, .lower = lower };
    write_string(&out, "AlarmName", definition->name);
    write_string(&out, "AlarmDescription", definition->description);
    write_name(&out, "ActionsEnabled");
    json_write_bool(json,
                    !definition->actions_enabled.present || definition->actions_enabled.value);
    /* Observed: the history has this one all in lower case. */
    write_actions(&out, lower ? "okactions" : "OKActions", &definition->ok_actions);
    write_actions(&out, "AlarmActions", &definition->alarm_actions);
    write_actions(&out, "InsufficientDataActions", &definition->insufficient_data_actions);
    write_string(&out, "MetricName", definition->metric_name);
    write_string(&out, "Namespace", definition->namespace);
    write_string(&out, "Statistic", definition->statistic);
    write_string(&out, "ExtendedStatistic", definition->extended_statistic);
    write_dimensions(&out, &definition->dimensions);
    write_integer(&out, "Period", &definition->period);
    write_string(&out, "Unit", definition->unit);
    write_integer(&out, "EvaluationPeriods", &definition->evaluation_periods);
    write_integer(&out, "DatapointsToAlarm", &definition->datapoints_to_alarm);
    if (definition->threshold.present) {
        write_name(&out, "Threshold");
        json_write_double(json, definition->threshold.value);
    }
    write_string(&out, "ComparisonOperator", definition->comparison_operator);
    write_string(&out, "TreatMissingData", definition->treat_missing_data);
    write_string(&out, "EvaluateLowSampleCountPercentile",
                 definition->evaluate_low_sample_count_percentile);
    if (definition->metrics.present)
        write_queries(&out, &definition->metrics);
}

void alarm_definition_write_metrics(struct json_writer *json,
                                    const struct alarm_definition *definition)
{
    write_queries(&(struct output){ .json = json }, &definition->metrics);
}

void alarm_tags_write(struct json_writer *json, const struct shape_list *tags)
{
    struct alarm_tag *const *elements = tags->elements;
    json_open_array(json);
    for (size_t i = 0; i < tags->kept; i++) {
        json_open_object(json);
        json_write_name(json, "Key");
        json_write_string(json, elements[i]->key);
        json_write_name(json, "Value");
        json_write_string(json, elements[i]->value);
        json_close_object(json);
    }
    json_close_array(json);
}

/* --- The stored form --- */

struct bytes alarm_definition_encode(struct arena *arena, const struct alarm_definition *definition)
{
    struct buffer out;
    struct json_writer json;
    buffer_init(&out, arena);
    json_writer_init(&json, &out);
    json_open_object(&json);
    alarm_definition_write(&json, definition, false);
    json_close_object(&json);
    return buffer_bytes(&out);
}

static bool read_stored(struct arena *arena, struct bytes text, const struct shape *shape,
                        void *out)
{
    struct error ignored;
    error_init(&ignored, arena);
    return shape_read(arena, text, shape, out, &ignored) &&
           shape_validate(arena, shape, out, &ignored);
}

bool alarm_definition_decode(struct arena *arena, struct bytes text, struct alarm_definition *out)
{
    struct error ignored;
    error_init(&ignored, arena);
    return read_stored(arena, text, &alarm_definition_shape, out) && !out->tags.present &&
           alarm_definition_check(out, NULL, &ignored) &&
           bytes_equal(alarm_definition_encode(arena, out), text);
}

struct stored_tags {
    struct shape_list tags;
};
static const struct shape_field stored_tags_fields[] = {
    { SHAPE_FIELD(struct stored_tags, tags, "Tags", &alarm_tags_shape), .required = true },
};
static const struct shape stored_tags_shape = {
    SHAPE_STRUCTURE_OF(struct stored_tags, stored_tags_fields), .type_name = "Tags"
};

struct bytes alarm_tags_encode(struct arena *arena, const struct shape_list *tags)
{
    struct buffer out;
    struct json_writer json;
    buffer_init(&out, arena);
    json_writer_init(&json, &out);
    json_open_object(&json);
    json_write_name(&json, "Tags");
    alarm_tags_write(&json, tags);
    json_close_object(&json);
    return buffer_bytes(&out);
}

bool alarm_tags_decode(struct arena *arena, struct bytes text, struct shape_list *out)
{
    struct stored_tags stored;
    struct error ignored;
    error_init(&ignored, arena);
    if (!read_stored(arena, text, &stored_tags_shape, &stored) ||
        !alarm_tags_check(&stored.tags, &ignored) ||
        !bytes_equal(alarm_tags_encode(arena, &stored.tags), text))
        return false;
    *out = stored.tags;
    return true;
}
