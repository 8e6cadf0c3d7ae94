/* model_tables.c -- the tables of a model file: keys, indexes, rows of the sample. */
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "schema/model_parts.h"
#include "schema/model_repair.h"

static bool read_key_attribute(struct model_reader *reader, const struct json_node *node,
                               struct key_attribute *out)
{
    out->name = model_reader_name(reader, node, "AttributeName");
    struct bytes type = model_reader_text(reader, node, "AttributeType");
    if (type.data == NULL || !value_type_parse(type, &out->type) ||
        (out->type != VALUE_S && out->type != VALUE_N && out->type != VALUE_B))
        return model_reader_fail(reader, node, "the type of a key is S, N or B");
    return !model_reader_failed(reader);
}

static bool read_keys(struct model_reader *reader, const struct json_node *holder,
                      struct model_index *out)
{
    struct json_node *keys = model_reader_object(reader, holder, "KeyAttributes");
    struct json_node *hash = model_reader_object(reader, keys, "PartitionKey");
    struct json_node *range = model_reader_object(reader, keys, "SortKey");
    if (hash == NULL)
        return model_reader_fail(reader, holder, "there is no KeyAttributes.PartitionKey");
    if (range != NULL && range->count == 0) {
        model_report_add_at(reader->arena, reader->report, range,
                            BYTES("it is empty: there is no sort key"));
        range = NULL;
    }
    out->has_range = range != NULL;
    return read_key_attribute(reader, hash, &out->hash) &&
           (range == NULL || read_key_attribute(reader, range, &out->range));
}

static bool read_projection(struct model_reader *reader, const struct json_node *node,
                            struct model_index *out)
{
    struct json_node *projection = model_reader_object(reader, node, "Projection");
    struct bytes type = model_reader_text(reader, projection, "ProjectionType");
    struct json_node *names =
        model_reader_array(reader, projection, "NonKeyAttributes", INCLUDED_NAMES_PER_TABLE_MAX);
    if (type.data == NULL)
        type = BYTES("ALL");
    if (!projection_type_parse(type, &out->projection))
        return model_reader_fail(reader, projection, "ProjectionType is ALL, KEYS_ONLY or INCLUDE");
    if (names == NULL)
        return !model_reader_failed(reader);
    out->included = arena_alloc(reader->arena, names->count * sizeof *out->included);
    for (struct json_node *name = names->first; name != NULL; name = name->next) {
        if (name->type != JSON_STRING)
            return model_reader_fail(reader, name, "it is not a text");
        out->included[out->included_count++] = name->text;
    }
    return true;
}

/* Our own additions for a table; NULL: none. */
static struct json_node *find_additions(struct model_reader *reader, struct bytes name)
{
    struct json_node *list =
        json_tree_member(json_tree_member(reader->file->root, "Stator"), "Tables");
    for (struct json_node *node = list == NULL ? NULL : list->first; node != NULL;
         node = node->next) {
        if (bytes_equal(json_tree_string(node, "TableName"), name))
            return node;
    }
    return NULL;
}

static bool is_listed(const struct json_node *list, struct bytes text)
{
    for (const struct json_node *node = list == NULL ? NULL : list->first; node != NULL;
         node = node->next) {
        if (node->type == JSON_STRING && bytes_equal(node->text, text))
            return true;
    }
    return false;
}

/* Workbench has no local indexes, so people draw them as global ones. */
static void note_local(struct model_reader *reader, const struct json_node *node,
                       const struct model_index *table, const struct model_index *index)
{
    if (!index->local && index->has_range && table->has_range &&
        bytes_equal(index->hash.name, table->hash.name))
        model_report_add_at(reader->arena, reader->report, node,
                            BYTES("its partition key is the table's: if it is meant as a local "
                                  "index, name it in Stator.Tables[].LocalIndexes"));
}

static bool read_indexes(struct model_reader *reader, const struct json_node *node,
                         const struct json_node *additions, struct model_table *out)
{
    struct json_node *list =
        model_reader_array(reader, node, "GlobalSecondaryIndexes", MODEL_INDEXES_MAX - 1);
    struct json_node *local =
        model_reader_array(reader, additions, "LocalIndexes", LOCAL_INDEXES_MAX);
    out->indexes = arena_alloc_zeroed(reader->arena, (1 + (list == NULL ? 0 : list->count)) *
                                                         sizeof *out->indexes);
    out->index_count = 1;
    if (model_reader_failed(reader) || !read_keys(reader, node, &out->indexes[0]))
        return false;
    for (struct json_node *at = list == NULL ? NULL : list->first; at != NULL; at = at->next) {
        struct model_index *index = &out->indexes[out->index_count];
        struct bytes name = model_reader_name(reader, at, "IndexName");
        if (model_reader_failed(reader) || !read_keys(reader, at, index) ||
            !read_projection(reader, at, index))
            return false;
        if (model_table_index(out, name) != NULL)
            return model_reader_fail(reader, at, "there are two indexes of the name %.*s",
                                     BYTES_FMT(name));
        index->name = name;
        index->local = is_listed(local, name);
        if (index->local && !bytes_equal(index->hash.name, out->indexes[0].hash.name))
            return model_reader_fail(reader, at,
                                     "a local index has the partition key of its table");
        note_local(reader, at, &out->indexes[0], index);
        out->index_count++;
    }
    return true;
}

