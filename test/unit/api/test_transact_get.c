/* test_transact_get.c -- TransactGetItems: one moment, projections, refusals, limits, capacity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "model/limits.h"
#include "reference_engine.h"
#include "transaction_fixture.h"

static struct api_fixture db;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open_on(&db, failing_engine_create(reference_engine_create()), 0);
    transaction_fixture_create_tables(&db);
    transaction_fixture_must(&db, "TransactWriteItems",
                             TRANSACT(PUT(ITEM("a", "1")) "," PUT(ITEM("b", "2"))));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

static void items_come_in_the_order_of_the_request(void **state)
{
    (void)state;
    api_fixture_expect(
        &db, "TransactGetItems", TRANSACT(GET(KEY("b")) "," GET(KEY("none")) "," GET(KEY("a"))),
        "{'Responses':[{'Item':" ITEM("b", "2") "},{},{'Item':" ITEM("a", "1") "}]}");
}

static void a_projection_shows_some_attributes(void **state)
{
#define GET_PART(key, expression) "{'Get':{'TableName':'plain','Key':" key "," expression "}}"
    (void)state;
    api_fixture_expect(
        &db, "TransactGetItems",
        TRANSACT(GET_PART(KEY("a"), "'ProjectionExpression':'#n','ExpressionAttributeNames':{'#n':"
                                    "'n'}")),
        "{'Responses':[{'Item':{'n':{'N':'1'}}}]}");
    /* Observed: where nothing is left of an item it looks as if there were none. */
    api_fixture_expect(&db, "TransactGetItems",
                       TRANSACT(GET_PART(KEY("a"), "'ProjectionExpression':'zzz'")),
                       "{'Responses':[{}]}");
    /* Reported of the service, which refuses this outside of transactions. */
    api_fixture_expect(&db, "TransactGetItems",
                       TRANSACT(GET_PART(KEY("a"), "'ExpressionAttributeNames':{'#n':'n'}")),
                       "{'Responses':[{'Item':" ITEM("a", "1") "}]}");
}

static void capacity_is_twice_that_of_consistent_reads(void **state)
{
    (void)state;
    api_fixture_expect(
        &db, "TransactGetItems",
        TRANSACT_WITH(GET(KEY("a")) "," GET(KEY("none")), "'ReturnConsumedCapacity':'TOTAL'"),
        "{'Responses':[{'Item':" ITEM(
            "a", "1") "},{}],'ConsumedCapacity':[{"
                      "'TableName':'plain','CapacityUnits':4.0,'ReadCapacityUnits':4.0}]}");
    api_fixture_expect(
        &db, "TransactGetItems",
        TRANSACT_WITH("{'Get':{'TableName':'other','Key':" KEY("x") "}}," GET(KEY("none")),
                      "'ReturnConsumedCapacity':'INDEXES'"),
        "{'Responses':[{},{}],'ConsumedCapacity':[{'TableName':'other','CapacityUnits':2.0,"
        "'ReadCapacityUnits':2.0,'Table':{'CapacityUnits':2.0,'ReadCapacityUnits':2.0}},{"
        "'TableName':'plain','CapacityUnits':2.0,'ReadCapacityUnits':2.0,'Table':{'CapacityUnits':"
        "2.0,'ReadCapacityUnits':2.0}}]}");
}

static void keys_that_do_not_fit_are_reasons(void **state)
{
#define NO_MATCH FAULT_REASON("The provided key element does not match the schema")
    static const char *const keys[] = { "{'pk':{'N':'1'}}", "{'x':{'S':'1'}}",
                                        "{'pk':{'S':'1'},'x':{'S':'1'}}" };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        char body[512];
        snprintf(body, sizeof body, TRANSACT(GET(KEY("a")) "," GET("%s") "," GET("%s")), keys[i],
                 keys[i]);
        transaction_fixture_expect_cancelled(&db, "TransactGetItems", body,
                                             "[None, ValidationError, None]",
                                             NO_REASON "," NO_MATCH "," NO_REASON);
    }
}

