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
#include "base/give_way.h"
#include "base/random.h"
#include "compression/compression.h"

enum { LIMIT = 100000 };

static const enum compression_format formats[] = { COMPRESSION_GZIP, COMPRESSION_DEFLATE };

static struct bytes repeated(struct arena *arena, char byte, size_t len)
{
    uint8_t *data = arena_alloc(arena, len);
    memset(data, byte, len);
    return bytes_of(data, len);
}

static void what_was_compressed_inflates_to_the_same_bytes(void **state)
{
    struct arena *arena = *state;
    static const size_t sizes[] = { 0, 1, 4096, 65536, LIMIT };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct bytes body = repeated(arena, 'a', sizes[i]), out;
        for (size_t f = 0; f < COUNT_OF(formats); f++) {
            struct bytes packed = compression_deflate(arena, body, formats[f]);
            assert_int_equal(compression_inflate(arena, packed, formats[f], LIMIT, &out),
                             COMPRESSION_OK);
            assert_true(bytes_equal(out, body));
        }
    }
}

static void a_body_one_byte_over_the_bound_is_too_large(void **state)
{
    struct arena *arena = *state;
    struct bytes out;
    struct bytes packed =
        compression_deflate(arena, repeated(arena, 'a', LIMIT + 1), COMPRESSION_GZIP);
    assert_int_equal(compression_inflate(arena, packed, COMPRESSION_GZIP, LIMIT, &out),
                     COMPRESSION_TOO_LARGE);
    assert_int_equal(compression_inflate(arena, packed, COMPRESSION_GZIP, LIMIT + 1, &out),
                     COMPRESSION_OK);
}

static void a_bomb_uses_no_more_memory_than_its_bound(void **state)
{
    struct arena *arena = *state;
    struct arena *source = arena_create();
    struct bytes packed =
                     compression_deflate(source, repeated(source, 0, 50 << 20), COMPRESSION_GZIP),
                 out;
    assert_int_equal(compression_inflate(arena, packed, COMPRESSION_GZIP, LIMIT, &out),
                     COMPRESSION_TOO_LARGE);
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
    assert_int_equal(
        compression_inflate(arena, bytes_of(packed, size), COMPRESSION_DEFLATE, LIMIT, &out),
        COMPRESSION_OK);
    assert_true(bytes_equal_text(out, "{\"a\":1}"));
}

static void bodies_that_are_not_whole_are_damaged(void **state)
{
    struct arena *arena = *state;
    struct bytes packed =
                     compression_deflate(arena, BYTES("hello, hello, hello"), COMPRESSION_GZIP),
                 out;
    for (size_t len = 0; len < packed.len; len++)
        assert_int_equal(
            compression_inflate(arena, bytes_of(packed.data, len), COMPRESSION_GZIP, LIMIT, &out),
            COMPRESSION_DAMAGED);
    assert_int_equal(compression_inflate(arena, BYTES("{\"a\":1}"), COMPRESSION_GZIP, LIMIT, &out),
                     COMPRESSION_DAMAGED);
}

static struct bytes joined(struct arena *arena, struct bytes a, struct bytes b)
{
    uint8_t *both = arena_alloc(arena, a.len + b.len);
    memcpy(both, a.data, a.len);
    memcpy(both + a.len, b.data, b.len);
    return bytes_of(both, a.len + b.len);
}

static void bytes_behind_the_end_are_damage(void **state)
{
    struct arena *arena = *state;
    struct bytes out;
    for (size_t f = 0; f < COUNT_OF(formats); f++) {
        struct bytes packed = compression_deflate(arena, BYTES("hello"), formats[f]);
        assert_int_equal(
            compression_inflate(arena, joined(arena, packed, BYTES("x")), formats[f], LIMIT, &out),
            COMPRESSION_DAMAGED);
    }
}

