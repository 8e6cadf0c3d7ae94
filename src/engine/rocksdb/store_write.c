/* store_write.c -- atomic writes: latches, one RocksDB batch, and the way to the completion.
 *
 * A write holds the latches of its addresses until RocksDB has taken its batch. From then on other
 * writes see it, views do not: those wait for the syncer. The write object goes back to the pool
 * before the completion is queued, so nothing of the store is touched once it may be answered.
 *
 * Nobody waits here. A write that meets a held latch begins later, and a batch that RocksDB would
 * make wait goes to the writer (store_writer.h) with its latches: what it changes is read by
 * nobody before RocksDB has it.
 */
#include <assert.h>
#include <stdlib.h>
#include "base/log.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_cache.h"
#include "engine/rocksdb/store_key.h"
#include "engine/rocksdb/store_writer.h"
#include "engine/rocksdb/syncer.h"

/* --- Pool --- */

static struct store_write *take_from_pool(struct store *store)
{
    pthread_mutex_lock(&store->pool_mutex);
    store->writes_begun++;
    struct store_write *write = store->pool;
    if (write != NULL) {
        store->pool = write->next;
        store->pool_count--;
    }
    pthread_mutex_unlock(&store->pool_mutex);
    if (write == NULL) {
        write = store_alloc(sizeof *write);
        write->base.engine = &store->base;
        write->batch = rocksdb_writebatch_create();
    }
    assert(write->range_count == 0 && !write->stores); /* give_back has cleared it. */
    return write;
}

static void destroy(struct store_write *write)
{
    rocksdb_writebatch_destroy(write->batch);
    store_touches_deinit(&write->touches);
    free(write);
}

static void give_back(struct store *store, struct store_write *write)
{
    size_t size;
    rocksdb_writebatch_data(write->batch, &size);
    bool keep =
        size <= STORE_BATCH_KEPT_SIZE_MAX && write->touches.capacity <= STORE_TOUCHES_KEPT_MAX;
    if (keep)
        rocksdb_writebatch_clear(write->batch);
    write->range_count = 0;
    store_touches_clear(&write->touches);
    write->stores = false;
    pthread_mutex_lock(&store->pool_mutex);
    assert(store->writes_begun > 0);
    store->writes_begun--;
    keep = keep && store->pool_count < STORE_WRITES_KEPT_MAX;
    if (keep) {
        write->next = store->pool;
        store->pool = write;
        store->pool_count++;
    }
    pthread_mutex_unlock(&store->pool_mutex);
    if (!keep)
        destroy(write);
}

void store_write_deinit(struct store *store)
{
    assert(store->writes_begun == 0); /* Every write was committed or abandoned. */
    while (store->pool != NULL) {
        struct store_write *write = store->pool;
        store->pool = write->next;
        destroy(write);
    }
}

/* --- The beginning --- */

static struct store_write *of_held(struct latches_held *held)
{
    return (struct store_write *)((char *)held - offsetof(struct store_write, held));
}

static void begun(struct latches_held *held, bool taken)
{
    assert(of_held(held)->wait->ready != NULL);
    struct store_write *write = of_held(held);
    struct engine_wait *wait = write->wait;
    if (!taken) {
        give_back((struct store *)write->base.engine, write);
        write = NULL;
    }
    wait->ready(wait, taken ? ENGINE_OK : ENGINE_BUSY, taken ? &write->base : NULL);
}

enum engine_status store_write_begin(struct engine *engine, const struct engine_address *addresses,
                                     size_t address_count, struct engine_wait *wait,
                                     struct engine_write **out)
{
    assert(wait != NULL && wait->ready != NULL);
    struct store *store = (struct store *)engine;
    if (store->read_only)
        return ENGINE_UNSUPPORTED;
    if (!wait->blocks && store_writer_is_full(store->writer))
        return ENGINE_BUSY;
    struct store_write *write = take_from_pool(store);
    write->wait = wait;
    write->held.ready = begun;
    write->held.thread = wait->thread;
    if (!latches_take(&store->latches, addresses, address_count, &write->held))
        return ENGINE_WAITING; /* `write` is the latches'. */
    *out = &write->base;
    return ENGINE_OK;
}

