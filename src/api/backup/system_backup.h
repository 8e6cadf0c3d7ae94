/* system_backup.h -- the backup that is made of a table with recovery when it is deleted.
 *
 * Nothing is copied: the backup's record is stored in the batch that drops the table, and owns the
 * table's data from then on (jobs/kept_table.h). So a crash leaves the table or its backup. A
 * restore reads the data where it is. It ends after KEPT_TABLE_DAYS (control/kept_life.h).
 */
#ifndef STATOR_API_BACKUP_SYSTEM_BACKUP_H
#define STATOR_API_BACKUP_SYSTEM_BACKUP_H
#include <stdbool.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct api_options;
struct arena;
struct table_definition;

/* Control. Of struct catalogue_keeper: keeps a table whose recovery is enabled. */
MUST_CHECK enum engine_status system_backup_keep(const struct api_options *options,
                                                 struct arena *arena,
                                                 const struct table_definition *definition,
                                                 struct engine_write *write, bool *is_kept);

#endif
