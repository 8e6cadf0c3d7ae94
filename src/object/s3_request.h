/* s3_request.h -- one request to an S3 server: signed, sent, repeated, and its failure in words.
 * Internal to object/. */
#ifndef STATOR_OBJECT_S3_REQUEST_H
#define STATOR_OBJECT_S3_REQUEST_H
#include "base/buffer.h"
#include "http/grammar.h"
#include "object/object_parts.h"

struct outbound_answer;
struct s3_answer;
struct s3_session; /* A bucket's connection and credentials. */

enum {
    S3_TIMEOUT_MS = 120000,  /* Of one exchange: 8 MiB at 70 KB/s. */
    S3_PAUSE_FIRST_MS = 100, /* Before a request is repeated; doubles each time. */
    S3_PAUSE_MAX_MS = 10000,
    S3_QUERY_MAX = 6,
    S3_HEADERS_MAX = 6, /* Besides those of every request. */
};

/* NULL if the key file cannot be used, or the system has no libcurl. */
MUST_CHECK struct s3_session *s3_session_create(struct object_bucket *bucket,
                                                struct object_error *err);
void s3_session_destroy(struct s3_session *session); /* Destroying NULL is allowed. */
void s3_session_cancel(struct s3_session *session);

/* True if the file has credentials that can be used; otherwise one line for people. */
MUST_CHECK bool s3_check_key_file(const char *path, char message[OBJECT_MESSAGE_MAX]);

struct s3_parameter {
    const char *name;
    struct bytes value;
};

struct s3_request {
    const char *method;
    struct bytes key;                        /* data NULL: the bucket itself. */
    struct s3_parameter query[S3_QUERY_MAX]; /* Sorted by name. */
    size_t query_count;
    struct http_header headers[S3_HEADERS_MAX];
    size_t header_count;
    struct bytes body;
    uint8_t *answer_memory; /* NULL: the session's. */
    size_t answer_size_max; /* 0: that of XML. */
    bool counts_tries;      /* Never sent more often than `tries` says. */
    bool answers_xml;       /* A body with status 200 may be an <Error>. */
    /* Called with each answer of success. False: it is wrong, and the request is repeated. NULL:
     * none is. */
    bool (*accepts)(const struct s3_request *request, const struct s3_answer *answer);
    const void *context; /* For `accepts`. */
};

struct s3_answer {
    int status;
    struct bytes body;
    const struct outbound_answer *http; /* Its headers. */
    char code[64];                      /* Of an <Error>: "NoSuchKey". "": none. */
    unsigned tries;
};

/* Sends until the server has accepted or refused it, or time is up. The answer lives until the
 * session's next request. False if there is none, or it is a failure; `answer->code` and `status`
 * tell which, if there was an answer. */
MUST_CHECK bool s3_send(struct s3_session *session, const struct s3_request *request,
                        struct s3_answer *answer, struct object_error *err);

struct bytes s3_answer_header(const struct s3_answer *answer, const char *name);

#endif
