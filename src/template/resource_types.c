/* resource_types.c -- see resource_types.h. */
#include "template/resource_types.h"
#include "template/properties.h"

static const char *const table_attributes[] = { "Arn", "StreamArn", NULL };
static const char *const global_table_attributes[] = { "Arn", "StreamArn", "TableId", NULL };
static const char *const target_attributes[] = { "Id", NULL };
static const char *const policy_attributes[] = { "Arn", NULL };
static const char *const arn_attribute[] = { "Arn", NULL };
static const char *const no_attributes[] = { NULL };

static const struct resource_type types[] = {
    { .name = "AWS::DynamoDB::Table",
      .kind = TEMPLATE_KIND_TABLE,
      .name_property = "TableName",
      .attributes = table_attributes,
      .arn = "dynamodb",
      .arn_resource = "table/",
      .build = table_resource_build },
    { .name = "AWS::DynamoDB::GlobalTable",
      .kind = TEMPLATE_KIND_TABLE,
      .name_property = "TableName",
      .attributes = global_table_attributes,
      .arn = "dynamodb",
      .arn_resource = "table/",
      .build = table_resource_build_global },
    { .name = "AWS::Serverless::SimpleTable",
      .kind = TEMPLATE_KIND_TABLE,
      .name_property = "TableName",
      .attributes = table_attributes,
      .arn = "dynamodb",
      .arn_resource = "table/",
      .build = table_resource_build_simple },
    { .name = "AWS::ApplicationAutoScaling::ScalableTarget",
      .kind = TEMPLATE_KIND_SCALABLE_TARGET,
      .attributes = target_attributes,
      .build = other_resources_build_target },
    { .name = "AWS::ApplicationAutoScaling::ScalingPolicy",
      .kind = TEMPLATE_KIND_SCALING_POLICY,
      .attributes = policy_attributes,
      .build = other_resources_build_policy },
    { .name = "AWS::CloudWatch::Alarm",
      .kind = TEMPLATE_KIND_ALARM,
      .name_property = "AlarmName",
      .attributes = arn_attribute,
      .arn = "cloudwatch",
      .arn_resource = "alarm:",
      .build = other_resources_build_alarm },
    { .name = "AWS::CloudWatch::CompositeAlarm",
      .kind = TEMPLATE_KIND_ALARM,
      .name_property = "AlarmName",
      .attributes = arn_attribute,
      .arn = "cloudwatch",
      .arn_resource = "alarm:",
      .build = other_resources_build_composite },
    { .name = "AWS::CloudWatch::Dashboard",
      .kind = TEMPLATE_KIND_DASHBOARD,
      .name_property = "DashboardName",
      .attributes = no_attributes,
      .build = other_resources_build_dashboard },
};

const struct resource_type *resource_type_find(struct bytes name)
{
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (bytes_equal_text(name, types[i].name))
            return &types[i];
    }
    return NULL;
}
