/* series_identity.c -- see series_identity.h. */
#include "cloudwatch/series_identity.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "model/varint.h"

static void append_length(struct buffer *out, size_t value)
{
    uint8_t bytes[VARINT_SIZE_MAX];
    buffer_append(out, bytes, varint_write(value, bytes));
}

static void append_text(struct buffer *out, struct bytes text)
{
    append_length(out, text.len);
    buffer_append_bytes(out, text);
}

static int compare_names(const void *a, const void *b)
{
    const struct series_dimension *one = a, *other = b;
    return bytes_compare(one->name, other->name);
}

struct bytes series_identity_encode(struct arena *arena, const struct series_key *key)
{
    struct series_dimension sorted[SERIES_DIMENSIONS_MAX];
    struct buffer out;
    assert(key->dimension_count <= SERIES_DIMENSIONS_MAX);
    for (size_t i = 0; i < key->dimension_count; i++)
        sorted[i] = key->dimensions[i];
    qsort(sorted, key->dimension_count, sizeof sorted[0], compare_names);
    buffer_init(&out, arena);
    append_text(&out, key->namespace);
    append_text(&out, key->name);
    append_length(&out, key->dimension_count);
    for (size_t i = 0; i < key->dimension_count; i++) {
        append_text(&out, sorted[i].name);
        append_text(&out, sorted[i].value);
    }
    return buffer_bytes(&out);
}

static bool read_text(struct bytes *in, size_t size_max, struct bytes *out)
{
    uint32_t size;
    if (!varint_read(in, &size) || size > in->len || size > size_max)
        return false;
    *out = bytes_of(in->data, size);
    *in = bytes_of(in->data + size, in->len - size);
    return true;
}

bool series_identity_decode(struct arena *arena, struct bytes identity, struct series_key *out)
{
    uint32_t count;
    *out = (struct series_key){ 0 };
    if (!read_text(&identity, SERIES_NAME_SIZE_MAX, &out->namespace) ||
        !read_text(&identity, SERIES_NAME_SIZE_MAX, &out->name) ||
        !varint_read(&identity, &count) || count > SERIES_DIMENSIONS_MAX)
        return false;
    struct series_dimension *dimensions = arena_alloc(arena, (count + 1) * sizeof *dimensions);
    for (size_t i = 0; i < count; i++) {
        if (!read_text(&identity, SERIES_NAME_SIZE_MAX, &dimensions[i].name) ||
            !read_text(&identity, SERIES_DIMENSION_VALUE_SIZE_MAX, &dimensions[i].value) ||
            (i > 0 && bytes_compare(dimensions[i - 1].name, dimensions[i].name) >= 0))
            return false;
    }
    out->dimensions = dimensions;
    out->dimension_count = count;
    return identity.len == 0;
}

uint64_t series_identity_hash(struct bytes identity, uint64_t seed)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = seed ^ identity.len;
    while (identity.len > 0) {
        uint8_t word[8] = { 0 };
        size_t size = identity.len < sizeof word ? identity.len : sizeof word;
        memcpy(word, identity.data, size);
        hash = (hash ^ load_u64_le(word)) * factor;
        hash ^= hash >> 29;
        identity = bytes_of(identity.data + size, identity.len - size);
    }
    hash *= factor;
    return hash ^ (hash >> 32);
}
