/* test_check_stacks.c -- records of stacks, templates, uploaded files and Kinesis destinations are
 * known, and reported wherever a byte of them is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "check_fixture.h"
#include "cloudformation/stack_objects.h"
#include "kinesis/destination_definition.h"

enum { RECORDS_MAX = 64, ATTEMPTS_MAX = 5000 };
#define CFN "cloudformation:"
#define TOPIC "'TemplateBody':'{\\'Resources\\':{\\'A\\':{\\'Type\\':\\'AWS::SNS::Topic\\'}}}'"

static struct check_fixture fixture;

static void must(const char *operation, const char *body)
{
    if (!api_fixture_call(&fixture.api, operation, body))
        fail_msg("%s %s: %.*s", operation, body, BYTES_FMT(fixture.api.error.message));
}

static void settle(void)
{
    static const struct timespec moment = { .tv_nsec = 1000000 };
    for (unsigned i = 0; i < ATTEMPTS_MAX; i++) {
        must(CFN "DescribeStacks", "{'StackName':'app'}");
        if (!api_fixture_shows(&fixture.api, "_IN_PROGRESS'"))
            return;
        nanosleep(&moment, NULL);
    }
    fail_msg("the stack does not settle");
}

static int set_up(void **state)
{
    (void)state;
    check_fixture_open(&fixture);
    must(CFN "CreateStack", "{'StackName':'app'," TOPIC "}");
    settle();
    must(CFN "CreateChangeSet", "{'StackName':'app','ChangeSetName':'set','Description':'d',"
                                "'Tags':[{'Key':'k','Value':'v'}]," TOPIC "}");
    must("s3:PutObject", "{'Bucket':'cdk-assets','Key':'a','Body':'aGVsbG8=',"
                         "'ContentType':'text/plain'}");
    must("s3:PutObject", "{'Bucket':'cdk-assets','Key':'b','BeginsUpload':true}");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    check_fixture_close(&fixture);
    return 0;
}

/* Copies of all records. */
static size_t find_records(struct check_fixture_entry *out)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    const struct engine_range range = { .place = stack_place };
    size_t count = 0;
    assert_int_equal(engine_view_open(fixture.engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK) {
        assert_true(count < RECORDS_MAX);
        out[count++] =
            (struct check_fixture_entry){ .place = stack_place,
                                          .key = arena_copy(fixture.arena, entry.key),
                                          .value = arena_copy(fixture.arena, entry.value) };
    }
    engine_scan_close(scan);
    engine_view_close(view);
    return count;
}

/* The first byte, one of every seventh part, and the last. */
static void expect_damage(const struct check_fixture_entry *entry, const char *problem)
{
    enum { PLACES = 8 };
    for (size_t i = 0; i < PLACES; i++) {
        uint8_t *copy = (uint8_t *)arena_copy(fixture.arena, entry->value).data;
        size_t at = i * (entry->value.len - 1) / (PLACES - 1);
        copy[at] ^= 0x40;
        const struct check_fixture_entry damaged = { .place = entry->place,
                                                     .key = entry->key,
                                                     .value = bytes_of(copy, entry->value.len) };
        check_fixture_put(&fixture, &damaged);
        check_fixture_expect(&fixture, (const char *const[]){ problem, NULL });
    }
    check_fixture_put(&fixture, entry);
}

static void a_damaged_byte_of_any_record_of_stacks_is_reported(void **state)
{
    (void)state;
    static const char letters[] =
        "SRECTA"; /* Stack, resource, event, change set, template, file. */
    static const char *const problem = "stacks, record *: is damaged";
    struct check_fixture_entry records[RECORDS_MAX];
    size_t count = find_records(records);
    bool seen[sizeof letters] = { false };
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
    for (size_t i = 0; i < count; i++) {
        const char *letter = strchr(letters, records[i].key.data[0]);
        assert_non_null(letter);
        seen[letter - letters] = true;
        expect_damage(&records[i], problem);
    }
    for (size_t i = 0; i < sizeof letters - 1; i++)
        assert_true(seen[i]);
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
    /* A whole record under another key. */
    struct check_fixture_entry moved = records[0];
    moved.key = BYTES("Z");
    check_fixture_put(&fixture, &moved);
    check_fixture_expect(&fixture, (const char *const[]){ problem, NULL });
}

static void a_damaged_byte_of_a_destination_is_reported(void **state)
{
    (void)state;
    const struct destination_definition definition = {
        .uuid = BYTES("01234567-89ab-4def-8123-456789abcdef"),
        .table_name = BYTES("orders"),
        .table_uuid = BYTES("11234567-89ab-4def-8123-456789abcdef"),
        .stream_arn = BYTES("arn:aws:kinesis:us-east-1:000000000000:stream/changes"),
        .status = DESTINATION_DISABLED,
        .description = BYTES("why it ended"),
        .precision = DESTINATION_MICROSECOND,
        .created_ms = 1700000000000,
    };
    struct engine_address address = destination_definition_address(fixture.arena, definition.uuid);
    const struct check_fixture_entry entry = {
        .place = address.place,
        .key = address.key,
        .value = destination_definition_encode(fixture.arena, &definition).encoded,
    };
    check_fixture_put(&fixture, &entry);
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
    expect_damage(&entry, "a record of a Kinesis destination is damaged");
    check_fixture_expect(&fixture, (const char *const[]){ NULL });
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_damaged_byte_of_any_record_of_stacks_is_reported),
        TEST(a_damaged_byte_of_a_destination_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
