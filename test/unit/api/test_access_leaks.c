/* test_access_leaks.c -- what is denied is denied by every way to it: triggers, items shown by
 * failed conditions, and errors that tell what exists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "access_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "policy_fixture.h"

#define DENY(resource)                                                                             \
    ALLOW ",{'Effect':'Deny','Action':'dynamodb:*','Resource':'" ARN resource "'}"
#define ADD "{'TableName':'Tab','Url':'http://127.0.0.1:1/f'}"
#define ITEM "{'pk':{'S':'alice'},'sk':{'N':'1'},'secret':{'S':'hidden treasure'}}"
#define ALICE KEY("alice")

static bool shows_secret(const struct access_fixture *fixture)
{
    struct bytes shown[] = { fixture->api.response, fixture->api.error.item_json,
                             fixture->api.error.message, fixture->api.error.reasons_json };
    for (size_t i = 0; i < COUNT_OF(shown); i++)
        if (shown[i].len > 0 && memmem(shown[i].data, shown[i].len, "treasure", 8) != NULL)
            return true;
    return false;
}

/* --- Triggers --- */

/* As an administrator would. */
static void add_trigger(struct access_fixture *fixture, const char *url,
                        char uuid[ACCESS_FIXTURE_TEXT_MAX])
{
    char body[2000];
    access_fixture_use_none(fixture);
    snprintf(body, sizeof body, "{'TableName':'Tab','Url':'%s'}", url);
    assert_true(api_fixture_call(&fixture->api, "AddTrigger", body));
    access_fixture_take(fixture, "\"UUID\":\"", uuid);
}

static void put_policy(struct access_fixture *fixture, const char *arn, const char *action)
{
    char body[2000];
    access_fixture_use_none(fixture);
    snprintf(body, sizeof body,
             "{'ResourceArn':'%s','Policy':'{\\'Statement\\':{\\'Effect\\':\\'Deny\\',"
             "\\'Principal\\':\\'*\\',\\'Action\\':\\'dynamodb:%s\\',\\'Resource\\':\\'*\\'}}',"
             "'ConfirmRemoveSelfResourceAccess':true}",
             arn, action);
    assert_true(api_fixture_call(&fixture->api, "PutResourcePolicy", body));
}

static void a_trigger_is_added_only_by_who_may_use_table_and_stream(void **state)
{
    struct access_fixture *fixture = *state;
    static const char *const denied[] = {
        DENY("Tab"),
        DENY("Tab/stream/*"),
        "{'Effect':'Allow','Action':'dynamodb:*','NotResource':'" ARN "Tab'}",
        "{'Effect':'Allow','NotAction':'dynamodb:GetRecords','Resource':'*'}",
        "{'Effect':'Allow','NotAction':'dynamodb:GetShardIterator','Resource':'*'}",
        "{'Effect':'Allow','NotAction':'dynamodb:DescribeStream','Resource':'*'}",
        "{'Effect':'Allow','Action':'*','Resource':'" ARN "Tab'}",
        ALLOW_IF("'ForAllValues:StringEquals':{'dynamodb:Attributes':'pk'}"),
    };
    for (size_t i = 0; i < COUNT_OF(denied); i++) {
        access_fixture_use(fixture, denied[i]);
        if (access_fixture_passes(fixture, "AddTrigger", ADD))
            fail_msg("%s", denied[i]);
    }
    access_fixture_use(fixture, ALLOW);
    assert_true(api_fixture_call(&fixture->api, "AddTrigger", ADD));
}

static void policies_of_table_and_stream_deny_triggers(void **state)
{
    struct access_fixture *fixture = *state;
    put_policy(fixture, ARN "Tab", "AddTrigger");
    access_fixture_use(fixture, ALLOW);
    assert_false(access_fixture_passes(fixture, "AddTrigger", ADD));
    put_policy(fixture, ARN "Tab", "N*g");
    put_policy(fixture, LIVE_STREAM_ARN, "GetRecords");
    access_fixture_use(fixture, ALLOW);
    assert_false(access_fixture_passes(fixture, "AddTrigger", ADD));
    put_policy(fixture, LIVE_STREAM_ARN, "N*g");
    access_fixture_use(fixture, ALLOW);
    assert_true(access_fixture_passes(fixture, "AddTrigger", ADD));
}

