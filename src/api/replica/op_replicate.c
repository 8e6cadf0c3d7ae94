/* op_replicate.c -- ReplicateSettings and WriteDataForReplication, which servers of other regions
 * call.
 *
 * Both are about a table that the request names. Their actions are ours, so that a client who may
 * do all that the service has (dynamodb:*) may not set stamps.
 */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/stream/stream_operation.h"
#include "api/table/table_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/give_way.h"
#include "base/log.h"
#include "base/uuid.h"
#include "control/control.h"
#include "control/replica_settings.h"
#include "json/base64.h"
#include "json/writer.h"
#include "model/limits.h"
#include "replica/replica_group.h"
#include "replica/replica_join.h"
#include "replica/replicas.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

enum { REGION_IDS_MAX_LOG = 32, ENCODED_SIZE_MAX = 1024 * 1024 };

static struct bytes own_region(const struct api_call *call)
{
    return bytes_from_text(api_options(call->api)->region);
}

/* Bytes in base64. False with the error set. */
static bool decode(struct api_call *call, struct bytes text, const char *name, struct bytes *out)
{
    uint8_t *data = arena_alloc(call->arena, base64_decoded_max(text.len) + 1);
    size_t size;
    if (!base64_decode(text, data, &size))
        return error_validation(&call->error, "%s is not base64", name);
    *out = bytes_of(data, size);
    return true;
}

/* Whether the sender means this server. One that was given a wrong address would otherwise take
 * rows out of the queue of a region that never gets them. */
static bool check_destination(struct api_call *call, struct bytes from, struct bytes to)
{
    return bytes_equal(to, own_region(call)) ||
           error_validation(&call->error,
                            "This is the server of the region %.*s, not of %.*s: see region-peers "
                            "of the server of %.*s",
                            BYTES_FMT(own_region(call)), BYTES_FMT(to), BYTES_FMT(from));
}

static bool refuse_durability(struct api_call *call)
{
    return error_validation(
        &call->error,
        "The server of region %.*s has the setting durability \"os\", so a power "
        "cut may take back what it has acknowledged, and it has no replicas",
        BYTES_FMT(own_region(call)));
}

/* --- ReplicateSettings: the group of a table has changed --- */

struct replicate_table_request {
    struct bytes table_name;
    struct bytes from_region;
    struct bytes to_region;
    struct bytes definition;     /* The table's record in that region, in base64. */
    struct shape_boolean create; /* Make the table, which a client asks for there. */
};
static const struct shape region_shape = { .kind = SHAPE_STRING,
                                           .min = 1,
                                           .max = REPLICA_REGION_SIZE_MAX };
