/* tls_link.c -- see tls_link.h.
 *
 * `pump` passes input to the connection; `push` sends the current answer. Both stop when the socket
 * takes no more, and resume in on_sent.
 */
#include "http/tls_link.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/memory.h"
#include "base/memory_budget.h"
#include "http/connection.h"
#include "http/loop.h"

/* For clients that speak plain HTTP. */
#define PLAIN_TEXT "This port speaks HTTPS; the address must start with https://\n"
#define PLAIN_ANSWER                                                                               \
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 61\r\n"               \
    "Connection: close\r\n\r\n" PLAIN_TEXT
static_assert(sizeof PLAIN_TEXT - 1 == 61, "as PLAIN_ANSWER says");

struct http_tls_link {
    struct tls_session *session;
    struct bytes head, body; /* The part of the answer not yet encrypted. */
    struct memory_budget *budget;
    uint8_t *unsent; /* Being written, because the socket did not take it; NULL: nothing. */
    size_t unsent_size;
    uv_write_t write; /* Of that. */
    uint8_t *kept;    /* Input not yet decrypted. */
    size_t kept_size;
    bool backlog;     /* There is more to decrypt, in `kept` or in the session. */
    bool listening;   /* libuv reads. */
    bool established; /* The handshake has ended. */
    bool pumping;     /* pump's guard against recursion. */
    bool ended;
};

struct http_tls_link *http_tls_link_create(struct tls_context *context,
                                           struct memory_budget *budget)
{
    struct http_tls_link *link = memory_checked(calloc(1, sizeof *link));
    link->session = tls_session_create(context);
    link->budget = budget;
    return link;
}

static void drop_unsent(struct http_tls_link *link)
{
    memory_budget_give(link->budget, link->unsent_size);
    free(link->unsent);
    link->unsent = NULL;
    link->unsent_size = 0;
}

static void drop_kept(struct http_tls_link *link)
{
    memory_budget_give(link->budget, link->kept_size);
    free(link->kept);
    link->kept = NULL;
    link->kept_size = 0;
}

void http_tls_link_destroy(struct http_tls_link *link)
{
    if (link == NULL)
        return;
    tls_session_destroy(link->session);
    drop_unsent(link);
    drop_kept(link);
    free(link);
}

static uv_stream_t *stream_of(struct http_transport *transport)
{
    return (uv_stream_t *)&transport->tcp;
}

static struct http_tls_buffers *buffers_of(struct http_transport *transport)
{
    return &http_connection_of_transport(transport)->loop->tls_buffers;
}

static struct tls_wire wire_for(struct http_transport *transport, struct bytes in)
{
    return (struct tls_wire){ .in = in,
                              .out = buffers_of(transport)->out,
                              .out_capacity = HTTP_TLS_OUT_SIZE };
}

static bool is_closing(const struct http_transport *transport)
{
    return uv_is_closing((const uv_handle_t *)&transport->tcp);
}

/* Stuck bytes count as memory of requests. */
static uint8_t *keep(struct http_tls_link *link, const uint8_t *data, size_t size)
{
    memory_budget_take(link->budget, size);
    return memcpy(memory_checked(malloc(size)), data, size);
}

/* --- Writing --- */

/* Returns how much the socket takes at once; negative if it is broken. */
static ssize_t try_write(struct http_transport *transport, const void *data, size_t size)
{
    uv_buf_t part = uv_buf_init((char *)(uintptr_t)data, (unsigned)size); /* Not written to. */
    int written = uv_try_write(stream_of(transport), &part, 1);
    return written == UV_EAGAIN ? 0 : written;
}

static void on_sent(uv_write_t *write, int status);

/* Sends what the session has left on the wire. False if the socket is broken. */
static bool flush(struct http_transport *transport, struct tls_wire *wire)
{
    struct http_tls_link *link = transport->link;
    if (wire->out_len == 0)
        return true;
    assert(link->unsent == NULL);
    ssize_t written = try_write(transport, wire->out, wire->out_len);
    if (written < 0)
        return false;
    size_t rest = wire->out_len - (size_t)written;
    wire->out_len = 0;
    if (rest == 0)
        return true;
    link->unsent = keep(link, wire->out + written, rest);
    link->unsent_size = rest;
    link->write.data = transport;
    uv_buf_t part = uv_buf_init((char *)link->unsent, (unsigned)rest);
    return uv_write(&link->write, stream_of(transport), &part, 1, on_sent) == 0;
}

/* The next part of the answer, up to a record. A small answer is one record. */
static struct bytes next_record(struct http_transport *transport)
{
    const struct http_tls_link *link = transport->link;
    uint8_t *record = buffers_of(transport)->record;
    struct bytes head = link->head, body = link->body;
    if (head.len == 0)
        return bytes_of(body.data,
                        body.len < TLS_SESSION_PLAIN_MAX ? body.len : TLS_SESSION_PLAIN_MAX);
    if (head.len >= TLS_SESSION_PLAIN_MAX)
        return bytes_of(head.data, TLS_SESSION_PLAIN_MAX);
    size_t room = TLS_SESSION_PLAIN_MAX - head.len;
    size_t added = body.len < room ? body.len : room;
    if (added == 0)
        return head;
    memcpy(record, head.data, head.len);
    memcpy(record + head.len, body.data, added);
    return bytes_of(record, head.len + added);
}

