/* syncer.c -- see syncer.h.
 *
 * Each round takes the whole queue, then a snapshot, then syncs the write-ahead log, publishes the
 * snapshot, and answers. The snapshot is taken before the sync, so it shows nothing that the sync
 * does not cover; it is taken after the queue, so it shows every write of that queue.
 *
 * A sync that fails is fatal. The kernel may have dropped the pages it could not write, and a
 * second fsync would report success for data that is gone; only recovery from the disk tells what
 * is there.
 */
#include "engine/rocksdb/syncer.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/log.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_ahead.h"
#include "engine/rocksdb/store_presence.h"

enum { LOG_HEADER_SIZE = 7 }; /* What RocksDB puts before a record of the log. */

struct syncer {
    struct store *store;
    pthread_t thread;
    atomic_uint_fast64_t written;       /* Writes that RocksDB has taken. */
    atomic_uint_fast64_t synced;        /* How many of them are durable and published. */
    atomic_uint_fast64_t bytes_written; /* About what they take in the logs. */
    struct store_presence presence;     /* Of the thread alone. */
    struct store_ahead ahead;           /* Of the thread alone. */

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    atomic_uint_fast64_t sync_octaves[ENGINE_SYNC_OCTAVES]; /* As in engine_statistics. */
    atomic_uint_fast64_t sync_ns;
    _Atomic int64_t busy_since_ns;   /* The beginning of a round; 0: none is under way. */
    struct engine_completion *first; /* The queue. Guarded by mutex. */
    struct engine_completion **end;  /* Where the next one is linked. Guarded by mutex. */
    size_t count;                    /* Of the queue. Guarded by mutex. */
    size_t awaited;                  /* The count that wakes the thread. Guarded by mutex. */
    bool stopping;                   /* Guarded by mutex. */
};

/* --- Pace ---
 *
 * Clients that were just answered tend to write again at once. A thread that syncs for whoever is
 * there already splits them into two groups that take turns: twice the syncs, and up to half the
 * rate. So a round waits for most of those who may return, but no longer than a sync takes. Where
 * they do not return so soon, the wait is skipped for some rounds and then tried again. A single
 * client never waits. */
enum {
    PACE_WAIT_NS_MAX = 1000000,
    PACE_ROUNDS_SKIPPED = 4,
};

struct pace {
    size_t expected; /* How many to wait for. */
    int64_t wait_ns; /* And how long. */
    int rounds_to_skip;
};

static void wait_for_expected_locked(struct syncer *syncer, struct pace *pace)
{
    if (syncer->count >= pace->expected || syncer->stopping)
        return;
    if (pace->rounds_to_skip > 0) {
        pace->rounds_to_skip--;
        return;
    }
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t end_ns = end.tv_nsec + pace->wait_ns;
    end.tv_sec += end_ns / 1000000000;
    end.tv_nsec = end_ns % 1000000000;
    syncer->awaited = pace->expected;
    int result = 0;
    while (syncer->count < pace->expected && !syncer->stopping && result == 0)
        result = pthread_cond_clockwait(&syncer->changed, &syncer->mutex, CLOCK_MONOTONIC, &end);
    syncer->awaited = 1;
    if (syncer->count < pace->expected)
        pace->rounds_to_skip = PACE_ROUNDS_SKIPPED;
}

static void learn_pace(struct syncer *syncer, struct pace *pace, size_t answered, int64_t sync_ns)
{
    pthread_mutex_lock(&syncer->mutex);
    size_t all = syncer->count + answered;
    pthread_mutex_unlock(&syncer->mutex);
    pace->expected = all - all / 4; /* A few stragglers must not hold up the rest. */
    pace->wait_ns = sync_ns < PACE_WAIT_NS_MAX ? sync_ns : PACE_WAIT_NS_MAX;
}

/* --- Rounds --- */

/* Waits for work. NULL: there is none and there will be none. */
static struct engine_completion *take_queue(struct syncer *syncer, struct pace *pace, size_t *count)
{
    pthread_mutex_lock(&syncer->mutex);
    while (syncer->count == 0 && !syncer->stopping)
        pthread_cond_wait(&syncer->changed, &syncer->mutex);
    wait_for_expected_locked(syncer, pace);
    struct engine_completion *queue = syncer->first;
    *count = syncer->count;
    syncer->first = NULL;
    syncer->end = &syncer->first;
    syncer->count = 0;
    pthread_mutex_unlock(&syncer->mutex);
    return queue;
}

/* RocksDB refuses to sync a log that failed to take a write; Debian's build even asserts that
 * nobody asks. Yet earlier writes in that log wait for their sync, and a disk that was full just
 * now must not turn them into failures: until a write succeeds again, which means that RocksDB has
 * left that log behind, the files are synced directly. If the syncer asks in the very moment in
 * which the write fails, the process dies as it would of a failed sync, and loses nothing. */
bool syncer_sync_now(struct store *store)
{
    uint64_t sequence = rocksdb_get_latest_sequence_number(store->db);
    char *error = NULL;
    bool ok;
    if (store_write_is_failing(store)) {
        ok = store_directory_sync_logs(&store->directory);
        if (!ok)
            log_write(LOG_ERROR, "engine", "cannot sync the write-ahead log: %s", strerror(errno));
    } else {
        rocksdb_flush_wal(store->db, 1, &error);
        ok = error == NULL;
        if (!ok)
            log_write(LOG_ERROR, "engine", "cannot sync the write-ahead log: %s", error);
        rocksdb_free(error);
    }
    if (ok)
        store_synced_advance(&store->directory.synced, sequence);
    return ok;
}