static const struct shape_field table_fields[] = {
    { SHAPE_FIELD(struct replicate_table_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true },
    { SHAPE_FIELD(struct replicate_table_request, from_region, "FromRegion", &region_shape),
      .required = true },
    { SHAPE_FIELD(struct replicate_table_request, to_region, "ToRegion", &region_shape),
      .required = true },
    { SHAPE_FIELD(struct replicate_table_request, definition, "Definition", &common_string),
      .required = true },
    { SHAPE_FIELD(struct replicate_table_request, create, "Create", &common_boolean) },
};
static const struct shape table_shape = {
    SHAPE_STRUCTURE_OF(struct replicate_table_request, table_fields),
    .type_name = "ReplicateSettingsInput",
};

/* What the sender hears: the epoch that is known here; or that this region has no such table, or
 * that the sender is no member. */
enum said { SAY_EPOCH, SAY_GONE, SAY_REMOVED };

/* `known`: the group as it is known here now; NULL: none, or it cannot follow yet. */
static bool answer_table(struct api_call *call, const struct replica_definition *known,
                         enum said said)
{
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Epoch");
    json_write_integer(&json, known == NULL ? 0 : known->epoch);
    json_write_name(&json, "Coordinator"); /* Two may have made epochs with one number. */
    json_write_string(&json, known == NULL ? BYTES("") : known->coordinator);
    json_write_name(&json, "Gone");
    json_write_bool(&json, said == SAY_GONE);
    json_write_name(&json, "Removed");
    json_write_bool(&json, said == SAY_REMOVED);
    json_close_object(&json);
    return true;
}

static bool read_definition(struct api_call *call, const struct replicate_table_request *request,
                            struct table_definition *out)
{
    struct bytes encoded;
    struct item record;
    if (!decode(call, request->definition, "Definition", &encoded))
        return false;
    if (encoded.len > ENCODED_SIZE_MAX || !item_open(encoded, &record) || !item_verify(&record) ||
        !table_definition_decode(call->arena, &record, out) ||
        !replica_definition_is_group(&out->replicas) || out->replicas.epoch > REPLICA_NUMBER_MAX ||
        !bytes_equal(out->name, operation_table_name(request->table_name)) ||
        !bytes_equal(out->replicas.own.region, request->from_region))
        return error_validation(&call->error,
                                "Definition is not one that this version of stator understands: "
                                "update the servers of all regions");
    if (replicas_find_peer(api_replicas(call->api), request->from_region) == NULL)
        return error_validation(&call->error,
                                "This server has no peer in the region %.*s: see region-peers",
                                BYTES_FMT(request->from_region));
    return true;
}

/* Makes the table of a region that joins. */
static bool create(struct api_call *call, const struct table_definition *said,
                   const struct replica_definition *group)
{
    struct table_definition draft = replica_join_draft(call->arena, said, group);
    if (api_options(call->api)->loses_writes)
        return refuse_durability(call);
    if (catalogue_table_count(api_catalogue(call->api)) >= TABLES_MAX)
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: There is a limit of %d tables per subscriber",
                         TABLES_MAX);
    replica_settings_apply_overrides(&draft);
    draft.uuid = uuid_create(call->arena);
    draft.created_ms = clock_wall_ms(api_options(call->api)->clock);
    if (draft.stream_enabled)
        stream_operation_label(call, &draft);
    enum engine_status status = catalogue_create(api_catalogue(call->api), call->arena, &draft);
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "ReplicateSettings");
    control_settle_streams(api_control(call->api), call->arena, draft.log_id);
    log_write(LOG_INFO, "replica", "table %.*s: made as a replica", BYTES_FMT(draft.name));
    return answer_table(call, &draft.replicas, SAY_EPOCH);
}

/* As for DeleteTable, a change of the table ends first. */
static bool is_changing(const struct table_definition *definition)
{
    for (size_t i = 0; i < definition->index_count; i++)
        if (definition->indexes[i].status != INDEX_ACTIVE)
            return true;
    return !table_life_may_delete(definition);
}

/* This region is not a member any more. A table that was to be deleted goes, and one that is not
 * filled; another one is a regional table from now on. */
static bool leave(struct api_call *call, struct table *table, bool is_deleted)
{
    const struct table_definition *definition = table_definition(table);
    struct catalogue *catalogue = api_catalogue(call->api);
    struct table_definition changed = table_definition_copy(call->arena, definition);
    enum engine_status status;
    is_deleted = is_deleted || definition->replicas.own.status == REPLICA_CREATING;
    if (is_deleted && is_changing(definition))
        return answer_table(call, NULL, SAY_EPOCH); /* The sender tries again. */
    if (is_deleted) {
        if (definition->deletion_protected)
            return error_validation(&call->error,
                                    "Resource cannot be deleted as it is currently protected "
                                    "against deletion. Disable deletion protection first.");
        struct table_life_pace pace = table_operation_pace(call);
        status = table_life_delete(catalogue, call->arena, definition, &pace);
    } else {
        replica_group_leave(&changed);
        status = catalogue_update(catalogue, call->arena, &changed);
    }
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "ReplicateSettings");
    log_write(LOG_INFO, "replica", "table %.*s: %s", BYTES_FMT(definition->name),
              is_deleted ? "deleted with its replica" : "is no replica any more");
    return answer_table(call, NULL, SAY_GONE);
}

