/* property_shapes.c -- the properties that each type of resource has. See properties.h. */
#include "template/properties.h"

#define SHAPE(list)                                                                                \
    {                                                                                              \
        list, COUNT_OF(list)                                                                       \
    }
#define TEXT(name)                                                                                 \
    {                                                                                              \
        name, PROPERTY_TEXT, 0, NULL                                                               \
    }
#define INTEGER(name)                                                                              \
    {                                                                                              \
        name, PROPERTY_INTEGER, 0, NULL                                                            \
    }
#define NUMBER(name)                                                                               \
    {                                                                                              \
        name, PROPERTY_NUMBER, 0, NULL                                                             \
    }
#define BOOL(name)                                                                                 \
    {                                                                                              \
        name, PROPERTY_BOOL, 0, NULL                                                               \
    }
#define TEXTS(name)                                                                                \
    {                                                                                              \
        name, PROPERTY_TEXTS, 0, NULL                                                              \
    }
#define JSON(name)                                                                                 \
    {                                                                                              \
        name, PROPERTY_JSON, 0, NULL                                                               \
    }
#define ANY(name)                                                                                  \
    {                                                                                              \
        name, PROPERTY_ANY, 0, NULL                                                                \
    }
#define MAP(name, shape)                                                                           \
    {                                                                                              \
        name, PROPERTY_MAP, 0, &(shape)                                                            \
    }
#define LIST(name, shape)                                                                          \
    {                                                                                              \
        name, PROPERTY_LIST, 0, &(shape)                                                           \
    }
#define REQUIRED_TEXT(name)                                                                        \
    {                                                                                              \
        name, PROPERTY_TEXT, PROPERTY_REQUIRED, NULL                                               \
    }
#define REQUIRED_INTEGER(name)                                                                     \
    {                                                                                              \
        name, PROPERTY_INTEGER, PROPERTY_REQUIRED, NULL                                            \
    }
#define REQUIRED_MAP(name, shape)                                                                  \
    {                                                                                              \
        name, PROPERTY_MAP, PROPERTY_REQUIRED, &(shape)                                            \
    }
#define REQUIRED_LIST(name, shape)                                                                 \
    {                                                                                              \
        name, PROPERTY_LIST, PROPERTY_REQUIRED, &(shape)                                           \
    }
#define DROPPABLE_TEXT(name)                                                                       \
    {                                                                                              \
        name, PROPERTY_TEXT, PROPERTY_DROPPABLE, NULL                                              \
    }
#define DROPPABLE_TEXTS(name)                                                                      \
    {                                                                                              \
        name, PROPERTY_TEXTS, PROPERTY_DROPPABLE, NULL                                             \
    }

/* --- Tables --- */

static const struct property attribute_properties[] = { REQUIRED_TEXT("AttributeName"),
                                                        REQUIRED_TEXT("AttributeType") };
static const struct property_shape attribute_shape = SHAPE(attribute_properties);

static const struct property key_properties[] = { REQUIRED_TEXT("AttributeName"),
                                                  REQUIRED_TEXT("KeyType") };
static const struct property_shape key_shape = SHAPE(key_properties);

static const struct property projection_properties[] = { TEXT("ProjectionType"),
                                                         TEXTS("NonKeyAttributes") };
static const struct property_shape projection_shape = SHAPE(projection_properties);

static const struct property provisioned_properties[] = { REQUIRED_INTEGER("ReadCapacityUnits"),
                                                          REQUIRED_INTEGER("WriteCapacityUnits") };
static const struct property_shape provisioned_shape = SHAPE(provisioned_properties);

static const struct property on_demand_properties[] = { INTEGER("MaxReadRequestUnits"),
                                                        INTEGER("MaxWriteRequestUnits") };
static const struct property_shape on_demand_shape = SHAPE(on_demand_properties);

static const struct property warm_properties[] = { INTEGER("ReadUnitsPerSecond"),
                                                   INTEGER("WriteUnitsPerSecond") };
static const struct property_shape warm_shape = SHAPE(warm_properties);

static const struct property insight_properties[] = {
    { "Enabled", PROPERTY_BOOL, PROPERTY_REQUIRED, NULL }, TEXT("Mode")
};
static const struct property_shape insight_shape = SHAPE(insight_properties);

static const struct property global_index_properties[] = {
    REQUIRED_TEXT("IndexName"),
    REQUIRED_LIST("KeySchema", key_shape),
    REQUIRED_MAP("Projection", projection_shape),
    MAP("ProvisionedThroughput", provisioned_shape),
    MAP("OnDemandThroughput", on_demand_shape),
    MAP("WarmThroughput", warm_shape),
    MAP("ContributorInsightsSpecification", insight_shape),
};
static const struct property_shape global_index_shape = SHAPE(global_index_properties);

