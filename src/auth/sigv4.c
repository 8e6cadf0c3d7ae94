/* sigv4.c -- see sigv4.h. The steps are those of AWS's description of Signature Version 4. */
#include "auth/sigv4.h"
#include <assert.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "crypto/sha256.h"
#include "http/grammar.h"
#include "model/error.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define TERMINATOR "aws4_request"
enum { TIME_TEXT_SIZE = sizeof "20150830T123600Z" - 1, DATE_TEXT_SIZE = sizeof "20150830" - 1 };

static_assert((int)SIGV4_KEY_SIZE == (int)SHA256_SIZE, "a signing key is an HMAC");

/* --- Headers --- */

static struct bytes find_header(const struct sigv4_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (http_header_equal(request->headers[i].name, bytes_from_text(name)))
            return request->headers[i].value;
    return (struct bytes){ 0 };
}

static size_t count_headers(const struct sigv4_request *request, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < request->header_count; i++)
        count += http_header_equal(request->headers[i].name, bytes_from_text(name));
    return count;
}

static bool is_signed(const struct sigv4_claim *claim, struct bytes name)
{
    struct bytes rest = claim->signed_headers;
    while (rest.len > 0)
        if (http_header_equal(http_header_next_part(&rest, ';'), name))
            return true;
    return false;
}

/* --- Time --- */

/* False if the text is no "20150830T123600Z". */
static bool parse_time(struct bytes text, int64_t *out_ms)
{
    static const char form[] = "ddddddddTddddddZ";
    if (text.len != TIME_TEXT_SIZE)
        return false;
    int digits[TIME_TEXT_SIZE] = { 0 };
    for (size_t i = 0; i < TIME_TEXT_SIZE; i++) {
        bool is_digit = text.data[i] >= '0' && text.data[i] <= '9';
        if (form[i] == 'd' ? !is_digit : text.data[i] != (uint8_t)form[i])
            return false;
        digits[i] = text.data[i] - '0';
    }
    struct tm parts = {
        .tm_year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3] - 1900,
        .tm_mon = digits[4] * 10 + digits[5] - 1,
        .tm_mday = digits[6] * 10 + digits[7],
        .tm_hour = digits[9] * 10 + digits[10],
        .tm_min = digits[11] * 10 + digits[12],
        .tm_sec = digits[13] * 10 + digits[14],
    };
    struct tm normal = parts; /* Normalising changes a day or minute that does not exist. */
    *out_ms = (int64_t)timegm(&normal) * 1000;
    return normal.tm_mon == parts.tm_mon && normal.tm_mday == parts.tm_mday &&
           normal.tm_hour == parts.tm_hour && normal.tm_min == parts.tm_min &&
           normal.tm_sec == parts.tm_sec;
}

struct bytes sigv4_format_time(struct arena *arena, int64_t time_ms)
{
    struct tm parts = clock_utc(clock_second_of_ms(time_ms));
    char text[TIME_TEXT_SIZE + 1] = "";
    size_t size = strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
    return arena_copy(arena, bytes_of(text, size));
}

static bool check_clock(struct arena *arena, struct bytes time, int64_t now_ms, struct error *err)
{
    int64_t time_ms;
    if (!parse_time(time, &time_ms))
        return error_set(err, ERROR_INCOMPLETE_SIGNATURE,
                         "Date must be in ISO-8601 'basic format'. Got '%.*s'. See "
                         "http://en.wikipedia.org/wiki/ISO_8601",
                         BYTES_FMT(time));
    struct bytes now;
    struct bytes bound;
    if (time_ms < now_ms - SIGV4_CLOCK_SKEW_MAX_MS) {
        now = sigv4_format_time(arena, now_ms);
        bound = sigv4_format_time(arena, now_ms - SIGV4_CLOCK_SKEW_MAX_MS);
        return error_set(err, ERROR_INVALID_SIGNATURE,
                         "Signature expired: %.*s is now earlier than %.*s (%.*s - 15 min.)",
                         BYTES_FMT(time), BYTES_FMT(bound), BYTES_FMT(now));
    }
    if (time_ms > now_ms + SIGV4_CLOCK_SKEW_MAX_MS) {
        now = sigv4_format_time(arena, now_ms);
        bound = sigv4_format_time(arena, now_ms + SIGV4_CLOCK_SKEW_MAX_MS);
        return error_set(
            err, ERROR_INVALID_SIGNATURE,
            "Signature not yet current: %.*s is still later than %.*s (%.*s + 15 min.)",
            BYTES_FMT(time), BYTES_FMT(bound), BYTES_FMT(now));
    }
    return true;
}

