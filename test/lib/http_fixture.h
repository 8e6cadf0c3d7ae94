/* http_fixture.h -- an HTTP server with a few routes, for tests of http/.
 *
 *   /echo    answers with the request's body
 *   /length  answers with the body's size and the sum of its bytes: "1000 97000"
 *   /large   answers with HTTP_FIXTURE_LARGE_SIZE bytes
 *   /turn    is answered at the end of the loop's turn; for a fixture with one loop
 *   /late    is kept until http_fixture_release, then answered through http_loop_post
 *   /secure  answers "yes" if the request came through TLS, else "no"
 *   /vital   answers "here", or "pressed" if memory is short; is vital
 *   others   404
 *
 * Refusals have the body "refused " and their status.
 */
#ifndef STATOR_TEST_HTTP_FIXTURE_H
#define STATOR_TEST_HTTP_FIXTURE_H
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include "http/server.h"

/* More than the system's socket buffers take, so that a client that does not read is felt. */
enum { HTTP_FIXTURE_LARGE_SIZE = 16 * 1024 * 1024 };

struct raw_http;
struct tls_files;

struct http_fixture {
    struct http_options options;   /* May be changed before the start. */
    const struct tls_files *files; /* The same: NULL for plain HTTP, else with server.pem. */
    struct http_server *server;
    uint16_t port;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    struct late *late_first, *late_last;
    size_t late_count;
    size_t loops_opened, loops_closed;
    struct late *turn_first; /* The loop's own. */
};

/* For cmocka's groups: `*state` are the files of a group with TLS. */
int http_fixture_create_files(void **state);
int http_fixture_destroy_files(void **state);
/* For cmocka: makes `*state`, which is NULL or the group's files, a fixture. */
int http_fixture_set_up(void **state);

/* One loop, any port, small limits, generous time-outs. */
void http_fixture_init(struct http_fixture *fixture);
void http_fixture_start(struct http_fixture *fixture);
/* Stops with a generous grace. */
void http_fixture_stop(struct http_fixture *fixture);
void http_fixture_deinit(struct http_fixture *fixture);
/* For cmocka: stops, unless the test has, and frees the fixture that `*state` is. */
int http_fixture_tear_down(void **state);

/* Fails the test unless the next answer has this status and body. */
void http_fixture_expect(struct raw_http *client, int status, const char *body);

/* As a client that trusts the server, if that has TLS. */
struct raw_http http_fixture_connect(const struct http_fixture *fixture);

/* Waits until `count` requests are kept; false if that takes too long. */
MUST_CHECK bool http_fixture_wait_for_late(struct http_fixture *fixture, size_t count);
/* The first of those. */
struct http_exchange *http_fixture_first_late(struct http_fixture *fixture);
/* Has all that are kept answered on their loops, from the calling thread. */
void http_fixture_release(struct http_fixture *fixture);

#endif