static void count_sync(struct syncer *syncer, int64_t took_ns)
{
    uint64_t ns = took_ns > 1 ? (uint64_t)took_ns : 1;
    size_t octave = ns == 1 ? 0 : 64u - (size_t)__builtin_clzll(ns - 1);
    if (octave >= ENGINE_SYNC_OCTAVES)
        octave = ENGINE_SYNC_OCTAVES - 1;
    atomic_fetch_add_explicit(&syncer->sync_octaves[octave], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&syncer->sync_ns, ns, memory_order_relaxed);
}

void syncer_read_statistics(struct syncer *syncer, struct engine_statistics *out)
{
    for (size_t i = 0; i < ENGINE_SYNC_OCTAVES; i++) {
        out->sync_octaves[i] = atomic_load_explicit(&syncer->sync_octaves[i], memory_order_relaxed);
        out->syncs += out->sync_octaves[i];
    }
    out->has_disk = true;
    out->sync_ns = atomic_load_explicit(&syncer->sync_ns, memory_order_relaxed);
    out->writes = atomic_load(&syncer->written);
    out->written_size = atomic_load(&syncer->bytes_written);
    pthread_mutex_lock(&syncer->mutex);
    out->sync_queue = syncer->count;
    pthread_mutex_unlock(&syncer->mutex);
}

/* The status of the round's writes. */
static enum engine_status sync_and_publish(struct syncer *syncer)
{
    struct store *store = syncer->store;
    uint64_t written = atomic_load(&syncer->written);
    if (atomic_load(&store->is_lost))
        return ENGINE_LOST;
    if (written == atomic_load(&syncer->synced))
        return ENGINE_OK; /* Only refusals, and the round before covered what they read. */
    struct store_view *view = store_view_create(store);
    store_ahead_fill(&syncer->ahead, atomic_load(&syncer->bytes_written));
    int64_t start_ns = clock_monotonic_ns();
    if (!syncer_sync_now(store))
        abort();
    count_sync(syncer, clock_monotonic_ns() - start_ns);
    if (!store_presence_check(&syncer->presence)) { /* Behind the sync: see store_presence.h. */
        store_view_discard(store, view);
        return ENGINE_LOST;
    }
    store_view_publish(store, view);
    atomic_store(&syncer->synced, written);
    return ENGINE_OK;
}

static void *run(void *argument)
{
    struct syncer *syncer = argument;
    struct pace pace = { 0 };
    for (;;) {
        size_t count;
        struct engine_completion *completion = take_queue(syncer, &pace, &count);
        if (completion == NULL)
            return NULL;
        int64_t start_ns = clock_monotonic_ns();
        atomic_store_explicit(&syncer->busy_since_ns, start_ns, memory_order_relaxed);
        enum engine_status status = sync_and_publish(syncer);
        atomic_store_explicit(&syncer->busy_since_ns, 0, memory_order_relaxed);
        learn_pace(syncer, &pace, count, clock_monotonic_ns() - start_ns);
        while (completion != NULL) {
            struct engine_completion *next = completion->next; /* Its owner may free it. */
            completion->done(completion, status);
            completion = next;
        }
    }
}

struct syncer *syncer_create(struct store *store)
{
    assert(store->db != NULL && !store->read_only);
    struct syncer *syncer = store_alloc(sizeof *syncer);
    syncer->store = store;
    store_presence_init(&syncer->presence, store);
    store_ahead_init(&syncer->ahead, store, &syncer->presence);
    syncer->end = &syncer->first;
    syncer->awaited = 1;
    pthread_mutex_init(&syncer->mutex, NULL);
    pthread_cond_init(&syncer->changed, NULL);
    if (pthread_create(&syncer->thread, NULL, run, syncer) == 0)
        return syncer;
    pthread_cond_destroy(&syncer->changed);
    pthread_mutex_destroy(&syncer->mutex);
    free(syncer);
    return NULL;
}

void syncer_destroy(struct syncer *syncer)
{
    if (syncer == NULL)
        return;
    pthread_mutex_lock(&syncer->mutex);
    syncer->stopping = true;
    pthread_cond_signal(&syncer->changed);
    pthread_mutex_unlock(&syncer->mutex);
    pthread_join(syncer->thread, NULL);
    assert(syncer_is_caught_up(syncer) || atomic_load(&syncer->store->is_lost));
    pthread_cond_destroy(&syncer->changed);
    pthread_mutex_destroy(&syncer->mutex);
    free(syncer);
}

void syncer_count_write(struct syncer *syncer, rocksdb_writebatch_t *batch)
{
    size_t size;
    rocksdb_writebatch_data(batch, &size);
    atomic_fetch_add(&syncer->bytes_written, size + LOG_HEADER_SIZE);
    atomic_fetch_add(&syncer->written, 1);
}

int64_t syncer_busy_since_ns(const struct syncer *syncer)
{
    return atomic_load_explicit(&syncer->busy_since_ns, memory_order_relaxed);
}

bool syncer_is_caught_up(const struct syncer *syncer)
{
    uint64_t written = atomic_load(&syncer->written);
    return atomic_load(&syncer->synced) >= written;
}

void syncer_queue(struct syncer *syncer, struct engine_completion *completion)
{
    pthread_mutex_lock(&syncer->mutex);
    assert(!syncer->stopping);
    completion->next = NULL;
    *syncer->end = completion;
    syncer->end = &completion->next;
    if (++syncer->count == syncer->awaited)
        pthread_cond_signal(&syncer->changed);
    pthread_mutex_unlock(&syncer->mutex);
}
