/* op_get_shard_iterator.c -- GetShardIterator. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/stream/stream_operation.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/limits.h"
#include "log/log_read.h"
#include "log/shard.h"
#include "stream/shard_iterator.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"
#include "stream/streams.h"
#include "table/storage_error.h"

#define INVALID_VALUES "One or more parameter values were invalid: "

struct get_shard_iterator_request {
    struct bytes stream_arn;
    struct bytes shard_id;
    struct bytes shard_iterator_type;
    struct bytes sequence_number;
};

static const char *const iterator_types[] = { "AFTER_SEQUENCE_NUMBER", "LATEST",
                                              "AT_SEQUENCE_NUMBER", "TRIM_HORIZON", NULL };
static const struct shape iterator_type_shape = { .kind = SHAPE_STRING,
                                                  .enum_values = iterator_types,
                                                  SHAPE_UNBOUNDED };
static const struct shape sequence_number_shape = { .kind = SHAPE_STRING,
                                                    .min = SEQUENCE_NUMBER_SIZE_MIN,
                                                    .max = SEQUENCE_NUMBER_SIZE_MAX };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct get_shard_iterator_request, stream_arn, "StreamArn",
                  &stream_operation_arn_shape),
      .required = true },
    { SHAPE_FIELD(struct get_shard_iterator_request, shard_id, "ShardId",
                  &stream_operation_shard_id_shape),
      .required = true },
    { SHAPE_FIELD(struct get_shard_iterator_request, shard_iterator_type, "ShardIteratorType",
                  &iterator_type_shape),
      .required = true },
    { SHAPE_FIELD(struct get_shard_iterator_request, sequence_number, "SequenceNumber",
                  &sequence_number_shape) },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct get_shard_iterator_request, fields),
    .type_name = "GetShardIteratorInput",
};

static bool takes_sequence(const struct get_shard_iterator_request *request)
{
    return bytes_equal_text(request->shard_iterator_type, "AT_SEQUENCE_NUMBER") ||
           bytes_equal_text(request->shard_iterator_type, "AFTER_SEQUENCE_NUMBER");
}

static bool check(struct api_call *call, const struct get_shard_iterator_request *request)
{
    if (takes_sequence(request) && request->sequence_number.data == NULL)
        return error_validation(&call->error, INVALID_VALUES "Invalid SequenceNumber");
    if (!takes_sequence(request) && request->sequence_number.data != NULL)
        return error_validation(&call->error, INVALID_VALUES
                                "SequenceNumber should not be passed for this iterator type");
    return true;
}

/* The number of the record to read first. */
static bool locate(struct api_call *call, const struct get_shard_iterator_request *request,
                   const struct shard *shard, const struct shard_range *range, uint64_t *out)
{
    if (!takes_sequence(request)) {
        bool latest = bytes_equal_text(request->shard_iterator_type, "LATEST");
        *out = latest ? range->end : range->first;
        return true;
    }
    uint64_t sequence, partition;
    if (!stream_names_parse_sequence(request->sequence_number, &sequence, &partition) ||
        partition != shard->partition || sequence < shard->first || sequence >= range->end)
        return error_validation(&call->error, "Invalid SequenceNumber for the shard");
    /* A shard's first number has no record. */
    bool after = bytes_equal_text(request->shard_iterator_type, "AFTER_SEQUENCE_NUMBER");
    *out = after || sequence == shard->first ? sequence + 1 : sequence;
    if (*out < range->first)
        return stream_operation_trimmed(call);
    return true;
}

static void answer(struct api_call *call, const struct stream_definition *stream,
                   const struct shard *shard, uint64_t next)
{
    struct shard_iterator iterator = {
        .at = { .log_id = stream->log_id,
                .partition = shard->partition,
                .shard_first = shard->first,
                .next = next },
        .created_ms = clock_server_ms(api_options(call->api)->clock),
    };
    struct bytes arn = stream_operation_arn(call, stream->table_name, stream->label);
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "ShardIterator");
    json_write_string(&writer, shard_iterator_format(call->arena, arn, &iterator));
    json_close_object(&writer);
}

static bool find_and_answer(struct api_call *call, const struct get_shard_iterator_request *request,
                            const struct stream_definition *stream)
{
    struct engine_view *view = NULL;
    struct shard shard;
    struct shard_range range;
    uint64_t next = 0;
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = shard_iterator_find_shard(call->arena, view, stream, request->shard_id, &shard);
    if (status == ENGINE_OK)
        status = log_read_range(view, stream->log_id, &shard, &range);
    engine_view_close(view);
    if (status == ENGINE_NOT_FOUND)
        return stream_operation_no_shard(call);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "GetShardIterator");
    if (!locate(call, request, &shard, &range, &next))
        return false;
    answer(call, stream, &shard, next);
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct get_shard_iterator_request *request = input;
    struct stream *stream = NULL;
    bool ok = check(call, request) &&
              (stream = stream_operation_find(call, request->stream_arn)) != NULL &&
              find_and_answer(call, request, stream_definition(stream));
    stream_release(stream);
    operation_end(call, ok);
}

const struct operation op_get_shard_iterator = { .name = "GetShardIterator",
                                                 .service = OPERATION_OF_STREAMS,
                                                 .kind = OPERATION_DATA,
                                                 .request = &request_shape,
                                                 .asks = OPERATION_ASKS_RESOURCE,
                                                 .run = run };
