/* change_log.c -- see change_log.h. Layout: doc/disk-format.md, "Change log". */
#include "stream/change_log.h"
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "stream/change_record.h"
#include "stream/log_layout.h"

/* --- Keys --- */

struct engine_place change_log_place(uint64_t log_id, uint64_t partition)
{
    return (struct engine_place){ .owner = log_id,
                                  .partition = partition,
                                  .space = ENGINE_SPACE_CHANGES };
}

struct engine_address change_log_head_address(uint64_t log_id, uint64_t partition)
{
    static const uint8_t key[] = { LOG_KEY_HEAD };
    return (struct engine_address){ .place = change_log_place(log_id, partition),
                                    .key = bytes_of(key, sizeof key) };
}

struct engine_address change_log_record_address(struct arena *arena, uint64_t log_id,
                                                uint64_t partition, uint64_t sequence)
{
    uint8_t *key = arena_alloc(arena, LOG_SEQUENCE_KEY_SIZE);
    key[0] = LOG_KEY_RECORD;
    store_u64_be(key + 1, sequence);
    return (struct engine_address){ .place = change_log_place(log_id, partition),
                                    .key = bytes_of(key, LOG_SEQUENCE_KEY_SIZE) };
}

bool change_log_sequence_of_key(struct bytes key, uint64_t *out)
{
    if (key.len != LOG_SEQUENCE_KEY_SIZE || key.data[0] != LOG_KEY_RECORD)
        return false;
    *out = load_u64_be(key.data + 1);
    return true;
}

/* --- Heads --- */

enum {
    FORMAT_AT = 0,
    CHECKSUM_AT = 1,
    FLAGS_AT = 5,
    NEXT_AT = 6,
    SHARD_FIRST_AT = 14,
    TIME_AT = 22,

    FLAG_OPEN = 0x01,
    FLAG_IMAGES_SHIFT = 1,
    FLAGS_ALL = FLAG_OPEN | CHANGE_IMAGES_ALL << FLAG_IMAGES_SHIFT,
};
static_assert(TIME_AT + 8 == LOG_HEAD_SIZE, "a head ends with the time");

static uint32_t checksum(const uint8_t *head)
{
    return crc32c(bytes_of(head + FLAGS_AT, LOG_HEAD_SIZE - FLAGS_AT));
}

static bool decode_head(struct bytes bytes, struct change_log_head *out)
{
    if (bytes.len != LOG_HEAD_SIZE || bytes.data[FORMAT_AT] != LOG_HEAD_FORMAT ||
        load_u32_le(bytes.data + CHECKSUM_AT) != checksum(bytes.data))
        return false;
    unsigned flags = bytes.data[FLAGS_AT];
    *out = (struct change_log_head){
        .open = (flags & FLAG_OPEN) != 0,
        .images = flags >> FLAG_IMAGES_SHIFT & CHANGE_IMAGES_ALL,
        .next = load_u64_le(bytes.data + NEXT_AT),
        .shard_first = load_u64_le(bytes.data + SHARD_FIRST_AT),
        .time_ms = (int64_t)load_u64_le(bytes.data + TIME_AT),
    };
    return (flags & ~(unsigned)FLAGS_ALL) == 0 && out->shard_first >= LOG_FIRST_SEQUENCE &&
           out->next > out->shard_first && out->time_ms >= 0;
}

/* What was read with `status`. */
static enum engine_status take_head(enum engine_status status, struct engine_value *value,
                                    struct change_log_head *out)
{
    *out = (struct change_log_head){ 0 };
    if (status == ENGINE_NOT_FOUND)
        return ENGINE_OK;
    if (status == ENGINE_OK && !decode_head(value->bytes, out)) {
        log_write(LOG_ERROR, "stream", "damaged head of a change log");
        status = ENGINE_CORRUPT;
    }
    engine_value_release(value);
    return status;
}

enum engine_status change_log_read_head(struct engine_write *write,
                                        const struct engine_address *address,
                                        struct change_log_head *out)
{
    struct engine_value value = { 0 };
    return take_head(engine_write_get(write, address, &value), &value, out);
}

enum engine_status change_log_view_head(struct engine_view *view,
                                        const struct engine_address *address,
                                        struct change_log_head *out)
{
    struct engine_value value = { 0 };
    return take_head(engine_view_get(view, address, &value), &value, out);
}

void change_log_put_head(struct engine_write *write, const struct engine_address *address,
                         const struct change_log_head *head)
{
    uint8_t bytes[LOG_HEAD_SIZE];
    assert(head->next > head->shard_first && head->shard_first >= LOG_FIRST_SEQUENCE);
    bytes[FORMAT_AT] = LOG_HEAD_FORMAT;
    bytes[FLAGS_AT] = (uint8_t)((head->open ? FLAG_OPEN : 0) | head->images << FLAG_IMAGES_SHIFT);
    store_u64_le(bytes + NEXT_AT, head->next);
    store_u64_le(bytes + SHARD_FIRST_AT, head->shard_first);
    store_u64_le(bytes + TIME_AT, (uint64_t)head->time_ms);
    store_u32_le(bytes + CHECKSUM_AT, checksum(bytes));
    engine_write_put(write, address, bytes_of(bytes, sizeof bytes));
}

/* --- Records --- */

void change_log_append(struct arena *arena, struct engine_write *write,
                       const struct engine_place *place, struct change_log_head *head,
                       struct change_record *record, int64_t now_ms)
{
    assert(head->open);
    /* The wall clock may be set back; trimming searches by time, so the log's does not fall. */
    if (now_ms > head->time_ms)
        head->time_ms = now_ms;
    record->created_ms = head->time_ms;
    struct engine_address address =
        change_log_record_address(arena, place->owner, place->partition, head->next++);
    engine_write_put(write, &address, change_record_encode(arena, record));
}
