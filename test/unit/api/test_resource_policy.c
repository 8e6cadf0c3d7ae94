/* test_resource_policy.c -- policies of tables and streams: stored, with their revisions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"
#include "table/catalogue.h"

static struct api_fixture db;

/* Within a body, a policy is a string, whose quotes are \'. */
#define TABLE_BODY(rest)                                                                           \
    "{'TableName':'abc','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'a','AttributeType':'S'}],'KeySchema':[{'AttributeName':'a','KeyType':"      \
    "'HASH'}],'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}" rest "}"
#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/abc"
#define STREAM_ARN ARN "/stream/2023-11-14T22:13:20.000"
#define RESOURCE(arn) "{'ResourceArn':'" arn "'}"
#define PUT(arn, policy) "{'ResourceArn':'" arn "','Policy':'" policy "'}"
#define PUT_IF(revision, policy)                                                                   \
    "{'ResourceArn':'" ARN "','Policy':'" policy "','ExpectedRevisionId':'" revision "'}"
#define DELETE_IF(revision) "{'ResourceArn':'" ARN "','ExpectedRevisionId':'" revision "'}"
#define REVISION(revision) "{'RevisionId':'" revision "'}"
#define POLICY(policy, revision) "{'Policy':'" policy "','RevisionId':'" revision "'}"
/* Two policies, in the form in which they are shown. */
#define DENYING(action)                                                                            \
    "{\\'Version\\':\\'2012-10-17\\',\\'Statement\\':[{\\'Effect\\':\\'Deny\\',"                   \
    "\\'Principal\\':\\'*\\',\\'Action\\':\\'" action "\\',\\'Resource\\':\\'*\\'}]}"
#define ONE DENYING("dynamodb:*Item")
#define OTHER DENYING("dynamodb:*Items")
#define NO_POLICY_OF "Resource-based policy not found for the provided ResourceArn: "
#define INVALID "One or more parameter values were invalid: "

enum { TRANSITION_MS = 60000 };

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    assert_true(api_fixture_call(&db, "CreateTable", TABLE_BODY("")));
    return 0;
}

static int set_up_slow(void **state)
{
    (void)state;
    api_fixture_open(&db, TRANSITION_MS);
    assert_true(api_fixture_call(&db, "CreateTable", TABLE_BODY(",'ResourcePolicy':'" ONE "'")));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

static void expect_none(const char *arn)
{
    char body[256], message[256];
    snprintf(body, sizeof body, RESOURCE("%s"), arn);
    snprintf(message, sizeof message, NO_POLICY_OF "%s", arn);
    api_fixture_expect_error(&db, "GetResourcePolicy", body, ERROR_POLICY_NOT_FOUND, message);
}

static void a_policy_is_returned_in_a_form_of_its_own(void **state)
{
    (void)state;
    expect_none(ARN);
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN, " \\n " ONE "\\n"),
                       REVISION("1700000000000"));
    api_fixture_expect(&db, "GetResourcePolicy", RESOURCE(ARN), POLICY(ONE, "1700000000000"));
}

static void each_change_is_a_revision_of_its_own(void **state)
{
    (void)state;
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN, ONE), REVISION("1700000000000"));
    db.clock.fixed_ms += 5;
    /* The same document again is no change. */
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN, ONE), REVISION("1700000000000"));
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN, OTHER), REVISION("1700000000005"));
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN, ONE), REVISION("1700000000006"));
    db.clock.fixed_ms -= 1000;
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN, OTHER), REVISION("1700000000007"));
    api_fixture_expect(&db, "DeleteResourcePolicy", RESOURCE(ARN), REVISION("1700000000007"));
    /* The deletion was one, too. */
    api_fixture_expect(&db, "DeleteResourcePolicy", RESOURCE(ARN), REVISION("1700000000008"));
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN, OTHER), REVISION("1700000000009"));
    api_fixture_expect(&db, "GetResourcePolicy", RESOURCE(ARN), POLICY(OTHER, "1700000000009"));
}

#define NO_REVISION(asked)                                                                         \
    "Requested update for policy with revision id " asked                                          \
    ", but table abc has no associated policy."
#define OTHER_REVISION(asked, current)                                                             \
    "Requested update for policy with revision id " asked ", but the policy associated to target " \
    "table abc has revision id " current "."

