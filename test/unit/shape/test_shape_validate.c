/* test_shape_validate.c -- the constraints of the service model, in its words and order. */
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api/common_shapes.h"
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

static bool validate_text(const struct shape *shape, const char *text, struct error *err)
{
    void *request = arena_alloc(arena, shape->size);
    error_init(err, arena);
    assert_true(shape_read(arena, bytes_from_text(text), shape, request, err));
    return shape_validate(arena, shape, request, err);
}

static const struct shape *request_shape(const char *operation)
{
    const struct operation *found = operation_find_action(bytes_from_text(operation));
    assert_non_null(found);
    return found->request;
}

static struct bytes repeated(const char *piece, unsigned count, const char *last)
{
    struct buffer text;
    buffer_init(&text, arena);
    for (unsigned i = 0; i < count; i++)
        buffer_append(&text, piece, strlen(piece));
    buffer_append(&text, last, strlen(last));
    return buffer_bytes(&text);
}

#define ONE_ERROR "1 validation error detected: "
#define ERRORS(count) count " validation errors detected: "
#define AND "; "
#define BROKEN(value, path, rule)                                                                  \
    "Value '" value "' at '" path "' failed to satisfy constraint: Member must " rule
#define MISSING(path)                                                                              \
    "Value null at '" path "' failed to satisfy constraint: Member must not be null"
#define LENGTH_MIN(bound) "have length greater than or equal to " bound
#define LENGTH_MAX(bound) "have length less than or equal to " bound
#define VALUE_MIN(bound) "have value greater than or equal to " bound
#define VALUE_MAX(bound) "have value less than or equal to " bound
#define ONE_OF(values) "satisfy enum value set: " values
#define NAME_PATTERN "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
#define NO_TABLE_NAME "The parameter 'TableName' is required but was not present in the request"
#define KEYS "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}]"
#define ATTRIBUTES "\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"}]"

