/* key_edit.c -- see key_edit.h. */
#include "auth/key_edit.h"
#include "auth/policy.h"
#include "base/arena.h"
#include "crypto/seal.h"
#include "crypto/sha256.h"
#include "json/base64.h"
#include "model/error.h"

enum { TOKEN_BYTES = 66, SECRET_BYTES = 30 };

static struct access_key *find(const struct key_ring *ring, struct bytes id, struct error *err)
{
    struct access_key *key = key_ring_find(ring, id);
    if (key == NULL)
        error_validation(err, "there is no access key %.*s", BYTES_FMT(id));
    return key;
}

/* --- New keys --- */

static struct bytes random_base64(struct arena *arena, size_t size)
{
    uint8_t bytes[TOKEN_BYTES];
    char *text = arena_alloc(arena, base64_encoded_size(size));
    seal_random(bytes, size);
    base64_encode(bytes_of(bytes, size), text);
    explicit_bzero(bytes, sizeof bytes);
    return bytes_of(text, base64_encoded_size(size));
}

/* 80 random bits in the letters and digits that AWS's ids have. */
static struct bytes random_id(struct arena *arena, const char *prefix)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint8_t bytes[KEY_ID_SIZE - 4];
    uint8_t *id = arena_alloc(arena, KEY_ID_SIZE);
    memcpy(id, prefix, 4);
    seal_random(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        id[4 + i] = (uint8_t)letters[bytes[i] % 32];
    return bytes_of(id, KEY_ID_SIZE);
}

/* Puts a copy of the key in its place in the order. */
static const struct access_key *insert(struct arena *arena, struct key_ring *ring,
                                       const struct access_key *key)
{
    struct access_key *keys = arena_alloc(arena, (ring->count + 1) * sizeof *keys);
    size_t at = 0;
    while (at < ring->count && bytes_compare(ring->keys[at].id, key->id) < 0)
        at++;
    if (at > 0)
        memcpy(keys, ring->keys, at * sizeof *keys);
    keys[at] = *key;
    if (at < ring->count)
        memcpy(&keys[at + 1], &ring->keys[at], (ring->count - at) * sizeof *keys);
    ring->keys = keys;
    ring->count++;
    return &keys[at];
}

static bool check_room(const struct key_ring *ring, struct error *err)
{
    return ring->count < KEY_RING_KEYS_MAX ||
           error_validation(err, "there are %d access keys already", KEY_RING_KEYS_MAX);
}

const struct access_key *key_edit_create(struct arena *arena, struct key_ring *ring,
                                         struct bytes user, int64_t now_ms, struct error *err)
{
    if (!key_name_is_valid(user)) {
        error_validation(err, "'%.*s' is no user name: 1 to %d of A-Z a-z 0-9 + = , . @ _ -",
                         BYTES_FMT(user), KEY_NAME_SIZE_MAX);
        return NULL;
    }
    if (!check_room(ring, err))
        return NULL;
    struct access_key key = { .id = random_id(arena, "AKIA"),
                              .secret = random_base64(arena, SECRET_BYTES),
                              .user = user,
                              .created_ms = now_ms };
    return insert(arena, ring, &key);
}

static struct bytes hash_of(struct arena *arena, struct bytes token)
{
    uint8_t digest[SHA256_SIZE];
    char *text = arena_alloc(arena, SHA256_HEX_SIZE);
    struct sha256 *hasher = sha256_create();
    sha256_digest(hasher, token, digest);
    sha256_destroy(hasher);
    sha256_hex(digest, text);
    return bytes_of(text, SHA256_HEX_SIZE);
}

const struct access_key *key_edit_create_session(struct arena *arena, struct key_ring *ring,
                                                 struct bytes parent_id, int64_t seconds,
                                                 int64_t now_ms, struct bytes *token,
                                                 struct error *err)
{
    const struct access_key *parent = find(ring, parent_id, err);
    if (parent == NULL || !check_room(ring, err))
        return NULL;
    if (parent->parent.data != NULL) {
        error_validation(err, "%.*s is a temporary key itself", BYTES_FMT(parent_id));
        return NULL;
    }
    if (seconds < 1 || seconds > KEY_SESSION_SECONDS_MAX) {
        error_validation(err, "a temporary key lasts from 1 to %d seconds",
                         KEY_SESSION_SECONDS_MAX);
        return NULL;
    }
    *token = random_base64(arena, TOKEN_BYTES);
    struct access_key key = { .id = random_id(arena, "ASIA"),
                              .secret = random_base64(arena, SECRET_BYTES),
                              .user = parent->user,
                              .created_ms = now_ms,
                              .parent = parent->id,
                              .expires_ms = now_ms + seconds * 1000,
                              .token_hash = hash_of(arena, *token) };
    return insert(arena, ring, &key);
}

