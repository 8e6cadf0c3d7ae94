/* decisions_tables.c -- rows of the operations on whole tables, their tags, policies and settings.
 */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define OF(table) IN(table, "")
#define CREATE(table, more)                                                                        \
    "{'TableName':'" table "','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"\
    "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'" more "}"
#define ANY_POLICY "'{\\'Statement\\':{\\'Effect\\':\\'Deny\\',\\'Principal\\':\\'*\\',\\'Action\\':\\'dynamodb:N*g\\',\\'Resource\\':\\'*\\'}}'"
#define ALLOWING_POLICY "'{\\'Statement\\':{\\'Effect\\':\\'Allow\\',\\'Principal\\':{\\'AWS\\':\\'arn:aws:iam::123456789012:user/alice\\'},\\'Action\\':\\'*\\',\\'Resource\\':\\'*\\'}}'"

const struct decision decisions_create_table[] = {
    ASKS(CREATE("New", ""), "CreateTable", "New", YES),
    /* Which tables exist is told to those who may create them. */
    STRANGER(CREATE("Secret", ""), CREATE("Absent", ""), "CreateTable"),
    { ALL, NULL, NULL, CREATE("Tab", ""), FAILS(ERROR_RESOURCE_IN_USE) },
    { ONLY("CreateTable", "New"), NULL, NULL, CREATE("New", ",'Tags':[{'Key':'team','Value':'blue'}]"), NO("TagResource", "New") },
    { ONLY("CreateTable", "New") "," ONLY("TagResource", "New"), NULL, NULL, CREATE("New", ",'Tags':[{'Key':'team','Value':'blue'}]"), YES },
    { ALL_DENY("TagResource", "*"), NULL, NULL, CREATE("New", ",'Tags':[{'Key':'team','Value':'blue'}]"), DENIED("TagResource", "New") },
    { ONLY("CreateTable", "New"), NULL, NULL, CREATE("New", ",'ResourcePolicy':" ALLOWING_POLICY), NO("PutResourcePolicy", "New") },
    { ONLY("CreateTable", "New") "," ONLY("PutResourcePolicy", "New"), NULL, NULL, CREATE("New", ",'ResourcePolicy':" ALLOWING_POLICY), YES },
    { ALL_DENY("PutResourcePolicy", "*"), NULL, NULL, CREATE("New", ",'ResourcePolicy':" ALLOWING_POLICY), DENIED("PutResourcePolicy", "New") },
    { TAGGED("blue"), NULL, NULL, CREATE("New", ""), NO("CreateTable", "New") },
    END,
};

/* What one operation on a table asks for, there and not. */
#define TABLE_OPERATION(body, action)                                                              \
    ASKS(body("Tab"), action, "Tab", YES),                                                         \
    ASKS(body("Absent"), action, "Absent", NOT_FOUND),                                             \
    STRANGER(body("Secret"), body("Absent"), action),                                              \
    TABLE_POLICY(body("Tab"), action, "Tab", YES),                                                 \
    { TAGGED("blue"), NULL, NULL, body("Tab"), YES },                                              \
    { TAGGED("red"), NULL, NULL, body("Tab"), NO(action, "Tab") },                                 \
    { DENY_TAGGED("blue"), NULL, NULL, body("Tab"), DENIED(action, "Tab") }

const struct decision decisions_describe_table[] = {
    TABLE_OPERATION(OF, "DescribeTable"),
    { ONLY("DescribeTable", "Tab"), NULL, NULL, OF(ARN("Tab")), YES },
    { OWN, NULL, NULL, OF("Tab"), YES },
    { ALLOW_ON("Describe*", "*"), NULL, NULL, OF("Tab"), YES },
    { ALLOW_ON("DescribeTable", "*"), NULL, NULL, OF("Tab"), YES },
    { NOTHING, OF_RESOURCE("Deny", EVERYBODY, "*"), NULL, OF("Tab"), NO("DescribeTable", "Tab") },
    END,
};

