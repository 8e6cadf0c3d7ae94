/* test_url.c -- the parts of a URL of another server, and what of one may be shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
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

static const struct {
    const char *text, *host, *authority, *target;
    unsigned port;
    bool is_tls;
} urls[] = {
    { "http://127.0.0.1:9000/f", "127.0.0.1", "127.0.0.1:9000", "/f", 9000, false },
    { "http://lambda", "lambda", "lambda", "/", 80, false },
    { "http://lambda/", "lambda", "lambda", "/", 80, false },
    { "http://[::1]:65535/a?b=/c", "::1", "[::1]:65535", "/a?b=/c", 65535, false },
    { "http://[::1]", "::1", "[::1]", "/", 80, false },
    { "http://h:1", "h", "h:1", "/", 1, false },
    { "https://h", "h", "h", "/", 443, true },
    { "https://[::1]/f?q", "::1", "[::1]", "/f?q", 443, true },
    { "https://h:80/", "h", "h:80", "/", 80, true },
    { "http://h:443/", "h", "h:443", "/", 443, false },
};

static void a_url_has_a_host_a_port_and_a_target(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct http_url url;
        assert_null(http_url_parse(bytes_from_text(urls[i].text), &url));
        assert_true(bytes_equal_text(url.host, urls[i].host));
        assert_true(bytes_equal_text(url.authority, urls[i].authority));
        assert_true(bytes_equal_text(url.target, urls[i].target));
        assert_int_equal(url.port, urls[i].port);
        assert_int_equal(url.is_tls, urls[i].is_tls);
    }
}

static const struct {
    const char *text, *problem;
} bad_urls[] = {
    { "", "it does not begin with http:// or https://" },
    { "HTTP://x", "it does not begin with http:// or https://" },
    { "https:/x/", "it does not begin with http:// or https://" },
    { "ftp://x/", "it does not begin with http:// or https://" },
    { "https://", "the host is missing or has characters that no host has" },
    { "https://u:p@h/", "the host is missing or has characters that no host has" },
    { "http://", "the host is missing or has characters that no host has" },
    { "http:///f", "the host is missing or has characters that no host has" },
    { "http://:80/f", "the host is missing or has characters that no host has" },
    { "http://a b/", "the host is missing or has characters that no host has" },
    { "http://u@h/", "the host is missing or has characters that no host has" },
    { "http://h:/", "the port is not a number from 1 to 65535" },
    { "http://h:0/", "the port is not a number from 1 to 65535" },
    { "http://h:65536/", "the port is not a number from 1 to 65535" },
    { "http://h:123456/", "the port is not a number from 1 to 65535" },
    { "http://h:8x/", "the port is not a number from 1 to 65535" },
    { "http://[::1/", "the address has no closing bracket" },
    { "http://[::1]x/", "something other than a port stands behind the host" },
    { "http://h?x", "the query has no path before it" },
    { "http://h/a b", "the path has characters that have to be written as %XX" },
    { "http://h/#x", "the path has characters that have to be written as %XX" },
};

static void what_is_no_url_is_told_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_urls); i++) {
        struct http_url url;
        const char *problem = http_url_parse(bytes_from_text(bad_urls[i].text), &url);
        if (problem == NULL || strcmp(problem, bad_urls[i].problem) != 0)
            fail_msg("%s: %s", bad_urls[i].text, problem == NULL ? "accepted" : problem);
    }
}

static void a_url_and_its_host_have_bounds(void **state)
{
    for (size_t over = 0; over < 2; over++) {
        struct http_url url;
        uint8_t *text = arena_alloc(*state, HTTP_URL_SIZE_MAX + 1);
        memset(text, 'x', HTTP_URL_SIZE_MAX + 1);
        memcpy(text, "http://h/", 9);
        assert_int_equal(http_url_parse(bytes_of(text, HTTP_URL_SIZE_MAX + over), &url) == NULL,
                         over == 0);
        text[8] = 'x';
        assert_int_equal(http_url_parse(bytes_of(text, 7 + HTTP_URL_HOST_SIZE_MAX + over), &url) ==
                             NULL,
                         over == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_url_is_shown_without_user_info_query_and_fragment),
        ARENA_TEST(a_nul_ends_no_url),
        cmocka_unit_test(a_url_has_a_host_a_port_and_a_target),
        cmocka_unit_test(what_is_no_url_is_told_why),
        ARENA_TEST(a_url_and_its_host_have_bounds),
    };
    return cmocka_run_group_tests_name("http/url", tests, NULL, NULL);
}
