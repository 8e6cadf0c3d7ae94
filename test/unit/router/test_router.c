/* test_router.c -- which route a request takes: method, longest path, exact before prefix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/compiler.h"
#include "router/router.h"

static void handle(void *context, void *loop_context, struct http_exchange *exchange)
{
    (void)context;
    (void)loop_context;
    (void)exchange;
}

static void refuse_page(void *context, void *loop_context, struct http_exchange *exchange,
                        int status, struct bytes text)
{
    (void)context;
    (void)loop_context;
    (void)exchange;
    (void)status;
    (void)text;
}

static struct router *create(void)
{
    const struct router_options options = { .pages = { .origins = "", .hosts = "" },
                                            .refuse_page = refuse_page };
    return router_create(&options);
}

/* The context is the route's name. */
static void add(struct router *router, const char *method, const char *path, enum route_match match,
                const char *name)
{
    const struct route route = { .method = method,
                                 .path = path,
                                 .match = match,
                                 .access = ROUTE_OPEN,
                                 .vital = strcmp(name, "health") == 0,
                                 .context = (void *)(uintptr_t)name,
                                 .handle = handle };
    router_add(router, &route);
}

/* In an order that is not that of precedence. */
static struct router *create_full(void)
{
    struct router *router = create();
    add(router, NULL, "", ROUTE_PREFIX, "rest");
    add(router, "GET", "/", ROUTE_EXACT, "root");
    add(router, "POST", "", ROUTE_PREFIX, "calls");
    add(router, "GET", "/console/", ROUTE_PREFIX, "console");
    add(router, NULL, "/console/", ROUTE_PREFIX, "any console");
    add(router, "GET", "/console/", ROUTE_EXACT, "console root");
    add(router, "GET", "/console/files/", ROUTE_PREFIX, "files");
    add(router, "GET", "/health", ROUTE_EXACT, "health");
    add(router, "PUT", "/console/files/", ROUTE_PREFIX, "upload");
    return router;
}

static const struct {
    const char *rule, *method, *target, *want;
} cases[] = {
    { "an exact path", "GET", "/health", "health" },
    { "HEAD is like GET", "HEAD", "/health", "health" },
    { "another method", "PATCH", "/health", "rest" },
    { "another method with a route of its own", "POST", "/health", "calls" },
    { "methods are case-sensitive", "get", "/health", "rest" },
    { "HEAD is not like POST", "HEAD", "/other", "rest" },
    { "a longer path is not exact", "GET", "/healthy", "rest" },
    { "nor is one with a query", "GET", "/health?x", "rest" },
    { "a shorter path", "GET", "/healt", "rest" },
    { "the root", "GET", "/", "root" },
    { "a prefix", "GET", "/console/a", "console" },
    { "an exact path wins over a prefix as long", "GET", "/console/", "console root" },
    { "a prefix with a query", "GET", "/console/?x", "console" },
    { "the longest prefix wins", "GET", "/console/files/a", "files" },
    { "a longer prefix of another method does not count", "HEAD", "/console/file", "console" },
    { "the method counts at the same path", "PUT", "/console/files/a", "upload" },
    { "a shorter prefix with any method", "DELETE", "/console/files/a", "any console" },
    { "a named method with a shorter path loses", "POST", "/console/a", "any console" },
    { "an end of a prefix is not the prefix", "GET", "/console", "rest" },
    { "targets without a slash", "OPTIONS", "*", "rest" },
    { "an empty target", "POST", "", "calls" },
};

static void the_most_specific_route_wins(void **state)
{
    struct router *router = create_full();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct route *route =
            router_find(router, bytes_from_text(cases[i].method), bytes_from_text(cases[i].target));
        if (route == NULL || strcmp(route->context, cases[i].want) != 0)
            fail_msg("%s: %s", cases[i].rule,
                     route == NULL ? "none" : (const char *)route->context);
    }
    router_destroy(router);
}

static void no_route_may_match(void **state)
{
    struct router *router = create();
    (void)state;
    add(router, "GET", "/health", ROUTE_EXACT, "health");
    assert_null(router_find(router, BYTES("GET"), BYTES("/other")));
    assert_null(router_find(router, BYTES("POST"), BYTES("/health")));
    assert_false(router_is_vital(router, BYTES("GET"), BYTES("/other")));
    router_destroy(router);
}

static void a_route_says_whether_it_is_vital(void **state)
{
    struct router *router = create_full();
    (void)state;
    assert_true(router_is_vital(router, BYTES("HEAD"), BYTES("/health")));
    assert_false(router_is_vital(router, BYTES("POST"), BYTES("/health")));
    assert_false(router_is_vital(router, BYTES("GET"), BYTES("/")));
    router_destroy(router);
}

static void the_table_can_be_walked(void **state)
{
    struct router *router = create_full();
    (void)state;
    assert_int_equal(router_count(router), 9);
    assert_string_equal(router_at(router, 0)->path, "/console/files/");
    assert_string_equal(router_at(router, 8)->context, "rest");
    router_destroy(router);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_specific_route_wins),
        cmocka_unit_test(no_route_may_match),
        cmocka_unit_test(a_route_says_whether_it_is_vital),
        cmocka_unit_test(the_table_can_be_walked),
    };
    return cmocka_run_group_tests_name("router/router", tests, NULL, NULL);
}
