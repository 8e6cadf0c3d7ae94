/* insight_rules.h -- the rules of Contributor Insights by name, and their metrics.
 *
 * Names: model/insight_definition.h. There are as many as the setting `insight-rules` allows, so
 * they are looked for one by one. */
#ifndef STATOR_API_INSIGHT_INSIGHT_RULES_H
#define STATOR_API_INSIGHT_INSIGHT_RULES_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/insight_definition.h"

struct api_call;
struct key_report;
struct key_report_period;
struct table;

/* Calls `each` for every rule, in the order of tables, until it returns false. `name` lives in the
 * call's arena; the table is held during the call of `each` only. */
void insight_rules_each(struct api_call *call,
                        bool (*each)(void *context, const struct table *table,
                                     const struct insight_target *target, enum insight_rule rule,
                                     struct bytes name),
                        void *context);
/* Sets table, target and rule of a report; the call holds the table. False with CloudWatch's
 * exception set if there is no such rule. */
MUST_CHECK bool insight_rules_find(struct api_call *call, struct bytes name,
                                   struct key_report *report);

/* What CloudWatch can tell of a period. */
enum insight_metric {
    INSIGHT_UNIQUE_CONTRIBUTORS,
    INSIGHT_MAX_CONTRIBUTOR_VALUE,
    INSIGHT_SAMPLE_COUNT,
    INSIGHT_AVERAGE,
    INSIGHT_SUM,
    INSIGHT_MINIMUM,
    INSIGHT_MAXIMUM,
    INSIGHT_METRIC_COUNT,
};
const char *insight_rules_metric_name(enum insight_metric metric);
MUST_CHECK bool insight_rules_find_metric(struct bytes name, enum insight_metric *out);
double insight_rules_metric_value(enum insight_rule rule, const struct key_report_period *period,
                                  enum insight_metric metric);

#endif
