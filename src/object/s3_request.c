/* s3_request.c -- see s3_request.h.
 *
 * Requests are in path style (/bucket/key), which every S3 server knows. The body's SHA-256 is
 * signed, so a server that checks it notices a byte that changed on the way.
 *
 * A request is repeated if no answer came, or one that says "not now". All requests that are sent
 * here may be repeated: where a lost answer matters, object_s3.c looks.
 */
#include "object/s3_request.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "auth/sigv4.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/timed_wait.h"
#include "crypto/sha256.h"
#include "http/server.h"
#include "http/url.h"
#include "json/utf8.h"
#include "object/s3_xml.h"
#include "outbound/credential_file.h"
#include "outbound/outbound.h"

enum { HEADERS_MAX = S3_HEADERS_MAX + 5 };

struct s3_session {
    struct object_bucket *bucket;
    struct outbound_client *client;
    struct http_url endpoint;
    struct credentials credentials;
    struct sha256 *hasher;
    struct arena *arena; /* Of one try at a time: an answer may have megabytes. */
    struct random random;
    pthread_mutex_t mutex; /* For the pauses. */
    pthread_cond_t cancelled;
};

/* --- The key file --- */

bool s3_check_key_file(const char *path, char message[OBJECT_MESSAGE_MAX])
{
    struct credentials credentials;
    const char *problem = credential_file_read(path, &credentials);
    explicit_bzero(&credentials, sizeof credentials);
    if (problem != NULL)
        snprintf(message, OBJECT_MESSAGE_MAX, "%s: %s", path, problem);
    return problem == NULL;
}

/* --- Sessions --- */

struct s3_session *s3_session_create(struct object_bucket *bucket, struct object_error *err)
{
    const struct object_store_options *options = &bucket->store->options;
    char message[OUTBOUND_MESSAGE_MAX];
    struct s3_session *session = memory_checked(calloc(1, sizeof *session));
    session->bucket = bucket;
    pthread_mutex_init(&session->mutex, NULL);
    timed_wait_init(&session->cancelled);
    random_init_from_system(&session->random);
    session->hasher = sha256_create();
    session->arena = arena_create();
    const char *problem = http_url_parse(bytes_from_text(options->endpoint), &session->endpoint);
    assert(problem == NULL); /* Checked when the store was opened. */
    problem = credential_file_read(options->key_file, &session->credentials);
    if (problem != NULL)
        object_error_set(err, OBJECT_DENIED, "The server's key for S3 cannot be used: %s", problem);
    else if ((session->client = outbound_client_create(options->outbound, message)) == NULL)
        object_error_set(err, OBJECT_FAILED, "%.512s", message);
    if (session->client != NULL)
        return session;
    s3_session_destroy(session);
    return NULL;
}

void s3_session_destroy(struct s3_session *session)
{
    if (session == NULL)
        return;
    outbound_client_destroy(session->client);
    sha256_destroy(session->hasher);
    arena_destroy(session->arena);
    pthread_cond_destroy(&session->cancelled);
    pthread_mutex_destroy(&session->mutex);
    explicit_bzero(&session->credentials, sizeof session->credentials);
    free(session);
}

void s3_session_cancel(struct s3_session *session)
{
    outbound_client_cancel(session->client);
    pthread_mutex_lock(&session->mutex);
    pthread_cond_broadcast(&session->cancelled);
    pthread_mutex_unlock(&session->mutex);
}

/* False if the bucket was cancelled. */
static bool pause_ms(struct s3_session *session, int64_t ms)
{
    const int64_t until_ns = clock_monotonic_ns() + ms * 1000000;
    bool cancelled;
    pthread_mutex_lock(&session->mutex);
    while (!(cancelled = object_bucket_is_cancelled(session->bucket))) {
        int64_t left_ms = (until_ns - clock_monotonic_ns() + 999999) / 1000000;
        if (left_ms <= 0)
            break;
        timed_wait(&session->cancelled, &session->mutex,
                   left_ms < OUTBOUND_ASK_MS ? left_ms : OUTBOUND_ASK_MS);
    }
    pthread_mutex_unlock(&session->mutex);
    return !cancelled;
}

/* --- A request --- */

static struct bytes format_target(struct arena *arena, const struct s3_session *session,
                                  const struct s3_request *request)
{
    struct buffer target;
    buffer_init(&target, arena);
    buffer_append_byte(&target, '/');
    sigv4_append_escaped(&target, bytes_from_text(session->bucket->name), false);
    buffer_append_byte(&target, '/');
    if (request->key.data != NULL)
        sigv4_append_escaped(&target, request->key, true);
    else
        target.len--; /* "/bucket" */
    for (size_t i = 0; i < request->query_count; i++) {
        assert(i == 0 || strcmp(request->query[i - 1].name, request->query[i].name) < 0);
        buffer_append_byte(&target, i == 0 ? '?' : '&');
        buffer_append_bytes(&target, bytes_from_text(request->query[i].name));
        buffer_append_byte(&target, '=');
        sigv4_append_escaped(&target, request->query[i].value, false);
    }
    return buffer_bytes(&target);
}

