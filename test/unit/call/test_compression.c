/* test_compression.c -- bodies inflate within their bound, and only if they are complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <zlib.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "call/compression.h"

enum { LIMIT = 100000 };

static struct bytes repeated(struct arena *arena, char byte, size_t len)
{
    uint8_t *data = arena_alloc(arena, len);
    memset(data, byte, len);
    return bytes_of(data, len);
}

static void gzip_inflates_to_the_same_bytes(void **state)
{
    struct arena *arena = *state;
    static const size_t sizes[] = { 0, 1, 4096, 65536, LIMIT };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct bytes body = repeated(arena, 'a', sizes[i]), out;
        assert_int_equal(compression_inflate(arena, compression_gzip(arena, body), LIMIT, &out),
                         COMPRESSION_OK);
        assert_true(bytes_equal(out, body));
    }
}

static void a_body_one_byte_over_the_bound_is_too_large(void **state)
{
    struct arena *arena = *state;
    struct bytes out;
    struct bytes packed = compression_gzip(arena, repeated(arena, 'a', LIMIT + 1));
    assert_int_equal(compression_inflate(arena, packed, LIMIT, &out), COMPRESSION_TOO_LARGE);
    assert_int_equal(compression_inflate(arena, packed, LIMIT + 1, &out), COMPRESSION_OK);
}

static void a_bomb_uses_no_more_memory_than_its_bound(void **state)
{
    struct arena *arena = *state;
    struct arena *source = arena_create();
    struct bytes packed = compression_gzip(source, repeated(source, 0, 50 << 20)), out;
    assert_int_equal(compression_inflate(arena, packed, LIMIT, &out), COMPRESSION_TOO_LARGE);
    assert_true(arena_held_size(arena) < 16 * LIMIT);
    arena_destroy(source);
}

static void deflate_bodies_are_zlib_streams(void **state)
{
    struct arena *arena = *state;
    uint8_t packed[64];
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, (const Bytef *)"{\"a\":1}", 7), Z_OK);
    struct bytes out;
    assert_int_equal(compression_inflate(arena, bytes_of(packed, size), LIMIT, &out),
                     COMPRESSION_OK);
    assert_true(bytes_equal_text(out, "{\"a\":1}"));
}

static void bodies_that_are_not_whole_are_damaged(void **state)
{
    struct arena *arena = *state;
    struct bytes packed = compression_gzip(arena, BYTES("hello, hello, hello")), out;
    for (size_t len = 0; len < packed.len; len++)
        assert_int_equal(compression_inflate(arena, bytes_of(packed.data, len), LIMIT, &out),
                         COMPRESSION_DAMAGED);
    assert_int_equal(compression_inflate(arena, BYTES("{\"a\":1}"), LIMIT, &out),
                     COMPRESSION_DAMAGED);
}

static void bytes_behind_the_end_are_damage(void **state)
{
    struct arena *arena = *state;
    struct bytes packed = compression_gzip(arena, BYTES("hello")), out;
    uint8_t *longer = arena_alloc(arena, packed.len + 1);
    memcpy(longer, packed.data, packed.len);
    longer[packed.len] = 'x';
    assert_int_equal(compression_inflate(arena, bytes_of(longer, packed.len + 1), LIMIT, &out),
                     COMPRESSION_DAMAGED);
}

static void crc32_is_zlibs(void **state)
{
    (void)state;
    assert_int_equal(compression_crc32(BYTES("123456789")), 0xCBF43926);
    assert_int_equal(compression_crc32(BYTES("")), 0);
}

static void crc32_of_every_size_is_zlibs(void **state)
{
    enum { SIZE_MAX_TRIED = 400 };
    struct random random;
    random_init(&random, 32);
    for (size_t size = 0; size <= SIZE_MAX_TRIED; size++) {
        uint8_t *body = arena_alloc(*state, size); /* Poison follows it. */
        random_fill(&random, body, size);
        assert_int_equal(compression_crc32(bytes_of(body, size)), crc32_z(0, body, size));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gzip_inflates_to_the_same_bytes, arena_fixture_open,
                                        arena_fixture_close),
        cmocka_unit_test_setup_teardown(a_body_one_byte_over_the_bound_is_too_large,
                                        arena_fixture_open, arena_fixture_close),
        cmocka_unit_test_setup_teardown(a_bomb_uses_no_more_memory_than_its_bound,
                                        arena_fixture_open, arena_fixture_close),
        cmocka_unit_test_setup_teardown(deflate_bodies_are_zlib_streams, arena_fixture_open,
                                        arena_fixture_close),
        cmocka_unit_test_setup_teardown(bodies_that_are_not_whole_are_damaged, arena_fixture_open,
                                        arena_fixture_close),
        cmocka_unit_test_setup_teardown(bytes_behind_the_end_are_damage, arena_fixture_open,
                                        arena_fixture_close),
        cmocka_unit_test(crc32_is_zlibs),
        cmocka_unit_test_setup_teardown(crc32_of_every_size_is_zlibs, arena_fixture_open,
                                        arena_fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
