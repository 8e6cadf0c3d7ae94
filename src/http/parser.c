/* parser.c -- a state machine over tokens: each state reads as much as it can of one token, then
 * checks the byte after it. A state that runs out of bytes resumes there in the next call, so the
 * verdict does not depend on how the head was split into pieces.
 */
#include "http/parser.h"
#include <assert.h>
#include <string.h>
#include "base/compiler.h"
#include "http/grammar.h"

enum state {
    IN_METHOD,
    IN_TARGET,
    IN_VERSION,
    AT_REQUEST_LINE_LF,
    AT_LINE, /* The first byte of a header line, or the CR of the empty one. */
    IN_NAME,
    BEFORE_VALUE,
    IN_VALUE,
    AT_LINE_LF,
    AT_END_LF,
    DONE,
    REFUSED,
};

enum connection { ASKED_CLOSE = 1, ASKED_KEEP_ALIVE = 2 };

void http_parser_init(struct http_parser *parser, size_t size_max)
{
    assert(size_max > 0 && size_max <= HTTP_PARSER_SIZE_MAX);
    /* Field by field: clearing `fields` would cost more than parsing. */
    parser->size_max = (uint32_t)size_max;
    parser->at = 0;
    parser->token_at = 0;
    parser->state = IN_METHOD;
    parser->connection = 0;
    parser->refusal = 0;
    parser->version_1_0 = false;
    parser->chunked = false;
    parser->expects_continue = false;
    parser->keeps_alive = false;
    parser->has_host = false;
    parser->has_content_length = false;
    parser->content_length = 0;
    parser->method = (struct http_span){ 0 };
    parser->target = (struct http_span){ 0 };
    parser->field_count = 0;
}

static void refuse(struct http_parser *parser, uint16_t status)
{
    parser->state = REFUSED;
    parser->refusal = status;
}

/* Moves to `state` after the byte at parser->at, where the next token starts. */
static void step_over(struct http_parser *parser, enum state state)
{
    parser->at++;
    parser->token_at = parser->at;
    parser->state = (uint8_t)state;
}

static struct http_span token_until(const struct http_parser *parser, uint32_t end)
{
    return (struct http_span){ .at = parser->token_at, .len = end - parser->token_at };
}

/* --- The request line --- */

static void scan_method(struct http_parser *parser, const uint8_t *data, size_t end)
{
    parser->at = (uint32_t)http_grammar_skip(data, parser->at, end, HTTP_GRAMMAR_TOKEN);
    if (parser->at == end)
        return;
    parser->method = token_until(parser, parser->at);
    if (data[parser->at] != ' ' || parser->method.len == 0)
        refuse(parser, 400);
    else
        step_over(parser, IN_TARGET);
}

/* Origin form, or "*" for OPTIONS. The absolute form is for proxies. */
static bool target_is_acceptable(struct bytes method, struct bytes target)
{
    if (target.len == 0)
        return false;
    if (target.data[0] == '*')
        return target.len == 1 && bytes_equal(method, BYTES("OPTIONS"));
    return target.data[0] == '/';
}

static void scan_target(struct http_parser *parser, const uint8_t *data, size_t end)
{
    parser->at = (uint32_t)http_grammar_skip(data, parser->at, end, HTTP_GRAMMAR_TARGET);
    if (parser->at == end)
        return;
    parser->target = token_until(parser, parser->at);
    if (data[parser->at] == ' ' && target_is_acceptable(http_span_bytes(parser->method, data),
                                                        http_span_bytes(parser->target, data)))
        step_over(parser, IN_VERSION);
    else
        refuse(parser, 400);
}

static void scan_version(struct http_parser *parser, const uint8_t *data, size_t end)
{
    static const char wanted[] = "HTTP/1.";
    enum { MAJOR = 5, MINOR = 7, SIZE = 8 };
    for (; parser->at < end; parser->at++) {
        uint8_t byte = data[parser->at];
        uint32_t index = parser->at - parser->token_at;
        if (index == SIZE) {
            if (byte == '\r')
                step_over(parser, AT_REQUEST_LINE_LF);
            else
                refuse(parser, 400);
            return;
        }
        if (index == MINOR && (byte == '0' || byte == '1')) {
            parser->version_1_0 = byte == '0';
            continue;
        }
        if (index < MINOR && byte == (uint8_t)wanted[index])
            continue;
        bool is_version = (index == MAJOR || index == MINOR) && http_grammar_is_digit(byte);
        refuse(parser, is_version ? 505 : 400);
        return;
    }
}

/* Takes the request line that nearly all requests have, if all of it is here. False: nothing was
 * done, and the states above judge it. */