static void a_body_in_the_other_format_is_damaged(void **state)
{
    struct arena *arena = *state;
    struct bytes out;
    for (size_t f = 0; f < COUNT_OF(formats); f++) {
        struct bytes packed = compression_deflate(arena, BYTES("hello"), formats[1 - f]);
        assert_int_equal(compression_inflate(arena, packed, formats[f], LIMIT, &out),
                         COMPRESSION_DAMAGED);
    }
}

static void a_gzip_body_may_have_several_members(void **state)
{
    struct arena *arena = *state;
    struct bytes out;
    struct bytes first = compression_deflate(arena, BYTES("hello, "), COMPRESSION_GZIP);
    struct bytes empty = compression_deflate(arena, BYTES(""), COMPRESSION_GZIP);
    struct bytes last = compression_deflate(arena, BYTES("world"), COMPRESSION_GZIP);
    struct bytes all = joined(arena, joined(arena, first, empty), last);
    assert_int_equal(compression_inflate(arena, all, COMPRESSION_GZIP, 12, &out), COMPRESSION_OK);
    assert_true(bytes_equal_text(out, "hello, world"));
    /* The bound is that of all members together. */
    assert_int_equal(compression_inflate(arena, all, COMPRESSION_GZIP, 11, &out),
                     COMPRESSION_TOO_LARGE);
    for (size_t len = first.len + 1; len < all.len; len++)
        if (len != first.len + empty.len)
            assert_int_equal(
                compression_inflate(arena, bytes_of(all.data, len), COMPRESSION_GZIP, LIMIT, &out),
                COMPRESSION_DAMAGED);
    struct bytes zlib = compression_deflate(arena, BYTES("hello"), COMPRESSION_DEFLATE);
    assert_int_equal(
        compression_inflate(arena, joined(arena, zlib, zlib), COMPRESSION_DEFLATE, LIMIT, &out),
        COMPRESSION_DAMAGED);
}

/* --- The format of an answer --- */

static const struct {
    const char *header;
    enum compression_format format;
} choices[] = {
    { "", COMPRESSION_NONE },
    { "identity", COMPRESSION_NONE },
    { "br", COMPRESSION_NONE },
    { "gzip", COMPRESSION_GZIP },
    { "GZip", COMPRESSION_GZIP },
    { "deflate", COMPRESSION_DEFLATE },
    { "gzipped", COMPRESSION_NONE },
    /* The first of equals. */
    { "gzip, deflate", COMPRESSION_GZIP },
    { "deflate,gzip", COMPRESSION_DEFLATE },
    { "br, identity, deflate, gzip", COMPRESSION_DEFLATE },
    { "identity;q=1, gzip;q=0.1", COMPRESSION_GZIP },
    /* The highest quality. */
    { "deflate;q=0.5, gzip;q=0.6", COMPRESSION_GZIP },
    { "gzip;q=0.5, deflate;q=0.51", COMPRESSION_DEFLATE },
    { "gzip;q=0.999, deflate", COMPRESSION_DEFLATE },
    { "gzip;q=.5, deflate;q=0.6", COMPRESSION_DEFLATE },
    { "gzip ; q = 0.5 , deflate ; q = 0.6", COMPRESSION_DEFLATE },
    { "gzip;Q=0.5, deflate;Q=0.6", COMPRESSION_DEFLATE },
    { "gzip;a=1;q=0.5, deflate;q=0.6", COMPRESSION_DEFLATE },
    { "gzip;q=0.1, deflate;q=0.2, gzip;q=0.3", COMPRESSION_GZIP },
    /* 0 excludes. */
    { "gzip;q=0", COMPRESSION_NONE },
    { "gzip;q=0.000", COMPRESSION_NONE },
    { "gzip;q=0, deflate;q=0.1", COMPRESSION_DEFLATE },
    { "gzip;q=0, deflate;q=0", COMPRESSION_NONE },
    /* The rest. */
    { "*", COMPRESSION_GZIP },
    { "*;q=0", COMPRESSION_NONE },
    { "*;q=0, deflate", COMPRESSION_DEFLATE },
    { "*, gzip;q=0.5", COMPRESSION_DEFLATE },
    { "gzip;q=0, *", COMPRESSION_DEFLATE },
    { "gzip;q=0.5, *;q=0.1", COMPRESSION_GZIP },
    { "gzip, *", COMPRESSION_GZIP },
    { "deflate, *", COMPRESSION_DEFLATE },
    { "*, deflate", COMPRESSION_GZIP },
    { "deflate;q=0.5, *", COMPRESSION_GZIP },
    { "gzip;q=0, deflate;q=0, *", COMPRESSION_NONE },
    /* Above 1 is 1. */
    { "gzip;q=2, deflate;q=3", COMPRESSION_GZIP },
    { "gzip;q=99999999999999999999, deflate", COMPRESSION_GZIP },
    { "deflate, gzip;q=1.5", COMPRESSION_DEFLATE },
    /* Unreadable is 1. */
    { "gzip;q=0.9, deflate;q=0.x", COMPRESSION_DEFLATE },
    { "gzip;q=0.9, deflate;q=", COMPRESSION_DEFLATE },
    { "gzip;q=0.9, deflate;q=.", COMPRESSION_DEFLATE },
    { "gzip;q=0.9, deflate;q=0..1", COMPRESSION_DEFLATE },
    /* Negative is 0. */
    { "gzip;q=-1", COMPRESSION_NONE },
    { "gzip;q=-0.5, deflate;q=0.1", COMPRESSION_DEFLATE },
    { "gzip;q=-x", COMPRESSION_GZIP },
    /* The first of two. */
    { "gzip;q=0;q=1", COMPRESSION_NONE },
    { "gzip;q=1;q=0", COMPRESSION_GZIP },
    /* Not a list. */
    { ",,;,", COMPRESSION_NONE },
    { ";q=1", COMPRESSION_NONE },
};

