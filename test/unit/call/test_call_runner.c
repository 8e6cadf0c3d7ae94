/* test_call_runner.c -- calls of a protocol that is not DynamoDB's: its own envelope around answers
 * and exceptions, and the same threads.
 *
 * The protocol takes the operation from the target, "/ListTables", and answers in XML.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "call/call_runner.h"
#include "call/read_queue.h"
#include "call/slow_pool.h"
#include "engine/engine.h"
#include "engine_fixture.h"
#include "fault/faults.h"
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
    _Atomic pthread_t loop_thread;
    atomic_bool answered_on_loop; /* The last call's envelope was filled there. */
    atomic_bool decoded_on_loop;
    atomic_int answering_niceness; /* Of the thread on which it was filled. */
    atomic_int waiting_count;      /* Calls that wait in `wait_to_decode`, */
    atomic_bool may_decode;        /* until then. */
    atomic_int answer_count;
};

/* --- The protocol --- */

static void fill_answer(void *context, const struct call_ending *ending, struct http_answer *out)
{
    struct fixture *fixture = context;
    bool failed = error_is_set(ending->error);
    fixture->answered_on_loop = pthread_equal(fixture->loop_thread, pthread_self());
    fixture->answering_niceness = getpriority(PRIO_PROCESS, 0);
    fixture->answer_count++;
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
    struct engine_options engine = engine_fixture_rocksdb_options(NULL);
    char engine_message[ENGINE_MESSAGE_MAX];
    engine.in_memory = true;
    engine.write_wait_ms = GRACE_MS;
    api_fixture_open_with(&fixture->api,
                          &(struct api_options){ .engine = engine_open(&engine, engine_message),
                                                 .faults = faults_create(&clock_system) });
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
    struct faults *faults = fixture->api.options.faults;
    api_fixture_close(&fixture->api);
    faults_destroy(faults);
    free(fixture);
    return 0;
}

/* Sends a call whose body is followed by spaces up to `size`. */
static void send_call(struct raw_http *client, const char *operation, const char *headers,
                      const char *body, size_t size)
{
    char head[256];
    size_t body_size = strlen(body);
    snprintf(head, sizeof head, "POST /%s HTTP/1.1\r\nHost: h\r\n%sContent-Length: %zu\r\n\r\n",
             operation, headers, size);
    char *padded = malloc(size);
    memset(padded, ' ', size);
    memcpy(padded, body, body_size);
    assert_true(raw_http_send_text(client, head));
    assert_true(raw_http_send(client, bytes_of(padded, size)));
    free(padded);
}

/* The same, and waits for the answer. */
static void call(struct fixture *fixture, const char *operation, const char *headers,
                 const char *body, size_t size)
{
    send_call(&fixture->client, operation, headers, body, size);
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
    } cases[] = { { CALL_MEDIUM_SIZE_MIN - 1, true },
                  { CALL_MEDIUM_SIZE_MIN, false },
                  { CALL_MEDIUM_SIZE_MIN + 1, false },
                  { CALL_LARGE_SIZE_MIN, false } };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        call(fixture, "GetItem", SIGNED, "{\"TableName\":\"none\",\"Key\":{\"k\":{\"S\":\"a\"}}}",
             cases[i].size);
        expect(fixture, 599, "<error>Requested resource not found</error>");
        assert_int_equal(fixture->answered_on_loop, cases[i].on_loop);
    }
}

/* A form whose bodies have an X before their JSON. */
static bool decode(void *context, const struct operation *operation, struct arena *decode_arena,
                   struct bytes body, struct bytes *json, struct error *err)
{
    struct fixture *fixture = context;
    fixture->decoded_on_loop = pthread_equal(fixture->loop_thread, pthread_self());
    assert_string_equal(operation_name(operation), "ListTables");
    *json = arena_copy(decode_arena, bytes_of(body.data + 1, body.len - 1));
    return body.data[0] == 'X' || error_set(err, ERROR_SERIALIZATION, "There is no X");
}

static void bodies_in_another_form_are_decoded_where_the_call_runs(void **state)
{
    static const struct {
        size_t size;
        bool on_loop;
    } cases[] = { { CALL_LARGE_CODED_SIZE_MIN - 1, true },
                  { CALL_LARGE_CODED_SIZE_MIN, false },
                  { CALL_LARGE_CODED_SIZE_MIN + 1, false } };
    struct fixture *fixture = *state;
    fixture->envelope.decode = decode;
    for (size_t i = 0; i < 3; i++) {
        call(fixture, "ListTables", SIGNED, "X{}", cases[i].size);
        expect(fixture, 299, "<ok>{\"TableNames\":[]}</ok>");
        assert_int_equal(fixture->decoded_on_loop, cases[i].on_loop);
    }
    call(fixture, "ListTables", SIGNED, "{}", SMALL_SIZE);
    expect(fixture, 599, "<error>There is no X</error>");
}

