/* test_pattern.c -- wildcards match what a plain definition of them says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "auth/pattern.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"

enum { ROUNDS = 200 * 1000, PIECES_MAX = 9 };

static const struct pattern_syntax wildcards = { .wildcards = true };

/* One character is é, which has two bytes, or one byte. */
static size_t character_size(struct bytes text)
{
    return text.len > 1 && text.data[0] == 0xC3 ? 2 : 1;
}

static struct bytes behind(struct bytes text, size_t size)
{
    return bytes_of(text.data + size, text.len - size);
}

/* By definition: * is nothing, or one character and * again. */
static bool is_alike(struct bytes pattern, struct bytes text)
{
    if (pattern.len == 0)
        return text.len == 0;
    if (pattern.data[0] == '*')
        return is_alike(behind(pattern, 1), text) ||
               (text.len > 0 && is_alike(pattern, behind(text, character_size(text))));
    if (text.len == 0)
        return false;
    if (pattern.data[0] == '?')
        return is_alike(behind(pattern, 1), behind(text, character_size(text)));
    return pattern.data[0] == text.data[0] && is_alike(behind(pattern, 1), behind(text, 1));
}

static struct bytes random_text(struct arena *arena, struct random *random,
                                const char *const *pieces, size_t count)
{
    struct buffer out;
    buffer_init(&out, arena);
    for (uint64_t i = random_below(random, PIECES_MAX); i > 0; i--)
        buffer_append_bytes(&out, bytes_from_text(pieces[random_below(random, count)]));
    return buffer_bytes(&out);
}

static void random_patterns_match_what_their_definition_says(void **state)
{
    (void)state;
    static const char *const of_patterns[] = { "*", "*", "?", "a", "b", "\xC3\xA9" };
    static const char *const of_texts[] = { "a", "a", "b", "\xC3\xA9" };
    struct arena *arena = arena_create();
    struct random random;
    random_init_from_system(&random);
    for (int i = 0; i < ROUNDS; i++) {
        arena_reset(arena);
        struct bytes pattern_text = random_text(arena, &random, of_patterns, COUNT_OF(of_patterns));
        struct bytes text = random_text(arena, &random, of_texts, COUNT_OF(of_texts));
        struct pattern pattern;
        assert_true(pattern_parse(arena, pattern_text, wildcards, &pattern));
        if (pattern_matches(&pattern, text) != is_alike(pattern_text, text) ||
            pattern_matches_ignoring_case(&pattern, text) != is_alike(pattern_text, text))
            fail_msg("pattern %.*s, text %.*s", BYTES_FMT(pattern_text), BYTES_FMT(text));
    }
    arena_destroy(arena);
}

/* "*", a part of so many tokens, "*". */
static bool is_accepted(struct arena *arena, size_t size, char first)
{
    char *text = arena_alloc(arena, size + 2);
    struct pattern pattern;
    memset(text, 'a', size + 2);
    text[0] = text[size + 1] = '*';
    text[1] = first;
    return pattern_parse(arena, bytes_of(text, size + 2), wildcards, &pattern);
}

static void a_part_with_a_question_mark_is_bounded(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    assert_true(is_accepted(arena, PATTERN_PART_TOKENS_MAX - 1, '?'));
    assert_true(is_accepted(arena, PATTERN_PART_TOKENS_MAX, '?'));
    assert_false(is_accepted(arena, PATTERN_PART_TOKENS_MAX + 1, '?'));
    assert_true(is_accepted(arena, PATTERN_PART_TOKENS_MAX + 1, 'a'));
    assert_true(is_accepted(arena, 10000, 'a'));
    arena_destroy(arena);
}

static void long_parts_are_found_in_long_texts(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    enum { TEXT_SIZE = 60000, PART_SIZE = 6000 };
    char *text = arena_alloc(arena, TEXT_SIZE), *part = arena_alloc(arena, PART_SIZE);
    memset(text, 'a', TEXT_SIZE);
    memset(part, 'a', PART_SIZE);
    part[0] = '*';
    part[PART_SIZE - 1] = '*';
    part[PART_SIZE - 2] = 'b';
    struct pattern pattern;
    assert_true(pattern_parse(arena, bytes_of(part, PART_SIZE), wildcards, &pattern));
    assert_false(pattern_matches(&pattern, bytes_of(text, TEXT_SIZE)));
    text[TEXT_SIZE - 1] = 'b';
    assert_true(pattern_matches(&pattern, bytes_of(text, TEXT_SIZE)));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_patterns_match_what_their_definition_says),
        cmocka_unit_test(a_part_with_a_question_mark_is_bounded),
        cmocka_unit_test(long_parts_are_found_in_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
