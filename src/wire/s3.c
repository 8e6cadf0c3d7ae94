/* s3.c -- see s3.h. The operation's JSON is made of the request's line and body on the thread that
 * runs the call, so each request has an envelope of its own. */
#include "wire/s3.h"
#include <string.h>
#include <time.h>
#include "api/api.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/md5.h"
#include "call/call_runner.h"
#include "codec/form.h"
#include "codec/iso_time.h"
#include "codec/xml.h"
#include "http/server.h"
#include "json/base64.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"
#include "wire/answer.h"
#include "wire/exception.h"
#include "wire/service.h"

#define NAMESPACE "http://s3.amazonaws.com/doc/2006-03-01/"
enum { HEADERS_MAX = 8, ANSWER_DEPTH_MAX = 8, COUNT_DIGITS_MAX = 6, OTHERS_MAX = 8 };

/* What a request about an object is about, by the parameters of its target. */
enum s3_form { OF_OBJECT, BEGINS_UPLOAD, OF_PART, OF_UPLOAD };

struct s3_call {
    struct call_envelope envelope;
    const struct router *router;
    const struct http_exchange *exchange;
    const struct operation *operation;
    enum s3_form form;
    bool is_head;
    struct bytes bucket, key; /* Without escapes. */
    struct bytes query;       /* As sent, without the question mark. */
    const char *code;         /* More exact than that of the error; NULL: it has none. */
};

/* --- Requests --- */

