/* backup_copy.c -- see backup_copy.h. */
#include "backup/backup_copy.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/backup_directory.h"
#include "backup/backup_manifest.h"
#include "base/file.h"
#include "base/memory.h"
#include "crypto/sha256.h"

enum { BLOCK_SIZE = 1024 * 1024 };

void backup_copy_init(struct backup_copy *copy)
{
    copy->hasher = sha256_create();
    copy->block = memory_checked(malloc(BLOCK_SIZE));
}

void backup_copy_deinit(struct backup_copy *copy)
{
    sha256_destroy(copy->hasher);
    free(copy->block);
}

/* A link or a pipe in place of a file would lead elsewhere, or hang. */
static int open_source(int source, const char *name)
{
    struct stat status;
    int fd = file_open_at(source, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

/* `to` -1: nowhere. */
static enum backup_copy_result copy_bytes(struct backup_copy *copy, int from, int to,
                                          struct backup_file *out)
{
    uint8_t digest[SHA256_SIZE];
    out->size = 0;
    sha256_begin(copy->hasher);
    for (;;) {
        ssize_t size = read(from, copy->block, BLOCK_SIZE);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return BACKUP_COPY_SOURCE_FAILED;
        if (size == 0)
            break;
        sha256_add(copy->hasher, bytes_of(copy->block, (size_t)size));
        out->size += (uint64_t)size;
        if (to >= 0 && !file_write(to, bytes_of(copy->block, (size_t)size)))
            return BACKUP_COPY_TARGET_FAILED;
    }
    sha256_finish(copy->hasher, digest);
    sha256_hex(digest, out->digest);
    return to < 0 || fsync(to) == 0 ? BACKUP_COPY_OK : BACKUP_COPY_TARGET_FAILED;
}

enum backup_copy_result backup_copy_file(struct backup_copy *copy, int source,
                                         const struct backup_directory *target, const char *name,
                                         struct backup_file *out)
{
    int to = -1;
    int from = open_source(source, name);
    if (from < 0)
        return BACKUP_COPY_SOURCE_FAILED;
    enum backup_copy_result result = BACKUP_COPY_TARGET_FAILED;
    if (target == NULL || (to = backup_directory_create_file(target, name)) >= 0)
        result = copy_bytes(copy, from, to, out);
    file_close(to);
    file_close(from);
    return result;
}
