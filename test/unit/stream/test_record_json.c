/* test_record_json.c -- a record as GetRecords shows it, and as an event has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "item_fixture.h"
#include "json/writer.h"
#include "log/change_record.h"
#include "stream/record_json.h"
#include "stream/stream_definition.h"

#define HEAD                                                                                       \
    "{\"eventID\":\"00000009000000050000000000000007\",\"eventName\":\"REMOVE\","                  \
    "\"eventVersion\":\"1.1\",\"eventSource\":\"aws:dynamodb\",\"awsRegion\":\"eu-west-1\","       \
    "\"dynamodb\":{\"ApproximateCreationDateTime\":3,\"Keys\":{\"p\":{\"S\":\"a\"}},"
#define TAIL(size, view)                                                                           \
    "\"SequenceNumber\":\"10000000000000000000700000005\",\"SizeBytes\":" size                     \
    ",\"StreamViewType\":\"" view "\"}"

static void expect(struct bytes view, struct bytes arn, const char *want)
{
    struct arena *arena = arena_create();
    struct stream_definition stream = { .log_id = 9,
                                        .view_type = view,
                                        .key = { .hash = { BYTES("p"), VALUE_S } } };
    struct record_json form = {
        .arena = arena,
        .stream = &stream,
        .partition = 5,
        .region = "eu-west-1",
        .event_source_arn = arn,
    };
    struct change_record record = {
        .event = CHANGE_REMOVE,
        .by_service = true,
        .commit_us = 3999999,
        .images = CHANGE_OLD_IMAGE,
        .old_image = item_fixture_read(arena, "{'p':{'S':'a'},'v':{'N':'1'}}"),
    };
    struct buffer out;
    struct json_writer json;
    buffer_init(&out, arena);
    json_writer_init(&json, &out);
    record_json_write(&form, &json, 7, &record);
    buffer_append_byte(&out, '\0');
    assert_string_equal((const char *)out.data, want);
    arena_destroy(arena);
}

static void get_records_names_the_service_with_capitals(void **state)
{
    (void)state;
    expect(BYTES("KEYS_ONLY"), (struct bytes){ 0 },
           HEAD TAIL("2", "KEYS_ONLY") ",\"userIdentity\":{\"PrincipalId\":"
                                       "\"dynamodb.amazonaws.com\",\"Type\":\"Service\"}}");
}

static void an_event_has_small_letters_and_the_arn(void **state)
{
    (void)state;
    expect(BYTES("OLD_IMAGE"), BYTES("arn:x"),
           HEAD "\"OldImage\":{\"p\":{\"S\":\"a\"},\"v\":{\"N\":\"1\"}}," TAIL(
               "7", "OLD_IMAGE") ",\"userIdentity\":{\"principalId\":\"dynamodb.amazonaws.com\","
                                 "\"type\":\"Service\"},\"eventSourceARN\":\"arn:x\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(get_records_names_the_service_with_capitals),
        cmocka_unit_test(an_event_has_small_letters_and_the_arn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
