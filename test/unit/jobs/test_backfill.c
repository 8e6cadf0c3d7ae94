/* test_backfill.c -- the job fills an index, goes on where it was, and survives failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/timed_wait.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "item_fixture.h"
#include "jobs/backfill.h"
#include "jobs/job.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/table_stats.h"
#include "table_fixture.h"

enum {
    /* More than a slice of each table. */
    ITEMS = JOB_BATCH_ITEMS * BACKFILL_SLICE_BATCHES * 3 / 2,
    SAVES_MAX = 64,
    WAIT_MS = 60000,
};

struct fixture {
    struct engine_fixture engine;
    struct catalogue *catalogue;
    struct arena *arena;
    struct backfill *backfill;
    /* What the job has saved. */
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    struct backfill_progress saves[SAVES_MAX];
    size_t save_count;
    size_t complete_count;
    enum engine_status answer; /* To the next save. */
};

static struct fixture fixture;

static struct bytes copy(struct bytes from)
{
    return arena_copy(fixture.arena, from);
}

/* As the control thread does it, on the job's own thread: there is no other. */
static void store(const struct backfill_progress *progress)
{
    struct table *table = catalogue_find(fixture.catalogue, progress->table_name);
    struct table_definition changed = table_definition_copy(fixture.arena, table_definition(table));
    assert_int_equal(changed.id, progress->table_id);
    assert_int_equal(changed.indexes[0].id, progress->index_id);
    changed.indexes[0].backfilled = progress->complete ? (struct bytes){ 0 } : progress->position;
    if (progress->complete)
        changed.indexes[0].status = INDEX_ACTIVE;
    assert_int_equal(catalogue_update(fixture.catalogue, fixture.arena, &changed), ENGINE_OK);
    table_release(table);
    /* The control thread may wait for that. */
    table = catalogue_find(fixture.catalogue, progress->table_name);
    assert_true(table_is_only_version(table));
    table_release(table);
}

static enum engine_status save(void *context, const struct backfill_progress *progress)
{
    assert_ptr_equal(context, &fixture);
    pthread_mutex_lock(&fixture.mutex);
    enum engine_status answer = fixture.answer;
    fixture.answer = ENGINE_OK;
    if (answer == ENGINE_OK) {
        store(progress);
        assert_true(fixture.save_count < SAVES_MAX);
        struct backfill_progress *kept = &fixture.saves[fixture.save_count++];
        *kept = *progress;
        kept->table_name = copy(progress->table_name);
        kept->position = copy(progress->position);
        fixture.complete_count += progress->complete;
        pthread_cond_signal(&fixture.changed);
    }
    pthread_mutex_unlock(&fixture.mutex);
    return answer;
}

static void start_job(struct engine *engine)
{
    fixture.backfill = backfill_start(&(struct backfill_options){ .engine = engine,
                                                                  .clock = &clock_system,
                                                                  .catalogue = fixture.catalogue,
                                                                  .save = save,
                                                                  .context = &fixture });
}

static void stop_job(void)
{
    backfill_stop(fixture.backfill);
    backfill_wake(fixture.backfill); /* Still allowed. */
    backfill_destroy(fixture.backfill);
}

static void wait_for_saves(size_t count, size_t complete_count)
{
    pthread_mutex_lock(&fixture.mutex);
    while (fixture.save_count < count || fixture.complete_count < complete_count)
        timed_wait(&fixture.changed, &fixture.mutex, WAIT_MS);
    pthread_mutex_unlock(&fixture.mutex);
}

/* --- Tables --- */

/* A table with a global index on "g" in the status. */
static void create_table(const char *name, enum index_status status)
{
    struct table_definition draft = table_fixture_draft(fixture.arena, bytes_from_text(name));
    table_fixture_add_index(fixture.arena, &draft, status);
    assert_int_equal(catalogue_create(fixture.catalogue, fixture.arena, &draft), ENGINE_OK);
}

static void begin_backfill(const char *name)
{
    struct table *table = catalogue_find(fixture.catalogue, bytes_from_text(name));
    struct table_definition changed = table_definition_copy(fixture.arena, table_definition(table));
    changed.indexes[0].status = INDEX_BACKFILLING;
    assert_int_equal(catalogue_update(fixture.catalogue, fixture.arena, &changed), ENGINE_OK);
    table_release(table);
}

/* Items as they were written before there was an index; every third has no key of it. Statistics
 * are left to the entries. */
