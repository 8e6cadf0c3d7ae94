/* decisions_scaling.c -- rows of the operations of Application Auto Scaling.
 *
 * Each asks for its own action on "*", those about tags on the target's ARN. Those that change what
 * happens to a table ask for dynamodb:UpdateTable on it as well, whether or not there is such a
 * table.
 */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define SCALING "application-autoscaling:"
#define MAY(action) "{'Effect':'Allow','Action':'" SCALING action "','Resource':'*'}"
#define MAY_NOT(action) "{'Effect':'Deny','Action':'" SCALING action "','Resource':'*'}"
#define ALL_BUT(action) "{'Effect':'Allow','NotAction':'" SCALING action "','Resource':'*'}"
#define OF(table, more) "{'ServiceNamespace':'dynamodb','ResourceId':'table/" table "','ScalableDimension':'dynamodb:table:ReadCapacityUnits'" more "}"

/* The action itself. */
#define ASKS_FOR(body, action, ...)                                                                \
    { NOTHING, NULL, NULL, body, NO(SCALING action, "*") },                                        \
    { ALLOW_ON("*", "*"), NULL, NULL, body, NO(SCALING action, "*") },                             \
    { ALL_BUT(action), NULL, NULL, body, NO(SCALING action, "*") },                                \
    { ALL "," MAY_NOT(action), NULL, NULL, body, DENIED(SCALING action, "*") },                    \
    { ALL, NULL, NULL, body, __VA_ARGS__ }
/* And the table that it is about. */
#define ASKS_FOR_TABLE(action, more, ...)                                                          \
    ASKS_FOR(OF("Tab", more), action, __VA_ARGS__),                                                \
    { MAY(action), NULL, NULL, OF("Tab", more), NO("UpdateTable", "Tab") },                        \
    { MAY(action), NULL, NULL, OF("Absent", more), NO("UpdateTable", "Absent") },                  \
    { MAY(action) "," ONLY("UpdateTable", "Tab"), NULL, NULL, OF("Tab", more), __VA_ARGS__ },      \
    { MAY(action) "," ONLY("UpdateTable", "Tab"), NULL, NULL, OF("Secret", more), NO("UpdateTable", "Secret") }, \
    { ALL "," DENY_ON("UpdateTable", ARN("Tab")), NULL, NULL, OF("Tab", more), DENIED("UpdateTable", "Tab") }

#define NO_TARGET FAILS(ERROR_SCALING_OBJECT_NOT_FOUND)
#define POLICY ",'PolicyName':'p','PolicyType':'TargetTrackingScaling','TargetTrackingScalingPolicyConfiguration':{'TargetValue':70,'PredefinedMetricSpecification':{'PredefinedMetricType':'DynamoDBReadCapacityUtilization'}}"
#define ACTION ",'ScheduledActionName':'s','Schedule':'rate(5 minutes)','ScalableTargetAction':{'MinCapacity':1}"

const struct decision decisions_scaling_register_scalable_target[] = {
    ASKS_FOR_TABLE("RegisterScalableTarget", ",'MinCapacity':1,'MaxCapacity':10", YES),
    { ALL, NULL, NULL, OF("Absent", ",'MinCapacity':1,'MaxCapacity':10"), FAILS(ERROR_SCALING_VALIDATION) },
    END,
};
const struct decision decisions_scaling_deregister_scalable_target[] = {
    ASKS_FOR_TABLE("DeregisterScalableTarget", "", NO_TARGET),
    { ALL, NULL, NULL, "{'ServiceNamespace':'dynamodb','ResourceId':'table/Scaled','ScalableDimension':'dynamodb:table:ReadCapacityUnits'}", NO_TARGET },
    END,
};
const struct decision decisions_scaling_put_scaling_policy[] = {
    ASKS_FOR_TABLE("PutScalingPolicy", POLICY, NO_TARGET),
    END,
};
const struct decision decisions_scaling_delete_scaling_policy[] = {
    ASKS_FOR_TABLE("DeleteScalingPolicy", ",'PolicyName':'p'", NO_TARGET),
    END,
};
const struct decision decisions_scaling_put_scheduled_action[] = {
    ASKS_FOR_TABLE("PutScheduledAction", ACTION, NO_TARGET),
    END,
};
const struct decision decisions_scaling_delete_scheduled_action[] = {
    ASKS_FOR_TABLE("DeleteScheduledAction", ",'ScheduledActionName':'s'", NO_TARGET),
    END,
};
const struct decision decisions_scaling_describe_scalable_targets[] = {
    ASKS_FOR("{'ServiceNamespace':'dynamodb'}", "DescribeScalableTargets", YES),
    END,
};
const struct decision decisions_scaling_describe_scaling_policies[] = {
    ASKS_FOR("{'ServiceNamespace':'dynamodb'}", "DescribeScalingPolicies", YES),
    END,
};
const struct decision decisions_scaling_describe_scheduled_actions[] = {
    ASKS_FOR("{'ServiceNamespace':'dynamodb'}", "DescribeScheduledActions", YES),
    END,
};
const struct decision decisions_scaling_describe_scaling_activities[] = {
    ASKS_FOR("{'ServiceNamespace':'dynamodb'}", "DescribeScalingActivities", YES),
    END,
};
#define TARGET_ARN "arn:aws:application-autoscaling:eu-west-1:" ACCOUNT ":scalable-target/0123"
#define NO_RESOURCE FAILS(ERROR_SCALING_RESOURCE_NOT_FOUND)
#define MAY_ON(action, arn) "{'Effect':'Allow','Action':'" SCALING action "','Resource':'" arn "'}"
#define ASKS_FOR_TARGET(body, action, ...)                                                         \
    { NOTHING, NULL, NULL, body, NO(SCALING action, TARGET_ARN) },                                 \
    { ALLOW_ON("*", "*"), NULL, NULL, body, NO(SCALING action, TARGET_ARN) },                      \
    { MAY_ON(action, TARGET_ARN "4"), NULL, NULL, body, NO(SCALING action, TARGET_ARN) },          \
    { ALL "," MAY_NOT(action), NULL, NULL, body, DENIED(SCALING action, TARGET_ARN) },             \
    { MAY_ON(action, TARGET_ARN), NULL, NULL, body, __VA_ARGS__ },                                 \
    { ALL, NULL, NULL, body, __VA_ARGS__ }
const struct decision decisions_scaling_tag_resource[] = {
    ASKS_FOR_TARGET("{'ResourceARN':'" TARGET_ARN "','Tags':{'a':'b'}}", "TagResource", NO_RESOURCE),
    END,
};
const struct decision decisions_scaling_untag_resource[] = {
    ASKS_FOR_TARGET("{'ResourceARN':'" TARGET_ARN "','TagKeys':['a']}", "UntagResource", NO_RESOURCE),
    END,
};
const struct decision decisions_scaling_list_tags_for_resource[] = {
    ASKS_FOR_TARGET("{'ResourceARN':'" TARGET_ARN "'}", "ListTagsForResource", NO_RESOURCE),
    END,
};
