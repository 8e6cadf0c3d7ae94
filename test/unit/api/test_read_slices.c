/* test_read_slices.c -- reads of many items pause without a trace in their answers, and end when
 * they have cost enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "read/read_page.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/give_way.h"
#include "engine/engine.h"
#include "engine_fixture.h"
#include "expr/lookup.h"
#include "model/rendered_item.h"
#include "read_fixture.h"

enum { PARTITIONS = 6, ITEMS = 20, FILLER = 3000 };

static void put(struct api_fixture *fixture, int partition, int number, const char *value)
{
    static char filler[FILLER + 1];
    memset(filler, 'f', FILLER);
    read_fixture_call(fixture, "PutItem",
                      read_fixture_json("{'TableName':'ttt','Item':{'pk':{'S':'p%d'},"
                                        "'sk':{'N':'%d'},'lk':{'N':'%d'},'gk':{'S':'g'},"
                                        "'v':{'S':'%s'},'filler':{'S':'%s'}}}",
                                        partition, number, 100 - number, value, filler));
}

/* ttt: pk, sk; local index "local" by lk and global index "global" by gk and sk, both KEYS_ONLY. */
static void open_with(struct api_fixture *fixture, const struct api_options *options)
{
    api_fixture_open_with(fixture, options);
    read_fixture_call(
        fixture, "CreateTable",
        read_fixture_json(
            "{'TableName':'ttt','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
            "{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'N'},"
            "{'AttributeName':'lk','AttributeType':'N'},{'AttributeName':'gk','AttributeType':'S'}"
            "],'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},"
            "{'AttributeName':'sk','KeyType':'RANGE'}],"
            "'LocalSecondaryIndexes':[{'IndexName':'local','KeySchema':["
            "{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'lk','KeyType':'RANGE'}],"
            "'Projection':{'ProjectionType':'KEYS_ONLY'}}],"
            "'GlobalSecondaryIndexes':[{'IndexName':'global','KeySchema':["
            "{'AttributeName':'gk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
            "'Projection':{'ProjectionType':'ALL'}}]}"));
    for (int partition = 0; partition < PARTITIONS; partition++) {
        for (int i = 0; i < ITEMS; i++)
            put(fixture, partition, i, "before");
    }
}

/* On the real engine, which frees what it lent. */
static int set_up(void **state)
{
    static struct api_fixture fixture;
    struct engine_options options = engine_fixture_rocksdb_options(NULL);
    char message[ENGINE_MESSAGE_MAX];
    options.in_memory = true;
    options.render = rendered_item_make;
    struct engine *engine = engine_open(&options, message);
    assert_non_null(engine);
    open_with(&fixture, &(struct api_options){ .engine = engine });
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    api_fixture_close(*state);
    return 0;
}

#define OF_P1 "'KeyConditionExpression':'pk=:p','ExpressionAttributeValues':{':p':{'S':'p1'}}"

