/* index_rules.c -- keys, projections and secondary indexes of CreateTable and UpdateTable.
 *
 * The service checks in this order, and so do we: definitions of the table's key, its form, keys of
 * indexes, whether a definition is left over, then local indexes and global ones, one by one.
 * Texts that could not be observed are listed in doc/differences.md.
 */
#include "api/table/index_rules.h"
#include <assert.h>
#include "api/table/table_shapes.h"
#include "api/table/throughput_rules.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "control/index_life.h"
#include "model/error.h"
#include "model/table_definition.h"

#define STILL_IN_USE "Attempt to change a resource which is still in use: "
#define IN_ALLOCATION                                                                              \
    "Index creation is in resource allocation phase. Retry deletion during backfilling phase or "  \
    "when the index is active. "
#define INVALID_VALUES "One or more parameter values were invalid: "

static const struct key_schema_element_request *key_element(const struct shape_list *schema,
                                                            size_t index)
{
    return ((const struct key_schema_element_request *const *)schema->elements)[index];
}

static const struct index_request *index_at(const struct shape_list *indexes, size_t index)
{
    return ((const struct index_request *const *)indexes->elements)[index];
}

static bool is_hash(const struct key_schema_element_request *element)
{
    return bytes_equal_text(element->key_type, "HASH");
}

/* --- Attribute definitions --- */

/* False for a name that comes twice. Only as many are compared as a table may have: a longer list
 * is refused in any case. */
static bool draft_attributes(struct arena *arena, const struct shape_list *definitions,
                             struct table_definition *draft, struct error *err)
{
    const struct attribute_definition_request *const *requests = definitions->elements;
    draft->attribute_count = 0;
    draft->attributes = arena_alloc(arena, definitions->count * sizeof(*draft->attributes));
    for (size_t i = 0; i < definitions->count; i++) {
        struct bytes name = requests[i]->attribute_name;
        if (i < ATTRIBUTES_MAX && table_definition_attribute(draft, name) != NULL)
            return error_validation(err, "Attribute Name is duplicated: %.*s", BYTES_FMT(name));
        draft->attributes[i].name = name;
        bool known = value_type_parse(requests[i]->attribute_type, &draft->attributes[i].type);
        assert(known); /* The shape's enumeration holds types only. */
        draft->attribute_count++;
    }
    return true;
}

static void append_name(struct buffer *out, size_t index, struct bytes name)
{
    if (index > 0)
        buffer_append_bytes(out, BYTES(", "));
    buffer_append_bytes(out, name);
}

static bool refuse_undefined(struct arena *arena, const struct table_definition *draft,
                             const struct shape_list *schema, struct error *err)
{
    struct buffer message;
    buffer_init(&message, arena);
    buffer_append_bytes(&message,
                        BYTES(INVALID_VALUES "Some index key attributes are not defined in "
                                             "AttributeDefinitions. Keys: ["));
    for (size_t i = 0; i < schema->count; i++)
        append_name(&message, i, key_element(schema, i)->attribute_name);
    buffer_append_bytes(&message, BYTES("], AttributeDefinitions: ["));
    for (size_t i = 0; i < draft->attribute_count; i++)
        append_name(&message, i, draft->attributes[i].name);
    buffer_append_bytes(&message, BYTES("]"));
    return error_set_bytes(err, ERROR_VALIDATION, buffer_bytes(&message));
}

static bool check_defined(struct arena *arena, const struct table_definition *draft,
                          const struct shape_list *schema, struct error *err)
{
    if (draft->attribute_count < schema->count)
        return error_validation(err,
                                "Invalid KeySchema: Some index key attribute have no definition");
    for (size_t i = 0; i < schema->count; i++) {
        struct bytes name = key_element(schema, i)->attribute_name;
        if (table_definition_attribute(draft, name) == NULL)
            return refuse_undefined(arena, draft, schema, err);
    }
    return true;
}

