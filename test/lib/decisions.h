/* decisions.h -- the table of decisions: who may do what, for every operation.
 *
 * The rows are written from IAM's evaluation logic and from the service authorization reference of
 * DynamoDB, not from the code. A row has the caller's own statements, the resource policies of the
 * table Tab and of its stream, a request, and how it must end. Each operation has an array of rows
 * of its own, decisions_<operation>: one that is missing fails the build.
 *
 * The world of all rows, each with a fresh copy (decision_world.h):
 *
 *   Tab     key pk (S), sk (N); global index Ind (g), local index Loc (l); tag team=blue; a stream;
 *           items alice/1, bob/1 and carol/1 with the attributes name, pay, g and l; a trigger
 *   Secret  the same, also with a trigger
 *   Plain   key pk (S); no index, stream, tag or item
 *   Num     key pk (N), with the item 42
 *   Bin     key pk (B), with the item "abc"
 *   Absent  does not exist
 *
 * In bodies, ' stands for ", and ~ for a single quote inside of a statement. <shard>, <iterator>,
 * <trigger> and their kin with "secret_" stand for what the world has.
 */
#ifndef STATOR_TEST_DECISIONS_H
#define STATOR_TEST_DECISIONS_H
#include <stdbool.h>
#include "api/operation_list.h"
#include "model/error.h"

enum decision_outcome {
    DECISION_ALLOWED = 1,        /* The call succeeds. */
    DECISION_FAILS,              /* With the exception `code`, which is another one. */
    DECISION_NOT_ALLOWED,        /* AccessDenied: nothing allows `action` on `resource`. */
    DECISION_DENIED_BY_IDENTITY, /* AccessDenied: a policy of the caller denies it. */
    DECISION_DENIED_BY_RESOURCE, /* AccessDenied: a resource policy denies it. */
    DECISION_SHOWS,              /* It succeeds, and `action` is a text in the answer. */
    DECISION_HIDES,              /* It may succeed; `action` is a text that is not in the answer. */
    DECISION_LIKE,               /* As the request `action` is answered, apart from the UUID. */
};

struct decision {
    const char *identity; /* Statements of the caller's policy, separated by commas. */
    const char *of_table; /* Of Tab's resource policy; NULL: it has none. */
    const char *of_stream;
    const char *body; /* NULL: the end of the rows. */
    enum decision_outcome outcome;
    const char *action;   /* Without "dynamodb:", but with the prefix of another service. */
    const char *resource; /* A table's name and what follows it in the ARN, an ARN, or "*". */
    enum error_code code;
};

#define DECISION_DECLARE(id, name) extern const struct decision decisions_##id[];
OPERATION_LIST(DECISION_DECLARE)
#undef DECISION_DECLARE

/* --- How requests end --- */

#define YES DECISION_ALLOWED, NULL, NULL, ERROR_NONE
#define NO(action, resource) DECISION_NOT_ALLOWED, action, resource, ERROR_ACCESS_DENIED
#define DENIED(action, resource) DECISION_DENIED_BY_IDENTITY, action, resource, ERROR_ACCESS_DENIED
#define DENIED_BY_RESOURCE(action, resource)                                                       \
    DECISION_DENIED_BY_RESOURCE, action, resource, ERROR_ACCESS_DENIED
#define FAILS(code) DECISION_FAILS, NULL, NULL, code
#define NOT_FOUND FAILS(ERROR_RESOURCE_NOT_FOUND)
#define INVALID FAILS(ERROR_VALIDATION)
#define CONDITION_FAILED FAILS(ERROR_CONDITIONAL_CHECK_FAILED)
#define CANCELED FAILS(ERROR_TRANSACTION_CANCELED)
#define SHOWS(text) DECISION_SHOWS, text, NULL, ERROR_NONE
#define HIDES(text) DECISION_HIDES, text, NULL, ERROR_NONE
#define LIKE(body) DECISION_LIKE, body, NULL, ERROR_NONE

/* --- Statements --- */

#define ACCOUNT "123456789012"
#define ALICE_ARN "arn:aws:iam::" ACCOUNT ":user/alice"
#define BOB_ARN "arn:aws:iam::" ACCOUNT ":user/bob"
#define ARN(resource) "arn:aws:dynamodb:eu-west-1:" ACCOUNT ":table/" resource
#define LABEL "2023-11-14T22:13:20.000"
#define STREAM "Tab/stream/" LABEL
#define SECRET_STREAM "Secret/stream/" LABEL

#define ALLOW_ON(action, resource)                                                                 \
    "{'Effect':'Allow','Action':'dynamodb:" action "','Resource':'" resource "'}"
#define DENY_ON(action, resource)                                                                  \
    "{'Effect':'Deny','Action':'dynamodb:" action "','Resource':'" resource "'}"
