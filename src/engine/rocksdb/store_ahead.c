/* store_ahead.c -- see store_ahead.h.
 *
 * The log is opened a second time and appended to, behind RocksDB's back. Three things make that
 * safe:
 *
 * - No byte of RocksDB's is overwritten. The file is open with O_APPEND, so the kernel puts each
 *   piece at the file's size, and finds out the size and writes under one lock of the inode.
 *   RocksDB writes at its own position, which is never beyond the size, since all that it wrote
 *   counts towards that. A write of its own that comes in between two pieces goes over what the
 *   first one left, or makes the file longer; neither is where the second one goes.
 * - The fill is never taken for a record. RocksDB reads seven bytes of FF as the header of a record
 *   of 65,535 bytes, which no block of 32 KB can hold: the log is damaged there, and point-in-time
 *   recovery (store_options.c) ends at that place, behind the last record. It goes on with a later
 *   log only if that begins with the very next sequence number, so neither a log that was left
 *   behind with its fill, nor one that is filled after it was closed, loses anything or hides a
 *   gap. Zeros would not do: RocksDB passes over them. A power cut that keeps a later part of what
 *   was not synced, but not the part before, must not bring the later one back.
 * - What RocksDB closes it cuts off at its own position, so a store that was closed has no fill.
 *
 * While a checkpoint is made nothing is filled. RocksDB notes the size of the log that the flush
 * has begun, and copies as much some time later: a log that has lost its fill by then would be too
 * short, and the checkpoint would fail.
 *
 * Rejected: setting space aside (fallocate; RocksDB does that already) saves nothing, because the
 * first write to such space changes the inode as well; reusing old logs is what RocksDB refuses
 * together with point-in-time recovery.
 *
 * How much is left of the fill is read from the file: if there is fill at STORE_AHEAD_LEFT_MIN
 * before its end, RocksDB has not come that far. A value that looks like fill delays a chunk. No
 * descriptor is kept: one of a log that RocksDB has deleted would keep its space.
 */
#include "engine/rocksdb/store_ahead.h"
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/log.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_presence.h"

enum {
    PIECE_SIZE = 32 * 1024, /* Of a chunk, appended at once. */
    PROBE_SIZE = 64,
    LOG_NAME_MAX = 32,
};

static_assert(STORE_AHEAD_CHUNK_SIZE % PIECE_SIZE == 0, "a chunk is whole pieces");
/* What was left at a look outlasts what may be written before the next one. */
static_assert(STORE_AHEAD_LEFT_MIN > STORE_AHEAD_LOOK_SIZE + STORE_AHEAD_SYNC_SIZE_MAX,
              "the next chunk comes before the last one is used up");

/* --- Versions ---
 *
 * RocksDB's C interface has no function for the version, and its header with the numbers is C++. So
 * the Makefile reads them from there; the running library writes its own into an options file. */

enum { OPTIONS_READ_MAX = 4096 }; /* The version comes first. */

static const char file_prefix[] = "OPTIONS-";
static const char version_name[] = "rocksdb_version=";

const char *store_ahead_compiled_version(void)
{
    return STATOR_ROCKSDB_VERSION;
}

/* The number in "OPTIONS-000007"; 0 if it is no such name. */
static unsigned long long file_number(const char *name)
{
    char *end;
    if (strncmp(name, file_prefix, sizeof file_prefix - 1) != 0)
        return 0;
    unsigned long long number = strtoull(name + sizeof file_prefix - 1, &end, 10);
    return *end == '\0' ? number : 0;
}

