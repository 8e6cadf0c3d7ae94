/* test_policy_parse.c -- invalid policies are refused as a whole; bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "auth/policy.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/error.h"
#include "policy_fixture.h"

/* A syntax error, at the place that follows. */
#define SYNTAX(place) "Syntax error at position (" place ")"
#define STATEMENT "{'Effect':'Allow','Action':'*','Resource':'*'}"
#define WITH(statement) "{'Version':'2012-10-17','Statement':" statement "}"
#define IF(condition)                                                                              \
    WITH("{'Effect':'Allow','Action':'*','Resource':'*','Condition':" condition "}")
#define ACTION(text) WITH("{'Effect':'Allow','Resource':'*','Action':" text "}")
#define RESOURCE(text) WITH("{'Effect':'Allow','Action':'*','Resource':" text "}")
#define PRINCIPAL(text) WITH("{'Effect':'Allow','Action':'*','Resource':'*','Principal':" text "}")

static struct bytes message_of(struct arena *arena, struct bytes text, enum policy_kind kind)
{
    struct error err;
    error_init(&err, arena);
    const struct policy *policy = policy_parse(arena, text, kind, &err);
    assert_int_equal(policy == NULL, error_is_set(&err));
    return policy == NULL ? err.message : BYTES("");
}

struct refusal {
    const char *text;
    const char *message; /* Empty: accepted. */
};

