/* model_request.c -- see model_request.h. */
#include "schema/model_request.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "json/writer.h"
#include "schema/json_tree.h"

/* --- Tables --- */

static void write_text(struct json_writer *writer, const char *name, struct bytes text)
{
    json_write_name(writer, name);
    json_write_string(writer, text);
}

static void write_key(struct json_writer *writer, struct bytes name, const char *type)
{
    json_open_object(writer);
    write_text(writer, "AttributeName", name);
    json_write_name(writer, "KeyType");
    json_write_text(writer, type);
    json_close_object(writer);
}

static void write_key_schema(struct json_writer *writer, const struct model_index *index)
{
    json_write_name(writer, "KeySchema");
    json_open_array(writer);
    write_key(writer, index->hash.name, "HASH");
    if (index->has_range)
        write_key(writer, index->range.name, "RANGE");
    json_close_array(writer);
}

/* Whether an index before `index`, or its partition key, has the attribute. */
static bool is_defined(const struct model_table *table, size_t index, bool is_range,
                       struct bytes name)
{
    for (size_t i = 0; i <= index; i++) {
        const struct model_index *other = &table->indexes[i];
        if ((i < index || is_range) && bytes_equal(other->hash.name, name))
            return true;
        if (i < index && other->has_range && bytes_equal(other->range.name, name))
            return true;
    }
    return false;
}

static void write_definition(struct json_writer *writer, const struct key_attribute *key)
{
    json_open_object(writer);
    write_text(writer, "AttributeName", key->name);
    json_write_name(writer, "AttributeType");
    json_write_text(writer, value_type_name(key->type));
    json_close_object(writer);
}

static void write_definitions(struct json_writer *writer, const struct model_table *table)
{
    json_write_name(writer, "AttributeDefinitions");
    json_open_array(writer);
    for (size_t i = 0; i < table->index_count; i++) {
        const struct model_index *index = &table->indexes[i];
        if (!is_defined(table, i, false, index->hash.name))
            write_definition(writer, &index->hash);
        if (index->has_range && !is_defined(table, i, true, index->range.name))
            write_definition(writer, &index->range);
    }
    json_close_array(writer);
}

static void write_units(struct json_writer *writer, int64_t read_units, int64_t write_units)
{
    json_write_name(writer, "ProvisionedThroughput");
    json_open_object(writer);
    json_write_name(writer, "ReadCapacityUnits");
    json_write_integer(writer, read_units);
    json_write_name(writer, "WriteCapacityUnits");
    json_write_integer(writer, write_units);
    json_close_object(writer);
}

static void write_index(struct json_writer *writer, const struct model_table *table,
                        const struct model_index *index)
{
    json_open_object(writer);
    write_text(writer, "IndexName", index->name);
    write_key_schema(writer, index);
    json_write_name(writer, "Projection");
    json_open_object(writer);
    json_write_name(writer, "ProjectionType");
    json_write_text(writer, projection_type_name(index->projection));
    if (index->projection == PROJECTION_INCLUDE) {
        json_write_name(writer, "NonKeyAttributes");
        json_open_array(writer);
        for (size_t i = 0; i < index->included_count; i++)
            json_write_string(writer, index->included[i]);
        json_close_array(writer);
    }
    json_close_object(writer);
    if (!index->local && table->provisioned)
        write_units(writer, index->read_units, index->write_units);
    json_close_object(writer);
}

static void write_indexes(struct json_writer *writer, const struct model_table *table, bool local)
{
    bool any = false;
    for (size_t i = 1; i < table->index_count; i++) {
        if (table->indexes[i].local != local)
            continue;
        if (!any) {
            json_write_name(writer, local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes");
            json_open_array(writer);
        }
        any = true;
        write_index(writer, table, &table->indexes[i]);
    }
    if (any)
        json_close_array(writer);
}

static void write_mode(struct json_writer *writer, const struct model_table *table)
{
    json_write_name(writer, "BillingMode");
    json_write_text(writer, table->provisioned ? "PROVISIONED" : "PAY_PER_REQUEST");
}

struct bytes model_request_create_table(struct arena *arena, const struct model_table *table)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    json_open_object(&writer);
    write_text(&writer, "TableName", table->name);
    write_definitions(&writer, table);
    write_key_schema(&writer, &table->indexes[0]);
    write_indexes(&writer, table, true);
    write_indexes(&writer, table, false);
    write_mode(&writer, table);
    if (table->provisioned)
        write_units(&writer, table->read_units, table->write_units);
    json_close_object(&writer);
    return buffer_bytes(&out);
}

