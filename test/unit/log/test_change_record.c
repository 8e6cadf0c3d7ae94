/* test_change_record.c -- records hold what was asked for, and damage is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "item_fixture.h"
#include "model/key.h"
#include "log/change_record.h"

static const struct key_schema schema = {
    .hash = { .name = { (const uint8_t *)"pk", 2 }, .type = VALUE_S },
    .range = { .name = { (const uint8_t *)"sk", 2 }, .type = VALUE_N },
    .has_range = true,
};
static const char before_text[] = "{'pk':{'S':'a'},'sk':{'N':'1'},'v':{'S':'old'}}";
static const char after_text[] = "{'pk':{'S':'a'},'sk':{'N':'1'},'v':{'S':'new'}}";
static const char keys_text[] = "{'pk':{'S':'a'},'sk':{'N':'1'}}";

static const struct {
    const char *name;
    bool before, after;
    unsigned wanted;
    enum change_event event;
    unsigned images;
} cases[] = {
    { "insert, keys", false, true, 0, CHANGE_INSERT, 0 },
    { "insert, new", false, true, CHANGE_NEW_IMAGE, CHANGE_INSERT, CHANGE_NEW_IMAGE },
    { "insert, old", false, true, CHANGE_OLD_IMAGE, CHANGE_INSERT, 0 },
    { "insert, both", false, true, CHANGE_IMAGES_ALL, CHANGE_INSERT, CHANGE_NEW_IMAGE },
    { "modify, keys", true, true, 0, CHANGE_MODIFY, 0 },
    { "modify, new", true, true, CHANGE_NEW_IMAGE, CHANGE_MODIFY, CHANGE_NEW_IMAGE },
    { "modify, old", true, true, CHANGE_OLD_IMAGE, CHANGE_MODIFY, CHANGE_OLD_IMAGE },
    { "modify, both", true, true, CHANGE_IMAGES_ALL, CHANGE_MODIFY, CHANGE_IMAGES_ALL },
    { "remove, keys", true, false, 0, CHANGE_REMOVE, 0 },
    { "remove, new", true, false, CHANGE_NEW_IMAGE, CHANGE_REMOVE, 0 },
    { "remove, old", true, false, CHANGE_OLD_IMAGE, CHANGE_REMOVE, CHANGE_OLD_IMAGE },
    { "remove, both", true, false, CHANGE_IMAGES_ALL, CHANGE_REMOVE, CHANGE_OLD_IMAGE },
};

static void assert_item(struct arena *arena, const struct item *item, const char *text)
{
    struct item want = item_fixture_read(arena, text);
    assert_true(bytes_equal(item->encoded, want.encoded));
}

static void a_record_holds_the_images_that_are_wanted_and_exist(void **state)
{
    struct arena *arena = *state;
    struct item before = item_fixture_read(arena, before_text);
    struct item after = item_fixture_read(arena, after_text);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct change_record record =
            change_record_between(arena, &schema, cases[i].before ? &before : NULL,
                                  cases[i].after ? &after : NULL, cases[i].wanted);
        record.commit_us = 1234567890123456;
        record.server_ms = 456789;
        record.by_service = i % 2 == 0;
        struct change_record read;
        if (!change_record_decode(change_record_encode(arena, &record), &read))
            fail_msg("%s: does not decode", cases[i].name);
        assert_int_equal(read.event, cases[i].event);
        assert_int_equal(read.images, cases[i].images);
        assert_int_equal(read.commit_us, 1234567890123456);
        assert_int_equal(read.server_ms, 456789);
        assert_int_equal(read.by_service, i % 2 == 0);
        if ((read.images & CHANGE_NEW_IMAGE) != 0)
            assert_item(arena, &read.new_image, after_text);
        if ((read.images & CHANGE_OLD_IMAGE) != 0)
            assert_item(arena, &read.old_image, before_text);
        struct item keys = change_record_keys(arena, &schema, &read);
        assert_item(arena, &keys, keys_text);
    }
}

static struct bytes full_record(struct arena *arena)
{
    struct item before = item_fixture_read(arena, before_text);
    struct item after = item_fixture_read(arena, after_text);
    struct change_record record =
        change_record_between(arena, &schema, &before, &after, CHANGE_IMAGES_ALL);
    record.commit_us = 1;
    record.server_ms = 2;
    return change_record_encode(arena, &record);
}

static void a_flipped_bit_or_a_cut_is_refused(void **state)
{
    struct arena *arena = *state;
    struct bytes encoded = full_record(arena);
    struct change_record ignored;
    assert_true(change_record_decode(encoded, &ignored));
    for (size_t at = 0; at < encoded.len; at++) {
        uint8_t *damaged = (uint8_t *)arena_copy(arena, encoded).data;
        damaged[at] ^= 0x40;
        assert_false(change_record_decode(bytes_of(damaged, encoded.len), &ignored));
        assert_false(change_record_decode(bytes_of(encoded.data, at), &ignored));
    }
}

static void a_record_of_format_2_has_milliseconds(void **state)
{
    struct arena *arena = *state;
    struct bytes encoded = full_record(arena);
    struct change_record read;
    static const struct {
        int64_t created_ms, commit_us;
    } times[] = {
        { 0, 0 },
        { 1, 1000 },
        { 1700000000123, 1700000000123000 },
        { CLOCK_WALL_SECOND_MAX * 1000, CLOCK_WALL_SECOND_MAX * 1000000 },
        { INT64_MAX, CLOCK_WALL_SECOND_MAX * 1000000 }, /* Does not overflow. */
    };
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        uint8_t *bytes = (uint8_t *)arena_copy(arena, encoded).data;
        bytes[0] = 2;
        store_u64_le(bytes + 6, (uint64_t)times[i].created_ms);
        store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, encoded.len - 5)));
        assert_true(change_record_decode(bytes_of(bytes, encoded.len), &read));
        assert_int_equal(read.commit_us, times[i].commit_us);
        assert_int_equal(read.server_ms, 2);
        assert_item(arena, &read.new_image, after_text);
    }
}

