/* transport.c -- see transport.h. */
#include "http/transport.h"
#include <assert.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "http/connection.h"
#include "http/loop.h"
#include "http/tls_link.h"

static void end_write(struct http_transport *transport, enum http_transport_status status);

static uv_stream_t *stream_of(struct http_transport *transport)
{
    return (uv_stream_t *)&transport->tcp;
}

static uv_buf_t part_of(struct bytes bytes)
{
    return uv_buf_init((char *)(uintptr_t)bytes.data, (unsigned)bytes.len); /* Not written to. */
}

/* --- Life --- */

void http_transport_init(struct http_transport *transport, struct http_loop *loop)
{
    uv_tcp_init(&loop->uv, &transport->tcp); /* Cannot fail without an address family. */
    transport->tcp.data = http_connection_of_transport(transport);
}

bool http_transport_open(struct http_transport *transport, int fd)
{
    assert(fd >= 0 && transport->link == NULL);
    if (uv_tcp_open(&transport->tcp, fd) != 0) {
        close(fd);
        return false;
    }
    transport->link =
        http_shared_create_link(http_connection_of_transport(transport)->loop->shared);
    transport->secure = transport->link != NULL;
    uv_tcp_nodelay(&transport->tcp, 1); /* On failure answers are only slower. */
    return true;
}

bool http_transport_is_secure(const struct http_transport *transport)
{
    return transport->secure;
}

static void on_closed(uv_handle_t *handle)
{
    struct http_connection *connection = handle->data;
    /* libuv has failed what it had to write; here is what waited for a turn. */
    if (connection->transport.answering)
        end_write(&connection->transport, HTTP_TRANSPORT_FAILED);
    http_tls_link_destroy(connection->transport.link);
    connection->transport.link = NULL;
    http_connection_closed(connection);
}

void http_transport_close(struct http_transport *transport)
{
    if (transport->link != NULL)
        http_tls_link_end(transport);
    http_queue_remove(&http_connection_of_transport(transport)->loop->turn.writers,
                      &transport->waiting);
    uv_close((uv_handle_t *)&transport->tcp, on_closed);
}

/* --- Reading --- */

static void on_room_wanted(uv_handle_t *handle, size_t suggested_size, uv_buf_t *room)
{
    (void)suggested_size;
    size_t size;
    size_t turn = http_connection_turn(handle->data);
    if (turn == 0) { /* libuv then reports UV_ENOBUFS, and asks again in the next turn. */
        *room = uv_buf_init(NULL, 0);
        return;
    }
    uint8_t *data = http_connection_room(handle->data, &size);
    *room = uv_buf_init((char *)data, (unsigned)(size < turn ? size : turn));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
    (void)room;
    struct http_connection *connection = stream->data;
    if (size >= 0) {
        http_connection_arrived(connection, (size_t)size);
        return;
    }
    if (size == UV_ENOBUFS)
        return;                            /* Not its turn. */
    connection->transport.reading = false; /* libuv has stopped. */
    http_connection_ended(connection, size == UV_EOF);
}

bool http_transport_read(struct http_transport *transport)
{
    if (transport->link != NULL)
        return http_tls_link_read(transport);
    if (transport->reading)
        return true;
    transport->reading = true;
    return uv_read_start(stream_of(transport), on_room_wanted, on_read) == 0;
}

void http_transport_stop_reading(struct http_transport *transport)
{
    if (transport->link != NULL) {
        http_tls_link_stop_reading(transport);
        return;
    }
    if (transport->reading)
        uv_read_stop(stream_of(transport));
    transport->reading = false;
}

size_t http_transport_unread(const struct http_transport *transport)
{
    int fd = -1, size = 0;
    bool ok = (transport->link == NULL || http_tls_link_is_listening(transport)) &&
              uv_fileno((const uv_handle_t *)&transport->tcp, &fd) == 0 &&
              ioctl(fd, FIONREAD, &size) == 0;
    return ok && size > 0 ? (size_t)size : 0;
}

/* --- Writing --- */

static enum http_transport_status push(struct http_transport *transport);

/* Tells the connection, unless there is more to write. */
static void end_write(struct http_transport *transport, enum http_transport_status status)
{
    if (status == HTTP_TRANSPORT_LATER) {
        http_connection_waits(http_connection_of_transport(transport));
        return;
    }
    transport->answering = false;
    http_connection_written(http_connection_of_transport(transport), status == HTTP_TRANSPORT_DONE);
}

static void on_written(uv_write_t *write, int error)
{
    struct http_transport *transport = write->data;
    end_write(transport, error == 0 ? push(transport) : HTTP_TRANSPORT_FAILED);
}

