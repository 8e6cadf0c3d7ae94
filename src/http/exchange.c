/* exchange.c -- what a handler may ask of its request, and how its answer becomes bytes. */
#include "http/exchange.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "http/connection.h"
#include "http/grammar.h"
#include "http/loop.h"
#include "http/parser.h"

static uint64_t length_bit(struct bytes name)
{
    return UINT64_C(1) << name.len % 64;
}

struct http_exchange *http_exchange_create(struct arena *arena, struct http_connection *connection,
                                           const struct http_parser *parser, const uint8_t *head,
                                           struct bytes body)
{
    struct http_exchange *exchange = arena_alloc(arena, sizeof *exchange);
    struct http_header *headers = arena_alloc(arena, parser->field_count * sizeof *headers);
    uint64_t name_lengths = 0;
    for (size_t i = 0; i < parser->field_count; i++) {
        headers[i].name = http_span_bytes(parser->fields[i].name, head);
        headers[i].value = http_span_bytes(parser->fields[i].value, head);
        name_lengths |= length_bit(headers[i].name);
    }
    exchange->connection = connection;
    exchange->arena = arena;
    exchange->method = http_span_bytes(parser->method, head);
    exchange->target = http_span_bytes(parser->target, head);
    exchange->body = body;
    exchange->headers = headers;
    exchange->header_count = parser->field_count;
    exchange->name_lengths = name_lengths;
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

/* --- The head of an answer --- */

enum { STATUS_NO_CONTENT = 204, HEAD_SIZE_USUAL = 512 };

struct bytes http_date_at(struct http_date *date, time_t second)
{
    if (date->second != second || date->text[0] == '\0') {
        /* By hand: strftime would follow the locale. */
        static const char days[] = "SunMonTueWedThuFriSat";
        static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
        struct tm tm = clock_utc(second);
        char *text = date->text;
        size_t length = strftime(text, sizeof date->text, "..., %d ... %Y %H:%M:%S GMT", &tm);
        assert(length == sizeof date->text - 1);
        memcpy(text, days + (size_t)tm.tm_wday * 3, 3);
        memcpy(text + sizeof "Sun, 06", months + (size_t)tm.tm_mon * 3, 3);
        date->second = second;
    }
    return bytes_of(date->text, sizeof date->text - 1);
}

static const char *reason(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case STATUS_NO_CONTENT:
        return "No Content";
    case 301:
        return "Moved Permanently";
    case 302:
        return "Found";
    case 304:
        return "Not Modified";
    case 400:
        return "Bad Request";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 413:
        return "Content Too Large";
    case 415:
        return "Unsupported Media Type";
    case 417:
        return "Expectation Failed";
    case 421:
        return "Misdirected Request";
    case 431:
        return "Request Header Fields Too Large";
    case 500:
        return "Internal Server Error";
    case 501:
        return "Not Implemented";
    case 503:
        return "Service Unavailable";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return ""; /* Allowed to be empty (RFC 9112, 4). */
    }
}

/* Appends at `end`, where there is room, and returns the new end. */
static uint8_t *copy_to(uint8_t *end, struct bytes text)
{
    memcpy(end, text.data, text.len);
    return end + text.len;
}

static void append_number(struct buffer *head, size_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    buffer_append(head, digits + at, sizeof digits - at);
}

static void append_header(struct buffer *head, struct bytes name, struct bytes value)
{
    assert(http_grammar_skip(name.data, 0, name.len, HTTP_GRAMMAR_TOKEN) == name.len);
    assert(http_grammar_skip_value(value.data, 0, value.len) == value.len);
    uint8_t *end = buffer_reserve(head, name.len + value.len + sizeof ": \r\n");
    end = copy_to(end, name);
    end = copy_to(end, BYTES(": "));
    if (value.len > 0)
        end = copy_to(end, value);
    end = copy_to(end, BYTES("\r\n"));
    head->len = (size_t)(end - head->data);
}

struct bytes http_answer_format_head(struct arena *arena, const struct http_answer *answer,
                                     struct bytes date, const char *connection)
{
    assert(answer->status >= 200 && answer->status <= 599);
    struct buffer head;
    buffer_init(&head, arena);
    buffer_reserve(&head, HEAD_SIZE_USUAL);
    buffer_append_bytes(&head, BYTES("HTTP/1.1 "));
    append_number(&head, (size_t)answer->status);
    buffer_append_bytes(&head, BYTES(" "));
    buffer_append_bytes(&head, bytes_from_text(reason(answer->status)));
    buffer_append_bytes(&head, BYTES("\r\n"));
    append_header(&head, BYTES("Date"), date);
    if (answer->status == STATUS_NO_CONTENT) {
        assert(answer->body.len == 0); /* And no Content-Length: RFC 9110, 8.6. */
    } else {
        buffer_append_bytes(&head, BYTES("Content-Length: "));
        append_number(&head, answer->body.len);
        buffer_append_bytes(&head, BYTES("\r\n"));
    }
    if (connection != NULL)
        append_header(&head, BYTES("Connection"), bytes_from_text(connection));
    for (size_t i = 0; i < answer->header_count; i++)
        append_header(&head, answer->headers[i].name, answer->headers[i].value);
    buffer_append_bytes(&head, BYTES("\r\n"));
    return buffer_bytes(&head);
}

void http_exchange_send(struct http_exchange *exchange, const struct http_answer *answer)
{
    struct http_loop *loop = exchange->connection->loop;
    bool closes = answer->close || !exchange->keeps_alive || loop->stopping;
    const char *connection = NULL;
    if (closes)
        connection = "close";
    else if (exchange->version_1_0)
        connection = "keep-alive"; /* HTTP/1.0 closes by default. */
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

/* Lengths first: a request is asked for a dozen headers, most of which it does not have. */
struct bytes http_exchange_find_header(const struct http_exchange *exchange, struct bytes name)
{
    if ((exchange->name_lengths & length_bit(name)) == 0)
        return (struct bytes){ 0 };
    for (size_t i = 0; i < exchange->header_count; i++)
        if (exchange->headers[i].name.len == name.len &&
            http_header_equal(exchange->headers[i].name, name))
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