static void the_format_is_chosen_by_quality_and_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(choices); i++) {
        enum compression_format got = compression_choose(bytes_from_text(choices[i].header));
        if (got != choices[i].format)
            fail_msg("%s: %d", choices[i].header, (int)got);
    }
    assert_int_equal(compression_choose((struct bytes){ 0 }), COMPRESSION_NONE);
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

static void long_work_gives_way(void **state)
{
    enum { SIZE = 1024 * 1024, COUNT_MIN = 100 };
    struct arena *arena = *state;
    struct bytes body = repeated(arena, 'x', SIZE), inflated;
    struct bytes wanted = compression_deflate(arena, body, COMPRESSION_GZIP);
    uint64_t before = give_way_own.count;
    give_way_set(true);
    struct bytes packed = compression_deflate(arena, body, COMPRESSION_GZIP);
    uint64_t deflating = give_way_own.count - before;
    assert_int_equal(compression_inflate(arena, packed, COMPRESSION_GZIP, SIZE, &inflated),
                     COMPRESSION_OK);
    give_way_set(false);
    assert_true(bytes_equal(packed, wanted));
    assert_true(bytes_equal(inflated, body));
    assert_in_range(deflating, COUNT_MIN, SIZE);
    assert_in_range(give_way_own.count - before - deflating, COUNT_MIN / 10, SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_compressed_inflates_to_the_same_bytes,
                                        arena_fixture_open, arena_fixture_close),
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
        cmocka_unit_test_setup_teardown(a_body_in_the_other_format_is_damaged, arena_fixture_open,
                                        arena_fixture_close),
        cmocka_unit_test_setup_teardown(a_gzip_body_may_have_several_members, arena_fixture_open,
                                        arena_fixture_close),
        cmocka_unit_test_setup_teardown(long_work_gives_way, arena_fixture_open,
                                        arena_fixture_close),
        cmocka_unit_test(the_format_is_chosen_by_quality_and_order),
        cmocka_unit_test(crc32_is_zlibs),
        cmocka_unit_test_setup_teardown(crc32_of_every_size_is_zlibs, arena_fixture_open,
                                        arena_fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
