/* test_expiry_queue.c -- which value is which second, which seconds have expired, and the keys of
 * the queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "item_fixture.h"
#include "model/limits.h"
#include "table/expiry_queue.h"
#include "table/layout.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

enum { NEVER = -1 };

static void only_numbers_from_1970_on_are_seconds(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int64_t second;
    } cases[] = {
        { "{'N':'0'}", 0 },
        { "{'N':'1'}", 1 },
        { "{'N':'1700000000'}", 1700000000 },
        { "{'N':'1.7E9'}", 1700000000 },
        { "{'N':'-1'}", NEVER },
        { "{'N':'-0.5'}", NEVER },
        /* Not before its time. */
        { "{'N':'0.5'}", 1 },
        { "{'N':'1E-130'}", 1 },
        { "{'N':'1700000000.000000000000000000000000001'}", 1700000001 },
        { "{'N':'1699999999.999'}", 1700000000 },
        /* The last second, and the first that is none. */
        { "{'N':'9223372036854775'}", EXPIRY_QUEUE_SECOND_MAX },
        { "{'N':'9223372036854774.5'}", EXPIRY_QUEUE_SECOND_MAX },
        { "{'N':'9223372036854775.5'}", NEVER },
        { "{'N':'9223372036854776'}", NEVER },
        { "{'N':'18446744073709551616'}", NEVER },
        { "{'N':'99999999999999999999999999999999999999'}", NEVER },
        { "{'N':'1E125'}", NEVER },
        { "{'S':'1700000000'}", NEVER },
        { "{'B':'MTcwMDAwMDAwMA=='}", NEVER },
        { "{'NS':['1700000000']}", NEVER },
        { "{'L':[{'N':'1700000000'}]}", NEVER },
        { "{'M':{'t':{'N':'1700000000'}}}", NEVER },
        { "{'NULL':true}", NEVER },
        { "{'BOOL':true}", NEVER },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[128];
        snprintf(text, sizeof text, "{'p':{'S':'x'},'t':%s}", cases[i].value);
        struct item item = item_fixture_read(arena, text);
        int64_t second = NEVER;
        bool expires = expiry_queue_second(BYTES("t"), &item, &second);
        if (expires != (cases[i].second != NEVER) || (expires && second != cases[i].second))
            fail_msg("%s: %d, %lld", cases[i].value, expires, (long long)second);
        assert_false(expiry_queue_second(BYTES("u"), &item, &second)); /* No such attribute. */
    }
}

static void what_has_expired_is_at_most_five_years_old(void **state)
{
    (void)state;
    const int64_t now = 1700000000;
    struct expiry_window window = expiry_queue_window(now * 1000 + 999);
    assert_true(expiry_window_has(&window, now));
    assert_false(expiry_window_has(&window, now + 1));
    assert_true(expiry_window_has(&window, now - EXPIRY_AGE_SECONDS_MAX));
    assert_false(expiry_window_has(&window, now - EXPIRY_AGE_SECONDS_MAX - 1));
    window = expiry_queue_window(now * 1000);
    assert_true(expiry_window_has(&window, now));
    window = expiry_queue_window(now * 1000 - 1);
    assert_false(expiry_window_has(&window, now));
    window = expiry_queue_window(1000); /* A clock that was never set. */
    assert_int_equal(window.from, 0);
    assert_int_equal(window.to, 1);
}

static void entries_are_in_the_order_of_time(void **state)
{
    (void)state;
    static const struct engine_address item = {
        .place = { .owner = 3, .partition = 4, .space = ENGINE_SPACE_ITEMS },
        .key = { (const uint8_t *)"01234567p\x00\x01", 11 },
    };
    static const int64_t seconds[] = { 0, 1, 255, 256, 1700000000, EXPIRY_QUEUE_SECOND_MAX };
    struct bytes before = BYTES("");
    for (size_t i = 0; i < COUNT_OF(seconds); i++) {
        struct engine_address entry = expiry_queue_address(arena, &item, seconds[i]);
        struct engine_place place = expiry_queue_place(3, 4);
        struct bytes item_key;
        int64_t second;
        assert_true(engine_place_equal(&entry.place, &place));
        assert_true(bytes_compare(before, entry.key) < 0);
        assert_true(bytes_starts_with(entry.key, expiry_queue_first_key(arena, seconds[i])));
        assert_true(expiry_queue_decode(entry.key, &second, &item_key));
        assert_int_equal(second, seconds[i]);
        assert_true(bytes_equal(item_key, item.key));
        before = entry.key;
    }
}

static void what_is_no_entry_is_refused(void **state)
{
    (void)state;
    uint8_t key[LAYOUT_EXPIRY_SECOND_SIZE + LAYOUT_HASH_SIZE] = { 0 };
    struct bytes item_key;
    int64_t second;
    assert_true(expiry_queue_decode(bytes_of(key, sizeof key), &second, &item_key));
    assert_false(expiry_queue_decode(bytes_of(key, sizeof key - 1), &second, &item_key));
    assert_false(expiry_queue_decode(BYTES(""), &second, &item_key));
    store_u64_be(key, EXPIRY_QUEUE_SECOND_MAX);
    assert_true(expiry_queue_decode(bytes_of(key, sizeof key), &second, &item_key));
    store_u64_be(key, (uint64_t)EXPIRY_QUEUE_SECOND_MAX + 1);
    assert_false(expiry_queue_decode(bytes_of(key, sizeof key), &second, &item_key));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_numbers_from_1970_on_are_seconds),
        TEST(what_has_expired_is_at_most_five_years_old),
        TEST(entries_are_in_the_order_of_time),
        TEST(what_is_no_entry_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
