/* test_lookup_values.c -- a long IN is sorted once, and finds exactly what a walk finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "expr/ast.h"
#include "expr/condition.h"
#include "expr/lookup.h"
#include "expr/legacy.h"
#include "item_fixture.h"
#include "model/error.h"
#include "model/item.h"

/* --- Random values --- */

/* A template with the number in place of '#', as the attribute "v" of an item. */
static const char *item_json(struct arena *arena, const char *value, int number)
{
    struct buffer json;
    buffer_init(&json, arena);
    buffer_append_bytes(&json, BYTES("{'v':"));
    for (; *value != 0; value++) {
        if (*value == '#')
            buffer_append_bytes(&json, arena_printf(arena, "%d", number));
        else
            buffer_append_byte(&json, (uint8_t)*value);
    }
    buffer_append(&json, "}", 2);
    return (const char *)json.data;
}

/* Of every type, and often equal: numbers in several notations, sets in any order, texts that begin
 * alike for longer than a machine word. */
static const char *random_json(struct arena *arena, struct random *random)
{
    static const char *const numbers[] = { "{'N':'#'}",  "{'N':'#.0'}", "{'N':'#E0'}",
                                           "{'N':'-#'}", "{'N':'0.#'}", "{'N':'#0E-1'}" };
    static const char *const texts[] = { "{'S':'#'}",
                                         "{'S':'prefix of all #'}",
                                         "{'S':'\\u0000#'}",
                                         "{'S':''}",
                                         "{'B':'AAAAAAAAAAAAAA=='}",
                                         "{'B':'AAAAAAAAAAA='}",
                                         "{'B':''}",
                                         "{'BOOL':true}",
                                         "{'BOOL':false}",
                                         "{'NULL':true}",
                                         "{'SS':['#','b']}",
                                         "{'SS':['b','#']}",
                                         "{'NS':['#','7.50']}",
                                         "{'NS':['7.5','#.00']}",
                                         "{'BS':['AA==']}",
                                         "{'L':[]}",
                                         "{'L':[{'N':'#'},{'S':'x'}]}",
                                         "{'M':{}}",
                                         "{'M':{'a':{'N':'#'},'b':{'S':'y'}}}",
                                         "{'M':{'b':{'S':'y'},'a':{'N':'#.0'}}}" };
    const char *value = texts[random_below(random, COUNT_OF(texts))];
    if (random_below(random, 3) == 0)
        value = numbers[random_below(random, COUNT_OF(numbers))];
    return item_json(arena, value, 10 + (int)random_below(random, 30));
}

static struct item random_item(struct arena *arena, struct random *random)
{
    return item_fixture_read(arena, random_json(arena, random));
}

static struct value value_of(const struct item *item)
{
    struct value value;
    assert_true(item_find(item, BYTES("v"), &value));
    return value;
}

/* --- Conditions --- */

static struct condition condition_of(struct arena *arena, const struct value *values, size_t count)
{
    static const struct path_step step = { .name = { (const uint8_t *)"v", 1 } };
    struct operand *operands = arena_alloc_zeroed(arena, (1 + count) * sizeof *operands);
    operands[0].type = OPERAND_PATH;
    operands[0].path = (struct path){ .steps = &step, .step_count = 1 };
    for (size_t i = 0; i < count; i++) {
        operands[1 + i].type = OPERAND_VALUE;
        operands[1 + i].value = values[i];
    }
    return (struct condition){ .type = CONDITION_IN,
                               .operands = operands,
                               .operand_count = 1 + count,
                               .list = lookup_values_of_operands(arena, operands + 1, count) };
}

static bool matches(struct arena *arena, const struct condition *condition, const struct item *item)
{
    struct lookup lookup;
    lookup_init(&lookup, arena, item);
    return condition_matches(condition, &lookup);
}

