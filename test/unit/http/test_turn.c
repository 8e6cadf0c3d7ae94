/* test_turn.c -- the shares of a turn, alone and in a server whose loop meets many clients at once.
 */
#include <assert.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "http/server.h"
#include "http/turn.h"
#include "http_fixture.h"
#include "raw_http.h"

/* --- Queues --- */

static void waiting_ones_are_taken_in_their_order(void **state)
{
    (void)state;
    struct http_queue queue = { 0 };
    struct http_waiting waiting[4] = { 0 };
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        http_queue_append(&queue, &waiting[i]);
    http_queue_remove(&queue, &waiting[1]);
    http_queue_remove(&queue, &waiting[1]); /* Again is allowed. */
    http_queue_remove(&queue, &waiting[3]); /* The last. */
    assert_ptr_equal(http_queue_take(&queue), &waiting[0]);
    http_queue_append(&queue, &waiting[0]);
    assert_ptr_equal(http_queue_take(&queue), &waiting[2]);
    assert_ptr_equal(http_queue_take(&queue), &waiting[0]);
    assert_null(http_queue_take(&queue));
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        assert_false(waiting[i].is_queued);
}

/* --- Reading --- */

enum { READERS = 100 };

/* All that the connections can read in one turn; `sizes` counts what each has got. */
static size_t read_in_turn(struct http_turn *turn, size_t *sizes, size_t count)
{
    size_t all = 0, size;
    http_turn_begin(turn);
    for (size_t i = 0; i < count; i++) {
        while ((size = http_turn_read_room(turn, &sizes[i])) > 0) {
            size = size < 10000 ? size : 10000; /* In several pieces, as libuv reads. */
            http_turn_count_read(turn, size);
            sizes[i] += size;
            all += size;
        }
    }
    return all;
}

static void a_turn_reads_its_share_of_bodies(void **state)
{
    (void)state;
    struct http_turn turn = { 0 };
    size_t sizes[READERS] = { 0 };
    for (size_t i = 0; i < 1000; i++) {
        size_t count = i * 37 % READERS; /* Any number may have come or gone since the last. */
        assert_true(read_in_turn(&turn, sizes, count) <= HTTP_TURN_READ_SIZE);
    }
}

static void all_connections_read_the_same(void **state)
{
    (void)state;
    struct http_turn turn = { 0 };
    size_t sizes[READERS] = { 0 };
    enum { PER_TURN = HTTP_TURN_READ_SIZE / HTTP_TURN_CONNECTION_SIZE };
    for (size_t i = 0; i < 10 * READERS / PER_TURN + 1; i++)
        read_in_turn(&turn, sizes, READERS);
    for (size_t i = 0; i < READERS; i++) {
        assert_true(sizes[i] >= 10 * HTTP_TURN_CONNECTION_SIZE);
        assert_true(sizes[i] <= 11 * HTTP_TURN_CONNECTION_SIZE);
    }
}

static void a_few_connections_read_in_every_turn(void **state)
{
    (void)state;
    struct http_turn turn = { 0 };
    size_t sizes[1] = { 0 };
    for (size_t i = 1; i <= 10; i++) {
        read_in_turn(&turn, sizes, COUNT_OF(sizes));
        assert_int_equal(sizes[0], i * HTTP_TURN_CONNECTION_SIZE);
    }
}

/* --- Writing --- */

static void a_turn_writes_its_share_of_large_answers(void **state)
{
    (void)state;
    struct http_turn turn = { 0 };
    for (size_t piece = 1; piece < (size_t)2 * HTTP_TURN_WRITE_SIZE; piece += 777) {
        size_t all = 0, room;
        http_turn_begin(&turn);
        assert_true(http_turn_has_write_room(&turn));
        while ((room = http_turn_write_room(&turn, 1000 * 1000)) > 0) {
            room = room < piece ? room : piece; /* The socket may take less. */
            http_turn_count_written(&turn, room);
            all += room;
        }
        assert_true(all <= HTTP_TURN_WRITE_SIZE);
        assert_true(all > HTTP_TURN_WRITE_SIZE - HTTP_TURN_WRITE_SMALL_SIZE);
    }
}

static void a_small_answer_is_written_in_any_turn(void **state)
{
    (void)state;
    struct http_turn turn = { 0 };
    http_turn_begin(&turn);
    http_turn_count_written(&turn, HTTP_TURN_WRITE_SIZE);
    assert_int_equal(http_turn_write_room(&turn, HTTP_TURN_WRITE_SMALL_SIZE),
                     HTTP_TURN_WRITE_SMALL_SIZE);
    assert_int_equal(http_turn_write_room(&turn, HTTP_TURN_WRITE_SMALL_SIZE + 1), 0);
}

/* --- Many clients at once --- */

enum { CLIENTS = 10 * HTTP_TURN_ACCEPTS_MAX };
static_assert((int)CLIENTS >= 2 * (int)HTTP_TURN_CLOSES_MAX, "several turns of closing");

/* A loop that can be stopped within a request, so that clients gather. The counters are the
 * loop's; the semaphores order what the test reads of them. */
