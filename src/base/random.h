/* random.h -- pseudo-random numbers that a seed replays (xoshiro256**).
 *
 * For request ids, jitter and tests. Not for secrets.
 */
#ifndef STATOR_BASE_RANDOM_H
#define STATOR_BASE_RANDOM_H
#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state[4];
};

void random_init(struct random *random, uint64_t seed);
/* Seeds from the system's entropy; aborts if there is none. */
void random_init_from_system(struct random *random);

uint64_t random_next(struct random *random);
/* Uniform in [0, bound); `bound` is at least 1. */
uint64_t random_below(struct random *random, uint64_t bound);
void random_fill(struct random *random, void *out, size_t size);

#endif
