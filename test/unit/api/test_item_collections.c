/* test_item_collections.c -- the size of an item collection: its limit and its metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api_fixture.h"
#include "base/compiler.h"
#include "check/check.h"
#include "engine_fixture.h"
#include "model/limits.h"
#include "table/collection_size.h"

#define GIB (INT64_C(1024) * 1024 * 1024)

/* Table "ttt": p, s (S), local index "local" on l (S), KEYS_ONLY, and a global one. "plain": the
 * same without a local index. */
#define TYPES                                                                                      \
    "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"                           \
    "{'AttributeName':'s','AttributeType':'S'},{'AttributeName':'l','AttributeType':'S'}]"
#define KEYS(hash, range)                                                                          \
    "'KeySchema':[{'AttributeName':'" hash "','KeyType':'HASH'},{'AttributeName':'" range          \
    "','KeyType':'RANGE'}]"
#define GLOBAL                                                                                     \
    "'GlobalSecondaryIndexes':[{'IndexName':'global'," KEYS(                                       \
        "l", "s") ",'Projection':{'ProjectionType':'ALL'}}]"
static const char *const tables[] = {
    "{'TableName':'ttt','BillingMode':'PAY_PER_REQUEST'," TYPES
    "," KEYS("p", "s") "," GLOBAL ",'LocalSecondaryIndexes':[{'IndexName':'local'," KEYS(
        "p", "l") ",'Projection':{'ProjectionType':'KEYS_ONLY'}}]}",
    "{'TableName':'plain','BillingMode':'PAY_PER_REQUEST'," TYPES "," KEYS("p", "s") "," GLOBAL "}",
};

/* The keys take 4 bytes, the name of `x` 1, an `l` 2 in the item and 6 in the local index. */
enum { KEYS_SIZE = 4, ITEM_SIZE = KEYS_SIZE + 1, INDEXED_SIZE = ITEM_SIZE + 2 + KEYS_SIZE + 2 };
enum { LIMIT = 100, TEXT_MAX = 16 * 1024 };

static const char too_large[] = "Collection size exceeded.";

static void open_with_limit(struct api_fixture *fixture, int64_t size_max)
{
    api_fixture_open_with(fixture, &(struct api_options){ .item_collection_size_max = size_max });
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        assert_true(api_fixture_call(fixture, "CreateTable", tables[i]));
}

static int set_up(void **state)
{
    struct api_fixture *fixture = malloc(sizeof *fixture);
    open_with_limit(fixture, LIMIT);
    *state = fixture;
    return 0;
}

static int set_up_default(void **state)
{
    struct api_fixture *fixture = malloc(sizeof *fixture);
    open_with_limit(fixture, 0);
    *state = fixture;
    return 0;
}

static void count_problem(void *context, const char *line)
{
    print_message("%s\n", line);
    ++*(int *)context;
}

/* Whatever a test did, the records are right. */
static int tear_down(void **state)
{
    struct api_fixture *fixture = *state;
    int problems = 0;
    check_store(fixture->engine, count_problem, &problems);
    api_fixture_close(fixture);
    free(fixture);
    return problems;
}

static int tear_down_unchecked(void **state)
{
    api_fixture_close(*state);
    free(*state);
    return 0;
}

/* {'p':{'S':'P'},'s':{'S':'S'},'x':{'S':'xxx...'}} with `size` bytes of x. */
static const char *item(char out[TEXT_MAX], const char *p, const char *s, int size,
                        const char *more)
{
    snprintf(
        out, TEXT_MAX, "{'p':{'S':'%s'},'s':{'S':'%s'},'x':{'S':'%.*s'}%s}", p, s, size,
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        more);
    return out;
}

static bool put(struct api_fixture *fixture, const char *table, const char *item_json)
{
    char body[2 * TEXT_MAX];
    snprintf(body, sizeof body, "{'TableName':'%s','Item':%s}", table, item_json);
    bool ok = api_fixture_call(fixture, "PutItem", body);
    if (!ok) {
        assert_int_equal(fixture->error.code, ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED);
        assert_true(bytes_equal_text(fixture->error.message, too_large));
    }
    return ok;
}

