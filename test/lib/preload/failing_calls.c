/* failing_calls.c -- a disk that fails, preloaded into a server under test (LD_PRELOAD).
 *
 * The Nth call of a kind on a file of the data directory fails as the environment says; so do all
 * that follow it, if asked for. RocksDB and stator reach these functions through the C library's
 * names, which is why no product code knows of this. Sockets and files elsewhere are left alone.
 *
 *   FAILING_CALLS_UNDER    the data directory, as an absolute path
 *   FAILING_CALLS_KIND     write, append (those writes that are made with O_APPEND), sync, open,
 *                          rename, size, mkdir, unlink, link; or thread, which has nothing to do
 *                          with the directory: starting one
 *   FAILING_CALLS_NTH      the first call to fail, from 1
 *   FAILING_CALLS_HOW      EIO, ENOSPC, EINTR, or "short": half of the bytes are written
 *   FAILING_CALLS_STAYING  if it is there, all later calls of the kind fail too
 *   FAILING_CALLS_REPORT   a file that gets the path of the first call that failed
 *
 * Each call on files goes to the kernel by number, so that no function of this file meets another.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SHORT = -1 }; /* Among the error numbers. */

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value == NULL ? "" : value;
}

static int failure(void)
{
    const char *how = setting("FAILING_CALLS_HOW");
    if (strcmp(how, "short") == 0)
        return SHORT;
    if (strcmp(how, "ENOSPC") == 0)
        return ENOSPC;
    return strcmp(how, "EINTR") == 0 ? EINTR : EIO;
}

static bool lies_under(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    return size > 0 && strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0);
}

static void report(const char *path)
{
    const char *name = setting("FAILING_CALLS_REPORT");
    int file = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0)
        return;
    syscall(SYS_write, file, path, strlen(path));
    syscall(SYS_close, file);
}

/* What the call on `path` is to fail with; 0: it does not. */
static int fate(const char *kind, const char *path)
{
    static atomic_long calls;
    if (strcmp(kind, setting("FAILING_CALLS_KIND")) != 0 ||
        !lies_under(path, setting("FAILING_CALLS_UNDER")))
        return 0;
    long nth = strtol(setting("FAILING_CALLS_NTH"), NULL, 10);
    long call = atomic_fetch_add(&calls, 1) + 1;
    if (call == nth)
        report(path);
    bool fails = getenv("FAILING_CALLS_STAYING") != NULL ? call >= nth : call == nth;
    return fails ? failure() : 0;
}

static void path_of_file(int file, char out[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, out, PATH_MAX - 1);
    out[size < 0 ? 0 : size] = '\0';
}

static int fate_of_file(const char *kind, int file)
{
    char path[PATH_MAX];
    int before = errno; /* A write that succeeds leaves it as it was. */
    path_of_file(file, path);
    errno = before;
    return fate(kind, path);
}

static int fate_at(const char *kind, int folder, const char *name)
{
    char path[2 * PATH_MAX];
    if (name[0] == '/' || folder == AT_FDCWD)
        return fate(kind, name);
    path_of_file(folder, path);
    size_t size = strlen(path);
    snprintf(path + size, sizeof path - size, "/%s", name);
    return fate(kind, path);
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* --- write --- */

static size_t half(size_t size)
{
    return size > 1 ? size / 2 : size;
}

ssize_t write(int file, const void *data, size_t size)
{
    int error = fate_of_file("write", file);
    if (error == 0 && (fcntl(file, F_GETFL) & O_APPEND) != 0)
        error = fate_of_file("append", file);
    if (error > 0)
        return fail(error);
    return syscall(SYS_write, file, data, error == SHORT ? half(size) : size);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
{
    int error = fate_of_file("write", file);
    if (error > 0)
        return fail(error);
    return syscall(SYS_pwrite64, file, data, error == SHORT ? half(size) : size, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    int error = fate_of_file("write", file);
    if (error > 0)
        return fail(error);
    return syscall(SYS_writev, file, parts, error == SHORT ? (int)half((size_t)count) : count);
}

/* --- sync --- */

int fsync(int file)
{
    int error = fate_of_file("sync", file);
    return error > 0 ? fail(error) : (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    int error = fate_of_file("sync", file);
    return error > 0 ? fail(error) : (int)syscall(SYS_fdatasync, file);
}

/* Without flags it asks nothing of the disk: RocksDB finds out in this way whether it is there. */
int sync_file_range(int file, off_t offset, off_t size, unsigned flags)
{
    int error = flags == 0 ? 0 : fate_of_file("sync", file);
    return error > 0 ? fail(error) : (int)syscall(SYS_sync_file_range, file, offset, size, flags);
}

/* --- open --- */

static int open_at(int folder, const char *name, int flags, mode_t mode)
{
    int error = fate_at("open", folder, name);
    return error > 0 ? fail(error) : (int)syscall(SYS_openat, folder, name, flags, mode);
}

int open(const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_at(AT_FDCWD, name, flags, mode);
}

int openat(int folder, const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_at(folder, name, flags, mode);
}

/* --- rename --- */

int rename(const char *from, const char *to)
{
    int error = fate("rename", to);
    return error > 0 ? fail(error) : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    int error = fate_at("rename", to_folder, to);
    return error > 0 ? fail(error)
                     : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

/* --- size --- */

int ftruncate(int file, off_t size)
{
    int error = fate_of_file("size", file);
    return error > 0 ? fail(error) : (int)syscall(SYS_ftruncate, file, size);
}

int fallocate(int file, int mode, off_t offset, off_t size)
{
    int error = fate_of_file("size", file);
    return error > 0 ? fail(error) : (int)syscall(SYS_fallocate, file, mode, offset, size);
}

int posix_fallocate(int file, off_t offset, off_t size)
{
    int error = fate_of_file("size", file);
    if (error > 0)
        return error;
    return syscall(SYS_fallocate, file, 0, offset, size) == 0 ? 0 : errno;
}

/* --- mkdir, unlink, link --- */

int mkdir(const char *name, mode_t mode)
{
    int error = fate("mkdir", name);
    return error > 0 ? fail(error) : (int)syscall(SYS_mkdirat, AT_FDCWD, name, mode);
}

int unlink(const char *name)
{
    int error = fate("unlink", name);
    return error > 0 ? fail(error) : (int)syscall(SYS_unlinkat, AT_FDCWD, name, 0);
}

int link(const char *from, const char *to)
{
    int error = fate("link", to);
    return error > 0 ? fail(error) : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* --- thread --- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (fate("thread", setting("FAILING_CALLS_UNDER")) != 0)
        return EAGAIN;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attributes, run, argument);
}
