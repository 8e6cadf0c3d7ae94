/* replica_collect.c -- removes stamps that every region is past, and ends groups without members.
 * See replicas.h. */
#include "base/arena.h"
#include <assert.h>
#include "base/clock.h"
#include "base/log.h"
#include "model/table_definition.h"
#include "replica/replica_internal.h"
#include "replica/replica_rows.h"
#include "table/catalogue.h"

static bool is_group(const struct table_definition *table, void *context)
{
    (void)context;
    return replica_definition_is_group(&table->replicas);
}

static struct replica_link *first_link_locked(struct replicas *replicas,
                                              const struct replica_definition *group)
{
    struct replica_peer_state *peer = replica_peer_find(replicas, group->members[0].region);
    return peer == NULL ? NULL : replica_link_find_locked(peer, group);
}

static struct replica_collected last_time(struct replicas *replicas,
                                          const struct replica_definition *group)
{
    pthread_mutex_lock(&replicas->mutex);
    const struct replica_link *link = first_link_locked(replicas, group);
    struct replica_collected last =
        link == NULL ? (struct replica_collected){ 0 } : link->collected;
    pthread_mutex_unlock(&replicas->mutex);
    return last;
}

static void note(struct replicas *replicas, const struct replica_definition *group,
                 struct replica_collected collected)
{
    pthread_mutex_lock(&replicas->mutex);
    struct replica_link *link = first_link_locked(replicas, group);
    if (link != NULL)
        link->collected = collected;
    pthread_mutex_unlock(&replicas->mutex);
}

/* Once no write with an older definition can queue anything for a region that was taken out, what
 * waits for it is removed: on the control thread, so that it cannot join anew meanwhile. */
static enum engine_status sweep_table(struct replicas *replicas, struct arena *arena,
                                      const struct table *table, struct replica_collected *last)
{
    const struct table_definition *definition = table_definition(table);
    bool found;
    if (last->swept_epoch == definition->replicas.epoch || !table_is_only_version(table))
        return ENGINE_OK;
    enum engine_status status =
        replica_rows_find_strangers(arena, replicas->options.engine, definition, &found);
    if (status == ENGINE_OK && found)
        return replica_step_take(replicas, definition, REPLICA_STEP_SWEEP, BYTES(""));
    if (status == ENGINE_OK)
        last->swept_epoch = definition->replicas.epoch;
    return status;
}

/* Nothing is looked at while the low time stays, as it does while a member is away: no stamp that
 * is stored meanwhile is so old. */
static enum engine_status collect_stamps(struct replicas *replicas, struct arena *arena,
                                         const struct table_definition *definition,
                                         struct replica_collected *last)
{
    int64_t low_us = replicas_low_us(replicas, definition);
    enum engine_status status = ENGINE_OK;
    uint64_t removed = 0;
    if (low_us <= 0 || last->low_us == low_us)
        return ENGINE_OK;
    for (size_t i = 0; i < definition->partition_count && status == ENGINE_OK; i++) {
        struct replica_walk walk = { .engine = replicas->options.engine,
                                     .table = definition,
                                     .partition = definition->partitions[i].id };
        while (!walk.ended && status == ENGINE_OK && !job_thread_is_stopping(&replicas->collector))
            status = replica_rows_collect(arena, &walk, low_us, &removed);
    }
    if (status == ENGINE_OK && !job_thread_is_stopping(&replicas->collector))
        last->low_us = low_us;
    return status;
}

static enum engine_status collect_table(struct replicas *replicas, struct arena *arena,
                                        const struct table *table)
{
    const struct replica_definition *group = &table_definition(table)->replicas;
    struct replica_collected last = last_time(replicas, group);
    arena_reset(arena);
    enum engine_status status = sweep_table(replicas, arena, table, &last);
    if (status == ENGINE_OK)
        status = collect_stamps(replicas, arena, table_definition(table), &last);
    note(replicas, group, last);
    return status;
}

/* Whether all that was written in any region before this one began to leave is in all of them. What
 * is written here until it has left stays here. */
static bool may_leave(struct replicas *replicas, const struct table_definition *table)
{
    const struct replica_definition *group = &table->replicas;
    bool is_leaving = group->own.status == REPLICA_DISASSOCIATING, complete = is_leaving;
    int64_t now_us = clock_commit_now_us(replicas->options.clock);
    pthread_mutex_lock(&replicas->mutex);
    for (size_t i = 0; i < group->count; i++) {
        struct replica_peer_state *peer = replica_peer_find(replicas, group->members[i].region);
        struct replica_link *link = peer == NULL ? NULL : replica_link_find_locked(peer, group);
        if (link == NULL) {
            complete = false;
            continue;
        }
        if (!is_leaving || link->leaving_us == 0)
            link->leaving_us = is_leaving ? now_us : 0;
        complete = complete && link->closed_us >= link->leaving_us &&
                   link->received_us >= link->leaving_us;
    }
    pthread_mutex_unlock(&replicas->mutex);
    return complete;
}

static enum engine_status serve(struct replicas *replicas, struct arena *arena,
                                const struct table *table)
{
    const struct table_definition *definition = table_definition(table);
    if (definition->replicas.count > 0 && may_leave(replicas, definition))
        return replica_step_take(replicas, definition, REPLICA_STEP_LEAVE, BYTES(""));
    if (definition->replicas.count > 0)
        return collect_table(replicas, arena, table);
    if (definition->replicas.own.status == REPLICA_CREATING && definition->status == TABLE_CREATING)
        return replica_step_take(replicas, definition, REPLICA_STEP_DROP, BYTES(""));
    /* No write with an older version of the definition may store a stamp afterwards. */
    if (definition->replicas.own.status != REPLICA_ACTIVE || !table_is_only_version(table))
        return ENGINE_OK;
    return replica_step_take(replicas, definition, REPLICA_STEP_END, BYTES(""));
}

int64_t replica_collect_round(void *context)
{
    struct replicas *replicas = context;
    struct catalogue *catalogue = replicas->options.catalogue;
    struct arena *arena = arena_create(), *names = arena_create();
    struct bytes after = BYTES("");
    struct table *table;
    while (!job_thread_is_stopping(&replicas->collector) &&
           (table = catalogue_find_next(catalogue, after, is_group, NULL)) != NULL) {
        const struct table_definition *definition = table_definition(table);
        after = arena_copy(names, definition->name);
        enum engine_status status = serve(replicas, arena, table);
        if (status != ENGINE_OK && status != ENGINE_BUSY)
            log_write(LOG_ERROR, "replica", "table %.*s: removing old stamps: %s", BYTES_FMT(after),
                      engine_status_name(status));
        table_release(table);
    }
    arena_destroy(names);
    arena_destroy(arena);
    return REPLICA_COLLECT_MS;
}
