/* folder.c -- see folder.h. */
#include "base/folder.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"

static bool sync_entry(int folder)
{
    int parent = file_open_at(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (parent < 0)
        return false;
    bool ok = fsync(parent) == 0;
    file_close(parent);
    return ok;
}

bool folder_create(const char *path)
{
    bool is_new = mkdir(path, 0700) == 0;
    if (!is_new && errno != EEXIST)
        return false;
    int folder = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (folder < 0)
        return false;
    /* Sync an existing one as well: its creator may have been killed before the sync. That may
     * fail, for one if we may not read the folder above; then assume that it is on the disk. */
    bool ok = sync_entry(folder) || !is_new;
    file_close(folder);
    return ok;
}

bool folder_visit(int folder, bool (*visit)(int folder, const char *name, void *context),
                  void *context)
{
    assert(visit != NULL);
    /* Opened anew: the position of `folder` stays as it is. */
    int listed = file_open_at(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *entries = listed < 0 ? NULL : fdopendir(listed);
    if (entries == NULL) {
        file_close(listed);
        return false;
    }
    bool ok = true;
    while (ok) {
        errno = 0;
        struct dirent *entry = readdir(entries);
        if (entry == NULL) {
            ok = errno == 0;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = visit(folder, entry->d_name, context);
    }
    int error = errno;
    closedir(entries);
    errno = error;
    return ok;
}
