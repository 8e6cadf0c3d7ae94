/* meter_read.c -- adds up what all threads have counted. See meter.h and meter_parts.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "metric/meter.h"
#include "metric/meter_parts.h"
#include "model/limits.h"
#include "table/catalogue.h"

/* One table's reading under way. Allocated, because its histograms take hundreds of kilobytes. */
struct reading {
    struct meter_table_reading table;
    char table_name[TABLE_NAME_SIZE_MAX + 1];
    size_t index_count;
    uint64_t index_ids[METER_INDEXES_MAX];
    size_t index_places[METER_INDEXES_MAX];
    char index_names[METER_INDEXES_MAX][TABLE_NAME_SIZE_MAX + 1];
    struct meter_index_reading indexes[METER_INDEXES_MAX];
    bool is_set[METER_OPERATIONS_MAX]; /* Of the operations: the others are zero. */
    struct meter_operation_reading operations[];
};

/* --- Minutes --- */

/* Whether the counters were those of the minute when `seen` was loaded, and still are now that they
 * have been read: otherwise their thread has begun another minute meanwhile. */
static bool is_still(const _Atomic int64_t *minute, int64_t wanted)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(minute, memory_order_relaxed) == wanted;
}

static bool is_minute(const _Atomic int64_t *minute, int64_t wanted)
{
    return wanted > 0 && atomic_load_explicit(minute, memory_order_acquire) == wanted;
}

static struct meter_set load_set(const struct meter_set_counters *from)
{
    return (struct meter_set){ .count = meter_get(&from->count),
                               .sum = meter_get(&from->sum),
                               .min = ~meter_get(&from->inverse_min),
                               .max = meter_get(&from->max) };
}

static void merge_set(struct meter_set *into, struct meter_set from)
{
    if (from.count == 0)
        return;
    into->min = into->count == 0 || from.min < into->min ? from.min : into->min;
    into->max = into->count == 0 || from.max > into->max ? from.max : into->max;
    into->count += from.count;
    into->sum += from.sum;
}

/* --- Counters of one thread --- */

static void read_operation_minute(const struct meter_operation_counters *from, int64_t minute,
                                  struct meter_operation_reading *into)
{
    const struct meter_operation_minute *place = &from->minutes[(size_t)minute % METER_MINUTES];
    if (!is_minute(&place->minute, minute))
        return;
    struct meter_set latency_ns = load_set(&place->latency_ns);
    struct meter_set returned_items = load_set(&place->returned_items);
    struct meter_set response_size = load_set(&place->response_size);
    uint64_t system_errors = meter_get(&place->system_errors);
    uint64_t injected_errors = meter_get(&place->injected_errors);
    uint64_t throttled[METER_VERBS];
    for (size_t i = 0; i < METER_VERBS; i++)
        throttled[i] = meter_get(&place->throttled[i]);
    if (!is_still(&place->minute, minute))
        return;
    merge_set(&into->minute.latency_ns, latency_ns);
    merge_set(&into->minute.returned_items, returned_items);
    merge_set(&into->minute.response_size, response_size);
    into->minute.system_errors += system_errors;
    into->minute.injected_errors += injected_errors;
    into->used = into->used || injected_errors > 0;
    for (size_t i = 0; i < METER_VERBS; i++)
        into->minute.throttled[i] += throttled[i];
}

static void read_operation(const struct meter_operation_counters *from, int64_t minute,
                           struct meter_operation_reading *into)
{
    const meter_counter *failures = atomic_load_explicit(&from->failures, memory_order_acquire);
    into->calls[ERROR_NONE] += meter_get(&from->successes);
    for (size_t i = 0; failures != NULL && i < ERROR_CODE_COUNT; i++)
        into->calls[i] += meter_get(&failures[i]);
    histogram_read(&from->latency_ns, &into->latency_ns);
    into->request_size += meter_get(&from->request_size);
    into->response_size += meter_get(&from->response_size);
    into->items_read += meter_get(&from->items_read);
    into->items_returned += meter_get(&from->items_returned);
    into->items_written += meter_get(&from->items_written);
    for (size_t i = 0; i < ERROR_CODE_COUNT; i++)
        into->used = into->used || into->calls[i] > 0;
    read_operation_minute(from, minute, into);
}

