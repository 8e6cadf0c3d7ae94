/* admin_client.h -- sends a command's request to a running server, signed as an SDK signs it.
 *
 * Credentials and region come from the variables that AWS's own tools read: AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; AWS_REGION or AWS_DEFAULT_REGION. They do not come from
 * the file of keys: a command may run on another machine, or as a user who cannot read the master
 * key. Without credentials, a request is signed with made-up ones, which a server without `auth`
 * accepts.
 */
#ifndef STATOR_COMMAND_ADMIN_CLIENT_H
#define STATOR_COMMAND_ADMIN_CLIENT_H
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

#define ADMIN_CLIENT_ENDPOINT "http://127.0.0.1:8000" /* Where a server listens by default. */

struct admin_client_call {
    const char *endpoint;  /* "http://host:port", or https */
    const char *ca_file;   /* PEM: the authorities to trust; NULL: the system's. */
    const char *operation; /* "AddTrigger"; one that this program knows. */
    struct bytes body;     /* JSON */
};

/* COMMAND_OK with the answer's JSON, in the arena. Otherwise the process's exit code, with one line
 * on standard error: the server refused or cannot be reached (COMMAND_FAILED), or the endpoint or a
 * variable is invalid (COMMAND_MISUSED). */
MUST_CHECK int admin_client_send(struct arena *arena, const struct admin_client_call *call,
                                 struct bytes *answer);

/* The text of a member of a JSON object; empty if it has no such text. */
struct bytes admin_client_member(struct arena *arena, struct bytes object, const char *name);

#endif
