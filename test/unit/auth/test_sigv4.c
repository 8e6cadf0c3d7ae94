/* test_sigv4.c -- AWS's published signatures verify, and every kind of wrong one is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "auth/sigv4.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "crypto/sha256.h"
#include "http/grammar.h"
#include "model/error.h"

/* Those of AWS's test suite for Signature Version 4. */
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define CREDENTIAL                                                                                 \
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
#define HOST                                                                                       \
    {                                                                                              \
        BYTES("Host"), BYTES("example.amazonaws.com")                                              \
    }
#define DATE                                                                                       \
    {                                                                                              \
        BYTES("X-Amz-Date"), BYTES("20150830T123600Z")                                             \
    }
#define NOW_MS 1440938160000 /* 2015-08-30 12:36:00 */

static const struct sigv4_scope scope = { BYTES("us-east-1"), BYTES("service") };

struct fixture {
    struct arena *arena;
    struct sha256 *hasher;
};

static int setup(void **state)
{
    static struct fixture fixture;
    fixture.arena = arena_create();
    fixture.hasher = sha256_create();
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    sha256_destroy(fixture->hasher);
    arena_destroy(fixture->arena);
    return 0;
}

enum { HEADERS_MAX = 8 };
struct signed_request {
    const char *name;
    const char *method;
    struct http_header headers[HEADERS_MAX]; /* Up to the first without a name. */
    const char *authorization;
    const char *body;
};

static struct sigv4_request request_of(struct fixture *fixture, const struct signed_request *from)
{
    struct http_header *headers = arena_alloc(fixture->arena, (HEADERS_MAX + 1) * sizeof *headers);
    size_t count = 0;
    while (count < HEADERS_MAX && from->headers[count].name.data != NULL) {
        headers[count] = from->headers[count];
        count++;
    }
    if (from->authorization != NULL)
        headers[count++] =
            (struct http_header){ BYTES("Authorization"), bytes_from_text(from->authorization) };
    return (struct sigv4_request){ .method = bytes_from_text(from->method),
                                   .target = BYTES("/"),
                                   .headers = headers,
                                   .header_count = count,
                                   .body = bytes_from_text(from->body) };
}

static bool verify_scope(struct fixture *fixture, const struct sigv4_request *request,
                         const struct sigv4_scope *wanted, const char *secret)
{
    struct error err;
    struct sigv4_claim claim;
    uint8_t key[SIGV4_KEY_SIZE];
    error_init(&err, fixture->arena);
    if (!sigv4_read(fixture->arena, request, wanted, NOW_MS, &claim, &err))
        return false;
    sigv4_derive_key(fixture->hasher, bytes_from_text(secret), &claim, key);
    return sigv4_matches(fixture->hasher, fixture->arena, request, &claim, key);
}

static bool verify(struct fixture *fixture, const struct sigv4_request *request, const char *secret)
{
    return verify_scope(fixture, request, &scope, secret);
}

#define TOKEN                                                                                      \
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSP" \
    "fIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT" \
    "7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlz" \
    "m8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

static const struct signed_request published[] = {
    { "get-vanilla",
      "GET",
      { HOST, DATE },
      CREDENTIAL "SignedHeaders=host;x-amz-date, "
                 "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
      "" },
    { "post-vanilla",
      "POST",
      { HOST, DATE },
      CREDENTIAL "SignedHeaders=host;x-amz-date, "
                 "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
      "" },
    { "get-header-key-duplicate",
      "GET",
      { HOST,
        { BYTES("My-Header1"), BYTES("value2") },
        { BYTES("My-Header1"), BYTES("value2") },
        { BYTES("My-Header1"), BYTES("value1") },
        DATE },
      CREDENTIAL "SignedHeaders=host;my-header1;x-amz-date, "
                 "Signature=c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
      "" },
    { "get-header-value-order",
      "GET",
      { HOST,
        { BYTES("My-Header1"), BYTES("value4") },
        { BYTES("My-Header1"), BYTES("value1") },
        { BYTES("My-Header1"), BYTES("value3") },
        { BYTES("My-Header1"), BYTES("value2") },
        DATE },
      CREDENTIAL "SignedHeaders=host;my-header1;x-amz-date, "
                 "Signature=08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
      "" },
    { "get-header-value-trim",
      "GET",
      { HOST,
        { BYTES("My-Header1"), BYTES(" value1") },
        { BYTES("My-Header2"), BYTES(" \"a   b   c\"") },
        DATE },
      CREDENTIAL "SignedHeaders=host;my-header1;my-header2;x-amz-date, "
                 "Signature=acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
      "" },
    { "post-header-key-sort",
      "POST",
      { HOST, { BYTES("My-Header1"), BYTES("value1") }, DATE },
      CREDENTIAL "SignedHeaders=host;my-header1;x-amz-date, "
                 "Signature=c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
      "" },
    { "post-header-value-case",
      "POST",
      { HOST, { BYTES("My-Header1"), BYTES("VALUE1") }, DATE },
      CREDENTIAL "SignedHeaders=host;my-header1;x-amz-date, "
                 "Signature=cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
      "" },
    { "post-x-www-form-urlencoded",
      "POST",
      { { BYTES("Content-Type"), BYTES("application/x-www-form-urlencoded") }, HOST, DATE },
      CREDENTIAL "SignedHeaders=content-type;host;x-amz-date, "
                 "Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
      "Param1=value1" },
    { "post-sts-header-before",
      "POST",
      { HOST, DATE, { BYTES("X-Amz-Security-Token"), BYTES(TOKEN) } },
      CREDENTIAL "SignedHeaders=host;x-amz-date;x-amz-security-token, "
                 "Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
      "" },
};