/* --- Policies of streams --- */

#define READ "{'ShardIterator':'@'}"

static bool reads_stream(struct access_fixture *fixture)
{
    access_fixture_use(fixture, ALLOW);
    return access_fixture_passes(fixture, "GetRecords", access_fixture_body(fixture, READ));
}

static void set_stream(struct access_fixture *fixture, const char *specification)
{
    char body[2000];
    access_fixture_use_none(fixture);
    snprintf(body, sizeof body, "{'TableName':'Tab','StreamSpecification':%s}", specification);
    assert_true(api_fixture_call(&fixture->api, "UpdateTable", body));
}

static void a_streams_policy_lasts_as_long_as_its_records_when_the_table_goes(void **state)
{
    struct access_fixture *fixture = *state;
    put_policy(fixture, LIVE_STREAM_ARN, "GetRecords");
    assert_false(reads_stream(fixture));
    access_fixture_use_none(fixture);
    assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'Tab'}"));
    assert_false(reads_stream(fixture));
    api_fixture_restart(&fixture->api, 1000);
    assert_false(reads_stream(fixture));
}

static void a_streams_policy_lasts_when_a_newer_stream_has_one(void **state)
{
    struct access_fixture *fixture = *state;
    char arn[ACCESS_FIXTURE_TEXT_MAX];
    put_policy(fixture, LIVE_STREAM_ARN, "GetRecords");
    set_stream(fixture, "{'StreamEnabled':false}");
    assert_false(reads_stream(fixture));
    set_stream(fixture, "{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'}");
    access_fixture_take(fixture, "\"LatestStreamArn\":\"", arn);
    assert_string_not_equal(arn, LIVE_STREAM_ARN);
    assert_false(reads_stream(fixture));
    put_policy(fixture, arn, "N*g");
    assert_false(reads_stream(fixture));
}

static void the_last_policy_of_a_stream_counts(void **state)
{
    struct access_fixture *fixture = *state;
    put_policy(fixture, LIVE_STREAM_ARN, "GetRecords");
    set_stream(fixture, "{'StreamEnabled':false}");
    assert_true(api_fixture_call(&fixture->api, "DeleteResourcePolicy",
                                 "{'ResourceArn':'" LIVE_STREAM_ARN "'}"));
    assert_true(reads_stream(fixture));
    access_fixture_use_none(fixture);
    assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'Tab'}"));
    assert_true(reads_stream(fixture));
}

/* --- Triggers --- */

static void triggers_are_listed_only_to_who_may_see_their_table(void **state)
{
    struct access_fixture *fixture = *state;
    char uuid[ACCESS_FIXTURE_TEXT_MAX];
    add_trigger(fixture, "http://127.0.0.1:1/hook", uuid);
    access_fixture_use(fixture, DENY("Tab"));
    api_fixture_expect(&fixture->api, "ListTriggers", "{}", "{'Triggers':[]}");
    assert_false(access_fixture_passes(fixture, "ListTriggers", "{'TableName':'Tab'}"));
    access_fixture_use(
        fixture, "{'Effect':'Allow','Action':'dynamodb:ListTriggers','Resource':'" ARN "Tab'}");
    assert_true(api_fixture_call(&fixture->api, "ListTriggers", "{'TableName':'Tab'}"));
    assert_true(api_fixture_shows(&fixture->api, uuid));
    put_policy(fixture, ARN "Tab", "ListTriggers");
    access_fixture_use(fixture, ALLOW);
    api_fixture_expect(&fixture->api, "ListTriggers", "{}", "{'Triggers':[]}");
}

