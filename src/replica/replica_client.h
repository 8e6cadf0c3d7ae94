/* replica_client.h -- calls of the server of another region, signed with a key of our own.
 *
 * The calls are operations of ours (api/replica/): ReplicateSettings tells a member about the
 * group, WriteDataForReplication sends rows. Without a key file calls are not signed, for servers
 * without `auth`.
 */
#ifndef STATOR_REPLICA_REPLICA_CLIENT_H
#define STATOR_REPLICA_REPLICA_CLIENT_H
#include "base/bytes.h"
#include "base/compiler.h"
#include "outbound/outbound.h"

struct arena;
struct clock;
struct replica_client;

enum {
    REPLICA_TIMEOUT_MS = 15000,
    REPLICA_ANSWER_SIZE_MAX = 64 * 1024,
};

/* Where another region is. Borrowed. */
struct replica_peer {
    struct bytes region;
    struct bytes url;
};

/* Borrowed, except for the structure itself. */
struct replica_outside {
    struct outbound *network;
    const char *key_file; /* In the form of ~/.aws/credentials; "" or NULL: none. */
};

/* NULL with one line for people, as outbound_client_create. */
MUST_CHECK struct replica_client *replica_client_create(const struct replica_outside *outside,
                                                        const struct clock *clock,
                                                        const struct replica_peer *peer,
                                                        char message[OUTBOUND_MESSAGE_MAX]);
void replica_client_destroy(struct replica_client *client); /* Destroying NULL is allowed. */
/* Any thread: a call under way ends, and so do all later ones. */
void replica_client_cancel(struct replica_client *client);

struct replica_reply {
    bool reached;           /* There is an answer of the server. */
    int status;             /* Its HTTP status. */
    struct bytes body;      /* With 200. */
    struct bytes exception; /* Otherwise: "ResourceNotFoundException"; may be empty. */
    struct bytes problem;   /* For people. */
};
/* Everything lives in the arena. Waits. */
struct replica_reply replica_client_call(struct replica_client *client, struct arena *arena,
                                         const char *operation, struct bytes body,
                                         int64_t timeout_ms);

#endif