/* --- The claim --- */

/* Splits "Credential=..., SignedHeaders=..., Signature=...". A repeated parameter is refused as
 * ambiguous. */
static bool read_parameters(struct bytes header, struct bytes *credential, struct sigv4_claim *out,
                            struct error *err)
{
    const struct {
        const char *name;
        struct bytes *value;
    } parameters[] = { { "Credential", credential },
                       { "SignedHeaders", &out->signed_headers },
                       { "Signature", &out->signature } };
    struct bytes rest = header;
    http_header_next_part(&rest, ' '); /* The algorithm. */
    while (rest.len > 0) {
        struct bytes part = http_header_next_part(&rest, ',');
        struct bytes value = part;
        struct bytes name = http_header_next_part(&value, '=');
        if (part.len > 0 && name.len == part.len)
            return error_set(err, ERROR_INCOMPLETE_SIGNATURE,
                             "'%.*s' not a valid key=value pair (missing equal-sign) in "
                             "Authorization header: '%.*s'.",
                             BYTES_FMT(part), BYTES_FMT(header));
        for (size_t i = 0; i < COUNT_OF(parameters); i++) {
            if (!bytes_equal_text(name, parameters[i].name))
                continue;
            if (parameters[i].value->data != NULL)
                return error_set(err, ERROR_INCOMPLETE_SIGNATURE,
                                 "Authorization header has the '%s' parameter twice: '%.*s'.",
                                 parameters[i].name, BYTES_FMT(header));
            *parameters[i].value = value;
        }
    }
    return true;
}

/* Like the service, lists all missing parts in one message. */
static bool check_complete(struct arena *arena, struct bytes header, struct bytes credential,
                           const struct sigv4_claim *claim, struct error *err)
{
    const struct {
        bool missing;
        const char *text;
    } parts[] = {
        { credential.len == 0, "Authorization header requires 'Credential' parameter. " },
        { claim->signature.len == 0, "Authorization header requires 'Signature' parameter. " },
        { claim->signed_headers.len == 0,
          "Authorization header requires 'SignedHeaders' parameter. " },
        { claim->time.data == NULL, "Authorization header requires existence of either a "
                                    "'X-Amz-Date' or a 'Date' header. " },
    };
    struct buffer message;
    buffer_init(&message, arena);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i].missing)
            buffer_append_bytes(&message, bytes_from_text(parts[i].text));
    if (message.len == 0)
        return true;
    buffer_append_bytes(&message, BYTES("Authorization="));
    buffer_append_bytes(&message, header);
    return error_set_bytes(err, ERROR_INCOMPLETE_SIGNATURE, buffer_bytes(&message));
}

static bool read_credential(struct bytes credential, struct sigv4_claim *out,
                            struct bytes *terminator, struct error *err)
{
    struct bytes rest = credential;
    out->access_key = http_header_next_part(&rest, '/');
    out->date = http_header_next_part(&rest, '/');
    out->region = http_header_next_part(&rest, '/');
    out->service = http_header_next_part(&rest, '/');
    *terminator = rest;
    size_t slashes = 0;
    for (size_t i = 0; i < credential.len; i++)
        slashes += credential.data[i] == '/';
    if (slashes != 4 || out->access_key.len == 0)
        return error_set(err, ERROR_INCOMPLETE_SIGNATURE,
                         "Credential must have exactly 5 slash-delimited elements, e.g. "
                         "keyid/date/region/service/term, got '%.*s'",
                         BYTES_FMT(credential));
    return true;
}

