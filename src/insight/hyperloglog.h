/* hyperloglog.h -- how many different keys there were, in 4 KB: HyperLogLog with p = 12.
 *
 * The standard error is 1.04 / sqrt(4096), i.e. 1.6 %. Small numbers are counted linearly
 * (Flajolet, Fusy, Gandouet and Meunier, 2007), and are nearly exact. Two can be merged: the result
 * is that of all keys of both.
 *
 * A plain value; a zeroed one has counted nothing.
 */
#ifndef STATOR_INSIGHT_HYPERLOGLOG_H
#define STATOR_INSIGHT_HYPERLOGLOG_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"

enum {
    HYPERLOGLOG_BITS = 12,
    HYPERLOGLOG_REGISTERS = 1 << HYPERLOGLOG_BITS,
    /* A register holds the position of the first 1 among the other bits of a hash, or one more. */
    HYPERLOGLOG_RANK_MAX = 64 - HYPERLOGLOG_BITS + 1,
};

struct hyperloglog {
    uint8_t registers[HYPERLOGLOG_REGISTERS];
};

/* `hash` must be uniform in all its bits. */
static inline void hyperloglog_add(struct hyperloglog *sketch, uint64_t hash)
{
    uint64_t rest = hash << HYPERLOGLOG_BITS;
    uint8_t rank =
        rest == 0 ? HYPERLOGLOG_RANK_MAX : (uint8_t)(__builtin_clzll((unsigned long long)rest) + 1);
    uint8_t *cell = &sketch->registers[hash >> (64 - HYPERLOGLOG_BITS)];
    if (*cell < rank)
        *cell = rank;
}

void hyperloglog_merge(struct hyperloglog *sketch, const struct hyperloglog *other);
uint64_t hyperloglog_estimate(const struct hyperloglog *sketch);

/* Appends the sketch: few keys take few bytes. */
void hyperloglog_encode(const struct hyperloglog *sketch, struct buffer *out);
/* Moves `in` behind the sketch. False if these bytes are none that encoding leads to. */
MUST_CHECK bool hyperloglog_decode(struct bytes *in, struct hyperloglog *out);

#endif
