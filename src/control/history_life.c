/* history_life.c -- see history_life.h. */
#include "control/history_life.h"
#include <assert.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "control/control.h"
#include "control/table_life.h"
#include "history/commit_ceiling.h"
#include "history/history_days.h"
#include "history/history_entry.h"
#include "history/history_holds.h"
#include "history/history_window.h"
#include "table/catalogue.h"

enum {
    US_PER_MS = 1000,
    STEPS_IN_A_ROW = 2, /* From NONE to ACTIVE, or from ACTIVE to NONE. */
};

/* --- Moves --- */

bool history_life_may_move(enum history_status from, enum history_status to)
{
    static const bool allowed[HISTORY_STATUS_COUNT][HISTORY_STATUS_COUNT] = {
        [HISTORY_NONE] = { [HISTORY_OPENING] = true },
        [HISTORY_OPENING] = { [HISTORY_ACTIVE] = true, [HISTORY_CLOSING] = true },
        [HISTORY_ACTIVE] = { [HISTORY_CLOSING] = true },
        [HISTORY_CLOSING] = { [HISTORY_NONE] = true },
    };
    assert(from < HISTORY_STATUS_COUNT && to < HISTORY_STATUS_COUNT);
    return allowed[from][to];
}

static void move(struct table_definition *definition, enum history_status to)
{
    struct history_definition *history = &definition->history;
    assert(history_life_may_move(history->status, to));
    history->status = to;
    history->since_us = 0;
    if (to == HISTORY_NONE)
        history->id = 0;
}

/* The earliest moment that a job reads of the table; INT64_MAX: none does. */
static int64_t held_us(const struct history_life *life, const struct table_definition *table)
{
    assert(table->id != 0);
    return life->holds == NULL ? INT64_MAX : history_holds_earliest_us(life->holds, table->id);
}

/* --- Steps --- */

static bool is_needed(const struct history_life *life, const struct table_definition *table)
{
    return table->recovery_days != 0 || held_us(life, table) != INT64_MAX;
}

static bool has_step(const struct table_definition *table, void *context)
{
    const struct history_life *life = context;
    if (table->status == TABLE_DELETING || table->status == TABLE_CREATING)
        return false;
    switch (table->history.status) {
    case HISTORY_NONE:
        return is_needed(life, table);
    case HISTORY_ACTIVE:
        return !is_needed(life, table);
    default:
        return true;
    }
}

/* Every request works with OPENING, so whatever takes a commit time from now on is kept. No later
 * run of the server takes an earlier one, even if the clock is set back. */
static enum engine_status become_active(const struct history_life *life,
                                        struct table_definition *changed)
{
    int64_t now_us = clock_commit_now_us(life->clock);
    int64_t now_ms = (now_us + US_PER_MS - 1) / US_PER_MS;
    move(changed, HISTORY_ACTIVE);
    assert(now_us > 0);
    changed->history.since_us = now_us;
    if (changed->recovery_days != 0 && changed->recovery_since_ms < now_ms)
        changed->recovery_since_ms = now_ms;
    return commit_ceiling_reach(life->engine, life->clock, now_us);
}

static enum engine_status take_step(void *context, struct arena *arena,
                                    const struct table_definition *table)
{
    struct history_life *life = context;
    struct table_definition changed = *table;
    enum engine_status status = ENGINE_OK;
    switch (table->history.status) {
    case HISTORY_NONE:
        move(&changed, HISTORY_OPENING);
        break;
    case HISTORY_CLOSING:
        move(&changed, HISTORY_NONE);
        return catalogue_remove_history(life->catalogue, arena, &changed, table->history.id);
    case HISTORY_OPENING:
        if (is_needed(life, table)) {
            status = become_active(life, &changed);
            break;
        }
        move(&changed, HISTORY_CLOSING);
        break;
    default:
        move(&changed, HISTORY_CLOSING);
        break;
    }
    return status == ENGINE_OK ? catalogue_update(life->catalogue, arena, &changed) : status;
}

/* --- Trimming --- */

static bool is_trimmed(const struct table_definition *table, void *context)
{
    (void)context;
    return table->history.status == HISTORY_ACTIVE;
}

/* Before this moment nobody needs the history. */
static int64_t needed_from_us(const struct history_life *life, const struct table_definition *table)
{
    int64_t needed_us = held_us(life, table);
    if (table->recovery_days != 0) {
        const struct history_window window = history_window(table, life->clock);
        if (window.earliest_us < needed_us)
            needed_us = window.earliest_us;
    }
    return needed_us;
}

