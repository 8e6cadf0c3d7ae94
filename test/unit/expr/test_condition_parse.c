/* test_condition_parse.c -- condition expressions: what they compile to, and every refusal.
 *
 * The messages are what DynamoDB answers to the same text, behind "Invalid ConditionExpression: ".
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
    { "a = :s", "a={'S':'x'}" },
    { "a = b", "a=b" },
    { "a = #b", "a=b" },
    { "#a.#b[3].#c = :s", "a.b[3].c={'S':'x'}" },
    { "#dot.#r <> :s", "x.y.name<>{'S':'x'}" },
    { " a\t=\r\n:s ", "a={'S':'x'}" },
    { "a.b . c [ 0 ] [12] = :s", "a.b.c[0][12]={'S':'x'}" },
    { "a[2147483647] = :s", "a[2147483647]={'S':'x'}" },
    { ":s = a", "{'S':'x'}=a" },
    { ":s = :s2", "{'S':'x'}={'S':'y'}" },
    { "a_1 = :s", "a_1={'S':'x'}" },
    { "attribute_exists(a)", "attribute_exists(a)" },
    { "attribute_not_exists ( a.b )", "attribute_not_exists(a.b)" },
    { "begins_with(a, :s)", "begins_with(a,{'S':'x'})" },
    { "begins_with(:b, a)", "begins_with({'B':'AA=='},a)" },
    { "contains(a, b)", "contains(a,b)" },
    { "contains(:l, size(a))", "contains({'L':[]},size(a))" },
    { "size(a) >= :n", "size(a)>={'N':'1'}" },
    { "size(a) IN (size(b), :n)", "size(a) IN(size(b),{'N':'1'})" },
    { "size(:ss) = :n", "{'N':'1'}={'N':'1'}" },
    { "size(:s) < size(a)", "{'N':'1'}<size(a)" },
    { "a BETWEEN :n AND :n2", "a BETWEEN {'N':'1'} AND {'N':'2'}" },
    { "a between b and :s", "a BETWEEN b AND {'S':'x'}" },
    { "a IN (:s, :n, :l)", "a IN({'S':'x'},{'N':'1'},{'L':[]})" },
    { "NOT a = b", "NOT a=b" },
    { "not not a = b", "NOT NOT a=b" },
    { "a = :s AND b = :s OR c = :s AND d = :s",
      "a={'S':'x'} AND b={'S':'x'} OR c={'S':'x'} AND d={'S':'x'}" },
    { "a = :s OR b = :s AND c = :s", "a={'S':'x'} OR b={'S':'x'} AND c={'S':'x'}" },
    { "a = :s AND (b = :s OR c = :s)", "a={'S':'x'} AND (b={'S':'x'} OR c={'S':'x'})" },
    { "a = :s AND (b = :s AND c = :s)", "a={'S':'x'} AND (b={'S':'x'} AND c={'S':'x'})" },
    { "(a = :s AND b = :s) AND c = :s", "a={'S':'x'} AND b={'S':'x'} AND c={'S':'x'}" },
    { "NOT a = :s AND b = :s", "NOT a={'S':'x'} AND b={'S':'x'}" },
    { "NOT (a = :s AND b = :s)", "NOT (a={'S':'x'} AND b={'S':'x'})" },
    { "(a) = (:s)", "a={'S':'x'}" },
    { "((a) = (:s))", "a={'S':'x'}" },
    { "a BETWEEN (b) AND (c)", "a BETWEEN b AND c" },
    { "a IN ((b))", "a IN(b)" },
    { "contains((a), (b))", "contains(a,b)" },
    { "(size(a)) = :n", "size(a)={'N':'1'}" },
    { "(contains(a, b)) AND c = d", "contains(a,b) AND c=d" },
    { "a BETWEEN :n AND :n2 AND b = :s", "a BETWEEN {'N':'1'} AND {'N':'2'} AND b={'S':'x'}" },
    { "a < :s", "a<{'S':'x'}" },
    { "a <= :n", "a<={'N':'1'}" },
    { ":b > a", "{'B':'AA=='}>a" },
    { "a = :l", "a={'L':[]}" },
    { "a <> :z", "a<>{'NULL':true}" },
    { "size(a) = size(a)", "size(a)=size(a)" },
    { "a[0] = a[1]", "a[0]=a[1]" },
    { "a BETWEEN size(:ss) AND :s2", "a BETWEEN {'N':'1'} AND {'S':'y'}" },
};

static const struct expr_example syntax_errors[] = {
    { " ", "Syntax error; token: \"<EOF>\", near: \" \"" },
    { "a", "Syntax error; token: \"<EOF>\", near: \"a\"" },
    { "a =", "Syntax error; token: \"<EOF>\", near: \"=\"" },
    { "a =  ", "Syntax error; token: \"<EOF>\", near: \"=  \"" },
    { "a == :s", "Syntax error; token: \"=\", near: \"== :s\"" },
    { "a > = :s", "Syntax error; token: \"=\", near: \"> = :s\"" },
    { "a <>> :s", "Syntax error; token: \">\", near: \"<>> :s\"" },
    { "a != :s", "Syntax error; token: \"!\", near: \"a !=\"" },
    { "a = :s AND", "Syntax error; token: \"<EOF>\", near: \"AND\"" },
    { "a = :s and b", "Syntax error; token: \"<EOF>\", near: \"b\"" },
    { "AND", "Syntax error; token: \"AND\", near: \"AND\"" },
    { "OR OR", "Syntax error; token: \"OR\", near: \"OR OR\"" },
    { "NOT", "Syntax error; token: \"<EOF>\", near: \"NOT\"" },
    { "a = NOT b", "Syntax error; token: \"NOT\", near: \"= NOT b\"" },
    { "a = :s b", "Syntax error; token: \"b\", near: \":s b\"" },
    { "(a = :s", "Syntax error; token: \"<EOF>\", near: \":s\"" },
    { "a = :s)", "Syntax error; token: \")\", near: \":s)\"" },
    { "()", "Syntax error; token: \")\", near: \"()\"" },
    { "(", "Syntax error; token: \"<EOF>\", near: \"(\"" },
    { "(a)", "Syntax error; token: \"<EOF>\", near: \")\"" },
    { "(a) AND b", "Syntax error; token: \"AND\", near: \") AND b\"" },
    { "(a AND b)", "Syntax error; token: \"AND\", near: \"a AND b\"" },
    { "NOT (a)", "Syntax error; token: \"<EOF>\", near: \")\"" },
    { "a = (b = c)", "Syntax error; token: \"=\", near: \"b = c\"" },
    { "(a = b) = c", "Syntax error; token: \"=\", near: \") = c\"" },
    { "a = b = c", "Syntax error; token: \"=\", near: \"b = c\"" },
    { "a = 5", "Syntax error; token: \"5\", near: \"= 5\"" },
    { "a = 'x'", "Syntax error; token: \"'\", near: \"= 'x\"" },
    { "a = \"x\"", "Syntax error; token: \"\"\", near: \"= \"x\"" },
    { "5 = a", "Syntax error; token: \"5\", near: \"5 =\"" },
    { "a = 10x", "Syntax error; token: \"10\", near: \"= 10x\"" },
    { "a $ b", "Syntax error; token: \"$\", near: \"a $ b\"" },
    { " $", "Syntax error; token: \"$\", near: \" $\"" },
    { "a b $ c", "Syntax error; token: \"b\", near: \"a b $\"" },
    { "a = :", "Syntax error; token: \":\", near: \"= :\"" },
    { "a = :-x", "Syntax error; token: \":\", near: \"= :-\"" },
    { "# = a", "Syntax error; token: \"#\", near: \"# =\"" },
    { "a-b = :s", "Syntax error; token: \"-\", near: \"a-b\"" },
    { "_a = :s", "Syntax error; token: \"_\", near: \"_a\"" },
    { "\xC3"
      "\xA9"
      " = :s",
      "Syntax error; token: \"\xC3"
      "\xA9"
      "\", near: \"\xC3"
      "\xA9"
      " =\"" },
    { "a \xF0"
      "\x9F"
      "\x98"
      "\x80"
      " b",
      "Syntax error; token: \"\xF0"
      "\x9F"
      "\x98"
      "\x80"
      "\", near: \"a \xF0"
      "\x9F"
      "\x98"
      "\x80"
      " b\"" },
    { "a\xC2"
      "\xA0"
      "= b",
      "Syntax error; token: \"\xC2"
      "\xA0"
      "\", near: \"a\xC2"
      "\xA0"
      "=\"" },
    { "a=b\x0B"
      "AND c=d",
      "Syntax error; token: \"\x0B"
      "\", near: \"b\x0B"
      "AND\"" },
    { ".a = :s", "Syntax error; token: \".\", near: \".a\"" },
    { "a. = :s", "Syntax error; token: \"=\", near: \". = :s\"" },
    { "a..b = :s", "Syntax error; token: \".\", near: \"..b\"" },
    { "a.:s = :s", "Syntax error; token: \":s\", near: \".:s =\"" },
    { ":s.a = :s", "Syntax error; token: \".\", near: \":s.a\"" },
    { "a[ = :s", "Syntax error; token: \"=\", near: \"[ = :s\"" },
    { "a[x] = :s", "Syntax error; token: \"x\", near: \"[x]\"" },
    { "a[-1] = :s", "Syntax error; token: \"-\", near: \"[-1\"" },
    { "a[0 = :s", "Syntax error; token: \"=\", near: \"0 = :s\"" },
    { "a[00] = :s", "Syntax error; token: \"0\", near: \"00]\"" },
    { "a[0]b = :s", "Syntax error; token: \"b\", near: \"]b =\"" },
    { "a.b(c)", "Syntax error; token: \"(\", near: \"b(c\"" },
    { "#a(b)", "Syntax error; token: \"(\", near: \"#a(b\"" },
    { "a[0](b)", "Syntax error; token: \"(\", near: \"](b\"" },
    { "a.AND = b", "Syntax error; token: \"AND\", near: \".AND =\"" },
    { "SET = a", "Syntax error; token: \"SET\", near: \"SET =\"" },
    { "remove = a", "Syntax error; token: \"remove\", near: \"remove =\"" },
    { "IN = a", "Syntax error; token: \"IN\", near: \"IN =\"" },
    { "a IN :n", "Syntax error; token: \":n\", near: \"IN :n\"" },
    { "a IN ()", "Syntax error; token: \")\", near: \"()\"" },
    { "a IN (:n,)", "Syntax error; token: \")\", near: \",)\"" },
    { "a IN (:n", "Syntax error; token: \"<EOF>\", near: \":n\"" },
    { "a NOT IN (:n)", "Syntax error; token: \"NOT\", near: \"a NOT IN\"" },
    { "a BETWEEN b", "Syntax error; token: \"<EOF>\", near: \"b\"" },
    { "a BETWEEN b OR c", "Syntax error; token: \"OR\", near: \"b OR c\"" },
    { "a BETWEEN b AND c AND d", "Syntax error; token: \"<EOF>\", near: \"d\"" },
    { "foo()", "Syntax error; token: \")\", near: \"()\"" },
    { "foo(a b)", "Syntax error; token: \"b\", near: \"a b)\"" },
    { "size(", "Syntax error; token: \"<EOF>\", near: \"(\"" },
    { "size(a", "Syntax error; token: \"<EOF>\", near: \"a\"" },
    { "begins_with a, :s", "Syntax error; token: \"a\", near: \"begins_with a,\"" },
    { "a = :s,", "Syntax error; token: \",\", near: \":s,\"" },
    { "a = :s;", "Syntax error; token: \";\", near: \":s;\"" },
};

static const struct expr_example redundant_parentheses[] = {
    { "((a = b))", "The expression has redundant parentheses;" },
    { "((a)) = b", "The expression has redundant parentheses;" },
    { "a = ((b))", "The expression has redundant parentheses;" },
    { "NOT ((a = b))", "The expression has redundant parentheses;" },
    { "((NOT a = b))", "The expression has redundant parentheses;" },
    { "(((a = b) AND c = d))", "The expression has redundant parentheses;" },
    { "contains(((a)), b)", "The expression has redundant parentheses;" },
    { "a IN (((b)))", "The expression has redundant parentheses;" },
    { "((size(a))) = :n", "The expression has redundant parentheses;" },
    { "((a = b)) AND", "The expression has redundant parentheses;" },
    { "((a = b)) = c", "The expression has redundant parentheses;" },
    { "(x = ((c))", "The expression has redundant parentheses;" },
    { "a = ((b)) x", "The expression has redundant parentheses;" },
    { "foo(((a)))]", "The expression has redundant parentheses;" },
    { "((contains(a, b))) x", "The expression has redundant parentheses;" },
    { "((a = b OR contains(c, d))) x", "The expression has redundant parentheses;" },
};

static const struct expr_example undecided_parentheses[] = {
    { "((a))", "Syntax error; token: \"<EOF>\", near: \")\"" },
    { "((a)) x", "Syntax error; token: \"x\", near: \") x\"" },
    { "(((a))", "Syntax error; token: \"<EOF>\", near: \")\"" },
    { "((a = b", "Syntax error; token: \"<EOF>\", near: \"b\"" },
    { "((a = b) $", "Syntax error; token: \"$\", near: \") $\"" },
    { "(a = b) = ((c))", "Syntax error; token: \"=\", near: \") = (\"" },
    { "contains(((a)), b", "Syntax error; token: \"<EOF>\", near: \"b\"" },
    { "(foo(((a))) x", "Syntax error; token: \"x\", near: \") x\"" },
    { "(((contains(a, b)))", "Syntax error; token: \"<EOF>\", near: \")\"" },
};

static const struct expr_example word_faults[] = {
    { "name = a", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "Status = :s", "Attribute name is a reserved keyword; reserved keyword: Status" },
    { "a.size = b", "Attribute name is a reserved keyword; reserved keyword: size" },
    { "size = b", "Attribute name is a reserved keyword; reserved keyword: size" },
    { "a.b.TTL = :s", "Attribute name is a reserved keyword; reserved keyword: TTL" },
    { "a[2147483648] = b", "List index is not within the allowable range; index: [2147483648]" },
    { "a[99999999999999999999] = b",
      "List index is not within the allowable range; index: [99999999999999999999]" },
    { "foo(a)", "Invalid function name; function: foo" },
    { "Size(a) = :n", "Invalid function name; function: Size" },
    { "ATTRIBUTE_EXISTS(a)", "Invalid function name; function: ATTRIBUTE_EXISTS" },
    { "if_not_exists(a, :s) = :s",
      "The function is not allowed in a condition expression; function: if_not_exists" },
    { "list_append(a, :l)",
      "The function is not allowed in a condition expression; function: list_append" },
    { "list_append(a, :l) = b",
      "The function is not allowed in a condition expression; function: list_append" },
    { "size(a)",
      "The function is not allowed to be used this way in an expression; function: size" },
    { "NOT size(a)",
      "The function is not allowed to be used this way in an expression; function: size" },
    { "size(a) AND a = b",
      "The function is not allowed to be used this way in an expression; function: size" },
    { "(size(a))",
      "The function is not allowed to be used this way in an expression; function: size" },
    { "contains(a, b) = :t",
      "The function is not allowed to be used this way in an expression; function: contains" },
    { "a = contains(b, c)",
      "The function is not allowed to be used this way in an expression; function: contains" },
    { "a IN (contains(b, c))",
      "The function is not allowed to be used this way in an expression; function: contains" },
    { "a BETWEEN contains(b, c) AND :n",
      "The function is not allowed to be used this way in an expression; function: contains" },
    { "(contains(a, b)) = c",
      "The function is not allowed to be used this way in an expression; function: contains" },
    { "contains(contains(a, b), c)",
      "The function is not allowed to be used this way in an expression; function: contains" },
};

static const struct expr_example meaning_faults[] = {
    { "#q = a",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "a.#q = b",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "a = :q",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = b",
      "The document path has too many nesting levels; nesting levels: 33" },
    { "attribute_exists(a, b)", "Incorrect number of operands for operator or function; operator "
                                "or function: attribute_exists, number of operands: 2" },
    { "contains(a)", "Incorrect number of operands for operator or function; operator or function: "
                     "contains, number of operands: 1" },
    { "begins_with(a, b, c)", "Incorrect number of operands for operator or function; operator or "
                              "function: begins_with, number of operands: 3" },
    { "size(a, b) = :n", "Incorrect number of operands for operator or function; operator or "
                         "function: size, number of operands: 2" },
    { "attribute_exists(:s)",
      "Operator or function requires a document path; operator or function: attribute_exists" },
    { "attribute_not_exists(size(a))",
      "Operator or function requires a document path; operator or function: attribute_not_exists" },
    { "attribute_type(a, :s)",
      "Invalid attribute type name found; type: x, valid types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}" },
    { "attribute_type(a, :n)", "Incorrect operand type for operator or function; operator or "
                               "function: attribute_type, operand type: N" },
    { "attribute_type(a, b)",
      "Incorrect operand type for operator or function; operator or function: attribute_type, "
      "operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}" },
    { "attribute_type(a, size(b))", "Incorrect operand type for operator or function; operator or "
                                    "function: attribute_type, operand type: N" },
    { "begins_with(a, :n)", "Incorrect operand type for operator or function; operator or "
                            "function: begins_with, operand type: N" },
    { "begins_with(:l, a)", "Incorrect operand type for operator or function; operator or "
                            "function: begins_with, operand type: L" },
    { "begins_with(size(a), :s)", "Incorrect operand type for operator or function; operator or "
                                  "function: begins_with, operand type: N" },
    { "size(:n) = :n", "Incorrect operand type for operator or function; operator or function: "
                       "size, operand type: N" },
    { "size(:t) = :n", "Incorrect operand type for operator or function; operator or function: "
                       "size, operand type: BOOL" },
    { "size(size(a)) = :n", "Incorrect operand type for operator or function; operator or "
                            "function: size, operand type: N" },
    { "a < :t", "Incorrect operand type for operator or function; operator or function: <, operand "
                "type: BOOL" },
    { "a <= :l", "Incorrect operand type for operator or function; operator or function: <=, "
                 "operand type: L" },
    { "a > :ss", "Incorrect operand type for operator or function; operator or function: >, "
                 "operand type: SS" },
    { ":m >= a", "Incorrect operand type for operator or function; operator or function: >=, "
                 "operand type: M" },
    { "a BETWEEN :t AND :t", "Incorrect operand type for operator or function; operator or "
                             "function: BETWEEN, operand type: BOOL" },
    { ":z BETWEEN a AND b", "Incorrect operand type for operator or function; operator or "
                            "function: BETWEEN, operand type: NULL" },
    { "a BETWEEN :n AND :s",
      "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
      "operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:x}" },
    { "a BETWEEN :n2 AND :n",
      "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
      "bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}" },
    { "a BETWEEN :s2 AND :s",
      "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
      "bound operand: AttributeValue: {S:y}, upper bound operand: AttributeValue: {S:x}" },
    { "a = a", "The first operand must be distinct from the remaining operands for this operator "
               "or function; operator: =, first operand: [a]" },
    { "#a.b < a.#b", "The first operand must be distinct from the remaining operands for this "
                     "operator or function; operator: <, first operand: [a, b]" },
    { "a[0] <> a[0]", "The first operand must be distinct from the remaining operands for this "
                      "operator or function; operator: <>, first operand: [a, [0]]" },
    { "a BETWEEN b AND a", "The first operand must be distinct from the remaining operands for "
                           "this operator or function; operator: BETWEEN, first operand: [a]" },
    { "a IN (b, a)", "The first operand must be distinct from the remaining operands for this "
                     "operator or function; operator: IN, first operand: [a]" },
    { "begins_with(a, a)", "The first operand must be distinct from the remaining operands for "
                           "this operator or function; operator: begins_with, first operand: [a]" },
    { "contains(a.b, a.b)",
      "The first operand must be distinct from the remaining operands for this operator or "
      "function; operator: contains, first operand: [a, b]" },
    { "attribute_type(a, a)",
      "The first operand must be distinct from the remaining operands for this operator or "
      "function; operator: attribute_type, first operand: [a]" },
};

static const struct expr_example order_of_faults[] = {
    { "#q = a AND ((b = c))", "The expression has redundant parentheses;" },
    { "name = a AND ((b = c))", "The expression has redundant parentheses;" },
    { "#q = a AND name = b", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "a = :q AND b[99999999999] = c",
      "List index is not within the allowable range; index: [99999999999]" },
    { "a = a AND foo(b)", "Invalid function name; function: foo" },
    { "a = a AND size(b)",
      "The function is not allowed to be used this way in an expression; function: size" },
    { "foo(name)", "Invalid function name; function: foo" },
    { "name = a AND foo(b)", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "size(foo(a))",
      "The function is not allowed to be used this way in an expression; function: size" },
    { "foo(a) = name", "Invalid function name; function: foo" },
    { "size(name) AND foo(a)",
      "The function is not allowed to be used this way in an expression; function: size" },
    { "a.name[99999999999] = b", "Attribute name is a reserved keyword; reserved keyword: name" },
    { "#q = :q",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { ":q = #q",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "a = a AND b = :q", "The first operand must be distinct from the remaining operands for this "
                          "operator or function; operator: =, first operand: [a]" },
    { "a = :q AND b = b",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "contains(#q, :q, a)",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "attribute_exists(:q)",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "attribute_exists(a, a)", "Incorrect number of operands for operator or function; operator "
                                "or function: attribute_exists, number of operands: 2" },
    { "begins_with(:n, :q)",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "a BETWEEN :t AND :q",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "a BETWEEN a AND :t", "Incorrect operand type for operator or function; operator or "
                            "function: BETWEEN, operand type: BOOL" },
    { "a BETWEEN a AND #q",
      "An expression attribute name used in the document path is not defined; attribute name: #q" },
    { "a IN (a, :q)",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { ":l < :q",
      "An expression attribute value used in expression is not defined; attribute value: :q" },
    { "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.#q.a = b",
      "The document path has too many nesting levels; nesting levels: 33" },
};

static struct expr_examples examples = { .grammar = &expr_grammar_condition,
                                         .names = names,
                                         .values = values };

/* --- Tests --- */

