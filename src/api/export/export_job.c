/* export_job.c -- see export_job.h. */
#include "api/export/export_job.h"
#include <assert.h>
#include <string.h>
#include "api/cancel_job.h"
#include "api/export/export_filter.h"
#include "api/export/export_manifest.h"
#include "api/export/export_record.h"
#include "api/job_access.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/log.h"
#include "compression/compressor.h"
#include "format/item_writer.h"
#include "history/history_cut.h"
#include "history/history_reader.h"
#include "model/error.h"
#include "object/object_store.h"

enum { STOP_CHECK_ITEMS = 256 };

struct export
{
    struct job *job;
    const struct export_job_options *options;
    struct arena *arena;  /* For all of the export. */
    struct arena *memory; /* For one item. */
    struct export_detail detail;
    struct export_file *files; /* Of the detail, with room for all. */
    struct export_position position;
    struct export_names names;
    struct export_filter filter;
    enum item_format format;
    bool is_incremental;
    bool shows_old;

    struct job_access *access;
    struct object_bucket *bucket;
    struct object_error problem; /* Of the store. */
    enum job_result result;      /* Set with the first failure. */

    /* The file that is being written. */
    struct object_upload *upload; /* NULL: none. */
    struct compressor *compressor;
    struct buffer lines;
    uint64_t written; /* Compressed bytes so far. */
    int64_t file_items;
    uint8_t *last_key; /* Of what was written, or passed over. */
    size_t last_key_size, last_key_capacity;
};

/* --- Failures. All of these return false. --- */

static bool stop(struct export *export, enum job_result result)
{
    export->result = result;
    return false;
}

static bool fail_store(struct export *export)
{
    if (export->problem.status == OBJECT_CANCELLED)
        return stop(export, JOB_RESULT_STOPPED);
    job_fail(export->job, object_failure_code(export->problem.status), "%s", export->problem.text);
    return stop(export, JOB_RESULT_FAILED);
}

/* The store that is read: a damaged table fails the export, anything else is tried again. */
static bool fail_engine(struct export *export, enum engine_status status)
{
    if (status != ENGINE_CORRUPT)
        return stop(export, JOB_RESULT_AGAIN);
    job_fail(export->job, "InternalServerError", "The table's data is damaged");
    return stop(export, JOB_RESULT_FAILED);
}

static bool check_stopping(struct export *export)
{
    return !job_is_stopping(export->job) || stop(export, JOB_RESULT_STOPPED);
}

/* --- Files --- */

static bool take_piece(void *context, struct bytes piece)
{
    struct export *export = context;
    export->written += piece.len;
    return object_upload_write(export->upload, piece, &export->problem);
}

/* Policies may deny what is below the prefix that the request was asked about. */
static bool may_write(struct export *export, struct bytes key)
{
    if (job_access_may_use(export->access, "PutObject", export->detail.request.bucket, key))
        return true;
    job_fail(export->job, object_failure_code(OBJECT_DENIED), "Access Denied");
    return stop(export, JOB_RESULT_FAILED);
}

static bool begin_file(struct export *export)
{
    if (export->detail.file_count == EXPORT_FILES_MAX) {
        job_fail(export->job, "ExportTooLarge", "An export has at most %d files", EXPORT_FILES_MAX);
        return stop(export, JOB_RESULT_FAILED);
    }
    struct bytes key =
        export_manifest_data_key(export->arena, &export->names, export->detail.file_count);
    if (!may_write(export, key))
        return false;
    export->upload = object_upload_begin(export->bucket, key, &export->problem);
    if (export->upload == NULL)
        return fail_store(export);
    export->compressor = compressor_create(COMPRESSOR_GZIP, take_piece, export);
    export->written = 0;
    export->file_items = 0;
    return true;
}

static bool flush_lines(struct export *export)
{
    bool ok = compressor_write(export->compressor, buffer_bytes(&export->lines));
    export->lines.len = 0;
    return ok || fail_store(export);
}

/* Stores where the next file begins. */
static bool save(struct export *export)
{
    const struct job_progress progress = { .items_done = export->position.items,
                                           .items_total =
                                               job_record(export->job)->progress.items_total,
                                           .bytes_done = export->position.bytes,
                                           .bytes_total =
                                               job_record(export->job)->progress.bytes_total };
    struct arena *arena = arena_create();
    job_set_progress(export->job, &progress);
    job_set_detail(export->job, export_detail_encode(arena, &export->detail));
    job_set_position(export->job, export_position_encode(arena, &export->position));
    arena_destroy(arena);
    enum engine_status status = job_save(export->job);
    return status == ENGINE_OK || fail_engine(export, status);
}