static void bodies_are_not_decoded_for_strangers(void **state)
{
    struct fixture *fixture = *state;
    fixture->envelope.decode = decode;
    call(fixture, "ListTables", "", "{}", SMALL_SIZE);
    expect(fixture, 599, "<error>Request is missing Authentication Token</error>");
}

/* As many tables as an answer of that size needs, with names of 255 characters. */
static void large_answers_are_encoded_off_the_loop(void **state)
{
    enum { TABLES = CALL_LARGE_CODED_SIZE_MIN / 258 + 1, NAME_SIZE = 255 };
    struct fixture *fixture = *state;
    for (int i = 0; i < TABLES; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "{\"TableName\":\"%0*d\",\"BillingMode\":\"PAY_PER_REQUEST\","
                 "\"KeySchema\":[{\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}],"
                 "\"AttributeDefinitions\":[{\"AttributeName\":\"k\",\"AttributeType\":\"S\"}]}",
                 NAME_SIZE, i);
        call(fixture, "CreateTable", SIGNED, body, strlen(body));
        assert_int_equal(fixture->answer.status, 299);
    }
    call(fixture, "ListTables", SIGNED, "{}", SMALL_SIZE);
    assert_true(fixture->answer.body.len > CALL_LARGE_CODED_SIZE_MIN);
    assert_true(fixture->answered_on_loop); /* Below what is worth a pool for JSON. */
    fixture->envelope.encodes = true;
    call(fixture, "ListTables", SIGNED, "{}", SMALL_SIZE);
    assert_false(fixture->answered_on_loop);
    call(fixture, "ListTables", SIGNED, "{\"Limit\":1}", SMALL_SIZE);
    assert_true(fixture->answered_on_loop);
}

/* Begins a write that holds the latch of the only item, as a long decision of another thread does.
 */
static struct engine_write *hold_item(struct fixture *fixture)
{
    struct engine *engine = fixture->api.engine;
    struct engine_address address = { 0 };
    struct engine_view *view;
    struct engine_scan *scan;
    struct engine_entry entry;
    struct engine_write *write;
    assert_int_equal(engine_view_open(engine, ENGINE_STRONG, &view), ENGINE_OK);
    while (address.place.space != ENGINE_SPACE_ITEMS)
        assert_int_equal(engine_view_next_place(view, &address.place, &address.place), ENGINE_OK);
    const struct engine_range range = { .place = address.place };
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
    address.key = entry.key;
    assert_int_equal(engine_write_begin(engine, &address, 1, &write), ENGINE_OK);
    engine_scan_close(scan);
    engine_view_close(view);
    return write;
}

static void create_table(struct fixture *fixture)
{
    assert_true(
        api_fixture_call(&fixture->api, "CreateTable",
                         "{'TableName':'letters','BillingMode':'PAY_PER_REQUEST',"
                         "'AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}],"
                         "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}]}"));
}

/* It pauses after its first items, on a thread of the slow pool. */
static void a_read_with_a_large_body_continues_in_the_background(void **state)
{
    enum { ITEMS = 4, PAD_SIZE = READ_QUEUE_FIRST_SIZE };
    struct fixture *fixture = *state;
    static char body[PAD_SIZE + SMALL_SIZE];
    create_table(fixture);
    for (int i = 0; i < ITEMS; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'letters','Item':{'k':{'S':'%d'},'p':{'S':'%0*d'}}}", i, PAD_SIZE,
                 i);
        assert_true(api_fixture_call(&fixture->api, "PutItem", body));
    }
    for (int i = 0; i < 2; i++) {
        call(fixture, "Scan", SIGNED, "{\"TableName\":\"letters\"}",
             i == 0 ? CALL_MEDIUM_SIZE_MIN : CALL_LARGE_SIZE_MIN);
        assert_int_equal(fixture->answer.status, 299);
        assert_true(fixture->answer.body.len > ITEMS * PAD_SIZE);
        assert_false(fixture->answered_on_loop);
    }
}

/* Operations that wait. */
#define LIST_METRICS "cloudwatch:ListMetrics"
#define WRITE_ROWS "stator:WriteDataForReplication"

