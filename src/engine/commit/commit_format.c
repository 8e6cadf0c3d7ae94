/* commit_format.c -- see commit_format.h. */
#include "engine/commit/commit_format.h"
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"

/* The byte behind a stamp: the format's version, below 0x7F as partition_store.h asks. */
enum { FORMAT = 1 };

/* An owner in a name: how many bytes it has without leading zeros, added to this, then those bytes.
 * So names are short, and their order is that of the owners. Above 2: smaller bytes are escaped in
 * keys of RADOS. */
enum { OWNER_SIZE = 0x10, OWNER_SIZE_MAX = 8 };

enum {
    ID_SIZE = 1 + 8, /* A partition_id. */
    INTENT_HEADER_SIZE = COMMIT_DATA_HEADER_SIZE + ID_SIZE + 8 + 1,
    RECORD_HEADER_SIZE = COMMIT_DATA_HEADER_SIZE + 4,
};

struct bytes commit_format_key(struct arena *arena, enum commit_key_kind kind, struct bytes name)
{
    uint8_t first = (uint8_t)kind;
    struct bytes parts[] = { bytes_of(&first, 1), name };
    return arena_join(arena, parts, 2);
}

struct partition_id commit_format_partition(const struct engine_place *place)
{
    return (struct partition_id){ place->owner == 0 ? PARTITION_SYSTEM : PARTITION_TABLES,
                                  place->partition };
}

struct bytes commit_format_name(struct arena *arena, uint64_t owner, enum engine_space space,
                                struct bytes key)
{
    uint8_t header[1 + OWNER_SIZE_MAX + 1], whole[8];
    size_t size = 0;
    store_u64_be(whole, owner);
    while (size < OWNER_SIZE_MAX && owner >> 8 * size != 0)
        size++;
    header[0] = (uint8_t)(OWNER_SIZE + size);
    memcpy(header + 1, whole + sizeof whole - size, size);
    header[1 + size] = (uint8_t)space;
    struct bytes parts[] = { bytes_of(header, size + 2), key };
    return arena_join(arena, parts, 2);
}

bool commit_format_read_name(struct bytes name, uint64_t *owner, enum engine_space *space,
                             struct bytes *key)
{
    if (name.len < 2 || name.data[0] < OWNER_SIZE || name.data[0] > OWNER_SIZE + OWNER_SIZE_MAX)
        return false;
    size_t size = name.data[0] - (size_t)OWNER_SIZE;
    if (name.len < size + 2 || (size > 0 && name.data[1] == 0))
        return false;
    *owner = 0;
    for (size_t i = 0; i < size; i++)
        *owner = *owner << 8 | name.data[1 + i];
    *space = (enum engine_space)name.data[1 + size];
    *key = bytes_of(name.data + size + 2, name.len - size - 2);
    return true;
}

static uint8_t *put_header(uint8_t *out, const struct partition_stamp *stamp)
{
    memcpy(out, stamp->bytes, PARTITION_STAMP_SIZE);
    out[PARTITION_STAMP_SIZE] = FORMAT;
    return out + COMMIT_DATA_HEADER_SIZE;
}

static bool read_header(struct bytes value, size_t size_min, struct partition_stamp *stamp)
{
    if (value.len < size_min || value.data[PARTITION_STAMP_SIZE] != FORMAT)
        return false;
    memcpy(stamp->bytes, value.data, PARTITION_STAMP_SIZE);
    return true;
}

struct bytes commit_format_data(struct arena *arena, const struct partition_stamp *id,
                                struct bytes payload)
{
    uint8_t header[COMMIT_DATA_HEADER_SIZE];
    put_header(header, id);
    struct bytes parts[] = { bytes_of(header, sizeof header), payload };
    return arena_join(arena, parts, 2);
}

bool commit_format_read_data(struct bytes value, struct partition_stamp *id, struct bytes *payload)
{
    if (!read_header(value, COMMIT_DATA_HEADER_SIZE, id))
        return false;
    *payload = bytes_of(value.data + COMMIT_DATA_HEADER_SIZE, value.len - COMMIT_DATA_HEADER_SIZE);
    return true;
}

static void put_id(uint8_t *out, const struct partition_id *id)
{
    out[0] = (uint8_t)id->kind;
    store_u64_be(out + 1, id->number);
}

