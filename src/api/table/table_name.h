/* table_name.h -- what may stand where a request names a table or an index. */
#ifndef STATOR_API_TABLE_TABLE_NAME_H
#define STATOR_API_TABLE_TABLE_NAME_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

/* The service's pattern of names, as its messages show it. */
#define TABLE_NAME_PATTERN "[a-zA-Z0-9_.-]+"

bool table_name_matches(struct bytes name);
/* The same, but empty passes. */
bool table_name_has_only_name_bytes(struct bytes text);
/* "arn:<partition>:dynamodb:<region>:<account>:table/<name>" with a name of the right length. */
bool table_name_is_arn(struct bytes text);
/* "<a table's ARN>/stream/<label>": false if it is none, else the two parts. */
MUST_CHECK bool table_name_split_stream_arn(struct bytes text, struct bytes *table_arn,
                                            struct bytes *label);

#endif
