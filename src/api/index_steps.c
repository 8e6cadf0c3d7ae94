/* index_steps.c -- see index_steps.h. */
#include "api/index_steps.h"
#include <assert.h>
#include "api/control.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "jobs/backfill.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/table_stats.h"

static struct index_definition *find_index(struct table_definition *table, uint64_t id)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].id == id)
            return &table->indexes[i];
    }
    return NULL;
}

static void set_status(struct index_definition *index, enum index_status status)
{
    assert(index_status_may_follow(index->status, status));
    index->status = status;
    index->backfilled = (struct bytes){ 0 };
}

/* --- Steps --- */

/* From now on writes keep the index right, and the job can begin once they all do. */
static enum engine_status begin_backfill(struct api *api, struct arena *arena,
                                         const struct table_definition *table, uint64_t index_id)
{
    struct table_definition changed = table_definition_copy(arena, table);
    set_status(find_index(&changed, index_id), INDEX_BACKFILLING);
    return catalogue_update(api_catalogue(api), arena, &changed);
}

/* Nobody counts or reads its entries any more. The figures go first: as long as the definition has
 * the index, a restart begins again here. */
static enum engine_status remove_index(struct api *api, struct arena *arena,
                                       const struct table_definition *table, uint64_t index_id)
{
    struct table_definition changed = *table;
    table_definition_remove_index(arena, &changed, index_id);
    enum engine_status status = table_stats_drop_others(api_options(api)->engine, &changed);
    if (status == ENGINE_OK)
        status = catalogue_remove_index(api_catalogue(api), arena, &changed, index_id);
    return status;
}

/* The next step of the table's first index that is to take one. ENGINE_END: none is. */
static enum engine_status take_step(struct api *api, struct backfill *backfill, struct arena *arena,
                                    const struct table_definition *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_definition *index = &table->indexes[i];
        if (index->status == INDEX_DELETING)
            return remove_index(api, arena, table, index->id);
        if (index->status == INDEX_ALLOCATING) {
            enum engine_status status = begin_backfill(api, arena, table, index->id);
            backfill_wake(backfill);
            return status;
        }
    }
    return ENGINE_END;
}

static bool has_step(const struct table_definition *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        enum index_status status = table->indexes[i].status;
        if (status == INDEX_ALLOCATING || status == INDEX_DELETING)
            return true;
    }
    return false;
}

/* Milliseconds until it is worth looking at the table again. */
static int64_t run_table(struct api *api, struct backfill *backfill, struct arena *arena,
                         const struct table *table)
{
    const struct table_definition *definition = table_definition(table);
    /* The end of a transient status is looked for anyway. */
    if (!has_step(definition) || definition->status != TABLE_ACTIVE)
        return TIMED_WAIT_FOREVER;
    if (!table_is_only_version(table))
        return CONTROL_RETRY_MS;
    enum engine_status status = take_step(api, backfill, arena, definition);
    if (status == ENGINE_OK || status == ENGINE_END)
        return TIMED_WAIT_FOREVER;
    log_write(LOG_ERROR, "control", "table %.*s, change of an index: %s",
              BYTES_FMT(definition->name), engine_status_name(status));
    return CONTROL_FAILURE_RETRY_MS;
}

int64_t index_steps_run(struct api *api, struct backfill *backfill, struct arena *arena)
{
    struct bytes after = BYTES("");
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    struct table *table;
    while ((table = catalogue_find_index_change(api_catalogue(api), after)) != NULL) {
        wait_ms = timed_wait_sooner(wait_ms, run_table(api, backfill, arena, table));
        after = arena_copy(arena, table_definition(table)->name);
        table_release(table);
    }
    return wait_ms;
}

/* --- Progress of the job --- */

enum engine_status index_steps_save(struct api *api, struct arena *arena,
                                    const struct backfill_progress *progress)
{
    struct table *table = catalogue_find(api_catalogue(api), progress->table_name);
    enum engine_status status = ENGINE_OK;
    if (table != NULL && table_definition(table)->id == progress->table_id) {
        struct table_definition changed = table_definition_copy(arena, table_definition(table));
        struct index_definition *index = find_index(&changed, progress->index_id);
        if (index != NULL && index->status == INDEX_BACKFILLING) {
            index->backfilled = progress->position;
            if (progress->complete)
                set_status(index, INDEX_ACTIVE);
            status = catalogue_update(api_catalogue(api), arena, &changed);
        }
    }
    table_release(table);
    return status;
}
