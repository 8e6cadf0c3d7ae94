/* test_update_parse.c -- update expressions: what they compile to, and every refusal.
 *
 * The messages are what DynamoDB answers to the same text, behind "Invalid UpdateExpression: ".
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
#include "expr/update_parse.h"
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
    { "SET a = :s", "SET a={'S':'x'}" },
    { "set a = :s, b=:n", "SET a={'S':'x'},b={'N':'1'}" },
    { "SET a.b[0].#c = :s REMOVE d[1], e ADD f :n DELETE g :ss",
      "SET a.b[0].c={'S':'x'} REMOVE d[1],e ADD f {'N':'1'} DELETE g {'SS':['a']}" },
    { "REMOVE a SET b = c", "REMOVE a SET b=c" },
    { "ADD a :ns, b :n", "ADD a {'NS':['1']},b {'N':'1'}" },
    { "SET a = b + c", "SET a=b+c" },
    { "SET a = a - :n", "SET a=a-{'N':'1'}" },
    { "SET a = (b + (c))", "SET a=b+c" },
    { "SET a = (b)", "SET a=b" },
    { "SET a = (:n) + (b)", "SET a={'N':'1'}+b" },
    { "SET a = if_not_exists(a, :s)", "SET a=if_not_exists(a,{'S':'x'})" },
    { "SET a = if_not_exists(a, if_not_exists(b, :n)) + :n",
      "SET a=if_not_exists(a,if_not_exists(b,{'N':'1'}))+{'N':'1'}" },
    { "SET a = :n - if_not_exists(b, c)", "SET a={'N':'1'}-if_not_exists(b,c)" },
    { "SET a = list_append(a, :l)", "SET a=list_append(a,{'L':[]})" },
    { "SET a = (list_append(:l, b))", "SET a=list_append({'L':[]},b)" },
    { "SET a = list_append(if_not_exists(a, :l), :l)",
      "SET a=list_append(if_not_exists(a,{'L':[]}),{'L':[]})" },
    { "SET a = list_append(b, b)", "SET a=list_append(b,b)" },
    { "SET a = b + b", "SET a=b+b" },
    { "SET a[0] = :s, a[1] = :s, b.c = :s, b.d = :s",
      "SET a[0]={'S':'x'},a[1]={'S':'x'},b.c={'S':'x'},b.d={'S':'x'}" },
    { " SET a=b+c ", "SET a=b+c" },
    { "SET a = :n+:n2", "SET a={'N':'1'}+{'N':'2'}" },
};

static const struct expr_example syntax_errors[] = {
    { "SET", "Syntax error; token: \"<EOF>\", near: \"SET\"" },
    { "SET a", "Syntax error; token: \"<EOF>\", near: \"a\"" },
    { "SET a =", "Syntax error; token: \"<EOF>\", near: \"=\"" },
    { "SET a = :s,", "Syntax error; token: \"<EOF>\", near: \",\"" },
    { "SET a = :s,, b = :n", "Syntax error; token: \",\", near: \",, b\"" },
    { "SET , a = :s", "Syntax error; token: \",\", near: \"SET , a\"" },
    { "SET a = :s b = :n", "Syntax error; token: \"b\", near: \":s b =\"" },
    { "SET SET a = :s", "Syntax error; token: \"SET\", near: \"SET SET a\"" },
    { "SET a = :s REMOVE", "Syntax error; token: \"<EOF>\", near: \"REMOVE\"" },
    { "FOO a", "Syntax error; token: \"FOO\", near: \"FOO a\"" },
    { "a = :s", "Syntax error; token: \"a\", near: \"a =\"" },
    { "SET :s = a", "Syntax error; token: \":s\", near: \"SET :s =\"" },
    { "SET (a) = :s", "Syntax error; token: \"(\", near: \"SET (a\"" },
    { "SET size(a) = b", "Syntax error; token: \"(\", near: \"size(a\"" },
    { "SET a+b = :s", "Syntax error; token: \"+\", near: \"a+b\"" },
    { "SET a = b + c + d", "Syntax error; token: \"+\", near: \"c + d\"" },
    { "SET a = (b + c) + d", "Syntax error; token: \"+\", near: \") + d\"" },
    { "SET a = b + (c + d)", "Syntax error; token: \"+\", near: \"c + d\"" },
    { "SET a = - c", "Syntax error; token: \"-\", near: \"= - c\"" },
    { "SET a = b * c", "Syntax error; token: \"*\", near: \"b * c\"" },
    { "SET a = b = c", "Syntax error; token: \"=\", near: \"b = c\"" },
    { "SET a = b AND c", "Syntax error; token: \"AND\", near: \"b AND c\"" },
    { "SET a = (b", "Syntax error; token: \"<EOF>\", near: \"b\"" },
    { "SET a = (b + c", "Syntax error; token: \"<EOF>\", near: \"c\"" },
    { "SET a = (b) c", "Syntax error; token: \"c\", near: \") c\"" },
    { "SET a = if_not_exists(a, b + c)", "Syntax error; token: \"+\", near: \"b + c\"" },
    { "SET a = foo()", "Syntax error; token: \")\", near: \"()\"" },
    { "SET a = 1", "Syntax error; token: \"1\", near: \"= 1\"" },
    { "SET a = :s.b", "Syntax error; token: \".\", near: \":s.b\"" },
    { "REMOVE", "Syntax error; token: \"<EOF>\", near: \"REMOVE\"" },
    { "REMOVE a b", "Syntax error; token: \"b\", near: \"a b\"" },
    { "REMOVE :s", "Syntax error; token: \":s\", near: \"REMOVE :s\"" },
    { "REMOVE a = b", "Syntax error; token: \"=\", near: \"a = b\"" },
    { "REMOVE size(a)", "Syntax error; token: \"(\", near: \"size(a\"" },
    { "ADD", "Syntax error; token: \"<EOF>\", near: \"ADD\"" },
    { "ADD a", "Syntax error; token: \"<EOF>\", near: \"a\"" },
    { "ADD a b", "Syntax error; token: \"b\", near: \"a b\"" },
    { "ADD a = :n", "Syntax error; token: \"=\", near: \"a = :n\"" },
    { "ADD a :n + :n", "Syntax error; token: \"+\", near: \":n + :n\"" },
    { "ADD a (:n)", "Syntax error; token: \"(\", near: \"a (:n\"" },
    { "ADD a if_not_exists(b, :n)",
      "Syntax error; token: \"if_not_exists\", near: \"a if_not_exists(\"" },
    { "ADD a :n b :n", "Syntax error; token: \"b\", near: \":n b :n\"" },
    { "DELETE a", "Syntax error; token: \"<EOF>\", near: \"a\"" },
    { "DELETE a b", "Syntax error; token: \"b\", near: \"a b\"" },
    { "SET a = (((b))", "Syntax error; token: \"<EOF>\", near: \")\"" },
    { "SET a = foo(((b)) $", "Syntax error; token: \"$\", near: \") $\"" },
    { "SET a = (foo(((b))) $", "Syntax error; token: \"$\", near: \") $\"" },
};

static const struct expr_example redundant_parentheses[] = {
    { "SET a = ((b))", "The expression has redundant parentheses;" },
    { "SET a = ((:n) + ((b)))", "The expression has redundant parentheses;" },
    { "SET a = (((:n) + (b)))", "The expression has redundant parentheses;" },
    { "SET a = list_append(((a)), b)", "The expression has redundant parentheses;" },
    { "SET a = ((c)) $", "The expression has redundant parentheses;" },
    { "SET a = (b + ((c))", "The expression has redundant parentheses;" },
    { "SET a = foo(((b))) $", "The expression has redundant parentheses;" },
};

static const struct expr_example word_faults[] = {
    { "SET name = :s", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "SET a = name", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "REMOVE a.status", "Attribute name is a reserved keyword; reserved keyword: status" },
    { "ADD size :n", "Attribute name is a reserved keyword; reserved keyword: size" },
    { "SET a[99999999999] = :s",
      "List index is not within the allowable range; index: [99999999999]" },
    { "SET a = foo(b)", "Invalid function name; function: foo" },
    { "SET a = size(b)", "The function is not allowed in an update expression; function: size" },
    { "SET a = attribute_exists(b)",
      "The function is not allowed in an update expression; function: attribute_exists" },
    { "SET a = contains(b, c) + d",
      "The function is not allowed in an update expression; function: contains" },
    { "SET a = list_append(a, b) + c",
      "The function is not allowed to be used this way in an expression; function: list_append" },
    { "SET a = (list_append(a, b)) + c",
      "The function is not allowed to be used this way in an expression; function: list_append" },
    { "SET a = list_append(list_append(a, b), c)",
      "The function is not allowed to be used this way in an expression; function: list_append" },
    { "SET a = if_not_exists(a, list_append(a, b))",
      "The function is not allowed to be used this way in an expression; function: list_append" },
    { "SET a = :s SET b = :s",
      "The \"SET\" section can only be used once in an update expression;" },
    { "SET a = :s REMOVE b SET c = :s",
      "The \"SET\" section can only be used once in an update expression;" },
    { "REMOVE a Remove b",
      "The \"REMOVE\" section can only be used once in an update expression;" },
    { "ADD a :n ADD b :n", "The \"ADD\" section can only be used once in an update expression;" },
    { "DELETE a :ss delete b :ss",
      "The \"DELETE\" section can only be used once in an update expression;" },
};

static const struct expr_example meaning_faults[] = {
    { "SET #q = :s",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "SET a = #q",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "SET a = :q",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "SET a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = :s",
      "The document path has too many nesting levels; nesting levels: 33" },
    { "SET a = if_not_exists(a)", "Incorrect number of operands for operator or function; operator "
                                  "or function: if_not_exists, number of operands: 1" },
    { "SET a = list_append(a, b, c)", "Incorrect number of operands for operator or function; "
                                      "operator or function: list_append, number of operands: 3" },
    { "SET a = if_not_exists(:s, b)",
      "Operator or function requires a document path; operator or function: if_not_exists" },
    { "SET a = if_not_exists(if_not_exists(a, b), c)",
      "Operator or function requires a document path; operator or function: if_not_exists" },
    { "SET a = if_not_exists(b, b)",
      "The first operand must be distinct from the remaining operands for this operator or "
      "function; operator: if_not_exists, first operand: [b]" },
    { "SET a = list_append(a, :s)", "Incorrect operand type for operator or function; operator or "
                                    "function: list_append, operand type: S" },
    { "SET a = list_append(:n, :s)", "Incorrect operand type for operator or function; operator or "
                                     "function: list_append, operand type: N" },
    { "SET a = b + :s",
      "Incorrect operand type for operator or function; operator or function: +, operand type: S" },
    { "SET a = :l - b",
      "Incorrect operand type for operator or function; operator or function: -, operand type: L" },
    { "ADD a :s", "Incorrect operand type for operator or function; operator: ADD, operand type: "
                  "STRING, typeSet: ALLOWED_FOR_ADD_OPERAND" },
    { "ADD a :b", "Incorrect operand type for operator or function; operator: ADD, operand type: "
                  "BINARY, typeSet: ALLOWED_FOR_ADD_OPERAND" },
    { "ADD a :t", "Incorrect operand type for operator or function; operator: ADD, operand type: "
                  "BOOLEAN, typeSet: ALLOWED_FOR_ADD_OPERAND" },
    { "ADD a :z", "Incorrect operand type for operator or function; operator: ADD, operand type: "
                  "NULL, typeSet: ALLOWED_FOR_ADD_OPERAND" },
    { "ADD a :l", "Incorrect operand type for operator or function; operator: ADD, operand type: "
                  "LIST, typeSet: ALLOWED_FOR_ADD_OPERAND" },
    { "ADD a :m", "Incorrect operand type for operator or function; operator: ADD, operand type: "
                  "MAP, typeSet: ALLOWED_FOR_ADD_OPERAND" },
    { "DELETE a :s", "Incorrect operand type for operator or function; operator: DELETE, operand "
                     "type: STRING, typeSet: ALLOWED_FOR_DELETE_OPERAND" },
    { "DELETE a :n", "Incorrect operand type for operator or function; operator: DELETE, operand "
                     "type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND" },
    { "DELETE a :l", "Incorrect operand type for operator or function; operator: DELETE, operand "
                     "type: LIST, typeSet: ALLOWED_FOR_DELETE_OPERAND" },
    { "SET a = :s, a = :n", "Two document paths overlap with each other; must remove or rewrite "
                            "one of these paths; path one: [a], path two: [a]" },
    { "SET a = :s, #a.b = :n", "Two document paths overlap with each other; must remove or rewrite "
                               "one of these paths; path one: [a], path two: [a, b]" },
    { "SET a.b = :s REMOVE a", "Two document paths overlap with each other; must remove or rewrite "
                               "one of these paths; path one: [a, b], path two: [a]" },
    { "ADD a[0].b :n DELETE a[0] :ss",
      "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
      "one: [a, [0], b], path two: [a, [0]]" },
    { "SET a.b = :s REMOVE a[0]",
      "Two document paths conflict with each other; must remove or rewrite one of these paths; "
      "path one: [a, b], path two: [a, [0]]" },
    { "SET a[0] = :s, a.b = :s",
      "Two document paths conflict with each other; must remove or rewrite one of these paths; "
      "path one: [a, [0]], path two: [a, b]" },
};

static const struct expr_example order_of_faults[] = {
    { "SET a = :s SET b", "Syntax error; token: \"<EOF>\", near: \"b\"" },
    { "SET a = :s SET b = ((c))", "The expression has redundant parentheses;" },
    { "SET a = :s SET name = c", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "SET a = :s SET #q = c",
      "The \"SET\" section can only be used once in an update expression;" },
    { "SET a = :s SET b = :s REMOVE name",
      "The \"SET\" section can only be used once in an update expression;" },
    { "SET name = foo(a)", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "SET a = foo(a), name = b", "Invalid function name; function: foo" },
    { "SET a = b + list_append(foo(b), c)",
      "The function is not allowed to be used this way in an expression; function: list_append" },
    { "SET #q = a, name = b", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "SET a = :q, #q = b",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "SET #q = a, b = :s, b = :n", "Two document paths overlap with each other; must remove or "
                                    "rewrite one of these paths; path one: [b], path two: [b]" },
    { "SET b = :s, b = :n, #q = a",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "SET a = :q, b = list_append(b)",
      "Incorrect number of operands for operator or function; operator or function: list_append, "
      "number of operands: 1" },
    { "SET a = list_append(b), b = :q",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "ADD a :s SET b = :q",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "SET b = :q ADD a :s", "Incorrect operand type for operator or function; operator: ADD, "
                             "operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND" },
    { "REMOVE a SET a = :q", "Two document paths overlap with each other; must remove or rewrite "
                             "one of these paths; path one: [a], path two: [a]" },
    { "SET a.b = :s, a.c = :n, a = :s",
      "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
      "one: [a, c], path two: [a]" },
    { "SET a = if_not_exists(:q)",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "SET a = if_not_exists(:s)", "Incorrect number of operands for operator or function; "
                                   "operator or function: if_not_exists, number of operands: 1" },
    { "SET a = :s + #q",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
};

static struct expr_examples examples = { .grammar = &expr_grammar_update,
                                         .names = names,
                                         .values = values };

/* --- Tests --- */

