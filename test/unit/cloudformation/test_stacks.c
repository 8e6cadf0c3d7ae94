/* test_stacks.c -- stacks, resources, events, change sets, templates and files are stored, found,
 * bounded and survive a restart; which status may follow which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/give_way.h"
#include "cloudformation/stacks.h"
#include "reference_engine.h"

#define UID BYTES("00000000-0000-4000-8000-000000000001")
#define OTHER_UID BYTES("00000000-0000-4000-8000-000000000002")

struct fixture {
    struct engine *engine;
    struct stacks *stacks;
    struct arena *arena;
};

static void open_stacks(struct fixture *fixture)
{
    enum engine_status status;
    fixture->stacks = stacks_open(fixture->engine, &status);
    assert_int_equal(status, ENGINE_OK);
}

static void reopen(struct fixture *fixture)
{
    stacks_close(fixture->stacks);
    open_stacks(fixture);
}

static int setup(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){ .engine = reference_engine_create(), .arena = arena_create() };
    open_stacks(&fixture);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    stacks_close(fixture->stacks);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    return 0;
}

static struct stack stack_of(struct fixture *fixture, struct bytes uid, const char *name)
{
    struct stack stack = { .head = { uid, BYTES("") },
                           .name = bytes_from_text(name),
                           .status_name = BYTES("CREATE_IN_PROGRESS"),
                           .created_ms = { true, 5 },
                           .generation = { true, 1 },
                           .event_count = { true, 0 } };
    stack.settings = arena_alloc_zeroed(fixture->arena, sizeof *stack.settings);
    return stack;
}

static void put(struct fixture *fixture, enum stack_kind kind, const void *object)
{
    struct stacks_change *change = stacks_change_begin(fixture->stacks, fixture->arena);
    stacks_put(change, kind, object);
    assert_int_equal(stacks_commit(change), ENGINE_OK);
}

static void objects_and_templates_survive_a_restart(void **state)
{
    struct fixture *fixture = *state;
    struct stack stack = stack_of(fixture, UID, "app");
    struct stack_pair pair = { BYTES("Stage"), BYTES("dev\n\"") }, *pairs[] = { &pair };
    stack.settings->parameters = (struct shape_list){ true, 1, 1, pairs };
    const struct stack_resource resource = { .head = { UID, BYTES("Orders") },
                                             .type = BYTES("AWS::DynamoDB::Table"),
                                             .physical_id = BYTES("orders"),
                                             .status_name = BYTES("CREATE_COMPLETE"),
                                             .updated_ms = { true, 6 },
                                             .order = { true, 1 },
                                             .generation = { true, 1 } };
    struct stacks_change *change = stacks_change_begin(fixture->stacks, fixture->arena);
    struct bytes text;
    size_t first;
    stacks_put(change, STACK_RESOURCE, &resource);
    stacks_put_template(change, UID, STACK_TEMPLATE_NOW, BYTES("{}"), 7);
    stacks_add_event(change, &stack, &resource, BYTES("arn"), 8);
    stacks_put(change, STACK_STACK, &stack);
    assert_int_equal(stacks_commit(change), ENGINE_OK);
    reopen(fixture);
    const struct stack *found = stacks_find(fixture->stacks, BYTES("app"));
    assert_non_null(found);
    assert_ptr_equal(found, stacks_find(fixture->stacks, UID));
    const struct stack_pair *const *stored = found->settings->parameters.elements;
    assert_true(bytes_equal(stored[0]->value, pair.value));
    assert_int_equal(found->event_count.value, 1);
    assert_true(bytes_equal(
        stacks_find_resource(fixture->stacks, UID, BYTES("Orders"))->physical_id, BYTES("orders")));
    assert_int_equal(stacks_of(fixture->stacks, STACK_EVENT, UID, &first), 1);
    assert_int_equal(
        stacks_read_template(fixture->stacks, fixture->arena, UID, STACK_TEMPLATE_NOW, &text),
        ENGINE_OK);
    assert_true(bytes_equal(text, BYTES("{}")));
    assert_int_equal(
        stacks_read_template(fixture->stacks, fixture->arena, UID, STACK_TEMPLATE_NEXT, &text),
        ENGINE_NOT_FOUND);
}

static void a_stack_is_forgotten_with_all_that_it_has(void **state)
{
    struct fixture *fixture = *state;
    struct stack stack = stack_of(fixture, UID, "app"), other = stack_of(fixture, OTHER_UID, "two");
    struct stacks_change *change = stacks_change_begin(fixture->stacks, fixture->arena);
    size_t first;
    struct bytes text;
    stacks_put_template(change, UID, STACK_TEMPLATE_NOW, BYTES("{}"), 7);
    stacks_add_event(change, &stack, NULL, BYTES("arn"), 8);
    stacks_add_event(change, &other, NULL, BYTES("arn"), 8);
    stacks_put(change, STACK_STACK, &stack);
    stacks_put(change, STACK_STACK, &other);
    assert_int_equal(stacks_commit(change), ENGINE_OK);
    change = stacks_change_begin(fixture->stacks, fixture->arena);
    stacks_forget(change, stacks_find(fixture->stacks, UID));
    assert_int_equal(stacks_commit(change), ENGINE_OK);
    reopen(fixture);
    assert_null(stacks_find(fixture->stacks, UID));
    assert_int_equal(stacks_of(fixture->stacks, STACK_EVENT, UID, &first), 0);
    assert_int_equal(stacks_of(fixture->stacks, STACK_EVENT, OTHER_UID, &first), 1);
    assert_int_equal(
        stacks_read_template(fixture->stacks, fixture->arena, UID, STACK_TEMPLATE_NOW, &text),
        ENGINE_NOT_FOUND);
}

/* More than any stack may have today. */
static void a_stack_with_very_many_records_is_forgotten(void **state)
{
    struct fixture *fixture = *state;
    struct stack stack = stack_of(fixture, UID, "app");
    enum { COUNT = 5000 };
    size_t first;
    struct stacks_change *change = stacks_change_begin(fixture->stacks, fixture->arena);
    struct stack_resource *resources =
        arena_alloc_zeroed(fixture->arena, COUNT * sizeof *resources);
    for (int i = 0; i < COUNT; i++) {
        resources[i] =
            (struct stack_resource){ .head = { UID, arena_printf(fixture->arena, "R%d", i) },
                                     .type = BYTES("AWS::SNS::Topic"),
                                     .status_name = BYTES("CREATE_COMPLETE"),
                                     .updated_ms = { true, 6 },
                                     .order = { true, i },
                                     .generation = { true, 1 } };
        stacks_put(change, STACK_RESOURCE, &resources[i]);
    }
    stacks_put(change, STACK_STACK, &stack);
    assert_int_equal(stacks_commit(change), ENGINE_OK);
    assert_int_equal(stacks_of(fixture->stacks, STACK_RESOURCE, UID, &first), COUNT);
    change = stacks_change_begin(fixture->stacks, fixture->arena);
    stacks_forget(change, stacks_find(fixture->stacks, UID));
    assert_int_equal(stacks_commit(change), ENGINE_OK);
    reopen(fixture);
    assert_int_equal(stacks_of(fixture->stacks, STACK_RESOURCE, UID, &first), 0);
    assert_int_equal(stacks_count(fixture->stacks), 0);
}

