/* test_tls.c -- what is special about TLS connections: handshakes, records, new certificates.
 *
 * test_server.c tests requests and answers, through TLS as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/random.h"
#include "http_fixture.h"
#include "raw_http.h"
#include "tls_files.h"
#include "tls_peer.h"

enum {
    SHORT_MS = 50,
    IDLE_MS = 1000, /* Must not pass between two calls of a test. */
};

static const char request[] = "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n";

static void expect_served(struct raw_http *client)
{
    assert_true(raw_http_send_text(client, request));
    http_fixture_expect(client, 200, "");
}

/* --- Handshakes --- */

static void plain_http_is_told_that_this_is_https(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    static const char *const requests[] = { request, "POST / HTTP/1.1\r\n", "HEAD" };
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        struct raw_http client;
        raw_http_open(&client, fixture->port);
        assert_true(raw_http_send_text(&client, requests[i]));
        if (strlen(requests[i]) < 5) /* Less than the head of a record does not tell. */
            assert_true(raw_http_send_text(&client, " / HTTP/1.1\r\n"));
        http_fixture_expect(&client, 400,
                            "This port speaks HTTPS; the address must start with https://\n");
        assert_true(raw_http_ends(&client));
        raw_http_close(&client);
    }
}

/* OpenSSL has an alert for those who speak TLS, if wrongly. */
static const struct {
    const char *text;
    size_t alert_size;
} no_handshakes[] = {
    { "SSH-2.0-OpenSSH_9.2\r\n", 0 },
    { "\x16\x03\x01\xFF\xFF\x01", 7 },
    { "\x16\x03\x01\x01\x01 a record, but no handshake", 0 },
};

static void what_is_no_tls_has_an_orderly_end(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    for (size_t i = 0; i < COUNT_OF(no_handshakes); i++) {
        struct raw_http client;
        uint8_t alert[64];
        raw_http_open(&client, fixture->port);
        assert_true(raw_http_send_text(&client, no_handshakes[i].text));
        raw_http_end(&client);
        ssize_t size = recv(client.fd, alert, sizeof alert, MSG_WAITALL); /* To its end. */
        assert_int_equal(size, no_handshakes[i].alert_size);
        raw_http_close(&client);
    }
}

static void a_client_that_ends_within_the_handshake_is_forgotten(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.connections_max = 1;
    http_fixture_start(fixture);
    static const char *const half_units[] = { "", "\x16", "\x16\x03\x01\x02\x00\x01" };
    for (size_t i = 0; i < COUNT_OF(half_units); i++) {
        struct raw_http client;
        raw_http_open(&client, fixture->port);
        assert_true(raw_http_send_text(&client, half_units[i]));
        raw_http_end(&client);
        assert_true(raw_http_ends(&client)); /* So there is room for the next. */
        raw_http_close(&client);
    }
}

static void a_handshake_has_the_time_of_a_head(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.header_timeout_ms = SHORT_MS;
    http_fixture_start(fixture);
    static const char *const half_units[] = { "", "\x16\x03\x01\x02\x00\x01" };
    for (size_t i = 0; i < COUNT_OF(half_units); i++) {
        struct raw_http client;
        raw_http_open(&client, fixture->port);
        assert_true(raw_http_send_text(&client, half_units[i]));
        assert_true(raw_http_ends(&client));
        raw_http_close(&client);
    }
}

static void connections_beyond_the_limit_are_closed_without_a_handshake(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.connections_max = 1;
    http_fixture_start(fixture);
    struct raw_http first = http_fixture_connect(fixture), second;
    raw_http_open(&second, fixture->port);
    assert_true(raw_http_ends(&second));
    expect_served(&first);
    raw_http_close(&second);
    raw_http_close(&first);
}

