/* outbound_sockets.h -- the sockets that curl has open for a client. Internal to outbound/.
 *
 * Curl tells nobody which socket a transfer uses while it runs, so a client opens and closes them
 * itself.
 */
#ifndef STATOR_OUTBOUND_OUTBOUND_SOCKETS_H
#define STATOR_OUTBOUND_OUTBOUND_SOCKETS_H
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

/* A kept connection, and two addresses of the next one that are tried side by side. Further ones
 * work as well, but are not acknowledged. */
enum { OUTBOUND_SOCKETS_MAX = 4 };

struct outbound_sockets {
    int fds[OUTBOUND_SOCKETS_MAX];
    size_t count;
};

/* Has curl use them: `sockets` must outlive all connections that are made with the handle. False if
 * it refuses. */
MUST_CHECK bool outbound_sockets_set(struct outbound_sockets *sockets, CURL *easy);

/* Acknowledges what has arrived, at once. A server that writes head and body apart, without
 * TCP_NODELAY, sends the body when the head was acknowledged, and on a connection that is kept the
 * kernel likes to put that off: 40 ms for every call. */
void outbound_sockets_acknowledge(const struct outbound_sockets *sockets);

#endif
