/* test_stream_definition.c -- a stream's record, there and back; damage is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "item_fixture.h"
#include "model/change_image.h"
#include "stream/stream_definition.h"

static uint64_t partitions[] = { 3, 4, UINT64_MAX };

static struct stream_definition example(void)
{
    return (struct stream_definition){
        .log_id = 9,
        .table_name = BYTES("orders"),
        .label = BYTES("2015-05-11T21:21:33.291"),
        .view_type = BYTES("NEW_IMAGE"),
        .key = { .hash = { BYTES("p"), VALUE_S }, .range = { BYTES("s"), VALUE_B } },
        .status = STREAM_DISABLED,
        .images = CHANGE_OLD_IMAGE,
        .created_ms = 1,
        .rolled_ms = 2,
        .disabled_ms = INT64_MAX,
        .disabled_server_ms = 3,
        .partitions = partitions,
        .partition_count = COUNT_OF(partitions),
    };
}

static void a_stream_comes_back_as_it_was(void **state)
{
    struct arena *arena = *state;
    for (int has_range = 0; has_range < 2; has_range++) {
        struct stream_definition want = example(), got;
        want.key.has_range = has_range == 1;
        want.policy = has_range == 1 ? BYTES("{}") : (struct bytes){ 0 };
        struct item record = stream_definition_encode(arena, &want);
        assert_true(stream_definition_decode(arena, 9, &record, &got));
        assert_true(bytes_equal(got.table_name, want.table_name));
        assert_true(bytes_equal(got.label, want.label));
        assert_true(bytes_equal(got.view_type, want.view_type));
        assert_true(bytes_equal(got.key.hash.name, want.key.hash.name));
        assert_int_equal(got.key.hash.type, VALUE_S);
        assert_int_equal(got.key.has_range, has_range);
        if (got.key.has_range) {
            assert_true(bytes_equal(got.key.range.name, want.key.range.name));
            assert_int_equal(got.key.range.type, VALUE_B);
        }
        assert_true(bytes_equal(got.policy, want.policy));
        assert_int_equal(got.policy.data == NULL, has_range == 0);
        assert_int_equal(got.status, STREAM_DISABLED);
        assert_int_equal(got.images, CHANGE_OLD_IMAGE);
        assert_true(got.log_id == 9 && got.created_ms == 1 && got.rolled_ms == 2 &&
                    got.disabled_ms == INT64_MAX && got.disabled_server_ms == 3);
        assert_int_equal(got.partition_count, COUNT_OF(partitions));
        assert_memory_equal(got.partitions, partitions, sizeof partitions);
    }
}

#define RECORD(name, status, type, times) RECORD_WITH(name, status, type, times, "AAAAAAAAAAM=")
#define RECORD_WITH(name, status, type, times, images)                                             \
    "{'n':{'S':'" name "'},'l':{'S':'x'},'w':{'S':'KEYS_ONLY'},'s':{'S':'" status                  \
    "'},'h':{'S':'p'},'ht':{'S':'" type "'},'i':{'B':'" images "'},'t':{'B':'" times               \
    "'},'p':{'B':'AAAAAAAAAAM='}}"
#define TIMES "AAAAAAAAAAEAAAAAAAAAAgAAAAAAAAAA"
#define PAST_63_BITS "gAAAAAAAAAEAAAAAAAAAAgAAAAAAAAAA"

static void a_record_that_is_never_written_is_refused(void **state)
{
    struct arena *arena = *state;
    static const struct {
        const char *record;
        bool accepted;
    } cases[] = {
        { RECORD("orders", "ENABLED", "S", TIMES), true },
        { RECORD("", "ENABLED", "S", TIMES), false },
        { RECORD("orders", "DISABLING", "S", TIMES), false },
        { RECORD("orders", "ENABLED", "BOOL", TIMES), false },
        { RECORD("orders", "ENABLED", "S", "AAAAAAAAAAE="), false },
        { RECORD("orders", "ENABLED", "S", PAST_63_BITS), false },
        { RECORD_WITH("orders", "ENABLED", "S", TIMES, "AAAAAAAAAAQ="), false },
        { "{'n':{'S':'orders'}}", false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item record = item_fixture_read(arena, cases[i].record);
        struct stream_definition ignored;
        if (stream_definition_decode(arena, 9, &record, &ignored) != cases[i].accepted)
            fail_msg("%s", cases[i].record);
    }
}

static void a_stream_goes_from_enabling_to_disabled_and_never_back(void **state)
{
    (void)state;
    for (int from = 0; from < STREAM_STATUS_COUNT; from++) {
        for (int to = 0; to < STREAM_STATUS_COUNT; to++)
            assert_int_equal(
                stream_status_may_follow((enum stream_status)from, (enum stream_status)to),
                to == from + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_stream_comes_back_as_it_was),
        ARENA_TEST(a_record_that_is_never_written_is_refused),
        ARENA_TEST(a_stream_goes_from_enabling_to_disabled_and_never_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
