/* auth_fixture.c -- see auth_fixture.h. */
#include "auth_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "auth/key_ring.h"
#include "auth/live_keys.h"
#include "auth/sigv4.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/log.h"
#include "console/console.h"
#include "crypto/sha256.h"
#include "raw_http.h"
#include "wire/wire.h"

#define REGION "us-east-1"
#define NOW_MS 1440938160000 /* AUTH_FIXTURE_NOW */
#define HOUR_S 3600

enum { HEADERS_MAX = 8, GRACE_MS = 10000 };

/* --- Keys --- */

static void keep(struct auth_fixture *fixture, enum auth_fixture_key which,
                 const struct access_key *key, struct bytes token)
{
    assert_non_null(key);
    fixture->keys[which].id = arena_copy(fixture->arena, key->id);
    fixture->keys[which].secret = arena_copy(fixture->arena, key->secret);
    fixture->keys[which].token = token;
}

static void create(struct auth_fixture *fixture, struct key_ring *ring, enum auth_fixture_key which)
{
    struct error err;
    error_init(&err, fixture->arena);
    keep(fixture, which, key_edit_create(fixture->arena, ring, BYTES("alice"), NOW_MS, &err),
         (struct bytes){ 0 });
}

static void create_session(struct auth_fixture *fixture, struct key_ring *ring,
                           enum auth_fixture_key which, enum auth_fixture_key parent,
                           int64_t seconds)
{
    struct error err;
    struct bytes token;
    error_init(&err, fixture->arena);
    /* One that is over was made before. */
    int64_t made_ms = seconds > 0 ? NOW_MS : NOW_MS - 2 * HOUR_S * INT64_C(1000);
    const struct access_key *key =
        key_edit_create_session(fixture->arena, ring, fixture->keys[parent].id,
                                seconds > 0 ? seconds : HOUR_S, made_ms, &token, &err);
    keep(fixture, which, key, token);
}

static void write_keys(struct auth_fixture *fixture, const struct key_file *file)
{
    char message[KEY_FILE_MESSAGE_MAX];
    struct key_ring ring = { 0 };
    struct error err;
    error_init(&err, fixture->arena);
    create(fixture, &ring, AUTH_KEY_RIGHT);
    create(fixture, &ring, AUTH_KEY_UNKNOWN);
    create(fixture, &ring, AUTH_KEY_DISABLED);
    create_session(fixture, &ring, AUTH_KEY_SESSION, AUTH_KEY_RIGHT, HOUR_S);
    create_session(fixture, &ring, AUTH_KEY_OTHER_SESSION, AUTH_KEY_RIGHT, HOUR_S);
    create_session(fixture, &ring, AUTH_KEY_EXPIRED_SESSION, AUTH_KEY_RIGHT, 0);
    create_session(fixture, &ring, AUTH_KEY_ORPHAN_SESSION, AUTH_KEY_DISABLED, HOUR_S);
    assert_true(key_edit_delete(&ring, fixture->keys[AUTH_KEY_UNKNOWN].id, &err));
    assert_true(key_edit_disable(&ring, fixture->keys[AUTH_KEY_DISABLED].id, true, &err));
    assert_true(key_edit_put_policy(
        fixture->arena, &ring, fixture->keys[AUTH_KEY_RIGHT].id, BYTES("all"),
        BYTES("{\"Statement\":{\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\"}}"), &err));
    int lock = key_file_lock(file, message);
    assert_true(lock >= 0);
    assert_true(key_file_write(fixture->arena, file, &ring, message));
    key_file_unlock(lock);
}

/* --- The server --- */

void auth_fixture_open(struct auth_fixture *fixture)
{
    char message[KEY_FILE_MESSAGE_MAX];
    *fixture = (struct auth_fixture){ .clock = clock_fixed(NOW_MS),
                                      .arena = arena_create(),
                                      .hasher = sha256_create() };
    log_set_level(LOG_ERROR); /* Each refusal is a warning. */
    scratch_create(fixture->directory);
    struct key_file file = { .directory = fixture->directory };
    write_keys(fixture, &file);
    fixture->live = live_keys_open(&file, message);
    assert_non_null(fixture->live);
    struct api_options api = { .clock = &fixture->clock, .region = REGION };
    api_fixture_open_with(&fixture->api, &api);
    struct wire_options wire = { .pages = { .origins = "", .hosts = "" },
                                 .authentication = { .keys = fixture->live,
                                                     .clock = &fixture->clock,
                                                     .region = REGION,
                                                     .account_id = "000000000000" },
                                 .slow_thread_count = 1 };
    fixture->wire = wire_create(fixture->api.api, &wire);
    const struct console_options console = { .auth = true, .region = REGION, .version = "0" };
    fixture->console = console_create(&console, wire_router(fixture->wire));
    struct http_options http = http_options_default;
    http.port = 0;
    http.loop_count = 1;
    fixture->server = http_server_start(&http, wire_http_handler(fixture->wire), message);
    assert_non_null(fixture->server);
}

void auth_fixture_close(struct auth_fixture *fixture)
{
    http_server_stop(fixture->server, GRACE_MS);
    wire_destroy(fixture->wire);
    console_destroy(fixture->console);
    api_fixture_close(&fixture->api);
    live_keys_close(fixture->live);
    scratch_destroy(fixture->directory);
    sha256_destroy(fixture->hasher);
    arena_destroy(fixture->arena);
}

