/* op_kinesis_destination.c -- DescribeKinesisStreamingDestination: a table never
 * has a destination, as none can be added. */
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "json/writer.h"
#include "table/catalogue.h"

static void answer(struct api_call *call, const struct table_definition *definition)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "TableName");
    json_write_string(&writer, definition->name);
    json_write_name(&writer, "KinesisDataStreamDestinations");
    json_open_array(&writer);
    json_close_array(&writer);
    json_close_object(&writer);
}

static void run(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok = table != NULL;
    if (ok)
        answer(call, table_definition(table));
    operation_end(call, ok);
}

const struct operation op_describe_kinesis_streaming_destination = {
    .name = "DescribeKinesisStreamingDestination",
    .kind = OPERATION_DATA,
    .request = &table_name_request_shape,
    .asks = OPERATION_ASKS_RESOURCE,
    .run = run,
};
