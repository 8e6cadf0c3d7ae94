/* folder.c -- see folder.h. */
#include "base/folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "base/file.h"

bool folder_visit(int folder, bool (*visit)(int folder, const char *name, void *context),
                  void *context)
{
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
