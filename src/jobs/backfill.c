/* backfill.c -- see backfill.h.
 *
 * Why an index is complete in the end: the first slice begins when no version of the table is in
 * use in which writes do not keep the index right. From then on each item either is in the views
 * read here, or was written by somebody who stored its entry; and what was read here is read again
 * under its latch before its entry is stored.
 */
#include "jobs/backfill.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "index/index_entry.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/item_place.h"
#include "table/layout.h"
#include "txn/txn.h"

static_assert((int)BACKFILL_BATCH_ITEMS <= (int)TXN_ITEMS_MAX, "a batch is one write");
static_assert((int)LAYOUT_HASH_SIZE <= (int)BACKFILLED_SIZE_MIN, "a position begins with a hash");

/* A write of entries. */
struct batch {
    struct backfill *backfill;
    struct arena *arena;
    struct txn txn;
    struct txn_item items[BACKFILL_BATCH_ITEMS];
    bool under_way;            /* Guarded by the job's mutex, like what follows. */
    enum engine_status status; /* How it ended. */
};

struct backfill {
    struct backfill_options options;
    struct batch batches[BACKFILL_BATCHES_MAX]; /* Used in turn. */
    pthread_t thread;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    bool woken;
    bool stopping;
};

/* One turn of one index. */
struct slice {
    struct backfill *backfill;
    const struct table *version; /* Whose definition `table` is. */
    const struct table_definition *table;
    const struct index_definition *index;
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
    return item_place_of_hash(slice->table, hash);
}

/* A key that belongs elsewhere would lead elsewhere. */
static bool is_key_of(const struct table_definition *table, const struct engine_place *place,
                      struct bytes key)
{
    return key.len >= LAYOUT_HASH_SIZE && key.len < BACKFILLED_SIZE_MAX &&
           item_place_of_hash(table, load_u64_be(key.data)).partition == place->partition;
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

static void done(struct txn *txn, enum engine_status status)
{
    struct batch *batch = (struct batch *)((char *)txn - offsetof(struct batch, txn));
    struct backfill *backfill = batch->backfill;
    pthread_mutex_lock(&backfill->mutex);
    batch->status = status;
    batch->under_way = false;
    pthread_cond_signal(&backfill->changed);
    pthread_mutex_unlock(&backfill->mutex);
}

/* Waits for what the batch was last used for, and tells how that ended. */
static enum engine_status wait_for(struct batch *batch)
{
    struct backfill *backfill = batch->backfill;
    pthread_mutex_lock(&backfill->mutex);
    while (batch->under_way)
        pthread_cond_wait(&backfill->changed, &backfill->mutex);
    enum engine_status status = batch->status;
    batch->status = ENGINE_OK;
    pthread_mutex_unlock(&backfill->mutex);
    return status;
}

static void start_write(struct batch *batch)
{
    struct backfill *backfill = batch->backfill;
    pthread_mutex_lock(&backfill->mutex);
    batch->under_way = true;
    pthread_mutex_unlock(&backfill->mutex);
    txn_start(&batch->txn);
}

/* Adds the item to the batch if the index is to have an entry of it. A damaged one cannot have one;
 * that it is damaged was logged. */
static void add_item(struct slice *slice, const struct engine_place *place,
                     const struct engine_entry *entry, struct batch *batch)
{
    struct item item;
    struct item_place unused;
    if (item_place_open_entry(slice->table, place, entry, &item) != ENGINE_OK ||
        !index_entry_locate(batch->arena, slice->table, slice->index, &item, &unused))
        return;
    batch->items[batch->txn.item_count++] = (struct txn_item){
        .table = slice->table,
        .place = { .address = { .place = *place, .key = arena_copy(batch->arena, entry->key) },
                   .hash = load_u64_be(entry->key.data) },
    };
}

static enum engine_status collect(struct slice *slice, struct engine_view *view,
                                  struct batch *batch)
{
    struct engine_range range = { .place = place_of_position(slice),
                                  .first = bytes_of(slice->position, slice->position_size) };
    struct engine_scan *scan = NULL;
    size_t size = 0;
    enum engine_status status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK && batch->txn.item_count < BACKFILL_BATCH_ITEMS &&
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
static enum engine_status run_batch(struct slice *slice, struct batch *batch)
{
    struct engine *engine = slice->backfill->options.engine;
    struct engine_view *view = NULL;
    enum engine_status status = wait_for(batch);
    if (status != ENGINE_OK)
        return status;
    arena_reset(batch->arena);
    batch->txn = (struct txn){ .arena = batch->arena,
                               .engine = engine,
                               .clock = slice->backfill->options.clock,
                               .items = batch->items,
                               .decide = decide,
                               .done = done };
    status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = collect(slice, view, batch);
    engine_view_close(view);
    if (status == ENGINE_OK && batch->txn.item_count > 0)
        start_write(batch);
    return status;
}

/* --- Slices --- */

static bool is_stopping(struct backfill *backfill)
{
    pthread_mutex_lock(&backfill->mutex);
    bool stopping = backfill->stopping;
    pthread_mutex_unlock(&backfill->mutex);
    return stopping;
}

/* Runs batches until the slice is over, and waits for all of them. It is over, too, when the table
 * has a newer version: whoever made that may be waiting until nobody holds this one. */
static enum engine_status run_batches(struct slice *slice)
{
    struct backfill *backfill = slice->backfill;
    enum engine_status status = ENGINE_OK;
    for (int i = 0; i < BACKFILL_SLICE_BATCHES && !slice->complete && status == ENGINE_OK; i++) {
        if (is_stopping(backfill) ||
            !catalogue_is_current(backfill->options.catalogue, slice->version))
            break;
        status = run_batch(slice, &backfill->batches[i % BACKFILL_BATCHES_MAX]);
    }
    for (int i = 0; i < BACKFILL_BATCHES_MAX; i++) {
        enum engine_status ended = wait_for(&backfill->batches[i]);
        if (status == ENGINE_OK)
            status = ended;
    }
    return status;
}

/* A turn for an index; takes over the reference to its table. That goes before the progress is
 * saved: the thread that saves it may be waiting for that. `name` is the table's. */
static enum engine_status run_slice(struct backfill *backfill, struct table *table,
                                    struct bytes name, const struct index_definition *index)
{
    const struct table_definition *definition = table_definition(table);
    struct slice slice = {
        .backfill = backfill, .version = table, .table = definition, .index = index
    };
    struct backfill_progress progress = { .table_name = name,
                                          .table_id = definition->id,
                                          .index_id = index->id };
    set_position(&slice, index->backfilled);
    enum engine_status status = run_batches(&slice);
    table_release(table);
    if (status != ENGINE_OK || (!slice.complete && slice.position_size == 0))
        return status;
    progress.complete = slice.complete;
    progress.position = bytes_of(slice.position, slice.position_size);
    return backfill->options.save(backfill->options.context, &progress);
}

static const struct index_definition *find_index(const struct table_definition *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].status == INDEX_BACKFILLING)
            return &table->indexes[i];
    }
    return NULL;
}

