/* arn.c -- see arn.h. */
#include "model/arn.h"
#include "base/arena.h"
#include "base/compiler.h"

/* Takes the part up to the next colon off the front. */
static bool take_part(struct bytes *rest, struct bytes *part)
{
    const uint8_t *colon = rest->len == 0 ? NULL : memchr(rest->data, ':', rest->len);
    if (colon == NULL)
        return false;
    size_t len = (size_t)(colon - rest->data);
    *part = bytes_of(rest->data, len);
    *rest = bytes_of(colon + 1, rest->len - len - 1);
    return true;
}

enum arn_owner arn_owner_of(struct bytes arn, const char *region, const char *account_id)
{
    struct bytes rest = arn;
    struct bytes prefix, partition, service, arn_region, account;
    if (!take_part(&rest, &prefix) || !take_part(&rest, &partition) ||
        !take_part(&rest, &service) || !take_part(&rest, &arn_region) ||
        !take_part(&rest, &account) || !bytes_equal_text(partition, "aws"))
        return ARN_OF_OTHER_PARTITION;
    if (!bytes_equal_text(arn_region, region))
        return ARN_OF_OTHER_REGION;
    return bytes_equal_text(account, account_id) ? ARN_OWN : ARN_OF_OTHER_ACCOUNT;
}

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
