/* code_patterns.c -- a function for each access pattern: the request that model_request.c makes,
 * with parameters in the place of the sample's values. */
#include <assert.h>
#include "base/arena.h"
#include "codegen/code_parts.h"
#include "schema/json_tree.h"

static const struct code_option start_after = {
    "start_after: Item | None = None",
    "startAfter?: Item",
    "startAfter",
};

/* --- The request --- */

static void add_text_line(struct code_writer *writer, const char *name, struct bytes text)
{
    code_add(writer, "        \"%s\": ", name);
    code_add_literal(writer, text);
    code_add(writer, ",\n");
}

static void add_optional_text(struct code_writer *writer, const char *name, struct bytes text)
{
    if (text.data != NULL)
        add_text_line(writer, name, text);
}

/* NULL: the pattern gives no such key. */
static const struct key_template *template_of(const struct code_pattern *plan, bool is_range)
{
    const struct model_pattern *pattern = plan->pattern;
    if (is_range)
        return pattern->compare == PATTERN_ANY || !plan->index->has_range ? NULL
                                                                          : &pattern->range[0];
    return pattern->has_hash ? &pattern->hash : NULL;
}

static void add_encoded_key(struct code_writer *writer, const struct code_pattern *plan,
                            const struct key_template *template, bool is_range)
{
    code_add(writer, "_encode(");
    code_add_key(writer, template, code_key(plan->index, is_range)->type, &plan->parameters);
    code_add(writer, ")");
}

static void add_item_key(struct code_writer *writer, const struct code_pattern *plan)
{
    code_add(writer, "        \"Key\": {\n");
    for (int is_range = 0; is_range <= 1; is_range++) {
        const struct key_template *template = template_of(plan, is_range == 1);
        if (template == NULL)
            continue;
        code_add(writer, "            ");
        code_add_member(writer, code_key(plan->index, is_range == 1)->name);
        add_encoded_key(writer, plan, template, is_range == 1);
        code_add(writer, ",\n");
    }
    code_add(writer, "        },\n");
}

static bool has_key_condition(const struct code_pattern *plan)
{
    return plan->pattern->operation == PATTERN_QUERY && plan->pattern->has_hash;
}

static void add_key_condition(struct code_writer *writer, const struct code_pattern *plan)
{
    static const char *const texts[PATTERN_COMPARE_COUNT] = {
        [PATTERN_ANY] = "",
        [PATTERN_EQUALS] = " AND #stator_s = :stator_s",
        [PATTERN_BEGINS_WITH] = " AND begins_with(#stator_s, :stator_s)",
        [PATTERN_BETWEEN] = " AND #stator_s BETWEEN :stator_s AND :stator_t",
        [PATTERN_LESS] = " AND #stator_s < :stator_s",
        [PATTERN_AT_MOST] = " AND #stator_s <= :stator_s",
        [PATTERN_GREATER] = " AND #stator_s > :stator_s",
        [PATTERN_AT_LEAST] = " AND #stator_s >= :stator_s",
    };
    bool has_range = template_of(plan, true) != NULL;
    code_add(writer, "        \"KeyConditionExpression\": \"#stator_p = :stator_p%s\",\n",
             has_range ? texts[plan->pattern->compare] : "");
}

static void add_name_line(struct code_writer *writer, struct bytes placeholder, struct bytes name)
{
    code_add(writer, "            ");
    code_add_member(writer, placeholder);
    code_add_literal(writer, name);
    code_add(writer, ",\n");
}

/* Whether the pattern has names of its own or ours are needed: an empty object is refused. */
static void add_names(struct code_writer *writer, const struct code_pattern *plan)
{
    const struct json_node *names = plan->pattern->names;
    bool own = names != NULL && names->first != NULL;
    if (!own && !has_key_condition(plan) && plan->projected == NULL)
        return;
    code_add(writer, "        \"ExpressionAttributeNames\": {\n");
    for (const struct json_node *at = own ? names->first : NULL; at != NULL; at = at->next) {
        if (code_is_last(names, at))
            add_name_line(writer, at->name, at->text);
    }
    if (has_key_condition(plan)) {
        add_name_line(writer, BYTES("#stator_p"), plan->index->hash.name);
        if (template_of(plan, true) != NULL)
            add_name_line(writer, BYTES("#stator_s"), plan->index->range.name);
    }
    size_t count = 0;
    for (const struct json_node *at = plan->projected == NULL ? NULL : plan->projected->first;
         at != NULL; at = at->next)
        add_name_line(writer, arena_printf(writer->out.arena, "#stator_%zu", count++), at->text);
    code_add(writer, "        },\n");
}

static void add_projection(struct code_writer *writer, const struct code_pattern *plan)
{
    if (plan->projected == NULL)
        return;
    code_add(writer, "        \"ProjectionExpression\": \"");
    for (size_t i = 0; i < plan->projected->count; i++)
        code_add(writer, "%s#stator_%zu", i == 0 ? "" : ", ", i);
    code_add(writer, "\",\n");
}