/* Takes the group over, and the settings that all members share. As long as an index or the expiry
 * queue is still changing, the group stays as it was, and the sender tries again. */
static bool adopt(struct api_call *call, struct table *table, const struct table_definition *said,
                  const struct replica_definition *group)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    struct table_definition changed = table_definition_copy(call->arena, table_definition(table));
    if (!replica_group_adopt(call->arena, &changed, group))
        return answer_table(call, &changed.replicas, SAY_EPOCH);
    bool complete = replica_settings_follow(call->arena, &changed, said, now_ms);
    if (!complete)
        changed.replicas = table_definition(table)->replicas;
    if (complete && changed.status == TABLE_CREATING &&
        changed.replicas.own.status == REPLICA_ACTIVE)
        changed.status = TABLE_ACTIVE;
    enum engine_status status = catalogue_update(api_catalogue(call->api), call->arena, &changed);
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "ReplicateSettings");
    return answer_table(call, &changed.replicas, SAY_EPOCH);
}

/* Whether the table is this region's member of the group. A server whose region was renamed is a
 * member under its old name only. One that has left is none, although its group is not ended yet:
 * what was written since has no stamps. Nor is one that was taken out and does not know it, if the
 * region is added anew (`wanted`): its items are old. */
static bool is_of_group(const struct api_call *call, const struct table_definition *table,
                        const struct table_definition *said,
                        const struct replica_definition *wanted)
{
    const struct replica_definition *known = &table->replicas;
    return known->count > 0 && bytes_equal(known->group_id, said->replicas.group_id) &&
           bytes_equal(known->own.region, own_region(call)) &&
           (wanted == NULL || wanted->own.added_ms == known->own.added_ms);
}

static bool is_known(const struct table_definition *table, const struct table_definition *said)
{
    return replica_definition_find(&table->replicas, said->replicas.own.region) != NULL;
}

/* The sender is not of the group that is known here: it was taken out, or never let in. Or it is
 * ahead: one that is being made may be known to its source alone. But all members know of one
 * before it is complete, so what a complete one says is not adopted, whatever its epoch: that
 * grows, too, if settings are changed in a region that was taken out, and it lacks what was written
 * since. */
static bool answer_stranger(struct api_call *call, const struct table_definition *table,
                            const struct table_definition *said)
{
    if (!replica_group_is_newer(&said->replicas, &table->replicas))
        return answer_table(call, NULL, SAY_REMOVED);
    return error_set(&call->error, ERROR_RESOURCE_IN_USE,
                     "The region %.*s is no member of the global table, as region %.*s knows it",
                     BYTES_FMT(said->replicas.own.region), BYTES_FMT(own_region(call)));
}

static bool replicate_table(struct api_call *call, const struct replicate_table_request *request)
{
    struct table_definition said;
    struct replica_definition group;
    if (!check_destination(call, request->from_region, request->to_region) ||
        !read_definition(call, request, &said))
        return false;
    struct table *table = catalogue_find(api_catalogue(call->api), said.name);
    bool is_member = replica_join_view(call->arena, &said, own_region(call), &group);
    bool is_same = table != NULL &&
                   is_of_group(call, table_definition(table), &said, is_member ? &group : NULL);
    /* Only at first: if the table is gone later, so are rows that left the senders' queues. */
    bool makes = request->create.value && is_member && group.own.status == REPLICA_CREATING;
    bool ok;
    if (table == NULL)
        ok = makes ? create(call, &said, &group) : answer_table(call, NULL, SAY_GONE);
    else if (!is_same && makes)
        ok = error_set(&call->error, ERROR_RESOURCE_IN_USE, "Table already exists: %.*s",
                       BYTES_FMT(said.name));
    else if (!is_same || table_definition(table)->status == TABLE_DELETING)
        ok = answer_table(call, NULL, SAY_GONE);
    else if (!is_known(table_definition(table), &said) &&
             (said.replicas.own.status != REPLICA_CREATING ||
              !replica_group_is_newer(&said.replicas, &table_definition(table)->replicas)))
        ok = answer_stranger(call, table_definition(table), &said);
    else if (said.replicas.epoch >= table_definition(table)->replicas.epoch &&
             (!is_member || group.own.status == REPLICA_DELETING))
        ok = leave(call, table, is_member);
    else if (!is_member)
        ok = answer_table(call, &table_definition(table)->replicas, SAY_EPOCH);
    else
        ok = adopt(call, table, &said, &group);
    table_release(table);
    return ok;
}

