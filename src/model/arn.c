/* arn.c -- see arn.h. */
#include "model/arn.h"
#include "base/arena.h"

struct bytes arn_of_table(struct arena *arena, const char *region, const char *account_id,
                          struct bytes name)
{
    return arena_printf(arena, "arn:aws:dynamodb:%s:%s:table/%.*s", region, account_id,
                        BYTES_FMT(name));
}

struct bytes arn_of_stream(struct arena *arena, const char *region, const char *account_id,
                           struct bytes table_name, struct bytes label)
{
    return arena_printf(arena, "%.*s/stream/%.*s",
                        BYTES_FMT(arn_of_table(arena, region, account_id, table_name)),
                        BYTES_FMT(label));
}
