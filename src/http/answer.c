/* answer.c -- see answer.h. */
#include "http/answer.h"
#include <assert.h>
#include "base/buffer.h"
#include "base/clock.h"
#include "http/grammar.h"
#include "http/server.h"

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

static void append_text(struct buffer *head, const char *text)
{
    buffer_append(head, text, strlen(text));
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
    buffer_append_bytes(head, name);
    append_text(head, ": ");
    buffer_append_bytes(head, value);
    append_text(head, "\r\n");
}

struct bytes http_answer_format_head(struct arena *arena, const struct http_answer *answer,
                                     struct bytes date, const char *connection)
{
    assert(answer->status >= 200 && answer->status <= 599);
    struct buffer head;
    buffer_init(&head, arena);
    buffer_reserve(&head, HEAD_SIZE_USUAL);
    append_text(&head, "HTTP/1.1 ");
    append_number(&head, (size_t)answer->status);
    append_text(&head, " ");
    append_text(&head, reason(answer->status));
    append_text(&head, "\r\n");
    append_header(&head, BYTES("Date"), date);
    if (answer->status == STATUS_NO_CONTENT) {
        assert(answer->body.len == 0); /* And no Content-Length: RFC 9110, 8.6. */
    } else {
        append_text(&head, "Content-Length: ");
        append_number(&head, answer->body.len);
        append_text(&head, "\r\n");
    }
    if (connection != NULL)
        append_header(&head, BYTES("Connection"), bytes_from_text(connection));
    for (size_t i = 0; i < answer->header_count; i++)
        append_header(&head, answer->headers[i].name, answer->headers[i].value);
    append_text(&head, "\r\n");
    return buffer_bytes(&head);
}
