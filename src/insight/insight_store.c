/* insight_store.c -- see insight_store.h. */
#include "insight/insight_store.h"
#include <assert.h>
#include <inttypes.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/log.h"
#include "insight/insights.h"
#include "insight/key_summary.h"

enum {
    /* An hour is made once its last minute has been stored: ticks come every minute. */
    ROLL_DELAY_MS = 2 * INSIGHTS_MINUTE_MS,
    ROLL_HOURS_MAX = 2, /* In one call, so that a tick after a long stop does not take long. */
    /* While minutes are merged there is room for more keys than are stored in the end. */
    ROLL_KEYS_FACTOR = 4,
    SEED = 1, /* Of hashes that do not leave this file; keys were chosen when they were counted. */
};

struct engine_place insight_store_place(uint64_t target)
{
    return (struct engine_place){ .owner = target,
                                  .partition = INSIGHT_STORE_PARTITION,
                                  .space = ENGINE_SPACE_INSIGHTS };
}

static struct bytes key_of(struct arena *arena, enum insight_rule rule, uint8_t resolution,
                           int64_t time_ms)
{
    uint8_t *key = arena_alloc(arena, INSIGHT_STORE_KEY_SIZE);
    key[0] = (uint8_t)rule;
    key[1] = resolution;
    store_u64_be(key + 2, (uint64_t)time_ms);
    return bytes_of(key, INSIGHT_STORE_KEY_SIZE);
}

struct engine_address insight_store_address(struct arena *arena, uint64_t target,
                                            enum insight_rule rule, uint8_t resolution,
                                            int64_t time_ms)
{
    assert(rule < INSIGHT_RULE_COUNT && time_ms >= 0);
    return (struct engine_address){ .place = insight_store_place(target),
                                    .key = key_of(arena, rule, resolution, time_ms) };
}

bool insight_store_read_key(struct bytes key, enum insight_rule *rule, uint8_t *resolution,
                            int64_t *time_ms)
{
    if (key.len != INSIGHT_STORE_KEY_SIZE || key.data[0] >= INSIGHT_RULE_COUNT)
        return false;
    *rule = (enum insight_rule)key.data[0];
    *resolution = key.data[1];
    uint64_t time = load_u64_be(key.data + 2);
    *time_ms = (int64_t)time;
    int64_t step_ms = *resolution == INSIGHT_STORE_MINUTES ? INSIGHTS_MINUTE_MS : INSIGHTS_HOUR_MS;
    return (*resolution == INSIGHT_STORE_MINUTES || *resolution == INSIGHT_STORE_HOURS) &&
           time <= INT64_MAX && *time_ms % step_ms == 0;
}

static int64_t hour_of(int64_t wall_ms)
{
    return wall_ms - wall_ms % INSIGHTS_HOUR_MS;
}

int64_t insight_store_first_minute_ms(int64_t wall_ms)
{
    int64_t first = hour_of(wall_ms) - INSIGHTS_MINUTES_KEPT_MS;
    return first > 0 ? first : 0;
}

int64_t insight_store_first_hour_ms(int64_t wall_ms)
{
    int64_t first = hour_of(wall_ms) - INSIGHTS_HOURS_KEPT_MS;
    return first > 0 ? first : 0;
}

/* --- Hours --- */

