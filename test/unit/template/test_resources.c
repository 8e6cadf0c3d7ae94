/* test_resources.c -- what each property of each resource becomes in requests, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "template/node.h"
#include "template_fixture.h"

#define KEYS                                                                                       \
    "'TableName':'t','AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}],"          \
    "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}]"
#define CREATED                                                                                    \
    "{'TableName':'t','AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}],"         \
    "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}]"

/* "OPERATION BODY" of each request of the resource R, a line each, with ' for "; or "!MESSAGE". */
static const char *requests_of(struct arena *arena, const char *type, const char *properties)
{
    struct bytes text =
        arena_printf(arena,
                     "{'Transform':'AWS::Serverless-2016-10-31','Resources':{'R':{'Type':'%s',"
                     "'Properties':{%s}},'F':{'Type':'X::Y::Z'},'T':{'Type':'AWS::DynamoDB::Table',"
                     "'Properties':{" KEYS "}}}}%c",
                     type, properties, 0);
    struct template_error err;
    const struct template_environment environment = { .stack_name = BYTES("st") };
    const struct template_result *result =
        template_fixture_evaluate(arena, (const char *)text.data, &environment, &err);
    struct buffer out;
    buffer_init(&out, arena);
    if (result == NULL) {
        buffer_append_byte(&out, '!');
        buffer_append_bytes(&out, err.message);
    } else {
        const struct template_resource *resource = template_find(result, BYTES("R"));
        for (size_t i = 0; i < resource->request_count; i++) {
            buffer_append_bytes(&out, arena_printf(arena, "%s%s ", i > 0 ? "\n" : "",
                                                   resource->requests[i].operation));
            buffer_append_bytes(&out, resource->requests[i].body);
        }
    }
    buffer_append_byte(&out, 0);
    for (size_t i = 0; i < out.len; i++)
        out.data[i] = out.data[i] == '"' ? '\'' : out.data[i];
    return (const char *)out.data;
}

struct resource_case {
    const char *properties, *want;
};

static void check(struct arena *arena, const char *type, const struct resource_case *cases,
                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_string_equal(requests_of(arena, type, cases[i].properties), cases[i].want);
}

#define PLAIN CREATED ",'BillingMode':'PROVISIONED','DeletionProtectionEnabled':false"

