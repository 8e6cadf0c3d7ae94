/* test_backup_moments.c -- of which moment a backup is whose table has no recovery, if its copy
 * begins late, or again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "api/backup/backups.h"
#include "api/operation.h"
#include "base/compiler.h"
#include "import_fixture.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

#define CREATE                                                                                     \
    "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"      \
    "'HASH'}]}"
#define BACK_UP "{'TableName':'Tab','BackupName':'abc'}"
#define PUT(key) "{'TableName':'Tab','Item':{'p':{'S':'" key "'}}}"
#define LATER_MS 10000

enum { STEPS_MAX = 30 * 500 };

static void call(struct import_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(&fixture->api, operation, body))
        fail_msg("%s: %.*s", body, BYTES_FMT(fixture->api.error.message));
}

static void backups_path(const struct import_fixture *fixture, char path[SCRATCH_PATH_MAX])
{
    scratch_join(path, fixture->root, "backups");
}

/* A file is where the folder of backups should be, so that all jobs wait. */
static int set_up(void **state)
{
    static struct import_fixture fixture;
    char path[SCRATCH_PATH_MAX];
    import_fixture_open(&fixture, &(struct api_options){ .backup_folder = fixture.root });
    backups_path(&fixture, path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
    call(&fixture, "CreateTable", CREATE);
    call(&fixture, "PutItem", PUT("before"));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    import_fixture_close(*state);
    return 0;
}

static void let_jobs_run(struct import_fixture *fixture)
{
    char path[SCRATCH_PATH_MAX];
    backups_path(fixture, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
}

static bool has_history(struct import_fixture *fixture, const char *name)
{
    struct table *table = catalogue_find(api_catalogue(fixture->api.api), bytes_from_text(name));
    bool has = table_definition(table)->history.status == HISTORY_ACTIVE;
    table_release(table);
    return has;
}

/* The job's hold has opened it. */
static void wait_for_history(struct import_fixture *fixture, const char *name)
{
    for (int i = 0; i < STEPS_MAX && !has_history(fixture, name); i++)
        usleep(2000);
    assert_true(has_history(fixture, name));
}

static void wait_until_made(struct import_fixture *fixture, const char *operation, const char *body)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        call(fixture, operation, body);
        if (!api_fixture_shows(&fixture->api, "'CREATING'"))
            return;
        usleep(2000);
    }
    fail_msg("%s: it stays CREATING", body);
}

static void wait_for_backup(struct import_fixture *fixture)
{
    char body[1200];
    snprintf(body, sizeof body, "{'BackupArn':'%s'}", fixture->arn);
    wait_until_made(fixture, "DescribeBackup", body);
    import_fixture_shows(fixture, "'BackupStatus':'AVAILABLE'");
}

static void expect_items(struct import_fixture *fixture, const char *scan)
{
    char body[1300];
    snprintf(body, sizeof body, "{'BackupArn':'%s','TargetTableName':'Copy'}", fixture->arn);
    call(fixture, "RestoreTableFromBackup", body);
    wait_until_made(fixture, "DescribeTable", "{'TableName':'Copy'}");
    api_fixture_expect(&fixture->api, "Scan", "{'TableName':'Copy'}", scan);
}

#define BEFORE_ALONE "{'Items':[{'p':{'S':'before'}}],'Count':1,'ScannedCount':1}"

static void a_copy_that_begins_late_has_nothing_that_was_written_since(void **state)
{
    struct import_fixture *fixture = *state;
    call(fixture, "CreateBackup", BACK_UP);
    import_fixture_keep_arn(fixture);
    fixture->api.clock.fixed_ms += LATER_MS;
    call(fixture, "PutItem", PUT("later"));
    let_jobs_run(fixture);
    wait_for_backup(fixture);
    import_fixture_shows(fixture, "'BackupCreationDateTime':1700000000}");
    expect_items(fixture, BEFORE_ALONE);
}

static void a_copy_that_begins_after_a_restart_is_of_the_beginning_of_the_history(void **state)
{
    struct import_fixture *fixture = *state;
    call(fixture, "CreateBackup", BACK_UP);
    import_fixture_keep_arn(fixture);
    wait_for_history(fixture, "Tab");
    fixture->api.clock.fixed_ms += LATER_MS;
    call(fixture, "PutItem", PUT("later"));
    api_fixture_restart(&fixture->api, LATER_MS);
    let_jobs_run(fixture);
    wait_for_backup(fixture);
    import_fixture_shows(fixture, "'BackupCreationDateTime':1700000000}");
    expect_items(fixture, BEFORE_ALONE);
}

static void a_backup_outlives_the_deletion_of_its_table_and_a_restart(void **state)
{
    struct import_fixture *fixture = *state;
    call(fixture, "CreateBackup", BACK_UP);
    import_fixture_keep_arn(fixture);
    call(fixture, "DeleteTable", "{'TableName':'Tab'}");
    api_fixture_restart(&fixture->api, LATER_MS);
    let_jobs_run(fixture);
    wait_for_backup(fixture);
    import_fixture_shows(fixture,
                         "'BackupCreationDateTime':1700000010}"); /* When it was noticed. */
    expect_items(fixture, BEFORE_ALONE);
    char body[1300];
    snprintf(body, sizeof body, "{'BackupArn':'%s','TargetTableName':'Other'}", fixture->arn);
    call(fixture, "RestoreTableFromBackup", body);
    import_fixture_shows(fixture, "'RestoreDateTime':1700000010,");
}

/* A table with a history needs none, so each backup is of another table. */
static void views_are_kept_for_a_few_waiting_backups_only(void **state)
{
    enum { TABLES = BACKUPS_VIEWS_MAX + 2 };
    struct import_fixture *fixture = *state;
    for (int i = 0; i < TABLES; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "{'TableName':'Tab%d','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
                 "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p',"
                 "'KeyType':'HASH'}]}",
                 i);
        call(fixture, "CreateTable", body);
        snprintf(body, sizeof body, "{'TableName':'Tab%d','Item':{'p':{'S':'before'}}}", i);
        call(fixture, "PutItem", body);
        assert_int_equal(backups_has_room(api_backups(fixture->api.api)), i < BACKUPS_VIEWS_MAX);
        snprintf(body, sizeof body, "{'TableName':'Tab%d','BackupName':'abc'}", i);
        call(fixture, "CreateBackup", body);
        import_fixture_keep_arn(fixture);
    }
    wait_for_history(fixture, "Tab9");
    fixture->api.clock.fixed_ms += LATER_MS;
    call(fixture, "PutItem", "{'TableName':'Tab9','Item':{'p':{'S':'later'}}}");
    let_jobs_run(fixture);
    wait_for_backup(fixture);
    expect_items(fixture, BEFORE_ALONE);
    /* The others may wait for their next attempt. */
    for (int i = 0; i < STEPS_MAX && !backups_has_room(api_backups(fixture->api.api)); i++)
        usleep(2000);
    assert_true(backups_has_room(api_backups(fixture->api.api)));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_copy_that_begins_late_has_nothing_that_was_written_since),
        TEST(a_copy_that_begins_after_a_restart_is_of_the_beginning_of_the_history),
        TEST(a_backup_outlives_the_deletion_of_its_table_and_a_restart),
        TEST(views_are_kept_for_a_few_waiting_backups_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
