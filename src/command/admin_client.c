/* admin_client.c -- see admin_client.h. */
#include "command/admin_client.h"
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "auth/sigv4.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "command/answer.h"
#include "command/command.h"
#include "crypto/sha256.h"
#include "http/server.h"
#include "http/url.h"
#include "json/writer.h"
#include "outbound/outbound.h"
#include "wire/dynamodb.h"

enum {
    ANSWER_SIZE_MAX = 16 * 1024 * 1024,
    TIMEOUT_MS = 60000,
    HEADERS_MAX = 6,
};

struct identity {
    struct sigv4_credentials credentials;
    struct bytes token; /* data NULL: none. */
    struct bytes region;
    bool is_anonymous; /* No credentials were given. */
};

static bool complain(const char *what, const char *why)
{
    command_fail(COMMAND_MISUSED, what, why);
    return false;
}

struct admin_client_call admin_client_call_of(const struct command_call *call,
                                              const char *operation)
{
    const char *endpoint = command_value_of(call, "endpoint");
    const char *ca_file = command_value_of(call, "ca-file");
    return (struct admin_client_call){
        .endpoint = endpoint != NULL ? endpoint : ADMIN_CLIENT_ENDPOINT,
        .ca_file = ca_file != NULL ? ca_file : getenv("AWS_CA_BUNDLE"),
        .operation = operation,
        .body = BYTES("{}"),
    };
}

/* --- Credentials --- */

/* The value of a variable that becomes part of a header; data NULL if it is not set. */
static bool read_variable(const char *name, struct bytes *out)
{
    const char *value = getenv(name);
    *out = (struct bytes){ 0 };
    if (value == NULL || value[0] == '\0')
        return true;
    *out = bytes_from_text(value);
    for (size_t i = 0; i < out->len; i++) {
        if (out->data[i] <= ' ' || out->data[i] > '~')
            return complain(name, "has a character that no such value has");
    }
    return true;
}

