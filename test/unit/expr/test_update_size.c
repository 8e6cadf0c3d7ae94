/* test_update_size.c -- what short updates of large items cost, and what is refused for its size or
 * depth. The bounds are those of memory: whatever copied a value once more would pass them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "expr/legacy.h"
#include "expr/params.h"
#include "expr/update.h"
#include "expr/update_parse.h"
#include "expr_text.h"
#include "item_fixture.h"
#include "model/error.h"
#include "model/limits.h"

#define VALUES "{':e':{'L':[{'S':'e'}]},':n':{'N':'1'},':m':{'M':{}},':mm':{'M':{'a':{'M':{}}}}}"
#define TOO_LARGE "Item size to update has exceeded the maximum allowed size"
#define MISSING "The provided expression refers to an attribute that does not exist in the item"
#define WRONG_TYPE "An operand in the update expression has an incorrect data type"
#define TOO_DEEP                                                                                   \
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "    \
    "beyond supported limit"

enum {
    LARGE = 390 * 1024, /* Bytes of a value that an item has room for. */
    /* The result, with room to grow, and what is made on the way to it. */
    MEMORY_MAX = 12 * ITEM_SIZE_MAX,
};

static const struct update *parse(struct arena *arena, struct bytes text)
{
    struct expr_params params;
    struct error err;
    error_init(&err, arena);
    const char *values = (const char *)item_fixture_text(arena, VALUES).data;
    assert_true(expr_text_params(arena, NULL, values, &params, &err));
    const struct update *update = update_parse(arena, text, &params, &err);
    if (update == NULL)
        fail_msg("%.*s: %.*s", BYTES_FMT(text), BYTES_FMT(err.message));
    return update;
}

/* SET x000<rest>, x001<rest>, ... */
static struct bytes set_often(struct arena *arena, size_t count, const char *rest)
{
    struct buffer text;
    buffer_init(&text, arena);
    for (size_t i = 0; i < count; i++)
        buffer_append_bytes(&text,
                            arena_printf(arena, "%sx%03zu%s", i == 0 ? "SET " : ",", i, rest));
    return buffer_bytes(&text);
}

static void add_list(struct item_builder *builder, struct bytes name)
{
    struct buffer list;
    buffer_init(&list, builder->arena);
    for (size_t i = 0; i < LARGE / 2; i++)
        value_append_null(&list);
    value_wrap_container(&list, 0, VALUE_L, LARGE / 2);
    item_builder_add(builder, name, buffer_bytes(&list));
}

/* One attribute: a list "l" of LARGE bytes. */
static struct item item_of_list(struct arena *arena)
{
    struct item_builder builder;
    item_builder_init(&builder, arena);
    add_list(&builder, BYTES("l"));
    return item_builder_finish(&builder);
}

/* Returns the message, empty for success, and checks what it took. */
static struct bytes apply(struct arena *arena, const struct update *update,
                          const struct item *before, struct item *after)
{
    struct error err;
    error_init(&err, arena);
    size_t held = arena_held_size(arena);
    bool ok = update_apply(arena, update, before, after, &err);
    assert_in_range(arena_held_size(arena) - held, 0, MEMORY_MAX);
    if (ok)
        assert_true(item_verify(after));
    return ok ? BYTES("") : err.message;
}

static void assert_message(struct bytes got, const char *want)
{
    if (!bytes_equal_text(got, want))
        fail_msg("%.*s, not %s", BYTES_FMT(got), want);
}

/* --- Lists --- */

static const struct operand *operand_of(struct arena *arena, struct operand operand)
{
    struct operand *out = arena_alloc(arena, sizeof *out);
    *out = operand;
    return out;
}

static struct path path_of(struct arena *arena, const char *name)
{
    struct path_step *step = arena_alloc_zeroed(arena, sizeof *step);
    step->name = bytes_from_text(name);
    return (struct path){ .steps = step, .step_count = 1 };
}

static const struct operand *append(struct arena *arena, const struct operand *left,
                                    const struct operand *right)
{
    return operand_of(
        arena, (struct operand){ .type = OPERAND_LIST_APPEND, .left = left, .right = right });
}

/* SET l = operand: only PartiQL's grammar nests calls of list_append. */
static struct update update_list(struct arena *arena, const struct operand *operand)
{
    struct update_action *action = arena_alloc(arena, sizeof *action);
    *action = (struct update_action){ .type = UPDATE_SET,
                                      .path = path_of(arena, "l"),
                                      .operand = operand };
    return (struct update){ .actions = action, .action_count = 1 };
}