/* Adds the headers that every request has; the signature is the last. */
static size_t fill_headers(struct s3_session *session, struct arena *arena,
                           const struct s3_request *request, struct bytes target, struct bytes hash,
                           struct http_header headers[HEADERS_MAX])
{
    const struct object_store_options *options = &session->bucket->store->options;
    const struct credentials *credentials = &session->credentials;
    size_t count = 0;
    headers[count++] = (struct http_header){ BYTES("Host"), session->endpoint.authority };
    headers[count++] = (struct http_header){ BYTES("X-Amz-Content-Sha256"), hash };
    headers[count++] =
        (struct http_header){ BYTES("X-Amz-Date"),
                              sigv4_format_time(arena, clock_wall_ms(options->clock)) };
    if (credentials->token[0] != '\0')
        headers[count++] = (struct http_header){ BYTES("X-Amz-Security-Token"),
                                                 bytes_from_text(credentials->token) };
    for (size_t i = 0; i < request->header_count; i++)
        headers[count++] = request->headers[i];
    struct sigv4_request unsigned_request = { .method = bytes_from_text(request->method),
                                              .target = target,
                                              .headers = headers,
                                              .header_count = count,
                                              .body = request->body,
                                              .body_hash = hash };
    struct sigv4_scope scope = { bytes_from_text(options->region), BYTES("s3") };
    struct sigv4_credentials signer = { bytes_from_text(credentials->access_key),
                                        bytes_from_text(credentials->secret) };
    headers[count++] = (struct http_header){ BYTES("Authorization"),
                                             sigv4_authorize(session->hasher, arena,
                                                             &unsigned_request, &scope, &signer) };
    assert(count <= HEADERS_MAX);
    return count;
}

static bool is_cancelled(void *context)
{
    return object_bucket_is_cancelled(context);
}

static enum outbound_result send_once(struct s3_session *session, const struct s3_request *request,
                                      struct bytes hash, struct outbound_answer *answer)
{
    struct arena *arena = session->arena;
    struct http_header headers[HEADERS_MAX];
    struct bytes target = format_target(arena, session, request);
    struct outbound_request http = {
        .method = request->method,
        .url = bytes_from_text(session->bucket->store->options.endpoint),
        .target = target,
        .headers = headers,
        .header_count = fill_headers(session, arena, request, target, hash, headers),
        .body = request->body,
        .sends_once = request->counts_tries,
        .timeout_ms = S3_TIMEOUT_MS,
        .answer_size_max =
            request->answer_size_max != 0 ? request->answer_size_max : S3_XML_SIZE_MAX,
        .answer_memory = request->answer_memory,
        .is_cancelled = is_cancelled,
        .cancel_context = session->bucket
    };
    return outbound_client_send(session->client, arena, &http, answer);
}

/* --- What an answer means --- */

struct failure {
    struct bytes code, message, request_id, host_id;
    bool is_error; /* The document is an <Error>. */
};

static void take_leaf(void *context, struct bytes parent, struct bytes name, struct bytes text)
{
    struct failure *failure = context;
    const struct {
        const char *name;
        struct bytes *value;
    } fields[] = { { "Code", &failure->code },
                   { "Message", &failure->message },
                   { "RequestId", &failure->request_id },
                   { "HostId", &failure->host_id } };
    if (!bytes_equal_text(parent, "Error"))
        return;
    failure->is_error = true;
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (bytes_equal_text(name, fields[i].name))
            *fields[i].value = text;
}

static bool is_printable(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < ' ' || text.data[i] == 0x7F)
            return false;
    return text.len > 0;
}

/* Reads an <Error>; without one, whatever the status says. False if the answer is a success. */
static bool read_failure(struct arena *arena, const struct s3_request *request,
                         const struct outbound_answer *answer, struct failure *out)
{
    const struct s3_xml_visitor visitor = { out, take_leaf, NULL };
    const bool is_success = answer->status >= 200 && answer->status < 300;
    *out = (struct failure){ 0 };
    if (is_success && !request->answers_xml)
        return false;
    /* Some servers send spaces to keep a connection alive, and then the document. */
    bool is_whole = s3_xml_read(arena, buffer_bytes(&answer->body), &visitor);
    if (is_success && is_whole && !out->is_error)
        return false;
    if (!is_printable(out->code))
        out->code = is_success ? BYTES("InternalError") : BYTES("");
    if (!is_printable(out->message))
        out->message = BYTES("The server gave no reason");
    if (!is_printable(out->request_id))
        out->request_id = BYTES("null");
    if (!is_printable(out->host_id))
        out->host_id = BYTES("null");
    return true;
}

static bool is_one_of(struct bytes code, const char *const *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes_equal_text(code, codes[i]))
            return true;
    return false;
}

static bool is_temporary(int status, struct bytes code)
{
    static const char *const codes[] = { "SlowDown",       "InternalError",    "ServiceUnavailable",
                                         "RequestTimeout", "OperationAborted", "Busy" };
    return status == 500 || status == 502 || status == 503 || status == 504 || status == 429 ||
           status == 408 || is_one_of(code, codes, COUNT_OF(codes));
}

