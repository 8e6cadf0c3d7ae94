/* test_failing_engine.c -- the failing wrapper fails the call it was told to, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/compiler.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"

static const struct engine_address address = { { 7, 1, ENGINE_SPACE_ITEMS },
                                               { (const uint8_t *)"a", 1 } };

static int setup(void **state)
{
    *state = failing_engine_create(reference_engine_create());
    engine_fixture_put(*state, address.place, address.key, BYTES("old"));
    return 0;
}

static int teardown(void **state)
{
    engine_close(*state);
    return 0;
}

enum { SCENARIO_CALLS = 8 };
static const char *const call_names[SCENARIO_CALLS] = {
    "write_begin", "write_get", "write_commit", "view_open",
    "view_get",    "scan_open", "scan_next",    "scan_next",
};

static enum engine_status write_once(struct engine *engine)
{
    struct engine_write *write;
    struct engine_value value;
    enum engine_status status = engine_write_begin(engine, &address, 1, &write);
    if (status != ENGINE_OK)
        return status;
    status = engine_write_get(write, &address, &value);
    engine_value_release(&value);
    if (status != ENGINE_OK) {
        engine_write_abandon(write);
        return status;
    }
    engine_write_put(write, &address, BYTES("new"));
    return engine_write_commit_wait(write);
}

static enum engine_status read_once(struct engine *engine)
{
    struct engine_view *view;
    struct engine_scan *scan = NULL;
    struct engine_value value;
    struct engine_entry entry;
    struct engine_range range = { .place = address.place };
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status != ENGINE_OK)
        return status;
    status = engine_view_get(view, &address, &value);
    engine_value_release(&value);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &range, &scan);
    while (status == ENGINE_OK)
        status = engine_scan_next(scan, &entry);
    engine_scan_close(scan);
    engine_view_close(view);
    return status == ENGINE_END ? ENGINE_OK : status;
}

/* Each fallible call of the contract, in the order of call_names. */
static enum engine_status run_scenario(struct engine *engine)
{
    enum engine_status status = write_once(engine);
    return status == ENGINE_OK ? read_once(engine) : status;
}

static void the_nth_call_fails_and_no_other(void **state)
{
    for (uint64_t call = 1; call <= SCENARIO_CALLS; call++) {
        engine_fixture_put(*state, address.place, address.key, BYTES("old"));
        failing_engine_set(*state, &(struct failing_engine_plan){ call, ENGINE_IO, false, false });
        if (run_scenario(*state) != ENGINE_IO)
            fail_msg("%s did not fail", call_names[call - 1]);
        assert_true(failing_engine_struck(*state));
        assert_int_equal(failing_engine_calls(*state), call);
        assert_int_equal(run_scenario(*state), ENGINE_OK); /* Once only. */
    }
    failing_engine_set(
        *state, &(struct failing_engine_plan){ SCENARIO_CALLS + 1, ENGINE_IO, false, false });
    assert_int_equal(run_scenario(*state), ENGINE_OK);
    assert_false(failing_engine_struck(*state));
    assert_int_equal(failing_engine_calls(*state), SCENARIO_CALLS);
}

static const struct {
    enum engine_status status;
    bool applied;
    const char *value;
} commit_cases[] = {
    { ENGINE_IO, false, "old" },       { ENGINE_FULL, false, "old" },
    { ENGINE_CONFLICT, false, "old" }, { ENGINE_UNKNOWN, false, "old" },
    { ENGINE_UNKNOWN, true, "new" },
};

static void a_failed_commit_takes_place_only_if_told_to(void **state)
{
    for (size_t i = 0; i < COUNT_OF(commit_cases); i++) {
        engine_fixture_put(*state, address.place, address.key, BYTES("old"));
        struct failing_engine_plan plan = {
            .call = 2,
            .status = commit_cases[i].status,
            .commits_only = true,
            .applied = commit_cases[i].applied,
        };
        failing_engine_set(*state, &plan);
        struct engine_write *refusal;
        assert_int_equal(engine_write_begin(*state, &address, 1, &refusal), ENGINE_OK);
        assert_int_equal(engine_write_commit_wait(refusal), ENGINE_OK); /* The first commit. */
        assert_int_equal(write_once(*state), commit_cases[i].status);
        assert_true(engine_fixture_has(*state, address.place, address.key,
                                       bytes_from_text(commit_cases[i].value)));
    }
}

static void it_can_do_what_the_engine_inside_can(void **state)
{
    struct engine *plain = reference_engine_create();
    assert_int_equal(engine_capabilities(*state), engine_capabilities(plain));
    engine_close(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_nth_call_fails_and_no_other, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failed_commit_takes_place_only_if_told_to, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(it_can_do_what_the_engine_inside_can, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
