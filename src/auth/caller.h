/* caller.h -- whoever sent a request, once its signature was found right. */
#ifndef STATOR_AUTH_CALLER_H
#define STATOR_AUTH_CALLER_H
#include <stddef.h>
#include "auth/policy.h"
#include "base/bytes.h"

/* A plain value; borrows what it points to. */
struct caller {
    struct bytes key_id;
    struct bytes arn; /* "arn:aws:iam::<account>:user/<name>" */
    struct bytes account;
    const struct policy *const *policies;
    size_t policy_count;
    /* What is known of the request before its body is read: aws:username and its like. */
    const struct policy_key *keys;
    size_t key_count;
};

#endif
