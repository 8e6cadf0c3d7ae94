/* code_tests.c -- tests of the generated functions.
 *
 * The builder of each entity is given what a row of the sample has, and must make that row. Each
 * pattern is run on the sample and compared with its expectation, those that read first: like
 * `stator model check`, but by the generated functions.
 */
#include <assert.h>
#include <stdio.h>
#include "base/arena.h"
#include "codegen/code_parts.h"
#include "json/writer.h"
#include "model/item.h"
#include "schema/entity_rules.h"
#include "schema/json_tree.h"
#include "schema/model_request.h"
#include "schema/pattern_verdict.h"

/* --- The sample --- */

/* The entity of a row; data NULL: of none. */
static struct bytes entity_of(struct arena *arena, const struct entity_rules *rules,
                              const struct json_node *row)
{
    struct item item;
    struct bytes failure;
    if (rules == NULL || !model_row_item(arena, row, &item, &failure))
        return (struct bytes){ 0 };
    return entity_rules_classify(rules, &item);
}

static void write_table(struct json_writer *writer, const struct code_plan *plan,
                        const struct model_table *table)
{
    const struct entity_rules *rules = entity_rules_of_model(plan->arena, plan->file, table);
    struct bytes failure;
    const struct json_node *create =
        json_tree_parse(plan->arena, model_request_create_table(plan->arena, table), &failure);
    assert(create != NULL); /* Our own text. */
    json_open_object(writer);
    json_write_name(writer, "CreateTable");
    json_tree_write_compact(writer, create);
    json_write_name(writer, "Rows");
    json_open_array(writer);
    for (size_t i = 0; i < table->row_count; i++) {
        struct bytes entity = entity_of(plan->arena, rules, table->rows[i]);
        json_open_object(writer);
        json_write_name(writer, "Entity");
        if (entity.data == NULL)
            json_write_null(writer);
        else
            json_write_string(writer, entity);
        json_write_name(writer, "Item");
        json_tree_write_compact(writer, table->rows[i]);
        json_close_object(writer);
    }
    json_close_array(writer);
    json_close_object(writer);
}

struct bytes code_tests_sample(const struct code_plan *plan)
{
    struct buffer compact, out;
    struct json_writer writer;
    struct bytes failure;
    buffer_init(&compact, plan->arena);
    buffer_init(&out, plan->arena);
    json_writer_init(&writer, &compact);
    json_open_object(&writer);
    json_write_name(&writer, "Tables");
    json_open_array(&writer);
    for (size_t i = 0; i < plan->file->table_count; i++)
        write_table(&writer, plan, &plan->file->tables[i]);
    json_close_array(&writer);
    json_close_object(&writer);
    const struct json_node *tree = json_tree_parse(plan->arena, buffer_bytes(&compact), &failure);
    if (tree == NULL) /* Larger than a tree may be: as it is. */
        return buffer_bytes(&compact);
    json_tree_write(&out, tree);
    return buffer_bytes(&out);
}

/* --- Builders --- */

/* What a builder is given: a text of a key, or a value of the row. */
struct argument {
    struct bytes text; /* data NULL: `value`. */
    const struct json_node *value;
};

static const struct json_node *key_text(const struct json_node *row,
                                        const struct key_attribute *key)
{
    const struct json_node *value = json_tree_member_bytes(row, key->name);
    const struct json_node *content = value == NULL ? NULL : code_value_content(value);
    return content != NULL && content->type == JSON_STRING ? content : NULL;
}

/* Reads the parameters of a key's template from the row. False if that does not fit. */
static bool take_key(const struct code_entity *plan, const struct json_node *row,
                     const struct key_attribute *key, const struct key_template *template,
                     struct argument *arguments)
{
    struct bytes values[KEY_TEMPLATE_PARAMETERS_MAX];
    const struct json_node *text = key_text(row, key);
    if (text == NULL || !key_template_extract(template, text->text, values))
        return false;
    for (size_t i = 0; i < template->part_count; i++) {
        struct bytes name = template->parts[i].parameter;
        const struct code_parameter *parameter =
            name.data == NULL ? NULL : code_parameter_of_template(&plan->parameters, name);
        if (parameter == NULL)
            continue;
        struct argument *argument = &arguments[parameter - plan->parameters.list];
        if (argument->text.data != NULL && !bytes_equal(argument->text, values[i]))
            return false;
        argument->text = values[i];
    }
    return true;
}

/* `*omitted` is set if the row is not in an index. */
static bool take_index(const struct code_entity *plan, const struct json_node *row,
                       const struct model_index *index, struct argument *arguments, bool *omitted)
{
    const struct model_entity_key *key = model_entity_key(plan->entity, index->name);
    *omitted = key != NULL && index->name.data != NULL &&
               ((key->has_hash && key_text(row, &index->hash) == NULL) ||
                (key->has_range && key_text(row, &index->range) == NULL));
    if (key == NULL || *omitted)
        return true;
    return (!key->has_hash || take_key(plan, row, &index->hash, &key->hash, arguments)) &&
           (!key->has_range || take_key(plan, row, &index->range, &key->range, arguments));
}

