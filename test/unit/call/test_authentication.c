/* test_authentication.c -- every rule of authentication, over a socket: a request that follows it
 * is accepted, and each way to break it is refused in the service's words.
 *
 * sigv4_authorize signs the requests; test_sigv4.c compares that with AWS's published signatures.
 * For decisions of policies see test/unit/auth/ and test/unit/api/test_authorization.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "auth_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"

#define SERVICE "com.amazon.coral.service#"
#define LET_IN NULL, NULL
#define INVALID_SIGNATURE SERVICE "InvalidSignatureException"
#define MISMATCH                                                                                   \
    INVALID_SIGNATURE,                                                                             \
        "The request signature we calculated does not match the signature you provided. Check "    \
        "your AWS Secret Access Key and signing method. Consult the service documentation for "    \
        "details."
#define UNRECOGNIZED                                                                               \
    SERVICE "UnrecognizedClientException", "The security token included in the request is "        \
                                           "invalid."
#define EXPIRED                                                                                    \
    SERVICE "ExpiredTokenException", "The security token included in the request is expired"
#define MISSING                                                                                    \
    SERVICE "MissingAuthenticationTokenException", "Request is missing Authentication Token"
#define NOT_SIGNED(name)                                                                           \
    INVALID_SIGNATURE, "There were headers present in the request which were not signed: " name
#define MALFORMED SERVICE "MalformedHttpRequestException", "The request is not valid HTTP/1.1"

/* SHA-256 of "{}", which is every request's body here. */
#define BODY_HASH "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
#define HEADER(name, value)                                                                        \
    {                                                                                              \
        BYTES(name), BYTES(value)                                                                  \
    }
#define SPOIL(from, to) .spoil_from = BYTES(from), .spoil_to = BYTES(to)

struct rule {
    const char *name;
    struct auth_request request;
    const char *type; /* NULL: let in. */
    const char *message;
};

static void check(struct auth_fixture *fixture, const struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct auth_answer got = auth_fixture_send(fixture, &rules[i].request);
        struct bytes want = BYTES("{\"TableNames\":[]}");
        if (rules[i].type != NULL)
            want = arena_printf(fixture->arena, "{\"__type\":\"%s\",\"message\":\"%s\"}",
                                rules[i].type, rules[i].message);
        if (!bytes_equal(got.body, want) || got.status != (rules[i].type == NULL ? 200 : 400))
            fail_msg("%s: %d %.*s", rules[i].name, got.status, BYTES_FMT(got.body));
    }
}

static const struct rule header_rules[] = {
    { "all that has to be signed is", { .key = AUTH_KEY_RIGHT }, LET_IN },
    { "the target is not signed", { .left_out = "X-Amz-Target" }, NOT_SIGNED("X-Amz-Target") },
    { "the token is not signed",
      { .key = AUTH_KEY_SESSION, .left_out = "X-Amz-Security-Token" },
      NOT_SIGNED("X-Amz-Security-Token") },
    { "the date is sent, not signed",
      { SPOIL("content-type;host;x-amz-date;x-amz-target", "content-type;host;x-amz-target") },
      NOT_SIGNED("X-Amz-Date") },
    { "an unknown header of Amazon's is not signed",
      { .not_signed = HEADER("x-AMZ-extra", "1") },
      NOT_SIGNED("x-AMZ-extra") },
    { "an unknown header of Amazon's is signed",
      { .also_signed = HEADER("X-Amz-Extra", "1") },
      LET_IN },
    { "a header that only begins like Amazon's", { .not_signed = HEADER("X-Amzn", "1") }, LET_IN },
    { "the host is not signed",
      { .left_out = "Host" },
      INVALID_SIGNATURE,
      "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization." },
    { "the content type is not signed", { .left_out = "Content-Type" }, LET_IN },
    { "other headers are not signed", { .not_signed = HEADER("User-Agent", "test") }, LET_IN },
    { "a signed header was changed", { SPOIL("X-Amz-Date: 2015", "X-Amz-Date:  2015") }, LET_IN },
    { "the host was changed", { SPOIL("Host: 127.0.0.1", "Host: 127.0.0.2") }, MISMATCH },
    { "the operation was changed", { SPOIL(".ListTables", ".DescribeLimits") }, MISMATCH },
    { "a second target was added",
      { .not_signed = HEADER("X-Amz-Target", "DynamoDB_20120810.DeleteTable") },
      MISMATCH },
    { "a header that is signed was added",
      { .also_signed = HEADER("A", "1"), .not_signed = HEADER("a", "2") },
      MISMATCH },
    { "a header that is signed was taken away",
      { .also_signed = HEADER("A", "1"), SPOIL("A: 1\r\n", "") },
      MISMATCH },
    { "the list of headers was changed",
      { SPOIL("content-type;host", "host;content-type") },
      MISMATCH },
    { "the hash of the body is sent, not signed",
      { .not_signed = HEADER("X-Amz-Content-Sha256", BODY_HASH) },
      LET_IN },
    { "the hash of the body is sent and signed",
      { .also_signed = HEADER("X-Amz-Content-Sha256", BODY_HASH) },
      LET_IN },
};

