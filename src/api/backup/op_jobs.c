/* op_jobs.c -- ListJobs and CancelJob, operations of our own: long work with its progress, for
 * `stator jobs`, and a way to end it.
 */
#include <assert.h>
#include "api/cancel_job.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "base/compiler.h"
#include "jobs/job_runner.h"
#include "json/writer.h"
#include "model/table_definition.h"
#include "table/storage_error.h"

enum { LIST_JOBS_MAX = 100, LIST_JOBS_DEFAULT = 20 };

struct list_jobs_request {
    struct shape_integer max_results; /* Of each kind. */
    struct shape_boolean active;      /* Only those that have not ended. */
    struct bytes kind;                /* Only this one; data NULL: all, */
    struct bytes table_name;          /* and only those of this table. */
};

static const char *const kind_names[] = { "backup",  "export",     "import", "bulk",
                                          "restore", "model-scan", NULL };
static const enum job_letter kind_letters[] = { JOB_BACKUP, JOB_EXPORT,  JOB_IMPORT,
                                                JOB_BULK,   JOB_RESTORE, JOB_MODEL_SCAN };
static_assert(COUNT_OF(kind_names) == COUNT_OF(kind_letters) + 1, "each kind has a name");

static const struct shape max_shape = { .kind = SHAPE_INTEGER, .min = 1, .max = LIST_JOBS_MAX };
static const struct shape kind_shape = { .kind = SHAPE_STRING,
                                         SHAPE_UNBOUNDED,
                                         .enum_values = kind_names };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct list_jobs_request, max_results, "MaxResults", &max_shape) },
    { SHAPE_FIELD(struct list_jobs_request, active, "Active", &common_boolean) },
    { SHAPE_FIELD(struct list_jobs_request, kind, "Kind", &kind_shape) },
    { SHAPE_FIELD(struct list_jobs_request, table_name, "TableName", &common_existing_table_name) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct list_jobs_request, fields),
                                            .type_name = "ListJobsInput" };

struct listing {
    struct api_call *call;
    struct json_writer writer;
    const char *kind;
    bool only_active;
    struct bytes table_name; /* data NULL: any. */
    size_t room;
};

static void write_string(struct json_writer *writer, const char *name, struct bytes value)
{
    if (value.data == NULL)
        return;
    json_write_name(writer, name);
    json_write_string(writer, value);
}

static void write_integer(struct json_writer *writer, const char *name, int64_t value)
{
    json_write_name(writer, name);
    json_write_integer(writer, value);
}

static void write_progress(struct json_writer *writer, const struct job_progress *progress)
{
    write_integer(writer, "ItemsDone", progress->items_done);
    write_integer(writer, "ItemsTotal", progress->items_total);
    write_integer(writer, "BytesDone", progress->bytes_done);
    write_integer(writer, "BytesTotal", progress->bytes_total);
    write_integer(writer, "Errors", progress->error_count);
}

static void write_job(struct listing *list, const struct job_record *record)
{
    struct json_writer *writer = &list->writer;
    struct job_progress progress = record->progress;
    job_runner_progress(api_jobs(list->call->api), record->letter, bytes_from_text(record->id),
                        &progress); /* Unless it has just ended. */
    json_open_object(writer);
    write_string(writer, "JobId", bytes_from_text(record->id));
    write_string(writer, "Kind", bytes_from_text(list->kind));
    bool ends = record->state == JOB_RUNNING &&
                job_runner_is_cancelled(api_jobs(list->call->api), record->letter,
                                        bytes_from_text(record->id));
    write_string(writer, "Status",
                 ends ? BYTES("CANCELLING") : bytes_from_text(job_state_name(record->state)));
    write_string(writer, "TableName", record->table_name);
    json_write_name(writer, "StartTime");
    json_write_seconds(writer, record->created_ms);
    if (record->ended_ms != 0) {
        json_write_name(writer, "EndTime");
        json_write_seconds(writer, record->ended_ms);
    }
    write_progress(writer, &progress);
    write_string(writer, "FailureCode", record->failure_code);
    write_string(writer, "FailureMessage", record->failure_message);
    json_close_object(writer);
}

static bool visit(void *context, const struct job_record *record)
{
    struct listing *list = context;
    if ((list->only_active && record->state != JOB_RUNNING) ||
        (list->table_name.data != NULL && !bytes_equal(record->table_name, list->table_name)))
        return true;
    write_job(list, record);
    return --list->room > 0;
}

