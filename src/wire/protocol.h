/* protocol.h -- the services beside DynamoDB, in their three protocols: JSON, rpc-v2-cbor, and the
 * query protocol with forms and XML.
 *
 * Operations read and write JSON whatever the protocol. A request names its service and operation:
 *
 *   JSON    X-Amz-Target: GraniteServiceVersion20100801.ListMetrics
 *   CBOR    POST /service/GraniteServiceVersion20100801/operation/ListMetrics
 *   query   a form with Action=ListMetrics and Version=2010-08-01
 *
 * service.h has the table of services. wire/dynamodb.c takes every POST and passes on what is not
 * its own.
 */
#ifndef STATOR_WIRE_PROTOCOL_H
#define STATOR_WIRE_PROTOCOL_H
#include <stdbool.h>
#include "base/bytes.h"
#include "call/call_runner.h"
#include "wire/service.h"

struct http_exchange;
struct protocols;
struct router;

enum protocol_kind { PROTOCOL_JSON, PROTOCOL_CBOR, PROTOCOL_QUERY, PROTOCOL_COUNT };

/* A service in one of its protocols. */
struct protocol {
    const struct protocols *protocols;
    const struct service *service;
    enum protocol_kind kind;
    struct call_envelope envelope;
};

enum { PROTOCOL_SERVICES_MAX = 16 };

struct protocols {
    struct router *router;
    struct protocol all[PROTOCOL_SERVICES_MAX][PROTOCOL_COUNT];
};

/* `protocols` must stay where it is for as long as the router is used. */
void protocols_init(struct protocols *protocols, struct router *router);

/* Answers a POST if it belongs to a service of the table that is not DynamoDB's; otherwise returns
 * false. On the loop's thread. */
bool protocols_handle(struct protocols *protocols, struct call_worker *worker,
                      struct http_exchange *exchange);

#endif
