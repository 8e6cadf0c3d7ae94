/* test_batch.c -- BatchGetItem and BatchWriteItem: limits, answers and failures of the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "api_fixture.h"
#include "batch_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "failing_engine.h"
#include "model/limits.h"
#include "reference_engine.h"

static struct api_fixture db;

static void must(const char *operation, const char *body)
{
    batch_fixture_must(&db, operation, body);
}

static int set_up(void **state)
{
    (void)state;
    api_fixture_open_on(&db, failing_engine_create(reference_engine_create()), 0);
    batch_fixture_create_tables(&db);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

/* --- Bodies --- */

#define ONE_ERROR "1 validation error detected: "
#define MAP_VALUE                                                                                  \
    "Map value must satisfy constraint: [Member must have length less than or equal to 25, "       \
    "Member must have length greater than or equal to 1]"

/* A list's elements from first to last, each made from `format` and its number. */
static void append_series(struct buffer *out, const char *format, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        if (i > first)
            buffer_append_byte(out, ',');
        buffer_append_bytes(out, arena_printf(out->arena, format, i));
    }
}

static void append_text(struct buffer *out, const char *text)
{
    buffer_append_bytes(out, bytes_from_text(text));
}

/* The body is kept by the caller's arena, because a call resets the fixture's. */
static const char *finished(struct buffer *out)
{
    buffer_append_byte(out, '\0');
    return (const char *)out->data;
}

static const char *get_body(struct arena *arena, unsigned plain_count, unsigned sorted_count)
{
    struct buffer out;
    buffer_init(&out, arena);
    append_text(&out, "{'RequestItems':{'plain':{'Keys':[");
    append_series(&out, "{'pk':{'S':'%u'}}", 1, plain_count);
    append_text(&out, "]}");
    if (sorted_count > 0) {
        append_text(&out, ",'sorted':{'Keys':[");
        append_series(&out, "{'h':{'S':'x'},'r':{'N':'%u'}}", 1, sorted_count);
        append_text(&out, "]}");
    }
    append_text(&out, "}}");
    return finished(&out);
}

static const char *write_body(struct arena *arena, unsigned plain_count, unsigned sorted_count)
{
    struct buffer out;
    buffer_init(&out, arena);
    append_text(&out, "{'RequestItems':{'plain':[");
    append_series(&out, PUT("{'pk':{'S':'%u'}}"), 1, plain_count);
    append_text(&out, "]");
    if (sorted_count > 0) {
        append_text(&out, ",'sorted':[");
        append_series(&out, DELETE("{'h':{'S':'x'},'r':{'N':'%u'}}"), 1, sorted_count);
        append_text(&out, "]");
    }
    append_text(&out, "}}");
    return finished(&out);
}

/* An item of the plain table whose size is `size`; its key is of four digits. */
static void append_item(struct buffer *out, unsigned number, size_t size)
{
    buffer_append_bytes(out, arena_printf(out->arena, "{'pk':{'S':'%04u'},'x':{'S':'", number));
    size_t len = size - 2 - 4 - 1;
    memset(buffer_reserve(out, len), 'x', len);
    out->len += len;
    append_text(out, "'}}");
}

static void put_item_of_size(struct arena *arena, unsigned number, size_t size)
{
    struct buffer body;
    buffer_init(&body, arena);
    append_text(&body, "{'TableName':'plain','Item':");
    append_item(&body, number, size);
    append_text(&body, "}");
    must("PutItem", finished(&body));
}

/* --- Limits --- */

