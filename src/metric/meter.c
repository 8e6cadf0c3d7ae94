/* meter.c -- counting. See meter.h and meter_parts.h; meter_read.c adds up. */
#include "metric/meter.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "metric/meter_parts.h"
#include "table/catalogue.h"
#include "table/table_runtime.h"

enum {
    NS_PER_US = 1000,
    /* How long a thread trusts the minute it has read, should somebody set the wall clock. */
    MINUTE_TRUST_NS = 10 * 1000 * 1000,
    HTTP_BAD_REQUEST = 400,
    HTTP_INTERNAL_ERROR = 500,
    LINE_PAIR = 128, /* Processors fetch cache lines in pairs. */
};

/* On the path of every call: a prologue for each of these would cost more than they do. */
#define HOT __attribute__((always_inline)) inline

const char *meter_reason_name(enum meter_reason reason)
{
    static const char *const names[METER_REASONS] = {
        [METER_PROVISIONED_THROUGHPUT] = "ProvisionedThroughputExceeded",
        [METER_KEY_RANGE_THROUGHPUT] = "KeyRangeThroughputExceeded",
        [METER_MAX_ON_DEMAND_THROUGHPUT] = "MaxOnDemandThroughputExceeded",
        [METER_ACCOUNT_LIMIT] = "AccountLimitExceeded",
    };
    return names[reason];
}

/* --- Creating --- */

struct meter *meter_create(const struct meter_options *options)
{
    assert(options->operation_count <= METER_OPERATIONS_MAX);
    struct meter *meter = memory_checked(calloc(1, sizeof *meter));
    size_t tables_max = options->tables_max == 0 ? METER_TABLES_DEFAULT : options->tables_max;
    assert(tables_max <= METER_TABLES_MAX);
    meter->options = *options;
    meter->clock_is_virtual = options->clock->wall_us != clock_system.wall_us;
    meter->slot_count = METER_SLOT_FIRST_TABLE + tables_max;
    meter->page_count = (meter->slot_count + METER_PAGE_TABLES - 1) / METER_PAGE_TABLES;
    meter->memory_max = tables_max * METER_MEMORY_PER_TABLE;
    meter->slots = memory_checked(calloc(meter->slot_count, sizeof *meter->slots));
    meter->slots_reached = METER_SLOT_FIRST_TABLE;
    atomic_init(&meter->free_slots, tables_max);
    pthread_mutex_init(&meter->lock, NULL);
    pthread_mutex_init(&meter->read_lock, NULL);
    pthread_mutex_init(&meter->shared_lock, NULL);
    return meter;
}

static void destroy_operation(struct meter_operation_counters *operation)
{
    if (operation == NULL)
        return;
    histogram_recorder_deinit(&operation->latency_ns);
    free(operation->failures);
    free(operation);
}

static void destroy_table(struct meter_table_counters *table)
{
    if (table == NULL)
        return;
    for (size_t p = 0; p < METER_OPERATION_PAGES; p++) {
        struct meter_operation_page *page = table->operations[p];
        for (size_t i = 0; page != NULL && i < METER_PAGE_OPERATIONS; i++)
            destroy_operation(page->operations[i]);
        free(page);
    }
    for (size_t i = 0; i < METER_INDEXES_MAX; i++)
        free(table->indexes[i]);
    free(table);
}

static void destroy_shard(struct meter *meter, struct meter_shard *shard)
{
    if (shard == NULL)
        return;
    for (size_t p = 0; p < meter->page_count; p++) {
        struct meter_table_page *page = shard->pages[p];
        for (size_t i = 0; page != NULL && i < METER_PAGE_TABLES; i++)
            destroy_table(page->tables[i]);
        free(page);
    }
    for (size_t i = 0; i < METER_OPERATIONS_MAX; i++) {
        struct histogram_recorder *recorder = shard->batches[i];
        if (recorder != NULL)
            histogram_recorder_deinit(recorder);
        free(recorder);
    }
    free(shard);
}

void meter_destroy(struct meter *meter)
{
    if (meter == NULL)
        return;
    for (size_t i = 0; i <= THREAD_NUMBERS_MAX; i++)
        destroy_shard(meter, meter->shards[i]);
    meter_slots_deinit(meter);
    pthread_mutex_destroy(&meter->lock);
    pthread_mutex_destroy(&meter->read_lock);
    pthread_mutex_destroy(&meter->shared_lock);
    free(meter);
}

