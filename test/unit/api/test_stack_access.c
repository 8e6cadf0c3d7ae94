/* test_stack_access.c -- what CloudFormation's operations ask about stacks that exist: the stack
 * behind an ARN, the files behind a URL, and the resources that a deployment deletes. What they ask
 * before they look for a stack is in decisions_deployments.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "access_fixture.h"
#include "base/compiler.h"

#define CFN "cloudformation:"
#define CFN_ARN "arn:aws:cloudformation:eu-west-1:123456789012:"
#define ALL "{'Effect':'Allow','Action':'*','Resource':'*'}"
#define DENY(action, resource)                                                                     \
    ALL ",{'Effect':'Deny','Action':'" action "','Resource':'" resource "'}"
/* Of a request; quotes within it are written \'. */
#define TEMPLATE(resources) "'TemplateBody':'{\\'Resources\\':{" resources "}}'"
#define TOPIC "\\'A\\':{\\'Type\\':\\'AWS::SNS::Topic\\'}"

enum { BODY_SIZE = 4000, ATTEMPTS_MAX = 5000 };

static void must(struct access_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(&fixture->api, operation, body))
        fail_msg("%s %s: %.*s", operation, body, BYTES_FMT(fixture->api.error.message));
}

/* Waits, as an administrator, until nothing is done with the stack. */
static void settle(struct access_fixture *fixture, const char *name)
{
    static const struct timespec moment = { .tv_nsec = 1000000 };
    char body[BODY_SIZE];
    snprintf(body, sizeof body, "{'StackName':'%s'}", name);
    access_fixture_use_none(fixture);
    for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
        if (!api_fixture_call(&fixture->api, CFN "DescribeStacks", body) ||
            !api_fixture_shows(&fixture->api, "_IN_PROGRESS'"))
            return;
        nanosleep(&moment, NULL);
    }
    fail_msg("stack %s does not settle", name);
}

/* As an administrator. */
static void change(struct access_fixture *fixture, const char *operation, const char *name,
                   const char *rest)
{
    char body[BODY_SIZE];
    snprintf(body, sizeof body, "{'StackName':'%s',%s}", name, rest);
    access_fixture_use_none(fixture);
    must(fixture, operation, body);
    settle(fixture, name);
}

/* --- Names --- */

/* A policy about one name must not open another stack by the rest of an ARN. */
static void a_stack_is_found_by_its_whole_arn(void **state)
{
    struct access_fixture *fixture = *state;
    char arn[ACCESS_FIXTURE_TEXT_MAX], body[BODY_SIZE];
    change(fixture, CFN "CreateStack", "prod", TEMPLATE(TOPIC));
    access_fixture_take(fixture, "\"StackId\":\"", arn);
    const char *uid = strrchr(arn, '/') + 1;
    const struct {
        const char *head, *tail;
    } others[] = {
        { CFN_ARN "stack/own/", "prod" },
        { CFN_ARN "stack/own/", uid },
        { CFN_ARN "changeSet/prod/", uid },
        { "arn:aws:cloudformation:us-east-1:123456789012:stack/prod/", uid },
        { "arn:aws:cloudformation:eu-west-1:999999999999:stack/prod/", uid },
        { "arn:/prod/", uid },
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        snprintf(body, sizeof body, "{'StackName':'%s%s'}", others[i].head, others[i].tail);
        if (api_fixture_call(&fixture->api, CFN "GetTemplate", body) ||
            fixture->api.error.code != ERROR_VALIDATION)
            fail_msg("%s finds the stack", body);
    }
    snprintf(body, sizeof body, "{'StackName':'%s'}", arn);
    must(fixture, CFN "GetTemplate", body);
}