#define UPDATE_TABLE(table) IN(table, ",'DeletionProtectionEnabled':false")
#define UPDATE_TABLE_WRONG(table) IN(table, ",'GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'Nope'}}]")

const struct decision decisions_update_table[] = {
    TABLE_OPERATION(UPDATE_TABLE, "UpdateTable"),
    STRANGER(UPDATE_TABLE_WRONG("Secret"), UPDATE_TABLE_WRONG("Absent"), "UpdateTable"),
    { ONLY("CreateTable", "*"), NULL, NULL, UPDATE_TABLE("Tab"), NO("UpdateTable", "Tab") },
    END,
};

const struct decision decisions_delete_table[] = {
    TABLE_OPERATION(OF, "DeleteTable"),
    { ALL_BUT_ACTION("Delete*"), NULL, NULL, OF("Tab"), NO("DeleteTable", "Tab") },
    { ALL_DENY("DeleteTable", "*"), NULL, NULL, OF("Tab"), DENIED("DeleteTable", "Tab") },
    END,
};

/* --- Global tables, of which there are none --- */

#define ASKS_ACCOUNT_AND_FAILS(body, action, code)                                                 \
    { NOTHING, NULL, NULL, body, NO(action, "*") },                                                \
    { ALLOW_ON(action, "*"), NULL, NULL, body, FAILS(code) },                                      \
    { ONLY(action, "*"), NULL, NULL, body, NO(action, "*") },                                      \
    { ALL_BUT_ACTION(action), NULL, NULL, body, NO(action, "*") },                                 \
    { ALL "," DENY_ON(action, "*"), NULL, NULL, body, DENIED(action, "*") }
#define GLOBAL(more) "{'GlobalTableName':'Tab'" more "}"

const struct decision decisions_create_global_table[] = {
    ASKS_ACCOUNT_AND_FAILS(GLOBAL(",'ReplicationGroup':[]"), "CreateGlobalTable", ERROR_VALIDATION), END,
};
const struct decision decisions_update_global_table[] = {
    ASKS_ACCOUNT_AND_FAILS(GLOBAL(",'ReplicaUpdates':[{'Delete':{'RegionName':'eu-west-1'}}]"), "UpdateGlobalTable", ERROR_GLOBAL_TABLE_NOT_FOUND), END,
};
const struct decision decisions_describe_global_table[] = {
    ASKS_ACCOUNT_AND_FAILS(GLOBAL(""), "DescribeGlobalTable", ERROR_GLOBAL_TABLE_NOT_FOUND), END,
};
const struct decision decisions_describe_global_table_settings[] = {
    ASKS_ACCOUNT_AND_FAILS(GLOBAL(""), "DescribeGlobalTableSettings", ERROR_GLOBAL_TABLE_NOT_FOUND), END,
};
const struct decision decisions_update_global_table_settings[] = {
    ASKS_ACCOUNT_AND_FAILS(GLOBAL(""), "UpdateGlobalTableSettings", ERROR_GLOBAL_TABLE_NOT_FOUND), END,
};
const struct decision decisions_list_global_tables[] = { ASKS_ACCOUNT("{}", "ListGlobalTables"), END };
/* What exists is not told, since no table has replicas. */
#define REPLICA_SCALING(action)                                                                    \
    ASKS(OF("Tab"), action, "Tab", NOT_FOUND), ASKS(OF("Absent"), action, "Absent", NOT_FOUND),    \
    STRANGER(OF("Secret"), OF("Absent"), action)
const struct decision decisions_describe_table_replica_auto_scaling[] = {
    REPLICA_SCALING("DescribeTableReplicaAutoScaling"), END,
};
const struct decision decisions_update_table_replica_auto_scaling[] = {
    REPLICA_SCALING("UpdateTableReplicaAutoScaling"), END,
};

