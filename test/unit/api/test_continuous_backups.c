/* test_continuous_backups.c -- point-in-time recovery as a table's setting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <time.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "check/check.h"
#include "engine_fixture.h"
#include "jobs/job_record.h"
#include "model/limits.h"

static struct api_fixture db;

#define CREATE                                                                                     \
    "{'TableName':'abc','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'a','AttributeType':'S'}],'KeySchema':[{'AttributeName':'a','KeyType':"      \
    "'HASH'}]}"
#define NAME "{'TableName':'abc'}"
#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/abc"
#define UPDATE(specification)                                                                      \
    "{'TableName':'abc','PointInTimeRecoverySpecification':{" specification "}}"
#define ENABLE UPDATE("'PointInTimeRecoveryEnabled':true")
#define ENABLE_DAYS(days) UPDATE("'PointInTimeRecoveryEnabled':true,'RecoveryPeriodInDays':" days)
#define DISABLE UPDATE("'PointInTimeRecoveryEnabled':false")

#define ANSWER(recovery)                                                                           \
    "{'ContinuousBackupsDescription':{'ContinuousBackupsStatus':'ENABLED',"                        \
    "'PointInTimeRecoveryDescription':{" recovery "}}}"
#define DISABLED ANSWER("'PointInTimeRecoveryStatus':'DISABLED'")
#define ENABLED(days, earliest, latest)                                                            \
    ANSWER("'PointInTimeRecoveryStatus':'ENABLED','RecoveryPeriodInDays':" days                    \
           ",'EarliestRestorableDateTime':" earliest ",'LatestRestorableDateTime':" latest)

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    DAY_MS = 24 * 60 * MINUTE_MS,
    TRANSITION_MS = MINUTE_MS,
};

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    assert_true(api_fixture_call(&db, "CreateTable", CREATE));
    return 0;
}

static int set_up_slow(void **state)
{
    (void)state;
    api_fixture_open(&db, TRANSITION_MS);
    assert_true(api_fixture_call(&db, "CreateTable", CREATE));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

static void expect_described(const char *answer)
{
    api_fixture_expect(&db, "DescribeContinuousBackups", NAME, answer);
}

static void expect_updated(const char *body, const char *answer)
{
    api_fixture_expect(&db, "UpdateContinuousBackups", body, answer);
    expect_described(answer);
}

/* The fixture's clock begins at 1700000000. */

static void a_new_table_has_recovery_disabled(void **state)
{
    (void)state;
    expect_described(DISABLED);
    api_fixture_expect(&db, "DescribeContinuousBackups", "{'TableName':'" ARN "'}", DISABLED);
    expect_updated(DISABLE, DISABLED);
}

static void recovery_reaches_from_its_beginning_to_now(void **state)
{
    (void)state;
    db.clock.fixed_ms += 999;
    expect_updated(ENABLE, ENABLED("35", "1700000001", "1700000001"));
    db.clock.fixed_ms += 5 * SECOND_MS; /* Both are whole seconds. */
    expect_described(ENABLED("35", "1700000001", "1700000005"));
    expect_updated(ENABLE, ENABLED("35", "1700000001", "1700000005"));
    expect_updated(DISABLE, DISABLED);
    expect_updated(ENABLE, ENABLED("35", "1700000006", "1700000006"));
}

/* Clients send whole seconds: what is shown can be sent back, even at once. */
static void both_ends_that_are_shown_can_be_restored_to(void **state)
{
    (void)state;
    db.clock.fixed_ms += 1;
    expect_updated(ENABLE, ENABLED("35", "1700000001", "1700000001"));
    assert_true(api_fixture_call(&db, "RestoreTableToPointInTime",
                                 "{'SourceTableName':'abc','TargetTableName':'earliest',"
                                 "'RestoreDateTime':1700000001}"));
    assert_false(api_fixture_call(&db, "RestoreTableToPointInTime",
                                  "{'SourceTableName':'abc','TargetTableName':'earlier',"
                                  "'RestoreDateTime':1700000000}"));
    assert_int_equal(db.error.code, ERROR_INVALID_RESTORE_TIME);
}

static void the_latest_time_is_behind_if_that_is_asked_for(void **state)
{
    (void)state;
    api_fixture_close(&db);
    api_fixture_open_with(&db, &(struct api_options){ .recovery_lag_ms = 5 * MINUTE_MS });
    assert_true(api_fixture_call(&db, "CreateTable", CREATE));
    expect_updated(ENABLE, ENABLED("35", "1700000000", "1700000000"));
    db.clock.fixed_ms += 5 * MINUTE_MS;
    expect_described(ENABLED("35", "1700000000", "1700000000"));
    db.clock.fixed_ms += SECOND_MS;
    expect_described(ENABLED("35", "1700000000", "1700000001"));
}

