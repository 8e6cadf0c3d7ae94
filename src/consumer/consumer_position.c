/* consumer_position.c -- see consumer_position.h. */
#include "consumer/consumer_position.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "table/layout.h"

enum { FORMAT_AT = 0, CHECKSUM_AT = 1, NEXT_AT = 5 };
static_assert(NEXT_AT + 8 == CONSUMER_POSITION_SIZE, "a position ends with its number");

const struct engine_place consumer_position_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                                      .partition = LAYOUT_TRIGGERS_PARTITION,
                                                      .space = ENGINE_SPACE_CHANGES };

static struct engine_address address_of(struct arena *arena, struct bytes uuid, uint64_t partition)
{
    uint8_t *key = arena_alloc(arena, CONSUMER_POSITION_KEY_SIZE);
    assert(uuid.len == UUID_TEXT_SIZE);
    key[0] = CONSUMER_POSITION_KEY;
    memcpy(key + 1, uuid.data, UUID_TEXT_SIZE);
    store_u64_be(key + 1 + UUID_TEXT_SIZE, partition);
    return (struct engine_address){ .place = consumer_position_place,
                                    .key = bytes_of(key, CONSUMER_POSITION_KEY_SIZE) };
}

void consumer_position_put(struct arena *arena, struct engine_write *write, struct bytes uuid,
                           uint64_t partition, uint64_t next)
{
    uint8_t bytes[CONSUMER_POSITION_SIZE];
    struct engine_address address = address_of(arena, uuid, partition);
    bytes[FORMAT_AT] = CONSUMER_POSITION_FORMAT;
    store_u64_le(bytes + NEXT_AT, next);
    store_u32_le(bytes + CHECKSUM_AT, crc32c(bytes_of(bytes + NEXT_AT, sizeof bytes - NEXT_AT)));
    engine_write_put(write, &address, bytes_of(bytes, sizeof bytes));
}

static bool decode(struct bytes value, uint64_t *next)
{
    if (value.len != CONSUMER_POSITION_SIZE || value.data[FORMAT_AT] != CONSUMER_POSITION_FORMAT ||
        load_u32_le(value.data + CHECKSUM_AT) !=
            crc32c(bytes_of(value.data + NEXT_AT, value.len - NEXT_AT)))
        return false;
    *next = load_u64_le(value.data + NEXT_AT);
    return true;
}

enum engine_status consumer_position_get(struct arena *arena, struct engine_view *view,
                                         struct bytes uuid, uint64_t partition, uint64_t *next)
{
    struct engine_address address = address_of(arena, uuid, partition);
    struct engine_value value = { 0 };
    enum engine_status status = engine_view_get(view, &address, &value);
    *next = 0;
    if (status == ENGINE_OK && !decode(value.bytes, next)) {
        log_write(LOG_ERROR, "consumer", "%.*s: damaged position", BYTES_FMT(uuid));
        status = ENGINE_CORRUPT;
    }
    engine_value_release(&value);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

void consumer_position_delete_all(struct arena *arena, struct engine_write *write,
                                  struct bytes uuid)
{
    struct engine_address first = address_of(arena, uuid, 0);
    struct engine_address last = address_of(arena, uuid, UINT64_MAX);
    engine_write_delete_range(write, &consumer_position_place, first.key, last.key);
}

bool consumer_position_open_entry(const struct engine_entry *entry, struct consumer_position *out)
{
    struct bytes key = entry->key;
    if (key.len != CONSUMER_POSITION_KEY_SIZE || key.data[0] != CONSUMER_POSITION_KEY)
        return false;
    out->uuid = bytes_of(key.data + 1, UUID_TEXT_SIZE);
    out->partition = load_u64_be(key.data + 1 + UUID_TEXT_SIZE);
    return decode(entry->value, &out->next);
}
