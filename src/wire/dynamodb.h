/* dynamodb.h -- DynamoDB's JSON protocol: the operation that a request means, and the envelope of
 * its answer. api/ knows the meaning of bodies, http/ the framing of bytes.
 *
 * Takes every POST, passes on those of other services (protocol.h), and answers whatever no other
 * route takes as the service would.
 */
#ifndef STATOR_WIRE_DYNAMODB_H
#define STATOR_WIRE_DYNAMODB_H
#include "base/bytes.h"
#include "call/call_runner.h"
#include "wire/protocol.h"

struct arena;
struct http_answer;
struct random;
struct relay;
struct router;

/* What GET / answers to health checks. */
enum dynamodb_root {
    DYNAMODB_ROOT_SERVICE, /* 200, as the service. */
    DYNAMODB_ROOT_LOCAL,   /* 400, as DynamoDB Local. */
};

struct dynamodb {
    struct router *router;
    struct call_envelope envelope;
    const char *home; /* Where browsers that open "/" are sent; NULL: nowhere. */
    enum dynamodb_root root;
    struct protocols others; /* Of the services that share our POST. */
    struct relay *relay;     /* To the servers of other regions; NULL: there are none. */
};

/* Adds the routes. `dynamodb` must outlive the router. `home` and `relay` may be NULL. */
void dynamodb_init(struct dynamodb *dynamodb, struct router *router, const char *home,
                   enum dynamodb_root root, struct relay *relay);

/* For struct http_handler: answers a request that never became whole with an exception in the
 * protocol's format, so that SDKs show a reason. */
void dynamodb_fill_refusal(struct random *random, struct arena *arena, struct http_answer *answer);

/* The X-Amz-Target of an existing operation: "DynamoDB_20120810.PutItem". */
struct bytes dynamodb_target(struct arena *arena, const char *operation);
/* The name of its service in signatures: "monitoring" for CloudWatch's. */
const char *dynamodb_signing_name(const char *operation);

#endif
