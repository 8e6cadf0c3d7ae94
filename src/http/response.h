/* response.h -- an answer to a request of ours, put together from the pieces that arrive.
 *
 * A pure function over bytes, without sockets, as strict as the parser of requests: what could be
 * read in two ways is damaged. One answer per connection: we ask for the connection to be closed.
 */
#ifndef STATOR_HTTP_RESPONSE_H
#define STATOR_HTTP_RESPONSE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "http/chunked.h"

struct arena;

enum { HTTP_RESPONSE_HEAD_SIZE_MAX = 16 * 1024 };

enum http_response_status {
    HTTP_RESPONSE_MORE,
    HTTP_RESPONSE_DONE,
    HTTP_RESPONSE_DAMAGED,
    HTTP_RESPONSE_TOO_LARGE, /* Its head, or its body. */
};

struct http_response {
    /* May be read once it is DONE. */
    int status; /* 200 to 599. */
    struct buffer body;

    /* Its own. */
    uint64_t body_size_max;
    enum http_response_status verdict;
    bool head_done;
    bool has_length;
    bool is_chunked;
    uint64_t length;
    struct buffer head;
    struct http_chunked chunked;
};

void http_response_init(struct http_response *response, struct arena *arena,
                        uint64_t body_size_max);
/* Takes the next piece. A verdict other than MORE is final; bytes behind the answer are ignored. */
enum http_response_status http_response_feed(struct http_response *response, struct bytes piece);
/* The other side has closed the connection: the end of a body that has no other. */
enum http_response_status http_response_end(struct http_response *response);

/* The value of a header, whatever the case of its name; data NULL: there is none. Valid as long as
 * the arena. */
struct bytes http_response_header(const struct http_response *response, const char *name);

#endif
