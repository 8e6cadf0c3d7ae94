/* check_table.h -- a table's items, its indexes' entries and its statistics against one another.
 *
 * Looks each item up in every index, and each entry in the table, so that memory does not grow with
 * the table.
 */
#ifndef STATOR_CHECK_CHECK_TABLE_H
#define STATOR_CHECK_CHECK_TABLE_H
#include <stdint.h>
#include "engine/engine.h"

struct check_report;
struct table_definition;

struct check_table_counts {
    uint64_t item_count;
    uint64_t entry_count; /* Of all its indexes. */
};

struct check_table_counts check_table(struct engine_view *view,
                                      const struct table_definition *table,
                                      struct check_report *report);

#endif