/* --- Rows --- */

/* A row's key as text by which rows are compared; data NULL: it lacks one. */
static struct bytes row_key(struct arena *arena, const struct model_table *table,
                            const struct json_node *row)
{
    const struct model_index *key = &table->indexes[0];
    const struct json_node *hash = json_tree_member_bytes(row, key->hash.name);
    const struct json_node *range =
        key->has_range ? json_tree_member_bytes(row, key->range.name) : NULL;
    if (hash == NULL || (key->has_range && range == NULL))
        return (struct bytes){ 0 };
    const struct bytes parts[] = { json_tree_text(arena, hash),
                                   range == NULL ? BYTES("") : json_tree_text(arena, range) };
    return arena_join(arena, parts, 2);
}

struct keyed_row {
    struct bytes key;
    struct json_node *node;
    size_t position;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed_row *left = a, *right = b;
    int order = bytes_compare(left->key, right->key);
    if (order != 0)
        return order;
    return left->position < right->position ? -1 : left->position > right->position;
}

static int compare_positions(const void *a, const void *b)
{
    const struct keyed_row *left = a, *right = b;
    return left->position < right->position ? -1 : left->position > right->position;
}

/* The last row of each key wins, in its place. */
static void keep_last(struct model_reader *reader, struct model_table *table,
                      struct keyed_row *rows, size_t count)
{
    size_t kept = 0;
    qsort(rows, count, sizeof *rows, compare_keyed);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && bytes_equal(rows[i].key, rows[i + 1].key)) {
            model_report_add_at(reader->arena, reader->report, rows[i].node,
                                BYTES("a later row has the same key, and replaces this one"));
            continue;
        }
        rows[kept++] = rows[i];
    }
    qsort(rows, kept, sizeof *rows, compare_positions);
    table->rows = arena_alloc(reader->arena, (kept + 1) * sizeof(struct json_node *));
    for (size_t i = 0; i < kept; i++)
        table->rows[i] = rows[i].node;
    table->row_count = kept;
}

/* Invisible characters in the text of a key, such as a tab at its end. */
static bool has_invisible(const struct json_node *value)
{
    struct bytes text = json_tree_string(value, "S");
    for (size_t i = 0; i < text.len; i++) {
        bool at_an_end = i == 0 || i == text.len - 1;
        if (text.data[i] < 0x20 || text.data[i] == 0x7F || (at_an_end && text.data[i] == 0x20))
            return true;
    }
    return false;
}

static void note_invisible(struct model_reader *reader, const struct model_index *key,
                           const struct json_node *row)
{
    const struct json_node *values[] = { json_tree_member_bytes(row, key->hash.name),
                                         key->has_range
                                             ? json_tree_member_bytes(row, key->range.name)
                                             : NULL };
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        if (has_invisible(values[i]))
            model_report_add_at(reader->arena, reader->report, values[i],
                                BYTES("the key has invisible characters, which are kept"));
    }
}

static bool add_rows(struct model_reader *reader, struct model_table *table, struct json_node *list,
                     struct keyed_row *rows, size_t *count)
{
    for (struct json_node *row = list == NULL ? NULL : list->first; row != NULL; row = row->next) {
        if (row->type != JSON_OBJECT)
            return model_reader_fail(reader, row, "a row is an object");
        for (struct json_node *value = row->first; value != NULL; value = value->next)
            model_repair_value(reader->arena, value, reader->report);
        struct bytes key = row_key(reader->arena, table, row);
        if (key.data == NULL) {
            model_report_add_at(reader->arena, reader->report, row,
                                BYTES("the row lacks a key attribute, and is left out"));
            continue;
        }
        note_invisible(reader, &table->indexes[0], row);
        rows[*count] = (struct keyed_row){ .key = key, .node = row, .position = *count };
        (*count)++;
    }
    return true;
}

static bool read_rows(struct model_reader *reader, const struct json_node *node,
                      struct model_table *table)
{
    struct json_node *data = model_reader_array(reader, node, "TableData", JSON_TREE_NODES_MAX);
    struct json_node *facets = model_reader_array(reader, node, "TableFacets", MODEL_ENTITIES_MAX);
    size_t count = 0, room = data == NULL ? 0 : data->count;
    for (struct json_node *at = facets == NULL ? NULL : facets->first; at != NULL; at = at->next) {
        struct json_node *rows = model_reader_array(reader, at, "TableData", JSON_TREE_NODES_MAX);
        room += rows == NULL ? 0 : rows->count;
    }
    if (model_reader_failed(reader))
        return false;
    struct keyed_row *rows = arena_alloc(reader->arena, (room + 1) * sizeof *rows);
    if (!add_rows(reader, table, data, rows, &count))
        return false;
    for (struct json_node *at = facets == NULL ? NULL : facets->first; at != NULL; at = at->next) {
        if (!add_rows(reader, table, json_tree_member(at, "TableData"), rows, &count))
            return false;
    }
    keep_last(reader, table, rows, count);
    return true;
}

