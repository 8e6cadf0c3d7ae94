/* test_insights.c -- counters of many threads, minutes and hours in the store, and their bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "check/check.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "insight/insight_report.h"
#include "insight/insight_store.h"
#include "insight/insights.h"
#include "insight/key_summary.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/catalogue.h"
#include "table/table_runtime.h"

enum { KEYS = 64, MINUTE_MS = INSIGHTS_MINUTE_MS, HOUR_MS = INSIGHTS_HOUR_MS };
static const int64_t start_ms = INT64_C(1700000000000) / HOUR_MS * HOUR_MS;
static const unsigned accessed = 1U << INSIGHT_ACCESSED_PARTITION_KEYS;

struct fixture {
    struct arena *arena;
    struct engine *engine;
    struct catalogue *catalogue;
    struct insights *insights;
    struct table *table;
};

static void open_with(struct fixture *fixture, size_t keys_max)
{
    enum engine_status status;
    fixture->catalogue = catalogue_open(fixture->engine, &status);
    assert_int_equal(status, ENGINE_OK);
    fixture->insights = insights_create(
        &(struct insights_options){ .engine = fixture->engine, .keys_max = keys_max });
    fixture->table = catalogue_find(fixture->catalogue, BYTES("Tab"));
}

static void close_all(struct fixture *fixture)
{
    table_release(fixture->table);
    catalogue_close(fixture->catalogue);
    insights_destroy(fixture->insights);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    static struct key_attribute attribute = { .type = VALUE_S };
    attribute.name = BYTES("p");
    fixture.arena = arena_create();
    fixture.engine = reference_engine_create();
    open_with(&fixture, KEYS);
    struct table_definition draft = {
        .name = BYTES("Tab"),
        .uuid = BYTES("01234567-0123-0123-0123-0123456789ab"),
        .status = TABLE_ACTIVE,
        .key = { .hash = attribute },
        .attributes = &attribute,
        .attribute_count = 1,
        .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
        .warm_throughput = { UNITS_UNSET, UNITS_UNSET },
        .insight = { .status = INSIGHT_ENABLED, .accessed_since_ms = 1, .throttled_since_ms = 1 },
    };
    assert_int_equal(catalogue_create(fixture.catalogue, fixture.arena, &draft), ENGINE_OK);
    fixture.table = catalogue_find(fixture.catalogue, BYTES("Tab"));
    assert_true(table_definition(fixture.table)->counts_keys);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    close_all(fixture);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    return 0;
}

static void count(struct fixture *fixture, uint64_t number, uint64_t weight, int64_t wall_ms)
{
    char text[32];
    int size = snprintf(text, sizeof text, "key %" PRIu64, number);
    const struct insight_event event = { .target = table_definition(fixture->table)->id,
                                         .rules = accessed,
                                         .partition_key = bytes_of(text, (size_t)size),
                                         .key = bytes_of(text, (size_t)size),
                                         .weight = weight };
    insights_count(fixture->insights, table_runtime(fixture->table), &event, wall_ms);
}

static void tick(struct fixture *fixture, int64_t wall_ms)
{
    assert_int_equal(insights_tick(fixture->insights, fixture->catalogue, wall_ms), ENGINE_OK);
}

struct sums {
    uint64_t total;
    uint64_t missed;
    size_t pieces;
    int64_t first_ms;
    int64_t last_ms;
    uint64_t of_key_0; /* What is certain. */
};

static struct sums sum(struct fixture *fixture, int64_t from_ms, int64_t until_ms, int64_t wall_ms)
{
    struct sums sums = { .first_ms = INT64_MAX, .last_ms = INT64_MIN };
    enum engine_status status;
    struct insight_report *report = insight_report_open(
        fixture->arena,
        &(struct insight_report_options){ .insights = fixture->insights,
                                          .runtime = table_runtime(fixture->table),
                                          .target = table_definition(fixture->table)->id,
                                          .rule = INSIGHT_ACCESSED_PARTITION_KEYS,
                                          .from_ms = from_ms,
                                          .until_ms = until_ms,
                                          .wall_ms = wall_ms },
        &status);
    assert_non_null(report);
    int64_t time_ms;
    const struct key_summary *piece;
    while ((status = insight_report_next(report, &time_ms, &piece)) == ENGINE_OK) {
        assert_true(time_ms > sums.last_ms);
        assert_true(time_ms >= from_ms && time_ms < until_ms);
        sums.total += space_saving_total(piece->keys);
        sums.missed += piece->missed;
        sums.pieces++;
        sums.first_ms = sums.pieces == 1 ? time_ms : sums.first_ms;
        sums.last_ms = time_ms;
        sums.of_key_0 += insight_report_find(piece, BYTES("key 0")).weight;
    }
    assert_int_equal(status, ENGINE_END);
    insight_report_close(report);
    return sums;
}

