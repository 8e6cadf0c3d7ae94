/* rocksdb_engine.c -- opens, closes and copies the embedded engine.
 *
 * Opening either succeeds or changes nothing that matters and says why in one line: the directory
 * is checked and locked first, then what RocksDB would recover is compared with what was synced,
 * and only then is the store opened for writing.
 */
#include "engine/rocksdb/rocksdb_engine.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_ahead.h"
#include "engine/rocksdb/store_cache.h"
#include "engine/rocksdb/store_statistics.h"
#include "engine/rocksdb/store_watch.h"
#include "engine/rocksdb/store_writer.h"
#include "engine/rocksdb/syncer.h"

static const char memory_path[] = "/stator"; /* A name within the memory's own file system. */

void *store_alloc(size_t size)
{
    void *block = calloc(1, size);
    if (block == NULL)
        abort();
    return block;
}

void *store_alloc_lines(size_t size)
{
    void *block = aligned_alloc(STORE_LINE_SIZE, size);
    if (block == NULL)
        abort();
    return memset(block, 0, size);
}

/* --- Errors of RocksDB ---
 *
 * Its C interface reports text only: "<code>: [<subcode>: ]<details>". Codes and subcodes are
 * constants of RocksDB; the details are not looked at. */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

enum engine_status store_status_of(const char *error)
{
    if (starts_with(error, "IO error: No space left on device") ||
        starts_with(error, "IO error: Space limit reached"))
        return ENGINE_FULL;
    if (starts_with(error, "Corruption"))
        return ENGINE_CORRUPT;
    return ENGINE_IO;
}

bool store_status_is_stall(const char *error)
{
    return starts_with(error, "Result incomplete");
}

/* One for the process, as the log is: a disk that fails, fails every read. */
static struct log_limit failures = LOG_LIMIT(20, 200);

enum engine_status store_status_take(char *error, const char *action)
{
    enum engine_status status = store_status_of(error);
    uint64_t suppressed;
    if (log_limit_take(&failures, clock_monotonic_ns(), &suppressed))
        log_write(LOG_ERROR, "engine", "%s failed: %s", action, error);
    rocksdb_free(error);
    return status;
}

/* --- Closing --- */

/* RocksDB's threads, if they are still at work, stop before anything they use goes away. They may
 * have changed the manifest since the last sync, so SYNCED is advanced after them, provided that
 * all that was written is `synced`. */
static void destroy(struct store *store, bool synced)
{
    store_watch_destroy(store->watch);
    store_writer_destroy(store->writer);
    syncer_destroy(store->syncer);
    if (store->db != NULL) {
        uint64_t sequence = rocksdb_get_latest_sequence_number(store->db);
        store_write_deinit(store);
        store_view_deinit(store);
        rocksdb_close(store->db);
        if (synced && store->directory.synced.manifest >= 0)
            store_synced_advance(&store->directory.synced, sequence);
    }
    if (store->newest != NULL)
        rocksdb_readoptions_destroy(store->newest);
    if (store->write_options != NULL)
        rocksdb_writeoptions_destroy(store->write_options);
    if (store->slow_write_options != NULL)
        rocksdb_writeoptions_destroy(store->slow_write_options);
    if (store->options != NULL)
        store_options_destroy(store->options);
    store_cache_destroy(store->cache);
    store_space_deinit(&store->space);
    store_directory_close(&store->directory);
    pthread_mutex_destroy(&store->pool_mutex);
    pthread_mutex_destroy(&store->view_mutex);
    pthread_mutex_destroy(&store->publish_mutex);
    if (store->latches_work)
        latches_deinit(&store->latches);
    free(store->counters);
    free(store);
}

static void close_engine(struct engine *engine)
{
    struct store *store = (struct store *)engine;
    store_writer_destroy(store->writer); /* What it still has to write is synced, too. */
    store->writer = NULL;
    bool synced = store->syncer != NULL || store->options->memory != NULL || store->read_only ||
                  syncer_sync_now(store);
    if (!synced)
        log_write(LOG_ERROR, "engine", "the last writes may not survive a power cut");
    destroy(store, synced && !atomic_load(&store->is_lost));
}

static bool is_stuck(const struct store *store, int64_t since_ns)
{
    return since_ns != 0 && clock_monotonic_ns() - since_ns >= store->stuck_ns;
}