static const struct {
    const char *operation, *body;
} reads[] = {
    { "Scan", "{'TableName':'ttt'}" },
    { "Scan", "{'TableName':'ttt','ReturnConsumedCapacity':'INDEXES','Limit':50}" },
    { "Scan", "{'TableName':'ttt','Select':'COUNT','TotalSegments':2,'Segment':1}" },
    { "Scan", "{'TableName':'ttt','FilterExpression':'sk<:n','ExpressionAttributeValues':"
              "{':n':{'N':'3'}},'ProjectionExpression':'pk,sk'}" },
    { "Scan", "{'TableName':'ttt','IndexName':'global','ReturnConsumedCapacity':'TOTAL'}" },
    { "Scan", "{'TableName':'ttt','IndexName':'local','Select':'ALL_ATTRIBUTES',"
              "'ReturnConsumedCapacity':'INDEXES'}" },
    { "Query", "{'TableName':'ttt'," OF_P1 "}" },
    { "Query", "{'TableName':'ttt'," OF_P1 ",'ScanIndexForward':false}" },
    { "Query", "{'TableName':'ttt'," OF_P1 ",'ScanIndexForward':false,'Limit':15}" },
    { "Query", "{'TableName':'ttt','IndexName':'local'," OF_P1 ",'Select':'ALL_ATTRIBUTES'}" },
    { "Query", "{'TableName':'ttt','KeyConditionExpression':'pk=:p AND sk BETWEEN :a AND :b',"
               "'ExpressionAttributeValues':{':p':{'S':'p2'},':a':{'N':'2'},':b':{'N':'17'}},"
               "'Limit':16}" },
    { "ExecuteStatement", "{'Statement':'SELECT pk, sk FROM ttt WHERE sk >= 5'}" },
    { "ExecuteStatement", "{'Statement':'SELECT * FROM ttt','Limit':70}" },
    { "BatchGetItem", "{'RequestItems':{'ttt':{'Keys':["
                      "{'pk':{'S':'p0'},'sk':{'N':'0'}},{'pk':{'S':'p0'},'sk':{'N':'1'}},"
                      "{'pk':{'S':'p0'},'sk':{'N':'2'}},{'pk':{'S':'p0'},'sk':{'N':'3'}},"
                      "{'pk':{'S':'p0'},'sk':{'N':'4'}},{'pk':{'S':'p0'},'sk':{'N':'5'}},"
                      "{'pk':{'S':'p0'},'sk':{'N':'6'}},{'pk':{'S':'p0'},'sk':{'N':'7'}},"
                      "{'pk':{'S':'p0'},'sk':{'N':'8'}},{'pk':{'S':'p0'},'sk':{'N':'9'}},"
                      "{'pk':{'S':'p0'},'sk':{'N':'10'}},{'pk':{'S':'p0'},'sk':{'N':'11'}},"
                      "{'pk':{'S':'p0'},'sk':{'N':'12'}},{'pk':{'S':'nobody'},'sk':{'N':'0'}}]}},"
                      "'ReturnConsumedCapacity':'TOTAL'}" },
};

/* Changes the store between two slices, by calls of their own: what a page shows is one state. */
static void change_everything(struct api_fixture *fixture)
{
    struct api_fixture other = *fixture;
    other.pauses = false;
    other.arena = arena_create();
    put(&other, 1, 7, "between");
    put(&other, 2, (int)(100 + fixture->pause_count), "between");
    read_fixture_call(&other, "DeleteItem",
                      read_fixture_json("{'TableName':'ttt','Key':{'pk':{'S':'p%d'},"
                                        "'sk':{'N':'19'}}}",
                                        (int)fixture->pause_count % PARTITIONS));
    arena_destroy(other.arena);
}

static void slices_do_not_change_an_answer(void **state)
{
    struct api_fixture *fixture = *state;
    struct arena *kept = arena_create();
    for (size_t i = 0; i < COUNT_OF(reads); i++) {
        fixture->pauses = false;
        read_fixture_call(fixture, reads[i].operation, read_fixture_json("%s", reads[i].body));
        assert_int_equal(fixture->pause_count, 0);
        struct bytes want = arena_copy(kept, fixture->response);
        fixture->pauses = true;
        read_fixture_call(fixture, reads[i].operation, read_fixture_json("%s", reads[i].body));
        if (fixture->pause_count == 0)
            fail_msg("%s does not pause", reads[i].body);
        if (!bytes_equal(fixture->response, want))
            fail_msg("%s: %.*s", reads[i].body, BYTES_FMT(fixture->response));
    }
    arena_destroy(kept);
}

