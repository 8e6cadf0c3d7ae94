/* check_catalogue.h -- the records of tables and of streams.
 *
 * table/catalogue_store.c refuses a store with one damaged record. This reads what it can, and
 * reports the rest.
 */
#ifndef STATOR_CHECK_CHECK_CATALOGUE_H
#define STATOR_CHECK_CHECK_CATALOGUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/engine.h"
#include "model/table_definition.h"

struct arena;
struct check_report;
struct stream_definition;

/* An id under which data is stored, and whose it is. */
struct check_owner {
    uint64_t id;
    const struct table_definition
        *table; /* NULL: a dropped table, whose data may still be there. */
    const struct index_definition *index;   /* NULL: the table itself. */
    bool is_history;                        /* Of the table. */
    const struct stream_definition *stream; /* Not NULL: this is the log of a stream. */
};

struct check_catalogue {
    struct table_definition *tables; /* Sorted by name. */
    size_t table_count;
    /* Deleted tables that backups keep, in the order of their times. Their indexes are DELETING. */
    struct table_definition *kept;
    size_t kept_count;
    struct stream_definition *streams; /* Sorted by log_id. */
    size_t stream_count;
    struct check_owner *owners; /* Sorted by id. */
    size_t owner_count;
};

/* Everything lives in the arena. */
struct check_catalogue check_catalogue_read(struct engine_view *view, struct arena *arena,
                                            struct check_report *report);
/* NULL if no owner has the id. */
const struct check_owner *check_catalogue_owner(const struct check_catalogue *catalogue,
                                                uint64_t id);

#endif