static void requests_are_refused_as_a_whole(void **state)
{
#define ONE_ERROR "1 validation error detected: "
    static const struct {
        const char *name, *body;
        enum error_code code;
        const char *message;
    } cases[] = {
        { "no reads", TRANSACT(""), ERROR_VALIDATION,
          ONE_ERROR "Value '[]' at 'transactItems' failed to satisfy constraint: Member must have "
                    "length greater than or equal to 1" },
        { "a read of nothing", TRANSACT("{}"), ERROR_VALIDATION,
          ONE_ERROR
          "Value null at 'transactItems.1.member.get' failed to satisfy constraint: Member "
          "must not be null" },
        { "an item twice", TRANSACT(GET(KEY("a")) "," GET(KEY("a"))), ERROR_VALIDATION,
          "Transaction request cannot include multiple operations on one item" },
        { "no such table, behind a key that does not fit",
          TRANSACT(GET("{'x':{'S':'1'}}") ",{'Get':{'TableName':'missing','Key':" KEY("a") "}}"),
          ERROR_RESOURCE_NOT_FOUND, "Requested resource not found" },
        { "an empty key", TRANSACT(GET("{'x':{'S':'1'}}") "," GET(KEY(""))), ERROR_VALIDATION,
          "One or more parameter values are not valid. The AttributeValue for a key attribute "
          "cannot contain an empty string value. Key: pk" },
        { "a number that is none", TRANSACT(GET("{'pk':{'N':'x'}}")), ERROR_VALIDATION,
          "The parameter cannot be converted to a numeric value: x" },
        { "an empty projection", TRANSACT(GET_PART(KEY("a"), "'ProjectionExpression':''")),
          ERROR_VALIDATION, "Invalid ProjectionExpression: The expression can not be empty;" },
        { "a name that is not used",
          TRANSACT(GET_PART(KEY("a"), "'ProjectionExpression':'n','ExpressionAttributeNames':{'#x':"
                                      "'x'}")),
          ERROR_VALIDATION,
          "Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}" },
        { "a path into the key", TRANSACT(GET_PART(KEY("a"), "'ProjectionExpression':'pk.x'")),
          ERROR_VALIDATION,
          "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
          "allowed: Key: pk" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        print_message("%s\n", cases[i].name);
        api_fixture_expect_error(&db, "TransactGetItems", cases[i].body, cases[i].code,
                                 cases[i].message);
    }
}

static void a_transaction_has_up_to_100_reads(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    transaction_fixture_must(&db, "TransactGetItems",
                             transaction_fixture_gets(arena, TRANSACTION_ACTIONS_MAX - 1));
    transaction_fixture_must(&db, "TransactGetItems",
                             transaction_fixture_gets(arena, TRANSACTION_ACTIONS_MAX));
    assert_false(api_fixture_call(&db, "TransactGetItems",
                                  transaction_fixture_gets(arena, TRANSACTION_ACTIONS_MAX + 1)));
    assert_int_equal(db.error.code, ERROR_VALIDATION);
    arena_destroy(arena);
}

static void a_transaction_reads_up_to_4_megabytes(void **state)
{
    enum { COUNT = 11, REST = TRANSACTION_SIZE_MAX - (COUNT - 1) * ITEM_SIZE_MAX };
    struct arena *arena = arena_create();
    const char *gets = transaction_fixture_gets(arena, COUNT);
    (void)state;
    transaction_fixture_must(&db, "TransactWriteItems",
                             transaction_fixture_puts(arena, COUNT, ITEM_SIZE_MAX, REST));
    transaction_fixture_must(&db, "TransactGetItems", gets);
    /* Ten bytes less, then eleven more: an attribute's name and value. */
    transaction_fixture_must(&db, "TransactWriteItems",
                             transaction_fixture_puts(arena, COUNT, ITEM_SIZE_MAX - 1, REST));
    transaction_fixture_must(&db, "TransactGetItems", gets);
    transaction_fixture_must(
        &db, "TransactWriteItems",
        TRANSACT(UPDATE(KEY("0011"), "SET y = :v", VALUES("':v':{'S':'0123456789'}"))));
    api_fixture_expect_error(&db, "TransactGetItems", gets, ERROR_VALIDATION,
                             "Payload in response is too large.4194305");
    arena_destroy(arena);
}

/* A view that cannot be opened, and each read that fails, end the call and leak nothing. */
static void a_failure_of_the_store_is_an_internal_error(void **state)
{
    (void)state;
    for (uint64_t call = 1; call <= 3; call++) {
        failing_engine_set(db.engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        api_fixture_expect_error(&db, "TransactGetItems", TRANSACT(GET(KEY("a")) "," GET(KEY("b"))),
                                 ERROR_INTERNAL, "Internal server error");
        assert_true(failing_engine_struck(db.engine));
    }
    failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(items_come_in_the_order_of_the_request),
        TEST(a_projection_shows_some_attributes),
        TEST(capacity_is_twice_that_of_consistent_reads),
        TEST(keys_that_do_not_fit_are_reasons),
        TEST(requests_are_refused_as_a_whole),
        TEST(a_transaction_has_up_to_100_reads),
        TEST(a_transaction_reads_up_to_4_megabytes),
        TEST(a_failure_of_the_store_is_an_internal_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
