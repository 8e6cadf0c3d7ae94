/* connection.c -- the life of a connection: what is read when, and how it becomes requests.
 *
 * `advance` is the centre: it takes the connection from state to state as far as the bytes received
 * allow. A handler that answers at once returns to that loop instead of recursing, so a thousand
 * pipelined requests need no more stack than one.
 *
 * The input is [start, end) of its buffer. The bytes of the current request do not move, because
 * the exchange borrows them. Later requests follow them until the buffer is full; then reading
 * stops.
 */
#include "http/connection.h"
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/memory_budget.h"
#include "http/addresses.h"
#include "http/exchange.h"
#include "http/loop.h"
#include "http/request_memory.h"

static_assert(sizeof(struct http_connection) <= 1024, "ten thousand idle clients take 10 MB");

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

/* Aborts on a move that the table does not allow. */
static void set_state(struct http_connection *connection, enum http_connection_state state)
{
    assert((allowed_next[connection->state] & 1u << state) != 0);
    connection->state = state;
}

static const struct http_options *options_of(const struct http_connection *connection)
{
    return &connection->loop->shared->options;
}

/* A connection has one deadline. */
static void set_deadline(struct http_connection *connection, enum http_deadline_kind kind)
{
    http_loop_set_deadline(connection->loop, &connection->deadline, kind);
}

static void clear_deadline(struct http_connection *connection)
{
    http_deadline_clear(&connection->loop->deadlines, &connection->deadline);
}

/* --- The bounds on connections, in all and per address --- */

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

/* --- Closing --- */

static void drop_input(struct http_connection *connection)
{
    if (connection->input != NULL)
        http_pool_give_input(&connection->loop->pool, connection->input);
    connection->input = NULL;
}

/* Releases the bytes, the body and the exchange of the current request. */
static void drop_request(struct http_connection *connection)
{
    struct http_exchange *exchange = connection->exchange;
    connection->exchange = NULL;
    http_discard_arena(connection->loop, exchange->arena); /* The exchange is in it. */
    http_discard_body(connection->loop, &connection->body);
    if (connection->input != NULL)
        connection->input->start += connection->request_size;
    connection->request_size = 0;
}

static void free_connection(struct http_connection *connection)
{
    assert(connection->state == HTTP_CONNECTION_CLOSED && connection->exchange == NULL);
    struct http_loop *loop = connection->loop;
    drop_input(connection);
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
    set_state(connection, HTTP_CONNECTION_CLOSED);
    atomic_store_explicit(&connection->gone, true, memory_order_relaxed);
    clear_deadline(connection);
    http_queue_remove(&connection->loop->turn.closers, &connection->waiting);
    /* An unfinished write fails before the socket closes, and drops its exchange. */
    http_transport_close(&connection->transport);
}

/* The client has closed the connection. A thousand may do so at once, and nobody waits for us to
 * notice, so this takes its turn. Not while the handler or the transport has something to do for
 * the connection: its events would find it closing. */
static void close_in_turn(struct http_connection *connection)
{
    assert(connection->at_end);
    if (connection->exchange != NULL || connection->loop->stopping)
        http_connection_close(connection);
    else if (connection->state != HTTP_CONNECTION_CLOSED && !connection->waiting.is_queued)
        http_queue_append(&connection->loop->turn.closers, &connection->waiting);
}

/* Closing at once would reset the connection if input is unread, and a client that is still sending
 * would lose the answer. */
static void begin_to_drain(struct http_connection *connection)
{
    drop_input(connection);
    if (connection->at_end || !http_transport_end(&connection->transport)) {
        http_connection_close(connection);
        return;
    }
    set_state(connection, HTTP_CONNECTION_DRAINING);
    set_deadline(connection, HTTP_DEADLINE_DRAIN);
}

/* --- Writing --- */

static void finish_answer(struct http_connection *connection)
{
    drop_request(connection);
    clear_deadline(connection);
    if (connection->closes)
        begin_to_drain(connection);
    else
        set_state(connection, HTTP_CONNECTION_IDLE);
    advance(connection);
}

void http_connection_abandon(struct http_connection *connection)
{
    drop_request(connection);
    http_connection_close(connection);
}

void http_connection_written(struct http_connection *connection, bool whole)
{
    if (whole && connection->state == HTTP_CONNECTION_WRITING) {
        finish_answer(connection);
        return;
    }
    http_connection_abandon(connection);
}

/* From here on the client makes progress, or the deadline expires. */
void http_connection_waits(struct http_connection *connection)
{
    if (connection->state != HTTP_CONNECTION_WRITING)
        return;
    connection->unwritten_size = http_transport_unwritten(&connection->transport);
    set_deadline(connection, HTTP_DEADLINE_WRITE);
}

