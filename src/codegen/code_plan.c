/* code_plan.c -- see code_plan.h. */
#include "codegen/code_plan.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "codegen/code_writer.h"
#include "model/item.h"
#include "schema/json_tree.h"
#include "schema/pattern_verdict.h"

/* --- Lists --- */

static struct code_parameter *add_parameter(struct arena *arena, struct code_parameters *to,
                                            struct bytes source)
{
    to->list = arena_grow(arena, to->list, to->count * sizeof *to->list,
                          (to->count + 1) * sizeof *to->list);
    struct code_parameter *parameter = &to->list[to->count++];
    *parameter = (struct code_parameter){ .source = source };
    return parameter;
}

/* The member of that name, which is added unless it is there. */
static struct code_member *add_member(struct arena *arena, struct code_members *to,
                                      struct bytes name)
{
    for (size_t i = 0; i < to->count; i++) {
        if (bytes_equal(to->list[i].name, name))
            return &to->list[i];
    }
    to->list = arena_grow(arena, to->list, to->count * sizeof *to->list,
                          (to->count + 1) * sizeof *to->list);
    struct code_member *member = &to->list[to->count++];
    *member = (struct code_member){ .name = name };
    return member;
}

const struct code_parameter *code_parameter_of_template(const struct code_parameters *parameters,
                                                        struct bytes name)
{
    for (size_t i = 0; i < parameters->count; i++) {
        if (parameters->list[i].is_template && bytes_equal(parameters->list[i].source, name))
            return &parameters->list[i];
    }
    return NULL;
}

static struct code_parameter *template_parameter(struct code_parameters *parameters,
                                                 struct bytes name)
{
    return (struct code_parameter *)code_parameter_of_template(parameters, name);
}

/* Adds the parameters of a template for a key of a type. One that several templates have is of the
 * type of a key that it is alone: a number or binary. */
static void add_template(struct arena *arena, struct code_parameters *to,
                         const struct key_template *template, enum value_type type, bool required)
{
    for (size_t i = 0; i < template->part_count; i++) {
        struct bytes name = template->parts[i].parameter;
        if (name.data == NULL)
            continue;
        struct code_parameter *parameter = template_parameter(to, name);
        if (parameter == NULL) {
            parameter = add_parameter(arena, to, name);
            *parameter = (struct code_parameter){
                .source = name, .has_type = true, .type = VALUE_S, .is_template = true
            };
        }
        if (type != VALUE_S)
            parameter->type = type;
        parameter->is_required = parameter->is_required || required;
    }
}

/* --- Entities --- */

const struct key_template *code_entity_template(const struct code_entity *entity,
                                                struct bytes attribute,
                                                const struct model_index **index)
{
    for (size_t i = 0; i < entity->table->index_count; i++) {
        const struct model_index *at = &entity->table->indexes[i];
        const struct model_entity_key *key = model_entity_key(entity->entity, at->name);
        *index = at;
        if (key != NULL && key->has_hash && bytes_equal(at->hash.name, attribute))
            return &key->hash;
        if (key != NULL && key->has_range && at->has_range &&
            bytes_equal(at->range.name, attribute))
            return &key->range;
    }
    return NULL;
}

/* Adds an attribute as a parameter of the builder. One that is a parameter of a template too is one
 * parameter, if the template takes it as it is. */
static void plan_attribute(struct arena *arena, struct code_entity *entity,
                           const struct model_attribute *attribute)
{
    const struct model_index *index;
    const struct key_template *template = code_entity_template(entity, attribute->name, &index);
    struct code_parameter *parameter = template_parameter(&entity->parameters, attribute->name);
    if (template != NULL) { /* It is filled; if by itself, its parameter is as required. */
        if (parameter != NULL && key_template_is_bare(template) &&
            key_template_has_parameter(template, attribute->name))
            parameter->is_required = parameter->is_required || attribute->required;
        return;
    }
    if (entity->entity->discriminator.data != NULL &&
        bytes_equal(entity->entity->discriminator, attribute->name))
        return;
    if (parameter == NULL || !attribute->has_type || attribute->type != parameter->type)
        parameter = add_parameter(arena, &entity->parameters, attribute->name);
    parameter->has_type = attribute->has_type;
    parameter->type = attribute->type;
    parameter->is_attribute = true;
    parameter->is_required = parameter->is_required || attribute->required;
}

