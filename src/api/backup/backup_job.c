/* backup_job.c -- see backup_job.h.
 *
 * A backup is of one moment T. For a table with recovery T is the time of the request. For another
 * one the request keeps a view, which the first turn copies; nothing of that is stored. Meanwhile
 * the job's hold opens a history, a few milliseconds after the request. If the view is lost (a
 * failure, a restart), T becomes the beginning of that history. If the table was deleted before it
 * had one, T is when that was noticed: the hold keeps the items as they were last. A T that is not
 * the request's is stored, and clients see it as the backup's creation time.
 *
 * With a history, or of a deleted table, the job can be interrupted at any time: it stores its
 * position after each file, so a restart repeats one file at most. The manifest comes last.
 */
#include "api/backup/backup_job.h"
#include <assert.h>
#include <time.h>
#include "api/backup/backup_name.h"
#include "api/backup/backups.h"
#include "api/backup/item_source.h"
#include "api/operation.h"
#include "api/table/table_description.h"
#include "archive/archive.h"
#include "archive/archive_block.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "history/history_cut.h"
#include "json/base64.h"
#include "json/writer.h"
#include "table/catalogue.h"

enum { US_PER_MS = 1000 };

/* Where the items are read. */
enum item_origin { FROM_HISTORY, FROM_VIEW, FROM_DELETED_TABLE };

/* One turn of the job. */
struct turn {
    struct api *api;
    struct job *job;
    struct arena *arena;
    enum item_origin origin;
    struct backup_detail detail;
    struct bytes prefix;
    struct object_bucket *bucket;
    struct archive_file *files; /* Room for ARCHIVE_FILES_MAX. */
};

/* --- Failures --- */

/* Gives up after some failures in a row, but never leaves files that nobody knows of. */
static enum job_result fail_store(struct turn *turn, const struct object_error *err)
{
    struct job *job = turn->job;
    if (err->status == OBJECT_CANCELLED || job_is_stopping(job))
        return JOB_RESULT_STOPPED;
    log_write(LOG_WARN, "backup", "backup %s: %s", job_record(job)->id, err->text);
    if (turn->detail.deleting || job_failure_count(job) + 1 < BACKUP_FAILURES_MAX)
        return JOB_RESULT_AGAIN;
    job_fail(job, object_failure_code(err->status), "%s", err->text);
    return JOB_RESULT_FAILED;
}

static enum job_result fail_engine(struct turn *turn, enum engine_status status)
{
    struct job *job = turn->job;
    log_write(LOG_WARN, "backup", "backup %s: %s", job_record(job)->id, engine_status_name(status));
    if (turn->detail.deleting ||
        (status != ENGINE_CORRUPT && job_failure_count(job) + 1 < BACKUP_FAILURES_MAX))
        return JOB_RESULT_AGAIN;
    job_fail(job, "InternalServerError", "reading the table: %s", engine_status_name(status));
    return JOB_RESULT_FAILED;
}

/* The detail holds all files, so each time it takes memory of its own. */
static void set_detail(struct turn *turn)
{
    struct arena *scratch = arena_create();
    job_set_detail(turn->job, backup_detail_encode(scratch, &turn->detail));
    arena_destroy(scratch);
}

/* --- The moment --- */

static struct bytes id_of(const struct turn *turn)
{
    return bytes_from_text(job_record(turn->job)->id);
}

/* Whether the state at the moment of the hold can be read. */
static bool has_moment(const struct turn *turn)
{
    return job_record(turn->job)->hold_us != 0 && turn->detail.table.history.id != 0;
}

/* The table's history now, which is kept for the job's hold. `*gone`: the table was deleted. */
static struct history_definition history_of(const struct turn *turn, bool *gone)
{
    const struct job_record *record = job_record(turn->job);
    struct table *table = catalogue_find(api_catalogue(turn->api), record->table_name);
    struct history_definition history = { 0 };
    *gone = table == NULL || table_definition(table)->id != record->source_id;
    if (!*gone)
        history = table_definition(table)->history;
    table_release(table);
    return history;
}

/* The moment of what was copied before is not known any more: all of it is copied again. */
static void begin_anew(struct turn *turn)
{
    const struct job_progress *before = &job_record(turn->job)->progress;
    const struct job_progress none = { .items_total = before->items_total,
                                       .bytes_total = before->bytes_total };
    turn->detail.file_count = 0;
    job_set_position(turn->job, BYTES(""));
    job_set_progress(turn->job, &none);
}

static enum job_result store_moment(struct turn *turn)
{
    begin_anew(turn);
    set_detail(turn);
    enum engine_status saved = job_save(turn->job);
    return saved == ENGINE_OK ? JOB_RESULT_COMPLETED : fail_engine(turn, saved);
}