static bool scan_usual_request_line(struct http_parser *parser, const uint8_t *data, size_t end)
{
    static const char usual[] = "POST / HTTP/1.1\r\n";
    enum { SIZE = sizeof usual - 1, METHOD_SIZE = 4, TARGET_AT = 5, TARGET_SIZE = 1 };
    if (parser->at != 0 || end < SIZE || memcmp(data, usual, SIZE) != 0)
        return false;
    parser->method = (struct http_span){ .at = 0, .len = METHOD_SIZE };
    parser->target = (struct http_span){ .at = TARGET_AT, .len = TARGET_SIZE };
    parser->at = SIZE;
    parser->token_at = SIZE;
    parser->state = AT_LINE;
    return true;
}

/* --- Headers with a meaning here --- */

static bool note_host(struct http_parser *parser, struct bytes value)
{
    if (parser->has_host)
        return false;
    parser->has_host = true;
    return http_grammar_skip(value.data, 0, value.len, HTTP_GRAMMAR_HOST) == value.len;
}

static bool note_content_length(struct http_parser *parser, struct bytes value)
{
    /* A second one is refused even if equal: the sender is confused about its framing. */
    if (parser->has_content_length || value.len == 0)
        return false;
    parser->has_content_length = true;
    uint64_t length = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (!http_grammar_is_digit(value.data[i]))
            return false;
        uint64_t digit = (uint64_t)(value.data[i] - '0');
        bool fits = length <= (UINT64_MAX - digit) / 10;
        length = fits ? length * 10 + digit : UINT64_MAX;
    }
    parser->content_length = length;
    return true;
}

static void note_connection(struct http_parser *parser, struct bytes value)
{
    for (size_t at = 0; at < value.len; at++) {
        while (at < value.len && (http_grammar_is_blank(value.data[at]) || value.data[at] == ','))
            at++;
        size_t end = http_grammar_skip(value.data, at, value.len, HTTP_GRAMMAR_TOKEN);
        struct bytes option = bytes_of(value.data + at, end - at);
        if (http_header_equal(option, BYTES("close")))
            parser->connection |= ASKED_CLOSE;
        else if (http_header_equal(option, BYTES("keep-alive")))
            parser->connection |= ASKED_KEEP_ALIVE;
        at = end;
    }
}

/* Returns the status to refuse with, or 0. Compares lengths first: few headers get further. */
static uint16_t note_field(struct http_parser *parser, struct bytes name, struct bytes value)
{
    switch (name.len) {
    case sizeof "host" - 1:
        if (http_header_equal(name, BYTES("Host")) && !note_host(parser, value))
            return 400;
        return 0;
    case sizeof "expect" - 1:
        if (!http_header_equal(name, BYTES("Expect")))
            return 0;
        parser->expects_continue = http_header_equal(value, BYTES("100-continue"));
        return parser->expects_continue ? 0 : 417;
    case sizeof "connection" - 1:
        if (http_header_equal(name, BYTES("Connection")))
            note_connection(parser, value);
        return 0;
    case sizeof "content-length" - 1:
        if (http_header_equal(name, BYTES("Content-Length")) && !note_content_length(parser, value))
            return 400;
        return 0;
    case sizeof "transfer-encoding" - 1:
        if (!http_header_equal(name, BYTES("Transfer-Encoding")))
            return 0;
        if (parser->chunked)
            return 400;
        parser->chunked = http_header_equal(value, BYTES("chunked"));
        return parser->chunked ? 0 : 501;
    default:
        return 0;
    }
}

/* --- Header lines --- */

static void scan_line_start(struct http_parser *parser, const uint8_t *data)
{
    uint8_t byte = data[parser->at];
    if (byte == '\r') {
        step_over(parser, AT_END_LF);
    } else if ((http_grammar_classes[byte] & HTTP_GRAMMAR_TOKEN) == 0) {
        refuse(parser, 400); /* A folded line, an empty name, or an invalid character. */
    } else if (parser->field_count == HTTP_PARSER_HEADERS_MAX) {
        refuse(parser, 431);
    } else {
        parser->token_at = parser->at;
        parser->state = IN_NAME;
    }
}

/* Takes a line that is here as a whole, as most are, without the states below. False: it is not, or
 * something is unusual; nothing was done, and the states judge it. */
static bool scan_whole_line(struct http_parser *parser, const uint8_t *data, size_t end)
{
    uint32_t name_end = (uint32_t)http_grammar_skip_name(data, parser->at, end);
    if (name_end == parser->at || name_end == end || data[name_end] != ':' ||
        parser->field_count == HTTP_PARSER_HEADERS_MAX)
        return false;
    uint32_t value_at = name_end + 1;
    while (value_at < end && http_grammar_is_blank(data[value_at]))
        value_at++;
    uint32_t value_end = (uint32_t)http_grammar_skip_value(data, value_at, end);
    if (end - value_end < 2 || data[value_end] != '\r' || data[value_end + 1] != '\n')
        return false;
    uint32_t line_end = value_end + 2;
    while (value_end > value_at && http_grammar_is_blank(data[value_end - 1]))
        value_end--;
    struct http_field *field = &parser->fields[parser->field_count++];
    field->name = token_until(parser, name_end);
    field->value = (struct http_span){ .at = value_at, .len = value_end - value_at };
    uint16_t status =
        note_field(parser, http_span_bytes(field->name, data), http_span_bytes(field->value, data));
    parser->at = status == 0 ? line_end : line_end - 2; /* Refused at its CR, as by the states. */
    parser->token_at = parser->at;
    if (status != 0)
        refuse(parser, status);
    return true;
}