enum engine_status store_write_try(struct engine *engine, const struct engine_address *addresses,
                                   size_t address_count, bool *busy, struct engine_write **out)
{
    struct store *store = (struct store *)engine;
    if (store->read_only)
        return ENGINE_UNSUPPORTED;
    if (store_writer_is_full(store->writer))
        return ENGINE_BUSY;
    struct store_write *write = take_from_pool(store);
    write->held.thread = NULL;
    if (!latches_try(&store->latches, addresses, address_count, &write->held, busy)) {
        give_back(store, write);
        return ENGINE_BUSY;
    }
    *out = &write->base;
    return ENGINE_OK;
}

/* Without its latches, the write is good for nothing but to be abandoned. */
static void extended(struct latches_held *held, bool taken)
{
    struct store_write *write = of_held(held);
    write->wait->ready(write->wait, taken ? ENGINE_OK : ENGINE_BUSY, &write->base);
}

enum engine_status store_write_extend(struct engine_write *base,
                                      const struct engine_address *addresses, size_t address_count,
                                      struct engine_wait *wait)
{
    assert(wait != NULL && wait->ready != NULL);
    struct store *store = (struct store *)base->engine;
    struct store_write *write = (struct store_write *)base;
    write->wait = wait;
    write->held.ready = extended;
    write->held.thread = wait->thread;
    return latches_take_shared(&store->latches, addresses, address_count, &write->held)
               ? ENGINE_OK
               : ENGINE_WAITING;
}

/* --- Operations --- */

/* An item that is read to be written is worth keeping if it was read before. */
static enum engine_status get_item(struct store *store, struct store_write *write,
                                   const struct store_key *key, struct engine_value *out)
{
    struct store_cache_name name;
    bool wanted;
    if (!store_cache_name_value(key, &name))
        return store_get_newest(store, key, out);
    struct store_cache_entry *entry =
        store_cache_find(store->cache, &name, STORE_CACHE_NEWEST, &wanted);
    if (entry != NULL || wanted)
        store_touches_want(&write->touches, &name);
    if (entry == NULL)
        return store_get_newest(store, key, out);
    *out = store_cache_value(entry);
    return ENGINE_OK;
}

enum engine_status store_write_get(struct engine_write *base, const struct engine_address *address,
                                   struct engine_value *out)
{
    struct store *store = (struct store *)base->engine;
    assert(address->place.space == ENGINE_SPACE_INDEX || /* Guarded by its item's latch. */
           address->place.space == ENGINE_SPACE_REPLICAS ||
           latches_cover(&((struct store_write *)base)->held, address));
    struct store_key key;
    store_key_init(&key, &address->place, address->key);
    enum engine_status status = store->cache != NULL && address->place.space == ENGINE_SPACE_ITEMS
                                    ? get_item(store, (struct store_write *)base, &key, out)
                                    : store_get_newest(store, &key, out);
    store_key_deinit(&key);
    return status;
}

/* True if a change at `key` may concern the cache. */
static bool is_cached(const struct store_write *write, enum engine_space space,
                      const struct store_key *key, struct store_cache_name *name)
{
    return ((struct store *)write->base.engine)->cache != NULL && store_cache_serves(space) &&
           store_cache_name_value(key, name);
}

void store_write_put(struct engine_write *base, const struct engine_address *address,
                     struct bytes value)
{
    struct store_write *write = (struct store_write *)base;
    struct store_cache_name name;
    struct store_key key;
    store_key_init(&key, &address->place, address->key);
    rocksdb_writebatch_put(write->batch, key.data, key.size, (const char *)value.data, value.len);
    if (is_cached(write, address->place.space, &key, &name)) {
        size_t size;
        rocksdb_writebatch_data(write->batch, &size);
        store_touches_put(&write->touches, &name, value.len, size);
    }
    if (address->place.space == ENGINE_SPACE_ITEMS || address->place.space == ENGINE_SPACE_INDEX)
        write->stores = true;
    store_key_deinit(&key);
}