/* The moment is the beginning of the history. The definition that is backed up may be older than
 * the history, so the history is noted in it: a restart reads on with both. */
static enum job_result take_history(struct turn *turn, const struct history_definition *history)
{
    struct backup_detail *detail = &turn->detail;
    detail->table.history = *history;
    detail->record = table_definition_encode(turn->arena, &detail->table).encoded;
    detail->moment_ms = (history->since_us + US_PER_MS - 1) / US_PER_MS;
    job_set_hold(turn->job, history->since_us);
    return store_moment(turn);
}

/* Nobody changes the items any more. A moment that is stored: they are being copied already. */
static enum job_result take_deleted_table(struct turn *turn)
{
    turn->origin = FROM_DELETED_TABLE;
    if (turn->detail.moment_ms != 0)
        return JOB_RESULT_COMPLETED;
    turn->detail.moment_ms = clock_wall_ms(job_clock(turn->job));
    return store_moment(turn);
}

/* Settles where the items are read and of which moment. Waits for a history that is being opened:
 * requests that began before it must end. If there is none, all is read through a view of now.
 * JOB_RESULT_COMPLETED: go on. */
static enum job_result settle_moment(struct turn *turn)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    bool gone;
    if (has_moment(turn))
        return JOB_RESULT_COMPLETED;
    for (int waited_ms = 0; !backups_has_view(api_backups(turn->api), id_of(turn)); waited_ms++) {
        const struct history_definition history = history_of(turn, &gone);
        if (gone)
            return take_deleted_table(turn);
        if (history.status == HISTORY_ACTIVE)
            return take_history(turn, &history);
        if (history.status != HISTORY_OPENING && waited_ms >= BACKUP_HISTORY_WAIT_MS) {
            turn->detail.moment_ms = clock_wall_ms(job_clock(turn->job));
            break;
        }
        if (job_is_stopping(turn->job))
            return JOB_RESULT_STOPPED;
        nanosleep(&pause, NULL);
    }
    turn->origin = FROM_VIEW;
    begin_anew(turn);
    return JOB_RESULT_COMPLETED;
}

/* --- Files --- */

/* The file is complete. From here on the job resumes behind its last key, unless the state that it
 * copies cannot be read again. */
static enum job_result end_file(struct turn *turn, struct archive_writer *writer,
                                const struct bytes *last_key)
{
    struct object_error err;
    struct archive_file file;
    struct backup_detail *detail = &turn->detail;
    if (detail->file_count == ARCHIVE_FILES_MAX) {
        job_fail(turn->job, "LimitExceeded", "a backup has at most %d files", ARCHIVE_FILES_MAX);
        return JOB_RESULT_FAILED;
    }
    if (!archive_writer_end_file(writer, &file, &err))
        return fail_store(turn, &err);
    detail->files = turn->files;
    detail->files[detail->file_count++] = file;
    if (turn->origin == FROM_VIEW)
        return JOB_RESULT_COMPLETED;
    set_detail(turn);
    job_set_position(turn->job, *last_key);
    enum engine_status status = job_save(turn->job);
    return status == ENGINE_OK ? JOB_RESULT_COMPLETED : fail_engine(turn, status);
}

struct copy {
    struct archive_writer *writer;
    struct item_source *source;
    uint8_t key[BACKFILLED_SIZE_MAX];
    struct bytes last_key;
};

/* Copies one item. JOB_RESULT_COMPLETED: go on; `*end`: there are no more. */
static enum job_result copy_item(struct turn *turn, struct copy *copy, bool *end)
{
    struct source_item item;
    struct object_error err;
    enum engine_status status = item_source_next(copy->source, &item);
    *end = status == ENGINE_END;
    if (*end)
        return JOB_RESULT_COMPLETED;
    if (status != ENGINE_OK)
        return fail_engine(turn, status);
    if (item.key.len > sizeof copy->key)
        return fail_engine(turn, ENGINE_CORRUPT);
    memcpy(copy->key, item.key.data, item.key.len);
    copy->last_key = bytes_of(copy->key, item.key.len);
    if (!item.exists)
        return JOB_RESULT_COMPLETED;
    if (item.item.encoded.len > ARCHIVE_ITEM_SIZE_MAX)
        return fail_engine(turn, ENGINE_CORRUPT);
    if (!archive_writer_add(copy->writer, item.item.encoded, &err))
        return fail_store(turn, &err);
    job_count(turn->job, 1, item.item.size, 0);
    return JOB_RESULT_COMPLETED;
}