const struct decision decisions_list_tables[] = { ASKS_ACCOUNT("{}", "ListTables"), END };
const struct decision decisions_describe_limits[] = { ASKS_ACCOUNT("{}", "DescribeLimits"), END };
/* Whatever policies say: it tells callers only who they are. */
const struct decision decisions_get_caller_identity[] = {
    { NOTHING, NULL, NULL, "{}", YES },
    { NOTHING, NULL, NULL, "{}", SHOWS(ALICE_ARN) },
    { ALL, NULL, NULL, "{}", HIDES(BOB_ARN) },
    { ALL, NULL, NULL, "{}", HIDES(":root") },
    { "{'Effect':'Deny','Action':'*','Resource':'*'}", NULL, NULL, "{}", YES },
    END,
};
const struct decision decisions_describe_endpoints[] = { ASKS_ACCOUNT("{}", "DescribeEndpoints"), END };
const struct decision decisions_list_contributor_insights[] = { ASKS_ACCOUNT("{}", "ListContributorInsights"), END };

/* --- Tags --- */

#define TAG(table) "{'ResourceArn':'" ARN(table) "','Tags':[{'Key':'k','Value':'v'}]}"
#define UNTAG(table) "{'ResourceArn':'" ARN(table) "','TagKeys':['k']}"
#define BY_ARN(resource) "{'ResourceArn':'" ARN(resource) "'}"

const struct decision decisions_tag_resource[] = { TABLE_OPERATION(TAG, "TagResource"), END };
const struct decision decisions_untag_resource[] = { TABLE_OPERATION(UNTAG, "UntagResource"), END };
const struct decision decisions_list_tags_of_resource[] = { TABLE_OPERATION(BY_ARN, "ListTagsOfResource"), END };

/* --- Resource policies --- */

#define PUT_POLICY(resource) "{'ResourceArn':'" ARN(resource) "','Policy':" ANY_POLICY ",'ConfirmRemoveSelfResourceAccess':true}"
#define NO_POLICY FAILS(ERROR_POLICY_NOT_FOUND)

const struct decision decisions_put_resource_policy[] = {
    TABLE_OPERATION(PUT_POLICY, "PutResourcePolicy"),
    ASKS(PUT_POLICY(STREAM), "PutResourcePolicy", STREAM, YES),
    STREAM_POLICY(PUT_POLICY(STREAM), "PutResourcePolicy"),
    { NOTHING, NULL, NULL, PUT_POLICY(SECRET_STREAM), NO("PutResourcePolicy", SECRET_STREAM) },
    { NOTHING, NULL, NULL, PUT_POLICY("Secret/stream/2020-01-01T00:00:00.000"), NO("PutResourcePolicy", "Secret/stream/2020-01-01T00:00:00.000") },
    { NOTHING, NULL, NULL, PUT_POLICY("Absent/stream/" LABEL), NO("PutResourcePolicy", "Absent/stream/" LABEL) },
    { ONLY("PutResourcePolicy", "Tab"), NULL, NULL, PUT_POLICY(STREAM), NO("PutResourcePolicy", STREAM) },
    { ONLY("PutResourcePolicy", STREAM), NULL, NULL, PUT_POLICY("Tab"), NO("PutResourcePolicy", "Tab") },
    END,
};

const struct decision decisions_get_resource_policy[] = {
    ASKS(BY_ARN("Tab"), "GetResourcePolicy", "Tab", NO_POLICY),
    ASKS(BY_ARN("Absent"), "GetResourcePolicy", "Absent", NOT_FOUND),
    TABLE_POLICY(BY_ARN("Tab"), "GetResourcePolicy", "Tab", YES),
    STRANGER(BY_ARN("Secret"), BY_ARN("Absent"), "GetResourcePolicy"),
    ASKS(BY_ARN(STREAM), "GetResourcePolicy", STREAM, NO_POLICY),
    STREAM_POLICY(BY_ARN(STREAM), "GetResourcePolicy"),
    { NOTHING, NULL, NULL, BY_ARN(SECRET_STREAM), NO("GetResourcePolicy", SECRET_STREAM) },
    { NOTHING, NULL, NULL, BY_ARN("Absent/stream/" LABEL), NO("GetResourcePolicy", "Absent/stream/" LABEL) },
    END,
};

