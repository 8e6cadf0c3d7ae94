/* test_error.c -- exceptions' wire names, and messages of any content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "model/error.h"

static const struct {
    enum error_code code;
    const char *type;
    int status;
    const char *message_field;
} kinds[] = {
    { ERROR_VALIDATION, "com.amazon.coral.validate#ValidationException", 400, "message" },
    { ERROR_SERIALIZATION, "com.amazon.coral.service#SerializationException", 400, "Message" },
    { ERROR_UNKNOWN_OPERATION, "com.amazon.coral.service#UnknownOperationException", 400,
      "message" },
    { ERROR_RESOURCE_NOT_FOUND, "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", 400,
      "message" },
    { ERROR_CONDITIONAL_CHECK_FAILED,
      "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", 400, "message" },
    { ERROR_TRANSACTION_CANCELED, "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
      400, "Message" },
    { ERROR_INTERNAL, "com.amazonaws.dynamodb.v20120810#InternalServerError", 500, "message" },
    { ERROR_SERVICE_UNAVAILABLE, "com.amazon.coral.service#ServiceUnavailableException", 503,
      "message" },
};

static void kinds_have_the_names_of_the_service(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct error_kind *kind = error_kind(kinds[i].code);
        assert_string_equal(kind->type, kinds[i].type);
        assert_int_equal(kind->http_status, kinds[i].status);
        assert_string_equal(kind->message_field, kinds[i].message_field);
    }
}

static void every_code_has_a_status_and_a_type(void **state)
{
    (void)state;
    for (int code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++) {
        const struct error_kind *kind = error_kind((enum error_code)code);
        /* Those of Application Auto Scaling, CloudFormation, SSM and S3 have no namespace. */
        if (code < ERROR_SCALING_VALIDATION || code > ERROR_S3_NOT_IMPLEMENTED) {
            assert_non_null(strchr(kind->type, '#'));
            assert_int_equal(strncmp(kind->type, "com.amazon", strlen("com.amazon")), 0);
        }
        assert_in_range(kind->http_status, 400, 503);
        assert_true(kind->http_status < 500 || kind->retryable || code == ERROR_S3_NOT_IMPLEMENTED);
    }
}

static void setting_formats_into_the_arena_and_fails(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err;
    error_init(&err, arena);
    assert_false(error_is_set(&err));
    assert_int_equal(err.message.len, 0);
    assert_false(error_validation(&err, "Key: %s, %d", "pk", 7));
    assert_true(error_is_set(&err));
    assert_int_equal(err.code, ERROR_VALIDATION);
    assert_true(bytes_equal_text(err.message, "Key: pk, 7"));
    assert_false(error_set(&err, ERROR_RESOURCE_IN_USE, "Table already exists: %s", "t"));
    assert_int_equal(err.code, ERROR_RESOURCE_IN_USE);
    assert_true(bytes_equal_text(err.message, "Table already exists: t"));
    arena_destroy(arena);
}

static void a_message_may_be_longer_than_any_buffer_and_contain_nul(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err;
    error_init(&err, arena);
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(error_validation(&err, "%s", text));
    assert_true(bytes_equal_text(err.message, text));
    assert_false(error_set_bytes(&err, ERROR_SERIALIZATION, BYTES("a\0b")));
    assert_true(bytes_equal(err.message, BYTES("a\0b")));
    arena_destroy(arena);
}

static void a_fault_has_the_envelope_in_one_family_only(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err;
    error_init(&err, arena);
    assert_false(error_fault(&err, "x%d", 1));
    assert_true(bytes_equal_text(err.message, "x1"));
    err.family = ERROR_FAMILY_ENVELOPED;
    error_clear(&err);
    assert_false(error_is_set(&err));
    assert_false(error_fault_bytes(&err, BYTES("a\0b")));
    assert_true(bytes_equal(err.message, BYTES(ERROR_ENVELOPE "a\0b")));
    assert_int_equal(err.code, ERROR_VALIDATION);
    err.family = ERROR_FAMILY_NEWER;
    assert_false(error_fault(&err, "x"));
    assert_true(bytes_equal_text(err.message, "x"));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_the_names_of_the_service),
        cmocka_unit_test(every_code_has_a_status_and_a_type),
        cmocka_unit_test(setting_formats_into_the_arena_and_fails),
        cmocka_unit_test(a_message_may_be_longer_than_any_buffer_and_contain_nul),
        cmocka_unit_test(a_fault_has_the_envelope_in_one_family_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