/* --- Finding counters --- */

/* Zeroed memory whose cache lines no other thread writes. */
static void *allocate(struct meter *meter, size_t size)
{
    size = (size + LINE_PAIR - 1) / LINE_PAIR * LINE_PAIR;
    void *memory = memory_checked(aligned_alloc(LINE_PAIR, size));
    memset(memory, 0, size);
    atomic_fetch_add_explicit(&meter->memory, size, memory_order_relaxed);
    return memory;
}

__attribute__((noinline)) static struct meter_shard *add_shard(struct meter *meter, unsigned number)
{
    struct meter_shard *shard =
        allocate(meter, sizeof *shard + meter->page_count * sizeof shard->pages[0]);
    atomic_store_explicit(&meter->shards[number], shard, memory_order_release);
    return shard;
}

/* The calling thread's. Owes a leave. */
static HOT struct meter_shard *enter(struct meter *meter)
{
    unsigned number = thread_number();
    if (UNLIKELY(number == THREAD_NUMBERS_MAX))
        pthread_mutex_lock(&meter->shared_lock);
    struct meter_shard *shard = atomic_load_explicit(&meter->shards[number], memory_order_relaxed);
    return LIKELY(shard != NULL) ? shard : add_shard(meter, number);
}

static HOT void leave(struct meter *meter)
{
    if (UNLIKELY(thread_number() == THREAD_NUMBERS_MAX))
        pthread_mutex_unlock(&meter->shared_lock);
}

/* Whether counters of the slot may be allocated. The pseudo tables' may always: they are few. */
static bool may_allocate(struct meter *meter, uint32_t slot)
{
    return slot < METER_SLOT_FIRST_TABLE ||
           atomic_load_explicit(&meter->memory, memory_order_relaxed) < meter->memory_max;
}

/* NULL: they would take too much memory. */
static struct meter_table_counters *table_in_slot(struct meter *meter, struct meter_shard *shard,
                                                  uint32_t slot)
{
    _Atomic(struct meter_table_page *) *at = &shard->pages[slot / METER_PAGE_TABLES];
    struct meter_table_page *page = atomic_load_explicit(at, memory_order_relaxed);
    if (UNLIKELY(page == NULL)) {
        page = allocate(meter, sizeof *page);
        atomic_store_explicit(at, page, memory_order_release);
    }
    _Atomic(struct meter_table_counters *) *place = &page->tables[slot % METER_PAGE_TABLES];
    struct meter_table_counters *table = atomic_load_explicit(place, memory_order_relaxed);
    if (UNLIKELY(table == NULL) && may_allocate(meter, slot)) {
        table = allocate(meter, sizeof *table);
        atomic_store_explicit(place, table, memory_order_release);
    }
    return table;
}

static void clear_units(struct meter_units_counters *units)
{
    atomic_store_explicit(&units->half_units, 0, memory_order_relaxed);
    for (size_t i = 0; i < METER_REASONS; i++)
        atomic_store_explicit(&units->throttles[i], 0, memory_order_relaxed);
    for (size_t i = 0; i < METER_MINUTES; i++)
        atomic_store_explicit(&units->minutes[i].minute, 0, memory_order_relaxed);
}

static void clear_index(struct meter_index_counters *index)
{
    atomic_store(&index->id, 0);
    for (size_t i = 0; i < METER_DIRECTIONS; i++)
        clear_units(&index->units[i]);
    for (size_t i = 0; i < METER_INDEX_READERS_MAX; i++) {
        atomic_store_explicit(&index->reads[i].operation, 0, memory_order_relaxed);
        atomic_store_explicit(&index->reads[i].items_read, 0, memory_order_relaxed);
        atomic_store_explicit(&index->reads[i].items_returned, 0, memory_order_relaxed);
    }
}