static enum engine_health health(const struct engine *engine)
{
    const struct store *store = (const struct store *)engine;
    if (atomic_load(&store->is_lost))
        return ENGINE_HEALTH_LOST;
    if (store_space_is_short(&store->space))
        return ENGINE_HEALTH_FULL;
    bool is_failing =
        store_write_is_failing(store) &&
        atomic_load(&store->write_failures) != atomic_load(&store->write_failures_probed);
    if (is_failing || atomic_load(&store->refuses_writes))
        return ENGINE_HEALTH_FAILED;
    if ((store->syncer != NULL && is_stuck(store, syncer_busy_since_ns(store->syncer))) ||
        (store->writer != NULL && is_stuck(store, store_writer_busy_since_ns(store->writer))))
        return ENGINE_HEALTH_STUCK;
    return ENGINE_HEALTH_OK;
}

/* --- Checkpoint: a copy of the store at one moment, while writes go on ---
 *
 * RocksDB links its table files, which never change, and copies the log. The memtable is flushed
 * first, so that the copy holds every write up to there. The end of the log is being written to
 * while it is copied; recovery keeps its unbroken beginning, so a copy ends between two batches,
 * never within one. */

enum { FLUSH_ALWAYS = 0 }; /* Size of the log from which on the memtable is flushed. */

static enum engine_status create_checkpoint(struct store *store, const char *path)
{
    char *error = NULL;
    rocksdb_checkpoint_t *object = rocksdb_checkpoint_object_create(store->db, &error);
    if (error == NULL) {
        rocksdb_checkpoint_create(object, path, FLUSH_ALWAYS, &error);
        rocksdb_checkpoint_object_destroy(object);
    }
    return error == NULL ? ENGINE_OK : store_status_take(error, "checkpoint");
}

static enum engine_status checkpoint(struct engine *engine, const char *path)
{
    struct store *store = (struct store *)engine;
    if (store->options->memory != NULL || store->read_only)
        return ENGINE_UNSUPPORTED;
    /* The flush must not be what fills the disk: RocksDB would refuse writes until there is space
     * again, for the sake of a copy. */
    if (!store_directory_has_space(&store->directory))
        return ENGINE_FULL;
    uint64_t sequence = rocksdb_get_latest_sequence_number(store->db);
    atomic_fetch_add(&store->checkpoints, 1); /* See store_ahead.c. */
    enum engine_status status = create_checkpoint(store, path);
    atomic_fetch_sub(&store->checkpoints, 1);
    if (status == ENGINE_OK && !store_directory_finish_copy(path, sequence)) {
        status = errno == ENOSPC ? ENGINE_FULL : ENGINE_IO;
        log_write(LOG_ERROR, "engine", "checkpoint failed: %s", strerror(errno));
    }
    return status;
}

static const struct engine_ops ops = {
    .capabilities = ENGINE_GLOBAL_ATOMIC | ENGINE_REVERSE | ENGINE_CHECKPOINT |
                    ENGINE_RANGE_DELETE | ENGINE_SPANS_FREELY,
    .close = close_engine,
    .health = health,
    .read_statistics = store_statistics_read,
    .checkpoint = checkpoint,
    .view_open = store_view_open,
    .view_share = store_view_share,
    .view_close = store_view_close,
    .view_get = store_view_get,
    .scan_open = store_scan_open,
    .scan_next = store_scan_next,
    .scan_close = store_scan_close,
    .next_place = store_scan_next_place,
    .write_begin = store_write_begin,
    .write_try = store_write_try,
    .write_extend = store_write_extend,
    .write_get = store_write_get,
    .write_put = store_write_put,
    .write_delete = store_write_delete,
    .write_delete_range = store_write_delete_range,
    .write_delete_owner = store_write_delete_owner,
    .write_commit = store_write_commit,
    .write_abandon = store_write_abandon,
};

/* Says in people's words why RocksDB would not open, and frees `error`. */
static bool refuse(char *message, const char *path, char *error)
{
    enum engine_status status = store_status_of(error);
    if (strstr(error, "/LOCK: ") != NULL)
        store_directory_refuse(message, path, "in use by another process");
    else if (status == ENGINE_FULL)
        store_directory_refuse(message, path, "no space left on the device");
    else if (strstr(error, "Permission denied") != NULL)
        store_directory_refuse(message, path, "no permission to read and write its files");
    else if (status == ENGINE_CORRUPT || strstr(error, "No such file") != NULL)
        store_directory_refuse(message, path, "the store is damaged: %s", error);
    else
        store_directory_refuse(message, path, "%s", error);
    rocksdb_free(error);
    return false;
}

