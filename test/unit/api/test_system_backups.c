/* test_system_backups.c -- the backup that a deleted table with recovery leaves behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"

static struct api_fixture db;

enum { DAY_MS = 24 * 60 * 60 * 1000, KEPT_DAYS = 35 };

#define CREATE(name)                                                                               \
    "{'TableName':'" name "','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["             \
    "{'AttributeName':'a','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],"        \
    "'KeySchema':[{'AttributeName':'a','KeyType':'HASH'}],'GlobalSecondaryIndexes':["              \
    "{'IndexName':'by_g','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"                    \
    "'Projection':{'ProjectionType':'ALL'}}]}"
#define RECOVERY(name, enabled)                                                                    \
    "{'TableName':'" name                                                                          \
    "','PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':" enabled "}}"
#define PUT(name, key) "{'TableName':'" name "','Item':{'a':{'S':'" key "'},'g':{'S':'x'}}}"
#define ARN(name, ms) "arn:aws:dynamodb:eu-west-1:123456789012:table/" name "/backup/" ms
#define FIRST_ID "01700000000000-00000000"
#define FIRST_ARN ARN("abc", FIRST_ID)
#define LIST_SYSTEM "{'BackupType':'SYSTEM'}"
#define NO_BACKUPS "{'BackupSummaries':[]}"

static void make_table(const char *create, const char *enable)
{
    assert_true(api_fixture_call(&db, "CreateTable", create));
    assert_true(api_fixture_call(&db, "UpdateContinuousBackups", enable));
}

static int set_up(void **state)
{
    (void)state;
    /* The fixture's clock begins at 1700000000. */
    api_fixture_open_on(&db, failing_engine_create(reference_engine_create()), 0);
    make_table(CREATE("abc"), RECOVERY("abc", "true"));
    assert_true(api_fixture_call(&db, "PutItem", PUT("abc", "one")));
    assert_true(api_fixture_call(&db, "PutItem", PUT("abc", "two")));
    assert_true(api_fixture_call(&db, "DeleteItem", "{'TableName':'abc','Key':{'a':{'S':'one'}}}"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

static void delete_table(void)
{
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}"));
}

/* Lets the control thread take all steps that are due: it takes them between two tasks. */
static void run_control(void)
{
    for (int i = 0; i < 4; i++)
        assert_false(api_fixture_call(&db, "DeleteTable", "{'TableName':'none'}"));
}

static void pass(int64_t ms)
{
    db.clock.fixed_ms += ms;
    run_control();
}

/* How many places hold data of tables. */
static size_t count_places(void)
{
    struct engine_view *view = engine_fixture_view(db.engine);
    struct engine_place place;
    size_t count = 0;
    enum engine_status status = engine_view_next_place(view, NULL, &place);
    for (; status == ENGINE_OK; status = engine_view_next_place(view, &place, &place))
        count += place.owner != 0;
    engine_view_close(view);
    return count;
}

static bool has_backup(void)
{
    assert_true(api_fixture_call(&db, "ListBackups", LIST_SYSTEM));
    return api_fixture_shows(&db, FIRST_ARN);
}

static void wait_restored(const char *name_body)
{
    const struct timespec pause = { .tv_nsec = 2000000 };
    for (int i = 0; i < 5000; i++) {
        assert_true(api_fixture_call(&db, "DescribeTable", name_body));
        if (api_fixture_shows(&db, "'TableStatus':'ACTIVE'"))
            return;
        nanosleep(&pause, NULL);
    }
    fail_msg("the restore did not end");
}

#define RESTORE "{'TargetTableName':'def','BackupArn':'" FIRST_ARN "'}"
static void expect_restored(void)
{
    assert_true(api_fixture_call(&db, "RestoreTableFromBackup", RESTORE));
    wait_restored("{'TableName':'def'}");
    api_fixture_expect(&db, "Scan", "{'TableName':'def'}",
                       "{'Items':[{'a':{'S':'two'},'g':{'S':'x'}}],'Count':1,'ScannedCount':1}");
    api_fixture_expect(&db, "Scan", "{'TableName':'def','IndexName':'by_g','Select':'COUNT'}",
                       "{'Count':1,'ScannedCount':1}");
}

static void a_deleted_table_with_recovery_is_a_backup(void **state)
{
    (void)state;
    delete_table();
    assert_true(api_fixture_call(&db, "DescribeBackup", "{'BackupArn':'" FIRST_ARN "'}"));
    assert_true(api_fixture_shows(&db, "'BackupName':'abc$DeletedTableBackup'"));
    assert_true(api_fixture_shows(&db, "'BackupStatus':'AVAILABLE','BackupType':'SYSTEM',"
                                       "'BackupCreationDateTime':1700000000,"
                                       "'BackupExpiryDateTime':1703024000}"));
    assert_true(api_fixture_shows(&db, "'ItemCount':1,"));
    assert_true(api_fixture_shows(&db, "'SourceTableFeatureDetails':{}"));
    api_fixture_expect_error(&db, "DeleteBackup", "{'BackupArn':'" FIRST_ARN "'}", ERROR_VALIDATION,
                             "Invalid Request: User is not allowed to delete the system backup "
                             "with arn " FIRST_ARN
                             ". It will automatically expire on 2023-12-19T22:13:20Z");
    expect_restored();
}

static void such_backups_are_listed_if_they_are_asked_for(void **state)
{
    (void)state;
    delete_table();
    api_fixture_expect(&db, "ListBackups", "{}", NO_BACKUPS);
    api_fixture_expect(&db, "ListBackups", "{'BackupType':'USER'}", NO_BACKUPS);
    assert_true(api_fixture_call(&db, "ListBackups", LIST_SYSTEM));
    assert_true(api_fixture_shows(&db, FIRST_ARN));
    assert_true(api_fixture_call(&db, "ListBackups", "{'BackupType':'ALL','TableName':'abc'}"));
    assert_true(api_fixture_shows(&db, FIRST_ARN));
}

static void a_table_without_recovery_leaves_nothing(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&db, "UpdateContinuousBackups", RECOVERY("abc", "false")));
    delete_table();
    api_fixture_expect(&db, "ListBackups", "{'BackupType':'ALL'}", NO_BACKUPS);
    run_control();
    assert_int_equal(count_places(), 0);
}