static void published_signatures_match(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        struct sigv4_request request = request_of(fixture, &published[i]);
        if (!verify(fixture, &request, SECRET))
            fail_msg("%s", published[i].name);
    }
}

/* --- Other paths, queries and services --- */

#define LOCAL                                                                                      \
    {                                                                                              \
        BYTES("Host"), BYTES("localhost:8000")                                                     \
    }

/* Computed by botocore 1.43.11: SigV4Auth(credentials, service, "us-east-1").add_auth(request) with
 * the clock at DATE. */
static const struct {
    const char *name, *target, *service;
    struct http_header headers[HEADERS_MAX];
    const char *rest; /* Of the Authorization header, behind the credential. */
    const char *body;
} signed_by_botocore[] = {
    { "cbor",
      "/service/GraniteServiceVersion20100801/operation/ListMetrics",
      "monitoring",
      { LOCAL,
        DATE,
        { BYTES("Content-Type"), BYTES("application/cbor") },
        { BYTES("smithy-protocol"), BYTES("rpc-v2-cbor") } },
      "SignedHeaders=content-type;host;smithy-protocol;x-amz-date, "
      "Signature=01c1e8852263261a7878bf345059bc600eedf3a3787f03a051492b39457d297c",
      "\xA0" },
    { "json",
      "/",
      "monitoring",
      { LOCAL,
        DATE,
        { BYTES("Content-Type"), BYTES("application/x-amz-json-1.0") },
        { BYTES("X-Amz-Target"), BYTES("GraniteServiceVersion20100801.ListMetrics") } },
      "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
      "Signature=5c488734a83afdace9db35b789494840fde60540208d92bfd08efc8524950317",
      "{}" },
    { "query",
      "/",
      "sts",
      { LOCAL,
        DATE,
        { BYTES("Content-Type"), BYTES("application/x-www-form-urlencoded; charset=utf-8") } },
      "SignedHeaders=content-type;host;x-amz-date, "
      "Signature=1e2749580701d468ff9cb1d75600a1e4499a1eec3fbc4f140c5369bad77467ad",
      "Action=GetCallerIdentity&Version=2011-06-15" },
    { "JSON 1.1",
      "/",
      "application-autoscaling",
      { LOCAL,
        DATE,
        { BYTES("Content-Type"), BYTES("application/x-amz-json-1.1") },
        { BYTES("X-Amz-Target"), BYTES("AnyScaleFrontendService.DescribeScalableTargets") } },
      "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
      "Signature=c771bbbe89440d1a33556f769d035744613eeb1c38b2b307efa0a684b0c7c390",
      "{}" },
    { "dots and empty segments",
      "/a/./b/../c//d/",
      "monitoring",
      { LOCAL, DATE },
      "SignedHeaders=host;x-amz-date, "
      "Signature=2ae99c714837f917192ac4d0a8ee9e2093c517b18e9a2d43f09782bd2643bd04",
      "" },
    { "nothing is left of the path",
      "/a/../..",
      "monitoring",
      { LOCAL, DATE },
      "SignedHeaders=host;x-amz-date, "
      "Signature=24cbdc064338edcb39c1284b0c3959c4b1a0a9920653c4a0f12acdfa39922e82",
      "" },
    { "escapes in a path",
      "/a%20b/%2f/~x*",
      "monitoring",
      { LOCAL, DATE },
      "SignedHeaders=host;x-amz-date, "
      "Signature=90359888cfa95c73167151b97d264a8a4bde892c0d9adcbb8f8ead4095bce277",
      "" },
    { "a query is sorted",
      "/?b=2&a=1&a=0&c",
      "monitoring",
      { LOCAL, DATE },
      "SignedHeaders=host;x-amz-date, "
      "Signature=90c600247fb5d804aebee1bd199a72fee7c096d7ca9b9ab05809b5926795fc63",
      "" },
    { "escapes in a query",
      "/x?Name=a%20b&Name=%2F",
      "monitoring",
      { LOCAL, DATE },
      "SignedHeaders=host;x-amz-date, "
      "Signature=1db4f3d1d2b41d6f6c8a8c60245cda88d68c620edd307f1a0fc18a11ed88ec74",
      "" },
};