static struct item_source *open_source(struct turn *turn)
{
    const struct job_record *record = job_record(turn->job);
    struct engine *engine = job_engine(turn->job);
    const struct table_definition *table = &turn->detail.table;
    if (turn->origin == FROM_VIEW)
        return item_source_open_view(engine, table,
                                     backups_take_view(api_backups(turn->api), id_of(turn)));
    return item_source_open(engine, table, turn->origin == FROM_HISTORY ? record->hold_us : 0,
                            record->position);
}

static enum job_result copy_items(struct turn *turn)
{
    struct copy copy = {
        .writer = archive_writer_create(turn->bucket, turn->prefix, turn->detail.file_count, 0),
        .source = open_source(turn),
    };
    enum job_result result = JOB_RESULT_COMPLETED;
    bool end = false;
    while (result == JOB_RESULT_COMPLETED && !end) {
        if (job_is_stopping(turn->job))
            result = JOB_RESULT_STOPPED;
        else
            result = copy_item(turn, &copy, &end);
        bool ends_file =
            archive_writer_is_full(copy.writer) || (end && !archive_writer_is_empty(copy.writer));
        if (result == JOB_RESULT_COMPLETED && ends_file)
            result = end_file(turn, copy.writer, &copy.last_key);
    }
    item_source_close(copy.source);
    archive_writer_destroy(copy.writer);
    return result;
}

/* --- The manifest --- */

static struct bytes describe_table(struct turn *turn)
{
    const struct api_options *options = api_options(turn->api);
    struct table_description description;
    struct json_writer writer;
    struct buffer out;
    buffer_init(&out, turn->arena);
    table_description_init(&description, DESCRIPTION_OF_TABLE, &turn->detail.table,
                           turn->detail.table.status);
    description.now_ms = job_record(turn->job)->created_ms;
    description.region = options->region;
    description.account_id = options->account_id;
    description.stats = turn->detail.stats;
    json_writer_init(&writer, &out);
    table_description_write(&writer, turn->arena, &description);
    return buffer_bytes(&out);
}

static void write_files(struct json_writer *writer, const struct backup_detail *detail)
{
    json_write_name(writer, "files");
    json_open_array(writer);
    for (size_t i = 0; i < detail->file_count; i++) {
        char hex[SHA256_HEX_SIZE];
        sha256_hex(detail->files[i].sha256, hex);
        json_open_object(writer);
        json_write_name(writer, "size");
        json_write_integer(writer, (int64_t)detail->files[i].size);
        json_write_name(writer, "items");
        json_write_integer(writer, (int64_t)detail->files[i].item_count);
        json_write_name(writer, "sha256");
        json_write_string(writer, bytes_of(hex, sizeof hex));
        json_close_object(writer);
    }
    json_close_array(writer);
}

/* "key" and "record" are what a server needs to list the backup; the rest is for people. */
static struct bytes make_manifest(struct turn *turn)
{
    struct engine_address address;
    struct bytes value;
    struct json_writer writer;
    struct buffer out;
    const struct job_record *record = job_record(turn->job);
    job_encode_record(turn->job, turn->arena, &address, &value);
    buffer_init(&out, turn->arena);
    json_writer_init(&writer, &out);
    json_open_object(&writer);
    json_write_name(&writer, "format");
    json_write_integer(&writer, 1);
    json_write_name(&writer, "backupName");
    json_write_string(&writer, turn->detail.name);
    json_write_name(&writer, "tableName");
    json_write_string(&writer, record->table_name);
    json_write_name(&writer, "tableId");
    json_write_string(&writer, record->table_uuid);
    json_write_name(&writer, "createdMs");
    json_write_integer(&writer, backup_moment_ms(record, &turn->detail));
    json_write_name(&writer, "itemCount");
    json_write_integer(&writer, turn->detail.stats.item_count);
    json_write_name(&writer, "sizeBytes");
    json_write_integer(&writer, turn->detail.stats.size);
    write_files(&writer, &turn->detail);
    json_write_name(&writer, "key");
    json_write_string(&writer, address.key);
    json_write_name(&writer, "record");
    json_write_base64(&writer, value);
    json_close_object(&writer);
    return buffer_bytes(&out);
}

/* The record is stored as COMPLETED right after the manifest, which holds it so already. */
static enum job_result finish(struct turn *turn)
{
    struct object_error err;
    struct job_progress progress = job_progress_now(turn->job);
    turn->detail.stats =
        (struct table_stats){ .item_count = progress.items_done, .size = progress.bytes_done };
    set_detail(turn);
    struct bytes table_key = archive_table_key(turn->arena, turn->prefix);
    if (!object_put(turn->bucket, table_key, describe_table(turn), &err))
        return fail_store(turn, &err);
    job_set_end(turn->job, JOB_COMPLETED);
    struct bytes manifest = make_manifest(turn);
    if (!object_put(turn->bucket, archive_manifest_key(turn->arena, turn->prefix), manifest,
                    &err)) {
        job_unset_end(turn->job);
        return fail_store(turn, &err);
    }
    enum engine_status status = job_save(turn->job);
    if (status == ENGINE_OK)
        return JOB_RESULT_STORED;
    job_unset_end(turn->job);
    return fail_engine(turn, status);
}