static enum engine_status remove_days(const struct history_life *life, struct arena *arena,
                                      const struct engine_place *place, uint32_t before)
{
    assert(before > 0);
    struct engine_write *write = NULL;
    struct bytes last = history_key_of_day(arena, before);
    enum engine_status status = engine_prepare_delete_range(life->engine, place, BYTES(""), last);
    if (status == ENGINE_OK)
        status = engine_write_begin(life->engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_delete_range(write, place, BYTES(""), last);
    return engine_write_commit_wait(write);
}

/* Removes the days of a partition before `before`, if it has any. */
static enum engine_status trim_partition(const struct history_life *life, struct arena *arena,
                                         const struct engine_place *place, uint32_t before)
{
    struct engine_view *view = NULL;
    struct history_days days = { 0 };
    if (before == 0)
        return ENGINE_OK;
    enum engine_status status = engine_view_open(life->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = history_days_find(view, arena, place, 0, before - 1, &days);
    engine_view_close(view);
    return status == ENGINE_OK && days.count > 0 ? remove_days(life, arena, place, before) : status;
}

static enum engine_status trim_table(const struct history_life *life, struct arena *arena,
                                     const struct table_definition *table)
{
    assert(table->history.status == HISTORY_ACTIVE && table->history.id != 0);
    int64_t needed_us = needed_from_us(life, table);
    enum engine_status status = ENGINE_OK;
    if (needed_us == INT64_MAX)
        return ENGINE_OK; /* It is about to be closed. */
    for (size_t i = 0; i < table->partition_count && status == ENGINE_OK; i++) {
        const struct engine_place place = history_place(table->history.id, table->partitions[i].id);
        status = trim_partition(life, arena, &place, history_day(needed_us));
    }
    return status;
}

void history_life_trim_soon(struct history_life *life)
{
    life->trim_due_ms = 0;
}

/* Milliseconds until days are to be looked for again. */
static int64_t trim(struct history_life *life, struct arena *arena)
{
    int64_t now_ms = clock_server_ms(life->clock);
    int64_t wait_ms = HISTORY_TRIM_INTERVAL_MS;
    struct bytes after = BYTES("");
    struct table *table;
    bool any = false;
    if (now_ms < life->trim_due_ms)
        return life->trim_due_ms - now_ms;
    while ((table = catalogue_find_next(life->catalogue, after, is_trimmed, NULL)) != NULL) {
        const struct table_definition *definition = table_definition(table);
        enum engine_status status = trim_table(life, arena, definition);
        if (status != ENGINE_OK) {
            log_write(LOG_ERROR, "control", "table %.*s, removal of old history: %s",
                      BYTES_FMT(definition->name), engine_status_name(status));
            wait_ms = CONTROL_FAILURE_RETRY_MS;
        }
        after = arena_copy(arena, definition->name);
        any = true;
        table_release(table);
    }
    life->trim_due_ms = any ? now_ms + wait_ms : 0;
    return any ? wait_ms : TIMED_WAIT_FOREVER;
}

/* --- Runs --- */

/* A history that is there for jobs alone. */
static bool is_held(const struct table_definition *table, void *context)
{
    (void)context;
    return table->recovery_days == 0 && table->history.status == HISTORY_ACTIVE;
}

int64_t history_life_run(struct history_life *life, struct arena *arena)
{
    assert(life->engine != NULL && life->clock != NULL && life->catalogue != NULL);
    const struct table_life_part part = { .name = "change of its history",
                                          .has_step = has_step,
                                          .take_step = take_step,
                                          .context = life };
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    for (int i = 0; i < STEPS_IN_A_ROW; i++)
        wait_ms = table_life_run_part(life->catalogue, arena, &part);
    struct table *next = catalogue_find_next(life->catalogue, BYTES(""), has_step, life);
    if (next != NULL)
        wait_ms = timed_wait_sooner(wait_ms, CONTROL_RETRY_MS);
    table_release(next);
    struct table *held = catalogue_find_next(life->catalogue, BYTES(""), is_held, NULL);
    if (held != NULL)
        wait_ms = timed_wait_sooner(wait_ms, HISTORY_HELD_RETRY_MS);
    table_release(held);
    return timed_wait_sooner(wait_ms, trim(life, arena));
}
