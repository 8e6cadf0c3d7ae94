/* space_saving.h -- the heaviest keys of a stream in bounded memory: weighted space-saving.
 *
 * A summary has at most k counters, and a counter a key, a count and an error:
 *
 *     count - error <= true weight of the key <= count
 *
 * A key without a counter has at most the weight of space_saving_floor. A new key that finds no
 * free counter takes the smallest one over: its count starts at what that one had, and that is its
 * error. After a total weight of W no error exceeds W / k, so every key with more than W / k has a
 * counter (Metwally, Agrawal and El Abbadi, 2005). Up to k different keys are counted exactly.
 *
 * Keys are copied once into memory of the summary. Together they are at most `keys_size_max` bytes;
 * beyond that the smallest counters go, so with longer keys k is smaller and the errors, which are
 * known for each counter, are larger.
 *
 * Summaries can be merged: errors add up, and the inequality above still holds.
 *
 * An update of a key that has a counter costs a lookup in a hash table. The smallest counter is
 * found by a heap that is brought up to date only when a counter is to be taken over, O(log k)
 * amortised over the updates.
 *
 * Not for more than one thread at a time.
 */
#ifndef STATOR_INSIGHT_SPACE_SAVING_H
#define STATOR_INSIGHT_SPACE_SAVING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct space_saving; /* Opaque. */

enum {
    SPACE_SAVING_COUNTERS_MAX = 1 << 16,
    SPACE_SAVING_KEYS_SIZE_MAX = 1 << 28,
};
/* Of one summary. Sums over all the summaries that can be merged stay far below 2^64. */
#define SPACE_SAVING_WEIGHT_MAX (UINT64_C(1) << 48)

struct space_saving_options {
    size_t counters_max;  /* k: 1 to SPACE_SAVING_COUNTERS_MAX. */
    size_t keys_size_max; /* Of all keys together: 1 to SPACE_SAVING_KEYS_SIZE_MAX. */
};

struct space_saving *space_saving_create(const struct space_saving_options *options);
void space_saving_destroy(struct space_saving *summary); /* NULL is allowed. */

/* Adds to the weight of a key. `hash` is the key's: equal for equal keys in all summaries that are
 * merged, and such that clients cannot choose keys with equal hashes. The key is copied. A key
 * longer than keys_size_max only adds to the total and the floor. True if the key had no counter
 * before. */
bool space_saving_add(struct space_saving *summary, uint64_t hash, struct bytes key,
                      uint64_t weight);
/* Adds what another summary has counted. */
void space_saving_merge(struct space_saving *summary, const struct space_saving *other);

size_t space_saving_count(const struct space_saving *summary); /* Of counters in use. */
uint64_t space_saving_total(const struct space_saving *summary);
/* No key without a counter has more weight than this. */
uint64_t space_saving_floor(const struct space_saving *summary);

struct space_saving_counter {
    struct bytes key; /* Borrowed until the summary changes. */
    uint64_t hash;
    uint64_t count;
    uint64_t error;
};
/* The counters by count, largest first, equal ones by key. `out` has room for `count_max`; returns
 * how many there are in it. */
size_t space_saving_top(const struct space_saving *summary, struct space_saving_counter *out,
                        size_t count_max);
/* False if the key has no counter. */
bool space_saving_find(const struct space_saving *summary, uint64_t hash, struct bytes key,
                       struct space_saving_counter *out);

/* For decoders: adds a counter to a summary to which nothing else is done yet. False if there is no
 * room for it, the key has one already, or the numbers make no sense. */
bool space_saving_load(struct space_saving *summary, const struct space_saving_counter *counter);
/* Sets what the counters do not tell. False if that is more than SPACE_SAVING_WEIGHT_MAX. */
bool space_saving_load_end(struct space_saving *summary, uint64_t total, uint64_t floor);

/* The memory it occupies now. */
size_t space_saving_memory(const struct space_saving *summary);
/* The most that a summary with these options ever occupies. */
size_t space_saving_memory_max(const struct space_saving_options *options);

#endif
