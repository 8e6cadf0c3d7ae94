/* admin_client.h -- a command's request to a running server, signed as an SDK signs it.
 *
 * Credentials and region come from the variables that AWS's own tools read: AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; AWS_REGION or AWS_DEFAULT_REGION. Not from the file of
 * keys: a command may run on another machine, and as somebody who may not read the master key.
 * Without credentials a request is signed in nobody's name, which is enough for a server without
 * `auth`.
 */
#ifndef STATOR_COMMAND_ADMIN_CLIENT_H
#define STATOR_COMMAND_ADMIN_CLIENT_H
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

/* Exit codes of the commands. */
enum { ADMIN_CLIENT_REFUSED = 1, ADMIN_CLIENT_MISUSED = 2 };

#define ADMIN_CLIENT_ENDPOINT "http://127.0.0.1:8000" /* Where a server listens by default. */

struct admin_client_call {
    const char *endpoint;  /* "http://host:port", or https */
    const char *ca_file;   /* PEM: whom to trust instead of the system's authorities; NULL: them. */
    const char *operation; /* "AddTrigger"; one that this program knows. */
    struct bytes body;     /* JSON */
};

/* 0 and the answer's JSON, in the arena. Else the process's exit code, and a line on stderr tells
 * why: the server refused, cannot be reached, or the endpoint or a variable makes no sense. */
MUST_CHECK int admin_client_send(struct arena *arena, const struct admin_client_call *call,
                                 struct bytes *answer);

/* The text of a member of a JSON object; empty if it has no such text. */
struct bytes admin_client_member(struct arena *arena, struct bytes object, const char *name);

#endif
