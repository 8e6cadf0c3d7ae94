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
#include <unistd.h>
#include "http/addresses.h"
#include "http/discard.h"
#include "http/exchange.h"
#include "http/loop.h"
#include "http/pool.h"
#include "http/request.h"

static_assert(sizeof(struct http_connection) <= 1024, "ten thousand idle clients cost 10 MB");

#define BIT(name) (1u << HTTP_CONNECTION_##name)
static const unsigned allowed_next[HTTP_CONNECTION_STATE_COUNT] = {
    [HTTP_CONNECTION_OPENING] = BIT(IDLE) | BIT(DRAINING) | BIT(CLOSED),
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
    http_discard_arena(connection->loop, exchange->arena); /* It was in there. */
    http_discard_body(connection->loop, &connection->body);
    if (connection->input != NULL)
        connection->input->start += connection->request_size;
    connection->request_size = 0;
}

static void free_connection(struct http_connection *connection)
{
    assert(connection->state == HTTP_CONNECTION_CLOSED && connection->exchange == NULL);
    struct http_loop *loop = connection->loop;
    http_connection_drop_input(connection);
    http_discard_body(loop, &connection->body);
    if (connection->counted)
        leave_place(loop->shared, connection->address_key);
    else
        loop->refused_count--;
    free(connection);
    http_loop_end_if_done(loop);
}

void http_connection_closed(struct http_connection *connection)
{
    struct http_loop *loop = connection->loop;
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        loop->connections = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    connection->socket_closed = true;
    if (!connection->late)
        loop->early_count--;
    if (connection->exchange == NULL)
        free_connection(connection);
}

void http_connection_close(struct http_connection *connection)
{
    if (connection->state == HTTP_CONNECTION_CLOSED)
        return;
    http_connection_set_state(connection, HTTP_CONNECTION_CLOSED);
    atomic_store_explicit(&connection->gone, true, memory_order_relaxed);
    http_connection_unwatch(connection);
    /* A write under way ends with an error first, and its exchange is dropped then. */
    http_transport_close(&connection->transport);
}

/* Closing at once would reset the connection if anything is unread, and with that take the
 * answer away from a client that is still sending. */
