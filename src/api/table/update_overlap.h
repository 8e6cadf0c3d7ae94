/* update_overlap.h -- which changes UpdateTable makes while another change is under way.
 *
 * Pure. Observed in 2026: some changes are accepted while a table is UPDATING; the message about
 * another one names what is under way.
 */
#ifndef STATOR_API_TABLE_UPDATE_OVERLAP_H
#define STATOR_API_TABLE_UPDATE_OVERLAP_H
#include <stdbool.h>
#include "base/compiler.h"

struct error;
struct table_definition;
struct update_table_request;

/* Whether a table that is UPDATING may be changed so. The rules of its indexes
 * (index_rules_check_state) hold already. */
MUST_CHECK bool update_overlap_check(const struct update_table_request *request,
                                     const struct table_definition *table, struct error *err);

#endif
