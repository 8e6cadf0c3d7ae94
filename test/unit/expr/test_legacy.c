/* test_legacy.c -- Expected, filters, KeyConditions, AttributeUpdates and AttributesToGet.
 *
 * The messages are what DynamoDB answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/legacy.h"
#include "expr/path.h"
#include "expr_text.h"
#include "json/reader.h"
#include "model/error.h"
#include "model/value_json.h"

#define INVALID "One or more parameter values were invalid: "
#define ARGUMENTS(operator_name)                                                                   \
    INVALID "Invalid number of argument(s) for the " operator_name " ComparisonOperator"
#define TYPE(operator_name, type)                                                                  \
    INVALID "ComparisonOperator " operator_name " is not valid for " type " AttributeValue type"
#define SAME_TYPE INVALID "AttributeValues inside AttributeValueList must be of same type"
#define BOUNDS                                                                                     \
    "The BETWEEN condition was provided a range where the lower bound is greater than the upper "  \
    "bound"

/* A condition on attribute "a". `values` and `value` are JSON; NULL: absent. */
struct example {
    const char *comparison_operator, *values, *value;
    enum legacy_exists exists;
    const char *want; /* The message, or the condition as expr_text_show shows it. */
};

static const struct example expected[] = {
    { NULL, NULL, "{\"S\":\"x\"}", LEGACY_EXISTS_ABSENT, "a={'S':'x'}" },
    { NULL, NULL, "{\"L\":[]}", LEGACY_EXISTS_TRUE, "a={'L':[]}" },
    { NULL, NULL, NULL, LEGACY_EXISTS_FALSE, "attribute_not_exists(a)" },
    { "EQ", NULL, "{\"S\":\"x\"}", LEGACY_EXISTS_ABSENT, "a={'S':'x'}" },
    { "IN", NULL, "{\"S\":\"x\"}", LEGACY_EXISTS_ABSENT, "a IN({'S':'x'})" },
    { "NULL", "[]", NULL, LEGACY_EXISTS_ABSENT, "attribute_not_exists(a)" },
    { "NOT_NULL", NULL, NULL, LEGACY_EXISTS_ABSENT, "attribute_exists(a)" },
    { NULL, NULL, NULL, LEGACY_EXISTS_ABSENT,
      INVALID "Value must be provided when Exists is null for Attribute: a" },
    { NULL, NULL, NULL, LEGACY_EXISTS_TRUE,
      INVALID "Value must be provided when Exists is true for Attribute: a" },
    { NULL, NULL, "{\"S\":\"x\"}", LEGACY_EXISTS_FALSE,
      INVALID "Value cannot be used when Exists is false for Attribute: a" },
    { "EQ", NULL, NULL, LEGACY_EXISTS_ABSENT,
      INVALID "Value or AttributeValueList must be used with ComparisonOperator: EQ for "
              "Attribute: a" },
    { "EQ", "[{\"S\":\"x\"}]", "{\"S\":\"x\"}", LEGACY_EXISTS_ABSENT,
      INVALID "Value and AttributeValueList cannot be used together for Attribute: a" },
    { NULL, "[]", "{\"S\":\"x\"}", LEGACY_EXISTS_FALSE,
      INVALID "Value and AttributeValueList cannot be used together for Attribute: a" },
    { NULL, "[]", NULL, LEGACY_EXISTS_ABSENT,
      INVALID "AttributeValueList can only be used with a ComparisonOperator for Attribute: a" },
    { NULL, "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_TRUE,
      INVALID "AttributeValueList can only be used with a ComparisonOperator for Attribute: a" },
    { "EQ", "[{\"S\":\"x\"}]", "{\"S\":\"x\"}", LEGACY_EXISTS_TRUE,
      INVALID "Exists and ComparisonOperator cannot be used together for Attribute: a" },
    { "NULL", NULL, NULL, LEGACY_EXISTS_FALSE,
      INVALID "Exists and ComparisonOperator cannot be used together for Attribute: a" },
    { "NULL", NULL, "{\"S\":\"x\"}", LEGACY_EXISTS_ABSENT, ARGUMENTS("NULL") },
    { "BETWEEN", NULL, "{\"S\":\"x\"}", LEGACY_EXISTS_ABSENT, ARGUMENTS("BETWEEN") },
    { "GE", NULL, "{\"M\":{}}", LEGACY_EXISTS_ABSENT, TYPE("GE", "M") },
    { "eq", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT,
      "Comparison type does not exist in DynamoDB" },
};

