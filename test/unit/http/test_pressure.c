/* test_pressure.c -- the bound on the memory of all requests: who is refused, who is dropped.
 *
 * Time-outs are long, so a connection that ends here was dropped for lack of memory.
 */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "http/request_memory.h"
#include "http_fixture.h"
#include "raw_http.h"

enum {
    MIB = 1024 * 1024,
    BODY_SIZE_MAX = 8 * MIB,
    LATE_MAX = 4096, /* More than fit. */
    POLL_MS = 20,
};

static const char small_request[] = "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n";

static int set_up(void **state)
{
    struct http_fixture *fixture = malloc(sizeof *fixture);
    http_fixture_init(fixture);
    fixture->options.body_size_max = BODY_SIZE_MAX;
    fixture->options.connections_max = LATE_MAX;
    fixture->options.memory_max = 16 * MIB;
    *state = fixture;
    return 0;
}

static int status_of(struct raw_http *client)
{
    struct raw_http_answer answer;
    return raw_http_receive(client, &answer) ? answer.status : 0;
}

static int ask(const struct http_fixture *fixture)
{
    struct raw_http client = http_fixture_connect(fixture);
    int status = raw_http_send_text(&client, small_request) ? status_of(&client) : 0;
    raw_http_close(&client);
    return status;
}

static void send_head(struct raw_http *client, size_t length)
{
    char head[128];
    snprintf(head, sizeof head, "POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n",
             length);
    assert_true(raw_http_send_text(client, head));
}

static void send_zeros(struct raw_http *client, size_t size)
{
    uint8_t *zeros = calloc(1, size);
    raw_http_send(client, bytes_of(zeros, size)); /* May be refused meanwhile. */
    free(zeros);
}

/* --- Bodies --- */

/* One that would not fit beside what is there is refused before it is sent. */
static void a_body_without_room_is_refused_by_its_length(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.memory_max = 8 * MIB;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_head(&client, BODY_SIZE_MAX);
    assert_int_equal(status_of(&client), 503);
    raw_http_close(&client);
    assert_int_equal(ask(fixture), 200);
}

static void bodies_share_what_there_is(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    /* Three quarters of 16 MB: one body of 8 MB, and not a second one beside it. */
    struct raw_http first = http_fixture_connect(fixture), second = http_fixture_connect(fixture);
    send_head(&first, BODY_SIZE_MAX);
    send_zeros(&first, BODY_SIZE_MAX - 1);
    int status;
    do { /* Until the first has arrived. */
        raw_http_close(&second);
        second = http_fixture_connect(fixture);
        send_head(&second, BODY_SIZE_MAX - 1);
        send_zeros(&second, BODY_SIZE_MAX - 1);
        status = status_of(&second);
    } while (status == 200);
    assert_int_equal(status, 503);
    assert_int_equal(ask(fixture), 200); /* Small ones go on. */
    send_zeros(&first, 1);
    assert_int_equal(status_of(&first), 200);
    /* And there is room again. */
    raw_http_close(&second);
    second = http_fixture_connect(fixture);
    send_head(&second, BODY_SIZE_MAX);
    send_zeros(&second, BODY_SIZE_MAX);
    assert_int_equal(status_of(&second), 200);
    raw_http_close(&second);
    raw_http_close(&first);
}

static void a_chunked_body_without_room_is_refused(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.memory_max = 4 * MIB;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    assert_true(raw_http_send_text(
        &client,
        "POST /length HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n700000\r\n"));
    send_zeros(&client, 7 * MIB);
    assert_int_equal(status_of(&client), 503);
    raw_http_close(&client);
}

/* A body that stands still gives way to one that does not. */
static void a_stalled_body_is_dropped_for_another(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http stalled = http_fixture_connect(fixture);
    send_head(&stalled, BODY_SIZE_MAX);
    send_zeros(&stalled, BODY_SIZE_MAX - 1);
    int status = 503;
    while (status == 503) {
        usleep(POLL_MS * 1000);
        struct raw_http client = http_fixture_connect(fixture);
        send_head(&client, BODY_SIZE_MAX - 1);
        send_zeros(&client, BODY_SIZE_MAX - 1);
        status = status_of(&client);
        raw_http_close(&client);
    }
    assert_int_equal(status, 200);
    assert_int_equal(status_of(&stalled), 408);
    raw_http_close(&stalled);
}

/* --- Requests under way --- */