static void a_read_takes_a_hundred_keys(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    static const struct {
        unsigned plain, sorted;
        const char *message; /* NULL: accepted. */
    } cases[] = {
        { BATCH_GET_KEYS_MAX - 1, 0, NULL },
        { BATCH_GET_KEYS_MAX, 0, NULL },
        { BATCH_GET_KEYS_MAX + 1, 0,
          ONE_ERROR "Value at 'RequestItems.plain.member.Keys' failed to satisfy constraint: "
                    "Member must have length less than or equal to 100" },
        { 60, 39, NULL },
        { 60, 40, NULL },
        { 60, 41, "Too many items requested for the BatchGetItem call" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *body = get_body(arena, cases[i].plain, cases[i].sorted);
        if (cases[i].message == NULL)
            must("BatchGetItem", body);
        else
            api_fixture_expect_error(&db, "BatchGetItem", body, ERROR_VALIDATION, cases[i].message);
    }
    arena_destroy(arena);
}

static void a_write_takes_25_requests(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    must("BatchWriteItem", write_body(arena, BATCH_WRITE_REQUESTS_MAX - 1, 0));
    must("BatchWriteItem", write_body(arena, BATCH_WRITE_REQUESTS_MAX, 0));
    must("BatchWriteItem", write_body(arena, 20, 4));
    must("BatchWriteItem", write_body(arena, 20, 5));
    api_fixture_expect_error(&db, "BatchWriteItem", write_body(arena, 20, 6), ERROR_VALIDATION,
                             "Too many items requested for the BatchWriteItem call");

    struct buffer message;
    buffer_init(&message, arena);
    append_text(&message, ONE_ERROR "Value '{plain=[");
    for (unsigned i = 0; i <= BATCH_WRITE_REQUESTS_MAX; i++) {
        append_text(&message, i == 0 ? "" : ", ");
        append_text(&message,
                    "WriteRequest(putRequest=PutRequest(item=AttributeValue), deleteRequest=null)");
    }
    append_text(&message, "]}' at 'requestItems' failed to satisfy constraint: " MAP_VALUE);
    api_fixture_expect_error(&db, "BatchWriteItem",
                             write_body(arena, BATCH_WRITE_REQUESTS_MAX + 1, 0), ERROR_VALIDATION,
                             finished(&message));
    arena_destroy(arena);
}

static void an_item_of_a_write_may_have_400_kb(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t size = ITEM_SIZE_MAX - 1; size <= ITEM_SIZE_MAX + 1; size++) {
        struct buffer body;
        buffer_init(&body, arena);
        append_text(&body, "{'RequestItems':{'plain':[{'PutRequest':{'Item':");
        append_item(&body, 1, size);
        append_text(&body, "}}]}}");
        if (size <= ITEM_SIZE_MAX)
            must("BatchWriteItem", finished(&body));
        else
            api_fixture_expect_error(&db, "BatchWriteItem", finished(&body), ERROR_VALIDATION,
                                     "Item size has exceeded the maximum allowed size");
    }
    arena_destroy(arena);
}

/* Told again with the keys that were left. */
static const struct projections {
    const char *plain, *sorted;
} expressions = { "'ProjectionExpression':'#p','ExpressionAttributeNames':{'#p':'pk'}",
                  "'ProjectionExpression':'h, r'" },
  older = { "'AttributesToGet':['pk']", "'AttributesToGet':['h','r']" };

/* 40 items of the greatest size and one that fills the answer up to its limit, or past it. */
static void expect_split(struct arena *arena, size_t last_size, const struct projections *shown,
                         bool fits)
{
    enum { LARGE_COUNT = BATCH_GET_SIZE_MAX / ITEM_SIZE_MAX };
    _Static_assert(LARGE_COUNT == 40, "the keys below");
    put_item_of_size(arena, LARGE_COUNT + 1, last_size);
    struct buffer body;
    char rest[512];
    buffer_init(&body, arena);
    append_text(&body, "{'ReturnConsumedCapacity':'TOTAL','RequestItems':{'plain':{'Keys':[");
    append_series(&body, "{'pk':{'S':'%04u'}}", 1, LARGE_COUNT + 1);
    snprintf(rest, sizeof rest,
             ",{'pk':{'S':'none'}}],'ConsistentRead':true,%s},'sorted':{'Keys':[" SORTED_KEY(
                 "a", "1.0") "],%s}}}",
             shown->plain, shown->sorted);
    append_text(&body, rest);
    must("BatchGetItem", finished(&body));
    assert_true(api_fixture_shows(&db, "{'pk':{'S':'0040'}}"));
    if (fits) {
        assert_true(api_fixture_shows(
            &db, "{'pk':{'S':'0041'}}],'sorted':[]},'UnprocessedKeys':{},'ConsumedCapacity':["
                 "{'TableName':'plain','CapacityUnits':4097.0},{'TableName':'sorted',"
                 "'CapacityUnits':0.5}]}"));
        return;
    }
    snprintf(rest, sizeof rest,
             "{'pk':{'S':'0040'}}],'sorted':[]},'UnprocessedKeys':{'plain':{'Keys':["
             "{'pk':{'S':'0041'}},{'pk':{'S':'none'}}],'ConsistentRead':true,%s},"
             "'sorted':{'Keys':[{'h':{'S':'a'},'r':{'N':'1'}}],%s}},'ConsumedCapacity':["
             "{'TableName':'plain','CapacityUnits':4000.0},"
             "{'TableName':'sorted','CapacityUnits':0.0}]}",
             shown->plain, shown->sorted);
    assert_true(api_fixture_shows(&db, rest));
}

