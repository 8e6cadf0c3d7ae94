/* test_arena.c -- what an arena gives out, keeps and gives back. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/memory_budget.h"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

static void joins_parts_in_their_order(void **state)
{
    const struct bytes parts[] = { BYTES("a"), { 0 }, BYTES(""), BYTES("bc") };
    assert_true(bytes_equal_text(arena_join(*state, parts, COUNT_OF(parts)), "abc"));
    assert_int_equal(arena_join(*state, parts, 0).len, 0);
}

static void allocations_are_aligned_and_apart(void **state)
{
    struct arena *arena = *state;
    uint8_t *blocks[200];
    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        blocks[i] = arena_alloc(arena, i);
        assert_int_equal((uintptr_t)blocks[i] % ARENA_ALIGNMENT, 0);
        memset(blocks[i], (int)i, i);
    }
    for (size_t i = 0; i < COUNT_OF(blocks); i++)
        for (size_t at = 0; at < i; at++)
            assert_int_equal(blocks[i][at], i);
}

static void a_block_is_never_overfilled(void **state)
{
    struct arena *arena = *state;
    const uint8_t *first = arena_alloc(arena, ARENA_ALIGNMENT);
    const uint8_t *block = first;
    while (arena_held_size(arena) == ARENA_KEPT_SIZE) {
        assert_true(block + ARENA_ALIGNMENT <= first + ARENA_KEPT_SIZE);
        block = arena_alloc(arena, ARENA_ALIGNMENT);
    }
}

static void zeroed_memory_is_zero_though_it_was_used(void **state)
{
    struct arena *arena = *state;
    memset(arena_alloc(arena, 1000), 0xAA, 1000);
    arena_reset(arena);
    const uint8_t *block = arena_alloc_zeroed(arena, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(block[i], 0);
}

static void an_allocation_may_be_larger_than_any_block_so_far(void **state)
{
    struct arena *arena = *state;
    size_t size = 10 * ARENA_KEPT_SIZE + 1;
    memset(arena_alloc(arena, size), 1, size);
    assert_true(arena_held_size(arena) >= size + ARENA_KEPT_SIZE);
}

static void a_sized_arena_holds_no_more_than_it_needs(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 1000; size += 37) {
        struct arena *arena = arena_create_sized(size);
        assert_int_equal(arena_held_size(arena), size);
        for (int i = 0; i < 20; i++)
            memset(arena_alloc(arena, 100), i, 100);
        assert_in_range(arena_held_size(arena), 2000, 16 * 1024);
        arena_reset(arena);
        assert_int_equal(arena_held_size(arena), size);
        arena_destroy(arena);
    }
}

static void a_reset_keeps_the_first_block_only(void **state)
{
    struct arena *arena = *state;
    assert_int_equal(arena_held_size(arena), ARENA_KEPT_SIZE);
    void *first = arena_alloc(arena, 16);
    for (int i = 0; i < 100; i++)
        arena_alloc(arena, ARENA_KEPT_SIZE / 4);
    assert_true(arena_held_size(arena) > 10 * ARENA_KEPT_SIZE);
    arena_reset(arena);
    assert_int_equal(arena_held_size(arena), ARENA_KEPT_SIZE);
    assert_ptr_equal(arena_alloc(arena, 16), first);
}

static void small_requests_never_need_a_second_block(void **state)
{
    struct arena *arena = *state;
    for (int request = 0; request < 1000; request++) {
        for (int i = 0; i < 100; i++)
            arena_alloc(arena, 100);
        arena_reset(arena);
        assert_int_equal(arena_held_size(arena), ARENA_KEPT_SIZE);
    }
}

static void the_last_block_grows_in_place(void **state)
{
    struct arena *arena = *state;
    uint8_t *block = arena_alloc(arena, 10);
    memset(block, 7, 10);
    uint8_t *grown = arena_grow(arena, block, 10, 1000);
    assert_ptr_equal(grown, block);
    memset(grown + 10, 8, 990);
    uint8_t *next = arena_alloc(arena, 1);
    assert_true(next >= grown + 1000);
    assert_int_equal(grown[9], 7);
}

static void an_earlier_block_grows_by_copying(void **state)
{
    struct arena *arena = *state;
    uint8_t *block = arena_alloc(arena, 10);
    memset(block, 7, 10);
    uint8_t *other = arena_alloc(arena, 10);
    memset(other, 9, 10);
    uint8_t *grown = arena_grow(arena, block, 10, 1000);
    assert_ptr_not_equal(grown, block);
    memset(grown + 10, 8, 990);
    assert_int_equal(grown[9], 7);
    assert_int_equal(other[0], 9);
}

static void growing_past_the_end_of_a_block_copies(void **state)
{
    struct arena *arena = *state;
    uint8_t *block = arena_alloc(arena, 100);
    memset(block, 7, 100);
    uint8_t *grown = arena_grow(arena, block, 100, 2 * ARENA_KEPT_SIZE);
    assert_ptr_not_equal(grown, block);
    assert_int_equal(grown[99], 7);
    memset(grown, 1, 2 * ARENA_KEPT_SIZE);
}

static void growing_nothing_allocates(void **state)
{
    struct arena *arena = *state;
    uint8_t *block = arena_grow(arena, NULL, 0, 100);
    memset(block, 1, 100);
    assert_ptr_equal(arena_grow(arena, block, 100, 100), block);
}

static void a_large_allocation_grows_without_leaving_anything_behind(void **state)
{
    static const size_t first_sizes[] = { ARENA_LARGE_SIZE - 2 * ARENA_ALIGNMENT - 1,
                                          ARENA_LARGE_SIZE - 1, ARENA_LARGE_SIZE,
                                          ARENA_LARGE_SIZE + 1 };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(first_sizes); i++) {
        size_t size = first_sizes[i];
        arena_empty_shelf();
        uint8_t *block = arena_alloc(arena, size);
        assert_int_equal((uintptr_t)block % ARENA_ALIGNMENT, 0);
        memset(block, 7, size);
        uint8_t *before = arena_alloc(arena, ARENA_LARGE_SIZE);
        memset(before, 9, ARENA_LARGE_SIZE);
        for (; size < 8 * ARENA_LARGE_SIZE; size *= 2) {
            block = arena_grow(arena, block, size, size * 2);
            for (size_t at = 0; at < size; at += 1000)
                assert_int_equal(block[at], 7);
            memset(block, 7, size * 2);
        }
        assert_in_range(arena_held_size(arena), size + ARENA_LARGE_SIZE,
                        size + 3 * ARENA_LARGE_SIZE);
        assert_int_equal(before[ARENA_LARGE_SIZE - 1], 9);
        arena_reset(arena);
        assert_int_equal(arena_held_size(arena), ARENA_KEPT_SIZE);
    }
}

static void a_freed_large_allocation_serves_the_next(void **state)
{
    struct memory_budget budget = { .size_max = SIZE_MAX };
    struct arena *arena = arena_create_counted(&budget);
    (void)state;
    const uint8_t *first = arena_alloc(arena, ARENA_SHELF_SIZE_MAX);
    arena_reset(arena);
    uint8_t *again = arena_alloc(arena, ARENA_SHELF_SIZE_MAX);
    assert_ptr_equal(again, first);
    memset(again, 1, ARENA_SHELF_SIZE_MAX);
    arena_reset(arena);
    /* A smaller one gets it whole, and grows where it is. */
    again = arena_alloc(arena, ARENA_LARGE_SIZE);
    assert_ptr_equal(again, first);
    assert_ptr_equal(arena_grow(arena, again, ARENA_LARGE_SIZE, ARENA_SHELF_SIZE_MAX), first);
    assert_int_equal(arena_held_size(arena), ARENA_KEPT_SIZE + ARENA_SHELF_SIZE_MAX);
    arena_destroy(arena);
}