static bool finish_file(struct export *export)
{
    struct object_written written;
    if (!flush_lines(export))
        return false;
    if (!compressor_finish(export->compressor))
        return fail_store(export);
    struct object_upload *upload = export->upload;
    export->upload = NULL;
    compressor_destroy(export->compressor);
    export->compressor = NULL;
    if (!object_upload_finish(upload, &written, &export->problem))
        return fail_store(export);
    struct export_file *file = &export->files[export->detail.file_count++];
    memset(file, 0, sizeof *file);
    store_u64_be(file->items, (uint64_t) export->file_items);
    memcpy(file->md5, written.md5, sizeof file->md5);
    static_assert(sizeof file->etag >= sizeof written.etag, "room for the ETag");
    memcpy(file->etag, written.etag, sizeof written.etag);
    export->position.key = bytes_of(export->last_key, export->last_key_size);
    return save(export);
}

static void note_key(struct export *export, struct bytes key)
{
    if (key.len > export->last_key_capacity) {
        export->last_key =
            arena_grow(export->arena, export->last_key, export->last_key_capacity, 2 * key.len);
        export->last_key_capacity = 2 * key.len;
    }
    memcpy(export->last_key, key.data, key.len);
    export->last_key_size = key.len;
}

/* A line was appended to export->lines. */
static bool end_line(struct export *export, struct bytes key, int64_t size)
{
    export->file_items++;
    export->position.items++;
    export->position.bytes += size;
    job_count(export->job, 1, size, 0);
    if (export->lines.len < EXPORT_LINES_SIZE)
        return true;
    note_key(export, key);
    if (!flush_lines(export))
        return false;
    return export->written < EXPORT_FILE_SIZE || finish_file(export);
}

/* --- Items and changes --- */

static bool write_state(struct export *export, const struct history_state *state)
{
    if (!state->exists || !export_filter_matches(&export->filter, &state->item))
        return true;
    if (export->upload == NULL && !begin_file(export))
        return false;
    struct item item = export_filter_project(&export->filter, export->memory, &state->item);
    item_writer_item(&export->lines, export->format, &item);
    return end_line(export, state->key, state->item.size);
}

/* The key attributes of an item, as an item. */
static struct item keys_of(struct export *export, const struct item *item)
{
    const struct key_schema *key = &export->detail.table.key;
    const struct bytes names[] = { key->hash.name, key->range.name };
    struct item_builder builder;
    item_builder_init(&builder, export->memory);
    for (size_t i = 0; i < (key->has_range ? 2 : 1); i++) {
        struct value value;
        if (item_find(item, names[i], &value))
            item_builder_add(&builder, names[i], value.encoded);
    }
    return item_builder_finish(&builder);
}

static bool write_change(struct export *export, const struct history_change *change)
{
    const struct item *newest = change->has_new ? &change->new_image : &change->old_image;
    if (!change->changed || !export_filter_matches(&export->filter, newest))
        return true;
    if (export->upload == NULL && !begin_file(export))
        return false;
    struct item keys = keys_of(export, newest), old_image, new_image;
    struct item_change line = { .write_micros = change->written_us, .keys = &keys };
    if (change->had_old && export->shows_old) {
        old_image = export_filter_project(&export->filter, export->memory, &change->old_image);
        line.old_image = &old_image;
    }
    if (change->has_new) {
        new_image = export_filter_project(&export->filter, export->memory, &change->new_image);
        line.new_image = &new_image;
    }
    item_writer_change(&export->lines, export->format, &line);
    return end_line(export, change->key, newest->size);
}

static enum engine_status write_next(struct export *export, struct history_reader *reader, bool *ok)
{
    struct history_state state;
    struct history_change change;
    enum engine_status status;
    if (export->is_incremental) {
        status = history_reader_next_change(reader, &change);
        *ok = status != ENGINE_OK || write_change(export, &change);
    } else {
        status = history_reader_next_state(reader, &state);
        *ok = status != ENGINE_OK || write_state(export, &state);
    }
    return status;
}

