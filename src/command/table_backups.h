/* table_backups.h -- the files of backups of tables, which lie beside a store and are no part of
 * it. */
#ifndef STATOR_COMMAND_TABLE_BACKUPS_H
#define STATOR_COMMAND_TABLE_BACKUPS_H
#include "base/compiler.h"
#include "engine/engine.h"
#include "jobs/job_record.h"

/* Complete backups that a store knows. */
struct table_backups {
    size_t present_count; /* Their files are in the folder `backups/` of the directory. */
    size_t missing_count;
    char missing_id[JOB_ID_SIZE + 1]; /* The oldest of these. */
};
MUST_CHECK enum engine_status table_backups_count(struct engine *engine, const char *directory,
                                                  struct table_backups *out);

#endif
