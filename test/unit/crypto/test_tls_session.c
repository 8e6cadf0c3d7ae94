/* test_tls_session.c -- a server's session against OpenSSL's client, in memory. */
#include <openssl/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/random.h"
#include "crypto/tls_context.h"
#include "crypto/tls_session.h"
#include "tls_files.h"
#include "tls_peer.h"

enum { WIRE_SIZE = 64 * 1024, ROUNDS_MAX = 20 };

struct pair {
    struct tls_session *server;
    struct tls_peer *client;
    size_t step;         /* Bytes that the server gets at a time; 0: all. */
    size_t out_capacity; /* Of the server's wire. */
    enum tls_status status;
    uint8_t out[WIRE_SIZE];
};

static int create_files(void **state)
{
    struct tls_files *files = malloc(sizeof *files);
    tls_files_create(files);
    *state = files;
    return 0;
}

static int destroy_files(void **state)
{
    tls_files_destroy(*state);
    free(*state);
    return 0;
}

/* Not yet agreed. */
static struct pair *create_pair(const struct tls_files *files, const char *client_ca,
                                const struct tls_peer_options *options)
{
    struct tls_peer_options usual = *options;
    struct tls_context *context = tls_files_context(files, "server.pem", "server.key", client_ca);
    struct pair *pair = calloc(1, sizeof *pair);
    usual.files = files;
    pair->server = tls_session_create(context);
    pair->client = tls_peer_create(&usual);
    pair->out_capacity = sizeof pair->out;
    pair->status = TLS_MORE;
    tls_context_release(context); /* The session has its own. */
    return pair;
}

static void destroy_pair(struct pair *pair)
{
    assert_int_equal(ERR_peek_error(), 0); /* Nothing is left for the next connection. */
    tls_session_destroy(pair->server);
    tls_peer_destroy(pair->client);
    free(pair);
}

static struct tls_wire wire_of(struct pair *pair, struct bytes in)
{
    return (struct tls_wire){ .in = in, .out = pair->out, .out_capacity = pair->out_capacity };
}

/* One call of the server's handshake, and again as long as its wire is full. */
static void shake_server(struct pair *pair, struct bytes in)
{
    struct tls_wire wire = wire_of(pair, in);
    do {
        pair->status = tls_session_handshake(pair->server, &wire);
        tls_peer_give(pair->client, bytes_of(wire.out, wire.out_len));
        wire.out_len = 0;
    } while (pair->status == TLS_FULL);
}

/* Lets the two talk until both have agreed or one gives up. */
static void shake(struct pair *pair)
{
    for (int round = 0; round < ROUNDS_MAX; round++) {
        bool agreed = tls_peer_shake(pair->client);
        struct bytes sent = tls_peer_take(pair->client);
        size_t step = pair->step > 0 ? pair->step : sent.len;
        for (size_t at = 0; at < sent.len && pair->status == TLS_MORE; at += step)
            shake_server(pair,
                         bytes_of(sent.data + at, sent.len - at < step ? sent.len - at : step));
        if ((agreed && pair->status == TLS_OK) || tls_peer_failed(pair->client))
            return;
    }
}

static struct pair *create_agreed(const struct tls_files *files, int version_max)
{
    const struct tls_peer_options options = { .trusted = "server.pem", .version_max = version_max };
    struct pair *pair = create_pair(files, NULL, &options);
    shake(pair);
    assert_int_equal(pair->status, TLS_OK);
    return pair;
}

/* What the server reads of `in`, of which everything is taken. */
static enum tls_status read_all(struct pair *pair, struct bytes in, uint8_t *plain, size_t capacity,
                                size_t *len)
{
    struct tls_wire wire = wire_of(pair, in);
    enum tls_status status = tls_session_read(pair->server, &wire, plain, capacity, len);
    tls_peer_give(pair->client, bytes_of(wire.out, wire.out_len));
    if (status == TLS_MORE)
        assert_int_equal(wire.in.len, 0);
    return status;
}

static void expect_read(struct pair *pair, const char *text)
{
    uint8_t plain[256];
    size_t len;
    tls_peer_write(pair->client, bytes_from_text(text));
    assert_int_equal(read_all(pair, tls_peer_take(pair->client), plain, sizeof plain, &len),
                     TLS_MORE);
    assert_true(bytes_equal_text(bytes_of(plain, len), text));
}

