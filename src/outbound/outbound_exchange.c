/* outbound_exchange.c -- see outbound_exchange.h. */
#include "outbound/outbound_exchange.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "http/grammar.h"
#include "http/server.h"
#include "http/url.h"

enum { STATUS_FINAL_MIN = 200 }; /* Below it are interim answers. */

static const char no_answer[] = "the connection ended without an answer";

void outbound_exchange_init(struct outbound_exchange *exchange)
{
    *exchange->answer = (struct outbound_answer){ 0 };
    buffer_init(&exchange->answer->head, exchange->arena);
    buffer_init(&exchange->answer->body, exchange->arena);
    exchange->answer->body.data = exchange->request->answer_memory;
}

/* --- Sockets --- */

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct outbound_sockets *sockets = context;
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    if (sockets->count < OUTBOUND_SOCKETS_MAX)
        sockets->fds[sockets->count++] = fd;
    return fd;
}

static int close_socket(void *context, curl_socket_t fd)
{
    struct outbound_sockets *sockets = context;
    for (size_t i = 0; i < sockets->count; i++) {
        if (sockets->fds[i] == fd)
            sockets->fds[i--] = sockets->fds[--sockets->count];
    }
    return close(fd);
}

bool outbound_sockets_set(struct outbound_sockets *sockets, const struct curl_library *curl,
                          CURL *easy)
{
    return curl->easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_OPENSOCKETDATA, sockets) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, sockets) == CURLE_OK;
}

void outbound_sockets_acknowledge(const struct outbound_sockets *sockets)
{
    const int on = 1;
    for (size_t i = 0; i < sockets->count; i++)
        setsockopt(sockets->fds[i], IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

/* --- The options of a handle --- */

/* One line of a head, with its end. Only headers of the last head are kept: not those of interim
 * answers, and no trailers. */
static size_t take_head(char *data, size_t one, size_t size, void *context)
{
    struct outbound_exchange *exchange = context;
    struct bytes line = bytes_of((const uint8_t *)data, one * size);
    exchange->head_size += line.len;
    if (exchange->head_size > exchange->head_size_max) {
        exchange->too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    if (bytes_starts_with(line, BYTES("HTTP/"))) {
        exchange->answer->head.len = 0;
        exchange->in_head = true;
    } else if (line.len > 0 && (line.data[0] == '\r' || line.data[0] == '\n')) {
        exchange->in_head = false;
        outbound_sockets_acknowledge(exchange->sockets);
    } else if (exchange->in_head) {
        buffer_append_bytes(&exchange->answer->head, line);
    }
    return line.len;
}

static size_t take_body(char *data, size_t one, size_t size, void *context)
{
    struct outbound_exchange *exchange = context;
    struct buffer *body = &exchange->answer->body;
    size *= one;
    if (size > exchange->request->answer_size_max - body->len) {
        exchange->too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    if (exchange->request->answer_memory != NULL) {
        memcpy(body->data + body->len, data, size);
        body->len += size;
    } else {
        buffer_append(body, data, size);
    }
    return size;
}

static void append_header(const struct outbound_exchange *exchange, struct curl_slist **list,
                          struct bytes line)
{
    struct curl_slist *longer = exchange->curl->slist_append(*list, (const char *)line.data);
    if (longer == NULL)
        abort();
    *list = longer;
}

static struct curl_slist *make_headers(const struct outbound_exchange *exchange)
{
    const struct outbound_request *request = exchange->request;
    struct curl_slist *list = NULL;
    bool has_type = false;
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];
        has_type |= http_header_equal(header->name, BYTES("Content-Type"));
        /* Curl leaves a header with an empty value out unless a semicolon stands for the colon. */
        append_header(exchange, &list,
                      arena_printf(exchange->arena, header->value.len == 0 ? "%.*s;" : "%.*s: %.*s",
                                   BYTES_FMT(header->name), BYTES_FMT(header->value)));
    }
    append_header(exchange, &list,
                  BYTES("Expect:")); /* Or curl waits for 100 Continue with a large body. */
    append_header(exchange, &list, BYTES("Accept:"));
    if (!has_type)
        append_header(exchange, &list, BYTES("Content-Type:")); /* Or curl adds a form's. */
    return list;
}

static bool set_method(const struct curl_library *curl, CURL *easy,
                       const struct outbound_request *request)
{
    bool has_body = request->body.len > 0 || strcmp(request->method, "POST") == 0 ||
                    strcmp(request->method, "PUT") == 0;
    if (strcmp(request->method, "HEAD") == 0)
        return curl->easy_setopt(easy, CURLOPT_NOBODY, 1L) == CURLE_OK;
    if (has_body && (curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                                       (curl_off_t)request->body.len) != CURLE_OK ||
                     curl->easy_setopt(easy, CURLOPT_POSTFIELDS,
                                       request->body.len > 0 ? (const char *)request->body.data
                                                             : "") != CURLE_OK))
        return false;
    return curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method) == CURLE_OK;
}

