/* failing_engine.c -- see failing_engine.h. */
#include "failing_engine.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/random.h"
#include "engine/engine_ops.h"

struct failing_engine {
    struct engine base;
    struct engine *inner;
    pthread_mutex_t mutex;
    struct failing_engine_plan plan; /* Guarded by mutex. */
    uint64_t calls;                  /* Guarded by mutex. */
    atomic_int health;
    atomic_int health_calls;
    /* A commit whose completion waits. */
    bool holds_next;
    struct engine_completion holder;
    struct engine_completion *holding; /* Of the commit under way. */
    enum engine_status held_status;
    /* Set when that commit has ended: whoever reads it may touch what the writer has written. */
    struct engine_completion *_Atomic held;

    struct failing_engine_obstacles obstacles;
    struct random random;
    struct failing_wait *waiting; /* Those that the wrapper is in the way of. */
};

struct failing_view {
    struct engine_view base;
    struct engine_view *inner;
};

struct failing_scan {
    struct engine_scan base;
    struct engine_scan *inner;
};

struct failing_write {
    struct engine_write base;
    struct engine_write *inner;
};

/* A write that waits: for failing_engine_resume, or for the inner engine. */
struct failing_wait {
    struct engine_wait base;
    struct engine_wait *outer;
    struct engine *engine;
    struct failing_write *write; /* To be extended; NULL: to be begun. */
    struct engine_address *addresses;
    size_t address_count;
    struct failing_wait *next;
};

/* Stands between the inner engine and the caller's completion. */
struct failing_completion {
    struct engine_completion base;
    struct engine_completion *outer;
    enum engine_status status;
};

static void *alloc(size_t size)
{
    void *block = calloc(1, size);
    assert(block != NULL);
    return block;
}

/* Counts a call and says how it ends: ENGINE_OK to let it through. */
static enum engine_status count_call(struct engine *base, bool is_commit,
                                     struct failing_engine_plan *plan)
{
    struct failing_engine *engine = (struct failing_engine *)base;
    pthread_mutex_lock(&engine->mutex);
    bool strikes = false;
    if (is_commit || !engine->plan.commits_only)
        strikes = ++engine->calls == engine->plan.call;
    *plan = engine->plan;
    pthread_mutex_unlock(&engine->mutex);
    return strikes ? plan->status : ENGINE_OK;
}

static enum engine_status fails(struct engine *base)
{
    struct failing_engine_plan plan;
    return count_call(base, false, &plan);
}

static struct engine *inner_of(struct engine *base)
{
    return ((struct failing_engine *)base)->inner;
}

/* --- Views and scans --- */

static enum engine_status view_open(struct engine *base, enum engine_consistency consistency,
                                    struct engine_view **out)
{
    struct engine_view *inner;
    enum engine_status status = fails(base);
    if (status == ENGINE_OK)
        status = engine_view_open(inner_of(base), consistency, &inner);
    if (status != ENGINE_OK)
        return status;
    struct failing_view *view = alloc(sizeof *view);
    view->base.engine = base;
    view->inner = inner;
    *out = &view->base;
    return ENGINE_OK;
}

static struct engine_view *view_share(struct engine_view *base)
{
    struct failing_view *view = alloc(sizeof *view);
    view->base.engine = base->engine;
    view->inner = engine_view_share(((struct failing_view *)base)->inner);
    return &view->base;
}

static void view_close(struct engine_view *base)
{
    engine_view_close(((struct failing_view *)base)->inner);
    free(base);
}

static enum engine_status view_get(struct engine_view *base, const struct engine_address *address,
                                   struct engine_value *out)
{
    enum engine_status status = fails(base->engine);
    if (status != ENGINE_OK)
        return status;
    return engine_view_get(((struct failing_view *)base)->inner, address, out);
}

static enum engine_status scan_open(struct engine_view *base, const struct engine_range *range,
                                    struct engine_scan **out)
{
    struct engine_scan *inner;
    enum engine_status status = fails(base->engine);
    if (status == ENGINE_OK)
        status = engine_scan_open(((struct failing_view *)base)->inner, range, &inner);
    if (status != ENGINE_OK)
        return status;
    struct failing_scan *scan = alloc(sizeof *scan);
    scan->base.engine = base->engine;
    scan->inner = inner;
    *out = &scan->base;
    return ENGINE_OK;
}

