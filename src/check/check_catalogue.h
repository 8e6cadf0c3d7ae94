/* check_catalogue.h -- the records of tables and of streams, each judged for itself.
 *
 * Unlike table/catalogue.c, which refuses a store with one damaged record, this reads what it can
 * and reports the rest.
 */
#ifndef STATOR_CHECK_CHECK_CATALOGUE_H
#define STATOR_CHECK_CHECK_CATALOGUE_H
#include <stddef.h>
#include <stdint.h>
#include "engine/engine.h"
#include "model/table_definition.h"

struct arena;
struct check_report;
struct stream_definition;

/* Who stores under an id. */
struct check_owner {
    uint64_t id;
    const struct table_definition *table;   /* NULL: dropped, its data may still be there. */
    const struct index_definition *index;   /* NULL: the table itself. */
    const struct stream_definition *stream; /* Not NULL: neither, but a stream's log. */
};

struct check_catalogue {
    struct table_definition *tables; /* In order of their names. */
    size_t table_count;
    struct stream_definition *streams; /* In order of their logs. */
    size_t stream_count;
    struct check_owner *owners; /* In order of their ids. */
    size_t owner_count;
};

/* Everything lives in the arena. */
struct check_catalogue check_catalogue_read(struct engine_view *view, struct arena *arena,
                                            struct check_report *report);
/* NULL if nobody stores under the id. */
const struct check_owner *check_catalogue_owner(const struct check_catalogue *catalogue,
                                                uint64_t id);

#endif