/* The merged minutes of an hour; NULL if there are none. A damaged one is reported and left out. */
static enum engine_status merge_minutes(struct engine_view *view, struct arena *arena,
                                        uint64_t target, enum insight_rule rule, size_t keys_max,
                                        int64_t hour_ms, struct key_summary **out)
{
    struct engine_scan *scan = NULL;
    struct engine_range range = {
        .place = insight_store_place(target),
        .first = key_of(arena, rule, INSIGHT_STORE_MINUTES, hour_ms),
        .last = key_of(arena, rule, INSIGHT_STORE_MINUTES, hour_ms + INSIGHTS_HOUR_MS),
    };
    enum engine_status status = engine_scan_open(view, &range, &scan);
    *out = NULL;
    while (status == ENGINE_OK) {
        struct engine_entry entry;
        status = engine_scan_next(scan, &entry);
        if (status != ENGINE_OK)
            break;
        struct key_summary *minute = key_summary_decode(entry.value, keys_max, SEED);
        if (minute == NULL) {
            log_write(LOG_ERROR, "insight", "damaged summary of keys of %" PRIu64, target);
            continue;
        }
        if (*out == NULL)
            *out = key_summary_create(keys_max * ROLL_KEYS_FACTOR, SEED);
        key_summary_merge(*out, minute);
        key_summary_destroy(minute);
    }
    engine_scan_close(scan);
    return status == ENGINE_END ? ENGINE_OK : status;
}

static enum engine_status put_hour(struct engine_view *view, struct arena *arena, uint64_t target,
                                   enum insight_rule rule, size_t keys_max, int64_t hour_ms,
                                   struct engine_write *write)
{
    struct key_summary *hour;
    enum engine_status status = merge_minutes(view, arena, target, rule, keys_max, hour_ms, &hour);
    if (hour != NULL && status == ENGINE_OK) {
        struct engine_address address =
            insight_store_address(arena, target, rule, INSIGHT_STORE_HOURS, hour_ms);
        engine_write_put(write, &address, key_summary_encode(arena, hour, keys_max));
    }
    key_summary_destroy(hour);
    return status;
}

static void delete_before(struct arena *arena, struct engine_write *write, uint64_t target,
                          enum insight_rule rule, uint8_t resolution, int64_t time_ms)
{
    struct engine_place place = insight_store_place(target);
    engine_write_delete_range(write, &place, key_of(arena, rule, resolution, 0),
                              key_of(arena, rule, resolution, time_ms));
}

/* All rules of one hour, and what became too old meanwhile. */
static enum engine_status roll_hour(struct engine *engine, struct arena *arena, uint64_t target,
                                    unsigned rules, size_t keys_max, int64_t hour_ms,
                                    int64_t wall_ms)
{
    struct engine_view *view = NULL;
    struct engine_write *write = NULL;
    int64_t first_minute_ms = insight_store_first_minute_ms(wall_ms);
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_write_begin(engine, NULL, 0, &write);
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT && status == ENGINE_OK; rule++) {
        if ((rules & 1U << rule) == 0)
            continue;
        status = put_hour(view, arena, target, rule, keys_max, hour_ms, write);
        /* Later minutes are not in an hour yet, however old they are. */
        delete_before(arena, write, target, rule, INSIGHT_STORE_MINUTES,
                      hour_ms < first_minute_ms ? hour_ms : first_minute_ms);
        delete_before(arena, write, target, rule, INSIGHT_STORE_HOURS,
                      insight_store_first_hour_ms(wall_ms));
    }
    engine_view_close(view);
    if (status == ENGINE_OK)
        return engine_write_commit_wait(write);
    if (write != NULL)
        engine_write_abandon(write);
    return status;
}

/* Whether an hour was made before, in an earlier run. */
static enum engine_status find_hour(struct engine *engine, struct arena *arena, uint64_t target,
                                    unsigned rules, int64_t hour_ms, bool *found)
{
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    *found = false;
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT && status == ENGINE_OK; rule++) {
        struct engine_value value = { 0 };
        if ((rules & 1U << rule) == 0 || *found)
            continue;
        struct engine_address address =
            insight_store_address(arena, target, rule, INSIGHT_STORE_HOURS, hour_ms);
        status = engine_view_get(view, &address, &value);
        *found = status == ENGINE_OK;
        engine_value_release(&value);
        if (status == ENGINE_NOT_FOUND)
            status = ENGINE_OK;
    }
    engine_view_close(view);
    return status;
}

