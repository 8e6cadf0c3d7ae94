/* decisions_metrics.c -- who may read and write CloudWatch's metrics: see decisions.h. */
#include "decisions.h"
#include <stddef.h>

/* clang-format off */

#define ALLOW_METRICS(action) "{'Effect':'Allow','Action':'cloudwatch:" action "','Resource':'*'}"
#define DENY_METRICS(action) ALL ",{'Effect':'Deny','Action':'cloudwatch:" action "','Resource':'*'}"

/* It is about no single resource, and rights of DynamoDB do not help. */
#define ASKS_METRICS(body, action)                                                                 \
    { NOTHING, NULL, NULL, body, NO("cloudwatch:" action, "*") },                                  \
    { ALLOW_ON("*", "*"), NULL, NULL, body, NO("cloudwatch:" action, "*") },                       \
    { ALLOW_METRICS(action), NULL, NULL, body, YES },                                              \
    { ALLOW_METRICS("*"), NULL, NULL, body, YES },                                                 \
    { ALL, NULL, NULL, body, YES },                                                                \
    { DENY_METRICS(action), NULL, NULL, body, DENIED("cloudwatch:" action, "*") }

#define WINDOW "'StartTime':1700000000,'EndTime':1700000060"

const struct decision decisions_list_metrics[] = {
    ASKS_METRICS("{}", "ListMetrics"), END
};
const struct decision decisions_get_metric_statistics[] = {
    ASKS_METRICS("{'Namespace':'App','MetricName':'m'," WINDOW ",'Period':60,'Statistics':['Sum']}",
                 "GetMetricStatistics"), END
};
const struct decision decisions_put_metric_data[] = {
    ASKS_METRICS("{'Namespace':'App','MetricData':[{'MetricName':'m','Value':1}]}",
                 "PutMetricData"), END
};
const struct decision decisions_get_metric_data[] = {
    ASKS_METRICS("{" WINDOW ",'MetricDataQueries':[{'Id':'e','Expression':'TIME_SERIES(1)'}]}",
                 "GetMetricData"), END
};