static void recovery_reaches_back_as_many_days_as_were_asked_for(void **state)
{
    (void)state;
    expect_updated(ENABLE_DAYS("2"), ENABLED("2", "1700000000", "1700000000"));
    db.clock.fixed_ms += 2 * (int64_t)DAY_MS;
    expect_described(ENABLED("2", "1700000000", "1700172800"));
    db.clock.fixed_ms += DAY_MS;
    expect_described(ENABLED("2", "1700086400", "1700259200"));
}

static void a_longer_period_brings_nothing_back(void **state)
{
    (void)state;
    expect_updated(ENABLE_DAYS("1"), ENABLED("1", "1700000000", "1700000000"));
    db.clock.fixed_ms += 3 * (int64_t)DAY_MS;
    expect_updated(ENABLE_DAYS("3"), ENABLED("3", "1700172800", "1700259200"));
    expect_updated(ENABLE, ENABLED("35", "1700172800", "1700259200")); /* The default again. */
    api_fixture_expect_error(&db, "RestoreTableToPointInTime",
                             "{'SourceTableName':'abc','TargetTableName':'def',"
                             "'RestoreDateTime':1700172799}",
                             ERROR_INVALID_RESTORE_TIME,
                             "RestoreDateTime '2023-11-16T22:13:19Z' must be within "
                             "EarliestRestorableDateTime '2023-11-16T22:13:20Z' and "
                             "LatestRestorableDateTime '2023-11-17T22:13:20Z'");
    api_fixture_expect_error(&db, "ExportTableToPointInTime",
                             "{'TableArn':'" ARN "','S3Bucket':'bucket','ExportTime':1700172799}",
                             ERROR_INVALID_EXPORT_TIME, "Export Time is invalid");
    expect_updated(ENABLE_DAYS("1"), ENABLED("1", "1700172800", "1700259200"));
}

static void wait_until_restored(const char *name)
{
    char body[64];
    snprintf(body, sizeof body, "{'TableName':'%s'}", name);
    do {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        assert_true(api_fixture_call(&db, "DescribeTable", body));
    } while (api_fixture_shows(&db, "CREATING"));
}

static void print_line(void *context, const char *line)
{
    (void)context;
    print_message("%s\n", line);
}

static void restores_to_a_moment_of_the_current_second_agree(void **state)
{
    (void)state;
#define RESTORE(target)                                                                            \
    "{'SourceTableName':'abc','TargetTableName':'" target "','RestoreDateTime':1700000000.9}"
    expect_updated(ENABLE, ENABLED("35", "1700000000", "1700000000"));
    assert_true(api_fixture_call(&db, "PutItem", "{'TableName':'abc','Item':{'a':{'S':'1'}}}"));
    assert_true(api_fixture_call(&db, "RestoreTableToPointInTime", RESTORE("first")));
    wait_until_restored("first");
    db.clock.fixed_ms += 100; /* Still before that moment, but the state at it is settled. */
    assert_true(api_fixture_call(&db, "PutItem", "{'TableName':'abc','Item':{'a':{'S':'2'}}}"));
    db.clock.fixed_ms += SECOND_MS;
    assert_true(api_fixture_call(&db, "RestoreTableToPointInTime", RESTORE("second")));
    wait_until_restored("second");
    api_fixture_expect(&db, "Scan", "{'TableName':'first'}",
                       "{'Items':[{'a':{'S':'1'}}],'Count':1,'ScannedCount':1}");
    api_fixture_expect(&db, "Scan", "{'TableName':'second'}",
                       "{'Items':[{'a':{'S':'1'}}],'Count':1,'ScannedCount':1}");
}

/* The restored table has the indexes of now, and the items of then. */
static void an_item_of_another_type_than_a_later_index_is_restored_without_an_entry(void **state)
{
    (void)state;
    expect_updated(ENABLE, ENABLED("35", "1700000000", "1700000000"));
    assert_true(api_fixture_call(&db, "PutItem",
                                 "{'TableName':'abc','Item':{'a':{'S':'1'},'g':{'N':'5'}}}"));
    db.clock.fixed_ms += 10 * SECOND_MS;
    assert_true(api_fixture_call(&db, "PutItem",
                                 "{'TableName':'abc','Item':{'a':{'S':'1'},'g':{'S':'x'}}}"));
    assert_true(api_fixture_call(
        &db, "UpdateTable",
        "{'TableName':'abc','AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'},"
        "{'AttributeName':'g','AttributeType':'S'}],'GlobalSecondaryIndexUpdates':[{'Create':"
        "{'IndexName':'idx','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],'Projection':"
        "{'ProjectionType':'ALL'}}}]}"));
    wait_until_restored("abc");
    assert_true(api_fixture_call(&db, "RestoreTableToPointInTime",
                                 "{'SourceTableName':'abc','TargetTableName':'before',"
                                 "'RestoreDateTime':1700000005}"));
    wait_until_restored("before");
    api_fixture_expect(&db, "Scan", "{'TableName':'before'}",
                       "{'Items':[{'a':{'S':'1'},'g':{'N':'5'}}],'Count':1,'ScannedCount':1}");
    api_fixture_expect(&db, "Scan", "{'TableName':'before','IndexName':'idx'}",
                       "{'Items':[],'Count':0,'ScannedCount':0}");
    assert_int_equal(check_store(db.engine, print_line, NULL).problem_count, 0);
}

