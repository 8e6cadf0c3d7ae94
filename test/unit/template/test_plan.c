/* test_plan.c -- plans between two templates, in the words and under the rules of stacks, and the
 * requests that `stator apply` gets instead. test/process/test_apply.py has plans against servers.
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
#include "template/plan.h"
#include "template_fixture.h"

#define DEFINITIONS                                                                                \
    "'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'},{'AttributeName':'g',"      \
    "'AttributeType':'S'}]"
#define KEY "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'"
#define NAMED "'TableName':'t'," DEFINITIONS "," KEY
#define INDEX(name, projection)                                                                    \
    "{'IndexName':'" name "','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],'Projection':{"  \
    "'ProjectionType':'" projection "'}}"

static const struct template_result *table(struct arena *arena, const char *properties)
{
    return template_fixture_result(
        arena, (const char *)arena_printf(
                   arena, "{'Resources':{'R':{'Type':'AWS::DynamoDB::Table','Properties':{%s}}}}%c",
                   properties, 0)
                   .data);
}

static const struct plan *plan_of(struct arena *arena, const char *before, const char *after,
                                  const struct plan_options *options)
{
    struct plan_before old = plan_before_of(&table(arena, before)->resources[0]);
    return plan_make(arena, table(arena, after), &old, 1, options);
}

/* "SIGN TEXT" of the changes, then "OPERATION BODY" of the steps, a line each; or "!REFUSAL". */
static const char *describe(struct arena *arena, const struct plan *plan)
{
    const struct plan_item *item = &plan->items[0];
    struct buffer out;
    buffer_init(&out, arena);
    if (item->refusal.data != NULL)
        return (const char *)arena_printf(arena, "!%.*s%c", BYTES_FMT(item->refusal), 0).data;
    for (size_t i = 0; i < item->change_count; i++)
        buffer_append_bytes(&out, arena_printf(arena, "%c %.*s\n", item->changes[i].sign,
                                               BYTES_FMT(item->changes[i].text)));
    for (size_t i = 0; i < item->step_count + item->cleanup_step_count; i++) {
        const struct plan_step *step =
            i < item->step_count ? &item->steps[i] : &item->cleanup_steps[i - item->step_count];
        buffer_append_bytes(
            &out, arena_printf(arena, "%s %.*s\n", step->operation, BYTES_FMT(step->body)));
    }
    buffer_append_byte(&out, 0);
    for (size_t i = 0; i < out.len; i++)
        out.data[i] = out.data[i] == '"' ? '\'' : out.data[i];
    return (const char *)out.data;
}

static const struct plan_options as_stack = { .as_stack = true, .allow_replace = true };
static const struct plan_options as_command = { 0 };

