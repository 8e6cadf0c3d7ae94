/* key.h -- key schemas and the bytes that order items.
 *
 * The engine compares plain bytes, so sort order is decided here and nowhere else. An encoded key
 * is its encoded parts in a row; no encoded part is a prefix of another. Layout:
 * doc/disk-format.md, "Key bytes".
 */
#ifndef STATOR_MODEL_KEY_H
#define STATOR_MODEL_KEY_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/value.h"

struct arena;
struct error;
struct item;

/* One attribute of a key: S, N or B. */
struct key_attribute {
    struct bytes name;
    enum value_type type;
};

/* A table's or local index's key. `has_range` false: partition key only. */
struct key_schema {
    struct key_attribute hash;
    struct key_attribute range;
    bool has_range;
};

/* Appends one key value as bytes whose memcmp order is DynamoDB's. */
void key_encode_part(struct buffer *out, const struct value *value);
/* The same without the end mark: the common start of all keys that begin with these bytes (S and B
 * only). */
void key_encode_prefix(struct buffer *out, struct bytes prefix);
/* Reads one part back into an encoded value; moves `in` behind it. False where the bytes are no key
 * part. */
MUST_CHECK bool key_decode_part(struct bytes *in, enum value_type type, struct buffer *out);

/* The size of the encoded part that `in` begins with; 0 where the bytes are no key part. */
size_t key_part_size(struct bytes in, enum value_type type);

/* Checks an item's key attributes as PutItem does (present, type, empty, too long), in the
 * service's words, and appends the encoded partition key to `hash` and the encoded sort key, if
 * any, to `range`. */
MUST_CHECK bool key_from_item(const struct key_schema *schema, const struct item *item,
                              struct buffer *hash, struct buffer *range, struct error *err);
/* The same for a request's Key, which must hold the key attributes and no others. */
MUST_CHECK bool key_from_request(const struct key_schema *schema, const struct item *key,
                                 struct buffer *hash, struct buffer *range, struct error *err);

/* The service's rules for one value: a key is not empty, a sort key not too long. */
MUST_CHECK bool key_check_not_empty(const struct key_attribute *attribute,
                                    const struct value *value, struct error *err);
MUST_CHECK bool key_check_range_size(const struct value *value, struct error *err);

#endif
