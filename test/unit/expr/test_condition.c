/* test_condition.c -- which items meet which conditions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/condition.h"
#include "expr/condition_parse.h"
#include "expr/lookup.h"
#include "expr_text.h"
#include "item_fixture.h"
#include "model/error.h"

/* Attributes are named after their types. */
#define ITEM                                                                                       \
    "{'str':{'S':'h\xC3\xA9\xF0\x9F\x98\x80'},'num':{'N':'5'},'bin':{'B':'AAEC'},"                 \
    "'yes':{'BOOL':true},'nil':{'NULL':true},'lst':{'L':[{'S':'x'},{'N':'1'},{'M':{'k':{'S':"      \
    "'v'}}}]},'doc':{'M':{'k':{'S':'v'},'n':{'N':'2'}}},'strs':{'SS':['a','b']},"                  \
    "'nums':{'NS':['1','2.50']},'bins':{'BS':['AA==']},'gone':{'S':''},'five':{'N':'5.0'}}"
#define VALUES                                                                                     \
    "{':a':{'S':'a'},':h':{'S':'h'},':e':{'S':''},':x':{'S':'x'},':v':{'S':'v'},':0':{'N':'0'},"   \
    "':1':{'N':'1.0'},':2':{'N':'2'},':3':{'N':'3'},':4':{'N':'4'},':5':{'N':'5'},':6':{'N':'6'}," \
    "':25':{'N':'2.5'},':b':{'B':'AAE='},':c':{'B':'AQI='},':z':{'B':'AA=='},':t':{'BOOL':true},"  \
    "':f':{'BOOL':false},':nil':{'NULL':true},':l':{'L':[{'N':'5'}]},':m':{'M':{'n':{'N':'2'},"    \
    "'k':{'S':'v'}}},':ss':{'SS':['b','a']},':S':{'S':'S'},':NS':{'S':'NS'},':M':{'S':'M'}}"

static const struct {
    const char *text;
    bool want;
} cases[] = {
    /* Equality, of all types; numbers by value. */
    { "num = :5", true },
    { "num = five", true },
    { "num = :6", false },
    { "num <> :6", true },
    { "num <> :5", false },
    { "num = :a", false },
    { "num <> :a", true },
    { "yes = :t", true },
    { "yes = :f", false },
    { "nil = :nil", true },
    { "doc = :m", true },
    { "strs = :ss", true },
    { "lst = :l", false },
    { "lst[1] = :1", true },
    { "lst[2].k = doc.k", true },
    /* What is missing equals nothing, and differs from everything. */
    { "nope = :5", false },
    { "nope <> :5", true },
    { "nope <> nada", true },
    { "nope = nada", false },
    { "lst[3] = :1", false },
    { "doc.nope = :1", false },
    { "str.k = :1", false },
    { "str[0] = :1", false },
    { "doc[0] = :1", false },
    { "lst.k = :1", false },
    /* Order, of strings, numbers and binaries only, and within one type only. */
    { "num < :6", true },
    { "num < :5", false },
    { "num <= :5", true },
    { "num > :4", true },
    { "num >= :5", true },
    { "num >= :6", false },
    { "num < :x", false },
    { "num > :x", false },
    { "str > :a", true },
    { "bin > :b", true },
    { "nope < :5", false },
    { "nope > :5", false },
    { "lst < doc", false },
    { "nums <= strs", false },
    /* BETWEEN and IN. */
    { "num BETWEEN :5 AND :6", true },
    { "num BETWEEN :4 AND :5", true },
    { "num BETWEEN :1 AND :4", false },
    { "num BETWEEN :6 AND five", false },
    { "num BETWEEN :1 AND str", false },
    { "num IN (:a, :5)", true },
    { "num IN (:a, :6)", false },
    { "num IN (nope, five)", true },
    { "nope IN (nada)", false },
    /* Functions. */
    { "attribute_exists(num)", true },
    { "attribute_exists(gone)", true },
    { "attribute_exists(nope)", false },
    { "attribute_exists(lst[2].k)", true },
    { "attribute_exists(lst[2].nope)", false },
    { "attribute_not_exists(nope)", true },
    { "attribute_not_exists(num)", false },
    { "attribute_type(str, :S)", true },
    { "attribute_type(nums, :NS)", true },
    { "attribute_type(doc, :M)", true },
    { "attribute_type(num, :S)", false },
    { "attribute_type(nope, :S)", false },
    { "begins_with(str, :h)", true },
    { "begins_with(str, :e)", true },
    { "begins_with(str, :x)", false },
    { "begins_with(bin, :b)", true },
    { "begins_with(bin, :c)", false },
    { "begins_with(num, :a)", false },
    { "begins_with(nope, :a)", false },
    { "contains(str, :h)", true },
    { "contains(str, :e)", true },
    { "contains(str, :x)", false },
    { "contains(bin, :c)", true },
    { "contains(strs, :a)", true },
    { "contains(strs, :x)", false },
    { "contains(nums, :25)", true },
    { "contains(bins, :z)", true },
    { "contains(lst, :x)", true },
    { "contains(lst, :1)", true },
    { "contains(lst, num)", false },
    { "contains(num, :5)", false },
    { "contains(doc, :v)", false },
    { "contains(nope, :v)", false },
    { "contains(strs, :5)", false },
    /* size(): strings by UTF-16 units, binaries by bytes, containers by elements. */
    { "size(str) = :4", true },
    { "size(bin) = :3", true },
    { "size(lst) = :3", true },
    { "size(doc) = :2", true },
    { "size(strs) = :2", true },
    { "size(gone) = :0", true },
    { "size(lst[2].k) = :1", true },
    { "size(num) > :0", false },
    { "size(num) <> :0", true },
    { "size(nope) > :0", false },
    { "size(strs) < size(lst)", true },
    /* NOT binds tighter than AND, and AND tighter than OR. */
    { "NOT num = :5", false },
    { "NOT num = :6 AND num = :5", true },
    { "num = :5 OR num = :6 AND num = :1", true },
    { "(num = :5 OR num = :6) AND num = :1", false },
    { "NOT (num = :5 AND num = :6)", true },
    { "num = :6 OR NOT nope = :5", true },
};