static void plan_key(struct arena *arena, struct code_entity *entity,
                     const struct model_index *index, bool is_range)
{
    const struct key_attribute *key = code_key(index, is_range);
    const struct model_entity_key *keys = model_entity_key(entity->entity, index->name);
    bool is_table = index->name.data == NULL;
    bool has_template = keys != NULL && (is_range ? keys->has_range : keys->has_hash);
    if (!has_template && !is_table)
        return;
    struct code_member *member = add_member(arena, &entity->members, key->name);
    bool is_new = !member->has_type;
    member->has_type = true;
    member->type = key->type;
    member->is_required = member->is_required || is_table;
    if (has_template && is_new) {
        add_template(arena, &entity->parameters, is_range ? &keys->range : &keys->hash, key->type,
                     is_table);
    } else if (is_new) { /* Whatever the caller says. */
        struct code_parameter *parameter = add_parameter(arena, &entity->parameters, key->name);
        parameter->has_type = parameter->is_required = parameter->is_attribute = true;
        parameter->type = key->type;
    }
}

static void plan_members(struct arena *arena, struct code_entity *plan)
{
    const struct model_entity *entity = plan->entity;
    if (entity->discriminator.data != NULL) {
        struct code_member *member = add_member(arena, &plan->members, entity->discriminator);
        if (!member->has_type) { /* Otherwise it is a key. */
            member->has_type = member->is_required = true;
            member->type = VALUE_S;
            member->literal = entity->discriminator_value;
        }
    }
    for (size_t i = 0; i < entity->attribute_count; i++) {
        const struct model_attribute *attribute = &entity->attributes[i];
        struct code_member *member = add_member(arena, &plan->members, attribute->name);
        if (!member->has_type) {
            member->has_type = attribute->has_type;
            member->type = attribute->type;
        }
        member->is_required = member->is_required || attribute->required;
    }
}

/* Required parameters first, as both languages like it; otherwise in their order. */
static void name_parameters(struct arena *arena, enum code_language language,
                            struct code_parameters *parameters)
{
    struct code_scope scope;
    struct code_parameters sorted = { 0 };
    code_scope_init(&scope, arena, language);
    for (int required = 1; required >= 0; required--) {
        for (size_t i = 0; i < parameters->count; i++) {
            if (parameters->list[i].is_required == (required == 1))
                *add_parameter(arena, &sorted, parameters->list[i].source) = parameters->list[i];
        }
    }
    for (size_t i = 0; i < sorted.count; i++) {
        struct code_parameter *parameter = &sorted.list[i];
        bool is_double = false; /* The attribute has the plain name, the template's another. */
        for (size_t n = 0; n < sorted.count; n++)
            is_double = is_double || (n != i && parameter->is_template &&
                                      bytes_equal(sorted.list[n].source, parameter->source));
        parameter->identifier = code_scope_add(&scope, CODE_CASE_FUNCTION, "", parameter->source,
                                               is_double ? "Key" : "");
    }
    *parameters = sorted;
}

static void plan_entity(struct code_plan *plan, struct code_scope *scope, struct code_entity *out,
                        const struct model_entity *entity)
{
    struct arena *arena = plan->arena;
    *out = (struct code_entity){ .entity = entity,
                                 .table = model_file_table(plan->file, entity->table) };
    out->type = code_scope_add(scope, CODE_CASE_TYPE, "", entity->name, "");
    out->builder = code_scope_add(scope, CODE_CASE_FUNCTION, "new", entity->name, "");
    for (size_t i = 0; i < out->table->index_count; i++) {
        plan_key(arena, out, &out->table->indexes[i], false);
        if (out->table->indexes[i].has_range)
            plan_key(arena, out, &out->table->indexes[i], true);
    }
    plan_members(arena, out);
    for (size_t i = 0; i < entity->attribute_count; i++)
        plan_attribute(arena, out, &entity->attributes[i]);
    name_parameters(arena, plan->language, &out->parameters);
}