static enum engine_status scan_next(struct engine_scan *base, struct engine_entry *out)
{
    enum engine_status status = fails(base->engine);
    return status != ENGINE_OK ? status
                               : engine_scan_next(((struct failing_scan *)base)->inner, out);
}

static void scan_close(struct engine_scan *base)
{
    engine_scan_close(((struct failing_scan *)base)->inner);
    free(base);
}

static enum engine_status next_place(struct engine_view *base, const struct engine_place *after,
                                     struct engine_place *out)
{
    enum engine_status status = fails(base->engine);
    return status != ENGINE_OK
               ? status
               : engine_view_next_place(((struct failing_view *)base)->inner, after, out);
}

/* --- Writes --- */

static bool happens(struct failing_engine *engine, unsigned percent)
{
    return percent > 0 && random_next(&engine->random) % 100 < percent;
}

static struct engine_write *wrap(struct engine *engine, struct engine_write *inner)
{
    struct failing_write *write = alloc(sizeof *write);
    write->base.engine = engine;
    write->inner = inner;
    return &write->base;
}

static void inner_ready(struct engine_wait *base, enum engine_status status,
                        struct engine_write *inner);

static struct failing_wait *create_wait(struct engine *engine, struct failing_write *write,
                                        const struct engine_address *addresses,
                                        size_t address_count, struct engine_wait *outer)
{
    struct failing_wait *wait = alloc(sizeof *wait);
    wait->base = (struct engine_wait){ .ready = inner_ready, .blocks = outer->blocks };
    wait->outer = outer;
    wait->engine = engine;
    wait->write = write;
    wait->addresses = alloc((address_count + 1) * sizeof *wait->addresses);
    wait->address_count = address_count;
    /* The caller may forget them, keys and all. */
    for (size_t i = 0; i < address_count; i++) {
        uint8_t *key = alloc(addresses[i].key.len + 1);
        if (addresses[i].key.len > 0)
            memcpy(key, addresses[i].key.data, addresses[i].key.len);
        wait->addresses[i] =
            (struct engine_address){ addresses[i].place, bytes_of(key, addresses[i].key.len) };
    }
    return wait;
}

static void destroy_wait(struct failing_wait *wait)
{
    for (size_t i = 0; i < wait->address_count; i++)
        free((void *)wait->addresses[i].key.data);
    free(wait->addresses);
    free(wait);
}

static void inner_ready(struct engine_wait *base, enum engine_status status,
                        struct engine_write *inner)
{
    struct failing_wait *wait = (struct failing_wait *)base;
    struct engine_wait *outer = wait->outer;
    struct engine_write *write = NULL;
    if (wait->write != NULL)
        write = &wait->write->base;
    else if (status == ENGINE_OK)
        write = wrap(wait->engine, inner);
    destroy_wait(wait);
    outer->ready(outer, status, write);
}

/* Asks the inner engine; then the wait is over, or the inner engine's. */
static enum engine_status ask(struct failing_wait *wait, struct engine_write **inner)
{
    return wait->write != NULL ? engine_write_extend_later(wait->write->inner, wait->addresses,
                                                           wait->address_count, &wait->base)
                               : engine_write_begin_later(inner_of(wait->engine), wait->addresses,
                                                          wait->address_count, &wait->base, inner);
}

static void go_on(struct failing_wait *wait)
{
    struct engine_write *inner = NULL;
    enum engine_status status = ask(wait, &inner);
    if (status != ENGINE_WAITING)
        inner_ready(&wait->base, status, inner);
}

/* Begins or extends a write, perhaps later. `inner` is set with ENGINE_OK if it was begun. */
static enum engine_status begin_or_extend(struct failing_wait *wait, struct engine_write **inner)
{
    struct failing_engine *engine = (struct failing_engine *)wait->engine;
    enum engine_status status;
    if (!wait->outer->blocks && happens(engine, engine->obstacles.waits)) {
        wait->next = engine->waiting;
        engine->waiting = wait;
        return ENGINE_WAITING;
    }
    if (!wait->outer->blocks && happens(engine, engine->obstacles.busy))
        status = ENGINE_BUSY;
    else
        status = ask(wait, inner);
    if (status != ENGINE_WAITING)
        destroy_wait(wait);
    return status;
}

