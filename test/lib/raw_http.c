/* raw_http.c -- see raw_http.h. */
#include "raw_http.h"
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tls_peer.h"

enum { READ_SIZE = 64 * 1024 };

void raw_http_open_from(struct raw_http *client, uint16_t port, const char *source)
{
    struct sockaddr_in from = { .sin_family = AF_INET };
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    const int on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *client = (struct raw_http){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    if (client->fd < 0 ||
        (source != NULL && (inet_pton(AF_INET, source, &from.sin_addr) != 1 ||
                            bind(client->fd, (const struct sockaddr *)&from, sizeof from) != 0)) ||
        connect(client->fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        perror("connect");
        abort();
    }
    /* Each send of a test is meant to arrive as it is. */
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void raw_http_open(struct raw_http *client, uint16_t port)
{
    raw_http_open_from(client, port, NULL);
}

void raw_http_close(struct raw_http *client)
{
    close(client->fd);
    tls_peer_destroy(client->tls);
    free(client->data);
    *client = (struct raw_http){ .fd = -1 };
}

void raw_http_reset(struct raw_http *client)
{
    struct linger linger = { .l_onoff = 1, .l_linger = 0 };
    setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    raw_http_close(client);
}

static bool wait_for(const struct raw_http *client, short events)
{
    struct pollfd wanted = { .fd = client->fd, .events = events };
    return poll(&wanted, 1, RAW_HTTP_WAIT_MS) == 1;
}

static bool send_all(const struct raw_http *client, struct bytes text)
{
    while (text.len > 0) {
        if (!wait_for(client, POLLOUT))
            return false;
        ssize_t sent = send(client->fd, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0)
            return false;
        text = bytes_of(text.data + sent, text.len - (size_t)sent);
    }
    return true;
}

bool raw_http_send(struct raw_http *client, struct bytes text)
{
    if (client->tls == NULL)
        return send_all(client, text);
    tls_peer_write(client->tls, text);
    return send_all(client, tls_peer_take(client->tls));
}

void raw_http_end(struct raw_http *client)
{
    if (client->tls != NULL) {
        tls_peer_end(client->tls);
        (void)send_all(client, tls_peer_take(client->tls));
    }
    shutdown(client->fd, SHUT_WR);
}

bool raw_http_send_text(struct raw_http *client, const char *text)
{
    return raw_http_send(client, bytes_from_text(text));
}

/* From the socket; 0 at the end of the connection, -1 for a reset or a wait too long. */
static ssize_t receive_raw(const struct raw_http *client, void *out, size_t size)
{
    return wait_for(client, POLLIN) ? recv(client->fd, out, size, 0) : -1;
}

/* One more read of the socket for TLS. */
static ssize_t receive_sealed(struct raw_http *client)
{
    uint8_t sealed[16 * 1024];
    ssize_t size = receive_raw(client, sealed, sizeof sealed);
    if (size > 0)
        tls_peer_give(client->tls, bytes_of(sealed, (size_t)size));
    return size;
}

/* The same through TLS. Without its own end, the connection's is a broken one. */
static ssize_t receive_opened(struct raw_http *client, void *out, size_t size)
{
    for (;;) {
        size_t read = tls_peer_read(client->tls, out, size);
        (void)send_all(client, tls_peer_take(client->tls)); /* New keys are confirmed. */
        if (read > 0)
            return (ssize_t)read;
        if (tls_peer_failed(client->tls))
            return -1;
        ssize_t sealed = receive_sealed(client);
        if (sealed <= 0)
            return sealed == 0 && tls_peer_is_ended(client->tls) ? 0 : -1;
    }
}

bool raw_http_start_tls(struct raw_http *client, const struct tls_peer_options *options)
{
    client->tls = tls_peer_create(options);
    for (;;) {
        bool done = tls_peer_shake(client->tls);
        if (!send_all(client, tls_peer_take(client->tls)) || tls_peer_failed(client->tls))
            return false;
        if (done)
            return true;
        if (receive_sealed(client) <= 0)
            return false;
    }
}

void raw_http_open_tls(struct raw_http *client, uint16_t port,
                       const struct tls_peer_options *options)
{
    raw_http_open(client, port);
    if (!raw_http_start_tls(client, options)) {
        fprintf(stderr, "no TLS: %s\n", tls_peer_problem(client->tls));
        abort();
    }
}

/* Bytes read; 0 at the end of the connection, -1 for a reset or a wait too long. */
static ssize_t receive_more(struct raw_http *client)
{
    if (client->taken > 0) {
        memmove(client->data, client->data + client->taken, client->len - client->taken);
        client->len -= client->taken;
        client->taken = 0;
    }
    if (client->capacity - client->len < READ_SIZE) {
        client->capacity = client->capacity * 2 + READ_SIZE;
        client->data = realloc(client->data, client->capacity + 1);
        assert(client->data != NULL);
    }
    uint8_t *room = client->data + client->len;
    ssize_t size = client->tls == NULL ? receive_raw(client, room, READ_SIZE)
                                       : receive_opened(client, room, READ_SIZE);
    if (size > 0)
        client->len += (size_t)size;
    client->data[client->len] = '\0'; /* Numbers are read from it by strtoul. */
    return size;
}

/* The size of the answer's head at `taken`; 0 if it is not whole. */
static size_t head_size(const struct raw_http *client)
{
    size_t size = client->len - client->taken;
    if (size == 0)
        return 0;
    const uint8_t *start = client->data + client->taken;
    const uint8_t *end = memmem(start, size, "\r\n\r\n", 4);
    return end == NULL ? 0 : (size_t)(end - start) + 4;
}

static size_t content_length(struct bytes head)
{
    static const char name[] = "\r\nContent-Length: ";
    const char *found = memmem(head.data, head.len, name, sizeof name - 1);
    return found == NULL ? 0 : strtoul(found + sizeof name - 1, NULL, 10);
}

static bool receive(struct raw_http *client, struct raw_http_answer *answer, bool has_body)
{
    size_t head = 0, body = 0;
    for (;;) {
        head = head_size(client);
        if (head > 0 && has_body)
            body = content_length(bytes_of(client->data + client->taken, head));
        if (head > 0 && client->len - client->taken >= head + body)
            break;
        if (receive_more(client) <= 0)
            return false;
    }
    const uint8_t *start = client->data + client->taken;
    answer->head = bytes_of(start, head);
    answer->body = bytes_of(start + head, body);
    answer->status = (int)strtol((const char *)start + sizeof "HTTP/1.1", NULL, 10);
    client->taken += head + body;
    return true;
}

bool raw_http_receive(struct raw_http *client, struct raw_http_answer *answer)
{
    return receive(client, answer, true);
}

bool raw_http_receive_head(struct raw_http *client, struct raw_http_answer *answer)
{
    return receive(client, answer, false);
}

bool raw_http_ends(struct raw_http *client)
{
    return client->len == client->taken && receive_more(client) == 0;
}

bool raw_http_has_header(const struct raw_http_answer *answer, const char *line)
{
    char wanted[256];
    int size = snprintf(wanted, sizeof wanted, "\r\n%s\r\n", line);
    return memmem(answer->head.data, answer->head.len, wanted, (size_t)size) != NULL;
}