static void check_refusals(const struct refusal *cases, size_t count, enum policy_kind kind)
{
    struct arena *arena = arena_create();
    for (size_t i = 0; i < count; i++) {
        struct bytes got = message_of(arena, policy_fixture_json(arena, cases[i].text), kind);
        if (!bytes_equal_text(got, cases[i].message))
            fail_msg("%s: '%.*s', not '%s'", cases[i].text, BYTES_FMT(got), cases[i].message);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

static void what_is_not_understood_is_refused(void **state)
{
    static const struct refusal cases[] = {
        { WITH(STATEMENT), "" },
        { WITH("[" STATEMENT "]"), "" },
        { "{'Statement':" STATEMENT "}", "" },
        { "{'Statement':" STATEMENT ",'Id':'x','Version':'2008-10-17'}", "" },
        { "", SYNTAX("1,1") },
        { "[]", SYNTAX("1,1") },
        { "{}", SYNTAX("1,3") },
        { "{'Version':'2012-10-17'}", SYNTAX("1,25") },
        { WITH("[]"), "Could not parse the policy: Statement is empty!" },
        { WITH("[[" STATEMENT "]]"), SYNTAX("1,38") },
        { WITH("'*'"), SYNTAX("1,37") },
        { WITH(STATEMENT) "x", SYNTAX("1,84") },
        { "{'Statement':" STATEMENT ",'Version':2012}", SYNTAX("1,71") },
        { "{'Statement':" STATEMENT ",'Id':5}", SYNTAX("1,66") },
        { "{'Statement':" STATEMENT ",'Version':'2026-01-01'}",
          "Unknown version of policy: 2026-01-01" },
        { "{'Statement':" STATEMENT ",'Statement':" STATEMENT "}",
          "The element Statement comes twice" },
        { "{'Statement':" STATEMENT ",'statement':" STATEMENT "}", "Unknown field statement" },
        { WITH("{'Action':'*','Resource':'*'}"), "Missing required field Effect" },
        { WITH("{'Effect':'allow','Action':'*','Resource':'*'}"), "Invalid effect: allow" },
        { WITH("{'Effect':['Allow'],'Action':'*','Resource':'*'}"), SYNTAX("1,47") },
        { WITH("{'Effect':'Allow','Resource':'*'}"), "Missing required field Action" },
        { WITH("{'Effect':'Allow','Resource':'*','Action':'*','NotAction':'*'}"),
          "A statement has both Action and NotAction" },
        { WITH("{'Effect':'Allow','Action':'*'}"), "Missing required field Resource" },
        { WITH("{'Effect':'Deny','Effect':'Allow','Action':'*','Resource':'*'}"),
          "The element Effect comes twice" },
        { WITH("{'Effect':'Allow','Action':'*','Resource':'*','Extra':1}"), "Unknown field Extra" },
        { ACTION("[]"), SYNTAX("1,81") },
        { ACTION("5"), SYNTAX("1,79") },
        { ACTION("[['dynamodb:*']]"), SYNTAX("1,80") },
        { ACTION("''"), "Invalid action or resource: " },
        { ACTION("'GetItem'"), "Invalid action or resource: GetItem" },
        { ACTION("'dynamodb:'"), "Invalid action or resource: dynamodb:" },
        { ACTION("':GetItem'"), "Invalid action or resource: :GetItem" },
        { ACTION("'dynamo*:GetItem'"), "Invalid action or resource: dynamo*:GetItem" },
        { RESOURCE("'table/T'"), "Invalid action or resource: table/T" },
        { RESOURCE("'*:table/T'"), "Invalid action or resource: *:table/T" },
        { RESOURCE("'arn:aws:dynamodb:${aws:RequestedRegion}:1:table/T'"),
          "Invalid action or resource: arn:aws:dynamodb:${aws:RequestedRegion}:1:table/T" },
        { RESOURCE("'arn:aws:dynamodb:r:1:table/${aws:username'"),
          "Invalid action or resource: arn:aws:dynamodb:r:1:table/${aws:username" },
        { RESOURCE("'arn:aws:dynamodb:r:1:table/${aws:nobody}'"),
          "Invalid action or resource: arn:aws:dynamodb:r:1:table/${aws:nobody}" },
        { RESOURCE("'arn:aws:dynamodb:r:1:table/${dynamodb:LeadingKeys}'"),
          "Invalid action or resource: arn:aws:dynamodb:r:1:table/${dynamodb:LeadingKeys}" },
        { RESOURCE("'arn:aws:dynamodb:r:1:table/${aws:username, x}'"),
          "Invalid action or resource: arn:aws:dynamodb:r:1:table/${aws:username, x}" },
        { "{'Version':'2008-10-17','Statement':{'Effect':'Allow','Action':'*',"
          "'Resource':'arn:aws:dynamodb:r:1:table/${aws:nobody}'}}",
          "" }, /* Plain text in policies of that version. */
        { PRINCIPAL("'*'"), "A policy of a key has no principals" },
    };
    (void)state;
    check_refusals(cases, COUNT_OF(cases), POLICY_OF_IDENTITY);
}

static void conditions_that_are_not_understood_are_refused(void **state)
{
    static const struct refusal cases[] = {
        { IF("{}"), "" },
        { IF("[]"), SYNTAX("1,95") },
        { IF("{'StringEquals':[]}"), SYNTAX("1,111") },
        { IF("{'StringEquals':{'dynamodb:Select':[]}}"), SYNTAX("1,132") },
        { IF("{'StringEquals':{'dynamodb:Select':null}}"), SYNTAX("1,130") },
        { IF("{'StringEquals':{'dynamodb:Select':[['A']]}}"), SYNTAX("1,131") },
        { IF("{'stringequals':{'dynamodb:Select':'A'}}"),
          "Unknown condition operator: stringequals" },
        { IF("{'BinaryEquals':{'dynamodb:Select':'A'}}"),
          "Unknown condition operator: BinaryEquals" },
        { IF("{'ForSomeValues:StringEquals':{'dynamodb:Select':'A'}}"),
          "Unknown condition operator: ForSomeValues:StringEquals" },
        { IF("{'IfExists':{'dynamodb:Select':'A'}}"), "Unknown condition operator: IfExists" },
        { IF("{'NullIfExists':{'dynamodb:Select':'true'}}"),
          "Unknown condition operator: NullIfExists" },
        { IF("{'ForAllValues:Null':{'dynamodb:Select':'true'}}"),
          "Unknown condition operator: ForAllValues:Null" },
        { IF("{'StringEquals':{'dynamodb:LeadingKey':'A'}}"),
          "Unknown condition key: dynamodb:LeadingKey" },
        { IF("{'StringEquals':{'aws:RequestTag/a':'A'}}"),
          "Unknown condition key: aws:RequestTag/a" },
        { IF("{'StringEquals':{'aws:PrincipalTag/':'A'}}"),
          "Unknown condition key: aws:PrincipalTag/" },
        { IF("{'StringEquals':{'s3:prefix':'A'}}"), "Unknown condition key: s3:prefix" },
        { IF("{'StringEquals':{'aws:ResourceTag/':'A'}}"),
          "Unknown condition key: aws:ResourceTag/" },
        { IF("{'StringEquals':{'':'A'}}"), "Unknown condition key: " },
        { IF("{'StringEquals':{'dynamodb:Select':'A','DYNAMODB:SELECT':'B'}}"),
          "Conditions on DYNAMODB:SELECT come twice" },
        { IF("{'StringEquals':{'dynamodb:Select':'A'},'StringEquals':{'aws:username':'B'}}"),
          "Conditions on aws:username come twice" },
        { IF("{'StringEquals':{'dynamodb:Select':'A'},'StringLike':{'dynamodb:Select':'B'}}"), "" },
        { IF("{'StringEquals':{'dynamodb:Select':'${aws:nobody}'}}"),
          "A condition on dynamodb:Select has an invalid value: ${aws:nobody}" },
        { IF("{'NumericEquals':{'aws:EpochTime':'ten'}}"),
          "A condition on aws:EpochTime has an invalid value: ten" },
        { IF("{'Bool':{'aws:SecureTransport':'yes'}}"),
          "A condition on aws:SecureTransport has an invalid value: yes" },
        { IF("{'Null':{'dynamodb:Select':'no'}}"),
          "A condition on dynamodb:Select has an invalid value: no" },
        { IF("{'IpAddress':{'aws:SourceIp':'192.0.2.0/33'}}"),
          "A condition on aws:SourceIp has an invalid value: 192.0.2.0/33" },
        { IF("{'IpAddress':{'aws:SourceIp':'192.0.2.0/32'}}"), "" },
        { IF("{'IpAddress':{'aws:SourceIp':'192.0.2'}}"),
          "A condition on aws:SourceIp has an invalid value: 192.0.2" },
        { IF("{'IpAddress':{'aws:SourceIp':'2001:db8::/129'}}"),
          "A condition on aws:SourceIp has an invalid value: 2001:db8::/129" },
        { IF("{'IpAddress':{'aws:SourceIp':'2001:db8::/'}}"),
          "A condition on aws:SourceIp has an invalid value: 2001:db8::/" },
        { IF("{'ArnLike':{'aws:PrincipalArn':'arn:aws:iam::user'}}"),
          "A condition on aws:PrincipalArn has an invalid value: arn:aws:iam::user" },
    };
    (void)state;
    check_refusals(cases, COUNT_OF(cases), POLICY_OF_IDENTITY);
}

#define TIME(text) IF("{'DateEquals':{'aws:CurrentTime':'" text "'}}")
#define NO_TIME(text)                                                                              \
    {                                                                                              \
        TIME(text), "A condition on aws:CurrentTime has an invalid value: " text                   \
    }

static void times_are_dates_of_iso_8601_or_seconds(void **state)
{
    static const struct refusal cases[] = {
        { TIME("2026-11-15"), "" },
        { TIME("2026-11-15T05:40Z"), "" },
        { TIME("2026-11-15T05:40:04.123456-08:00"), "" },
        { TIME("0"), "" },
        { TIME("999999999999"), "" },
        NO_TIME("1000000000000"),
        NO_TIME(""),
        NO_TIME("2026"),
        NO_TIME("2026-13-15x"),
        NO_TIME("2026-00-15"),
        NO_TIME("2026-11-32"),
        NO_TIME("2026-11-15T"),
        NO_TIME("2026-11-15T05:40"),
        NO_TIME("2026-11-15T24:00Z"),
        NO_TIME("2026-11-15T05:60Z"),
        NO_TIME("2026-11-15T05:40:60Z"),
        NO_TIME("2026-11-15T05:40:04.Z"),
        NO_TIME("2026-11-15T05:40:04+24:00"),
        NO_TIME("2026-11-15T05:40:04Z "),
    };
    (void)state;
    check_refusals(cases, COUNT_OF(cases), POLICY_OF_IDENTITY);
}

static void principals_are_named_in_full_or_all(void **state)
{
    static const struct refusal cases[] = {
        { PRINCIPAL("'*'"), "" },
        { PRINCIPAL("{'AWS':['*','000000000000','arn:aws:iam::000000000000:user/a']}"), "" },
        { WITH(STATEMENT), "Missing required field Principal" },
        { WITH("{'Effect':'Allow','Action':'*','Resource':'*','NotPrincipal':'*'}"),
          "NotPrincipal needs the effect Deny" },
        { PRINCIPAL("{}"), SYNTAX("1,97") },
        { PRINCIPAL("[]"), SYNTAX("1,95") },
        { PRINCIPAL("{'AWS':[]}"), SYNTAX("1,104") },
        { PRINCIPAL("'arn:aws:iam::000000000000:user/a'"), SYNTAX("1,129") },
        { PRINCIPAL("{'AWS':'alice'}"), "Invalid principal in policy document." },
        { PRINCIPAL("{'AWS':'arn:aws:iam::000000000000:user/*'}"),
          "Invalid principal in policy document." },
        { PRINCIPAL("{'AWS':'00000000000'}"), "Invalid principal in policy document." },
        { PRINCIPAL("{'User':'alice'}"), "Unknown field User" },
        { PRINCIPAL("{'AWS':'*','AWS':'*'}"), "The element AWS comes twice" },
    };
    (void)state;
    check_refusals(cases, COUNT_OF(cases), POLICY_OF_RESOURCE);
}

static void a_policy_has_at_most_its_size(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes json = policy_fixture_json(arena, WITH(STATEMENT));
    uint8_t *text = arena_alloc(arena, POLICY_SIZE_MAX + 1);
    memset(text, ' ', POLICY_SIZE_MAX + 1);
    memcpy(text, json.data, json.len);
    for (size_t size = POLICY_SIZE_MAX - 1; size <= POLICY_SIZE_MAX + 1; size++) {
        struct bytes message = message_of(arena, bytes_of(text, size), POLICY_OF_IDENTITY);
        assert_true(bytes_equal_text(
            message, size <= POLICY_SIZE_MAX ? "" : "The policy is larger than 20480 bytes"));
    }
    arena_destroy(arena);
}

/* Every * of the pattern could take anything: trying all ways would not end. */
static void many_wildcards_take_no_exponential_time(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    char stars[2000];
    char value[2000];
    for (size_t i = 0; i + 1 < sizeof stars; i++)
        stars[i] = i % 2 == 0 ? '*' : 'a';
    stars[sizeof stars - 2] = 'b';
    stars[sizeof stars - 1] = '\0';
    memset(value, 'a', sizeof value);
    struct bytes text = arena_printf(arena,
                                     "{'Effect':'Allow','Action':'*','Resource':'*','Condition':"
                                     "{'StringLike':{'dynamodb:LeadingKeys':'%s'}}}",
                                     stars);
    struct bytes json = policy_fixture_document(
        arena, (const char *)arena_printf(arena, "%.*s%c", BYTES_FMT(text), 0).data);
    struct error err;
    error_init(&err, arena);
    const struct policy *policy = policy_parse(arena, json, POLICY_OF_IDENTITY, &err);
    assert_non_null(policy);
    struct bytes values[] = { bytes_of(value, sizeof value) };
    struct policy_key keys[] = { { BYTES("dynamodb:LeadingKeys"), values, 1 } };
    struct policy_request request = {
        .action = BYTES("dynamodb:GetItem"), .resource = BYTES("*"), .keys = keys, .key_count = 1
    };
    struct policy_set set = { .identity = &policy, .identity_count = 1 };
    assert_int_equal(policy_decide(arena, &set, &request), POLICY_NOT_ALLOWED);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_understood_is_refused),
        cmocka_unit_test(conditions_that_are_not_understood_are_refused),
        cmocka_unit_test(times_are_dates_of_iso_8601_or_seconds),
        cmocka_unit_test(principals_are_named_in_full_or_all),
        cmocka_unit_test(a_policy_has_at_most_its_size),
        cmocka_unit_test(many_wildcards_take_no_exponential_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