void http_connection_send(struct http_connection *connection, struct bytes head, struct bytes body,
                          bool closes)
{
    struct http_transport *transport = &connection->transport;
    set_state(connection, HTTP_CONNECTION_WRITING);
    connection->closes = closes;
    switch (http_transport_write(transport, &connection->exchange->write, head, body)) {
    case HTTP_TRANSPORT_DONE:
        finish_answer(connection);
        return;
    case HTTP_TRANSPORT_LATER:
        http_connection_waits(connection);
        return;
    case HTTP_TRANSPORT_FAILED:
        http_connection_abandon(connection);
        return;
    }
}

bool http_connection_take_back(struct http_connection *connection, struct http_exchange *exchange)
{
    struct http_loop *loop = connection->loop;
    assert(connection->exchange == exchange); /* Each request is answered once. */
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

/* Best effort: a client whose socket is full waits a moment, then sends anyway. */
static void send_continue(struct http_connection *connection)
{
    struct bytes text = BYTES("HTTP/1.1 100 Continue\r\n\r\n");
    if (!http_transport_write_now(&connection->transport, text))
        http_connection_close(connection);
}

/* --- Requests: from bytes to a request, or a refusal ---
 *
 * Bodies that fit stay in the input after their head. Larger ones, and chunked ones, go to the
 * connection's `body`. */

/* Answers bytes that never became a request, and closes. Not during a request. */
static void refuse(struct http_connection *connection, int status)
{
    assert(connection->exchange == NULL);
    struct http_loop *loop = connection->loop;
    const struct http_handler *handler = &loop->shared->handler;
    clear_deadline(connection);
    bool is_head = false;
    if (connection->input != NULL && connection->state != HTTP_CONNECTION_IDLE) {
        const struct http_input *input = connection->input;
        is_head = bytes_equal(http_span_bytes(input->parser.method, input->data + input->start),
                              BYTES("HEAD"));
    }
    struct arena *arena = http_pool_take_arena(&loop->pool);
    connection->exchange = http_exchange_create_refusal(arena, connection, is_head);
    struct http_answer answer = { .status = status, .body = BYTES(""), .close = true };
    if (handler->refusal != NULL)
        handler->refusal(loop->context, arena, &answer);
    answer.close = true;
    http_exchange_send(connection->exchange, &answer);
}

/* True if the request may start now. */
static bool is_admitted(struct http_connection *connection, const uint8_t *head)
{
    struct http_loop *loop = connection->loop;
    const struct http_handler *handler = &loop->shared->handler;
    const struct http_parser *parser = &connection->input->parser;
    bool has_room = memory_budget_used(&loop->shared->memory) <= loop->shared->options.memory_max;
    if (LIKELY(has_room && !connection->late))
        return true;
    if (handler->is_vital != NULL &&
        handler->is_vital(handler->context, http_span_bytes(parser->method, head),
                          http_span_bytes(parser->target, head)))
        return true;
    return !connection->late && http_pressure_makes_room(loop);
}

static void hand_over(struct http_connection *connection)
{
    struct http_loop *loop = connection->loop;
    struct http_input *input = connection->input;
    assert(input != NULL);
    const uint8_t *head = input->data + input->start;
    struct bytes body = bytes_of(head + input->parser.at, (size_t)input->parser.content_length);
    if (connection->body_apart || input->parser.chunked)
        body = bytes_of(connection->body.data, connection->body.len);
    if (body.len == 0)
        body = BYTES("");
    clear_deadline(connection);
    if (!is_admitted(connection, head)) {
        refuse(connection, 503);
        return;
    }
    set_state(connection, HTTP_CONNECTION_HANDLING);
    connection->served = true;
    connection->exchange = http_exchange_create(http_pool_take_arena(&loop->pool), connection,
                                                &input->parser, head, body);
    loop->owed_count++;
    loop->request_count++;
    loop->shared->handler.request(loop->shared->handler.context, loop->context,
                                  connection->exchange);
}

/* The request is incomplete. False, to end `advance`. */
static bool wait_for_more(struct http_connection *connection)
{
    if (connection->at_end)
        close_in_turn(connection);
    return false;
}

/* Makes room for `more` bytes in `body`. False if memory is short: the request has been refused. */
static bool reserve_in_body(struct http_connection *connection, size_t more, size_t len_max)
{
    struct http_loop *loop = connection->loop;
    struct memory_budget *budget = &loop->shared->memory;
    size_t growth = http_body_growth(&connection->body, more, len_max);
    if (growth == 0)
        return true;
    if (!memory_budget_try_take(budget, growth)) {
        set_deadline(connection, HTTP_DEADLINE_BODY); /* So that it is not dropped as stalled. */
        if (!http_pressure_makes_room_for_body(loop, growth)) {
            refuse(connection, 503);
            return false;
        }
        memory_budget_take(budget, growth);
    }
    http_body_grow(&connection->body, growth);
    return true;
}

/* A body of known length that does not fit into the input: it is read directly into `body`. */
static bool begin_body_apart(struct http_connection *connection, size_t length, size_t arrived)
{
    struct http_input *input = connection->input;
    if (!http_pressure_makes_room_for_body(connection->loop, length)) {
        refuse(connection, 503); /* Before the client sends it in vain. */
        return false;
    }
    if (!reserve_in_body(connection, arrived, length))
        return false;
    http_body_append(&connection->body, bytes_of(input->data + input->parser.at, arrived));
    connection->body_apart = true;
    input->end = input->parser.at;
    return true;
}

/* The head is complete. Decides where the body goes. */
static void begin_body(struct http_connection *connection)
{
    struct http_input *input = connection->input;
    const struct http_parser *parser = &input->parser;
    if (parser->content_length > options_of(connection)->body_size_max) {
        refuse(connection, 413);
        return;
    }
    set_state(connection, HTTP_CONNECTION_BODY);
    size_t length = (size_t)parser->content_length;
    size_t arrived = input->end - input->start - parser->at;
    connection->body_apart = false;
    if (!parser->chunked && arrived >= length)
        return;
    connection->progress_size = 0;
    set_deadline(connection, HTTP_DEADLINE_BODY);
    http_input_compact(input);
    if (parser->chunked)
        http_chunked_init(&input->chunked, options_of(connection)->body_size_max);
    else if (length > input->capacity - parser->at &&
             !begin_body_apart(connection, length, arrived))
        return;
    if (parser->expects_continue && arrived == 0)
        send_continue(connection);
}

static bool advance_head(struct http_connection *connection)
{
    struct http_input *input = connection->input;
    assert(input != NULL);
    enum http_parser_status status =
        http_parser_feed(&input->parser, input->data + input->start, input->end - input->start);
    if (status == HTTP_PARSER_DONE) {
        begin_body(connection);
        return true;
    }
    if (status == HTTP_PARSER_REFUSED) {
        refuse(connection, input->parser.refusal);
        return true;
    }
    http_input_compact(input);
    if (connection->deadline.kind != HTTP_DEADLINE_HEADER)
        set_deadline(connection, HTTP_DEADLINE_HEADER);
    return wait_for_more(connection);
}

static bool advance_chunked_body(struct http_connection *connection)
{
    struct http_input *input = connection->input;
    assert(input != NULL);
    size_t body_start = input->start + input->parser.at;
    struct bytes raw = bytes_of(input->data + body_start, input->end - body_start);
    struct bytes content;
    enum http_chunked_status status;
    while ((status = http_chunked_next(&input->chunked, &raw, &content)) == HTTP_CHUNKED_CONTENT) {
        if (!reserve_in_body(connection, content.len, options_of(connection)->body_size_max))
            return true;
        http_body_append(&connection->body, content);
    }
    if (status == HTTP_CHUNKED_REFUSED) {
        refuse(connection, input->chunked.refusal);
        return true;
    }
    if (status == HTTP_CHUNKED_MORE) {
        input->end = body_start; /* All taken: the next bytes may overwrite these. */
        return wait_for_more(connection);
    }
    connection->request_size = (size_t)(raw.data - (input->data + input->start));
    hand_over(connection);
    return true;
}

static bool advance_body(struct http_connection *connection)
{
    const struct http_input *input = connection->input;
    assert(input != NULL);
    const struct http_parser *parser = &input->parser;
    if (parser->chunked)
        return advance_chunked_body(connection);
    size_t length = (size_t)parser->content_length;
    size_t arrived =
        connection->body_apart ? connection->body.len : input->end - input->start - parser->at;
    if (arrived < length) {
        if (connection->body_apart && !reserve_in_body(connection, 1, length))
            return true;
        return wait_for_more(connection);
    }
    connection->request_size = parser->at + (connection->body_apart ? 0 : length);
    hand_over(connection);
    return true;
}

/* Between requests a connection holds no buffers. */
static bool advance_idle(struct http_connection *connection)
{
    struct http_input *input = connection->input;
    if (input != NULL && input->start < input->end) {
        http_parser_init(&input->parser, options_of(connection)->header_size_max);
        set_state(connection, HTTP_CONNECTION_HEAD);
        return true;
    }
    drop_input(connection);
    if (connection->at_end)
        close_in_turn(connection);
    else if (connection->loop->stopping && !connection->late)
        http_connection_close(connection);
    else if (connection->deadline.kind != HTTP_DEADLINE_IDLE)
        set_deadline(connection, HTTP_DEADLINE_IDLE);
    return false;
}

/* Takes the connection one state further if the bytes received allow it. False if not. */
static bool advance_once(struct http_connection *connection)
{
    switch (connection->state) {
    case HTTP_CONNECTION_IDLE:
        return advance_idle(connection);
    case HTTP_CONNECTION_HEAD:
        return advance_head(connection);
    case HTTP_CONNECTION_BODY:
        return advance_body(connection);
    default:
        return false;
    }
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
        *size = body->capacity - body->len;
        assert(*size > 0); /* reserve_in_body has made room. */
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
        return HTTP_TURN_FIRST_READ_SIZE;
    return http_turn_read_room(&connection->loop->turn, connection);
}

/* A few bytes now and then are no progress: otherwise a client could hold 16 MB forever by sending
 * one byte at a time. */
static void count_progress(struct http_connection *connection, size_t size)
{
    connection->progress_size += size;
    if (connection->progress_size < HTTP_CONNECTION_PROGRESS_SIZE)
        return;
    connection->progress_size = 0;
    set_deadline(connection, HTTP_DEADLINE_BODY);
}

static void count_arrived(struct http_connection *connection, size_t size)
{
    if (connection->state == HTTP_CONNECTION_DRAINING) {
        http_turn_count_read(&connection->loop->turn, size);
        connection->drained_size += size;
        if (connection->drained_size > 2 * (uint64_t)options_of(connection)->body_size_max)
            http_connection_close(connection);
        return;
    }
    bool is_body = connection->state == HTTP_CONNECTION_BODY;
    if (is_body) {
        http_turn_count_read(&connection->loop->turn, size);
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
        close_in_turn(connection);
    else
        advance(connection);
}

/* Reads while there is room. Usually changes nothing: each change would cost a system call. */
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
        return; /* The caller further up the stack continues. */
    connection->advancing = true;
    while (advance_once(connection))
        continue;
    connection->advancing = false;
    update_reading(connection);
}

/* --- Opening, time-outs, stopping --- */

static struct http_connection *create_connection(struct http_loop *loop,
                                                 const struct sockaddr *peer, bool counted)
{
    struct http_connection *connection = memory_checked(calloc(1, sizeof *connection));
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
        /* A handshake would cost more than answering the request. */
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
        set_deadline(connection, HTTP_DEADLINE_HEADER);
    else
        set_state(connection, HTTP_CONNECTION_IDLE);
    if (counted)
        advance(connection);
    else
        refuse(connection, 503);
}

void http_connection_opened(struct http_connection *connection)
{
    set_state(connection, HTTP_CONNECTION_IDLE);
    advance(connection);
}

void http_connection_failed(struct http_connection *connection)
{
    if (connection->state == HTTP_CONNECTION_OPENING)
        begin_to_drain(connection); /* So that the client can read the alert. */
    else
        http_connection_close(connection);
    advance(connection);
}

struct http_connection *http_connection_of_transport(struct http_transport *transport)
{
    return (struct http_connection *)(void *)((char *)transport -
                                              offsetof(struct http_connection, transport));
}

struct http_connection *http_connection_of_waiting(struct http_waiting *waiting)
{
    return (struct http_connection *)(void *)((char *)waiting -
                                              offsetof(struct http_connection, waiting));
}

struct http_connection *http_connection_of_deadline(struct http_deadline *deadline)
{
    return (struct http_connection *)(void *)((char *)deadline -
                                              offsetof(struct http_connection, deadline));
}

/* True if the client has sent enough, and we have not read it because others had their turn. */
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
        refuse(connection, 408);
        return;
    case HTTP_DEADLINE_BODY:
        if (is_kept_waiting(connection))
            set_deadline(connection, HTTP_DEADLINE_BODY);
        else
            refuse(connection, 408);
        return;
    case HTTP_DEADLINE_WRITE: {
        uint64_t unwritten_size = http_transport_unwritten(&connection->transport);
        if (unwritten_size == connection->unwritten_size &&
            !http_transport_is_queued(&connection->transport))
            break;
        connection->unwritten_size = unwritten_size;
        set_deadline(connection, HTTP_DEADLINE_WRITE);
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
