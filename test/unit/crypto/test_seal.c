/* test_seal.c -- sealed bytes are recovered unchanged, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "crypto/seal.h"

enum { TEXT_MAX = 64 };
static const uint8_t key[SEAL_KEY_SIZE] = { 1, 2, 3 };
#define BESIDE BYTES("a file's first bytes")

/* Test case 14 of the paper that GCM was proposed in: a key, a nonce and a text of zeros. */
static void opens_a_published_vector(void **state)
{
    static const uint8_t zero_key[SEAL_KEY_SIZE] = { 0 };
    static const uint8_t sealed[] = {
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0xce, 0xa7, 0x40,
        0x3d, 0x4d, 0x60, 0x6b, 0x6e, 0x07, 0x4e, 0xc5, 0xd3, 0xba, 0xf3, 0x9d, 0x18, 0xd0, 0xd1,
        0xc8, 0xa7, 0x99, 0x99, 0x6b, 0xf0, 0x26, 0x5b, 0x98, 0xb5, 0xd4, 0x8a, 0xb9, 0x19,
    };
    static const uint8_t zeros[16] = { 0 };
    uint8_t text[16];
    (void)state;
    assert_true(seal_open(zero_key, BYTES(""), bytes_of(sealed, sizeof sealed), text));
    assert_memory_equal(text, zeros, sizeof zeros);
}

static void what_was_sealed_comes_back(void **state)
{
    uint8_t plain[TEXT_MAX];
    uint8_t sealed[TEXT_MAX + SEAL_OVERHEAD];
    uint8_t opened[TEXT_MAX];
    (void)state;
    memset(plain, 'x', sizeof plain);
    for (size_t size = 0; size <= TEXT_MAX; size++) {
        seal_close(key, BESIDE, bytes_of(plain, size), sealed);
        assert_true(seal_open(key, BESIDE, bytes_of(sealed, size + SEAL_OVERHEAD), opened));
        assert_memory_equal(plain, opened, size);
    }
}

static void a_changed_bit_a_cut_or_another_key_is_noticed(void **state)
{
    const struct bytes plain = BYTES("wJalrXUtnFEMI/K7MDENG");
    uint8_t sealed[TEXT_MAX + SEAL_OVERHEAD];
    uint8_t opened[TEXT_MAX];
    uint8_t other[SEAL_KEY_SIZE] = { 0 };
    size_t size = plain.len + SEAL_OVERHEAD;
    (void)state;
    seal_close(key, BESIDE, plain, sealed);
    for (size_t bit = 0; bit < size * 8; bit++) {
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(seal_open(key, BESIDE, bytes_of(sealed, size), opened));
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t shorter = 0; shorter < size; shorter++)
        assert_false(seal_open(key, BESIDE, bytes_of(sealed, shorter), opened));
    assert_false(seal_open(other, BESIDE, bytes_of(sealed, size), opened));
    assert_false(seal_open(key, BYTES("another"), bytes_of(sealed, size), opened));
    assert_true(seal_open(key, BESIDE, bytes_of(sealed, size), opened));
}

static void sealing_twice_gives_different_bytes(void **state)
{
    uint8_t first[SEAL_OVERHEAD + 1];
    uint8_t second[SEAL_OVERHEAD + 1];
    (void)state;
    seal_close(key, BESIDE, BYTES("x"), first);
    seal_close(key, BESIDE, BYTES("x"), second);
    assert_memory_not_equal(first, second, SEAL_NONCE_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_a_published_vector),
        cmocka_unit_test(what_was_sealed_comes_back),
        cmocka_unit_test(a_changed_bit_a_cut_or_another_key_is_noticed),
        cmocka_unit_test(sealing_twice_gives_different_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
