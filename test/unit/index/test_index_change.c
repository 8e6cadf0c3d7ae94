/* test_index_change.c -- what a change of an item does to one index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "index/index_change.h"
#include "index/index_entry.h"
#include "index/index_view.h"
#include "model/index_names.h"
#include "index_fixture.h"
#include "item_fixture.h"

static const struct {
    size_t index;
    const char *before, *after; /* NULL: no item. */
    enum index_change_type type;
    size_t size_before, size_after;
} cases[] = {
    { INDEX_FIXTURE_KEYS, NULL, NULL, INDEX_CHANGE_NONE, 0, 0 },
    { INDEX_FIXTURE_KEYS, NULL, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'1'}}",
      INDEX_CHANGE_INSERT, 0, 10 },
    { INDEX_FIXTURE_KEYS, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'1'}}", NULL,
      INDEX_CHANGE_REMOVE, 10, 0 },
    { INDEX_FIXTURE_KEYS, "{'p':{'S':'P'},'s':{'N':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'1'}}", INDEX_CHANGE_INSERT, 0, 10 },
    { INDEX_FIXTURE_KEYS, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'h':{'N':'1'}}", INDEX_CHANGE_REMOVE, 10, 0 },
    /* An attribute that is not projected. */
    { INDEX_FIXTURE_KEYS, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'1'},'x':{'S':'x'}}", INDEX_CHANGE_NONE,
      0, 0 },
    { INDEX_FIXTURE_LOCAL, "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'},'z':{'S':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'},'z':{'S':'2'}}", INDEX_CHANGE_NONE, 0, 0 },
    /* One that is, also by leaving. */
    { INDEX_FIXTURE_LOCAL, "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'},'x':{'S':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'},'x':{'S':'22'}}", INDEX_CHANGE_UPDATE, 9, 10 },
    { INDEX_FIXTURE_LOCAL, "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'},'x':{'S':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'}}", INDEX_CHANGE_UPDATE, 9, 7 },
    { INDEX_FIXTURE_ALL, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'z':{'S':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'z':{'S':'2'}}", INDEX_CHANGE_UPDATE, 9, 9 },
    /* A key attribute. */
    { INDEX_FIXTURE_LOCAL, "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'MM'}}", INDEX_CHANGE_MOVE, 7, 8 },
    { INDEX_FIXTURE_KEYS, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'H'},'h':{'N':'1'}}", INDEX_CHANGE_MOVE, 10, 10 },
    { INDEX_FIXTURE_KEYS, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'-1'}}", INDEX_CHANGE_MOVE, 10, 11 },
    /* Another notation of the same number. */
    { INDEX_FIXTURE_KEYS, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'h':{'N':'1'}}",
      "{'p':{'S':'P'},'s':{'N':'1.0'},'g':{'S':'G'},'h':{'N':'1E0'}}", INDEX_CHANGE_NONE, 0, 0 },
};

static const struct item *read_item(struct arena *arena, const char *json)
{
    if (json == NULL)
        return NULL;
    struct item *item = arena_alloc(arena, sizeof *item);
    *item = item_fixture_read(arena, json);
    return item;
}

static struct index_change change_between(struct arena *arena, const struct table_definition *table,
                                          const struct index_definition *index,
                                          const struct item *before, const struct item *after)
{
    struct index_view views[2];
    if (before != NULL)
        views[0] = index_view_open(arena, table, before);
    if (after != NULL)
        views[1] = index_view_open(arena, table, after);
    struct index_comparison comparison = index_comparison_of(
        arena, before == NULL ? NULL : &views[0], after == NULL ? NULL : &views[1]);
    return index_change_between(arena, &comparison, index);
}

static void assert_entry(struct arena *arena, const struct index_definition *index,
                         const struct item *item, const struct engine_address *address)
{
    struct item_address place;
    assert_true(index_entry_locate(arena, &index_fixture_table, index, item, &place));
    assert_true(bytes_equal(address->key, place.address.key));
    assert_int_equal(address->place.owner, index->id);
    assert_int_equal(address->place.partition, place.address.place.partition);
}

static void a_change_of_an_item_is_one_change_of_its_entry(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct index_definition *index = &index_fixture_table.indexes[cases[i].index];
        const struct item *before = read_item(arena, cases[i].before);
        const struct item *after = read_item(arena, cases[i].after);
        struct index_change change =
            change_between(arena, &index_fixture_table, index, before, after);
        if (change.type != cases[i].type || change.size_before != cases[i].size_before ||
            change.size_after != cases[i].size_after)
            fail_msg("case %zu: %d %zu %zu", i, (int)change.type, change.size_before,
                     change.size_after);
        if (change.type == INDEX_CHANGE_REMOVE || change.type == INDEX_CHANGE_MOVE)
            assert_entry(arena, index, before, &change.removed);
        if (change.type == INDEX_CHANGE_NONE || change.type == INDEX_CHANGE_REMOVE)
            continue;
        assert_entry(arena, index, after, &change.stored);
        struct item want = index_entry_project(arena, &index_fixture_table, index, after);
        assert_true(bytes_equal(change.entry.encoded, want.encoded));
    }
    arena_destroy(arena);
}

/* Entries that go, and those that stay, are not made: there may be thousands in one write. */
static void only_what_is_stored_takes_memory(void **state)
{
    enum { LARGE = 300 * 1024 };
    (void)state;
    struct arena *arena = arena_create();
    char *x = arena_alloc(arena, LARGE + 1);
    memset(x, 'x', LARGE);
    x[LARGE] = 0;
    const char *format =
        "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'},'z':{'S':'%d'},'x':{'S':'%s'}}";
    struct bytes json[2] = { arena_printf(arena, format, 1, x), arena_printf(arena, format, 2, x) };
    const struct item *before = read_item(arena, (const char *)json[0].data);
    const struct item *after = read_item(arena, (const char *)json[1].data);
    const struct index_definition *index = &index_fixture_table.indexes[INDEX_FIXTURE_LOCAL];
    struct arena *used = arena_create();
    for (int i = 0; i < 2; i++) {
        struct index_change change =
            change_between(used, &index_fixture_table, index, before, i == 0 ? NULL : after);
        assert_int_equal(change.type, i == 0 ? INDEX_CHANGE_REMOVE : INDEX_CHANGE_NONE);
        assert_true(arena_held_size(used) < LARGE);
    }
    arena_destroy(used);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_an_item_is_one_change_of_its_entry),
        cmocka_unit_test(only_what_is_stored_takes_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