static void threads_that_hold_latches_have_the_priority_of_the_loops(void **state)
{
    static const struct {
        const char *operation;
        int niceness; /* Added to that of the loops. */
    } cases[] = { { "ListTables", 0 }, { LIST_METRICS, SLOW_POOL_NICENESS }, { WRITE_ROWS, 0 } };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        call(fixture, cases[i].operation, SIGNED, "{}", SMALL_SIZE);
        assert_int_equal(fixture->answered_on_loop, i == 0);
        assert_int_equal(fixture->answering_niceness,
                         getpriority(PRIO_PROCESS, 0) + cases[i].niceness);
    }
}

/* Stands for an operation that sleeps for long, or for a large request that takes long. */
static bool wait_to_decode(void *context, const struct operation *operation,
                           struct arena *decode_arena, struct bytes body, struct bytes *json,
                           struct error *err)
{
    struct fixture *fixture = context;
    (void)decode_arena, (void)err;
    if (operation_waits(operation) != OPERATION_WAITS_NOT || body.len >= CALL_LARGE_SIZE_MIN) {
        fixture->waiting_count++;
        while (!fixture->may_decode)
            sched_yield();
    }
    *json = body;
    return true;
}

/* The rest of a Scan goes to the background pool, which has one thread. */
static void operations_that_wait_do_not_hold_up_the_rest_of_reads(void **state)
{
    enum { ITEMS = 4, PAD_SIZE = READ_QUEUE_FIRST_SIZE, CALLS = CALL_WAITING_THREADS + 1 };
    struct fixture *fixture = *state;
    struct raw_http others[CALLS + 1];
    static char body[PAD_SIZE + SMALL_SIZE];
    create_table(fixture);
    for (int i = 0; i < ITEMS; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'letters','Item':{'k':{'S':'%d'},'p':{'S':'%0*d'}}}", i, PAD_SIZE,
                 i);
        assert_true(api_fixture_call(&fixture->api, "PutItem", body));
    }
    fixture->envelope.decode = wait_to_decode;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        raw_http_open(&others[i], http_server_port(fixture->server));
        send_call(&others[i], i == CALLS ? WRITE_ROWS : LIST_METRICS, SIGNED, "{}", SMALL_SIZE);
    }
    while (fixture->waiting_count < CALL_WAITING_THREADS + 1)
        sched_yield();
    call(fixture, "Scan", SIGNED, "{\"TableName\":\"letters\"}", SMALL_SIZE);
    assert_int_equal(fixture->answer.status, 299);
    assert_int_equal(fixture->answering_niceness,
                     getpriority(PRIO_PROCESS, 0) + SLOW_POOL_NICENESS);
    fixture->may_decode = true;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        assert_true(raw_http_receive(&others[i], &fixture->answer));
        raw_http_close(&others[i]);
    }
}

#define CHECK_OF(key)                                                                              \
    "{\"ConditionCheck\":{\"TableName\":\"letters\",\"Key\":{\"k\":{\"S\":\"" key "\"}},"          \
    "\"ConditionExpression\":\"attribute_exists(k)\"}}"
#define UPDATE_OF(key)                                                                             \
    "{\"Update\":{\"TableName\":\"letters\",\"Key\":{\"k\":{\"S\":\"" key "\"}},"                  \
    "\"UpdateExpression\":\"ADD n :n\",\"ExpressionAttributeValues\":{\":n\":{\"N\":\"1\"}}}}"

/* The pool has one thread. */
static void a_write_of_the_pool_that_waits_does_not_hold_up_the_next_call(void **state)
{
    static const char put[] = "{\"TableName\":\"letters\",\"Item\":{\"k\":{\"S\":\"a\"}}}";
    static const char get[] = "{\"TableName\":\"letters\",\"Key\":{\"k\":{\"S\":\"b\"}}}";
    struct fixture *fixture = *state;
    struct raw_http others[2];
    create_table(fixture);
    call(fixture, "PutItem", SIGNED, put, SMALL_SIZE);
    expect(fixture, 299, "<ok>{}</ok>");
    struct engine_write *held = hold_item(fixture);
    for (size_t i = 0; i < 2; i++) {
        raw_http_open(&others[i], http_server_port(fixture->server));
        send_call(&others[i], "PutItem", SIGNED, put, CALL_LARGE_SIZE_MIN);
    }
    call(fixture, "GetItem", SIGNED, get, CALL_LARGE_SIZE_MIN);
    expect(fixture, 299, "<ok>{}</ok>");
    assert_false(fixture->answered_on_loop);
    engine_write_abandon(held);
    for (size_t i = 0; i < 2; i++) {
        assert_true(raw_http_receive(&others[i], &fixture->answer));
        expect(fixture, 299, "<ok>{}</ok>");
        raw_http_close(&others[i]);
    }
}

