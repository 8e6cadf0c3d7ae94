/* connection.c -- the client's side of HTTP, as far as a server under test needs it: answers have a
 * Content-Length, and no byte follows before the next request. */
#include "connection.h"
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static const char head_end[] = "\r\n\r\n";
static const char length_name[] = "\r\ncontent-length:";

enum { HEAD_END_SIZE = sizeof head_end - 1, LENGTH_NAME_SIZE = sizeof length_name - 1 };

struct ssl_ctx_st *connection_tls_create(void)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    if (tls == NULL)
        errx(1, "no TLS");
    SSL_CTX_set_verify(tls, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return tls;
}

void connection_open(struct connection *connection, uint16_t port, struct ssl_ctx_st *tls)
{
    *connection = (struct connection){ .buffer = malloc(CONNECTION_BUFFER_SIZE) };
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->buffer == NULL || connection->socket < 0)
        err(1, "socket");
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int on = 1;
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        err(1, "port %u", (unsigned)port);
    if (tls != NULL) {
        connection->tls = SSL_new(tls);
        if (connection->tls == NULL || SSL_set_fd(connection->tls, connection->socket) != 1 ||
            SSL_connect(connection->tls) != 1)
            errx(1, "port %u: no handshake", (unsigned)port);
    }
    if (fcntl(connection->socket, F_SETFL, O_NONBLOCK) != 0)
        err(1, "port %u", (unsigned)port);
}

void connection_close(struct connection *connection)
{
    SSL_free(connection->tls);
    close(connection->socket);
    free(connection->buffer);
}

/* Like send and recv of a socket that would block: -1 and EAGAIN. */
static ssize_t tls_result(struct connection *connection, int result)
{
    if (result > 0)
        return result;
    int reason = SSL_get_error(connection->tls, result);
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) {
        errno = EAGAIN;
        return -1;
    }
    return 0;
}

static ssize_t transport_send(struct connection *connection, const char *data, size_t size)
{
    if (connection->tls == NULL)
        return send(connection->socket, data, size, MSG_NOSIGNAL);
    return tls_result(connection, SSL_write(connection->tls, data, (int)size));
}

static ssize_t transport_receive(struct connection *connection, char *buffer, size_t size)
{
    if (connection->tls == NULL)
        return recv(connection->socket, buffer, size, 0);
    return tls_result(connection, SSL_read(connection->tls, buffer, (int)size));
}

static enum connection_state go_on_sending(struct connection *connection)
{
    ssize_t sent = transport_send(connection, connection->unsent, connection->unsent_size);
    if (sent == 0 || (sent < 0 && errno != EAGAIN))
        err(1, "a request could not be sent");
    if (sent > 0) {
        connection->unsent += sent;
        connection->unsent_size -= (size_t)sent;
    }
    return connection->unsent_size > 0 ? CONNECTION_SENDING : CONNECTION_RECEIVING;
}

enum connection_state connection_send(struct connection *connection, const char *text, size_t size)
{
    connection->unsent = text;
    connection->unsent_size = size;
    connection->received = 0;
    connection->status = 0;
    return go_on_sending(connection);
}

/* The head, of `size` bytes, is complete. */
static void read_head(struct connection *connection, size_t size)
{
    const char *head = connection->buffer;
    if (size < sizeof "HTTP/1.1 200" || memcmp(head, "HTTP/1.1 ", 9) != 0)
        errx(1, "an answer is not HTTP/1.1");
    connection->status = (unsigned)strtoul(head + 9, NULL, 10);
    for (const char *at = head; (at = memchr(at, '\r', (size_t)(head + size - at))) != NULL; at++) {
        if (strncasecmp(at, length_name, LENGTH_NAME_SIZE) == 0) {
            connection->body_size = strtoull(at + LENGTH_NAME_SIZE, NULL, 10);
            return;
        }
    }
    errx(1, "an answer has no Content-Length");
}

static enum connection_state go_on_receiving(struct connection *connection)
{
    ssize_t result = transport_receive(connection, connection->buffer + connection->received,
                                       CONNECTION_BUFFER_SIZE - 1 - connection->received);
    if (result < 0 && errno == EAGAIN)
        return CONNECTION_RECEIVING;
    if (result <= 0)
        err(1, "the server closed a connection");
    uint64_t body = (uint64_t)result;
    if (connection->status == 0) {
        connection->received += (size_t)result;
        connection->buffer[connection->received] = '\0';
        const char *end = memmem(connection->buffer, connection->received, head_end, HEAD_END_SIZE);
        if (end == NULL && connection->received < CONNECTION_BUFFER_SIZE - 1)
            return CONNECTION_RECEIVING;
        if (end == NULL)
            errx(1, "the head of an answer is too long");
        size_t head_size = (size_t)(end - connection->buffer) + HEAD_END_SIZE;
        read_head(connection, head_size);
        body = connection->received - head_size;
        connection->received = 0;
        connection->body_left = connection->body_size;
    }
    if (body > connection->body_left)
        errx(1, "an answer is longer than its Content-Length");
    connection->body_left -= body;
    return connection->body_left > 0 ? CONNECTION_RECEIVING : CONNECTION_ANSWERED;
}

enum connection_state connection_go_on(struct connection *connection)
{
    if (connection->unsent_size > 0)
        return go_on_sending(connection);
    enum connection_state state;
    do {
        state = go_on_receiving(connection);
        /* What TLS has decrypted already, the socket no longer tells of. */
    } while (state == CONNECTION_RECEIVING && connection->tls != NULL &&
             SSL_pending(connection->tls) > 0);
    return state;
}
