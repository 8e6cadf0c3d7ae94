/* test_scaling.c -- targets, policies, actions and activities are stored, found, bounded and
 * survive a restart; what a policy decides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "failing_engine.h"
#include "reference_engine.h"
#include "scaling/scaling.h"
#include "scaling/scaling_decide.h"

struct fixture {
    struct engine *engine;
    struct scaling *scaling;
    struct arena *arena;
};

static void open_scaling(struct fixture *fixture)
{
    enum engine_status status;
    fixture->scaling = scaling_open(fixture->engine, &status);
    assert_int_equal(status, ENGINE_OK);
}

static int setup(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){ .engine = failing_engine_create(reference_engine_create()),
                                .arena = arena_create() };
    open_scaling(&fixture);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    scaling_close(fixture->scaling);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    return 0;
}

static struct scaling_head head_of(const char *resource, enum scaling_dimension dimension,
                                   const char *name, int64_t created_ms)
{
    return (struct scaling_head){ .resource_id = bytes_from_text(resource),
                                  .dimension = { true, dimension },
                                  .name = bytes_from_text(name),
                                  .uuid = BYTES("00000000-0000-4000-8000-000000000000"),
                                  .created_ms = { true, created_ms } };
}

static void put(struct fixture *fixture, enum scaling_kind kind, const void *object, int64_t now_ms)
{
    struct scaling_change change;
    scaling_change_init(&change, fixture->scaling, fixture->arena);
    scaling_change_put(&change, kind, object);
    assert_int_equal(scaling_change_commit(&change, now_ms, NULL), ENGINE_OK);
}

static void objects_survive_a_restart(void **state)
{
    struct fixture *fixture = *state;
    struct bytes names[] = { BYTES("a"), BYTES("b\"\n") };
    const struct scaling_target target = { .head = head_of("table/T", SCALING_TABLE_READ, "", 5),
                                           .min = { true, 1 },
                                           .max = { true, 40000 },
                                           .in_suspended = { true, true },
                                           .tags = { true, 2, names, names } };
    const struct scaling_policy policy = {
        .head = head_of("table/T", SCALING_TABLE_READ, "p", 6),
        .target_value = { true, 70.5 },
        .created_by = BYTES("x"),
        .alarms = { .present = true, .count = 2, .kept = 2, .elements = names },
    };
    const struct scaling_action action = {
        .head = head_of("table/T/index/I", SCALING_INDEX_WRITE, "s", 7),
        .schedule = BYTES("rate(5 minutes)"),
        .next_ms = { true, 300000 },
    };
    const struct scaling_id id = { BYTES("table/T"), SCALING_TABLE_READ };
    const struct scaling_id index = { BYTES("table/T/index/I"), SCALING_INDEX_WRITE };
    put(fixture, SCALING_TARGET, &target, 10);
    put(fixture, SCALING_POLICY, &policy, 10);
    put(fixture, SCALING_ACTION, &action, 10);
    scaling_close(fixture->scaling);
    open_scaling(fixture);
    const struct scaling_target *found = scaling_find_target(fixture->scaling, &id);
    assert_non_null(found);
    assert_int_equal(found->max.value, 40000);
    assert_true(found->in_suspended.value);
    assert_int_equal(found->tags.count, 2);
    const struct scaling_policy *found_policy =
        scaling_find_policy(fixture->scaling, &id, BYTES("p"));
    assert_non_null(found_policy);
    assert_true(found_policy->target_value.value == 70.5);
    assert_true(bytes_equal(((struct bytes *)found_policy->alarms.elements)[1], names[1]));
    assert_non_null(scaling_find_action(fixture->scaling, &index, BYTES("s")));
    assert_null(scaling_find_action(fixture->scaling, &id, BYTES("s")));
    assert_null(scaling_find_policy(fixture->scaling, &id, BYTES("q")));
}

static void a_put_replaces_and_a_delete_removes(void **state)
{
    struct fixture *fixture = *state;
    struct scaling_target target = { .head = head_of("table/T", SCALING_TABLE_READ, "", 5),
                                     .min = { true, 1 },
                                     .max = { true, 2 } };
    const struct scaling_id id = { BYTES("table/T"), SCALING_TABLE_READ };
    struct scaling_change change;
    put(fixture, SCALING_TARGET, &target, 10);
    target.max.value = 3;
    put(fixture, SCALING_TARGET, &target, 10);
    assert_int_equal(scaling_count(fixture->scaling, SCALING_TARGET), 1);
    assert_int_equal(scaling_find_target(fixture->scaling, &id)->max.value, 3);
    scaling_change_init(&change, fixture->scaling, fixture->arena);
    scaling_change_delete(&change, SCALING_TARGET, scaling_find_target(fixture->scaling, &id));
    assert_int_equal(scaling_change_commit(&change, 10, NULL), ENGINE_OK);
    assert_null(scaling_find_target(fixture->scaling, &id));
    scaling_close(fixture->scaling);
    open_scaling(fixture);
    assert_int_equal(scaling_count(fixture->scaling, SCALING_TARGET), 0);
}

/* The lists show what the store has, whether the write took place or not. */
static void after_an_unknown_outcome_the_store_counts(void **state)
{
    struct fixture *fixture = *state;
    struct scaling_target kept = { .head = head_of("table/K", SCALING_TABLE_READ, "", 5),
                                   .min = { true, 1 },
                                   .max = { true, 2 } };
    struct scaling_target gone = { .head = head_of("table/G", SCALING_TABLE_READ, "", 5),
                                   .min = { true, 1 },
                                   .max = { true, 2 } };
    const struct scaling_id kept_id = { BYTES("table/K"), SCALING_TABLE_READ };
    const struct scaling_id gone_id = { BYTES("table/G"), SCALING_TABLE_READ };
    put(fixture, SCALING_TARGET, &kept, 10);
    put(fixture, SCALING_TARGET, &gone, 10);
    for (int applied = 0; applied < 2; applied++) {
        struct scaling_change change;
        scaling_change_init(&change, fixture->scaling, fixture->arena);
        kept.max.value = 3;
        scaling_change_put(&change, SCALING_TARGET, &kept);
        scaling_change_delete(&change, SCALING_TARGET, &gone);
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){ .call = 1,
                                                          .status = ENGINE_UNKNOWN,
                                                          .commits_only = true,
                                                          .applied = applied == 1 });
        assert_int_equal(scaling_change_commit(&change, 10, NULL), ENGINE_UNKNOWN);
        failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(scaling_find_target(fixture->scaling, &kept_id)->max.value,
                         applied == 1 ? 3 : 2);
        assert_int_equal(scaling_find_target(fixture->scaling, &gone_id) == NULL, applied == 1);
    }
}

