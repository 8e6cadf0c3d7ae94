/* store_version.c -- see store_version.h.
 *
 * RocksDB's C interface has no function for the version, and its header with the numbers is C++: so
 * the Makefile reads them from there, and the running library's is in a file that it writes.
 */
#include "engine/rocksdb/store_version.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"

enum { OPTIONS_READ_MAX = 4096 }; /* The version comes first. */

static const char file_prefix[] = "OPTIONS-";
static const char version_name[] = "rocksdb_version=";

const char *store_version_compiled(void)
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

static bool read_version(int file, char out[STORE_VERSION_MAX])
{
    char text[OPTIONS_READ_MAX + 1];
    ssize_t size = read(file, text, OPTIONS_READ_MAX);
    text[size < 0 ? 0 : size] = '\0';
    const char *at = strstr(text, version_name);
    if (at == NULL)
        return false;
    at += sizeof version_name - 1;
    size_t length = strcspn(at, " \r\n");
    if (length == 0 || length >= STORE_VERSION_MAX)
        return false;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

bool store_version_running(int directory, char out[STORE_VERSION_MAX])
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
