/* client.c -- see client.h. */
#include "http/client.h"
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/clock.h"

enum { READ_SIZE = 64 * 1024, PORT_TEXT_SIZE = 6 };

struct exchange {
    struct arena *arena;
    const struct http_client_request *request;
    struct http_client_answer *answer;
    int64_t deadline_ms;
    int fd;
    struct buffer out;
    size_t sent;
};

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static enum http_client_result fail(struct exchange *exchange, enum http_client_result result,
                                    const char *problem)
{
    exchange->answer->problem = arena_copy(exchange->arena, bytes_from_text(problem));
    return result;
}

/* Waits until the socket is ready. HTTP_CLIENT_OK, STOPPED, or `late` if time is up. */
static enum http_client_result await(struct exchange *exchange, short events, short *ready,
                                     enum http_client_result late)
{
    struct pollfd fds[] = { { .fd = exchange->fd, .events = events },
                            { .fd = exchange->request->stop_fd, .events = POLLIN } };
    for (;;) {
        int64_t left_ms = exchange->deadline_ms - now_ms();
        if (left_ms <= 0)
            return fail(exchange, late, "no answer in time");
        int count = poll(fds, 2, left_ms > INT32_MAX ? INT32_MAX : (int)left_ms);
        if (count < 0 && errno != EINTR)
            return fail(exchange, late, strerror(errno));
        if (count > 0 && fds[1].revents != 0)
            return fail(exchange, HTTP_CLIENT_STOPPED, "stopped");
        *ready = fds[0].revents;
        if (count > 0 && *ready != 0)
            return HTTP_CLIENT_OK;
    }
}

/* --- Connecting --- */

static enum http_client_result connect_to(struct exchange *exchange, const struct addrinfo *address)
{
    short ready;
    int error = 0;
    socklen_t size = sizeof error;
    exchange->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (exchange->fd < 0)
        return fail(exchange, HTTP_CLIENT_UNREACHABLE, strerror(errno));
    if (connect(exchange->fd, address->ai_addr, address->ai_addrlen) == 0)
        return HTTP_CLIENT_OK;
    if (errno != EINPROGRESS)
        return fail(exchange, HTTP_CLIENT_UNREACHABLE, strerror(errno));
    enum http_client_result result = await(exchange, POLLOUT, &ready, HTTP_CLIENT_UNREACHABLE);
    if (result != HTTP_CLIENT_OK)
        return result;
    getsockopt(exchange->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error == 0 ? HTTP_CLIENT_OK : fail(exchange, HTTP_CLIENT_UNREACHABLE, strerror(error));
}

static void disconnect(struct exchange *exchange)
{
    if (exchange->fd >= 0)
        close(exchange->fd);
    exchange->fd = -1;
}

/* Tries the host's addresses in turn. */
static enum http_client_result connect_any(struct exchange *exchange)
{
    const struct http_url *url = &exchange->request->url;
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *addresses = NULL;
    char host[HTTP_URL_HOST_SIZE_MAX + 1], port[PORT_TEXT_SIZE];
    memcpy(host, url->host.data, url->host.len);
    host[url->host.len] = '\0';
    snprintf(port, sizeof port, "%u", (unsigned)url->port);
    int error = getaddrinfo(host, port, &hints, &addresses);
    if (error != 0)
        return fail(exchange, HTTP_CLIENT_UNREACHABLE, gai_strerror(error));
    enum http_client_result result = HTTP_CLIENT_UNREACHABLE;
    for (struct addrinfo *at = addresses; at != NULL && result == HTTP_CLIENT_UNREACHABLE;
         at = at->ai_next) {
        disconnect(exchange);
        result = connect_to(exchange, at);
    }
    freeaddrinfo(addresses);
    return result;
}

/* --- Sending and receiving --- */

static void write_request(struct exchange *exchange)
{
    const struct http_client_request *request = exchange->request;
    struct arena *arena = exchange->arena;
    struct buffer *out = &exchange->out;
    buffer_init(out, arena);
    buffer_append_bytes(out, arena_printf(arena,
                                          "POST %.*s HTTP/1.1\r\nHost: %.*s\r\n"
                                          "Content-Length: %zu\r\nConnection: close\r\n",
                                          BYTES_FMT(request->url.target),
                                          BYTES_FMT(request->url.authority), request->body.len));
    for (size_t i = 0; i < request->header_count; i++)
        buffer_append_bytes(out, arena_printf(arena, "%.*s: %.*s\r\n",
                                              BYTES_FMT(request->headers[i].name),
                                              BYTES_FMT(request->headers[i].value)));
    buffer_append_bytes(out, BYTES("\r\n"));
    buffer_append_bytes(out, request->body);
}

/* A server may answer and close before it has read all; then what it says counts. */
static void send_some(struct exchange *exchange)
{
    ssize_t size = send(exchange->fd, exchange->out.data + exchange->sent,
                        exchange->out.len - exchange->sent, MSG_NOSIGNAL);
    if (size > 0)
        exchange->sent += (size_t)size;
    else if (size < 0 && errno != EAGAIN && errno != EINTR)
        exchange->sent = exchange->out.len;
}

static enum http_response_status receive_some(struct exchange *exchange, uint8_t *room)
{
    struct http_response *response = &exchange->answer->response;
    ssize_t size = recv(exchange->fd, room, READ_SIZE, 0);
    if (size > 0)
        return http_response_feed(response, bytes_of(room, (size_t)size));
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return HTTP_RESPONSE_MORE;
    if (size < 0) /* Broken off: not the end of a body that ends with its connection. */
        return HTTP_RESPONSE_DAMAGED;
    return http_response_end(response);
}

static enum http_client_result talk(struct exchange *exchange)
{
    uint8_t *room = arena_alloc(exchange->arena, READ_SIZE);
    for (;;) {
        bool all_sent = exchange->sent == exchange->out.len;
        short ready;
        enum http_client_result result =
            await(exchange, all_sent ? POLLIN : POLLIN | POLLOUT, &ready, HTTP_CLIENT_FAILED);
        if (result != HTTP_CLIENT_OK)
            return result;
        if (!all_sent && (ready & POLLOUT) != 0)
            send_some(exchange);
        if ((ready & (POLLIN | POLLHUP | POLLERR)) == 0)
            continue;
        switch (receive_some(exchange, room)) {
        case HTTP_RESPONSE_MORE:
            break;
        case HTTP_RESPONSE_DONE:
            return HTTP_CLIENT_OK;
        case HTTP_RESPONSE_DAMAGED:
            return fail(exchange, HTTP_CLIENT_FAILED, "the connection ended without an answer");
        case HTTP_RESPONSE_TOO_LARGE:
            return fail(exchange, HTTP_CLIENT_FAILED, "the answer is too large");
        }
    }
}

enum http_client_result http_client_post(struct arena *arena,
                                         const struct http_client_request *request,
                                         struct http_client_answer *answer)
{
    struct exchange exchange = { .arena = arena,
                                 .request = request,
                                 .answer = answer,
                                 .deadline_ms = now_ms() + request->timeout_ms,
                                 .fd = -1 };
    *answer = (struct http_client_answer){ 0 };
    http_response_init(&answer->response, arena, request->answer_size_max);
    write_request(&exchange);
    enum http_client_result result = connect_any(&exchange);
    if (result == HTTP_CLIENT_OK)
        result = talk(&exchange);
    disconnect(&exchange);
    return result;
}
