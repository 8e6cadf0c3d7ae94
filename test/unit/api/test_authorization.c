/* test_authorization.c -- each operation asks for its action, on its resource, with all that it
 * touches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include "access_fixture.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "item_fixture.h"
#include "policy_fixture.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

/* --- Actions and resources --- */

struct asked {
    const char *body;
    const char *action;   /* Whether that is what the operation asks for, */
    const char *resource; /* and of this. */
};

static const struct asked asked_add_trigger[] = {
    { "{'TableName':'Tab','Url':'http://127.0.0.1:1/'}", "AddTrigger", ARN "Tab" },
    { "{'TableName':'Absent','Url':'http://127.0.0.1:1/'}", "AddTrigger", ARN "Absent" },
};
static const struct asked asked_batch_execute_statement[] = {
    { "{'Statements':[{'Statement':'SELECT * FROM Tab WHERE pk=~a~ AND sk=1'}]}", "PartiQLSelect",
      ARN "Tab" },
    { "{'Statements':[{'Statement':'SELECT * FROM Absent WHERE pk=~a~ AND sk=1'}]}",
      "PartiQLSelect", ARN "Absent" },
    { "{'Statements':[{'Statement':'DELETE FROM Tab WHERE pk=~a~ AND sk=1'}]}", "PartiQLDelete",
      ARN "Tab" },
    { "{'Statements':[{'Statement':'UPDATE Tab SET x=1 WHERE nokey=~a~'}]}", "PartiQLUpdate",
      ARN "Tab" },
    { "{'Statements':[{'Statement':'INSERT INTO Absent VALUE {~pk~:~a~}'}]}", "PartiQLInsert",
      ARN "Absent" },
};
static const struct asked asked_batch_get_item[] = {
    { "{'RequestItems':{'Tab':{'Keys':[" KEY("a") "]}}}", "BatchGetItem", ARN "Tab" },
    { "{'RequestItems':{'Absent':{'Keys':[" KEY("a") "]}}}", "BatchGetItem", ARN "Absent" },
};
static const struct asked asked_batch_write_item[] = {
    { "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" KEY("a") "}}]}}", "BatchWriteItem",
      ARN "Tab" },
    { "{'RequestItems':{'Absent':[{'PutRequest':{'Item':" KEY("a") "}}]}}", "BatchWriteItem",
      ARN "Absent" },
};
static const struct asked asked_create_backup[] = {
    { "{'TableName':'Tab','BackupName':'nightly'}", "CreateBackup", ARN "Tab" },
    { "{'TableName':'Absent','BackupName':'nightly'}", "CreateBackup", ARN "Absent" },
};
#define BACKUP_ARN ARN "Tab/backup/01700000000000-0123abcd"
static const struct asked asked_describe_backup[] = {
    { "{'BackupArn':'" BACKUP_ARN "'}", "DescribeBackup", BACKUP_ARN },
};
static const struct asked asked_delete_backup[] = {
    { "{'BackupArn':'" BACKUP_ARN "'}", "DeleteBackup", BACKUP_ARN },
};
static const struct asked asked_list_backups[] = {
    { "{}", "ListBackups", "*" },
};
static const struct asked asked_restore_table_from_backup[] = {
    { "{'BackupArn':'" BACKUP_ARN "','TargetTableName':'New'}", "RestoreTableFromBackup",
      BACKUP_ARN },
    { "{'BackupArn':'" BACKUP_ARN "','TargetTableName':'New'}", "BatchWriteItem", ARN "New" },
};
static const struct asked asked_restore_table_to_point_in_time[] = {
    { "{'SourceTableName':'Tab','TargetTableName':'New','UseLatestRestorableTime':true}",
      "RestoreTableToPointInTime", ARN "Tab" },
    { "{'SourceTableName':'Absent','TargetTableName':'New','UseLatestRestorableTime':true}",
      "RestoreTableToPointInTime", ARN "Absent" },
    { "{'SourceTableName':'Tab','TargetTableName':'New','UseLatestRestorableTime':true}",
      "UpdateItem", ARN "New" },
};
static const struct asked asked_create_table[] = {
    { "{'TableName':'New','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
      "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'}",
      "CreateTable", ARN "New" },
};
static const struct asked asked_delete_item[] = {
    { "{'TableName':'Tab','Key':" KEY("a") "}", "DeleteItem", ARN "Tab" },
};
static const struct asked asked_delete_resource_policy[] = {
    { "{'ResourceArn':'" STREAM_ARN "'}", "DeleteResourcePolicy", STREAM_ARN },
};
static const struct asked asked_delete_table[] = {
    { "{'TableName':'Absent'}", "DeleteTable", ARN "Absent" },
};
static const struct asked asked_describe_continuous_backups[] = {
    { "{'TableName':'Tab'}", "DescribeContinuousBackups", ARN "Tab" },
};
static const struct asked asked_describe_contributor_insights[] = {
    { "{'TableName':'Tab'}", "DescribeContributorInsights", ARN "Tab" },
};
static const struct asked asked_update_contributor_insights[] = {
    { "{'TableName':'Tab','ContributorInsightsAction':'DISABLE'}", "UpdateContributorInsights",
      ARN "Tab" },
};
static const struct asked asked_add_fault[] = {
    { "{'TableName':'Tab','Fault':'Throttle'}", "stator:AddFault", ARN "Tab" },
};
static const struct asked asked_list_faults[] = {
    { "{'TableName':'Tab'}", "stator:ListFaults", ARN "Tab" },
};
static const struct asked asked_remove_fault[] = {
    { "{'FaultId':'1'}", "stator:RemoveFault", "*" },
};
#define KEY_ID "'AccessKeyId':'AKIAABCDEFGHIJKLMNOP'"
static const struct asked asked_check_access[] = {
    { "{'Questions':[{'Action':'dynamodb:GetItem','Resource':'Tab'}]}", NULL, NULL },
    { "{" KEY_ID ",'Questions':[{'Action':'dynamodb:GetItem'}]}", "stator:CheckAccess", "*" },
};
static const struct asked asked_create_key[] = {
    { "{'UserName':'bob'}", "stator:CreateKey", "*" },
};
static const struct asked asked_create_session[] = {
    { "{" KEY_ID "}", "stator:CreateSession", "*" },
};
static const struct asked asked_delete_key[] = {
    { "{" KEY_ID "}", "stator:DeleteKey", "*" },
};
static const struct asked asked_delete_key_policy[] = {
    { "{" KEY_ID ",'PolicyName':'p'}", "stator:DeleteKeyPolicy", "*" },
};
static const struct asked asked_get_key_policy[] = {
    { "{" KEY_ID ",'PolicyName':'p'}", "stator:GetKeyPolicy", "*" },
};
static const struct asked asked_list_key_policies[] = {
    { "{" KEY_ID "}", "stator:ListKeyPolicies", "*" },
};
static const struct asked asked_list_keys[] = {
    { "{}", "stator:ListKeys", "*" },
};
static const struct asked asked_put_key_policy[] = {
    { "{" KEY_ID ",'PolicyName':'p','PolicyDocument':'{}'}", "stator:PutKeyPolicy", "*" },
};
static const struct asked asked_update_key[] = {
    { "{" KEY_ID ",'Status':'Active'}", "stator:UpdateKey", "*" },
};
static const struct asked asked_put_model[] = {
    { "{'TableName':'Tab','Mode':'OBSERVE','Model':'{}'}", "stator:PutModel", ARN "Tab" },
};
static const struct asked asked_check_model[] = {
    { "{'Model':'{}'}", "stator:CheckModel", "*" },
};
static const struct asked asked_get_model[] = {
    { "{'TableName':'Tab'}", "stator:GetModel", ARN "Tab" },
};
static const struct asked asked_delete_model[] = {
    { "{'TableName':'Tab'}", "stator:DeleteModel", ARN "Tab" },
};
static const struct asked asked_scan_model[] = {
    { "{'TableName':'Tab'}", "stator:ScanModel", ARN "Tab" },
};
static const struct asked asked_get_advice[] = {
    { "{}", "stator:GetAdvice", "*" },
};
static const struct asked asked_get_meters[] = {
    { "{}", "stator:GetMeters", "*" },
};
static const struct asked asked_cancel_job[] = {
    { "{'JobId':'01700000000000-00000001'}", "stator:CancelJob", "*" },
};
static const struct asked asked_list_jobs[] = {
    { "{}", "stator:ListJobs", "*" },
};
static const struct asked asked_describe_regions[] = {
    { "{}", "stator:DescribeRegions", "*" },
};
static const struct asked asked_get_slow_requests[] = {
    { "{}", "stator:GetSlowRequests", "*" },
};
static const struct asked asked_get_hot_keys[] = {
    { "{'TableName':'Tab'}", "stator:GetHotKeys", ARN "Tab" },
};
static const struct asked asked_get_item_history[] = {
    { "{'TableName':'Tab','Key':" KEY("a") "}", "stator:GetItemHistory", ARN "Tab" },
};
static const struct asked asked_get_insight_rule_report[] = {
    { "{'RuleName':'r'}", "cloudwatch:GetInsightRuleReport",
      "arn:aws:cloudwatch:eu-west-1:123456789012:insight-rule/r" },
};
static const struct asked asked_describe_insight_rules[] = {
    { "{}", "cloudwatch:DescribeInsightRules", "*" },
};
static const struct asked asked_describe_endpoints[] = {
    { "{}", "DescribeEndpoints", "*" },
};
static const struct asked asked_create_global_table[] = {
    { "{'GlobalTableName':'Tab','ReplicationGroup':[]}", "CreateGlobalTable", "*" },
};
static const struct asked asked_update_global_table[] = {
    { "{'GlobalTableName':'Tab','ReplicaUpdates':[]}", "UpdateGlobalTable", "*" },
};
static const struct asked asked_describe_global_table[] = {
    { "{'GlobalTableName':'Tab'}", "DescribeGlobalTable", "*" },
};
static const struct asked asked_describe_global_table_settings[] = {
    { "{'GlobalTableName':'Tab'}", "DescribeGlobalTableSettings", "*" },
};
static const struct asked asked_update_global_table_settings[] = {
    { "{'GlobalTableName':'Tab'}", "UpdateGlobalTableSettings", "*" },
};
static const struct asked asked_list_global_tables[] = {
    { "{}", "ListGlobalTables", "*" },
};
static const struct asked asked_describe_table_replica_auto_scaling[] = {
    { "{'TableName':'Tab'}", "DescribeTableReplicaAutoScaling", ARN "Tab" },
};
static const struct asked asked_update_table_replica_auto_scaling[] = {
    { "{'TableName':'Tab'}", "UpdateTableReplicaAutoScaling", ARN "Tab" },
};
static const struct asked asked_describe_limits[] = {
    { "{}", "DescribeLimits", "*" },
};
static const struct asked asked_describe_stream[] = {
    { "{'StreamArn':'" STREAM_ARN "'}", "DescribeStream", STREAM_ARN },
};
static const struct asked asked_describe_table[] = {
    { "{'TableName':'Tab'}", "DescribeTable", ARN "Tab" },
    { "{'TableName':'Absent'}", "DescribeTable", ARN "Absent" },
};
static const struct asked asked_describe_time_to_live[] = {
    { "{'TableName':'Tab'}", "DescribeTimeToLive", ARN "Tab" },
};
/* clang-format off */
static const struct asked asked_describe_kinesis_streaming_destination[] = {
    { "{'TableName':'Tab'}", "DescribeKinesisStreamingDestination", ARN "Tab" } };
