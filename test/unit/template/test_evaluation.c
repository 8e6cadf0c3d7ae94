/* test_evaluation.c -- each function, pseudo parameter, condition and parameter; references and
 * their order; and what evaluation is bounded by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "template/evaluation.h"
#include "template/pattern.h"
#include "template_fixture.h"

#define TABLE                                                                                      \
    "'Type':'AWS::DynamoDB::Table','Properties':{'AttributeDefinitions':[{'AttributeName':'k',"    \
    "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}]"
#define HEAD                                                                                       \
    "{'Transform':'AWS::LanguageExtensions',"                                                      \
    "'Parameters':{'P':{'Type':'String','Default':'p'},'N':{'Type':'Number','Default':'1.50'},"    \
    "'L':{'Type':'CommaDelimitedList','Default':'a, b,c'}},"                                       \
    "'Mappings':{'M':{'x':{'y':'z','l':['1','2'],'n':5}}},"                                        \
    "'Conditions':{'Yes':{'Fn::Equals':['a','a']},'No':{'Fn::Not':[{'Condition':'Yes'}]}},"        \
    "'Resources':{'T':{" TABLE ",'TableName':'tee'}},'F':{'Type':'AWS::SNS::Topic'}"

/* The value of an expression, as an output. */
static const char *value_of(struct arena *arena, const char *expression)
{
    struct bytes text =
        arena_printf(arena, HEAD "},'Outputs':{'O':{'Value':%s}}}%c", expression, 0);
    struct template_error err;
    const struct template_environment environment = { .stack_name = BYTES("st") };
    const struct template_result *result =
        template_fixture_evaluate(arena, (const char *)text.data, &environment, &err);
    struct bytes out = result == NULL ? err.message : result->outputs[0].value;
    return (const char *)arena_printf(arena, "%s%.*s%c", result == NULL ? "!" : "", BYTES_FMT(out),
                                      0)
        .data;
}

