/* caller.h -- the sender of a request whose signature has been verified. */
#ifndef STATOR_AUTH_CALLER_H
#define STATOR_AUTH_CALLER_H
#include <stddef.h>
#include "auth/policy.h"
#include "base/bytes.h"

/* A plain value; borrows everything it points to. */
struct caller {
    struct bytes key_id;
    struct bytes grantor_id; /* The key whose policies count; data NULL: the same key. */
    struct bytes arn;        /* "arn:aws:iam::<account>:user/<name>" */
    struct bytes account;
    const struct policy *const *policies;
    size_t policy_count;
    /* Context keys that are known before the body is read: aws:username and others. */
    const struct policy_key *keys;
    size_t key_count;
};

#endif
