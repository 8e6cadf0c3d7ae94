/* commit_engine.c -- see commit_engine.h: opening, writes, closing.
 *
 * Writes of this server first take latches, as the embedded engine's do, so that they wait for one
 * another in a fair order instead of refusing each other. Against other servers the protocol
 * decides.
 */
#include "engine/commit/commit_engine.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/memory.h"
#include "engine/commit/commit_store.h"

struct commit_write {
    struct engine_write base;
    struct latches_held held;
    struct engine_wait *wait;
    struct arena *arena;
    struct commit_txn txn;
};

static struct commit_write *create_write(struct commit_engine *engine,
                                         const struct engine_address *addresses,
                                         size_t address_count)
{
    struct commit_write *write = memory_checked(calloc(1, sizeof *write));
    write->base.engine = &engine->base;
    write->arena = arena_create();
    commit_txn_init(&write->txn, &engine->core, write->arena);
    for (size_t i = 0; i < address_count; i++)
        commit_txn_want(&write->txn, &addresses[i]);
    pthread_mutex_lock(&engine->mutex);
    engine->writes++;
    pthread_mutex_unlock(&engine->mutex);
    return write;
}

static void destroy_write(struct commit_write *write)
{
    struct commit_engine *engine = (struct commit_engine *)write->base.engine;
    arena_destroy(write->arena);
    free(write);
    pthread_mutex_lock(&engine->mutex);
    if (--engine->writes == 0)
        pthread_cond_broadcast(&engine->idle);
    pthread_mutex_unlock(&engine->mutex);
}

static void end_write(struct commit_write *write)
{
    latches_release(&((struct commit_engine *)write->base.engine)->latches, &write->held);
    destroy_write(write);
}

static struct commit_write *of_held(struct latches_held *held)
{
    return (struct commit_write *)((char *)held - offsetof(struct commit_write, held));
}

static void begun(struct latches_held *held, bool taken)
{
    struct commit_write *write = of_held(held);
    struct engine_wait *wait = write->wait;
    if (!taken)
        destroy_write(write);
    wait->ready(wait, taken ? ENGINE_OK : ENGINE_BUSY, taken ? &write->base : NULL);
}

static enum engine_status write_begin(struct engine *base, const struct engine_address *addresses,
                                      size_t address_count, struct engine_wait *wait,
                                      struct engine_write **out)
{
    struct commit_engine *engine = (struct commit_engine *)base;
    struct commit_write *write = create_write(engine, addresses, address_count);
    write->wait = wait;
    write->held.ready = begun;
    write->held.thread = wait->thread;
    if (!latches_take(&engine->latches, addresses, address_count, &write->held))
        return ENGINE_WAITING; /* `write` is the latches'. */
    *out = &write->base;
    return ENGINE_OK;
}

static enum engine_status write_try(struct engine *base, const struct engine_address *addresses,
                                    size_t address_count, bool *busy, struct engine_write **out)
{
    struct commit_engine *engine = (struct commit_engine *)base;
    struct commit_write *write = create_write(engine, addresses, address_count);
    if (!latches_try(&engine->latches, addresses, address_count, &write->held, busy)) {
        destroy_write(write);
        return ENGINE_BUSY;
    }
    *out = &write->base;
    return ENGINE_OK;
}

static void extended(struct latches_held *held, bool taken)
{
    struct commit_write *write = of_held(held);
    write->wait->ready(write->wait, taken ? ENGINE_OK : ENGINE_BUSY, &write->base);
}

static enum engine_status write_extend(struct engine_write *base,
                                       const struct engine_address *addresses, size_t address_count,
                                       struct engine_wait *wait)
{
    struct commit_write *write = (struct commit_write *)base;
    write->wait = wait;
    write->held.ready = extended;
    write->held.thread = wait->thread;
    for (size_t i = 0; i < address_count; i++)
        commit_txn_want(&write->txn, &addresses[i]);
    return latches_take_shared(&((struct commit_engine *)base->engine)->latches, addresses,
                               address_count, &write->held)
               ? ENGINE_OK
               : ENGINE_WAITING;
}

