/* test_policy.c -- the table of decisions: policies and a request in, allowed or not out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "auth/policy.h"
#include "base/compiler.h"
#include "policy_fixture.h"

#define ALLOW_TO(principal)                                                                        \
    "{'Effect':'Allow','Action':'*','Resource':'*','Principal':" principal "}"
#define DENY_TO(principal) "{'Effect':'Deny','Action':'*','Resource':'*','Principal':" principal "}"

/* --- Who decides --- */

static const struct policy_row order_rows[] = {
    { "without a policy nothing is allowed", NULL, NULL, "GetItem", "T", "", NO },
    { "a permission allows", ALLOW, NULL, "GetItem", "T", "", YES },
    { "a permission for something else does not", ALLOW_ACTION("'dynamodb:PutItem'"), NULL,
      "GetItem", "T", "", NO },
    { "a denial wins over a permission behind it",
      "{'Effect':'Deny','Action':'*','Resource':'*'}," ALLOW, NULL, "GetItem", "T", "", DENIED },
    { "a denial wins over a permission before it",
      ALLOW ",{'Effect':'Deny','Action':'*','Resource':'*'}", NULL, "GetItem", "T", "", DENIED },
    { "a denial of something else does not",
      ALLOW ",{'Effect':'Deny','Action':'dynamodb:PutItem','Resource':'*'}", NULL, "GetItem", "T",
      "", YES },
    { "a denial alone denies", "{'Effect':'Deny','Action':'*','Resource':'*'}", NULL, "GetItem",
      "T", "", DENIED },
    { "a resource's policy allows by itself", NULL, ALLOW_TO("'*'"), "GetItem", "T", "", YES },
    { "a key's policy allows beside a resource's that says nothing", ALLOW,
      ALLOW_TO("{'AWS':'arn:aws:iam::000000000000:user/bob'}"), "GetItem", "T", "", YES },
    { "a resource's denial wins over a key's permission", ALLOW, DENY_TO("'*'"), "GetItem", "T", "",
      DENIED_BY_RESOURCE },
    { "a key's denial wins over a resource's permission",
      "{'Effect':'Deny','Action':'*','Resource':'*'}", ALLOW_TO("'*'"), "GetItem", "T", "",
      DENIED },
    { "a key's denial is named first", "{'Effect':'Deny','Action':'*','Resource':'*'}",
      DENY_TO("'*'"), "GetItem", "T", "", DENIED },
    { "two statements, the second allows", ALLOW_ACTION("'dynamodb:PutItem'") "," ALLOW, NULL,
      "GetItem", "T", "", YES },
    { "statements do not add up to one",
      "{'Effect':'Allow','Action':'dynamodb:GetItem','Resource':'" TABLE
      "U'},{'Effect':'Allow','Action':'dynamodb:PutItem','Resource':'" TABLE "T'}",
      NULL, "GetItem", "T", "", NO },
};

static void denials_come_before_permissions_and_silence_denies(void **state)
{
    (void)state;
    policy_fixture_check(order_rows, COUNT_OF(order_rows));
}

/* --- Actions --- */