static void begin(struct arena *arena, const struct model_table *table, struct buffer *out,
                  struct json_writer *writer)
{
    buffer_init(out, arena);
    json_writer_init(writer, out);
    json_open_object(writer);
    write_text(writer, "TableName", table->name);
}

static void write_index_updates(struct json_writer *writer, const struct model_throughput *indexes,
                                size_t count)
{
    json_write_name(writer, "GlobalSecondaryIndexUpdates");
    json_open_array(writer);
    for (size_t i = 0; i < count; i++) {
        json_open_object(writer);
        json_write_name(writer, "Update");
        json_open_object(writer);
        write_text(writer, "IndexName", indexes[i].index);
        write_units(writer, indexes[i].read_units, indexes[i].write_units);
        json_close_object(writer);
        json_close_object(writer);
    }
    json_close_array(writer);
}

struct bytes model_request_billing(struct arena *arena, const struct model_billing *billing)
{
    const struct model_table *table = billing->table;
    struct buffer out;
    struct json_writer writer;
    begin(arena, table, &out, &writer);
    if (billing->mode)
        write_mode(&writer, table);
    if (billing->units)
        write_units(&writer, table->read_units, table->write_units);
    if (billing->index_count > 0)
        write_index_updates(&writer, billing->indexes, billing->index_count);
    json_close_object(&writer);
    return buffer_bytes(&out);
}

struct bytes model_request_create_index(struct arena *arena, const struct model_table *table,
                                        const struct model_index *index)
{
    struct buffer out;
    struct json_writer writer;
    begin(arena, table, &out, &writer);
    write_definitions(&writer, table);
    json_write_name(&writer, "GlobalSecondaryIndexUpdates");
    json_open_array(&writer);
    json_open_object(&writer);
    json_write_name(&writer, "Create");
    write_index(&writer, table, index);
    json_close_object(&writer);
    json_close_array(&writer);
    json_close_object(&writer);
    return buffer_bytes(&out);
}

struct bytes model_request_delete_index(struct arena *arena, const struct model_table *table,
                                        const struct model_index *index)
{
    struct buffer out;
    struct json_writer writer;
    begin(arena, table, &out, &writer);
    json_write_name(&writer, "GlobalSecondaryIndexUpdates");
    json_open_array(&writer);
    json_open_object(&writer);
    json_write_name(&writer, "Delete");
    json_open_object(&writer);
    write_text(&writer, "IndexName", index->name);
    json_close_object(&writer);
    json_close_object(&writer);
    json_close_array(&writer);
    json_close_object(&writer);
    return buffer_bytes(&out);
}

static struct bytes time_to_live(struct arena *arena, const struct model_table *table,
                                 struct bytes attribute, bool enabled)
{
    struct buffer out;
    struct json_writer writer;
    begin(arena, table, &out, &writer);
    json_write_name(&writer, "TimeToLiveSpecification");
    json_open_object(&writer);
    json_write_name(&writer, "Enabled");
    json_write_bool(&writer, enabled);
    write_text(&writer, "AttributeName", attribute);
    json_close_object(&writer);
    json_close_object(&writer);
    return buffer_bytes(&out);
}

struct bytes model_request_time_to_live(struct arena *arena, const struct model_table *table)
{
    if (table->ttl_attribute.data == NULL)
        return (struct bytes){ 0 };
    return time_to_live(arena, table, table->ttl_attribute, true);
}

struct bytes model_request_end_time_to_live(struct arena *arena, const struct model_table *table)
{
    return time_to_live(arena, table, table->ttl_attribute, false);
}

struct bytes model_request_put_item(struct arena *arena, const struct model_table *table,
                                    const struct json_node *row)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    json_open_object(&writer);
    write_text(&writer, "TableName", table->name);
    json_write_name(&writer, "Item");
    json_tree_write_compact(&writer, row);
    json_close_object(&writer);
    return buffer_bytes(&out);
}

/* --- Patterns --- */

struct request {
    struct arena *arena;
    const struct model_pattern *pattern;
    const struct model_index *index;
    struct json_node *projected; /* Attributes to ask for, with the table's keys; NULL: all. */
    struct json_writer writer;
    struct bytes hash, range[2]; /* Values of the keys. */
    struct bytes missing;
};

static bool fill(struct request *request, const struct key_template *template, struct bytes *out)
{
    return key_template_fill(request->arena, template, model_pattern_parameter, request->pattern,
                             out, &request->missing);
}

