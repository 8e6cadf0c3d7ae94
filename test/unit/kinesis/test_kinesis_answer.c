/* test_kinesis_answer.c -- what answers of a Kinesis server mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "kinesis/destination_definition.h"
#include "kinesis/kinesis_answer.h"

static void an_answer_says_what_became_of_each_record(void **state)
{
    static const struct {
        const char *body;
        bool ok;
        enum kinesis_fate fates[2];
    } cases[] = {
        { "{\"FailedRecordCount\":0,\"Records\":[{\"SequenceNumber\":\"1\",\"ShardId\":\"a\"},"
          "{\"SequenceNumber\":\"2\",\"ShardId\":\"a\",\"ErrorCode\":null}]}",
          true,
          { KINESIS_TAKEN, KINESIS_TAKEN } },
        { "{\"Records\":[{\"ErrorCode\":\"ProvisionedThroughputExceededException\"},"
          "{\"ErrorCode\":\"InternalFailure\",\"ErrorMessage\":\"x\"}]}",
          true,
          { KINESIS_THROTTLED, KINESIS_FAILED } },
        { "{\"Records\":[{}]}", false, { 0 } },       /* One is missing, */
        { "{\"Records\":[{},{},{}]}", false, { 0 } }, /* one too many, */
        { "{\"Records\":[{},7]}", false, { 0 } },     /* no record, */
        { "{\"Records\":[{},{}]", false, { 0 } },     /* cut off. */
        { "", false, { 0 } },
        { "[]", false, { 0 } },
    };
    struct arena *arena = arena_create();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        enum kinesis_fate fates[2];
        bool ok = kinesis_answer_fates(arena, bytes_from_text(cases[i].body), 2, fates);
        assert_int_equal(ok, cases[i].ok);
        for (size_t k = 0; ok && k < 2; k++)
            assert_int_equal(fates[k], cases[i].fates[k]);
    }
    arena_destroy(arena);
}

static void a_stream_is_described_with_its_bound_on_records(void **state)
{
    struct arena *arena = arena_create();
    struct kinesis_stream stream;
    (void)state;
    assert_true(kinesis_answer_stream(
        arena, BYTES("{\"StreamDescriptionSummary\":{\"StreamStatus\":\"ACTIVE\"}}"), &stream));
    assert_true(stream.is_active && stream.record_size_max == 1024 * 1024);
    assert_true(kinesis_answer_stream(arena,
                                      BYTES("{\"StreamDescriptionSummary\":{\"StreamStatus\":"
                                            "\"CREATING\",\"MaxRecordSizeInKiB\":10240}}"),
                                      &stream));
    assert_true(!stream.is_active && stream.record_size_max == 10 * 1024 * 1024);
    assert_true(kinesis_answer_stream(arena,
                                      BYTES("{\"StreamDescriptionSummary\":{\"StreamStatus\":"
                                            "\"ACTIVE\",\"MaxRecordSizeInKiB\":99999999999}}"),
                                      &stream));
    assert_int_equal(stream.record_size_max, 1024 * 1024);
    assert_false(kinesis_answer_stream(arena, BYTES("{}"), &stream));
    assert_false(kinesis_answer_stream(arena, BYTES("<html>"), &stream));
    arena_destroy(arena);
}

static void an_exception_loses_its_namespace(void **state)
{
    struct arena *arena = arena_create();
    (void)state;
    assert_true(bytes_equal_text(
        kinesis_answer_exception(arena, BYTES("{\"__type\":\"com.amazonaws#XException\"}")),
        "XException"));
    assert_true(bytes_equal_text(
        kinesis_answer_exception(arena, BYTES("{\"message\":\"m\",\"__type\":\"Y\"}")), "Y"));
    assert_int_equal(kinesis_answer_exception(arena, BYTES("{\"a\":1}")).len, 0);
    assert_int_equal(kinesis_answer_exception(arena, BYTES("<Error>")).len, 0);
    arena_destroy(arena);
}

static void an_arn_names_region_and_stream(void **state)
{
    static const struct {
        const char *arn;
        bool ok;
    } cases[] = {
        { "arn:aws:kinesis:eu-west-1:123456789012:stream/my_stream.1-x", true },
        { "arn:aws-cn:kinesis:cn-north-1:123456789012:stream/s", true },
        { "arn:aws:firehose:eu-west-1:123456789012:deliverystream/s", false },
        { "arn:aws:kinesis:eu-west-1:123456789012:stream/", false },
        { "arn:aws:kinesis:eu-west-1:123456789012:stream/a/b", false },
        { "arn:aws:kinesis::123456789012:stream/s", false },
        { "my_stream", false },
        { "", false },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes region, name;
        assert_int_equal(
            destination_definition_parse_arn(bytes_from_text(cases[i].arn), &region, &name),
            cases[i].ok);
    }
}

static void what_is_stored_of_a_destination_is_what_was_given(void **state)
{
    struct arena *arena = arena_create();
    struct destination_definition given = {
        .uuid = BYTES("00000000-0000-4000-8000-000000000000"),
        .table_name = BYTES("orders"),
        .table_uuid = BYTES("11111111-0000-4000-8000-000000000000"),
        .stream_arn = BYTES("arn:aws:kinesis:eu-west-1:123456789012:stream/s"),
        .status = DESTINATION_ENABLE_FAILED,
        .description = BYTES("why"),
        .precision = DESTINATION_MICROSECOND,
        .log_id = 7,
        .created_ms = 1700000000000,
    };
    struct destination_definition found;
    (void)state;
    struct item record = destination_definition_encode(arena, &given);
    assert_true(destination_definition_decode(arena, given.uuid, &record, &found));
    assert_true(bytes_equal(found.table_name, given.table_name));
    assert_true(bytes_equal(found.table_uuid, given.table_uuid));
    assert_true(bytes_equal(found.stream_arn, given.stream_arn));
    assert_true(bytes_equal(found.description, given.description));
    assert_int_equal(found.status, given.status);
    assert_int_equal(found.precision, given.precision);
    assert_int_equal(found.log_id, given.log_id);
    assert_int_equal(found.created_ms, given.created_ms);
    assert_true(destination_status_may_follow(DESTINATION_DISABLED, DESTINATION_ENABLING));
    assert_false(destination_status_may_follow(DESTINATION_ACTIVE, DESTINATION_DISABLED));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_says_what_became_of_each_record),
        cmocka_unit_test(a_stream_is_described_with_its_bound_on_records),
        cmocka_unit_test(an_exception_loses_its_namespace),
        cmocka_unit_test(an_arn_names_region_and_stream),
        cmocka_unit_test(what_is_stored_of_a_destination_is_what_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
