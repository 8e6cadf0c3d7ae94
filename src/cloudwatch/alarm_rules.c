/* alarm_rules.c -- the rules between the members of PutMetricAlarm; see alarm_definition.h. */
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_definition.h"
#include "cloudwatch/statistic.h"
#include "http/url.h"
#include "model/error.h"

/* --- Actions --- */

bool alarm_action_is_url(struct bytes action)
{
    return bytes_starts_with(action, BYTES("http://")) ||
           bytes_starts_with(action, BYTES("https://"));
}

bool alarm_action_is_scaling_policy(struct bytes action)
{
    return bytes_starts_with(action, BYTES("arn:aws:autoscaling:")) &&
           memmem(action.data, action.len, ":scalingPolicy:", strlen(":scalingPolicy:")) != NULL;
}

/* The ARN of a scaling policy ends with the policy's name, which may have spaces. */
bool alarm_action_is_arn(struct bytes action)
{
    size_t colons = 0;
    bool may_have_spaces = alarm_action_is_scaling_policy(action);
    for (size_t i = 0; i < action.len; i++) {
        uint8_t byte = action.data[i];
        if (byte < ' ' || byte == 0x7F || (byte == ' ' && !may_have_spaces))
            return false;
        colons += byte == ':';
    }
    return bytes_starts_with(action, BYTES("arn:")) && colons >= 5;
}

static bool check_actions(const struct shape_list *list, struct error *err)
{
    const struct bytes *actions = list->elements;
    struct http_url ignored;
    for (size_t i = 0; i < list->kept; i++) {
        const char *problem =
            alarm_action_is_url(actions[i]) ? http_url_parse(actions[i], &ignored) : NULL;
        if (problem != NULL)
            return error_validation(err, "Invalid URL of an action: %s", problem);
        if (!alarm_action_is_url(actions[i]) && !alarm_action_is_arn(actions[i]))
            return error_validation(err, "Invalid arn syntax: %.*s", BYTES_FMT(actions[i]));
    }
    return true;
}

/* --- Metrics --- */

static bool missing(struct error *err, const char *parameter)
{
    return error_set(err, ERROR_CW_MISSING_PARAMETER, "The parameter %s is required.", parameter);
}

static bool exclusive(struct error *err, const char *one, const char *other)
{
    return error_set(err, ERROR_CW_INVALID_PARAMETER_COMBINATION,
                     "The parameters %s and %s are mutually exclusive and you have specified both.",
                     one, other);
}

static bool check_period(int64_t period_s, struct error *err)
{
    if (period_s == 10 || period_s == 20 || period_s == 30 || period_s % 60 == 0)
        return true;
    return error_validation(err, "Period must be 10, 20, 30 or a multiple of 60");
}

static bool check_dimensions(const struct shape_list *list, struct error *err)
{
    struct alarm_dimension *const *dimensions = list->elements;
    for (size_t i = 0; i < list->kept; i++)
        for (size_t j = 0; j < i; j++)
            if (bytes_equal(dimensions[i]->name, dimensions[j]->name))
                return error_set(err, ERROR_CW_INVALID_PARAMETER_VALUE,
                                 "The parameter Dimensions has the name %.*s twice.",
                                 BYTES_FMT(dimensions[i]->name));
    return true;
}

static bool check_metric(const struct alarm_definition *definition, struct error *err)
{
    struct statistic ignored;
    if (definition->metric_name.data == NULL)
        return missing(err, "MetricName");
    if (definition->namespace.data == NULL)
        return missing(err, "Namespace");
    if (!definition->period.present)
        return missing(err, "Period");
    if (definition->statistic.data != NULL && definition->extended_statistic.data != NULL)
        return exclusive(err, "Statistic", "ExtendedStatistic");
    if (definition->statistic.data == NULL && definition->extended_statistic.data == NULL)
        return missing(err, "Statistic or ExtendedStatistic");
    if (definition->extended_statistic.data != NULL &&
        !statistic_parse_extended(definition->extended_statistic, &ignored))
        return error_set(err, ERROR_CW_INVALID_PARAMETER_VALUE,
                         "The value %.*s for parameter ExtendedStatistic is not supported.",
                         BYTES_FMT(definition->extended_statistic));
    return check_dimensions(&definition->dimensions, err);
}

