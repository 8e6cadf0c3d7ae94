/* power_cut.c -- loaded into a server (LD_PRELOAD) to see how it treats its disk.
 *
 * Watches the calls that change files and folders below one folder, and does two things with them:
 *
 * - It ends the process with SIGKILL at a named point: before or after the Nth call of a kind to a
 *   file of a certain name, made by a thread of a certain name.
 * - It keeps a journal of the calls, with their bytes, from which test/lib/power_cut.py makes the
 *   states that a disk might have after a power cut. Then nothing is synced in earnest, which would
 *   cost time and change nothing: a sync is two lines in the journal.
 *
 * A call and its line are one step under one lock, so the journal has the order of what happened.
 * Not seen: mmap'ed writes, stdio and io_uring. stator and RocksDB write nothing that matters by
 * those (RocksDB's LOG is stdio, and nobody reads it); test/crash/README.md has how that was found.
 *
 * Settings, all from the environment:
 *   POWER_CUT_ROOT       the folder, absolute and without symbolic links; else nothing happens.
 *   POWER_CUT_JOURNAL    where to write the journal; not below the root.
 *   POWER_CUT_KILL       WHEN/CALL/FILE/THREAD/COUNT, such as after/sync/?*.log/rocksdb:low/3.
 *                        File (its name without folders) and thread are patterns of fnmatch. The
 *                        calls are open (of what may be new), write, append (a write with
 *                        O_APPEND), truncate, sync, rename (by the new name), unlink, mkdir.
 *   POWER_CUT_LINGER_MS  how long the thread stays at the point before the kill; others go on.
 *   POWER_CUT_ARM        a file; calls count towards the kill only while it exists.
 *   POWER_CUT_CLOCK_S    seconds that CLOCK_MONOTONIC_RAW advances when it was read once: so much
 *                        server time passes at the start.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    DESCRIPTORS_MAX = 4096, /* Higher ones are not watched. */
    THREAD_NAME_SIZE = 16,
    PARTS_MAX = 5,
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000,
    SYNC_NS = 300000, /* What a sync takes: long enough for writers to gather meanwhile. */
};

/* The kinds of lines; test/lib/power_cut.py has the same list. */
enum kind {
    KIND_OPEN = 1, /* path; aux: flags */
    KIND_CLOSE,
    KIND_WRITE,      /* offset, bytes */
    KIND_TRUNCATE,   /* offset: the size */
    KIND_ALLOCATE,   /* offset: the size at least */
    KIND_SYNC_BEGIN, /* aux: number of the sync */
    KIND_SYNC_END,   /* aux: the same */
    KIND_RENAME,     /* path; bytes: the new path */
    KIND_UNLINK,     /* path; folders as well */
    KIND_MKDIR,      /* path */
    KIND_LINK,       /* path; bytes: the new path */
};

/* A line begins with this, in the machine's byte order; path and bytes follow. */
struct line {
    uint32_t kind;
    int32_t descriptor;
    uint64_t offset;
    uint64_t aux;
    uint32_t path_size;
    uint32_t bytes_size;
};

enum when { BEFORE, AFTER };

/* The one state there must be: the library's functions have no other argument to find it by. */
static struct {
    pthread_once_t once;
    pthread_mutex_t mutex; /* Makes a call and its line one step. */
    const char *root;      /* NULL: nothing is watched. */
    size_t root_size;
    int journal; /* -1: none. */
    const char *arm;
    time_t clock_ahead_s;
    enum when kill_when;
    const char *kill_call; /* NULL: no kill. */
    const char *kill_file;
    const char *kill_thread;
    unsigned long kill_count;
    long linger_ms;
    atomic_ulong counted;
    atomic_ulong syncs;
    /* The path of a watched descriptor, or NULL. Never freed, so that whoever uses the descriptor
     * may read it without the lock. */
    _Atomic(const char *) paths[DESCRIPTORS_MAX];
} state = { .once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER, .journal = -1 };

static void give_up(const char *reason)
{
    fprintf(stderr, "power_cut: %s\n", reason);
    _exit(70);
}

static void read_kill(const char *text)
{
    char *copy = strdup(text);
    char *parts[PARTS_MAX];
    size_t count = 0;
    for (char *at = copy; at != NULL && count < PARTS_MAX; count++) {
        parts[count] = at;
        at = strchr(at, '/');
        if (at != NULL)
            *at++ = '\0';
    }
    if (count != PARTS_MAX || (strcmp(parts[0], "before") != 0 && strcmp(parts[0], "after") != 0))
        give_up("POWER_CUT_KILL is not WHEN/CALL/FILE/THREAD/COUNT");
    state.kill_when = strcmp(parts[0], "before") == 0 ? BEFORE : AFTER;
    state.kill_file = parts[2];
    state.kill_thread = parts[3];
    state.kill_count = strtoul(parts[4], NULL, 10);
    state.kill_call = parts[1];
}

