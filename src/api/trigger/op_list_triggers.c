/* op_list_triggers.c -- ListTriggers. All on one page: there are at most TRIGGERS_MAX.
 *
 * Shows the triggers of the tables on which the caller may list them. A caller that sees none, and
 * may not list triggers in general, is refused. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/trigger/trigger_description.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "trigger/trigger_definition.h"
#include "trigger/triggers.h"

struct list_triggers_request {
    struct bytes table_name;
};

static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct list_triggers_request, table_name, "TableName",
                  &common_existing_table_name) },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct list_triggers_request, fields), .type_name = "ListTriggersInput"
};

static void write_trigger(struct api_call *call, struct json_writer *json, size_t index)
{
    struct triggers *triggers = api_triggers(call->api);
    struct trigger_runner_report report = triggers_report(triggers, index, call->arena);
    struct trigger_state state = { .name = report.ended ? "Ended" : "Enabled",
                                   .result = report.result };
    trigger_description_write(call, json, triggers_at(triggers, index), &state);
}

static bool list(struct api_call *call, struct bytes table_name)
{
    struct triggers *triggers = api_triggers(call->api);
    struct json_writer json;
    size_t shown = 0;
    if (table_name.data != NULL && !operation_may_use(call, table_name))
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Triggers");
    json_open_array(&json);
    for (size_t i = 0; i < triggers_count(triggers); i++) {
        const struct trigger_definition *trigger = triggers_at(triggers, i);
        bool asked_for = table_name.data == NULL ||
                         bytes_equal(trigger->table_name, operation_table_name(table_name));
        if (asked_for && operation_sees_table(call, trigger->table_name)) {
            write_trigger(call, &json, i);
            shown++;
        }
    }
    json_close_array(&json);
    json_close_object(&json);
    if (shown > 0 || table_name.data != NULL) {
        operation_asks_nothing(call); /* Each that is shown was asked about. */
        return true;
    }
    return operation_may_use_account(call);
}

static void run(struct api_call *call, const void *input)
{
    const struct list_triggers_request *request = input;
    operation_end(call, list(call, request->table_name));
}

const struct operation op_list_triggers = { .name = "ListTriggers",
                                            .service = OPERATION_OF_STATOR,
                                            .kind = OPERATION_CONTROL,
                                            .request = &request_shape,
                                            .asks = OPERATION_ASKS_ITSELF,
                                            .only_lists = true,
                                            .run = run };