static void functions_have_their_values(void **state)
{
    static const struct {
        const char *expression, *want;
    } cases[] = {
        { "'text'", "text" },
        { "5", "5" },
        { "true", "true" },
        { "{'Ref':'P'}", "p" },
        { "{'Ref':'N'}", "1.50" },
        { "{'Ref':'L'}", "a,b,c" },
        { "{'Ref':'T'}", "tee" },
        { "{'Ref':'F'}", "F" },
        { "{'Ref':'AWS::AccountId'}", "000000000000" },
        { "{'Ref':'AWS::Region'}", "us-east-1" },
        { "{'Ref':'AWS::Partition'}", "aws" },
        { "{'Ref':'AWS::StackName'}", "st" },
        { "{'Ref':'AWS::StackId'}", "arn:aws:cloudformation:us-east-1:000000000000:stack/st/0" },
        { "{'Ref':'AWS::URLSuffix'}", "amazonaws.com" },
        { "{'Ref':'AWS::NotificationARNs'}", "" },
        { "{'Fn::GetAtt':['T','Arn']}", "arn:aws:dynamodb:us-east-1:000000000000:table/tee" },
        { "{'Fn::GetAtt':'T.Arn'}", "arn:aws:dynamodb:us-east-1:000000000000:table/tee" },
        { "{'Fn::GetAtt':['F','TopicName']}", "F.TopicName" },
        { "{'Fn::Sub':'${P}-${T}-${T.Arn}-${AWS::Region}'}",
          "p-tee-arn:aws:dynamodb:us-east-1:000000000000:table/tee-us-east-1" },
        { "{'Fn::Sub':'${!P} $P ${ $'}", "${P} $P ${ $" },
        { "{'Fn::Sub':['${P}${v}',{'v':{'Ref':'N'},'P':'mine'}]}", "mine1.50" },
        { "{'Fn::Join':['-',['a',{'Ref':'P'},5,true]]}", "a-p-5-true" },
        { "{'Fn::Join':['',{'Ref':'L'}]}", "abc" },
        { "{'Fn::Join':['-',['a',{'Ref':'AWS::NoValue'},'b']]}", "a-b" },
        { "{'Fn::Join':['-',[]]}", "" },
        { "{'Fn::Select':[1,{'Ref':'L'}]}", "b" },
        { "{'Fn::Select':['0',['x','y']]}", "x" },
        { "{'Fn::Split':['-','a-b--c']}", "a,b,,c" },
        { "{'Fn::Select':[1,{'Fn::Split':['::','x::y']}]}", "y" },
        { "{'Fn::If':['Yes','a','b']}", "a" },
        { "{'Fn::If':['No','a',{'Fn::If':['Yes','c','d']}]}", "c" },
        { "{'Fn::FindInMap':['M','x','y']}", "z" },
        { "{'Fn::FindInMap':['M',{'Fn::Select':[0,['x']]},'l']}", "1,2" },
        { "{'Fn::FindInMap':['M','none','y',{'DefaultValue':{'Ref':'P'}}]}", "p" },
        { "{'Fn::Base64':'hello'}", "aGVsbG8=" },
        { "{'Fn::GetAZs':''}", "us-east-1a,us-east-1b,us-east-1c" },
        { "{'Fn::Select':[0,{'Fn::GetAZs':'eu-west-1'}]}", "eu-west-1a" },
        { "{'Fn::Length':{'Ref':'L'}}", "3" },
        { "{'Fn::ToJsonString':{'a':[1,{'Ref':'P'}]}}", "{\"a\":[1,\"p\"]}" },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(value_of(arena, cases[i].expression), cases[i].want);
}

static void wrong_functions_are_refused(void **state)
{
    static const struct {
        const char *expression, *want;
    } cases[] = {
        { "{'Ref':'Nobody'}", "!Template format error: Unresolved resource dependencies [Nobody]" },
        { "{'Ref':5}", "!Template error: every Ref object must have a single String value." },
        { "{'Ref':'AWS::Nothing'}", "!Template format error: Unresolved resource dependencies" },
        { "{'Fn::GetAtt':['T','Colour']}",
          "!Template error: resource T does not support attribute type Colour in Fn::GetAtt" },
        { "{'Fn::GetAtt':'T'}", "!Template error: every Fn::GetAtt object requires two" },
        { "{'Fn::Sub':'${a b}'}",
          "!Template error: variable names in Fn::Sub syntax must contain" },
        { "{'Fn::Sub':'${L}'}", "!Template error: Fn::Sub: the value of ${L} is no string" },
        { "{'Fn::Sub':['x']}", "!Template error: One or more Fn::Sub intrinsic functions" },
        { "{'Fn::Join':'x'}", "!Template error: every Fn::Join object requires two parameters" },
        { "{'Fn::Join':['',['a',{'b':1}]]}",
          "!Template error: every Fn::Join object requires two" },
        { "{'Fn::Select':[3,{'Ref':'L'}]}",
          "!Template error: Fn::Select cannot select nonexistent value at index 3" },
        { "{'Fn::Select':['x',{'Ref':'L'}]}", "!Template error: every Fn::Select object requires" },
        { "{'Fn::Split':['','x']}", "!Template error: every Fn::Split object requires two" },
        { "{'Fn::If':['Nobody',1,2]}",
          "!Template format error: Unresolved condition dependency Nobody" },
        { "{'Fn::If':['Yes',1]}", "!Template error: Fn::If requires a list argument with three" },
        { "{'Fn::FindInMap':['M','x','none']}",
          "!Template error: Unable to get mapping for M::x::none" },
        { "{'Fn::FindInMap':['None','x','y']}",
          "!Template error: Mapping named 'None' is not present" },
        { "{'Fn::ImportValue':'e'}", "!No export named e found." },
        { "{'Fn::Cidr':['10.0.0.0/16',1,8]}",
          "!Template error: the function Fn::Cidr is not supported" },
        { "{'Fn::Transform':{'Name':'x'}}", "!Template error: the function Fn::Transform is not" },
        { "{'Fn::Equals':['a','a']}",
          "!Template error: the function Fn::Equals is not supported here" },
        { "{'Fn::Sub':'a','x':1}",
          "!Template error: a function must be the only key of its object" },
        { "'{{resolve:ssm:/app/name}}'",
          "!the dynamic reference {{resolve:ssm:/app/name}} has no value" },
        { "{'Ref':'AWS::NoValue'}", "!Template format error: Output O is malformed." },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *got = value_of(arena, cases[i].expression);
        if (strncmp(got, cases[i].want, strlen(cases[i].want)) != 0)
            assert_string_equal(got, cases[i].want);
    }
}

static bool find_export(void *context, struct bytes name, struct bytes *value)
{
    (void)context;
    *value = BYTES("imported");
    return bytes_equal_text(name, "shared-a");
}

static bool find_attribute(void *context, struct bytes logical_id, struct bytes attribute,
                           struct bytes *value)
{
    (void)context;
    *value = bytes_equal_text(attribute, "Ref") ? BYTES("given") : BYTES("arn:stream");
    return bytes_equal_text(logical_id, "T");
}

static void the_caller_answers_what_only_it_knows(void **state)
{
    struct arena *arena = *state;
    struct template_error err;
    static const struct template_value parameters[] = { { BYTES("/app/name"), BYTES("ssm") } };
    const struct template_environment environment = { .import = find_export,
                                                      .attribute = find_attribute,
                                                      .parameters = parameters,
                                                      .parameter_count = 1 };
    const struct template_result *result = template_fixture_evaluate(
        arena,
        "{'Resources':{'T':{" TABLE "}}},'Outputs':{'A':{'Value':{'Fn::ImportValue':"
        "{'Fn::Sub':'shared-a'}}},'B':{'Value':{'Ref':'T'}},'C':{'Value':{'Fn::GetAtt':['T',"
        "'StreamArn']}},'D':{'Value':'x-{{resolve:ssm:/app/name:3}}-y'}}}",
        &environment, &err);
    assert_non_null(result);
    static const char *const wants[] = { "imported", "given", "arn:stream", "x-ssm-y" };
    for (size_t i = 0; i < COUNT_OF(wants); i++)
        assert_true(bytes_equal_text(result->outputs[i].value, wants[i]));
    assert_true(bytes_equal_text(result->resources[0].physical_id, "given"));
}

static void values_that_are_not_known_are_marked(void **state)
{
    struct arena *arena = *state;
    const struct template_result *result = template_fixture_result(
        arena, "{'Resources':{'T':{" TABLE "}},'F':{'Type':'X::Y::Z'}},'Outputs':{"
               "'A':{'Value':{'Fn::Sub':'${T.StreamArn}'}},"
               "'B':{'Value':{'Fn::Join':['',['x',{'Fn::GetAtt':['F','Arn']}]]}},"
               "'C':{'Value':{'Fn::Base64':{'Ref':'F'}}},'D':{'Value':{'Ref':'T'}}}}");
    assert_true(result->outputs[0].is_pending && !result->outputs[0].is_foreign);
    assert_true(result->outputs[1].is_foreign && !result->outputs[1].is_pending);
    assert_true(result->outputs[2].is_foreign);
    assert_true(!result->outputs[3].is_foreign && !result->outputs[3].is_pending);
}

/* What is chosen or counted by such a value is not known either. */
static void what_is_made_of_values_that_are_not_known_is_marked(void **state)
{
#define PARTS "{'Fn::Length':{'Fn::Split':[':',{'Fn::GetAtt':['T','StreamArn']}]}}"
    static const char *const values[] = {
        PARTS,
        "{'Fn::Sub':['x-${n}',{'n':" PARTS "}]}",
        "{'Fn::Select':[" PARTS ",['a','b','c']]}",
        "{'Fn::FindInMap':['M','K'," PARTS "]}",
        "{'Fn::FindInMap':['M','L'," PARTS "]}",
        "{'Fn::FindInMap':['M','none'," PARTS ",{'DefaultValue':'d'}]}",
        "{'Fn::GetAZs':{'Fn::GetAtt':['T','StreamArn']}}",
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        struct bytes text = arena_printf(
            arena,
            "{'Transform':'AWS::LanguageExtensions','Mappings':{'M':{'K':{'1':'v'},"
            "'L':{'1':['v','w']}}},'Resources':{'T':{" TABLE "}}},'Outputs':{'A':{'Value':%s},"
            "'B':{'Value':{'Fn::FindInMap':['M','K','1']}}}}%c",
            values[i], 0);
        const struct template_result *result =
            template_fixture_result(arena, (const char *)text.data);
        if (!result->outputs[0].is_pending)
            fail_msg("%s is not marked", values[i]);
        assert_false(result->outputs[1].is_pending); /* The mapping itself is not. */
    }
#undef PARTS
}

/* --- Conditions --- */

static const char *condition_of(struct arena *arena, const char *conditions)
{
    struct bytes text = arena_printf(
        arena,
        "{'Parameters':{'P':{'Type':'String','Default':'p'}},'Conditions':{%s},'Resources':{"
        "'R':{'Type':'A::B::C','Condition':'C'},'S':{'Type':'A::B::C'}}}%c",
        conditions, 0);
    struct template_error err;
    const struct template_environment environment = { 0 };
    const struct template_result *result =
        template_fixture_evaluate(arena, (const char *)text.data, &environment, &err);
    if (result == NULL)
        return (const char *)arena_printf(arena, "%.*s%c", BYTES_FMT(err.message), 0).data;
    return result->resource_count == 2 ? "true" : "false";
}

static void conditions_decide_about_resources(void **state)
{
    static const struct {
        const char *conditions, *want;
    } cases[] = {
        { "'C':{'Fn::Equals':['p',{'Ref':'P'}]}", "true" },
        { "'C':{'Fn::Equals':['1',1]}", "true" },
        { "'C':{'Fn::Equals':['p','P']}", "false" },
        { "'C':{'Fn::Not':[{'Fn::Equals':['a','b']}]}", "true" },
        { "'C':{'Fn::And':[{'Condition':'D'},{'Condition':'E'}]},'D':{'Fn::Equals':[1,1]},'E':{"
          "'Fn::Equals':[1,2]}",
          "false" },
        { "'C':{'Fn::Or':[{'Condition':'D'},{'Condition':'E'}]},'D':{'Fn::Equals':[1,1]},'E':{"
          "'Fn::Equals':[1,2]}",
          "true" },
        { "'C':{'Condition':'C'}",
          "Template format error: Circular dependency between conditions: [C]" },
        { "'C':{'Fn::Not':[{'Condition':'D'}]},'D':{'Condition':'C'}",
          "Template format error: Circular dependency between conditions: [C]" },
        { "'C':{'Fn::Equals':[{'Ref':'S'},'a']}",
          "Template format error: Unresolved dependencies [S]. Cannot reference resources in the "
          "Conditions block of the template" },
        { "'C':{'Fn::And':[{'Fn::Equals':[1,1]}]}",
          "Template error: every Fn::And object requires a list of at least 2 and at most 10 "
          "boolean parameters." },
        { "'C':'true'", "Template format error: Conditions can only be boolean operations on "
                        "parameters and other conditions" },
        { "'D':{'Fn::Equals':[1,1]}", "Template format error: Unresolved condition dependency C" },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(condition_of(arena, cases[i].conditions), cases[i].want);
}

/* --- Parameters --- */

static const char *parameter_error(struct arena *arena, const char *declaration, const char *value)
{
    struct bytes text = arena_printf(
        arena, "{'Parameters':{'P':{%s}},'Resources':{'S':{'Type':'A::B::C'}}}%c", declaration, 0);
    struct template_error err;
    struct template_value given = { BYTES("P"), { 0 } };
    if (value != NULL)
        given.value = bytes_from_text(value);
    const struct template_environment environment = { .parameters = &given,
                                                      .parameter_count = value != NULL };
    const struct template_result *result =
        template_fixture_evaluate(arena, (const char *)text.data, &environment, &err);
    if (result == NULL)
        return (const char *)arena_printf(arena, "%.*s%c", BYTES_FMT(err.message), 0).data;
    return result->notice_count > 1 ? "notice" : "";
}

static void parameters_keep_their_constraints(void **state)
{
    static const struct {
        const char *declaration, *value, *want;
    } cases[] = {
        { "'Type':'String'", NULL, "Parameters: [P] must have values" },
        { "'Type':'String'", "", "" },
        { "'Type':'String','Default':''", NULL, "" },
        { "'Type':'Sting'", "x", "Template format error: Unrecognized parameter type: Sting" },
        { "'Default':'x'", NULL,
          "Template format error: [/Parameters/P] Every Parameters object must contain a Type "
          "member." },
        { "'Type':'Number'", "1.5", "" },
        { "'Type':'Number'", "x", "Parameter 'P' must be a number" },
        { "'Type':'List<Number>'", "1,x", "Parameter 'P' must be a number" },
        { "'Type':'String','AllowedValues':['a','b']", "b", "" },
        { "'Type':'String','AllowedValues':['a','b']", "c",
          "Parameter 'P' must be one of AllowedValues" },
        { "'Type':'CommaDelimitedList','AllowedValues':['a','b']", "a,c",
          "Parameter 'P' must be one of AllowedValues" },
        { "'Type':'String','MinLength':2", "ab", "" },
        { "'Type':'String','MinLength':2", "a",
          "Parameter 'P' must contain at least 2 characters" },
        { "'Type':'String','MaxLength':'2'", "abc",
          "Parameter 'P' must contain at most 2 characters" },
        { "'Type':'Number','MinValue':2", "1", "Parameter 'P' must be a number not less than 2" },
        { "'Type':'Number','MaxValue':2", "3",
          "Parameter 'P' must be a number not greater than 2" },
        { "'Type':'String','AllowedPattern':'[a-z]+'", "abc", "" },
        { "'Type':'String','AllowedPattern':'[a-z]+'", "abc1",
          "Parameter 'P' must match pattern [a-z]+" },
        { "'Type':'String','AllowedPattern':'a+','ConstraintDescription':'only a'", "b",
          "Parameter P failed to satisfy constraint: only a" },
        { "'Type':'String','AllowedPattern':'(?=x)x'", "x", "notice" },
        { "'Type':'AWS::SSM::Parameter::Value<String>','Default':'/x'", NULL, "" },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(parameter_error(arena, cases[i].declaration, cases[i].value),
                            cases[i].want);
}

static void patterns_match_as_a_whole(void **state)
{
    static const struct {
        const char *pattern, *text;
        enum pattern_result want;
    } cases[] = {
        { "abc", "abc", PATTERN_MATCHES },
        { "abc", "abcd", PATTERN_DIFFERS },
        { "^a.c$", "axc", PATTERN_MATCHES },
        { "a|bc|d", "bc", PATTERN_MATCHES },
        { "a|bc|d", "b", PATTERN_DIFFERS },
        { "(ab)+", "ababab", PATTERN_MATCHES },
        { "(ab)+", "ababa", PATTERN_DIFFERS },
        { "(a|b)*c?", "abba", PATTERN_MATCHES },
        { "(?:a|b){2,3}", "aba", PATTERN_MATCHES },
        { "(?:a|b){2,3}", "a", PATTERN_DIFFERS },
        { "(?:a|b){2,3}", "abab", PATTERN_DIFFERS },
        { "x{2}", "xx", PATTERN_MATCHES },
        { "x{2,}", "xxxx", PATTERN_MATCHES },
        { "a*?b", "aab", PATTERN_MATCHES },
        { "[a-zA-Z][a-zA-Z0-9_-]*", "ab-9_", PATTERN_MATCHES },
        { "[^0-9]+", "ab", PATTERN_MATCHES },
        { "[^0-9]+", "a1", PATTERN_DIFFERS },
        { "[]a]+", "]a", PATTERN_MATCHES },
        { "\\d{4}-\\w\\s\\.", "2024-x .", PATTERN_MATCHES },
        { "[\\w.-]+@x", "a.b-c@x", PATTERN_MATCHES },
        { "(a*)*", "aaa", PATTERN_MATCHES },
        { "(a*)*b", "aaa", PATTERN_DIFFERS },
        { "", "", PATTERN_MATCHES },
        { "(", "(", PATTERN_UNSUPPORTED },
        { "[a", "a", PATTERN_UNSUPPORTED },
        { "x(", "y", PATTERN_UNSUPPORTED },
        { "a**", "a", PATTERN_UNSUPPORTED },
        { "\\bx", "x", PATTERN_UNSUPPORTED },
        { "(?!x)y", "y", PATTERN_UNSUPPORTED },
        { "(a|a)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", PATTERN_TOO_LONG },
        { "(a*)*(a*)*(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", PATTERN_TOO_LONG },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unsigned steps = 0;
        assert_int_equal(pattern_match(bytes_from_text(cases[i].pattern),
                                       bytes_from_text(cases[i].text), &steps),
                         cases[i].want);
    }
}

/* `before`, `part` repeated, `after`, ending in NUL. */
static const char *repeat(struct arena *arena, const char *before, const char *part, size_t count,
                          const char *after)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, bytes_from_text(before));
    for (size_t i = 0; i < count; i++)
        buffer_append_bytes(&out, bytes_from_text(part));
    buffer_append_bytes(&out, bytes_from_text(after));
    buffer_append_byte(&out, 0);
    return (const char *)out.data;
}

static void matching_is_bounded(void **state)
{
    struct arena *arena = *state;
    struct bytes text = bytes_from_text(repeat(arena, "", "x", 4000, ""));
    unsigned steps = 0;
    struct bytes pattern = bytes_from_text(repeat(arena, "x*", ".?", PATTERN_SIZE_MAX / 2, ""));
    pattern.len = PATTERN_SIZE_MAX;
    assert_int_equal(pattern_match(pattern, text, &steps), PATTERN_MATCHES);
    pattern.len++;
    assert_int_equal(pattern_match(pattern, text, &steps), PATTERN_TOO_LONG);
    /* The first group that does not end is the last one that is looked at. */
    steps = 0;
    pattern = bytes_from_text(repeat(arena, "", "(", PATTERN_SIZE_MAX, ""));
    assert_int_equal(pattern_match(pattern, text, &steps), PATTERN_UNSUPPORTED);
    assert_true(steps < 100);
    /* A class takes steps for its size with each character. */
    steps = 0;
    pattern = bytes_from_text(repeat(arena, "[", "x", 800, "]*"));
    assert_int_equal(pattern_match(pattern, text, &steps), PATTERN_MATCHES);
    assert_in_range(steps, text.len * 800 / 16, PATTERN_STEPS_MAX / 2);
    /* The budget is one for all matches. */
    enum pattern_result result = PATTERN_MATCHES;
    for (int i = 0; i < 5 && result == PATTERN_MATCHES; i++)
        result = pattern_match(pattern, text, &steps);
    assert_int_equal(result, PATTERN_TOO_LONG);
}

/* Each element of a list takes few steps, and all together too many. */
static void the_elements_of_a_list_share_a_budget(void **state)
{
    struct arena *arena = *state;
    static const char declaration[] = "'Type':'CommaDelimitedList','AllowedPattern':'(a|a)*b?'";
    assert_string_equal(
        parameter_error(arena, declaration, repeat(arena, "", "aaaaaaaaaa,", 300, "a")), "");
    assert_string_equal(
        parameter_error(arena, "'Type':'CommaDelimitedList','AllowedPattern':'(a|a)*b|a*'",
                        repeat(arena, "", "aaaaaaaaaa,", 300, "a")),
        "Parameter 'P' has an AllowedPattern that is too long, or takes too long to match");
    assert_string_equal(
        parameter_error(
            arena,
            repeat(arena, "'Type':'String','AllowedPattern':'", "x", PATTERN_SIZE_MAX + 1, "'"),
            "x"),
        "Parameter 'P' has an AllowedPattern that is too long, or takes too long to match");
    /* A pattern that is not supported is told once, beside the resource that is skipped. */
    const struct template_result *result = template_fixture_result(
        arena, "{'Parameters':{'P':{'Type':'CommaDelimitedList','Default':'a,b,c',"
               "'AllowedPattern':'('}},'Resources':{'S':{'Type':'A::B::C'}}}");
    assert_int_equal(result->notice_count, 2);
}

/* --- Order --- */

static void references_order_resources(void **state)
{
    struct arena *arena = *state;
    const struct template_result *result = template_fixture_result(
        arena, "{'Resources':{'C':{" TABLE ",'TableName':{'Fn::Sub':'${B}-c'}}},"
               "'B':{" TABLE ",'Tags':[{'Key':'x','Value':{'Fn::GetAtt':['A','Arn']}}]}},"
               "'A':{'DependsOn':['Z'],'DeletionPolicy':'Retain'," TABLE "}},"
               "'Z':{'Type':'X::Y::Z'}}}");
    static const char *const order[] = { "Z", "A", "B", "C" };
    for (size_t i = 0; i < COUNT_OF(order); i++)
        assert_true(bytes_equal_text(result->resources[i].logical_id, order[i]));
    assert_int_equal(result->resources[3].depends_on_count, 1);
    assert_true(bytes_equal_text(result->resources[3].depends_on[0], "B"));
    assert_int_equal(result->resources[1].deletion_policy, TEMPLATE_RETAIN);
    assert_int_equal(result->resources[2].deletion_policy, TEMPLATE_DELETE);
}

static void circles_are_named(void **state)
{
    struct arena *arena = *state;
    assert_string_equal(template_fixture_error(arena,
                                               "{'Resources':{\n'A':{'DependsOn':'B'," TABLE "}},\n"
                                               "'B':{'DependsOn':'A'," TABLE "}}}}"),
                        "2: Circular dependency between resources: [A, B]");
    assert_string_equal(template_fixture_error(arena, "{'Resources':{'A':{" TABLE
                                                      ",'TableName':{'Ref':'B'}}},\n"
                                                      "'B':{" TABLE ",'TableName':{'Ref':'A'}}}}}"),
                        "2: Circular dependency between resources: [A]");
    assert_string_equal(
        template_fixture_error(arena, "{'Resources':{'A':{'DependsOn':'X'," TABLE "}}}}"),
        "1: Template format error: Unresolved resource dependencies [X] in the Resources block of "
        "the template");
}

static void loops_make_resources(void **state)
{
    struct arena *arena = *state;
    const struct template_result *result = template_fixture_result(
        arena, "{'Transform':'AWS::LanguageExtensions','Parameters':{'L':{'Type':"
               "'CommaDelimitedList','Default':'a-1,b'}},'Resources':{'Fn::ForEach::Loop':['Name',"
               "{'Ref':'L'},{'Table&{Name}':{" TABLE ",'TableName':'t-${Name}','Tags':[{'Key':'n',"
               "'Value':{'Ref':'Name'}}]}}}]}}");
    assert_int_equal(result->resource_count, 2);
    assert_true(bytes_equal_text(result->resources[0].logical_id, "Tablea1"));
    assert_true(bytes_equal_text(result->resources[0].physical_id, "t-a-1"));
    assert_non_null(strstr((const char *)result->resources[0].requests[0].body.data,
                           "{\"Key\":\"n\",\"Value\":\"a-1\"}"));
}

static void a_loop_cannot_depend_on_a_condition(void **state)
{
    struct arena *arena = *state;
    const char *section[] = { "'Resources':{'R':{'Type':'A::B::C'},", "'Resources':{'R':{'Type':"
                                                                      "'A::B::C'}},'Outputs':{" };
    for (size_t i = 0; i < COUNT_OF(section); i++) {
        struct bytes text = arena_printf(
            arena,
            "{'Transform':'AWS::LanguageExtensions','Conditions':{'C':{'Fn::Equals':[1,1]}},%s"
            "'Fn::ForEach::X':['N',{'Fn::If':['C',['A'],['B']]},{'T${N}':{'Type':'A::B::C'}}]}}%c",
            section[i], 0);
        assert_string_equal(template_fixture_error(arena, (const char *)text.data),
                            "1: Template error: the collection of Fn::ForEach must not depend on "
                            "the condition C");
    }
}

/* --- Bounds --- */

/* Each text is twice as long as the one before it: 2^60 bytes without a bound. */
static void text_and_values_are_bounded(void **state)
{
    struct arena *arena = *state;
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, BYTES(HEAD "},'Outputs':{'O':{'Value':"));
    for (int i = 0; i < 30; i++)
        buffer_append_bytes(&out, BYTES("{'Fn::Sub':['${a}${a}${a}${a}${a}${a}${a}${a}',{'a':"));
    buffer_append_bytes(&out, BYTES("'0123456789'"));
    for (int i = 0; i < 30; i++)
        buffer_append_bytes(&out, BYTES("}]}"));
    buffer_append_bytes(&out, BYTES("}}}\0"));
    const char *error = template_fixture_error(arena, (const char *)out.data);
    assert_non_null(strstr(error, "not valid JSON")); /* Too deep as a document already. */
    buffer_init(&out, arena);
    buffer_append_bytes(&out, BYTES(HEAD "},'Outputs':{'O':{'Value':"));
    for (int i = 0; i < 15; i++)
        buffer_append_bytes(&out, BYTES("{'Fn::Sub':['${a}${a}${a}${a}${a}${a}${a}${a}',{'a':"));
    buffer_append_bytes(&out, BYTES("'0123456789'"));
    for (int i = 0; i < 15; i++)
        buffer_append_bytes(&out, BYTES("}]}"));
    buffer_append_bytes(&out, BYTES("}}}\0"));
    error = template_fixture_error(arena, (const char *)out.data);
    /* Each ${a} is evaluated anew, so that values run out before text does. */
    assert_true(strstr(error, "evaluating the template takes more than 100000 values") != NULL ||
                strstr(error, "evaluating the template makes more than 1048576 bytes") != NULL);
}