static bool check_not_with_metrics(const struct alarm_definition *definition, struct error *err)
{
    const struct {
        bool present;
        const char *name;
    } members[] = {
        { definition->metric_name.data != NULL, "MetricName" },
        { definition->namespace.data != NULL, "Namespace" },
        { definition->dimensions.present && definition->dimensions.count > 0, "Dimensions" },
        { definition->period.present, "Period" },
        { definition->unit.data != NULL, "Unit" },
        { definition->statistic.data != NULL, "Statistic" },
        { definition->extended_statistic.data != NULL, "ExtendedStatistic" },
    };
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (members[i].present)
            return exclusive(err, "Metrics", members[i].name);
    return true;
}

static bool is_query_id(struct bytes id)
{
    if (id.len == 0 || id.data[0] < 'a' || id.data[0] > 'z')
        return false;
    for (size_t i = 0; i < id.len; i++) {
        uint8_t symbol = id.data[i];
        if (!((symbol >= 'a' && symbol <= 'z') || (symbol >= 'A' && symbol <= 'Z') ||
              (symbol >= '0' && symbol <= '9') || symbol == '_'))
            return false;
    }
    return true;
}

static bool check_query(const struct alarm_query *query, const char *account_id, struct error *err)
{
    const struct alarm_metric_stat *stat = query->metric_stat;
    struct statistic ignored;
    if (!is_query_id(query->id))
        return error_validation(err,
                                "Invalid metrics list: the Id %.*s must begin with a "
                                "lower-case letter and have letters, digits and underscores "
                                "only.",
                                BYTES_FMT(query->id));
    if ((stat == NULL) == (query->expression.data == NULL))
        return error_validation(err, "Invalid metrics list: each element must have either "
                                     "MetricStat or Expression.");
    if (query->account_id.data != NULL && account_id != NULL &&
        !bytes_equal_text(query->account_id, account_id))
        return error_validation(err, "Invalid metrics list: AccountId must be that of this "
                                     "account.");
    if (query->period.present && !check_period(query->period.value, err))
        return false;
    if (stat == NULL)
        return true;
    if (stat->metric->name.data == NULL)
        return missing(err, "MetricStat.Metric.MetricName");
    if (stat->metric->namespace.data == NULL)
        return missing(err, "MetricStat.Metric.Namespace");
    if (!statistic_parse(stat->stat, &ignored))
        return error_set(err, ERROR_CW_INVALID_PARAMETER_VALUE,
                         "The value %.*s for parameter MetricStat.Stat is not supported.",
                         BYTES_FMT(stat->stat));
    return check_period(stat->period.value, err) &&
           check_dimensions(&stat->metric->dimensions, err);
}

static bool check_queries(const struct alarm_definition *definition, const char *account_id,
                          struct error *err)
{
    struct alarm_query *const *queries = definition->metrics.elements;
    size_t returned = 0;
    if (!check_not_with_metrics(definition, err))
        return false;
    if (definition->metrics.count == 0 || definition->metrics.count > ALARM_QUERIES_MAX)
        return error_validation(err, "Invalid metrics list: it must have 1 to %d elements.",
                                ALARM_QUERIES_MAX);
    for (size_t i = 0; i < definition->metrics.kept; i++) {
        if (!check_query(queries[i], account_id, err))
            return false;
        for (size_t j = 0; j < i; j++)
            if (bytes_equal(queries[i]->id, queries[j]->id))
                return error_validation(err, "Invalid metrics list: the Id %.*s is not unique.",
                                        BYTES_FMT(queries[i]->id));
        returned += !queries[i]->return_data.present || queries[i]->return_data.value;
    }
    if (returned != 1)
        return error_validation(err, "Exactly one element of the metrics list should return data.");
    return true;
}

/* --- The definition --- */

static bool check_unsupported(const struct alarm_definition *definition, struct error *err)
{
    enum alarm_comparison ignored;
    if (!alarm_comparison_parse(definition->comparison_operator, &ignored) ||
        definition->threshold_metric_id.data != NULL)
        return error_validation(err, "Anomaly detection is not supported: ComparisonOperator must "
                                     "compare with a Threshold, and ThresholdMetricId must be "
                                     "absent.");
    if (definition->criteria != NULL || definition->evaluation_interval.present)
        return error_validation(err, "Alarms on PromQL queries are not supported: "
                                     "EvaluationCriteria and EvaluationInterval must be absent.");
    return true;
}

