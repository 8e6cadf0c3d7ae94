/* op_models.c -- PutModel, GetModel, DeleteModel and ScanModel, our own: the model that a table's
 * items are checked against.
 *
 * The model is part of the table's definition, so that it is durable, and a write checks its item
 * by the version of the table that it uses. Each operation asks for an action of its own on the
 * table: whoever may write items should not by that be able to refuse those of others. GetModel
 * shows keys of items that a scan has found, which are item data.
 */
#include <assert.h>
#include "api/common_shapes.h"
#include "api/model/model_scan.h"
#include "api/model/model_watch.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "jobs/job_record.h"
#include "jobs/job_runner.h"
#include "json/writer.h"
#include "model/limits.h"
#include "schema/entity_rules.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

static_assert((int)ENTITY_MODEL_SIZE_MAX <= (int)MODEL_TEXT_SIZE_MAX, "what fits can be stored");

static int64_t now_ms(const struct api_call *call)
{
    return clock_wall_ms(api_options(call->api)->clock);
}

/* --- PutModel --- */

struct put_model_request {
    struct bytes table_name;
    struct bytes model;
    struct bytes mode;
};

static const char *const modes[] = { "OBSERVE", "ENFORCE", NULL };
static const struct shape mode_shape = { .kind = SHAPE_STRING,
                                         SHAPE_UNBOUNDED,
                                         .enum_values = modes };
static const struct shape model_shape = { .kind = SHAPE_STRING,
                                          .min = 2,
                                          .max = ENTITY_MODEL_INPUT_SIZE_MAX };
static const struct shape_field put_fields[] = {
    { SHAPE_FIELD(struct put_model_request, table_name, "TableName", &common_existing_table_name),
      .required = true },
    { SHAPE_FIELD(struct put_model_request, mode, "Mode", &mode_shape), .required = true },
    { SHAPE_FIELD(struct put_model_request, model, "Model", &model_shape), .required = true },
};
static const struct shape put_shape = { SHAPE_STRUCTURE_OF(struct put_model_request, put_fields),
                                        .type_name = "PutModelInput" };

static void write_head(struct json_writer *writer, const struct table_definition *table)
{
    json_write_name(writer, "TableName");
    json_write_string(writer, table->name);
    json_write_name(writer, "Mode");
    json_write_text(writer, model_mode_name(table->model.mode));
    json_write_name(writer, "UpdatedDateTime");
    json_write_seconds(writer, table->model.updated_ms);
}

static bool put(struct api_call *call, const struct put_model_request *request,
                const struct table *table)
{
    struct table_definition changed = *table_definition(table);
    struct bytes failure;
    struct json_writer writer;
    if (!table_operation_check_idle(call, &changed))
        return false;
    struct bytes text = entity_rules_prepare(call->arena, request->model, &changed, &failure);
    if (text.data == NULL)
        return error_validation(&call->error, "Model is not valid: %.*s", BYTES_FMT(failure));
    changed.model = (struct model_definition){ .text = text, .updated_ms = now_ms(call) };
    bool known = model_mode_parse(request->mode, &changed.model.mode);
    assert(known); /* By its shape. */
    (void)known;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    write_head(&writer, &changed);
    json_close_object(&writer);
    if (!table_operation_store(call, &changed, "PutModel"))
        return false;
    model_watch_reset(table_runtime(table), changed.model.updated_ms);
    return true;
}

static void run_put(struct api_call *call, const void *input)
{
    const struct put_model_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    operation_end(call, table != NULL && put(call, request, table));
}

const struct operation op_put_model = { .name = "PutModel",
                                        .service = OPERATION_OF_STATOR,
                                        .kind = OPERATION_CONTROL,
                                        .request = &put_shape,
                                        .asks = OPERATION_ASKS_RESOURCE,
                                        .run = run_put };

/* --- GetModel --- */

static bool refuse_absent(struct api_call *call, const struct table_definition *table)
{
    return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                     "Requested resource not found: Table: %.*s has no model",
                     BYTES_FMT(table->name));
}

