/* test_cancel_job.c -- a job that is to be cancelled, across a restart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "import_fixture.h"
#include "jobs/job_record.h"

#define CREATE                                                                                     \
    "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"      \
    "'HASH'}]}"
#define RESTORES "{'Kind':'restore'}"

enum { STEPS_MAX = 30 * 500 };

static int set_up(void **state)
{
    static struct import_fixture fixture;
    import_fixture_open(&fixture, &(struct api_options){ .backup_folder = fixture.root });
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    import_fixture_close(*state);
    return 0;
}

static void call(struct import_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(&fixture->api, operation, body))
        fail_msg("%s: %.*s", body, BYTES_FMT(fixture->api.error.message));
}

static void wait_until_shown(struct import_fixture *fixture, const char *operation,
                             const char *body, const char *text)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        call(fixture, operation, body);
        if (api_fixture_shows(&fixture->api, text))
            return;
        usleep(2000);
    }
    fail_msg("%s: no %s", body, text);
}

/* A restore that waits for a folder that is gone. */
static void start_restore(struct import_fixture *fixture, char id[JOB_ID_SIZE + 1])
{
    static const char name[] = "\"JobId\":\"";
    char body[1300], backups[SCRATCH_PATH_MAX], moved[SCRATCH_PATH_MAX];
    call(fixture, "CreateTable", CREATE);
    call(fixture, "CreateBackup", "{'TableName':'Tab','BackupName':'abc'}");
    import_fixture_keep_arn(fixture);
    snprintf(body, sizeof body, "{'BackupArn':'%s'}", fixture->arn);
    wait_until_shown(fixture, "DescribeBackup", body, "'AVAILABLE'");
    scratch_join(backups, fixture->root, "backups");
    scratch_join(moved, fixture->root, "moved");
    assert_int_equal(rename(backups, moved), 0);
    snprintf(body, sizeof body, "{'BackupArn':'%s','TargetTableName':'Made'}", fixture->arn);
    call(fixture, "RestoreTableFromBackup", body);
    call(fixture, "ListJobs", RESTORES);
    const char *found =
        memmem(fixture->api.response.data, fixture->api.response.len, name, sizeof name - 1);
    assert_non_null(found);
    snprintf(id, JOB_ID_SIZE + 1, "%.*s", JOB_ID_SIZE, found + sizeof name - 1);
}

static void expect_cancelled(struct import_fixture *fixture, const char *id)
{
    bool found;
    wait_until_shown(fixture, "ListJobs", RESTORES, "'Status':'CANCELLED'");
    import_fixture_shows(fixture, "'FailureCode':'Cancelled'");
    api_fixture_expect(&fixture->api, "ListTables", "{}", "{'TableNames':['Tab']}");
    for (int i = 0; i < STEPS_MAX; i++) { /* Right after the end. */
        assert_int_equal(job_cancel_find(fixture->api.engine, bytes_from_text(id), &found),
                         ENGINE_OK);
        if (!found)
            return;
        usleep(2000);
    }
    fail_msg("the request to cancel stays");
}

static void a_restart_does_not_forget_that_a_restore_is_to_be_cancelled(void **state)
{
    struct import_fixture *fixture = *state;
    char id[JOB_ID_SIZE + 1];
    start_restore(fixture, id);
    /* As after a crash between the request and the end of the job: nobody told the job. */
    assert_int_equal(
        job_cancel_store(fixture->api.engine, fixture->api.options.clock, bytes_from_text(id)),
        ENGINE_OK);
    api_fixture_restart(&fixture->api, 1);
    expect_cancelled(fixture, id);
}

static void a_job_that_has_ended_cannot_be_cancelled(void **state)
{
    struct import_fixture *fixture = *state;
    char id[JOB_ID_SIZE + 1], body[64], message[256];
    start_restore(fixture, id);
    snprintf(body, sizeof body, "{'JobId':'%s'}", id);
    call(fixture, "CancelJob", body);
    import_fixture_shows(fixture, "'Status':'CANCELLING'}");
    expect_cancelled(fixture, id);
    snprintf(message, sizeof message,
             "Requested resource not found: No job that can be cancelled runs with the id %s", id);
    api_fixture_expect_error(&fixture->api, "CancelJob", body, ERROR_RESOURCE_NOT_FOUND, message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_restart_does_not_forget_that_a_restore_is_to_be_cancelled,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_that_has_ended_cannot_be_cancelled, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
