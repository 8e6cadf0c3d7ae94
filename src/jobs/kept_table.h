/* kept_table.h -- tables that were deleted and whose data a SYSTEM backup keeps.
 *
 * Deleting a table with recovery copies nothing: the batch that drops the table stores the record
 * of a backup (job_record.h), and from then on the owners of the items and of the history belong to
 * that record. Its id ends in zeros, which no other record's does. Who makes such records, and what
 * else they hold, is api/backup's; here is what the upkeep and `stator check` need of them.
 */
#ifndef STATOR_JOBS_KEPT_TABLE_H
#define STATOR_JOBS_KEPT_TABLE_H
#include <stdbool.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/table_definition.h"

struct arena;
struct job_record;

enum {
    KEPT_TABLE_DAYS = 35,      /* Of server time. */
    KEPT_TABLE_OWNERS_MAX = 2, /* Items, history. */
};

/* Whether a record keeps a deleted table. */
bool kept_table_is(const struct job_record *record);
/* The definition of the table that a record keeps; its indexes are gone. False if the record is
 * damaged. The result lives in the arena. */
MUST_CHECK bool kept_table_decode(struct arena *arena, const struct job_record *record,
                                  struct table_definition *out);
/* The owners of its data, the table's first. Returns how many. */
size_t kept_table_owners(const struct table_definition *table,
                         uint64_t owners[KEPT_TABLE_OWNERS_MAX]);

/* Visits all such records, in the order of their times, until `visit` answers false. Both arguments
 * are valid during the call. Damaged ones are logged and left out. Waits for the disk. */
MUST_CHECK enum engine_status kept_table_visit(struct engine *engine,
                                               bool (*visit)(void *context,
                                                             const struct job_record *record,
                                                             const struct table_definition *table),
                                               void *context);

#endif