struct scan_search {
    struct arena *arena;
    struct bytes table_uuid;
    bool found;
    struct model_scan_report report;
    bool has_report;
    struct job_record record;
};

/* The newest scan of the table. */
static bool visit_scan(void *context, const struct job_record *record)
{
    struct scan_search *search = context;
    if (!bytes_equal(record->table_uuid, search->table_uuid))
        return true;
    search->found = true;
    search->record = *record;
    search->has_report = model_scan_report_decode(search->arena, record->detail, &search->report);
    return false;
}

static void write_integer(struct json_writer *writer, const char *name, int64_t value)
{
    json_write_name(writer, name);
    json_write_integer(writer, value);
}

static void write_report(struct json_writer *writer, const struct model_scan_report *report)
{
    json_write_name(writer, "ByRule");
    json_open_object(writer);
    for (enum entity_rule rule = ENTITY_RULE_KEY; rule < ENTITY_RULE_COUNT; rule++)
        write_integer(writer, entity_rule_name(rule), (int64_t)report->counts[rule]);
    json_close_object(writer);
    json_write_name(writer, "Examples");
    json_open_array(writer);
    if (report->examples.len > 0)
        json_write_raw(writer, report->examples);
    json_close_array(writer);
}

static void write_scan(struct api_call *call, struct json_writer *writer,
                       const struct scan_search *search)
{
    const struct job_record *record = &search->record;
    struct job_progress progress = record->progress;
    (void)job_runner_progress(api_jobs(call->api), JOB_MODEL_SCAN, bytes_from_text(record->id),
                              &progress);
    json_write_name(writer, "Scan");
    json_open_object(writer);
    json_write_name(writer, "ScanId");
    json_write_text(writer, record->id);
    json_write_name(writer, "Status");
    json_write_text(writer, job_state_name(record->state));
    json_write_name(writer, "StartDateTime");
    json_write_seconds(writer, record->created_ms);
    if (record->ended_ms != 0) {
        json_write_name(writer, "EndDateTime");
        json_write_seconds(writer, record->ended_ms);
    }
    write_integer(writer, "Items", progress.items_done);
    write_integer(writer, "Violations", progress.error_count);
    if (search->has_report)
        write_report(writer, &search->report);
    json_close_object(writer);
}

static bool get(struct api_call *call, struct table *table)
{
    const struct table_definition *definition = table_definition(table);
    struct scan_search search = { .arena = call->arena, .table_uuid = definition->uuid };
    struct json_writer writer;
    if (definition->model.mode == MODEL_NONE)
        return refuse_absent(call, definition);
    enum engine_status status = job_record_visit(
        api_options(call->api)->engine, &(struct job_record_query){ .letter = JOB_MODEL_SCAN,
                                                                    .newest_first = true,
                                                                    .visit = visit_scan,
                                                                    .context = &search });
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "GetModel");
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    write_head(&writer, definition);
    json_write_name(&writer, "Model");
    json_write_string(&writer, definition->model.text);
    model_watch_write(&writer, table_runtime(table));
    if (search.found)
        write_scan(call, &writer, &search);
    json_close_object(&writer);
    return true;
}

static void run_get(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    operation_end(call, table != NULL && get(call, table));
}

const struct operation op_get_model = { .name = "GetModel",
                                        .service = OPERATION_OF_STATOR,
                                        .kind = OPERATION_DATA,
                                        .request = &table_name_request_shape,
                                        .asks = OPERATION_ASKS_RESOURCE,
                                        .waits = OPERATION_WAITS,
                                        .run = run_get };

/* --- DeleteModel --- */

static bool remove_model(struct api_call *call, const struct table *table)
{
    struct table_definition changed = *table_definition(table);
    struct json_writer writer;
    if (!table_operation_check_idle(call, &changed))
        return false;
    if (changed.model.mode == MODEL_NONE)
        return refuse_absent(call, &changed);
    changed.model = (struct model_definition){ 0 };
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_close_object(&writer);
    return table_operation_store(call, &changed, "DeleteModel");
}

static void run_delete(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    operation_end(call, table != NULL && remove_model(call, table));
}

