/* update_overlap.c -- see update_overlap.h. */
#include "api/table/update_overlap.h"
#include <assert.h>
#include "api/table/setting_rules.h"
#include "api/table/table_shapes.h"
#include "base/bytes.h"
#include "model/error.h"
#include "model/table_definition.h"

#define STILL_IN_USE "Attempt to change a resource which is still in use: "

/* The index that makes its table UPDATING; NULL: another change does. Never more than one. */
static const struct index_definition *moving_index(const struct table_definition *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        enum index_status status = table->indexes[i].status;
        if (status == INDEX_ALLOCATING || status == INDEX_DELETING)
            return &table->indexes[i];
    }
    return NULL;
}

/* These are accepted whatever is under way. */
static bool is_independent(const struct update_table_request *request)
{
    bool independent = request->deletion_protection_enabled.present ||
                       request->sse_specification != NULL || request->warm_throughput != NULL;
    return independent && request->billing_mode.data == NULL &&
           request->provisioned_throughput == NULL && request->on_demand_throughput == NULL &&
           request->table_class.data == NULL && request->stream_specification == NULL &&
           request->global_secondary_index_updates.count == 0;
}

/* The same mode again changes nothing. */
static bool changes_units(const struct update_table_request *request,
                          const struct table_definition *table)
{
    return request->provisioned_throughput != NULL ||
           (request->billing_mode.data != NULL &&
            !bytes_equal_text(request->billing_mode, billing_mode_name(table->billing_mode)));
}

static bool refuse_beside(const char *change, const struct index_definition *index,
                          const struct table_definition *table, struct error *err)
{
    return error_set(err, ERROR_RESOURCE_IN_USE,
                     STILL_IN_USE "Can't change %s when an index is being %s. Table: %.*s "
                                  "Indexes: [%.*s]",
                     change, index->status == INDEX_DELETING ? "deleted" : "created",
                     BYTES_FMT(table->name), BYTES_FMT(index->name));
}

static bool refuse(const struct table_definition *table, struct error *err)
{
    return error_set(err, ERROR_RESOURCE_IN_USE, STILL_IN_USE "Table is being updated: %.*s",
                     BYTES_FMT(table->name));
}

static bool check_beside(const struct update_table_request *request,
                         const struct index_definition *index, const struct table_definition *table,
                         struct error *err)
{
    if (changes_units(request, table))
        return refuse_beside("table IOPS", index, table, err);
    if (request->stream_specification != NULL)
        return refuse_beside("stream status", index, table, err);
    /* A provisioned table has none: the rules of throughput say so. */
    if (request->on_demand_throughput != NULL && table->billing_mode == BILLING_PAY_PER_REQUEST)
        return error_set(err, ERROR_RESOURCE_IN_USE,
                         STILL_IN_USE "OnDemandThroughput cannot be updated while index %s is in "
                                      "progress for indexes: [%.*s]",
                         index->status == INDEX_DELETING ? "deletion" : "creation",
                         BYTES_FMT(index->name));
    return !setting_rules_changes_class(request, table) || refuse(table, err);
}

bool update_overlap_check(const struct update_table_request *request,
                          const struct table_definition *table, struct error *err)
{
    assert(table->status == TABLE_UPDATING);
    const struct index_definition *index = moving_index(table);
    if (is_independent(request))
        return true;
    return index == NULL ? refuse(table, err) : check_beside(request, index, table, err);
}