#define TO_KINESIS(name, more) \
    { { "{'TableName':'Tab','StreamArn':'arn:aws:kinesis:us-east-1:0:stream/changes'" more "}", name, ARN "Tab" } }
static const struct asked asked_disable_kinesis_streaming_destination[] = TO_KINESIS("DisableKinesisStreamingDestination", "");
static const struct asked asked_enable_kinesis_streaming_destination[] = TO_KINESIS("EnableKinesisStreamingDestination", "");
static const struct asked asked_update_kinesis_streaming_destination[] = TO_KINESIS("UpdateKinesisStreamingDestination", ",'UpdateKinesisStreamingConfiguration':{'ApproximateCreationDateTimePrecision':'MICROSECOND'}");
/* clang-format on */
static const struct asked asked_explain_statement[] = {
    { STATEMENT("SELECT * FROM Tab WHERE pk=~a~"), "PartiQLSelect", ARN "Tab" },
    { STATEMENT("DELETE FROM Tab WHERE pk=~a~ AND sk=1"), "PartiQLDelete", ARN "Tab" },
    { "{'Scan':{'TableName':'Tab','IndexName':'Ind'}}", "Scan", ARN "Tab/index/Ind" },
    { "{'Query':{'TableName':'Absent','KeyConditionExpression':'pk=:p',"
      "'ExpressionAttributeValues':{':p':{'S':'a'}}}}",
      "Query", ARN "Absent" },
};
static const struct asked asked_execute_statement[] = {
    { STATEMENT("SELECT * FROM Tab WHERE pk=~a~"), "PartiQLSelect", ARN "Tab" },
    { STATEMENT("SELECT * FROM Tab.Ind WHERE g=~a~"), "PartiQLSelect", ARN "Tab/index/Ind" },
    { STATEMENT("INSERT INTO Tab VALUE {~pk~:~a~,~sk~:1}"), "PartiQLInsert", ARN "Tab" },
    { STATEMENT("UPDATE Tab SET x=1 WHERE pk=~a~ AND sk=1"), "PartiQLUpdate", ARN "Tab" },
    { STATEMENT("DELETE FROM Tab WHERE pk=~a~ AND sk=1"), "PartiQLDelete", ARN "Tab" },
    { STATEMENT("SELECT * FROM Absent WHERE pk=~a~"), "PartiQLSelect", ARN "Absent" },
    { STATEMENT("SELECT * FROM Tab.Absent WHERE g=~a~"), "PartiQLSelect", ARN "Tab/index/Absent" },
    { STATEMENT("INSERT INTO Absent VALUE {~pk~:~a~}"), "PartiQLInsert", ARN "Absent" },
    { STATEMENT("UPDATE Tab SET x=1 WHERE nokey=~a~"), "PartiQLUpdate", ARN "Tab" },
    { STATEMENT("SELECT * FROM Tab WHERE pk=1 ORDER BY nokey"), "PartiQLSelect", ARN "Tab" },
};
static const struct asked asked_execute_transaction[] = {
    { TRANSACTION("SELECT * FROM Tab WHERE pk=~a~ AND sk=1"), "PartiQLSelect", ARN "Tab" },
    { TRANSACTION("UPDATE Tab SET x=1 WHERE pk=~a~ AND sk=1"), "PartiQLUpdate", ARN "Tab" },
    { TRANSACTION("SELECT * FROM Absent WHERE pk=~a~"), "PartiQLSelect", ARN "Absent" },
    { TRANSACTION("SELECT * FROM Tab WHERE nokey=~a~"), "PartiQLSelect", ARN "Tab" },
    { TRANSACTION("DELETE FROM Tab WHERE nokey=~a~"), "PartiQLDelete", ARN "Tab" },
    { TRANSACTION("EXISTS(SELECT * FROM Tab WHERE pk=~a~ AND sk=1 AND x=1)"), "PartiQLSelect",
      ARN "Tab" },
};
static const struct asked asked_get_caller_identity[] = { { "{}", NULL, NULL } };
static const struct asked asked_get_item[] = {
    { "{'TableName':'Tab','Key':" KEY("a") "}", "GetItem", ARN "Tab" },
    { "{'TableName':'" ARN "Tab','Key':" KEY("a") "}", "GetItem", ARN "Tab" },
    { "{'TableName':'Absent','Key':" KEY("a") "}", "GetItem", ARN "Absent" },
};
static const struct asked asked_get_records[] = {
    { "{'ShardIterator':'@'}", "GetRecords", LIVE_STREAM_ARN },
};
static const struct asked asked_get_resource_policy[] = {
    { "{'ResourceArn':'" ARN "Tab'}", "GetResourcePolicy", ARN "Tab" },
};
static const struct asked asked_get_shard_iterator[] = {
    { "{'StreamArn':'" STREAM_ARN "','ShardId':'shardId-00000001763164800000-0000000001',"
      "'ShardIteratorType':'LATEST'}",
      "GetShardIterator", STREAM_ARN },
};
static const struct asked asked_list_contributor_insights[] = {
    { "{}", "ListContributorInsights", "*" },
};
static const struct asked asked_list_streams[] = {
    { "{'TableName':'Tab'}", "ListStreams", "*" },
};
static const struct asked asked_import_table[] = {
    { "{'ClientToken':'c','S3BucketSource':{'S3Bucket':'in'},'InputFormat':'CSV',"
      "'TableCreationParameters':{'TableName':'New','AttributeDefinitions':[{'AttributeName':'pk',"
      "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':"
      "'PAY_PER_REQUEST'}}",
      "ImportTable", ARN "New" },
};
static const struct asked asked_describe_import[] = {
    { "{'ImportArn':'" ARN "Tab/import/01700000000000-0123abcd'}", "DescribeImport",
      ARN "Tab/import/01700000000000-0123abcd" },
};
static const struct asked asked_list_imports[] = {
    { "{}", "ListImports", "*" },
};
static const struct asked asked_export_table_to_point_in_time[] = {
    { "{'TableArn':'" ARN "Tab','S3Bucket':'bkt'}", "ExportTableToPointInTime", ARN "Tab" },
    { "{'TableArn':'" ARN "Absent','S3Bucket':'bkt'}", "ExportTableToPointInTime", ARN "Absent" },
};
static const struct asked asked_describe_export[] = {
    { "{'ExportArn':'" ARN "Tab/export/01700000000000-0123abcd'}", "DescribeExport",
      ARN "Tab/export/01700000000000-0123abcd" },
};
static const struct asked asked_list_exports[] = {
    { "{}", "ListExports", "*" },
};
#define BULK_ARN ARN "Tab/bulk-operation/01700000000000-0123abcd"
static const struct asked asked_start_bulk_put_items[] = {
    { "{'TableName':'Tab','InputS3Configuration':{'S3Bucket':'in','InputFormat':'ION'},"
      "'OutputS3Configuration':{'S3Bucket':'out','OutputType':['ERROR']}}",
      "StartBulkPutItems", ARN "Tab" },
};
static const struct asked asked_describe_bulk_operation[] = {
    { "{'BulkOperationArn':'" BULK_ARN "'}", "DescribeBulkOperation", BULK_ARN },
};
static const struct asked asked_cancel_bulk_operation[] = {
    { "{'BulkOperationArn':'" BULK_ARN "'}", "CancelBulkOperation", BULK_ARN },
};
static const struct asked asked_list_bulk_operations[] = {
    { "{}", "ListBulkOperations", "*" },
};
static const struct asked asked_list_tables[] = {
    { "{}", "ListTables", "*" },
};
static const struct asked asked_list_tags_of_resource[] = {
    { "{'ResourceArn':'" ARN "Tab'}", "ListTagsOfResource", ARN "Tab" },
};
static const struct asked asked_list_triggers[] = {
    { "{}", "ListTriggers", "*" },
    { "{'TableName':'Tab'}", "ListTriggers", ARN "Tab" },
    { "{'TableName':'Absent'}", "ListTriggers", ARN "Absent" },
};
static const struct asked asked_replicate_settings[] = {
    { "{'TableName':'Tab','FromRegion':'eu-west-1','ToRegion':'eu-west-1','Definition':''}",
      "stator:ReplicateSettings", ARN "Tab" },
    { "{'TableName':'Absent','FromRegion':'eu-west-1','ToRegion':'eu-west-1','Definition':''}",
      "stator:ReplicateSettings", ARN "Absent" },
};
static const struct asked asked_write_data_for_replication[] = {
    { "{'TableName':'Tab','FromRegion':'eu-west-1','ToRegion':'eu-west-1','GroupId':'g','Session':'"
      "','Number':1,"
      "'Epoch':1,'SentTime':1,'ClosedTime':0,'LowTime':0,'Rows':[]}",
      "stator:WriteDataForReplication", ARN "Tab" },
    { "{'TableName':'Absent','FromRegion':'eu-west-1','ToRegion':'eu-west-1','GroupId':'g','"
      "Session':'','Number':1,"
      "'Epoch':1,'SentTime':1,'ClosedTime':0,'LowTime':0,'Rows':[]}",
      "stator:WriteDataForReplication", ARN "Absent" },
};
static const struct asked asked_put_item[] = {
    { "{'TableName':'Tab','Item':" KEY("a") "}", "PutItem", ARN "Tab" },
};
static const struct asked asked_put_resource_policy[] = {
    { "{'ResourceArn':'" ARN "Tab','Policy':'{\\'Statement\\':{\\'Effect\\':\\'Deny\\',"
      "\\'Principal\\':\\'*\\',\\'Action\\':\\'dynamodb:N*g\\',\\'Resource\\':\\'*\\'}}'}",
      "PutResourcePolicy", ARN "Tab" },
};
static const struct asked asked_query[] = {
    { "{'TableName':'Tab','KeyConditionExpression':'pk=:p','ExpressionAttributeValues':"
      "{':p':{'S':'a'}}}",
      "Query", ARN "Tab" },
    { "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g=:p',"
      "'ExpressionAttributeValues':{':p':{'S':'a'}}}",
      "Query", ARN "Tab/index/Ind" },
    { "{'TableName':'Absent','KeyConditionExpression':'pk=:p','ExpressionAttributeValues':{':p':{'"
      "S':'a'}}}",
      "Query", ARN "Absent" },
    { "{'TableName':'Tab','IndexName':'Absent','KeyConditionExpression':'pk=:p','"
      "ExpressionAttributeValues':{':p':{'S':'a'}}}",
      "Query", ARN "Tab/index/Absent" },
};
static const struct asked asked_remove_trigger[] = {
    { "{'UUID':'x'}", "RemoveTrigger", "*" },
};
static const struct asked asked_scan[] = {
    { "{'TableName':'Tab'}", "Scan", ARN "Tab" },
    { "{'TableName':'Tab','IndexName':'Ind'}", "Scan", ARN "Tab/index/Ind" },
    { "{'TableName':'Tab','IndexName':'Absent'}", "Scan", ARN "Tab/index/Absent" },
};
static const struct asked asked_tag_resource[] = {
    { "{'Tags':[{'Key':'k','Value':'v'}]}", "TagResource", ARN "" },
    { "{'ResourceArn':'" ARN "Tab','Tags':[{'Key':'k','Value':'v'}]}", "TagResource", ARN "Tab" },
};
static const struct asked asked_transact_get_items[] = {
    { "{'TransactItems':[{'Get':{'TableName':'Tab','Key':" KEY("a") "}}]}", "GetItem", ARN "Tab" },
    { "{'TransactItems':[{'Get':{'TableName':'Absent','Key':" KEY("a") "}}]}", "GetItem",
      ARN "Absent" },
};
static const struct asked asked_transact_write_items[] = {
    { "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" KEY("a") "}}]}", "PutItem", ARN "Tab" },
    { "{'TransactItems':[{'Update':{'TableName':'Tab','Key':" KEY(
          "a") ",'UpdateExpression':'SET x=:x','ExpressionAttributeValues':{':x':{'S':'x'}}}}]}",
      "UpdateItem", ARN "Tab" },
    { "{'TransactItems':[{'Delete':{'TableName':'Tab','Key':" KEY("a") "}}]}", "DeleteItem",
      ARN "Tab" },
    { "{'TransactItems':[{'ConditionCheck':{'TableName':'Tab','Key':" KEY(
          "a") ",'ConditionExpression':'attribute_exists(pk)'}}]}",
      "ConditionCheckItem", ARN "Tab" },
    { "{'TransactItems':[{'Put':{'TableName':'Absent','Item':" KEY("a") "}}]}", "PutItem",
      ARN "Absent" },
};
static const struct asked asked_untag_resource[] = {
    { "{'ResourceArn':'" ARN "Tab','TagKeys':['k']}", "UntagResource", ARN "Tab" },
};
static const struct asked asked_update_continuous_backups[] = {
    { "{'TableName':'Tab','PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}",
      "UpdateContinuousBackups", ARN "Tab" },
};
static const struct asked asked_update_item[] = {
    { "{'TableName':'Tab','Key':" KEY("a") "}", "UpdateItem", ARN "Tab" },
};
static const struct asked asked_update_table[] = {
    { "{'TableName':'Tab','DeletionProtectionEnabled':false}", "UpdateTable", ARN "Tab" },
};
static const struct asked asked_update_time_to_live[] = {
    { "{'TableName':'Tab','TimeToLiveSpecification':{'AttributeName':'t','Enabled':true}}",
      "UpdateTimeToLive", ARN "Tab" },
};