static const struct property local_index_properties[] = {
    REQUIRED_TEXT("IndexName"),
    REQUIRED_LIST("KeySchema", key_shape),
    REQUIRED_MAP("Projection", projection_shape),
};
static const struct property_shape local_index_shape = SHAPE(local_index_properties);

static const struct property policy_properties[] = { { "PolicyDocument", PROPERTY_JSON,
                                                       PROPERTY_REQUIRED, NULL } };
static const struct property_shape policy_shape = SHAPE(policy_properties);

static const struct property stream_properties[] = { REQUIRED_TEXT("StreamViewType"),
                                                     MAP("ResourcePolicy", policy_shape) };
static const struct property_shape stream_shape = SHAPE(stream_properties);

static const struct property ttl_properties[] = {
    TEXT("AttributeName"), { "Enabled", PROPERTY_BOOL, PROPERTY_REQUIRED, NULL }
};
static const struct property_shape ttl_shape = SHAPE(ttl_properties);

static const struct property recovery_properties[] = { BOOL("PointInTimeRecoveryEnabled"),
                                                       INTEGER("RecoveryPeriodInDays") };
static const struct property_shape recovery_shape = SHAPE(recovery_properties);

static const struct property kinesis_properties[] = {
    REQUIRED_TEXT("StreamArn"),
    TEXT("ApproximateCreationDateTimePrecision"),
};
static const struct property_shape kinesis_shape = SHAPE(kinesis_properties);

static const struct property encryption_properties[] = { BOOL("SSEEnabled"), TEXT("SSEType"),
                                                         DROPPABLE_TEXT("KMSMasterKeyId") };
static const struct property_shape encryption_shape = SHAPE(encryption_properties);

static const struct property tag_properties[] = { REQUIRED_TEXT("Key"), REQUIRED_TEXT("Value") };
static const struct property_shape tag_shape = SHAPE(tag_properties);

static const struct property table_properties[] = {
    TEXT("TableName"),
    LIST("AttributeDefinitions", attribute_shape),
    REQUIRED_LIST("KeySchema", key_shape),
    TEXT("BillingMode"),
    MAP("ProvisionedThroughput", provisioned_shape),
    MAP("OnDemandThroughput", on_demand_shape),
    MAP("WarmThroughput", warm_shape),
    LIST("GlobalSecondaryIndexes", global_index_shape),
    LIST("LocalSecondaryIndexes", local_index_shape),
    MAP("StreamSpecification", stream_shape),
    MAP("TimeToLiveSpecification", ttl_shape),
    MAP("PointInTimeRecoverySpecification", recovery_shape),
    MAP("ContributorInsightsSpecification", insight_shape),
    MAP("KinesisStreamSpecification", kinesis_shape),
    MAP("SSESpecification", encryption_shape),
    MAP("ResourcePolicy", policy_shape),
    BOOL("DeletionProtectionEnabled"),
    TEXT("TableClass"),
    LIST("Tags", tag_shape),
    ANY("ImportSourceSpecification"),
};
const struct property_shape property_shape_table = SHAPE(table_properties);

/* --- Global tables --- */

static const struct property tracking_properties[] = {
    { "TargetValue", PROPERTY_NUMBER, PROPERTY_REQUIRED, NULL },
    INTEGER("ScaleInCooldown"),
    INTEGER("ScaleOutCooldown"),
    BOOL("DisableScaleIn"),
};
static const struct property_shape tracking_shape = SHAPE(tracking_properties);

static const struct property capacity_properties[] = {
    REQUIRED_INTEGER("MinCapacity"),
    REQUIRED_INTEGER("MaxCapacity"),
    INTEGER("SeedCapacity"),
    REQUIRED_MAP("TargetTrackingScalingPolicyConfiguration", tracking_shape),
};
static const struct property_shape capacity_shape = SHAPE(capacity_properties);

static const struct property write_settings_properties[] = {
    MAP("WriteCapacityAutoScalingSettings", capacity_shape),
};
static const struct property_shape write_settings_shape = SHAPE(write_settings_properties);

static const struct property read_settings_properties[] = {
    INTEGER("ReadCapacityUnits"),
    MAP("ReadCapacityAutoScalingSettings", capacity_shape),
};
static const struct property_shape read_settings_shape = SHAPE(read_settings_properties);

static const struct property write_demand_properties[] = { INTEGER("MaxWriteRequestUnits") };
static const struct property_shape write_demand_shape = SHAPE(write_demand_properties);
static const struct property read_demand_properties[] = { INTEGER("MaxReadRequestUnits") };
static const struct property_shape read_demand_shape = SHAPE(read_demand_properties);

#define SETTINGS                                                                                   \
    MAP("WriteProvisionedThroughputSettings", write_settings_shape),                               \
        MAP("ReadProvisionedThroughputSettings", read_settings_shape),                             \
        MAP("WriteOnDemandThroughputSettings", write_demand_shape),                                \
        MAP("ReadOnDemandThroughputSettings", read_demand_shape)

