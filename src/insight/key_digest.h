/* key_digest.h -- a 64-bit hash of a key's bytes, for tables in memory and for HyperLogLog.
 *
 * Every bit depends on every byte and on the seed. Not for secrets: a seed that clients do not know
 * keeps them from choosing keys that collide.
 */
#ifndef STATOR_INSIGHT_KEY_DIGEST_H
#define STATOR_INSIGHT_KEY_DIGEST_H
#include <stdint.h>
#include <string.h>
#include "base/bytes.h"

/* The two halves of a product of 128 bits, folded (as in wyhash, by Wang Yi). */
static inline uint64_t key_digest_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t key_digest_load(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Up to eight bytes; which of them are read twice follows from the length, which counts as well. */
static inline uint64_t key_digest_last(const uint8_t *at, size_t size)
{
    if (size >= 4) {
        uint32_t first, last;
        memcpy(&first, at, sizeof first);
        memcpy(&last, at + size - 4, sizeof last);
        return (uint64_t)first << 32 | last;
    }
    if (size == 0)
        return 0;
    return (uint64_t)at[0] << 16 | (uint64_t)at[size / 2] << 8 | at[size - 1];
}

static inline uint64_t key_digest(uint64_t seed, struct bytes key)
{
    const uint64_t first = UINT64_C(0xa0761d6478bd642f), second = UINT64_C(0xe7037ed1a0b428db);
    uint64_t state = seed ^ first;
    const uint8_t *at = key.data, *end = key.data + key.len;
    if (key.len >= 8) {
        for (; end - at > 8; at += 8)
            state = key_digest_fold(key_digest_load(at) ^ second, state);
        state = key_digest_fold(key_digest_load(end - 8) ^ second, state);
    } else {
        state = key_digest_fold(key_digest_last(at, key.len) ^ second, state);
    }
    return key_digest_fold(state ^ second, (uint64_t)key.len ^ first);
}

#endif
