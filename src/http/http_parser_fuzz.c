/* http_parser_fuzz.c -- heads and chunked bodies, whole and in pieces.
 *
 * The first byte selects one (even, like 'h': a head; odd, like 'c': chunks) and seeds the cuts.
 * Whole and in pieces, the result must be the same. An accepted head has the invariants that the
 * layers above rely on, and still has the same meaning after it is written out again.
 */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/random.h"
#include "http/chunked.h"
#include "http/grammar.h"
#include "http/parser.h"

enum { HEAD_SIZE_MAX = 600, CONTENT_SIZE_MAX = 1000, PIECE_MAX = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- Heads --- */

static void check_slice(struct bytes slice)
{
    for (size_t i = 0; i < slice.len; i++)
        assert(slice.data[i] != '\0' && slice.data[i] != '\r' && slice.data[i] != '\n');
}

static size_t count_named(const struct http_parser *parser, struct bytes text, struct bytes name)
{
    size_t count = 0;
    for (size_t i = 0; i < parser->field_count; i++)
        count += http_header_equal(http_span_bytes(parser->fields[i].name, text.data), name);
    return count;
}

static void check_head(const struct http_parser *parser, struct bytes text)
{
    assert(parser->at <= text.len && parser->at <= HEAD_SIZE_MAX);
    assert(bytes_equal(bytes_of(text.data + parser->at - 4, 4), BYTES("\r\n\r\n")));
    assert(parser->method.len > 0 && parser->target.len > 0);
    check_slice(http_span_bytes(parser->method, text.data));
    check_slice(http_span_bytes(parser->target, text.data));
    assert(parser->field_count <= HTTP_PARSER_HEADERS_MAX);
    for (size_t i = 0; i < parser->field_count; i++) {
        struct http_field field = parser->fields[i];
        struct bytes value = http_span_bytes(field.value, text.data);
        assert(field.name.len > 0 && field.name.at + field.name.len < field.value.at);
        assert(field.value.at + field.value.len <= parser->at);
        check_slice(http_span_bytes(field.name, text.data));
        check_slice(value);
        assert(value.len == 0 || (!http_grammar_is_blank(value.data[0]) &&
                                  !http_grammar_is_blank(value.data[value.len - 1])));
    }
    size_t hosts = count_named(parser, text, BYTES("Host"));
    size_t lengths = count_named(parser, text, BYTES("Content-Length"));
    size_t codings = count_named(parser, text, BYTES("Transfer-Encoding"));
    assert(hosts == 1 || (hosts == 0 && parser->version_1_0));
    assert(lengths + codings <= 1);
    assert(parser->chunked == (codings == 1) && parser->has_content_length == (lengths == 1));
}

static struct bytes format_head(struct arena *arena, const struct http_parser *parser,
                                struct bytes text)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, http_span_bytes(parser->method, text.data));
    buffer_append_byte(&out, ' ');
    buffer_append_bytes(&out, http_span_bytes(parser->target, text.data));
    buffer_append_bytes(&out,
                        parser->version_1_0 ? BYTES(" HTTP/1.0\r\n") : BYTES(" HTTP/1.1\r\n"));
    for (size_t i = 0; i < parser->field_count; i++) {
        buffer_append_bytes(&out, http_span_bytes(parser->fields[i].name, text.data));
        buffer_append_byte(&out, ':');
        buffer_append_bytes(&out, http_span_bytes(parser->fields[i].value, text.data));
        buffer_append_bytes(&out, BYTES("\r\n"));
    }
    buffer_append_bytes(&out, BYTES("\r\n"));
    return buffer_bytes(&out);
}

static void check_same_head(const struct http_parser *a, struct bytes a_text,
                            const struct http_parser *b, struct bytes b_text)
{
    assert(a->field_count == b->field_count && a->content_length == b->content_length);
    assert(a->chunked == b->chunked && a->keeps_alive == b->keeps_alive);
    assert(a->expects_continue == b->expects_continue && a->version_1_0 == b->version_1_0);
    assert(bytes_equal(http_span_bytes(a->method, a_text.data),
                       http_span_bytes(b->method, b_text.data)));
    assert(bytes_equal(http_span_bytes(a->target, a_text.data),
                       http_span_bytes(b->target, b_text.data)));
    for (size_t i = 0; i < a->field_count; i++) {
        assert(bytes_equal(http_span_bytes(a->fields[i].name, a_text.data),
                           http_span_bytes(b->fields[i].name, b_text.data)));
        assert(bytes_equal(http_span_bytes(a->fields[i].value, a_text.data),
                           http_span_bytes(b->fields[i].value, b_text.data)));
    }
}

