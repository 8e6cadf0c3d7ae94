/* dead_letters.c -- see dead_letters.h. */
#include "trigger/dead_letters.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"

enum { FILE_MODE = 0600 }; /* Records contain items. */

/* Ends a last line that a crash cut short. */
static bool end_last_line(int fd)
{
    char last = '\n';
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || (size > 0 && pread(fd, &last, 1, size - 1) != 1))
        return false;
    return last == '\n' || file_write(fd, BYTES("\n"));
}

/* Renames the file if `size` more bytes would exceed its bound. */
static bool rotate(struct arena *arena, int folder_fd, const char *name, size_t size,
                   uint64_t size_max)
{
    struct stat status;
    if (fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT;
    if (status.st_size == 0 || (uint64_t)status.st_size + size <= size_max)
        return true;
    const char *old = (const char *)arena_printf(arena, "%s~", name).data;
    bool replaces = faccessat(folder_fd, old, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (renameat(folder_fd, name, folder_fd, old) != 0)
        return false;
    log_write(LOG_WARN, "trigger",
              "dead letters: '%s' would exceed %" PRIu64 " bytes and is now '%s'%s", name, size_max,
              old, replaces ? "; the records that were there are gone" : "");
    return true;
}

/* Syncs the folder as well: otherwise a crash could lose a new file. */
static bool append(int folder_fd, const char *name, struct bytes lines)
{
    int fd = file_open_at(folder_fd, name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                          FILE_MODE);
    if (fd < 0)
        return false;
    bool ok = end_last_line(fd) && file_write(fd, lines) && fsync(fd) == 0 && fsync(folder_fd) == 0;
    int saved = errno;
    close(fd);
    errno = saved;
    return ok;
}

bool dead_letters_append(struct arena *arena, const struct dead_letters *letters,
                         struct bytes file_name, struct bytes lines)
{
    assert(file_name.len > 0 && letters->folder != NULL);
    assert(lines.len > 0);
    const char *name = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(file_name)).data;
    if (!folder_create(letters->folder))
        return false;
    int fd = file_open_at(AT_FDCWD, letters->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    /* Triggers may share a file. Without the lock, two that rotate it at once would lose records.
     */
    bool ok = flock(fd, LOCK_EX) == 0 && rotate(arena, fd, name, lines.len, letters->size_max) &&
              append(fd, name, lines);
    int saved = errno;
    close(fd);
    errno = saved;
    return ok;
}
