/* test_sha256.c -- SHA-256 and HMAC give the digests of FIPS 180-4 and RFC 4231. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "crypto/sha256.h"

static void assert_digest(const uint8_t digest[SHA256_SIZE], const char *want)
{
    char hex[SHA256_HEX_SIZE];
    sha256_hex(digest, hex);
    assert_memory_equal(hex, want, sizeof hex);
    assert_true(sha256_hex_equal(hex, want));
}

static void digests_are_those_of_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };
    struct sha256 *hasher = sha256_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint8_t digest[SHA256_SIZE];
        sha256_digest(hasher, bytes_from_text(cases[i].text), digest);
        assert_digest(digest, cases[i].want);
    }
    sha256_destroy(hasher);
}

static void pieces_give_the_digest_of_the_whole(void **state)
{
    (void)state;
    static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    struct sha256 *hasher = sha256_create();
    for (size_t first = 0; first < sizeof text; first++) {
        uint8_t digest[SHA256_SIZE];
        sha256_begin(hasher);
        sha256_add(hasher, bytes_of(text, first));
        sha256_add(hasher, bytes_of(text + first, sizeof text - 1 - first));
        sha256_finish(hasher, digest);
        assert_digest(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
    sha256_destroy(hasher);
}

static void hmacs_are_those_of_the_standard(void **state)
{
    (void)state;
    uint8_t long_key[131];
    memset(long_key, 0xaa, sizeof long_key);
    const struct {
        struct bytes key;
        const char *text, *want;
    } cases[] = {
        { BYTES("Jefe"), "what do ya want for nothing?",
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
        { bytes_of(long_key, sizeof long_key), /* Longer than a block: hashed first. */
          "Test Using Larger Than Block-Size Key - Hash Key First",
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
    };
    struct sha256 *hasher = sha256_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint8_t digest[SHA256_SIZE];
        sha256_hmac(hasher, cases[i].key, bytes_from_text(cases[i].text), digest);
        assert_digest(digest, cases[i].want);
    }
    sha256_destroy(hasher);
}

static void digests_that_differ_in_one_place_are_not_equal(void **state)
{
    (void)state;
    char a[SHA256_HEX_SIZE], b[SHA256_HEX_SIZE];
    memset(a, 'a', sizeof a);
    memset(b, 'a', sizeof b);
    for (size_t i = 0; i < sizeof b; i++) {
        b[i] = 'b';
        assert_false(sha256_hex_equal(a, b));
        b[i] = 'a';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(pieces_give_the_digest_of_the_whole),
        cmocka_unit_test(hmacs_are_those_of_the_standard),
        cmocka_unit_test(digests_that_differ_in_one_place_are_not_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
