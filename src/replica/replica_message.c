/* replica_message.c -- see replica_message.h. Items and keys travel in their stored encoding, which
 * has its own format and checks. */
#include "replica/replica_message.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/base64.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "replica/replica_rows.h"
#include "replica/replicas.h"
#include "shape/shape.h"

static void write_string(struct json_writer *json, const char *name, struct bytes value)
{
    json_write_name(json, name);
    json_write_string(json, value);
}

static void write_integer(struct json_writer *json, const char *name, int64_t value)
{
    json_write_name(json, name);
    json_write_integer(json, value);
}

static void write_bytes(struct json_writer *json, const char *name, struct bytes value)
{
    json_write_name(json, name);
    json_write_base64(json, value);
}

struct bytes replica_message_table(struct arena *arena, struct bytes from, struct bytes to,
                                   const struct table_definition *table, bool makes)
{
    struct buffer body;
    struct json_writer json;
    buffer_init(&body, arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    write_string(&json, "TableName", table->name);
    write_string(&json, "FromRegion", from);
    write_string(&json, "ToRegion", to);
    json_write_name(&json, "Create");
    json_write_bool(&json, makes);
    struct table_definition shown = *table; /* Each region splits partitions by itself. */
    shown.splits = NULL;
    shown.split_count = 0;
    shown.splitting_id = 0;
    write_bytes(&json, "Definition", table_definition_encode(arena, &shown).encoded);
    json_close_object(&json);
    return buffer_bytes(&body);
}

static void write_row(struct json_writer *json, const struct replica_row *row)
{
    json_open_object(json);
    if (row->stamp.commit_us > 0) {
        write_integer(json, "Time", row->stamp.commit_us);
        write_integer(json, "Region", (int64_t)row->stamp.region);
    }
    if (row->item.data != NULL)
        write_bytes(json, "Item", row->item);
    else
        write_bytes(json, "Deleted", row->key);
    json_close_object(json);
}

struct bytes replica_message_rows(struct arena *arena, const struct table_definition *table,
                                  const struct replica_batch *batch,
                                  const struct replica_page *page)
{
    struct buffer body;
    struct json_writer json;
    buffer_init(&body, arena);
    buffer_reserve(&body, base64_encoded_size(page->size) + page->count * 128 + 1024);
    json_writer_init(&json, &body);
    json_open_object(&json);
    write_string(&json, "TableName", table->name);
    write_string(&json, "FromRegion", batch->from);
    write_string(&json, "ToRegion", batch->to);
    write_string(&json, "GroupId", table->replicas.group_id);
    write_string(&json, "Session", batch->session);
    write_integer(&json, "Number", batch->number);
    write_integer(&json, "Epoch", batch->epoch);
    write_integer(&json, "SentTime", batch->time_us);
    write_integer(&json, "ClosedTime", batch->closed_us);
    write_integer(&json, "LowTime", batch->low_us);
    json_write_name(&json, "Rows");
    json_open_array(&json);
    for (size_t i = 0; i < page->count; i++)
        if (page->list[i].is_sent)
            write_row(&json, &page->list[i].row);
    json_close_array(&json);
    json_close_object(&json);
    return buffer_bytes(&body);
}

/* --- Answers --- */

struct answer {
    struct shape_integer epoch;
    struct bytes coordinator;
    struct shape_boolean gone;
    struct shape_boolean removed;
    struct shape_boolean applied;
    struct bytes session;
    struct shape_integer number;
};
static const struct shape long_shape = { .kind = SHAPE_LONG, SHAPE_UNBOUNDED };
static const struct shape boolean_shape = { .kind = SHAPE_BOOLEAN, SHAPE_UNBOUNDED };
static const struct shape string_shape = { .kind = SHAPE_STRING, SHAPE_UNBOUNDED };
static const struct shape_field answer_fields[] = {
    { SHAPE_FIELD(struct answer, epoch, "Epoch", &long_shape) },
    { SHAPE_FIELD(struct answer, coordinator, "Coordinator", &string_shape) },
    { SHAPE_FIELD(struct answer, gone, "Gone", &boolean_shape) },
    { SHAPE_FIELD(struct answer, removed, "Removed", &boolean_shape) },
    { SHAPE_FIELD(struct answer, applied, "Applied", &boolean_shape) },
    { SHAPE_FIELD(struct answer, session, "Session", &string_shape) },
    { SHAPE_FIELD(struct answer, number, "Number", &long_shape) },
};
static const struct shape answer_shape = { SHAPE_STRUCTURE_OF(struct answer, answer_fields),
                                           .type_name = "Answer" };

static bool is_number(int64_t value)
{
    return value >= 0 && value <= REPLICA_NUMBER_MAX;
}

bool replica_message_read(struct arena *arena, struct bytes body, struct replica_said *out)
{
    struct answer answer = { 0 };
    struct error err;
    error_init(&err, arena);
    if (!shape_read(arena, body, &answer_shape, &answer, &err) || !is_number(answer.epoch.value) ||
        !is_number(answer.number.value))
        return false;
    *out = (struct replica_said){ .epoch = answer.epoch.value,
                                  .coordinator = answer.coordinator,
                                  .is_gone = answer.gone.value,
                                  .is_removed = answer.removed.value,
                                  .is_applied = answer.applied.value,
                                  .session = answer.session,
                                  .number = answer.number.value };
    return true;
}
