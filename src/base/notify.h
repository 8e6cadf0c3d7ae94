/* notify.h -- tells the service manager how the server is doing.
 *
 * systemd's protocol for Type=notify: lines `NAME=value` in one datagram to the socket that the
 * variable NOTIFY_SOCKET names. That is all of it, so no library is needed.
 */
#ifndef STATOR_BASE_NOTIFY_H
#define STATOR_BASE_NOTIFY_H
#include <stdbool.h>

/* Sends `state` ("READY=1") to `socket_name`: a path, or an abstract name that begins with `@`;
 * NULL: does nothing. False with errno set if it could not be sent; the server carries on. */
bool notify_send(const char *socket_name, const char *state);

#endif
