/* test_check_server_time.c -- the record of the server time is known, and a damaged one reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "check_fixture.h"
#include "table/server_time.h"

static struct check_fixture fixture;

static int set_up(void **state)
{
    (void)state;
    check_fixture_open(&fixture);
    assert_int_equal(server_time_store(fixture.api.engine, &(struct server_time){ 1, 2 }),
                     ENGINE_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    check_fixture_close(&fixture);
    return 0;
}

static void a_whole_record_is_no_problem(void **state)
{
    (void)state;
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
}

static void a_damaged_record_is_reported(void **state)
{
    struct check_fixture_entry damaged = { .place = server_time_place,
                                           .key = BYTES(""),
                                           .value = BYTES("damaged") };
    (void)state;
    check_fixture_put(&fixture, &damaged);
    check_fixture_expect(&fixture,
                         (const char *const[]){ "server time: its record is damaged", NULL });
}

static void a_second_record_is_reported(void **state)
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
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_whole_record_is_no_problem),
        TEST(a_damaged_record_is_reported),
        TEST(a_second_record_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