void store_write_delete(struct engine_write *base, const struct engine_address *address)
{
    struct store_write *write = (struct store_write *)base;
    struct store_cache_name name;
    struct store_key key;
    store_key_init(&key, &address->place, address->key);
    rocksdb_writebatch_delete(write->batch, key.data, key.size);
    if (is_cached(write, address->place.space, &key, &name))
        store_touches_delete(&write->touches, &name);
    store_key_deinit(&key);
}

static void delete_between(struct engine_write *base, uint64_t owner, const struct store_key *first,
                           const struct store_key *last)
{
    struct store_write *write = (struct store_write *)base;
    rocksdb_writebatch_delete_range(write->batch, first->data, first->size, last->data, last->size);
    if (write->range_count == 0 || owner < write->range_first)
        write->range_first = owner;
    if (write->range_count == 0 || owner > write->range_last)
        write->range_last = owner;
    write->range_count++;
}

void store_write_delete_range(struct engine_write *base, const struct engine_place *place,
                              struct bytes first, struct bytes last)
{
    struct store_key from, to;
    store_key_init(&from, place, first);
    store_key_init_last(&to, place, last);
    delete_between(base, place->owner, &from, &to);
    store_key_deinit(&to);
    store_key_deinit(&from);
}

void store_write_delete_owner(struct engine_write *base, uint64_t owner)
{
    struct store_key from, to;
    store_key_init_owner(&from, owner);
    store_key_init_owner(&to, owner + 1);
    delete_between(base, owner, &from, &to);
    store_key_deinit(&to);
    store_key_deinit(&from);
}

/* --- Commit --- */

/* A write without changes was a refusal: it adds nothing, but must not reveal what it has read
 * before that is durable. Nothing to wait for if all that was written is. */
static void commit_refusal(struct store *store, struct store_write *write,
                           struct engine_completion *completion)
{
    latches_release(&store->latches, &write->held);
    give_back(store, write);
    if (store->syncer != NULL && !syncer_is_caught_up(store->syncer))
        syncer_queue(store->syncer, completion);
    else
        completion->done(completion, ENGINE_OK);
}

bool store_write_is_failing(const struct store *store)
{
    uint64_t survived = atomic_load(&store->write_failures_survived);
    return atomic_load(&store->write_failures) != survived;
}

/* A full disk fails thousands of writes per second: only the first failure and the end are logged.
 */
static enum engine_status write_failed(struct store *store, char *error)
{
    bool is_first = !store_write_is_failing(store);
    atomic_fetch_add(&store->write_failures, 1);
    if (is_first)
        log_write(LOG_ERROR, "engine", "writing fails: %s", error);
    enum engine_status status = store_status_of(error);
    rocksdb_free(error);
    if (status != ENGINE_FULL)
        return ENGINE_IO;
    store_space_ran_out(&store->space);
    return ENGINE_FULL;
}

/* `failures`: how many there had been when the write that succeeded began. Later ones it does not
 * outlive: they may have failed on another log. */
static void write_succeeded(struct store *store, uint64_t failures)
{
    uint64_t survived = atomic_load(&store->write_failures_survived);
    while (survived < failures)
        if (atomic_compare_exchange_weak(&store->write_failures_survived, &survived, failures))
            log_write(LOG_WARN, "engine", "writing works again");
}

static bool is_property_set(struct store *store, const char *name)
{
    uint64_t value = 0;
    return rocksdb_property_int(store->db, name, &value) == 0 && value != 0;
}

/* Begins a flush where enough ranges were deleted; does not wait for its end. One that fails is no
 * loss: the next one comes. While RocksDB delays writers it would wait for its compactions first,
 * even so; the flush is then left to a later deletion. */
static void count_ranges(struct store *store, unsigned count)
{
    char *error = NULL;
    if (atomic_fetch_add(&store->ranges_deleted, count) + count < STORE_RANGES_MAX ||
        is_property_set(store, "rocksdb.actual-delayed-write-rate") ||
        is_property_set(store, "rocksdb.is-write-stopped"))
        return;
    atomic_store(&store->ranges_deleted, 0);
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 0);
    rocksdb_flush(store->db, options, &error);
    rocksdb_flushoptions_destroy(options);
    rocksdb_free(error);
}

