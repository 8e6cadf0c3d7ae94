/* test_params.c -- ExpressionAttributeNames and ExpressionAttributeValues of a request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "expr/params.h"
#include "expr/projection.h"
#include "expr_text.h"
#include "model/error.h"
#include "model/limits.h"

/* `error` NULL: accepted. */
static const struct {
    const char *names, *values, *error;
} maps[] = {
    { NULL, NULL, NULL },
    { "{\"#a\":\"b\",\"#1\":\"c\",\"#_\":\"d\"}", "{\":a\":{\"S\":\"\"},\":1_x\":{\"L\":[]}}",
      NULL },
    { "{}", NULL, "ExpressionAttributeNames must not be empty" },
    { NULL, "{}", "ExpressionAttributeValues must not be empty" },
    { "{}", "{}", "ExpressionAttributeNames must not be empty" },
    { "{\"a\":\"b\"}", "{}",
      "ExpressionAttributeNames contains invalid key: Syntax error; key: "
      "\"a\"" },
    { "{\"#\":\"b\"}", NULL,
      "ExpressionAttributeNames contains invalid key: Syntax error; key: "
      "\"#\"" },
    { "{\"#a-b\":\"b\"}", NULL,
      "ExpressionAttributeNames contains invalid key: Syntax error; key: "
      "\"#a-b\"" },
    { "{\"#\xC3\xA9\":\"b\"}", NULL,
      "ExpressionAttributeNames contains invalid key: Syntax error; "
      "key: \"#\xC3\xA9\"" },
    { "{\":a\":\"b\"}", NULL,
      "ExpressionAttributeNames contains invalid key: Syntax error; key: "
      "\":a\"" },
    { "{\"\":\"b\"}", NULL,
      "ExpressionAttributeNames contains invalid key: The expression "
      "attribute map contains an empty key;" },
    { "{\"#a\":\"\"}", NULL,
      "ExpressionAttributeNames contains invalid value: Empty attribute "
      "name for key #a" },
    { NULL, "{\"v\":{\"S\":\"x\"}}",
      "ExpressionAttributeValues contains invalid key: Syntax "
      "error; key: \"v\"" },
    { NULL, "{\":\":{\"S\":\"x\"}}",
      "ExpressionAttributeValues contains invalid key: Syntax "
      "error; key: \":\"" },
    { NULL, "{\":v-\":{\"S\":\"x\"}}",
      "ExpressionAttributeValues contains invalid key: Syntax "
      "error; key: \":v-\"" },
    { NULL, "{\"\":{\"S\":\"x\"}}",
      "ExpressionAttributeValues contains invalid key: The "
      "expression attribute map contains an empty key;" },
};

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

static void expect_message(const struct error *err, const char *want)
{
    if (!bytes_equal_text(err->message, want))
        fail_msg("got  %.*s\nwant %s", BYTES_FMT(err->message), want);
}

static void maps_are_checked_before_any_expression(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(maps); i++) {
        struct expr_params params;
        struct error err;
        error_init(&err, arena);
        bool ok = expr_text_params(arena, maps[i].names, maps[i].values, &params, &err);
        assert_int_equal(ok, maps[i].error == NULL);
        if (!ok)
            expect_message(&err, maps[i].error);
    }
}

/* A key of `size` bytes that begins with `sign`. */
static struct bytes key_of(char sign, size_t size)
{
    uint8_t *key = arena_alloc(arena, size);
    memset(key, 'a', size);
    key[0] = (uint8_t)sign;
    return bytes_of(key, size);
}

static bool init_name(struct bytes key, struct bytes name, struct error *err)
{
    struct expr_params params;
    struct expr_params_input input = {
        .names_present = true,
        .name_keys = &key,
        .name_values = &name,
        .name_count = 1,
    };
    error_init(err, arena);
    return expr_params_init(&params, arena, &input, err);
}

static bool init_value(struct bytes key, size_t string_size, struct error *err)
{
    struct expr_params params;
    struct item_builder builder;
    struct buffer value;
    buffer_init(&value, arena);
    value_append_string(&value, key_of('x', string_size));
    item_builder_init(&builder, arena);
    item_builder_add(&builder, key, buffer_bytes(&value));
    struct item item = item_builder_finish(&builder);
    struct expr_params_input input = { .values = &item };
    error_init(err, arena);
    return expr_params_init(&params, arena, &input, err);
}

static void keys_have_at_most_255_bytes(void **state)
{
    (void)state;
    struct error err;
    assert_true(init_name(key_of('#', 254), BYTES("a"), &err));
    assert_true(init_name(key_of('#', 255), BYTES("a"), &err));
    assert_false(init_name(key_of('#', 256), BYTES("a"), &err));
    expect_message(&err, "ExpressionAttributeNames contains invalid key: The expression attribute "
                         "map contains a key that is too long; size of key: 256");
    assert_true(init_value(key_of(':', 255), 1, &err));
    assert_false(init_value(key_of(':', 256), 1, &err));
    expect_message(&err, "ExpressionAttributeValues contains invalid key: The expression "
                         "attribute map contains a key that is too long;");
}

static void names_have_at_most_65535_bytes(void **state)
{
    (void)state;
    struct error err;
    assert_true(init_name(BYTES("#a"), key_of('x', ATTRIBUTE_NAME_SIZE_MAX), &err));
    assert_false(init_name(BYTES("#a"), key_of('x', ATTRIBUTE_NAME_SIZE_MAX + 1), &err));
    expect_message(&err, "ExpressionAttributeNames contains invalid value: Attribute name is too "
                         "large, must be less than 65536 bytes for key #a");
}