static void a_change_may_depend_on_the_revision(void **state)
{
    (void)state;
    static const struct {
        const char *operation, *body;
        const char *response; /* NULL: refused. */
        const char *why;      /* Behind the usual beginning. */
    } steps[] = {
        { "PutResourcePolicy", PUT_IF("1700000000000", ONE), NULL, NO_REVISION("1700000000000") },
        { "DeleteResourcePolicy", DELETE_IF("1700000000000"), NULL, NO_REVISION("1700000000000") },
        { "DeleteResourcePolicy", DELETE_IF("NO_POLICY"), NULL, NO_REVISION("NO_POLICY") },
        { "PutResourcePolicy", PUT_IF("NO_POLICY", ONE), REVISION("1700000000000"), NULL },
        { "PutResourcePolicy", PUT_IF("NO_POLICY", ONE), NULL,
          "Requested policy update expecting none to be present for table abc, but a policy exists "
          "with revision id 1700000000000." },
        { "PutResourcePolicy", PUT_IF("1700000000001", OTHER), NULL,
          OTHER_REVISION("1700000000001", "1700000000000") },
        /* Compared as text. */
        { "PutResourcePolicy", PUT_IF("01700000000000", OTHER), NULL,
          OTHER_REVISION("01700000000000", "1700000000000") },
        { "PutResourcePolicy", PUT_IF("1700000000000", OTHER), REVISION("1700000000001"), NULL },
        { "DeleteResourcePolicy", DELETE_IF("1700000000000"), NULL,
          OTHER_REVISION("1700000000000", "1700000000001") },
        { "DeleteResourcePolicy", DELETE_IF("1700000000001"), REVISION("1700000000001"), NULL },
        { "DeleteResourcePolicy", DELETE_IF("1700000000001"), NULL, NO_REVISION("1700000000001") },
        { "DeleteResourcePolicy", RESOURCE(ARN), REVISION("1700000000002"), NULL },
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (steps[i].response != NULL) {
            api_fixture_expect(&db, steps[i].operation, steps[i].body, steps[i].response);
            continue;
        }
        char message[256];
        snprintf(message, sizeof message, NO_POLICY_OF "%s", steps[i].why);
        api_fixture_expect_error(&db, steps[i].operation, steps[i].body, ERROR_POLICY_NOT_FOUND,
                                 message);
    }
    expect_none(ARN);
}

static void a_stream_has_a_policy_of_its_own(void **state)
{
    (void)state;
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN, ONE), REVISION("1700000000000"));
    expect_none(STREAM_ARN);
    api_fixture_expect(&db, "PutResourcePolicy", PUT(STREAM_ARN, OTHER), REVISION("1700000000000"));
    api_fixture_restart(&db, 0);
    api_fixture_expect(&db, "GetResourcePolicy", RESOURCE(ARN), POLICY(ONE, "1700000000000"));
    api_fixture_expect(&db, "GetResourcePolicy", RESOURCE(STREAM_ARN),
                       POLICY(OTHER, "1700000000000"));
    api_fixture_expect(&db, "DeleteResourcePolicy", RESOURCE(STREAM_ARN),
                       REVISION("1700000000000"));
    expect_none(STREAM_ARN);
    api_fixture_expect(&db, "GetResourcePolicy", RESOURCE(ARN), POLICY(ONE, "1700000000000"));
}

/* As if the stream had been disabled and enabled again. No call is under way, so the catalogue may
 * be changed from here. */
static void begin_new_stream(const char *label)
{
    struct catalogue *catalogue = api_catalogue(db.api);
    struct table *table = catalogue_find(catalogue, BYTES("abc"));
    struct table_definition changed = *table_definition(table);
    changed.stream_label = bytes_from_text(label);
    assert_int_equal(catalogue_update(catalogue, db.arena, &changed), ENGINE_OK);
    table_release(table);
}

static void a_new_stream_begins_without_a_policy(void **state)
{
    (void)state;
    api_fixture_expect(&db, "PutResourcePolicy", PUT(STREAM_ARN, OTHER), REVISION("1700000000000"));
    begin_new_stream("2023-11-14T22:13:21.000");
    expect_none(ARN "/stream/2023-11-14T22:13:21.000");
    api_fixture_expect_error(
        &db, "GetResourcePolicy", RESOURCE(STREAM_ARN), ERROR_RESOURCE_NOT_FOUND,
        "Requested resource not found: Stream: 2023-11-14T22:13:20.000 not found for Table: abc");
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN "/stream/2023-11-14T22:13:21.000", ONE),
                       REVISION("1700000000000"));
    api_fixture_expect(&db, "GetResourcePolicy", RESOURCE(ARN "/stream/2023-11-14T22:13:21.000"),
                       POLICY(ONE, "1700000000000"));
}

