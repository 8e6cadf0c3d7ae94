/* test_cached_answers.c -- reads that come again and again are answered as the first one was.
 *
 * The item cache answers those from items' forms (model/rendered_item.h), if they show whole items,
 * and from their stored bytes otherwise. Both must agree with a store that has no cache.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "engine_fixture.h"
#include "model/rendered_item.h"
#include "reference_engine.h"
#include "transaction_fixture.h"

enum { TIMES = 10, ITEMS = 12 };

static struct api_fixture plain, cached;

static struct engine *open_cached(void)
{
    struct engine_options options = engine_fixture_rocksdb_options(NULL);
    char message[ENGINE_MESSAGE_MAX];
    options.in_memory = true;
    options.render = rendered_item_make;
    struct engine *engine = engine_open(&options, message);
    assert_non_null(engine);
    return engine;
}

static void both(const char *operation, const char *body)
{
    transaction_fixture_must(&plain, operation, body);
    transaction_fixture_must(&cached, operation, body);
}

static void put_items(unsigned round)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "{'TableName':'indexed','Item':{'h':{'S':'a'},'r':{'N':'%u'},'l':{'S':'%u'},'g':"
                 "{'S':'g'},'m':{'M':{'x':{'N':'%u.50'},'e':{'S':'\\u00e9\\n'}}}}}",
                 i, (i + round) % ITEMS, round);
        both("PutItem", body);
    }
}

static int set_up(void **state)
{
    (void)state;
    api_fixture_open_on(&plain, reference_engine_create(), 0);
    api_fixture_open_on(&cached, open_cached(), 0);
    transaction_fixture_create_tables(&plain);
    transaction_fixture_create_tables(&cached);
    put_items(0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&plain);
    api_fixture_close(&cached);
    return 0;
}

#define ITEM_KEY "'Key':{'h':{'S':'a'},'r':{'N':'7'}}"
#define OF_A "'KeyConditionExpression':'h = :h','ExpressionAttributeValues':{':h':{'S':'a'}}"
#define COSTS "'ReturnConsumedCapacity':'INDEXES'"

static const struct {
    const char *operation, *body;
} reads[] = {
    { "GetItem", "{'TableName':'indexed'," ITEM_KEY "," COSTS "}" },
    { "GetItem", "{'TableName':'indexed','ConsistentRead':true," ITEM_KEY "}" },
    { "GetItem", "{'TableName':'indexed'," ITEM_KEY ",'ProjectionExpression':'m.x, l'}" },
    { "BatchGetItem", "{'RequestItems':{'indexed':{'Keys':[{'h':{'S':'a'},'r':{'N':'3'}},"
                      "{'h':{'S':'a'},'r':{'N':'99'}}]}}," COSTS "}" },
    { "BatchGetItem", "{'RequestItems':{'indexed':{'Keys':[{'h':{'S':'a'},'r':{'N':'3'}}],"
                      "'ProjectionExpression':'g'}}}" },
    { "Query", "{'TableName':'indexed'," OF_A "," COSTS "}" },
    { "Query", "{'TableName':'indexed'," OF_A ",'ScanIndexForward':false,'Limit':5}" },
    { "Query", "{'TableName':'indexed'," OF_A ",'Limit':12}" },
    { "Query", "{'TableName':'indexed'," OF_A ",'Select':'COUNT'," COSTS "}" },
    { "Query", "{'TableName':'indexed'," OF_A ",'ProjectionExpression':'r'}" },
    { "Query", "{'TableName':'indexed','KeyConditionExpression':'h = :h AND r BETWEEN :a AND :b',"
               "'FilterExpression':'l > :l','ExpressionAttributeValues':{':h':{'S':'a'},':a':{'N':"
               "'2'},':b':{'N':'9'},':l':{'S':'4'}}," COSTS "}" },
    { "Query", "{'TableName':'indexed','KeyConditionExpression':'h = :h AND r BETWEEN :a AND :b',"
               "'ExpressionAttributeValues':{':h':{'S':'a'},':a':{'N':'2'},':b':{'N':'9'}},"
               "'ExclusiveStartKey':{'h':{'S':'a'},'r':{'N':'4'}}}" },
    { "Query", "{'TableName':'indexed','IndexName':'by-l'," OF_A "," COSTS "}" },
    { "Query", "{'TableName':'indexed','IndexName':'by-g','KeyConditionExpression':'g = :g',"
               "'ExpressionAttributeValues':{':g':{'S':'g'}},'Limit':3," COSTS "}" },
    { "Scan", "{'TableName':'indexed'," COSTS "}" },
    { "ExecuteStatement", "{'Statement':'SELECT * FROM indexed WHERE h=? AND r=?','Parameters':["
                          "{'S':'a'},{'N':'7'}]}" },
    { "TransactGetItems", "{'TransactItems':[{'Get':{'TableName':'indexed'," ITEM_KEY "}}]}" },
};

static void compare(size_t index)
{
    both(reads[index].operation, reads[index].body);
    if (!bytes_equal(plain.response, cached.response))
        fail_msg("%s %s\n plain: %.*s\ncached: %.*s", reads[index].operation, reads[index].body,
                 BYTES_FMT(plain.response), BYTES_FMT(cached.response));
}

static void reads_that_come_again_are_answered_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(reads); i++)
        for (int time = 0; time < TIMES; time++)
            compare(i);
}

static void reads_between_writes_are_answered_alike(void **state)
{
    (void)state;
    for (unsigned round = 1; round < 4; round++) {
        for (int time = 0; time < TIMES; time++)
            for (size_t i = 0; i < COUNT_OF(reads); i++)
                compare(i);
        put_items(round);
        both("DeleteItem", "{'TableName':'indexed','Key':{'h':{'S':'a'},'r':{'N':'3'}}}");
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(reads_that_come_again_are_answered_alike),
        TEST(reads_between_writes_are_answered_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
