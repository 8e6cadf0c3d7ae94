/* test_rados_page.c -- pages of entries whose sizes are guessed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "engine/rados/rados_page.h"
#include "engine/rados/rados_store.h"

enum { LARGE = 400 * 1024, SMALL = 100 };

static void a_page_is_bounded_by_count_and_by_size(void **state)
{
    static const struct {
        uint32_t largest;
        size_t bytes_max, count_max;
        uint64_t want;
    } cases[] = {
        { 0, 0, SIZE_MAX, RADOS_PAGE_ENTRIES_UNKNOWN },
        { 0, 0, 7, 7 },
        { 1, 0, SIZE_MAX, RADOS_PAGE_ENTRIES_MAX },
        { 1, 100, SIZE_MAX, 101 },
        { RADOS_PAGE_SIZE, 0, SIZE_MAX, 2 },
        { RADOS_PAGE_SIZE / 8, SIZE_MAX, SIZE_MAX, 9 },
        { UINT32_MAX, 0, SIZE_MAX, 1 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(
            rados_page_entries(cases[i].largest, cases[i].bytes_max, cases[i].count_max),
            cases[i].want);
}

/* The next pages may be full of them. */
static void one_large_entry_among_small_ones_bounds_the_next_pages(void **state)
{
    (void)state;
    uint32_t largest = rados_page_remember(0, SMALL);
    assert_int_equal(rados_page_entries(largest, 0, SIZE_MAX), RADOS_PAGE_ENTRIES_MAX);
    largest = rados_page_remember(largest, LARGE);
    for (int page = 0; page < 5; page++) {
        assert_true(rados_page_entries(largest, 0, SIZE_MAX) * LARGE <= 3 * RADOS_PAGE_SIZE);
        largest = rados_page_remember(largest, SMALL);
    }
}

static void a_large_entry_is_forgotten_in_time(void **state)
{
    (void)state;
    uint32_t largest = rados_page_remember(0, LARGE);
    int pages = 0;
    while (rados_page_entries(largest, 0, SIZE_MAX) < RADOS_PAGE_ENTRIES_MAX && pages < 100) {
        largest = rados_page_remember(largest, SMALL);
        pages++;
    }
    assert_in_range(pages, 10, 60);
    for (int i = 0; i < 100; i++)
        largest = rados_page_remember(largest, SMALL);
    assert_int_equal(largest, SMALL);
    assert_int_equal(rados_page_remember(largest, SIZE_MAX), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_bounded_by_count_and_by_size),
        cmocka_unit_test(one_large_entry_among_small_ones_bounds_the_next_pages),
        cmocka_unit_test(a_large_entry_is_forgotten_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
