/* connection.c -- the life of a connection: which bytes are read, when, and into what.
 *
 * `advance` is the centre: it takes the connection from state to state as far as what has arrived
 * allows (request.c). A handler that answers at once comes back to that loop instead of recursing,
 * so a thousand pipelined requests need no more stack than one.
 *
 * Input: [start, end) of the buffer. While a request is under way its bytes stay where they are,
 * for the exchange borrows them; later requests pile up behind until the buffer is full, and then
 * reading stops.
 */
#include "http/connection.h"
#include <assert.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "http/addresses.h"
#include "http/exchange.h"
#include "http/loop.h"
#include "http/pool.h"
#include "http/pressure.h"
#include "http/request.h"

static_assert(sizeof(struct http_connection) <= 1024, "ten thousand idle clients cost 10 MB");

#define BIT(name) (1u << HTTP_CONNECTION_##name)
static const unsigned allowed_next[HTTP_CONNECTION_STATE_COUNT] = {
    [HTTP_CONNECTION_IDLE] = BIT(HEAD) | BIT(WRITING) | BIT(CLOSED),
    [HTTP_CONNECTION_HEAD] = BIT(BODY) | BIT(WRITING) | BIT(CLOSED),
    [HTTP_CONNECTION_BODY] = BIT(HANDLING) | BIT(WRITING) | BIT(CLOSED),
    [HTTP_CONNECTION_HANDLING] = BIT(WRITING) | BIT(CLOSED),
    [HTTP_CONNECTION_WRITING] = BIT(IDLE) | BIT(DRAINING) | BIT(CLOSED),
    [HTTP_CONNECTION_DRAINING] = BIT(CLOSED),
    [HTTP_CONNECTION_CLOSED] = 0,
};
#undef BIT

static void advance(struct http_connection *connection);

void http_connection_set_state(struct http_connection *connection, enum http_connection_state state)
{
    assert((allowed_next[connection->state] & 1u << state) != 0);
    connection->state = state;
}

static const struct http_options *options_of(const struct http_connection *connection)
{
    return &connection->loop->shared->options;
}

static uv_stream_t *stream_of(struct http_connection *connection)
{
    return (uv_stream_t *)&connection->tcp;
}

void http_connection_watch(struct http_connection *connection, enum http_deadline_kind kind)
{
    http_loop_set_deadline(connection->loop, &connection->deadline, kind);
}

void http_connection_unwatch(struct http_connection *connection)
{
    http_deadline_clear(&connection->loop->deadlines, &connection->deadline);
}

/* --- Places ---
 *
 * Of the connections there may be, and of those that one address may have. */

static bool take_place(struct http_shared *shared, uint64_t address_key)
{
    if (atomic_fetch_add(&shared->connection_count, 1) < shared->options.connections_max &&
        (shared->addresses == NULL || http_addresses_add(shared->addresses, address_key)))
        return true;
    atomic_fetch_sub(&shared->connection_count, 1);
    return false;
}

static void leave_place(struct http_shared *shared, uint64_t address_key)
{
    if (shared->addresses != NULL)
        http_addresses_remove(shared->addresses, address_key);
    atomic_fetch_sub(&shared->connection_count, 1);
}

/* --- Letting go --- */

void http_connection_drop_input(struct http_connection *connection)
{
    if (connection->input != NULL)
        http_pool_give_input(&connection->loop->pool, connection->input);
    connection->input = NULL;
}

/* The request under way is over: forgets its bytes, its body and its exchange. */
static void drop_request(struct http_connection *connection)
{
    struct http_exchange *exchange = connection->exchange;
    connection->exchange = NULL;
    http_pool_give_arena(&connection->loop->pool, exchange->arena); /* It was in there. */
    http_body_deinit(&connection->body, &connection->loop->shared->memory);
    if (connection->input != NULL)
        connection->input->start += connection->request_size;
    connection->request_size = 0;
}

