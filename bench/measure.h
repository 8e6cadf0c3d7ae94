/* measure.h -- the loop that the micro benchmarks share.
 *
 * Prints `name  N ns`: the best of several rounds, because anything else that runs on the machine
 * can only make a round slower.
 */
#ifndef STATOR_BENCH_MEASURE_H
#define STATOR_BENCH_MEASURE_H
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"

enum { MEASURE_ROUNDS = 20, MEASURE_CALLS = 20000 };

/* `work` returns something that depends on its result, so that it is not optimised away. `arena` is
 * reset after every call, as after a request. */
static inline void measure(const char *name, struct arena *arena, size_t (*work)(void *context),
                           void *context)
{
    int64_t best_ns = INT64_MAX;
    size_t done = 0;
    for (int round = 0; round < MEASURE_ROUNDS; round++) {
        int64_t start_ns = clock_monotonic_ns();
        for (int call = 0; call < MEASURE_CALLS; call++) {
            done += work(context);
            arena_reset(arena);
        }
        int64_t elapsed_ns = clock_monotonic_ns() - start_ns;
        if (elapsed_ns < best_ns)
            best_ns = elapsed_ns;
    }
    if (done == 0)
        abort();
    printf("%s  %" PRId64 " ns\n", name, best_ns / MEASURE_CALLS);
}

#endif
