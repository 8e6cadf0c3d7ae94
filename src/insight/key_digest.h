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

static inline uint64_t key_digest(uint64_t seed, struct bytes key)
{
    const uint64_t first = UINT64_C(0xa0761d6478bd642f), second = UINT64_C(0xe7037ed1a0b428db);
    uint64_t state = key_digest_fold(seed ^ first, second);
    const uint8_t *at = key.data;
    size_t left = key.len;
    for (; left > 8; at += 8, left -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        state = key_digest_fold(word ^ second, state);
    }
    uint64_t last = 0;
    if (left > 0)
        memcpy(&last, at, left);
    state = key_digest_fold(last ^ second, state);
    return key_digest_fold(state ^ second, (uint64_t)key.len ^ first);
}

#endif
