/* model_scan.c -- see model_scan.h. */
#include "api/model/model_scan.h"
#include <assert.h>
#include <string.h>
#include "api/operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "json/writer.h"
#include "model/item.h"
#include "model/item_record.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/layout.h"

struct scan {
    struct api *api;
    struct job *job;
    struct arena *memory; /* For one slice. */
    struct buffer examples;
    struct model_scan_report report;
    size_t unsaved; /* Items since the last job_save. */
    bool complete;
    size_t position_size; /* 0: at the beginning. */
    uint8_t position[BACKFILLED_SIZE_MAX];
};

/* --- The report --- */

struct bytes model_scan_report_encode(struct arena *arena, const struct model_scan_report *report)
{
    struct item_builder builder;
    uint64_t numbers[ENTITY_RULE_COUNT + 1];
    memcpy(numbers, report->counts, sizeof report->counts);
    numbers[ENTITY_RULE_COUNT] = report->example_count;
    item_builder_init(&builder, arena);
    item_record_add_numbers(&builder, "c", numbers, ENTITY_RULE_COUNT + 1);
    if (report->examples.len > 0)
        item_record_add_text(&builder, "x", report->examples);
    return item_builder_finish(&builder).encoded;
}

bool model_scan_report_decode(struct arena *arena, struct bytes detail,
                              struct model_scan_report *out)
{
    struct item record;
    struct value value;
    uint64_t *numbers;
    size_t count;
    *out = (struct model_scan_report){ .examples = BYTES("") };
    if (detail.data == NULL)
        return true;
    if (!item_open(arena_copy(arena, detail), &record) || !item_verify(&record) ||
        !item_record_find_numbers(arena, &record, "c", ENTITY_RULE_COUNT + 1, &numbers, &count) ||
        count != ENTITY_RULE_COUNT + 1)
        return false;
    memcpy(out->counts, numbers, sizeof out->counts);
    out->example_count = numbers[ENTITY_RULE_COUNT];
    return !item_find(&record, BYTES("x"), &value) ||
           item_record_find_text(arena, &record, "x", JOB_DETAIL_SIZE_MAX, &out->examples);
}

static void add_example(struct scan *scan, const struct table_definition *table,
                        const struct item *item, const struct entity_violation *violation)
{
    struct json_writer writer;
    struct value value;
    struct buffer text;
    if (scan->report.example_count == MODEL_SCAN_EXAMPLES_MAX)
        return;
    buffer_init(&text, scan->memory);
    json_writer_init(&writer, &text);
    json_open_object(&writer);
    json_write_name(&writer, "Key");
    json_open_object(&writer);
    const struct bytes names[] = { table->key.hash.name, table->key.range.name };
    for (size_t i = 0; i < (table->key.has_range ? 2 : 1); i++) {
        if (!item_find(item, names[i], &value))
            continue;
        json_write_name_bytes(&writer, names[i]);
        value_json_write(&writer, &value);
    }
    json_close_object(&writer);
    json_write_name(&writer, "Rule");
    json_write_text(&writer, entity_rule_name(violation->rule));
    json_write_name(&writer, "Violation");
    json_write_string(&writer, entity_violation_text(scan->memory, violation));
    json_close_object(&writer);
    if (scan->examples.len + text.len > MODEL_SCAN_EXAMPLES_SIZE_MAX)
        return;
    if (scan->examples.len > 0)
        buffer_append_byte(&scan->examples, ',');
    buffer_append_bytes(&scan->examples, buffer_bytes(&text));
    scan->report.example_count++;
}

/* --- Reading --- */

static void check_item(struct scan *scan, const struct table_definition *table,
                       const struct item *item)
{
    struct entity_violation violation;
    bool ok = entity_rules_check(table->entity_rules, item, &violation);
    job_count(scan->job, 1, item->size, !ok);
    scan->unsaved++;
    if (ok)
        return;
    scan->report.counts[violation.rule]++;
    add_example(scan, table, item, &violation);
}

static void go_to_next_partition(struct scan *scan, const struct table_definition *table,
                                 uint64_t partition_id)
{
    size_t next = 0;
    while (table->partitions[next++].id != partition_id)
        assert(next < table->partition_count);
    scan->complete = next == table->partition_count;
    if (scan->complete)
        return;
    store_u64_be(scan->position, table->partitions[next].first_hash);
    scan->position_size = LAYOUT_HASH_SIZE;
}

