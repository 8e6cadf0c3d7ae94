/* test_expiry.c -- the job deletes what has expired and nothing else, whatever the queue tells.
 *
 * The database's own job does not run; each test runs rounds of one that has no thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/timed_wait.h"
#include "check/check.h"
#include "engine_fixture.h"
#include "engine/commit/commit_engine.h"
#include "failing_engine.h"
#include "item_fixture.h"
#include "jobs/expiry.h"
#include "jobs/job.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "partition_memory.h"
#include "reference_engine.h"
#include "table/catalogue.h"
#include "table/expiry_queue.h"
#include "table/item_address.h"

enum { NOW = 1700000000, WAIT_MS = 60000 };

static struct api_fixture db;
static struct expiry *expiry;
static struct arena *arena; /* Of a test; that of `db` lasts for a call. */

/* --- Helpers --- */

static void call(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(db.error.message));
}

static void wait_for_status(const char *table, const char *status)
{
    char body[64], text[64];
    snprintf(body, sizeof body, "{'TableName':'%s'}", table);
    snprintf(text, sizeof text, "'TimeToLiveStatus':'%s'", status);
    for (int i = 0; i < WAIT_MS; i++) {
        call("DescribeTimeToLive", body);
        if (api_fixture_shows(&db, text))
            return;
        usleep(1000);
    }
    fail_msg("%s: %.*s", status, BYTES_FMT(db.response));
}

static void enable(const char *table)
{
    char body[128];
    snprintf(body, sizeof body,
             "{'TableName':'%s','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}",
             table);
    call("UpdateTimeToLive", body);
    wait_for_status(table, "ENABLED");
}

static void create_table(const char *name)
{
    char body[256];
    snprintf(body, sizeof body,
             "{'TableName':'%s','BillingMode':'PAY_PER_REQUEST',"
             "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
             "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]}",
             name);
    call("CreateTable", body);
}

static void put(const char *key, const char *value)
{
    char body[256];
    snprintf(body, sizeof body, "{'TableName':'table','Item':{'p':{'S':'%s'},'t':%s}}", key, value);
    call("PutItem", body);
}

static void put_second(const char *key, int64_t second)
{
    char value[64];
    snprintf(value, sizeof value, "{'N':'%lld'}", (long long)second);
    put(key, value);
}

static bool has_item(const char *key)
{
    char body[128];
    snprintf(body, sizeof body, "{'TableName':'table','Key':{'p':{'S':'%s'}}}", key);
    call("GetItem", body);
    return api_fixture_shows(&db, "'Item'");
}

static void start(void)
{
    expiry = expiry_start(&(struct expiry_options){
        .engine = db.engine, .clock = &db.clock, .catalogue = api_catalogue(db.api) });
}

static void fail_on_problem(void *context, const char *line)
{
    (void)context;
    fail_msg("%s", line);
}

static void assert_whole(void)
{
    check_store(db.engine, fail_on_problem, NULL);
}

static int set_up(void **state)
{
    (void)state;
    api_fixture_open_on(&db, failing_engine_create(reference_engine_create()), 0);
    arena = arena_create();
    create_table("table");
    start();
    return 0;
}

static struct partition_store *partitions;

static int set_up_on_partitions(void **state)
{
    (void)state;
    char message[ENGINE_MESSAGE_MAX];
    partitions = partition_memory_create(true);
    api_fixture_open_on(&db, commit_engine_create(partitions, &commit_time_system, 1, message), 0);
    arena = arena_create();
    create_table("table");
    start();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    expiry_stop(expiry);
    expiry_destroy(expiry);
    assert_whole();
    api_fixture_close(&db);
    arena_destroy(arena);
    return 0;
}

/* --- What expires --- */

static const struct {
    const char *key, *value;
    bool goes;
} limits[] = {
    { "now", "{'N':'1700000000'}", true },
    { "a second later", "{'N':'1700000001'}", false },
    { "a fraction ago", "{'N':'1699999999.5'}", true },
    { "a fraction later", "{'N':'1700000000.5'}", false },
    { "five years ago", "{'N':'1542320000'}", true },
    { "a second more", "{'N':'1542319999'}", false },
    { "zero", "{'N':'0'}", false },
    { "negative", "{'N':'-1700000000'}", false },
    { "milliseconds", "{'N':'1700000000000'}", false },
    { "huge", "{'N':'1E125'}", false },
    { "text", "{'S':'1699999999'}", false },
    { "null", "{'NULL':true}", false },
    { "set", "{'NS':['1699999999']}", false },
};
static_assert(NOW - EXPIRY_AGE_SECONDS_MAX == 1542320000, "the fifth case is at the limit");

