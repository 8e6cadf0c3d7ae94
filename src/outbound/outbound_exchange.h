/* outbound_exchange.h -- one request as it is given to curl, and its answer as curl reports it.
 * Internal to outbound/. */
#ifndef STATOR_OUTBOUND_OUTBOUND_EXCHANGE_H
#define STATOR_OUTBOUND_OUTBOUND_EXCHANGE_H
#include "outbound/curl_library.h"
#include "outbound/outbound.h"

/* --- The sockets that curl has open for a client --- */

/* A kept connection, and two addresses of the next one that are tried side by side. Further ones
 * work as well, but are not acknowledged at once. */
enum { OUTBOUND_SOCKETS_MAX = 4 };

/* Curl does not say which socket a transfer uses while it runs, so a client opens and closes them
 * itself. */
struct outbound_sockets {
    int fds[OUTBOUND_SOCKETS_MAX];
    size_t count;
};

/* Makes curl use them: `sockets` must outlive all connections made with the handle. False if curl
 * refuses. */
MUST_CHECK bool outbound_sockets_set(struct outbound_sockets *sockets,
                                     const struct curl_library *curl, CURL *easy);
/* Acknowledges at once what has arrived. A server that writes head and body apart, without
 * TCP_NODELAY, sends the body only when the head was acknowledged, and on a kept connection the
 * kernel delays that by 40 ms. */
void outbound_sockets_acknowledge(const struct outbound_sockets *sockets);

/* --- A request and its answer --- */

struct outbound_exchange {
    const struct curl_library *curl;
    struct arena *arena;
    const struct outbound_request *request;
    struct outbound_answer *answer;
    struct outbound_sockets *sockets; /* The client's. */
    size_t head_size_max;
    int64_t deadline_ms; /* Of the monotonic clock. */
    size_t head_size;    /* Of all heads so far, interim ones and trailers too. */
    bool in_head;
    bool too_large;
    char error[CURL_ERROR_SIZE];
};

void outbound_exchange_init(struct outbound_exchange *exchange);

struct outbound_exchange_route {
    const char *ca_file; /* NULL or "": the system's. */
    const char *proxy;   /* "": none. */
    int64_t connect_timeout_ms;
};
/* Sets every option of a handle that was reset. The caller frees `*headers` after the transfer.
 * False if curl refuses one. */
MUST_CHECK bool outbound_exchange_prepare(struct outbound_exchange *exchange, CURL *easy,
                                          const struct outbound_exchange_route *route,
                                          struct curl_slist **headers);

/* The result of a transfer that ended with `code`. */
enum outbound_result outbound_exchange_end(struct outbound_exchange *exchange, CURL *easy,
                                           CURLcode code);
/* Sets the answer's problem and returns `result`. */
enum outbound_result outbound_exchange_fail(struct outbound_exchange *exchange,
                                            enum outbound_result result, const char *problem);

#endif