static enum engine_status write_begin(struct engine *base, const struct engine_address *addresses,
                                      size_t address_count, struct engine_wait *wait,
                                      struct engine_write **out)
{
    struct engine_write *inner = NULL;
    enum engine_status status = fails(base);
    if (status != ENGINE_OK)
        return status;
    status = begin_or_extend(create_wait(base, NULL, addresses, address_count, wait), &inner);
    if (status == ENGINE_OK)
        *out = wrap(base, inner);
    return status;
}

static enum engine_status write_try(struct engine *base, const struct engine_address *addresses,
                                    size_t address_count, bool *busy, struct engine_write **out)
{
    struct failing_engine *engine = (struct failing_engine *)base;
    struct engine_write *inner = NULL;
    enum engine_status status = fails(base);
    if (status == ENGINE_OK && happens(engine, engine->obstacles.held)) {
        for (size_t i = 0; i < address_count; i++)
            busy[i] = happens(engine, 50);
        return ENGINE_BUSY;
    }
    if (status == ENGINE_OK)
        status = engine_write_try(inner_of(base), addresses, address_count, busy, &inner);
    if (status == ENGINE_OK)
        *out = wrap(base, inner);
    return status;
}

static enum engine_status write_extend(struct engine_write *base,
                                       const struct engine_address *addresses, size_t address_count,
                                       struct engine_wait *wait)
{
    struct engine_write *inner = NULL;
    enum engine_status status = fails(base->engine);
    if (status != ENGINE_OK)
        return status;
    return begin_or_extend(
        create_wait(base->engine, (struct failing_write *)base, addresses, address_count, wait),
        &inner);
}

static enum engine_status write_get(struct engine_write *base, const struct engine_address *address,
                                    struct engine_value *out)
{
    enum engine_status status = fails(base->engine);
    if (status != ENGINE_OK)
        return status;
    return engine_write_get(((struct failing_write *)base)->inner, address, out);
}

static void write_put(struct engine_write *base, const struct engine_address *address,
                      struct bytes value)
{
    engine_write_put(((struct failing_write *)base)->inner, address, value);
}

static void write_delete(struct engine_write *base, const struct engine_address *address)
{
    engine_write_delete(((struct failing_write *)base)->inner, address);
}

static void write_delete_range(struct engine_write *base, const struct engine_place *place,
                               struct bytes first, struct bytes last)
{
    engine_write_delete_range(((struct failing_write *)base)->inner, place, first, last);
}

static void write_delete_owner(struct engine_write *base, uint64_t owner)
{
    engine_write_delete_owner(((struct failing_write *)base)->inner, owner);
}

static void applied_but_failed(struct engine_completion *base, enum engine_status status)
{
    struct failing_completion *completion = (struct failing_completion *)base;
    struct engine_completion *outer = completion->outer;
    if (status == ENGINE_OK)
        status = completion->status;
    free(completion);
    outer->done(outer, status);
}

static void keep_status(struct engine_completion *base, enum engine_status status)
{
    struct failing_engine *engine =
        (struct failing_engine *)((char *)base - offsetof(struct failing_engine, holder));
    engine->held_status = status;
    atomic_store(&engine->held, engine->holding);
}

static void hold(struct failing_engine *engine, struct engine_write *inner,
                 struct engine_completion *completion)
{
    engine->holds_next = false;
    engine->holding = completion;
    engine->holder.done = keep_status;
    engine_write_commit(inner, &engine->holder);
}

static void write_commit(struct engine_write *base, struct engine_completion *completion)
{
    struct engine_write *inner = ((struct failing_write *)base)->inner;
    struct failing_engine *engine = (struct failing_engine *)base->engine;
    struct failing_engine_plan plan;
    enum engine_status status = count_call(base->engine, true, &plan);
    free(base);
    if (status == ENGINE_OK && engine->holds_next) {
        hold(engine, inner, completion);
    } else if (status == ENGINE_OK) {
        engine_write_commit(inner, completion);
    } else if (plan.applied) {
        struct failing_completion *failing = alloc(sizeof *failing);
        failing->base.done = applied_but_failed;
        failing->outer = completion;
        failing->status = status;
        engine_write_commit(inner, &failing->base);
    } else {
        engine_write_abandon(inner);
        completion->done(completion, status);
    }
}

static void write_abandon(struct engine_write *base)
{
    engine_write_abandon(((struct failing_write *)base)->inner);
    free(base);
}

