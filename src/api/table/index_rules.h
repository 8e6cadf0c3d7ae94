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
struct index_request;
struct shape_list;
struct table_definition;

/* Fills in the draft's attributes, key and indexes. The draft's billing mode is set already. */
MUST_CHECK bool index_rules_draft(struct arena *arena, const struct create_table_request *request,
                                  struct table_definition *draft, struct error *err);

/* Adds a global index to a copy of an existing table (table_definition_copy), whose billing mode is
 * what it will be, and the definitions of its key attributes. `definitions` are the request's own:
 * those the table has already do not count. */
MUST_CHECK bool index_rules_add(struct arena *arena, const struct shape_list *definitions,
                                const struct index_request *request, struct table_definition *table,
                                struct error *err);
/* Sets ResourceNotFoundException for an index that the table does not have, and returns false. */
bool index_rules_refuse_missing(const struct table_definition *table, struct bytes name,
                                struct error *err);

#endif
