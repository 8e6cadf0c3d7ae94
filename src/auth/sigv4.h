/* sigv4.h -- AWS Signature Version 4: what a request claims, and whether its signature is right;
 * and the signatures of the commands' own requests, from the same canonical form.
 *
 * Verified over the bytes that arrived, before anything in them is acted upon. Two steps, because
 * the secret is found by what the first one returns: sigv4_read checks everything that needs no
 * secret, in the service's order and words; sigv4_matches computes the signature.
 *
 * Stricter than the service in one thing: every x-amz-* header sent must be signed, else a captured
 * GetItem becomes a DeleteItem by changing X-Amz-Target.
 */
#ifndef STATOR_AUTH_SIGV4_H
#define STATOR_AUTH_SIGV4_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct error;
struct http_header;
struct sha256;

enum {
    SIGV4_CLOCK_SKEW_MAX_MS = 15 * 60 * 1000, /* Either way. */
    SIGV4_SIGNED_HEADERS_MAX = 64,
    SIGV4_SECRET_SIZE_MAX = 128,
};

struct sigv4_request {
    struct bytes method;
    struct bytes target; /* Only "/" can be signed here: the protocol has no other path. */
    const struct http_header *headers;
    size_t header_count;
    struct bytes body; /* As it arrived. */
};

/* What requests must be signed for. */
struct sigv4_scope {
    struct bytes region;
    struct bytes service;
};

/* Borrows the request. */
struct sigv4_claim {
    struct bytes access_key;
    struct bytes date; /* "20150830", of the scope and of `time`. */
    struct bytes region;
    struct bytes service;
    struct bytes time;           /* "20150830T123600Z" */
    struct bytes signed_headers; /* As listed: "host;x-amz-date". */
    struct bytes signature;      /* As sent. */
    struct bytes security_token; /* X-Amz-Security-Token; data NULL: none. */
};

/* False with MissingAuthenticationTokenException, IncompleteSignatureException or
 * InvalidSignatureException. */
MUST_CHECK bool sigv4_read(struct arena *arena, const struct sigv4_request *request,
                           const struct sigv4_scope *scope, int64_t now_ms, struct sigv4_claim *out,
                           struct error *err);

enum { SIGV4_KEY_SIZE = 32 };
/* The key that a secret (at most SIGV4_SECRET_SIZE_MAX bytes) signs a day's requests of a scope
 * with. */
void sigv4_derive_key(struct sha256 *hasher, struct bytes secret, const struct sigv4_claim *claim,
                      uint8_t out[SIGV4_KEY_SIZE]);
/* In the same time wherever the signatures differ. */
MUST_CHECK bool sigv4_matches(struct sha256 *hasher, struct arena *arena,
                              const struct sigv4_request *request, const struct sigv4_claim *claim,
                              const uint8_t key[SIGV4_KEY_SIZE]);

/* "20150830T123600Z", as X-Amz-Date has it. */
struct bytes sigv4_format_time(struct arena *arena, int64_t time_ms);
struct sigv4_credentials {
    struct bytes access_key;
    struct bytes secret; /* At most SIGV4_SECRET_SIZE_MAX bytes. */
};
/* The Authorization header of a request that has all its other headers, an X-Amz-Date among them.
 * It signs every one of them, of which there are at most SIGV4_SIGNED_HEADERS_MAX. */
struct bytes sigv4_authorize(struct sha256 *hasher, struct arena *arena,
                             const struct sigv4_request *request, const struct sigv4_scope *scope,
                             const struct sigv4_credentials *credentials);

#endif
