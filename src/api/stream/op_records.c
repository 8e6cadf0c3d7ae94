/* op_records.c -- GetShardIterator and GetRecords. */
#include "api/capacity.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/stream/stream_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "log/log_read.h"
#include "log/shard.h"
#include "model/limits.h"
#include "stream/record_json.h"
#include "stream/shard_iterator.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"
#include "stream/streams.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

/* --- GetShardIterator --- */

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
static const struct shape_field iterator_fields[] = {
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
static const struct shape get_iterator_shape = {
    SHAPE_STRUCTURE_OF(struct get_shard_iterator_request, iterator_fields),
    .type_name = "GetShardIteratorInput",
};

static bool takes_sequence(const struct get_shard_iterator_request *request)
{
    return bytes_equal_text(request->shard_iterator_type, "AT_SEQUENCE_NUMBER") ||
           bytes_equal_text(request->shard_iterator_type, "AFTER_SEQUENCE_NUMBER");
}

static bool check_iterator(struct api_call *call, const struct get_shard_iterator_request *request)
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
    struct stream_definition in_view;
    struct shard shard;
    struct shard_range range;
    uint64_t next = 0;
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = streams_view(call->arena, view, stream, &in_view);
    if (status == ENGINE_OK)
        status = shard_iterator_find_shard(call->arena, view, &in_view, request->shard_id, &shard);
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

static void run_iterator(struct api_call *call, const void *input)
{
    const struct get_shard_iterator_request *request = input;
    struct stream *stream = NULL;
    bool ok = check_iterator(call, request) &&
              (stream = stream_operation_find(call, request->stream_arn)) != NULL &&
              find_and_answer(call, request, stream_definition(stream));
    stream_release(stream);
    operation_end(call, ok);
}

const struct operation op_get_shard_iterator = { .name = "GetShardIterator",
                                                 .service = OPERATION_OF_STREAMS,
                                                 .kind = OPERATION_DATA,
                                                 .request = &get_iterator_shape,
                                                 .asks = OPERATION_ASKS_RESOURCE,
                                                 .run = run_iterator };

/* --- GetRecords: a page of a shard's records, written to JSON from the stored bytes --- */

struct get_records_request {
    struct bytes shard_iterator;
    struct shape_integer limit;
};

static const struct shape iterator_shape = { .kind = SHAPE_STRING,
                                             .min = 1,
                                             .max = SHARD_ITERATOR_SIZE_MAX };
static const struct shape limit_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = SHAPE_NO_MAX };
static const struct shape_field records_fields[] = {
    { SHAPE_FIELD(struct get_records_request, shard_iterator, "ShardIterator", &iterator_shape),
      .required = true },
    { SHAPE_FIELD(struct get_records_request, limit, "Limit", &limit_shape) },
};
static const struct shape records_shape = {
    SHAPE_STRUCTURE_OF(struct get_records_request, records_fields), .type_name = "GetRecordsInput"
};

/* A page that is being written. */
struct page_writer {
    struct api_call *call;
    struct shard_iterator iterator;
    struct record_json form;
    struct json_writer json;
    size_t size; /* Of the records so far. */
    uint32_t record_count;
};

static bool write_record(void *context, uint64_t sequence, const struct change_record *record)
{
    struct page_writer *page = context;
    size_t size = record_json_size(&page->form, record);
    if (page->size > 0 && page->size + size > GET_RECORDS_SIZE_MAX)
        return false;
    page->size += size;
    page->record_count++;
    record_json_write(&page->form, &page->json, sequence, record);
    return true;
}

static void write_next(struct page_writer *page, struct bytes arn, uint64_t next)
{
    page->iterator.at.next = next;
    page->iterator.created_ms = clock_server_ms(api_options(page->call->api)->clock);
    json_write_name(&page->json, "NextShardIterator");
    json_write_string(&page->json, shard_iterator_format(page->call->arena, arn, &page->iterator));
}