static const struct policy_row action_rows[] = {
    { "the very action", ALLOW_ACTION("'dynamodb:GetItem'"), NULL, "GetItem", "T", "", YES },
    { "actions have no case", ALLOW_ACTION("'DynamoDB:getitem'"), NULL, "GetItem", "T", "", YES },
    { "an action is not its prefix", ALLOW_ACTION("'dynamodb:Get'"), NULL, "GetItem", "T", "", NO },
    { "nor its beginning", ALLOW_ACTION("'dynamodb:GetItems'"), NULL, "GetItem", "T", "", NO },
    { "one of a list", ALLOW_ACTION("['dynamodb:PutItem','dynamodb:GetItem']"), NULL, "GetItem",
      "T", "", YES },
    { "none of a list", ALLOW_ACTION("['dynamodb:PutItem','dynamodb:Query']"), NULL, "GetItem", "T",
      "", NO },
    { "* within a service", ALLOW_ACTION("'dynamodb:*'"), NULL, "GetItem", "T", "", YES },
    { "* as an end", ALLOW_ACTION("'dynamodb:Get*'"), NULL, "GetItem", "T", "", YES },
    { "* as an end of another", ALLOW_ACTION("'dynamodb:Put*'"), NULL, "GetItem", "T", "", NO },
    { "* as a beginning", ALLOW_ACTION("'dynamodb:*Item'"), NULL, "GetItem", "T", "", YES },
    { "* as a beginning, of batches too", ALLOW_ACTION("'dynamodb:*Item'"), NULL, "BatchGetItem",
      "T", "", YES },
    { "* in the middle", ALLOW_ACTION("'dynamodb:G*m'"), NULL, "GetItem", "T", "", YES },
    { "* takes nothing as well", ALLOW_ACTION("'dynamodb:Get*Item'"), NULL, "GetItem", "T", "",
      YES },
    { "? takes one", ALLOW_ACTION("'dynamodb:?etItem'"), NULL, "GetItem", "T", "", YES },
    { "? takes no two", ALLOW_ACTION("'dynamodb:?tItem'"), NULL, "GetItem", "T", "", NO },
    { "? does not take nothing", ALLOW_ACTION("'dynamodb:GetItem?'"), NULL, "GetItem", "T", "",
      NO },
    { "another service", ALLOW_ACTION("'s3:*'"), NULL, "GetItem", "T", "", NO },
    { "a service whose name begins alike", ALLOW_ACTION("'dynamodbstreams:*'"), NULL, "GetItem",
      "T", "", NO },
    { "NotAction of another allows",
      "{'Effect':'Allow','Resource':'*','NotAction':'dynamodb:DeleteTable'}", NULL, "GetItem", "T",
      "", YES },
    { "NotAction of this one does not",
      "{'Effect':'Allow','Resource':'*','NotAction':'dynamodb:Get*'}", NULL, "GetItem", "T", "",
      NO },
    { "NotAction with several",
      "{'Effect':'Allow','Resource':'*','NotAction':['dynamodb:Put*','dynamodb:Get*']}", NULL,
      "GetItem", "T", "", NO },
    { "NotAction denies the rest",
      ALLOW ",{'Effect':'Deny','Resource':'*','NotAction':'dynamodb:Get*'}", NULL, "PutItem", "T",
      "", DENIED },
    { "and leaves what it names",
      ALLOW ",{'Effect':'Deny','Resource':'*','NotAction':'dynamodb:Get*'}", NULL, "GetItem", "T",
      "", YES },
};

static void actions_match_with_wildcards_and_without_case(void **state)
{
    (void)state;
    policy_fixture_check(action_rows, COUNT_OF(action_rows));
}

/* --- Resources --- */

