/* table_name.c -- what may stand where a request names a table or an index. */
#include "api/table/table_name.h"
#include "model/limits.h"

static bool is_name_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '.' || byte == '-';
}

bool table_name_has_only_name_bytes(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_name_byte(text.data[i]))
            return false;
    }
    return true;
}

bool table_name_matches(struct bytes name)
{
    return name.len > 0 && table_name_has_only_name_bytes(name);
}

/* Takes the text up to the next `end` off the front of `in`; false if there is none. */
static bool take_until(struct bytes *in, uint8_t end, struct bytes *out)
{
    const uint8_t *found = in->len == 0 ? NULL : memchr(in->data, end, in->len);
    if (found == NULL)
        return false;
    size_t len = (size_t)(found - in->data);
    *out = bytes_of(in->data, len);
    *in = bytes_of(found + 1, in->len - len - 1);
    return true;
}

bool table_name_is_arn(struct bytes arn)
{
    struct bytes rest = arn;
    struct bytes prefix, partition, service, region, account, resource;
    if (arn.len > TABLE_ARN_SIZE_MAX)
        return false;
    if (!take_until(&rest, ':', &prefix) || !take_until(&rest, ':', &partition) ||
        !take_until(&rest, ':', &service) || !take_until(&rest, ':', &region) ||
        !take_until(&rest, ':', &account) || !take_until(&rest, '/', &resource))
        return false;
    return bytes_equal_text(prefix, "arn") && table_name_matches(partition) &&
           bytes_equal_text(service, "dynamodb") && table_name_matches(region) &&
           table_name_matches(account) && bytes_equal_text(resource, "table") &&
           table_name_has_only_name_bytes(rest) && rest.len >= TABLE_NAME_SIZE_MIN &&
           rest.len <= TABLE_NAME_SIZE_MAX;
}

bool table_name_split_stream_arn(struct bytes text, struct bytes *table_arn, struct bytes *label)
{
    static const char kind[] = "/stream/";
    const uint8_t *found = memmem(text.data, text.len, kind, sizeof kind - 1);
    if (found == NULL)
        return false;
    const uint8_t *behind = found + sizeof kind - 1;
    *table_arn = bytes_of(text.data, (size_t)(found - text.data));
    *label = bytes_of(behind, (size_t)(text.data + text.len - behind));
    return table_name_is_arn(*table_arn) && label->len > 0;
}
