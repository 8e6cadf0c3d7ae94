/* stream_names.c -- see stream_names.h. */
#include "stream/stream_names.h"
#include <assert.h>
#include <inttypes.h>
#include <time.h>
#include "base/arena.h"
#include "base/clock.h"

enum {
    LABEL_SIZE = sizeof("2015-05-11T21:21:33.291") - 1,
    LABEL_MS_SIZE = sizeof(".291") - 1,
    SHARD_TIME_DIGITS = 20,
    SHARD_PARTITION_DIGITS_MIN = 8,
    SHARD_PARTITION_DIGITS_MAX = 16,
    SEQUENCE_DIGITS = 20,
    SEQUENCE_PARTITION_DIGITS_MIN = 8,
};
static const char shard_prefix[] = "shardId-";

int stream_names_digit(uint8_t symbol)
{
    if (symbol >= '0' && symbol <= '9')
        return symbol - '0';
    return symbol >= 'a' && symbol <= 'f' ? symbol - 'a' + 10 : -1;
}

/* Parses one or more digits. False if a symbol is not a digit, or the number is too large. */
static bool parse_digits(struct bytes digits, int base, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len; i++) {
        int digit = stream_names_digit(digits.data[i]);
        if (digit < 0 || digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return digits.len > 0;
}

struct bytes stream_names_label(struct arena *arena, int64_t created_ms)
{
    int64_t second = clock_second_of_ms(created_ms);
    struct tm utc = clock_utc(second);
    char text[sizeof("2015-05-11T21:21:33")];
    size_t len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
    assert(len > 0);
    /* Labels must differ if times do, so a time beyond year 9999 is written as a number. */
    if (second > CLOCK_SHOWN_SECOND_MAX || second < CLOCK_SHOWN_SECOND_MIN)
        return arena_printf(arena, "%" PRId64, created_ms);
    return arena_printf(arena, "%s.%03d", text, (int)(created_ms - second * 1000));
}

int64_t stream_names_label_ms(struct bytes label)
{
    char text[LABEL_SIZE + 1];
    struct tm utc = { 0 };
    uint64_t number;
    if (label.len < LABEL_SIZE && parse_digits(label, 10, &number) && number <= INT64_MAX)
        return (int64_t)number;
    if (label.len != LABEL_SIZE)
        return 0;
    memcpy(text, label.data, LABEL_SIZE);
    text[LABEL_SIZE] = '\0';
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
    uint64_t ms;
    if (rest == NULL || strlen(rest) != LABEL_MS_SIZE || rest[0] != '.' ||
        !parse_digits(bytes_of(rest + 1, LABEL_MS_SIZE - 1), 10, &ms))
        return 0;
    return (int64_t)timegm(&utc) * 1000 + (int64_t)ms;
}

bool stream_names_parse_arn(struct bytes arn, struct bytes *table_name, struct bytes *label)
{
    static const char table_part[] = ":table/";
    static const char stream_part[] = "/stream/";
    const uint8_t *end = arn.data + arn.len;
    const uint8_t *name = memmem(arn.data, arn.len, table_part, sizeof table_part - 1);
    if (name == NULL || !bytes_starts_with(arn, BYTES("arn:")))
        return false;
    name += sizeof table_part - 1;
    const uint8_t *stream = memmem(name, (size_t)(end - name), stream_part, sizeof stream_part - 1);
    if (stream == NULL)
        return false;
    *table_name = bytes_of(name, (size_t)(stream - name));
    stream += sizeof stream_part - 1;
    *label = bytes_of(stream, (size_t)(end - stream));
    return true;
}

struct bytes stream_names_shard_id(struct arena *arena, int64_t created_ms, uint64_t partition)
{
    return arena_printf(arena, "%s%0*" PRId64 "-%0*" PRIx64, shard_prefix, SHARD_TIME_DIGITS,
                        created_ms, SHARD_PARTITION_DIGITS_MIN, partition);
}

bool stream_names_parse_shard_id(struct bytes id, int64_t *created_ms, uint64_t *partition)
{
    size_t prefix_size = sizeof shard_prefix - 1;
    size_t partition_at = prefix_size + SHARD_TIME_DIGITS + 1;
    uint64_t time;
    if (!bytes_starts_with(id, bytes_from_text(shard_prefix)) ||
        id.len < partition_at + SHARD_PARTITION_DIGITS_MIN ||
        id.len > partition_at + SHARD_PARTITION_DIGITS_MAX || id.data[partition_at - 1] != '-' ||
        !parse_digits(bytes_of(id.data + prefix_size, SHARD_TIME_DIGITS), 10, &time) ||
        !parse_digits(bytes_of(id.data + partition_at, id.len - partition_at), 16, partition) ||
        time > INT64_MAX)
        return false;
    *created_ms = (int64_t)time;
    return true;
}

struct bytes stream_names_sequence(struct arena *arena, uint64_t sequence, uint64_t partition)
{
    return arena_printf(arena, "1%0*" PRIu64 "%0*" PRIu64, SEQUENCE_DIGITS, sequence,
                        SEQUENCE_PARTITION_DIGITS_MIN, partition);
}

bool stream_names_parse_sequence(struct bytes text, uint64_t *sequence, uint64_t *partition)
{
    size_t partition_at = 1 + SEQUENCE_DIGITS;
    return text.len >= partition_at + SEQUENCE_PARTITION_DIGITS_MIN && text.data[0] == '1' &&
           parse_digits(bytes_of(text.data + 1, SEQUENCE_DIGITS), 10, sequence) &&
           parse_digits(bytes_of(text.data + partition_at, text.len - partition_at), 10, partition);
}
