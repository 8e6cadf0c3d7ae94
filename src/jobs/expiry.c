/* expiry.c -- see expiry.h.
 *
 * A round takes all that has expired, but for what was put with a time that a round had passed
 * already: between two looks at all of the past, a round begins where the one before ended. Entries
 * that were deleted a moment ago still lie in the store for some time, a million of them perhaps,
 * and whoever reads from the beginning steps over every one.
 */
#include "jobs/expiry.h"
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "jobs/job.h"
#include "metric/meter.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/expiry_queue.h"
#include "table/item_address.h"
#include "table/layout.h"

enum { NS_PER_MS = 1000000, POSITION_SIZE_MAX = LAYOUT_EXPIRY_SECOND_SIZE + BACKFILLED_SIZE_MAX };

struct expiry {
    struct expiry_options options;
    struct job_thread thread;
    struct job_batches batches;
    atomic_bool look_back; /* The next round looks at all of the past. */
    /* The thread's own: the last second of the round before, and when to look at all again. */
    int64_t swept;
    int64_t look_back_at_ns;
    bool one_by_one; /* A damaged item failed its batch: the others are to go without it. */
};

/* One round. */
struct sweep {
    struct expiry *expiry;
    struct expiry_window window;
    int64_t from; /* The first second that is looked at. */
    size_t batch_items;
    int64_t look_ns; /* What finding the fronts of the queues took. */
    size_t table_count;
    bool is_partial; /* Something is left. */
    bool is_held;    /* What has expired in a global table waits for other regions. */
    bool found_damage;
};

/* What the batches of a table need until they have ended. */
struct batch_context {
    const struct expiry_window *window;
    struct meter *meter;
    const struct table *table;
};

/* The way through the queue of one partition. */
struct queue {
    const struct table_definition *table;
    const struct batch_context *context;
    bool was_looked_at;
    struct engine_place items;
    struct engine_range range;
    bool ended;
    uint8_t position[POSITION_SIZE_MAX]; /* Where the range begins. */
};

/* --- Batches --- */

static bool has_expired(const struct expiry_window *window, const struct txn_item *item)
{
    int64_t second;
    return item->exists &&
           expiry_queue_second(item->table->expiry.attribute, &item->current, &second) &&
           expiry_window_has(window, second);
}

/* An item may have been replaced, or may be gone, since the queue was read. */
static bool decide(struct txn *txn)
{
    const struct batch_context *context = job_batch_of(txn)->context;
    const struct expiry_window *window = context->window;
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        item->effect = has_expired(window, item) ? TXN_DELETE : TXN_KEEP;
    }
    return true;
}

static void count_deleted(struct job_batch *batch)
{
    const struct batch_context *context = batch->context;
    uint64_t count = 0;
    for (size_t i = 0; i < batch->txn.item_count; i++)
        count += batch->items[i].effect == TXN_DELETE;
    if (count == 0)
        return;
    meter_count_expired(context->meter, context->table, count);
    if (table_definition(context->table)->stream_enabled)
        meter_count_stream_records(context->meter, context->table, count);
}

static bool has_item(const struct job_batch *batch, const struct item_address *address)
{
    for (size_t i = 0; i < batch->txn.item_count; i++) {
        if (item_address_equal(&batch->items[i].place, address))
            return true;
    }
    return false;
}

/* A write has an item once. Should there be two entries of one, a later round takes the other. */
static void add_item(struct queue *queue, struct bytes key, struct job_batch *batch)
{
    struct bytes item_key;
    struct txn_item *added = &batch->items[batch->txn.item_count];
    *added = (struct txn_item){ .table = queue->table, .by_service = true, .queued = true };
    if (!expiry_queue_decode(key, &added->queued_second, &item_key) ||
        !item_address_of_stored_key(batch->arena, queue->table, &queue->items, item_key,
                                    &added->place))
        log_write(LOG_ERROR, "expiry", "table %.*s: a key in the expiry queue is damaged",
                  BYTES_FMT(queue->table->name));
    else if (!has_item(batch, &added->place))
        batch->txn.item_count++;
}

/* Right behind a key: at that key and one zero byte. */
static enum engine_status go_behind(struct queue *queue, struct bytes key)
{
    if (key.len >= sizeof queue->position)
        return ENGINE_CORRUPT;
    memcpy(queue->position, key.data, key.len);
    queue->position[key.len] = 0;
    queue->range.first = bytes_of(queue->position, key.len + 1);
    return ENGINE_OK;
}

