/* metric_page.c -- see metric_page.h. doc/monitoring.md lists the families for people. */
#include "api/metric_page.h"
#include <assert.h>
#include <string.h>
#include "api/api.h"
#include "api/metric_page_engine.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "fault/faults.h"
#include "metric/exposition.h"
#include "metric/meter.h"
#include "model/table_definition.h"
#include "table/table_stats.h"

/* Seconds. */
static const double duration_ends[] = { 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                        0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10 };
static const double batch_ends[] = { 1, 2, 5, 10, 15, 25, 50, 100 };

static const double ns_in_seconds = 1e-9;

/* A page under way. */
struct page {
    struct api *api;
    struct arena *arena;
    struct meter *meter;
    size_t tables_max;
    size_t table_count;
    struct engine_view *view; /* For numbers of items; NULL: the store cannot be read. */
    /* The sum of tables without series of their own. */
    struct meter_table_reading rest;
    struct meter_operation_reading *rest_operations;
    bool has_rest;

    struct exposition_family *requests, *duration, *request_size, *response_size;
    struct exposition_family *read_units, *write_units, *throttled;
    struct exposition_family *provisioned_read, *provisioned_write;
    struct exposition_family *items_read, *items_returned, *items_written, *item_size;
    struct exposition_family *condition_failures, *conflicts;
    struct exposition_family *expired, *stream_records;
    struct exposition_family *table_items, *table_size, *batches, *user_errors, *faults;
    struct exposition_family *series, *series_max, *meter_memory;
};

static void add_families(struct page *page, struct exposition *out)
{
    const enum exposition_type counter = EXPOSITION_COUNTER, gauge = EXPOSITION_GAUGE,
                               histogram = EXPOSITION_HISTOGRAM;
    page->requests = exposition_add(out, counter, "stator_requests", NULL,
                                    "Requests by operation, table and outcome (ok or the name of "
                                    "the exception). One on several tables counts for each.");
    page->duration = exposition_add(out, histogram, "stator_request_duration_seconds", "seconds",
                                    "Server time of successful requests.");
    page->request_size =
        exposition_add(out, counter, "stator_request_bytes", "bytes", "Bodies of requests.");
    page->response_size = exposition_add(out, counter, "stator_response_bytes", "bytes",
                                         "Bodies of answers to successful requests.");
    page->read_units =
        exposition_add(out, counter, "stator_consumed_read_units", NULL,
                       "Read capacity units consumed; index is empty for the table itself.");
    page->write_units =
        exposition_add(out, counter, "stator_consumed_write_units", NULL,
                       "Write capacity units consumed; index is empty for the table itself.");
    page->throttled = exposition_add(out, counter, "stator_throttled", NULL,
                                     "Items and index entries that were not served.");
    page->provisioned_read = exposition_add(out, gauge, "stator_provisioned_read_units", NULL,
                                            "Read units per second; absent for on-demand tables.");
    page->provisioned_write =
        exposition_add(out, gauge, "stator_provisioned_write_units", NULL,
                       "Write units per second; absent for on-demand tables.");
    page->items_read = exposition_add(out, counter, "stator_items_read", NULL,
                                      "Items and index entries read, before filters.");
    page->items_returned = exposition_add(out, counter, "stator_items_returned", NULL,
                                          "Items that passed the filters.");
    page->items_written =
        exposition_add(out, counter, "stator_items_written", NULL, "Items put or deleted.");
    page->item_size = exposition_add(out, histogram, "stator_item_size_bytes", "bytes",
                                     "Sizes of the items put, as DynamoDB counts them.");
    page->condition_failures = exposition_add(out, counter, "stator_conditional_check_failed", NULL,
                                              "Items whose condition did not hold.");
    page->conflicts = exposition_add(out, counter, "stator_transaction_conflicts", NULL,
                                     "Items that another transaction was working on.");
    page->expired = exposition_add(out, counter, "stator_ttl_deleted_items", NULL,
                                   "Items deleted by time to live.");
    page->stream_records = exposition_add(out, counter, "stator_stream_records", NULL,
                                          "Records written to the table's stream.");
    page->table_items = exposition_add(out, gauge, "stator_table_items", NULL,
                                       "Items of a table, entries of an index.");
    page->table_size = exposition_add(out, gauge, "stator_table_size_bytes", "bytes",
                                      "Their size, as DynamoDB counts it.");
    page->batches = exposition_add(out, histogram, "stator_batch_items", NULL,
                                   "Items or statements of batches and transactions.");
    page->user_errors =
        exposition_add(out, counter, "stator_user_errors", NULL,
                       "Requests refused with status 400, as CloudWatch's UserErrors counts them.");
    page->faults = exposition_add(out, counter, "stator_injected_faults", NULL,
                                  "Faults injected on purpose. Requests that failed by one count "
                                  "nowhere else.");
    page->series = exposition_add(out, gauge, "stator_metered_tables", NULL,
                                  "Tables that are counted one by one.");
    page->series_max = exposition_add(out, gauge, "stator_metered_tables_max", NULL,
                                      "How many can be; the others count as (other).");
    page->meter_memory =
        exposition_add(out, gauge, "stator_meter_memory_bytes", "bytes", "Memory of all counters.");
}

