/* test_outbound.c -- requests to servers that are right, wrong, slow, hostile, or not there.
 *
 * A time-out under test is short, all others are long; a test waits for events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "crypto/tls_context.h"
#include "http/server.h"
#include "http_fixture.h"
#include "outbound/outbound.h"
#include "outbound/outbound_exchange.h"
#include "scripted_server.h"
#include "tls_files.h"

enum { LONG_MS = 600000, SHORT_MS = 100, ANSWER_SIZE_MAX = 1000, URL_MAX = 256 };

struct peer {
    struct outbound *outbound;
    struct outbound_client *client;
    struct arena *arena;
    struct outbound_answer answer;
};

static sem_t hanging; /* Counts lookups that hang. */

/* Names ending with ".here" or ".here." are this machine; "hangs" never ends; others are unknown.
 */
static int look_up(const char *host, struct names_addresses *out)
{
    size_t size = strlen(host);
    if (strcmp(host, "hangs") == 0)
        sem_post(&hanging);
    while (strcmp(host, "hangs") == 0)
        pause();
    snprintf(out->text, sizeof out->text, "127.0.0.1");
    return size > 6 && strcasestr(host + size - 6, ".here") != NULL ? 0 : EAI_NONAME;
}

static void open_peer(struct peer *peer, struct outbound_options options)
{
    char message[OUTBOUND_MESSAGE_MAX];
    options.lookup = look_up;
    peer->outbound = outbound_open(&options, message);
    if (peer->outbound == NULL)
        fail_msg("%s", message);
    peer->client = outbound_client_create(peer->outbound, message);
    if (peer->client == NULL)
        fail_msg("%s", message);
    peer->arena = arena_create();
}

static void close_peer(struct peer *peer)
{
    outbound_client_destroy(peer->client);
    outbound_close(peer->outbound);
    arena_destroy(peer->arena);
}

static enum outbound_result post(struct peer *peer, const char *url, int64_t timeout_ms)
{
    struct outbound_request request = { .method = "POST",
                                        .url = bytes_from_text(url),
                                        .body = BYTES("body"),
                                        .timeout_ms = timeout_ms,
                                        .answer_size_max = ANSWER_SIZE_MAX };
    return outbound_client_send(peer->client, peer->arena, &request, &peer->answer);
}

static enum outbound_result post_to_port(struct peer *peer, const char *host, uint16_t port,
                                         int64_t timeout_ms)
{
    char url[URL_MAX];
    snprintf(url, sizeof url, "http://%s:%u/f?q=1", host, (unsigned)port);
    return post(peer, url, timeout_ms);
}

static void expect_problem(const struct peer *peer, const char *text)
{
    if (!bytes_equal_text(peer->answer.problem, text))
        fail_msg("%.*s instead of %s", BYTES_FMT(peer->answer.problem), text);
}

/* --- Answers --- */

