/* read_source.c -- see read_source.h. */
#include "read/read_source.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "expr/ast.h"
#include "expr/path.h"
#include "model/error.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "table/item_address.h"

/* --- The source --- */

static void use_table_key(const struct key_schema *key, struct read_source *source)
{
    assert(source->key_count == 0);
    source->key_names[source->key_count++] = key->hash.name;
    if (key->has_range)
        source->key_names[source->key_count++] = key->range.name;
    source->own_key_count = source->key_count;
}

/* Assembled from parts, because a name that a client sent may hold NUL. */
static bool refuse(struct arena *arena, struct error *err, struct bytes before, struct bytes names,
                   struct bytes behind)
{
    struct buffer message;
    buffer_init(&message, arena);
    buffer_append_bytes(&message, before);
    buffer_append_bytes(&message, names);
    buffer_append_bytes(&message, behind);
    return error_set_bytes(err, ERROR_VALIDATION, buffer_bytes(&message));
}

bool read_source_find(struct arena *arena, const struct table_definition *table,
                      const struct read_source_name *name, struct read_source *out,
                      struct error *err)
{
    assert(table != NULL);
    *out = (struct read_source){ .table = table };
    if (name->index_name.data == NULL) {
        use_table_key(&table->key, out);
        return true;
    }
    out->index = table_definition_index(table, name->index_name);
    if (out->index == NULL || out->index->status == INDEX_DELETING)
        return name->is_statement
                   ? error_validation(err, "The table does not have the specified index")
                   : refuse(arena, err, BYTES("The table does not have the specified index: "),
                            name->index_name, BYTES(""));
    if (out->index->status != INDEX_ACTIVE)
        return refuse(arena, err, BYTES("Cannot read from backfilling global secondary index: "),
                      name->index_name, BYTES(""));
    if (out->index->global && name->consistent)
        return error_validation(
            err, "%s",
            name->is_statement
                ? "Strongly consistent read is not supported on Global Secondary Indexes"
                : "Consistent reads are not supported on global secondary indexes");
    out->key_count = index_entry_key_names(table, out->index, out->key_names);
    out->own_key_count = out->index->hash_count + out->index->range_count;
    assert(out->own_key_count > 0 && out->own_key_count <= out->key_count);
    return true;
}

/* --- Where a page resumes --- */

static bool refuse_start(struct error *err, const struct error *reason)
{
    return error_validation(err, "The provided starting key is invalid: %.*s",
                            BYTES_FMT(reason->message));
}

static bool has_keys(const struct key_attribute *attributes, size_t count, const struct item *key)
{
    for (size_t i = 0; i < count; i++) {
        struct value value;
        if (!item_find(key, attributes[i].name, &value) || value.type != attributes[i].type)
            return false;
    }
    return true;
}

/* Only the attributes of the table's key. */
static struct item table_key_of(struct arena *arena, const struct key_schema *schema,
                                const struct item *key)
{
    struct item_builder builder;
    struct value value;
    item_builder_init(&builder, arena);
    if (item_find(key, schema->hash.name, &value))
        item_builder_add(&builder, schema->hash.name, value.encoded);
    if (schema->has_range && item_find(key, schema->range.name, &value))
        item_builder_add(&builder, schema->range.name, value.encoded);
    return item_builder_finish(&builder);
}

/* Observed: a wrong attribute of the index's key is reported as for a Key, a wrong one of the
 * table's key as for a starting key. */
static bool locate_entry(struct arena *arena, const struct read_source *source,
                         const struct item *key, struct item_address *out, struct error *err)
{
    const struct table_definition *table = source->table;
    const struct index_definition *index = source->index;
    struct error reason;
    error_init(&reason, arena);
    if (key->count != source->key_count)
        return error_validation(err, "The provided starting key is invalid");
    if (!has_keys(index->hash, index->hash_count, key) ||
        !has_keys(index->range, index->range_count, key))
        return error_validation(err, "The provided key element does not match the schema");
    struct item table_key = table_key_of(arena, &table->key, key);
    struct item_address table_place;
    if (!item_address_of_key(arena, table, &table_key, &table_place, &reason) ||
        !index_entry_check_put(table, key, &reason))
        return refuse_start(err, &reason);
    return index_entry_locate(arena, table, index, key, out) ||
           error_validation(err, "The provided starting key is invalid");
}

