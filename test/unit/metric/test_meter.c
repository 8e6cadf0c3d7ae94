/* test_meter.c -- what is counted by many threads is what is read, and memory stays bounded. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "metric/meter.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/catalogue.h"
#include "table_fixture.h"

enum { GET, QUERY, LIST, OPERATIONS, COUNTED_MAX = 8, MINUTE_MS = 60000 };

static const struct meter_operation operations[OPERATIONS] = {
    [GET] = { .name = "GetItem", .has_user_errors = true },
    [QUERY] = { .name = "Query", .has_user_errors = true },
    [LIST] = { .name = "cloudwatch:ListMetrics" },
};

struct fixture {
    struct arena *arena;
    struct engine *engine;
    struct catalogue *catalogue;
    struct clock clock;
    struct meter *meter;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    enum engine_status status;
    fixture->arena = arena_create();
    fixture->engine = reference_engine_create();
    fixture->catalogue = catalogue_open(fixture->engine, &status);
    assert_non_null(fixture->catalogue);
    fixture->clock = clock_fixed(1000 * MINUTE_MS);
    fixture->meter = meter_create(&(struct meter_options){ .catalogue = fixture->catalogue,
                                                           .clock = &fixture->clock,
                                                           .operations = operations,
                                                           .operation_count = OPERATIONS,
                                                           .tables_max = COUNTED_MAX });
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    meter_destroy(fixture->meter);
    catalogue_close(fixture->catalogue);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static void create(struct fixture *fixture, const char *name)
{
    struct table_definition definition = table_fixture_draft(fixture->arena, bytes_from_text(name));
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &definition), ENGINE_OK);
}

static void drop(struct fixture *fixture, const char *name)
{
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, bytes_from_text(name)),
                     ENGINE_OK);
}

static void advance(struct fixture *fixture, int64_t minutes)
{
    fixture->clock.fixed_ms += minutes * MINUTE_MS;
}

/* A successful GetItem of a table, with so many half units. */
static void count(struct fixture *fixture, const char *name, int64_t half_units)
{
    struct table *table = catalogue_find(fixture->catalogue, bytes_from_text(name));
    assert_non_null(table);
    struct meter_call call = {
        .operation = GET, .elapsed_ns = 1000, .request_size = 10, .response_size = 20
    };
    struct capacity_use use = { .table = table,
                                .definition = table_definition(table),
                                .read_count = 1,
                                .returned_count = 1,
                                .table_half_units = half_units };
    meter_count_call(fixture->meter, &call, &use, 1);
    table_release(table);
}

/* --- Reading one table --- */

struct find {
    const char *name;
    size_t found;
    size_t visited;
    struct meter_table_reading table;
    struct meter_operation_reading get;
    struct meter_index_reading index;
};

static void look(void *context, const struct meter_table_reading *table)
{
    struct find *find = context;
    find->visited++;
    if (!bytes_equal_text(table->name, find->name))
        return;
    find->found++;
    find->table = *table;
    find->get = table->operations[GET];
    if (table->index_count > 0)
        find->index = table->indexes[0];
}

static const struct find *read_table(struct fixture *fixture, const char *name, int64_t minute)
{
    static struct find find;
    find = (struct find){ .name = name };
    meter_read(fixture->meter, minute, look, &find);
    return &find;
}

static void totals_and_the_open_minute_show_a_call_at_once(void **state)
{
    struct fixture *fixture = *state;
    create(fixture, "Orders");
    count(fixture, "Orders", 3);
    count(fixture, "Orders", 1);
    const struct find *find = read_table(fixture, "Orders", meter_minute(fixture->meter));
    assert_int_equal(find->found, 1);
    assert_non_null(find->table.definition);
    assert_int_equal(find->get.calls[ERROR_NONE], 2);
    assert_int_equal(find->get.latency_ns.count, 2);
    assert_int_equal(find->get.latency_ns.sum, 2000);
    assert_int_equal(find->get.request_size, 20);
    assert_int_equal(find->get.response_size, 40);
    assert_int_equal(find->get.items_read, 2);
    assert_int_equal(find->table.units[METER_READ].half_units, 4);
    const struct meter_set *set = &find->table.units[METER_READ].minute.half_units;
    assert_int_equal(set->count, 2);
    assert_int_equal(set->sum, 4);
    assert_int_equal(set->min, 1);
    assert_int_equal(set->max, 3);
    assert_int_equal(find->table.units[METER_WRITE].half_units, 0);
    assert_false(find->table.operations == NULL);
}

