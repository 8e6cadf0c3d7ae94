/* metric_insight.h -- INSIGHT_RULE_METRIC of metric math: a metric of a rule of Contributor
 * Insights as a time series. */
#ifndef STATOR_API_CLOUDWATCH_METRIC_INSIGHT_H
#define STATOR_API_CLOUDWATCH_METRIC_INSIGHT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct math_value;
struct metric_math_error;

enum {
    /* Reports of one request: each may go through a day of minutes. */
    METRIC_INSIGHT_REPORTS_MAX = 20,
};

struct metric_insight {
    struct api_call *call; /* Whose caller must be allowed to read the rule's report. */
    int64_t start_s;
    int64_t end_s;
    int64_t period_s;
    size_t report_count; /* So far. */
};

/* For struct metric_query_run; `context` is a struct metric_insight. */
bool metric_insight_read(void *context, struct bytes rule, struct bytes metric,
                         struct math_value *out, struct metric_math_error *err);

#endif
