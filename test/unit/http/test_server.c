/* test_server.c -- requests and answers over real sockets, once plain and once through TLS. Limits
 * and time-outs: test_limits.c. What only TLS has: test_tls.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/compiler.h"
#include "http/loop.h"
#include "http_fixture.h"
#include "raw_http.h"
#include "tls_files.h"

static void send_text(struct raw_http *client, const char *text)
{
    assert_true(raw_http_send_text(client, text));
}

/* Sends a request with a body of its own and expects that back. */
static void expect_echo(struct raw_http *client, const char *text)
{
    char request[256];
    snprintf(request, sizeof request,
             "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n%s", strlen(text), text);
    send_text(client, request);
    http_fixture_expect(client, 200, text);
}

static void a_connection_serves_one_request_after_another(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    for (int i = 0; i < 50; i++) {
        char text[32];
        snprintf(text, sizeof text, "request %d", i);
        expect_echo(&client, text);
    }
    send_text(&client, "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n");
    http_fixture_expect(&client, 404, "no such route");
    raw_http_close(&client);
}

static void an_answer_has_the_headers_it_must_have(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    struct raw_http_answer answer;
    assert_true(raw_http_receive(&client, &answer));
    assert_true(bytes_starts_with(answer.head, BYTES("HTTP/1.1 200 OK\r\n")));
    assert_true(raw_http_has_header(&answer, "Content-Length: 3"));
    assert_true(raw_http_has_header(&answer, "Content-Type: text/plain"));
    assert_false(raw_http_has_header(&answer, "Connection: close"));
    const char *date = memmem(answer.head.data, answer.head.len, "\r\nDate: ", 8);
    assert_non_null(date);
    assert_memory_equal(date + sizeof "\r\nDate: Sun, 06 Nov 1994 08:49:37" - 1, " GMT\r\n", 6);
    raw_http_close(&client);
}

static void head_is_answered_without_the_body(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "HEAD /nowhere HTTP/1.1\r\nHost: h\r\n\r\n");
    struct raw_http_answer answer;
    assert_true(raw_http_receive_head(&client, &answer));
    assert_int_equal(answer.status, 404);
    assert_true(raw_http_has_header(&answer, "Content-Length: 13"));
    expect_echo(&client, "the next answer follows at once");
    raw_http_close(&client);
}

