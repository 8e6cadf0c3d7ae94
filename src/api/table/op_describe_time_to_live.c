/* op_describe_time_to_live.c -- DescribeTimeToLive. */
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "json/writer.h"
#include "table/catalogue.h"

static void answer(struct api_call *call, const struct expiry_definition *expiry)
{
    static const char *const statuses[EXPIRY_STATUS_COUNT] = {
        [EXPIRY_NONE] = "DISABLED",      [EXPIRY_ALLOCATING] = "ENABLING",
        [EXPIRY_FILLING] = "ENABLING",   [EXPIRY_ACTIVE] = "ENABLED",
        [EXPIRY_REMOVING] = "DISABLING",
    };
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "TimeToLiveDescription");
    json_open_object(&writer);
    json_write_name(&writer, "TimeToLiveStatus");
    json_write_text(&writer, statuses[expiry->status]);
    if (expiry->status != EXPIRY_NONE) {
        json_write_name(&writer, "AttributeName");
        json_write_string(&writer, expiry->attribute);
    }
    json_close_object(&writer);
    json_close_object(&writer);
}

static void run(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok = table != NULL;
    if (ok)
        answer(call, &table_definition(table)->expiry);
    table_release(table);
    operation_end(call, ok);
}

const struct operation op_describe_time_to_live = { .name = "DescribeTimeToLive",
                                                    .kind = OPERATION_DATA,
                                                    .request = &table_name_request_shape,
                                                    .asks = OPERATION_ASKS_RESOURCE,
                                                    .run = run };
