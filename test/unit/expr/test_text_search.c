/* test_text_search.c -- one pass finds exactly the texts that a search for each finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/random.h"
#include "expr/text_search.h"

enum { TEXTS_MAX = 40, HAYSTACK_MAX = 600 };

static struct bytes random_text(struct arena *arena, struct random *random, size_t size_max,
                                unsigned letters)
{
    size_t size = 1 + random_below(random, size_max);
    uint8_t *text = arena_alloc(arena, size);
    for (size_t i = 0; i < size; i++)
        text[i] = (uint8_t)(0xFE + random_below(random, letters)); /* Zero is among them. */
    return bytes_of(text, size);
}

/* Few letters, so that texts begin, overlap and end alike; some are cut out of the haystack. */
static void one_pass_finds_what_searches_find(void **state)
{
    enum { ROUNDS = 2000 };
    struct arena *arena = *state;
    struct random random;
    size_t hits = 0, misses = 0;
    random_init(&random, 15);
    struct arena *kept = arena_create();
    struct text_search *search = text_search_create(kept);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned letters = 1 + (unsigned)random_below(&random, 4);
        size_t count = 1 + random_below(&random, TEXTS_MAX);
        struct bytes haystack = random_text(arena, &random, HAYSTACK_MAX, letters);
        struct bytes texts[TEXTS_MAX];
        uint8_t found[TEXTS_MAX];
        text_search_reset(search);
        for (size_t i = 0; i < count; i++) {
            texts[i] = random_text(arena, &random, 12, letters);
            if (random_below(&random, 3) == 0) {
                size_t at = random_below(&random, haystack.len);
                size_t size = 1 + random_below(&random, haystack.len - at);
                texts[i] = bytes_of(haystack.data + at, size);
            }
            text_search_add(search, texts[i]);
        }
        for (int run = 0; run < 2; run++) {
            if (run == 1)
                haystack = random_text(arena, &random, HAYSTACK_MAX, letters);
            text_search_run(search, haystack, found);
            for (size_t i = 0; i < count; i++) {
                bool want =
                    memmem(haystack.data, haystack.len, texts[i].data, texts[i].len) != NULL;
                assert_int_equal(found[i], want ? TEXT_FOUND : TEXT_MISSING);
                hits += want;
                misses += !want;
            }
        }
        arena_reset(arena);
    }
    assert_true(hits > ROUNDS && misses > ROUNDS);
    arena_destroy(kept);
}

static void an_empty_haystack_contains_nothing(void **state)
{
    struct text_search *search = text_search_create(*state);
    uint8_t found[1] = { TEXT_FOUND };
    text_search_add(search, BYTES("a"));
    text_search_run(search, BYTES(""), found);
    assert_int_equal(found[0], TEXT_MISSING);
}

/* A text of `size` letters: "x", and at the end another one. */
static struct bytes long_text(struct arena *arena, size_t size, char last)
{
    uint8_t *text = arena_alloc(arena, size);
    memset(text, 'x', size);
    text[size - 1] = (uint8_t)last;
    return bytes_of(text, size);
}

/* Equal at the same place, and at others. */
static void equal_texts_take_the_room_of_one(void **state)
{
    enum { EQUAL = 300, COPIES = 4, SIZE = 60 * 1000 };
    struct arena *arena = *state, *kept = arena_create();
    struct text_search *search = text_search_create(kept);
    struct bytes copies[COPIES];
    uint8_t found[EQUAL + 1];
    for (size_t i = 0; i < COPIES; i++)
        copies[i] = long_text(arena, SIZE, 'y');
    for (size_t i = 0; i < EQUAL; i++)
        text_search_add(search, copies[i % COPIES]);
    text_search_add(search, BYTES("xz"));
    for (int run = 0; run < 2; run++) {
        bool contains = run == 1;
        struct bytes haystack = long_text(arena, SIZE + 9, contains ? 'y' : 'z');
        size_t passed = text_search_run(search, haystack, found);
        assert_int_equal(passed, haystack.len + (run == 0 ? SIZE + 2 : 0));
        for (size_t i = 0; i < EQUAL; i++) {
            assert_int_equal(found[i], contains ? TEXT_FOUND : TEXT_MISSING);
            assert_int_equal(text_search_first(search, i), text_search_first(search, 0));
        }
        assert_int_equal(found[EQUAL], contains ? TEXT_MISSING : TEXT_FOUND);
        assert_int_equal(text_search_first(search, EQUAL), EQUAL);
    }
    assert_true(arena_held_size(kept) <= TEXT_SEARCH_MEMORY_MAX + ARENA_LARGE_SIZE);
    arena_destroy(kept);
}

/* Two short texts and one that fills the rest, or is a byte longer. */
static void the_shortest_texts_up_to_the_bound_are_looked_for(void **state)
{
    struct arena *arena = *state, *kept = arena_create();
    struct text_search *search = text_search_create(kept);
    for (size_t beyond = 0; beyond < 2; beyond++) {
        uint8_t found[3];
        struct bytes text = long_text(arena, TEXT_SEARCH_SIZE_MAX - 5 + beyond, 'y');
        text_search_reset(search);
        text_search_add(search, text);
        text_search_add(search, BYTES("xxx"));
        text_search_add(search, BYTES("ab"));
        size_t passed = text_search_run(search, text, found);
        assert_int_equal(passed, text.len + (beyond == 0 ? TEXT_SEARCH_SIZE_MAX : 5));
        assert_int_equal(found[0], beyond == 0 ? TEXT_FOUND : TEXT_NOT_SEARCHED);
        assert_int_equal(found[1], TEXT_FOUND);
        assert_int_equal(found[2], TEXT_MISSING);
    }
    assert_true(arena_held_size(kept) <= TEXT_SEARCH_MEMORY_MAX + ARENA_LARGE_SIZE);
    arena_destroy(kept);
}

static void without_short_texts_nothing_is_passed(void **state)
{
    struct text_search *search = text_search_create(*state);
    struct bytes text = long_text(*state, TEXT_SEARCH_SIZE_MAX + 1, 'y');
    uint8_t found[1];
    text_search_add(search, text);
    assert_int_equal(text_search_run(search, text, found), 0);
    assert_int_equal(found[0], TEXT_NOT_SEARCHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(one_pass_finds_what_searches_find),
        ARENA_TEST(an_empty_haystack_contains_nothing),
        ARENA_TEST(equal_texts_take_the_room_of_one),
        ARENA_TEST(the_shortest_texts_up_to_the_bound_are_looked_for),
        ARENA_TEST(without_short_texts_nothing_is_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
