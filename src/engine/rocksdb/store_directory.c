/* store_directory.c -- see store_directory.h. */
#include "engine/rocksdb/store_directory.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/file.h"
#include "base/folder.h"
#include "base/memory.h"
#include "engine/data_directory.h"
#include "engine/rocksdb/store_space.h"

enum { FORMAT_TEXT_MAX = 64, LOG_NAME_MAX = 32, STRANGER_NAME_MAX = 64 };

static const char format_prefix[] = "stator store, format ";

bool store_directory_refuse(char message[ENGINE_MESSAGE_MAX], const char *path, const char *reason,
                            ...)
{
    va_list arguments;
    int used = snprintf(message, ENGINE_MESSAGE_MAX, "cannot use data directory '%s': ", path);
    if (used < 0 || used >= ENGINE_MESSAGE_MAX)
        return false;
    va_start(arguments, reason);
    vsnprintf(message + used, (size_t)(ENGINE_MESSAGE_MAX - used), reason, arguments);
    va_end(arguments);
    for (char *at = message; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20)
            *at = ' '; /* One line, whatever a path or RocksDB brought along. */
    return false;
}

static bool refuse_errno(char *message, const char *path, int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return store_directory_refuse(message, path, "no permission to read and write it");
    case EROFS:
        return store_directory_refuse(message, path, "the file system is read-only");
    case ENOTDIR:
        return store_directory_refuse(message, path, "not a directory");
    case ENOSPC:
    case EDQUOT:
        return store_directory_refuse(message, path, "no space left on the device");
    case ENOENT:
        return store_directory_refuse(message, path, "the folder above it does not exist");
    default:
        return store_directory_refuse(message, path, "%s", strerror(error));
    }
}