static const struct {
    const char *operation, *text, *want; /* NULL: valid. */
} constraints[] = {
    { "GetItem", "{}", ERRORS("2") MISSING("key") AND MISSING("tableName") },
    { "GetItem", "{\"Key\":{},\"TableName\":\"a\"}", NULL },
    { "GetItem", "{\"Key\":{},\"TableName\":\"\"}",
      ONE_ERROR BROKEN("", "tableName", LENGTH_MIN("1")) },
    { "GetItem", "{\"Key\":{},\"TableName\":\"ab;\"}",
      ONE_ERROR BROKEN("ab;", "tableName", NAME_PATTERN) },
    { "GetItem", "{\"Key\":{},\"TableName\":\"arn:aws:dynamodb:us-east-1:000000000000:table/abc\"}",
      NULL },
    { "GetItem", "{\"Key\":{},\"TableName\":\"arn:aws:dynamodb:us-east-1:000000000000:table/ab\"}",
      ONE_ERROR BROKEN("arn:aws:dynamodb:us-east-1:000000000000:table/ab", "tableName",
                       NAME_PATTERN) },
    { "GetItem", "{\"TableName\":\"ab;\",\"AttributesToGet\":[],\"ReturnConsumedCapacity\":\"x\"}",
      ERRORS("4") MISSING("key") AND BROKEN("ab;", "tableName", NAME_PATTERN)
          AND BROKEN("x", "returnConsumedCapacity", ONE_OF("[INDEXES, TOTAL, NONE]"))
              AND BROKEN("[]", "attributesToGet", LENGTH_MIN("1")) },
    { "GetItem", "{\"Key\":{},\"TableName\":\"abc\",\"AttributesToGet\":[\"a\",null]}",
      ONE_ERROR MISSING("attributesToGet.2.member") },
    { "GetItem", "{\"Key\":{},\"TableName\":\"abc\",\"ExpressionAttributeNames\":{\"#a\":null}}",
      ONE_ERROR MISSING("expressionAttributeNames.#a.member") },
    { "PutItem", "{\"ReturnValues\":\"x\"}", ONE_ERROR MISSING("tableName") },
    { "PutItem", "{\"TableName\":\"a;\",\"ReturnValues\":\"x\"}",
      ONE_ERROR BROKEN("a;", "tableName", NAME_PATTERN) },
    { "PutItem",
      "{\"TableName\":\"abc\",\"ReturnValues\":\"z\",\"ReturnConsumedCapacity\":\"x\","
      "\"ReturnItemCollectionMetrics\":\"y\",\"ConditionalOperator\":\"q\","
      "\"ReturnValuesOnConditionCheckFailure\":\"w\",\"Expected\":{\"a\":{\"ComparisonOperator\":"
      "\"v\"}}}",
      ERRORS("7") MISSING("item")
          AND BROKEN("x", "returnConsumedCapacity", ONE_OF("[INDEXES, TOTAL, NONE]")) AND BROKEN(
              "z", "returnValues", ONE_OF("[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"))
              AND BROKEN("y", "returnItemCollectionMetrics", ONE_OF("[SIZE, NONE]"))
                  AND BROKEN("q", "conditionalOperator", ONE_OF("[OR, AND]")) AND BROKEN(
                      "w", "returnValuesOnConditionCheckFailure", ONE_OF("[ALL_OLD, NONE]"))
                      AND BROKEN("v", "expected.a.member.comparisonOperator",
                                 ONE_OF("[IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, "
                                        "NE, LE, BEGINS_WITH, GE, CONTAINS]")) },
    { "DeleteItem", "{\"ReturnValues\":\"z\"}",
      ERRORS("3") MISSING("tableName") AND MISSING("key") AND BROKEN(
          "z", "returnValues", ONE_OF("[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]")) },
    { "UpdateItem",
      "{\"TableName\":\"abc\",\"ReturnConsumedCapacity\":\"x\",\"ReturnValues\":\"z\"}",
      ONE_ERROR "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, "
                "UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]" },
    { "PutItem", "{\"TableName\":\"\"}",
      ONE_ERROR "Value at 'TableName' failed to satisfy constraint: Member must have length "
                "greater than or equal to 1" },
    { "Query", "{\"TableName\":\"abc\",\"Select\":\"x\",\"ConditionalOperator\":\"XOR\"}",
      "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]" },
    { "Query", "{\"TableName\":\"\",\"Limit\":0}",
      ERRORS("2") BROKEN("", "tableName", LENGTH_MIN("1")) AND
      "Value at 'Limit' failed to satisfy constraint: Member must " VALUE_MIN("1") },
    { "ListTables", "{\"ExclusiveStartTableName\":\";\",\"Limit\":101}",
      ERRORS("3") BROKEN(";", "exclusiveStartTableName", NAME_PATTERN)
          AND BROKEN(";", "exclusiveStartTableName", LENGTH_MIN("3"))
              AND BROKEN("101", "limit", VALUE_MAX("100")) },
    { "ListTables", "{\"Limit\":0}", ONE_ERROR BROKEN("0", "limit", VALUE_MIN("1")) },
    { "ListTables", "{\"Limit\":1}", NULL },
    { "ListTables", "{\"Limit\":100}", NULL },
    { "DescribeTable", "{}", NO_TABLE_NAME },
    { "DescribeTable", "{\"TableName\":\"\"}",
      ERRORS("2") BROKEN("", "tableName", LENGTH_MIN("3"))
          AND BROKEN("", "tableName", NAME_PATTERN) },
    { "DescribeTable", "{\"TableName\":\"ab\"}",
      ONE_ERROR BROKEN("ab", "tableName", LENGTH_MIN("3")) },
    { "DescribeTable", "{\"TableName\":\"ab;\"}",
      ONE_ERROR BROKEN("ab;", "tableName", NAME_PATTERN) },
    { "DescribeTable", "{\"TableName\":\"abc\"}", NULL },
    { "DeleteTable", "{}", NO_TABLE_NAME },
    { "UpdateTable", "{\"BillingMode\":\"x\"}", NO_TABLE_NAME },
    { "UpdateTable", "{\"TableName\":\"ab\",\"BillingMode\":\"x\"}",
      ONE_ERROR BROKEN("ab", "tableName", LENGTH_MIN("3")) },
    { "CreateTable", "{\"BillingMode\":\"x\"}", NO_TABLE_NAME },
    { "CreateTable", "{\"TableName\":\"\"}",
      ERRORS("2") BROKEN("", "tableName", NAME_PATTERN)
          AND BROKEN("", "tableName", LENGTH_MIN("3")) },
    { "CreateTable", "{\"TableName\":\"ab\",\"BillingMode\":\"x\"}",
      ONE_ERROR BROKEN("ab", "tableName", LENGTH_MIN("3")) },
    { "CreateTable", "{\"TableName\":\"abc\"}",
      ERRORS("2") MISSING("keySchema") AND MISSING("attributeDefinitions") },
    { "CreateTable",
      "{\"TableName\":\"abc\",\"BillingMode\":\"x\",\"KeySchema\":[],\"AttributeDefinitions\":[],"
      "\"ProvisionedThroughput\":{\"ReadCapacityUnits\":0,\"WriteCapacityUnits\":-1}}",
      ERRORS("4") BROKEN("x", "billingMode", ONE_OF("[PROVISIONED, PAY_PER_REQUEST]"))
          AND BROKEN("-1", "provisionedThroughput.writeCapacityUnits", VALUE_MIN("1"))
              AND BROKEN("0", "provisionedThroughput.readCapacityUnits", VALUE_MIN("1"))
                  AND BROKEN("[]", "keySchema", LENGTH_MIN("1")) },
    { "CreateTable",
      "{\"TableName\":\"abc\",\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":"
      "\"S\"}],\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},{\"AttributeName\":"
      "\"b\",\"KeyType\":\"RANGE\"},{\"AttributeName\":\"c\"}]}",
      ERRORS("2") BROKEN(
          "[KeySchemaElement(attributeName=a, keyType=HASH), KeySchemaElement(attributeName=b, "
          "keyType=RANGE), KeySchemaElement(attributeName=c, keyType=null)]",
          "keySchema", LENGTH_MAX("2")) AND MISSING("keySchema.3.member.keyType") },
    { "CreateTable",
      "{\"TableName\":\"abc\",\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}],"
      "\"AttributeDefinitions\":[{\"AttributeName\":\"\",\"AttributeType\":\"M\"}]}",
      ERRORS("2") BROKEN("M", "attributeDefinitions.1.member.attributeType", ONE_OF("[B, N, S]"))
          AND BROKEN("", "attributeDefinitions.1.member.attributeName", LENGTH_MIN("1")) },
    { "CreateTable",
      "{\"TableName\":\"abc\",\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}],"
      "\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"}],"
      "\"LocalSecondaryIndexes\":[{\"IndexName\":\"a\",\"KeySchema\":[],\"Projection\":{"
      "\"ProjectionType\":\"x\",\"NonKeyAttributes\":[]}}]}",
      ERRORS("4") BROKEN("a", "localSecondaryIndexes.1.member.indexName", LENGTH_MIN("3"))
          AND BROKEN("[]", "localSecondaryIndexes.1.member.keySchema", LENGTH_MIN("1"))
              AND BROKEN("x", "localSecondaryIndexes.1.member.projection.projectionType",
                         ONE_OF("[ALL, INCLUDE, KEYS_ONLY]"))
                  AND BROKEN("[]", "localSecondaryIndexes.1.member.projection.nonKeyAttributes",
                             LENGTH_MIN("1")) },
    { "CreateTable",
      "{\"TableName\":\"abc\",\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}],"
      "\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"}],"
      "\"GlobalSecondaryIndexes\":[{}]}",
      ERRORS("3") MISSING("globalSecondaryIndexes.1.member.keySchema")
          AND MISSING("globalSecondaryIndexes.1.member.projection")
              AND MISSING("globalSecondaryIndexes.1.member.indexName") },
    { "CreateTable",
      "{\"TableName\":\"abc\",\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}],"
      "\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"}],"
      "\"StreamSpecification\":{\"StreamViewType\":\"y\"},\"SSESpecification\":{\"SSEType\":"
      "\"z\"}}",
      ERRORS("3") MISSING("streamSpecification.streamEnabled")
          AND BROKEN("y", "streamSpecification.streamViewType",
                     ONE_OF("[OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"))
              AND BROKEN("z", "sSESpecification.sSEType", ONE_OF("[AES256, KMS]")) },
    { "UpdateTable", "{\"TableName\":\"abc\",\"BillingMode\":\"x\",\"ProvisionedThroughput\":{}}",
      ERRORS("3") MISSING("provisionedThroughput.writeCapacityUnits")
          AND MISSING("provisionedThroughput.readCapacityUnits")
              AND BROKEN("x", "billingMode", ONE_OF("[PROVISIONED, PAY_PER_REQUEST]")) },
    { "UpdateTable",
      "{\"TableName\":\"abc\",\"GlobalSecondaryIndexUpdates\":[{\"Update\":{\"IndexName\":\"a\"}}]"
      "}",
      ONE_ERROR BROKEN("a", "globalSecondaryIndexUpdates.1.member.update.indexName",
                       LENGTH_MIN("3")) },
};

