/* archive.c -- see archive.h. */
#include "archive/archive.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "archive/archive_block.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/memory.h"

/* The first bytes of a data file. */
static const char magic[] = "STATOR backup 1\n";
enum { MAGIC_SIZE = sizeof magic - 1, FILE_RECORD_SIZE = 8 + 8 + SHA256_SIZE };

/* --- Names and records --- */

struct bytes archive_file_key(struct arena *arena, struct bytes prefix, size_t number)
{
    return arena_printf(arena, "%.*sdata-%05zu", BYTES_FMT(prefix), number);
}

struct bytes archive_manifest_key(struct arena *arena, struct bytes prefix)
{
    return arena_printf(arena, "%.*smanifest.json", BYTES_FMT(prefix));
}

struct bytes archive_table_key(struct arena *arena, struct bytes prefix)
{
    return arena_printf(arena, "%.*stable.json", BYTES_FMT(prefix));
}

struct bytes archive_files_encode(struct arena *arena, const struct archive_file *files,
                                  size_t count)
{
    uint8_t *bytes = arena_alloc(arena, count * FILE_RECORD_SIZE + 1);
    for (size_t i = 0; i < count; i++) {
        uint8_t *at = bytes + i * FILE_RECORD_SIZE;
        store_u64_be(at, files[i].size);
        store_u64_be(at + 8, files[i].item_count);
        memcpy(at + 16, files[i].sha256, SHA256_SIZE);
    }
    return bytes_of(bytes, count * FILE_RECORD_SIZE);
}

bool archive_files_decode(struct arena *arena, struct bytes bytes, struct archive_file **files,
                          size_t *count)
{
    if (bytes.len % FILE_RECORD_SIZE != 0 || bytes.len / FILE_RECORD_SIZE > ARCHIVE_FILES_MAX)
        return false;
    *count = bytes.len / FILE_RECORD_SIZE;
    *files = arena_alloc_zeroed(arena, (*count + 1) * sizeof **files);
    for (size_t i = 0; i < *count; i++) {
        const uint8_t *at = bytes.data + i * FILE_RECORD_SIZE;
        (*files)[i].size = load_u64_be(at);
        (*files)[i].item_count = load_u64_be(at + 8);
        memcpy((*files)[i].sha256, at + 16, SHA256_SIZE);
    }
    return true;
}

/* --- Writing --- */

struct archive_writer {
    struct object_bucket *bucket;
    struct arena *arena; /* Holds the prefix. */
    struct bytes prefix;
    size_t number;                /* Of the current file. */
    size_t file_size;             /* At which it is full. */
    struct object_upload *upload; /* NULL: the file has not begun. */
    struct archive_block_writer *block;
    struct sha256 *hasher;
    struct archive_file file;
};

struct archive_writer *archive_writer_create(struct object_bucket *bucket, struct bytes prefix,
                                             size_t first_file, size_t file_size)
{
    struct archive_writer *writer = memory_checked(calloc(1, sizeof *writer));
    writer->bucket = bucket;
    writer->arena = arena_create();
    writer->prefix = arena_copy(writer->arena, prefix);
    writer->number = first_file;
    writer->file_size = file_size == 0 ? ARCHIVE_FILE_SIZE : file_size;
    writer->block = archive_block_writer_create();
    writer->hasher = sha256_create();
    return writer;
}

void archive_writer_destroy(struct archive_writer *writer)
{
    if (writer == NULL)
        return;
    object_upload_abort(writer->upload);
    archive_block_writer_destroy(writer->block);
    sha256_destroy(writer->hasher);
    arena_destroy(writer->arena);
    free(writer);
}

static bool append(struct archive_writer *writer, struct bytes data, struct object_error *err)
{
    sha256_add(writer->hasher, data);
    writer->file.size += data.len;
    return object_upload_write(writer->upload, data, err);
}

static bool begin_file(struct archive_writer *writer, struct object_error *err)
{
    struct bytes key = archive_file_key(writer->arena, writer->prefix, writer->number);
    writer->file = (struct archive_file){ 0 };
    writer->upload = object_upload_begin(writer->bucket, key, err);
    if (writer->upload == NULL)
        return false;
    sha256_begin(writer->hasher);
    return append(writer, bytes_of(magic, MAGIC_SIZE), err);
}

