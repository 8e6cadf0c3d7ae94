/* test_condition_texts.c -- contains() on long texts, many at once: the same answers, less work. */
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "expr/ast.h"
#include "expr/condition.h"
#include "expr/condition_texts.h"
#include "expr/lookup.h"
#include "expr/text_search.h"
#include "model/item.h"

enum {
    LONG = CONDITION_TEXTS_LONG_MIN,
    HUGE_TEXT = TEXT_SEARCH_SIZE_MAX + 1, /* Never looked for with others. */
    CONTAINS_MAX = 60,
};

static struct bytes string_value(struct arena *arena, struct bytes text, bool binary)
{
    struct buffer value;
    buffer_init(&value, arena);
    if (binary)
        value_append_binary(&value, text);
    else
        value_append_string(&value, text);
    return buffer_bytes(&value);
}

static struct bytes random_text(struct arena *arena, struct random *random, size_t size)
{
    uint8_t *text = arena_alloc(arena, size);
    for (size_t i = 0; i < size; i++)
        text[i] = (uint8_t)('a' + random_below(random, 2));
    return bytes_of(text, size);
}

/* Texts of two letters: "h0" is long, "h1" so long that it is searched for alone, "b" is binary and
 * long, "s" is just too short to count, and "n0" to "n3" are what they may contain. */
static struct item random_item(struct arena *arena, struct random *random)
{
    static const struct {
        const char *name;
        size_t size;
    } attributes[] = { { "b", LONG }, { "h0", LONG }, { "h1", HUGE_TEXT }, { "n0", 8 },
                       { "n1", 14 },  { "n2", 20 },   { "n3", LONG + 5 },  { "s", LONG - 1 } };
    struct item_builder builder;
    item_builder_init(&builder, arena);
    for (size_t i = 0; i < COUNT_OF(attributes); i++) {
        struct bytes text = random_text(arena, random, attributes[i].size);
        if (random_below(random, 10) > 0)
            item_builder_add(&builder, bytes_from_text(attributes[i].name),
                             string_value(arena, text, attributes[i].name[0] == 'b'));
    }
    return item_builder_finish(&builder);
}

static struct path path_of(struct arena *arena, const char *name)
{
    struct path_step *step = arena_alloc(arena, sizeof *step);
    *step = (struct path_step){ .name = bytes_from_text(name) };
    return (struct path){ .steps = step, .step_count = 1 };
}

static const struct condition *random_contains(struct arena *arena, struct random *random)
{
    static const char *const haystacks[] = { "h0", "h0", "h1", "b", "s" };
    static const char *const needles[] = { "n0", "n1", "n2", "n3", "h1", "missing" };
    struct operand *operands = arena_alloc_zeroed(arena, 2 * sizeof *operands);
    operands[0].path = path_of(arena, haystacks[random_below(random, COUNT_OF(haystacks))]);
    if (random_below(random, 4) == 0) {
        operands[1].path = path_of(arena, needles[random_below(random, COUNT_OF(needles))]);
    } else {
        struct bytes text = random_text(arena, random, random_below(random, 18));
        operands[1].type = OPERAND_VALUE;
        operands[1].value = value_view(string_value(arena, text, random_below(random, 5) == 0));
    }
    static_assert(OPERAND_PATH == 0, "what is zeroed is a path");
    struct condition *contains = arena_alloc_zeroed(arena, sizeof *contains);
    contains->type = CONDITION_CONTAINS;
    contains->operands = operands;
    contains->operand_count = 2;
    return contains;
}

static const struct condition *join(struct arena *arena, enum condition_type type,
                                    const struct condition *left, const struct condition *right)
{
    struct condition *condition = arena_alloc_zeroed(arena, sizeof *condition);
    *condition = (struct condition){ .type = type, .left = left, .right = right };
    return condition;
}

/* By a search of its own. */
static bool is_met_alone(struct arena *arena, const struct condition *contains,
                         const struct item *item)
{
    struct lookup lookup;
    lookup_init(&lookup, arena, item);
    return condition_matches(contains, &lookup);
}

