/* archive_block.h -- items in compressed blocks: what the files of a backup are made of.
 *
 * Pure: bytes in, bytes out. A block is a header and a zstd frame; the header has the sizes, the
 * number of items and a CRC-32C of everything else, so that damage is found before anything is
 * decompressed. Within, each item stands behind its length, as stored. Layout:
 * doc/disk-format-recovery.md, "Backups of tables".
 */
#ifndef STATOR_ARCHIVE_ARCHIVE_BLOCK_H
#define STATOR_ARCHIVE_ARCHIVE_BLOCK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum {
    ARCHIVE_BLOCK_HEADER_SIZE = 16,
    /* A block ends once its items have as many bytes. */
    ARCHIVE_BLOCK_SIZE = 512 * 1024,
    /* With the one item that it ends with, which may be far larger than DynamoDB counts. */
    ARCHIVE_BLOCK_SIZE_MAX = 8 * 1024 * 1024,
    ARCHIVE_ITEM_SIZE_MAX = ARCHIVE_BLOCK_SIZE_MAX - ARCHIVE_BLOCK_SIZE,
};

struct archive_block_header {
    uint32_t stored_size; /* Of the frame behind the header. */
    uint32_t size;        /* Decompressed. */
    uint32_t item_count;
};

/* Collects items and turns them into a block. */
struct archive_block_writer;
struct archive_block_writer *archive_block_writer_create(void);
void archive_block_writer_destroy(struct archive_block_writer *writer); /* NULL is allowed. */
/* The item has at most ARCHIVE_ITEM_SIZE_MAX bytes, and the block is not full. */
void archive_block_writer_add(struct archive_block_writer *writer, struct bytes item);
bool archive_block_writer_is_full(const struct archive_block_writer *writer);
size_t archive_block_writer_count(const struct archive_block_writer *writer);
/* Header and frame of what was added; the block is empty then. Valid until the next call. */
struct bytes archive_block_writer_finish(struct archive_block_writer *writer);

/* False if the bytes can be no header. */
MUST_CHECK bool archive_block_read_header(const uint8_t bytes[ARCHIVE_BLOCK_HEADER_SIZE],
                                          struct archive_block_header *out);

/* Reads the items of a block. */
struct archive_block_reader;
struct archive_block_reader *archive_block_reader_create(void);
void archive_block_reader_destroy(struct archive_block_reader *reader); /* NULL is allowed. */
/* Opens a whole block, header and frame. False if it is damaged: then it has no items. */
MUST_CHECK bool archive_block_reader_open(struct archive_block_reader *reader, struct bytes block);
/* The next item, valid until the next block is opened. False behind the last one. */
bool archive_block_reader_next(struct archive_block_reader *reader, struct bytes *item);

#endif