static void every_amazon_header_and_the_host_must_be_signed(void **state)
{
    check(*state, header_rules, COUNT_OF(header_rules));
}

static const struct rule one_way_rules[] = {
    { "no credentials", { .without_credentials = true }, MISSING },
    { "another scheme", { SPOIL("AWS4-HMAC-SHA256", "Basic") }, MISSING },
    { "a scheme that begins like it",
      { SPOIL("AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA256X ") },
      MISSING },
    { "two headers, the wrong one last",
      { SPOIL("Content-Length", "Authorization: AWS4-HMAC-SHA256 "
                                "Credential=a\r\nContent-Length") },
      MISSING },
    { "two headers, the wrong one first",
      { SPOIL("Host", "authorization: AWS4-HMAC-SHA256 Credential=a\r\nHost") },
      MISSING },
    { "in the query alone",
      { .without_credentials = true,
        SPOIL("POST / ", "POST /?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a ") },
      MISSING },
    { "in the query as well",
      { SPOIL("POST / ", "POST /?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a ") },
      MISMATCH },
    { "another query", { SPOIL("POST / ", "POST /?a=b ") }, MISMATCH },
    { "another path", { SPOIL("POST / ", "POST /a ") }, MISMATCH },
    { "a parameter that means nothing",
      { SPOIL("SignedHeaders=", "Else=, SignedHeaders=") },
      LET_IN },
};

static void credentials_come_in_one_header(void **state)
{
    check(*state, one_way_rules, COUNT_OF(one_way_rules));
}

static const struct rule payload_rules[] = {
    { "the body was changed", { SPOIL("\r\n\r\n{}", "\r\n\r\n[]") }, MISMATCH },
    { "the hash of another body, not signed",
      { .not_signed = HEADER("X-Amz-Content-Sha256", "0" BODY_HASH) },
      MISMATCH },
    { "the hash of another body, signed",
      { .also_signed = HEADER("X-Amz-Content-Sha256", "0" BODY_HASH) },
      MISMATCH },
    { "no hash, signed", { .also_signed = HEADER("X-Amz-Content-Sha256", "") }, MISMATCH },
    { "UNSIGNED-PAYLOAD, signed",
      { .also_signed = HEADER("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") },
      MISMATCH },
    { "UNSIGNED-PAYLOAD, not signed",
      { .not_signed = HEADER("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") },
      MISMATCH },
    { "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
      { .also_signed = HEADER("X-Amz-Content-Sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD") },
      MISMATCH },
    { "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
      { .also_signed = HEADER("X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER") },
      MISMATCH },
    { "the right hash, then another",
      { .also_signed = HEADER("X-Amz-Content-Sha256", BODY_HASH),
        .not_signed = HEADER("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") },
      MISMATCH },
};

