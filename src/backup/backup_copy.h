/* backup_copy.h -- one file copied, or only read, with its digest. */
#ifndef STATOR_BACKUP_BACKUP_COPY_H
#define STATOR_BACKUP_BACKUP_COPY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"

struct backup_directory;
struct backup_file;
struct sha256;

/* What copying needs, kept from file to file. */
struct backup_copy {
    struct sha256 *hasher;
    uint8_t *block;
};

void backup_copy_init(struct backup_copy *copy);
void backup_copy_deinit(struct backup_copy *copy);

enum backup_copy_result {
    BACKUP_COPY_OK,
    BACKUP_COPY_SOURCE_FAILED, /* With errno set. */
    BACKUP_COPY_TARGET_FAILED, /* The same. */
};

/* Copies the regular file `name` of the directory `source`, an open descriptor, and syncs the copy;
 * `target` NULL: only reads it. Sets the size and the digest of `out`. */
MUST_CHECK enum backup_copy_result backup_copy_file(struct backup_copy *copy, int source,
                                                    const struct backup_directory *target,
                                                    const char *name, struct backup_file *out);

#endif
