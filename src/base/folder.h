/* folder.h -- the names in a folder, and folders that are still there after a power cut.
 *
 * A folder whose own entry is not on the disk takes all its files along, however well those were
 * synced.
 */
#ifndef STATOR_BASE_FOLDER_H
#define STATOR_BASE_FOLDER_H
#include <stdbool.h>
#include "base/compiler.h"

/* Makes sure that there is a folder at `path`, for its owner alone if it is new, and that its entry
 * is on the disk. False with errno set. */
MUST_CHECK bool folder_create(const char *path);

/* Hands each name in `folder`, an open descriptor, to `visit`, but not . and .., until that says
 * false. False with errno set, by the folder or by the visitor. */
MUST_CHECK bool folder_visit(int folder, bool (*visit)(int folder, const char *name, void *context),
                             void *context);

#endif
