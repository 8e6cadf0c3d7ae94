/* test_url.c -- what of a URL may be shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/compiler.h"
#include "http/url.h"

static const struct {
    const char *rule, *text, *want;
} cases[] = {
    { "scheme, host, port and path stay", "http://h:80/a/b", "http://h:80/a/b" },
    { "any scheme", "https://h/a", "https://h/a" },
    { "no path", "http://h", "http://h" },
    { "an address of IPv6", "http://[::1]:9000/f", "http://[::1]:9000/f" },
    { "user info goes", "http://user:s3cret@h:80/a", "http://h:80/a" },
    { "user info alone", "http://s3cret@h", "http://h" },
    { "user info with an at sign in it", "http://u:s3@cret@h/a", "http://h/a" },
    { "the query goes", "http://h/a?token=s3cret", "http://h/a" },
    { "a query without a path", "http://h?token=s3cret", "http://h" },
    { "a query with slashes", "http://h/a?to=http://u:s3cret@x/y", "http://h/a" },
    { "a query without a path, with slashes", "http://h?to=/s3cret@x/y", "http://h" },
    { "the fragment goes", "http://h/a#s3cret", "http://h/a" },
    { "a fragment without a path", "http://h#s3cret", "http://h" },
    { "a fragment with a question mark", "http://h/a#b?s3cret", "http://h/a" },
    { "all of them", "https://u:s3cret@h:1/a?s3cret#s3cret", "https://h:1/a" },
    { "an at sign in a path is no user info", "http://h/a@b", "http://h/a@b" },
    { "without a scheme", "u:s3cret@h/a?s3cret", "h/a" },
    { "slashes in a query begin no host", "mailto?s3cret://h/a", "mailto" },
    { "slashes in a path begin no host", "h/a://u@x?s3cret", "h/a://u@x" },
    { "an empty text", "", "" },
    { "no more than a scheme", "http://", "http://" },
};

static void a_url_is_shown_without_user_info_query_and_fragment(void **state)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes shown = url_without_secrets(*state, bytes_from_text(cases[i].text));
        if (!bytes_equal_text(shown, cases[i].want))
            fail_msg("%s: '%.*s'", cases[i].rule, BYTES_FMT(shown));
    }
}

static void a_nul_ends_no_url(void **state)
{
    struct bytes shown = url_without_secrets(*state, BYTES("http://a\0u:s3cret@h/\0b?s3cret"));
    assert_true(bytes_equal(shown, BYTES("http://h/\0b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_url_is_shown_without_user_info_query_and_fragment),
        ARENA_TEST(a_nul_ends_no_url),
    };
    return cmocka_run_group_tests_name("http/url", tests, NULL, NULL);
}
