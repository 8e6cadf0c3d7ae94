/* commit_parts.h -- reading what a transaction depends on, partition by partition. Between
 * commit_txn.c and commit_write.c only. */
#ifndef STATOR_ENGINE_COMMIT_COMMIT_PARTS_H
#define STATOR_ENGINE_COMMIT_COMMIT_PARTS_H
#include "engine/commit/commit_txn.h"

enum commit_reading_kind {
    COMMIT_READ_MISSING, /* Entries that are wanted and not read yet. */
    COMMIT_READ_ALL,     /* Entries that were read or are changed. */
};

/* Of one part, all of one moment. */
struct commit_reading {
    size_t part;
    size_t *entries; /* Those that were looked at. */
    size_t count;
    struct bytes *values; /* The epoch; then for each entry its value and its intent. */
    uint64_t version;
};

/* Reads the parts that `readings` name, side by side, with whatever intents are there, and takes
 * their epochs over. */
MUST_CHECK enum engine_status commit_parts_read(struct commit_txn *txn,
                                                struct commit_reading *readings, size_t count,
                                                enum commit_reading_kind kind);
/* The same until each part was read at a moment without intents. Reorders `readings`. */
MUST_CHECK enum engine_status commit_parts_read_settled(struct commit_txn *txn,
                                                        struct commit_reading *readings,
                                                        size_t count,
                                                        enum commit_reading_kind kind);
/* The first entry of a reading that has an intent. */
bool commit_parts_find_intent(const struct commit_reading *reading, size_t *index);

#endif