#define OK_HEAD "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *answer, *endless;
    enum outbound_result result;
    int status;
    const char *text; /* The body, or the problem. */
} answers[] = {
    { OK_HEAD "Content-Length: 4\r\n\r\nnull", NULL, OUTBOUND_OK, 200, "null" },
    { OK_HEAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n", NULL,
      OUTBOUND_OK, 200, "abcd" },
    { "HTTP/1.0 500 Oh no\r\n\r\nnull", NULL, OUTBOUND_OK, 500, "null" },
    { "HTTP/1.1 204 No\r\n\r\n", NULL, OUTBOUND_OK, 204, "" },
    { "HTTP/1.1 100 Go on\r\n\r\n" OK_HEAD "Content-Length: 1\r\n\r\nx", NULL, OUTBOUND_OK, 200,
      "x" },
    /* A redirect is an answer like any other: where it leads to is the server's choice. */
    { "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", NULL,
      OUTBOUND_OK, 302, "" },
    { "", NULL, OUTBOUND_BROKEN, 0, "the connection ended without an answer" },
    { OK_HEAD, NULL, OUTBOUND_BROKEN, 0, "the connection ended without an answer" },
    { OK_HEAD "Content-Le", NULL, OUTBOUND_BROKEN, 0, "the connection ended without an answer" },
    { "HTTP/1.1 100 Go on\r\n\r\n", NULL, OUTBOUND_BROKEN, 0,
      "the connection ended without an answer" },
    { "HTTP/1.1 100 Go on\r\n\r\n" OK_HEAD, NULL, OUTBOUND_BROKEN, 0,
      "the connection ended without an answer" },
    { OK_HEAD "Content-Length: 4\r\n\r\nnul", NULL, OUTBOUND_BROKEN, 0,
      "the connection ended without an answer" },
    { OK_HEAD "Transfer-Encoding: chunked\r\n\r\nnonsense\r\n", NULL, OUTBOUND_BROKEN, 0,
      "the connection ended without an answer" },
    { "garbage\r\n\r\n", NULL, OUTBOUND_BROKEN, 0, "the answer is not HTTP" },
    { "HTTP/9.9 200 OK\r\n\r\n", NULL, OUTBOUND_BROKEN, 0, "the answer is not HTTP" },
    { OK_HEAD "Content-Length: 1001\r\n\r\n", NULL, OUTBOUND_TOO_LARGE, 0,
      "the answer is too large" },
    { OK_HEAD "\r\n", "body", OUTBOUND_TOO_LARGE, 0, "the answer is too large" },
    { OK_HEAD "Transfer-Encoding: chunked\r\n\r\n", "4\r\nbody\r\n", OUTBOUND_TOO_LARGE, 0,
      "the answer is too large" },
    { OK_HEAD, "Name: value\r\n", OUTBOUND_TOO_LARGE, 0, "the answer is too large" },
    { "", "HTTP/1.1 100 Go on\r\n\r\n", OUTBOUND_TOO_LARGE, 0, "the answer is too large" },
    { OK_HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n", "Trailer: value\r\n", OUTBOUND_TOO_LARGE,
      0, "the answer is too large" },
};

static void an_answer_is_whole_and_bounded_or_no_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        struct scripted_server server = { .answer = answers[i].answer,
                                          .endless = answers[i].endless };
        struct peer peer;
        scripted_server_start(&server);
        open_peer(&peer, (struct outbound_options){ 0 });
        enum outbound_result result = post_to_port(&peer, "127.0.0.1", server.port, LONG_MS);
        if (result != answers[i].result)
            fail_msg("%s: %d, %.*s", answers[i].answer, (int)result,
                     BYTES_FMT(peer.answer.problem));
        assert_int_equal(peer.answer.status, answers[i].status);
        if (result == OUTBOUND_OK)
            assert_true(bytes_equal_text(buffer_bytes(&peer.answer.body), answers[i].text));
        else
            expect_problem(&peer, answers[i].text);
        assert_false(outbound_is_unsent(result));
        close_peer(&peer);
        scripted_server_stop(&server);
    }
}

static void a_body_and_a_head_of_just_the_bound_are_answers(void **state)
{
    (void)state;
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
    char answer[sizeof head + ANSWER_SIZE_MAX];
    snprintf(answer, sizeof answer, "%s%0*d", head, ANSWER_SIZE_MAX, 0);
    struct scripted_server server = { .answer = answer };
    scripted_server_start(&server);
    for (size_t less = 0; less < 2; less++) {
        struct peer peer;
        open_peer(&peer, (struct outbound_options){ .head_size_max = sizeof head - 1 - less });
        enum outbound_result result = post_to_port(&peer, "127.0.0.1", server.port, LONG_MS);
        assert_int_equal(result, less == 0 ? OUTBOUND_OK : OUTBOUND_TOO_LARGE);
        if (less == 0)
            assert_int_equal(peer.answer.body.len, ANSWER_SIZE_MAX);
        close_peer(&peer);
    }
    scripted_server_stop(&server);
}

