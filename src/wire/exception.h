/* exception.h -- exceptions in the words of a service: types, codes and statuses.
 *
 * model/error.h has one table for all services. Here is what depends on the service and the
 * protocol: shared errors have other names in the query protocol, and its status codes tell
 * missing rights (403) from wrong requests (400).
 */
#ifndef STATOR_WIRE_EXCEPTION_H
#define STATOR_WIRE_EXCEPTION_H
#include "base/bytes.h"
#include "model/error.h"

struct arena;
struct buffer;
struct service;

/* The code in the query protocol, as answers and the header x-amzn-query-error have it. */
struct exception_code {
    const char *code;
    int status;
};
struct exception_code exception_query_code(const struct service *service, const struct error *err);

/* "Sender" or "Receiver": who has to change something. */
const char *exception_fault(int status);

/* The status in JSON and CBOR. */
int exception_status(const struct service *service, const struct error *err);
/* The body in JSON: {"__type":..., "message":...}. */
struct bytes exception_json(struct arena *arena, const struct service *service,
                            const struct error *err);
/* Appends the body of the query protocol. */
void exception_append_xml(struct buffer *out, const struct service *service,
                          const struct error *err, struct bytes request_id);

#endif