/* --- Engine --- */

static void close_engine(struct engine *base)
{
    struct failing_engine *engine = (struct failing_engine *)base;
    assert(engine->waiting == NULL);
    engine_close(engine->inner);
    pthread_mutex_destroy(&engine->mutex);
    free((void *)engine->base.ops);
    free(engine);
}

static enum engine_status checkpoint(struct engine *base, const char *path)
{
    enum engine_status status = fails(base);
    return status != ENGINE_OK ? status : engine_checkpoint(inner_of(base), path);
}

static enum engine_health health(const struct engine *engine)
{
    struct failing_engine *failing = (struct failing_engine *)(uintptr_t)engine;
    atomic_fetch_add(&failing->health_calls, 1);
    return (enum engine_health)atomic_load(&failing->health);
}

void failing_engine_set_health(struct engine *engine, enum engine_health value)
{
    atomic_store(&((struct failing_engine *)engine)->health, (int)value);
}

int failing_engine_health_calls(struct engine *engine)
{
    return atomic_load(&((struct failing_engine *)engine)->health_calls);
}

static const struct engine_ops ops_template = {
    .close = close_engine,
    .health = health,
    .checkpoint = checkpoint,
    .view_open = view_open,
    .view_share = view_share,
    .view_close = view_close,
    .view_get = view_get,
    .scan_open = scan_open,
    .scan_next = scan_next,
    .scan_close = scan_close,
    .next_place = next_place,
    .write_begin = write_begin,
    .write_try = write_try,
    .write_extend = write_extend,
    .write_get = write_get,
    .write_put = write_put,
    .write_delete = write_delete,
    .write_delete_range = write_delete_range,
    .write_delete_owner = write_delete_owner,
    .write_commit = write_commit,
    .write_abandon = write_abandon,
};

struct engine *failing_engine_create(struct engine *inner)
{
    struct failing_engine *engine = alloc(sizeof *engine);
    struct engine_ops *ops = alloc(sizeof *ops);
    *ops = ops_template;
    ops->capabilities = engine_capabilities(inner); /* As able as what it wraps. */
    engine->base.ops = ops;
    engine->inner = inner;
    pthread_mutex_init(&engine->mutex, NULL);
    return &engine->base;
}

void failing_engine_set(struct engine *base, const struct failing_engine_plan *plan)
{
    struct failing_engine *engine = (struct failing_engine *)base;
    pthread_mutex_lock(&engine->mutex);
    engine->plan = *plan;
    engine->calls = 0;
    pthread_mutex_unlock(&engine->mutex);
}

void failing_engine_hold_commit(struct engine *base)
{
    ((struct failing_engine *)base)->holds_next = true;
}

void failing_engine_let_go(struct engine *base)
{
    struct failing_engine *engine = (struct failing_engine *)base;
    struct engine_completion *held;
    while ((held = atomic_exchange(&engine->held, NULL)) == NULL)
        usleep(1000);
    held->done(held, engine->held_status);
}

void failing_engine_obstruct(struct engine *base, const struct failing_engine_obstacles *obstacles)
{
    struct failing_engine *engine = (struct failing_engine *)base;
    engine->obstacles = *obstacles;
    random_init(&engine->random, obstacles->seed);
}

bool failing_engine_resume(struct engine *base)
{
    struct failing_engine *engine = (struct failing_engine *)base;
    struct failing_wait **link = &engine->waiting;
    if (*link == NULL)
        return false;
    while ((*link)->next != NULL && happens(engine, 50))
        link = &(*link)->next;
    struct failing_wait *wait = *link;
    *link = wait->next;
    go_on(wait);
    return true;
}

uint64_t failing_engine_calls(struct engine *base)
{
    struct failing_engine *engine = (struct failing_engine *)base;
    pthread_mutex_lock(&engine->mutex);
    uint64_t calls = engine->calls;
    pthread_mutex_unlock(&engine->mutex);
    return calls;
}

bool failing_engine_struck(struct engine *base)
{
    struct failing_engine *engine = (struct failing_engine *)base;
    pthread_mutex_lock(&engine->mutex);
    bool struck = engine->plan.call != 0 && engine->calls >= engine->plan.call;
    pthread_mutex_unlock(&engine->mutex);
    return struck;
}