EXPR_EXAMPLES_TEST(updates_compile_in_the_order_of_the_text, examples, accepted)
EXPR_EXAMPLES_TEST(the_first_token_that_does_not_fit_is_shown_between_its_neighbours, examples,
                   syntax_errors)
EXPR_EXAMPLES_TEST(redundant_parentheses_come_before_later_syntax_errors, examples,
                   redundant_parentheses)
EXPR_EXAMPLES_TEST(words_and_sections_are_checked_once_the_syntax_is_right, examples, word_faults)
EXPR_EXAMPLES_TEST(paths_and_operands_are_checked_last, examples, meaning_faults)
EXPR_EXAMPLES_TEST(of_several_faults_the_services_first_is_reported, examples, order_of_faults)

static void the_text_has_from_1_to_4096_bytes(void **state)
{
    (void)state;
    expr_examples_expect(&examples, BYTES(""), "The expression can not be empty;");
    assert_true(expr_examples_accept(
        &examples, expr_examples_repeat(&examples, "REMOVE a", " ", PARSER_TEXT_SIZE_MAX - 8, "")));
    expr_examples_expect(
        &examples, expr_examples_repeat(&examples, "REMOVE a", " ", PARSER_TEXT_SIZE_MAX - 7, ""),
        "Expression size has exceeded the maximum allowed size;");
}