static const struct {
    const char *before, *after, *want;
} setting_cases[] = {
    { "", "", "" },
    { "", ",'DeletionProtectionEnabled':true",
      "~ deletion protection  off -> on\n"
      "UpdateTable {'TableName':'t','DeletionProtectionEnabled':true}\n" },
    { "", ",'TableClass':'STANDARD'", "" },
    { ",'TableClass':'STANDARD_INFREQUENT_ACCESS'", "",
      "~ class  STANDARD_INFREQUENT_ACCESS -> STANDARD\n"
      "UpdateTable {'TableName':'t','TableClass':'STANDARD'}\n" },
    { ",'StreamSpecification':{'StreamViewType':'KEYS_ONLY'}",
      ",'StreamSpecification':{'StreamViewType':'NEW_IMAGE'}",
      "~ stream  KEYS_ONLY -> NEW_IMAGE\n"
      "UpdateTable {'TableName':'t','StreamSpecification':{'StreamEnabled':false}}\n"
      "UpdateTable {'TableName':'t','StreamSpecification':{'StreamEnabled':true,"
      "'StreamViewType':'NEW_IMAGE'}}\n" },
    { ",'TimeToLiveSpecification':{'AttributeName':'a','Enabled':true}",
      ",'TimeToLiveSpecification':{'AttributeName':'b','Enabled':true}",
      "~ time to live  a -> b\n"
      "UpdateTimeToLive {'TableName':'t','TimeToLiveSpecification':{'AttributeName':'a',"
      "'Enabled':false}}\n"
      "UpdateTimeToLive {'TableName':'t','TimeToLiveSpecification':{'AttributeName':'b',"
      "'Enabled':true}}\n" },
    { ",'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}", "",
      "~ point-in-time recovery  on -> off\n"
      "UpdateContinuousBackups {'TableName':'t','PointInTimeRecoverySpecification':{"
      "'PointInTimeRecoveryEnabled':false}}\n" },
    { ",'ContributorInsightsSpecification':{'Enabled':true}", "",
      "~ contributor insights  on -> off\n"
      "UpdateContributorInsights {'TableName':'t','ContributorInsightsAction':'DISABLE'}\n" },
    { ",'KinesisStreamSpecification':{'StreamArn':'x'}",
      ",'KinesisStreamSpecification':{'StreamArn':'y'}",
      "~ Kinesis stream  x -> y\n"
      "DisableKinesisStreamingDestination {'TableName':'t','StreamArn':'x'}\n"
      "EnableKinesisStreamingDestination {'TableName':'t','StreamArn':'y'}\n" },
    { ",'OnDemandThroughput':{'MaxReadRequestUnits':5}", "",
      "~ on-demand limits  5/-1 -> -1/-1\n"
      "UpdateTable {'TableName':'t','OnDemandThroughput':{'MaxReadRequestUnits':-1,"
      "'MaxWriteRequestUnits':-1}}\n" },
    { ",'WarmThroughput':{'ReadUnitsPerSecond':9}", ",'WarmThroughput':{'ReadUnitsPerSecond':8}",
      "" },
    { "", ",'SSESpecification':{'SSEEnabled':true}",
      "~ encryption  default -> KMS\n"
      "UpdateTable {'TableName':'t','SSESpecification':{'Enabled':true}}\n" },
    { ",'Tags':[{'Key':'a','Value':'1'},{'Key':'b','Value':'1'}]",
      ",'Tags':[{'Key':'b','Value':'2'}]",
      "~ tag b=2\n- tag a\n"
      "UntagResource {'ResourceArn':'arn:aws:dynamodb:us-east-1:000000000000:table/t',"
      "'TagKeys':['a']}\n"
      "TagResource {'ResourceArn':'arn:aws:dynamodb:us-east-1:000000000000:table/t','Tags':[{"
      "'Key':'b','Value':'2'}]}\n" },
    { ",'ResourcePolicy':{'PolicyDocument':{'Principal':'123456789012','a':['x']}}",
      ",'ResourcePolicy':{'PolicyDocument':{'a':'x','Principal':"
      "'arn:aws:iam::123456789012:root'}}",
      "" },
    { ",'ResourcePolicy':{'PolicyDocument':{'a':'x'}}", "",
      "- resource policy\n"
      "DeleteResourcePolicy {'ResourceArn':'arn:aws:dynamodb:us-east-1:000000000000:table/t'}"
      "\n" },
};

static void each_setting_that_changes(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(setting_cases); i++) {
        const char *before =
            (const char *)arena_printf(arena, NAMED "%s%c", setting_cases[i].before, 0).data;
        const char *after =
            (const char *)arena_printf(arena, NAMED "%s%c", setting_cases[i].after, 0).data;
        assert_string_equal(describe(arena, plan_of(arena, before, after, &as_stack)),
                            setting_cases[i].want);
        const struct plan *same = plan_of(arena, after, after, &as_stack);
        assert_int_equal(same->items[0].action, PLAN_NOTHING);
    }
}

static void billing_changes_in_one_request(void **state)
{
    struct arena *arena = *state;
    const char *provisioned =
        "'TableName':'t'," DEFINITIONS ",'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],"
        "'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5},"
        "'GlobalSecondaryIndexes':[{'IndexName':'i','KeySchema':[{'AttributeName':'g','KeyType':"
        "'HASH'}],'Projection':{'ProjectionType':'ALL'},'ProvisionedThroughput':{"
        "'ReadCapacityUnits':1,'WriteCapacityUnits':1}}]";
    const char *on_demand = NAMED ",'GlobalSecondaryIndexes':[" INDEX("i", "ALL") "]";
    assert_string_equal(
        describe(arena, plan_of(arena, on_demand, provisioned, &as_stack)),
        "~ billing  PAY_PER_REQUEST -> PROVISIONED 5/5\n"
        "UpdateTable {'TableName':'t','BillingMode':'PROVISIONED','ProvisionedThroughput':{"
        "'ReadCapacityUnits':5,'WriteCapacityUnits':5},'GlobalSecondaryIndexUpdates':[{'Update':{"
        "'IndexName':'i','ProvisionedThroughput':{'ReadCapacityUnits':1,'WriteCapacityUnits':1}}}]}"
        "\n");
    assert_string_equal(describe(arena, plan_of(arena, provisioned, on_demand, &as_stack)),
                        "~ billing  PROVISIONED 5/5 -> PAY_PER_REQUEST\n"
                        "UpdateTable {'TableName':'t','BillingMode':'PAY_PER_REQUEST'}\n");
}

