/* request.c -- how what has arrived on a connection becomes a request, or a refusal.
 *
 * Bodies that fit stay in the input behind their head; larger ones are read into the connection's
 * `body`, and so are chunked ones, piece by piece.
 */
#include "http/request.h"
#include "http/connection.h"
#include "http/exchange.h"
#include "http/loop.h"
#include "http/pool.h"
#include "http/pressure.h"

static const struct http_options *options_of(const struct http_connection *connection)
{
    return &connection->loop->shared->options;
}

void http_request_refuse(struct http_connection *connection, int status)
{
    struct http_loop *loop = connection->loop;
    const struct http_handler *handler = &loop->shared->handler;
    http_connection_unwatch(connection);
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

/* Whether the request may begin now. */
static bool is_admitted(struct http_connection *connection, const uint8_t *head)
{
    struct http_loop *loop = connection->loop;
    const struct http_handler *handler = &loop->shared->handler;
    const struct http_parser *parser = &connection->input->parser;
    bool has_room = http_pressure_has_room(loop);
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
    const uint8_t *head = input->data + input->start;
    struct bytes body = bytes_of(head + input->parser.at, (size_t)input->parser.content_length);
    if (connection->body_apart || input->parser.chunked)
        body = bytes_of(connection->body.data, connection->body.len);
    if (body.len == 0)
        body = BYTES("");
    http_connection_unwatch(connection);
    if (!is_admitted(connection, head)) {
        http_request_refuse(connection, 503);
        return;
    }
    http_connection_set_state(connection, HTTP_CONNECTION_HANDLING);
    connection->served = true;
    connection->exchange = http_exchange_create(http_pool_take_arena(&loop->pool), connection,
                                                &input->parser, head, body);
    loop->owed_count++;
    loop->shared->handler.request(loop->shared->handler.context, loop->context,
                                  connection->exchange);
}

/* More of the request has to come; false, to end `advance`. */
static bool wait_for_more(struct http_connection *connection)
{
    if (connection->at_end)
        http_connection_close(connection);
    return false;
}

/* Makes room for `more` bytes of a body that does not stay in the input. False if memory is short:
 * the request is then refused. */
static bool reserve_in_body(struct http_connection *connection, size_t more, size_t len_max)
{
    struct http_loop *loop = connection->loop;
    struct memory_budget *budget = &loop->shared->memory;
    size_t growth = http_body_growth(&connection->body, more, len_max);
    if (growth == 0)
        return true;
    if (!memory_budget_try_take(budget, growth)) {
        http_connection_watch(connection, HTTP_DEADLINE_BODY); /* It is not one of the stalled. */
        if (!http_pressure_makes_room_for_body(loop, growth)) {
            http_request_refuse(connection, 503);
            return false;
        }
        memory_budget_take(budget, growth);
    }
    http_body_grow(&connection->body, growth);
    return true;
}

/* A body of known length that is read straight to where it will be. */
static bool begin_body_apart(struct http_connection *connection, size_t length, size_t arrived)
{
    struct http_input *input = connection->input;
    if (!http_pressure_makes_room_for_body(connection->loop, length)) {
        http_request_refuse(connection, 503); /* Before it was sent in vain. */
        return false;
    }
    if (!reserve_in_body(connection, arrived, length))
        return false;
    http_body_append(&connection->body, bytes_of(input->data + input->parser.at, arrived));
    connection->body_apart = true;
    input->end = input->parser.at;
    return true;
}

/* The head is whole. Decides where the body will go. */
static void begin_body(struct http_connection *connection)
{
    struct http_input *input = connection->input;
    const struct http_parser *parser = &input->parser;
    if (parser->content_length > options_of(connection)->body_size_max) {
        http_request_refuse(connection, 413);
        return;
    }
    http_connection_set_state(connection, HTTP_CONNECTION_BODY);
    size_t length = (size_t)parser->content_length;
    size_t arrived = input->end - input->start - parser->at;
    connection->body_apart = false;
    if (!parser->chunked && arrived >= length)
        return;
    connection->progress_size = 0;
    http_connection_watch(connection, HTTP_DEADLINE_BODY);
    http_input_compact(input);
    if (parser->chunked)
        http_chunked_init(&input->chunked, options_of(connection)->body_size_max);
    else if (length > input->capacity - parser->at &&
             !begin_body_apart(connection, length, arrived))
        return;
    if (parser->expects_continue && arrived == 0)
        http_connection_send_continue(connection);
}

static bool advance_head(struct http_connection *connection)
{
    struct http_input *input = connection->input;
    enum http_parser_status status =
        http_parser_feed(&input->parser, input->data + input->start, input->end - input->start);
    if (status == HTTP_PARSER_DONE) {
        begin_body(connection);
        return true;
    }
    if (status == HTTP_PARSER_REFUSED) {
        http_request_refuse(connection, input->parser.refusal);
        return true;
    }
    http_input_compact(input);
    if (connection->deadline.kind != HTTP_DEADLINE_HEADER)
        http_connection_watch(connection, HTTP_DEADLINE_HEADER);
    return wait_for_more(connection);
}

static bool advance_chunked_body(struct http_connection *connection)
{
    struct http_input *input = connection->input;
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
        http_request_refuse(connection, input->chunked.refusal);
        return true;
    }
    if (status == HTTP_CHUNKED_MORE) {
        input->end = body_start; /* All taken: the next bytes may go where these were. */
        return wait_for_more(connection);
    }
    connection->request_size = (size_t)(raw.data - (input->data + input->start));
    hand_over(connection);
    return true;
}

static bool advance_body(struct http_connection *connection)
{
    const struct http_input *input = connection->input;
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

/* Between requests: nothing is held but the connection itself. */
static bool advance_idle(struct http_connection *connection)
{
    struct http_input *input = connection->input;
    if (input != NULL && input->start < input->end) {
        http_parser_init(&input->parser, options_of(connection)->header_size_max);
        http_connection_set_state(connection, HTTP_CONNECTION_HEAD);
        return true;
    }
    http_connection_drop_input(connection);
    if (connection->at_end || (connection->loop->stopping && !connection->late))
        http_connection_close(connection);
    else if (connection->deadline.kind != HTTP_DEADLINE_IDLE)
        http_connection_watch(connection, HTTP_DEADLINE_IDLE);
    return false;
}

bool http_request_advance(struct http_connection *connection)
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