static void clear_operation(struct meter_operation_counters *operation)
{
    meter_counter *failures = operation->failures;
    meter_counter *const totals[] = { &operation->successes,      &operation->request_size,
                                      &operation->response_size,  &operation->items_read,
                                      &operation->items_returned, &operation->items_written };
    for (size_t i = 0; i < COUNT_OF(totals); i++)
        atomic_store_explicit(totals[i], 0, memory_order_relaxed);
    for (size_t i = 0; failures != NULL && i < ERROR_CODE_COUNT; i++)
        atomic_store_explicit(&failures[i], 0, memory_order_relaxed);
    histogram_recorder_clear(&operation->latency_ns);
    for (size_t i = 0; i < METER_MINUTES; i++)
        atomic_store_explicit(&operation->minutes[i].minute, 0, memory_order_relaxed);
}

/* A minute whose number is 0 is cleared before it is counted in, so its counters may stay. */
static void clear_table(struct meter_table_counters *table)
{
    atomic_store(&table->id, 0);
    for (size_t p = 0; p < METER_OPERATION_PAGES; p++) {
        struct meter_operation_page *page = table->operations[p];
        for (size_t i = 0; page != NULL && i < METER_PAGE_OPERATIONS; i++)
            if (page->operations[i] != NULL)
                clear_operation(page->operations[i]);
    }
    for (size_t i = 0; i < METER_INDEXES_MAX; i++)
        if (table->indexes[i] != NULL)
            clear_index(table->indexes[i]);
    for (size_t i = 0; i < METER_DIRECTIONS; i++)
        clear_units(&table->units[i]);
    for (size_t i = 0; i < CAPACITY_ITEM_SIZES; i++)
        atomic_store_explicit(&table->item_sizes[i], 0, memory_order_relaxed);
    meter_counter *const totals[] = { &table->item_size_sum, &table->condition_failures,
                                      &table->conflicts,     &table->conflict_requests,
                                      &table->expired_items, &table->stream_records };
    for (size_t i = 0; i < COUNT_OF(totals); i++)
        atomic_store_explicit(totals[i], 0, memory_order_relaxed);
    for (size_t i = 0; i < METER_MINUTES; i++)
        atomic_store_explicit(&table->minutes[i].minute, 0, memory_order_relaxed);
}

/* Counters that have another table's id, or none yet, become this table's; unless the slot is not
 * the table's any more: then the table was deleted, and a late call counts among the others. */
__attribute__((noinline)) static struct meter_table_counters *
adopt(struct meter *meter, struct meter_shard *shard, uint32_t *slot, uint64_t table_id)
{
    struct meter_table_counters *table = table_in_slot(meter, shard, *slot);
    if (!meter_slots_has(meter, *slot, table_id)) {
        *slot = METER_SLOT_OTHER;
        return table_in_slot(meter, shard, METER_SLOT_OTHER);
    }
    clear_table(table);
    atomic_store_explicit(&table->id, table_id, memory_order_release);
    return table;
}

/* The counters of a table, or those of the others if there are too many tables. */
static struct meter_table_counters *counters_of(struct meter *meter, struct meter_shard *shard,
                                                const struct table *table, uint32_t *slot)
{
    struct table_runtime *runtime = table_runtime(table);
    *slot = atomic_load_explicit(&runtime->meter_slot, memory_order_relaxed);
    if (UNLIKELY(*slot < METER_SLOT_FIRST_TABLE) &&
        (*slot == METER_SLOT_NONE ||
         atomic_load_explicit(&meter->free_slots, memory_order_relaxed) > 0))
        *slot = meter_slots_take(meter, table);
    struct meter_table_counters *counters = table_in_slot(meter, shard, *slot);
    if (UNLIKELY(counters == NULL)) {
        *slot = METER_SLOT_OTHER;
        counters = table_in_slot(meter, shard, METER_SLOT_OTHER);
    }
    if (UNLIKELY(*slot == METER_SLOT_OTHER))
        return counters;
    if (UNLIKELY(atomic_load_explicit(&counters->id, memory_order_relaxed) != runtime->table_id))
        return adopt(meter, shard, slot, runtime->table_id);
    return counters;
}