/* Fills the arguments with what a row has. False if the builder could not make that row. */
static bool take_row(const struct code_entity *plan, const struct json_node *row,
                     struct argument *arguments, bool *omitted)
{
    for (size_t i = 0; i < plan->table->index_count; i++) {
        if (!take_index(plan, row, &plan->table->indexes[i], arguments, &omitted[i]))
            return false;
    }
    for (size_t i = 0; i < plan->parameters.count; i++) {
        const struct code_parameter *parameter = &plan->parameters.list[i];
        if (parameter->is_attribute) {
            const struct json_node *value = json_tree_member_bytes(row, parameter->source);
            const struct json_node *content = value == NULL ? NULL : code_value_content(value);
            enum value_type type;
            if (content != NULL && parameter->has_type &&
                (!value_type_parse(content->name, &type) || type != parameter->type))
                return false;
            if (content != NULL && arguments[i].text.data != NULL &&
                !bytes_equal(content->text, arguments[i].text))
                return false; /* The key has another value than the attribute. */
            arguments[i].value = content == NULL ? NULL : value;
        }
        if (parameter->is_required && arguments[i].value == NULL && arguments[i].text.data == NULL)
            return false;
    }
    return true;
}

static void add_argument(struct code_writer *writer, const struct code_parameter *parameter,
                         const struct argument *argument, const char **joint)
{
    if (argument->value == NULL && argument->text.data == NULL)
        return;
    code_add(writer, code_is_python(writer) ? "%s%.*s=" : "%s%.*s: ", *joint,
             BYTES_FMT(parameter->identifier));
    *joint = ", ";
    if (argument->value != NULL)
        code_add_value(writer, argument->value);
    else
        code_add_scalar(writer, parameter->type, argument->text);
}

static void add_omitted(struct code_writer *writer, const struct code_entity *plan,
                        const bool *omitted, const char *joint)
{
    bool any = false;
    for (size_t i = 1; i < plan->table->index_count; i++) {
        if (!omitted[i])
            continue;
        if (!any)
            code_add(writer, code_is_python(writer) ? "%somit_indexes=[" : "%somitIndexes: [",
                     joint);
        else
            code_add(writer, ", ");
        code_add_literal(writer, plan->table->indexes[i].name);
        any = true;
    }
    if (any)
        code_add(writer, "]");
}

static void begin_test(struct code_writer *writer, size_t number, struct bytes identifier,
                       struct bytes name)
{
    if (code_is_python(writer)) {
        code_add(writer, "    def test_%04zu_%.*s(self):\n", number, BYTES_FMT(identifier));
        return;
    }
    code_add(writer, "  test(");
    code_add_literal(writer, name);
    code_add(writer, ", async () => {\n");
}

static void end_test(struct code_writer *writer)
{
    code_add_either(writer, "\n", "  });\n");
}

/* A test of the first row that the builder could have made; none: no test. */
static void add_builder_test(struct code_writer *writer, const struct code_plan *plan,
                             const struct code_entity *entity, size_t number)
{
    const struct model_table *table = entity->table;
    const struct entity_rules *rules = entity_rules_of_model(plan->arena, plan->file, table);
    size_t size = (entity->parameters.count + 1) * sizeof(struct argument);
    for (size_t row = 0; row < table->row_count; row++) {
        struct argument *arguments = arena_alloc_zeroed(plan->arena, size);
        bool *omitted = arena_alloc_zeroed(plan->arena, table->index_count * sizeof *omitted);
        const char *joint = "";
        struct bytes found = entity_of(plan->arena, rules, table->rows[row]);
        if (found.data == NULL || !bytes_equal(found, entity->entity->name) ||
            !take_row(entity, table->rows[row], arguments, omitted))
            continue;
        begin_test(writer, number, entity->builder, entity->entity->name);
        code_add_either(writer, "        built = access.", "    const built = access.");
        code_add(writer, code_is_python(writer) ? "%.*s(" : "%.*s({ ", BYTES_FMT(entity->builder));
        for (size_t i = 0; i < entity->parameters.count; i++)
            add_argument(writer, &entity->parameters.list[i], &arguments[i], &joint);
        add_omitted(writer, entity, omitted, joint);
        code_add_either(writer, ")\n", " });\n");
        code_add(writer,
                 code_is_python(writer) ? "        self.check_built(%zu, %zu, built)\n"
                                        : "    checkBuilt(%zu, %zu, built);\n",
                 (size_t)(table - plan->file->tables), row);
        end_test(writer);
        return;
    }
}

/* --- Patterns --- */

/* The arguments of the function. False with the parameter that has no value in the model. */
static bool add_arguments(struct code_writer *writer, const struct code_pattern *plan,
                          struct bytes *missing)
{
    const char *joint = "";
    for (size_t i = 0; i < plan->parameters.count; i++) {
        const struct code_parameter *parameter = &plan->parameters.list[i];
        struct argument argument = { .value = parameter->value };
        if (argument.value == NULL &&
            !model_pattern_parameter(plan->pattern, parameter->source, &argument.text)) {
            *missing = parameter->source;
            return false;
        }
        add_argument(writer, parameter, &argument, &joint);
    }
    return true;
}