static void so_many_large_allocations_are_kept_and_no_more(void **state)
{
    enum { COUNT = 3 * ARENA_SHELF_BLOCKS_MAX };
    struct memory_budget budget = { .size_max = SIZE_MAX };
    struct arena *arena = arena_create_counted(&budget);
    (void)state;
    const uint8_t *before[COUNT];
    size_t reused = 0;
    for (size_t i = 0; i < COUNT; i++)
        before[i] = arena_alloc(arena, ARENA_SHELF_SIZE_MAX);
    /* Takes the place of what malloc would hand out again. */
    struct arena *other = arena_create_counted(&budget);
    arena_reset(arena);
    for (size_t i = 0; i < COUNT; i++) {
        const uint8_t *memory = arena_alloc(other, ARENA_SHELF_SIZE_MAX);
        for (size_t at = 0; i < ARENA_SHELF_BLOCKS_MAX && at < COUNT; at++)
            reused += memory == before[at];
    }
    arena_destroy(other);
    assert_int_equal(reused, ARENA_SHELF_BLOCKS_MAX);
    arena_destroy(arena);
}

static void an_arena_without_a_budget_holds_no_more_than_it_asked_for(void **state)
{
    struct memory_budget budget = { .size_max = SIZE_MAX };
    struct arena *counted = arena_create_counted(&budget);
    arena_alloc(counted, ARENA_SHELF_SIZE_MAX);
    arena_destroy(counted);
    arena_alloc(*state, ARENA_LARGE_SIZE);
    assert_int_equal(arena_held_size(*state), ARENA_KEPT_SIZE + ARENA_LARGE_SIZE);
}

