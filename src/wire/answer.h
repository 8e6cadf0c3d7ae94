/* answer.h -- the envelope of an answer: request id, checksum, CORS, compression, error bodies. */
#ifndef STATOR_WIRE_ANSWER_H
#define STATOR_WIRE_ANSWER_H
#include "base/bytes.h"

struct arena;
struct error;
struct http_answer;
struct random;

enum {
    REQUEST_ID_SIZE = 52,
    /* Smaller answers go as they are: compressing them costs more than it saves. */
    ANSWER_COMPRESSED_SIZE_MIN = 4096 + 1,
};

struct answer_context {
    struct arena *arena; /* Holds all that the answer points to. */
    struct random *random;
    struct bytes allowed_origin; /* For Access-Control-Allow-Origin; data NULL: no CORS headers. */
    struct bytes content_type;   /* data NULL: the protocol's own. */
    bool gzip;                   /* The client takes compressed answers. */
};

/* Fills in headers and body; the status is the caller's. */
void answer_fill(const struct answer_context *context, struct bytes body, struct http_answer *out);
/* The same for an exception: sets the status too. */
void answer_fill_error(const struct answer_context *context, const struct error *err,
                       struct http_answer *out);

#endif
