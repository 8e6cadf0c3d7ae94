/* test_md5.c -- the digests of RFC 1321, and of every length near the border of a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/md5.h"

/* In pieces of `step` bytes. */
static void assert_digest(struct bytes data, size_t step, const char *want)
{
    struct md5 md5;
    uint8_t digest[MD5_DIGEST_SIZE];
    char text[2 * MD5_DIGEST_SIZE + 1];
    md5_init(&md5);
    for (size_t at = 0; at < data.len; at += step)
        md5_add(&md5, bytes_of(data.data + at, data.len - at < step ? data.len - at : step));
    md5_finish(&md5, digest);
    for (size_t i = 0; i < MD5_DIGEST_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, want);
}

static void the_digests_of_rfc_1321(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "d41d8cd98f00b204e9800998ecf8427e" },
        { "a", "0cc175b9c0f1b6a831c399e269772661" },
        { "abc", "900150983cd24fb0d6963f7d28e17f72" },
        { "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
        { "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
        { "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
          "d174ab98d277d9f5a5611c2c9f419d9f" },
        { "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
          "57edf4a22be3c955ac49da2e2107b67a" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_digest(bytes_from_text(cases[i].text), SIZE_MAX / 2, cases[i].want);
}

static void lengths_near_the_border_of_a_block(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        const char *want;
    } cases[] = {
        { 1, "93b885adfe0da089cdf634904fd59f71" },    { 7, "9aa461e1eca4086f9230aa49c90b0c61" },
        { 54, "33dd62a2df6538daf1cf821d9cde61f9" },   { 55, "6912ee65fff2d9f9ce2508cddf8bcda0" },
        { 56, "51fdd1acda72405dfdfa03fcb85896d7" },   { 57, "5320ef4c17ef34a0cf2db763338d25eb" },
        { 63, "48a6295221902e8e0938f773a7185e72" },   { 64, "b2d3f56bc197fd985d5965079b5e7148" },
        { 65, "8bd7053801c768420faf816fadba971c" },   { 119, "1c772251899a7ff007400b888d6b2042" },
        { 120, "b7ba1efc6022e9ed272f00b8831e26e6" },  { 127, "8402b21e7bc7906493bae0dac017f1f9" },
        { 128, "37eff01866ba3f538421b30b7cbefcac" },  { 129, "46f986692847558fc38b0cece591c20f" },
        { 1000, "a24f1e3ef66950e1327f210e3997ba2c" },
    };
    uint8_t data[1000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i % 251);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_digest(bytes_of(data, cases[i].size), SIZE_MAX / 2, cases[i].want);
        assert_digest(bytes_of(data, cases[i].size), 1, cases[i].want);
        assert_digest(bytes_of(data, cases[i].size), 63, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digests_of_rfc_1321),
        cmocka_unit_test(lengths_near_the_border_of_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
