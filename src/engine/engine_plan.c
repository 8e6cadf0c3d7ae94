/* engine_plan.c -- see engine_plan.h. */
#include "engine/engine_plan.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "engine/engine_ops.h"

/* --- Backward scans --- */

struct kept_entry {
    size_t key_size;
    size_t value_size;
    uint8_t bytes[]; /* The key, then the value. */
};

/* `base.engine` is `facade`, so that the steps of the scan come here. */
struct reverse_scan {
    struct engine_scan base;
    struct engine facade;
    struct engine_view *view;
    struct engine_place place;
    struct bytes first; /* Both are the scan's own. */
    struct bytes last;  /* What is below it was not read, or not kept. */
    bool ended;         /* Nothing is left in the store below what is kept. */
    size_t count_left;  /* SIZE_MAX: no limit. */
    size_t bytes_left;  /* SIZE_MAX: no limit. */
    /* A ring: the entry at `oldest` and the `kept_count - 1` behind it, in the order of keys. */
    struct kept_entry *kept[ENGINE_PLAN_KEPT_MAX];
    size_t oldest;
    size_t kept_count;
    size_t kept_size;
    struct kept_entry *handed_out; /* Lives until the next step. */
};

static size_t size_of(const struct kept_entry *entry)
{
    return entry->key_size + entry->value_size;
}

static struct bytes copy_of(struct bytes from)
{
    uint8_t *to = memory_checked(malloc(from.len + 1));
    if (from.len > 0)
        memcpy(to, from.data, from.len);
    return bytes_of(to, from.len);
}

static void drop_oldest(struct reverse_scan *scan)
{
    assert(scan->kept_count > 0);
    scan->kept_size -= size_of(scan->kept[scan->oldest]);
    free(scan->kept[scan->oldest]);
    scan->oldest = (scan->oldest + 1) % ENGINE_PLAN_KEPT_MAX;
    scan->kept_count--;
}

static void keep_newest(struct reverse_scan *scan, const struct engine_entry *from)
{
    assert(scan->kept_count < ENGINE_PLAN_KEPT_MAX);
    struct kept_entry *entry =
        memory_checked(malloc(sizeof *entry + from->key.len + from->value.len));
    entry->key_size = from->key.len;
    entry->value_size = from->value.len;
    memcpy(entry->bytes, from->key.data, from->key.len);
    memcpy(entry->bytes + from->key.len, from->value.data, from->value.len);
    scan->kept[(scan->oldest + scan->kept_count) % ENGINE_PLAN_KEPT_MAX] = entry;
    scan->kept_count++;
    scan->kept_size += size_of(entry);
}

static struct kept_entry *take_newest(struct reverse_scan *scan)
{
    assert(scan->kept_count > 0);
    scan->kept_count--;
    struct kept_entry *entry = scan->kept[(scan->oldest + scan->kept_count) % ENGINE_PLAN_KEPT_MAX];
    scan->kept_size -= size_of(entry);
    return entry;
}

/* Reads [first, last) forward and keeps its end. One entry is kept whatever its size. */
static enum engine_status refill(struct reverse_scan *scan)
{
    const struct engine_range range = { .place = scan->place,
                                        .first = scan->first,
                                        .last = scan->last };
    size_t count_max =
        scan->count_left < ENGINE_PLAN_KEPT_MAX ? scan->count_left : ENGINE_PLAN_KEPT_MAX;
    struct engine_scan *forward = NULL;
    struct engine_entry entry;
    assert(scan->kept_count == 0 && count_max > 0);
    enum engine_status status = engine_scan_open(scan->view, &range, &forward);
    scan->ended = true;
    while (status == ENGINE_OK && (status = engine_scan_next(forward, &entry)) == ENGINE_OK) {
        while (scan->kept_count == count_max ||
               (scan->kept_count > 0 &&
                scan->kept_size + entry.key.len + entry.value.len > ENGINE_PLAN_KEPT_SIZE)) {
            drop_oldest(scan);
            scan->ended = false;
        }
        keep_newest(scan, &entry);
    }
    engine_scan_close(forward);
    if (status != ENGINE_END) {
        while (scan->kept_count > 0)
            drop_oldest(scan);
        scan->ended = false;
        return status;
    }
    if (scan->kept_count > 0) {
        const struct kept_entry *oldest = scan->kept[scan->oldest];
        free((void *)scan->last.data);
        scan->last = copy_of(bytes_of(oldest->bytes, oldest->key_size));
    }
    return ENGINE_OK;
}

static enum engine_status reverse_next(struct engine_scan *base, struct engine_entry *out)
{
    struct reverse_scan *scan = (struct reverse_scan *)base;
    if (scan->count_left == 0 || scan->bytes_left == 0)
        return ENGINE_END;
    if (scan->kept_count == 0 && !scan->ended) {
        enum engine_status status = refill(scan);
        if (status != ENGINE_OK)
            return status;
    }
    if (scan->kept_count == 0)
        return ENGINE_END;
    free(scan->handed_out);
    struct kept_entry *entry = scan->handed_out = take_newest(scan);
    out->key = bytes_of(entry->bytes, entry->key_size);
    out->value = bytes_of(entry->bytes + entry->key_size, entry->value_size);
    if (scan->count_left != SIZE_MAX)
        scan->count_left--;
    if (scan->bytes_left != SIZE_MAX)
        scan->bytes_left -= size_of(entry) < scan->bytes_left ? size_of(entry) : scan->bytes_left;
    return ENGINE_OK;
}

