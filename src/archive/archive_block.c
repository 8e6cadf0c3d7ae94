/* archive_block.c -- see archive_block.h. */
#include "archive/archive_block.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/memory.h"
#include "compression/compressor.h"

enum { CHECKSUM_AT = 0, STORED_AT = 4, SIZE_AT = 8, COUNT_AT = 12, LENGTH_SIZE = 4 };
static_assert(COUNT_AT + 4 == ARCHIVE_BLOCK_HEADER_SIZE, "the number of items comes last");

/* What zstd may add to bytes that cannot be compressed, generously. */
enum { STORED_SIZE_MAX = ARCHIVE_BLOCK_SIZE_MAX + ARCHIVE_BLOCK_SIZE_MAX / 128 + 1024 };

/* --- Writing --- */

struct archive_block_writer {
    struct arena *arena;
    struct buffer raw;
    struct buffer stored;
    size_t count;
};

struct archive_block_writer *archive_block_writer_create(void)
{
    struct archive_block_writer *writer = memory_checked(calloc(1, sizeof *writer));
    writer->arena = arena_create();
    buffer_init(&writer->raw, writer->arena);
    buffer_init(&writer->stored, writer->arena);
    return writer;
}

void archive_block_writer_destroy(struct archive_block_writer *writer)
{
    if (writer == NULL)
        return;
    arena_destroy(writer->arena);
    free(writer);
}

void archive_block_writer_add(struct archive_block_writer *writer, struct bytes item)
{
    assert(item.len <= ARCHIVE_ITEM_SIZE_MAX && !archive_block_writer_is_full(writer));
    uint8_t *length = buffer_reserve(&writer->raw, LENGTH_SIZE);
    store_u32_le(length, (uint32_t)item.len);
    writer->raw.len += LENGTH_SIZE;
    buffer_append_bytes(&writer->raw, item);
    writer->count++;
}

bool archive_block_writer_is_full(const struct archive_block_writer *writer)
{
    return writer->raw.len >= ARCHIVE_BLOCK_SIZE;
}

size_t archive_block_writer_count(const struct archive_block_writer *writer)
{
    return writer->count;
}

static bool append_piece(void *context, struct bytes piece)
{
    buffer_append_bytes(context, piece);
    return true;
}

struct bytes archive_block_writer_finish(struct archive_block_writer *writer)
{
    struct buffer *stored = &writer->stored;
    assert(writer->raw.len <= ARCHIVE_BLOCK_SIZE_MAX);
    buffer_reserve(stored, ARCHIVE_BLOCK_HEADER_SIZE);
    stored->len = ARCHIVE_BLOCK_HEADER_SIZE;
    struct compressor *compressor = compressor_create(COMPRESSOR_ZSTD, append_piece, stored);
    bool ok =
        compressor_write(compressor, buffer_bytes(&writer->raw)) && compressor_finish(compressor);
    assert(ok); /* The sink never fails. */
    (void)ok;
    compressor_destroy(compressor);
    assert(stored->len <= STORED_SIZE_MAX);
    store_u32_le(stored->data + STORED_AT, (uint32_t)(stored->len - ARCHIVE_BLOCK_HEADER_SIZE));
    store_u32_le(stored->data + SIZE_AT, (uint32_t)writer->raw.len);
    store_u32_le(stored->data + COUNT_AT, (uint32_t)writer->count);
    store_u32_le(stored->data + CHECKSUM_AT,
                 crc32c(bytes_of(stored->data + STORED_AT, stored->len - STORED_AT)));
    writer->raw.len = 0;
    writer->count = 0;
    return buffer_bytes(stored);
}

/* --- Reading --- */

struct archive_block_reader {
    struct decompressor *decompressor;
    uint8_t *raw; /* ARCHIVE_BLOCK_SIZE_MAX bytes, from the first block on. */
    struct bytes rest;
    size_t left; /* Items. */
};