static void read_units(const struct meter_units_counters *from, int64_t minute,
                       struct meter_units_reading *into)
{
    const struct meter_units_minute *place = &from->minutes[(size_t)minute % METER_MINUTES];
    into->half_units += meter_get(&from->half_units);
    into->consistent_half_units += meter_get(&from->consistent_half_units);
    for (size_t i = 0; i < METER_REASONS; i++)
        into->throttles[i] += meter_get(&from->throttles[i]);
    if (!is_minute(&place->minute, minute))
        return;
    struct meter_set half_units = load_set(&place->half_units);
    uint64_t consistent_half_units = meter_get(&place->consistent_half_units);
    uint64_t throttles[METER_REASONS];
    for (size_t i = 0; i < METER_REASONS; i++)
        throttles[i] = meter_get(&place->throttles[i]);
    if (!is_still(&place->minute, minute))
        return;
    merge_set(&into->minute.half_units, half_units);
    into->minute.consistent_half_units += consistent_half_units;
    for (size_t i = 0; i < METER_REASONS; i++)
        into->minute.throttles[i] += throttles[i];
}

static void read_index(const struct meter_index_counters *from, int64_t minute,
                       struct meter_index_reading *into)
{
    for (size_t i = 0; i < METER_DIRECTIONS; i++)
        read_units(&from->units[i], minute, &into->units[i]);
    into->changes += meter_get(&from->changes);
    into->moves += meter_get(&from->moves);
    for (size_t i = 0; i < METER_INDEX_READERS_MAX; i++) {
        uint64_t operation = atomic_load_explicit(&from->reads[i].operation, memory_order_acquire);
        if (operation == 0)
            continue;
        size_t k = 0;
        while (k < into->read_count && into->reads[k].operation != operation - 1)
            k++;
        if (k == METER_INDEX_READERS_MAX)
            continue;
        if (k == into->read_count)
            into->reads[into->read_count++].operation = (unsigned)(operation - 1);
        into->reads[k].items_read += meter_get(&from->reads[i].items_read);
        into->reads[k].items_returned += meter_get(&from->reads[i].items_returned);
    }
}

static void read_table_minute(const struct meter_table_counters *from, int64_t minute,
                              struct meter_table_reading *into)
{
    const struct meter_table_minute *place = &from->minutes[(size_t)minute % METER_MINUTES];
    if (!is_minute(&place->minute, minute))
        return;
    uint64_t condition_failures = meter_get(&place->condition_failures);
    uint64_t expired_items = meter_get(&place->expired_items);
    struct meter_set conflicts = load_set(&place->conflicts);
    if (!is_still(&place->minute, minute))
        return;
    into->minute.condition_failures += condition_failures;
    into->minute.expired_items += expired_items;
    merge_set(&into->minute.conflicts, conflicts);
}

