/* crc32c.h -- the Castagnoli checksum of stored values. */
#ifndef STATOR_BASE_CRC32C_H
#define STATOR_BASE_CRC32C_H
#include <stdint.h>
#include "base/bytes.h"

uint32_t crc32c(struct bytes value);
/* The checksum of some bytes with checksum `crc`, followed by `value`. That of no bytes is 0. */
uint32_t crc32c_extend(uint32_t crc, struct bytes value);
/* The same without the processor's instruction. Public for tests only. */
uint32_t crc32c_extend_portable(uint32_t crc, struct bytes value);

#endif