static void a_minute_stays_until_the_ring_has_passed_it(void **state)
{
    struct fixture *fixture = *state;
    create(fixture, "Orders");
    int64_t first = meter_minute(fixture->meter);
    for (int64_t i = 0; i <= METER_MINUTES; i++) {
        for (int64_t k = 0; k <= i; k++)
            count(fixture, "Orders", 2);
        for (int64_t m = 0; m <= i; m++) {
            uint64_t kept = i - m < METER_MINUTES ? (uint64_t)m + 1 : 0;
            const struct find *find = read_table(fixture, "Orders", first + m);
            assert_int_equal(find->get.minute.latency_ns.count, kept);
            assert_int_equal(find->table.units[METER_READ].minute.half_units.sum, 2 * kept);
        }
        advance(fixture, 1);
    }
    assert_int_equal(read_table(fixture, "Orders", first)->get.calls[ERROR_NONE],
                     (METER_MINUTES + 1) * (METER_MINUTES + 2) / 2);
}

static void failures_count_by_code_and_kind(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        enum error_code error;
        unsigned operation;
        bool is_user_error;
    } cases[] = {
        { ERROR_VALIDATION, GET, true },
        { ERROR_RESOURCE_NOT_FOUND, GET, true },
        { ERROR_CONDITIONAL_CHECK_FAILED, GET, false },
        { ERROR_PROVISIONED_THROUGHPUT_EXCEEDED, GET, false },
        { ERROR_THROTTLING, GET, true }, /* Only two are excepted by the documentation. */
        { ERROR_INTERNAL, GET, false },
        { ERROR_VALIDATION, LIST, false }, /* Not DynamoDB's. */
    };
    uint64_t user_errors = 0;
    int64_t minute = meter_minute(fixture->meter);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct meter_call call = { .operation = cases[i].operation, .error = cases[i].error };
        meter_count_call(fixture->meter, &call, NULL, 0);
        user_errors += cases[i].is_user_error;
        struct meter_errors_reading errors = meter_read_errors(fixture->meter, minute);
        assert_int_equal(errors.user_errors, user_errors);
        assert_int_equal(errors.minute_user_errors, user_errors);
    }
    const struct find *find = read_table(fixture, "", minute);
    assert_true(find->table.is_pseudo);
    assert_int_equal(find->get.calls[ERROR_VALIDATION], 1);
    assert_int_equal(find->get.calls[ERROR_INTERNAL], 1);
    assert_int_equal(find->get.calls[ERROR_NONE], 0);
    assert_int_equal(find->get.latency_ns.count, 0);
    assert_int_equal(find->get.minute.system_errors, 1);
    assert_int_equal(find->get.minute.throttled[METER_VERB_NONE], 2);
}

static void throttled_statements_count_by_their_verb(void **state)
{
    struct fixture *fixture = *state;
    for (unsigned verb = 0; verb < METER_VERBS; verb++) {
        const struct meter_call call = { .operation = GET,
                                         .error = ERROR_PROVISIONED_THROUGHPUT_EXCEEDED,
                                         .verb = (enum meter_verb)verb };
        for (unsigned i = 0; i <= verb; i++)
            meter_count_call(fixture->meter, &call, NULL, 0);
    }
    const struct find *find = read_table(fixture, "", meter_minute(fixture->meter));
    for (unsigned verb = 0; verb < METER_VERBS; verb++)
        assert_int_equal(find->get.minute.throttled[verb], verb + 1);
}

/* --- Bounds --- */

static void tables_beyond_the_bound_share_counters(void **state)
{
    struct fixture *fixture = *state;
    enum { MANY = 3000 };
    char name[32];
    for (size_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "Table%zu", i);
        create(fixture, name);
        count(fixture, name, 2);
    }
    struct meter_occupancy occupancy = meter_occupancy(fixture->meter);
    assert_int_equal(occupancy.tables, COUNTED_MAX);
    size_t memory = occupancy.memory;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "Table%zu", i);
        count(fixture, name, 2);
    }
    assert_int_equal(meter_occupancy(fixture->meter).memory, memory);
    const struct find *find = read_table(fixture, METER_OTHER_TABLES, 0);
    assert_int_equal(find->get.calls[ERROR_NONE], 2 * (MANY - COUNTED_MAX));
    assert_int_equal(find->table.units[METER_READ].half_units, 4 * (MANY - COUNTED_MAX));
    assert_int_equal(find->visited, COUNTED_MAX + 1);
}