static bool end_block(struct archive_writer *writer, struct object_error *err)
{
    writer->file.item_count += archive_block_writer_count(writer->block);
    return append(writer, archive_block_writer_finish(writer->block), err);
}

bool archive_writer_add(struct archive_writer *writer, struct bytes item, struct object_error *err)
{
    assert(!archive_writer_is_full(writer));
    if (writer->upload == NULL && !begin_file(writer, err))
        return false;
    archive_block_writer_add(writer->block, item);
    return !archive_block_writer_is_full(writer->block) || end_block(writer, err);
}

bool archive_writer_is_full(const struct archive_writer *writer)
{
    return writer->file.size >= writer->file_size;
}

bool archive_writer_is_empty(const struct archive_writer *writer)
{
    return writer->upload == NULL;
}

bool archive_writer_end_file(struct archive_writer *writer, struct archive_file *out,
                             struct object_error *err)
{
    struct object_written written;
    assert(writer->upload != NULL);
    if (archive_block_writer_count(writer->block) > 0 && !end_block(writer, err))
        return false;
    sha256_finish(writer->hasher, writer->file.sha256);
    struct object_upload *upload = writer->upload;
    writer->upload = NULL;
    if (!object_upload_finish(upload, &written, err))
        return false;
    *out = writer->file;
    writer->file = (struct archive_file){ 0 };
    writer->number++;
    return true;
}

/* --- Reading --- */

struct archive_reader {
    struct object_bucket *bucket;
    struct arena *arena; /* Holds the prefix, and the current file's key. */
    struct bytes prefix;
    const struct archive_file *files;
    size_t file_count;

    struct archive_position position; /* Of the open block, and how much of it was read. */
    uint64_t next_offset;             /* Behind the open block; 0: none is open in this file. */
    struct archive_block_reader *block;
    uint8_t *bytes; /* The open block, as stored. */
    size_t room;
    struct sha256 *hasher;
    bool hashes;         /* The file was read from its beginning. */
    uint64_t item_count; /* Of the file, in the blocks that were opened, if it hashes. */
};

struct archive_reader *archive_reader_create(struct object_bucket *bucket, struct bytes prefix,
                                             const struct archive_file *files, size_t file_count,
                                             const struct archive_position *position)
{
    struct archive_reader *reader = memory_checked(calloc(1, sizeof *reader));
    reader->bucket = bucket;
    reader->arena = arena_create();
    reader->prefix = arena_copy(reader->arena, prefix);
    reader->files = files;
    reader->file_count = file_count;
    reader->position = *position;
    reader->block = archive_block_reader_create();
    reader->hasher = sha256_create();
    return reader;
}

void archive_reader_destroy(struct archive_reader *reader)
{
    if (reader == NULL)
        return;
    archive_block_reader_destroy(reader->block);
    sha256_destroy(reader->hasher);
    arena_destroy(reader->arena);
    free(reader->bytes);
    free(reader);
}

static enum archive_status damaged(const struct archive_reader *reader, const char *what,
                                   struct object_error *err)
{
    *err = (struct object_error){ .status = OBJECT_FAILED };
    snprintf(err->text, sizeof err->text, "the backup is damaged: file %05" PRIu64 ", %s",
             reader->position.file, what);
    return ARCHIVE_DAMAGED;
}

/* Reads exactly so many bytes. */
static enum archive_status read_exactly(struct archive_reader *reader, uint64_t offset,
                                        uint8_t *out, size_t size, struct object_error *err)
{
    char key[OBJECT_KEY_SIZE_MAX];
    size_t read_size = 0;
    int length = snprintf(key, sizeof key, "%.*sdata-%05" PRIu64, BYTES_FMT(reader->prefix),
                          reader->position.file);
    assert(length > 0 && (size_t)length < sizeof key);
    if (!object_read(reader->bucket, bytes_of(key, (size_t)length), (struct bytes){ 0 }, offset,
                     out, size, &read_size, err))
        return err->status == OBJECT_NO_KEY ? damaged(reader, "which is missing", err)
                                            : ARCHIVE_UNREADABLE;
    return read_size == size ? ARCHIVE_ITEM : damaged(reader, "which is too short", err);
}

static void make_room(struct archive_reader *reader, size_t size)
{
    if (size <= reader->room)
        return;
    reader->bytes = memory_checked(realloc(reader->bytes, size));
    reader->room = size;
}

