/* expiry_steps.c -- see expiry_steps.h. */
#include "api/expiry_steps.h"
#include <assert.h>
#include "api/control.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "jobs/backfill.h"
#include "jobs/expiry.h"
#include "table/catalogue.h"

void expiry_steps_set_status(struct table_definition *definition, enum expiry_status status)
{
    assert(expiry_status_may_follow(definition->expiry.status, status));
    definition->expiry.status = status;
    definition->expiry.filled = (struct bytes){ 0 };
    if (status == EXPIRY_NONE)
        definition->expiry.attribute = (struct bytes){ 0 };
}

/* --- Steps --- */

static bool has_step(const struct table_definition *table, void *context)
{
    (void)context;
    return table->expiry.status == EXPIRY_ALLOCATING || table->expiry.status == EXPIRY_REMOVING;
}

static enum engine_status take_step(struct api *api, struct backfill *backfill, struct arena *arena,
                                    const struct table_definition *table)
{
    struct table_definition changed = *table;
    if (table->expiry.status == EXPIRY_REMOVING) {
        expiry_steps_set_status(&changed, EXPIRY_NONE);
        return catalogue_remove_expiry(api_catalogue(api), arena, &changed);
    }
    expiry_steps_set_status(&changed, EXPIRY_FILLING);
    enum engine_status status = catalogue_update(api_catalogue(api), arena, &changed);
    backfill_wake(backfill);
    return status;
}

/* Milliseconds until it is worth looking at the table again. */
static int64_t run_table(struct api *api, struct backfill *backfill, struct arena *arena,
                         const struct table *table)
{
    const struct table_definition *definition = table_definition(table);
    if (definition->status == TABLE_DELETING)
        return TIMED_WAIT_FOREVER;
    if (!table_is_only_version(table))
        return CONTROL_RETRY_MS;
    enum engine_status status = take_step(api, backfill, arena, definition);
    if (status == ENGINE_OK)
        return TIMED_WAIT_FOREVER;
    log_write(LOG_ERROR, "control", "table %.*s, change of its time to live: %s",
              BYTES_FMT(definition->name), engine_status_name(status));
    return CONTROL_FAILURE_RETRY_MS;
}

int64_t expiry_steps_run(struct api *api, struct backfill *backfill, struct arena *arena)
{
    struct bytes after = BYTES("");
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    struct table *table;
    while ((table = catalogue_find_next(api_catalogue(api), after, has_step, NULL)) != NULL) {
        wait_ms = timed_wait_sooner(wait_ms, run_table(api, backfill, arena, table));
        after = arena_copy(arena, table_definition(table)->name);
        table_release(table);
    }
    return wait_ms;
}

/* --- Progress of the job --- */

enum engine_status expiry_steps_save(struct api *api, struct expiry *expiry, struct arena *arena,
                                     const struct backfill_progress *progress)
{
    struct table *table = catalogue_find(api_catalogue(api), progress->table_name);
    enum engine_status status = ENGINE_OK;
    if (table != NULL && table_definition(table)->id == progress->table_id &&
        table_definition(table)->expiry.status == EXPIRY_FILLING) {
        struct table_definition changed = *table_definition(table);
        changed.expiry.filled = progress->position;
        if (progress->complete)
            expiry_steps_set_status(&changed, EXPIRY_ACTIVE);
        status = catalogue_update(api_catalogue(api), arena, &changed);
        if (progress->complete)
            expiry_wake(expiry);
    }
    table_release(table);
    return status;
}