EXPR_EXAMPLES_TEST(conditions_compile_with_their_precedence, examples, accepted)
EXPR_EXAMPLES_TEST(the_first_token_that_does_not_fit_is_shown_between_its_neighbours, examples,
                   syntax_errors)
EXPR_EXAMPLES_TEST(redundant_parentheses_come_before_later_syntax_errors, examples,
                   redundant_parentheses)
EXPR_EXAMPLES_TEST(parentheses_of_unknown_content_give_way_to_syntax_errors, examples,
                   undecided_parentheses)
EXPR_EXAMPLES_TEST(words_are_checked_once_the_syntax_is_right, examples, word_faults)
EXPR_EXAMPLES_TEST(operands_are_checked_last, examples, meaning_faults)
EXPR_EXAMPLES_TEST(of_several_faults_the_services_first_is_reported, examples, order_of_faults)

static void attribute_type_knows_every_type(void **state)
{
    (void)state;
    for (enum value_type type = 0; type < VALUE_TYPE_COUNT; type++) {
        struct expr_params params;
        struct error err;
        error_init(&err, examples.arena);
        struct bytes json =
            arena_printf(examples.arena, "{\":t\":{\"S\":\"%s\"}}%c", value_type_name(type), '\0');
        assert_true(expr_text_params(examples.arena, NULL, (const char *)json.data, &params, &err));
        const struct condition *condition = condition_parse(
            examples.arena, BYTES("attribute_type(a, :t)"), "ConditionExpression", &params, &err);
        assert_non_null(condition);
        assert_int_equal(condition->type, CONDITION_ATTRIBUTE_TYPE);
        assert_int_equal(condition->attribute_type, type);
    }
}