static enum object_status status_of(int status, struct bytes code, bool has_key)
{
    static const char *const full[] = { "QuotaExceeded", "InsufficientStorage", "XMinioStorageFull",
                                        "EntityTooLarge" };
    if (bytes_equal_text(code, "NoSuchBucket"))
        return OBJECT_NO_BUCKET;
    if (bytes_equal_text(code, "KMS.NotFoundException"))
        return OBJECT_NO_KMS_KEY;
    if (status == 507 || is_one_of(code, full, COUNT_OF(full)))
        return OBJECT_FULL;
    if (status == 401 || status == 403)
        return OBJECT_DENIED;
    if (status == 404 && has_key)
        return OBJECT_NO_KEY;
    if (status == 404)
        return OBJECT_NO_BUCKET;
    if (status == 412)
        return OBJECT_CHANGED;
    if (bytes_equal_text(code, "KeyTooLongError") || bytes_equal_text(code, "InvalidObjectName"))
        return OBJECT_BAD_KEY;
    return is_temporary(status, code) ? OBJECT_UNREACHABLE : OBJECT_FAILED;
}

static bool fail(const struct s3_request *request, const struct outbound_answer *answer,
                 const struct failure *failure, struct object_error *err)
{
    return object_error_set(
        err, status_of(answer->status, failure->code, request->key.data != NULL),
        "%.*s (Service: Amazon S3; Status Code: %d; Error Code: %.*s; Request ID: %.*s; S3 "
        "Extended Request ID: %.*s; Proxy: null)",
        (int)utf8_prefix(failure->message, 512), (const char *)failure->message.data,
        answer->status, BYTES_FMT(failure->code), BYTES_FMT(failure->request_id),
        BYTES_FMT(failure->host_id));
}

/* --- Until it succeeds, or there is no point in another try --- */

enum verdict { ACCEPTED, REFUSED, REPEAT };

static enum verdict judge(struct arena *arena, const struct s3_request *request,
                          enum outbound_result result, const struct outbound_answer *http,
                          struct s3_answer *answer, struct object_error *err)
{
    struct failure failure;
    answer->code[0] = '\0';
    answer->status = 0;
    if (result == OUTBOUND_CANCELLED) {
        object_error_set(err, OBJECT_CANCELLED, "the work was cancelled");
        return REFUSED;
    }
    if (result != OUTBOUND_OK) {
        object_error_set(err, OBJECT_UNREACHABLE, "The S3 server cannot be reached: %.*s",
                         BYTES_FMT(http->problem));
        if (result == OUTBOUND_UNUSABLE || result == OUTBOUND_TOO_LARGE)
            err->status = OBJECT_FAILED;
        return err->status == OBJECT_FAILED ? REFUSED : REPEAT;
    }
    answer->status = http->status;
    answer->body = buffer_bytes(&http->body);
    answer->http = http;
    if (read_failure(arena, request, http, &failure)) {
        snprintf(answer->code, sizeof answer->code, "%.*s", BYTES_FMT(failure.code));
        fail(request, http, &failure, err);
        return is_temporary(http->status, failure.code) ? REPEAT : REFUSED;
    }
    if (request->accepts != NULL && !request->accepts(request, answer)) {
        object_error_set(err, OBJECT_FAILED,
                         "The S3 server stored something other than what was sent");
        return REPEAT;
    }
    return ACCEPTED;
}

bool s3_send(struct s3_session *session, const struct s3_request *request, struct s3_answer *answer,
             struct object_error *err)
{
    const int64_t until_ms =
        clock_monotonic_ns() / 1000000 + session->bucket->store->options.retry_ms;
    uint8_t digest[SHA256_SIZE];
    char hash[SHA256_HEX_SIZE];
    int64_t wait_ms = S3_PAUSE_FIRST_MS;
    sha256_digest(session->hasher, request->body, digest);
    sha256_hex(digest, hash);
    *answer = (struct s3_answer){ 0 };
    for (;;) {
        arena_reset(session->arena);
        struct outbound_answer *http = arena_alloc_zeroed(session->arena, sizeof *http);
        answer->tries++;
        enum outbound_result result =
            send_once(session, request, bytes_of(hash, sizeof hash), http);
        enum verdict verdict = judge(session->arena, request, result, http, answer, err);
        if (verdict != REPEAT)
            return verdict == ACCEPTED;
        int64_t jittered_ms =
            wait_ms / 2 + (int64_t)random_below(&session->random, (uint64_t)wait_ms / 2 + 1);
        if (clock_monotonic_ns() / 1000000 + jittered_ms > until_ms)
            return false;
        if (!pause_ms(session, jittered_ms))
            return object_error_set(err, OBJECT_CANCELLED, "the work was cancelled");
        wait_ms = wait_ms * 2 < S3_PAUSE_MAX_MS ? wait_ms * 2 : S3_PAUSE_MAX_MS;
    }
}

struct bytes s3_answer_header(const struct s3_answer *answer, const char *name)
{
    return outbound_answer_header(answer->http, name);
}