/* --- Threads --- */

enum { THREADS = 4, EVENTS = 20000 };

struct worker {
    struct fixture *fixture;
    _Atomic int64_t *now_ms;
    uint64_t seed;
};

static void *work(void *context)
{
    const struct worker *worker = context;
    struct random random;
    random_init(&random, worker->seed);
    for (int i = 0; i < EVENTS; i++)
        count(worker->fixture, random_below(&random, 4 * KEYS), 2, atomic_load(worker->now_ms));
    return NULL;
}

/* While minutes pass, are stored and are read, no event is lost or counted twice. */
static void threads_count_every_event_once(void **state)
{
    struct fixture *fixture = *state;
    _Atomic int64_t now_ms = start_ms;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    uint64_t before = 0;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .fixture = fixture, .now_ms = &now_ms, .seed = i };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 30; i++) {
        atomic_fetch_add(&now_ms, MINUTE_MS / 2);
        tick(fixture, now_ms);
        struct sums sums = sum(fixture, 0, now_ms + MINUTE_MS, now_ms);
        assert_true(sums.total + sums.missed >= before);
        before = sums.total + sums.missed;
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_fetch_add(&now_ms, MINUTE_MS);
    struct sums unstored = sum(fixture, 0, now_ms + MINUTE_MS, now_ms);
    assert_int_equal(unstored.total + unstored.missed, 2 * THREADS * EVENTS);
    tick(fixture, now_ms);
    struct sums sums = sum(fixture, 0, now_ms + MINUTE_MS, now_ms);
    assert_int_equal(sums.total + sums.missed, 2 * THREADS * EVENTS);
}

/* --- The store --- */

static void a_crash_loses_the_open_minute_only(void **state)
{
    struct fixture *fixture = *state;
    for (int minute = 0; minute < 5; minute++) {
        count(fixture, 0, 10, start_ms + minute * MINUTE_MS + 1000);
        tick(fixture, start_ms + minute * MINUTE_MS + 2000);
    }
    int64_t now_ms = start_ms + 4 * MINUTE_MS + 3000;
    assert_int_equal(sum(fixture, 0, now_ms, now_ms).of_key_0, 50);
    close_all(fixture);
    open_with(fixture, KEYS);
    struct sums sums = sum(fixture, 0, now_ms, now_ms);
    assert_int_equal(sums.of_key_0, 40);
    assert_int_equal(sums.pieces, 4);
    assert_int_equal(sums.first_ms, start_ms);
    /* The minute goes on, and adds to what another run stored of it. */
    count(fixture, 0, 1, start_ms + 3 * MINUTE_MS);
    tick(fixture, now_ms);
    assert_int_equal(sum(fixture, 0, now_ms, now_ms).of_key_0, 41);
    assert_int_equal(sum(fixture, 0, now_ms, now_ms).pieces, 4);
}

/* Minutes for a day, hours for 15 days. */
static void hours_are_made_of_minutes_and_old_ones_go(void **state)
{
    struct fixture *fixture = *state;
    enum { DAYS = 17 };
    for (int64_t hour = 0; hour < DAYS * 24; hour++) {
        for (int minute = 0; minute < 60; minute += 20) {
            count(fixture, 0, 1, start_ms + hour * HOUR_MS + minute * MINUTE_MS);
            tick(fixture, start_ms + hour * HOUR_MS + (minute + 1) * MINUTE_MS);
        }
        tick(fixture, start_ms + hour * HOUR_MS + 62 * MINUTE_MS);
    }
    int64_t now_ms = start_ms + DAYS * 24 * HOUR_MS + 2 * MINUTE_MS;
    struct sums day = sum(fixture, now_ms - 24 * HOUR_MS - 2 * MINUTE_MS, now_ms, now_ms);
    assert_int_equal(day.of_key_0, 24 * 3);
    assert_int_equal(day.pieces, 24 * 3);
    struct sums all = sum(fixture, 0, now_ms, now_ms);
    assert_int_equal(all.of_key_0, 15 * 24 * 3);
    assert_int_equal(all.pieces, 24 * 3 + 14 * 24);
    assert_int_equal(all.first_ms, start_ms + 2 * 24 * HOUR_MS);
    /* Windows that begin or end between hours and minutes. */
    struct sums part = sum(fixture, now_ms - 25 * HOUR_MS, now_ms - 23 * HOUR_MS, now_ms);
    assert_true(part.of_key_0 >= 3 && part.of_key_0 <= 6);
    /* What is read is also all there is: older records were removed. */
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct engine_range range = { .place =
                                      insight_store_place(table_definition(fixture->table)->id) };
    size_t records = 0;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK)
        records++;
    engine_scan_close(scan);
    engine_view_close(view);
    assert_in_range(records, 24 * 3 + 14 * 24, 26 * 3 + 16 * 24);
}

