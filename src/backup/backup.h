/* backup.h -- copies a store into a directory of its own, and back.
 *
 * A backup holds the files of a store, the sealed access keys, and a list of them all with their
 * digests (backup_manifest.h). `stator check` and `stator restore` read it. The master key is not
 * part of it.
 */
#ifndef STATOR_BACKUP_BACKUP_H
#define STATOR_BACKUP_BACKUP_H
#include <stdbool.h>
#include <stdint.h>
#include "backup/backup_directory.h"
#include "base/compiler.h"

/* Called when another file was copied or compared. */
typedef void backup_progress(void *context, uint64_t file_count, uint64_t file_total);

struct backup_options {
    const char *store;    /* The directory with the files, which must not change meanwhile. */
    const char *data_dir; /* Where the keys are; may be the same. */
    const char *version;  /* Of this program. */
    int64_t now_ms;
    backup_progress *progress; /* NULL: nobody watches. */
    void *context;             /* Passed to it. */
};

struct backup_result {
    uint64_t file_count;
    uint64_t size;
};

/* Makes a backup in `target`, which must be empty or missing. It is complete and on the disk when
 * this returns true; otherwise there is a line in `message` and the copied files are removed. */
MUST_CHECK bool backup_make(const struct backup_options *options, const char *target,
                            struct backup_result *result, char message[BACKUP_MESSAGE_MAX]);

/* Makes a data directory in `target` from the backup in `source`, by the same rules. Compares every
 * file with its digest. */
MUST_CHECK bool backup_restore(const char *source, const char *target, backup_progress *progress,
                               void *context, struct backup_result *result,
                               char message[BACKUP_MESSAGE_MAX]);

/* Whether the data directory was made by backup_restore, and backup_note_start has not been called
 * on it since. */
bool backup_is_restored(const char *data_dir);
/* The server has done what a restored store needs. False with errno set; it is on the disk then. */
MUST_CHECK bool backup_note_start(const char *data_dir);

/* True if the directory holds a finished backup, by its list of files. */
bool backup_exists(const char *directory);
/* Compares the files of a backup with its list. Each problem is one line; returns their number. */
uint64_t backup_verify(const char *directory, void (*report)(void *context, const char *line),
                       backup_progress *progress, void *context);

#endif
