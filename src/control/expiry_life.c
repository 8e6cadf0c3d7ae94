/* expiry_life.c -- see expiry_life.h. */
#include "control/expiry_life.h"
#include <assert.h>
#include "control/table_life.h"
#include "jobs/backfill.h"
#include "jobs/expiry.h"
#include "table/catalogue.h"

/* --- Moves --- */

bool expiry_life_may_move(enum expiry_status from, enum expiry_status to)
{
    static const bool allowed[EXPIRY_STATUS_COUNT][EXPIRY_STATUS_COUNT] = {
        [EXPIRY_NONE] = { [EXPIRY_ALLOCATING] = true },
        [EXPIRY_ALLOCATING] = { [EXPIRY_FILLING] = true },
        [EXPIRY_FILLING] = { [EXPIRY_ACTIVE] = true },
        [EXPIRY_ACTIVE] = { [EXPIRY_REMOVING] = true },
        [EXPIRY_REMOVING] = { [EXPIRY_NONE] = true },
    };
    assert(from < EXPIRY_STATUS_COUNT && to < EXPIRY_STATUS_COUNT);
    return allowed[from][to];
}

void expiry_life_move(struct table_definition *definition, enum expiry_status to)
{
    assert(expiry_life_may_move(definition->expiry.status, to));
    definition->expiry.status = to;
    definition->expiry.filled = (struct bytes){ 0 };
    if (to == EXPIRY_NONE)
        definition->expiry.attribute = (struct bytes){ 0 };
}

/* --- Steps --- */

static bool has_step(const struct table_definition *table, void *context)
{
    (void)context;
    return table->status != TABLE_DELETING &&
           (table->expiry.status == EXPIRY_ALLOCATING || table->expiry.status == EXPIRY_REMOVING);
}

static enum engine_status take_step(void *context, struct arena *arena,
                                    const struct table_definition *table)
{
    assert(has_step(table, context));
    struct expiry_life *life = context;
    struct table_definition changed = *table;
    if (table->expiry.status == EXPIRY_REMOVING) {
        expiry_life_move(&changed, EXPIRY_NONE);
        return catalogue_remove_expiry(life->catalogue, arena, &changed);
    }
    expiry_life_move(&changed, EXPIRY_FILLING);
    enum engine_status status = catalogue_update(life->catalogue, arena, &changed);
    backfill_wake(life->backfill);
    return status;
}

int64_t expiry_life_run(struct expiry_life *life, struct arena *arena)
{
    const struct table_life_part part = { .name = "change of its time to live",
                                          .has_step = has_step,
                                          .take_step = take_step,
                                          .context = life };
    return table_life_run_part(life->catalogue, arena, &part);
}

/* --- Progress of the backfill --- */

enum engine_status expiry_life_save(struct expiry_life *life, struct arena *arena,
                                    const struct backfill_progress *progress)
{
    assert(progress->index_id == BACKFILL_EXPIRY_QUEUE);
    struct table *table = catalogue_find(life->catalogue, progress->table_name);
    enum engine_status status = ENGINE_OK;
    if (table != NULL && table_definition(table)->id == progress->table_id &&
        table_definition(table)->expiry.status == EXPIRY_FILLING) {
        struct table_definition changed = *table_definition(table);
        changed.expiry.filled = progress->position;
        if (progress->complete)
            expiry_life_move(&changed, EXPIRY_ACTIVE);
        status = catalogue_update(life->catalogue, arena, &changed);
        if (progress->complete)
            expiry_wake(life->expiry);
    }
    table_release(table);
    return status;
}
