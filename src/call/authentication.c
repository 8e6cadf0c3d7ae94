/* authentication.c -- see authentication.h. */
#include "call/authentication.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "auth/key_ring.h"
#include "auth/live_keys.h"
#include "auth/sigv4.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "crypto/sha256.h"
#include "http/server.h"
#include "model/error.h"

enum { DATE_SIZE = 8, SERVICE_SIZE_MAX = 32, CALLER_KEYS_MAX = 15 };

/* A key derived for one day and one service. */
struct derived_key {
    uint8_t id[KEY_ID_SIZE];
    uint8_t date[DATE_SIZE];
    uint8_t service[SERVICE_SIZE_MAX];
    size_t service_size;
    uint64_t generation; /* Of the ring with the secret. */
    bool used;
    uint8_t key[SIGV4_KEY_SIZE];
};

struct authentication {
    struct authentication_options options;
    struct sha256 *hasher;
    /* The time as policies see it, formatted once a second. */
    int64_t second;
    char current_time[CLOCK_TEXT_SIZE];
    char epoch_time[sizeof "-9223372036854775808"];
    struct derived_key cache[AUTHENTICATION_CACHE_SIZE]; /* By a hash of the id. */
};

struct authentication *authentication_create(const struct authentication_options *options)
{
    assert(options->keys != NULL);
    struct authentication *authentication = memory_checked(calloc(1, sizeof *authentication));
    authentication->options = *options;
    authentication->hasher = sha256_create();
    return authentication;
}

void authentication_destroy(struct authentication *authentication)
{
    sha256_destroy(authentication->hasher);
    explicit_bzero(authentication, sizeof *authentication);
    free(authentication);
}

/* --- Signatures --- */

/* Ids are random, so their last characters make a good hash. */
static struct derived_key *cache_place(struct authentication *authentication, struct bytes id)
{
    unsigned hash = 0;
    for (size_t i = KEY_ID_SIZE - 6; i < KEY_ID_SIZE; i++)
        hash = hash * 31 + id.data[i];
    return &authentication->cache[hash % AUTHENTICATION_CACHE_SIZE];
}

static void signing_key(struct authentication *authentication, uint64_t generation,
                        const struct sigv4_claim *claim, struct bytes secret,
                        uint8_t out[SIGV4_KEY_SIZE])
{
    if (claim->access_key.len != KEY_ID_SIZE || claim->service.len > SERVICE_SIZE_MAX) {
        sigv4_derive_key(authentication->hasher, secret, claim, out);
        return;
    }
    struct derived_key *place = cache_place(authentication, claim->access_key);
    if (!place->used || place->generation != generation ||
        memcmp(place->id, claim->access_key.data, KEY_ID_SIZE) != 0 ||
        memcmp(place->date, claim->date.data, DATE_SIZE) != 0 ||
        !bytes_equal(bytes_of(place->service, place->service_size), claim->service)) {
        sigv4_derive_key(authentication->hasher, secret, claim, place->key);
        memcpy(place->id, claim->access_key.data, KEY_ID_SIZE);
        memcpy(place->date, claim->date.data, DATE_SIZE);
        memcpy(place->service, claim->service.data, claim->service.len);
        place->service_size = claim->service.len;
        place->generation = generation;
        place->used = true;
    }
    memcpy(out, place->key, SIGV4_KEY_SIZE);
}

/* Requests of temporary keys carry their token, others none. */
static bool token_matches(struct authentication *authentication, const struct access_key *key,
                          struct bytes token)
{
    static const char no_hash[KEY_TOKEN_HASH_SIZE] = { 0 };
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    bool temporary = key != NULL && key->parent.data != NULL;
    if (token.data == NULL)
        return key != NULL && !temporary;
    sha256_digest(authentication->hasher, token, digest);
    sha256_hex(digest, hex);
    return sha256_hex_equal(hex, temporary ? (const char *)key->token_hash.data : no_hash) &&
           temporary;
}

