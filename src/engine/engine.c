/* engine.c -- checks what callers promise, then hands the call to the engine.
 *
 * The preconditions of engine.h are asserted here, once, so that no engine repeats them. Nothing is
 * asserted about bytes from the disk or the network.
 */
#include "engine/engine.h"
#include <assert.h>
#include <pthread.h>
#include "engine/engine_ops.h"
#include "engine/engine_plan.h"

const char *engine_status_name(enum engine_status status)
{
    switch (status) {
    case ENGINE_OK:
        return "ok";
    case ENGINE_NOT_FOUND:
        return "not found";
    case ENGINE_END:
        return "end";
    case ENGINE_CONFLICT:
        return "conflict";
    case ENGINE_BUSY:
        return "busy";
    case ENGINE_WAITING:
        return "waiting";
    case ENGINE_UNKNOWN:
        return "outcome unknown";
    case ENGINE_CORRUPT:
        return "corrupt";
    case ENGINE_FULL:
        return "no space left";
    case ENGINE_IO:
        return "input/output error";
    case ENGINE_LOST:
        return "the data directory was removed";
    case ENGINE_TOO_LARGE:
        return "too large";
    case ENGINE_UNSUPPORTED:
        return "unsupported";
    }
    assert(false && "a status outside the enum");
    return "";
}

static bool bytes_valid(struct bytes bytes)
{
    return bytes.len == 0 || bytes.data != NULL;
}

static bool place_valid(const struct engine_place *place)
{
    return place->space >= ENGINE_SPACE_CATALOGUE && place->space <= ENGINE_SPACE_MONITORS &&
           place->owner < ENGINE_OWNER_MAX;
}

static bool address_valid(const struct engine_address *address)
{
    return place_valid(&address->place) && bytes_valid(address->key) &&
           address->key.len <= ENGINE_KEY_SIZE_MAX;
}

unsigned engine_capabilities(const struct engine *engine)
{
    return engine->ops->capabilities;
}

void engine_close(struct engine *engine)
{
    if (engine != NULL)
        engine->ops->close(engine);
}

void engine_read_statistics(struct engine *engine, struct engine_statistics *out)
{
    *out = (struct engine_statistics){ 0 };
    if (engine->ops->read_statistics != NULL)
        engine->ops->read_statistics(engine, out);
}

enum engine_health engine_health(const struct engine *engine)
{
    return engine->ops->health == NULL ? ENGINE_HEALTH_OK : engine->ops->health(engine);
}

enum engine_status engine_checkpoint(struct engine *engine, const char *path)
{
    assert(path != NULL && path[0] != '\0');
    if ((engine_capabilities(engine) & ENGINE_CHECKPOINT) == 0)
        return ENGINE_UNSUPPORTED;
    return engine->ops->checkpoint(engine, path);
}

enum engine_status engine_view_open(struct engine *engine, enum engine_consistency consistency,
                                    struct engine_view **out)
{
    assert(engine != NULL);
    assert(consistency == ENGINE_STRONG || consistency == ENGINE_EVENTUAL ||
           consistency == ENGINE_NEWEST);
    *out = NULL;
    enum engine_status status = engine->ops->view_open(engine, consistency, out);
    assert((status == ENGINE_OK) == (*out != NULL));
    return status;
}

struct engine_view *engine_view_share(struct engine_view *view)
{
    struct engine_view *shared = view->engine->ops->view_share(view);
    assert(shared != NULL);
    return shared;
}

struct engine_view *engine_view_move(struct engine_view *view)
{
    struct engine_view *moved = engine_view_share(view);
    engine_view_close(view);
    return moved;
}

void engine_view_close(struct engine_view *view)
{
    if (view != NULL)
        view->engine->ops->view_close(view);
}

enum engine_status engine_view_get(struct engine_view *view, const struct engine_address *address,
                                   struct engine_value *out)
{
    assert(address_valid(address));
    *out = (struct engine_value){ 0 };
    return view->engine->ops->view_get(view, address, out);
}

enum engine_status engine_scan_open(struct engine_view *view, const struct engine_range *range,
                                    struct engine_scan **out)
{
    assert(place_valid(&range->place));
    assert(bytes_valid(range->first) && range->first.len <= ENGINE_KEY_SIZE_MAX);
    assert(bytes_valid(range->last) && range->last.len <= ENGINE_KEY_SIZE_MAX);
    *out = NULL;
    if (range->reverse && UNLIKELY((engine_capabilities(view->engine) & ENGINE_REVERSE) == 0)) {
        *out = engine_plan_reverse_scan(view, range);
        return ENGINE_OK;
    }
    enum engine_status status = view->engine->ops->scan_open(view, range, out);
    assert((status == ENGINE_OK) == (*out != NULL));
    return status;
}

