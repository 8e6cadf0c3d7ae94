/* test_transaction_tokens.c -- ClientRequestToken: one effect, however often a request comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"
#include "table/token_record.h"
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

#define TOKEN(text) "'ClientRequestToken':'" text "'"
#define COUNT_UP(key) UPDATE(KEY(key), "ADD n :one", VALUES("':one':{'N':'1'}"))
#define UNTAG_NOTHING                                                                              \
    "{'ResourceArn':'arn:aws:dynamodb:eu-west-1:123456789012:table/plain','TagKeys':['none']}"
#define MISMATCH                                                                                   \
    "DynamoDB rejected the request because you retried a request with a different payload but "    \
    "with an idempotent token that was already used."

static void must(const char *body)
{
    transaction_fixture_must(&db, "TransactWriteItems", body);
}

static void mismatch(const char *body)
{
    api_fixture_expect_error(&db, "TransactWriteItems", body, ERROR_IDEMPOTENT_PARAMETER_MISMATCH,
                             MISMATCH);
}

static void a_request_that_comes_again_has_no_second_effect(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        api_fixture_expect(&db, "TransactWriteItems", TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")),
                           "{}");
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "1"));
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("u")));
    must(TRANSACT(COUNT_UP("a")));
    must(TRANSACT(COUNT_UP("a")));
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "4"));
}

/* Measured on the service: a repeated request is charged for reading its items. */
static void a_repeated_request_is_told_what_reading_costs(void **state)
{
#define PUT_LARGE "{'Put':{'TableName':'plain','Item':{'pk':{'S':'a'},'x':{'S':'%01500d'}}}}"
    struct arena *arena = arena_create();
    struct bytes first =
        arena_printf(arena,
                     TRANSACT_WITH(PUT_LARGE, TOKEN("t") ",'ReturnConsumedCapacity'"
                                                         ":'TOTAL'") "%c",
                     0, '\0');
    struct bytes again =
        arena_printf(arena,
                     TRANSACT_WITH(PUT_LARGE, TOKEN("t") ",'ReturnConsumedCapacity'"
                                                         ":'INDEXES'") "%c",
                     0, '\0');
    (void)state;
    api_fixture_expect(&db, "TransactWriteItems", (const char *)first.data,
                       "{'ConsumedCapacity':[{'TableName':'plain','CapacityUnits':4.0,"
                       "'WriteCapacityUnits':4.0}]}");
    api_fixture_expect(&db, "TransactWriteItems", (const char *)again.data,
                       "{'ConsumedCapacity':[{'TableName':'plain','CapacityUnits':2.0,"
                       "'ReadCapacityUnits':2.0,'Table':{'CapacityUnits':2.0,"
                       "'ReadCapacityUnits':2.0}}]}");
    arena_destroy(arena);
}

static void another_request_with_the_token_is_refused(void **state)
{
    static const struct {
        const char *name, *body;
    } others[] = {
        { "another item", TRANSACT_WITH(COUNT_UP("b"), TOKEN("t")) },
        { "another value",
          TRANSACT_WITH(UPDATE(KEY("a"), "ADD n :one", VALUES("':one':{'N':'2'}")), TOKEN("t")) },
        { "another expression",
          TRANSACT_WITH(UPDATE(KEY("a"), "ADD m :one", VALUES("':one':{'N':'1'}")), TOKEN("t")) },
        { "one action more", TRANSACT_WITH(COUNT_UP("a") "," COUNT_UP("b"), TOKEN("t")) },
        { "another kind", TRANSACT_WITH(DELETE(KEY("a")), TOKEN("t")) },
        { "a condition", TRANSACT_WITH(UPDATE(KEY("a"), "ADD n :one",
                                              VALUES("':one':{'N':'1'}") ",'ConditionExpression':"
                                                                         "'attribute_exists(pk)'"),
                                       TOKEN("t")) },
        { "a name", TRANSACT_WITH(UPDATE(KEY("a"), "ADD #n :one",
                                         VALUES("':one':{'N':'1'}") ",'ExpressionAttributeNames':{"
                                                                    "'#n':'n'}"),
                                  TOKEN("t")) },
        { "another table",
          TRANSACT_WITH("{'Update':{'TableName':'other','Key':" KEY(
                            "a") ",'UpdateExpression':'ADD n :one'" VALUES("':one':{'N':'1'}") "}}",
                        TOKEN("t")) },
    };
    (void)state;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        print_message("%s\n", others[i].name);
        mismatch(others[i].body);
    }
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "1"));
}

static void names_behind_placeholders_count(void **state)
{
#define COUNT_NAMED(name)                                                                          \
    TRANSACT_WITH(UPDATE(KEY("a"), "ADD #n :one",                                                  \
                         VALUES("':one':{'N':'1'}") ",'ExpressionAttributeNames':{'#n':'" name     \
                                                    "'}"),                                         \
                  TOKEN("t"))
    (void)state;
    must(COUNT_NAMED("n"));
    must(COUNT_NAMED("n"));
    mismatch(COUNT_NAMED("m"));
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "1"));
}

/* The order of members and the way a number is written say nothing. */
static void the_same_request_in_other_words_is_the_same(void **state)
{
    (void)state;
    must(TRANSACT_WITH("{'Put':{'TableName':'plain','Item':{'pk':{'S':'a'},'n':{'N':'1'},"
                       "'s':{'SS':['x','y']}}}}",
                       TOKEN("t")));
    must("{'ClientRequestToken':'t','TransactItems':[{'Put':{'Item':{'s':{'SS':['y','x']},"
         "'n':{'N':'1.0'},'pk':{'S':'a'}},'TableName':'plain'}}]}");
}

