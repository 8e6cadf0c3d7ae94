/* test_server_time.c -- when the control thread stores the server time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_fixture.h"
#include "base/clock.h"
#include "failing_engine.h"
#include "reference_engine.h"
#include "table/server_time.h"

static struct api_fixture db;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open_on(&db, failing_engine_create(reference_engine_create()), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

#define CREATE(name, rest)                                                                         \
    "{'TableName':'" name "','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["             \
    "{'AttributeName':'a','AttributeType':'S'}],'KeySchema':[{'AttributeName':'a','KeyType':"      \
    "'HASH'}]" rest "}"
#define STREAM ",'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}"
#define WITH_TOKEN                                                                                 \
    "{'ClientRequestToken':'t','TransactItems':[{'Put':{'TableName':'abc','Item':{'a':{'S':'x'}}}" \
    "}]}"
static void must(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s: %.*s", operation, BYTES_FMT(db.error.message));
}

/* Two operations of the control thread, which write nothing: between them it does what is due. */
static void pass_time(int64_t ms)
{
    db.clock.fixed_ms += ms;
    assert_false(api_fixture_call(&db, "CreateTable", CREATE("abc", "")));
    assert_false(api_fixture_call(&db, "CreateTable", CREATE("abc", "")));
}

/* Where server time would resume after a crash now. */
static int64_t stored_ms(void)
{
    struct server_time time;
    assert_int_equal(server_time_load(db.engine, &time), ENGINE_OK);
    return time.position_ms;
}

static void a_crash_loses_an_interval_at_most_and_gains_nothing(void **state)
{
    (void)state;
    must("CreateTable", CREATE("abc", STREAM));
    int64_t last_ms = stored_ms();
    for (int i = 0; i < 50; i++) {
        pass_time(7001);
        int64_t now_ms = clock_server_ms(&db.clock);
        assert_in_range(stored_ms(), now_ms - SERVER_TIME_STORE_INTERVAL_MS, now_ms);
        assert_true(stored_ms() >= last_ms);
        last_ms = stored_ms();
    }
}

static void steps_of_the_wall_clock_are_not_stored(void **state)
{
    (void)state;
    must("CreateTable", CREATE("abc", STREAM));
    db.clock.wall_ahead_ms = INT64_C(30) * 24 * 60 * 60 * 1000;
    pass_time(SERVER_TIME_STORE_INTERVAL_MS);
    assert_int_equal(stored_ms(), clock_server_ms(&db.clock));
    db.clock.wall_ahead_ms = -db.clock.wall_ahead_ms;
    pass_time(SERVER_TIME_STORE_INTERVAL_MS);
    assert_int_equal(stored_ms(), clock_server_ms(&db.clock));
}

static void a_clean_stop_loses_nothing(void **state)
{
    (void)state;
    must("CreateTable", CREATE("abc", STREAM));
    pass_time(SERVER_TIME_STORE_INTERVAL_MS);
    pass_time(SERVER_TIME_STORE_INTERVAL_MS - 1);
    int64_t now_ms = clock_server_ms(&db.clock);
    assert_int_equal(stored_ms(), now_ms - SERVER_TIME_STORE_INTERVAL_MS + 1);
    api_fixture_restart(&db, 0);
    assert_int_equal(stored_ms(), now_ms);
}

static void a_server_that_keeps_nothing_does_not_write(void **state)
{
    (void)state;
    must("CreateTable", CREATE("abc", ""));
    must("PutItem", "{'TableName':'abc','Item':{'a':{'S':'x'}}}");
    failing_engine_set(db.engine, &(struct failing_engine_plan){
                                      .call = 1, .status = ENGINE_IO, .commits_only = true });
    for (int i = 0; i < 5; i++)
        pass_time(SERVER_TIME_STORE_INTERVAL_MS);
    api_fixture_restart(&db, 0);
    assert_false(failing_engine_struck(db.engine));
    failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
    assert_int_equal(stored_ms(), 0);
}

static void a_token_is_enough_to_keep_the_time(void **state)
{
    (void)state;
    must("CreateTable", CREATE("abc", ""));
    pass_time(SERVER_TIME_STORE_INTERVAL_MS);
    must("TransactWriteItems", WITH_TOKEN);
    pass_time(SERVER_TIME_STORE_INTERVAL_MS);
    assert_int_equal(stored_ms(), clock_server_ms(&db.clock));
}

static void a_store_that_failed_is_tried_again(void **state)
{
    (void)state;
    must("CreateTable", CREATE("abc", STREAM));
    pass_time(SERVER_TIME_STORE_INTERVAL_MS);
    int64_t before_ms = stored_ms();
    failing_engine_set(db.engine, &(struct failing_engine_plan){
                                      .call = 1, .status = ENGINE_IO, .commits_only = true });
    pass_time(SERVER_TIME_STORE_INTERVAL_MS);
    assert_true(failing_engine_struck(db.engine));
    assert_int_equal(stored_ms(), before_ms);
    failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
    pass_time(1000);
    assert_int_equal(stored_ms(), clock_server_ms(&db.clock));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(a_crash_loses_an_interval_at_most_and_gains_nothing),
        RULE(steps_of_the_wall_clock_are_not_stored),
        RULE(a_clean_stop_loses_nothing),
        RULE(a_server_that_keeps_nothing_does_not_write),
        RULE(a_token_is_enough_to_keep_the_time),
        RULE(a_store_that_failed_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
