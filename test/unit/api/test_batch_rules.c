/* test_batch_rules.c -- what BatchGetItem and BatchWriteItem refuse, in which words and order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_fixture.h"
#include "base/crc32c.h"
#include "batch_fixture.h"
#include "base/compiler.h"

static struct api_fixture db;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    batch_fixture_create_tables(&db);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

/* --- Bodies --- */

#define ONE_ERROR "1 validation error detected: "
#define BROKEN(value, path, constraint)                                                            \
    "Value " value " at '" path "' failed to satisfy constraint: " constraint
#define NOT_NULL "Member must not be null"
#define DUPLICATES "Provided list of item keys contains duplicates"
#define MISMATCH "The provided key element does not match the schema"
#define NOT_A_NUMBER "The parameter cannot be converted to a numeric value: abc"
#define NEITHER_NOR_BOTH                                                                           \
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "    \
    "supported datatypes"
#define EMPTY_KEY                                                                                  \
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "   \
    "contain an empty string value. Key: pk"
#define MAP_VALUE                                                                                  \
    "Map value must satisfy constraint: [Member must have length less than or equal to 25, "       \
    "Member must have length greater than or equal to 1]"
#define BAD_NAME                                                                                   \
    ONE_ERROR BROKEN("'a?'", "tableName",                                                          \
                     "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
#define PARAMETERIZED                                                                              \
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "  \
    "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and "           \
    "java.lang.Class are in module java.base of loader 'bootstrap')"

struct refusal {
    const char *body;
    enum error_code code;
    const char *message;
};

static void expect_refusals(const char *operation, const struct refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        api_fixture_expect_error(&db, operation, cases[i].body, cases[i].code, cases[i].message);
}

static void a_read_is_refused_in_the_services_words(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        { "{}", ERROR_VALIDATION, ONE_ERROR BROKEN("null", "requestItems", NOT_NULL) },
        { "{'RequestItems':{}}", ERROR_VALIDATION,
          ONE_ERROR "Value at 'RequestItems' failed to satisfy constraint: Member must have length "
                    "greater than or equal to 1" },
        { "{'RequestItems':{'plain':null}}", ERROR_VALIDATION,
          ONE_ERROR BROKEN("null", "requestItems.plain.member", NOT_NULL) },
        { "{'RequestItems':{'plain':{}}}", ERROR_VALIDATION,
          ONE_ERROR BROKEN("null", "requestItems.plain.member.keys", NOT_NULL) },
        { GET_PLAIN("null]"), ERROR_VALIDATION,
          ONE_ERROR BROKEN("null", "requestItems.plain.member.keys.1.member", NOT_NULL) },
        { GET_PLAIN("]"), ERROR_VALIDATION,
          ONE_ERROR "Value at 'requestItems.plain.member.keys' failed to satisfy constraint: "
                    "Member must have length greater than or equal to 1" },
        { "{'ReturnConsumedCapacity':'x','RequestItems':{'plain':{'Keys':[" KEY("a") "]}}}",
          ERROR_VALIDATION,
          ONE_ERROR BROKEN("'x'", "returnConsumedCapacity",
                           "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]") },
        { "{'RequestItems':{'a?':{'Keys':[" KEY("a") "]}}}", ERROR_VALIDATION, BAD_NAME },
        { "{'RequestItems':{'':{'Keys':[" KEY("a") "]}}}", ERROR_VALIDATION,
          ONE_ERROR BROKEN("''", "tableName",
                           "Member must have length greater than or equal to 1") },
        { "{'RequestItems':{'a':{'Keys':[" KEY("a") "]}}}", ERROR_RESOURCE_NOT_FOUND,
          "Requested resource not found" },
        { GET_PLAIN(KEY("a") "," KEY("a") "]"), ERROR_VALIDATION, DUPLICATES },
        { "{'RequestItems':{'plain':{'Keys':[" KEY("a") "]},'" PLAIN_ARN
                                                        "':{'Keys':[" KEY("a") "]}}}",
          ERROR_VALIDATION, DUPLICATES },
        { "{'RequestItems':{'sorted':{'Keys':[" SORTED_KEY("a", "1") "," SORTED_KEY("a",
                                                                                    "1.0") "]}}}",
          ERROR_VALIDATION, DUPLICATES },
        { GET_PLAIN("{'zz':{'S':'a'}}]"), ERROR_VALIDATION, MISMATCH },
        { GET_PLAIN("{'pk':{'N':'1'}}]"), ERROR_VALIDATION, MISMATCH },
        { GET_PLAIN("{'pk':{'S':'a'},'x':{'S':'a'}}]"), ERROR_VALIDATION, MISMATCH },
        { GET_PLAIN("{}]"), ERROR_VALIDATION, MISMATCH },
        { GET_PLAIN(KEY("") "]"), ERROR_VALIDATION, EMPTY_KEY },
        { GET_PLAIN("{'pk':{'SS':[]}}]"), ERROR_VALIDATION,
          "One or more parameter values were invalid: An string set  may not be empty" },
        { GET_PLAIN(KEY("a") "],'AttributesToGet':[]"), ERROR_VALIDATION,
          ONE_ERROR BROKEN("'[]'", "requestItems.plain.member.attributesToGet",
                           "Member must have length greater than or equal to 1") },
        { GET_PLAIN(KEY("a") "],'AttributesToGet':['a','a']"), ERROR_VALIDATION,
          "One or more parameter values were invalid: Duplicate value in attribute name: a" },
        { GET_PLAIN(KEY("a") "],'AttributesToGet':['a'],'ProjectionExpression':'a'"),
          ERROR_VALIDATION,
          "Can not use both expression and non-expression parameters in the same request: "
          "Non-expression parameters: {AttributesToGet} Expression parameters: "
          "{ProjectionExpression}" },
        { "{'RequestItems':{'plain':{'Keys':[" KEY(
              "a") "],'AttributesToGet':['a']},'sorted':{'"
                   "Keys':[" SORTED_KEY("a", "1") "],'ProjectionExpression':'a'}}}",
          ERROR_VALIDATION,
          "Can not use both expression and non-expression parameters in the same request: "
          "Non-expression parameters: {AttributesToGet} Expression parameters: "
          "{ProjectionExpression}" },
        { GET_PLAIN(KEY("a") "],'ExpressionAttributeNames':{'#a':'b'}"), ERROR_VALIDATION,
          "ExpressionAttributeNames can only be specified when using expressions" },
        { GET_PLAIN(KEY("a") "],'ProjectionExpression':'a','ExpressionAttributeNames':{'#a':'b'}"),
          ERROR_VALIDATION,
          "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}" },
        { GET_PLAIN(KEY("a") "],'ProjectionExpression':''"), ERROR_VALIDATION,
          "Invalid ProjectionExpression: The expression can not be empty;" },
    };
    expect_refusals("BatchGetItem", cases, COUNT_OF(cases));
}

