/* test_item_history.c -- GetItemHistory: the versions of an item, the newest first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api_fixture.h"
#include "base/compiler.h"

static struct api_fixture db;

#define CREATE                                                                                     \
    "{'TableName':'abc','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'a','AttributeType':'S'}],'KeySchema':[{'AttributeName':'a','KeyType':"      \
    "'HASH'}]}"
#define ENABLE                                                                                     \
    "{'TableName':'abc','PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}"
#define KEY "'TableName':'abc','Key':{'a':{'S':'x'}}"
#define PUT(value) "{'TableName':'abc','Item':{'a':{'S':'x'},'v':{'N':'" value "'}}}"
#define IMAGE(value) "{'a':{'S':'x'},'v':{'N':'" value "'}}"

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    assert_true(api_fixture_call(&db, "CreateTable", CREATE));
    assert_true(api_fixture_call(&db, "UpdateContinuousBackups", ENABLE));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

static void put(const char *body, int64_t later_ms)
{
    db.clock.fixed_ms += later_ms;
    assert_true(api_fixture_call(&db, "PutItem", body));
}

/* The fixture's clock begins at 1700000000. */
#define V3                                                                                         \
    "{'CommitTime':1700000003,'WriteTimestampMicros':1700000003000000,'EventName':'REMOVE',"       \
    "'OldImage':" IMAGE("2") "}"
#define V2                                                                                         \
    "{'CommitTime':1700000002,'WriteTimestampMicros':1700000002000000,'EventName':'MODIFY',"       \
    "'OldImage':" IMAGE("1") ",'NewImage':" IMAGE("2") "}"
#define V1                                                                                         \
    "{'CommitTime':1700000001,'WriteTimestampMicros':1700000001000000,'EventName':'INSERT',"       \
    "'NewImage':" IMAGE("1") "}"

static void write_three(void)
{
    put(PUT("1"), 1000);
    put(PUT("2"), 1000);
    put(PUT("2"), 500); /* Changes nothing. */
    db.clock.fixed_ms += 500;
    assert_true(api_fixture_call(&db, "DeleteItem", "{" KEY "}"));
    db.clock.fixed_ms += 1000;
}

static void versions_hold_the_item_before_and_after_each_change(void **state)
{
    (void)state;
    api_fixture_expect(&db, "GetItemHistory", "{" KEY "}", "{'Versions':[]}");
    write_three();
    api_fixture_expect(&db, "GetItemHistory", "{" KEY "}", "{'Versions':[" V3 "," V2 "," V1 "]}");
    api_fixture_expect(&db, "GetItemHistory", "{'TableName':'abc','Key':{'a':{'S':'other'}}}",
                       "{'Versions':[]}");
}

static void times_bound_the_versions(void **state)
{
    (void)state;
    write_three();
    api_fixture_expect(&db, "GetItemHistory",
                       "{" KEY ",'StartTime':1700000002,'EndTime':1700000003}",
                       "{'Versions':[" V2 "]}");
    api_fixture_expect(&db, "GetItemHistory", "{" KEY ",'StartTime':1}",
                       "{'Versions':[" V3 "," V2 "," V1 "]}");
    api_fixture_expect(&db, "GetItemHistory", "{" KEY ",'EndTime':1700000002}",
                       "{'Versions':[" V1 "]}");
}

static void pages_follow_one_another(void **state)
{
    (void)state;
    write_three();
    api_fixture_expect(&db, "GetItemHistory", "{" KEY ",'Limit':2}",
                       "{'Versions':[" V3 "," V2 "],'NextToken':'00060a24183cc480'}");
    api_fixture_expect(&db, "GetItemHistory", "{" KEY ",'Limit':2,'NextToken':'00060a24183cc480'}",
                       "{'Versions':[" V1 "]}");
    api_fixture_expect(&db, "GetItemHistory", "{" KEY ",'Limit':3}",
                       "{'Versions':[" V3 "," V2 "," V1 "]}");
}

static void an_item_that_has_many_versions_on_many_days_is_read_whole(void **state)
{
    (void)state;
    char body[256];
    enum { DAYS = 5, EACH = 30 };
    for (int day = 0; day < DAYS; day++) {
        for (int i = 0; i < EACH; i++) {
            snprintf(body, sizeof body, PUT("%d"), day * EACH + i + 1);
            put(body, 1);
        }
        db.clock.fixed_ms += 24 * 60 * 60 * 1000;
    }
    size_t count = 0;
    char token[17] = "";
    do {
        if (token[0] == '\0')
            snprintf(body, sizeof body, "{" KEY ",'Limit':7}");
        else
            snprintf(body, sizeof body, "{" KEY ",'Limit':7,'NextToken':'%s'}", token);
        assert_true(api_fixture_call(&db, "GetItemHistory", body));
        char text[16384];
        snprintf(text, sizeof text, "%.*s", BYTES_FMT(db.response));
        for (const char *at = text; (at = strstr(at, "\"CommitTime\"")) != NULL; at++)
            count++;
        const char *next = strstr(text, "\"NextToken\":\"");
        token[0] = '\0';
        if (next != NULL)
            memcpy(token, next + strlen("\"NextToken\":\""), 16);
    } while (token[0] != '\0');
    assert_int_equal(count, DAYS * EACH);
}

static void requests_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum error_code code;
        const char *message;
    } cases[] = {
        { "{'TableName':'none','Key':{'a':{'S':'x'}}}", ERROR_RESOURCE_NOT_FOUND,
          "Requested resource not found" },
        { "{'TableName':'abc','Key':{'b':{'S':'x'}}}", ERROR_VALIDATION,
          "The provided key element does not match the schema" },
        { "{" KEY ",'NextToken':'x'}", ERROR_VALIDATION, "NextToken is invalid" },
        { "{" KEY ",'NextToken':'ffffffffffffffff'}", ERROR_VALIDATION, "NextToken is invalid" },
        { "{" KEY ",'StartTime':2,'EndTime':2}", ERROR_VALIDATION,
          "StartTime must be before EndTime" },
        { "{" KEY ",'Limit':0}", ERROR_VALIDATION,
          "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member "
          "must have value greater than or equal to 1" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect_error(&db, "GetItemHistory", cases[i].body, cases[i].code,
                                 cases[i].message);
}

static void without_recovery_there_is_no_history(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&db, "UpdateContinuousBackups",
                                 "{'TableName':'abc','PointInTimeRecoverySpecification':"
                                 "{'PointInTimeRecoveryEnabled':false}}"));
    api_fixture_expect_error(&db, "GetItemHistory", "{" KEY "}",
                             ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE,
                             "Point in time recovery is not enabled for table 'abc'");
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(versions_hold_the_item_before_and_after_each_change),
        TEST(times_bound_the_versions),
        TEST(pages_follow_one_another),
        TEST(an_item_that_has_many_versions_on_many_days_is_read_whole),
        TEST(requests_are_checked),
        TEST(without_recovery_there_is_no_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
