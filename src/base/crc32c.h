/* crc32c.h -- the Castagnoli checksum of stored values. */
#ifndef STATOR_BASE_CRC32C_H
#define STATOR_BASE_CRC32C_H
#include <stdint.h>
#include "base/bytes.h"

uint32_t crc32c(struct bytes value);
/* The same without the processor's instruction; apart from tests, crc32c chooses it. */
uint32_t crc32c_portable(struct bytes value);

#endif
