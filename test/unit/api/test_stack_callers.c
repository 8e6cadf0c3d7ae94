/* test_stack_callers.c -- operations of stacks that go on after a restart with access keys, and
 * whose record tells little or nothing of who began them. What callers may do while a deployment
 * runs: test/api/test_stack_callers.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>
#include "api/operation.h"
#include "api_fixture.h"
#include "auth/key_file.h"
#include "auth/live_keys.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudformation/stacks.h"
#include "scratch.h"

#define CFN "cloudformation:"
#define NAME "{'StackName':'app'}"

enum { ATTEMPTS_MAX = 5000 };

struct fixture {
    char folder[SCRATCH_PATH_MAX];
    char directory[SCRATCH_PATH_MAX];
    struct live_keys *keys;
    struct api_fixture api;
    struct arena *arena;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    char message[KEY_FILE_MESSAGE_MAX];
    fixture = (struct fixture){ .arena = arena_create() };
    scratch_create(fixture.folder);
    scratch_join(fixture.directory, fixture.folder, "data");
    const struct key_file file = { .directory = fixture.directory };
    fixture.keys = live_keys_open(&file, message);
    assert_non_null(fixture.keys);
    api_fixture_open_with(&fixture.api, &(struct api_options){ .keys = fixture.keys });
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    api_fixture_close(&fixture->api);
    live_keys_close(fixture->keys);
    arena_destroy(fixture->arena);
    scratch_destroy(fixture->folder);
    return 0;
}

/* Waits until nothing is done with the stack; true if it was deleted. */
static bool settle(struct fixture *fixture)
{
    static const struct timespec moment = { .tv_nsec = 1000000 };
    for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
        if (!api_fixture_call(&fixture->api, CFN "DescribeStacks", NAME))
            return true;
        if (!api_fixture_shows(&fixture->api, "_IN_PROGRESS'"))
            return false;
        nanosleep(&moment, NULL);
    }
    fail_msg("the stack does not settle");
    return false;
}

/* As if a deletion had been interrupted that `caller` began. */
static void interrupt_deletion(struct fixture *fixture, struct bytes caller)
{
    struct stacks *stacks = api_stacks(fixture->api.api);
    stacks_lock(stacks);
    struct stack *stack =
        stack_copy(fixture->arena, STACK_STACK, stacks_find(stacks, BYTES("app")));
    stack->status_name = BYTES("DELETE_IN_PROGRESS");
    stack->generation.value++;
    stack->caller = caller;
    struct stacks_change *change = stacks_change_begin(stacks, fixture->arena);
    stacks_put(change, STACK_STACK, stack);
    enum engine_status status = stacks_commit(change);
    stacks_unlock(stacks);
    assert_int_equal(status, ENGINE_OK);
    api_fixture_restart(&fixture->api, 0);
}

static void an_operation_whose_caller_is_not_known_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        struct bytes caller;
        bool deletes;
    } cases[] = {
        { { 0 }, false }, /* An earlier version began it. */
        { BYTES("????"), false },
        { BYTES("AAAA"), false },
        { BYTES(""), true }, /* Callers were not distinguished. */
    };
    assert_true(api_fixture_call(
        &fixture->api, CFN "CreateStack",
        "{'StackName':'app','TemplateBody':'Resources: {T: {Type: AWS::DynamoDB::Table, "
        "Properties: {TableName: orders, BillingMode: PAY_PER_REQUEST, AttributeDefinitions: "
        "[{AttributeName: p, AttributeType: S}], KeySchema: [{AttributeName: p, KeyType: "
        "HASH}]}}}'}"));
    assert_false(settle(fixture));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        interrupt_deletion(fixture, cases[i].caller);
        assert_int_equal(settle(fixture), cases[i].deletes);
        assert_int_equal(api_fixture_call(&fixture->api, "DescribeTable", "{'TableName':'orders'}"),
                         !cases[i].deletes);
        if (cases[i].deletes)
            continue;
        assert_true(api_fixture_call(&fixture->api, CFN "DescribeStackEvents", NAME));
        assert_true(api_fixture_shows(&fixture->api, "It is not known who began the operation"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_operation_whose_caller_is_not_known_changes_nothing,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
