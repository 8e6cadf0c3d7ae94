/* md5.c -- see md5.h. The names of variables and functions are those of RFC 1321. */
#include "base/md5.h"
#include <assert.h>
#include <string.h>
#include "base/byte_order.h"

enum { LENGTH_OFFSET = MD5_BLOCK_SIZE - 8 }; /* In the last block. */

/* The integer part of 2^32 times |sin(i)|, i in radians. */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static inline uint32_t rotate(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

/* One step: `f` is the round's function of b, c and d; the roles of a to d rotate. */
#define STEP(f, a, b, c, d, k, s, i) ((a) = (b) + rotate((a) + f(b, c, d) + x[k] + sines[i], s))
#define F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#define G(x, y, z) ((y) ^ ((z) & ((x) ^ (y))))
#define H(x, y, z) ((x) ^ (y) ^ (z))
#define I(x, y, z) ((y) ^ ((x) | ~(z)))
/* Four steps, in which each of a to d is changed once. */
#define STEPS(f, k0, k1, k2, k3, s0, s1, s2, s3, i)                                                \
    do {                                                                                           \
        STEP(f, a, b, c, d, k0, s0, i);                                                            \
        STEP(f, d, a, b, c, k1, s1, (i) + 1);                                                      \
        STEP(f, c, d, a, b, k2, s2, (i) + 2);                                                      \
        STEP(f, b, c, d, a, k3, s3, (i) + 3);                                                      \
    } while (0)

static void transform(uint32_t state[4], const uint8_t *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], x[16];
    for (size_t i = 0; i < 16; i++)
        x[i] = load_u32_le(block + 4 * i);

    STEPS(F, 0, 1, 2, 3, 7, 12, 17, 22, 0);
    STEPS(F, 4, 5, 6, 7, 7, 12, 17, 22, 4);
    STEPS(F, 8, 9, 10, 11, 7, 12, 17, 22, 8);
    STEPS(F, 12, 13, 14, 15, 7, 12, 17, 22, 12);

    STEPS(G, 1, 6, 11, 0, 5, 9, 14, 20, 16);
    STEPS(G, 5, 10, 15, 4, 5, 9, 14, 20, 20);
    STEPS(G, 9, 14, 3, 8, 5, 9, 14, 20, 24);
    STEPS(G, 13, 2, 7, 12, 5, 9, 14, 20, 28);

    STEPS(H, 5, 8, 11, 14, 4, 11, 16, 23, 32);
    STEPS(H, 1, 4, 7, 10, 4, 11, 16, 23, 36);
    STEPS(H, 13, 0, 3, 6, 4, 11, 16, 23, 40);
    STEPS(H, 9, 12, 15, 2, 4, 11, 16, 23, 44);

    STEPS(I, 0, 7, 14, 5, 6, 10, 15, 21, 48);
    STEPS(I, 12, 3, 10, 1, 6, 10, 15, 21, 52);
    STEPS(I, 8, 15, 6, 13, 6, 10, 15, 21, 56);
    STEPS(I, 4, 11, 2, 9, 6, 10, 15, 21, 60);

    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

static const uint32_t initial_state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };

static void store_digest(const uint32_t state[4], uint8_t digest[MD5_DIGEST_SIZE])
{
    for (size_t i = 0; i < 4; i++)
        store_u32_le(digest + 4 * i, state[i]);
}

void md5_finish_short(uint8_t block[MD5_BLOCK_SIZE], size_t size, uint8_t digest[MD5_DIGEST_SIZE])
{
    uint32_t state[4];
    assert(size <= MD5_SHORT_SIZE_MAX);
    memcpy(state, initial_state, sizeof state);
    block[size] = 0x80;
    store_u64_le(block + LENGTH_OFFSET, size * 8);
    transform(state, block);
    store_digest(state, digest);
}

void md5_init(struct md5 *md5)
{
    memcpy(md5->state, initial_state, sizeof md5->state);
    md5->size = 0;
}

void md5_add(struct md5 *md5, struct bytes data)
{
    size_t used = md5->size % MD5_BLOCK_SIZE;
    md5->size += data.len;
    while (data.len > 0) {
        size_t part = data.len < MD5_BLOCK_SIZE - used ? data.len : MD5_BLOCK_SIZE - used;
        memcpy(md5->block + used, data.data, part);
        data = bytes_of(data.data + part, data.len - part);
        used += part;
        if (used < MD5_BLOCK_SIZE)
            return;
        transform(md5->state, md5->block);
        used = 0;
    }
}

void md5_finish(struct md5 *md5, uint8_t digest[MD5_DIGEST_SIZE])
{
    size_t used = md5->size % MD5_BLOCK_SIZE;
    md5->block[used++] = 0x80;
    if (used > LENGTH_OFFSET) {
        memset(md5->block + used, 0, MD5_BLOCK_SIZE - used);
        transform(md5->state, md5->block);
        used = 0;
    }
    memset(md5->block + used, 0, LENGTH_OFFSET - used);
    store_u64_le(md5->block + LENGTH_OFFSET, md5->size * 8);
    transform(md5->state, md5->block);
    store_digest(md5->state, digest);
}