static bool refuse_partner(void *context, struct engine_write *write)
{
    (void)context;
    (void)write;
    return false;
}

static void note_end(void *context, enum engine_status status)
{
    *(enum engine_status *)context = status;
}

static void a_partner_that_refuses_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    const struct scaling_target target = { .head = head_of("table/T", SCALING_TABLE_READ, "", 5),
                                           .min = { true, 1 },
                                           .max = { true, 2 } };
    enum engine_status ended = ENGINE_OK;
    const struct scaling_partner partner = { .context = &ended,
                                             .add = refuse_partner,
                                             .end = note_end };
    struct scaling_change change;
    scaling_change_init(&change, fixture->scaling, fixture->arena);
    scaling_change_put(&change, SCALING_TARGET, &target);
    assert_int_not_equal(scaling_change_commit(&change, 10, &partner), ENGINE_OK);
    assert_int_not_equal(ended, ENGINE_OK);
    assert_int_equal(scaling_count(fixture->scaling, SCALING_TARGET), 0);
}

static void add_activity_of(struct fixture *fixture, int64_t time_ms, const char *status)
{
    const struct scaling_activity activity = {
        .head = head_of("table/T", SCALING_TABLE_READ, "", time_ms),
        .description = BYTES("d"),
        .cause = BYTES("c"),
        .status = bytes_from_text(status),
    };
    arena_reset(fixture->arena);
    put(fixture, SCALING_ACTIVITY, &activity, time_ms);
}