static bool refuse_attribute_count(struct error *err)
{
    return error_validation(err, INVALID_VALUES
                            "Number of attributes in KeySchema does not exactly match number "
                            "of attributes defined in AttributeDefinitions");
}

static bool has_key(const struct shape_list *schema, struct bytes name)
{
    for (size_t i = 0; i < schema->count; i++) {
        if (bytes_equal(key_element(schema, i)->attribute_name, name))
            return true;
    }
    return false;
}

/* Does a key schema of the request refer to it? Of too many indexes the first ones are asked. */
static bool is_key(const struct create_table_request *request, struct bytes name)
{
    const struct shape_list *const lists[] = { &request->local_secondary_indexes,
                                               &request->global_secondary_indexes };
    if (has_key(&request->key_schema, name))
        return true;
    for (size_t list = 0; list < COUNT_OF(lists); list++) {
        for (size_t i = 0; i < lists[list]->count && i <= GLOBAL_INDEXES_MAX; i++) {
            if (has_key(&index_at(lists[list], i)->key_schema, name))
                return true;
        }
    }
    return false;
}

/* False unless a key of the table or of an index refers to each definition. */
static bool check_used(struct arena *arena, const struct create_table_request *request,
                       const struct table_definition *draft, struct error *err)
{
    struct buffer defined, used;
    size_t used_count = 0;
    buffer_init(&defined, arena);
    buffer_init(&used, arena);
    for (size_t i = 0; i < draft->attribute_count; i++) {
        struct bytes name = draft->attributes[i].name;
        append_name(&defined, i, name);
        if (is_key(request, name))
            append_name(&used, used_count++, name);
    }
    if (used_count == draft->attribute_count)
        return true;
    if (!request->local_secondary_indexes.present && !request->global_secondary_indexes.present)
        return refuse_attribute_count(err);
    return error_validation(err,
                            INVALID_VALUES "Some AttributeDefinitions are not used. "
                                           "AttributeDefinitions: [%.*s], keys used: [%.*s]",
                            BYTES_FMT(buffer_bytes(&defined)), BYTES_FMT(buffer_bytes(&used)));
}

/* --- Key schemas --- */

static bool refuse_first_element(struct error *err)
{
    return error_validation(err,
                            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
}

/* Of a table or a local index: one HASH, then perhaps one RANGE. */
static bool check_simple_key(const struct shape_list *schema, struct error *err)
{
    assert(schema->count >= 1 && schema->count <= 2); /* The shape's bounds. */
    if (!is_hash(key_element(schema, 0)))
        return refuse_first_element(err);
    if (schema->count == 1)
        return true;
    if (bytes_equal(key_element(schema, 0)->attribute_name, key_element(schema, 1)->attribute_name))
        return error_validation(err, "Both the Hash Key and the Range Key element in the KeySchema "
                                     "have the same name");
    if (is_hash(key_element(schema, 1)))
        return error_validation(
            err, "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
    return true;
}

static bool check_distinct_keys(const struct shape_list *schema, struct error *err)
{
    for (size_t i = 1; i < schema->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (bytes_equal(key_element(schema, i)->attribute_name,
                            key_element(schema, j)->attribute_name))
                return error_validation(
                    err, "The KeySchema contains multiple key attributes with the same name");
        }
    }
    return true;
}

static size_t count_hash_keys(const struct shape_list *schema)
{
    size_t count = 0;
    for (size_t i = 0; i < schema->count; i++)
        count += is_hash(key_element(schema, i));
    return count;
}

/* Judged first, so that the other rules meet a bounded number. */
static bool check_global_key_count(const struct shape_list *schema, struct error *err)
{
    size_t hash_count = count_hash_keys(schema);
    bool too_many_hash = hash_count > INDEX_HASH_KEYS_MAX;
    if (!too_many_hash && schema->count - hash_count <= INDEX_RANGE_KEYS_MAX)
        return true;
    return error_validation(
        err, INVALID_VALUES "The KeySchema exceeds the maximum allowed number of %s key attributes",
        too_many_hash ? "HASH" : "RANGE");
}

/* Of a global index: one to four HASH, then up to four RANGE. */
static bool check_global_key(const struct shape_list *schema, struct error *err)
{
    size_t hash_count = count_hash_keys(schema);
    if (!is_hash(key_element(schema, 0)))
        return refuse_first_element(err);
    for (size_t i = 0; i < schema->count; i++) {
        if (is_hash(key_element(schema, i)) != (i < hash_count))
            return error_validation(err, INVALID_VALUES
                                    "All HASH key attributes must precede RANGE key attributes in "
                                    "the KeySchema");
    }
    return check_distinct_keys(schema, err);
}

static void draft_table_key(const struct shape_list *schema, struct table_definition *draft)
{
    draft->key.hash = *table_definition_attribute(draft, key_element(schema, 0)->attribute_name);
    draft->key.has_range = schema->count == 2;
    if (draft->key.has_range)
        draft->key.range =
            *table_definition_attribute(draft, key_element(schema, 1)->attribute_name);
}

static void draft_index_key(const struct table_definition *draft, const struct shape_list *schema,
                            struct index_definition *index)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct key_schema_element_request *element = key_element(schema, i);
        const struct key_attribute *attribute =
            table_definition_attribute(draft, element->attribute_name);
        if (is_hash(element))
            index->hash[index->hash_count++] = *attribute;
        else
            index->range[index->range_count++] = *attribute;
    }
}

