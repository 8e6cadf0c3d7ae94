/* trigger_records.c -- see trigger_records.h. Layout: doc/disk-format.md, "Triggers". */
#include "trigger/trigger_records.h"
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "model/item.h"
#include "table/layout.h"
#include "trigger/trigger_definition.h"
#include "trigger/trigger_layout.h"

enum { FORMAT_AT = 0, CHECKSUM_AT = 1, NEXT_AT = 5 };
static_assert(NEXT_AT + 8 == TRIGGER_POSITION_SIZE, "a position ends with its number");

const struct engine_place trigger_records_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                                    .partition = LAYOUT_TRIGGERS_PARTITION,
                                                    .space = ENGINE_SPACE_CHANGES };

static struct engine_address address_of(const uint8_t *key, size_t size)
{
    return (struct engine_address){ .place = trigger_records_place, .key = bytes_of(key, size) };
}

/* A key of that kind, with room for a partition. */
static uint8_t *key_of(struct arena *arena, uint8_t kind, struct bytes uuid)
{
    uint8_t *key = arena_alloc(arena, TRIGGER_POSITION_KEY_SIZE);
    assert(uuid.len == UUID_TEXT_SIZE);
    key[0] = kind;
    memcpy(key + 1, uuid.data, UUID_TEXT_SIZE);
    return key;
}

static struct engine_address definition_address(struct arena *arena, struct bytes uuid)
{
    return address_of(key_of(arena, TRIGGER_KEY_DEFINITION, uuid), TRIGGER_DEFINITION_KEY_SIZE);
}

static struct engine_address position_address(struct arena *arena, struct bytes uuid,
                                              uint64_t partition)
{
    uint8_t *key = key_of(arena, TRIGGER_KEY_POSITION, uuid);
    store_u64_be(key + 1 + UUID_TEXT_SIZE, partition);
    return address_of(key, TRIGGER_POSITION_KEY_SIZE);
}

enum engine_status trigger_records_begin(struct arena *arena, struct engine *engine,
                                         struct bytes uuid, struct engine_write **out)
{
    struct engine_address address = definition_address(arena, uuid);
    struct engine_value value = { 0 };
    enum engine_status status = engine_write_begin(engine, &address, 1, out);
    if (status != ENGINE_OK)
        return status;
    status = engine_write_get(*out, &address, &value);
    engine_value_release(&value);
    if (status != ENGINE_OK) {
        engine_write_abandon(*out);
        *out = NULL;
    }
    return status;
}

void trigger_records_put(struct arena *arena, struct engine_write *write,
                         const struct trigger_definition *definition)
{
    struct engine_address address = definition_address(arena, definition->uuid);
    engine_write_put(write, &address, trigger_definition_encode(arena, definition).encoded);
}

void trigger_records_delete(struct arena *arena, struct engine_write *write, struct bytes uuid)
{
    struct engine_address definition = definition_address(arena, uuid);
    struct engine_address first = position_address(arena, uuid, 0);
    struct engine_address last = position_address(arena, uuid, UINT64_MAX);
    engine_write_delete(write, &definition);
    engine_write_delete_range(write, &trigger_records_place, first.key, last.key);
}

void trigger_records_put_position(struct arena *arena, struct engine_write *write,
                                  struct bytes uuid, uint64_t partition, uint64_t next)
{
    uint8_t bytes[TRIGGER_POSITION_SIZE];
    struct engine_address address = position_address(arena, uuid, partition);
    bytes[FORMAT_AT] = TRIGGER_POSITION_FORMAT;
    store_u64_le(bytes + NEXT_AT, next);
    store_u32_le(bytes + CHECKSUM_AT, crc32c(bytes_of(bytes + NEXT_AT, sizeof bytes - NEXT_AT)));
    engine_write_put(write, &address, bytes_of(bytes, sizeof bytes));
}

static bool open_position(struct bytes value, uint64_t *next)
{
    if (value.len != TRIGGER_POSITION_SIZE || value.data[FORMAT_AT] != TRIGGER_POSITION_FORMAT ||
        load_u32_le(value.data + CHECKSUM_AT) !=
            crc32c(bytes_of(value.data + NEXT_AT, value.len - NEXT_AT)))
        return false;
    *next = load_u64_le(value.data + NEXT_AT);
    return true;
}

enum engine_status trigger_records_position(struct arena *arena, struct engine_view *view,
                                            struct bytes uuid, uint64_t partition, uint64_t *next)
{
    struct engine_address address = position_address(arena, uuid, partition);
    struct engine_value value = { 0 };
    enum engine_status status = engine_view_get(view, &address, &value);
    *next = 0;
    if (status == ENGINE_OK && !open_position(value.bytes, next)) {
        log_write(LOG_ERROR, "trigger", "damaged position of a trigger");
        status = ENGINE_CORRUPT;
    }
    engine_value_release(&value);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

struct trigger_record trigger_records_open_entry(struct arena *arena,
                                                 const struct engine_entry *entry,
                                                 struct trigger_definition *definition)
{
    struct trigger_record record = { .kind = TRIGGER_RECORD_NONE };
    struct bytes key = entry->key;
    struct item item;
    if (key.len < TRIGGER_DEFINITION_KEY_SIZE)
        return record;
    record.uuid = bytes_of(key.data + 1, UUID_TEXT_SIZE);
    if (key.data[0] == TRIGGER_KEY_DEFINITION && key.len == TRIGGER_DEFINITION_KEY_SIZE) {
        if (item_open(entry->value, &item) && item_verify(&item) &&
            trigger_definition_decode(arena, record.uuid, &item, definition))
            record.kind = TRIGGER_RECORD_DEFINITION;
    } else if (key.data[0] == TRIGGER_KEY_POSITION && key.len == TRIGGER_POSITION_KEY_SIZE) {
        record.partition = load_u64_be(key.data + TRIGGER_DEFINITION_KEY_SIZE);
        if (open_position(entry->value, &record.next))
            record.kind = TRIGGER_RECORD_POSITION;
    }
    return record;
}