/* Members of filters and of Expected alike. */
static const struct example comparisons[] = {
    { "EQ", "[{\"SS\":[\"x\"]}]", NULL, LEGACY_EXISTS_ABSENT, "a={'SS':['x']}" },
    { "NE", "[{\"M\":{}}]", NULL, LEGACY_EXISTS_ABSENT, "a<>{'M':{}}" },
    { "LE", "[{\"N\":\"1\"}]", NULL, LEGACY_EXISTS_ABSENT, "a<={'N':'1'}" },
    { "LT", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, "a<{'S':'x'}" },
    { "GE", "[{\"B\":\"AA==\"}]", NULL, LEGACY_EXISTS_ABSENT, "a>={'B':'AA=='}" },
    { "GT", "[{\"N\":\"1\"}]", NULL, LEGACY_EXISTS_ABSENT, "a>{'N':'1'}" },
    { "IN", "[{\"S\":\"x\"},{\"S\":\"y\"}]", NULL, LEGACY_EXISTS_ABSENT,
      "a IN({'S':'x'},{'S':'y'})" },
    { "BETWEEN", "[{\"N\":\"1\"},{\"N\":\"1\"}]", NULL, LEGACY_EXISTS_ABSENT,
      "a BETWEEN {'N':'1'} AND {'N':'1'}" },
    { "BEGINS_WITH", "[{\"B\":\"AA==\"}]", NULL, LEGACY_EXISTS_ABSENT,
      "begins_with(a,{'B':'AA=='})" },
    { "CONTAINS", "[{\"NULL\":true}]", NULL, LEGACY_EXISTS_ABSENT, "contains(a,{'NULL':true})" },
    { "NOT_CONTAINS", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT,
      "attribute_exists(a) AND NOT contains(a,{'S':'x'})" },
    { "EQ", "[]", NULL, LEGACY_EXISTS_ABSENT, ARGUMENTS("EQ") },
    { "EQ", "[{\"S\":\"x\"},{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, ARGUMENTS("EQ") },
    { "IN", "[]", NULL, LEGACY_EXISTS_ABSENT, ARGUMENTS("IN") },
    { "NULL", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, ARGUMENTS("NULL") },
    { "NOT_NULL", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, ARGUMENTS("NOT_NULL") },
    { "BETWEEN", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, ARGUMENTS("BETWEEN") },
    { "LT", "[{\"L\":[]},{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, ARGUMENTS("LT") },
    { "LT", "[{\"L\":[]}]", NULL, LEGACY_EXISTS_ABSENT, TYPE("LT", "L") },
    { "GT", "[{\"BOOL\":true}]", NULL, LEGACY_EXISTS_ABSENT, TYPE("GT", "BOOL") },
    { "BETWEEN", "[{\"L\":[]},{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, TYPE("BETWEEN", "L") },
    { "IN", "[{\"S\":\"x\"},{\"BOOL\":true}]", NULL, LEGACY_EXISTS_ABSENT, TYPE("IN", "BOOL") },
    { "BEGINS_WITH", "[{\"N\":\"1\"}]", NULL, LEGACY_EXISTS_ABSENT, TYPE("BEGINS_WITH", "N") },
    { "CONTAINS", "[{\"SS\":[\"x\"]}]", NULL, LEGACY_EXISTS_ABSENT, TYPE("CONTAINS", "SS") },
    { "NOT_CONTAINS", "[{\"M\":{}}]", NULL, LEGACY_EXISTS_ABSENT, TYPE("NOT_CONTAINS", "M") },
    { "IN", "[{\"S\":\"x\"},{\"N\":\"1\"}]", NULL, LEGACY_EXISTS_ABSENT, SAME_TYPE },
    { "BETWEEN", "[{\"S\":\"x\"},{\"N\":\"1\"}]", NULL, LEGACY_EXISTS_ABSENT, SAME_TYPE },
    { "BETWEEN", "[{\"N\":\"2\"},{\"N\":\"1\"}]", NULL, LEGACY_EXISTS_ABSENT, BOUNDS },
};

static const struct example key_conditions[] = {
    { "EQ", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, "a={'S':'x'}" },
    { "LE", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, "a<={'S':'x'}" },
    { "LT", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, "a<{'S':'x'}" },
    { "GE", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, "a>={'S':'x'}" },
    { "GT", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, "a>{'S':'x'}" },
    { "BETWEEN", "[{\"S\":\"x\"},{\"S\":\"y\"}]", NULL, LEGACY_EXISTS_ABSENT,
      "a BETWEEN {'S':'x'} AND {'S':'y'}" },
    { "BEGINS_WITH", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, "begins_with(a,{'S':'x'})" },
    { "EQ", NULL, NULL, LEGACY_EXISTS_ABSENT, ARGUMENTS("EQ") },
    { "BETWEEN", "[{\"S\":\"y\"},{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT, BOUNDS },
    { "NE", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT,
      "Attempted conditional constraint is not an indexable operation" },
    { "IN", "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT,
      "Attempted conditional constraint is not an indexable operation" },
    { "NULL", NULL, NULL, LEGACY_EXISTS_ABSENT,
      "Attempted conditional constraint is not an indexable operation" },
    { NULL, "[{\"S\":\"x\"}]", NULL, LEGACY_EXISTS_ABSENT,
      "Comparison type does not exist in DynamoDB" },
};

#define ONLY_DELETE INVALID "Only DELETE action is allowed when no attribute value is specified"

static const struct {
    const char *action, *value, *want;
} updates[] = {
    { NULL, "{\"S\":\"x\"}", "SET a={'S':'x'}" },
    { "PUT", "{\"L\":[]}", "SET a={'L':[]}" },
    { "ADD", "{\"N\":\"1\"}", "ADD a {'N':'1'}" },
    { "ADD", "{\"BS\":[\"AA==\"]}", "ADD a {'BS':['AA==']}" },
    { "ADD", "{\"L\":[{\"S\":\"x\"}]}",
      "SET a=list_append(if_not_exists(a,{'L':[]}),{'L':[{'S':'x'}]})" },
    { "DELETE", NULL, "REMOVE a" },
    { "DELETE", "{\"SS\":[\"x\"]}", "DELETE a {'SS':['x']}" },
    { NULL, NULL, ONLY_DELETE },
    { "PUT", NULL, ONLY_DELETE },
    { "ADD", NULL, ONLY_DELETE },
    { "ADD", "{\"S\":\"x\"}", INVALID "ADD action is not supported for the type S" },
    { "ADD", "{\"M\":{}}", INVALID "ADD action is not supported for the type M" },
    { "ADD", "{\"BOOL\":true}", INVALID "ADD action is not supported for the type BOOL" },
    { "DELETE", "{\"N\":\"1\"}",
      INVALID "DELETE action with value is not supported for the type "
              "N" },
    { "DELETE", "{\"L\":[]}", INVALID "DELETE action with value is not supported for the type L" },
};

/* --- Fixture --- */

static struct arena *arena;
enum { VALUES_MAX = 4 };

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* A value from JSON, which the reader stands before. */
static struct value read_value(struct json_reader *reader)
{
    struct buffer out;
    struct error rule, err;
    struct value value;
    buffer_init(&out, arena);
    error_init(&rule, arena);
    error_init(&err, arena);
    assert_true(value_json_read(reader, &out, &rule, &err));
    struct bytes encoded = buffer_bytes(&out);
    assert_true(value_open(&encoded, &value));
    return value;
}

static const struct value *one_value(const char *json)
{
    struct json_reader reader;
    if (json == NULL)
        return NULL;
    struct value *value = arena_alloc(arena, sizeof *value);
    json_reader_init(&reader, arena, bytes_from_text(json), 8);
    *value = read_value(&reader);
    return value;
}

static struct legacy_condition make_condition(const struct example *example, const char *name)
{
    struct legacy_condition condition = {
        .name = bytes_from_text(name),
        .values_present = example->values != NULL,
        .value = one_value(example->value),
        .exists = example->exists,
    };
    if (example->comparison_operator != NULL)
        condition.comparison_operator = bytes_from_text(example->comparison_operator);
    if (example->values != NULL) {
        struct value *values = arena_alloc(arena, VALUES_MAX * sizeof *values);
        struct json_reader reader;
        json_reader_init(&reader, arena, bytes_from_text(example->values), 8);
        assert_true(json_enter_array(&reader));
        while (json_next_element(&reader))
            values[condition.value_count++] = read_value(&reader);
        condition.values = values;
    }
    return condition;
}

static struct bytes show_condition(const struct condition *condition, const struct error *err)
{
    assert_true((condition == NULL) == error_is_set(err));
    if (condition == NULL)
        return err->message;
    struct expr_text shown;
    expr_text_init(&shown, arena);
    expr_text_condition(&shown, condition);
    return expr_text_show(&shown);
}

static void expect(struct bytes got, const char *want)
{
    if (!bytes_equal_text(got, want))
        fail_msg("got  %.*s\nwant %s", BYTES_FMT(got), want);
}

/* --- Tests --- */

static void members_of_expected_become_conditions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        struct legacy_condition condition = make_condition(&expected[i], "a");
        struct error err;
        error_init(&err, arena);
        const struct condition *got =
            legacy_condition_expected(arena, &condition, 1, LEGACY_AND, &err);
        expect(show_condition(got, &err), expected[i].want);
    }
}

static void comparisons_are_the_same_in_expected_and_filters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(comparisons); i++) {
        struct legacy_condition condition = make_condition(&comparisons[i], "a");
        struct error err;
        error_init(&err, arena);
        const struct condition *got =
            legacy_condition_expected(arena, &condition, 1, LEGACY_AND, &err);
        expect(show_condition(got, &err), comparisons[i].want);
        error_init(&err, arena);
        got = legacy_condition_filter(arena, &condition, 1, LEGACY_OR, &err);
        expect(show_condition(got, &err), comparisons[i].want);
    }
}

