/* change_log.c -- see change_log.h. Layout: doc/disk-format.md, "Change log". */
#include "log/change_log.h"
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "log/change_record.h"
#include "log/log_layout.h"

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
    COMMIT_AT = 22,
    SERVER_TIME_AT = 30,
    UNSTAMPED_SIZE = LOG_HEAD_SIZE - LOG_STAMP_SIZE,

    FLAG_OPEN = 0x01,
    FLAG_IMAGES_SHIFT = 1,
    FLAGS_ALL = FLAG_OPEN | CHANGE_IMAGES_ALL << FLAG_IMAGES_SHIFT,
};
static_assert(SERVER_TIME_AT + LOG_STAMP_SIZE == LOG_HEAD_SIZE, "the server time comes last");

static uint32_t checksum(const uint8_t *head, size_t size)
{
    return crc32c(bytes_of(head + FLAGS_AT, size - FLAGS_AT));
}

static bool has_size_of_format(struct bytes stored)
{
    if (stored.len == LOG_HEAD_SIZE)
        return stored.data[FORMAT_AT] == LOG_HEAD_FORMAT ||
               stored.data[FORMAT_AT] == LOG_MILLISECONDS_FORMAT;
    return stored.len == UNSTAMPED_SIZE && stored.data[FORMAT_AT] == LOG_UNSTAMPED_FORMAT;
}

static bool decode_head(struct bytes bytes, struct change_log_head *out)
{
    if (!has_size_of_format(bytes) ||
        load_u32_le(bytes.data + CHECKSUM_AT) != checksum(bytes.data, bytes.len))
        return false;
    unsigned flags = bytes.data[FLAGS_AT];
    *out = (struct change_log_head){
        .open = (flags & FLAG_OPEN) != 0,
        .images = flags >> FLAG_IMAGES_SHIFT & CHANGE_IMAGES_ALL,
        .next = load_u64_le(bytes.data + NEXT_AT),
        .shard_first = load_u64_le(bytes.data + SHARD_FIRST_AT),
        .commit_us = (int64_t)load_u64_le(bytes.data + COMMIT_AT),
    };
    if (bytes.data[FORMAT_AT] != LOG_HEAD_FORMAT)
        out->commit_us = log_layout_commit_us(out->commit_us);
    if (bytes.data[FORMAT_AT] != LOG_UNSTAMPED_FORMAT)
        out->server_ms = (int64_t)load_u64_le(bytes.data + SERVER_TIME_AT);
    return (flags & ~(unsigned)FLAGS_ALL) == 0 && out->shard_first >= LOG_FIRST_SEQUENCE &&
           out->next > out->shard_first && out->next < UINT64_MAX && out->commit_us >= 0 &&
           out->commit_us < INT64_MAX && out->server_ms >= 0;
}

/* Decodes a head that was read with `status`, and releases the value. */
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
    assert((head->images & ~(unsigned)CHANGE_IMAGES_ALL) == 0);
    assert(head->commit_us >= 0 && head->server_ms >= 0); /* As a reader wants it. */
    bytes[FORMAT_AT] = LOG_HEAD_FORMAT;
    bytes[FLAGS_AT] = (uint8_t)((head->open ? FLAG_OPEN : 0) | head->images << FLAG_IMAGES_SHIFT);
    store_u64_le(bytes + NEXT_AT, head->next);
    store_u64_le(bytes + SHARD_FIRST_AT, head->shard_first);
    store_u64_le(bytes + COMMIT_AT, (uint64_t)head->commit_us);
    store_u64_le(bytes + SERVER_TIME_AT, (uint64_t)head->server_ms);
    store_u32_le(bytes + CHECKSUM_AT, checksum(bytes, sizeof bytes));
    engine_write_put(write, address, bytes_of(bytes, sizeof bytes));
}

enum engine_status change_log_newest_commit(struct engine_view *view, uint64_t log_id,
                                            const uint64_t *partitions, size_t count,
                                            int64_t *commit_us)
{
    assert(log_id != 0);
    enum engine_status status = ENGINE_OK;
    *commit_us = 0;
    for (size_t i = 0; i < count && status == ENGINE_OK; i++) {
        struct engine_address address = change_log_head_address(log_id, partitions[i]);
        struct change_log_head head;
        status = change_log_view_head(view, &address, &head);
        if (status == ENGINE_OK && head.commit_us > *commit_us)
            *commit_us = head.commit_us;
        if (status == ENGINE_CORRUPT)
            status = ENGINE_OK;
    }
    return status;
}

/* --- Records --- */

struct change_log_time change_log_take_time(const struct clock *clock, int64_t after_us)
{
    const struct change_log_time time = { .commit_us = clock_take_commit_us(clock, after_us),
                                          .server_ms = clock_server_ms(clock) };
    assert(time.commit_us > after_us && time.server_ms >= 0);
    return time;
}

void change_log_append(struct arena *arena, struct engine_write *write,
                       const struct engine_place *place, struct change_log_head *head,
                       struct change_record *record, const struct change_log_time *time)
{
    assert(head->open);
    assert(place->space == ENGINE_SPACE_CHANGES);
    assert(time->commit_us >= head->commit_us); /* Equal: the same write has appended before. */
    head->commit_us = time->commit_us;
    /* Server time resumes a little earlier after a crash. Trimming searches by it, so it must not
     * decrease within a log. */
    if (time->server_ms > head->server_ms)
        head->server_ms = time->server_ms;
    record->commit_us = head->commit_us;
    record->server_ms = head->server_ms;
    struct engine_address address =
        change_log_record_address(arena, place->owner, place->partition, head->next++);
    engine_write_put(write, &address, change_record_encode(arena, record));
}
