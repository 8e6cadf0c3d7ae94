/* test_origin.c -- which web pages may call, by the headers of their requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "router/origin.h"

static struct bytes header(const char *text)
{
    return text == NULL ? (struct bytes){ 0 } : bytes_from_text(text);
}

struct origin_case {
    const char *name, *origins, *hosts;
    const char *origin, *fetch_site, *host; /* NULL: the request has no such header. */
    enum origin_verdict verdict;
    const char *allowed; /* NULL: no header of the answer. */
};

static void check(const struct origin_case *test)
{
    const struct origin_rules rules = { test->origins, test->hosts };
    const struct origin_headers headers = { header(test->origin), header(test->fetch_site),
                                            header(test->host) };
    struct bytes allowed;
    enum origin_verdict verdict = origin_judge(&rules, &headers, &allowed);
    bool is_right =
        verdict == test->verdict &&
        (test->allowed == NULL ? allowed.data == NULL : bytes_equal_text(allowed, test->allowed));
    if (!is_right)
        fail_msg("%s: verdict %d, allowed '%.*s'", test->name, (int)verdict, (int)allowed.len,
                 allowed.data == NULL ? "" : (const char *)allowed.data);
}

#define DEFAULTS .origins = "loopback", .hosts = ""
#define LOCAL_PAGE .origin = "http://localhost:3000"

static void what_no_browser_sent_is_served_under_any_name(void **state)
{
    (void)state;
    static const char *const hosts[] = { NULL,
                                         "localhost:8000",
                                         "dynamodb:8000",
                                         "db.example",
                                         "127.0.0.1:8000",
                                         "[::1]:8000",
                                         "10.0.0.1",
                                         "evil.example:80",
                                         "",
                                         "a b c",
                                         ":",
                                         "[" };
    for (size_t i = 0; i < COUNT_OF(hosts); i++)
        check(&(struct origin_case){
            .name = "no mark", DEFAULTS, .host = hosts[i], .verdict = ORIGIN_SERVED });
}

static void by_default_only_pages_of_this_machine_may_call(void **state)
{
    (void)state;
    static const char *const ours[] = {
        "http://localhost", "http://localhost:3000", "https://localhost:8443",
        "http://127.0.0.1", "http://127.0.0.1:5173", "http://127.1.2.3:1",
        "http://[::1]",     "https://[::1]:3000",    "HTTP://LOCALHOST:3000",
    };
    static const char *const others[] = {
        "http://app.example",
        "https://localhost.example",
        "http://localhost.evil.example:8000",
        "http://127.0.0.1.evil.example",
        "http://127.0.0.1evil",
        "http://192.168.1.2:3000",
        "http://[::2]",
        "http://[::1",
        "http://[::1]evil",
        "http://::1",
        "http://localhost:",
        "http://localhost:80x",
        "http://localhost:123456",
        "http://",
        "http:/localhost",
        "file://localhost",
        "ftp://127.0.0.1",
        "null",
        "localhost",
        "",
        "http://evil@localhost:1",
        "http://localhost/",
        "http://2130706433",
        "http://0x7f.1",
        "http://0.0.0.0",
    };
    for (size_t i = 0; i < COUNT_OF(ours); i++)
        check(&(struct origin_case){ .name = ours[i],
                                     DEFAULTS,
                                     .origin = ours[i],
                                     .host = "localhost:8000",
                                     .verdict = ORIGIN_SERVED,
                                     .allowed = ours[i] });
    for (size_t i = 0; i < COUNT_OF(others); i++)
        check(&(struct origin_case){ .name = others[i],
                                     DEFAULTS,
                                     .origin = others[i],
                                     .host = "localhost:8000",
                                     .verdict = ORIGIN_REFUSED });
}

/* The page's name was made to resolve to this machine; for the browser all is one origin. */
static void a_page_that_rebinds_its_name_is_refused(void **state)
{
    (void)state;
    static const struct origin_case cases[] = {
        { "with an Origin", DEFAULTS, .origin = "http://evil.example:8000",
          .host = "evil.example:8000", .verdict = ORIGIN_REFUSED },
        { "without one", DEFAULTS, .fetch_site = "same-origin", .host = "evil.example:8000",
          .verdict = ORIGIN_HOST_REFUSED },
        { "without a Host", DEFAULTS, .fetch_site = "same-origin", .host = NULL,
          .verdict = ORIGIN_HOST_REFUSED },
        { "with a Host that is none", DEFAULTS, .fetch_site = "none", .host = "local host:x",
          .verdict = ORIGIN_HOST_REFUSED },
        { "with a name like ours", DEFAULTS, .fetch_site = "none", .host = "localhost.evil.example",
          .verdict = ORIGIN_HOST_REFUSED },
        { "allowed by no name", .origins = "", .hosts = "", .fetch_site = "none",
          .host = "evil.example", .verdict = ORIGIN_HOST_REFUSED },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&cases[i]);
}

