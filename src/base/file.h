/* file.h -- opening and writing files whole, whatever interrupts it.
 *
 * A call may be interrupted by a signal, and a write may take a part; neither is a failure. A sync
 * is not here: one that was interrupted counts as failed, and a failed one is never repeated.
 */
#ifndef STATOR_BASE_FILE_H
#define STATOR_BASE_FILE_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

/* openat, never interrupted. `folder` may be AT_FDCWD; `mode` counts for a file that is created.
 * -1 with errno set. */
MUST_CHECK int file_open_at(int folder, const char *name, int flags, unsigned mode);

/* All of `data` at the file's position. False with errno set; a part of it may be written. */
MUST_CHECK bool file_write(int file, struct bytes data);

/* All of `data` at `offset`. */
MUST_CHECK bool file_write_at(int file, struct bytes data, int64_t offset);

/* Closes it, unless it is negative, and leaves errno as it was. */
void file_close(int file);

#endif
