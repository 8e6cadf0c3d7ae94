/* import_job.c -- see import_job.h. */
#include "api/import/import_job.h"
#include <assert.h>
#include "api/import/error_log.h"
#include "api/import/import_request.h"
#include "api/import/object_input.h"
#include "api/job_access.h"
#include "api/operation.h"
#include "api/table_job.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/log.h"
#include "format/item_reader.h"
#include "index/index_entry.h"
#include "jobs/bulk_load.h"
#include "model/arn.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

enum {
    POSITION_HEAD_SIZE = 8, /* Before the position of the input: the size of the error log. */
    /* Records after which a position is stored though nothing is to be written: all were bad. */
    RECORDS_PER_POSITION = 10000,
    FAILURES_MAX = 20, /* Turns in a row without any progress: minutes, with the runner's pauses. */
};

#define VALIDATION_CODE "ItemValidationError"
#define VALIDATION_TEXT                                                                            \
    "Some of the items failed validation checks and were not imported. Please check CloudWatch "   \
    "error logs for more details."
#define MODIFIED_CODE "ObjectModifiedInS3DuringImport"
#define MODIFIED_TEXT "The S3 object could not be imported because it was overwritten."

struct import {
    struct api *api;
    struct job *job;
    struct arena *arena; /* For the whole turn. */
    struct arena *scratch;
    struct job_record record; /* As stored. */
    struct import_table_request request;
    struct bytes import_arn;
    struct table *table;
    struct job_access *access;
    struct object_input *input;
    struct bulk_load *load;
    struct error_log *errors;
    struct job_progress progress;
    size_t unsaved; /* Records since the position was stored last. */
};

/* --- What the record says --- */

/* The stored state is what counts: after a failure memory may be ahead of it. */
static bool load_record(struct import *import)
{
    const struct job_record *mine = job_record(import->job);
    enum engine_status status =
        job_record_load(job_engine(import->job), import->arena, mine->letter,
                        bytes_of(mine->id, JOB_ID_SIZE), &import->record);
    if (status != ENGINE_OK)
        return false;
    import->progress = import->record.progress;
    job_set_position(import->job, import->record.position);
    job_set_progress(import->job, &import->progress);
    return true;
}

static bool read_request(struct import *import)
{
    struct error err;
    error_init(&err, import->arena);
    return shape_read(import->arena, import->record.detail, &import_table_shape, &import->request,
                      &err);
}

static bool read_position(struct import *import, struct object_input_position *position)
{
    struct bytes stored = import->record.position;
    uint64_t error_size = 0;
    *position = (struct object_input_position){ 0 };
    if (stored.len > 0) {
        if (stored.len < POSITION_HEAD_SIZE)
            return false;
        error_size = load_u64_be(stored.data);
        stored = bytes_of(stored.data + POSITION_HEAD_SIZE, stored.len - POSITION_HEAD_SIZE);
        if (!object_input_decode(stored, position))
            return false;
    }
    import->errors = error_log_open(api_options(import->api)->imports_folder, import->record.id,
                                    "error", error_size);
    return true;
}

static void set_position(struct import *import)
{
    uint8_t head[POSITION_HEAD_SIZE];
    store_u64_be(head, error_log_size(import->errors));
    const struct bytes parts[] = { bytes_of(head, sizeof head),
                                   object_input_encode(import->scratch,
                                                       object_input_position(import->input)) };
    job_set_position(import->job, arena_join(import->scratch, parts, COUNT_OF(parts)));
}

static bool is_stopping(void *context)
{
    const struct import *import = context;
    return job_is_stopping(import->job);
}

static bool may_read(void *context, struct bytes key)
{
    const struct import *import = context;
    return job_access_may_use(import->access, "GetObject", import->request.source->bucket, key);
}

