/* arn.h -- the names of tables and streams that are unique in the whole service. */
#ifndef STATOR_MODEL_ARN_H
#define STATOR_MODEL_ARN_H
#include "base/bytes.h"

struct arena;

/* "arn:aws:dynamodb:<region>:<account>:table/<name>" */
struct bytes arn_of_table(struct arena *arena, const char *region, const char *account_id,
                          struct bytes name);
/* "<table's ARN>/stream/<label>" */
struct bytes arn_of_stream(struct arena *arena, const char *region, const char *account_id,
                           struct bytes table_name, struct bytes label);

#endif
