/* op_regions.c -- DescribeRegions, our own: the global tables of this server, their members, and
 * how far replication is. */
#include <inttypes.h>
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/replica_definition.h"
#include "model/table_definition.h"
#include "replica/replicas.h"
#include "shape/shape.h"
#include "table/catalogue.h"
#include "table/replica_stamp.h"
#include "table/storage_error.h"

enum {
    REGIONS_TABLES_MAX = 256, /* Of one answer. */
    REGIONS_COUNT_MAX =
        10000, /* Stamps, or entries of a queue, of one table: counted up to here. */
    REGIONS_WORK_MAX = 100000, /* Counted entries after which an answer ends. */
};

struct regions_request {
    struct bytes table_name;  /* Of this one only; absent: of all, */
    struct bytes start_after; /* behind this one by name. */
};
static const struct shape any_name = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
static const struct shape_field regions_fields[] = {
    { SHAPE_FIELD(struct regions_request, table_name, "TableName", &any_name) },
    { SHAPE_FIELD(struct regions_request, start_after, "ExclusiveStartTableName", &any_name) },
};
static const struct shape regions_shape = {
    SHAPE_STRUCTURE_OF(struct regions_request, regions_fields),
    .type_name = "DescribeRegionsInput",
};

static bool is_global(const struct table_definition *table, void *context)
{
    (void)context;
    return replica_definition_is_group(&table->replicas);
}

static void write_seconds(struct json_writer *writer, const char *name, int64_t us)
{
    json_write_name(writer, name);
    json_write_double(writer, (double)us / 1e6);
}

/* --- What waits --- */

static enum engine_status count_range(struct engine_view *view, const struct engine_range *range,
                                      int64_t *count)
{
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum engine_status status = engine_scan_open(view, range, &scan);
    while (status == ENGINE_OK && *count < REGIONS_COUNT_MAX) {
        status = engine_scan_next(scan, &entry);
        *count += status == ENGINE_OK;
    }
    engine_scan_close(scan);
    return status == ENGINE_END ? ENGINE_OK : status;
}

/* Stamps of the table if `member` is NULL, or entries of the member's queue. */
static enum engine_status count_waiting(struct api_call *call, const struct table_definition *table,
                                        const struct replica_member *member, int64_t *count)
{
    struct engine_view *view = NULL;
    enum engine_status status =
        engine_view_open(api_options(call->api)->engine, ENGINE_EVENTUAL, &view);
    *count = 0;
    for (size_t i = 0; status == ENGINE_OK && i < table->partition_count; i++) {
        struct engine_range range = { .place =
                                          replica_stamp_place(table->id, table->partitions[i].id) };
        if (member == NULL) {
            range.first = replica_stamp_first_key();
            range.last = replica_stamp_end_key();
        } else {
            range.first = replica_queue_first_key(call->arena, member->id);
            range.last = replica_queue_end_key(call->arena, member->id);
        }
        status = count_range(view, &range, count);
    }
    engine_view_close(view);
    return status;
}

/* --- The answer --- */

static bool write_member(struct api_call *call, struct json_writer *writer,
                         const struct table_definition *table, const struct replica_member *member,
                         int64_t *work)
{
    struct replica_link_state link;
    int64_t now_us = clock_wall_ms(api_options(call->api)->clock) * 1000, waiting;
    enum engine_status status = count_waiting(call, table, member, &waiting);
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "DescribeRegions");
    *work += waiting + 1;
    json_open_object(writer);
    json_write_name(writer, "RegionName");
    json_write_string(writer, member->region);
    json_write_name(writer, "ReplicaStatus");
    json_write_text(writer, replica_status_name(member->status));
    json_write_name(writer, "WaitingItems");
    json_write_integer(writer, waiting);
    if (replicas_link_state(api_replicas(call->api), table, member->region, &link)) {
        json_write_name(writer, "Reached");
        json_write_bool(writer, link.is_reached);
        json_write_name(writer, "ItemsSent");
        json_write_integer(writer, link.rows_sent);
        if (link.closed_us > 0)
            write_seconds(writer, "SendLagSeconds",
                          link.closed_us < now_us ? now_us - link.closed_us : 0);
        if (link.received_us > 0)
            write_seconds(writer, "ReceiveLagSeconds",
                          link.received_us < now_us ? now_us - link.received_us : 0);
        write_seconds(writer, "ClockAheadSeconds", link.ahead_us);
        write_seconds(writer, "LatencyMaxSeconds", link.latency_max_us);
    }
    json_close_object(writer);
    return true;
}

