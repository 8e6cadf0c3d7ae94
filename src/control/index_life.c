/* index_life.c -- see index_life.h. */
#include "control/index_life.h"
#include <assert.h>
#include "control/table_life.h"
#include "jobs/backfill.h"
#include "table/catalogue.h"
#include "table/table_stats.h"

/* --- Moves --- */

bool index_life_may_move(enum index_status from, enum index_status to)
{
    static const bool allowed[INDEX_STATUS_COUNT][INDEX_STATUS_COUNT] = {
        [INDEX_ALLOCATING] = { [INDEX_BACKFILLING] = true },
        [INDEX_BACKFILLING] = { [INDEX_ACTIVE] = true, [INDEX_DELETING] = true },
        [INDEX_ACTIVE] = { [INDEX_DELETING] = true },
        [INDEX_DELETING] = { false },
    };
    assert(from < INDEX_STATUS_COUNT && to < INDEX_STATUS_COUNT);
    return allowed[from][to];
}

void index_life_move(struct index_definition *index, enum index_status to)
{
    assert(index != NULL && index_life_may_move(index->status, to));
    index->status = to;
    index->backfilled = (struct bytes){ 0 };
}

static struct index_definition *find_index(struct table_definition *table, uint64_t id)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].id == id)
            return &table->indexes[i];
    }
    return NULL;
}

/* --- Steps --- */

/* From here on every write keeps the index right, so the job can begin. */
static enum engine_status begin_backfill(struct index_life *life, struct arena *arena,
                                         const struct table_definition *table, uint64_t index_id)
{
    struct table_definition changed = table_definition_copy(arena, table);
    index_life_move(find_index(&changed, index_id), INDEX_BACKFILLING);
    enum engine_status status = catalogue_update(life->catalogue, arena, &changed);
    backfill_wake(life->backfill);
    return status;
}

/* Nobody counts or reads its entries any more. The statistics go first: as long as the definition
 * has the index, a restart repeats this step. */
static enum engine_status remove_index(struct index_life *life, struct arena *arena,
                                       const struct table_definition *table, uint64_t index_id)
{
    struct table_definition changed = *table;
    table_definition_remove_index(arena, &changed, index_id);
    enum engine_status status = table_stats_drop_others(life->engine, &changed);
    if (status == ENGINE_OK)
        status = catalogue_remove_index(life->catalogue, arena, &changed, index_id);
    return status;
}

/* The first index that is to take a step, or NULL. */
static const struct index_definition *index_with_step(const struct table_definition *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        enum index_status status = table->indexes[i].status;
        if (status == INDEX_ALLOCATING || status == INDEX_DELETING)
            return &table->indexes[i];
    }
    return NULL;
}

static bool has_step(const struct table_definition *table, void *context)
{
    (void)context;
    return table->status == TABLE_ACTIVE && index_with_step(table) != NULL;
}

static enum engine_status take_step(void *context, struct arena *arena,
                                    const struct table_definition *table)
{
    const struct index_definition *index = index_with_step(table);
    assert(index != NULL);
    return index->status == INDEX_DELETING ? remove_index(context, arena, table, index->id)
                                           : begin_backfill(context, arena, table, index->id);
}

int64_t index_life_run(struct index_life *life, struct arena *arena)
{
    const struct table_life_part part = {
        .name = "change of an index", .has_step = has_step, .take_step = take_step, .context = life
    };
    return table_life_run_part(life->catalogue, arena, &part);
}

/* --- Progress of the backfill --- */

enum engine_status index_life_save(struct catalogue *catalogue, struct arena *arena,
                                   const struct backfill_progress *progress)
{
    assert(progress->index_id != BACKFILL_EXPIRY_QUEUE);
    struct table *table = catalogue_find(catalogue, progress->table_name);
    enum engine_status status = ENGINE_OK;
    if (table != NULL && table_definition(table)->id == progress->table_id) {
        struct table_definition changed = table_definition_copy(arena, table_definition(table));
        struct index_definition *index = find_index(&changed, progress->index_id);
        if (index != NULL && index->status == INDEX_BACKFILLING) {
            index->backfilled = progress->position;
            if (progress->complete)
                index_life_move(index, INDEX_ACTIVE);
            status = catalogue_update(catalogue, arena, &changed);
        }
    }
    table_release(table);
    return status;
}