/* --- One table --- */

static struct exposition_label label(const char *name, struct bytes value)
{
    return (struct exposition_label){ name, value };
}

static void add_operation(const struct page *page, struct bytes table, size_t number,
                          const struct meter_operation_reading *operation)
{
    struct exposition_label labels[] = {
        label("operation", bytes_from_text(meter_operation_at(page->meter, number)->name)),
        label("table", table),
        label("code", BYTES("")),
    };
    for (enum error_code code = 0; code < ERROR_CODE_COUNT; code++) {
        labels[2].value = error_short_name(code);
        if (operation->calls[code] > 0)
            exposition_integer(page->requests, labels, 3, operation->calls[code]);
    }
    if (operation->latency_ns.count > 0)
        exposition_histogram(page->duration, labels, 2, duration_ends, COUNT_OF(duration_ends),
                             &operation->latency_ns, ns_in_seconds);
    exposition_integer(page->request_size, labels, 2, operation->request_size);
    exposition_integer(page->response_size, labels, 2, operation->response_size);
    if (operation->items_written > 0)
        exposition_integer(page->items_written, labels, 2, operation->items_written);
}

static void add_reads(const struct page *page, struct bytes table, struct bytes index,
                      size_t operation, uint64_t items_read, uint64_t items_returned)
{
    const struct exposition_label labels[] = {
        label("table", table),
        label("index", index),
        label("operation", bytes_from_text(meter_operation_at(page->meter, operation)->name)),
    };
    if (items_read == 0)
        return;
    exposition_integer(page->items_read, labels, 3, items_read);
    exposition_integer(page->items_returned, labels, 3, items_returned);
}

static void add_units(const struct page *page, struct bytes table, struct bytes index,
                      const struct meter_units_reading units[METER_DIRECTIONS])
{
    struct exposition_label labels[] = { label("table", table), label("index", index),
                                         label("direction", BYTES("")),
                                         label("reason", BYTES("")) };
    if (units[METER_READ].half_units > 0)
        exposition_halves(page->read_units, labels, 2, units[METER_READ].half_units);
    if (units[METER_WRITE].half_units > 0)
        exposition_halves(page->write_units, labels, 2, units[METER_WRITE].half_units);
    for (size_t direction = 0; direction < METER_DIRECTIONS; direction++) {
        labels[2].value = direction == METER_READ ? BYTES("read") : BYTES("write");
        for (enum meter_reason reason = 0; reason < METER_REASONS; reason++) {
            labels[3].value = bytes_from_text(meter_reason_name(reason));
            if (units[direction].throttles[reason] > 0)
                exposition_integer(page->throttled, labels, 4, units[direction].throttles[reason]);
        }
    }
}

static void add_if_any(struct exposition_family *family, struct bytes table, uint64_t count)
{
    const struct exposition_label labels[] = { label("table", table) };
    if (count > 0)
        exposition_integer(family, labels, 1, count);
}

static void add_item_sizes(const struct page *page, const struct meter_table_reading *table)
{
    const struct exposition_label labels[] = { label("table", table->name) };
    double ends[CAPACITY_ITEM_SIZES];
    uint64_t counts[CAPACITY_ITEM_SIZES + 1] = { 0 }, all = 0;
    for (size_t i = 0; i < CAPACITY_ITEM_SIZES; i++) {
        ends[i] = (double)(UINT64_C(1) << i);
        counts[i] = table->item_sizes[i];
        all += counts[i];
    }
    if (all > 0)
        exposition_buckets(page->item_size, labels, 1, ends, CAPACITY_ITEM_SIZES, counts,
                           (double)table->item_size_sum);
}