static void expect_vital(const struct http_fixture *fixture, const char *text)
{
    struct raw_http client = http_fixture_connect(fixture);
    struct raw_http_answer answer;
    assert_true(raw_http_send_text(&client, "GET /vital HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_true(raw_http_receive(&client, &answer));
    assert_int_equal(answer.status, 200);
    assert_true(bytes_equal_text(answer.body, text));
    raw_http_close(&client);
}

/* As writes are while the disk does not sync. They are never dropped, so others must be refused. */
static void requests_beyond_the_bound_are_refused_until_others_end(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http *clients = calloc(LATE_MAX, sizeof *clients);
    size_t count = 0;
    while (ask(fixture) == 200) {
        assert_true(count < LATE_MAX);
        clients[count] = http_fixture_connect(fixture);
        assert_true(raw_http_send_text(
            &clients[count], "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nlate"));
        count++;
        assert_true(http_fixture_wait_for_late(fixture, count));
    }
    assert_true(count > 50); /* Each takes less than 300 KB. */
    expect_vital(fixture, "pressed");
    http_fixture_release(fixture);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(status_of(&clients[i]), 200);
        raw_http_close(&clients[i]);
    }
    free(clients);
    assert_int_equal(ask(fixture), 200);
    expect_vital(fixture, "here");
}

/* Waits until the client's request is kept as one of `count`; false if it is refused instead. */
static bool is_kept(struct http_fixture *fixture, const struct raw_http *client, size_t count)
{
    struct pollfd answer = { .fd = client->fd, .events = POLLIN };
    for (;;) {
        pthread_mutex_lock(&fixture->mutex);
        bool kept = fixture->late_count == count;
        pthread_mutex_unlock(&fixture->mutex);
        if (kept)
            return true;
        if (poll(&answer, 1, 1) > 0)
            return false;
    }
}

/* What loops keep for later requests is not what keeps later requests out. */
static void a_crowd_leaves_room_behind(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.loop_count = 8;
    http_fixture_start(fixture);
    struct raw_http *clients = calloc(LATE_MAX, sizeof *clients);
    size_t count = 0;
    bool kept;
    do {
        assert_true(count < LATE_MAX);
        clients[count] = http_fixture_connect(fixture);
        assert_true(raw_http_send_text(&clients[count], "GET /late HTTP/1.1\r\nHost: h\r\n\r\n"));
        kept = is_kept(fixture, &clients[count], count + 1);
        count++;
    } while (kept);
    http_fixture_release(fixture);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(status_of(&clients[i]), i < count - 1 ? 200 : 503);
        raw_http_close(&clients[i]);
    }
    free(clients);
    struct raw_http client = http_fixture_connect(fixture);
    send_head(&client, BODY_SIZE_MAX);
    send_zeros(&client, BODY_SIZE_MAX);
    assert_int_equal(status_of(&client), 200);
    raw_http_close(&client);
}

/* --- Answers that nobody reads --- */

static void unread_answers_give_way_to_new_requests(void **state)
{
    enum { CLIENTS = 30 };
    struct http_fixture *fixture = *state;
    fixture->options.memory_max = 4 * HTTP_FIXTURE_LARGE_SIZE;
    http_fixture_start(fixture);
    struct raw_http clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = http_fixture_connect(fixture);
        raw_http_send_text(&clients[i], "GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
        /* Only what the socket does not take any more is unread, and it takes some turns to fill.
         */
        int status = 503;
        for (int waited_ms = 0; status == 503 && waited_ms < RAW_HTTP_WAIT_MS; waited_ms++) {
            status = ask(fixture);
            if (status == 503)
                usleep(1000);
        }
        assert_int_equal(status, 200);
    }
    /* One that came while the socket of the one before it was being filled may be refused. */
    int lost = 0, refused = 0;
    for (int i = 0; i < CLIENTS; i++) {
        int status = status_of(&clients[i]);
        lost += status == 0;
        refused += status == 503;
        raw_http_close(&clients[i]);
    }
    assert_true(lost > 0 && lost + refused >= CLIENTS - 8);
    assert_int_equal(ask(fixture), 200);
}

static const struct http_loop *loop_of(struct http_fixture *fixture, struct raw_http *client)
{
    assert_true(raw_http_send_text(client, "GET /late HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_true(http_fixture_wait_for_late(fixture, 1));
    const struct http_loop *loop = http_exchange_loop(http_fixture_first_late(fixture));
    http_fixture_release(fixture);
    assert_int_equal(status_of(client), 200);
    return loop;
}

/* Clients of one loop hold what a client of another needs. */
static void loops_drop_what_is_stalled_for_one_another(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.loop_count = 4;
    http_fixture_start(fixture);
    struct raw_http stalled = http_fixture_connect(fixture);
    const struct http_loop *loop = loop_of(fixture, &stalled);
    send_head(&stalled, BODY_SIZE_MAX);
    send_zeros(&stalled, BODY_SIZE_MAX - 1);
    int status = 503;
    for (int waited_ms = 0; status == 503 && waited_ms < RAW_HTTP_WAIT_MS; waited_ms += POLL_MS) {
        struct raw_http client = http_fixture_connect(fixture);
        if (loop_of(fixture, &client) != loop) {
            send_head(&client, BODY_SIZE_MAX - 1);
            send_zeros(&client, BODY_SIZE_MAX - 1);
            status = status_of(&client);
        }
        raw_http_close(&client);
        usleep(POLL_MS * 1000);
    }
    assert_int_equal(status, 200);
    assert_int_equal(status_of(&stalled), 408);
    raw_http_close(&stalled);
}

#define PRESSURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, http_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PRESSURE_TEST(a_body_without_room_is_refused_by_its_length),
        PRESSURE_TEST(bodies_share_what_there_is),
        PRESSURE_TEST(a_chunked_body_without_room_is_refused),
        PRESSURE_TEST(a_stalled_body_is_dropped_for_another),
        PRESSURE_TEST(requests_beyond_the_bound_are_refused_until_others_end),
        PRESSURE_TEST(a_crowd_leaves_room_behind),
        PRESSURE_TEST(unread_answers_give_way_to_new_requests),
        PRESSURE_TEST(loops_drop_what_is_stalled_for_one_another),
    };
    return cmocka_run_group_tests_name("http/pressure", tests, NULL, NULL);
}
