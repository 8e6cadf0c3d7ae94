/* test_transaction_conflicts.c -- what meets a transaction under way is refused, if so asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/api.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "item_fixture.h"
#include "reference_engine.h"
#include "transaction_fixture.h"

static struct api_fixture db;

/* A transaction whose commit was made, but not acknowledged. */
struct pending {
    struct api_call call;
    struct arena *arena;
    unsigned ends;
};
static struct pending pending;

static void pending_done(struct api_call *call)
{
    (void)call;
    pending.ends++;
}

static void begin(const char *body)
{
    pending = (struct pending){ .arena = arena_create() };
    pending.call =
        (struct api_call){ .arena = pending.arena,
                           .operation = operation_find_action(BYTES("TransactWriteItems")),
                           .body = item_fixture_text(pending.arena, body),
                           .done = pending_done };
    failing_engine_hold_commit(db.engine);
    api_run(db.api, &pending.call);
    assert_int_equal(pending.ends, 0);
}

static void end(void)
{
    failing_engine_let_go(db.engine);
    assert_int_equal(pending.ends, 1);
    assert_false(error_is_set(&pending.call.error));
    arena_destroy(pending.arena);
}

static int set_up(void **state)
{
    (void)state;
    api_fixture_open_with(
        &db, &(struct api_options){ .engine = failing_engine_create(reference_engine_create()),
                                    .refuse_conflicts = true });
    transaction_fixture_create_tables(&db);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

static void another_transaction_is_cancelled(void **state)
{
    (void)state;
    begin(TRANSACT(PUT(KEY("a")) "," CHECK(KEY("b"), "attribute_not_exists(pk)")));
    transaction_fixture_expect_cancelled(
        &db, "TransactWriteItems", TRANSACT(PUT(KEY("c")) "," PUT(KEY("b")) "," DELETE(KEY("a"))),
        "[None, TransactionConflict, TransactionConflict]",
        NO_REASON "," CONFLICT_REASON "," CONFLICT_REASON);
    transaction_fixture_must(&db, "TransactWriteItems", TRANSACT(PUT(KEY("c"))));
    end();
    transaction_fixture_must(&db, "TransactWriteItems", TRANSACT(DELETE(KEY("a"))));
}

static void a_transaction_of_reads_is_cancelled(void **state)
{
    (void)state;
    begin(TRANSACT(PUT(KEY("a"))));
    transaction_fixture_expect_cancelled(
        &db, "TransactGetItems", TRANSACT(GET(KEY("a")) "," GET(KEY("b"))),
        "[TransactionConflict, None]", CONFLICT_REASON "," NO_REASON);
    end();
    transaction_fixture_must(&db, "TransactGetItems", TRANSACT(GET(KEY("a"))));
}

static void single_writes_are_refused(void **state)
{
    static const struct {
        const char *operation, *body;
    } writes[] = {
        { "PutItem", "{'TableName':'plain','Item':" KEY("a") "}" },
        { "UpdateItem", "{'TableName':'plain','Key':" KEY("a") "}" },
        { "DeleteItem", "{'TableName':'plain','Key':" KEY("a") "}" },
    };
    (void)state;
    begin(TRANSACT(PUT(KEY("a"))));
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++)
        api_fixture_expect_error(&db, writes[i].operation, writes[i].body,
                                 ERROR_TRANSACTION_CONFLICT, "Transaction is ongoing for the item");
    transaction_fixture_must(&db, "PutItem", "{'TableName':'plain','Item':" KEY("b") "}");
    transaction_fixture_must(&db, "PutItem", "{'TableName':'other','Item':" KEY("a") "}");
    end();
    transaction_fixture_must(&db, "DeleteItem", "{'TableName':'plain','Key':" KEY("a") "}");
}

/* The service has no such exception for this operation, but such an error of a statement. */
static void the_statements_of_a_batch_are_refused(void **state)
{
#define STATEMENT(table)                                                                           \
    "{'Statement':'DELETE FROM " table " WHERE pk = ?','Parameters':[{'S':'a'}]}"
#define CONFLICT                                                                                   \
    "'Error':{'Code':'TransactionConflict','Message':'Transaction is ongoing for the item'}"
    (void)state;
    begin(TRANSACT(PUT(KEY("a"))));
    api_fixture_expect(
        &db, "BatchExecuteStatement",
        "{'Statements':[" STATEMENT("plain") "," STATEMENT("absent") "," STATEMENT(
            "other") "],'ReturnConsumedCapacity':'TOTAL'}",
        "{'Responses':[{" CONFLICT ",'TableName':'plain'},"
        "{'Error':{'Code':'ResourceNotFound','Message':'Requested resource not found'}},"
        "{" CONFLICT ",'TableName':'other'}],'ConsumedCapacity':[]}");
    end();
}

static void the_same_token_is_in_progress(void **state)
{
    (void)state;
    begin(TRANSACT_WITH(PUT(KEY("a")), "'ClientRequestToken':'t'"));
    api_fixture_expect_error(
        &db, "TransactWriteItems", TRANSACT_WITH(PUT(KEY("a")), "'ClientRequestToken':'t'"),
        ERROR_TRANSACTION_IN_PROGRESS,
        "The transaction with the given request token is already in progress.");
    end();
    transaction_fixture_must(&db, "TransactWriteItems",
                             TRANSACT_WITH(PUT(KEY("a")), "'ClientRequestToken':'t'"));
}