static const struct asked asked_get_metric_statistics[] = {
    { "{'Namespace':'App','MetricName':'m','StartTime':0,'EndTime':60,'Period':60,"
      "'Statistics':['Sum']}",
      "cloudwatch:GetMetricStatistics", "*" },
};
static const struct asked asked_get_metric_data[] = {
    { "{'StartTime':0,'EndTime':60,'MetricDataQueries':[{'Id':'e','Expression':'TIME_SERIES(1)'}]}",
      "cloudwatch:GetMetricData", "*" },
};
static const struct asked asked_list_metrics[] = { { "{}", "cloudwatch:ListMetrics", "*" } };
static const struct asked asked_put_metric_data[] = {
    { "{'Namespace':'App','MetricData':[{'MetricName':'m','Value':1}]}", "cloudwatch:PutMetricData",
      "*" },
};

#define ALARM_A "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:a"
#define DASHBOARD_D "arn:aws:cloudwatch::123456789012:dashboard/d"
static const struct asked asked_delete_alarms[] = {
    { "{'AlarmNames':['a']}", "cloudwatch:DeleteAlarms", ALARM_A },
};
static const struct asked asked_delete_dashboards[] = {
    { "{'DashboardNames':['d']}", "cloudwatch:DeleteDashboards", DASHBOARD_D },
};
static const struct asked asked_describe_alarm_history[] = {
    { "{'AlarmName':'a'}", "cloudwatch:DescribeAlarmHistory", ALARM_A },
};
static const struct asked asked_describe_alarms[] = {
    { "{}", "cloudwatch:DescribeAlarms", "*" },
};
static const struct asked asked_describe_alarms_for_metric[] = {
    { "{'MetricName':'m','Namespace':'App'}", "cloudwatch:DescribeAlarmsForMetric", "*" },
};
static const struct asked asked_disable_alarm_actions[] = {
    { "{'AlarmNames':['a']}", "cloudwatch:DisableAlarmActions", ALARM_A },
};
static const struct asked asked_enable_alarm_actions[] = {
    { "{'AlarmNames':['a']}", "cloudwatch:EnableAlarmActions", ALARM_A },
};
static const struct asked asked_get_dashboard[] = {
    { "{'DashboardName':'d'}", "cloudwatch:GetDashboard", DASHBOARD_D },
};
static const struct asked asked_list_dashboards[] = {
    { "{}", "cloudwatch:ListDashboards", "*" },
};
static const struct asked asked_list_monitor_tags[] = {
    { "{'ResourceARN':'" ALARM_A "'}", "cloudwatch:ListTagsForResource", ALARM_A },
};
static const struct asked asked_put_composite_alarm[] = {
    { "{'AlarmName':'a'}", "cloudwatch:PutCompositeAlarm", ALARM_A },
};
static const struct asked asked_put_dashboard[] = {
    { "{'DashboardName':'d','DashboardBody':'{}'}", "cloudwatch:PutDashboard", DASHBOARD_D },
};
static const struct asked asked_put_metric_alarm[] = {
    { "{'AlarmName':'a','EvaluationPeriods':1,'ComparisonOperator':'LessThanThreshold'}",
      "cloudwatch:PutMetricAlarm", ALARM_A },
};
static const struct asked asked_set_alarm_state[] = {
    { "{'AlarmName':'a','StateValue':'OK','StateReason':''}", "cloudwatch:SetAlarmState", ALARM_A },
};
static const struct asked asked_tag_monitor[] = {
    { "{'ResourceARN':'" ALARM_A "','Tags':[]}", "cloudwatch:TagResource", ALARM_A },
};
static const struct asked asked_untag_monitor[] = {
    { "{'ResourceARN':'" ALARM_A "','TagKeys':[]}", "cloudwatch:UntagResource", ALARM_A },
};
#include "authorization_deployments.h"
static const struct asked asked_scaling_delete_scaling_policy[] = {
    { "{'ServiceNamespace':'dynamodb','ResourceId':'table/"
      "Tab','ScalableDimension':'dynamodb:table:ReadCapacityUnits','PolicyName':'p'}",
      "application-autoscaling:DeleteScalingPolicy", "*" }
};
static const struct asked asked_scaling_delete_scheduled_action[] = {
    { "{'ServiceNamespace':'dynamodb','ResourceId':'table/"
      "Tab','ScalableDimension':'dynamodb:table:ReadCapacityUnits','ScheduledActionName':'s'}",
      "application-autoscaling:DeleteScheduledAction", "*" }
};
static const struct asked asked_scaling_deregister_scalable_target[] = {
    { "{'ServiceNamespace':'dynamodb','ResourceId':'table/"
      "Tab','ScalableDimension':'dynamodb:table:ReadCapacityUnits'}",
      "application-autoscaling:DeregisterScalableTarget", "*" }
};
static const struct asked asked_scaling_describe_scalable_targets[] = {
    { "{'ServiceNamespace':'dynamodb'}", "application-autoscaling:DescribeScalableTargets", "*" }
};
static const struct asked asked_scaling_describe_scaling_activities[] = {
    { "{'ServiceNamespace':'dynamodb'}", "application-autoscaling:DescribeScalingActivities", "*" }
};
static const struct asked asked_scaling_describe_scaling_policies[] = {
    { "{'ServiceNamespace':'dynamodb'}", "application-autoscaling:DescribeScalingPolicies", "*" }
};
static const struct asked asked_scaling_describe_scheduled_actions[] = {
    { "{'ServiceNamespace':'dynamodb'}", "application-autoscaling:DescribeScheduledActions", "*" }
};
static const struct asked asked_scaling_list_tags_for_resource[] = {
    { "{'ResourceARN':'arn:aws:application-autoscaling:eu-west-1:123456789012:scalable-target/0'}",
      "application-autoscaling:ListTagsForResource",
      "arn:aws:application-autoscaling:eu-west-1:123456789012:scalable-target/0" }
};
static const struct asked asked_scaling_put_scaling_policy[] = {
    { "{'ServiceNamespace':'dynamodb','ResourceId':'table/"
      "Tab','ScalableDimension':'dynamodb:table:ReadCapacityUnits','PolicyName':'p','"
      "TargetTrackingScalingPolicyConfiguration':{'TargetValue':70,'PredefinedMetricSpecification':"
      "{'PredefinedMetricType':'DynamoDBReadCapacityUtilization'}}}",
      "application-autoscaling:PutScalingPolicy", "*" }
};
static const struct asked asked_scaling_put_scheduled_action[] = {
    { "{'ServiceNamespace':'dynamodb','ResourceId':'table/"
      "Tab','ScalableDimension':'dynamodb:table:ReadCapacityUnits','ScheduledActionName':'s','"
      "Schedule':'rate(1 day)','ScalableTargetAction':{'MinCapacity':1}}",
      "application-autoscaling:PutScheduledAction", "*" }
};
static const struct asked asked_scaling_register_scalable_target[] = {
    { "{'ServiceNamespace':'dynamodb','ResourceId':'table/"
      "Tab','ScalableDimension':'dynamodb:table:ReadCapacityUnits','MinCapacity':1,'MaxCapacity':"
      "2}",
      "application-autoscaling:RegisterScalableTarget", "*" }
};
static const struct asked asked_scaling_tag_resource[] = {
    { "{'ResourceARN':'arn:aws:application-autoscaling:eu-west-1:123456789012:scalable-target/"
      "0','Tags':{'a':'b'}}",
      "application-autoscaling:TagResource",
      "arn:aws:application-autoscaling:eu-west-1:123456789012:scalable-target/0" }
};
static const struct asked asked_scaling_untag_resource[] = {
    { "{'ResourceARN':'arn:aws:application-autoscaling:eu-west-1:123456789012:scalable-target/"
      "0','TagKeys':['a']}",
      "application-autoscaling:UntagResource",
      "arn:aws:application-autoscaling:eu-west-1:123456789012:scalable-target/0" }
};