static void the_bytes_received_are_what_is_hashed(void **state)
{
    check(*state, payload_rules, COUNT_OF(payload_rules));
}

#define NOW AUTH_FIXTURE_NOW
static const struct rule scope_rules[] = {
    { "another day in the scope",
      { SPOIL("/20150830/", "/20150831/") },
      INVALID_SIGNATURE,
      "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
      "'20150831' != '20150830', from '" NOW "'." },
    { "half a day in the scope",
      { SPOIL("/20150830/", "/2015083/") },
      INVALID_SIGNATURE,
      "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
      "'2015083' != '20150830', from '" NOW "'." },
    { "another service",
      { .service = "s3" },
      INVALID_SIGNATURE,
      "Credential should be scoped to correct service: 'dynamodb'. " },
    { "another region",
      { .region = "eu-west-1" },
      INVALID_SIGNATURE,
      "Credential should be scoped to a valid region, not 'eu-west-1'. " },
    { "another region and service",
      { .region = "eu-west-1", .service = "s3" },
      INVALID_SIGNATURE,
      "Credential should be scoped to a valid region, not 'eu-west-1'. "
      "Credential should be scoped to correct service: 'dynamodb'. " },
    { "a second less than 15 minutes ago", { .time = "20150830T122101Z" }, LET_IN },
    { "15 minutes ago", { .time = "20150830T122100Z" }, LET_IN },
    { "a second more than 15 minutes ago",
      { .time = "20150830T122059Z" },
      INVALID_SIGNATURE,
      "Signature expired: 20150830T122059Z is now earlier than 20150830T122100Z (" NOW
      " - 15 min.)" },
    { "a second less than 15 minutes ahead", { .time = "20150830T125059Z" }, LET_IN },
    { "15 minutes ahead", { .time = "20150830T125100Z" }, LET_IN },
    { "a second more than 15 minutes ahead",
      { .time = "20150830T125101Z" },
      INVALID_SIGNATURE,
      "Signature not yet current: 20150830T125101Z is still later than 20150830T125100Z (" NOW
      " + 15 min.)" },
    { "a minute that there is not",
      { .time = "20150830T123560Z" },
      SERVICE "IncompleteSignatureException",
      "Date must be in ISO-8601 'basic format'. Got '20150830T123560Z'. See "
      "http://en.wikipedia.org/wiki/ISO_8601" },
    { "the date was changed", { SPOIL("Date: " NOW, "Date: 20150830T123601Z") }, MISMATCH },
};

static void the_scope_and_the_clock_must_be_right(void **state)
{
    check(*state, scope_rules, COUNT_OF(scope_rules));
}

static const struct rule key_rules[] = {
    { "an unknown key", { .key = AUTH_KEY_UNKNOWN }, UNRECOGNIZED },
    { "an unknown key with somebody's token",
      { .key = AUTH_KEY_UNKNOWN, .token = AUTH_TOKEN_OTHERS },
      UNRECOGNIZED },
    { "an id that is none", { SPOIL("Credential=", "Credential=x") }, UNRECOGNIZED },
    { "a disabled key", { .key = AUTH_KEY_DISABLED }, UNRECOGNIZED },
    { "a disabled key and a wrong secret",
      { .key = AUTH_KEY_DISABLED, .secret = "wrong" },
      UNRECOGNIZED },
    { "a wrong secret", { .secret = "wrong" }, MISMATCH },
    { "another signature of that length",
      { SPOIL("Signature=", "Signature=0000000000000000000000000000000000000000000000000000"
                            "000000000000, X=") },
      MISMATCH },
    { "a shorter signature", { SPOIL("Signature=", "Signature=0, X=") }, MISMATCH },
    { "a key that needs no token, with one", { .token = AUTH_TOKEN_OTHERS }, UNRECOGNIZED },
    { "a temporary key with its token", { .key = AUTH_KEY_SESSION }, LET_IN },
    { "a temporary key without its token",
      { .key = AUTH_KEY_SESSION, .token = AUTH_TOKEN_NONE },
      UNRECOGNIZED },
    { "a temporary key with another one's token",
      { .key = AUTH_KEY_SESSION, .token = AUTH_TOKEN_OTHERS },
      UNRECOGNIZED },
    { "a temporary key and a wrong secret",
      { .key = AUTH_KEY_SESSION, .secret = "wrong" },
      MISMATCH },
    { "a temporary key whose time is over", { .key = AUTH_KEY_EXPIRED_SESSION }, EXPIRED },
    { "the same without its token",
      { .key = AUTH_KEY_EXPIRED_SESSION, .token = AUTH_TOKEN_NONE },
      UNRECOGNIZED },
    { "a temporary key of a disabled one", { .key = AUTH_KEY_ORPHAN_SESSION }, UNRECOGNIZED },
};

