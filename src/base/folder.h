/* folder.h -- the names in a folder, and folders that are still there after a power cut.
 *
 * If a power cut loses the entry of a folder in its parent, all files in it are lost, even synced
 * ones.
 */
#ifndef STATOR_BASE_FOLDER_H
#define STATOR_BASE_FOLDER_H
#include <stdbool.h>
#include "base/compiler.h"

/* Makes sure that there is a folder at `path`, for its owner alone if it is new, and that its entry
 * is on the disk. False with errno set. */
MUST_CHECK bool folder_create(const char *path);

/* Calls `visit` for each name in `folder`, an open descriptor, except . and .., until it returns
 * false. False with errno set, by the folder or by the visitor. */
MUST_CHECK bool folder_visit(int folder, bool (*visit)(int folder, const char *name, void *context),
                             void *context);

#endif
