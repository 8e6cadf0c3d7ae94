/* series_chunk.c -- see series_chunk.h and doc/disk-format-monitoring.md, "Metrics". */
#include "cloudwatch/series_chunk.h"
#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "cloudwatch/series.h"
#include "cloudwatch/value_histogram.h"
#include "model/varint.h"
#include "table/layout.h"

const struct engine_place series_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                           .partition = LAYOUT_CATALOGUE_PARTITION,
                                           .space = ENGINE_SPACE_METRICS };

static const struct series_resolution_rule rules[SERIES_RESOLUTION_END] = {
    [SERIES_RESOLUTION_1S] = { 1, 60, SERIES_RETENTION_1S_S, .is_deleted = true },
    [SERIES_RESOLUTION_60S] = { 60, 3600, SERIES_RETENTION_60S_S, .is_deleted = false },
    [SERIES_RESOLUTION_300S] = { 300, 3600, SERIES_RETENTION_300S_S, .is_deleted = false },
    [SERIES_RESOLUTION_3600S] = { 3600, 86400, SERIES_RETENTION_3600S_S, .is_deleted = true },
};

const struct series_resolution_rule *series_resolution_rule(enum series_resolution resolution)
{
    assert(resolution >= SERIES_RESOLUTION_1S && resolution < SERIES_RESOLUTION_END);
    return &rules[resolution];
}

struct sample_set *series_chunk_bin(struct series_chunk *chunk, uint8_t offset)
{
    size_t at = chunk->count;
    assert(offset < SERIES_CHUNK_BINS_MAX);
    while (at > 0 && chunk->bins[at - 1].offset > offset)
        at--;
    if (at > 0 && chunk->bins[at - 1].offset == offset)
        return &chunk->bins[at - 1].set;
    assert(chunk->count < SERIES_CHUNK_BINS_MAX);
    memmove(&chunk->bins[at + 1], &chunk->bins[at], (chunk->count - at) * sizeof chunk->bins[0]);
    chunk->bins[at].offset = offset;
    chunk->bins[at].set = (struct sample_set){ 0 };
    chunk->count++;
    return &chunk->bins[at].set;
}

/* --- Numbers: twice a small integer as a length, or a byte of 1 and the double --- */

enum { RAW_MARK = 1, HEADER_SIZE = 5 };
#define SMALL_MAX ((double)(UINT32_MAX / 2))

static bool is_small(double value)
{
    return value >= 0 && value <= SMALL_MAX && value == floor(value) && !signbit(value);
}

static void append_length(struct buffer *out, uint32_t value)
{
    uint8_t bytes[VARINT_SIZE_MAX];
    buffer_append(out, bytes, varint_write(value, bytes));
}

static void append_number(struct buffer *out, double value)
{
    uint8_t raw[8];
    uint64_t bits;
    if (is_small(value)) {
        append_length(out, (uint32_t)value * 2);
        return;
    }
    memcpy(&bits, &value, sizeof bits);
    store_u64_le(raw, bits);
    buffer_append_byte(out, RAW_MARK);
    buffer_append(out, raw, sizeof raw);
}

static bool read_number(struct bytes *in, double *out)
{
    uint32_t length;
    if (!varint_read(in, &length))
        return false;
    if (length % 2 == 0) {
        *out = length * 0.5; /* Exact: it is even. */
        return true;
    }
    if (length != RAW_MARK || in->len < 8)
        return false;
    uint64_t bits = load_u64_le(in->data);
    memcpy(out, &bits, sizeof bits);
    *in = bytes_of(in->data + 8, in->len - 8);
    return isfinite(*out) && !is_small(*out);
}

/* --- Bins --- */

enum { BIN_ALL_EQUAL = 1, BIN_HISTOGRAM = 2, BIN_FLAGS = 3 };

static void append_histogram(struct buffer *out, const struct value_histogram *histogram)
{
    int32_t before = 0;
    buffer_append_byte(out, (uint8_t)(histogram->scale - VALUE_HISTOGRAM_SCALE_MIN));
    append_length(out, (uint32_t)histogram->count);
    for (size_t i = 0; i < histogram->count; i++) {
        int32_t order = histogram->buckets[i].order;
        if (i == 0) /* The sign is the lowest bit. */
            append_length(out, order < 0 ? (uint32_t)-order * 2 + 1 : (uint32_t)order * 2);
        else
            append_length(out, (uint32_t)(order - before));
        append_number(out, histogram->buckets[i].count);
        before = order;
    }
}

