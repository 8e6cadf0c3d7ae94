/* test_rados_key.c -- keys and names as a Ceph cluster stores them. test/rados/ proves the same
 * against one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/random.h"
#include "arena_fixture.h"
#include "base/arena.h"
#include "engine/rados/rados_key.h"

static void stored_keys_are_as_the_document_says(void **state)
{
    static const struct {
        struct bytes key, stored;
    } cases[] = {
        { BYTES(""), BYTES("\x01") },
        { BYTES("a"), BYTES("a\x01") },
        { BYTES("\x00"), BYTES("\x02\x02\x01") },
        { BYTES("\x01"), BYTES("\x02\x03\x01") },
        { BYTES("\x02"), BYTES("\x02\x04\x01") },
        { BYTES("\x03"), BYTES("\x03\x01") },
        { BYTES("a\x00\xFF"), BYTES("a\x02\x02\xFF\x01") },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes key, stored = rados_key_encode(*state, cases[i].key);
        assert_true(bytes_equal(stored, cases[i].stored));
        assert_int_equal(stored.data[stored.len], 0);
        assert_true(rados_key_decode(*state, stored, &key));
        assert_true(bytes_equal(key, cases[i].key));
    }
}

static void what_no_key_is_stored_as_is_refused(void **state)
{
    static const struct bytes cases[] = {
        BYTES(""),
        BYTES("a"),
        BYTES("\x01\x01"),
        BYTES("a\x01\x01"),
        BYTES("\x02\x01"),
        BYTES("\x02\x05\x01"),
        BYTES("a\x02\xFF\x01"),
        BYTES("\x00\x01"),
        BYTES("\x02\x02"),
        BYTES("a\x02\x01"),
        BYTES("\x02\x02\x02\x01"),
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes key;
        assert_false(rados_key_decode(*state, cases[i], &key));
    }
}

static struct bytes random_key(struct random *random, struct arena *arena)
{
    static const uint8_t likely[] = { 0x00, 0x01, 0x02, 0x03, 0x7F, 0xFF };
    size_t size = (size_t)random_below(random, 5);
    uint8_t *data = arena_alloc(arena, size + 1);
    for (size_t i = 0; i < size; i++)
        data[i] = likely[random_below(random, COUNT_OF(likely))];
    return bytes_of(data, size);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void stored_keys_keep_the_order_and_a_listing_can_start_at_a_key(void **state)
{
    struct random random;
    random_init(&random, 7);
    for (int i = 0; i < 20000; i++) {
        struct bytes a = random_key(&random, *state), b = random_key(&random, *state);
        struct bytes stored_a = rados_key_encode(*state, a), stored_b = rados_key_encode(*state, b);
        assert_int_equal(sign(bytes_compare(stored_a, stored_b)), sign(bytes_compare(a, b)));
        /* Listing behind it begins with the key itself. */
        struct bytes before = bytes_from_text(rados_key_before(*state, a));
        assert_int_equal(bytes_compare(before, stored_b) < 0, bytes_compare(a, b) <= 0);
        /* As a filter it lets the keys through that begin so. */
        assert_int_equal(bytes_starts_with(stored_b, before), bytes_starts_with(b, a));
    }
}

static void keys_of_a_range_share_its_prefix(void **state)
{
    static const struct {
        struct bytes first, last, want;
    } cases[] = {
        { BYTES("abc"), BYTES("abd"), BYTES("abc") }, { BYTES("abcd"), BYTES("abd"), BYTES("abc") },
        { BYTES("abc"), BYTES("abe"), BYTES("ab") },  { BYTES("abc"), BYTES("abdd"), BYTES("ab") },
        { BYTES("ab"), BYTES("b"), BYTES("a") },      { BYTES(""), BYTES("b"), BYTES("") },
        { BYTES("a"), BYTES("ab"), BYTES("a") },      { BYTES("a\xFF"), BYTES("b"), BYTES("a") },
    };
    struct random random;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_true(
            bytes_equal(rados_key_shared_prefix(cases[i].first, cases[i].last), cases[i].want));
    random_init(&random, 8);
    for (int i = 0; i < 20000; i++) {
        struct bytes first = random_key(&random, *state), last = random_key(&random, *state);
        struct bytes key = random_key(&random, *state);
        if (bytes_compare(first, key) <= 0 && bytes_compare(key, last) < 0)
            assert_true(bytes_starts_with(key, rados_key_shared_prefix(first, last)));
    }
}

static void partitions_are_named_in_their_order(void **state)
{
    (void)state;
    static const struct partition_id ids[] = {
        { PARTITION_SYSTEM, 0 }, { PARTITION_SYSTEM, UINT64_MAX }, { PARTITION_TABLES, 0 },
        { PARTITION_TABLES, 9 }, { PARTITION_TABLES, 10 },         { PARTITION_TABLES, 16 },
    };
    char last[RADOS_PARTITION_SIZE + 1] = "";
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        char text[RADOS_PARTITION_SIZE + 1];
        struct partition_id id;
        rados_key_format_partition(&ids[i], text);
        assert_true(strcmp(last, text) < 0);
        assert_true(rados_key_parse_partition(bytes_from_text(text), &id));
        assert_int_equal(partition_id_compare(&id, &ids[i]), 0);
        memcpy(last, text, sizeof last);
    }
    char object[RADOS_OBJECT_NAME_MAX + 1];
    rados_key_format_object(&ids[5], object);
    assert_string_equal(object, "p.t.0000000000000010");
    rados_key_format_object(&ids[1], object);
    assert_string_equal(object, "p.s.ffffffffffffffff");
    static const char *const wrong[] = {
        "",
        "t.fffffffffffffff",
        "t.ffffffffffffffff0",
        "t-ffffffffffffffff",
        "t.FFFFFFFFFFFFFFFF",
        "t.fffffffffffffffg",
        "u.ffffffffffffffff",
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct partition_id id;
        assert_false(rados_key_parse_partition(bytes_from_text(wrong[i]), &id));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(stored_keys_are_as_the_document_says),
        ARENA_TEST(what_no_key_is_stored_as_is_refused),
        ARENA_TEST(stored_keys_keep_the_order_and_a_listing_can_start_at_a_key),
        ARENA_TEST(keys_of_a_range_share_its_prefix),
        cmocka_unit_test(partitions_are_named_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