/* One partition, or the range of a key condition, from the position on. */
static bool write_range(struct export *export, struct history_range range)
{
    struct engine *engine = job_engine(export->job);
    const struct export_detail *detail = &export->detail;
    range.after = export->position.key;
    struct history_reader *reader =
        export->is_incremental
            ? history_reader_open_changes(engine, &detail->table, detail->from_us, detail->to_us,
                                          &range)
            : history_reader_open_state(engine, &detail->table, detail->to_us, &range);
    bool ok = true;
    for (size_t count = 0; ok; count++) {
        enum engine_status status = write_next(export, reader, &ok);
        if (status == ENGINE_END)
            break;
        if (status != ENGINE_OK)
            ok = fail_engine(export, status);
        if (count % STOP_CHECK_ITEMS == 0)
            ok = ok && check_stopping(export);
        arena_reset(export->memory);
    }
    history_reader_close(reader);
    return ok;
}

/* The next range begins. Its files are its own: all items of a file are of one partition. */
static bool end_range(struct export *export, bool is_last)
{
    export->position.partition++;
    export->last_key_size = 0;
    /* There is at least one file, though it may be empty. */
    if (export->upload == NULL && is_last && export->detail.file_count == 0 && !begin_file(export))
        return false;
    if (export->upload != NULL)
        return finish_file(export);
    export->position.key = BYTES("");
    return true;
}

static bool write_data(struct export *export)
{
    const struct table_definition *table = &export->detail.table;
    size_t count = export->filter.has_range ? 1 : table->partition_count;
    while (export->position.partition < count) {
        uint8_t first[HISTORY_HASH_SIZE], last[HISTORY_HASH_SIZE];
        struct history_range range =
            export->filter.has_range
                ? export->filter.range
                : history_range_of_partition(table, export->position.partition, first, last);
        if (!export->filter.is_nothing && !write_range(export, range))
            return false;
        if (!end_range(export, export->position.partition + 1 == count))
            return false;
    }
    return true;
}

/* --- Manifests --- */

static bool put(struct export *export, const char *name, struct bytes text)
{
    struct bytes key = export_manifest_key(export->arena, &export->names, name);
    return may_write(export, key) &&
           (object_put(export->bucket, key, text, &export->problem) || fail_store(export));
}

static int64_t billed_size(const struct export *export)
{
    int64_t size = export->position.bytes;
    return export->is_incremental && size < EXPORT_INCREMENT_BILLED_MIN
               ? EXPORT_INCREMENT_BILLED_MIN
               : size;
}

static bool write_manifests(struct export *export)
{
    const struct export_summary summary = { .region = export->options->region,
                                            .account_id = export->options->account_id,
                                            .end_ms = clock_wall_ms(job_clock(export->job)),
                                            .item_count = export->position.items,
                                            .billed_size = billed_size(export) };
    struct bytes files = export_manifest_files(export->arena, &export->names);
    struct bytes text = export_manifest_summary(export->arena, &export->names, &summary);
    return put(export, "manifest-files.json", files) &&
           put(export, "manifest-files.md5", export_manifest_md5(export->arena, files)) &&
           /* The summary last: then the export is complete, its checksum included. */
           put(export, "manifest-summary.md5", export_manifest_md5(export->arena, text)) &&
           put(export, "manifest-summary.json", text);
}

/* --- The job --- */

static bool is_stopping(void *context)
{
    return job_is_stopping(context);
}

static bool open_bucket(struct export *export, bool (*is_cancelled)(void *context))
{
    const struct export_request *request = &export->detail.request;
    bool is_kms = bytes_equal_text(request->sse_algorithm, "KMS");
    const struct object_bucket_options options = {
        .name = request->bucket,
        .owner = request->bucket_owner,
        .encryption = is_kms                                ? OBJECT_ENCRYPTION_KMS
                      : request->sse_algorithm.data != NULL ? OBJECT_ENCRYPTION_AES256
                                                            : OBJECT_ENCRYPTION_NONE,
        .kms_key = request->sse_key,
        .is_cancelled = is_cancelled,
        .cancel_context = export->job,
    };
    export->bucket = object_bucket_open(export->options->objects, &options, &export->problem);
    return export->bucket != NULL || fail_store(export);
}

