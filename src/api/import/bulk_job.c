/* bulk_job.c -- see bulk_job.h. */
#include "api/import/bulk_job.h"
#include <assert.h>
#include <time.h>
#include "api/import/bulk_report.h"
#include "api/import/bulk_request.h"
#include "api/import/bulk_write.h"
#include "api/import/error_log.h"
#include "api/import/import_request.h"
#include "api/import/object_input.h"
#include "api/item/item_change.h"
#include "api/job_access.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/give_way.h"
#include "base/log.h"
#include "format/item_reader.h"
#include "model/arn.h"
#include "model/error.h"
#include "table/catalogue.h"

enum {
    POSITION_NUMBERS = 4, /* Sizes of both notes, bytes of the table and of its indexes. */
    POSITION_HEAD_SIZE = POSITION_NUMBERS * 8,
    RECORDS_PER_POSITION = 10000,
    FAILURES_MAX = 20,
    PAUSE_MS_MAX = 100,
    READ_WORK = 10, /* For a byte of a record: base/give_way.h. */
};

struct bulk {
    struct api *api;
    struct job *job;
    struct arena *arena; /* For the whole turn. */
    struct arena *scratch;
    struct arena *notes;      /* For one line of a note. */
    struct job_record record; /* As stored. */
    struct start_bulk_request request;
    struct bytes arn;
    struct job_access *access;
    struct object_input *input;
    struct bulk_write *write;
    struct error_log *errors;
    struct error_log *refusals;
    enum engine_status status; /* Of the writes before the bucket was waited for. */
    struct job_progress progress;
    struct bulk_usage usage;
    size_t unsaved;
    uint64_t units; /* Written in this turn, */
    int64_t started_ns;
};

/* --- Records of jobs --- */

struct bytes bulk_job_arn(struct arena *arena, struct api *api, const struct job_record *record)
{
    const struct api_options *options = api_options(api);
    struct bytes table =
        arn_of_table(arena, options->region, options->account_id, record->table_name);
    return arena_printf(arena, "%.*s/bulk-operation/%s", BYTES_FMT(table), record->id);
}

struct bulk_usage bulk_job_usage(const struct job_record *record)
{
    if (record->position.len < POSITION_HEAD_SIZE)
        return (struct bulk_usage){ 0 };
    return (struct bulk_usage){ .table_bytes = load_u64_be(record->position.data + 16),
                                .index_bytes = load_u64_be(record->position.data + 24) };
}

/* The stored state is what counts: after a failure memory may be ahead of it. */
static bool load_record(struct bulk *bulk)
{
    const struct job_record *mine = job_record(bulk->job);
    if (job_record_load(job_engine(bulk->job), bulk->arena, mine->letter,
                        bytes_of(mine->id, JOB_ID_SIZE), &bulk->record) != ENGINE_OK)
        return false;
    bulk->progress = bulk->record.progress;
    bulk->usage = bulk_job_usage(&bulk->record);
    job_set_position(bulk->job, bulk->record.position);
    job_set_progress(bulk->job, &bulk->progress);
    return true;
}

static bool read_request(struct bulk *bulk)
{
    struct error err;
    error_init(&err, bulk->arena);
    return shape_read(bulk->arena, bulk->record.detail, &start_bulk_shape, &bulk->request, &err);
}

static bool read_position(struct bulk *bulk, struct object_input_position *position)
{
    const char *folder = api_options(bulk->api)->imports_folder;
    struct bytes stored = bulk->record.position;
    uint64_t sizes[2] = { 0 };
    *position = (struct object_input_position){ 0 };
    if (stored.len > 0) {
        if (stored.len < POSITION_HEAD_SIZE ||
            !object_input_decode(
                bytes_of(stored.data + POSITION_HEAD_SIZE, stored.len - POSITION_HEAD_SIZE),
                position))
            return false;
        sizes[0] = load_u64_be(stored.data);
        sizes[1] = load_u64_be(stored.data + 8);
    }
    bulk->errors = error_log_open(folder, bulk->record.id, "error", sizes[0]);
    bulk->refusals = error_log_open(folder, bulk->record.id, "condition", sizes[1]);
    return true;
}

static void set_position(struct bulk *bulk, const struct object_input_position *position)
{
    uint8_t head[POSITION_HEAD_SIZE];
    store_u64_be(head, error_log_size(bulk->errors));
    store_u64_be(head + 8, error_log_size(bulk->refusals));
    store_u64_be(head + 16, bulk->usage.table_bytes);
    store_u64_be(head + 24, bulk->usage.index_bytes);
    const struct bytes parts[] = { bytes_of(head, sizeof head),
                                   object_input_encode(bulk->scratch, position) };
    job_set_position(bulk->job, arena_join(bulk->scratch, parts, COUNT_OF(parts)));
    bulk->progress.bytes_done = (int64_t)object_input_stored(bulk->input);
    job_set_progress(bulk->job, &bulk->progress);
}

