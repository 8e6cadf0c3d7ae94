/* table_life.c -- see table_life.h. */
#include "control/table_life.h"
#include <assert.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "control/control.h"
#include "table/catalogue.h"

/* --- Moves --- */

bool table_life_may_move(enum table_status from, enum table_status to)
{
    static const bool allowed[TABLE_STATUS_COUNT][TABLE_STATUS_COUNT] = {
        [TABLE_CREATING] = { [TABLE_ACTIVE] = true },
        [TABLE_ACTIVE] = { [TABLE_UPDATING] = true, [TABLE_DELETING] = true },
        [TABLE_UPDATING] = { [TABLE_ACTIVE] = true },
        [TABLE_DELETING] = { false },
    };
    assert(from < TABLE_STATUS_COUNT && to < TABLE_STATUS_COUNT);
    return allowed[from][to];
}

bool table_life_may_delete(const struct table_definition *definition)
{
    return table_life_may_move(definition->status, TABLE_DELETING) ||
           (definition->status == TABLE_CREATING &&
            replica_definition_is_group(&definition->replicas) &&
            definition->replicas.own.status == REPLICA_CREATING);
}

static void become_active(struct table_definition *definition)
{
    assert(table_life_may_move(definition->status, TABLE_ACTIVE));
    definition->status = TABLE_ACTIVE;
    definition->transition_at_ms = 0;
}

void table_life_begin(struct table_definition *definition, enum table_status transient,
                      const struct table_life_pace *pace)
{
    assert(transient != TABLE_ACTIVE);
    assert(transient == TABLE_CREATING || table_life_may_move(definition->status, transient) ||
           (transient == TABLE_DELETING && table_life_may_delete(definition)));
    assert(pace->transition_ms >= 0);
    definition->status = transient;
    definition->transition_at_ms = pace->now_ms + pace->transition_ms;
    if (pace->transition_ms == 0)
        become_active(definition);
}

void table_life_end_origin(struct table_definition *definition)
{
    assert(definition->origin.kind != TABLE_ORIGIN_NONE);
    definition->origin = (struct origin_definition){ 0 };
    become_active(definition);
}

enum engine_status table_life_delete(struct catalogue *catalogue, struct arena *arena,
                                     const struct table_definition *definition,
                                     const struct table_life_pace *pace)
{
    assert(table_life_may_delete(definition));
    if (pace->transition_ms == 0)
        return catalogue_drop(catalogue, arena, definition->name);
    struct table_definition changed = *definition;
    table_life_begin(&changed, TABLE_DELETING, pace);
    return catalogue_update(catalogue, arena, &changed);
}

/* --- Steps of tables --- */

static enum engine_status end_transition(struct catalogue *catalogue, struct arena *arena,
                                         const struct table_definition *definition)
{
    assert(definition->status != TABLE_ACTIVE);
    if (definition->status == TABLE_DELETING)
        return catalogue_drop(catalogue, arena, definition->name);
    struct table_definition changed = *definition;
    become_active(&changed);
    return catalogue_update(catalogue, arena, &changed);
}

static int64_t end_transitions(struct catalogue *catalogue, struct arena *arena,
                               const struct table_life_pace *pace)
{
    for (;;) {
        struct table *table = catalogue_find_transient(catalogue);
        if (table == NULL)
            return TIMED_WAIT_FOREVER;
        const struct table_definition *definition = table_definition(table);
        int64_t wait_ms = definition->transition_at_ms - pace->now_ms;
        if (wait_ms > pace->transition_ms)
            wait_ms = 0; /* The wall clock was set back, or the setting has changed. */
        enum engine_status status =
            wait_ms > 0 ? ENGINE_OK : end_transition(catalogue, arena, definition);
        table_release(table);
        if (wait_ms > 0)
            return wait_ms;
        if (status != ENGINE_OK) {
            log_write(LOG_ERROR, "control", "end of a table's transition: %s",
                      engine_status_name(status));
            return CONTROL_FAILURE_RETRY_MS;
        }
    }
}

static int64_t remove_dropped(struct catalogue *catalogue, struct arena *arena)
{
    bool waiting = false;
    enum engine_status status = ENGINE_OK;
    while (status == ENGINE_OK)
        status = catalogue_remove_dropped(catalogue, arena, &waiting);
    if (status == ENGINE_END && waiting)
        return catalogue_waits_for_jobs(catalogue) ? CONTROL_JOB_RETRY_MS : CONTROL_RETRY_MS;
    if (status == ENGINE_END)
        return TIMED_WAIT_FOREVER;
    log_write(LOG_ERROR, "control", "removal of a dropped table: %s", engine_status_name(status));
    return CONTROL_FAILURE_RETRY_MS;
}

int64_t table_life_run(struct catalogue *catalogue, struct arena *arena,
                       const struct table_life_pace *pace)
{
    int64_t wait_ms = end_transitions(catalogue, arena, pace);
    return timed_wait_sooner(wait_ms, remove_dropped(catalogue, arena));
}

/* --- Steps of parts --- */

/* Milliseconds until it is worth looking at the table again. */
static int64_t step_table(const struct table *table, struct arena *arena,
                          const struct table_life_part *part)
{
    const struct table_definition *definition = table_definition(table);
    if (!table_is_only_version(table))
        return CONTROL_RETRY_MS;
    enum engine_status status = part->take_step(part->context, arena, definition);
    if (status == ENGINE_OK)
        return TIMED_WAIT_FOREVER;
    log_write(LOG_ERROR, "control", "table %.*s, %s: %s", BYTES_FMT(definition->name), part->name,
              engine_status_name(status));
    return CONTROL_FAILURE_RETRY_MS;
}

int64_t table_life_run_part(struct catalogue *catalogue, struct arena *arena,
                            const struct table_life_part *part)
{
    assert(part->name != NULL && part->has_step != NULL && part->take_step != NULL);
    struct bytes after = BYTES("");
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    struct table *table;
    while ((table = catalogue_find_next(catalogue, after, part->has_step, part->context)) != NULL) {
        wait_ms = timed_wait_sooner(wait_ms, step_table(table, arena, part));
        after = arena_copy(arena, table_definition(table)->name);
        table_release(table);
    }
    return wait_ms;
}
