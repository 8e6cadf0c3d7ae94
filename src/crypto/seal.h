/* seal.h -- secrets at rest: AES-256-GCM under a key that is kept elsewhere.
 *
 * Sealed bytes cannot be read without the key. A changed bit in them, or in the text authenticated
 * with them, is detected. Running out of memory aborts.
 */
#ifndef STATOR_CRYPTO_SEAL_H
#define STATOR_CRYPTO_SEAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum { SEAL_KEY_SIZE = 32, SEAL_NONCE_SIZE = 12, SEAL_TAG_SIZE = 16 };
enum { SEAL_OVERHEAD = SEAL_NONCE_SIZE + SEAL_TAG_SIZE };

/* Writes `plain.len` + SEAL_OVERHEAD bytes: a fresh random nonce, the encrypted text, the tag.
 * `beside` is authenticated but not included. */
void seal_close(const uint8_t key[SEAL_KEY_SIZE], struct bytes beside, struct bytes plain,
                uint8_t *out);
/* Writes `sealed.len` - SEAL_OVERHEAD bytes. False for another key or changed bytes; then the
 * contents of `out` are undefined. */
MUST_CHECK bool seal_open(const uint8_t key[SEAL_KEY_SIZE], struct bytes beside,
                          struct bytes sealed, uint8_t *out);

/* Unpredictable bytes, for secrets. */
void seal_random(void *out, size_t size);

#endif
