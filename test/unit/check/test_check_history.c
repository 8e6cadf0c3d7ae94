/* test_check_history.c -- what `stator check` says of a history and of the ceiling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "check_fixture.h"
#include "engine_fixture.h"
#include "history/commit_ceiling.h"
#include "history/history_entry.h"
#include "jobs/job_record.h"
#include "model/table_definition.h"

static struct check_fixture store;

static int set_up(void **state)
{
    (void)state;
    check_fixture_open(&store);
    assert_true(api_fixture_call(&store.api, "UpdateContinuousBackups",
                                 "{'TableName':'orders','PointInTimeRecoverySpecification':"
                                 "{'PointInTimeRecoveryEnabled':true}}"));
    check_fixture_write_random(&store, 3, 200);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    check_fixture_close(&store);
    return 0;
}

/* The first place from `after` on that is of a space. */
static struct check_fixture_entry first_entry_of(enum engine_space space)
{
    struct engine_view *view = engine_fixture_view(store.engine);
    struct engine_place place;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum engine_status status = engine_view_next_place(view, NULL, &place);
    while (status == ENGINE_OK && place.space != space)
        status = engine_view_next_place(view, &place, &place);
    assert_int_equal(status, ENGINE_OK);
    const struct engine_range range = { .place = place };
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
    struct check_fixture_entry found = { .place = place,
                                         .key = arena_copy(store.arena, entry.key),
                                         .value = arena_copy(store.arena, entry.value) };
    engine_scan_close(scan);
    engine_view_close(view);
    return found;
}

static void ignore_problem(void *context, const char *problem)
{
    (void)context;
    (void)problem;
}

static void expect(const char *problem)
{
    check_fixture_expect(&store, (const char *const[]){ problem, NULL });
}

static void a_history_as_the_server_leaves_it_has_no_problem(void **state)
{
    (void)state;
    expect(NULL);
    assert_true(api_fixture_call(&store.api, "UpdateContinuousBackups",
                                 "{'TableName':'orders','PointInTimeRecoverySpecification':"
                                 "{'PointInTimeRecoveryEnabled':false}}"));
    expect(NULL);
}

static void a_damaged_entry_is_reported(void **state)
{
    (void)state;
    struct check_fixture_entry entry =
        check_fixture_flip(&store, first_entry_of(ENGINE_SPACE_HISTORY));
    check_fixture_put(&store, &entry);
    expect("table orders, history, partition *: is damaged");
}

static void an_entry_under_another_key_is_reported(void **state)
{
    (void)state;
    struct check_fixture_entry entry = first_entry_of(ENGINE_SPACE_HISTORY);
    struct history_key key;
    uint8_t *bytes = arena_alloc(store.arena, entry.key.len);
    assert_true(history_key_decode(entry.key, &key));

    memcpy(bytes, entry.key.data, entry.key.len);
    bytes[3] ^= 1; /* The day. */
    entry.key = bytes_of(bytes, entry.key.len);
    check_fixture_put(&store, &entry);
    expect("table orders, history, partition *: is stored under a key that is no entry's");
    check_fixture_delete(&store, &entry);

    entry.key = history_key_encode(store.arena, BYTES("\377\377\377\377\377\377\377\377x\0\1"),
                                   key.commit_us);
    check_fixture_put(&store, &entry);
    expect("table orders, history, partition *: lies in another partition than its item");
    check_fixture_delete(&store, &entry);
    expect(NULL);
}

static void an_entry_beyond_the_ceiling_is_reported(void **state)
{
    (void)state;
    struct check_fixture_entry entry = first_entry_of(ENGINE_SPACE_HISTORY);
    struct history_key key;
    assert_true(history_key_decode(entry.key, &key));
    entry.key = history_key_encode(store.arena, key.item_key, key.commit_us + 5 * INT64_C(1000000));
    check_fixture_put(&store, &entry);
    expect("table orders, history, partition *: has a commit time that was not reached");
}

static void a_damaged_ceiling_is_reported(void **state)
{
    (void)state;
    engine_fixture_put(store.engine, commit_ceiling_place, BYTES("\0\0\0\0\0\0\0\1"), BYTES("x"));
    expect("commit times: a record is damaged");
}

/* --- Deleted tables that a backup keeps --- */

static void a_deleted_table_that_a_backup_keeps_has_no_problem(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&store.api, "DeleteTable", "{'TableName':'orders'}"));
    expect(NULL);
    api_fixture_restart(&store.api, 1000); /* Now its indexes are gone. */
    assert_true(api_fixture_call(&store.api, "ListTables", "{}"));
    expect(NULL);
}

static void damage_of_a_deleted_table_that_a_backup_keeps_is_reported(void **state)
{
    (void)state;
    assert_true(api_fixture_call(&store.api, "DeleteTable", "{'TableName':'orders'}"));
    struct check_fixture_entry kept = first_entry_of(ENGINE_SPACE_HISTORY);
    struct check_fixture_entry entry = check_fixture_flip(&store, kept);
    check_fixture_put(&store, &entry);
    expect("table orders, history, partition *: is damaged");
    check_fixture_put(&store, &kept);

    struct check_fixture_entry item = first_entry_of(ENGINE_SPACE_ITEMS);
    entry = check_fixture_flip(&store, item);
    check_fixture_put(&store, &entry);
    assert_true(check_store(store.engine, ignore_problem, NULL).problem_count > 0);
    check_fixture_put(&store, &item);
    expect(NULL);
}

static void data_that_a_lost_backup_kept_is_reported(void **state)
{
    (void)state;
    struct engine_view *view;
    struct engine_scan *scan = NULL;
    struct engine_entry found;
    const struct engine_range range = { .place = job_record_place };
    assert_true(api_fixture_call(&store.api, "DeleteTable", "{'TableName':'orders'}"));
    view = engine_fixture_view(store.engine);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    assert_int_equal(engine_scan_next(scan, &found), ENGINE_OK);
    struct check_fixture_entry record = { .place = job_record_place,
                                          .key = arena_copy(store.arena, found.key),
                                          .value = arena_copy(store.arena, found.value) };
    engine_scan_close(scan);
    engine_view_close(view);
    check_fixture_delete(&store, &record);
    check_fixture_expect(
        &store, (const char *const[]){ "owner *: holds data that belongs to no table*",
                                       "owner *: holds data that belongs to no table*", NULL });
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_history_as_the_server_leaves_it_has_no_problem),
        TEST(a_damaged_entry_is_reported),
        TEST(an_entry_under_another_key_is_reported),
        TEST(an_entry_beyond_the_ceiling_is_reported),
        TEST(a_damaged_ceiling_is_reported),
        TEST(a_deleted_table_that_a_backup_keeps_has_no_problem),
        TEST(damage_of_a_deleted_table_that_a_backup_keeps_is_reported),
        TEST(data_that_a_lost_backup_kept_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
