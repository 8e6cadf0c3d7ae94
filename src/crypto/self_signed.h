/* self_signed.h -- a key and a self-signed certificate, for servers without a certificate
 * authority.
 *
 * A client that trusts the certificate trusts this server only: it is no authority, and cannot sign
 * other certificates.
 */
#ifndef STATOR_CRYPTO_SELF_SIGNED_H
#define STATOR_CRYPTO_SELF_SIGNED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum {
    SELF_SIGNED_HOSTS_MAX = 100,
    SELF_SIGNED_HOST_SIZE_MAX = 253, /* Of a DNS name. */
    SELF_SIGNED_DAYS_MAX = 3650,
};

struct self_signed_options {
    const char *const *hosts; /* Each accepted by self_signed_accepts. */
    size_t host_count;        /* 1 to SELF_SIGNED_HOSTS_MAX. */
    unsigned days;            /* 1 to SELF_SIGNED_DAYS_MAX. */
    int64_t now_ms;           /* Valid from an hour before, for clients with slow clocks. */
};

/* True for an IP address and for a DNS name, whose first label may be a star. */
bool self_signed_accepts(const char *host);

/* Creates a new pair as PEM texts in the arena: an EC key on P-256, and its certificate. */
void self_signed_create(struct arena *arena, const struct self_signed_options *options,
                        struct bytes *cert, struct bytes *key);

#endif