/* An operation of operation_list.h that has no rows above does not compile. */
#define ASKED_OF(identifier, name) { name, asked_##identifier, COUNT_OF(asked_##identifier) },
static const struct {
    const char *operation;
    const struct asked *rows;
    size_t count;
} asked[] = { OPERATION_LIST(ASKED_OF) };

static void check_asked(struct access_fixture *fixture, const char *operation,
                        const struct asked *row)
{
    char statements[1000];
    char message[1000];
    const char *prefix = strchr(row->action, ':') == NULL ? "dynamodb:" : "";
    /* All but that action on that resource: refused, and told what was missing. */
    snprintf(statements, sizeof statements, "{'Effect':'Allow','NotAction':'%s%s','Resource':'*'}",
             prefix, row->action);
    access_fixture_use(fixture, statements);
    snprintf(message, sizeof message,
             "User: " USER " is not authorized to perform: %s%s on resource: %s because "
             "no identity-based policy allows the %s%s action",
             prefix, row->action, row->resource, prefix, row->action);
    if (access_fixture_passes(fixture, operation, row->body) ||
        !access_fixture_is_refused_with(fixture, message))
        fail_msg("%s %s\n got: %.*s %.*s\nwant: %s", operation, row->body,
                 BYTES_FMT(fixture->api.error.message), BYTES_FMT(fixture->api.response), message);
    /* Just that action on that resource: let through. A trigger also reads the stream, a scaling
     * policy also updates the table; exports and imports also use buckets, and a restore also fills
     * its own table. */
    bool scales = strncmp(operation, "application-autoscaling:", 24) == 0;
    bool restores = strncmp(operation, "RestoreTable", 12) == 0;
    snprintf(statements, sizeof statements,
             "{'Effect':'Allow','Action':'%s%s','Resource':'%s'},"
             "{'Effect':'Allow','Action':['dynamodb:DescribeStream','dynamodb:GetShardIterator',"
             "'dynamodb:GetRecords'],'Resource':'%s'},"
             "{'Effect':'Allow','Action':'dynamodb:UpdateTable','Resource':'%s'},"
             "{'Effect':'Allow','Action':'s3:*','Resource':'*'},"
             "{'Effect':'Allow','Action':'dynamodb:*','Resource':'%s'},"
             "{'Effect':'Allow','Action':'dynamodb:RestoreTable*','Resource':'%s'}",
             prefix, row->action, row->resource,
             strcmp(operation, "AddTrigger") == 0 ? LIVE_STREAM_ARN : ARN "Nothing",
             scales ? ARN "Tab" : ARN "Nothing", restores ? ARN "New" : ARN "Nothing",
             restores ? "*" : ARN "Nothing");
    access_fixture_use(fixture, statements);
    if (!access_fixture_passes(fixture, operation, row->body))
        fail_msg("%s %s: %.*s", operation, row->body, BYTES_FMT(fixture->api.error.message));
}

