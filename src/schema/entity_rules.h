/* entity_rules.h -- what the entities of a table's model ask of its items, compiled once and
 * checked on every write.
 *
 * An item belongs to an entity if its key follows the entity's templates and it has the entity's
 * discriminator. It follows the model if it belongs to an entity, has that one's required
 * attributes, and its attributes have their types and, where they are keys of indexes, follow their
 * templates. If several entities are possible, one that is satisfied is enough.
 *
 * Checking walks an item once for each entity whose key templates match, which is one as a rule,
 * and an item of many attributes once for all of them; it allocates nothing. Any thread may check.
 */
#ifndef STATOR_SCHEMA_ENTITY_RULES_H
#define STATOR_SCHEMA_ENTITY_RULES_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/value.h"

struct arena;
struct entity_rules;
struct item;
struct model_file;
struct model_table;
struct table_definition;

enum {
    ENTITY_MODEL_SIZE_MAX = 128 * 1024,        /* Of the entities of a table, as stored. */
    ENTITY_MODEL_INPUT_SIZE_MAX = 1024 * 1024, /* Of what is sent. */
};

enum entity_rule {
    ENTITY_RULE_NONE,
    ENTITY_RULE_KEY, /* Its key follows the templates of no entity. */
    ENTITY_RULE_DISCRIMINATOR,
    ENTITY_RULE_REQUIRED,
    ENTITY_RULE_TYPE,
    ENTITY_RULE_INDEX_KEY,
    ENTITY_RULE_COUNT,
};
const char *entity_rule_name(enum entity_rule rule); /* "Required" */

struct entity_violation {
    enum entity_rule rule;
    struct bytes entity;    /* Empty for ENTITY_RULE_KEY. Borrows the rules, like what follows. */
    struct bytes attribute; /* Empty for ENTITY_RULE_KEY. */
    struct bytes expected;  /* The value of a discriminator, a type, or a template; else empty. */
};
/* "entity Order, rule Required: the attribute total is missing", in the arena. Never data of the
 * item. */
struct bytes entity_violation_text(struct arena *arena, const struct entity_violation *violation);

/* The entities of a table as they are stored, {"Entities":[...]}, of a model file or of that form
 * itself, in the arena. data NULL with `*failure` set to a sentence if they make no sense for the
 * table or there are none. */
MUST_CHECK struct bytes entity_rules_prepare(struct arena *arena, struct bytes text,
                                             const struct table_definition *table,
                                             struct bytes *failure);
/* Compiles what entity_rules_prepare made. Templates for indexes that the table does not have any
 * more, or has with other keys, are left out. NULL if the text is none of ours. Lives in the arena
 * and borrows nothing. */
MUST_CHECK const struct entity_rules *entity_rules_compile(struct arena *arena, struct bytes text,
                                                           const struct table_definition *table);

/* The rules of the entities that a model file has for one of its tables; NULL: there are none. */
const struct entity_rules *entity_rules_of_model(struct arena *arena, const struct model_file *file,
                                                 const struct model_table *table);

/* False with `*violation` set if the item breaks a rule. */
MUST_CHECK bool entity_rules_check(const struct entity_rules *rules, const struct item *item,
                                   struct entity_violation *violation);
/* The entity that the item belongs to, by its key and discriminator only; data NULL: none. */
struct bytes entity_rules_classify(const struct entity_rules *rules, const struct item *item);
size_t entity_rules_entity_count(const struct entity_rules *rules);

#endif