static bool read_id(const uint8_t *data, struct partition_id *out)
{
    *out = (struct partition_id){ (enum partition_kind)data[0], load_u64_be(data + 1) };
    return data[0] == PARTITION_SYSTEM || data[0] == PARTITION_TABLES;
}

struct bytes commit_format_intent(struct arena *arena, const struct commit_intent *intent)
{
    uint8_t header[INTENT_HEADER_SIZE];
    uint8_t *out = put_header(header, &intent->id);
    put_id(out, &intent->primary);
    store_u64_be(out + ID_SIZE, intent->epoch);
    out[ID_SIZE + 8] = (uint8_t)intent->change;
    struct bytes parts[] = {
        bytes_of(header, sizeof header),
        intent->change == COMMIT_CHANGE_PUT ? intent->payload : BYTES(""),
    };
    return arena_join(arena, parts, 2);
}

bool commit_format_read_intent(struct bytes value, struct commit_intent *out)
{
    if (!read_header(value, INTENT_HEADER_SIZE, &out->id))
        return false;
    const uint8_t *data = value.data + COMMIT_DATA_HEADER_SIZE;
    if (!read_id(data, &out->primary))
        return false;
    out->epoch = load_u64_be(data + ID_SIZE);
    uint8_t change = data[ID_SIZE + 8];
    if (change < COMMIT_CHANGE_NONE || change > COMMIT_CHANGE_DELETE)
        return false;
    out->change = (enum commit_change)change;
    out->payload = bytes_of(value.data + INTENT_HEADER_SIZE, value.len - INTENT_HEADER_SIZE);
    return change == COMMIT_CHANGE_PUT || out->payload.len == 0;
}

struct bytes commit_format_record(struct arena *arena, const struct commit_record *record)
{
    assert(record->participant_count <= COMMIT_PARTICIPANTS_MAX);
    size_t size = RECORD_HEADER_SIZE + record->participant_count * ID_SIZE;
    uint8_t *data = arena_alloc(arena, size);
    uint8_t *out = put_header(data, &record->id);
    store_u32_be(out, (uint32_t)record->participant_count);
    out += 4;
    for (size_t i = 0; i < record->participant_count; i++)
        put_id(out + i * ID_SIZE, &record->participants[i]);
    return bytes_of(data, size);
}

bool commit_format_read_record(struct arena *arena, struct bytes value, struct commit_record *out)
{
    if (!read_header(value, RECORD_HEADER_SIZE, &out->id))
        return false;
    size_t count = load_u32_be(value.data + COMMIT_DATA_HEADER_SIZE);
    if (count > COMMIT_PARTICIPANTS_MAX || value.len != RECORD_HEADER_SIZE + count * ID_SIZE)
        return false;
    out->participant_count = count;
    out->participants = arena_alloc(arena, (count + 1) * sizeof *out->participants);
    for (size_t i = 0; i < count; i++)
        if (!read_id(value.data + RECORD_HEADER_SIZE + i * ID_SIZE, &out->participants[i]))
            return false;
    return true;
}

struct partition_stamp commit_format_epoch_stamp(uint64_t epoch)
{
    struct partition_stamp stamp = { 0 };
    store_u64_be(stamp.bytes + 8, epoch);
    return stamp;
}

struct bytes commit_format_epoch(struct arena *arena, uint64_t epoch)
{
    struct partition_stamp stamp = commit_format_epoch_stamp(epoch);
    return commit_format_data(arena, &stamp, BYTES(""));
}

bool commit_format_read_epoch(struct bytes value, uint64_t *epoch)
{
    struct partition_stamp stamp;
    *epoch = 0;
    if (value.data == NULL)
        return true;
    if (value.len != COMMIT_DATA_HEADER_SIZE ||
        !read_header(value, COMMIT_DATA_HEADER_SIZE, &stamp) || load_u64_be(stamp.bytes) != 0)
        return false;
    *epoch = load_u64_be(stamp.bytes + 8);
    return *epoch != 0;
}

struct partition_guard commit_format_epoch_guard(uint64_t epoch)
{
    return (struct partition_guard){
        .key = BYTES("E"),
        .absent = epoch == 0,
        .stamp = commit_format_epoch_stamp(epoch),
    };
}