static void run_replicate_table(struct api_call *call, const void *input)
{
    operation_end(call, replicate_table(call, input));
}

const struct operation op_replicate_settings = { .name = "ReplicateSettings",
                                                 .service = OPERATION_OF_STATOR,
                                                 .kind = OPERATION_CONTROL,
                                                 .request = &table_shape,
                                                 .asks = OPERATION_ASKS_RESOURCE,
                                                 .run = run_replicate_table };

/* --- WriteDataForReplication: what was written in another region --- */

struct row_request {
    struct shape_integer time;
    struct shape_integer region;
    struct bytes item;
    struct bytes deleted;
};
struct replicate_rows_request {
    struct bytes table_name;
    struct bytes from_region;
    struct bytes to_region;
    struct bytes group_id;
    struct bytes session;
    struct shape_integer number;
    struct shape_integer epoch;
    struct shape_integer sent_time;
    struct shape_integer closed_time;
    struct shape_integer low_time;
    struct shape_list rows; /* of struct row_request * */
};
static const struct shape time_shape = { .kind = SHAPE_LONG, .min = 0, .max = SHAPE_NO_MAX };
static const struct shape number_shape = { .kind = SHAPE_LONG,
                                           .min = 0,
                                           .max = REPLICA_NUMBER_MAX };
static const struct shape row_time_shape = { .kind = SHAPE_LONG, .min = 1, .max = SHAPE_NO_MAX };
static const struct shape row_region_shape = { .kind = SHAPE_LONG, .min = 1, .max = UINT32_MAX };
static const struct shape_field row_fields[] = {
    { SHAPE_FIELD(struct row_request, time, "Time", &row_time_shape) },
    { SHAPE_FIELD(struct row_request, region, "Region", &row_region_shape) },
    { SHAPE_FIELD(struct row_request, item, "Item", &common_string) },
    { SHAPE_FIELD(struct row_request, deleted, "Deleted", &common_string) },
};
static const struct shape row_shape = { SHAPE_STRUCTURE_OF(struct row_request, row_fields),
                                        .type_name = "Row" };
static const struct shape rows_list_shape = {
    .kind = SHAPE_LIST, .element = &row_shape, .min = 0, .max = REPLICA_ROWS_MAX
};
static const struct shape_field rows_fields[] = {
    { SHAPE_FIELD(struct replicate_rows_request, table_name, "TableName",
                  &common_existing_table_name),
      .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, from_region, "FromRegion", &region_shape),
      .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, to_region, "ToRegion", &region_shape),
      .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, group_id, "GroupId", &common_string),
      .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, session, "Session", &common_string),
      .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, number, "Number", &number_shape),
      .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, epoch, "Epoch", &number_shape), .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, sent_time, "SentTime", &time_shape),
      .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, closed_time, "ClosedTime", &time_shape),
      .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, low_time, "LowTime", &time_shape),
      .required = true },
    { SHAPE_FIELD(struct replicate_rows_request, rows, "Rows", &rows_list_shape),
      .required = true },
};
static const struct shape rows_shape = {
    SHAPE_STRUCTURE_OF(struct replicate_rows_request, rows_fields),
    .type_name = "WriteDataForReplicationInput",
};

