/* store_files.c -- see store_files.h. */
#include "store_files.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/rocksdb/store_ahead.h"

enum { COPY_SIZE = 64 * 1024 };

void store_files_copy_file(const char *from, const char *to)
{
    uint8_t data[COPY_SIZE];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t size;
    assert_true(in >= 0 && out >= 0);
    while ((size = read(in, data, sizeof data)) > 0)
        assert_int_equal(write(out, data, (size_t)size), size);
    close(out);
    close(in);
}

void store_files_copy(const char *from, const char *to)
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
        store_files_copy_file(source, target);
    }
    closedir(directory);
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
