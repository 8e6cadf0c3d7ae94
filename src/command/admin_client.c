/* admin_client.c -- see admin_client.h. */
#include "command/admin_client.h"
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "auth/sigv4.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "command/command.h"
#include "crypto/sha256.h"
#include "http/server.h"
#include "http/url.h"
#include "json/reader.h"
#include "outbound/outbound.h"
#include "wire/dynamodb.h"

enum {
    ANSWER_SIZE_MAX = 16 * 1024 * 1024,
    ANSWER_DEPTH_MAX = 16,
    TIMEOUT_MS = 60000,
    HEADERS_MAX = 6,
};

struct identity {
    struct sigv4_credentials credentials;
    struct bytes token; /* data NULL: none. */
    struct bytes region;
    bool is_nobody; /* No credentials were given. */
};

static bool complain(const char *what, const char *why)
{
    command_fail(COMMAND_MISUSED, what, why);
    return false;
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
        out->is_nobody = true;
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
    struct sigv4_scope scope = { identity->region, BYTES("dynamodb") };
    struct sha256 *hasher = sha256_create();
    struct bytes authorization =
        sigv4_authorize(hasher, arena, &request, &scope, &identity->credentials);
    sha256_destroy(hasher);
    headers[count++] = (struct http_header){ BYTES("Authorization"), authorization };
    assert(count <= HEADERS_MAX);
    return count;
}

/* --- The answer --- */

struct bytes admin_client_member(struct arena *arena, struct bytes object, const char *wanted)
{
    struct json_reader reader;
    struct bytes name, found = BYTES("");
    json_reader_init(&reader, arena, object, ANSWER_DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        if (!bytes_equal_text(name, wanted) || json_peek(&reader) != JSON_STRING)
            json_skip(&reader);
        else if (!json_read_string(&reader, &found))
            break;
    }
    return found;
}

static int tell_refusal(struct arena *arena, const struct identity *identity,
                        const struct outbound_answer *got)
{
    struct bytes body = buffer_bytes(&got->body);
    struct bytes text = admin_client_member(arena, body, "message");
    if (text.len == 0)
        text = admin_client_member(arena, body, "Message");
    if (text.len == 0)
        text = arena_printf(arena, "the server answered with status %d", got->status);
    fprintf(stderr, "stator: %.*s\n", BYTES_FMT(text));
    if (identity->is_nobody &&
        bytes_equal_text(admin_client_member(arena, body, "__type"),
                         "com.amazon.coral.service#UnrecognizedClientException"))
        fprintf(stderr, "stator: the server asks for credentials: set AWS_ACCESS_KEY_ID and "
                        "AWS_SECRET_ACCESS_KEY\n");
    return COMMAND_FAILED;
}

/* Sends the request and waits. False, with a line on standard error, if there is no answer. */
static bool ask(struct arena *arena, const struct admin_client_call *call,
                const struct outbound_request *request, struct outbound_answer *got)
{
    struct outbound_options options = { .ca_file = call->ca_file };
    char message[OUTBOUND_MESSAGE_MAX];
    struct outbound *outbound = outbound_open(&options, message);
    if (outbound == NULL) {
        fprintf(stderr, "stator: %s\n", message);
        return false;
    }
    struct outbound_client *client = outbound_client_create(outbound, message);
    enum outbound_result result = OUTBOUND_UNUSABLE;
    if (client == NULL)
        got->problem = arena_copy(arena, bytes_from_text(message));
    else
        result = outbound_client_send(client, arena, request, got);
    outbound_client_destroy(client);
    outbound_close(outbound);
    if (result != OUTBOUND_OK)
        fprintf(stderr, "stator: %s: %.*s\n", call->endpoint, BYTES_FMT(got->problem));
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
        return tell_refusal(arena, &identity, &got);
    *answer = buffer_bytes(&got.body);
    return 0;
}