/* Lowers `*hour_ms` to the first hour from `from_ms` on of which the rule has minutes. */
static enum engine_status find_minute(struct engine_view *view, struct arena *arena,
                                      uint64_t target, enum insight_rule rule, int64_t from_ms,
                                      int64_t *hour_ms)
{
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum insight_rule found_rule;
    uint8_t resolution;
    int64_t minute_ms;
    struct engine_range range = {
        .place = insight_store_place(target),
        .first = key_of(arena, rule, INSIGHT_STORE_MINUTES, from_ms),
        .last = key_of(arena, rule, INSIGHT_STORE_MINUTES, *hour_ms),
    };
    enum engine_status status = engine_scan_open(view, &range, &scan);
    if (status == ENGINE_OK)
        status = engine_scan_next(scan, &entry);
    if (status == ENGINE_OK &&
        insight_store_read_key(entry.key, &found_rule, &resolution, &minute_ms))
        *hour_ms = hour_of(minute_ms);
    engine_scan_close(scan);
    return status == ENGINE_END ? ENGINE_OK : status;
}

/* Skips hours without minutes, but none of the last day. A server that was stopped for longer has
 * minutes that are older, of the hours before it stopped. */
static enum engine_status skip_empty_hours(struct engine *engine, struct arena *arena,
                                           uint64_t target, unsigned rules, int64_t wall_ms,
                                           int64_t *hour_ms)
{
    struct engine_view *view = NULL;
    int64_t from_ms = *hour_ms, next_ms = insight_store_first_minute_ms(wall_ms);
    if (from_ms >= next_ms)
        return ENGINE_OK;
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT && status == ENGINE_OK; rule++)
        if ((rules & 1U << rule) != 0 && from_ms < next_ms)
            status = find_minute(view, arena, target, rule, from_ms, &next_ms);
    engine_view_close(view);
    *hour_ms = next_ms;
    return status;
}

enum engine_status insight_store_roll(struct engine *engine, uint64_t target, unsigned rules,
                                      size_t keys_max, int64_t wall_ms, int64_t *rolled_ms)
{
    int64_t hour_ms = insight_store_first_hour_ms(wall_ms);
    int made = 0;
    if (*rolled_ms > hour_ms && *rolled_ms <= wall_ms) /* Not if the clock was set back. */
        hour_ms = *rolled_ms;
    while (made < ROLL_HOURS_MAX) {
        struct arena *arena = arena_create();
        bool found = false;
        enum engine_status status =
            skip_empty_hours(engine, arena, target, rules, wall_ms, &hour_ms);
        bool has_ended = hour_ms + INSIGHTS_HOUR_MS + ROLL_DELAY_MS <= wall_ms;
        if (status == ENGINE_OK && has_ended)
            status = find_hour(engine, arena, target, rules, hour_ms, &found);
        if (status == ENGINE_OK && has_ended && !found) {
            status = roll_hour(engine, arena, target, rules, keys_max, hour_ms, wall_ms);
            made++;
        }
        arena_destroy(arena);
        if (status != ENGINE_OK || !has_ended)
            return status;
        hour_ms += INSIGHTS_HOUR_MS;
        *rolled_ms = hour_ms;
    }
    return ENGINE_OK;
}

enum engine_status insight_store_remove(struct engine *engine, uint64_t target, unsigned rules)
{
    enum engine_status status = ENGINE_OK;
    struct arena *arena = arena_create();
    struct engine_place place = insight_store_place(target);
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT && status == ENGINE_OK; rule++) {
        struct engine_write *write = NULL;
        uint8_t first[1] = { (uint8_t)rule }, last[1] = { (uint8_t)(rule + 1) };
        if ((rules & 1U << rule) != 0)
            continue;
        status = engine_prepare_delete_range(engine, &place, bytes_of(first, 1), bytes_of(last, 1));
        if (status == ENGINE_OK)
            status = engine_write_begin(engine, NULL, 0, &write);
        if (status != ENGINE_OK)
            break;
        engine_write_delete_range(write, &place, bytes_of(first, 1), bytes_of(last, 1));
        status = engine_write_commit_wait(write);
    }
    arena_destroy(arena);
    return status;
}
