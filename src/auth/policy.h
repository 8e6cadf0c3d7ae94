/* policy.h -- policies in IAM's JSON: compiled once, then evaluated for each request.
 *
 * An unknown element, operator, context key or variable makes the whole policy invalid: a statement
 * understood by half could allow what it was written to deny.
 */
#ifndef STATOR_AUTH_POLICY_H
#define STATOR_AUTH_POLICY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct error;
struct policy; /* Opaque, immutable. Lives in the arena it was parsed into. */

enum {
    POLICY_SIZE_MAX = 20 * 1024, /* Of its text, white space included. */
    POLICY_DEPTH_MAX = 6,        /* Policy, statements, statement, condition, operator, values. */
};

enum policy_kind {
    POLICY_OF_IDENTITY, /* Attached to a key: it has no Principal. */
    POLICY_OF_RESOURCE, /* Attached to a table or a stream: each statement has one. */
};

/* The message for a principal that cannot be one. */
extern const char policy_invalid_principal_text[];

/* Does a statement allow something to everybody, without a condition? */
bool policy_allows_everybody(const struct policy *policy);

/* Copies what it needs of `text`. NULL with a ValidationException that names the problem. */
MUST_CHECK const struct policy *policy_parse(struct arena *arena, struct bytes text,
                                             enum policy_kind kind, struct error *err);

/* A context key of a request. One without values is absent. */
struct policy_key {
    struct bytes name; /* "dynamodb:LeadingKeys"; compared without regard to case. */
    const struct bytes *values;
    size_t count;
};

/* Lists that are expensive to collect, so they are collected only for statements that need them. */
enum policy_list {
    POLICY_LEADING_KEYS = 1 << 0, /* dynamodb:LeadingKeys */
    POLICY_ATTRIBUTES = 1 << 1,   /* dynamodb:Attributes */
};

struct policy_request {
    struct bytes action;    /* "dynamodb:GetItem" */
    struct bytes resource;  /* An ARN, or "*" where an action has none. */
    struct bytes principal; /* The caller's ARN. */
    struct bytes account;   /* The caller's account. */
    const struct policy_key *keys;
    size_t key_count;
    /* A set of enum policy_list: lists with further values that are unknown before the data is
     * read, such as the attributes of a whole item. An unknown value meets every condition of a
     * denial. It meets a condition of a permission only if any value would. */
    unsigned lists_with_unknown_values;
};

/* The policies that decide about one request. Each may be missing. */
struct policy_set {
    const struct policy *const *identity; /* Of the caller. */
    size_t identity_count;
    const struct policy *resource; /* Of the resource; NULL: it has none. */
};

/* The lists that the conditions need of statements that match the request's action, resource and
 * principal: a set of enum policy_list. `request` need not have the lists yet. */
unsigned policy_lists_needed(struct arena *arena, const struct policy_set *policies,
                             const struct policy_request *request);

enum policy_decision {
    POLICY_ALLOWED,
    POLICY_NOT_ALLOWED, /* Nothing allows it. */
    POLICY_DENIED_BY_IDENTITY,
    POLICY_DENIED_BY_RESOURCE,
};

/* An explicit denial in any policy wins, then a permission in any; otherwise it is not allowed. */
enum policy_decision policy_decide(struct arena *arena, const struct policy_set *policies,
                                   const struct policy_request *request);

#endif
