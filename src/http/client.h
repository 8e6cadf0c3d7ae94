/* client.h -- one request to another HTTP server, and its answer.
 *
 * For threads that may wait, with a bound on the whole exchange. Plain sockets and a connection per
 * request: whoever calls does so a few times a second, and keeps nothing between two calls.
 */
#ifndef STATOR_HTTP_CLIENT_H
#define STATOR_HTTP_CLIENT_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "http/response.h"
#include "http/server.h"
#include "http/url.h"

struct arena;

struct http_client_request {
    struct http_url url;
    const struct http_header *headers; /* Besides Host, Content-Length and Connection. */
    size_t header_count;
    struct bytes body;
    int64_t timeout_ms; /* For all of it; a look-up of a name is not broken off. */
    size_t answer_size_max;
    int stop_fd; /* Once it is readable, the call ends; -1: none. */
};

enum http_client_result {
    HTTP_CLIENT_OK,          /* There is an answer, whatever it says. */
    HTTP_CLIENT_UNREACHABLE, /* Nothing was sent: no such host, nobody listens, no route. */
    HTTP_CLIENT_FAILED,      /* No whole answer came; the request may have had its effect. */
    HTTP_CLIENT_STOPPED,
};

struct http_client_answer {
    struct http_response response; /* HTTP_CLIENT_OK only. */
    struct bytes problem;          /* Else: what went wrong, for people. */
};

/* POST. Everything lives in the arena. */
MUST_CHECK enum http_client_result http_client_post(struct arena *arena,
                                                    const struct http_client_request *request,
                                                    struct http_client_answer *answer);

#endif
