/* test_check_triggers.c -- records of triggers are known, and damaged ones are reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "check_fixture.h"
#include "consumer/consumer_position.h"
#include "trigger/trigger_definition.h"

static struct check_fixture fixture;
static struct check_fixture_entry definition, position; /* Of the one trigger. */

static void find_records(void)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct engine_range range = { .place = consumer_position_place };
    assert_int_equal(engine_view_open(fixture.engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK) {
        struct check_fixture_entry *out =
            entry.key.data[0] == CONSUMER_TRIGGER_KEY ? &definition : &position;
        *out = (struct check_fixture_entry){ .place = consumer_position_place,
                                             .key = arena_copy(fixture.arena, entry.key),
                                             .value = arena_copy(fixture.arena, entry.value) };
    }
    engine_scan_close(scan);
    engine_view_close(view);
    assert_non_null(definition.key.data);
    assert_non_null(position.key.data);
}

static int set_up(void **state)
{
    (void)state;
    definition = position = (struct check_fixture_entry){ 0 };
    check_fixture_open(&fixture);
    assert_true(api_fixture_call(&fixture.api, "UpdateTable",
                                 "{'TableName':'orders','StreamSpecification':{'StreamEnabled':"
                                 "true,'StreamViewType':'KEYS_ONLY'}}"));
    assert_true(api_fixture_call(&fixture.api, "AddTrigger",
                                 "{'TableName':'orders','Url':'http://h/','StartingPosition':"
                                 "'LATEST'}"));
    find_records();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    check_fixture_close(&fixture);
    return 0;
}

static void a_trigger_is_no_problem(void **state)
{
    (void)state;
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
}

static void damaged_records_are_reported(void **state)
{
    (void)state;
    struct check_fixture_entry damaged = check_fixture_flip(&fixture, position);
    check_fixture_put(&fixture, &damaged);
    check_fixture_expect(
        &fixture, (const char *const[]){ "a record of a trigger is damaged or unknown", NULL });
    check_fixture_put(&fixture, &position);
    damaged.key = BYTES("D");
    check_fixture_put(&fixture, &damaged);
    check_fixture_expect(
        &fixture, (const char *const[]){ "a record of a trigger is damaged or unknown", NULL });
}

static void a_position_of_no_trigger_is_reported(void **state)
{
    (void)state;
    check_fixture_delete(&fixture, &definition);
    struct check_result result = check_fixture_expect(
        &fixture,
        (const char *const[]){
            "reader *, partition *: is the position of no trigger and no destination",
            "reader *, partition *: is the position of no trigger and no destination",
            "reader *, partition *: is the position of no trigger and no destination",
            "reader *, partition *: is the position of no trigger and no destination", NULL });
    assert_int_equal(result.problem_count, 4);
}

static void a_position_outside_of_the_stream_is_reported(void **state)
{
    (void)state;
    uint8_t key[CONSUMER_POSITION_KEY_SIZE], value[CONSUMER_POSITION_SIZE];
    struct check_fixture_entry strange = { .place = consumer_position_place,
                                           .key = bytes_of(key, sizeof key),
                                           .value = bytes_of(value, sizeof value) };
    memcpy(key, position.key.data, sizeof key);
    memcpy(value, position.value.data, sizeof value);
    store_u64_be(key + TRIGGER_DEFINITION_KEY_SIZE, 99);
    check_fixture_put(&fixture, &strange);
    check_fixture_expect(
        &fixture,
        (const char *const[]){ "reader *, partition 99: is no partition of its stream", NULL });
    check_fixture_delete(&fixture, &strange);
    strange.key = position.key;
    store_u64_le(value + 5, 1000);
    store_u32_le(value + 1, crc32c(bytes_of(value + 5, 8)));
    check_fixture_put(&fixture, &strange);
    check_fixture_expect(&fixture, (const char *const[]){ "reader *, partition *: its position "
                                                          "lies behind the newest record",
                                                          NULL });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_trigger_is_no_problem, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_records_are_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_position_of_no_trigger_is_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_position_outside_of_the_stream_is_reported, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
