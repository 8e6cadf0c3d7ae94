/* kinesis_record.c -- see kinesis_record.h. */
#include "kinesis/kinesis_record.h"
#include "base/arena.h"
#include "crypto/sha256.h"
#include "json/writer.h"
#include "log/change_record.h"
#include "model/key.h"
#include "model/value_json.h"

static void write_image(struct json_writer *json, const char *name, const struct item *image,
                        bool exists)
{
    if (!exists)
        return;
    json_write_name(json, name);
    item_json_write(json, image);
}

static void write_change(const struct kinesis_record_form *form, struct json_writer *json,
                         const struct change_record *record)
{
    bool has_new = (record->images & CHANGE_NEW_IMAGE) != 0;
    bool has_old = (record->images & CHANGE_OLD_IMAGE) != 0;
    struct item keys = change_record_keys(form->arena, form->key, record);
    size_t size =
        keys.size + (has_new ? record->new_image.size : 0) + (has_old ? record->old_image.size : 0);
    json_write_name(json, "dynamodb");
    json_open_object(json);
    json_write_name(json, "ApproximateCreationDateTime");
    json_write_integer(json, form->has_microseconds ? record->commit_us : record->commit_us / 1000);
    json_write_name(json, "Keys");
    item_json_write(json, &keys);
    write_image(json, "NewImage", &record->new_image, has_new);
    write_image(json, "OldImage", &record->old_image, has_old);
    json_write_name(json, "SizeBytes");
    json_write_integer(json, (int64_t)size);
    if (form->has_microseconds) {
        json_write_name(json, "ApproximateCreationDateTimePrecision");
        json_write_text(json, "MICROSECOND");
    }
    json_close_object(json);
}

static void write_identity(struct json_writer *json, bool by_service)
{
    json_write_name(json, "userIdentity");
    if (!by_service) {
        json_write_null(json);
        return;
    }
    json_open_object(json);
    json_write_name(json, "principalId");
    json_write_text(json, "dynamodb.amazonaws.com");
    json_write_name(json, "type");
    json_write_text(json, "Service");
    json_close_object(json);
}

/* A UUID by its form. It is the same each time a record is sent, so that readers can tell a
 * repeated record from a new one. */
static struct bytes event_id(const struct kinesis_record_form *form, uint64_t sequence)
{
    return arena_printf(form->arena, "%08llx-%04llx-4%03llx-8%03llx-%012llx",
                        (unsigned long long)form->log_id & UINT32_MAX,
                        (unsigned long long)form->partition >> 12 & 0xFFFF,
                        (unsigned long long)form->partition & 0xFFF,
                        (unsigned long long)sequence >> 48 & 0xFFF,
                        (unsigned long long)sequence & 0xFFFFFFFFFFFF);
}

void kinesis_record_write(const struct kinesis_record_form *form, struct json_writer *json,
                          uint64_t sequence, const struct change_record *record)
{
    json_open_object(json);
    json_write_name(json, "awsRegion");
    json_write_text(json, form->region);
    json_write_name(json, "eventID");
    json_write_string(json, event_id(form, sequence));
    json_write_name(json, "eventName");
    json_write_text(json, change_event_name(record->event));
    write_identity(json, record->by_service);
    json_write_name(json, "recordFormat");
    json_write_text(json, "application/json");
    json_write_name(json, "tableName");
    json_write_string(json, form->table_name);
    write_change(form, json, record);
    json_write_name(json, "eventSource");
    json_write_text(json, "aws:dynamodb");
    json_close_object(json);
}

void kinesis_record_partition_key(const struct kinesis_record_form *form, struct sha256 *hasher,
                                  const struct change_record *record,
                                  char out[KINESIS_PARTITION_KEY_SIZE])
{
    static const char digits[] = "0123456789ABCDEF";
    uint8_t digest[SHA256_SIZE];
    struct value value = { 0 };
    struct item keys = change_record_keys(form->arena, form->key, record);
    bool found = item_find(&keys, form->key->hash.name, &value);
    sha256_digest(hasher, found ? value.encoded : BYTES(""), digest);
    for (size_t i = 0; i < KINESIS_PARTITION_KEY_SIZE / 2; i++) {
        out[i * 2] = digits[digest[i] >> 4];
        out[i * 2 + 1] = digits[digest[i] & 15];
    }
}