static void expect_written(struct pair *pair, const char *text)
{
    char plain[256];
    struct tls_wire wire = wire_of(pair, BYTES(""));
    assert_int_equal(tls_session_write(pair->server, &wire, bytes_from_text(text)), TLS_OK);
    tls_peer_give(pair->client, bytes_of(wire.out, wire.out_len));
    size_t len = tls_peer_read(pair->client, plain, sizeof plain);
    assert_true(bytes_equal_text(bytes_of(plain, len), text));
}

/* --- Agreeing --- */

/* `problem` is what the client is told; NULL: they agree. */
static const struct {
    const char *name, *client_ca;
    struct tls_peer_options options;
    const char *version, *problem;
} handshakes[] = {
    { "the newest", NULL, { .trusted = "server.pem" }, "TLSv1.3", NULL },
    { "TLS 1.2", NULL, { .trusted = "server.pem", .version_max = TLS_PEER_1_2 }, "TLSv1.2", NULL },
    { "TLS 1.1", NULL, { .version_max = TLS_PEER_1_1 }, NULL, "tlsv1 alert protocol version" },
    { "TLS 1.0", NULL, { .version_max = TLS_PEER_1_0 }, NULL, "tlsv1 alert protocol version" },
    { "no forward secrecy",
      NULL,
      { .version_max = TLS_PEER_1_2, .suites = "AES256-GCM-SHA384:@SECLEVEL=0" },
      NULL,
      "sslv3 alert handshake failure" },
    { "no authenticated encryption",
      NULL,
      { .version_max = TLS_PEER_1_2, .suites = "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0" },
      NULL,
      "sslv3 alert handshake failure" },
    { "a client that trusts another",
      NULL,
      { .trusted = "other.pem" },
      NULL,
      "certificate verify failed" },
    { "HTTP/1.1 by name", NULL, { .alpn = "\x02h2\x08http/1.1" }, "TLSv1.3", NULL },
    { "HTTP/2 only", NULL, { .alpn = "\x02h2" }, NULL, "tlsv1 alert no application protocol" },
    { "a client's certificate", "ca.pem", { .name = "client" }, "TLSv1.3", NULL },
    { "a client's certificate, TLS 1.2",
      "ca.pem",
      { .name = "client", .version_max = TLS_PEER_1_2 },
      "TLSv1.2",
      NULL },
    { "one that nobody asked for", NULL, { .name = "stranger" }, "TLSv1.3", NULL },
    { "no certificate", "ca.pem", { 0 }, NULL, "tlsv13 alert certificate required" },
    { "no certificate, TLS 1.2",
      "ca.pem",
      { .version_max = TLS_PEER_1_2 },
      NULL,
      "sslv3 alert handshake failure" },
    { "one of another authority",
      "ca.pem",
      { .name = "stranger" },
      NULL,
      "tlsv1 alert unknown ca" },
    { "one that is its own authority",
      "ca.pem",
      { .name = "server" },
      NULL,
      "tlsv1 alert unknown ca" },
};

/* In TLS 1.3 the client learns of its refusal when it reads. */
static bool is_refused(struct pair *pair)
{
    char ignored[16];
    if (!tls_peer_failed(pair->client))
        assert_int_equal(tls_peer_read(pair->client, ignored, sizeof ignored), 0);
    return tls_peer_failed(pair->client);
}

static void handshakes_end_as_they_should(void **state)
{
    static const size_t steps[] = { 0, 1, 7 };
    for (size_t i = 0; i < COUNT_OF(handshakes) * COUNT_OF(steps); i++) {
        size_t row = i / COUNT_OF(steps);
        const char *problem = handshakes[row].problem;
        struct pair *pair =
            create_pair(*state, handshakes[row].client_ca, &handshakes[row].options);
        pair->step = steps[i % COUNT_OF(steps)];
        shake(pair);
        if (problem == NULL && (pair->status != TLS_OK || strcmp(tls_peer_version(pair->client),
                                                                 handshakes[row].version) != 0))
            fail_msg("%s: %d, %s", handshakes[row].name, (int)pair->status,
                     tls_session_problem(pair->server));
        if (problem != NULL && (pair->status == TLS_OK || !is_refused(pair) ||
                                strcmp(tls_peer_problem(pair->client), problem) != 0))
            fail_msg("%s: '%s'", handshakes[row].name, tls_peer_problem(pair->client));
        if (problem == NULL) {
            expect_read(pair, "hello");
            expect_written(pair, "goodbye");
        }
        destroy_pair(pair);
    }
}