static const struct policy_row resource_rows[] = {
    { "the very table", ALLOW_RESOURCE("'" TABLE "T'"), NULL, "GetItem", "T", "", YES },
    { "another table", ALLOW_RESOURCE("'" TABLE "U'"), NULL, "GetItem", "T", "", NO },
    { "resources have case", ALLOW_RESOURCE("'" TABLE "t'"), NULL, "GetItem", "T", "", NO },
    { "a table is not its index", ALLOW_RESOURCE("'" TABLE "T'"), NULL, "Query", "T/index/I", "",
      NO },
    { "an index is not its table", ALLOW_RESOURCE("'" TABLE "T/index/I'"), NULL, "Query", "T", "",
      NO },
    { "the very index", ALLOW_RESOURCE("'" TABLE "T/index/I'"), NULL, "Query", "T/index/I", "",
      YES },
    { "all indexes", ALLOW_RESOURCE("'" TABLE "T/index/*'"), NULL, "Query", "T/index/I", "", YES },
    { "all of a table", ALLOW_RESOURCE("'" TABLE "T/*'"), NULL, "Query", "T/index/I", "", YES },
    { "all of a table without the table", ALLOW_RESOURCE("'" TABLE "T/*'"), NULL, "Query", "T", "",
      NO },
    { "a stream", ALLOW_RESOURCE("'" TABLE "T/stream/*'"), NULL, "GetRecords",
      "T/stream/2026-11-15T05:40:04.123", "", YES },
    { "the stream of another table", ALLOW_RESOURCE("'" TABLE "U/stream/*'"), NULL, "GetRecords",
      "T/stream/2026-11-15T05:40:04.123", "", NO },
    { "one stream of several", ALLOW_RESOURCE("'" TABLE "T/stream/2026-11-15T05:40:04.123'"), NULL,
      "GetRecords", "T/stream/2026-11-15T05:40:04.124", "", NO },
    { "tables of a beginning", ALLOW_RESOURCE("'" TABLE "prod-*'"), NULL, "GetItem", "prod-a", "",
      YES },
    { "not of another", ALLOW_RESOURCE("'" TABLE "prod-*'"), NULL, "GetItem", "test-a", "", NO },
    { "* also takes slashes", ALLOW_RESOURCE("'" TABLE "prod-*'"), NULL, "Query", "prod-a/index/I",
      "", YES },
    { "? takes one character", ALLOW_RESOURCE("'" TABLE "T?'"), NULL, "GetItem", "T1", "", YES },
    { "and no two", ALLOW_RESOURCE("'" TABLE "T?'"), NULL, "GetItem", "T12", "", NO },
    { "any region and account", ALLOW_RESOURCE("'arn:aws:dynamodb:*:*:table/T'"), NULL, "GetItem",
      "T", "", YES },
    { "another region",
      ALLOW_RESOURCE("'arn:aws:dynamodb:eu-west-1:" POLICY_FIXTURE_ACCOUNT ":table/T'"), NULL,
      "GetItem", "T", "", NO },
    { "another account", ALLOW_RESOURCE("'arn:aws:dynamodb:us-east-1:111111111111:table/T'"), NULL,
      "GetItem", "T", "", NO },
    { "another service", ALLOW_RESOURCE("'arn:aws:s3:::table/T'"), NULL, "GetItem", "T", "", NO },
    { "one of a list", ALLOW_RESOURCE("['" TABLE "U','" TABLE "T']"), NULL, "GetItem", "T", "",
      YES },
    { "an action without a resource needs *", ALLOW_RESOURCE("'" TABLE "*'"), NULL, "ListTables",
      "*", "", NO },
    { "and has it", ALLOW, NULL, "ListTables", "*", "", YES },
    { "NotResource of another", "{'Effect':'Allow','Action':'*','NotResource':'" TABLE "U'}", NULL,
      "GetItem", "T", "", YES },
    { "NotResource of this one", "{'Effect':'Allow','Action':'*','NotResource':'" TABLE "T'}", NULL,
      "GetItem", "T", "", NO },
    { "NotResource denies the rest",
      ALLOW ",{'Effect':'Deny','Action':'*','NotResource':'" TABLE "U'}", NULL, "GetItem", "T", "",
      DENIED },
    { "a variable", ALLOW_RESOURCE("'" TABLE "${aws:username}'"), NULL, "GetItem", "alice", "",
      YES },
    { "a variable of another user", ALLOW_RESOURCE("'" TABLE "${aws:username}'"), NULL, "GetItem",
      "bob", "", NO },
    { "a variable between others", ALLOW_RESOURCE("'" TABLE "home-${aws:username}-*'"), NULL,
      "GetItem", "home-alice-1", "", YES },
    { "variables have no case", ALLOW_RESOURCE("'" TABLE "${AWS:UserName}'"), NULL, "GetItem",
      "alice", "", YES },
    { "a variable without a value matches nothing", ALLOW_RESOURCE("'" TABLE "${aws:UserAgent}*'"),
      NULL, "GetItem", "T", "", NO },
    { "nor is anything else allowed for it",
      "{'Effect':'Allow','Action':'*','NotResource':'" TABLE "${aws:UserAgent}'}", NULL, "GetItem",
      "T", "", NO },
    { "but everything denied",
      ALLOW ",{'Effect':'Deny','Action':'*','NotResource':'" TABLE "${aws:UserAgent}'}", NULL,
      "GetItem", "T", "", DENIED },
    { "a denial of what cannot be told denies",
      ALLOW ",{'Effect':'Deny','Action':'*','Resource':'" TABLE "${aws:UserAgent}'}", NULL,
      "GetItem", "T", "", DENIED },
    { "a variable's fallback", ALLOW_RESOURCE("'" TABLE "${aws:UserAgent, \\u0027T\\u0027}'"), NULL,
      "GetItem", "T", "", YES },
    { "a fallback is not used beside a value",
      ALLOW_RESOURCE("'" TABLE "${aws:username, \\u0027T\\u0027}'"), NULL, "GetItem", "T", "", NO },
    { "a value is no pattern", ALLOW_RESOURCE("'" TABLE "${aws:UserAgent}'"), NULL, "GetItem", "T",
      "aws:UserAgent=*", NO },
    { "a value is compared as it is", ALLOW_RESOURCE("'" TABLE "${aws:UserAgent}'"), NULL,
      "GetItem", "*?", "aws:UserAgent=*?", YES },
    { "${*} is a plain character", ALLOW_RESOURCE("'" TABLE "${*}'"), NULL, "GetItem", "T", "",
      NO },
};

