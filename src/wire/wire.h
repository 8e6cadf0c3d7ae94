/* wire.h -- DynamoDB's JSON protocol over HTTP: which operation a request means, and the envelope
 * of its answer. The meaning of bodies is api/'s, the framing of bytes is http/'s.
 */
#ifndef STATOR_WIRE_WIRE_H
#define STATOR_WIRE_WIRE_H
#include <stddef.h>
#include "base/bytes.h"
#include "wire/authentication.h"
#include "wire/origin.h"

struct api;
struct arena;
struct http_handler;
struct wire;

enum {
    /* Requests of this size run in the pool for slow calls (slow_pool.h), and compressed ones that
     * may become as large.
     */
    WIRE_LARGE_SIZE_MIN = 1024 * 1024,
    /* So do operations that write many items (TransactWriteItems, ...), unless the last one of the
     * same connection read and wrote no more than this. */
    WIRE_LIGHT_WRITTEN_SIZE_MAX = 256 * 1024,
    /* Answers of this size are compressed in the background pool. */
    WIRE_LARGE_ANSWER_SIZE_MIN = 256 * 1024,
};

struct wire_options {
    struct origin_rules pages; /* Which web pages may call. */
    /* Why reads and writes are not possible now, in one line; NULL: they are. Called on loops for
     * each request of /readyz, so it must not wait. NULL: they always are. */
    const char *(*not_ready)(void *context);
    void *context; /* Passed to not_ready. */
    struct authentication_options authentication;
    size_t slow_thread_count; /* Above 0. */
};

/* Borrows `api` and what the options point to. The owner calls wire_destroy after the HTTP server
 * has stopped. */
struct wire *wire_create(struct api *api, const struct wire_options *options);
/* No more calls begin. After the HTTP server has stopped, and before the api is closed. */
void wire_stop(struct wire *wire);
void wire_destroy(struct wire *wire);

/* What the HTTP server is started with; lives as long as the wire. */
const struct http_handler *wire_http_handler(struct wire *wire);

/* The X-Amz-Target of an operation that there is: "DynamoDB_20120810.PutItem". */
struct bytes wire_target(struct arena *arena, const char *operation);

#endif
