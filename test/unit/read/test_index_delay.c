/* test_index_delay.c -- which old view is read when; and reads of global indexes that lag. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "read/index_delay.h"
#include "api_fixture.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"

enum { START_MS = 1000, HOUR_MS = 60 * 60 * 1000 };

static const struct engine_place place = { 7, 1, ENGINE_SPACE_ITEMS };

/* The store holds the time of its last change. */
static void set_time(struct engine *engine, int64_t now_ms)
{
    uint8_t bytes[8];
    store_u64_be(bytes, (uint64_t)now_ms);
    engine_fixture_put(engine, place, BYTES("time"), bytes_of(bytes, sizeof bytes));
}

static int64_t shown_time(struct delayed_views *views, int64_t now_ms)
{
    const struct engine_address address = { place, BYTES("time") };
    struct engine_value value;
    struct engine_view *view = delayed_views_open(views, now_ms);
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    int64_t time_ms = (int64_t)load_u64_be(value.bytes.data);
    engine_value_release(&value);
    engine_view_close(view);
    return time_ms;
}

static struct delayed_views *create(struct engine *engine, int64_t delay_ms)
{
    enum engine_status status;
    set_time(engine, START_MS);
    struct delayed_views *views = delayed_views_create(engine, delay_ms, START_MS, &status);
    assert_non_null(views);
    assert_int_equal(status, ENGINE_OK);
    return views;
}

/* --- The ring --- */

/* The store changes every millisecond, and each moment's view is at least as old as wanted, and not
 * older than by a step and what the thread that takes them was late. */
static void a_view_is_as_old_as_the_delay_and_hardly_older(void **state)
{
    static const struct {
        int64_t delay_ms;
        int64_t step_ms;
        int64_t late_ms; /* At every second step. */
    } cases[] = { { 1, 1, 0 },  { 2, 1, 0 },   { 63, 1, 0 },  { 64, 1, 0 },   { 65, 2, 0 },
                  { 64, 1, 3 }, { 127, 2, 0 }, { 128, 2, 0 }, { 129, 3, 0 },  { 1000, 16, 0 },
                  { 65, 2, 1 }, { 10, 1, 50 }, { 5, 1, 1 },   { 1000, 16, 7 } };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct engine *engine = reference_engine_create();
        struct delayed_views *views = create(engine, cases[i].delay_ms);
        int64_t end_ms = START_MS + 5 * cases[i].delay_ms + 10;
        int64_t due_ms = START_MS;
        unsigned steps = 0;
        for (int64_t now_ms = START_MS; now_ms < end_ms; now_ms++) {
            set_time(engine, now_ms);
            if (now_ms >= due_ms) {
                int64_t wait_ms = delayed_views_step(views, now_ms);
                assert_in_range(wait_ms, 1, cases[i].step_ms);
                due_ms = now_ms + wait_ms + (steps++ % 2) * cases[i].late_ms;
            }
            int64_t shown_ms = shown_time(views, now_ms);
            int64_t youngest_ms = now_ms - cases[i].delay_ms;
            int64_t oldest_ms = youngest_ms - cases[i].step_ms - cases[i].late_ms;
            if (youngest_ms < START_MS)
                assert_int_equal(shown_ms, START_MS);
            else
                assert_in_range(shown_ms, oldest_ms < START_MS ? START_MS : oldest_ms, youngest_ms);
        }
        delayed_views_destroy(views);
        engine_close(engine); /* Asserts that no view is left. */
    }
}

static void nothing_is_taken_before_its_time(void **state)
{
    (void)state;
    struct engine *engine = failing_engine_create(reference_engine_create());
    struct delayed_views *views = create(engine, 640);
    failing_engine_set(engine, &(struct failing_engine_plan){ 0 });
    assert_int_equal(delayed_views_step(views, START_MS), 10);
    assert_int_equal(delayed_views_step(views, START_MS + 9), 1);
    assert_int_equal(failing_engine_calls(engine), 0);
    assert_int_equal(delayed_views_step(views, START_MS + 10), 10);
    assert_int_equal(failing_engine_calls(engine), 1);
    assert_int_equal(delayed_views_step(views, START_MS + 11), 9);
    assert_int_equal(failing_engine_calls(engine), 1);
    delayed_views_destroy(views);
    engine_close(engine);
}

