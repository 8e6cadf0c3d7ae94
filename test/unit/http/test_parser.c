/* test_parser.c -- which heads and chunked bodies are accepted, and which are refused.
 *
 * Each case is parsed whole, byte by byte, and cut in two at every byte, each time from a fresh
 * copy of exactly the bytes "received": the verdict must be the same, and no byte beyond them may
 * be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "http/chunked.h"
#include "http/grammar.h"
#include "http/parser.h"

enum { HEAD_SIZE_MAX = 16 * 1024 };

#define HOST "Host: h\r\n"
#define POST "POST / HTTP/1.1\r\n" HOST

/* `want` is 0 if the head is accepted, else the status it is refused with. -1: not whole yet. */
static const struct {
    const char *name;
    struct bytes text;
    int want;
} heads[] = {
    { "the smallest", BYTES("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), 0 },
    { "an empty Host", BYTES("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 0 },
    { "HTTP/1.0 needs no Host", BYTES("GET / HTTP/1.0\r\n\r\n"), 0 },
    { "a query", BYTES("GET /a/b?c=%20d&e HTTP/1.1\r\n" HOST "\r\n"), 0 },
    { "OPTIONS *", BYTES("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), 0 },
    { "any token is a method", BYTES("x!#$%&'*+-.^_`|~9 / HTTP/1.1\r\n" HOST "\r\n"), 0 },
    { "an IPv6 Host with port", BYTES("GET / HTTP/1.1\r\nHost: [::1]:8000\r\n\r\n"), 0 },
    { "white space around a value", BYTES(POST "a: \t b c \t \r\n\r\n"), 0 },
    { "an empty value", BYTES(POST "a:\r\nb: \r\n\r\n"), 0 },
    { "bytes above ASCII in a value", BYTES(POST "a: \x80\xC3\xBC\xFF\r\n\r\n"), 0 },
    { "a tab inside a value", BYTES(POST "a: 12345\t6789012345\r\n\r\n"), 0 },
    { "a repeated header", BYTES(POST "a: 1\r\nA: 2\r\n\r\n"), 0 },
    { "Content-Length 0", BYTES(POST "Content-Length: 0\r\n\r\n"), 0 },
    { "chunked in any case", BYTES(POST "transfer-ENCODING: Chunked\r\n\r\n"), 0 },
    { "what is behind the head is left alone", BYTES(POST "\r\n\0\n\r"), 0 },

    { "nothing yet", BYTES(""), -1 },
    { "no empty line yet", BYTES(POST "a: b\r\n"), -1 },
    { "no last line feed yet", BYTES(POST "\r"), -1 },

    { "an empty line first", BYTES("\r\nGET / HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "white space first", BYTES(" GET / HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "TLS to a plain port", BYTES("\x16\x03\x01\x02"), 400 },
    { "a method that is no token", BYTES("G(T / HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "two spaces behind the method", BYTES("GET  / HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "a tab behind the method", BYTES("GET\t/ HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "two spaces behind the target", BYTES("GET /  HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "no target", BYTES("GET HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "no version", BYTES("GET /\r\n" HOST "\r\n"), 400 },
    { "absolute form", BYTES("GET http://h/ HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "authority form", BYTES("CONNECT h:80 HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "GET *", BYTES("GET * HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "OPTIONS */a", BYTES("OPTIONS */a HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "a fragment", BYTES("GET /#a HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "NUL in the target", BYTES("GET /\0 HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "a byte above ASCII in the target", BYTES("GET /\xC3\xBC HTTP/1.1\r\n" HOST "\r\n"), 400 },
    { "white space behind the version", BYTES("GET / HTTP/1.1 \r\n" HOST "\r\n"), 400 },
    { "lower-case protocol", BYTES("GET / http/1.1\r\n" HOST "\r\n"), 400 },
    { "another protocol", BYTES("GET / HTTQ/1.1\r\n" HOST "\r\n"), 400 },
    { "version 1.11", BYTES("GET / HTTP/1.11\r\n" HOST "\r\n"), 400 },
    { "version 1", BYTES("GET / HTTP/1\r\n" HOST "\r\n"), 400 },
    { "version 2.0", BYTES("GET / HTTP/2.0\r\n" HOST "\r\n"), 505 },
    { "version 1.2", BYTES("GET / HTTP/1.2\r\n" HOST "\r\n"), 505 },
    { "HTTP/2 with prior knowledge", BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 400 },

    { "bare LF behind the request line", BYTES("GET / HTTP/1.1\nHost: h\r\n\r\n"), 400 },
    { "bare LF behind a header", BYTES(POST "a: b\nc: d\r\n\r\n"), 400 },
    { "bare LF as the empty line", BYTES(POST "\n"), 400 },
    { "bare CR behind the request line", BYTES("GET / HTTP/1.1\rHost: h\r\n\r\n"), 400 },
    { "bare CR in a value", BYTES(POST "a: b\rc: d\r\n\r\n"), 400 },
    { "bare CR as the empty line", BYTES(POST "\rx"), 400 },
    { "CR CR LF", BYTES(POST "a: b\r\r\n\r\n"), 400 },
    { "NUL in a value", BYTES(POST "a: b\0c\r\n\r\n"), 400 },
    { "NUL in a long value", BYTES(POST "a: 0123456789abc\0def0123456789\r\n\r\n"), 400 },
    { "DEL in a value", BYTES(POST "a: 01234567\x7F\r\n\r\n"), 400 },
    { "unit separator in a value", BYTES(POST "a: 01234567\x1F 89abcdef\r\n\r\n"), 400 },
    { "vertical tab in a value", BYTES(POST "a: \x0B\r\n\r\n"), 400 },
    { "NUL in a name", BYTES(POST "a\0b: c\r\n\r\n"), 400 },
    { "a byte above ASCII in a name", BYTES(POST "\xC3\xBC: c\r\n\r\n"), 400 },
    { "folding by a space", BYTES(POST "a: b\r\n c\r\n\r\n"), 400 },
    { "folding by a tab", BYTES(POST "a: b\r\n\tc\r\n\r\n"), 400 },
    { "folding of the first header", BYTES("GET / HTTP/1.1\r\n Host: h\r\n\r\n"), 400 },
    { "space before the colon", BYTES(POST "Content-Length : 5\r\n\r\n"), 400 },
    { "tab before the colon", BYTES(POST "Transfer-Encoding\t: chunked\r\n\r\n"), 400 },
    { "an empty name", BYTES(POST ": b\r\n\r\n"), 400 },
    { "no colon", BYTES(POST "abc\r\n\r\n"), 400 },
    { "no Host", BYTES("GET / HTTP/1.1\r\na: b\r\n\r\n"), 400 },
    { "two Hosts", BYTES(POST "host: h\r\n\r\n"), 400 },
    { "two Hosts in HTTP/1.0", BYTES("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), 400 },
    { "white space in Host", BYTES("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400 },
    { "a path in Host", BYTES("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400 },
    { "a user in Host", BYTES("GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"), 400 },

    { "Content-Length with Transfer-Encoding",
      BYTES(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
    { "Transfer-Encoding with Content-Length",
      BYTES(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"), 400 },
    { "differing Content-Lengths", BYTES(POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n"),
      400 },
    { "equal Content-Lengths", BYTES(POST "Content-Length: 5\r\ncontent-length: 5\r\n\r\n"), 400 },
    { "a list of Content-Lengths", BYTES(POST "Content-Length: 5, 5\r\n\r\n"), 400 },
    { "an empty Content-Length", BYTES(POST "Content-Length: \r\n\r\n"), 400 },
    { "a positive Content-Length", BYTES(POST "Content-Length: +5\r\n\r\n"), 400 },
    { "a negative Content-Length", BYTES(POST "Content-Length: -5\r\n\r\n"), 400 },
    { "a hexadecimal Content-Length", BYTES(POST "Content-Length: 0x5\r\n\r\n"), 400 },
    { "a Content-Length with a space inside", BYTES(POST "Content-Length: 1 0\r\n\r\n"), 400 },
    { "a fractional Content-Length", BYTES(POST "Content-Length: 5.0\r\n\r\n"), 400 },
    { "chunked in HTTP/1.0", BYTES("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
    { "chunked twice, two headers",
      BYTES(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
    { "identity after chunked",
      BYTES(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"), 400 },
    { "chunked twice, one header", BYTES(POST "Transfer-Encoding: chunked, chunked\r\n\r\n"), 501 },
    { "gzip, chunked", BYTES(POST "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501 },
    { "gzip", BYTES(POST "Transfer-Encoding: gzip\r\n\r\n"), 501 },
    { "identity", BYTES(POST "Transfer-Encoding: identity\r\n\r\n"), 501 },
    { "xchunked", BYTES(POST "Transfer-Encoding: xchunked\r\n\r\n"), 501 },
    { "quoted chunked", BYTES(POST "Transfer-Encoding: \"chunked\"\r\n\r\n"), 501 },
    { "chunked with a parameter", BYTES(POST "Transfer-Encoding: chunked;a=b\r\n\r\n"), 501 },
    { "an empty coding", BYTES(POST "Transfer-Encoding:\r\n\r\n"), 501 },
    { "chunked behind a vertical tab",
      BYTES(POST "Transfer-Encoding: \x0B"
                 "chunked\r\n\r\n"),
      400 },
    { "another expectation", BYTES(POST "Expect: 200-ok\r\n\r\n"), 417 },
};

/* What a feeding came to. */
struct verdict {
    int status; /* As `want` above. */
    struct http_parser parser;
};

static void feed_copy(struct verdict *verdict, struct bytes text, size_t size)
{
    uint8_t *arrived = malloc(size == 0 ? 1 : size);
    memcpy(arrived, text.data, size);
    enum http_parser_status status = http_parser_feed(&verdict->parser, arrived, size);
    verdict->status = status == HTTP_PARSER_DONE   ? 0
                      : status == HTTP_PARSER_MORE ? -1
                                                   : verdict->parser.refusal;
    free(arrived);
}

static struct verdict feed_whole(struct bytes text, size_t size_max)
{
    struct verdict verdict;
    http_parser_init(&verdict.parser, size_max);
    feed_copy(&verdict, text, text.len);
    return verdict;
}

static void assert_same(const char *name, const struct verdict *a, const struct verdict *b)
{
    if (a->status != b->status)
        fail_msg("%s: %d whole, %d in pieces", name, a->status, b->status);
    assert_int_equal(a->parser.at, b->parser.at);
    if (a->status != 0)
        return;
    assert_int_equal(a->parser.field_count, b->parser.field_count);
    assert_memory_equal(a->parser.fields, b->parser.fields,
                        a->parser.field_count * sizeof a->parser.fields[0]);
    assert_memory_equal(&a->parser.target, &b->parser.target, sizeof a->parser.target);
    assert_int_equal(a->parser.content_length, b->parser.content_length);
    assert_int_equal(a->parser.keeps_alive, b->parser.keeps_alive);
}

static void heads_are_accepted_and_refused_as_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        struct verdict verdict = feed_whole(heads[i].text, HEAD_SIZE_MAX);
        if (verdict.status != heads[i].want)
            fail_msg("%s: %d instead of %d", heads[i].name, verdict.status, heads[i].want);
    }
}

static void the_verdict_does_not_depend_on_how_a_head_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        struct bytes text = heads[i].text;
        struct verdict whole = feed_whole(text, HEAD_SIZE_MAX);
        struct verdict bytewise;
        http_parser_init(&bytewise.parser, HEAD_SIZE_MAX);
        for (size_t size = 0; size <= text.len; size++)
            feed_copy(&bytewise, text, size);
        assert_same(heads[i].name, &whole, &bytewise);
        for (size_t cut = 0; cut <= text.len; cut++) {
            struct verdict half_units;
            http_parser_init(&half_units.parser, HEAD_SIZE_MAX);
            feed_copy(&half_units, text, cut);
            feed_copy(&half_units, text, text.len);
            assert_same(heads[i].name, &whole, &half_units);
        }
    }
}

static const char sdk_head[] =
    "POST / HTTP/1.1\r\nHost: localhost:8000\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n"
    "Content-Type: application/x-amz-json-1.0\r\nContent-Length: 61\r\n"
    "Connection: Upgrade, KEEP-ALIVE ,x\r\nExpect: 100-Continue\r\n\r\n";

static void a_head_is_taken_apart(void **state)
{
    (void)state;
    struct bytes text = bytes_of(sdk_head, sizeof sdk_head - 1);
    struct verdict verdict = feed_whole(text, HEAD_SIZE_MAX);
    const struct http_parser *parser = &verdict.parser;
    assert_int_equal(verdict.status, 0);
    assert_int_equal(parser->at, text.len);
    assert_true(bytes_equal_text(http_span_bytes(parser->method, text.data), "POST"));
    assert_true(bytes_equal_text(http_span_bytes(parser->target, text.data), "/"));
    assert_int_equal(parser->field_count, 6);
    struct http_field target = parser->fields[1];
    assert_true(bytes_equal_text(http_span_bytes(target.name, text.data), "X-Amz-Target"));
    assert_true(
        bytes_equal_text(http_span_bytes(target.value, text.data), "DynamoDB_20120810.GetItem"));
    assert_int_equal(parser->content_length, 61);
    assert_true(parser->expects_continue);
    assert_true(parser->keeps_alive);
    assert_false(parser->chunked);
    assert_false(parser->version_1_0);
}

static void white_space_around_a_value_is_not_part_of_it(void **state)
{
    (void)state;
    struct bytes text = BYTES(POST "a: \t b c \t \r\n\r\n");
    struct verdict verdict = feed_whole(text, HEAD_SIZE_MAX);
    struct bytes value = http_span_bytes(verdict.parser.fields[1].value, text.data);
    assert_true(bytes_equal_text(value, "b c"));
}

static const struct {
    const char *text;
    bool keeps_alive;
} connections[] = {
    { "GET / HTTP/1.1\r\nHost: h\r\n\r\n", true },
    { "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false },
    { "GET / HTTP/1.1\r\nHost: h\r\nConnection: a,,CLOSE\r\n\r\n", false },
    { "GET / HTTP/1.1\r\nHost: h\r\nConnection: closer, enclose\r\n\r\n", true },
    { "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n", false },
    { "GET / HTTP/1.0\r\n\r\n", false },
    { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true },
    { "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false },
};

static void the_connection_is_kept_as_the_client_asks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(connections); i++) {
        struct verdict verdict = feed_whole(bytes_from_text(connections[i].text), HEAD_SIZE_MAX);
        assert_int_equal(verdict.status, 0);
        if (verdict.parser.keeps_alive != connections[i].keeps_alive)
            fail_msg("%s", connections[i].text);
    }
}

static const struct {
    const char *digits;
    uint64_t want;
} lengths[] = {
    { "0", 0 },
    { "0016", 16 },
    { "18446744073709551614", UINT64_MAX - 1 },
    { "18446744073709551615", UINT64_MAX },
    { "18446744073709551616", UINT64_MAX },
    { "99999999999999999999999999999999999999", UINT64_MAX },
};

static void a_content_length_never_wraps(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        char text[128];
        int size =
            snprintf(text, sizeof text, POST "Content-Length: %s\r\n\r\n", lengths[i].digits);
        struct verdict verdict = feed_whole(bytes_of(text, (size_t)size), HEAD_SIZE_MAX);
        assert_int_equal(verdict.status, 0);
        assert_true(verdict.parser.content_length == lengths[i].want);
    }
}

static void an_expectation_is_ignored_in_http_1_0(void **state)
{
    (void)state;
    struct verdict verdict =
        feed_whole(BYTES("POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n"), HEAD_SIZE_MAX);
    assert_int_equal(verdict.status, 0);
    assert_false(verdict.parser.expects_continue);
}

static void a_head_may_be_as_large_as_the_limit_and_no_larger(void **state)
{
    (void)state;
    struct bytes text = bytes_of(sdk_head, sizeof sdk_head - 1);
    assert_int_equal(feed_whole(text, text.len + 1).status, 0);
    assert_int_equal(feed_whole(text, text.len).status, 0);
    assert_int_equal(feed_whole(text, text.len - 1).status, 431);
    /* Known as soon as the limit is reached, without waiting for one byte more. */
    struct bytes part = bytes_of(text.data, 40);
    assert_int_equal(feed_whole(part, part.len + 1).status, -1);
    assert_int_equal(feed_whole(part, part.len).status, 431);
}

static int status_with_headers(size_t count)
{
    char text[4096];
    size_t size = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" HOST);
    for (size_t i = 1; i < count; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "a%zu: b\r\n", i);
    size += (size_t)snprintf(text + size, sizeof text - size, "\r\n");
    return feed_whole(bytes_of(text, size), HEAD_SIZE_MAX).status;
}

static void the_number_of_headers_is_bounded(void **state)
{
    (void)state;
    assert_int_equal(status_with_headers(HTTP_PARSER_HEADERS_MAX - 1), 0);
    assert_int_equal(status_with_headers(HTTP_PARSER_HEADERS_MAX), 0);
    assert_int_equal(status_with_headers(HTTP_PARSER_HEADERS_MAX + 1), 431);
}

/* Every byte, at every place of texts around the length of the blocks that are looked at at once.
 */
static void every_byte_is_allowed_or_refused_at_every_place(void **state)
{
    (void)state;
    enum { SIZE_MAX_TESTED = 40 };
    for (int byte = 0; byte < 256; byte++) {
        bool is_value = byte == '\t' || (byte >= 0x20 && byte != 0x7F);
        bool is_token = (http_grammar_classes[byte] & HTTP_GRAMMAR_TOKEN) != 0;
        for (size_t size = 1; size <= SIZE_MAX_TESTED; size++) {
            uint8_t *text = malloc(size); /* Of just that size, so that ASan sees its end. */
            for (size_t at = 0; at < size; at++) {
                memset(text, 'v', size);
                text[at] = (uint8_t)byte;
                assert_int_equal(http_grammar_skip_value(text, 0, size), is_value ? size : at);
                assert_int_equal(http_grammar_skip_name(text, 0, size), is_token ? size : at);
                assert_int_equal(http_grammar_count_controls(text, size), is_value ? 0 : 1);
            }
            free(text);
        }
    }
}

/* More than one byte of a vector register can count. */
static void many_controls_are_counted(void **state)
{
    (void)state;
    enum { SIZE = 20000 };
    uint8_t *text = malloc(SIZE);
    memset(text, '\n', SIZE);
    for (size_t size = 0; size < SIZE; size += 37)
        assert_int_equal(http_grammar_count_controls(text, size), size);
    free(text);
}

/* --- Chunked bodies --- */

enum { CONTENT_SIZE_MAX = 20 };

/* `want` as for heads; `content` and `left` only where it is 0. */
static const struct {
    const char *name;
    struct bytes text;
    int want;
    const char *content;
    size_t left;
} bodies[] = {
    { "no content", BYTES("0\r\n\r\n"), 0, "", 0 },
    { "one chunk", BYTES("5\r\nhello\r\n0\r\n\r\n"), 0, "hello", 0 },
    { "two chunks", BYTES("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), 0, "hello world", 0 },
    { "hexadecimal in both cases", BYTES("a\r\n0123456789\r\nA\r\nabcdefghij\r\n0\r\n\r\n"), 0,
      "0123456789abcdefghij", 0 },
    { "CRLF as content", BYTES("4\r\n\r\n\r\n\r\n0\r\n\r\n"), 0, "\r\n\r\n", 0 },
    { "leading zeros", BYTES("0000000000000005\r\nhello\r\n000\r\n\r\n"), 0, "hello", 0 },
    { "extensions", BYTES("5;a;b=c;d=\"e f\"\r\nhello\r\n0;x\r\n\r\n"), 0, "hello", 0 },
    { "trailers", BYTES("1\r\nx\r\n0\r\nA: b\r\nContent-Length: 9\r\nc:\r\n\r\n"), 0, "x", 0 },
    { "the next request stays", BYTES("0\r\n\r\nGET /"), 0, "", 5 },

    { "nothing yet", BYTES(""), -1, NULL, 0 },
    { "a size without its end", BYTES("5"), -1, NULL, 0 },
    { "content without its end", BYTES("5\r\nhello"), -1, NULL, 0 },
    { "no empty line yet", BYTES("0\r\n"), -1, NULL, 0 },
    { "no last line feed yet", BYTES("0\r\n\r"), -1, NULL, 0 },

    { "no size", BYTES("\r\nhello"), 400, NULL, 0 },
    { "no digit", BYTES("g\r\n"), 400, NULL, 0 },
    { "a sign", BYTES("+5\r\nhello\r\n"), 400, NULL, 0 },
    { "a minus", BYTES("-5\r\nhello\r\n"), 400, NULL, 0 },
    { "0x", BYTES("0x5\r\nhello\r\n"), 400, NULL, 0 },
    { "white space before the size", BYTES(" 5\r\nhello\r\n"), 400, NULL, 0 },
    { "white space behind the size", BYTES("5 \r\nhello\r\n"), 400, NULL, 0 },
    { "an extension without a size", BYTES(";a\r\n"), 400, NULL, 0 },
    { "17 digits", BYTES("00000000000000005\r\nhello\r\n"), 400, NULL, 0 },
    { "bare LF behind the size", BYTES("5\nhello\r\n"), 400, NULL, 0 },
    { "bare CR behind the size", BYTES("5\rhello\r\n"), 400, NULL, 0 },
    { "bare LF in an extension", BYTES("5;a\nhello\r\n"), 400, NULL, 0 },
    { "NUL in an extension", BYTES("5;\0\r\nhello\r\n"), 400, NULL, 0 },
    { "content longer than its size", BYTES("5\r\nhello!\r\n"), 400, NULL, 0 },
    { "bare LF behind content", BYTES("5\r\nhello\n0\r\n\r\n"), 400, NULL, 0 },
    { "bare CR behind content", BYTES("5\r\nhello\r0\r\n\r\n"), 400, NULL, 0 },
    { "no CRLF behind content", BYTES("5\r\nhello0\r\n\r\n"), 400, NULL, 0 },
    { "a trailer without a name", BYTES("0\r\n: a\r\n\r\n"), 400, NULL, 0 },
    { "a trailer without a colon", BYTES("0\r\nabc\r\n\r\n"), 400, NULL, 0 },
    { "white space before a trailer's colon", BYTES("0\r\na : b\r\n\r\n"), 400, NULL, 0 },
    { "a folded trailer", BYTES("0\r\na: b\r\n c\r\n\r\n"), 400, NULL, 0 },
    { "bare LF behind a trailer", BYTES("0\r\na: b\n\r\n"), 400, NULL, 0 },
    { "bare CR behind a trailer", BYTES("0\r\na: b\rc: d\r\n\r\n"), 400, NULL, 0 },
    { "NUL in a trailer", BYTES("0\r\na: \0\r\n\r\n"), 400, NULL, 0 },
    { "bare LF as the empty line", BYTES("0\r\n\n"), 400, NULL, 0 },
    { "bare CR as the empty line", BYTES("0\r\n\rx"), 400, NULL, 0 },
    { "one byte above the limit", BYTES("15\r\n"), 413, NULL, 0 },
    { "above the limit in two chunks", BYTES("14\r\n01234567890123456789\r\n1"), 413, NULL, 0 },
    { "a size of 64 bits", BYTES("ffffffffffffffff\r\n"), 413, NULL, 0 },
    { "sizes that would add up to 64 bits and wrap", BYTES("1\r\nx\r\nffffffffffffffff\r\n"), 413,
      NULL, 0 },
};

struct decoded {
    int status;
    char content[64];
    size_t content_size;
    size_t left;
    struct http_chunked chunked;
};

static void decode_piece(struct decoded *decoded, struct bytes piece)
{
    uint8_t *arrived = malloc(piece.len == 0 ? 1 : piece.len);
    memcpy(arrived, piece.data, piece.len);
    struct bytes input = bytes_of(arrived, piece.len), content;
    enum http_chunked_status status;
    while ((status = http_chunked_next(&decoded->chunked, &input, &content)) ==
           HTTP_CHUNKED_CONTENT) {
        assert_true(content.len > 0);
        assert_true(content.len <= sizeof decoded->content - decoded->content_size);
        memcpy(decoded->content + decoded->content_size, content.data, content.len);
        decoded->content_size += content.len;
    }
    if (status == HTTP_CHUNKED_MORE)
        assert_int_equal(input.len, 0);
    decoded->left += input.len;
    decoded->status = status == HTTP_CHUNKED_DONE   ? 0
                      : status == HTTP_CHUNKED_MORE ? -1
                                                    : decoded->chunked.refusal;
    free(arrived);
}

static void check_body(size_t index, const struct decoded *decoded, size_t cut)
{
    if (decoded->status != bodies[index].want)
        fail_msg("%s, cut at %zu: %d instead of %d", bodies[index].name, cut, decoded->status,
                 bodies[index].want);
    if (bodies[index].want != 0)
        return;
    assert_true(
        bytes_equal_text(bytes_of(decoded->content, decoded->content_size), bodies[index].content));
    assert_int_equal(decoded->left, bodies[index].left);
}

static void chunks_are_accepted_and_refused_as_listed_however_they_are_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        struct bytes text = bodies[i].text;
        for (size_t cut = 0; cut <= text.len; cut++) {
            struct decoded decoded = { 0 };
            http_chunked_init(&decoded.chunked, CONTENT_SIZE_MAX);
            decode_piece(&decoded, bytes_of(text.data, cut));
            decode_piece(&decoded, bytes_of(text.data + cut, text.len - cut));
            check_body(i, &decoded, cut);
        }
        struct decoded bytewise = { 0 };
        http_chunked_init(&bytewise.chunked, CONTENT_SIZE_MAX);
        for (size_t at = 0; at < text.len; at++)
            decode_piece(&bytewise, bytes_of(text.data + at, 1));
        if (text.len > 0)
            check_body(i, &bytewise, 1);
    }
}

/* `before`, `size` times 'a', `after`, over and over, `times` times; then the end of a body. */
static int status_of_repeated(const char *before, size_t size, const char *after, size_t times)
{
    struct decoded decoded = { 0 };
    http_chunked_init(&decoded.chunked, 64);
    for (size_t i = 0; i < times; i++) {
        decode_piece(&decoded, bytes_from_text(before));
        for (size_t j = 0; j < size; j++)
            decode_piece(&decoded, BYTES("a"));
        decode_piece(&decoded, bytes_from_text(after));
    }
    decode_piece(&decoded, BYTES("0\r\n\r\n"));
    return decoded.status;
}

static void extensions_are_bounded_over_all_chunks(void **state)
{
    (void)state;
    const size_t half = HTTP_CHUNKED_EXTENSIONS_SIZE_MAX / 2;
    assert_int_equal(status_of_repeated("1;", half - 1, "\r\nx\r\n", 2), 0);
    assert_int_equal(status_of_repeated("1;", half, "\r\nx\r\n", 2), 0);
    assert_int_equal(status_of_repeated("1;", half + 1, "\r\nx\r\n", 2), 400);
}

static void trailers_are_bounded(void **state)
{
    (void)state;
    /* Counted: the line without its LF, then the CR of the empty line. */
    const size_t around = sizeof "a:\r" - 1 + sizeof "\r" - 1;
    const size_t most = HTTP_CHUNKED_TRAILERS_SIZE_MAX - around;
    assert_int_equal(status_of_repeated("0\r\na:", most - 1, "\r\n\r\n", 1), 0);
    assert_int_equal(status_of_repeated("0\r\na:", most, "\r\n\r\n", 1), 0);
    assert_int_equal(status_of_repeated("0\r\na:", most + 1, "\r\n\r\n", 1), 431);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_accepted_and_refused_as_listed),
        cmocka_unit_test(the_verdict_does_not_depend_on_how_a_head_is_cut),
        cmocka_unit_test(a_head_is_taken_apart),
        cmocka_unit_test(white_space_around_a_value_is_not_part_of_it),
        cmocka_unit_test(the_connection_is_kept_as_the_client_asks),
        cmocka_unit_test(a_content_length_never_wraps),
        cmocka_unit_test(an_expectation_is_ignored_in_http_1_0),
        cmocka_unit_test(a_head_may_be_as_large_as_the_limit_and_no_larger),
        cmocka_unit_test(the_number_of_headers_is_bounded),
        cmocka_unit_test(every_byte_is_allowed_or_refused_at_every_place),
        cmocka_unit_test(many_controls_are_counted),
        cmocka_unit_test(chunks_are_accepted_and_refused_as_listed_however_they_are_cut),
        cmocka_unit_test(extensions_are_bounded_over_all_chunks),
        cmocka_unit_test(trailers_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