static bool read_and_answer(struct page_writer *page, size_t count_max, struct bytes arn)
{
    struct api_call *call = page->call;
    struct log_page read = { .count_max = count_max, .visit = write_record, .context = page };
    struct engine_view *view = NULL;
    json_writer_init(&page->json, &call->response);
    json_open_object(&page->json);
    json_write_name(&page->json, "Records");
    json_open_array(&page->json);
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = log_read_page(call->arena, view, &page->iterator.at, &read);
    engine_view_close(view);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "GetRecords");
    if (read.trimmed)
        return stream_operation_trimmed(call);
    json_close_array(&page->json);
    if (!read.ended)
        write_next(page, arn, read.next);
    json_close_object(&page->json);
    return true;
}

static bool shows_shard(struct api_call *call, const struct stream_definition *stream,
                        const struct log_cursor *at)
{
    if (stream_definition_has_shard(stream, at->partition, at->shard_first))
        return true;
    struct engine_view *view = NULL;
    struct stream_definition in_view = *stream;
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = streams_view(call->arena, view, stream, &in_view);
    engine_view_close(view);
    return status == ENGINE_OK &&
           stream_definition_has_shard(&in_view, at->partition, at->shard_first);
}

/* An iterator names its stream twice: by ARN, for people, and by the log and a shard in it, which
 * only one stream shows. */
static struct stream *find_stream(struct api_call *call, struct bytes arn,
                                  const struct log_cursor *at)
{
    struct stream *stream = stream_operation_find(call, arn);
    if (stream == NULL || (stream_definition(stream)->log_id == at->log_id &&
                           shows_shard(call, stream_definition(stream), at)))
        return stream;
    stream_release(stream);
    stream_operation_no_shard(call);
    return NULL;
}

static bool check_records(struct api_call *call, const struct get_records_request *request,
                          struct bytes *arn, struct shard_iterator *iterator)
{
    if (!shard_iterator_parse(request->shard_iterator, arn, iterator))
        return error_validation(&call->error, "Invalid ShardIterator");
    if (request->limit.value > GET_RECORDS_COUNT_MAX)
        return error_validation(&call->error,
                                "One or more parameter values were invalid: Limit should be less "
                                "than or equal to %d",
                                GET_RECORDS_COUNT_MAX);
    if (shard_iterator_is_expired(iterator, clock_server_ms(api_options(call->api)->clock)))
        return error_set(&call->error, ERROR_EXPIRED_ITERATOR, "Shard iterator has expired");
    return true;
}

/* For the metrics: a stream's reads are counted with its table, unless the table is gone or has
 * another stream by now. */
static void note_table(struct page_writer *page, const struct stream_definition *stream)
{
    struct api_call *call = page->call;
    const struct table *table = operation_borrow_table(call, stream->table_name);
    if (table != NULL && bytes_equal(table_definition(table)->stream_label, stream->label))
        call->uses[0].returned_count = page->record_count;
    else
        operation_release_tables(call);
}

static void run_records(struct api_call *call, const void *input)
{
    const struct get_records_request *request = input;
    struct page_writer page = { .call = call };
    struct bytes arn;
    struct stream *stream = NULL;
    bool ok = check_records(call, request, &arn, &page.iterator) && operation_may_use(call, arn) &&
              (stream = find_stream(call, arn, &page.iterator.at)) != NULL;
    if (ok) {
        page.form = (struct record_json){ .arena = call->arena,
                                          .stream = stream_definition(stream),
                                          .partition = page.iterator.at.partition,
                                          .region = api_options(call->api)->region };
        ok = read_and_answer(
            &page, request->limit.present ? (size_t)request->limit.value : GET_RECORDS_COUNT_MAX,
            arn);
        note_table(&page, stream_definition(stream));
    }
    stream_release(stream);
    operation_end(call, ok);
}

const struct operation op_get_records = { .name = "GetRecords",
                                          .service = OPERATION_OF_STREAMS,
                                          .kind = OPERATION_DATA,
                                          .request = &records_shape,
                                          .asks = OPERATION_ASKS_ITSELF,
                                          .reads_many = true,
                                          .run = run_records };