static void resources_that_are_not_there_are_not_found(void **state)
{
    (void)state;
    static const char *const operations[] = { "GetResourcePolicy", "PutResourcePolicy",
                                              "DeleteResourcePolicy" };
    static const struct {
        const char *body, *message;
        enum error_code code;
    } cases[] = {
        { PUT("arn:aws:dynamodb:eu-west-1:123456789012:table/none", ONE),
          "Requested resource not found: Table: none not found", ERROR_RESOURCE_NOT_FOUND },
        { PUT("arn:aws:dynamodb:eu-west-1:123456789012:table/none/stream/x", ONE),
          "Requested resource not found: Table: none not found", ERROR_RESOURCE_NOT_FOUND },
        { PUT(ARN "/stream/2023-11-14T22:13:20.001", ONE),
          "Requested resource not found: Stream: 2023-11-14T22:13:20.001 not found for Table: abc",
          ERROR_RESOURCE_NOT_FOUND },
        { PUT("abc", ONE), INVALID "ARNs must start with 'arn:': abc", ERROR_VALIDATION },
        { PUT(ARN "/index/gsi", ONE),
          INVALID "Invalid resource arn provided, only table or stream is accepted. Provided "
                  "resource arn: " ARN "/index/gsi",
          ERROR_VALIDATION },
        { PUT(ARN "/stream/", ONE),
          INVALID "Provided Arn is not a DynamoDB resource arn: " ARN "/stream/",
          ERROR_VALIDATION },
    };
    for (size_t i = 0; i < COUNT_OF(operations) * COUNT_OF(cases); i++) {
        size_t which = i % COUNT_OF(cases);
        api_fixture_expect_error(&db, operations[i / COUNT_OF(cases)], cases[which].body,
                                 cases[which].code, cases[which].message);
    }
}

static void a_policy_is_a_json_object(void **state)
{
    (void)state;
    static const char *const policies[] = { "", " ", "{", "{}}", "[]", "1", "{a:1}", "x" };
    for (size_t i = 0; i < COUNT_OF(policies); i++) {
        char body[512];
        snprintf(body, sizeof body, PUT(ARN, "%s"), policies[i]);
        api_fixture_expect_error(&db, "PutResourcePolicy", body, ERROR_VALIDATION,
                                 INVALID
                                 "Invalid policy document: This policy contains invalid Json");
        snprintf(body, sizeof body, TABLE_BODY(",'ResourcePolicy':'%s'"), policies[i]);
        api_fixture_expect_error(&db, "CreateTable", body, ERROR_VALIDATION,
                                 INVALID
                                 "Invalid policy document: This policy contains invalid Json");
    }
    expect_none(ARN);
}

static void a_policy_is_one_that_can_be_enforced(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        const char *why;
    } cases[] = {
        { "{}", "Syntax error at position (1,3)" },
        { "{\\'Statement\\':[]}", "Could not parse the policy: Statement is empty!" },
        { "{\\'Statement\\':{}}", "Missing required field Effect" },
        { "{\\'Statment\\':{}}", "Unknown field Statment" },
        { "{\\'Version\\':\\'2012\\',\\'Statement\\':{}}", "Unknown version of policy: 2012" },
        { "{\\'Statement\\':{\\'Effect\\':\\'Allow\\',\\'Action\\':\\'*\\',\\'Resource\\':\\'*\\'}"
          "}",
          "Missing required field Principal" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[512], message[256];
        snprintf(message, sizeof message, INVALID "Invalid policy document: %s", cases[i].why);
        snprintf(body, sizeof body, PUT(ARN, "%s"), cases[i].policy);
        api_fixture_expect_error(&db, "PutResourcePolicy", body, ERROR_VALIDATION, message);
        snprintf(body, sizeof body, TABLE_BODY(",'ResourcePolicy':'%s'"), cases[i].policy);
        api_fixture_expect_error(&db, "CreateTable", body, ERROR_VALIDATION, message);
    }
    expect_none(ARN);
}

/* A body whose policy has `size` bytes; the caller frees it. */
static char *put_of_size(size_t size)
{
    static const char head[] = "{'ResourceArn':'" ARN "','Policy':'";
    static const char end[] = ONE "'}";
    size_t policy_size = 0; /* A quote and its backslash are one byte of the policy. */
    for (const char *at = ONE; *at != '\0'; at++)
        policy_size += *at != '\\';
    size_t padding = size - policy_size;
    char *body = malloc(sizeof head - 1 + padding + sizeof end);
    assert_non_null(body);
    memcpy(body, head, sizeof head - 1);
    memset(body + sizeof head - 1, ' ', padding);
    memcpy(body + sizeof head - 1 + padding, end, sizeof end);
    return body;
}

static void a_policy_has_at_most_twenty_kilobytes(void **state)
{
    (void)state;
    for (size_t size = 20 * 1024 - 1; size <= 20 * 1024 + 1; size++) {
        char *body = put_of_size(size);
        bool ok = api_fixture_call(&db, "PutResourcePolicy", body);
        free(body);
        assert_int_equal(ok, size <= 20 * 1024);
        if (!ok)
            assert_true(bytes_equal_text(db.error.message,
                                         INVALID "Maximum policy size of 20480 bytes exceeded"));
    }
}

