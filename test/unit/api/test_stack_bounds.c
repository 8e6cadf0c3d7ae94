/* test_stack_bounds.c -- what CloudFormation's operations refuse because a stack's records would
 * exceed a bound, and that no such record stops a deployment for good. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "api/cloudformation/stack_request.h"
#include "api/operation.h"
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudformation/stacks.h"

#define CREATE "cloudformation:CreateStack"
#define UPDATE "cloudformation:UpdateStack"
#define DESCRIBE "cloudformation:DescribeStacks"
#define TOPIC "{Type: AWS::SNS::Topic}"
#define TEMPLATE(resources) "'TemplateBody':'Resources: {" resources "}'"

#define TEMPLATE_OF(text) "{'StackName':'app','TemplateBody':'" text

static struct api_fixture fixture;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&fixture, 0);
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    api_fixture_close(&fixture);
    return 0;
}

/* Waits until nothing is being done with the stack. */
static void expect_status(const char *name, const char *status)
{
    const struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
    struct bytes body = arena_printf(arena, "{'StackName':'%s'}%c", name, 0);
    struct bytes want = arena_printf(arena, "'StackStatus':'%s'%c", status, 0);
    for (int i = 0; i < 2000; i++) {
        assert_true(api_fixture_call(&fixture, DESCRIBE, (const char *)body.data));
        if (!api_fixture_shows(&fixture, "IN_PROGRESS'"))
            break;
        nanosleep(&pause, NULL);
    }
    if (!api_fixture_shows(&fixture, (const char *)want.data))
        fail_msg("%.*s", BYTES_FMT(fixture.response));
}

/* Waits until the stack is deleted. */
static void expect_gone(const char *name)
{
    const struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
    struct bytes body = arena_printf(arena, "{'StackName':'%s'}%c", name, 0);
    for (int i = 0; i < 2000; i++) {
        if (!api_fixture_call(&fixture, DESCRIBE, (const char *)body.data))
            return;
        nanosleep(&pause, NULL);
    }
    fail_msg("%s is still there", name);
}

static void create(const char *name)
{
    struct bytes body =
        arena_printf(arena, "{'StackName':'%s'," TEMPLATE("A: " TOPIC) "}%c", name, 0);
    if (!api_fixture_call(&fixture, CREATE, (const char *)body.data))
        fail_msg("%.*s", BYTES_FMT(fixture.error.message));
    expect_status(name, "CREATE_COMPLETE");
}

/* Gives the stack further resources, as updates that failed leave them. */
static void add_records(size_t count)
{
    struct stacks *stacks = api_stacks(fixture.api);
    stacks_lock(stacks);
    struct bytes uid = arena_copy(arena, stacks_find(stacks, BYTES("app"))->head.stack_uid);
    struct stacks_change *change = stacks_change_begin(stacks, arena);
    struct stack_resource *resources = arena_alloc_zeroed(arena, count * sizeof *resources);
    for (size_t i = 0; i < count; i++) {
        resources[i] = (struct stack_resource){ .head = { uid, arena_printf(arena, "R%zu", i) },
                                                .type = BYTES("AWS::SNS::Topic"),
                                                .status_name = BYTES("CREATE_COMPLETE"),
                                                .updated_ms = { true, 6 },
                                                .order = { true, (int64_t)i + 2 },
                                                .generation = { true, 1 },
                                                .is_skipped = { true, true } };
        stacks_put(change, STACK_RESOURCE, &resources[i]);
    }
    enum engine_status status = stacks_commit(change);
    stacks_unlock(stacks);
    assert_int_equal(status, ENGINE_OK);
}

