/* op_update_table.c -- UpdateTable. */
#include "api/table/index_update_rules.h"
#include "api/operation.h"
#include "api/table/setting_rules.h"
#include "api/stream/stream_operation.h"
#include "api/table/table_operation.h"
#include "api/table/table_shapes.h"
#include "api/table/throughput_rules.h"
#include "base/clock.h"
#include "control/control.h"
#include "control/table_life.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

static bool change(struct api_call *call, const struct update_table_request *request,
                   struct table_definition *changed)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    if (!table_operation_check_idle(call, changed) ||
        !index_update_rules_check_state(request, changed, &call->error))
        return false;
    index_update_rules_delete(request, changed);
    if (!throughput_rules_update(request, now_ms, changed, &call->error) ||
        !index_update_rules_create(call->arena, request, changed, &call->error) ||
        !setting_rules_update(request, now_ms, changed, &call->error))
        return false;
    struct table_life_pace pace = table_operation_pace(call);
    table_life_begin(changed, TABLE_UPDATING, &pace);
    return true;
}

/* A stream ends before the table's definition loses it, and begins after the definition has it. */
static enum engine_status store(struct api_call *call, struct table_definition *changed)
{
    enum engine_status status = ENGINE_OK;
    if (!changed->stream_enabled)
        status = control_close_stream(api_control(call->api), call->arena, changed->log_id);
    if (status == ENGINE_OK)
        status = catalogue_update(api_catalogue(call->api), call->arena, changed);
    return status;
}

static bool update(struct api_call *call, const struct update_table_request *request,
                   const struct table *table, struct table_definition *out)
{
    struct throughput before = table_definition(table)->throughput;
    struct table_definition changed = table_definition_copy(call->arena, table_definition(table));
    if (!change(call, request, &changed))
        return false;
    if (changed.stream_enabled && !table_definition(table)->stream_enabled)
        stream_operation_label(call, &changed);
    struct table_answer answer = { .member = "TableDescription",
                                   .definition = &changed,
                                   .status = TABLE_UPDATING,
                                   .provisioned = changed.throughput,
                                   .stats = table };
    /* Observed: the answer has the times of the change already, but still the old units. */
    answer.provisioned.read_units = before.read_units;
    answer.provisioned.write_units = before.write_units;
    if (!table_operation_answer(call, &answer))
        return false;
    enum engine_status status = store(call, &changed);
    *out = changed;
    return status == ENGINE_OK || storage_error_set_for_table(&call->error, status, "UpdateTable");
}

static void run(struct api_call *call, const void *input)
{
    const struct update_table_request *request = input;
    struct table *table = NULL;
    struct table_definition changed;
    bool ok = setting_rules_check_update(request, &call->error) &&
              index_update_rules_check(request, &call->error) &&
              throughput_rules_check_update(request, &call->error) &&
              (table = table_operation_find(call, request->table_name)) != NULL &&
              update(call, request, table, &changed);
    table_release(table);
    if (ok)
        control_settle_streams(api_control(call->api), call->arena, &changed);
    operation_end(call, ok);
}

const struct operation op_update_table = { .name = "UpdateTable",
                                           .kind = OPERATION_CONTROL,
                                           .request = &update_table_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run };