static const struct {
    const char *request;
    const char *connection; /* The header expected, NULL for none. */
} closings[] = {
    { "GET / HTTP/1.1\r\nHost: h\r\n\r\n", NULL },
    { "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "Connection: close" },
    { "GET / HTTP/1.0\r\n\r\n", "Connection: close" },
    { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "Connection: keep-alive" },
};

static void the_connection_is_kept_or_closed_as_agreed(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    for (size_t i = 0; i < COUNT_OF(closings); i++) {
        struct raw_http client = http_fixture_connect(fixture);
        struct raw_http_answer answer;
        send_text(&client, closings[i].request);
        assert_true(raw_http_receive(&client, &answer));
        const char *wanted = closings[i].connection;
        assert_int_equal(
            raw_http_has_header(&answer, wanted == NULL ? "Connection: close" : wanted),
            wanted != NULL);
        if (wanted != NULL && strcmp(wanted, "Connection: close") == 0)
            assert_true(raw_http_ends(&client));
        else
            expect_echo(&client, "still there");
        raw_http_close(&client);
    }
}

static void a_request_may_arrive_byte_by_byte(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    struct bytes request = BYTES("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok"
                                 "POST /echo HTTP/1.1\r\nHost: h\r\n"
                                 "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\na: b\r\n\r\n");
    for (size_t i = 0; i < request.len; i++)
        assert_true(raw_http_send(&client, bytes_of(request.data + i, 1)));
    http_fixture_expect(&client, 200, "ok");
    http_fixture_expect(&client, 200, "ok");
    raw_http_close(&client);
}

static void chunked_bodies_are_put_together(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: dropped\r\n\r\n"
                       "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "0\r\n\r\n");
    http_fixture_expect(&client, 200, "hello world");
    http_fixture_expect(&client, 200, "");
    raw_http_close(&client);
}

/* In chunks of 1000 bytes, or as one body; sizes around what the input buffer holds. */
static void expect_length(struct raw_http *client, size_t size, bool chunked)
{
    char head[128], want[64];
    uint8_t *body = malloc(size + 1);
    memset(body, 'a', size);
    if (chunked)
        snprintf(head, sizeof head,
                 "POST /length HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    else
        snprintf(head, sizeof head,
                 "POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n", size);
    send_text(client, head);
    for (size_t at = 0; chunked && at < size; at += 1000) {
        size_t piece = size - at < 1000 ? size - at : 1000;
        snprintf(head, sizeof head, "%zx\r\n", piece);
        send_text(client, head);
        assert_true(raw_http_send(client, bytes_of(body, piece)));
        send_text(client, "\r\n");
    }
    if (chunked)
        send_text(client, "0\r\n\r\n");
    else
        assert_true(raw_http_send(client, bytes_of(body, size)));
    free(body);
    snprintf(want, sizeof want, "%zu %zu", size, size * 'a');
    http_fixture_expect(client, 200, want);
}

static void bodies_of_every_size_arrive_whole(void **state)
{
    static const size_t sizes[] = { 1, 15000, 16383, 16384, 17000, 17500, 65536, 70000, 262144 };
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        expect_length(&client, sizes[i], false);
        expect_length(&client, sizes[i], true);
    }
    raw_http_close(&client);
}

static void continue_is_sent_before_a_body_that_is_waited_for(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    struct raw_http_answer answer;
    send_text(&client, "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                       "Content-Length: 5\r\n\r\n");
    assert_true(raw_http_receive_head(&client, &answer));
    assert_true(bytes_equal(answer.head, BYTES("HTTP/1.1 100 Continue\r\n\r\n")));
    send_text(&client, "hello");
    http_fixture_expect(&client, 200, "hello");
    /* Nothing to wait for: the body is here or on its way, or there is none. */
    send_text(&client, "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                       "Content-Length: 5\r\n\r\nhe");
    struct raw_http other = http_fixture_connect(fixture);
    expect_echo(&other, "so the loop has seen half of the body");
    raw_http_close(&other);
    send_text(&client, "llo");
    http_fixture_expect(&client, 200, "hello");
    send_text(&client, "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                       "Content-Length: 5\r\n\r\nthere");
    http_fixture_expect(&client, 200, "there");
    send_text(&client, "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n");
    http_fixture_expect(&client, 200, "");
    raw_http_close(&client);
}

static void pipelined_answers_keep_their_order(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nfirst"
                       "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nsecond"
                       "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nthird");
    assert_true(http_fixture_wait_for_late(fixture, 1));
    struct raw_http other = http_fixture_connect(fixture);
    expect_echo(&other, "others are served meanwhile");
    http_fixture_release(fixture);
    http_fixture_expect(&client, 200, "first");
    http_fixture_expect(&client, 200, "second");
    assert_true(http_fixture_wait_for_late(fixture, 1));
    http_fixture_release(fixture);
    http_fixture_expect(&client, 200, "third");
    raw_http_close(&other);
    raw_http_close(&client);
}

/* A request that is found behind an answer, rather than in the socket, has its turn end as well. */
static void a_turn_ends_before_its_loop_waits(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "POST /turn HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nfirst");
    http_fixture_expect(&client, 200, "first");
    send_text(&client, "POST /turn HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nsecond"
                       "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nthird"
                       "POST /turn HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nfourth"
                       "POST /turn HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nfifth");
    http_fixture_expect(&client, 200, "second");
    assert_true(http_fixture_wait_for_late(fixture, 1));
    http_fixture_release(fixture);
    http_fixture_expect(&client, 200, "third");
    http_fixture_expect(&client, 200, "fourth");
    http_fixture_expect(&client, 200, "fifth");
    raw_http_close(&client);
}

/* Far more than the input buffer holds, behind a request that takes its time: reading has to stop
 * and go on, and no depth of pipelining may cost stack. */
static void deep_pipelines_wait_outside_and_are_all_answered(void **state)
{
    enum { COUNT = 5000 };
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nfirst");
    assert_true(http_fixture_wait_for_late(fixture, 1));
    for (int i = 0; i < COUNT; i++) {
        char request[128];
        snprintf(request, sizeof request,
                 "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n%05d", i);
        send_text(&client, request);
    }
    http_fixture_release(fixture);
    http_fixture_expect(&client, 200, "first");
    for (int i = 0; i < COUNT; i++) {
        char want[16];
        snprintf(want, sizeof want, "%05d", i);
        http_fixture_expect(&client, 200, want);
    }
    raw_http_close(&client);
}

static void a_slow_reader_holds_up_nobody_else(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http slow = http_fixture_connect(fixture), other = http_fixture_connect(fixture);
    send_text(&slow, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n"
                     "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n");
    for (int i = 0; i < 20; i++)
        expect_echo(&other, "quick");
    struct raw_http_answer answer;
    assert_true(raw_http_receive(&slow, &answer));
    assert_int_equal(answer.body.len, HTTP_FIXTURE_LARGE_SIZE);
    for (size_t i = 0; i < answer.body.len; i++)
        if (answer.body.data[i] != 'a' + i % 23)
            fail_msg("byte %zu is wrong", i);
    http_fixture_expect(&slow, 404, "no such route");
    raw_http_close(&slow);
    raw_http_close(&other);
}

static uint8_t large_body[8 * 1024 * 1024];

static void answer_large(void *context, void *loop_context, struct http_exchange *exchange)
{
    (void)context;
    (void)loop_context;
    const struct http_answer answer = { .status = 200,
                                        .body = bytes_of(large_body, sizeof large_body) };
    http_exchange_answer(exchange, &answer);
}

static void count_turn(void *loop_context)
{
    (*(unsigned *)loop_context)++; /* Read when the loop has ended. */
}

static void a_turn_writes_a_part_of_a_large_answer(void **state)
{
    struct http_fixture *fixture = *state;
    unsigned turn_ends = 0;
    const struct http_handler handler = { .context = &turn_ends,
                                          .request = answer_large,
                                          .turn_end = count_turn };
    char message[HTTP_MESSAGE_MAX];
    struct raw_http_answer answer;
    struct raw_http client;
    struct http_options options = fixture->options;
    options.loop_count = 1;
    struct http_server *server = http_server_start(&options, &handler, message);
    assert_non_null(server);
    raw_http_open(&client, http_server_port(server));
    send_text(&client, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_true(raw_http_receive(&client, &answer));
    assert_int_equal(answer.body.len, sizeof large_body);
    raw_http_close(&client);
    assert_true(http_server_stop(server, RAW_HTTP_WAIT_MS));
    assert_true(turn_ends >= sizeof large_body / HTTP_TURN_WRITE_SIZE);
}

static void idle_connections_hold_up_nobody(void **state)
{
    enum { COUNT = 200 };
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http idle[COUNT];
    for (int i = 0; i < COUNT; i++) {
        idle[i] = http_fixture_connect(fixture);
        if (i % 2 == 0)
            expect_echo(&idle[i], "once");
    }
    struct raw_http client = http_fixture_connect(fixture);
    expect_echo(&client, "served");
    for (int i = 0; i < COUNT; i++) {
        expect_echo(&idle[i], "woken");
        raw_http_close(&idle[i]);
    }
    raw_http_close(&client);
}

static void a_client_that_leaves_does_no_harm(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http leaving = http_fixture_connect(fixture);
    send_text(&leaving, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\ngone");
    assert_true(http_fixture_wait_for_late(fixture, 1));
    raw_http_reset(&leaving);
    struct raw_http half = http_fixture_connect(fixture);
    send_text(&half, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Le");
    raw_http_reset(&half);
    struct raw_http large = http_fixture_connect(fixture);
    send_text(&large, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    raw_http_reset(&large);
    struct raw_http other = http_fixture_connect(fixture);
    expect_echo(&other, "served"); /* By now the loop has seen the others go. */
    expect_echo(&other, "served again");
    http_fixture_release(fixture);
    expect_echo(&other, "and once more");
    raw_http_close(&other);
}

static void a_half_closed_client_is_answered(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nfirst"
                       "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nsecond"
                       "POST /ec");
    raw_http_end(&client);
    assert_true(http_fixture_wait_for_late(fixture, 1));
    http_fixture_release(fixture);
    http_fixture_expect(&client, 200, "first");
    http_fixture_expect(&client, 200, "second");
    assert_true(raw_http_ends(&client));
    raw_http_close(&client);
}

/* --- Tasks --- */

enum { POSTERS = 4, POSTS = 2000 };

struct numbered {
    struct http_task task;
    struct poster *poster;
    int number;
};

struct poster {
    struct http_loop *loop;
    int next; /* The loop's thread only. */
    int mistakes;
    struct numbered tasks[POSTS];
};

static void check_number(struct http_task *task)
{
    struct numbered *numbered = (struct numbered *)task;
    if (numbered->number != numbered->poster->next)
        numbered->poster->mistakes++;
    numbered->poster->next = numbered->number + 1;
}

static void *post_all(void *argument)
{
    struct poster *poster = argument;
    for (int i = 0; i < POSTS; i++) {
        poster->tasks[i] =
            (struct numbered){ .task = { .run = check_number }, .poster = poster, .number = i };
        http_loop_post(poster->loop, &poster->tasks[i].task);
    }
    return NULL;
}

static void ignore(void *context, void *loop_context, struct http_exchange *exchange)
{
    (void)context;
    (void)loop_context;
    (void)exchange;
}

static void *take_loop(void *context, struct http_loop *loop)
{
    *(struct http_loop **)context = loop;
    return context;
}

static void tasks_run_in_the_order_they_were_posted(void **state)
{
    struct http_fixture *fixture = *state;
    struct http_loop *loop = NULL;
    const struct http_handler handler = { .context = &loop,
                                          .loop_open = take_loop,
                                          .request = ignore };
    char message[HTTP_MESSAGE_MAX];
    struct http_server *server = http_server_start(&fixture->options, &handler, message);
    assert_non_null(server);
    struct poster *posters = calloc(POSTERS, sizeof *posters);
    pthread_t threads[POSTERS];
    for (int i = 0; i < POSTERS; i++) {
        posters[i].loop = loop;
        assert_int_equal(pthread_create(&threads[i], NULL, post_all, &posters[i]), 0);
    }
    for (int i = 0; i < POSTERS; i++)
        pthread_join(threads[i], NULL);
    assert_true(http_server_stop(server, RAW_HTTP_WAIT_MS));
    for (int i = 0; i < POSTERS; i++) {
        assert_int_equal(posters[i].next, POSTS);
        assert_int_equal(posters[i].mistakes, 0);
    }
    free(posters);
}

/* --- Starting and stopping --- */

static void each_loop_has_a_context(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.loop_count = 3;
    http_fixture_start(fixture);
    assert_int_equal(fixture->loops_opened, 3);
    for (int i = 0; i < 20; i++) {
        struct raw_http client = http_fixture_connect(fixture);
        expect_echo(&client, "whichever loop");
        raw_http_close(&client);
    }
    assert_int_equal(fixture->loops_closed, 0);
    http_fixture_stop(fixture);
    assert_int_equal(fixture->loops_closed, 3);
}

static void a_server_has_its_address_to_itself(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.loop_count = 2;
    http_fixture_start(fixture);
    struct http_options options = fixture->options;
    options.port = fixture->port;
    const struct http_handler handler = { .request = ignore };
    char message[HTTP_MESSAGE_MAX], want[HTTP_MESSAGE_MAX];
    assert_null(http_server_start(&options, &handler, message));
    snprintf(want, sizeof want, "cannot listen on 127.0.0.1 port %u: address already in use",
             (unsigned)fixture->port);
    assert_string_equal(message, want);
    options.address = "localhost";
    assert_null(http_server_start(&options, &handler, message));
    assert_string_equal(message, "not an IP address: localhost");
}

static void *stop(void *argument)
{
    http_fixture_stop(argument);
    return NULL;
}

static void stopping_finishes_what_is_under_way(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http idle = http_fixture_connect(fixture), busy = http_fixture_connect(fixture);
    expect_echo(&idle, "then idle");
    send_text(&busy, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nlast"
                     "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\ndropped");
    assert_true(http_fixture_wait_for_late(fixture, 1));
    pthread_t stopper;
    assert_int_equal(pthread_create(&stopper, NULL, stop, fixture), 0);
    assert_true(raw_http_ends(&idle)); /* So the loop is stopping now. */
    http_fixture_release(fixture);
    struct raw_http_answer answer;
    assert_true(raw_http_receive(&busy, &answer));
    assert_true(bytes_equal_text(answer.body, "last"));
    assert_true(raw_http_has_header(&answer, "Connection: close"));
    assert_true(raw_http_ends(&busy));
    raw_http_close(&busy);
    raw_http_close(&idle);
    pthread_join(stopper, NULL);
}

/* Who asks whether the server is stopping must be told while it is. */
static void while_a_server_stops_new_connections_get_vital_answers_only(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http idle = http_fixture_connect(fixture), busy = http_fixture_connect(fixture);
    expect_echo(&idle, "then idle");
    send_text(&busy, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nlast");
    assert_true(http_fixture_wait_for_late(fixture, 1));
    pthread_t stopper;
    assert_int_equal(pthread_create(&stopper, NULL, stop, fixture), 0);
    assert_true(raw_http_ends(&idle)); /* So the loop is stopping now. */
    struct raw_http vital = http_fixture_connect(fixture), other = http_fixture_connect(fixture);
    struct raw_http silent = http_fixture_connect(fixture);
    send_text(&vital, "GET /vital HTTP/1.1\r\nHost: h\r\n\r\n"
                      "GET /vital HTTP/1.1\r\nHost: h\r\n\r\n");
    http_fixture_expect(&vital, 200, "here");
    assert_true(raw_http_ends(&vital)); /* One is enough. */
    send_text(&other, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    http_fixture_expect(&other, 503, "refused 503");
    int64_t released_ns = clock_monotonic_ns();
    http_fixture_release(fixture);
    http_fixture_expect(&busy, 200, "last");
    raw_http_close(&busy);
    pthread_join(stopper, NULL); /* Without waiting for the silent one until the grace is over. */
    assert_true(clock_monotonic_ns() - released_ns < RAW_HTTP_WAIT_MS * INT64_C(1000000));
    raw_http_close(&silent);
    raw_http_close(&other);
    raw_http_close(&vital);
    raw_http_close(&idle);
}

static void stopping_under_load_answers_every_request_taken(void **state)
{
    enum { COUNT = 100 };
    struct http_fixture *fixture = *state;
    fixture->options.loop_count = 2;
    http_fixture_start(fixture);
    struct raw_http clients[COUNT];
    for (int i = 0; i < COUNT; i++) {
        clients[i] = http_fixture_connect(fixture);
        send_text(&clients[i], "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nok");
    }
    assert_true(http_fixture_wait_for_late(fixture, COUNT));
    pthread_t stopper;
    assert_int_equal(pthread_create(&stopper, NULL, stop, fixture), 0);
    http_fixture_release(fixture);
    for (int i = 0; i < COUNT; i++) {
        http_fixture_expect(&clients[i], 200, "ok");
        raw_http_close(&clients[i]);
    }
    pthread_join(stopper, NULL);
}

/* The memory of an exchange that is never answered stays: this is how the leak checker knows. One
 * without TLS, one with it. */
static struct late *volatile never_answered[2];

static void stopping_gives_up_after_the_grace(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_text(&client, "GET /late HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_true(http_fixture_wait_for_late(fixture, 1));
    never_answered[fixture->files != NULL] = fixture->late_first;
    assert_false(http_server_stop(fixture->server, 100));
    fixture->server = NULL;
    assert_true(raw_http_ends(&client));
    http_fixture_release(fixture); /* Posting late is allowed, and comes to nothing. */
    raw_http_close(&client);
}

#define SERVER_TEST(name)                                                                          \
    cmocka_unit_test_setup_teardown(name, http_fixture_set_up, http_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(a_connection_serves_one_request_after_another),
        SERVER_TEST(an_answer_has_the_headers_it_must_have),
        SERVER_TEST(head_is_answered_without_the_body),
        SERVER_TEST(the_connection_is_kept_or_closed_as_agreed),
        SERVER_TEST(a_request_may_arrive_byte_by_byte),
        SERVER_TEST(chunked_bodies_are_put_together),
        SERVER_TEST(bodies_of_every_size_arrive_whole),
        SERVER_TEST(continue_is_sent_before_a_body_that_is_waited_for),
        SERVER_TEST(pipelined_answers_keep_their_order),
        SERVER_TEST(deep_pipelines_wait_outside_and_are_all_answered),
        SERVER_TEST(a_slow_reader_holds_up_nobody_else),
        SERVER_TEST(a_turn_writes_a_part_of_a_large_answer),
        SERVER_TEST(idle_connections_hold_up_nobody),
        SERVER_TEST(a_client_that_leaves_does_no_harm),
        SERVER_TEST(a_half_closed_client_is_answered),
        SERVER_TEST(a_turn_ends_before_its_loop_waits),
        SERVER_TEST(tasks_run_in_the_order_they_were_posted),
        SERVER_TEST(each_loop_has_a_context),
        SERVER_TEST(a_server_has_its_address_to_itself),
        SERVER_TEST(stopping_finishes_what_is_under_way),
        SERVER_TEST(while_a_server_stops_new_connections_get_vital_answers_only),
        SERVER_TEST(stopping_under_load_answers_every_request_taken),
        SERVER_TEST(stopping_gives_up_after_the_grace),
    };
    int failed = cmocka_run_group_tests_name("plain", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("TLS", tests, http_fixture_create_files,
                                                http_fixture_destroy_files);
}