/* NULL: they would take too much memory. */
static struct meter_operation_counters *operation_of(struct meter *meter,
                                                     struct meter_table_counters *table,
                                                     uint32_t slot, unsigned operation)
{
    assert(operation < meter->options.operation_count);
    _Atomic(struct meter_operation_page *) *at =
        &table->operations[operation / METER_PAGE_OPERATIONS];
    struct meter_operation_page *page = atomic_load_explicit(at, memory_order_relaxed);
    if (UNLIKELY(page == NULL)) {
        page = allocate(meter, sizeof *page);
        atomic_store_explicit(at, page, memory_order_release);
    }
    _Atomic(struct meter_operation_counters *) *place =
        &page->operations[operation % METER_PAGE_OPERATIONS];
    struct meter_operation_counters *counters = atomic_load_explicit(place, memory_order_relaxed);
    if (UNLIKELY(counters == NULL) && may_allocate(meter, slot)) {
        counters = allocate(meter, sizeof *counters);
        atomic_store_explicit(place, counters, memory_order_release);
    }
    return counters;
}

/* NULL: they would take too much memory, or the others' are meant, which have no indexes. The place
 * of index `position` of the definition is often the same. */
static struct meter_index_counters *index_of(struct meter *meter,
                                             struct meter_table_counters *table, uint32_t slot,
                                             const struct table_definition *definition,
                                             size_t position)
{
    const struct index_definition *index = &definition->indexes[position];
    if (slot == METER_SLOT_OTHER)
        return NULL;
    for (size_t i = 0; i < METER_INDEXES_MAX; i++) {
        struct meter_index_counters *counters = atomic_load_explicit(
            &table->indexes[(position + i) % METER_INDEXES_MAX], memory_order_relaxed);
        if (counters != NULL &&
            atomic_load_explicit(&counters->id, memory_order_relaxed) == index->id)
            return counters;
    }
    if (!may_allocate(meter, slot))
        return NULL;
    size_t place = meter_slots_take_index(meter, slot, definition, index);
    struct meter_index_counters *counters = table->indexes[place];
    if (counters == NULL) {
        counters = allocate(meter, sizeof *counters);
        atomic_store_explicit(&table->indexes[place], counters, memory_order_release);
    }
    clear_index(counters);
    atomic_store_explicit(&counters->id, index->id, memory_order_release);
    return counters;
}

/* --- Minutes --- */

int64_t meter_wall_minute(const struct meter *meter)
{
    return clock_wall_us(meter->options.clock) / METER_US_PER_MINUTE;
}

int64_t meter_minute(const struct meter *meter)
{
    return meter_wall_minute(meter);
}

__attribute__((noinline)) static void read_minute(struct meter *meter, struct meter_shard *shard,
                                                  int64_t now_ns)
{
    int64_t wall_us = clock_wall_us(meter->options.clock);
    int64_t left_ns = (METER_US_PER_MINUTE - wall_us % METER_US_PER_MINUTE) * NS_PER_US;
    shard->minute = wall_us / METER_US_PER_MINUTE;
    shard->minute_until_ns = meter->clock_is_virtual
                                 ? 0
                                 : now_ns + (left_ns < MINUTE_TRUST_NS ? left_ns : MINUTE_TRUST_NS);
}

/* A call reads no second clock: the wall clock says once in a while until when its minute lasts. */
static HOT int64_t minute_at(struct meter *meter, struct meter_shard *shard, int64_t now_ns)
{
    if (UNLIKELY(now_ns >= shard->minute_until_ns))
        read_minute(meter, shard, now_ns);
    return shard->minute;
}

static size_t ring_place(int64_t minute)
{
    return (size_t)minute % METER_MINUTES;
}

/* Readers see either the old minute's number, none, or the new one's with zeros. `minute` is the
 * first of a structure of counters of that size. */