static void a_view_that_was_handed_out_stays_open(void **state)
{
    (void)state;
    struct engine *engine = reference_engine_create();
    struct delayed_views *views = create(engine, 10);
    struct engine_view *first = delayed_views_open(views, START_MS);
    for (int64_t now_ms = START_MS + 1; now_ms < START_MS + 100; now_ms++) {
        set_time(engine, now_ms);
        delayed_views_step(views, now_ms);
    }
    assert_int_equal(shown_time(views, START_MS + 99), START_MS + 89);
    delayed_views_destroy(views);
    const struct engine_address address = { place, BYTES("time") };
    struct engine_value value;
    assert_int_equal(engine_view_get(first, &address, &value), ENGINE_OK);
    assert_int_equal(load_u64_be(value.bytes.data), START_MS);
    engine_value_release(&value);
    engine_view_close(first);
    engine_close(engine);
}

static void a_failure_leaves_older_views_and_is_made_up_for(void **state)
{
    (void)state;
    struct engine *engine = failing_engine_create(reference_engine_create());
    struct delayed_views *views = create(engine, 1);
    for (int64_t now_ms = START_MS + 1; now_ms <= START_MS + 3; now_ms++) {
        set_time(engine, now_ms);
        failing_engine_set(engine, &(struct failing_engine_plan){ .call = 1, .status = ENGINE_IO });
        assert_int_equal(delayed_views_step(views, now_ms), 1);
        assert_true(failing_engine_struck(engine));
        failing_engine_set(engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(shown_time(views, now_ms), START_MS);
    }
    assert_int_equal(delayed_views_step(views, START_MS + 4), 1);
    assert_int_equal(shown_time(views, START_MS + 5), START_MS + 3);
    delayed_views_destroy(views);

    enum engine_status status;
    failing_engine_set(engine, &(struct failing_engine_plan){ .call = 1, .status = ENGINE_IO });
    assert_null(delayed_views_create(engine, 1, START_MS, &status));
    assert_int_equal(status, ENGINE_IO);
    engine_close(engine);
}

/* --- Reads --- */

#define TYPE(name) "{'AttributeName':'" name "','AttributeType':'S'}"
#define KEYS(hash, range)                                                                          \
    "'KeySchema':[{'AttributeName':'" hash "','KeyType':'HASH'},{'AttributeName':'" range          \
    "','KeyType':'RANGE'}]"
#define INDEX(name, keys)                                                                          \
    "[{'IndexName':'" name "'," keys ",'Projection':{'ProjectionType':'ALL'}}]"
#define TYPES TYPE("p") "," TYPE("s") "," TYPE("g")
#define TABLE_KEYS KEYS("p", "s")
#define LOCAL INDEX("local", KEYS("p", "g"))
#define GLOBAL INDEX("global", KEYS("g", "s"))

static const char create_table[] =
    "{'TableName':'ttt','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':[" TYPES
    "]," TABLE_KEYS ",'LocalSecondaryIndexes':" LOCAL ",'GlobalSecondaryIndexes':" GLOBAL "}";
static const char put_item[] =
    "{'TableName':'ttt','Item':{'p':{'S':'p'},'s':{'S':'s'},'g':{'S':'g'}}}";

#define QUERY(more, name)                                                                          \
    "Query", "{'TableName':'ttt'," more "'Select':'COUNT','KeyConditionExpression':'" name         \
             " = :v','ExpressionAttributeValues':{':v':{'S':'" name "'}}}"
#define SCAN(more) "Scan", "{'TableName':'ttt'," more "'Select':'COUNT'}"

static void expect_count(struct api_fixture *fixture, const char *operation, const char *body,
                         int count)
{
    char want[64];
    snprintf(want, sizeof want, "{'Count':%d,'ScannedCount':%d}", count, count);
    api_fixture_expect(fixture, operation, body, want);
}

static void open_with_delay(struct api_fixture *fixture, int64_t delay_ms)
{
    api_fixture_open_with(fixture, &(struct api_options){ .index_delay_ms = delay_ms });
    assert_true(api_fixture_call(fixture, "CreateTable", create_table));
    assert_true(api_fixture_call(fixture, "PutItem", put_item));
}

static void expect_all_but_global_indexes(struct api_fixture *fixture)
{
    expect_count(fixture, QUERY("", "p"), 1);
    expect_count(fixture, QUERY("'ConsistentRead':true,", "p"), 1);
    expect_count(fixture, QUERY("'IndexName':'local',", "p"), 1);
    expect_count(fixture, QUERY("'IndexName':'local','ConsistentRead':true,", "p"), 1);
    expect_count(fixture, SCAN(""), 1);
    expect_count(fixture, SCAN("'IndexName':'local',"), 1);
}

static void only_reads_of_global_indexes_lag_behind(void **state)
{
    struct api_fixture fixture;
    (void)state;
    open_with_delay(&fixture, HOUR_MS);
    expect_all_but_global_indexes(&fixture);
    expect_count(&fixture, QUERY("'IndexName':'global',", "g"), 0);
    expect_count(&fixture, SCAN("'IndexName':'global',"), 0);
    assert_true(api_fixture_call(&fixture, "DescribeTable", "{'TableName':'ttt'}"));
    assert_true(api_fixture_shows(&fixture, "'IndexName':'global'"));
    assert_false(api_fixture_shows(&fixture, "'ItemCount':0"));
    /* What was there at the start is shown at once. */
    api_fixture_restart(&fixture, 0);
    expect_count(&fixture, QUERY("'IndexName':'global',", "g"), 1);
    assert_true(api_fixture_call(&fixture, "DeleteItem",
                                 "{'TableName':'ttt','Key':{'p':{'S':'p'},'s':{'S':'s'}}}"));
    expect_count(&fixture, QUERY("", "p"), 0);
    expect_count(&fixture, SCAN("'IndexName':'global',"), 1);
    api_fixture_close(&fixture);
}

static void without_a_delay_global_indexes_show_a_write_at_once(void **state)
{
    struct api_fixture fixture;
    (void)state;
    open_with_delay(&fixture, 0);
    expect_all_but_global_indexes(&fixture);
    expect_count(&fixture, QUERY("'IndexName':'global',", "g"), 1);
    expect_count(&fixture, SCAN("'IndexName':'global',"), 1);
    api_fixture_close(&fixture);
}

/* The thread does its part: however long it takes, the entry comes. */
static void an_entry_is_shown_in_the_end(void **state)
{
    struct api_fixture fixture;
    (void)state;
    open_with_delay(&fixture, 1);
    do
        assert_true(api_fixture_call(&fixture, SCAN("'IndexName':'global',")));
    while (!api_fixture_shows(&fixture, "'Count':1"));
    api_fixture_close(&fixture);
}

static void a_store_that_cannot_be_viewed_does_not_open(void **state)
{
    (void)state;
    struct engine *engine = failing_engine_create(reference_engine_create());
    enum engine_status status = ENGINE_OK;
    bool struck = true;
    for (uint64_t call = 1; struck; call++) {
        failing_engine_set(engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        struct api_options options = { .engine = engine,
                                       .clock = &clock_system,
                                       .region = "r",
                                       .account_id = "000000000000",
                                       .index_delay_ms = HOUR_MS };
        struct api *api = api_open(&options, &status);
        struck = failing_engine_struck(engine);
        assert_int_equal(api == NULL, status != ENGINE_OK);
        api_close(api);
    }
    assert_int_equal(status, ENGINE_OK);
    engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_as_old_as_the_delay_and_hardly_older),
        cmocka_unit_test(nothing_is_taken_before_its_time),
        cmocka_unit_test(a_view_that_was_handed_out_stays_open),
        cmocka_unit_test(a_failure_leaves_older_views_and_is_made_up_for),
        cmocka_unit_test(only_reads_of_global_indexes_lag_behind),
        cmocka_unit_test(without_a_delay_global_indexes_show_a_write_at_once),
        cmocka_unit_test(an_entry_is_shown_in_the_end),
        cmocka_unit_test(a_store_that_cannot_be_viewed_does_not_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