/* The body of a loop whose only element is a text of LONG bytes. */
static void a_loop_counts_text_before_it_makes_it(void **state)
{
    enum { LONG = 128 * 1024 };
    struct arena *arena = *state;
    const char *much = "evaluating the template makes more than 1048576 bytes of text";
    const char *loop = repeat(arena,
                              "{'Transform':'AWS::LanguageExtensions','Resources':{"
                              "'Fn::ForEach::X':['N',['",
                              "x", LONG, "'],{'T':{'Type':'A::B::C','Metadata':['");
    static const struct {
        const char *part;
        size_t count;
    } cases[] = {
        { "${N}", 1000 },
        { "&{N}", 1000 },
        { "',{'Ref':'N'},'", 1000 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int is_much = 0; is_much < 2; is_much++) {
            const char *text =
                repeat(arena, loop, cases[i].part, is_much ? cases[i].count : 7, "']}}]}}");
            size_t held = arena_held_size(arena);
            const char *error = template_fixture_error(arena, text);
            assert_int_equal(strstr(error, much) != NULL, is_much);
            assert_int_equal(strcmp(error, "no error") == 0, !is_much);
            assert_true(arena_held_size(arena) - held < 16 * 1024 * 1024);
        }
    }
    /* Text without variables is repeated too. */
    loop = repeat(arena,
                  "{'Transform':'AWS::LanguageExtensions','Resources':{'Fn::ForEach::X':['N',["
                  "'1','2','3','4','5','6','7','8'],{'T${N}':{'Type':'A::B::C','Metadata':'",
                  "x", LONG, "'}}]}}");
    assert_non_null(strstr(template_fixture_error(arena, loop), much));
}