static size_t rest_of_answer(const struct http_transport *transport)
{
    return transport->head.len + transport->body.len;
}

/* The first `size` bytes of the answer, as two parts. */
static void cut(const struct http_transport *transport, size_t size, uv_buf_t parts[2])
{
    size_t of_head = size < transport->head.len ? size : transport->head.len;
    parts[0] = part_of(bytes_of(transport->head.data, of_head));
    parts[1] = part_of(bytes_of(transport->body.data, size - of_head));
}

static void take(struct http_transport *transport, size_t size)
{
    size_t of_head = size < transport->head.len ? size : transport->head.len;
    transport->head = bytes_of(transport->head.data + of_head, transport->head.len - of_head);
    size -= of_head;
    if (size > 0)
        transport->body = bytes_of(transport->body.data + size, transport->body.len - size);
}

/* Has libuv write a little as soon as the socket takes it: that shows that there is room. Only a
 * little, because any number of sockets may become writable in one turn. */
static enum http_transport_status wait_for_room(struct http_transport *transport)
{
    uv_buf_t parts[2];
    size_t size = rest_of_answer(transport);
    if (size > HTTP_TURN_WRITE_PROBE_SIZE)
        size = HTTP_TURN_WRITE_PROBE_SIZE;
    cut(transport, size, parts);
    take(transport, size);
    transport->write->data = transport;
    int error = uv_write(transport->write, stream_of(transport), parts, 2, on_written);
    return error == 0 ? HTTP_TRANSPORT_LATER : HTTP_TRANSPORT_FAILED;
}

/* Writes what the turn allows and the socket takes. */
static enum http_transport_status push(struct http_transport *transport)
{
    struct http_loop *loop = http_connection_of_transport(transport)->loop;
    size_t room = http_turn_write_room(&loop->turn, rest_of_answer(transport));
    uv_buf_t parts[2];
    int written = 0;
    if (room > 0) {
        cut(transport, room, parts);
        written = uv_try_write(stream_of(transport), parts, parts[1].len > 0 ? 2 : 1);
        if (written == UV_EAGAIN)
            written = 0;
        if (written < 0)
            return HTTP_TRANSPORT_FAILED;
        http_turn_count_written(&loop->turn, (size_t)written);
        take(transport, (size_t)written);
    }
    if (rest_of_answer(transport) == 0)
        return HTTP_TRANSPORT_DONE;
    if ((size_t)written < room)
        return wait_for_room(transport);
    http_queue_append(&loop->turn.writers, &transport->waiting);
    return HTTP_TRANSPORT_LATER;
}

enum http_transport_status http_transport_write(struct http_transport *transport, uv_write_t *write,
                                                struct bytes head, struct bytes body)
{
    enum http_transport_status status;
    assert(!transport->answering && head.len > 0 && body.len <= UINT32_MAX);
    if (transport->link != NULL) {
        status = http_tls_link_write(transport, head, body);
    } else {
        transport->head = head;
        transport->body = body;
        transport->write = write;
        status = push(transport);
    }
    transport->answering = status == HTTP_TRANSPORT_LATER;
    return status;
}

struct http_transport *http_transport_of_waiting(struct http_waiting *waiting)
{
    return (struct http_transport *)(void *)((char *)waiting -
                                             offsetof(struct http_transport, waiting));
}

void http_transport_go_on(struct http_transport *transport)
{
    assert(transport->answering && !transport->waiting.is_queued);
    if (transport->link != NULL)
        http_tls_link_go_on(transport);
    else
        end_write(transport, push(transport));
}

bool http_transport_is_queued(const struct http_transport *transport)
{
    return transport->waiting.is_queued;
}

bool http_transport_write_now(struct http_transport *transport, struct bytes text)
{
    if (transport->link != NULL)
        return http_tls_link_write_now(transport, text);
    uv_buf_t part = part_of(text);
    int written = uv_try_write(stream_of(transport), &part, 1);
    /* A partial line cannot be undone. */
    return written == UV_EAGAIN || (written >= 0 && (size_t)written == text.len);
}

uint64_t http_transport_unwritten(const struct http_transport *transport)
{
    if (transport->link != NULL)
        return http_tls_link_unwritten(transport);
    return rest_of_answer(transport) +
           uv_stream_get_write_queue_size((const uv_stream_t *)&transport->tcp);
}

bool http_transport_end(struct http_transport *transport)
{
    int fd = -1;
    if (transport->link != NULL)
        http_tls_link_end(transport);
    return uv_fileno((const uv_handle_t *)&transport->tcp, &fd) == 0 && shutdown(fd, SHUT_WR) == 0;
}