/* Commit times are shared by all tables and never go back: whoever may restore one table must not
 * push them into the future. */
static void requests_cannot_push_commit_times_far_ahead_of_the_wall_clock(void **state)
{
    (void)state;
    int64_t wall_us = clock_wall_us(&db.clock);
    expect_updated(ENABLE, ENABLED("35", "1700000000", "1700000000"));
    /* Refused requests change nothing. */
    for (int i = 0; i < 10; i++) {
        assert_false(api_fixture_call(&db, "RestoreTableToPointInTime",
                                      "{'SourceTableName':'abc','TargetTableName':'abc',"
                                      "'RestoreDateTime':1700000000.9}"));
        assert_int_equal(db.error.code, ERROR_TABLE_ALREADY_EXISTS);
        assert_false(api_fixture_call(&db, "ExportTableToPointInTime",
                                      "{'TableArn':'" ARN "','S3Bucket':'bucket','ExportTime':"
                                      "1700000000.9,'FilterSpecification':{'FilterExpression':"
                                      "'x'}}"));
    }
    assert_true(clock_commit_now_us(&db.clock) < wall_us + 900 * 1000);
    /* Each one that is accepted would reach a second further than the one before. */
    int accepted = 0;
    for (int i = 1; i <= 10; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{'SourceTableName':'abc','TargetTableName':'target-%d','RestoreDateTime':%d}", i,
                 1700000000 + i);
        accepted += api_fixture_call(&db, "RestoreTableToPointInTime", body);
        snprintf(body, sizeof body, "{'TableArn':'" ARN "','S3Bucket':'bucket','ExportTime':%d}",
                 1700000000 + i);
        accepted += api_fixture_call(&db, "ExportTableToPointInTime", body);
        /* Enabling again begins a window at the newest commit time. */
        assert_true(api_fixture_call(&db, "UpdateContinuousBackups", DISABLE));
        assert_true(api_fixture_call(&db, "UpdateContinuousBackups", ENABLE));
    }
    assert_true(accepted >= 2);
    assert_true(clock_commit_now_us(&db.clock) <= wall_us + 2 * SECOND_MS * 1000 + 10 * 1000);
}

static void the_period_is_one_to_thirty_five_days(void **state)
{
    (void)state;
    for (int days = RECOVERY_DAYS_MIN - 1; days <= RECOVERY_DAYS_MAX + 1; days++) {
        char body[256], message[256];
        bool low = days<RECOVERY_DAYS_MIN, high = days> RECOVERY_DAYS_MAX;
        snprintf(body, sizeof body, ENABLE_DAYS("%d"), days);
        snprintf(message, sizeof message,
                 "1 validation error detected: Value '%d' at 'pointInTimeRecoverySpecification."
                 "recoveryPeriodInDays' failed to satisfy constraint: Member must have value %s "
                 "than or equal to %d",
                 days, low ? "greater" : "less", low ? RECOVERY_DAYS_MIN : RECOVERY_DAYS_MAX);
        if (low || high)
            api_fixture_expect_error(&db, "UpdateContinuousBackups", body, ERROR_VALIDATION,
                                     message);
        else
            assert_true(api_fixture_call(&db, "UpdateContinuousBackups", body));
    }
}

