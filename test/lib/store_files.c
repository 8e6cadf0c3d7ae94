/* store_files.c -- see store_files.h. */
#include "store_files.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/crc32c.h"
#include "engine/rocksdb/store_ahead.h"

enum { COPY_SIZE = 64 * 1024 };

/* False if there is no such file. */
static bool copy_file(const char *from, const char *to)
{
    uint8_t data[COPY_SIZE];
    int in = open(from, O_RDONLY);
    if (in < 0 && errno == ENOENT)
        return false;
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t size;
    assert_true(in >= 0 && out >= 0);
    while ((size = read(in, data, sizeof data)) > 0)
        assert_int_equal(write(out, data, (size_t)size), size);
    close(out);
    close(in);
    return true;
}

void store_files_copy_file(const char *from, const char *to)
{
    assert_true(copy_file(from, to));
}

/* Changes whenever a file comes or goes, or the manifest tells of something new. */
static uint64_t sign(const char *path)
{
    DIR *directory = opendir(path);
    uint64_t sum = 0;
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct stat status = { 0 };
        if (strncmp(entry->d_name, "MANIFEST-", 9) == 0)
            fstatat(dirfd(directory), entry->d_name, &status, 0);
        sum += crc32c(bytes_of(entry->d_name, strlen(entry->d_name))) + (uint64_t)status.st_size;
    }
    closedir(directory);
    return sum;
}

static void copy_all(const char *from, const char *to)
{
    char source[SCRATCH_PATH_MAX], target[SCRATCH_PATH_MAX];
    scratch_destroy(to);
    assert_int_equal(mkdir(to, 0700), 0);
    DIR *directory = opendir(from);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        scratch_join(source, from, entry->d_name);
        scratch_join(target, to, entry->d_name);
        copy_file(source, target); /* One that is gone by now is noticed by the caller. */
    }
    closedir(directory);
}

void store_files_copy(const char *from, const char *to)
{
    uint64_t before;
    do {
        before = sign(from);
        copy_all(from, to);
    } while (sign(from) != before);
}

size_t store_files_newest_log(const char *directory, char path[SCRATCH_PATH_MAX])
{
    DIR *entries = opendir(directory);
    size_t count = 0;
    unsigned long newest = 0;
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char *end;
        unsigned long number = strtoul(entry->d_name, &end, 10);
        if (end == entry->d_name || strcmp(end, ".log") != 0)
            continue;
        count++;
        if (number > newest) {
            newest = number;
            scratch_join(path, directory, entry->d_name);
        }
    }
    closedir(entries);
    return count;
}

struct store_files_log store_files_measure_log(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &status), 0);
    size_t size = (size_t)status.st_size, used = size;
    uint8_t *content = malloc(size + 1);
    assert_int_equal(pread(file, content, size, 0), size);
    close(file);
    while (used > 0 && content[used - 1] == STORE_AHEAD_FILL)
        used--;
    free(content);
    return (struct store_files_log){ .used = used, .filled = size - used };
}
