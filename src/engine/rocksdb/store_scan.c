/* store_scan.c -- a range of one place, in key order or against it; and which places there are.
 *
 * RocksDB keeps the iterator within the bounds, so that it never reads blocks, or steps over
 * deleted keys, outside of the range. It borrows the bounds, which is why they live in the scan.
 *
 * A scan of the items of one partition key lies within what filters know (store_key.h), so that it
 * looks into no memtable or file without any of them. Any other scan must tell RocksDB that it
 * needs the total order, else filters would hide entries from it. A scan of one
 * partition key also tries the cache; when it is repeated, it caches all entries of that key.
 */
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/log.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_cache.h"
#include "engine/rocksdb/store_key.h"
#include "engine/rocksdb/store_run.h"
#include "engine/rocksdb/store_statistics.h"

struct store_scan {
    struct engine_scan base;
    bool reverse;
    size_t count_left; /* SIZE_MAX: no limit. */
    size_t bytes_left; /* SIZE_MAX: no limit. */
    /* From the cache: what is left are the entries [run_first, run_last) of the run. */
    struct store_cache_loan run; /* No entry: from RocksDB, and what follows is set. */
    size_t run_first;
    size_t run_last;
    bool started;
    struct store_key first;
    struct store_key last;
    rocksdb_readoptions_t *read_options;
    rocksdb_iterator_t *iterator;
};

static struct engine_entry entry_at(const rocksdb_iterator_t *iterator)
{
    size_t key_size, value_size;
    const char *key = rocksdb_iter_key(iterator, &key_size);
    const char *value = rocksdb_iter_value(iterator, &value_size);
    return (struct engine_entry){
        .key = bytes_of(key + STORE_KEY_PREFIX_SIZE, key_size - STORE_KEY_PREFIX_SIZE),
        .value = bytes_of(value_size == 0 ? "" : value, value_size),
    };
}

/* ENGINE_END at the regular end of an iterator, otherwise why it ended. */
static enum engine_status end_of(const rocksdb_iterator_t *iterator, const char *doing)
{
    char *error = NULL;
    rocksdb_iter_get_error(iterator, &error);
    return error == NULL ? ENGINE_END : store_status_take(error, doing);
}

/* --- From the cache --- */

enum gathered { GATHERED_WHOLE, GATHERED_TOO_MUCH, GATHERED_NOTHING };

static enum gathered gather_run(struct store *store, const struct store_view *view,
                                struct bytes prefix, struct store_run_builder *builder)
{
    enum gathered gathered = GATHERED_WHOLE;
    char end[STORE_KEY_FILTERED_SIZE];
    store_stop_counting();
    store_key_run_end(prefix, end);
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(options, view->snapshot);
    rocksdb_readoptions_set_iterate_upper_bound(options, end, sizeof end);
    rocksdb_iterator_t *iterator = rocksdb_create_iterator(store->db, options);
    rocksdb_iter_seek(iterator, (const char *)prefix.data, prefix.len);
    while (gathered == GATHERED_WHOLE && rocksdb_iter_valid(iterator)) {
        struct engine_entry entry = entry_at(iterator);
        if (!store_run_add(builder, &entry))
            gathered = GATHERED_TOO_MUCH;
        rocksdb_iter_next(iterator);
    }
    if (gathered == GATHERED_WHOLE && end_of(iterator, "gathering a run") != ENGINE_END)
        gathered = GATHERED_NOTHING;
    rocksdb_iter_destroy(iterator);
    rocksdb_readoptions_destroy(options);
    return gathered;
}

/* Puts a run into the cache; the next scan of it finds it there. */
static void keep_run(struct store *store, const struct store_view *view,
                     const struct store_cache_name *name)
{
    struct store_run_builder *builder = store_alloc(sizeof *builder);
    enum gathered gathered = gather_run(store, view, name->key, builder);
    if (gathered == GATHERED_WHOLE)
        store_cache_keep(store->cache, name, view->generation, store_run_finish(builder));
    else if (gathered == GATHERED_TOO_MUCH)
        store_cache_keep(store->cache, name, view->generation, BYTES(""));
    store_run_deinit(builder);
    free(builder);
}

