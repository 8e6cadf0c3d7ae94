/* key_operation.h -- what the operations on access keys share. */
#ifndef STATOR_API_KEY_KEY_OPERATION_H
#define STATOR_API_KEY_KEY_OPERATION_H
#include <stdbool.h>
#include "auth/live_keys.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "shape/shape.h"

struct api_call;

extern const struct shape key_operation_id;   /* AccessKeyId */
extern const struct shape key_operation_name; /* UserName, PolicyName */

/* False with an exception set if requests are not authenticated here, so that there are no keys. */
MUST_CHECK bool key_operation_check(struct api_call *call);

/* The keys as they are now, to be released with live_keys_release. key_operation_check passed. */
struct live_ring *key_operation_read(struct api_call *call);

/* Changes the keys. True once that is on disk and in force. */
MUST_CHECK bool key_operation_edit(struct api_call *call, live_keys_change *change, void *context);

/* Tells the audit which key the call is about. Access was decided before. */
void key_operation_note(struct api_call *call, struct bytes id);

/* Writes an empty answer, and ends the call. */
void key_operation_end(struct api_call *call, bool ok);

#endif