static bool has(struct api_fixture *fixture, const char *p, const char *s)
{
    char body[256];
    snprintf(body, sizeof body, "{'TableName':'ttt','Key':{'p':{'S':'%s'},'s':{'S':'%s'}}}", p, s);
    assert_true(api_fixture_call(fixture, "GetItem", body));
    return api_fixture_shows(fixture, "'Item'");
}

/* --- The limit --- */

static void a_collection_may_reach_its_limit_and_not_pass_it(void **state)
{
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX];
    assert_true(put(fixture, "ttt", item(text, "a", "1", 50, "")));
    int left = LIMIT - (ITEM_SIZE + 50) - ITEM_SIZE;
    assert_false(put(fixture, "ttt", item(text, "a", "2", left + 1, "")));
    assert_false(has(fixture, "a", "2"));
    assert_true(put(fixture, "ttt", item(text, "a", "2", left - 1, "")));
    assert_true(put(fixture, "ttt", item(text, "a", "2", left, "")));
    assert_false(put(fixture, "ttt", item(text, "a", "2", left + 1, "")));
    assert_false(put(fixture, "ttt", item(text, "a", "3", 0, "")));
}

static void entries_of_local_indexes_count_and_those_of_global_ones_do_not(void **state)
{
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX];
    int left = LIMIT - INDEXED_SIZE;
    assert_false(put(fixture, "ttt", item(text, "a", "1", left + 1, ",'l':{'S':'l'}")));
    assert_true(put(fixture, "ttt", item(text, "a", "1", left, ",'l':{'S':'l'}")));
}

static void each_partition_key_is_a_collection_of_its_own(void **state)
{
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX];
    assert_true(put(fixture, "ttt", item(text, "a", "1", LIMIT - ITEM_SIZE, "")));
    assert_true(put(fixture, "ttt", item(text, "b", "1", LIMIT - ITEM_SIZE, "")));
    assert_false(put(fixture, "ttt", item(text, "b", "2", 0, "")));
}

static void tables_without_a_local_index_have_no_limit(void **state)
{
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX];
    assert_true(put(fixture, "plain", item(text, "a", "1", LIMIT, ",'l':{'S':'l'}")));
    assert_true(put(fixture, "plain", item(text, "a", "2", LIMIT, "")));
}

static void a_condition_and_an_update_are_judged_before(void **state)
{
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX], body[2 * TEXT_MAX];
    snprintf(body, sizeof body,
             "{'TableName':'ttt','Item':%s,'ConditionExpression':'attribute_exists(p)'}",
             item(text, "a", "1", LIMIT, ""));
    api_fixture_expect_error(fixture, "PutItem", body, ERROR_CONDITIONAL_CHECK_FAILED,
                             "The conditional request failed");
    assert_true(put(fixture, "ttt", item(text, "a", "1", LIMIT - ITEM_SIZE, "")));
    api_fixture_expect_error(
        fixture, "UpdateItem",
        "{'TableName':'ttt','Key':{'p':{'S':'a'},'s':{'S':'2'}},'UpdateExpression':'SET y = z'}",
        ERROR_VALIDATION,
        "The provided expression refers to an attribute that does not exist in the item");
    api_fixture_expect_error(
        fixture, "UpdateItem",
        "{'TableName':'ttt','Key':{'p':{'S':'a'},'s':{'S':'2'}},'UpdateExpression':'SET y = p'}",
        ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED, too_large);
    assert_false(has(fixture, "a", "2"));
}

