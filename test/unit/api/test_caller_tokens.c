/* test_caller_tokens.c -- ClientRequestTokens where callers are told apart: each has its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "auth/caller.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "policy_fixture.h"
#include "table/token_record.h"
#include "transaction_fixture.h"

#define USER(name) BYTES("arn:aws:iam::123456789012:user/" name)
#define TOKEN "'ClientRequestToken':'t'"
#define COUNT_UP(key)                                                                              \
    TRANSACT_WITH(UPDATE(KEY(key), "ADD n :one", VALUES("':one':{'N':'1'}")), TOKEN)
#define COUNT_UP_BY_STATEMENT(key)                                                                 \
    "{'TransactStatements':[{'Statement':'UPDATE plain SET n = n + 1 WHERE pk = ?',"               \
    "'Parameters':[{'S':'" key "'}]}]," TOKEN "}"

struct fixture {
    struct api_fixture db;
    struct arena *arena;
    const struct policy *policy;
    struct caller alice, alice_later, bob;
};

static struct caller make_caller(struct fixture *fixture, struct bytes arn, struct bytes key_id)
{
    return (struct caller){ .key_id = key_id,
                            .arn = arn,
                            .account = BYTES("123456789012"),
                            .policies = &fixture->policy,
                            .policy_count = 1 };
}

static int set_up(void **state)
{
    static struct fixture fixture;
    struct error err;
    fixture = (struct fixture){ .arena = arena_create() };
    error_init(&err, fixture.arena);
    fixture.policy = policy_parse(fixture.arena, policy_fixture_document(fixture.arena, ALLOW),
                                  POLICY_OF_IDENTITY, &err);
    assert_non_null(fixture.policy);
    fixture.alice = make_caller(&fixture, USER("alice"), BYTES("AKIA1"));
    fixture.alice_later = make_caller(&fixture, USER("alice"), BYTES("AKIA2"));
    fixture.bob = make_caller(&fixture, USER("bob"), BYTES("AKIA3"));
    api_fixture_open(&fixture.db, 0);
    transaction_fixture_create_tables(&fixture.db);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    api_fixture_close(&fixture->db);
    arena_destroy(fixture->arena);
    return 0;
}

/* `caller` NULL: callers are not told apart. */
static void must(struct fixture *fixture, const struct caller *caller, const char *operation,
                 const char *body)
{
    fixture->db.caller = caller;
    transaction_fixture_must(&fixture->db, operation, body);
    fixture->db.caller = NULL;
}

static void expect_count(struct fixture *fixture, const char *item)
{
    transaction_fixture_expect_item(&fixture->db, KEY("a"), item);
}

static void each_user_has_tokens_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 2; i++)
        must(fixture, &fixture->alice, "TransactWriteItems", COUNT_UP("a"));
    expect_count(fixture, ITEM("a", "1"));
    for (int i = 0; i < 2; i++)
        must(fixture, &fixture->bob, "TransactWriteItems", COUNT_UP("a"));
    expect_count(fixture, ITEM("a", "2"));
    must(fixture, &fixture->alice, "TransactWriteItems", COUNT_UP("a"));
    expect_count(fixture, ITEM("a", "2"));
}

static void another_users_token_is_no_obstacle(void **state)
{
    struct fixture *fixture = *state;
    must(fixture, &fixture->alice, "TransactWriteItems", COUNT_UP("a"));
    must(fixture, &fixture->bob, "TransactWriteItems", COUNT_UP("b"));
    fixture->db.caller = &fixture->alice; /* Its own still is. */
    api_fixture_expect_error(&fixture->db, "TransactWriteItems", COUNT_UP("b"),
                             ERROR_IDEMPOTENT_PARAMETER_MISMATCH,
                             "DynamoDB rejected the request because you retried a request with a "
                             "different payload but with an idempotent token that was already "
                             "used.");
}

