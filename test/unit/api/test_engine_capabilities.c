/* test_engine_capabilities.c -- the API on engines that can do less than RocksDB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>
#include "api_fixture.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "read_fixture.h"
#include "reference_engine.h"

#define TABLE                                                                                      \
    "{'TableName':'ttt','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'S'},"       \
    "{'AttributeName':'ik','AttributeType':'S'}],'KeySchema':["                                    \
    "{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"           \
    "'GlobalSecondaryIndexes':[{'IndexName':'iii','KeySchema':["                                   \
    "{'AttributeName':'ik','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"           \
    "'Projection':{'ProjectionType':'ALL'}}],"                                                     \
    "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}}"

enum { ITEMS = 30 };

/* A table with an index and a stream, on an engine that only scans forward and deletes keys. */
static int set_up(void **state)
{
    static struct api_fixture fixture;
    api_fixture_open_on(&fixture, reference_engine_create_with(ENGINE_GLOBAL_ATOMIC), 0);
    read_fixture_call(&fixture, "CreateTable", read_fixture_json(TABLE));
    for (int i = 0; i < ITEMS; i++)
        read_fixture_call(&fixture, "PutItem",
                          read_fixture_json("{'TableName':'ttt','Item':{'pk':{'S':'p'},"
                                            "'sk':{'S':'%02d'},'ik':{'S':'i'},'v':{'S':'%d'}}}",
                                            i, i));
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    api_fixture_close(*state);
    return 0;
}

static void expect_backward_pages(struct api_fixture *fixture, const char *index, const char *key)
{
    struct read_fixture_page page = { 0 };
    char start[READ_FIXTURE_KEY_MAX + 32] = "";
    int next = ITEMS;
    do {
        read_fixture_call(
            fixture, "Query",
            read_fixture_json("{'TableName':'ttt'%s,'KeyConditionExpression':'%s = :p',"
                              "'ExpressionAttributeValues':{':p':{'S':'%.1s'}},"
                              "'ScanIndexForward':false,'Limit':7%s}",
                              index, key, key, start));
        read_fixture_page(fixture, &page);
        for (size_t i = 0; i < page.value_count; i++) {
            char want[16];
            snprintf(want, sizeof want, "%d", --next);
            assert_string_equal(page.values[i], want);
        }
        snprintf(start, sizeof start, ",'ExclusiveStartKey':%s", page.last_key);
    } while (page.last_key[0] != '\0');
    assert_int_equal(next, 0);
}

static void a_query_runs_backward_on_an_engine_that_only_scans_forward(void **state)
{
    expect_backward_pages(*state, "", "pk");
}

static void a_query_of_an_index_runs_backward_on_an_engine_that_only_scans_forward(void **state)
{
    expect_backward_pages(*state, ",'IndexName':'iii'", "ik");
}

/* Whether anything is stored but the catalogue and streams, which outlive their table. */
static bool holds_items(struct engine *engine)
{
    struct engine_place place;
    struct engine_view *view;
    bool found = false;
    assert_int_equal(engine_view_open(engine, ENGINE_STRONG, &view), ENGINE_OK);
    enum engine_status status = engine_view_next_place(view, NULL, &place);
    while (status == ENGINE_OK) {
        found = found || place.space == ENGINE_SPACE_ITEMS || place.space == ENGINE_SPACE_INDEX;
        status = engine_view_next_place(view, &place, &place);
    }
    assert_int_equal(status, ENGINE_END);
    engine_view_close(view);
    return found;
}

static void a_deleted_table_leaves_no_items_on_an_engine_without_range_deletes(void **state)
{
    enum { ATTEMPTS = 2000, PAUSE_US = 5000 };
    struct api_fixture *fixture = *state;
    assert_true(holds_items(fixture->engine));
    read_fixture_call(fixture, "DeleteTable", read_fixture_json("{'TableName':'ttt'}"));
    for (int i = 0; i < ATTEMPTS && holds_items(fixture->engine); i++)
        usleep(PAUSE_US); /* The control thread removes the data. */
    assert_false(holds_items(fixture->engine));
}

static void an_engine_that_writes_one_partition_at_a_time_is_refused(void **state)
{
    const struct clock clock = clock_fixed(0);
    enum engine_status status = ENGINE_OK;
    (void)state;
    struct engine *engine = reference_engine_create_with(ENGINE_REVERSE | ENGINE_RANGE_DELETE);
    const struct api_options options = {
        .engine = engine, .clock = &clock, .region = "eu-west-1", .account_id = "123456789012"
    };
    assert_null(api_open(&options, &status));
    assert_int_equal(status, ENGINE_UNSUPPORTED);
    engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_query_runs_backward_on_an_engine_that_only_scans_forward,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_query_of_an_index_runs_backward_on_an_engine_that_only_scans_forward, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_deleted_table_leaves_no_items_on_an_engine_without_range_deletes, set_up, tear_down),
        cmocka_unit_test(an_engine_that_writes_one_partition_at_a_time_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