static void a_client_without_a_certificate_is_told_so(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct tls_context *strict =
        tls_files_context(fixture->files, "server.pem", "server.key", "ca.pem");
    http_server_set_tls(fixture->server, strict);
    tls_context_release(strict);
    struct raw_http client;
    struct raw_http_answer answer;
    const struct tls_peer_options nobody = { .files = fixture->files },
                                  somebody = { .files = fixture->files, .name = "client" };
    raw_http_open_tls(&client, fixture->port, &nobody); /* TLS 1.3: it learns of it later. */
    assert_true(raw_http_send_text(&client, request));
    assert_false(raw_http_receive(&client, &answer));
    assert_string_equal(tls_peer_problem(client.tls), "tlsv13 alert certificate required");
    raw_http_close(&client);
    raw_http_open_tls(&client, fixture->port, &somebody);
    expect_served(&client);
    raw_http_close(&client);
}

static void a_new_context_is_for_new_connections(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http before = http_fixture_connect(fixture), after;
    expect_served(&before);
    struct tls_context *other = tls_files_context(fixture->files, "other.pem", "other.key", NULL);
    http_server_set_tls(fixture->server, other);
    tls_context_release(other);
    const struct tls_peer_options options = { .files = fixture->files, .trusted = "other.pem" };
    raw_http_open_tls(&after, fixture->port, &options);
    expect_served(&after);
    expect_served(&before);
    raw_http_close(&after);
    raw_http_close(&before);
}

enum { CHANGES = 100 };

static void *change_contexts(void *argument)
{
    struct http_fixture *fixture = argument;
    struct tls_context *contexts[] = {
        tls_files_context(fixture->files, "server.pem", "server.key", NULL),
        tls_files_context(fixture->files, "other.pem", "other.key", NULL),
    };
    for (size_t i = 0; i < CHANGES; i++) {
        http_server_set_tls(fixture->server, contexts[i % COUNT_OF(contexts)]);
        usleep(1000); /* Some more connections. */
    }
    for (size_t i = 0; i < COUNT_OF(contexts); i++)
        tls_context_release(contexts[i]);
    return NULL;
}

static void contexts_may_change_while_connections_come_and_go(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.loop_count = 2;
    http_fixture_start(fixture);
    const struct tls_peer_options options = { .files = fixture->files };
    struct raw_http kept = http_fixture_connect(fixture);
    pthread_t changer;
    assert_int_equal(pthread_create(&changer, NULL, change_contexts, fixture), 0);
    for (int i = 0; i < CHANGES; i++) {
        struct raw_http client;
        raw_http_open_tls(&client, fixture->port, &options);
        expect_served(&client);
        expect_served(&kept);
        raw_http_close(&client);
    }
    pthread_join(changer, NULL);
    raw_http_close(&kept);
}

static void a_handler_can_tell(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    assert_true(raw_http_send_text(&client, "GET /secure HTTP/1.1\r\nHost: h\r\n\r\n"));
    http_fixture_expect(&client, 200, "yes");
    raw_http_close(&client);
}

/* --- Records --- */

static void send_length_request(struct raw_http *client, size_t size)
{
    char head[128];
    snprintf(head, sizeof head, "POST /length HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n",
             size);
    assert_true(raw_http_send_text(client, head));
}