/* Each request breaks two rules. */
static void a_reads_rules_are_judged_in_order(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        { "{'RequestItems':{'a?':{'Keys':[]}}}", ERROR_VALIDATION,
          ONE_ERROR "Value at 'requestItems.a?.member.keys' failed to satisfy constraint: Member "
                    "must have length greater than or equal to 1" },
        { "{'RequestItems':{'a?':{'Keys':[" KEY("a") "," KEY("a") "]}}}", ERROR_VALIDATION,
          BAD_NAME },
        { "{'RequestItems':{'none':{'Keys':[{'pk':{'N':'abc'}}]}}}", ERROR_VALIDATION,
          NOT_A_NUMBER },
        { GET_PLAIN("{'pk':{'N':'abc'}}],'ProjectionExpression':'a,,'"), ERROR_VALIDATION,
          NOT_A_NUMBER },
        { GET_PLAIN(KEY("a") "," KEY("a") "],'ExpressionAttributeNames':{'#a':'b'}"),
          ERROR_VALIDATION,
          "ExpressionAttributeNames can only be specified when using expressions" },
        { GET_PLAIN(KEY("a") "," KEY("a") "],'ProjectionExpression':'a,,'"), ERROR_VALIDATION,
          DUPLICATES },
        { "{'RequestItems':{'none':{'Keys':[" KEY("a") "," KEY("a") "]}}}", ERROR_VALIDATION,
          DUPLICATES },
        { GET_PLAIN("{'zz':{'S':'a'}},{'zz':{'S':'a'}}]"), ERROR_VALIDATION, DUPLICATES },
        { "{'RequestItems':{'none':{'Keys':[" KEY("a") "],'ProjectionExpression':'a,,'}}}",
          ERROR_VALIDATION,
          "Invalid ProjectionExpression: Syntax error; token: \",\", near: \",,\"" },
        { "{'RequestItems':{'none':{'Keys':[{'zz':{'S':'a'}}]}}}", ERROR_RESOURCE_NOT_FOUND,
          "Requested resource not found" },
        { "{'RequestItems':{'plain':{'Keys':[" KEY("a") "]},'zone':{'Keys':[" KEY("a") "]}}}",
          ERROR_RESOURCE_NOT_FOUND, "Requested resource not found" },
    };
    expect_refusals("BatchGetItem", cases, COUNT_OF(cases));
}

