/* rados_key.c -- see rados_key.h. */
#include "engine/rados/rados_key.h"
#include <inttypes.h>
#include <stdio.h>
#include "base/arena.h"

enum {
    KEY_END = 0x01,
    ESCAPE = 0x02,       /* Also the largest byte that is escaped. */
    ESCAPED_FIRST = 0x02 /* Added to the byte behind an escape. */
};

/* Returns where the bytes end; there is room for all of them twice. */
static uint8_t *escape(uint8_t *out, struct bytes key)
{
    for (size_t i = 0; i < key.len; i++) {
        if (key.data[i] > ESCAPE) {
            *out++ = key.data[i];
        } else {
            *out++ = ESCAPE;
            *out++ = (uint8_t)(key.data[i] + ESCAPED_FIRST);
        }
    }
    return out;
}

struct bytes rados_key_encode(struct arena *arena, struct bytes key)
{
    uint8_t *data = arena_alloc(arena, 2 * key.len + 2);
    uint8_t *end = escape(data, key);
    *end++ = KEY_END;
    *end = 0;
    return bytes_of(data, (size_t)(end - data));
}

bool rados_key_decode(struct arena *arena, struct bytes stored, struct bytes *key)
{
    if (stored.len == 0 || stored.data[stored.len - 1] != KEY_END)
        return false;
    uint8_t *data = arena_alloc(arena, stored.len);
    size_t size = 0;
    for (size_t i = 0; i < stored.len - 1; i++) {
        uint8_t byte = stored.data[i];
        if (byte < ESCAPE)
            return false;
        if (byte == ESCAPE) { /* The end behind it is no escaped byte. */
            byte = (uint8_t)(stored.data[++i] - ESCAPED_FIRST);
            if (byte > ESCAPE)
                return false;
        }
        data[size++] = byte;
    }
    *key = bytes_of(data, size);
    return true;
}

const char *rados_key_before(struct arena *arena, struct bytes key)
{
    uint8_t *data = arena_alloc(arena, 2 * key.len + 1);
    *escape(data, key) = 0;
    return (const char *)data;
}

struct bytes rados_key_shared_prefix(struct bytes first, struct bytes last)
{
    size_t size = 0;
    while (size < first.len && size < last.len && first.data[size] == last.data[size])
        size++;
    /* `last` is often where the keys with one more byte of `first` end: "ab" for "aa...". */
    if (size < first.len && last.len == size + 1 && last.data[size] == first.data[size] + 1)
        size++;
    return bytes_of(first.data, size);
}

void rados_key_format_partition(const struct partition_id *id, char out[RADOS_PARTITION_SIZE + 1])
{
    snprintf(out, RADOS_PARTITION_SIZE + 1, "%c.%016" PRIx64, id->kind, id->number);
}

static bool parse_hex(const uint8_t *digits, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < 16; i++) {
        uint8_t c = digits[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            return false;
        *out = *out << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

bool rados_key_parse_partition(struct bytes text, struct partition_id *id)
{
    if (text.len != RADOS_PARTITION_SIZE || text.data[1] != '.')
        return false;
    id->kind = (enum partition_kind)text.data[0];
    return (id->kind == PARTITION_SYSTEM || id->kind == PARTITION_TABLES) &&
           parse_hex(text.data + 2, &id->number);
}

void rados_key_format_object(const struct partition_id *id, char out[RADOS_OBJECT_NAME_MAX + 1])
{
    char text[RADOS_PARTITION_SIZE + 1];
    rados_key_format_partition(id, text);
    snprintf(out, RADOS_OBJECT_NAME_MAX + 1, "p.%s", text);
}