static void the_shelf_is_emptied_when_memory_is_scarce(void **state)
{
    struct memory_budget budget = { .size_max = SIZE_MAX };
    struct arena *arena = arena_create_counted(&budget);
    (void)state;
    arena_alloc(arena, ARENA_SHELF_SIZE_MAX);
    arena_reset(arena);
    arena_empty_shelf();
    arena_alloc(arena, ARENA_LARGE_SIZE);
    assert_int_equal(arena_held_size(arena), ARENA_KEPT_SIZE + ARENA_LARGE_SIZE);
    arena_destroy(arena);
}

static void larger_allocations_are_given_back(void **state)
{
    struct memory_budget budget = { .size_max = SIZE_MAX };
    struct arena *arena = arena_create_counted(&budget);
    (void)state;
    size_t size = ARENA_SHELF_SIZE_MAX + 1;
    arena_alloc(arena, size);
    arena_reset(arena);
    arena_alloc(arena, ARENA_LARGE_SIZE);
    assert_int_equal(arena_held_size(arena), ARENA_KEPT_SIZE + ARENA_LARGE_SIZE);
    arena_destroy(arena);
}

static void what_a_shrunk_allocation_had_is_used_again(void **state)
{
    struct arena *arena = *state;
    size_t size = 1000;
    uint8_t *block = arena_alloc(arena, size);
    memset(block, 7, 1000);
    assert_ptr_equal(arena_shrink(arena, block, &size, 33), block);
    assert_int_equal(size, 33);
    assert_true((uint8_t *)arena_alloc(arena, 1) < block + 100);
    assert_int_equal(block[32], 7);
    arena_shrink(arena, block, &size, 10); /* No longer the last one. */
    assert_int_equal(size, 33);
    size = 0;
    assert_null(arena_shrink(arena, NULL, &size, 0));
}

static void a_large_allocation_shrinks_down_to_the_smallest_large_one(void **state)
{
    static const size_t wanted[] = { 3 * ARENA_LARGE_SIZE, ARENA_LARGE_SIZE, 1 };
    struct arena *arena = *state;
    size_t size = 4 * ARENA_LARGE_SIZE;
    uint8_t *block = arena_alloc(arena, size);
    memset(block, 7, size);
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        block = arena_shrink(arena, block, &size, wanted[i]);
        assert_int_equal(size, wanted[i] == 1 ? ARENA_LARGE_SIZE : wanted[i]);
        assert_int_equal(arena_held_size(arena), ARENA_KEPT_SIZE + size);
        assert_int_equal(block[0], 7);
    }
}

static void a_budget_counts_what_arenas_hold(void **state)
{
    (void)state;
    struct memory_budget budget = { .size_max = 1 };
    struct arena *arena = arena_create_counted(&budget);
    assert_int_equal(memory_budget_used(&budget), ARENA_KEPT_SIZE);
    arena_alloc(arena, ARENA_KEPT_SIZE);
    uint8_t *block = arena_alloc(arena, ARENA_LARGE_SIZE);
    arena_grow(arena, block, ARENA_LARGE_SIZE, 3 * ARENA_LARGE_SIZE);
    assert_true(memory_budget_used(&budget) > 3 * ARENA_LARGE_SIZE);
    assert_int_equal(memory_budget_used(&budget), arena_held_size(arena));
    arena_reset(arena);
    assert_int_equal(memory_budget_used(&budget), ARENA_KEPT_SIZE);
    arena_destroy(arena);
    assert_int_equal(memory_budget_used(&budget), 0);
}

