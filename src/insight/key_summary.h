/* key_summary.h -- what one rule has counted in one minute or hour: the heaviest keys, how many
 * different ones there were, and the bytes of that as they are stored.
 *
 * A key here is the encoded parts of a table's or an index's key (model/key.h), without the hash
 * that stands before them in the store. Weights are the rule's: half units, or throttled requests.
 */
#ifndef STATOR_INSIGHT_KEY_SUMMARY_H
#define STATOR_INSIGHT_KEY_SUMMARY_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "insight/hyperloglog.h"
#include "insight/space_saving.h"

struct arena;

enum {
    KEY_SUMMARY_COUNTERS_MIN = 32,
    KEY_SUMMARY_COUNTERS_MAX = 4096,
    /* What the keys of a summary may occupy together, for each counter. Longer ones make the number
       of counters smaller (space_saving.h). */
    KEY_SUMMARY_KEY_SIZE = 128,
    /* The same for what is stored. */
    KEY_SUMMARY_STORED_KEY_SIZE = 64,
    KEY_SUMMARY_FORMAT = 1,
};

struct key_summary {
    struct space_saving *keys;
    struct hyperloglog distinct;
    uint64_t events;     /* How often something was added, */
    uint64_t weight_min; /* and how much at least and at most; 0 without events. */
    uint64_t weight_max;
    /* Weight that no counter saw, because all were in use by other threads: every key may have so
     * much more. */
    uint64_t missed;
    uint64_t seed; /* Of the hashes in `keys`. */
};

/* `counters_max` is k. All summaries that are merged have the same seed. */
struct key_summary *key_summary_create(size_t counters_max, uint64_t seed);
void key_summary_destroy(struct key_summary *summary); /* NULL is allowed. */
void key_summary_add(struct key_summary *summary, struct bytes key, uint64_t weight);
void key_summary_merge(struct key_summary *summary, const struct key_summary *other);
/* A copy, for a thread that reads on without a lock. */
struct key_summary *key_summary_copy(const struct key_summary *summary, size_t counters_max);
bool key_summary_is_empty(const struct key_summary *summary);

/* The bytes to store, at most key_summary_size_max of them: if necessary, the smallest counters are
 * left out. */
struct bytes key_summary_encode(struct arena *arena, const struct key_summary *summary,
                                size_t counters_max);
/* NULL if these are no bytes that encoding leads to. Has room for what was stored, or for
 * `counters_max` counters if that is more. */
MUST_CHECK struct key_summary *key_summary_decode(struct bytes stored, size_t counters_max,
                                                  uint64_t seed);

size_t key_summary_size_max(size_t counters_max);   /* Of the stored bytes. */
size_t key_summary_memory_max(size_t counters_max); /* Of the structure. */

#endif
