/* test_table_manifest.c -- a store takes over complete backups that somebody asked for, and nothing
 * else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/backup/backup_name.h"
#include "api/table_manifest.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "jobs/job_record.h"
#include "json/base64.h"
#include "json/writer.h"
#include "table_fixture.h"

#define ID "01763300000123-00000abc"
#define ID_OF_KEPT "01763300000123-00000000"

/* A manifest as backup_job.c writes it, in the arena. */
static struct bytes manifest_of(struct arena *arena, const char *id, enum job_letter letter,
                                enum job_state state, enum backup_type type, bool deleting)
{
    struct partition partition = { .id = 8 };
    struct table_definition table = table_fixture_draft(arena, BYTES("Tab"));
    struct backup_detail detail = {
        .name = BYTES("name"), .type = type, .deleting = deleting, .table = table
    };
    struct job_record record = { .letter = letter, .state = state, .table_name = BYTES("Tab") };
    struct json_writer writer;
    struct buffer out;
    memcpy(record.id, id, sizeof record.id);
    table.id = 7;
    table.partitions = &partition;
    table.partition_count = 1;
    detail.record = table_definition_encode(arena, &table).encoded;
    record.detail = backup_detail_encode(arena, &detail);
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    json_open_object(&writer);
    json_write_name(&writer, "key");
    json_write_string(&writer, job_record_address(arena, letter, bytes_from_text(id)).key);
    json_write_name(&writer, "record");
    json_write_base64(&writer, job_record_encode(arena, &record).encoded);
    json_close_object(&writer);
    return buffer_bytes(&out);
}

static void only_a_complete_backup_of_a_user_is_taken_over(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        enum job_letter letter;
        enum job_state state;
        enum backup_type type;
        bool deleting, want;
    } cases[] = {
        { ID, JOB_BACKUP, JOB_COMPLETED, BACKUP_USER, false, true },
        { ID, JOB_BACKUP, JOB_RUNNING, BACKUP_USER, false, false },
        { ID, JOB_BACKUP, JOB_COMPLETED, BACKUP_USER, true, false },
        { ID, JOB_EXPORT, JOB_COMPLETED, BACKUP_USER, false, false },
        /* They would keep owners that are other tables' here. */
        { ID, JOB_BACKUP, JOB_COMPLETED, BACKUP_SYSTEM, false, false },
        { ID_OF_KEPT, JOB_BACKUP, JOB_COMPLETED, BACKUP_SYSTEM, false, false },
        { ID_OF_KEPT, JOB_BACKUP, JOB_COMPLETED, BACKUP_USER, false, false },
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes key, stored;
        struct bytes manifest = manifest_of(arena, cases[i].id, cases[i].letter, cases[i].state,
                                            cases[i].type, cases[i].deleting);
        struct bytes id = bytes_from_text(cases[i].id);
        assert_int_equal(table_manifest_read(arena, manifest, id, &key, &stored), cases[i].want);
        if (cases[i].want) /* A folder of another name. */
            assert_false(table_manifest_read(arena, manifest, BYTES("01763300000123-00000abd"),
                                             &key, &stored));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_complete_backup_of_a_user_is_taken_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
