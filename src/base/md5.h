/* md5.h -- MD5 (RFC 1321), for the order in which DynamoDB stores items. Not for security.
 *
 * Every request hashes its key, so this must be quick: a key of up to 47 bytes is one block, and
 * nothing is allocated. OpenSSL's MD5 would first look up the algorithm, which takes longer than
 * the hash itself.
 */
#ifndef STATOR_BASE_MD5_H
#define STATOR_BASE_MD5_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

enum { MD5_BLOCK_SIZE = 64, MD5_DIGEST_SIZE = 16 };

struct md5 {
    uint32_t state[4];
    uint64_t size; /* Bytes so far; those of the last, partial block are in `block`. */
    uint8_t block[MD5_BLOCK_SIZE];
};

/* Of so many bytes at most the hash is one block. */
enum { MD5_SHORT_SIZE_MAX = MD5_BLOCK_SIZE - 1 - 8 };
/* The same hash in one step, for what is at most MD5_SHORT_SIZE_MAX bytes: `block` holds these, and
 * zeros behind them. */
void md5_finish_short(uint8_t block[MD5_BLOCK_SIZE], size_t size, uint8_t digest[MD5_DIGEST_SIZE]);

void md5_init(struct md5 *md5);
void md5_add(struct md5 *md5, struct bytes data);
/* Ends the hash: `md5` cannot be used again before md5_init. */
void md5_finish(struct md5 *md5, uint8_t digest[MD5_DIGEST_SIZE]);

#endif
