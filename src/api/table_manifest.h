/* table_manifest.h -- reads the manifest of a table's backup that another store has made.
 *
 * The manifest holds the record that lists the backup. A folder of backups may come from anywhere,
 * so the record is verified before a store takes it over: it must be that of a complete backup that
 * somebody asked for. In particular it is not that of a deleted table (jobs/kept_table.h), whose
 * owners would be those of other tables here.
 */
#ifndef STATOR_API_TABLE_MANIFEST_H
#define STATOR_API_TABLE_MANIFEST_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

/* What the keys of all backups in a bucket begin with: it may hold other things, too. */
#define BACKUPS_BUCKET_PREFIX "stator-backups/"

/* `id` is the name of the backup's folder. The key and the record as they are to be stored live in
 * the arena. False if the manifest is none, or of another backup. */
MUST_CHECK bool table_manifest_read(struct arena *arena, struct bytes manifest, struct bytes id,
                                    struct bytes *key, struct bytes *stored);

#endif
