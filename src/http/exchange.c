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

static_assert((int)HTTP_PARSER_HEADERS_MAX < UINT8_MAX, "a header's place fits a byte");

struct http_exchange *http_exchange_create(struct arena *arena, struct http_connection *connection,
                                           const struct http_parser *parser, const uint8_t *head,
                                           struct bytes body)
{
    struct http_exchange *exchange = arena_alloc(arena, sizeof *exchange);
    struct http_header *headers = arena_alloc(arena, parser->field_count * sizeof *headers);
    memset(exchange->first_of_length, 0, sizeof exchange->first_of_length);
    for (size_t i = parser->field_count; i-- > 0;) { /* Backwards: the first of a length stays. */
        headers[i].name = http_span_bytes(parser->fields[i].name, head);
        headers[i].value = http_span_bytes(parser->fields[i].value, head);
        exchange->first_of_length[headers[i].name.len % HTTP_EXCHANGE_LENGTHS] = (uint8_t)(i + 1);
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

/* --- The head of an answer --- */

enum { STATUS_OK = 200, STATUS_NO_CONTENT = 204, HEAD_SIZE_USUAL = 512 };

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
    case STATUS_OK:
        return "OK";
    case STATUS_NO_CONTENT:
        return "No Content";
    case 206:
        return "Partial Content";
    case 301:
        return "Moved Permanently";
    case 302:
        return "Found";
    case 303:
        return "See Other";
    case 304:
        return "Not Modified";
    case 308:
        return "Permanent Redirect";
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
    case 416:
        return "Range Not Satisfiable";
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
    assert(name.len > 0);
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
    size_t line_count = answer->header_count + 3; /* Status line, Date, the empty one. */
    buffer_init(&head, arena);
    buffer_reserve(&head, HEAD_SIZE_USUAL);
    if (answer->status == STATUS_OK) {
        buffer_append_bytes(&head, BYTES("HTTP/1.1 200 OK\r\n"));
    } else {
        buffer_append_bytes(&head, BYTES("HTTP/1.1 "));
        append_number(&head, (size_t)answer->status);
        buffer_append_bytes(&head, BYTES(" "));
        buffer_append_bytes(&head, bytes_from_text(reason(answer->status)));
        buffer_append_bytes(&head, BYTES("\r\n"));
    }
    append_header(&head, BYTES("Date"), date);
    if (answer->status == STATUS_NO_CONTENT) {
        assert(answer->body.len == 0); /* And no Content-Length: RFC 9110, 8.6. */
    } else {
        buffer_append_bytes(&head, BYTES("Content-Length: "));
        append_number(&head, answer->body.len + answer->unsent_size);
        buffer_append_bytes(&head, BYTES("\r\n"));
        line_count++;
    }
    if (connection != NULL) {
        line_count++;
        append_header(&head, BYTES("Connection"), bytes_from_text(connection));
    }
    for (size_t i = 0; i < answer->header_count; i++)
        append_header(&head, answer->headers[i].name, answer->headers[i].value);
    buffer_append_bytes(&head, BYTES("\r\n"));
    /* No name or value ends its line early: that would let a client add headers to an answer. */
    assert(http_grammar_count_controls(head.data, head.len) == 2 * line_count);
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
    assert(!has_body || answer->unsent_size == 0);
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

/* True if both are the same letter, or the same byte, or happen to differ in this bit only. */
static bool may_be_same_letter(uint8_t a, uint8_t b)
{
    return ((a ^ b) & ~('a' - 'A')) == 0;
}

/* Lengths and first letters first: a request is asked for a dozen headers, most of which it does
 * not have. */
struct bytes http_exchange_find_header(const struct http_exchange *exchange, struct bytes name)
{
    assert(name.len > 0);
    size_t first = exchange->first_of_length[name.len % HTTP_EXCHANGE_LENGTHS];
    if (first == 0)
        return (struct bytes){ 0 };
    for (size_t i = first - 1; i < exchange->header_count; i++)
        if (exchange->headers[i].name.len == name.len &&
            may_be_same_letter(exchange->headers[i].name.data[0], name.data[0]) &&
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

void http_exchange_answer(struct http_exchange *exchange, const struct http_answer *answer)
{
    if (http_connection_take_back(exchange->connection, exchange))
        http_exchange_send(exchange, answer);
}

void http_exchange_abandon(struct http_exchange *exchange)
{
    struct http_connection *connection = exchange->connection;
    if (http_connection_take_back(connection, exchange))
        http_connection_abandon(connection);
}
