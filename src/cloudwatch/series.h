/* series.h -- the samples of metrics, kept durably and within bounds.
 *
 * A series is a namespace, a name, a set of dimensions (their order does not matter) and a unit.
 * Its samples are kept as one sample_set for each bin of time:
 *
 *   bins of 1 s for 3 hours       (only where StorageResolution is 1; minutes exist as well)
 *   bins of 60 s for 15 days      then merged into
 *   bins of 300 s for 63 days     then merged into
 *   bins of 3,600 s for 455 days  then deleted
 *
 * The store writes by engine writes of its own, in place owner 0, partition 0, space 11
 * (doc/disk-format-monitoring.md, "Metrics"). Writers and readers wait for each other and for the
 * disk, so no event loop may call them. Any other thread may.
 *
 * Bounds: the number of series, the memory of their names, and the bytes on disk. If the disk's
 * bound is reached, the oldest bins of all series go first. A new series that has no room takes the
 * place of one without samples for two weeks; if there is none it is refused. Metrics of users get
 * no more than half of the series, so that they cannot displace those of the server.
 */
#ifndef STATOR_CLOUDWATCH_SERIES_H
#define STATOR_CLOUDWATCH_SERIES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudwatch/sample_set.h"
#include "cloudwatch/unit.h"
#include "engine/engine.h"

struct arena;
struct clock;
struct series_store;
struct series_reader;

enum {
    SERIES_DIMENSIONS_MAX = 30,
    SERIES_NAME_SIZE_MAX =
        255 * 4, /* 255 characters, of namespaces, names and dimensions' names. */
    SERIES_DIMENSION_VALUE_SIZE_MAX = 1024 * 4,

    SERIES_RETENTION_1S_S = 3 * 3600,
    SERIES_RETENTION_60S_S = 15 * 86400,
    SERIES_RETENTION_300S_S = 63 * 86400,
    SERIES_RETENTION_3600S_S = 455 * 86400,
    /* A series without samples for so long is not listed and may lose its place. */
    SERIES_LISTED_S = 14 * 86400,

    /* Of the settings. Names may take this much memory for each series, on average. */
    SERIES_COUNT_DEFAULT = 20000,
    SERIES_NAMES_SIZE_EACH = 512,
};
#define SERIES_SIZE_DEFAULT (INT64_C(1024) * 1024 * 1024)

/* --- What is stored --- */

struct series_dimension {
    struct bytes name;
    struct bytes value;
};

struct series_key {
    struct bytes namespace;
    struct bytes name;
    const struct series_dimension *dimensions; /* In any order, no name twice. */
    size_t dimension_count;                    /* At most SERIES_DIMENSIONS_MAX. */
    enum unit unit;                            /* UNIT_ANY only to read. */
};

struct series_sample {
    struct series_key key;
    int64_t time_s; /* Since 1970; not negative. Its bin is the one that holds this second. */
    bool is_high_resolution; /* Keep seconds as well as minutes. */
    bool is_own;             /* Of the server, not a user's: may use all of the store. */
    struct sample_set set;   /* Not empty. */
};

struct series_store_options {
    struct engine *engine;     /* Borrowed; must outlive the store. */
    const struct clock *clock; /* The same. */
    size_t series_max;         /* 0: SERIES_COUNT_DEFAULT. */
    int64_t size_max;          /* Bytes of samples on disk; 0: SERIES_SIZE_DEFAULT. */
};

/* Reads the list of series. NULL with the engine's status if that fails; ENGINE_CORRUPT if a record
 * is damaged. The owner calls series_store_close, which allows NULL. */
MUST_CHECK struct series_store *series_store_open(const struct series_store_options *options,
                                                  enum engine_status *status);
void series_store_close(struct series_store *store);

/* Who writes a batch, and the batch's number: a batch that is repeated because nobody knows whether
 * its write took place is not counted twice, provided that its samples are the same, in the same
 * order. `run` is any number that no other run of the server has. */
struct series_position {
    uint64_t run;
    uint64_t step; /* Above 0. Ascending. */
};

enum series_outcome {
    SERIES_STORED,
    SERIES_FULL,   /* Stored but for the samples of new series, for which there is no room. */
    SERIES_FAILED, /* `status` says how. What was stored of the batch is not known. */
};
/* Adds samples to what their bins hold, durably. `position` NULL: it is not repeated. `arena` is
 * for the work. A sample that is older than the retention of minutes is dropped. `refused` (NULL:
 * not wanted) is how many samples found no room. */
