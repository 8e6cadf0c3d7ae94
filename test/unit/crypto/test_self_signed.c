/* test_self_signed.c -- names that a certificate can have, and what it says. */
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "crypto/self_signed.h"

#define LABEL_63 "a23456789b123456789c123456789d123456789e123456789f123456789g123"
#define NAME_252                                                                                   \
    LABEL_63 "." LABEL_63 "." LABEL_63                                                             \
             ".123456789a123456789b123456789c123456789d123456789e1234567890"

static const struct {
    const char *host;
    bool accepted;
} hosts[] = {
    { "localhost", true },
    { "127.0.0.1", true },
    { "::1", true },
    { "db.example.com", true },
    { "*.example.com", true },
    { "under_score", true },
    { "xn--bcher-kva.de", true },
    { LABEL_63, true },
    { LABEL_63 "x", false },
    { NAME_252, true },
    { NAME_252 "x", true },
    { NAME_252 "xx", false },
    { "", false },
    { ".", false },
    { "a..b", false },
    { "a.", false },
    { ".a", false },
    { "-a", false },
    { "a-", false },
    { "a b", false },
    { "a,DNS:b", false },
    { "https://a", false },
    { "a:8000", false },
    { "[::1]", false },
    { "*", false },
    { "a.*.b", false },
    { "*a.b", false },
    { "b\xC3\xBC"
      "cher",
      false },
};

static void names_are_accepted_or_not(void **state)
{
    (void)state;
    assert_int_equal(strlen(NAME_252), SELF_SIGNED_HOST_SIZE_MAX - 1);
    for (size_t i = 0; i < COUNT_OF(hosts); i++)
        if (self_signed_accepts(hosts[i].host) != hosts[i].accepted)
            fail_msg("'%s'", hosts[i].host);
}

static X509 *read_cert(struct bytes text)
{
    BIO *bio = BIO_new_mem_buf(text.data, (int)text.len);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(cert);
    return cert;
}

static EVP_PKEY *read_key(struct bytes text)
{
    BIO *bio = BIO_new_mem_buf(text.data, (int)text.len);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(key);
    return key;
}

static void a_certificate_is_for_its_names_and_its_time(void **state)
{
    (void)state;
    static const char *const names[] = { "db.example.com", "*.test.example", "10.0.0.7",
                                         "fd00::7" };
    const struct self_signed_options options = {
        .hosts = names, .host_count = COUNT_OF(names), .days = 30, .now_ms = 1800000000000
    };
    struct arena *arena = arena_create();
    struct bytes cert_text, key_text;
    char group[16];
    time_t in_time = 1800000000, before = in_time - 2 * 3600, last = in_time + 30 * 86400 - 1;
    time_t after = last + 2;
    self_signed_create(arena, &options, &cert_text, &key_text);
    X509 *cert = read_cert(cert_text);
    EVP_PKEY *key = read_key(key_text);
    assert_int_equal(X509_check_private_key(cert, key), 1);
    assert_int_equal(EVP_PKEY_get_group_name(key, group, sizeof group, NULL), 1);
    assert_string_equal(group, "prime256v1");
    assert_int_equal(X509_verify(cert, key), 1);
    assert_int_equal(X509_check_ca(cert), 0);
    assert_int_equal(X509_check_host(cert, "db.example.com", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(cert, "any.test.example", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(cert, "example.com", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(cert, "10.0.0.7", 0), 1);
    assert_int_equal(X509_check_ip_asc(cert, "fd00:0::7", 0), 1);
    assert_int_equal(X509_check_ip_asc(cert, "10.0.0.8", 0), 0);
    assert_true(X509_cmp_time(X509_get0_notBefore(cert), &before) > 0);
    assert_true(X509_cmp_time(X509_get0_notBefore(cert), &in_time) < 0);
    assert_true(X509_cmp_time(X509_get0_notAfter(cert), &last) > 0);
    assert_true(X509_cmp_time(X509_get0_notAfter(cert), &after) < 0);
    X509_free(cert);
    EVP_PKEY_free(key);
    arena_destroy(arena);
}

static void a_certificate_ends_with_the_year_9999_at_the_latest(void **state)
{
    (void)state;
    static const char *const names[] = { "localhost" };
    static const int64_t nows_ms[] = {
        INT64_MIN, -1, 0, 253402300799999, 253402300800000, INT64_MAX
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(nows_ms); i++) {
        const struct self_signed_options options = {
            .hosts = names, .host_count = 1, .days = 30, .now_ms = nows_ms[i]
        };
        struct bytes cert_text, key_text;
        struct tm end;
        self_signed_create(arena, &options, &cert_text, &key_text);
        X509 *cert = read_cert(cert_text);
        assert_int_equal(ASN1_TIME_to_tm(X509_get0_notAfter(cert), &end), 1);
        if (nows_ms[i] > 0)
            assert_int_equal(end.tm_year + 1900, 9999);
        X509_free(cert);
    }
    arena_destroy(arena);
}

static void no_two_are_the_same(void **state)
{
    (void)state;
    static const char *const names[] = { LABEL_63 "." LABEL_63 };
    const struct self_signed_options options = {
        .hosts = names, .host_count = 1, .days = SELF_SIGNED_DAYS_MAX, .now_ms = 1800000000000
    };
    struct arena *arena = arena_create();
    struct bytes cert_text[2], key_text[2];
    for (int i = 0; i < 2; i++)
        self_signed_create(arena, &options, &cert_text[i], &key_text[i]);
    assert_false(bytes_equal(key_text[0], key_text[1]));
    X509 *first = read_cert(cert_text[0]), *second = read_cert(cert_text[1]);
    assert_int_not_equal(
        ASN1_INTEGER_cmp(X509_get0_serialNumber(first), X509_get0_serialNumber(second)), 0);
    assert_int_equal(X509_check_host(first, names[0], 0, 0, NULL), 1); /* Too long for a subject. */
    X509_free(first);
    X509_free(second);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_accepted_or_not),
        cmocka_unit_test(a_certificate_is_for_its_names_and_its_time),
        cmocka_unit_test(a_certificate_ends_with_the_year_9999_at_the_latest),
        cmocka_unit_test(no_two_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
