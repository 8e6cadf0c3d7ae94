/* code_entities.c -- types of entities, and functions that build their items.
 *
 * Keys are filled from their templates, so that no writer spells them out. The keys of an index are
 * filled if all their parameters are there, unless the caller leaves the index out: an item without
 * them is not in the index.
 */
#include "base/arena.h"
#include "codegen/code_parts.h"
#include "schema/json_tree.h"

/* --- Types --- */

static void add_member_type(struct code_writer *writer, const struct code_member *member)
{
    if (member->literal.data == NULL) {
        code_add(writer, "%s", code_type_name(writer->language, member->has_type, member->type));
        return;
    }
    code_add_either(writer, "_typing.Literal[", "");
    code_add_literal(writer, member->literal);
    code_add_either(writer, "]", "");
}

void code_add_item_type(struct code_writer *writer, struct bytes type,
                        const struct code_members *members)
{
    if (code_is_python(writer))
        code_add(writer, "\n\n%.*s = _typing.TypedDict(\n    \"%.*s\",\n    {\n", BYTES_FMT(type),
                 BYTES_FMT(type));
    else
        code_add(writer, "\nexport interface %.*s {\n", BYTES_FMT(type));
    for (size_t i = 0; i < members->count; i++) {
        const struct code_member *member = &members->list[i];
        code_add_either(writer, "        ", "  ");
        code_add_literal(writer, member->name);
        if (code_is_python(writer))
            code_add(writer, member->is_required ? ": " : ": _typing.NotRequired[");
        else
            code_add(writer, member->is_required ? ": " : "?: ");
        add_member_type(writer, member);
        code_add_either(writer, member->is_required ? ",\n" : "],\n", ";\n");
    }
    code_add_either(writer, "    },\n)\n", "}\n");
}

/* --- Functions --- */

void code_add_docstring(struct code_writer *writer, const char *before, struct bytes name)
{
    if (code_is_python(writer)) {
        struct bytes text = arena_printf(writer->out.arena, "%s%.*s", before, BYTES_FMT(name));
        code_add(writer, "    ");
        code_add_literal(writer, text);
        code_add(writer, "\n");
        return;
    }
    code_add(writer, "/** %s", before);
    code_add_comment(writer, name);
    code_add(writer, " */\n");
}

static const char *type_of(const struct code_writer *writer, const struct code_parameter *parameter)
{
    return code_type_name(writer->language, parameter->has_type, parameter->type);
}

static void add_python_parameters(struct code_writer *writer, const char *first,
                                  const struct code_parameters *parameters,
                                  const struct code_option *option)
{
    code_add(writer, "(\n");
    if (first[0] != '\0')
        code_add(writer, "    %s,\n", first);
    if (parameters->count > 0 || option != NULL)
        code_add(writer, "    *,\n");
    for (size_t i = 0; i < parameters->count; i++) {
        const struct code_parameter *parameter = &parameters->list[i];
        code_add(writer, "    %.*s: %s%s,\n", BYTES_FMT(parameter->identifier),
                 type_of(writer, parameter), parameter->is_required ? "" : " | None = None");
    }
    if (option != NULL)
        code_add(writer, "    %s,\n", option->python);
    code_add(writer, ")");
}

static void add_typescript_parameters(struct code_writer *writer, const char *first,
                                      const struct code_parameters *parameters,
                                      const struct code_option *option)
{
    bool is_required = false;
    code_add(writer, "(\n");
    if (first[0] != '\0')
        code_add(writer, "  %s,\n", first);
    if (parameters->count > 0 || option != NULL) {
        code_add(writer, "  {");
        for (size_t i = 0; i < parameters->count; i++)
            code_add(writer, "%s %.*s", i == 0 ? "" : ",",
                     BYTES_FMT(parameters->list[i].identifier));
        if (option != NULL)
            code_add(writer, "%s %s", parameters->count == 0 ? "" : ",", option->name);
        code_add(writer, " }: {\n");
        for (size_t i = 0; i < parameters->count; i++) {
            const struct code_parameter *parameter = &parameters->list[i];
            is_required = is_required || parameter->is_required;
            code_add(writer, "    %.*s%s: %s;\n", BYTES_FMT(parameter->identifier),
                     parameter->is_required ? "" : "?", type_of(writer, parameter));
        }
        if (option != NULL)
            code_add(writer, "    %s;\n", option->typescript);
        code_add(writer, "  }%s,\n", is_required ? "" : " = {}");
    }
    code_add(writer, ")");
}

