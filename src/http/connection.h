/* connection.h -- one client's connection, inside http/.
 *
 * Owned by its loop from http_connection_open until its socket is closed and the handler owes it
 * no answer; it then frees itself. Used on the loop's thread only.
 */
#ifndef STATOR_HTTP_CONNECTION_H
#define STATOR_HTTP_CONNECTION_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "http/body.h"
#include "http/deadlines.h"
#include "http/server.h"
#include "http/transport.h"

struct http_exchange;
struct http_input;
struct http_loop;

/* What has to arrive of a body for its time-out to begin anew. */
enum { HTTP_CONNECTION_PROGRESS_SIZE = 16 * 1024 };

enum http_connection_state {
    HTTP_CONNECTION_OPENING,  /* The two ends agree on TLS. */
    HTTP_CONNECTION_IDLE,     /* Nothing of the next request has been looked at. */
    HTTP_CONNECTION_HEAD,     /* A request's head is arriving. */
    HTTP_CONNECTION_BODY,     /* Its body is arriving. */
    HTTP_CONNECTION_HANDLING, /* The handler has it. */
    HTTP_CONNECTION_WRITING,  /* Its answer is being written. */
    HTTP_CONNECTION_DRAINING, /* All is said; what the client still sends is thrown away. */
    HTTP_CONNECTION_CLOSED,
    HTTP_CONNECTION_STATE_COUNT,
};

struct http_connection {
    struct http_transport transport;
    struct http_loop *loop;
    struct http_connection *previous, *next; /* Of the loop, while the socket is open. */
    struct http_deadline deadline;
    struct http_input *input;       /* NULL while nothing has arrived. */
    struct http_exchange *exchange; /* While HANDLING or WRITING. */
    struct http_body body;          /* What does not stay in the input. */
    size_t request_size;            /* How much of the input is the request under way. */
    uint64_t unwritten_size;        /* When the write deadline was set. */
    uint64_t drained_size;
    size_t progress_size; /* Of the body, since its deadline was set. */
    enum http_connection_state state;
    bool counted;     /* Against the bounds on connections. */
    bool served;      /* It has had a request. */
    bool late;        /* No request had come when the loop began to stop: for one only. */
    bool at_end;      /* The client will send no more. */
    bool advancing;   /* connection.c's guard against recursion. */
    bool body_apart;  /* A body of known length is read straight into `body`. */
    bool closes;      /* After the answer being written. */
    atomic_bool gone; /* It is CLOSED; for other threads. */
    uint8_t hint;     /* The handler's, see http_exchange_hint. */
    bool socket_closed;
    uint64_t address_key;      /* See addresses.h. */
    char peer[HTTP_PEER_SIZE]; /* The client's address. */
};

/* Takes `fd` over, whatever happens. */
void http_connection_open(struct http_loop *loop, int fd, const struct sockaddr *peer);
/* At once, without a last word. Again is allowed. */
void http_connection_close(struct http_connection *connection);
/* The loop is stopping: closes the connection if it is between requests. */
void http_connection_stop(struct http_connection *connection);

struct http_connection *http_connection_of_deadline(struct http_deadline *deadline);
/* The deadline has passed. It is cleared or set anew on return. */
void http_connection_expire(struct http_connection *connection);

/* The handler has answered. False if the client is gone: the exchange is then released. */
MUST_CHECK bool http_connection_take_back(struct http_connection *connection,
                                          struct http_exchange *exchange);
/* Writes an answer whose bytes live as long as the exchange, then goes on to the next request or,
 * if `closes`, closes. */
void http_connection_send(struct http_connection *connection, struct bytes head, struct bytes body,
                          bool closes);

/* For the transport. */
struct http_connection *http_connection_of_transport(struct http_transport *transport);
/* Where the next bytes go; at least one. Not once reading was stopped. */
uint8_t *http_connection_room(struct http_connection *connection, size_t *size);
/* How much may be read now; 0: others have their turn, and this connection in the next one. */
size_t http_connection_turn(struct http_connection *connection);
/* So many bytes were put there, maybe none. */
void http_connection_arrived(struct http_connection *connection, size_t size);
/* A secure transport is ready. */
void http_connection_opened(struct http_connection *connection);
/* The client does not speak TLS, or not as it should. It may have been told why. */
void http_connection_failed(struct http_connection *connection);
/* The client will send no more; or, if not `orderly`, the connection is broken. */
void http_connection_ended(struct http_connection *connection, bool orderly);
/* An answer that took longer is written, or never will be. */
void http_connection_written(struct http_connection *connection, bool whole);
void http_connection_closed(struct http_connection *connection);

/* For request.c. A move that the table of states does not allow is a bug, and stops the program. */
void http_connection_set_state(struct http_connection *connection,
                               enum http_connection_state state);
/* Sets the one deadline a connection has, or clears it. */
void http_connection_watch(struct http_connection *connection, enum http_deadline_kind kind);
void http_connection_unwatch(struct http_connection *connection);
/* Forgets what has arrived. */
void http_connection_drop_input(struct http_connection *connection);
/* Best effort: a client whose socket is full at this point waits a moment, then sends anyway. */
void http_connection_send_continue(struct http_connection *connection);

#endif