/* Lists all problems of the scope in one message, like check_complete. */
static bool check_scope(struct arena *arena, const struct sigv4_claim *claim,
                        struct bytes terminator, const struct sigv4_scope *scope, struct error *err)
{
    struct buffer message;
    buffer_init(&message, arena);
    if (!bytes_equal(claim->region, scope->region))
        buffer_append_bytes(
            &message,
            arena_printf(arena, "Credential should be scoped to a valid region, not '%.*s'. ",
                         BYTES_FMT(claim->region)));
    if (!bytes_equal(claim->service, scope->service))
        buffer_append_bytes(&message,
                            arena_printf(arena,
                                         "Credential should be scoped to correct service: '%.*s'. ",
                                         BYTES_FMT(scope->service)));
    if (!bytes_equal_text(terminator, TERMINATOR))
        buffer_append_bytes(&message,
                            arena_printf(arena,
                                         "Credential should be scoped with a valid terminator: "
                                         "'" TERMINATOR "', not '%.*s'. ",
                                         BYTES_FMT(terminator)));
    if (!bytes_starts_with(claim->time, claim->date) || claim->date.len != DATE_TEXT_SIZE)
        buffer_append_bytes(
            &message,
            arena_printf(arena,
                         "Date in Credential scope does not match YYYYMMDD from ISO-8601 version "
                         "of date from HTTP: '%.*s' != '%.*s', from '%.*s'.",
                         BYTES_FMT(claim->date), DATE_TEXT_SIZE, (const char *)claim->time.data,
                         BYTES_FMT(claim->time)));
    return message.len == 0 ||
           error_set_bytes(err, ERROR_INVALID_SIGNATURE, buffer_bytes(&message));
}

/* In addition to the host, which must always be signed. */
static bool must_be_signed(struct bytes name)
{
    static const char prefix[] = "x-amz-";
    if (http_header_equal(name, BYTES("x-amz-content-sha256")))
        return false; /* It must equal the body's hash, which is always signed. */
    return name.len > sizeof prefix - 1 &&
           strncasecmp((const char *)name.data, prefix, sizeof prefix - 1) == 0;
}

static bool check_signed_headers(const struct sigv4_request *request,
                                 const struct sigv4_claim *claim, struct error *err)
{
    struct bytes rest = claim->signed_headers;
    size_t count = 0;
    while (rest.len > 0) {
        http_header_next_part(&rest, ';');
        count++;
    }
    if (count > SIGV4_SIGNED_HEADERS_MAX)
        return error_set(err, ERROR_INVALID_SIGNATURE, "More than %d headers are signed",
                         SIGV4_SIGNED_HEADERS_MAX);
    if (!is_signed(claim, BYTES("host")))
        return error_set(err, ERROR_INVALID_SIGNATURE,
                         "'Host' or ':authority' must be a 'SignedHeader' in the AWS "
                         "Authorization.");
    for (size_t i = 0; i < request->header_count; i++) {
        struct bytes name = request->headers[i].name;
        if (must_be_signed(name) && !is_signed(claim, name))
            return error_set(err, ERROR_INVALID_SIGNATURE,
                             "There were headers present in the request which were not signed: "
                             "%.*s",
                             BYTES_FMT(name));
    }
    return true;
}

bool sigv4_read(struct arena *arena, const struct sigv4_request *request,
                const struct sigv4_scope *scope, int64_t now_ms, struct sigv4_claim *out,
                struct error *err)
{
    struct bytes header = find_header(request, "Authorization");
    struct bytes parameters = header;
    struct bytes algorithm = http_header_next_part(&parameters, ' ');
    struct bytes credential = { 0 };
    struct bytes terminator;
    *out = (struct sigv4_claim){ .time = find_header(request, "X-Amz-Date"),
                                 .security_token = find_header(request, "X-Amz-Security-Token") };
    /* Credentials must be in one header, not in two and not in the query. */
    if (!bytes_equal_text(algorithm, ALGORITHM) || count_headers(request, "Authorization") > 1)
        return error_set(err, ERROR_MISSING_AUTHENTICATION_TOKEN,
                         "Request is missing Authentication Token");
    return read_parameters(header, &credential, out, err) &&
           check_complete(arena, header, credential, out, err) &&
           read_credential(credential, out, &terminator, err) &&
           check_clock(arena, out->time, now_ms, err) &&
           check_scope(arena, out, terminator, scope, err) &&
           check_signed_headers(request, out, err);
}

/* --- The signature --- */

