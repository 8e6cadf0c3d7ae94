/* byte_order.h -- integers as bytes: big-endian where bytes must sort, little-endian elsewhere. */
#ifndef STATOR_BASE_BYTE_ORDER_H
#define STATOR_BASE_BYTE_ORDER_H
#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void store_u64_be(uint8_t *out, uint64_t value)
{
    value = htobe64(value);
    memcpy(out, &value, sizeof value);
}

static inline uint64_t load_u64_be(const uint8_t *in)
{
    uint64_t value;
    memcpy(&value, in, sizeof value);
    return be64toh(value);
}

static inline void store_u64_le(uint8_t *out, uint64_t value)
{
    value = htole64(value);
    memcpy(out, &value, sizeof value);
}

static inline uint64_t load_u64_le(const uint8_t *in)
{
    uint64_t value;
    memcpy(&value, in, sizeof value);
    return le64toh(value);
}

static inline void store_u32_be(uint8_t *out, uint32_t value)
{
    value = htobe32(value);
    memcpy(out, &value, sizeof value);
}

static inline uint32_t load_u32_be(const uint8_t *in)
{
    uint32_t value;
    memcpy(&value, in, sizeof value);
    return be32toh(value);
}

static inline void store_u32_le(uint8_t *out, uint32_t value)
{
    value = htole32(value);
    memcpy(out, &value, sizeof value);
}

static inline uint32_t load_u32_le(const uint8_t *in)
{
    uint32_t value;
    memcpy(&value, in, sizeof value);
    return le32toh(value);
}

#endif