/* --- Projections --- */

static bool check_distinct_names(const struct bytes *names, size_t count, struct error *err)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (bytes_equal(names[i], names[j]))
                return error_validation(
                    err, INVALID_VALUES "Duplicate element in NonKeyAttributes: %.*s",
                    BYTES_FMT(names[i]));
        }
    }
    return true;
}

static bool draft_projection(const struct projection_request *request,
                             struct index_definition *index, struct error *err)
{
    if (request->projection_type.data == NULL)
        return error_validation(err, INVALID_VALUES "Unknown ProjectionType: null");
    bool known = projection_type_parse(request->projection_type, &index->projection);
    assert(known); /* The shape's enumeration. */
    bool includes = index->projection == PROJECTION_INCLUDE;
    if (includes && !request->non_key_attributes.present)
        return error_validation(err, INVALID_VALUES
                                "ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
    if (!includes && request->non_key_attributes.present)
        return error_validation(
            err, INVALID_VALUES "ProjectionType is %s, but NonKeyAttributes is specified",
            projection_type_name(index->projection));
    index->included = request->non_key_attributes.elements;
    index->included_count = request->non_key_attributes.count;
    return check_distinct_names(index->included, index->included_count, err);
}

static bool check_included_total(const struct table_definition *draft, struct error *err)
{
    size_t total = 0;
    for (size_t i = 0; i < draft->index_count; i++)
        total += draft->indexes[i].included_count;
    if (total > INCLUDED_NAMES_PER_TABLE_MAX)
        return error_validation(
            err, INVALID_VALUES "Number of projected attributes in all indexes exceeds limit of %d",
            INCLUDED_NAMES_PER_TABLE_MAX);
    return true;
}

/* --- Indexes --- */

static bool check_new_name(const struct table_definition *draft, struct bytes name,
                           struct error *err)
{
    if (table_definition_index(draft, name) != NULL)
        return error_validation(err, INVALID_VALUES "Duplicate index name: %.*s", BYTES_FMT(name));
    return true;
}

static bool check_local_key(const struct table_definition *draft,
                            const struct index_request *request, struct error *err)
{
    if (!check_simple_key(&request->key_schema, err))
        return false;
    if (request->key_schema.count < 2)
        return error_validation(
            err, INVALID_VALUES "Index KeySchema does not have a range key for index: %.*s",
            BYTES_FMT(request->index_name));
    struct bytes hash = key_element(&request->key_schema, 0)->attribute_name;
    if (!bytes_equal(hash, draft->key.hash.name))
        return error_validation(
            err,
            INVALID_VALUES "Index KeySchema does not have the same leading hash key as table "
                           "KeySchema for index: %.*s. index hash key: %.*s, table hash key: %.*s",
            BYTES_FMT(request->index_name), BYTES_FMT(hash), BYTES_FMT(draft->key.hash.name));
    return true;
}

static bool check_index_key(struct arena *arena, const struct index_request *request, bool global,
                            const struct table_definition *draft, struct error *err)
{
    if (global && !check_global_key_count(&request->key_schema, err))
        return false;
    if (!check_defined(arena, draft, &request->key_schema, err))
        return false;
    return global ? check_global_key(&request->key_schema, err)
                  : check_local_key(draft, request, err);
}

static bool check_index_keys(struct arena *arena, const struct shape_list *requests, bool global,
                             size_t count_max, const struct table_definition *draft,
                             struct error *err)
{
    for (size_t i = 0; i < requests->count && i < count_max; i++) {
        if (!check_index_key(arena, index_at(requests, i), global, draft, err))
            return false;
    }
    return true;
}

/* Adds one index behind those the draft has; there is room for it. */
static bool draft_index(struct arena *arena, const struct index_request *request, bool global,
                        struct table_definition *draft, struct error *err)
{
    struct index_definition *index = &draft->indexes[draft->index_count];
    *index = (struct index_definition){ .name = request->index_name,
                                        .global = global,
                                        .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
                                        .warm_throughput = { UNITS_UNSET, UNITS_UNSET } };
    if (!check_index_key(arena, request, global, draft, err))
        return false;
    draft_index_key(draft, &request->key_schema, index);
    if (!draft_projection(request->projection, index, err) ||
        !check_new_name(draft, request->index_name, err))
        return false;
    draft->index_count++;
    return true;
}

/* The first `count_max` are drafted whatever the count, so that memory stays bounded and the rules
 * of one index come before the limit of their number. */
static bool draft_indexes(struct arena *arena, const struct shape_list *requests, bool global,
                          size_t count_max, struct table_definition *draft, struct error *err)
{
    for (size_t i = 0; i < requests->count && i < count_max; i++) {
        const struct index_request *request = index_at(requests, i);
        struct index_definition *index = &draft->indexes[draft->index_count];
        if (!draft_index(arena, request, global, draft, err) ||
            (global && !throughput_rules_create_index(request, draft->billing_mode, index, err)))
            return false;
    }
    return true;
}

static bool draft_local_indexes(struct arena *arena, const struct shape_list *requests,
                                struct table_definition *draft, struct error *err)
{
    if (!requests->present)
        return true;
    if (requests->count == 0)
        return error_validation(err, INVALID_VALUES "List of LocalSecondaryIndexes is empty");
    if (!draft->key.has_range)
        return error_validation(err, INVALID_VALUES
                                "Table KeySchema does not have a range key, which is required when "
                                "specifying a LocalSecondaryIndex");
    if (!draft_indexes(arena, requests, false, LOCAL_INDEXES_MAX, draft, err))
        return false;
    if (requests->count > LOCAL_INDEXES_MAX)
        return error_validation(
            err, INVALID_VALUES "Number of LocalSecondaryIndexes exceeds per-table limit of %d",
            LOCAL_INDEXES_MAX);
    return true;
}

static bool refuse_global_count(struct error *err)
{
    return error_validation(
        err, INVALID_VALUES "GlobalSecondaryIndex count exceeds the per-table limit of %d",
        GLOBAL_INDEXES_MAX);
}

static bool draft_global_indexes(struct arena *arena, const struct shape_list *requests,
                                 struct table_definition *draft, struct error *err)
{
    if (!requests->present)
        return true;
    if (requests->count == 0)
        return error_validation(err, INVALID_VALUES "List of GlobalSecondaryIndexes is empty");
    if (!draft_indexes(arena, requests, true, GLOBAL_INDEXES_MAX, draft, err))
        return false;
    return requests->count <= GLOBAL_INDEXES_MAX || refuse_global_count(err);
}

bool index_rules_draft(struct arena *arena, const struct create_table_request *request,
                       struct table_definition *draft, struct error *err)
{
    if (!draft_attributes(arena, &request->attribute_definitions, draft, err) ||
        !check_defined(arena, draft, &request->key_schema, err) ||
        !check_simple_key(&request->key_schema, err))
        return false;
    draft_table_key(&request->key_schema, draft);

