/* sigv4.h -- AWS Signature Version 4: verify the signatures of requests, and sign our own.
 *
 * A server verifies a request as received, before it acts on anything in it. That takes two steps,
 * because the first one finds the access key: sigv4_read checks everything that needs no secret, in
 * the service's order and words; sigv4_matches computes the signature. A client of ours signs with
 * sigv4_authorize, from the same canonical form.
 *
 * Stricter than the service in one point: every x-amz-* header must be signed. Otherwise a captured
 * GetItem could be turned into a DeleteItem by changing X-Amz-Target.
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
    struct bytes target; /* As in the request line: a path, perhaps with a query. */
    const struct http_header *headers;
    size_t header_count;
    struct bytes body; /* As sent. */
    /* For sigv4_authorize, if the body was hashed already: 64 hexadecimal digits. data NULL: not.
     */
    struct bytes body_hash;
};

/* The scope that requests must be signed for. */
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
/* Derives the key that signs the requests of the claim's day and scope from a secret of at most
 * SIGV4_SECRET_SIZE_MAX bytes. */
void sigv4_derive_key(struct sha256 *hasher, struct bytes secret, const struct sigv4_claim *claim,
                      uint8_t out[SIGV4_KEY_SIZE]);
/* Compares the signatures in constant time. */
MUST_CHECK bool sigv4_matches(struct sha256 *hasher, struct arena *arena,
                              const struct sigv4_request *request, const struct sigv4_claim *claim,
                              const uint8_t key[SIGV4_KEY_SIZE]);

/* "20150830T123600Z", as in X-Amz-Date. */
struct bytes sigv4_format_time(struct arena *arena, int64_t time_ms);
struct sigv4_credentials {
    struct bytes access_key;
    struct bytes secret; /* At most SIGV4_SECRET_SIZE_MAX bytes. */
};
/* The value of the Authorization header for a request that has all its other headers, X-Amz-Date
 * among them, and X-Amz-Content-Sha256 for S3. Signs all of them, at most SIGV4_SIGNED_HEADERS_MAX.
 * The path of a request to S3 must be escaped by sigv4_append_escaped. */
struct bytes sigv4_authorize(struct sha256 *hasher, struct arena *arena,
                             const struct sigv4_request *request, const struct sigv4_scope *scope,
                             const struct sigv4_credentials *credentials);

struct buffer;
/* Appends text as it stands in a path or a query: every byte but letters, digits and "-._~" as %XX.
 * A slash stays if `keeps_slashes`, for paths. */
void sigv4_append_escaped(struct buffer *out, struct bytes text, bool keeps_slashes);

#endif