static void updates_may_not_pile_up_resources(void **state)
{
    (void)state;
    create("app");
    add_records(STACK_RESOURCE_RECORDS_MAX - 2);
    static const char more[] = "{'StackName':'app','ChangeSetName':'more'," TEMPLATE(
        "A: " TOPIC ", B: " TOPIC ", C: " TOPIC) "}";
    static const char message[] =
        "Stack [app] would have more than 1000 resources, with those that failed updates left. "
        "Update it to a smaller template first.";
    api_fixture_expect_error(&fixture, UPDATE, more, ERROR_CFN_LIMIT_EXCEEDED, message);
    api_fixture_expect_error(&fixture, "cloudformation:CreateChangeSet", more,
                             ERROR_CFN_LIMIT_EXCEEDED, message);
    assert_true(api_fixture_call(&fixture, UPDATE,
                                 "{'StackName':'app'," TEMPLATE("A: " TOPIC ", B: " TOPIC) "}"));
}

/* --- Texts --- */

/* `count` times `part`, between two others. */
static const char *around(const char *before, const char *part, size_t count, const char *after)
{
    size_t head = strlen(before), size = strlen(part), tail = strlen(after);
    char *text = arena_alloc(arena, head + size * count + tail + 1);
    memcpy(text, before, head);
    for (size_t i = 0; i < count; i++)
        memcpy(text + head + i * size, part, size);
    memcpy(text + head + size * count, after, tail + 1);
    return text;
}

static void texts_of_a_template_are_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        size_t size_max;
        const char *message;
    } cases[] = {
        { TEMPLATE_OF("Resources: {A: {Type: "), "}}'}", STACK_TYPE_SIZE_MAX,
          "Template format error: The type of resource [A] is longer than 256 bytes" },
        { TEMPLATE_OF("Resources: {A: " TOPIC "}\\nOutputs: {O: {Value: "), "}}'}",
          STACK_TEXT_SIZE_MAX,
          "Template format error: The value, description or export of output [O] is longer than "
          "8192 bytes" },
        { TEMPLATE_OF("Resources: {A: " TOPIC "}\\nOutputs: {O: {Value: x, Export: {Name: "),
          "}}}'}", STACK_TEXT_SIZE_MAX,
          "Template format error: The value, description or export of output [O] is longer than "
          "8192 bytes" },
        { TEMPLATE_OF("Transform: AWS::LanguageExtensions\\nResources: {Fn::ForEach::L: [x, ["),
          "], {\\\"${x}\\\": " TOPIC "}]}','Capabilities':['CAPABILITY_AUTO_EXPAND']}",
          STACK_LOGICAL_ID_SIZE_MAX, NULL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *fits = around(cases[i].before, "x", cases[i].size_max, cases[i].after);
        const char *over = around(cases[i].before, "x", cases[i].size_max + 1, cases[i].after);
        const char *message = cases[i].message;
        if (message == NULL)
            message = around("Template format error: Logical id [", "x", STACK_LOGICAL_ID_SIZE_MAX,
                             "] is longer than 255 bytes");
        api_fixture_expect_error(&fixture, CREATE, over, ERROR_VALIDATION, message);
        if (!api_fixture_call(&fixture, CREATE, fits))
            fail_msg("%.*s", BYTES_FMT(fixture.error.message));
        expect_status("app", "CREATE_COMPLETE");
        assert_true(
            api_fixture_call(&fixture, "cloudformation:DeleteStack", "{'StackName':'app'}"));
        expect_gone("app");
    }
}

static void a_reason_is_cut_between_two_characters(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        static const char *const heads[] = { "{'StackName':'one',", "{'StackName':'two'," };
        const char *before = around(heads[i], "", 0,
                                    "'TemplateBody':'Resources: {A: " TOPIC
                                    "}\\nOutputs: {O: {Value: x, Export: {Name: ");
        assert_true(api_fixture_call(&fixture, CREATE, around(before, "\u20ac", 600, "}}}'}")));
        expect_status(i == 0 ? "one" : "two", i == 0 ? "CREATE_COMPLETE" : "ROLLBACK_COMPLETE");
    }
}

/* Control characters take six times their size in a record, so 200 outputs of 4000 are over
 * STACK_DOCUMENT_SIZE_MAX. */
