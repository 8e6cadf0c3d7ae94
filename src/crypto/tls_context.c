/* tls_context.c -- see tls_context.h.
 *
 * Files are read here, because OpenSSL's errors do not name the file.
 */
#include "crypto/tls_context.h"
#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "crypto/require.h"
#include "crypto/tls_session.h"

/* For TLS 1.2; all suites of 1.3 are safe. */
#define SUITES "ECDHE+AESGCM:ECDHE+CHACHA20"

struct tls_context {
    SSL_CTX *ssl;
    BIO_METHOD *wire;
    atomic_size_t references;
};

/* One file being read. */
struct file {
    const char *path;
    uint8_t *data;
    BIO *text;
    char *message;
};

static bool fail(const struct file *file, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(const struct file *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = snprintf(file->message, TLS_CONTEXT_MESSAGE_MAX, "%s: ", file->path);
    if (size > 0 && size < TLS_CONTEXT_MESSAGE_MAX)
        vsnprintf(file->message + size, TLS_CONTEXT_MESSAGE_MAX - (size_t)size, format, arguments);
    va_end(arguments);
    return false;
}

/* The reason is OpenSSL's. */
static bool fail_by_library(const struct file *file, const char *what)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return fail(file, "%s: %s", what, reason != NULL ? reason : "no reason given");
}

static bool open_file(struct file *file)
{
    errno = 0;
    FILE *stream = fopen(file->path, "rb");
    if (stream == NULL)
        return fail(file, "%s", strerror(errno));
    file->data = malloc(TLS_CONTEXT_FILE_SIZE_MAX + 1);
    require(file->data != NULL);
    size_t size = fread(file->data, 1, TLS_CONTEXT_FILE_SIZE_MAX + 1, stream);
    bool failed = ferror(stream) != 0;
    int error = errno;
    fclose(stream);
    if (failed)
        return fail(file, "%s", strerror(error));
    if (size > TLS_CONTEXT_FILE_SIZE_MAX)
        return fail(file, "larger than %d bytes", TLS_CONTEXT_FILE_SIZE_MAX);
    file->text = BIO_new_mem_buf(file->data, (int)size);
    require(file->text != NULL);
    return true;
}

static void close_file(struct file *file)
{
    BIO_free(file->text);
    if (file->data != NULL)
        OPENSSL_cleanse(file->data, TLS_CONTEXT_FILE_SIZE_MAX + 1); /* It may be the key. */
    free(file->data);
    ERR_clear_error();
}

/* PEM files may be encrypted, and nobody can be asked for the passphrase. */
static int refuse_passphrase(char *out, int size, int writes, void *asked)
{
    (void)out;
    (void)size;
    (void)writes;
    *(bool *)asked = true;
    return -1;
}

/* The next certificate of the file. NULL at its end or, with `damaged` set, for one that cannot be
 * read. */
static X509 *next_certificate(const struct file *file, bool *damaged)
{
    bool asked = false;
    ERR_clear_error();
    X509 *certificate = PEM_read_bio_X509(file->text, NULL, refuse_passphrase, &asked);
    unsigned long error = ERR_peek_last_error();
    *damaged = certificate == NULL &&
               !(ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE);
    return certificate;
}

static void warn_of_time(const char *path, const X509 *certificate)
{
    if (X509_cmp_time(X509_get0_notAfter(certificate), NULL) < 0)
        log_write(LOG_WARN, "tls", "%s: the certificate has expired", path);
    else if (X509_cmp_time(X509_get0_notBefore(certificate), NULL) > 0)
        log_write(LOG_WARN, "tls", "%s: the certificate is not valid yet", path);
}

static bool add_chain(SSL_CTX *ssl, const struct file *file)
{
    bool damaged;
    X509 *certificate = next_certificate(file, &damaged);
    if (certificate == NULL)
        return fail(file, damaged ? "the certificate cannot be read"
                                  : "there is no certificate in PEM format");
    bool ok = SSL_CTX_use_certificate(ssl, certificate) == 1;
    if (ok)
        warn_of_time(file->path, certificate);
    X509_free(certificate);
    if (!ok)
        return fail_by_library(file, "the certificate cannot be used");
    while ((certificate = next_certificate(file, &damaged)) != NULL) {
        if (SSL_CTX_add0_chain_cert(ssl, certificate) != 1) {
            X509_free(certificate);
            return fail_by_library(file, "a certificate of the chain cannot be used");
        }
    }
    return !damaged || fail(file, "a certificate of the chain cannot be read");
}

