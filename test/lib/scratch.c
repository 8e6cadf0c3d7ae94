/* scratch.c -- see scratch.h. */
#include "scratch.h"
#include <assert.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

void scratch_create(char path[SCRATCH_PATH_MAX])
{
    const char *parent = getenv("TMPDIR");
    int length = snprintf(path, SCRATCH_PATH_MAX, "%s/stator-test-XXXXXX",
                          parent == NULL || parent[0] == '\0' ? "/tmp" : parent);
    assert(length > 0 && length < SCRATCH_PATH_MAX);
    char *made = mkdtemp(path);
    assert(made != NULL);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void scratch_destroy(const char *path)
{
    enum { OPEN_DIRECTORIES_MAX = 8 };
    int result = nftw(path, remove_one, OPEN_DIRECTORIES_MAX, FTW_DEPTH | FTW_PHYS);
    assert(result == 0 || errno == ENOENT);
}

void scratch_join(char out[SCRATCH_PATH_MAX], const char *path, const char *name)
{
    int length = snprintf(out, SCRATCH_PATH_MAX, "%s/%s", path, name);
    assert(length > 0 && length < SCRATCH_PATH_MAX);
}