static void stacks_change_one_index_at_a_time(void **state)
{
    struct arena *arena = *state;
    const char *none = NAMED, *one = NAMED ",'GlobalSecondaryIndexes':[" INDEX("a", "ALL") "]";
    const char *other = NAMED ",'GlobalSecondaryIndexes':[" INDEX("b", "ALL") "]";
    const char *both =
        NAMED ",'GlobalSecondaryIndexes':[" INDEX("a", "ALL") "," INDEX("b", "ALL") "]";
    const char *narrow = NAMED ",'GlobalSecondaryIndexes':[" INDEX("a", "KEYS_ONLY") "]";
    const char *several =
        "!Cannot perform more than one GSI creation or deletion in a single update";
    assert_string_equal(
        describe(arena, plan_of(arena, none, one, &as_stack)),
        "+ index a (g S; ALL)   builds in the background\n"
        "UpdateTable {'TableName':'t','AttributeDefinitions':[{'AttributeName':'k',"
        "'AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],"
        "'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'a','KeySchema':[{"
        "'AttributeName':'g','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}}]}\n");
    assert_string_equal(describe(arena, plan_of(arena, one, none, &as_stack)),
                        "- index a\nUpdateTable {'TableName':'t','GlobalSecondaryIndexUpdates':[{"
                        "'Delete':{'IndexName':'a'}}]}\n");
    assert_string_equal(describe(arena, plan_of(arena, none, both, &as_stack)), several);
    assert_string_equal(describe(arena, plan_of(arena, one, other, &as_stack)), several);
    assert_string_equal(describe(arena, plan_of(arena, one, narrow, &as_stack)),
                        "!Cannot update GSI's properties other than Provisioned Throughput and "
                        "Contributor Insights Specification. You can create a new GSI with a "
                        "different name.");
    const struct plan *plan = plan_of(arena, one, narrow, &as_command);
    assert_int_equal(plan->items[0].step_count, 2); /* Removed, then added. */
    assert_int_equal(plan->items[0].steps[0].wait, PLAN_WAIT_INDEXES);
    assert_int_equal(plan_of(arena, none, both, &as_command)->items[0].step_count, 2);
    assert_int_equal(plan_of(arena, one, other, &as_command)->refused_count, 0);
}

static void limits_of_indexes_and_schedules(void **state)
{
    struct arena *arena = *state;
    const char *limited =
        NAMED ",'GlobalSecondaryIndexes':[{'IndexName':'a','KeySchema':[{'AttributeName':'g',"
              "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'},'OnDemandThroughput':{"
              "'MaxReadRequestUnits':5},'WarmThroughput':{'ReadUnitsPerSecond':9}}]";
    const char *plain = NAMED ",'GlobalSecondaryIndexes':[" INDEX("a", "ALL") "]";
    assert_string_equal(
        describe(arena, plan_of(arena, plain, limited, &as_stack)),
        "~ index a  limits change\n"
        "UpdateTable {'TableName':'t','GlobalSecondaryIndexUpdates':[{'Update':{'IndexName':'a',"
        "'OnDemandThroughput':{'MaxReadRequestUnits':5,'MaxWriteRequestUnits':-1},"
        "'WarmThroughput':{'ReadUnitsPerSecond':9}}}]}\n");
    assert_int_equal(plan_of(arena, limited, limited, &as_stack)->change_count, 0);
    const char *target = "{'Resources':{'R':{'Type':"
                         "'AWS::ApplicationAutoScaling::ScalableTarget','Properties':{"
                         "'MinCapacity':1,'MaxCapacity':2,'ResourceId':'table/t',"
                         "'ScalableDimension':'dynamodb:table:ReadCapacityUnits'%s}}}}%c";
    const char *with = (const char *)arena_printf(arena, target,
                                                  ",'ScheduledActions':[{'ScheduledActionName':"
                                                  "'n','Schedule':'rate(1 day)'}]",
                                                  0)
                           .data;
    const char *without = (const char *)arena_printf(arena, target, "", 0).data;
    struct plan_before old = plan_before_of(&template_fixture_result(arena, with)->resources[0]);
    const struct plan *plan =
        plan_make(arena, template_fixture_result(arena, without), &old, 1, &as_stack);
    assert_string_equal(plan->items[0].steps[0].operation,
                        "application-autoscaling:DeleteScheduledAction");
}