/* Opens the newest one; -1 if there is none. */
static int open_newest(DIR *entries)
{
    unsigned long long newest = 0;
    char name[sizeof((struct dirent *)0)->d_name] = "";
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        unsigned long long number = file_number(entry->d_name);
        if (number <= newest)
            continue;
        newest = number;
        memcpy(name, entry->d_name, strlen(entry->d_name) + 1);
    }
    return newest == 0 ? -1
                       : file_open_at(dirfd(entries), name, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

static bool read_version(int file, char out[STORE_AHEAD_VERSION_MAX])
{
    char text[OPTIONS_READ_MAX + 1];
    ssize_t size = read(file, text, OPTIONS_READ_MAX);
    text[size < 0 ? 0 : size] = '\0';
    const char *at = strstr(text, version_name);
    if (at == NULL)
        return false;
    at += sizeof version_name - 1;
    size_t length = strcspn(at, " \r\n");
    if (length == 0 || length >= STORE_AHEAD_VERSION_MAX)
        return false;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

bool store_ahead_running_version(int directory, char out[STORE_AHEAD_VERSION_MAX])
{
    out[0] = '\0';
    int listed = file_open_at(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (listed < 0)
        return false;
    DIR *entries = fdopendir(listed);
    if (entries == NULL) {
        close(listed);
        return false;
    }
    int file = open_newest(entries);
    bool ok = file >= 0 && read_version(file, out);
    file_close(file);
    closedir(entries);
    return ok;
}

bool store_ahead_is_proved(const char *compiled, const char *running)
{
    if (strcmp(compiled, STORE_AHEAD_PROVED_VERSION) == 0 && running != NULL &&
        strcmp(running, STORE_AHEAD_PROVED_VERSION) == 0)
        return true;
    log_write(LOG_WARN, "engine",
              "the write-ahead log is not filled ahead, so syncs are slower: that was proved for "
              "RocksDB " STORE_AHEAD_PROVED_VERSION
              "; this program was compiled for %s and runs with %s",
              compiled, running != NULL ? running : "an unknown version");
    return false;
}

/* --- Filling --- */

void store_ahead_init(struct store_ahead *ahead, struct store *store,
                      struct store_presence *presence)
{
    assert(presence != NULL);
    *ahead = (struct store_ahead){ .store = store, .presence = presence };
}

/* True if it is time for the next chunk. */
static bool is_due(int file, uint64_t size)
{
    uint8_t probe[PROBE_SIZE];
    if (size < STORE_AHEAD_LOG_SIZE_MIN)
        return false;
    if (size < STORE_AHEAD_LEFT_MIN)
        return true; /* Too small to have been filled. */
    if (pread(file, probe, sizeof probe, (off_t)(size - STORE_AHEAD_LEFT_MIN)) != sizeof probe)
        return false;
    for (size_t i = 0; i < sizeof probe; i++)
        if (probe[i] != STORE_AHEAD_FILL)
            return true;
    return false;
}

static bool append_chunk(int file)
{
    uint8_t piece[PIECE_SIZE];
    memset(piece, STORE_AHEAD_FILL, sizeof piece);
    for (size_t i = 0; i < STORE_AHEAD_CHUNK_SIZE / PIECE_SIZE; i++)
        if (!file_write(file, bytes_of(piece, sizeof piece)))
            return false;
    return true;
}

/* False if the log is better left alone from now on. */
static bool extend_log(const struct store_ahead *ahead, uint64_t log)
{
    char name[LOG_NAME_MAX];
    snprintf(name, sizeof name, "%06" PRIu64 ".log", log);
    int file = file_open_at(ahead->store->directory.directory, name,
                            O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0)
        return false;
    off_t size = lseek(file, 0, SEEK_END); /* Not fstat: see store_directory_has_file. */
    bool ok = size >= 0;
    if (ok && is_due(file, (uint64_t)size))
        ok = append_chunk(file);
    close(file);
    return ok;
}

void store_ahead_fill(struct store_ahead *ahead, uint64_t written)
{
    assert(written >= ahead->written);
    uint64_t sync_size = written - ahead->written;
    ahead->written = written;
    if (!ahead->store->fills_log || written - ahead->looked_at < STORE_AHEAD_LOOK_SIZE ||
        sync_size > STORE_AHEAD_SYNC_SIZE_MAX || store_space_is_short(&ahead->store->space) ||
        store_write_is_failing(ahead->store) || atomic_load(&ahead->store->checkpoints) > 0)
        return;
    ahead->looked_at = written;
    uint64_t log = store_presence_log(ahead->presence);
    if (log == 0 || log == ahead->given_up)
        return;
    if (!extend_log(ahead, log))
        ahead->given_up = log;
}
