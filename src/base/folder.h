/* folder.h -- the names in a folder. */
#ifndef STATOR_BASE_FOLDER_H
#define STATOR_BASE_FOLDER_H
#include <stdbool.h>
#include "base/compiler.h"

/* Hands each name in `folder`, an open descriptor, to `visit`, but not . and .., until that says
 * false. False with errno set, by the folder or by the visitor. */
MUST_CHECK bool folder_visit(int folder, bool (*visit)(int folder, const char *name, void *context),
                             void *context);

#endif
