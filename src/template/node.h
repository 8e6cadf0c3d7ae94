/* node.h -- a document as a tree: what a template's JSON or YAML says, with the line of each value.
 *
 * Evaluation builds new nodes and never changes those of the document. Trees live in the arena they
 * were built in, and are bounded by template_limits (template.h).
 */
#ifndef STATOR_TEMPLATE_NODE_H
#define STATOR_TEMPLATE_NODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct json_writer;

enum node_kind { NODE_NULL, NODE_BOOL, NODE_NUMBER, NODE_STRING, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    unsigned line;               /* From 1; 0: the value does not come from a file. */
    struct bytes text;           /* A string; a number as JSON writes it; "true" or "false". */
    struct node_member *members; /* Of a list or a map, in the order of the document. */
    size_t count;
    size_t capacity;
    /* Set by evaluation: the logical id of a resource of another service that the value depends
     * on, so that it has no real value; data NULL: none. Containers do not pass it up. */
    struct bytes foreign;
    /* Set by evaluation: an attribute that is known only once a resource exists
     * ("Table.StreamArn"); data NULL: none. */
    struct bytes pending;
};

struct node_member {
    struct bytes name; /* data NULL in a list. */
    unsigned line;     /* Of the name. */
    struct node *value;
};

struct node *node_create(struct arena *arena, enum node_kind kind, unsigned line);
/* Strings that are not literals must outlive the node. */
struct node *node_string(struct arena *arena, struct bytes text, unsigned line);
struct node *node_number(struct arena *arena, int64_t value);
struct node *node_bool(struct arena *arena, bool value);

/* `name` data NULL appends to a list. A name that a map has already is replaced. */
void node_add(struct arena *arena, struct node *container, struct bytes name, struct node *value);
void node_set(struct arena *arena, struct node *map, const char *name, struct node *value);
void node_append(struct arena *arena, struct node *list, struct node *value);
void node_remove(struct node *map, const char *name);

/* The member of a map; NULL if `map` is NULL, is no map, or has no such member. */
struct node *node_get(const struct node *map, const char *name);
struct node *node_get_bytes(const struct node *map, struct bytes name);
/* The element of a list whose member `name` is the string `value`; NULL: none. */
struct node *node_find(const struct node *list, const char *name, struct bytes value);
/* The text of a string, number or boolean member; data NULL: there is none. */
struct bytes node_text(const struct node *map, const char *name);
/* False if there is no such member, or it is no whole number (as a number or as text). */
bool node_integer(const struct node *map, const char *name, int64_t *out);
/* True if the member is true, or the text "true". */
bool node_is_true(const struct node *map, const char *name);
bool node_is_scalar(const struct node *node);

/* Numbers are equal by value, maps regardless of order, lists element by element. NULL equals only
 * NULL. */
bool node_equal(const struct node *a, const struct node *b);
/* The same for lists whose order does not matter, such as AttributeDefinitions. */
bool node_equal_unordered(const struct node *a, const struct node *b);
/* True if every member of `part`, on every level, is in `whole` with an equal value. Lists must
 * have the same length. NULL is part of anything. */
bool node_is_part(const struct node *part, const struct node *whole);

/* A deep copy. */
struct node *node_copy(struct arena *arena, const struct node *node);
/* One copied level: members are shared with the original. */
struct node *node_copy_level(struct arena *arena, const struct node *node);

void node_write(struct json_writer *writer, const struct node *node);
struct bytes node_json(struct arena *arena, const struct node *node);
/* The first scalar below `node` whose `foreign` (or `pending`) is set; NULL: none. */
const struct node *node_find_foreign(const struct node *node);
const struct node *node_find_pending(const struct node *node);

#endif
