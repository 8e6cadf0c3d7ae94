/* archive.h -- the files of a backup, in a bucket of an object store.
 *
 * A backup is a few objects below one prefix: data files with the table's items in compressed
 * blocks (archive_block.h), the table's description for people, and a manifest, which is written
 * last: a backup without one is not complete. The manifest has the size and SHA-256 of each data
 * file and the record by which a server lists the backup, so that a fresh server can take over a
 * folder of backups.
 *
 * Data files are of bounded size, because an interrupted upload starts over. Layout:
 * doc/disk-format-recovery.md, "Backups of tables".
 */
#ifndef STATOR_ARCHIVE_ARCHIVE_H
#define STATOR_ARCHIVE_ARCHIVE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "crypto/sha256.h"
#include "object/object_store.h"

struct arena;

enum {
    ARCHIVE_FILE_SIZE = 64 * 1024 * 1024, /* A file ends once it has as many bytes. */
    ARCHIVE_FILES_MAX = 8192,             /* Half a terabyte, compressed. */
    ARCHIVE_MANIFEST_SIZE_MAX = 4 * 1024 * 1024,
};

struct archive_file {
    uint64_t size;
    uint64_t item_count;
    uint8_t sha256[SHA256_SIZE];
};

/* "<prefix>data-00000" */
struct bytes archive_file_key(struct arena *arena, struct bytes prefix, size_t number);
struct bytes archive_manifest_key(struct arena *arena, struct bytes prefix);
struct bytes archive_table_key(struct arena *arena, struct bytes prefix); /* For people. */

/* Files as bytes, for the record of a backup. */
struct bytes archive_files_encode(struct arena *arena, const struct archive_file *files,
                                  size_t count);
MUST_CHECK bool archive_files_decode(struct arena *arena, struct bytes bytes,
                                     struct archive_file **files, size_t *count);

/* --- Writing --- */

/* Writes data files one after the other. The bucket is borrowed. `file_size` 0: ARCHIVE_FILE_SIZE.
 */
struct archive_writer;
struct archive_writer *archive_writer_create(struct object_bucket *bucket, struct bytes prefix,
                                             size_t first_file, size_t file_size);
/* Aborts a file that was not ended. Destroying NULL is allowed. */
void archive_writer_destroy(struct archive_writer *writer);
/* Adds an item's stored bytes to the current file, which begins with its first item. After a
 * failure the writer can only be destroyed. */
MUST_CHECK bool archive_writer_add(struct archive_writer *writer, struct bytes item,
                                   struct object_error *err);
/* Whether the file is to be ended before more is added. */
bool archive_writer_is_full(const struct archive_writer *writer);
bool archive_writer_is_empty(const struct archive_writer *writer);
/* The file is whole and durable when this returns true; the next one follows. */
MUST_CHECK bool archive_writer_end_file(struct archive_writer *writer, struct archive_file *out,
                                        struct object_error *err);

/* --- Reading --- */

/* Where a reader resumes: directly after an item. All zero: at the beginning. */
struct archive_position {
    uint64_t file;
    uint64_t offset; /* Of a block within the file. */
    uint64_t item;   /* Items of that block that were read. */
};

enum archive_status { ARCHIVE_ITEM, ARCHIVE_END, ARCHIVE_DAMAGED, ARCHIVE_UNREADABLE };

/* The bucket and the files are borrowed. */
struct archive_reader;
struct archive_reader *archive_reader_create(struct object_bucket *bucket, struct bytes prefix,
                                             const struct archive_file *files, size_t file_count,
                                             const struct archive_position *position);
void archive_reader_destroy(struct archive_reader *reader); /* NULL is allowed. */
/* The stored bytes of the next item, valid until the next call. ARCHIVE_DAMAGED: bytes are not what
 * was written, or missing; `err` has a sentence. A file that is read from its beginning is compared
 * with its SHA-256 at its end. ARCHIVE_UNREADABLE: the store failed, as `err` says. */
MUST_CHECK enum archive_status archive_reader_next(struct archive_reader *reader,
                                                   struct bytes *item, struct object_error *err);
/* Behind the last item. */
struct archive_position archive_reader_position(const struct archive_reader *reader);

#endif
