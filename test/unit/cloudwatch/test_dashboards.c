/* test_dashboards.c -- dashboards in the store, and what bodies are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "check/check.h"
#include "cloudwatch/alarm_record.h"
#include "cloudwatch/dashboards.h"
#include "reference_engine.h"

#define NOW_MS INT64_C(1789662545000)

struct fixture {
    struct engine *engine;
    struct clock clock;
    struct dashboards_options options;
    struct dashboards *dashboards;
    struct arena *arena;
};

static void open_dashboards(struct fixture *fixture)
{
    enum engine_status status;
    fixture->dashboards = dashboards_open(&fixture->options, &status);
    assert_int_equal(status, ENGINE_OK);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->engine = reference_engine_create();
    fixture->clock = clock_fixed(NOW_MS);
    fixture->arena = arena_create();
    fixture->options = (struct dashboards_options){ .engine = fixture->engine,
                                                    .clock = &fixture->clock,
                                                    .dashboards_max = 3 };
    open_dashboards(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    dashboards_close(fixture->dashboards);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static enum engine_status put(struct fixture *fixture, const char *name, const char *body)
{
    return dashboards_put(fixture->dashboards, fixture->arena, bytes_from_text(name),
                          bytes_from_text(body), NULL);
}

static void dashboards_survive_a_restart_and_have_a_bound(void **state)
{
    struct fixture *fixture = *state;
    struct dashboard found;
    struct dashboard_summary summary;
    size_t missing;
    assert_int_equal(put(fixture, "b", "{\"widgets\":[]}"), ENGINE_OK);
    assert_int_equal(put(fixture, "a", "{}"), ENGINE_OK);
    assert_int_equal(put(fixture, "c", "{}"), ENGINE_OK);
    assert_int_equal(put(fixture, "d", "{}"), ENGINE_TOO_LARGE);
    assert_int_equal(put(fixture, "c", "{ }"), ENGINE_OK);
    dashboards_close(fixture->dashboards);
    open_dashboards(fixture);
    assert_int_equal(dashboards_get(fixture->dashboards, fixture->arena, BYTES("b"), &found),
                     ENGINE_OK);
    assert_true(bytes_equal_text(found.body, "{\"widgets\":[]}"));
    assert_true(dashboards_next(fixture->dashboards, fixture->arena, BYTES("b"), &summary));
    assert_true(bytes_equal_text(summary.name, "c"));
    assert_int_equal(summary.size, 3);
    assert_int_equal(summary.modified_ms, NOW_MS);
    const struct bytes names[] = { BYTES("a"), BYTES("x"), BYTES("b") };
    assert_int_equal(dashboards_delete(fixture->dashboards, fixture->arena, names, 3, &missing),
                     ENGINE_NOT_FOUND);
    assert_int_equal(missing, 1);
    assert_int_equal(dashboards_get(fixture->dashboards, fixture->arena, BYTES("a"), &found),
                     ENGINE_OK);
    assert_int_equal(dashboards_delete(fixture->dashboards, fixture->arena, names, 1, &missing),
                     ENGINE_OK);
    assert_int_equal(dashboards_get(fixture->dashboards, fixture->arena, BYTES("a"), &found),
                     ENGINE_NOT_FOUND);
}

static void bodies_are_checked(void **state)
{
    static const struct {
        const char *body;
        const char *path, *message; /* NULL: it is accepted. */
    } rows[] = {
        { "{'widgets':[]}", NULL, NULL },
        { "{'start':'-PT1H','widgets':[{'type':'text','properties':{'markdown':'x'}}]}", NULL,
          NULL },
        { "{'widgets':[{'type':'metric','x':0,'y':0,'width':24,'height':1,'properties':{'metrics':"
          "[['N','m','D','v',{'stat':'Sum'}],[{'expression':'m1'}],['.','m']]}}]}",
          NULL, NULL },
        { "{'widgets':[", "", "The field DashboardBody must be a valid JSON object" },
        { "[]", "", "The field DashboardBody must be a valid JSON object" },
        { "{}", "", "Should have required property 'widgets'" },
        { "{'widgets':{}}", "/widgets", "Should be array" },
        { "{'widgets':[3]}", "/widgets/0", "Should be object" },
        { "{'widgets':[{'type':'text'}]}", "/widgets/0",
          "Should have required property 'properties'" },
        { "{'widgets':[{'properties':{}}]}", "/widgets/0", "Should have required property 'type'" },
        { "{'widgets':[{'type':'text','properties':{},'width':25}]}", "/widgets/0/width",
          "Value is above the maximum" },
        { "{'widgets':[{'type':'text','properties':{},'x':1.5}]}", "/widgets/0/x",
          "Should be integer" },
        { "{'widgets':[{'type':'metric','properties':{'metrics':['N']}}]}",
          "/widgets/0/properties/metrics/0", "Should be array" },
        { "{'widgets':[{'type':'metric','properties':{'metrics':[['N','m',3]]}}]}",
          "/widgets/0/properties/metrics/0",
          "Invalid metric field type, only \"String\" type is allowed" },
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct dashboard_messages messages;
        char body[512];
        size_t size = strlen(rows[i].body);
        for (size_t j = 0; j <= size; j++)
            body[j] = rows[i].body[j] == '\'' ? '"' : rows[i].body[j];
        bool ok = dashboard_check_body(fixture->arena, bytes_of(body, size), &messages);
        assert_int_equal(ok, rows[i].path == NULL);
        if (ok)
            continue;
        if (!bytes_equal_text(messages.list[0].path, rows[i].path) ||
            !bytes_equal_text(messages.list[0].message, rows[i].message))
            fail_msg("%s: %.*s: %.*s", body, BYTES_FMT(messages.list[0].path),
                     BYTES_FMT(messages.list[0].message));
    }
}

static void see_problem(void *context, const char *line)
{
    (void)line;
    ++*(int *)context;
}

static void the_check_finds_damaged_records(void **state)
{
    static const char *const keys[] = { "Aa", "Bx", "H1234567", "P1234567", "Z" };
    struct fixture *fixture = *state;
    enum engine_status status;
    int problems = 0;
    assert_int_equal(put(fixture, "b", "{}"), ENGINE_OK);
    check_store(fixture->engine, see_problem, &problems);
    assert_int_equal(problems, 0);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct engine_write *write;
        const struct engine_address address = { .place = monitor_place,
                                                .key = bytes_from_text(keys[i]) };
        assert_int_equal(engine_write_begin(fixture->engine, NULL, 0, &write), ENGINE_OK);
        engine_write_put(write, &address, BYTES("damaged"));
        assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    }
    check_store(fixture->engine, see_problem, &problems);
    assert_int_equal(problems, (int)COUNT_OF(keys));
    dashboards_close(fixture->dashboards);
    fixture->dashboards = dashboards_open(&fixture->options, &status);
    assert_null(fixture->dashboards);
    assert_int_equal(status, ENGINE_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dashboards_survive_a_restart_and_have_a_bound, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bodies_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_check_finds_damaged_records, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