/* For bulk_write: what a batch did is stored with it. */
static void stamp(struct job_record *record, uint8_t *position, const struct bulk_outcome *outcome)
{
    assert(record->position.len >= POSITION_HEAD_SIZE);
    store_u64_be(position + 16, load_u64_be(position + 16) + outcome->table_bytes);
    store_u64_be(position + 24, load_u64_be(position + 24) + outcome->index_bytes);
    record->progress.error_count += (int64_t)outcome->error_count;
}

static bool is_stopping(void *context)
{
    const struct bulk *bulk = context;
    return job_is_stopping(bulk->job);
}

static bool may_read(void *context, struct bytes key)
{
    const struct bulk *bulk = context;
    return job_access_may_use(bulk->access, "GetObject", bulk->request.input->bucket, key);
}

/* --- Records --- */

static struct error_line line_of(const struct bulk *bulk, struct bytes key, uint64_t index,
                                 struct bytes message)
{
    return (struct error_line){ .bucket = bulk->request.input->bucket,
                                .key = key,
                                .index = index,
                                .arn_name = "bulkOperationArn",
                                .arn = bulk->arn,
                                .message = message };
}

static void note_error(struct bulk *bulk, struct bytes key, uint64_t index, struct bytes message)
{
    const struct error_line line = line_of(bulk, key, index, message);
    if (bulk_request_reports(&bulk->request, "ERROR"))
        error_log_add(bulk->errors, &line);
    bulk->progress.error_count++;
}

static void refuse(struct bulk *bulk, uint64_t index, struct bytes message)
{
    const struct object_input_position *position = object_input_position(bulk->input);
    note_error(bulk, bytes_of(position->key, position->key_size), index, message);
    bulk->progress.items_done++;
}

/* Shows the item that is there only to those who may read it. */
static void note_refusal(struct bulk *bulk, const struct bulk_outcome *outcome,
                         const struct bulk_refusal *refusal)
{
    struct error_line line =
        line_of(bulk, refusal->key, refusal->index, BYTES("The conditional request failed"));
    line.item_json = item_change_item_json(bulk->notes, &refusal->item);
    if (refusal->existing.encoded.data != NULL &&
        job_access_may_show(bulk->access, outcome->table, &refusal->existing))
        line.existing_json = item_change_item_json(bulk->notes, &refusal->existing);
    error_log_add(bulk->refusals, &line);
    arena_reset(bulk->notes);
}

/* A batch is durable. */
static void take_outcome(void *context, const struct bulk_outcome *outcome)
{
    struct bulk *bulk = context;
    bool reports = bulk_request_reports(&bulk->request, "CONDITION_CHECK_FAILURE");
    bulk->usage.table_bytes += outcome->table_bytes;
    bulk->usage.index_bytes += outcome->index_bytes;
    bulk->units += outcome->units;
    for (size_t i = 0; i < outcome->refusal_count; i++) {
        const struct bulk_refusal *refusal = &outcome->refusals[i];
        if (refusal->error.data != NULL)
            note_error(bulk, refusal->key, refusal->index, refusal->error);
        else if (reports)
            note_refusal(bulk, outcome, refusal);
    }
}

/* Not faster than MaxWriteRequestUnits on average. */
static void keep_pace(struct bulk *bulk)
{
    if (!bulk->request.max_write_units.present)
        return;
    double due_s = (double)bulk->units / (double)bulk->request.max_write_units.value;
    while (!job_is_stopping(bulk->job)) {
        double ahead_ms =
            due_s * 1000 - (double)(clock_monotonic_ns() - bulk->started_ns) / 1000000;
        if (ahead_ms < 1)
            return;
        long pause_ms = ahead_ms > PAUSE_MS_MAX ? PAUSE_MS_MAX : (long)ahead_ms;
        nanosleep(&(struct timespec){ .tv_nsec = pause_ms * 1000000 }, NULL);
    }
}

/* Waits for the batch before: its outcome is part of what is stored with this one. */
static enum engine_status save(struct bulk *bulk, const struct object_input_position *position)
{
    enum engine_status status = bulk_write_wait(bulk->write);
    if (status != ENGINE_OK)
        return status;
    error_log_sync(bulk->errors);
    error_log_sync(bulk->refusals);
    set_position(bulk, position);
    bulk->unsaved = 0;
    status = bulk_write_flush(bulk->write);
    keep_pace(bulk);
    return status;
}