static bool fill_keys(struct request *request)
{
    const struct model_pattern *pattern = request->pattern;
    return (!pattern->has_hash || fill(request, &pattern->hash, &request->hash)) &&
           (pattern->compare == PATTERN_ANY ||
            fill(request, &pattern->range[0], &request->range[0])) &&
           (pattern->compare != PATTERN_BETWEEN ||
            fill(request, &pattern->range[1], &request->range[1]));
}

static void write_value(struct json_writer *writer, const struct key_attribute *key,
                        struct bytes text)
{
    json_open_object(writer);
    write_text(writer, value_type_name(key->type), text);
    json_close_object(writer);
}

static void write_item_key(struct request *request)
{
    struct json_writer *writer = &request->writer;
    json_write_name(writer, "Key");
    json_open_object(writer);
    json_write_name_bytes(writer, request->index->hash.name);
    write_value(writer, &request->index->hash, request->hash);
    if (request->index->has_range) {
        json_write_name_bytes(writer, request->index->range.name);
        write_value(writer, &request->index->range, request->range[0]);
    }
    json_close_object(writer);
}

static void write_key_condition(struct request *request)
{
    static const char *const texts[PATTERN_COMPARE_COUNT] = {
        [PATTERN_ANY] = "#stator_p = :stator_p",
        [PATTERN_EQUALS] = "#stator_p = :stator_p AND #stator_s = :stator_s",
        [PATTERN_BEGINS_WITH] = "#stator_p = :stator_p AND begins_with(#stator_s, :stator_s)",
        [PATTERN_BETWEEN] = "#stator_p = :stator_p AND #stator_s BETWEEN :stator_s AND :stator_t",
        [PATTERN_LESS] = "#stator_p = :stator_p AND #stator_s < :stator_s",
        [PATTERN_AT_MOST] = "#stator_p = :stator_p AND #stator_s <= :stator_s",
        [PATTERN_GREATER] = "#stator_p = :stator_p AND #stator_s > :stator_s",
        [PATTERN_AT_LEAST] = "#stator_p = :stator_p AND #stator_s >= :stator_s",
    };
    json_write_name(&request->writer, "KeyConditionExpression");
    json_write_text(&request->writer, texts[request->pattern->compare]);
}

static void add_name(struct arena *arena, struct json_node *list, struct bytes name)
{
    for (const struct json_node *at = list->first; at != NULL; at = at->next) {
        if (bytes_equal(at->text, name))
            return;
    }
    json_tree_add(list, (struct bytes){ 0 }, json_tree_new_string(arena, name));
}

/* The keys tell which items were found, and cost nothing. */
static struct json_node *projected_of(struct arena *arena, const struct model_table *table,
                                      const struct model_pattern *pattern)
{
    const struct model_index *key = &table->indexes[0];
    if (pattern->attributes == NULL || pattern->attributes->first == NULL)
        return NULL;
    struct json_node *list = json_tree_new(arena, JSON_ARRAY);
    add_name(arena, list, key->hash.name);
    if (key->has_range)
        add_name(arena, list, key->range.name);
    for (const struct json_node *at = pattern->attributes->first; at != NULL; at = at->next)
        add_name(arena, list, at->text);
    return list;
}

static void write_projection(struct request *request)
{
    const struct json_node *list = request->projected;
    struct buffer text;
    if (list == NULL)
        return;
    buffer_init(&text, request->arena);
    size_t count = 0;
    for (const struct json_node *at = list->first; at != NULL; at = at->next, count++)
        buffer_append_bytes(
            &text, arena_printf(request->arena, "%s#stator_%zu", count == 0 ? "" : ",", count));
    write_text(&request->writer, "ProjectionExpression", buffer_bytes(&text));
}

/* Names of the pattern's own and ours. `keys`: those of the key condition. */
static void write_names(struct request *request, bool keys, bool projection)
{
    const struct model_pattern *pattern = request->pattern;
    struct json_node *names = json_tree_new(request->arena, JSON_OBJECT);
    for (const struct json_node *at = pattern->names == NULL ? NULL : pattern->names->first;
         at != NULL; at = at->next)
        json_tree_add(names, at->name, json_tree_copy(request->arena, at));
    if (keys)
        json_tree_add_text(request->arena, names, "#stator_p", request->index->hash.name);
    if (keys && pattern->compare != PATTERN_ANY)
        json_tree_add_text(request->arena, names, "#stator_s", request->index->range.name);
    size_t count = 0;
    const struct json_node *list = projection ? request->projected : NULL;
    for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL; at = at->next)
        json_tree_add(names, arena_printf(request->arena, "#stator_%zu", count++),
                      json_tree_new_string(request->arena, at->text));
    if (names->first == NULL)
        return;
    json_write_name(&request->writer, "ExpressionAttributeNames");
    json_tree_write_compact(&request->writer, names);
}