static void add_throughput(const struct page *page, const struct table_definition *definition)
{
    struct exposition_label labels[] = { label("table", definition->name),
                                         label("index", BYTES("")) };
    if (definition->billing_mode != BILLING_PROVISIONED)
        return;
    for (size_t i = 0; i <= definition->index_count; i++) {
        const struct index_definition *index = i == 0 ? NULL : &definition->indexes[i - 1];
        const struct throughput *throughput =
            index == NULL ? &definition->throughput : &index->throughput;
        if (index != NULL && !index->global)
            continue;
        labels[1].value = index == NULL ? BYTES("") : index->name;
        exposition_integer(page->provisioned_read, labels, 2, (uint64_t)throughput->read_units);
        exposition_integer(page->provisioned_write, labels, 2, (uint64_t)throughput->write_units);
    }
}

static void add_contents(const struct page *page, const struct table_definition *definition)
{
    struct table_stats stats, indexes[INDEXES_MAX];
    if (page->view == NULL || table_stats_sum(page->view, definition, &stats, indexes) != ENGINE_OK)
        return;
    for (size_t i = 0; i <= definition->index_count; i++) {
        const struct table_stats *shown = i == 0 ? &stats : &indexes[i - 1];
        const struct exposition_label labels[] = {
            label("table", definition->name),
            label("index", i == 0 ? BYTES("") : definition->indexes[i - 1].name),
        };
        exposition_integer(page->table_items, labels, 2, (uint64_t)shown->item_count);
        exposition_integer(page->table_size, labels, 2, (uint64_t)shown->size);
    }
}

static void add_table(const struct page *page, const struct meter_table_reading *table)
{
    for (size_t i = 0; i < meter_operation_count(page->meter); i++) {
        const struct meter_operation_reading *operation = &table->operations[i];
        if (!operation->used)
            continue;
        add_operation(page, table->name, i, operation);
        add_reads(page, table->name, BYTES(""), i, operation->items_read,
                  operation->items_returned);
    }
    add_units(page, table->name, BYTES(""), table->units);
    for (size_t i = 0; i < table->index_count; i++) {
        const struct meter_index_reading *index = &table->indexes[i];
        if (!index->exists)
            continue;
        add_units(page, table->name, index->name, index->units);
        for (size_t k = 0; k < index->read_count; k++)
            add_reads(page, table->name, index->name, index->reads[k].operation,
                      index->reads[k].items_read, index->reads[k].items_returned);
    }
    add_item_sizes(page, table);
    add_if_any(page->condition_failures, table->name, table->condition_failures);
    add_if_any(page->conflicts, table->name, table->conflicts);
    add_if_any(page->expired, table->name, table->expired_items);
    add_if_any(page->stream_records, table->name, table->stream_records);
    if (table->definition != NULL) {
        add_throughput(page, table->definition);
        add_contents(page, table->definition);
    }
}

/* --- Tables without series of their own --- */

static void merge_units(struct meter_units_reading *into, const struct meter_units_reading *from)
{
    into->half_units += from->half_units;
    for (size_t i = 0; i < METER_REASONS; i++)
        into->throttles[i] += from->throttles[i];
}

static void merge_operation(struct meter_operation_reading *into,
                            const struct meter_operation_reading *from)
{
    into->used = true;
    for (size_t i = 0; i < ERROR_CODE_COUNT; i++)
        into->calls[i] += from->calls[i];
    histogram_merge(&into->latency_ns, &from->latency_ns);
    into->request_size += from->request_size;
    into->response_size += from->response_size;
    into->items_read += from->items_read;
    into->items_returned += from->items_returned;
    into->items_written += from->items_written;
}