static struct sigv4_request botocore_request(struct fixture *fixture, size_t index)
{
    const struct signed_request from = {
        .method = "POST",
        .authorization = (const char *)arena_printf(fixture->arena,
                                                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"
                                                    "20150830/us-east-1/%s/aws4_request, %s%c",
                                                    signed_by_botocore[index].service,
                                                    signed_by_botocore[index].rest, '\0')
                             .data,
        .body = signed_by_botocore[index].body,
    };
    struct signed_request with_headers = from;
    memcpy(with_headers.headers, signed_by_botocore[index].headers, sizeof with_headers.headers);
    struct sigv4_request request = request_of(fixture, &with_headers);
    request.target = bytes_from_text(signed_by_botocore[index].target);
    return request;
}

static void signatures_cover_paths_queries_and_services(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(signed_by_botocore); i++) {
        struct sigv4_request request = botocore_request(fixture, i);
        struct sigv4_scope own = { BYTES("us-east-1"),
                                   bytes_from_text(signed_by_botocore[i].service) };
        struct sigv4_scope others = { BYTES("us-east-1"), BYTES("dynamodb") };
        if (!verify_scope(fixture, &request, &own, SECRET))
            fail_msg("%s", signed_by_botocore[i].name);
        assert_false(verify_scope(fixture, &request, &own, "another secret"));
        assert_false(verify_scope(fixture, &request, &others, SECRET));
        request.target = arena_printf(fixture->arena, "%sx", signed_by_botocore[i].target);
        assert_false(verify_scope(fixture, &request, &own, SECRET));
    }
}

/* Strangers choose the query, and all the work is done for them as well. */
static void a_query_of_many_parameters_takes_little_memory(void **state)
{
    struct fixture *fixture = *state;
    const struct sigv4_scope own = { BYTES("us-east-1"),
                                     bytes_from_text(signed_by_botocore[0].service) };
    struct sigv4_request request = botocore_request(fixture, 0);
    enum { PARAMETERS = 8000 };
    static char target[2 + 2 * PARAMETERS] = "/?";
    for (size_t i = 0; i < PARAMETERS; i++)
        memcpy(target + 2 + 2 * i, "a&", 2);
    request.target = bytes_of(target, sizeof target);
    size_t before = arena_held_size(fixture->arena);
    assert_false(verify_scope(fixture, &request, &own, SECRET));
    assert_true(arena_held_size(fixture->arena) - before < (size_t)1024 * 1024);
}

static void another_spelling_of_a_target_has_the_same_signature(void **state)
{
    static const struct {
        const char *from, *to;
        bool same;
    } spellings[] = {
        { "/?b=2&a=1&a=0&c", "/?c=&a=0&a=1&b=2", true },
        { "/?b=2&a=1&a=0&c", "//.?%62=%32&a=1&a=0&c", true },
        { "/?b=2&a=1&a=0&c", "/?b=1&a=2&a=0&c", false },
        { "/?b=2&a=1&a=0&c", "/?b=2&a=1&a=0&c&c", false },
        { "/?b=2&a=1&a=0&c", "/", false },
        { "/a/./b/../c//d/", "/a/c/d/", true },
        { "/a/./b/../c//d/", "/a/c/d", false },
        { "/a/./b/../c//d/", "/a/c/D/", false },
        { "/a/./b/../c//d/", "/a%2Fc/d/", false },
    };
    struct fixture *fixture = *state;
    const struct sigv4_scope own = { BYTES("us-east-1"), BYTES("monitoring") };
    for (size_t i = 0; i < COUNT_OF(spellings); i++) {
        bool found = false;
        for (size_t n = 0; n < COUNT_OF(signed_by_botocore); n++) {
            struct sigv4_request request = botocore_request(fixture, n);
            if (!bytes_equal_text(request.target, spellings[i].from))
                continue;
            found = true;
            request.target = bytes_from_text(spellings[i].to);
            if (verify_scope(fixture, &request, &own, SECRET) != spellings[i].same)
                fail_msg("%s and %s", spellings[i].from, spellings[i].to);
        }
        assert_true(found);
    }
}