int auth_fixture_set_up(void **state)
{
    struct auth_fixture *fixture = malloc(sizeof *fixture);
    assert_non_null(fixture);
    auth_fixture_open(fixture);
    *state = fixture;
    return 0;
}

int auth_fixture_tear_down(void **state)
{
    auth_fixture_close(*state);
    free(*state);
    return 0;
}

/* --- Requests --- */

static struct bytes text_or(const char *text, const char *otherwise)
{
    return bytes_from_text(text == NULL ? otherwise : text);
}

/* All headers but Content-Length and those that are added later. */
static size_t fill_headers(const struct auth_fixture *fixture, const struct auth_request *request,
                           struct http_header headers[HEADERS_MAX])
{
    struct bytes own = fixture->keys[request->key].token;
    struct bytes others =
        fixture->keys[request->key == AUTH_KEY_SESSION ? AUTH_KEY_OTHER_SESSION : AUTH_KEY_SESSION]
            .token;
    struct bytes token = request->token == AUTH_TOKEN_OWN      ? own
                         : request->token == AUTH_TOKEN_OTHERS ? others
                                                               : (struct bytes){ 0 };
    size_t count = 0;
    headers[count++] = (struct http_header){ BYTES("Host"), BYTES("127.0.0.1") };
    headers[count++] =
        (struct http_header){ BYTES("Content-Type"), BYTES("application/x-amz-json-1.0") };
    headers[count++] =
        (struct http_header){ BYTES("X-Amz-Date"), text_or(request->time, AUTH_FIXTURE_NOW) };
    headers[count++] =
        (struct http_header){ BYTES("X-Amz-Target"),
                              text_or(request->target, "DynamoDB_20120810.ListTables") };
    if (token.data != NULL)
        headers[count++] = (struct http_header){ BYTES("X-Amz-Security-Token"), token };
    if (request->also_signed.name.data != NULL)
        headers[count++] = request->also_signed;
    return count;
}

static struct bytes authorize(struct auth_fixture *fixture, const struct auth_request *request,
                              const struct http_header *headers, size_t count, struct bytes body)
{
    struct http_header signed_headers[HEADERS_MAX];
    size_t signed_count = 0;
    for (size_t i = 0; i < count; i++)
        if (request->left_out == NULL || !bytes_equal_text(headers[i].name, request->left_out))
            signed_headers[signed_count++] = headers[i];
    struct sigv4_request to_sign = { .method = BYTES("POST"),
                                     .target = text_or(request->path, "/"),
                                     .headers = signed_headers,
                                     .header_count = signed_count,
                                     .body = body };
    struct sigv4_scope scope = { text_or(request->region, REGION),
                                 text_or(request->service, "dynamodb") };
    struct sigv4_credentials credentials = {
        fixture->keys[request->key].id,
        request->secret == NULL ? fixture->keys[request->key].secret
                                : bytes_from_text(request->secret),
    };
    return sigv4_authorize(fixture->hasher, fixture->arena, &to_sign, &scope, &credentials);
}

static void append_header(struct buffer *out, struct http_header header)
{
    buffer_append_bytes(out, header.name);
    buffer_append_bytes(out, BYTES(": "));
    buffer_append_bytes(out, header.value);
    buffer_append_bytes(out, BYTES("\r\n"));
}

static struct bytes spoil(struct arena *arena, struct bytes text, struct bytes from,
                          struct bytes to)
{
    if (from.data == NULL)
        return text;
    const uint8_t *found = memmem(text.data, text.len, from.data, from.len);
    assert_non_null(found);
    size_t before = (size_t)(found - text.data);
    const struct bytes parts[] = { bytes_of(text.data, before), to,
                                   bytes_of(found + from.len, text.len - before - from.len) };
    return arena_join(arena, parts, 3);
}

struct auth_answer auth_fixture_send(struct auth_fixture *fixture,
                                     const struct auth_request *request)
{
    struct http_header headers[HEADERS_MAX];
    struct bytes body = BYTES("{}");
    struct buffer out;
    size_t count = fill_headers(fixture, request, headers);
    buffer_init(&out, fixture->arena);
    buffer_append_bytes(&out, arena_printf(fixture->arena, "POST %s HTTP/1.1\r\n",
                                           request->path == NULL ? "/" : request->path));
    for (size_t i = 0; i < count; i++)
        append_header(&out, headers[i]);
    if (!request->without_credentials)
        append_header(&out,
                      (struct http_header){ BYTES("Authorization"),
                                            authorize(fixture, request, headers, count, body) });
    if (request->not_signed.name.data != NULL)
        append_header(&out, request->not_signed);
    buffer_append_bytes(&out, BYTES("Content-Length: 2\r\n\r\n"));
    buffer_append_bytes(&out, body);
    struct raw_http client;
    struct raw_http_answer answer;
    raw_http_open(&client, http_server_port(fixture->server));
    raw_http_send(
        &client, spoil(fixture->arena, buffer_bytes(&out), request->spoil_from, request->spoil_to));
    if (!raw_http_receive(&client, &answer))
        fail_msg("no answer");
    struct auth_answer result = { answer.status, arena_copy(fixture->arena, answer.body) };
    raw_http_close(&client);
    return result;
}
