/* test_transact_write.c -- TransactWriteItems: all or nothing, reasons, refusals, limits, capacity.
 */
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
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

static void must(const char *body)
{
    transaction_fixture_must(&db, "TransactWriteItems", body);
}

static void cancelled(const char *body, const char *codes, const char *reasons)
{
    transaction_fixture_expect_cancelled(&db, "TransactWriteItems", body, codes, reasons);
}

static void put(const char *item)
{
    char body[512];
    snprintf(body, sizeof body, "{'TableName':'plain','Item':%s}", item);
    transaction_fixture_must(&db, "PutItem", body);
}

/* --- Effects --- */

static void every_kind_of_action_takes_effect(void **state)
{
#define INCREMENT(key) UPDATE(KEY(key), "SET n = n + :one", VALUES("':one':{'N':'1'}"))
#define ABSENT(key) CHECK(KEY(key), "attribute_not_exists(pk)")
#define PRESENT(key) CHECK(KEY(key), "attribute_exists(pk)")
    (void)state;
    put(ITEM("b", "1"));
    put(ITEM("c", "1"));
    api_fixture_expect(
        &db, "TransactWriteItems",
        TRANSACT(PUT(ITEM("a", "1")) "," INCREMENT("b") "," DELETE(KEY("c")) "," ABSENT("d")),
        "{}");
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "1"));
    transaction_fixture_expect_item(&db, KEY("b"), ITEM("b", "2"));
    transaction_fixture_expect_item(&db, KEY("c"), NULL);
    transaction_fixture_expect_item(&db, KEY("d"), NULL);
}

static void an_update_makes_an_item_of_its_key(void **state)
{
    (void)state;
    must(TRANSACT(UPDATE(KEY("new"), "SET n = :one", VALUES("':one':{'N':'1'}"))));
    transaction_fixture_expect_item(&db, KEY("new"), ITEM("new", "1"));
}

static void index_entries_go_with_the_items(void **state)
{
    (void)state;
    must(
        TRANSACT("{'Put':{'TableName':'indexed','Item':{'h':{'S':'a'},'r':{'N':'1'},'g':{'S':'x'}}}"
                 "},{'Put':{'TableName':'indexed','Item':{'h':{'S':'a'},'r':{'N':'2'},"
                 "'g':{'S':'x'}}}}"));
    transaction_fixture_must(&db, "Query",
                             "{'TableName':'indexed','IndexName':'by-g','KeyConditionExpression':"
                             "'g = :g','ExpressionAttributeValues':{':g':{'S':'x'}}}");
    assert_true(api_fixture_shows(&db, "'Count':2"));
}

static void one_failed_condition_changes_nothing(void **state)
{
    (void)state;
    put(ITEM("b", "1"));
    cancelled(TRANSACT(PUT(ITEM("a", "1")) "," INCREMENT("b") "," PRESENT("c")),
              "[None, None, ConditionalCheckFailed]", NO_REASON "," NO_REASON "," CONDITION_REASON);
    transaction_fixture_expect_item(&db, KEY("a"), NULL);
    transaction_fixture_expect_item(&db, KEY("b"), ITEM("b", "1"));
}

/* The store fails at each of its calls in turn: the items are there together or not at all. */
static void a_failure_leaves_nothing_half_done(void **state)
{
    (void)state;
    for (uint64_t call = 1;; call++) {
        failing_engine_set(db.engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        bool ok = api_fixture_call(
            &db, "TransactWriteItems",
            TRANSACT_WITH(PUT(ITEM("a", "1")) "," PUT(ITEM("b", "1")), "'ClientRequestToken':'t'"));
        bool struck = failing_engine_struck(db.engine);
        failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(ok, !struck);
        transaction_fixture_expect_item(&db, KEY("a"), ok ? ITEM("a", "1") : NULL);
        transaction_fixture_expect_item(&db, KEY("b"), ok ? ITEM("b", "1") : NULL);
        if (ok)
            return;
    }
}

static void a_conflict_reported_by_the_engine_is_decided_again(void **state)
{
    (void)state;
    put(ITEM("a", "1"));
    failing_engine_set(db.engine, &(struct failing_engine_plan){
                                      .call = 1, .status = ENGINE_CONFLICT, .commits_only = true });
    must(TRANSACT(INCREMENT("a")));
    assert_true(failing_engine_struck(db.engine));
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "2"));
}

/* --- Reasons --- */

