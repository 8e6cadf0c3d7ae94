/* response.c -- see response.h. */
#include "http/response.h"
#include <assert.h>
#include "base/arena.h"
#include "http/grammar.h"

void http_response_init(struct http_response *response, struct arena *arena, uint64_t body_size_max)
{
    *response = (struct http_response){ .body_size_max = body_size_max };
    buffer_init(&response->head, arena);
    buffer_init(&response->body, arena);
}

/* --- The head --- */

/* Takes the line at the front off, without its end. The head is known to end with an empty one. */
static struct bytes next_line(struct bytes *rest)
{
    const uint8_t *end = memchr(rest->data, '\r', rest->len);
    assert(end != NULL);
    size_t size = (size_t)(end - rest->data);
    struct bytes line = bytes_of(rest->data, size);
    *rest = bytes_of(end + 2, rest->len - size - 2);
    return line;
}

/* Every CR before an LF and the reverse: where lines end cannot be read in two ways. */
static bool lines_are_plain(struct bytes head)
{
    for (size_t i = 0; i < head.len; i++) {
        if (head.data[i] == '\n' && (i == 0 || head.data[i - 1] != '\r'))
            return false;
        if (head.data[i] == '\r' && (i + 1 == head.len || head.data[i + 1] != '\n'))
            return false;
    }
    return true;
}

/* "HTTP/1.1 200 OK"; the words at the end may be missing. */
static bool parse_status(struct bytes line, int *out)
{
    enum { CODE_AT = 9, CODE_SIZE = 3 };
    if (line.len < CODE_AT + CODE_SIZE ||
        !(bytes_starts_with(line, BYTES("HTTP/1.1 ")) ||
          bytes_starts_with(line, BYTES("HTTP/1.0 "))) ||
        (line.len > CODE_AT + CODE_SIZE && line.data[CODE_AT + CODE_SIZE] != ' ') ||
        http_grammar_skip_value(line.data, 0, line.len) != line.len)
        return false;
    *out = 0;
    for (int i = CODE_AT; i < CODE_AT + CODE_SIZE; i++) {
        if (!http_grammar_is_digit(line.data[i]))
            return false;
        *out = *out * 10 + (line.data[i] - '0');
    }
    return *out >= 100 && *out <= 599;
}

static bool parse_field(struct bytes line, struct bytes *name, struct bytes *value)
{
    size_t size = http_grammar_skip(line.data, 0, line.len, HTTP_GRAMMAR_TOKEN);
    if (size == 0 || size == line.len || line.data[size] != ':' ||
        http_grammar_skip_value(line.data, 0, line.len) != line.len)
        return false;
    *name = bytes_of(line.data, size);
    size_t first = size + 1, last = line.len;
    while (first < last && http_grammar_is_blank(line.data[first]))
        first++;
    while (last > first && http_grammar_is_blank(line.data[last - 1]))
        last--;
    *value = bytes_of(line.data + first, last - first);
    return true;
}

static bool parse_length(struct bytes digits, uint64_t *out)
{
    enum { DIGITS_MAX = 18 }; /* Below what 64 bits hold, and above every bound. */
    if (digits.len == 0 || digits.len > DIGITS_MAX)
        return false;
    *out = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (!http_grammar_is_digit(digits.data[i]))
            return false;
        *out = *out * 10 + (uint64_t)(digits.data[i] - '0');
    }
    return true;
}

/* What a header says about the body. */
static bool note_field(struct http_response *response, struct bytes name, struct bytes value)
{
    if (http_grammar_same_name(name, BYTES("Content-Length"))) {
        if (response->has_length)
            return false;
        response->has_length = true;
        return parse_length(value, &response->length);
    }
    if (http_grammar_same_name(name, BYTES("Transfer-Encoding"))) {
        if (response->is_chunked || !http_grammar_same_name(value, BYTES("chunked")))
            return false;
        response->is_chunked = true;
    }
    return true;
}