static void a_deployment_whose_outputs_cannot_be_stored_fails(void **state)
{
    (void)state;
    create("app");
    char outputs[STACK_OUTPUTS_MAX * 40];
    size_t size = 0;
    for (int i = 0; i < STACK_OUTPUTS_MAX; i++)
        size += (size_t)snprintf(outputs + size, sizeof outputs - size, "O%d: {Value: !Ref P},", i);
    outputs[size - 1] = '\0';
    const char *template =
        around("{'StackName':'app','TemplateBody':'Parameters: {P: {Type: "
               "String}}\\nResources: {A: " TOPIC "}\\nOutputs: {",
               outputs, 1, "}','Parameters':[{'ParameterKey':'P','ParameterValue':'");
    if (!api_fixture_call(&fixture, UPDATE, around(template, "\\u0001", 4000, "'}]}")))
        fail_msg("%.*s", BYTES_FMT(fixture.error.message));
    expect_status("app", "UPDATE_ROLLBACK_COMPLETE");
    assert_false(api_fixture_shows(&fixture, "'Outputs'"));
    assert_true(
        api_fixture_call(&fixture, "cloudformation:DescribeStackEvents", "{'StackName':'app'}"));
    assert_true(api_fixture_shows(&fixture, "An output or a resource is too large to be stored"));
}

/* --- Memory and pages --- */

static void texts_of_a_request_have_the_services_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        size_t size_max;
        const char *message;
    } cases[] = {
        { "'ClientRequestToken':'", "'}", 128, "at 'clientRequestToken'" },
        { "'Tags':[{'Value':'v','Key':'", "'}]}", 128, "at 'tags.1.member.key'" },
        { "'Tags':[{'Key':'k','Value':'", "'}]}", 256, "at 'tags.1.member.value'" },
        { "'RoleARN':'", "'}", 2048, "at 'roleARN'" },
    };
    static const char head[] = "{'StackName':'app'," TEMPLATE("A: " TOPIC) ",";
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *before = around(head, cases[i].before, 1, "");
        assert_false(api_fixture_call(&fixture, CREATE,
                                      around(before, "x", cases[i].size_max + 1, cases[i].after)));
        assert_int_equal(fixture.error.code, ERROR_VALIDATION);
        if (memmem(fixture.error.message.data, fixture.error.message.len, cases[i].message,
                   strlen(cases[i].message)) == NULL)
            fail_msg("%.*s", BYTES_FMT(fixture.error.message));
        assert_true(api_fixture_call(&fixture, CREATE,
                                     around(before, "x", cases[i].size_max, cases[i].after)));
        expect_status("app", "CREATE_COMPLETE");
        assert_true(
            api_fixture_call(&fixture, "cloudformation:DeleteStack", "{'StackName':'app'}"));
        expect_gone("app");
    }
}

static void the_timeout_of_a_creation_has_the_services_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *minutes, *message;
    } cases[] = {
        { "0", "greater than or equal to 1" },
        { "2147483648", "less than or equal to 2147483647" },
        { "9223372036854775807", "less than or equal to 2147483647" },
        { "2147483647", NULL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes body = arena_printf(
            arena, "{'StackName':'app','TimeoutInMinutes':%s," TEMPLATE("A: " TOPIC) "}%c",
            cases[i].minutes, 0);
        bool created = api_fixture_call(&fixture, CREATE, (const char *)body.data);
        assert_int_equal(created, cases[i].message == NULL);
        if (!created && memmem(fixture.error.message.data, fixture.error.message.len,
                               cases[i].message, strlen(cases[i].message)) == NULL)
            fail_msg("%.*s", BYTES_FMT(fixture.error.message));
    }
    expect_status("app", "CREATE_COMPLETE");
}