static void a_trigger_that_may_not_be_removed_is_answered_like_a_missing_one(void **state)
{
    struct access_fixture *fixture = *state;
    static const char *const policies[] = {
        DENY("Tab"), "{'Effect':'Allow','Action':'dynamodb:GetItem','Resource':'*'}",
        "{'Effect':'Allow','Action':'dynamodb:*','NotResource':'" ARN "Tab'}"
    };
    static const char missing[] = "00000000-0000-0000-0000-000000000000";
    char uuid[ACCESS_FIXTURE_TEXT_MAX], body[2000], told[2000];
    add_trigger(fixture, "http://127.0.0.1:1/hook", uuid);
    for (size_t i = 0; i < COUNT_OF(policies); i++) {
        access_fixture_use(fixture, policies[i]);
        snprintf(body, sizeof body, "{'UUID':'%s'}", uuid);
        assert_false(api_fixture_call(&fixture->api, "RemoveTrigger", body));
        enum error_code code = fixture->api.error.code;
        snprintf(told, sizeof told, "%.*s", BYTES_FMT(fixture->api.error.message));
        char *named = strstr(told, uuid);
        if (named != NULL)
            memcpy(named, missing, sizeof missing - 1);
        snprintf(body, sizeof body, "{'UUID':'%s'}", missing);
        api_fixture_expect_error(&fixture->api, "RemoveTrigger", body, code, told);
    }
    access_fixture_use(
        fixture, "{'Effect':'Allow','Action':'dynamodb:RemoveTrigger','Resource':'" ARN "Tab'}");
    snprintf(body, sizeof body, "{'UUID':'%s'}", uuid);
    assert_true(api_fixture_call(&fixture->api, "RemoveTrigger", body));
}

static void a_triggers_url_is_shown_without_its_secrets(void **state)
{
    struct access_fixture *fixture = *state;
    char uuid[ACCESS_FIXTURE_TEXT_MAX];
    add_trigger(fixture, "http://127.0.0.1:1/hook?token=treasure", uuid);
    assert_false(shows_secret(fixture));
    assert_true(api_fixture_call(&fixture->api, "ListTriggers", "{}"));
    assert_false(shows_secret(fixture));
    assert_true(api_fixture_shows(&fixture->api, "'Url':'http://127.0.0.1:1/hook'"));
}

/* --- Items that are shown --- */

#define ON_FAILURE ",'ReturnValuesOnConditionCheckFailure':'ALL_OLD'"
#define ABSENT ",'ConditionExpression':'attribute_not_exists(pk)'"
#define NO_VALUES "'StringEqualsIfExists':{'dynamodb:ReturnValues':'NONE'}"
#define FEW_NAMES "'ForAllValues:StringEquals':{'dynamodb:Attributes':['pk','sk','x']}"

static const struct {
    const char *operation;
    const char *body;
} showing[] = {
    { "PutItem", "{'TableName':'Tab','Item':" ALICE ABSENT ON_FAILURE "}" },
    { "UpdateItem", "{'TableName':'Tab','Key':" ALICE ABSENT ON_FAILURE "}" },
    { "DeleteItem", "{'TableName':'Tab','Key':" ALICE ABSENT ON_FAILURE "}" },
    { "ExecuteStatement",
      "{'Statement':'UPDATE Tab SET x=1 WHERE pk=~alice~ AND sk=1 AND x=5'" ON_FAILURE "}" },
    { "ExecuteStatement",
      "{'Statement':'DELETE FROM Tab WHERE pk=~alice~ AND sk=1 AND x=5'" ON_FAILURE "}" },
    { "TransactWriteItems",
      "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" ALICE ABSENT ON_FAILURE "}}]}" },
    { "TransactWriteItems",
      "{'TransactItems':[{'ConditionCheck':{'TableName':'Tab','Key':" ALICE ABSENT ON_FAILURE
      "}}]}" },
    { "ExecuteTransaction",
      "{'TransactStatements':[{'Statement':'UPDATE Tab SET x=1 WHERE pk=~alice~ AND sk=1 AND "
      "x=5'" ON_FAILURE "}]}" },
    { "PutItem", "{'TableName':'Tab','Item':" ALICE ",'ReturnValues':'ALL_OLD'}" },
    { "UpdateItem", "{'TableName':'Tab','Key':" ALICE ",'ReturnValues':'ALL_NEW'}" },
    { "DeleteItem", "{'TableName':'Tab','Key':" ALICE ",'ReturnValues':'ALL_OLD'}" },
    { "ExecuteStatement",
      "{'Statement':'UPDATE Tab SET x=1 WHERE pk=~alice~ AND sk=1 RETURNING ALL NEW *'}" },
};
static const struct {
    const char *operation;
    const char *body;
} reading[] = {
    { "GetItem", "{'TableName':'Tab','Key':" ALICE "}" },
    { "BatchGetItem", "{'RequestItems':{'Tab':{'Keys':[" ALICE "]}}}" },
    { "TransactGetItems", "{'TransactItems':[{'Get':{'TableName':'Tab','Key':" ALICE "}}]}" },
    { "Query", "{'TableName':'Tab','KeyConditionExpression':'pk=:v','ExpressionAttributeValues':"
               "{':v':{'S':'alice'}}}" },
    { "Scan", "{'TableName':'Tab'}" },
    { "Scan", "{'TableName':'Tab','IndexName':'Ind'}" },
    { "ExecuteStatement", STATEMENT("SELECT * FROM Tab WHERE pk=~alice~") },
    { "ExecuteTransaction", TRANSACTION("SELECT * FROM Tab WHERE pk=~alice~ AND sk=1") },
    { "BatchExecuteStatement",
      "{'Statements':[{'Statement':'SELECT * FROM Tab WHERE pk=~alice~ AND sk=1'}]}" },
    { "GetRecords", "{'ShardIterator':'@'}" },
};

