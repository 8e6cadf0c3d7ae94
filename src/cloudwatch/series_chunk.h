/* series_chunk.h -- the stored form of some consecutive bins of a series, and where it is stored.
 *
 * A chunk is what is read and written at once: the minutes of an hour, for example. Chunks of one
 * time lie together whatever their series, so that a time expires as one range.
 */
#ifndef STATOR_CLOUDWATCH_SERIES_CHUNK_H
#define STATOR_CLOUDWATCH_SERIES_CHUNK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudwatch/sample_set.h"
#include "engine/engine.h"

struct arena;

/* Stored: values never change. From fine to coarse. */
enum series_resolution {
    SERIES_RESOLUTION_1S = 1,
    SERIES_RESOLUTION_60S = 2,
    SERIES_RESOLUTION_300S = 3,
    SERIES_RESOLUTION_3600S = 4,
    SERIES_RESOLUTION_END,
};
struct series_resolution_rule {
    int32_t bin_s;
    int32_t chunk_s; /* A multiple of bin_s. */
    int64_t kept_s;  /* Chunks that ended longer ago are merged into the next resolution... */
    bool is_deleted; /* ...or deleted. */
};
const struct series_resolution_rule *series_resolution_rule(enum series_resolution resolution);

enum {
    SERIES_CHUNK_BINS_MAX = 60,
    SERIES_CHUNK_FORMAT = 1,

    /* First byte of a key of the place. */
    SERIES_KEY_CHUNK = 'C',      /* Then resolution, start of the chunk, series. */
    SERIES_KEY_DEFINITION = 'D', /* Then the series. */
    SERIES_KEY_NEXT_ID = 'N',
    SERIES_KEY_POSITION = 'P',
    SERIES_KEY_TOTAL = 'T', /* Then resolution and start of the chunk. */
    SERIES_CHUNK_KEY_SIZE = 1 + 1 + 8 + 8,
    SERIES_TOTAL_KEY_SIZE = 1 + 1 + 8,
};
extern const struct engine_place series_place;

struct series_chunk {
    size_t count;
    struct {
        uint8_t offset; /* In bins, from the chunk's start. Ascending. */
        struct sample_set set;
    } bins[SERIES_CHUNK_BINS_MAX];
};

/* The set of that bin, which is empty if it is new. */
struct sample_set *series_chunk_bin(struct series_chunk *chunk, uint8_t offset);

struct bytes series_chunk_encode(struct arena *arena, const struct series_chunk *chunk);
/* False for damaged bytes, or for others than series_chunk_encode makes. Histograms are made in
 * the arena. `bin_count`: of its resolution. */
MUST_CHECK bool series_chunk_decode(struct arena *arena, struct bytes stored, size_t bin_count,
                                    struct series_chunk *out);

struct bytes series_chunk_key(struct arena *arena, enum series_resolution resolution,
                              int64_t start_s, uint64_t series_id);
/* The first key behind all chunks of that start. */
struct bytes series_chunk_key_end(struct arena *arena, enum series_resolution resolution,
                                  int64_t start_s);
struct bytes series_total_key(struct arena *arena, enum series_resolution resolution,
                              int64_t start_s);
/* Both are false unless the key is of that kind. */
MUST_CHECK bool series_chunk_key_parse(struct bytes key, enum series_resolution *resolution,
                                       int64_t *start_s, uint64_t *series_id);
MUST_CHECK bool series_total_key_parse(struct bytes key, enum series_resolution *resolution,
                                       int64_t *start_s);

/* Records of fixed integers: format, checksum, 8 bytes for each. */
struct bytes series_numbers_encode(struct arena *arena, const uint64_t *numbers, size_t count);
MUST_CHECK bool series_numbers_decode(struct bytes stored, uint64_t *numbers, size_t count);

#endif
