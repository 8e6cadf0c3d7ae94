/* folder.c -- see folder.h. */
#include "base/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool sync_entry(int folder)
{
    int parent = openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return false;
    bool ok = fsync(parent) == 0;
    int error = errno;
    close(parent);
    errno = error;
    return ok;
}

bool folder_create(const char *path)
{
    bool is_new = mkdir(path, 0700) == 0;
    if (!is_new && errno != EEXIST)
        return false;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return false;
    /* One that was there is most likely on the disk; but whoever made it may have been killed
     * before its sync. It may also be somebody else's, in a folder that we may not read. */
    bool ok = sync_entry(folder) || !is_new;
    int error = errno;
    close(folder);
    errno = error;
    return ok;
}
