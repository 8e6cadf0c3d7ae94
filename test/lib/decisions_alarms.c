/* decisions_alarms.c -- who may see and change CloudWatch's alarms and dashboards: see decisions.h.
 */
#include "decisions.h"
#include <stddef.h>

/* clang-format off */

#define ALARM(name) "arn:aws:cloudwatch:eu-west-1:" ACCOUNT ":alarm:" name
#define DASHBOARD(name) "arn:aws:cloudwatch::" ACCOUNT ":dashboard/" name
#define MAY(action, resource)                                                                      \
    "{'Effect':'Allow','Action':'cloudwatch:" action "','Resource':'" resource "'}"
#define MAY_NOT(action, resource)                                                                  \
    ALL ",{'Effect':'Deny','Action':'cloudwatch:" action "','Resource':'" resource "'}"

/* About one resource; `end` is how it ends for those who may. */
#define ASKS_ABOUT(body, action, arn, other_arn, ...)                                              \
    { NOTHING, NULL, NULL, body, NO("cloudwatch:" action, arn) },                                  \
    { ALLOW_ON("*", "*"), NULL, NULL, body, NO("cloudwatch:" action, arn) },                       \
    { MAY(action, other_arn), NULL, NULL, body, NO("cloudwatch:" action, arn) },                   \
    { MAY("ListMetrics", "*"), NULL, NULL, body, NO("cloudwatch:" action, arn) },                  \
    { MAY(action, arn), NULL, NULL, body, __VA_ARGS__ },                                           \
    { MAY(action, "*"), NULL, NULL, body, __VA_ARGS__ },                                           \
    { ALL, NULL, NULL, body, __VA_ARGS__ },                                                        \
    { MAY_NOT(action, arn), NULL, NULL, body, DENIED("cloudwatch:" action, arn) },                 \
    { MAY_NOT(action, other_arn), NULL, NULL, body, __VA_ARGS__ }

#define ASKS_ALARMS(body, action)                                                                 \
    { NOTHING, NULL, NULL, body, NO("cloudwatch:" action, "*") },                                  \
    { ALLOW_ON("*", "*"), NULL, NULL, body, NO("cloudwatch:" action, "*") },                       \
    { MAY(action, ALARM("a")), NULL, NULL, body, NO("cloudwatch:" action, "*") },                  \
    { MAY(action, "*"), NULL, NULL, body, YES },                                                   \
    { ALL, NULL, NULL, body, YES },                                                                \
    { MAY_NOT(action, "*"), NULL, NULL, body, DENIED("cloudwatch:" action, "*") }

#define NO_ALARM FAILS(ERROR_CW_RESOURCE_NOT_FOUND)
#define NO_RESOURCE FAILS(ERROR_CW_NO_SUCH_RESOURCE)
#define METRIC                                                                                     \
    "'MetricName':'m','Namespace':'N','Statistic':'Sum','Period':60,'EvaluationPeriods':1,"        \
    "'Threshold':5,'ComparisonOperator':'GreaterThanThreshold'"
#define TAGGED_ALARM "{'AlarmName':'a','Tags':[{'Key':'k','Value':'v'}]," METRIC "}"