static struct bytes behind(struct bytes bytes, size_t size)
{
    return bytes_of(bytes.data + size, bytes.len - size);
}

static void take_record(struct http_tls_link *link, size_t size)
{
    size_t of_head = size < link->head.len ? size : link->head.len;
    link->head = behind(link->head, of_head);
    link->body = behind(link->body, size - of_head);
}

static size_t rest_of_answer(const struct http_tls_link *link)
{
    return link->head.len + link->body.len;
}

/* Encrypts and sends the answer as far as the turn allows and the socket takes it. */
static enum http_transport_status push(struct http_transport *transport)
{
    struct http_tls_link *link = transport->link;
    struct http_loop *loop = http_connection_of_transport(transport)->loop;
    size_t rest = rest_of_answer(link);
    size_t room = http_turn_write_room(&loop->turn, rest);
    while (rest_of_answer(link) > 0 && link->unsent == NULL) {
        if (rest - rest_of_answer(link) >= room) {
            http_queue_append(&loop->turn.writers, &transport->waiting);
            break;
        }
        struct tls_wire wire = wire_for(transport, BYTES(""));
        enum tls_status status = TLS_OK;
        while (status == TLS_OK && rest_of_answer(link) > 0 &&
               wire.out_capacity - wire.out_len >= TLS_SESSION_RECORD_MAX) {
            struct bytes record = next_record(transport);
            status = tls_session_write(link->session, &wire, record);
            if (status == TLS_OK)
                take_record(link, record.len);
        }
        if (!flush(transport, &wire) || (status != TLS_OK && status != TLS_FULL))
            return HTTP_TRANSPORT_FAILED;
    }
    http_turn_count_written(&loop->turn, rest - rest_of_answer(link));
    return link->unsent == NULL && !transport->waiting.is_queued ? HTTP_TRANSPORT_DONE
                                                                 : HTTP_TRANSPORT_LATER;
}

enum http_transport_status http_tls_link_write(struct http_transport *transport, struct bytes head,
                                               struct bytes body)
{
    struct http_tls_link *link = transport->link;
    assert(link->established && !link->ended);
    link->head = head;
    link->body = body;
    return push(transport);
}

bool http_tls_link_write_now(struct http_transport *transport, struct bytes text)
{
    struct http_tls_link *link = transport->link;
    assert(link->established && !transport->answering);
    if (link->unsent != NULL)
        return true;
    struct tls_wire wire = wire_for(transport, BYTES(""));
    return tls_session_write(link->session, &wire, text) == TLS_OK && flush(transport, &wire);
}

uint64_t http_tls_link_unwritten(const struct http_transport *transport)
{
    /* Records are larger on the wire, so a plain sum of the two could stay the same by chance. */
    uint64_t queued = uv_stream_get_write_queue_size((const uv_stream_t *)&transport->tcp);
    return rest_of_answer(transport->link) * (uint64_t)(HTTP_TLS_OUT_SIZE + 1) + queued;
}

/* --- Reading --- */

static bool can_read(const struct http_transport *transport)
{
    const struct http_tls_link *link = transport->link;
    return transport->reading && link->unsent == NULL && !link->ended && !is_closing(transport);
}

static void fail(struct http_transport *transport, enum tls_status status)
{
    struct http_connection *connection = http_connection_of_transport(transport);
    struct http_tls_link *link = transport->link;
    log_write(LOG_DEBUG, "tls", "connection from %s: %s", connection->peer,
              tls_session_problem(link->session));
    transport->reading = false;
    if (status == TLS_PLAIN_HTTP && link->unsent == NULL &&
        try_write(transport, PLAIN_ANSWER, sizeof PLAIN_ANSWER - 1) < 0)
        http_connection_ended(connection, false);
    else
        http_connection_failed(connection);
}

/* One call of the session; passes its result on to the connection. */
static enum tls_status step(struct http_transport *transport, struct tls_wire *wire)
{
    struct http_connection *connection = http_connection_of_transport(transport);
    struct http_tls_link *link = transport->link;
    enum tls_status status;
    size_t room_size, size = 0;
    if (link->established) {
        uint8_t *room = http_connection_room(connection, &room_size);
        status = tls_session_read(link->session, wire, room, room_size, &size);
    } else {
        status = tls_session_handshake(link->session, wire);
    }
    if (!flush(transport, wire)) {
        transport->reading = false;
        http_connection_ended(connection, false);
        return TLS_FAILED;
    }
    if (link->established) {
        http_connection_arrived(connection, size); /* Even if none: it may release its buffer. */
    } else if (status == TLS_OK) {
        link->established = true;
        http_connection_opened(connection);
    }
    if (status == TLS_ENDED) {
        transport->reading = false;
        http_connection_ended(connection, true);
    } else if (status == TLS_FAILED || status == TLS_PLAIN_HTTP) {
        fail(transport, status);
    }
    return status;
}

