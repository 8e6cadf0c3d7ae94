/* test_routes.c -- every route of the server with `auth`: one that says it asks for permission does
 * refuse strangers, and the open ones are those listed here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "auth_fixture.h"
#include "base/compiler.h"
#include "raw_http.h"
#include "router/router.h"
#include "wire/wire.h"

/* Whoever adds a route here states that it shows and changes nothing that policies protect. */
static const struct {
    const char *method, *path;
    enum route_match match;
    int status; /* Of an answer to a stranger. */
} open_routes[] = {
    { "GET", "/healthz", ROUTE_EXACT, 200 }, /* The process runs. */
    { "GET", "/readyz", ROUTE_EXACT, 200 },  /* Whether it can write, and if not, why. */
    { "GET", "/", ROUTE_EXACT, 200 },        /* The name that it was called by. */
    { "GET", "/shell", ROUTE_EXACT, 200 },   /* That it runs, as DynamoDB Local's scripts ask. */
    { "GET", "/shell/", ROUTE_EXACT, 200 },
    /* The console's files, which are the same for everybody; whether calls must be signed, the
     * region and the version. */
    { "GET", "/console/", ROUTE_PREFIX, 200 },
    { "GET", "/console", ROUTE_EXACT, 308 }, /* Leads there. */
    { "OPTIONS", "", ROUTE_PREFIX, 200 },    /* Whether a page may call. */
    { NULL, "", ROUTE_PREFIX, 404 },         /* Refuses what is not signed for S3. */
};

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The status of an open route; 0 if it is not listed. */
static int listed_status(const struct route *route)
{
    for (size_t i = 0; i < COUNT_OF(open_routes); i++)
        if (same_text(route->method, open_routes[i].method) &&
            same_text(route->path, open_routes[i].path) && route->match == open_routes[i].match)
            return open_routes[i].status;
    return 0;
}

/* Sends a request without credentials that the route takes, in the form of DynamoDB's calls. */
static int ask_as_stranger(const struct auth_fixture *fixture, const struct route *route)
{
    char request[512];
    struct raw_http client;
    struct raw_http_answer answer;
    snprintf(request, sizeof request,
             "%s %s%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
             "X-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Length: 2\r\n\r\n{}",
             route->method == NULL ? "PATCH" : route->method, route->path,
             route->path[0] == '\0' ? "/" : "");
    raw_http_open(&client, http_server_port(fixture->server));
    assert_true(raw_http_send_text(&client, request));
    assert_true(raw_http_receive(&client, &answer));
    int status = answer.status;
    if (route->access == ROUTE_ASKS &&
        memmem(answer.body.data, answer.body.len, "MissingAuthenticationToken", 26) == NULL)
        status = 0;
    raw_http_close(&client);
    return status;
}

static void every_route_does_what_it_states_about_access(void **state)
{
    const struct auth_fixture *fixture = *state;
    const struct router *router = wire_router(fixture->wire);
    assert_true(router_count(router) > COUNT_OF(open_routes));
    for (size_t i = 0; i < router_count(router); i++) {
        const struct route *route = router_at(router, i);
        int want = route->access == ROUTE_OPEN ? listed_status(route) : 400;
        if (want == 0)
            fail_msg("%s %s is open and not listed", route->method, route->path);
        int got = ask_as_stranger(fixture, route);
        if (got != want)
            fail_msg("%s %s answered %d", route->method, route->path, got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_does_what_it_states_about_access),
    };
    return cmocka_run_group_tests_name("wire/routes", tests, auth_fixture_set_up,
                                       auth_fixture_tear_down);
}