static void free_connection(struct http_connection *connection)
{
    assert(connection->state == HTTP_CONNECTION_CLOSED && connection->exchange == NULL);
    struct http_loop *loop = connection->loop;
    http_connection_drop_input(connection);
    http_body_deinit(&connection->body, &loop->shared->memory);
    if (connection->counted)
        leave_place(loop->shared, connection->address_key);
    else
        loop->refused_count--;
    free(connection);
    http_loop_end_if_done(loop);
}

static void on_closed(uv_handle_t *handle)
{
    struct http_connection *connection = handle->data;
    struct http_loop *loop = connection->loop;
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        loop->connections = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    connection->socket_closed = true;
    if (connection->exchange == NULL)
        free_connection(connection);
}

void http_connection_close(struct http_connection *connection)
{
    if (connection->state == HTTP_CONNECTION_CLOSED)
        return;
    http_connection_set_state(connection, HTTP_CONNECTION_CLOSED);
    http_connection_unwatch(connection);
    /* A write under way ends with an error first, and on_written drops its exchange. */
    uv_close((uv_handle_t *)&connection->tcp, on_closed);
}

/* Closing at once would reset the connection if anything is unread, and with that take the
 * answer away from a client that is still sending. */
static void begin_to_drain(struct http_connection *connection)
{
    int fd = -1;
    http_connection_drop_input(connection);
    if (connection->at_end || uv_fileno((uv_handle_t *)&connection->tcp, &fd) != 0 ||
        shutdown(fd, SHUT_WR) != 0) {
        http_connection_close(connection);
        return;
    }
    http_connection_set_state(connection, HTTP_CONNECTION_DRAINING);
    http_connection_watch(connection, HTTP_DEADLINE_DRAIN);
}

/* --- Writing --- */

static void finish_answer(struct http_connection *connection)
{
    drop_request(connection);
    http_connection_unwatch(connection);
    if (connection->closes)
        begin_to_drain(connection);
    else
        http_connection_set_state(connection, HTTP_CONNECTION_IDLE);
    advance(connection);
}

static void on_written(uv_write_t *write, int status)
{
    struct http_connection *connection = write->data;
    if (status == 0 && connection->state == HTTP_CONNECTION_WRITING) {
        finish_answer(connection);
        return;
    }
    drop_request(connection);
    http_connection_close(connection);
}

/* What the socket did not take: `written` bytes of the parts are gone. */
static void write_rest(struct http_connection *connection, uv_buf_t parts[2], size_t written)
{
    uv_write_t *write = &connection->exchange->write;
    write->data = connection;
    for (int i = 0; i < 2; i++) {
        size_t gone = written < parts[i].len ? written : parts[i].len;
        parts[i] = uv_buf_init(parts[i].base + gone, (unsigned)(parts[i].len - gone));
        written -= gone;
    }
    if (uv_write(write, stream_of(connection), parts, 2, on_written) != 0) {
        drop_request(connection);
        http_connection_close(connection);
        return;
    }
    connection->unwritten_size = uv_stream_get_write_queue_size(stream_of(connection));
    http_connection_watch(connection, HTTP_DEADLINE_WRITE);
}

static uv_buf_t part_of(struct bytes bytes)
{
    return uv_buf_init((char *)(uintptr_t)bytes.data, (unsigned)bytes.len); /* Not written to. */
}

void http_connection_send(struct http_connection *connection, struct bytes head, struct bytes body,
                          bool closes)
{
    assert(head.len <= UINT32_MAX && body.len <= UINT32_MAX);
    http_connection_set_state(connection, HTTP_CONNECTION_WRITING);
    connection->closes = closes;
    uv_buf_t parts[2] = { part_of(head), part_of(body) };
    int written = uv_try_write(stream_of(connection), parts, body.len > 0 ? 2 : 1);
    if (written == UV_EAGAIN)
        written = 0;
    if (written < 0) {
        drop_request(connection);
        http_connection_close(connection);
    } else if ((size_t)written == head.len + body.len) {
        finish_answer(connection);
    } else {
        write_rest(connection, parts, (size_t)written);
    }
}

