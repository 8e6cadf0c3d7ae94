/* policy_parts.h -- the compiled form of a policy. Private to auth/. */
#ifndef STATOR_AUTH_POLICY_PARTS_H
#define STATOR_AUTH_POLICY_PARTS_H
#include <stdbool.h>
#include <stddef.h>
#include "auth/pattern.h"
#include "auth/policy.h"
#include "auth/policy_condition.h"
#include "base/bytes.h"

enum principal_kind {
    PRINCIPAL_EVERYBODY,
    PRINCIPAL_ACCOUNT, /* By its number. */
    PRINCIPAL_ARN,
    PRINCIPAL_FOREIGN, /* A service or a foreign identity: never a caller here. */
};

struct policy_principal {
    enum principal_kind kind;
    struct bytes text;
};

/* The requests that an element covers: those that match a pattern, or, inverted (NotAction), those
 * that match none. */
struct pattern_list {
    const struct pattern *patterns;
    size_t count;
    bool inverted;
};

struct policy_statement {
    bool deny;
    struct pattern_list actions;
    struct pattern_list resources;
    const struct policy_principal *principals;
    size_t principal_count;
    bool principals_inverted;
    const struct policy_condition *conditions; /* All must hold. */
    size_t condition_count;
    unsigned lists_needed; /* By the conditions: a set of enum policy_list. */
};

struct policy {
    enum policy_kind kind;
    const struct policy_statement *statements;
    size_t count;
};

#endif