/* Opens without changing anything: the write-ahead log is replayed in memory. */
static rocksdb_t *open_db_read_only(const struct store *store, const char *path, char *message)
{
    char *error = NULL;
    rocksdb_t *db = rocksdb_open_for_read_only(store->options->db, path, 0, &error);
    if (error == NULL)
        return db;
    refuse(message, path, error);
    return NULL;
}

/* A store without SYNCED cannot be checked for lost writes. Nothing else is wrong with it, so it is
 * opened with a warning. */
static bool read_synced(const struct store *store, uint64_t *sequence,
                        struct store_manifest *manifest)
{
    struct store_manifest found;
    const char *what = "cannot be read";
    switch (store_synced_read(&store->directory.synced, sequence, manifest)) {
    case STORE_SYNCED_READ:
        return true;
    case STORE_SYNCED_MISSING:
        if (!store_synced_find_manifest(store->directory.directory, 0, &found))
            return false; /* There is no store yet. */
        what = "is missing";
        break;
    case STORE_SYNCED_DAMAGED:
        break;
    }
    log_write(LOG_WARN, "engine",
              "the file SYNCED %s: whether all that was synced is there cannot be told", what);
    return false;
}

/* True if the manifest has all that was ever synced of it; a shortened one may still make
 * sense, and tell of fewer tables. */
static bool manifest_is_complete(const struct store *store, struct store_manifest synced,
                                 const char *path, char *message)
{
    struct store_manifest found;
    if (synced.number == 0 ||
        !store_synced_find_manifest(store->directory.directory, synced.size, &found) ||
        found.number > synced.number)
        return true; /* Nothing to compare with; or a later one, that begins with all there is. */
    if (found.number < synced.number)
        return store_directory_refuse(message, path,
                                      "the store is damaged: CURRENT names MANIFEST-%06" PRIu64
                                      ", which MANIFEST-%06" PRIu64 " has replaced",
                                      found.number, synced.number);
    if (found.size < synced.size)
        return store_directory_refuse(message, path,
                                      "the store is damaged: MANIFEST-%06" PRIu64 " has %" PRIu64
                                      " bytes, and %" PRIu64 " were synced",
                                      found.number, found.size, synced.size);
    return found.crc == synced.crc ||
           store_directory_refuse(
               message, path, "the store is damaged: MANIFEST-%06" PRIu64 " is not what was synced",
               found.number);
}

/* True if recovery brings back all that was ever synced. Asked of a read-only store: opening for
 * writing would already have thrown away what it could not read. */
static bool log_is_complete(rocksdb_t *read_only, uint64_t synced, const char *path, char *message)
{
    uint64_t sequence = rocksdb_get_latest_sequence_number(read_only);
    return sequence >= synced ||
           store_directory_refuse(message, path,
                                  "the store is damaged: %" PRIu64
                                  " changes that were synced cannot be read back",
                                  synced - sequence);
}

static bool may_recover(const struct store *store, const char *path, char *message)
{
    uint64_t synced;
    struct store_manifest manifest;
    if (!read_synced(store, &synced, &manifest))
        return true;
    if (!manifest_is_complete(store, manifest, path, message))
        return false;
    rocksdb_t *db = open_db_read_only(store, path, message);
    if (db == NULL)
        return false;
    bool complete = log_is_complete(db, synced, path, message);
    rocksdb_close(db);
    return complete;
}

static bool open_db(struct store *store, const char *path, char *message)
{
    char *error = NULL;
    store->db = rocksdb_open(store->options->db, path, &error);
    return error == NULL || refuse(message, path, error);
}

static bool open_for_writing(struct store *store, const char *path, char *message)
{
    if (!store_directory_open(&store->directory, path, message) ||
        !may_recover(store, path, message) || !open_db(store, path, message))
        return false;
    store_synced_follow_manifest(&store->directory.synced, store->directory.directory);
    /* What was recovered is in tables by now, and they are synced. */
    store_synced_advance(&store->directory.synced, rocksdb_get_latest_sequence_number(store->db));
    return true;
}