static void the_protocol_is_http_1_1_if_the_client_asks(void **state)
{
    struct pair *pair =
        create_pair(*state, NULL, &(struct tls_peer_options){ .alpn = "\x02h2\x08http/1.1" });
    shake(pair);
    assert_true(bytes_equal_text(tls_peer_protocol(pair->client), "http/1.1"));
    destroy_pair(pair);
}

/* A wire that takes little is filled, emptied and filled again. */
static void a_narrow_wire_is_enough(void **state)
{
    static const size_t capacities[] = { 1, 5, 100 };
    for (size_t i = 0; i < COUNT_OF(capacities); i++) {
        struct pair *pair =
            create_pair(*state, NULL, &(struct tls_peer_options){ .trusted = "server.pem" });
        pair->out_capacity = capacities[i];
        shake(pair);
        assert_int_equal(pair->status, TLS_OK);
        expect_read(pair, "hello");
        destroy_pair(pair);
    }
}

/* --- Reading and writing --- */

static const int versions[] = { TLS_PEER_1_2, TLS_PEER_1_3 };

static void bytes_may_arrive_one_by_one(void **state)
{
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct pair *pair = create_agreed(*state, versions[i]);
        uint8_t plain[64];
        size_t read = 0;
        tls_peer_write(pair->client, BYTES("byte by byte"));
        struct bytes sent = tls_peer_take(pair->client);
        for (size_t at = 0; at < sent.len; at++) {
            size_t len;
            assert_int_equal(read_all(pair, bytes_of(sent.data + at, 1), plain + read,
                                      sizeof plain - read, &len),
                             TLS_MORE);
            assert_true(len == 0 ||
                        at == sent.len - 1); /* Nothing of a record that is not whole. */
            read += len;
        }
        assert_true(bytes_equal_text(bytes_of(plain, read), "byte by byte"));
        destroy_pair(pair);
    }
}

/* Text of any size through room of any size: nothing is lost, nothing read twice. */
static void records_are_read_into_room_of_any_size(void **state)
{
    enum { SIZE = 100 * 1000 };
    static const size_t rooms[] = { 1, 100, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, SIZE };
    uint8_t *text = malloc(SIZE), *plain = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = (uint8_t)(i * 31 % 251);
    struct pair *pair = create_agreed(*state, 0);
    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        tls_peer_write(pair->client, bytes_of(text, SIZE));
        struct tls_wire wire = wire_of(pair, tls_peer_take(pair->client));
        size_t read = 0, len;
        enum tls_status status = TLS_OK;
        while (status == TLS_OK && read < SIZE) {
            size_t room = rooms[i] < SIZE - read ? rooms[i] : SIZE - read;
            status = tls_session_read(pair->server, &wire, plain + read, room, &len);
            if (status == TLS_OK)
                assert_int_equal(len, room);
            read += len;
        }
        assert_true(bytes_equal(bytes_of(plain, read), bytes_of(text, SIZE)));
        uint8_t none[1];
        assert_int_equal(tls_session_read(pair->server, &wire, none, sizeof none, &len), TLS_MORE);
        assert_int_equal(len, 0);
    }
    destroy_pair(pair);
    free(text);
    free(plain);
}

static void a_record_is_at_most_what_it_is_said_to_be(void **state)
{
    static const size_t sizes[] = { 1, TLS_SESSION_PLAIN_MAX - 1, TLS_SESSION_PLAIN_MAX };
    uint8_t *text = calloc(1, TLS_SESSION_PLAIN_MAX), *plain = malloc(TLS_SESSION_PLAIN_MAX);
    for (size_t i = 0; i < COUNT_OF(versions) * COUNT_OF(sizes); i++) {
        struct pair *pair = create_agreed(*state, versions[i / COUNT_OF(sizes)]);
        size_t size = sizes[i % COUNT_OF(sizes)];
        pair->out_capacity = TLS_SESSION_RECORD_MAX;
        struct tls_wire wire = wire_of(pair, BYTES(""));
        assert_int_equal(tls_session_write(pair->server, &wire, bytes_of(text, size)), TLS_OK);
        tls_peer_give(pair->client, bytes_of(wire.out, wire.out_len));
        assert_int_equal(tls_peer_read(pair->client, plain, TLS_SESSION_PLAIN_MAX), size);
        destroy_pair(pair);
    }
    free(text);
    free(plain);
}