__attribute__((noinline)) static void begin_minute(_Atomic int64_t *minute, size_t size,
                                                   int64_t now)
{
    meter_counter *counters = (meter_counter *)(void *)(minute + 1);
    atomic_store_explicit(minute, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* Zeros show only after that: see is_still. */
    for (size_t i = 0; i < size / sizeof *counters - 1; i++)
        atomic_store_explicit(&counters[i], 0, memory_order_relaxed);
    atomic_store_explicit(minute, now, memory_order_release);
}

static HOT void enter_minute(_Atomic int64_t *minute, size_t size, int64_t now)
{
    if (UNLIKELY(atomic_load_explicit(minute, memory_order_relaxed) != now))
        begin_minute(minute, size, now);
}

static HOT struct meter_operation_minute *
operation_minute(struct meter_operation_counters *operation, int64_t minute)
{
    struct meter_operation_minute *place = &operation->minutes[ring_place(minute)];
    enter_minute(&place->minute, sizeof *place, minute);
    return place;
}

static HOT struct meter_units_minute *units_minute(struct meter_units_counters *units,
                                                   int64_t minute)
{
    struct meter_units_minute *place = &units->minutes[ring_place(minute)];
    enter_minute(&place->minute, sizeof *place, minute);
    return place;
}

static struct meter_table_minute *table_minute(struct meter_table_counters *table, int64_t minute)
{
    struct meter_table_minute *place = &table->minutes[ring_place(minute)];
    enter_minute(&place->minute, sizeof *place, minute);
    return place;
}

static HOT void add_sample(struct meter_set_counters *set, uint64_t value)
{
    if (value > meter_get(&set->max))
        atomic_store_explicit(&set->max, value, memory_order_relaxed);
    if (~value > meter_get(&set->inverse_min))
        atomic_store_explicit(&set->inverse_min, ~value, memory_order_relaxed);
    meter_add(&set->sum, value);
    meter_add(&set->count, 1);
}

/* --- Calls --- */

static bool is_throttle(enum error_code error)
{
    return error == ERROR_PROVISIONED_THROUGHPUT_EXCEEDED || error == ERROR_THROTTLING ||
           error == ERROR_REQUEST_LIMIT_EXCEEDED;
}

/* Documented: these two are no user errors, though their status is 400. */
static bool is_user_error(enum error_code error)
{
    return error != ERROR_NONE && error_kind(error)->http_status == HTTP_BAD_REQUEST &&
           error != ERROR_PROVISIONED_THROUGHPUT_EXCEEDED &&
           error != ERROR_CONDITIONAL_CHECK_FAILED;
}

__attribute__((noinline)) static void count_failure(struct meter *meter,
                                                    struct meter_operation_counters *operation,
                                                    enum error_code error, enum meter_verb verb,
                                                    int64_t minute)
{
    meter_counter *failures = atomic_load_explicit(&operation->failures, memory_order_relaxed);
    if (failures == NULL) {
        failures = allocate(meter, ERROR_CODE_COUNT * sizeof *failures);
        atomic_store_explicit(&operation->failures, failures, memory_order_release);
    }
    meter_add(&failures[error], 1);
    if (is_throttle(error))
        meter_add(&operation_minute(operation, minute)->throttled[verb], 1);
    if (error_kind(error)->http_status >= HTTP_INTERNAL_ERROR)
        meter_add(&operation_minute(operation, minute)->system_errors, 1);
}

/* Statements of PartiQL return items if they are a SELECT. */
static HOT bool returns_items(const struct meter *meter, const struct meter_call *call)
{
    return meter->options.operations[call->operation].returns_items &&
           (call->verb == METER_VERB_NONE || call->verb == METER_VERB_SELECT);
}

static HOT void count_success(struct meter *meter, struct meter_operation_counters *operation,
                              const struct meter_call *call, uint32_t returned_count,
                              int64_t minute)
{
    struct meter_operation_minute *set = operation_minute(operation, minute);
    uint64_t elapsed_ns = call->elapsed_ns < 0 ? 0 : (uint64_t)call->elapsed_ns;
    meter_add(&operation->successes, 1);
    size_t allocated = histogram_record(&operation->latency_ns, elapsed_ns);
    if (UNLIKELY(allocated > 0))
        atomic_fetch_add_explicit(&meter->memory, allocated, memory_order_relaxed);
    add_sample(&set->latency_ns, elapsed_ns);
    if (returns_items(meter, call)) {
        add_sample(&set->returned_items, returned_count);
        add_sample(&set->response_size, call->response_size);
    }
}

static HOT void count_outcome(struct meter *meter, struct meter_operation_counters *operation,
                              const struct meter_call *call, uint32_t returned_count,
                              int64_t minute)
{
    meter_add(&operation->request_size, call->request_size);
    meter_add(&operation->response_size, call->response_size);
    if (LIKELY(call->error == ERROR_NONE))
        count_success(meter, operation, call, returned_count, minute);
    else
        count_failure(meter, operation, call->error, call->verb, minute);
    if (UNLIKELY(call->is_throttled))
        meter_add(&operation_minute(operation, minute)->throttled[call->verb], 1);
}

static HOT void count_units(struct meter_units_counters *units, int64_t half_units, int64_t minute)
{
    assert(half_units > 0);
    meter_add(&units->half_units, (uint64_t)half_units);
    add_sample(&units_minute(units, minute)->half_units, (uint64_t)half_units);
}

/* Local indexes have the table's capacity, so its sample of the minute includes them. */
static int64_t count_local_units(const struct capacity_use *use)
{
    int64_t half_units = 0;
    for (size_t i = 0; i < use->definition->index_count; i++)
        half_units += use->definition->indexes[i].global ? 0 : use->index_half_units[i];
    return half_units;
}

static HOT void count_table_units(struct meter_table_counters *table,
                                  const struct capacity_use *use, int64_t minute)
{
    struct meter_units_counters *units = &table->units[(size_t)use->kind];
    int64_t with_indexes = use->table_half_units;
    if (use->definition->index_count > 0)
        with_indexes += count_local_units(use);
    if (with_indexes == 0)
        return;
    meter_add(&units->half_units, (uint64_t)use->table_half_units);
    struct meter_units_minute *set = units_minute(units, minute);
    add_sample(&set->half_units, (uint64_t)with_indexes);
    if (use->is_consistent) {
        meter_add(&units->consistent_half_units, (uint64_t)with_indexes);
        meter_add(&set->consistent_half_units, (uint64_t)with_indexes);
    }
}

static void count_index_read(struct meter_index_counters *index, const struct meter_call *call,
                             const struct capacity_use *use)
{
    for (size_t i = 0; i < METER_INDEX_READERS_MAX; i++) {
        uint64_t operation = meter_get(&index->reads[i].operation);
        if (operation != 0 && operation != call->operation + 1)
            continue;
        meter_add(&index->reads[i].items_read, use->read_count);
        meter_add(&index->reads[i].items_returned, use->returned_count);
        atomic_store_explicit(&index->reads[i].operation, call->operation + 1,
                              memory_order_release);
        return;
    }
    assert(false); /* METER_INDEX_READERS_MAX counts all operations that read indexes. */
}

/* A read has units of one index at most: the one that it reads. Returns whether there was one. */
static bool count_indexes(struct meter *meter, struct meter_shard *shard,
                          struct meter_table_counters *table, uint32_t slot,
                          const struct meter_call *call, const struct capacity_use *use,
                          int64_t minute)
{
    bool read_index = false;
    for (size_t i = 0; i < use->definition->index_count; i++) {
        if (use->index_half_units[i] == 0)
            continue;
        struct meter_index_counters *index = index_of(meter, table, slot, use->definition, i);
        if (UNLIKELY(index == NULL)) {
            struct meter_table_counters *other = table_in_slot(meter, shard, METER_SLOT_OTHER);
            if (use->definition->indexes[i].global)
                count_units(&other->units[(size_t)use->kind], use->index_half_units[i], minute);
            else /* Its table's sample of the minute has them. */
                meter_add(&other->units[(size_t)use->kind].half_units,
                          (uint64_t)use->index_half_units[i]);
            continue;
        }
        count_units(&index->units[(size_t)use->kind], use->index_half_units[i], minute);
        meter_add(&index->changes, use->index_changes[i]);
        meter_add(&index->moves, use->index_moves[i]);
        if (use->kind == CAPACITY_READ && !read_index) {
            count_index_read(index, call, use);
            read_index = true;
        }
    }
    return read_index;
}

static void count_sizes(struct meter_table_counters *table, const struct capacity_use *use)
{
    for (size_t i = 0; i < CAPACITY_ITEM_SIZES; i++) {
        if (use->size_counts[i] != 0)
            meter_add(&table->item_sizes[i], use->size_counts[i]);
    }
    meter_add(&table->item_size_sum, use->put_size);
    meter_add(&table->large_items, use->large_count);
    meter_add(&table->huge_items, use->huge_count);
}

__attribute__((noinline)) static void count_refusals(struct meter_table_counters *table,
                                                     uint32_t condition_failure_count,
                                                     uint32_t conflict_count, int64_t minute)
{
    struct meter_table_minute *set = table_minute(table, minute);
    meter_add(&table->condition_failures, condition_failure_count);
    meter_add(&set->condition_failures, condition_failure_count);
    if (conflict_count == 0)
        return;
    meter_add(&table->conflicts, conflict_count);
    meter_add(&table->conflict_requests, 1);
    add_sample(&set->conflicts, conflict_count);
}

/* Looks for the counters of a table and operation, or makes them. */
__attribute__((noinline)) static void find_counters(struct meter *meter, struct meter_shard *shard,
                                                    const struct table *table, unsigned operation,
                                                    struct meter_cached *out)
{
    out->table = counters_of(meter, shard, table, &out->slot);
    out->operation = operation_of(meter, out->table, out->slot, operation);
    if (out->operation == NULL) {
        out->slot = METER_SLOT_OTHER;
        out->table = table_in_slot(meter, shard, METER_SLOT_OTHER);
        out->operation = operation_of(meter, out->table, METER_SLOT_OTHER, operation);
    }
    /* Those of the others are not kept: the table may get counters of its own. */
    out->table_id = out->slot == METER_SLOT_OTHER ? 0 : table_runtime(table)->table_id;
    out->operation_number = operation;
}

static HOT const struct meter_cached *cached_counters(struct meter *meter,
                                                      struct meter_shard *shard,
                                                      const struct table *table, unsigned operation)
{
    uint64_t id = table_runtime(table)->table_id;
    struct meter_cached *cached = &shard->cache[(id + operation * 5) % METER_CACHE_PLACES];
    if (UNLIKELY(cached->table_id != id || cached->operation_number != operation ||
                 atomic_load_explicit(&cached->table->id, memory_order_relaxed) != id))
        find_counters(meter, shard, table, operation, cached);
    return cached;
}

static HOT void count_use(struct meter *meter, struct meter_shard *shard,
                          const struct meter_call *call, const struct capacity_use *use,
                          bool is_repeated, int64_t minute)
{
    const struct meter_cached *cached = cached_counters(meter, shard, use->table, call->operation);
    struct meter_table_counters *table = cached->table;
    struct meter_operation_counters *operation = cached->operation;
    if (LIKELY(!is_repeated))
        count_outcome(meter, operation, call, use->returned_count, minute);
    count_table_units(table, use, minute);
    bool read_index = use->definition->index_count > 0 &&
                      count_indexes(meter, shard, table, cached->slot, call, use, minute);
    if (!read_index && use->read_count > 0) {
        meter_add(&operation->items_read, use->read_count);
        meter_add(&operation->items_returned, use->returned_count);
    }
    if (use->written_count > 0)
        meter_add(&operation->items_written, use->written_count);
    if (use->put_count > 0)
        count_sizes(table, use);
    if (UNLIKELY(use->stream_record_count > 0))
        meter_add(&table->stream_records, use->stream_record_count);
    /* The service refuses a single write of an item that a transaction has by this error. */
    uint32_t conflict_count =
        use->conflict_count + (call->error == ERROR_TRANSACTION_CONFLICT && !is_repeated);
    if (UNLIKELY(use->condition_failure_count + conflict_count > 0))
        count_refusals(table, use->condition_failure_count, conflict_count, minute);
}

__attribute__((noinline)) static void count_user_error(struct meter_shard *shard, int64_t minute)
{
    struct meter_errors_minute *place = &shard->errors[ring_place(minute)];
    enter_minute(&place->minute, sizeof *place, minute);
    meter_add(&shard->user_errors, 1);
    meter_add(&place->user_errors, 1);
}

__attribute__((noinline)) static void count_batch(struct meter *meter, struct meter_shard *shard,
                                                  const struct meter_call *call)
{
    _Atomic(struct histogram_recorder *) *at = &shard->batches[call->operation];
    struct histogram_recorder *recorder = atomic_load_explicit(at, memory_order_relaxed);
    if (recorder == NULL) {
        recorder = allocate(meter, sizeof *recorder);
        atomic_store_explicit(at, recorder, memory_order_release);
    }
    atomic_fetch_add_explicit(&meter->memory, histogram_record(recorder, call->batch_count),
                              memory_order_relaxed);
}

/* A request may name a table twice: by its name and by its ARN. */
static bool is_repeated(const struct capacity_use *uses, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (uses[i].table != NULL &&
            table_runtime(uses[i].table) == table_runtime(uses[index].table))
            return true;
    }
    return false;
}