static void a_change_set_is_found_by_its_whole_arn(void **state)
{
    struct access_fixture *fixture = *state;
    char arn[ACCESS_FIXTURE_TEXT_MAX], body[BODY_SIZE];
    must(fixture, CFN "CreateChangeSet",
         "{'StackName':'prod','ChangeSetName':'set','ChangeSetType':'CREATE'," TEMPLATE(TOPIC) "}");
    access_fixture_take(fixture, "\"Id\":\"", arn);
    const char *uid = strrchr(arn, '/') + 1;
    const struct {
        const char *head, *tail;
    } others[] = {
        { CFN_ARN "changeSet/own/", "set" },
        { CFN_ARN "changeSet/own/", uid },
        { CFN_ARN "stack/set/", uid },
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        snprintf(body, sizeof body, "{'ChangeSetName':'%s%s'}", others[i].head, others[i].tail);
        if (api_fixture_call(&fixture->api, CFN "DescribeChangeSet", body) ||
            fixture->api.error.code != ERROR_CFN_CHANGE_SET_NOT_FOUND)
            fail_msg("%s finds the change set", body);
    }
    snprintf(body, sizeof body, "{'ChangeSetName':'%s'}", arn);
    must(fixture, CFN "DescribeChangeSet", body);
    access_fixture_use(fixture, DENY(CFN "*", CFN_ARN "stack/prod/*"));
    assert_false(api_fixture_call(&fixture->api, CFN "DescribeChangeSet", body));
    assert_int_equal(fixture->api.error.code, ERROR_ACCESS_DENIED);
}

/* Whichever way a request names the stack. */
static void a_statement_about_one_stack_holds_for_its_name(void **state)
{
    struct access_fixture *fixture = *state;
    char arn[ACCESS_FIXTURE_TEXT_MAX], policy[BODY_SIZE];
    static const char *const by_name = "{'StackName':'prod'}";
    change(fixture, CFN "CreateStack", "other", TEMPLATE(TOPIC));
    change(fixture, CFN "CreateStack", "prod", TEMPLATE(TOPIC));
    access_fixture_take(fixture, "\"StackId\":\"", arn);
    snprintf(policy, sizeof policy, ALL ",{'Effect':'Deny','Action':'" CFN "*','Resource':'%s'}",
             arn);
    access_fixture_use(fixture, policy);
    static const char *const operations[] = { CFN "GetTemplate", CFN "DescribeStacks",
                                              CFN "DeleteStack", CFN "ListChangeSets" };
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        if (api_fixture_call(&fixture->api, operations[i], by_name) ||
            fixture->api.error.code != ERROR_ACCESS_DENIED)
            fail_msg("%s is not denied", operations[i]);
    }
    must(fixture, CFN "GetTemplate", "{'StackName':'other'}");
    snprintf(policy, sizeof policy, "{'Effect':'Allow','Action':'" CFN "*','Resource':'%s'}", arn);
    access_fixture_use(fixture, policy);
    must(fixture, CFN "GetTemplate", by_name);
    assert_false(api_fixture_call(&fixture->api, CFN "GetTemplate", "{'StackName':'other'}"));
    assert_int_equal(fixture->api.error.code, ERROR_ACCESS_DENIED);
}

/* --- Files --- */

static void a_template_by_url_needs_the_right_to_read_the_file(void **state)
{
    struct access_fixture *fixture = *state;
    static const char *const urls[] = { "https://s3.amazonaws.com/cdk-assets/a/t.json",
                                        "https://cdk-assets.s3.eu-west-1.amazonaws.com/a/t.json" };
    static const struct {
        const char *operation, *rest;
    } readers[] = {
        { "CreateStack", ",'StackName':'own'" },
        { "CreateChangeSet", ",'StackName':'own','ChangeSetName':'set','ChangeSetType':'CREATE'" },
        { "GetTemplateSummary", "" },
        { "ValidateTemplate", "" },
    };
    char body[BODY_SIZE], operation[BODY_SIZE];
    must(fixture, "s3:PutObject", /* {"Resources":{"A":{"Type":"AWS::SNS::Topic"}}} */
         "{'Bucket':'cdk-assets','Key':'a/t.json',"
         "'Body':'eyJSZXNvdXJjZXMiOnsiQSI6eyJUeXBlIjoiQVdTOjpTTlM6OlRvcGljIn19fQ=='}");
    for (size_t i = 0; i < COUNT_OF(readers) * COUNT_OF(urls); i++) {
        size_t reader = i / COUNT_OF(urls);
        snprintf(operation, sizeof operation, CFN "%s", readers[reader].operation);
        snprintf(body, sizeof body, "{'TemplateURL':'%s'%s}", urls[i % COUNT_OF(urls)],
                 readers[reader].rest);
        access_fixture_use(fixture, DENY("s3:GetObject", "arn:aws:s3:::cdk-assets/a/t.json"));
        if (api_fixture_call(&fixture->api, operation, body) ||
            !access_fixture_is_refused_with(
                fixture, "User: " USER " is not authorized to perform: s3:GetObject on resource: "
                         "arn:aws:s3:::cdk-assets/a/t.json with an explicit deny in an "
                         "identity-based policy"))
            fail_msg("%s %s reads the file", operation, body);
    }
    access_fixture_use(fixture, DENY("s3:GetObject", "arn:aws:s3:::cdk-assets/b/*"));
    must(fixture, CFN "CreateStack",
         "{'StackName':'own','TemplateURL':"
         "'https://s3.amazonaws.com/cdk-assets/a/t.json'}");
    settle(fixture, "own");
}