/* --- Tables --- */

static bool read_billing(struct model_reader *reader, const struct json_node *node,
                         struct model_table *out)
{
    struct bytes mode = model_reader_text(reader, node, "BillingMode");
    struct json_node *settings = model_reader_object(
        reader, model_reader_object(reader, node, "ProvisionedCapacitySettings"),
        "ProvisionedThroughput");
    enum billing_mode parsed = BILLING_PAY_PER_REQUEST;
    if (mode.data == NULL)
        model_report_add_at(reader->arena, reader->report, node,
                            BYTES("there is no BillingMode: the table is on demand"));
    else if (!billing_mode_parse(mode, &parsed))
        return model_reader_fail(reader, node, "BillingMode is PROVISIONED or PAY_PER_REQUEST");
    out->provisioned = parsed == BILLING_PROVISIONED;
    out->read_units = out->write_units = 5; /* As Workbench's own samples have it. */
    (void)model_reader_integer(reader, settings, "ReadCapacityUnits", &out->read_units);
    (void)model_reader_integer(reader, settings, "WriteCapacityUnits", &out->write_units);
    return !model_reader_failed(reader);
}

/* Each global index has its table's units unless the additions say otherwise. */
static bool read_index_units(struct model_reader *reader, const struct json_node *additions,
                             struct model_table *out)
{
    struct json_node *list =
        model_reader_array(reader, additions, "IndexThroughput", GLOBAL_INDEXES_MAX);
    for (size_t i = 1; i < out->index_count; i++) {
        out->indexes[i].read_units = out->read_units;
        out->indexes[i].write_units = out->write_units;
    }
    for (struct json_node *at = list == NULL ? NULL : list->first; at != NULL; at = at->next) {
        struct bytes name = model_reader_name(reader, at, "IndexName");
        const struct model_index *found =
            model_reader_failed(reader) ? NULL : model_table_index(out, name);
        if (found == NULL || found->local)
            return model_reader_fail(reader, at, "there is no such global index");
        struct model_index *index = &out->indexes[found - out->indexes];
        (void)model_reader_integer(reader, at, "ReadCapacityUnits", &index->read_units);
        (void)model_reader_integer(reader, at, "WriteCapacityUnits", &index->write_units);
    }
    return !model_reader_failed(reader);
}

static bool read_other_indexes(struct model_reader *reader, const struct json_node *additions,
                               struct model_table *out)
{
    struct json_node *list =
        model_reader_array(reader, additions, "OtherIndexes", GLOBAL_INDEXES_MAX);
    if (list == NULL)
        return !model_reader_failed(reader);
    out->other_indexes = arena_alloc(reader->arena, (list->count + 1) * sizeof(struct bytes));
    for (struct json_node *name = list->first; name != NULL; name = name->next) {
        if (name->type != JSON_STRING)
            return model_reader_fail(reader, name, "it is not a text");
        if (model_table_index(out, name->text) != NULL ||
            model_table_has_other_index(out, name->text))
            return model_reader_fail(reader, name, "there are two indexes of the name %.*s",
                                     BYTES_FMT(name->text));
        out->other_indexes[out->other_index_count++] = name->text;
    }
    return true;
}

static bool read_table(struct model_reader *reader, struct json_node *node)
{
    struct model_table *table = &reader->file->tables[reader->file->table_count];
    table->node = node;
    if (node->type != JSON_OBJECT)
        return model_reader_fail(reader, node, "a table is an object");
    struct bytes name = model_reader_name(reader, node, "TableName");
    if (model_reader_failed(reader))
        return false;
    if (model_file_table(reader->file, name) != NULL)
        return model_reader_fail(reader, node, "there are two tables of the name %.*s",
                                 BYTES_FMT(name));
    table->name = name;
    const struct json_node *additions = find_additions(reader, name);
    table->ttl_attribute = model_reader_text(reader, additions, "TimeToLive");
    if (!read_indexes(reader, node, additions, table) || !read_billing(reader, node, table) ||
        !read_index_units(reader, additions, table) ||
        !read_other_indexes(reader, additions, table) || !read_rows(reader, node, table))
        return false;
    reader->file->table_count++;
    return true;
}

bool model_tables_read(struct model_reader *reader, struct json_node *tables)
{
    reader->file->tables =
        arena_alloc_zeroed(reader->arena, (tables->count + 1) * sizeof(struct model_table));
    for (struct json_node *node = tables->first; node != NULL; node = node->next) {
        if (!read_table(reader, node))
            return false;
    }
    return true;
}
