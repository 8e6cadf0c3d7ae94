/* openat.c -- an openat that ThreadSanitizer sees. Linked into its flavour by --wrap=openat.
 *
 * TSan tracks descriptors, but it intercepts open and not openat. libuv closes its descriptors by
 * the raw system call, which TSan does not see either. So a number that libuv closed and openat
 * returned next still seems to belong to the thread that used it for libuv, and our close of it is
 * reported as a race. An open of the same file through /proc tells TSan that the number is new.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

int __wrap_openat(int folder, const char *name, int flags, ...);

int __wrap_openat(int folder, const char *name, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (folder == AT_FDCWD || name[0] == '/')
        return open(name, flags, mode);
    char path[PATH_MAX];
    int size = snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", folder, name);
    if (size < 0 || (size_t)size >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags, mode);
}