/* Mapped values and parameters are shared, but count once for each place that refers to them. */
static void shared_values_count_in_each_place(void **state)
{
    struct arena *arena = *state;
    const char *much_text = "evaluating the template makes more than 1048576 bytes of text";
    const char *many = "evaluating the template takes more than 100000 values";
    const char *text = repeat(arena, "{'Mappings':{'M':{'k':{'t':'", "x", 4096,
                              "','l':[0,0,0,0,0,0,0,0,0,0]}}},'Parameters':{'P':{'Type':'String',"
                              "'Default':'");
    text = repeat(arena, text, "x", 4096,
                  "'},'L':{'Type':'CommaDelimitedList','Default':'a,b,c,d,e,f,g,h,i,j'}},"
                  "'Conditions':{'C':{'Fn::Equals':[0,[0");
    const struct {
        const char *part, *want;
        size_t below, above;
    } cases[] = {
        { ",{'Fn::FindInMap':['M','k','t']}", much_text, 255, 257 },
        { ",{'Fn::FindInMap':['M','k','l']}", many, 6000, 7000 },
        { ",{'Ref':'P'}", much_text, 255, 257 },
        { ",{'Ref':'L'}", many, 8000, 9000 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        static const char end[] = "]]}},'Resources':{'R':{'Type':'A::B::C'}}}";
        const char *below = repeat(arena, text, cases[i].part, cases[i].below, end);
        assert_string_equal(template_fixture_error(arena, below), "no error");
        const char *above = repeat(arena, text, cases[i].part, cases[i].above, end);
        assert_non_null(strstr(template_fixture_error(arena, above), cases[i].want));
    }
}

/* One JSON text of 20,000 values that several tables use. */
static void json_in_text_counts_its_values(void **state)
{
    struct arena *arena = *state;
    const char *text = repeat(arena, "{'Mappings':{'M':{'k':{'p':'{\\'a\\':[", "0,", 20 * 1000,
                              "0]}'}}}"
                              ",'Resources':{'R':{'Type':'A::B::C'}");
    for (int extra = 0; extra < 2; extra++) {
        struct buffer out;
        buffer_init(&out, arena);
        buffer_append_bytes(&out, bytes_from_text(text));
        for (int i = 0; i < 4 + extra; i++)
            buffer_append_bytes(
                &out, arena_printf(arena,
                                   ",'T%d':{" TABLE ",'BillingMode':'PAY_PER_REQUEST',"
                                   "'ResourcePolicy':{'PolicyDocument':{'Fn::FindInMap':['M','k',"
                                   "'p']}}}}",
                                   i));
        buffer_append_bytes(&out, BYTES("}}\0"));
        const char *error = template_fixture_error(arena, (const char *)out.data);
        assert_int_equal(strcmp(error, "no error") == 0, extra == 0);
        assert_int_equal(strstr(error, "takes more than 100000 values") != NULL, extra == 1);
    }
}

static void names_are_bounded(void **state)
{
    static const struct {
        const char *before, *after;
        size_t max;
    } cases[] = {
        { "{" TABLE ",'TableName':'", "'}}", TEMPLATE_NAME_SIZE_MAX },
        { "{'Type':'AWS::ApplicationAutoScaling::ScalableTarget','Properties':{'MinCapacity':1,"
          "'MaxCapacity':2,'ScalableDimension':'dynamodb:table:ReadCapacityUnits','ResourceId':'",
          "'}}",
          TEMPLATE_SCALING_ID_SIZE_MAX - sizeof "|dynamodb:table:ReadCapacityUnits|dynamodb" + 1 },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t extra = 0; extra < 2; extra++) {
            struct bytes before = arena_printf(arena, "{'Resources':{'T':%s%c", cases[i].before, 0);
            struct bytes after = arena_printf(arena, "%s}}%c", cases[i].after, 0);
            const char *error = template_fixture_error(
                arena, repeat(arena, (const char *)before.data, "x", cases[i].max + extra,
                              (const char *)after.data));
            assert_int_equal(strstr(error, "the name of the resource T has more than") != NULL,
                             extra == 1);
        }
    }
}

