/* outbound_exchange.h -- one request as curl is told of it, and its answer as curl tells of it.
 * Internal to outbound/. */
#ifndef STATOR_OUTBOUND_OUTBOUND_EXCHANGE_H
#define STATOR_OUTBOUND_OUTBOUND_EXCHANGE_H
#include <curl/curl.h>
#include "outbound/outbound.h"

struct outbound_sockets;

struct outbound_exchange {
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

/* What the transfer's end means. */
enum outbound_result outbound_exchange_end(struct outbound_exchange *exchange, CURL *easy,
                                           CURLcode code);
/* Notes the problem, and returns `result`. */
enum outbound_result outbound_exchange_fail(struct outbound_exchange *exchange,
                                            enum outbound_result result, const char *problem);

#endif