static void broken_constraints_are_collected_in_the_service_s_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(constraints); i++) {
        struct error err;
        bool valid =
            validate_text(request_shape(constraints[i].operation), constraints[i].text, &err);
        if (valid != (constraints[i].want == NULL))
            fail_msg("%s: %.*s", constraints[i].text, BYTES_FMT(err.message));
        if (valid)
            continue;
        assert_int_equal(err.code, ERROR_VALIDATION);
        assert_message(constraints[i].text, err.message, constraints[i].want);
    }
}

static const struct {
    const char *operation, *before, *after;
    unsigned limit;
} lengths[] = {
    { "GetItem", "{\"Key\":{},\"TableName\":\"", "\"}", TABLE_NAME_SIZE_MAX },
    { "DescribeTable", "{\"TableName\":\"", "\"}", TABLE_NAME_SIZE_MAX },
    { "CreateTable", "{" KEYS "," ATTRIBUTES ",\"TableName\":\"", "\"}", TABLE_NAME_SIZE_MAX },
    { "ListTables", "{\"ExclusiveStartTableName\":\"", "\"}", TABLE_NAME_SIZE_MAX },
    { "CreateTable",
      "{\"TableName\":\"abc\"," ATTRIBUTES
      ",\"KeySchema\":[{\"KeyType\":\"HASH\",\"AttributeName\":\"",
      "\"}]}", KEY_ATTRIBUTE_NAME_SIZE_MAX },
    { "GetItem", "{\"Key\":{},\"TableName\":\"abc\",\"AttributesToGet\":[\"", "\"]}",
      ATTRIBUTE_NAME_SIZE_MAX },
    { "TagResource", "{\"ResourceArn\":\"", "\"}", 1283 },
};

