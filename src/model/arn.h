/* arn.h -- the names of tables and streams that are unique in the whole service. */
#ifndef STATOR_MODEL_ARN_H
#define STATOR_MODEL_ARN_H
#include "base/bytes.h"

struct arena;

/* Whose ARN it is that begins "arn:<partition>:<service>:<region>:<account>:". */
enum arn_owner {
    ARN_OWN,
    ARN_OF_OTHER_PARTITION, /* Or too short to tell. */
    ARN_OF_OTHER_REGION,
    ARN_OF_OTHER_ACCOUNT,
};
enum arn_owner arn_owner_of(struct bytes arn, const char *region, const char *account_id);

/* "arn:aws:dynamodb:<region>:<account>:table/<name>" */
struct bytes arn_of_table(struct arena *arena, const char *region, const char *account_id,
                          struct bytes name);
/* "<table's ARN>/stream/<label>" */
struct bytes arn_of_stream(struct arena *arena, const char *region, const char *account_id,
                           struct bytes table_name, struct bytes label);

#endif
