/* file.h -- opening and writing files despite interruptions.
 *
 * A signal may interrupt a call, and a write may be partial; neither is a failure. There is no sync
 * here: an interrupted sync counts as failed, and a failed sync is never repeated.
 */
#ifndef STATOR_BASE_FILE_H
#define STATOR_BASE_FILE_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

/* openat, repeated on EINTR. `folder` may be AT_FDCWD; `mode` is that of a new file. -1 with errno
 * set. */
MUST_CHECK int file_open_at(int folder, const char *name, int flags, unsigned mode);

/* Writes all of `data` at the file's position. False with errno set; part of it may be written. */
MUST_CHECK bool file_write(int file, struct bytes data);

/* Writes all of `data` at `offset`. */
MUST_CHECK bool file_write_at(int file, struct bytes data, int64_t offset);

/* Closes it, unless it is negative, and leaves errno as it was. */
void file_close(int file);

#endif
