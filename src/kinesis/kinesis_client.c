/* kinesis_client.c -- see kinesis_client.h. */
#include "kinesis/kinesis_client.h"
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
#include "json/base64.h"
#include "json/writer.h"
#include "outbound/credential_file.h"

struct kinesis_client {
    const struct kinesis_outside *outside;
    const struct clock *clock;
    struct outbound_client *http;
    struct sha256 *hasher;
};

struct kinesis_client *kinesis_client_create(const struct kinesis_outside *outside,
                                             const struct clock *clock,
                                             char message[OUTBOUND_MESSAGE_MAX])
{
    struct outbound_client *http = outbound_client_create(outside->network, message);
    if (http == NULL)
        return NULL;
    struct kinesis_client *client = memory_checked(calloc(1, sizeof *client));
    *client = (struct kinesis_client){
        .outside = outside, .clock = clock, .http = http, .hasher = sha256_create()
    };
    return client;
}

void kinesis_client_destroy(struct kinesis_client *client)
{
    if (client == NULL)
        return;
    outbound_client_destroy(client->http);
    sha256_destroy(client->hasher);
    free(client);
}

void kinesis_client_cancel(struct kinesis_client *client)
{
    outbound_client_cancel(client->http);
}

/* --- A call --- */

enum { HEADERS_MAX = 6 };

static struct http_header header(const char *name, struct bytes value)
{
    return (struct http_header){ bytes_from_text(name), value };
}

/* All headers; the signature is the last. */
static size_t fill_headers(const struct kinesis_client *client, struct arena *arena,
                           const char *operation, const struct kinesis_target *target,
                           const struct credentials *credentials, const struct http_url *url,
                           struct bytes body, struct http_header headers[HEADERS_MAX])
{
    size_t count = 0;
    headers[count++] = header("Host", url->authority);
    headers[count++] = header("Content-Type", BYTES("application/x-amz-json-1.1"));
    headers[count++] =
        header("X-Amz-Target", arena_printf(arena, "Kinesis_20131202.%s", operation));
    headers[count++] = header("X-Amz-Date", sigv4_format_time(arena, clock_wall_ms(client->clock)));
    if (credentials->token[0] != '\0')
        headers[count++] = header("X-Amz-Security-Token", bytes_from_text(credentials->token));
    struct sigv4_request unsigned_request = { .method = BYTES("POST"),
                                              .target = url->target,
                                              .headers = headers,
                                              .header_count = count,
                                              .body = body };
    struct sigv4_scope scope = { target->region, BYTES("kinesis") };
    struct sigv4_credentials signer = { bytes_from_text(credentials->access_key),
                                        bytes_from_text(credentials->secret) };
    headers[count++] = header("Authorization", sigv4_authorize(client->hasher, arena,
                                                               &unsigned_request, &scope, &signer));
    assert(count <= HEADERS_MAX);
    return count;
}

static struct kinesis_reply reply_of(struct arena *arena, enum outbound_result result,
                                     const struct outbound_answer *answer)
{
    struct kinesis_reply reply = { .result = KINESIS_OK };
    if (result == OUTBOUND_OK && answer->status == 200)
        return reply;
    if (result != OUTBOUND_OK) {
        reply.result = result == OUTBOUND_CANCELLED ? KINESIS_CANCELLED : KINESIS_UNREACHED;
        reply.problem = answer->problem;
        return reply;
    }
    reply.exception = kinesis_answer_exception(arena, buffer_bytes(&answer->body));
    reply.result = reply.exception.len > 0 ? KINESIS_REFUSED : KINESIS_UNREACHED;
    if (reply.exception.len > KINESIS_PROBLEM_SIZE_MAX)
        reply.exception.len = KINESIS_PROBLEM_SIZE_MAX;
    reply.problem =
        arena_printf(arena, "status %d, %.*s", answer->status,
                     reply.exception.len > 0 ? (int)reply.exception.len : 12,
                     reply.exception.len > 0 ? (const char *)reply.exception.data : "no exception");
    return reply;
}

