/* test_projection_parse.c -- projection expressions: what they compile to, and every refusal.
 *
 * The messages are what DynamoDB answers to the same text, behind "Invalid ProjectionExpression: ".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/parser.h"
#include "expr/projection.h"
#include "expr_examples.h"
#include "expr_grammar.h"
#include "expr_text.h"
#include "model/error.h"

static const char names[] =
    "{\"#a\":\"a\",\"#b\":\"b\",\"#c\":\"c\",\"#dot\":\"x.y\",\"#r\":\"name\"}";

static const struct expr_example accepted[] = {
    { "a", "a" },
    { "a,b", "a,b" },
    { "#a.b[3].#c , d", "a.b[3].c,d" },
    { "a[0], a[1]", "a[0],a[1]" },
    { "a.b, a.c", "a.b,a.c" },
    { "#dot, #r", "x.y,name" },
};

static const struct expr_example refused[] = {
    { " ", "Syntax error; token: \"<EOF>\", near: \" \"" },
    { "a,", "Syntax error; token: \"<EOF>\", near: \",\"" },
    { "a b", "Syntax error; token: \"b\", near: \"a b\"" },
    { ",a", "Syntax error; token: \",\", near: \",a\"" },
    { "a,,b", "Syntax error; token: \",\", near: \",,b\"" },
    { "(a)", "Syntax error; token: \"(\", near: \"(a\"" },
    { ":s", "Syntax error; token: \":s\", near: \":s\"" },
    { "a = b", "Syntax error; token: \"=\", near: \"a = b\"" },
    { "foo(a)", "Syntax error; token: \"(\", near: \"foo(a\"" },
    { "size(a)", "Syntax error; token: \"(\", near: \"size(a\"" },
    { "a[", "Syntax error; token: \"<EOF>\", near: \"[\"" },
    { "a[0", "Syntax error; token: \"<EOF>\", near: \"0\"" },
    { "a.", "Syntax error; token: \"<EOF>\", near: \".\"" },
    { "a..b", "Syntax error; token: \".\", near: \"..b\"" },
    { "$", "Syntax error; token: \"$\", near: \"$\"" },
    { "SET", "Syntax error; token: \"SET\", near: \"SET\"" },
    { "a and b", "Syntax error; token: \"and\", near: \"a and b\"" },
    { "name", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "a.name", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "a[99999999999]", "List index is not within the allowable range; index: [99999999999]" },
    { "#q",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a",
      "The document path has too many nesting levels; nesting levels: 33" },
    { "a, a", "Two document paths overlap with each other; must remove or rewrite one of these "
              "paths; path one: [a], path two: [a]" },
    { "a, a.b", "Two document paths overlap with each other; must remove or rewrite one of these "
                "paths; path one: [a], path two: [a, b]" },
    { "a.b, a", "Two document paths overlap with each other; must remove or rewrite one of these "
                "paths; path one: [a, b], path two: [a]" },
    { "#a, a", "Two document paths overlap with each other; must remove or rewrite one of these "
               "paths; path one: [a], path two: [a]" },
    { "a[0], a.b", "Two document paths conflict with each other; must remove or rewrite one of "
                   "these paths; path one: [a, [0]], path two: [a, b]" },
};

static const struct expr_example order_of_faults[] = {
    { "#q, name", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "name, a[99999999999]", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "a[99999999999], name",
      "List index is not within the allowable range; index: [99999999999]" },
    { "a, a, name", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "a, a, #q",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "#q, a, a", "Two document paths overlap with each other; must remove or rewrite one of these "
                  "paths; path one: [a], path two: [a]" },
    { "a, a, b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b",
      "The document path has too many nesting levels; nesting levels: 33" },
};

static struct expr_examples examples = { .grammar = &expr_grammar_projection, .names = names };

/* --- Tests --- */

EXPR_EXAMPLES_TEST(projections_compile_in_the_order_of_the_text, examples, accepted)
EXPR_EXAMPLES_TEST(each_fault_has_its_message, examples, refused)
EXPR_EXAMPLES_TEST(of_several_faults_the_services_first_is_reported, examples, order_of_faults)

static void the_text_has_from_1_to_4096_bytes(void **state)
{
    (void)state;
    expr_examples_expect(&examples, BYTES(""), "The expression can not be empty;");
    assert_true(expr_examples_accept(
        &examples, expr_examples_repeat(&examples, "", "a", PARSER_TEXT_SIZE_MAX, "")));
    expr_examples_expect(
        &examples, expr_examples_repeat(&examples, "", "a", PARSER_TEXT_SIZE_MAX + 1, ""),
        "Expression size has exceeded the maximum allowed size; expression size: 4097");
}

static void paths_have_at_most_32_levels(void **state)
{
    (void)state;
    assert_true(
        expr_examples_accept(&examples, expr_examples_repeat(&examples, "a", ".a", 31, "")));
    expr_examples_expect(&examples, expr_examples_repeat(&examples, "a", ".a", 32, ""),
                         "The document path has too many nesting levels; nesting levels: 33");
}

static void paths_into_key_attributes_are_refused(void **state)
{
    (void)state;
    const struct bytes keys[] = { BYTES("pk"), BYTES("sk") };
    struct expr_params params;
    struct error err;
    error_init(&err, examples.arena);
    assert_true(expr_text_params(examples.arena, NULL, NULL, &params, &err));
    assert_non_null(projection_parse(examples.arena, BYTES("pk, a.pk, sk"), &params, &err));
    assert_true(expr_params_check_key_paths(&params, keys, COUNT_OF(keys), &err));
    assert_non_null(projection_parse(examples.arena, BYTES("a, sk[0]"), &params, &err));
    assert_false(expr_params_check_key_paths(&params, keys, COUNT_OF(keys), &err));
    assert_true(bytes_equal_text(err.message,
                                 "Key attributes must be scalars; list random access '[]' and map "
                                 "lookup '.' are not allowed: Key: sk"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections_compile_in_the_order_of_the_text),
        cmocka_unit_test(each_fault_has_its_message),
        cmocka_unit_test(of_several_faults_the_services_first_is_reported),
        cmocka_unit_test(the_text_has_from_1_to_4096_bytes),
        cmocka_unit_test(paths_have_at_most_32_levels),
        cmocka_unit_test(paths_into_key_attributes_are_refused),
    };
    examples.arena = arena_create();
    int failed_count = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(examples.arena);
    return failed_count;
}