static void expect_limits(void)
{
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        if (has_item(limits[i].key) == limits[i].goes)
            fail_msg("%s %s", limits[i].key, limits[i].goes ? "stayed" : "went");
    }
}

static void items_go_in_their_second_and_not_after_five_years(void **state)
{
    (void)state;
    enable("table");
    for (size_t i = 0; i < COUNT_OF(limits); i++)
        put(limits[i].key, limits[i].value);
    assert_int_equal(expiry_run_round(expiry), 0); /* The interval. */
    expect_limits();
}

static void items_from_before_go_as_well(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(limits); i++)
        put(limits[i].key, limits[i].value);
    enable("table");
    expiry_run_round(expiry);
    expect_limits();
}

static void nothing_goes_without_time_to_live(void **state)
{
    (void)state;
    put_second("a", NOW - 1);
    assert_int_equal(expiry_run_round(expiry), TIMED_WAIT_FOREVER);
    assert_true(has_item("a"));
    enable("table");
    call("UpdateTimeToLive", "{'TableName':'table','TimeToLiveSpecification':{'Enabled':false,"
                             "'AttributeName':'t'}}");
    wait_for_status("table", "DISABLED");
    assert_int_equal(expiry_run_round(expiry), TIMED_WAIT_FOREVER);
    assert_true(has_item("a"));
    assert_whole(); /* No queue is left. */
}

static void the_last_write_of_an_item_decides(void **state)
{
    (void)state;
    enable("table");
    put_second("later", NOW - 1);
    put_second("later", NOW + 100);
    put_second("text", NOW - 1);
    put("text", "{'S':'never'}");
    put_second("sooner", NOW + 100);
    put_second("sooner", NOW - 1);
    put_second("updated", NOW - 1);
    call("UpdateItem", "{'TableName':'table','Key':{'p':{'S':'updated'}},"
                       "'UpdateExpression':'SET t = t + :d',"
                       "'ExpressionAttributeValues':{':d':{'N':'2'}}}");
    put_second("removed", NOW - 1);
    call("UpdateItem", "{'TableName':'table','Key':{'p':{'S':'removed'}},"
                       "'UpdateExpression':'REMOVE t'}");
    put_second("again", NOW - 1);
    call("DeleteItem", "{'TableName':'table','Key':{'p':{'S':'again'}}}");
    put("again", "{'N':'1700000050'}");
    assert_whole();
    expiry_run_round(expiry);
    assert_true(has_item("later") && has_item("text") && !has_item("sooner"));
    assert_true(has_item("updated") && has_item("removed") && has_item("again"));
    atomic_fetch_add(&db.clock.fixed_ms, 1000);
    expiry_run_round(expiry);
    assert_false(has_item("updated"));
    atomic_fetch_add(&db.clock.fixed_ms, 49 * 1000);
    expiry_run_round(expiry);
    assert_true(has_item("later") && !has_item("again"));
}

static void a_round_takes_all_of_many_items(void **state)
{
    (void)state;
    enum { ITEMS = JOB_BATCH_ITEMS * JOB_BATCHES_MAX * 5 };
    enable("table");
    for (int i = 0; i < ITEMS; i++) {
        char key[32];
        snprintf(key, sizeof key, "%d", i);
        put_second(key, NOW + i % 2);
    }
    expiry_run_round(expiry);
    call("DescribeTable", "{'TableName':'table'}");
    char text[32];
    snprintf(text, sizeof text, "'ItemCount':%d,", ITEMS / 2);
    assert_true(api_fixture_shows(&db, text));
}

/* --- The time --- */

/* Until the job looks at all of the past again. */
static void run_until_gone(const char *key)
{
    for (int i = 0; i < WAIT_MS && has_item(key); i++) {
        expiry_run_round(expiry);
        usleep(1000);
    }
    assert_false(has_item(key));
}

