/* commit_ceiling.c -- see commit_ceiling.h. */
#include "history/commit_ceiling.h"
#include <assert.h>
#include <inttypes.h>
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/commit_clock.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "table/layout.h"

enum { FORMAT_AT = 0, CHECKSUM_AT = 1, US_PER_SECOND = 1000000 };
static_assert(CHECKSUM_AT + 4 == COMMIT_CEILING_SIZE, "the checksum of the key comes last");

const struct engine_place commit_ceiling_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                                   .partition = LAYOUT_COMMIT_CEILING_PARTITION,
                                                   .space = ENGINE_SPACE_CATALOGUE };

static struct bytes make_key(int64_t ceiling_us, uint8_t out[COMMIT_CEILING_KEY_SIZE])
{
    assert(ceiling_us >= 0);
    store_u64_be(out, (uint64_t)ceiling_us);
    return bytes_of(out, COMMIT_CEILING_KEY_SIZE);
}

bool commit_ceiling_decode(struct bytes key, struct bytes value, int64_t *ceiling_us)
{
    if (key.len != COMMIT_CEILING_KEY_SIZE || value.len != COMMIT_CEILING_SIZE ||
        value.data[FORMAT_AT] != COMMIT_CEILING_FORMAT ||
        load_u32_le(value.data + CHECKSUM_AT) != crc32c(key) || load_u64_be(key.data) > INT64_MAX)
        return false;
    *ceiling_us = (int64_t)load_u64_be(key.data);
    return true;
}

int64_t commit_ceiling_put(const struct clock *clock, struct engine_write *write, int64_t commit_us)
{
    assert(commit_us >= 0);
    uint8_t key[COMMIT_CEILING_KEY_SIZE], value[COMMIT_CEILING_SIZE];
    struct engine_address address = { .place = commit_ceiling_place };
    if (clock->commits == NULL)
        return 0; /* A test of a single log. */
    int64_t durable_us = atomic_load_explicit(&clock->commits->ceiling_us, memory_order_relaxed);
    if (commit_us < durable_us)
        return 0;
    int64_t ceiling_us = (commit_us / US_PER_SECOND + 1) * US_PER_SECOND;
    if (durable_us > 0) {
        address.key = make_key(durable_us, key);
        engine_write_delete(write, &address);
    }
    address.key = make_key(ceiling_us, key);
    value[FORMAT_AT] = COMMIT_CEILING_FORMAT;
    store_u32_le(value + CHECKSUM_AT, crc32c(address.key));
    engine_write_put(write, &address, bytes_of(value, sizeof value));
    assert(ceiling_us > commit_us && ceiling_us > durable_us);
    return ceiling_us;
}

enum engine_status commit_ceiling_reach(struct engine *engine, const struct clock *clock,
                                        int64_t at_us)
{
    struct engine_write *write = NULL;
    clock_raise_commit_us(clock, at_us - 1);
    enum engine_status status = engine_write_begin(engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    int64_t ceiling_us = commit_ceiling_put(clock, write, at_us);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK && ceiling_us != 0)
        commit_clock_raise_ceiling(clock->commits, ceiling_us);
    return status;
}

/* Finds the greatest one. ENGINE_CORRUPT if any is damaged. */
static enum engine_status find_newest(struct engine *engine, int64_t *newest_us, size_t *count)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    const struct engine_range range = { .place = commit_ceiling_place };
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK && (status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        if (!commit_ceiling_decode(entry.key, entry.value, newest_us)) {
            log_write(LOG_ERROR, "server", "damaged record of the commit times");
            status = ENGINE_CORRUPT;
        }
        *count += 1;
    }
    engine_scan_close(scan);
    engine_view_close(view);
    return status == ENGINE_END ? ENGINE_OK : status;
}

static enum engine_status remove_below(struct engine *engine, int64_t ceiling_us)
{
    uint8_t key[COMMIT_CEILING_KEY_SIZE];
    struct engine_write *write = NULL;
    enum engine_status status = engine_write_begin(engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_delete_range(write, &commit_ceiling_place, BYTES(""), make_key(ceiling_us, key));
    return engine_write_commit_wait(write);
}

enum engine_status commit_ceiling_load(struct engine *engine, const struct clock *clock)
{
    int64_t ceiling_us = 0;
    size_t count = 0;
    enum engine_status status = find_newest(engine, &ceiling_us, &count);
    if (status != ENGINE_OK || count == 0)
        return status;
    int64_t ahead_us = ceiling_us - clock_wall_us(clock);
    if (ahead_us > (int64_t)COMMIT_CEILING_AHEAD_SECONDS * US_PER_SECOND)
        log_write(LOG_WARN, "server",
                  "commit times are %" PRId64 " seconds ahead of the system's clock, which was set "
                  "back or was wrong before. They count on from there: until the clock catches up, "
                  "changes bear later times than they had",
                  ahead_us / US_PER_SECOND);
    if (clock->commits != NULL) {
        clock_raise_commit_us(clock, ceiling_us - 1);
        commit_clock_raise_ceiling(clock->commits, ceiling_us);
    }
    return count > 1 ? remove_below(engine, ceiling_us) : ENGINE_OK;
}