static const struct condition *parse(struct arena *arena, const char *text)
{
    struct expr_params params;
    struct error err;
    error_init(&err, arena);
    const char *values = (const char *)item_fixture_text(arena, VALUES).data;
    assert_true(expr_text_params(arena, NULL, values, &params, &err));
    const struct condition *condition =
        condition_parse(arena, bytes_from_text(text), "ConditionExpression", &params, &err);
    if (condition == NULL)
        fail_msg("%s: %.*s", text, BYTES_FMT(err.message));
    return condition;
}

/* `item` NULL: there is none. */
static bool holds(struct arena *arena, const struct condition *condition, const struct item *item)
{
    struct lookup lookup;
    lookup_init(&lookup, arena, item);
    return condition_matches(condition, &lookup);
}

static void conditions_hold_as_the_service_says(void **state)
{
    struct arena *arena = *state;
    struct item item = item_fixture_read(arena, ITEM);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (holds(arena, parse(arena, cases[i].text), &item) != cases[i].want)
            fail_msg("%s is not %s", cases[i].text, cases[i].want ? "true" : "false");
}

static void an_item_that_does_not_exist_has_no_attributes(void **state)
{
    struct arena *arena = *state;
    assert_true(holds(arena, parse(arena, "attribute_not_exists(num)"), NULL));
    assert_false(holds(arena, parse(arena, "attribute_exists(num)"), NULL));
    assert_false(holds(arena, parse(arena, "num = :5"), NULL));
    assert_true(holds(arena, parse(arena, "num <> :5"), NULL));
    assert_true(holds(arena, parse(arena, ":5 = :5 AND NOT size(num) = :1"), NULL));
}

static void evaluating_on_a_small_item_allocates_nothing(void **state)
{
    struct arena *arena = *state;
    struct item item = item_fixture_read(arena, ITEM);
    const struct condition *condition =
        parse(arena, "size(lst) = :3 AND contains(nums, :25) AND num IN (:1, :2, :5)");
    /* An allocation would move the arena's end: the next one stands where it would have stood. */
    uint8_t *before = arena_alloc(arena, 1);
    assert_true(holds(arena, condition, &item));
    uint8_t *after = arena_alloc(arena, 1);
    struct arena *plain = arena_create();
    uint8_t *first = arena_alloc(plain, 1);
    uint8_t *second = arena_alloc(plain, 1);
    assert_int_equal(after - before, second - first);
    arena_destroy(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(conditions_hold_as_the_service_says),
        ARENA_TEST(an_item_that_does_not_exist_has_no_attributes),
        ARENA_TEST(evaluating_on_a_small_item_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
