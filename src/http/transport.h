/* transport.h -- how a connection's bytes travel, inside http/.
 *
 * The seam below connection.c, which reads and writes HTTP and does not know by what means: as it
 * is, or through TLS (tls_link.h). Without TLS, bytes that arrive are put where
 * http_connection_room wants them, without a copy in between, and an answer goes to the socket from
 * where it lies.
 *
 * Part of its connection, and used on the loop's thread only.
 */
#ifndef STATOR_HTTP_TRANSPORT_H
#define STATOR_HTTP_TRANSPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct http_loop;
struct http_tls_link;

/* All zero before http_transport_init. */
struct http_transport {
    uv_tcp_t tcp;               /* Its `data` is the connection. */
    struct http_tls_link *link; /* NULL: what is read and written goes as it is. */
    bool reading;               /* The connection wants to read. */
    bool secure;                /* Does not change once open: other threads may ask. */
};

enum http_transport_status {
    HTTP_TRANSPORT_DONE,
    HTTP_TRANSPORT_LATER, /* http_connection_written will be called. */
    HTTP_TRANSPORT_FAILED,
};

/* To be closed from here on, whether opening it goes well or not. */
void http_transport_init(struct http_transport *transport, struct http_loop *loop);
/* Takes `fd` over, whatever happens. A transport that is secure then becomes ready later, and tells
 * http_connection_opened or _failed; nothing can be written before. */
MUST_CHECK bool http_transport_open(struct http_transport *transport, int fd);
bool http_transport_is_secure(const struct http_transport *transport);
/* Lets go of the socket; http_connection_closed follows. What was to be written later ends with an
 * error first. */
void http_transport_close(struct http_transport *transport);

/* What arrives goes to http_connection_room and _arrived, until that is stopped or the end is told
 * to http_connection_ended. Either is allowed in any state, and costs nothing if it changes none.
 */
MUST_CHECK bool http_transport_read(struct http_transport *transport);
void http_transport_stop_reading(struct http_transport *transport);
/* What the system has received and will be read when it is the connection's turn. Nothing while TLS
 * first has to send something that the client does not take. */
size_t http_transport_unread(const struct http_transport *transport);

/* Writes the two, the second of which may be empty, from where they lie: they and `write` stay
 * there until it is done. One at a time. */
MUST_CHECK enum http_transport_status http_transport_write(struct http_transport *transport,
                                                           uv_write_t *write, struct bytes head,
                                                           struct bytes body);
/* A few bytes between answers, which are left out if the socket is full. False if the connection
 * cannot go on. */
MUST_CHECK bool http_transport_write_now(struct http_transport *transport, struct bytes text);
/* Falls as a write makes progress. */
uint64_t http_transport_unwritten(const struct http_transport *transport);
/* Nothing more will be written; the client is told. What it still sends arrives. */
MUST_CHECK bool http_transport_end(struct http_transport *transport);

#endif