    if (draft->attribute_count > ATTRIBUTES_MAX)
        return refuse_attribute_count(err);
    draft->indexes = arena_alloc(arena, INDEXES_MAX * sizeof(*draft->indexes));
    if (!check_index_keys(arena, &request->local_secondary_indexes, false, LOCAL_INDEXES_MAX, draft,
                          err) ||
        !check_index_keys(arena, &request->global_secondary_indexes, true, GLOBAL_INDEXES_MAX,
                          draft, err) ||
        !check_used(arena, request, draft, err))
        return false;
    if (!draft_local_indexes(arena, &request->local_secondary_indexes, draft, err) ||
        !draft_global_indexes(arena, &request->global_secondary_indexes, draft, err) ||
        !check_included_total(draft, err))
        return false;
    return true;
}

/* --- An index that UpdateTable adds --- */

static size_t count_global(const struct table_definition *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->index_count; i++)
        count += table->indexes[i].global;
    return count;
}

/* What an attribute is defined as stays so as long as a key refers to it. */
static bool check_types(const struct table_definition *table, const struct table_definition *draft,
                        struct error *err)
{
    for (size_t i = 0; i < draft->attribute_count; i++) {
        const struct key_attribute *defined =
            table_definition_attribute(table, draft->attributes[i].name);
        if (defined != NULL && defined->type != draft->attributes[i].type)
            return error_validation(err, "invalid attribute, SchemaElement redefined should be of "
                                         "same type as previously defined");
    }
    return true;
}

