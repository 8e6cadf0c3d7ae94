/* backup_name.c -- see backup_name.h. */
#include "api/backup/backup_name.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/log.h"
#include "jobs/job_record.h"
#include "model/item_record.h"

/* --- ARNs --- */

/* Cuts the text before the first `end`. False if there is none. */
static bool take_part(struct bytes *rest, char end, struct bytes *part)
{
    const uint8_t *found = rest->len == 0 ? NULL : memchr(rest->data, end, rest->len);
    if (found == NULL)
        return false;
    *part = bytes_of(rest->data, (size_t)(found - rest->data));
    *rest = bytes_of(found + 1, rest->len - part->len - 1);
    return true;
}

/* "eu-west-1": one of AWS's areas, then words, then a digit. */
static bool looks_like_region(struct bytes text)
{
    static const char *const areas[] = { "us-", "eu-", "ap-", "sa-", "ca-",
                                         "me-", "af-", "il-", "mx-" };
    size_t area = 0, hyphens = 0;
    while (area < COUNT_OF(areas) && !bytes_starts_with(text, bytes_from_text(areas[area])))
        area++;
    if (area == COUNT_OF(areas))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        bool last = i + 1 == text.len;
        if (c == '-' ? last : last ? c < '0' || c > '9' : c < 'a' || c > 'z')
            return false;
        hyphens += c == '-';
    }
    return hyphens >= 2;
}

static bool split_resource(struct bytes resource, struct backup_arn *out)
{
    struct bytes kind, backup;
    return take_part(&resource, '/', &kind) && bytes_equal_text(kind, "table") &&
           take_part(&resource, '/', &out->table) && take_part(&resource, '/', &backup) &&
           bytes_equal_text(backup, "backup") && out->table.len > 0 && resource.len > 0 &&
           memchr(resource.data, '/', resource.len) == NULL && (out->id = resource, true);
}

bool backup_arn_parse(struct api_call *call, struct bytes text, struct backup_arn *out)
{
    const struct api_options *options = api_options(call->api);
    struct bytes rest = text, arn, partition, service, account;
    *out = (struct backup_arn){ .text = text };
    if (!take_part(&rest, ':', &arn) || !bytes_equal_text(arn, "arn") ||
        !take_part(&rest, ':', &partition) || !take_part(&rest, ':', &service) ||
        !take_part(&rest, ':', &out->region) || !take_part(&rest, ':', &account) ||
        !split_resource(rest, out))
        return error_validation(&call->error, "Invalid Backup ARN");
    out->is_other_region = !bytes_equal_text(out->region, options->region);
    if (!bytes_equal_text(partition, "aws") || !bytes_equal_text(service, "dynamodb") ||
        (out->is_other_region && out->region.len > 0 && !looks_like_region(out->region)))
        return error_validation(&call->error, "Invalid Request: BackupArn is not valid");
    if (out->region.len == 0 || !bytes_equal_text(account, options->account_id))
        return error_set(&call->error, ERROR_ACCESS_DENIED, "Access is denied");
    return true;
}

struct bytes backup_arn_of(struct api_call *call, struct bytes table, struct bytes id)
{
    const struct bytes parts[] = { operation_table_arn(call, table), BYTES("/backup/"), id };
    return arena_join(call->arena, parts, COUNT_OF(parts));
}

struct bytes backup_arn_own(struct api_call *call, const struct backup_arn *arn)
{
    return backup_arn_of(call, arn->table, arn->id);
}

/* --- Details --- */

enum { NUMBER_COUNT = 5 };

static void add_binary(struct item_builder *builder, const char *name, struct bytes value)
{
    struct buffer encoded;
    buffer_init(&encoded, builder->arena);
    value_append_binary(&encoded, value);
    item_builder_add(builder, bytes_from_text(name), buffer_bytes(&encoded));
}

struct bytes backup_detail_encode(struct arena *arena, const struct backup_detail *detail)
{
    const uint64_t numbers[NUMBER_COUNT] = { (uint64_t)detail->type, (uint64_t)detail->deleting,
                                             (uint64_t)detail->expires_ms,
                                             (uint64_t)detail->stats.item_count,
                                             (uint64_t)detail->stats.size };
    const uint64_t moment = (uint64_t)detail->moment_ms;
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "n", detail->name);
    item_record_add_numbers(&builder, "g", numbers, NUMBER_COUNT);
    if (detail->moment_ms != 0)
        item_record_add_numbers(&builder, "m", &moment, 1);
    add_binary(&builder, "t", detail->record);
    add_binary(&builder, "f", archive_files_encode(arena, detail->files, detail->file_count));
    return item_builder_finish(&builder).encoded;
}

static bool find_binary(const struct item *item, const char *name, struct bytes *out)
{
    struct value value;
    if (!item_find(item, bytes_from_text(name), &value) || value.type != VALUE_B)
        return false;
    *out = value.data;
    return true;
}

static bool decode_table(struct arena *arena, struct backup_detail *out)
{
    struct item item;
    return item_open(out->record, &item) && item_verify(&item) &&
           table_definition_decode(arena, &item, &out->table);
}

/* Absent: the time of the request. */
static bool decode_moment(struct arena *arena, const struct item *item, int64_t *out)
{
    struct value value;
    uint64_t *moment;
    size_t count;
    if (!item_find(item, BYTES("m"), &value))
        return true;
    if (!item_record_find_numbers(arena, item, "m", 1, &moment, &count) || *moment > INT64_MAX)
        return false;
    *out = (int64_t)*moment;
    return true;
}

static bool decode(struct arena *arena, struct bytes bytes, struct backup_detail *out)
{
    struct item item;
    struct bytes files;
    uint64_t *numbers;
    size_t count;
    *out = (struct backup_detail){ 0 };
    if (bytes.data == NULL || !item_open(arena_copy(arena, bytes), &item) || !item_verify(&item) ||
        !item_record_find_text(arena, &item, "n", BACKUP_NAME_SIZE_MAX + 32, &out->name) ||
        !item_record_find_numbers(arena, &item, "g", NUMBER_COUNT, &numbers, &count) ||
        count != NUMBER_COUNT || numbers[0] > BACKUP_SYSTEM || numbers[1] > 1 ||
        numbers[2] > INT64_MAX || numbers[3] > INT64_MAX || numbers[4] > INT64_MAX ||
        !find_binary(&item, "t", &out->record) || !find_binary(&item, "f", &files))
        return false;
    out->type = (enum backup_type)numbers[0];
    out->deleting = numbers[1] == 1;
    out->expires_ms = (int64_t)numbers[2];
    out->stats =
        (struct table_stats){ .item_count = (int64_t)numbers[3], .size = (int64_t)numbers[4] };
    return decode_moment(arena, &item, &out->moment_ms) && decode_table(arena, out) &&
           archive_files_decode(arena, files, &out->files, &out->file_count);
}

bool backup_detail_decode(struct arena *arena, const struct job_record *record,
                          struct backup_detail *out)
{
    if (decode(arena, record->detail, out))
        return true;
    log_write(LOG_ERROR, "backup", "the record of backup %s is damaged", record->id);
    return false;
}

int64_t backup_moment_ms(const struct job_record *record, const struct backup_detail *detail)
{
    return detail->moment_ms != 0 ? detail->moment_ms : record->created_ms;
}

bool backup_is_shown(const struct job_record *record, const struct backup_detail *detail)
{
    return !detail->deleting && (record->state == JOB_RUNNING || record->state == JOB_COMPLETED);
}
