/* stream_operation.h -- what the operations on streams share, and what those on tables do about
 * them. */
#ifndef STATOR_API_STREAM_STREAM_OPERATION_H
#define STATOR_API_STREAM_STREAM_OPERATION_H
#include <stdint.h>
#include "shape/shape.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct stream;
struct table_definition;

extern const struct shape stream_operation_arn_shape;
extern const struct shape stream_operation_shard_id_shape;

/* "<table's ARN>/stream/<label>", in the call's arena. */
struct bytes stream_operation_arn(struct api_call *call, struct bytes table_name,
                                  struct bytes label);
/* The table's name and the stream's label in an ARN. False with the service's words if it is no ARN
 * of a stream. */
MUST_CHECK bool stream_operation_parse_arn(struct api_call *call, struct bytes arn,
                                           struct bytes *table_name, struct bytes *label);
/* The stream of that ARN; the caller owes a stream_release. NULL with the service's error set if
 * there is none. */
struct stream *stream_operation_find(struct api_call *call, struct bytes arn);
/* Set the call's error, as the service words it, and return false: the shard is not there; the
 * place in it is gone. */
bool stream_operation_no_shard(struct api_call *call);
bool stream_operation_trimmed(struct api_call *call);

/* --- Control thread --- */

/* Gives a table whose stream is new its label: the time, or the next one that no stream of that
 * name has had. */
void stream_operation_label(struct api_call *call, struct table_definition *table);

#endif