/* One that everybody may call. */
static void check_open(struct access_fixture *fixture, const char *operation,
                       const struct asked *row)
{
    access_fixture_use(fixture, "{'Effect':'Deny','Action':'*','Resource':'*'}");
    if (!access_fixture_passes(fixture, operation, row->body))
        fail_msg("%s %s: %.*s", operation, row->body, BYTES_FMT(fixture->api.error.message));
}

static void each_operation_asks_for_its_action_on_its_resource(void **state)
{
    struct access_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(asked); i++)
        for (size_t j = 0; j < asked[i].count; j++)
            (asked[i].rows[j].action == NULL ? check_open : check_asked)(
                fixture, asked[i].operation, &asked[i].rows[j]);
}

static void every_operation_says_who_may_call_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < operation_count(); i++)
        if (operation_at(i)->asks == OPERATION_ASKS_NOBODY)
            fail_msg("%s", operation_at(i)->name);
}

/* --- What requests touch --- */

#define OWN                                                                                        \
    "{'Effect':'Allow','Action':'*','Resource':'*','Condition':{'ForAllValues:StringEquals':"      \
    "{'dynamodb:LeadingKeys':['${aws:username}']}}}"
#define NAMES                                                                                      \
    "{'Effect':'Allow','Action':'*','Resource':'*','Condition':{'ForAllValues:StringEquals':"      \
    "{'dynamodb:Attributes':['pk','sk','g','name']},'StringEqualsIfExists':{'dynamodb:Select':"    \
    "'SPECIFIC_ATTRIBUTES','dynamodb:ReturnValues':['NONE','UPDATED_OLD']}}}"