static bool read_identity(struct identity *out)
{
    struct bytes region;
    *out = (struct identity){ 0 };
    if (!read_variable("AWS_ACCESS_KEY_ID", &out->credentials.access_key) ||
        !read_variable("AWS_SECRET_ACCESS_KEY", &out->credentials.secret) ||
        !read_variable("AWS_SESSION_TOKEN", &out->token) ||
        !read_variable("AWS_DEFAULT_REGION", &out->region) || !read_variable("AWS_REGION", &region))
        return false;
    if (region.data != NULL)
        out->region = region;
    if (out->region.data == NULL)
        out->region = BYTES("us-east-1");
    if ((out->credentials.access_key.data == NULL) != (out->credentials.secret.data == NULL))
        return complain("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "one is set alone");
    if (out->credentials.secret.len > SIGV4_SECRET_SIZE_MAX)
        return complain("AWS_SECRET_ACCESS_KEY", "is too long");
    if (out->credentials.access_key.data == NULL) {
        out->is_anonymous = true;
        out->credentials = (struct sigv4_credentials){ BYTES("stator"), BYTES("stator") };
        out->token = (struct bytes){ 0 };
    }
    return true;
}

/* --- The request --- */

/* Adds the headers that carry the signature; returns how many there are. */
static size_t fill_headers(struct arena *arena, const struct identity *identity,
                           const struct http_url *url, const struct admin_client_call *call,
                           struct http_header headers[HEADERS_MAX])
{
    size_t count = 0;
    headers[count++] = (struct http_header){ BYTES("Host"), url->authority };
    headers[count++] =
        (struct http_header){ BYTES("Content-Type"), BYTES("application/x-amz-json-1.0") };
    headers[count++] =
        (struct http_header){ BYTES("X-Amz-Target"), dynamodb_target(arena, call->operation) };
    headers[count++] =
        (struct http_header){ BYTES("X-Amz-Date"),
                              sigv4_format_time(arena, clock_wall_ms(&clock_system)) };
    if (identity->token.data != NULL)
        headers[count++] = (struct http_header){ BYTES("X-Amz-Security-Token"), identity->token };
    struct sigv4_request request = { .method = BYTES("POST"),
                                     .target = url->target,
                                     .headers = headers,
                                     .header_count = count,
                                     .body = call->body };
    struct sigv4_scope scope = { identity->region,
                                 bytes_from_text(dynamodb_signing_name(call->operation)) };
    struct sha256 *hasher = sha256_create();
    struct bytes authorization =
        sigv4_authorize(hasher, arena, &request, &scope, &identity->credentials);
    sha256_destroy(hasher);
    headers[count++] = (struct http_header){ BYTES("Authorization"), authorization };
    assert(count <= HEADERS_MAX);
    return count;
}

/* --- The answer --- */

/* "ResourceNotFoundException", behind the prefix of the type. */
static struct bytes short_type(struct arena *arena, struct bytes body)
{
    struct bytes type = answer_text(arena, body, "__type");
    for (size_t i = type.len; i > 0; i--) {
        if (type.data[i - 1] == '#')
            return bytes_of(type.data + i, type.len - i);
    }
    return type;
}

static int tell_refusal(struct arena *arena, const struct admin_client_call *call,
                        const struct identity *identity, const struct outbound_answer *got)
{
    struct bytes body = buffer_bytes(&got->body);
    struct bytes text = answer_text(arena, body, "message");
    if (text.len == 0)
        text = answer_text(arena, body, "Message");
    if (text.len == 0)
        text = arena_printf(arena, "the server answered with status %d", got->status);
    if (call->refusal != NULL) {
        *call->refusal = (struct admin_client_refusal){ short_type(arena, body), text };
        return COMMAND_FAILED;
    }
    fprintf(stderr, "stator: %.*s\n", BYTES_FMT(text));
    if (identity->is_anonymous &&
        bytes_equal_text(answer_text(arena, body, "__type"),
                         "com.amazon.coral.service#UnrecognizedClientException"))
        fprintf(stderr, "stator: the server asks for credentials: set AWS_ACCESS_KEY_ID and "
                        "AWS_SECRET_ACCESS_KEY\n");
    return COMMAND_FAILED;
}

/* --- Connections --- */

struct admin_client_session {
    struct outbound *outbound; /* NULL: not opened yet. */
    struct outbound_client *client;
};

struct admin_client_session *admin_client_session_create(void)
{
    struct admin_client_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        abort();
    return session;
}

static void close_session(struct admin_client_session *session)
{
    outbound_client_destroy(session->client);
    outbound_close(session->outbound);
}

void admin_client_session_destroy(struct admin_client_session *session)
{
    close_session(session);
    free(session);
}

/* False with one line for people. */
static bool open_session(struct admin_client_session *session, const struct admin_client_call *call,
                         char message[OUTBOUND_MESSAGE_MAX])
{
    const struct outbound_options options = { .ca_file = call->ca_file };
    if (session->outbound == NULL)
        session->outbound = outbound_open(&options, message);
    if (session->outbound != NULL && session->client == NULL)
        session->client = outbound_client_create(session->outbound, message);
    return session->client != NULL;
}

/* Sends the request and waits. False, with a line on standard error, if there is no answer. */
static bool ask(struct arena *arena, const struct admin_client_call *call,
                const struct outbound_request *request, struct outbound_answer *got)
{
    char message[OUTBOUND_MESSAGE_MAX];
    struct admin_client_session own = { 0 };
    struct admin_client_session *session = call->session != NULL ? call->session : &own;
    enum outbound_result result = OUTBOUND_UNUSABLE;
    if (open_session(session, call, message))
        result = outbound_client_send(session->client, arena, request, got);
    else if (session->outbound != NULL)
        got->problem = arena_copy(arena, bytes_from_text(message));
    if (session->outbound == NULL)
        fprintf(stderr, "stator: %s\n", message);
    else if (result != OUTBOUND_OK)
        fprintf(stderr, "stator: %s: %.*s\n", call->endpoint, BYTES_FMT(got->problem));
    close_session(&own);
    return result == OUTBOUND_OK;
}

int admin_client_send(struct arena *arena, const struct admin_client_call *call,
                      struct bytes *answer)
{
    assert(call->endpoint != NULL && call->operation != NULL);
    struct identity identity;
    struct http_url url;
    struct http_header headers[HEADERS_MAX];
    struct outbound_answer got;
    const char *problem = http_url_parse(bytes_from_text(call->endpoint), &url);
    if (problem == NULL && !bytes_equal_text(url.target, "/"))
        problem = "an endpoint has no path";
    if (problem != NULL)
        complain(call->endpoint, problem);
    if (problem != NULL || !read_identity(&identity))
        return COMMAND_MISUSED;
    struct outbound_request request = { .method = "POST",
                                        .url = bytes_from_text(call->endpoint),
                                        .headers = headers,
                                        .header_count =
                                            fill_headers(arena, &identity, &url, call, headers),
                                        .body = call->body,
                                        .timeout_ms = TIMEOUT_MS,
                                        .answer_size_max = ANSWER_SIZE_MAX };
    signal(SIGPIPE, SIG_IGN); /* A closed connection is an error of write, not a signal. */
    if (!ask(arena, call, &request, &got))
        return COMMAND_FAILED;
    if (got.status != 200)
        return tell_refusal(arena, call, &identity, &got);
    *answer = buffer_bytes(&got.body);
    return COMMAND_OK;
}

int admin_client_describe_table(struct arena *arena, struct admin_client_call call,
                                const char *table, struct bytes *description)
{
    struct buffer body;
    struct json_writer json;
    struct bytes answer;
    buffer_init(&body, arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "TableName");
    json_write_text(&json, table);
    json_close_object(&json);
    call.operation = "DescribeTable";
    call.body = buffer_bytes(&body);
    int code = admin_client_send(arena, &call, &answer);
    if (code == COMMAND_OK)
        *description = answer_json(arena, answer, "Table");
    if (code == COMMAND_OK && description->data == NULL)
        code = command_fail(COMMAND_FAILED, "DescribeTable", "the server's answer is damaged");
    return code;
}
