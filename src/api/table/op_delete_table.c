/* op_delete_table.c -- DeleteTable.
 *
 * The answer shows DELETING. Where transitions take time that status is stored and the control
 * thread drops the table when it ends; else the table is dropped here.
 */
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "control/control.h"
#include "control/table_life.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

static bool check(struct api_call *call, const struct table_definition *definition)
{
    if (!table_operation_check_idle(call, definition))
        return false;
    for (size_t i = 0; i < definition->index_count; i++) {
        if (definition->indexes[i].status != INDEX_ACTIVE)
            return error_set(&call->error, ERROR_RESOURCE_IN_USE,
                             "Attempt to change a resource which is still in use: Cannot delete "
                             "table while indexes are being created, updated, or deleted.");
    }
    if (definition->deletion_protected)
        return error_validation(&call->error,
                                "Resource cannot be deleted as it is currently protected against "
                                "deletion. Disable deletion protection first.");
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok = table != NULL && check(call, table_definition(table));
    if (ok) {
        struct table_answer answer = { .member = "TableDescription",
                                       .definition = table_definition(table),
                                       .status = TABLE_DELETING,
                                       .provisioned = table_definition(table)->throughput,
                                       .stats = table };
        ok = table_operation_answer(call, &answer);
    }
    if (ok) {
        struct table_life_pace pace = table_operation_pace(call);
        enum engine_status status = table_life_delete(api_catalogue(call->api), call->arena,
                                                      table_definition(table), &pace);
        ok =
            status == ENGINE_OK || storage_error_set_for_table(&call->error, status, "DeleteTable");
    }
    table_release(table);
    if (ok)
        control_settle_streams(api_control(call->api), call->arena, NULL);
    operation_end(call, ok);
}

const struct operation op_delete_table = { .name = "DeleteTable",
                                           .kind = OPERATION_CONTROL,
                                           .request = &table_name_request_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run };
