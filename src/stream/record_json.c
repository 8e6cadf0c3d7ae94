/* record_json.c -- see record_json.h. */
#include "stream/record_json.h"
#include "base/arena.h"
#include "json/writer.h"
#include "model/value_json.h"
#include "log/change_record.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"

/* The log may hold more images than the stream's view type shows. */
static unsigned shown_images(const struct record_json *form, const struct change_record *record)
{
    return record->images & change_image_of_view_type(form->stream->view_type);
}

static size_t size_of(const struct change_record *record, const struct item *keys, unsigned shown)
{
    size_t size = keys->size;
    if ((shown & CHANGE_NEW_IMAGE) != 0)
        size += record->new_image.size;
    if ((shown & CHANGE_OLD_IMAGE) != 0)
        size += record->old_image.size;
    return size;
}

size_t record_json_size(const struct record_json *form, const struct change_record *record)
{
    struct item keys = change_record_keys(form->arena, &form->stream->key, record);
    return size_of(record, &keys, shown_images(form, record));
}

static void write_image(struct json_writer *json, const char *name, const struct item *image,
                        bool shown)
{
    if (!shown)
        return;
    json_write_name(json, name);
    item_json_write(json, image);
}

static void write_change(const struct record_json *form, struct json_writer *json,
                         uint64_t sequence, const struct change_record *record)
{
    unsigned shown = shown_images(form, record);
    struct item keys = change_record_keys(form->arena, &form->stream->key, record);
    json_write_name(json, "dynamodb");
    json_open_object(json);
    json_write_name(json, "ApproximateCreationDateTime");
    json_write_integer(json, record->commit_us / 1000000);
    json_write_name(json, "Keys");
    item_json_write(json, &keys);
    write_image(json, "NewImage", &record->new_image, (shown & CHANGE_NEW_IMAGE) != 0);
    write_image(json, "OldImage", &record->old_image, (shown & CHANGE_OLD_IMAGE) != 0);
    json_write_name(json, "SequenceNumber");
    json_write_string(json, stream_names_sequence(form->arena, sequence, form->partition));
    json_write_name(json, "SizeBytes");
    json_write_integer(json, (int64_t)size_of(record, &keys, shown));
    json_write_name(json, "StreamViewType");
    json_write_string(json, form->stream->view_type);
    json_close_object(json);
}

static void write_identity(struct json_writer *json, bool in_event)
{
    json_write_name(json, "userIdentity");
    json_open_object(json);
    json_write_name(json, in_event ? "principalId" : "PrincipalId");
    json_write_text(json, "dynamodb.amazonaws.com");
    json_write_name(json, in_event ? "type" : "Type");
    json_write_text(json, "Service");
    json_close_object(json);
}

/* The same at each read, so that consumers can detect records they have seen. */
static struct bytes event_id(const struct record_json *form, uint64_t sequence)
{
    return arena_printf(
        form->arena, "%08llx%08llx%016llx", (unsigned long long)form->stream->log_id & UINT32_MAX,
        (unsigned long long)form->partition & UINT32_MAX, (unsigned long long)sequence);
}

void record_json_write(const struct record_json *form, struct json_writer *json, uint64_t sequence,
                       const struct change_record *record)
{
    bool in_event = form->event_source_arn.data != NULL;
    json_open_object(json);
    json_write_name(json, "eventID");
    json_write_string(json, event_id(form, sequence));
    json_write_name(json, "eventName");
    json_write_text(json, change_event_name(record->event));
    json_write_name(json, "eventVersion");
    json_write_text(json, "1.1");
    json_write_name(json, "eventSource");
    json_write_text(json, "aws:dynamodb");
    json_write_name(json, "awsRegion");
    json_write_text(json, form->region);
    write_change(form, json, sequence, record);
    if (record->by_service)
        write_identity(json, in_event);
    if (in_event) {
        json_write_name(json, "eventSourceARN");
        json_write_string(json, form->event_source_arn);
    }
    json_close_object(json);
}