bool read_source_locate(struct arena *arena, const struct read_source *source,
                        const struct item *key, struct item_address *out, struct error *err)
{
    assert(source->key_count > 0);
    struct error reason;
    if (source->index != NULL)
        return locate_entry(arena, source, key, out, err);
    error_init(&reason, arena);
    return item_address_of_key(arena, source->table, key, out, &reason) ||
           refuse_start(err, &reason);
}

/* --- Attributes that an index does not have --- */

struct missing {
    const struct read_source *source;
    struct buffer names; /* "a, b" */
};

static void note_if_missing(struct missing *missing, struct bytes name)
{
    assert(missing->source->index != NULL); /* A table has all attributes. */
    const struct read_source *source = missing->source;
    if (index_entry_projects(source->table, source->index, name))
        return;
    if (missing->names.len > 0)
        buffer_append(&missing->names, ", ", 2);
    buffer_append_bytes(&missing->names, name);
}

/* Recursion is bounded by the nesting that the parser allows. */
static void note_missing_of_filter(struct missing *missing, const struct condition *condition)
{
    if (condition->left != NULL)
        note_missing_of_filter(missing, condition->left);
    if (condition->right != NULL)
        note_missing_of_filter(missing, condition->right);
    for (size_t i = 0; i < condition->operand_count; i++) {
        if (condition->operands[i].type != OPERAND_VALUE)
            note_if_missing(missing, condition->operands[i].path.steps[0].name);
    }
}

static struct bytes missing_of_filter(struct arena *arena, const struct read_source *source,
                                      const struct condition *filter)
{
    struct missing missing = { .source = source };
    buffer_init(&missing.names, arena);
    if (source->index != NULL && filter != NULL)
        note_missing_of_filter(&missing, filter);
    return buffer_bytes(&missing.names);
}

bool read_source_check_filter(struct arena *arena, const struct read_source *source,
                              const struct condition *filter, struct error *err)
{
    struct bytes names = missing_of_filter(arena, source, filter);
    if (names.len == 0)
        return true;
    struct bytes before =
        arena_printf(arena,
                     "One or more parameter values were invalid: Secondary index %.*s does not "
                     "project one or more filter attributes: [",
                     BYTES_FMT(source->index->name));
    return refuse(arena, err, before, names, BYTES("]"));
}

void read_source_fetch_for_filter(struct arena *arena, struct read_source *source,
                                  const struct condition *filter)
{
    source->filters_fetched = source->index != NULL && !source->index->global &&
                              missing_of_filter(arena, source, filter).len > 0;
}

static bool check_projection(struct arena *arena, struct read_source *source,
                             const struct path_node *projection, struct error *err)
{
    struct missing missing = { .source = source };
    buffer_init(&missing.names, arena);
    for (size_t i = 0; i < projection->child_count; i++)
        note_if_missing(&missing, path_node_child_name(projection, i));
    if (missing.names.len == 0)
        return true;
    source->fetches = !source->index->global;
    if (source->fetches)
        return true;
    struct bytes before = arena_printf(arena,
                                       "One or more parameter values were invalid: Global "
                                       "secondary index %.*s does not project [",
                                       BYTES_FMT(source->index->name));
    return refuse(arena, err, before, buffer_bytes(&missing.names), BYTES("]"));
}

bool read_source_check_attributes(struct arena *arena, struct read_source *source,
                                  bool all_attributes, const struct path_node *projection,
                                  struct error *err)
{
    const struct index_definition *index = source->index;
    if (index == NULL || index->projection == PROJECTION_ALL)
        return true;
    if (all_attributes && index->global)
        return error_validation(err,
                                "One or more parameter values were invalid: Select type "
                                "ALL_ATTRIBUTES is not supported for global secondary index %.*s "
                                "because its projection type is not ALL",
                                BYTES_FMT(index->name));
    source->fetches = all_attributes;
    return projection == NULL || check_projection(arena, source, projection, err);
}
