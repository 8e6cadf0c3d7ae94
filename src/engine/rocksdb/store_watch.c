/* store_watch.c -- see store_watch.h.
 *
 * The thread is woken by a semaphore, because posting one never waits: an event loop may do it.
 */
#include "engine/rocksdb/store_watch.h"
#include <assert.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include "base/log.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_presence.h"

struct store_watch {
    struct store *store;
    pthread_t thread;
    sem_t wake;
    atomic_bool is_woken; /* The semaphore was posted and the round has not begun. */
    atomic_bool stopping;
    struct store_presence presence; /* The rest is the thread's own. */
    rocksdb_writeoptions_t *probe_options;
    rocksdb_writebatch_t *probe;
    uint64_t sequence;          /* Of the last write, as of the last round. */
    uint64_t background_errors; /* That RocksDB had counted by then. */
};

/* A flush or a compaction of RocksDB's may fail, after which it refuses writes. A server that
 * nobody writes to would not notice. */
static bool has_new_background_error(struct store_watch *watch)
{
    uint64_t count;
    if (rocksdb_property_int(watch->store->db, "rocksdb.background-errors", &count) != 0)
        return false;
    bool is_new = count != watch->background_errors;
    watch->background_errors = count;
    return is_new;
}

/* True if RocksDB would try to carry a write out. The probe is empty and stays out of the log: a
 * log that has refused a write must not be given another (FAULTS.md in test/crash). So this does
 * not tell that the next write will succeed, but that nothing stands in its way. */
static bool takes_writes(const struct store_watch *watch)
{
    char *error = NULL;
    rocksdb_write(watch->store->db, watch->probe_options, watch->probe, &error);
    /* "Incomplete" means that the write would have had to wait. */
    bool ok = error == NULL || store_status_is_stall(error);
    rocksdb_free(error);
    return ok;
}

static void probe(struct store_watch *watch)
{
    struct store *store = watch->store;
    uint64_t failures = atomic_load(&store->write_failures);
    bool ok = takes_writes(watch);
    if (ok)
        atomic_store(&store->write_failures_probed, failures);
    if (atomic_exchange(&store->refuses_writes, !ok) == ok)
        log_write(ok ? LOG_WARN : LOG_ERROR, "engine",
                  ok ? "the store takes writes again" : "the store refuses all writes");
}

/* Returns whether the next round is due soon. */
static bool run_round(struct store_watch *watch)
{
    struct store *store = watch->store;
    if (!store_presence_check_all(&watch->presence))
        return false; /* For good. */
    store_space_tend(&store->space);
    bool is_short = store_space_is_short(&store->space);
    bool is_in_doubt = has_new_background_error(watch) || store_write_is_failing(store) ||
                       atomic_load(&store->refuses_writes);
    if (is_in_doubt)
        probe(watch);
    uint64_t sequence = rocksdb_get_latest_sequence_number(store->db);
    bool is_busy = sequence != watch->sequence;
    watch->sequence = sequence;
    return is_busy || is_short || is_in_doubt;
}

static void wait_for_wake(struct store_watch *watch, int64_t timeout_ms)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t end_ns = end.tv_nsec + timeout_ms * 1000000;
    end.tv_sec += end_ns / 1000000000;
    end.tv_nsec = end_ns % 1000000000;
    /* Interrupted, timed out or woken: each is a reason for a round. */
    int result = sem_clockwait(&watch->wake, CLOCK_MONOTONIC, &end);
    (void)result;
    atomic_store(&watch->is_woken, false);
}

static void *run(void *argument)
{
    struct store_watch *watch = argument;
    while (!atomic_load(&watch->stopping)) {
        bool is_busy = run_round(watch);
        wait_for_wake(watch, is_busy ? STORE_WATCH_BUSY_MS : STORE_WATCH_IDLE_MS);
    }
    return NULL;
}

static void destroy(struct store_watch *watch)
{
    sem_destroy(&watch->wake);
    rocksdb_writeoptions_destroy(watch->probe_options);
    rocksdb_writebatch_destroy(watch->probe);
    free(watch);
}

struct store_watch *store_watch_create(struct store *store)
{
    assert(store->db != NULL && !store->read_only);
    struct store_watch *watch = store_alloc(sizeof *watch);
    watch->store = store;
    store_presence_init(&watch->presence, store);
    watch->probe = rocksdb_writebatch_create();
    watch->probe_options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(watch->probe_options, 1);
    rocksdb_writeoptions_set_no_slowdown(watch->probe_options, 1);
    sem_init(&watch->wake, 0, 0);
    if (pthread_create(&watch->thread, NULL, run, watch) == 0)
        return watch;
    destroy(watch);
    return NULL;
}

void store_watch_destroy(struct store_watch *watch)
{
    if (watch == NULL)
        return;
    atomic_store(&watch->stopping, true);
    sem_post(&watch->wake);
    pthread_join(watch->thread, NULL);
    destroy(watch);
}

void store_watch_wake(struct store_watch *watch)
{
    if (watch != NULL && !atomic_exchange(&watch->is_woken, true))
        sem_post(&watch->wake);
}