static const struct property shared_index_properties[] = {
    REQUIRED_TEXT("IndexName"),
    REQUIRED_LIST("KeySchema", key_shape),
    REQUIRED_MAP("Projection", projection_shape),
    MAP("WarmThroughput", warm_shape),
    SETTINGS,
};
static const struct property_shape shared_index_shape = SHAPE(shared_index_properties);

static const struct property replica_index_properties[] = {
    REQUIRED_TEXT("IndexName"),
    MAP("ContributorInsightsSpecification", insight_shape),
    MAP("ReadProvisionedThroughputSettings", read_settings_shape),
    MAP("ReadOnDemandThroughputSettings", read_demand_shape),
};
static const struct property_shape replica_index_shape = SHAPE(replica_index_properties);

static const struct property replica_encryption_properties[] = { DROPPABLE_TEXT("KMSMasterKeyId") };
static const struct property_shape replica_encryption_shape = SHAPE(replica_encryption_properties);

static const struct property replica_stream_properties[] = { MAP("ResourcePolicy", policy_shape) };
static const struct property_shape replica_stream_shape = SHAPE(replica_stream_properties);

static const struct property replica_properties[] = {
    REQUIRED_TEXT("Region"),
    MAP("ContributorInsightsSpecification", insight_shape),
    BOOL("DeletionProtectionEnabled"),
    LIST("GlobalSecondaryIndexes", replica_index_shape),
    MAP("KinesisStreamSpecification", kinesis_shape),
    MAP("PointInTimeRecoverySpecification", recovery_shape),
    MAP("ReadOnDemandThroughputSettings", read_demand_shape),
    MAP("ReadProvisionedThroughputSettings", read_settings_shape),
    MAP("ReplicaStreamSpecification", replica_stream_shape),
    MAP("ResourcePolicy", policy_shape),
    MAP("SSESpecification", replica_encryption_shape),
    TEXT("TableClass"),
    LIST("Tags", tag_shape),
    TEXT("GlobalTableSettingsReplicationMode"),
};
static const struct property_shape replica_shape = SHAPE(replica_properties);

static const struct property witness_properties[] = { TEXT("Region") };
static const struct property_shape witness_shape = SHAPE(witness_properties);

static const struct property global_table_properties[] = {
    TEXT("TableName"),
    LIST("AttributeDefinitions", attribute_shape),
    REQUIRED_LIST("KeySchema", key_shape),
    TEXT("BillingMode"),
    MAP("WarmThroughput", warm_shape),
    LIST("GlobalSecondaryIndexes", shared_index_shape),
    LIST("LocalSecondaryIndexes", local_index_shape),
    MAP("StreamSpecification", stream_shape),
    MAP("TimeToLiveSpecification", ttl_shape),
    MAP("SSESpecification", encryption_shape),
    SETTINGS,
    TEXT("MultiRegionConsistency"),
    LIST("GlobalTableWitnesses", witness_shape),
    TEXT("GlobalTableSourceArn"),
    REQUIRED_LIST("Replicas", replica_shape),
};
const struct property_shape property_shape_global_table = SHAPE(global_table_properties);

/* --- SAM --- */

static const struct property primary_key_properties[] = { REQUIRED_TEXT("Name"), TEXT("Type") };
static const struct property_shape primary_key_shape = SHAPE(primary_key_properties);

static const struct property simple_table_properties[] = {
    TEXT("TableName"),
    MAP("PrimaryKey", primary_key_shape),
    MAP("ProvisionedThroughput", provisioned_shape),
    MAP("SSESpecification", encryption_shape),
    MAP("PointInTimeRecoverySpecification", recovery_shape),
    ANY("Tags"),
};
const struct property_shape property_shape_simple_table = SHAPE(simple_table_properties);

/* --- Application Auto Scaling --- */

static const struct property action_range_properties[] = { INTEGER("MinCapacity"),
                                                           INTEGER("MaxCapacity") };
static const struct property_shape action_range_shape = SHAPE(action_range_properties);

static const struct property scheduled_properties[] = {
    REQUIRED_TEXT("ScheduledActionName"),
    REQUIRED_TEXT("Schedule"),
    TEXT("Timezone"),
    TEXT("StartTime"),
    TEXT("EndTime"),
    MAP("ScalableTargetAction", action_range_shape),
};
static const struct property_shape scheduled_shape = SHAPE(scheduled_properties);

static const struct property suspended_properties[] = {
    BOOL("DynamicScalingInSuspended"),
    BOOL("DynamicScalingOutSuspended"),
    BOOL("ScheduledScalingSuspended"),
};
static const struct property_shape suspended_shape = SHAPE(suspended_properties);

