/* token_record.c -- see token_record.h. */
#include "table/token_record.h"
#include <assert.h>
#include <string.h>
#include <xxhash.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"

enum {
    FORMAT_AT = 0,
    CHECKSUM_AT = 1,
    EXPIRY_AT = 5,
    HASH_AT = 13,
    GENERATION_SIZE = 8,
    KEY_SIZE_MIN = GENERATION_SIZE + 1 + 1, /* The scope, and a token of one byte. */
};
/* Some ten thousand years; what claims to be later is damage. */
#define GENERATIONS_MAX (UINT64_C(10000) * 366 * 24 * 6)
static_assert(HASH_AT + LAYOUT_TOKEN_HASH_SIZE == LAYOUT_TOKEN_SIZE, "the hash comes last");
static_assert(sizeof(XXH128_canonical_t) == LAYOUT_TOKEN_HASH_SIZE, "stored as a whole");

const struct engine_place token_record_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                                 .partition = LAYOUT_TOKENS_PARTITION,
                                                 .space = ENGINE_SPACE_TOKENS };

/* --- Hashes --- */

void token_hash_add(struct token_hash *hash, struct bytes part)
{
    XXH128_canonical_t both[2]; /* Of all parts so far, and of this one. */
    memcpy(&both[0], hash->bytes, sizeof both[0]);
    XXH128_canonicalFromHash(&both[1], XXH3_128bits(part.data, part.len));
    XXH128_canonicalFromHash(&both[0], XXH3_128bits(both, sizeof both));
    memcpy(hash->bytes, &both[0], sizeof both[0]);
}

/* --- Addresses --- */

static uint64_t generation_of(int64_t now_ms)
{
    return now_ms < 0 ? 0 : (uint64_t)now_ms / TOKEN_RECORD_LIFETIME_MS;
}

static struct engine_address address_of(struct arena *arena, uint64_t generation, uint8_t scope,
                                        struct bytes token)
{
    size_t size = GENERATION_SIZE + 1 + token.len;
    uint8_t *key = arena_alloc(arena, size);
    store_u64_be(key, generation);
    key[GENERATION_SIZE] = scope;
    memcpy(key + GENERATION_SIZE + 1, token.data, token.len);
    return (struct engine_address){ .place = token_record_place, .key = bytes_of(key, size) };
}

void token_record_addresses(struct arena *arena, uint8_t scope, struct bytes token, int64_t now_ms,
                            struct engine_address out[TOKEN_RECORD_PLACES])
{
    uint64_t now = generation_of(now_ms);
    out[0] = address_of(arena, now, scope, token);
    out[1] = address_of(arena, now == 0 ? 0 : now - 1, scope, token);
    out[2] = address_of(arena, now + 1, scope, token);
}

struct bytes token_record_of_caller(struct arena *arena, struct bytes caller, struct bytes token)
{
    assert(caller.len > 0 && caller.len <= LAYOUT_TOKEN_CALLER_SIZE_MAX);
    const uint8_t size = (uint8_t)caller.len;
    const struct bytes parts[] = { bytes_of(&size, 1), caller, token };
    return arena_join(arena, parts, 3);
}

bool token_record_is_key(struct bytes key)
{
    if (key.len < KEY_SIZE_MIN)
        return false;
    size_t caller_size = key.data[GENERATION_SIZE + 1];
    switch (key.data[GENERATION_SIZE]) {
    case LAYOUT_TOKEN_WRITE:
    case LAYOUT_TOKEN_STATEMENTS:
        return true;
    case LAYOUT_TOKEN_WRITE | LAYOUT_TOKEN_OF_CALLER:
    case LAYOUT_TOKEN_STATEMENTS | LAYOUT_TOKEN_OF_CALLER:
        return caller_size > 0 && key.len >= KEY_SIZE_MIN + 1 + caller_size;
    default:
        return false;
    }
}

/* --- Records --- */

static uint32_t checksum(const uint8_t *record)
{
    return crc32c(bytes_of(record + EXPIRY_AT, LAYOUT_TOKEN_SIZE - EXPIRY_AT));
}