static void lists_appended_within_each_other_are_copied_once(void **state)
{
    struct arena *arena = *state;
    enum { CALLS = 300 };
    struct item before = item_of_list(arena), after;
    struct item values = item_fixture_read(arena, VALUES);
    struct operand added = { .type = OPERAND_VALUE };
    struct value list;
    assert_true(item_find(&values, BYTES(":e"), &added.value));
    const struct operand *operand =
        operand_of(arena, (struct operand){ .type = OPERAND_PATH, .path = path_of(arena, "l") });
    for (size_t i = 0; i < CALLS; i++) {
        operand = append(arena, operand, &added);
        if (i % 2 == 0)
            operand = operand_of(arena, (struct operand){ .type = OPERAND_IF_NOT_EXISTS,
                                                          .path = path_of(arena, "nope"),
                                                          .right = operand });
    }
    struct update update = update_list(arena, operand);
    assert_message(apply(arena, &update, &before, &after), "");
    assert_true(item_find(&after, BYTES("l"), &list));
    assert_int_equal(list.count, LARGE / 2 + CALLS);
    assert_true(bytes_equal(bytes_of(list.data.data + list.data.len - 3, 3), BYTES("\1\1e")));
}

/* It would be doubled by each call. */
static void a_list_appended_to_itself_is_not_made_beyond_what_an_item_holds(void **state)
{
    struct arena *arena = *state;
    enum { DOUBLINGS = 8 };
    struct item before = item_of_list(arena), after;
    const struct operand *operand =
        operand_of(arena, (struct operand){ .type = OPERAND_PATH, .path = path_of(arena, "l") });
    for (size_t i = 0; i < DOUBLINGS; i++)
        operand = append(arena, operand, operand);
    struct update update = update_list(arena, operand);
    assert_message(apply(arena, &update, &before, &after), TOO_LARGE);
}

static const struct {
    const char *rest, *last, *want;
} copies[] = {
    { "=l", "", TOO_LARGE },
    { "=list_append(l,l)", "", TOO_LARGE },
    { "=list_append(if_not_exists(l,:e),l)", "", TOO_LARGE },
    /* What is wrong with any action is told first. */
    { "=l", ",z=l+:n", WRONG_TYPE },
    { "=list_append(l,l)", ",z=list_append(l,nope)", MISSING },
};

static void what_no_item_can_hold_is_not_made(void **state)
{
    struct arena *arena = *state;
    enum { COPIES = 50 };
    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        struct item before = item_of_list(arena), after;
        struct bytes text = set_often(arena, COPIES, copies[i].rest);
        text = arena_printf(arena, "%.*s%s", BYTES_FMT(text), copies[i].last);
        assert_message(apply(arena, parse(arena, text), &before, &after), copies[i].want);
    }
}

/* What AttributeUpdates alone can ask for: ADD of a list, and of very many. */
static void appending_to_many_lists_takes_little_for_each(void **state)
{
    enum { ACTIONS = 50000, EACH_MAX = 800 };
    struct arena *arena = *state;
    struct item values = item_fixture_read(arena, VALUES), before = item_fixture_read(arena, "{}");
    struct item after;
    struct value list;
    struct legacy_update *updates = arena_alloc_zeroed(arena, ACTIONS * sizeof *updates);
    struct error err;
    error_init(&err, arena);
    assert_true(item_find(&values, BYTES(":e"), &list));
    for (size_t i = 0; i < ACTIONS; i++)
        updates[i] = (struct legacy_update){ .name = arena_printf(arena, "x%05zu", i),
                                             .action = BYTES("ADD"),
                                             .value = &list };
    size_t held = arena_held_size(arena);
    const struct update *update = legacy_update_translate(arena, updates, ACTIONS, &err);
    assert_non_null(update);
    assert_true(update_apply(arena, update, &before, &after, &err));
    assert_int_equal(after.count, ACTIONS);
    assert_in_range(arena_held_size(arena) - held, 0, (size_t)ACTIONS * EACH_MAX);
}

/* --- Sets --- */

static struct bytes large_set(struct arena *arena)
{
    struct buffer set;
    uint32_t count = 0;
    buffer_init(&set, arena);
    for (; set.len < LARGE; count++)
        value_append_length_prefixed(&set, arena_printf(arena, "%06u", count));
    value_wrap_container(&set, 0, VALUE_SS, count);
    return buffer_bytes(&set);
}

enum { SETS = 50 };

/* An update of the same kind for each of SETS attributes, with one value for all of them. */
static const struct update *update_sets(struct arena *arena, enum update_action_type type,
                                        struct bytes encoded)
{
    struct operand *operand = arena_alloc_zeroed(arena, sizeof *operand);
    struct update_action *actions = arena_alloc_zeroed(arena, SETS * sizeof *actions);
    struct path_step *steps = arena_alloc_zeroed(arena, SETS * sizeof *steps);
    struct update *update = arena_alloc_zeroed(arena, sizeof *update);
    *operand = (struct operand){ .type = OPERAND_VALUE, .value = value_view(encoded) };
    for (size_t i = 0; i < SETS; i++) {
        steps[i].name = arena_printf(arena, "s%03zu", i);
        actions[i] = (struct update_action){ .type = type,
                                             .path = { .steps = &steps[i], .step_count = 1 },
                                             .operand = operand };
    }
    *update = (struct update){ .actions = actions, .action_count = SETS };
    return update;
}

