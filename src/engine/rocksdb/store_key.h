/* store_key.h -- an engine address as one RocksDB key.
 *
 * Layout: doc/disk-format.md, "Engine keys". All keys of a place, of a partition and of an owner
 * are each one range.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_KEY_H
#define STATOR_ENGINE_ROCKSDB_STORE_KEY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

enum {
    STORE_KEY_OWNER_SIZE = 8,
    STORE_KEY_PREFIX_SIZE = 8 + 8 + 1, /* Owner, partition, space. */
    /* The prefix that RocksDB's filters cover: the place and eight bytes, which the layers above
     * fill with a hash. A scan within one such prefix skips files that have no key with it. */
    STORE_KEY_FILTERED_SIZE = STORE_KEY_PREFIX_SIZE + 8,
    STORE_KEY_INLINE_SIZE = 256, /* Longer keys are built on the heap. */
};

struct store_key {
    const char *data;
    size_t size;
    char *heap; /* NULL while the key fits into `space`. */
    char space[STORE_KEY_INLINE_SIZE];
};

/* The key of an address. The caller calls store_key_deinit. */
void store_key_init(struct store_key *key, const struct engine_place *place, struct bytes rest);
/* The end of a range whose `last` is empty: the first key behind the place. */
void store_key_init_place_end(struct store_key *key, const struct engine_place *place);
/* `last` of a range, or the end of the place if it is empty. */
void store_key_init_last(struct store_key *key, const struct engine_place *place,
                         struct bytes last);
/* The first key of an owner: eight bytes, a prefix of all its keys. */
void store_key_init_owner(struct store_key *key, uint64_t owner);
/* The first key that a place behind this one can have. False if there is no such place. */
MUST_CHECK bool store_key_init_next_place(struct store_key *key, const struct engine_place *place);
void store_key_deinit(struct store_key *key);

/* True if all keys from `first` up to `last` begin with the same STORE_KEY_FILTERED_SIZE bytes. */
bool store_key_is_filtered(const struct store_key *first, const struct store_key *last);

/* The first key behind all that begin with `run`, which has STORE_KEY_FILTERED_SIZE bytes. */
void store_key_run_end(struct bytes run, char end[STORE_KEY_FILTERED_SIZE]);

/* The place of a stored key. False if it is too short to be an address. */
MUST_CHECK bool store_key_decode_place(struct bytes key, struct engine_place *out);

#endif
