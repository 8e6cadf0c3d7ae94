/* varint.h -- LEB128 lengths: seven bits a byte, least significant first, shortest form only.
 *
 * Bounded to 32 bits: nothing encoded is larger than a request.
 */
#ifndef STATOR_MODEL_VARINT_H
#define STATOR_MODEL_VARINT_H
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum { VARINT_SIZE_MAX = 5 };

/* Returns the size written. */
static inline size_t varint_write(size_t value, uint8_t out[VARINT_SIZE_MAX])
{
    assert(value <= UINT32_MAX);
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        out[size++] = (uint8_t)(value | 0x80);
    out[size++] = (uint8_t)value;
    return size;
}

/* Moves `in` behind the number. False if it has no end, exceeds 32 bits or could be shorter. */
MUST_CHECK static inline bool varint_read(struct bytes *in, uint32_t *out)
{
    if (LIKELY(in->len > 0 && in->data[0] < 0x80)) {
        *out = in->data[0];
        *in = bytes_of(in->data + 1, in->len - 1);
        return true;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < in->len && i < VARINT_SIZE_MAX; i++) {
        uint8_t byte = in->data[i];
        value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            if (byte == 0 || value > UINT32_MAX)
                return false;
            *out = (uint32_t)value;
            *in = bytes_of(in->data + i + 1, in->len - i - 1);
            return true;
        }
    }
    return false;
}

#endif
