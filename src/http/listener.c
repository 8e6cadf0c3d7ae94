/* listener.c -- see listener.h. */
#include "http/listener.h"
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/log.h"
#include "http/connection.h"
#include "http/loop.h"

enum {
    BACKLOG = 1024,
    PAUSE_MS = 100,
};

static int bind_and_listen(const struct sockaddr_storage *address, bool is_first)
{
    const int on = 1;
    socklen_t size =
        address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    /* The first one allows sharing only after it is bound. Otherwise a second server would silently
     * start on the same port and take half of the connections. */
    bool ok = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
              (is_first || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) &&
              bind(fd, (const struct sockaddr *)address, size) == 0 &&
              (!is_first || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) &&
              listen(fd, BACKLOG) == 0;
    if (ok)
        return fd;
    int error = errno;
    close(fd);
    return -error;
}

int http_listener_bind_first(const struct sockaddr_storage *address)
{
    return bind_and_listen(address, true);
}

int http_listener_bind_more(const struct sockaddr_storage *address)
{
    return bind_and_listen(address, false);
}

static void on_connection(uv_poll_t *poll, int status, int events);

static int watch(struct http_listener *listener)
{
    return uv_poll_start(&listener->poll, UV_READABLE, on_connection);
}

static void on_pause_over(uv_timer_t *timer)
{
    struct http_listener *listener = timer->data;
    if (watch(listener) != 0)
        uv_timer_start(timer, on_pause_over, PAUSE_MS, 0);
}

/* Out of descriptors or memory: the socket stays readable, so polling it would spin. */
static void pause_accepting(struct http_listener *listener, int error)
{
    if (!listener->failing)
        log_write(LOG_WARN, "http", "cannot accept connections for now: %s", strerror(error));
    listener->failing = true;
    uv_poll_stop(&listener->poll);
    uv_timer_start(&listener->pause, on_pause_over, PAUSE_MS, 0);
}

static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct http_listener *listener = poll->data;
    struct http_loop *loop = poll->loop->data;
    for (int i = 0; i < HTTP_TURN_ACCEPTS_MAX; i++) {
        struct sockaddr_storage peer = { 0 };
        socklen_t peer_size = sizeof peer;
        int fd = accept4(listener->fd, (struct sockaddr *)&peer, &peer_size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            listener->failing = false;
            http_connection_open(loop, fd, (const struct sockaddr *)&peer);
        } else if (is_shortage(errno)) {
            pause_accepting(listener, errno);
            return;
        } else if (errno == EAGAIN) {
            return;
        }
        /* Any other error concerns one connection only. */
    }
}

int http_listener_init(struct http_listener *listener, struct http_loop *loop, int fd)
{
    assert(fd >= 0);
    listener->fd = fd;
    listener->failing = false;
    int error = uv_timer_init(&loop->uv, &listener->pause);
    if (error == 0)
        error = uv_poll_init(&loop->uv, &listener->poll, fd);
    if (error != 0)
        return error;
    listener->pause.data = listener;
    listener->poll.data = listener;
    return watch(listener);
}

void http_listener_close(struct http_listener *listener)
{
    if (listener->fd < 0)
        return;
    uv_close((uv_handle_t *)&listener->pause, NULL);
    uv_close((uv_handle_t *)&listener->poll, NULL);
    close(listener->fd); /* uv_close has stopped polling it. */
    listener->fd = -1;
}