/* A collection of 300 bytes where 100 are allowed: it grew when more was. */
static void an_over_full_collection_may_shrink_or_stay_and_not_grow(void **state)
{
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX];
    fixture->options.item_collection_size_max = 3 * LIMIT;
    api_fixture_restart(fixture, 0);
    assert_true(put(fixture, "ttt", item(text, "a", "1", LIMIT - ITEM_SIZE, "")));
    assert_true(put(fixture, "ttt", item(text, "a", "2", LIMIT - ITEM_SIZE, "")));
    assert_true(put(fixture, "ttt", item(text, "a", "3", LIMIT - INDEXED_SIZE, ",'l':{'S':'l'}")));
    fixture->options.item_collection_size_max = LIMIT;
    api_fixture_restart(fixture, 0);

    assert_false(put(fixture, "ttt", item(text, "a", "1", LIMIT - ITEM_SIZE + 1, "")));
    assert_true(put(fixture, "ttt", item(text, "a", "1", LIMIT - ITEM_SIZE, "")));
    assert_true(put(fixture, "ttt", item(text, "a", "1", LIMIT - ITEM_SIZE - 1, "")));
    api_fixture_expect(fixture, "UpdateItem",
                       "{'TableName':'ttt','Key':{'p':{'S':'a'},'s':{'S':'2'}},"
                       "'UpdateExpression':'SET x = :x','ExpressionAttributeValues':"
                       "{':x':{'S':'small'}}}",
                       "{}");
    api_fixture_expect(fixture, "UpdateItem",
                       "{'TableName':'ttt','Key':{'p':{'S':'a'},'s':{'S':'3'}},"
                       "'UpdateExpression':'REMOVE l'}",
                       "{}");
    api_fixture_expect(fixture, "DeleteItem",
                       "{'TableName':'ttt','Key':{'p':{'S':'a'},'s':{'S':'3'}}}", "{}");
    api_fixture_expect(fixture, "DeleteItem",
                       "{'TableName':'ttt','Key':{'p':{'S':'a'},'s':{'S':'nobody'}}}", "{}");
}

static void a_batch_is_judged_as_a_whole(void **state)
{
    struct api_fixture *fixture = *state;
    char text[2][TEXT_MAX], body[4 * TEXT_MAX];
    int half = LIMIT / 2 - ITEM_SIZE;
    static const char *const batch = "{'RequestItems':{'ttt':[{'PutRequest':{'Item':%s}},"
                                     "{'PutRequest':{'Item':%s}}]}}";
    snprintf(body, sizeof body, batch, item(text[0], "a", "1", half, ""),
             item(text[1], "a", "2", half + 1, ""));
    api_fixture_expect_error(fixture, "BatchWriteItem", body,
                             ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED, too_large);
    assert_false(has(fixture, "a", "1"));
    /* The same sizes in two collections. */
    snprintf(body, sizeof body, batch, item(text[0], "b", "1", half, ""),
             item(text[1], "c", "2", half + 1, ""));
    api_fixture_expect(fixture, "BatchWriteItem", body, "{'UnprocessedItems':{}}");
    snprintf(body, sizeof body, batch, item(text[0], "a", "1", half, ""),
             item(text[1], "a", "2", half, ""));
    api_fixture_expect(fixture, "BatchWriteItem", body, "{'UnprocessedItems':{}}");
    /* What goes makes room for what comes. */
    snprintf(body, sizeof body,
             "{'RequestItems':{'ttt':[{'PutRequest':{'Item':%s}},"
             "{'DeleteRequest':{'Key':{'p':{'S':'a'},'s':{'S':'1'}}}}]}}",
             item(text[0], "a", "3", half, ""));
    api_fixture_expect(fixture, "BatchWriteItem", body, "{'UnprocessedItems':{}}");
    assert_true(has(fixture, "a", "3"));
}

/* Each action that adds to the collection is a reason; a check and a deletion are not. */
static void a_transaction_is_cancelled_by_what_adds_to_a_full_collection(void **state)
{
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX], body[4 * TEXT_MAX];
    assert_true(put(fixture, "ttt", item(text, "a", "0", 0, "")));
    int left = LIMIT - 2 * ITEM_SIZE;
    for (int over = 1; over >= 0; over--) {
        snprintf(body, sizeof body,
                 "{'ReturnItemCollectionMetrics':'SIZE','TransactItems':["
                 "{'ConditionCheck':{'TableName':'ttt','Key':{'p':{'S':'a'},'s':{'S':'9'}},"
                 "'ConditionExpression':'attribute_not_exists(p)'}},"
                 "{'Put':{'TableName':'ttt','Item':%s}},"
                 "{'Delete':{'TableName':'ttt','Key':{'p':{'S':'a'},'s':{'S':'8'}}}}]}",
                 item(text, "a", "1", left + over, ""));
        assert_int_equal(api_fixture_call(fixture, "TransactWriteItems", body), over == 0);
        assert_int_equal(fixture->error.code, over > 0 ? ERROR_TRANSACTION_CANCELED : ERROR_NONE);
        if (over > 0)
            assert_true(bytes_equal_text(
                fixture->error.reasons_json,
                "[{\"Code\":\"None\"},{\"Code\":\"ItemCollectionSizeLimitExceeded\","
                "\"Message\":\"Collection size exceeded.\"},{\"Code\":\"None\"}]"));
        assert_int_equal(has(fixture, "a", "1"), over == 0);
    }
}