static bool open_input(struct import *import, const struct object_input_position *position,
                       struct object_error *err)
{
    const struct import_table_request *request = &import->request;
    const struct table_definition *table = table_definition(import->table);
    struct object_input_options options = {
        .store = api_options(import->api)->objects,
        .bucket = request->source->bucket,
        .owner = request->source->bucket_owner,
        .prefix =
            request->source->key_prefix.data == NULL ? BYTES("") : request->source->key_prefix,
        .reader = { .compression = import_compression_of(request->compression),
                    .typed = table->attributes,
                    .typed_count = table->attribute_count },
        .may_read = may_read,
        .is_stopping = is_stopping,
        .context = import,
    };
    bool known = item_format_parse(request->input_format, &options.reader.format);
    assert(known); /* It passed its shape. */
    (void)known;
    const struct import_csv_request *csv = request->options == NULL ? NULL : request->options->csv;
    if (csv != NULL && csv->delimiter.data != NULL)
        options.reader.csv_delimiter = csv->delimiter.data[0];
    if (csv != NULL && csv->header_list.present) {
        options.reader.csv_header = csv->header_list.elements;
        options.reader.csv_header_count = csv->header_list.kept;
    }
    import->input = object_input_open(&options, position, err);
    return import->input != NULL;
}

/* --- Records --- */

static void refuse(struct import *import, const struct item_record *record, struct bytes message)
{
    const struct object_input_position *position = object_input_position(import->input);
    const struct error_line line = { .bucket = import->request.source->bucket,
                                     .key = bytes_of(position->key, position->key_size),
                                     .index = record->index,
                                     .arn_name = "importArn",
                                     .arn = import->import_arn,
                                     .message = message };
    error_log_add(import->errors, &line);
    import->progress.error_count++;
}

static void take_item(struct import *import, const struct item_record *record)
{
    struct error err;
    error_init(&err, import->scratch);
    if (index_entry_check_put(table_definition(import->table), &record->item, &err) &&
        bulk_load_add(import->load, &record->item, &err))
        import->progress.items_done++;
    else
        refuse(import, record, err.message);
}

/* Stores what was read so far: the items, the counters and the position in one batch. The errors
 * come first, so that the position never stands for lines that are not there. */
static enum engine_status save(struct import *import)
{
    error_log_sync(import->errors);
    import->progress.bytes_done = (int64_t)object_input_bytes(import->input);
    job_set_progress(import->job, &import->progress);
    set_position(import);
    import->unsaved = 0;
    return bulk_load_write(import->load, import->job);
}

/* Reads until something ends it. */
static enum object_input_step read_records(struct import *import, enum engine_status *status)
{
    for (*status = ENGINE_OK; *status == ENGINE_OK;) {
        struct item_record record;
        if (job_is_stopping(import->job)) /* The input asks between pieces only. */
            break;
        arena_reset(import->scratch);
        enum object_input_step step = object_input_next(import->input, import->scratch, &record);
        if (step == OBJECT_INPUT_ITEM)
            take_item(import, &record);
        else if (step == OBJECT_INPUT_BAD)
            refuse(import, &record, record.message);
        else
            return step;
        import->unsaved++;
        if (bulk_load_is_full(import->load) || error_log_is_full(import->errors) ||
            import->unsaved >= RECORDS_PER_POSITION)
            *status = save(import);
    }
    return OBJECT_INPUT_STOPPED;
}

/* --- The end --- */

/* The table may only be held by others when its status changes. */
static void release_table(struct import *import)
{
    bulk_load_destroy(import->load);
    table_release(import->table);
    import->load = NULL;
    import->table = NULL;
}

static enum job_result again(struct import *import, enum engine_status status)
{
    log_write(LOG_ERROR, "import", "%s: %s", import->record.id, engine_status_name(status));
    if (job_failure_count(import->job) < FAILURES_MAX)
        return JOB_RESULT_AGAIN;
    job_fail(import->job, "InternalServerError", "The import was given up: %s",
             engine_status_name(status));
    release_table(import);
    return table_job_end(import->api, import->job, JOB_FAILED);
}

/* Every record was read. */
static enum job_result finish(struct import *import)
{
    release_table(import);
    if (import->progress.error_count == 0)
        return table_job_end(import->api, import->job, JOB_COMPLETED);
    job_fail(import->job, VALIDATION_CODE, "%s", VALIDATION_TEXT);
    return table_job_end(import->api, import->job, JOB_FAILED);
}

