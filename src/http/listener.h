/* listener.h -- a listening socket: binding it, and accepting from it on a loop.
 *
 * libuv's own has no SO_REUSEPORT in Debian's version, and spins while the process is out of
 * descriptors. This one pauses; clients wait in the backlog.
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
    uv_timer_t pause; /* Runs while accepting is paused. */
    int fd;           /* -1 once closed. */
    bool failing;     /* So that the log gets one line, not ten a second. */
};

/* Returns a bound, listening socket, or -errno. The first socket of a server fails if another
 * process uses the address. The others share it, with the port that the first one got. */
MUST_CHECK int http_listener_bind_first(const struct sockaddr_storage *address);
MUST_CHECK int http_listener_bind_more(const struct sockaddr_storage *address);

/* Passes each connection to http_connection_open. Returns 0 or a libuv error. On success the
 * listener owns `fd`. */
MUST_CHECK int http_listener_init(struct http_listener *listener, struct http_loop *loop, int fd);
/* Stops accepting and closes the socket. Again is allowed. */
void http_listener_close(struct http_listener *listener);

#endif