static void hours_of_an_earlier_run_are_made_later(void **state)
{
    struct fixture *fixture = *state;
    for (int minute = 0; minute < 50; minute++) {
        count(fixture, 0, 1, start_ms + minute * MINUTE_MS);
        tick(fixture, start_ms + (minute + 1) * MINUTE_MS);
    }
    close_all(fixture);
    open_with(fixture, KEYS);
    int64_t now_ms = start_ms + 20 * HOUR_MS;
    for (int i = 0; i < 30; i++)
        tick(fixture, now_ms);
    now_ms += 20 * HOUR_MS; /* Only the hour can tell now. */
    struct sums sums = sum(fixture, 0, now_ms, now_ms);
    assert_int_equal(sums.of_key_0, 50);
    assert_int_equal(sums.pieces, 1);
}

/* The minutes of the hours in which it was stopped are older than those that are kept. */
static void a_stop_of_days_loses_no_hour(void **state)
{
    struct fixture *fixture = *state;
    for (int minute = 0; minute < 100; minute++) {
        count(fixture, 0, 1, start_ms + minute * MINUTE_MS);
        tick(fixture, start_ms + (minute + 1) * MINUTE_MS);
    }
    close_all(fixture);
    open_with(fixture, KEYS);
    int64_t now_ms = start_ms + 10 * 24 * HOUR_MS;
    for (int i = 0; i < 30; i++)
        tick(fixture, now_ms + i * MINUTE_MS);
    struct sums sums = sum(fixture, 0, now_ms, now_ms);
    assert_int_equal(sums.of_key_0, 100);
    assert_int_equal(sums.pieces, 2);
    tick(fixture, now_ms + 6 * 24 * HOUR_MS); /* And not for ever. */
    now_ms += 6 * 24 * HOUR_MS;
    assert_int_equal(sum(fixture, 0, now_ms, now_ms).of_key_0, 0);
}

static char last_problem[256];

static void count_problem(void *context, const char *line)
{
    ++*(int *)context;
    snprintf(last_problem, sizeof last_problem, "%s", line);
}

/* Reports and the hour leave it out, and a check reports it. */
static void a_damaged_summary_is_left_out(void **state)
{
    struct fixture *fixture = *state;
    static const uint8_t nonsense[] = { 1, 0, 0, 0, 0, 7 };
    int problems = 0;
    for (int64_t minute = 0; minute < 3; minute++)
        count(fixture, 0, 1U << minute, start_ms + minute * MINUTE_MS);
    tick(fixture, start_ms + 3 * MINUTE_MS);
    assert_int_equal(sum(fixture, 0, start_ms + HOUR_MS, start_ms + 3 * MINUTE_MS).total, 7);
    check_store(fixture->engine, count_problem, &problems);
    assert_int_equal(problems, 0);
    const struct engine_address address = insight_store_address(
        fixture->arena, table_definition(fixture->table)->id, INSIGHT_ACCESSED_PARTITION_KEYS,
        INSIGHT_STORE_MINUTES, start_ms + MINUTE_MS);
    engine_fixture_put(fixture->engine, address.place, address.key,
                       bytes_of(nonsense, sizeof nonsense));
    assert_int_equal(sum(fixture, 0, start_ms + HOUR_MS, start_ms + 3 * MINUTE_MS).total, 5);
    check_store(fixture->engine, count_problem, &problems);
    assert_int_equal(problems, 1);
    assert_string_equal(last_problem, "Tab: a summary of keys is damaged");
    for (int i = 0; i < 25; i++) /* A tick looks at a few of the last 24 hours. */
        tick(fixture, start_ms + HOUR_MS + 2 * MINUTE_MS);
    tick(fixture, start_ms + 25 * HOUR_MS + 2 * MINUTE_MS);
    assert_int_equal(
        sum(fixture, 0, start_ms + HOUR_MS, start_ms + 25 * HOUR_MS + 2 * MINUTE_MS).total, 5);
}

