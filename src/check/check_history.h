/* check_history.h -- the history of a table, and the ceiling of commit times.
 *
 * An entry must decode, lie in the partition and on the day that its key says, hold the item whose
 * key it has, and have a commit time below the ceiling.
 */
#ifndef STATOR_CHECK_CHECK_HISTORY_H
#define STATOR_CHECK_CHECK_HISTORY_H
#include <stdint.h>

struct check_report;
struct engine_view;
struct table_definition;

/* Checks the ceilings, and returns the one that counts; INT64_MAX: there is none. */
int64_t check_history_ceiling(struct engine_view *view, struct check_report *report);
/* The entries of a table's history. Returns how many there are. */
uint64_t check_history(struct engine_view *view, const struct table_definition *table,
                       int64_t ceiling_us, struct check_report *report);

#endif
