/* op_get_item_history.c -- GetItemHistory, our own: the versions of an item, the newest first.
 *
 * What the console's item page and `stator history` show. It reads the history that point-in-time
 * recovery keeps, so it reaches as far back as recovery does. A version holds the item before and
 * after a change, as a stream record does. It asks for stator:GetItemHistory on the table, with the
 * item's key and all attributes, as a GetItem of the whole item does.
 */
#include <stdio.h>
#include "api/common_shapes.h"
#include "api/item/item_access.h"
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "history/history_item.h"
#include "history/history_window.h"
#include "json/writer.h"
#include "log/change_record.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "model/value_json.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/storage_error.h"

enum {
    VERSIONS_DEFAULT = 20,
    VERSIONS_MAX = 1000,
    ANSWER_SIZE_MAX = 1024 * 1024, /* Of the images; one version more may be in it. */
    TOKEN_DIGITS = 16,
    US_PER_MS = 1000,
};

struct get_item_history_request {
    struct bytes table_name;
    struct shape_item key;
    struct shape_integer start_time;
    struct shape_integer end_time;
    struct shape_integer limit;
    struct bytes next_token;
};

static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape limit_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = VERSIONS_MAX };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct get_item_history_request, key, "Key", &common_item), .required = true },
    { SHAPE_FIELD(struct get_item_history_request, table_name, "TableName",
                  &common_item_table_name),
      .required = true },
    { SHAPE_FIELD(struct get_item_history_request, start_time, "StartTime", &time_shape) },
    { SHAPE_FIELD(struct get_item_history_request, end_time, "EndTime", &time_shape) },
    { SHAPE_FIELD(struct get_item_history_request, limit, "Limit", &limit_shape) },
    { SHAPE_FIELD(struct get_item_history_request, next_token, "NextToken", &common_string) },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct get_item_history_request, fields), .type_name = "GetItemHistoryInput"
};

/* --- Pages --- */

/* A token is the commit time of the last version that was shown, in hexadecimal digits. */
static bool read_token(struct api_call *call, struct bytes token, int64_t *commit_us)
{
    uint64_t value = 0;
    bool valid = token.len == TOKEN_DIGITS;
    for (size_t i = 0; i < token.len && valid; i++) {
        uint8_t c = token.data[i];
        valid = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    if (!valid || value > INT64_MAX)
        return error_validation(&call->error, "NextToken is invalid");
    *commit_us = (int64_t)value;
    return true;
}

/* Which versions: those within the recovery period, the given times and behind the token. */
static bool set_query(struct api_call *call, const struct get_item_history_request *request,
                      const struct table_definition *table, struct history_versions_query *query)
{
    if (table->recovery_days == 0)
        return error_set(&call->error, ERROR_POINT_IN_TIME_RECOVERY_UNAVAILABLE,
                         "Point in time recovery is not enabled for table '%.*s'",
                         BYTES_FMT(table->name));
    const struct history_window window = history_window(table, api_options(call->api)->clock);
    *query = (struct history_versions_query){
        .from_us = window.earliest_us,
        .to_us = window.latest_us,
        .count_max = request->limit.present ? (size_t)request->limit.value : VERSIONS_DEFAULT,
        .size_max = ANSWER_SIZE_MAX,
    };
    if (request->start_time.present && request->end_time.present &&
        request->end_time.value <= request->start_time.value)
        return error_validation(&call->error, "StartTime must be before EndTime");
    if (request->start_time.present && request->start_time.value > query->from_us / US_PER_MS)
        query->from_us = request->start_time.value * US_PER_MS;
    if (request->end_time.present && request->end_time.value < query->to_us / US_PER_MS)
        query->to_us = request->end_time.value * US_PER_MS;
    if (request->next_token.data == NULL)
        return true;
    int64_t shown_us = 0;
    if (!read_token(call, request->next_token, &shown_us))
        return false;
    if (shown_us < query->to_us)
        query->to_us = shown_us;
    return true;
}

/* --- The answer --- */

static void write_image(struct json_writer *writer, const char *name, bool exists,
                        const struct item *item)
{
    if (!exists)
        return;
    json_write_name(writer, name);
    item_json_write(writer, item);
}

static void write_version(struct json_writer *writer, const struct history_version *version)
{
    enum change_event event = !version->had_old   ? CHANGE_INSERT
                              : !version->has_new ? CHANGE_REMOVE
                                                  : CHANGE_MODIFY;
    json_open_object(writer);
    json_write_name(writer, "CommitTime");
    json_write_seconds(writer, version->commit_us / US_PER_MS);
    json_write_name(writer, "WriteTimestampMicros");
    json_write_integer(writer, version->commit_us);
    json_write_name(writer, "EventName");
    json_write_text(writer, change_event_name(event));
    if (version->by_service) {
        json_write_name(writer, "UserIdentity");
        json_write_raw(writer, BYTES("{\"PrincipalId\":\"dynamodb.amazonaws.com\","
                                     "\"Type\":\"Service\"}"));
    }
    write_image(writer, "OldImage", version->had_old, &version->old_image);
    write_image(writer, "NewImage", version->has_new, &version->new_image);
    json_close_object(writer);
}

static void answer(struct api_call *call, const struct history_versions *versions)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Versions");
    json_open_array(&writer);
    for (size_t i = 0; i < versions->count; i++)
        write_version(&writer, &versions->list[i]);
    json_close_array(&writer);
    if (versions->more) {
        char token[TOKEN_DIGITS + 1];
        snprintf(token, sizeof token, "%016llx",
                 (unsigned long long)versions->list[versions->count - 1].commit_us);
        json_write_name(&writer, "NextToken");
        json_write_text(&writer, token);
    }
    json_close_object(&writer);
}

static bool read_and_answer(struct api_call *call, const struct table_definition *table,
                            const struct item_address *place,
                            const struct history_versions_query *query)
{
    struct engine_view *view = NULL;
    struct history_versions versions = { 0 };
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK && table->history.status == HISTORY_ACTIVE)
        status = history_item_versions(view, call->arena, table, place, query, &versions);
    engine_view_close(view);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "GetItemHistory");
    answer(call, &versions);
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct get_item_history_request *request = input;
    struct item_address place;
    struct history_versions_query query;
    bool ok = operation_check_rule(call, request->key.rule);
    struct table *table = NULL;
    if (ok) {
        table = operation_borrow_table(call, request->table_name);
        ok = item_access_history(call, table, request->table_name, &request->key.item) &&
             operation_check_table(call, table) &&
             item_address_of_key(call->arena, table_definition(table), &request->key.item, &place,
                                 &call->error) &&
             set_query(call, request, table_definition(table), &query) &&
             read_and_answer(call, table_definition(table), &place, &query);
    }
    operation_end(call, ok);
}

const struct operation op_get_item_history = { .name = "GetItemHistory",
                                               .service = OPERATION_OF_STATOR,
                                               .kind = OPERATION_DATA,
                                               .request = &request_shape,
                                               .asks = OPERATION_ASKS_ITSELF,
                                               .reads_many = true,
                                               .waits = OPERATION_WAITS,
                                               .run = run };
