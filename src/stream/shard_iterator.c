/* shard_iterator.c -- see shard_iterator.h. */
#include "stream/shard_iterator.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "log/shard.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"

enum {
    LOG_ID_AT = 0,
    PARTITION_AT = 8,
    SHARD_FIRST_AT = 16,
    NEXT_AT = 24,
    CREATED_AT = 32,
    CHECKSUM_AT = 40,
    PLACE_SIZE = 44,
    PLACE_TEXT_SIZE = PLACE_SIZE * 2,
};
static const char separator[] = "|1|";

/* Over both the ARN and the position. */
static uint32_t checksum(struct bytes arn, const uint8_t *place)
{
    return crc32c(arn) ^ crc32c(bytes_of(place, CHECKSUM_AT));
}

struct bytes shard_iterator_format(struct arena *arena, struct bytes arn,
                                   const struct shard_iterator *iterator)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t place[PLACE_SIZE];
    store_u64_be(place + LOG_ID_AT, iterator->at.log_id);
    store_u64_be(place + PARTITION_AT, iterator->at.partition);
    store_u64_be(place + SHARD_FIRST_AT, iterator->at.shard_first);
    store_u64_be(place + NEXT_AT, iterator->at.next);
    store_u64_be(place + CREATED_AT, (uint64_t)iterator->created_ms);
    store_u32_be(place + CHECKSUM_AT, checksum(arn, place));
    size_t place_at = arn.len + sizeof separator - 1;
    uint8_t *text = arena_alloc(arena, place_at + PLACE_TEXT_SIZE);
    memcpy(text, arn.data, arn.len);
    memcpy(text + arn.len, separator, sizeof separator - 1);
    for (size_t i = 0; i < PLACE_SIZE; i++) {
        text[place_at + i * 2] = (uint8_t)digits[place[i] >> 4];
        text[place_at + i * 2 + 1] = (uint8_t)digits[place[i] & 0xF];
    }
    return bytes_of(text, place_at + PLACE_TEXT_SIZE);
}

bool shard_iterator_parse(struct bytes text, struct bytes *arn, struct shard_iterator *out)
{
    size_t separator_size = sizeof separator - 1;
    uint8_t place[PLACE_SIZE];
    if (text.len < separator_size + PLACE_TEXT_SIZE)
        return false;
    *arn = bytes_of(text.data, text.len - PLACE_TEXT_SIZE - separator_size);
    const uint8_t *symbols = text.data + text.len - PLACE_TEXT_SIZE;
    if (memcmp(symbols - separator_size, separator, separator_size) != 0)
        return false;
    for (size_t i = 0; i < PLACE_SIZE; i++) {
        int high = stream_names_digit(symbols[i * 2]), low = stream_names_digit(symbols[i * 2 + 1]);
        if (high < 0 || low < 0)
            return false;
        place[i] = (uint8_t)(high << 4 | low);
    }
    *out = (struct shard_iterator){ .at = { .log_id = load_u64_be(place + LOG_ID_AT),
                                            .partition = load_u64_be(place + PARTITION_AT),
                                            .shard_first = load_u64_be(place + SHARD_FIRST_AT),
                                            .next = load_u64_be(place + NEXT_AT) },
                                    .created_ms = (int64_t)load_u64_be(place + CREATED_AT) };
    return load_u32_be(place + CHECKSUM_AT) == checksum(*arn, place);
}

enum engine_status shard_iterator_find_shard(struct arena *arena, struct engine_view *view,
                                             const struct stream_definition *stream,
                                             struct bytes shard_id, struct shard *out)
{
    int64_t created_ms;
    uint64_t partition;
    struct shard *shards;
    size_t count;
    if (!stream_names_parse_shard_id(shard_id, &created_ms, &partition) ||
        !stream_definition_has_partition(stream, partition))
        return ENGINE_NOT_FOUND;
    enum engine_status status = shard_list(arena, view, stream->log_id, partition, &shards, &count);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (shards[i].created_ms == created_ms &&
            stream_definition_has_shard(stream, partition, shards[i].first)) {
            *out = shards[i];
            return ENGINE_OK;
        }
    }
    return ENGINE_NOT_FOUND;
}
