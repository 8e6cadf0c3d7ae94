/* store_presence.c -- see store_presence.h.
 *
 * Two questions, both answered from the kernel's cache of names in about a microsecond: does the
 * path still lead to the directory that was opened, and is the log that RocksDB appends to still in
 * it. RocksDB itself deletes logs, but only after it has begun a newer one: so a log is missed only
 * if no log with a higher number is there.
 */
#include "engine/rocksdb/store_presence.h"
#include <assert.h>
#include "base/log.h"
#include "engine/rocksdb/store.h"

/* A data directory may have many thousand files, so it is listed only after RocksDB has changed
 * something: a new log comes with a new memtable, which counts as a change. The count is read
 * first, so that a log that comes after the list is found the next time. */
static void find_log(struct store_presence *presence)
{
    struct store *store = presence->store;
    uint64_t version, newest;
    if (rocksdb_property_int(store->db, "rocksdb.current-super-version-number", &version) != 0)
        version = 0;
    if (version == presence->version && version != 0)
        return;
    if (!store_directory_newest_log(&store->directory, &newest))
        return;
    presence->version = version;
    if (newest > presence->log)
        presence->log = newest;
}

void store_presence_init(struct store_presence *presence, struct store *store)
{
    assert(store->directory.directory >= 0);
    *presence = (struct store_presence){ .store = store };
    find_log(presence);
}

uint64_t store_presence_log(struct store_presence *presence)
{
    find_log(presence);
    return presence->log;
}

static bool has_newest_log(struct store_presence *presence)
{
    const struct store_directory *directory = &presence->store->directory;
    find_log(presence);
    for (int i = 0; i < STORE_PRESENCE_LISTS_MAX; i++) {
        uint64_t newest;
        if (presence->log != 0 && store_directory_has_log(directory, presence->log))
            return true;
        if (!store_directory_newest_log(directory, &newest))
            return true; /* Unknown: leave it to the next check. */
        if (newest > presence->log)
            presence->log = newest;
    }
    return false;
}

/* RocksDB's own work ends too: it would create and delete files in whatever is at the path now. */
static bool lose(struct store *store, const char *what)
{
    if (atomic_exchange(&store->is_lost, true))
        return false;
    log_write(LOG_ERROR, "engine",
              "data directory '%s': %s was removed or replaced under the server; no write is "
              "acknowledged until the server is restarted",
              store->directory.path, what);
    rocksdb_cancel_all_background_work(store->db, 0);
    return false;
}

bool store_presence_check(struct store_presence *presence)
{
    struct store *store = presence->store;
    if (atomic_load(&store->is_lost))
        return false;
    if (!store_directory_is_in_place(&store->directory))
        return lose(store, "the directory");
    return has_newest_log(presence) || lose(store, "the write-ahead log");
}

bool store_presence_check_all(struct store_presence *presence)
{
    struct store *store = presence->store;
    static const char *const names[] = { "CURRENT", "FORMAT" };
    if (!store_presence_check(presence))
        return false;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (!store_directory_has_file(&store->directory, names[i]))
            return lose(store, names[i]);
    return store_directory_has_synced(&store->directory) || lose(store, "SYNCED");
}
