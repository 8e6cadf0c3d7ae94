/* test_backup_failures.c -- backups and restores whose store fails for a moment, and backups with
 * items that nobody could have put. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include "api/backup/backup_name.h"
#include "archive/archive.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "failing_engine.h"
#include "import_fixture.h"
#include "jobs/job_record.h"
#include "model/limits.h"
#include "object/object_store.h"
#include "reference_engine.h"

#define CREATE                                                                                     \
    "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"      \
    "'HASH'}]}"
#define ENABLE                                                                                     \
    "{'TableName':'Tab','PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}"

enum { ITEMS = 40, COMMITS_MAX = 7, STEPS_MAX = 30 * 500 };

static int set_up(void **state)
{
    static struct import_fixture fixture;
    import_fixture_open(&fixture, &(struct api_options){
                                      .engine = failing_engine_create(reference_engine_create()),
                                      .backup_folder = fixture.root,
                                  });
    assert_true(api_fixture_call(&fixture.api, "CreateTable", CREATE));
    for (int i = 0; i < ITEMS; i++) {
        char body[128];
        snprintf(body, sizeof body, "{'TableName':'Tab','Item':{'p':{'S':'%d'}}}", i);
        assert_true(api_fixture_call(&fixture.api, "PutItem", body));
    }
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    import_fixture_close(*state);
    return 0;
}

/* Calls the operation with a failure of the Nth commit, from its own on. */
static bool call_failing(struct import_fixture *fixture, uint64_t call, const char *operation,
                         const char *body)
{
    const struct failing_engine_plan plan = { .call = call,
                                              .status = ENGINE_FULL,
                                              .commits_only = true };
    failing_engine_set(fixture->api.engine, &plan);
    return api_fixture_call(&fixture->api, operation, body);
}

/* Calls the operation until it no longer shows CREATING. */
static void wait_until_made(struct import_fixture *fixture, const char *operation, const char *body)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        usleep(2000);
        if (!api_fixture_call(&fixture->api, operation, body))
            fail_msg("%s: %.*s", body, BYTES_FMT(fixture->api.error.message));
        if (!api_fixture_shows(&fixture->api, "'CREATING'"))
            return;
    }
    fail_msg("%s: it stays CREATING", body);
}

static void assert_restored(struct import_fixture *fixture, const char *target)
{
    char body[128];
    snprintf(body, sizeof body, "{'TableName':'%s'}", target);
    wait_until_made(fixture, "DescribeTable", body);
    failing_engine_set(fixture->api.engine, &(struct failing_engine_plan){ 0 });
    import_fixture_shows(fixture, "'ItemCount':40,");
    assert_true(api_fixture_call(&fixture->api, "Scan", body));
    import_fixture_shows(fixture, "'Count':40,");
    assert_true(api_fixture_call(&fixture->api, "DeleteTable", body));
}

static void back_up_and_restore(struct import_fixture *fixture)
{
    size_t made = 0, restored = 0;
    for (uint64_t call = 1; call <= COMMITS_MAX; call++) {
        char body[1300];
        if (!call_failing(fixture, call, "CreateBackup", "{'TableName':'Tab','BackupName':'abc'}"))
            continue;
        import_fixture_keep_arn(fixture);
        snprintf(body, sizeof body, "{'BackupArn':'%s'}", fixture->arn);
        wait_until_made(fixture, "DescribeBackup", body);
        import_fixture_shows(fixture, "'BackupStatus':'AVAILABLE'");
        made++;
        snprintf(body, sizeof body, "{'BackupArn':'%s','TargetTableName':'Target'}", fixture->arn);
        if (!call_failing(fixture, call, "RestoreTableFromBackup", body))
            continue;
        assert_restored(fixture, "Target");
        restored++;
    }
    /* The others were refused: the failure struck the request. */
    assert_true(made > COMMITS_MAX / 2 && restored > 0);
}

static void backups_and_restores_go_on_after_any_commit_that_failed(void **state)
{
    back_up_and_restore(*state);
}

static void so_do_those_of_a_table_with_recovery(void **state)
{
    struct import_fixture *fixture = *state;
    size_t restored = 0;
    assert_true(api_fixture_call(&fixture->api, "UpdateContinuousBackups", ENABLE));
    back_up_and_restore(fixture);
    for (uint64_t call = 1; call <= COMMITS_MAX; call++) {
        if (!call_failing(fixture, call, "RestoreTableToPointInTime",
                          "{'SourceTableName':'Tab','TargetTableName':'Target',"
                          "'UseLatestRestorableTime':true}"))
            continue;
        assert_restored(fixture, "Target");
        restored++;
    }
    assert_true(restored > COMMITS_MAX / 2);
}

/* --- Crafted items --- */