static void the_oldest_events_go_first(void **state)
{
    struct fixture *fixture = *state;
    struct stack stack = stack_of(fixture, UID, "app");
    size_t first;
    for (size_t i = 0; i < STACK_EVENTS_MAX + 50; i++) {
        struct stacks_change *change = stacks_change_begin(fixture->stacks, fixture->arena);
        stacks_add_event(change, &stack, NULL, BYTES("arn"), (int64_t)i);
        stacks_put(change, STACK_STACK, &stack);
        assert_int_equal(stacks_commit(change), ENGINE_OK);
        arena_reset(fixture->arena);
        stack = stack_of(fixture, UID, "app");
        stack.event_count.value = (int64_t)i + 1;
    }
    size_t count = stacks_of(fixture->stacks, STACK_EVENT, UID, &first);
    assert_true(count <= STACK_EVENTS_MAX && count >= STACK_EVENTS_MAX - 4);
    const struct stack_event *oldest = stacks_object(fixture->stacks, STACK_EVENT, first);
    assert_int_equal(oldest->at_ms.value, STACK_EVENTS_MAX + 50 - (int64_t)count);
}

static void a_deleted_stack_is_found_by_its_id_only(void **state)
{
    struct fixture *fixture = *state;
    struct stack stack = stack_of(fixture, UID, "app"), again = stack_of(fixture, OTHER_UID, "app");
    stack.status_name = BYTES("DELETE_COMPLETE");
    put(fixture, STACK_STACK, &stack);
    assert_null(stacks_find(fixture->stacks, BYTES("app")));
    assert_non_null(stacks_find(fixture->stacks, UID));
    put(fixture, STACK_STACK, &again);
    assert_true(bytes_equal(stacks_find(fixture->stacks, BYTES("app"))->head.stack_uid, OTHER_UID));
}

