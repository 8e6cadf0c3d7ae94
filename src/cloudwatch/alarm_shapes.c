/* alarm_shapes.c -- the service model of PutMetricAlarm; see alarm_definition.h. */
#include "base/compiler.h"
#include "cloudwatch/alarm_definition.h"
#include "cloudwatch/unit.h"

enum { NAME_LENGTH_MAX = 255, TEXT_LENGTH_MAX = 1024, EXPRESSION_LENGTH_MAX = 2048 };

const struct shape alarm_any_string_shape = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
static const struct shape boolean_shape = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
static const struct shape double_shape = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
static const struct shape positive_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = SHAPE_NO_MAX };
const struct shape alarm_period_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = SHAPE_NO_MAX };
static const struct shape interval_shape = { .kind = SHAPE_INTEGER, .min = 10, .max = 3600 };

const struct shape alarm_name_shape = { .kind = SHAPE_STRING,
                                        .min = 1,
                                        .max = ALARM_NAME_LENGTH_MAX };
const struct shape alarm_metric_name_shape = { .kind = SHAPE_STRING,
                                               .min = 1,
                                               .max = NAME_LENGTH_MAX };
static bool has_no_colon_first(struct bytes value)
{
    return value.len > 0 && value.data[0] != ':';
}
const struct shape alarm_namespace_shape = { .kind = SHAPE_STRING,
                                             .min = 1,
                                             .max = NAME_LENGTH_MAX,
                                             .pattern = "[^:].*",
                                             .matches = has_no_colon_first };
static const struct shape description_shape = { .kind = SHAPE_STRING,
                                                .min = 0,
                                                .max = TEXT_LENGTH_MAX };
static const struct shape option_shape = { .kind = SHAPE_STRING, .min = 1, .max = NAME_LENGTH_MAX };

static const char *const statistics[] = { "SampleCount", "Average", "Sum",
                                          "Minimum",     "Maximum", NULL };
const struct shape alarm_statistic_shape = { .kind = SHAPE_STRING,
                                             .enum_values = statistics,
                                             SHAPE_UNBOUNDED };
const struct shape alarm_unit_shape = { .kind = SHAPE_STRING,
                                        .enum_values = unit_names,
                                        SHAPE_UNBOUNDED };
static const char *const comparisons[] = {
    "GreaterThanOrEqualToThreshold",
    "GreaterThanThreshold",
    "LessThanThreshold",
    "LessThanOrEqualToThreshold",
    "LessThanLowerOrGreaterThanUpperThreshold",
    "LessThanLowerThreshold",
    "GreaterThanUpperThreshold",
    NULL,
};
static const struct shape comparison_shape = { .kind = SHAPE_STRING,
                                               .enum_values = comparisons,
                                               SHAPE_UNBOUNDED };

static const struct shape action_shape = { .kind = SHAPE_STRING, .min = 1, .max = TEXT_LENGTH_MAX };
static const struct shape actions_shape = {
    .kind = SHAPE_LIST, .element = &action_shape, .min = SHAPE_NO_MIN, .max = ALARM_ACTIONS_MAX
};

static const struct shape dimension_value_shape = { .kind = SHAPE_STRING,
                                                    .min = 1,
                                                    .max = TEXT_LENGTH_MAX };
static const struct shape_field dimension_fields[] = {
    { SHAPE_FIELD(struct alarm_dimension, name, "Name", &alarm_metric_name_shape),
      .required = true },
    { SHAPE_FIELD(struct alarm_dimension, value, "Value", &dimension_value_shape),
      .required = true },
};
static const struct shape dimension_shape = {
    SHAPE_STRUCTURE_OF(struct alarm_dimension, dimension_fields), .type_name = "Dimension"
};
const struct shape alarm_dimensions_shape = { .kind = SHAPE_LIST,
                                              .element = &dimension_shape,
                                              .min = SHAPE_NO_MIN,
                                              .max = ALARM_DIMENSIONS_MAX };

static const struct shape_field metric_fields[] = {
    { SHAPE_FIELD(struct alarm_metric, namespace, "Namespace", &alarm_namespace_shape) },
    { SHAPE_FIELD(struct alarm_metric, name, "MetricName", &alarm_metric_name_shape) },
    { SHAPE_FIELD(struct alarm_metric, dimensions, "Dimensions", &alarm_dimensions_shape) },
};
static const struct shape metric_shape = { SHAPE_STRUCTURE_OF(struct alarm_metric, metric_fields),
                                           .type_name = "Metric" };
static const struct shape_field metric_stat_fields[] = {
    { SHAPE_FIELD(struct alarm_metric_stat, metric, "Metric", &metric_shape), .required = true },
    { SHAPE_FIELD(struct alarm_metric_stat, period, "Period", &alarm_period_shape),
      .required = true },
    { SHAPE_FIELD(struct alarm_metric_stat, stat, "Stat", &alarm_any_string_shape),
      .required = true },
    { SHAPE_FIELD(struct alarm_metric_stat, unit, "Unit", &alarm_unit_shape) },
};
static const struct shape metric_stat_shape = {
    SHAPE_STRUCTURE_OF(struct alarm_metric_stat, metric_stat_fields), .type_name = "MetricStat"
};
static const struct shape expression_shape = { .kind = SHAPE_STRING,
                                               .min = 1,
                                               .max = EXPRESSION_LENGTH_MAX };
