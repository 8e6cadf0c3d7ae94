/* stream_operation.c -- see stream_operation.h. */
#include "api/stream/stream_operation.h"
#include "api/operation.h"
#include "base/clock.h"
#include "model/arn.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "stream/stream_names.h"
#include "stream/streams.h"

const struct shape stream_operation_arn_shape = { .kind = SHAPE_STRING,
                                                  .min = STREAM_ARN_SIZE_MIN,
                                                  .max = STREAM_ARN_SIZE_MAX };
const struct shape stream_operation_shard_id_shape = { .kind = SHAPE_STRING,
                                                       .min = SHARD_ID_SIZE_MIN,
                                                       .max = SHARD_ID_SIZE_MAX };

struct bytes stream_operation_arn(struct api_call *call, struct bytes table_name,
                                  struct bytes label)
{
    const struct api_options *options = api_options(call->api);
    return arn_of_stream(call->arena, options->region, options->account_id, table_name, label);
}

bool stream_operation_parse_arn(struct api_call *call, struct bytes arn, struct bytes *table_name,
                                struct bytes *label)
{
    return stream_names_parse_arn(arn, table_name, label) ||
           error_validation(&call->error, "Invalid StreamArn: %.*s", BYTES_FMT(arn));
}

struct stream *stream_operation_find(struct api_call *call, struct bytes arn)
{
    struct bytes table_name, label;
    if (!stream_operation_parse_arn(call, arn, &table_name, &label))
        return NULL;
    struct stream *stream = streams_find(api_streams(call->api), table_name, label);
    if (stream == NULL)
        error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                  "Requested resource not found: Stream: %.*s not found", BYTES_FMT(arn));
    return stream;
}

bool stream_operation_no_shard(struct api_call *call)
{
    return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Shard does not exist");
}

bool stream_operation_trimmed(struct api_call *call)
{
    return error_set(&call->error, ERROR_TRIMMED_DATA_ACCESS,
                     "The data you are trying to access has been trimmed");
}

/* --- Control thread --- */

void stream_operation_label(struct api_call *call, struct table_definition *table)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    struct stream *taken = NULL;
    table->stream_tags = (struct tag_list){ 0 }; /* They were an earlier stream's. */
    do {
        stream_release(taken);
        table->stream_label = stream_names_label(call->arena, now_ms++);
        taken = streams_find(api_streams(call->api), table->name, table->stream_label);
    } while (taken != NULL);
}