static void keys_of_one_user_share_its_tokens(void **state)
{
    struct fixture *fixture = *state;
    must(fixture, &fixture->alice, "TransactWriteItems", COUNT_UP("a"));
    must(fixture, &fixture->alice_later, "TransactWriteItems", COUNT_UP("a"));
    expect_count(fixture, ITEM("a", "1"));
}

static void the_same_holds_for_statements(void **state)
{
    struct fixture *fixture = *state;
    must(fixture, NULL, "TransactWriteItems", TRANSACT(PUT(ITEM("a", "0"))));
    for (int i = 0; i < 2; i++) {
        must(fixture, &fixture->alice, "ExecuteTransaction", COUNT_UP_BY_STATEMENT("a"));
        must(fixture, &fixture->bob, "ExecuteTransaction", COUNT_UP_BY_STATEMENT("a"));
    }
    expect_count(fixture, ITEM("a", "2"));
}

static void a_request_sent_before_callers_were_told_apart_has_no_second_effect(void **state)
{
    struct fixture *fixture = *state;
    must(fixture, NULL, "TransactWriteItems", TRANSACT(PUT(ITEM("a", "0"))));
    must(fixture, NULL, "TransactWriteItems", COUNT_UP("a"));
    must(fixture, NULL, "ExecuteTransaction", COUNT_UP_BY_STATEMENT("a"));
    expect_count(fixture, ITEM("a", "2"));
    api_fixture_restart(&fixture->db, TOKEN_RECORD_LIFETIME_MS - 1);
    must(fixture, &fixture->alice, "TransactWriteItems", COUNT_UP("a"));
    must(fixture, &fixture->alice, "ExecuteTransaction", COUNT_UP_BY_STATEMENT("a"));
    expect_count(fixture, ITEM("a", "2"));
    /* A request that differs is another one: whose the token was, nobody knows. */
    must(fixture, &fixture->bob, "TransactWriteItems", COUNT_UP("b"));
    transaction_fixture_expect_item(&fixture->db, KEY("b"), ITEM("b", "1"));
    api_fixture_restart(&fixture->db, 1);
    must(fixture, &fixture->alice, "TransactWriteItems", COUNT_UP("a"));
    expect_count(fixture, ITEM("a", "3"));
}

static void a_damaged_record_of_all_callers_is_an_internal_error(void **state)
{
    struct fixture *fixture = *state;
    struct engine_address addresses[TOKEN_RECORD_PLACES];
    token_record_addresses(fixture->arena, LAYOUT_TOKEN_WRITE, BYTES("t"),
                           fixture->db.clock.fixed_ms, addresses);
    engine_fixture_put(fixture->db.engine, token_record_place, addresses[0].key, BYTES("damaged"));
    fixture->db.caller = &fixture->alice;
    api_fixture_expect_error(&fixture->db, "TransactWriteItems", COUNT_UP("a"), ERROR_INTERNAL,
                             "Internal server error");
    /* Once no such token can be alive, nobody looks for one. */
    fixture->db.clock.fixed_ms += 2 * TOKEN_RECORD_LIFETIME_MS - 1;
    token_record_addresses(fixture->arena, LAYOUT_TOKEN_WRITE, BYTES("t"),
                           fixture->db.clock.fixed_ms, addresses);
    engine_fixture_put(fixture->db.engine, token_record_place, addresses[0].key, BYTES("damaged"));
    api_fixture_expect_error(&fixture->db, "TransactWriteItems", COUNT_UP("a"), ERROR_INTERNAL,
                             "Internal server error");
    fixture->db.clock.fixed_ms++;
    must(fixture, &fixture->alice, "TransactWriteItems", COUNT_UP("a"));
    expect_count(fixture, ITEM("a", "1"));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_user_has_tokens_of_its_own),
        TEST(another_users_token_is_no_obstacle),
        TEST(keys_of_one_user_share_its_tokens),
        TEST(the_same_holds_for_statements),
        TEST(a_request_sent_before_callers_were_told_apart_has_no_second_effect),
        TEST(a_damaged_record_of_all_callers_is_an_internal_error),
    };
    return cmocka_run_group_tests_name("api/caller_tokens", tests, NULL, NULL);
}
