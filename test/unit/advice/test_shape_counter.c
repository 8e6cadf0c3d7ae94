/* test_shape_counter.c -- shapes of expressions: their texts, and counting them within a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "advice/shape_counter.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/condition_parse.h"
#include "expr/key_condition.h"
#include "expr/params.h"
#include "expr/path.h"
#include "expr/projection.h"
#include "expr/update_parse.h"
#include "model/error.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "model/value_json.h"

#define NOW_MS (INT64_C(500000) * SHAPE_COUNTER_HOUR_MS)

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* --- Texts --- */

/* Conditions on paths alone need no values. */
static const struct condition *condition_of(const char *text)
{
    struct error error;
    struct expr_params params;
    const struct expr_params_input input = { 0 };
    error_init(&error, arena);
    assert_true(expr_params_init(&params, arena, &input, &error));
    const struct condition *condition =
        condition_parse(arena, bytes_from_text(text), "FilterExpression", &params, &error);
    if (condition == NULL)
        fail_msg("%s: %.*s", text, BYTES_FMT(error.message));
    return condition;
}

static void expect_text(const struct expression_shape *shape, const char *wanted)
{
    char text[EXPRESSION_SHAPE_SIZE_MAX + 1];
    size_t size = expression_shape_format(shape, text);
    assert_true(size <= EXPRESSION_SHAPE_SIZE_MAX);
    text[size] = '\0';
    assert_string_equal(text, wanted);
}

