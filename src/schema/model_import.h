/* model_import.h -- turns other forms of models into the tree of a NoSQL Workbench file. */
#ifndef STATOR_SCHEMA_MODEL_IMPORT_H
#define STATOR_SCHEMA_MODEL_IMPORT_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct json_node;
struct model_report;

/* The tree of a Workbench file, which is `root` itself if it is one. Knows the model of AWS's MCP
 * server, schemas of dynamodb-onetable, the input of CreateTable and the output of DescribeTable.
 * Sets report->format. NULL with report->failure set if it is none of these. */
MUST_CHECK struct json_node *model_import(struct arena *arena, struct json_node *root,
                                          struct model_report *report);
/* Entities in our own form, of a OneTable schema: what a file has as ModelSchema. Appends to
 * `entities`. Names a table, and its partition and sort key, by those of the schema's index
 * "primary". False, with nothing added, if the schema has more than MODEL_INDEXES_MAX indexes. */
MUST_CHECK bool model_import_onetable_entities(struct arena *arena, const struct json_node *schema,
                                               struct bytes table, struct json_node *entities);
/* The same of the table's own keys and those of its indexes: what they have as MapFunction, an
 * object of entities and templates. */
void model_import_map_functions(struct arena *arena, const struct json_node *table,
                                struct json_node *entities);

#endif