static void tables_deleted_in_the_same_millisecond_have_a_backup_each(void **state)
{
    (void)state;
    delete_table();
    make_table(CREATE("abc"), RECOVERY("abc", "true"));
    delete_table();
    assert_true(api_fixture_call(&db, "ListBackups", LIST_SYSTEM));
    assert_true(api_fixture_shows(&db, FIRST_ARN));
    assert_true(api_fixture_shows(&db, ARN("abc", "01700000000001-00000000")));
    expect_restored();
}

static void such_a_backup_outlives_restarts_and_ends_after_its_days(void **state)
{
    (void)state;
    delete_table();
    api_fixture_restart(&db, KEPT_DAYS * (int64_t)DAY_MS - 1);
    run_control();
    assert_true(api_fixture_call(&db, "DescribeBackup", "{'BackupArn':'" FIRST_ARN "'}"));
    assert_true(count_places() > 0);
    expect_restored();
    assert_true(api_fixture_call(&db, "DeleteTable", "{'TableName':'def'}"));
    /* The job that has just ended may hold its source for another moment. */
    for (int i = 0; i < 100 && has_backup(); i++)
        pass(DAY_MS);
    run_control();
    api_fixture_expect_error(&db, "DescribeBackup", "{'BackupArn':'" FIRST_ARN "'}",
                             ERROR_BACKUP_NOT_FOUND, "Backup not found: " FIRST_ARN);
    api_fixture_expect(&db, "ListBackups", LIST_SYSTEM, NO_BACKUPS);
    assert_int_equal(count_places(), 0);
}

/* Each call of the engine that the deletion makes fails in turn. */
static void a_failure_leaves_the_table_or_its_backup(void **state)
{
    bool struck = true;
    size_t refused = 0;
    for (uint64_t call = 1; struck; call++) {
        run_control();
        failing_engine_set(db.engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        bool deleted = api_fixture_call(&db, "DeleteTable", "{'TableName':'abc'}");
        struck = failing_engine_struck(db.engine);
        failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
        api_fixture_restart(&db, 0); /* What is stored counts. */
        bool exists = api_fixture_call(&db, "DescribeTable", "{'TableName':'abc'}");
        assert_int_equal(exists, !deleted);
        assert_int_equal(has_backup(), deleted);
        if (exists)
            delete_table();
        refused += exists;
        expect_restored();
        tear_down(state);
        set_up(state);
    }
    assert_true(refused > 2); /* At least the reads of figures and ids, and the commit. */
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_deleted_table_with_recovery_is_a_backup),
        TEST(such_backups_are_listed_if_they_are_asked_for),
        TEST(a_table_without_recovery_leaves_nothing),
        TEST(tables_deleted_in_the_same_millisecond_have_a_backup_each),
        TEST(such_a_backup_outlives_restarts_and_ends_after_its_days),
        TEST(a_failure_leaves_the_table_or_its_backup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