/* Of items that are stored: those that are sent make a large request. Other writes come with it. */
static void transactions_of_large_items_leave_the_loop(void **state)
{
    enum { PAD_SIZE = 130 * 1024 };
    static char body[PAD_SIZE + SMALL_SIZE];
    static const char put[] = "{\"TableName\":\"letters\",\"Item\":{\"k\":{\"S\":\"x\"}}}";
    struct fixture *fixture = *state;
    struct raw_http other;
    create_table(fixture);
    for (int i = 0; i < 2; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'letters','Item':{'k':{'S':'%d'},'p':{'S':'%0*d'}}}", i, PAD_SIZE,
                 i);
        assert_true(api_fixture_call(&fixture->api, "PutItem", body));
    }
    raw_http_open(&other, http_server_port(fixture->server));
    for (int i = 0; i < 4; i++) {
        bool is_large = i % 2 == 1;
        send_call(&other, "PutItem", SIGNED, put, SMALL_SIZE);
        snprintf(body, sizeof body, "{\"TransactItems\":[" UPDATE_OF("0") "," UPDATE_OF("%d") "]}",
                 is_large ? 1 : 2);
        call(fixture, "TransactWriteItems", SIGNED, body, strlen(body));
        expect(fixture, 299, "<ok>{}</ok>");
        assert_int_equal(fixture->answered_on_loop, !is_large);
        assert_true(raw_http_receive(&other, &fixture->answer));
        expect(fixture, 299, "<ok>{}</ok>");
    }
    raw_http_close(&other);
    call(fixture, "GetItem", SIGNED,
         "{\"TableName\":\"letters\",\"Key\":{\"k\":{\"S\":\"0\"}},\"ProjectionExpression\":\"n\"}",
         2 * SMALL_SIZE);
    expect(fixture, 299, "<ok>{\"Item\":{\"n\":{\"N\":\"4\"}}}</ok>");
}

/* Nothing was done for the one that is refused, so nothing need be undone. */
static void transactions_of_large_items_are_refused_if_too_many_wait(void **state)
{
    enum { PAD_SIZE = 130 * 1024, COUNT = SLOW_POOL_WAITING_MAX + 1 };
    static char body[PAD_SIZE + SMALL_SIZE];
    static struct raw_http clients[COUNT];
    static const char transaction[] = "{\"TransactItems\":[" CHECK_OF("0") "," CHECK_OF("1") "]}";
    struct fixture *fixture = *state;
    int refused_count = 0;
    create_table(fixture);
    for (int i = 0; i < 2; i++) {
        snprintf(body, sizeof body,
                 "{'TableName':'letters','Item':{'k':{'S':'%d'},'p':{'S':'%0*d'}}}", i, PAD_SIZE,
                 i);
        assert_true(api_fixture_call(&fixture->api, "PutItem", body));
    }
    fixture->envelope.decode = wait_to_decode;
    send_call(&fixture->client, "ListTables", SIGNED, "{}", CALL_LARGE_SIZE_MIN);
    while (fixture->waiting_count == 0) /* For as long as it does, the pool's thread is busy. */
        sched_yield();
    for (size_t i = 0; i < COUNT; i++) {
        raw_http_open(&clients[i], http_server_port(fixture->server));
        send_call(&clients[i], "TransactWriteItems", SIGNED, transaction, strlen(transaction));
    }
    while (fixture->answer_count == 0)
        sched_yield();
    fixture->may_decode = true;
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(raw_http_receive(&clients[i], &fixture->answer));
        refused_count += fixture->answer.status != 299;
        if (fixture->answer.status != 299)
            expect(fixture, 599, "<error>Too many large requests are waiting</error>");
        raw_http_close(&clients[i]);
    }
    assert_int_equal(refused_count, 1);
    assert_true(raw_http_receive(&fixture->client, &fixture->answer));
}

/* --- Fault injection --- */

#define CREATE_TABLE                                                                               \
    "{'TableName':'Tab','AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}],"       \
    "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'}"

static void inject(struct fixture *fixture, const char *fault)
{
    char body[200];
    assert_true(api_fixture_call(&fixture->api, "CreateTable", CREATE_TABLE));
    snprintf(body, sizeof body, "{'TableName':'Tab',%s}", fault);
    assert_true(api_fixture_call(&fixture->api, "AddFault", body));
}

