/* index_rules.h -- what keys and secondary indexes a table may be created with.
 *
 * Pure: a request that passed its shape in, parts of a table's definition out, or the service's
 * message. Everything made lives in the arena; text is borrowed from the request.
 */
#ifndef STATOR_API_INDEX_RULES_H
#define STATOR_API_INDEX_RULES_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct create_table_request;
struct error;
struct table_definition;

/* Fills in the draft's attributes, key and indexes. The draft's billing mode is set already. */
MUST_CHECK bool index_rules_draft(struct arena *arena, const struct create_table_request *request,
                                  struct table_definition *draft, struct error *err);

/* Sets ResourceNotFoundException for an index that the table does not have, and returns false. */
bool index_rules_refuse_missing(const struct table_definition *table, struct bytes name,
                                struct error *err);

#endif