static enum engine_status read_entry(struct scan *scan, const struct table_definition *table,
                                     const struct engine_place *place,
                                     const struct engine_entry *entry)
{
    struct item item;
    if (entry->key.len < LAYOUT_HASH_SIZE || entry->key.len >= sizeof scan->position)
        return ENGINE_CORRUPT;
    enum engine_status status = item_address_open_entry(table, place, entry, &item);
    if (status != ENGINE_OK)
        return status;
    check_item(scan, table, &item);
    memcpy(scan->position, entry->key.data, entry->key.len);
    scan->position[entry->key.len] = 0; /* Right behind the key. */
    scan->position_size = entry->key.len + 1;
    return ENGINE_OK;
}

static enum engine_status read_slice(struct scan *scan, const struct table_definition *table)
{
    uint64_t hash = scan->position_size == 0 ? 0 : load_u64_be(scan->position);
    struct engine_range range = { .place = item_address_of_hash(table, hash),
                                  .first = bytes_of(scan->position, scan->position_size) };
    struct engine_view *view = NULL;
    struct engine_scan *entries = NULL;
    enum engine_status status = engine_view_open(job_engine(scan->job), ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &entries);
    for (size_t i = 0; i < MODEL_SCAN_SLICE_ITEMS && status == ENGINE_OK; i++) {
        struct engine_entry entry;
        status = engine_scan_next(entries, &entry);
        if (status == ENGINE_OK)
            status = read_entry(scan, table, &range.place, &entry);
    }
    engine_scan_close(entries);
    engine_view_close(view);
    if (status != ENGINE_END)
        return status;
    go_to_next_partition(scan, table, range.place.partition);
    return ENGINE_OK;
}

/* --- The job --- */

static enum job_result fail(struct scan *scan, const char *code, const char *text)
{
    job_fail(scan->job, code, "%s", text);
    return JOB_RESULT_FAILED;
}

static void set_state(struct scan *scan)
{
    scan->report.examples = buffer_bytes(&scan->examples);
    job_set_detail(scan->job, model_scan_report_encode(scan->memory, &scan->report));
    job_set_position(scan->job, bytes_of(scan->position, scan->position_size));
}

static enum job_result run_slice(struct scan *scan)
{
    const struct job_record *record = job_record(scan->job);
    struct table *table = catalogue_find(api_catalogue(scan->api), record->table_name);
    enum job_result result = JOB_RESULT_COMPLETED;
    if (table == NULL || !bytes_equal(table_definition(table)->uuid, record->table_uuid)) {
        result = fail(scan, "ResourceNotFoundException", "The table is gone");
    } else if (table_definition(table)->entity_rules == NULL) {
        result = fail(scan, "ModelNotFound", "The table has no model any more");
    } else {
        enum engine_status status = read_slice(scan, table_definition(table));
        if (status == ENGINE_CORRUPT)
            result = fail(scan, "InternalServerError", "The table's data is damaged");
        else if (status != ENGINE_OK)
            result = JOB_RESULT_AGAIN;
    }
    if (table != NULL)
        table_release(table);
    return result;
}

static enum job_result run_slices(struct scan *scan)
{
    while (!scan->complete) {
        if (job_is_cancelled(scan->job))
            return JOB_RESULT_CANCELLED;
        if (job_is_stopping(scan->job))
            return JOB_RESULT_STOPPED;
        enum job_result result = run_slice(scan);
        if (result != JOB_RESULT_COMPLETED)
            return result;
        set_state(scan);
        arena_reset(scan->memory);
        if (scan->unsaved < MODEL_SCAN_SAVE_ITEMS)
            continue;
        if (job_save(scan->job) != ENGINE_OK)
            return JOB_RESULT_AGAIN;
        scan->unsaved = 0;
    }
    return JOB_RESULT_COMPLETED;
}

static enum job_result run(struct job *job, void *context)
{
    const struct job_record *record = job_record(job);
    struct arena *arena = arena_create();
    struct scan scan = { .api = context, .job = job, .memory = arena_create() };
    enum job_result result;
    buffer_init(&scan.examples, arena);
    if (record->position.len > sizeof scan.position ||
        !model_scan_report_decode(arena, record->detail, &scan.report)) {
        result = fail(&scan, "InternalServerError", "The record of the scan is damaged");
    } else {
        buffer_append_bytes(&scan.examples, scan.report.examples);
        scan.position_size = record->position.len;
        if (record->position.len > 0)
            memcpy(scan.position, record->position.data, record->position.len);
        result = run_slices(&scan);
    }
    arena_destroy(scan.memory);
    arena_destroy(arena);
    return result;
}

struct job_kind model_scan_kind(struct api *api)
{
    return (struct job_kind){ .letter = JOB_MODEL_SCAN,
                              .name = "model-scan",
                              .active_max = MODEL_SCANS_MAX,
                              .run = run,
                              .context = api };
}