/* Written beside and renamed, so that FORMAT is whole or missing. */
static bool write_format(int directory)
{
    char text[FORMAT_TEXT_MAX];
    int size = snprintf(text, sizeof text, "%s%d\n", format_prefix, STORE_DIRECTORY_FORMAT);
    int file =
        file_open_at(directory, "FORMAT.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool ok = file_write(file, bytes_of(text, (size_t)size)) && fsync(file) == 0;
    int error = errno;
    close(file);
    errno = error;
    return ok && renameat(directory, "FORMAT.new", directory, "FORMAT") == 0 &&
           fsync(directory) == 0;
}

/* The version that FORMAT's text names; -1 if it is no text of ours. */
static long parse_format(const char *text)
{
    size_t prefix_size = sizeof format_prefix - 1;
    if (strncmp(text, format_prefix, prefix_size) != 0)
        return -1;
    const char *at = text + prefix_size;
    long version = 0;
    for (; *at >= '0' && *at <= '9' && version < 1000000; at++)
        version = version * 10 + (*at - '0');
    return strcmp(at, "\n") == 0 && version > 0 ? version : -1;
}

/* ENOENT means that there is no FORMAT. */
static bool read_format(int directory, char text[FORMAT_TEXT_MAX])
{
    /* O_NONBLOCK: opening must not wait if somebody put a pipe there. */
    int file = file_open_at(directory, "FORMAT", O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0)
        return false;
    ssize_t size = read(file, text, FORMAT_TEXT_MAX - 1);
    int error = errno;
    close(file);
    errno = error;
    text[size < 0 ? 0 : size] = '\0';
    return size >= 0;
}

static bool check_renderedat_text(const char *text, const char *path, char *message)
{
    long version = parse_format(text);
    if (version < 0)
        return store_directory_refuse(message, path, "the store is damaged: FORMAT is unreadable");
    if (version != STORE_DIRECTORY_FORMAT)
        return store_directory_refuse(
            message, path, "written in format %ld by another version; this one knows format %d",
            version, STORE_DIRECTORY_FORMAT);
    return true;
}

/* May a directory without a store already have this name? Access keys can be created before the
 * first start, and a first start that was killed leaves some of our files. Hidden files and
 * lost+found come with volumes. */
static bool may_precede_store(const char *name)
{
    static const char *const names[] = { "KEYS",       "KEYS.lock",      "KEYS.new",
                                         "FORMAT.new", "LOCK",           "dead-letters",
                                         "regions",    "backup.socket",  "checkpoint",
                                         "RESERVE",    "checkpoint.tmp", "lost+found" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return name[0] == '.' || strncmp(name, "LOG", 3) == 0;
}

struct stranger {
    char name[STRANGER_NAME_MAX]; /* Truncated if longer. */
};

/* Ends the visit at the first stranger. */
static bool visit_stranger(int directory, const char *name, void *context)
{
    struct stranger *stranger = context;
    (void)directory;
    if (may_precede_store(name))
        return true;
    snprintf(stranger->name, sizeof stranger->name, "%s", name);
    errno = 0;
    return false;
}

/* A new store is created in a directory of its own only: in somebody's home directory it would be
 * hard to tell from their files, and to remove. */
static bool check_strangers(int directory, const char *path, char *message)
{
    struct stranger stranger = { "" };
    if (folder_visit(directory, visit_stranger, &stranger))
        return true;
    if (stranger.name[0] == '\0')
        return refuse_errno(message, path, errno);
    return store_directory_refuse(message, path,
                                  "it holds no store, but other files, such as '%s'; name an empty "
                                  "or a missing directory",
                                  stranger.name);
}

/* True if we know the directory's format. An empty one is given ours, unless it is `read_only`. */
static bool check_renderedat(int directory, bool read_only, const char *path, char *message)
{
    char text[FORMAT_TEXT_MAX];
    if (read_format(directory, text))
        return check_renderedat_text(text, path, message);
    if (errno != ENOENT)
        return refuse_errno(message, path, errno);
    if (faccessat(directory, "CURRENT", F_OK, 0) == 0)
        return store_directory_refuse(message, path, "holds a RocksDB store that is not stator's");
    if (read_only)
        return store_directory_refuse(message, path, "holds no store");
    if (!check_strangers(directory, path, message))
        return false;
    return write_format(directory) || refuse_errno(message, path, errno);
}

/* --- Logs --- */

/* The number in a log's name, "000012.log"; 0 if it is no log. */
static uint64_t log_number(const char *name)
{
    const char *at = name;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9' && number < UINT64_MAX / 100; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return strcmp(at, ".log") == 0 ? number : 0;
}

/* Opens each write-ahead log and hands it to `visit`, until that says false. */
static bool for_each_log(int directory, bool (*visit)(int file, uint64_t number, void *context),
                         void *context)
{
    int listed = file_open_at(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (listed < 0)
        return false;
    DIR *entries = fdopendir(listed);
    if (entries == NULL) {
        close(listed);
        return false;
    }
    bool ok = true;
    int error = 0;
    for (struct dirent *entry; ok && (entry = readdir(entries)) != NULL;) {
        uint64_t number = log_number(entry->d_name);
        if (number == 0)
            continue;
        int file = file_open_at(directory, entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
        if (file < 0 && errno == ENOENT)
            continue; /* RocksDB deletes a log only when its content is in tables. */
        ok = file >= 0 && visit(file, number, context);
        error = errno;
        if (file >= 0)
            close(file);
    }
    closedir(entries);
    errno = error;
    return ok;
}

static bool find_newest(int file, uint64_t number, void *context)
{
    uint64_t *newest = context;
    (void)file;
    if (number > *newest)
        *newest = number;
    return true;
}

bool store_directory_newest_log(const struct store_directory *directory, uint64_t *newest)
{
    assert(directory->directory >= 0);
    *newest = 0;
    return for_each_log(directory->directory, find_newest, newest);
}

static bool sync_log(int file, uint64_t number, void *context)
{
    (void)number;
    (void)context;
    return fdatasync(file) == 0;
}

bool store_directory_sync_logs(const struct store_directory *directory)
{
    assert(directory->directory >= 0);
    return for_each_log(directory->directory, sync_log, NULL) &&
           fsync(directory->directory) == 0; /* A log may be new. */
}

static bool add_log_size(int file, uint64_t number, void *context)
{
    (void)number;
    struct stat status;
    if (fstat(file, &status) != 0)
        return false;
    *(uint64_t *)context += (uint64_t)status.st_size;
    return true;
}

/* The logs' content goes into tables, beside some small files. False with errno set. */
static bool has_space(int directory)
{
    uint64_t needed = STORE_DIRECTORY_SPACE_MIN;
    struct statvfs space;
    if (!for_each_log(directory, add_log_size, &needed) || fstatvfs(directory, &space) != 0)
        return false;
    errno = ENOSPC;
    return (uint64_t)space.f_bavail * space.f_frsize >= needed;
}

bool store_directory_has_space(const struct store_directory *directory)
{
    assert(directory->directory >= 0);
    return has_space(directory->directory);
}

/* RocksDB may not survive running out of space in the middle of recovery, so ask before. */
static bool check_space(int directory, const char *path, char *message)
{
    return has_space(directory) || refuse_errno(message, path, errno);
}

/* --- Presence --- */

/* Other errors say nothing about what is there: a lack of memory, of rights, of a working disk. */
static bool means_missing(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ESTALE;
}

bool store_directory_is_in_place(const struct store_directory *directory)
{
    struct stat status;
    if (stat(directory->path, &status) != 0)
        return !means_missing(errno);
    return status.st_dev == directory->device && status.st_ino == directory->inode;
}

/* Asked about the log after every sync. Not by fstatat: since Linux 6.13, a file whose time was
 * asked for gets a new one with its next write, and then each sync has the inode to write as well.
 */
bool store_directory_has_file(const struct store_directory *directory, const char *name)
{
    return faccessat(directory->directory, name, F_OK, 0) == 0 || !means_missing(errno);
}

bool store_directory_has_log(const struct store_directory *directory, uint64_t number)
{
    char name[LOG_NAME_MAX];
    snprintf(name, sizeof name, "%06" PRIu64 ".log", number);
    return store_directory_has_file(directory, name);
}

bool store_directory_has_synced(const struct store_directory *directory)
{
    struct stat status;
    return fstat(directory->synced.file, &status) != 0 || status.st_nlink > 0;
}

/* --- Copies --- */

/* Refuses an unfinished copy, and to write to a backup. */
static bool check_copy(int directory, bool read_only, const char *path, char *message)
{
    if (faccessat(directory, DATA_DIRECTORY_INCOMPLETE, F_OK, 0) == 0)
        return store_directory_refuse(
            message, path, "a backup or restore into it is not finished, or was interrupted");
    if (!read_only && faccessat(directory, DATA_DIRECTORY_BACKUP, F_OK, 0) == 0)
        return store_directory_refuse(message, path,
                                      "holds a backup; `stator restore` makes a store of it");
    return true;
}

bool store_directory_finish_copy(const char *path, uint64_t sequence)
{
    struct store_directory copy = STORE_DIRECTORY_NONE;
    copy.directory = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (copy.directory < 0)
        return false;
    bool ok = store_synced_open(&copy.synced, copy.directory);
    if (ok) {
        store_synced_follow_manifest(&copy.synced, copy.directory);
        store_synced_advance(&copy.synced, sequence);
    }
    ok = ok && write_format(copy.directory);
    int error = errno;
    store_directory_close(&copy);
    errno = error;
    return ok;
}

/* --- Open and close --- */

/* Opens and locks a directory that exists. */
static bool lock(struct store_directory *directory, int rights, const char *path, char *message)
{
    struct stat status;
    directory->directory = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory->directory < 0 || faccessat(directory->directory, ".", rights, AT_EACCESS) != 0 ||
        fstat(directory->directory, &status) != 0)
        return refuse_errno(message, path, errno);
    directory->path = memory_checked(strdup(path));
    directory->device = status.st_dev;
    directory->inode = status.st_ino;
    if (flock(directory->directory, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return store_directory_refuse(message, path, "in use by another process");
    return true;
}

bool store_directory_open(struct store_directory *directory, const char *path,
                          char message[ENGINE_MESSAGE_MAX])
{
    *directory = STORE_DIRECTORY_NONE;
    if (!folder_create(path))
        return refuse_errno(message, path, errno);
    bool ok = lock(directory, R_OK | W_OK | X_OK, path, message) &&
              check_copy(directory->directory, false, path, message);
    if (ok)
        store_space_give_up(directory->directory);
    ok = ok && check_space(directory->directory, path, message) &&
         check_renderedat(directory->directory, false, path, message);
    if (ok && !store_synced_open(&directory->synced, directory->directory))
        ok = refuse_errno(message, path, errno);
    if (!ok)
        store_directory_close(directory);
    return ok;
}

bool store_directory_open_read_only(struct store_directory *directory, const char *path,
                                    char message[ENGINE_MESSAGE_MAX])
{
    struct stat status;
    *directory = STORE_DIRECTORY_NONE;
    if (stat(path, &status) != 0 && errno == ENOENT)
        return store_directory_refuse(message, path, "it does not exist");
    bool ok = lock(directory, R_OK | X_OK, path, message) &&
              check_copy(directory->directory, true, path, message) &&
              check_renderedat(directory->directory, true, path, message);
    if (ok)
        store_synced_open_read_only(&directory->synced, directory->directory);
    else
        store_directory_close(directory);
    return ok;
}

void store_directory_close(struct store_directory *directory)
{
    store_synced_close(&directory->synced);
    if (directory->directory >= 0)
        close(directory->directory); /* And with it the lock. */
    free(directory->path);
    *directory = STORE_DIRECTORY_NONE;
}