enum engine_status engine_scan_next(struct engine_scan *scan, struct engine_entry *out)
{
    *out = (struct engine_entry){ 0 };
    return scan->engine->ops->scan_next(scan, out);
}

void engine_scan_close(struct engine_scan *scan)
{
    if (scan != NULL)
        scan->engine->ops->scan_close(scan);
}

enum engine_status engine_view_next_place(struct engine_view *view,
                                          const struct engine_place *after,
                                          struct engine_place *out)
{
    assert(out != NULL);
    return view->engine->ops->next_place(view, after, out);
}

static void check_addresses(const struct engine_address *addresses, size_t address_count)
{
    assert(address_count <= ENGINE_WRITE_ADDRESSES_MAX);
    for (size_t i = 0; i < address_count; i++)
        assert(address_valid(&addresses[i]));
}

enum engine_status engine_write_begin_later(struct engine *engine,
                                            const struct engine_address *addresses,
                                            size_t address_count, struct engine_wait *wait,
                                            struct engine_write **out)
{
    assert(engine != NULL);
    assert(wait->ready != NULL);
    check_addresses(addresses, address_count);
    *out = NULL;
    enum engine_status status =
        engine->ops->write_begin(engine, addresses, address_count, wait, out);
    /* With ENGINE_WAITING, `out` is not looked at: its owner may have it back already. */
    assert(status == ENGINE_WAITING || (status == ENGINE_OK) == (*out != NULL));
    return status;
}

enum engine_status engine_write_try(struct engine *engine, const struct engine_address *addresses,
                                    size_t address_count, bool *busy, struct engine_write **out)
{
    assert(engine != NULL);
    check_addresses(addresses, address_count);
    *out = NULL;
    for (size_t i = 0; i < address_count; i++)
        busy[i] = false;
    enum engine_status status = engine->ops->write_try(engine, addresses, address_count, busy, out);
    assert(status != ENGINE_WAITING && (status == ENGINE_OK) == (*out != NULL));
    return status;
}

enum engine_status engine_write_extend_later(struct engine_write *write,
                                             const struct engine_address *addresses,
                                             size_t address_count, struct engine_wait *wait)
{
    assert(wait->ready != NULL && write->refusal == ENGINE_OK);
    check_addresses(addresses, address_count);
    for (size_t i = 0; i < address_count; i++)
        assert(engine_space_is_shared(addresses[i].place.space));
    return write->engine->ops->write_extend(write, addresses, address_count, wait);
}

enum engine_status engine_write_get(struct engine_write *write,
                                    const struct engine_address *address, struct engine_value *out)
{
    assert(address_valid(address));
    *out = (struct engine_value){ 0 };
    return write->engine->ops->write_get(write, address, out);
}

void engine_write_put(struct engine_write *write, const struct engine_address *address,
                      struct bytes value)
{
    assert(address_valid(address));
    assert(bytes_valid(value));
    write->engine->ops->write_put(write, address, value);
}

void engine_write_delete(struct engine_write *write, const struct engine_address *address)
{
    assert(address_valid(address));
    write->engine->ops->write_delete(write, address);
}

static void refuse_unless_ok(struct engine_write *write, enum engine_status status)
{
    if (status != ENGINE_OK)
        write->refusal = status;
}

void engine_write_delete_range(struct engine_write *write, const struct engine_place *place,
                               struct bytes first, struct bytes last)
{
    assert(place_valid(place));
    assert(bytes_valid(first) && first.len <= ENGINE_KEY_SIZE_MAX);
    assert(bytes_valid(last) && last.len <= ENGINE_KEY_SIZE_MAX);
    if (last.len > 0 && bytes_compare(first, last) >= 0)
        return; /* An empty range; some stores refuse one that ends before it starts. */
    if ((engine_capabilities(write->engine) & ENGINE_RANGE_DELETE) != 0)
        write->engine->ops->write_delete_range(write, place, first, last);
    else
        refuse_unless_ok(write, engine_plan_delete_range(write, place, first, last));
}

