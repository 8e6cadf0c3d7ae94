/* test_engine_plan.c -- what engine.c does for an engine that cannot scan backward or delete
 * ranges.
 *
 * test_engine.c and test_engine_ranges.c run on such an engine as well; here are the bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "engine/engine_plan.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

static struct bytes key_of(unsigned number, char space[16])
{
    snprintf(space, 16, "%08u", number);
    return bytes_from_text(space);
}

/* One write: the reference engine copies its table for each. */
static void put_numbers(struct engine *engine, const struct engine_place *place, unsigned count,
                        struct bytes value)
{
    struct engine_write *write;
    char space[16];
    assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_OK);
    for (unsigned i = 0; i < count; i++) {
        struct engine_address address = { *place, key_of(i, space) };
        engine_write_put(write, &address, value);
    }
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static unsigned count_of(struct engine *engine, const struct engine_place *place)
{
    struct engine_range range = { .place = *place };
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_scan *scan;
    struct engine_entry entry;
    unsigned count = 0;
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK)
        count++;
    engine_scan_close(scan);
    engine_view_close(view);
    return count;
}

static int set_up(void **state)
{
    *state = reference_engine_create_with(ENGINE_GLOBAL_ATOMIC);
    return 0;
}

static int tear_down(void **state)
{
    engine_close(*state);
    return 0;
}

/* --- Backward --- */

static void expect_backward(struct engine *engine, const struct engine_range *range, unsigned next,
                            unsigned count)
{
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_scan *scan;
    struct engine_entry entry;
    char space[16];
    assert_int_equal(engine_scan_open(view, range, &scan), ENGINE_OK);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
        assert_true(bytes_equal(entry.key, key_of(--next, space)));
    }
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_END);
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_END);
    engine_scan_close(scan);
    engine_view_close(view);
}

static void a_backward_scan_is_complete_around_the_number_of_entries_it_keeps(void **state)
{
    static const unsigned counts[] = { 0,
                                       1,
                                       ENGINE_PLAN_KEPT_MAX - 1,
                                       ENGINE_PLAN_KEPT_MAX,
                                       ENGINE_PLAN_KEPT_MAX + 1,
                                       3 * ENGINE_PLAN_KEPT_MAX + 7 };
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        put_numbers(*state, &items, counts[i], BYTES("v"));
        struct engine_range range = { .place = items, .reverse = true };
        expect_backward(*state, &range, counts[i], counts[i]);
    }
}

static void a_backward_scan_is_complete_beyond_the_bytes_it_keeps(void **state)
{
    static uint8_t value[400 * 1024];
    put_numbers(*state, &items, 7, bytes_of(value, sizeof value));
    struct engine_range range = { .place = items, .reverse = true };
    expect_backward(*state, &range, 7, 7);
}

static void an_entry_larger_than_what_a_backward_scan_keeps_is_handed_out(void **state)
{
    static uint8_t value[ENGINE_PLAN_KEPT_SIZE + 1];
    put_numbers(*state, &items, 3, bytes_of(value, sizeof value));
    struct engine_range range = { .place = items, .reverse = true };
    expect_backward(*state, &range, 3, 3);
}

static void a_backward_scan_stops_at_its_limits(void **state)
{
    char space[16];
    put_numbers(*state, &items, 2000, BYTES("v"));
    struct engine_range range = { .place = items, .reverse = true, .count_max = 1500 };
    expect_backward(*state, &range, 2000, 1500);
    range = (struct engine_range){ .place = items, .reverse = true, .bytes_max = 10 };
    expect_backward(*state, &range, 2000, 2);
    range = (struct engine_range){ .place = items, .reverse = true, .last = key_of(5, space) };
    expect_backward(*state, &range, 5, 5);
}