/* The call is counted for each of its tables that exist. */
static HOT bool count_uses(struct meter *meter, struct meter_shard *shard,
                           const struct meter_call *call, const struct capacity_use *uses,
                           size_t use_count, int64_t minute)
{
    bool any = false;
    for (size_t i = 0; i < use_count; i++) {
        if (uses[i].table == NULL)
            continue;
        count_use(meter, shard, call, &uses[i], i > 0 && is_repeated(uses, i), minute);
        any = true;
    }
    return any;
}

void meter_count_call(struct meter *meter, const struct meter_call *call,
                      const struct capacity_use *uses, size_t use_count)
{
    struct meter_shard *shard = enter(meter);
    int64_t minute = minute_at(meter, shard, call->now_ns);
    if (!count_uses(meter, shard, call, uses, use_count, minute))
        count_outcome(meter,
                      operation_of(meter, table_in_slot(meter, shard, METER_SLOT_NONE),
                                   METER_SLOT_NONE, call->operation),
                      call, 0, minute);
    if (UNLIKELY(call->batch_count > 0))
        count_batch(meter, shard, call);
    if (UNLIKELY(call->error != ERROR_NONE) && is_user_error(call->error) &&
        meter->options.operations[call->operation].has_user_errors)
        count_user_error(shard, minute);
    leave(meter);
}