static void a_sorted_list_finds_what_a_walk_finds(void **state)
{
    enum { LISTS = 60, QUESTIONS = 100, COUNT_MAX = 300 };
    struct arena *arena = *state;
    struct random random;
    size_t found = 0, missed = 0;
    random_init(&random, 15);
    for (int round = 0; round < LISTS; round++) {
        size_t count = LOOKUP_VALUES_SHORT_MAX + 1 + random_below(&random, COUNT_MAX);
        struct value *values = arena_alloc(arena, count * sizeof *values);
        for (size_t i = 0; i < count; i++) {
            struct item item = random_item(arena, &random);
            values[i] = value_of(&item);
        }
        struct condition sorted = condition_of(arena, values, count), walked = sorted;
        assert_non_null(sorted.list);
        walked.list = NULL;
        for (int i = 0; i < QUESTIONS; i++) {
            struct item item = random_item(arena, &random);
            bool want = matches(arena, &walked, &item);
            if (matches(arena, &sorted, &item) != want)
                fail_msg("list %d: %.*s", round, BYTES_FMT(item_fixture_write(arena, &item)));
            found += want;
            missed += !want;
        }
    }
    assert_true(found > 100 && missed > 100); /* Or the values prove nothing. */
}

static void short_lists_and_lists_with_paths_are_walked(void **state)
{
    struct arena *arena = *state;
    struct operand *operands =
        arena_alloc_zeroed(arena, (LOOKUP_VALUES_SHORT_MAX + 1) * sizeof *operands);
    for (size_t i = 0; i <= LOOKUP_VALUES_SHORT_MAX; i++)
        operands[i].type = OPERAND_VALUE;
    assert_null(lookup_values_of_operands(arena, operands, LOOKUP_VALUES_SHORT_MAX - 1));
    assert_null(lookup_values_of_operands(arena, operands, LOOKUP_VALUES_SHORT_MAX));
    assert_non_null(lookup_values_of_operands(arena, operands, LOOKUP_VALUES_SHORT_MAX + 1));
    operands[LOOKUP_VALUES_SHORT_MAX].type = OPERAND_PATH;
    assert_null(lookup_values_of_operands(arena, operands, LOOKUP_VALUES_SHORT_MAX + 1));
}

/* --- Work --- */

/* A filter of the older form, which has no limit but that of the request. */
static void a_scan_with_a_long_list_costs_a_search_for_each_item(void **state)
{
    enum { VALUES = 50000, ITEMS = 8000 };
    struct arena *arena = *state;
    struct error err;
    struct value *values = arena_alloc(arena, VALUES * sizeof *values);
    for (size_t i = 0; i < VALUES; i++) {
        struct buffer text;
        buffer_init(&text, arena);
        value_append_string(&text, arena_printf(arena, "value %zu", 2 * i));
        values[i] = value_view(buffer_bytes(&text));
    }
    struct legacy_condition legacy = { .name = BYTES("v"),
                                       .comparison_operator = BYTES("IN"),
                                       .values = values,
                                       .value_count = VALUES,
                                       .values_present = true };
    error_init(&err, arena);
    const struct condition *filter = legacy_condition_filter(arena, &legacy, 1, LEGACY_AND, &err);
    assert_non_null(filter);
    struct lookup lookup;
    lookup_init(&lookup, arena, NULL);
    for (size_t i = 0; i < ITEMS; i++) {
        struct item_builder builder;
        struct buffer text;
        buffer_init(&text, arena);
        value_append_string(&text, arena_printf(arena, "value %zu", i));
        item_builder_init(&builder, arena);
        item_builder_add(&builder, BYTES("v"), buffer_bytes(&text));
        struct item item = item_builder_finish(&builder);
        lookup_next_item(&lookup, &item);
        assert_int_equal(condition_matches(filter, &lookup), i % 2 == 0);
    }
    uint64_t walks = (uint64_t)LOOKUP_VALUES_WALKS_MAX * VALUES * LOOKUP_WORK_MEMBER;
    uint64_t sorting = (uint64_t)VALUES * LOOKUP_WORK_SORTED;
    uint64_t searches = (uint64_t)ITEMS * 2 * LOOKUP_WORK_SORTED;
    assert_in_range(lookup.work, sorting, walks + sorting + searches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_sorted_list_finds_what_a_walk_finds),
        ARENA_TEST(short_lists_and_lists_with_paths_are_walked),
        ARENA_TEST(a_scan_with_a_long_list_costs_a_search_for_each_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