static void a_full_wire_is_emptied_and_the_write_done_again(void **state)
{
    static const char text[] = "more than the wire takes at once";
    struct pair *pair = create_agreed(*state, 0);
    pair->out_capacity = 10;
    enum tls_status status = TLS_FULL;
    for (int calls = 0; status == TLS_FULL; calls++) {
        char copy[sizeof text]; /* Not at the same place. */
        struct tls_wire wire = wire_of(pair, BYTES(""));
        memcpy(copy, text, sizeof text);
        assert_true(calls < ROUNDS_MAX);
        status = tls_session_write(pair->server, &wire, bytes_of(copy, sizeof copy));
        tls_peer_give(pair->client, bytes_of(wire.out, wire.out_len));
    }
    char plain[sizeof text];
    assert_int_equal(status, TLS_OK);
    assert_int_equal(tls_peer_read(pair->client, plain, sizeof plain), sizeof text);
    assert_string_equal(plain, text);
    destroy_pair(pair);
}

/* TLS 1.3 changes keys; 1.2's renegotiation is refused, and the connection goes on. */
static void new_keys_are_confirmed_and_renegotiation_is_not(void **state)
{
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct pair *pair = create_agreed(*state, versions[i]);
        uint8_t plain[16];
        size_t len;
        tls_peer_renew(pair->client);
        assert_int_equal(read_all(pair, tls_peer_take(pair->client), plain, sizeof plain, &len),
                         TLS_MORE);
        if (versions[i] == TLS_PEER_1_3) {
            expect_written(pair, "with new keys");
            expect_read(pair, "on both sides");
        } else {
            tls_peer_read(pair->client, plain, sizeof plain);
            assert_string_equal(tls_peer_problem(pair->client), "no renegotiation");
        }
        destroy_pair(pair);
    }
}

/* --- Ends --- */

static void each_end_may_end_by_itself(void **state)
{
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct pair *pair = create_agreed(*state, versions[i]);
        uint8_t plain[16];
        size_t len;
        tls_peer_write(pair->client, BYTES("last"));
        tls_peer_end(pair->client);
        assert_int_equal(read_all(pair, tls_peer_take(pair->client), plain, sizeof plain, &len),
                         TLS_ENDED);
        assert_true(bytes_equal_text(bytes_of(plain, len), "last"));
        assert_int_equal(read_all(pair, BYTES(""), plain, sizeof plain, &len), TLS_ENDED);
        expect_written(pair, "an answer");
        assert_false(tls_peer_is_ended(pair->client));
        struct tls_wire wire = wire_of(pair, BYTES(""));
        tls_session_end(pair->server, &wire);
        tls_peer_give(pair->client, bytes_of(wire.out, wire.out_len));
        assert_int_equal(tls_peer_read(pair->client, plain, sizeof plain), 0);
        assert_true(tls_peer_is_ended(pair->client));
        destroy_pair(pair);
    }
}

static void ending_before_agreeing_says_nothing(void **state)
{
    struct pair *pair = create_pair(*state, NULL, &(struct tls_peer_options){ 0 });
    struct tls_wire wire = wire_of(pair, BYTES(""));
    tls_session_end(pair->server, &wire);
    assert_int_equal(wire.out_len, 0);
    destroy_pair(pair);
}

static const struct {
    const char *name;
    struct bytes bytes;
    enum tls_status status;
} garbage[] = {
    { "GET", BYTES("GET / HTTP/1.1\r\n\r\n"), TLS_PLAIN_HTTP },
    { "POST", BYTES("POST / HTTP/1.1\r\n"), TLS_PLAIN_HTTP },
    { "HEAD", BYTES("HEAD / HTTP/1.1\r\n"), TLS_PLAIN_HTTP },
    { "PUT", BYTES("PUT / HTTP/1.1\r\n"), TLS_PLAIN_HTTP },
    { "another protocol", BYTES("SSH-2.0-OpenSSH_9.2\r\n"), TLS_FAILED },
    { "zeros", BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), TLS_FAILED },
    { "too long a record", BYTES("\x16\x03\x01\xFF\xFF\x01\x00\x00\x00"), TLS_FAILED },
    { "an alert", BYTES("\x15\x03\x01\x00\x02\x02\x28"), TLS_FAILED },
    { "data before the handshake", BYTES("\x17\x03\x03\x00\x02hi"), TLS_FAILED },
    { "half a record", BYTES("\x16\x03\x01\x02\x00\x01"), TLS_MORE },
    { "nothing", BYTES(""), TLS_MORE },
};

