/* server_time.c -- see server_time.h. */
#include "table/server_time.h"
#include <assert.h>
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "table/layout.h"
#include "table/token_record.h"

enum { FORMAT_AT = 0, CHECKSUM_AT = 1, ORIGIN_AT = 5, POSITION_AT = 13 };
static_assert(POSITION_AT + 8 == LAYOUT_SERVER_TIME_SIZE, "the position comes last");
/* Tokens are found one generation ahead of now (token_record.h), but no further. */
static_assert((int)SERVER_TIME_STORE_INTERVAL_MS < (int)TOKEN_RECORD_LIFETIME_MS,
              "a crash sets server time back by less than a generation of tokens");

const struct engine_place server_time_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                                .partition = LAYOUT_SERVER_TIME_PARTITION,
                                                .space = ENGINE_SPACE_CATALOGUE };

static struct engine_address address(void)
{
    return (struct engine_address){ .place = server_time_place, .key = BYTES("") };
}

static uint32_t checksum(const uint8_t *record)
{
    return crc32c(bytes_of(record + ORIGIN_AT, LAYOUT_SERVER_TIME_SIZE - ORIGIN_AT));
}

bool server_time_decode(struct bytes stored, struct server_time *out)
{
    if (stored.len != LAYOUT_SERVER_TIME_SIZE ||
        stored.data[FORMAT_AT] != LAYOUT_SERVER_TIME_FORMAT ||
        load_u32_le(stored.data + CHECKSUM_AT) != checksum(stored.data))
        return false;
    out->origin_ms = (int64_t)load_u64_le(stored.data + ORIGIN_AT);
    out->position_ms = (int64_t)load_u64_le(stored.data + POSITION_AT);
    return out->origin_ms >= 0 && out->position_ms >= out->origin_ms;
}

static enum engine_status read_stored(struct engine *engine, struct server_time *out)
{
    struct engine_view *view = NULL;
    struct engine_value value = { 0 };
    const struct engine_address at = address();
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_view_get(view, &at, &value);
    if (status == ENGINE_OK && !server_time_decode(value.bytes, out)) {
        log_write(LOG_ERROR, "server", "damaged record of the server time");
        status = ENGINE_CORRUPT;
    }
    engine_value_release(&value);
    engine_view_close(view);
    return status;
}

enum engine_status server_time_load(struct engine *engine, struct server_time *out)
{
    assert(engine != NULL && out != NULL);
    int64_t newest_token_ms = 0;
    enum engine_status stored = read_stored(engine, out);
    if (stored != ENGINE_OK && stored != ENGINE_NOT_FOUND)
        return stored;
    enum engine_status status = token_record_newest_ms(engine, &newest_token_ms);
    if (stored == ENGINE_NOT_FOUND)
        *out = (struct server_time){ .origin_ms = newest_token_ms };
    /* A token that was stored after the position proves that server time had come further. */
    if (out->position_ms < newest_token_ms)
        out->position_ms = newest_token_ms;
    return status;
}

enum engine_status server_time_store(struct engine *engine, const struct server_time *time)
{
    uint8_t bytes[LAYOUT_SERVER_TIME_SIZE];
    const struct engine_address at = address();
    struct engine_write *write = NULL;
    assert(time->origin_ms >= 0 && time->position_ms >= time->origin_ms);
    enum engine_status status = engine_write_begin(engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    bytes[FORMAT_AT] = LAYOUT_SERVER_TIME_FORMAT;
    store_u64_le(bytes + ORIGIN_AT, (uint64_t)time->origin_ms);
    store_u64_le(bytes + POSITION_AT, (uint64_t)time->position_ms);
    store_u32_le(bytes + CHECKSUM_AT, checksum(bytes));
    engine_write_put(write, &at, bytes_of(bytes, sizeof bytes));
    return engine_write_commit_wait(write);
}