/* The cache forgets what the batch changes, whether or not RocksDB takes it. New values are not
 * kept if it does not, nor if ranges are deleted, perhaps over them. A batch that comes again,
 * because RocksDB would have had to wait, goes through all of this again: in between, views may
 * keep what they still rightly see. */
static void write_batch(struct store *store, struct store_write *write,
                        const rocksdb_writeoptions_t *options, char **error)
{
    store_stop_counting();
    if (store->cache == NULL) {
        rocksdb_write(store->db, options, write->batch, error);
        return;
    }
    struct bytes batch = { 0 };
    store_touches_begin(&write->touches, store->cache);
    if (write->range_count > 0)
        store_cache_begin_removal(store->cache);
    rocksdb_write(store->db, options, write->batch, error);
    uint64_t generation = atomic_load(&store->generation);
    if (*error == NULL && write->range_count == 0)
        batch.data = (const uint8_t *)rocksdb_writebatch_data(write->batch, &batch.len);
    if (write->range_count > 0)
        store_cache_end_removal(store->cache, write->range_first, write->range_last, generation);
    store_touches_end(&write->touches, store->cache, batch, generation);
}

/* ENGINE_WAITING if RocksDB would have to wait and may not: nothing was done. */
static enum engine_status apply(struct store *store, struct store_write *write,
                                const rocksdb_writeoptions_t *options)
{
    uint64_t failures = atomic_load(&store->write_failures);
    char *error = NULL;
    size_t size;
    if (UNLIKELY(atomic_load(&store->is_lost)))
        return ENGINE_LOST;
    rocksdb_writebatch_data(write->batch, &size);
    if (!store_space_admits(&store->space, size, write->stores))
        return ENGINE_FULL;
    write_batch(store, write, options, &error);
    if (UNLIKELY(error != NULL && options == store->write_options &&
                 store_status_is_stall(error))) {
        rocksdb_free(error);
        return ENGINE_WAITING;
    }
    if (error != NULL)
        return write_failed(store, error);
    if (UNLIKELY(failures > 0))
        write_succeeded(store, failures);
    return ENGINE_OK;
}

enum engine_status store_write_apply_slowly(struct store_write *write)
{
    struct store *store = (struct store *)write->base.engine;
    return apply(store, write, store->slow_write_options);
}

void store_write_end(struct store_write *write, enum engine_status status)
{
    assert(status != ENGINE_WAITING);
    struct store *store = (struct store *)write->base.engine;
    struct engine_completion *completion = write->completion;
    bool waits = status == ENGINE_OK && store->syncer != NULL;
    /* Before the latches go, so that a refusal that has read this write is not answered before
     * the write is durable and published. */
    if (waits)
        syncer_count_write(store->syncer, write->batch);
    else if (status == ENGINE_OK)
        store_view_publish_newest(store);
    latches_release(&store->latches, &write->held);
    unsigned range_count = status == ENGINE_OK ? write->range_count : 0;
    give_back(store, write);
    if (UNLIKELY(range_count > 0)) /* Before the write ends: the engine may be closed then. */
        count_ranges(store, range_count);
    if (waits)
        syncer_queue(store->syncer, completion);
    else
        completion->done(completion, status);
}

void store_write_commit(struct engine_write *base, struct engine_completion *completion)
{
    assert(completion->done != NULL);
    struct store *store = (struct store *)base->engine;
    struct store_write *write = (struct store_write *)base;
    if (rocksdb_writebatch_count(write->batch) == 0) {
        commit_refusal(store, write, completion);
        return;
    }
    enum engine_status status = store_writer_is_stalled(store->writer)
                                    ? ENGINE_WAITING
                                    : apply(store, write, store->write_options);
    if (status == ENGINE_WAITING) {
        store_writer_queue(store->writer, write, completion);
        return;
    }
    write->completion = completion;
    store_write_end(write, status);
}

void store_write_abandon(struct engine_write *base)
{
    struct store *store = (struct store *)base->engine;
    struct store_write *write = (struct store_write *)base;
    latches_release(&store->latches, &write->held);
    give_back(store, write);
}
