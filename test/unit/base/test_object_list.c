/* test_object_list.c -- objects stay sorted, and are freed when they are replaced or deleted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/object_list.h"
#include "base/random.h"

enum { KEYS = 50, STEPS = 2000 };

static struct object_list_entry make_entry(unsigned key, int value)
{
    struct object_list_entry entry = { .arena = arena_create_sized(256) };
    int *object = arena_alloc(entry.arena, sizeof *object);
    *object = value;
    entry.key = arena_printf(entry.arena, "%02u", key);
    entry.object = object;
    return entry;
}

/* Against an array. Leaks and uses after free are the sanitizers' part. */
static void a_random_list_is_as_an_array(void **state)
{
    (void)state;
    struct object_list list = { 0 };
    struct random random;
    int values[KEYS] = { 0 }; /* 0: there is none. */
    random_init(&random, 4711);
    for (int step = 1; step <= STEPS; step++) {
        unsigned key = (unsigned)random_below(&random, KEYS);
        struct object_list_entry entry = make_entry(key, step);
        if (random_below(&random, 3) == 0) {
            object_list_delete(&list, entry.key);
            values[key] = 0;
            arena_destroy(entry.arena);
        } else {
            object_list_put(&list, &entry);
            values[key] = step;
        }
        size_t at = 0;
        for (unsigned i = 0; i < KEYS; i++) {
            char text[4];
            snprintf(text, sizeof text, "%02u", i);
            const int *found = object_list_find(&list, bytes_from_text(text));
            assert_int_equal(found == NULL ? 0 : *found, values[i]);
            assert_int_equal(object_list_lower_bound(&list, bytes_from_text(text)), at);
            at += found != NULL;
        }
        assert_int_equal(list.count, at);
    }
    object_list_deinit(&list);
    assert_int_equal(list.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_random_list_is_as_an_array) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