struct bytes token_record_encode(struct arena *arena, const struct token_record *record)
{
    assert(record->expires_at_ms >= 0);
    uint8_t *out = arena_alloc(arena, LAYOUT_TOKEN_SIZE);
    out[FORMAT_AT] = LAYOUT_TOKEN_FORMAT;
    store_u64_le(out + EXPIRY_AT, (uint64_t)record->expires_at_ms);
    memcpy(out + HASH_AT, record->hash.bytes, LAYOUT_TOKEN_HASH_SIZE);
    store_u32_le(out + CHECKSUM_AT, checksum(out));
    return bytes_of(out, LAYOUT_TOKEN_SIZE);
}

bool token_record_decode(struct bytes stored, struct token_record *out)
{
    if (stored.len != LAYOUT_TOKEN_SIZE || stored.data[FORMAT_AT] != LAYOUT_TOKEN_FORMAT ||
        load_u32_le(stored.data + CHECKSUM_AT) != checksum(stored.data))
        return false;
    out->expires_at_ms = (int64_t)load_u64_le(stored.data + EXPIRY_AT);
    memcpy(out->hash.bytes, stored.data + HASH_AT, LAYOUT_TOKEN_HASH_SIZE);
    return true;
}

/* --- Removal --- */

/* The first generation that somebody may still look into. */
static uint64_t first_kept(int64_t now_ms)
{
    assert(now_ms >= 0);
    uint64_t now = generation_of(now_ms);
    return now == 0 ? 0 : now - 1;
}

/* The generation of the first token of a range. ENGINE_END without any. */
static enum engine_status find_generation(struct engine *engine, const struct engine_range *range,
                                          uint64_t *out)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, range, &scan);
    if (status == ENGINE_OK)
        status = engine_scan_next(scan, &entry);
    if (status == ENGINE_OK)
        *out = token_record_is_key(entry.key) ? load_u64_be(entry.key.data) : 0;
    engine_scan_close(scan);
    engine_view_close(view);
    return status;
}

enum engine_status token_record_newest_ms(struct engine *engine, int64_t *out)
{
    const struct engine_range range = { .place = token_record_place,
                                        .reverse = true,
                                        .count_max = 1 };
    uint64_t generation = 0;
    enum engine_status status = find_generation(engine, &range, &generation);
    bool plausible = generation < GENERATIONS_MAX;
    *out = plausible ? (int64_t)generation * TOKEN_RECORD_LIFETIME_MS : 0;
    return status == ENGINE_END ? ENGINE_OK : status;
}

enum engine_status token_record_find_any(struct engine *engine, bool *out)
{
    const struct engine_range range = { .place = token_record_place, .count_max = 1 };
    uint64_t generation;
    enum engine_status status = find_generation(engine, &range, &generation);
    *out = status == ENGINE_OK;
    return status == ENGINE_END ? ENGINE_OK : status;
}

enum engine_status token_record_remove_old(struct engine *engine, int64_t now_ms)
{
    uint8_t last[GENERATION_SIZE];
    struct engine_write *write = NULL;
    uint64_t generation;
    const struct engine_range range = { .place = token_record_place,
                                        .last = bytes_of(last, sizeof last),
                                        .count_max = 1 };
    store_u64_be(last, first_kept(now_ms));
    /* An idle server writes nothing, so it is worth a look first. */
    enum engine_status status = find_generation(engine, &range, &generation);
    if (status != ENGINE_OK)
        return status == ENGINE_END ? ENGINE_OK : status;
    status = engine_prepare_delete_range(engine, &range.place, range.first, range.last);
    if (status == ENGINE_OK)
        status = engine_write_begin(engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_delete_range(write, &range.place, range.first, range.last);
    return engine_write_commit_wait(write);
}

int64_t token_record_next_removal_ms(int64_t now_ms)
{
    assert(now_ms >= 0);
    return TOKEN_RECORD_LIFETIME_MS - now_ms % TOKEN_RECORD_LIFETIME_MS;
}