static void put_secret(struct access_fixture *fixture)
{
    access_fixture_use_none(fixture);
    assert_true(api_fixture_call(&fixture->api, "PutItem", "{'TableName':'Tab','Item':" ITEM "}"));
}

static void items_are_shown_only_where_returned_values_are_allowed(void **state)
{
    struct access_fixture *fixture = *state;
    static const char *const policies[] = { ALLOW_IF(NO_VALUES), ALLOW_IF(FEW_NAMES),
                                            DENY_IF("'ForAnyValue:StringEquals':{'dynamodb:"
                                                    "Attributes':['secret']}") };
    for (size_t i = 0; i < COUNT_OF(showing); i++) {
        for (size_t j = 0; j < COUNT_OF(policies); j++) {
            put_secret(fixture);
            access_fixture_use(fixture, policies[j]);
            if (access_fixture_passes(fixture, showing[i].operation, showing[i].body) ||
                shows_secret(fixture))
                fail_msg("%s %s under %s", showing[i].operation, showing[i].body, policies[j]);
        }
        /* The rows do show the item to whoever may see it. */
        put_secret(fixture);
        access_fixture_use(fixture, ALLOW);
        access_fixture_passes(fixture, showing[i].operation, showing[i].body);
        if (!shows_secret(fixture))
            fail_msg("%s %s: %.*s", showing[i].operation, showing[i].body,
                     BYTES_FMT(fixture->api.error.message));
    }
}

static void whole_items_are_read_only_where_all_attributes_are_allowed(void **state)
{
    struct access_fixture *fixture = *state;
    put_secret(fixture);
    for (size_t i = 0; i < COUNT_OF(reading); i++) {
        access_fixture_use(fixture, ALLOW_IF(FEW_NAMES));
        if (access_fixture_passes(fixture, reading[i].operation, reading[i].body))
            fail_msg("%s %s", reading[i].operation, reading[i].body);
        access_fixture_use(fixture, DENY_IF("'ForAnyValue:StringEquals':{'dynamodb:Attributes':"
                                            "['secret']}"));
        if (access_fixture_passes(fixture, reading[i].operation, reading[i].body))
            fail_msg("%s %s", reading[i].operation, reading[i].body);
        access_fixture_use(fixture,
                           ALLOW_IF("'ForAllValues:StringLike':{'dynamodb:Attributes':'*'}"));
        if (!access_fixture_passes(fixture, reading[i].operation, reading[i].body))
            fail_msg("%s %s", reading[i].operation, reading[i].body);
    }
}

/* --- What exists --- */

#define VALUES ",'ExpressionAttributeValues':{':v':{'S':'x'}}"

