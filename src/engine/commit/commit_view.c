/* commit_view.c -- views and scans of commit_engine.h.
 *
 * A view remembers the version of each partition that it has read. A read of a partition that it
 * has read before must find the same version. With the first read of another partition, all
 * versions are read again: if none has changed, everything that was shown holds at this moment.
 */
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/memory.h"
#include "engine/commit/commit_store.h"

struct view_part {
    struct partition_id id;
    uint64_t version;
};

struct commit_view {
    struct engine_view base;
    enum engine_consistency consistency;
    struct arena *arena; /* Of one read. */
    struct view_part *parts;
    size_t part_count, part_capacity;
};

struct commit_scan {
    struct engine_scan base;
    struct commit_view *view;
    struct arena *arena; /* The bounds, and the page. */
    struct partition_id partition;
    uint8_t space;
    bool reverse;
    struct bytes first, last; /* What is left: keys of data. */
    size_t count_left;        /* SIZE_MAX: no limit. */
    size_t bytes_left;        /* SIZE_MAX: no limit. */
    struct partition_entry *entries;
    size_t count, at;
    bool more; /* Behind this page. */
};

void commit_value_set(struct engine_value *out, struct bytes payload)
{
    uint8_t *copy = memory_checked(malloc(payload.len + 1));
    if (payload.len > 0)
        memcpy(copy, payload.data, payload.len);
    out->bytes = bytes_of(copy, payload.len);
    out->handle = copy;
    out->release = free;
}

enum engine_status commit_view_open(struct engine *engine, enum engine_consistency consistency,
                                    struct engine_view **out)
{
    struct commit_view *view = memory_checked(calloc(1, sizeof *view));
    view->base.engine = engine;
    view->consistency = consistency;
    view->arena = arena_create();
    *out = &view->base;
    return ENGINE_OK;
}

struct engine_view *commit_view_share(struct engine_view *base)
{
    const struct commit_view *from = (struct commit_view *)base;
    struct commit_view *view = memory_checked(calloc(1, sizeof *view));
    *view = *from;
    view->arena = arena_create();
    view->part_capacity = from->part_count;
    view->parts = memory_checked(malloc((from->part_count + 1) * sizeof *view->parts));
    if (from->part_count > 0)
        memcpy(view->parts, from->parts, from->part_count * sizeof *view->parts);
    return &view->base;
}

void commit_view_close(struct engine_view *base)
{
    struct commit_view *view = (struct commit_view *)base;
    arena_destroy(view->arena);
    free(view->parts);
    free(view);
}

/* ENGINE_OK if none of the partitions that were read has changed. */
static enum engine_status confirm_parts(struct commit_view *view, struct arena *arena)
{
    struct commit_core *core = &((struct commit_engine *)view->base.engine)->core;
    struct partition_operation *reads =
        arena_alloc_zeroed(arena, (view->part_count + 1) * sizeof *reads);
    for (size_t i = 0; i < view->part_count; i++)
        reads[i].partition = view->parts[i].id;
    core->store->ops->run(core->store, arena, reads, view->part_count);
    for (size_t i = 0; i < view->part_count; i++) {
        if (reads[i].status != PARTITION_OK)
            return commit_core_status(reads[i].status);
        if (reads[i].version != view->parts[i].version)
            return ENGINE_CONFLICT;
    }
    return ENGINE_OK;
}

/* After a read of a partition, at this version of it. */
static enum engine_status note_read(struct commit_view *view, struct arena *arena,
                                    const struct partition_id *id, uint64_t version)
{
    if (view->consistency == ENGINE_EVENTUAL)
        return ENGINE_OK;
    for (size_t i = 0; i < view->part_count; i++)
        if (partition_id_compare(&view->parts[i].id, id) == 0)
            return view->parts[i].version == version ? ENGINE_OK : ENGINE_CONFLICT;
    if (view->part_count == COMMIT_VIEW_PARTITIONS_MAX)
        return ENGINE_TOO_LARGE;
    enum engine_status status = view->part_count == 0 ? ENGINE_OK : confirm_parts(view, arena);
    if (status != ENGINE_OK)
        return status;
    if (view->part_count == view->part_capacity) {
        view->part_capacity = 2 * view->part_capacity + 2;
        view->parts =
            memory_checked(realloc(view->parts, view->part_capacity * sizeof *view->parts));
    }
    view->parts[view->part_count++] = (struct view_part){ *id, version };
    return ENGINE_OK;
}