static void a_backward_scan_reports_that_a_read_failed(void **state)
{
    struct engine_view *view;
    struct engine_scan *scan;
    struct engine_entry entry;
    (void)state;
    struct engine *engine =
        failing_engine_create(reference_engine_create_with(ENGINE_GLOBAL_ATOMIC));
    put_numbers(engine, &items, 10, BYTES("v"));
    view = engine_fixture_view(engine);
    struct engine_range range = { .place = items, .reverse = true };
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    failing_engine_set(engine, &(struct failing_engine_plan){ .call = 5, .status = ENGINE_IO });
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_IO);
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK); /* It reads the range again. */
    assert_true(bytes_equal(entry.key, BYTES("00000009")));
    engine_scan_close(scan);
    engine_view_close(view);
    engine_close(engine);
}

/* --- Range deletes --- */

static enum engine_status delete_all(struct engine *engine)
{
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_OK);
    engine_write_delete_range(write, &items, BYTES(""), BYTES(""));
    return engine_write_commit_wait(write);
}

static void a_write_deletes_so_many_keys_of_a_range_and_no_more(void **state)
{
    put_numbers(*state, &items, ENGINE_RANGE_KEYS_MAX + 1, BYTES("v"));
    assert_int_equal(delete_all(*state), ENGINE_TOO_LARGE);
    assert_int_equal(count_of(*state, &items), ENGINE_RANGE_KEYS_MAX + 1);
    engine_fixture_delete(*state, items, BYTES("00000000"));
    assert_int_equal(delete_all(*state), ENGINE_OK);
    assert_int_equal(count_of(*state, &items), 0);
}

static void a_large_range_is_prepared_in_steps(void **state)
{
    put_numbers(*state, &items, 2 * ENGINE_RANGE_KEYS_MAX + 1, BYTES("v"));
    assert_int_equal(
        engine_prepare_delete_range(*state, &items, BYTES("00000003"), BYTES("00008190")),
        ENGINE_OK);
    assert_int_equal(count_of(*state, &items), 3 + 2 * ENGINE_RANGE_KEYS_MAX + 1 - 8190);
    assert_int_equal(delete_all(*state), ENGINE_OK);
}

static void a_large_owner_is_prepared_in_steps(void **state)
{
    static const struct engine_place places[] = {
        { 7, 0, ENGINE_SPACE_CATALOGUE },
        { 7, 1, ENGINE_SPACE_ITEMS },
        { 7, UINT64_MAX, ENGINE_SPACE_COLLECTIONS },
        { 6, UINT64_MAX, ENGINE_SPACE_COLLECTIONS },
        { 8, 0, ENGINE_SPACE_CATALOGUE },
    };
    for (size_t i = 0; i < COUNT_OF(places); i++)
        put_numbers(*state, &places[i], ENGINE_RANGE_KEYS_MAX, BYTES("v"));
    assert_int_equal(engine_prepare_delete_owner(*state, 7), ENGINE_OK);
    for (size_t i = 0; i < COUNT_OF(places); i++)
        assert_int_equal(count_of(*state, &places[i]),
                         places[i].owner == 7 ? 0 : ENGINE_RANGE_KEYS_MAX);
}

static void nothing_is_prepared_for_an_engine_that_deletes_ranges(void **state)
{
    (void)state;
    struct engine *engine = reference_engine_create();
    put_numbers(engine, &items, 3, BYTES("v"));
    assert_int_equal(engine_prepare_delete_owner(engine, items.owner), ENGINE_OK);
    assert_int_equal(count_of(engine, &items), 3);
    engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_backward_scan_is_complete_around_the_number_of_entries_it_keeps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_backward_scan_is_complete_beyond_the_bytes_it_keeps,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_entry_larger_than_what_a_backward_scan_keeps_is_handed_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_backward_scan_stops_at_its_limits, set_up, tear_down),
        cmocka_unit_test(a_backward_scan_reports_that_a_read_failed),
        cmocka_unit_test_setup_teardown(a_write_deletes_so_many_keys_of_a_range_and_no_more, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_large_range_is_prepared_in_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_large_owner_is_prepared_in_steps, set_up, tear_down),
        cmocka_unit_test(nothing_is_prepared_for_an_engine_that_deletes_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
