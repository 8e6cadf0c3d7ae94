/* audit.h -- one line for each call that changes tables and for each that was refused: who, what,
 * on what, how it ended. Never what was in it.
 */
#ifndef STATOR_WIRE_AUDIT_H
#define STATOR_WIRE_AUDIT_H
#include "base/bytes.h"

struct api_call;
struct error;
struct http_exchange;
struct operation;

/* A call that has ended, if it is one of those. */
void audit_call(const struct api_call *call);
/* A request whose sender is not known. `claimed` is the id it claims; data NULL: none. */
void audit_stranger(const struct http_exchange *exchange, const struct operation *operation,
                    struct bytes claimed, const struct error *err);

#endif