static enum engine_status collect(struct queue *queue, struct engine_view *view,
                                  struct job_batch *batch)
{
    struct engine_scan *scan = NULL;
    enum engine_status status = engine_scan_open(view, &queue->range, &scan);
    size_t count = 0;
    while (status == ENGINE_OK && count < queue->range.count_max) {
        struct engine_entry entry;
        status = engine_scan_next(scan, &entry);
        if (status != ENGINE_OK)
            break;
        add_item(queue, entry.key, batch);
        status = go_behind(queue, entry.key);
        count++;
    }
    engine_scan_close(scan);
    queue->ended = status == ENGINE_END;
    return queue->ended ? ENGINE_OK : status;
}

/* What went wrong with one batch does not stop the others, if it lies in that batch alone. */
static enum engine_status judge(struct sweep *sweep, enum engine_status status)
{
    if (status == ENGINE_OK)
        return ENGINE_OK;
    sweep->is_partial = true;
    sweep->found_damage |= status == ENGINE_CORRUPT;
    return status == ENGINE_CORRUPT || status == ENGINE_BUSY ? ENGINE_OK : status;
}

static enum engine_status run_batch(struct sweep *sweep, struct queue *queue)
{
    struct expiry *expiry = sweep->expiry;
    struct engine_view *view = NULL;
    enum engine_status status;
    struct job_batch *batch = job_batches_take(&expiry->batches, &status);
    status = judge(sweep, status);
    int64_t began_ns = clock_monotonic_ns();
    if (status == ENGINE_OK)
        status = engine_view_open(expiry->options.engine, ENGINE_NEWEST, &view);
    if (status == ENGINE_OK)
        status = collect(queue, view, batch);
    engine_view_close(view);
    if (!queue->was_looked_at)
        sweep->look_ns += clock_monotonic_ns() - began_ns;
    queue->was_looked_at = true;
    batch->context = queue->context;
    batch->written = expiry->options.meter == NULL ? NULL : count_deleted;
    if (status == ENGINE_OK && batch->txn.item_count > 0)
        job_batches_start(batch);
    return status;
}

/* --- Rounds --- */

static bool is_stopping(struct expiry *expiry)
{
    return expiry->options.interval_ms > 0 && job_thread_is_stopping(&expiry->thread);
}

/* Whether the table changed or is gone: then others wait for whoever holds this version of it. */
static bool is_outdated(struct expiry *expiry, const struct table *table)
{
    if (table_is_only_version(table))
        return false;
    struct table *current =
        catalogue_find(expiry->options.catalogue, table_definition(table)->name);
    bool outdated = current != table;
    table_release(current);
    return outdated;
}

static enum engine_status sweep_partition(struct sweep *sweep, const struct batch_context *context,
                                          uint64_t partition, struct arena *arena)
{
    const struct table_definition *table = table_definition(context->table);
    struct queue queue = {
        .table = table,
        .context = context,
        .items = { .owner = table->id, .partition = partition, .space = ENGINE_SPACE_ITEMS },
        .range = { .place = expiry_queue_place(table->id, partition),
                   .first = expiry_queue_first_key(arena, sweep->from),
                   .last = expiry_queue_first_key(arena, context->window->to + 1),
                   .count_max = sweep->batch_items }
    };
    enum engine_status status = ENGINE_OK;
    int batches = 0;
    for (; batches < EXPIRY_SLICE_BATCHES && !queue.ended && status == ENGINE_OK; batches++) {
        if (is_stopping(sweep->expiry) || is_outdated(sweep->expiry, context->table))
            break;
        status = run_batch(sweep, &queue);
    }
    sweep->is_partial |= !queue.ended;
    return status;
}

