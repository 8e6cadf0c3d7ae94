/* store_space.c -- see store_space.h.
 *
 * Asking the file system costs a microsecond, so a look is good for a while, and for a part of the
 * reserve; while space is short each write looks. A moment's error is no harm: beyond the reserve
 * RocksDB itself refuses.
 *
 * A deletion does not wait until the file is deleted for it. Half a reserve was free at its last
 * look, and the log that it goes to has space set aside by RocksDB.
 */
#include "engine/rocksdb/store_space.h"
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/rocksdb/store_watch.h"

static const char file_name[] = "RESERVE";

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

/* Of the file system, or of what is free of it. Unknown is as much as there could be. */
static uint64_t file_system_size(int directory, bool free_only)
{
    struct statvfs state;
    if (fstatvfs(directory, &state) != 0)
        return UINT64_MAX;
    return (uint64_t)(free_only ? state.f_bavail : state.f_blocks) * state.f_frsize;
}

void store_space_give_up(int directory)
{
    unlinkat(directory, file_name, 0);
}

static void delete_reserve(struct store_space *space)
{
    if (!atomic_load(&space->has_reserve))
        return;
    store_space_give_up(space->directory);
    atomic_store(&space->has_reserve, false);
    log_write(LOG_WARN, "engine", "the disk is full: the reserve is given up for deletions");
}

/* Not where the rest would then be short at once. A file system that cannot set space aside, or has
 * none, leaves the store without the file; that is no reason to refuse anything. */
static void make_reserve(struct store_space *space, uint64_t free_size)
{
    if (atomic_load(&space->has_reserve) || free_size / 3 < space->reserve_size)
        return;
    int file =
        file_open_at(space->directory, file_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    bool ok = fallocate(file, 0, 0, (off_t)space->reserve_size) == 0;
    close(file);
    if (!ok)
        store_space_give_up(space->directory);
    atomic_store(&space->has_reserve, ok);
}

/* How much must be free for items to be stored. Beyond what stops them, so that a store does not
 * go to and fro; and with room for the file, if that was given up. */
static uint64_t needed_locked(const struct store_space *space)
{
    if (!atomic_load(&space->is_short))
        return space->reserve_size;
    return space->reserve_size / 2 * (atomic_load(&space->has_reserve) ? 3 : 6);
}

/* Returns how much is free. */
static uint64_t look_locked(struct store_space *space)
{
    uint64_t free_size = file_system_size(space->directory, true);
    bool was_short = atomic_load(&space->is_short);
    bool is_short = free_size < needed_locked(space);
    atomic_store(&space->unseen_bytes, 0);
    atomic_store(&space->looked_at_ms, now_ms());
    atomic_store(&space->is_short, is_short);
    if (is_short && !was_short)
        log_write(LOG_ERROR, "engine", "the disk is full: items can be read and deleted only");
    if (!is_short && was_short)
        log_write(LOG_WARN, "engine", "the disk has room again");
    return free_size;
}

void store_space_init(struct store_space *space, int directory, size_t write_buffer_size)
{
    *space = (struct store_space){ .directory = directory };
    pthread_mutex_init(&space->mutex, NULL);
    if (directory < 0)
        return;
    uint64_t part = file_system_size(directory, false) / STORE_SPACE_PART;
    space->reserve_size = STORE_SPACE_BUFFERS * (uint64_t)write_buffer_size;
    if (space->reserve_size > part)
        space->reserve_size = part;
    store_space_tend(space);
}

void store_space_deinit(struct store_space *space)
{
    pthread_mutex_destroy(&space->mutex);
}

static void ask_to_give_up(struct store_space *space)
{
    if (!atomic_load(&space->has_reserve))
        return;
    atomic_store(&space->gives_up, true);
    store_watch_wake(space->watch);
}

bool store_space_admits(struct store_space *space, size_t size, bool stores)
{
    if (space->directory < 0)
        return true;
    uint64_t unseen = atomic_fetch_add(&space->unseen_bytes, size) + size;
    bool is_short = atomic_load(&space->is_short);
    if (!is_short && unseen < space->reserve_size / STORE_SPACE_LOOKS &&
        now_ms() - atomic_load(&space->looked_at_ms) < STORE_SPACE_LOOK_MS)
        return true;
    if (pthread_mutex_trylock(&space->mutex) != 0) /* Another thread is measuring. */
        return !is_short || !stores;
    uint64_t free_size = look_locked(space);
    is_short = atomic_load(&space->is_short);
    pthread_mutex_unlock(&space->mutex);
    if (is_short && !stores && free_size < space->reserve_size / 2)
        ask_to_give_up(space);
    return !is_short || !stores;
}

bool store_space_is_short(const struct store_space *space)
{
    return atomic_load(&space->is_short);
}

void store_space_ran_out(struct store_space *space)
{
    if (space->directory < 0)
        return;
    atomic_store(&space->is_short, true);
    ask_to_give_up(space);
}

void store_space_tend(struct store_space *space)
{
    if (atomic_exchange(&space->gives_up, false))
        delete_reserve(space); /* First: it decides how much must be free. */
    pthread_mutex_lock(&space->mutex);
    uint64_t free_size = look_locked(space);
    bool is_short = atomic_load(&space->is_short);
    pthread_mutex_unlock(&space->mutex);
    if (!is_short)
        make_reserve(space, free_size);
}