static void unknown_disabled_and_wrong_keys_are_told_the_same(void **state)
{
    check(*state, key_rules, COUNT_OF(key_rules));
}

static const struct rule framing_rules[] = {
    { "Content-Length with Transfer-Encoding",
      { .not_signed = HEADER("Transfer-Encoding", "chunked") },
      MALFORMED },
    { "a second Host", { .not_signed = HEADER("Host", "127.0.0.1") }, MALFORMED },
    { "a folded line",
      { SPOIL("DynamoDB_20120810.List", "\r\n DynamoDB_20120810.List") },
      MALFORMED },
    { "NUL in a value", { SPOIL("DynamoDB_", "\0DynamoDB_") }, MALFORMED },
    { "NUL in a name", { SPOIL("X-Amz-Target", "X-Amz\0Target") }, MALFORMED },
    { "a space before a colon", { SPOIL("X-Amz-Target:", "X-Amz-Target :") }, MALFORMED },
    { "a second Content-Length", { .not_signed = HEADER("Content-Length", "2") }, MALFORMED },
};

static void what_a_proxy_could_read_otherwise_is_refused(void **state)
{
    check(*state, framing_rules, COUNT_OF(framing_rules));
}

static void an_unknown_operation_is_judged_before_the_credentials(void **state)
{
    static const struct rule unknown[] = {
        { "of a right key", { .target = "DynamoDB_20120810.Nothing" }, LET_IN },
        { "of an unknown key",
          { .key = AUTH_KEY_UNKNOWN, .target = "DynamoDB_20120810.Nothing" },
          LET_IN },
        { "without credentials",
          { .target = "DynamoDB_20120810.Nothing", .without_credentials = true },
          LET_IN },
        { "of another prefix", { .target = "Nothing_20120810.ListTables" }, LET_IN },
    };
    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        struct auth_answer got = auth_fixture_send(*state, &unknown[i].request);
        if (got.status != 400 ||
            !bytes_equal(got.body, BYTES("{\"__type\":\"" SERVICE "UnknownOperationException\"}")))
            fail_msg("%s: %d %.*s", unknown[i].name, got.status, BYTES_FMT(got.body));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_amazon_header_and_the_host_must_be_signed),
        cmocka_unit_test(credentials_come_in_one_header),
        cmocka_unit_test(the_bytes_received_are_what_is_hashed),
        cmocka_unit_test(the_scope_and_the_clock_must_be_right),
        cmocka_unit_test(unknown_disabled_and_wrong_keys_are_told_the_same),
        cmocka_unit_test(an_unknown_operation_is_judged_before_the_credentials),
        cmocka_unit_test(what_a_proxy_could_read_otherwise_is_refused),
    };
    return cmocka_run_group_tests(tests, auth_fixture_set_up, auth_fixture_tear_down);
}