static void initialise(void)
{
    const char *root = getenv("POWER_CUT_ROOT");
    const char *journal = getenv("POWER_CUT_JOURNAL");
    const char *kill_point = getenv("POWER_CUT_KILL");
    const char *clock_ahead = getenv("POWER_CUT_CLOCK_S");
    const char *linger = getenv("POWER_CUT_LINGER_MS");
    if (root == NULL)
        return;
    if (journal != NULL) {
        state.journal = (int)syscall(SYS_openat, AT_FDCWD, journal,
                                     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (state.journal < 0)
            give_up("cannot open the journal");
    }
    if (kill_point != NULL)
        read_kill(kill_point);
    if (linger != NULL)
        state.linger_ms = strtol(linger, NULL, 10);
    if (clock_ahead != NULL)
        state.clock_ahead_s = (time_t)strtoll(clock_ahead, NULL, 10);
    state.arm = getenv("POWER_CUT_ARM");
    state.root_size = strlen(root);
    state.root = root;
}

static bool is_watched(const char *path)
{
    pthread_once(&state.once, initialise);
    return state.root != NULL && strncmp(path, state.root, state.root_size) == 0 &&
           (path[state.root_size] == '/' || path[state.root_size] == '\0');
}

static const char *path_of(int descriptor)
{
    pthread_once(&state.once, initialise);
    if (state.root == NULL || descriptor < 0 || descriptor >= DESCRIPTORS_MAX)
        return NULL;
    return atomic_load(&state.paths[descriptor]);
}

/* Where `path` leads to from the folder `base`; false if that is not watched. */
static bool resolve(int base, const char *path, char out[PATH_MAX])
{
    const char *folder = path[0] == '/' || base == AT_FDCWD ? NULL : path_of(base);
    int size = folder == NULL ? snprintf(out, PATH_MAX, "%s", path)
                              : snprintf(out, PATH_MAX, "%s/%s", folder, path);
    return size < PATH_MAX && is_watched(out);
}

/* --- Kill points --- */

static void wait_ns(long ns)
{
    nanosleep(&(struct timespec){ ns / NS_PER_S, ns % NS_PER_S }, NULL);
}

static void point(enum when when, const char *call, const char *path)
{
    char thread[THREAD_NAME_SIZE];
    const char *name = strrchr(path, '/');
    if (state.kill_call == NULL || when != state.kill_when || strcmp(call, state.kill_call) != 0 ||
        fnmatch(state.kill_file, name == NULL ? path : name + 1, 0) != 0)
        return;
    prctl(PR_GET_NAME, thread);
    if (fnmatch(state.kill_thread, thread, 0) != 0)
        return;
    if (state.arm != NULL && faccessat(AT_FDCWD, state.arm, F_OK, 0) != 0)
        return;
    if (atomic_fetch_add(&state.counted, 1) + 1 != state.kill_count)
        return;
    wait_ns(state.linger_ms * NS_PER_MS);
    kill(getpid(), SIGKILL);
}

/* --- Journal --- */

static void begin(void)
{
    pthread_mutex_lock(&state.mutex);
}

static void end(void)
{
    int error = errno;
    pthread_mutex_unlock(&state.mutex);
    errno = error;
}

static void append_locked(struct line line, const char *path, struct iovec bytes)
{
    if (state.journal < 0)
        return;
    int error = errno;
    if (path != NULL)
        line.path_size = (uint32_t)strlen(path);
    line.bytes_size = (uint32_t)bytes.iov_len;
    struct iovec parts[] = {
        { .iov_base = &line, .iov_len = sizeof line },
        { .iov_base = (void *)(uintptr_t)path, .iov_len = line.path_size },
        bytes,
    };
    ssize_t size = (ssize_t)(sizeof line + line.path_size + bytes.iov_len);
    if (syscall(SYS_writev, state.journal, parts, 3) != size)
        give_up("cannot write to the journal");
    errno = error;
}

static const struct iovec no_bytes = { .iov_base = NULL, .iov_len = 0 };

/* Ends a call that changes names, with its line if it did. */
static int named(int result, enum kind kind, const char *path, const char *new_path)
{
    struct iovec bytes = no_bytes;
    if (new_path != NULL)
        bytes = (struct iovec){ (void *)(uintptr_t)new_path, strlen(new_path) };
    if (result == 0)
        append_locked((struct line){ .kind = kind, .descriptor = -1 }, path, bytes);
    end();
    return result;
}

/* --- Descriptors --- */

static int watched_open(int base, const char *path, int flags, mode_t mode)
{
    char full[PATH_MAX];
    if (!resolve(base, path, full))
        return (int)syscall(SYS_openat, base, path, flags, mode);
    if (flags & O_CREAT)
        point(BEFORE, "open", full);
    begin();
    int descriptor = (int)syscall(SYS_openat, base, path, flags, mode);
    if (descriptor >= DESCRIPTORS_MAX)
        give_up("too many open files");
    if (descriptor >= 0) {
        struct line line = { .kind = KIND_OPEN, .descriptor = descriptor };
        line.aux = (uint64_t)(unsigned int)flags;
        atomic_store(&state.paths[descriptor], strdup(full));
        append_locked(line, full, no_bytes);
    }
    end();
    if (flags & O_CREAT)
        point(AFTER, "open", full);
    return descriptor;
}

/* The mode is there only if the flags say that a file may be made. */
static mode_t mode_of(int flags, va_list arguments)
{
    return flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return watched_open(AT_FDCWD, path, flags, mode);
}

int openat(int base, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return watched_open(base, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int base, const char *path, int flags, ...) __attribute__((alias("openat")));

int close(int descriptor)
{
    if (path_of(descriptor) == NULL)
        return (int)syscall(SYS_close, descriptor);
    begin();
    atomic_store(&state.paths[descriptor], NULL);
    append_locked((struct line){ .kind = KIND_CLOSE, .descriptor = descriptor }, NULL, no_bytes);
    int result = (int)syscall(SYS_close, descriptor);
    end();
    return result;
}

/* Closes a descriptor without calling `close`. Once it is another's, nobody may take it for a file.
 */
int closedir(DIR *entries)
{
    int (*next)(DIR *);
    *(void **)&next = dlsym(RTLD_NEXT, "closedir");
    int descriptor = dirfd(entries);
    if (path_of(descriptor) == NULL)
        return next(entries);
    begin();
    atomic_store(&state.paths[descriptor], NULL);
    append_locked((struct line){ .kind = KIND_CLOSE, .descriptor = descriptor }, NULL, no_bytes);
    int result = next(entries);
    end();
    return result;
}

/* --- Content --- */

static void wrote_locked(int descriptor, off_t offset, const void *bytes, ssize_t size)
{
    if (size <= 0)
        return;
    struct line line = { .kind = KIND_WRITE, .descriptor = descriptor };
    line.offset = (uint64_t)offset;
    append_locked(line, NULL, (struct iovec){ (void *)(uintptr_t)bytes, (size_t)size });
}

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    const char *path = path_of(descriptor);
    if (path == NULL)
        return syscall(SYS_write, descriptor, bytes, size);
    const char *call = fcntl(descriptor, F_GETFL) & O_APPEND ? "append" : "write";
    point(BEFORE, call, path);
    begin();
    ssize_t written = syscall(SYS_write, descriptor, bytes, size);
    /* Right for files that are appended to as well: that moves the position to their end. */
    wrote_locked(descriptor, lseek(descriptor, 0, SEEK_CUR) - written, bytes, written);
    end();
    point(AFTER, call, path);
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    const char *path = path_of(descriptor);
    if (path == NULL)
        return syscall(SYS_pwrite64, descriptor, bytes, size, offset);
    point(BEFORE, "write", path);
    begin();
    ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, size, offset);
    wrote_locked(descriptor, offset, bytes, written);
    end();
    point(AFTER, "write", path);
    return written;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off_t offset)
    __attribute__((alias("pwrite")));