/* A statement of a batch that adds too much fails alone. */
static void statements_of_partiql_have_the_same_limit(void **state)
{
#define GROW(p, text)                                                                              \
    "{'Statement':'UPDATE ttt SET x=? WHERE p=? AND s=?'"                                          \
    ",'Parameters':[{'S':'" text "'},{'S':'" p "'},{'S':'1'}]}"
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX];
    const int left = LIMIT - 2 * ITEM_SIZE;
    assert_true(put(fixture, "ttt", item(text, "a", "0", left - 1, "")));
    assert_true(put(fixture, "ttt", item(text, "a", "1", 0, "")));
    assert_true(put(fixture, "ttt", item(text, "b", "1", 0, "")));
    api_fixture_expect_error(fixture, "ExecuteStatement", GROW("a", "xx"),
                             ERROR_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED, too_large);
    assert_true(api_fixture_call(fixture, "ExecuteStatement", GROW("a", "x")));
    assert_true(api_fixture_call(fixture, "BatchExecuteStatement",
                                 "{'Statements':[" GROW("a", "yy") "," GROW("b", "yy") "]}"));
    assert_true(api_fixture_shows(fixture, "'Code':'ItemCollectionSizeLimitExceeded'"));
    assert_true(api_fixture_call(
        fixture, "Scan",
        "{'TableName':'ttt','ProjectionExpression':'p','FilterExpression':'x = :y',"
        "'ExpressionAttributeValues':{':y':{'S':'yy'}}}"));
    assert_true(api_fixture_shows(fixture, "'Items':[{'p':{'S':'b'}}]"));
#undef GROW
}

/* --- The service's limit and its metrics, without gigabytes of items --- */

/* Makes the only collection there is as large as told. */
static void plant(struct api_fixture *fixture, int64_t size)
{
    struct engine_view *view = engine_fixture_view(fixture->engine);
    struct engine_address address = { 0 };
    struct engine_scan *scan;
    struct engine_entry entry;
    struct engine_write *write;
    uint8_t key[64];
    assert_int_equal(engine_view_next_place(view, NULL, &address.place), ENGINE_OK);
    while (address.place.space != ENGINE_SPACE_COLLECTIONS)
        assert_int_equal(engine_view_next_place(view, &address.place, &address.place), ENGINE_OK);
    assert_int_equal(
        engine_scan_open(view, &(struct engine_range){ .place = address.place }, &scan), ENGINE_OK);
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
    assert_true(entry.key.len <= sizeof key);
    memcpy(key, entry.key.data, entry.key.len);
    address.key = bytes_of(key, entry.key.len);
    engine_scan_close(scan);
    engine_view_close(view);
    assert_int_equal(engine_write_begin(fixture->engine, &address, 1, &write), ENGINE_OK);
    collection_size_put(write, &address, size);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void the_limit_is_ten_gigabytes(void **state)
{
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX];
    assert_int_equal(ITEM_COLLECTION_SIZE_MAX, 10 * GIB);
    assert_true(put(fixture, "ttt", item(text, "a", "1", 0, "")));
    plant(fixture, 10 * GIB - ITEM_SIZE - 9);
    assert_false(put(fixture, "ttt", item(text, "a", "2", 10, "")));
    assert_true(put(fixture, "ttt", item(text, "a", "2", 8, "")));
    assert_true(put(fixture, "ttt", item(text, "a", "2", 9, "")));
    assert_false(put(fixture, "ttt", item(text, "a", "2", 10, "")));
}