static void a_change_of_anything_signed_breaks_the_signature(void **state)
{
    struct fixture *fixture = *state;
    struct sigv4_request right = request_of(fixture, &published[7]);
    assert_true(verify(fixture, &right, SECRET));
    assert_false(verify(fixture, &right, "another secret"));

    struct sigv4_request changed = right;
    changed.method = BYTES("GET");
    assert_false(verify(fixture, &changed, SECRET));
    changed = right;
    changed.body = BYTES("Param1=value2");
    assert_false(verify(fixture, &changed, SECRET));
    changed = right;
    changed.target = BYTES("/?X-Amz-Credential=AKIDEXAMPLE");
    assert_false(verify(fixture, &changed, SECRET));
    for (size_t i = 0; i < 3; i++) {
        struct http_header headers[HEADERS_MAX + 1];
        memcpy(headers, right.headers, right.header_count * sizeof *headers);
        headers[i].value = i == 2 ? BYTES("20150830T123601Z") : BYTES("changed");
        changed = right;
        changed.headers = headers;
        assert_false(verify(fixture, &changed, SECRET));
    }
}

static void a_body_hash_that_is_sent_must_be_the_bodys(void **state)
{
    struct fixture *fixture = *state;
    static const char *const hashes[] = { "UNSIGNED-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
                                          "" };
    struct signed_request with_hash = published[1];
    with_hash.headers[2] = (struct http_header){
        BYTES("X-Amz-Content-Sha256"),
        BYTES("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    };
    struct sigv4_request request = request_of(fixture, &with_hash);
    assert_true(verify(fixture, &request, SECRET));
    for (size_t i = 0; i < COUNT_OF(hashes); i++) {
        with_hash.headers[2].value = bytes_from_text(hashes[i]);
        request = request_of(fixture, &with_hash);
        assert_false(verify(fixture, &request, SECRET));
    }
}

static void what_we_sign_is_what_was_published(void **state)
{
    struct fixture *fixture = *state;
    const struct sigv4_credentials credentials = { BYTES("AKIDEXAMPLE"), BYTES(SECRET) };
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        struct signed_request from = published[i];
        from.authorization = NULL;
        struct sigv4_request request = request_of(fixture, &from);
        struct bytes got =
            sigv4_authorize(fixture->hasher, fixture->arena, &request, &scope, &credentials);
        if (!bytes_equal_text(got, published[i].authorization))
            fail_msg("%s: %.*s", published[i].name, BYTES_FMT(got));
    }
}

#define SIGNED_HEADERS "SignedHeaders=host;x-amz-date, "
#define SIGNATURE "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
#define SCOPED(credential) "AWS4-HMAC-SHA256 Credential=" credential ", " SIGNED_HEADERS SIGNATURE

static const struct {
    struct signed_request request;
    enum error_code code;
    const char *message;
} refused[] = {
    { { "no header", "POST", { HOST, DATE }, NULL, "" },
      ERROR_MISSING_AUTHENTICATION_TOKEN,
      "Request is missing Authentication Token" },
    { { "another scheme", "POST", { HOST, DATE }, "Bearer abc", "" },
      ERROR_MISSING_AUTHENTICATION_TOKEN,
      "Request is missing Authentication Token" },
    { { "two headers",
        "POST",
        { HOST, DATE, { BYTES("authorization"), BYTES(CREDENTIAL SIGNED_HEADERS SIGNATURE) } },
        CREDENTIAL SIGNED_HEADERS SIGNATURE,
        "" },
      ERROR_MISSING_AUTHENTICATION_TOKEN,
      "Request is missing Authentication Token" },
    { { "nothing behind the algorithm", "POST", { HOST }, "AWS4-HMAC-SHA256", "" },
      ERROR_INCOMPLETE_SIGNATURE,
      "Authorization header requires 'Credential' parameter. Authorization header requires "
      "'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. "
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
      "Authorization=AWS4-HMAC-SHA256" },
    { { "no signature", "POST", { HOST, DATE }, CREDENTIAL "SignedHeaders=host", "" },
      ERROR_INCOMPLETE_SIGNATURE,
      "Authorization header requires 'Signature' parameter. Authorization=" CREDENTIAL
      "SignedHeaders=host" },
    { { "no pair", "POST", { HOST, DATE }, "AWS4-HMAC-SHA256 Credential", "" },
      ERROR_INCOMPLETE_SIGNATURE,
      "'Credential' not a valid key=value pair (missing equal-sign) in Authorization header: "
      "'AWS4-HMAC-SHA256 Credential'." },
    { { "a parameter twice",
        "POST",
        { HOST, DATE },
        "AWS4-HMAC-SHA256 Signature=0, Signature=1",
        "" },
      ERROR_INCOMPLETE_SIGNATURE,
      "Authorization header has the 'Signature' parameter twice: 'AWS4-HMAC-SHA256 Signature=0, "
      "Signature=1'." },
    { { "four elements", "POST", { HOST, DATE }, SCOPED("AKID/20150830/us-east-1/service"), "" },
      ERROR_INCOMPLETE_SIGNATURE,
      "Credential must have exactly 5 slash-delimited elements, e.g. "
      "keyid/date/region/service/term, got 'AKID/20150830/us-east-1/service'" },
    { { "another end", "POST", { HOST, DATE }, SCOPED("AKID/20150830/us-east-1/service/aws3"), "" },
      ERROR_INVALID_SIGNATURE,
      "Credential should be scoped with a valid terminator: 'aws4_request', not 'aws3'. " },
    { { "another region",
        "POST",
        { HOST, DATE },
        SCOPED("AKID/20150830/eu-west-1/service/aws4_request"),
        "" },
      ERROR_INVALID_SIGNATURE,
      "Credential should be scoped to a valid region, not 'eu-west-1'. " },
    { { "another service",
        "POST",
        { HOST, DATE },
        SCOPED("AKID/20150830/us-east-1/s3/aws4_request"),
        "" },
      ERROR_INVALID_SIGNATURE,
      "Credential should be scoped to correct service: 'service'. " },
    { { "all of the scope", "POST", { HOST, DATE }, SCOPED("AKID/20150831/eu-west-1/s3/aws3"), "" },
      ERROR_INVALID_SIGNATURE,
      "Credential should be scoped to a valid region, not 'eu-west-1'. Credential should be scoped "
      "to correct service: 'service'. Credential should be scoped with a valid terminator: "
      "'aws4_request', not 'aws3'. Date in Credential scope does not match YYYYMMDD from ISO-8601 "
      "version of date from HTTP: '20150831' != '20150830', from '20150830T123600Z'." },
    { { "another day",
        "POST",
        { HOST, DATE },
        SCOPED("AKID/20150831/us-east-1/service/aws4_request"),
        "" },
      ERROR_INVALID_SIGNATURE,
      "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
      "'20150831' != '20150830', from '20150830T123600Z'." },
    { { "no time",
        "POST",
        { HOST, { BYTES("X-Amz-Date"), BYTES("yesterday") } },
        CREDENTIAL SIGNED_HEADERS SIGNATURE,
        "" },
      ERROR_INCOMPLETE_SIGNATURE,
      "Date must be in ISO-8601 'basic format'. Got 'yesterday'. See "
      "http://en.wikipedia.org/wiki/ISO_8601" },
    { { "a second too old",
        "POST",
        { HOST, { BYTES("X-Amz-Date"), BYTES("20150830T122059Z") } },
        CREDENTIAL SIGNED_HEADERS SIGNATURE,
        "" },
      ERROR_INVALID_SIGNATURE,
      "Signature expired: 20150830T122059Z is now earlier than 20150830T122100Z "
      "(20150830T123600Z - 15 min.)" },
    { { "a second too early",
        "POST",
        { HOST, { BYTES("X-Amz-Date"), BYTES("20150830T125101Z") } },
        CREDENTIAL SIGNED_HEADERS SIGNATURE,
        "" },
      ERROR_INVALID_SIGNATURE,
      "Signature not yet current: 20150830T125101Z is still later than 20150830T125100Z "
      "(20150830T123600Z + 15 min.)" },
    { { "host not signed",
        "POST",
        { HOST, DATE },
        CREDENTIAL "SignedHeaders=x-amz-date, " SIGNATURE,
        "" },
      ERROR_INVALID_SIGNATURE,
      "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization." },
    { { "target not signed",
        "POST",
        { HOST, DATE, { BYTES("X-Amz-Target"), BYTES("DynamoDB_20120810.DeleteItem") } },
        CREDENTIAL SIGNED_HEADERS SIGNATURE,
        "" },
      ERROR_INVALID_SIGNATURE,
      "There were headers present in the request which were not signed: X-Amz-Target" },
};

static void what_is_wrong_is_refused_in_the_services_words(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct sigv4_request request = request_of(fixture, &refused[i].request);
        struct sigv4_claim claim;
        struct error err;
        error_init(&err, fixture->arena);
        if (sigv4_read(fixture->arena, &request, &scope, NOW_MS, &claim, &err))
            fail_msg("%s: accepted", refused[i].request.name);
        assert_int_equal(err.code, refused[i].code);
        if (!bytes_equal_text(err.message, refused[i].message))
            fail_msg("%s: %.*s", refused[i].request.name, BYTES_FMT(err.message));
    }
}