static void a_reason_shows_the_item_if_asked(void **state)
{
#define CHECK_SHOWING(key, condition, wanted)                                                      \
    "{'ConditionCheck':{'TableName':'plain','Key':{'pk':{'S':'" key                                \
    "'}},'ConditionExpression':'" condition "','ReturnValuesOnConditionCheckFailure':'" wanted     \
    "'}}"
    (void)state;
    put(ITEM("a", "1"));
    cancelled(TRANSACT(CHECK_SHOWING("a", "attribute_not_exists(pk)", "ALL_OLD")),
              "[ConditionalCheckFailed]",
              "{'Code':'ConditionalCheckFailed','Item':{'n':{'N':'1'},'pk':{'S':'a'}},"
              "'Message':'The conditional request failed'}");
    cancelled(TRANSACT(CHECK_SHOWING("a", "attribute_not_exists(pk)", "NONE")),
              "[ConditionalCheckFailed]", CONDITION_REASON);
    cancelled(TRANSACT(CHECK_SHOWING("none", "attribute_exists(pk)", "ALL_OLD")),
              "[ConditionalCheckFailed]", CONDITION_REASON);
}

static void faults_of_single_actions_are_reasons(void **state)
{
    static const struct {
        const char *name, *action, *message;
    } cases[] = {
        { "no key in a put", PUT("{'x':{'S':'a'}}"),
          "One or more parameter values were invalid: Missing the key pk in the item" },
        { "another type of key in a put", PUT("{'pk':{'N':'1'}}"),
          "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: "
          "N" },
        { "another type of key", DELETE("{'pk':{'N':'1'}}"),
          "The provided key element does not match the schema" },
        { "more than the key", DELETE("{'pk':{'S':'1'},'x':{'S':'1'}}"),
          "The provided key element does not match the schema" },
        { "a key of another name", CHECK("{'x':{'S':'1'}}", "attribute_exists(pk)"),
          "The provided key element does not match the schema" },
        { "an update of the key", UPDATE(KEY("a"), "SET pk = :v", VALUES("':v':{'S':'b'}")),
          "One or more parameter values were invalid: Cannot update attribute pk. This attribute "
          "is "
          "part of the key" },
        { "an attribute that is not there",
          UPDATE(KEY("a"), "SET n = x + :v", VALUES("':v':{'N':'1'}")),
          "The provided expression refers to an attribute that does not exist in the item" },
        { "a path that leads nowhere", UPDATE(KEY("a"), "SET x.y = :v", VALUES("':v':{'N':'1'}")),
          "The document path provided in the update expression is invalid for update" },
        { "an operand of another type", UPDATE(KEY("a"), "ADD pk2 :v", VALUES("':v':{'N':'1'}")),
          "An operand in the update expression has an incorrect data type" },
        { "another type of index key in a put",
          "{'Put':{'TableName':'indexed','Item':{'h':{'S':'a'},'r':{'N':'1'},'g':{'N':'1'}}}}",
          "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S "
          "Actual: N IndexName: by-g" },
        { "another type of index key in an update",
          "{'Update':{'TableName':'indexed','Key':{'h':{'S':'a'},'r':{'N':'1'}},'UpdateExpression':"
          "'SET g = :v'" VALUES("':v':{'N':'1'}") "}}",
          "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S "
          "Actual: N IndexName: by-g" },
    };
    (void)state;
    put("{'pk':{'S':'a'},'pk2':{'S':'text'}}");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[1024], reasons[1024];
        print_message("%s\n", cases[i].name);
        snprintf(body, sizeof body, "{'TransactItems':[%s,%s]}", PUT(KEY("beside")),
                 cases[i].action);
        snprintf(reasons, sizeof reasons, NO_REASON ",{'Code':'ValidationError','Message':'%s'}",
                 cases[i].message);
        cancelled(body, "[None, ValidationError]", reasons);
        transaction_fixture_expect_item(&db, KEY("beside"), NULL);
    }
}

/* Measured on the service: keys come first, and of their faults the first alone is told. */
static void a_key_is_judged_before_conditions(void **state)
{
#define NO_MATCH FAULT_REASON("The provided key element does not match the schema")
#define PUT_NEW(key) PUT_IF(KEY(key), "attribute_not_exists(pk)")
    (void)state;
    put(ITEM("a", "1"));
    cancelled(TRANSACT(PUT_NEW("a") "," DELETE("{'x':{'S':'1'}}") "," DELETE("{'y':{'S':'1'}}")),
              "[None, ValidationError, None]", NO_REASON "," NO_MATCH "," NO_REASON);
}