static bool set_bounds(struct outbound_exchange *exchange, CURL *easy,
                       const struct outbound_exchange_route *route)
{
    const struct curl_library *curl = exchange->curl;
    int64_t left_ms = exchange->deadline_ms - clock_monotonic_ns() / 1000000;
    long timeout_ms = left_ms < 1 ? 1 : (long)left_ms; /* 0 would mean no bound. */
    return curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)route->connect_timeout_ms) ==
               CURLE_OK &&
           /* The length in an answer to HEAD is not that of its body. */
           (strcmp(exchange->request->method, "HEAD") == 0 ||
            curl->easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE,
                              (curl_off_t)exchange->request->answer_size_max) == CURLE_OK);
}

/* TLS 1.2 at least, and the server's certificate and name verified, whatever curl's defaults are.
 */
static bool set_trust(const struct curl_library *curl, CURL *easy,
                      const struct outbound_exchange_route *route)
{
    bool ok =
        curl->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
        curl->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
        curl->easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
        curl->easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, (long)OUTBOUND_CA_KEPT_S) == CURLE_OK;
    if (ok && route->ca_file != NULL && route->ca_file[0] != '\0')
        ok = curl->easy_setopt(easy, CURLOPT_CAINFO, route->ca_file) == CURLE_OK &&
             curl->easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK;
    return ok;
}

/* An empty proxy keeps curl from taking one from the environment; so does an empty list of hosts
 * that go without it. */
static bool set_route(const struct curl_library *curl, CURL *easy,
                      const struct outbound_exchange_route *route, const char *url)
{
    return curl->easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK && /* As it was signed. */
           curl->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_PROXY, route->proxy) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_NOPROXY, "") == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
}

/* With the request's target behind the server, if it has one. */
static const char *format_url(struct arena *arena, const struct outbound_request *request)
{
    struct bytes url = request->url;
    struct http_url parts;
    if (request->target.data != NULL && http_url_parse(url, &parts) == NULL)
        url.len = (size_t)(parts.authority.data + parts.authority.len - url.data);
    const struct bytes pieces[] = { url, request->target.data != NULL ? request->target : BYTES(""),
                                    bytes_of("", 1) };
    return (const char *)arena_join(arena, pieces, COUNT_OF(pieces)).data;
}

bool outbound_exchange_prepare(struct outbound_exchange *exchange, CURL *easy,
                               const struct outbound_exchange_route *route,
                               struct curl_slist **headers)
{
    const struct curl_library *curl = exchange->curl;
    const struct outbound_request *request = exchange->request;
    const char *url = format_url(exchange->arena, request);
    *headers = make_headers(exchange);
    return set_route(curl, easy, route, url) && set_trust(curl, easy, route) &&
           set_bounds(exchange, easy, route) && set_method(curl, easy, request) &&
           outbound_sockets_set(exchange->sockets, curl, easy) &&
           curl->easy_setopt(easy, CURLOPT_FRESH_CONNECT, request->sends_once ? 1L : 0L) ==
               CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_HTTPHEADER, *headers) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_HEADERDATA, exchange) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_WRITEDATA, exchange) == CURLE_OK &&
           curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->error) == CURLE_OK;
}

/* --- How it ended --- */

/* Curl's texts may quote bytes from the server, so only printable ASCII is kept. */
enum outbound_result outbound_exchange_fail(struct outbound_exchange *exchange,
                                            enum outbound_result result, const char *problem)
{
    size_t size = strnlen(problem, OUTBOUND_PROBLEM_SIZE_MAX);
    uint8_t *text = arena_alloc(exchange->arena, size + 1);
    for (size_t i = 0; i < size; i++)
        text[i] = problem[i] >= ' ' && problem[i] <= '~' ? (uint8_t)problem[i] : '?';
    exchange->answer->problem = bytes_of(text, size);
    return result;
}

static bool was_sent(const struct outbound_exchange *exchange, CURL *easy)
{
    curl_off_t us = 0;
    return exchange->curl->easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &us) == CURLE_OK &&
           us > 0;
}