/* The table's definitions, and those of the request that the new index is the first to refer to. */
static void merge_attributes(struct arena *arena, const struct table_definition *table,
                             struct table_definition *draft)
{
    struct table_definition merged = *draft;
    merged.attributes = arena_alloc(arena, (table->attribute_count + draft->attribute_count) *
                                               sizeof(*merged.attributes));
    merged.attribute_count = table->attribute_count;
    memcpy(merged.attributes, table->attributes,
           table->attribute_count * sizeof(*merged.attributes));
    for (size_t i = 0; i < draft->attribute_count; i++) {
        struct bytes name = draft->attributes[i].name;
        if (table_definition_uses_attribute(draft, name) &&
            table_definition_attribute(&merged, name) == NULL)
            merged.attributes[merged.attribute_count++] = draft->attributes[i];
    }
    *draft = merged;
}

static bool add_index(struct arena *arena, const struct shape_list *definitions,
                      const struct index_request *request, struct table_definition *table,
                      struct error *err)
{
    struct table_definition draft = *table;
    struct index_definition *index = &draft.indexes[draft.index_count];
    if (definitions->count == 0)
        return error_validation(
            err, INVALID_VALUES "AttributeDefinitions is not specified for index: %.*s",
            BYTES_FMT(request->index_name));
    if (!draft_attributes(arena, definitions, &draft, err))
        return false;
    if (draft.attribute_count > ATTRIBUTES_MAX)
        return refuse_attribute_count(err);
    if (!draft_index(arena, request, true, &draft, err) ||
        !throughput_rules_add_index(request, draft.billing_mode, index, err) ||
        !check_types(table, &draft, err))
        return false;
    if (count_global(&draft) > GLOBAL_INDEXES_MAX)
        return error_set(err, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: Number of global secondary indexes exceeds "
                         "per-table limit of %d",
                         GLOBAL_INDEXES_MAX);
    if (!check_included_total(&draft, err))
        return false;
    merge_attributes(arena, table, &draft);
    *table = draft;
    return true;
}