static void the_end_of_a_variable_is_searched_once(void **state)
{
    static const uint8_t text[] = "${${a}${";
    const uint8_t *end = text + sizeof text - 1, *close = text + 5;
    (void)state;
    assert_ptr_equal(evaluation_find_close(NULL, text + 2, end), close);
    assert_ptr_equal(evaluation_find_close(close, text + 4, end), close);
    assert_ptr_equal(evaluation_find_close(close, text + 8, end), end);
    /* What the last search found is not searched again: here the answer would differ. */
    assert_ptr_equal(evaluation_find_close(end, text + 2, end), end);
}

static void a_chain_of_conditions_or_names_is_bounded(void **state)
{
    struct arena *arena = *state;
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, BYTES("{'Resources':{'R':{'Type':'A::B::C'}},'Conditions':{"));
    for (int i = 0; i < 200; i++)
        buffer_append_bytes(
            &out, arena_printf(arena, "'C%d':{'Fn::Not':[{'Condition':'C%d'}]},", i, i + 1));
    buffer_append_bytes(&out, BYTES("'C200':{'Fn::Equals':[1,1]}}}\0"));
    assert_non_null(strstr(template_fixture_error(arena, (const char *)out.data),
                           "functions and references are nested deeper than 128 levels"));
    buffer_init(&out, arena);
    buffer_append_bytes(&out, BYTES("{'Resources':{"));
    for (int i = 0; i < 200; i++)
        buffer_append_bytes(
            &out, arena_printf(arena, "'T%d':{" TABLE ",'TableName':{'Ref':'T%d'}}},", i, i + 1));
    buffer_append_bytes(&out, BYTES("'T200':{" TABLE ",'TableName':'x'}}}}\0"));
    assert_non_null(strstr(template_fixture_error(arena, (const char *)out.data),
                           "functions and references are nested deeper than 128 levels"));
}