/* "SET x0 = b+c, x1 = b+c, ...", so many of them; then `tail`. */
static struct bytes sums(size_t count, const char *tail)
{
    struct buffer out;
    buffer_init(&out, examples.arena);
    buffer_append_bytes(&out, BYTES("SET "));
    for (size_t i = 0; i < count; i++)
        buffer_append_bytes(&out, arena_printf(examples.arena, "%sx%zu=b+c", i > 0 ? "," : "", i));
    buffer_append(&out, tail, strlen(tail));
    return buffer_bytes(&out);
}

static void there_are_at_most_300_operators_and_calls_count(void **state)
{
    (void)state;
    const char *want = "The expression contains too many operators; operator count: 301";
    assert_true(expr_examples_accept(&examples, sums(OPERAND_RULES_OPERATORS_MAX, "")));
    expr_examples_expect(&examples, sums(OPERAND_RULES_OPERATORS_MAX + 1, ""), want);
    assert_true(expr_examples_accept(
        &examples, sums(OPERAND_RULES_OPERATORS_MAX - 1, ",a=if_not_exists(b,c)")));
    expr_examples_expect(&examples, sums(OPERAND_RULES_OPERATORS_MAX, ",a=if_not_exists(b,c)"),
                         want);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    expr_examples_expect(&examples,
                         expr_examples_repeat(&examples, "SET a=", "(", PARSER_NESTING_MAX, ""),
                         "Syntax error; token: \"<EOF>\", near: \"(\"");
    expr_examples_expect(&examples,
                         expr_examples_repeat(&examples, "SET a=", "(", PARSER_NESTING_MAX + 1, ""),
                         "Syntax error; token: \"(\", near: \"((\"");
    expr_examples_expect(
        &examples, expr_examples_repeat(&examples, "SET a=", "f(", PARSER_NESTING_MAX + 1, ""),
        "Syntax error; token: \"(\", near: \"f(\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_compile_in_the_order_of_the_text),
        cmocka_unit_test(the_first_token_that_does_not_fit_is_shown_between_its_neighbours),
        cmocka_unit_test(redundant_parentheses_come_before_later_syntax_errors),
        cmocka_unit_test(words_and_sections_are_checked_once_the_syntax_is_right),
        cmocka_unit_test(paths_and_operands_are_checked_last),
        cmocka_unit_test(of_several_faults_the_services_first_is_reported),
        cmocka_unit_test(the_text_has_from_1_to_4096_bytes),
        cmocka_unit_test(there_are_at_most_300_operators_and_calls_count),
        cmocka_unit_test(nesting_is_bounded),
    };
    examples.arena = arena_create();
    int failed_count = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(examples.arena);
    return failed_count;
}