/* The bucket may keep the job waiting, and a change of the table must not wait for that. */
static bool before_wait(void *context)
{
    struct bulk *bulk = context;
    if (!bulk_write_holds_table(bulk->write))
        return true;
    bulk->status = save(bulk, object_input_position(bulk->input));
    if (bulk->status == ENGINE_OK)
        bulk->status = bulk_write_wait(bulk->write);
    return bulk->status == ENGINE_OK;
}

static bool open_input(struct bulk *bulk, const struct object_input_position *position,
                       struct object_error *err)
{
    const struct bulk_input_request *request = bulk->request.input;
    struct object_input_options options = {
        .store = api_options(bulk->api)->objects,
        .bucket = request->bucket,
        .owner = request->bucket_owner,
        .prefix = request->key_prefix.data == NULL ? BYTES("") : request->key_prefix,
        .reader = { .compression = import_compression_of(request->compression),
                    .conditions = true },
        .may_read = may_read,
        .before_wait = before_wait,
        .is_stopping = is_stopping,
        .context = bulk,
    };
    bool known = item_format_parse(request->input_format, &options.reader.format);
    assert(known); /* It passed its shape. */
    (void)known;
    bulk->input = object_input_open(&options, position, err);
    return bulk->input != NULL;
}

/* `before` is the position in front of the record. False if the table is gone. */
static bool take_item(struct bulk *bulk, const struct item_record *record,
                      const struct object_input_position *before, enum engine_status *status)
{
    const struct object_input_position *position = object_input_position(bulk->input);
    struct bytes key = bytes_of(position->key, position->key_size);
    struct error err;
    error_init(&err, bulk->scratch);
    enum bulk_add added = bulk_write_add(bulk->write, record, key, &err);
    if (added == BULK_ADD_FULL) {
        *status = save(bulk, before);
        if (*status != ENGINE_OK)
            return true;
        added = bulk_write_add(bulk->write, record, key, &err);
    }
    if (added == BULK_ADD_BAD)
        refuse(bulk, record->index, err.message);
    else if (added == BULK_ADD_OK)
        bulk->progress.items_done++;
    return added != BULK_ADD_NO_TABLE;
}

/* Reads until something ends it; `*gone`: the table is no longer there. */
static enum object_input_step read_records(struct bulk *bulk, enum engine_status *status,
                                           bool *gone)
{
    *gone = false;
    for (*status = ENGINE_OK; *status == ENGINE_OK;) {
        struct item_record record;
        struct object_input_position before = *object_input_position(bulk->input);
        /* The input asks between pieces only: megabytes, and nobody keeps the pace any more. */
        if (job_is_stopping(bulk->job))
            return OBJECT_INPUT_STOPPED;
        arena_reset(bulk->scratch);
        enum object_input_step step = object_input_next(bulk->input, bulk->scratch, &record);
        if (step == OBJECT_INPUT_ITEM)
            give_way_count(record.text.len * READ_WORK);
        if (step == OBJECT_INPUT_ITEM)
            *gone = !take_item(bulk, &record, &before, status);
        else if (step == OBJECT_INPUT_BAD)
            refuse(bulk, record.index, record.message);
        else {
            *status = bulk->status;
            return step;
        }
        if (*gone)
            return OBJECT_INPUT_FAILED;
        if (*status == ENGINE_OK &&
            (error_log_is_full(bulk->errors) || ++bulk->unsaved >= RECORDS_PER_POSITION))
            *status = save(bulk, object_input_position(bulk->input));
    }
    return OBJECT_INPUT_STOPPED;
}

/* --- The end --- */

static enum job_result again(struct bulk *bulk, enum engine_status status)
{
    log_write(LOG_ERROR, "bulk", "%s: %s", bulk->record.id, engine_status_name(status));
    if (job_failure_count(bulk->job) < FAILURES_MAX)
        return JOB_RESULT_AGAIN;
    job_fail(bulk->job, "InternalServerError", "The operation was given up: %s",
             engine_status_name(status));
    return JOB_RESULT_FAILED;
}

static enum job_result fail(struct bulk *bulk, const struct object_error *err)
{
    if (err->status == OBJECT_CANCELLED && job_is_stopping(bulk->job))
        return job_is_cancelled(bulk->job) ? JOB_RESULT_CANCELLED : JOB_RESULT_STOPPED;
    if (err->status == OBJECT_CHANGED)
        job_fail(bulk->job, "ObjectModifiedInS3DuringImport",
                 "The S3 object could not be imported because it was overwritten.");
    else
        job_fail(bulk->job, object_failure_code(err->status), "%s", err->text);
    return JOB_RESULT_FAILED;
}