void sigv4_derive_key(struct sha256 *hasher, struct bytes secret, const struct sigv4_claim *claim,
                      uint8_t out[SIGV4_KEY_SIZE])
{
    static const char prefix[] = "AWS4";
    uint8_t first[sizeof prefix - 1 + SIGV4_SECRET_SIZE_MAX];
    assert(secret.len <= SIGV4_SECRET_SIZE_MAX);
    memcpy(first, prefix, sizeof prefix - 1);
    memcpy(first + sizeof prefix - 1, secret.data, secret.len);
    const struct bytes steps[] = { claim->date, claim->region, claim->service, BYTES(TERMINATOR) };
    struct bytes key = bytes_of(first, sizeof prefix - 1 + secret.len);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        sha256_hmac(hasher, key, steps[i], out);
        key = bytes_of(out, SIGV4_KEY_SIZE);
    }
    explicit_bzero(first, sizeof first);
}

/* Trims the value, and replaces each run of spaces by one. */
static void append_value(struct buffer *buffer, struct bytes value)
{
    value = http_header_trim(value);
    bool was_space = false;
    for (size_t i = 0; i < value.len; i++) {
        bool is_space = value.data[i] == ' ' || value.data[i] == '\t';
        if (!is_space)
            buffer_append_byte(buffer, value.data[i]);
        else if (!was_space)
            buffer_append_byte(buffer, ' ');
        was_space = is_space;
    }
}

static void append_header(struct buffer *buffer, const struct sigv4_request *request,
                          struct bytes name)
{
    buffer_append_bytes(buffer, name);
    buffer_append_byte(buffer, ':');
    bool is_first = true;
    for (size_t i = 0; i < request->header_count; i++) {
        if (!http_header_equal(request->headers[i].name, name))
            continue;
        if (!is_first)
            buffer_append_byte(buffer, ',');
        is_first = false;
        append_value(buffer, request->headers[i].value);
    }
    buffer_append_byte(buffer, '\n');
}

/* --- The target --- */

static bool is_unreserved(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    return (lower >= 'a' && lower <= 'z') || http_grammar_is_digit(byte) ||
           (byte != '\0' && strchr("-._~", byte) != NULL);
}

enum { ESCAPED_SIZE_MAX = 3 };

/* Returns how many bytes were written. */
static size_t escape(uint8_t byte, uint8_t out[ESCAPED_SIZE_MAX])
{
    static const char digits[] = "0123456789ABCDEF";
    if (is_unreserved(byte)) {
        out[0] = byte;
        return 1;
    }
    out[0] = '%';
    out[1] = (uint8_t)digits[byte >> 4];
    out[2] = (uint8_t)digits[byte & 15];
    return ESCAPED_SIZE_MAX;
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

/* Resolves "." and "..", drops empty segments, and escapes the rest once more: every service but S3
 * signs paths like this. */
static void append_path(struct buffer *buffer, struct bytes path)
{
    size_t start = buffer->len;
    bool ends_with_slash = path.len > 0 && path.data[path.len - 1] == '/';
    while (path.len > 0) {
        struct bytes segment = take_until(&path, '/');
        if (segment.len == 0 || bytes_equal_text(segment, "."))
            continue;
        if (bytes_equal_text(segment, "..")) {
            while (buffer->len > start && buffer->data[--buffer->len] != '/')
                continue;
            continue;
        }
        buffer_append_byte(buffer, '/');
        for (size_t i = 0; i < segment.len; i++) {
            uint8_t escaped[ESCAPED_SIZE_MAX];
            buffer_append(buffer, escaped, escape(segment.data[i], escaped));
        }
    }
    if (buffer->len == start || ends_with_slash)
        buffer_append_byte(buffer, '/');
}

static int hex_value(uint8_t byte)
{
    uint8_t lower = byte | 0x20;
    if (http_grammar_is_digit(byte))
        return byte - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* In the one spelling that a signature knows: what needs no escape has none. Strangers may send
 * thousands of short texts, so no buffer is allocated for each. */
static struct bytes respell(struct arena *arena, struct bytes text)
{
    uint8_t *out = arena_alloc(arena, ESCAPED_SIZE_MAX * text.len);
    size_t size = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.data[i];
        if (byte == '%' && i + 2 < text.len && hex_value(text.data[i + 1]) >= 0 &&
            hex_value(text.data[i + 2]) >= 0) {
            byte = (uint8_t)(hex_value(text.data[i + 1]) << 4 | hex_value(text.data[i + 2]));
            i += 2;
        }
        size += escape(byte, out + size);
    }
    return bytes_of(out, size);
}

struct query_parameter {
    struct bytes name;
    struct bytes value;
};

static int compare_query_parameters(const void *left, const void *right)
{
    const struct query_parameter *a = left;
    const struct query_parameter *b = right;
    int order = bytes_compare(a->name, b->name);
    return order != 0 ? order : bytes_compare(a->value, b->value);
}

/* Sorted by name, then by value. */
static void append_query(struct buffer *buffer, struct bytes query)
{
    size_t count = 0, count_max = 1;
    for (size_t i = 0; i < query.len; i++)
        count_max += query.data[i] == '&';
    struct query_parameter *parameters = arena_alloc(buffer->arena, count_max * sizeof *parameters);
    while (query.len > 0) {
        struct bytes value = take_until(&query, '&');
        struct bytes name = take_until(&value, '=');
        parameters[count++] =
            (struct query_parameter){ respell(buffer->arena, name), respell(buffer->arena, value) };
    }
    qsort(parameters, count, sizeof *parameters, compare_query_parameters);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_append_byte(buffer, '&');
        buffer_append_bytes(buffer, parameters[i].name);
        buffer_append_byte(buffer, '=');
        buffer_append_bytes(buffer, parameters[i].value);
    }
}