static void several_conditions_are_joined_by_the_conditional_operator(void **state)
{
    (void)state;
    static const char *const names[] = { "a", "b", "c" };
    struct legacy_condition conditions[COUNT_OF(names)];
    struct error err;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        conditions[i] = make_condition(&comparisons[0], names[i]);
    error_init(&err, arena);
    expect(show_condition(legacy_condition_filter(arena, conditions, 3, LEGACY_AND, &err), &err),
           "a={'SS':['x']} AND b={'SS':['x']} AND c={'SS':['x']}");
    expect(show_condition(legacy_condition_filter(arena, conditions, 2, LEGACY_OR, &err), &err),
           "a={'SS':['x']} OR b={'SS':['x']}");
}

static unsigned depth_of(const struct condition *condition)
{
    if (condition->type != CONDITION_AND)
        return 1;
    unsigned left = depth_of(condition->left), right = depth_of(condition->right);
    return 1 + (left > right ? left : right);
}

static void very_many_conditions_make_a_flat_tree(void **state)
{
    (void)state;
    enum { COUNT = 100000, DEPTH = 18 };
    struct legacy_condition *conditions = arena_alloc(arena, COUNT * sizeof *conditions);
    struct error err;
    error_init(&err, arena);
    for (size_t i = 0; i < COUNT; i++)
        conditions[i] =
            (struct legacy_condition){ .name = BYTES("a"), .exists = LEGACY_EXISTS_FALSE };
    const struct condition *all =
        legacy_condition_expected(arena, conditions, COUNT, LEGACY_AND, &err);
    assert_non_null(all);
    assert_int_equal(depth_of(all), DEPTH);
}

