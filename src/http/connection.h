/* connection.h -- one client's connection, inside http/.
 *
 * Lives from http_connection_open until its socket is closed and the handler owes it no answer;
 * then it frees itself. For the loop's thread only.
 */
#ifndef STATOR_HTTP_CONNECTION_H
#define STATOR_HTTP_CONNECTION_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "http/loop.h"
#include "http/request_memory.h"
#include "http/server.h"
#include "http/transport.h"

struct http_exchange;
struct http_input;
struct http_loop;

/* How much of a body must arrive to restart its time-out. */
enum { HTTP_CONNECTION_PROGRESS_SIZE = 16 * 1024 };

enum http_connection_state {
    HTTP_CONNECTION_OPENING,  /* During the TLS handshake. */
    HTTP_CONNECTION_IDLE,     /* Between requests. */
    HTTP_CONNECTION_HEAD,     /* A request's head is arriving. */
    HTTP_CONNECTION_BODY,     /* Its body is arriving. */
    HTTP_CONNECTION_HANDLING, /* The handler has it. */
    HTTP_CONNECTION_WRITING,  /* Its answer is being written. */
    HTTP_CONNECTION_DRAINING, /* The answer is sent; further input is thrown away. */
    HTTP_CONNECTION_CLOSED,
    HTTP_CONNECTION_STATE_COUNT,
};

struct http_connection {
    struct http_transport transport;
    struct http_loop *loop;
    struct http_connection *previous, *next; /* In the loop's list while the socket is open. */
    struct http_deadline deadline;
    struct http_waiting waiting;    /* Among the loop's closers. */
    struct http_input *input;       /* NULL while nothing has arrived. */
    struct http_exchange *exchange; /* While HANDLING or WRITING. */
    struct http_body body;          /* A body that is not in the input. */
    size_t request_size;            /* The current request's part of the input. */
    uint64_t unwritten_size;        /* At the time when the write deadline was set. */
    uint64_t drained_size;
    size_t progress_size; /* Of the body, since its deadline was set. */
    enum http_connection_state state;
    bool counted;     /* Against the bounds on connections. */
    bool served;      /* It has had a request. */
    bool late;        /* Had no request when the loop started to stop: gets one. */
    bool at_end;      /* The client will send no more. */
    bool advancing;   /* Guards `advance` against recursion. */
    bool body_apart;  /* A body of known length is read directly into `body`. */
    bool closes;      /* After the answer being written. */
    atomic_bool gone; /* The state is CLOSED; for other threads. */
    bool socket_closed;
    uint64_t address_key;      /* See addresses.h. */
    char peer[HTTP_PEER_SIZE]; /* The client's address. */
};

/* Owns `fd` from here on, even on failure. */
void http_connection_open(struct http_loop *loop, int fd, const struct sockaddr *peer);
/* At once, without an answer. Again is allowed. */
void http_connection_close(struct http_connection *connection);
/* The loop is stopping: closes the connection if it is between requests. */
void http_connection_stop(struct http_connection *connection);

struct http_connection *http_connection_of_waiting(struct http_waiting *waiting);
struct http_connection *http_connection_of_deadline(struct http_deadline *deadline);
/* The deadline has expired. On return it is cleared, or renewed after progress. */
void http_connection_expire(struct http_connection *connection);

/* The handler has answered. False if the client has gone: the exchange is then released. */
MUST_CHECK bool http_connection_take_back(struct http_connection *connection,
                                          struct http_exchange *exchange);
/* Writes an answer whose bytes live as long as the exchange, then starts the next request or, if
 * `closes`, closes. */
void http_connection_send(struct http_connection *connection, struct bytes head, struct bytes body,
                          bool closes);
/* Drops the request and closes, instead of an answer. */
void http_connection_abandon(struct http_connection *connection);

/* --- For the transport --- */

struct http_connection *http_connection_of_transport(struct http_transport *transport);
/* Where to put the next bytes; there is room for at least one. Only while reading. */
uint8_t *http_connection_room(struct http_connection *connection, size_t *size);
/* How much may be read now; 0: nothing before the next turn. */
size_t http_connection_turn(struct http_connection *connection);
/* So many bytes were put there, perhaps none. */
void http_connection_arrived(struct http_connection *connection, size_t size);
/* A secure transport is ready. */
void http_connection_opened(struct http_connection *connection);
/* The handshake or TLS itself failed. The client may have got an alert. */
void http_connection_failed(struct http_connection *connection);
/* The client will send no more, or, if not `orderly`, the connection is broken. */
void http_connection_ended(struct http_connection *connection, bool orderly);
/* An answer that could not be written at once is written or, if not `whole`, failed. */
void http_connection_written(struct http_connection *connection, bool whole);
/* The rest of an answer waits for the client to read. */
void http_connection_waits(struct http_connection *connection);
void http_connection_closed(struct http_connection *connection);

#endif