static void each_property_of_a_table(void **state)
{
    static const struct resource_case cases[] = {
        { KEYS, "CreateTable " PLAIN "}" },
        { KEYS ",'BillingMode':'PAY_PER_REQUEST','OnDemandThroughput':{'MaxReadRequestUnits':'5'}",
          "CreateTable " CREATED ",'BillingMode':'PAY_PER_REQUEST','OnDemandThroughput':{"
          "'MaxReadRequestUnits':5},'DeletionProtectionEnabled':false}" },
        { KEYS ",'ProvisionedThroughput':{'ReadCapacityUnits':'5','WriteCapacityUnits':6.0}",
          "CreateTable " CREATED ",'BillingMode':'PROVISIONED','ProvisionedThroughput':{"
          "'ReadCapacityUnits':5,'WriteCapacityUnits':6},'DeletionProtectionEnabled':false}" },
        { KEYS ",'WarmThroughput':{'ReadUnitsPerSecond':12000}",
          "CreateTable " CREATED ",'BillingMode':'PROVISIONED','WarmThroughput':{"
          "'ReadUnitsPerSecond':12000},'DeletionProtectionEnabled':false}" },
        { KEYS ",'TableClass':'STANDARD','DeletionProtectionEnabled':'true'",
          "CreateTable " CREATED ",'BillingMode':'PROVISIONED','TableClass':'STANDARD',"
          "'DeletionProtectionEnabled':true}" },
        { KEYS ",'GlobalSecondaryIndexes':[{'IndexName':'g','KeySchema':[{'AttributeName':'k',"
               "'KeyType':'HASH'}],'Projection':{'ProjectionType':'INCLUDE','NonKeyAttributes':["
               "'a']},'ContributorInsightsSpecification':{'Enabled':true}}]",
          "CreateTable " PLAIN ",'GlobalSecondaryIndexes':[{'IndexName':'g','KeySchema':[{"
          "'AttributeName':'k','KeyType':'HASH'}],'Projection':{'ProjectionType':'INCLUDE',"
          "'NonKeyAttributes':['a']}}]}\n"
          "UpdateContributorInsights {'TableName':'t','IndexName':'g','ContributorInsightsAction':"
          "'ENABLE'}" },
        { KEYS ",'LocalSecondaryIndexes':[{'IndexName':'l','KeySchema':[{'AttributeName':'k',"
               "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]",
          "CreateTable " PLAIN ",'LocalSecondaryIndexes':[{'IndexName':'l','KeySchema':[{"
          "'AttributeName':'k','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}" },
        { KEYS ",'StreamSpecification':{'StreamViewType':'NEW_IMAGE'}",
          "CreateTable " PLAIN ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':"
          "'NEW_IMAGE'}}" },
        { KEYS ",'SSESpecification':{'SSEEnabled':true,'SSEType':'KMS','KMSMasterKeyId':'key'}",
          "CreateTable " PLAIN ",'SSESpecification':{'Enabled':true,'SSEType':'KMS',"
          "'KMSMasterKeyId':'key'}}" },
        { KEYS
          ",'SSESpecification':{'SSEEnabled':true,'KMSMasterKeyId':{'Fn::GetAtt':['F','Arn']}}",
          "CreateTable " PLAIN ",'SSESpecification':{'Enabled':true}}" },
        { KEYS ",'Tags':[{'Key':'a','Value':5}]",
          "CreateTable " PLAIN ",'Tags':[{'Key':'a','Value':'5'}]}" },
        { KEYS ",'TimeToLiveSpecification':{'AttributeName':'x','Enabled':true}",
          "CreateTable " PLAIN "}\nUpdateTimeToLive {'TableName':'t','TimeToLiveSpecification':{"
          "'AttributeName':'x','Enabled':true}}" },
        { KEYS ",'TimeToLiveSpecification':{'Enabled':false}", "CreateTable " PLAIN "}" },
        { KEYS ",'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true,"
               "'RecoveryPeriodInDays':7}",
          "CreateTable " PLAIN "}\nUpdateContinuousBackups {'TableName':'t',"
          "'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true,"
          "'RecoveryPeriodInDays':7}}" },
        { KEYS ",'ContributorInsightsSpecification':{'Enabled':true,'Mode':'THROTTLED_KEYS'}",
          "CreateTable " PLAIN "}\nUpdateContributorInsights {'TableName':'t',"
          "'ContributorInsightsAction':'ENABLE','ContributorInsightsMode':'THROTTLED_KEYS'}" },
        { KEYS ",'KinesisStreamSpecification':{'StreamArn':'arn:x',"
               "'ApproximateCreationDateTimePrecision':'MILLISECOND'}",
          "CreateTable " PLAIN "}\nEnableKinesisStreamingDestination {'TableName':'t','StreamArn':"
          "'arn:x','EnableKinesisStreamingConfiguration':{"
          "'ApproximateCreationDateTimePrecision':'MILLISECOND'}}" },
    };
    check(*state, "AWS::DynamoDB::Table", cases, COUNT_OF(cases));
    const char *made = requests_of(*state, "AWS::DynamoDB::Table",
                                   KEYS ",'ResourcePolicy':{'PolicyDocument':{'Version':'x'}}");
    assert_non_null(strstr(made, "'ResourcePolicy':'{\\'Version\\':\\'x\\'}'"));
}

#define INVALID "!Properties validation failed for resource R with message: #"

