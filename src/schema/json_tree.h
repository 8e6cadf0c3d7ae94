/* json_tree.h -- a JSON text as a tree that keeps everything: the order of members, unknown ones,
 * and numbers as they were written.
 *
 * For files that belong to their users: what stator does not understand must survive a load and a
 * save in its place. Nodes live in an arena and may be changed.
 */
#ifndef STATOR_SCHEMA_JSON_TREE_H
#define STATOR_SCHEMA_JSON_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "json/reader.h"

struct arena;
struct buffer;
struct json_writer;

enum {
    JSON_TREE_DEPTH_MAX = 128,
    JSON_TREE_NODES_MAX = 2 * 1000 * 1000,
};

struct json_node {
    enum json_type type;
    bool boolean;
    struct bytes name; /* Of a member of an object; data NULL otherwise. */
    struct bytes text; /* Of a string, without escapes; of a number, as written. */
    struct json_node *parent;
    struct json_node *first; /* Members or elements, in their order. */
    struct json_node *last;
    struct json_node *next; /* Of the same parent. */
    size_t count;           /* Of members or elements. */
};

/* NULL with `*failure` set to a sentence, with its position, if the text is no JSON or is beyond
 * the bounds. The tree borrows `text`. */
MUST_CHECK struct json_node *json_tree_parse(struct arena *arena, struct bytes text,
                                             struct bytes *failure);
/* Appends the text of a tree: indented by two spaces, with a line feed at the end; or in one line
 * without spaces. */
void json_tree_write(struct buffer *out, const struct json_node *root);
void json_tree_write_compact(struct json_writer *writer, const struct json_node *root);
struct bytes json_tree_text(struct arena *arena, const struct json_node *root); /* Compact. */

/* Equal values: members in the same order, numbers with the same text. */
bool json_tree_equal(const struct json_node *a, const struct json_node *b);

/* The member of that name, the last one if there are several; NULL if there is none or `object` is
 * NULL or no object. */
struct json_node *json_tree_member(const struct json_node *object, const char *name);
struct json_node *json_tree_member_bytes(const struct json_node *object, struct bytes name);
/* The text of a member that is a string; data NULL otherwise. */
struct bytes json_tree_string(const struct json_node *object, const char *name);

/* New nodes, not yet in a tree. Texts are borrowed. */
struct json_node *json_tree_new(struct arena *arena, enum json_type type);
struct json_node *json_tree_new_string(struct arena *arena, struct bytes text);
/* A copy with all below it; its name is absent. */
struct json_node *json_tree_copy(struct arena *arena, const struct json_node *node);
/* Adds a node that is in no tree, at the end. `name` is absent for an array's. */
void json_tree_add(struct json_node *parent, struct bytes name, struct json_node *child);
void json_tree_add_text(struct arena *arena, struct json_node *object, const char *name,
                        struct bytes text);
/* Turns `node` into `value`, which is in no tree, and keeps its place and its name. */
void json_tree_replace(struct json_node *node, const struct json_node *value);
/* Sets a member in its place, or adds it behind `after`, or at the end if that is not there. */
void json_tree_set(struct arena *arena, struct json_node *object, const char *name,
                   struct json_node *value, const char *after);
/* "DataModel[0].TableName", for messages; in the arena. */
struct bytes json_tree_path(struct arena *arena, const struct json_node *node);

/* The next node in the order of the text, below `root` or itself; NULL at the end. */
const struct json_node *json_tree_next(const struct json_node *node, const struct json_node *root);

#endif