bool index_rules_refuse_missing(const struct table_definition *table, struct bytes name,
                                struct error *err)
{
    return error_set(err, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Index %.*s for table %.*s", BYTES_FMT(name),
                     BYTES_FMT(table->name));
}

/* --- GlobalSecondaryIndexUpdates: what is asked for --- */

enum action_kind { ACTION_UPDATE, ACTION_CREATE, ACTION_DELETE, ACTION_KINDS };

static const struct index_request *action_at(const struct update_table_request *request,
                                             size_t index, enum action_kind kind)
{
    const struct index_update_request *const *updates =
        request->global_secondary_index_updates.elements;
    switch (kind) {
    case ACTION_UPDATE:
        return updates[index]->update;
    case ACTION_CREATE:
        return updates[index]->create;
    default:
        return updates[index]->remove;
    }
}

/* The first action of a kind; NULL if there is none. */
static const struct index_request *find_action(const struct update_table_request *request,
                                               enum action_kind kind)
{
    const struct index_request *found = NULL;
    for (size_t i = 0; i < request->global_secondary_index_updates.count && found == NULL; i++)
        found = action_at(request, i, kind);
    return found;
}

static bool refuse_several(struct error *err)
{
    return error_set(err, ERROR_LIMIT_EXCEEDED,
                     "Subscriber limit exceeded: Only 1 online index can be created or deleted "
                     "simultaneously per table");
}

/* --- GlobalSecondaryIndexUpdates: rules of the request --- */

struct action_names {
    struct bytes names[GLOBAL_INDEXES_MAX];
    size_t count;
    size_t online_count; /* Creations and deletions. */
};

static bool add_name(struct action_names *seen, struct bytes name, struct error *err)
{
    for (size_t i = 0; i < seen->count; i++) {
        if (bytes_equal(seen->names[i], name))
            return error_validation(err,
                                    INVALID_VALUES "Only one global secondary index update per "
                                                   "index is allowed simultaneously. Index: %.*s",
                                    BYTES_FMT(name));
    }
    seen->names[seen->count++] = name;
    return true;
}

static bool check_element(const struct update_table_request *request, size_t index,
                          struct action_names *seen, struct error *err)
{
    const struct index_request *found = NULL;
    for (enum action_kind kind = ACTION_UPDATE; kind < ACTION_KINDS; kind++) {
        const struct index_request *action = action_at(request, index, kind);
        if (action == NULL)
            continue;
        if (found != NULL)
            return error_validation(err, INVALID_VALUES
                                    "Only one global secondary index action is allowed per "
                                    "GlobalSecondaryIndexUpdate object");
        found = action;
        seen->online_count += kind != ACTION_UPDATE;
    }
    if (found == NULL)
        return error_validation(err, INVALID_VALUES
                                "One of GlobalSecondaryIndexUpdate.Update, "
                                "GlobalSecondaryIndexUpdate.Create, "
                                "GlobalSecondaryIndexUpdate.Delete must not be null");
    return add_name(seen, found->index_name, err);
}

bool index_rules_check(const struct update_table_request *request, struct error *err)
{
    struct action_names seen = { .count = 0 };
    size_t count = request->global_secondary_index_updates.count;
    if (request->global_secondary_index_updates.present && count == 0)
        return error_validation(err, INVALID_VALUES "List of GlobalSecondaryIndexUpdates is empty");
    for (size_t i = 0; i < count && i < GLOBAL_INDEXES_MAX; i++) {
        if (!check_element(request, i, &seen, err))
            return false;
    }
    if (count > GLOBAL_INDEXES_MAX)
        return error_validation(
            err, INVALID_VALUES "GlobalSecondaryIndex count exceeds the per-table limit of %d",
            GLOBAL_INDEXES_MAX);
    return seen.online_count <= 1 || refuse_several(err);
}

/* --- GlobalSecondaryIndexUpdates: rules of the table --- */

