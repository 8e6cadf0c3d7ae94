/* auth_fixture.h -- a server in this process that authenticates, keys of every sort for it, and
 * requests that are signed by the product's own code and then spoilt. Its clock stands still.
 */
#ifndef STATOR_TEST_AUTH_FIXTURE_H
#define STATOR_TEST_AUTH_FIXTURE_H
#include <stdbool.h>
#include <stdint.h>
#include "api_fixture.h"
#include "auth/key_file.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "http/server.h"
#include "scratch.h"

#define AUTH_FIXTURE_NOW "20150830T123600Z"

enum auth_fixture_key {
    AUTH_KEY_RIGHT,
    AUTH_KEY_UNKNOWN,
    AUTH_KEY_DISABLED,
    AUTH_KEY_SESSION, /* Temporary, of the right one. */
    AUTH_KEY_OTHER_SESSION,
    AUTH_KEY_EXPIRED_SESSION,
    AUTH_KEY_ORPHAN_SESSION, /* Of the disabled one. */
    AUTH_KEY_COUNT,
};

struct auth_fixture {
    char directory[SCRATCH_PATH_MAX];
    struct clock clock;
    struct api_fixture api;
    struct live_keys *live;
    struct wire *wire;
    struct console *console;
    struct http_server *server;
    struct arena *arena;
    struct sha256 *hasher;
    struct {
        struct bytes id;
        struct bytes secret;
        struct bytes token; /* data NULL: none. */
    } keys[AUTH_KEY_COUNT];
};

void auth_fixture_open(struct auth_fixture *fixture);
void auth_fixture_close(struct auth_fixture *fixture);
/* The same for cmocka's groups: `*state` is the fixture. */
int auth_fixture_set_up(void **state);
int auth_fixture_tear_down(void **state);

enum auth_token { AUTH_TOKEN_OWN, AUTH_TOKEN_NONE, AUTH_TOKEN_OTHERS };

/* What is NULL or zero is as it should be: ListTables, signed by AUTH_KEY_RIGHT. */
struct auth_request {
    enum auth_fixture_key key;
    const char *secret; /* Instead of the key's own. */
    enum auth_token token;
    const char *time; /* X-Amz-Date. */
    const char *region;
    const char *service;
    const char *path;               /* And query. */
    const char *target;             /* X-Amz-Target. */
    struct http_header also_signed; /* One header more, signed. */
    struct http_header not_signed;  /* One header more, added once all is signed. */
    const char *left_out;           /* A header that is sent and not signed. */
    bool without_credentials;       /* Nothing is signed. */
    /* Once all is written, the first occurrence of one text becomes another. */
    struct bytes spoil_from;
    struct bytes spoil_to;
};

struct auth_answer {
    int status;
    struct bytes body; /* In the fixture's arena. */
};
/* Sends the request on a connection of its own. Fails the test if there is no answer. */
struct auth_answer auth_fixture_send(struct auth_fixture *fixture,
                                     const struct auth_request *request);

#endif
