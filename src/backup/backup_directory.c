/* backup_directory.c -- see backup_directory.h. */
#include "backup/backup_directory.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/folder.h"
#include "engine/data_directory.h"

enum { DIRECTORY_MODE = 0700, FILE_MODE = 0600 }; /* They hold the contents of tables. */

bool backup_directory_refuse(char message[BACKUP_MESSAGE_MAX], const char *path, const char *reason)
{
    snprintf(message, BACKUP_MESSAGE_MAX, "%.300s: %s", path, reason);
    return false;
}

/* --- Files in a directory --- */

/* A file system has this folder in its root. */
static bool is_ignored(int fd, const char *name, void *context)
{
    (void)fd;
    (void)context;
    errno = ENOTEMPTY;
    return strcmp(name, "lost+found") == 0;
}

static bool remove_file(int fd, const char *name, void *context)
{
    (void)context;
    if (unlinkat(fd, name, 0) == 0 || errno == ENOENT)
        return true;
    return errno == EISDIR || errno == EPERM; /* A folder, which is not ours. */
}

bool backup_directory_remove(const char *path)
{
    int fd = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return errno == ENOENT;
    bool ok = folder_visit(fd, remove_file, NULL);
    file_close(fd);
    return ok && rmdir(path) == 0;
}

/* --- From empty to complete --- */

static bool sync_parent(const struct backup_directory *directory)
{
    int parent = file_open_at(directory->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    bool ok = parent >= 0 && fsync(parent) == 0;
    file_close(parent);
    return ok;
}

/* Opens and locks it. False with errno set. */
static bool open_empty(struct backup_directory *directory)
{
    directory->created = mkdir(directory->path, DIRECTORY_MODE) == 0;
    if (!directory->created && errno != EEXIST)
        return false;
    directory->fd = file_open_at(AT_FDCWD, directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory->fd < 0 || flock(directory->fd, LOCK_EX | LOCK_NB) != 0)
        return false;
    return folder_visit(directory->fd, is_ignored, NULL);
}

static const char *reason_of(int error)
{
    switch (error) {
    case EWOULDBLOCK:
        return "in use by another process";
    case ENOTEMPTY:
        return "is not empty";
    case ENOENT:
        return "the folder above it does not exist";
    default:
        return strerror(error);
    }
}

bool backup_directory_begin(struct backup_directory *directory, const char *path,
                            char message[BACKUP_MESSAGE_MAX])
{
    *directory = (struct backup_directory){ .path = path, .fd = -1 };
    if (!open_empty(directory)) {
        backup_directory_refuse(message, path, reason_of(errno));
        file_close(directory->fd);
        directory->fd = -1;
        if (directory->created)
            rmdir(path);
        return false;
    }
    int incomplete = backup_directory_create_file(directory, DATA_DIRECTORY_INCOMPLETE);
    bool ok = incomplete >= 0 && fsync(directory->fd) == 0 && sync_parent(directory);
    file_close(incomplete);
    if (!ok) {
        backup_directory_refuse(message, path, reason_of(errno));
        backup_directory_discard(directory);
    }
    return ok;
}

int backup_directory_create_file(const struct backup_directory *directory, const char *name)
{
    struct stat owner;
    assert(directory->fd >= 0 && strchr(name, '/') == NULL);
    int fd = file_open_at(directory->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          FILE_MODE);
    if (fd < 0)
        return -1;
    if (geteuid() == 0 &&
        (fstat(directory->fd, &owner) != 0 || fchown(fd, owner.st_uid, owner.st_gid) != 0)) {
        file_close(fd);
        return -1;
    }
    return fd;
}

bool backup_directory_put_file(const struct backup_directory *directory, const char *name,
                               struct bytes text)
{
    static const char unfinished[] = "unfinished.new";
    int fd = backup_directory_create_file(directory, unfinished);
    if (fd < 0)
        return false;
    bool ok = file_write(fd, text) && fsync(fd) == 0;
    file_close(fd);
    return ok && renameat(directory->fd, unfinished, directory->fd, name) == 0 &&
           fsync(directory->fd) == 0;
}

bool backup_directory_finish(struct backup_directory *directory, char message[BACKUP_MESSAGE_MAX])
{
    assert(directory->fd >= 0);
    /* The names of the files reach the disk before INCOMPLETE is removed. */
    if (fsync(directory->fd) != 0 || unlinkat(directory->fd, DATA_DIRECTORY_INCOMPLETE, 0) != 0 ||
        fsync(directory->fd) != 0)
        return backup_directory_refuse(message, directory->path, strerror(errno));
    close(directory->fd);
    directory->fd = -1;
    return true;
}

/* INCOMPLETE is removed last. */
static bool remove_copied(int fd, const char *name, void *context)
{
    return strcmp(name, DATA_DIRECTORY_INCOMPLETE) == 0 || remove_file(fd, name, context);
}

void backup_directory_discard(struct backup_directory *directory)
{
    assert(directory->fd >= 0);
    if (folder_visit(directory->fd, remove_copied, NULL))
        unlinkat(directory->fd, DATA_DIRECTORY_INCOMPLETE, 0);
    close(directory->fd);
    directory->fd = -1;
    if (directory->created)
        rmdir(directory->path);
}