static const struct access_key *refuse(struct error *err)
{
    error_set(err, ERROR_UNRECOGNIZED_CLIENT,
              "The security token included in the request is invalid.");
    return NULL;
}

/* Returns the key whose policies apply. Does all the work for every request, and only then checks
 * the results in the service's order: the key and its token, its expiry, the signature. */
static const struct access_key *verify(struct authentication *authentication,
                                       struct live_ring *ring, struct arena *arena,
                                       const struct sigv4_request *request,
                                       const struct sigv4_claim *claim, int64_t now_ms,
                                       struct error *err)
{
    static const struct bytes nobodys_secret = BYTES("0123456789012345678901234567890123456789");
    uint8_t key_of_day[SIGV4_KEY_SIZE];
    const struct access_key *key = key_ring_find(&ring->ring, claim->access_key);
    signing_key(authentication, ring->generation, claim, key == NULL ? nobodys_secret : key->secret,
                key_of_day);
    bool signed_right = sigv4_matches(authentication->hasher, arena, request, claim, key_of_day);
    bool token_right = token_matches(authentication, key, claim->security_token);
    explicit_bzero(key_of_day, sizeof key_of_day);
    if (key == NULL || !token_right)
        return refuse(err);
    const struct access_key *grantor = key_ring_grantor(&ring->ring, key, now_ms);
    if (grantor == NULL && (key->parent.data == NULL || key->expires_ms > now_ms))
        return refuse(err);
    if (grantor == NULL)
        error_set(err, ERROR_EXPIRED_TOKEN,
                  "The security token included in the request is expired");
    else if (!signed_right)
        error_set(err, ERROR_INVALID_SIGNATURE,
                  "The request signature we calculated does not match the signature you provided. "
                  "Check your AWS Secret Access Key and signing method. Consult the service "
                  "documentation for details.");
    return signed_right ? grantor : NULL;
}

/* --- The caller --- */

static void add_key(struct arena *arena, struct policy_key *keys, size_t *count, struct bytes name,
                    struct bytes value)
{
    struct bytes *values = arena_alloc(arena, sizeof *values);
    *values = value;
    keys[*count] = (struct policy_key){ .name = name, .values = values, .count = value.len > 0 };
    ++*count;
}

/* Users copy the texts: a call may outlive the second, and move to another thread. */
static void format_now(struct authentication *authentication, int64_t now_ms)
{
    int64_t second = now_ms / 1000;
    if (authentication->second == second)
        return;
    authentication->second = second;
    clock_format_utc(now_ms, authentication->current_time);
    snprintf(authentication->epoch_time, sizeof authentication->epoch_time, "%" PRId64, second);
}

/* Context keys of the request itself. */
static size_t add_request_keys(struct authentication *authentication,
                               const struct http_exchange *exchange, int64_t now_ms,
                               struct policy_key *keys)
{
    struct arena *arena = http_exchange_arena(exchange);
    const struct authentication_options *options = &authentication->options;
    char *peer = arena_alloc(arena, HTTP_PEER_SIZE);
    size_t count = 0;
    http_exchange_peer(exchange, peer);
    format_now(authentication, now_ms);
    add_key(arena, keys, &count, BYTES("aws:RequestedRegion"), bytes_from_text(options->region));
    add_key(arena, keys, &count, BYTES("aws:ResourceAccount"),
            bytes_from_text(options->account_id));
    add_key(arena, keys, &count, BYTES("aws:SourceIp"), bytes_from_text(peer));
    add_key(arena, keys, &count, BYTES("aws:UserAgent"),
            http_exchange_header(exchange, "User-Agent"));
    add_key(arena, keys, &count, BYTES("aws:Referer"), http_exchange_header(exchange, "Referer"));
    add_key(arena, keys, &count, BYTES("aws:SecureTransport"),
            http_exchange_is_secure(exchange) ? BYTES("true") : BYTES("false"));
    add_key(arena, keys, &count, BYTES("aws:ViaAWSService"), BYTES("false"));
    add_key(arena, keys, &count, BYTES("aws:CurrentTime"),
            arena_copy(arena, bytes_from_text(authentication->current_time)));
    add_key(arena, keys, &count, BYTES("aws:EpochTime"),
            arena_copy(arena, bytes_from_text(authentication->epoch_time)));
    return count;
}

