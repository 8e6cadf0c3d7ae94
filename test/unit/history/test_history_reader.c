/* test_history_reader.c -- readers of a history: views that change, many versions, ranges, damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/commit_clock.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "history/history_entry.h"
#include "history/history_reader.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/catalogue.h"

static struct api_fixture db;
static struct table *table;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open_with(
        &db, &(struct api_options){ .engine = failing_engine_create(reference_engine_create()) });
    assert_true(api_fixture_call(
        &db, "CreateTable",
        "{'TableName':'abc','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'a','AttributeType':'S'}],'KeySchema':[{'AttributeName':'a','KeyType':"
        "'HASH'}]}"));
    assert_true(api_fixture_call(&db, "UpdateContinuousBackups",
                                 "{'TableName':'abc','PointInTimeRecoverySpecification':"
                                 "{'PointInTimeRecoveryEnabled':true}}"));
    table = catalogue_find(api_catalogue(db.api), BYTES("abc"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    table_release(table);
    api_fixture_close(&db);
    return 0;
}

static void put(int key, int value, int size)
{
    static char body[512 * 1024];
    snprintf(body, sizeof body,
             "{'TableName':'abc','Item':{'a':{'S':'k%d'},'v':{'N':'%d'},'x':{'S':'%0*d'}}}", key,
             value, size, 0);
    assert_true(api_fixture_call(&db, "PutItem", body));
}

/* How many items there were; each has this size. */
static size_t count_at(int64_t at_us, const struct history_range *range, enum engine_status want)
{
    struct history_reader *reader =
        history_reader_open_state(db.engine, table_definition(table), at_us, range);
    struct history_state state;
    enum engine_status status;
    size_t count = 0;
    while ((status = history_reader_next_state(reader, &state)) == ENGINE_OK)
        count += state.exists;
    assert_int_equal(status, want);
    history_reader_close(reader);
    return count;
}

static const struct history_range all;

static void a_reader_goes_on_in_other_views(void **state)
{
    (void)state;
    enum { ITEMS = 40, ITEM_SIZE = 300 * 1024 };
    static_assert(ITEMS * ITEM_SIZE > 2 * HISTORY_VIEW_SIZE, "several views");
    for (int i = 0; i < ITEMS; i++)
        put(i, 1, ITEM_SIZE);
    int64_t at_us = clock_commit_now_us(&db.clock);
    for (int i = 0; i < ITEMS; i += 2)
        put(i, 2, ITEM_SIZE);
    /* While it reads, items behind and before it change. */
    struct history_reader *reader =
        history_reader_open_state(db.engine, table_definition(table), at_us, &all);
    struct history_state item;
    size_t count = 0;
    while (history_reader_next_state(reader, &item) == ENGINE_OK) {
        struct value value;
        assert_true(item.exists && item_find(&item.item, BYTES("v"), &value));
        assert_int_equal(value.data.len, 2);
        assert_memory_equal(value.data.data, "\xC1\x02", 2); /* 1 */
        put((int)(count * 7 % ITEMS), 3 + (int)count, 10);
        count++;
    }
    history_reader_close(reader);
    assert_int_equal(count, ITEMS);
}

static void many_versions_of_one_item_are_passed_over(void **state)
{
    (void)state;
    int64_t begin_us = clock_commit_now_us(&db.clock);
    for (int i = 0; i < 5 * HISTORY_VERSIONS_SKIPPED; i++) {
        put(1, i + 1, 1);
        put(2, i + 1, 1);
    }
    int64_t end_us = clock_commit_now_us(&db.clock);
    assert_int_equal(count_at(begin_us, &all, ENGINE_END), 0);
    for (int64_t at_us = begin_us + 2; at_us <= end_us; at_us += 7)
        assert_int_equal(count_at(at_us, &all, ENGINE_END), 2);
}

/* The changes of a window; the last commit time of the hot item's. */
static int64_t read_changes(int64_t from_us, int64_t to_us, size_t *changed)
{
    struct history_reader *reader =
        history_reader_open_changes(db.engine, table_definition(table), from_us, to_us, &all);
    struct history_change change;
    enum engine_status status;
    int64_t written_us = 0;
    *changed = 0;
    while ((status = history_reader_next_change(reader, &change)) == ENGINE_OK) {
        struct value name;
        *changed += change.changed;
        const struct item *image = change.has_new ? &change.new_image : &change.old_image;
        if (change.changed && item_find(image, BYTES("a"), &name) &&
            bytes_equal(name.data, BYTES("k1")))
            written_us = change.written_us;
    }
    assert_int_equal(status, ENGINE_END);
    history_reader_close(reader);
    return written_us;
}