static void replacement(void **state)
{
    struct arena *arena = *state;
    const char *other_key = "'TableName':'t','AttributeDefinitions':[{'AttributeName':'p',"
                            "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"
                            "'HASH'}],'BillingMode':'PAY_PER_REQUEST'";
    const char *renamed = "'TableName':'u'," DEFINITIONS "," KEY;
    const struct plan_options replace = { .allow_replace = true };
    assert_string_equal(describe(arena, plan_of(arena, NAMED, other_key, &as_stack)),
                        "!CloudFormation cannot update a stack when a custom-named resource "
                        "requires replacing. Rename t and update the stack again.");
    assert_string_equal(describe(arena, plan_of(arena, NAMED, other_key, &as_command)),
                        "!needs --allow-replace");
    const struct plan *plan = plan_of(arena, NAMED, other_key, &replace);
    assert_string_equal(plan->items[0].steps[0].operation, "DeleteTable");
    assert_int_equal(plan->items[0].steps[0].wait, PLAN_WAIT_GONE);
    assert_string_equal(plan->items[0].steps[1].operation, "CreateTable");
    /* Under another name the new one comes first. */
    plan = plan_of(arena, NAMED, renamed, &as_stack);
    assert_int_equal(plan->items[0].action, PLAN_REPLACE);
    assert_string_equal(plan->items[0].steps[0].operation, "CreateTable");
    assert_string_equal(plan->items[0].cleanup_steps[0].operation, "DeleteTable");
    /* Without a name of its own a stack's table needs a new one. */
    plan = plan_of(arena, DEFINITIONS "," KEY,
                   "'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'N'},{"
                   "'AttributeName':'g','AttributeType':'S'}]," KEY,
                   &as_stack);
    assert_true(plan->items[0].action == PLAN_REPLACE && plan->items[0].needs_new_name);
    assert_int_equal(plan->items[0].step_count, 0);
    /* Local indexes are made with their table. */
    const char *local = NAMED ",'LocalSecondaryIndexes':[" INDEX("l", "ALL") "]";
    assert_memory_equal(describe(arena, plan_of(arena, NAMED, local, &as_stack)),
                        "!Cannot update LocalSecondaryIndexes", 36);
    assert_int_equal(plan_of(arena, NAMED, local, &replace)->items[0].action, PLAN_REPLACE);
}

