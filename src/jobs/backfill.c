/* backfill.c -- see backfill.h.
 *
 * Why an index, or an expiry queue, is complete in the end: the first slice begins when no version
 * of the table is in use in which writes do not keep it right. From then on each item either is in
 * the views read here, or was written by somebody who stored its entry; and what was read here is
 * read again under its latch before its entry is stored.
 */
#include "jobs/backfill.h"
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "index/index_view.h"
#include "jobs/job.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/expiry_queue.h"
#include "table/item_address.h"
#include "table/layout.h"

static_assert((int)LAYOUT_HASH_SIZE <= (int)BACKFILLED_SIZE_MIN, "a position begins with a hash");

struct backfill {
    struct backfill_options options;
    struct job_thread thread;
    struct job_batches batches;
};

/* One turn of one index or expiry queue. */
struct slice {
    struct backfill *backfill;
    const struct table *version; /* Whose definition `table` is. */
    const struct table_definition *table;
    const struct index_definition *index; /* NULL: the expiry queue. */
    bool complete;
    size_t position_size; /* 0: at the beginning. */
    uint8_t position[BACKFILLED_SIZE_MAX];
};

/* --- The position --- */

static void set_position(struct slice *slice, struct bytes position)
{
    assert(position.len <= sizeof slice->position);
    slice->position_size = position.len;
    if (position.len > 0)
        memcpy(slice->position, position.data, position.len);
}

static struct engine_place place_of_position(const struct slice *slice)
{
    uint64_t hash = slice->position_size == 0 ? 0 : load_u64_be(slice->position);
    return item_address_of_hash(slice->table, hash);
}

/* A damaged key could lead into another partition. */
static bool is_key_of(const struct table_definition *table, const struct engine_place *place,
                      struct bytes key)
{
    return key.len >= LAYOUT_HASH_SIZE && key.len < BACKFILLED_SIZE_MAX &&
           item_address_of_hash(table, load_u64_be(key.data)).partition == place->partition;
}

/* Right behind a key: at that key and one zero byte. */
static enum engine_status go_behind(struct slice *slice, const struct engine_place *place,
                                    struct bytes key)
{
    if (!is_key_of(slice->table, place, key)) {
        log_write(LOG_ERROR, "backfill", "table %.*s: an item's key is damaged",
                  BYTES_FMT(slice->table->name));
        return ENGINE_CORRUPT;
    }
    set_position(slice, key);
    slice->position[slice->position_size++] = 0;
    return ENGINE_OK;
}

static void go_to_next_partition(struct slice *slice, uint64_t partition_id)
{
    const struct table_definition *table = slice->table;
    size_t next = 0;
    while (table->partitions[next++].id != partition_id)
        assert(next < table->partition_count);
    slice->complete = next == table->partition_count;
    if (slice->complete)
        return;
    store_u64_be(slice->position, table->partitions[next].first_hash);
    slice->position_size = LAYOUT_HASH_SIZE;
}

/* --- Batches --- */

static bool decide(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++)
        txn->items[i].effect = TXN_INDEX;
    return true;
}

/* Whether the item has an entry in the index or queue. */
static bool has_entry(const struct slice *slice, const struct item *item, struct arena *arena)
{
    int64_t second;
    if (slice->index == NULL)
        return expiry_queue_second(slice->table->expiry.attribute, item, &second);
    struct index_view view = index_view_open(arena, slice->table, item);
    return index_view_has_entry(&view, slice->index);
}

/* Adds the item to the batch if there is to be an entry of it. A damaged one cannot have one; that
 * it is damaged was logged. */
static void add_item(struct slice *slice, const struct engine_place *place,
                     const struct engine_entry *entry, struct job_batch *batch)
{
    struct item item;
    struct txn_item *added = &batch->items[batch->txn.item_count];
    *added = (struct txn_item){ .table = slice->table };
    if (item_address_open_entry(slice->table, place, entry, &item) == ENGINE_OK &&
        has_entry(slice, &item, batch->arena) &&
        item_address_of_stored_key(batch->arena, slice->table, place, entry->key, &added->place))
        batch->txn.item_count++;
}

static enum engine_status collect(struct slice *slice, struct engine_view *view,
                                  struct job_batch *batch)
{
    struct engine_range range = { .place = place_of_position(slice),
                                  .first = bytes_of(slice->position, slice->position_size) };
    struct engine_scan *scan = NULL;
    size_t size = 0;
    enum engine_status status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK && batch->txn.item_count < JOB_BATCH_ITEMS &&
           size < BACKFILL_BATCH_SIZE) {
        struct engine_entry entry;
        status = engine_scan_next(scan, &entry);
        if (status == ENGINE_OK)
            status = go_behind(slice, &range.place, entry.key);
        if (status == ENGINE_OK)
            add_item(slice, &range.place, &entry, batch);
        size += entry.key.len + entry.value.len;
    }
    engine_scan_close(scan);
    if (status != ENGINE_END)
        return status;
    go_to_next_partition(slice, range.place.partition);
    return ENGINE_OK;
}

