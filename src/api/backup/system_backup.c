/* system_backup.c -- see system_backup.h. */
#include "api/backup/system_backup.h"
#include <assert.h>
#include "api/api.h"
#include "api/backup/backup_name.h"
#include "base/arena.h"
#include "base/clock.h"
#include "jobs/job_record.h"
#include "jobs/kept_table.h"

#define NAME_END "$DeletedTableBackup"

/* A time whose id is free. All such ids end alike, so of two tables that are deleted in the same
 * millisecond one is a millisecond later. */
static enum engine_status take_id(struct engine *engine, struct arena *arena,
                                  struct job_record *record)
{
    struct job_record ignored;
    enum engine_status status = ENGINE_OK;
    for (; status == ENGINE_OK; record->created_ms++) {
        job_record_make_id(record->created_ms, 0, record->id);
        status =
            job_record_load(engine, arena, JOB_BACKUP, bytes_of(record->id, JOB_ID_SIZE), &ignored);
        if (status == ENGINE_NOT_FOUND)
            return ENGINE_OK;
    }
    return status;
}

static enum engine_status sum_stats(struct engine *engine, const struct table_definition *table,
                                    struct table_stats *out)
{
    struct engine_view *view = NULL;
    struct table_stats indexes[INDEXES_MAX];
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = table_stats_sum(view, table, out, indexes);
    engine_view_close(view);
    return status;
}

enum engine_status system_backup_keep(const struct api_options *options, struct arena *arena,
                                      const struct table_definition *definition,
                                      struct engine_write *write, bool *is_kept)
{
    const struct bytes name[] = { definition->name, BYTES(NAME_END) };
    struct backup_detail detail = { .type = BACKUP_SYSTEM, .table = *definition };
    struct job_record record = { .letter = JOB_BACKUP,
                                 .state = JOB_COMPLETED,
                                 .created_ms = clock_wall_ms(options->clock),
                                 .created_server_ms = clock_server_ms(options->clock),
                                 .table_name = definition->name,
                                 .table_uuid = definition->uuid,
                                 .source_id = definition->id };
    *is_kept = definition->recovery_days != 0;
    if (!*is_kept)
        return ENGINE_OK;
    enum engine_status status = sum_stats(options->engine, definition, &detail.stats);
    if (status == ENGINE_OK)
        status = take_id(options->engine, arena, &record);
    if (status != ENGINE_OK)
        return status;
    record.ended_ms = record.created_ms;
    record.progress = (struct job_progress){ .items_done = detail.stats.item_count,
                                             .items_total = detail.stats.item_count,
                                             .bytes_done = detail.stats.size,
                                             .bytes_total = detail.stats.size };
    detail.name = arena_join(arena, name, COUNT_OF(name));
    detail.expires_ms = record.created_ms + INT64_C(86400000) * KEPT_TABLE_DAYS;
    detail.record = table_definition_encode(arena, definition).encoded;
    record.detail = backup_detail_encode(arena, &detail);
    assert(kept_table_is(&record));
    job_record_put(arena, &record, write);
    return ENGINE_OK;
}
