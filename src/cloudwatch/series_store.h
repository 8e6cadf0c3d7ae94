/* series_store.h -- the insides of a store of samples, for the files that make it up. */
#ifndef STATOR_CLOUDWATCH_SERIES_STORE_H
#define STATOR_CLOUDWATCH_SERIES_STORE_H
#include <pthread.h>
#include "cloudwatch/series.h"
#include "cloudwatch/series_chunk.h"

enum {
    SERIES_WRITE_SIZE_MAX = 4 * 1024 * 1024, /* A larger batch is several engine writes. */
    SERIES_UPKEEP_CHUNKS_MAX = 4096,         /* Of one series_upkeep. */
    SERIES_NUMBERS_POSITION = 5,
    SERIES_NUMBERS_TOTAL = 1,
    SERIES_NUMBERS_NEXT_ID = 1,
};

struct series {
    uint64_t id; /* Above 0, never used again. */
    enum unit unit;
    bool is_own;
    bool is_stored;        /* Its definition is. */
    bool is_held;          /* Of the batch that is being written: must not be forgotten. */
    int64_t last_s;        /* Of its newest sample. */
    int64_t stored_last_s; /* As its stored definition has it: within an hour of `last_s`. */
    uint64_t hash;
    struct series *next; /* Of the same bucket. */
    struct bytes identity;
    uint8_t data[]; /* Of the identity. */
};

/* What all chunks of one resolution and time take. */
struct series_total {
    enum series_resolution resolution;
    int64_t start_s;
    uint64_t size; /* Keys and values. */
};

struct series_store {
    struct series_store_options options;
    uint64_t seed;
    series_live *live;
    void *live_context;
    /* Held by whoever changes what is stored, also while it waits for the disk. Taken before
     * `lock`. */
    pthread_mutex_t write_lock;
    struct series_position position;             /* Of the last batch, */
    uint8_t position_key[SERIES_CHUNK_KEY_SIZE]; /* and the key of its last chunk. */
    bool is_unsure; /* A write failed: position and totals must be read again. */
    uint64_t next_id;
    int64_t
        idle_not_before_s[2]; /* When a series can be idle at the earliest; [1]: own ones too. */
    /* Held for moments only. Guards what follows; write_lock is needed as well to change it. */
    pthread_mutex_t lock;
    struct series **buckets;
    size_t bucket_count; /* A power of two. */
    struct series **by_id;
    size_t series_count;
    size_t user_count; /* Of those that are not own. */
    size_t names_size;
    struct series_total *totals; /* Ascending by resolution and start. */
    size_t total_count;
    size_t total_capacity;
    int64_t size; /* Of all totals. */
};

struct series_definition {
    enum unit unit;
    bool is_own;
    int64_t last_s;
    struct bytes identity;
};
struct bytes series_definition_encode(struct arena *arena, const struct series_definition *value);
MUST_CHECK bool series_definition_decode(struct bytes stored, struct series_definition *out);
MUST_CHECK bool series_definition_key_parse(struct bytes key, uint64_t *id);
struct bytes series_definition_key(struct arena *arena, uint64_t id);

/* With `lock` held: */
struct series *series_store_find(struct series_store *store, struct bytes identity, uint64_t hash,
                                 enum unit unit);
struct series *series_store_at(struct series_store *store, uint64_t id); /* NULL: none. */
/* The first total that is not below. */
size_t series_store_total_at(const struct series_store *store, enum series_resolution resolution,
                             int64_t start_s);

/* With write_lock held and `lock` not: */
/* Finds the series or makes it, without storing anything; NULL: no room. */
struct series *series_store_define(struct series_store *store, struct arena *arena,
                                   const struct series_sample *sample, int64_t now_s);
/* Forgets a series; its definition must be deleted by a write. */
void series_store_forget(struct series_store *store, struct series *series);
void series_store_set_total(struct series_store *store, enum series_resolution resolution,
                            int64_t start_s, uint64_t size);
/* Reads position and totals from the store, if a write failed since. */
MUST_CHECK enum engine_status series_store_be_sure(struct series_store *store);

static inline struct engine_address series_store_address(struct bytes key)
{
    return (struct engine_address){ .place = series_place, .key = key };
}

#endif
