/* test_written_size.c -- what operations that write many items say of how much that was, by which
 * they are moved to the slow pool or left on their loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/compiler.h"

/* An item of these attributes has 20 bytes, its key alone 2. */
#define KEY(key) "{'k':{'S':'" key "'}}"
#define ITEM(key) "{'k':{'S':'" key "'},'text':{'S':'12345678901234'}}"
enum { KEY_SIZE = 2, ITEM_SIZE = 20, NUMBER_SIZE = 3 /* 'n' and a small number */ };

static struct api_fixture fixture;

static int setup(void **state)
{
    (void)state;
    api_fixture_open(&fixture, 0);
    assert_true(api_fixture_call(
        &fixture, "CreateTable",
        "{'TableName':'table','BillingMode':'PAY_PER_REQUEST','KeySchema':[{'AttributeName':'k',"
        "'KeyType':'HASH'}],'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}]}"));
    assert_true(
        api_fixture_call(&fixture, "PutItem", "{'TableName':'table','Item':" ITEM("a") "}"));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    api_fixture_close(&fixture);
    return 0;
}

#define ACTION(kind, rest) "{'" kind "':{'TableName':'table'," rest "}}"
#define SET_NUMBER "'UpdateExpression':'SET n=:n','ExpressionAttributeValues':{':n':{'N':'1'}}"

static const struct {
    const char *operation, *body;
    size_t want;
} cases[] = {
    /* What is there and what replaces it. */
    { "TransactWriteItems",
      "{'TransactItems':[" ACTION("Update", "'Key':" KEY("a") "," SET_NUMBER) "]}",
      ITEM_SIZE + ITEM_SIZE + NUMBER_SIZE },
    { "TransactWriteItems",
      "{'TransactItems':[" ACTION("Put", "'Item':" ITEM("b")) "," ACTION("Delete",
                                                                         "'Key':" KEY("a")) "]}",
      ITEM_SIZE + ITEM_SIZE },
    { "TransactWriteItems",
      "{'TransactItems':[" ACTION(
          "ConditionCheck", "'Key':" KEY("a") ",'ConditionExpression':'attribute_exists(k)'") "]}",
      ITEM_SIZE },
    { "TransactWriteItems", "{'TransactItems':[" ACTION("Delete", "'Key':" KEY("b")) "]}", 0 },
    /* What is refused was looked at all the same. */
    { "TransactWriteItems",
      "{'TransactItems':[" ACTION(
          "Delete", "'Key':" KEY("a") ",'ConditionExpression':'attribute_not_exists(k)'") "]}",
      ITEM_SIZE },
    { "ExecuteTransaction",
      "{'TransactStatements':[{'Statement':'UPDATE \\\"table\\\" SET n=1 WHERE k=?',"
      "'Parameters':[{'S':'a'}]}]}",
      ITEM_SIZE + ITEM_SIZE + NUMBER_SIZE },
    { "BatchExecuteStatement",
      "{'Statements':[{'Statement':'UPDATE \\\"table\\\" SET n=1 WHERE k=?',"
      "'Parameters':[{'S':'a'}]}]}",
      ITEM_SIZE + ITEM_SIZE + NUMBER_SIZE },
};

static void what_is_written_counts_before_and_after(void **state)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setup(state);
        assert_true(
            operation_writes_many(operation_find_action(bytes_from_text(cases[i].operation))));
        api_fixture_call(&fixture, cases[i].operation, cases[i].body);
        if (fixture.written_size != cases[i].want)
            fail_msg("%s: %zu of %s %.*s", cases[i].operation, fixture.written_size, cases[i].body,
                     BYTES_FMT(fixture.error.message));
        teardown(state);
    }
}

/* Whoever marks another operation so adds a case above. */
static void what_writes_several_items_says_how_much(void **state)
{
    (void)state;
    for (size_t i = 0; i < operation_count(); i++) {
        const struct operation *operation = operation_at(i);
        bool listed = false;
        for (size_t j = 0; j < COUNT_OF(cases); j++)
            listed |= bytes_equal_text(bytes_from_text(cases[j].operation), operation->name);
        assert_int_equal(operation->writes_many, listed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_counts_before_and_after),
        cmocka_unit_test(what_writes_several_items_says_how_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