static void read_table(const struct meter_table_counters *from, size_t operation_count,
                       int64_t minute, struct reading *into)
{
    for (size_t i = 0; i < operation_count; i++) {
        const struct meter_operation_page *page = atomic_load_explicit(
            &from->operations[i / METER_PAGE_OPERATIONS], memory_order_acquire);
        const struct meter_operation_counters *operation =
            page == NULL ? NULL
                         : atomic_load_explicit(&page->operations[i % METER_PAGE_OPERATIONS],
                                                memory_order_acquire);
        if (operation == NULL)
            continue;
        into->is_set[i] = true;
        read_operation(operation, minute, &into->operations[i]);
    }
    struct meter_table_reading *table = &into->table;
    for (size_t i = 0; i < METER_DIRECTIONS; i++)
        read_units(&from->units[i], minute, &table->units[i]);
    for (size_t i = 0; i < into->index_count; i++) {
        const struct meter_index_counters *index =
            atomic_load_explicit(&from->indexes[into->index_places[i]], memory_order_acquire);
        if (index != NULL &&
            atomic_load_explicit(&index->id, memory_order_acquire) == into->index_ids[i])
            read_index(index, minute, &into->indexes[i]);
    }
    for (size_t i = 0; i < CAPACITY_ITEM_SIZES; i++)
        table->item_sizes[i] += meter_get(&from->item_sizes[i]);
    table->item_size_sum += meter_get(&from->item_size_sum);
    table->large_items += meter_get(&from->large_items);
    table->huge_items += meter_get(&from->huge_items);
    table->condition_failures += meter_get(&from->condition_failures);
    table->conflicts += meter_get(&from->conflicts);
    table->conflict_requests += meter_get(&from->conflict_requests);
    table->expired_items += meter_get(&from->expired_items);
    table->stream_records += meter_get(&from->stream_records);
    read_table_minute(from, minute, table);
}

/* --- All threads --- */

/* Adds up every shard's counters of the slot, if they are the table's. False: there are none. */
static bool read_slot(struct meter *meter, size_t slot, uint64_t table_id, int64_t minute,
                      struct reading *into)
{
    bool found = false;
    for (size_t s = 0; s <= THREAD_NUMBERS_MAX; s++) {
        const struct meter_shard *shard =
            atomic_load_explicit(&meter->shards[s], memory_order_acquire);
        const struct meter_table_page *page =
            shard == NULL ? NULL
                          : atomic_load_explicit(&shard->pages[slot / METER_PAGE_TABLES],
                                                 memory_order_acquire);
        const struct meter_table_counters *table =
            page == NULL ? NULL
                         : atomic_load_explicit(&page->tables[slot % METER_PAGE_TABLES],
                                                memory_order_acquire);
        if (table == NULL || atomic_load_explicit(&table->id, memory_order_acquire) != table_id)
            continue;
        found = true;
        read_table(table, meter->options.operation_count, minute, into);
    }
    return found;
}

static void copy_text(char *out, size_t size, const char *text)
{
    size_t length = strnlen(text, size - 1);
    memcpy(out, text, length);
    out[length] = '\0';
}

/* Names and ids, which the registry may change as soon as its lock is released. */
static uint64_t copy_registered(struct meter *meter, size_t slot, struct reading *into)
{
    pthread_mutex_lock(&meter->lock);
    const struct meter_slot *entry = &meter->slots[slot];
    uint64_t id = entry->id;
    if (id != 0)
        copy_text(into->table_name, sizeof into->table_name, entry->name);
    for (size_t i = 0; id != 0 && entry->indexes != NULL && i < METER_INDEXES_MAX; i++) {
        const struct meter_slot_index *index = &entry->indexes[i];
        if (index->id == 0)
            continue;
        size_t k = into->index_count++;
        into->index_ids[k] = index->id;
        into->index_places[k] = i;
        copy_text(into->index_names[k], sizeof into->index_names[k], index->name);
        into->indexes[k].name = bytes_from_text(into->index_names[k]);
        into->indexes[k].global = index->global;
    }
    pthread_mutex_unlock(&meter->lock);
    return id;
}

static void note_existence(const struct table_definition *definition, struct reading *reading)
{
    for (size_t i = 0; i < reading->index_count; i++) {
        for (size_t k = 0; definition != NULL && k < definition->index_count; k++) {
            if (definition->indexes[k].id == reading->index_ids[i])
                reading->indexes[i].exists = true;
        }
    }
}

/* A table uses few of the operations, and their histograms are large. */
static void clear(struct reading *reading, size_t operation_count)
{
    for (size_t i = 0; i < operation_count; i++)
        if (reading->is_set[i])
            memset(&reading->operations[i], 0, sizeof reading->operations[i]);
    memset(reading, 0, sizeof *reading);
}

typedef void visit_table(void *context, const struct meter_table_reading *table);