/* The same without the eight bytes of the server time. */
static void a_record_of_format_1_has_no_server_time(void **state)
{
    enum { STAMP_AT = 14, STAMP_SIZE = 8 };
    struct arena *arena = *state;
    struct bytes encoded = full_record(arena);
    struct change_record stamped, unstamped;
    size_t size = encoded.len - STAMP_SIZE;
    uint8_t *bytes = arena_alloc(arena, size);
    memcpy(bytes, encoded.data, STAMP_AT);
    memcpy(bytes + STAMP_AT, encoded.data + STAMP_AT + STAMP_SIZE, size - STAMP_AT);
    bytes[0] = 1;
    store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, size - 5)));
    assert_true(change_record_decode(encoded, &stamped));
    assert_true(change_record_decode(bytes_of(bytes, size), &unstamped));
    assert_int_equal(stamped.server_ms, 2);
    assert_int_equal(unstamped.server_ms, 0);
    assert_int_equal(unstamped.commit_us, 1000);
    assert_item(arena, &unstamped.new_image, after_text);
    assert_item(arena, &unstamped.old_image, before_text);
}

/* The checksum is right, the content is not what is ever written. */
static void what_is_never_written_is_refused(void **state)
{
    struct arena *arena = *state;
    static const struct {
        size_t at;
        uint8_t byte;
    } changes[] = {
        { 0, 0 },     /* Another format, */
        { 0, 1 },     /* an earlier one, in which other bytes are the items, */
        { 0, 4 },     /* or a later one. */
        { 5, 0x18 },  /* No event. */
        { 5, 0x19 },  /* An old image of what did not exist. */
        { 5, 0x1B },  /* A new image of what is gone. */
        { 5, 0x3A },  /* A flag that means nothing. */
        { 5, 0x0A },  /* One image announced, two there. */
        { 13, 0x80 }, /* A time before 1970. */
        { 21, 0x80 }, /* A negative server time. */
        { 22, 0xFF }, /* An item longer than the record. */
    };
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        struct bytes encoded = full_record(arena);
        struct change_record ignored;
        uint8_t *bytes = (uint8_t *)arena_copy(arena, encoded).data;
        bytes[changes[i].at] = changes[i].byte;
        store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, encoded.len - 5)));
        if (change_record_decode(bytes_of(bytes, encoded.len), &ignored))
            fail_msg("change %zu was accepted", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_record_holds_the_images_that_are_wanted_and_exist),
        ARENA_TEST(a_flipped_bit_or_a_cut_is_refused),
        ARENA_TEST(a_record_of_format_2_has_milliseconds),
        ARENA_TEST(a_record_of_format_1_has_no_server_time),
        ARENA_TEST(what_is_never_written_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