static void resources_parameters_and_outputs_are_counted(void **state)
{
    struct arena *arena = *state;
    static const struct {
        const char *section, *entry, *rest, *want;
        int max;
    } cases[] = {
        { "Resources", "{'Type':'A::B::C'}", "", "Number of resources, 501, is greater", 500 },
        { "Parameters", "{'Type':'String','Default':''}", ",'Resources':{'R':{'Type':'A::B::C'}}",
          "Number of parameters, 201, is greater", 200 },
        { "Outputs", "{'Value':'x'}", ",'Resources':{'R':{'Type':'A::B::C'}}",
          "Number of outputs, 201, is greater", 200 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int extra = 0; extra < 2; extra++) {
            struct buffer out;
            buffer_init(&out, arena);
            buffer_append_bytes(&out, arena_printf(arena, "{'%s':{", cases[i].section));
            for (int k = 0; k < cases[i].max + extra; k++)
                buffer_append_bytes(
                    &out, arena_printf(arena, "%s'X%d':%s", k > 0 ? "," : "", k, cases[i].entry));
            buffer_append_bytes(&out, arena_printf(arena, "}%s}%c", cases[i].rest, 0));
            const char *error = template_fixture_error(arena, (const char *)out.data);
            assert_int_equal(strstr(error, cases[i].want) != NULL, extra == 1);
            assert_int_equal(strcmp(error, "no error") == 0, extra == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(functions_have_their_values),
        ARENA_TEST(wrong_functions_are_refused),
        ARENA_TEST(the_caller_answers_what_only_it_knows),
        ARENA_TEST(values_that_are_not_known_are_marked),
        ARENA_TEST(what_is_made_of_values_that_are_not_known_is_marked),
        ARENA_TEST(conditions_decide_about_resources),
        ARENA_TEST(parameters_keep_their_constraints),
        ARENA_TEST(patterns_match_as_a_whole),
        ARENA_TEST(matching_is_bounded),
        ARENA_TEST(the_elements_of_a_list_share_a_budget),
        ARENA_TEST(references_order_resources),
        ARENA_TEST(circles_are_named),
        ARENA_TEST(loops_make_resources),
        ARENA_TEST(a_loop_cannot_depend_on_a_condition),
        ARENA_TEST(text_and_values_are_bounded),
        ARENA_TEST(a_loop_counts_text_before_it_makes_it),
        ARENA_TEST(shared_values_count_in_each_place),
        ARENA_TEST(json_in_text_counts_its_values),
        ARENA_TEST(names_are_bounded),
        ARENA_TEST(the_end_of_a_variable_is_searched_once),
        ARENA_TEST(a_chain_of_conditions_or_names_is_bounded),
        ARENA_TEST(resources_parameters_and_outputs_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
