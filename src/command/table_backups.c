/* table_backups.c -- see table_backups.h. */
#include "command/table_backups.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "archive/archive.h"
#include "base/arena.h"
#include "jobs/kept_table.h"

struct search {
    const char *directory;
    struct arena *scratch;
    struct table_backups *out;
};

static bool has_manifest(const struct search *search, const struct job_record *record)
{
    char path[PATH_MAX];
    struct bytes prefix = arena_printf(search->scratch, "backups/%s/", record->id);
    struct bytes key = archive_manifest_key(search->scratch, prefix);
    int size = snprintf(path, sizeof path, "%s/%.*s", search->directory, BYTES_FMT(key));
    return (size_t)size < sizeof path && access(path, F_OK) == 0;
}

/* The files of a deleted table's backup are the table's own. */
static bool visit(void *context, const struct job_record *record)
{
    struct search *search = context;
    struct table_backups *out = search->out;
    arena_reset(search->scratch);
    if (record->state != JOB_COMPLETED || kept_table_is(record))
        return true;
    if (has_manifest(search, record))
        out->present_count++;
    else if (out->missing_count++ == 0)
        memcpy(out->missing_id, record->id, sizeof out->missing_id);
    return true;
}

enum engine_status table_backups_count(struct engine *engine, const char *directory,
                                       struct table_backups *out)
{
    struct search search = { .directory = directory, .scratch = arena_create(), .out = out };
    const struct job_record_query query = { .letter = JOB_BACKUP,
                                            .visit = visit,
                                            .context = &search };
    *out = (struct table_backups){ 0 };
    enum engine_status status = job_record_visit(engine, &query);
    arena_destroy(search.scratch);
    return status;
}