static bool open_for_reading(struct store *store, const char *path, char *message)
{
    uint64_t synced;
    struct store_manifest manifest;
    if (!store_directory_open_read_only(&store->directory, path, message))
        return false;
    bool is_known = read_synced(store, &synced, &manifest);
    if (is_known && !manifest_is_complete(store, manifest, path, message))
        return false;
    store->db = open_db_read_only(store, path, message);
    return store->db != NULL && (!is_known || log_is_complete(store->db, synced, path, message));
}

static bool may_fill_log(const struct store *store, const struct engine_options *options)
{
    char running[STORE_AHEAD_VERSION_MAX];
    if (options->leaves_log_alone)
        return false;
    bool is_known = store_ahead_running_version(store->directory.directory, running);
    return store_ahead_is_proved(store_ahead_compiled_version(), is_known ? running : NULL);
}

static rocksdb_writeoptions_t *create_write_options(bool in_memory, bool waits)
{
    rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(options, 0); /* The syncer's task. */
    rocksdb_writeoptions_disable_WAL(options, in_memory);
    rocksdb_writeoptions_set_no_slowdown(options, !waits);
    return options;
}

/* Those that a store needs to be written to. */
static bool start_threads(struct store *store, const struct engine_options *options)
{
    store->stuck_ns =
        (int64_t)(options->stuck_ms != 0 ? options->stuck_ms : ENGINE_STUCK_MS) * 1000000;
    store->latches_work =
        latches_init(&store->latches,
                     options->write_wait_ms != 0 ? options->write_wait_ms : ENGINE_WRITE_WAIT_MS);
    if (!store->latches_work)
        return false;
    store->writer = store_writer_create(store);
    if (store->writer == NULL)
        return false;
    if (options->in_memory)
        return true;
    store->watch = store_watch_create(store);
    store->space.watch = store->watch;
    if (store->watch == NULL)
        return false;
    if (options->durability == ENGINE_DURABILITY_OS)
        return true;
    store->fills_log = may_fill_log(store, options);
    store->syncer = syncer_create(store);
    return store->syncer != NULL;
}

static bool open_store(struct store *store, const struct engine_options *options, char *message)
{
    store->options = store_options_create(options);
    store->newest = rocksdb_readoptions_create();
    store->write_options = create_write_options(options->in_memory, false);
    store->slow_write_options = create_write_options(options->in_memory, true);
    if (options->in_memory) {
        if (!open_db(store, memory_path, message))
            return false;
    } else if (store->read_only ? !open_for_reading(store, options->directory, message)
                                : !open_for_writing(store, options->directory, message)) {
        return false;
    }
    store_view_publish_newest(store);
    if (!options->in_memory && !options->read_only)
        store_space_init(&store->space, store->directory.directory, options->write_buffer_size);
    return options->read_only || start_threads(store, options) ||
           store_directory_refuse(message, options->in_memory ? memory_path : options->directory,
                                  "the system has no thread left");
}

struct engine *rocksdb_engine_open(const struct engine_options *options,
                                   char message[ENGINE_MESSAGE_MAX])
{
    assert(options->write_buffer_size > 0);
    struct store *store = store_alloc_lines(sizeof *store);
    store->read_only = options->read_only;
    store->base.ops = &ops;
    store->counters = store_counters_create();
    store->directory = STORE_DIRECTORY_NONE;
    store_space_init(&store->space, -1, 0); /* Until there is a directory. */
    if (options->item_cache_size > 0)
        store->cache = store_cache_create(options->item_cache_size);
    store->render = options->render;
    pthread_mutex_init(&store->publish_mutex, NULL);
    pthread_mutex_init(&store->view_mutex, NULL);
    pthread_mutex_init(&store->pool_mutex, NULL);
    if (open_store(store, options, message))
        return &store->base;
    assert(message[0] != '\0');
    destroy(store, false);
    return NULL;
}

#ifdef __SANITIZE_THREAD__
/* RocksDB, and the C++ library that only it uses, are not compiled for ThreadSanitizer: it sees
 * their memory calls but not the atomics that order them. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:librocksdb.so\ncalled_from_lib:libstdc++.so\n";
}
#endif