/* --- Deletions --- */

#define TABLE(id, name, more)                                                                      \
    "\\'" id "\\':{\\'Type\\':\\'AWS::DynamoDB::Table\\'," more                                    \
    "\\'Properties\\':{\\'TableName\\':\\'" name "\\',\\'BillingMode\\':\\'PAY_PER_REQUEST\\',"    \
    "\\'AttributeDefinitions\\':[{\\'AttributeName\\':\\'p\\',\\'AttributeType\\':\\'S\\'}],"      \
    "\\'KeySchema\\':[{\\'AttributeName\\':\\'p\\',\\'KeyType\\':\\'HASH\\'}]}}"
#define ALARM                                                                                      \
    "\\'Bell\\':{\\'Type\\':\\'AWS::CloudWatch::Alarm\\',\\'Properties\\':{"                       \
    "\\'AlarmName\\':\\'bell\\',\\'Namespace\\':\\'AWS/DynamoDB\\',\\'MetricName\\':"              \
    "\\'ConsumedReadCapacityUnits\\',\\'Statistic\\':\\'Sum\\',\\'Period\\':60,"                   \
    "\\'EvaluationPeriods\\':1,\\'Threshold\\':1,"                                                 \
    "\\'ComparisonOperator\\':\\'GreaterThanThreshold\\'}}"

/* An update that failed, and was not rolled back, leaves a table that the stack's template does not
 * mention. */
static void what_a_stack_deletes_is_asked_for_by_its_records(void **state)
{
    struct access_fixture *fixture = *state;
    static const struct {
        const char *policy, *action, *body;
    } cases[] = {
        { DENY("dynamodb:DeleteTable", ARN "Old"), "DeleteStack", "{'StackName':'app'}" },
        { DENY("dynamodb:DeleteTable", ARN "Stray"), "DeleteStack", "{'StackName':'app'}" },
        { DENY("cloudwatch:DeleteAlarms", "*"), "DeleteStack", "{'StackName':'app'}" },
        { DENY("dynamodb:DeleteTable", ARN "Stray"), "UpdateStack",
          "{'StackName':'app'," TEMPLATE(TABLE("T", "Old", "") "," ALARM "," TOPIC) "}" },
        { DENY("cloudwatch:DeleteAlarms", "*"), "UpdateStack",
          "{'StackName':'app'," TEMPLATE(TABLE("T", "Old", "") "," TOPIC) "}" },
    };
    char operation[BODY_SIZE];
    change(fixture, CFN "CreateStack", "app", TEMPLATE(TABLE("T", "Old", "") "," ALARM));
    assert_true(api_fixture_shows(&fixture->api, "'CREATE_COMPLETE'"));
    change(fixture, CFN "UpdateStack", "app",
           "'DisableRollback':true," TEMPLATE(TABLE("T", "Old", "") "," ALARM "," TABLE(
               "S", "Stray", "") "," TABLE("Taken", "Tab", "\\'DependsOn\\':\\'S\\',")));
    assert_true(api_fixture_shows(&fixture->api, "'UPDATE_FAILED'"));
    must(fixture, "DescribeTable", "{'TableName':'Stray'}");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        snprintf(operation, sizeof operation, CFN "%s", cases[i].action);
        access_fixture_use(fixture, cases[i].policy);
        if (api_fixture_call(&fixture->api, operation, cases[i].body) ||
            fixture->api.error.code != ERROR_ACCESS_DENIED)
            fail_msg("%s with %s: %.*s", operation, cases[i].policy,
                     BYTES_FMT(fixture->api.error.message));
    }
    access_fixture_use(fixture, DENY("dynamodb:DeleteTable", ARN "Tab"));
    must(fixture, CFN "DeleteStack", "{'StackName':'app'}");
    settle(fixture, "app");
    assert_false(api_fixture_call(&fixture->api, "DescribeTable", "{'TableName':'Stray'}"));
    must(fixture, "DescribeTable", "{'TableName':'Tab'}");
}