/* --- Patterns --- */

static bool check_values(struct code_plan *plan, struct json_node *values, struct bytes *failure)
{
    struct item item;
    struct bytes reason;
    if (values == NULL || model_row_item(plan->arena, values, &item, &reason))
        return true;
    *failure = arena_printf(plan->arena, "%.*s: %.*s",
                            BYTES_FMT(json_tree_path(plan->arena, values)), BYTES_FMT(reason));
    return false;
}

/* The functions refuse such values of parameters, so a test of one could not pass. */
static bool check_template(struct code_plan *plan, const struct model_pattern *pattern,
                           const struct key_template *template, enum value_type type,
                           struct bytes *failure)
{
    for (size_t i = 0; i < template->part_count && type == VALUE_S; i++) {
        const struct key_template_part *part = &template->parts[i];
        struct bytes value;
        if (part->parameter.data == NULL ||
            !model_pattern_parameter(pattern, part->parameter, &value))
            continue;
        if (value.len > 0 &&
            (part->takes_all || memchr(value.data, KEY_TEMPLATE_SEPARATOR, value.len) == NULL))
            continue;
        *failure = arena_printf(
            plan->arena, "pattern %.*s: the parameter %.*s is empty or contains %c",
            BYTES_FMT(pattern->name), BYTES_FMT(part->parameter), KEY_TEMPLATE_SEPARATOR);
        return false;
    }
    return true;
}

static bool plan_templates(struct code_plan *plan, struct code_pattern *out, struct bytes *failure)
{
    const struct model_pattern *pattern = out->pattern;
    const struct model_index *index = out->index;
    if (pattern->operation == PATTERN_SCAN || pattern->operation == PATTERN_PUT_ITEM)
        return true;
    if (pattern->has_hash) {
        add_template(plan->arena, &out->parameters, &pattern->hash, index->hash.type, true);
        if (!check_template(plan, pattern, &pattern->hash, index->hash.type, failure))
            return false;
    }
    size_t bounds = pattern->compare == PATTERN_ANY       ? 0
                    : pattern->compare == PATTERN_BETWEEN ? 2
                                                          : 1;
    for (size_t i = 0; i < bounds && index->has_range; i++) {
        add_template(plan->arena, &out->parameters, &pattern->range[i], index->range.type, true);
        if (!check_template(plan, pattern, &pattern->range[i], index->range.type, failure))
            return false;
    }
    return true;
}

/* GetItem has no expression with values. */
static void plan_values(struct code_plan *plan, struct code_pattern *out)
{
    const struct json_node *values =
        out->pattern->operation == PATTERN_GET_ITEM ? NULL : out->pattern->values;
    for (const struct json_node *at = values == NULL ? NULL : values->first; at != NULL;
         at = at->next) {
        if (!code_is_last(values, at))
            continue;
        struct code_parameter *parameter = add_parameter(plan->arena, &out->parameters, at->name);
        parameter->is_required = true;
        parameter->value = at;
        parameter->has_type = value_type_parse(code_value_content(at)->name, &parameter->type);
    }
}

/* The type that the entities of the table agree upon. */
static void find_type(const struct code_plan *plan, const struct model_table *table,
                      struct code_member *member)
{
    bool found = false;
    for (size_t i = 0; i < plan->file->entity_count; i++) {
        const struct code_entity *entity = &plan->entities[i];
        for (size_t n = 0; n < entity->members.count && entity->table == table; n++) {
            const struct code_member *other = &entity->members.list[n];
            if (!bytes_equal(other->name, member->name))
                continue;
            bool agrees = other->has_type && (!found || other->type == member->type);
            member->has_type = agrees;
            member->type = other->type;
            if (!agrees)
                return;
            found = true;
        }
    }
}

static void add_key_members(struct code_plan *plan, struct code_pattern *out,
                            const struct model_index *index)
{
    for (int is_range = 0; is_range <= (index->has_range ? 1 : 0); is_range++) {
        const struct key_attribute *key = code_key(index, is_range == 1);
        struct code_member *member = add_member(plan->arena, &out->members, key->name);
        member->has_type = member->is_required = true;
        member->type = key->type;
    }
}