static bool add_key(SSL_CTX *ssl, const struct file *file, const char *cert_path)
{
    bool asked = false;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(file->text, NULL, refuse_passphrase, &asked);
    if (key == NULL && asked)
        return fail(file, "the key is encrypted; it must be without a passphrase");
    if (key == NULL)
        return fail(file, "there is no private key in PEM format");
    bool fits = X509_check_private_key(SSL_CTX_get0_certificate(ssl), key) == 1;
    bool ok = fits && SSL_CTX_use_PrivateKey(ssl, key) == 1;
    EVP_PKEY_free(key);
    if (!fits)
        return fail(file, "not the key of the certificate in %s", cert_path);
    return ok || fail_by_library(file, "the key cannot be used");
}

static bool add_client_authorities(SSL_CTX *ssl, const struct file *file)
{
    bool damaged = false;
    size_t count = 0;
    X509 *certificate;
    while ((certificate = next_certificate(file, &damaged)) != NULL) {
        bool ok = X509_STORE_add_cert(SSL_CTX_get_cert_store(ssl), certificate) == 1 &&
                  SSL_CTX_add_client_CA(ssl, certificate) == 1;
        X509_free(certificate);
        if (!ok)
            return fail_by_library(file, "a certificate cannot be used");
        count++;
    }
    if (damaged)
        return fail(file, "a certificate cannot be read");
    return count > 0 || fail(file, "there is no certificate in PEM format");
}

/* Only HTTP/1.1. A client that insists on another protocol fails here, not with a 400. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_size,
                           const unsigned char *offered, unsigned offered_size, void *unused)
{
    static const unsigned char spoken[] = "\x08http/1.1";
    unsigned char *chosen;
    (void)ssl;
    (void)unused;
    if (SSL_select_next_proto(&chosen, out_size, spoken, sizeof spoken - 1, offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *create_ssl(void)
{
    static const unsigned char id[] = "stator";
    SSL_CTX *ssl = SSL_CTX_new(TLS_server_method());
    require(ssl != NULL);
    require(SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) == 1);
    require(SSL_CTX_set_cipher_list(ssl, SUITES) == 1);
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    /* Release buffers between records, since most connections are idle. Allow a repeated write to
     * pass a copy of its bytes. */
    SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    /* Clients keep tickets. Resuming with a client certificate needs a context id. */
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    require(SSL_CTX_set_session_id_context(ssl, id, sizeof id - 1) == 1);
    SSL_CTX_set_alpn_select_cb(ssl, choose_protocol, NULL);
    return ssl;
}

static bool has_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static bool fill(SSL_CTX *ssl, const struct tls_context_options *options,
                 char message[TLS_CONTEXT_MESSAGE_MAX])
{
    struct file chain = { .path = options->cert_file, .message = message };
    struct file key = { .path = options->key_file, .message = message };
    struct file authorities = { .path = options->client_ca_file, .message = message };
    bool asks_clients = has_text(options->client_ca_file);
    bool ok = open_file(&chain) && add_chain(ssl, &chain) && open_file(&key) &&
              add_key(ssl, &key, chain.path);
    if (ok && asks_clients) {
        SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        ok = open_file(&authorities) && add_client_authorities(ssl, &authorities);
    }
    close_file(&authorities);
    close_file(&key);
    close_file(&chain);
    return ok;
}

struct tls_context *tls_context_create(const struct tls_context_options *options,
                                       char message[TLS_CONTEXT_MESSAGE_MAX])
{
    SSL_CTX *ssl = create_ssl();
    if (!fill(ssl, options, message)) {
        SSL_CTX_free(ssl);
        return NULL;
    }
    struct tls_context *context = malloc(sizeof *context);
    require(context != NULL);
    context->ssl = ssl;
    context->wire = tls_session_create_bio_method();
    atomic_init(&context->references, 1);
    return context;
}

struct tls_context *tls_context_acquire(struct tls_context *context)
{
    atomic_fetch_add(&context->references, 1);
    return context;
}

void tls_context_release(struct tls_context *context)
{
    if (context == NULL)
        return;
    size_t references = atomic_fetch_sub(&context->references, 1);
    assert(references > 0);
    if (references > 1)
        return;
    SSL_CTX_free(context->ssl);
    BIO_meth_free(context->wire);
    free(context);
}

bool tls_context_is_self_signed(const struct tls_context *context)
{
    return (X509_get_extension_flags(SSL_CTX_get0_certificate(context->ssl)) & EXFLAG_SS) != 0;
}

struct ssl_ctx_st *tls_context_ssl(const struct tls_context *context)
{
    return context->ssl;
}

const struct bio_method_st *tls_context_wire(const struct tls_context *context)
{
    return context->wire;
}
