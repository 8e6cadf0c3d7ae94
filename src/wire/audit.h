/* audit.h -- one line for each call that changes tables and for each that was refused: who, what,
 * on what, how it ended. Never what was in it.
 *
 *   audit: event="change" user="ARN" key="ID" operation="CreateTable" resource="ARN" result="ok"
 *   audit: event="failed" user="ARN" key="ID" operation="CreateTable" resource="ARN" result="..."
 *   audit: event="denied" user="ARN" key="ID" operation="PutItem" resource="ARN" result="..."
 *   audit: event="refused" key="as claimed" operation="PutItem" address="1.2.3.4" result="..."
 *
 * How values are written: audit_line.h. Each event has a limit of its own: strangers can cause
 * only the last one, and callers that are allowed nothing only the last two, so neither can crowd
 * out the lines about changes. Requests that were refused for their form are not logged. A line
 * that follows others that were suppressed ends with the field suppressed="N".
 */
#ifndef STATOR_WIRE_AUDIT_H
#define STATOR_WIRE_AUDIT_H
#include "base/bytes.h"

struct api_call;
struct audit;
struct error;
struct http_exchange;
struct operation;

enum {
    AUDIT_CHANGES_PER_SECOND_MAX = 50,
    AUDIT_CHANGES_BURST_MAX = 500,
    AUDIT_FAILED_PER_SECOND_MAX = 20, /* Changes that were allowed and did not succeed. */
    AUDIT_FAILED_BURST_MAX = 200,
    AUDIT_DENIED_PER_SECOND_MAX = 20,
    AUDIT_DENIED_BURST_MAX = 200,
    AUDIT_REFUSED_PER_SECOND_MAX = 5,
    AUDIT_REFUSED_BURST_MAX = 50,
};

/* Any thread may use it. The owner calls audit_destroy, which logs what was suppressed last. */
struct audit *audit_create(void);
void audit_destroy(struct audit *audit);

/* A call that has ended, if it is one of those. */
void audit_call(struct audit *audit, const struct api_call *call);
/* A request whose sender is not known. `claimed` is the id it claims; data NULL: none. */
void audit_stranger(struct audit *audit, const struct http_exchange *exchange,
                    const struct operation *operation, struct bytes claimed,
                    const struct error *err);

#endif