static void a_page_in_slices_shows_one_state_of_the_store(void **state)
{
    struct api_fixture *fixture = *state;
    struct arena *kept = arena_create();
    for (size_t i = 0; i < COUNT_OF(reads); i++) {
        fixture->pauses = false;
        fixture->between = NULL;
        read_fixture_call(fixture, reads[i].operation, read_fixture_json("%s", reads[i].body));
        struct bytes want = arena_copy(kept, fixture->response);
        /* The body must outlive the calls between: they use the same buffer. */
        struct bytes body = bytes_from_text(read_fixture_json("%s", reads[i].body));
        body = arena_copy(kept, bytes_of(body.data, body.len + 1));
        fixture->pauses = true;
        fixture->between = change_everything;
        read_fixture_call(fixture, reads[i].operation, (const char *)body.data);
        assert_true(fixture->pause_count > 0);
        if (!bytes_equal(fixture->response, want))
            fail_msg("%s: %.*s", reads[i].body, BYTES_FMT(fixture->response));
        for (int partition = 0; partition < PARTITIONS; partition++)
            put(fixture, partition, 19, "before");
    }
    fixture->between = NULL;
    arena_destroy(kept);
}

/* The view and the table are let go of: closing the fixture would find them. */
static void a_cancelled_read_ends_once_and_holds_nothing(void **state)
{
    struct api_fixture *fixture = *state;
    fixture->pauses = true;
    fixture->cancels = true;
    for (size_t i = 0; i < COUNT_OF(reads); i++) {
        const char *body = read_fixture_json("%s", reads[i].body);
        assert_false(api_fixture_call(fixture, reads[i].operation, body));
        assert_int_equal(fixture->pause_count, 1);
        assert_int_equal(fixture->error.code, ERROR_REQUEST_TIMEOUT);
    }
    fixture->pauses = false;
    fixture->cancels = false;
    read_fixture_call(fixture, "DeleteTable", read_fixture_json("{'TableName':'ttt'}"));
}

/* --- Budgets --- */

/* What one item of `ttt` costs with the filter below: the condition, and six attributes passed. */
enum { ITEM_WORK = LOOKUP_WORK_CONDITION + 6 * LOOKUP_WORK_MEMBER };

static void expect_scanned(uint64_t work_max, const char *more, size_t want, bool want_key)
{
    struct api_fixture fixture;
    struct read_fixture_page page;
    open_with(&fixture, &(struct api_options){ .read_work_max = work_max });
    read_fixture_call(&fixture, "Scan",
                      read_fixture_json("{'TableName':'ttt','FilterExpression':'attribute_exists("
                                        "nope)','ReturnConsumedCapacity':'TOTAL'%s}",
                                        more));
    read_fixture_page(&fixture, &page);
    assert_int_equal(page.count, 0);
    assert_int_equal(page.scanned_count, want);
    assert_int_equal(page.last_key[0] != 0, want_key);
    api_fixture_close(&fixture);
}

static void a_page_ends_behind_the_item_that_uses_up_its_work(void **state)
{
    (void)state;
    expect_scanned(1, "", 1, true); /* A page always gets somewhere. */
    expect_scanned(10 * ITEM_WORK - 1, "", 10, true);
    expect_scanned(10 * ITEM_WORK, "", 10, true);
    expect_scanned(10 * ITEM_WORK + 1, "", 11, true);
    expect_scanned(10 * ITEM_WORK, ",'Limit':9", 9, true);
    expect_scanned(PARTITIONS * ITEMS * ITEM_WORK + 1, "", PARTITIONS * ITEMS, false);
}

/* Pages that end for their work, one behind the other, show every item once and charge for what
 * they read. */
