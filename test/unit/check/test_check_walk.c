/* test_check_walk.c -- every entry of a place is visited once, whatever the pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/byte_order.h"
#include "base/compiler.h"
#include "check/check_walk.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

struct visits {
    uint64_t next; /* Keys count upwards. */
    uint64_t last; /* Where the visitor ends the walk. */
};

static bool visit(void *context, const struct engine_place *place, const struct engine_entry *entry)
{
    struct visits *visits = context;
    assert_int_equal(place->owner, items.owner);
    assert_int_equal(entry->key.len, 8);
    assert_int_equal(load_u64_be(entry->key.data), visits->next);
    return ++visits->next != visits->last;
}

static void fill(struct engine *engine, uint64_t count, size_t value_size)
{
    struct engine_write *write;
    uint8_t *value = calloc(1, value_size + 1);
    assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_OK);
    for (uint64_t i = 0; i < count; i++) {
        uint8_t key[8];
        store_u64_be(key, i);
        struct engine_address address = { items, bytes_of(key, sizeof key) };
        engine_write_put(write, &address, bytes_of(value, value_size));
    }
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    free(value);
}

static void every_entry_is_visited_once(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        size_t value_size;
    } cases[] = {
        { 0, 0 },
        { 1, 0 },
        { CHECK_WALK_PAGE_COUNT - 1, 0 },
        { CHECK_WALK_PAGE_COUNT, 0 },
        { CHECK_WALK_PAGE_COUNT + 1, 0 },
        { 2, CHECK_WALK_PAGE_SIZE - 8 }, /* Each entry is a page. */
        { 3, CHECK_WALK_PAGE_SIZE },
        { 33, CHECK_WALK_PAGE_SIZE / 10 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct engine *engine = reference_engine_create();
        fill(engine, cases[i].count, cases[i].value_size);
        struct engine_view *view = engine_fixture_view(engine);
        struct visits visits = { .next = 0 };
        assert_int_equal(check_walk(view, &items, visit, &visits), ENGINE_OK);
        assert_int_equal(visits.next, cases[i].count);
        engine_view_close(view);
        engine_close(engine);
    }
}

static void a_visitor_ends_the_walk(void **state)
{
    (void)state;
    struct engine *engine = reference_engine_create();
    fill(engine, 3, CHECK_WALK_PAGE_SIZE);
    struct engine_view *view = engine_fixture_view(engine);
    struct visits visits = { .last = 2 };
    assert_int_equal(check_walk(view, &items, visit, &visits), ENGINE_OK);
    assert_int_equal(visits.next, 2);
    engine_view_close(view);
    engine_close(engine);
}

static void a_failure_ends_the_walk(void **state)
{
    (void)state;
    struct engine *engine = failing_engine_create(reference_engine_create());
    fill(engine, 3, CHECK_WALK_PAGE_SIZE);
    struct engine_view *view = engine_fixture_view(engine);
    uint64_t call = 1;
    for (;; call++) {
        struct visits visits = { .next = 0 };
        failing_engine_set(engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_CORRUPT });
        enum engine_status status = check_walk(view, &items, visit, &visits);
        if (!failing_engine_struck(engine))
            break;
        assert_int_equal(status, ENGINE_CORRUPT);
    }
    assert_true(call > 6); /* Opening and stepping, three pages. */
    engine_view_close(view);
    engine_close(engine);
}

static bool count(void *context, const struct engine_place *place, const struct engine_entry *entry)
{
    (void)place;
    (void)entry;
    ++*(unsigned *)context;
    return true;
}

/* What lies behind the longest key that an engine takes has no first key. */
static void the_longest_key_ends_the_walk(void **state)
{
    (void)state;
    uint8_t *key = calloc(1, ENGINE_KEY_SIZE_MAX);
    for (size_t below = 0; below < 2; below++) {
        struct engine *engine = reference_engine_create();
        unsigned visits = 0;
        engine_fixture_put(engine, items, bytes_of(key, ENGINE_KEY_SIZE_MAX - below), BYTES(""));
        struct engine_view *view = engine_fixture_view(engine);
        assert_int_equal(check_walk(view, &items, count, &visits),
                         below == 0 ? ENGINE_CORRUPT : ENGINE_OK);
        assert_int_equal(visits, 1);
        engine_view_close(view);
        engine_close(engine);
    }
    free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_entry_is_visited_once),
        cmocka_unit_test(a_visitor_ends_the_walk),
        cmocka_unit_test(a_failure_ends_the_walk),
        cmocka_unit_test(the_longest_key_ends_the_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
