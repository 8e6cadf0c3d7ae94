/* service.h -- the services of one endpoint: how their requests are recognised, and how their
 * answers and exceptions look.
 *
 * A service shares its operations with all protocols that it has. One without operations here is in
 * the table because its clients need a particular refusal.
 */
#ifndef STATOR_WIRE_SERVICE_H
#define STATOR_WIRE_SERVICE_H
#include <stdbool.h>
#include <stddef.h>
#include "api/api.h"
#include "base/bytes.h"
#include "codec/names.h"
#include "model/error.h"

struct service {
    enum operation_service operations; /* OPERATION_SERVICE_COUNT: it has none. */
    const char *name;                  /* In messages: "CloudWatch". */
    const char *signing_name;          /* Of SigV4's credential scope: "monitoring". */
    /* JSON: what stands before the point in X-Amz-Target, and in paths of CBOR. NULL: no JSON. */
    const char *target_prefix;
    const char *json_type; /* The Content-Type of its JSON. */
    bool has_cbor;
    /* The query protocol: the Version of its requests, and the XML namespace of its answers. NULL:
     * it has no such protocol. */
    const char *query_version;
    const char *query_namespace;
    const char *unknown_action_code; /* The query code for an operation that it does not have. */
    /* JSON tells of errors in the query protocol's codes as well, if the client asks for it. */
    bool tells_query_codes;
    bool has_bare_types;       /* `__type` is the exception's name alone. */
    const char *message_field; /* In all its exceptions; NULL: as error_kind() says. */
    /* What errors that all services share are called here. */
    enum error_code validation_error;
    enum error_code internal_error;
    const struct codec_names *names; /* Types in its answers. */
};

size_t service_count(void);
const struct service *service_at(size_t index);

/* The one with these operations. */
const struct service *service_of(enum operation_service operations);
/* DynamoDB, its streams, and our own operations beside them. */
static inline bool service_is_dynamodbs(const struct service *service)
{
    return service->operations <= OPERATION_OF_STATOR;
}

/* NULL if there is none. */
const struct service *service_find_target(struct bytes prefix);
const struct service *service_find_version(struct bytes version);
/* The first one that has the query protocol and this operation. */
const struct service *service_find_action(struct bytes action);

/* "ListMetrics" of a service; NULL if it does not have it. */
const struct operation *service_operation(const struct service *service, struct bytes name);

#endif