static void the_size_of_a_string_counts_utf16_units(void **state)
{
    (void)state;
    struct expr_params params;
    struct error err;
    error_init(&err, examples.arena);
    assert_true(expr_text_params(examples.arena, NULL,
                                 "{\":u\":{\"S\":\"\xC3\xA9\xF0\x9F\x98\x80\"},"
                                 "\":b\":{\"B\":\"AAAAAAAAAAAAAA==\"}}",
                                 &params, &err));
    const struct condition *condition = condition_parse(
        examples.arena, BYTES("size(:u) = size(:b)"), "ConditionExpression", &params, &err);
    assert_non_null(condition);
    struct expr_text shown;
    expr_text_init(&shown, examples.arena);
    expr_text_condition(&shown, condition);
    struct bytes text = expr_text_show(&shown);
    assert_true(bytes_equal_text(text, "{'N':'3'}={'N':'10'}"));
}

static void the_text_has_from_1_to_4096_bytes(void **state)
{
    (void)state;
    expr_examples_expect(&examples, BYTES(""), "The expression can not be empty;");
    assert_true(expr_examples_accept(
        &examples, expr_examples_repeat(&examples, "a = b", " ", PARSER_TEXT_SIZE_MAX - 5, "")));
    expr_examples_expect(
        &examples, expr_examples_repeat(&examples, "a = b", " ", PARSER_TEXT_SIZE_MAX - 4, ""),
        "Expression size has exceeded the maximum allowed size; expression size: 4097");
}

