/* tls_context.h -- what a server's TLS connections have in common: its certificate and the rules.
 *
 * TLS 1.2 and 1.3; for 1.2 only suites with forward secrecy and authenticated encryption. No
 * renegotiation, no compression. Sessions resume by tickets, whose keys are the context's own, so
 * none outlives it. Does not change once made: a new certificate is a new context.
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
    const char *cert_file; /* PEM: the server's certificate first, then what leads to its root. */
    const char *key_file;  /* PEM, without a passphrase. */
    /* PEM: whoever connects needs a certificate of one of these. NULL or empty: nobody does. */
    const char *client_ca_file;
};

/* Counted: begins with one reference. Any thread may use it. */
struct tls_context;
/* NULL with one line for people in `message`, which names the file and what is wrong with it. A
 * certificate that is not valid now is only warned of: clocks are wrong too. */
MUST_CHECK struct tls_context *tls_context_create(const struct tls_context_options *options,
                                                  char message[TLS_CONTEXT_MESSAGE_MAX]);
struct tls_context *tls_context_acquire(struct tls_context *context);
void tls_context_release(struct tls_context *context); /* Releasing NULL is allowed. */

/* Is the server's certificate its own authority, so that clients have to be told to trust it? */
bool tls_context_is_self_signed(const struct tls_context *context);

/* For tls_session.c, as long as it holds a reference. */
struct ssl_ctx_st *tls_context_ssl(const struct tls_context *context);
const struct bio_method_st *tls_context_wire(const struct tls_context *context);

#endif
