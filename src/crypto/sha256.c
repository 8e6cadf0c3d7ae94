/* sha256.c -- see sha256.h. HMAC is RFC 2104's two hashes: OpenSSL's own object costs several
 * allocations per use.
 */
#include "crypto/sha256.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include "crypto/require.h"

enum { BLOCK_SIZE = 64, INNER_PAD = 0x36, OUTER_PAD = 0x5c };

struct sha256 {
    EVP_MD *algorithm;
    EVP_MD_CTX *context;
};

struct sha256 *sha256_create(void)
{
    struct sha256 *hasher = malloc(sizeof *hasher);
    require(hasher != NULL);
    hasher->algorithm = EVP_MD_fetch(NULL, "SHA2-256", NULL);
    hasher->context = EVP_MD_CTX_new();
    require(hasher->algorithm != NULL && hasher->context != NULL);
    return hasher;
}

void sha256_destroy(struct sha256 *hasher)
{
    if (hasher == NULL)
        return;
    EVP_MD_CTX_free(hasher->context);
    EVP_MD_free(hasher->algorithm);
    free(hasher);
}

void sha256_begin(struct sha256 *hasher)
{
    require(EVP_DigestInit_ex2(hasher->context, hasher->algorithm, NULL) == 1);
}

void sha256_add(struct sha256 *hasher, struct bytes text)
{
    require(EVP_DigestUpdate(hasher->context, text.data, text.len) == 1);
}

void sha256_finish(struct sha256 *hasher, uint8_t out[SHA256_SIZE])
{
    require(EVP_DigestFinal_ex(hasher->context, out, NULL) == 1);
}

void sha256_digest(struct sha256 *hasher, struct bytes text, uint8_t out[SHA256_SIZE])
{
    sha256_begin(hasher);
    sha256_add(hasher, text);
    sha256_finish(hasher, out);
}

/* The hash of the padded key followed by the text. */
static void hash_behind_key(struct sha256 *hasher, const uint8_t key[BLOCK_SIZE], uint8_t pad,
                            struct bytes text, uint8_t out[SHA256_SIZE])
{
    uint8_t block[BLOCK_SIZE];
    for (size_t i = 0; i < BLOCK_SIZE; i++)
        block[i] = key[i] ^ pad;
    sha256_begin(hasher);
    sha256_add(hasher, bytes_of(block, BLOCK_SIZE));
    sha256_add(hasher, text);
    sha256_finish(hasher, out);
    OPENSSL_cleanse(block, sizeof block);
}

void sha256_hmac(struct sha256 *hasher, struct bytes key, struct bytes text,
                 uint8_t out[SHA256_SIZE])
{
    uint8_t padded[BLOCK_SIZE] = { 0 };
    if (key.len > BLOCK_SIZE)
        sha256_digest(hasher, key, padded);
    else if (key.len > 0)
        memcpy(padded, key.data, key.len);
    uint8_t inner[SHA256_SIZE];
    hash_behind_key(hasher, padded, INNER_PAD, text, inner);
    hash_behind_key(hasher, padded, OUTER_PAD, bytes_of(inner, sizeof inner), out);
    OPENSSL_cleanse(padded, sizeof padded);
}

void sha256_hex(const uint8_t digest[SHA256_SIZE], char out[SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
}

bool sha256_hex_equal(const char a[SHA256_HEX_SIZE], const char b[SHA256_HEX_SIZE])
{
    return CRYPTO_memcmp(a, b, SHA256_HEX_SIZE) == 0;
}
