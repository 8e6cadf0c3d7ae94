/* job_detail_fuzz.c -- arbitrary details and positions in the records of exports, imports, backups
 * and restores, and the callers that they note.
 *
 * The input is an encoded map, whose members become the record's attributes; a map among them
 * becomes a record within the record, such as a table's. Records of their own would hide behind
 * their checksums. What decodes encodes to what decodes to the same. Positions of exports have no
 * checksum of their own and are tried as they are.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "api/backup/backup_name.h"
#include "api/backup/restore_job.h"
#include "api/export/export_record.h"
#include "api/import/object_input.h"
#include "api/stored_caller.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/log.h"
#include "history/history_reader.h"
#include "jobs/job_record.h"
#include "model/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The map's members as a record. One map deep: records have no more within them. */
static struct bytes build_record(struct arena *arena, const struct value *map, bool is_outer)
{
    struct value value;
    struct value_iter iter;
    struct bytes name;
    struct item_builder builder;
    item_builder_init(&builder, arena);
    value_iter_init(&iter, map);
    while (value_iter_next(&iter, &name, &value)) {
        struct bytes encoded = value.encoded;
        if (is_outer && value.type == VALUE_M) {
            struct buffer inner;
            buffer_init(&inner, arena);
            value_append_binary(&inner, build_record(arena, &value, false));
            encoded = buffer_bytes(&inner);
        }
        item_builder_add(&builder, name, encoded);
    }
    return item_builder_finish(&builder).encoded;
}

static void try_export(struct arena *arena, struct job_record *record)
{
    struct export_detail detail, again;
    if (!export_detail_decode(arena, record, &detail))
        return;
    struct job_record copy = *record;
    copy.detail = export_detail_encode(arena, &detail);
    bool decodes = export_detail_decode(arena, &copy, &again);
    assert(decodes && again.from_us == detail.from_us && again.to_us == detail.to_us &&
           again.file_count == detail.file_count && bytes_equal(again.body, detail.body));
    (void)decodes;
}

static void try_backup(struct arena *arena, struct job_record *record)
{
    struct backup_detail detail, again;
    if (!backup_detail_decode(arena, record, &detail))
        return;
    struct job_record copy = *record;
    copy.detail = backup_detail_encode(arena, &detail);
    bool decodes = backup_detail_decode(arena, &copy, &again);
    assert(decodes && again.type == detail.type && again.deleting == detail.deleting &&
           again.moment_ms == detail.moment_ms && again.file_count == detail.file_count &&
           bytes_equal(again.name, detail.name) && bytes_equal(again.record, detail.record));
    (void)decodes;
}

static void try_restore(struct arena *arena, struct job_record *record)
{
    struct restore_detail detail, again;
    if (!restore_detail_decode(arena, record, &detail))
        return;
    struct job_record copy = *record;
    copy.detail = restore_detail_encode(arena, &detail);
    bool decodes = restore_detail_decode(arena, &copy, &again);
    assert(decodes && bytes_equal(again.backup_id, detail.backup_id) &&
           bytes_equal(again.record, detail.record));
    (void)decodes;
}

static void try_input(struct arena *arena, struct bytes stored)
{
    struct object_input_position position, again;
    if (!object_input_decode(stored, &position))
        return;
    bool decodes = object_input_decode(object_input_encode(arena, &position), &again);
    assert(decodes && again.records == position.records && again.finished == position.finished &&
           again.stored == position.stored && again.key_size == position.key_size &&
           again.etag_size == position.etag_size);
    (void)decodes;
}

static void try_position(struct arena *arena, struct bytes stored)
{
    struct export_position position;
    if (!export_position_decode(stored, &position) || stored.len == 0)
        return;
    assert(position.key.len <= BACKFILLED_SIZE_MAX); /* A reader of the history takes no more. */
    assert(bytes_equal(export_position_encode(arena, &position), stored));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena *arena;
    struct job_record record = { .letter = JOB_BACKUP, .id = "01763300000123-00000abc" };
    struct bytes input = bytes_of(data, size), rest = input;
    struct value map;
    if (arena == NULL) {
        arena = arena_create();
        log_set_level((enum log_level)(LOG_ERROR + 1)); /* Damaged records are reported. */
    }
    try_position(arena, input);
    if (value_verify(input, NESTING_DEPTH_MAX) && value_open(&rest, &map) && map.type == VALUE_M) {
        record.detail = build_record(arena, &map, true);
        try_export(arena, &record);
        try_backup(arena, &record);
        try_restore(arena, &record);
        try_input(arena, record.detail);
        (void)!stored_caller_decode(arena, record.detail);
    }
    arena_reset(arena);
    return 0;
}
