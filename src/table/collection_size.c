/* collection_size.c -- see collection_size.h. Record layout: doc/disk-format.md, "Item
 * collections". */
#include "table/collection_size.h"
#include <assert.h>
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "table/item_address.h"
#include "table/layout.h"

enum { FORMAT_AT = 0, CHECKSUM_AT = 1, SIZE_AT = 5 };
static_assert(SIZE_AT + 8 == LAYOUT_COLLECTION_SIZE, "the record ends with the size");

struct engine_address collection_size_address(const struct item_address *address)
{
    const struct engine_address *item = &address->address;
    assert(address->prefix_size > LAYOUT_HASH_SIZE && address->prefix_size <= item->key.len);
    return (struct engine_address){
        .place = { .owner = item->place.owner,
                   .partition = item->place.partition,
                   .space = ENGINE_SPACE_COLLECTIONS },
        .key = bytes_of(item->key.data, address->prefix_size),
    };
}

static uint32_t checksum(const uint8_t *record)
{
    return crc32c(bytes_of(record + SIZE_AT, LAYOUT_COLLECTION_SIZE - SIZE_AT));
}

bool collection_size_decode(struct bytes record, int64_t *out)
{
    if (record.len != LAYOUT_COLLECTION_SIZE ||
        record.data[FORMAT_AT] != LAYOUT_COLLECTION_FORMAT ||
        load_u32_le(record.data + CHECKSUM_AT) != checksum(record.data))
        return false;
    *out = (int64_t)load_u64_le(record.data + SIZE_AT);
    return *out > 0;
}

enum engine_status collection_size_get_for_write(struct engine_write *write,
                                                 const struct engine_address *address, int64_t *out)
{
    struct engine_value value = { 0 };
    *out = 0;
    enum engine_status status = engine_write_get(write, address, &value);
    if (status == ENGINE_NOT_FOUND)
        return ENGINE_OK;
    if (status == ENGINE_OK && !collection_size_decode(value.bytes, out)) {
        log_write(LOG_ERROR, "table", "damaged record of an item collection's size");
        status = ENGINE_CORRUPT;
    }
    engine_value_release(&value);
    return status;
}

void collection_size_put(struct engine_write *write, const struct engine_address *address,
                         int64_t size)
{
    uint8_t record[LAYOUT_COLLECTION_SIZE];
    assert(size >= 0);
    if (size == 0) {
        engine_write_delete(write, address);
        return;
    }
    record[FORMAT_AT] = LAYOUT_COLLECTION_FORMAT;
    store_u64_le(record + SIZE_AT, (uint64_t)size);
    store_u32_le(record + CHECKSUM_AT, checksum(record));
    engine_write_put(write, address, bytes_of(record, sizeof record));
}
