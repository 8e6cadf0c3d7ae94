/* sha256.h -- SHA-256 and HMAC-SHA-256. Keeps OpenSSL's objects between calls.
 *
 * A hasher belongs to one thread at a time. Running out of memory aborts.
 */
#ifndef STATOR_CRYPTO_SHA256_H
#define STATOR_CRYPTO_SHA256_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 64 };

struct sha256;
struct sha256 *sha256_create(void);
void sha256_destroy(struct sha256 *hasher); /* Destroying NULL is allowed. */

void sha256_digest(struct sha256 *hasher, struct bytes text, uint8_t out[SHA256_SIZE]);
void sha256_hmac(struct sha256 *hasher, struct bytes key, struct bytes text,
                 uint8_t out[SHA256_SIZE]);

/* The digest of a text in pieces: begin, any number of pieces, finish. */
void sha256_begin(struct sha256 *hasher);
void sha256_add(struct sha256 *hasher, struct bytes text);
void sha256_finish(struct sha256 *hasher, uint8_t out[SHA256_SIZE]);

/* Lower case, without a NUL. */
void sha256_hex(const uint8_t digest[SHA256_SIZE], char out[SHA256_HEX_SIZE]);
/* Compares two hexadecimal digests, in constant time. */
bool sha256_hex_equal(const char a[SHA256_HEX_SIZE], const char b[SHA256_HEX_SIZE]);

#endif
