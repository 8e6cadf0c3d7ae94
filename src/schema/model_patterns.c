/* model_patterns.c -- our own part of a model file: entities and access patterns. */
#include <assert.h>
#include "base/arena.h"
#include "schema/model_import.h"
#include "schema/model_parts.h"

/* --- Names --- */

static const char *const operation_names[PATTERN_OPERATION_COUNT] = {
    [PATTERN_GET_ITEM] = "GetItem",
    [PATTERN_QUERY] = "Query",
    [PATTERN_SCAN] = "Scan",
    [PATTERN_PUT_ITEM] = "PutItem",
    [PATTERN_UPDATE_ITEM] = "UpdateItem",
    [PATTERN_DELETE_ITEM] = "DeleteItem",
};

const char *pattern_operation_name(enum pattern_operation operation)
{
    assert(operation < PATTERN_OPERATION_COUNT);
    return operation_names[operation];
}

bool pattern_operation_writes(enum pattern_operation operation)
{
    return operation >= PATTERN_PUT_ITEM;
}

static const char *const compare_names[PATTERN_COMPARE_COUNT] = {
    [PATTERN_ANY] = "Any",          [PATTERN_EQUALS] = "Equals",
    [PATTERN_LESS] = "LessThan",    [PATTERN_BEGINS_WITH] = "BeginsWith",
    [PATTERN_AT_MOST] = "AtMost",   [PATTERN_BETWEEN] = "Between",
    [PATTERN_AT_LEAST] = "AtLeast", [PATTERN_GREATER] = "GreaterThan",
};

const char *pattern_compare_name(enum pattern_compare compare)
{
    assert(compare < PATTERN_COMPARE_COUNT);
    return compare_names[compare];
}

/* --- Entities --- */

static bool read_template(struct model_reader *reader, const struct json_node *node,
                          struct bytes text, struct key_template *out)
{
    struct bytes failure;
    return key_template_parse(reader->arena, text, out, &failure) ||
           model_reader_fail(reader, node, "%.*s", BYTES_FMT(failure));
}

/* Templates of numbers and binary keys are one parameter. */
static bool check_template(struct model_reader *reader, const struct json_node *node,
                           const struct key_attribute *key, const struct key_template *template)
{
    return key->type == VALUE_S || key_template_is_bare(template) ||
           model_reader_fail(reader, node,
                             "the key %.*s is not a text, so its template is one "
                             "parameter",
                             BYTES_FMT(key->name));
}

/* Whether the templates could be those of the index as it is now. */
static bool fits_index(struct model_reader *reader, const struct model_index *index,
                       struct bytes hash, struct bytes range)
{
    struct key_template template;
    struct bytes failure;
    if (index == NULL || (range.data != NULL && !index->has_range))
        return false;
    if (hash.data != NULL && index->hash.type != VALUE_S &&
        (!key_template_parse(reader->arena, hash, &template, &failure) ||
         !key_template_is_bare(&template)))
        return false;
    return range.data == NULL || index->range.type == VALUE_S ||
           (key_template_parse(reader->arena, range, &template, &failure) &&
            key_template_is_bare(&template));
}

static bool read_entity_key(struct model_reader *reader, struct json_node *node,
                            const struct model_table *table, struct model_entity *entity)
{
    struct model_entity_key *key = &entity->keys[entity->key_count];
    struct bytes index_name = model_reader_text(reader, node, "Index");
    struct bytes hash = model_reader_text(reader, node, "PartitionKey");
    struct bytes range = model_reader_text(reader, node, "SortKey");
    if (model_reader_failed(reader))
        return false;
    const struct model_index *index = model_table_index(table, index_name);
    if (reader->is_lenient && index_name.data != NULL && !fits_index(reader, index, hash, range))
        return true;
    if (index == NULL)
        return model_reader_fail(reader, node, "the table %.*s has no index %.*s",
                                 BYTES_FMT(table->name), BYTES_FMT(index_name));
    if (model_entity_key(entity, index_name) != NULL)
        return model_reader_fail(reader, node, "there are two templates for one index");
    if (range.data != NULL && !index->has_range)
        return model_reader_fail(reader, node, "there is no sort key");
    *key = (struct model_entity_key){ .index = index_name,
                                      .has_hash = hash.data != NULL,
                                      .has_range = range.data != NULL };
    if ((key->has_hash && (!read_template(reader, node, hash, &key->hash) ||
                           !check_template(reader, node, &index->hash, &key->hash))) ||
        (key->has_range && (!read_template(reader, node, range, &key->range) ||
                            !check_template(reader, node, &index->range, &key->range))))
        return false;
    entity->key_count++;
    return true;
}

