/* audit.h -- log one line for each call that changes tables and for each refused one: who did what,
 * on what, with which result. Never the contents of a request.
 *
 *   audit: event="change" user="ARN" key="ID" operation="CreateTable" resource="ARN" result="ok"
 *   audit: event="failed" user="ARN" key="ID" operation="CreateTable" resource="ARN" result="..."
 *   audit: event="denied" user="ARN" key="ID" operation="PutItem" resource="ARN" result="..."
 *   audit: event="refused" key="as claimed" operation="PutItem" address="1.2.3.4" result="..."
 *
 * Each event has a rate limit of its own. Strangers can cause only "refused", and callers without
 * permissions only "refused" and "denied", so neither can crowd out lines about changes. A line
 * logged after others were suppressed ends with the field suppressed="N". Requests refused for
 * their form alone are not logged.
 *
 * Any thread may use all of this, except that a line belongs to one thread.
 */
#ifndef STATOR_CALL_AUDIT_H
#define STATOR_CALL_AUDIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "model/error.h"

struct api_call;
struct audit;
struct http_exchange;
struct operation;

enum {
    AUDIT_CHANGES_PER_SECOND_MAX = 50,
    AUDIT_CHANGES_BURST_MAX = 500,
    AUDIT_FAILED_PER_SECOND_MAX = 20, /* Changes that policies allowed and that failed. */
    AUDIT_FAILED_BURST_MAX = 200,
    AUDIT_DENIED_PER_SECOND_MAX = 20,
    AUDIT_DENIED_BURST_MAX = 200,
    AUDIT_REFUSED_PER_SECOND_MAX = 5,
    AUDIT_REFUSED_BURST_MAX = 50,
};

struct audit *audit_create(void);
/* Logs how many lines were suppressed at the end. Destroying NULL is allowed. */
void audit_destroy(struct audit *audit);

/* Logs a call that has ended if it changed tables or was denied. */
void audit_call(struct audit *audit, const struct api_call *call);
/* Logs a request whose sender could not be identified. `claimed` is the access key id in the
 * request; data NULL: none. */
void audit_stranger(struct audit *audit, const struct http_exchange *exchange,
                    const struct operation *operation, struct bytes claimed,
                    const struct error *err);

/* An exception's name without its prefix: "AccessDeniedException". */
const char *audit_error_name(enum error_code code);

/* --- The text of a line: name="value" fields that no client can forge ---
 *
 * Values come from clients. In a value
 *   \" and \\    are a quote and a backslash;
 *   \xNN         is a byte of a control character, of a character that changes the direction of
 *                text or separates lines, or of invalid UTF-8;
 *   \+N          at the end means that N more bytes were left out.
 * Every other byte stands for itself. So a quote that follows no backslash always ends a value. */

enum {
    AUDIT_LINE_SIZE_MAX = 1900,
    AUDIT_VALUE_SIZE_MAX = 640, /* As written, without quotes and without the \+N. */
};

struct audit_line {
    size_t size;
    char text[AUDIT_LINE_SIZE_MAX];
};

/* Appends a field to a line that was all zero at first. Shows at most `size_max` bytes of the value
 * as written, and never more than AUDIT_VALUE_SIZE_MAX. The caller makes sure that its fields fit
 * even if all have their largest size. */
void audit_line_add(struct audit_line *line, const char *name, struct bytes value, size_t size_max);

#endif