static void a_cut_connection_ends_without_an_answer(void **state)
{
    struct fixture *fixture = *state;
    inject(fixture, "'Fault':'CutConnection','MaxCount':1");
    send_call(&fixture->client, "Scan", SIGNED, "{\"TableName\":\"Tab\"}", SMALL_SIZE);
    assert_true(raw_http_ends(&fixture->client));
    raw_http_close(&fixture->client);
    raw_http_open(&fixture->client, http_server_port(fixture->server));
    call(fixture, "Scan", SIGNED, "{\"TableName\":\"Tab\"}", SMALL_SIZE);
    assert_int_equal(fixture->answer.status, 299);
}

/* Answers wait in the order of their delays, not of their requests. */
static void delayed_answers_come_in_time(void **state)
{
    struct fixture *fixture = *state;
    struct raw_http slow;
    inject(fixture, "'Fault':'Delay','DelayMilliseconds':60000,'MaxCount':1");
    raw_http_open(&slow, http_server_port(fixture->server));
    send_call(&slow, "Scan", SIGNED, "{\"TableName\":\"Tab\"}", SMALL_SIZE);
    while (faults_total(fixture->api.options.faults, FAULT_DELAY) == 0)
        call(fixture, "ListTables", SIGNED, "{}", SMALL_SIZE);
    assert_true(api_fixture_call(&fixture->api, "AddFault",
                                 "{'TableName':'Tab','Fault':'Delay','DelayMilliseconds':50}"));
    int64_t began_ns = clock_monotonic_ns();
    call(fixture, "Scan", SIGNED, "{\"TableName\":\"Tab\"}", SMALL_SIZE);
    assert_int_equal(fixture->answer.status, 299);
    assert_true(clock_monotonic_ns() - began_ns >= 49 * INT64_C(1000000));
    raw_http_close(&slow); /* Its answer is owed all the same, and sent when the loop stops. */
}

/* The last of these is answered at once. */
static void only_so_many_answers_are_delayed(void **state)
{
    struct fixture *fixture = *state;
    struct raw_http *clients = calloc(CALL_DELAYED_MAX, sizeof *clients);
    inject(fixture, "'Fault':'Delay','DelayMilliseconds':60000");
    for (size_t i = 0; i < CALL_DELAYED_MAX; i++) {
        raw_http_open(&clients[i], http_server_port(fixture->server));
        send_call(&clients[i], "Scan", SIGNED, "{\"TableName\":\"Tab\"}", SMALL_SIZE);
    }
    while (faults_total(fixture->api.options.faults, FAULT_DELAY) < CALL_DELAYED_MAX)
        call(fixture, "ListTables", SIGNED, "{}", SMALL_SIZE);
    call(fixture, "Scan", SIGNED, "{\"TableName\":\"Tab\"}", SMALL_SIZE);
    assert_int_equal(fixture->answer.status, 299);
    for (size_t i = 0; i < CALL_DELAYED_MAX; i++)
        raw_http_close(&clients[i]);
    free(clients);
}

#define RUNNER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNNER_TEST(answers_have_the_envelope_of_their_protocol),
        RUNNER_TEST(exceptions_have_it_too),
        RUNNER_TEST(every_protocol_asks_for_credentials),
        RUNNER_TEST(large_requests_run_in_a_pool),
        RUNNER_TEST(bodies_in_another_form_are_decoded_where_the_call_runs),
        RUNNER_TEST(bodies_are_not_decoded_for_strangers),
        RUNNER_TEST(large_answers_are_encoded_off_the_loop),
        RUNNER_TEST(a_read_with_a_large_body_continues_in_the_background),
        RUNNER_TEST(transactions_of_large_items_leave_the_loop),
        RUNNER_TEST(transactions_of_large_items_are_refused_if_too_many_wait),
        RUNNER_TEST(threads_that_hold_latches_have_the_priority_of_the_loops),
        RUNNER_TEST(operations_that_wait_do_not_hold_up_the_rest_of_reads),
        RUNNER_TEST(a_write_of_the_pool_that_waits_does_not_hold_up_the_next_call),
        RUNNER_TEST(a_cut_connection_ends_without_an_answer),
        RUNNER_TEST(delayed_answers_come_in_time),
        RUNNER_TEST(only_so_many_answers_are_delayed),
    };
    return cmocka_run_group_tests_name("call/call_runner", tests, NULL, NULL);
}
