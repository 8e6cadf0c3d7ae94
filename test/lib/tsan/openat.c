/* openat.c -- an openat that ThreadSanitizer sees. Linked into the server of its flavour by
 * --wrap=openat.
 *
 * TSan tracks descriptors, but it intercepts open and not openat. libuv closes its descriptors by
 * the raw system call, which TSan does not see either. So a number that libuv closed and openat
 * returned next still seems to belong to the thread that used it for libuv, and our close of it is
 * reported as a race. Opening the file once more, through /proc, gives a number that TSan knows.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int __real_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...);

int __wrap_openat(int folder, const char *name, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    int hidden = __real_openat(folder, name, flags, mode);
    if (hidden < 0)
        return hidden;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", hidden);
    /* The file exists by now, and its name in /proc is a link. */
    int seen = open(path, flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW));
    if (seen < 0)
        return hidden; /* Such as a file without a right to read: a false report is possible. */
    syscall(SYS_close, hidden);
    return seen;
}
