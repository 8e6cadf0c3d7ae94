/* test_limits.c -- limits of requests and connections, their refusals, and slow clients.
 *
 * Time-outs under test are short, all others long. A test waits for events, so a slow machine makes
 * it slower but does not fail it.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "http/connection.h"
#include "http_fixture.h"
#include "raw_http.h"

enum {
    SHORT_MS = 50,
    IDLE_MS = 1000, /* Must not pass between two calls of a test. */
};

static int set_up(void **state)
{
    struct http_fixture *fixture = malloc(sizeof *fixture);
    http_fixture_init(fixture);
    *state = fixture;
    return 0;
}

static void send_text(struct raw_http *client, const char *text)
{
    assert_true(raw_http_send_text(client, text));
}

/* The whole of a refusal: status, the handler's body, and an orderly end. */
static void expect_refusal(const char *name, struct raw_http *client, int status)
{
    struct raw_http_answer answer;
    char want[32];
    snprintf(want, sizeof want, "refused %d", status);
    if (!raw_http_receive(client, &answer))
        fail_msg("%s: no answer", name);
    if (answer.status != status)
        fail_msg("%s: %d instead of %d", name, answer.status, status);
    assert_true(bytes_equal_text(answer.body, want));
    assert_true(raw_http_has_header(&answer, "Connection: close"));
    if (!raw_http_ends(client))
        fail_msg("%s: no orderly end", name);
}

static void expect_served(struct raw_http *client)
{
    struct raw_http_answer answer;
    assert_true(raw_http_receive(client, &answer));
    assert_int_equal(answer.status, 200);
}

/* --- Refusals --- */

