/* op_remove_trigger.c -- RemoveTrigger: the function is called no more, from the answer on. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "table/storage_error.h"
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

static void run(struct api_call *call, const void *input)
{
    const struct remove_trigger_request *request = input;
    enum engine_status status =
        triggers_remove(api_triggers(call->api), call->arena, request->uuid);
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
                                             .asks = OPERATION_ASKS_ACCOUNT,
                                             .run = run };
