/* test_shape_read.c -- requests read by their shapes, and what the service says of those that
 * cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "api/item/item_shapes.h"
#include "api/operation.h"
#include "shape/shape.h"
#include "api/table/table_shapes.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "model/limits.h"

static struct arena *arena;

static void assert_message(const char *name, struct bytes got, const char *want)
{
    if (!bytes_equal_text(got, want))
        fail_msg("%s\n got: %.*s\nwant: %s", name, BYTES_FMT(got), want);
}

static bool read_text(const struct shape *shape, struct bytes text, void **out, struct error *err)
{
    error_init(err, arena);
    *out = arena_alloc(arena, shape->size);
    return shape_read(arena, text, shape, *out, err);
}

static const struct shape *request_shape(const char *operation)
{
    const struct operation *found = operation_find_action(bytes_from_text(operation));
    assert_non_null(found);
    return found->request;
}

#define ITEM_MAP "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"

static const struct {
    const char *operation, *text, *want;
} unreadable[] = {
    { "GetItem", "{\"TableName\":1}", "NUMBER_VALUE cannot be converted to String" },
    { "GetItem", "{\"TableName\":-1}", "NUMBER_VALUE cannot be converted to String" },
    { "GetItem", "{\"TableName\":1.5}", "DECIMAL_VALUE cannot be converted to String" },
    { "GetItem", "{\"TableName\":1e5}", "DECIMAL_VALUE cannot be converted to String" },
    { "GetItem", "{\"TableName\":true}", "TRUE_VALUE cannot be converted to String" },
    { "GetItem", "{\"TableName\":false}", "FALSE_VALUE cannot be converted to String" },
    { "GetItem", "{\"TableName\":{}}", "Start of structure or map found where not expected" },
    { "GetItem", "{\"TableName\":[]}", "Unrecognized collection type class java.lang.String" },
    { "GetItem", "{\"ConsistentRead\":\"t\"}", "Unexpected token received from parser" },
    { "GetItem", "{\"ConsistentRead\":1}", "NUMBER_VALUE cannot be converted to Boolean" },
    { "GetItem", "{\"ConsistentRead\":{}}", "Start of structure or map found where not expected" },
    { "GetItem", "{\"ConsistentRead\":[]}",
      "Unrecognized collection type class java.lang.Boolean" },
    { "ListTables", "{\"Limit\":\"1.0\"}", "STRING_VALUE cannot be converted to Integer" },
    { "ListTables", "{\"Limit\":true}", "TRUE_VALUE cannot be converted to Integer" },
    { "ListTables", "{\"Limit\":[]}", "Unrecognized collection type class java.lang.Integer" },
    { "CreateTable", "{\"ProvisionedThroughput\":{\"ReadCapacityUnits\":\"one\"}}",
      "STRING_VALUE cannot be converted to Long" },
    { "CreateTable", "{\"ProvisionedThroughput\":{\"ReadCapacityUnits\":[]}}",
      "Unrecognized collection type class java.lang.Long" },
    { "CreateTable", "{\"ProvisionedThroughput\":1}", "Unexpected field type" },
    { "CreateTable", "{\"ProvisionedThroughput\":[]}",
      "Unrecognized collection type class "
      "com.amazonaws.dynamodb.v20120810.ProvisionedThroughput" },
    { "CreateTable", "{\"KeySchema\":{}}", "Start of structure or map found where not expected" },
    { "CreateTable", "{\"KeySchema\":\"a\"}", "Unexpected field type" },
    { "CreateTable", "{\"KeySchema\":[1]}", "Unexpected value type in payload" },
    { "CreateTable", "{\"KeySchema\":[[]]}",
      "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeySchemaElement" },
    { "GetItem", "{\"AttributesToGet\":1}", "Unexpected field type" },
    { "GetItem", "{\"AttributesToGet\":[1]}", "NUMBER_VALUE cannot be converted to String" },
    { "GetItem", "{\"AttributesToGet\":[[]]}",
      "Unrecognized collection type class java.lang.String" },
    { "GetItem", "{\"ExpressionAttributeNames\":1}", "Unexpected field type" },
    { "GetItem", "{\"ExpressionAttributeNames\":[]}",
      "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>" },
    { "GetItem", "{\"ExpressionAttributeNames\":{\"a\":1}}",
      "NUMBER_VALUE cannot be converted to String" },
    { "GetItem", "{\"Key\":\"a\"}", "Unexpected field type" },
    { "GetItem", "{\"Key\":[]}", "Unrecognized collection type " ITEM_MAP },
    { "PutItem", "{\"Expected\":[]}",
      "Unrecognized collection type java.util.Map<java.lang.String, "
      "com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue>" },
    { "PutItem", "{\"Expected\":{\"a\":1}}", "Unexpected value type in payload" },
    { "PutItem", "{\"Expected\":{\"a\":{\"Value\":1}}}", "Unexpected field type" },
    { "PutItem", "{\"Expected\":{\"a\":{\"Value\":[]}}}",
      "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue" },
    { "GetItem", "1", "Unexpected field type" },
    { "GetItem", "\"a\"", "Unexpected field type" },
    { "GetItem", "[]",
      "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.GetItemInput" },
    /* What is not JSON has no message. */
    { "GetItem", "", "" },
    { "GetItem", "null", "" },
    { "GetItem", "{", "" },
    { "GetItem", "{\"a\"}", "" },
    { "GetItem", "{\"TableName\":\"a\",}", "" },
    { "GetItem", "{\"TableName\":\"a\"}x", "" },
    { "GetItem", "{\"TableName\":\"\\x\"}", "" },
    { "GetItem", "{\"TableName\":tru}", "" },
    { "GetItem", "{\"Unknown\":[1,}", "" },
    { "GetItem", "{\"Key\":{\"a\"}}", "" },
    { "PutItem", "{\"Expected\":{\"a\":{\"Value\":{\"S\":}}}}", "" },
    { "ListTables", "{\"Limit\":01}", "" },
};

