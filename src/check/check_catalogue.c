/* check_catalogue.c -- see check_catalogue.h. Records: doc/disk-format.md, "Catalogue". */
#include "check/check_catalogue.h"
#include <inttypes.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "jobs/job_record.h"
#include "jobs/kept_table.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"
#include "schema/entity_rules.h"
#include "table/catalogue_record.h"
#include "table/layout.h"

struct reading {
    struct arena *arena;
    struct arena *scratch; /* Of one record at a time. */
    struct check_report *report;
    struct buffer tables;  /* struct table_definition each. */
    struct buffer kept;    /* struct table_definition each. */
    struct buffer owners;  /* struct check_owner each. */
    struct buffer streams; /* struct stream_definition each. */
    struct buffer ids;     /* uint64_t each: all that were given out. */
    uint64_t next_id;
};

/* --- Records --- */

static void add_id(struct reading *reading, uint64_t id)
{
    buffer_append(&reading->ids, &id, sizeof id);
}

static void add_partitions(struct reading *reading, const struct partition *partitions,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_id(reading, partitions[i].id);
}

/* The engine asserts that owners lie below ENGINE_OWNER_MAX, so a damaged id must not reach it. */
static bool is_owner(uint64_t id)
{
    return id != LAYOUT_CATALOGUE_OWNER && id < ENGINE_OWNER_MAX;
}

static bool has_owners(const struct table_definition *table)
{
    bool all = is_owner(table->id) &&
               (table->history.status == HISTORY_NONE || is_owner(table->history.id));
    for (size_t i = 0; i < table->index_count; i++)
        all &= is_owner(table->indexes[i].id);
    return all;
}

/* A server would refuse to open a store with a model that does not compile. */
static bool has_valid_model(struct arena *arena, const struct table_definition *table)
{
    return table->model.mode == MODEL_NONE ||
           entity_rules_compile(arena, table->model.text, table) != NULL;
}

static bool read_table(struct reading *reading, struct bytes name, struct bytes record)
{
    struct item item;
    struct table_definition table;
    if (!item_open(arena_copy(reading->arena, record), &item) || !item_verify(&item) ||
        !table_definition_decode(reading->arena, &item, &table) || !bytes_equal(table.name, name) ||
        !has_owners(&table) || !has_valid_model(reading->arena, &table))
        return false;
    buffer_append(&reading->tables, &table, sizeof table);
    add_id(reading, table.id);
    if (table.history.status != HISTORY_NONE)
        add_id(reading, table.history.id);
    add_partitions(reading, table.partitions, table.partition_count);
    add_partitions(reading, table.splits, table.split_count);
    for (size_t i = 0; i < table.index_count; i++) {
        add_id(reading, table.indexes[i].id);
        add_partitions(reading, table.indexes[i].partitions, table.indexes[i].partition_count);
    }
    return true;
}

static bool read_dropped(struct reading *reading, struct bytes key, struct bytes record)
{
    struct bytes ids = catalogue_record_decode_ids(record);
    /* The first id is also the key. */
    if (ids.data == NULL || key.len != 8 || memcmp(key.data, ids.data, 8) != 0)
        return false;
    for (size_t at = 0; at < ids.len; at += 8) {
        struct check_owner owner = { .id = load_u64_be(ids.data + at) };
        buffer_append(&reading->owners, &owner, sizeof owner);
        add_id(reading, owner.id);
    }
    return true;
}

static bool read_next_id(struct reading *reading, struct bytes key, struct bytes record)
{
    struct bytes ids = catalogue_record_decode_ids(record);
    if (ids.data == NULL || ids.len != 8 || key.len != 0)
        return false;
    reading->next_id = load_u64_be(ids.data);
    return true;
}

static bool read_record(struct reading *reading, struct bytes key, struct bytes record)
{
    struct bytes rest = key.len == 0 ? key : bytes_of(key.data + 1, key.len - 1);
    switch (key.len == 0 ? 0 : key.data[0]) {
    case LAYOUT_KEY_TABLE:
        return read_table(reading, rest, record);
    case LAYOUT_KEY_DROPPED:
        return read_dropped(reading, rest, record);
    case LAYOUT_KEY_NEXT_ID:
        return read_next_id(reading, rest, record);
    default:
        return false;
    }
}

static bool visit_record(void *context, const struct engine_place *place,
                         const struct engine_entry *entry)
{
    (void)place;
    struct reading *reading = context;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    if (!read_record(reading, entry->key, entry->value)) {
        check_report_format_bytes(entry->key, text);
        check_report_problem(reading->report, "catalogue: record %s is damaged or unknown", text);
    }
    return true;
}

/* A log's main definition comes before its detached streams, whose keys are longer. */
static bool has_log(const struct reading *reading, uint64_t log_id)
{
    const struct stream_definition *streams =
        (const struct stream_definition *)(const void *)reading->streams.data;
    size_t count = reading->streams.len / sizeof *streams;
    return count > 0 && streams[count - 1].log_id == log_id;
}

static bool read_stream(struct reading *reading, const struct engine_entry *entry)
{
    struct stream_definition stream;
    if (!streams_open_entry(reading->arena, entry, &stream) || !is_owner(stream.log_id))
        return false;
    if (stream_definition_is_detached(&stream)) {
        if (!has_log(reading, stream.log_id))
            check_report_problem(reading->report, "stream %.*s/%.*s: its log is gone",
                                 BYTES_FMT(stream.table_name), BYTES_FMT(stream.label));
        return true;
    }
    buffer_append(&reading->streams, &stream, sizeof stream);
    add_id(reading, stream.log_id);
    return true;
}

