/* op_streams.c -- ListStreams and DescribeStream. */
#include <stdlib.h>
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/stream/stream_operation.h"
#include "api/table/table_description.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "log/shard.h"
#include "model/limits.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"
#include "stream/streams.h"
#include "table/storage_error.h"

/* --- ListStreams --- */

struct list_streams_request {
    struct bytes table_name;
    struct shape_integer limit;
    struct bytes exclusive_start_stream_arn;
};

static const struct shape list_limit_shape = { .kind = SHAPE_INTEGER,
                                               .min = 1,
                                               .max = SHAPE_NO_MAX };
static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_streams_request, table_name, "TableName", &common_resource_name) },
    { SHAPE_FIELD(struct list_streams_request, limit, "Limit", &list_limit_shape) },
    { SHAPE_FIELD(struct list_streams_request, exclusive_start_stream_arn,
                  "ExclusiveStartStreamArn", &stream_operation_arn_shape) },
};
static const struct shape list_shape = {
    SHAPE_STRUCTURE_OF(struct list_streams_request, list_fields), .type_name = "ListStreamsInput"
};

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
        !stream_operation_parse_arn(call, request->exclusive_start_stream_arn, &after.table_name,
                                    &after.label))
        return false;
    size_t page_size =
        request->limit.present ? (size_t)request->limit.value : LIST_STREAMS_PAGE_MAX;
    size_t count = streams_list(api_streams(call->api), call->arena, request->table_name, after,
                                names, page_size + 1);
    answer(call, names, count < page_size ? count : page_size, count > page_size);
    return true;
}

static void run_list(struct api_call *call, const void *input)
{
    operation_end(call, list(call, input));
}

const struct operation op_list_streams = { .name = "ListStreams",
                                           .service = OPERATION_OF_STREAMS,
                                           .kind = OPERATION_DATA,
                                           .request = &list_shape,
                                           .asks = OPERATION_ASKS_ACCOUNT,
                                           .run = run_list };

/* --- DescribeStream: a stream and a page of its shards, parents first --- */

struct shard_filter_request {
    struct bytes type;
    struct bytes shard_id;
};
struct describe_stream_request {
    struct bytes stream_arn;
    struct shape_integer limit;
    struct bytes exclusive_start_shard_id;
    struct shard_filter_request *shard_filter;
};

static const struct shape describe_limit_shape = { .kind = SHAPE_INTEGER,
                                                   .min = 1,
                                                   .max = SHAPE_NO_MAX };
static const char *const filter_types[] = { "CHILD_SHARDS", NULL };
static const struct shape filter_type_shape = { .kind = SHAPE_STRING,
                                                .enum_values = filter_types,
                                                SHAPE_UNBOUNDED };
static const struct shape_field filter_fields[] = {
    { SHAPE_FIELD(struct shard_filter_request, type, "Type", &filter_type_shape) },
    { SHAPE_FIELD(struct shard_filter_request, shard_id, "ShardId",
                  &stream_operation_shard_id_shape) },
};
static const struct shape filter_shape = {
    SHAPE_STRUCTURE_OF(struct shard_filter_request, filter_fields),
    .type_name = "ShardFilter",
};
static const struct shape_field describe_fields[] = {
    { SHAPE_FIELD(struct describe_stream_request, stream_arn, "StreamArn",
                  &stream_operation_arn_shape),
      .required = true },
    { SHAPE_FIELD(struct describe_stream_request, limit, "Limit", &describe_limit_shape) },
    { SHAPE_FIELD(struct describe_stream_request, exclusive_start_shard_id, "ExclusiveStartShardId",
                  &stream_operation_shard_id_shape) },
    { SHAPE_FIELD(struct describe_stream_request, shard_filter, "ShardFilter", &filter_shape) },
};
static const struct shape describe_shape = {
    SHAPE_STRUCTURE_OF(struct describe_stream_request, describe_fields),
    .type_name = "DescribeStreamInput",
};

/* --- DescribeStream: which shards --- */

/* By time, so that a parent comes before its child; then by partition. */
static int compare(const void *a, const void *b)
{
    const struct shard *left = a, *right = b;
    if (left->created_ms != right->created_ms)
        return left->created_ms < right->created_ms ? -1 : 1;
    return left->partition < right->partition ? -1 : left->partition > right->partition;
}

/* A shard that was split has both children, or is still open: clients that have read all of it ask
 * for its children once. */
static enum engine_status list_shards(struct api_call *call, const struct stream_definition *given,
                                      struct shard **out, size_t *count)
{
    struct engine_view *view = NULL;
    struct stream_definition in_view = *given;
    const struct stream_definition *stream = &in_view;
    struct buffer all;
    buffer_init(&all, call->arena);
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = streams_view(call->arena, view, given, &in_view);
    for (size_t i = 0; i < stream->partition_count && status == ENGINE_OK; i++) {
        struct shard *shards;
        size_t shard_count;
        status = shard_list(call->arena, view, stream->log_id, stream->partitions[i], &shards,
                            &shard_count);
        for (size_t j = 0; status == ENGINE_OK && j < shard_count; j++) {
            if (stream_definition_has_shard(stream, stream->partitions[i], shards[j].first))
                buffer_append(&all, &shards[j], sizeof *shards);
        }
    }
    engine_view_close(view);
    *out = (struct shard *)(void *)all.data;
    *count = all.len / sizeof **out;
    if (*count > 0)
        qsort(*out, *count, sizeof **out, compare);
    return status;
}

