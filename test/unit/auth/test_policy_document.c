/* test_policy_document.c -- the form in which a resource policy is shown, and the rules that only
 * new ones must keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "auth/policy_document.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/error.h"
#include "policy_fixture.h"

#define ACCOUNT "123456789012"
#define ROOT "arn:aws:iam::" ACCOUNT ":root"
#define THE_TABLE "arn:aws:dynamodb:r:" ACCOUNT ":table/T"
#define THE_STREAM THE_TABLE "/stream/L"
/* A statement's end, in the order in which it is shown. */
#define ON_TABLE "'Action':'dynamodb:GetItem','Resource':'" THE_TABLE "'"
#define ALLOW_ROOT "{'Effect':'Allow','Principal':{'AWS':'" ROOT "'}," ON_TABLE "}"
#define LIST(statements) "{'Statement':[" statements "]}"

static void a_document_is_shown_in_one_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *form;
    } cases[] = {
        { LIST(ALLOW_ROOT), LIST(ALLOW_ROOT) },
        { "{ 'Statement' : " ALLOW_ROOT " }", LIST(ALLOW_ROOT) },
        { LIST("{" ON_TABLE ",'Effect':'ALLOW','Principal':{'AWS':['" ACCOUNT "']}}"),
          LIST(ALLOW_ROOT) },
        { LIST("{'Effect':'Allow','Principal':{'AWS':['" ACCOUNT "','" ROOT "']}," ON_TABLE "}"),
          LIST(ALLOW_ROOT) },
        { "{'Statement':" ALLOW_ROOT ",'Id':'i','Version':'2012-10-17'}",
          "{'Version':'2012-10-17','Id':'i','Statement':[" ALLOW_ROOT "]}" },
        { LIST("{'Condition':{'Bool':{'aws:SecureTransport':[true]}},'Effect':'deny','Sid':'s',"
               "'NotPrincipal':{'AWS':['" ACCOUNT "','arn:aws:iam::" ACCOUNT ":user/a']},"
               "'NotAction':['a:b','a:b'],'NotResource':['*']}"),
          LIST("{'Sid':'s','Effect':'Deny','NotPrincipal':{'AWS':['" ROOT "','arn:aws:iam::" ACCOUNT
               ":user/a']},'NotAction':['a:b','a:b'],'NotResource':'*',"
               "'Condition':{'Bool':{'aws:SecureTransport':true}}}") },
        { "{}", "{}" }, /* No policy: left alone. */
        { "x", "x" },
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes form =
            policy_document_canonical(arena, policy_fixture_json(arena, cases[i].text), false);
        struct bytes want = policy_fixture_json(arena, cases[i].form);
        if (!bytes_equal(form, want))
            fail_msg("%.*s, not %.*s", BYTES_FMT(form), BYTES_FMT(want));
    }
    struct bytes shown =
        policy_document_canonical(arena, policy_fixture_json(arena, LIST(ALLOW_ROOT)), true);
    assert_true(bytes_equal(
        shown,
        policy_fixture_json(arena, "{'Version':'2008-10-17','Statement':[" ALLOW_ROOT "]}")));
    arena_destroy(arena);
}

#define DENY(sid, action, resource)                                                                \
    "{'Sid':'" sid "','Effect':'Deny','Principal':'*','Action':" action ",'Resource':" resource "}"
#define NAMES "The following action names are invalid: "

static void new_documents_keep_further_rules(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum policy_subject subject;
        const char *message; /* Empty: accepted. */
    } cases[] = {
        { LIST(DENY("a", "'dynamodb:getitem'", "'*'")), POLICY_SUBJECT_TABLE, "" },
        { LIST(DENY("a", "'dynamodb:*'", "'" THE_TABLE "/*'")), POLICY_SUBJECT_STREAM, "" },
        { LIST(DENY("a", "'dynamodb:AddTrigger'", "'*'")), POLICY_SUBJECT_TABLE, "" },
        { LIST(DENY("a", "'dynamodb:GetRecords'", "'" THE_STREAM "'")), POLICY_SUBJECT_STREAM, "" },
        { LIST(DENY("a", "'*'", "'*'") "," DENY("b", "'*'", "'*'")), POLICY_SUBJECT_TABLE, "" },
        { LIST(DENY("a", "'*'", "'*'") "," DENY("a", "'*'", "'*'")), POLICY_SUBJECT_TABLE,
          "The Statement Ids in the policy are not unique" },
        { LIST(DENY("a", "['dynamodb:Get','s3:GetObject']",
                    "'*'") "," DENY("b", "'dynamodb:GetRecords'", "'*'")),
          POLICY_SUBJECT_TABLE,
          NAMES "\"dynamodb:Get\", \"s3:GetObject\", \"dynamodb:GetRecords\"" },
        { LIST(DENY("a", "'dynamodb:GetItem'", "'*'")), POLICY_SUBJECT_STREAM,
          NAMES "\"dynamodb:GetItem\"" },
        { LIST(DENY("a", "'dynamodb:GetItem'", "['*','" THE_STREAM "']")), POLICY_SUBJECT_TABLE,
          "The relative-id \"table/T/stream/L\" is invalid for ARN \"" THE_STREAM "\"" },
        { LIST(DENY("a", "'dynamodb:GetItem'", "'" THE_TABLE "/index/I'")), POLICY_SUBJECT_STREAM,
          "The relative-id \"table/T/index/I\" is invalid for ARN \"" THE_TABLE "/index/I\"" },
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error err;
        error_init(&err, arena);
        bool ok = policy_document_check(arena, policy_fixture_json(arena, cases[i].text),
                                        cases[i].subject, &err);
        struct bytes got = ok ? BYTES("") : err.message;
        if (!bytes_equal_text(got, cases[i].message))
            fail_msg("%s: '%.*s', not '%s'", cases[i].text, BYTES_FMT(got), cases[i].message);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_shown_in_one_form),
        cmocka_unit_test(new_documents_keep_further_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
