/* projection.h -- ProjectionExpression, from its text to the parts of an item written as JSON.
 *
 * A parsed projection lives in the arena and borrows from the text and from what `params` was made
 * of. Writing reads the stored bytes directly: attributes that an item lacks are left out, and
 * elements of a list keep their order and close up.
 */
#ifndef STATOR_EXPR_PROJECTION_H
#define STATOR_EXPR_PROJECTION_H
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"

struct arena;
struct error;
struct expr_params;
struct item;
struct json_writer;
struct lookup;
struct path_node;
struct projection_column;

/* NULL with ERROR_VALIDATION set to the service's message of the first fault it reports. */
MUST_CHECK const struct projection *projection_parse(struct arena *arena, struct bytes text,
                                                     struct expr_params *params, struct error *err);

/* Writes one object: {"name":{"S":"..."},...}; `root` is a tree of the paths. */
void projection_write(struct json_writer *writer, const struct path_node *root,
                      const struct item *item);

/* The same for the lookup's item, with each part under its column's name, flat. */
void projection_write_columns(struct json_writer *writer, const struct projection_column *columns,
                              size_t count, struct lookup *lookup);

#endif
