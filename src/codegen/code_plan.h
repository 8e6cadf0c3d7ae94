/* code_plan.h -- what will be generated of a model: names, parameters and types, for one language.
 *
 * Everything lives in the arena and borrows the model.
 */
#ifndef STATOR_CODEGEN_CODE_PLAN_H
#define STATOR_CODEGEN_CODE_PLAN_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "codegen/code_names.h"
#include "codegen/model_code.h"
#include "model/value.h"
#include "schema/model_file.h"

/* A parameter of a function: of a template, an attribute of an entity, or both; or a value of an
 * expression. */
struct code_parameter {
    struct bytes source;     /* As in the model. */
    struct bytes identifier; /* As in the program. */
    bool has_type;
    enum value_type type;
    bool is_required;
    bool is_template;              /* Fills keys. */
    bool is_attribute;             /* Of an entity: is stored under its name. */
    const struct json_node *value; /* Of an expression, in the sample; NULL: it is none. */
};

struct code_parameters {
    struct code_parameter *list;
    size_t count;
};

/* A member of an item's type. */
struct code_member {
    struct bytes name;
    bool has_type;
    enum value_type type;
    bool is_required;
    struct bytes literal; /* The only value that it has: a discriminator; data NULL: any. */
};

struct code_members {
    struct code_member *list;
    size_t count;
};

struct code_entity {
    const struct model_entity *entity;
    const struct model_table *table;
    struct bytes type;    /* Order */
    struct bytes builder; /* new_order */
    struct code_members members;
    struct code_parameters parameters;
};

struct code_pattern {
    const struct model_pattern *pattern;
    const struct model_table *table;
    const struct model_index *index;
    struct bytes function;
    struct bytes item_type; /* Of what it reads or writes: a type of its own, entities, or Item. */
    bool has_own_type;      /* Since it reads some attributes only: `members`. */
    struct code_members members;
    struct code_parameters parameters;
    struct json_node *projected; /* Names of the attributes to ask for; NULL: all. */
};

struct code_plan {
    struct arena *arena;
    const struct model_file *file;
    enum code_language language;
    struct code_entity *entities;
    struct code_pattern *patterns;
};

/* False with `*failure` set, see model_code.h. */
MUST_CHECK bool code_plan_make(struct arena *arena, const struct model_file *file,
                               enum code_language language, struct code_plan *out,
                               struct bytes *failure);

/* The parameter that fills `name` in a template. */
const struct code_parameter *code_parameter_of_template(const struct code_parameters *parameters,
                                                        struct bytes name);
/* The key attribute of an index: the partition key, or the sort key. */
static inline const struct key_attribute *code_key(const struct model_index *index, bool is_range)
{
    return is_range ? &index->range : &index->hash;
}
/* The template that the entity has for an attribute, which is a key of the table or of the index
 * that `*index` is set to; NULL: it has none. */
const struct key_template *code_entity_template(const struct code_entity *entity,
                                                struct bytes attribute,
                                                const struct model_index **index);

#endif