void code_add_parameters(struct code_writer *writer, const char *first,
                         const struct code_parameters *parameters, const struct code_option *option)
{
    if (code_is_python(writer))
        add_python_parameters(writer, first, parameters, option);
    else
        add_typescript_parameters(writer, first, parameters, option);
}

void code_add_key(struct code_writer *writer, const struct key_template *template,
                  enum value_type type, const struct code_parameters *parameters)
{
    if (type != VALUE_S && key_template_is_bare(template)) {
        code_add(
            writer, "%.*s",
            BYTES_FMT(
                code_parameter_of_template(parameters, template->parts[0].parameter)->identifier));
        return;
    }
    const char *joint = "";
    for (size_t i = 0; i < template->part_count; i++) {
        const struct key_template_part *part = &template->parts[i];
        if (part->text.len > 0 || (part->parameter.data == NULL && template->part_count == 1)) {
            code_add(writer, "%s", joint);
            code_add_literal(writer, part->text);
            joint = " + ";
        }
        if (part->parameter.data == NULL)
            continue;
        code_add(writer, "%s_part(", joint);
        code_add_literal(writer, part->parameter);
        code_add(writer, ", %.*s",
                 BYTES_FMT(code_parameter_of_template(parameters, part->parameter)->identifier));
        if (part->takes_all)
            code_add_either(writer, ", True", ", true");
        code_add(writer, ")");
        joint = " + ";
    }
}

/* --- Builders --- */

/* Whether the entity's template of this key is the one that fills the attribute: the first one. */
static const struct key_template *filling_template(const struct code_entity *plan,
                                                   const struct model_index *index, bool is_range)
{
    const struct model_index *owner;
    if (is_range && !index->has_range)
        return NULL;
    const struct key_template *template =
        code_entity_template(plan, code_key(index, is_range)->name, &owner);
    const struct model_entity_key *key = model_entity_key(plan->entity, index->name);
    bool is_own = key != NULL && template == (is_range ? &key->range : &key->hash);
    return template != NULL && owner == index && is_own ? template : NULL;
}

static bool fills_index(const struct code_entity *plan, const struct model_index *index)
{
    return filling_template(plan, index, false) != NULL ||
           filling_template(plan, index, true) != NULL;
}

/* A line of the literal that every item has. */
static void add_table_key(struct code_writer *writer, const struct code_entity *plan, bool is_range)
{
    const struct model_index *table = &plan->table->indexes[0];
    const struct key_template *template = filling_template(plan, table, is_range);
    if (template == NULL)
        return;
    const struct key_attribute *key = code_key(table, is_range);
    code_add_either(writer, "        ", "    ");
    code_add_member(writer, key->name);
    code_add_key(writer, template, key->type, &plan->parameters);
    code_add(writer, ",\n");
}

static void add_required(struct code_writer *writer, const struct code_entity *plan)
{
    code_add_either(writer, "    item: Item = {\n", "  const item: Item = {\n");
    add_table_key(writer, plan, false);
    add_table_key(writer, plan, true);
    for (size_t i = 0; i < plan->members.count; i++) {
        const struct code_member *member = &plan->members.list[i];
        if (member->literal.data == NULL)
            continue;
        code_add_either(writer, "        ", "    ");
        code_add_member(writer, member->name);
        code_add_literal(writer, member->literal);
        code_add(writer, ",\n");
    }
    for (size_t i = 0; i < plan->parameters.count; i++) {
        const struct code_parameter *parameter = &plan->parameters.list[i];
        if (!parameter->is_attribute || !parameter->is_required)
            continue;
        code_add_either(writer, "        ", "    ");
        code_add_member(writer, parameter->source);
        code_add(writer, "%.*s,\n", BYTES_FMT(parameter->identifier));
    }
    code_add_either(writer, "    }\n", "  };\n");
}

/* item["name"] = ; as a member of its own also for "__proto__". */
static void add_assignment(struct code_writer *writer, const char *indent, struct bytes name)
{
    code_add(writer, "%s", indent);
    code_add_either(writer, "item[", "_set(item, ");
    code_add_literal(writer, name);
    code_add_either(writer, "] = ", ", ");
}

