/* exchange.h -- one request and its answer, inside http/. server.h is the handlers' view of it.
 *
 * Lives in its own arena. Its connection creates and releases it.
 */
#ifndef STATOR_HTTP_EXCHANGE_H
#define STATOR_HTTP_EXCHANGE_H
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <uv.h>
#include "base/bytes.h"
#include "http/server.h"

struct http_connection;
struct http_parser;

enum { HTTP_EXCHANGE_LENGTHS = 32 }; /* Few names are longer. */

struct http_exchange {
    struct http_connection *connection;
    struct arena *arena;
    struct bytes method; /* Empty in an exchange that refuses a malformed head. */
    struct bytes target;
    struct bytes body;
    struct http_header *headers;
    size_t header_count;
    /* For each length of a name, modulo HTTP_EXCHANGE_LENGTHS: 1 plus the place of the first header
     * whose name has it; 0: there is none. */
    uint8_t first_of_length[HTTP_EXCHANGE_LENGTHS];
    bool version_1_0;
    bool keeps_alive;
    uv_write_t write; /* For an answer that the socket does not take at once. */
};

/* Creates the request whose head `parser` has read from `head`. Borrows head and body until the
 * answer is written. */
struct http_exchange *http_exchange_create(struct arena *arena, struct http_connection *connection,
                                           const struct http_parser *parser, const uint8_t *head,
                                           struct bytes body);
/* For an answer to bytes that never became a request. `is_head`: its method is known to be HEAD. */
struct http_exchange *
http_exchange_create_refusal(struct arena *arena, struct http_connection *connection, bool is_head);
/* Formats the answer and gives it to the connection. */
void http_exchange_send(struct http_exchange *exchange, const struct http_answer *answer);

/* --- The head of an answer --- */

/* The value of the Date header, formatted once a second. All zero at first. */
struct http_date {
    time_t second;
    char text[sizeof "Sun, 06 Nov 1994 08:49:37 GMT"];
};
struct bytes http_date_at(struct http_date *date, time_t second);

/* Formats the head in the arena. `connection` is the value of the Connection header; NULL: none.
 * Names and values of headers hold no control bytes. */
struct bytes http_answer_format_head(struct arena *arena, const struct http_answer *answer,
                                     struct bytes date, const char *connection);

#endif