static void a_deleted_tables_minutes_stay_and_then_its_slot_serves_another(void **state)
{
    struct fixture *fixture = *state;
    char name[32];
    for (size_t i = 0; i < COUNTED_MAX; i++) {
        snprintf(name, sizeof name, "Table%zu", i);
        create(fixture, name);
        count(fixture, name, 2);
    }
    int64_t minute = meter_minute(fixture->meter);
    drop(fixture, "Table3");
    create(fixture, "Late");
    count(fixture, "Late", 2); /* Among the others. */
    const struct find *find = read_table(fixture, "Table3", minute);
    assert_int_equal(find->found, 1);
    assert_null(find->table.definition);
    assert_int_equal(find->get.minute.latency_ns.count, 1);
    advance(fixture, METER_MINUTES + 1);
    assert_int_equal(read_table(fixture, "Table3", minute)->found, 0);
    assert_int_equal(read_table(fixture, "Late", minute)->found, 0);
    count(fixture, "Late", 6);
    find = read_table(fixture, "Late", meter_minute(fixture->meter));
    assert_int_equal(find->found, 1);
    assert_int_equal(find->get.calls[ERROR_NONE], 1); /* Not Table3's. */
    assert_int_equal(find->get.latency_ns.count, 1);
    assert_int_equal(find->table.units[METER_READ].half_units, 6);
    assert_int_equal(find->table.units[METER_READ].minute.half_units.count, 1);
}

static void a_table_of_the_same_name_begins_at_zero(void **state)
{
    struct fixture *fixture = *state;
    create(fixture, "Orders");
    count(fixture, "Orders", 2);
    drop(fixture, "Orders");
    create(fixture, "Orders");
    const struct find *find = read_table(fixture, "Orders", 0);
    assert_null(find->table.definition);
    count(fixture, "Orders", 4);
    find = read_table(fixture, "Orders", 0);
    assert_int_equal(find->found, 2); /* The old one, whose minutes are kept, and the new one. */
    assert_int_equal(find->table.units[METER_READ].half_units, 4);
    assert_non_null(find->table.definition);
}

/* --- Threads --- */

enum { THREADS = 8, CALLS = 20000 };

static void *count_many(void *context)
{
    struct fixture *fixture = context;
    for (int i = 0; i < CALLS; i++)
        count(fixture, i % 2 == 0 ? "Orders" : "Customers", 2);
    return NULL;
}

static void many_threads_lose_nothing(void **state)
{
    struct fixture *fixture = *state;
    pthread_t threads[THREADS];
    create(fixture, "Orders");
    create(fixture, "Customers");
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_many, fixture), 0);
    for (size_t i = 0; i < 50; i++)
        read_table(fixture, "Orders", meter_minute(fixture->meter));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const struct find *find = read_table(fixture, "Orders", meter_minute(fixture->meter));
    assert_int_equal(find->get.calls[ERROR_NONE], THREADS * CALLS / 2);
    assert_int_equal(find->get.minute.latency_ns.count, THREADS * CALLS / 2);
    assert_int_equal(find->table.units[METER_READ].half_units, THREADS * CALLS);
}

static void throttles_and_expired_items_count_for_their_minute(void **state)
{
    struct fixture *fixture = *state;
    create(fixture, "Orders");
    struct table *table = catalogue_find(fixture->catalogue, BYTES("Orders"));
    meter_count_throttle(fixture->meter, table, NULL, METER_WRITE, METER_KEY_RANGE_THROUGHPUT, 3);
    meter_count_expired(fixture->meter, table, 5);
    meter_count_stream_records(fixture->meter, table, 7);
    table_release(table);
    const struct find *find = read_table(fixture, "Orders", meter_minute(fixture->meter));
    assert_int_equal(find->table.units[METER_WRITE].throttles[METER_KEY_RANGE_THROUGHPUT], 3);
    assert_int_equal(find->table.units[METER_WRITE].minute.throttles[METER_KEY_RANGE_THROUGHPUT],
                     3);
    assert_int_equal(find->table.expired_items, 5);
    assert_int_equal(find->table.minute.expired_items, 5);
    assert_int_equal(find->table.stream_records, 7);
    advance(fixture, 1);
    find = read_table(fixture, "Orders", meter_minute(fixture->meter));
    assert_int_equal(find->table.minute.expired_items, 0);
    assert_int_equal(find->table.expired_items, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define METER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        METER_TEST(totals_and_the_open_minute_show_a_call_at_once),
        METER_TEST(a_minute_stays_until_the_ring_has_passed_it),
        METER_TEST(failures_count_by_code_and_kind),
        METER_TEST(tables_beyond_the_bound_share_counters),
        METER_TEST(a_deleted_tables_minutes_stay_and_then_its_slot_serves_another),
        METER_TEST(a_table_of_the_same_name_begins_at_zero),
        METER_TEST(many_threads_lose_nothing),
        METER_TEST(throttles_and_expired_items_count_for_their_minute),
        METER_TEST(throttled_statements_count_by_their_verb),
#undef METER_TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