/* On two days, between an item that changed once before and one that did after. */
static void changes_of_a_hot_item_are_found_without_reading_each_version(void **state)
{
    (void)state;
    enum { VERSIONS = 300, CALLS_MAX = 100 };
    static int64_t times_us[2 * VERSIONS];
    size_t changed;
    put(0, 1, 1);
    for (int i = 0; i < 2 * VERSIONS; i++) {
        if (i == VERSIONS)
            db.clock.fixed_ms += HISTORY_DAY_US / 1000;
        put(1, i + 1, 1);
        times_us[i] = atomic_load(&db.commits.newest_us);
    }
    put(2, 1, 1);
    for (int from = 0; from < 2 * VERSIONS; from += 37) {
        for (int to = from + 1; to < 2 * VERSIONS; to += 53) {
            /* Of [from, to]: the time just behind a write is the first one without it. */
            assert_int_equal(read_changes(times_us[from], times_us[to] + 1, &changed),
                             times_us[to]);
            assert_int_equal(changed, 1);
            assert_int_equal(read_changes(times_us[from], times_us[to], &changed),
                             times_us[to - 1]);
        }
    }
    failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
    assert_int_equal(read_changes(times_us[0], times_us[2 * VERSIONS - 1], &changed),
                     times_us[2 * VERSIONS - 2]);
    assert_in_range(failing_engine_calls(db.engine), 1, CALLS_MAX);
}

static void the_ranges_of_partitions_are_the_table(void **state)
{
    (void)state;
    const struct table_definition *definition = table_definition(table);
    for (int i = 0; i < 50; i++)
        put(i, 1, 1);
    int64_t at_us = clock_commit_now_us(&db.clock);
    for (int i = 0; i < 50; i += 3)
        put(i, 2, 1);
    size_t sum = 0;
    assert_true(definition->partition_count > 1);
    for (size_t i = 0; i < definition->partition_count; i++) {
        uint8_t first[HISTORY_HASH_SIZE], last[HISTORY_HASH_SIZE];
        const struct history_range range = history_range_of_partition(definition, i, first, last);
        size_t count = count_at(at_us, &range, ENGINE_END);
        assert_true(count < 50);
        sum += count;
    }
    assert_int_equal(sum, 50);
}

static void a_damaged_entry_fails_the_reader_and_nobody_else(void **state)
{
    (void)state;
    const struct table_definition *definition = table_definition(table);
    struct engine_view *view;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    put(1, 1, 1);
    int64_t at_us = clock_commit_now_us(&db.clock);
    put(1, 2, 1);
    struct engine_place place = { 0 };
    struct bytes key = { 0 };
    view = engine_fixture_view(db.engine);
    for (size_t i = 0; i < definition->partition_count && key.len == 0; i++) {
        place = history_place(definition->history.id, definition->partitions[i].id);
        const struct engine_range range = { .place = place, .reverse = true };
        assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
        if (engine_scan_next(scan, &entry) == ENGINE_OK)
            key = arena_copy(db.arena, entry.key);
        engine_scan_close(scan);
    }
    engine_view_close(view);
    assert_true(key.len > 0);
    engine_fixture_put(db.engine, place, key, BYTES("damage"));
    count_at(at_us, &all, ENGINE_CORRUPT);
    assert_true(api_fixture_call(&db, "GetItem", "{'TableName':'abc','Key':{'a':{'S':'k1'}}}"));
    put(1, 3, 1);
}

static void *put_in_thread(void *context)
{
    struct api_fixture *own = context;
    assert_true(api_fixture_call(own, "PutItem", "{'TableName':'abc','Item':{'a':{'S':'k9'}}}"));
    return NULL;
}

static void a_cut_waits_for_a_write_that_has_taken_its_time(void **state)
{
    (void)state;
    const struct timespec pause = { .tv_nsec = 1000000 };
    struct api_fixture own = db; /* With an arena of its own. */
    pthread_t thread;
    own.arena = arena_create();
    int64_t before_us = atomic_load(&db.commits.newest_us);
    assert_true(commit_clock_drain(&db.commits, 1000));
    failing_engine_hold_commit(db.engine);
    assert_int_equal(pthread_create(&thread, NULL, put_in_thread, &own), 0);
    while (atomic_load(&db.commits.newest_us) == before_us)
        nanosleep(&pause, NULL);
    assert_false(commit_clock_drain(&db.commits, 20));
    failing_engine_let_go(db.engine);
    assert_true(commit_clock_drain(&db.commits, 10000));
    pthread_join(thread, NULL);
    arena_destroy(own.arena);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_reader_goes_on_in_other_views),
        TEST(many_versions_of_one_item_are_passed_over),
        TEST(changes_of_a_hot_item_are_found_without_reading_each_version),
        TEST(the_ranges_of_partitions_are_the_table),
        TEST(a_damaged_entry_fails_the_reader_and_nobody_else),
        TEST(a_cut_waits_for_a_write_that_has_taken_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
