/* test_exception.c -- the table of services, and exceptions in the words of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "codec/xml.h"
#include "json/reader.h"
#include "wire/exception.h"
#include "wire/service.h"

/* --- Services --- */

static void names_of_types_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 0; i < service_count(); i++) {
        const struct codec_names *names = service_at(i)->names;
        for (size_t n = 1; n < names->count; n++)
            assert_true(strcmp(names->members[n - 1].name, names->members[n].name) < 0);
        for (size_t n = 0; n < names->count; n++)
            assert_int_equal(codec_names_find(names, bytes_from_text(names->members[n].name)),
                             names->members[n].type);
    }
}

static void every_service_is_found_by_what_its_requests_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < service_count(); i++) {
        const struct service *service = service_at(i);
        assert_true(service->target_prefix != NULL || service->query_version != NULL ||
                    service->operations == OPERATION_OF_S3); /* By its signature: s3.c. */
        assert_int_equal(service->target_prefix == NULL, service->json_type == NULL);
        assert_int_equal(service->query_version == NULL, service->query_namespace == NULL);
        assert_int_equal(service->query_version == NULL, service->unknown_action_code == NULL);
        if (service->target_prefix != NULL)
            assert_ptr_equal(service_find_target(bytes_from_text(service->target_prefix)), service);
        if (service->query_version != NULL)
            assert_ptr_equal(service_find_version(bytes_from_text(service->query_version)),
                             service);
    }
    /* Every operation has a service that serves it. */
    for (enum operation_service i = 0; i < OPERATION_SERVICE_COUNT; i++)
        assert_int_equal(service_of(i)->operations, i);
    assert_null(service_find_target(BYTES("DynamoDB")));
    assert_null(service_find_version(BYTES("")));
}

/* --- Exceptions --- */

static const struct {
    enum operation_service service;
    enum error_code code;
    const char *json, *query_code;
    int status, query_status;
} exceptions[] = {
    { OPERATION_OF_CLOUDWATCH, ERROR_CW_INVALID_PARAMETER_VALUE,
      "{\"__type\":\"com.amazon.coral.service#InvalidParameterValueException\",\"message\":\"m\"}",
      "InvalidParameterValue", 400, 400 },
    { OPERATION_OF_CLOUDWATCH, ERROR_CW_MISSING_PARAMETER,
      "{\"__type\":\"com.amazon.coral.service#MissingRequiredParameterException\","
      "\"message\":\"m\"}",
      "MissingParameter", 400, 400 },
    { OPERATION_OF_CLOUDWATCH, ERROR_CW_INVALID_NEXT_TOKEN,
      "{\"__type\":\"com.amazon.coral.service#InvalidNextToken\",\"message\":\"m\"}",
      "InvalidNextToken", 400, 400 },
    { OPERATION_OF_CLOUDWATCH, ERROR_CW_RESOURCE_NOT_FOUND,
      "{\"__type\":\"com.amazon.coral.service#ResourceNotFound\",\"message\":\"m\"}",
      "ResourceNotFound", 404, 404 },
    { OPERATION_OF_CLOUDWATCH, ERROR_CW_CONFLICT,
      "{\"__type\":\"com.amazon.coral.service#ConflictException\",\"message\":\"m\"}",
      "ConflictException", 409, 409 },
    { OPERATION_OF_CLOUDWATCH, ERROR_INTERNAL,
      "{\"__type\":\"com.amazon.coral.service#InternalServiceFault\",\"message\":\"m\"}",
      "InternalServiceError", 500, 500 },
    { OPERATION_OF_CLOUDWATCH, ERROR_VALIDATION,
      "{\"__type\":\"com.amazon.coral.validate#ValidationException\",\"message\":\"m\"}",
      "ValidationError", 400, 400 },
    { OPERATION_OF_CLOUDWATCH, ERROR_ACCESS_DENIED,
      "{\"__type\":\"com.amazon.coral.service#AccessDeniedException\",\"message\":\"m\"}",
      "AccessDenied", 400, 403 },
    { OPERATION_OF_CLOUDWATCH, ERROR_SERIALIZATION,
      "{\"__type\":\"com.amazon.coral.service#SerializationException\",\"message\":\"m\"}",
      "MalformedInput", 400, 400 },
    { OPERATION_OF_CLOUDWATCH, ERROR_UNKNOWN_OPERATION,
      "{\"__type\":\"com.amazon.coral.service#UnknownOperationException\",\"message\":\"m\"}",
      "InvalidAction", 400, 400 },
    { OPERATION_OF_SCALING, ERROR_VALIDATION,
      "{\"__type\":\"ValidationException\",\"Message\":\"m\"}", "ValidationError", 400, 400 },
    { OPERATION_OF_SCALING, ERROR_INTERNAL,
      "{\"__type\":\"InternalServiceException\",\"Message\":\"m\"}", "InternalFailure", 500, 500 },
    { OPERATION_OF_SCALING, ERROR_SCALING_OBJECT_NOT_FOUND,
      "{\"__type\":\"ObjectNotFoundException\",\"Message\":\"m\"}", "ObjectNotFoundException", 400,
      400 },
    { OPERATION_OF_SCALING, ERROR_ACCESS_DENIED,
      "{\"__type\":\"AccessDeniedException\",\"Message\":\"m\"}", "AccessDenied", 400, 403 },
    { OPERATION_OF_STS, ERROR_INVALID_SIGNATURE,
      "{\"__type\":\"com.amazon.coral.service#InvalidSignatureException\",\"message\":\"m\"}",
      "SignatureDoesNotMatch", 400, 403 },
    { OPERATION_OF_STS, ERROR_SERVICE_UNAVAILABLE,
      "{\"__type\":\"com.amazon.coral.service#ServiceUnavailableException\",\"message\":\"m\"}",
      "ServiceUnavailable", 503, 503 },
};

