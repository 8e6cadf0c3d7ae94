/* url.c -- see url.h. */
#include "http/url.h"
#include "base/arena.h"
#include "http/grammar.h"

enum { PORT_MAX = 65535 };

static struct bytes behind(struct bytes text, size_t size)
{
    return bytes_of(text.data + size, text.len - size);
}

/* The first index whose byte is `symbol`; the length if there is none. */
static size_t index_of(struct bytes text, char symbol)
{
    const uint8_t *found = text.len == 0 ? NULL : memchr(text.data, symbol, text.len);
    return found == NULL ? text.len : (size_t)(found - text.data);
}

static const char *parse_port(struct bytes digits, uint16_t *out)
{
    unsigned value = 0;
    if (digits.len == 0 || digits.len > 5)
        return "the port is not a number from 1 to 65535";
    for (size_t i = 0; i < digits.len; i++) {
        if (!http_grammar_is_digit(digits.data[i]))
            return "the port is not a number from 1 to 65535";
        value = value * 10 + (unsigned)(digits.data[i] - '0');
    }
    if (value == 0 || value > PORT_MAX)
        return "the port is not a number from 1 to 65535";
    *out = (uint16_t)value;
    return NULL;
}

static const char *parse_authority(struct http_url *out)
{
    struct bytes text = out->authority, rest;
    bool bracketed = text.len > 0 && text.data[0] == '[';
    size_t end = index_of(text, bracketed ? ']' : ':');
    if (bracketed && end == text.len)
        return "the address has no closing bracket";
    out->host = bracketed ? bytes_of(text.data + 1, end - 1) : bytes_of(text.data, end);
    rest = behind(text, bracketed ? end + 1 : end);
    if (out->host.len == 0 || out->host.len > HTTP_URL_HOST_SIZE_MAX ||
        http_grammar_skip(text.data, 0, text.len, HTTP_GRAMMAR_HOST) != text.len)
        return "the host is missing or has characters that no host has";
    out->port = out->is_tls ? HTTP_URL_TLS_PORT_DEFAULT : HTTP_URL_PORT_DEFAULT;
    if (rest.len == 0)
        return NULL;
    return rest.data[0] == ':' ? parse_port(behind(rest, 1), &out->port)
                               : "something other than a port stands behind the host";
}

const char *http_url_parse(struct bytes text, struct http_url *out)
{
    static const struct bytes plain = BYTES("http://"), secure = BYTES("https://");
    if (text.len > HTTP_URL_SIZE_MAX)
        return "it is longer than 2048 characters";
    out->is_tls = bytes_starts_with(text, secure);
    if (!out->is_tls && !bytes_starts_with(text, plain))
        return "it does not begin with http:// or https://";
    struct bytes rest = behind(text, out->is_tls ? secure.len : plain.len);
    size_t end = index_of(rest, '/'), query = index_of(rest, '?');
    if (query < end)
        return "the query has no path before it";
    out->authority = bytes_of(rest.data, end);
    out->target = end == rest.len ? BYTES("/") : behind(rest, end);
    if (http_grammar_skip(out->target.data, 0, out->target.len, HTTP_GRAMMAR_TARGET) !=
        out->target.len)
        return "the path has characters that have to be written as %XX";
    return parse_authority(out);
}

/* How many bytes come before the first of the symbols. */
static size_t size_before(struct bytes text, const char *symbols)
{
    size_t size = text.len;
    for (; *symbols != '\0'; symbols++)
        size = index_of(bytes_of(text.data, size), *symbols);
    return size;
}

struct bytes url_without_secrets(struct arena *arena, struct bytes url)
{
    static const struct bytes slashes = BYTES("://");
    /* "//" behind a path or a query is part of it, not the end of a scheme. */
    size_t name_size = size_before(url, ":/?#@");
    bool has_scheme = bytes_starts_with(behind(url, name_size), slashes);
    struct bytes scheme = bytes_of(url.data, has_scheme ? name_size + slashes.len : 0);
    struct bytes rest = behind(url, scheme.len);
    size_t end = size_before(rest, "/?#"), host_at = 0;
    for (size_t i = 0; i < end; i++) {
        if (rest.data[i] == '@')
            host_at = i + 1;
    }
    struct bytes host = bytes_of(rest.data + host_at, end - host_at);
    struct bytes path = behind(rest, end);
    path.len = size_before(path, "?#");
    return arena_join(arena, (const struct bytes[]){ scheme, host, path }, 3);
}
