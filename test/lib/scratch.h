/* scratch.h -- a directory of its own for a test, gone afterwards. */
#ifndef STATOR_TEST_SCRATCH_H
#define STATOR_TEST_SCRATCH_H

enum { SCRATCH_PATH_MAX = 256 };

/* Makes an empty directory below $TMPDIR, or /tmp, and writes its path. */
void scratch_create(char path[SCRATCH_PATH_MAX]);
/* Removes `path` with all that is in it; one that does not exist is allowed. */
void scratch_destroy(const char *path);
/* "path/name". */
void scratch_join(char out[SCRATCH_PATH_MAX], const char *path, const char *name);

#endif