static void text_of_another_type_is_a_serialization_exception(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(unreadable); i++) {
        struct error err;
        void *request;
        assert_false(read_text(request_shape(unreadable[i].operation),
                               bytes_from_text(unreadable[i].text), &request, &err));
        assert_int_equal(err.code, ERROR_SERIALIZATION);
        assert_message(unreadable[i].text, err.message, unreadable[i].want);
    }
}

static void null_is_absent_and_unknown_members_are_skipped(void **state)
{
    (void)state;
    struct error err;
    void *out;
    assert_true(read_text(&get_item_shape,
                          BYTES("{\"TableName\":null,\"Key\":null,\"ConsistentRead\":null,"
                                "\"AttributesToGet\":null,\"ExpressionAttributeNames\":null,"
                                "\"Future\":{\"x\":[1,{\"y\":null}]}}"),
                          &out, &err));
    const struct get_item_request *request = out;
    assert_null(request->table_name.data);
    assert_false(request->key.present);
    assert_false(request->consistent_read.present);
    assert_false(request->projection.attributes_to_get.present);
    assert_false(request->projection.expression_attribute_names.present);
}

static void empty_values_are_present(void **state)
{
    (void)state;
    struct error err;
    void *out;
    assert_true(read_text(&get_item_shape,
                          BYTES("{\"TableName\":\"\",\"Key\":{},\"ConsistentRead\":false,"
                                "\"AttributesToGet\":[],\"ExpressionAttributeNames\":{}}"),
                          &out, &err));
    const struct get_item_request *request = out;
    assert_non_null(request->table_name.data);
    assert_true(request->key.present);
    assert_true(request->consistent_read.present);
    assert_true(request->projection.attributes_to_get.present);
    assert_true(request->projection.expression_attribute_names.present);
}

static void a_repeated_member_replaces_the_first(void **state)
{
    (void)state;
    struct error err;
    void *out;
    assert_true(read_text(&get_item_shape,
                          BYTES("{\"AttributesToGet\":[\"a\",\"b\"],\"AttributesToGet\":[\"c\"],"
                                "\"TableName\":\"x\",\"TableName\":null}"),
                          &out, &err));
    const struct get_item_request *request = out;
    assert_int_equal(request->projection.attributes_to_get.count, 1);
    assert_null(request->table_name.data);
}

