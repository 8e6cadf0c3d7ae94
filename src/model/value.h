/* value.h -- attribute values in their encoded form, read in place.
 *
 * One encoding serves storage, comparison and answers; there is no tree. It is canonical: equal
 * values have equal bytes (maps sorted by name, sets sorted, numbers canonical), so equality of
 * any two values is memcmp. Layout: doc/disk-format.md, "Values".
 */
#ifndef STATOR_MODEL_VALUE_H
#define STATOR_MODEL_VALUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"

enum value_type {
    VALUE_S,
    VALUE_N,
    VALUE_B,
    VALUE_BOOL,
    VALUE_NULL,
    VALUE_L,
    VALUE_M,
    VALUE_SS,
    VALUE_NS,
    VALUE_BS,
    VALUE_TYPE_COUNT,
};

/* A view of one encoded value; borrows it. */
struct value {
    enum value_type type;
    bool boolean;         /* VALUE_BOOL */
    uint32_t count;       /* Elements of a list, map or set. */
    struct bytes data;    /* S, B: the content. N: the encoded number. Containers: the elements. */
    struct bytes encoded; /* The whole value, type included. */
};

/* "S", "N", ... as in JSON. */
const char *value_type_name(enum value_type type);
/* False if `name` names no type. */
MUST_CHECK bool value_type_parse(struct bytes name, enum value_type *out);

bool value_type_is_set(enum value_type type);
/* S, N or B. */
enum value_type value_type_of_member(enum value_type set);

/* A view of one whole value that we encoded. */
struct value value_view(struct bytes encoded);
/* Opens the value at the start of `in` and moves `in` behind it. False where the bytes are no
 * value; does not look inside containers. For bytes that were verified, failure is a bug of ours.
 */
MUST_CHECK bool value_open(struct bytes *in, struct value *out);
/* Checks one whole encoded value, inside out: bounds, UTF-8, canonical order, depth, numbers.
 * A scalar or a set is one level deep, a list or map one more than its deepest element. */
MUST_CHECK bool value_verify(struct bytes encoded, unsigned depth_max);
/* The same for the members of a map or an item. */
MUST_CHECK bool value_verify_members(struct bytes members, uint32_t count, unsigned depth_max);

/* Walks a list, set or map; members of a map arrive sorted by name. Members of a set arrive as S,
 * N or B and have `data` only: no type stands before them, so `encoded` is absent. */
struct value_iter {
    struct bytes rest;
    enum value_type container;
};
void value_iter_init(struct value_iter *iter, const struct value *container);
/* `name` is set for maps only and may be NULL otherwise. False at the end. */
bool value_iter_next(struct value_iter *iter, struct bytes *name, struct value *out);
/* A map's member; false if it has none of that name. */
bool value_map_find(const struct value *map, struct bytes name, struct value *out);

/* Opens a map's or an item's member at the start of `in`: a name and a value. Moves `in` behind it.
 */
MUST_CHECK bool value_open_member(struct bytes *in, struct bytes *name, struct value *out);
/* Finds the member of that name among those of a map or an item. */
bool value_find_member(struct bytes members, struct bytes name, struct value *out);
/* The order of members: by bytes. Most names differ in the first, which spares calling memcmp. */
static inline int value_compare_names(struct bytes a, struct bytes b)
{
    if (a.len > 0 && b.len > 0 && a.data[0] != b.data[0])
        return a.data[0] - b.data[0];
    return bytes_compare(a, b);
}

/* Also of members of sets, and of values that are stored nowhere: `encoded` is not looked at. */
static inline bool value_equal(const struct value *a, const struct value *b)
{
    return a->type == b->type && a->count == b->count && a->boolean == b->boolean &&
           bytes_equal(a->data, b->data);
}

/* Some order of all values, in which those that are value_equal, and no others, are equal. */
static inline int value_compare(const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (a->boolean != b->boolean)
        return a->boolean ? 1 : -1;
    return bytes_compare(a->data, b->data);
}

/* DynamoDB's size of the value in bytes, without any attribute's name. */
size_t value_size(const struct value *value);

/* Appending encoded values. Strings and sets are checked by the caller. */
void value_append_string(struct buffer *out, struct bytes text);
void value_append_binary(struct buffer *out, struct bytes data);
void value_append_number(struct buffer *out, struct bytes encoded_number);
void value_append_bool(struct buffer *out, bool boolean);
void value_append_null(struct buffer *out);
/* `elements` are `count` encoded elements in canonical order (map members: name, then value). */
void value_append_container(struct buffer *out, enum value_type type, uint32_t count,
                            struct bytes elements);
/* The same where the elements stand at the end of `out` already, from `elements_at` on: puts what
 * belongs before them there. */
void value_wrap_container(struct buffer *out, size_t elements_at, enum value_type type,
                          uint32_t count);
/* A name or a string inside a set: its length, then its bytes. */
void value_append_length_prefixed(struct buffer *out, struct bytes text);

#endif
