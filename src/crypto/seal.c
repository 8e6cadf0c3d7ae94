/* seal.c -- see seal.h. */
#include "crypto/seal.h"
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include "crypto/require.h"

static EVP_CIPHER_CTX *start(const uint8_t key[SEAL_KEY_SIZE], const uint8_t *nonce,
                             struct bytes beside, int encrypt)
{
    int size;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    require(context != NULL && beside.len <= INT_MAX);
    require(EVP_CipherInit_ex2(context, EVP_aes_256_gcm(), key, nonce, encrypt, NULL) == 1);
    require(EVP_CipherUpdate(context, NULL, &size, beside.data, (int)beside.len) == 1);
    return context;
}

void seal_close(const uint8_t key[SEAL_KEY_SIZE], struct bytes beside, struct bytes plain,
                uint8_t *out)
{
    int size = 0;
    uint8_t *text = out + SEAL_NONCE_SIZE;
    seal_random(out, SEAL_NONCE_SIZE);
    EVP_CIPHER_CTX *context = start(key, out, beside, 1);
    require(plain.len <= INT_MAX);
    require(EVP_CipherUpdate(context, text, &size, plain.data, (int)plain.len) == 1);
    require(EVP_CipherFinal_ex(context, text + size, &size) == 1);
    require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG_SIZE, text + plain.len) ==
            1);
    EVP_CIPHER_CTX_free(context);
}

bool seal_open(const uint8_t key[SEAL_KEY_SIZE], struct bytes beside, struct bytes sealed,
               uint8_t *out)
{
    int size = 0;
    uint8_t tag[SEAL_TAG_SIZE];
    if (sealed.len < SEAL_OVERHEAD || sealed.len > INT_MAX)
        return false;
    size_t text_size = sealed.len - SEAL_OVERHEAD;
    memcpy(tag, sealed.data + sealed.len - SEAL_TAG_SIZE, SEAL_TAG_SIZE);
    EVP_CIPHER_CTX *context = start(key, sealed.data, beside, 0);
    require(EVP_CipherUpdate(context, out, &size, sealed.data + SEAL_NONCE_SIZE, (int)text_size) ==
            1);
    require(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG_SIZE, tag) == 1);
    bool whole = EVP_CipherFinal_ex(context, out + size, &size) == 1;
    EVP_CIPHER_CTX_free(context);
    return whole;
}

void seal_random(void *out, size_t size)
{
    require(size <= INT_MAX && RAND_bytes(out, (int)size) == 1);
}