/* Gives the stack change sets until the memory of stacks is full, or none if `fills` is false. */
static void fill_memory(bool fills)
{
    struct stacks *stacks = api_stacks(fixture.api);
    uint8_t *changes = arena_alloc(arena, STACK_CHANGES_SIZE_MAX);
    memset(changes, 'x', STACK_CHANGES_SIZE_MAX);
    stacks_lock(stacks);
    struct stack_settings settings = { 0 };
    struct bytes uid = arena_copy(arena, stacks_find(stacks, BYTES("app"))->head.stack_uid);
    for (int i = 0; fills ? !stacks_fill_memory(stacks) : i < 300; i++) {
        struct arena *scratch = arena_create();
        const struct stack_change_set set = {
            .head = { uid, arena_printf(scratch, "00000000-0000-4000-8000-%012d", i) },
            .name = BYTES("set"),
            .type = BYTES("UPDATE"),
            .status = BYTES("CREATE_COMPLETE"),
            .execution = BYTES("AVAILABLE"),
            .created_ms = { true, 1 },
            .settings = &settings,
            .changes = bytes_of(changes, STACK_CHANGES_SIZE_MAX),
        };
        struct stacks_change *change = stacks_change_begin(stacks, scratch);
        if (fills)
            stacks_put(change, STACK_CHANGE_SET, &set);
        else
            stacks_delete(change, STACK_CHANGE_SET, &set);
        assert_int_equal(stacks_commit(change), ENGINE_OK);
        arena_destroy(scratch);
    }
    stacks_unlock(stacks);
}

static void the_memory_of_all_stacks_is_bounded(void **state)
{
    (void)state;
    static const char other[] = "{'StackName':'other'," TEMPLATE("A: " TOPIC) "}";
    create("app");
    fill_memory(true);
    api_fixture_expect_error(&fixture, CREATE, other, ERROR_CFN_LIMIT_EXCEEDED,
                             "All stacks together take more than 256 MB of memory. Delete stacks "
                             "or change sets first.");
    fill_memory(false);
    assert_true(api_fixture_call(&fixture, CREATE, other));
}

/* Descriptions of 8000 bytes: more than a page has room for. */
static void a_page_ends_at_its_size(void **state)
{
    (void)state;
    enum { COUNT = 150 };
    struct stacks *stacks = api_stacks(fixture.api);
    uint8_t text[8000];
    memset(text, 'x', sizeof text);
    struct stack_settings settings = { .description = bytes_of(text, sizeof text) };
    struct stack_output output = { BYTES("O"), settings.description, settings.description,
                                   (struct bytes){ 0 } };
    struct stack_output *outputs[] = { &output };
    struct stacks_change *change = stacks_change_begin(stacks, arena);
    for (int i = 0; i < COUNT; i++) {
        struct stack *stack = arena_alloc_zeroed(arena, sizeof *stack);
        stack->head = (struct stack_head){ arena_printf(arena, "00000000-0000-4000-8000-%012d", i),
                                           BYTES("") };
        stack->name = arena_printf(arena, "s%d", i);
        stack->status_name = BYTES("CREATE_COMPLETE");
        stack->settings = &settings;
        stack->outputs = (struct shape_list){ true, 1, 1, outputs };
        stack->created_ms = stack->generation = stack->event_count =
            (struct shape_integer){ true, 1 };
        stacks_put(change, STACK_STACK, stack);
    }
    stacks_lock(stacks);
    enum engine_status status = stacks_commit(change);
    stacks_unlock(stacks);
    assert_int_equal(status, ENGINE_OK);
    assert_true(api_fixture_call(&fixture, DESCRIBE, "{}"));
    assert_true(fixture.response.len > STACK_REQUEST_PAGE_SIZE &&
                fixture.response.len < STACK_REQUEST_PAGE_SIZE + 3 * sizeof text + 2048);
    assert_true(api_fixture_shows(&fixture, "'NextToken':'43'"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(updates_may_not_pile_up_resources),
        TEST(texts_of_a_template_are_bounded),
        TEST(a_reason_is_cut_between_two_characters),
        TEST(a_deployment_whose_outputs_cannot_be_stored_fails),
        TEST(texts_of_a_request_have_the_services_bounds),
        TEST(the_timeout_of_a_creation_has_the_services_bounds),
        TEST(the_memory_of_all_stacks_is_bounded),
        TEST(a_page_ends_at_its_size),
    };
    return cmocka_run_group_tests_name("api/stack_bounds", tests, NULL, NULL);
}