static void a_map_has_at_most_2_megabytes(void **state)
{
    (void)state;
    struct error err;
    assert_true(init_value(BYTES(":v"), EXPR_PARAMS_MAP_SIZE_MAX - 3, &err));
    assert_true(init_value(BYTES(":v"), EXPR_PARAMS_MAP_SIZE_MAX - 2, &err));
    assert_false(init_value(BYTES(":v"), EXPR_PARAMS_MAP_SIZE_MAX - 1, &err));
    expect_message(&err, "ExpressionAttributeValues exceeds max size");

    enum { NAMES = 33 };
    struct bytes keys[NAMES], names[NAMES];
    for (size_t i = 0; i < NAMES; i++) {
        keys[i] = arena_printf(arena, "#%02zu", i);
        names[i] = key_of('x', ATTRIBUTE_NAME_SIZE_MAX);
    }
    struct expr_params params;
    struct expr_params_input input = {
        .names_present = true,
        .name_keys = keys,
        .name_values = names,
        .name_count = NAMES - 1,
    };
    /* 32 names of 65538 bytes are 64 too many. */
    names[0] = key_of('x', ATTRIBUTE_NAME_SIZE_MAX - 64);
    error_init(&err, arena);
    assert_true(expr_params_init(&params, arena, &input, &err));
    names[0] = key_of('x', ATTRIBUTE_NAME_SIZE_MAX - 63);
    assert_false(expr_params_init(&params, arena, &input, &err));
    expect_message(&err, "ExpressionAttributeNames exceeds max size");
}

static void lookups_find_every_key_and_nothing_else(void **state)
{
    (void)state;
    struct expr_params params;
    struct error err;
    struct bytes name;
    struct value value;
    error_init(&err, arena);
    assert_true(expr_text_params(
        arena, "{\"#c\":\"3\",\"#a\":\"1\",\"#b\":\"2\"}",
        "{\":b\":{\"S\":\"2\"},\":a\":{\"S\":\"1\"},\":aa\":{\"S\":\"11\"}}", &params, &err));
    assert_true(expr_params_find_name(&params, BYTES("#a"), &name));
    assert_true(bytes_equal_text(name, "1"));
    assert_true(expr_params_find_name(&params, BYTES("#c"), &name));
    assert_true(bytes_equal_text(name, "3"));
    assert_false(expr_params_find_name(&params, BYTES("#d"), &name));
    assert_true(expr_params_find_value(&params, BYTES(":aa"), &value));
    assert_true(bytes_equal_text(value.data, "11"));
    assert_false(expr_params_find_value(&params, BYTES(":"), &value));
    assert_false(expr_params_find_value(&params, BYTES(":ab"), &value));
    assert_false(expr_params_check_unused(&params, arena, &err));
    expect_message(&err,
                   "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b}");
}

static void unused_keys_are_reported_together_names_first(void **state)
{
    (void)state;
    struct expr_params params;
    struct error err;
    struct bytes name;
    struct value value;
    error_init(&err, arena);
    assert_true(expr_text_params(arena, "{\"#b\":\"2\",\"#C\":\"3\",\"#aa\":\"4\",\"#a\":\"1\"}",
                                 "{\":z\":{\"S\":\"2\"},\":Q\":{\"S\":\"1\"}}", &params, &err));
    assert_false(expr_params_check_unused(&params, arena, &err));
    expect_message(&err, "Value provided in ExpressionAttributeNames unused in expressions: keys: "
                         "{#C, #a, #aa, #b}");
    for (size_t i = 0; i < params.name_count; i++)
        assert_true(expr_params_find_name(&params, params.names[i].key, &name));
    error_init(&err, arena);
    assert_false(expr_params_check_unused(&params, arena, &err));
    expect_message(
        &err, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:Q, :z}");
    assert_true(expr_params_find_value(&params, BYTES(":Q"), &value));
    assert_true(expr_params_find_value(&params, BYTES(":z"), &value));
    assert_true(expr_params_check_unused(&params, arena, &err));
}

static void without_expressions_both_maps_must_be_absent(void **state)
{
    (void)state;
    struct item item = { .count = 1 };
    struct expr_params_input none = { .names_present = false };
    struct expr_params_input names = { .names_present = true, .values = &item };
    struct expr_params_input values = { .values = &item };
    const char *expressions = "ConditionExpression is null";
    struct error err;
    error_init(&err, arena);
    assert_true(expr_params_check_absent(&none, expressions, &err));
    assert_false(expr_params_check_absent(&names, expressions, &err));
    expect_message(&err, "ExpressionAttributeNames can only be specified when using expressions");
    assert_false(expr_params_check_absent(&values, expressions, &err));
    expect_message(&err, "ExpressionAttributeValues can only be specified when using expressions: "
                         "ConditionExpression is null");
    err.family = ERROR_FAMILY_ENVELOPED;
    assert_false(expr_params_check_absent(&values, expressions, &err));
    expect_message(&err, "1 validation error detected: ExpressionAttributeValues can only be "
                         "specified when using expressions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_checked_before_any_expression),
        cmocka_unit_test(keys_have_at_most_255_bytes),
        cmocka_unit_test(names_have_at_most_65535_bytes),
        cmocka_unit_test(a_map_has_at_most_2_megabytes),
        cmocka_unit_test(lookups_find_every_key_and_nothing_else),
        cmocka_unit_test(unused_keys_are_reported_together_names_first),
        cmocka_unit_test(without_expressions_both_maps_must_be_absent),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
