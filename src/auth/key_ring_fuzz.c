/* key_ring_fuzz.c -- arbitrary text as a key ring: a valid one survives writing and parsing.
 */
#include <assert.h>
#include <stdint.h>
#include "auth/key_ring.h"
#include "base/arena.h"
#include "base/buffer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bytes write_ring(struct arena *arena, const struct key_ring *ring)
{
    struct buffer out;
    buffer_init(&out, arena);
    key_ring_write(ring, &out);
    return buffer_bytes(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct key_ring ring;
    struct key_ring again;
    if (key_ring_parse(arena, bytes_of(data, size), &ring)) {
        struct bytes json = write_ring(arena, &ring);
        bool read = key_ring_parse(arena, json, &again);
        assert(read && bytes_equal(write_ring(arena, &again), json));
        for (size_t i = 0; i < ring.count; i++) {
            assert(key_ring_find(&ring, ring.keys[i].id) == &ring.keys[i]);
            const struct access_key *grantor = key_ring_grantor(&ring, &ring.keys[i], 1);
            assert(grantor == NULL || grantor->parent.data == NULL);
        }
    }
    arena_destroy(arena);
    return 0;
}