const struct decision decisions_delete_resource_policy[] = {
    ASKS(BY_ARN("Tab"), "DeleteResourcePolicy", "Tab", YES),
    ASKS(BY_ARN("Absent"), "DeleteResourcePolicy", "Absent", NOT_FOUND),
    TABLE_POLICY(BY_ARN("Tab"), "DeleteResourcePolicy", "Tab", YES),
    STRANGER(BY_ARN("Secret"), BY_ARN("Absent"), "DeleteResourcePolicy"),
    ASKS(BY_ARN(STREAM), "DeleteResourcePolicy", STREAM, YES),
    STREAM_POLICY(BY_ARN(STREAM), "DeleteResourcePolicy"),
    /* Nobody gets rid of the denial that is meant for him. */
    { ALL, OF_RESOURCE("Deny", ALICE, "*"), NULL, BY_ARN("Tab"), DENIED_BY_RESOURCE("DeleteResourcePolicy", "Tab") },
    END,
};

/* --- Settings --- */

#define UPDATE_BACKUPS(table) IN(table, ",'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}")
#define ENABLE_INSIGHTS(table) "{'TableName':'" table "','ContributorInsightsAction':'ENABLE'}"
#define UPDATE_TTL(table) IN(table, ",'TimeToLiveSpecification':{'AttributeName':'t','Enabled':true}")
/* As TABLE_OPERATION, for those whose exception for a missing table is another. */
#define SETTING(body, action, absent)                                                              \
    ASKS(body("Tab"), action, "Tab", YES),                                                         \
    ASKS(body("Absent"), action, "Absent", absent),                                                \
    STRANGER(body("Secret"), body("Absent"), action),                                              \
    TABLE_POLICY(body("Tab"), action, "Tab", YES),                                                 \
    { TAGGED("red"), NULL, NULL, body("Tab"), NO(action, "Tab") }

const struct decision decisions_describe_continuous_backups[] = {
    SETTING(OF, "DescribeContinuousBackups", FAILS(ERROR_TABLE_NOT_FOUND)), END,
};
const struct decision decisions_update_continuous_backups[] = {
    SETTING(UPDATE_BACKUPS, "UpdateContinuousBackups", FAILS(ERROR_TABLE_NOT_FOUND)), END,
};
const struct decision decisions_describe_time_to_live[] = {
    SETTING(OF, "DescribeTimeToLive", NOT_FOUND), END,
};
const struct decision decisions_update_time_to_live[] = {
    SETTING(UPDATE_TTL, "UpdateTimeToLive", NOT_FOUND), END,
};
const struct decision decisions_update_contributor_insights[] = {
    SETTING(ENABLE_INSIGHTS, "UpdateContributorInsights", NOT_FOUND), END,
};
const struct decision decisions_describe_contributor_insights[] = {
    SETTING(OF, "DescribeContributorInsights", NOT_FOUND), END,
};

/* Keys are item data. */
#define ALLOW_OTHER(action, resource) "{'Effect':'Allow','Action':'" action "','Resource':'" resource "'}"
#define INSIGHT_RULE "arn:aws:cloudwatch:eu-west-1:" ACCOUNT ":insight-rule/rule"
#define REPORT "{'RuleName':'rule','StartTime':1,'EndTime':60,'Period':60}"

#define ASKS_STATOR(action)                                                                        \
    { NOTHING, NULL, NULL, "{}", NO(action, "*") },                                                \
    { ALLOW_ON("*", "*"), NULL, NULL, "{}", NO(action, "*") },                                     \
    { ALLOW_OTHER(action, "*"), NULL, NULL, "{}", YES }
