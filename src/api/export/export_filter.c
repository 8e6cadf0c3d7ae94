/* export_filter.c -- see export_filter.h. A key condition has the rules of Query, a filter those of
 * Scan, except that with a key condition it may not name key attributes. */
#include "api/export/export_filter.h"
#include "api/export/export_request.h"
#include "base/arena.h"
#include "expr/condition.h"
#include "expr/condition_parse.h"
#include "expr/key_condition.h"
#include "expr/params.h"
#include "expr/path.h"
#include "expr/projection.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "read/read_range.h"
#include "read/read_source.h"
#include "table/item_range.h"

static bool check_filter_keys(const struct table_definition *table, const struct condition *filter,
                              struct error *err)
{
    const struct bytes names[] = { table->key.hash.name, table->key.range.name };
    for (size_t i = 0; i < (table->key.has_range ? 2 : 1); i++)
        if (condition_mentions(filter, names[i]))
            return error_validation(err,
                                    "Filter Expression can only contain non-primary key "
                                    "attributes: Primary key attribute: %.*s",
                                    BYTES_FMT(names[i]));
    return true;
}

/* The range of the keys that the condition selects. */
static bool plan_range(struct arena *arena, const struct table_definition *table,
                       const struct condition *parsed, struct export_filter *out, struct error *err)
{
    struct read_source source;
    struct key_condition_plan plan;
    struct item_range range;
    const struct read_source_name name = { .consistent = true };
    const struct key_condition *condition = key_condition_compile(arena, parsed, err);
    if (condition == NULL || !read_source_find(arena, table, &name, &source, err))
        return false;
    const struct read_key key = read_range_key(&source);
    const struct key_condition_schema schema = read_range_schema(&key);
    if (!key_condition_check(condition, &schema, &plan, err) ||
        !read_range_check_values(&key, &plan, err))
        return false;
    out->has_range = true;
    out->is_nothing = !read_range_of_plan(arena, &source, &key, &plan, false, &range);
    if (!out->is_nothing)
        out->range =
            (struct history_range){ .first = range.engine.first, .last = range.engine.last };
    return true;
}

static bool compile_projection(struct arena *arena, struct bytes text, struct expr_params *params,
                               struct export_filter *out, struct error *err)
{
    if (text.data == NULL)
        return true;
    const struct projection *projection = projection_parse(arena, text, params, err);
    if (projection == NULL)
        return false;
    out->projection = path_tree_build(arena, projection->paths, projection->path_count);
    return true;
}

static bool compile_condition(struct arena *arena, struct bytes text, const char *parameter,
                              struct expr_params *params, const struct condition **out,
                              struct error *err)
{
    *out = NULL;
    if (text.data != NULL)
        *out = condition_parse(arena, text, parameter, params, err);
    return text.data == NULL || *out != NULL;
}

bool export_filter_compile(struct arena *arena, const struct table_definition *table,
                           const struct export_filter_request *request, struct export_filter *out,
                           struct error *err)
{
    struct expr_params params;
    const struct condition *key_condition;
    *out = (struct export_filter){ .condition = NULL };
    lookup_init(&out->lookup, arena, NULL);
    if (request == NULL)
        return true;
    const struct expr_params_input input = {
        .names_present = request->names.present,
        .name_keys = request->names.names,
        .name_values = request->names.elements,
        .name_count = request->names.count,
        .values = request->values.present ? &request->values.item : NULL,
    };
    if (request->values.rule != NULL)
        return error_set_bytes(err, request->values.rule->code, request->values.rule->message);
    const struct bytes names[] = { table->key.hash.name, table->key.range.name };
    return expr_params_init(&params, arena, &input, err) &&
           compile_condition(arena, request->filter, "FilterExpression", &params, &out->condition,
                             err) &&
           compile_projection(arena, request->projection, &params, out, err) &&
           compile_condition(arena, request->key_condition, "KeyConditionExpression", &params,
                             &key_condition, err) &&
           expr_params_check_unused(&params, arena, err) &&
           (key_condition == NULL || plan_range(arena, table, key_condition, out, err)) &&
           (key_condition == NULL || out->condition == NULL ||
            check_filter_keys(table, out->condition, err)) &&
           expr_params_check_key_paths(&params, names, table->key.has_range ? 2 : 1, err);
}

bool export_filter_matches(struct export_filter *filter, const struct item *item)
{
    if (filter->condition == NULL)
        return true;
    lookup_next_item(&filter->lookup, item);
    return condition_matches(filter->condition, &filter->lookup);
}

/* Through JSON: projections are made to be shown, and only a filtered export needs one as an item.
 */
struct item export_filter_project(const struct export_filter *filter, struct arena *arena,
                                  const struct item *item)
{
    struct buffer text;
    struct json_writer writer;
    struct json_reader reader;
    struct item out;
    struct error rule = { .code = ERROR_NONE }, err = { .code = ERROR_NONE };
    if (filter->projection == NULL)
        return *item;
    buffer_init(&text, arena);
    json_writer_init(&writer, &text);
    projection_write(&writer, filter->projection, item);
    json_reader_init(&reader, arena, buffer_bytes(&text), SHAPE_JSON_DEPTH_MAX);
    rule.arena = err.arena = arena;
    if (!item_json_read(&reader, arena, &out, &rule, &err))
        return *item; /* Cannot be: we wrote it. */
    return out;
}
