/* wire.h -- DynamoDB's JSON protocol over HTTP: which operation a request means, and the envelope
 * of its answer. The meaning of bodies is api/'s, the framing of bytes is http/'s.
 */
#ifndef STATOR_WIRE_WIRE_H
#define STATOR_WIRE_WIRE_H
#include "base/bytes.h"
#include "wire/authentication.h"

struct api;
struct arena;
struct http_handler;
struct wire;

struct wire_options {
    /* "*", or a list of origins separated by commas; pages of these may read answers. */
    const char *cors_origins;
    struct authentication_options authentication;
};

/* Borrows `api` and what the options point to. The owner calls wire_destroy after the HTTP server
 * has stopped. */
struct wire *wire_create(struct api *api, const struct wire_options *options);
void wire_destroy(struct wire *wire);

/* What the HTTP server is started with; lives as long as the wire. */
const struct http_handler *wire_http_handler(struct wire *wire);

/* The X-Amz-Target of an operation that there is: "DynamoDB_20120810.PutItem". */
struct bytes wire_target(struct arena *arena, const char *operation);

#endif