static void maps_are_sorted_and_the_last_of_equal_names_counts(void **state)
{
    (void)state;
    struct error err;
    void *out;
    assert_true(read_text(&get_item_shape,
                          BYTES("{\"ExpressionAttributeNames\":{\"#c\":\"3\",\"#a\":\"1\","
                                "\"#b\":\"2\",\"#a\":\"4\",\"#aa\":\"5\"}}"),
                          &out, &err));
    const struct shape_map *map =
        &((const struct get_item_request *)out)->projection.expression_attribute_names;
    const struct bytes *values = map->elements;
    static const char *const want[][2] = {
        { "#a", "4" }, { "#aa", "5" }, { "#b", "2" }, { "#c", "3" }
    };
    assert_int_equal(map->count, COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_true(bytes_equal_text(map->names[i], want[i][0]));
        assert_true(bytes_equal_text(values[i], want[i][1]));
    }
}

static const struct {
    const char *text;
    int64_t want;
} numbers[] = {
    { "0", 0 },
    { "-1", -1 },
    { "9223372036854775807", INT64_MAX },
    { "9223372036854775808", INT64_MAX },
    { "-9223372036854775808", INT64_MIN },
    { "-9223372036854775809", INT64_MIN },
    { "1.9", 1 },
    { "-1.9", -1 },
    { "1e2", 100 },
    { "9.3e18", INT64_MAX },
    { "-9.3e18", INT64_MIN },
    { "1e400", INT64_MAX },
    { "-1e400", INT64_MIN },
    { "1e-400", 0 },
};

static void numbers_lose_fractions_and_saturate(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct error err;
        void *out;
        struct bytes text = arena_printf(arena, "{\"WarmThroughput\":{\"ReadUnitsPerSecond\":%s}}",
                                         numbers[i].text);
        assert_true(read_text(&update_table_shape, text, &out, &err));
        const struct update_table_request *request = out;
        assert_true(request->warm_throughput->read_units.present);
        assert_int_equal(request->warm_throughput->read_units.value, numbers[i].want);
    }
}

struct sample {
    struct shape_double value;
    struct shape_integer at;
};
static const struct shape double_shape = { .kind = SHAPE_DOUBLE, SHAPE_UNBOUNDED };
static const struct shape time_shape = { .kind = SHAPE_TIMESTAMP, SHAPE_UNBOUNDED };
static const struct shape_field sample_fields[] = {
    { .name = "Value", .shape = &double_shape, .offset = offsetof(struct sample, value) },
    { .name = "At", .shape = &time_shape, .offset = offsetof(struct sample, at), .required = true },
};
static const struct shape sample_shape = { .kind = SHAPE_STRUCTURE,
                                           .type_name = "Sample",
                                           .fields = sample_fields,
                                           .field_count = COUNT_OF(sample_fields),
                                           .size = sizeof(struct sample),
                                           SHAPE_UNBOUNDED };

static const struct {
    const char *text;
    double want;
} double_texts[] = {
    { "0", 0 },     { "-1.5e3", -1500 },          { "1e400", INFINITY },
    { "0.1", 0.1 }, { "\"Infinity\"", INFINITY }, { "\"-Infinity\"", -INFINITY },
};

static void doubles_are_numbers_or_what_numbers_cannot_express(void **state)
{
    struct error err;
    void *out;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(double_texts); i++) {
        struct bytes text = arena_printf(arena, "{\"Value\":%s}", double_texts[i].text);
        assert_true(read_text(&sample_shape, text, &out, &err));
        const struct sample *sample = out;
        assert_true(sample->value.present && sample->value.value == double_texts[i].want);
        assert_false(sample->at.present);
    }
    assert_true(read_text(&sample_shape, BYTES("{\"Value\":\"NaN\"}"), &out, &err));
    assert_true(isnan(((const struct sample *)out)->value.value));
    assert_true(read_text(&sample_shape, BYTES("{\"Value\":null}"), &out, &err));
    assert_false(((const struct sample *)out)->value.present);
    assert_false(read_text(&sample_shape, BYTES("{\"Value\":\"1\"}"), &out, &err));
    assert_message("text", err.message, "STRING_VALUE cannot be converted to Double");
    assert_false(read_text(&sample_shape, BYTES("{\"Value\":true}"), &out, &err));
    assert_message("boolean", err.message, "TRUE_VALUE cannot be converted to Double");
}