static bool read_attribute(struct model_reader *reader, struct json_node *node,
                           struct model_attribute *out)
{
    out->name = model_reader_name(reader, node, "Name");
    out->required = model_reader_flag(reader, node, "Required");
    struct bytes type = model_reader_text(reader, node, "Type");
    if (model_reader_failed(reader))
        return false;
    out->has_type = type.data != NULL;
    return !out->has_type || value_type_parse(type, &out->type) ||
           model_reader_fail(reader, node, "%.*s is no type: S, N, B, BOOL, NULL, L, M, SS, NS, BS",
                             BYTES_FMT(type));
}

static bool read_attributes(struct model_reader *reader, struct json_node *node,
                            struct model_entity *entity)
{
    struct json_node *list =
        model_reader_array(reader, node, "Attributes", MODEL_ENTITY_ATTRIBUTES_MAX);
    if (list == NULL)
        return !model_reader_failed(reader);
    entity->attributes =
        arena_alloc_zeroed(reader->arena, (list->count + 1) * sizeof *entity->attributes);
    for (struct json_node *at = list->first; at != NULL; at = at->next) {
        struct model_attribute *attribute = &entity->attributes[entity->attribute_count];
        if (!read_attribute(reader, at, attribute))
            return false;
        for (size_t i = 0; i < entity->attribute_count; i++) {
            if (bytes_equal(entity->attributes[i].name, attribute->name))
                return model_reader_fail(reader, at, "there are two attributes of the name %.*s",
                                         BYTES_FMT(attribute->name));
        }
        entity->attribute_count++;
    }
    return true;
}

static bool read_discriminator(struct model_reader *reader, struct json_node *node,
                               struct model_entity *entity)
{
    struct json_node *discriminator = model_reader_object(reader, node, "Discriminator");
    if (discriminator == NULL)
        return !model_reader_failed(reader);
    entity->discriminator = model_reader_name(reader, discriminator, "Attribute");
    entity->discriminator_value = model_reader_text(reader, discriminator, "Value");
    if (entity->discriminator_value.data == NULL)
        return model_reader_fail(reader, discriminator, "there is no Value");
    return !model_reader_failed(reader);
}

/* The table of an entity or pattern, which need not be named if there is one only. */
static const struct model_table *read_table(struct model_reader *reader, struct json_node *node)
{
    struct bytes name = model_reader_text(reader, node, "Table");
    const struct model_file *file = reader->file;
    if (name.data == NULL && file->table_count == 1)
        return &file->tables[0];
    const struct model_table *table = name.data == NULL ? NULL : model_file_table(file, name);
    if (table == NULL)
        model_reader_fail(reader, node,
                          name.data == NULL ? "there is no Table" : "there is no table %.*s",
                          BYTES_FMT(name));
    return table;
}

static bool read_entity(struct model_reader *reader, struct json_node *node)
{
    struct model_entity *entity = &reader->file->entities[reader->file->entity_count];
    entity->node = node;
    struct bytes name = model_reader_name(reader, node, "Name");
    const struct model_table *table = read_table(reader, node);
    struct json_node *keys = model_reader_array(reader, node, "Keys", MODEL_INDEXES_MAX);
    if (model_reader_failed(reader) || table == NULL)
        return false;
    if (model_file_entity(reader->file, name) != NULL)
        return model_reader_fail(reader, node, "there are two entities of the name %.*s",
                                 BYTES_FMT(name));
    entity->name = name;
    entity->table = table->name;
    entity->keys = arena_alloc_zeroed(reader->arena, ((keys == NULL ? 0 : keys->count) + 1) *
                                                         sizeof *entity->keys);
    for (struct json_node *key = keys == NULL ? NULL : keys->first; key != NULL; key = key->next) {
        if (!read_entity_key(reader, key, table, entity))
            return false;
    }
    if (!read_discriminator(reader, node, entity) || !read_attributes(reader, node, entity))
        return false;
    reader->file->entity_count++;
    return true;
}

