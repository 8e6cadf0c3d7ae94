/* random.c -- xoshiro256** seeded through splitmix64, as its authors advise. */
#include "base/random.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint64_t rotate_left(uint64_t value, int count)
{
    return (value << count) | (value >> (64 - count));
}

void random_init(struct random *random, uint64_t seed)
{
    for (size_t i = 0; i < 4; i++) {
        seed += 0x9E3779B97F4A7C15u;
        uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
        random->state[i] = mixed ^ (mixed >> 31);
    }
}

void random_init_from_system(struct random *random)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        abort();
    random_init(random, seed);
}

uint64_t random_next(struct random *random)
{
    uint64_t *state = random->state;
    uint64_t result = rotate_left(state[1] * 5, 7) * 9;
    uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate_left(state[3], 45);
    return result;
}

uint64_t random_below(struct random *random, uint64_t bound)
{
    assert(bound > 0);
    /* Reject numbers below the threshold, which would make low results more frequent. */
    uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        uint64_t value = random_next(random);
        if (value >= threshold)
            return value % bound;
    }
}

void random_fill(struct random *random, void *out, size_t size)
{
    uint8_t *at = out;
    while (size > 0) {
        uint64_t value = random_next(random);
        size_t step = size < sizeof value ? size : sizeof value;
        memcpy(at, &value, step);
        at += step;
        size -= step;
    }
}
