/* value_open.h -- what stands at the beginning of an encoded value, for the loops that look at
 * every value of an item: they decide the speed of a Scan. Private to model/.
 */
#ifndef STATOR_MODEL_VALUE_OPEN_H
#define STATOR_MODEL_VALUE_OPEN_H
#include <stdbool.h>
#include "base/bytes.h"
#include "model/number.h"
#include "model/varint.h"

/* The first byte of a value. */
enum value_tag {
    TAG_S = 0x01,
    TAG_N = 0x02,
    TAG_B = 0x03,
    TAG_FALSE = 0x04,
    TAG_TRUE = 0x05,
    TAG_NULL = 0x06,
    TAG_L = 0x07,
    TAG_M = 0x08,
    TAG_SS = 0x09,
    TAG_NS = 0x0A,
    TAG_BS = 0x0B,
    TAG_COUNT,
};

static inline struct bytes value_behind(struct bytes value, size_t size)
{
    return bytes_of(value.data + size, value.len - size);
}

/* Takes a length and that many bytes. */
static inline bool value_take_prefixed(struct bytes *in, struct bytes *out)
{
    struct bytes rest = *in;
    uint32_t size;
    if (!varint_read(&rest, &size) || size > rest.len)
        return false;
    *out = bytes_of(rest.data, size);
    *in = value_behind(rest, size);
    return true;
}

static inline bool value_take_number(struct bytes *in, struct bytes *out)
{
    size_t size = number_encoded_size(*in);
    if (size == 0)
        return false;
    *out = bytes_of(in->data, size);
    *in = value_behind(*in, size);
    return true;
}

#endif