/* The objects cannot be read, or not to their end. What was imported before that stays. */
static enum job_result give_up(struct import *import, const struct object_error *err)
{
    if (err->status == OBJECT_CANCELLED && job_is_stopping(import->job))
        return JOB_RESULT_STOPPED;
    if (err->status == OBJECT_CHANGED)
        job_fail(import->job, MODIFIED_CODE, "%s", MODIFIED_TEXT);
    else
        job_fail(import->job, object_failure_code(err->status), "%s", err->text);
    bool empty = import->progress.items_done == 0 && import->progress.error_count == 0;
    release_table(import);
    return empty ? table_job_drop(import->api, import->job)
                 : table_job_end(import->api, import->job, JOB_FAILED);
}

static enum job_result fill(struct import *import)
{
    enum engine_status status;
    import->load = bulk_load_create(&(struct bulk_load_options){
        .engine = job_engine(import->job),
        .table = table_definition(import->table),
        .keys_may_repeat = true,
    });
    enum object_input_step step = read_records(import, &status);
    if (status == ENGINE_OK && step != OBJECT_INPUT_STOPPED)
        status = save(import);
    if (status == ENGINE_OK)
        status = bulk_load_wait(import->load);
    if (status != ENGINE_OK)
        return again(import, status);
    if (step == OBJECT_INPUT_STOPPED)
        return JOB_RESULT_STOPPED;
    if (step == OBJECT_INPUT_FAILED)
        return give_up(import, object_input_failure(import->input));
    return finish(import);
}

static enum job_result run_import(struct import *import)
{
    struct object_input_position position;
    struct object_error err = { .status = OBJECT_OK };
    import->table = table_job_find(import->api, import->job);
    if (import->table == NULL) {
        job_fail(import->job, "TableNotFound", "The table of the import was removed");
        return JOB_RESULT_FAILED;
    }
    if (!read_request(import) || !read_position(import, &position)) {
        job_fail(import->job, "InternalServerError", "The record of the import is damaged");
        release_table(import);
        return table_job_end(import->api, import->job, JOB_FAILED);
    }
    if (!open_input(import, &position, &err))
        return give_up(import, &err);
    if (import_compression_of(import->request.compression) == COMPRESSOR_NONE)
        import->progress.bytes_total = (int64_t)object_input_total(import->input);
    return fill(import);
}

/* Files of imports whose records were removed go with the next import. */
static bool knows_import(void *context, const char *id)
{
    const struct import *import = context;
    struct job_record record;
    struct bytes text = bytes_from_text(id);
    if (!job_record_is_id(text))
        return true; /* Not ours. */
    arena_reset(import->scratch);
    struct engine *engine = job_engine(import->job);
    return job_record_load(engine, import->scratch, JOB_IMPORT, text, &record) !=
               ENGINE_NOT_FOUND ||
           job_record_load(engine, import->scratch, JOB_BULK, text, &record) != ENGINE_NOT_FOUND;
}

static enum job_result run(struct job *job, void *context)
{
    struct import import = {
        .api = context, .job = job, .arena = arena_create(), .scratch = arena_create()
    };
    enum job_result result = JOB_RESULT_AGAIN;
    if (load_record(&import)) {
        const struct api_options *options = api_options(import.api);
        struct bytes table_arn = arn_of_table(import.arena, options->region, options->account_id,
                                              import.record.table_name);
        import.import_arn =
            arena_printf(import.arena, "%.*s/import/%s", BYTES_FMT(table_arn), import.record.id);
        error_log_sweep(options->imports_folder, knows_import, &import);
        import.access = job_access_open(import.api, &import.record);
        result = job_is_cancelled(job) ? JOB_RESULT_STOPPED : run_import(&import);
    }
    if (result == JOB_RESULT_STOPPED && job_is_cancelled(job)) {
        release_table(&import);
        result = table_job_cancel(import.api, job);
    }
    bulk_load_destroy(import.load);
    object_input_close(import.input);
    job_access_close(import.access);
    error_log_close(import.errors);
    table_release(import.table);
    arena_destroy(import.scratch);
    arena_destroy(import.arena);
    return result;
}

struct job_kind import_job_kind(struct api *api)
{
    return (struct job_kind){ .letter = JOB_IMPORT,
                              .name = "import",
                              .active_max = IMPORT_JOBS_MAX,
                              .run = run,
                              .context = api };
}