/* "_started" is written first: it shows that the bucket can be written. */
static bool begin_or_resume(struct export *export)
{
    if (job_record(export->job)->position.len == 0 && !put(export, "_started", BYTES("")))
        return false;
    struct bytes key =
        export_manifest_data_key(export->arena, &export->names, export->detail.file_count);
    /* Without the right to list uploads a file that is left over stays: no reason to fail. */
    if (!object_abort_uploads(export->bucket, key, &export->problem)) {
        if (export->problem.status != OBJECT_DENIED)
            return fail_store(export);
        log_write(LOG_WARN, "export", "unfinished uploads cannot be listed: %s",
                  export->problem.text);
    }
    const struct job_progress progress = { .items_done = export->position.items,
                                           .items_total =
                                               job_record(export->job)->progress.items_total,
                                           .bytes_done = export->position.bytes,
                                           .bytes_total =
                                               job_record(export->job)->progress.bytes_total };
    job_set_progress(export->job, &progress);
    return true;
}

static bool prepare(struct export *export)
{
    const struct job_record *record = job_record(export->job);
    struct job_record copy = *record;
    struct error err;
    error_init(&err, export->arena);
    /* What is decoded borrows the detail, and each one that is stored frees the one before. */
    copy.detail = arena_copy(export->arena, record->detail);
    if (!export_detail_decode(export->arena, &copy, &export->detail) ||
        !export_position_decode(arena_copy(export->arena, record->position), &export->position) ||
        !export_filter_compile(export->arena, &export->detail.table, export->detail.request.filter,
                               &export->filter, &err)) {
        job_fail(export->job, "InternalServerError", "The export's record is damaged");
        return stop(export, JOB_RESULT_FAILED);
    }
    export->names = (struct export_names){ .record = record, .detail = &export->detail };
    export->format = export_request_format(&export->detail.request);
    export->is_incremental = export_request_is_incremental(&export->detail.request);
    export->shows_old = export_request_shows_old(&export->detail.request);
    export->files = arena_alloc(export->arena, EXPORT_FILES_MAX * sizeof *export->files);
    memcpy(export->files, export->detail.files, export->detail.file_count * sizeof *export->files);
    export->detail.files = export->files;
    if (export->position.key.len > 0)
        note_key(export, export->position.key);
    enum engine_status status =
        history_cut(job_engine(export->job), job_clock(export->job), export->detail.to_us);
    return status == ENGINE_OK || fail_engine(export, status);
}

static bool stops_server(void *context)
{
    return job_is_interrupted(context);
}

/* No call of a bucket whose work was cancelled reaches it, so it is opened anew. */
static void end_cancelled(struct export *export)
{
    struct bytes key =
        export_manifest_data_key(export->arena, &export->names, export->detail.file_count);
    object_upload_abort(export->upload);
    object_bucket_close(export->bucket);
    export->upload = NULL;
    export->bucket = NULL;
    if (!open_bucket(export, stops_server) ||
        !object_abort_uploads(export->bucket, key, &export->problem))
        log_write(LOG_WARN, "export", "what was uploaded of %s cannot be removed: %s",
                  job_record(export->job)->id, export->problem.text);
    job_fail(export->job, CANCEL_JOB_CODE, CANCEL_JOB_MESSAGE);
    export->result = JOB_RESULT_FAILED;
}

static enum job_result run(struct job *job, void *context)
{
    const struct export_job_options *options = context;
    struct export export = { .job = job,
                             .options = options,
                             .access = job_access_open(options->api, job_record(job)),
                             .arena = arena_create(),
                             .memory = arena_create(),
                             .result = JOB_RESULT_COMPLETED };
    buffer_init(&export.lines, export.arena);
    bool ok = prepare(&export) && open_bucket(&export, is_stopping) && begin_or_resume(&export) &&
              write_data(&export) && write_manifests(&export);
    assert(ok == (export.result == JOB_RESULT_COMPLETED));
    if (export.result == JOB_RESULT_STOPPED && job_is_cancelled(job))
        end_cancelled(&export);
    compressor_destroy(export.compressor);
    object_upload_abort(export.upload);
    object_bucket_close(export.bucket);
    job_access_close(export.access);
    arena_destroy(export.memory);
    arena_destroy(export.arena);
    return export.result;
}

struct job_kind export_job_kind(struct export_job_options *options)
{
    return (struct job_kind){ .letter = JOB_EXPORT,
                              .name = "export",
                              .active_max = EXPORT_JOBS_MAX,
                              .run = run,
                              .context = options };
}