static void headers_are_those_of_the_last_head_whatever_their_case(void **state)
{
    (void)state;
    struct scripted_server server = {
        .answer =
            "HTTP/1.1 103 Early\r\nX-Early: yes\r\n\r\nHTTP/1.1 200 OK\r\nX-Amz-Function-Error: "
            "\tUnhandled \r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Late: yes\r\n\r\n"
    };
    struct peer peer;
    scripted_server_start(&server);
    open_peer(&peer, (struct outbound_options){ 0 });
    assert_int_equal(post_to_port(&peer, "127.0.0.1", server.port, LONG_MS), OUTBOUND_OK);
    assert_true(bytes_equal_text(outbound_answer_header(&peer.answer, "x-amz-function-error"),
                                 "Unhandled"));
    assert_null(outbound_answer_header(&peer.answer, "X-Amz").data);
    assert_null(outbound_answer_header(&peer.answer, "X-Early").data);
    assert_null(outbound_answer_header(&peer.answer, "X-Late").data);
    close_peer(&peer);
    scripted_server_stop(&server);
}

/* --- Requests --- */

static void a_request_has_what_it_was_given_and_nothing_of_curls(void **state)
{
    (void)state;
    static const struct {
        const char *method, *body, *want;
    } cases[] = {
        { "POST", "body",
          "POST /a/../b?q=1 HTTP/1.1\r\nHost: h:80\r\nX-Empty:\r\nX-Name: value\r\n"
          "Content-Length: 4\r\n\r\nbody" },
        { "PUT", "",
          "PUT /a/../b?q=1 HTTP/1.1\r\nHost: h:80\r\nX-Empty:\r\nX-Name: value\r\n"
          "Content-Length: 0\r\n\r\n" },
        { "GET", "",
          "GET /a/../b?q=1 HTTP/1.1\r\nHost: h:80\r\nX-Empty:\r\nX-Name: value\r\n\r\n" },
        { "DELETE", "",
          "DELETE /a/../b?q=1 HTTP/1.1\r\nHost: h:80\r\nX-Empty:\r\nX-Name: value\r\n\r\n" },
        { "HEAD", "",
          "HEAD /a/../b?q=1 HTTP/1.1\r\nHost: h:80\r\nX-Empty:\r\nX-Name: value\r\n\r\n" },
    };
    static const struct http_header headers[] = {
        { { (const uint8_t *)"Host", 4 }, { (const uint8_t *)"h:80", 4 } },
        { { (const uint8_t *)"X-Empty", 7 }, { (const uint8_t *)"", 0 } },
        { { (const uint8_t *)"X-Name", 6 }, { (const uint8_t *)"value", 5 } },
    };
    struct scripted_server server = { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" };
    struct peer peer;
    char url[URL_MAX];
    scripted_server_start(&server);
    open_peer(&peer, (struct outbound_options){ 0 });
    snprintf(url, sizeof url, "http://127.0.0.1:%u/a/../b?q=1", (unsigned)server.port);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct outbound_request request = { .method = cases[i].method,
                                            .url = bytes_from_text(url),
                                            .headers = headers,
                                            .header_count = COUNT_OF(headers),
                                            .body = bytes_from_text(cases[i].body),
                                            .timeout_ms = LONG_MS,
                                            .answer_size_max = ANSWER_SIZE_MAX };
        assert_int_equal(outbound_client_send(peer.client, peer.arena, &request, &peer.answer),
                         OUTBOUND_OK);
        assert_string_equal(server.request, cases[i].want);
    }
    close_peer(&peer);
    scripted_server_stop(&server);
}