static void reverse_close(struct engine_scan *base)
{
    struct reverse_scan *scan = (struct reverse_scan *)base;
    while (scan->kept_count > 0)
        drop_oldest(scan);
    free(scan->handed_out);
    free((void *)scan->first.data);
    free((void *)scan->last.data);
    free(scan);
}

static const struct engine_ops reverse_ops = {
    .scan_next = reverse_next,
    .scan_close = reverse_close,
};

struct engine_scan *engine_plan_reverse_scan(struct engine_view *view,
                                             const struct engine_range *range)
{
    assert(range->reverse);
    struct reverse_scan *scan = memory_checked(calloc(1, sizeof *scan));
    scan->facade.ops = &reverse_ops;
    scan->base.engine = &scan->facade;
    scan->view = view;
    scan->place = range->place;
    scan->first = copy_of(range->first);
    scan->last = copy_of(range->last);
    scan->count_left = range->count_max == 0 ? SIZE_MAX : range->count_max;
    scan->bytes_left = range->bytes_max == 0 ? SIZE_MAX : range->bytes_max;
    return &scan->base;
}

/* --- Range deletes --- */

/* Adds deletes to `write` for what `view` shows of a range, while `*left` allows. ENGINE_END when
 * it came to the end of the range. */
static enum engine_status delete_shown(struct engine_view *view, const struct engine_place *place,
                                       struct bytes first, struct bytes last,
                                       struct engine_write *write, size_t *left)
{
    const struct engine_range range = { .place = *place, .first = first, .last = last };
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum engine_status status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK && (status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        if (*left == 0)
            break;
        const struct engine_address address = { *place, entry.key };
        engine_write_delete(write, &address);
        --*left;
    }
    engine_scan_close(scan);
    return status;
}

/* The same for all places of an owner. */
static enum engine_status delete_owner_shown(struct engine_view *view, uint64_t owner,
                                             struct engine_write *write, size_t *left)
{
    struct engine_place place = { .owner = owner };
    enum engine_status status = engine_view_next_place(view, &place, &place);
    while (status == ENGINE_OK && place.owner == owner) {
        status = delete_shown(view, &place, BYTES(""), BYTES(""), write, left);
        if (status == ENGINE_END)
            status = engine_view_next_place(view, &place, &place);
        else if (status == ENGINE_OK)
            return ENGINE_OK;
    }
    return status == ENGINE_OK ? ENGINE_END : status;
}

/* What is deleted: a range of a place, or all of an owner. */
struct doomed {
    const struct engine_place *place; /* NULL: the owner. */
    struct bytes first, last;
    uint64_t owner;
};

/* ENGINE_END if `write` now deletes all of it, ENGINE_OK if there is more. */
static enum engine_status delete_some(struct engine_write *write, const struct doomed *doomed)
{
    size_t left = ENGINE_RANGE_KEYS_MAX;
    struct engine_view *view = NULL;
    enum engine_status status = engine_view_open(write->engine, ENGINE_NEWEST, &view);
    if (status == ENGINE_OK)
        status = doomed->place == NULL
                     ? delete_owner_shown(view, doomed->owner, write, &left)
                     : delete_shown(view, doomed->place, doomed->first, doomed->last, write, &left);
    engine_view_close(view);
    return status;
}

static enum engine_status delete_all(struct engine_write *write, const struct doomed *doomed)
{
    enum engine_status status = delete_some(write, doomed);
    if (status == ENGINE_END)
        return ENGINE_OK;
    return status == ENGINE_OK ? ENGINE_TOO_LARGE : status;
}

enum engine_status engine_plan_delete_range(struct engine_write *write,
                                            const struct engine_place *place, struct bytes first,
                                            struct bytes last)
{
    return delete_all(write, &(struct doomed){ .place = place, .first = first, .last = last });
}

enum engine_status engine_plan_delete_owner(struct engine_write *write, uint64_t owner)
{
    return delete_all(write, &(struct doomed){ .owner = owner });
}

static enum engine_status delete_in_steps(struct engine *engine, const struct doomed *doomed)
{
    enum engine_status status = ENGINE_OK;
    if ((engine_capabilities(engine) & ENGINE_RANGE_DELETE) != 0)
        return ENGINE_OK;
    while (status == ENGINE_OK) {
        struct engine_write *write = NULL;
        status = engine_write_begin(engine, NULL, 0, &write);
        if (status != ENGINE_OK)
            return status;
        status = delete_some(write, doomed);
        if (status != ENGINE_OK && status != ENGINE_END) {
            engine_write_abandon(write);
            return status;
        }
        enum engine_status committed = engine_write_commit_wait(write);
        if (committed != ENGINE_OK)
            return committed;
    }
    return ENGINE_OK;
}

enum engine_status engine_prepare_delete_range(struct engine *engine,
                                               const struct engine_place *place, struct bytes first,
                                               struct bytes last)
{
    return delete_in_steps(engine,
                           &(struct doomed){ .place = place, .first = first, .last = last });
}

enum engine_status engine_prepare_delete_owner(struct engine *engine, uint64_t owner)
{
    assert(owner < ENGINE_OWNER_MAX);
    return delete_in_steps(engine, &(struct doomed){ .owner = owner });
}