static void scan_name(struct http_parser *parser, const uint8_t *data, size_t end)
{
    parser->at = (uint32_t)http_grammar_skip_name(data, parser->at, end);
    if (parser->at == end)
        return;
    if (data[parser->at] != ':') {
        refuse(parser, 400);
        return;
    }
    parser->fields[parser->field_count].name = token_until(parser, parser->at);
    step_over(parser, BEFORE_VALUE);
}

static void scan_before_value(struct http_parser *parser, const uint8_t *data, size_t end)
{
    while (parser->at < end && http_grammar_is_blank(data[parser->at]))
        parser->at++;
    parser->token_at = parser->at;
    if (parser->at < end)
        parser->state = IN_VALUE;
}

static void scan_value(struct http_parser *parser, const uint8_t *data, size_t end)
{
    parser->at = (uint32_t)http_grammar_skip_value(data, parser->at, end);
    if (parser->at == end)
        return;
    if (data[parser->at] != '\r') {
        refuse(parser, 400);
        return;
    }
    uint32_t value_end = parser->at;
    while (value_end > parser->token_at && http_grammar_is_blank(data[value_end - 1]))
        value_end--;
    struct http_field *field = &parser->fields[parser->field_count++];
    field->value = token_until(parser, value_end);
    uint16_t status =
        note_field(parser, http_span_bytes(field->name, data), http_span_bytes(field->value, data));
    if (status != 0)
        refuse(parser, status);
    else
        step_over(parser, AT_LINE_LF);
}

/* Checks that need all headers. */
static void finish(struct http_parser *parser)
{
    bool host_is_missing = !parser->has_host && !parser->version_1_0;
    bool framing_is_ambiguous = parser->chunked && parser->has_content_length;
    bool framing_is_unknown = parser->chunked && parser->version_1_0; /* RFC 9112, 6.1. */
    if (host_is_missing || framing_is_ambiguous || framing_is_unknown) {
        refuse(parser, 400);
        return;
    }
    if (parser->version_1_0)
        parser->expects_continue = false; /* RFC 9110, 10.1.1: HTTP/1.0 ignores it. */
    parser->keeps_alive = (parser->connection & ASKED_CLOSE) == 0 &&
                          (!parser->version_1_0 || (parser->connection & ASKED_KEEP_ALIVE) != 0);
    step_over(parser, DONE);
}

static void expect_line_feed(struct http_parser *parser, const uint8_t *data, enum state next)
{
    if (data[parser->at] == '\n')
        step_over(parser, next);
    else
        refuse(parser, 400);
}

static void scan(struct http_parser *parser, const uint8_t *data, size_t end)
{
    switch ((enum state)parser->state) {
    case IN_METHOD:
        if (!scan_usual_request_line(parser, data, end))
            scan_method(parser, data, end);
        break;
    case IN_TARGET:
        scan_target(parser, data, end);
        break;
    case IN_VERSION:
        scan_version(parser, data, end);
        break;
    case AT_REQUEST_LINE_LF:
    case AT_LINE_LF:
        expect_line_feed(parser, data, AT_LINE);
        break;
    case AT_LINE:
        if (!scan_whole_line(parser, data, end))
            scan_line_start(parser, data);
        break;
    case IN_NAME:
        scan_name(parser, data, end);
        break;
    case BEFORE_VALUE:
        scan_before_value(parser, data, end);
        break;
    case IN_VALUE:
        scan_value(parser, data, end);
        break;
    case AT_END_LF:
        if (data[parser->at] == '\n')
            finish(parser);
        else
            refuse(parser, 400);
        break;
    case DONE:
    case REFUSED:
        assert(false);
    }
}

enum http_parser_status http_parser_feed(struct http_parser *parser, const uint8_t *data,
                                         size_t size)
{
    assert(size >= parser->at);
    size_t end = size < parser->size_max ? size : parser->size_max;
    while (parser->state < DONE && parser->at < end)
        scan(parser, data, end);
    if (parser->state < DONE && end == parser->size_max)
        refuse(parser, 431);
    if (parser->state == DONE)
        return HTTP_PARSER_DONE;
    return parser->state == REFUSED ? HTTP_PARSER_REFUSED : HTTP_PARSER_MORE;
}
