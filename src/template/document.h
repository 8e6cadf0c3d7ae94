/* document.h -- JSON or YAML text as a tree of nodes, within the bounds of template.h.
 *
 * YAML keeps scalars as they are written: only plain `true`, `false`, `null` and JSON's numbers are
 * more than text, so 2012-10-17 and 0123 stay what they are. CloudFormation's short tags become
 * what they stand for: `!Sub x` is {"Fn::Sub": "x"}. An alias refers to the node of its anchor, and
 * counts as many nodes and as much text as that has: whoever writes the tree writes both again.
 */
#ifndef STATOR_TEMPLATE_DOCUMENT_H
#define STATOR_TEMPLATE_DOCUMENT_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct node;
struct template_error;

enum { DOCUMENT_MEMBERS_MAX = 2000 /* Of one map: names are found by searching. */ };

/* Text that begins with { or [ is JSON, other text is YAML. NULL with `err` set. */
MUST_CHECK struct node *document_read(struct arena *arena, struct bytes text,
                                      struct template_error *err);
/* True if JSON would read `text` as a number. */
bool document_is_number(struct bytes text);

/* yaml_reader.c */
MUST_CHECK struct node *yaml_reader_read(struct arena *arena, struct bytes text,
                                         struct template_error *err);
/* Counts `nodes` more of a document; false with `err` set beyond TEMPLATE_NODES_MAX. */
MUST_CHECK bool document_count(struct arena *arena, size_t *count, size_t nodes, unsigned line,
                               struct template_error *err);
/* Adds a member that the map does not have yet. */
MUST_CHECK bool document_add_member(struct arena *arena, struct node *map, struct bytes name,
                                    unsigned line, struct node *value, struct template_error *err);

#endif
