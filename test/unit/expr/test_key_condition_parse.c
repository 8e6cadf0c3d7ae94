/* test_key_condition_parse.c -- key conditions: their forms, and how they fit a key schema.
 *
 * The messages are what DynamoDB answers to the same text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/condition_parse.h"
#include "expr/key_condition.h"
#include "expr/parser.h"
#include "expr_examples.h"
#include "expr_grammar.h"
#include "expr_text.h"
#include "model/error.h"

static const char names[] =
    "{\"#a\":\"a\",\"#b\":\"b\",\"#c\":\"c\",\"#dot\":\"x.y\",\"#r\":\"name\"}";
static const char values[] =
    "{\":s\":{\"S\":\"x\"},\":s2\":{\"S\":\"y\"},\":n\":{\"N\":\"1\"},\":n2\":{\"N\":\"2\"},"
    "\":b\":{\"B\":\"AA==\"},\":t\":{\"BOOL\":true},\":z\":{\"NULL\":true},\":l\":{\"L\":[]},"
    "\":m\":{\"M\":{}},\":ss\":{\"SS\":[\"a\"]},\":ns\":{\"NS\":[\"1\"]},\":bs\":{\"BS\":[\"AA==\"]"
    "}}";

static const struct expr_example accepted[] = {
    { "pk = :s", "pk={'S':'x'}" },
    { "pk = :s AND sk = :n", "pk={'S':'x'} AND sk={'N':'1'}" },
    { "sk < :n AND pk = :s", "sk<{'N':'1'} AND pk={'S':'x'}" },
    { "(pk = :s) AND (sk >= :n)", "pk={'S':'x'} AND sk>={'N':'1'}" },
    { "(pk = :s AND sk = :n)", "pk={'S':'x'} AND sk={'N':'1'}" },
    { ":s = pk", "pk={'S':'x'}" },
    { ":n < sk", "sk>{'N':'1'}" },
    { ":n <= sk", "sk>={'N':'1'}" },
    { ":n > sk", "sk<{'N':'1'}" },
    { ":n >= sk", "sk<={'N':'1'}" },
    { "sk BETWEEN :n AND :n2", "sk BETWEEN {'N':'1'} AND {'N':'2'}" },
    { "begins_with(sk, :s)", "begins_with(sk,{'S':'x'})" },
    { "a = :s AND b = :s AND c = :s AND (d = :s AND e > :s)",
      "a={'S':'x'} AND b={'S':'x'} AND c={'S':'x'} AND d={'S':'x'} AND e>{'S':'x'}" },
};

static const struct expr_example refused[] = {
    { "a", "Syntax error; token: \"<EOF>\", near: \"a\"" },
    { "pk = :q",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "#q = :s",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "name = :s", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "((pk = :s))", "The expression has redundant parentheses;" },
    { "foo(pk)", "Invalid function name; function: foo" },
    { "pk = pk", "The first operand must be distinct from the remaining operands for this operator "
                 "or function; operator: =, first operand: [pk]" },
    { "sk BETWEEN :n2 AND :n",
      "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
      "bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}" },
    { "sk > :t", "Incorrect operand type for operator or function; operator or function: >, "
                 "operand type: BOOL" },
    { "begins_with(sk, :n)", "Incorrect operand type for operator or function; operator or "
                             "function: begins_with, operand type: N" },
};

static const struct expr_example refused_shapes[] = {
    { "pk = :s OR sk = :n", "Invalid operator used in KeyConditionExpression: OR" },
    { "NOT pk = :s", "Invalid operator used in KeyConditionExpression: NOT" },
    { "pk = :s AND NOT sk = :n", "Invalid operator used in KeyConditionExpression: NOT" },
    { "pk = :s OR NOT sk = :n", "Invalid operator used in KeyConditionExpression: OR" },
    { "pk <> :s", "Invalid operator used in KeyConditionExpression: <>" },
    { ":s <> pk", "Invalid operator used in KeyConditionExpression: <>" },
    { "pk IN (:s)", "Invalid operator used in KeyConditionExpression: IN" },
    { "attribute_exists(pk)", "Invalid operator used in KeyConditionExpression: attribute_exists" },
    { "attribute_not_exists(pk)",
      "Invalid operator used in KeyConditionExpression: attribute_not_exists" },
    { "contains(pk, :s)", "Invalid operator used in KeyConditionExpression: contains" },
    { "contains(pk, sk)", "Invalid operator used in KeyConditionExpression: contains" },
    { "size(pk) = :n", "KeyConditionExpressions cannot contain nested operations" },
    { "pk = size(a)", "KeyConditionExpressions cannot contain nested operations" },
    { "pk = size(:s)", "KeyConditionExpressions cannot contain nested operations" },
    { "sk BETWEEN :n AND size(a)", "KeyConditionExpressions cannot contain nested operations" },
    { "a.b = :s", "KeyConditionExpressions cannot have conditions on nested attributes" },
    { "a[0] = :s", "KeyConditionExpressions cannot have conditions on nested attributes" },
    { "pk = sk", "Invalid condition in KeyConditionExpression: Multiple attribute names used in "
                 "one condition" },
    { "sk BETWEEN :n AND a", "Invalid condition in KeyConditionExpression: Multiple attribute "
                             "names used in one condition" },
    { "begins_with(sk, a)", "Invalid condition in KeyConditionExpression: Multiple attribute names "
                            "used in one condition" },
    { ":s = :s2", "Invalid condition in KeyConditionExpression: No key attribute specified" },
    { ":n BETWEEN sk AND :n2", "Invalid condition in KeyConditionExpression: BETWEEN operator must "
                               "have the key attribute as its first operand" },
    { "begins_with(:s, sk)", "Invalid condition in KeyConditionExpression: begins_with operator "
                             "must have the key attribute as its first operand" },
    { "begins_with(:s, :s)", "Invalid condition in KeyConditionExpression: begins_with operator "
                             "must have the key attribute as its first operand" },
    { ":n BETWEEN size(sk) AND pk", "Invalid condition in KeyConditionExpression: BETWEEN operator "
                                    "must have the key attribute as its first operand" },
    { "size(pk) BETWEEN :n AND :n2", "KeyConditionExpressions cannot contain nested operations" },
    { "pk = :s AND pk = :s", "KeyConditionExpressions must only contain one condition per key" },
    { "pk = :s AND sk > :n AND sk < :n2",
      "KeyConditionExpressions must only contain one condition per key" },
    { "pk = sk AND NOT pk = :s", "Invalid condition in KeyConditionExpression: Multiple attribute "
                                 "names used in one condition" },
};

static struct expr_examples examples = { .grammar = &expr_grammar_key_condition,
                                         .names = names,
                                         .values = values };

/* --- Schemas --- */