static void lengths_are_checked_at_below_and_above_their_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        for (unsigned length = lengths[i].limit - 1; length <= lengths[i].limit + 1; length++) {
            struct bytes filler = repeated("a", length, "");
            struct bytes text = arena_printf(arena, "%s%.*s%s", lengths[i].before,
                                             BYTES_FMT(filler), lengths[i].after);
            struct error err;
            bool valid =
                validate_text(request_shape(lengths[i].operation), (const char *)text.data, &err);
            if (valid != (length <= lengths[i].limit))
                fail_msg("%s: length %u", lengths[i].before, length);
        }
    }
}

static void lengths_count_utf16_units(void **state)
{
    (void)state;
    /* U+1F600 is two units; 127 of them and a letter are 255, and one letter more is too long. */
    struct bytes faces = repeated("\xF0\x9F\x98\x80", KEY_ATTRIBUTE_NAME_SIZE_MAX / 2, "a");
    for (unsigned more = 0; more <= 1; more++) {
        struct bytes text = arena_printf(arena,
                                         "{\"TableName\":\"abc\",\"TimeToLiveSpecification\":{"
                                         "\"Enabled\":true,\"AttributeName\":\"%.*s%s\"}}",
                                         BYTES_FMT(faces), more == 0 ? "" : "a");
        struct error err;
        assert_int_equal(
            validate_text(request_shape("UpdateTimeToLive"), (const char *)text.data, &err),
            more == 0);
    }
}

static void counts_are_checked_at_below_and_above_their_limit(void **state)
{
    (void)state;
    for (unsigned count = 19; count <= 21; count++) {
        struct bytes names = repeated("\"a\",", count - 1, "\"a\"");
        struct bytes text = arena_printf(
            arena,
            "{\"TableName\":\"abc\"," KEYS "," ATTRIBUTES ",\"LocalSecondaryIndexes\":[{"
            "\"IndexName\":\"abc\"," KEYS ",\"Projection\":{\"NonKeyAttributes\":[%.*s]}}]}",
            BYTES_FMT(names));
        struct error err;
        assert_int_equal(validate_text(&create_table_shape, (const char *)text.data, &err),
                         count <= 20);
    }
}

