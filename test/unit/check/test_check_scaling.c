/* test_check_scaling.c -- records of scaling targets are known, and damaged ones are reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "check_fixture.h"
#include "scaling/scaling_objects.h"

static struct check_fixture fixture;

static int set_up(void **state)
{
    (void)state;
    check_fixture_open(&fixture);
    assert_true(api_fixture_call(&fixture.api, "application-autoscaling:RegisterScalableTarget",
                                 "{'ServiceNamespace':'dynamodb','ResourceId':'table/orders',"
                                 "'ScalableDimension':'dynamodb:table:ReadCapacityUnits',"
                                 "'MinCapacity':1,'MaxCapacity':100}"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    check_fixture_close(&fixture);
    return 0;
}

static void a_target_is_no_problem_until_its_record_is_damaged(void **state)
{
    (void)state;
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    const struct engine_range range = { .place = scaling_place };
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
    assert_int_equal(engine_view_open(fixture.engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
    const struct check_fixture_entry found = { .place = scaling_place,
                                               .key = arena_copy(fixture.arena, entry.key),
                                               .value = arena_copy(fixture.arena, entry.value) };
    engine_scan_close(scan);
    engine_view_close(view);
    struct check_fixture_entry damaged = check_fixture_flip(&fixture, found);
    check_fixture_put(&fixture, &damaged);
    check_fixture_expect(
        &fixture,
        (const char *const[]){ "scaling targets and policies, record *: is damaged", NULL });
    /* A whole record under another key is no better. */
    damaged = found;
    damaged.key = BYTES("T0table/other");
    check_fixture_put(&fixture, &found);
    check_fixture_put(&fixture, &damaged);
    check_fixture_expect(
        &fixture,
        (const char *const[]){ "scaling targets and policies, record *: is damaged", NULL });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_target_is_no_problem_until_its_record_is_damaged, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