static enum http_response_status parse_head(struct http_response *response)
{
    struct bytes rest = buffer_bytes(&response->head), name, value;
    if (!lines_are_plain(rest) || !parse_status(next_line(&rest), &response->status))
        return HTTP_RESPONSE_DAMAGED;
    for (struct bytes line = next_line(&rest); line.len > 0; line = next_line(&rest)) {
        if (!parse_field(line, &name, &value) || !note_field(response, name, value))
            return HTTP_RESPONSE_DAMAGED;
    }
    if (response->has_length && response->is_chunked)
        return HTTP_RESPONSE_DAMAGED;
    if (response->status < 200) { /* A word in advance; the answer is still to come. */
        if (response->has_length || response->is_chunked)
            return HTTP_RESPONSE_DAMAGED;
        response->head.len = 0;
        return HTTP_RESPONSE_MORE;
    }
    response->head_done = true;
    if (response->status == 204 || response->status == 304)
        return HTTP_RESPONSE_DONE;
    if (response->has_length && response->length > response->body_size_max)
        return HTTP_RESPONSE_TOO_LARGE;
    http_chunked_init(&response->chunked, response->body_size_max);
    return response->has_length && response->length == 0 ? HTTP_RESPONSE_DONE : HTTP_RESPONSE_MORE;
}

static bool head_is_whole(const struct http_response *response)
{
    const struct buffer *head = &response->head;
    return head->len >= 4 && memcmp(head->data + head->len - 4, "\r\n\r\n", 4) == 0;
}

/* Takes bytes off the front of `piece` up to the end of the head. */
static enum http_response_status feed_head(struct http_response *response, struct bytes *piece)
{
    while (piece->len > 0) {
        if (response->head.len == HTTP_RESPONSE_HEAD_SIZE_MAX)
            return HTTP_RESPONSE_TOO_LARGE;
        buffer_append_byte(&response->head, piece->data[0]);
        *piece = bytes_of(piece->data + 1, piece->len - 1);
        if (head_is_whole(response)) {
            enum http_response_status verdict = parse_head(response);
            if (verdict != HTTP_RESPONSE_MORE || response->head_done)
                return verdict;
        }
    }
    return HTTP_RESPONSE_MORE;
}

/* --- The body --- */

static enum http_response_status feed_chunks(struct http_response *response, struct bytes piece)
{
    for (;;) {
        struct bytes content;
        switch (http_chunked_next(&response->chunked, &piece, &content)) {
        case HTTP_CHUNKED_MORE:
            return HTTP_RESPONSE_MORE;
        case HTTP_CHUNKED_CONTENT:
            buffer_append_bytes(&response->body, content);
            break;
        case HTTP_CHUNKED_DONE:
            return HTTP_RESPONSE_DONE;
        case HTTP_CHUNKED_REFUSED:
            return response->chunked.refusal == 413 ? HTTP_RESPONSE_TOO_LARGE
                                                    : HTTP_RESPONSE_DAMAGED;
        }
    }
}

static enum http_response_status feed_body(struct http_response *response, struct bytes piece)
{
    if (response->is_chunked)
        return feed_chunks(response, piece);
    uint64_t end = response->has_length ? response->length : response->body_size_max;
    uint64_t left = end - response->body.len;
    bool fits = piece.len <= left;
    buffer_append(&response->body, piece.data, fits ? piece.len : (size_t)left);
    if (response->has_length)
        return response->body.len == end ? HTTP_RESPONSE_DONE : HTTP_RESPONSE_MORE;
    return fits ? HTTP_RESPONSE_MORE : HTTP_RESPONSE_TOO_LARGE;
}

enum http_response_status http_response_feed(struct http_response *response, struct bytes piece)
{
    if (response->verdict == HTTP_RESPONSE_MORE && !response->head_done)
        response->verdict = feed_head(response, &piece);
    if (response->verdict == HTTP_RESPONSE_MORE && piece.len > 0)
        response->verdict = feed_body(response, piece);
    return response->verdict;
}

enum http_response_status http_response_end(struct http_response *response)
{
    if (response->verdict == HTTP_RESPONSE_MORE) {
        bool by_close = response->head_done && !response->has_length && !response->is_chunked;
        response->verdict = by_close ? HTTP_RESPONSE_DONE : HTTP_RESPONSE_DAMAGED;
    }
    return response->verdict;
}

struct bytes http_response_header(const struct http_response *response, const char *name)
{
    struct bytes rest = buffer_bytes(&response->head), found, value;
    if (!response->head_done)
        return (struct bytes){ 0 };
    next_line(&rest);
    for (struct bytes line = next_line(&rest); line.len > 0; line = next_line(&rest)) {
        if (parse_field(line, &found, &value) &&
            http_grammar_same_name(found, bytes_from_text(name)))
            return value;
    }
    return (struct bytes){ 0 };
}
