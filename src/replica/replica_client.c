/* replica_client.c -- see replica_client.h. */
#include "replica/replica_client.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "auth/sigv4.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "crypto/sha256.h"
#include "http/grammar.h"
#include "http/server.h"
#include "http/url.h"
#include "json/reader.h"
#include "outbound/credential_file.h"

enum { HEADERS_MAX = 6, DEPTH_MAX = 8, MESSAGE_SHOWN_MAX = 200 };

struct replica_client {
    struct replica_outside outside;
    const struct clock *clock;
    struct replica_peer peer;
    struct outbound_client *http;
    struct sha256 *hasher;
};

struct replica_client *replica_client_create(const struct replica_outside *outside,
                                             const struct clock *clock,
                                             const struct replica_peer *peer,
                                             char message[OUTBOUND_MESSAGE_MAX])
{
    struct outbound_client *http = outbound_client_create(outside->network, message);
    if (http == NULL)
        return NULL;
    struct replica_client *client = memory_checked(calloc(1, sizeof *client));
    *client = (struct replica_client){
        .outside = *outside, .clock = clock, .peer = *peer, .http = http, .hasher = sha256_create()
    };
    return client;
}

void replica_client_destroy(struct replica_client *client)
{
    if (client == NULL)
        return;
    outbound_client_destroy(client->http);
    sha256_destroy(client->hasher);
    free(client);
}

void replica_client_cancel(struct replica_client *client)
{
    outbound_client_cancel(client->http);
}

static struct http_header header(const char *name, struct bytes value)
{
    return (struct http_header){ bytes_from_text(name), value };
}

/* False with `problem` set if there is a key file, and it cannot be used. */
static bool sign(struct replica_client *client, struct arena *arena, const struct http_url *url,
                 struct bytes body, struct http_header headers[HEADERS_MAX], size_t *count,
                 struct bytes *problem)
{
    /* A server without `auth` wants a signature as well, whatever it is made with. */
    struct credentials credentials = { .access_key = "stator", .secret = "stator" };
    const char *file = client->outside.key_file, *fault = NULL;
    if (file != NULL && file[0] != '\0')
        fault = credential_file_read(file, &credentials);
    if (fault != NULL) {
        *problem = arena_printf(arena, "%s: %s", file, fault);
        return false;
    }
    if (credentials.token[0] != '\0')
        headers[(*count)++] = header("X-Amz-Security-Token", bytes_from_text(credentials.token));
    struct sigv4_request request = { .method = BYTES("POST"),
                                     .target = url->target,
                                     .headers = headers,
                                     .header_count = *count,
                                     .body = body };
    struct sigv4_scope scope = { client->peer.region, BYTES("dynamodb") };
    struct sigv4_credentials signer = { arena_copy(arena, bytes_from_text(credentials.access_key)),
                                        bytes_from_text(credentials.secret) };
    headers[(*count)++] =
        header("Authorization", sigv4_authorize(client->hasher, arena, &request, &scope, &signer));
    explicit_bzero(&credentials, sizeof credentials);
    assert(*count <= HEADERS_MAX);
    return true;
}

/* "__type" without what stands before its last '#', and the message, of a refusal. */
static void read_refusal(struct arena *arena, struct bytes body, struct replica_reply *reply)
{
    struct json_reader reader;
    struct bytes name, text, message = BYTES("");
    json_reader_init(&reader, arena, body, DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        bool is_type = bytes_equal_text(name, "__type");
        if ((!is_type && !bytes_equal_text(name, "message") &&
             !bytes_equal_text(name, "Message")) ||
            json_peek(&reader) != JSON_STRING) {
            json_skip(&reader);
            continue;
        }
        if (!json_read_string(&reader, &text))
            break;
        if (is_type)
            reply->exception = text;
        else
            message = text;
    }
    for (size_t i = 0; i < reply->exception.len; i++)
        if (reply->exception.data[i] == '#') {
            reply->exception =
                bytes_of(reply->exception.data + i + 1, reply->exception.len - i - 1);
            i = 0;
        }
    if (message.len > MESSAGE_SHOWN_MAX)
        message.len = MESSAGE_SHOWN_MAX;
    reply->problem = arena_printf(arena, "status %d %.*s: %.*s", reply->status,
                                  BYTES_FMT(reply->exception), BYTES_FMT(message));
}

struct replica_reply replica_client_call(struct replica_client *client, struct arena *arena,
                                         const char *operation, struct bytes body,
                                         int64_t timeout_ms)
{
    struct replica_reply reply = { .problem = BYTES("") };
    struct http_header headers[HEADERS_MAX];
    struct outbound_answer answer = { 0 };
    struct http_url url;
    size_t count = 0;
    const char *fault = http_url_parse(client->peer.url, &url);
    if (fault != NULL) {
        reply.problem = bytes_from_text(fault);
        return reply;
    }
    headers[count++] = header("Host", url.authority);
    headers[count++] = header("Content-Type", BYTES("application/x-amz-json-1.0"));
    headers[count++] = header("X-Amz-Target", arena_printf(arena, "Stator_20261101.%s", operation));
    headers[count++] = header("X-Amz-Date", sigv4_format_time(arena, clock_wall_ms(client->clock)));
    if (!sign(client, arena, &url, body, headers, &count, &reply.problem))
        return reply;
    struct outbound_request request = { .method = "POST",
                                        .url = client->peer.url,
                                        .headers = headers,
                                        .header_count = count,
                                        .body = body,
                                        .timeout_ms = timeout_ms,
                                        .answer_size_max = REPLICA_ANSWER_SIZE_MAX };
    if (outbound_client_send(client->http, arena, &request, &answer) != OUTBOUND_OK) {
        reply.problem = answer.problem;
        return reply;
    }
    reply.reached = true;
    reply.status = answer.status;
    reply.body = buffer_bytes(&answer.body);
    if (answer.status != 200)
        read_refusal(arena, reply.body, &reply);
    return reply;
}