static void a_write_is_refused_in_the_services_words(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        { "{}", ERROR_VALIDATION, "The requestItems parameter is required for BatchWriteItem" },
        { "{'RequestItems':{}}", ERROR_VALIDATION,
          "The requestItems parameter is required for BatchWriteItem" },
        { "{'RequestItems':{'plain':null}}", ERROR_VALIDATION,
          ONE_ERROR BROKEN("null", "requestItems.plain.member", NOT_NULL) },
        { WRITE_PLAIN(""), ERROR_VALIDATION,
          ONE_ERROR BROKEN("'{plain=[]}'", "requestItems", MAP_VALUE) },
        { WRITE_PLAIN("null"), ERROR_VALIDATION,
          ONE_ERROR BROKEN("null", "requestItems.plain.member.1.member", NOT_NULL) },
        { WRITE_PLAIN("{'PutRequest':{}}"), ERROR_VALIDATION,
          ONE_ERROR BROKEN("null", "requestItems.plain.member.1.member.putRequest.item",
                           NOT_NULL) },
        { WRITE_PLAIN("{'DeleteRequest':{}}"), ERROR_VALIDATION,
          ONE_ERROR BROKEN("null", "requestItems.plain.member.1.member.deleteRequest.key",
                           NOT_NULL) },
        { "{'ReturnConsumedCapacity':'x','ReturnItemCollectionMetrics':'y','RequestItems':"
          "{'plain':[" PUT(KEY("a")) "]}}",
          ERROR_VALIDATION,
          "2 validation errors detected: " BROKEN("'x'", "returnConsumedCapacity",
                                                  "Member must satisfy enum value set: [INDEXES, "
                                                  "TOTAL, NONE]") "; " BROKEN("'y'",
                                                                              "returnItemCollection"
                                                                              "Metrics",
                                                                              "Member must satisfy "
                                                                              "enum value set: "
                                                                              "[SIZE, NONE]") },
        { "{'RequestItems':{'a?':[" PUT(KEY("a")) "]}}", ERROR_VALIDATION, BAD_NAME },
        { WRITE_PLAIN("{}"), ERROR_VALIDATION, NEITHER_NOR_BOTH },
        { WRITE_PLAIN("{'PutRequest':null}"), ERROR_VALIDATION, NEITHER_NOR_BOTH },
        { WRITE_PLAIN("{'PutRequest':{'Item':" KEY("a") "},'DeleteRequest':{'Key':" KEY("a") "}}"),
          ERROR_VALIDATION, NEITHER_NOR_BOTH },
        { WRITE_PLAIN(PUT(KEY("a")) "," PUT(KEY("a"))), ERROR_VALIDATION, DUPLICATES },
        { WRITE_PLAIN(PUT("{'pk':{'S':'a'},'x':{'N':'1'}}") "," DELETE(KEY("a"))), ERROR_VALIDATION,
          DUPLICATES },
        { "{'RequestItems':{'sorted':[" PUT(SORTED_KEY("a", "1")) "," DELETE(
              SORTED_KEY("a", "1.0")) "]}}",
          ERROR_VALIDATION, DUPLICATES },
        { "{'RequestItems':{'plain':[" PUT(KEY("a")) "],'" PLAIN_ARN "':[" PUT(KEY("a")) "]}}",
          ERROR_VALIDATION, DUPLICATES },
        { "{'RequestItems':{'none':[" PUT(KEY("a")) "]}}", ERROR_RESOURCE_NOT_FOUND,
          "Requested resource not found" },
        { WRITE_PLAIN(PUT("{'x':{'S':'a'}}")), ERROR_VALIDATION, MISMATCH },
        { WRITE_PLAIN(PUT("{'pk':{'N':'1'}}")), ERROR_VALIDATION, MISMATCH },
        { WRITE_PLAIN(PUT(KEY(""))), ERROR_VALIDATION, EMPTY_KEY },
        { WRITE_PLAIN(DELETE("{'x':{'S':'a'}}")), ERROR_VALIDATION, MISMATCH },
        { WRITE_PLAIN(DELETE("{'pk':{'S':'a'},'x':{'S':'a'}}")), ERROR_VALIDATION, MISMATCH },
        { WRITE_PLAIN(DELETE(KEY(""))), ERROR_VALIDATION, EMPTY_KEY },
        { WRITE_PLAIN(PUT("{'pk':{'S':'a'},'x':{'SS':[]}}")), ERROR_VALIDATION,
          "One or more parameter values were invalid: An string set  may not be empty" },
        { WRITE_PLAIN(PUT("{'pk':{'S':'a'},'x':{'N':'abc'}}")), ERROR_VALIDATION, NOT_A_NUMBER },
        { WRITE_PLAIN(DELETE("{'pk':{'N':'abc'}}")), ERROR_VALIDATION, NOT_A_NUMBER },
    };
    expect_refusals("BatchWriteItem", cases, COUNT_OF(cases));
}