static void deletion(void **state)
{
    struct arena *arena = *state;
    const struct plan_options prune = { .as_stack = true, .prune = true };
    const struct plan_options command = { .prune = true };
    const struct template_result *old = template_fixture_result(
        arena,
        "{'Resources':{'A':{'Type':'AWS::DynamoDB::Table','Properties':{" NAMED "}},"
        "'B':{'Type':'AWS::DynamoDB::Table','DeletionPolicy':'Retain','Properties':{" NAMED "}},"
        "'C':{'Type':'AWS::DynamoDB::Table','Properties':{" NAMED ",'DeletionProtectionEnabled':"
        "true}},'D':{'Type':'AWS::CloudWatch::Alarm','Properties':{'AlarmName':'d',"
        "'ComparisonOperator':'x','EvaluationPeriods':1}},'E':{'Type':'X::Y::Z'},"
        "'F':{'Type':'AWS::CloudWatch::Dashboard','Properties':{'DashboardName':'f',"
        "'DashboardBody':'{}'}},'G':{'Type':'AWS::ApplicationAutoScaling::ScalableTarget',"
        "'Properties':{'MinCapacity':1,'MaxCapacity':2,'ResourceId':'table/t',"
        "'ScalableDimension':'dynamodb:table:ReadCapacityUnits'}}}}");
    struct plan_before before[7];
    assert_int_equal(old->resource_count, COUNT_OF(before));
    for (size_t i = 0; i < COUNT_OF(before); i++)
        before[i] = plan_before_of(&old->resources[i]);
    const struct plan *plan = plan_make(arena, NULL, before, COUNT_OF(before), &prune);
    static const struct {
        const char *logical_id;
        enum plan_action action;
        const char *operation;
    } wants[] = {
        { "G", PLAN_DELETE, "application-autoscaling:DeregisterScalableTarget" },
        { "F", PLAN_DELETE, "cloudwatch:DeleteDashboards" },
        { "E", PLAN_SKIP, NULL },
        { "D", PLAN_DELETE, "cloudwatch:DeleteAlarms" },
        { "C", PLAN_REFUSE, "DeleteTable" },
        { "B", PLAN_RETAIN, NULL },
        { "A", PLAN_DELETE, "DeleteTable" },
    };
    for (size_t i = 0; i < COUNT_OF(wants); i++) {
        const struct plan_item *item = &plan->items[i];
        assert_true(bytes_equal_text(item->logical_id, wants[i].logical_id));
        assert_int_equal(item->action, wants[i].action);
        assert_int_equal(item->step_count, wants[i].operation != NULL);
        if (wants[i].operation != NULL)
            assert_string_equal(item->steps[0].operation, wants[i].operation);
    }
    assert_int_equal(plan->refused_count, 1);
    plan = plan_make(arena, NULL, before, COUNT_OF(before), &command);
    assert_int_equal(plan->items[4].action, PLAN_RETAIN);
    assert_int_equal(plan->refused_count, 0);
    const struct plan_options keep = { 0 };
    assert_int_equal(plan_make(arena, NULL, before, COUNT_OF(before), &keep)->item_count, 0);
}

static void what_a_server_does_not_tell_is_left_alone(void **state)
{
    struct arena *arena = *state;
    struct plan_live_table live = {
        .describe_table = template_fixture_text(
            arena, "{'Table':{'TableName':'t','TableArn':'arn:t','ItemCount':3," DEFINITIONS ","
                   "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],'BillingModeSummary':{"
                   "'BillingMode':'PAY_PER_REQUEST'},'ProvisionedThroughput':{"
                   "'ReadCapacityUnits':0,'WriteCapacityUnits':0}}}"),
    };
    struct plan_before before;
    const struct template_result *result =
        table(arena, NAMED ",'TimeToLiveSpecification':{'AttributeName':'a','Enabled':true},'Tags':"
                           "[{'Key':'a','Value':'b'}]");
    assert_true(plan_table_state(arena, &live, &before));
    assert_int_equal(before.item_count, 3);
    assert_int_equal(plan_make(arena, result, &before, 1, &as_command)->change_count, 0);
    live.list_tags_of_resource = BYTES("{}");
    live.describe_time_to_live =
        template_fixture_text(arena, "{'TimeToLiveDescription':{'TimeToLiveStatus':'DISABLED'}}");
    assert_true(plan_table_state(arena, &live, &before));
    assert_string_equal(describe(arena, plan_make(arena, result, &before, 1, &as_command)),
                        "~ time to live  off -> a\n+ tag a=b\n"
                        "UpdateTimeToLive {'TableName':'t','TimeToLiveSpecification':{"
                        "'AttributeName':'a','Enabled':true}}\n"
                        "TagResource {'ResourceArn':'arn:t','Tags':[{'Key':'a','Value':'b'}]}\n");
    live.describe_table = BYTES("{}");
    assert_false(plan_table_state(arena, &live, &before));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(each_setting_that_changes),
        ARENA_TEST(billing_changes_in_one_request),
        ARENA_TEST(stacks_change_one_index_at_a_time),
        ARENA_TEST(limits_of_indexes_and_schedules),
        ARENA_TEST(replacement),
        ARENA_TEST(deletion),
        ARENA_TEST(what_a_server_does_not_tell_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