/* A condition that demands of each contains() what it is for one item: it is met by that item, and
 * by another one if all of them are the same there. */
static void many_searches_at_once_answer_like_single_ones(void **state)
{
    enum { ROUNDS = 40, ITEMS = 3 };
    struct arena *arena = *state;
    struct random random;
    size_t met = 0;
    random_init(&random, 15);
    for (int round = 0; round < ROUNDS; round++) {
        struct item items[ITEMS];
        const struct condition *contains[CONTAINS_MAX], *root = NULL;
        bool want[CONTAINS_MAX];
        struct lookup lookup;
        for (size_t i = 0; i < ITEMS; i++)
            items[i] = random_item(arena, &random);
        for (size_t i = 0; i < CONTAINS_MAX; i++) {
            contains[i] = random_contains(arena, &random);
            want[i] = is_met_alone(arena, contains[i], &items[0]);
            met += want[i];
            const struct condition *term =
                want[i] ? contains[i] : join(arena, CONDITION_NOT, contains[i], NULL);
            root = root == NULL ? term : join(arena, CONDITION_AND, root, term);
        }
        lookup_init(&lookup, arena, NULL);
        for (size_t turn = 0; turn <= ITEMS; turn++) {
            const struct item *item = &items[turn % ITEMS];
            bool expected = true;
            for (size_t i = 0; i < CONTAINS_MAX; i++)
                expected = expected && is_met_alone(arena, contains[i], item) == want[i];
            lookup_next_item(&lookup, item);
            assert_int_equal(condition_matches(root, &lookup), expected);
        }
        arena_reset(arena);
    }
    assert_in_range(met, ROUNDS, ROUNDS * (CONTAINS_MAX - 1));
}

/* Two hundred texts in one of 390 KB, which single searches take 375 ms for. */
static void two_hundred_searches_cost_a_few_passes(void **state)
{
    enum { COUNT = 200, SIZE = 390 * 1024, NEEDLE = 300 };
    struct arena *arena = *state;
    struct random random;
    random_init(&random, 1);
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_builder_add(&builder, BYTES("h0"),
                     string_value(arena, random_text(arena, &random, SIZE), false));
    struct item item = item_builder_finish(&builder);
    const struct condition *root = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        struct operand *operands = arena_alloc_zeroed(arena, 2 * sizeof *operands);
        struct condition *contains = arena_alloc_zeroed(arena, sizeof *contains);
        operands[0].path = path_of(arena, "h0");
        operands[1].type = OPERAND_VALUE;
        operands[1].value =
            value_view(string_value(arena, random_text(arena, &random, NEEDLE), false));
        *contains = (struct condition){ .type = CONDITION_CONTAINS,
                                        .operands = operands,
                                        .operand_count = 2 };
        root = root == NULL ? contains : join(arena, CONDITION_OR, root, contains);
    }
    struct lookup lookup;
    lookup_init(&lookup, arena, &item);
    assert_false(condition_matches(root, &lookup));
    uint64_t single = (uint64_t)CONDITION_TEXTS_SEARCHES_MAX * SIZE;
    uint64_t at_once = (uint64_t)(SIZE + COUNT * NEEDLE) * LOOKUP_WORK_SEARCHED_BYTE;
    uint64_t conditions = (uint64_t)2 * COUNT * (LOOKUP_WORK_CONDITION + LOOKUP_WORK_MEMBER);
    uint64_t sorted = COUNT * (LOOKUP_WORK_SORTED + NEEDLE);
    assert_in_range(lookup.work, at_once, single + at_once + conditions + sorted);
}

static const char *const short_names[] = { "n0", "n1", "n2", "n3" };