static const struct property scalable_target_properties[] = {
    REQUIRED_INTEGER("MinCapacity"),
    REQUIRED_INTEGER("MaxCapacity"),
    REQUIRED_TEXT("ResourceId"),
    REQUIRED_TEXT("ScalableDimension"),
    TEXT("ServiceNamespace"),
    DROPPABLE_TEXT("RoleARN"),
    LIST("ScheduledActions", scheduled_shape),
    MAP("SuspendedState", suspended_shape),
};
const struct property_shape property_shape_scalable_target = SHAPE(scalable_target_properties);

static const struct property predefined_properties[] = { REQUIRED_TEXT("PredefinedMetricType"),
                                                         TEXT("ResourceLabel") };
static const struct property_shape predefined_shape = SHAPE(predefined_properties);

static const struct property policy_tracking_properties[] = {
    { "TargetValue", PROPERTY_NUMBER, PROPERTY_REQUIRED, NULL },
    INTEGER("ScaleInCooldown"),
    INTEGER("ScaleOutCooldown"),
    BOOL("DisableScaleIn"),
    MAP("PredefinedMetricSpecification", predefined_shape),
    ANY("CustomizedMetricSpecification"),
};
static const struct property_shape policy_tracking_shape = SHAPE(policy_tracking_properties);

static const struct property scaling_policy_properties[] = {
    REQUIRED_TEXT("PolicyName"),
    REQUIRED_TEXT("PolicyType"),
    TEXT("ScalingTargetId"),
    TEXT("ResourceId"),
    TEXT("ScalableDimension"),
    TEXT("ServiceNamespace"),
    MAP("TargetTrackingScalingPolicyConfiguration", policy_tracking_shape),
    ANY("StepScalingPolicyConfiguration"),
};
const struct property_shape property_shape_scaling_policy = SHAPE(scaling_policy_properties);

/* --- CloudWatch --- */

static const struct property dimension_properties[] = { REQUIRED_TEXT("Name"),
                                                        REQUIRED_TEXT("Value") };
static const struct property_shape dimension_shape = SHAPE(dimension_properties);

static const struct property metric_properties[] = {
    LIST("Dimensions", dimension_shape),
    TEXT("MetricName"),
    TEXT("Namespace"),
};
static const struct property_shape metric_shape = SHAPE(metric_properties);

static const struct property stat_properties[] = {
    REQUIRED_MAP("Metric", metric_shape),
    REQUIRED_INTEGER("Period"),
    REQUIRED_TEXT("Stat"),
    TEXT("Unit"),
};
static const struct property_shape stat_shape = SHAPE(stat_properties);

static const struct property query_properties[] = {
    REQUIRED_TEXT("Id"),           TEXT("AccountId"), TEXT("Expression"), TEXT("Label"),
    MAP("MetricStat", stat_shape), INTEGER("Period"), BOOL("ReturnData"),
};
static const struct property_shape query_shape = SHAPE(query_properties);

#define ACTIONS                                                                                    \
    BOOL("ActionsEnabled"), DROPPABLE_TEXTS("AlarmActions"),                                       \
        DROPPABLE_TEXTS("InsufficientDataActions"), DROPPABLE_TEXTS("OKActions"),                  \
        TEXT("AlarmDescription"), TEXT("AlarmName"), LIST("Tags", tag_shape)

static const struct property alarm_properties[] = {
    ACTIONS,
    REQUIRED_TEXT("ComparisonOperator"),
    INTEGER("DatapointsToAlarm"),
    LIST("Dimensions", dimension_shape),
    TEXT("EvaluateLowSampleCountPercentile"),
    REQUIRED_INTEGER("EvaluationPeriods"),
    TEXT("ExtendedStatistic"),
    TEXT("MetricName"),
    LIST("Metrics", query_shape),
    TEXT("Namespace"),
    INTEGER("Period"),
    TEXT("Statistic"),
    NUMBER("Threshold"),
    TEXT("ThresholdMetricId"),
    TEXT("TreatMissingData"),
    TEXT("Unit"),
};
const struct property_shape property_shape_alarm = SHAPE(alarm_properties);

static const struct property composite_properties[] = {
    ACTIONS,
    REQUIRED_TEXT("AlarmRule"),
    DROPPABLE_TEXT("ActionsSuppressor"),
    INTEGER("ActionsSuppressorExtensionPeriod"),
    INTEGER("ActionsSuppressorWaitPeriod"),
};
const struct property_shape property_shape_composite_alarm = SHAPE(composite_properties);

static const struct property dashboard_properties[] = {
    TEXT("DashboardName"), { "DashboardBody", PROPERTY_ANY, PROPERTY_REQUIRED, NULL }
};
const struct property_shape property_shape_dashboard = SHAPE(dashboard_properties);
