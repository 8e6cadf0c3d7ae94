/* test_backup_failures.c -- backups and restores whose store fails for a moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "failing_engine.h"
#include "import_fixture.h"
#include "reference_engine.h"

#define CREATE                                                                                     \
    "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"      \
    "'HASH'}]}"
#define ENABLE                                                                                     \
    "{'TableName':'Tab','PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}"

enum { ITEMS = 40, COMMITS_MAX = 7, STEPS_MAX = 30 * 500 };

static int set_up(void **state)
{
    static struct import_fixture fixture;
    import_fixture_open(&fixture, &(struct api_options){
                                      .engine = failing_engine_create(reference_engine_create()) });
    assert_true(api_fixture_call(&fixture.api, "CreateTable", CREATE));
    for (int i = 0; i < ITEMS; i++) {
        char body[128];
        snprintf(body, sizeof body, "{'TableName':'Tab','Item':{'p':{'S':'%d'}}}", i);
        assert_true(api_fixture_call(&fixture.api, "PutItem", body));
    }
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    import_fixture_close(*state);
    return 0;
}

/* Calls the operation with a failure of the Nth commit, from its own on. */
static bool call_failing(struct import_fixture *fixture, uint64_t call, const char *operation,
                         const char *body)
{
    const struct failing_engine_plan plan = { .call = call,
                                              .status = ENGINE_FULL,
                                              .commits_only = true };
    failing_engine_set(fixture->api.engine, &plan);
    return api_fixture_call(&fixture->api, operation, body);
}

/* Calls the operation until it no longer shows CREATING. */
static void wait_until_made(struct import_fixture *fixture, const char *operation, const char *body)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        usleep(2000);
        if (!api_fixture_call(&fixture->api, operation, body))
            fail_msg("%s: %.*s", body, BYTES_FMT(fixture->api.error.message));
        if (!api_fixture_shows(&fixture->api, "'CREATING'"))
            return;
    }
    fail_msg("%s: it stays CREATING", body);
}

static void assert_restored(struct import_fixture *fixture, const char *target)
{
    char body[128];
    snprintf(body, sizeof body, "{'TableName':'%s'}", target);
    wait_until_made(fixture, "DescribeTable", body);
    failing_engine_set(fixture->api.engine, &(struct failing_engine_plan){ 0 });
    import_fixture_shows(fixture, "'ItemCount':40,");
    assert_true(api_fixture_call(&fixture->api, "Scan", body));
    import_fixture_shows(fixture, "'Count':40,");
    assert_true(api_fixture_call(&fixture->api, "DeleteTable", body));
}

static void back_up_and_restore(struct import_fixture *fixture)
{
    size_t made = 0, restored = 0;
    for (uint64_t call = 1; call <= COMMITS_MAX; call++) {
        char body[1300];
        if (!call_failing(fixture, call, "CreateBackup", "{'TableName':'Tab','BackupName':'abc'}"))
            continue;
        import_fixture_keep_arn(fixture);
        snprintf(body, sizeof body, "{'BackupArn':'%s'}", fixture->arn);
        wait_until_made(fixture, "DescribeBackup", body);
        import_fixture_shows(fixture, "'BackupStatus':'AVAILABLE'");
        made++;
        snprintf(body, sizeof body, "{'BackupArn':'%s','TargetTableName':'Target'}", fixture->arn);
        if (!call_failing(fixture, call, "RestoreTableFromBackup", body))
            continue;
        assert_restored(fixture, "Target");
        restored++;
    }
    /* The others were refused: the failure struck the request. */
    assert_true(made > COMMITS_MAX / 2 && restored > 0);
}

static void backups_and_restores_go_on_after_any_commit_that_failed(void **state)
{
    back_up_and_restore(*state);
}

static void so_do_those_of_a_table_with_recovery(void **state)
{
    struct import_fixture *fixture = *state;
    size_t restored = 0;
    assert_true(api_fixture_call(&fixture->api, "UpdateContinuousBackups", ENABLE));
    back_up_and_restore(fixture);
    for (uint64_t call = 1; call <= COMMITS_MAX; call++) {
        if (!call_failing(fixture, call, "RestoreTableToPointInTime",
                          "{'SourceTableName':'Tab','TargetTableName':'Target',"
                          "'UseLatestRestorableTime':true}"))
            continue;
        assert_restored(fixture, "Target");
        restored++;
    }
    assert_true(restored > COMMITS_MAX / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(backups_and_restores_go_on_after_any_commit_that_failed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(so_do_those_of_a_table_with_recovery, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
