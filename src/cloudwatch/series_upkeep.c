/* series_upkeep.c -- what became old is merged into coarser bins, or removed.
 *
 * A chunk moves to the next resolution in one engine write that puts the coarser bins and deletes
 * the finer ones. So a crash leaves each chunk in one of the two, and what is repeated changes
 * nothing: a coarser bin has no other source than the chunk that it replaces.
 */
#include <assert.h>
#include "base/arena.h"
#include "base/log.h"
#include "cloudwatch/series_store.h"

/* --- Merging --- */

struct merge {
    struct series_store *store;
    struct arena *arena;
    struct engine_view *view;
    struct engine_write *write;
    struct series_total from; /* The chunks' time; `size` is what is left of it. */
    enum series_resolution to;
    int64_t to_start_s;
    uint64_t to_size; /* What the time that they go to takes. */
};

static enum engine_status load_target(struct merge *merge, const struct engine_address *address,
                                      struct series_chunk *chunk, size_t *stored_size)
{
    const struct series_resolution_rule *rule = series_resolution_rule(merge->to);
    struct engine_value value = { 0 };
    enum engine_status status = engine_view_get(merge->view, address, &value);
    chunk->count = 0;
    *stored_size = 0;
    if (status == ENGINE_OK) {
        *stored_size = address->key.len + value.bytes.len;
        if (!series_chunk_decode(merge->arena, value.bytes, (size_t)(rule->chunk_s / rule->bin_s),
                                 chunk))
            chunk->count = 0;
    }
    engine_value_release(&value);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

/* Adds the bins of a chunk to its target. */
static enum engine_status merge_bins(struct merge *merge, uint64_t series_id,
                                     const struct series_chunk *source)
{
    const struct series_resolution_rule *from = series_resolution_rule(merge->from.resolution);
    const struct series_resolution_rule *to = series_resolution_rule(merge->to);
    const struct engine_address address = series_store_address(
        series_chunk_key(merge->arena, merge->to, merge->to_start_s, series_id));
    struct series_chunk target;
    size_t before;
    enum engine_status status = load_target(merge, &address, &target, &before);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < source->count; i++) {
        int64_t time_s = merge->from.start_s + (int64_t)source->bins[i].offset * from->bin_s;
        uint8_t offset = (uint8_t)((time_s - merge->to_start_s) / to->bin_s);
        sample_set_add(merge->arena, series_chunk_bin(&target, offset), &source->bins[i].set);
    }
    struct bytes value = series_chunk_encode(merge->arena, &target);
    engine_write_put(merge->write, &address, value);
    merge->to_size += address.key.len + value.len - before;
    return ENGINE_OK;
}

/* Moves one chunk. One of a series that was displaced, or a damaged one, is only deleted. */
static enum engine_status move_chunk(struct merge *merge, const struct engine_entry *entry)
{
    const struct series_resolution_rule *from = series_resolution_rule(merge->from.resolution);
    enum series_resolution resolution;
    int64_t start_s;
    uint64_t series_id;
    struct series_chunk source;
    enum engine_status status = ENGINE_OK;
    bool is_whole = series_chunk_key_parse(entry->key, &resolution, &start_s, &series_id) &&
                    series_chunk_decode(merge->arena, entry->value,
                                        (size_t)(from->chunk_s / from->bin_s), &source);
    if (!is_whole)
        log_write(LOG_ERROR, "metrics", "damaged samples of a metric were removed");
    else if (series_store_at(merge->store, series_id) != NULL)
        status = merge_bins(merge, series_id, &source);
    if (status == ENGINE_OK) {
        const struct engine_address address = series_store_address(entry->key);
        engine_write_delete(merge->write, &address);
        uint64_t size = entry->key.len + entry->value.len;
        merge->from.size -= size < merge->from.size ? size : merge->from.size;
    }
    return status;
}

static void put_total(struct merge *merge, enum series_resolution resolution, int64_t start_s,
                      uint64_t size)
{
    const struct engine_address address =
        series_store_address(series_total_key(merge->arena, resolution, start_s));
    if (size == 0)
        engine_write_delete(merge->write, &address);
    else
        engine_write_put(merge->write, &address,
                         series_numbers_encode(merge->arena, &size, SERIES_NUMBERS_TOTAL));
}

static uint64_t total_size(const struct series_store *store, enum series_resolution resolution,
                           int64_t start_s)
{
    size_t at = series_store_total_at(store, resolution, start_s);
    bool exists = at < store->total_count && store->totals[at].resolution == resolution &&
                  store->totals[at].start_s == start_s;
    return exists ? store->totals[at].size : 0;
}