static void pages_may_use_loopback_names_addresses_and_allowed_hosts(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        enum origin_verdict verdict;
    } cases[] = {
        { "localhost", ORIGIN_SERVED },       { "LocalHost:8000", ORIGIN_SERVED },
        { "localhost.:8000", ORIGIN_SERVED }, { "127.0.0.1:8000", ORIGIN_SERVED },
        { "[::1]:8000", ORIGIN_SERVED },      { "192.168.1.2:8000", ORIGIN_SERVED },
        { "[fd00::1]", ORIGIN_SERVED },       { "db.example:8000", ORIGIN_SERVED },
        { "DB.example", ORIGIN_SERVED },      { "dynamodb", ORIGIN_SERVED },
        { "b.example", ORIGIN_HOST_REFUSED }, { "x.db.example", ORIGIN_HOST_REFUSED },
        { "[name]", ORIGIN_HOST_REFUSED },    { ".", ORIGIN_HOST_REFUSED },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        check(&(struct origin_case){
            .name = cases[i].host,
            .origins = "loopback",
            .hosts = "db.example, dynamodb",
            LOCAL_PAGE,
            .host = cases[i].host,
            .verdict = cases[i].verdict,
            .allowed = cases[i].verdict == ORIGIN_SERVED ? "http://localhost:3000" : NULL });
        check(&(struct origin_case){ .name = cases[i].host,
                                     .origins = "loopback",
                                     .hosts = "db.example, dynamodb",
                                     .fetch_site = "none",
                                     .host = cases[i].host,
                                     .verdict = cases[i].verdict });
    }
    check(&(struct origin_case){ .name = "any",
                                 .origins = "loopback",
                                 .hosts = "*",
                                 LOCAL_PAGE,
                                 .host = "b.example",
                                 .verdict = ORIGIN_SERVED,
                                 .allowed = "http://localhost:3000" });
}

static void origins_that_were_named_may_use_any_host(void **state)
{
    (void)state;
    static const struct origin_case cases[] = {
        { "named", .origins = "https://a.example, https://b.example", .hosts = "",
          .origin = "https://b.example", .host = "db.example", .verdict = ORIGIN_SERVED,
          .allowed = "https://b.example" },
        { "not named", .origins = "https://a.example", .hosts = "db.example",
          .origin = "https://b.example", .host = "db.example", .verdict = ORIGIN_REFUSED },
        { "another port", .origins = "https://a.example", .hosts = "",
          .origin = "https://a.example:444", .host = "localhost", .verdict = ORIGIN_REFUSED },
        { "beside loopback", .origins = "loopback,https://a.example", .hosts = "",
          .origin = "https://a.example", .host = "db.example", .verdict = ORIGIN_SERVED,
          .allowed = "https://a.example" },
        { "loopback by name", .origins = "http://localhost:3000", .hosts = "", LOCAL_PAGE,
          .host = "db.example", .verdict = ORIGIN_SERVED, .allowed = "http://localhost:3000" },
        { "loopback not named", .origins = "https://a.example", .hosts = "", LOCAL_PAGE,
          .host = "localhost", .verdict = ORIGIN_REFUSED },
        { "all", .origins = "*", .hosts = "", .origin = "https://b.example", .host = "db.example",
          .verdict = ORIGIN_SERVED, .allowed = "*" },
        { "all, no Origin", .origins = "*", .hosts = "", .fetch_site = "none", .host = "db.example",
          .verdict = ORIGIN_SERVED },
        { "none", .origins = "", .hosts = "", LOCAL_PAGE, .host = "localhost",
          .verdict = ORIGIN_REFUSED },
        { "the word itself", .origins = "loopback", .hosts = "", .origin = "loopback",
          .host = "localhost", .verdict = ORIGIN_REFUSED },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_browser_sent_is_served_under_any_name),
        cmocka_unit_test(by_default_only_pages_of_this_machine_may_call),
        cmocka_unit_test(a_page_that_rebinds_its_name_is_refused),
        cmocka_unit_test(pages_may_use_loopback_names_addresses_and_allowed_hosts),
        cmocka_unit_test(origins_that_were_named_may_use_any_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