static void a_read_beyond_16_mb_leaves_keys_unprocessed(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    size_t rest = BATCH_GET_SIZE_MAX % ITEM_SIZE_MAX;
    for (unsigned i = 1; i <= BATCH_GET_SIZE_MAX / ITEM_SIZE_MAX; i++)
        put_item_of_size(arena, i, ITEM_SIZE_MAX);
    expect_split(arena, rest - 1, &expressions, true);
    expect_split(arena, rest, &expressions, true);
    expect_split(arena, rest + 1, &expressions, false);
    expect_split(arena, rest + 1, &older, false);
    arena_destroy(arena);
}

/* --- What is done --- */

static void items_of_several_tables_come_back(void **state)
{
    (void)state;
    api_fixture_expect(
        &db, "BatchWriteItem",
        "{'RequestItems':{'plain':[" PUT("{'pk':{'S':'a'},'x':{'N':'1'}}") "," PUT(
            "{'pk':{'S':'b'},'x':{'N':'2'}}") "],'sorted':[" PUT("{'h':{'S':'h'},'r':{'N':'1'},'m':"
                                                                 "{'M':{'n':{'S':'v'}}}}") "]}}",
        "{'UnprocessedItems':{}}");
    static const struct {
        const char *body, *response;
    } cases[] = {
        { GET_PLAIN(KEY("b") "," KEY("none") "," KEY("a") "]"),
          "{'Responses':{'plain':[{'pk':{'S':'b'},'x':{'N':'2'}},{'pk':{'S':'a'},'x':{'N':'1'}}]},"
          "'UnprocessedKeys':{}}" },
        { GET_PLAIN(KEY("none") "]"), "{'Responses':{'plain':[]},'UnprocessedKeys':{}}" },
        { "{'RequestItems':{'sorted':{'Keys':[" SORTED_KEY(
              "h", "1.0") "],'ProjectionExpression':'m.n','ConsistentRead':true},'plain':{'Keys':"
                          "[" KEY("a") "],'ProjectionExpression':'x, lacking'}}}",
          "{'Responses':{'plain':[{'x':{'N':'1'}}],'sorted':[{'m':{'M':{'n':{'S':'v'}}}}]},"
          "'UnprocessedKeys':{}}" },
        { GET_PLAIN(KEY("a") "],'AttributesToGet':['x','none']"),
          "{'Responses':{'plain':[{'x':{'N':'1'}}]},'UnprocessedKeys':{}}" },
        { "{'RequestItems':{'plain':{'Keys':[" KEY("a") "]},'" PLAIN_ARN "':{'Keys':[" KEY(
              "b") "],"
                   "'ProjectionExpression':'lacking'}}}",
          "{'Responses':{'" PLAIN_ARN "':[{}],'plain':[{'pk':{'S':'a'},'x':{'N':'1'}}]},"
          "'UnprocessedKeys':{}}" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect(&db, "BatchGetItem", cases[i].body, cases[i].response);
}

static void one_key_in_two_tables_is_two_items(void **state)
{
    (void)state;
    must("CreateTable", TABLE("twin"));
    must("BatchWriteItem",
         "{'RequestItems':{'plain':[" PUT(KEY("a")) "],'twin':[" PUT(KEY("a")) "]}}");
    api_fixture_expect(
        &db, "BatchGetItem",
        "{'RequestItems':{'plain':{'Keys':[" KEY("a") "]},'twin':{'Keys':[" KEY("a") "]}}}",
        "{'Responses':{'plain':[{'pk':{'S':'a'}}],'twin':[{'pk':{'S':'a'}}]},"
        "'UnprocessedKeys':{}}");
}

static void deletes_take_items_away(void **state)
{
    (void)state;
    must("BatchWriteItem", WRITE_PLAIN(PUT(KEY("a")) "," PUT(KEY("b"))));
    must("BatchWriteItem", WRITE_PLAIN(DELETE(KEY("a")) "," DELETE(KEY("none")) "," PUT(KEY("c"))));
    api_fixture_expect(&db, "BatchGetItem", GET_PLAIN(KEY("a") "," KEY("b") "," KEY("c") "]"),
                       "{'Responses':{'plain':[{'pk':{'S':'b'}},{'pk':{'S':'c'}}]},"
                       "'UnprocessedKeys':{}}");
}

static void capacity_is_told_per_table(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    put_item_of_size(arena, 1, 4096);
    put_item_of_size(arena, 2, 4097);
    static const struct {
        const char *operation, *body, *response;
    } cases[] = {
        { "BatchGetItem",
          "{'ReturnConsumedCapacity':'TOTAL','RequestItems':{'plain':{'Keys':[" KEY("0001") "," KEY(
              "0002") "," KEY("none") "],'ProjectionExpression':'pk'},'sorted':{'Keys':"
                                      "[" SORTED_KEY("a", "1") "],'ConsistentRead':true}}}",
          "{'Responses':{'plain':[{'pk':{'S':'0001'}},{'pk':{'S':'0002'}}],'sorted':[]},"
          "'UnprocessedKeys':{},'ConsumedCapacity':[{'TableName':'plain','CapacityUnits':2.0},"
          "{'TableName':'sorted','CapacityUnits':1.0}]}" },
        { "BatchGetItem",
          "{'ReturnConsumedCapacity':'INDEXES','RequestItems':{'" PLAIN_ARN
          "':{'Keys':[" KEY("none") "]}}}",
          "{'Responses':{'" PLAIN_ARN "':[]},'UnprocessedKeys':{},'ConsumedCapacity':[{"
          "'TableName':'" PLAIN_ARN "','CapacityUnits':0.5,'Table':{'CapacityUnits':0.5}}]}" },
        { "BatchGetItem",
          "{'ReturnConsumedCapacity':'NONE','RequestItems':{'plain':{'Keys':[" KEY("none") "]}}}",
          "{'Responses':{'plain':[]},'UnprocessedKeys':{}}" },
        /* 5 for the old item, 1 for nothing, 1 for a small one. */
        { "BatchWriteItem",
          "{'ReturnConsumedCapacity':'INDEXES','ReturnItemCollectionMetrics':'SIZE',"
          "'RequestItems':{'plain':[" DELETE(KEY("0002")) "," DELETE(KEY("none")) "," PUT(
              KEY("new")) "],'sorted':[" PUT(SORTED_KEY("a", "1")) "]}}",
          "{'UnprocessedItems':{},'ConsumedCapacity':[{'TableName':'plain','CapacityUnits':7.0,"
          "'Table':{'CapacityUnits':7.0}},{'TableName':'sorted','CapacityUnits':1.0,'Table':{"
          "'CapacityUnits':1.0}}]}" },
        { "BatchWriteItem",
          "{'ReturnConsumedCapacity':'TOTAL','RequestItems':{'plain':[" PUT(KEY("0001")) "]}}",
          "{'UnprocessedItems':{},'ConsumedCapacity':[{'TableName':'plain','CapacityUnits':4.0}]"
          "}" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        api_fixture_expect(&db, cases[i].operation, cases[i].body, cases[i].response);
    arena_destroy(arena);
}

/* --- Failures of the store --- */

static void expect_stats(const char *table, unsigned count, unsigned size)
{
    char body[64], stats[96];
    snprintf(body, sizeof body, "{'TableName':'%s'}", table);
    snprintf(stats, sizeof stats, "'TableSizeBytes':%u,'ItemCount':%u", size, count);
    must("DescribeTable", body);
    if (!api_fixture_shows(&db, stats))
        fail_msg("%s: want %s\n got: %.*s", table, stats, BYTES_FMT(db.response));
}

#define MIXED_WRITE                                                                                \
    "{'ReturnConsumedCapacity':'TOTAL','RequestItems':{'plain':[" DELETE(KEY("a")) "," PUT(        \
        "{'pk':{'S':'b'},'x':{'S':'12345'}}") "," PUT(KEY("c")) "],'sorted':[" PUT(SORTED_KEY("h", \
                                                                                              "1")) "]}}"

static void prepare(void)
{
    must("BatchWriteItem", WRITE_PLAIN(PUT(KEY("a")) "," PUT(KEY("b")) "," DELETE(KEY("c"))));
    must("BatchWriteItem", "{'RequestItems':{'sorted':[" DELETE(SORTED_KEY("h", "1")) "]}}");
}

/* Each item of a key of one letter is 3 bytes large; "x" and "12345" add 6. */
static void expect_as_prepared(void)
{
    expect_stats("plain", 2, 6);
    expect_stats("sorted", 0, 0);
}

static void a_write_that_fails_changes_nothing(void **state)
{
    (void)state;
    bool struck = true;
    for (uint64_t call = 1; struck; call++) {
        prepare();
        expect_as_prepared();
        failing_engine_set(db.engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        bool ok = api_fixture_call(&db, "BatchWriteItem", MIXED_WRITE);
        struck = failing_engine_struck(db.engine);
        failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(ok, !struck);
        if (struck) {
            assert_int_equal(db.error.code, ERROR_INTERNAL);
            expect_as_prepared();
        }
    }
    expect_stats("plain", 2, 12);
    expect_stats("sorted", 1, 5);
}

/* The outcome is not known, so the client is told of a failure; the statistics follow the items. */
static void a_write_of_unknown_outcome_keeps_statistics_in_step(void **state)
{
    (void)state;
    prepare();
    failing_engine_set(db.engine, &(struct failing_engine_plan){ .call = 1,
                                                                 .status = ENGINE_UNKNOWN,
                                                                 .commits_only = true,
                                                                 .applied = true });
    api_fixture_expect_error(&db, "BatchWriteItem", MIXED_WRITE, ERROR_INTERNAL,
                             "Internal server error");
    failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
    expect_stats("plain", 2, 12);
    expect_stats("sorted", 1, 5);
}

static void a_conflict_decides_again_and_answers_once(void **state)
{
    (void)state;
    prepare();
    failing_engine_set(db.engine, &(struct failing_engine_plan){
                                      .call = 1, .status = ENGINE_CONFLICT, .commits_only = true });
    api_fixture_expect(&db, "BatchWriteItem", MIXED_WRITE,
                       "{'UnprocessedItems':{},'ConsumedCapacity':[{'TableName':'plain',"
                       "'CapacityUnits':3.0},{'TableName':'sorted','CapacityUnits':1.0}]}");
    assert_true(failing_engine_struck(db.engine));
    failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
    expect_stats("plain", 2, 12);
}

static void a_read_that_fails_ends_with_an_error(void **state)
{
    (void)state;
    bool struck = true;
    uint64_t call = 0;
    prepare();
    while (struck) {
        failing_engine_set(db.engine,
                           &(struct failing_engine_plan){ .call = ++call, .status = ENGINE_IO });
        bool ok = api_fixture_call(&db, "BatchGetItem",
                                   "{'RequestItems':{'plain':{'Keys':[" KEY("a") "," KEY(
                                       "b") "]},"
                                            "'sorted':{'Keys':[" SORTED_KEY("h", "1") "]}}}");
        struck = failing_engine_struck(db.engine);
        assert_int_equal(ok, !struck);
        if (struck)
            assert_int_equal(db.error.code, ERROR_INTERNAL);
    }
    assert_int_equal(call, 1 + 3 + 1); /* The view, three items, and none that strikes. */
    failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_read_takes_a_hundred_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_write_takes_25_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_item_of_a_write_may_have_400_kb, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_read_beyond_16_mb_leaves_keys_unprocessed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(items_of_several_tables_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_key_in_two_tables_is_two_items, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deletes_take_items_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(capacity_is_told_per_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_write_that_fails_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_write_of_unknown_outcome_keeps_statistics_in_step, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_conflict_decides_again_and_answers_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_read_that_fails_ends_with_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