/* A thread that works on a request may ask while the client goes away. */
static void a_request_stays_secure_when_its_client_is_gone(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    assert_true(raw_http_send_text(&client, "GET /late HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_true(http_fixture_wait_for_late(fixture, 1));
    const struct http_exchange *exchange = http_fixture_first_late(fixture);
    raw_http_reset(&client);
    while (!http_exchange_is_in_vain(exchange))
        assert_true(http_exchange_is_secure(exchange));
    struct raw_http other = http_fixture_connect(fixture); /* The loop has been round by then. */
    expect_served(&other);
    assert_true(http_exchange_is_secure(exchange));
    raw_http_close(&other);
    http_fixture_release(fixture);
}

static void thousands_of_small_records_are_one_body(void **state)
{
    enum { SIZE = 20000 };
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    send_length_request(&client, SIZE);
    for (size_t sent = 0; sent < SIZE; sent += 2)
        assert_true(raw_http_send(&client, BYTES("ab")));
    http_fixture_expect(&client, 200, "20000 1950000");
    raw_http_close(&client);
}

static void bodies_of_16_megabytes_come_and_go(void **state)
{
    enum { SIZE = 16 * 1024 * 1024 };
    struct http_fixture *fixture = *state;
    fixture->options.body_size_max = SIZE;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    struct raw_http_answer answer;
    uint8_t *body = calloc(1, SIZE);
    body[SIZE - 1] = 1;
    for (int i = 0; i < 2; i++) {
        send_length_request(&client, SIZE);
        assert_true(raw_http_send(&client, bytes_of(body, SIZE)));
        http_fixture_expect(&client, 200, "16777216 1");
        assert_true(raw_http_send_text(&client, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n"));
        assert_true(raw_http_receive(&client, &answer));
        assert_int_equal(answer.body.len, HTTP_FIXTURE_LARGE_SIZE);
    }
    free(body);
    raw_http_close(&client);
}

/* Text that is encrypted once and then arrives in pieces of any size. */
static void records_may_be_cut_anywhere(void **state)
{
    enum { COUNT = 300 };
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    struct random random;
    random_init(&random, 11);
    for (int i = 0; i < COUNT; i++)
        tls_peer_write(client.tls, bytes_from_text(request));
    struct bytes sent = tls_peer_take(client.tls);
    while (sent.len > 0) {
        size_t size = 1 + (size_t)random_below(&random, 200);
        size = size < sent.len ? size : sent.len;
        assert_int_equal(send(client.fd, sent.data, size, MSG_NOSIGNAL), size);
        sent = bytes_of(sent.data + size, sent.len - size);
    }
    for (int i = 0; i < COUNT; i++)
        http_fixture_expect(&client, 200, "");
    raw_http_close(&client);
}

/* While an answer waits for its reader, the client has asked for new keys and for more answers, all
 * in one piece: what confirms the keys must not get between the bytes of a record. */
static void new_keys_may_come_between_large_answers(void **state)
{
    enum { COUNT = 3 };
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    struct raw_http_answer answer;
    for (int i = 0; i < COUNT; i++) {
        tls_peer_write(client.tls, BYTES("GET /large HTTP/1.1\r\nHost: h\r\n\r\n"));
        tls_peer_renew(client.tls);
    }
    struct bytes sent = tls_peer_take(client.tls);
    assert_int_equal(send(client.fd, sent.data, sent.len, MSG_NOSIGNAL), sent.len);
    for (int i = 0; i < COUNT; i++) {
        assert_true(raw_http_receive(&client, &answer));
        assert_int_equal(answer.body.len, HTTP_FIXTURE_LARGE_SIZE);
    }
    expect_served(&client);
    raw_http_close(&client);
}

static void a_spoilt_record_ends_the_connection(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture), late = http_fixture_connect(fixture);
    struct raw_http_answer answer;
    expect_served(&client);
    assert_true(send(client.fd, "\x17\x03\x03\x00\x20", 5, MSG_NOSIGNAL) == 5);
    assert_true(send(client.fd, (uint8_t[32]){ 0 }, 32, MSG_NOSIGNAL) == 32);
    assert_false(raw_http_receive(&client, &answer));
    raw_http_close(&client);
    /* The same while a handler has a request. */
    assert_true(raw_http_send_text(&late, "GET /late HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_true(http_fixture_wait_for_late(fixture, 1));
    assert_true(send(late.fd, "\x17\x03\x03\x00\x20", 5, MSG_NOSIGNAL) == 5);
    assert_true(send(late.fd, (uint8_t[32]){ 0 }, 32, MSG_NOSIGNAL) == 32);
    assert_false(raw_http_receive(&late, &answer));
    http_fixture_release(fixture);
    raw_http_close(&late);
}

/* --- Ends --- */

static void a_connection_cut_without_tls_s_own_end_is_answered_all_the_same(void **state)
{
    struct http_fixture *fixture = *state;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    assert_true(raw_http_send_text(&client, request));
    shutdown(client.fd, SHUT_WR);
    http_fixture_expect(&client, 200, "");
    assert_true(raw_http_ends(&client));
    raw_http_close(&client);
}

static void an_idle_connection_is_told_that_it_ends(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.idle_timeout_ms = IDLE_MS;
    http_fixture_start(fixture);
    struct raw_http silent = http_fixture_connect(fixture), used = http_fixture_connect(fixture);
    expect_served(&used);
    assert_true(raw_http_ends(&used));
    assert_true(raw_http_ends(&silent));
    raw_http_close(&used);
    raw_http_close(&silent);
}

static void an_answer_that_is_not_read_is_given_up(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.write_timeout_ms = SHORT_MS;
    fixture->options.connections_max = 1;
    http_fixture_start(fixture);
    const struct tls_peer_options options = { .files = fixture->files };
    struct raw_http slow = http_fixture_connect(fixture), other;
    struct raw_http_answer answer;
    assert_true(raw_http_send_text(&slow, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n"));
    raw_http_open(&other, fixture->port);
    while (!raw_http_start_tls(&other, &options)) { /* Until the only place is free again. */
        raw_http_close(&other);
        usleep(SHORT_MS * 1000);
        raw_http_open(&other, fixture->port);
    }
    expect_served(&other);
    assert_false(raw_http_receive(&slow, &answer));
    raw_http_close(&other);
    raw_http_close(&slow);
}

/* Slower than the time-out in all, but never without progress for so long. */
static void a_slow_reader_that_goes_on_is_waited_for(void **state)
{
    struct http_fixture *fixture = *state;
    fixture->options.write_timeout_ms = 2 * IDLE_MS;
    http_fixture_start(fixture);
    struct raw_http client = http_fixture_connect(fixture);
    struct raw_http_answer answer;
    assert_true(raw_http_send_text(&client, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n"));
    for (int passed_ms = 0; passed_ms < 3 * IDLE_MS; passed_ms += SHORT_MS) {
        uint8_t some[128 * 1024];
        ssize_t size = recv(client.fd, some, sizeof some, MSG_DONTWAIT);
        if (size > 0)
            tls_peer_give(client.tls, bytes_of(some, (size_t)size));
        usleep(SHORT_MS * 1000);
    }
    assert_true(raw_http_receive(&client, &answer));
    assert_int_equal(answer.body.len, HTTP_FIXTURE_LARGE_SIZE);
    raw_http_close(&client);
}

#define TLS_TEST(name)                                                                             \
    cmocka_unit_test_setup_teardown(name, http_fixture_set_up, http_fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TLS_TEST(plain_http_is_told_that_this_is_https),
        TLS_TEST(what_is_no_tls_has_an_orderly_end),
        TLS_TEST(a_client_that_ends_within_the_handshake_is_forgotten),
        TLS_TEST(a_handshake_has_the_time_of_a_head),
        TLS_TEST(connections_beyond_the_limit_are_closed_without_a_handshake),
        TLS_TEST(a_client_without_a_certificate_is_told_so),
        TLS_TEST(a_new_context_is_for_new_connections),
        TLS_TEST(contexts_may_change_while_connections_come_and_go),
        TLS_TEST(a_handler_can_tell),
        TLS_TEST(a_request_stays_secure_when_its_client_is_gone),
        TLS_TEST(thousands_of_small_records_are_one_body),
        TLS_TEST(bodies_of_16_megabytes_come_and_go),
        TLS_TEST(records_may_be_cut_anywhere),
        TLS_TEST(new_keys_may_come_between_large_answers),
        TLS_TEST(a_spoilt_record_ends_the_connection),
        TLS_TEST(a_connection_cut_without_tls_s_own_end_is_answered_all_the_same),
        TLS_TEST(an_idle_connection_is_told_that_it_ends),
        TLS_TEST(an_answer_that_is_not_read_is_given_up),
        TLS_TEST(a_slow_reader_that_goes_on_is_waited_for),
    };
    return cmocka_run_group_tests(tests, http_fixture_create_files, http_fixture_destroy_files);
}