static void fuzz_head(struct arena *arena, struct random *random, struct bytes text)
{
    struct http_parser whole, pieces, again;
    http_parser_init(&whole, HEAD_SIZE_MAX);
    http_parser_init(&pieces, HEAD_SIZE_MAX);
    enum http_parser_status status = http_parser_feed(&whole, text.data, text.len);
    enum http_parser_status pieces_status = HTTP_PARSER_MORE;
    for (size_t at = 0; pieces_status == HTTP_PARSER_MORE && at < text.len;) {
        at += random_below(random, PIECE_MAX) + 1;
        at = at < text.len ? at : text.len;
        pieces_status = http_parser_feed(&pieces, text.data, at);
    }
    assert(status == pieces_status);
    assert(whole.at == pieces.at && whole.refusal == pieces.refusal);
    if (status != HTTP_PARSER_DONE)
        return;
    check_same_head(&whole, text, &pieces, text);
    check_head(&whole, text);
    struct bytes written = format_head(arena, &whole, text);
    http_parser_init(&again, HEAD_SIZE_MAX);
    status = http_parser_feed(&again, written.data, written.len);
    assert(status == HTTP_PARSER_DONE);
    check_same_head(&whole, text, &again, written);
}

/* --- Chunks --- */

struct decoding {
    struct http_chunked chunked;
    struct buffer content;
    enum http_chunked_status status;
    size_t taken;
};

static void decoding_init(struct decoding *decoding, struct arena *arena)
{
    *decoding = (struct decoding){ .status = HTTP_CHUNKED_MORE };
    buffer_init(&decoding->content, arena);
    http_chunked_init(&decoding->chunked, CONTENT_SIZE_MAX);
}

static void decode(struct decoding *decoding, struct bytes piece)
{
    struct bytes left = piece, content;
    while ((decoding->status = http_chunked_next(&decoding->chunked, &left, &content)) ==
           HTTP_CHUNKED_CONTENT)
        buffer_append_bytes(&decoding->content, content);
    decoding->taken += piece.len - left.len;
    assert(decoding->status != HTTP_CHUNKED_MORE || left.len == 0);
    assert(decoding->content.len <= CONTENT_SIZE_MAX);
}

static void fuzz_chunked(struct arena *arena, struct random *random, struct bytes text)
{
    struct decoding whole, pieces, again;
    decoding_init(&whole, arena);
    decoding_init(&pieces, arena);
    decode(&whole, text);
    for (size_t at = 0; pieces.status == HTTP_CHUNKED_MORE && at < text.len;) {
        size_t size = random_below(random, PIECE_MAX) + 1;
        size = size < text.len - at ? size : text.len - at;
        decode(&pieces, bytes_of(text.data + at, size));
        at += size;
    }
    struct bytes content = buffer_bytes(&whole.content);
    assert(whole.status == pieces.status && whole.taken == pieces.taken);
    assert(whole.chunked.refusal == pieces.chunked.refusal);
    assert(bytes_equal(content, buffer_bytes(&pieces.content)));
    if (whole.status != HTTP_CHUNKED_DONE)
        return;
    assert(whole.chunked.content_size == content.len);
    decoding_init(&again, arena);
    if (content.len > 0) {
        decode(&again, arena_printf(arena, "%zX\r\n", content.len));
        decode(&again, content);
        decode(&again, BYTES("\r\n"));
    }
    decode(&again, BYTES("0\r\n\r\n"));
    assert(again.status == HTTP_CHUNKED_DONE);
    assert(bytes_equal(content, buffer_bytes(&again.content)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct random random;
    random_init(&random, data[0]);
    struct arena *arena = arena_create();
    struct bytes text = bytes_of(data + 1, size - 1);
    if (data[0] % 2 == 0)
        fuzz_head(arena, &random, text);
    else
        fuzz_chunked(arena, &random, text);
    arena_destroy(arena);
    return 0;
}
