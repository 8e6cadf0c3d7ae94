/* table_manifest.c -- see table_manifest.h. backup_job.c writes it. */
#include "api/table_manifest.h"
#include "api/backup/backup_name.h"
#include "base/arena.h"
#include "jobs/job_record.h"
#include "jobs/kept_table.h"
#include "json/base64.h"
#include "json/reader.h"

enum { DEPTH_MAX = 16 };

/* The two members that count; the others are for people. */
static bool read_members(struct arena *arena, struct bytes manifest, struct bytes *key,
                         struct bytes *record)
{
    struct json_reader reader;
    struct bytes name;
    *key = *record = (struct bytes){ 0 };
    json_reader_init(&reader, arena, manifest, DEPTH_MAX);
    if (json_peek(&reader) != JSON_OBJECT)
        return false;
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        struct bytes *wanted = bytes_equal_text(name, "key")      ? key
                               : bytes_equal_text(name, "record") ? record
                                                                  : NULL;
        if (wanted == NULL || json_peek(&reader) != JSON_STRING)
            json_skip(&reader);
        else if (!json_read_string(&reader, wanted))
            return false;
    }
    return !json_failed(&reader) && key->data != NULL && record->data != NULL;
}

bool table_manifest_read(struct arena *arena, struct bytes manifest, struct bytes id,
                         struct bytes *key, struct bytes *stored)
{
    struct bytes text;
    struct job_record record;
    struct backup_detail detail;
    size_t size = 0;
    if (!read_members(arena, manifest, key, &text))
        return false;
    uint8_t *bytes = arena_alloc(arena, base64_decoded_max(text.len) + 1);
    if (text.len == 0 || !base64_decode(text, bytes, &size))
        return false;
    *stored = bytes_of(bytes, size);
    return job_record_decode(arena, *key, *stored, &record) && record.letter == JOB_BACKUP &&
           record.state == JOB_COMPLETED && bytes_equal_text(id, record.id) &&
           !kept_table_is(&record) && backup_detail_decode(arena, &record, &detail) &&
           detail.type == BACKUP_USER && !detail.deleting;
}