static void a_large_body_is_sent_at_once(void **state)
{
    (void)state;
    enum { SIZE = 6 * 1024 * 1024 };
    struct scripted_server server = { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" };
    struct peer peer;
    char url[URL_MAX];
    scripted_server_start(&server);
    open_peer(&peer, (struct outbound_options){ 0 });
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", (unsigned)server.port);
    struct outbound_request request = { .method = "POST",
                                        .url = bytes_from_text(url),
                                        .body =
                                            bytes_of(arena_alloc_zeroed(peer.arena, SIZE), SIZE),
                                        .timeout_ms = LONG_MS,
                                        .answer_size_max = ANSWER_SIZE_MAX };
    assert_int_equal(outbound_client_send(peer.client, peer.arena, &request, &peer.answer),
                     OUTBOUND_OK);
    assert_true(server.request_size > SIZE);
    assert_null(strstr(server.request, "Expect"));
    close_peer(&peer);
    scripted_server_stop(&server);
}

static void the_length_in_an_answer_to_head_is_not_that_of_its_body(void **state)
{
    (void)state;
    struct scripted_server server = { .answer = OK_HEAD "Content-Length: 99999999999\r\n\r\n" };
    struct peer peer;
    char url[URL_MAX];
    scripted_server_start(&server);
    open_peer(&peer, (struct outbound_options){ 0 });
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", (unsigned)server.port);
    struct outbound_request request = { .method = "HEAD",
                                        .url = bytes_from_text(url),
                                        .timeout_ms = LONG_MS,
                                        .answer_size_max = ANSWER_SIZE_MAX };
    assert_int_equal(outbound_client_send(peer.client, peer.arena, &request, &peer.answer),
                     OUTBOUND_OK);
    assert_true(
        bytes_equal_text(outbound_answer_header(&peer.answer, "Content-Length"), "99999999999"));
    close_peer(&peer);
    scripted_server_stop(&server);
}

/* Without them nobody could cancel a call. */
static void a_client_needs_file_descriptors(void **state)
{
    (void)state;
    struct rlimit before, none;
    struct peer peer;
    open_peer(&peer, (struct outbound_options){ 0 });
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    char message[OUTBOUND_MESSAGE_MAX];
    struct outbound_client *client = outbound_client_create(peer.outbound, message);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_null(client);
    assert_string_equal(message, "no file descriptors are left");
    close_peer(&peer);
}

static void a_missing_library_or_function_is_named(void **state)
{
    (void)state;
    struct curl_library curl;
    char message[OUTBOUND_MESSAGE_MAX] = "";
    assert_false(curl_library_load(&curl, "libstator-missing.so.4", message, sizeof message));
    assert_string_equal(message, "libstator-missing.so.4: cannot open shared object file: No such "
                                 "file or directory; install libcurl4 to send requests");
    assert_false(curl_library_load(&curl, "libz.so.1", message, sizeof message));
    assert_non_null(strstr(message, "libz.so.1: undefined symbol: curl_easy_cleanup"));
}

static void a_connection_is_used_again(void **state)
{
    (void)state;
    struct scripted_server server = { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                                      .keeps_open = true };
    struct peer peer;
    scripted_server_start(&server);
    open_peer(&peer, (struct outbound_options){ 0 });
    for (int i = 0; i < 3; i++)
        assert_int_equal(post_to_port(&peer, "abc.here", server.port, LONG_MS), OUTBOUND_OK);
    assert_int_equal(server.request_count, 3);
    assert_int_equal(server.connection_count, 1);
    close_peer(&peer);
    scripted_server_stop(&server);
}

/* The kernel answers for a socket whether it acknowledges at once. */
static bool acknowledges_at_once(int fd)
{
    int value = -1;
    socklen_t size = sizeof value;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &value, &size), 0);
    return value == 1;
}

