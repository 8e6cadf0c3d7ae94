/* test_stream_names.c -- the names of streams, shards and records, there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/limits.h"
#include "stream/shard_iterator.h"
#include "stream/stream_names.h"

static void assert_text(struct bytes got, const char *want)
{
    if (!bytes_equal_text(got, want))
        fail_msg("got %.*s, want %s", BYTES_FMT(got), want);
}

static void a_label_is_the_time_of_creation(void **state)
{
    static const struct {
        int64_t ms;
        const char *label;
    } labels[] = {
        { INT64_C(1431379293291), "2015-05-11T21:21:33.291" },
        { INT64_C(1700000000000), "2023-11-14T22:13:20.000" },
        { INT64_C(951782400007), "2000-02-29T00:00:00.007" },
        { INT64_C(253402300799999), "9999-12-31T23:59:59.999" },
    };
    for (size_t i = 0; i < COUNT_OF(labels); i++) {
        assert_text(stream_names_label(*state, labels[i].ms), labels[i].label);
        assert_int_equal(stream_names_label_ms(bytes_from_text(labels[i].label)), labels[i].ms);
    }
    static const char *const others[] = { "",
                                          "2015-05-11T21:21:33.29",
                                          "2015-05-11T21:21:33.2911",
                                          "2015-05-11T21:21:33,291",
                                          "2015-05-11T21:21:33.29x",
                                          "2015-15-11T21:21:33.291" };
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_int_equal(stream_names_label_ms(bytes_from_text(others[i])), 0);
}

static void labels_of_times_that_are_no_dates_differ_as_well(void **state)
{
    assert_text(stream_names_label(*state, INT64_C(253402300800000)), "253402300800000");
    assert_text(stream_names_label(*state, INT64_C(253402300800001)), "253402300800001");
    assert_text(stream_names_label(*state, -1), "1969-12-31T23:59:59.999");
    assert_text(stream_names_label(*state, INT64_MAX), "9223372036854775807");
    assert_text(stream_names_label(*state, INT64_MIN), "-9223372036854775808");
    assert_int_equal(stream_names_label_ms(BYTES("253402300800000")), 253402300800000);
    assert_int_equal(stream_names_label_ms(BYTES("9223372036854775807")), INT64_MAX);
    assert_int_equal(stream_names_label_ms(BYTES("9223372036854775808")), 0);
    assert_int_equal(stream_names_label_ms(BYTES("-9223372036854775808")), 0);
}

static void an_arn_names_table_and_label(void **state)
{
    (void)state;
    struct bytes table, label;
    assert_true(stream_names_parse_arn(
        BYTES("arn:aws:dynamodb:eu-west-1:123456789012:table/Music/stream/2015-05-11T21:21:33.291"),
        &table, &label));
    assert_text(table, "Music");
    assert_text(label, "2015-05-11T21:21:33.291");
    static const char *const others[] = { "", "Music", "arn:aws:dynamodb:r:a:table/Music",
                                          "arn:aws:dynamodb:r:a:stream/x",
                                          "urn:aws:dynamodb:r:a:table/Music/stream/x" };
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_false(stream_names_parse_arn(bytes_from_text(others[i]), &table, &label));
}

static void a_shard_id_has_the_services_form_and_length(void **state)
{
    static const struct {
        int64_t created_ms;
        uint64_t partition;
        const char *id;
    } shards[] = {
        { 0, 0, "shardId-00000000000000000000-00000000" },
        { INT64_C(1414576573621), 0xf55eea83, "shardId-00000001414576573621-f55eea83" },
        { INT64_MAX, UINT64_MAX, "shardId-09223372036854775807-ffffffffffffffff" },
    };
    for (size_t i = 0; i < COUNT_OF(shards); i++) {
        struct bytes id = stream_names_shard_id(*state, shards[i].created_ms, shards[i].partition);
        int64_t created_ms;
        uint64_t partition;
        assert_text(id, shards[i].id);
        assert_in_range(id.len, SHARD_ID_SIZE_MIN, SHARD_ID_SIZE_MAX);
        assert_true(stream_names_parse_shard_id(id, &created_ms, &partition));
        assert_int_equal(created_ms, shards[i].created_ms);
        assert_true(partition == shards[i].partition);
    }
    static const char *const others[] = {
        "",
        "shardId-00000001414576573621-f55eea8",
        "shardId-00000001414576573621-f55eea8G",
        "shardId-00000001414576573621-F55EEA83",
        "shardId-00000001414576573621_f55eea83",
        "shardid-00000001414576573621-f55eea83",
        "shardId-0000000141457657362x-f55eea83",
        "shardId-09223372036854775808-f55eea83",
        "shardId-99999999999999999999-f55eea83",
        "shardId-00000001414576573621-0ffffffffffffffff",
    };
    int64_t created_ms;
    uint64_t partition;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_false(
            stream_names_parse_shard_id(bytes_from_text(others[i]), &created_ms, &partition));
}

static void a_sequence_number_has_the_services_length(void **state)
{
    static const struct {
        uint64_t sequence, partition;
        const char *text;
    } numbers[] = {
        { 0, 0, "10000000000000000000000000000" },
        { 1, 3, "10000000000000000000100000003" },
        { UINT64_MAX, 99999999, "11844674407370955161599999999" },
        { 7, UINT64_C(9999999999999999999), "1000000000000000000079999999999999999999" },
    };
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        uint64_t sequence, partition;
        struct bytes text =
            stream_names_sequence(*state, numbers[i].sequence, numbers[i].partition);
        assert_text(text, numbers[i].text);
        assert_in_range(text.len, SEQUENCE_NUMBER_SIZE_MIN, SEQUENCE_NUMBER_SIZE_MAX);
        assert_true(stream_names_parse_sequence(text, &sequence, &partition));
        assert_true(sequence == numbers[i].sequence && partition == numbers[i].partition);
    }
    static const char *const others[] = {
        "",
        "1",
        "1000000000000000000010000000",
        "20000000000000000000100000003",
        "1000000000000000000010000000x",
        "19999999999999999999900000003",
    };
    uint64_t sequence, partition;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_false(
            stream_names_parse_sequence(bytes_from_text(others[i]), &sequence, &partition));
}

static void an_iterator_comes_back_as_it_was(void **state)
{
    struct arena *arena = *state;
    const struct shard_iterator iterator = {
        .at = { .log_id = 7, .partition = UINT64_MAX, .shard_first = 1, .next = 123456789 },
        .created_ms = 1700000000123
    };
    struct shard_iterator read;
    struct bytes read_arn, arn = BYTES("arn:aws:dynamodb:r:a:table/t/stream/l");
    struct bytes text = shard_iterator_format(arena, arn, &iterator);
    assert_true(shard_iterator_parse(text, &read_arn, &read));
    assert_true(bytes_equal(read_arn, arn));
    assert_true(read.at.log_id == 7 && read.at.partition == UINT64_MAX &&
                read.at.shard_first == 1 && read.at.next == 123456789 &&
                read.created_ms == 1700000000123);
}

static void a_changed_iterator_is_refused(void **state)
{
    struct arena *arena = *state;
    const struct shard_iterator iterator = { .at = { .log_id = 7, .partition = 3, .next = 2 } };
    struct bytes text =
        shard_iterator_format(arena, BYTES("arn:aws:dynamodb:r:a:table/t/stream/l"), &iterator);
    struct shard_iterator read;
    struct bytes arn;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t *changed = (uint8_t *)arena_copy(arena, text).data;
        changed[i] = changed[i] == '0' ? '1' : '0';
        assert_false(shard_iterator_parse(bytes_of(changed, text.len), &arn, &read));
        assert_false(shard_iterator_parse(bytes_of(text.data, i), &arn, &read));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_label_is_the_time_of_creation),
        ARENA_TEST(labels_of_times_that_are_no_dates_differ_as_well),
        ARENA_TEST(an_arn_names_table_and_label),
        ARENA_TEST(a_shard_id_has_the_services_form_and_length),
        ARENA_TEST(a_sequence_number_has_the_services_length),
        ARENA_TEST(an_iterator_comes_back_as_it_was),
        ARENA_TEST(a_changed_iterator_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