static const struct {
    const char *name;
    const char *request;
    int status;
} refusals[] = {
    { "malformed", "GET / HTTP/1.1\nHost: h\n\n", 400 },
    { "TLS", "\x16\x03\x01\x02", 400 },
    { "ambiguous framing",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      400 },
    { "malformed chunk",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n", 400 },
    { "malformed second request",
      "GET /echo HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost : h\r\n\r\n", 400 },
    { "unknown expectation",
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417 },
    { "unknown coding", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501 },
    { "unknown version", "GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505 },
    { "too large a length",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413 },
    { "too large, with an expectation: no 100 comes first",
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 262145\r\n\r\n", 413 },
};

static void refusals_are_answered_and_end_the_connection(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct raw_http client = http_fixture_connect(fixture);
        send_text(&client, refusals[i].request);
        if (strstr(refusals[i].name, "second") != NULL)
            expect_served(&client);
        expect_refusal(refusals[i].name, &client, refusals[i].status);
        raw_http_close(&client);
    }
}

static void a_refused_head_has_no_body_either(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    struct raw_http_answer answer;
    send_text(&client, "HEAD / HTTP/1.1\r\nHost: h\r\nContent-Length: 262145\r\n\r\n");
    assert_true(raw_http_receive_head(&client, &answer));
    assert_int_equal(answer.status, 413);
    assert_true(raw_http_ends(&client));
    raw_http_close(&client);
}

/* A head of exactly `size` bytes. */
static void send_head_of(struct raw_http *client, size_t size)
{
    static const char start[] = "GET /echo HTTP/1.1\r\nHost: h\r\nPad: ";
    char *head = malloc(size + 1);
    memset(head, 'p', size);
    memcpy(head, start, sizeof start - 1);
    memcpy(head + size - 4, "\r\n\r\n", 4);
    assert_true(raw_http_send(client, bytes_of(head, size)));
    free(head);
}

static void heads_are_taken_up_to_the_limit(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    size_t limit = fixture->options.header_size_max;
    struct raw_http client = http_fixture_connect(fixture);
    send_head_of(&client, limit - 1);
    expect_served(&client);
    send_head_of(&client, limit);
    expect_served(&client);
    send_head_of(&client, limit + 1);
    expect_refusal("one byte too many", &client, 431);
    raw_http_close(&client);
}

static void send_body_of(struct raw_http *client, size_t size, bool chunked)
{
    char text[128];
    uint8_t *body = calloc(1, size);
    snprintf(text, sizeof text,
             chunked
                 ? "POST /length HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n"
                 : "POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n",
             size);
    send_text(client, text);
    /* A refusal may come while this is being sent; reading it must still be possible. */
    assert_true(raw_http_send(client, bytes_of(body, size)));
    if (chunked)
        send_text(client, "\r\n0\r\n\r\n");
    free(body);
}

static void bodies_are_taken_up_to_the_limit(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    size_t limit = fixture->options.body_size_max;
    for (int chunked = 0; chunked < 2; chunked++) {
        struct raw_http client = http_fixture_connect(fixture);
        send_body_of(&client, limit - 1, chunked);
        expect_served(&client);
        send_body_of(&client, limit, chunked);
        expect_served(&client);
        send_body_of(&client, limit + 1, chunked);
        expect_refusal("one byte too many", &client, 413);
        raw_http_close(&client);
    }
}

static void the_end_of_a_chunked_body_is_not_waited_for_to_refuse_it(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.body_size_max = 10;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "a\r\n0123456789\r\n1");
    expect_refusal("eleven bytes", &client, 413);
    raw_http_close(&client);
}

/* The answer to a client that is still sending would be lost if the connection were reset. */
static void a_refused_client_may_send_on_for_a_while(void **state)
{
    enum { PIECE = 8 * 1024 };
    static const uint8_t piece[PIECE];
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    size_t limit = fixture->options.body_size_max;
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 262145\r\n\r\n");
    expect_refusal("declared too large", &client, 413);
    for (size_t sent = 0; sent < limit; sent += PIECE) {
        assert_true(raw_http_send(&client, bytes_of(piece, PIECE)));
        usleep(1000); /* Were it reset, that is known by the next piece. */
    }
    /* But not for ever. */
    size_t sent = 0;
    while (raw_http_send(&client, bytes_of(piece, PIECE)))
        assert_true((sent += PIECE) < 1024 * limit);
    raw_http_close(&client);
}

/* --- Connections --- */

/* Until a connection is served, for it takes a moment until the server has seen another go. */
static void expect_served_in_the_end(const struct http_fixture *fixture)
{
    for (int waited_ms = 0; waited_ms < RAW_HTTP_WAIT_MS; waited_ms += SHORT_MS) {
        struct raw_http client = http_fixture_connect(fixture);
        struct raw_http_answer answer;
        /* Refused ones may be gone before this is sent. */
        bool sent = raw_http_send_text(&client, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
        bool served = sent && raw_http_receive(&client, &answer) && answer.status == 200;
        raw_http_close(&client);
        if (served)
            return;
        usleep(SHORT_MS * 1000);
    }
    fail_msg("never served");
}

static void connections_beyond_the_limit_are_told_so(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.connections_max = 2;
    http_fixture_start(fixture);
    struct raw_http first = http_fixture_connect(fixture), second = http_fixture_connect(fixture);
    send_text(&first, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    send_text(&second, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    expect_served(&first);
    expect_served(&second);
    struct raw_http third = http_fixture_connect(fixture);
    expect_refusal("third", &third, 503);
    raw_http_close(&third);
    raw_http_close(&second);
    expect_served_in_the_end(fixture);
    raw_http_close(&first);
}

static void an_address_has_no_more_connections_than_it_may(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.connections_per_address_max = 2;
    http_fixture_start(fixture);
    struct raw_http first = http_fixture_connect(fixture), second = http_fixture_connect(fixture);
    send_text(&first, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    send_text(&second, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    expect_served(&first);
    expect_served(&second);
    struct raw_http third = http_fixture_connect(fixture);
    expect_refusal("third", &third, 503);
    raw_http_close(&third);
    struct raw_http elsewhere;
    raw_http_open_from(&elsewhere, fixture->port, "127.0.0.2");
    send_text(&elsewhere, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    expect_served(&elsewhere);
    raw_http_close(&elsewhere);
    raw_http_close(&second);
    expect_served_in_the_end(fixture);
    raw_http_close(&first);
}

static void no_bound_per_address_means_that_of_all(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.connections_per_address_max = 0;
    fixture->options.connections_max = 1;
    http_fixture_start(fixture);
    struct raw_http first = http_fixture_connect(fixture);
    send_text(&first, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    expect_served(&first);
    struct raw_http second = http_fixture_connect(fixture);
    expect_refusal("second", &second, 503);
    raw_http_close(&second);
    raw_http_close(&first);
}

static void so_many_are_told_and_no_more(void **state)
{
    enum { COUNT = HTTP_REFUSED_MAX * 3 };
    struct http_fixture *fixture = *state;
    fixture->options.connections_max = 0;
    http_fixture_start(fixture);
    struct raw_http clients[COUNT];
    size_t told = 0, closed = 0;
    for (int i = 0; i < COUNT; i++) {
        struct raw_http_answer answer;
        clients[i] = http_fixture_connect(fixture);
        if (raw_http_receive(&clients[i], &answer)) {
            assert_int_equal(answer.status, 503);
            told++;
        } else {
            closed++;
        }
    }
    assert_true(told >= HTTP_REFUSED_MAX);
    assert_true(closed > 0);
    for (int i = 0; i < COUNT; i++)
        raw_http_close(&clients[i]);
}

static void out_of_descriptors_clients_wait_their_turn(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct rlimit usual, none_left;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    struct raw_http open = http_fixture_connect(fixture);
    send_text(&open, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    expect_served(&open);
    int last_fd = dup(open.fd);
    close(last_fd);
    none_left = usual;
    none_left.rlim_cur = (rlim_t)last_fd + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none_left), 0);
    struct raw_http barred =
        http_fixture_connect(fixture); /* Takes the last one: the server has none. */
    send_text(&barred, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    const clock_t cpu_start = clock();
    for (int i = 0; i < 30; i++) { /* Open connections are served meanwhile. */
        send_text(&open, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
        expect_served(&open);
        usleep(10 * 1000);
    }
    /* The process's own time: a busy machine does not add to it, waiting in a circle would. */
    assert_true(clock() - cpu_start < CLOCKS_PER_SEC / 6);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    expect_served(&barred);
    raw_http_close(&barred);
    raw_http_close(&open);
}

/* --- Time-outs --- */

static void a_head_that_does_not_end_is_timed_out(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.header_timeout_ms = SHORT_MS;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "GET / HTTP/1.1\r\nHost:");
    expect_refusal("half a head", &client, 408);
    raw_http_close(&client);
    /* Not from the connection's beginning, nor for each read anew. */
    client = http_fixture_connect(fixture);
    send_text(&client, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\nG");
    expect_served(&client);
    expect_refusal("one byte behind a request", &client, 408);
    raw_http_close(&client);
}

static const char *const half_bodies[] = {
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhell",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50000\r\n\r\nhell",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhell",
};

static void a_body_that_does_not_go_on_is_timed_out(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.body_timeout_ms = SHORT_MS;
    http_fixture_start(fixture);
    for (size_t i = 0; i < COUNT_OF(half_bodies); i++) {
        struct raw_http client = http_fixture_connect(fixture);
        send_text(&client, half_bodies[i]);
        expect_refusal(half_bodies[i], &client, 408);
        raw_http_close(&client);
    }
}

/* One byte at a time would else hold what it has sent for good. */
static void a_body_that_only_trickles_is_timed_out(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.body_timeout_ms = 4 * SHORT_MS;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    struct raw_http_answer answer;
    send_text(&client, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50000\r\n\r\n");
    for (int i = 0; i < RAW_HTTP_WAIT_MS / SHORT_MS && raw_http_send_text(&client, "."); i++)
        usleep(SHORT_MS * 1000);
    assert_true(raw_http_receive(&client, &answer));
    assert_int_equal(answer.status, 408);
    raw_http_close(&client);
}

static bool is_answered(const struct raw_http *client)
{
    struct pollfd answer = { .fd = client->fd, .events = POLLIN };
    return poll(&answer, 1, 0) > 0;
}

/* Not even if so many do it at once that the loop does not read them all in the same turn. */
static void a_crowd_that_only_trickles_is_timed_out(void **state)
{
    enum { COUNT = 300, BURSTS = 10 };
    struct http_fixture *fixture = *state;
    fixture->options.body_timeout_ms = 10 * SHORT_MS;
    fixture->options.connections_max = COUNT;
    http_fixture_start(fixture);
    struct raw_http clients[COUNT];
    for (int i = 0; i < COUNT; i++) {
        clients[i] = http_fixture_connect(fixture);
        send_text(&clients[i], "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50000\r\n\r\n");
    }
    int answered = 0;
    for (int waited_ms = 0; answered < COUNT && waited_ms < RAW_HTTP_WAIT_MS;
         waited_ms += SHORT_MS) {
        for (int i = 0; i < BURSTS * COUNT; i++)
            send(clients[i % COUNT].fd, ".", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        usleep(SHORT_MS * 1000);
        answered = 0;
        for (int i = 0; i < COUNT; i++)
            answered += is_answered(&clients[i]);
    }
    assert_int_equal(answered, COUNT);
    for (int i = 0; i < COUNT; i++)
        raw_http_close(&clients[i]);
}

static void an_idle_connection_is_closed_without_a_word(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.idle_timeout_ms = IDLE_MS;
    http_fixture_start(fixture);
    struct raw_http silent = http_fixture_connect(fixture), used = http_fixture_connect(fixture);
    send_text(&used, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    expect_served(&used);
    assert_true(raw_http_ends(&used));
    assert_true(raw_http_ends(&silent));
    raw_http_close(&used);
    raw_http_close(&silent);
}

static void a_request_being_handled_is_not_timed_out(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.header_timeout_ms = SHORT_MS;
    fixture->options.body_timeout_ms = SHORT_MS;
    fixture->options.idle_timeout_ms = IDLE_MS;
    fixture->options.write_timeout_ms = SHORT_MS;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture), idle = http_fixture_connect(fixture);
    send_text(&client, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nlate");
    assert_true(http_fixture_wait_for_late(fixture, 1));
    assert_true(raw_http_ends(&idle)); /* So time-outs have passed. */
    struct raw_http another = http_fixture_connect(fixture);
    assert_true(raw_http_ends(&another));
    http_fixture_release(fixture);
    expect_served(&client);
    raw_http_close(&another);
    raw_http_close(&idle);
    raw_http_close(&client);
}

static void an_answer_that_is_not_read_is_given_up(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.write_timeout_ms = SHORT_MS;
    fixture->options.connections_max = 1;
    http_fixture_start(fixture);
    struct raw_http slow = http_fixture_connect(fixture);
    send_text(&slow, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    expect_served_in_the_end(fixture); /* The only place is free again. */
    struct raw_http_answer answer;
    assert_false(raw_http_receive(&slow, &answer));
    raw_http_close(&slow);
}

#define LIMIT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, http_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIMIT_TEST(refusals_are_answered_and_end_the_connection),
        LIMIT_TEST(a_refused_head_has_no_body_either),
        LIMIT_TEST(heads_are_taken_up_to_the_limit),
        LIMIT_TEST(bodies_are_taken_up_to_the_limit),
        LIMIT_TEST(the_end_of_a_chunked_body_is_not_waited_for_to_refuse_it),
        LIMIT_TEST(a_refused_client_may_send_on_for_a_while),
        LIMIT_TEST(connections_beyond_the_limit_are_told_so),
        LIMIT_TEST(an_address_has_no_more_connections_than_it_may),
        LIMIT_TEST(no_bound_per_address_means_that_of_all),
        LIMIT_TEST(so_many_are_told_and_no_more),
        LIMIT_TEST(out_of_descriptors_clients_wait_their_turn),
        LIMIT_TEST(a_head_that_does_not_end_is_timed_out),
        LIMIT_TEST(a_body_that_does_not_go_on_is_timed_out),
        LIMIT_TEST(a_body_that_only_trickles_is_timed_out),
        LIMIT_TEST(a_crowd_that_only_trickles_is_timed_out),
        LIMIT_TEST(an_idle_connection_is_closed_without_a_word),
        LIMIT_TEST(a_request_being_handled_is_not_timed_out),
        LIMIT_TEST(an_answer_that_is_not_read_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