/* The members of what a pattern reads of an index or a projection. */
static void plan_projection(struct code_plan *plan, struct code_pattern *out)
{
    const struct json_node *names = out->pattern->attributes;
    add_key_members(plan, out, &out->table->indexes[0]);
    if (names != NULL && names->first != NULL) {
        for (const struct json_node *at = names->first; at != NULL; at = at->next)
            add_member(plan->arena, &out->members, at->text);
        out->projected = json_tree_new(plan->arena, JSON_ARRAY);
        for (size_t i = 0; i < out->members.count; i++)
            json_tree_add(out->projected, (struct bytes){ 0 },
                          json_tree_new_string(plan->arena, out->members.list[i].name));
    } else {
        add_key_members(plan, out, out->index);
        for (size_t i = 0; i < out->index->included_count; i++)
            add_member(plan->arena, &out->members, out->index->included[i]);
    }
    for (size_t i = 0; i < out->members.count; i++) {
        if (!out->members.list[i].has_type)
            find_type(plan, out->table, &out->members.list[i]);
    }
}

static struct bytes entity_types(const struct code_plan *plan, const struct json_node *names)
{
    struct buffer out;
    buffer_init(&out, plan->arena);
    for (const struct json_node *at = names == NULL ? NULL : names->first; at != NULL;
         at = at->next) {
        for (size_t i = 0; i < plan->file->entity_count; i++) {
            if (!bytes_equal(plan->entities[i].entity->name, at->text))
                continue;
            if (out.len > 0)
                buffer_append_bytes(&out, BYTES(" | "));
            buffer_append_bytes(&out, plan->entities[i].type);
        }
    }
    return out.len > 0 ? buffer_bytes(&out) : BYTES("Item");
}

static bool plan_pattern(struct code_plan *plan, struct code_scope *scope, struct code_pattern *out,
                         const struct model_pattern *pattern, struct bytes *failure)
{
    const struct model_table *table = model_file_table(plan->file, pattern->table);
    *out = (struct code_pattern){ .pattern = pattern,
                                  .table = table,
                                  .index = model_table_index(table, pattern->index) };
    if (!check_values(plan, pattern->values, failure) ||
        !check_values(plan, pattern->item, failure) || !plan_templates(plan, out, failure))
        return false;
    for (struct json_node *key = pattern->expect.keys == NULL ? NULL : pattern->expect.keys->first;
         key != NULL; key = key->next) {
        if (!check_values(plan, key, failure))
            return false;
    }
    plan_values(plan, out);
    name_parameters(plan->arena, plan->language, &out->parameters);
    out->function = code_scope_add(scope, CODE_CASE_FUNCTION, "", pattern->name, "");
    out->has_own_type = !pattern_operation_writes(pattern->operation) &&
                        ((pattern->attributes != NULL && pattern->attributes->first != NULL) ||
                         out->index->projection != PROJECTION_ALL);
    if (out->has_own_type) {
        plan_projection(plan, out);
        out->item_type = code_scope_add(scope, CODE_CASE_TYPE, "", pattern->name, "Item");
    } else {
        out->item_type = entity_types(plan, pattern->entities);
    }
    return true;
}

bool code_plan_make(struct arena *arena, const struct model_file *file, enum code_language language,
                    struct code_plan *out, struct bytes *failure)
{
    struct code_scope scope;
    *out = (struct code_plan){ .arena = arena, .file = file, .language = language };
    code_scope_init(&scope, arena, language);
    out->entities = arena_alloc_zeroed(arena, (file->entity_count + 1) * sizeof *out->entities);
    out->patterns = arena_alloc_zeroed(arena, (file->pattern_count + 1) * sizeof *out->patterns);
    for (size_t i = 0; i < file->entity_count; i++)
        plan_entity(out, &scope, &out->entities[i], &file->entities[i]);
    for (size_t i = 0; i < file->pattern_count; i++) {
        if (!plan_pattern(out, &scope, &out->patterns[i], &file->patterns[i], failure))
            return false;
    }
    return true;
}