static const struct {
    const char *text;
    int64_t want;
} time_texts[] = {
    { "0", 0 },
    { "1700000000", 1700000000000 },
    { "1700000000.123", 1700000000123 },
    { "1700000000.1234567", 1700000000123 },
    { "1.7E9", 1700000000000 },
    { "-1.5", -1500 },
    { "253402300799.999", SHAPE_TIMESTAMP_MAX_MS },
    { "253402300800", SHAPE_TIMESTAMP_MAX_MS },
    { "1e999", SHAPE_TIMESTAMP_MAX_MS },
    { "-62135596801", SHAPE_TIMESTAMP_MIN_MS },
    { "-1e999", SHAPE_TIMESTAMP_MIN_MS },
};

static void timestamps_are_seconds_within_the_years_of_iso_8601(void **state)
{
    struct error err;
    void *out;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(time_texts); i++) {
        struct bytes text = arena_printf(arena, "{\"At\":%s}", time_texts[i].text);
        assert_true(read_text(&sample_shape, text, &out, &err));
        const struct sample *sample = out;
        assert_true(sample->at.present);
        assert_int_equal(sample->at.value, time_texts[i].want);
        assert_true(shape_validate(arena, &sample_shape, sample, &err));
    }
    assert_false(read_text(&sample_shape, BYTES("{\"At\":\"2026-01-01\"}"), &out, &err));
    assert_message("text", err.message, "STRING_VALUE cannot be converted to Date");
    assert_true(read_text(&sample_shape, BYTES("{\"Value\":1}"), &out, &err));
    assert_false(shape_validate(arena, &sample_shape, out, &err));
    assert_message("absent", err.message,
                   "1 validation error detected: Value null at 'at' failed to satisfy constraint: "
                   "Member must not be null");
}

static struct bytes nested(const char *open, const char *close, unsigned count, const char *inside)
{
    struct buffer text;
    buffer_init(&text, arena);
    for (unsigned i = 0; i < count; i++)
        buffer_append(&text, open, strlen(open));
    buffer_append(&text, inside, strlen(inside));
    for (unsigned i = 0; i < count; i++)
        buffer_append(&text, close, strlen(close));
    return buffer_bytes(&text);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    for (unsigned depth = SHAPE_JSON_DEPTH_MAX - 1; depth <= SHAPE_JSON_DEPTH_MAX + 1; depth++) {
        struct error err;
        void *out;
        struct bytes lists = nested("[", "]", depth - 1, "");
        struct bytes text = arena_printf(arena, "{\"Unknown\":%.*s}", BYTES_FMT(lists));
        assert_int_equal(read_text(&get_item_shape, text, &out, &err),
                         depth <= SHAPE_JSON_DEPTH_MAX);
    }
}

static void an_item_of_the_greatest_depth_can_be_read(void **state)
{
    (void)state;
    struct error err;
    void *out;
    struct bytes value = nested("{\"M\":{\"a\":", "}}", NESTING_DEPTH_MAX - 1, "{\"S\":\"x\"}");
    struct bytes text = arena_printf(arena, "{\"Item\":{\"a\":%.*s}}", BYTES_FMT(value));
    assert_true(read_text(&put_item_shape, text, &out, &err));
    const struct put_item_request *request = out;
    assert_true(request->item.present);
    assert_null(request->item.rule);
}

static void a_broken_rule_of_values_is_kept_for_its_turn(void **state)
{
    (void)state;
    struct error err;
    void *out;
    assert_true(read_text(
        &put_item_shape,
        BYTES("{\"Item\":{\"a\":{\"S\":\"x\",\"N\":\"1\"}},\"TableName\":\"abc\"}"), &out, &err));
    const struct put_item_request *request = out;
    assert_non_null(request->item.rule);
    assert_true(shape_validate(arena, &put_item_shape, request, &err));
}

/* `head`, then `count` times `unit` with commas between, then `tail`. */
static struct bytes repeated(const char *head, const char *unit, size_t count, const char *tail)
{
    struct buffer text;
    buffer_init(&text, arena);
    buffer_append(&text, head, strlen(head));
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_append_byte(&text, ',');
        buffer_append(&text, unit, strlen(unit));
    }
    buffer_append(&text, tail, strlen(tail));
    return buffer_bytes(&text);
}