static bool is_order(int64_t order)
{
    return order > -2 * VALUE_HISTOGRAM_ORDER_BIAS && order < 2 * VALUE_HISTOGRAM_ORDER_BIAS;
}

static bool read_order(struct bytes *in, const struct value_histogram *histogram, int32_t *out)
{
    uint32_t length;
    int64_t order;
    if (!varint_read(in, &length))
        return false;
    if (histogram->count == 0)
        order = length % 2 == 1 ? -(int64_t)(length / 2) : (int64_t)(length / 2);
    else
        order = (int64_t)histogram->buckets[histogram->count - 1].order + length;
    bool is_first = histogram->count == 0;
    if (!is_order(order) || (is_first && length == 1) || (!is_first && length == 0))
        return false;
    *out = (int32_t)order;
    return true;
}

static bool read_histogram(struct arena *arena, struct bytes *in, struct sample_set *set)
{
    struct value_histogram *histogram = arena_alloc(arena, sizeof *histogram);
    uint32_t count;
    if (in->len == 0 || in->data[0] > VALUE_HISTOGRAM_SCALE_MAX - VALUE_HISTOGRAM_SCALE_MIN)
        return false;
    *histogram = (struct value_histogram){ .scale = in->data[0] + VALUE_HISTOGRAM_SCALE_MIN };
    *in = bytes_of(in->data + 1, in->len - 1);
    if (!varint_read(in, &count) || count == 0 || count > VALUE_HISTOGRAM_BUCKETS_MAX)
        return false;
    while (histogram->count < count) {
        struct value_bucket bucket;
        if (!read_order(in, histogram, &bucket.order) || !read_number(in, &bucket.count) ||
            bucket.count <= 0)
            return false;
        histogram->buckets[histogram->count++] = bucket;
    }
    set->histogram = histogram;
    return true;
}

/* All values are equal, and the sum says nothing more. */
static bool is_all_equal(const struct sample_set *set)
{
    return set->minimum == set->maximum && set->sum == set->minimum * set->count &&
           set->is_distributed && set->histogram == NULL &&
           !signbit(set->sum) == !signbit(set->minimum);
}

static void append_bin(struct buffer *out, uint8_t offset, const struct sample_set *set)
{
    assert(set->count > 0);
    bool all_equal = is_all_equal(set);
    uint8_t flags = all_equal ? BIN_ALL_EQUAL : set->histogram != NULL ? BIN_HISTOGRAM : 0;
    buffer_append_byte(out, offset);
    buffer_append_byte(out, flags);
    append_number(out, set->count);
    append_number(out, set->minimum);
    if (all_equal)
        return;
    append_number(out, set->sum);
    append_number(out, set->maximum);
    if (set->histogram != NULL)
        append_histogram(out, set->histogram);
}

static bool read_bin(struct arena *arena, struct bytes *in, uint8_t *offset, struct sample_set *set)
{
    if (in->len < 2 || (in->data[1] & ~BIN_FLAGS) != 0 || in->data[1] == BIN_FLAGS)
        return false;
    *offset = in->data[0];
    uint8_t flags = in->data[1];
    *in = bytes_of(in->data + 2, in->len - 2);
    *set = (struct sample_set){ 0 };
    if (!read_number(in, &set->count) || !read_number(in, &set->minimum) || set->count <= 0)
        return false;
    if ((flags & BIN_ALL_EQUAL) != 0) {
        set->maximum = set->minimum;
        set->sum = set->minimum * set->count;
        set->is_distributed = true;
        return isfinite(set->sum);
    }
    if (!read_number(in, &set->sum) || !read_number(in, &set->maximum) ||
        set->maximum < set->minimum)
        return false;
    if ((flags & BIN_HISTOGRAM) != 0 && !read_histogram(arena, in, set))
        return false;
    /* A set of equal values whose sum was rounded has neither flag. */
    set->is_distributed = set->histogram != NULL || set->minimum == set->maximum;
    return !is_all_equal(set);
}

/* --- Chunks --- */

struct bytes series_chunk_encode(struct arena *arena, const struct series_chunk *chunk)
{
    struct buffer out;
    const uint8_t header[HEADER_SIZE] = { SERIES_CHUNK_FORMAT };
    buffer_init(&out, arena);
    buffer_append(&out, header, sizeof header);
    for (size_t i = 0; i < chunk->count; i++)
        append_bin(&out, chunk->bins[i].offset, &chunk->bins[i].set);
    store_u32_le(out.data + 1, crc32c(bytes_of(out.data + HEADER_SIZE, out.len - HEADER_SIZE)));
    return buffer_bytes(&out);
}