/* --- Removing --- */

/* Without the right to list uploads, parts that are left over stay: no reason to fail. */
static bool abort_uploads(struct turn *turn, struct object_error *err)
{
    if (object_abort_uploads(turn->bucket, turn->prefix, err))
        return true;
    if (err->status != OBJECT_DENIED)
        return false;
    log_write(LOG_WARN, "backup", "backup %s: unfinished uploads cannot be listed: %s",
              job_record(turn->job)->id, err->text);
    return true;
}

/* All objects of the backup; the manifest first, so that no server takes the rest for a backup. */
static bool remove_objects(struct turn *turn, struct object_error *err)
{
    struct object_page page = { .more = true };
    struct bytes after = BYTES("");
    if (!object_delete(turn->bucket, archive_manifest_key(turn->arena, turn->prefix), err) ||
        !abort_uploads(turn, err))
        return false;
    while (page.more) {
        if (!object_list(turn->bucket, turn->arena, turn->prefix, after, &page, err))
            return false;
        for (size_t i = 0; i < page.count; i++) {
            if (!object_delete(turn->bucket, page.entries[i].key, err))
                return false;
            after = page.entries[i].key;
        }
    }
    return true;
}

/* The record goes last: a restart resumes the removal. */
static enum job_result remove_backup(struct turn *turn)
{
    struct object_error err;
    struct job *job = turn->job;
    if (!remove_objects(turn, &err))
        return fail_store(turn, &err);
    enum engine_status status = job_record_remove(job_engine(job), turn->arena, JOB_BACKUP,
                                                  bytes_from_text(job_record(job)->id));
    if (status != ENGINE_OK)
        return fail_engine(turn, status);
    job_set_end(job, JOB_COMPLETED);
    return JOB_RESULT_STORED;
}

/* A backup that failed leaves nothing but its record. */
static enum job_result clean_up(struct turn *turn, enum job_result result)
{
    struct object_error err;
    if (result == JOB_RESULT_FAILED && !remove_objects(turn, &err))
        log_write(LOG_WARN, "backup", "what is left of backup %s cannot be removed: %s",
                  job_record(turn->job)->id, err.text);
    return result;
}

/* --- Turns --- */

static enum job_result make_backup(struct turn *turn)
{
    struct object_error err;
    enum job_result result = settle_moment(turn);
    if (result != JOB_RESULT_COMPLETED)
        return result;
    enum engine_status status = turn->origin == FROM_HISTORY
                                    ? history_cut(job_engine(turn->job), job_clock(turn->job),
                                                  job_record(turn->job)->hold_us)
                                    : ENGINE_OK;
    if (status != ENGINE_OK)
        return fail_engine(turn, status);
    if (!abort_uploads(turn, &err))
        return fail_store(turn, &err);
    result = copy_items(turn);
    return result == JOB_RESULT_COMPLETED ? finish(turn) : result;
}

static enum job_result run_turn(struct turn *turn)
{
    struct object_error err;
    struct backup_detail *detail = &turn->detail;
    if (!backup_detail_decode(turn->arena, job_record(turn->job), detail) ||
        job_record(turn->job)->position.len >= BACKFILLED_SIZE_MAX) {
        job_fail(turn->job, "InternalServerError", "the record of the backup is damaged");
        return JOB_RESULT_FAILED;
    }
    turn->files = arena_alloc(turn->arena, ARCHIVE_FILES_MAX * sizeof *turn->files);
    if (detail->file_count > 0)
        memcpy(turn->files, detail->files, detail->file_count * sizeof *turn->files);
    turn->prefix = backups_prefix(api_backups(turn->api), turn->arena,
                                  bytes_from_text(job_record(turn->job)->id));
    turn->bucket = backups_open_bucket(api_backups(turn->api), turn->job, &err);
    if (turn->bucket == NULL)
        return fail_store(turn, &err);
    if (detail->deleting)
        return remove_backup(turn);
    return clean_up(turn, make_backup(turn));
}

enum job_result backup_job_run(struct job *job, void *context)
{
    struct turn turn = { .api = context, .job = job, .arena = arena_create() };
    enum job_result result = run_turn(&turn);
    if (result == JOB_RESULT_FAILED) /* The bucket could never be opened. */
        engine_view_close(backups_take_view(api_backups(turn.api), id_of(&turn)));
    object_bucket_close(turn.bucket);
    arena_destroy(turn.arena);
    return result;
}