static void add_optional(struct code_writer *writer, const struct code_entity *plan)
{
    for (size_t i = 0; i < plan->parameters.count; i++) {
        const struct code_parameter *parameter = &plan->parameters.list[i];
        if (!parameter->is_attribute || parameter->is_required)
            continue;
        if (code_is_python(writer))
            code_add(writer, "    if %.*s is not None:\n", BYTES_FMT(parameter->identifier));
        else
            code_add(writer, "  if (%.*s !== undefined)\n", BYTES_FMT(parameter->identifier));
        add_assignment(writer, code_is_python(writer) ? "        " : "    ", parameter->source);
        code_add(writer, "%.*s", BYTES_FMT(parameter->identifier));
        code_add_either(writer, "\n", ");\n");
    }
}

/* The condition that all optional parameters of a template are there. */
static void add_presence(struct code_writer *writer, const struct code_entity *plan,
                         const struct key_template *template)
{
    for (size_t i = 0; template != NULL && i < template->part_count; i++) {
        struct bytes name = template->parts[i].parameter;
        const struct code_parameter *parameter =
            name.data == NULL ? NULL : code_parameter_of_template(&plan->parameters, name);
        if (parameter == NULL || parameter->is_required)
            continue;
        code_add(writer,
                 code_is_python(writer) ? " and %.*s is not None" : " && %.*s !== undefined",
                 BYTES_FMT(parameter->identifier));
    }
}

static void add_index(struct code_writer *writer, const struct code_entity *plan,
                      const struct model_index *index)
{
    code_add_either(writer, "    if ", "  if (!omitIndexes.includes(");
    code_add_literal(writer, index->name);
    code_add_either(writer, " not in omit_indexes", ")");
    for (int is_range = 0; is_range <= 1; is_range++)
        add_presence(writer, plan, filling_template(plan, index, is_range == 1));
    code_add_either(writer, ":\n", ") {\n");
    for (int is_range = 0; is_range <= 1; is_range++) {
        const struct key_template *template = filling_template(plan, index, is_range == 1);
        const struct key_attribute *key = code_key(index, is_range == 1);
        if (template == NULL)
            continue;
        add_assignment(writer, code_is_python(writer) ? "        " : "    ", key->name);
        code_add_key(writer, template, key->type, &plan->parameters);
        code_add_either(writer, "\n", ");\n");
    }
    code_add_either(writer, "", "  }\n");
}

static void add_builder(struct code_writer *writer, const struct code_entity *plan)
{
    static const struct code_option omit = {
        "omit_indexes: _abc.Collection[str] = ()",
        "omitIndexes?: readonly string[]",
        "omitIndexes = []",
    };
    bool has_indexes = false;
    for (size_t i = 1; i < plan->table->index_count; i++)
        has_indexes = has_indexes || fills_index(plan, &plan->table->indexes[i]);
    if (code_is_python(writer)) {
        code_add(writer, "\n\ndef %.*s", BYTES_FMT(plan->builder));
    } else {
        code_add(writer, "\n");
        code_add_docstring(writer, "An item of the entity ", plan->entity->name);
        code_add(writer, "export function %.*s", BYTES_FMT(plan->builder));
    }
    code_add_parameters(writer, "", &plan->parameters, has_indexes ? &omit : NULL);
    if (code_is_python(writer)) {
        code_add(writer, " -> %.*s:\n", BYTES_FMT(plan->type));
        code_add_docstring(writer, "An item of the entity ", plan->entity->name);
    } else {
        code_add(writer, ": %.*s {\n", BYTES_FMT(plan->type));
    }
    add_required(writer, plan);
    add_optional(writer, plan);
    for (size_t i = 1; i < plan->table->index_count; i++) {
        if (fills_index(plan, &plan->table->indexes[i]))
            add_index(writer, plan, &plan->table->indexes[i]);
    }
    if (code_is_python(writer))
        code_add(writer, "    return _typing.cast(\"%.*s\", item)\n", BYTES_FMT(plan->type));
    else
        code_add(writer, "  return item as unknown as %.*s;\n}\n", BYTES_FMT(plan->type));
}

void code_entities_add(struct code_writer *writer, const struct code_plan *plan)
{
    for (size_t i = 0; i < plan->file->entity_count; i++) {
        code_add_item_type(writer, plan->entities[i].type, &plan->entities[i].members);
        add_builder(writer, &plan->entities[i]);
    }
}