static bool check_options(const struct alarm_definition *definition, struct error *err)
{
    enum alarm_missing ignored;
    struct bytes low = definition->evaluate_low_sample_count_percentile;
    if (!alarm_missing_parse(definition->treat_missing_data, &ignored))
        return error_validation(err,
                                "The value %.*s is not supported for TreatMissingData "
                                "parameter. Supported values are [breaching, notBreaching, "
                                "ignore, missing].",
                                BYTES_FMT(definition->treat_missing_data));
    if (low.data != NULL && !bytes_equal_text(low, "evaluate") && !bytes_equal_text(low, "ignore"))
        return error_validation(err,
                                "Option %.*s is not supported. Supported options for "
                                "parameter EvaluateLowSampleCountPercentile are evaluate and "
                                "ignore.",
                                BYTES_FMT(low));
    if (!definition->threshold.present)
        return missing(err, "Threshold");
    if (!isfinite(definition->threshold.value))
        return error_set(err, ERROR_CW_INVALID_PARAMETER_VALUE,
                         "The value for parameter Threshold must be a finite number.");
    if (definition->datapoints_to_alarm.present &&
        definition->datapoints_to_alarm.value > definition->evaluation_periods.value)
        return error_validation(err, "DatapointsToAlarm must be less than or equal to "
                                     "EvaluationPeriods");
    return true;
}

static bool check_span(const struct alarm_definition *definition, struct error *err)
{
    int64_t period_s = alarm_definition_period_s(definition);
    int64_t span_s;
    int64_t span_s_max = period_s < ALARM_SHORT_PERIOD_S ? 86400 : ALARM_PERIOD_S_MAX;
    if (!__builtin_mul_overflow(period_s, definition->evaluation_periods.value, &span_s) &&
        span_s <= span_s_max)
        return true;
    return error_validation(err,
                            "Metrics cannot be checked across more than %s (EvaluationPeriods * "
                            "Period must be <= %lld).",
                            span_s_max == 86400 ? "a day" : "seven days", (long long)span_s_max);
}

bool alarm_definition_check(const struct alarm_definition *definition, const char *account_id,
                            struct error *err)
{
    return check_unsupported(definition, err) &&
           (definition->metrics.present
                ? check_queries(definition, account_id, err)
                : check_metric(definition, err) && check_period(definition->period.value, err)) &&
           check_options(definition, err) && check_span(definition, err) &&
           check_actions(&definition->ok_actions, err) &&
           check_actions(&definition->alarm_actions, err) &&
           check_actions(&definition->insufficient_data_actions, err) &&
           alarm_tags_check(&definition->tags, err);
}

bool alarm_tags_check(const struct shape_list *tags, struct error *err)
{
    struct alarm_tag *const *elements = tags->elements;
    if (tags->count > ALARM_TAGS_MAX)
        return error_set(err, ERROR_CW_INVALID_PARAMETER_VALUE,
                         "A resource can have no more than %d tags.", ALARM_TAGS_MAX);
    for (size_t i = 0; i < tags->kept; i++) {
        if (bytes_starts_with(elements[i]->key, BYTES("aws:")))
            return error_set(err, ERROR_CW_INVALID_PARAMETER_VALUE,
                             "Tag keys that begin with aws: are reserved.");
        for (size_t j = 0; j < i; j++)
            if (bytes_equal(elements[i]->key, elements[j]->key))
                return error_set(err, ERROR_CW_INVALID_PARAMETER_VALUE,
                                 "Duplicate tag keys are not allowed.");
    }
    return true;
}

static bool is_removed(const struct shape_list *keys, struct bytes key)
{
    const struct bytes *elements = keys == NULL ? NULL : keys->elements;
    for (size_t i = 0; keys != NULL && i < keys->kept; i++)
        if (bytes_equal(elements[i], key))
            return true;
    return false;
}

struct shape_list alarm_tags_apply(struct arena *arena, const struct shape_list *tags,
                                   const struct alarm_tags_change *change)
{
    static const struct shape_list nothing;
    const struct shape_list *added = change->added == NULL ? &nothing : change->added;
    struct alarm_tag *const *from = tags->elements;
    struct alarm_tag *const *more = added->elements;
    struct alarm_tag **out = arena_alloc(arena, (tags->kept + added->kept + 1) * sizeof *out);
    size_t count = 0;
    for (size_t i = 0; i < tags->kept; i++)
        if (!is_removed(change->removed, from[i]->key))
            out[count++] = from[i];
    for (size_t i = 0; i < added->kept; i++) {
        size_t place = 0;
        while (place < count && !bytes_equal(out[place]->key, more[i]->key))
            place++;
        out[place] = more[i];
        count += place == count;
    }
    return (struct shape_list){ .present = true, .count = count, .kept = count, .elements = out };
}
