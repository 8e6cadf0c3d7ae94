/* test_lookup.c -- what is found in small and large containers, and how much is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/condition.h"
#include "expr/legacy.h"
#include "expr/lookup.h"
#include "item_fixture.h"
#include "model/error.h"
#include "model/item.h"

enum {
    LARGE = 30000,
    HALVINGS = 15, /* LARGE is less than 2 to this power. */
    /* What a large container costs, however often it is asked, beside the halvings. */
    WALKS = (LOOKUP_WALKS_MAX + 1) * LARGE,
};

/* An even number is there, an odd one is missing: so is what lies between two that are there. */
static struct bytes name_of(struct arena *arena, size_t number)
{
    return arena_printf(arena, "n%05zu", number);
}

/* Members n00000, n00002, ..., each a string of its own name; an item's attributes or a map's. */
static struct item large_item(struct arena *arena, size_t count)
{
    struct item_builder builder;
    item_builder_init(&builder, arena);
    for (size_t i = 0; i < count; i++) {
        struct buffer value;
        buffer_init(&value, arena);
        value_append_string(&value, name_of(arena, 2 * i));
        item_builder_add(&builder, name_of(arena, 2 * i), buffer_bytes(&value));
    }
    return item_builder_finish(&builder);
}

/* An item whose one attribute "c" holds `count` elements, of one type of container. */
static struct item item_of_container(struct arena *arena, enum value_type type, size_t count)
{
    struct buffer elements, value;
    struct item_builder builder;
    buffer_init(&elements, arena);
    buffer_init(&value, arena);
    if (type == VALUE_M)
        buffer_append_bytes(&elements, large_item(arena, count).attributes);
    for (size_t i = 0; i < count && type != VALUE_M; i++) {
        if (type == VALUE_L)
            value_append_string(&elements, name_of(arena, 2 * i));
        else
            value_append_length_prefixed(&elements, name_of(arena, 2 * i));
    }
    value_append_container(&value, type, (uint32_t)count, buffer_bytes(&elements));
    item_builder_init(&builder, arena);
    item_builder_add(&builder, BYTES("c"), buffer_bytes(&value));
    return item_builder_finish(&builder);
}

static bool find(struct lookup *lookup, const struct path_step *steps, size_t count,
                 struct bytes *found)
{
    struct path path = { .steps = steps, .step_count = count };
    struct value value = { 0 };
    bool ok = lookup_path(lookup, &path, &value);
    *found = value.data;
    return ok;
}

/* Asks for everything that is there and for as much that is not, from both ends in turn, so that no
 * order helps. */
static void check_names(struct lookup *lookup, struct arena *arena, struct path_step *steps,
                        size_t depth, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        size_t number = i % 2 == 0 ? i : 2 * count - i;
        struct bytes found;
        steps[depth - 1].name = name_of(arena, number);
        bool is_there = number % 2 == 0 && number < 2 * count;
        assert_int_equal(find(lookup, steps, depth, &found), is_there);
        if (is_there)
            assert_true(bytes_equal(found, steps[depth - 1].name));
    }
}

static const size_t sizes[] = { 1, LOOKUP_SMALL_MAX, LOOKUP_SMALL_MAX + 1, 1000 };

static void members_are_found_in_containers_of_any_size(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct lookup lookup;
        struct path_step steps[2] = { { .name = BYTES("c") } };
        struct bytes found;
        struct item item = large_item(arena, sizes[i]);
        lookup_init(&lookup, arena, &item);
        check_names(&lookup, arena, steps, 1, sizes[i]);

        steps[0].name = BYTES("c");
        item = item_of_container(arena, VALUE_M, sizes[i]);
        lookup_next_item(&lookup, &item);
        check_names(&lookup, arena, steps, 2, sizes[i]);

        item = item_of_container(arena, VALUE_L, sizes[i]);
        lookup_next_item(&lookup, &item);
        steps[1] = (struct path_step){ .index = 0 };
        for (; steps[1].index < sizes[i]; steps[1].index++) {
            assert_true(find(&lookup, steps, 2, &found));
            assert_true(bytes_equal(found, name_of(arena, 2 * steps[1].index)));
        }
        assert_false(find(&lookup, steps, 2, &found));
        steps[1] = (struct path_step){ .name = BYTES("n00000") };
        assert_false(find(&lookup, steps, 2, &found));
    }
}

