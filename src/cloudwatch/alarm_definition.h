/* alarm_definition.h -- what PutMetricAlarm says about an alarm, and tags.
 *
 * The request is read into struct alarm_definition by its shape. The stored form is the same
 * request as JSON, in one order of members, so that one reader, one set of rules and one writer
 * serve requests, the store, answers and the history.
 */
#ifndef STATOR_CLOUDWATCH_ALARM_DEFINITION_H
#define STATOR_CLOUDWATCH_ALARM_DEFINITION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_evaluation.h"
#include "shape/shape.h"

struct arena;
struct error;
struct json_writer;

enum {
    ALARM_NAME_LENGTH_MAX = 255,
    ALARM_NAME_SIZE_MAX = ALARM_NAME_LENGTH_MAX * 4,
    ALARM_ACTIONS_MAX = 5, /* For each state. */
    ALARM_DIMENSIONS_MAX = 30,
    ALARM_QUERIES_MAX = 20, /* Metrics and expressions of one alarm. */
    ALARM_TAGS_MAX = 50,
    ALARM_PERIOD_S_MAX = 86400 * 7,
    ALARM_SHORT_PERIOD_S = 3600, /* Below it, the periods may span one day, otherwise seven. */
    ALARM_HIGH_RESOLUTION_S = 10,
};

struct alarm_dimension {
    struct bytes name;
    struct bytes value;
};

struct alarm_metric {
    struct bytes namespace;
    struct bytes name;
    struct shape_list dimensions; /* of struct alarm_dimension * */
};

struct alarm_metric_stat {
    struct alarm_metric *metric;
    struct shape_integer period;
    struct bytes stat;
    struct bytes unit;
};

struct alarm_query {
    struct bytes id;
    struct alarm_metric_stat *metric_stat; /* NULL: an expression. */
    struct bytes expression;
    struct bytes label;
    struct shape_boolean return_data;
    struct shape_integer period;
    struct bytes account_id;
};

struct alarm_tag {
    struct bytes key;
    struct bytes value;
};

struct alarm_definition {
    struct bytes name;
    struct bytes description;
    struct shape_boolean actions_enabled;
    struct shape_list ok_actions; /* of struct bytes; the next two as well */
    struct shape_list alarm_actions;
    struct shape_list insufficient_data_actions;
    struct bytes metric_name;
    struct bytes namespace;
    struct bytes statistic;
    struct bytes extended_statistic;
    struct shape_list dimensions; /* of struct alarm_dimension * */
    struct shape_integer period;
    struct bytes unit;
    struct shape_integer evaluation_periods;
    struct shape_integer datapoints_to_alarm;
    struct shape_double threshold;
    struct bytes comparison_operator;
    struct bytes treat_missing_data;
    struct bytes evaluate_low_sample_count_percentile;
    struct shape_list metrics; /* of struct alarm_query * */
    struct shape_list tags;    /* of struct alarm_tag *; not part of the stored definition. */
    struct bytes threshold_metric_id;  /* Refused: anomaly detection. */
    struct alarm_no_members *criteria; /* Refused: PromQL. */
    struct shape_integer evaluation_interval;
};

/* Shapes of requests. */
extern const struct shape alarm_definition_shape; /* PutMetricAlarm */
extern const struct shape alarm_name_shape;
extern const struct shape alarm_metric_name_shape;
extern const struct shape alarm_namespace_shape;
extern const struct shape alarm_statistic_shape;
extern const struct shape alarm_unit_shape;
extern const struct shape alarm_period_shape;
extern const struct shape alarm_dimensions_shape;
extern const struct shape alarm_tags_shape;
extern const struct shape alarm_any_string_shape;

/* The rules between members, for a definition that its shape accepts. False with CloudWatch's
 * exception. `account_id` NULL: not compared. */
MUST_CHECK bool alarm_definition_check(const struct alarm_definition *definition,
                                       const char *account_id, struct error *err);
/* No key twice, none reserved, not too many. */
MUST_CHECK bool alarm_tags_check(const struct shape_list *tags, struct error *err);

/* Which tags a request adds or replaces, and which keys it removes. */
struct alarm_tags_change {
    const struct shape_list *added;   /* of struct alarm_tag *; NULL: none. */
    const struct shape_list *removed; /* of struct bytes; NULL: none. */
};
/* The tags behind the change, in the arena. */
struct shape_list alarm_tags_apply(struct arena *arena, const struct shape_list *tags,
                                   const struct alarm_tags_change *change);

/* An http or https URL, rather than an ARN. */
bool alarm_action_is_url(struct bytes action);
/* The ARN of a policy of Application Auto Scaling. */
bool alarm_action_is_scaling_policy(struct bytes action);
/* "arn:..." with all of its parts. */
bool alarm_action_is_arn(struct bytes action);
/* The actions of a state. */
const struct shape_list *alarm_actions_of(const struct alarm_definition *definition,
                                          enum alarm_state state);

/* All of these are of a definition that passed the check. */
void alarm_definition_rule(const struct alarm_definition *definition, struct alarm_rule *out);
/* The query whose result is compared; NULL: the alarm watches a metric. */
const struct alarm_query *alarm_definition_watched(const struct alarm_definition *definition);
int64_t alarm_definition_period_s(const struct alarm_definition *definition);
/* How often it is evaluated, in seconds. */
int64_t alarm_definition_pace_s(const struct alarm_definition *definition);

/* Writes the members into an open object. `lower`: names begin in lower case, as in the history's
 * data. */
void alarm_definition_write(struct json_writer *json, const struct alarm_definition *definition,
                            bool lower);
/* The member Metrics alone. */
void alarm_definition_write_metrics(struct json_writer *json,
                                    const struct alarm_definition *definition);
/* [{"Key":...,"Value":...}] */
void alarm_tags_write(struct json_writer *json, const struct shape_list *tags);

/* The stored form, and back: false for what encoding would not have written. */
struct bytes alarm_definition_encode(struct arena *arena,
                                     const struct alarm_definition *definition);
MUST_CHECK bool alarm_definition_decode(struct arena *arena, struct bytes text,
                                        struct alarm_definition *out);
struct bytes alarm_tags_encode(struct arena *arena, const struct shape_list *tags);
MUST_CHECK bool alarm_tags_decode(struct arena *arena, struct bytes text, struct shape_list *out);

#endif