/* --- Changes of keys --- */

bool key_edit_disable(struct key_ring *ring, struct bytes id, bool disabled, struct error *err)
{
    struct access_key *key = find(ring, id, err);
    if (key == NULL)
        return false;
    key->disabled = disabled;
    return true;
}

bool key_edit_delete(struct key_ring *ring, struct bytes id, struct error *err)
{
    size_t kept = 0;
    if (find(ring, id, err) == NULL)
        return false;
    for (size_t i = 0; i < ring->count; i++)
        if (!bytes_equal(ring->keys[i].id, id) && !bytes_equal(ring->keys[i].parent, id))
            ring->keys[kept++] = ring->keys[i];
    ring->count = kept;
    return true;
}

void key_edit_drop_expired(struct key_ring *ring, int64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < ring->count; i++)
        if (ring->keys[i].parent.data == NULL || ring->keys[i].expires_ms > now_ms)
            ring->keys[kept++] = ring->keys[i];
    ring->count = kept;
}

/* --- Policies --- */

static struct key_policy *find_policy(const struct access_key *key, struct bytes name)
{
    for (size_t i = 0; i < key->policy_count; i++)
        if (bytes_equal(key->policies[i].name, name))
            return &key->policies[i];
    return NULL;
}

static bool refuse_absent(struct bytes id, struct bytes name, struct error *err)
{
    return error_validation(err, "the access key %.*s has no policy %.*s", BYTES_FMT(id),
                            BYTES_FMT(name));
}

bool key_edit_put_policy(struct arena *arena, struct key_ring *ring, struct bytes id,
                         struct bytes name, struct bytes text, struct error *err)
{
    struct access_key *key = find(ring, id, err);
    if (key == NULL)
        return false;
    if (key->parent.data != NULL)
        return error_validation(err, "a temporary key has the policies of its parent, %.*s",
                                BYTES_FMT(key->parent));
    if (!key_name_is_valid(name))
        return error_validation(err,
                                "'%.*s' is no name of a policy: 1 to %d of A-Z a-z 0-9 + = , . @ "
                                "_ -",
                                BYTES_FMT(name), KEY_NAME_SIZE_MAX);
    const struct policy *policy = policy_parse(arena, text, POLICY_OF_IDENTITY, err);
    if (policy == NULL)
        return false;
    struct key_policy *place = find_policy(key, name);
    if (place == NULL && key->policy_count == KEY_POLICIES_MAX)
        return error_validation(err, "an access key has at most %d policies", KEY_POLICIES_MAX);
    if (place == NULL) {
        struct key_policy *policies = arena_alloc(arena, KEY_POLICIES_MAX * sizeof *policies);
        if (key->policy_count > 0)
            memcpy(policies, key->policies, key->policy_count * sizeof *policies);
        key->policies = policies;
        place = &policies[key->policy_count++];
    }
    *place = (struct key_policy){ .name = name, .text = text, .policy = policy };
    return true;
}

bool key_edit_delete_policy(struct key_ring *ring, struct bytes id, struct bytes name,
                            struct error *err)
{
    struct access_key *key = find(ring, id, err);
    if (key == NULL)
        return false;
    struct key_policy *place = find_policy(key, name);
    if (place == NULL)
        return refuse_absent(id, name, err);
    key->policy_count--;
    memmove(place, place + 1, (size_t)(&key->policies[key->policy_count] - place) * sizeof *place);
    return true;
}

const struct key_policy *key_edit_find_policy(const struct key_ring *ring, struct bytes id,
                                              struct bytes name, struct error *err)
{
    const struct access_key *key = find(ring, id, err);
    if (key == NULL)
        return NULL;
    const struct key_policy *policy = find_policy(key, name);
    if (policy == NULL)
        refuse_absent(id, name, err);
    return policy;
}
