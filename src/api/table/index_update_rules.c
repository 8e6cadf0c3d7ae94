/* index_update_rules.c -- see index_update_rules.h. */
#include "api/table/index_update_rules.h"
#include <assert.h>
#include "api/table/index_rules.h"
#include "control/index_life.h"
#include "api/table/table_shapes.h"
#include "model/error.h"
#include "model/table_definition.h"

#define INVALID_VALUES "One or more parameter values were invalid: "
#define STILL_IN_USE "Attempt to change a resource which is still in use: "

/* --- What is asked for --- */

/* An element of the list names one action, but may name up to three. */
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

/* --- Rules of the request --- */

struct action_names {
    struct bytes names[GLOBAL_INDEXES_MAX * ACTION_KINDS];
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
    size_t count_before = seen->count;
    for (enum action_kind kind = ACTION_UPDATE; kind < ACTION_KINDS; kind++) {
        const struct index_request *action = action_at(request, index, kind);
        if (action == NULL)
            continue;
        if (!add_name(seen, action->index_name, err))
            return false;
        seen->online_count += kind != ACTION_UPDATE;
    }
    if (seen->count == count_before)
        return error_validation(err, INVALID_VALUES
                                "One of GlobalSecondaryIndexUpdate.Update, "
                                "GlobalSecondaryIndexUpdate.Create, "
                                "GlobalSecondaryIndexUpdate.Delete must not be null");
    return true;
}

bool index_update_rules_check(const struct update_table_request *request, struct error *err)
{
    struct action_names seen = { .count = 0 };
    size_t count = request->global_secondary_index_updates.count;
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

/* --- Rules of the table --- */

/* An index may be changed while it is ACTIVE, and while it is backfilled. */
static bool check_index_idle(const struct table_definition *table,
                             const struct index_definition *index, struct error *err)
{
    if (index->status == INDEX_ACTIVE || index->status == INDEX_BACKFILLING)
        return true;
    return error_set(err, ERROR_RESOURCE_IN_USE,
                     STILL_IN_USE "Index is being %s.  Table: %.*s Index: %.*s",
                     index->status == INDEX_DELETING ? "deleted" : "created",
                     BYTES_FMT(table->name), BYTES_FMT(index->name));
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
        return check_index_idle(table, same, err) &&
               error_validation(err, "Attempting to create an index which already exists");
    return check_others_active(table, NULL, err);
}

static bool check_delete_state(const struct table_definition *table,
                               const struct index_request *removed, struct error *err)
{
    const struct index_definition *index = table_definition_index(table, removed->index_name);
    if (index == NULL || !index->global)
        return index_rules_refuse_missing(table, removed->index_name, err);
    return check_index_idle(table, index, err) && check_others_active(table, index, err);
}

bool index_update_rules_check_state(const struct update_table_request *request,
                                    const struct table_definition *table, struct error *err)
{
    const struct index_request *create = find_action(request, ACTION_CREATE);
    const struct index_request *removed = find_action(request, ACTION_DELETE);
    for (size_t i = 0; i < request->global_secondary_index_updates.count; i++) {
        const struct index_request *update = action_at(request, i, ACTION_UPDATE);
        const struct index_definition *index =
            update == NULL ? NULL : table_definition_index(table, update->index_name);
        if (index != NULL && !check_index_idle(table, index, err))
            return false;
    }
    return (create == NULL || check_create_state(table, create, err)) &&
           (removed == NULL || check_delete_state(table, removed, err));
}

/* --- Changes --- */

void index_update_rules_delete(const struct update_table_request *request,
                               struct table_definition *table)
{
    const struct index_request *removed = find_action(request, ACTION_DELETE);
    for (size_t i = 0; removed != NULL && i < table->index_count; i++) {
        struct index_definition *index = &table->indexes[i];
        if (!bytes_equal(index->name, removed->index_name))
            continue;
        index_life_move(index, INDEX_DELETING);
    }
}

bool index_update_rules_create(struct arena *arena, const struct update_table_request *request,
                               struct table_definition *table, struct error *err)
{
    const struct index_request *create = find_action(request, ACTION_CREATE);
    if (create == NULL)
        return true;
    if (!index_rules_add(arena, &request->attribute_definitions, create, table, err))
        return false;
    table->indexes[table->index_count - 1].status = INDEX_ALLOCATING;
    return true;
}
