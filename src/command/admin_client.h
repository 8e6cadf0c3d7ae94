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
struct command_call;

#define ADMIN_CLIENT_ENDPOINT "http://127.0.0.1:8000" /* Where a server listens by default. */

/* What a server says when it refuses. */
struct admin_client_refusal {
    struct bytes type;    /* "ResourceNotFoundException"; data NULL: it did not refuse. */
    struct bytes message; /* For people. */
};

/* Connections that are kept between requests; for a command that sends many. */
struct admin_client_session;
struct admin_client_session *admin_client_session_create(void);
void admin_client_session_destroy(struct admin_client_session *session);

struct admin_client_call {
    const char *endpoint; /* "http://host:port", or https */
    const char *ca_file;  /* PEM: the authorities to trust; NULL: the system's. */
    /* One that this program knows: "AddTrigger", "cloudwatch:GetMetricData". */
    const char *operation;
    struct bytes body; /* JSON */
    /* Filled in instead of a line on standard error; NULL: the line is written. */
    struct admin_client_refusal *refusal;
    /* One that was used with the same endpoint and CA file only; NULL: a connection of its own. */
    struct admin_client_session *session;
};

/* A call with the body {} to the server that the flags `endpoint` and `ca-file` name. */
struct admin_client_call admin_client_call_of(const struct command_call *call,
                                              const char *operation);

/* COMMAND_OK with the answer's JSON, in the arena. Otherwise the process's exit code, with one line
 * on standard error: the server refused or cannot be reached (COMMAND_FAILED), or the endpoint or a
 * variable is invalid (COMMAND_MISUSED). */
MUST_CHECK int admin_client_send(struct arena *arena, const struct admin_client_call *call,
                                 struct bytes *answer);

/* DescribeTable. The member "Table" of the answer, an object (command/answer.h), and results as
 * above. Of the call, the server counts. */
MUST_CHECK int admin_client_describe_table(struct arena *arena, struct admin_client_call call,
                                           const char *table, struct bytes *description);

#endif