/* Entities that another tool has noted: schemas of OneTable, or templates beside the keys. */
static struct json_node *derive_entities(struct model_reader *reader)
{
    struct json_node *entities = json_tree_new(reader->arena, JSON_ARRAY);
    const struct json_node *root = reader->file->root;
    bool ok = true;
    if (reader->file->table_count == 1)
        ok = model_import_onetable_entities(reader->arena, json_tree_member(root, "ModelSchema"),
                                            reader->file->tables[0].name, entities);
    for (size_t i = 0; i < reader->file->table_count; i++) {
        const struct model_table *table = &reader->file->tables[i];
        ok = model_import_onetable_entities(reader->arena,
                                            json_tree_member(table->node, "ModelSchema"),
                                            table->name, entities) &&
             ok;
        model_import_map_functions(reader->arena, table->node, entities);
    }
    if (!ok) /* Another tool's notes do not make the file unreadable. */
        model_report_add(reader->arena, reader->report, BYTES("ModelSchema"),
                         BYTES("a schema has too many indexes, and is left out"));
    return entities;
}

bool model_entities_read(struct model_reader *reader, struct json_node *entities)
{
    bool derived = reader->file->entities_are_derived = entities == NULL;
    if (derived)
        entities = derive_entities(reader);
    reader->file->entities =
        arena_alloc_zeroed(reader->arena, (entities->count + 1) * sizeof(struct model_entity));
    for (struct json_node *node = entities->first; node != NULL; node = node->next) {
        if (read_entity(reader, node))
            continue;
        if (!derived)
            return false;
        /* Another tool's notes do not make the file unreadable. */
        model_report_add(reader->arena, reader->report, BYTES("ModelSchema or MapFunction"),
                         reader->report->failure);
        reader->report->failure = (struct bytes){ 0 };
    }
    return true;
}

/* --- Patterns --- */

static bool read_operation(struct model_reader *reader, struct json_node *node,
                           enum pattern_operation *out)
{
    struct bytes name = model_reader_name(reader, node, "Operation");
    for (enum pattern_operation i = 0; i < PATTERN_OPERATION_COUNT; i++) {
        if (bytes_equal_text(name, operation_names[i])) {
            *out = i;
            return true;
        }
    }
    return model_reader_fail(
        reader, node, "Operation is GetItem, Query, Scan, PutItem, UpdateItem or DeleteItem");
}

static bool read_bounds(struct model_reader *reader, const struct json_node *node,
                        struct model_pattern *pattern)
{
    const struct json_node *first = node->first;
    if (node->type != JSON_ARRAY || node->count != 2 || first->type != JSON_STRING ||
        first->next->type != JSON_STRING)
        return model_reader_fail(reader, node, "Between has two texts");
    return read_template(reader, first, first->text, &pattern->range[0]) &&
           read_template(reader, first->next, first->next->text, &pattern->range[1]);
}

/* "SortKey": "text" or {"BeginsWith": "text"} */
static bool read_sort_key(struct model_reader *reader, const struct json_node *node,
                          struct model_pattern *pattern)
{
    if (node == NULL || node->type == JSON_NULL)
        return true;
    if (node->type == JSON_STRING) {
        pattern->compare = PATTERN_EQUALS;
        return read_template(reader, node, node->text, &pattern->range[0]);
    }
    if (node->type != JSON_OBJECT || node->count != 1)
        return model_reader_fail(reader, node, "it is a text or an object with one member");
    const struct json_node *value = node->first;
    for (enum pattern_compare i = PATTERN_EQUALS; i < PATTERN_COMPARE_COUNT; i++) {
        if (!bytes_equal_text(value->name, compare_names[i]))
            continue;
        pattern->compare = i;
        if (i == PATTERN_BETWEEN)
            return read_bounds(reader, value, pattern);
        if (value->type != JSON_STRING)
            return model_reader_fail(reader, value, "it is not a text");
        return read_template(reader, value, value->text, &pattern->range[0]);
    }
    return model_reader_fail(reader, node,
                             "it is Equals, BeginsWith, Between, LessThan, AtMost, GreaterThan or "
                             "AtLeast");
}

/* Names of entities that exist. */
static bool check_entities(struct model_reader *reader, const struct json_node *list)
{
    for (struct json_node *node = list == NULL ? NULL : list->first; node != NULL;
         node = node->next) {
        if (node->type != JSON_STRING || model_file_entity(reader->file, node->text) == NULL)
            return model_reader_fail(reader, node, "there is no such entity");
    }
    return true;
}

