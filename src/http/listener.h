/* listener.h -- a listening socket: binding it, and accepting from it on a loop.
 *
 * Not libuv's own: that has no SO_REUSEPORT in the version Debian carries, and it spins while
 * the process is out of descriptors. This one pauses instead; clients wait in the backlog.
 */
#ifndef STATOR_HTTP_LISTENER_H
#define STATOR_HTTP_LISTENER_H
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>
#include "base/compiler.h"

struct http_loop;

struct http_listener {
    uv_poll_t poll;
    uv_timer_t pause; /* Runs while there are no descriptors to accept with. */
    int fd;           /* -1 once closed. */
    bool failing;     /* So that one line is logged, not ten a second. */
};

/* A bound, listening socket. The first socket of a server must have the address to itself; the
 * others join it: `port` is then the one the first has got. Returns -errno on failure. */
MUST_CHECK int http_listener_bind_first(const struct sockaddr_storage *address);
MUST_CHECK int http_listener_bind_more(const struct sockaddr_storage *address);

/* Each connection goes to http_connection_open. Returns a libuv error, 0 if it went well; then the
 * listener owns `fd`. */
MUST_CHECK int http_listener_init(struct http_listener *listener, struct http_loop *loop, int fd);
/* Stops accepting and closes the socket, if that is still open. */
void http_listener_close(struct http_listener *listener);

#endif