void engine_write_delete_owner(struct engine_write *write, uint64_t owner)
{
    assert(owner < ENGINE_OWNER_MAX);
    if ((engine_capabilities(write->engine) & ENGINE_RANGE_DELETE) != 0)
        write->engine->ops->write_delete_owner(write, owner);
    else
        refuse_unless_ok(write, engine_plan_delete_owner(write, owner));
}

void engine_write_commit(struct engine_write *write, struct engine_completion *completion)
{
    assert(completion->done != NULL);
    completion->next = NULL;
    if (UNLIKELY(write->refusal != ENGINE_OK)) {
        enum engine_status status = write->refusal;
        engine_write_abandon(write);
        completion->done(completion, status);
        return;
    }
    write->engine->ops->write_commit(write, completion);
}

void engine_write_abandon(struct engine_write *write)
{
    write->refusal = ENGINE_OK;
    write->engine->ops->write_abandon(write);
}

/* --- For threads that may block --- */

/* An answer that a thread is blocked for. */
struct awaited {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_set;                /* Guarded by mutex. */
    enum engine_status status;  /* Guarded by mutex. */
    struct engine_write *write; /* Guarded by mutex. */
};

static void awaited_init(struct awaited *awaited)
{
    pthread_mutex_init(&awaited->mutex, NULL);
    pthread_cond_init(&awaited->changed, NULL);
    awaited->is_set = false;
}

static void awaited_set(struct awaited *awaited, enum engine_status status,
                        struct engine_write *write)
{
    pthread_mutex_lock(&awaited->mutex);
    awaited->status = status;
    awaited->write = write;
    awaited->is_set = true;
    /* Under the mutex: once it is unlocked, the waiter may return and free `awaited`. */
    pthread_cond_signal(&awaited->changed);
    pthread_mutex_unlock(&awaited->mutex);
}

static enum engine_status awaited_wait(struct awaited *awaited)
{
    pthread_mutex_lock(&awaited->mutex);
    while (!awaited->is_set)
        pthread_cond_wait(&awaited->changed, &awaited->mutex);
    pthread_mutex_unlock(&awaited->mutex);
    return awaited->status;
}

static void awaited_deinit(struct awaited *awaited)
{
    pthread_cond_destroy(&awaited->changed);
    pthread_mutex_destroy(&awaited->mutex);
}

struct awaited_latches {
    struct engine_wait base;
    struct awaited awaited;
};

static void awaited_latches_ready(struct engine_wait *wait, enum engine_status status,
                                  struct engine_write *write)
{
    awaited_set(&((struct awaited_latches *)wait)->awaited, status, write);
}

enum engine_status engine_write_begin(struct engine *engine, const struct engine_address *addresses,
                                      size_t address_count, struct engine_write **out)
{
    struct awaited_latches latches = { .base.ready = awaited_latches_ready, .base.blocks = true };
    awaited_init(&latches.awaited);
    enum engine_status status =
        engine_write_begin_later(engine, addresses, address_count, &latches.base, out);
    if (status == ENGINE_WAITING) {
        status = awaited_wait(&latches.awaited);
        *out = latches.awaited.write;
        assert((status == ENGINE_OK) == (*out != NULL));
    }
    awaited_deinit(&latches.awaited);
    return status;
}

enum engine_status engine_write_extend(struct engine_write *write,
                                       const struct engine_address *addresses, size_t address_count)
{
    struct awaited_latches latches = { .base.ready = awaited_latches_ready, .base.blocks = true };
    awaited_init(&latches.awaited);
    enum engine_status status =
        engine_write_extend_later(write, addresses, address_count, &latches.base);
    if (status == ENGINE_WAITING)
        status = awaited_wait(&latches.awaited);
    assert(status != ENGINE_WAITING);
    awaited_deinit(&latches.awaited);
    return status;
}

struct awaited_completion {
    struct engine_completion base;
    struct awaited awaited;
};

static void awaited_completion_done(struct engine_completion *completion, enum engine_status status)
{
    awaited_set(&((struct awaited_completion *)completion)->awaited, status, NULL);
}

enum engine_status engine_write_commit_wait(struct engine_write *write)
{
    struct awaited_completion completion = { .base.done = awaited_completion_done };
    awaited_init(&completion.awaited);
    engine_write_commit(write, &completion.base);
    enum engine_status status = awaited_wait(&completion.awaited);
    awaited_deinit(&completion.awaited);
    return status;
}