static void there_are_at_most_300_operators_and_calls_are_none(void **state)
{
    (void)state;
    const char *want = "The expression contains too many operators; operator count: 301";
    assert_int_equal(OPERAND_RULES_OPERATORS_MAX, 300);
    assert_true(expr_examples_accept(
        &examples, expr_examples_repeat(&examples, "", "a=b AND ", 149, "NOT c=d")));
    assert_true(expr_examples_accept(
        &examples, expr_examples_repeat(&examples, "", "a=b OR ", 149, "NOT c=d")));
    expr_examples_expect(&examples, expr_examples_repeat(&examples, "", "a=b AND ", 150, "c=d"),
                         want);
    expr_examples_expect(&examples, expr_examples_repeat(&examples, "", "a=b AND ", 300, "c=d"),
                         want);
    assert_true(
        expr_examples_accept(&examples, expr_examples_repeat(&examples, "", "NOT ", 299, "a=b")));
    expr_examples_expect(&examples, expr_examples_repeat(&examples, "", "NOT ", 300, "a=b"), want);
    assert_true(expr_examples_accept(
        &examples, expr_examples_repeat(&examples, "", "NOT ", 300, "contains(a,b)")));
    expr_examples_expect(&examples,
                         expr_examples_repeat(&examples, "", "NOT ", 301, "contains(a,b)"), want);
    expr_examples_expect(
        &examples, expr_examples_repeat(&examples, "", "a BETWEEN b AND c AND ", 150, "c=d"), want);
    assert_true(expr_examples_accept(
        &examples, expr_examples_repeat(&examples, "", "a IN(b) AND ", 149, "c=d")));
    expr_examples_expect(&examples, expr_examples_repeat(&examples, "", "a IN(b) AND ", 150, "c=d"),
                         want);
    expr_examples_expect(
        &examples, expr_examples_repeat(&examples, "", "a=b AND ", 300, "c=c"),
        "The first operand must be distinct from the remaining operands for this operator or "
        "function; operator: =, first operand: [c]");
}

