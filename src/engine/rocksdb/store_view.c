/* store_view.c -- published snapshots, and reads at one of them.
 *
 * A snapshot is published only when all it shows is durable: the syncer takes it before a sync and
 * publishes it after. It lives until it is no longer published and its last view is closed.
 */
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_cache.h"
#include "engine/rocksdb/store_key.h"
#include "engine/rocksdb/store_status.h"

struct store_view *store_view_create(struct store *store)
{
    struct store_view *view = store_alloc(sizeof *view);
    view->base.engine = &store->base;
    atomic_init(&view->references, 1);
    view->generation = atomic_fetch_add(&store->generation, 1) + 1;
    view->snapshot = rocksdb_create_snapshot(store->db);
    view->read_options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(view->read_options, view->snapshot);
    rocksdb_readoptions_set_total_order_seek(view->read_options, 1); /* To list places. */
    return view;
}

static void release(struct store_view *view)
{
    size_t before = atomic_fetch_sub(&view->references, 1);
    assert(before > 0);
    if (before > 1)
        return;
    struct store *store = (struct store *)view->base.engine;
    rocksdb_readoptions_destroy(view->read_options);
    rocksdb_release_snapshot(store->db, view->snapshot);
    free(view);
}

void store_view_publish(struct store *store, struct store_view *view)
{
    pthread_mutex_lock(&store->view_mutex);
    struct store_view *before = store->published;
    store->published = view;
    pthread_mutex_unlock(&store->view_mutex);
    if (before != NULL)
        release(before);
}

void store_view_publish_newest(struct store *store)
{
    pthread_mutex_lock(&store->publish_mutex);
    store_view_publish(store, store_view_create(store));
    pthread_mutex_unlock(&store->publish_mutex);
}

void store_view_deinit(struct store *store)
{
    if (store->published == NULL)
        return;
    assert(atomic_load(&store->published->references) == 1); /* No view may outlive its engine. */
    release(store->published);
    store->published = NULL;
}

enum engine_status store_view_open(struct engine *engine, enum engine_consistency consistency,
                                   struct engine_view **out)
{
    (void)consistency; /* Strong costs nothing here. */
    struct store *store = (struct store *)engine;
    store_stop_counting();
    pthread_mutex_lock(&store->view_mutex);
    struct store_view *view = store->published;
    atomic_fetch_add(&view->references, 1);
    pthread_mutex_unlock(&store->view_mutex);
    *out = &view->base;
    return ENGINE_OK;
}

/* Readers do not change a view, so all of them may have the same. */
struct engine_view *store_view_share(struct engine_view *view)
{
    atomic_fetch_add(&((struct store_view *)view)->references, 1);
    return view;
}

void store_view_close(struct engine_view *view)
{
    release((struct store_view *)view);
}

static void release_value(void *handle)
{
    rocksdb_pinnableslice_destroy(handle);
}

static enum engine_status get_in_rocksdb(struct store *store,
                                         const rocksdb_readoptions_t *read_options,
                                         const struct store_key *key, struct engine_value *out)
{
    char *error = NULL;
    rocksdb_pinnableslice_t *slice =
        rocksdb_get_pinned(store->db, read_options, key->data, key->size, &error);
    if (error != NULL)
        return store_status_take(error, "reading");
    if (slice == NULL)
        return ENGINE_NOT_FOUND;
    size_t size;
    const char *data = rocksdb_pinnableslice_value(slice, &size);
    out->bytes = bytes_of(size == 0 ? "" : data, size);
    out->handle = slice;
    out->release = release_value;
    return ENGINE_OK;
}

static void give_form(struct store *store, struct store_cache_entry *entry)
{
    struct arena *arena = arena_create();
    store_cache_give_form(store->cache, entry, store->form(arena, store_cache_content(entry)));
    arena_destroy(arena);
}

/* `generation` is that of the snapshot that `read_options` have. */
static enum engine_status get(struct store *store, const rocksdb_readoptions_t *read_options,
                              uint64_t generation, const struct store_key *key,
                              struct engine_value *out)
{
    struct store_cache_name name;
    bool wanted;
    if (!store_cache_name_value(key, &name))
        return get_in_rocksdb(store, read_options, key, out);
    struct store_cache_entry *entry = store_cache_find(store->cache, &name, generation, &wanted);
    if (entry != NULL) {
        if (wanted && store->form != NULL)
            give_form(store, entry);
        *out = store_cache_value(entry);
        return ENGINE_OK;
    }
    enum engine_status status = get_in_rocksdb(store, read_options, key, out);
    if (status == ENGINE_OK && wanted)
        store_cache_keep(store->cache, &name, generation, out->bytes);
    return status;
}

enum engine_status store_view_get(struct engine_view *base, const struct engine_address *address,
                                  struct engine_value *out)
{
    struct store *store = (struct store *)base->engine;
    const struct store_view *view = (struct store_view *)base;
    struct store_key key;
    store_key_init(&key, &address->place, address->key);
    enum engine_status status = store->cache != NULL && store_cache_serves(address->place.space)
                                    ? get(store, view->read_options, view->generation, &key, out)
                                    : get_in_rocksdb(store, view->read_options, &key, out);
    store_key_deinit(&key);
    return status;
}

enum engine_status store_get_newest(struct store *store, const struct store_key *key,
                                    struct engine_value *out)
{
    return get_in_rocksdb(store, store->newest, key, out);
}
