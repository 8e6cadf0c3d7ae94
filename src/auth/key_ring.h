/* key_ring.h -- access keys: their secrets, their users, and the policies attached to them.
 *
 * A ring is parsed from JSON, which key_file.h keeps sealed in a file. The ring in use by a
 * running server is immutable. The commands `stator key` and `stator policy`, and the server's own
 * operations on keys (live_keys.h), read one, edit it, and write it back.
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
struct error;
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
    const struct policy *policy; /* NULL: it cannot be parsed, so its key may do nothing. */
};

struct access_key {
    struct bytes id;
    struct bytes secret;
    struct bytes user;
    bool disabled;
    int64_t created_ms;
    /* Temporary keys: the key whose policies they have, their expiry, and the hash of their token.
     */
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

/* False if the text is no ring. A policy that cannot be parsed does not fail the ring. */
MUST_CHECK bool key_ring_parse(struct arena *arena, struct bytes json, struct key_ring *out);
void key_ring_write(const struct key_ring *ring, struct buffer *out);

/* NULL if there is none. */
struct access_key *key_ring_find(const struct key_ring *ring, struct bytes id);
/* The key whose policies apply: the key itself, or its parent. NULL if the key is unusable:
 * disabled, expired, without its parent, or with a policy that cannot be parsed. */
const struct access_key *key_ring_grantor(const struct key_ring *ring, const struct access_key *key,
                                          int64_t now_ms);

/* [A-Za-z0-9+=,.@_-], as IAM names users and policies. */
bool key_name_is_valid(struct bytes name);

/* --- Editing ---
 *
 * Each function changes the ring it is given, with memory of the arena. On failure it returns false
 * or NULL, and sets an exception that tells people why. */

enum { KEY_TOKEN_SIZE = 88 }; /* 66 random bytes in base64. */

/* A new key with a random id and secret. */
MUST_CHECK const struct access_key *key_edit_create(struct arena *arena, struct key_ring *ring,
                                                    struct bytes user, int64_t now_ms,
                                                    struct error *err);
/* A temporary key with the policies of `parent`, which must not be temporary. Its requests must
 * carry `token`; the ring keeps only the hash of that. */
MUST_CHECK const struct access_key *
key_edit_create_session(struct arena *arena, struct key_ring *ring, struct bytes parent,
                        int64_t seconds, int64_t now_ms, struct bytes *token, struct error *err);
MUST_CHECK bool key_edit_disable(struct key_ring *ring, struct bytes id, bool disabled,
                                 struct error *err);
/* Deletes the key's temporary keys too. */
MUST_CHECK bool key_edit_delete(struct key_ring *ring, struct bytes id, struct error *err);
/* Deletes expired temporary keys. */
void key_edit_drop_expired(struct key_ring *ring, int64_t now_ms);

/* Replaces the policy of that name, if there is one. */
MUST_CHECK bool key_edit_put_policy(struct arena *arena, struct key_ring *ring, struct bytes id,
                                    struct bytes name, struct bytes text, struct error *err);
MUST_CHECK bool key_edit_delete_policy(struct key_ring *ring, struct bytes id, struct bytes name,
                                       struct error *err);
/* NULL if there is none. */
const struct access_key *key_edit_find(const struct key_ring *ring, struct bytes id,
                                       struct error *err);
const struct key_policy *key_edit_find_policy(const struct key_ring *ring, struct bytes id,
                                              struct bytes name, struct error *err);

#endif
