/* index_update_rules.h -- GlobalSecondaryIndexUpdates: which indexes UpdateTable may create, change
 * and delete, and when.
 *
 * Pure, like index_rules.h. Throughput of indexes that stay is changed by throughput_rules.h.
 */
#ifndef STATOR_API_TABLE_INDEX_UPDATE_RULES_H
#define STATOR_API_TABLE_INDEX_UPDATE_RULES_H
#include <stdbool.h>
#include "base/compiler.h"

struct arena;
struct error;
struct table_definition;
struct update_table_request;

/* The rules that do not depend on the table. */
MUST_CHECK bool index_update_rules_check(const struct update_table_request *request,
                                         struct error *err);
/* Whether the table's indexes are in a state in which they may be changed so. */
MUST_CHECK bool index_update_rules_check_state(const struct update_table_request *request,
                                               const struct table_definition *table,
                                               struct error *err);

/* Both change `table`, a copy (table_definition_copy) for which the rules above hold. The deletion
 * comes before a change of the billing mode, which asks for the throughput of all that stay; the
 * creation comes behind it. */
void index_update_rules_delete(const struct update_table_request *request,
                               struct table_definition *table);
MUST_CHECK bool index_update_rules_create(struct arena *arena,
                                          const struct update_table_request *request,
                                          struct table_definition *table, struct error *err);

#endif