static void elements_that_break_their_bound_are_counted_and_not_kept(void **state)
{
    static const size_t counts[] = { SHAPE_ELEMENTS_KEPT_MAX - 1, SHAPE_ELEMENTS_KEPT_MAX,
                                     SHAPE_ELEMENTS_KEPT_MAX + 1, 10 * SHAPE_ELEMENTS_KEPT_MAX };
    const struct shape *shape = request_shape("TransactWriteItems");
    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct error err;
        void *out;
        assert_true(
            read_text(shape, repeated("{\"TransactItems\":[", "{}", counts[i], "]}"), &out, &err));
        const struct shape_list *list =
            (const struct shape_list *)(const void *)((char *)out + shape->fields[0].offset);
        assert_int_equal(list->count, counts[i]);
        assert_int_equal(list->kept,
                         counts[i] < SHAPE_ELEMENTS_KEPT_MAX ? counts[i] : SHAPE_ELEMENTS_KEPT_MAX);
        assert_false(shape_validate(arena, shape, out, &err));
        struct bytes tail = BYTES("Member must have length less than or equal to 100");
        assert_true(err.message.len > tail.len);
        assert_true(
            bytes_equal(bytes_of(err.message.data + err.message.len - tail.len, tail.len), tail));
    }
    struct error err;
    void *out;
    assert_false(read_text(
        shape, repeated("{\"TransactItems\":[", "{}", SHAPE_ELEMENTS_KEPT_MAX, ",]}"), &out, &err));
    assert_false(read_text(shape,
                           repeated("{\"TransactItems\":[", "{}", SHAPE_ELEMENTS_KEPT_MAX, ",{]}"),
                           &out, &err));
}

static const struct {
    const char *operation, *head, *unit, *tail;
} small_texts[] = {
    { "GetItem", "{\"AttributesToGet\":[", "\"\"", "]}" },
    { "GetItem", "{\"ExpressionAttributeNames\":{", "\"\":\"\"", "}}" },
    { "PutItem", "{\"Expected\":{", "\"\":{}", "}}" },
    { "ExecuteStatement", "{\"Parameters\":[", "{\"S\":\"\\n\"}", "]}" },
    { "CreateTable", "{\"Tags\":[", "{}", "]}" },
};

/* Where the bound lies is our own affair; that it holds is not. */
static void a_text_that_would_take_too_much_memory_is_refused(void **state)
{
    enum { TEXT_SIZE_MAX = 8 * 1024 * 1024 };
    size_t refused_count = 0;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(small_texts); i++) {
        size_t size = 0;
        for (size_t count = 1000; size < TEXT_SIZE_MAX; count *= 2) {
            struct error err;
            void *out;
            struct bytes text =
                repeated(small_texts[i].head, small_texts[i].unit, count, small_texts[i].tail);
            size = text.len;
            size_t bound = size * SHAPE_MEMORY_FACTOR;
            if (bound < SHAPE_MEMORY_MIN)
                bound = SHAPE_MEMORY_MIN;
            size_t held = arena_held_size(arena);
            if (!read_text(request_shape(small_texts[i].operation), text, &out, &err)) {
                assert_int_equal(err.code, ERROR_REQUEST_TOO_LARGE);
                assert_message(small_texts[i].head, err.message,
                               "The request takes too much memory to be read");
                refused_count++;
            }
            /* The last array to grow may have doubled, and a map's are copied once. */
            assert_in_range(arena_held_size(arena) - held, 0, 3 * bound);
            arena_reset(arena);
        }
    }
    assert_true(refused_count > COUNT_OF(small_texts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_another_type_is_a_serialization_exception),
        cmocka_unit_test(null_is_absent_and_unknown_members_are_skipped),
        cmocka_unit_test(empty_values_are_present),
        cmocka_unit_test(a_repeated_member_replaces_the_first),
        cmocka_unit_test(maps_are_sorted_and_the_last_of_equal_names_counts),
        cmocka_unit_test(numbers_lose_fractions_and_saturate),
        cmocka_unit_test(doubles_are_numbers_or_what_numbers_cannot_express),
        cmocka_unit_test(timestamps_are_seconds_within_the_years_of_iso_8601),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(an_item_of_the_greatest_depth_can_be_read),
        cmocka_unit_test(a_broken_rule_of_values_is_kept_for_its_turn),
        cmocka_unit_test(elements_that_break_their_bound_are_counted_and_not_kept),
        cmocka_unit_test(a_text_that_would_take_too_much_memory_is_refused),
    };
    arena = arena_create();
    int failed_count = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(arena);
    return failed_count;
}