static void begin_to_drain(struct http_connection *connection)
{
    http_connection_drop_input(connection);
    if (connection->at_end || !http_transport_end(&connection->transport)) {
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

void http_connection_written(struct http_connection *connection, bool whole)
{
    if (whole && connection->state == HTTP_CONNECTION_WRITING) {
        finish_answer(connection);
        return;
    }
    drop_request(connection);
    http_connection_close(connection);
}

void http_connection_send(struct http_connection *connection, struct bytes head, struct bytes body,
                          bool closes)
{
    struct http_transport *transport = &connection->transport;
    http_connection_set_state(connection, HTTP_CONNECTION_WRITING);
    connection->closes = closes;
    switch (http_transport_write(transport, &connection->exchange->write, head, body)) {
    case HTTP_TRANSPORT_DONE:
        finish_answer(connection);
        return;
    case HTTP_TRANSPORT_LATER:
        connection->unwritten_size = http_transport_unwritten(transport);
        http_connection_watch(connection, HTTP_DEADLINE_WRITE);
        return;
    case HTTP_TRANSPORT_FAILED:
        drop_request(connection);
        http_connection_close(connection);
        return;
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
    struct bytes text = BYTES("HTTP/1.1 100 Continue\r\n\r\n");
    if (!http_transport_write_now(&connection->transport, text))
        http_connection_close(connection);
}

/* --- Reading --- */

uint8_t *http_connection_room(struct http_connection *connection, size_t *size)
{
    struct http_loop *loop = connection->loop;
    if (connection->state == HTTP_CONNECTION_DRAINING) {
        *size = sizeof loop->drain;
        return loop->drain;
    }
    if (connection->state == HTTP_CONNECTION_BODY && connection->body_apart) {
        struct http_body *body = &connection->body;
        *size = body->capacity - body->len; /* request.c has made room. */
        return body->data + body->len;
    }
    if (connection->input == NULL)
        connection->input = http_pool_take_input(&loop->pool);
    struct http_input *input = connection->input;
    assert(input->end < input->capacity);
    *size = input->capacity - input->end;
    return input->data + input->end;
}

size_t http_connection_turn(struct http_connection *connection)
{
    if (connection->state != HTTP_CONNECTION_BODY && connection->state != HTTP_CONNECTION_DRAINING)
        return SIZE_MAX;
    return http_loop_turn_left(connection->loop, connection);
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

void http_connection_arrived(struct http_connection *connection, size_t size)
{
    if (size > 0)
        count_arrived(connection, size);
    advance(connection);
}

void http_connection_ended(struct http_connection *connection, bool orderly)
{
    enum http_connection_state state = connection->state;
    connection->at_end = true;
    if (!orderly || state == HTTP_CONNECTION_OPENING || state == HTTP_CONNECTION_DRAINING)
        http_connection_close(connection);
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
    if (!has_room)
        http_transport_stop_reading(&connection->transport);
    else if (!http_transport_read(&connection->transport))
        http_connection_close(connection);
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
    connection->late = loop->stopping;
    connection->address_key = http_addresses_key(peer);
    http_addresses_format(peer, connection->peer);
    http_transport_init(&connection->transport, loop);
    connection->next = loop->connections;
    if (connection->next != NULL)
        connection->next->previous = connection;
    loop->connections = connection;
    if (!connection->late)
        loop->early_count++;
    return connection;
}

void http_connection_open(struct http_loop *loop, int fd, const struct sockaddr *peer)
{
    bool counted = take_place(loop->shared, http_addresses_key(peer));
    if (!counted) {
        /* A handshake would cost more than the request that is refused. */
        if (loop->shared->options.tls != NULL ||
            loop->refused_count >= loop->shared->options.refused_max) {
            close(fd);
            return;
        }
        loop->refused_count++;
    }
    struct http_connection *connection = create_connection(loop, peer, counted);
    if (!http_transport_open(&connection->transport, fd)) {
        http_connection_close(connection);
        return;
    }
    if (http_transport_is_secure(&connection->transport))
        http_connection_watch(connection, HTTP_DEADLINE_HEADER);
    else
        http_connection_set_state(connection, HTTP_CONNECTION_IDLE);
    if (counted)
        advance(connection);
    else
        http_request_refuse(connection, 503);
}

void http_connection_opened(struct http_connection *connection)
{
    http_connection_set_state(connection, HTTP_CONNECTION_IDLE);
    advance(connection);
}

void http_connection_failed(struct http_connection *connection)
{
    if (connection->state == HTTP_CONNECTION_OPENING)
        begin_to_drain(connection); /* So that it can read what it was told. */
    else
        http_connection_close(connection);
    advance(connection);
}

struct http_connection *http_connection_of_transport(struct http_transport *transport)
{
    return (struct http_connection *)(void *)((char *)transport -
                                              offsetof(struct http_connection, transport));
}

struct http_connection *http_connection_of_deadline(struct http_deadline *deadline)
{
    return (struct http_connection *)(void *)((char *)deadline -
                                              offsetof(struct http_connection, deadline));
}

/* The client has made progress, but others had their turn: it waits, not we. */
static bool is_kept_waiting(struct http_connection *connection)
{
    const struct http_input *input = connection->input;
    const struct http_parser *parser = &input->parser;
    size_t enough = HTTP_CONNECTION_PROGRESS_SIZE - connection->progress_size;
    if (!parser->chunked) {
        size_t arrived =
            connection->body_apart ? connection->body.len : input->end - input->start - parser->at;
        size_t rest = (size_t)parser->content_length - arrived;
        enough = rest < enough ? rest : enough;
    }
    return http_transport_unread(&connection->transport) >= enough;
}

void http_connection_expire(struct http_connection *connection)
{
    switch (connection->deadline.kind) {
    case HTTP_DEADLINE_HEADER:
        if (connection->state == HTTP_CONNECTION_OPENING)
            break;
        http_request_refuse(connection, 408);
        return;
    case HTTP_DEADLINE_BODY:
        if (is_kept_waiting(connection))
            http_connection_watch(connection, HTTP_DEADLINE_BODY);
        else
            http_request_refuse(connection, 408);
        return;
    case HTTP_DEADLINE_WRITE: {
        uint64_t unwritten_size = http_transport_unwritten(&connection->transport);
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
    if (connection->state != HTTP_CONNECTION_OPENING && connection->state != HTTP_CONNECTION_IDLE)
        return;
    if (connection->served) {
        http_connection_close(connection);
        return;
    }
    connection->late = true; /* Its first request may be on its way. */
    connection->loop->early_count--;
}