enum engine_status commit_view_get(struct engine_view *base, const struct engine_address *address,
                                   struct engine_value *out)
{
    struct commit_view *view = (struct commit_view *)base;
    struct partition_id id = { address->place.owner, address->place.partition };
    struct commit_txn txn;
    struct bytes payload = { 0 };
    uint64_t version = 0;
    arena_reset(view->arena);
    commit_txn_init(&txn, &((struct commit_engine *)base->engine)->core, view->arena);
    enum engine_status status = commit_txn_get(&txn, address, &payload, &version);
    if (status != ENGINE_OK && status != ENGINE_NOT_FOUND)
        return status;
    enum engine_status noted = note_read(view, view->arena, &id, version);
    if (noted != ENGINE_OK)
        return noted;
    if (status == ENGINE_OK)
        commit_value_set(out, payload);
    return status;
}

/* --- Pages --- */

static struct bytes name_of(struct bytes key)
{
    return bytes_of(key.data + 1, key.len - 1);
}

/* True if the first intent that was found is on a key that the page of data reaches, or would. */
static bool is_reached(const struct partition_range *data, const struct partition_range *intents)
{
    if (intents->count == 0 || !data->more || data->count == 0)
        return intents->count > 0;
    int order = bytes_compare(name_of(intents->entries[0].key),
                              name_of(data->entries[data->count - 1].key));
    return data->reverse ? order >= 0 : order <= 0;
}

/* Reads a page of data at a moment when there was no intent in it. */
static enum engine_status read_page(struct commit_core *core, struct arena *arena,
                                    const struct partition_id *partition,
                                    struct partition_range *data, uint64_t *version)
{
    struct commit_waiter waiter = { 0 };
    for (;;) {
        struct partition_range ranges[] = {
            *data,
            {
                .first = commit_format_key(arena, COMMIT_KEY_INTENT, name_of(data->first)),
                .last = data->last.len == 1
                            ? BYTES("J")
                            : commit_format_key(arena, COMMIT_KEY_INTENT, name_of(data->last)),
                .reverse = data->reverse,
                .count_max = 1,
            },
        };
        struct partition_operation read = {
            .partition = *partition,
            .ranges = ranges,
            .range_count = 2,
        };
        enum partition_status status = commit_core_run(core, arena, &read);
        if (status != PARTITION_OK)
            return commit_core_status(status);
        if (!is_reached(&ranges[0], &ranges[1])) {
            *data = ranges[0];
            *version = read.version;
            return ENGINE_OK;
        }
        struct commit_intent intent;
        if (!commit_format_read_intent(ranges[1].entries[0].value, &intent))
            return ENGINE_CORRUPT;
        enum engine_status resolved = commit_core_resolve(
            core, arena, &waiter, partition, name_of(ranges[1].entries[0].key), &intent);
        if (resolved != ENGINE_OK)
            return resolved;
    }
}

/* --- Scans --- */

/* A key of data in a space; all of it in one allocation. */
static struct bytes data_key(struct arena *arena, uint8_t space, struct bytes key)
{
    uint8_t header[] = { COMMIT_KEY_DATA, space };
    struct bytes parts[] = { bytes_of(header, sizeof header), key };
    return arena_join(arena, parts, 2);
}

enum engine_status commit_scan_open(struct engine_view *base, const struct engine_range *range,
                                    struct engine_scan **out)
{
    struct commit_scan *scan = memory_checked(calloc(1, sizeof *scan));
    scan->base.engine = base->engine;
    scan->view = (struct commit_view *)base;
    scan->arena = arena_create();
    scan->partition = (struct partition_id){ range->place.owner, range->place.partition };
    scan->space = (uint8_t)range->place.space;
    scan->reverse = range->reverse;
    scan->first = data_key(scan->arena, scan->space, range->first);
    scan->last = range->last.len == 0 ? data_key(scan->arena, (uint8_t)(scan->space + 1), BYTES(""))
                                      : data_key(scan->arena, scan->space, range->last);
    scan->count_left = range->count_max == 0 ? SIZE_MAX : range->count_max;
    scan->bytes_left = range->bytes_max == 0 ? SIZE_MAX : range->bytes_max;
    scan->more = bytes_compare(scan->first, scan->last) < 0;
    *out = &scan->base;
    return ENGINE_OK;
}

