/* test_compressor.c -- streams come back whole however they are cut, and damage is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "compression/compression.h"
#include "compression/compressor.h"

enum { DATA_SIZE = 300000 };

static const enum compressor_kind kinds[] = { COMPRESSOR_NONE, COMPRESSOR_GZIP, COMPRESSOR_ZSTD };

static bool keep(void *context, struct bytes piece)
{
    buffer_append_bytes(context, piece);
    return true;
}

/* Half random, half compressible. */
static struct bytes some_data(struct arena *arena, size_t size)
{
    uint8_t *data = arena_alloc(arena, size + 1);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)((i / 1000) % 2 == 0 ? i * i * 2654435761u >> 11 : 'a');
    return bytes_of(data, size);
}

static struct bytes compress(struct arena *arena, enum compressor_kind kind, struct bytes data,
                             size_t step)
{
    struct buffer out;
    buffer_init(&out, arena);
    struct compressor *compressor = compressor_create(kind, keep, &out);
    for (size_t at = 0; at < data.len; at += step) {
        size_t size = data.len - at < step ? data.len - at : step;
        assert_true(compressor_write(compressor, bytes_of(data.data + at, size)));
    }
    assert_true(compressor_finish(compressor));
    compressor_destroy(compressor);
    return buffer_bytes(&out);
}

/* Feeds `step` bytes at a time and takes `room` at a time. False if the stream is damaged or cut.
 */
static bool decompress(struct arena *arena, struct decompressor *decompressor, struct bytes packed,
                       size_t step, size_t room, struct bytes *out)
{
    struct buffer whole;
    buffer_init(&whole, arena);
    for (size_t at = 0; at < packed.len; at += step) {
        struct bytes in =
            bytes_of(packed.data + at, packed.len - at < step ? packed.len - at : step);
        enum decompressor_status status;
        do {
            size_t produced;
            uint8_t *to = buffer_reserve(&whole, room);
            status = decompressor_run(decompressor, &in, to, room, &produced);
            assert_true(produced <= room);
            whole.len += produced;
            if (status == DECOMPRESSOR_DAMAGED)
                return false;
        } while (status == DECOMPRESSOR_ROOM);
        assert_int_equal(in.len, 0);
    }
    *out = buffer_bytes(&whole);
    return decompressor_complete(decompressor);
}

static void a_stream_comes_back_however_it_is_cut(void **state)
{
    static const size_t sizes[] = { 0, 1, 1000, DATA_SIZE };
    static const size_t steps[] = { 1, 7, 4096, DATA_SIZE };
    struct arena *arena = *state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        struct decompressor *decompressor = decompressor_create(kinds[k]);
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            struct bytes data = some_data(arena, sizes[i]), back;
            for (size_t s = 0; s < COUNT_OF(steps); s++) {
                struct bytes packed =
                    compress(arena, kinds[k], data, steps[COUNT_OF(steps) - 1 - s]);
                decompressor_reset(decompressor);
                assert_true(
                    decompress(arena, decompressor, packed, steps[s], 1 + steps[s] / 2, &back));
                assert_true(bytes_equal(back, data));
            }
        }
        decompressor_destroy(decompressor);
    }
}

static void several_members_are_one_stream(void **state)
{
    struct arena *arena = *state;
    struct bytes data = some_data(arena, 5000), back;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        struct bytes parts[] = { compress(arena, kinds[k], data, 5000),
                                 compress(arena, kinds[k], BYTES(""), 1),
                                 compress(arena, kinds[k], data, 5000) };
        struct bytes packed = arena_join(arena, parts, COUNT_OF(parts));
        struct decompressor *decompressor = decompressor_create(kinds[k]);
        assert_true(decompress(arena, decompressor, packed, 11, 64, &back));
        assert_true(bytes_equal(back, arena_join(arena, (struct bytes[]){ data, data }, 2)));
        decompressor_destroy(decompressor);
    }
}

static void a_stream_that_was_cut_is_not_complete(void **state)
{
    struct arena *arena = *state;
    struct bytes data = some_data(arena, 5000), back;
    for (size_t k = 1; k < COUNT_OF(kinds); k++) {
        struct bytes packed = compress(arena, kinds[k], data, 5000);
        struct decompressor *decompressor = decompressor_create(kinds[k]);
        for (size_t len = 1; len < packed.len; len += len < 40 ? 1 : 97) {
            decompressor_reset(decompressor);
            assert_false(
                decompress(arena, decompressor, bytes_of(packed.data, len), 512, 512, &back));
        }
        decompressor_destroy(decompressor);
    }
}