void sigv4_append_escaped(struct buffer *out, struct bytes text, bool keeps_slashes)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t escaped[ESCAPED_SIZE_MAX];
        if (text.data[i] == '/' && keeps_slashes)
            buffer_append_byte(out, '/');
        else
            buffer_append(out, escaped, escape(text.data[i], escaped));
    }
}

/* Two lines: the path and the query. S3 signs paths as they are sent: a key may have any segments.
 */
static void append_target(struct buffer *buffer, struct bytes target, bool is_s3)
{
    if (LIKELY(bytes_equal_text(target, "/"))) {
        buffer_append_bytes(buffer, BYTES("/\n\n"));
        return;
    }
    struct bytes query = target;
    struct bytes path = take_until(&query, '?');
    if (is_s3)
        buffer_append_bytes(buffer, path);
    else
        append_path(buffer, path);
    buffer_append_byte(buffer, '\n');
    append_query(buffer, query);
    buffer_append_byte(buffer, '\n');
}

/* --- The request --- */

static struct bytes canonical_request(struct arena *arena, const struct sigv4_request *request,
                                      const struct sigv4_claim *claim,
                                      const char body_hash[SHA256_HEX_SIZE])
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    buffer_append_bytes(&buffer, request->method);
    buffer_append_byte(&buffer, '\n');
    append_target(&buffer, request->target, bytes_equal_text(claim->service, "s3"));
    struct bytes rest = claim->signed_headers;
    while (rest.len > 0)
        append_header(&buffer, request, http_header_next_part(&rest, ';'));
    buffer_append_byte(&buffer, '\n');
    buffer_append_bytes(&buffer, claim->signed_headers);
    buffer_append_byte(&buffer, '\n');
    buffer_append(&buffer, body_hash, SHA256_HEX_SIZE);
    return buffer_bytes(&buffer);
}

static struct bytes string_to_sign(struct arena *arena, const struct sigv4_claim *claim,
                                   const char request_hash[SHA256_HEX_SIZE])
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    buffer_append_bytes(&buffer, BYTES(ALGORITHM "\n"));
    buffer_append_bytes(&buffer, claim->time);
    buffer_append_byte(&buffer, '\n');
    const struct bytes scope[] = { claim->date, claim->region, claim->service };
    for (size_t i = 0; i < COUNT_OF(scope); i++) {
        buffer_append_bytes(&buffer, scope[i]);
        buffer_append_byte(&buffer, '/');
    }
    buffer_append_bytes(&buffer, BYTES(TERMINATOR "\n"));
    buffer_append(&buffer, request_hash, SHA256_HEX_SIZE);
    return buffer_bytes(&buffer);
}

static void compute(struct sha256 *hasher, struct arena *arena, const struct sigv4_request *request,
                    const struct sigv4_claim *claim, const char body_hash[SHA256_HEX_SIZE],
                    const uint8_t key[SIGV4_KEY_SIZE], char out[SHA256_HEX_SIZE])
{
    uint8_t digest[SHA256_SIZE];
    sha256_digest(hasher, canonical_request(arena, request, claim, body_hash), digest);
    sha256_hex(digest, out);
    sha256_hmac(hasher, bytes_of(key, SIGV4_KEY_SIZE), string_to_sign(arena, claim, out), digest);
    sha256_hex(digest, out);
}