const struct decision decisions_get_advice[] = { ASKS_STATOR("stator:GetAdvice"), END };
const struct decision decisions_describe_regions[] = { ASKS_STATOR("stator:DescribeRegions"), END };
const struct decision decisions_get_meters[] = { ASKS_STATOR("stator:GetMeters"), END };
const struct decision decisions_get_slow_requests[] = { ASKS_STATOR("stator:GetSlowRequests"), END };
#define CANCEL_JOB "{'JobId':'01700000000000-00000001'}"
const struct decision decisions_cancel_job[] = {
    { NOTHING, NULL, NULL, CANCEL_JOB, NO("stator:CancelJob", "*") },
    { ALLOW_ON("*", "*"), NULL, NULL, CANCEL_JOB, NO("stator:CancelJob", "*") },
    { ALLOW_OTHER("stator:CancelJob", "*"), NULL, NULL, CANCEL_JOB, NOT_FOUND },
    END,
};
const struct decision decisions_list_jobs[] = { ASKS_STATOR("stator:ListJobs"), END };
/* The world allows no faults, so that those who may ask learn just that. */
#define FAULT_OF(table) "{'TableName':'" table "','Fault':'Throttle'}"
#define ASKS_STATOR_OF_TABLE(body, action)                                                         \
    { NOTHING, NULL, NULL, body("Tab"), NO(action, "Tab") },                                       \
    { NOTHING, NULL, NULL, body("Absent"), NO(action, "Absent") },                                 \
    { ALLOW_ON("*", "*"), NULL, NULL, body("Tab"), NO(action, "Tab") },                            \
    { ALLOW_OTHER(action, ARN("Secret")), NULL, NULL, body("Tab"), NO(action, "Tab") },            \
    { ALLOW_OTHER(action, ARN("Tab")), NULL, NULL, body("Tab"), INVALID },                         \
    { ALLOW_OTHER(action, "*"), NULL, NULL, body("Absent"), INVALID }
const struct decision decisions_add_fault[] = {
    ASKS_STATOR_OF_TABLE(FAULT_OF, "stator:AddFault"), END,
};
const struct decision decisions_list_faults[] = {
    ASKS_STATOR_OF_TABLE(OF, "stator:ListFaults"),
    { NOTHING, NULL, NULL, "{}", NO("stator:ListFaults", "*") },
    { ALLOW_OTHER("stator:ListFaults", ARN("Tab")), NULL, NULL, "{}", NO("stator:ListFaults", "*") },
    { ALLOW_OTHER("stator:ListFaults", "*"), NULL, NULL, "{}", INVALID },
    END,
};
const struct decision decisions_remove_fault[] = {
    { NOTHING, NULL, NULL, "{'FaultId':'1'}", NO("stator:RemoveFault", "*") },
    { ALLOW_ON("*", "*"), NULL, NULL, "{'FaultId':'1'}", NO("stator:RemoveFault", "*") },
    { ALLOW_OTHER("stator:RemoveFault", ARN("Tab")), NULL, NULL, "{'FaultId':'1'}", NO("stator:RemoveFault", "*") },
    { ALLOW_OTHER("stator:RemoveFault", "*"), NULL, NULL, "{'FaultId':'1'}", INVALID },
    END,
};
const struct decision decisions_get_hot_keys[] = {
    { NOTHING, NULL, NULL, OF("Tab"), NO("stator:GetHotKeys", "Tab") },
    { NOTHING, NULL, NULL, OF("Absent"), NO("stator:GetHotKeys", "Absent") },
    { ALLOW_ON("*", "*"), NULL, NULL, OF("Tab"), NO("stator:GetHotKeys", "Tab") },
    { ALLOW_OTHER("stator:GetHotKeys", ARN("Secret")), NULL, NULL, OF("Tab"), NO("stator:GetHotKeys", "Tab") },
    { ALLOW_OTHER("stator:GetHotKeys", ARN("Tab")), NULL, NULL, OF("Tab"), NOT_FOUND },
    { ALLOW_OTHER("stator:GetHotKeys", "*"), NULL, NULL, OF("Absent"), NOT_FOUND },
    { ALL "," DENY_ON("*", "*"), NULL, NULL, OF("Tab"), NOT_FOUND },
    END,
};
#define ASKS_MODEL(body, action, end)                                                              \
    { NOTHING, NULL, NULL, body("Tab"), NO(action, "Tab") },                                       \
    { NOTHING, NULL, NULL, body("Absent"), NO(action, "Absent") },                                 \
    { ALLOW_ON("*", "*"), NULL, NULL, body("Tab"), NO(action, "Tab") },                            \
    { ALLOW_OTHER(action, ARN("Secret")), NULL, NULL, body("Tab"), NO(action, "Tab") },            \
    { ALLOW_OTHER(action, ARN("Tab")), NULL, NULL, body("Tab"), end },                             \
    { ALLOW_OTHER(action, "*"), NULL, NULL, body("Absent"), NOT_FOUND }
