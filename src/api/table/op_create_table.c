/* op_create_table.c -- CreateTable. */
#include "api/table/index_rules.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/table/setting_rules.h"
#include "api/stream/stream_operation.h"
#include "api/table/table_operation.h"
#include "api/table/table_shapes.h"
#include "api/table/throughput_rules.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "control/control.h"
#include "control/table_life.h"
#include "model/limits.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

static bool make_draft(struct api_call *call, const struct create_table_request *request,
                       struct table_definition *draft)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    *draft = (struct table_definition){ .name = operation_table_name(request->table_name),
                                        .created_ms = now_ms };
    if (!throughput_rules_create(request, now_ms, draft, &call->error) ||
        !index_rules_draft(call->arena, request, draft, &call->error) ||
        !setting_rules_create(call->arena, request, draft, &call->error))
        return false;
    draft->uuid = uuid_create(call->arena);
    if (draft->stream_enabled)
        stream_operation_label(call, draft);
    struct table_life_pace pace = table_operation_pace(call);
    table_life_begin(draft, TABLE_CREATING, &pace);
    return true;
}

static bool check_free(struct api_call *call, struct bytes name)
{
    struct catalogue *catalogue = api_catalogue(call->api);
    struct table *table = catalogue_find(catalogue, name);
    table_release(table);
    if (table != NULL)
        return error_set(&call->error, ERROR_RESOURCE_IN_USE, "Table already exists: %.*s",
                         BYTES_FMT(name));
    if (catalogue_table_count(catalogue) >= TABLES_MAX)
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: There is a limit of %d tables per subscriber",
                         TABLES_MAX);
    return true;
}

static bool create(struct api_call *call, struct table_definition *draft)
{
    enum engine_status status = catalogue_create(api_catalogue(call->api), call->arena, draft);
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "CreateTable");
    control_settle_streams(api_control(call->api), call->arena, draft);
    struct table_answer answer = { .member = "TableDescription",
                                   .definition = draft,
                                   .status = TABLE_CREATING,
                                   .provisioned = draft->throughput };
    return table_operation_answer(call, &answer);
}

/* What the request does beside creating a table needs a permission of its own, which the new
 * table's own policy and tags cannot give. */
static bool authorize_rest(struct api_call *call, const struct table_definition *draft)
{
    const struct bytes no_index = { 0 };
    if (call->caller == NULL)
        return true;
    struct access_question tag =
        operation_question(call, "TagResource", draft->name, no_index, NULL);
    struct access_question put_policy =
        operation_question(call, "PutResourcePolicy", draft->name, no_index, NULL);
    return (draft->tag_count == 0 || operation_may(call, &tag)) &&
           (draft->resource_policy.text.data == NULL || operation_may(call, &put_policy));
}

static void run(struct api_call *call, const void *input)
{
    const struct create_table_request *request = input;
    struct table_definition draft;
    operation_end(call, make_draft(call, request, &draft) && authorize_rest(call, &draft) &&
                            check_free(call, draft.name) && create(call, &draft));
}

const struct operation op_create_table = { .name = "CreateTable",
                                           .kind = OPERATION_CONTROL,
                                           .request = &create_table_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run };