static void a_conditional_operator_needs_two_conditions(void **state)
{
    (void)state;
    struct error err;
    error_init(&err, arena);
    assert_true(legacy_condition_check_operator(false, 0, &err));
    assert_true(legacy_condition_check_operator(true, 2, &err));
    assert_false(legacy_condition_check_operator(true, 0, &err));
    expect(err.message, "ConditionalOperator cannot be used without Filter or Expected");
    assert_false(legacy_condition_check_operator(true, 1, &err));
    expect(err.message, "ConditionalOperator can only be used when Filter or Expected has two or "
                        "more elements");
}

static void key_conditions_become_terms(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(key_conditions); i++) {
        struct legacy_condition condition = make_condition(&key_conditions[i], "a");
        struct error err;
        error_init(&err, arena);
        const struct key_condition *got = legacy_condition_keys(arena, &condition, 1, &err);
        assert_true((got == NULL) == error_is_set(&err));
        if (got == NULL) {
            expect(err.message, key_conditions[i].want);
            continue;
        }
        struct expr_text shown;
        expr_text_init(&shown, arena);
        expr_text_key_condition(&shown, got);
        expect(expr_text_show(&shown), key_conditions[i].want);
    }
}

static void attribute_updates_become_actions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(updates); i++) {
        struct legacy_update update = { .name = BYTES("a"), .value = one_value(updates[i].value) };
        struct error err;
        if (updates[i].action != NULL)
            update.action = bytes_from_text(updates[i].action);
        error_init(&err, arena);
        const struct update *got = legacy_update_translate(arena, &update, 1, &err);
        assert_true((got == NULL) == error_is_set(&err));
        if (got == NULL) {
            expect(err.message, updates[i].want);
            continue;
        }
        struct expr_text shown;
        expr_text_init(&shown, arena);
        expr_text_update(&shown, got);
        expect(expr_text_show(&shown), updates[i].want);
    }
}