/* contains(h0, `needle`) `count` times, joined by OR. `needle` NULL: n0 to n3 in turn. */
static const struct condition *contains_often(struct arena *arena, size_t count,
                                              const struct value *needle)
{
    const struct condition *root = NULL;
    for (size_t i = 0; i < count; i++) {
        struct operand *operands = arena_alloc_zeroed(arena, 2 * sizeof *operands);
        struct condition *contains = arena_alloc_zeroed(arena, sizeof *contains);
        operands[0].path = path_of(arena, "h0");
        operands[1].path = path_of(arena, short_names[i % COUNT_OF(short_names)]);
        if (needle != NULL) {
            operands[1].type = OPERAND_VALUE;
            operands[1].value = *needle;
        }
        *contains = (struct condition){ .type = CONDITION_CONTAINS,
                                        .operands = operands,
                                        .operand_count = 2 };
        root = root == NULL ? contains : join(arena, CONDITION_OR, root, contains);
    }
    return root;
}

static struct bytes all_x(struct arena *arena, size_t size, char last)
{
    uint8_t *text = arena_alloc(arena, size);
    memset(text, 'x', size);
    text[size - 1] = (uint8_t)last;
    return bytes_of(text, size);
}

/* One that is too long to be looked for with others. */
static void equal_long_texts_are_searched_once_and_take_no_room(void **state)
{
    enum { COUNT = 149, SIZE = 390 * 1000, ROOM = 512 * 1024 };
    struct arena *arena = *state, *used = arena_create();
    struct value needle = value_view(string_value(arena, all_x(arena, SIZE - 2, 'y'), false));
    const struct condition *root = contains_often(arena, COUNT, &needle);
    for (int round = 0; round < 2; round++) {
        struct item_builder builder;
        struct lookup lookup;
        bool contains = round == 1;
        item_builder_init(&builder, arena);
        item_builder_add(&builder, BYTES("h0"),
                         string_value(arena, all_x(arena, SIZE, contains ? 'y' : 'x'), false));
        struct item item = item_builder_finish(&builder);
        lookup_init(&lookup, used, &item);
        assert_int_equal(condition_matches(root, &lookup), contains);
        uint64_t searches = (uint64_t)(CONDITION_TEXTS_SEARCHES_MAX + 1) * 2 * SIZE;
        uint64_t others = (uint64_t)COUNT * (SIZE / LOOKUP_WORK_COMPARED_BYTES + 500);
        assert_in_range(lookup.work, contains ? SIZE : searches - 100, searches + others);
    }
    assert_true(arena_held_size(used) <= ROOM);
    arena_destroy(used);
}

/* The texts are attributes, which are others and longer in each item. */
static void room_for_texts_is_used_again_for_the_next_item(void **state)
{
    enum { COUNT = 40, ITEMS = 200, WARM = 100 };
    struct arena *arena = *state, *used = arena_create();
    struct random random;
    struct lookup lookup;
    size_t held = 0;
    random_init(&random, 7);
    const struct condition *root = contains_often(arena, COUNT, NULL);
    struct arena *stored = arena_create();
    lookup_init(&lookup, used, NULL);
    for (size_t i = 0; i < ITEMS; i++) {
        struct item_builder builder;
        item_builder_init(&builder, stored);
        item_builder_add(&builder, BYTES("h0"),
                         string_value(stored, random_text(stored, &random, LONG), false));
        for (size_t n = 0; n < COUNT_OF(short_names); n++)
            item_builder_add(&builder, bytes_from_text(short_names[n]),
                             string_value(stored, random_text(stored, &random, 1100 + i), false));
        struct item item = item_builder_finish(&builder);
        lookup_next_item(&lookup, &item);
        assert_false(condition_matches(root, &lookup));
        if (i == WARM)
            held = arena_held_size(used);
        arena_reset(stored);
    }
    assert_int_equal(arena_held_size(used), held);
    arena_destroy(stored);
    arena_destroy(used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(many_searches_at_once_answer_like_single_ones),
        ARENA_TEST(two_hundred_searches_cost_a_few_passes),
        ARENA_TEST(equal_long_texts_are_searched_once_and_take_no_room),
        ARENA_TEST(room_for_texts_is_used_again_for_the_next_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
