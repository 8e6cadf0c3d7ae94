/* table_fixture.h -- small table definitions, ready for catalogue_create. */
#ifndef STATOR_TEST_TABLE_FIXTURE_H
#define STATOR_TEST_TABLE_FIXTURE_H
#include "base/bytes.h"
#include "model/table_definition.h"

struct arena;

/* An ACTIVE on-demand table with the partition key "p" (S). Borrows the name. */
struct table_definition table_fixture_draft(struct arena *arena, struct bytes name);
/* Adds the attribute "g" (S) and the global index "index" on it, KEYS_ONLY. */
void table_fixture_add_index(struct arena *arena, struct table_definition *draft,
                             enum index_status status);

#endif
