/* access.h -- the one decision about access: may this caller do what its request asks for?
 *
 * A request states as data what it asks: an action, a resource, the partition keys and attributes
 * that it touches, and what its answer shows. access_decide weighs that against the policies of the
 * caller and of the resource. Nothing here knows requests, tables in use or protocols, so every
 * operation of every protocol can ask in the same way.
 *
 * The cost of a decision depends on the policies: action, resource and principal are compared
 * first. The parts of a question are walked only if a statement that matches those has conditions
 * on partition keys or attributes.
 */
#ifndef STATOR_ACCESS_ACCESS_H
#define STATOR_ACCESS_ACCESS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct caller;
struct condition;
struct error;
struct item;
struct key_attribute;
struct key_condition;
struct path_node;
struct policy;
struct projection_column;
struct table_definition;
struct update;
struct value;

/* --- Policies of resources --- */

/* The compiled policies of a table and of its stream. A policy that cannot be parsed denies
 * everything, since it may have been written to deny. */
struct access_policy {
    const struct policy *policy; /* NULL: none, or unreadable. */
    bool is_unreadable;
};
struct access_table_policies {
    struct access_policy table;
    struct access_policy stream; /* Of the stream named by stream_policy_label. */
};
/* Of one resource; `text` with data NULL: none. Lives in the arena and borrows the text. */
const struct access_policy *access_compile_policy(struct arena *arena, struct bytes text);
/* Lives in the arena, like the definition. */
const struct access_table_policies *access_compile(struct arena *arena,
                                                   const struct table_definition *table);

/* --- Questions --- */

/* One thing that a request touches. */
enum access_part_kind {
    ACCESS_KEY_OF,        /* An item, or its key: the partition key and the names of the key. */
    ACCESS_NAMES_OF,      /* An item: the names of its attributes. */
    ACCESS_NAMES,         /* Names of attributes. */
    ACCESS_KEY_VALUES,    /* Values of the partition key. */
    ACCESS_KEY_CONDITION, /* Of a Query: names, and values of the partition key. */
    ACCESS_CONDITION,
    ACCESS_UPDATE,
    ACCESS_PROJECTION,
    ACCESS_COLUMNS, /* Of a SELECT. */
};
struct access_part {
    enum access_part_kind kind;
    union {
        const struct item *item;
        const struct bytes *names;
        const struct value *const *values;
        const struct key_condition *key_condition;
        const struct condition *condition; /* NULL: none; so for the three below. */
        const struct update *update;
        const struct path_node *projection;
        const struct projection_column *columns;
    };
    size_t count; /* Of names, values or columns. */
};

enum { ACCESS_RETURN_VALUES_MAX = 2 };

struct access_question {
    const char *service; /* The prefix of the action: "dynamodb". */
    const char *action;  /* "GetItem" */
    struct bytes arn;    /* Of the resource, or "*" where an action has none. */
    /* The table that the resource is or belongs to; NULL: there is none of that name, or the
     * question is about no table. Ask about a missing table as about one that exists. */
    const struct table_definition *table;
    const struct access_policy *policy; /* Of the resource; NULL: none. */

    /* The partition key of the table or index; none if that does not exist. */
    const struct key_attribute *hash;
    size_t hash_count;
    struct access_part *parts;
    size_t part_count;
    size_t part_capacity;
    /* The answer may show attributes that the request does not name. */
    bool shows_unnamed;

    /* Context keys; data NULL: absent. */
    struct bytes select;
    struct bytes return_consumed_capacity;
    struct bytes full_table_scan;
    struct bytes enclosing_operation;
    struct bytes return_values[ACCESS_RETURN_VALUES_MAX];
    size_t return_value_count;
};

/* Makes room for so many parts, in the arena. Once per question. */
void access_reserve(struct arena *arena, struct access_question *question, size_t part_count);
void access_add(struct access_question *question, struct access_part part);
/* Adds a value of ReturnValues, which says what the answer shows: "ALL_OLD", "UPDATED_NEW", ...
 * NONE, or data NULL, counts only if there is no other. */
void access_add_return_values(struct access_question *question, struct bytes words);

/* False with AccessDeniedException set, in the service's words. */
MUST_CHECK bool access_decide(struct arena *arena, const struct caller *caller,
                              const struct access_question *question, struct error *err);

/* Which lists of the question decide: a set of enum policy_list (auth/policy.h). A statement about
 * this action and resource, of the caller's policies or of the resource's, has a condition on each.
 */
unsigned access_lists_needed(struct arena *arena, const struct caller *caller,
                             const struct access_question *question);

#endif