static void wrong_properties_are_refused(void **state)
{
    static const struct resource_case cases[] = {
        { "'TableName':'t'", INVALID ": required key [KeySchema] not found" },
        { KEYS ",'Colour':'red'", INVALID ": extraneous key [Colour] is not permitted" },
        { KEYS ",'GlobalSecondaryIndexes':[{'IndexName':'x','X':1}]",
          INVALID "/GlobalSecondaryIndexes/0: extraneous key [X] is not permitted" },
        { KEYS ",'Tags':{'a':'b'}", INVALID "/Tags: expected type: JSONArray, found: JSONObject" },
        { KEYS ",'BillingMode':['x']",
          INVALID "/BillingMode: expected type: String, found: JSONArray" },
        { KEYS ",'DeletionProtectionEnabled':'maybe'",
          INVALID "/DeletionProtectionEnabled: expected type: Boolean, found: String" },
        { KEYS ",'ProvisionedThroughput':{'ReadCapacityUnits':1.5,'WriteCapacityUnits':1}", INVALID
          "/ProvisionedThroughput/ReadCapacityUnits: expected type: Integer, found: Number" },
        { KEYS ",'TableClass':{'Fn::GetAtt':['F','X']}",
          INVALID "/TableClass: depends on F, a resource of another service, which is skipped" },
        { KEYS ",'TableClass':{'Fn::GetAtt':['T','StreamArn']}",
          INVALID "/TableClass: T.StreamArn is not known before it is created" },
        { KEYS ",'ResourcePolicy':{'PolicyDocument':{'a':[{'Ref':'F'}]}}",
          INVALID "/ResourcePolicy/PolicyDocument: depends on F, a resource of another service, "
                  "which is skipped" },
        { "'KeySchema':[],'TableName':{'Ref':'F'}",
          "!TableName depends on F, a resource of another service" },
        { KEYS ",'TimeToLiveSpecification':{'Enabled':true}",
          "!Resource R: TimeToLiveSpecification needs an AttributeName" },
        { KEYS ",'ImportSourceSpecification':{'InputFormat':'CSV'}",
          "!Resource R: ImportSourceSpecification is not supported: create the table, then run "
          "`stator import`" },
    };
    check(*state, "AWS::DynamoDB::Table", cases, COUNT_OF(cases));
    assert_memory_equal(requests_of(*state, "AWS::DynamoDB::Table",
                                    KEYS ",'StreamSpecification':{'StreamViewType':'NEW_IMAGE',"
                                         "'ResourcePolicy':{'PolicyDocument':{}}}"),
                        "!Resource R: a ResourcePolicy of a stream is not supported", 58);
}

static void simple_tables(void **state)
{
    static const struct resource_case cases[] = {
        { "'TableName':'s'",
          "CreateTable {'TableName':'s','AttributeDefinitions':[{'AttributeName':'id',"
          "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'id','KeyType':'HASH'}],"
          "'BillingMode':'PAY_PER_REQUEST','DeletionProtectionEnabled':false}" },
        { "'TableName':'s','PrimaryKey':{'Name':'b','Type':'Binary'},'ProvisionedThroughput':{"
          "'ReadCapacityUnits':1,'WriteCapacityUnits':2},'Tags':{'a':'b'}",
          "CreateTable {'TableName':'s','AttributeDefinitions':[{'AttributeName':'b',"
          "'AttributeType':'B'}],'KeySchema':[{'AttributeName':'b','KeyType':'HASH'}],"
          "'BillingMode':'PROVISIONED','ProvisionedThroughput':{'ReadCapacityUnits':1,"
          "'WriteCapacityUnits':2},'DeletionProtectionEnabled':false,'Tags':[{'Key':'a','Value':"
          "'b'}]}" },
        { "'PrimaryKey':{'Name':'b','Type':'S'}",
          "!Resource R: the Type of a PrimaryKey is String, Number or Binary" },
    };
    check(*state, "AWS::Serverless::SimpleTable", cases, COUNT_OF(cases));
}

#define SCALING                                                                                    \
    "'WriteCapacityAutoScalingSettings':{'MinCapacity':2,'MaxCapacity':20,'SeedCapacity':4,"       \
    "'TargetTrackingScalingPolicyConfiguration':{'TargetValue':70}}"

static void global_tables_are_folded_into_one(void **state)
{
    static const struct resource_case cases[] = {
        { KEYS
          ",'BillingMode':'PAY_PER_REQUEST','WriteOnDemandThroughputSettings':{"
          "'MaxWriteRequestUnits':9},'Replicas':[{'Region':'eu-west-1','TableClass':"
          "'STANDARD'},{'Region':'us-east-1','DeletionProtectionEnabled':true,"
          "'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true},'Tags':[{"
          "'Key':'a','Value':'b'}],'ReadOnDemandThroughputSettings':{'MaxReadRequestUnits':8}}]",
          "CreateTable " CREATED ",'BillingMode':'PAY_PER_REQUEST','OnDemandThroughput':{"
          "'MaxReadRequestUnits':8,'MaxWriteRequestUnits':9},'DeletionProtectionEnabled':true,"
          "'Tags':[{'Key':'a','Value':'b'}]}\nUpdateContinuousBackups {'TableName':'t',"
          "'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}" },
        { KEYS ",'WriteProvisionedThroughputSettings':{" SCALING "},'Replicas':[{'Region':'x',"
               "'ReadProvisionedThroughputSettings':{'ReadCapacityUnits':3}}]",
          "CreateTable " CREATED ",'BillingMode':'PROVISIONED','ProvisionedThroughput':{"
          "'ReadCapacityUnits':3,'WriteCapacityUnits':4},'DeletionProtectionEnabled':false}\n"
          "application-autoscaling:RegisterScalableTarget {'ServiceNamespace':'dynamodb',"
          "'ResourceId':'table/t','ScalableDimension':'dynamodb:table:WriteCapacityUnits',"
          "'MinCapacity':2,'MaxCapacity':20}\napplication-autoscaling:PutScalingPolicy {"
          "'ServiceNamespace':'dynamodb','ResourceId':'table/t','ScalableDimension':"
          "'dynamodb:table:WriteCapacityUnits','PolicyName':'WriteCapacityUtilization:table/t',"
          "'PolicyType':'TargetTrackingScaling','TargetTrackingScalingPolicyConfiguration':{"
          "'TargetValue':70,'PredefinedMetricSpecification':{'PredefinedMetricType':"
          "'DynamoDBWriteCapacityUtilization'}}}" },
        { KEYS ",'Replicas':[{'Region':'a'},{'Region':'b'}]",
          "!Resource R: no replica is in this server's region" },
        { KEYS, INVALID ": required key [Replicas] not found" },
    };
    check(*state, "AWS::DynamoDB::GlobalTable", cases, COUNT_OF(cases));
}

