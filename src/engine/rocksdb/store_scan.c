/* store_scan.c -- a range of one place, in key order or against it; and which places there are.
 *
 * RocksDB keeps the iterator within the bounds, so that it never reads blocks, or steps over
 * deleted keys, outside of the range. It borrows the bounds, which is why they live in the scan.
 *
 * A scan of the items of one partition key lies within what filters know (store_key.h), so that it
 * looks into no memtable or file without any of them. Any other scan must tell RocksDB that it
 * needs the total order, else filters would hide entries from it.
 */
#include <stdlib.h>
#include "base/log.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_key.h"
#include "engine/rocksdb/store_status.h"

struct store_scan {
    struct engine_scan base;
    struct store_key first;
    struct store_key last;
    rocksdb_readoptions_t *read_options;
    rocksdb_iterator_t *iterator;
    bool reverse;
    bool started;
    size_t count_left; /* SIZE_MAX: no limit. */
    size_t bytes_left; /* SIZE_MAX: no limit. */
};

enum engine_status store_scan_open(struct engine_view *view, const struct engine_range *range,
                                   struct engine_scan **out)
{
    struct store *store = (struct store *)view->engine;
    struct store_scan *scan = store_alloc(sizeof *scan);
    scan->base.engine = view->engine;
    scan->reverse = range->reverse;
    scan->count_left = range->count_max == 0 ? SIZE_MAX : range->count_max;
    scan->bytes_left = range->bytes_max == 0 ? SIZE_MAX : range->bytes_max;
    store_key_init(&scan->first, &range->place, range->first);
    store_key_init_last(&scan->last, &range->place, range->last);

    scan->read_options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(scan->read_options, ((struct store_view *)view)->snapshot);
    rocksdb_readoptions_set_iterate_lower_bound(scan->read_options, scan->first.data,
                                                scan->first.size);
    rocksdb_readoptions_set_iterate_upper_bound(scan->read_options, scan->last.data,
                                                scan->last.size);
    bool filtered = store_key_is_filtered(&scan->first, &scan->last);
    rocksdb_readoptions_set_total_order_seek(scan->read_options, !filtered);
    scan->iterator = rocksdb_create_iterator(store->db, scan->read_options);
    *out = &scan->base;
    return ENGINE_OK;
}

static void step(struct store_scan *scan)
{
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

enum engine_status store_scan_next(struct engine_scan *base, struct engine_entry *out)
{
    struct store_scan *scan = (struct store_scan *)base;
    if (scan->count_left == 0 || scan->bytes_left == 0)
        return ENGINE_END;
    step(scan);
    if (!rocksdb_iter_valid(scan->iterator)) {
        scan->count_left = 0; /* An iterator that ended must not be moved again. */
        char *error = NULL;
        rocksdb_iter_get_error(scan->iterator, &error);
        return error == NULL ? ENGINE_END : store_status_take(error, "scanning");
    }
    size_t key_size, value_size;
    const char *key = rocksdb_iter_key(scan->iterator, &key_size);
    const char *value = rocksdb_iter_value(scan->iterator, &value_size);
    out->key = bytes_of(key + STORE_KEY_PREFIX_SIZE, key_size - STORE_KEY_PREFIX_SIZE);
    out->value = bytes_of(value_size == 0 ? "" : value, value_size);

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
    rocksdb_iter_destroy(scan->iterator);
    rocksdb_readoptions_destroy(scan->read_options);
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
