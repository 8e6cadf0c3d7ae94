/* transport.h -- how a connection's bytes travel, inside http/: plain, or through TLS (tls_link.h).
 *
 * connection.c reads and writes HTTP and does not know which. Without TLS there is no copy: bytes
 * are received directly where http_connection_room says, and an answer is sent from where it lies.
 *
 * Part of its connection, and for the loop's thread only.
 */
#ifndef STATOR_HTTP_TRANSPORT_H
#define STATOR_HTTP_TRANSPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "http/turn.h"

struct http_loop;
struct http_tls_link;

/* All zero before http_transport_init. */
struct http_transport {
    uv_tcp_t tcp;                /* Its `data` is the connection. */
    struct http_tls_link *link;  /* NULL: no TLS. */
    bool reading;                /* The connection wants to read. */
    bool secure;                 /* Constant once open: other threads may read it. */
    bool answering;              /* http_connection_written will be called. */
    struct http_waiting waiting; /* Among the loop's writers: the answer waits for a turn. */
    /* Without TLS, the part of the answer that libuv does not have yet, and for what it has. */
    struct bytes head, body;
    uv_write_t *write;
};

enum http_transport_status {
    HTTP_TRANSPORT_DONE,
    HTTP_TRANSPORT_LATER, /* http_connection_written will be called. */
    HTTP_TRANSPORT_FAILED,
};

/* From here on it must be closed, even if opening fails. */
void http_transport_init(struct http_transport *transport, struct http_loop *loop);
/* Owns `fd` from here on, even on failure. A secure transport becomes ready later, and calls
 * http_connection_opened or _failed; nothing can be written before that. */
MUST_CHECK bool http_transport_open(struct http_transport *transport, int fd);
bool http_transport_is_secure(const struct http_transport *transport);
/* Closes the socket; http_connection_closed follows. An unfinished write fails first. */
void http_transport_close(struct http_transport *transport);

/* Starts reading: passes input to http_connection_room and _arrived, until stopped or at the end,
 * which http_connection_ended gets. Both functions are allowed in any state, and cheap if nothing
 * changes. */
MUST_CHECK bool http_transport_read(struct http_transport *transport);
void http_transport_stop_reading(struct http_transport *transport);
/* The size of input that the system has received and that waits for the connection's turn. 0 while
 * TLS must first send something that the client does not read. */
size_t http_transport_unread(const struct http_transport *transport);

/* Writes head and body, which may be empty. They and `write` must stay where they are until that is
 * done. One write at a time. */
MUST_CHECK enum http_transport_status http_transport_write(struct http_transport *transport,
                                                           uv_write_t *write, struct bytes head,
                                                           struct bytes body);
struct http_transport *http_transport_of_waiting(struct http_waiting *waiting);
/* Writes more of the answer; for the loop, whose queue it was in. */
void http_transport_go_on(struct http_transport *transport);
/* Writes a few bytes between answers, or nothing if the socket is full. False if the connection is
 * unusable. */
MUST_CHECK bool http_transport_write_now(struct http_transport *transport, struct bytes text);
/* Decreases as a write makes progress. */
uint64_t http_transport_unwritten(const struct http_transport *transport);
/* True if the answer waits for a turn of the loop, and not for the client. */
bool http_transport_is_queued(const struct http_transport *transport);
/* Shuts down writing. Input still arrives. */
MUST_CHECK bool http_transport_end(struct http_transport *transport);

#endif