/* The rendered values of a run are a run as well, without keys. If they are too large, the run has
 * none. */
static void render_run(struct store *store, struct store_cache_entry *run)
{
    assert(store->render != NULL);
    struct store_run_builder *builder = store_alloc(sizeof *builder);
    struct arena *arena = arena_create();
    struct bytes block = store_cache_content(run), rendered = { 0 };
    size_t count = store_run_count(block);
    bool whole = count > 0;
    for (size_t i = 0; i < count && whole; i++) {
        struct engine_entry value = { .value = store->render(arena, store_run_at(block, i).value) };
        whole = value.value.data != NULL && store_run_add(builder, &value);
        arena_reset(arena);
    }
    if (whole)
        rendered = store_run_finish(builder);
    store_cache_give_rendered(store->cache, run, rendered);
    arena_destroy(arena);
    store_run_deinit(builder);
    free(builder);
}

/* True if the range of the scan lies in a run that is cached. */
static bool open_in_cache(struct store *store, const struct store_view *view,
                          const struct engine_range *range, struct store_scan *scan)
{
    struct store_cache_name name;
    bool wanted;
    if (store->cache == NULL || !store_cache_serves(range->place.space) ||
        !store_key_is_filtered(&scan->first, &scan->last) ||
        !store_cache_name_run(&scan->first, &name))
        return false;
    bool found = store_cache_lend(store->cache, &name, view->generation, &scan->run, &wanted);
    store_count_item_read(store, found);
    if (!found) {
        if (wanted)
            keep_run(store, view, &name);
        return false;
    }
    struct bytes block = store_cache_content(scan->run.entry);
    if (block.len == 0) {
        store_cache_return(&scan->run);
        return false;
    }
    if (wanted && store->render != NULL)
        render_run(store, scan->run.entry);
    scan->run_first = store_run_search(block, range->first);
    scan->run_last = store_run_search(block, range->last);
    return true;
}

static bool next_of_run(struct store_scan *scan, struct engine_entry *out)
{
    assert(scan->run.entry != NULL);
    if (scan->run_first >= scan->run_last)
        return false;
    size_t index = scan->reverse ? --scan->run_last : scan->run_first++;
    *out = store_run_at(store_cache_content(scan->run.entry), index);
    struct bytes rendered = store_cache_rendered(scan->run.entry);
    if (rendered.data != NULL)
        out->rendered = store_run_at(rendered, index).value;
    return true;
}

/* --- From RocksDB --- */

static void open_in_rocksdb(struct store *store, const struct store_view *view,
                            struct store_scan *scan)
{
    store_stop_counting();
    scan->started = false;
    scan->read_options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(scan->read_options, view->snapshot);
    rocksdb_readoptions_set_iterate_lower_bound(scan->read_options, scan->first.data,
                                                scan->first.size);
    rocksdb_readoptions_set_iterate_upper_bound(scan->read_options, scan->last.data,
                                                scan->last.size);
    bool filtered = store_key_is_filtered(&scan->first, &scan->last);
    rocksdb_readoptions_set_total_order_seek(scan->read_options, !filtered);
    scan->iterator = rocksdb_create_iterator(store->db, scan->read_options);
}

static void step(struct store_scan *scan)
{
    assert(scan->iterator != NULL);
    if (scan->started && scan->reverse)
        rocksdb_iter_prev(scan->iterator);
    else if (scan->started)
        rocksdb_iter_next(scan->iterator);
    else if (scan->reverse)
        rocksdb_iter_seek_to_last(scan->iterator); /* The last one below the upper bound. */
    else
        rocksdb_iter_seek(scan->iterator, scan->first.data, scan->first.size);
    scan->started = true;
}