static void the_sockets_of_a_client_are_acknowledged_and_known_until_they_are_closed(void **state)
{
    (void)state;
    struct scripted_server server = { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                                      .keeps_open = true };
    struct outbound_sockets sockets = { .count = 0 };
    const int off = 0;
    char url[URL_MAX];
    scripted_server_start(&server);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", (unsigned)server.port);
    struct curl_library curl;
    char message[OUTBOUND_MESSAGE_MAX];
    assert_true(curl_library_load(&curl, CURL_LIBRARY_FILE, message, sizeof message));
    assert_int_equal(curl.global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
    CURL *easy = curl.easy_init();
    assert_true(outbound_sockets_set(&sockets, &curl, easy));
    assert_int_equal(curl.easy_setopt(easy, CURLOPT_URL, url), CURLE_OK);
    assert_int_equal(curl.easy_perform(easy), CURLE_OK);
    assert_int_equal(sockets.count, 1);
    setsockopt(sockets.fds[0], IPPROTO_TCP, TCP_QUICKACK, &off, sizeof off);
    assert_false(acknowledges_at_once(sockets.fds[0]));
    outbound_sockets_acknowledge(&sockets);
    assert_true(acknowledges_at_once(sockets.fds[0]));
    curl.easy_cleanup(easy);
    curl.global_cleanup();
    assert_int_equal(sockets.count, 0);
    scripted_server_stop(&server);
}

/* --- Failures before anything is sent --- */

static uint16_t unused_port(void)
{
    struct scripted_server server = { .answer = "" };
    scripted_server_start(&server);
    scripted_server_stop(&server);
    return server.port;
}

static void nothing_is_sent_to_whom_cannot_be_reached(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        enum outbound_result result;
        const char *problem;
    } cases[] = {
        { "127.0.0.1", OUTBOUND_REFUSED, "Connection refused" },
        { "127.1", OUTBOUND_REFUSED, "Connection refused" },
        { "[::ffff:127.0.0.1]", OUTBOUND_REFUSED, "Connection refused" },
        { "abc.here", OUTBOUND_REFUSED, "Connection refused" },
        { "ABC.HERE", OUTBOUND_REFUSED, "Connection refused" },
        { "abc.here.", OUTBOUND_REFUSED, "Connection refused" },
        { "nowhere", OUTBOUND_NAME_FAILED, "Name or service not known" },
        { "hangs", OUTBOUND_NAME_TIMEOUT, "the host's name was not resolved in time" },
        { "u@h", OUTBOUND_UNUSABLE, "the host is missing or has characters that no host has" },
        { "a%2ehere", OUTBOUND_NAME_FAILED, "Name or service not known" },
    };
    uint16_t port = unused_port();
    struct peer peer;
    open_peer(&peer, (struct outbound_options){ .name_timeout_ms = SHORT_MS });
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        enum outbound_result result = post_to_port(&peer, cases[i].host, port, LONG_MS);
        if (result != cases[i].result)
            fail_msg("%s: %d, %.*s", cases[i].host, (int)result, BYTES_FMT(peer.answer.problem));
        expect_problem(&peer, cases[i].problem);
        assert_true(outbound_is_unsent(result));
    }
    assert_int_equal(post(&peer, "file:///etc/passwd", LONG_MS), OUTBOUND_UNUSABLE);
    assert_int_equal(post_to_port(&peer, "hangs", port, SHORT_MS), OUTBOUND_NAME_TIMEOUT);
    close_peer(&peer);
}

/* What a client chose may be in a header: a line break would begin another header or request. */
static void a_header_is_one_line(void **state)
{
    (void)state;
    static const struct http_header wrong[] = {
        { BYTES("X-Key"), BYTES("a\r\nX-Other: b") },
        { BYTES("X-Key"), BYTES("a\nb") },
        { BYTES("X-Key\r\nX-Other"), BYTES("b") },
    };
    struct scripted_server server = { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" };
    scripted_server_start(&server);
    struct peer peer;
    char url[URL_MAX];
    open_peer(&peer, (struct outbound_options){ 0 });
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", (unsigned)server.port);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct outbound_request request = { .method = "POST",
                                            .url = bytes_from_text(url),
                                            .headers = &wrong[i],
                                            .header_count = 1,
                                            .timeout_ms = LONG_MS,
                                            .answer_size_max = ANSWER_SIZE_MAX };
        assert_int_equal(outbound_client_send(peer.client, peer.arena, &request, &peer.answer),
                         OUTBOUND_UNUSABLE);
        expect_problem(&peer, "a header has a control character");
    }
    close_peer(&peer);
    scripted_server_stop(&server);
}