#define MODEL_OF(table)                                                                            \
    "{'TableName':'" table "','Mode':'OBSERVE','Model':'{\\'Entities\\':[{\\'Name\\':\\'E\\'}]}'}"
const struct decision decisions_put_model[] = { ASKS_MODEL(MODEL_OF, "stator:PutModel", YES), END };
#define A_MODEL "{'Model':'{\\'ModelName\\':\\'m\\',\\'DataModel\\':[]}'}"
const struct decision decisions_check_model[] = {
    { NOTHING, NULL, NULL, A_MODEL, NO("stator:CheckModel", "*") },
    { ALLOW_ON("*", "*"), NULL, NULL, A_MODEL, NO("stator:CheckModel", "*") },
    { ALLOW_OTHER("stator:CheckModel", "*"), NULL, NULL, A_MODEL, YES },
    END,
};
const struct decision decisions_get_model[] = { ASKS_MODEL(OF, "stator:GetModel", NOT_FOUND), END };
const struct decision decisions_delete_model[] = {
    ASKS_MODEL(OF, "stator:DeleteModel", NOT_FOUND), END,
};
const struct decision decisions_scan_model[] = {
    ASKS_MODEL(OF, "stator:ScanModel", NOT_FOUND), END,
};
#define HISTORY_OF(table, name) IN(table, ",'Key':" KEY(name))
#define HISTORY "stator:GetItemHistory"
#define OWN_HISTORY                                                                                \
    "{'Effect':'Allow','Action':'" HISTORY "','Resource':'*','Condition':{"                        \
    "'ForAllValues:StringEquals':{'dynamodb:LeadingKeys':['${aws:username}']}}}"
#define NAMES_HISTORY                                                                              \
    "{'Effect':'Allow','Action':'" HISTORY "','Resource':'*','Condition':{"                        \
    "'ForAllValues:StringEquals':{'dynamodb:Attributes':['pk','sk','name']},"                      \
    "'StringEquals':{'dynamodb:Select':'SPECIFIC_ATTRIBUTES'}}}"