static void hash_body(struct sha256 *hasher, struct bytes body, char out[SHA256_HEX_SIZE])
{
    uint8_t digest[SHA256_SIZE];
    sha256_digest(hasher, body, digest);
    sha256_hex(digest, out);
}

bool sigv4_matches(struct sha256 *hasher, struct arena *arena, const struct sigv4_request *request,
                   const struct sigv4_claim *claim, const uint8_t key[SIGV4_KEY_SIZE])
{
    char hash[SHA256_HEX_SIZE];
    char right[SHA256_HEX_SIZE];
    hash_body(hasher, request->body, hash);
    struct bytes claimed_hash = find_header(request, "X-Amz-Content-Sha256");
    if (claimed_hash.data != NULL && !bytes_equal(claimed_hash, bytes_of(hash, sizeof hash)))
        return false;
    compute(hasher, arena, request, claim, hash, key, right);
    return claim->signature.len == sizeof right &&
           sha256_hex_equal(right, (const char *)claim->signature.data);
}

/* --- Signing --- */

static struct bytes lower_case(struct arena *arena, struct bytes text)
{
    uint8_t *out = arena_alloc(arena, text.len);
    for (size_t i = 0; i < text.len; i++)
        out[i] = (uint8_t)(text.data[i] >= 'A' && text.data[i] <= 'Z' ? text.data[i] - 'A' + 'a'
                                                                      : text.data[i]);
    return bytes_of(out, text.len);
}

/* Every header's name once, sorted: "host;x-amz-date". */
static struct bytes list_headers(struct arena *arena, const struct sigv4_request *request)
{
    struct bytes names[SIGV4_SIGNED_HEADERS_MAX];
    struct buffer list;
    size_t count = 0;
    assert(request->header_count <= SIGV4_SIGNED_HEADERS_MAX);
    for (size_t i = 0; i < request->header_count; i++) {
        struct bytes name = lower_case(arena, request->headers[i].name);
        size_t place = count;
        while (place > 0 && bytes_compare(names[place - 1], name) > 0)
            place--;
        if (place > 0 && bytes_equal(names[place - 1], name))
            continue;
        memmove(names + place + 1, names + place, (count - place) * sizeof *names);
        names[place] = name;
        count++;
    }
    buffer_init(&list, arena);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_append_byte(&list, ';');
        buffer_append_bytes(&list, names[i]);
    }
    return buffer_bytes(&list);
}

struct bytes sigv4_authorize(struct sha256 *hasher, struct arena *arena,
                             const struct sigv4_request *request, const struct sigv4_scope *scope,
                             const struct sigv4_credentials *credentials)
{
    uint8_t key[SIGV4_KEY_SIZE];
    char hash[SHA256_HEX_SIZE];
    char signature[SHA256_HEX_SIZE];
    struct sigv4_claim claim = { .region = scope->region,
                                 .service = scope->service,
                                 .time = find_header(request, "X-Amz-Date"),
                                 .signed_headers = list_headers(arena, request) };
    assert(claim.time.len == TIME_TEXT_SIZE);
    claim.date = bytes_of(claim.time.data, DATE_TEXT_SIZE);
    sigv4_derive_key(hasher, credentials->secret, &claim, key);
    if (request->body_hash.data != NULL) {
        assert(request->body_hash.len == sizeof hash);
        memcpy(hash, request->body_hash.data, sizeof hash);
    } else {
        hash_body(hasher, request->body, hash);
    }
    compute(hasher, arena, request, &claim, hash, key, signature);
    explicit_bzero(key, sizeof key);
    return arena_printf(arena,
                        ALGORITHM " Credential=%.*s/%.*s/%.*s/%.*s/" TERMINATOR
                                  ", SignedHeaders=%.*s, Signature=%.*s",
                        BYTES_FMT(credentials->access_key), BYTES_FMT(claim.date),
                        BYTES_FMT(claim.region), BYTES_FMT(claim.service),
                        BYTES_FMT(claim.signed_headers), SHA256_HEX_SIZE, signature);
}