/* A queue of connections that is full: further ones are neither accepted nor refused. */
static void a_connection_that_is_not_made_in_time_is_unsent(void **state)
{
    (void)state;
    enum { FILLERS = 8 };
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    int fillers[FILLERS], listener = socket(AF_INET, SOCK_STREAM, 0);
    struct peer peer;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 0), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    for (int i = 0; i < FILLERS; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(fillers[i], (struct sockaddr *)&address, sizeof address);
    }
    open_peer(&peer, (struct outbound_options){ .connect_timeout_ms = SHORT_MS });
    assert_int_equal(post_to_port(&peer, "127.0.0.1", ntohs(address.sin_port), LONG_MS),
                     OUTBOUND_CONNECT_TIMEOUT);
    expect_problem(&peer, "no answer in time");
    close_peer(&peer);
    for (int i = 0; i < FILLERS; i++)
        close(fillers[i]);
    close(listener);
}

static void a_handshake_that_does_not_end_in_time_is_unsent(void **state)
{
    (void)state;
    struct scripted_server server = { .answer = NULL }; /* Waits for the end of a head. */
    struct peer peer;
    char url[URL_MAX];
    scripted_server_start(&server);
    open_peer(&peer, (struct outbound_options){ .connect_timeout_ms = SHORT_MS });
    snprintf(url, sizeof url, "https://127.0.0.1:%u/", (unsigned)server.port);
    assert_int_equal(post(&peer, url, LONG_MS), OUTBOUND_CONNECT_TIMEOUT);
    close_peer(&peer);
    scripted_server_stop(&server);
    assert_int_equal(server.request_count, 0);
}

/* --- Time and cancellation --- */

static void an_answer_that_is_late_is_none(void **state)
{
    (void)state;
    static const char *const slow[] = { NULL, OK_HEAD, OK_HEAD "Content-Length: 4\r\n\r\nnu" };
    for (size_t i = 0; i < COUNT_OF(slow); i++) {
        struct scripted_server server = { .answer = slow[i], .keeps_open = true };
        struct peer peer;
        scripted_server_start(&server);
        open_peer(&peer, (struct outbound_options){ 0 });
        assert_int_equal(post_to_port(&peer, "127.0.0.1", server.port, SHORT_MS), OUTBOUND_TIMEOUT);
        expect_problem(&peer, "no answer in time");
        close_peer(&peer);
        scripted_server_stop(&server);
    }
}

struct call {
    struct peer peer;
    char url[URL_MAX];
    enum outbound_result result;
};

static void *call_main(void *context)
{
    struct call *call = context;
    call->result = post(&call->peer, call->url, LONG_MS);
    return NULL;
}

static void cancelling_ends_a_call_and_all_later_ones(void **state)
{
    (void)state;
    sem_init(&hanging, 0, 0);
    struct scripted_server server = { .answer = NULL };
    scripted_server_start(&server);
    for (int hangs = 0; hangs < 2; hangs++) {
        struct call call;
        pthread_t thread;
        open_peer(&call.peer, (struct outbound_options){ .name_timeout_ms = LONG_MS });
        snprintf(call.url, sizeof call.url, "http://%s:%u/", hangs ? "hangs" : "abc.here",
                 (unsigned)server.port);
        assert_int_equal(pthread_create(&thread, NULL, call_main, &call), 0);
        if (hangs)
            sem_wait(&hanging);
        else
            scripted_server_await(&server, 1);
        outbound_client_cancel(call.peer.client);
        pthread_join(thread, NULL);
        assert_int_equal(call.result, OUTBOUND_CANCELLED);
        assert_int_equal(post(&call.peer, call.url, LONG_MS), OUTBOUND_CANCELLED);
        close_peer(&call.peer);
    }
    assert_int_equal(server.request_count, 1);
    scripted_server_stop(&server);
}

/* --- Proxies --- */

