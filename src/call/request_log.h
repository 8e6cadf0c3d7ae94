/* request_log.h -- one log line for each request, for `--log-level debug`:
 *
 *   request: operation="PutItem" table="Orders" status="200" ms="0.153" units="1"
 *   request: operation="GetItem" table="Nope" status="400" result="ResourceNotFoundException" ...
 *
 * Never the contents of a request: neither keys nor items. Values are quoted as in audit.h. A call
 * on many tables shows the first few and how many there are. The log writer drops lines that come
 * faster than they can be written, and says how many.
 */
#ifndef STATOR_CALL_REQUEST_LOG_H
#define STATOR_CALL_REQUEST_LOG_H
#include "base/bytes.h"

struct api_call;
struct api_outcome;

/* For api_options.observe; the context is not used. */
void request_log_observe(void *context, const struct api_call *call,
                         const struct api_outcome *outcome);
/* Logs a request whose operation there is not. `target` is its X-Amz-Target; data NULL: none. */
void request_log_unknown(struct bytes target);

#endif
