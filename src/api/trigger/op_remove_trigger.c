/* op_remove_trigger.c -- RemoveTrigger: no call of the function begins after the answer.
 *
 * Asks about the table of the trigger. A trigger that the caller may not remove is answered like
 * one that does not exist: as not found, or, to a caller that may not remove triggers in general,
 * as denied. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "table/storage_error.h"
#include "trigger/trigger_definition.h"
#include "trigger/triggers.h"

struct remove_trigger_request {
    struct bytes uuid;
};

static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct remove_trigger_request, uuid, "UUID", &common_string), .required = true },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct remove_trigger_request, fields), .type_name = "RemoveTriggerInput"
};

static const struct trigger_definition *find(const struct triggers *triggers, struct bytes uuid)
{
    for (size_t i = 0; i < triggers_count(triggers); i++)
        if (bytes_equal(triggers_at(triggers, i)->uuid, uuid))
            return triggers_at(triggers, i);
    return NULL;
}

/* Whether there is such a trigger for this caller. */
static bool may_remove(struct api_call *call, const struct trigger_definition *trigger)
{
    if (trigger == NULL || !operation_sees_table(call, trigger->table_name))
        return false;
    call->asked = true;
    call->resource = operation_table_arn(call, trigger->table_name);
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct remove_trigger_request *request = input;
    struct triggers *triggers = api_triggers(call->api);
    enum engine_status status = ENGINE_NOT_FOUND;
    if (may_remove(call, find(triggers, request->uuid)))
        status = triggers_remove(triggers, call->arena, request->uuid);
    else if (!operation_may_use_account(call)) {
        operation_fail(call);
        return;
    }
    if (status == ENGINE_OK) {
        struct json_writer json;
        json_writer_init(&json, &call->response);
        json_open_object(&json);
        json_close_object(&json);
        operation_succeed(call);
        return;
    }
    if (status == ENGINE_NOT_FOUND)
        error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                  "Requested resource not found: Trigger: %.*s not found",
                  BYTES_FMT(request->uuid));
    else
        storage_error_set_for_table(&call->error, status, "RemoveTrigger");
    operation_fail(call);
}

const struct operation op_remove_trigger = { .name = "RemoveTrigger",
                                             .service = OPERATION_OF_STATOR,
                                             .kind = OPERATION_CONTROL,
                                             .request = &request_shape,
                                             .asks = OPERATION_ASKS_ITSELF,
                                             .run = run };