void commit_scan_close(struct engine_scan *base)
{
    arena_destroy(((struct commit_scan *)base)->arena);
    free(base);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Moves the bounds, which must survive the page before, to what is left behind it. */
static void move_bounds(struct commit_scan *scan)
{
    uint8_t *kept[2];
    size_t sizes[2];
    struct bytes bounds[2] = { scan->first, scan->last };
    if (scan->count > 0 && scan->reverse)
        bounds[1] = scan->entries[scan->count - 1].key;
    else if (scan->count > 0)
        bounds[0] = scan->entries[scan->count - 1].key;
    bool behind = scan->count > 0 && !scan->reverse;
    for (size_t i = 0; i < 2; i++) {
        sizes[i] = bounds[i].len;
        kept[i] = memory_checked(malloc(sizes[i] + 1));
        memcpy(kept[i], bounds[i].data, sizes[i]);
    }
    if (behind) /* Behind a key is the key with a zero byte added. */
        kept[0][sizes[0]++] = 0;
    arena_reset(scan->arena);
    scan->first = arena_copy(scan->arena, bytes_of(kept[0], sizes[0]));
    scan->last = arena_copy(scan->arena, bytes_of(kept[1], sizes[1]));
    free(kept[0]);
    free(kept[1]);
}

static enum engine_status next_page(struct commit_scan *scan)
{
    struct commit_core *core = &((struct commit_engine *)scan->base.engine)->core;
    move_bounds(scan);
    struct partition_range range = {
        .first = scan->first,
        .last = scan->last,
        .reverse = scan->reverse,
        .count_max = smaller(scan->count_left, COMMIT_PAGE_ENTRIES),
        .bytes_max = COMMIT_PAGE_SIZE,
    };
    uint64_t version = 0;
    enum engine_status status = read_page(core, scan->arena, &scan->partition, &range, &version);
    if (status == ENGINE_OK)
        status = note_read(scan->view, scan->arena, &scan->partition, version);
    if (status != ENGINE_OK)
        return status;
    scan->entries = range.entries;
    scan->count = range.count;
    scan->at = 0;
    scan->more = range.more && range.count > 0;
    return ENGINE_OK;
}

enum engine_status commit_scan_next(struct engine_scan *base, struct engine_entry *out)
{
    struct commit_scan *scan = (struct commit_scan *)base;
    if (scan->count_left == 0 || scan->bytes_left == 0)
        return ENGINE_END;
    if (scan->at == scan->count) {
        if (!scan->more)
            return ENGINE_END;
        enum engine_status status = next_page(scan);
        if (status != ENGINE_OK)
            return status;
        if (scan->count == 0)
            return ENGINE_END;
    }
    const struct partition_entry *entry = &scan->entries[scan->at];
    struct partition_stamp stamp;
    if (!commit_format_read_data(entry->value, &stamp, &out->value))
        return ENGINE_CORRUPT;
    scan->at++;
    out->key = bytes_of(entry->key.data + 2, entry->key.len - 2);
    size_t size = out->key.len + out->value.len;
    if (scan->count_left != SIZE_MAX)
        scan->count_left--;
    if (scan->bytes_left != SIZE_MAX)
        scan->bytes_left -= smaller(size, scan->bytes_left);
    return ENGINE_OK;
}

/* --- Places --- */

/* The first space from `space` on that holds data in a partition; ENGINE_END if there is none. */
static enum engine_status first_space(struct commit_view *view, const struct partition_id *id,
                                      unsigned space, unsigned *out)
{
    struct commit_core *core = &((struct commit_engine *)view->base.engine)->core;
    uint64_t version = 0;
    if (space > UINT8_MAX)
        return ENGINE_END;
    arena_reset(view->arena);
    struct partition_range range = {
        .first = data_key(view->arena, (uint8_t)space, BYTES("")),
        .last = BYTES("E"),
        .count_max = 1,
    };
    enum engine_status status = read_page(core, view->arena, id, &range, &version);
    if (status != ENGINE_OK || range.count == 0)
        return status == ENGINE_OK ? ENGINE_END : status;
    if (range.entries[0].key.len < 2)
        return ENGINE_CORRUPT;
    *out = range.entries[0].key.data[1];
    return ENGINE_OK;
}

enum engine_status commit_view_next_place(struct engine_view *base,
                                          const struct engine_place *after,
                                          struct engine_place *out)
{
    struct commit_view *view = (struct commit_view *)base;
    struct partition_store *store = ((struct commit_engine *)base->engine)->core.store;
    struct partition_id id = { 0 };
    enum engine_status status = ENGINE_END;
    unsigned space = 0;
    bool has_id = after != NULL;
    if (has_id) {
        id = (struct partition_id){ after->owner, after->partition };
        status = first_space(view, &id, (unsigned)after->space + 1, &space);
    }
    while (status == ENGINE_END) {
        struct partition_id next;
        enum partition_status found = store->ops->next_partition(store, has_id ? &id : NULL, &next);
        if (found != PARTITION_OK)
            return found == PARTITION_REFUSED ? ENGINE_END : commit_core_status(found);
        id = next;
        has_id = true;
        status = first_space(view, &id, 0, &space);
    }
    if (status == ENGINE_OK)
        *out = (struct engine_place){ id.owner, id.partition, (enum engine_space)space };
    return status;
}