static bool read_rows(struct api_call *call, const struct shape_list *list,
                      struct replica_row *rows)
{
    struct row_request *const *requests = list->elements;
    for (size_t i = 0; i < list->count; i++) {
        const struct row_request *row = requests[i];
        rows[i] = (struct replica_row){ 0 };
        if ((row->item.data == NULL) == (row->deleted.data == NULL) ||
            row->time.present != row->region.present)
            return error_validation(&call->error, "A row has an Item or is Deleted, and has both "
                                                  "Time and Region or neither");
        rows[i].stamp = (struct replica_stamp){ .commit_us = row->time.value,
                                                .region = (uint32_t)row->region.value,
                                                .deleted = row->deleted.data != NULL };
        if (row->item.data != NULL ? !decode(call, row->item, "Item", &rows[i].item)
                                   : !decode(call, row->deleted, "Deleted", &rows[i].key))
            return false;
    }
    return true;
}

static bool answer_rows(struct api_call *call, const struct replica_outcome *outcome)
{
    struct json_writer json;
    switch (outcome->verdict) {
    case REPLICA_TOO_EARLY:
        return error_set(&call->error, ERROR_THROTTLING,
                         "A row is from the future: the clocks of the two regions differ by more "
                         "than replication-skew-max-ms");
    case REPLICA_BAD_ROW:
        return error_validation(&call->error, "A row is damaged, or does not fit the table");
    case REPLICA_NO_MEMBER:
        return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                         "The sender is no member of the global table");
    case REPLICA_NOT_DURABLE:
        return refuse_durability(call);
    case REPLICA_NOT_STORED:
        return storage_error_set_for_table(&call->error, outcome->status,
                                           "WriteDataForReplication");
    case REPLICA_APPLIED:
    case REPLICA_NEW_SESSION:
        break;
    }
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Applied");
    json_write_bool(&json, outcome->verdict == REPLICA_APPLIED);
    json_write_name(&json, "Session");
    json_write_string(&json, outcome->session);
    json_write_name(&json, "Number");
    json_write_integer(&json, outcome->number);
    json_close_object(&json);
    return true;
}

static bool replicate_rows(struct api_call *call, const struct replicate_rows_request *request)
{
    struct table *table = operation_find_table(call, request->table_name);
    struct replica_row *rows =
        arena_alloc(call->arena, (request->rows.count + 1) * sizeof(struct replica_row));
    if (!check_destination(call, request->from_region, request->to_region))
        return false;
    if (table == NULL || table_definition(table)->status == TABLE_DELETING ||
        !bytes_equal(table_definition(table)->replicas.group_id, request->group_id))
        return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                         "Requested resource not found: Table: %.*s is no replica of that group",
                         BYTES_FMT(operation_table_name(request->table_name)));
    if (!read_rows(call, &request->rows, rows))
        return false;
    const struct replica_batch batch = { .from = request->from_region,
                                         .to = request->to_region,
                                         .session = request->session,
                                         .number = request->number.value,
                                         .epoch = request->epoch.value,
                                         .time_us = request->sent_time.value,
                                         .closed_us = request->closed_time.value,
                                         .low_us = request->low_time.value,
                                         .rows = rows,
                                         .row_count = request->rows.count };
    give_way_set(false); /* From here on others may wait for what this thread holds. */
    struct replica_outcome outcome =
        replicas_receive(api_replicas(call->api), call->arena, table, &batch);
    return answer_rows(call, &outcome);
}

static void run_replicate_rows(struct api_call *call, const void *input)
{
    operation_end(call, replicate_rows(call, input));
}

const struct operation op_write_data_for_replication = { .name = "WriteDataForReplication",
                                                         .service = OPERATION_OF_STATOR,
                                                         .kind = OPERATION_DATA,
                                                         .request = &rows_shape,
                                                         .asks = OPERATION_ASKS_RESOURCE,
                                                         .waits = OPERATION_WAITS_AND_WRITES,
                                                         .run = run_replicate_rows };
