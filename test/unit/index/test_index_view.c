/* test_index_view.c -- one walk over an item tells the same as a search for each name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "index/index_change.h"
#include "index/index_entry.h"
#include "index/index_view.h"
#include "index_fixture.h"
#include "item_fixture.h"
#include "model/index_names.h"

static const struct table_definition *const table = &index_fixture_table;

/* --- The same by searches --- */

static bool is_held(const struct index_definition *index, struct bytes name)
{
    return index_entry_projects(table, index, name);
}

static struct item slow_project(struct arena *arena, const struct index_definition *index,
                                const struct item *item)
{
    struct item_builder builder;
    struct item_iter iter;
    struct bytes name;
    struct value value;
    item_builder_init(&builder, arena);
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value)) {
        if (is_held(index, name))
            item_builder_add(&builder, name, value.encoded);
    }
    return item_builder_finish(&builder);
}

static bool slow_is_key(const struct key_attribute *attribute, const struct item *item,
                        size_t size_max)
{
    struct value value;
    return item_find(item, attribute->name, &value) && value.type == attribute->type &&
           (value.type == VALUE_N || (value.data.len > 0 && value.data.len <= size_max));
}

static bool slow_has_entry(const struct index_definition *index, const struct item *item)
{
    bool has = slow_is_key(&table->key.hash, item, PARTITION_KEY_SIZE_MAX) &&
               slow_is_key(&table->key.range, item, SORT_KEY_SIZE_MAX);
    for (size_t i = 0; i < index->hash_count; i++)
        has = has && slow_is_key(&index->hash[i], item, PARTITION_KEY_SIZE_MAX);
    for (size_t i = 0; i < index->range_count; i++)
        has = has && slow_is_key(&index->range[i], item, SORT_KEY_SIZE_MAX);
    return has;
}

/* --- Random items --- */

/* Names around those of the table and its indexes, and values that are often equal, of the right
 * type, or no keys. */
static struct item random_item(struct arena *arena, struct random *random)
{
    static const char *const names[] = { "a", "b",  "bb", "g", "gg", "h", "i", "l",
                                         "p", "pp", "q",  "s", "x",  "y", "z" };
    static const char *const values[] = {
        "{'S':'v'}", "{'S':'w'}", "{'S':''}",     "{'N':'1'}",        "{'N':'2'}",
        "{'B':''}",  "{'B':'A'}", "{'L':[]}",     "{'SS':['a','b']}", "{'M':{'p':{'S':'n'}}}",
        "{'S':'v'}", "{'N':'1'}", "{'B':'AA=='}", "{'NULL':true}",    "{'BOOL':false}",
    };
    struct buffer json;
    const char *comma = "";
    buffer_init(&json, arena);
    buffer_append_byte(&json, '{');
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *value = values[random_below(random, COUNT_OF(values))];
        if (names[i][1] == 0 && strchr("pgl", names[i][0]) != NULL && random_below(random, 4) > 0)
            value = values[random_below(random, 2)];
        if (names[i][1] == 0 && strchr("sh", names[i][0]) != NULL && random_below(random, 4) > 0)
            value = values[3 + random_below(random, 2)];
        if (names[i][0] == 'b' && names[i][1] == 0 && random_below(random, 4) > 0)
            value = "{'B':'AA=='}";
        if (random_below(random, 5) == 0 || strcmp(value, "{'B':'A'}") == 0)
            continue;
        buffer_append_bytes(&json, arena_printf(arena, "%s'%s':%s", comma, names[i], value));
        comma = ",";
    }
    buffer_append(&json, "}", 2);
    return item_fixture_read(arena, (const char *)json.data);
}

static void check_index(struct arena *arena, const struct index_comparison *comparison,
                        const struct index_definition *index)
{
    const struct item *before = comparison->before->item, *after = comparison->after->item;
    struct item old = slow_project(arena, index, before), new = slow_project(arena, index, after);
    bool had = slow_has_entry(index, before), has = slow_has_entry(index, after);
    struct item projected = index_view_project(arena, comparison->after, index);
    struct index_change change = index_change_between(arena, comparison, index);
    struct item_address place;
    assert_true(bytes_equal(projected.encoded, new.encoded));
    assert_int_equal(index_view_size(comparison->after, index), new.size);
    assert_int_equal(index_view_has_entry(comparison->after, index), has);
    assert_int_equal(index_view_locate(arena, comparison->after, index, &place), has);
    assert_int_equal(index_comparison_is_same(comparison, index),
                     bytes_equal(old.encoded, new.encoded));
    bool stores = has && (!had || !bytes_equal(old.encoded, new.encoded));
    assert_int_equal(change.type != INDEX_CHANGE_NONE && change.type != INDEX_CHANGE_REMOVE,
                     stores);
    assert_int_equal(change.type == INDEX_CHANGE_REMOVE, had && !has);
    if (change.type != INDEX_CHANGE_NONE) {
        assert_int_equal(change.size_before, had ? old.size : 0);
        assert_int_equal(change.size_after, has ? new.size : 0);
    }
}

