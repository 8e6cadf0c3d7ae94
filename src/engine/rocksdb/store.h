/* store.h -- the embedded engine's state, shared by the files of this folder.
 *
 * rocksdb_engine.c opens and closes it; store_view.c, store_scan.c and store_write.c carry out the
 * operations; store_writer.c writes what RocksDB does not take at once; syncer.c makes writes
 * durable. Lock order: a write's latches, then `publish_mutex`, then `view_mutex`; the mutexes of
 * the latches, the writer, the syncer, the cache and the write pool are leaves. Reads that the
 * cache answers take none of them.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_H
#define STATOR_ENGINE_ROCKSDB_STORE_H
#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "engine/engine_ops.h"
#include "engine/latches.h"
#include "engine/rocksdb/store_directory.h"
#include "engine/rocksdb/store_space.h"
#include "engine/rocksdb/store_touches.h"

struct store_cache;
struct store_counters;
struct store_key;
struct store_watch;
struct store_writer;
struct syncer;

enum { STORE_LINE_SIZE = 64 }; /* Of a cache line. */

/* The options of RocksDB, and what they share ownership of. Must outlive the database. */
struct store_options {
    rocksdb_options_t *db;
    rocksdb_cache_t *block_cache;
    rocksdb_env_t *memory; /* NULL: a real disk. */
};

/* A snapshot. One is published at any time, and every view that is opened meanwhile is this same
 * structure, so opening a view allocates nothing. It is held by hazards (base/hazard.h), and by a
 * counter for views that are shared with other threads. */
struct store_view {
    struct engine_view base;
    uint64_t generation; /* Counted up before the snapshot was taken; see store_cache.h. */
    const rocksdb_snapshot_t *snapshot;
    rocksdb_readoptions_t *read_options;
    struct store_view *next_retired; /* Guarded by view_mutex. */
    /* Views that are counted. In a line of its own: the fields above are read by every read. */
    _Alignas(STORE_LINE_SIZE) atomic_size_t references;
};

struct store_write {
    struct engine_write base;
    rocksdb_writebatch_t *batch;
    unsigned range_count; /* Ranges that the batch deletes. */
    bool stores;          /* It puts items or index entries. */
    uint64_t range_first; /* Owners that they lie between. */
    uint64_t range_last;
    struct store_touches touches; /* What of the cache the batch changes. */
    struct latches_held held;
    struct engine_wait *wait; /* Called when the latches are held; NULL: nobody waits. */
    struct engine_completion *completion; /* While it is in the writer's queue. */
    int64_t queued_ns;                    /* Since when it is there. */
    struct store_write *next;             /* There, and in the pool. */
};

enum {
    /* Writes kept for reuse: more than there are threads. */
    STORE_WRITES_KEPT_MAX = 64,
    /* A batch that grew beyond this is given back rather than kept. */
    STORE_BATCH_KEPT_SIZE_MAX = 256 * 1024,
    /* Ranges deleted until the memtable is flushed. The first read after each such deletion sorts
     * all that are in the memtable: thousands of dropped tables, or of trimmed logs, would make
     * that milliseconds. */
    STORE_RANGES_MAX = 256,
};

/* What reads look at comes first, in lines that nobody writes once the store is open; `published`
 * has a line of its own, which is written once for each snapshot. */
struct store {
    struct engine base;
    rocksdb_t *db;
    struct store_options *options;
    /* RocksDB refuses instead of blocking: a commit never waits. */
    rocksdb_writeoptions_t *write_options;
    rocksdb_writeoptions_t *slow_write_options; /* It waits: for the writer. */
    rocksdb_readoptions_t *newest;              /* Reads without a snapshot. */
    struct store_cache *cache;                  /* NULL: every read asks RocksDB. */
    engine_render *render;                      /* For its entries; NULL: none. */
    struct store_counters *counters;            /* See store_statistics.h. */
    struct syncer *syncer;       /* NULL: a write is complete once RocksDB has taken it. */
    struct store_writer *writer; /* NULL: the store is read only. */
    struct store_watch *watch;   /* NULL: there is no disk to look after. */
    bool latches_work;           /* They were initialised: not of a store that is read only. */
    bool read_only;
    bool fills_log;   /* The syncer fills the log ahead: see store_ahead.h. */
    int64_t stuck_ns; /* As engine_options.stuck_ms. */

    _Alignas(STORE_LINE_SIZE) _Atomic(struct store_view *) published; /* Set under view_mutex. */

    _Alignas(STORE_LINE_SIZE) struct store_directory directory;
    struct store_space space;
    struct latches latches;
    atomic_uint_fast64_t generation; /* Of the view that was created last. */
    atomic_bool is_lost;             /* See store_presence.h. Never cleared. */

    atomic_uint ranges_deleted; /* Since the last flush for their sake. */
    atomic_uint checkpoints;    /* Under way. */