/* Milliseconds until it is worth looking at the table again, or TIMED_WAIT_FOREVER. Takes over the
 * reference; `name` is the table's. */
static int64_t run_table(struct backfill *backfill, struct table *table, struct bytes name)
{
    const struct index_definition *index = find_index(table_definition(table));
    bool waits = index != NULL && index->backfilled.len == 0 && !table_is_only_version(table);
    if (index == NULL || waits) {
        table_release(table);
        return waits ? BACKFILL_RETRY_MS : TIMED_WAIT_FOREVER;
    }
    enum engine_status status = run_slice(backfill, table, name, index);
    if (status == ENGINE_OK)
        return 0;
    log_write(LOG_ERROR, "backfill", "table %.*s: %s", BYTES_FMT(name), engine_status_name(status));
    return BACKFILL_FAILURE_RETRY_MS;
}

/* A turn for each table. Milliseconds until the next round, or TIMED_WAIT_FOREVER. */
static int64_t run_round(struct backfill *backfill)
{
    uint8_t name[TABLE_NAME_SIZE_MAX];
    struct bytes after = BYTES("");
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    struct table *table;
    while (!is_stopping(backfill) &&
           (table = catalogue_find_index_change(backfill->options.catalogue, after)) != NULL) {
        struct bytes found = table_definition(table)->name;
        memcpy(name, found.data, found.len);
        after = bytes_of(name, found.len);
        wait_ms = timed_wait_sooner(wait_ms, run_table(backfill, table, after));
    }
    return wait_ms;
}

/* --- The thread --- */

static void *backfill_main(void *context)
{
    struct backfill *backfill = context;
    bool stopping = false;
    while (!stopping) {
        int64_t wait_ms = run_round(backfill);
        pthread_mutex_lock(&backfill->mutex);
        if (!backfill->woken && !backfill->stopping && wait_ms != 0)
            timed_wait(&backfill->changed, &backfill->mutex, wait_ms);
        backfill->woken = false;
        stopping = backfill->stopping;
        pthread_mutex_unlock(&backfill->mutex);
    }
    return NULL;
}

struct backfill *backfill_start(const struct backfill_options *options)
{
    struct backfill *backfill = calloc(1, sizeof *backfill);
    if (backfill == NULL)
        abort();
    backfill->options = *options;
    for (int i = 0; i < BACKFILL_BATCHES_MAX; i++) {
        backfill->batches[i].backfill = backfill;
        backfill->batches[i].arena = arena_create();
    }
    pthread_mutex_init(&backfill->mutex, NULL);
    timed_wait_init(&backfill->changed);
    if (pthread_create(&backfill->thread, NULL, backfill_main, backfill) != 0) {
        log_write(LOG_ERROR, "backfill", "cannot start a thread");
        abort();
    }
    return backfill;
}

void backfill_stop(struct backfill *backfill)
{
    pthread_mutex_lock(&backfill->mutex);
    backfill->stopping = true;
    pthread_cond_signal(&backfill->changed);
    pthread_mutex_unlock(&backfill->mutex);
    pthread_join(backfill->thread, NULL);
}

void backfill_destroy(struct backfill *backfill)
{
    pthread_cond_destroy(&backfill->changed);
    pthread_mutex_destroy(&backfill->mutex);
    for (int i = 0; i < BACKFILL_BATCHES_MAX; i++)
        arena_destroy(backfill->batches[i].arena);
    free(backfill);
}

void backfill_wake(struct backfill *backfill)
{
    pthread_mutex_lock(&backfill->mutex);
    backfill->woken = true;
    pthread_cond_signal(&backfill->changed);
    pthread_mutex_unlock(&backfill->mutex);
}
