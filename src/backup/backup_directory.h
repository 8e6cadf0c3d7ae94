/* backup_directory.h -- a directory that files are copied into, from empty to complete.
 *
 * From before the first file until after the last one it has the file INCOMPLETE, on the disk, so
 * that no moment at which copying may end leaves something that looks whole. Everything in it
 * belongs to whoever owns the directory: root makes backups for others.
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
/* Complete, and on the disk. False with one line for people; then it is to be discarded. */
MUST_CHECK bool backup_directory_finish(struct backup_directory *directory,
                                        char message[BACKUP_MESSAGE_MAX]);
/* Removes what was copied, and the directory if it was created. */
void backup_directory_discard(struct backup_directory *directory);

/* Removes a directory and the files in it; it has no others. False with errno set. One that is
 * not there is removed. */
bool backup_directory_remove(const char *path);

/* Fills in "PATH: REASON" and returns false. */
bool backup_directory_refuse(char message[BACKUP_MESSAGE_MAX], const char *path,
                             const char *reason);

#endif