static void metrics_tell_between_which_gigabytes_the_size_lies(void **state)
{
    static const struct {
        int64_t size; /* Before and after the write, which changes nothing. */
        const char *range;
    } cases[] = {
        { 1, "[0.0,1.0]" },          { GIB - 1, "[0.0,1.0]" }, { GIB, "[1.0,2.0]" },
        { GIB + 1, "[1.0,2.0]" },    { 2 * GIB, "[2.0,3.0]" }, { 10 * GIB - 1, "[9.0,10.0]" },
        { 10 * GIB, "[10.0,11.0]" },
    };
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX], body[2 * TEXT_MAX], want[256];
    item(text, "a", "1", 0, "");
    snprintf(body, sizeof body,
             "{'TableName':'ttt','ReturnItemCollectionMetrics':'SIZE','Item':%s}", text);
    assert_true(put(fixture, "ttt", text));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        plant(fixture, cases[i].size);
        snprintf(want, sizeof want,
                 "{'ItemCollectionMetrics':{'ItemCollectionKey':{'p':{'S':'a'}},"
                 "'SizeEstimateRangeGB':%s}}",
                 cases[i].range);
        api_fixture_expect(fixture, "PutItem", body, want);
    }
}

static void metrics_tell_the_size_after_the_write(void **state)
{
    struct api_fixture *fixture = *state;
    char text[2][TEXT_MAX], body[4 * TEXT_MAX];
    assert_true(put(fixture, "ttt", item(text[0], "a", "1", 0, "")));
    plant(fixture, GIB - 2 * (ITEM_SIZE + 10));
    snprintf(body, sizeof body,
             "{'ReturnItemCollectionMetrics':'SIZE','RequestItems':{'ttt':["
             "{'PutRequest':{'Item':%s}},{'PutRequest':{'Item':%s}}]}}",
             item(text[0], "a", "2", 10, ""), item(text[1], "a", "3", 10, ""));
    api_fixture_expect(fixture, "BatchWriteItem", body,
                       "{'UnprocessedItems':{},'ItemCollectionMetrics':{'ttt':["
                       "{'ItemCollectionKey':{'p':{'S':'a'}},'SizeEstimateRangeGB':[1.0,2.0]}]}}");
    api_fixture_expect(fixture, "DeleteItem",
                       "{'TableName':'ttt','ReturnItemCollectionMetrics':'SIZE',"
                       "'Key':{'p':{'S':'a'},'s':{'S':'3'}}}",
                       "{'ItemCollectionMetrics':{'ItemCollectionKey':{'p':{'S':'a'}},"
                       "'SizeEstimateRangeGB':[0.0,1.0]}}");
}

/* A record that is too small is found by `stator check`; no write fails for it. */
static void a_size_never_falls_below_zero(void **state)
{
    struct api_fixture *fixture = *state;
    char text[TEXT_MAX];
    assert_true(put(fixture, "ttt", item(text, "a", "1", 50, "")));
    plant(fixture, 1);
    api_fixture_expect(fixture, "DeleteItem",
                       "{'TableName':'ttt','Key':{'p':{'S':'a'},'s':{'S':'1'}}}", "{}");
}

#define LIMITED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define PLANTED(test) cmocka_unit_test_setup_teardown(test, set_up_default, tear_down_unchecked)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIMITED(a_collection_may_reach_its_limit_and_not_pass_it),
        LIMITED(entries_of_local_indexes_count_and_those_of_global_ones_do_not),
        LIMITED(each_partition_key_is_a_collection_of_its_own),
        LIMITED(tables_without_a_local_index_have_no_limit),
        LIMITED(a_condition_and_an_update_are_judged_before),
        LIMITED(an_over_full_collection_may_shrink_or_stay_and_not_grow),
        LIMITED(a_batch_is_judged_as_a_whole),
        LIMITED(a_transaction_is_cancelled_by_what_adds_to_a_full_collection),
        LIMITED(statements_of_partiql_have_the_same_limit),
        PLANTED(the_limit_is_ten_gigabytes),
        PLANTED(metrics_tell_between_which_gigabytes_the_size_lies),
        PLANTED(metrics_tell_the_size_after_the_write),
        PLANTED(a_size_never_falls_below_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