static void what_exceeds_a_bound_is_not_stored(void **state)
{
    struct fixture *fixture = *state;
    struct stack stack = stack_of(fixture, UID, "app");
    uint8_t *text = arena_alloc(fixture->arena, STACK_TEXT_SIZE_MAX + 1);
    memset(text, 'x', STACK_TEXT_SIZE_MAX + 1);
    stack.reason = bytes_of(text, STACK_TEXT_SIZE_MAX);
    put(fixture, STACK_STACK, &stack);
    stack.reason.len++;
    struct stacks_change *change = stacks_change_begin(fixture->stacks, fixture->arena);
    stacks_put(change, STACK_STACK, &stack);
    assert_int_equal(stacks_commit(change), ENGINE_CORRUPT);
    reopen(fixture);
    assert_int_equal(stacks_find(fixture->stacks, UID)->reason.len, STACK_TEXT_SIZE_MAX);
}

static void who_began_an_operation_is_stored_within_a_bound(void **state)
{
    struct fixture *fixture = *state;
    struct stack stack = stack_of(fixture, UID, "app");
    uint8_t *text = arena_alloc(fixture->arena, STACK_CALLER_SIZE_MAX + 1);
    memset(text, 'x', STACK_CALLER_SIZE_MAX + 1);
    put(fixture, STACK_STACK, &stack);
    reopen(fixture);
    assert_null(stacks_find(fixture->stacks, UID)->caller.data); /* As an earlier version has it. */
    for (size_t size = 0; size <= STACK_CALLER_SIZE_MAX; size += STACK_CALLER_SIZE_MAX) {
        stack.caller = bytes_of(text, size);
        put(fixture, STACK_STACK, &stack);
        reopen(fixture);
        assert_non_null(stacks_find(fixture->stacks, UID)->caller.data);
        assert_int_equal(stacks_find(fixture->stacks, UID)->caller.len, size);
    }
    stack.caller.len++;
    struct stacks_change *change = stacks_change_begin(fixture->stacks, fixture->arena);
    stacks_put(change, STACK_STACK, &stack);
    assert_int_equal(stacks_commit(change), ENGINE_CORRUPT);
}

static void put_asset(struct fixture *fixture, const char *name, size_t size, int64_t now_ms)
{
    static uint8_t bytes[STACK_ASSET_SIZE_MAX];
    const struct stack_blob blob = { .bytes = bytes_of(bytes, size), .modified_ms = now_ms };
    assert_int_equal(
        stacks_put_asset(fixture->stacks, fixture->arena, bytes_from_text(name), &blob), ENGINE_OK);
    arena_reset(fixture->arena);
}

static bool has_asset(struct fixture *fixture, const char *name)
{
    struct stack_blob blob;
    bool found = stacks_read_asset(fixture->stacks, fixture->arena, bytes_from_text(name), &blob) ==
                 ENGINE_OK;
    arena_reset(fixture->arena);
    return found;
}

static void the_oldest_files_make_room_for_new_ones(void **state)
{
    struct fixture *fixture = *state;
    enum { COUNT = STACK_ASSETS_SIZE_MAX / STACK_ASSET_SIZE_MAX };
    char name[32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "b/%02d", i);
        put_asset(fixture, name, STACK_ASSET_SIZE_MAX, i);
    }
    assert_true(has_asset(fixture, "b/00"));
    put_asset(fixture, "b/zz", 1, 1000);
    assert_false(has_asset(fixture, "b/00"));
    assert_true(has_asset(fixture, "b/01") && has_asset(fixture, "b/zz"));
}

static void a_file_that_could_not_be_read_back_is_not_stored(void **state)
{
    struct fixture *fixture = *state;
    uint8_t *text = arena_alloc(fixture->arena, STACK_TEXT_SIZE_MAX + 1);
    memset(text, 'x', STACK_TEXT_SIZE_MAX + 1);
    const struct {
        struct bytes media_type;
        enum engine_status want;
    } cases[] = {
        { bytes_of(text, STACK_TEXT_SIZE_MAX), ENGINE_OK },
        { bytes_of(text, STACK_TEXT_SIZE_MAX + 1), ENGINE_CORRUPT },
        { BYTES("\xff\xfe"), ENGINE_CORRUPT },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct stack_blob blob = { .bytes = BYTES("x"), .media_type = cases[i].media_type };
        assert_int_equal(stacks_put_asset(fixture->stacks, fixture->arena, BYTES("b/1"), &blob),
                         cases[i].want);
        reopen(fixture);
    }
}