static enum archive_status open_file(struct archive_reader *reader, struct object_error *err)
{
    uint8_t first[MAGIC_SIZE];
    enum archive_status status = read_exactly(reader, 0, first, sizeof first, err);
    if (status != ARCHIVE_ITEM)
        return status;
    if (memcmp(first, magic, MAGIC_SIZE) != 0)
        return damaged(reader, "which is no file of a backup", err);
    reader->hashes = reader->position.offset == 0;
    reader->item_count = 0;
    sha256_begin(reader->hasher);
    sha256_add(reader->hasher, bytes_of(first, sizeof first));
    reader->next_offset = reader->hashes ? MAGIC_SIZE : reader->position.offset;
    return ARCHIVE_ITEM;
}

static enum archive_status close_file(struct archive_reader *reader, struct object_error *err)
{
    const struct archive_file *file = &reader->files[reader->position.file];
    uint8_t digest[SHA256_SIZE];
    sha256_finish(reader->hasher, digest);
    if (reader->hashes &&
        (memcmp(digest, file->sha256, SHA256_SIZE) != 0 || reader->item_count != file->item_count))
        return damaged(reader, "whose checksum is wrong", err);
    reader->position = (struct archive_position){ .file = reader->position.file + 1 };
    reader->next_offset = 0;
    return ARCHIVE_ITEM;
}

static enum archive_status open_block(struct archive_reader *reader, struct object_error *err)
{
    const struct archive_file *file = &reader->files[reader->position.file];
    struct archive_block_header header;
    uint64_t offset = reader->next_offset;
    make_room(reader, ARCHIVE_BLOCK_HEADER_SIZE);
    enum archive_status status =
        read_exactly(reader, offset, reader->bytes, ARCHIVE_BLOCK_HEADER_SIZE, err);
    if (status != ARCHIVE_ITEM)
        return status;
    if (!archive_block_read_header(reader->bytes, &header) ||
        header.stored_size > file->size - offset)
        return damaged(reader, "one of whose blocks is damaged", err);
    size_t size = ARCHIVE_BLOCK_HEADER_SIZE + (size_t)header.stored_size;
    make_room(reader, size);
    status = read_exactly(reader, offset + ARCHIVE_BLOCK_HEADER_SIZE,
                          reader->bytes + ARCHIVE_BLOCK_HEADER_SIZE, header.stored_size, err);
    if (status != ARCHIVE_ITEM)
        return status;
    sha256_add(reader->hasher, bytes_of(reader->bytes, size));
    reader->item_count += header.item_count;
    if (!archive_block_reader_open(reader->block, bytes_of(reader->bytes, size)))
        return damaged(reader, "one of whose blocks is damaged", err);
    reader->next_offset = offset + size;
    return ARCHIVE_ITEM;
}

/* Opens the next block, or goes to the next file; the first block is that of the position. */
static enum archive_status advance(struct archive_reader *reader, struct object_error *err)
{
    struct bytes skipped;
    enum archive_status status = ARCHIVE_ITEM;
    uint64_t skip_count = 0;
    if (reader->position.file >= reader->file_count)
        return ARCHIVE_END;
    if (reader->next_offset == 0) {
        skip_count = reader->position.item;
        status = open_file(reader, err);
    } else if (reader->next_offset >= reader->files[reader->position.file].size) {
        return close_file(reader, err); /* The caller sees that no block is open. */
    }
    if (status != ARCHIVE_ITEM)
        return status;
    uint64_t offset = reader->next_offset;
    status = open_block(reader, err);
    if (status != ARCHIVE_ITEM)
        return status;
    reader->position.offset = offset;
    reader->position.item = 0;
    for (; skip_count > 0 && archive_block_reader_next(reader->block, &skipped); skip_count--)
        reader->position.item++;
    return ARCHIVE_ITEM;
}

enum archive_status archive_reader_next(struct archive_reader *reader, struct bytes *item,
                                        struct object_error *err)
{
    while (reader->next_offset == 0 || !archive_block_reader_next(reader->block, item)) {
        enum archive_status status = advance(reader, err);
        if (status != ARCHIVE_ITEM)
            return status;
    }
    reader->position.item++;
    return ARCHIVE_ITEM;
}

struct archive_position archive_reader_position(const struct archive_reader *reader)
{
    return reader->position;
}