/* Sockets are written to by this, files are not. */
ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
    if (path_of(descriptor) != NULL)
        give_up("writev to a file is not watched");
    return syscall(SYS_writev, descriptor, parts, count);
}

int ftruncate(int descriptor, off_t size)
{
    const char *path = path_of(descriptor);
    if (path == NULL)
        return (int)syscall(SYS_ftruncate, descriptor, size);
    point(BEFORE, "truncate", path);
    begin();
    struct line line = { .kind = KIND_TRUNCATE, .descriptor = descriptor };
    line.offset = (uint64_t)size;
    int result = (int)syscall(SYS_ftruncate, descriptor, size);
    if (result == 0)
        append_locked(line, NULL, no_bytes);
    end();
    point(AFTER, "truncate", path);
    return result;
}

int ftruncate64(int descriptor, off_t size) __attribute__((alias("ftruncate")));

int fallocate(int descriptor, int mode, off_t offset, off_t size)
{
    if (path_of(descriptor) == NULL || mode & FALLOC_FL_KEEP_SIZE)
        return (int)syscall(SYS_fallocate, descriptor, mode, offset, size);
    if (mode != 0)
        give_up("this kind of fallocate is not watched");
    begin();
    struct line line = { .kind = KIND_ALLOCATE, .descriptor = descriptor };
    line.offset = (uint64_t)(offset + size);
    int result = (int)syscall(SYS_fallocate, descriptor, mode, offset, size);
    if (result == 0)
        append_locked(line, NULL, no_bytes);
    end();
    return result;
}