/* Reads on from the slice's position, and starts a write of what it found. */
static enum engine_status run_batch(struct slice *slice)
{
    struct backfill *backfill = slice->backfill;
    struct engine_view *view = NULL;
    enum engine_status status;
    struct job_batch *batch = job_batches_take(&backfill->batches, &status);
    if (status == ENGINE_OK)
        status = engine_view_open(backfill->options.engine, ENGINE_NEWEST, &view);
    if (status == ENGINE_OK)
        status = collect(slice, view, batch);
    engine_view_close(view);
    if (status == ENGINE_OK && batch->txn.item_count > 0)
        job_batches_start(batch);
    return status;
}

/* --- Slices --- */

/* Runs batches until the slice ends, and waits for all of them. A newer version of the table ends
 * the slice too: the control thread may be waiting for the last reference to this one. */
static enum engine_status run_batches(struct slice *slice)
{
    struct backfill *backfill = slice->backfill;
    enum engine_status status = ENGINE_OK;
    for (int i = 0; i < BACKFILL_SLICE_BATCHES && !slice->complete && status == ENGINE_OK; i++) {
        if (job_thread_is_stopping(&backfill->thread) ||
            !catalogue_is_current(backfill->options.catalogue, slice->version))
            break;
        status = run_batch(slice);
    }
    enum engine_status ended = job_batches_wait(&backfill->batches);
    return status == ENGINE_OK ? ended : status;
}

/* A turn for an index, or for the expiry queue; takes over the reference to the table. That goes
 * before the progress is saved: the thread that saves it may be waiting for that. `name` is the
 * table's. */
static enum engine_status run_slice(struct backfill *backfill, struct table *table,
                                    struct bytes name, const struct index_definition *index)
{
    const struct table_definition *definition = table_definition(table);
    struct slice slice = {
        .backfill = backfill, .version = table, .table = definition, .index = index
    };
    struct backfill_progress progress = {
        .table_name = name,
        .table_id = definition->id,
        .index_id = index == NULL ? BACKFILL_EXPIRY_QUEUE : index->id,
    };
    set_position(&slice, index == NULL ? definition->expiry.filled : index->backfilled);
    enum engine_status status = run_batches(&slice);
    table_release(table);
    if (status != ENGINE_OK || (!slice.complete && slice.position_size == 0))
        return status;
    progress.complete = slice.complete;
    progress.position = bytes_of(slice.position, slice.position_size);
    return backfill->options.save(backfill->options.context, &progress);
}

/* The first index that is to be filled, or NULL. */
static const struct index_definition *find_index(const struct table_definition *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].status == INDEX_BACKFILLING)
            return &table->indexes[i];
    }
    return NULL;
}

static bool has_work(const struct table_definition *table, void *context)
{
    (void)context;
    return find_index(table) != NULL || table->expiry.status == EXPIRY_FILLING;
}

/* Milliseconds until it is worth looking at the table again. Takes over the reference; `name` is
 * the table's. */
static int64_t run_table(struct backfill *backfill, struct table *table, struct bytes name)
{
    const struct table_definition *definition = table_definition(table);
    const struct index_definition *index = find_index(definition);
    struct bytes position = index == NULL ? definition->expiry.filled : index->backfilled;
    if (position.len == 0 && !table_is_only_version(table)) {
        table_release(table);
        return BACKFILL_RETRY_MS;
    }
    bool is_queue = index == NULL;
    enum engine_status status = run_slice(backfill, table, name, index);
    if (status == ENGINE_OK)
        return 0;
    log_write(LOG_ERROR, "backfill", "table %.*s, %s: %s", BYTES_FMT(name),
              is_queue ? "expiry queue" : "index", engine_status_name(status));
    return BACKFILL_FAILURE_RETRY_MS;
}

/* A turn for each table. Milliseconds until the next round, or TIMED_WAIT_FOREVER. */
static int64_t run_round(void *context)
{
    struct backfill *backfill = context;
    uint8_t name[TABLE_NAME_SIZE_MAX];
    struct bytes after = BYTES("");
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    struct table *table;
    while (!job_thread_is_stopping(&backfill->thread) &&
           (table = catalogue_find_next(backfill->options.catalogue, after, has_work, NULL)) !=
               NULL) {
        struct bytes found = table_definition(table)->name;
        memcpy(name, found.data, found.len);
        after = bytes_of(name, found.len);
        wait_ms = timed_wait_sooner(wait_ms, run_table(backfill, table, after));
    }
    return wait_ms;
}

struct backfill *backfill_start(const struct backfill_options *options)
{
    struct backfill *backfill = calloc(1, sizeof *backfill);
    if (backfill == NULL)
        abort();
    backfill->options = *options;
    job_batches_init(&backfill->batches, options->engine, options->clock, decide);
    job_thread_start(&backfill->thread, "backfill", run_round, backfill);
    return backfill;
}

void backfill_stop(struct backfill *backfill)
{
    job_thread_stop(&backfill->thread);
}

void backfill_destroy(struct backfill *backfill)
{
    job_thread_deinit(&backfill->thread);
    job_batches_deinit(&backfill->batches);
    free(backfill);
}

void backfill_wake(struct backfill *backfill)
{
    job_thread_wake(&backfill->thread);
}