static void other_bytes_are_damage(void **state)
{
    struct arena *arena = *state;
    struct bytes data = some_data(arena, 5000), back;
    for (size_t k = 1; k < COUNT_OF(kinds); k++) {
        struct decompressor *decompressor = decompressor_create(kinds[k]);
        assert_false(decompress(arena, decompressor, BYTES("{\"Item\":{}}\n"), 100, 100, &back));
        decompressor_reset(decompressor);
        struct bytes behind[] = { compress(arena, kinds[k], data, 5000), BYTES("garbage") };
        assert_false(
            decompress(arena, decompressor, arena_join(arena, behind, 2), 100, 100, &back));
        decompressor_reset(decompressor);
        struct bytes packed = compress(arena, kinds[k], data, 5000);
        uint8_t *changed = arena_alloc(arena, packed.len);
        memcpy(changed, packed.data, packed.len);
        changed[packed.len / 2] ^= 0x10;
        assert_false(
            decompress(arena, decompressor, bytes_of(changed, packed.len), 100, 100, &back));
        decompressor_destroy(decompressor);
    }
}

static void gzip_streams_are_those_of_everybody(void **state)
{
    struct arena *arena = *state;
    struct bytes data = some_data(arena, 5000), back;
    struct bytes packed = compress(arena, COMPRESSOR_GZIP, data, 100);
    assert_int_equal(compression_inflate(arena, packed, COMPRESSION_GZIP, 5000, &back),
                     COMPRESSION_OK);
    assert_true(bytes_equal(back, data));
    assert_int_equal(packed.data[4] | packed.data[5] | packed.data[6] | packed.data[7], 0);
}

static bool refuse_second(void *context, struct bytes piece)
{
    (void)piece;
    return ++*(int *)context < 2;
}

static void a_sink_that_fails_stops_the_stream(void **state)
{
    struct arena *arena = *state;
    uint8_t *noise = arena_alloc(arena, DATA_SIZE);
    for (size_t i = 0; i < DATA_SIZE; i++)
        noise[i] = (uint8_t)(i * i * 2654435761u >> 13);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        int pieces = 0;
        struct compressor *compressor = compressor_create(kinds[k], refuse_second, &pieces);
        bool ok = true;
        for (int i = 0; i < 20 && ok; i++)
            ok = compressor_write(compressor, bytes_of(noise, DATA_SIZE));
        assert_false(ok);
        assert_false(compressor_write(compressor, BYTES("x")));
        assert_false(compressor_finish(compressor));
        assert_int_equal(pieces, 2);
        compressor_destroy(compressor);
    }
}

/* A frame that asks for a window of 1 GB: magic, no single segment, window descriptor of 2^30. */
static void a_window_above_the_bound_is_refused(void **state)
{
    struct arena *arena = *state;
    static const uint8_t frame[] = {
        0x28, 0xB5, 0x2F, 0xFD, 0x00, (30 - 10) << 3, 0x01, 0x00, 0x00
    };
    struct bytes back;
    struct decompressor *decompressor = decompressor_create(COMPRESSOR_ZSTD);
    assert_false(decompress(arena, decompressor, bytes_of(frame, sizeof frame), 100, 100, &back));
    static const uint8_t allowed[] = { 0x28, 0xB5, 0x2F, 0xFD, 0x00, (27 - 10) << 3, 0x01, 0, 0 };
    decompressor_reset(decompressor);
    assert_true(
        decompress(arena, decompressor, bytes_of(allowed, sizeof allowed), 100, 100, &back));
    decompressor_destroy(decompressor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_stream_comes_back_however_it_is_cut),
        ARENA_TEST(several_members_are_one_stream),
        ARENA_TEST(a_stream_that_was_cut_is_not_complete),
        ARENA_TEST(other_bytes_are_damage),
        ARENA_TEST(gzip_streams_are_those_of_everybody),
        ARENA_TEST(a_sink_that_fails_stops_the_stream),
        ARENA_TEST(a_window_above_the_bound_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