struct crowd {
    struct http_server *server;
    sem_t stopped, go_on;
    unsigned turns;            /* That have ended. */
    unsigned requests_in_turn; /* Since then. */
    unsigned requests_most;    /* The most in any. */
    struct raw_http holder;
    struct raw_http clients[CLIENTS];
};

static void answer_or_stop(void *context, void *loop_context, struct http_exchange *exchange)
{
    struct crowd *crowd = context;
    (void)loop_context;
    if (bytes_equal(http_exchange_target(exchange), BYTES("/stop"))) {
        sem_post(&crowd->stopped);
        sem_wait(&crowd->go_on);
        crowd->turns = 0;
    } else if (++crowd->requests_in_turn > crowd->requests_most) {
        crowd->requests_most = crowd->requests_in_turn;
    }
    const struct http_answer answer = { .status = 200, .body = BYTES("here") };
    http_exchange_answer(exchange, &answer);
}

static void count_turn(void *loop_context)
{
    struct crowd *crowd = loop_context;
    crowd->turns++;
    crowd->requests_in_turn = 0;
}

static int gather(void **state)
{
    static struct crowd crowd;
    struct http_fixture fixture;
    char message[HTTP_MESSAGE_MAX];
    const struct http_handler handler = { .context = &crowd,
                                          .request = answer_or_stop,
                                          .turn_end = count_turn };
    memset(&crowd, 0, sizeof crowd);
    http_fixture_init(&fixture);
    fixture.options.connections_max = CLIENTS + 1;
    fixture.options.loop_count = 1;
    crowd.server = http_server_start(&fixture.options, &handler, message);
    http_fixture_deinit(&fixture);
    sem_init(&crowd.stopped, 0, 0);
    sem_init(&crowd.go_on, 0, 0);
    raw_http_open(&crowd.holder, http_server_port(crowd.server));
    *state = &crowd;
    return 0;
}

static int part(void **state)
{
    struct crowd *crowd = *state;
    sem_post(&crowd->go_on); /* After a failure the loop still waits. */
    raw_http_close(&crowd->holder);
    assert_true(http_server_stop(crowd->server, RAW_HTTP_WAIT_MS));
    sem_destroy(&crowd->stopped);
    sem_destroy(&crowd->go_on);
    return 0;
}

static void stop_loop(struct crowd *crowd)
{
    assert_true(raw_http_send_text(&crowd->holder, "GET /stop HTTP/1.1\r\nHost: h\r\n\r\n"));
    sem_wait(&crowd->stopped);
}

static void ask_and_expect(struct raw_http *client, bool asks, bool expects)
{
    if (asks)
        assert_true(raw_http_send_text(client, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    if (expects)
        http_fixture_expect(client, 200, "here");
}

/* What was accepted in one turn is read in the next. */
static void a_turn_accepts_its_share_of_connections(void **state)
{
    struct crowd *crowd = *state;
    stop_loop(crowd);
    for (size_t i = 0; i < CLIENTS; i++) {
        raw_http_open(&crowd->clients[i], http_server_port(crowd->server));
        ask_and_expect(&crowd->clients[i], true, false);
    }
    sem_post(&crowd->go_on);
    for (size_t i = 0; i < CLIENTS; i++)
        ask_and_expect(&crowd->clients[i], false, true);
    stop_loop(crowd);
    assert_in_range(crowd->requests_most, 1, HTTP_TURN_ACCEPTS_MAX);
    sem_post(&crowd->go_on);
    for (size_t i = 0; i < CLIENTS; i++)
        raw_http_close(&crowd->clients[i]);
}

static void a_turn_closes_its_share_of_connections(void **state)
{
    struct crowd *crowd = *state;
    for (size_t i = 0; i < CLIENTS; i++) {
        raw_http_open(&crowd->clients[i], http_server_port(crowd->server));
        ask_and_expect(&crowd->clients[i], true, true);
    }
    stop_loop(crowd);
    for (size_t i = 0; i < CLIENTS; i++)
        raw_http_end(&crowd->clients[i]);
    sem_post(&crowd->go_on);
    for (size_t i = 0; i < CLIENTS; i++) {
        assert_true(raw_http_ends(&crowd->clients[i]));
        raw_http_close(&crowd->clients[i]);
    }
    http_fixture_expect(&crowd->holder, 200, "here");
    stop_loop(crowd);
    assert_true(crowd->turns >= CLIENTS / HTTP_TURN_CLOSES_MAX - 1);
    sem_post(&crowd->go_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_ones_are_taken_in_their_order),
        cmocka_unit_test(a_turn_reads_its_share_of_bodies),
        cmocka_unit_test(all_connections_read_the_same),
        cmocka_unit_test(a_few_connections_read_in_every_turn),
        cmocka_unit_test(a_turn_writes_its_share_of_large_answers),
        cmocka_unit_test(a_small_answer_is_written_in_any_turn),
        cmocka_unit_test_setup_teardown(a_turn_accepts_its_share_of_connections, gather, part),
        cmocka_unit_test_setup_teardown(a_turn_closes_its_share_of_connections, gather, part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