static bool check_texts(struct model_reader *reader, const struct json_node *list)
{
    for (struct json_node *node = list == NULL ? NULL : list->first; node != NULL;
         node = node->next) {
        if (node->type != JSON_STRING)
            return model_reader_fail(reader, node, "it is not a text");
    }
    return true;
}

/* Objects of attribute values. */
static bool check_items(struct model_reader *reader, const struct json_node *list)
{
    for (struct json_node *node = list == NULL ? NULL : list->first; node != NULL;
         node = node->next) {
        if (node->type != JSON_OBJECT)
            return model_reader_fail(reader, node, "it is not an object of attribute values");
    }
    return true;
}

static bool read_expectation(struct model_reader *reader, const struct json_node *node,
                             struct model_expectation *out)
{
    struct json_node *expect = model_reader_object(reader, node, "Expect");
    if (expect == NULL)
        return !model_reader_failed(reader);
    out->has_count = model_reader_integer(reader, expect, "Count", &out->count);
    out->has_pages = model_reader_integer(reader, expect, "Pages", &out->pages);
    out->keys = model_reader_array(reader, expect, "Keys", JSON_TREE_NODES_MAX);
    out->entities = model_reader_array(reader, expect, "Entities", MODEL_ENTITIES_MAX);
    out->refused = model_reader_flag(reader, expect, "Refused");
    return !model_reader_failed(reader) && check_items(reader, out->keys) &&
           check_entities(reader, out->entities);
}

static bool read_request(struct model_reader *reader, struct json_node *node,
                         struct model_pattern *out)
{
    struct bytes hash = model_reader_text(reader, node, "PartitionKey");
    out->filter = model_reader_expression(reader, node, "Filter");
    out->update = model_reader_expression(reader, node, "Update");
    out->condition = model_reader_expression(reader, node, "Condition");
    out->names = model_reader_object(reader, node, "Names");
    out->values = model_reader_object(reader, node, "Values");
    out->item = model_reader_object(reader, node, "Item");
    out->attributes = model_reader_array(reader, node, "Attributes", MODEL_ENTITY_ATTRIBUTES_MAX);
    out->entities = model_reader_array(reader, node, "Entities", MODEL_ENTITIES_MAX);
    out->parameters = model_reader_object(reader, node, "Parameters");
    out->consistent = model_reader_flag(reader, node, "ConsistentRead");
    out->descending = model_reader_flag(reader, node, "Descending");
    out->allows_scan = model_reader_flag(reader, node, "AllowScan");
    out->calls_per_second = model_reader_number(reader, node, "CallsPerSecond");
    (void)model_reader_integer(reader, node, "Limit", &out->limit);
    if (model_reader_failed(reader))
        return false;
    out->has_hash = hash.data != NULL;
    return (!out->has_hash || read_template(reader, node, hash, &out->hash)) &&
           read_sort_key(reader, json_tree_member(node, "SortKey"), out) &&
           check_texts(reader, out->attributes) && check_entities(reader, out->entities) &&
           read_expectation(reader, node, &out->expect);
}

static bool read_pattern(struct model_reader *reader, struct json_node *node)
{
    struct model_pattern *pattern = &reader->file->patterns[reader->file->pattern_count];
    pattern->node = node;
    pattern->name = model_reader_name(reader, node, "Name");
    const struct model_table *table = read_table(reader, node);
    pattern->index = model_reader_text(reader, node, "Index");
    if (model_reader_failed(reader) || table == NULL ||
        !read_operation(reader, node, &pattern->operation))
        return false;
    pattern->table = table->name;
    if (model_table_index(table, pattern->index) == NULL)
        return model_reader_fail(reader, node, "the table %.*s has no index %.*s",
                                 BYTES_FMT(table->name), BYTES_FMT(pattern->index));
    if (!read_request(reader, node, pattern))
        return false;
    reader->file->pattern_count++;
    return true;
}

bool model_patterns_read(struct model_reader *reader, struct json_node *patterns)
{
    size_t count = patterns == NULL ? 0 : patterns->count;
    reader->file->patterns =
        arena_alloc_zeroed(reader->arena, (count + 1) * sizeof(struct model_pattern));
    for (struct json_node *node = patterns == NULL ? NULL : patterns->first; node != NULL;
         node = node->next) {
        if (!read_pattern(reader, node))
            return false;
    }
    return true;
}