static void what_was_refused_may_be_tried_again(void **state)
{
#define TO_EXISTING TRANSACT_WITH(PUT_IF(ITEM("a", "2"), "attribute_exists(pk)"), TOKEN("t"))
    (void)state;
    transaction_fixture_expect_cancelled(&db, "TransactWriteItems", TO_EXISTING,
                                         "[ConditionalCheckFailed]", CONDITION_REASON);
    must(TRANSACT(PUT(ITEM("a", "1"))));
    must(TO_EXISTING);
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "2"));
}

static void a_token_lives_for_ten_minutes(void **state)
{
    (void)state;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    db.clock.fixed_ms += TOKEN_RECORD_LIFETIME_MS - 1;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "1"));
    db.clock.fixed_ms += 1;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "2"));
    /* From then on for another ten. */
    db.clock.fixed_ms += TOKEN_RECORD_LIFETIME_MS - 1;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "2"));
}

static void a_token_does_not_age_with_the_wall_clock(void **state)
{
    (void)state;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    for (int days = -30; days <= 30; days += 60) {
        db.clock.wall_ahead_ms = INT64_C(24) * 60 * 60 * 1000 * days;
        must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
        api_fixture_restart(&db, 0);
        must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
        transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "1"));
    }
    db.clock.wall_ahead_ms -= TOKEN_RECORD_LIFETIME_MS; /* As if the wall clock stood still. */
    db.clock.fixed_ms += TOKEN_RECORD_LIFETIME_MS;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "2"));
}

/* As after a crash. */
static void a_clock_that_is_set_back_does_not_forget(void **state)
{
    (void)state;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    db.clock.fixed_ms -= TOKEN_RECORD_LIFETIME_MS - 1;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "1"));
}

static void a_token_outlives_a_restart(void **state)
{
    (void)state;
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    api_fixture_restart(&db, TOKEN_RECORD_LIFETIME_MS - 1);
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    transaction_fixture_expect_item(&db, KEY("a"), ITEM("a", "1"));
    mismatch(TRANSACT_WITH(COUNT_UP("b"), TOKEN("t")));
}

/* The control thread does so before it runs an operation. */
static void old_tokens_are_removed(void **state)
{
    struct arena *arena = arena_create();
    struct engine_address addresses[TOKEN_RECORD_PLACES];
    (void)state;
    token_record_addresses(arena, LAYOUT_TOKEN_WRITE, BYTES("t"), db.clock.fixed_ms, addresses);
    must(TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")));
    api_fixture_restart(&db, TOKEN_RECORD_LIFETIME_MS);
    transaction_fixture_must(&db, "UntagResource", UNTAG_NOTHING);
    assert_false(engine_fixture_lacks(db.engine, token_record_place, addresses[0].key));
    api_fixture_restart(&db, TOKEN_RECORD_LIFETIME_MS);
    transaction_fixture_must(&db, "UntagResource", UNTAG_NOTHING);
    assert_true(engine_fixture_lacks(db.engine, token_record_place, addresses[0].key));
    arena_destroy(arena);
}

/* The client has not heard whether its write took place, and asks again. */
static void an_unknown_outcome_is_found_out_by_the_token(void **state)
{
    (void)state;
    for (int applied = 0; applied <= 1; applied++) {
        const char *body = applied ? TRANSACT_WITH(COUNT_UP("x"), TOKEN("t"))
                                   : TRANSACT_WITH(COUNT_UP("y"), TOKEN("u"));
        failing_engine_set(db.engine, &(struct failing_engine_plan){ .call = 1,
                                                                     .status = ENGINE_UNKNOWN,
                                                                     .commits_only = true,
                                                                     .applied = applied });
        assert_false(api_fixture_call(&db, "TransactWriteItems", body));
        failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
        must(body);
        must(body);
    }
    transaction_fixture_expect_item(&db, KEY("x"), ITEM("x", "1"));
    transaction_fixture_expect_item(&db, KEY("y"), ITEM("y", "1"));
}

static void a_damaged_record_is_an_internal_error(void **state)
{
    struct arena *arena = arena_create();
    struct engine_address addresses[TOKEN_RECORD_PLACES];
    struct engine_write *write;
    (void)state;
    token_record_addresses(arena, LAYOUT_TOKEN_WRITE, BYTES("t"), db.clock.fixed_ms, addresses);
    assert_int_equal(engine_write_begin(db.engine, addresses, 1, &write), ENGINE_OK);
    engine_write_put(write, &addresses[0], BYTES("damaged"));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    api_fixture_expect_error(&db, "TransactWriteItems", TRANSACT_WITH(COUNT_UP("a"), TOKEN("t")),
                             ERROR_INTERNAL, "Internal server error");
    transaction_fixture_expect_item(&db, KEY("a"), NULL);
    arena_destroy(arena);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_request_that_comes_again_has_no_second_effect),
        TEST(a_repeated_request_is_told_what_reading_costs),
        TEST(another_request_with_the_token_is_refused),
        TEST(names_behind_placeholders_count),
        TEST(the_same_request_in_other_words_is_the_same),
        TEST(what_was_refused_may_be_tried_again),
        TEST(a_token_lives_for_ten_minutes),
        TEST(a_token_does_not_age_with_the_wall_clock),
        TEST(a_clock_that_is_set_back_does_not_forget),
        TEST(a_token_outlives_a_restart),
        TEST(old_tokens_are_removed),
        TEST(an_unknown_outcome_is_found_out_by_the_token),
        TEST(a_damaged_record_is_an_internal_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