static enum engine_status next_in_rocksdb(struct store_scan *scan, struct engine_entry *out)
{
    step(scan);
    if (!rocksdb_iter_valid(scan->iterator)) {
        scan->count_left = 0; /* An iterator that ended must not be moved again. */
        return end_of(scan->iterator, "scanning");
    }
    *out = entry_at(scan->iterator);
    return ENGINE_OK;
}

/* --- Either --- */

enum engine_status store_scan_open(struct engine_view *base, const struct engine_range *range,
                                   struct engine_scan **out)
{
    struct store *store = (struct store *)base->engine;
    const struct store_view *view = (struct store_view *)base;
    struct store_scan *scan = malloc(sizeof *scan); /* Its keys need not be cleared. */
    if (scan == NULL)
        abort();
    scan->base.engine = base->engine;
    scan->reverse = range->reverse;
    scan->count_left = range->count_max == 0 ? SIZE_MAX : range->count_max;
    scan->bytes_left = range->bytes_max == 0 ? SIZE_MAX : range->bytes_max;
    scan->run.entry = NULL;
    store_key_init(&scan->first, &range->place, range->first);
    store_key_init_last(&scan->last, &range->place, range->last);
    if (!open_in_cache(store, view, range, scan))
        open_in_rocksdb(store, view, scan);
    *out = &scan->base;
    return ENGINE_OK;
}

enum engine_status store_scan_next(struct engine_scan *base, struct engine_entry *out)
{
    struct store_scan *scan = (struct store_scan *)base;
    if (scan->count_left == 0 || scan->bytes_left == 0)
        return ENGINE_END;
    if (scan->run.entry == NULL) {
        enum engine_status status = next_in_rocksdb(scan, out);
        if (status != ENGINE_OK)
            return status;
    } else if (!next_of_run(scan, out)) {
        return ENGINE_END;
    }
    size_t size = out->key.len + out->value.len;
    if (scan->count_left != SIZE_MAX)
        scan->count_left--;
    if (scan->bytes_left != SIZE_MAX)
        scan->bytes_left -= size < scan->bytes_left ? size : scan->bytes_left;
    return ENGINE_OK;
}

void store_scan_close(struct engine_scan *base)
{
    struct store_scan *scan = (struct store_scan *)base;
    if (scan->run.entry != NULL) {
        store_cache_return(&scan->run);
    } else {
        rocksdb_iter_destroy(scan->iterator);
        rocksdb_readoptions_destroy(scan->read_options);
    }
    store_key_deinit(&scan->last);
    store_key_deinit(&scan->first);
    free(scan);
}

/* --- Places --- */

/* The place that `iterator` stands on, if any. */
static enum engine_status place_at(const rocksdb_iterator_t *iterator, struct engine_place *out)
{
    char *error = NULL;
    size_t size;
    if (!rocksdb_iter_valid(iterator)) {
        rocksdb_iter_get_error(iterator, &error);
        return error == NULL ? ENGINE_END : store_status_take(error, "listing places");
    }
    const char *key = rocksdb_iter_key(iterator, &size);
    if (store_key_decode_place(bytes_of(key, size), out))
        return ENGINE_OK;
    log_write(LOG_ERROR, "engine", "listing places failed: a key of %zu bytes is no address", size);
    return ENGINE_CORRUPT;
}

enum engine_status store_scan_next_place(struct engine_view *view, const struct engine_place *after,
                                         struct engine_place *out)
{
    struct store *store = (struct store *)view->engine;
    struct store_key first = { 0 };
    if (after != NULL && !store_key_init_next_place(&first, after))
        return ENGINE_END;
    rocksdb_iterator_t *iterator =
        rocksdb_create_iterator(store->db, ((struct store_view *)view)->read_options);
    if (after == NULL)
        rocksdb_iter_seek_to_first(iterator);
    else
        rocksdb_iter_seek(iterator, first.data, first.size);
    enum engine_status status = place_at(iterator, out);
    rocksdb_iter_destroy(iterator);
    store_key_deinit(&first);
    return status;
}