static void forgetting_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    uint64_t id = table_definition(fixture->table)->id;
    count(fixture, 0, 1, start_ms);
    tick(fixture, start_ms + MINUTE_MS);
    count(fixture, 0, 1, start_ms + MINUTE_MS);
    assert_int_equal(
        insights_forget(fixture->insights, table_runtime(fixture->table), id, accessed), ENGINE_OK);
    assert_int_equal(sum(fixture, 0, start_ms + HOUR_MS, start_ms).total, 2); /* It was kept. */
    assert_int_equal(insights_forget(fixture->insights, table_runtime(fixture->table), id, 0),
                     ENGINE_OK);
    assert_int_equal(sum(fixture, 0, start_ms + HOUR_MS, start_ms).pieces, 0);
}

/* A rule that was disabled and enabled again must not get what an earlier one could not store. */
static void forgetting_leaves_nothing_of_a_tick_that_failed(void **state)
{
    struct fixture *fixture = *state;
    close_all(fixture);
    fixture->engine = failing_engine_create(fixture->engine);
    open_with(fixture, KEYS);
    uint64_t id = table_definition(fixture->table)->id;
    const struct failing_engine_plan plan = { .call = 1,
                                              .status = ENGINE_IO,
                                              .commits_only = true };
    count(fixture, 0, 1, start_ms);
    failing_engine_set(fixture->engine, &plan);
    assert_int_equal(insights_tick(fixture->insights, fixture->catalogue, start_ms + MINUTE_MS),
                     ENGINE_IO);
    failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
    int64_t until_ms = start_ms + HOUR_MS;
    assert_int_equal(sum(fixture, 0, until_ms, start_ms).total, 1); /* It still shows. */
    assert_int_equal(insights_forget(fixture->insights, table_runtime(fixture->table), id, 0),
                     ENGINE_OK);
    assert_int_equal(sum(fixture, 0, until_ms, start_ms).pieces, 0);
    tick(fixture, start_ms + 2 * MINUTE_MS);
    assert_int_equal(sum(fixture, 0, until_ms, start_ms).pieces, 0);
    count(fixture, 0, 5, start_ms + 2 * MINUTE_MS);
    tick(fixture, start_ms + 3 * MINUTE_MS);
    assert_int_equal(sum(fixture, 0, until_ms, start_ms).total, 5);
}

/* --- Bounds --- */

static void a_million_keys_stay_within_the_settings(void **state)
{
    struct fixture *fixture = *state;
    enum { DISTINCT = 1000000 };
    for (uint64_t i = 0; i < DISTINCT; i++) {
        count(fixture, i, 1, start_ms + (int64_t)(i / 250000) * MINUTE_MS);
        if (i % 10 == 0)
            count(fixture, 0, 1, start_ms + (int64_t)(i / 250000) * MINUTE_MS);
        if (i % 250000 == 249999)
            tick(fixture, start_ms + (int64_t)(i / 250000 + 1) * MINUTE_MS);
    }
    const struct insights_options options = { .keys_max = KEYS, .rules_max = 1 };
    assert_true(insights_memory_max(&options) < 1024 * 1024);
    int64_t now_ms = start_ms + HOUR_MS;
    struct sums sums = sum(fixture, 0, now_ms, now_ms);
    assert_int_equal(sums.total, DISTINCT + DISTINCT / 10);
    assert_int_equal(sums.missed, 0);
    /* A key with a tenth of the traffic, among a million: within W / k. */
    uint64_t exact = DISTINCT / 10 + 1, error = sums.total / KEYS;
    assert_true(sums.of_key_0 <= exact && sums.of_key_0 + error >= exact);
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct engine_range range = { .place =
                                      insight_store_place(table_definition(fixture->table)->id) };
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK)
        assert_true(entry.value.len <= key_summary_size_max(KEYS));
    engine_scan_close(scan);
    engine_view_close(view);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_count_every_event_once),
        TEST(a_crash_loses_the_open_minute_only),
        TEST(hours_are_made_of_minutes_and_old_ones_go),
        TEST(hours_of_an_earlier_run_are_made_later),
        TEST(a_stop_of_days_loses_no_hour),
        TEST(a_damaged_summary_is_left_out),
        TEST(forgetting_leaves_nothing),
        TEST(forgetting_leaves_nothing_of_a_tick_that_failed),
        TEST(a_million_keys_stay_within_the_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
