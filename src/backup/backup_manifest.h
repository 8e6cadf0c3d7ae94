/* backup_manifest.h -- the list of a backup's files, as text and back.
 *
 * It is written last, so a directory that has it was complete; its digests show whether it still
 * is.
 * Layout: doc/disk-format-recovery.md, "Backups of a store".
 */
#ifndef STATOR_BACKUP_BACKUP_MANIFEST_H
#define STATOR_BACKUP_BACKUP_MANIFEST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "crypto/sha256.h"

struct arena;
struct buffer;

enum {
    BACKUP_NAME_MAX = 100,
    BACKUP_WORD_MAX = 64,      /* Of a version or a time. */
    BACKUP_FILES_MAX = 100000, /* Some six terabytes in table files of 64 MB. */
    BACKUP_MANIFEST_SIZE_MAX = 32 * 1024 * 1024,
};

struct backup_file {
    struct bytes name;
    uint64_t size;
    char digest[SHA256_HEX_SIZE]; /* SHA-256 in lower-case hexadecimal. */
};

struct backup_manifest {
    struct bytes time;    /* "2026-11-15T12:00:00Z" */
    struct bytes version; /* Of the program that made it. */
    struct backup_file *files;
    size_t file_count;
};

/* True for the name of a file that may be part of a backup: it has no path in it, and is not one of
 * the backup's own files. */
bool backup_manifest_is_name(struct bytes name);

/* Appends the text. The names are sorted by their bytes, without duplicates. */
void backup_manifest_write(const struct backup_manifest *manifest, struct sha256 *hasher,
                           struct buffer *out);
/* Borrows `text`. False if it is not what backup_manifest_write writes. */
MUST_CHECK bool backup_manifest_parse(struct arena *arena, struct sha256 *hasher, struct bytes text,
                                      struct backup_manifest *out);

#endif
