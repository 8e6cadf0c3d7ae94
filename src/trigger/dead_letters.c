/* dead_letters.c -- see dead_letters.h. */
#include "trigger/dead_letters.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/file.h"
#include "base/folder.h"

enum { FILE_MODE = 0600 }; /* They hold what the tables hold. */

/* Ends what is no whole line. */
static bool end_last_line(int fd)
{
    char last = '\n';
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || (size > 0 && pread(fd, &last, 1, size - 1) != 1))
        return false;
    return last == '\n' || file_write(fd, BYTES("\n"));
}

/* A file that is new is found again after a crash only if its folder was synced. */
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

bool dead_letters_append(struct arena *arena, const char *folder, struct bytes file_name,
                         struct bytes lines)
{
    const char *name = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(file_name)).data;
    if (!folder_create(folder))
        return false;
    int fd = file_open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool ok = append(fd, name, lines);
    int saved = errno;
    close(fd);
    errno = saved;
    return ok;
}
