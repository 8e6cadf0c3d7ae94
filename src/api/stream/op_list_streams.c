/* op_list_streams.c -- ListStreams. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/stream/stream_operation.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/limits.h"
#include "stream/stream_names.h"
#include "stream/streams.h"

struct list_streams_request {
    struct bytes table_name;
    struct shape_integer limit;
    struct bytes exclusive_start_stream_arn;
};

static const struct shape limit_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = SHAPE_NO_MAX };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct list_streams_request, table_name, "TableName", &common_resource_name) },
    { SHAPE_FIELD(struct list_streams_request, limit, "Limit", &limit_shape) },
    { SHAPE_FIELD(struct list_streams_request, exclusive_start_stream_arn,
                  "ExclusiveStartStreamArn", &stream_operation_arn_shape) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct list_streams_request, fields),
                                            .type_name = "ListStreamsInput" };

static void answer(struct api_call *call, const struct stream_name *names, size_t count, bool more)
{
    struct json_writer writer;
    struct bytes arn = { 0 };
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Streams");
    json_open_array(&writer);
    for (size_t i = 0; i < count; i++) {
        arn = stream_operation_arn(call, names[i].table_name, names[i].label);
        json_open_object(&writer);
        json_write_name(&writer, "StreamArn");
        json_write_string(&writer, arn);
        json_write_name(&writer, "TableName");
        json_write_string(&writer, names[i].table_name);
        json_write_name(&writer, "StreamLabel");
        json_write_string(&writer, names[i].label);
        json_close_object(&writer);
    }
    json_close_array(&writer);
    if (more) {
        json_write_name(&writer, "LastEvaluatedStreamArn");
        json_write_string(&writer, arn);
    }
    json_close_object(&writer);
}

static bool list(struct api_call *call, const struct list_streams_request *request)
{
    /* One name more than the page holds tells whether there is another page. */
    struct stream_name names[LIST_STREAMS_PAGE_MAX + 1];
    struct stream_name after = { BYTES(""), BYTES("") };
    if (request->limit.value > LIST_STREAMS_PAGE_MAX)
        return error_validation(&call->error,
                                "One or more parameter values were invalid: Limit cannot be "
                                "greater than the maximum allowed size: %d",
                                LIST_STREAMS_PAGE_MAX);
    if (request->exclusive_start_stream_arn.data != NULL &&
        !stream_names_parse_arn(request->exclusive_start_stream_arn, &after.table_name,
                                &after.label)) {
        answer(call, names, 0, false); /* Observed: nothing comes behind what is no stream. */
        return true;
    }
    size_t page_size =
        request->limit.present ? (size_t)request->limit.value : LIST_STREAMS_PAGE_MAX;
    size_t count = streams_list(api_streams(call->api), call->arena, request->table_name, after,
                                names, page_size + 1);
    answer(call, names, count < page_size ? count : page_size, count > page_size);
    return true;
}

static void run(struct api_call *call, const void *input)
{
    operation_end(call, list(call, input));
}

const struct operation op_list_streams = { .name = "ListStreams",
                                           .service = OPERATION_OF_STREAMS,
                                           .kind = OPERATION_DATA,
                                           .request = &request_shape,
                                           .asks = OPERATION_ASKS_ACCOUNT,
                                           .run = run };
