/* test_relay.c -- which requests are relayed, what travels, and what happens without an answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "http/server.h"
#include "raw_http.h"
#include "relay/relay.h"

static void the_region_is_read_from_the_credential(void **state)
{
    static const struct {
        const char *header, *region;
    } cases[] = {
        { "AWS4-HMAC-SHA256 Credential=AKID/20150830/us-east-1/dynamodb/aws4_request, "
          "SignedHeaders=host, Signature=0",
          "us-east-1" },
        { "AWS4-HMAC-SHA256 SignedHeaders=host,Credential=A/1/eu-west-1/x/aws4_request",
          "eu-west-1" },
        { "AWS4-HMAC-SHA256 Credential=AKID/20150830/us-east-1", "" },
        { "AWS4-HMAC-SHA256 Credential=AKID/20150830/US EAST/dynamodb/aws4_request", "" },
        { "AWS4-HMAC-SHA256 Credential=", "" },
        { "Bearer Credential=AKID/20150830/us-east-1/dynamodb/aws4_request", "" },
        { "", "" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_true(
            bytes_equal_text(relay_region_of(bytes_from_text(cases[i].header)), cases[i].region));
    assert_int_equal(relay_region_of((struct bytes){ 0 }).len, 0);
}

static void peers_are_a_list_of_regions_and_urls(void **state)
{
    static const struct {
        const char *text;
        size_t count; /* SIZE_MAX: refused. */
    } cases[] = {
        { "", 0 },
        { "us-west-2 http://127.0.0.1:1", 1 },
        { "us-west-2  http://127.0.0.1:1 , eu-west-1 https://db.example", 2 },
        { "us-east-1 http://h", SIZE_MAX },                     /* Its own, */
        { "us-west-2 http://a, us-west-2 http://b", SIZE_MAX }, /* twice, */
        { "us-west-2 http://a/path", SIZE_MAX },
        { "us-west-2 ftp://a", SIZE_MAX },
        { "us-west-2", SIZE_MAX },
        { "US http://a", SIZE_MAX },
        { ",", SIZE_MAX },
    };
    struct arena *arena = arena_create();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct relay_peer peers[RELAY_PEERS_MAX];
        size_t count;
        const char *problem = relay_peers_parse(arena, cases[i].text, "us-east-1", peers, &count);
        assert_int_equal(problem != NULL, cases[i].count == SIZE_MAX);
        if (problem == NULL)
            assert_int_equal(count, cases[i].count);
    }
    arena_destroy(arena);
}

/* --- A server with a relay, and a peer in the test's hand --- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool held; /* Answers do not come. */
    size_t under_way;
    enum outbound_result result;
    int status;
    const char *head;
    char request[2048];
} peer = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static enum outbound_result send_to_peer(struct outbound_client *client, struct arena *arena,
                                         const struct outbound_request *request,
                                         struct outbound_answer *answer)
{
    (void)client;
    pthread_mutex_lock(&peer.mutex);
    int size = snprintf(peer.request, sizeof peer.request, "%s %.*s%.*s\n", request->method,
                        BYTES_FMT(request->url), BYTES_FMT(request->target));
    for (size_t i = 0; i < request->header_count; i++)
        size += snprintf(peer.request + size, sizeof peer.request - (size_t)size, "%.*s=%.*s\n",
                         BYTES_FMT(request->headers[i].name), BYTES_FMT(request->headers[i].value));
    snprintf(peer.request + size, sizeof peer.request - (size_t)size, "%.*s",
             BYTES_FMT(request->body));
    peer.under_way++;
    pthread_cond_broadcast(&peer.changed);
    while (peer.held)
        pthread_cond_wait(&peer.changed, &peer.mutex);
    enum outbound_result result = peer.result;
    pthread_mutex_unlock(&peer.mutex);
    *answer = (struct outbound_answer){ .status = peer.status, .problem = BYTES("why") };
    buffer_init(&answer->head, arena);
    buffer_init(&answer->body, arena);
    buffer_append_bytes(&answer->head, bytes_from_text(peer.head));
    buffer_append_bytes(&answer->body, BYTES("teapot"));
    return result;
}

static struct outbound *network;
static struct relay *relay;
static struct http_server *server;

static void refuse(void *context, void *loop_context, struct http_exchange *exchange, bool unsent,
                   struct bytes text)
{
    (void)context;
    (void)loop_context;
    struct http_answer answer = { .status = unsent ? 503 : 500, .body = text };
    http_exchange_answer(exchange, &answer);
}

static void handle(void *context, void *loop_context, struct http_exchange *exchange)
{
    struct http_answer own = { .status = 200, .body = BYTES("own") };
    if (!relay_take(relay, loop_context, exchange, refuse, context))
        http_exchange_answer(exchange, &own);
}

static const struct http_handler handler = { .request = handle };

static int set_up(void **state)
{
    static const struct relay_peer peers[] = {
        { { (const uint8_t *)"us-west-2", 9 }, { (const uint8_t *)"http://peer:1", 13 } },
    };
    char message[OUTBOUND_MESSAGE_MAX];
    struct http_options options = http_options_default;
    (void)state;
    peer.held = false;
    peer.under_way = 0;
    peer.result = OUTBOUND_OK;
    peer.status = 418;
    peer.head = "HTTP/1.1 418 x\r\nX-Amz-Crc32: 7\r\nDate: then\r\nConnection: close\r\n"
                "Content-Length: 6\r\n\r\n";
    network = outbound_open(&(struct outbound_options){ 0 }, message);
    assert_non_null(network);
    const struct relay_options relaying = {
        .peers = peers, .count = 1, .network = network, .send = send_to_peer
    };
    relay = relay_start(&relaying, message);
    assert_non_null(relay);
    options.address = "127.0.0.1";
    options.port = 0;
    options.loop_count = 1;
    server = http_server_start(&options, &handler, message);
    assert_non_null(server);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(http_server_stop(server, 20000));
    relay_stop(relay);
    outbound_close(network);
    return 0;
}