static void a_budget_refuses_what_passes_its_bound(void **state)
{
    (void)state;
    struct memory_budget budget = { .size_max = 100 };
    assert_true(memory_budget_try_take(&budget, 99));
    assert_false(memory_budget_try_take(&budget, 2));
    assert_false(memory_budget_try_take(&budget, SIZE_MAX));
    assert_true(memory_budget_try_take(&budget, 1));
    assert_false(memory_budget_try_take(&budget, 1));
    memory_budget_take(&budget, 50); /* Cannot be refused. */
    assert_false(memory_budget_try_take(&budget, 0));
    memory_budget_give(&budget, 51);
    assert_true(memory_budget_try_take(&budget, 1));
    assert_int_equal(memory_budget_used(&budget), 100);
    assert_true(memory_budget_try_take(NULL, SIZE_MAX));
}

static void a_copy_is_its_own(void **state)
{
    struct arena *arena = *state;
    char text[] = "a\0b";
    struct bytes copy = arena_copy(arena, bytes_of(text, 3));
    text[0] = 'x';
    assert_true(bytes_equal(copy, BYTES("a\0b")));
    struct bytes empty = arena_copy(arena, bytes_of(NULL, 0));
    assert_non_null(empty.data);
    assert_int_equal(empty.len, 0);
}

static void printf_counts_without_the_nul(void **state)
{
    struct arena *arena = *state;
    struct bytes text = arena_printf(arena, "%s has %d", "table", 12);
    assert_true(bytes_equal_text(text, "table has 12"));
    assert_int_equal(text.data[text.len], 0);
    assert_int_equal(arena_printf(arena, "%s", "").len, 0);
    assert_int_equal(arena_printf(arena, "%5000d", 1).len, 5000);
}

static void destroying_null_is_allowed(void **state)
{
    (void)state;
    arena_destroy(NULL);
}

static void a_size_that_only_a_mistake_asks_for_aborts(void **state)
{
    static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - ARENA_ALIGNMENT, SIZE_MAX / 2 + 2,
                                    ARENA_ALLOCATION_MAX + 1 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGABRT, SIG_DFL);
            if (freopen("/dev/null", "w", stderr) != NULL)
                arena_alloc(*state, sizes[i]);
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

#if defined(__SANITIZE_ADDRESS__)
static void stale_and_overrun_memory_is_poisoned(void **state)
{
    struct arena *arena = *state;
    uint8_t *block = arena_alloc(arena, 13);
    assert_false(__asan_address_is_poisoned(block + 12));
    assert_true(__asan_address_is_poisoned(block + 13));
    block = arena_grow(arena, block, 13, 29);
    assert_false(__asan_address_is_poisoned(block + 28));
    assert_true(__asan_address_is_poisoned(block + 29));
    uint8_t *next = arena_alloc(arena, 1);
    assert_true(__asan_address_is_poisoned(next - 1));
    arena_reset(arena);
    assert_true(__asan_address_is_poisoned(block));
}
#endif

/* The shelf is one for all arenas. */
static int set_up(void **state)
{
    arena_empty_shelf();
    *state = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(allocations_are_aligned_and_apart),
        TEST(a_block_is_never_overfilled),
        TEST(zeroed_memory_is_zero_though_it_was_used),
        TEST(an_allocation_may_be_larger_than_any_block_so_far),
        TEST(a_sized_arena_holds_no_more_than_it_needs),
        TEST(a_reset_keeps_the_first_block_only),
        TEST(small_requests_never_need_a_second_block),
        TEST(the_last_block_grows_in_place),
        TEST(an_earlier_block_grows_by_copying),
        TEST(growing_past_the_end_of_a_block_copies),
        TEST(growing_nothing_allocates),
        TEST(a_large_allocation_grows_without_leaving_anything_behind),
        TEST(a_freed_large_allocation_serves_the_next),
        TEST(so_many_large_allocations_are_kept_and_no_more),
        TEST(an_arena_without_a_budget_holds_no_more_than_it_asked_for),
        TEST(the_shelf_is_emptied_when_memory_is_scarce),
        TEST(larger_allocations_are_given_back),
        TEST(what_a_shrunk_allocation_had_is_used_again),
        TEST(a_large_allocation_shrinks_down_to_the_smallest_large_one),
        TEST(a_budget_counts_what_arenas_hold),
        TEST(a_budget_refuses_what_passes_its_bound),
        TEST(joins_parts_in_their_order),
        TEST(a_copy_is_its_own),
        TEST(printf_counts_without_the_nul),
        TEST(destroying_null_is_allowed),
        TEST(a_size_that_only_a_mistake_asks_for_aborts),
#if defined(__SANITIZE_ADDRESS__)
        TEST(stale_and_overrun_memory_is_poisoned),
#endif
    };
    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
