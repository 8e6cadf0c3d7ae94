/* test_call_runner.c -- calls of a protocol that is not DynamoDB's: its own envelope around answers
 * and exceptions, and the same threads.
 *
 * The protocol takes the operation from the target, "/ListTables", and answers in XML.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "call/call_runner.h"
#include "http/server.h"
#include "raw_http.h"

enum { GRACE_MS = 10000, SMALL_SIZE = 100 };

struct fixture {
    struct api_fixture api;
    struct call_runner *runner;
    struct call_envelope envelope;
    struct http_server *server;
    struct raw_http client;
    struct raw_http_answer answer; /* The last one. */
    pthread_t loop_thread;
    bool answered_on_loop; /* The last call's envelope was filled there. */
};

/* --- The protocol --- */

static void fill_answer(void *context, const struct call_ending *ending, struct http_answer *out)
{
    struct fixture *fixture = context;
    bool failed = error_is_set(ending->error);
    fixture->answered_on_loop = pthread_equal(fixture->loop_thread, pthread_self());
    out->status = failed ? 599 : 299;
    out->body = failed ? arena_printf(ending->arena, "<error>%.*s</error>",
                                      BYTES_FMT(ending->error->message))
                       : arena_printf(ending->arena, "<ok>%.*s</ok>", BYTES_FMT(ending->response));
}

static void handle(void *context, void *loop_context, struct http_exchange *exchange)
{
    struct fixture *fixture = context;
    struct bytes target = http_exchange_target(exchange);
    fixture->loop_thread = pthread_self();
    const struct operation *operation =
        operation_find_action(bytes_of(target.data + 1, target.len - 1));
    assert_non_null(operation);
    call_runner_run(loop_context, exchange, operation, &fixture->envelope);
}

static void *open_loop(void *context, struct http_loop *loop)
{
    return call_runner_open_loop(((struct fixture *)context)->runner, loop);
}

static void close_loop(void *loop_context)
{
    call_runner_close_loop(loop_context);
}

static void end_turn(void *loop_context)
{
    call_runner_end_turn(loop_context);
}

/* --- Set-up --- */

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    char message[HTTP_MESSAGE_MAX];
    api_fixture_open(&fixture->api, 0);
    fixture->envelope = (struct call_envelope){ .service = "other",
                                                .context = fixture,
                                                .fill_answer = fill_answer };
    const struct call_runner_options options = { .slow_thread_count = 1 };
    fixture->runner = call_runner_create(fixture->api.api, &options);
    const struct http_handler handler = { .context = fixture,
                                          .loop_open = open_loop,
                                          .loop_close = close_loop,
                                          .request = handle,
                                          .turn_end = end_turn };
    struct http_options http = http_options_default;
    http.port = 0;
    http.loop_count = 1;
    fixture->server = http_server_start(&http, &handler, message);
    assert_non_null(fixture->server);
    raw_http_open(&fixture->client, http_server_port(fixture->server));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    raw_http_close(&fixture->client);
    assert_true(http_server_stop(fixture->server, GRACE_MS));
    call_runner_stop(fixture->runner);
    call_runner_destroy(fixture->runner);
    api_fixture_close(&fixture->api);
    free(fixture);
    return 0;
}

/* Sends a call whose body is followed by spaces up to `size`; waits for the answer. */
static void call(struct fixture *fixture, const char *operation, const char *headers,
                 const char *body, size_t size)
{
    char head[256];
    size_t body_size = strlen(body);
    snprintf(head, sizeof head, "POST /%s HTTP/1.1\r\nHost: h\r\n%sContent-Length: %zu\r\n\r\n",
             operation, headers, size);
    char *padded = malloc(size);
    memset(padded, ' ', size);
    memcpy(padded, body, body_size);
    assert_true(raw_http_send_text(&fixture->client, head));
    assert_true(raw_http_send(&fixture->client, bytes_of(padded, size)));
    free(padded);
    assert_true(raw_http_receive(&fixture->client, &fixture->answer));
}

static void expect(const struct fixture *fixture, int status, const char *body)
{
    assert_int_equal(fixture->answer.status, status);
    if (!bytes_equal_text(fixture->answer.body, body))
        fail_msg("%.*s", BYTES_FMT(fixture->answer.body));
}

/* --- Tests --- */

#define SIGNED "Authorization: any\r\n"

static void answers_have_the_envelope_of_their_protocol(void **state)
{
    struct fixture *fixture = *state;
    call(fixture, "ListTables", SIGNED, "{}", SMALL_SIZE);
    expect(fixture, 299, "<ok>{\"TableNames\":[]}</ok>");
}

static void exceptions_have_it_too(void **state)
{
    struct fixture *fixture = *state;
    call(fixture, "DescribeTable", SIGNED, "{\"TableName\":\"none\"}", SMALL_SIZE);
    expect(fixture, 599, "<error>Requested resource not found: Table: none not found</error>");
}

static void every_protocol_asks_for_credentials(void **state)
{
    struct fixture *fixture = *state;
    call(fixture, "ListTables", "", "{}", SMALL_SIZE);
    expect(fixture, 599, "<error>Request is missing Authentication Token</error>");
}

static void large_requests_run_in_a_pool(void **state)
{
    static const struct {
        size_t size;
        bool on_loop;
    } cases[] = { { CALL_LARGE_SIZE_MIN - 1, true },
                  { CALL_LARGE_SIZE_MIN, false },
                  { CALL_LARGE_SIZE_MIN + 1, false } };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 3; i++) {
        call(fixture, "GetItem", SIGNED, "{\"TableName\":\"none\",\"Key\":{\"k\":{\"S\":\"a\"}}}",
             cases[i].size);
        expect(fixture, 599, "<error>Requested resource not found</error>");
        assert_int_equal(fixture->answered_on_loop, cases[i].on_loop);
    }
}

#define RUNNER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNNER_TEST(answers_have_the_envelope_of_their_protocol),
        RUNNER_TEST(exceptions_have_it_too),
        RUNNER_TEST(every_protocol_asks_for_credentials),
        RUNNER_TEST(large_requests_run_in_a_pool),
    };
    return cmocka_run_group_tests_name("call/call_runner", tests, NULL, NULL);
}
