/* compressor_fuzz.c -- decompressing arbitrary bytes stays within its room, and what we compress
 * comes back, however both are cut.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "compression/compressor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 61, OUTPUT_MAX = 100000 };

static bool keep(void *context, struct bytes piece)
{
    buffer_append_bytes(context, piece);
    return true;
}

/* False if the stream is damaged or cut. */
static bool decompress(enum compressor_kind kind, struct bytes packed, size_t step,
                       struct buffer *out)
{
    struct decompressor *decompressor = decompressor_create(kind);
    bool sound = true;
    for (size_t at = 0; at < packed.len && sound; at += step) {
        struct bytes in =
            bytes_of(packed.data + at, packed.len - at < step ? packed.len - at : step);
        enum decompressor_status status = DECOMPRESSOR_ROOM;
        while (status == DECOMPRESSOR_ROOM && out->len < OUTPUT_MAX) {
            size_t produced;
            status =
                decompressor_run(decompressor, &in, buffer_reserve(out, ROOM), ROOM, &produced);
            assert(produced <= ROOM);
            out->len += produced;
        }
        sound = status == DECOMPRESSOR_INPUT;
    }
    sound = sound && decompressor_complete(decompressor);
    decompressor_destroy(decompressor);
    return sound;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes input = bytes_of(size == 0 ? (const uint8_t *)"" : data, size);
    size_t step = 1 + (size > 0 ? data[0] : 0);
    for (int kind = COMPRESSOR_NONE; kind <= COMPRESSOR_ZSTD; kind++) {
        struct buffer out, packed, back;
        buffer_init(&out, arena);
        (void)decompress((enum compressor_kind)kind, input, step, &out);
        if (size > OUTPUT_MAX / 2)
            continue;
        buffer_init(&packed, arena);
        buffer_init(&back, arena);
        struct compressor *compressor =
            compressor_create((enum compressor_kind)kind, keep, &packed);
        bool written = compressor_write(compressor, input);
        bool finished = compressor_finish(compressor);
        assert(written && finished);
        compressor_destroy(compressor);
        bool whole = decompress((enum compressor_kind)kind, buffer_bytes(&packed), step, &back);
        assert(whole && bytes_equal(buffer_bytes(&back), input));
    }
    arena_destroy(arena);
    return 0;
}