static void resources_match_with_wildcards_and_variables(void **state)
{
    (void)state;
    policy_fixture_check(resource_rows, COUNT_OF(resource_rows));
}

/* --- Principals --- */

#define ALICE "'" POLICY_FIXTURE_ALICE "'"
#define BOB "'arn:aws:iam::" POLICY_FIXTURE_ACCOUNT ":user/bob'"
#define ROOT "'arn:aws:iam::" POLICY_FIXTURE_ACCOUNT ":root'"
#define DENY_BUT(principal)                                                                        \
    "{'Effect':'Deny','Action':'*','Resource':'*','NotPrincipal':" principal "}"

static const struct policy_row principal_rows[] = {
    { "everybody", NULL, ALLOW_TO("'*'"), "GetItem", "T", "", YES },
    { "everybody by kind", NULL, ALLOW_TO("{'AWS':'*'}"), "GetItem", "T", "", YES },
    { "the very user", NULL, ALLOW_TO("{'AWS':" ALICE "}"), "GetItem", "T", "", YES },
    { "another user", NULL, ALLOW_TO("{'AWS':" BOB "}"), "GetItem", "T", "", NO },
    { "one of several", NULL, ALLOW_TO("{'AWS':[" BOB "," ALICE "]}"), "GetItem", "T", "", YES },
    { "an account allows no user by itself", NULL, ALLOW_TO("{'AWS':" ROOT "}"), "GetItem", "T", "",
      NO },
    { "nor by its number", NULL, ALLOW_TO("{'AWS':'" POLICY_FIXTURE_ACCOUNT "'}"), "GetItem", "T",
      "", NO },
    { "an account is denied with its users", ALLOW, DENY_TO("{'AWS':" ROOT "}"), "GetItem", "T", "",
      DENIED_BY_RESOURCE },
    { "by its number too", ALLOW, DENY_TO("{'AWS':'" POLICY_FIXTURE_ACCOUNT "'}"), "GetItem", "T",
      "", DENIED_BY_RESOURCE },
    { "not those of another", ALLOW, DENY_TO("{'AWS':'111111111111'}"), "GetItem", "T", "", YES },
    { "a user is denied", ALLOW, DENY_TO("{'AWS':" ALICE "}"), "GetItem", "T", "",
      DENIED_BY_RESOURCE },
    { "another user is denied", ALLOW, DENY_TO("{'AWS':" BOB "}"), "GetItem", "T", "", YES },
    { "a service is no caller", NULL, ALLOW_TO("{'Service':'lambda.amazonaws.com'}"), "GetItem",
      "T", "", NO },
    { "a service beside a user", NULL,
      ALLOW_TO("{'Service':'lambda.amazonaws.com','AWS':" ALICE "}"), "GetItem", "T", "", YES },
    { "a federated identity is no caller", NULL, ALLOW_TO("{'Federated':'*'}"), "GetItem", "T", "",
      NO },
    { "NotPrincipal denies others", ALLOW, DENY_BUT("{'AWS':" BOB "}"), "GetItem", "T", "",
      DENIED_BY_RESOURCE },
    { "and not the one it names", ALLOW, DENY_BUT("{'AWS':" ALICE "}"), "GetItem", "T", "", YES },
    { "an account is not its users there", ALLOW, DENY_BUT("{'AWS':" ROOT "}"), "GetItem", "T", "",
      DENIED_BY_RESOURCE },
    { "all other elements count as well", NULL,
      "{'Effect':'Allow','Principal':'*','Action':'dynamodb:Put*','Resource':'*'}", "GetItem", "T",
      "", NO },
};

static void principals_of_a_resource_policy_name_the_caller(void **state)
{
    (void)state;
    policy_fixture_check(principal_rows, COUNT_OF(principal_rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(denials_come_before_permissions_and_silence_denies),
        cmocka_unit_test(actions_match_with_wildcards_and_without_case),
        cmocka_unit_test(resources_match_with_wildcards_and_variables),
        cmocka_unit_test(principals_of_a_resource_policy_name_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
