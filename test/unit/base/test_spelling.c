/* test_spelling.c -- which misspelt names are recognised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/compiler.h"
#include "base/spelling.h"

static const char *const known[] = { "port", "data-dir", "in-memory", "tls-cert-file", "auth" };

static const char *meant_by(struct bytes written)
{
    struct spelling spelling = spelling_of(written);
    for (size_t i = 0; i < COUNT_OF(known); i++)
        spelling_try(&spelling, known[i]);
    return spelling.meant;
}

static void one_wrong_letter_in_three_is_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *written, *meant;
    } cases[] = {
        { "por", "port" },
        { "prot", "port" },
        { "ports", "port" },
        { "pory", "port" },
        { "datadir", "data-dir" },
        { "inmemroy", "in-memory" },
        { "tls-crt-file", "tls-cert-file" },
        { "aut", "auth" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(meant_by(bytes_from_text(cases[i].written)), cases[i].meant);
}

static void other_names_are_not(void **state)
{
    (void)state;
    static const char *const others[] = { "", "p", "sport5", "bogus", "data", "memory" };
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_null(meant_by(bytes_from_text(others[i])));
}

static void a_name_longer_than_any_is_not_compared(void **state)
{
    (void)state;
    static char text[100000];
    memset(text, 'p', sizeof text);
    assert_null(meant_by(bytes_of(text, sizeof text)));
    assert_null(meant_by(bytes_of(text, SPELLING_SIZE_MAX + 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_wrong_letter_in_three_is_recognised),
        cmocka_unit_test(other_names_are_not),
        cmocka_unit_test(a_name_longer_than_any_is_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