/* Each set has a member that the large one has, and one that it lacks. */
static struct item item_of_sets(struct arena *arena)
{
    struct buffer text;
    buffer_init(&text, arena);
    for (size_t i = 0; i < SETS; i++)
        buffer_append_bytes(&text, arena_printf(arena, "%c's%03zu':{'SS':['000777','%03zu']}",
                                                i == 0 ? '{' : ',', i, i));
    buffer_append(&text, "}", 2);
    return item_fixture_read(arena, (const char *)text.data);
}

static void a_large_set_added_to_many_is_refused_and_taken_from_many_is_not(void **state)
{
    struct arena *arena = *state;
    struct item before = item_of_sets(arena), after;
    struct bytes set = large_set(arena);
    assert_message(apply(arena, update_sets(arena, UPDATE_ADD, set), &before, &after), TOO_LARGE);
    assert_message(apply(arena, update_sets(arena, UPDATE_DELETE, set), &before, &after), "");
    for (size_t i = 0; i < SETS; i++) {
        struct value left, member;
        struct value_iter iter;
        assert_true(item_find(&after, arena_printf(arena, "s%03zu", i), &left));
        assert_int_equal(left.count, 1);
        value_iter_init(&iter, &left);
        assert_true(value_iter_next(&iter, NULL, &member));
        assert_true(bytes_equal(member.data, arena_printf(arena, "%03zu", i)));
    }
}

/* --- Depth --- */

/* An attribute "a" that is `depth` maps deep, each the member "a" of the one around it. */
static struct item deep_item(struct arena *arena, size_t depth, bool with_list)
{
    struct buffer value, wrapped;
    struct item_builder builder;
    buffer_init(&value, arena);
    if (with_list) {
        struct item list = item_of_list(arena);
        buffer_append_bytes(&value, list.attributes);
        value_wrap_container(&value, 0, VALUE_M, 1);
    } else {
        value_append_container(&value, VALUE_M, 0, BYTES(""));
    }
    for (size_t i = 1; i < depth; i++) {
        buffer_init(&wrapped, arena);
        value_append_length_prefixed(&wrapped, BYTES("a"));
        buffer_append_bytes(&wrapped, buffer_bytes(&value));
        value_wrap_container(&wrapped, 0, VALUE_M, 1);
        value = wrapped;
    }
    item_builder_init(&builder, arena);
    item_builder_add(&builder, BYTES("a"), buffer_bytes(&value));
    return item_builder_finish(&builder);
}

static struct bytes deep_path(struct arena *arena, size_t depth, const char *last)
{
    struct buffer text;
    buffer_init(&text, arena);
    for (size_t i = 0; i < depth; i++)
        buffer_append_bytes(&text, BYTES("a."));
    buffer_append_bytes(&text, bytes_from_text(last));
    return buffer_bytes(&text);
}

static const struct {
    const char *action, *value;
    size_t depth_max; /* Of the maps around it, for which there is room. */
} deep_actions[] = {
    { "SET", "=:n", NESTING_DEPTH_MAX - 1 },  { "SET", "=:e", NESTING_DEPTH_MAX - 2 },
    { "SET", "=:mm", NESTING_DEPTH_MAX - 2 }, { "SET", "=:m", NESTING_DEPTH_MAX - 1 },
    { "ADD", " :n", NESTING_DEPTH_MAX - 1 },
};

static void a_value_may_be_stored_as_deep_as_an_item_may_be(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(deep_actions); i++) {
        for (size_t depth = NESTING_DEPTH_MAX - 4; depth < NESTING_DEPTH_MAX; depth++) {
            struct item before = deep_item(arena, depth, false), after;
            struct bytes path = deep_path(arena, depth, "z");
            const struct update *update =
                parse(arena, arena_printf(arena, "%s %.*s%s", deep_actions[i].action,
                                          BYTES_FMT(path), deep_actions[i].value));
            assert_message(apply(arena, update, &before, &after),
                           depth <= deep_actions[i].depth_max ? "" : TOO_DEEP);
        }
    }
}

static void a_large_value_is_not_copied_for_each_map_around_it(void **state)
{
    struct arena *arena = *state;
    enum { DEPTH = NESTING_DEPTH_MAX - 2 };
    struct item before = deep_item(arena, DEPTH, true), after;
    struct bytes path = deep_path(arena, DEPTH, "l[0]");
    const struct update *update = parse(arena, arena_printf(arena, "SET %.*s=:n", BYTES_FMT(path)));
    assert_message(apply(arena, update, &before, &after), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(lists_appended_within_each_other_are_copied_once),
        ARENA_TEST(what_no_item_can_hold_is_not_made),
        ARENA_TEST(a_list_appended_to_itself_is_not_made_beyond_what_an_item_holds),
        ARENA_TEST(appending_to_many_lists_takes_little_for_each),
        ARENA_TEST(a_large_set_added_to_many_is_refused_and_taken_from_many_is_not),
        ARENA_TEST(a_value_may_be_stored_as_deep_as_an_item_may_be),
        ARENA_TEST(a_large_value_is_not_copied_for_each_map_around_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