#define ALLOW_IF(condition)                                                                        \
    "{'Effect':'Allow','Action':'dynamodb:*','Resource':'*','Condition':{" condition "}}"
#define DENY_IF(condition)                                                                         \
    ALL ",{'Effect':'Deny','Action':'dynamodb:*','Resource':'*','Condition':{" condition "}}"

#define NOTHING "{'Effect':'Allow','Action':'dynamodb:Nothing','Resource':'*'}"
#define ALL "{'Effect':'Allow','Action':'*','Resource':'*'}"
#define ONLY(action, resource) ALLOW_ON(action, ARN(resource))
#define ALL_BUT_ACTION(action) "{'Effect':'Allow','NotAction':'dynamodb:" action "','Resource':'*'}"
#define ALL_BUT_RESOURCE(resource)                                                                 \
    "{'Effect':'Allow','Action':'dynamodb:*','NotResource':'" ARN(resource) "'}"
#define ALL_DENY(action, resource) ALL "," DENY_ON(action, ARN(resource))
#define DENY_NOT_ACTION(action)                                                                    \
    ALL ",{'Effect':'Deny','NotAction':'dynamodb:" action "','Resource':'*'}"
#define DENY_NOT_RESOURCE(resource)                                                                \
    ALL ",{'Effect':'Deny','Action':'dynamodb:*','NotResource':'" ARN(resource) "'}"

/* Everything but what is done to Secret, its indexes and its stream. */
#define NOT_SECRET ALL "," DENY_ON("*", ARN("Secret")) "," DENY_ON("*", ARN("Secret/*"))
/* Only items whose partition key is the caller's name. */
#define OWN ALLOW_IF("'ForAllValues:StringEquals':{'dynamodb:LeadingKeys':['${aws:username}']}")
/* Only these attributes, and no whole items: the developer guide's example. */
#define NAMES                                                                                      \
    ALLOW_IF("'ForAllValues:StringEquals':{'dynamodb:Attributes':['pk','sk','g','l','name']},"     \
             "'StringEqualsIfExists':{'dynamodb:Select':'SPECIFIC_ATTRIBUTES',"                    \
             "'dynamodb:ReturnValues':['NONE','UPDATED_OLD','UPDATED_NEW']}")
/* Only these attributes, without more. What shows whole items shows others, too. */
#define NAMED                                                                                      \
    ALLOW_IF("'ForAllValues:StringEquals':{'dynamodb:Attributes':['pk','sk','g','l','name']}")
#define DENY_PAY DENY_IF("'ForAnyValue:StringEquals':{'dynamodb:Attributes':['pay']}")
/* Only these partition keys, and some there must be. */
#define KEYS(list)                                                                                 \
    ALLOW_IF("'Null':{'dynamodb:LeadingKeys':'false'},"                                            \
             "'ForAllValues:StringEquals':{'dynamodb:LeadingKeys':" list "}")
#define RETURNS(values) ALLOW_IF("'StringEqualsIfExists':{'dynamodb:ReturnValues':" values "}")
#define DENY_RETURNS(values) DENY_IF("'StringEquals':{'dynamodb:ReturnValues':" values "}")
#define SELECTS(values) ALLOW_IF("'StringEqualsIfExists':{'dynamodb:Select':" values "}")
#define WITHIN(operation) ALLOW_IF("'StringEquals':{'dynamodb:EnclosingOperation':'" operation "'}")
#define DENY_WITHIN(operation)                                                                     \
    DENY_IF("'StringEquals':{'dynamodb:EnclosingOperation':'" operation "'}")
#define TAGGED(value) ALLOW_IF("'StringEquals':{'aws:ResourceTag/team':'" value "'}")
#define DENY_TAGGED(value) DENY_IF("'StringEquals':{'aws:ResourceTag/team':'" value "'}")
#define NO_CAPACITY ALLOW_IF("'StringEqualsIfExists':{'dynamodb:ReturnConsumedCapacity':'NONE'}")

/* --- Statements of resource policies --- */

#define OF_RESOURCE(effect, principal, action)                                                     \
    "{'Effect':'" effect "'," principal ",'Action':'dynamodb:" action "','Resource':'*'}"
#define EVERYBODY "'Principal':'*'"
#define ALICE "'Principal':{'AWS':'" ALICE_ARN "'}"
#define BOB "'Principal':{'AWS':'" BOB_ARN "'}"
#define SERVICE "'Principal':{'Service':'lambda.amazonaws.com'}"
#define ROOT "'Principal':{'AWS':'arn:aws:iam::" ACCOUNT ":root'}"
#define OTHER_ROOT "'Principal':{'AWS':'arn:aws:iam::210987654321:root'}"
#define NOT_ALICE "'NotPrincipal':{'AWS':'" ALICE_ARN "'}"
#define NOT_BOB "'NotPrincipal':{'AWS':'" BOB_ARN "'}"

/* --- Groups of rows --- */