/* A cancelled operation still reports what it did. */
static bool stops_server(void *context)
{
    return job_is_stopping(context) && !job_is_cancelled(context);
}

/* Uploads the notes and the manifest. */
static enum job_result report(struct bulk *bulk, enum job_result result)
{
    struct object_error err = { .status = OBJECT_OK };
    const struct bulk_report report = {
        .store = api_options(bulk->api)->objects,
        .output = bulk->request.output,
        .id = bulk->record.id,
        .arn = bulk->arn,
        .errors = bulk_request_reports(&bulk->request, "ERROR") ? bulk->errors : NULL,
        .refusals =
            bulk_request_reports(&bulk->request, "CONDITION_CHECK_FAILURE") ? bulk->refusals : NULL,
        .processed = (uint64_t)bulk->progress.items_done,
        .failed = (uint64_t)bulk->progress.error_count,
        .is_stopping = stops_server,
        .context = bulk->job,
    };
    return bulk_report_write(&report, &err) ? result : fail(bulk, &err);
}

static enum job_result put_all(struct bulk *bulk)
{
    enum engine_status status;
    bool gone;
    bulk->write = bulk_write_create(&(struct bulk_write_options){
        .api = bulk->api,
        .job = bulk->job,
        .table_name = bulk->record.table_name,
        .table_uuid = bulk->record.table_uuid,
        .shows_existing = bulk_request_reports(&bulk->request, "CONDITION_CHECK_FAILURE"),
        .stamp = stamp,
        .written = take_outcome,
        .context = bulk });
    enum object_input_step step = read_records(bulk, &status, &gone);
    if (status == ENGINE_OK && !(step == OBJECT_INPUT_STOPPED && !job_is_cancelled(bulk->job)))
        status = save(bulk, object_input_position(bulk->input));
    if (status == ENGINE_OK)
        status = bulk_write_wait(bulk->write);
    if (status != ENGINE_OK)
        return again(bulk, status);
    error_log_sync(bulk->errors); /* Those of the last batch. */
    error_log_sync(bulk->refusals);
    set_position(bulk, object_input_position(bulk->input));
    if (gone) {
        job_fail(bulk->job, "TableNotFound", "The table was deleted");
        return JOB_RESULT_FAILED;
    }
    if (step == OBJECT_INPUT_STOPPED)
        return job_is_cancelled(bulk->job) ? report(bulk, JOB_RESULT_CANCELLED)
                                           : JOB_RESULT_STOPPED;
    if (step == OBJECT_INPUT_FAILED)
        return fail(bulk, object_input_failure(bulk->input));
    return report(bulk, JOB_RESULT_COMPLETED);
}

static enum job_result run_bulk(struct bulk *bulk)
{
    struct object_input_position position;
    struct object_error err = { .status = OBJECT_OK };
    if (!read_request(bulk) || !read_position(bulk, &position)) {
        job_fail(bulk->job, "InternalServerError", "The record of the operation is damaged");
        return JOB_RESULT_FAILED;
    }
    if (!open_input(bulk, &position, &err))
        return job_is_cancelled(bulk->job) ? report(bulk, JOB_RESULT_CANCELLED) : fail(bulk, &err);
    bulk->progress.bytes_total = (int64_t)object_input_total(bulk->input);
    return put_all(bulk);
}

static enum job_result run(struct job *job, void *context)
{
    struct bulk bulk = { .api = context,
                         .job = job,
                         .arena = arena_create(),
                         .scratch = arena_create(),
                         .notes = arena_create(),
                         .started_ns = clock_monotonic_ns() };
    enum job_result result = JOB_RESULT_AGAIN;
    if (load_record(&bulk)) {
        bulk.arn = bulk_job_arn(bulk.arena, bulk.api, &bulk.record);
        bulk.access = job_access_open(bulk.api, &bulk.record);
        result = run_bulk(&bulk);
    }
    if (result == JOB_RESULT_CANCELLED)
        job_fail(job, "Cancelled", "The bulk operation was cancelled");
    bulk_write_destroy(bulk.write);
    object_input_close(bulk.input);
    error_log_close(bulk.errors);
    error_log_close(bulk.refusals);
    job_access_close(bulk.access);
    arena_destroy(bulk.notes);
    arena_destroy(bulk.scratch);
    arena_destroy(bulk.arena);
    return result;
}

struct job_kind bulk_job_kind(struct api *api)
{
    return (struct job_kind){ .letter = JOB_BULK,
                              .name = "bulk",
                              .active_max = BULK_JOBS_MAX,
                              .run = run,
                              .context = api,
                              .writes_items = true };
}