static bool refuse_busy(const struct table_definition *table, const struct index_definition *index,
                        const char *what, struct error *err)
{
    return error_set(err, ERROR_RESOURCE_IN_USE, STILL_IN_USE "%sTable: %.*s Index: %.*s", what,
                     BYTES_FMT(table->name), BYTES_FMT(index->name));
}

/* Some of these have two spaces. An index may be updated and deleted while it is backfilled. */
static bool check_index_idle(const struct table_definition *table,
                             const struct index_definition *index, enum action_kind action,
                             struct error *err)
{
    static const char *const allocating[ACTION_KINDS] = {
        [ACTION_UPDATE] = "Index is being created but is not backfilling yet.  ",
        [ACTION_CREATE] = "Index is being created.  ",
        [ACTION_DELETE] = IN_ALLOCATION,
    };
    if (index->status == INDEX_DELETING)
        return refuse_busy(table, index, "Index is being deleted.  ", err);
    if (index->status == INDEX_ALLOCATING ||
        (index->status == INDEX_BACKFILLING && action == ACTION_CREATE))
        return refuse_busy(table, index, allocating[action], err);
    return true;
}

/* One index at a time; `index` is the one to be changed, NULL: a new one. */
static bool check_others_active(const struct table_definition *table,
                                const struct index_definition *index, struct error *err)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (&table->indexes[i] != index && table->indexes[i].status != INDEX_ACTIVE)
            return refuse_several(err);
    }
    return true;
}

static bool check_create_state(const struct table_definition *table,
                               const struct index_request *create, struct error *err)
{
    const struct index_definition *same = table_definition_index(table, create->index_name);
    if (same != NULL)
        return check_index_idle(table, same, ACTION_CREATE, err) &&
               error_validation(err, "Attempting to create an index which already exists");
    return check_others_active(table, NULL, err);
}

static bool check_delete_state(const struct table_definition *table,
                               const struct index_request *removed, struct error *err)
{
    const struct index_definition *index = table_definition_index(table, removed->index_name);
    if (index == NULL)
        return index_rules_refuse_missing(table, removed->index_name, err);
    if (!index->global)
        return error_validation(err,
                                "Cannot delete an index that is not a GlobalSecondaryIndex: %.*s",
                                BYTES_FMT(removed->index_name));
    return check_index_idle(table, index, ACTION_DELETE, err) &&
           check_others_active(table, index, err);
}

bool index_rules_check_state(const struct update_table_request *request,
                             const struct table_definition *table, struct error *err)
{
    const struct index_request *create = find_action(request, ACTION_CREATE);
    const struct index_request *removed = find_action(request, ACTION_DELETE);
    for (size_t i = 0; i < request->global_secondary_index_updates.count; i++) {
        const struct index_request *update = action_at(request, i, ACTION_UPDATE);
        const struct index_definition *index =
            update == NULL ? NULL : table_definition_index(table, update->index_name);
        if (index != NULL && !check_index_idle(table, index, ACTION_UPDATE, err))
            return false;
    }
    return (create == NULL || check_create_state(table, create, err)) &&
           (removed == NULL || check_delete_state(table, removed, err));
}

/* --- GlobalSecondaryIndexUpdates: changes --- */

void index_rules_delete(const struct update_table_request *request, struct table_definition *table)
{
    const struct index_request *removed = find_action(request, ACTION_DELETE);
    for (size_t i = 0; removed != NULL && i < table->index_count; i++) {
        struct index_definition *index = &table->indexes[i];
        if (!bytes_equal(index->name, removed->index_name))
            continue;
        index_life_move(index, INDEX_DELETING);
    }
}

bool index_rules_create(struct arena *arena, const struct update_table_request *request,
                        int64_t now_ms, struct table_definition *table, struct error *err)
{
    const struct index_request *create = find_action(request, ACTION_CREATE);
    if (create == NULL)
        return true;
    if (!add_index(arena, &request->attribute_definitions, create, table, err))
        return false;
    table->indexes[table->index_count - 1].status = INDEX_ALLOCATING;
    table->indexes[table->index_count - 1].created_ms = now_ms;
    return true;
}