/* Requests that differ in what exists: %s is a table. Each would end in another error, or in none,
 * were it not refused. */
static const struct {
    const char *operation;
    const char *body;
} probes[] = {
    { "GetItem", "{'TableName':'%s','Key':" ALICE "}" },
    { "GetItem", "{'TableName':'%s','Key':{'nokey':{'S':'x'}}}" },
    { "PutItem", "{'TableName':'%s','Item':" ALICE "}" },
    { "PutItem", "{'TableName':'%s','Item':{'pk':{'N':'1'},'sk':{'N':'1'}}}" },
    { "PutItem", "{'TableName':'%s','Item':{'pk':{'S':'x'},'sk':{'N':'1'},'g':{'N':'1'}}}" },
    { "UpdateItem", "{'TableName':'%s','Key':{'pk':{'S':'x'}}}" },
    { "DeleteItem", "{'TableName':'%s','Key':{'pk':{'S':'x'}}}" },
    { "Query", "{'TableName':'%s','KeyConditionExpression':'pk=:v'" VALUES "}" },
    { "Query", "{'TableName':'%s','KeyConditionExpression':'nokey=:v'" VALUES "}" },
    { "Query", "{'TableName':'%s','IndexName':'Ind','KeyConditionExpression':'g=:v'" VALUES "}" },
    { "Query", "{'TableName':'%s','IndexName':'Ind','KeyConditionExpression':'h=:v'" VALUES "}" },
    { "Query", "{'TableName':'%s','IndexName':'Ind','ConsistentRead':true,'KeyConditionExpression':"
               "'g=:v'" VALUES "}" },
    { "Scan", "{'TableName':'%s'}" },
    { "Scan", "{'TableName':'%s','IndexName':'Ind'}" },
    { "Scan", "{'TableName':'%s','IndexName':'None'}" },
    { "Scan", "{'TableName':'%s','ExclusiveStartKey':{'nokey':{'S':'x'}}}" },
    { "BatchGetItem", "{'RequestItems':{'%s':{'Keys':[" ALICE "]}}}" },
    { "BatchGetItem", "{'RequestItems':{'%s':{'Keys':[{'nokey':{'S':'x'}}]}}}" },
    { "BatchWriteItem", "{'RequestItems':{'%s':[{'PutRequest':{'Item':" ALICE "}}]}}" },
    { "BatchWriteItem", "{'RequestItems':{'%s':[{'DeleteRequest':{'Key':{'x':{'S':'x'}}}}]}}" },
    { "TransactGetItems", "{'TransactItems':[{'Get':{'TableName':'%s','Key':" ALICE "}}]}" },
    { "TransactGetItems",
      "{'TransactItems':[{'Get':{'TableName':'%s','Key':{'nokey':{'S':'x'}}}}]}" },
    { "TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'%s','Item':" ALICE "}}]}" },
    { "TransactWriteItems",
      "{'TransactItems':[{'Delete':{'TableName':'%s','Key':{'nokey':{'S':'x'}}}}]}" },
    { "ExecuteStatement", STATEMENT("SELECT * FROM %s WHERE pk=~a~") },
    { "ExecuteStatement", STATEMENT("SELECT * FROM %s WHERE pk=1") },
    { "ExecuteStatement", STATEMENT("SELECT * FROM %s WHERE pk=~a~ ORDER BY nokey") },
    { "ExecuteStatement", STATEMENT("SELECT * FROM %s.Ind WHERE g=~a~") },
    { "ExecuteStatement", STATEMENT("SELECT * FROM %s.None WHERE g=~a~") },
    { "ExecuteStatement", STATEMENT("INSERT INTO %s VALUE {~pk~:~a~,~sk~:1}") },
    { "ExecuteStatement", STATEMENT("INSERT INTO %s VALUE {~nokey~:1}") },
    { "ExecuteStatement", STATEMENT("UPDATE %s SET x=1 WHERE nokey=1") },
    { "ExecuteStatement", STATEMENT("DELETE FROM %s WHERE pk=~a~ AND sk=1") },
    { "BatchExecuteStatement", "{'Statements':[{'Statement':'SELECT * FROM %s WHERE nokey=1'}]}" },
    { "BatchExecuteStatement",
      "{'Statements':[{'Statement':'DELETE FROM %s WHERE pk=~a~ AND sk=1'}]}" },
    { "ExecuteTransaction", TRANSACTION("SELECT * FROM %s WHERE nokey=1") },
    { "ExecuteTransaction", TRANSACTION("SELECT * FROM %s WHERE pk=~a~ AND sk=1") },
    { "ExecuteTransaction", TRANSACTION("UPDATE %s SET x=1 WHERE nokey=1") },
    { "ExecuteTransaction", TRANSACTION("DELETE FROM %s WHERE pk=~a~ AND sk=1") },
    { "DescribeTable", "{'TableName':'%s'}" },
    { "CreateTable",
      "{'TableName':'%s','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],"
      "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'}" },
    { "UpdateTable", "{'TableName':'%s','DeletionProtectionEnabled':false}" },
    { "DeleteTable", "{'TableName':'%s'}" },
    { "DescribeTimeToLive", "{'TableName':'%s'}" },
    { "DescribeContinuousBackups", "{'TableName':'%s'}" },
    { "DescribeContributorInsights", "{'TableName':'%s','IndexName':'Ind'}" },
    { "ListTriggers", "{'TableName':'%s'}" },
    { "AddTrigger", "{'TableName':'%s','Url':'http://127.0.0.1:1/f'}" },
    { "ListTagsOfResource", "{'ResourceArn':'" ARN "%s'}" },
    { "TagResource", "{'ResourceArn':'" ARN "%s','Tags':[{'Key':'k','Value':'v'}]}" },
    { "GetResourcePolicy", "{'ResourceArn':'" ARN "%s'}" },
    { "GetResourcePolicy", "{'ResourceArn':'" ARN "%s/stream/2023-11-14T22:13:20.000'}" },
    { "DescribeStream", "{'StreamArn':'" ARN "%s/stream/2023-11-14T22:13:20.000'}" },
};