/* A template that retains what it replaces needs no right to delete it, and then nothing is
 * deleted, whatever the template before said. */
static void what_an_update_replaces_is_deleted_only_with_the_right(void **state)
{
    struct access_fixture *fixture = *state;
    change(fixture, CFN "CreateStack", "app", TEMPLATE(TABLE("T", "Old", "")));
    access_fixture_use(fixture, DENY("dynamodb:DeleteTable", ARN "Old"));
    assert_false(api_fixture_call(&fixture->api, CFN "UpdateStack",
                                  "{'StackName':'app'," TEMPLATE(TABLE("T", "New", "")) "}"));
    assert_int_equal(fixture->api.error.code, ERROR_ACCESS_DENIED);
    must(fixture, CFN "UpdateStack",
         "{'StackName':'app'," TEMPLATE(
             TABLE("T", "New", "\\'UpdateReplacePolicy\\':\\'Retain\\',")) "}");
    settle(fixture, "app");
    assert_true(api_fixture_shows(&fixture->api, "'UPDATE_COMPLETE'"));
    must(fixture, "DescribeTable", "{'TableName':'New'}");
    must(fixture, "DescribeTable", "{'TableName':'Old'}");
}

/* The first update tags the table and fails, the second one fails before it takes the tag back. */
static void what_a_failed_update_left_is_undone_only_with_the_right(void **state)
{
    struct access_fixture *fixture = *state;
    static const struct {
        const char *action, *rest;
    } cases[] = {
        { "RollbackStack", "" },
        { "UpdateStack", "," TEMPLATE(TABLE("T", "Old", "") "," TOPIC) },
    };
    char operation[BODY_SIZE], body[BODY_SIZE];
    change(fixture, CFN "CreateStack", "app", TEMPLATE(TABLE("T", "Old", "")));
    change(fixture, CFN "UpdateStack", "app",
           "'DisableRollback':true,'Tags':[{'Key':'k','Value':'v'}]," TEMPLATE(
               TABLE("T", "Old", "") "," TABLE("Taken", "Tab", "\\'DependsOn\\':\\'T\\',")));
    assert_true(api_fixture_shows(&fixture->api, "'UPDATE_FAILED'"));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        snprintf(operation, sizeof operation, CFN "%s", cases[i].action);
        snprintf(body, sizeof body, "{'StackName':'app'%s}", cases[i].rest);
        access_fixture_use(fixture, DENY("dynamodb:UntagResource", ARN "Old"));
        if (api_fixture_call(&fixture->api, operation, body) ||
            fixture->api.error.code != ERROR_ACCESS_DENIED)
            fail_msg("%s: %.*s", operation, BYTES_FMT(fixture->api.error.message));
    }
    access_fixture_use(fixture, DENY("dynamodb:UntagResource", ARN "Tab"));
    must(fixture, CFN "RollbackStack", "{'StackName':'app'}");
    settle(fixture, "app");
    assert_true(api_fixture_shows(&fixture->api, "'UPDATE_ROLLBACK_COMPLETE'"));
    /* At rest, nothing is asked for a table that the update leaves alone. */
    access_fixture_use(fixture, DENY("dynamodb:UntagResource", ARN "Old"));
    must(fixture, CFN "UpdateStack",
         "{'StackName':'app'," TEMPLATE(TABLE("T", "Old", "") "," TOPIC) "}");
    settle(fixture, "app");
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, access_fixture_set_up, access_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stack_is_found_by_its_whole_arn),
        TEST(a_change_set_is_found_by_its_whole_arn),
        TEST(a_statement_about_one_stack_holds_for_its_name),
        TEST(a_template_by_url_needs_the_right_to_read_the_file),
        TEST(what_a_stack_deletes_is_asked_for_by_its_records),
        TEST(what_an_update_replaces_is_deleted_only_with_the_right),
        TEST(what_a_failed_update_left_is_undone_only_with_the_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
