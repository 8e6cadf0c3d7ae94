/* naive_policy.h -- IAM's evaluation logic a second time, as plainly as possible.
 *
 * It knows no JSON and shares no code with auth/: it works on the structures that tests print their
 * policies from, matches by plain recursion, and follows the documentation sentence by sentence.
 * Texts are borrowed and must outlive what points to them.
 */
#ifndef STATOR_TEST_NAIVE_POLICY_H
#define STATOR_TEST_NAIVE_POLICY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

struct arena;

enum { NAIVE_LIST_MAX = 6, NAIVE_TESTS_MAX = 3, NAIVE_STATEMENTS_MAX = 5, NAIVE_KEYS_MAX = 16 };

struct naive_list {
    const char *texts[NAIVE_LIST_MAX];
    size_t count;
};

enum naive_quantifier { NAIVE_SINGLE, NAIVE_FOR_ALL, NAIVE_FOR_ANY };

/* One test of a Condition: "ForAllValues:StringLikeIfExists": {key: values}. */
struct naive_test {
    enum naive_quantifier quantifier;
    const char *operator; /* Without quantifier and IfExists. */
    bool if_exists;
    const char *key;
    struct naive_list values;
};

enum naive_principals { NAIVE_NO_PRINCIPALS, NAIVE_PRINCIPAL, NAIVE_NOT_PRINCIPAL };

struct naive_statement {
    bool deny;
    enum naive_principals has_principals;
    struct naive_list principals; /* "*", an account, an ARN, or "service" for one of AWS's. */
    bool not_action;
    struct naive_list actions;
    bool not_resource;
    struct naive_list resources;
    struct naive_test tests[NAIVE_TESTS_MAX];
    size_t test_count;
};

struct naive_document {
    struct naive_statement statements[NAIVE_STATEMENTS_MAX];
    size_t count;
};

struct naive_key {
    const char *name;
    const char *const *values;
    size_t count; /* 0: the key is absent, unless there is an unknown value. */
    /* There is one more value, which nobody knows before the data is read: one of the attributes of
     * a whole item. */
    bool has_unknown;
};

struct naive_request {
    const char *action; /* With its prefix. */
    const char *resource;
    const char *principal;
    const char *account;
    struct naive_key keys[NAIVE_KEYS_MAX];
    size_t key_count;
};

struct naive_decision {
    bool allowed;
    bool denied_by_identity;
    bool denied_by_resource;
    bool identity_allows; /* Denials apart. */
    bool resource_allows;
};

struct naive_decision naive_decide(const struct naive_document *identity, size_t identity_count,
                                   const struct naive_document *resource,
                                   const struct naive_request *request);

/* True if the statement is about the request, whatever its conditions. */
bool naive_concerns(const struct naive_statement *statement, const struct naive_request *request);

/* The document as JSON, in the arena. */
struct bytes naive_print(struct arena *arena, const struct naive_document *document);

#endif
