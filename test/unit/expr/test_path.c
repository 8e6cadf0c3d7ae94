/* test_path.c -- paths that lead into each other are found among any number of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/random.h"
#include "expr/path.h"
#include "expr/operand_rules.h"

enum { PATHS_MAX = 6, STEPS_MAX = 3, ROUNDS = 20000, SEED = 20261115 };

/* Few different steps, so that most sets have paths that meet. */
static struct path_step random_step(struct random *random, bool is_first)
{
    static const char *const names[] = { "a", "b", "ab" };
    uint64_t choice = random_below(random, is_first ? 3 : 5);
    if (choice < 3)
        return (struct path_step){ .name = bytes_from_text(names[choice]) };
    return (struct path_step){ .index = (uint32_t)choice - 3 };
}

static struct path random_path(struct random *random, struct arena *arena)
{
    size_t count = 1 + random_below(random, STEPS_MAX);
    struct path_step *steps = arena_alloc(arena, count * sizeof *steps);
    for (size_t i = 0; i < count; i++)
        steps[i] = random_step(random, i == 0);
    return (struct path){ .steps = steps, .step_count = count };
}

static bool any_pair_meets(const struct path *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (path_relate(&paths[i], &paths[j]) != PATHS_DISJOINT)
                return true;
        }
    }
    return false;
}

static void sorting_finds_paths_that_meet_if_any_do(void **state)
{
    struct random random;
    struct arena *arena = arena_create();
    size_t met = 0;
    (void)state;
    random_init(&random, SEED);
    for (int round = 0; round < ROUNDS; round++) {
        struct path paths[PATHS_MAX];
        struct bytes message;
        size_t count = random_below(&random, PATHS_MAX + 1);
        for (size_t i = 0; i < count; i++)
            paths[i] = random_path(&random, arena);
        bool meets = any_pair_meets(paths, count);
        met += meets;
        if (operand_rules_check_all_disjoint(arena, paths, count, &message) == meets)
            fail_msg("round %d of seed %d", round, SEED);
        arena_reset(arena);
    }
    assert_in_range(met, ROUNDS / 10, ROUNDS * 9 / 10); /* Both kinds were met. */
    arena_destroy(arena);
}

static void the_path_that_comes_first_is_told_first(void **state)
{
    static const struct path_step steps[] = { { .name = { (const uint8_t *)"a", 1 } },
                                              { .name = { (const uint8_t *)"b", 1 } } };
    const struct path whole = { steps, 1 }, part = { steps, 2 };
    const struct path orders[][2] = { { whole, part }, { part, whole } };
    static const char *const want[] = {
        "Two document paths overlap with each other; must remove or rewrite one of these paths; "
        "path one: [a], path two: [a, b]",
        "Two document paths overlap with each other; must remove or rewrite one of these paths; "
        "path one: [a, b], path two: [a]",
    };
    struct arena *arena = arena_create();
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bytes message;
        assert_false(operand_rules_check_all_disjoint(arena, orders[i], 2, &message));
        assert_true(bytes_equal_text(message, want[i]));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_finds_paths_that_meet_if_any_do),
        cmocka_unit_test(the_path_that_comes_first_is_told_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
