/* answer.h -- the envelope of an answer: request id, checksum, CORS, compression, error bodies. */
#ifndef STATOR_WIRE_ANSWER_H
#define STATOR_WIRE_ANSWER_H
#include <stdbool.h>
#include "base/bytes.h"

struct arena;
struct error;
struct http_answer;
struct http_exchange;
struct random;
struct router;

enum {
    REQUEST_ID_SIZE = 52,
    /* Compressing smaller answers costs more than it saves. */
    ANSWER_COMPRESSED_SIZE_MIN = 4096 + 1,
};

struct answer_context {
    struct arena *arena; /* For everything that the answer points to. */
    struct random *random;
    struct bytes allowed_origin;  /* For Access-Control-Allow-Origin; data NULL: no CORS headers. */
    struct bytes content_type;    /* data NULL: DynamoDB's own. */
    struct bytes request_id;      /* data NULL: one is made. */
    struct bytes smithy_protocol; /* For the header of that name; data NULL: none. */
    struct bytes query_error;     /* For x-amzn-query-error; data NULL: none. */
    bool has_crc32;               /* With x-amz-crc32, which DynamoDB's clients check. */
    struct bytes accept_encoding; /* Of the request; data NULL: the answer is not compressed. */
};

/* For DynamoDB's protocol, from the headers of the request. `may_compress`: there is time for it.
 */
void answer_context_init(struct answer_context *context, const struct router *router,
                         struct random *random, const struct http_exchange *exchange,
                         bool may_compress);

/* The headers of an answer that a page may read. */
#define ANSWER_EXPOSED_HEADERS "x-amzn-RequestId,x-amzn-ErrorType,x-amz-crc32,Date"

/* A new request id, of REQUEST_ID_SIZE characters. */
struct bytes answer_request_id(const struct answer_context *context);

/* Fills in headers and body; the caller sets the status. */
void answer_fill(const struct answer_context *context, struct bytes body, struct http_answer *out);
/* The same for an exception, and its status. */
void answer_fill_error(const struct answer_context *context, const struct error *err,
                       struct http_answer *out);

/* Answers with plain text. */
void answer_send_text(const struct router *router, struct random *random,
                      struct http_exchange *exchange, int status, struct bytes text);

#endif