static void write_values(struct request *request, bool keys)
{
    const struct model_pattern *pattern = request->pattern;
    struct json_writer *writer = &request->writer;
    const struct json_node *own = pattern->values == NULL ? NULL : pattern->values->first;
    if (own == NULL && !keys)
        return;
    json_write_name(writer, "ExpressionAttributeValues");
    json_open_object(writer);
    for (const struct json_node *at = own; at != NULL; at = at->next) {
        json_write_name_bytes(writer, at->name);
        json_tree_write_compact(writer, at);
    }
    if (keys) {
        json_write_name(writer, ":stator_p");
        write_value(writer, &request->index->hash, request->hash);
    }
    if (keys && pattern->compare != PATTERN_ANY) {
        json_write_name(writer, ":stator_s");
        write_value(writer, &request->index->range, request->range[0]);
    }
    if (keys && pattern->compare == PATTERN_BETWEEN) {
        json_write_name(writer, ":stator_t");
        write_value(writer, &request->index->range, request->range[1]);
    }
    json_close_object(writer);
}

static void write_read(struct request *request, const struct json_node *after)
{
    const struct model_pattern *pattern = request->pattern;
    struct json_writer *writer = &request->writer;
    bool query = pattern->operation == PATTERN_QUERY;
    if (request->index->name.data != NULL)
        write_text(writer, "IndexName", request->index->name);
    if (query && pattern->has_hash)
        write_key_condition(request);
    if (pattern->filter.data != NULL)
        write_text(writer, "FilterExpression", pattern->filter);
    write_projection(request);
    write_names(request, query && pattern->has_hash, true);
    write_values(request, query && pattern->has_hash);
    if (pattern->limit > 0) {
        json_write_name(writer, "Limit");
        json_write_integer(writer, pattern->limit);
    }
    if (query && pattern->descending) {
        json_write_name(writer, "ScanIndexForward");
        json_write_bool(writer, false);
    }
    if (after != NULL) {
        json_write_name(writer, "ExclusiveStartKey");
        json_tree_write_compact(writer, after);
    }
}

static void write_write(struct request *request)
{
    const struct model_pattern *pattern = request->pattern;
    struct json_writer *writer = &request->writer;
    if (pattern->operation == PATTERN_PUT_ITEM && pattern->item != NULL) {
        json_write_name(writer, "Item");
        json_tree_write_compact(writer, pattern->item);
    }
    if (pattern->operation != PATTERN_PUT_ITEM)
        write_item_key(request);
    if (pattern->operation == PATTERN_UPDATE_ITEM && pattern->update.data != NULL)
        write_text(writer, "UpdateExpression", pattern->update);
    if (pattern->condition.data != NULL)
        write_text(writer, "ConditionExpression", pattern->condition);
    write_names(request, false, false);
    write_values(request, false);
}

bool model_request_pattern(struct arena *arena, const struct model_file *file,
                           const struct model_pattern *pattern, const struct json_node *after,
                           struct bytes *body, struct bytes *missing)
{
    const struct model_table *table = model_file_table(file, pattern->table);
    struct request request = { .arena = arena,
                               .pattern = pattern,
                               .index = model_table_index(table, pattern->index),
                               .projected = projected_of(arena, table, pattern),
                               .hash = BYTES(""),
                               .range = { BYTES(""), BYTES("") } };
    struct buffer out;
    bool has_keys = pattern->operation != PATTERN_SCAN && pattern->operation != PATTERN_PUT_ITEM;
    if (has_keys && !fill_keys(&request)) {
        *missing = request.missing;
        return false;
    }
    buffer_init(&out, arena);
    json_writer_init(&request.writer, &out);
    json_open_object(&request.writer);
    write_text(&request.writer, "TableName", table->name);
    if (pattern->operation == PATTERN_QUERY || pattern->operation == PATTERN_SCAN) {
        write_read(&request, after);
    } else if (pattern->operation == PATTERN_GET_ITEM) {
        write_item_key(&request);
        write_projection(&request);
        write_names(&request, false, true);
    } else {
        write_write(&request);
    }
    if (pattern->consistent && !pattern_operation_writes(pattern->operation)) {
        json_write_name(&request.writer, "ConsistentRead");
        json_write_bool(&request.writer, true);
    }
    json_write_name(&request.writer, "ReturnConsumedCapacity");
    json_write_text(&request.writer, "TOTAL");
    json_close_object(&request.writer);
    *body = buffer_bytes(&out);
    return true;
}