static bool write_table(struct api_call *call, struct json_writer *writer,
                        const struct table_definition *table, int64_t *work)
{
    const struct replica_definition *group = &table->replicas;
    int64_t stamps;
    enum engine_status status = count_waiting(call, table, NULL, &stamps);
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "DescribeRegions");
    *work += stamps + 1;
    json_open_object(writer);
    json_write_name(writer, "TableName");
    json_write_string(writer, table->name);
    json_write_name(writer, "Epoch");
    json_write_integer(writer, group->epoch);
    json_write_name(writer, "Coordinator");
    json_write_string(writer, group->coordinator);
    json_write_name(writer, "OwnStatus");
    json_write_text(writer, replica_status_name(group->own.status));
    json_write_name(writer, "WaitingStamps");
    json_write_integer(writer, stamps);
    json_write_name(writer, "Members");
    json_open_array(writer);
    for (size_t i = 0; i < group->count; i++)
        if (!write_member(call, writer, table, &group->members[i], work))
            return false;
    json_close_array(writer);
    json_close_object(writer);
    return true;
}

static bool write_named(struct api_call *call, struct json_writer *writer, struct bytes name)
{
    struct table *table = catalogue_find(api_catalogue(call->api), name);
    int64_t work = 0;
    bool ok = table == NULL || !is_global(table_definition(table), NULL) ||
              write_table(call, writer, table_definition(table), &work);
    table_release(table);
    return ok;
}

/* Up to as many as an answer may have. `*after` is the last one; empty: there are no more. */
static bool write_all(struct api_call *call, struct json_writer *writer, struct bytes *after)
{
    int64_t work = 0;
    bool ok = true;
    for (size_t count = 0; ok; count++) {
        struct table *table =
            catalogue_find_next(api_catalogue(call->api), *after, is_global, NULL);
        if (table == NULL) {
            *after = BYTES("");
            return true;
        }
        bool has_room = count < REGIONS_TABLES_MAX && work < REGIONS_WORK_MAX;
        if (has_room) {
            *after = arena_copy(call->arena, table_definition(table)->name);
            ok = write_table(call, writer, table_definition(table), &work);
        }
        table_release(table);
        if (!has_room)
            break;
    }
    return ok;
}

static bool write_tables(struct api_call *call, struct json_writer *writer,
                         const struct regions_request *request)
{
    struct bytes after = request->start_after;
    bool is_one = request->table_name.data != NULL;
    json_write_name(writer, "Tables");
    json_open_array(writer);
    bool ok =
        is_one ? write_named(call, writer, request->table_name) : write_all(call, writer, &after);
    json_close_array(writer);
    if (!is_one && after.len > 0) {
        json_write_name(writer, "LastEvaluatedTableName");
        json_write_string(writer, after);
    }
    return ok;
}

static void run(struct api_call *call, const void *input)
{
    const struct regions_request *request = input;
    const struct api_options *options = api_options(call->api);
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "RegionName");
    json_write_text(&writer, options->region);
    json_write_name(&writer, "Peers");
    json_open_array(&writer);
    for (size_t i = 0; i < options->peer_region_count; i++)
        json_write_string(&writer, options->peer_regions[i]);
    json_close_array(&writer);
    bool ok = write_tables(call, &writer, request);
    json_close_object(&writer);
    operation_end(call, ok);
}

const struct operation op_describe_regions = { .name = "DescribeRegions",
                                               .service = OPERATION_OF_STATOR,
                                               .kind = OPERATION_DATA,
                                               .request = &regions_shape,
                                               .asks = OPERATION_ASKS_ACCOUNT,
                                               .waits = OPERATION_WAITS,
                                               .run = run };