static void scaling_and_monitoring(void **state)
{
    struct arena *arena = *state;
    assert_string_equal(
        requests_of(arena, "AWS::ApplicationAutoScaling::ScalableTarget",
                    "'MinCapacity':'1','MaxCapacity':5,'ResourceId':{'Fn::Sub':'table/${T}'},"
                    "'ScalableDimension':'dynamodb:table:ReadCapacityUnits','RoleARN':{'Ref':'F'},"
                    "'SuspendedState':{'DynamicScalingInSuspended':'true'},'ScheduledActions':[{"
                    "'ScheduledActionName':'n','Schedule':'rate(1 day)','ScalableTargetAction':{"
                    "'MinCapacity':2}}]"),
        "application-autoscaling:RegisterScalableTarget {'MinCapacity':1,'MaxCapacity':5,"
        "'ResourceId':'table/t','ScalableDimension':'dynamodb:table:ReadCapacityUnits',"
        "'SuspendedState':{'DynamicScalingInSuspended':true},'ServiceNamespace':'dynamodb'}\n"
        "application-autoscaling:PutScheduledAction {'ScheduledActionName':'n','Schedule':"
        "'rate(1 day)','ScalableTargetAction':{'MinCapacity':2},'ServiceNamespace':'dynamodb',"
        "'ResourceId':'table/t','ScalableDimension':'dynamodb:table:ReadCapacityUnits'}");
    assert_string_equal(requests_of(arena, "AWS::ApplicationAutoScaling::ScalingPolicy",
                                    "'PolicyName':'p','PolicyType':'TargetTrackingScaling',"
                                    "'ScalingTargetId':'table/t|dynamodb:table:ReadCapacityUnits|"
                                    "dynamodb'"),
                        "application-autoscaling:PutScalingPolicy {'PolicyName':'p','PolicyType':"
                        "'TargetTrackingScaling','ResourceId':'table/t','ScalableDimension':"
                        "'dynamodb:table:ReadCapacityUnits','ServiceNamespace':'dynamodb'}");
    assert_string_equal(requests_of(arena, "AWS::ApplicationAutoScaling::ScalingPolicy",
                                    "'PolicyName':'p','PolicyType':'x','ScalingTargetId':'t'"),
                        "!Resource R: ScalingTargetId is not the id of a scalable target");
    assert_string_equal(
        requests_of(arena, "AWS::CloudWatch::Alarm",
                    "'AlarmName':'a','ComparisonOperator':'x','EvaluationPeriods':'1','Threshold':"
                    "'1.5','AlarmActions':[{'Ref':'F'},'arn:y']"),
        "cloudwatch:PutMetricAlarm {'AlarmName':'a','ComparisonOperator':'x','EvaluationPeriods':"
        "1,'Threshold':1.5,'AlarmActions':['arn:y']}");
    assert_string_equal(requests_of(arena, "AWS::CloudWatch::CompositeAlarm",
                                    "'AlarmName':'a','AlarmRule':'ALARM(x)'"),
                        "cloudwatch:PutCompositeAlarm {'AlarmName':'a','AlarmRule':'ALARM(x)'}");
    assert_string_equal(requests_of(arena, "AWS::CloudWatch::Dashboard",
                                    "'DashboardName':'d','DashboardBody':{'widgets':[]}"),
                        "cloudwatch:PutDashboard {'DashboardName':'d','DashboardBody':"
                        "'{\\'widgets\\':[]}'}");
    /* Of other services. */
    assert_string_equal(requests_of(arena, "AWS::CloudWatch::Alarm",
                                    "'Dimensions':[{'Name':'F','Value':{'Ref':'F'}}]"),
                        "");
    assert_string_equal(requests_of(arena, "AWS::ApplicationAutoScaling::ScalableTarget",
                                    "'ServiceNamespace':'ecs','ResourceId':{'Ref':'F'}"),
                        "");
    assert_string_equal(requests_of(arena, "AWS::ApplicationAutoScaling::ScalingPolicy",
                                    "'PolicyName':'p','ScalingTargetId':{'Ref':'F'}"),
                        "");
}

