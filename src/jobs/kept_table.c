/* kept_table.c -- see kept_table.h. Layout: doc/disk-format-recovery.md, "Job records". */
#include "jobs/kept_table.h"
#include "base/arena.h"
#include "base/log.h"
#include "jobs/job_record.h"

#define ID_END "-00000000"

static bool has_id_of_kept(struct bytes id)
{
    struct bytes end = BYTES(ID_END);
    return id.len > end.len && bytes_equal(bytes_of(id.data + id.len - end.len, end.len), end);
}

bool kept_table_is(const struct job_record *record)
{
    return record->letter == JOB_BACKUP && has_id_of_kept(bytes_of(record->id, JOB_ID_SIZE));
}

bool kept_table_decode(struct arena *arena, const struct job_record *record,
                       struct table_definition *out)
{
    struct item detail, table;
    struct value value;
    return record->detail.data != NULL && item_open(arena_copy(arena, record->detail), &detail) &&
           item_verify(&detail) && item_find(&detail, BYTES("t"), &value) &&
           value.type == VALUE_B && item_open(value.data, &table) && item_verify(&table) &&
           table_definition_decode(arena, &table, out) && out->id == record->source_id;
}

size_t kept_table_owners(const struct table_definition *table,
                         uint64_t owners[KEPT_TABLE_OWNERS_MAX])
{
    size_t count = 0;
    owners[count++] = table->id;
    if (table->history.id != 0)
        owners[count++] = table->history.id;
    return count;
}

/* --- Visits --- */

static bool decode(struct arena *arena, const struct engine_entry *entry, struct job_record *record,
                   struct table_definition *table)
{
    if (job_record_decode(arena, entry->key, entry->value, record) &&
        kept_table_decode(arena, record, table))
        return true;
    log_write(LOG_ERROR, "jobs", "damaged record of the backup of a deleted table");
    return false;
}

enum engine_status kept_table_visit(struct engine *engine,
                                    bool (*visit)(void *context, const struct job_record *record,
                                                  const struct table_definition *table),
                                    void *context)
{
    static const uint8_t first = JOB_BACKUP, last = JOB_BACKUP + 1;
    const struct engine_range range = { .place = job_record_place,
                                        .first = bytes_of(&first, 1),
                                        .last = bytes_of(&last, 1) };
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct arena *scratch = arena_create();
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    for (bool more = true; status == ENGINE_OK && more;) {
        struct engine_entry entry;
        struct job_record record;
        struct table_definition table;
        status = engine_scan_next(scan, &entry);
        if (status == ENGINE_OK && has_id_of_kept(entry.key) &&
            decode(scratch, &entry, &record, &table))
            more = visit(context, &record, &table);
        arena_reset(scratch);
    }
    engine_scan_close(scan);
    engine_view_close(view);
    arena_destroy(scratch);
    return status == ENGINE_END ? ENGINE_OK : status;
}
