/* op_get_records.c -- GetRecords: a page of a shard's records, written to JSON from the stored
 * bytes. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/stream_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/value_json.h"
#include "stream/change_record.h"
#include "stream/shard_iterator.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"
#include "stream/stream_read.h"
#include "stream/streams.h"
#include "table/storage_error.h"

struct get_records_request {
    struct bytes shard_iterator;
    struct shape_integer limit;
};

static const struct shape iterator_shape = { .kind = SHAPE_STRING,
                                             .min = 1,
                                             .max = SHARD_ITERATOR_SIZE_MAX };
static const struct shape limit_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = SHAPE_NO_MAX };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct get_records_request, shard_iterator, "ShardIterator", &iterator_shape),
      .required = true },
    { SHAPE_FIELD(struct get_records_request, limit, "Limit", &limit_shape) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct get_records_request, fields),
                                            .type_name = "GetRecordsInput" };

/* A page that is being written. */
struct page_writer {
    struct api_call *call;
    const struct stream_definition *stream;
    struct shard_iterator iterator;
    unsigned images; /* What the stream shows of what the log holds. */
    struct json_writer json;
    size_t size; /* Of the records so far. */
};

/* --- Records --- */

static void write_image(struct json_writer *json, const char *name, const struct item *image,
                        bool shown)
{
    if (!shown)
        return;
    json_write_name(json, name);
    item_json_write(json, image);
}

/* "SizeBytes: the size of the stream record": the keys and the images, as items are counted. */
static size_t record_size(const struct change_record *record, const struct item *keys,
                          unsigned shown)
{
    size_t size = keys->size;
    if ((shown & CHANGE_NEW_IMAGE) != 0)
        size += record->new_image.size;
    if ((shown & CHANGE_OLD_IMAGE) != 0)
        size += record->old_image.size;
    return size;
}

static void write_change(struct page_writer *page, uint64_t sequence,
                         const struct change_record *record, const struct item *keys,
                         unsigned shown)
{
    struct json_writer *json = &page->json;
    json_write_name(json, "dynamodb");
    json_open_object(json);
    json_write_name(json, "ApproximateCreationDateTime");
    json_write_integer(json, record->created_ms / 1000);
    json_write_name(json, "Keys");
    item_json_write(json, keys);
    write_image(json, "NewImage", &record->new_image, (shown & CHANGE_NEW_IMAGE) != 0);
    write_image(json, "OldImage", &record->old_image, (shown & CHANGE_OLD_IMAGE) != 0);
    json_write_name(json, "SequenceNumber");
    json_write_string(json,
                      stream_names_sequence(page->call->arena, sequence, page->iterator.partition));
    json_write_name(json, "SizeBytes");
    json_write_integer(json, (int64_t)record_size(record, keys, shown));
    json_write_name(json, "StreamViewType");
    json_write_string(json, page->stream->view_type);
    json_close_object(json);
}

static void write_identity(struct json_writer *json)
{
    json_write_name(json, "userIdentity");
    json_open_object(json);
    json_write_name(json, "PrincipalId");
    json_write_text(json, "dynamodb.amazonaws.com");
    json_write_name(json, "Type");
    json_write_text(json, "Service");
    json_close_object(json);
}

/* The same whenever it is read: consumers tell by it what they have seen. */
static struct bytes event_id(const struct page_writer *page, uint64_t sequence)
{
    return arena_printf(page->call->arena, "%08llx%08llx%016llx",
                        (unsigned long long)page->iterator.log_id & UINT32_MAX,
                        (unsigned long long)page->iterator.partition & UINT32_MAX,
                        (unsigned long long)sequence);
}

static bool write_record(void *context, uint64_t sequence, const struct change_record *record)
{
    struct page_writer *page = context;
    struct json_writer *json = &page->json;
    unsigned shown = record->images & page->images;
    struct item keys = change_record_keys(page->call->arena, &page->stream->key, record);
    size_t size = record_size(record, &keys, shown);
    if (page->size > 0 && page->size + size > GET_RECORDS_SIZE_MAX)
        return false;
    page->size += size;
    json_open_object(json);
    json_write_name(json, "eventID");
    json_write_string(json, event_id(page, sequence));
    json_write_name(json, "eventName");
    json_write_text(json, change_event_name(record->event));
    json_write_name(json, "eventVersion");
    json_write_text(json, "1.1");
    json_write_name(json, "eventSource");
    json_write_text(json, "aws:dynamodb");
    json_write_name(json, "awsRegion");
    json_write_text(json, api_options(page->call->api)->region);
    write_change(page, sequence, record, &keys, shown);
    if (record->by_service)
        write_identity(json);
    json_close_object(json);
    return true;
}

/* --- The page --- */

static void write_next(struct page_writer *page, struct bytes arn, uint64_t next)
{
    page->iterator.next = next;
    page->iterator.created_ms = clock_wall_ms(api_options(page->call->api)->clock);
    json_write_name(&page->json, "NextShardIterator");
    json_write_string(&page->json, shard_iterator_format(page->call->arena, arn, &page->iterator));
}

static bool read_and_answer(struct page_writer *page, size_t count_max, struct bytes arn)
{
    struct api_call *call = page->call;
    struct stream_page read = { .count_max = count_max, .visit = write_record, .context = page };
    struct engine_view *view = NULL;
    json_writer_init(&page->json, &call->response);
    json_open_object(&page->json);
    json_write_name(&page->json, "Records");
    json_open_array(&page->json);
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = stream_read_page(call->arena, view, &page->iterator, &read);
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

/* An iterator names its stream twice: by ARN, for people, and by log, which no other stream ever
 * has. */
static struct stream *find_stream(struct api_call *call, struct bytes arn, uint64_t log_id)
{
    struct stream *stream = stream_operation_find(call, arn);
    if (stream == NULL || stream_definition(stream)->log_id == log_id)
        return stream;
    stream_release(stream);
    stream_operation_no_shard(call);
    return NULL;
}

static bool check(struct api_call *call, const struct get_records_request *request,
                  struct bytes *arn, struct shard_iterator *iterator)
{
    if (!shard_iterator_parse(request->shard_iterator, arn, iterator))
        return error_validation(&call->error, "Invalid ShardIterator");
    if (request->limit.value > GET_RECORDS_COUNT_MAX)
        return error_validation(&call->error,
                                "One or more parameter values were invalid: Limit should be less "
                                "than or equal to %d",
                                GET_RECORDS_COUNT_MAX);
    int64_t age_ms = clock_wall_ms(api_options(call->api)->clock) - iterator->created_ms;
    if (age_ms > SHARD_ITERATOR_LIFETIME_MS)
        return error_set(&call->error, ERROR_EXPIRED_ITERATOR, "Shard iterator has expired");
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct get_records_request *request = input;
    struct page_writer page = { .call = call };
    struct bytes arn;
    struct stream *stream = NULL;
    bool ok = check(call, request, &arn, &page.iterator) &&
              (stream = find_stream(call, arn, page.iterator.log_id)) != NULL;
    if (ok) {
        page.stream = stream_definition(stream);
        page.images = change_image_of_view_type(page.stream->view_type);
        ok = read_and_answer(
            &page, request->limit.present ? (size_t)request->limit.value : GET_RECORDS_COUNT_MAX,
            arn);
    }
    stream_release(stream);
    stream_operation_end(call, ok);
}

const struct operation op_get_records = { .name = "GetRecords",
                                          .service = OPERATION_OF_STREAMS,
                                          .kind = OPERATION_DATA,
                                          .request = &request_shape,
                                          .run = run };
