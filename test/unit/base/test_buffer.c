/* test_buffer.c -- appending, growing and writing in place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/buffer.h"

static void an_empty_buffer_is_empty_bytes(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, *state);
    assert_non_null(buffer_bytes(&buffer).data);
    assert_int_equal(buffer_bytes(&buffer).len, 0);
}

static void room_for_nothing_is_no_null(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, *state);
    assert_non_null(buffer_reserve(&buffer, 0));
    buffer_append_bytes(&buffer, BYTES(""));
    assert_int_equal(buffer.len, 0);
}

static void pieces_are_appended_in_order(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, *state);
    buffer_append(&buffer, "ab", 2);
    buffer_append_byte(&buffer, 0);
    buffer_append_bytes(&buffer, BYTES("cd"));
    buffer_append(&buffer, NULL, 0);
    assert_true(bytes_equal(buffer_bytes(&buffer), BYTES("ab\0cd")));
}

static void growing_keeps_what_was_appended(void **state)
{
    enum { COUNT = 300000 };
    struct buffer buffer;
    buffer_init(&buffer, *state);
    for (uint32_t i = 0; i < COUNT; i++) {
        buffer_append(&buffer, &i, sizeof i);
        if (i % 10000 == 0)
            arena_alloc(*state, 1); /* In the way: the next growth has to copy. */
    }
    assert_int_equal(buffer.len, COUNT * sizeof(uint32_t));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_memory_equal(buffer.data + i * sizeof i, &i, sizeof i);
}

static void capacity_doubles_so_that_appending_is_linear(void **state)
{
    struct buffer buffer;
    size_t growths = 0, capacity = 0;
    buffer_init(&buffer, *state);
    for (size_t i = 0; i < (size_t)1 << 20; i++) {
        buffer_append_byte(&buffer, 'x');
        growths += buffer.capacity != capacity;
        capacity = buffer.capacity;
    }
    assert_true(growths <= 20);
}

static void reserved_room_is_written_in_place(void **state)
{
    struct buffer buffer;
    for (size_t size = 1; size < 5000; size++) {
        buffer_init(&buffer, *state);
        buffer_append_byte(&buffer, 'a');
        uint8_t *room = buffer_reserve(&buffer, size);
        assert_int_equal(buffer.len, 1);
        assert_true(buffer.capacity - buffer.len >= size);
        memset(room, 'b', size); /* Poison follows the capacity. */
        buffer.len += size;
        assert_int_equal(buffer_bytes(&buffer).data[0], 'a');
        assert_int_equal(buffer_bytes(&buffer).data[size], 'b');
        arena_reset(*state);
    }
}

static int set_up(void **state)
{
    *state = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void a_trimmed_buffer_keeps_what_it_has_and_may_grow_again(void **state)
{
    static const size_t sizes[] = { 0, 1, 600, ARENA_LARGE_SIZE + 1 };
    struct buffer buffer;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        buffer_init(&buffer, *state);
        for (size_t at = 0; at < sizes[i]; at++)
            buffer_append_byte(&buffer, (uint8_t)at);
        buffer_trim(&buffer);
        assert_int_equal(buffer.capacity, sizes[i]);
        buffer_append_byte(&buffer, 'z');
        assert_int_equal(buffer.len, sizes[i] + 1);
        assert_int_equal(buffer.data[sizes[i]], 'z');
        for (size_t at = 0; at < sizes[i]; at++)
            assert_int_equal(buffer.data[at], (uint8_t)at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_buffer_is_empty_bytes),
        TEST(room_for_nothing_is_no_null),
        TEST(pieces_are_appended_in_order),
        TEST(growing_keeps_what_was_appended),
        TEST(capacity_doubles_so_that_appending_is_linear),
        TEST(reserved_room_is_written_in_place),
        TEST(a_trimmed_buffer_keeps_what_it_has_and_may_grow_again),
    };
    return cmocka_run_group_tests_name("base/buffer", tests, NULL, NULL);
}