static void no_more_than_ten_errors_are_reported(void **state)
{
    (void)state;
    for (unsigned count = 9; count <= 11; count++) {
        struct bytes elements = repeated("null,", count - 1, "null");
        struct bytes text =
            arena_printf(arena, "{\"Key\":{},\"TableName\":\"abc\",\"AttributesToGet\":[%.*s]}",
                         BYTES_FMT(elements));
        struct error err;
        assert_false(validate_text(&get_item_shape, (const char *)text.data, &err));
        char want[64];
        snprintf(want, sizeof(want), "%u validation errors detected: ",
                 count < SHAPE_ERRORS_MAX ? count : SHAPE_ERRORS_MAX);
        assert_true(bytes_starts_with(err.message, bytes_from_text(want)));
        char last[64];
        snprintf(last, sizeof(last), "attributesToGet.%u.member", SHAPE_ERRORS_MAX + 1);
        assert_null(memmem(err.message.data, err.message.len, last, strlen(last)));
    }
}

static void values_in_messages_are_cut_behind_a_whole_character(void **state)
{
    (void)state;
    /* Three bytes each: the limit is inside a character. */
    static_assert(SHAPE_RENDERED_MAX % 3 != 0, "the cut must fall inside a character");
    struct bytes name = repeated("\xE2\x82\xAC", SHAPE_RENDERED_MAX / 3 + 2, "");
    struct bytes text = arena_printf(arena, "{\"Key\":{},\"TableName\":\"%.*s\"}", BYTES_FMT(name));
    struct error err;
    assert_false(validate_text(&get_item_shape, (const char *)text.data, &err));
    const char prefix[] = "2 validation errors detected: Value '";
    const uint8_t *quote =
        memchr(err.message.data + sizeof(prefix) - 1, '\'', err.message.len - sizeof(prefix) + 1);
    size_t shown = (size_t)(quote - err.message.data) - (sizeof(prefix) - 1);
    assert_int_equal(shown, SHAPE_RENDERED_MAX / 3 * 3);
}

static void a_nul_in_a_value_is_kept_in_the_message(void **state)
{
    (void)state;
    struct error err;
    assert_false(validate_text(&get_item_shape, "{\"Key\":{},\"TableName\":\"a\\u0000b\"}", &err));
    const uint8_t want[] = "Value 'a\0b' at 'tableName'";
    assert_non_null(memmem(err.message.data, err.message.len, want, sizeof(want) - 1));
}

static void maps_and_scalars_are_rendered_as_java_prints_them(void **state)
{
    (void)state;
    struct thing {
        struct shape_map map;
    };
    struct inner {
        struct shape_boolean flag;
        struct shape_integer number;
    };
    static const struct shape_field inner_fields[] = {
        { SHAPE_FIELD(struct inner, flag, "Flag", &common_boolean) },
        { SHAPE_FIELD(struct inner, number, "Number", &common_long) },
    };
    static const struct shape inner_shape = { SHAPE_STRUCTURE_OF(struct inner, inner_fields),
                                              .type_name = "Inner" };
    static const struct shape map_shape = {
        .kind = SHAPE_MAP, .element = &inner_shape, .min = 3, .max = 3
    };
    static const struct shape_field fields[] = { { SHAPE_FIELD(struct thing, map, "Map",
                                                               &map_shape) } };
    static const struct shape shape = { SHAPE_STRUCTURE_OF(struct thing, fields),
                                        .type_name = "Thing" };
    struct error err;
    assert_false(validate_text(
        &shape, "{\"Map\":{\"b\":{\"Flag\":true,\"Number\":-7},\"a\":{\"Flag\":false}}}", &err));
    assert_message(
        "map", err.message,
        ONE_ERROR BROKEN("{a=Inner(flag=false, number=null), b=Inner(flag=true, number=-7)}", "map",
                         LENGTH_MIN("3")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_constraints_are_collected_in_the_service_s_order),
        cmocka_unit_test(lengths_are_checked_at_below_and_above_their_limit),
        cmocka_unit_test(lengths_count_utf16_units),
        cmocka_unit_test(counts_are_checked_at_below_and_above_their_limit),
        cmocka_unit_test(no_more_than_ten_errors_are_reported),
        cmocka_unit_test(values_in_messages_are_cut_behind_a_whole_character),
        cmocka_unit_test(a_nul_in_a_value_is_kept_in_the_message),
        cmocka_unit_test(maps_and_scalars_are_rendered_as_java_prints_them),
    };
    arena = arena_create();
    int failed_count = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(arena);
    return failed_count;
}