static enum outbound_result fail_to_connect(struct outbound_exchange *exchange, CURL *easy)
{
    long number = 0;
    exchange->curl->easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
    return outbound_exchange_fail(exchange, OUTBOUND_REFUSED,
                                  number > 0 ? strerror((int)number) : exchange->error);
}

static enum outbound_result fail_in_tls(struct outbound_exchange *exchange)
{
    const char *reason = exchange->error[0] != '\0' ? exchange->error : "no reason is known";
    struct bytes text = arena_printf(exchange->arena, "TLS: %s", reason);
    return outbound_exchange_fail(exchange, OUTBOUND_TLS_FAILED, (const char *)text.data);
}

static enum outbound_result fail_by(struct outbound_exchange *exchange, CURL *easy, CURLcode code)
{
    bool sent = was_sent(exchange, easy);
    switch (code) {
    case CURLE_COULDNT_CONNECT:
        return fail_to_connect(exchange, easy);
    case CURLE_OPERATION_TIMEDOUT:
        return outbound_exchange_fail(exchange, sent ? OUTBOUND_TIMEOUT : OUTBOUND_CONNECT_TIMEOUT,
                                      "no answer in time");
    case CURLE_URL_MALFORMAT:
        return outbound_exchange_fail(exchange, OUTBOUND_UNUSABLE, "the URL cannot be used");
    case CURLE_SSL_CACERT_BADFILE:
        return outbound_exchange_fail(exchange, OUTBOUND_UNUSABLE,
                                      "the file of trusted authorities cannot be used");
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
        return fail_in_tls(exchange);
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9: no head at all. */
        return outbound_exchange_fail(exchange, OUTBOUND_BROKEN, "the answer is not HTTP");
    default:
        if (!sent)
            return outbound_exchange_fail(
                exchange, OUTBOUND_REFUSED,
                exchange->error[0] != '\0' ? exchange->error : "no connection could be made");
        return outbound_exchange_fail(exchange, OUTBOUND_BROKEN, no_answer);
    }
}

enum outbound_result outbound_exchange_end(struct outbound_exchange *exchange, CURL *easy,
                                           CURLcode code)
{
    long status = 0;
    if (exchange->too_large || code == CURLE_FILESIZE_EXCEEDED)
        return outbound_exchange_fail(exchange, OUTBOUND_TOO_LARGE, "the answer is too large");
    if (code != CURLE_OK)
        return fail_by(exchange, easy, code);
    exchange->curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    /* Curl accepts a head that the end of the connection cut short. */
    if (exchange->in_head || status < STATUS_FINAL_MIN)
        return outbound_exchange_fail(exchange, OUTBOUND_BROKEN, no_answer);
    exchange->answer->status = (int)status;
    return OUTBOUND_OK;
}

bool outbound_is_unsent(enum outbound_result result)
{
    switch (result) {
    case OUTBOUND_UNUSABLE:
    case OUTBOUND_NAME_FAILED:
    case OUTBOUND_NAME_TIMEOUT:
    case OUTBOUND_REFUSED:
    case OUTBOUND_CONNECT_TIMEOUT:
    case OUTBOUND_TLS_FAILED:
        return true;
    case OUTBOUND_OK:
    case OUTBOUND_CANCELLED:
    case OUTBOUND_TIMEOUT:
    case OUTBOUND_TOO_LARGE:
    case OUTBOUND_BROKEN:
        return false;
    }
    return false;
}

static struct bytes trimmed(struct bytes text)
{
    while (text.len > 0 && (http_grammar_is_blank(text.data[0])))
        text = bytes_of(text.data + 1, text.len - 1);
    while (text.len > 0 &&
           (http_grammar_is_blank(text.data[text.len - 1]) || text.data[text.len - 1] == '\r'))
        text.len--;
    return text;
}

struct bytes outbound_answer_header(const struct outbound_answer *answer, const char *name)
{
    struct bytes rest = buffer_bytes(&answer->head);
    while (rest.len > 0) {
        const uint8_t *end = memchr(rest.data, '\n', rest.len);
        size_t size = end != NULL ? (size_t)(end - rest.data) : rest.len;
        const uint8_t *colon = memchr(rest.data, ':', size);
        size_t name_size = colon != NULL ? (size_t)(colon - rest.data) : size;
        if (colon != NULL &&
            http_header_equal(bytes_of(rest.data, name_size), bytes_from_text(name)))
            return trimmed(bytes_of(colon + 1, size - name_size - 1));
        rest = bytes_of(rest.data + size, rest.len - size);
        if (rest.len > 0)
            rest = bytes_of(rest.data + 1, rest.len - 1);
    }
    return (struct bytes){ 0 };
}