static int hex_value(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static struct bytes unescape(struct arena *arena, struct bytes text, bool plus_is_space)
{
    uint8_t *out = arena_alloc(arena, text.len + 1);
    size_t size = 0;
    for (size_t i = 0; i < text.len; i++) {
        int high = i + 2 < text.len ? hex_value(text.data[i + 1]) : -1;
        int low = i + 2 < text.len ? hex_value(text.data[i + 2]) : -1;
        if (text.data[i] == '%' && high >= 0 && low >= 0) {
            out[size++] = (uint8_t)(high << 4 | low);
            i += 2;
        } else {
            out[size++] = plus_is_space && text.data[i] == '+' ? ' ' : text.data[i];
        }
    }
    return bytes_of(out, size);
}

static struct bytes take_until(struct bytes *rest, uint8_t mark)
{
    const uint8_t *end = rest->len == 0 ? NULL : memchr(rest->data, mark, rest->len);
    size_t size = end == NULL ? rest->len : (size_t)(end - rest->data);
    size_t taken = end == NULL ? size : size + 1;
    struct bytes part = bytes_of(rest->data, size);
    *rest = bytes_of(rest->data + taken, rest->len - taken);
    return part;
}

/* "/bucket/key?query" */
static void read_target(struct s3_call *call, struct arena *arena, struct bytes target)
{
    struct bytes rest = target;
    struct bytes path = take_until(&rest, '?');
    call->query = rest;
    take_until(&path, '/');
    call->bucket = unescape(arena, take_until(&path, '/'), false);
    call->key = unescape(arena, path, false);
}

static bool has_parameter(struct bytes query, const char *name)
{
    while (query.len > 0) {
        struct bytes value = take_until(&query, '&');
        if (bytes_equal_text(take_until(&value, '='), name))
            return true;
    }
    return false;
}

/* What is understood. A request with a parameter that its rule does not have is about something
 * else than the file's content, such as its tags, so no rule is for it. */
static const struct s3_rule {
    const char *method; /* GET is HEAD, too. */
    bool is_object;
    const char *mark; /* A parameter that must be there; NULL: none. */
    const char *others[OTHERS_MAX];
    const char *action;
    enum s3_form form;
} rules[] = {
    { "GET", true, NULL, { "x-id" }, "GetObject", OF_OBJECT },
    { "PUT", true, NULL, { "x-id" }, "PutObject", OF_OBJECT },
    { "PUT", true, "partNumber", { "uploadId", "x-id" }, "PutObject", OF_PART },
    { "POST", true, "uploads", { "x-id" }, "PutObject", BEGINS_UPLOAD },
    { "POST", true, "uploadId", { "x-id" }, "PutObject", OF_UPLOAD },
    { "DELETE", true, NULL, { "x-id" }, "DeleteObject", OF_OBJECT },
    { "DELETE", true, "uploadId", { "x-id" }, "AbortMultipartUpload", OF_UPLOAD },
    { "PUT", false, NULL, { "x-id" }, "CreateBucket", OF_OBJECT },
    { "GET", false, NULL, { "x-id" }, "ListBucket", OF_OBJECT },
    { "GET", false, "location", { "x-id" }, "GetBucketLocation", OF_OBJECT },
    { "GET", false, "encryption", { "x-id" }, "GetEncryptionConfiguration", OF_OBJECT },
    { "GET",
      false,
      "list-type",
      { "prefix", "continuation-token", "max-keys", "encoding-type", "delimiter", "fetch-owner",
        "x-id" },
      "ListBucket",
      OF_OBJECT },
};

static bool knows_parameter(const struct s3_rule *rule, struct bytes name)
{
    if (name.len == 0 || (rule->mark != NULL && bytes_equal_text(name, rule->mark)))
        return true;
    for (size_t i = 0; i < OTHERS_MAX && rule->others[i] != NULL; i++)
        if (bytes_equal_text(name, rule->others[i]))
            return true;
    return false;
}

static bool is_rule_for(const struct s3_rule *rule, const struct s3_call *call, struct bytes method)
{
    struct bytes query = call->query;
    if (!bytes_equal_text(call->is_head ? BYTES("GET") : method, rule->method) ||
        rule->is_object != (call->key.len > 0) ||
        (rule->mark != NULL && !has_parameter(query, rule->mark)))
        return false;
    while (query.len > 0) {
        struct bytes value = take_until(&query, '&');
        if (!knows_parameter(rule, take_until(&value, '=')))
            return false;
    }
    return true;
}

/* Headers that make another request of it: a copy, or one with a condition. Readers of large files
 * send If-Match with each range, so that is understood; see fill_success. */
static bool has_unknown_header(const struct s3_call *call, bool is_read)
{
    static const char *const names[] = { "x-amz-copy-source", "If-None-Match",
                                         "If-Unmodified-Since" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (http_exchange_header(call->exchange, names[i]).data != NULL)
            return true;
    return !is_read && http_exchange_header(call->exchange, "If-Match").data != NULL;
}

/* Sets the form, and returns the action. NULL: the request is not one of ours. */
static const char *action_of(struct s3_call *call, struct bytes method)
{
    if (call->bucket.len == 0)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (!is_rule_for(&rules[i], call, method))
            continue;
        call->form = rules[i].form;
        return has_unknown_header(call, strcmp(rules[i].method, "GET") == 0) ? NULL
                                                                             : rules[i].action;
    }
    return NULL;
}

static void write_parameter(struct json_writer *json, struct arena *arena, struct bytes query,
                            const char *parameter, const char *member)
{
    struct bytes value = form_find(query, parameter);
    if (value.data == NULL)
        return;
    json_write_name(json, member);
    json_write_string(json, unescape(arena, value, true));
}

/* Digits only: a number in JSON. One that is none becomes 0. */
static void write_count(struct json_writer *json, struct bytes query, const char *parameter,
                        const char *member)
{
    struct bytes value = form_find(query, parameter);
    int64_t count = 0;
    bool is_number = value.len <= COUNT_DIGITS_MAX;
    for (size_t i = 0; is_number && i < value.len; i++) {
        is_number = value.data[i] >= '0' && value.data[i] <= '9';
        count = count * 10 + value.data[i] - '0';
    }
    if (!has_parameter(query, parameter))
        return;
    json_write_name(json, member);
    json_write_integer(json, is_number ? count : 0);
}

static void write_upload(struct json_writer *json, struct arena *arena, const struct s3_call *call)
{
    struct bytes range = http_exchange_header(call->exchange, "Range");
    write_parameter(json, arena, call->query, "uploadId", "UploadId");
    if (call->form == BEGINS_UPLOAD) {
        json_write_name(json, "BeginsUpload");
        json_write_bool(json, true);
    }
    if (call->form == OF_PART && form_find(call->query, "uploadId").data == NULL) {
        json_write_name(json, "UploadId");
        json_write_string(json, BYTES(""));
    }
    if (call->form == OF_PART)
        write_count(json, call->query, "partNumber", "PartNumber");
    if (range.data != NULL) {
        json_write_name(json, "Range");
        json_write_string(json, range);
    }
}

/* The header Content-MD5, of the bytes as they were sent. */
static bool check_digest(struct s3_call *call, struct error *err)
{
    struct bytes claimed = http_exchange_header(call->exchange, "Content-MD5");
    uint8_t digest[MD5_DIGEST_SIZE], sent[2 * MD5_DIGEST_SIZE];
    struct md5 md5;
    size_t size = 0;
    if (claimed.data == NULL)
        return true;
    if (claimed.len != base64_encoded_size(MD5_DIGEST_SIZE) ||
        !base64_decode(claimed, sent, &size) || size != MD5_DIGEST_SIZE) {
        call->code = "InvalidDigest";
        return error_set(err, ERROR_S3_INVALID_ARGUMENT,
                         "The Content-MD5 you specified was invalid.");
    }
    md5_init(&md5);
    md5_add(&md5, http_exchange_body(call->exchange));
    md5_finish(&md5, digest);
    if (memcmp(digest, sent, MD5_DIGEST_SIZE) == 0)
        return true;
    call->code = "BadDigest";
    return error_set(err, ERROR_S3_INVALID_ARGUMENT,
                     "The Content-MD5 you specified did not match what we received.");
}

static bool decode(void *context, const struct operation *operation, struct arena *arena,
                   struct bytes body, struct bytes *json_out, struct error *err)
{
    struct s3_call *call = context;
    struct bytes type = http_exchange_header(call->exchange, "Content-Type");
    struct buffer text;
    struct json_writer json;
    if (!check_digest(call, err))
        return false;
    buffer_init(&text, arena);
    json_writer_init(&json, &text);
    json_open_object(&json);
    json_write_name(&json, "Bucket");
    json_write_string(&json, call->bucket);
    if (call->key.len > 0) {
        json_write_name(&json, "Key");
        json_write_string(&json, call->key);
    }
    if (bytes_equal_text(bytes_from_text(operation_name(operation)), "PutObject")) {
        json_write_name(&json, "Body");
        json_write_base64(&json, body);
        if (type.data != NULL) {
            json_write_name(&json, "ContentType");
            json_write_string(&json, type);
        }
    }
    if (call->is_head && call->key.len > 0) {
        json_write_name(&json, "WithoutBody");
        json_write_bool(&json, true);
    }
    write_parameter(&json, arena, call->query, "prefix", "Prefix");
    write_parameter(&json, arena, call->query, "delimiter", "Delimiter");
    write_parameter(&json, arena, call->query, "continuation-token", "ContinuationToken");
    write_count(&json, call->query, "max-keys", "MaxKeys");
    write_upload(&json, arena, call);
    json_close_object(&json);
    *json_out = buffer_bytes(&text);
    return true;
}

/* --- Answers --- */

struct s3_object {
    struct bytes etag, media_type, token, location, upload_id, range;
    int64_t modified_ms, size, count;
};

static void read_integer(struct json_reader *reader, int64_t *out)
{
    struct bytes digits;
    int64_t value = 0;
    if (!json_read_number(reader, &digits))
        return;
    for (size_t i = 0; i < digits.len && digits.data[i] >= '0' && digits.data[i] <= '9'; i++)
        value = value * 10 + digits.data[i] - '0';
    *out = value;
}

static void append_time(struct buffer *out, int64_t time_ms)
{
    char text[ISO_TIME_TEXT_SIZE];
    iso_time_format(time_ms, text);
    xml_append_element(out, "LastModified", bytes_from_text(text));
}

/* The members of a list's element, as XML. */
static void append_contents(struct json_reader *reader, struct buffer *out)
{
    struct bytes name, text;
    int64_t modified_ms = 0;
    while (json_next_element(reader)) {
        buffer_append_bytes(out, BYTES("<Contents>"));
        json_enter_object(reader);
        while (json_next_member(reader, &name)) {
            if (bytes_equal_text(name, "Key") && json_read_string(reader, &text))
                xml_append_element(out, "Key", text);
            else if (bytes_equal_text(name, "Size") && json_read_number(reader, &text))
                xml_append_element(out, "Size", text);
            else if (bytes_equal_text(name, "LastModified"))
                read_integer(reader, &modified_ms);
            else
                json_skip(reader);
        }
        append_time(out, modified_ms);
        buffer_append_bytes(out, BYTES("<StorageClass>STANDARD</StorageClass></Contents>"));
    }
}

static void append_groups(struct json_reader *reader, struct buffer *out)
{
    struct bytes text;
    while (json_next_element(reader) && json_read_string(reader, &text)) {
        buffer_append_bytes(out, BYTES("<CommonPrefixes>"));
        xml_append_element(out, "Prefix", text);
        buffer_append_bytes(out, BYTES("</CommonPrefixes>"));
    }
}

static bool read_answer(struct arena *arena, struct bytes text, struct buffer *contents,
                        struct s3_object *out)
{
    struct json_reader reader;
    struct bytes name;
    json_reader_init(&reader, arena, text, ANSWER_DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        struct bytes *member = bytes_equal_text(name, "ETag")                    ? &out->etag
                               : bytes_equal_text(name, "ContentType")           ? &out->media_type
                               : bytes_equal_text(name, "NextContinuationToken") ? &out->token
                               : bytes_equal_text(name, "LocationConstraint")    ? &out->location
                               : bytes_equal_text(name, "UploadId")              ? &out->upload_id
                               : bytes_equal_text(name, "ContentRange")          ? &out->range
                                                                                 : NULL;
        if (member != NULL) {
            if (!json_read_string(&reader, member))
                return false;
        } else if (bytes_equal_text(name, "LastModified")) {
            read_integer(&reader, &out->modified_ms);
        } else if (bytes_equal_text(name, "Size")) {
            read_integer(&reader, &out->size);
        } else if (bytes_equal_text(name, "KeyCount")) {
            read_integer(&reader, &out->count);
        } else if (bytes_equal_text(name, "Contents")) {
            json_enter_array(&reader);
            append_contents(&reader, contents);
        } else if (bytes_equal_text(name, "CommonPrefixes")) {
            json_enter_array(&reader);
            append_groups(&reader, contents);
        } else {
            json_skip(&reader);
        }
    }
    return json_finish(&reader);
}

static void append_list(struct arena *arena, struct buffer *out, const struct s3_call *call,
                        struct bytes contents, const struct s3_object *answer)
{
    buffer_append_bytes(out, BYTES("<ListBucketResult xmlns=\"" NAMESPACE "\">"));
    xml_append_element(out, "Name", call->bucket);
    xml_append_element(out, "KeyCount", arena_printf(arena, "%lld", (long long)answer->count));
    xml_append_element(out, "IsTruncated",
                       answer->token.data != NULL ? BYTES("true") : BYTES("false"));
    buffer_append_bytes(out, contents);
    if (answer->token.data != NULL)
        xml_append_element(out, "NextContinuationToken", answer->token);
    buffer_append_bytes(out, BYTES("</ListBucketResult>"));
}

static void add_header(struct http_answer *answer, struct http_header *headers, struct bytes name,
                       struct bytes value)
{
    if (value.data != NULL)
        headers[answer->header_count++] = (struct http_header){ name, value };
}

/* "Mon, 16 Nov 2026 17:47:19 GMT" */
static struct bytes http_time(struct arena *arena, int64_t time_ms)
{
    char text[64];
    time_t second = (time_t)(time_ms / 1000);
    struct tm parts;
    gmtime_r(&second, &parts);
    size_t size = strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return arena_copy(arena, bytes_of(text, size));
}

static void append_upload(struct buffer *out, const struct s3_call *call,
                          const struct s3_object *answer)
{
    bool begins = call->form == BEGINS_UPLOAD;
    const char *name = begins ? "InitiateMultipartUploadResult" : "CompleteMultipartUploadResult";
    buffer_append_bytes(out, BYTES("<"));
    buffer_append_bytes(out, bytes_from_text(name));
    buffer_append_bytes(out, BYTES(" xmlns=\"" NAMESPACE "\">"));
    xml_append_element(out, "Bucket", call->bucket);
    xml_append_element(out, "Key", call->key);
    if (begins)
        xml_append_element(out, "UploadId", answer->upload_id);
    else
        xml_append_element(out, "ETag", answer->etag);
    buffer_append_bytes(out, BYTES("</"));
    buffer_append_bytes(out, bytes_from_text(name));
    buffer_append_bytes(out, BYTES(">"));
}

static void fill_error(struct arena *arena, struct exception_code code, struct bytes message,
                       struct bytes request_id, struct http_answer *out,
                       struct http_header *headers)
{
    struct buffer body;
    buffer_init(&body, arena);
    buffer_append_bytes(&body, BYTES("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>"));
    xml_append_element(&body, "Code", bytes_from_text(code.code));
    xml_append_element(&body, "Message", message);
    xml_append_element(&body, "RequestId", request_id);
    buffer_append_bytes(&body, BYTES("</Error>"));
    out->status = code.status;
    out->body = buffer_bytes(&body);
    add_header(out, headers, BYTES("Content-Type"), BYTES("application/xml"));
}

/* Whether the header If-Match, if there is one, has this tag; with quotes or without. */
static bool is_wanted(const struct s3_call *call, struct bytes etag)
{
    struct bytes wanted = http_exchange_header(call->exchange, "If-Match");
    return wanted.data == NULL || bytes_equal_text(wanted, "*") || bytes_equal(wanted, etag) ||
           (etag.len > 2 && bytes_equal(wanted, bytes_of(etag.data + 1, etag.len - 2)));
}

static void fill_success(const struct s3_call *call, const struct call_ending *ending,
                         struct bytes request_id, struct http_answer *out,
                         struct http_header *headers)
{
    struct bytes action = bytes_from_text(operation_name(ending->operation));
    struct s3_object answer = { 0 };
    struct buffer contents, body;
    struct bytes type = BYTES("application/xml");
    buffer_init(&contents, ending->arena);
    buffer_init(&body, ending->arena);
    struct bytes rest = ending->response; /* A file's bytes are behind the line of JSON. */
    if (!read_answer(ending->arena, take_until(&rest, '\n'), &contents, &answer))
        out->status = 500;
    if (bytes_equal_text(action, "ListBucket") && !call->is_head) {
        append_list(ending->arena, &body, call, buffer_bytes(&contents), &answer);
    } else if (bytes_equal_text(action, "GetBucketLocation")) {
        buffer_append_bytes(&body, BYTES("<LocationConstraint xmlns=\"" NAMESPACE "\">"));
        xml_append_text(&body, answer.location);
        buffer_append_bytes(&body, BYTES("</LocationConstraint>"));
    } else if (bytes_equal_text(action, "PutObject") &&
               (call->form == BEGINS_UPLOAD || call->form == OF_UPLOAD)) {
        append_upload(&body, call, &answer);
    } else if (bytes_equal_text(action, "DeleteObject") ||
               bytes_equal_text(action, "AbortMultipartUpload")) {
        out->status = 204;
    }
    out->body = buffer_bytes(&body);
    if (bytes_equal_text(action, "GetObject") && !is_wanted(call, answer.etag)) {
        fill_error(ending->arena, (struct exception_code){ "PreconditionFailed", 412 },
                   BYTES("At least one of the pre-conditions you specified did not hold"),
                   request_id, out, headers);
        return;
    }
    if (bytes_equal_text(action, "GetObject")) {
        out->body = rest;
        out->unsent_size = call->is_head ? (size_t)answer.size : 0;
        if (answer.range.data != NULL)
            out->status = 206;
        type = answer.media_type.data != NULL ? answer.media_type : BYTES("binary/octet-stream");
        add_header(out, headers, BYTES("Last-Modified"),
                   http_time(ending->arena, answer.modified_ms));
        add_header(out, headers, BYTES("Content-Range"), answer.range);
    }
    add_header(out, headers, BYTES("Content-Type"), type);
    add_header(out, headers, BYTES("ETag"), answer.etag);
}

static void fill(const struct s3_call *call, struct random *random,
                 const struct call_ending *ending, const struct error *err, struct http_answer *out)
{
    struct answer_context context;
    struct arena *arena = http_exchange_arena(call->exchange);
    struct http_header *headers = arena_alloc(arena, HEADERS_MAX * sizeof *headers);
    answer_context_init(&context, call->router, random, call->exchange, false);
    struct bytes request_id = answer_request_id(&context);
    out->status = 200;
    out->headers = headers;
    out->header_count = 0;
    add_header(out, headers, BYTES("Server"), BYTES("stator"));
    add_header(out, headers, BYTES("x-amz-request-id"), request_id);
    if (err == NULL) {
        fill_success(call, ending, request_id, out, headers);
        return;
    }
    struct exception_code code = exception_query_code(service_of(OPERATION_OF_S3), err);
    if (call->code != NULL)
        code.code = call->code;
    fill_error(arena, code, err->message, request_id, out, headers);
}

static void fill_answer(void *context, const struct call_ending *ending, struct http_answer *out)
{
    fill(context, ending->random, ending, error_is_set(ending->error) ? ending->error : NULL, out);
}

/* --- Which requests --- */

/* The service in "Credential=KEY/DATE/REGION/SERVICE/aws4_request". */
static bool is_signed_for_s3(const struct http_exchange *exchange)
{
    static const char mark[] = "Credential=";
    struct bytes header = http_exchange_header(exchange, "Authorization");
    const uint8_t *found =
        header.data == NULL ? NULL : memmem(header.data, header.len, mark, sizeof mark - 1);
    if (found == NULL)
        return false;
    found += sizeof mark - 1;
    struct bytes rest = bytes_of(found, (size_t)(header.data + header.len - found));
    for (int i = 0; i < 3; i++)
        take_until(&rest, '/');
    return bytes_equal_text(take_until(&rest, '/'), "s3");
}

bool s3_handle(const struct router *router, struct call_worker *worker,
               struct http_exchange *exchange)
{
    if (!is_signed_for_s3(exchange))
        return false;
    struct arena *arena = http_exchange_arena(exchange);
    struct bytes method = http_exchange_method(exchange);
    struct s3_call *call = arena_alloc_zeroed(arena, sizeof *call);
    call->router = router;
    call->exchange = exchange;
    call->is_head = bytes_equal_text(method, "HEAD");
    read_target(call, arena, http_exchange_target(exchange));
    call->envelope = (struct call_envelope){ .service = "s3",
                                             .context = call,
                                             .encodes = true,
                                             .decode = decode,
                                             .fill_answer = fill_answer };
    const char *action = action_of(call, method);
    if (action != NULL) {
        call->operation = operation_find(OPERATION_OF_S3, bytes_from_text(action));
        call_runner_run(worker, exchange, call->operation, &call->envelope);
        return true;
    }
    struct error err;
    struct http_answer answer = { 0 };
    error_init(&err, arena);
    error_set(&err, ERROR_S3_NOT_IMPLEMENTED,
              "stator keeps files for deployments, and has no other operations of S3");
    fill(call, call_worker_random(worker), NULL, &err, &answer);
    http_exchange_answer(exchange, &answer);
    return true;
}