static void a_proxy_of_the_environment_is_ignored(void **state)
{
    (void)state;
    static const char *const names[] = { "http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY",
                                         "ALL_PROXY" };
    struct scripted_server server = { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" };
    struct peer peer;
    scripted_server_start(&server);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        setenv(names[i], "http://127.0.0.1:1", 1);
    open_peer(&peer, (struct outbound_options){ 0 });
    assert_int_equal(post_to_port(&peer, "abc.here", server.port, LONG_MS), OUTBOUND_OK);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unsetenv(names[i]);
    close_peer(&peer);
    scripted_server_stop(&server);
}

static void a_proxy_gets_all_but_what_is_for_this_machine(void **state)
{
    (void)state;
    struct scripted_server proxy = { .answer = "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n" };
    struct scripted_server target = { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" };
    struct peer peer;
    char url[URL_MAX];
    scripted_server_start(&proxy);
    scripted_server_start(&target);
    snprintf(url, sizeof url, "http://proxy.here:%u", (unsigned)proxy.port);
    setenv("no_proxy", "*", 1); /* Not asked. */
    open_peer(&peer, (struct outbound_options){ .proxy = url });
    assert_int_equal(post(&peer, "http://nowhere/f", LONG_MS), OUTBOUND_OK);
    assert_int_equal(peer.answer.status, 403);
    static const char head[] = "POST http://nowhere/f HTTP/1.1\r\nHost: nowhere\r\n";
    assert_memory_equal(proxy.request, head, sizeof head - 1);
    assert_int_equal(post(&peer, "http://127.nowhere/f", LONG_MS), OUTBOUND_OK);
    assert_int_equal(peer.answer.status, 403);
    close_peer(&peer); /* The proxy takes one connection at a time. */
    open_peer(&peer, (struct outbound_options){ .proxy = url });
    assert_int_equal(post(&peer, "https://nowhere/f", LONG_MS), OUTBOUND_REFUSED);
    expect_problem(&peer, "CONNECT tunnel failed, response 403");
    static const char tunnel[] = "CONNECT nowhere:443 HTTP/1.1\r\n";
    assert_memory_equal(proxy.request, tunnel, sizeof tunnel - 1);
    assert_int_equal(post_to_port(&peer, "127.0.0.1", target.port, LONG_MS), OUTBOUND_OK);
    assert_int_equal(peer.answer.status, 200);
    unsetenv("no_proxy");
    close_peer(&peer);
    scripted_server_stop(&target);
    scripted_server_stop(&proxy);
}

static void what_cannot_be_used_is_refused_at_the_start(void **state)
{
    (void)state;
    static const struct {
        struct outbound_options options;
        const char *message;
    } cases[] = {
        { { .ca_file = "/nowhere/ca.pem" }, "/nowhere/ca.pem: No such file or directory" },
        { { .proxy = "proxy:3128" }, "proxy: it does not begin with http:// or https://" },
        { { .proxy = "https://proxy" }, "proxy: a proxy is http://host:port" },
        { { .proxy = "http://proxy/path" }, "proxy: a proxy is http://host:port" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char message[OUTBOUND_MESSAGE_MAX];
        assert_null(outbound_open(&cases[i].options, message));
        assert_string_equal(message, cases[i].message);
    }
}

/* --- TLS --- */

static struct tls_files files;

/* A server with that certificate (NULL: without TLS), asked over https by a client that trusts
 * `trusted` (NULL: the system's authorities). */
static enum outbound_result post_to_tls(const char *cert, const char *trusted, const char *host,
                                        char problem[OUTBOUND_PROBLEM_SIZE_MAX + 1])
{
    struct http_fixture fixture;
    struct peer peer;
    char url[URL_MAX], path[SCRATCH_PATH_MAX] = "";
    http_fixture_init(&fixture);
    if (cert != NULL)
        fixture.options.tls = tls_files_context(&files, cert, "server.key", NULL);
    http_fixture_start(&fixture);
    if (trusted != NULL)
        scratch_join(path, files.directory, trusted);
    open_peer(&peer, (struct outbound_options){ .ca_file = path });
    snprintf(url, sizeof url, "https://%s:%u/echo", host, (unsigned)fixture.port);
    enum outbound_result result = post(&peer, url, LONG_MS);
    snprintf(
        problem, OUTBOUND_PROBLEM_SIZE_MAX + 1, "%.*s",
        BYTES_FMT(result == OUTBOUND_OK ? buffer_bytes(&peer.answer.body) : peer.answer.problem));
    close_peer(&peer);
    http_fixture_stop(&fixture);
    http_fixture_deinit(&fixture);
    return result;
}

static void a_server_is_trusted_by_its_certificate_its_name_and_its_time(void **state)
{
    (void)state;
    static const struct {
        const char *cert, *trusted, *host;
        enum outbound_result result;
        const char *text; /* The body, or part of the problem. */
    } cases[] = {
        { "server.pem", "server.pem", "127.0.0.1", OUTBOUND_OK, "body" },
        { "server.pem", "other.pem", "127.0.0.1", OUTBOUND_TLS_FAILED,
          "TLS: SSL certificate problem: self-signed certificate" },
        { "server.pem", NULL, "127.0.0.1", OUTBOUND_TLS_FAILED,
          "TLS: SSL certificate problem: self-signed certificate" },
        { "server.pem", "server.pem", "stranger.here", OUTBOUND_TLS_FAILED,
          "TLS: SSL: no alternative certificate subject name matches target host name "
          "'stranger.here'" },
        { "expired.pem", "expired.pem", "127.0.0.1", OUTBOUND_TLS_FAILED,
          "TLS: SSL certificate problem: certificate has expired" },
        { NULL, "server.pem", "127.0.0.1", OUTBOUND_TLS_FAILED, "wrong version number" },
        { "server.pem", "server.key", "127.0.0.1", OUTBOUND_UNUSABLE,
          "the file of trusted authorities cannot be used" },
    };
    tls_files_create(&files);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[OUTBOUND_PROBLEM_SIZE_MAX + 1];
        enum outbound_result result =
            post_to_tls(cases[i].cert, cases[i].trusted, cases[i].host, text);
        if (result != cases[i].result || strstr(text, cases[i].text) == NULL)
            fail_msg("case %zu: %d, %s", i, (int)result, text);
    }
    tls_files_destroy(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_whole_and_bounded_or_no_answer),
        cmocka_unit_test(a_body_and_a_head_of_just_the_bound_are_answers),
        cmocka_unit_test(headers_are_those_of_the_last_head_whatever_their_case),
        cmocka_unit_test(a_request_has_what_it_was_given_and_nothing_of_curls),
        cmocka_unit_test(a_large_body_is_sent_at_once),
        cmocka_unit_test(the_length_in_an_answer_to_head_is_not_that_of_its_body),
        cmocka_unit_test(a_client_needs_file_descriptors),
        cmocka_unit_test(a_missing_library_or_function_is_named),
        cmocka_unit_test(a_connection_is_used_again),
        cmocka_unit_test(the_sockets_of_a_client_are_acknowledged_and_known_until_they_are_closed),
        cmocka_unit_test(nothing_is_sent_to_whom_cannot_be_reached),
        cmocka_unit_test(a_header_is_one_line),
        cmocka_unit_test(a_connection_that_is_not_made_in_time_is_unsent),
        cmocka_unit_test(a_handshake_that_does_not_end_in_time_is_unsent),
        cmocka_unit_test(an_answer_that_is_late_is_none),
        cmocka_unit_test(cancelling_ends_a_call_and_all_later_ones),
        cmocka_unit_test(a_proxy_of_the_environment_is_ignored),
        cmocka_unit_test(a_proxy_gets_all_but_what_is_for_this_machine),
        cmocka_unit_test(what_cannot_be_used_is_refused_at_the_start),
        cmocka_unit_test(a_server_is_trusted_by_its_certificate_its_name_and_its_time),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