const struct decision decisions_put_metric_alarm[] = {
    ASKS_ABOUT("{'AlarmName':'a'," METRIC "}", "PutMetricAlarm", ALARM("a"), ALARM("b"), YES),
    { MAY("PutMetricAlarm", "*"), NULL, NULL, TAGGED_ALARM, NO("cloudwatch:TagResource", ALARM("a")) },
    { MAY("PutMetricAlarm", "*") "," MAY("TagResource", ALARM("a")), NULL, NULL, TAGGED_ALARM, YES },
    END
};
const struct decision decisions_put_composite_alarm[] = {
    ASKS_ABOUT("{'AlarmName':'a','AlarmRule':'ALARM(b)'}", "PutCompositeAlarm", ALARM("a"),
               ALARM("b"), INVALID),
    END
};
const struct decision decisions_set_alarm_state[] = {
    ASKS_ABOUT("{'AlarmName':'absent','StateValue':'OK','StateReason':'r'}", "SetAlarmState",
               ALARM("absent"), ALARM("b"), NO_ALARM),
    END
};
const struct decision decisions_delete_alarms[] = {
    ASKS_ABOUT("{'AlarmNames':['absent']}", "DeleteAlarms", ALARM("absent"), ALARM("b"), NO_ALARM),
    { MAY("DeleteAlarms", ALARM("absent")), NULL, NULL, "{'AlarmNames':['absent','b']}",
      NO("cloudwatch:DeleteAlarms", ALARM("b")) },
    END
};
const struct decision decisions_enable_alarm_actions[] = {
    ASKS_ABOUT("{'AlarmNames':['a']}", "EnableAlarmActions", ALARM("a"), ALARM("b"), YES), END
};
const struct decision decisions_disable_alarm_actions[] = {
    ASKS_ABOUT("{'AlarmNames':['a']}", "DisableAlarmActions", ALARM("a"), ALARM("b"), YES), END
};
const struct decision decisions_describe_alarms[] = {
    ASKS_ALARMS("{}", "DescribeAlarms"), END
};
const struct decision decisions_describe_alarms_for_metric[] = {
    ASKS_ALARMS("{'MetricName':'m','Namespace':'N'}", "DescribeAlarmsForMetric"), END
};
const struct decision decisions_describe_alarm_history[] = {
    ASKS_ALARMS("{}", "DescribeAlarmHistory"),
    ASKS_ABOUT("{'AlarmName':'a'}", "DescribeAlarmHistory", ALARM("a"), ALARM("b"), YES),
    END
};

#define BODY "'DashboardBody':'{\\\"widgets\\\":[]}'"

const struct decision decisions_put_dashboard[] = {
    ASKS_ABOUT("{'DashboardName':'d'," BODY "}", "PutDashboard", DASHBOARD("d"), DASHBOARD("e"),
               YES),
    { MAY("PutDashboard", "*"), NULL, NULL,
      "{'DashboardName':'d','Tags':[{'Key':'k','Value':'v'}]," BODY "}",
      NO("cloudwatch:TagResource", DASHBOARD("d")) },
    END
};
const struct decision decisions_get_dashboard[] = {
    ASKS_ABOUT("{'DashboardName':'absent'}", "GetDashboard", DASHBOARD("absent"), DASHBOARD("e"), NO_ALARM),
    END
};
const struct decision decisions_list_dashboards[] = {
    ASKS_ALARMS("{}", "ListDashboards"), END
};
const struct decision decisions_delete_dashboards[] = {
    ASKS_ABOUT("{'DashboardNames':['absent']}", "DeleteDashboards", DASHBOARD("absent"), DASHBOARD("e"),
               NO_ALARM),
    { MAY("DeleteDashboards", DASHBOARD("absent")), NULL, NULL, "{'DashboardNames':['absent','e']}",
      NO("cloudwatch:DeleteDashboards", DASHBOARD("e")) },
    END
};
const struct decision decisions_tag_monitor[] = {
    ASKS_ABOUT("{'ResourceARN':'" ALARM("absent") "','Tags':[{'Key':'k','Value':'v'}]}", "TagResource",
               ALARM("absent"), ALARM("b"), NO_RESOURCE),
    END
};
const struct decision decisions_untag_monitor[] = {
    ASKS_ABOUT("{'ResourceARN':'" DASHBOARD("absent") "','TagKeys':['k']}", "UntagResource",
               DASHBOARD("absent"), DASHBOARD("e"), NO_RESOURCE),
    END
};
const struct decision decisions_list_monitor_tags[] = {
    ASKS_ABOUT("{'ResourceARN':'" ALARM("absent") "'}", "ListTagsForResource", ALARM("absent"), ALARM("b"),
               NO_RESOURCE),
    END
};
