/* store_view.c -- published snapshots, and reads at one of them.
 *
 * A snapshot is published only when all it shows is durable: the syncer takes it before a sync and
 * publishes it after. It is retired when the next one is published. The thread that publishes
 * releases the retired ones that no hazard and no counted view holds. So there are at most as many
 * snapshots as hazards and shared views, and the published one.
 */
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/hazard.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_cache.h"
#include "engine/rocksdb/store_key.h"
#include "engine/rocksdb/store_statistics.h"

/* The rest is for the values that are read through a view. */
enum { HAZARDS_FOR_VIEWS = HAZARDS_PER_THREAD * 3 / 4 };

struct store_view *store_view_create(struct store *store)
{
    struct store_view *view = atomic_exchange(&store->spare_view, NULL);
    if (view == NULL) {
        view = store_alloc_lines(sizeof *view);
        view->base.engine = &store->base;
        view->read_options = rocksdb_readoptions_create();
        rocksdb_readoptions_set_total_order_seek(view->read_options, 1); /* To list places. */
    }
    view->generation = atomic_fetch_add(&store->generation, 1) + 1;
    view->snapshot = rocksdb_create_snapshot(store->db);
    rocksdb_readoptions_set_snapshot(view->read_options, view->snapshot);
    return view;
}

/* NULL is allowed. */
static void destroy(struct store_view *view)
{
    if (view == NULL)
        return;
    rocksdb_readoptions_destroy(view->read_options);
    free(view);
}

/* Keeps one structure for the next snapshot: without a syncer every write takes one. */
static void release_all(struct store *store, struct store_view *views)
{
    while (views != NULL) {
        struct store_view *next = views->next_retired;
        assert(atomic_load(&views->references) == 0);
        rocksdb_release_snapshot(store->db, views->snapshot);
        destroy(atomic_exchange(&store->spare_view, views));
        views = next;
    }
}

/* Takes those of the retired views that nobody uses out of the list. The counters are read after
 * the look at the hazards: a view that is shared is counted before its hazard is cleared. */
static struct store_view *take_unused_locked(struct store *store)
{
    struct store_view *unused = NULL;
    struct store_view **link = &store->retired;
    struct hazard_list held;
    if (*link == NULL)
        return NULL;
    hazard_collect(&held);
    while (*link != NULL) {
        struct store_view *view = *link;
        if (hazard_list_has(&held, view) || atomic_load(&view->references) > 0) {
            link = &view->next_retired;
            continue;
        }
        *link = view->next_retired;
        view->next_retired = unused;
        unused = view;
    }
    return unused;
}

static void release_unused(struct store *store)
{
    pthread_mutex_lock(&store->view_mutex);
    struct store_view *unused = take_unused_locked(store);
    pthread_mutex_unlock(&store->view_mutex);
    release_all(store, unused);
}

void store_view_publish(struct store *store, struct store_view *view)
{
    pthread_mutex_lock(&store->view_mutex);
    struct store_view *before = atomic_exchange(&store->published, view);
    if (before != NULL) {
        before->next_retired = store->retired;
        store->retired = before;
    }
    struct store_view *unused = take_unused_locked(store);
    pthread_mutex_unlock(&store->view_mutex);
    release_all(store, unused);
}

void store_view_discard(struct store *store, struct store_view *view)
{
    assert(view != NULL && view != atomic_load(&store->published));
    view->next_retired = NULL; /* It may have been one of a list before: see spare_view. */
    release_all(store, view);
}

void store_view_publish_newest(struct store *store)
{
    pthread_mutex_lock(&store->publish_mutex);
    store_view_publish(store, store_view_create(store));
    pthread_mutex_unlock(&store->publish_mutex);
}

void store_view_deinit(struct store *store)
{
    if (atomic_load(&store->published) == NULL)
        return;
    store_view_publish(store, NULL);
    assert(store->retired == NULL); /* No view may outlive its engine. */
    destroy(atomic_exchange(&store->spare_view, NULL));
}

/* For a thread that has no hazard left. The mutex prevents that the view is retired and released
 * before it is counted. */
static struct store_view *count_published(struct store *store)
{
    pthread_mutex_lock(&store->view_mutex);
    struct store_view *view = atomic_load(&store->published);
    assert(view != NULL);
    atomic_fetch_add(&view->references, 1);
    pthread_mutex_unlock(&store->view_mutex);
    return view;
}

enum engine_status store_view_open(struct engine *engine, enum engine_consistency consistency,
                                   struct engine_view **out)
{
    (void)consistency; /* Strong costs nothing here. */
    struct store *store = (struct store *)engine;
    struct store_view *view = atomic_load(&store->published);
    struct hazard *hazard = hazard_take(HAZARDS_FOR_VIEWS, view);
    if (UNLIKELY(hazard == NULL)) {
        view = count_published(store);
    } else {
        for (struct store_view *now; (now = atomic_load(&store->published)) != view; view = now)
            hazard_set(hazard, now);
    }
    *out = &view->base;
    return ENGINE_OK;
}

struct engine_view *store_view_share(struct engine_view *view)
{
    atomic_fetch_add(&((struct store_view *)view)->references, 1);
    return view;
}

/* Views of one snapshot are the same structure, so a thread that has several cannot tell which of
 * them is counted. It need not: each holds the snapshot once, and closing one takes away one hold,
 * whichever. */
void store_view_close(struct engine_view *base)
{
    struct store *store = (struct store *)base->engine;
    struct store_view *view = (struct store_view *)base;
    struct hazard *hazard = hazard_find(view);
    if (LIKELY(hazard != NULL)) {
        hazard_clear(hazard); /* A retired view goes with the next one that is published. */
        return;
    }
    size_t before = atomic_fetch_sub(&view->references, 1);
    assert(before > 0); /* It was opened on another thread, and not shared. */
    if (before == 1)
        release_unused(store);
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
    bool is_sampled = store_begin_sample(store);
    if (is_sampled)
        store_statistics_begin_sample();
    else
        store_stop_counting();
    rocksdb_pinnableslice_t *slice =
        rocksdb_get_pinned(store->db, read_options, key->data, key->size, &error);
    if (is_sampled)
        store_statistics_end_sample(store);
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

static void render_entry(struct store *store, struct store_cache_entry *entry)
{
    assert(store->render != NULL);
    struct arena *arena = arena_create();
    store_cache_give_rendered(store->cache, entry,
                              store->render(arena, store_cache_content(entry)));
    arena_destroy(arena);
}

/* `generation` is that of the snapshot that `read_options` have. */
static enum engine_status get(struct store *store, const rocksdb_readoptions_t *read_options,
                              uint64_t generation, const struct store_key *key,
                              struct engine_value *out)
{
    struct store_cache_name name;
    struct store_cache_loan loan;
    bool wanted;
    if (!store_cache_name_value(key, &name))
        return get_in_rocksdb(store, read_options, key, out);
    bool found = store_cache_lend(store->cache, &name, generation, &loan, &wanted);
    store_count_item_read(store, found);
    if (found) {
        if (wanted && store->render != NULL)
            render_entry(store, loan.entry);
        *out = store_cache_lent_value(&loan);
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
