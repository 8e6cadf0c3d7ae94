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
        bool found[TEXTS_MAX];
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
                assert_int_equal(found[i], want);
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
    bool found[1] = { true };
    text_search_add(search, BYTES("a"));
    text_search_run(search, BYTES(""), found);
    assert_false(found[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(one_pass_finds_what_searches_find),
        ARENA_TEST(an_empty_haystack_contains_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