static bool has(struct lookup *lookup, const struct value *container, const struct value *wanted)
{
    return container->type == VALUE_L ? lookup_list_has(lookup, container, wanted)
                                      : lookup_set_has(lookup, container, wanted);
}

static const enum value_type kinds[] = { VALUE_SS, VALUE_L };

static void members_of_sets_and_lists_are_found_by_content_and_type(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(sizes) * COUNT_OF(kinds); i++) {
        size_t size = sizes[i / COUNT_OF(kinds)];
        struct lookup lookup;
        struct value container;
        struct item item = item_of_container(arena, kinds[i % COUNT_OF(kinds)], size);
        lookup_init(&lookup, arena, &item);
        assert_true(item_find(&item, BYTES("c"), &container));
        for (size_t number = 0; number < 2 * size; number++) {
            struct value wanted = { .type = VALUE_S, .data = name_of(arena, number) };
            assert_int_equal(has(&lookup, &container, &wanted), number % 2 == 0);
            wanted.type = VALUE_B;
            assert_false(has(&lookup, &container, &wanted));
        }
    }
}

/* Of all types, twice each, in an order that is not sorted; each is found, and its neighbours in
 * any order are not taken for it. */
static void a_list_of_mixed_values_has_each_of_them(void **state)
{
    static const char values[] =
        "{'b':{'L':[{'S':'b'},{'B':'YQ=='},{'N':'2'},{'BOOL':true},{'NULL':true},{'S':''},"
        "{'L':[]},{'M':{}},{'SS':['a']},{'NS':['1']},{'BS':['YQ==']},{'L':[{'S':'a'}]},"
        "{'S':'a'},{'N':'1'}]},"
        "'not':{'L':[{'BOOL':false},{'S':'c'},{'B':'Yg=='},{'N':'3'},{'L':[{'S':'b'}]},"
        "{'M':{'a':{'S':'a'}}},{'SS':['b']},{'NS':['2']},{'BS':['Yg==']}]}}";
    struct arena *arena = *state;
    struct item item = item_fixture_read(arena, values);
    struct value there, missing, list, value;
    struct value_iter iter;
    struct buffer elements;
    struct lookup lookup;
    assert_true(item_find(&item, BYTES("b"), &there));
    assert_true(item_find(&item, BYTES("not"), &missing));
    buffer_init(&elements, arena);
    enum { TIMES = LOOKUP_SMALL_MAX / 8 };
    for (size_t i = 0; i < TIMES; i++)
        buffer_append_bytes(&elements, there.data);
    value_wrap_container(&elements, 0, VALUE_L, TIMES * there.count);
    list = value_view(buffer_bytes(&elements));
    lookup_init(&lookup, arena, &item);
    for (size_t round = 0; round < LOOKUP_WALKS_MAX; round++) {
        value_iter_init(&iter, &there);
        while (value_iter_next(&iter, NULL, &value))
            assert_true(lookup_list_has(&lookup, &list, &value));
        value_iter_init(&iter, &missing);
        while (value_iter_next(&iter, NULL, &value))
            assert_false(lookup_list_has(&lookup, &list, &value));
    }
}

static void many_containers_of_one_item_are_told_apart(void **state)
{
    struct arena *arena = *state;
    enum { LISTS = 100, ELEMENTS = LOOKUP_SMALL_MAX + 1, ROUNDS = LOOKUP_WALKS_MAX + 2 };
    struct item_builder builder;
    item_builder_init(&builder, arena);
    for (size_t i = 0; i < LISTS; i++) {
        struct buffer elements, value;
        buffer_init(&elements, arena);
        buffer_init(&value, arena);
        for (size_t j = 0; j < ELEMENTS; j++)
            value_append_string(&elements, name_of(arena, 100 * i + j));
        value_append_container(&value, VALUE_L, ELEMENTS, buffer_bytes(&elements));
        item_builder_add(&builder, name_of(arena, i), buffer_bytes(&value));
    }
    struct item item = item_builder_finish(&builder);
    struct lookup lookup;
    lookup_init(&lookup, arena, &item);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < LISTS; i++) {
            struct path_step steps[2] = { { .name = name_of(arena, i) },
                                          { .index = (uint32_t)round } };
            struct bytes found;
            assert_true(find(&lookup, steps, 2, &found));
            assert_true(bytes_equal(found, name_of(arena, 100 * i + round)));
        }
    }
}