struct archive_block_reader *archive_block_reader_create(void)
{
    struct archive_block_reader *reader = memory_checked(calloc(1, sizeof *reader));
    reader->decompressor = decompressor_create(COMPRESSOR_ZSTD);
    reader->raw = memory_checked(malloc(ARCHIVE_BLOCK_SIZE_MAX));
    return reader;
}

void archive_block_reader_destroy(struct archive_block_reader *reader)
{
    if (reader == NULL)
        return;
    decompressor_destroy(reader->decompressor);
    free(reader->raw);
    free(reader);
}

bool archive_block_read_header(const uint8_t bytes[ARCHIVE_BLOCK_HEADER_SIZE],
                               struct archive_block_header *out)
{
    *out = (struct archive_block_header){ .stored_size = load_u32_le(bytes + STORED_AT),
                                          .size = load_u32_le(bytes + SIZE_AT),
                                          .item_count = load_u32_le(bytes + COUNT_AT) };
    return out->stored_size > 0 && out->stored_size <= STORED_SIZE_MAX && out->size > 0 &&
           out->size <= ARCHIVE_BLOCK_SIZE_MAX && out->item_count > 0 &&
           out->item_count <= out->size / LENGTH_SIZE;
}

static bool decompress(struct archive_block_reader *reader, struct bytes frame, size_t size)
{
    size_t total = 0;
    decompressor_reset(reader->decompressor);
    while (frame.len > 0 && total < size) {
        size_t produced = 0;
        if (decompressor_run(reader->decompressor, &frame, reader->raw + total, size - total,
                             &produced) == DECOMPRESSOR_DAMAGED)
            return false;
        total += produced;
    }
    while (frame.len > 0) { /* The end of the frame, which produces nothing. */
        uint8_t none[1];
        size_t produced = 0, before = frame.len;
        if (decompressor_run(reader->decompressor, &frame, none, sizeof none, &produced) ==
                DECOMPRESSOR_DAMAGED ||
            produced > 0 || frame.len == before)
            return false;
    }
    return total == size && decompressor_complete(reader->decompressor);
}

/* Whether the lengths lead exactly to the end. */
static bool has_items(struct bytes raw, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (raw.len < LENGTH_SIZE)
            return false;
        size_t size = load_u32_le(raw.data);
        if (size > raw.len - LENGTH_SIZE)
            return false;
        raw = bytes_of(raw.data + LENGTH_SIZE + size, raw.len - LENGTH_SIZE - size);
    }
    return raw.len == 0;
}

bool archive_block_reader_open(struct archive_block_reader *reader, struct bytes block)
{
    struct archive_block_header header;
    reader->left = 0;
    if (block.len < ARCHIVE_BLOCK_HEADER_SIZE || !archive_block_read_header(block.data, &header) ||
        block.len != ARCHIVE_BLOCK_HEADER_SIZE + (size_t)header.stored_size ||
        load_u32_le(block.data + CHECKSUM_AT) !=
            crc32c(bytes_of(block.data + STORED_AT, block.len - STORED_AT)))
        return false;
    struct bytes frame =
        bytes_of(block.data + ARCHIVE_BLOCK_HEADER_SIZE, block.len - ARCHIVE_BLOCK_HEADER_SIZE);
    if (!decompress(reader, frame, header.size) ||
        !has_items(bytes_of(reader->raw, header.size), header.item_count))
        return false;
    reader->rest = bytes_of(reader->raw, header.size);
    reader->left = header.item_count;
    return true;
}

bool archive_block_reader_next(struct archive_block_reader *reader, struct bytes *item)
{
    if (reader->left == 0)
        return false;
    size_t size = load_u32_le(reader->rest.data);
    *item = bytes_of(reader->rest.data + LENGTH_SIZE, size);
    reader->rest = bytes_of(item->data + size, reader->rest.len - LENGTH_SIZE - size);
    reader->left--;
    return true;
}
