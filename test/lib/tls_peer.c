/* tls_peer.c -- see tls_peer.h. */
#include "tls_peer.h"
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include "tls_files.h"

struct tls_peer {
    SSL_CTX *context;
    SSL *ssl;
    BIO *in, *out;
    BIO *text; /* What tls_peer_server_cert has written. */
    uint8_t *taken;
    bool failed;
    const char *problem;
};

static void require(bool ok)
{
    if (!ok) {
        ERR_print_errors_fp(stderr);
        abort();
    }
}

static void path_of(char out[SCRATCH_PATH_MAX], const struct tls_peer_options *options,
                    const char *name, const char *ending)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", name, ending);
    scratch_join(out, options->files->directory, full);
}

static void set_files(SSL_CTX *context, const struct tls_peer_options *options)
{
    char path[SCRATCH_PATH_MAX];
    if (options->trusted != NULL) {
        path_of(path, options, options->trusted, "");
        require(SSL_CTX_load_verify_file(context, path) == 1);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    }
    if (options->name != NULL) {
        path_of(path, options, options->name, ".pem");
        require(SSL_CTX_use_certificate_chain_file(context, path) == 1);
        path_of(path, options, options->name, ".key");
        require(SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM) == 1);
    }
}

struct tls_peer *tls_peer_create(const struct tls_peer_options *options)
{
    struct tls_peer *peer = calloc(1, sizeof *peer);
    require(peer != NULL);
    peer->context = SSL_CTX_new(TLS_client_method());
    require(peer->context != NULL);
    /* Old versions are offered in earnest: it is the server that has to refuse them. */
    SSL_CTX_set_security_level(peer->context, 0);
    require(SSL_CTX_set_min_proto_version(peer->context, TLS1_VERSION) == 1);
    require(SSL_CTX_set_max_proto_version(peer->context, options->version_max) == 1);
    if (options->suites != NULL)
        require(SSL_CTX_set_cipher_list(peer->context, options->suites) == 1);
    set_files(peer->context, options);
    peer->ssl = SSL_new(peer->context);
    peer->in = BIO_new(BIO_s_mem());
    peer->out = BIO_new(BIO_s_mem());
    peer->text = BIO_new(BIO_s_mem());
    require(peer->ssl != NULL && peer->in != NULL && peer->out != NULL && peer->text != NULL);
    if (options->alpn != NULL)
        require(SSL_set_alpn_protos(peer->ssl, (const unsigned char *)options->alpn,
                                    (unsigned)strlen(options->alpn)) == 0);
    SSL_set_bio(peer->ssl, peer->in, peer->out);
    SSL_set_connect_state(peer->ssl);
    require(SSL_set1_host(peer->ssl, "localhost") == 1);
    peer->problem = "";
    return peer;
}

void tls_peer_destroy(struct tls_peer *peer)
{
    if (peer == NULL)
        return;
    SSL_free(peer->ssl);
    SSL_CTX_free(peer->context);
    BIO_free(peer->text);
    free(peer->taken);
    free(peer);
}

/* Notes a failure that is more than a want of bytes. */
static void note(struct tls_peer *peer, int result)
{
    int error = SSL_get_error(peer->ssl, result);
    if (error == SSL_ERROR_SSL || error == SSL_ERROR_SYSCALL) {
        const char *reason = ERR_reason_error_string(ERR_peek_error());
        peer->failed = true;
        peer->problem = reason != NULL ? reason : "";
    }
    ERR_clear_error();
}

bool tls_peer_shake(struct tls_peer *peer)
{
    ERR_clear_error();
    int result = SSL_do_handshake(peer->ssl);
    note(peer, result);
    return result == 1;
}

bool tls_peer_failed(const struct tls_peer *peer)
{
    return peer->failed;
}

void tls_peer_write(struct tls_peer *peer, struct bytes plain)
{
    size_t written;
    ERR_clear_error();
    require(SSL_write_ex(peer->ssl, plain.data, plain.len, &written) == 1);
}

size_t tls_peer_read(struct tls_peer *peer, void *out, size_t capacity)
{
    size_t size = 0;
    ERR_clear_error();
    note(peer, SSL_read_ex(peer->ssl, out, capacity, &size));
    return size;
}

bool tls_peer_is_ended(const struct tls_peer *peer)
{
    return (SSL_get_shutdown(peer->ssl) & SSL_RECEIVED_SHUTDOWN) != 0 && !peer->failed;
}

void tls_peer_end(struct tls_peer *peer)
{
    ERR_clear_error();
    SSL_shutdown(peer->ssl);
    ERR_clear_error();
}

void tls_peer_renew(struct tls_peer *peer)
{
    ERR_clear_error();
    if (SSL_version(peer->ssl) == TLS1_3_VERSION)
        require(SSL_key_update(peer->ssl, SSL_KEY_UPDATE_REQUESTED) == 1);
    else
        require(SSL_renegotiate(peer->ssl) == 1);
    note(peer, SSL_do_handshake(peer->ssl));
}

void tls_peer_give(struct tls_peer *peer, struct bytes sent)
{
    if (sent.len > 0)
        require(BIO_write(peer->in, sent.data, (int)sent.len) == (int)sent.len);
}

struct bytes tls_peer_take(struct tls_peer *peer)
{
    size_t size = BIO_ctrl_pending(peer->out);
    free(peer->taken);
    peer->taken = malloc(size + 1);
    require(peer->taken != NULL &&
            (size == 0 || BIO_read(peer->out, peer->taken, (int)size) == (int)size));
    return bytes_of(peer->taken, size);
}

const char *tls_peer_version(const struct tls_peer *peer)
{
    return SSL_get_version(peer->ssl);
}

struct bytes tls_peer_protocol(const struct tls_peer *peer)
{
    const unsigned char *name = NULL;
    unsigned size = 0;
    SSL_get0_alpn_selected(peer->ssl, &name, &size);
    return bytes_of(name, size);
}

struct bytes tls_peer_server_cert(struct tls_peer *peer)
{
    char *text;
    BIO_reset(peer->text);
    require(PEM_write_bio_X509(peer->text, SSL_get0_peer_certificate(peer->ssl)) == 1);
    long size = BIO_get_mem_data(peer->text, &text);
    return bytes_of(text, (size_t)size);
}

const char *tls_peer_problem(const struct tls_peer *peer)
{
    return peer->problem;
}