MUST_CHECK enum series_outcome series_write(struct series_store *store, struct arena *arena,
                                            const struct series_sample *samples, size_t count,
                                            const struct series_position *position, size_t *refused,
                                            enum engine_status *status);

/* Merges what became old into coarser bins, removes what expired and what exceeds the bound. Does a
 * bounded part of it; `more` says whether some is left. */
MUST_CHECK enum engine_status series_upkeep(struct series_store *store, int64_t now_s, bool *more);

struct series_usage {
    size_t series_count;
    size_t names_size; /* Memory of their names. */
    int64_t size;      /* On disk, keys and values of samples. */
};
struct series_usage series_usage(struct series_store *store);

/* Nobody else writes, and no reader opens, between these two; the holder may. For a writer whose
 * samples move from its live ones into the store in one step. */
void series_store_hold(struct series_store *store);
void series_store_release(struct series_store *store);

/* Samples that are not stored yet, such as those of the minute that is open. Appended to by the
 * callback below; memory is the arena's. */
struct series_samples {
    struct series_sample *samples;
    size_t count;
    size_t capacity;
};
void series_samples_append(struct arena *arena, struct series_samples *list,
                           const struct series_sample *sample);
/* Called for each reader, with the store held, so that no sample is both stored and shown by the
 * callback. Set before other threads use the store; NULL: none. */
typedef void series_live(void *context, struct arena *arena, struct series_samples *out);
void series_store_set_live(struct series_store *store, series_live *live, void *context);

/* --- Reading --- */

/* One moment of the store for the reads of one request, with what is not stored yet. Belongs to the
 * thread that opens it. `arena` keeps what is read; it must outlive the reader. NULL with the
 * engine's status. Close it soon: it holds a view. */
MUST_CHECK struct series_reader *series_reader_open(struct series_store *store, struct arena *arena,
                                                    enum engine_status *status);
void series_reader_close(struct series_reader *reader); /* Closing NULL is allowed. */
/* What is read from now on lives in another arena, which may be reset between two reads. Returns
 * the one before. */
struct arena *series_reader_set_arena(struct series_reader *reader, struct arena *arena);

struct series_bin {
    int64_t start_s;
    struct sample_set set; /* Not empty; lives in the reader's arena. */
};
struct series_bins {
    struct series_bin *bins; /* Ascending. Bins without samples are left out. */
    size_t count;
    size_t capacity;
};

enum { SERIES_PERIOD_S_MAX = 455 * 86400 };

/* Bins of `period_s` seconds from `start_s` on, until `end_s`, which is not included; the last one
 * may be cut short. From whatever resolution exists at each time and is not coarser than the
 * period. A period below 60 needs samples of high resolution. `key.unit` UNIT_ANY: all units
 * together. No such series: no bins. */
MUST_CHECK enum engine_status series_read(struct series_reader *reader,
                                          const struct series_key *key, int64_t period_s,
                                          int64_t start_s, int64_t end_s, struct series_bins *out);
/* In which units there are samples under the key, whatever its own unit. Returns how many. */
size_t series_units(struct series_reader *reader, const struct series_key *key,
                    enum unit out[UNIT_KIND_COUNT]);

struct series_filter {
    struct bytes namespace;                    /* data NULL: any. */
    struct bytes name;                         /* data NULL: any. */
    const struct series_dimension *dimensions; /* At least these; value.data NULL: any value. */
    size_t dimension_count;
    bool exact_dimensions;  /* Only these, no further ones: for SEARCH. */
    int64_t active_since_s; /* With a sample since then. */
};
/* Appends the series that match and come behind `*token` (0: all), at most `count_max`. Each
 * namespace, name and dimensions only once, whatever their units; `unit` is UNIT_ANY. Keys live in
 * the reader's arena. Sets `*token` to where to resume, or to 0 at the end. */
struct series_keys {
    struct series_key *keys;
    size_t count;
    size_t capacity;
};
void series_list(struct series_reader *reader, const struct series_filter *filter, size_t count_max,
                 uint64_t *token, struct series_keys *out);

#endif