/* clang-format off */
/* What every request obeys that asks for one action on one resource; how it ends when it is let
 * through comes last. */
#define ASKS(body, action, resource, ...)                                                          \
    { NOTHING, NULL, NULL, body, NO(action, resource) },                                           \
    { ONLY(action, resource), NULL, NULL, body, __VA_ARGS__ },                                     \
    { ALL_BUT_ACTION(action), NULL, NULL, body, NO(action, resource) },                            \
    { ALL_BUT_RESOURCE(resource), NULL, NULL, body, NO(action, resource) },                        \
    { ALL_DENY(action, resource), NULL, NULL, body, DENIED(action, resource) },                    \
    { ALL_DENY("*", "*"), NULL, NULL, body, DENIED(action, resource) },                            \
    { DENY_NOT_ACTION(action), NULL, NULL, body, __VA_ARGS__ },                                    \
    { DENY_NOT_RESOURCE(resource), NULL, NULL, body, __VA_ARGS__ }
/* The same of one about no single resource. */
#define ASKS_ACCOUNT(body, action)                                                                 \
    { NOTHING, NULL, NULL, body, NO(action, "*") },                                                \
    { ALLOW_ON(action, "*"), NULL, NULL, body, YES },                                              \
    { ONLY(action, "*"), NULL, NULL, body, NO(action, "*") },                                      \
    { ALL_BUT_ACTION(action), NULL, NULL, body, NO(action, "*") },                                 \
    { ALL "," DENY_ON(action, "*"), NULL, NULL, body, DENIED(action, "*") },                       \
    { DENY_NOT_ACTION(action), NULL, NULL, body, YES }
/* What Tab's resource policy does to one that asks for one action on Tab or one of its indexes. */
#define TABLE_POLICY(body, action, resource, ...)                                              \
    { NOTHING, OF_RESOURCE("Allow", ALICE, action), NULL, body, __VA_ARGS__ },                         \
    { NOTHING, OF_RESOURCE("Allow", BOB, action), NULL, body, NO(action, resource) },              \
    { NOTHING, OF_RESOURCE("Allow", ROOT, action), NULL, body, NO(action, resource) },             \
    { ALL, OF_RESOURCE("Deny", EVERYBODY, action), NULL, body,                                     \
      DENIED_BY_RESOURCE(action, resource) },                                                      \
    { ALL, OF_RESOURCE("Deny", NOT_ALICE, "*"), NULL, body, __VA_ARGS__ },                             \
    { ALL_DENY("*", "*"), OF_RESOURCE("Allow", ALICE, "*"), NULL, body, DENIED(action, resource) }
/* The same of the policy of its stream. */
#define STREAM_POLICY(body, action)                                                                \
    { NOTHING, NULL, OF_RESOURCE("Allow", ALICE, action), body, YES },                             \
    { NOTHING, NULL, OF_RESOURCE("Allow", BOB, action), body, NO(action, STREAM) },                \
    { NOTHING, NULL, OF_RESOURCE("Allow", ROOT, action), body, NO(action, STREAM) },               \
    { ALL, NULL, OF_RESOURCE("Deny", EVERYBODY, action), body,                                     \
      DENIED_BY_RESOURCE(action, STREAM) },                                                        \
    { ALL, NULL, OF_RESOURCE("Deny", NOT_ALICE, "*"), body, YES },                                 \
    { ALL_DENY("*", "*"), NULL, OF_RESOURCE("Allow", ALICE, "*"), body, DENIED(action, STREAM) }
/* Strangers hear the same of a table that is there and of one that is not. */
#define STRANGER(there, absent, action)                                                            \
    { NOTHING, NULL, NULL, there, NO(action, "Secret") },                                          \
    { NOTHING, NULL, NULL, absent, NO(action, "Absent") },                                         \
    { ONLY("*", "Tab"), NULL, NULL, there, NO(action, "Secret") },                                 \
    { ONLY("*", "Tab"), NULL, NULL, absent, NO(action, "Absent") },                                \
    { NOT_SECRET, NULL, NULL, there, DENIED(action, "Secret") },                                   \
    { ALL_DENY("*", "Absent"), NULL, NULL, absent, DENIED(action, "Absent") }
#define END { .body = NULL }
/* clang-format on */

/* --- Parts of bodies --- */

#define KEY(name) "{'pk':{'S':'" name "'},'sk':{'N':'1'}}"
#define ITEM(name, more) "{'pk':{'S':'" name "'},'sk':{'N':'1'}" more "}"
#define IN(table, more) "{'TableName':'" table "'" more "}"
#define VALUE(value) ",'ExpressionAttributeValues':{':v':{'S':'" value "'}}"
#define FALSE_CONDITION ",'ConditionExpression':'attribute_not_exists(pk)'"
#define SHOW_OLD ",'ReturnValuesOnConditionCheckFailure':'ALL_OLD'"

#endif