/* Without the setting nothing is refused: the second comes after the first. */
static void nothing_is_refused_unless_asked(void **state)
{
    (void)state;
    db.options.refuse_conflicts = false;
    api_fixture_restart(&db, 0);
    begin(TRANSACT(PUT(ITEM("a", "1"))));
    transaction_fixture_must(&db, "TransactWriteItems", TRANSACT(PUT(ITEM("a", "2"))));
    end();
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "2"));
}

/* The engine cannot tell who held its latches for too long, so only a transaction, which is told
 * of reasons, is told of a transaction. */
#define BUSY                                                                                       \
    "Other writes kept the item busy for too long, and nothing was written. Please try again "     \
    "shortly"

static void make_busy(void)
{
    failing_engine_set(db.engine,
                       &(struct failing_engine_plan){ .call = 1, .status = ENGINE_BUSY });
}

static void a_wait_that_was_too_long_is_to_be_tried_again(void **state)
{
    static const struct {
        const char *operation, *body;
    } writes[] = {
        { "PutItem", "{'TableName':'plain','Item':" KEY("a") "}" },
        { "DeleteItem", "{'TableName':'plain','Key':" KEY("a") "}" },
        { "UpdateItem", "{'TableName':'plain','Key':" KEY("a") "}" },
        { "ExecuteStatement",
          "{'Statement':'DELETE FROM plain WHERE pk=?','Parameters':[{'S':'a'}]}" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(writes); i++) {
        make_busy();
        api_fixture_expect_error(&db, writes[i].operation, writes[i].body, ERROR_THROTTLING, BUSY);
    }
    make_busy();
    transaction_fixture_expect_cancelled(
        &db, "TransactWriteItems", TRANSACT(PUT(KEY("a")) "," PUT(KEY("b"))),
        "[TransactionConflict, TransactionConflict]", CONFLICT_REASON "," CONFLICT_REASON);
    make_busy();
    api_fixture_expect(&db, "BatchExecuteStatement",
                       "{'Statements':[{'Statement':'DELETE FROM plain WHERE pk = ?',"
                       "'Parameters':[{'S':'a'}]}]}",
                       "{'Responses':[{'Error':{'Code':'ThrottlingError','Message':'" BUSY
                       "'},'TableName':'plain'}]}");
    transaction_fixture_expect_item(&db, KEY("a"), NULL);
}

#define BUSY_BATCH                                                                                 \
    "{'other':[{'PutRequest':{'Item':" KEY("c") "}}],'plain':[{'PutRequest':{'Item':" ITEM(        \
        "a", "1") "}},{'DeleteRequest':{'Key':" KEY("b") "}}]}"

static void a_batch_that_waited_for_too_long_is_unprocessed(void **state)
{
    (void)state;
    make_busy();
    api_fixture_expect(&db, "BatchWriteItem", "{'RequestItems':" BUSY_BATCH "}",
                       "{'UnprocessedItems':" BUSY_BATCH "}");
    make_busy();
    api_fixture_expect(&db, "BatchWriteItem",
                       "{'RequestItems':" BUSY_BATCH ",'ReturnConsumedCapacity':'TOTAL'}",
                       "{'UnprocessedItems':" BUSY_BATCH ",'ConsumedCapacity':["
                       "{'TableName':'other','CapacityUnits':0.0},"
                       "{'TableName':'plain','CapacityUnits':0.0}]}");
    transaction_fixture_expect_item(&db, KEY("a"), NULL);
    transaction_fixture_must(&db, "BatchWriteItem", "{'RequestItems':" BUSY_BATCH "}");
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "1"));
}

/* Nor is it told what a refusal was based on: that may be gone after the next start. */
static void a_refusal_that_cannot_be_kept_shows_nothing(void **state)
{
    const struct {
        const char *operation, *body;
    } cases[] = {
        { "PutItem", "{'TableName':'plain','Item':" KEY(
                         "a") ",'ConditionExpression':'attribute_not_exists(pk)',"
                              "'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}" },
        { "ExecuteStatement", "{'Statement':'DELETE FROM plain WHERE pk = ? AND n = 2',"
                              "'Parameters':[{'S':'a'}],"
                              "'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}" },
        { "TransactWriteItems", TRANSACT(PUT_IF(KEY("a"), "attribute_not_exists(pk)")) },
    };
    (void)state;
    transaction_fixture_must(&db, "TransactWriteItems", TRANSACT(PUT(ITEM("a", "1"))));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        failing_engine_set(db.engine, &(struct failing_engine_plan){
                                          .call = 1, .status = ENGINE_IO, .commits_only = true });
        api_fixture_expect_error(&db, cases[i].operation, cases[i].body, ERROR_INTERNAL,
                                 "Internal server error");
        assert_null(db.error.item_json.data);
        assert_null(db.error.reasons_json.data);
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(another_transaction_is_cancelled),
        TEST(a_transaction_of_reads_is_cancelled),
        TEST(single_writes_are_refused),
        TEST(the_statements_of_a_batch_are_refused),
        TEST(the_same_token_is_in_progress),
        TEST(nothing_is_refused_unless_asked),
        TEST(a_wait_that_was_too_long_is_to_be_tried_again),
        TEST(a_batch_that_waited_for_too_long_is_unprocessed),
        TEST(a_refusal_that_cannot_be_kept_shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
