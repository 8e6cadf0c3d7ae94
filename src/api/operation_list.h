/* operation_list.h -- every operation there is, once: X(identifier, "Name").
 *
 * The name has the prefix of its service, "cloudwatch:ListMetrics", unless it is an operation of
 * DynamoDB, of its streams, or our own. Sorted by service, in the order of enum operation_service,
 * and then by name. op_<identifier> is defined in an op_*.c of the folder it belongs to. Whatever
 * must know all of them (the table that finds them, the test of access decisions) is generated from
 * this list, so an operation that is added here and nowhere else does not build.
 */
#ifndef STATOR_API_OPERATION_LIST_H
#define STATOR_API_OPERATION_LIST_H

#define OPERATION_LIST(X)                                                                          \
    X(batch_execute_statement, "BatchExecuteStatement")                                            \
    X(batch_get_item, "BatchGetItem")                                                              \
    X(batch_write_item, "BatchWriteItem")                                                          \
    X(cancel_bulk_operation, "CancelBulkOperation")                                                \
    X(create_backup, "CreateBackup")                                                               \
    X(create_table, "CreateTable")                                                                 \
    X(delete_backup, "DeleteBackup")                                                               \
    X(delete_item, "DeleteItem")                                                                   \
    X(delete_resource_policy, "DeleteResourcePolicy")                                              \
    X(delete_table, "DeleteTable")                                                                 \
    X(describe_backup, "DescribeBackup")                                                           \
    X(describe_bulk_operation, "DescribeBulkOperation")                                            \
    X(describe_continuous_backups, "DescribeContinuousBackups")                                    \
    X(describe_contributor_insights, "DescribeContributorInsights")                                \
    X(describe_endpoints, "DescribeEndpoints")                                                     \
    X(describe_export, "DescribeExport")                                                           \
    X(describe_import, "DescribeImport")                                                           \
    X(describe_kinesis_streaming_destination, "DescribeKinesisStreamingDestination")               \
    X(describe_limits, "DescribeLimits")                                                           \
    X(describe_table, "DescribeTable")                                                             \
    X(describe_time_to_live, "DescribeTimeToLive")                                                 \
    X(disable_kinesis_streaming_destination, "DisableKinesisStreamingDestination")                 \
    X(enable_kinesis_streaming_destination, "EnableKinesisStreamingDestination")                   \
    X(execute_statement, "ExecuteStatement")                                                       \
    X(execute_transaction, "ExecuteTransaction")                                                   \
    X(export_table_to_point_in_time, "ExportTableToPointInTime")                                   \
    X(get_item, "GetItem")                                                                         \
    X(get_resource_policy, "GetResourcePolicy")                                                    \
    X(import_table, "ImportTable")                                                                 \
    X(list_backups, "ListBackups")                                                                 \
    X(list_bulk_operations, "ListBulkOperations")                                                  \
    X(list_contributor_insights, "ListContributorInsights")                                        \
    X(list_exports, "ListExports")                                                                 \
    X(list_imports, "ListImports")                                                                 \
    X(list_tables, "ListTables")                                                                   \
    X(list_tags_of_resource, "ListTagsOfResource")                                                 \
    X(put_item, "PutItem")                                                                         \
    X(put_resource_policy, "PutResourcePolicy")                                                    \
    X(query, "Query")                                                                              \
    X(restore_table_from_backup, "RestoreTableFromBackup")                                         \
    X(restore_table_to_point_in_time, "RestoreTableToPointInTime")                                 \
    X(scan, "Scan")                                                                                \
    X(start_bulk_put_items, "StartBulkPutItems")                                                   \
    X(tag_resource, "TagResource")                                                                 \
    X(transact_get_items, "TransactGetItems")                                                      \
    X(transact_write_items, "TransactWriteItems")                                                  \
    X(untag_resource, "UntagResource")                                                             \
    X(update_continuous_backups, "UpdateContinuousBackups")                                        \
    X(update_contributor_insights, "UpdateContributorInsights")                                    \
    X(update_item, "UpdateItem")                                                                   \
    X(update_kinesis_streaming_destination, "UpdateKinesisStreamingDestination")                   \
    X(update_table, "UpdateTable")                                                                 \
    X(update_time_to_live, "UpdateTimeToLive")                                                     \
    X(describe_stream, "DescribeStream")                                                           \
    X(get_records, "GetRecords")                                                                   \
    X(get_shard_iterator, "GetShardIterator")                                                      \
    X(list_streams, "ListStreams")                                                                 \
    X(add_fault, "AddFault")                                                                       \
    X(add_trigger, "AddTrigger")                                                                   \
    X(check_access, "CheckAccess")                                                                 \
    X(check_model, "CheckModel")                                                                   \
    X(create_key, "CreateKey")                                                                     \
    X(create_session, "CreateSession")                                                             \
    X(delete_key, "DeleteKey")                                                                     \
    X(delete_key_policy, "DeleteKeyPolicy")                                                        \
    X(delete_model, "DeleteModel")                                                                 \
    X(get_advice, "GetAdvice")                                                                     \
    X(get_hot_keys, "GetHotKeys")                                                                  \
    X(get_item_history, "GetItemHistory")                                                          \
    X(get_key_policy, "GetKeyPolicy")                                                              \
    X(get_meters, "GetMeters")                                                                     \
    X(get_model, "GetModel")                                                                       \
    X(get_slow_requests, "GetSlowRequests")                                                        \
    X(list_faults, "ListFaults")                                                                   \
    X(list_jobs, "ListJobs")                                                                       \
    X(list_key_policies, "ListKeyPolicies")                                                        \
    X(list_keys, "ListKeys")                                                                       \
    X(list_triggers, "ListTriggers")                                                               \
    X(put_key_policy, "PutKeyPolicy")                                                              \
    X(put_model, "PutModel")                                                                       \
    X(remove_fault, "RemoveFault")                                                                 \
    X(remove_trigger, "RemoveTrigger")                                                             \
    X(scan_model, "ScanModel")                                                                     \
    X(update_key, "UpdateKey")                                                                     \
    X(delete_alarms, "cloudwatch:DeleteAlarms")                                                    \
    X(delete_dashboards, "cloudwatch:DeleteDashboards")                                            \
    X(describe_alarm_history, "cloudwatch:DescribeAlarmHistory")                                   \
    X(describe_alarms, "cloudwatch:DescribeAlarms")                                                \
    X(describe_alarms_for_metric, "cloudwatch:DescribeAlarmsForMetric")                            \
    X(describe_insight_rules, "cloudwatch:DescribeInsightRules")                                   \
    X(disable_alarm_actions, "cloudwatch:DisableAlarmActions")                                     \
    X(enable_alarm_actions, "cloudwatch:EnableAlarmActions")                                       \
    X(get_dashboard, "cloudwatch:GetDashboard")                                                    \
    X(get_insight_rule_report, "cloudwatch:GetInsightRuleReport")                                  \
    X(get_metric_data, "cloudwatch:GetMetricData")                                                 \
    X(get_metric_statistics, "cloudwatch:GetMetricStatistics")                                     \
    X(list_dashboards, "cloudwatch:ListDashboards")                                                \
    X(list_metrics, "cloudwatch:ListMetrics")                                                      \
    X(list_monitor_tags, "cloudwatch:ListTagsForResource")                                         \
    X(put_composite_alarm, "cloudwatch:PutCompositeAlarm")                                         \
    X(put_dashboard, "cloudwatch:PutDashboard")                                                    \
    X(put_metric_alarm, "cloudwatch:PutMetricAlarm")                                               \
    X(put_metric_data, "cloudwatch:PutMetricData")                                                 \
    X(set_alarm_state, "cloudwatch:SetAlarmState")                                                 \
    X(tag_monitor, "cloudwatch:TagResource")                                                       \
    X(untag_monitor, "cloudwatch:UntagResource")                                                   \
    X(get_caller_identity, "sts:GetCallerIdentity")                                                \
    X(scaling_delete_scaling_policy, "application-autoscaling:DeleteScalingPolicy")                \
    X(scaling_delete_scheduled_action, "application-autoscaling:DeleteScheduledAction")            \
    X(scaling_deregister_scalable_target, "application-autoscaling:DeregisterScalableTarget")      \
    X(scaling_describe_scalable_targets, "application-autoscaling:DescribeScalableTargets")        \
    X(scaling_describe_scaling_activities, "application-autoscaling:DescribeScalingActivities")    \
    X(scaling_describe_scaling_policies, "application-autoscaling:DescribeScalingPolicies")        \
    X(scaling_describe_scheduled_actions, "application-autoscaling:DescribeScheduledActions")      \
    X(scaling_list_tags_for_resource, "application-autoscaling:ListTagsForResource")               \
    X(scaling_put_scaling_policy, "application-autoscaling:PutScalingPolicy")                      \
    X(scaling_put_scheduled_action, "application-autoscaling:PutScheduledAction")                  \
    X(scaling_register_scalable_target, "application-autoscaling:RegisterScalableTarget")          \
    X(scaling_tag_resource, "application-autoscaling:TagResource")                                 \
    X(scaling_untag_resource, "application-autoscaling:UntagResource")

#endif
