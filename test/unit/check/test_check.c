/* test_check.c -- records that belong to no table: tokens and the server time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "check_fixture.h"
#include "table/server_time.h"
#include "table/token_record.h"

static struct check_fixture fixture;

static int tear_down(void **state)
{
    (void)state;
    check_fixture_close(&fixture);
    return 0;
}

/* --- Tokens --- */

static int set_up_token(void **state)
{
    (void)state;
    check_fixture_open(&fixture);
    assert_true(api_fixture_call(&fixture.api, "TransactWriteItems",
                                 "{'ClientRequestToken':'t','TransactItems':[{'Put':{'TableName':"
                                 "'orders','Item':{'p':{'S':'x'},'s':{'N':'1'}}}}]}"));
    return 0;
}

static struct check_fixture_entry token_entry(void)
{
    struct engine_address addresses[TOKEN_RECORD_PLACES];
    struct token_record record = { .expires_at_ms = 1 };
    token_record_addresses(fixture.arena, LAYOUT_TOKEN_WRITE, BYTES("t"),
                           fixture.api.clock.fixed_ms, addresses);
    return (struct check_fixture_entry){ .place = token_record_place,
                                         .key = addresses[0].key,
                                         .value = token_record_encode(fixture.arena, &record) };
}

static void whole_tokens_are_no_problem_however_old(void **state)
{
    (void)state;
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
    struct check_fixture_entry old = token_entry();
    check_fixture_put(&fixture, &old);
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
}

static void a_damaged_token_is_reported(void **state)
{
    struct check_fixture_entry damaged = check_fixture_flip(&fixture, token_entry());
    (void)state;
    check_fixture_put(&fixture, &damaged);
    check_fixture_expect(&fixture,
                         (const char *const[]){ "record of a token, */Wt: is damaged", NULL });
}

static void a_key_that_is_no_tokens_is_reported(void **state)
{
    struct check_fixture_entry strange = token_entry();
    (void)state;
    strange.key = BYTES("short");
    check_fixture_put(&fixture, &strange);
    check_fixture_expect(&fixture, (const char *const[]){ "record of a token, *: is stored under a "
                                                          "key that is no token's",
                                                          NULL });
}

static void another_place_beside_the_catalogue_is_reported(void **state)
{
    struct check_fixture_entry strange = token_entry();
    (void)state;
    strange.place.partition++;
    check_fixture_put(&fixture, &strange);
    check_fixture_expect(
        &fixture,
        (const char *const[]){ "catalogue, partition 2, space 6: holds what nothing reads", NULL });
}

/* --- Server time --- */

static int set_up_time(void **state)
{
    (void)state;
    check_fixture_open(&fixture);
    assert_int_equal(server_time_store(fixture.api.engine, &(struct server_time){ 1, 2 }),
                     ENGINE_OK);
    return 0;
}

static void a_whole_server_time_is_no_problem(void **state)
{
    (void)state;
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
}

static void a_damaged_server_time_is_reported(void **state)
{
    struct check_fixture_entry damaged = { .place = server_time_place,
                                           .key = BYTES(""),
                                           .value = BYTES("damaged") };
    (void)state;
    check_fixture_put(&fixture, &damaged);
    check_fixture_expect(&fixture,
                         (const char *const[]){ "server time: its record is damaged", NULL });
}

static void a_second_server_time_is_reported(void **state)
{
    struct check_fixture_entry other = { .place = server_time_place,
                                         .key = BYTES("x"),
                                         .value = BYTES("x") };
    (void)state;
    check_fixture_put(&fixture, &other);
    check_fixture_expect(
        &fixture, (const char *const[]){ "server time: holds a record that nothing reads", NULL });
}

int main(void)
{
#define TOKEN_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_token, tear_down)
#define TIME_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_time, tear_down)
    const struct CMUnitTest tests[] = {
        TOKEN_TEST(whole_tokens_are_no_problem_however_old),
        TOKEN_TEST(a_damaged_token_is_reported),
        TOKEN_TEST(a_key_that_is_no_tokens_is_reported),
        TOKEN_TEST(another_place_beside_the_catalogue_is_reported),
        TIME_TEST(a_whole_server_time_is_no_problem),
        TIME_TEST(a_damaged_server_time_is_reported),
        TIME_TEST(a_second_server_time_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