static void add_call(struct code_writer *writer, const struct code_pattern *plan)
{
    const struct model_pattern *pattern = plan->pattern;
    bool python = code_is_python(writer);
    struct code_writer arguments;
    struct bytes missing;
    code_writer_init(&arguments, writer->out.arena, writer->language);
    if (!add_arguments(&arguments, plan, &missing)) {
        code_add_either(writer, "self.fail(", "assert.fail(");
        code_add_literal(writer, arena_printf(writer->out.arena, "the parameter %.*s has no value",
                                              BYTES_FMT(missing)));
        code_add(writer, ")");
        return;
    }
    struct bytes text = buffer_bytes(&arguments.out);
    code_add(writer, "access.%.*s(%s", BYTES_FMT(plan->function),
             python ? "self.database" : "database");
    if (pattern->operation == PATTERN_PUT_ITEM) {
        code_add(writer, ", ");
        if (pattern->item == NULL)
            code_add(writer, "{}");
        else
            code_add_item(writer, pattern->item);
        code_add_either(writer, "", " as any");
    }
    if (text.len > 0) {
        code_add_either(writer, ", ", ", { ");
        buffer_append_bytes(&writer->out, text);
        code_add_either(writer, "", " }");
    }
    code_add(writer, ")");
}

static void add_setting(struct code_writer *writer, const char *name)
{
    code_add(writer, code_is_python(writer) ? "            %s=" : "      %s: ", name);
}

static void add_expectation(struct code_writer *writer, const struct code_pattern *plan)
{
    const struct model_expectation *expect = &plan->pattern->expect;
    if (expect->has_count) {
        add_setting(writer, "count");
        code_add(writer, "%lld,\n", (long long)expect->count);
    }
    if (expect->has_pages) {
        add_setting(writer, "pages");
        code_add(writer, "%lld,\n", (long long)expect->pages);
    }
    if (expect->keys != NULL) {
        add_setting(writer, "keys");
        code_add(writer, "[\n");
        for (const struct json_node *at = expect->keys->first; at != NULL; at = at->next) {
            code_add_either(writer, "                ", "        ");
            code_add_item(writer, at);
            code_add(writer, ",\n");
        }
        code_add_either(writer, "            ],\n", "      ],\n");
    }
    if (plan->pattern->operation == PATTERN_SCAN) {
        add_setting(writer, "ordered");
        code_add_bool(writer, false);
        code_add(writer, ",\n");
    }
    if (expect->entities != NULL) {
        add_setting(writer, "entities");
        code_add(writer, "[");
        for (const struct json_node *at = expect->entities->first; at != NULL; at = at->next) {
            code_add_literal(writer, at->text);
            code_add(writer, at->next == NULL ? "" : ", ");
        }
        code_add(writer, "],\n");
    }
    if (expect->refused) {
        add_setting(writer, "refused");
        code_add_bool(writer, true);
        code_add(writer, ",\n");
    }
}

static void add_pattern_test(struct code_writer *writer, const struct code_pattern *plan,
                             size_t number)
{
    /* Of a write nothing is expected but that it succeeds, or is refused. */
    bool shows = !pattern_operation_writes(plan->pattern->operation);
    begin_test(writer, number, plan->function, plan->pattern->name);
    code_add_either(writer, "        self.check(\n            lambda: ",
                    "    await check({\n      run: () => ");
    if (!shows)
        code_add_either(writer, "self.written(", "written(");
    add_call(writer, plan);
    if (!shows)
        code_add(writer, ")");
    code_add_either(writer, ",\n            ", ",\n      table: ");
    code_add_literal(writer, plan->table->name);
    code_add(writer, ",\n");
    add_expectation(writer, plan);
    code_add_either(writer, "        )\n", "    });\n");
    end_test(writer);
}

void code_tests_add(struct code_writer *writer, const struct code_plan *plan)
{
    size_t number = 1;
    code_add_either(writer, "class TestBuilders(ModelTest):\n",
                    "describe(\"builders\", { skip: SKIP }, () => {\n");
    code_add_either(writer, "    \"What the builders make is what the sample has.\"\n\n", "");
    for (size_t i = 0; i < plan->file->entity_count; i++)
        add_builder_test(writer, plan, &plan->entities[i], number++);
    code_add_either(writer, "\nclass TestPatterns(ModelTest):\n",
                    "});\n\ndescribe(\"patterns\", { skip: SKIP }, () => {\n");
    code_add_either(writer, "    \"What the patterns find is what the model expects.\"\n\n", "");
    for (int writes = 0; writes <= 1; writes++) {
        for (size_t i = 0; i < plan->file->pattern_count; i++) {
            const struct code_pattern *pattern = &plan->patterns[i];
            if (pattern_operation_writes(pattern->pattern->operation) == (writes == 1))
                add_pattern_test(writer, pattern, number++);
        }
    }
    code_add_either(writer, "\nif __name__ == \"__main__\":\n    unittest.main()\n", "});\n");
}
