/* test_file.c -- what interrupts a call, or cuts it short, is not noticed.
 *
 * openat, write and pwrite of this program take the place of the C library's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/compiler.h"
#include "base/file.h"

enum { PASSES = 0, SHORT = -1, NOTHING = -2 }; /* Among error numbers. */

static struct {
    const int *fates; /* What comes of each call; from its end on they pass. */
    size_t count;
} next;

static int fate(void)
{
    if (next.count == 0)
        return PASSES;
    next.count--;
    return *next.fates++;
}

int openat(int folder, const char *name, int flags, ...)
{
    int error = fate();
    if (error == PASSES)
        return (int)syscall(SYS_openat, folder, name, flags, 0600);
    errno = error;
    return -1;
}

static ssize_t write_part(int file, const void *data, size_t size, off_t offset)
{
    int error = fate();
    if (error > 0) {
        errno = error;
        return -1;
    }
    if (error == NOTHING)
        return 0;
    return syscall(SYS_pwrite64, file, data, error == SHORT ? (size + 1) / 2 : size, offset);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
{
    return write_part(file, data, size, offset);
}

ssize_t write(int file, const void *data, size_t size)
{
    if (file <= STDERR_FILENO) /* cmocka's. */
        return syscall(SYS_write, file, data, size);
    off_t offset = lseek(file, 0, SEEK_CUR);
    ssize_t written = write_part(file, data, size, offset);
    if (written > 0)
        lseek(file, written, SEEK_CUR);
    return written;
}

static const struct {
    const char *name;
    int fates[4];
    size_t count;
    int error; /* 0: all is written. */
} cases[] = {
    { "nothing happens", { 0 }, 0, 0 },
    { "interrupted", { EINTR }, 1, 0 },
    { "interrupted again and again", { EINTR, EINTR, EINTR }, 3, 0 },
    { "short", { SHORT }, 1, 0 },
    { "short, interrupted, short", { SHORT, EINTR, SHORT }, 3, 0 },
    { "no space", { ENOSPC }, 1, ENOSPC },
    { "no space for the rest", { SHORT, ENOSPC }, 2, ENOSPC },
    { "nothing is taken", { NOTHING }, 1, ENOSPC },
    { "an error", { EIO }, 1, EIO },
};

static void a_write_is_whole_or_has_failed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int at = 0; at < 2; at++) {
            char found[16] = { 0 };
            int file = (int)syscall(SYS_memfd_create, "test", 0);
            assert_true(file >= 0);
            next.fates = cases[i].fates;
            next.count = cases[i].count;
            bool ok = at == 0 ? file_write(file, BYTES("0123456789"))
                              : file_write_at(file, BYTES("0123456789"), 3);
            int error = errno;
            if (ok != (cases[i].error == 0) || (!ok && error != cases[i].error))
                fail_msg("%s", cases[i].name);
            assert_int_equal(next.count, 0);
            ssize_t size = pread(file, found, sizeof found, at == 0 ? 0 : 3);
            if (ok && (size != 10 || memcmp(found, "0123456789", 10) != 0))
                fail_msg("%s: %s", cases[i].name, found);
            close(file);
        }
    }
}

static void an_open_that_is_interrupted_is_repeated(void **state)
{
    (void)state;
    static const int interrupted[] = { EINTR, EINTR }, missing[] = { EINTR, ENOENT };
    next.fates = interrupted;
    next.count = COUNT_OF(interrupted);
    int file = file_open_at(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
    assert_true(file >= 0);
    close(file);
    next.fates = missing;
    next.count = COUNT_OF(missing);
    assert_int_equal(file_open_at(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0), -1);
    assert_int_equal(errno, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_whole_or_has_failed),
        cmocka_unit_test(an_open_that_is_interrupted_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