static void files_are_listed_by_prefix_and_survive_a_restart(void **state)
{
    struct fixture *fixture = *state;
    struct stack_asset asset;
    put_asset(fixture, "a/1", 1, 1);
    put_asset(fixture, "b/1", 2, 1);
    put_asset(fixture, "b/2", 3, 1);
    reopen(fixture);
    struct bytes none = { 0 };
    assert_true(stacks_next_asset(fixture->stacks, fixture->arena, BYTES("b/"), none, &asset));
    assert_true(bytes_equal(asset.name, BYTES("b/1")) && asset.size == 2);
    assert_true(
        stacks_next_asset(fixture->stacks, fixture->arena, BYTES("b/"), BYTES("b/1"), &asset));
    assert_true(bytes_equal(asset.name, BYTES("b/2")));
    assert_false(
        stacks_next_asset(fixture->stacks, fixture->arena, BYTES("b/"), BYTES("b/2"), &asset));
    assert_int_equal(stacks_delete_asset(fixture->stacks, fixture->arena, BYTES("b/1")), ENGINE_OK);
    assert_false(has_asset(fixture, "b/1"));
}

static void statuses_follow_the_service(void **state)
{
    (void)state;
    for (enum stack_status i = 0; i < STACK_STATUS_COUNT; i++) {
        assert_int_equal(stack_status_find(bytes_from_text(stack_status_name(i))), i);
        assert_false(stack_status_may_follow(STACK_DELETE_COMPLETE, i));
        if (stack_status_is_active(i))
            assert_false(stack_status_may_update(i));
    }
    assert_int_equal(stack_status_find(BYTES("NOTHING")), STACK_STATUS_COUNT);
    assert_true(stack_status_may_update(STACK_UPDATE_ROLLBACK_COMPLETE));
    assert_false(stack_status_may_update(STACK_ROLLBACK_COMPLETE));
    assert_false(stack_status_is_active(STACK_REVIEW_IN_PROGRESS));
}

/* How often a thread that gives way does so while it copies a stack that often. */
static uint64_t count_while_copying(struct fixture *fixture, const struct stack *stack)
{
    enum { COPIES = 2 * GIVE_WAY_EVERY / GIVE_WAY_ELEMENT };
    uint64_t before = give_way_own.count;
    for (int i = 0; i < COPIES; i++)
        assert_non_null(stack_copy(fixture->arena, STACK_STACK, stack));
    return give_way_own.count - before;
}

static void nobody_gives_way_while_holding_the_lock(void **state)
{
    struct fixture *fixture = *state;
    struct stack stack = stack_of(fixture, UID, "app");
    struct stack_pair pair = { BYTES("Stage"), BYTES("dev") }, *pairs[] = { &pair };
    stack.settings->parameters = (struct shape_list){ true, 1, 1, pairs };
    give_way_set(true);
    assert_true(count_while_copying(fixture, &stack) > 0);
    stacks_lock(fixture->stacks);
    assert_int_equal(count_while_copying(fixture, &stack), 0);
    stacks_unlock(fixture->stacks);
    assert_true(count_while_copying(fixture, &stack) > 0); /* As before. */
    give_way_set(false);
    stacks_lock(fixture->stacks);
    stacks_unlock(fixture->stacks);
    assert_false(give_way_own.is_on);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(objects_and_templates_survive_a_restart),
        TEST(a_stack_is_forgotten_with_all_that_it_has),
        TEST(a_stack_with_very_many_records_is_forgotten),
        TEST(the_oldest_events_go_first),
        TEST(a_deleted_stack_is_found_by_its_id_only),
        TEST(what_exceeds_a_bound_is_not_stored),
        TEST(who_began_an_operation_is_stored_within_a_bound),
        TEST(the_oldest_files_make_room_for_new_ones),
        TEST(a_file_that_could_not_be_read_back_is_not_stored),
        TEST(files_are_listed_by_prefix_and_survive_a_restart),
        TEST(statuses_follow_the_service),
        TEST(nobody_gives_way_while_holding_the_lock),
    };
    return cmocka_run_group_tests_name("cloudformation/stacks", tests, NULL, NULL);
}
