/* restore_job.c -- see restore_job.h.
 *
 * Items are read in the order in which they were stored and loaded in batches, each together with
 * the position behind its last item. So a crash repeats and loses nothing. A source that is damaged
 * or gone ends the job, which removes the table: nobody else could.
 */
#include "api/backup/restore_job.h"
#include <assert.h>
#include "api/backup/backup_name.h"
#include "api/backup/backups.h"
#include "api/backup/item_source.h"
#include "api/operation.h"
#include "api/table_job.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/log.h"
#include "history/history_cut.h"
#include "jobs/bulk_load.h"
#include "model/error.h"
#include "model/item_record.h"
#include "model/limits.h"
#include "table/catalogue.h"

/* --- Details --- */

struct bytes restore_detail_encode(struct arena *arena, const struct restore_detail *detail)
{
    struct item_builder builder;
    struct buffer encoded;
    item_builder_init(&builder, arena);
    if (detail->backup_id.data != NULL)
        item_record_add_text(&builder, "b", detail->backup_id);
    buffer_init(&encoded, arena);
    value_append_binary(&encoded, detail->record);
    item_builder_add(&builder, BYTES("t"), buffer_bytes(&encoded));
    return item_builder_finish(&builder).encoded;
}

bool restore_detail_decode(struct arena *arena, const struct job_record *record,
                           struct restore_detail *out)
{
    struct item item;
    struct value value;
    *out = (struct restore_detail){ 0 };
    if (record->detail.data == NULL || !item_open(arena_copy(arena, record->detail), &item) ||
        !item_verify(&item) || !item_find(&item, BYTES("t"), &value) || value.type != VALUE_B)
        return false;
    out->record = value.data;
    return !item_find(&item, BYTES("b"), &value) ||
           item_record_find_text(arena, &item, "b", JOB_ID_SIZE, &out->backup_id);
}

/* --- One turn --- */

struct turn {
    struct api *api;
    struct job *job;
    struct arena *arena;
    struct table_definition source;
    /* One of the two. */
    struct item_source *items;
    struct archive_reader *archive;
    struct object_bucket *bucket;
    struct bulk_load *load;
};

/* The restore cannot succeed any more: the table goes. */
static enum job_result fail(struct turn *turn, const char *code, const char *text)
{
    job_fail(turn->job, code, "%s", text);
    return JOB_RESULT_FAILED;
}

static enum job_result fail_engine(struct turn *turn, enum engine_status status)
{
    log_write(LOG_WARN, "restore", "restore %s: %s", job_record(turn->job)->id,
              engine_status_name(status));
    if (status != ENGINE_CORRUPT && job_failure_count(turn->job) + 1 < RESTORE_FAILURES_MAX)
        return JOB_RESULT_AGAIN;
    return fail(turn, "InternalServerError", engine_status_name(status));
}

static enum job_result fail_archive(struct turn *turn, enum archive_status status,
                                    const struct object_error *err)
{
    if (job_is_stopping(turn->job))
        return JOB_RESULT_STOPPED;
    log_write(LOG_WARN, "restore", "restore %s: %s", job_record(turn->job)->id, err->text);
    if (status == ARCHIVE_UNREADABLE && job_failure_count(turn->job) + 1 < RESTORE_FAILURES_MAX)
        return JOB_RESULT_AGAIN;
    return fail(turn,
                status == ARCHIVE_DAMAGED ? "BackupDamaged" : object_failure_code(err->status),
                err->text);
}

/* --- Positions --- */

enum { ARCHIVE_POSITION_SIZE = 3 * 8 };

static struct archive_position decode_position(struct bytes bytes)
{
    if (bytes.len != ARCHIVE_POSITION_SIZE)
        return (struct archive_position){ 0 };
    return (struct archive_position){ .file = load_u64_be(bytes.data),
                                      .offset = load_u64_be(bytes.data + 8),
                                      .item = load_u64_be(bytes.data + 16) };
}

/* Behind the last item that was added; `key` is its key, of a table. */
static void set_position(struct turn *turn, struct bytes key)
{
    uint8_t bytes[ARCHIVE_POSITION_SIZE];
    if (turn->archive == NULL) {
        job_set_position(turn->job, key);
        return;
    }
    struct archive_position position = archive_reader_position(turn->archive);
    store_u64_be(bytes, position.file);
    store_u64_be(bytes + 8, position.offset);
    store_u64_be(bytes + 16, position.item);
    job_set_position(turn->job, bytes_of(bytes, sizeof bytes));
}

/* --- Sources --- */

static enum job_result open_history(struct turn *turn)
{
    const struct job_record *record = job_record(turn->job);
    enum engine_status status =
        history_cut(job_engine(turn->job), job_clock(turn->job), record->hold_us);
    if (status != ENGINE_OK)
        return fail_engine(turn, status);
    turn->items =
        item_source_open(job_engine(turn->job), &turn->source, record->hold_us, record->position);
    return JOB_RESULT_COMPLETED;
}

