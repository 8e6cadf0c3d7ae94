/* test_history_entry.c -- entries of a history are kept as they were, and damage is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "history/history_entry.h"
#include "item_fixture.h"

static const char item_text[] = "{'pk':{'S':'a'},'v':{'S':'old'}}";

static struct history_entry make_entry(struct arena *arena, bool existed, bool by_service)
{
    struct history_entry entry = { .existed = existed, .by_service = by_service };
    if (existed)
        entry.before = item_fixture_read(arena, item_text);
    return entry;
}

static void an_entry_is_read_as_it_was_written(void **state)
{
    struct arena *arena = *state;
    for (int i = 0; i < 4; i++) {
        struct history_entry entry = make_entry(arena, (i & 1) != 0, (i & 2) != 0), read;
        assert_true(history_entry_decode(history_entry_encode(arena, &entry), &read));
        assert_int_equal(read.existed, entry.existed);
        assert_int_equal(read.by_service, entry.by_service);
        if (entry.existed)
            assert_true(bytes_equal(read.before.encoded, entry.before.encoded));
    }
}

static void every_damaged_byte_of_an_entry_is_noticed(void **state)
{
    struct arena *arena = *state;
    struct history_entry entry = make_entry(arena, true, false), read;
    struct bytes encoded = history_entry_encode(arena, &entry);
    uint8_t *bytes = arena_alloc(arena, encoded.len);
    for (size_t i = 0; i < encoded.len; i++) {
        memcpy(bytes, encoded.data, encoded.len);
        bytes[i] ^= 0x10;
        assert_false(history_entry_decode(bytes_of(bytes, encoded.len), &read));
        assert_false(history_entry_decode(bytes_of(encoded.data, i), &read));
    }
}

/* With a right checksum: a flag nobody knows, an item that should not be there, one that is not. */
static void an_entry_holds_an_item_exactly_if_it_says_so(void **state)
{
    struct arena *arena = *state;
    static const uint8_t flags[] = { 0x04, 0x80, 0x00, 0x02 };
    struct history_entry entry = make_entry(arena, true, false), read;
    struct bytes encoded = history_entry_encode(arena, &entry);
    uint8_t *bytes = arena_alloc(arena, encoded.len);
    memcpy(bytes, encoded.data, encoded.len);
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        bytes[5] = flags[i];
        store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, encoded.len - 5)));
        assert_false(history_entry_decode(bytes_of(bytes, encoded.len), &read));
    }
    bytes[5] = 0x01;
    store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, 1)));
    assert_false(history_entry_decode(bytes_of(bytes, 6), &read));
}

static void the_key_is_that_of_the_document(void **state)
{
    struct arena *arena = *state;
    const int64_t commit_us = 0x0102 * HISTORY_DAY_US + 1;
    struct history_key key;
    struct bytes encoded = history_key_encode(arena, BYTES("hashhashk"), commit_us);
    assert_int_equal(encoded.len, 4 + 9 + 8);
    assert_int_equal(load_u32_be(encoded.data), 0x0102);
    assert_memory_equal(encoded.data + 4, "hashhashk", 9);
    assert_int_equal(load_u64_be(encoded.data + 13), commit_us);
    assert_true(history_key_decode(encoded, &key));
    assert_int_equal(key.day, 0x0102);
    assert_int_equal(key.commit_us, commit_us);
    assert_true(bytes_equal(key.item_key, BYTES("hashhashk")));
}

static void a_key_of_another_day_or_without_an_item_is_refused(void **state)
{
    struct arena *arena = *state;
    struct history_key key;
    const int64_t commit_us = 20000 * HISTORY_DAY_US;
    struct bytes item = BYTES("hashhashk");
    assert_true(history_key_decode(history_key_on_day(arena, 20000, item, commit_us), &key));
    assert_false(history_key_decode(history_key_on_day(arena, 19999, item, commit_us), &key));
    assert_false(history_key_decode(history_key_on_day(arena, 20001, item, commit_us), &key));
    assert_false(history_key_decode(history_key_encode(arena, BYTES("hashhash"), commit_us), &key));
    assert_false(history_key_decode(history_key_of_day(arena, 20000), &key));
}

static void keys_sort_by_day_then_item_then_time(void **state)
{
    struct arena *arena = *state;
    const int64_t day = HISTORY_DAY_US;
    const struct bytes a = BYTES("hashhasha"), b = BYTES("hashhashb");
    const struct bytes sorted[] = {
        history_key_of_day(arena, 5),
        history_key_encode(arena, a, 5 * day),
        history_key_encode(arena, a, 6 * day - 1),
        history_key_behind(arena, 5, a),
        history_key_encode(arena, b, 5 * day),
        history_key_behind(arena, 5, b),
        history_key_of_day(arena, 6),
        history_key_encode(arena, a, 6 * day),
    };
    for (size_t i = 1; i < COUNT_OF(sorted); i++)
        assert_true(bytes_compare(sorted[i - 1], sorted[i]) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(an_entry_is_read_as_it_was_written),
        ARENA_TEST(every_damaged_byte_of_an_entry_is_noticed),
        ARENA_TEST(an_entry_holds_an_item_exactly_if_it_says_so),
        ARENA_TEST(the_key_is_that_of_the_document),
        ARENA_TEST(a_key_of_another_day_or_without_an_item_is_refused),
        ARENA_TEST(keys_sort_by_day_then_item_then_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
