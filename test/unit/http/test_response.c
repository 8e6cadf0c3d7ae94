/* test_response.c -- answers of other servers, and the URLs where they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "http/response.h"
#include "http/url.h"

enum { BODY_SIZE_MAX = 8 };

static int set_up(void **state)
{
    *state = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(*state);
    return 0;
}

static const struct {
    const char *text;
    enum http_response_status verdict; /* Once the connection is closed. */
    int status;
    const char *body;
} cases[] = {
    { "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull", HTTP_RESPONSE_DONE, 200, "null" },
    { "HTTP/1.1 200\r\ncontent-length:4\r\n\r\nnull", HTTP_RESPONSE_DONE, 200, "null" },
    { "HTTP/1.0 500 Oh no\r\n\r\nnull", HTTP_RESPONSE_DONE, 500, "null" },
    { "HTTP/1.1 204 No\r\n\r\n", HTTP_RESPONSE_DONE, 204, "" },
    { "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", HTTP_RESPONSE_DONE, 200, "" },
    { "HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", HTTP_RESPONSE_DONE,
      200, "x" },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n",
      HTTP_RESPONSE_DONE, 200, "abcd" },
    { "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n12345678", HTTP_RESPONSE_DONE, 200, "12345678" },
    { "HTTP/1.1 200 OK\r\n\r\n12345678", HTTP_RESPONSE_DONE, 200, "12345678" },
    { "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", HTTP_RESPONSE_TOO_LARGE, 0, "" },
    { "HTTP/1.1 200 OK\r\n\r\n123456789", HTTP_RESPONSE_TOO_LARGE, 0, "" },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n0\r\n\r\n",
      HTTP_RESPONSE_TOO_LARGE, 0, "" },
    { "", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\r\n", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnul", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", HTTP_RESPONSE_DAMAGED, 0,
      "" },
    { "HTTP/2 200 OK\r\n\r\n", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 2000 OK\r\n\r\n", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 099 OK\r\n\r\n", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 600 OK\r\n\r\n", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\nX: y\r\n\r\n", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\r\nX : y\r\n\r\n", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\r\nX\r\n\r\n", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nnull",
      HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nnull", HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
      HTTP_RESPONSE_DAMAGED, 0, "" },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", HTTP_RESPONSE_DAMAGED, 0, "" },
};

static void an_answer_is_read_from_pieces_of_any_size(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes text = bytes_from_text(cases[i].text);
        for (size_t piece = 1; piece <= text.len + 1; piece++) {
            struct http_response response;
            http_response_init(&response, arena, BODY_SIZE_MAX);
            for (size_t at = 0; at < text.len; at += piece)
                http_response_feed(
                    &response,
                    bytes_of(text.data + at, text.len - at < piece ? text.len - at : piece));
            if (http_response_end(&response) != cases[i].verdict)
                fail_msg("%s", cases[i].text);
            if (cases[i].verdict == HTTP_RESPONSE_DONE) {
                assert_int_equal(response.status, cases[i].status);
                assert_true(bytes_equal_text(buffer_bytes(&response.body), cases[i].body));
            }
        }
    }
}

static void an_answer_with_a_length_is_done_before_the_connection_ends(void **state)
{
    struct http_response response;
    http_response_init(&response, *state, BODY_SIZE_MAX);
    assert_int_equal(http_response_feed(
                         &response, BYTES("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull more")),
                     HTTP_RESPONSE_DONE);
    assert_true(bytes_equal_text(buffer_bytes(&response.body), "null"));
}

static void headers_are_found_whatever_their_case(void **state)
{
    struct http_response response;
    http_response_init(&response, *state, BODY_SIZE_MAX);
    assert_null(http_response_header(&response, "X").data);
    http_response_feed(&response, BYTES("HTTP/1.1 200 OK\r\nX-Amz-Function-Error: \tUnhandled \r\n"
                                        "Content-Length: 0\r\n\r\n"));
    assert_true(
        bytes_equal_text(http_response_header(&response, "x-amz-function-error"), "Unhandled"));
    assert_null(http_response_header(&response, "X-Amz").data);
}

static void a_head_has_a_bound(void **state)
{
    for (size_t over = 0; over < 2; over++) {
        struct http_response response;
        size_t size = HTTP_RESPONSE_HEAD_SIZE_MAX + over;
        uint8_t *text = arena_alloc(*state, size);
        memset(text, 'x', size);
        memcpy(text, "HTTP/1.1 204 OK\r\nA:", 19);
        memcpy(text + size - 4, "\r\n\r\n", 4);
        http_response_init(&response, *state, BODY_SIZE_MAX);
        assert_int_equal(http_response_feed(&response, bytes_of(text, size)),
                         over == 0 ? HTTP_RESPONSE_DONE : HTTP_RESPONSE_TOO_LARGE);
    }
}

static const struct {
    const char *text, *host, *authority, *target;
    unsigned port;
} urls[] = {
    { "http://127.0.0.1:9000/f", "127.0.0.1", "127.0.0.1:9000", "/f", 9000 },
    { "http://lambda", "lambda", "lambda", "/", 80 },
    { "http://lambda/", "lambda", "lambda", "/", 80 },
    { "http://[::1]:65535/a?b=/c", "::1", "[::1]:65535", "/a?b=/c", 65535 },
    { "http://[::1]", "::1", "[::1]", "/", 80 },
    { "http://h:1", "h", "h:1", "/", 1 },
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
    }
}

static const struct {
    const char *text, *problem;
} bad_urls[] = {
    { "", "it does not begin with http://" },
    { "HTTP://x", "it does not begin with http://" },
    { "https://x/", "https is not supported yet; only http is" },
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
        cmocka_unit_test_setup_teardown(an_answer_is_read_from_pieces_of_any_size, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_answer_with_a_length_is_done_before_the_connection_ends,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(headers_are_found_whatever_their_case, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_head_has_a_bound, set_up, tear_down),
        cmocka_unit_test(a_url_has_a_host_a_port_and_a_target),
        cmocka_unit_test(what_is_no_url_is_told_why),
        cmocka_unit_test_setup_teardown(a_url_and_its_host_have_bounds, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