static bool visit_stream(void *context, const struct engine_place *place,
                         const struct engine_entry *entry)
{
    (void)place;
    struct reading *reading = context;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    if (!read_stream(reading, entry)) {
        check_report_format_bytes(entry->key, text);
        check_report_problem(reading->report, "streams: record %s is damaged or unknown", text);
    }
    return true;
}

/* Records that are damaged as a whole are check_jobs' to report. */
static bool visit_job(void *context, const struct engine_place *place,
                      const struct engine_entry *entry)
{
    (void)place;
    struct reading *reading = context;
    struct job_record record;
    struct table_definition table;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    arena_reset(reading->scratch);
    if (!job_record_decode(reading->scratch, entry->key, entry->value, &record) ||
        !kept_table_is(&record))
        return true;
    if (!kept_table_decode(reading->arena, &record, &table) || !has_owners(&table)) {
        check_report_format_bytes(entry->key, text);
        check_report_problem(reading->report, "record of a job, %s: keeps no deleted table", text);
        return true;
    }
    for (size_t i = 0; i < table.index_count; i++)
        table.indexes[i].status = INDEX_DELETING; /* With the table, as any dropped one's. */
    buffer_append(&reading->kept, &table, sizeof table);
    add_id(reading, table.id);
    if (table.history.status != HISTORY_NONE)
        add_id(reading, table.history.id);
    add_partitions(reading, table.partitions, table.partition_count);
    add_partitions(reading, table.splits, table.split_count);
    return true;
}

/* --- Ids --- */

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void check_ids(struct reading *reading)
{
    uint64_t *ids = (uint64_t *)(void *)reading->ids.data;
    size_t count = reading->ids.len / sizeof *ids;
    if (count == 0)
        return;
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && ids[i] == ids[i - 1])
            check_report_problem(reading->report, "catalogue: id %" PRIu64 " is given twice",
                                 ids[i]);
        else if (ids[i] < LAYOUT_FIRST_ID || ids[i] >= reading->next_id)
            check_report_problem(reading->report,
                                 "catalogue: id %" PRIu64
                                 " was never given: the next free one is %" PRIu64,
                                 ids[i], reading->next_id);
    }
}

/* --- Owners --- */

static int compare_owners(const void *a, const void *b)
{
    const struct check_owner *left = a, *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static void add_owners(struct reading *reading, const struct table_definition *table, bool is_kept)
{
    struct check_owner owner = { .id = table->id, .table = table };
    buffer_append(&reading->owners, &owner, sizeof owner);
    if (table->history.status != HISTORY_NONE) {
        const struct check_owner history = { .id = table->history.id,
                                             .table = table,
                                             .is_history = true };
        buffer_append(&reading->owners, &history, sizeof history);
    }
    for (size_t i = 0; !is_kept && i < table->index_count; i++) {
        owner.index = &table->indexes[i];
        owner.id = owner.index->id;
        buffer_append(&reading->owners, &owner, sizeof owner);
    }
}

struct check_catalogue check_catalogue_read(struct engine_view *view, struct arena *arena,
                                            struct check_report *report)
{
    struct reading reading = {
        .arena = arena, .scratch = arena_create(), .report = report, .next_id = LAYOUT_FIRST_ID
    };
    buffer_init(&reading.tables, arena);
    buffer_init(&reading.kept, arena);
    buffer_init(&reading.owners, arena);
    buffer_init(&reading.streams, arena);
    buffer_init(&reading.ids, arena);
    enum engine_status status = check_walk(view, &catalogue_record_place, visit_record, &reading);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "catalogue");
    status = check_walk(view, &streams_place, visit_stream, &reading);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "streams");
    status = check_walk(view, &job_record_place, visit_job, &reading);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the records of jobs");
    arena_destroy(reading.scratch);
    check_ids(&reading);
    struct check_catalogue catalogue = {
        .tables = (struct table_definition *)(void *)reading.tables.data,
        .table_count = reading.tables.len / sizeof(struct table_definition),
        .kept = (struct table_definition *)(void *)reading.kept.data,
        .kept_count = reading.kept.len / sizeof(struct table_definition),
        .streams = (struct stream_definition *)(void *)reading.streams.data,
        .stream_count = reading.streams.len / sizeof(struct stream_definition),
    };
    for (size_t i = 0; i < catalogue.table_count; i++)
        add_owners(&reading, &catalogue.tables[i],
                   false); /* Only now: the buffer may move while it grows. */
    for (size_t i = 0; i < catalogue.kept_count; i++)
        add_owners(&reading, &catalogue.kept[i], true);
    for (size_t i = 0; i < catalogue.stream_count; i++) {
        struct check_owner owner = { .id = catalogue.streams[i].log_id,
                                     .stream = &catalogue.streams[i] };
        buffer_append(&reading.owners, &owner, sizeof owner);
    }
    catalogue.owners = (struct check_owner *)(void *)reading.owners.data;
    catalogue.owner_count = reading.owners.len / sizeof *catalogue.owners;
    if (catalogue.owner_count > 0)
        qsort(catalogue.owners, catalogue.owner_count, sizeof *catalogue.owners, compare_owners);
    return catalogue;
}

const struct check_owner *check_catalogue_owner(const struct check_catalogue *catalogue,
                                                uint64_t id)
{
    struct check_owner sought = { .id = id };
    return catalogue->owner_count == 0 ? NULL
                                       : bsearch(&sought, catalogue->owners, catalogue->owner_count,
                                                 sizeof sought, compare_owners);
}