static void in_takes_at_most_100_operands(void **state)
{
    (void)state;
    assert_int_equal(OPERAND_RULES_IN_MAX, 100);
    assert_true(
        expr_examples_accept(&examples, expr_examples_repeat(&examples, "a IN (", "b,", 99, "b)")));
    expr_examples_expect(
        &examples, expr_examples_repeat(&examples, "a IN (", "b,", 100, "b)"),
        "The IN operator is provided with too many operands; number of operands: 101");
}

static void paths_have_at_most_32_levels(void **state)
{
    (void)state;
    assert_true(
        expr_examples_accept(&examples, expr_examples_repeat(&examples, "a", "[0]", 31, " = b")));
    expr_examples_expect(&examples, expr_examples_repeat(&examples, "a", "[0]", 32, " = b"),
                         "The document path has too many nesting levels; nesting levels: 33");
    expr_examples_expect(&examples, expr_examples_repeat(&examples, "a", ".a", 42, " = b"),
                         "The document path has too many nesting levels; nesting levels: 43");
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    struct buffer deep;
    buffer_init(&deep, examples.arena);
    buffer_append_bytes(&deep, expr_examples_repeat(&examples, "", "NOT(", 299, "a=b"));
    buffer_append_bytes(&deep, expr_examples_repeat(&examples, "", ")", 299, ""));
    assert_true(expr_examples_accept(&examples, buffer_bytes(&deep)));
    expr_examples_expect(&examples,
                         expr_examples_repeat(&examples, "", "(", PARSER_NESTING_MAX, ""),
                         "Syntax error; token: \"<EOF>\", near: \"(\"");
    expr_examples_expect(&examples,
                         expr_examples_repeat(&examples, "", "(", PARSER_NESTING_MAX + 1, ""),
                         "Syntax error; token: \"(\", near: \"((\"");
    expr_examples_expect(&examples,
                         expr_examples_repeat(&examples, "", "(", PARSER_TEXT_SIZE_MAX, ""),
                         "Syntax error; token: \"(\", near: \"(((\"");
    expr_examples_expect(&examples,
                         expr_examples_repeat(&examples, "", "size(", PARSER_NESTING_MAX + 1, ""),
                         "Syntax error; token: \"(\", near: \"size(\"");
}