static void all_conditions_and_faults_of_items_are_told(void **state)
{
#define NO_ATTRIBUTE                                                                               \
    FAULT_REASON("The provided expression refers to an attribute that does not exist in the item")
    (void)state;
    put(ITEM("a", "1"));
    cancelled(TRANSACT(PUT_NEW("a") "," INCREMENT("b") "," PUT(KEY("c")) "," PRESENT("d")),
              "[ConditionalCheckFailed, ValidationError, None, ConditionalCheckFailed]",
              CONDITION_REASON "," NO_ATTRIBUTE "," NO_REASON "," CONDITION_REASON);
}

/* --- Refusals of the whole request --- */

#define ONE_ERROR "1 validation error detected: "
#define EMPTY_KEY                                                                                  \
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "   \
    "contain an empty string value. Key: pk"
static const struct {
    const char *name, *body;
    enum error_code code;
    const char *message;
} refused[] = {
    { "no actions", TRANSACT(""), ERROR_VALIDATION,
      ONE_ERROR "Value '[]' at 'transactItems' failed to satisfy constraint: Member must have "
                "length greater than or equal to 1" },
    { "no list", "{}", ERROR_VALIDATION,
      ONE_ERROR "Value null at 'transactItems' failed to satisfy constraint: Member must not be "
                "null" },
    { "an action of no kind", TRANSACT("{}"), ERROR_VALIDATION,
      "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request" },
    { "an action of two kinds",
      TRANSACT("{'Put':{'TableName':'plain','Item':" KEY(
          "a") "},'Delete':{'TableName':'plain','Key':" KEY("b") "}}"),
      ERROR_VALIDATION, "TransactItems can only contain one of Check, Put, Update or Delete" },
    { "a check without a condition",
      TRANSACT("{'ConditionCheck':{'TableName':'plain','Key':" KEY("a") "}}"), ERROR_VALIDATION,
      ONE_ERROR "Value null at 'transactItems.1.member.conditionCheck.conditionExpression' "
                "failed to satisfy constraint: Member must not be null" },
    { "an update without an expression",
      TRANSACT("{'Update':{'TableName':'plain','Key':" KEY("a") "}}"), ERROR_VALIDATION,
      ONE_ERROR "Value null at 'transactItems.1.member.update.updateExpression' failed to "
                "satisfy constraint: Member must not be null" },
    { "an empty token", TRANSACT_WITH(PUT(KEY("a")), "'ClientRequestToken':''"), ERROR_VALIDATION,
      ONE_ERROR "Value '' at 'clientRequestToken' failed to satisfy constraint: Member must have "
                "length greater than or equal to 1" },
    { "an item twice", TRANSACT(PUT(KEY("a")) "," DELETE(KEY("a"))), ERROR_VALIDATION,
      "Transaction request cannot include multiple operations on one item" },
    { "an item twice, once by the table's ARN",
      TRANSACT(PUT(KEY("a")) ",{'Delete':{'TableName':"
                             "'arn:aws:dynamodb:eu-west-1:123456789012:table/plain','Key':" KEY(
                                 "a") "}}"),
      ERROR_VALIDATION, "Transaction request cannot include multiple operations on one item" },
    { "no such table",
      TRANSACT("{'Put':{'TableName':'plain','Item':{'x':{'S':'1'}}}},{'Put':{'TableName':"
               "'missing','Item':" KEY("a") "}}"),
      ERROR_RESOURCE_NOT_FOUND, "Requested resource not found" },
    { "an empty key behind another fault", TRANSACT(DELETE("{'x':{'S':'1'}}") "," PUT(KEY(""))),
      ERROR_VALIDATION, EMPTY_KEY },
    { "an empty key", TRANSACT(CHECK(KEY(""), "attribute_exists(pk)")), ERROR_VALIDATION,
      EMPTY_KEY },
    { "an empty index key in an update",
      TRANSACT("{'Update':{'TableName':'indexed','Key':{'h':{'S':'a'},'r':{'N':'1'}},"
               "'UpdateExpression':'SET g = :v'" VALUES("':v':{'S':''}") "}}"),
      ERROR_VALIDATION,
      "One or more parameter values are not valid. The update expression attempted to update a "
      "secondary index key to a value that is not supported. The AttributeValue for a key "
      "attribute cannot contain an empty string value." },
    { "a number that is none", TRANSACT(PUT("{'pk':{'S':'a'},'n':{'N':'x'}}")), ERROR_VALIDATION,
      "The parameter cannot be converted to a numeric value: x" },
    { "a condition with a syntax error", TRANSACT(PUT_IF(KEY("a"), "attribute_exists(")),
      ERROR_VALIDATION,
      "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"" },
    { "an update with a syntax error", TRANSACT(UPDATE(KEY("a"), "SET", "")), ERROR_VALIDATION,
      "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"SET\"" },
    { "a value that is not used", TRANSACT(UPDATE(KEY("a"), "REMOVE n", VALUES("':v':{'S':'a'}"))),
      ERROR_VALIDATION,
      "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}" },
    { "a path into the key", TRANSACT(PUT_IF(KEY("a"), "attribute_exists(pk.x)")), ERROR_VALIDATION,
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
      "allowed: Key: pk" },
};

static void requests_are_refused_as_a_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        print_message("%s\n", refused[i].name);
        api_fixture_expect_error(&db, "TransactWriteItems", refused[i].body, refused[i].code,
                                 refused[i].message);
    }
    transaction_fixture_expect_item(&db, KEY("a"), NULL);
}