/* BYTES is no constant expression. */
#define NAMED(text)                                                                                \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }
static const struct key_condition_schema simple = {
    .hash = { { NAMED("pk"), VALUE_S } },
    .hash_count = 1,
    .range = { { NAMED("sk"), VALUE_N } },
    .range_count = 1,
};
static const struct key_condition_schema hash_only = {
    .hash = { { NAMED("pk"), VALUE_S } },
    .hash_count = 1,
};
static const struct key_condition_schema multiple = {
    .hash = { { NAMED("h1"), VALUE_S }, { NAMED("h2"), VALUE_S } },
    .hash_count = 2,
    .range = { { NAMED("r1"), VALUE_S }, { NAMED("r2"), VALUE_S }, { NAMED("r3"), VALUE_S } },
    .range_count = 3,
};

#define MISSED "Query condition missed key schema element: "
#define UNSUPPORTED "Query key condition not supported"
#define WRONG_TYPE                                                                                 \
    "One or more parameter values were invalid: Condition parameter type does not match schema "   \
    "type"
#define BEFORE(names, name)                                                                        \
    "RANGE key attributes " names " must have equality conditions specified in the query because " \
    "a condition is present on key attribute " name
#define HASHES(names)                                                                              \
    "HASH key attributes " names " must have equality conditions specified in the query"