static enum job_result open_archive(struct turn *turn, struct bytes backup_id)
{
    struct job_record backup;
    struct backup_detail detail;
    struct object_error err;
    struct backups *backups = api_backups(turn->api);
    enum engine_status status =
        job_record_load(job_engine(turn->job), turn->arena, JOB_BACKUP, backup_id, &backup);
    if (status == ENGINE_NOT_FOUND)
        return fail(turn, "BackupNotFound", "the backup is gone");
    if (status == ENGINE_OK && !backup_detail_decode(turn->arena, &backup, &detail))
        status = ENGINE_CORRUPT;
    if (status != ENGINE_OK)
        return fail_engine(turn, status);
    if (detail.type == BACKUP_SYSTEM && job_record(turn->job)->hold_us != 0)
        return open_history(turn);
    if (detail.type == BACKUP_SYSTEM) { /* Its history was about to begin. */
        turn->items = item_source_open(job_engine(turn->job), &turn->source, 0,
                                       job_record(turn->job)->position);
        return JOB_RESULT_COMPLETED;
    }
    turn->bucket = backups_open_bucket(backups, turn->job, &err);
    if (turn->bucket == NULL)
        return fail_archive(turn, ARCHIVE_UNREADABLE, &err);
    struct archive_position position = decode_position(job_record(turn->job)->position);
    turn->archive =
        archive_reader_create(turn->bucket, backups_prefix(backups, turn->arena, backup_id),
                              detail.files, detail.file_count, &position);
    return JOB_RESULT_COMPLETED;
}

static enum job_result open_source(struct turn *turn)
{
    struct restore_detail detail;
    struct item item;
    if (!restore_detail_decode(turn->arena, job_record(turn->job), &detail) ||
        !item_open(detail.record, &item) || !item_verify(&item) ||
        job_record(turn->job)->position.len >= BACKFILLED_SIZE_MAX ||
        !table_definition_decode(turn->arena, &item, &turn->source))
        return fail_engine(turn, ENGINE_CORRUPT);
    return detail.backup_id.data != NULL ? open_archive(turn, detail.backup_id)
                                         : open_history(turn);
}

/* The next item; `*end`: there are no more. An item without content is a key that was not in use.
 */
static enum job_result next_item(struct turn *turn, struct source_item *out, bool *end)
{
    struct bytes encoded;
    struct object_error err;
    if (turn->archive == NULL) {
        enum engine_status status = item_source_next(turn->items, out);
        *end = status == ENGINE_END;
        return status == ENGINE_OK || *end ? JOB_RESULT_COMPLETED : fail_engine(turn, status);
    }
    enum archive_status status = archive_reader_next(turn->archive, &encoded, &err);
    *end = status == ARCHIVE_END;
    if (*end)
        return JOB_RESULT_COMPLETED;
    if (status != ARCHIVE_ITEM)
        return fail_archive(turn, status, &err);
    *out = (struct source_item){ .exists = true };
    /* Checksums say that the bytes are those that somebody wrote: a folder of backups may come from
     * anywhere, and what is wrong in an item would meet whoever reads it later. */
    if (!item_open(encoded, &out->item) || !item_verify(&out->item) ||
        out->item.size > ITEM_SIZE_MAX)
        return fail(turn, "BackupDamaged", "an item of the backup is damaged");
    return JOB_RESULT_COMPLETED;
}

/* --- Loading --- */

static enum job_result write_batch(struct turn *turn)
{
    enum engine_status status = bulk_load_write(turn->load, turn->job);
    return status == ENGINE_OK ? JOB_RESULT_COMPLETED : fail_engine(turn, status);
}

static enum job_result load_item(struct turn *turn, const struct source_item *item)
{
    struct error err;
    if (item->exists) {
        error_init(&err, turn->arena);
        if (!bulk_load_add(turn->load, &item->item, &err))
            return fail(turn, "InternalServerError", "an item of the source has no valid key");
        job_count(turn->job, 1, item->item.size, 0);
    }
    set_position(turn, item->key);
    return bulk_load_is_full(turn->load) ? write_batch(turn) : JOB_RESULT_COMPLETED;
}

static enum job_result load_items(struct turn *turn)
{
    enum job_result result = JOB_RESULT_COMPLETED;
    struct source_item item = { 0 };
    bool end = false;
    while (result == JOB_RESULT_COMPLETED && !end) {
        if (job_is_stopping(turn->job))
            return JOB_RESULT_STOPPED;
        result = next_item(turn, &item, &end);
        if (result == JOB_RESULT_COMPLETED && !end)
            result = load_item(turn, &item);
    }
    if (result == JOB_RESULT_COMPLETED)
        result = write_batch(turn);
    if (result != JOB_RESULT_COMPLETED)
        return result;
    enum engine_status status = bulk_load_wait(turn->load);
    return status == ENGINE_OK ? JOB_RESULT_COMPLETED : fail_engine(turn, status);
}

static enum job_result run_turn(struct turn *turn)
{
    struct table *target = table_job_find(turn->api, turn->job);
    if (target == NULL)
        return fail(turn, "TableNotFound", "the table is gone");
    enum job_result result = open_source(turn);
    if (result == JOB_RESULT_COMPLETED) {
        turn->load = bulk_load_create(&(struct bulk_load_options){
            .engine = job_engine(turn->job), .table = table_definition(target) });
        result = load_items(turn);
        bulk_load_destroy(turn->load);
    }
    archive_reader_destroy(turn->archive);
    item_source_close(turn->items);
    object_bucket_close(turn->bucket);
    table_release(target);
    return result;
}

enum job_result restore_job_run(struct job *job, void *context)
{
    struct turn turn = { .api = context, .job = job, .arena = arena_create() };
    enum job_result result = job_is_cancelled(job) ? JOB_RESULT_STOPPED : run_turn(&turn);
    arena_destroy(turn.arena);
    if (result == JOB_RESULT_STOPPED && job_is_cancelled(job))
        return table_job_cancel(context, job);
    if (result == JOB_RESULT_COMPLETED)
        return table_job_end(context, job, JOB_COMPLETED);
    return result == JOB_RESULT_FAILED ? table_job_drop(context, job) : result;
}