#define IF(condition) "{'Effect':'Allow','Action':'*','Resource':'*','Condition':{" condition "}}"
#define ALICE KEY("alice")
#define BOB KEY("bob")
#define VALUES ",'ExpressionAttributeValues':{':v':{'S':'alice'}}"
#define ITEM(more) "{'pk':{'S':'alice'},'sk':{'N':'1'}" more "}"

static const struct {
    const char *policy;
    const char *operation;
    const char *body;
    bool allowed;
} touched[] = {
    { OWN, "GetItem", "{'TableName':'Tab','Key':" ALICE "}", true },
    { OWN, "GetItem", "{'TableName':'Tab','Key':" BOB "}", false },
    { OWN, "PutItem", "{'TableName':'Tab','Item':" ALICE "}", true },
    { OWN, "PutItem", "{'TableName':'Tab','Item':" BOB "}", false },
    { OWN, "UpdateItem", "{'TableName':'Tab','Key':" BOB "}", false },
    { OWN, "DeleteItem", "{'TableName':'Tab','Key':" BOB "}", false },
    { OWN, "Query", "{'TableName':'Tab','KeyConditionExpression':'pk=:v'" VALUES "}", true },
    { OWN, "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v','ExpressionAttributeValues':"
      "{':v':{'S':'bob'}}}",
      false },
    { OWN, "Query",
      "{'TableName':'Tab','KeyConditions':{'pk':{'ComparisonOperator':'EQ',"
      "'AttributeValueList':[{'S':'bob'}]}}}",
      false },
    { OWN, "Query",
      "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g=:v'" VALUES "}", true },
    { OWN, "Query",
      "{'TableName':'Tab','IndexName':'Ind','KeyConditionExpression':'g=:v',"
      "'ExpressionAttributeValues':{':v':{'S':'bob'}}}",
      false },
    { OWN, "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[" ALICE "]}}}", true },
    { OWN, "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[" ALICE "," BOB "]}}}", false },
    { OWN, "BatchWriteItem", "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" ALICE "}}]}}", true },
    { OWN, "BatchWriteItem",
      "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" ALICE "}},{'DeleteRequest':{'Key':" BOB
      "}}]}}",
      false },
    { OWN, "TransactGetItems",
      "{'TransactItems':[{'Get':{'TableName':'Tab','Key':" ALICE "}},"
      "{'Get':{'TableName':'Tab','Key':" BOB "}}]}",
      false },
    { OWN, "TransactWriteItems",
      "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" ALICE "}},"
      "{'ConditionCheck':{'TableName':'Tab','Key':" BOB
      ",'ConditionExpression':'attribute_exists(pk)'}}]}",
      false },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE ",'ProjectionExpression':'pk'}", true },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE ",'AttributesToGet':['name']}", true },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE "}", false },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE ",'ProjectionExpression':'pk,pay.x'}",
      false },
    { NAMES, "GetItem", "{'TableName':'Tab','Key':" ALICE ",'AttributesToGet':['pay']}", false },
    { NAMES, "PutItem", "{'TableName':'Tab','Item':" ITEM(",'name':{'S':'x'}") "}", true },
    { NAMES, "PutItem", "{'TableName':'Tab','Item':" ITEM(",'pay':{'S':'x'}") "}", false },
    { NAMES, "PutItem",
      "{'TableName':'Tab','Item':" ALICE ",'ConditionExpression':'attribute_exists(pay)'}", false },
    { NAMES, "PutItem", "{'TableName':'Tab','Item':" ALICE ",'Expected':{'pay':{'Exists':false}}}",
      false },
    { NAMES, "PutItem", "{'TableName':'Tab','Item':" ALICE ",'ReturnValues':'ALL_OLD'}", false },
    { NAMES, "UpdateItem",
      "{'TableName':'Tab','Key':" ALICE ",'UpdateExpression':'SET #n=:v',"
      "'ExpressionAttributeNames':{'#n':'name'}" VALUES "}",
      true },
    { NAMES, "UpdateItem",
      "{'TableName':'Tab','Key':" ALICE ",'UpdateExpression':'SET pay=:v'" VALUES "}", false },
    { NAMES, "UpdateItem",
      "{'TableName':'Tab','Key':" ALICE ",'UpdateExpression':'SET g=if_not_exists(pay, :v)'" VALUES
      "}",
      false },
    { NAMES, "UpdateItem", "{'TableName':'Tab','Key':" ALICE ",'UpdateExpression':'REMOVE pay'}",
      false },
    { NAMES, "UpdateItem",
      "{'TableName':'Tab','Key':" ALICE ",'AttributeUpdates':{'pay':{'Action':'DELETE'}}}", false },
    { NAMES, "DeleteItem",
      "{'TableName':'Tab','Key':" ALICE ",'ConditionExpression':'size(pay) > :v',"
      "'ExpressionAttributeValues':{':v':{'N':'1'}}}",
      false },
    { NAMES, "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v','ProjectionExpression':'pk'" VALUES "}",
      true },
    { NAMES, "Query", "{'TableName':'Tab','KeyConditionExpression':'pk=:v'" VALUES "}", false },
    { NAMES, "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v','ProjectionExpression':'pk',"
      "'FilterExpression':'pay=:v'" VALUES "}",
      false },
    { NAMES, "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v','Select':'COUNT'" VALUES "}", false },
    { NAMES, "Scan", "{'TableName':'Tab','ProjectionExpression':'pay'}", false },
    { NAMES, "Scan", "{'TableName':'Tab','AttributesToGet':['pk']}", true },
    { NAMES, "Scan",
      "{'TableName':'Tab','AttributesToGet':['pk'],'ScanFilter':{'pay':{'ComparisonOperator':"
      "'NOT_NULL'}}}",
      false },
    { NAMES, "BatchGetItem",
      "{'RequestItems':{'Tab':{'Keys':[" ALICE "],'ProjectionExpression':'pay'}}}", false },
    { NAMES, "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[" ALICE "]}}}", false },
    { NAMES, "BatchWriteItem",
      "{'RequestItems':{'Tab':[{'PutRequest':{'Item':" ITEM(",'pay':{'S':'x'}") "}}]}}", false },
    { NAMES, "TransactGetItems",
      "{'TransactItems':[{'Get':{'TableName':'Tab','Key':" ALICE
      ",'ProjectionExpression':'pay'}}]}",
      false },
    { NAMES, "TransactWriteItems",
      "{'TransactItems':[{'Update':{'TableName':'Tab','Key':" ALICE
      ",'UpdateExpression':'SET pay=:v'" VALUES "}}]}",
      false },
    { NAMES, "TransactWriteItems",
      "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" ALICE
      ",'ConditionExpression':'attribute_exists(pk)','ReturnValuesOnConditionCheckFailure':"
      "'ALL_OLD'}}]}",
      false },
    { OWN, "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk=~alice~"), true },
    { OWN, "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk=~bob~"), false },
    { OWN, "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk IN [~alice~,~bob~]"), false },
    { OWN, "ExecuteStatement", STATEMENT("SELECT * FROM Tab.Ind WHERE g=~bob~"), false },
    { OWN, "ExecuteStatement", STATEMENT("INSERT INTO Tab VALUE {~pk~:~bob~,~sk~:7}"), false },
    { OWN, "ExecuteStatement", STATEMENT("UPDATE Tab SET x=1 WHERE pk=~bob~ AND sk=1"), false },
    { OWN, "ExecuteStatement", STATEMENT("DELETE FROM Tab WHERE pk=~bob~ AND sk=1"), false },
    { OWN, "ExecuteTransaction", TRANSACTION("SELECT * FROM Tab WHERE pk=~bob~ AND sk=1"), false },
    { OWN, "ExecuteTransaction", TRANSACTION("DELETE FROM Tab WHERE pk=~bob~ AND sk=1"), false },
    { NAMES, "ExecuteStatement", STATEMENT("SELECT pk FROM Tab WHERE pk=~alice~"), true },
    { NAMES, "ExecuteStatement", STATEMENT("SELECT pay FROM Tab WHERE pk=~alice~"), false },
    { NAMES, "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk=~alice~"), false },
    { NAMES, "ExecuteStatement", STATEMENT("SELECT pk FROM Tab WHERE pk=~alice~ AND pay=1"),
      false },
    { NAMES, "ExecuteStatement", STATEMENT("UPDATE Tab SET pay=1 WHERE pk=~alice~ AND sk=1"),
      false },
    { NAMES, "ExecuteStatement",
      STATEMENT("DELETE FROM Tab WHERE pk=~alice~ AND sk=1 RETURNING ALL OLD *"), false },
    { NAMES, "ExecuteTransaction", TRANSACTION("SELECT pay FROM Tab WHERE pk=~alice~ AND sk=1"),
      false },
    { IF("'Bool':{'dynamodb:FullTableScan':'false'}"), "ExecuteStatement",
      STATEMENT("SELECT * FROM Tab WHERE pay=1"), false },
    { IF("'Bool':{'dynamodb:FullTableScan':'false'}"), "ExecuteStatement",
      STATEMENT("SELECT * FROM Tab WHERE pk=~alice~"), true },
    { IF("'StringEquals':{'dynamodb:EnclosingOperation':'ExecuteTransaction'}"),
      "ExecuteTransaction", TRANSACTION("DELETE FROM Tab WHERE pk=~alice~ AND sk=1"), true },
    { IF("'Bool':{'dynamodb:FullTableScan':'false'}"), "Scan", "{'TableName':'Tab'}", false },
    { IF("'Bool':{'dynamodb:FullTableScan':'false'}"), "Query",
      "{'TableName':'Tab','KeyConditionExpression':'pk=:v'" VALUES "}", true },
    { IF("'StringEquals':{'dynamodb:EnclosingOperation':'TransactWriteItems'}"), "PutItem",
      "{'TableName':'Tab','Item':" ALICE "}", false },
    { IF("'StringEquals':{'dynamodb:EnclosingOperation':'TransactWriteItems'}"),
      "TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" ALICE "}}]}",
      true },
    { IF("'StringEquals':{'dynamodb:ReturnConsumedCapacity':'NONE'}"), "GetItem",
      "{'TableName':'Tab','Key':" ALICE "}", true },
    { IF("'StringEquals':{'dynamodb:ReturnConsumedCapacity':'NONE'}"), "GetItem",
      "{'TableName':'Tab','Key':" ALICE ",'ReturnConsumedCapacity':'TOTAL'}", false },
    { IF("'StringEquals':{'aws:ResourceTag/team':'blue'}"), "GetItem",
      "{'TableName':'Tab','Key':" ALICE "}", true },
    { IF("'StringEquals':{'aws:ResourceTag/team':'red'}"), "DescribeTable", "{'TableName':'Tab'}",
      false },
};