static void garbage_instead_of_a_handshake_fails(void **state)
{
    for (size_t i = 0; i < COUNT_OF(garbage); i++) {
        struct pair *pair = create_pair(*state, NULL, &(struct tls_peer_options){ 0 });
        struct tls_wire wire = wire_of(pair, garbage[i].bytes);
        enum tls_status status = tls_session_handshake(pair->server, &wire);
        if (status != garbage[i].status)
            fail_msg("%s: %d (%s)", garbage[i].name, (int)status,
                     tls_session_problem(pair->server));
        if (status != TLS_MORE) {
            assert_true(tls_session_problem(pair->server)[0] != '\0');
            assert_int_equal(tls_session_handshake(pair->server, &wire), status); /* For good. */
        }
        destroy_pair(pair);
    }
}

/* Each byte of a record spoilt in turn: never a byte of text that was not sent. */
static void a_spoilt_record_fails_the_session(void **state)
{
    size_t size = 1;
    for (size_t at = 0; at < size; at++) {
        struct pair *pair = create_agreed(*state, 0);
        uint8_t plain[64];
        size_t len;
        tls_peer_write(pair->client, BYTES("text"));
        struct bytes sent = tls_peer_take(pair->client);
        size = sent.len;
        ((uint8_t *)(uintptr_t)sent.data)[at] ^= 0x40;
        enum tls_status status = read_all(pair, sent, plain, sizeof plain, &len);
        assert_int_equal(len, 0);
        /* One that says it is longer is waited for. */
        assert_true(status == TLS_FAILED || (status == TLS_MORE && (at == 3 || at == 4)));
        if (status == TLS_FAILED) {
            struct tls_wire wire = wire_of(pair, BYTES(""));
            assert_int_equal(tls_session_write(pair->server, &wire, BYTES("x")), TLS_FAILED);
            tls_session_end(pair->server, &wire);
            assert_int_equal(wire.out_len, 0);
        }
        destroy_pair(pair);
    }
}

/* A handshake that is cut anywhere, and goes on with noise, comes to no agreement. */
static void noise_behind_half_a_handshake_does_no_harm(void **state)
{
    struct random random;
    random_init(&random, 7);
    for (size_t cut = 0; cut < 300; cut += 7) {
        struct pair *pair = create_pair(*state, NULL, &(struct tls_peer_options){ 0 });
        uint8_t noise[4096];
        tls_peer_shake(pair->client);
        struct bytes sent = tls_peer_take(pair->client);
        shake_server(pair, bytes_of(sent.data, cut < sent.len ? cut : sent.len));
        random_fill(&random, noise, sizeof noise);
        for (int i = 0; i < ROUNDS_MAX && pair->status == TLS_MORE; i++)
            shake_server(pair, bytes_of(noise, sizeof noise));
        assert_int_equal(pair->status, TLS_FAILED);
        destroy_pair(pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshakes_end_as_they_should),
        cmocka_unit_test(the_protocol_is_http_1_1_if_the_client_asks),
        cmocka_unit_test(a_narrow_wire_is_enough),
        cmocka_unit_test(bytes_may_arrive_one_by_one),
        cmocka_unit_test(records_are_read_into_room_of_any_size),
        cmocka_unit_test(a_record_is_at_most_what_it_is_said_to_be),
        cmocka_unit_test(a_full_wire_is_emptied_and_the_write_done_again),
        cmocka_unit_test(new_keys_are_confirmed_and_renegotiation_is_not),
        cmocka_unit_test(each_end_may_end_by_itself),
        cmocka_unit_test(ending_before_agreeing_says_nothing),
        cmocka_unit_test(garbage_instead_of_a_handshake_fails),
        cmocka_unit_test(a_spoilt_record_fails_the_session),
        cmocka_unit_test(noise_behind_half_a_handshake_does_no_harm),
    };
    return cmocka_run_group_tests(tests, create_files, destroy_files);
}