static void the_parameter_and_the_envelope_stand_before_the_message(void **state)
{
    (void)state;
    struct expr_params params;
    struct expr_params_input input = { 0 };
    struct error err;
    error_init(&err, examples.arena);
    err.family = ERROR_FAMILY_ENVELOPED;
    assert_true(expr_params_init(&params, examples.arena, &input, &err));
    assert_null(condition_parse(examples.arena, BYTES("a ="), "FilterExpression", &params, &err));
    assert_true(bytes_equal_text(err.message,
                                 "1 validation error detected: Invalid FilterExpression: Syntax "
                                 "error; token: \"<EOF>\", near: \"=\""));
    error_clear(&err);
    assert_null(condition_parse(examples.arena, BYTES(""), "FilterExpression", &params, &err));
    assert_true(bytes_equal_text(err.message, "1 validation error detected: Invalid "
                                              "FilterExpression: The expression can not be "
                                              "empty;"));
    err.family = ERROR_FAMILY_NEWER;
    assert_null(condition_parse(examples.arena, BYTES(""), "FilterExpression", &params, &err));
    assert_true(bytes_equal_text(err.message,
                                 "Invalid FilterExpression: The expression can not be empty;"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_compile_with_their_precedence),
        cmocka_unit_test(the_first_token_that_does_not_fit_is_shown_between_its_neighbours),
        cmocka_unit_test(redundant_parentheses_come_before_later_syntax_errors),
        cmocka_unit_test(parentheses_of_unknown_content_give_way_to_syntax_errors),
        cmocka_unit_test(words_are_checked_once_the_syntax_is_right),
        cmocka_unit_test(operands_are_checked_last),
        cmocka_unit_test(of_several_faults_the_services_first_is_reported),
        cmocka_unit_test(attribute_type_knows_every_type),
        cmocka_unit_test(the_size_of_a_string_counts_utf16_units),
        cmocka_unit_test(the_text_has_from_1_to_4096_bytes),
        cmocka_unit_test(there_are_at_most_300_operators_and_calls_are_none),
        cmocka_unit_test(in_takes_at_most_100_operands),
        cmocka_unit_test(paths_have_at_most_32_levels),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(the_parameter_and_the_envelope_stand_before_the_message),
    };
    examples.arena = arena_create();
    int failed_count = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(examples.arena);
    return failed_count;
}