/* --- The bound --- */

static void asking_often_costs_a_few_walks_and_a_logarithm_each(void **state)
{
    struct arena *arena = *state;
    static const enum value_type types[] = { VALUE_M, VALUE_SS, VALUE_L };
    struct lookup lookup;
    struct path_step steps[2] = { { .name = BYTES("c") } };
    struct item item = large_item(arena, LARGE);
    lookup_init(&lookup, arena, &item);
    check_names(&lookup, arena, steps, 1, LARGE);
    assert_in_range(lookup.step_count, 1, WALKS + 2 * LARGE * HALVINGS);

    steps[0].name = BYTES("c");
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct value container;
        item = item_of_container(arena, types[i], LARGE);
        lookup_init(&lookup, arena, &item);
        assert_true(item_find(&item, BYTES("c"), &container));
        for (size_t number = 0; number < 2 * LARGE; number++) {
            struct value wanted = { .type = VALUE_S, .data = name_of(arena, number) };
            struct bytes found;
            steps[1].name = wanted.data;
            assert_int_equal(types[i] == VALUE_M ? find(&lookup, steps, 2, &found)
                                                 : has(&lookup, &container, &wanted),
                             number % 2 == 0);
        }
        assert_in_range(lookup.step_count, 1, WALKS + 2 * LARGE * HALVINGS);
    }

    item = item_of_container(arena, VALUE_L, LARGE);
    lookup_init(&lookup, arena, &item);
    for (uint32_t i = 0; i < LARGE; i++) {
        struct bytes found;
        steps[1] = (struct path_step){ .index = LARGE - 1 - i };
        assert_true(find(&lookup, steps, 2, &found));
    }
    assert_in_range(lookup.step_count, 1, WALKS);
}

static void conditions_on_each_attribute_do_not_multiply_with_the_attributes(void **state)
{
    struct arena *arena = *state;
    struct item item = large_item(arena, LARGE);
    struct legacy_condition *conditions = arena_alloc_zeroed(arena, LARGE * sizeof *conditions);
    for (size_t i = 0; i < LARGE; i++) {
        conditions[i].name = name_of(arena, 2 * i);
        conditions[i].comparison_operator = BYTES("NOT_NULL");
    }
    struct error err;
    struct lookup lookup;
    error_init(&err, arena);
    const struct condition *condition =
        legacy_condition_filter(arena, conditions, LARGE, LEGACY_AND, &err);
    assert_non_null(condition);
    lookup_init(&lookup, arena, &item);
    assert_true(condition_matches(condition, &lookup));
    assert_in_range(lookup.step_count, LARGE, WALKS + LARGE * HALVINGS);
}

static void the_next_item_uses_the_room_of_the_one_before(void **state)
{
    struct arena *arena = *state;
    struct item item = large_item(arena, 1000);
    struct path_step step = { 0 };
    struct lookup lookup;
    size_t held = 0;
    lookup_init(&lookup, arena, &item);
    for (size_t round = 0; round < 100; round++) {
        struct bytes found;
        lookup_next_item(&lookup, &item);
        for (size_t i = 0; i < 2 * LOOKUP_WALKS_MAX; i++) {
            step.name = BYTES("n01000");
            assert_true(find(&lookup, &step, 1, &found));
        }
        if (round == 0)
            held = arena_held_size(arena);
    }
    assert_int_equal(arena_held_size(arena), held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(members_are_found_in_containers_of_any_size),
        ARENA_TEST(members_of_sets_and_lists_are_found_by_content_and_type),
        ARENA_TEST(a_list_of_mixed_values_has_each_of_them),
        ARENA_TEST(many_containers_of_one_item_are_told_apart),
        ARENA_TEST(asking_often_costs_a_few_walks_and_a_logarithm_each),
        ARENA_TEST(conditions_on_each_attribute_do_not_multiply_with_the_attributes),
        ARENA_TEST(the_next_item_uses_the_room_of_the_one_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
