/* index_rules.h -- what keys and secondary indexes a table may have.
 *
 * Pure: a request that passed its shape in, parts of a table's definition out, or the service's
 * message. Everything made lives in the arena; text is borrowed from the request.
 */
#ifndef STATOR_API_TABLE_INDEX_RULES_H
#define STATOR_API_TABLE_INDEX_RULES_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct create_table_request;
struct error;
struct table_definition;
struct update_table_request;

/* Fills in the draft's attributes, key and indexes. The draft's billing mode is set already. */
MUST_CHECK bool index_rules_draft(struct arena *arena, const struct create_table_request *request,
                                  struct table_definition *draft, struct error *err);

/* Sets ResourceNotFoundException for an index that the table does not have, and returns false. */
bool index_rules_refuse_missing(const struct table_definition *table, struct bytes name,
                                struct error *err);

/* --- GlobalSecondaryIndexUpdates: which indexes UpdateTable may create, change and delete --- */

/* The rules that do not depend on the table. */
MUST_CHECK bool index_rules_check(const struct update_table_request *request, struct error *err);
/* Whether the table's indexes are in a state in which they may be changed so. */
MUST_CHECK bool index_rules_check_state(const struct update_table_request *request,
                                        const struct table_definition *table, struct error *err);

/* Both change `table`, a copy (table_definition_copy) for which the rules above hold. The deletion
 * comes before a change of the billing mode, which asks for the throughput of all that stay; the
 * creation comes behind it. */
void index_rules_delete(const struct update_table_request *request, struct table_definition *table);
MUST_CHECK bool index_rules_create(struct arena *arena, const struct update_table_request *request,
                                   int64_t now_ms, struct table_definition *table,
                                   struct error *err);

#endif
