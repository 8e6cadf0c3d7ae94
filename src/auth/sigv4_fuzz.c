/* sigv4_fuzz.c -- signs any request. The signature verifies. The same request in another spelling
 * with the same canonical form has the same signature. Any other change makes verification fail. An
 * arbitrary Authorization header is parsed or refused, and never verifies.
 *
 * Input: a byte that selects the change, lines "Name: value", an empty line, the body. A header
 * Target is the request's target.
 */
#include "auth/sigv4.h"
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "crypto/sha256.h"
#include "http/grammar.h"
#include "model/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW_MS 1440938160000 /* 2015-08-30 12:36:00 */
/* Host and X-Amz-Date are always there, and Authorization stands behind the rest. */
enum { HEADERS_FIRST = 2, HEADERS_MAX = SIGV4_SIGNED_HEADERS_MAX };

static const struct sigv4_scope scope = { BYTES("us-east-1"), BYTES("dynamodb") };
static const struct sigv4_credentials credentials = { BYTES("AKIDEXAMPLE"), BYTES("secret") };

struct subject {
    struct arena *arena;
    struct sha256 *hasher;
    struct http_header headers[HEADERS_MAX + 1];
    struct sigv4_request request; /* Has `headers`. */
    struct bytes authorization;   /* As given; data NULL: none. */
};

/* --- From bytes --- */

static struct bytes take_line(struct bytes *rest)
{
    const uint8_t *end = rest->len == 0 ? NULL : memchr(rest->data, '\n', rest->len);
    size_t len = end == NULL ? rest->len : (size_t)(end - rest->data);
    struct bytes line = bytes_of(rest->data, len);
    size_t taken = end == NULL ? len : len + 1;
    *rest = bytes_of(rest->data + taken, rest->len - taken);
    return line;
}

/* What http/ lets pass, but for Host and X-Amz-Date. */
static bool read_header(struct bytes line, struct http_header *out)
{
    const uint8_t *colon = memchr(line.data, ':', line.len);
    if (colon == NULL || colon == line.data)
        return false;
    size_t name_size = (size_t)(colon - line.data);
    out->name = bytes_of(line.data, name_size);
    out->value = http_header_trim(bytes_of(colon + 1, line.len - name_size - 1));
    return http_grammar_skip(line.data, 0, name_size, HTTP_GRAMMAR_TOKEN) == name_size &&
           http_grammar_skip_value(line.data, name_size + 1, line.len) == line.len &&
           !http_header_equal(out->name, BYTES("Host")) &&
           !http_header_equal(out->name, BYTES("X-Amz-Date")) &&
           !http_header_equal(out->name, BYTES("X-Amz-Content-Sha256"));
}

/* What http/ lets pass as the target of a request line. */
static bool is_target(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] <= ' ' || text.data[i] >= 0x7F)
            return false;
    return text.len > 0 && text.data[0] == '/';
}

static void read_subject(struct subject *subject, struct bytes input)
{
    size_t count = HEADERS_FIRST;
    struct bytes target = BYTES("/");
    subject->headers[0] = (struct http_header){ BYTES("Host"), BYTES("localhost") };
    subject->headers[1] = (struct http_header){ BYTES("X-Amz-Date"), BYTES("20150830T123600Z") };
    for (struct bytes line = take_line(&input); line.len > 0; line = take_line(&input)) {
        struct http_header *header = &subject->headers[count];
        if (count == HEADERS_MAX || !read_header(line, header))
            continue;
        if (http_header_equal(header->name, BYTES("Authorization")))
            subject->authorization = header->value;
        else if (http_header_equal(header->name, BYTES("Target")))
            target = is_target(header->value) ? header->value : target;
        else
            count++;
    }
    subject->request = (struct sigv4_request){ .method = BYTES("POST"),
                                               .target = target,
                                               .headers = subject->headers,
                                               .header_count = count,
                                               .body = input };
}

/* --- Properties --- */

static struct bytes sign(struct subject *subject, const struct sigv4_request *request)
{
    return sigv4_authorize(subject->hasher, subject->arena, request, &scope, &credentials);
}

