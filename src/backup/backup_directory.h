/* backup_directory.h -- a directory that files are copied into, from empty to complete.
 *
 * The file INCOMPLETE is in it, on the disk, from before the first file is copied until the last
 * one is on the disk. So a copy that was interrupted never looks complete. New files belong to the
 * owner of the directory, because root may make backups for others.
 */
#ifndef STATOR_BACKUP_BACKUP_DIRECTORY_H
#define STATOR_BACKUP_BACKUP_DIRECTORY_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum { BACKUP_MESSAGE_MAX = 512 };

struct backup_directory {
    const char *path; /* Borrowed. */
    int fd;           /* Open, and locked. */
    bool created;
};

/* Creates the directory, or takes one that is empty. False with one line for people. */
MUST_CHECK bool backup_directory_begin(struct backup_directory *directory, const char *path,
                                       char message[BACKUP_MESSAGE_MAX]);
/* A new file in it, open for writing; -1 with errno set. */
int backup_directory_create_file(const struct backup_directory *directory, const char *name);
/* A file that is there whole or not at all. On the disk when this returns true. */
MUST_CHECK bool backup_directory_put_file(const struct backup_directory *directory,
                                          const char *name, struct bytes text);
/* Makes the copy complete, on the disk. False with one line for people; discard it then. */
MUST_CHECK bool backup_directory_finish(struct backup_directory *directory,
                                        char message[BACKUP_MESSAGE_MAX]);
/* Removes what was copied, and the directory if it was created. */
void backup_directory_discard(struct backup_directory *directory);

/* Removes a directory and the files in it. True also if it does not exist. False with errno set,
 * for one if it holds folders. */
bool backup_directory_remove(const char *path);

/* Fills in "PATH: REASON" and returns false. */
bool backup_directory_refuse(char message[BACKUP_MESSAGE_MAX], const char *path,
                             const char *reason);

#endif