static void visit_slot(struct meter *meter, size_t slot, int64_t minute, struct reading *reading,
                       visit_table *visit, void *context)
{
    clear(reading, meter->options.operation_count);
    bool is_pseudo = slot < METER_SLOT_FIRST_TABLE;
    uint64_t id = is_pseudo ? 0 : copy_registered(meter, slot, reading);
    if ((!is_pseudo && id == 0) || !read_slot(meter, slot, id, minute, reading))
        return;
    struct table *table = NULL;
    if (is_pseudo)
        copy_text(reading->table_name, sizeof reading->table_name,
                  slot == METER_SLOT_OTHER ? METER_OTHER_TABLES : "");
    else
        table = catalogue_find(meter->options.catalogue, bytes_from_text(reading->table_name));
    const struct table_definition *definition = table == NULL ? NULL : table_definition(table);
    if (definition != NULL && definition->id != id)
        definition = NULL; /* Another one of that name. */
    note_existence(definition, reading);
    reading->table.name = bytes_from_text(reading->table_name);
    reading->table.id = id;
    reading->table.definition = definition;
    reading->table.is_pseudo = is_pseudo;
    reading->table.operations = reading->operations;
    reading->table.indexes = reading->indexes;
    reading->table.index_count = reading->index_count;
    visit(context, &reading->table);
    table_release(table);
}

void meter_read(struct meter *meter, int64_t minute, visit_table *visit, void *context)
{
    struct reading *reading = memory_checked(calloc(
        1, sizeof *reading + meter->options.operation_count * sizeof reading->operations[0]));
    pthread_mutex_lock(&meter->read_lock);
    meter_slots_sweep(meter);
    pthread_mutex_lock(&meter->lock);
    size_t reached = meter->slots_reached;
    pthread_mutex_unlock(&meter->lock);
    for (size_t slot = 0; slot < reached; slot++)
        visit_slot(meter, slot, minute, reading, visit, context);
    pthread_mutex_unlock(&meter->read_lock);
    free(reading);
}

struct meter_errors_reading meter_read_errors(struct meter *meter, int64_t minute)
{
    struct meter_errors_reading reading = { 0 };
    for (size_t s = 0; s <= THREAD_NUMBERS_MAX; s++) {
        const struct meter_shard *shard =
            atomic_load_explicit(&meter->shards[s], memory_order_acquire);
        if (shard == NULL)
            continue;
        reading.user_errors += meter_get(&shard->user_errors);
        const struct meter_errors_minute *place = &shard->errors[(size_t)minute % METER_MINUTES];
        if (!is_minute(&place->minute, minute))
            continue;
        uint64_t user_errors = meter_get(&place->user_errors);
        if (is_still(&place->minute, minute))
            reading.minute_user_errors += user_errors;
    }
    return reading;
}

void meter_read_batches(struct meter *meter, unsigned operation, struct histogram *into)
{
    assert(operation < meter->options.operation_count);
    for (size_t s = 0; s <= THREAD_NUMBERS_MAX; s++) {
        const struct meter_shard *shard =
            atomic_load_explicit(&meter->shards[s], memory_order_acquire);
        const struct histogram_recorder *recorder =
            shard == NULL ? NULL
                          : atomic_load_explicit(&shard->batches[operation], memory_order_acquire);
        if (recorder != NULL)
            histogram_read(recorder, into);
    }
}

size_t meter_operation_count(const struct meter *meter)
{
    return meter->options.operation_count;
}

const struct meter_operation *meter_operation_at(const struct meter *meter, size_t index)
{
    assert(index < meter->options.operation_count);
    return &meter->options.operations[index];
}

struct meter_occupancy meter_occupancy(struct meter *meter)
{
    size_t tables_max = meter->slot_count - METER_SLOT_FIRST_TABLE;
    return (struct meter_occupancy){ .tables = tables_max - atomic_load(&meter->free_slots),
                                     .tables_max = tables_max,
                                     .memory = atomic_load(&meter->memory) };
}