static void add_values(struct code_writer *writer, const struct code_pattern *plan)
{
    bool own = false, keys = has_key_condition(plan);
    for (size_t i = 0; i < plan->parameters.count; i++)
        own = own || plan->parameters.list[i].value != NULL;
    if (!own && !keys)
        return;
    code_add(writer, "        \"ExpressionAttributeValues\": {\n");
    for (size_t i = 0; i < plan->parameters.count; i++) {
        const struct code_parameter *parameter = &plan->parameters.list[i];
        if (parameter->value == NULL)
            continue;
        code_add(writer, "            ");
        code_add_member(writer, parameter->source);
        code_add(writer, "_encode(%.*s),\n", BYTES_FMT(parameter->identifier));
    }
    if (keys) {
        code_add(writer, "            \":stator_p\": ");
        add_encoded_key(writer, plan, &plan->pattern->hash, false);
        code_add(writer, ",\n");
    }
    if (keys && template_of(plan, true) != NULL) {
        code_add(writer, "            \":stator_s\": ");
        add_encoded_key(writer, plan, &plan->pattern->range[0], true);
        code_add(writer, ",\n");
    }
    if (keys && template_of(plan, true) != NULL && plan->pattern->compare == PATTERN_BETWEEN) {
        code_add(writer, "            \":stator_t\": ");
        add_encoded_key(writer, plan, &plan->pattern->range[1], true);
        code_add(writer, ",\n");
    }
    code_add(writer, "        },\n");
}

static void add_request(struct code_writer *writer, const struct code_pattern *plan)
{
    const struct model_pattern *pattern = plan->pattern;
    enum pattern_operation operation = pattern->operation;
    bool pages = operation == PATTERN_QUERY || operation == PATTERN_SCAN;
    code_add(writer, "{\n        \"TableName\": database.table(");
    code_add_literal(writer, plan->table->name);
    code_add(writer, "),\n");
    if (pages)
        add_optional_text(writer, "IndexName", plan->index->name);
    if (has_key_condition(plan))
        add_key_condition(writer, plan);
    else if (operation == PATTERN_PUT_ITEM)
        code_add_either(writer, "        \"Item\": _encode_item(item),\n",
                        "        \"Item\": _encodeItem(item),\n");
    else if (!pages)
        add_item_key(writer, plan);
    if (pages)
        add_optional_text(writer, "FilterExpression", pattern->filter);
    if (operation == PATTERN_UPDATE_ITEM)
        add_optional_text(writer, "UpdateExpression", pattern->update);
    if (pattern_operation_writes(operation))
        add_optional_text(writer, "ConditionExpression", pattern->condition);
    add_projection(writer, plan);
    if (operation != PATTERN_GET_ITEM || plan->projected != NULL)
        add_names(writer, plan);
    if (operation != PATTERN_GET_ITEM)
        add_values(writer, plan);
    if (pages && pattern->limit > 0)
        code_add(writer, "        \"Limit\": %lld,\n", (long long)pattern->limit);
    if (operation == PATTERN_QUERY && pattern->descending)
        code_add_either(writer, "        \"ScanIndexForward\": False,\n",
                        "        \"ScanIndexForward\": false,\n");
    if (pattern->consistent && !pattern_operation_writes(operation))
        code_add_either(writer, "        \"ConsistentRead\": True,\n",
                        "        \"ConsistentRead\": true,\n");
    if (operation == PATTERN_UPDATE_ITEM)
        add_text_line(writer, "ReturnValues", BYTES("ALL_NEW"));
    code_add(writer, "    }");
}

/* --- Functions --- */

static void add_python_body(struct code_writer *writer, const struct code_pattern *plan)
{
    static const char *const methods[PATTERN_OPERATION_COUNT] = {
        [PATTERN_GET_ITEM] = "get_item",
        [PATTERN_QUERY] = "query",
        [PATTERN_SCAN] = "scan",
        [PATTERN_PUT_ITEM] = "put_item",
        [PATTERN_UPDATE_ITEM] = "update_item",
        [PATTERN_DELETE_ITEM] = "delete_item",
    };
    enum pattern_operation operation = plan->pattern->operation;
    code_add(writer, "    request: dict[str, _typing.Any] = ");
    add_request(writer, plan);
    code_add(writer, "\n");
    if (operation == PATTERN_QUERY || operation == PATTERN_SCAN) {
        code_add(writer, "    return Results(database.client.%s, request, start_after, %s)\n",
                 methods[operation], plan->pattern->limit > 0 ? "True" : "False");
        return;
    }
    bool answers = operation == PATTERN_GET_ITEM || operation == PATTERN_UPDATE_ITEM;
    code_add(writer, "    %sdatabase.client.%s(**request)\n", answers ? "answer = " : "",
             methods[operation]);
    if (operation == PATTERN_GET_ITEM)
        code_add(writer, "    if \"Item\" not in answer:\n        return None\n");
    if (answers)
        code_add(writer, "    return _typing.cast(\"%.*s\", _decode_item(answer[\"%s\"]))\n",
                 BYTES_FMT(plan->item_type), operation == PATTERN_GET_ITEM ? "Item" : "Attributes");
}