static void merge_table(struct page *page, const struct meter_table_reading *table)
{
    struct meter_table_reading *rest = &page->rest;
    page->has_rest = true;
    for (size_t i = 0; i < meter_operation_count(page->meter); i++) {
        if (table->operations[i].used)
            merge_operation(&page->rest_operations[i], &table->operations[i]);
    }
    for (size_t d = 0; d < METER_DIRECTIONS; d++) {
        merge_units(&rest->units[d], &table->units[d]);
        for (size_t i = 0; i < table->index_count; i++)
            merge_units(&rest->units[d], &table->indexes[i].units[d]);
    }
    for (size_t i = 0; i < table->index_count; i++) {
        const struct meter_index_reading *index = &table->indexes[i];
        for (size_t k = 0; k < index->read_count; k++) {
            struct meter_operation_reading *operation =
                &page->rest_operations[index->reads[k].operation];
            operation->items_read += index->reads[k].items_read;
            operation->items_returned += index->reads[k].items_returned;
        }
    }
    for (size_t i = 0; i < CAPACITY_ITEM_SIZES; i++)
        rest->item_sizes[i] += table->item_sizes[i];
    rest->item_size_sum += table->item_size_sum;
    rest->condition_failures += table->condition_failures;
    rest->conflicts += table->conflicts;
    rest->expired_items += table->expired_items;
    rest->stream_records += table->stream_records;
}

static void visit_table(void *context, const struct meter_table_reading *table)
{
    struct page *page = context;
    if (table->is_pseudo && table->name.len == 0)
        add_table(page, table);
    else if (table->is_pseudo)
        merge_table(page, table);
    else if (table->definition == NULL)
        return; /* Deleted. */
    else if (page->table_count++ < page->tables_max)
        add_table(page, table);
    else
        merge_table(page, table);
}

/* --- The whole --- */

static void add_batches(const struct page *page)
{
    struct histogram *histogram = arena_alloc(page->arena, sizeof *histogram);
    for (unsigned i = 0; i < meter_operation_count(page->meter); i++) {
        const struct exposition_label labels[] = { label(
            "operation", bytes_from_text(meter_operation_at(page->meter, i)->name)) };
        memset(histogram, 0, sizeof *histogram);
        meter_read_batches(page->meter, i, histogram);
        if (histogram->count > 0)
            exposition_histogram(page->batches, labels, 1, batch_ends, COUNT_OF(batch_ends),
                                 histogram, 1);
    }
}

static void add_faults(const struct page *page)
{
    const struct faults *faults = api_options(page->api)->faults;
    for (enum fault_kind kind = 0; faults != NULL && kind < FAULT_KINDS; kind++) {
        const struct exposition_label labels[] = { label("fault",
                                                         bytes_from_text(fault_kind_name(kind))) };
        exposition_integer(page->faults, labels, 1, faults_total(faults, kind));
    }
}

void metric_page_add(struct api *api, struct arena *arena, struct exposition *out,
                     size_t tables_max)
{
    struct meter *meter = api_meter(api);
    struct page *page = arena_alloc_zeroed(arena, sizeof *page);
    *page = (struct page){ .api = api, .arena = arena, .meter = meter, .tables_max = tables_max };
    page->rest_operations =
        arena_alloc_zeroed(arena, meter_operation_count(meter) * sizeof *page->rest_operations);
    page->rest.name = BYTES(METER_OTHER_TABLES);
    page->rest.operations = page->rest_operations;
    add_families(page, out);
    struct engine *engine = api_options(api)->engine;
    if (engine_view_open(engine, ENGINE_EVENTUAL, &page->view) != ENGINE_OK)
        page->view = NULL;
    meter_read(meter, 0, visit_table, page);
    if (page->has_rest)
        add_table(page, &page->rest);
    engine_view_close(page->view);
    add_batches(page);
    add_faults(page);
    exposition_integer(page->user_errors, NULL, 0, meter_read_errors(meter, 0).user_errors);
    struct meter_occupancy occupancy = meter_occupancy(meter);
    exposition_integer(page->series, NULL, 0, occupancy.tables);
    exposition_integer(page->series_max, NULL, 0, occupancy.tables_max);
    exposition_integer(page->meter_memory, NULL, 0, occupancy.memory);
    metric_page_add_engine(api, out);
    metric_page_add_triggers(api, arena, out);
    metric_page_add_destinations(api, arena, out);
    metric_page_add_replicas(api, out);
    metric_page_add_alarms(api, out);
    metric_page_add_jobs(api, out);
}