static void requests_are_checked(void **state)
{
    (void)state;
    api_fixture_expect_error(
        &db, "PutResourcePolicy", "{'ExpectedRevisionId':''}", ERROR_VALIDATION,
        "3 validation errors detected: "
        "Value null at 'resourceArn' failed to satisfy constraint: Member must not be null; "
        "Value null at 'policy' failed to satisfy constraint: Member must not be null; "
        "Value '' at 'expectedRevisionId' failed to satisfy constraint: Member must have length "
        "greater than or equal to 1");
    for (size_t size = 254; size <= 256; size++) {
        char body[512], revision[257] = "";
        memset(revision, '1', size);
        snprintf(body, sizeof body, DELETE_IF("%s"), revision);
        assert_false(api_fixture_call(&db, "DeleteResourcePolicy", body));
        assert_int_equal(db.error.code, size <= 255 ? ERROR_POLICY_NOT_FOUND : ERROR_VALIDATION);
    }
    for (size_t size = 1282; size <= 1284; size++) {
        char body[1400], arn[1285] = "";
        memset(arn, 'a', size);
        snprintf(body, sizeof body, RESOURCE("%s"), arn);
        assert_false(api_fixture_call(&db, "GetResourcePolicy", body));
        assert_int_equal(bytes_starts_with(db.error.message, BYTES(INVALID "ARNs must start with")),
                         size <= 1283);
    }
}

static void a_policy_survives_a_restart_and_ends_with_the_table(void **state)
{
    (void)state;
    api_fixture_expect(&db, "PutResourcePolicy", PUT(ARN, ONE), REVISION("1700000000000"));
    api_fixture_restart(&db, 1000);
    api_fixture_expect(&db, "GetResourcePolicy", RESOURCE(ARN), POLICY(ONE, "1700000000000"));
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}"));
    assert_true(api_fixture_call(&db, "CreateTable", TABLE_BODY("")));
    expect_none(ARN);
}

/* The first commit stores the table's definition, the second one the stream's own record. */
static void a_stream_s_record_that_cannot_be_stored_fails_the_call(void **state)
{
    (void)state;
    failing_engine_set(db.engine, &(struct failing_engine_plan){
                                      .call = 2, .status = ENGINE_IO, .commits_only = true });
    api_fixture_expect_error(&db, "PutResourcePolicy", PUT(STREAM_ARN, ONE), ERROR_INTERNAL,
                             "Internal server error");
    failing_engine_set(db.engine, &(struct failing_engine_plan){ .call = 0 });
    /* The same document again stores what is missing. */
    api_fixture_expect(&db, "PutResourcePolicy", PUT(STREAM_ARN, ONE), REVISION("1700000000000"));
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}"));
    struct stream *stream =
        streams_find(api_streams(db.api), BYTES("abc"), BYTES("2023-11-14T22:13:20.000"));
    assert_non_null(stream);
    assert_non_null(stream_definition(stream)->policy.data);
    stream_release(stream);
}

static int set_up_failing(void **state)
{
    (void)state;
    api_fixture_open_on(&db, failing_engine_create(reference_engine_create()), 0);
    assert_true(api_fixture_call(&db, "CreateTable", TABLE_BODY("")));
    return 0;
}

static void a_table_in_transition_keeps_its_policy(void **state)
{
    (void)state;
    api_fixture_expect(&db, "GetResourcePolicy", RESOURCE(ARN), POLICY(ONE, "1700000000000"));
    api_fixture_expect_error(
        &db, "PutResourcePolicy", PUT(ARN, OTHER), ERROR_RESOURCE_IN_USE,
        "Attempt to change a resource which is still in use: Table is being created: abc");
    api_fixture_expect_error(
        &db, "DeleteResourcePolicy", RESOURCE(ARN), ERROR_RESOURCE_IN_USE,
        "Attempt to change a resource which is still in use: Table is being created: abc");
    api_fixture_restart(&db, TRANSITION_MS);
    api_fixture_expect(&db, "DeleteResourcePolicy", RESOURCE(ARN), REVISION("1700000000000"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_policy_is_returned_in_a_form_of_its_own),
        TEST(each_change_is_a_revision_of_its_own),
        TEST(a_change_may_depend_on_the_revision),
        TEST(a_stream_has_a_policy_of_its_own),
        TEST(a_new_stream_begins_without_a_policy),
        TEST(resources_that_are_not_there_are_not_found),
        TEST(a_policy_is_a_json_object),
        TEST(a_policy_is_one_that_can_be_enforced),
        TEST(a_policy_has_at_most_twenty_kilobytes),
        TEST(requests_are_checked),
        TEST(a_policy_survives_a_restart_and_ends_with_the_table),
        cmocka_unit_test_setup_teardown(a_stream_s_record_that_cannot_be_stored_fails_the_call,
                                        set_up_failing, tear_down),
        cmocka_unit_test_setup_teardown(a_table_in_transition_keeps_its_policy, set_up_slow,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
