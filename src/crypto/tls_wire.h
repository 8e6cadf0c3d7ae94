/* tls_wire.h -- the bytes of a TLS connection, lent to a session for the time of one call.
 *
 * OpenSSL's own buffers in memory grow as they like and stay with each connection; these belong to
 * the caller, who can share them among connections and knows their bounds.
 */
#ifndef STATOR_CRYPTO_TLS_WIRE_H
#define STATOR_CRYPTO_TLS_WIRE_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct bio_method_st;

struct tls_wire {
    struct bytes in; /* What has arrived; what was read is taken off its front. */
    uint8_t *out;    /* What is to be sent is appended here. */
    size_t out_len;
    size_t out_capacity;
};

/* OpenSSL's view of a wire: a BIO whose data is a `struct tls_wire **`. Free with BIO_meth_free. */
struct bio_method_st *tls_wire_create_method(void);

#endif