static enum engine_status write_get(struct engine_write *base, const struct engine_address *address,
                                    struct engine_value *out)
{
    struct bytes payload = { 0 };
    uint64_t version;
    enum engine_status status =
        commit_txn_get(&((struct commit_write *)base)->txn, address, &payload, &version);
    if (status == ENGINE_OK)
        commit_value_set(out, payload);
    return status;
}

static void write_put(struct engine_write *base, const struct engine_address *address,
                      struct bytes value)
{
    commit_txn_put(&((struct commit_write *)base)->txn, address, value);
}

static void write_delete(struct engine_write *base, const struct engine_address *address)
{
    commit_txn_delete(&((struct commit_write *)base)->txn, address);
}

static void write_commit(struct engine_write *base, struct engine_completion *completion)
{
    struct commit_write *write = (struct commit_write *)base;
    completion->done(completion, commit_txn_commit(&write->txn));
    commit_txn_finish(&write->txn);
    end_write(write);
}

static void write_abandon(struct engine_write *base)
{
    end_write((struct commit_write *)base);
}

static void destroy(struct commit_engine *engine)
{
    struct partition_store *store = engine->core.store;
    commit_core_deinit(&engine->core);
    pthread_cond_destroy(&engine->idle);
    pthread_mutex_destroy(&engine->mutex);
    free(engine);
    store->ops->close(store);
}

static void close_engine(struct engine *base)
{
    struct commit_engine *engine = (struct commit_engine *)base;
    pthread_mutex_lock(&engine->mutex);
    while (engine->writes > 0)
        pthread_cond_wait(&engine->idle, &engine->mutex);
    pthread_mutex_unlock(&engine->mutex);
    latches_deinit(&engine->latches);
    destroy(engine);
}

static const struct engine_ops commit_ops = {
    .close = close_engine,
    .view_open = commit_view_open,
    .view_share = commit_view_share,
    .view_close = commit_view_close,
    .view_get = commit_view_get,
    .scan_open = commit_scan_open,
    .scan_next = commit_scan_next,
    .scan_close = commit_scan_close,
    .next_place = commit_view_next_place,
    .write_begin = write_begin,
    .write_try = write_try,
    .write_extend = write_extend,
    .write_get = write_get,
    .write_put = write_put,
    .write_delete = write_delete,
    .write_commit = write_commit,
    .write_abandon = write_abandon,
};

struct engine *commit_engine_create(struct partition_store *store, const struct commit_time *time,
                                    uint64_t server, char message[ENGINE_MESSAGE_MAX])
{
    struct commit_engine *engine = memory_checked(calloc(1, sizeof *engine));
    engine->ops = commit_ops;
    engine->ops.capabilities = ENGINE_GLOBAL_ATOMIC;
    if (store->ops->reverse)
        engine->ops.capabilities |= ENGINE_REVERSE;
    engine->base.ops = &engine->ops;
    commit_core_init(&engine->core, store, time, server);
    pthread_mutex_init(&engine->mutex, NULL);
    pthread_cond_init(&engine->idle, NULL);
    if (latches_init(&engine->latches, ENGINE_WRITE_WAIT_MS))
        return &engine->base;
    snprintf(message, ENGINE_MESSAGE_MAX, "the system has no thread left");
    destroy(engine);
    return NULL;
}

enum engine_status commit_engine_sweep(struct engine *base)
{
    struct commit_core *core = &((struct commit_engine *)base)->core;
    struct partition_id id, next;
    bool has_id = false;
    for (;;) {
        enum partition_status found =
            core->store->ops->next_partition(core->store, has_id ? &id : NULL, &next);
        if (found != PARTITION_OK)
            return found == PARTITION_REFUSED ? ENGINE_OK : commit_core_status(found);
        enum engine_status status = commit_core_sweep(core, &next);
        if (status != ENGINE_OK)
            return status;
        id = next;
        has_id = true;
    }
}