/* Reported of the service, which refuses this outside of transactions. */
static void names_and_values_need_no_expression(void **state)
{
    (void)state;
    must(TRANSACT("{'Put':{'TableName':'plain','Item':" KEY(
        "a") ",'ExpressionAttributeNames':{'#n':'n'},'ExpressionAttributeValues':{':v':{'N':'1'}}}"
             "}"));
    transaction_fixture_expect_item(&db, KEY("a"), KEY("a"));
}

/* --- Limits --- */

static void a_transaction_has_up_to_100_actions(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    must(transaction_fixture_puts(arena, TRANSACTION_ACTIONS_MAX - 1, 10, 10));
    must(transaction_fixture_puts(arena, TRANSACTION_ACTIONS_MAX, 10, 10));
    assert_false(
        api_fixture_call(&db, "TransactWriteItems",
                         transaction_fixture_puts(arena, TRANSACTION_ACTIONS_MAX + 1, 10, 10)));
    static const char end[] = "' at 'transactItems' failed to satisfy constraint: Member must have "
                              "length less than or equal to 100";
    struct bytes message = db.error.message;
    assert_int_equal(db.error.code, ERROR_VALIDATION);
    assert_true(message.len > sizeof end);
    assert_memory_equal(message.data + message.len - (sizeof end - 1), end, sizeof end - 1);
    arena_destroy(arena);
}

static void a_transaction_carries_up_to_4_megabytes(void **state)
{
    enum { COUNT = 11, REST = TRANSACTION_SIZE_MAX - (COUNT - 1) * ITEM_SIZE_MAX };
    struct arena *arena = arena_create();
    (void)state;
    must(transaction_fixture_puts(arena, COUNT, ITEM_SIZE_MAX, REST - 1));
    must(transaction_fixture_puts(arena, COUNT, ITEM_SIZE_MAX, REST));
    api_fixture_expect_error(
        &db, "TransactWriteItems", transaction_fixture_puts(arena, COUNT, ITEM_SIZE_MAX, REST + 1),
        ERROR_VALIDATION, "Transaction payload size cannot exceed 4MB. Payload Size: 4194305");
    arena_destroy(arena);
}

static void an_item_has_up_to_400_kilobytes(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    must(transaction_fixture_puts(arena, 1, 0, ITEM_SIZE_MAX));
    api_fixture_expect_error(&db, "TransactWriteItems",
                             transaction_fixture_puts(arena, 1, 0, ITEM_SIZE_MAX + 1),
                             ERROR_VALIDATION, "Item size has exceeded the maximum allowed size");
    /* An attribute of two bytes makes it one too many. */
    must(transaction_fixture_puts(arena, 1, 0, ITEM_SIZE_MAX - 1));
    cancelled(TRANSACT(UPDATE(KEY("0001"), "SET y = :v", VALUES("':v':{'BOOL':true}"))),
              "[ValidationError]",
              FAULT_REASON("Item size to update has exceeded the maximum allowed size"));
    /* Unlike UpdateItem's, this gate goes by the size alone. */
    must(transaction_fixture_puts(arena, 1, 0, ITEM_SIZE_MAX - 2));
    must(TRANSACT(UPDATE(KEY("0001"), "SET y = :v", VALUES("':v':{'BOOL':true}"))));
    arena_destroy(arena);
}

