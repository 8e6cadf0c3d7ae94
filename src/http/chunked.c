/* chunked.c -- a state machine over bytes; content is returned in runs. */
#include "http/chunked.h"
#include <assert.h>
#include <stdbool.h>
#include "http/grammar.h"

enum state {
    IN_SIZE,
    IN_EXTENSION,
    AT_SIZE_LF,
    IN_CONTENT,
    AT_CONTENT_CR,
    AT_CONTENT_LF,
    AT_TRAILER, /* The first byte of a trailer line, or the CR of the empty one. */
    IN_TRAILER_NAME,
    IN_TRAILER_VALUE,
    AT_TRAILER_LF,
    AT_END_LF,
    DONE,
    REFUSED,
};

static_assert(HTTP_CHUNKED_SIZE_DIGITS_MAX * 4 <= 64, "a chunk's size cannot overflow");

void http_chunked_init(struct http_chunked *chunked, uint64_t content_size_max)
{
    *chunked = (struct http_chunked){ .content_size_max = content_size_max, .state = IN_SIZE };
}

static void refuse(struct http_chunked *chunked, uint16_t status)
{
    chunked->state = REFUSED;
    chunked->refusal = status;
}

/* -1 if it is no digit. */
static int hex_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return -1;
}

static void take_size(struct http_chunked *chunked, uint8_t byte)
{
    int digit = hex_digit(byte);
    if (digit >= 0) {
        if (chunked->size_digits == HTTP_CHUNKED_SIZE_DIGITS_MAX) {
            refuse(chunked, 400);
            return;
        }
        chunked->size_digits++;
        chunked->chunk_left = chunked->chunk_left << 4 | (uint64_t)digit;
        if (chunked->chunk_left > chunked->content_size_max - chunked->content_size)
            refuse(chunked, 413); /* Before memory is spent on it. */
    } else if (chunked->size_digits == 0) {
        refuse(chunked, 400);
    } else if (byte == '\r') {
        chunked->state = AT_SIZE_LF;
    } else if (byte == ';') {
        chunked->state = IN_EXTENSION;
    } else {
        refuse(chunked, 400);
    }
}

static void take_extension(struct http_chunked *chunked, uint8_t byte)
{
    if (byte == '\r')
        chunked->state = AT_SIZE_LF;
    else if (http_grammar_skip_value(&byte, 0, 1) == 0 ||
             ++chunked->extensions_size > HTTP_CHUNKED_EXTENSIONS_SIZE_MAX)
        refuse(chunked, 400);
}

static void take_trailer(struct http_chunked *chunked, uint8_t byte)
{
    if (++chunked->trailers_size > HTTP_CHUNKED_TRAILERS_SIZE_MAX) {
        refuse(chunked, 431);
        return;
    }
    bool is_token = (http_grammar_classes[byte] & HTTP_GRAMMAR_TOKEN) != 0;
    if (chunked->state == AT_TRAILER) {
        if (byte == '\r')
            chunked->state = AT_END_LF;
        else if (is_token)
            chunked->state = IN_TRAILER_NAME;
        else
            refuse(chunked, 400);
    } else if (chunked->state == IN_TRAILER_NAME) {
        if (byte == ':')
            chunked->state = IN_TRAILER_VALUE;
        else if (!is_token)
            refuse(chunked, 400);
    } else if (byte == '\r') {
        chunked->state = AT_TRAILER_LF;
    } else if (http_grammar_skip_value(&byte, 0, 1) == 0) {
        refuse(chunked, 400);
    }
}

static void expect(struct http_chunked *chunked, uint8_t byte, char wanted, enum state next)
{
    if (byte == (uint8_t)wanted)
        chunked->state = (uint8_t)next;
    else
        refuse(chunked, 400);
}

/* After the size. A size of zero ends the content. */
static void begin_content(struct http_chunked *chunked, uint8_t byte)
{
    expect(chunked, byte, '\n', chunked->chunk_left == 0 ? AT_TRAILER : IN_CONTENT);
    chunked->content_size += chunked->chunk_left;
    chunked->size_digits = 0;
}

static void take_byte(struct http_chunked *chunked, uint8_t byte)
{
    switch ((enum state)chunked->state) {
    case IN_SIZE:
        take_size(chunked, byte);
        break;
    case IN_EXTENSION:
        take_extension(chunked, byte);
        break;
    case AT_SIZE_LF:
        begin_content(chunked, byte);
        break;
    case AT_CONTENT_CR:
        expect(chunked, byte, '\r', AT_CONTENT_LF);
        break;
    case AT_CONTENT_LF:
        expect(chunked, byte, '\n', IN_SIZE);
        break;
    case AT_TRAILER:
    case IN_TRAILER_NAME:
    case IN_TRAILER_VALUE:
        take_trailer(chunked, byte);
        break;
    case AT_TRAILER_LF:
        expect(chunked, byte, '\n', AT_TRAILER);
        break;
    case AT_END_LF:
        expect(chunked, byte, '\n', DONE);
        break;
    case IN_CONTENT:
    case DONE:
    case REFUSED:
        assert(false);
    }
}

static struct bytes take_content(struct http_chunked *chunked, struct bytes *input)
{
    size_t size = input->len < chunked->chunk_left ? input->len : (size_t)chunked->chunk_left;
    struct bytes content = bytes_of(input->data, size);
    *input = bytes_of(input->data + size, input->len - size);
    chunked->chunk_left -= size;
    if (chunked->chunk_left == 0)
        chunked->state = AT_CONTENT_CR;
    return content;
}

enum http_chunked_status http_chunked_next(struct http_chunked *chunked, struct bytes *input,
                                           struct bytes *content)
{
    while (chunked->state < DONE && input->len > 0) {
        if (chunked->state == IN_CONTENT) {
            *content = take_content(chunked, input);
            return HTTP_CHUNKED_CONTENT;
        }
        take_byte(chunked, input->data[0]);
        *input = bytes_of(input->data + 1, input->len - 1);
    }
    if (chunked->state == DONE)
        return HTTP_CHUNKED_DONE;
    return chunked->state == REFUSED ? HTTP_CHUNKED_REFUSED : HTTP_CHUNKED_MORE;
}
