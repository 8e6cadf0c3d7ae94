/* key_ring.c -- see key_ring.h. The JSON is that of doc/disk-format.md, "Access keys". */
#include "auth/key_ring.h"
#include <assert.h>
#include <stdlib.h>
#include "auth/policy.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "crypto/seal.h"
#include "crypto/sha256.h"
#include "json/base64.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"

enum { RING_VERSION = 1, RING_DEPTH_MAX = 5, TOKEN_BYTES = 66, SECRET_BYTES = 30 };

bool key_name_is_valid(struct bytes name)
{
    static const struct bytes others = BYTES("+=,.@_-");
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              memchr(others.data, c, others.len) != NULL))
            return false;
    }
    return name.len >= 1 && name.len <= KEY_NAME_SIZE_MAX;
}

/* --- From JSON --- */

static bool read_integer(struct json_reader *reader, int64_t *out)
{
    struct bytes text;
    *out = 0;
    if (!json_read_number(reader, &text) || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *out = *out * 10 + (text.data[i] - '0');
    }
    return true;
}

static bool read_policies(struct json_reader *reader, struct access_key *key)
{
    struct bytes name;
    key->policies = arena_alloc(reader->arena, KEY_POLICIES_MAX * sizeof *key->policies);
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        struct error ignored;
        error_init(&ignored, reader->arena);
        if (key->policy_count == KEY_POLICIES_MAX || !key_name_is_valid(name))
            return false;
        struct key_policy *policy = &key->policies[key->policy_count++];
        *policy = (struct key_policy){ .name = name };
        if (!json_read_string(reader, &policy->text))
            return false;
        policy->policy = policy_parse(reader->arena, policy->text, POLICY_OF_IDENTITY, &ignored);
    }
    return !json_failed(reader);
}

static bool read_member(struct json_reader *reader, struct bytes name, struct access_key *key)
{
    if (bytes_equal_text(name, "AccessKeyId"))
        return json_read_string(reader, &key->id);
    if (bytes_equal_text(name, "SecretAccessKey"))
        return json_read_string(reader, &key->secret);
    if (bytes_equal_text(name, "UserName"))
        return json_read_string(reader, &key->user);
    if (bytes_equal_text(name, "Disabled"))
        return json_read_bool(reader, &key->disabled);
    if (bytes_equal_text(name, "CreatedMs"))
        return read_integer(reader, &key->created_ms);
    if (bytes_equal_text(name, "Parent"))
        return json_read_string(reader, &key->parent);
    if (bytes_equal_text(name, "ExpiresMs"))
        return read_integer(reader, &key->expires_ms);
    if (bytes_equal_text(name, "TokenHash"))
        return json_read_string(reader, &key->token_hash);
    return bytes_equal_text(name, "Policies") && read_policies(reader, key);
}

static bool read_key(struct json_reader *reader, struct access_key *key)
{
    struct bytes name;
    *key = (struct access_key){ 0 };
    json_enter_object(reader);
    while (json_next_member(reader, &name))
        if (!read_member(reader, name, key))
            return false;
    bool temporary = key->parent.data != NULL;
    return !json_failed(reader) && key->id.len == KEY_ID_SIZE &&
           key->secret.len == KEY_SECRET_SIZE && key_name_is_valid(key->user) &&
           key->token_hash.len == (temporary ? KEY_TOKEN_HASH_SIZE : 0);
}

static int compare_keys(const void *a, const void *b)
{
    return bytes_compare(((const struct access_key *)a)->id, ((const struct access_key *)b)->id);
}

static size_t count_elements(struct json_reader reader)
{
    size_t count = 0;
    json_enter_array(&reader);
    for (; json_next_element(&reader); count++)
        json_skip(&reader);
    return count;
}

static bool read_keys(struct json_reader *reader, struct key_ring *out)
{
    size_t count = count_elements(*reader);
    if (count > KEY_RING_KEYS_MAX || out->keys != NULL)
        return false;
    out->keys = arena_alloc(reader->arena, count * sizeof *out->keys);
    json_enter_array(reader);
    while (json_next_element(reader))
        if (!read_key(reader, &out->keys[out->count++]))
            return false;
    if (out->count > 0)
        qsort(out->keys, out->count, sizeof *out->keys, compare_keys);
    for (size_t i = 1; i < out->count; i++)
        if (compare_keys(&out->keys[i - 1], &out->keys[i]) == 0)
            return false;
    return !json_failed(reader);
}

bool key_ring_parse(struct arena *arena, struct bytes json, struct key_ring *out)
{
    struct json_reader reader;
    struct bytes name;
    int64_t version = 0;
    *out = (struct key_ring){ 0 };
    json_reader_init(&reader, arena, json, RING_DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        bool ok = bytes_equal_text(name, "Version")
                      ? read_integer(&reader, &version)
                      : bytes_equal_text(name, "Keys") && read_keys(&reader, out);
        if (!ok)
            return false;
    }
    return json_finish(&reader) && version == RING_VERSION;
}

/* --- To JSON --- */

static void write_text(struct json_writer *writer, const char *name, struct bytes value)
{
    json_write_name(writer, name);
    json_write_string(writer, value);
}