/* An item with the key p = "x" and a binary attribute, with right checksums. */
static uint8_t *make_item(struct arena *arena, size_t blob_size, size_t *size)
{
    struct item_builder builder;
    struct buffer key, blob;
    buffer_init(&key, arena);
    buffer_init(&blob, arena);
    value_append_string(&key, BYTES("x"));
    value_append_binary(&blob, bytes_of(arena_alloc_zeroed(arena, blob_size), blob_size));
    item_builder_init(&builder, arena);
    item_builder_add(&builder, BYTES("b"), buffer_bytes(&blob));
    item_builder_add(&builder, BYTES("p"), buffer_bytes(&key));
    struct bytes encoded = arena_copy(arena, item_builder_finish(&builder).encoded);
    *size = encoded.len;
    return (uint8_t *)(uintptr_t)encoded.data;
}

enum { CHECKSUM_AT = 1, SIZE_AT = 5, COUNT_AT = 9 };

static void seal(uint8_t *item, size_t size)
{
    store_u32_le(item + CHECKSUM_AT, crc32c(bytes_of(item + SIZE_AT, size - SIZE_AT)));
}

/* Replaces the only file of the backup, in its record, too. */
static void replace_file(struct import_fixture *fixture, struct bytes id, struct bytes item)
{
    char message[OBJECT_MESSAGE_MAX];
    struct object_error err;
    struct archive_file file;
    struct job_record record;
    struct backup_detail detail;
    struct arena *arena = arena_create();
    struct object_store *store =
        object_store_open(&(struct object_store_options){ .folder = fixture->root }, message);
    struct object_bucket *bucket = object_bucket_open(
        store, &(struct object_bucket_options){ .name = BYTES("backups") }, &err);
    assert_non_null(bucket);
    struct archive_writer *writer =
        archive_writer_create(bucket, arena_printf(arena, "%.*s/", BYTES_FMT(id)), 0, 0);
    assert_true(archive_writer_add(writer, item, &err));
    assert_true(archive_writer_end_file(writer, &file, &err));
    archive_writer_destroy(writer);
    object_bucket_close(bucket);
    object_store_close(store);
    struct engine *engine = fixture->api.engine;
    assert_int_equal(job_record_load(engine, arena, JOB_BACKUP, id, &record), ENGINE_OK);
    assert_true(backup_detail_decode(arena, &record, &detail));
    assert_int_equal(detail.file_count, 1);
    detail.files = &file;
    record.detail = backup_detail_encode(arena, &detail);
    assert_int_equal(job_record_store(engine, arena, &record), ENGINE_OK);
    arena_destroy(arena);
}

/* Whether a table with the one item comes of it; otherwise there is none in the end. */
static bool is_restored(struct import_fixture *fixture, struct bytes item)
{
    char body[1300];
    struct bytes arn = bytes_from_text(fixture->arn);
    replace_file(fixture, bytes_of(arn.data + arn.len - JOB_ID_SIZE, JOB_ID_SIZE), item);
    snprintf(body, sizeof body, "{'BackupArn':'%s','TargetTableName':'Target'}", fixture->arn);
    assert_true(api_fixture_call(&fixture->api, "RestoreTableFromBackup", body));
    for (int i = 0; i < STEPS_MAX; i++) {
        usleep(2000);
        if (!api_fixture_call(&fixture->api, "DescribeTable", "{'TableName':'Target'}"))
            return false;
        if (api_fixture_shows(&fixture->api, "'TableStatus':'ACTIVE'"))
            break;
    }
    import_fixture_shows(fixture, "'ItemCount':1,");
    assert_true(api_fixture_call(&fixture->api, "DeleteTable", "{'TableName':'Target'}"));
    return true;
}

static void items_that_nobody_could_have_put_end_a_restore(void **state)
{
    struct import_fixture *fixture = *state;
    struct arena *arena = arena_create();
    char body[1300];
    size_t size;
    assert_true(
        api_fixture_call(&fixture->api, "CreateBackup", "{'TableName':'Tab','BackupName':'abc'}"));
    import_fixture_keep_arn(fixture);
    snprintf(body, sizeof body, "{'BackupArn':'%s'}", fixture->arn);
    wait_until_made(fixture, "DescribeBackup", body);

    uint8_t *item = make_item(arena, 10, &size);
    assert_true(is_restored(fixture, bytes_of(item, size)));
    item[SIZE_AT] ^= 1;
    seal(item, size);
    assert_false(is_restored(fixture, bytes_of(item, size)));

    item = make_item(arena, 10, &size);
    item[COUNT_AT] ^= 1;
    seal(item, size);
    assert_false(is_restored(fixture, bytes_of(item, size)));

    item = make_item(arena, ITEM_SIZE_MAX - 3, &size); /* The names and the key have 3 bytes. */
    assert_true(is_restored(fixture, bytes_of(item, size)));
    item = make_item(arena, ITEM_SIZE_MAX - 2, &size);
    assert_false(is_restored(fixture, bytes_of(item, size)));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(backups_and_restores_go_on_after_any_commit_that_failed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(so_do_those_of_a_table_with_recovery, set_up, tear_down),
        cmocka_unit_test_setup_teardown(items_that_nobody_could_have_put_end_a_restore, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