/* Moves chunks of the time until there are none or `*budget` of them were moved. */
static enum engine_status move_some(struct merge *merge, size_t *budget)
{
    const struct engine_range range = {
        .place = series_place,
        .first = series_chunk_key(merge->arena, merge->from.resolution, merge->from.start_s, 0),
        .last = series_chunk_key_end(merge->arena, merge->from.resolution, merge->from.start_s),
        .count_max = *budget,
        .bytes_max = SERIES_WRITE_SIZE_MAX,
    };
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    size_t moved = 0;
    enum engine_status status = engine_scan_open(merge->view, &range, &scan);
    while (status == ENGINE_OK && (status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        status = move_chunk(merge, &entry);
        moved++;
    }
    engine_scan_close(scan);
    if (moved == 0) /* Whatever the total said. */
        merge->from.size = 0;
    *budget -= moved;
    return status == ENGINE_END ? ENGINE_OK : status;
}

/* One engine write. */
static enum engine_status merge_part(struct merge *merge, size_t *budget)
{
    struct series_store *store = merge->store;
    enum engine_status status =
        engine_view_open(store->options.engine, ENGINE_STRONG, &merge->view);
    if (status == ENGINE_OK)
        status = engine_write_begin(store->options.engine, NULL, 0, &merge->write);
    if (status == ENGINE_OK)
        status = move_some(merge, budget);
    engine_view_close(merge->view);
    if (status == ENGINE_OK) {
        put_total(merge, merge->from.resolution, merge->from.start_s, merge->from.size);
        put_total(merge, merge->to, merge->to_start_s, merge->to_size);
        status = engine_write_commit_wait(merge->write);
    } else if (merge->write != NULL) {
        engine_write_abandon(merge->write);
    }
    if (status == ENGINE_OK) {
        series_store_set_total(store, merge->from.resolution, merge->from.start_s,
                               merge->from.size);
        series_store_set_total(store, merge->to, merge->to_start_s, merge->to_size);
    } else {
        store->is_unsure = true;
    }
    merge->write = NULL;
    merge->view = NULL;
    return status;
}

/* --- Removing --- */

static enum engine_status remove_time(struct series_store *store, struct arena *arena,
                                      const struct series_total *time)
{
    struct engine_write *write = NULL;
    struct bytes first = series_chunk_key(arena, time->resolution, time->start_s, 0);
    struct bytes last = series_chunk_key_end(arena, time->resolution, time->start_s);
    const struct engine_address total =
        series_store_address(series_total_key(arena, time->resolution, time->start_s));
    enum engine_status status =
        engine_prepare_delete_range(store->options.engine, &series_place, first, last);
    if (status == ENGINE_OK)
        status = engine_write_begin(store->options.engine, NULL, 0, &write);
    if (status == ENGINE_OK) {
        engine_write_delete_range(write, &series_place, first, last);
        engine_write_delete(write, &total);
        status = engine_write_commit_wait(write);
    }
    if (status == ENGINE_OK)
        series_store_set_total(store, time->resolution, time->start_s, 0);
    else
        store->is_unsure = true;
    return status;
}

/* Deals with one time past its retention. False if there is none. */
static bool find_expired(const struct series_store *store, int64_t now_s, struct series_total *out)
{
    for (size_t i = 0; i < store->total_count; i++) {
        const struct series_resolution_rule *rule =
            series_resolution_rule(store->totals[i].resolution);
        if (store->totals[i].start_s + rule->chunk_s <= now_s - rule->kept_s) {
            *out = store->totals[i];
            return true;
        }
    }
    return false;
}

static bool find_oldest(const struct series_store *store, struct series_total *out)
{
    bool found = false;
    for (size_t i = 0; i < store->total_count; i++) {
        if (!found || store->totals[i].start_s < out->start_s)
            *out = store->totals[i];
        found = true;
    }
    return found;
}

static enum engine_status expire(struct series_store *store, struct arena *arena,
                                 const struct series_total *time, size_t *budget)
{
    if (series_resolution_rule(time->resolution)->is_deleted) {
        --*budget;
        return remove_time(store, arena, time);
    }
    struct merge merge = { .store = store, .arena = arena, .from = *time };
    merge.to = time->resolution + 1;
    merge.to_start_s = time->start_s - time->start_s % series_resolution_rule(merge.to)->chunk_s;
    merge.to_size = total_size(store, merge.to, merge.to_start_s);
    return merge_part(&merge, budget);
}

/* Series whose last samples have expired. */
static enum engine_status forget_empty(struct series_store *store, struct arena *arena,
                                       int64_t now_s, size_t *budget)
{
    struct engine_write *write = NULL;
    struct series *empty[64];
    size_t count = 0;
    for (size_t i = 0; i < store->series_count && count < 64; i++) {
        if (store->by_id[i]->last_s < now_s - SERIES_RETENTION_3600S_S - 2 * 86400)
            empty[count++] = store->by_id[i];
    }
    if (count == 0)
        return ENGINE_OK;
    enum engine_status status = engine_write_begin(store->options.engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const struct engine_address address =
            series_store_address(series_definition_key(arena, empty[i]->id));
        engine_write_delete(write, &address);
    }
    status = engine_write_commit_wait(write);
    for (size_t i = 0; i < count && status == ENGINE_OK; i++)
        series_store_forget(store, empty[i]);
    *budget -= *budget < count ? *budget : count;
    return status;
}

enum engine_status series_upkeep(struct series_store *store, int64_t now_s, bool *more)
{
    size_t budget = SERIES_UPKEEP_CHUNKS_MAX;
    struct series_total time;
    struct arena *arena = arena_create();
    *more = false;
    pthread_mutex_lock(&store->write_lock);
    enum engine_status status = series_store_be_sure(store);
    if (status == ENGINE_OK)
        status = forget_empty(store, arena, now_s, &budget);
    while (status == ENGINE_OK && budget > 0 && find_expired(store, now_s, &time)) {
        status = expire(store, arena, &time, &budget);
        arena_reset(arena);
    }
    while (status == ENGINE_OK && store->size > store->options.size_max &&
           find_oldest(store, &time)) {
        status = remove_time(store, arena, &time);
        arena_reset(arena);
    }
    *more = status == ENGINE_OK && budget == 0;
    pthread_mutex_unlock(&store->write_lock);
    arena_destroy(arena);
    return status;
}
