/* test_export_failures.c -- exports whose store fails for a moment, or whose clock is set back. */
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

#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/Tab"
#define CREATE                                                                                     \
    "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"      \
    "'HASH'}]}"
#define ENABLE                                                                                     \
    "{'TableName':'Tab','PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}"

enum { ITEMS = 40 };

static int set_up(void **state)
{
    static struct import_fixture fixture;
    import_fixture_open(&fixture, &(struct api_options){
                                      .engine = failing_engine_create(reference_engine_create()) });
    assert_true(api_fixture_call(&fixture.api, "CreateTable", CREATE));
    assert_true(api_fixture_call(&fixture.api, "UpdateContinuousBackups", ENABLE));
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

static void wait_for_end(struct import_fixture *fixture)
{
    enum { STEPS_MAX = 30 * 500 };
    char body[1200];
    snprintf(body, sizeof body, "{'ExportArn':'%s'}", fixture->arn);
    for (int i = 0; i < STEPS_MAX; i++) {
        usleep(2000);
        assert_true(api_fixture_call(&fixture->api, "DescribeExport", body));
        if (!api_fixture_shows(&fixture->api, "'IN_PROGRESS'"))
            return;
    }
    fail_msg("%s does not end", fixture->arn);
}

/* Exports with a failure of the Nth commit. False if the request itself was refused. */
static bool run_export(struct import_fixture *fixture, uint64_t call)
{
    struct engine *engine = fixture->api.engine;
    const struct failing_engine_plan plan = { .call = call,
                                              .status = ENGINE_FULL,
                                              .commits_only = true };
    failing_engine_set(engine, &plan);
    if (!api_fixture_call(&fixture->api, "ExportTableToPointInTime",
                          "{'TableArn':'" ARN "','S3Bucket':'out'}"))
        return false;
    import_fixture_keep_arn(fixture);
    wait_for_end(fixture);
    failing_engine_set(engine, &(struct failing_engine_plan){ 0 });
    return true;
}

/* A turn that failed leaves the job in another state than a restart does. */
static void an_export_goes_on_after_any_commit_that_failed(void **state)
{
    enum { COMMITS_MAX = 7 }; /* The record, the cut, a file for each partition, the end. */
    struct import_fixture *fixture = *state;
    size_t completed = 0;
    for (uint64_t call = 1; call <= COMMITS_MAX; call++) {
        if (!run_export(fixture, call))
            continue;
        import_fixture_shows(fixture, "'ExportStatus':'COMPLETED'");
        import_fixture_shows(fixture, "'ItemCount':40,");
        completed++;
    }
    assert_true(completed > COMMITS_MAX / 2); /* The others were refused. */
}

/* Commit times go on from where they were: ahead of the wall clock, and not at a whole ms. */
static void an_export_of_now_works_after_the_clock_was_set_back(void **state)
{
    struct import_fixture *fixture = *state;
    atomic_fetch_sub(&fixture->api.clock.fixed_ms, 10 * 1000);
    assert_true(api_fixture_call(&fixture->api, "PutItem",
                                 "{'TableName':'Tab','Item':{'p':{'S':'later'}}}"));
    assert_true(api_fixture_call(&fixture->api, "ExportTableToPointInTime",
                                 "{'TableArn':'" ARN "','S3Bucket':'out'}"));
    import_fixture_keep_arn(fixture);
    wait_for_end(fixture);
    import_fixture_shows(fixture, "'ExportStatus':'COMPLETED'");
    import_fixture_shows(fixture, "'ItemCount':41,");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_export_of_now_works_after_the_clock_was_set_back, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_export_goes_on_after_any_commit_that_failed, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