static bool open_record(struct bytes stored, struct bytes *content)
{
    if (stored.len < HEADER_SIZE || stored.data[0] != SERIES_CHUNK_FORMAT)
        return false;
    *content = bytes_of(stored.data + HEADER_SIZE, stored.len - HEADER_SIZE);
    return load_u32_le(stored.data + 1) == crc32c(*content);
}

bool series_chunk_decode(struct arena *arena, struct bytes stored, size_t bin_count,
                         struct series_chunk *out)
{
    struct bytes in;
    assert(bin_count <= SERIES_CHUNK_BINS_MAX);
    out->count = 0;
    if (!open_record(stored, &in) || in.len == 0)
        return false;
    while (in.len > 0) {
        uint8_t offset;
        struct sample_set set;
        if (!read_bin(arena, &in, &offset, &set) || offset >= bin_count ||
            (out->count > 0 && offset <= out->bins[out->count - 1].offset))
            return false;
        out->bins[out->count].offset = offset;
        out->bins[out->count++].set = set;
    }
    return true;
}

/* --- Keys and small records --- */

struct bytes series_chunk_key(struct arena *arena, enum series_resolution resolution,
                              int64_t start_s, uint64_t series_id)
{
    uint8_t *key = arena_alloc(arena, SERIES_CHUNK_KEY_SIZE);
    assert(start_s >= 0 && start_s % series_resolution_rule(resolution)->chunk_s == 0);
    key[0] = SERIES_KEY_CHUNK;
    key[1] = (uint8_t)resolution;
    store_u64_be(key + 2, (uint64_t)start_s);
    store_u64_be(key + 10, series_id);
    return bytes_of(key, SERIES_CHUNK_KEY_SIZE);
}

struct bytes series_chunk_key_end(struct arena *arena, enum series_resolution resolution,
                                  int64_t start_s)
{
    return series_chunk_key(arena, resolution,
                            start_s + series_resolution_rule(resolution)->chunk_s, 0);
}

struct bytes series_total_key(struct arena *arena, enum series_resolution resolution,
                              int64_t start_s)
{
    uint8_t *key = arena_alloc(arena, SERIES_TOTAL_KEY_SIZE);
    key[0] = SERIES_KEY_TOTAL;
    key[1] = (uint8_t)resolution;
    store_u64_be(key + 2, (uint64_t)start_s);
    return bytes_of(key, SERIES_TOTAL_KEY_SIZE);
}

static bool parse_time(struct bytes key, enum series_resolution *resolution, int64_t *start_s)
{
    if (key.data[1] < SERIES_RESOLUTION_1S || key.data[1] >= SERIES_RESOLUTION_END)
        return false;
    *resolution = (enum series_resolution)key.data[1];
    uint64_t start = load_u64_be(key.data + 2);
    *start_s = (int64_t)start;
    return start <= (uint64_t)INT64_MAX / 2 &&
           *start_s % series_resolution_rule(*resolution)->chunk_s == 0;
}

bool series_chunk_key_parse(struct bytes key, enum series_resolution *resolution, int64_t *start_s,
                            uint64_t *series_id)
{
    if (key.len != SERIES_CHUNK_KEY_SIZE || key.data[0] != SERIES_KEY_CHUNK)
        return false;
    *series_id = load_u64_be(key.data + 10);
    return parse_time(key, resolution, start_s);
}

bool series_total_key_parse(struct bytes key, enum series_resolution *resolution, int64_t *start_s)
{
    return key.len == SERIES_TOTAL_KEY_SIZE && key.data[0] == SERIES_KEY_TOTAL &&
           parse_time(key, resolution, start_s);
}

struct bytes series_numbers_encode(struct arena *arena, const uint64_t *numbers, size_t count)
{
    size_t size = HEADER_SIZE + count * 8;
    uint8_t *out = arena_alloc(arena, size);
    out[0] = SERIES_CHUNK_FORMAT;
    for (size_t i = 0; i < count; i++)
        store_u64_le(out + HEADER_SIZE + i * 8, numbers[i]);
    store_u32_le(out + 1, crc32c(bytes_of(out + HEADER_SIZE, count * 8)));
    return bytes_of(out, size);
}

bool series_numbers_decode(struct bytes stored, uint64_t *numbers, size_t count)
{
    struct bytes content;
    if (!open_record(stored, &content) || content.len != count * 8)
        return false;
    for (size_t i = 0; i < count; i++)
        numbers[i] = load_u64_le(content.data + i * 8);
    return true;
}