static void items_of_a_busy_table_go(void **state)
{
    enum { ITEMS = 40 };
    (void)state;
    char key[16];
    enable("table");
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "%d", i);
        put_second(key, NOW - 1);
    }
    partition_memory_disturb(partitions, true);
    expiry_run_round(expiry);
    partition_memory_disturb(partitions, false);
    call("Scan", "{'TableName':'table','ConsistentRead':true,'Select':'COUNT'}");
    assert_true(api_fixture_shows(&db, "'Count':0,"));
}

static void an_item_that_was_put_with_a_time_long_passed_goes_too(void **state)
{
    (void)state;
    enable("table");
    put_second("a", NOW);
    expiry_run_round(expiry);
    put_second("late", NOW - 1000);
    run_until_gone("late");
    put_second("woken", NOW - 1000);
    expiry_wake(expiry);
    expiry_run_round(expiry);
    assert_false(has_item("woken"));
}

static void a_clock_that_was_set_back_delays_and_loses_nothing(void **state)
{
    (void)state;
    enable("table");
    put_second("a", NOW);
    put_second("b", NOW + 5);
    expiry_run_round(expiry);
    assert_false(has_item("a"));
    atomic_fetch_add(&db.clock.fixed_ms, -3600 * 1000);
    put_second("c", NOW - 3600);
    put_second("d", NOW - 3599);
    expiry_run_round(expiry);
    assert_true(!has_item("c") && has_item("d") && has_item("b"));
    atomic_fetch_add(&db.clock.fixed_ms, 3605 * 1000);
    expiry_run_round(expiry);
    assert_true(!has_item("d") && !has_item("b"));
}

/* --- What the queue tells may be old --- */

static struct engine_address address_of(const char *key)
{
    char text[64];
    struct item_address place;
    struct error err;
    error_init(&err, arena);
    snprintf(text, sizeof text, "{'p':{'S':'%s'}}", key);
    struct item item = item_fixture_read(arena, text);
    struct table *table = catalogue_find(api_catalogue(db.api), BYTES("table"));
    assert_true(item_address_of_item(arena, table_definition(table), &item, &place, &err));
    table_release(table);
    return place.address;
}

/* As a job sees it that read the queue before the item was changed. */
static struct engine_address queue_stale(const char *key, int64_t second)
{
    struct engine_address item = address_of(key);
    struct engine_address entry = expiry_queue_address(arena, &item, second);
    engine_fixture_put(db.engine, entry.place, entry.key, BYTES(""));
    return entry;
}

static void an_item_that_was_put_again_with_a_later_time_survives(void **state)
{
    (void)state;
    enable("table");
    put_second("again", NOW + 100);
    put("text", "{'S':'never'}");
    struct engine_address again = queue_stale("again", NOW - 1);
    struct engine_address text = queue_stale("text", NOW - 1);
    struct engine_address gone = queue_stale("gone", NOW - 1);
    expiry_run_round(expiry);
    assert_true(has_item("again") && has_item("text"));
    assert_true(engine_fixture_lacks(db.engine, again.place, again.key));
    assert_true(engine_fixture_lacks(db.engine, text.place, text.key));
    assert_true(engine_fixture_lacks(db.engine, gone.place, gone.key));
}

static void two_entries_of_one_item_delete_it_once(void **state)
{
    (void)state;
    enable("table");
    put_second("twice", NOW - 1);
    put_second("other", NOW + 1);
    struct engine_address stale = queue_stale("twice", NOW - 2);
    expiry_run_round(expiry);
    assert_false(has_item("twice"));
    expiry_wake(expiry);
    expiry_run_round(expiry);
    assert_true(engine_fixture_lacks(db.engine, stale.place, stale.key));
    call("DescribeTable", "{'TableName':'table'}");
    assert_true(api_fixture_shows(&db, "'ItemCount':1,"));
}