/* What the last call told, in `out`. */
static void copy_answer(struct access_fixture *fixture, char out[4000])
{
    snprintf(out, 4000, "%d %.*s %.*s", (int)fixture->api.error.code,
             BYTES_FMT(fixture->api.error.message), BYTES_FMT(fixture->api.response));
}

static void ask(struct access_fixture *fixture, size_t probe, const char *table, char out[4000])
{
    char body[1000];
    snprintf(body, sizeof body, probes[probe].body, table);
    failing_engine_set(fixture->api.engine, &(struct failing_engine_plan){ .call = 0 });
    if (access_fixture_passes(fixture, probes[probe].operation, body))
        fail_msg("%s %s is let through", probes[probe].operation, body);
    copy_answer(fixture, out);
    /* Nor does the time tell anything: a refusal reads nothing, of neither table. */
    assert_int_equal(failing_engine_calls(fixture->api.engine), 0);
}

/* The names are of one length, so that nothing but the name itself may differ. */
static void existing_and_missing_tables_are_answered_alike(void **state)
{
    struct access_fixture *fixture = *state;
    static const char *const policies[] = {
        "{'Effect':'Allow','Action':'dynamodb:Nothing','Resource':'*'}",
        "{'Effect':'Allow','Action':'*','Resource':'" ARN "Other'}",
        "{'Effect':'Deny','Action':'*','Resource':'*'}",
        /* It may do something else, which is no right to this. */
        "{'Effect':'Allow','Action':'dynamodb:DescribeLimits','Resource':'*'},{'Effect':'Allow',"
        "'Action':'*','NotResource':['" ARN "Tab*','" ARN "Abc*']}",
        ALLOW_IF("'StringEquals':{'aws:ResourceTag/team':'red'}"),
        ALLOW_IF("'StringEquals':{'aws:username':'bob'}"),
    };
    for (size_t i = 0; i < COUNT_OF(policies); i++) {
        for (size_t j = 0; j < COUNT_OF(probes); j++) {
            char existing[4000], missing[4000];
            access_fixture_use(fixture, policies[i]);
            ask(fixture, j, "Tab", existing);
            ask(fixture, j, "Abc", missing);
            for (char *at = missing; (at = strstr(at, "Abc")) != NULL;)
                memcpy(at, "Tab", 3);
            if (strcmp(existing, missing) != 0)
                fail_msg("%s %s under %s\n exists: %s\nmissing: %s", probes[j].operation,
                         probes[j].body, policies[i], existing, missing);
        }
    }
}

