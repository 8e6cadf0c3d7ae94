/* policy_fixture.h -- policies and requests in few characters, for tests of auth/. */
#ifndef STATOR_TEST_POLICY_FIXTURE_H
#define STATOR_TEST_POLICY_FIXTURE_H
#include "auth/policy.h"
#include "base/bytes.h"

struct arena;

#define POLICY_FIXTURE_ACCOUNT "000000000000"
#define POLICY_FIXTURE_ALICE "arn:aws:iam::" POLICY_FIXTURE_ACCOUNT ":user/alice"

/* JSON with ' for ". */
struct bytes policy_fixture_json(struct arena *arena, const char *text);
/* A policy of version 2012-10-17 with these statements, separated by commas. */
struct bytes policy_fixture_document(struct arena *arena, const char *statements);

/* A request of the user alice: an action without its prefix; a resource that is a table's name
 * (with what follows it) or "*"; and "name=value,value;name=value" with names that lack "dynamodb:"
 * or have their prefix. */
struct policy_request policy_fixture_request(struct arena *arena, const char *action,
                                             const char *resource, const char *keys);

/* --- Tables of decisions --- */

#define YES POLICY_ALLOWED
#define NO POLICY_NOT_ALLOWED
#define DENIED POLICY_DENIED_BY_IDENTITY
#define DENIED_BY_RESOURCE POLICY_DENIED_BY_RESOURCE

#define TABLE "arn:aws:dynamodb:us-east-1:" POLICY_FIXTURE_ACCOUNT ":table/"
#define ALLOW "{'Effect':'Allow','Action':'*','Resource':'*'}"
#define ALLOW_ACTION(action) "{'Effect':'Allow','Resource':'*','Action':" action "}"
#define ALLOW_RESOURCE(resource) "{'Effect':'Allow','Action':'*','Resource':" resource "}"
#define ALLOW_IF(condition)                                                                        \
    "{'Effect':'Allow','Action':'*','Resource':'*','Condition':{" condition "}}"
#define DENY_IF(condition)                                                                         \
    ALLOW ",{'Effect':'Deny','Action':'*','Resource':'*','Condition':{" condition "}}"

struct policy_row {
    const char *rule;
    const char *identity; /* Statements; NULL: no policy. */
    const char *resource_policy;
    const char *action;
    const char *resource;
    const char *keys;
    enum policy_decision want;
};

/* Fails the test at the first row with another decision. */
void policy_fixture_check(const struct policy_row *rows, size_t count);

#endif
