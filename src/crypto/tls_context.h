/* tls_context.h -- what a server's TLS connections share: its certificate and the TLS settings.
 *
 * TLS 1.2 and 1.3; for 1.2 only suites with forward secrecy and authenticated encryption. No
 * renegotiation, no compression. Sessions resume by tickets whose keys belong to the context, so
 * none outlives it. Immutable: a new certificate needs a new context.
 */
#ifndef STATOR_CRYPTO_TLS_CONTEXT_H
#define STATOR_CRYPTO_TLS_CONTEXT_H
#include <stdbool.h>
#include "base/compiler.h"

struct bio_method_st;
struct ssl_ctx_st;

enum {
    TLS_CONTEXT_FILE_SIZE_MAX = 1024 * 1024,
    TLS_CONTEXT_MESSAGE_MAX = 9 * 1024, /* Room for two paths. */
};

struct tls_context_options {
    const char *cert_file; /* PEM: the server's certificate, then its chain. */
    const char *key_file;  /* PEM, without a passphrase. */
    /* PEM: clients need a certificate of one of these authorities. NULL or empty: they need none.
     */
    const char *client_ca_file;
};

/* Reference-counted; starts with one. For any thread. */
struct tls_context;
/* NULL with one line for people in `message` that names the file and the problem. An expired or not
 * yet valid certificate only causes a warning, since the clock may be wrong. */
MUST_CHECK struct tls_context *tls_context_create(const struct tls_context_options *options,
                                                  char message[TLS_CONTEXT_MESSAGE_MAX]);
struct tls_context *tls_context_acquire(struct tls_context *context);
void tls_context_release(struct tls_context *context); /* Releasing NULL is allowed. */

/* True if the certificate is self-signed, so that clients must be configured to trust it. */
bool tls_context_is_self_signed(const struct tls_context *context);

/* For tls_session.c, while it holds a reference. */
struct ssl_ctx_st *tls_context_ssl(const struct tls_context *context);
const struct bio_method_st *tls_context_wire(const struct tls_context *context);

#endif
