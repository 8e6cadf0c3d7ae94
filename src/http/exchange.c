/* exchange.c -- what a handler may ask of its request, and how its answer becomes bytes. */
#include "http/exchange.h"
#include <assert.h>
#include "base/arena.h"
#include "http/answer.h"
#include "http/connection.h"
#include "http/header.h"
#include "http/loop.h"
#include "http/parser.h"

struct http_exchange *http_exchange_create(struct arena *arena, struct http_connection *connection,
                                           const struct http_parser *parser, const uint8_t *head,
                                           struct bytes body)
{
    struct http_exchange *exchange = arena_alloc(arena, sizeof *exchange);
    struct http_header *headers = arena_alloc(arena, parser->field_count * sizeof *headers);
    for (size_t i = 0; i < parser->field_count; i++) {
        headers[i].name = http_span_bytes(parser->fields[i].name, head);
        headers[i].value = http_span_bytes(parser->fields[i].value, head);
    }
    exchange->connection = connection;
    exchange->arena = arena;
    exchange->method = http_span_bytes(parser->method, head);
    exchange->target = http_span_bytes(parser->target, head);
    exchange->body = body;
    exchange->headers = headers;
    exchange->header_count = parser->field_count;
    exchange->version_1_0 = parser->version_1_0;
    exchange->keeps_alive = parser->keeps_alive;
    return exchange;
}

struct http_exchange *http_exchange_create_refusal(struct arena *arena,
                                                   struct http_connection *connection, bool is_head)
{
    struct http_exchange *exchange = arena_alloc_zeroed(arena, sizeof *exchange);
    exchange->connection = connection;
    exchange->arena = arena;
    exchange->method = is_head ? BYTES("HEAD") : BYTES("");
    return exchange;
}

void http_exchange_send(struct http_exchange *exchange, const struct http_answer *answer)
{
    struct http_loop *loop = exchange->connection->loop;
    bool closes = answer->close || !exchange->keeps_alive || loop->stopping;
    const char *connection = NULL;
    if (closes)
        connection = "close";
    else if (exchange->version_1_0)
        connection = "keep-alive"; /* Not the default there, so it has to be said. */
    struct bytes head =
        http_answer_format_head(exchange->arena, answer, http_loop_date(loop), connection);
    bool has_body = !bytes_equal(exchange->method, BYTES("HEAD"));
    http_connection_send(exchange->connection, head, has_body ? answer->body : BYTES(""), closes);
}

/* --- For handlers --- */

struct bytes http_exchange_method(const struct http_exchange *exchange)
{
    return exchange->method;
}

struct bytes http_exchange_target(const struct http_exchange *exchange)
{
    return exchange->target;
}

struct bytes http_exchange_header(const struct http_exchange *exchange, const char *name)
{
    struct bytes wanted = bytes_from_text(name);
    for (size_t i = 0; i < exchange->header_count; i++)
        if (http_header_equal(exchange->headers[i].name, wanted))
            return exchange->headers[i].value;
    return (struct bytes){ 0 };
}

size_t http_exchange_header_count(const struct http_exchange *exchange)
{
    return exchange->header_count;
}

const struct http_header *http_exchange_headers(const struct http_exchange *exchange)
{
    return exchange->headers;
}

struct bytes http_exchange_body(const struct http_exchange *exchange)
{
    return exchange->body;
}

struct arena *http_exchange_arena(const struct http_exchange *exchange)
{
    return exchange->arena;
}

struct http_loop *http_exchange_loop(const struct http_exchange *exchange)
{
    return exchange->connection->loop;
}

void http_exchange_peer(const struct http_exchange *exchange, char out[HTTP_PEER_SIZE])
{
    memcpy(out, exchange->connection->peer, HTTP_PEER_SIZE);
}

bool http_exchange_is_secure(const struct http_exchange *exchange)
{
    return http_transport_is_secure(&exchange->connection->transport);
}

bool http_exchange_finds_pressure(const struct http_exchange *exchange)
{
    const struct memory_budget *memory = &exchange->connection->loop->shared->memory;
    return memory_budget_used(memory) > memory->size_max;
}

bool http_exchange_is_in_vain(const struct http_exchange *exchange)
{
    return atomic_load_explicit(&exchange->connection->gone, memory_order_relaxed);
}

uint8_t http_exchange_hint(const struct http_exchange *exchange)
{
    return exchange->connection->hint;
}

void http_exchange_set_hint(struct http_exchange *exchange, uint8_t hint)
{
    exchange->connection->hint = hint;
}

void http_exchange_answer(struct http_exchange *exchange, const struct http_answer *answer)
{
    if (http_connection_take_back(exchange->connection, exchange))
        http_exchange_send(exchange, answer);
}