static void run_list(struct api_call *call, const void *input)
{
    const struct list_jobs_request *request = input;
    struct listing list = { .call = call,
                            .only_active = request->active.value,
                            .table_name = request->table_name };
    enum engine_status status = ENGINE_OK;
    json_writer_init(&list.writer, &call->response);
    json_open_object(&list.writer);
    json_write_name(&list.writer, "Jobs");
    json_open_array(&list.writer);
    for (size_t i = 0; i < COUNT_OF(kind_letters) && status == ENGINE_OK; i++) {
        if (request->kind.data != NULL && !bytes_equal_text(request->kind, kind_names[i]))
            continue;
        list.kind = kind_names[i];
        list.room =
            request->max_results.present ? (size_t)request->max_results.value : LIST_JOBS_DEFAULT;
        status = job_record_visit(api_options(call->api)->engine,
                                  &(struct job_record_query){ .letter = kind_letters[i],
                                                              .newest_first = true,
                                                              .visit = visit,
                                                              .context = &list });
    }
    json_close_array(&list.writer);
    json_close_object(&list.writer);
    operation_end(call, status == ENGINE_OK ||
                            storage_error_set_for_table(&call->error, status, "ListJobs"));
}

const struct operation op_list_jobs = { .name = "ListJobs",
                                        .service = OPERATION_OF_STATOR,
                                        .kind = OPERATION_DATA,
                                        .request = &request_shape,
                                        .asks = OPERATION_ASKS_ACCOUNT,
                                        .waits = OPERATION_WAITS,
                                        .run = run_list };

/* --- CancelJob --- */

struct cancel_job_request {
    struct bytes job_id;
};

/* Of other kinds there is nothing that a client would wait for, or that could be ended. */
static const enum job_letter cancelled_letters[] = { JOB_EXPORT, JOB_IMPORT, JOB_BULK,
                                                     JOB_RESTORE };

static const struct shape id_shape = { .kind = SHAPE_STRING,
                                       .min = JOB_ID_SIZE,
                                       .max = JOB_ID_SIZE };
static const struct shape_field cancel_fields[] = {
    { SHAPE_FIELD(struct cancel_job_request, job_id, "JobId", &id_shape), .required = true },
};
static const struct shape cancel_shape = {
    SHAPE_STRUCTURE_OF(struct cancel_job_request, cancel_fields), .type_name = "CancelJobInput"
};

/* The stored record decides: a job is active for a moment after its end. JOB_RUNNING: `*letter`. */
static enum engine_status find_running(struct api_call *call, struct bytes id,
                                       enum job_letter *letter, bool *found)
{
    enum engine_status status = ENGINE_NOT_FOUND;
    struct job_record record;
    *found = false;
    if (!job_record_is_id(id))
        return ENGINE_OK;
    for (size_t i = 0; i < COUNT_OF(cancelled_letters) && status == ENGINE_NOT_FOUND; i++) {
        *letter = cancelled_letters[i];
        status = job_record_load(api_options(call->api)->engine, call->arena, *letter, id, &record);
    }
    *found = status == ENGINE_OK && record.state == JOB_RUNNING;
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

static bool cancel(struct api_call *call, struct bytes id)
{
    struct json_writer writer;
    enum job_letter letter;
    bool active;
    enum engine_status status = find_running(call, id, &letter, &active);
    if (status != ENGINE_OK)
        return storage_error_set(&call->error, status, "CancelJob");
    if (active && !cancel_job_ask(call, letter, id, &active))
        return false;
    if (!active)
        return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                         "Requested resource not found: No job that can be cancelled runs with the "
                         "id %.*s",
                         BYTES_FMT(id));
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    write_string(&writer, "JobId", id);
    write_string(&writer, "Status", BYTES("CANCELLING"));
    json_close_object(&writer);
    return true;
}

static void run_cancel(struct api_call *call, const void *input)
{
    const struct cancel_job_request *request = input;
    operation_end(call, cancel(call, request->job_id));
}

const struct operation op_cancel_job = { .name = "CancelJob",
                                         .service = OPERATION_OF_STATOR,
                                         .kind = OPERATION_DATA,
                                         .request = &cancel_shape,
                                         .asks = OPERATION_ASKS_ACCOUNT,
                                         .is_audited = true,
                                         .waits = OPERATION_WAITS,
                                         .run = run_cancel };