#define SIGNED_FOR(region)                                                                         \
    "Authorization: AWS4-HMAC-SHA256 Credential=K/1/" region "/dynamodb/aws4_request\r\n"
#define POST(headers)                                                                              \
    "POST /a?b=c HTTP/1.1\r\nHost: here:8000\r\nConnection: keep-alive\r\n" headers                \
    "Content-Length: 4\r\n\r\nbody"

static void expect(const char *request, int status, const char *body)
{
    struct raw_http client;
    struct raw_http_answer answer;
    raw_http_open(&client, http_server_port(server));
    assert_true(raw_http_send_text(&client, request));
    assert_true(raw_http_receive(&client, &answer));
    assert_int_equal(answer.status, status);
    assert_true(bytes_equal_text(answer.body, body));
    if (status == 418)
        assert_true(raw_http_has_header(&answer, "X-Amz-Crc32: 7") &&
                    !raw_http_has_header(&answer, "Date: then") &&
                    !raw_http_has_header(&answer, "Connection: close"));
    raw_http_close(&client);
}

static void a_request_for_a_peers_region_travels_as_it_came(void **state)
{
    (void)state;
    expect(POST(SIGNED_FOR("us-west-2") "X-Amz-Target: T\r\n"), 418, "teapot");
    assert_string_equal(peer.request,
                        "POST http://peer:1/a?b=c\nHost=here:8000\n"
                        "Authorization=AWS4-HMAC-SHA256 Credential=K/1/us-west-2/dynamodb/"
                        "aws4_request\nX-Amz-Target=T\nX-Stator-Relayed=1\nbody");
}

static void other_requests_stay(void **state)
{
    (void)state;
    expect(POST(SIGNED_FOR("us-east-1")), 200, "own");
    expect(POST(SIGNED_FOR("us-west-20")), 200, "own");
    expect(POST(""), 200, "own");
    expect(POST(SIGNED_FOR("us-west-2") "X-Stator-Relayed: 1\r\n"), 200, "own");
    assert_int_equal(peer.under_way, 0);
}

static void without_an_answer_there_is_a_refusal(void **state)
{
    (void)state;
    peer.result = OUTBOUND_REFUSED;
    expect(POST(SIGNED_FOR("us-west-2")), 503, "why");
    peer.result = OUTBOUND_TIMEOUT; /* The peer may have seen it. */
    expect(POST(SIGNED_FOR("us-west-2")), 500, "why");
}

static void an_answer_that_is_no_http_is_refused_or_cleaned(void **state)
{
    static const char problem[] = "its answer has a status that HTTP does not have";
    static const int statuses[] = { 0, 101, 199, 600, 999 };
    (void)state;
    peer.head =
        "HTTP/1.1 418 x\r\nX-A: b\rSet-Cookie: c\r\nX\x01: d\r\nX B: e\r\n: f\r\nno colon\r\n"
        "X-Del: \x7f\r\nX-Amz-Crc32: 7\r\n\r\n";
    expect(POST(SIGNED_FOR("us-west-2")), 418, "teapot");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        peer.status = statuses[i];
        expect(POST(SIGNED_FOR("us-west-2")), 500, problem);
    }
}

static void an_answer_without_content_has_no_body(void **state)
{
    struct raw_http client;
    struct raw_http_answer answer;
    (void)state;
    peer.status = 204;
    raw_http_open(&client, http_server_port(server));
    assert_true(raw_http_send_text(&client, POST(SIGNED_FOR("us-west-2"))));
    assert_true(raw_http_receive_head(&client, &answer));
    assert_int_equal(answer.status, 204);
    raw_http_end(&client);
    assert_true(raw_http_ends(&client));
    raw_http_close(&client);
}

static void a_bounded_number_of_requests_waits(void **state)
{
    enum { ALL = RELAY_THREADS + RELAY_WAITING_MAX };
    static struct raw_http clients[ALL];
    struct raw_http_answer answer;
    (void)state;
    peer.held = true;
    for (size_t i = 0; i < ALL; i++) {
        raw_http_open(&clients[i], http_server_port(server));
        assert_true(raw_http_send_text(&clients[i], POST(SIGNED_FOR("us-west-2"))));
        pthread_mutex_lock(&peer.mutex); /* The threads take theirs first. */
        while (i < RELAY_THREADS && peer.under_way <= i)
            pthread_cond_wait(&peer.changed, &peer.mutex);
        pthread_mutex_unlock(&peer.mutex);
        expect(POST(SIGNED_FOR("us-east-1")), 200, "own"); /* The loop has seen it, and goes on. */
    }
    expect(POST(SIGNED_FOR("us-west-2")), 503, "too many requests wait for its server");
    pthread_mutex_lock(&peer.mutex);
    peer.held = false;
    pthread_cond_broadcast(&peer.changed);
    pthread_mutex_unlock(&peer.mutex);
    for (size_t i = 0; i < ALL; i++) {
        assert_true(raw_http_receive(&clients[i], &answer));
        assert_int_equal(answer.status, 418);
        raw_http_close(&clients[i]);
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_region_is_read_from_the_credential),
        cmocka_unit_test(peers_are_a_list_of_regions_and_urls),
        RULE(a_request_for_a_peers_region_travels_as_it_came),
        RULE(other_requests_stay),
        RULE(without_an_answer_there_is_a_refusal),
        RULE(an_answer_that_is_no_http_is_refused_or_cleaned),
        RULE(an_answer_without_content_has_no_body),
        RULE(a_bounded_number_of_requests_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