static void put_items(const char *name, int count)
{
    struct table *table = catalogue_find(fixture.catalogue, bytes_from_text(name));
    struct engine_write *write = NULL;
    assert_int_equal(engine_write_begin(fixture.engine.engine, NULL, 0, &write), ENGINE_OK);
    for (int i = 0; i < count; i++) {
        char text[96];
        struct item_address place;
        struct error err;
        error_init(&err, fixture.arena);
        snprintf(text, sizeof text,
                 i % 3 == 0 ? "{'p':{'S':'%d'},'g':{'N':'%d'}}" : "{'p':{'S':'%d'},'g':{'S':'%d'}}",
                 i, i % 7);
        struct item item = item_fixture_read(fixture.arena, text);
        assert_true(
            item_address_of_item(fixture.arena, table_definition(table), &item, &place, &err));
        engine_write_put(write, &place.address, item.encoded);
    }
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    table_release(table);
}

static int64_t count_stored(const struct table_definition *table)
{
    struct engine_view *view = engine_fixture_view(fixture.engine.engine);
    int64_t count = 0;
    for (size_t i = 0; i < table->indexes[0].partition_count; i++) {
        struct engine_range range = { .place = { .owner = table->indexes[0].id,
                                                 .partition = table->indexes[0].partitions[i].id,
                                                 .space = ENGINE_SPACE_INDEX } };
        struct engine_scan *scan;
        struct engine_entry entry;
        assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
        while (engine_scan_next(scan, &entry) == ENGINE_OK)
            count++;
        engine_scan_close(scan);
    }
    engine_view_close(view);
    return count;
}

/* The index is ACTIVE, and has and counts so many entries. */
static void expect_complete(const char *name, int64_t count)
{
    struct table *table = catalogue_find(fixture.catalogue, bytes_from_text(name));
    struct engine_view *view = engine_fixture_view(fixture.engine.engine);
    struct table_stats items, entries;
    assert_int_equal(table_definition(table)->indexes[0].status, INDEX_ACTIVE);
    assert_int_equal(table_stats_sum(view, table_definition(table), &items, &entries), ENGINE_OK);
    assert_int_equal(entries.item_count, count);
    assert_int_equal(count_stored(table_definition(table)), count);
    engine_view_close(view);
    table_release(table);
}

static int set_up(void **state)
{
    (void)state;
    enum engine_status status;
    fixture = (struct fixture){ .arena = arena_create() };
    pthread_mutex_init(&fixture.mutex, NULL);
    timed_wait_init(&fixture.changed);
    engine_fixture_open(&fixture.engine, ENGINE_FIXTURE_ROCKSDB_MEMORY);
    fixture.catalogue = catalogue_open(fixture.engine.engine, &status);
    assert_non_null(fixture.catalogue);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    catalogue_close(fixture.catalogue);
    engine_fixture_close(&fixture.engine);
    pthread_cond_destroy(&fixture.changed);
    pthread_mutex_destroy(&fixture.mutex);
    arena_destroy(fixture.arena);
    return 0;
}

/* --- Tests --- */

static void an_empty_table_is_complete_at_once(void **state)
{
    (void)state;
    create_table("empty", INDEX_BACKFILLING);
    create_table("other", INDEX_ACTIVE);
    create_table("waiting", INDEX_ALLOCATING);
    start_job(fixture.engine.engine);
    wait_for_saves(1, 1);
    stop_job();
    assert_int_equal(fixture.save_count, 1);
    expect_complete("empty", 0);
}

static void tables_take_turns_and_all_entries_come(void **state)
{
    (void)state;
    create_table("first", INDEX_BACKFILLING);
    create_table("second", INDEX_BACKFILLING);
    put_items("first", ITEMS * 2);
    put_items("second", 3);
    start_job(fixture.engine.engine);
    wait_for_saves(1, 2);
    stop_job();
    expect_complete("first", ITEMS * 2 / 3 * 2);
    expect_complete("second", 2);
    /* The small one did not wait for the large one's end. */
    size_t second = 0;
    while (!bytes_equal_text(fixture.saves[second].table_name, "second"))
        second++;
    assert_true(second < fixture.save_count - 1);
    for (size_t i = 1; i < fixture.save_count; i++) {
        const struct backfill_progress *save = &fixture.saves[i];
        if (!save->complete && bytes_equal(save->table_name, fixture.saves[i - 1].table_name))
            assert_true(bytes_compare(fixture.saves[i - 1].position, save->position) < 0);
    }
}