void meter_count_injected(struct meter *meter, unsigned operation, int64_t now_ns,
                          const struct capacity_use *uses, size_t use_count)
{
    struct meter_shard *shard = enter(meter);
    int64_t minute = minute_at(meter, shard, now_ns);
    for (size_t i = 0; i < use_count; i++) {
        if (uses[i].table == NULL || is_repeated(uses, i))
            continue;
        struct meter_operation_counters *counters =
            cached_counters(meter, shard, uses[i].table, operation)->operation;
        meter_add(&operation_minute(counters, minute)->injected_errors, 1);
    }
    leave(meter);
}

/* --- What is no call --- */

void meter_count_throttle(struct meter *meter, const struct table *table,
                          const struct index_definition *index, enum meter_direction direction,
                          enum meter_reason reason, uint64_t count)
{
    const struct table_definition *definition = table_definition(table);
    struct meter_shard *shard = enter(meter);
    int64_t minute = minute_at(meter, shard, clock_monotonic_ns());
    uint32_t slot;
    struct meter_table_counters *counters = counters_of(meter, shard, table, &slot);
    struct meter_units_counters *units = &counters->units[direction];
    if (index != NULL) {
        assert(index >= definition->indexes &&
               index < definition->indexes + definition->index_count);
        size_t position = (size_t)(index - definition->indexes);
        struct meter_index_counters *found = index_of(meter, counters, slot, definition, position);
        units = found != NULL ? &found->units[direction]
                              : &table_in_slot(meter, shard, METER_SLOT_OTHER)->units[direction];
    }
    meter_add(&units->throttles[reason], count);
    meter_add(&units_minute(units, minute)->throttles[reason], count);
    leave(meter);
}

void meter_count_expired(struct meter *meter, const struct table *table, uint64_t count)
{
    struct meter_shard *shard = enter(meter);
    int64_t minute = minute_at(meter, shard, clock_monotonic_ns());
    uint32_t slot;
    struct meter_table_counters *counters = counters_of(meter, shard, table, &slot);
    meter_add(&counters->expired_items, count);
    meter_add(&table_minute(counters, minute)->expired_items, count);
    leave(meter);
}

void meter_count_stream_records(struct meter *meter, const struct table *table, uint64_t count)
{
    struct meter_shard *shard = enter(meter);
    uint32_t slot;
    meter_add(&counters_of(meter, shard, table, &slot)->stream_records, count);
    leave(meter);
}