#define NO_RECOVERY FAILS(ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE)
const struct decision decisions_get_item_history[] = {
    { NOTHING, NULL, NULL, HISTORY_OF("Tab", "alice"), NO(HISTORY, "Tab") },
    { NOTHING, NULL, NULL, HISTORY_OF("Absent", "alice"), NO(HISTORY, "Absent") },
    { ALLOW_ON("*", "*"), NULL, NULL, HISTORY_OF("Tab", "alice"), NO(HISTORY, "Tab") },
    { ALLOW_OTHER(HISTORY, ARN("Secret")), NULL, NULL, HISTORY_OF("Tab", "alice"), NO(HISTORY, "Tab") },
    { ALLOW_OTHER(HISTORY, ARN("Tab")), NULL, NULL, HISTORY_OF("Tab", "alice"), NO_RECOVERY },
    { ALLOW_OTHER(HISTORY, "*"), NULL, NULL, HISTORY_OF("Absent", "alice"), NOT_FOUND },
    /* Items of others, and attributes that are not to be seen. */
    { OWN_HISTORY, NULL, NULL, HISTORY_OF("Tab", "alice"), NO_RECOVERY },
    { OWN_HISTORY, NULL, NULL, HISTORY_OF("Tab", "bob"), NO(HISTORY, "Tab") },
    { NAMES_HISTORY, NULL, NULL, HISTORY_OF("Tab", "alice"), NO(HISTORY, "Tab") },
    END,
};
const struct decision decisions_get_insight_rule_report[] = {
    { NOTHING, NULL, NULL, REPORT, NO("cloudwatch:GetInsightRuleReport", INSIGHT_RULE) },
    { ALLOW_ON("*", "*"), NULL, NULL, REPORT, NO("cloudwatch:GetInsightRuleReport", INSIGHT_RULE) },
    { ALLOW_OTHER("cloudwatch:GetInsightRuleReport", INSIGHT_RULE), NULL, NULL, REPORT, FAILS(ERROR_CW_NO_SUCH_RESOURCE) },
    { ALLOW_OTHER("cloudwatch:GetInsightRuleReport", INSIGHT_RULE "s"), NULL, NULL, REPORT, NO("cloudwatch:GetInsightRuleReport", INSIGHT_RULE) },
    { ALL, NULL, NULL, "{}", FAILS(ERROR_CW_MISSING_PARAMETER) },
    END,
};
const struct decision decisions_describe_insight_rules[] = {
    { NOTHING, NULL, NULL, "{}", NO("cloudwatch:DescribeInsightRules", "*") },
    { ALLOW_ON("*", "*"), NULL, NULL, "{}", NO("cloudwatch:DescribeInsightRules", "*") },
    { ALLOW_OTHER("cloudwatch:DescribeInsightRules", "*"), NULL, NULL, "{}", YES },
    END,
};

const struct decision decisions_describe_kinesis_streaming_destination[] = {
    SETTING(OF, "DescribeKinesisStreamingDestination", NOT_FOUND), END,
};
#define TO_KINESIS(table) \
    IN(table, ",'StreamArn':'arn:aws:kinesis:us-east-1:000000000000:stream/s'")
#define PRECISELY(table) \
    IN(table, ",'StreamArn':'arn:aws:kinesis:us-east-1:000000000000:stream/s'," \
              "'UpdateKinesisStreamingConfiguration':" \
              "{'ApproximateCreationDateTimePrecision':'MICROSECOND'}")
/* As SETTING, for a table that has no destination to change. */
#define KINESIS_CHANGE(body, action) \
    ASKS(body("Tab"), action, "Tab", INVALID), \
    ASKS(body("Absent"), action, "Absent", NOT_FOUND), \
    STRANGER(body("Secret"), body("Absent"), action), \
    TABLE_POLICY(body("Tab"), action, "Tab", INVALID), \
    { TAGGED("red"), NULL, NULL, body("Tab"), NO(action, "Tab") }
const struct decision decisions_enable_kinesis_streaming_destination[] = {
    SETTING(TO_KINESIS, "EnableKinesisStreamingDestination", NOT_FOUND), END,
};
const struct decision decisions_disable_kinesis_streaming_destination[] = {
    KINESIS_CHANGE(TO_KINESIS, "DisableKinesisStreamingDestination"), END,
};
const struct decision decisions_update_kinesis_streaming_destination[] = {
    KINESIS_CHANGE(PRECISELY, "UpdateKinesisStreamingDestination"), END,
};
/* clang-format on */