static const struct shape_field query_fields[] = {
    { SHAPE_FIELD(struct alarm_query, id, "Id", &alarm_metric_name_shape), .required = true },
    { SHAPE_FIELD(struct alarm_query, metric_stat, "MetricStat", &metric_stat_shape) },
    { SHAPE_FIELD(struct alarm_query, expression, "Expression", &expression_shape) },
    { SHAPE_FIELD(struct alarm_query, label, "Label", &alarm_any_string_shape) },
    { SHAPE_FIELD(struct alarm_query, return_data, "ReturnData", &boolean_shape) },
    { SHAPE_FIELD(struct alarm_query, period, "Period", &alarm_period_shape) },
    { SHAPE_FIELD(struct alarm_query, account_id, "AccountId", &option_shape) },
};
static const struct shape query_shape = { SHAPE_STRUCTURE_OF(struct alarm_query, query_fields),
                                          .type_name = "MetricDataQuery" };
static const struct shape queries_shape = { .kind = SHAPE_LIST,
                                            .element = &query_shape,
                                            SHAPE_UNBOUNDED };

static const struct shape tag_key_shape = { .kind = SHAPE_STRING, .min = 1, .max = 128 };
static const struct shape tag_value_shape = { .kind = SHAPE_STRING, .min = 0, .max = 256 };
static const struct shape_field tag_fields[] = {
    { SHAPE_FIELD(struct alarm_tag, key, "Key", &tag_key_shape), .required = true },
    { SHAPE_FIELD(struct alarm_tag, value, "Value", &tag_value_shape), .required = true },
};
static const struct shape tag_shape = { SHAPE_STRUCTURE_OF(struct alarm_tag, tag_fields),
                                        .type_name = "Tag" };
const struct shape alarm_tags_shape = { .kind = SHAPE_LIST,
                                        .element = &tag_shape,
                                        SHAPE_UNBOUNDED };

/* Only its presence counts. */
struct alarm_no_members {
    char nothing;
};
static const struct shape criteria_shape = { .kind = SHAPE_STRUCTURE,
                                             .size = sizeof(struct alarm_no_members),
                                             .type_name = "EvaluationCriteria",
                                             SHAPE_UNBOUNDED };

#define FIELD(member, name, shape) SHAPE_FIELD(struct alarm_definition, member, name, shape)
static const struct shape_field fields[] = {
    { FIELD(name, "AlarmName", &alarm_name_shape), .required = true },
    { FIELD(description, "AlarmDescription", &description_shape) },
    { FIELD(actions_enabled, "ActionsEnabled", &boolean_shape) },
    { FIELD(ok_actions, "OKActions", &actions_shape) },
    { FIELD(alarm_actions, "AlarmActions", &actions_shape) },
    { FIELD(insufficient_data_actions, "InsufficientDataActions", &actions_shape) },
    { FIELD(metric_name, "MetricName", &alarm_metric_name_shape) },
    { FIELD(namespace, "Namespace", &alarm_namespace_shape) },
    { FIELD(statistic, "Statistic", &alarm_statistic_shape) },
    { FIELD(extended_statistic, "ExtendedStatistic", &alarm_any_string_shape) },
    { FIELD(dimensions, "Dimensions", &alarm_dimensions_shape) },
    { FIELD(period, "Period", &alarm_period_shape) },
    { FIELD(unit, "Unit", &alarm_unit_shape) },
    { FIELD(evaluation_periods, "EvaluationPeriods", &positive_shape), .required = true },
    { FIELD(datapoints_to_alarm, "DatapointsToAlarm", &positive_shape) },
    { FIELD(threshold, "Threshold", &double_shape) },
    { FIELD(comparison_operator, "ComparisonOperator", &comparison_shape), .required = true },
    { FIELD(treat_missing_data, "TreatMissingData", &option_shape) },
    { FIELD(evaluate_low_sample_count_percentile, "EvaluateLowSampleCountPercentile",
            &option_shape) },
    { FIELD(metrics, "Metrics", &queries_shape) },
    { FIELD(tags, "Tags", &alarm_tags_shape) },
    { FIELD(threshold_metric_id, "ThresholdMetricId", &alarm_metric_name_shape) },
    { FIELD(criteria, "EvaluationCriteria", &criteria_shape) },
    { FIELD(evaluation_interval, "EvaluationInterval", &interval_shape) },
};
const struct shape alarm_definition_shape = { SHAPE_STRUCTURE_OF(struct alarm_definition, fields),
                                              .type_name = "PutMetricAlarmInput" };