bool http_connection_take_back(struct http_connection *connection, struct http_exchange *exchange)
{
    struct http_loop *loop = connection->loop;
    assert(connection->exchange == exchange); /* Answered once only. */
    assert(loop->owed_count > 0);
    loop->owed_count--;
    if (connection->state == HTTP_CONNECTION_HANDLING)
        return true;
    assert(connection->state == HTTP_CONNECTION_CLOSED);
    drop_request(connection);
    if (connection->socket_closed)
        free_connection(connection);
    return false;
}

void http_connection_send_continue(struct http_connection *connection)
{
    uv_buf_t text = part_of(BYTES("HTTP/1.1 100 Continue\r\n\r\n"));
    int written = uv_try_write(stream_of(connection), &text, 1);
    if (written != (int)text.len && written != UV_EAGAIN)
        http_connection_close(connection); /* Gone; or half a line, which cannot be taken back. */
}

/* --- Reading --- */

/* Behind what has arrived of a body, but no more than `turn_left`. None if memory is short. */
static uv_buf_t room_in_body(struct http_connection *connection, size_t turn_left)
{
    struct http_loop *loop = connection->loop;
    struct http_body *body = &connection->body;
    size_t length = (size_t)connection->input->parser.content_length;
    if (!http_body_reserve(body, &loop->shared->memory, length)) {
        http_connection_watch(connection, HTTP_DEADLINE_BODY); /* It is not one of the stalled. */
        connection->starved = !http_pressure_makes_room_for_body(loop, http_body_next_size(body));
        return uv_buf_init(NULL, 0);
    }
    size_t size = body->capacity - body->len;
    return uv_buf_init((char *)body->data + body->len,
                       (unsigned)(size < turn_left ? size : turn_left));
}

static uv_buf_t room_in_input(struct http_connection *connection)
{
    if (connection->input == NULL)
        connection->input = http_pool_take_input(&connection->loop->pool);
    struct http_input *input = connection->input;
    assert(input->end < input->capacity);
    return uv_buf_init((char *)input->data + input->end, (unsigned)(input->capacity - input->end));
}

/* No room makes libuv call on_read with UV_ENOBUFS, and ask again in the next turn. */
static void on_room_wanted(uv_handle_t *handle, size_t suggested_size, uv_buf_t *room)
{
    static_assert(HTTP_TURN_CONNECTION_SIZE <= HTTP_DRAIN_READ_SIZE, "what a turn reads fits");
    (void)suggested_size;
    struct http_connection *connection = handle->data;
    struct http_loop *loop = connection->loop;
    bool is_draining = connection->state == HTTP_CONNECTION_DRAINING;
    bool is_body = connection->state == HTTP_CONNECTION_BODY;
    size_t turn_left = SIZE_MAX;
    if (is_draining || is_body)
        turn_left = http_loop_turn_left(loop, connection);
    if (turn_left == 0)
        *room = uv_buf_init(NULL, 0);
    else if (is_draining)
        *room = uv_buf_init((char *)loop->drain, (unsigned)turn_left);
    else if (is_body && connection->body_apart)
        *room = room_in_body(connection, turn_left);
    else
        *room = room_in_input(connection);
}

/* Where memory is short the request ends here; else the next turn comes. */
static void on_no_room(struct http_connection *connection)
{
    if (!connection->starved)
        return;
    connection->starved = false;
    http_request_refuse(connection, 503);
    advance(connection);
}

/* A few bytes now and then are no progress: else 16 MB could be held for good by one byte at a
 * time. */
static void count_progress(struct http_connection *connection, size_t size)
{
    connection->progress_size += size;
    if (connection->progress_size < HTTP_CONNECTION_PROGRESS_SIZE)
        return;
    connection->progress_size = 0;
    http_connection_watch(connection, HTTP_DEADLINE_BODY);
}