static void a_damaged_item_does_not_hold_up_others(void **state)
{
    (void)state;
    enable("table");
    for (int i = 0; i < 20; i++) {
        char key[32];
        snprintf(key, sizeof key, "%d", i);
        put_second(key, NOW - 1);
    }
    struct engine_address damaged = address_of("7");
    engine_fixture_put(db.engine, damaged.place, damaged.key, BYTES("damaged"));
    assert_int_equal(expiry_run_round(expiry), EXPIRY_FAILURE_RETRY_MS);
    assert_int_equal(expiry_run_round(expiry), EXPIRY_FAILURE_RETRY_MS);
    for (int i = 0; i < 20; i++) {
        char key[32];
        snprintf(key, sizeof key, "%d", i);
        if (i != 7)
            assert_false(has_item(key));
    }
    engine_fixture_delete(db.engine, damaged.place, damaged.key);
    expiry_run_round(expiry);                     /* Takes the entry that leads nowhere now. */
    call("DeleteTable", "{'TableName':'table'}"); /* Its statistics count the damaged item. */
}

static void a_failure_anywhere_is_made_up_for(void **state)
{
    (void)state;
    static const enum engine_status statuses[] = { ENGINE_IO, ENGINE_FULL, ENGINE_BUSY };
    enable("table");
    for (size_t s = 0; s < COUNT_OF(statuses); s++) {
        bool struck = true;
        for (uint64_t number = 1; struck; number++) {
            put_second("a", NOW - 1);
            put_second("b", NOW - 1);
            failing_engine_set(
                db.engine, &(struct failing_engine_plan){ .call = number, .status = statuses[s] });
            expiry_run_round(expiry);
            struck = failing_engine_struck(db.engine);
            failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
            assert_whole();
            expiry_wake(expiry);
            expiry_run_round(expiry);
            assert_true(!has_item("a") && !has_item("b"));
        }
    }
}

/* --- What goes with an item --- */

static void index_entries_and_collections_go_with_the_item(void **state)
{
    (void)state;
    call("CreateTable",
         "{'TableName':'indexed','BillingMode':'PAY_PER_REQUEST',"
         "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"
         "{'AttributeName':'s','AttributeType':'N'},{'AttributeName':'t','AttributeType':'N'}],"
         "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},"
         "{'AttributeName':'s','KeyType':'RANGE'}],"
         "'LocalSecondaryIndexes':[{'IndexName':'local','KeySchema':["
         "{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'t','KeyType':'RANGE'}],"
         "'Projection':{'ProjectionType':'ALL'}}],"
         "'GlobalSecondaryIndexes':[{'IndexName':'global','KeySchema':["
         "{'AttributeName':'t','KeyType':'HASH'}],'Projection':{'ProjectionType':'KEYS_ONLY'}}]}");
    for (int i = 0; i < 200; i++) {
        char body[160];
        snprintf(body, sizeof body,
                 "{'TableName':'indexed','Item':{'p':{'S':'%d'},'s':{'N':'%d'},'t':{'N':'%d'}}}",
                 i % 7, i, NOW - 1 + i % 3);
        call("PutItem", body);
        if (i == 100)
            enable("indexed");
    }
    expiry_run_round(expiry);
    call("Scan", "{'TableName':'indexed','Select':'COUNT'}");
    assert_true(api_fixture_shows(&db, "'Count':66,"));
    call("Scan", "{'TableName':'indexed','IndexName':'global','Select':'COUNT'}");
    assert_true(api_fixture_shows(&db, "'Count':66,"));
    assert_whole();
    atomic_fetch_add(&db.clock.fixed_ms, 1000);
    expiry_run_round(expiry);
    call("Scan", "{'TableName':'indexed','IndexName':'local','Select':'COUNT'}");
    assert_true(api_fixture_shows(&db, "'Count':0,"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(items_go_in_their_second_and_not_after_five_years),
        TEST(items_from_before_go_as_well),
        TEST(nothing_goes_without_time_to_live),
        TEST(the_last_write_of_an_item_decides),
        TEST(a_round_takes_all_of_many_items),
        cmocka_unit_test_setup_teardown(items_of_a_busy_table_go, set_up_on_partitions, tear_down),
        TEST(an_item_that_was_put_with_a_time_long_passed_goes_too),
        TEST(a_clock_that_was_set_back_delays_and_loses_nothing),
        TEST(an_item_that_was_put_again_with_a_later_time_survives),
        TEST(two_entries_of_one_item_delete_it_once),
        TEST(a_damaged_item_does_not_hold_up_others),
        TEST(a_failure_anywhere_is_made_up_for),
        TEST(index_entries_and_collections_go_with_the_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