    /* Failed writes of RocksDB, and how many had failed when a later one succeeded. */
    atomic_uint_fast64_t write_failures;
    atomic_uint_fast64_t write_failures_survived;
    /* Set by the watch: RocksDB refuses writes; the count of failures when a probe last
     * succeeded. */
    atomic_bool refuses_writes;
    atomic_uint_fast64_t write_failures_probed;

    pthread_mutex_t publish_mutex; /* Makes taking and publishing a snapshot one step. */
    pthread_mutex_t view_mutex;
    struct store_view *retired; /* Published before, and perhaps in use. Guarded by view_mutex. */
    _Atomic(struct store_view *) spare_view; /* Has no snapshot; NULL: none. */

    pthread_mutex_t pool_mutex;
    struct store_write *pool; /* Guarded by pool_mutex. */
    size_t pool_count;        /* Guarded by pool_mutex. */
    size_t writes_begun;      /* Guarded by pool_mutex. Taken from the pool and not given back. */
};

/* Cleared memory; aborts if there is none. */
void *store_alloc(size_t size);
/* The same, beginning at a line; `size` is a multiple of one. */
void *store_alloc_lines(size_t size);

/* RocksDB counts what a thread does, which nobody reads and which is a tenth of the cost of a get.
 * Counting is switched off per thread, and a view may be used on another thread than the one that
 * opened it. So this comes before each get, batch and iterator. */
static inline void store_stop_counting(void)
{
    rocksdb_set_perf_level(rocksdb_disable);
}

/* The status that an error text of RocksDB stands for. */
enum engine_status store_status_of(const char *error);
/* True if RocksDB refused a write with no_slowdown because it would have had to wait. */
bool store_status_is_stall(const char *error);
/* As store_status_of; logs a line that names `action`, at a limited rate, and frees `error`. */
enum engine_status store_status_take(char *error, const char *action);

struct store_options *store_options_create(const struct engine_options *options);
void store_options_destroy(struct store_options *options);

/* Takes a snapshot of all that was written. The caller publishes or discards it. */
struct store_view *store_view_create(struct store *store);
/* Makes `view` what engine_view_open hands out, and releases those before it that nobody uses. */
void store_view_publish(struct store *store, struct store_view *view);
/* Releases a snapshot that was never published. */
void store_view_discard(struct store *store, struct store_view *view);
/* Takes a snapshot and publishes it, in the order of the snapshots. */
void store_view_publish_newest(struct store *store);
/* Releases what is published; no view may be open. */
void store_view_deinit(struct store *store);

enum engine_status store_view_open(struct engine *engine, enum engine_consistency consistency,
                                   struct engine_view **out);
struct engine_view *store_view_share(struct engine_view *view);
void store_view_close(struct engine_view *view);
enum engine_status store_view_get(struct engine_view *view, const struct engine_address *address,
                                  struct engine_value *out);
/* Reads what was written last, which may not be durable yet. */
enum engine_status store_get_newest(struct store *store, const struct store_key *key,
                                    struct engine_value *out);

enum engine_status store_scan_open(struct engine_view *view, const struct engine_range *range,
                                   struct engine_scan **out);
enum engine_status store_scan_next(struct engine_scan *scan, struct engine_entry *out);
void store_scan_close(struct engine_scan *scan);
enum engine_status store_scan_next_place(struct engine_view *view, const struct engine_place *after,
                                         struct engine_place *out);

/* True if RocksDB refused a write and has not taken one since. */
bool store_write_is_failing(const struct store *store);
/* Destroys the pooled writes; none may be under way. */
void store_write_deinit(struct store *store);
/* For the writer: hands the batch to RocksDB and waits as long as that takes; then ends the write
 * and answers its completion. */
enum engine_status store_write_apply_slowly(struct store_write *write);
void store_write_end(struct store_write *write, enum engine_status status);
enum engine_status store_write_begin(struct engine *engine, const struct engine_address *addresses,
                                     size_t address_count, struct engine_wait *wait,
                                     struct engine_write **out);
enum engine_status store_write_try(struct engine *engine, const struct engine_address *addresses,
                                   size_t address_count, bool *busy, struct engine_write **out);
enum engine_status store_write_extend(struct engine_write *write,
                                      const struct engine_address *addresses, size_t address_count,
                                      struct engine_wait *wait);
enum engine_status store_write_get(struct engine_write *write, const struct engine_address *address,
                                   struct engine_value *out);
void store_write_put(struct engine_write *write, const struct engine_address *address,
                     struct bytes value);
void store_write_delete(struct engine_write *write, const struct engine_address *address);
void store_write_delete_range(struct engine_write *write, const struct engine_place *place,
                              struct bytes first, struct bytes last);
void store_write_delete_owner(struct engine_write *write, uint64_t owner);
void store_write_commit(struct engine_write *write, struct engine_completion *completion);
void store_write_abandon(struct engine_write *write);

#endif