static void each_service_has_its_types_codes_and_statuses(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(exceptions); i++) {
        const struct service *service = service_of(exceptions[i].service);
        struct error err;
        error_init(&err, arena);
        error_set(&err, exceptions[i].code, "m");
        struct bytes json = exception_json(arena, service, &err);
        if (!bytes_equal_text(json, exceptions[i].json))
            fail_msg("\n got: %.*s\nwant: %s", BYTES_FMT(json), exceptions[i].json);
        struct exception_code code = exception_query_code(service, &err);
        assert_string_equal(code.code, exceptions[i].query_code);
        assert_int_equal(code.status, exceptions[i].query_status);
        assert_int_equal(exception_status(service, &err), exceptions[i].status);
    }
    assert_string_equal(exception_fault(400), "Sender");
    assert_string_equal(exception_fault(503), "Receiver");
}

static void further_members_follow_the_message(void **state)
{
    struct arena *arena = *state;
    const struct service *service = service_of(OPERATION_OF_CLOUDWATCH);
    struct error err;
    struct buffer xml;
    error_init(&err, arena);
    error_set(&err, ERROR_CW_DASHBOARD_INVALID, "m<");
    err.members_json = BYTES("{\"dashboardValidationMessages\":[{\"DataPath\":\"/a\"}]}");
    assert_true(bytes_equal_text(
        exception_json(arena, service, &err),
        "{\"__type\":\"com.amazon.coral.service#DashboardInvalidInputError\",\"message\":\"m<\","
        "\"dashboardValidationMessages\":[{\"DataPath\":\"/a\"}]}"));
    buffer_init(&xml, arena);
    exception_append_xml(&xml, service, &err, BYTES("id"));
    assert_true(bytes_equal_text(
        buffer_bytes(&xml),
        "<ErrorResponse xmlns=\"http://monitoring.amazonaws.com/doc/2010-08-01/\"><Error>"
        "<Type>Sender</Type><Code>InvalidParameterInput</Code><Message>m&lt;</Message>"
        "<dashboardValidationMessages><member><DataPath>/a</DataPath></member>"
        "</dashboardValidationMessages></Error><RequestId>id</RequestId></ErrorResponse>"));
    err.members_json = BYTES("{}");
    assert_true(
        bytes_equal_text(exception_json(arena, service, &err),
                         "{\"__type\":\"com.amazon.coral.service#DashboardInvalidInputError\","
                         "\"message\":\"m<\"}"));
}

/* A message may repeat a header, which may have any bytes. */
static void messages_that_are_not_utf8_are_repaired(void **state)
{
    struct arena *arena = *state;
    const struct service *service = service_of(OPERATION_OF_CLOUDWATCH);
    struct json_reader reader;
    struct buffer xml;
    struct error err;
    error_init(&err, arena);
    error_set_bytes(&err, ERROR_INCOMPLETE_SIGNATURE, BYTES("a\xFF\xC3(\0\xE6\xB0"));
    struct bytes json = exception_json(arena, service, &err);
    json_reader_init(&reader, arena, json, CODEC_DEPTH_MAX);
    assert_true(json_skip(&reader) && json_finish(&reader));
    assert_non_null(memmem(json.data, json.len, "a\ufffd\ufffd(\\u0000\ufffd\ufffd", 20));
    buffer_init(&xml, arena);
    exception_append_xml(&xml, service, &err, BYTES("id"));
    assert_non_null(memmem(xml.data, xml.len, "<Message>a\ufffd\ufffd(\ufffd", 20));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_fixture_open, arena_fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_types_are_sorted),
        cmocka_unit_test(every_service_is_found_by_what_its_requests_say),
        TEST(each_service_has_its_types_codes_and_statuses),
        TEST(further_members_follow_the_message),
        TEST(messages_that_are_not_utf8_are_repaired),
    };
    return cmocka_run_group_tests_name("wire/exception", tests, NULL, NULL);
}