/* Decrypts `in` while the connection reads, and keeps the rest. */
static void pump(struct http_transport *transport, struct bytes in)
{
    struct http_tls_link *link = transport->link;
    struct tls_wire wire = wire_for(transport, in);
    enum tls_status status = TLS_OK;
    assert(!link->pumping && link->kept == NULL);
    link->pumping = true;
    while (can_read(transport) && (status == TLS_OK || status == TLS_FULL))
        status = step(transport, &wire);
    link->pumping = false;
    if (link->ended)
        return;
    link->backlog = status == TLS_OK || status == TLS_FULL;
    if (link->backlog && wire.in.len > 0) {
        link->kept = keep(link, wire.in.data, wire.in.len);
        link->kept_size = wire.in.len;
    }
}

static bool listen_to_socket(struct http_transport *transport);

/* Resumes with the backlog, then with the socket. False if the socket is broken. */
static bool resume(struct http_transport *transport)
{
    struct http_tls_link *link = transport->link;
    if (link->backlog && can_read(transport)) {
        uint8_t *kept = link->kept;
        struct bytes in = kept != NULL ? bytes_of(kept, link->kept_size) : BYTES("");
        memory_budget_give(link->budget, link->kept_size); /* `pump` counts what is left of it. */
        link->kept = NULL;
        link->kept_size = 0;
        pump(transport, in);
        free(kept);
    }
    return listen_to_socket(transport);
}

static void on_room_wanted(uv_handle_t *handle, size_t suggested_size, uv_buf_t *room)
{
    (void)suggested_size;
    struct http_connection *connection = handle->data;
    uint8_t *in = buffers_of(&connection->transport)->in;
    size_t turn = http_connection_turn(connection);
    *room = uv_buf_init((char *)in, (unsigned)(turn < HTTP_TLS_IN_SIZE ? turn : HTTP_TLS_IN_SIZE));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
    struct http_connection *connection = stream->data;
    struct http_transport *transport = &connection->transport;
    if (size == UV_ENOBUFS)
        return; /* Not its turn: see http_connection_turn. */
    if (size < 0) {
        transport->link->listening = false; /* libuv has stopped. */
        transport->reading = false;
        http_connection_ended(connection, size == UV_EOF);
    } else if (transport->link->ended) {
        http_connection_arrived(connection, (size_t)size);
    } else if (size > 0) {
        pump(transport, bytes_of(room->base, (size_t)size));
        if (!listen_to_socket(transport))
            http_connection_ended(connection, false);
    }
}

static bool listen_to_socket(struct http_transport *transport)
{
    struct http_tls_link *link = transport->link;
    if (is_closing(transport))
        return true;
    bool wanted = transport->reading && !link->backlog && link->unsent == NULL;
    if (wanted == link->listening)
        return true;
    link->listening = wanted;
    if (wanted)
        return uv_read_start(stream_of(transport), on_room_wanted, on_read) == 0;
    uv_read_stop(stream_of(transport));
    return true;
}

bool http_tls_link_read(struct http_transport *transport)
{
    transport->reading = true;
    return transport->link->pumping || resume(transport);
}

void http_tls_link_stop_reading(struct http_transport *transport)
{
    transport->reading = false;
    if (!transport->link->pumping && !listen_to_socket(transport))
        http_connection_ended(http_connection_of_transport(transport), false);
}

bool http_tls_link_is_listening(const struct http_transport *transport)
{
    return transport->link->listening;
}

/* Continues with the answer if there is one, and then with the input. */
static void go_on(struct http_transport *transport, int error)
{
    struct http_connection *connection = http_connection_of_transport(transport);
    /* Input may have led here. */
    http_queue_remove(&connection->loop->turn.writers, &transport->waiting);
    if (transport->answering) {
        enum http_transport_status status = error == 0 ? push(transport) : HTTP_TRANSPORT_FAILED;
        if (status == HTTP_TRANSPORT_LATER) {
            http_connection_waits(connection);
            return;
        }
        transport->answering = false;
        http_connection_written(connection, status == HTTP_TRANSPORT_DONE);
    } else if (error != 0) {
        http_connection_ended(connection, false);
    }
    if (!resume(transport))
        http_connection_ended(connection, false);
}

/* The socket has taken the stuck output, or is broken or closed. */
static void on_sent(uv_write_t *write, int error)
{
    struct http_transport *transport = write->data;
    drop_unsent(transport->link);
    go_on(transport, error);
}

void http_tls_link_go_on(struct http_transport *transport)
{
    go_on(transport, 0);
}

void http_tls_link_end(struct http_transport *transport)
{
    struct http_tls_link *link = transport->link;
    if (link->ended)
        return;
    link->ended = true;
    link->backlog = false;
    drop_kept(link);
    if (link->unsent != NULL)
        return;
    struct tls_wire wire = wire_for(transport, BYTES(""));
    tls_session_end(link->session, &wire);
    if (wire.out_len > 0)
        (void)try_write(transport, wire.out, wire.out_len); /* The socket is closed next anyway. */
}