static void a_shape_has_names_and_structure(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        { "a = b", "filter: a = b" },
        { "a.b[3].c <> d[7]", "filter: a.b[n].c <> d[n]" },
        { "a < b AND c <= d AND e > f", "filter: a < b AND c <= d AND e > f" },
        { "(a = b OR c = d) AND NOT (e >= f OR attribute_exists(g))",
          "filter: (a = b OR c = d) AND NOT (e >= f OR attribute_exists(g))" },
        { "a BETWEEN b AND c", "filter: a BETWEEN b AND c" },
        { "a IN (b, c, d)", "filter: a IN (?)" },
        { "contains(a, b) AND begins_with(c, d)", "filter: contains(a, b) AND begins_with(c, d)" },
        { "attribute_not_exists(a) OR size(b) > c",
          "filter: attribute_not_exists(a) OR size(b) > c" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_text(&(struct expression_shape){ .filter = condition_of(cases[i].text) },
                    cases[i].wanted);
}

static void parts_are_in_one_order(void **state)
{
    (void)state;
    const struct value value = { .type = VALUE_S };
    const struct key_term terms[] = {
        { .name = BYTES("pk"), .type = KEY_TERM_COMPARE, .values = { value } },
        { .name = BYTES("sk"), .type = KEY_TERM_BEGINS_WITH, .values = { value } },
    };
    const struct key_condition key = { .terms = terms, .term_count = 2 };
    const struct path_step steps[] = { { .name = BYTES("n") } };
    const struct path path = { .steps = steps, .step_count = 1 };
    const struct operand one = { .type = OPERAND_VALUE },
                         own = { .type = OPERAND_PATH, .path = path };
    const struct operand zero = { .type = OPERAND_IF_NOT_EXISTS, .path = path, .right = &one };
    const struct operand sum = { .type = OPERAND_PLUS, .left = &zero, .right = &one };
    const struct operand list = { .type = OPERAND_LIST_APPEND, .left = &own, .right = &one };
    const struct update_action actions[] = {
        { .type = UPDATE_SET, .path = path, .operand = &sum },
        { .type = UPDATE_SET, .path = path, .operand = &list },
        { .type = UPDATE_REMOVE, .path = path },
        { .type = UPDATE_ADD, .path = path, .operand = &one },
    };
    const struct update update = { .actions = actions, .action_count = 4 };
    expect_text(&(struct expression_shape){ .kind = SHAPE_QUERY,
                                            .key = &key,
                                            .projection = path_tree_build(arena, &path, 1) },
                "key: pk = ? AND begins_with(sk, ?); projection: n");
    expect_text(&(struct expression_shape){ .kind = SHAPE_SCAN, .is_count_only = true },
                "scan; count");
    expect_text(&(struct expression_shape){ .kind = SHAPE_WRITE,
                                            .update = &update,
                                            .condition = condition_of("a = b") },
                "update: SET n = if_not_exists(n, ?) + ?, n = list_append(n, ?) REMOVE n ADD n; "
                "condition: a = b");
    expect_text(&(struct expression_shape){ .kind = SHAPE_SINGLE_TRANSACTION }, "one item");
}

/* At the limit and one beyond: nothing is cut in the middle. */
static void a_long_shape_ends_in_dots(void **state)
{
    (void)state;
    char name[EXPRESSION_SHAPE_SIZE_MAX], text[EXPRESSION_SHAPE_SIZE_MAX + 1];
    const size_t head = strlen("projection: ");
    for (int longer = 0; longer < 2; longer++) {
        size_t size = EXPRESSION_SHAPE_SIZE_MAX - 3 - head + (size_t)longer;
        memset(name, 'x', size);
        const struct path_step step = { .name = bytes_of((uint8_t *)name, size) };
        const struct path path = { .steps = &step, .step_count = 1 };
        const struct expression_shape shape = { .projection = path_tree_build(arena, &path, 1) };
        size_t length = expression_shape_format(&shape, text);
        assert_int_equal(length, longer ? head + 3 : EXPRESSION_SHAPE_SIZE_MAX - 3);
        assert_int_equal(memcmp(text + length - 3, longer ? "..." : "xxx", 3), 0);
    }
}

/* --- Counting --- */

static void count_named(struct shape_counter *counter, uint64_t table_id, const char *name,
                        int64_t wall_ms)
{
    const struct path_step step = { .name = bytes_from_text(name) };
    const struct path path = { .steps = &step, .step_count = 1 };
    const struct operand operands[] = { { .type = OPERAND_PATH, .path = path },
                                        { .type = OPERAND_VALUE } };
    const struct condition condition = { .type = CONDITION_COMPARE,
                                         .operands = operands,
                                         .operand_count = 2 };
    const struct expression_shape shape = { .kind = SHAPE_SCAN, .filter = &condition };
    shape_counter_count(counter, &(struct shape_event){ .table_id = table_id,
                                                        .operation = "Scan",
                                                        .shape = &shape,
                                                        .counts = { .calls = 1, .items_read = 7 },
                                                        .wall_ms = wall_ms });
}

static void same_shapes_are_added_up(void **state)
{
    (void)state;
    struct shape_counter *counter = shape_counter_create(64);
    for (int i = 0; i < 5; i++)
        count_named(counter, 1, "a", NOW_MS);
    count_named(counter, 1, "b", NOW_MS);
    count_named(counter, 2, "a", NOW_MS);
    struct shape_uses uses = shape_counter_read(counter, arena, NOW_MS);
    assert_int_equal(uses.count, 3);
    assert_int_equal(uses.uses[0].counts.calls, 5);
    assert_int_equal(uses.uses[0].counts.items_read, 35);
    assert_true(bytes_equal_text(uses.uses[0].text, "scan; filter: a = ?"));
    assert_int_equal(uses.uses[2].table_id, 2);
    shape_counter_destroy(counter);
}

static void a_window_has_its_hours_only(void **state)
{
    (void)state;
    struct shape_counter *counter = shape_counter_create(64);
    const int64_t hour = SHAPE_COUNTER_HOUR_MS;
    for (int i = 0; i < 48; i++)
        count_named(counter, 1, "a", NOW_MS + i * hour);
    int64_t now_ms = NOW_MS + 47 * hour;
    static const struct {
        int hours, calls;
    } cases[] = { { 0, 1 }, { 1, 2 }, { 23, 24 }, { 24, 25 }, { 40, 25 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct shape_uses uses = shape_counter_read(counter, arena, now_ms - cases[i].hours * hour);
        assert_int_equal(uses.uses[0].counts.calls, cases[i].calls);
    }
    assert_int_equal(shape_counter_read(counter, arena, now_ms + hour).count, 0);
    shape_counter_destroy(counter);
}

static void a_million_shapes_stay_within_the_bound(void **state)
{
    enum { SHAPES = 1000000, OFTEN = 4 };
    (void)state;
    struct shape_counter *counter = shape_counter_create(512);
    for (int i = 0; i < SHAPES; i++) {
        char name[32];
        snprintf(name, sizeof name, "flood_%d", i);
        count_named(counter, 1, name, NOW_MS);
        if (i % 2 == 0) {
            snprintf(name, sizeof name, "often_%d", i / 2 % OFTEN);
            count_named(counter, 1, name, NOW_MS);
        }
    }
    struct shape_uses uses = shape_counter_read(counter, arena, NOW_MS);
    size_t often = 0;
    uint64_t calls = uses.other.calls;
    assert_true(uses.count <= 512);
    assert_true(uses.memory <= shape_counter_memory_max(512));
    for (size_t i = 0; i < uses.count; i++) {
        calls += uses.uses[i].counts.calls;
        often += uses.uses[i].counts.calls > SHAPES / 10 &&
                 bytes_starts_with(uses.uses[i].text, BYTES("scan; filter: often_"));
    }
    assert_int_equal(calls, SHAPES + SHAPES / 2); /* Nothing is lost. */
    assert_int_equal(uses.missed, 0);
    assert_int_equal(often, OFTEN); /* What is used stays. */
    shape_counter_destroy(counter);
}

static void a_shape_that_nobody_uses_any_more_gives_way(void **state)
{
    (void)state;
    struct shape_counter *counter = shape_counter_create(1); /* One place of this thread. */
    for (int i = 0; i < SHAPE_COUNTER_WAYS * 100; i++) {
        char name[8];
        snprintf(name, sizeof name, "old_%d", i % SHAPE_COUNTER_WAYS);
        count_named(counter, 1, name, NOW_MS);
    }
    int64_t later_ms = NOW_MS + (SHAPE_COUNTER_HOURS + 1) * SHAPE_COUNTER_HOUR_MS;
    for (int i = 0; i < 2 * SHAPE_COUNTER_WAYS; i++) {
        char name[8];
        snprintf(name, sizeof name, "new_%d", i % SHAPE_COUNTER_WAYS);
        count_named(counter, 1, name, later_ms);
    }
    struct shape_uses uses = shape_counter_read(counter, arena, later_ms);
    assert_int_equal(uses.count, SHAPE_COUNTER_WAYS);
    for (size_t i = 0; i < uses.count; i++)
        assert_int_equal(uses.uses[i].counts.calls, 2);
    shape_counter_destroy(counter);
}

enum { THREADS = 12, TURNS = 5000 };

static void *count_many(void *context)
{
    for (int i = 0; i < TURNS; i++)
        count_named(context, 1, i % 2 == 0 ? "even" : "odd", NOW_MS);
    return NULL;
}

static void many_threads_count_every_call_or_miss_it(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    struct shape_counter *counter = shape_counter_create(512);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_many, counter), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct shape_uses uses = shape_counter_read(counter, arena, NOW_MS);
    assert_int_equal(uses.count, 2);
    assert_int_equal(uses.uses[0].counts.calls + uses.uses[1].counts.calls + uses.missed,
                     THREADS * TURNS);
    shape_counter_destroy(counter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_shape_has_names_and_structure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_are_in_one_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_shape_ends_in_dots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(same_shapes_are_added_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_window_has_its_hours_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_million_shapes_stay_within_the_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_shape_that_nobody_uses_any_more_gives_way, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(many_threads_count_every_call_or_miss_it, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