static void add_activity(struct fixture *fixture, int64_t time_ms)
{
    add_activity_of(fixture, time_ms, "Successful");
}

static void activities_are_bounded_in_number_and_age(void **state)
{
    struct fixture *fixture = *state;
    for (int64_t i = 0; i < SCALING_ACTIVITIES_MAX + 50; i++)
        add_activity(fixture, 1000 + i);
    size_t count = scaling_count(fixture->scaling, SCALING_ACTIVITY);
    assert_true(count <= SCALING_ACTIVITIES_MAX);
    const struct scaling_activity *newest =
        scaling_at(fixture->scaling, SCALING_ACTIVITY, count - 1);
    assert_int_equal(newest->head.created_ms.value, 1000 + SCALING_ACTIVITIES_MAX + 49);
    for (size_t i = 0; i < 20; i++)
        add_activity(fixture, 2 * SCALING_ACTIVITY_MS_MAX + (int64_t)i);
    assert_true(scaling_count(fixture->scaling, SCALING_ACTIVITY) < count - 50);
}

/* Its end says whether the change has to be tried again. */
static void an_activity_that_is_under_way_or_tried_again_stays_however_old(void **state)
{
    struct fixture *fixture = *state;
    add_activity_of(fixture, 1000, "InProgress");
    add_activity_of(fixture, 1001, "Failed");
    arena_reset(fixture->arena);
    const struct scaling_activity again = {
        .head = head_of("table/T", SCALING_TABLE_READ, "", 1001),
        .description = BYTES("d"),
        .cause = BYTES("c"),
        .status = BYTES("InProgress"),
    };
    put(fixture, SCALING_ACTIVITY, &again, 2 * SCALING_ACTIVITY_MS_MAX);
    assert_int_equal(scaling_count(fixture->scaling, SCALING_ACTIVITY), 2);
    add_activity(fixture, 2 * SCALING_ACTIVITY_MS_MAX);
    assert_int_equal(scaling_count(fixture->scaling, SCALING_ACTIVITY), 3);
}

static void a_damaged_record_is_noticed(void **state)
{
    struct fixture *fixture = *state;
    struct engine_write *write;
    enum engine_status status;
    struct engine_address address = { .place = scaling_place, .key = BYTES("T0table/T") };
    assert_int_equal(engine_write_begin(fixture->engine, NULL, 0, &write), ENGINE_OK);
    engine_write_put(write, &address, BYTES("nonsense"));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    scaling_close(fixture->scaling);
    fixture->scaling = scaling_open(fixture->engine, &status);
    assert_null(fixture->scaling);
    assert_int_equal(status, ENGINE_CORRUPT);
}

/* --- Decisions --- */

static const struct scaling_target bounds = { .min = { true, 5 }, .max = { true, 500 } };

