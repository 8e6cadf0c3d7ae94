/* op_jobs.c -- ListJobs, an operation of our own: long work with its progress, for `stator jobs`.
 */
#include <assert.h>
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
    write_string(writer, "Status", bytes_from_text(job_state_name(record->state)));
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
                                        .waits = true,
                                        .run = run_list };