static enum engine_status sweep_table(struct sweep *sweep, const struct table *table,
                                      struct arena *arena)
{
    const struct table_definition *definition = table_definition(table);
    enum engine_status status = ENGINE_OK;
    const struct expiry_options *options = &sweep->expiry->options;
    struct expiry_window window = sweep->window;
    if (options->limit != NULL && definition->replicas.count > 0)
        window.to = options->limit(options->limit_context, definition, window.to);
    if (window.to < sweep->window.to)
        sweep->is_partial = sweep->is_held = true;
    if (window.to < window.from)
        return ENGINE_OK;
    const struct batch_context context = { .window = &window,
                                           .meter = sweep->expiry->options.meter,
                                           .table = table };
    for (size_t i = 0; i < definition->partition_count && status == ENGINE_OK; i++)
        status = sweep_partition(sweep, &context, definition->partitions[i].id, arena);
    /* The writes refer to the table's definition, which its holder lets go. */
    enum engine_status ended = judge(sweep, job_batches_wait(&sweep->expiry->batches));
    return status == ENGINE_OK ? ended : status;
}

static bool expires(const struct table_definition *table, void *context)
{
    (void)context;
    return table->expiry.status == EXPIRY_ACTIVE;
}

static enum engine_status sweep_tables(struct sweep *sweep, struct arena *arena)
{
    struct bytes after = BYTES("");
    enum engine_status status = ENGINE_OK;
    struct table *table;
    while (status == ENGINE_OK && !is_stopping(sweep->expiry) &&
           (table = catalogue_find_next(sweep->expiry->options.catalogue, after, expires, NULL)) !=
               NULL) {
        sweep->table_count++;
        status = sweep_table(sweep, table, arena);
        if (status != ENGINE_OK)
            log_write(LOG_ERROR, "expiry", "table %.*s: %s",
                      BYTES_FMT(table_definition(table)->name), engine_status_name(status));
        after = arena_copy(arena, table_definition(table)->name);
        table_release(table);
    }
    return status;
}

int64_t expiry_run_round(struct expiry *expiry)
{
    struct sweep sweep = {
        .expiry = expiry,
        .window = expiry_queue_window(clock_wall_ms(expiry->options.clock)),
        .batch_items = expiry->one_by_one ? 1 : JOB_BATCH_ITEMS,
    };
    struct arena *arena = arena_create();
    bool looks_back = atomic_exchange(&expiry->look_back, false) ||
                      clock_monotonic_ns() >= expiry->look_back_at_ns ||
                      expiry->swept < sweep.window.from || expiry->swept > sweep.window.to;
    sweep.from = looks_back ? sweep.window.from : expiry->swept;
    enum engine_status status = sweep_tables(&sweep, arena);
    arena_destroy(arena);
    expiry->one_by_one = sweep.found_damage && !expiry->one_by_one;
    if (status != ENGINE_OK) {
        atomic_store(&expiry->look_back, true);
        return EXPIRY_FAILURE_RETRY_MS;
    }
    if (sweep.is_partial) {
        if (looks_back)
            atomic_store(&expiry->look_back, true);
        return sweep.found_damage ? EXPIRY_FAILURE_RETRY_MS
               : sweep.is_held    ? expiry->options.interval_ms
                                  : 0;
    }
    expiry->swept = sweep.window.to;
    if (looks_back)
        expiry->look_back_at_ns = clock_monotonic_ns() + sweep.look_ns * EXPIRY_REST_FACTOR;
    return sweep.table_count == 0 ? TIMED_WAIT_FOREVER : expiry->options.interval_ms;
}

/* --- The thread --- */

static int64_t run_round(void *context)
{
    return expiry_run_round(context);
}

struct expiry *expiry_start(const struct expiry_options *options)
{
    struct expiry *expiry = calloc(1, sizeof *expiry);
    if (expiry == NULL)
        abort();
    expiry->options = *options;
    atomic_init(&expiry->look_back, true);
    job_batches_init(&expiry->batches, options->engine, options->clock, decide);
    if (options->interval_ms > 0)
        job_thread_start(&expiry->thread, "expiry", run_round, expiry);
    return expiry;
}

void expiry_stop(struct expiry *expiry)
{
    if (expiry->options.interval_ms > 0)
        job_thread_stop(&expiry->thread);
}

void expiry_destroy(struct expiry *expiry)
{
    if (expiry->options.interval_ms > 0)
        job_thread_deinit(&expiry->thread);
    job_batches_deinit(&expiry->batches);
    free(expiry);
}

void expiry_wake(struct expiry *expiry)
{
    atomic_store(&expiry->look_back, true);
    if (expiry->options.interval_ms > 0)
        job_thread_wake(&expiry->thread);
}
