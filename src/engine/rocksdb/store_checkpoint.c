/* store_checkpoint.c -- a copy of the store as it is at one moment, while writes go on.
 *
 * RocksDB links its table files, which never change, and copies the log. The memtable is flushed
 * first, so that the copy holds every write up to there whatever becomes of the log's end, which is
 * being written to while it is copied: recovery keeps its unbroken beginning. So a copy ends
 * between two batches, never within one.
 */
#include <errno.h>
#include <string.h>
#include "base/log.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_options.h"
#include "engine/rocksdb/store_status.h"

enum { FLUSH_ALWAYS = 0 }; /* Size of the log from which on the memtable is flushed. */

static enum engine_status create(struct store *store, const char *path)
{
    char *error = NULL;
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(store->db, &error);
    if (error == NULL) {
        rocksdb_checkpoint_create(checkpoint, path, FLUSH_ALWAYS, &error);
        rocksdb_checkpoint_object_destroy(checkpoint);
    }
    return error == NULL ? ENGINE_OK : store_status_take(error, "checkpoint");
}

enum engine_status store_checkpoint(struct engine *engine, const char *path)
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
    enum engine_status status = create(store, path);
    atomic_fetch_sub(&store->checkpoints, 1);
    if (status == ENGINE_OK && !store_directory_finish_copy(path, sequence)) {
        status = errno == ENOSPC ? ENGINE_FULL : ENGINE_IO;
        log_write(LOG_ERROR, "engine", "checkpoint failed: %s", strerror(errno));
    }
    return status;
}
