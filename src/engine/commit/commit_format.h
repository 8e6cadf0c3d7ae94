/* commit_format.h -- the keys and values that the commit protocol stores in a partition.
 *
 * A partition of the store holds all places of the engine with that partition number, whoever owns
 * them: the items of a table, its local indexes, its log, its history and its statistics change in
 * one operation. Only the owner 0, whose numbers are its own, has partitions for itself.
 *
 * Four kinds of keys, by their first byte:
 *   'D' name   a committed value. Its stamp is the id of the write that stored it.
 *   'I' name   an intent on that key. Its stamp is the id of its transaction.
 *   'R' id     the record of a committed transaction, in its primary partition.
 *   'E'        the partition's epoch; absent: 0. Its stamp is the epoch.
 * A name is the owner, the space and the engine's key. doc/disk-format-rados.md has the bytes.
 *
 * Bytes that do not decode are reported, never asserted: they come from a store.
 */
#ifndef STATOR_ENGINE_COMMIT_COMMIT_FORMAT_H
#define STATOR_ENGINE_COMMIT_COMMIT_FORMAT_H
#include "engine/commit/partition_store.h"
#include "engine/engine.h"

enum commit_key_kind {
    COMMIT_KEY_DATA = 'D',
    COMMIT_KEY_EPOCH = 'E',
    COMMIT_KEY_INTENT = 'I',
    COMMIT_KEY_RECORD = 'R',
};

enum commit_change {
    COMMIT_CHANGE_NONE = 1, /* The transaction only read the key. */
    COMMIT_CHANGE_PUT = 2,
    COMMIT_CHANGE_DELETE = 3,
};

enum {
    COMMIT_PARTICIPANTS_MAX = 4096, /* Partitions of one transaction beside its primary. */
    COMMIT_DATA_HEADER_SIZE = PARTITION_STAMP_SIZE + 1,
};

/* The partition of the store that holds a place. */
struct partition_id commit_format_partition(const struct engine_place *place);

/* Names sort by owner, space and key. */
struct bytes commit_format_name(struct arena *arena, uint64_t owner, enum engine_space space,
                                struct bytes key);
/* `key` borrows from `name`. */
MUST_CHECK bool commit_format_read_name(struct bytes name, uint64_t *owner,
                                        enum engine_space *space, struct bytes *key);
struct bytes commit_format_key(struct arena *arena, enum commit_key_kind kind, struct bytes name);

struct bytes commit_format_data(struct arena *arena, const struct partition_stamp *id,
                                struct bytes payload);
MUST_CHECK bool commit_format_read_data(struct bytes value, struct partition_stamp *id,
                                        struct bytes *payload);

struct commit_intent {
    struct partition_stamp id;
    struct partition_id primary;
    uint64_t epoch; /* Of the primary: the transaction commits in this epoch or never. */
    enum commit_change change;
    struct bytes payload; /* Of a put. */
};
struct bytes commit_format_intent(struct arena *arena, const struct commit_intent *intent);
/* `out` borrows from `value`. */
MUST_CHECK bool commit_format_read_intent(struct bytes value, struct commit_intent *out);

struct commit_record {
    struct partition_stamp id;
    struct partition_id *participants; /* All partitions that have intents of it. */
    size_t participant_count;
};
struct bytes commit_format_record(struct arena *arena, const struct commit_record *record);
MUST_CHECK bool commit_format_read_record(struct arena *arena, struct bytes value,
                                          struct commit_record *out);

struct partition_stamp commit_format_epoch_stamp(uint64_t epoch);
struct bytes commit_format_epoch(struct arena *arena, uint64_t epoch);
/* `value` with data NULL is epoch 0. */
MUST_CHECK bool commit_format_read_epoch(struct bytes value, uint64_t *epoch);
/* The guard that the partition is in this epoch. */
struct partition_guard commit_format_epoch_guard(uint64_t epoch);

#endif
