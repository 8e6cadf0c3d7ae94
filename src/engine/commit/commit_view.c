/* commit_view.c -- views and scans of commit_engine.h.
 *
 * A strong view remembers the version of each partition that it has read. A read of a partition
 * that it has read before must find the same version. With the first read of another partition, all
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
    bool reverse;
    struct bytes first, last; /* What is left: keys of data. */
    size_t prefix_size;       /* Of such a key, before the engine's. */
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
    if (view->consistency != ENGINE_STRONG)
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
    struct partition_id id = commit_format_partition(&address->place);
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
                .alike_size = 1,
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

static struct bytes data_key(struct arena *arena, uint64_t owner, unsigned space, struct bytes key)
{
    return commit_format_key(arena, COMMIT_KEY_DATA,
                             commit_format_name(arena, owner, (enum engine_space)space, key));
}

/* Where the keys of a place end. */
static struct bytes place_end(struct arena *arena, const struct engine_place *place)
{
    unsigned next = (unsigned)place->space + 1;
    return next <= UINT8_MAX ? data_key(arena, place->owner, next, BYTES(""))
                             : data_key(arena, place->owner + 1, 0, BYTES(""));
}

enum engine_status commit_scan_open(struct engine_view *base, const struct engine_range *range,
                                    struct engine_scan **out)
{
    struct commit_scan *scan = memory_checked(calloc(1, sizeof *scan));
    scan->base.engine = base->engine;
    scan->view = (struct commit_view *)base;
    scan->arena = arena_create();
    scan->partition = commit_format_partition(&range->place);
    scan->reverse = range->reverse;
    scan->first = data_key(scan->arena, range->place.owner, range->place.space, range->first);
    scan->last = range->last.len == 0
                     ? place_end(scan->arena, &range->place)
                     : data_key(scan->arena, range->place.owner, range->place.space, range->last);
    scan->prefix_size = scan->first.len - range->first.len;
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
        .alike_size = scan->prefix_size,
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
    out->key = bytes_of(entry->key.data + scan->prefix_size, entry->key.len - scan->prefix_size);
    size_t size = out->key.len + out->value.len;
    if (scan->count_left != SIZE_MAX)
        scan->count_left--;
    if (scan->bytes_left != SIZE_MAX)
        scan->bytes_left -= smaller(size, scan->bytes_left);
    return ENGINE_OK;
}

/* --- Places --- */

/* The first place of a partition from (`owner`, `space`) on; ENGINE_END if there is none. */
static enum engine_status first_place(struct commit_view *view, const struct partition_id *id,
                                      uint64_t owner, unsigned space, struct engine_place *out)
{
    struct commit_core *core = &((struct commit_engine *)view->base.engine)->core;
    uint64_t version = 0;
    struct bytes key;
    arena_reset(view->arena);
    struct partition_range range = {
        .first = data_key(view->arena, owner, space, BYTES("")),
        .last = BYTES("E"),
        .count_max = 1,
        .alike_size = 1,
    };
    enum engine_status status = read_page(core, view->arena, id, &range, &version);
    if (status != ENGINE_OK || range.count == 0)
        return status == ENGINE_OK ? ENGINE_END : status;
    out->partition = id->number;
    return commit_format_read_name(name_of(range.entries[0].key), &out->owner, &out->space, &key)
               ? ENGINE_OK
               : ENGINE_CORRUPT;
}

/* Looks at the partitions behind `first` (NULL: at all) for the first place of the least owner from
 * `owner` on. A place of `owner` itself ends the search. */
static enum engine_status search_places(struct commit_view *view, const struct partition_id *first,
                                        uint64_t owner, struct engine_place *out)
{
    struct partition_store *store = ((struct commit_engine *)view->base.engine)->core.store;
    struct partition_id id = { 0 };
    enum engine_status status = ENGINE_END;
    if (first != NULL)
        id = *first;
    for (bool begins = first == NULL;; begins = false) {
        struct partition_id next;
        struct engine_place place;
        enum partition_status found = store->ops->next_partition(store, begins ? NULL : &id, &next);
        if (found != PARTITION_OK)
            return found == PARTITION_REFUSED ? status : commit_core_status(found);
        id = next;
        enum engine_status looked = first_place(view, &id, owner, 0, &place);
        if (looked != ENGINE_OK && looked != ENGINE_END)
            return looked;
        if (looked == ENGINE_OK && (status == ENGINE_END || place.owner < out->owner)) {
            *out = place;
            status = ENGINE_OK;
        }
        if (status == ENGINE_OK && out->owner == owner)
            return ENGINE_OK;
    }
}

/* The next place of the same owner; ENGINE_END if there is none. */
static enum engine_status next_of_owner(struct commit_view *view, const struct engine_place *after,
                                        struct engine_place *out)
{
    struct partition_id id = commit_format_partition(after);
    enum engine_status status = ENGINE_END;
    if (after->space < UINT8_MAX)
        status = first_place(view, &id, after->owner, (unsigned)after->space + 1, out);
    if (status == ENGINE_OK && out->owner != after->owner)
        status = ENGINE_END;
    if (status == ENGINE_END)
        status = search_places(view, &id, after->owner, out);
    return status == ENGINE_OK && out->owner != after->owner ? ENGINE_END : status;
}

/* Partitions are in the order of their numbers, and places in that of their owners: what follows
 * the last place of an owner is known only after a look at all partitions. */
enum engine_status commit_view_next_place(struct engine_view *base,
                                          const struct engine_place *after,
                                          struct engine_place *out)
{
    struct commit_view *view = (struct commit_view *)base;
    struct engine_place found;
    enum engine_status status;
    if (after == NULL) {
        status = search_places(view, NULL, 0, &found);
    } else {
        status = next_of_owner(view, after, &found);
        if (status == ENGINE_END && after->owner < ENGINE_OWNER_MAX)
            status = search_places(view, NULL, after->owner + 1, &found);
    }
    if (status == ENGINE_OK)
        *out = found;
    return status;
}