static void write_key(struct json_writer *writer, const struct access_key *key)
{
    json_open_object(writer);
    write_text(writer, "AccessKeyId", key->id);
    write_text(writer, "SecretAccessKey", key->secret);
    write_text(writer, "UserName", key->user);
    json_write_name(writer, "Disabled");
    json_write_bool(writer, key->disabled);
    json_write_name(writer, "CreatedMs");
    json_write_integer(writer, key->created_ms);
    if (key->parent.data != NULL) {
        write_text(writer, "Parent", key->parent);
        json_write_name(writer, "ExpiresMs");
        json_write_integer(writer, key->expires_ms);
        write_text(writer, "TokenHash", key->token_hash);
    }
    json_write_name(writer, "Policies");
    json_open_object(writer);
    for (size_t i = 0; i < key->policy_count; i++) {
        json_write_name_bytes(writer, key->policies[i].name);
        json_write_string(writer, key->policies[i].text);
    }
    json_close_object(writer);
    json_close_object(writer);
}

void key_ring_write(const struct key_ring *ring, struct buffer *out)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_open_object(&writer);
    json_write_name(&writer, "Version");
    json_write_integer(&writer, RING_VERSION);
    json_write_name(&writer, "Keys");
    json_open_array(&writer);
    for (size_t i = 0; i < ring->count; i++)
        write_key(&writer, &ring->keys[i]);
    json_close_array(&writer);
    json_close_object(&writer);
}

/* --- Finding --- */

struct access_key *key_ring_find(const struct key_ring *ring, struct bytes id)
{
    size_t low = 0;
    size_t high = ring->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bytes_compare(ring->keys[middle].id, id);
        if (order == 0)
            return &ring->keys[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct access_key *key_ring_grantor(const struct key_ring *ring, const struct access_key *key,
                                          int64_t now_ms)
{
    if (key->disabled)
        return NULL;
    if (key->parent.data != NULL) {
        const struct access_key *parent = key_ring_find(ring, key->parent);
        bool usable = now_ms < key->expires_ms && parent != NULL && parent->parent.data == NULL;
        return usable ? key_ring_grantor(ring, parent, now_ms) : NULL;
    }
    for (size_t i = 0; i < key->policy_count; i++)
        if (key->policies[i].policy == NULL)
            return NULL;
    return key;
}

static struct access_key *find(const struct key_ring *ring, struct bytes id, struct error *err)
{
    struct access_key *key = key_ring_find(ring, id);
    if (key == NULL)
        error_set(err, ERROR_RESOURCE_NOT_FOUND, "there is no access key %.*s", BYTES_FMT(id));
    return key;
}

const struct access_key *key_edit_find(const struct key_ring *ring, struct bytes id,
                                       struct error *err)
{
    return find(ring, id, err);
}

/* --- Editing: new keys --- */

static struct bytes random_base64(struct arena *arena, size_t size)
{
    uint8_t bytes[TOKEN_BYTES];
    assert(size <= sizeof bytes);
    char *text = arena_alloc(arena, base64_encoded_size(size));
    seal_random(bytes, size);
    base64_encode(bytes_of(bytes, size), text);
    explicit_bzero(bytes, sizeof bytes);
    return bytes_of(text, base64_encoded_size(size));
}

/* 80 random bits in the letters and digits of AWS's ids. */
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

/* Inserts a copy of the key; the ring stays sorted. */
static const struct access_key *insert(struct arena *arena, struct key_ring *ring,
                                       const struct access_key *key)
{
    struct access_key *keys = arena_alloc(arena, (ring->count + 1) * sizeof *keys);
    size_t at = 0;
    while (at < ring->count && bytes_compare(ring->keys[at].id, key->id) < 0)
        at++;
    assert(at == ring->count || !bytes_equal(ring->keys[at].id, key->id));
    if (at > 0)
        memcpy(keys, ring->keys, at * sizeof *keys);
    keys[at] = *key;
    if (at < ring->count)
        memcpy(&keys[at + 1], &ring->keys[at], (ring->count - at) * sizeof *keys);
    ring->keys = keys;
    ring->count++;
    assert(ring->count <= KEY_RING_KEYS_MAX);
    return &keys[at];
}

static bool check_room(const struct key_ring *ring, struct error *err)
{
    return ring->count < KEY_RING_KEYS_MAX ||
           error_set(err, ERROR_LIMIT_EXCEEDED, "there are %d access keys already",
                     KEY_RING_KEYS_MAX);
}

const struct access_key *key_edit_create(struct arena *arena, struct key_ring *ring,
                                         struct bytes user, int64_t now_ms, struct error *err)
{
    if (!key_name_is_valid(user)) {
        error_validation(err,
                         "'%.*s' is not a valid user name: 1 to %d of A-Z a-z 0-9 + = , . @ _ -",
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

/* --- Editing: keys --- */

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

/* --- Editing: policies --- */

static struct key_policy *find_policy(const struct access_key *key, struct bytes name)
{
    for (size_t i = 0; i < key->policy_count; i++)
        if (bytes_equal(key->policies[i].name, name))
            return &key->policies[i];
    return NULL;
}

static bool refuse_absent(struct bytes id, struct bytes name, struct error *err)
{
    return error_set(err, ERROR_RESOURCE_NOT_FOUND, "the access key %.*s has no policy %.*s",
                     BYTES_FMT(id), BYTES_FMT(name));
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
        return error_validation(
            err,
            "'%.*s' is not a valid policy name: 1 to %d of A-Z a-z 0-9 + = , . @ "
            "_ -",
            BYTES_FMT(name), KEY_NAME_SIZE_MAX);
    const struct policy *policy = policy_parse(arena, text, POLICY_OF_IDENTITY, err);
    if (policy == NULL)
        return false;
    struct key_policy *place = find_policy(key, name);
    if (place == NULL && key->policy_count == KEY_POLICIES_MAX)
        return error_set(err, ERROR_LIMIT_EXCEEDED, "an access key has at most %d policies",
                         KEY_POLICIES_MAX);
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