static void a_token_has_up_to_36_characters(void **state)
{
    (void)state;
#define TOKEN_35 "01234567890123456789012345678901234"
    must(TRANSACT_WITH(PUT(KEY("a")), "'ClientRequestToken':'" TOKEN_35 "'"));
    must(TRANSACT_WITH(PUT(KEY("a")), "'ClientRequestToken':'" TOKEN_35 "5'"));
    api_fixture_expect_error(
        &db, "TransactWriteItems",
        TRANSACT_WITH(PUT(KEY("a")), "'ClientRequestToken':'" TOKEN_35 "56'"), ERROR_VALIDATION,
        ONE_ERROR "Value '" TOKEN_35 "56' at 'clientRequestToken' failed to satisfy constraint: "
                  "Member must have length less than or equal to 36");
}

/* --- What it costs --- */

static void capacity_is_twice_that_of_single_writes(void **state)
{
#define INDEXED_PUT(key, rest)                                                                     \
    "{'Put':{'TableName':'indexed','Item':{'h':{'S':'" key "'},'r':{'N':'1'}" rest "}}}"
    (void)state;
    api_fixture_expect(&db, "TransactWriteItems",
                       TRANSACT_WITH(PUT(KEY("a")) "," DELETE(KEY("none")) "," ABSENT("b"),
                                     "'ReturnConsumedCapacity':'TOTAL'"),
                       "{'ConsumedCapacity':[{'TableName':'plain','CapacityUnits':6.0,"
                       "'WriteCapacityUnits':6.0}]}");
    /* Indexes cost what they always do. */
    api_fixture_expect(
        &db, "TransactWriteItems",
        TRANSACT_WITH(INDEXED_PUT("a", ",'l':{'S':'x'},'g':{'S':'y'}") "," PUT(KEY("c")),
                      "'ReturnConsumedCapacity':'INDEXES'"),
        "{'ConsumedCapacity':[{'TableName':'indexed','CapacityUnits':4.0,'WriteCapacityUnits':4.0,"
        "'Table':{'CapacityUnits':2.0,'WriteCapacityUnits':2.0},'LocalSecondaryIndexes':{'by-l':{"
        "'CapacityUnits':1.0,'WriteCapacityUnits':1.0}},'GlobalSecondaryIndexes':{'by-g':{"
        "'CapacityUnits':1.0,'WriteCapacityUnits':1.0}}},{'TableName':'plain','CapacityUnits':2.0,"
        "'WriteCapacityUnits':2.0,'Table':{'CapacityUnits':2.0,'WriteCapacityUnits':2.0}}]}");
}

static void collections_are_told_if_asked(void **state)
{
#define INDEXED_DELETE(key)                                                                        \
    "{'Delete':{'TableName':'indexed','Key':{'h':{'S':'" key "'},'r':{'N':'2'}}}}"
#define INDEXED_CHECK(key)                                                                         \
    "{'ConditionCheck':{'TableName':'indexed','Key':{'h':{'S':'" key "'},'r':{'N':'2'}},"          \
    "'ConditionExpression':'attribute_not_exists(h)'}}"
    (void)state;
    api_fixture_expect(&db, "TransactWriteItems",
                       TRANSACT_WITH(INDEXED_PUT("a", "") "," PUT(KEY("c")) "," INDEXED_DELETE(
                                         "a") "," INDEXED_CHECK("z"),
                                     "'ReturnItemCollectionMetrics':'SIZE'"),
                       "{'ItemCollectionMetrics':{'indexed':[{'ItemCollectionKey':{'h':{'S':'a'}},"
                       "'SizeEstimateRangeGB':[0.0,1.0]}]}}");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_kind_of_action_takes_effect),
        TEST(an_update_makes_an_item_of_its_key),
        TEST(index_entries_go_with_the_items),
        TEST(one_failed_condition_changes_nothing),
        TEST(a_failure_leaves_nothing_half_done),
        TEST(a_conflict_reported_by_the_engine_is_decided_again),
        TEST(a_reason_shows_the_item_if_asked),
        TEST(faults_of_single_actions_are_reasons),
        TEST(a_key_is_judged_before_conditions),
        TEST(all_conditions_and_faults_of_items_are_told),
        TEST(requests_are_refused_as_a_whole),
        TEST(names_and_values_need_no_expression),
        TEST(a_transaction_has_up_to_100_actions),
        TEST(a_transaction_carries_up_to_4_megabytes),
        TEST(an_item_has_up_to_400_kilobytes),
        TEST(a_token_has_up_to_36_characters),
        TEST(capacity_is_twice_that_of_single_writes),
        TEST(collections_are_told_if_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