static void a_writes_rules_are_judged_in_order(void **state)
{
    (void)state;
    static const struct refusal cases[] = {
        { "{'RequestItems':{'a?':[{}]}}", ERROR_VALIDATION, BAD_NAME },
        { WRITE_PLAIN("{}," PUT("{'pk':{'N':'abc'}}")), ERROR_VALIDATION, NEITHER_NOR_BOTH },
        { WRITE_PLAIN(PUT("{'pk':{'N':'abc'}}") ",{}"), ERROR_VALIDATION, NOT_A_NUMBER },
        { WRITE_PLAIN(PUT(KEY("a")) "," PUT("{'pk':{'S':'a'},'x':{'N':'abc'}}")), ERROR_VALIDATION,
          NOT_A_NUMBER },
        { "{'RequestItems':{'none':[{}]}}", ERROR_VALIDATION, NEITHER_NOR_BOTH },
        { "{'RequestItems':{'none':[" PUT(KEY("a")) "," PUT(KEY("a")) "]}}",
          ERROR_RESOURCE_NOT_FOUND, "Requested resource not found" },
        { WRITE_PLAIN(PUT(KEY("a")) "," PUT(KEY("a")) "," PUT("{'pk':{'N':'1'}}")),
          ERROR_VALIDATION, DUPLICATES },
        { WRITE_PLAIN(PUT(KEY("")) "," PUT(KEY("a")) "," PUT(KEY("a"))), ERROR_VALIDATION,
          EMPTY_KEY },
        { "{'RequestItems':{'sorted':[" PUT("{'r':{'S':'1'}}") "]}}", ERROR_VALIDATION, MISMATCH },
        { "{'RequestItems':{'sorted':[" PUT("{'h':{'N':'1'}}") "]}}", ERROR_VALIDATION, MISMATCH },
        { "{'RequestItems':{'plain':[" PUT("{'x':{'S':'a'}}") "],'zone':[" PUT(KEY("a")) "]}}",
          ERROR_VALIDATION, MISMATCH },
    };
    expect_refusals("BatchWriteItem", cases, COUNT_OF(cases));
}

static void what_cannot_be_read_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *operation;
        struct refusal refusal;
    } cases[] = {
        { "BatchGetItem",
          { "{'RequestItems':'x'}", ERROR_SERIALIZATION, "Unexpected field type" } },
        { "BatchGetItem",
          { "{'RequestItems':[]}", ERROR_SERIALIZATION,
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.KeysAndAttributes>" } },
        { "BatchGetItem",
          { "{'RequestItems':{'t':[]}}", ERROR_SERIALIZATION,
            "Unrecognized collection type class "
            "com.amazonaws.dynamodb.v20120810.KeysAndAttributes" } },
        { "BatchGetItem",
          { "{'RequestItems':{'t':{'Keys':['x']}}}", ERROR_SERIALIZATION, PARAMETERIZED } },
        { "BatchGetItem",
          { "{'RequestItems':{'t':{'Keys':[[]]}}}", ERROR_SERIALIZATION, PARAMETERIZED } },
        { "BatchGetItem", { "{'RequestItems':{'t':{'Keys':[x]}}}", ERROR_SERIALIZATION, "" } },
        { "BatchWriteItem",
          { "{'RequestItems':[]}", ERROR_SERIALIZATION,
            "Unrecognized collection type java.util.Map<java.lang.String, "
            "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>" } },
        { "BatchWriteItem", { "{'RequestItems':{'t':1}}", ERROR_SERIALIZATION, PARAMETERIZED } },
        { "BatchWriteItem", { "{'RequestItems':{'t':{}}}", ERROR_SERIALIZATION, PARAMETERIZED } },
        { "BatchWriteItem",
          { "{'RequestItems':{'t':['x']}}", ERROR_SERIALIZATION,
            "Unexpected value type in payload" } },
        { "BatchWriteItem",
          { "{'RequestItems':{'t':[[]]}}", ERROR_SERIALIZATION,
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.WriteRequest" } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_refusals(cases[i].operation, &cases[i].refusal, 1);
}

/* BatchGetItem compares keys by CRC-32C first, which is the same for these two. */
static void keys_with_the_same_checksum_may_differ(void **state)
{
    (void)state;
    assert_int_equal(crc32c(BYTES("01657839")), crc32c(BYTES("02526403")));
    api_fixture_expect(&db, "BatchGetItem", GET_PLAIN(KEY("01657839") "," KEY("02526403") "]"),
                       "{'Responses':{'plain':[]},'UnprocessedKeys':{}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_read_is_refused_in_the_services_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reads_rules_are_judged_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_write_is_refused_in_the_services_words, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_writes_rules_are_judged_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_with_the_same_checksum_may_differ, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