static void policies_see_all_keys_and_attributes_of_a_request(void **state)
{
    struct access_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(touched); i++) {
        access_fixture_use(fixture, touched[i].policy);
        if (access_fixture_passes(fixture, touched[i].operation, touched[i].body) !=
            touched[i].allowed)
            fail_msg("%zu: %s %s %.*s", i, touched[i].operation, touched[i].body,
                     BYTES_FMT(fixture->api.error.message));
    }
}

/* An iterator names its stream, and whoever has one may have lost its permission. */
static void records_are_asked_for_by_the_stream_of_their_iterator(void **state)
{
    struct access_fixture *fixture = *state;
    char statements[1000];
    static const char body[] = "{'ShardIterator':'@'}";
    snprintf(statements, sizeof statements,
             "{'Effect':'Allow','Action':'dynamodb:GetRecords','Resource':'%s'}",
             fixture->stream_arn);
    access_fixture_use(fixture, statements);
    assert_true(access_fixture_passes(fixture, "GetRecords", body));
    access_fixture_use(fixture, "{'Effect':'Allow','Action':'*','Resource':'" ARN "Tab'}");
    assert_false(access_fixture_passes(fixture, "GetRecords", body));
}

static void a_batch_of_statements_is_refused_one_by_one(void **state)
{
    struct access_fixture *fixture = *state;
    access_fixture_use(fixture, OWN);
    assert_true(api_fixture_call(
        &fixture->api, "BatchExecuteStatement",
        access_fixture_body(fixture,
                            "{'Statements':[{'Statement':'SELECT * FROM Tab WHERE pk=~alice~ AND "
                            "sk=1'},{'Statement':'SELECT * FROM Tab WHERE pk=~bob~ AND sk=1'}]}")));
    assert_true(api_fixture_shows(&fixture->api, "{'TableName':'Tab'},{"));
    assert_true(api_fixture_shows(&fixture->api, "'Code':'AccessDenied'"));
    assert_true(api_fixture_call(
        &fixture->api, "BatchExecuteStatement",
        access_fixture_body(fixture,
                            "{'Statements':[{'Statement':'INSERT INTO Tab VALUE {~pk~:~bob~,"
                            "~sk~:9}'}]}")));
    assert_true(api_fixture_shows(&fixture->api, "'Code':'AccessDenied'"));
    fixture->api.caller = NULL;
    api_fixture_expect(&fixture->api, "GetItem",
                       "{'TableName':'Tab','Key':{'pk':{'S':'bob'},'sk':{'N':'9'}}}", "{}");
}

/* --- Resource policies --- */

#define PUT_POLICY(statement)                                                                      \
    "{'ResourceArn':'" ARN "Tab','Policy':'{\\'Statement\\':" statement "}'}"

