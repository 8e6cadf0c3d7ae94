/* test_key_template.c -- templates of keys, against a matcher that tries everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "schema/key_template.h"

static struct key_template parse(struct arena *arena, const char *text)
{
    struct key_template template;
    struct bytes failure;
    if (!key_template_parse(arena, bytes_from_text(text), &template, &failure))
        fail_msg("%s: %.*s", text, BYTES_FMT(failure));
    return template;
}

static const struct {
    const char *template, *value;
    bool matches;
} matches[] = {
    { "PROFILE", "PROFILE", true },
    { "PROFILE", "PROFILE#1", false },
    { "PROFILE", "PROFIL", false },
    { "USER#<id>", "USER#1", true },
    { "USER#<id>", "USER#", false },
    { "USER#<id>", "USER#1#2", false },
    { "USER#<id*>", "USER#1#2", true },
    { "USER#${id}", "USER#1", true },
    { "ORDER#<date>#<id>", "ORDER#2026-11-16#7", true },
    { "ORDER#<date>#<id>", "ORDER#2026-11-16", false },
    { "ORDER#<date>#<id>", "ORDER##7", false },
    { "<id>", "anything", true },
    { "<id>", "", false },
    { "<a>:<b>", "1:2:3", true },
    { "<a>#END", "1#END", true },
    { "<a>xEND", "1xENDxEND", true },
    { "<a>xEND", "xEND", false },
};

static void a_value_follows_its_template(void **state)
{
    for (size_t i = 0; i < COUNT_OF(matches); i++) {
        struct key_template template = parse(*state, matches[i].template);
        if (key_template_matches(&template, bytes_from_text(matches[i].value)) !=
            matches[i].matches)
            fail_msg("%s on %s", matches[i].template, matches[i].value);
    }
}

static const struct {
    const char *template, *failure;
} refused[] = {
    { "", "the template \"\" must have 1 to 1024 bytes" },
    { "<a><b>", "the template \"<a><b>\" has two parameters without text between them" },
    { "x<a", "the template \"x<a\" has a parameter without an end" },
    { "<a*>b", "the template \"<a*>b\" has something behind a parameter with a *" },
    { "<>", "the template \"<>\" has a parameter without a name of letters, digits, '_', '-' and "
            "'.'" },
};

static void a_template_that_is_not_clear_is_refused(void **state)
{
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct key_template template;
        struct bytes failure;
        assert_false(
            key_template_parse(*state, bytes_from_text(refused[i].template), &template, &failure));
        if (!bytes_equal_text(failure, refused[i].failure))
            fail_msg("%.*s, want %s", BYTES_FMT(failure), refused[i].failure);
    }
}

static void the_number_of_parameters_is_bounded(void **state)
{
    char text[KEY_TEMPLATE_PARAMETERS_MAX * 4 + 8];
    struct key_template template;
    struct bytes failure;
    size_t size = 0;
    for (int i = 0; i < KEY_TEMPLATE_PARAMETERS_MAX; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "<a>#");
    assert_true(key_template_parse(*state, bytes_of(text, size), &template, &failure));
    assert_int_equal(key_template_parameter_count(&template), KEY_TEMPLATE_PARAMETERS_MAX);
    size += (size_t)snprintf(text + size, sizeof text - size, "<a>");
    assert_false(key_template_parse(*state, bytes_of(text, size), &template, &failure));
}

static bool lookup(const void *context, struct bytes name, struct bytes *value)
{
    (void)context;
    if (!bytes_equal_text(name, "id"))
        return false;
    *value = BYTES("42");
    return true;
}

static void parameters_are_replaced_by_their_values(void **state)
{
    struct key_template good = parse(*state, "A#<id>#Z"), bad = parse(*state, "A#<id>#<date>");
    struct bytes out, missing;
    assert_true(key_template_fill(*state, &good, lookup, NULL, &out, &missing));
    assert_true(bytes_equal_text(out, "A#42#Z"));
    assert_false(key_template_fill(*state, &bad, lookup, NULL, &out, &missing));
    assert_true(bytes_equal_text(missing, "date"));
    assert_true(bytes_equal_text(out, "A#42#"));
}

/* --- Random templates of a small alphabet --- */

/* Tries every end of every parameter. `t` is the template as written. */
static bool naive(const char *t, const char *v)
{
    if (*t == '\0')
        return *v == '\0';
    if (*t != '<')
        return *t == *v && naive(t + 1, v + 1);
    bool all = t[2] == '*';
    const char *rest = t + (all ? 4 : 3);
    for (size_t n = 1; v[n - 1] != '\0'; n++) {
        if (!all && v[n - 1] == '#')
            return false;
        if (naive(rest, v + n))
            return true;
    }
    return false;
}

static void random_template(struct random *random, char *out)
{
    static const char *const pieces[] = { "a", "b", "#", "ab", "<x>", "<x>" };
    size_t count = 1 + random_below(random, 5), size = 0;
    bool after = false;
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[random_below(random, COUNT_OF(pieces))];
        if (after && piece[0] == '<')
            piece = "#";
        after = piece[0] == '<';
        size += (size_t)snprintf(out + size, 64 - size, "%s", piece);
    }
    if (!after && random_below(random, 4) == 0)
        snprintf(out + size, 64 - size, "<x*>");
}

enum { VALUE_SIZE_MAX = 6 };

/* All values of up to VALUE_SIZE_MAX bytes of "ab#". */
static bool next_value(char *value)
{
    static const char letters[] = "ab#";
    size_t size = strlen(value);
    for (size_t i = 0; i < size; i++) {
        const char *at = strchr(letters, value[i]);
        if (at[1] != '\0') {
            value[i] = at[1];
            return true;
        }
        value[i] = letters[0];
    }
    if (size == VALUE_SIZE_MAX)
        return false;
    value[size] = letters[0];
    value[size + 1] = '\0';
    return true;
}

static void matching_and_overlaps_agree_with_trying_everything(void **state)
{
    struct random random;
    random_init(&random, 22);
    size_t overlaps = 0;
    for (int turn = 0; turn < 300; turn++) {
        char a[80] = "", b[80] = "", value[VALUE_SIZE_MAX + 2] = "";
        random_template(&random, a);
        random_template(&random, b);
        struct key_template first = parse(*state, a), second = parse(*state, b);
        bool both = false;
        do {
            bool in_a = key_template_matches(&first, bytes_from_text(value));
            bool in_b = key_template_matches(&second, bytes_from_text(value));
            if (in_a != naive(a, value))
                fail_msg("%s on %s", a, value);
            both |= in_a && in_b;
        } while (next_value(value));
        bool overlap = key_template_overlaps(&first, &second);
        assert_int_equal(overlap, key_template_overlaps(&second, &first));
        if (both && !overlap)
            fail_msg("%s and %s overlap", a, b);
        /* The shortest common value of such templates may be a little longer. */
        if (overlap && !both && first.size_min + second.size_min <= VALUE_SIZE_MAX)
            fail_msg("%s and %s do not overlap", a, b);
        overlaps += overlap;
    }
    assert_in_range(overlaps, 20, 280);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_value_follows_its_template),
        ARENA_TEST(a_template_that_is_not_clear_is_refused),
        ARENA_TEST(the_number_of_parameters_is_bounded),
        ARENA_TEST(parameters_are_replaced_by_their_values),
        ARENA_TEST(matching_and_overlaps_agree_with_trying_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