static void count_arrived(struct http_connection *connection, size_t size)
{
    if (connection->state == HTTP_CONNECTION_DRAINING) {
        http_loop_turn_count(connection->loop, size);
        connection->drained_size += size;
        if (connection->drained_size > 2 * (uint64_t)options_of(connection)->body_size_max)
            http_connection_close(connection);
        return;
    }
    bool is_body = connection->state == HTTP_CONNECTION_BODY;
    if (is_body) {
        http_loop_turn_count(connection->loop, size);
        count_progress(connection, size);
    }
    if (is_body && connection->body_apart)
        connection->body.len += size;
    else
        connection->input->end += size;
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
    (void)room;
    struct http_connection *connection = stream->data;
    if (size == UV_ENOBUFS) {
        on_no_room(connection);
        return;
    }
    if (size > 0) {
        count_arrived(connection, (size_t)size);
    } else if (size == UV_EOF) {
        connection->at_end = true;
        connection->reading = false;
        if (connection->state == HTTP_CONNECTION_DRAINING)
            http_connection_close(connection);
    } else if (size < 0) {
        http_connection_close(connection);
    }
    advance(connection);
}

/* Reads as long as there is somewhere to read to. Left alone in the usual case: each change would
 * cost a system call. */
static void update_reading(struct http_connection *connection)
{
    if (connection->state == HTTP_CONNECTION_CLOSED || connection->at_end)
        return;
    const struct http_input *input = connection->input;
    bool is_body_apart = connection->state == HTTP_CONNECTION_BODY && connection->body_apart;
    bool has_room = input == NULL || input->end < input->capacity || is_body_apart;
    if (has_room && !connection->reading) {
        connection->reading = true;
        if (uv_read_start(stream_of(connection), on_room_wanted, on_read) != 0)
            http_connection_close(connection);
    } else if (!has_room && connection->reading) {
        connection->reading = false;
        uv_read_stop(stream_of(connection));
    }
}

static void advance(struct http_connection *connection)
{
    if (connection->advancing)
        return; /* The caller further up goes on. */
    connection->advancing = true;
    while (http_request_advance(connection))
        continue;
    connection->advancing = false;
    update_reading(connection);
}

/* --- Beginning, time-outs, stopping --- */

static struct http_connection *create_connection(struct http_loop *loop,
                                                 const struct sockaddr *peer, bool counted)
{
    struct http_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        abort();
    connection->loop = loop;
    connection->counted = counted;
    connection->address_key = http_addresses_key(peer);
    if (uv_ip_name(peer, connection->peer, sizeof connection->peer) != 0)
        connection->peer[0] = '\0';
    uv_tcp_init(&loop->uv, &connection->tcp); /* Cannot fail without an address family. */
    connection->tcp.data = connection;
    connection->next = loop->connections;
    if (connection->next != NULL)
        connection->next->previous = connection;
    loop->connections = connection;
    return connection;
}

void http_connection_open(struct http_loop *loop, int fd, const struct sockaddr *peer)
{
    bool counted = take_place(loop->shared, http_addresses_key(peer));
    if (!counted) {
        if (loop->refused_count == HTTP_CONNECTION_REFUSED_MAX) {
            close(fd);
            return;
        }
        loop->refused_count++;
    }
    struct http_connection *connection = create_connection(loop, peer, counted);
    if (uv_tcp_open(&connection->tcp, fd) != 0) {
        close(fd);
        http_connection_close(connection);
        return;
    }
    uv_tcp_nodelay(&connection->tcp, 1); /* If it fails, answers are slower, not wrong. */
    if (counted)
        advance(connection);
    else
        http_request_refuse(connection, 503);
}

struct http_connection *http_connection_of_deadline(struct http_deadline *deadline)
{
    return (struct http_connection *)(void *)((char *)deadline -
                                              offsetof(struct http_connection, deadline));
}

void http_connection_expire(struct http_connection *connection)
{
    switch (connection->deadline.kind) {
    case HTTP_DEADLINE_HEADER:
    case HTTP_DEADLINE_BODY:
        http_request_refuse(connection, 408);
        return;
    case HTTP_DEADLINE_WRITE: {
        size_t unwritten_size = uv_stream_get_write_queue_size(stream_of(connection));
        if (unwritten_size == connection->unwritten_size)
            break;
        connection->unwritten_size = unwritten_size;
        http_connection_watch(connection, HTTP_DEADLINE_WRITE);
        return;
    }
    default:
        break;
    }
    http_connection_close(connection);
}

void http_connection_stop(struct http_connection *connection)
{
    if (connection->state == HTTP_CONNECTION_IDLE)
        http_connection_close(connection);
}