static void a_tables_policy_allows_and_denies(void **state)
{
    struct access_fixture *fixture = *state;
    static const char get[] = "{'TableName':'Tab','Key':" ALICE "}";
    access_fixture_use(fixture, ALLOW);
    assert_true(api_fixture_call(
        &fixture->api, "PutResourcePolicy",
        PUT_POLICY("{\\'Effect\\':\\'Allow\\',\\'Principal\\':{\\'AWS\\':\\'" USER
                   "\\'},\\'Action\\':\\'dynamodb:GetItem\\',\\'Resource\\':\\'*\\'}")));
    access_fixture_use(fixture, "{'Effect':'Allow','Action':'dynamodb:Nothing','Resource':'*'}");
    assert_true(access_fixture_passes(fixture, "GetItem", get));
    assert_false(access_fixture_passes(fixture, "DeleteItem", get));
    access_fixture_use(fixture, ALLOW);
    assert_true(
        api_fixture_call(&fixture->api, "PutResourcePolicy",
                         PUT_POLICY("{\\'Effect\\':\\'Deny\\',\\'Principal\\':\\'*\\',\\'Action\\':"
                                    "\\'dynamodb:GetItem\\',\\'Resource\\':\\'*\\'}")));
    api_fixture_expect_error(&fixture->api, "GetItem", get, ERROR_ACCESS_DENIED,
                             "User: " USER " is not authorized to perform: dynamodb:GetItem on "
                             "resource: " ARN
                             "Tab with an explicit deny in a resource-based policy");
}

static void a_tables_policy_that_cannot_be_enforced_is_refused_or_denies(void **state)
{
    struct access_fixture *fixture = *state;
    for (int enforced = 0; enforced < 2; enforced++) {
        access_fixture_use(fixture, ALLOW);
        if (!enforced)
            fixture->api.caller = NULL;
        api_fixture_expect_error(&fixture->api, "PutResourcePolicy", PUT_POLICY("{}"),
                                 ERROR_VALIDATION,
                                 "One or more parameter values were invalid: Invalid policy "
                                 "document: Missing required field Effect");
    }
    api_fixture_store_policy(&fixture->api, BYTES("Tab"), NULL, BYTES("{\"Statement\":{}}"));
    assert_false(access_fixture_passes(fixture, "GetItem", "{'TableName':'Tab','Key':" ALICE "}"));
    assert_true(access_fixture_passes(fixture, "ListTables", "{}"));
}

static void callers_shut_themselves_out_only_if_they_confirm_it(void **state)
{
#define LOCKING(more)                                                                              \
    "{'ResourceArn':'" ARN "Tab','Policy':'{\\'Statement\\':{\\'Effect\\':\\'Deny\\',"             \
    "\\'Principal\\':{\\'AWS\\':\\'" USER "\\'},\\'Action\\':\\'dynamodb:PutResourcePolicy\\',"    \
    "\\'Resource\\':\\'*\\'}}'" more "}"
    struct access_fixture *fixture = *state;
    access_fixture_use(fixture, ALLOW);
    api_fixture_expect_error(&fixture->api, "PutResourcePolicy", LOCKING(""), ERROR_ACCESS_DENIED,
                             "The new resource policy will not allow you to update the resource "
                             "policy in the future.");
    fixture->api.caller = NULL; /* It is about another user. */
    assert_true(api_fixture_call(&fixture->api, "PutResourcePolicy", LOCKING("")));
    assert_true(
        api_fixture_call(&fixture->api, "DeleteResourcePolicy", "{'ResourceArn':'" ARN "Tab'}"));
    access_fixture_use(fixture, ALLOW);
    static const char confirmed[] = LOCKING(",'ConfirmRemoveSelfResourceAccess':true");
    assert_true(api_fixture_call(&fixture->api, "PutResourcePolicy", confirmed));
    assert_false(access_fixture_passes(fixture, "PutResourcePolicy", confirmed));
}

static void a_new_tables_policy_and_tags_need_permissions_of_their_own(void **state)
{
#define CREATE(more)                                                                               \
    "{'TableName':'New','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"      \
    "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'" more   \
    "}"
    static const char self_allowing[] =
        CREATE(",'ResourcePolicy':'{\\'Statement\\':{\\'Effect\\':\\'Allow\\',\\'Principal\\':"
               "{\\'AWS\\':\\'" USER "\\'},\\'Action\\':\\'*\\',\\'Resource\\':\\'*\\'}}'");
    struct access_fixture *fixture = *state;
    access_fixture_use(fixture,
                       "{'Effect':'Allow','Action':'dynamodb:CreateTable','Resource':'*'}");
    assert_false(access_fixture_passes(fixture, "CreateTable", self_allowing));
    assert_false(access_fixture_passes(fixture, "CreateTable",
                                       CREATE(",'Tags':[{'Key':'team','Value':'blue'}]")));
    assert_true(access_fixture_passes(fixture, "CreateTable", CREATE("")));
}

static pthread_t ended_on;

static void note_thread(struct api_call *call)
{
    assert_int_equal(call->error.code, ERROR_ACCESS_DENIED);
    ended_on = pthread_self();
}

/* Whoever has no rights must not fill the queue of the control thread. */
static void control_operations_refuse_callers_before_they_are_queued(void **state)
{
    struct access_fixture *fixture = *state;
    access_fixture_use(fixture, "{'Effect':'Allow','Action':'dynamodb:GetItem','Resource':'*'}");
    for (size_t i = 0; i < operation_count(); i++) {
        const struct operation *operation = operation_at(i);
        struct bytes body =
            BYTES("{\"UUID\":\"00000000-0000-4000-8000-000000000000\",\"BackupArn\":\"" BACKUP_ARN
                  "\",\"SourceTableName\":\"Tab\",\"TargetTableName\":\"New\","
                  "\"UseLatestRestorableTime\":true,\"TableArn\":\"" ARN
                  "Tab\",\"S3Bucket\":\"bkt\"}"); /* What any of them needs. */
        if (operation->kind != OPERATION_CONTROL || operation->asks != OPERATION_ASKS_ITSELF)
            continue;
        if (operation->service == OPERATION_OF_SCALING)
            body = BYTES("{\"ResourceARN\":\"a\",\"Tags\":{\"a\":\"b\"},\"TagKeys\":[\"a\"]}");
        if (strcmp(operation->name, "ImportTable") == 0) /* Its shape asks for more. */
            body = item_fixture_text(fixture->arena, asked_import_table[0].body);
        if (strcmp(operation->name, "StartBulkPutItems") == 0)
            body = item_fixture_text(fixture->arena, asked_start_bulk_put_items[0].body);
        struct api_call call = { .arena = fixture->arena,
                                 .operation = operation,
                                 .body = body,
                                 .caller = &fixture->caller,
                                 .done = note_thread };
        ended_on = 0;
        api_run(fixture->api.api, &call);
        assert_true(pthread_equal(ended_on, pthread_self()));
    }
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, access_fixture_set_up, access_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_operation_asks_for_its_action_on_its_resource),
        TEST(every_operation_says_who_may_call_it),
        TEST(control_operations_refuse_callers_before_they_are_queued),
        TEST(policies_see_all_keys_and_attributes_of_a_request),
        TEST(a_batch_of_statements_is_refused_one_by_one),
        TEST(records_are_asked_for_by_the_stream_of_their_iterator),
        TEST(a_tables_policy_allows_and_denies),
        TEST(a_tables_policy_that_cannot_be_enforced_is_refused_or_denies),
        TEST(callers_shut_themselves_out_only_if_they_confirm_it),
        TEST(a_new_tables_policy_and_tags_need_permissions_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