/* `error` NULL: the plan has so many sort key terms. */
static const struct {
    const struct key_condition_schema *schema;
    const char *text, *error;
    size_t range_count;
} plans[] = {
    { &simple, "pk = :s", NULL, 0 },
    { &simple, "sk > :n AND pk = :s", NULL, 1 },
    { &simple, "pk = :s AND sk BETWEEN :n AND :n2", NULL, 1 },
    { &hash_only, "pk = :s", NULL, 0 },
    { &simple, "a = :s", MISSED "pk", 0 },
    { &simple, "sk = :n", MISSED "pk", 0 },
    { &simple, "sk > :n AND a = :s", MISSED "pk", 0 },
    { &simple, "pk = :s AND a = :s", MISSED "sk", 0 },
    { &simple, "pk < :s", UNSUPPORTED, 0 },
    { &simple, "pk BETWEEN :s AND :s2", UNSUPPORTED, 0 },
    { &simple, "begins_with(pk, :s) AND sk = :n", UNSUPPORTED, 0 },
    { &hash_only, "pk = :s AND sk = :n", UNSUPPORTED, 0 },
    { &simple, "pk = :n", WRONG_TYPE, 0 },
    { &simple, "pk > :n", WRONG_TYPE, 0 },
    { &simple, "pk = :n AND a = :s", WRONG_TYPE, 0 },
    { &simple, "pk = :s AND sk = :s", WRONG_TYPE, 0 },
    { &simple, "pk = :s AND begins_with(sk, :s)", WRONG_TYPE, 0 },
    { &simple, "pk = :s AND sk = :n AND a = :s",
      "The number of query conditions (3) exceeds the number of key attributes defined in the "
      "schema (2)",
      0 },
    { &multiple, "h2 = :s AND h1 = :s", NULL, 0 },
    { &multiple, "h1 = :s AND h2 = :s AND r1 > :s", NULL, 1 },
    { &multiple, "r2 BETWEEN :s AND :s2 AND h1 = :s AND r1 = :s AND h2 = :s", NULL, 2 },
    { &multiple, "h1 = :s AND h2 = :s AND r1 = :s AND r2 = :s AND begins_with(r3, :s)", NULL, 3 },
    { &multiple, "h1 = :s", HASHES("h2"), 0 },
    { &multiple, "h1 = :s AND h2 > :s", HASHES("h2"), 0 },
    { &multiple, "r1 = :s", HASHES("h1, h2"), 0 },
    { &multiple, "h1 = :s AND h2 = :s AND r2 = :s", BEFORE("r1", "r2"), 0 },
    { &multiple, "h1 = :s AND h2 = :s AND r1 > :s AND r2 = :s", BEFORE("r1", "r2"), 0 },
    { &multiple, "h1 = :s AND h2 = :s AND r3 = :s", BEFORE("r1, r2", "r3"), 0 },
    { &multiple, "h1 = :s AND h2 = :s AND r1 = :s AND r3 = :s", BEFORE("r2", "r3"), 0 },
    { &multiple, "h1 = :s AND h2 = :s AND x = :s", MISSED "r1", 0 },
    { &multiple, "h1 = :s AND h2 = :s AND r1 = :s AND r2 = :s AND r3 = :s AND x = :s", UNSUPPORTED,
      0 },
    { &multiple, "h1 = :s AND h2 = :n", WRONG_TYPE, 0 },
    { &multiple, "h1 = :s AND h2 = :s AND r1 = :n", WRONG_TYPE, 0 },
};

/* --- Tests --- */

EXPR_EXAMPLES_TEST(key_conditions_put_the_attribute_first, examples, accepted)
EXPR_EXAMPLES_TEST(they_are_conditions_first, examples, refused)
EXPR_EXAMPLES_TEST(other_forms_of_conditions_are_refused, examples, refused_shapes)

static void the_largest_condition_has_its_bound(void **state)
{
    (void)state;
    struct buffer text;
    buffer_init(&text, examples.arena);
    for (size_t i = 0; i < OPERAND_RULES_OPERATORS_MAX / 2; i++)
        buffer_append_bytes(&text,
                            arena_printf(examples.arena, "%sa%zu=:s", i > 0 ? " AND " : "", i));
    struct bytes got = expr_examples_parse(&examples, buffer_bytes(&text));
    assert_true(bytes_starts_with(got, BYTES("a0={'S':'x'} AND a1=")));
}

static void terms_must_fit_the_schema(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        struct expr_params params;
        struct error err;
        struct key_condition_plan plan;
        error_init(&err, examples.arena);
        assert_true(expr_text_params(examples.arena, NULL, values, &params, &err));
        const struct condition *parsed =
            condition_parse(examples.arena, bytes_from_text(plans[i].text),
                            "KeyConditionExpression", &params, &err);
        assert_non_null(parsed);
        const struct key_condition *condition = key_condition_compile(examples.arena, parsed, &err);
        assert_non_null(condition);
        bool ok = key_condition_check(condition, plans[i].schema, &plan, &err);
        if (ok != (plans[i].error == NULL) ||
            (!ok && !bytes_equal_text(err.message, plans[i].error)))
            fail_msg("%s: %.*s", plans[i].text, BYTES_FMT(err.message));
        if (!ok)
            continue;
        assert_int_equal(plan.range_count, plans[i].range_count);
        for (size_t j = 0; j < plans[i].schema->hash_count; j++)
            assert_true(bytes_equal(plan.hash[j]->name, plans[i].schema->hash[j].name));
        for (size_t j = 0; j < plan.range_count; j++)
            assert_true(bytes_equal(plan.range[j]->name, plans[i].schema->range[j].name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_conditions_put_the_attribute_first),
        cmocka_unit_test(they_are_conditions_first),
        cmocka_unit_test(other_forms_of_conditions_are_refused),
        cmocka_unit_test(the_largest_condition_has_its_bound),
        cmocka_unit_test(terms_must_fit_the_schema),
    };
    examples.arena = arena_create();
    int failed_count = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(examples.arena);
    return failed_count;
}
