/* archive_block_fuzz.c -- any bytes as a block, with a right checksum put in: it opens or not, and
 * what it holds lies within it. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "archive/archive_block.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct archive_block_reader *reader;
    uint8_t *copy = memory_checked(malloc(size + 1));
    struct bytes item;
    size_t sum = 0;
    if (reader == NULL)
        reader = archive_block_reader_create();
    if (size > 0)
        memcpy(copy, data, size);
    if (size >= ARCHIVE_BLOCK_HEADER_SIZE)
        store_u32_le(copy, crc32c(bytes_of(copy + 4, size - 4)));
    if (archive_block_reader_open(reader, bytes_of(copy, size))) {
        while (archive_block_reader_next(reader, &item)) {
            for (size_t i = 0; i < item.len; i++)
                sum += item.data[i];
        }
    }
    assert(sum < SIZE_MAX);
    free(copy);
    return 0;
}
