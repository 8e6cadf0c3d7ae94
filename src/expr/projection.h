/* projection.h -- the parts of an item that a projection names, written as JSON.
 *
 * Written straight from the stored bytes. What an item lacks is left out; elements of a list keep
 * their order and close up.
 */
#ifndef STATOR_EXPR_PROJECTION_H
#define STATOR_EXPR_PROJECTION_H

#include <stddef.h>

struct item;
struct json_writer;
struct lookup;
struct path_node;
struct projection_column;

/* Writes one object: {"name":{"S":"..."},...}; `root` is a tree of the paths. */
void projection_write(struct json_writer *writer, const struct path_node *root,
                      const struct item *item);

/* The same of the lookup's item, with each part under its column's name, flat. */
void projection_write_columns(struct json_writer *writer, const struct projection_column *columns,
                              size_t count, struct lookup *lookup);

#endif
