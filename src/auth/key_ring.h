/* key_ring.h -- access keys: their secrets, their users, and the policies attached to them.
 *
 * A ring is read from JSON and never changes. To change one, its keys are copied, changed and
 * written to JSON again (key_command.c); key_store.h keeps that JSON sealed in a file.
 */
#ifndef STATOR_AUTH_KEY_RING_H
#define STATOR_AUTH_KEY_RING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct buffer;
struct policy;

enum {
    KEY_RING_KEYS_MAX = 10000,
    KEY_POLICIES_MAX = 10,   /* Of one key. */
    KEY_NAME_SIZE_MAX = 128, /* Of users and policies. */
    KEY_ID_SIZE = 20,        /* "AKIA", or "ASIA" if temporary, and 16 more. */
    KEY_SECRET_SIZE = 40,
    KEY_TOKEN_HASH_SIZE = 64, /* SHA-256 in hexadecimal. */
    KEY_SESSION_SECONDS_MAX = 36 * 60 * 60,
};

struct key_policy {
    struct bytes name;
    struct bytes text;
    const struct policy *policy; /* NULL: it cannot be read, and its key may do nothing. */
};

struct access_key {
    struct bytes id;
    struct bytes secret;
    struct bytes user;
    bool disabled;
    int64_t created_ms;
    /* Of temporary keys: whose policies they have, until when, and the hash of their token. */
    struct bytes parent; /* data NULL: not temporary. */
    int64_t expires_ms;
    struct bytes token_hash;
    struct key_policy *policies;
    size_t policy_count;
};

/* Lives in an arena. */
struct key_ring {
    struct access_key *keys; /* Sorted by id. */
    size_t count;
};

/* False if the text is no ring. A policy that cannot be read is no fault of the ring. */
MUST_CHECK bool key_ring_parse(struct arena *arena, struct bytes json, struct key_ring *out);
void key_ring_write(const struct key_ring *ring, struct buffer *out);

/* NULL if there is none. */
struct access_key *key_ring_find(const struct key_ring *ring, struct bytes id);
/* The key whose policies count: its own, or its parent's. NULL if the key may not be used at all:
 * disabled, expired, without a parent, or with a policy that cannot be read. */
const struct access_key *key_ring_grantor(const struct key_ring *ring, const struct access_key *key,
                                          int64_t now_ms);

/* [A-Za-z0-9+=,.@_-], as IAM names users and policies. */
bool key_name_is_valid(struct bytes name);

#endif
