/* test_read_items.c -- items read by key without a call: one view, sizes, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/arena.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "index_fixture.h"
#include "item_fixture.h"
#include "model/error.h"
#include "read/read_items.h"
#include "reference_engine.h"
#include "table/item_address.h"

struct fixture {
    struct arena *arena;
    struct engine *engine;
    struct error error;
    struct item item;
    struct item_address place, nowhere;
};

static struct item_address place_of(struct fixture *fixture, const struct item *item)
{
    struct item_address place;
    assert_true(
        item_address_of_item(fixture->arena, &index_fixture_table, item, &place, &fixture->error));
    return place;
}

static void put(struct fixture *fixture, const struct item *item)
{
    struct item_address place = place_of(fixture, item);
    engine_fixture_put(fixture->engine, place.address.place, place.address.key, item->encoded);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->arena = arena_create();
    error_init(&fixture->error, fixture->arena);
    fixture->engine = failing_engine_create(reference_engine_create());
    fixture->item =
        item_fixture_read(fixture->arena, "{'p':{'S':'a'},'s':{'N':'1'},'x':{'S':'old'}}");
    struct item missing = item_fixture_read(fixture->arena, "{'p':{'S':'b'},'s':{'N':'1'}}");
    fixture->place = place_of(fixture, &fixture->item);
    fixture->nowhere = place_of(fixture, &missing);
    put(fixture, &fixture->item);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static bool get(struct fixture *fixture, struct read_items *items, const struct item_address *place,
                struct read_item *out)
{
    return read_items_get(items, &index_fixture_table, place, READ_ITEM_OPENED, out,
                          &fixture->error);
}

static void all_reads_see_one_state(void **state)
{
    struct fixture *fixture = *state;
    struct read_items items;
    struct read_item item;
    assert_true(read_items_open(fixture->engine, true, "test", &items, &fixture->error));
    struct item changed =
        item_fixture_read(fixture->arena, "{'p':{'S':'a'},'s':{'N':'1'},'x':{'S':'new'}}");
    put(fixture, &changed);
    for (int i = 0; i < 2; i++) {
        assert_true(get(fixture, &items, &fixture->place, &item));
        assert_true(item.exists);
        assert_true(bytes_equal(item.shown.item.encoded, fixture->item.encoded));
        read_item_release(&item);
        read_items_pause(&items); /* Another thread would see the same. */
    }
    read_items_close(&items);
}

static void sizes_add_up_and_a_missing_item_has_none(void **state)
{
    struct fixture *fixture = *state;
    struct read_items items;
    struct read_item item;
    assert_true(read_items_open(fixture->engine, false, "test", &items, &fixture->error));
    assert_true(get(fixture, &items, &fixture->nowhere, &item));
    assert_false(item.exists);
    assert_int_equal(shown_item_size(&item.shown), 0);
    read_item_release(&item);
    assert_int_equal(items.size, 0);
    for (size_t i = 1; i <= 3; i++) {
        assert_true(get(fixture, &items, &fixture->place, &item));
        read_item_release(&item);
        assert_int_equal(items.size, i * fixture->item.size);
    }
    read_items_close(&items);
}

static void an_engine_failure_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    struct read_items items;
    struct read_item item;
    for (uint64_t call = 1; call <= 2; call++) {
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        error_init(&fixture->error, fixture->arena);
        bool opened = read_items_open(fixture->engine, true, "test", &items, &fixture->error);
        assert_int_equal(opened, call == 2);
        if (opened)
            assert_false(get(fixture, &items, &fixture->place, &item));
        assert_true(error_is_set(&fixture->error));
        read_items_close(&items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_reads_see_one_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_add_up_and_a_missing_item_has_none, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_engine_failure_is_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