int fallocate64(int descriptor, int mode, off_t offset, off_t size)
    __attribute__((alias("fallocate")));

int posix_fallocate(int descriptor, off_t offset, off_t size)
{
    return fallocate(descriptor, 0, offset, size) == 0 ? 0 : errno;
}

int posix_fallocate64(int descriptor, off_t offset, off_t size)
    __attribute__((alias("posix_fallocate")));

/* What was written before a sync began is durable once it has ended. */
static int watched_sync(int descriptor, long call)
{
    const char *path = path_of(descriptor);
    if (path == NULL)
        return (int)syscall(call, descriptor);
    point(BEFORE, "sync", path);
    int result = 0;
    if (state.journal < 0) {
        result = (int)syscall(call, descriptor);
    } else {
        struct line line = { .kind = KIND_SYNC_BEGIN, .descriptor = descriptor };
        line.aux = atomic_fetch_add(&state.syncs, 1);
        begin();
        append_locked(line, NULL, no_bytes);
        end();
        wait_ns(SYNC_NS);
        line.kind = KIND_SYNC_END;
        begin();
        append_locked(line, NULL, no_bytes);
        end();
    }
    point(AFTER, "sync", path);
    return result;
}

int fsync(int descriptor)
{
    return watched_sync(descriptor, SYS_fsync);
}

int fdatasync(int descriptor)
{
    return watched_sync(descriptor, SYS_fdatasync);
}

/* --- Names --- */

static int watched_rename(int base, const char *path, int new_base, const char *new_path)
{
    char full[PATH_MAX], new_full[PATH_MAX];
    if (!resolve(base, path, full) || !resolve(new_base, new_path, new_full))
        return (int)syscall(SYS_renameat2, base, path, new_base, new_path, 0);
    point(BEFORE, "rename", new_full);
    begin();
    int result = (int)syscall(SYS_renameat2, base, path, new_base, new_path, 0);
    result = named(result, KIND_RENAME, full, new_full);
    point(AFTER, "rename", new_full);
    return result;
}

int rename(const char *path, const char *new_path)
{
    return watched_rename(AT_FDCWD, path, AT_FDCWD, new_path);
}

int renameat(int base, const char *path, int new_base, const char *new_path)
{
    return watched_rename(base, path, new_base, new_path);
}

static int watched_unlink(int base, const char *path, int flags)
{
    char full[PATH_MAX];
    if (!resolve(base, path, full))
        return (int)syscall(SYS_unlinkat, base, path, flags);
    point(BEFORE, "unlink", full);
    begin();
    int result = (int)syscall(SYS_unlinkat, base, path, flags);
    result = named(result, KIND_UNLINK, full, NULL);
    point(AFTER, "unlink", full);
    return result;
}

int unlink(const char *path)
{
    return watched_unlink(AT_FDCWD, path, 0);
}

int unlinkat(int base, const char *path, int flags)
{
    return watched_unlink(base, path, flags);
}

int rmdir(const char *path)
{
    return watched_unlink(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int base, const char *path, mode_t mode)
{
    char full[PATH_MAX];
    if (!resolve(base, path, full))
        return (int)syscall(SYS_mkdirat, base, path, mode);
    point(BEFORE, "mkdir", full);
    begin();
    int result = (int)syscall(SYS_mkdirat, base, path, mode);
    result = named(result, KIND_MKDIR, full, NULL);
    point(AFTER, "mkdir", full);
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int link(const char *path, const char *new_path)
{
    char full[PATH_MAX], new_full[PATH_MAX];
    if (!resolve(AT_FDCWD, path, full) || !resolve(AT_FDCWD, new_path, new_full))
        return (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, new_path, 0);
    begin();
    int result = (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, new_path, 0);
    return named(result, KIND_LINK, full, new_full);
}

/* --- Clock --- */

int clock_gettime(clockid_t clock, struct timespec *out)
{
    static atomic_bool was_read;
    pthread_once(&state.once, initialise);
    int result = (int)syscall(SYS_clock_gettime, clock, out);
    if (result == 0 && clock == CLOCK_MONOTONIC_RAW && atomic_exchange(&was_read, true))
        out->tv_sec += state.clock_ahead_s;
    return result;
}