static void add_python_function(struct code_writer *writer, const struct code_pattern *plan)
{
    enum pattern_operation operation = plan->pattern->operation;
    bool pages = operation == PATTERN_QUERY || operation == PATTERN_SCAN;
    struct bytes first = BYTES("database: Database");
    if (operation == PATTERN_PUT_ITEM)
        first = arena_printf(writer->out.arena, "database: Database,\n    item: %.*s",
                             BYTES_FMT(plan->item_type));
    code_add(writer, "\n\ndef %.*s", BYTES_FMT(plan->function));
    code_add_parameters(writer, (const char *)first.data, &plan->parameters,
                        pages ? &start_after : NULL);
    if (pages)
        code_add(writer, " -> Results[%.*s]:\n", BYTES_FMT(plan->item_type));
    else if (operation == PATTERN_GET_ITEM)
        code_add(writer, " -> %.*s | None:\n", BYTES_FMT(plan->item_type));
    else if (operation == PATTERN_UPDATE_ITEM)
        code_add(writer, " -> %.*s:\n", BYTES_FMT(plan->item_type));
    else
        code_add(writer, " -> None:\n");
    code_add_docstring(writer, "", plan->pattern->name);
    add_python_body(writer, plan);
}

static void add_typescript_body(struct code_writer *writer, const struct code_pattern *plan)
{
    enum pattern_operation operation = plan->pattern->operation;
    const char *name = pattern_operation_name(operation);
    code_add(writer, "  const request: _sdk.%sCommandInput = ", name);
    add_request(writer, plan);
    code_add(writer, ";\n");
    if (operation == PATTERN_QUERY || operation == PATTERN_SCAN) {
        code_add(writer,
                 "  return new Results(\n"
                 "    (input) => database.client.send(new _sdk.%sCommand(input)),\n"
                 "    request, startAfter, %s,\n  );\n}\n",
                 name, plan->pattern->limit > 0 ? "true" : "false");
        return;
    }
    bool answers = operation == PATTERN_GET_ITEM || operation == PATTERN_UPDATE_ITEM;
    code_add(writer, "  %sawait database.client.send(new _sdk.%sCommand(request));\n",
             answers ? "const answer = " : "", name);
    if (operation == PATTERN_GET_ITEM)
        code_add(writer, "  return answer.Item && _decodeItem(answer.Item);\n");
    else if (answers)
        code_add(writer, "  return _decodeItem(answer.Attributes ?? {});\n");
    code_add(writer, "}\n");
}

static void add_typescript_function(struct code_writer *writer, const struct code_pattern *plan)
{
    enum pattern_operation operation = plan->pattern->operation;
    bool pages = operation == PATTERN_QUERY || operation == PATTERN_SCAN;
    struct bytes first = BYTES("database: Database");
    if (operation == PATTERN_PUT_ITEM)
        first = arena_printf(writer->out.arena, "database: Database,\n  item: %.*s",
                             BYTES_FMT(plan->item_type));
    code_add(writer, "\n");
    code_add_docstring(writer, "", plan->pattern->name);
    code_add(writer, "export %sfunction %.*s", pages ? "" : "async ", BYTES_FMT(plan->function));
    code_add_parameters(writer, (const char *)first.data, &plan->parameters,
                        pages ? &start_after : NULL);
    if (pages)
        code_add(writer, ": Results<%.*s> {\n", BYTES_FMT(plan->item_type));
    else if (operation == PATTERN_GET_ITEM)
        code_add(writer, ": Promise<(%.*s) | undefined> {\n", BYTES_FMT(plan->item_type));
    else if (operation == PATTERN_UPDATE_ITEM)
        code_add(writer, ": Promise<%.*s> {\n", BYTES_FMT(plan->item_type));
    else
        code_add(writer, ": Promise<void> {\n");
    add_typescript_body(writer, plan);
}

void code_patterns_add(struct code_writer *writer, const struct code_plan *plan)
{
    for (size_t i = 0; i < plan->file->pattern_count; i++) {
        const struct code_pattern *pattern = &plan->patterns[i];
        if (pattern->has_own_type)
            code_add_item_type(writer, pattern->item_type, &pattern->members);
        if (code_is_python(writer))
            add_python_function(writer, pattern);
        else
            add_typescript_function(writer, pattern);
    }
}
