/* tag_operation.h -- what TagResource, UntagResource and ListTagsOfResource share. */
#ifndef STATOR_API_TABLE_TAG_OPERATION_H
#define STATOR_API_TABLE_TAG_OPERATION_H
#include "base/bytes.h"
#include "base/compiler.h"

struct api_call;
struct table;
struct table_definition;

/* ResourceArn. Required, but the service's words for a missing one are tag_operation_check's. */
extern const struct shape tag_operation_arn_shape;

/* False with the service's error set unless the ARN is a table's. */
MUST_CHECK bool tag_operation_check(struct api_call *call, struct bytes arn);
/* The table of a checked ARN; the caller owes a table_release. NULL with the error set. */
struct table *tag_operation_find(struct api_call *call, struct bytes arn);
/* Stores the definition with its changed tags and ends the call; the answer is an empty object. */
void tag_operation_store(struct api_call *call, struct table_definition *changed);

#endif
