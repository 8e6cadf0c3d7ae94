/* test_latches.c -- a write holds the latch of each of its addresses once, in ascending order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "engine/rocksdb/latches.h"

enum { WAIT_MS = 1000, KEY_SIZE = 16 };

static struct latches latches;
static struct latches_held held;
static char keys[ENGINE_WRITE_ADDRESSES_MAX][KEY_SIZE];
static struct engine_address addresses[ENGINE_WRITE_ADDRESSES_MAX];

/* Every `different` addresses they come again. */
static void make_addresses(size_t count, size_t different)
{
    for (size_t i = 0; i < count; i++) {
        int size = snprintf(keys[i], KEY_SIZE, "%zu", i % different);
        addresses[i] =
            (struct engine_address){ .place = { 7, i % different % 4, ENGINE_SPACE_ITEMS },
                                     .key = bytes_of(keys[i], (size_t)size) };
    }
}

static void latches_are_held_once_and_in_order(void **state)
{
    static const size_t counts[] = { 0, 1, 2, 15, 16, 17, 100, ENGINE_WRITE_ADDRESSES_MAX };
    static const size_t differents[] = { 1, 3, ENGINE_WRITE_ADDRESSES_MAX };
    (void)state;
    latches_init(&latches, WAIT_MS);
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        for (size_t d = 0; d < COUNT_OF(differents); d++) {
            make_addresses(counts[c], differents[d]);
            assert_true(latches_take(&latches, addresses, counts[c], &held));
            assert_true(held.count <= differents[d] && held.count <= counts[c]);
            for (size_t i = 1; i < held.count; i++)
                assert_true(held.indexes[i - 1] < held.indexes[i]);
            for (size_t i = 0; i < counts[c]; i++)
                assert_true(latches_cover(&held, &addresses[i]));
            latches_release(&latches, &held);
        }
    }
    latches_deinit(&latches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latches_are_held_once_and_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