/* Keeps the children of one shard. */
static size_t keep_children(const struct shard_filter_request *filter, struct shard *shards,
                            size_t count)
{
    int64_t created_ms;
    uint64_t partition;
    size_t kept = 0;
    if (!stream_names_parse_shard_id(filter->shard_id, &created_ms, &partition))
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (shards[i].parent_partition == partition && shards[i].parent_created_ms == created_ms)
            shards[kept++] = shards[i];
    }
    return kept;
}

/* How many shards do not come behind the one that the last page ended with. That one may be gone,
 * or no id of ours at all: ids are in the order of their texts. */
static size_t skipped(struct api_call *call, struct bytes start_id, const struct shard *shards,
                      size_t count)
{
    size_t first = 0;
    if (start_id.data == NULL)
        return 0;
    while (first < count &&
           bytes_compare(stream_names_shard_id(call->arena, shards[first].created_ms,
                                               shards[first].partition),
                         start_id) <= 0)
        first++;
    return first;
}

/* --- DescribeStream: the answer --- */

static void write_shard(struct api_call *call, struct json_writer *writer,
                        const struct shard *shard)
{
    json_open_object(writer);
    json_write_name(writer, "ShardId");
    json_write_string(writer,
                      stream_names_shard_id(call->arena, shard->created_ms, shard->partition));
    json_write_name(writer, "SequenceNumberRange");
    json_open_object(writer);
    json_write_name(writer, "StartingSequenceNumber");
    json_write_string(writer, stream_names_sequence(call->arena, shard->first, shard->partition));
    if (!shard_is_open(shard)) {
        json_write_name(writer, "EndingSequenceNumber");
        json_write_string(writer,
                          stream_names_sequence(call->arena, shard->last, shard->partition));
    }
    json_close_object(writer);
    if (shard->parent_created_ms != 0) {
        json_write_name(writer, "ParentShardId");
        json_write_string(writer, stream_names_shard_id(call->arena, shard->parent_created_ms,
                                                        shard->parent_partition));
    }
    json_close_object(writer);
}

static void write_shards(struct api_call *call, struct json_writer *writer,
                         const struct shard *shards, size_t count, size_t page_size)
{
    json_write_name(writer, "Shards");
    json_open_array(writer);
    for (size_t i = 0; i < count && i < page_size; i++)
        write_shard(call, writer, &shards[i]);
    json_close_array(writer);
    if (count > page_size) {
        const struct shard *last = &shards[page_size - 1];
        json_write_name(writer, "LastEvaluatedShardId");
        json_write_string(writer,
                          stream_names_shard_id(call->arena, last->created_ms, last->partition));
    }
}

static void write_stream(struct api_call *call, struct json_writer *writer,
                         const struct stream_definition *stream)
{
    json_write_name(writer, "StreamArn");
    json_write_string(writer, stream_operation_arn(call, stream->table_name, stream->label));
    json_write_name(writer, "StreamLabel");
    json_write_string(writer, stream->label);
    json_write_name(writer, "StreamStatus");
    json_write_text(writer, stream_status_name(stream->status));
    json_write_name(writer, "StreamViewType");
    json_write_string(writer, stream->view_type);
    json_write_name(writer, "CreationRequestDateTime");
    json_write_seconds(writer, stream->created_ms);
    json_write_name(writer, "TableName");
    json_write_string(writer, stream->table_name);
    table_description_write_key(writer, &stream->key.hash, 1, &stream->key.range,
                                stream->key.has_range ? 1 : 0);
}

static bool describe(struct api_call *call, const struct describe_stream_request *request,
                     const struct stream_definition *stream)
{
    struct shard *shards;
    size_t count;
    enum engine_status status = list_shards(call, stream, &shards, &count);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "DescribeStream");
    if (request->shard_filter != NULL)
        count = keep_children(request->shard_filter, shards, count);
    size_t first = skipped(call, request->exclusive_start_shard_id, shards, count);
    size_t page_size =
        request->limit.present ? (size_t)request->limit.value : DESCRIBE_STREAM_PAGE_MAX;
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "StreamDescription");
    json_open_object(&writer);
    write_stream(call, &writer, stream);
    write_shards(call, &writer, count == 0 ? shards : shards + first, count - first, page_size);
    json_close_object(&writer);
    json_close_object(&writer);
    return true;
}

static bool check(struct api_call *call, const struct describe_stream_request *request)
{
    if (request->limit.value > DESCRIBE_STREAM_PAGE_MAX)
        return error_validation(&call->error,
                                "One or more parameter values were invalid: Limit cannot be "
                                "greater than the maximum: %d",
                                DESCRIBE_STREAM_PAGE_MAX);
    const struct shard_filter_request *filter = request->shard_filter;
    if (filter == NULL)
        return true;
    if (filter->type.data == NULL)
        return error_validation(&call->error,
                                ERROR_ENVELOPE "Value 'null' at 'shardFilter.type' failed to "
                                               "satisfy constraint: Member must be CHILD_SHARDS");
    /* The service refuses this too; its text is not known. */
    if (filter->shard_id.data == NULL)
        return error_validation(&call->error,
                                ERROR_ENVELOPE "Value 'null' at 'shardFilter.shardId' failed to "
                                               "satisfy constraint: Member must not be null");
    return true;
}

static void run_describe(struct api_call *call, const void *input)
{
    const struct describe_stream_request *request = input;
    struct stream *stream = NULL;
    bool ok = check(call, request) &&
              (stream = stream_operation_find(call, request->stream_arn)) != NULL &&
              describe(call, request, stream_definition(stream));
    stream_release(stream);
    operation_end(call, ok);
}

const struct operation op_describe_stream = { .name = "DescribeStream",
                                              .service = OPERATION_OF_STREAMS,
                                              .kind = OPERATION_DATA,
                                              .request = &describe_shape,
                                              .asks = OPERATION_ASKS_RESOURCE,
                                              .run = run_describe };
