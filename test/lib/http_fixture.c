/* http_fixture.c -- see http_fixture.h. */
#include "http_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include "base/arena.h"
#include "crypto/tls_context.h"
#include "raw_http.h"
#include "tls_files.h"
#include "tls_peer.h"

/* A request of /late, in its own arena. */
struct late {
    struct http_task task; /* First: the task is converted back. */
    struct http_exchange *exchange;
    struct late *next;
};

static void answer_text(struct http_exchange *exchange, int status, struct bytes body)
{
    const struct http_header headers[] = { { BYTES("Content-Type"), BYTES("text/plain") } };
    struct http_answer answer = { .status = status, .headers = headers, .header_count = 1 };
    answer.body = body;
    http_exchange_answer(exchange, &answer);
}

static void answer_late(struct http_task *task)
{
    struct http_exchange *exchange = ((struct late *)task)->exchange;
    answer_text(exchange, 200, http_exchange_body(exchange));
}

static void keep(struct http_fixture *fixture, struct http_exchange *exchange)
{
    struct late *late = arena_alloc_zeroed(http_exchange_arena(exchange), sizeof *late);
    late->exchange = exchange;
    late->task.run = answer_late;
    pthread_mutex_lock(&fixture->mutex);
    if (fixture->late_first == NULL)
        fixture->late_first = late;
    else
        fixture->late_last->next = late;
    fixture->late_last = late;
    fixture->late_count++;
    pthread_cond_broadcast(&fixture->changed);
    pthread_mutex_unlock(&fixture->mutex);
}

static void keep_for_this_turn(struct http_fixture *fixture, struct http_exchange *exchange)
{
    struct late *late = arena_alloc_zeroed(http_exchange_arena(exchange), sizeof *late);
    late->exchange = exchange;
    late->next = fixture->turn_first;
    fixture->turn_first = late;
}

static void on_turn_end(void *context)
{
    struct http_fixture *fixture = context;
    struct late *late;
    while ((late = fixture->turn_first) != NULL) {
        fixture->turn_first = late->next;
        answer_late(&late->task);
    }
}

static void answer_length(struct http_exchange *exchange)
{
    struct bytes body = http_exchange_body(exchange);
    size_t sum = 0;
    for (size_t i = 0; i < body.len; i++)
        sum += body.data[i];
    answer_text(exchange, 200,
                arena_printf(http_exchange_arena(exchange), "%zu %zu", body.len, sum));
}

static void answer_large(struct http_exchange *exchange)
{
    uint8_t *data = arena_alloc(http_exchange_arena(exchange), HTTP_FIXTURE_LARGE_SIZE);
    for (size_t i = 0; i < HTTP_FIXTURE_LARGE_SIZE; i++)
        data[i] = (uint8_t)('a' + i % 23);
    answer_text(exchange, 200, bytes_of(data, HTTP_FIXTURE_LARGE_SIZE));
}

static void on_request(void *context, void *loop_context, struct http_exchange *exchange)
{
    (void)loop_context;
    struct bytes target = http_exchange_target(exchange);
    if (bytes_equal_text(target, "/echo"))
        answer_text(exchange, 200, http_exchange_body(exchange));
    else if (bytes_equal_text(target, "/length"))
        answer_length(exchange);
    else if (bytes_equal_text(target, "/large"))
        answer_large(exchange);
    else if (bytes_equal_text(target, "/secure"))
        answer_text(exchange, 200, http_exchange_is_secure(exchange) ? BYTES("yes") : BYTES("no"));
    else if (bytes_equal_text(target, "/vital"))
        answer_text(exchange, 200,
                    http_exchange_finds_pressure(exchange) ? BYTES("pressed") : BYTES("here"));
    else if (bytes_equal_text(target, "/turn"))
        keep_for_this_turn(context, exchange);
    else if (bytes_equal_text(target, "/late"))
        keep(context, exchange);
    else
        answer_text(exchange, 404, BYTES("no such route"));
}

static bool is_vital(void *context, struct bytes method, struct bytes target)
{
    (void)context;
    return bytes_equal_text(method, "GET") && bytes_equal_text(target, "/vital");
}

static void on_refusal(void *context, struct arena *arena, struct http_answer *answer)
{
    (void)context;
    answer->body = arena_printf(arena, "refused %d", answer->status);
}

static void *on_loop_open(void *context, struct http_loop *loop)
{
    (void)loop;
    ((struct http_fixture *)context)->loops_opened++;
    return context;
}