static void requests_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum error_code code;
        const char *message;
    } cases[] = {
        { "{}", ERROR_VALIDATION,
          "The parameter 'TableName' is required but was not present in the request" },
        { "{'TableName':'ab'}", ERROR_VALIDATION,
          "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
          "Member must have length greater than or equal to 3" },
        { NAME, ERROR_VALIDATION,
          "1 validation error detected: Value null at 'pointInTimeRecoverySpecification' failed to "
          "satisfy constraint: Member must not be null" },
        { UPDATE(""), ERROR_VALIDATION,
          "1 validation error detected: Value null at 'pointInTimeRecoverySpecification."
          "pointInTimeRecoveryEnabled' failed to satisfy constraint: Member must not be null" },
        { "{'TableName':'none','PointInTimeRecoverySpecification':"
          "{'PointInTimeRecoveryEnabled':true}}",
          ERROR_TABLE_NOT_FOUND, "Table not found: none" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect_error(&db, "UpdateContinuousBackups", cases[i].body, cases[i].code,
                                 cases[i].message);
    api_fixture_expect_error(&db, "DescribeContinuousBackups", "{'TableName':'none'}",
                             ERROR_TABLE_NOT_FOUND, "Table not found: none");
}

static void the_setting_survives_a_restart_and_ends_with_the_table(void **state)
{
    (void)state;
    expect_updated(ENABLE_DAYS("7"), ENABLED("7", "1700000000", "1700000000"));
    api_fixture_restart(&db, 10 * MINUTE_MS);
    expect_described(ENABLED("7", "1700000000", "1700000600"));
    assert_true(api_fixture_call(&db, "DeleteTable", NAME));
    assert_true(api_fixture_call(&db, "CreateTable", CREATE));
    expect_described(DISABLED);
}

static void a_table_in_transition_has_no_backups(void **state)
{
    (void)state;
    expect_described(DISABLED);
    api_fixture_expect_error(&db, "UpdateContinuousBackups", ENABLE,
                             ERROR_CONTINUOUS_BACKUPS_UNAVAILABLE,
                             "Backups are being enabled for the table: abc. Please retry later");
    api_fixture_restart(&db, TRANSITION_MS);
    assert_true(api_fixture_call(&db, "UpdateTable",
                                 "{'TableName':'abc','DeletionProtectionEnabled':false}"));
    assert_true(api_fixture_call(&db, "UpdateContinuousBackups", ENABLE)); /* UPDATING. */
    api_fixture_restart(&db, TRANSITION_MS);
    assert_true(api_fixture_call(&db, "DeleteTable", NAME));
    api_fixture_expect_error(&db, "UpdateContinuousBackups", ENABLE, ERROR_TABLE_NOT_FOUND,
                             "Table not found: abc");
    api_fixture_expect_error(&db, "DescribeContinuousBackups", NAME, ERROR_TABLE_NOT_FOUND,
                             "Table not found: abc");
}

static void a_restore_is_refused_when_there_are_too_many_records(void **state)
{
    (void)state;
    struct engine_fixture engine;
    struct engine_write *write = NULL;
    struct arena *arena = arena_create();
    struct job_record record = { .letter = JOB_RESTORE, .state = JOB_COMPLETED };
    struct bytes value = job_record_encode(arena, &record).encoded;
    api_fixture_close(&db);
    /* The reference engine would take a minute. */
    engine_fixture_open(&engine, ENGINE_FIXTURE_ROCKSDB_MEMORY);
    api_fixture_open_on(&db, engine.engine, 0);
    assert_true(api_fixture_call(&db, "CreateTable", CREATE));
    assert_true(api_fixture_call(&db, "UpdateContinuousBackups", ENABLE));
    assert_int_equal(engine_write_begin(db.engine, NULL, 0, &write), ENGINE_OK);
    for (int i = 0; i < JOB_RECORDS_MAX; i++) {
        job_record_make_id(i, 1, record.id);
        const struct engine_address address =
            job_record_address(arena, JOB_RESTORE, bytes_of(record.id, JOB_ID_SIZE));
        engine_write_put(write, &address, value);
    }
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    api_fixture_expect_error(&db, "RestoreTableToPointInTime",
                             "{'SourceTableName':'abc','TargetTableName':'again',"
                             "'UseLatestRestorableTime':true}",
                             ERROR_LIMIT_EXCEEDED,
                             "Subscriber limit exceeded: There are too many records of restores. "
                             "They are removed after 90 days");
    arena_destroy(arena);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_new_table_has_recovery_disabled),
        TEST(recovery_reaches_from_its_beginning_to_now),
        TEST(both_ends_that_are_shown_can_be_restored_to),
        TEST(the_latest_time_is_behind_if_that_is_asked_for),
        TEST(recovery_reaches_back_as_many_days_as_were_asked_for),
        TEST(a_longer_period_brings_nothing_back),
        TEST(restores_to_a_moment_of_the_current_second_agree),
        TEST(an_item_of_another_type_than_a_later_index_is_restored_without_an_entry),
        TEST(requests_cannot_push_commit_times_far_ahead_of_the_wall_clock),
        TEST(the_period_is_one_to_thirty_five_days),
        TEST(requests_are_checked),
        TEST(a_restore_is_refused_when_there_are_too_many_records),
        TEST(the_setting_survives_a_restart_and_ends_with_the_table),
        cmocka_unit_test_setup_teardown(a_table_in_transition_has_no_backups, set_up_slow,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