static void a_job_goes_on_behind_its_position(void **state)
{
    (void)state;
    create_table("table", INDEX_BACKFILLING);
    put_items("table", ITEMS * 2);
    start_job(fixture.engine.engine);
    wait_for_saves(1, 0);
    stop_job(); /* In the middle, or not: the machine decides. */
    struct table *table = catalogue_find(fixture.catalogue, BYTES("table"));
    int64_t before = count_stored(table_definition(table));
    bool is_complete = table_definition(table)->indexes[0].status == INDEX_ACTIVE;
    table_release(table);
    assert_true(before > 0);
    start_job(fixture.engine.engine);
    if (!is_complete)
        wait_for_saves(2, 1);
    stop_job();
    expect_complete("table", ITEMS * 2 / 3 * 2);
}

static void a_progress_that_cannot_be_saved_is_made_again(void **state)
{
    (void)state;
    create_table("table", INDEX_BACKFILLING);
    put_items("table", 300);
    fixture.answer = ENGINE_IO;
    start_job(fixture.engine.engine);
    wait_for_saves(1, 1);
    stop_job();
    expect_complete("table", 200);
}

/* Nor does it keep the job from other tables. */
static void a_key_that_belongs_elsewhere_is_no_position(void **state)
{
    (void)state;
    create_table("damaged", INDEX_BACKFILLING);
    create_table("other", INDEX_BACKFILLING);
    put_items("other", 3);
    struct table *table = catalogue_find(fixture.catalogue, BYTES("damaged"));
    const struct table_definition *damaged = table_definition(table);
    struct item item = item_fixture_read(fixture.arena, "{'p':{'S':'1'},'g':{'S':'1'}}");
    engine_fixture_put(fixture.engine.engine, item_address_of_hash(damaged, 0),
                       BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFkey"), item.encoded);
    table_release(table);
    start_job(fixture.engine.engine);
    wait_for_saves(1, 1);
    stop_job();
    assert_int_equal(fixture.save_count, 1);
    expect_complete("other", 2);
}

static void nothing_begins_while_an_older_version_is_held(void **state)
{
    (void)state;
    create_table("held", INDEX_ALLOCATING);
    create_table("other", INDEX_BACKFILLING);
    put_items("held", 3);
    struct table *held = catalogue_find(fixture.catalogue, BYTES("held"));
    begin_backfill("held");
    start_job(fixture.engine.engine);
    wait_for_saves(1, 1);
    assert_true(bytes_equal_text(fixture.saves[0].table_name, "other"));
    assert_int_equal(count_stored(table_definition(held)), 0);
    table_release(held);
    wait_for_saves(2, 2);
    stop_job();
    expect_complete("held", 2);
}

/* Else a stream that is enabled meanwhile would be opened only after the slice. */
static void a_newer_version_ends_a_slice(void **state)
{
    enum { FEW = JOB_BATCH_ITEMS * JOB_BATCHES_MAX * 9 };
    (void)state;
    struct engine *held = failing_engine_create(fixture.engine.engine);
    failing_engine_set(held, &(struct failing_engine_plan){ .commits_only = true });
    failing_engine_hold_commit(held);
    create_table("table", INDEX_BACKFILLING);
    put_items("table", FEW); /* Within a slice. */
    start_job(held);
    while (failing_engine_calls(held) < 2) /* The first batch is not through, but handed over. */
        sched_yield();
    begin_backfill("table");
    failing_engine_let_go(held);
    wait_for_saves(0, 1);
    stop_job();
    fixture.engine.engine = held; /* Closed with what it wraps. */
    assert_int_equal(fixture.save_count, 2);
    expect_complete("table", FEW / 3 * 2);
}

static void a_woken_job_finds_what_is_new(void **state)
{
    (void)state;
    create_table("late", INDEX_ALLOCATING);
    put_items("late", 3);
    start_job(fixture.engine.engine);
    begin_backfill("late");
    backfill_wake(fixture.backfill);
    wait_for_saves(1, 1);
    stop_job();
    expect_complete("late", 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_table_is_complete_at_once),
        TEST(tables_take_turns_and_all_entries_come),
        TEST(a_job_goes_on_behind_its_position),
        TEST(a_progress_that_cannot_be_saved_is_made_again),
        TEST(a_key_that_belongs_elsewhere_is_no_position),
        TEST(nothing_begins_while_an_older_version_is_held),
        TEST(a_newer_version_ends_a_slice),
        TEST(a_woken_job_finds_what_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