static void consumption_divided_by_the_target_is_wanted(void **state)
{
    (void)state;
    static const struct {
        double consumed;
        int64_t capacity;
        bool is_high, is_low;
        enum scaling_verdict verdict;
        int64_t want;
    } cases[] = {
        { 150, 200, true, false, SCALING_SET, 215 }, /* The documentation's own example. */
        { 150, 200, false, false, SCALING_STAY, 0 },
        { 0, 200, false, true, SCALING_SET, 5 },
        { 70, 200, false, true, SCALING_SET, 100 },
        { 1e300, 200, true, false, SCALING_SET, 500 },
        { 1000, 500, true, false, SCALING_AT_MAX, 0 },
        { 0, 5, false, true, SCALING_AT_MIN, 0 },
        { 0, 4, false, true, SCALING_AT_MIN, 0 }, /* Set by hand below the bounds: left alone. */
        { 10, 200, true, false, SCALING_AS_DESIRED, 0 },
        { 200, 200, false, true, SCALING_AS_DESIRED, 0 },
    };
    const struct scaling_policy policy = { .target_value = { true, 70 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct scaling_situation situation = { .target = &bounds,
                                                     .policy = &policy,
                                                     .capacity = cases[i].capacity,
                                                     .consumed_units_s = cases[i].consumed,
                                                     .is_high = cases[i].is_high,
                                                     .is_low = cases[i].is_low,
                                                     .now_ms = 1000000 };
        int64_t units;
        assert_int_equal(scaling_decide(&situation, &units), cases[i].verdict);
        if (cases[i].verdict == SCALING_SET)
            assert_int_equal(units, cases[i].want);
    }
}

static void suspended_targets_and_cooldowns_stay(void **state)
{
    (void)state;
    struct scaling_target target = bounds;
    struct scaling_policy policy = { .target_value = { true, 70 },
                                     .out_cooldown_s = { true, 60 },
                                     .in_cooldown_s = { true, 120 } };
    struct scaling_situation high = { .target = &target,
                                      .policy = &policy,
                                      .capacity = 100,
                                      .consumed_units_s = 90,
                                      .is_high = true,
                                      .now_ms = 1000000 };
    struct scaling_situation low = high;
    int64_t units;
    low.is_high = false;
    low.is_low = true;
    low.consumed_units_s = 1;
    assert_int_equal(scaling_decide(&high, &units), SCALING_SET);
    assert_int_equal(scaling_decide(&low, &units), SCALING_SET);
    policy.last_out_ms = (struct shape_integer){ true, 1000000 - 60000 };
    assert_int_equal(scaling_decide(&high, &units), SCALING_SET);
    assert_int_equal(scaling_decide(&low, &units), SCALING_STAY); /* In after out waits as well. */
    policy.last_out_ms.value++;
    assert_int_equal(scaling_decide(&high, &units), SCALING_STAY);
    policy.last_out_ms.present = false;
    policy.last_in_ms = (struct shape_integer){ true, 1000000 - 119999 };
    assert_int_equal(scaling_decide(&low, &units), SCALING_STAY);
    assert_int_equal(scaling_decide(&high, &units), SCALING_SET);
    policy.last_in_ms.present = false;
    target.out_suspended.value = true;
    assert_int_equal(scaling_decide(&high, &units), SCALING_STAY);
    assert_int_equal(scaling_decide(&low, &units), SCALING_SET);
    target.in_suspended.value = true;
    assert_int_equal(scaling_decide(&low, &units), SCALING_STAY);
    target.in_suspended.value = false;
    policy.disable_scale_in.value = true;
    assert_int_equal(scaling_decide(&low, &units), SCALING_STAY);
}

static void actions_fire_between_start_and_end(void **state)
{
    (void)state;
    struct scaling_action action = { .head = { .created_ms = { true, 1000000 } },
                                     .schedule = BYTES("rate(5 minutes)") };
    assert_int_equal(scaling_action_next(&action, 1000000).value, 1300000);
    action.start_ms = (struct shape_integer){ true, 2000000 };
    assert_int_equal(scaling_action_next(&action, 1000000).value, 2000000);
    assert_int_equal(scaling_action_next(&action, 2000000).value, 2300000);
    action.end_ms = (struct shape_integer){ true, 2300000 };
    assert_false(scaling_action_next(&action, 2000000).present);
    action.end_ms.value++;
    assert_false(scaling_action_next(&action, 2000000).present); /* Seconds count. */
    action.end_ms.value = 2301000;
    assert_int_equal(scaling_action_next(&action, 2000000).value, 2300000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(objects_survive_a_restart),
        TEST(a_put_replaces_and_a_delete_removes),
        TEST(after_an_unknown_outcome_the_store_counts),
        TEST(a_partner_that_refuses_leaves_nothing),
        TEST(activities_are_bounded_in_number_and_age),
        TEST(an_activity_that_is_under_way_or_tried_again_stays_however_old),
        TEST(a_damaged_record_is_noticed),
        cmocka_unit_test(consumption_divided_by_the_target_is_wanted),
        cmocka_unit_test(suspended_targets_and_cooldowns_stay),
        cmocka_unit_test(actions_fire_between_start_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