const struct operation op_delete_model = { .name = "DeleteModel",
                                           .service = OPERATION_OF_STATOR,
                                           .kind = OPERATION_CONTROL,
                                           .request = &table_name_request_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run_delete };

/* --- ScanModel --- */

static bool is_scan_of(void *context, const struct job_record *record)
{
    const struct bytes *uuid = context;
    return record->letter == JOB_MODEL_SCAN && bytes_equal(record->table_uuid, *uuid);
}

/* Clients must not fill the store with records. */
static bool check_room(struct api_call *call)
{
    struct job_runner *jobs = api_jobs(call->api);
    bool has_room;
    if (!job_runner_may_add(jobs, JOB_MODEL_SCAN))
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "At most %d scans of models may be under way", MODEL_SCANS_MAX);
    enum engine_status status = job_runner_has_room(jobs, JOB_MODEL_SCAN, &has_room);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "ScanModel");
    return has_room || error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                                 "There are too many records of scans of models. They are removed "
                                 "after %d days",
                                 JOB_RECORD_LIFETIME_DAYS);
}

struct replacement {
    struct arena *arena;
    struct engine_write *write;
    struct bytes table_uuid;
    size_t count;
};

static bool remove_ended(void *context, const struct job_record *record)
{
    struct replacement *replacement = context;
    if (record->state == JOB_RUNNING || !bytes_equal(record->table_uuid, replacement->table_uuid))
        return true;
    const struct engine_address address =
        job_record_address(replacement->arena, JOB_MODEL_SCAN, bytes_of(record->id, JOB_ID_SIZE));
    engine_write_delete(replacement->write, &address);
    return ++replacement->count < JOB_REMOVALS_MAX;
}

/* Stores the record of a new scan in place of those of earlier ones of the table: GetModel shows
 * the newest only. So there is one for each table, and not one for each call of the last 90 days.
 */
static enum engine_status store_scan(struct api_call *call, const struct job_record *record)
{
    struct engine *engine = api_options(call->api)->engine;
    struct replacement replacement = { .arena = call->arena, .table_uuid = record->table_uuid };
    enum engine_status status = engine_write_begin(engine, NULL, 0, &replacement.write);
    if (status != ENGINE_OK)
        return status;
    job_record_put(call->arena, record, replacement.write);
    status = job_record_visit(engine, &(struct job_record_query){ .letter = JOB_MODEL_SCAN,
                                                                  .visit = remove_ended,
                                                                  .context = &replacement });
    if (status == ENGINE_OK)
        return engine_write_commit_wait(replacement.write);
    engine_write_abandon(replacement.write);
    return status;
}

static bool start_scan(struct api_call *call, const struct table *table)
{
    const struct table_definition *definition = table_definition(table);
    struct job_runner *jobs = api_jobs(call->api);
    struct bytes uuid = definition->uuid;
    struct json_writer writer;
    if (!table_operation_check_idle(call, definition))
        return false;
    if (definition->model.mode == MODEL_NONE)
        return refuse_absent(call, definition);
    if (job_runner_any(jobs, is_scan_of, &uuid))
        return error_set(&call->error, ERROR_RESOURCE_IN_USE,
                         "Attempt to change a resource which is still in use: A scan of table %.*s "
                         "is under way",
                         BYTES_FMT(definition->name));
    if (!check_room(call))
        return false;
    struct job_record record = job_runner_new_record(jobs, JOB_MODEL_SCAN);
    record.table_name = definition->name;
    record.table_uuid = definition->uuid;
    enum engine_status status = store_scan(call, &record);
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "ScanModel");
    job_runner_add_stored(jobs, &record);
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "ScanId");
    json_write_text(&writer, record.id);
    json_close_object(&writer);
    return true;
}

static void run_scan(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    operation_end(call, table != NULL && start_scan(call, table));
}

const struct operation op_scan_model = { .name = "ScanModel",
                                         .service = OPERATION_OF_STATOR,
                                         .kind = OPERATION_CONTROL,
                                         .request = &table_name_request_shape,
                                         .asks = OPERATION_ASKS_RESOURCE,
                                         .run = run_scan };
