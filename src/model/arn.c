/* arn.c -- see arn.h. */
#include "model/arn.h"
#include "base/arena.h"
#include "base/compiler.h"

struct bytes arn_of_table(struct arena *arena, const char *region, const char *account_id,
                          struct bytes name)
{
    const struct bytes parts[] = { BYTES("arn:aws:dynamodb:"),  bytes_from_text(region), BYTES(":"),
                                   bytes_from_text(account_id), BYTES(":table/"),        name };
    return arena_join(arena, parts, COUNT_OF(parts));
}

struct bytes arn_of_stream(struct arena *arena, const char *region, const char *account_id,
                           struct bytes table_name, struct bytes label)
{
    return arena_printf(arena, "%.*s/stream/%.*s",
                        BYTES_FMT(arn_of_table(arena, region, account_id, table_name)),
                        BYTES_FMT(label));
}