static void stacks_tag_their_tables(void **state)
{
    struct arena *arena = *state;
    struct template_error err;
    static const struct template_value tags[] = { { BYTES("a"), BYTES("of stack") },
                                                  { BYTES("b"), BYTES("of stack") } };
    const struct template_environment environment = { .stack_name = BYTES("st"),
                                                      .tags = tags,
                                                      .tag_count = COUNT_OF(tags),
                                                      .owner_tag = BYTES("owner") };
    const struct template_result *result = template_fixture_evaluate(
        arena,
        "{'Resources':{'A':{'Type':'AWS::DynamoDB::Table','Properties':{" KEYS ",'Tags':[{'Key':"
        "'a','Value':'own'}]}},'B':{'Type':'AWS::DynamoDB::Table','DeletionPolicy':'Retain',"
        "'Properties':{" KEYS "}}}}",
        &environment, &err);
    assert_non_null(result);
    const struct node *tags_of_a = node_get(result->resources[0].state, "Tags");
    const struct node *tags_of_b = node_get(result->resources[1].state, "Tags");
    assert_true(
        bytes_equal_text(node_text(node_find(tags_of_a, "Key", BYTES("a")), "Value"), "own"));
    assert_true(
        bytes_equal_text(node_text(node_find(tags_of_a, "Key", BYTES("owner")), "Value"), "st"));
    assert_int_equal(tags_of_b->count, 2); /* May not be deleted with the stack. */
}

static void documents_that_are_no_templates(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "{'Resources':{}}",
          "0: Template format error: At least one Resources member must be defined." },
        { "{'Resources':{'A-B':{'Type':'x'}}}",
          "1: Template format error: Resource name A-B is non alphanumeric." },
        { "{'Resources':{'A':{}}}",
          "1: Template format error: [/Resources/A] Every Resources object must contain a Type "
          "member." },
        { "{'Resources':{'A':{'Type':'x','Colour':1}}}",
          "1: Invalid template resource property 'Colour'" },
        { "{\n'Colours':1,'Resources':{}}",
          "2: Invalid template property or properties [Colours]" },
        { "{'AWSTemplateFormatVersion':'2011-01-01','Resources':{}}",
          "1: Template format error: 2011-01-01 is not a supported value for "
          "AWSTemplateFormatVersion." },
        { "{'Transform':'Mine','Resources':{'A':{'Type':'x'}}}",
          "1: No transform named Mine found. Supported are AWS::Serverless-2016-10-31 and "
          "AWS::LanguageExtensions." },
        { "{'Resources':{'A':{'Type':'AWS::Serverless::SimpleTable'}}}",
          "1: Template format error: Unrecognized resource types: [AWS::Serverless::SimpleTable]" },
        { "{'Resources':{'A':{'Type':'AWS::DynamoDB::Table','DeletionPolicy':'Snapshot'}}}",
          "1: Template error: resource type AWS::DynamoDB::Table does not support the "
          "DeletionPolicy Snapshot" },
        { "{'ModelName':'x'}", "0: a NoSQL Workbench model: convert it with `stator model export "
                               "--format cloudformation` first" },
        { "[{'KeySchema':[]}]", "1: a table needs a TableName" },
        { "{'format_version':'1.2'}",
          "0: a Terraform document without planned_values or values: give the output of "
          "`terraform show -json`" },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(template_fixture_error(arena, cases[i].text), cases[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(each_property_of_a_table),
        ARENA_TEST(wrong_properties_are_refused),
        ARENA_TEST(simple_tables),
        ARENA_TEST(global_tables_are_folded_into_one),
        ARENA_TEST(scaling_and_monitoring),
        ARENA_TEST(stacks_tag_their_tables),
        ARENA_TEST(documents_that_are_no_templates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