static struct kinesis_reply call(struct kinesis_client *client, struct arena *arena,
                                 const char *operation, const struct kinesis_target *target,
                                 struct bytes body, struct outbound_answer *answer)
{
    const struct kinesis_outside *outside = client->outside;
    struct http_header headers[HEADERS_MAX];
    struct credentials credentials;
    struct http_url url;
    const char *problem = http_url_parse(bytes_from_text(outside->endpoint), &url);
    if (problem == NULL)
        problem = credential_file_read(outside->key_file, &credentials);
    if (problem != NULL)
        return (struct kinesis_reply){ .result = KINESIS_NO_KEY,
                                       .problem = arena_printf(arena, "%s: %s", outside->key_file,
                                                               problem) };
    struct outbound_request request = { .method = "POST",
                                        .url = bytes_from_text(outside->endpoint),
                                        .headers = headers,
                                        .header_count =
                                            fill_headers(client, arena, operation, target,
                                                         &credentials, &url, body, headers),
                                        .body = body,
                                        .timeout_ms = KINESIS_TIMEOUT_MS,
                                        .answer_size_max = KINESIS_ANSWER_SIZE_MAX };
    explicit_bzero(&credentials, sizeof credentials);
    *answer = (struct outbound_answer){ 0 };
    return reply_of(arena, outside->send(client->http, arena, &request, answer), answer);
}

static struct kinesis_reply unreadable(const char *problem)
{
    return (struct kinesis_reply){ .result = KINESIS_UNREACHED,
                                   .problem = bytes_from_text(problem) };
}

/* --- Operations --- */

static struct bytes put_body(struct arena *arena, struct bytes stream_name,
                             const struct kinesis_entry *entries, size_t count)
{
    struct buffer body;
    struct json_writer json;
    size_t size = 128 + stream_name.len;
    for (size_t i = 0; i < count; i++)
        size += base64_encoded_size(entries[i].data.len) + KINESIS_PARTITION_KEY_SIZE + 64;
    buffer_init(&body, arena);
    buffer_reserve(&body, size); /* Growing would copy megabytes. */
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "StreamName");
    json_write_string(&json, stream_name);
    json_write_name(&json, "Records");
    json_open_array(&json);
    for (size_t i = 0; i < count; i++) {
        json_open_object(&json);
        json_write_name(&json, "Data");
        json_write_base64(&json, entries[i].data);
        json_write_name(&json, "PartitionKey");
        json_write_string(&json, bytes_of(entries[i].partition_key, KINESIS_PARTITION_KEY_SIZE));
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    return buffer_bytes(&body);
}

struct kinesis_reply kinesis_client_put(struct kinesis_client *client, struct arena *arena,
                                        const struct kinesis_target *target,
                                        const struct kinesis_entry *entries, size_t count,
                                        enum kinesis_fate fates[])
{
    assert(count > 0 && count <= KINESIS_RECORDS_MAX);
    struct outbound_answer answer;
    struct bytes body = put_body(arena, target->stream_name, entries, count);
    struct kinesis_reply reply = call(client, arena, "PutRecords", target, body, &answer);
    if (reply.result == KINESIS_OK &&
        !kinesis_answer_fates(arena, buffer_bytes(&answer.body), count, fates))
        return unreadable("the answer does not say what became of each record");
    return reply;
}

struct kinesis_reply kinesis_client_describe(struct kinesis_client *client, struct arena *arena,
                                             const struct kinesis_target *target,
                                             struct kinesis_stream *out)
{
    struct outbound_answer answer;
    struct buffer body;
    struct json_writer json;
    buffer_init(&body, arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "StreamName");
    json_write_string(&json, target->stream_name);
    json_close_object(&json);
    struct kinesis_reply reply =
        call(client, arena, "DescribeStreamSummary", target, buffer_bytes(&body), &answer);
    if (reply.result == KINESIS_OK &&
        !kinesis_answer_stream(arena, buffer_bytes(&answer.body), out))
        return unreadable("the answer does not describe a stream");
    return reply;
}
