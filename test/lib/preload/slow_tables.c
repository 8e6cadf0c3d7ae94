/* slow_tables.c -- a disk on which table files take long, preloaded into a server (LD_PRELOAD).
 *
 * Each sync of a file *.sst waits first, as long as SLOW_TABLES_MS says. RocksDB flushes and
 * compacts that slowly, and makes writers wait once its buffers are full; the log is as fast as
 * ever.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for_table(int file)
{
    static const char ending[] = ".sst";
    const char *wait_ms = getenv("SLOW_TABLES_MS");
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (wait_ms == NULL || size < (ssize_t)strlen(ending))
        return;
    path[size] = '\0';
    if (strcmp(path + size - strlen(ending), ending) != 0)
        return;
    long ms = strtol(wait_ms, NULL, 10);
    struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    nanosleep(&left, NULL);
}

int fsync(int file)
{
    wait_for_table(file);
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    wait_for_table(file);
    return (int)syscall(SYS_fdatasync, file);
}