static void the_clock_may_be_a_quarter_of_an_hour_off(void **state)
{
    struct fixture *fixture = *state;
    static const char *const times[] = { "20150830T122100Z", "20150830T125100Z" };
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct signed_request from = published[1];
        struct sigv4_claim claim;
        struct error err;
        error_init(&err, fixture->arena);
        from.headers[1].value = bytes_from_text(times[i]);
        struct sigv4_request request = request_of(fixture, &from);
        assert_true(sigv4_read(fixture->arena, &request, &scope, NOW_MS, &claim, &err));
    }
}

static void a_time_has_sixteen_characters_whatever_the_clock_says(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        { 253402300799999, "99991231T235959Z" },
        { 253402300800000, "99991231T235959Z" },
        { INT64_MAX, "99991231T235959Z" },
        { 0, "19700101T000000Z" },
        { -1, "19691231T235959Z" },
        { INT64_MIN, "10000101T000000Z" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_true(
            bytes_equal_text(sigv4_format_time(fixture->arena, cases[i].ms), cases[i].text));
}

static void as_many_headers_as_the_bound_may_be_signed(void **state)
{
    struct fixture *fixture = *state;
    for (size_t count = SIGV4_SIGNED_HEADERS_MAX - 1; count <= SIGV4_SIGNED_HEADERS_MAX + 1;
         count++) {
        struct buffer list;
        buffer_init(&list, fixture->arena);
        buffer_append_bytes(&list, BYTES(CREDENTIAL SIGNATURE ", SignedHeaders=host;x-amz-date"));
        for (size_t i = 2; i < count; i++)
            buffer_append_bytes(&list, BYTES(";a"));
        buffer_append_byte(&list, '\0');
        struct signed_request from = published[1];
        from.authorization = (const char *)list.data;
        struct sigv4_request request = request_of(fixture, &from);
        struct sigv4_claim claim;
        struct error err;
        error_init(&err, fixture->arena);
        assert_int_equal(sigv4_read(fixture->arena, &request, &scope, NOW_MS, &claim, &err),
                         count <= SIGV4_SIGNED_HEADERS_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_signatures_match),
        cmocka_unit_test(what_we_sign_is_what_was_published),
        cmocka_unit_test(signatures_cover_paths_queries_and_services),
        cmocka_unit_test(a_query_of_many_parameters_takes_little_memory),
        cmocka_unit_test(another_spelling_of_a_target_has_the_same_signature),
        cmocka_unit_test(a_change_of_anything_signed_breaks_the_signature),
        cmocka_unit_test(a_body_hash_that_is_sent_must_be_the_bodys),
        cmocka_unit_test(what_is_wrong_is_refused_in_the_services_words),
        cmocka_unit_test(the_clock_may_be_a_quarter_of_an_hour_off),
        cmocka_unit_test(a_time_has_sixteen_characters_whatever_the_clock_says),
        cmocka_unit_test(as_many_headers_as_the_bound_may_be_signed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
