/* key.c -- key attributes as ordered bytes, and the rules they obey.
 *
 * Strings and binary values end in a mark that sorts before every continuation: 00 01, where a
 * zero byte of the value itself is written 00 FF. Encoded numbers have these properties already.
 * Layout: doc/disk-format.md, "Key bytes".
 */
#include "model/key.h"
#include <assert.h>
#include "model/error.h"
#include "model/item.h"
#include "model/limits.h"
#include "model/number.h"

enum { ESCAPE = 0x00, PART_END = 0x01, ZERO_BYTE = 0xFF };
/* A part that ended must sort before one that goes on, whatever it goes on with. */
static_assert(PART_END < ZERO_BYTE, "\"a\" sorts before \"a\\0\"");

void key_encode_prefix(struct buffer *out, struct bytes prefix)
{
    while (prefix.len > 0) {
        const uint8_t *zero = memchr(prefix.data, 0x00, prefix.len);
        if (zero == NULL) {
            buffer_append_bytes(out, prefix);
            return;
        }
        size_t run = (size_t)(zero - prefix.data) + 1; /* The zero included. */
        buffer_append(out, prefix.data, run);
        buffer_append_byte(out, ZERO_BYTE);
        prefix = bytes_of(prefix.data + run, prefix.len - run);
    }
}

void key_encode_part(struct buffer *out, const struct value *value)
{
    assert(value->type == VALUE_S || value->type == VALUE_N || value->type == VALUE_B);
    if (value->type == VALUE_N) {
        buffer_append_bytes(out, value->data);
        return;
    }
    key_encode_prefix(out, value->data);
    buffer_append(out, (const uint8_t[]){ ESCAPE, PART_END }, 2);
}

static bool decode_number(struct bytes *in, struct buffer *out)
{
    struct number number;
    size_t size;
    if (!number_decode(*in, &number, &size))
        return false;
    value_append_number(out, bytes_of(in->data, size));
    *in = bytes_of(in->data + size, in->len - size);
    return true;
}

bool key_decode_part(struct bytes *in, enum value_type type, struct buffer *out)
{
    assert(type == VALUE_S || type == VALUE_N || type == VALUE_B);
    if (type == VALUE_N)
        return decode_number(in, out);

    struct buffer content;
    struct bytes rest = *in;
    buffer_init(&content, out->arena);
    for (;;) {
        const uint8_t *zero = rest.len == 0 ? NULL : memchr(rest.data, ESCAPE, rest.len);
        if (zero == NULL)
            return false;
        size_t run = (size_t)(zero - rest.data) + 1; /* The zero included. */
        if (run == rest.len)
            return false;
        buffer_append(&content, rest.data, run);
        uint8_t meaning = rest.data[run];
        rest = bytes_of(rest.data + run + 1, rest.len - run - 1);
        if (meaning == PART_END)
            break;
        if (meaning != ZERO_BYTE)
            return false;
    }
    content.len--; /* The zero of the end mark. */
    if (type == VALUE_S)
        value_append_string(out, buffer_bytes(&content));
    else
        value_append_binary(out, buffer_bytes(&content));
    *in = rest;
    return true;
}

size_t key_part_size(struct bytes in, enum value_type type)
{
    struct number number;
    size_t size = 0;
    if (type == VALUE_N)
        return number_decode(in, &number, &size) ? size : 0;
    while (size < in.len) {
        const uint8_t *zero = memchr(in.data + size, ESCAPE, in.len - size);
        if (zero == NULL || zero + 1 == in.data + in.len)
            return 0;
        size = (size_t)(zero - in.data) + 2;
        if (zero[1] == PART_END)
            return size;
    }
    return 0;
}

/* --- The service's rules --- */

bool key_check_not_empty(const struct key_attribute *attribute, const struct value *value,
                         struct error *err)
{
    if (value->type == VALUE_N || value->data.len > 0)
        return true;
    return error_validation(err,
                            "One or more parameter values are not valid. The AttributeValue for a "
                            "key attribute cannot contain an empty %s value. Key: %.*s",
                            value->type == VALUE_S ? "string" : "binary",
                            BYTES_FMT(attribute->name));
}

/* The missing space is the service's. */
static bool check_hash_size(const struct value *value, struct error *err)
{
    if (value->data.len <= PARTITION_KEY_SIZE_MAX)
        return true;
    return error_validation(err,
                            "One or more parameter values were invalid: Size of hashkey has "
                            "exceeded the maximum size limit of%d bytes",
                            PARTITION_KEY_SIZE_MAX);
}

bool key_check_range_size(const struct value *value, struct error *err)
{
    if (value->data.len <= SORT_KEY_SIZE_MAX)
        return true;
    return error_validation(err,
                            "One or more parameter values were invalid: Aggregated size of all "
                            "range keys has exceeded the size limit of %d bytes",
                            SORT_KEY_SIZE_MAX);
}

/* Finds the attribute or says that it is missing or of another type. */
typedef bool find_key(const struct key_attribute *attribute, const struct item *item,
                      struct value *out, struct error *err);

static bool find_in_item(const struct key_attribute *attribute, const struct item *item,
                         struct value *out, struct error *err)
{
    if (!item_find(item, attribute->name, out))
        return error_validation(
            err, "One or more parameter values were invalid: Missing the key %.*s in the item",
            BYTES_FMT(attribute->name));
    if (out->type != attribute->type)
        return error_validation(err,
                                "One or more parameter values were invalid: Type mismatch for key "
                                "%.*s expected: %s actual: %s",
                                BYTES_FMT(attribute->name), value_type_name(attribute->type),
                                value_type_name(out->type));
    return true;
}

static bool schema_mismatch(struct error *err)
{
    return error_validation(err, "The provided key element does not match the schema");
}

static bool find_in_request(const struct key_attribute *attribute, const struct item *item,
                            struct value *out, struct error *err)
{
    if (!item_find(item, attribute->name, out) || out->type != attribute->type)
        return schema_mismatch(err);
    return true;
}

/* Observed: all rules of the partition key come before those of the sort key. */
static bool encode_key(const struct key_schema *schema, const struct item *item, find_key *find,
                       struct buffer *hash, struct buffer *range, struct error *err)
{
    struct value value;
    if (!find(&schema->hash, item, &value, err) ||
        !key_check_not_empty(&schema->hash, &value, err) || !check_hash_size(&value, err))
        return false;
    key_encode_part(hash, &value);
    if (!schema->has_range)
        return true;
    if (!find(&schema->range, item, &value, err) ||
        !key_check_not_empty(&schema->range, &value, err) || !key_check_range_size(&value, err))
        return false;
    key_encode_part(range, &value);
    return true;
}

bool key_from_item(const struct key_schema *schema, const struct item *item, struct buffer *hash,
                   struct buffer *range, struct error *err)
{
    return encode_key(schema, item, find_in_item, hash, range, err);
}

bool key_from_request(const struct key_schema *schema, const struct item *key, struct buffer *hash,
                      struct buffer *range, struct error *err)
{
    if (key->count != (schema->has_range ? 2 : 1))
        return schema_mismatch(err);
    return encode_key(schema, key, find_in_request, hash, range, err);
}