static void short_pages_lead_to_every_item(void **state)
{
    (void)state;
    struct api_fixture fixture;
    struct read_fixture_page page = { .count = 0 };
    size_t count = 0, scanned = 0, pages = 0;
    open_with(&fixture, &(struct api_options){ .read_work_max = 7 * ITEM_WORK });
    do {
        char start[READ_FIXTURE_KEY_MAX + 32] = "";
        if (page.last_key[0] != 0)
            snprintf(start, sizeof start, ",'ExclusiveStartKey':%s", page.last_key);
        read_fixture_call(&fixture, "Scan",
                          read_fixture_json("{'TableName':'ttt','FilterExpression':"
                                            "'attribute_exists(v)','ProjectionExpression':'v',"
                                            "'ReturnConsumedCapacity':'TOTAL'%s}",
                                            start));
        /* Seven items of 3 KB each, read eventually: 21 KB, or 3 units. */
        if (pages == 0)
            assert_true(api_fixture_shows(&fixture, "'CapacityUnits':3.0"));
        read_fixture_page(&fixture, &page);
        count += page.count;
        scanned += page.scanned_count;
        pages++;
    } while (page.last_key[0] != 0);
    assert_int_equal(count, PARTITIONS * ITEMS);
    assert_int_equal(scanned, PARTITIONS * ITEMS);
    assert_int_equal(pages, PARTITIONS * ITEMS / 7 + 1);
    api_fixture_close(&fixture);
}

/* Twenty conditions on a megabyte of items of about a hundred bytes. */
static void an_ordinary_filter_never_ends_a_page(void **state)
{
    enum { CONDITIONS = 20, ATTRIBUTES = 12, SMALL_ITEMS = 1024 * 1024 / 100 };
    (void)state;
    uint64_t work = (uint64_t)SMALL_ITEMS * CONDITIONS *
                    (2 * LOOKUP_WORK_CONDITION + ATTRIBUTES * LOOKUP_WORK_MEMBER);
    assert_true(work * 4 < READ_PAGE_WORK_MAX);
}

/* How often the thread gave way for a call. */
static uint64_t gave_way(struct api_fixture *fixture, const char *operation, const char *body)
{
    uint64_t before = give_way_own.count;
    give_way_set(true);
    read_fixture_call(fixture, operation, body);
    give_way_set(false);
    return give_way_own.count - before;
}

/* A thread of the background pool reads a whole page in one go. */
static void a_long_page_gives_way_many_times(void **state)
{
    uint64_t work = (uint64_t)PARTITIONS * ITEMS * FILLER;
    uint64_t count = gave_way(*state, "Scan", read_fixture_json("{'TableName':'ttt'}"));
    assert_true(count >= work / (2 * GIVE_WAY_EVERY));
    assert_true(count <= 4 * work / GIVE_WAY_EVERY);
    assert_int_equal(
        gave_way(*state, "Query", read_fixture_json("{'TableName':'ttt'," OF_P1 ",'Limit':1}")), 0);
}

/* What a client sends is read by the time the thread looks at a table. */
static void a_large_request_gives_way_while_it_is_read(void **state)
{
    enum { VALUES = 5000, VALUE_SIZE = 24 };
    static char body[VALUES * VALUE_SIZE + 300];
    static const char start[] = "{'TableName':'ttt','Limit':1,'ScanFilter':{'lk':{"
                                "'ComparisonOperator':'IN','AttributeValueList':[";
    size_t size = (size_t)snprintf(body, sizeof body, "%s", start);
    for (int i = 0; i < VALUES; i++)
        size += (size_t)snprintf(body + size, sizeof body - size, "%s{'N':'%d'}", i > 0 ? "," : "",
                                 1000 + i);
    snprintf(body + size, sizeof body - size, "]}}}");
    uint64_t work = (uint64_t)VALUES * GIVE_WAY_ELEMENT;
    assert_true(gave_way(*state, "Scan", read_fixture_json("%s", body)) >= work / GIVE_WAY_EVERY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(slices_do_not_change_an_answer),
        TEST(a_page_in_slices_shows_one_state_of_the_store),
        TEST(a_cancelled_read_ends_once_and_holds_nothing),
        TEST(a_long_page_gives_way_many_times),
        TEST(a_large_request_gives_way_while_it_is_read),
        cmocka_unit_test(a_page_ends_behind_the_item_that_uses_up_its_work),
        cmocka_unit_test(short_pages_lead_to_every_item),
        cmocka_unit_test(an_ordinary_filter_never_ends_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
