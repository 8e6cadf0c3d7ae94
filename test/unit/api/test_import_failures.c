/* test_import_failures.c -- imports and bulk operations whose store fails for a moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "import_fixture.h"
#include "reference_engine.h"

#define TABLE "{'TableName':'Tab'}"
#define START                                                                                      \
    "{'TableName':'Tab','InputS3Configuration':{'S3Bucket':'in','InputFormat':'DYNAMODB_JSON'},"   \
    "'OutputS3Configuration':{'S3Bucket':'out','S3KeyPrefix':'r','OutputType':['ERROR']}}"

enum { ITEMS = 3000, COMMITS_MAX = 6 };

/* Every hundredth has no key. */
static int set_up(void **state)
{
    static struct import_fixture fixture;
    struct buffer text;
    import_fixture_open(&fixture, &(struct api_options){
                                      .engine = failing_engine_create(reference_engine_create()) });
    buffer_init(&text, fixture.api.arena);
    for (int i = 0; i < ITEMS; i++)
        buffer_append_bytes(&text,
                            arena_printf(fixture.api.arena, "{\"Item\":{\"%s\":{\"S\":\"%d\"}}}\n",
                                         i % 100 == 7 ? "q" : "p", i));
    import_fixture_put(&fixture, "a", buffer_bytes(&text));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    import_fixture_close(*state);
    return 0;
}

static void fail_commit(struct import_fixture *fixture, uint64_t call)
{
    const struct failing_engine_plan plan = { .call = call,
                                              .status = ENGINE_FULL,
                                              .commits_only = true };
    failing_engine_set(fixture->api.engine, &plan);
}

static void assert_table(struct import_fixture *fixture)
{
    fail_commit(fixture, 0);
    assert_true(api_fixture_call(&fixture->api, "DescribeTable", TABLE));
    import_fixture_shows(fixture, "'TableStatus':'ACTIVE'");
    import_fixture_shows(fixture, "'ItemCount':2970,");
    assert_true(api_fixture_call(&fixture->api, "Scan", "{'TableName':'Tab','Select':'COUNT'}"));
    import_fixture_shows(fixture, "'Count':2970,");
}

/* Each in a store of its own: removing a table takes commits, too. */
static void an_import_goes_on_after_any_commit_that_failed(void **state)
{
    for (uint64_t call = 2; call <= COMMITS_MAX; call++) { /* The first is the request's. */
        set_up(state);
        struct import_fixture *fixture = *state;
        fail_commit(fixture, call);
        import_fixture_run(fixture, "DYNAMODB_JSON", "");
        import_fixture_shows(fixture, "'ErrorCount':30,");
        import_fixture_shows(fixture, "'ProcessedItemCount':3000,'ImportedItemCount':2970");
        assert_table(fixture);
        tear_down(state);
    }
}

static void so_does_a_bulk_operation(void **state)
{
    struct import_fixture *fixture = *state;
    assert_true(api_fixture_call(
        &fixture->api, "CreateTable",
        "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p',"
        "'KeyType':'HASH'}]}"));
    for (uint64_t call = 2; call <= COMMITS_MAX; call++) {
        fail_commit(fixture, call);
        assert_true(api_fixture_call(&fixture->api, "StartBulkPutItems", START));
        import_fixture_keep_arn(fixture);
        import_fixture_wait(fixture);
        import_fixture_shows(fixture, "'ProcessedItemCount':3000,");
        import_fixture_shows(fixture, "'FailedItemCount':30,");
        assert_table(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_import_goes_on_after_any_commit_that_failed),
        cmocka_unit_test_setup_teardown(so_does_a_bulk_operation, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