static void on_loop_close(void *context)
{
    ((struct http_fixture *)context)->loops_closed++;
}

void http_fixture_init(struct http_fixture *fixture)
{
    *fixture = (struct http_fixture){ .options = http_options_default };
    fixture->options.port = 0;
    fixture->options.loop_count = 1;
    fixture->options.header_size_max = 1024;
    fixture->options.body_size_max = 256 * 1024;
    fixture->options.connections_max = 1000;
    pthread_mutex_init(&fixture->mutex, NULL);
    pthread_cond_init(&fixture->changed, NULL);
}

void http_fixture_start(struct http_fixture *fixture)
{
    const struct http_handler handler = {
        .context = fixture,
        .loop_open = on_loop_open,
        .loop_close = on_loop_close,
        .request = on_request,
        .is_vital = is_vital,
        .turn_end = on_turn_end,
        .refusal = on_refusal,
    };
    char message[HTTP_MESSAGE_MAX];
    if (fixture->files != NULL)
        fixture->options.tls = tls_files_context(fixture->files, "server.pem", "server.key", NULL);
    fixture->server = http_server_start(&fixture->options, &handler, message);
    if (fixture->server == NULL) {
        fprintf(stderr, "%s\n", message);
        abort();
    }
    fixture->port = http_server_port(fixture->server);
}

void http_fixture_stop(struct http_fixture *fixture)
{
    http_server_stop(fixture->server, RAW_HTTP_WAIT_MS);
    fixture->server = NULL;
}

void http_fixture_deinit(struct http_fixture *fixture)
{
    tls_context_release(fixture->options.tls);
    pthread_mutex_destroy(&fixture->mutex);
    pthread_cond_destroy(&fixture->changed);
}

int http_fixture_create_files(void **state)
{
    struct tls_files *files = malloc(sizeof *files);
    tls_files_create(files);
    *state = files;
    return 0;
}

int http_fixture_destroy_files(void **state)
{
    tls_files_destroy(*state);
    free(*state);
    return 0;
}

int http_fixture_set_up(void **state)
{
    struct http_fixture *fixture = malloc(sizeof *fixture);
    http_fixture_init(fixture);
    fixture->files = *state;
    *state = fixture;
    return 0;
}

int http_fixture_tear_down(void **state)
{
    struct http_fixture *fixture = *state;
    if (fixture->server != NULL)
        http_fixture_stop(fixture);
    http_fixture_deinit(fixture);
    free(fixture);
    return 0;
}

void http_fixture_expect(struct raw_http *client, int status, const char *body)
{
    struct raw_http_answer answer;
    assert_true(raw_http_receive(client, &answer));
    assert_int_equal(answer.status, status);
    if (!bytes_equal_text(answer.body, body))
        fail_msg("'%.*s' instead of '%s'", BYTES_FMT(answer.body), body);
}

struct raw_http http_fixture_connect(const struct http_fixture *fixture)
{
    struct raw_http client;
    const struct tls_peer_options options = { .files = fixture->files, .trusted = "server.pem" };
    if (fixture->files == NULL)
        raw_http_open(&client, fixture->port);
    else
        raw_http_open_tls(&client, fixture->port, &options);
    return client;
}

bool http_fixture_wait_for_late(struct http_fixture *fixture, size_t count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += RAW_HTTP_WAIT_MS / 1000;
    int error = 0;
    pthread_mutex_lock(&fixture->mutex);
    while (fixture->late_count < count && error == 0)
        error = pthread_cond_timedwait(&fixture->changed, &fixture->mutex, &until);
    pthread_mutex_unlock(&fixture->mutex);
    return error == 0;
}

struct http_exchange *http_fixture_first_late(struct http_fixture *fixture)
{
    pthread_mutex_lock(&fixture->mutex);
    struct http_exchange *exchange = fixture->late_first->exchange;
    pthread_mutex_unlock(&fixture->mutex);
    return exchange;
}

void http_fixture_release(struct http_fixture *fixture)
{
    pthread_mutex_lock(&fixture->mutex);
    struct late *late = fixture->late_first;
    fixture->late_first = NULL;
    fixture->late_last = NULL;
    fixture->late_count = 0;
    pthread_mutex_unlock(&fixture->mutex);
    while (late != NULL) {
        struct late *next = late->next; /* Once posted, it may be gone at any moment. */
        http_loop_post(http_exchange_loop(late->exchange), &late->task);
        late = next;
    }
}