/* `key` signed the request, `grantor` has the policies. */
static void fill_caller(struct authentication *authentication, const struct http_exchange *exchange,
                        const struct access_key *key, const struct access_key *grantor,
                        int64_t now_ms, struct caller *out)
{
    struct arena *arena = http_exchange_arena(exchange);
    struct policy_key *keys = arena_alloc(arena, CALLER_KEYS_MAX * sizeof *keys);
    const struct policy **policies = arena_alloc(arena, grantor->policy_count * sizeof(*policies));
    for (size_t i = 0; i < grantor->policy_count; i++)
        policies[i] = grantor->policies[i].policy;
    out->key_id = key->id;
    out->grantor_id = grantor->id;
    out->account = bytes_from_text(authentication->options.account_id);
    const struct bytes arn[] = { BYTES("arn:aws:iam::"), out->account, BYTES(":user/"),
                                 grantor->user };
    out->arn = arena_join(arena, arn, COUNT_OF(arn));
    out->policies = policies;
    out->policy_count = grantor->policy_count;
    size_t count = add_request_keys(authentication, exchange, now_ms, keys);
    add_key(arena, keys, &count, BYTES("aws:username"), grantor->user);
    add_key(arena, keys, &count, BYTES("aws:PrincipalArn"), out->arn);
    add_key(arena, keys, &count, BYTES("aws:PrincipalAccount"), out->account);
    add_key(arena, keys, &count, BYTES("aws:PrincipalType"), BYTES("User"));
    add_key(arena, keys, &count, BYTES("aws:PrincipalIsAWSService"), BYTES("false"));
    if (key->parent.data != NULL) {
        char *issued = arena_alloc(arena, CLOCK_TEXT_SIZE);
        clock_format_utc(key->created_ms, issued);
        add_key(arena, keys, &count, BYTES("aws:TokenIssueTime"), bytes_from_text(issued));
    }
    assert(count <= CALLER_KEYS_MAX);
    out->keys = keys;
    out->key_count = count;
}

struct authenticated *authentication_check(struct authentication *authentication,
                                           const struct http_exchange *exchange,
                                           const char *service, struct bytes *claimed,
                                           struct error *err)
{
    const struct authentication_options *options = &authentication->options;
    struct arena *arena = http_exchange_arena(exchange);
    int64_t now_ms = clock_wall_ms(options->clock);
    struct sigv4_request request = { .method = http_exchange_method(exchange),
                                     .target = http_exchange_target(exchange),
                                     .headers = http_exchange_headers(exchange),
                                     .header_count = http_exchange_header_count(exchange),
                                     .body = http_exchange_body(exchange) };
    struct sigv4_scope scope = { bytes_from_text(options->region), bytes_from_text(service) };
    struct sigv4_claim claim;
    bool readable = sigv4_read(arena, &request, &scope, now_ms, &claim, err);
    *claimed = claim.access_key;
    if (!readable)
        return NULL;
    struct live_ring *ring = live_keys_acquire(options->keys);
    const struct access_key *grantor =
        verify(authentication, ring, arena, &request, &claim, now_ms, err);
    if (grantor == NULL) {
        live_keys_release(ring);
        return NULL;
    }
    struct authenticated *result = arena_alloc_zeroed(arena, sizeof *result);
    result->ring = ring;
    const struct access_key *key = key_ring_find(&ring->ring, claim.access_key);
    fill_caller(authentication, exchange, key, grantor, now_ms, &result->caller);
    return result;
}

bool authentication_refuse_missing(struct error *err)
{
    return error_set(err, ERROR_MISSING_AUTHENTICATION_TOKEN,
                     "Request is missing Authentication Token");
}

void authentication_release(struct authenticated *authenticated)
{
    if (authenticated != NULL)
        live_keys_release(authenticated->ring);
}