static void no_attribute_updates_are_an_update_of_nothing(void **state)
{
    (void)state;
    struct error err;
    error_init(&err, arena);
    const struct update *got = legacy_update_translate(arena, NULL, 0, &err);
    assert_non_null(got);
    assert_int_equal(got->action_count, 0);
}

static void attributes_to_get_are_whole_names(void **state)
{
    (void)state;
    const struct bytes names[] = { BYTES("b"), BYTES("a.b"), BYTES("c[0]"), BYTES("a.b"),
                                   BYTES("b") };
    struct error err;
    error_init(&err, arena);
    static const char *const sorted[] = { "a.b", "b", "c[0]" };
    const struct path_node *got = legacy_update_projection(arena, names, 3, &err);
    assert_non_null(got);
    assert_int_equal(got->child_count, 3);
    assert_false(path_node_has_index_children(got));
    for (size_t i = 0; i < 3; i++)
        assert_true(bytes_equal_text(path_node_child_name(got, i), sorted[i]));
    assert_null(legacy_update_projection(arena, names, COUNT_OF(names), &err));
    expect(err.message, INVALID "Duplicate value in attribute name: a.b");
}

/* However far behind the first it stands. */
static void a_repeated_name_is_found_among_many(void **state)
{
    enum { COUNT = 5000 };
    static const size_t places[] = { 1, 1023, 1024, 1025, 4095, 4096, COUNT - 1 };
    (void)state;
    struct bytes *names = arena_alloc(arena, COUNT * sizeof *names);
    for (size_t i = 0; i < COUNT; i++)
        names[i] = arena_printf(arena, "n%zu", i);
    struct error err;
    error_init(&err, arena);
    assert_non_null(legacy_update_projection(arena, names, COUNT, &err));
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct bytes own = names[places[i]];
        names[places[i]] = names[0];
        error_init(&err, arena);
        assert_null(legacy_update_projection(arena, names, COUNT, &err));
        expect(err.message, INVALID "Duplicate value in attribute name: n0");
        names[places[i]] = own;
    }
}

static void older_parameters_do_not_mix_with_expressions(void **state)
{
    (void)state;
    struct legacy_mix_parameter legacy[] = { { "AttributeUpdates", true }, { "Expected", true } };
    struct legacy_mix_parameter expressions[] = { { "UpdateExpression", false },
                                                  { "ConditionExpression", false } };
    struct error err;
    error_init(&err, arena);
    assert_true(legacy_mix_check(legacy, 2, expressions, 2, &err));
    expressions[0].present = true;
    expressions[1].present = true;
    assert_false(legacy_mix_check(legacy, 2, expressions, 2, &err));
    expect(err.message, "Can not use both expression and non-expression parameters in the same "
                        "request: Non-expression parameters: {AttributeUpdates, Expected} "
                        "Expression parameters: {UpdateExpression, ConditionExpression}");
    legacy[0].present = false;
    expressions[0].present = false;
    err.family = ERROR_FAMILY_ENVELOPED;
    assert_false(legacy_mix_check(legacy, 2, expressions, 2, &err));
    expect(err.message, "1 validation error detected: Can not use both expression and "
                        "non-expression parameters in the same request: Non-expression "
                        "parameters: {Expected} Expression parameters: {ConditionExpression}");
    legacy[1].present = false;
    assert_true(legacy_mix_check(legacy, 2, expressions, 2, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_expected_become_conditions),
        cmocka_unit_test(comparisons_are_the_same_in_expected_and_filters),
        cmocka_unit_test(several_conditions_are_joined_by_the_conditional_operator),
        cmocka_unit_test(very_many_conditions_make_a_flat_tree),
        cmocka_unit_test(a_conditional_operator_needs_two_conditions),
        cmocka_unit_test(key_conditions_become_terms),
        cmocka_unit_test(attribute_updates_become_actions),
        cmocka_unit_test(no_attribute_updates_are_an_update_of_nothing),
        cmocka_unit_test(attributes_to_get_are_whole_names),
        cmocka_unit_test(a_repeated_name_is_found_among_many),
        cmocka_unit_test(older_parameters_do_not_mix_with_expressions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