static bool verifies(struct subject *subject, const struct sigv4_request *request,
                     struct bytes authorization, struct bytes secret)
{
    struct http_header headers[HEADERS_MAX + 1];
    struct sigv4_request whole = *request;
    struct sigv4_claim claim;
    struct error err;
    uint8_t key[SIGV4_KEY_SIZE];
    memcpy(headers, request->headers, request->header_count * sizeof *headers);
    headers[whole.header_count++] = (struct http_header){ BYTES("authorization"), authorization };
    whole.headers = headers;
    error_init(&err, subject->arena);
    if (!sigv4_read(subject->arena, &whole, &scope, NOW_MS, &claim, &err)) {
        assert(err.message.len > 0);
        return false;
    }
    sigv4_derive_key(subject->hasher, secret, &claim, key);
    return sigv4_matches(subject->hasher, subject->arena, &whole, &claim, key);
}

/* A header's name in other letters, and its value with more white space within. */
static struct http_header rewrite(struct arena *arena, struct http_header header)
{
    uint8_t *name = arena_alloc(arena, header.name.len);
    uint8_t *value = arena_alloc(arena, header.value.len * 2);
    size_t size = 0;
    for (size_t i = 0; i < header.name.len; i++) {
        uint8_t letter = header.name.data[i];
        bool is_letter = (letter | 0x20) >= 'a' && (letter | 0x20) <= 'z';
        name[i] = is_letter ? letter ^ 0x20 : letter;
    }
    for (size_t i = 0; i < header.value.len; i++) {
        value[size++] = header.value.data[i];
        if (http_grammar_is_blank(header.value.data[i]))
            value[size++] = ' ';
    }
    return (struct http_header){ bytes_of(name, header.name.len), bytes_of(value, size) };
}

/* The other order is that of names; the headers of one name keep theirs. */
static void check_canonical(struct subject *subject, struct bytes authorization)
{
    struct http_header headers[HEADERS_MAX];
    struct sigv4_request rewritten = subject->request;
    size_t count = rewritten.header_count;
    for (size_t i = 0; i < count; i++) {
        size_t place = i;
        while (place > 0 && !http_header_equal(headers[place - 1].name, subject->headers[i].name))
            place--;
        memmove(headers + place + 1, headers + place, (i - place) * sizeof *headers);
        headers[place] = rewrite(subject->arena, subject->headers[i]);
    }
    rewritten.headers = headers;
    assert(bytes_equal(sign(subject, &rewritten), authorization));
}

static struct bytes append_byte(struct arena *arena, struct bytes text)
{
    const struct bytes parts[] = { text, BYTES("x") };
    return arena_join(arena, parts, COUNT_OF(parts));
}

/* Changes a part of the request that `choice` names. */
static void check_change(struct subject *subject, struct bytes authorization, uint8_t choice)
{
    struct http_header headers[HEADERS_MAX];
    struct sigv4_request changed = subject->request;
    size_t header = choice % changed.header_count;
    memcpy(headers, subject->headers, changed.header_count * sizeof *headers);
    changed.headers = headers;
    switch (choice >> 5) {
    case 0:
    case 1: /* A letter at the end changes every path and every query. */
        changed.target = append_byte(subject->arena, changed.target);
        break;
    case 2:
        changed.body = append_byte(subject->arena, changed.body);
        break;
    case 3:
    case 4:
        headers[header].value = append_byte(subject->arena, headers[header].value);
        break;
    case 5:
        changed.method = BYTES("GET");
        break;
    default: /* Once more the same header. */
        if (changed.header_count == HEADERS_MAX)
            return;
        headers[changed.header_count++] = headers[header];
        break;
    }
    assert(!verifies(subject, &changed, authorization, credentials.secret));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct subject subject = { .arena = arena_create(), .hasher = sha256_create() };
    uint8_t choice = size == 0 ? 0 : data[0];
    read_subject(&subject, size == 0 ? BYTES("") : bytes_of(data + 1, size - 1));
    struct bytes authorization = sign(&subject, &subject.request);
    assert(verifies(&subject, &subject.request, authorization, credentials.secret));
    assert(!verifies(&subject, &subject.request, authorization, BYTES("another secret")));
    check_canonical(&subject, authorization);
    check_change(&subject, authorization, choice);
    if (subject.authorization.data != NULL)
        assert(!verifies(&subject, &subject.request, subject.authorization, BYTES("unguessed")));
    sha256_destroy(subject.hasher);
    arena_destroy(subject.arena);
    return 0;
}