static void a_denied_table_of_several_is_told_before_what_is_wrong_with_another(void **state)
{
    struct access_fixture *fixture = *state;
    access_fixture_use(fixture, "{'Effect':'Allow','Action':'*','NotResource':'" ARN "Abc'}");
    static const struct {
        const char *operation;
        const char *body;
    } several[] = {
        { "BatchGetItem",
          "{'RequestItems':{'Tab':{'Keys':[{'nokey':{'S':'x'}}]},'Abc':{'Keys':[" ALICE "]}}}" },
        { "BatchWriteItem",
          "{'RequestItems':{'Tab':[{'DeleteRequest':{'Key':{'x':{'S':'x'}}}}],'Abc':"
          "[{'DeleteRequest':{'Key':" ALICE "}}]}}" },
        { "TransactWriteItems", "{'TransactItems':[{'Delete':{'TableName':'Xyz','Key':" ALICE
                                "}},{'Delete':{'TableName':'Abc','Key':" ALICE "}}]}" },
        { "ExecuteTransaction",
          "{'TransactStatements':[{'Statement':'DELETE FROM Tab WHERE nokey=1'},"
          "{'Statement':'DELETE FROM Abc WHERE pk=~a~'}]}" },
    };
    for (size_t i = 0; i < COUNT_OF(several); i++)
        if (access_fixture_passes(fixture, several[i].operation, several[i].body))
            fail_msg("%s: %.*s", several[i].operation, BYTES_FMT(fixture->api.error.message));
}

/* A statement's condition may name partitions in several terms, of which a write goes by one. */
static void every_partition_that_a_statement_names_is_asked_about(void **state)
{
    struct access_fixture *fixture = *state;
    static const char *const statements[] = {
        STATEMENT("UPDATE Tab SET x=1 WHERE pk IN [~alice~] AND pk=~bob~ AND sk=1"),
        STATEMENT("UPDATE Tab SET x=1 WHERE pk=~bob~ AND pk IN [~alice~] AND sk=1"),
        STATEMENT("DELETE FROM Tab WHERE (pk=~alice~ OR pk=~alice~) AND pk=~bob~ AND sk=1"),
        STATEMENT("SELECT * FROM Tab WHERE pk=~alice~ OR pk=~bob~"),
    };
    access_fixture_use(fixture, ALLOW_IF("'ForAllValues:StringEquals':{'dynamodb:LeadingKeys':"
                                         "['alice']}"));
    for (size_t i = 0; i < COUNT_OF(statements); i++)
        if (access_fixture_passes(fixture, "ExecuteStatement", statements[i]))
            fail_msg("%s", statements[i]);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, access_fixture_set_up, access_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_trigger_is_added_only_by_who_may_use_table_and_stream),
        TEST(policies_of_table_and_stream_deny_triggers),
        TEST(a_streams_policy_lasts_as_long_as_its_records_when_the_table_goes),
        TEST(a_streams_policy_lasts_when_a_newer_stream_has_one),
        TEST(the_last_policy_of_a_stream_counts),
        TEST(triggers_are_listed_only_to_who_may_see_their_table),
        TEST(a_trigger_that_may_not_be_removed_is_answered_like_a_missing_one),
        TEST(a_triggers_url_is_shown_without_its_secrets),
        TEST(items_are_shown_only_where_returned_values_are_allowed),
        TEST(whole_items_are_read_only_where_all_attributes_are_allowed),
        TEST(existing_and_missing_tables_are_answered_alike),
        TEST(a_denied_table_of_several_is_told_before_what_is_wrong_with_another),
        TEST(every_partition_that_a_statement_names_is_asked_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