static void a_walk_finds_what_searches_find(void **state)
{
    enum { ROUNDS = 3000 };
    (void)state;
    struct arena *arena = arena_create();
    struct random random;
    size_t entries = 0;
    random_init(&random, 15);
    for (int round = 0; round < ROUNDS; round++) {
        struct item before = random_item(arena, &random), after = random_item(arena, &random);
        struct index_view views[] = { index_view_open(arena, table, &before),
                                      index_view_open(arena, table, &after) };
        struct index_comparison comparison = index_comparison_of(arena, &views[0], &views[1]);
        for (size_t i = 0; i < table->index_count; i++) {
            check_index(arena, &comparison, &table->indexes[i]);
            entries += index_view_has_entry(&views[1], &table->indexes[i]);
        }
        arena_reset(arena);
    }
    assert_true(entries > ROUNDS / 2); /* Or the items are too odd to prove anything. */
    arena_destroy(arena);
}

/* --- Work --- */

static struct item wide_item(struct arena *arena, size_t count, const char *filler, char value)
{
    struct item_builder builder;
    struct item_iter iter;
    struct bytes name;
    struct value of_key;
    struct item keys = item_fixture_read(
        arena, "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'},'g':{'S':'G'},'h':{'N':'1'},"
               "'b':{'B':'AA=='},'x':{'S':'x'}}");
    item_builder_init(&builder, arena);
    item_iter_init(&iter, &keys);
    while (item_iter_next(&iter, &name, &of_key))
        item_builder_add(&builder, name, of_key.encoded);
    for (size_t i = 0; i < count; i++) {
        struct buffer text;
        buffer_init(&text, arena);
        value_append_string(&text, bytes_of(&value, 1));
        item_builder_add(&builder, arena_printf(arena, "%s%zu", filler, i), buffer_bytes(&text));
    }
    return item_builder_finish(&builder);
}

/* Whatever the number of indexes, each attribute is passed once at most. */
static void an_item_is_walked_once_for_all_indexes(void **state)
{
    enum { COUNT = 5000 };
    (void)state;
    struct arena *arena = arena_create();
    struct item before = wide_item(arena, COUNT, "m", '1'),
                after = wide_item(arena, COUNT, "m", '2');
    struct index_view views[] = { index_view_open(arena, table, &before),
                                  index_view_open(arena, table, &after) };
    struct index_comparison comparison = index_comparison_of(arena, &views[0], &views[1]);
    for (size_t i = 0; i < table->index_count; i++) {
        /* The attributes that differ are in no entry but that which holds everything. */
        struct index_change change = index_change_between(arena, &comparison, &table->indexes[i]);
        assert_int_equal(change.type,
                         i == INDEX_FIXTURE_ALL ? INDEX_CHANGE_UPDATE : INDEX_CHANGE_NONE);
    }
    assert_in_range(views[0].step_count, COUNT, before.count);
    assert_in_range(views[1].step_count, COUNT, after.count);
    /* What lies behind the last name that an index looks at is not walked at all. */
    struct item beyond = wide_item(arena, COUNT, "z", '1');
    struct index_view short_walk = index_view_open(arena, table, &beyond);
    assert_in_range(short_walk.step_count, 1, 8);
    arena_destroy(arena);
}

/* Views rely on the items' bytes only where an index looks at them: a second walk would meet
 * damage here. */
static void nothing_is_searched_after_the_walk(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct item item = wide_item(arena, 100, "m", '1');
    uint8_t *bytes = arena_alloc(arena, item.encoded.len);
    memcpy(bytes, item.encoded.data, item.encoded.len);
    struct item copy = item;
    copy.encoded.data = bytes;
    copy.attributes.data = bytes + (item.attributes.data - item.encoded.data);
    struct index_view view = index_view_open(arena, table, &copy);
    const struct index_definition *index = &table->indexes[INDEX_FIXTURE_KEYS];
    struct item want = index_view_project(arena, &view, index);
    bytes[copy.attributes.data - bytes] = 0xFF; /* The first name's length. */
    struct item again = index_view_project(arena, &view, index);
    assert_true(bytes_equal(want.encoded, again.encoded));
    assert_true(index_view_has_entry(&view, index));
    arena_destroy(arena);
}

static void names_are_sorted_and_distinct(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct index_names *names = index_names_create(arena, table);
    struct buffer text;
    buffer_init(&text, arena);
    for (size_t i = 0; i < names->count; i++)
        buffer_append_bytes(&text, names->names[i]);
    assert_true(bytes_equal_text(buffer_bytes(&text), "bghlpsxy"));
    const struct index_positions *local = &names->indexes[INDEX_FIXTURE_LOCAL];
    static const uint16_t held[] = { 3, 4, 5, 6, 7 }; /* l, p, s, x, y */
    assert_int_equal(local->held_count, COUNT_OF(held));
    assert_memory_equal(local->held, held, sizeof held);
    struct table_definition without = *table;
    without.index_count = 0;
    assert_null(index_names_create(arena, &without));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_finds_what_searches_find),
        cmocka_unit_test(an_item_is_walked_once_for_all_indexes),
        cmocka_unit_test(nothing_is_searched_after_the_walk),
        cmocka_unit_test(names_are_sorted_and_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
