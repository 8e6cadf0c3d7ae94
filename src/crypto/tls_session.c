/* tls_session.c -- see tls_session.h. */
#include "crypto/tls_session.h"
#include <assert.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include "crypto/tls_context.h"

struct tls_session {
    SSL *ssl;
    struct tls_context *context;
    struct tls_wire *wire;  /* During a call. */
    enum tls_status ending; /* TLS_PLAIN_HTTP or TLS_FAILED; TLS_OK: neither. */
    const char *problem;
    bool established;
};

static_assert(TLS_SESSION_PLAIN_MAX == SSL3_RT_MAX_PLAIN_LENGTH, "one record");
static_assert(TLS_SESSION_RECORD_MAX >= SSL3_RT_MAX_TLS13_ENCRYPTED_LENGTH + SSL3_RT_HEADER_LENGTH,
              "one record of TLS 1.3");

/* --- The wire as OpenSSL sees it --- */

static struct tls_wire *wire_of(BIO *bio)
{
    return *(struct tls_wire **)BIO_get_data(bio);
}

static int bio_read(BIO *bio, char *out, size_t size, size_t *read)
{
    struct tls_wire *wire = wire_of(bio);
    BIO_clear_retry_flags(bio);
    *read = size < wire->in.len ? size : wire->in.len;
    if (*read == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(out, wire->in.data, *read);
    wire->in = bytes_of(wire->in.data + *read, wire->in.len - *read);
    return 1;
}

static int bio_write(BIO *bio, const char *data, size_t size, size_t *written)
{
    struct tls_wire *wire = wire_of(bio);
    size_t room = wire->out_capacity - wire->out_len;
    BIO_clear_retry_flags(bio);
    *written = size < room ? size : room;
    if (*written == 0) {
        BIO_set_retry_write(bio);
        return 0;
    }
    memcpy(wire->out + wire->out_len, data, *written);
    wire->out_len += *written;
    return 1;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static int bio_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

struct bio_method_st *tls_session_create_bio_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "wire");
    if (method == NULL || BIO_meth_set_read_ex(method, bio_read) != 1 ||
        BIO_meth_set_write_ex(method, bio_write) != 1 ||
        BIO_meth_set_ctrl(method, bio_control) != 1 || BIO_meth_set_create(method, bio_create) != 1)
        abort(); /* Out of memory. */
    return method;
}

/* --- Sessions --- */

struct tls_session *tls_session_create(struct tls_context *context)
{
    struct tls_session *session = calloc(1, sizeof *session);
    BIO *bio = BIO_new(tls_context_wire(context));
    SSL *ssl = SSL_new(tls_context_ssl(context));
    if (session == NULL || bio == NULL || ssl == NULL)
        abort(); /* Out of memory. */
    BIO_set_data(bio, &session->wire);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    session->ssl = ssl;
    session->context = tls_context_acquire(context);
    session->problem = "";
    return session;
}

void tls_session_destroy(struct tls_session *session)
{
    if (session == NULL)
        return;
    SSL_free(session->ssl);
    tls_context_release(session->context);
    free(session);
}

static void begin(struct tls_session *session, struct tls_wire *wire)
{
    assert(wire->out_len <= wire->out_capacity);
    session->wire = wire;
    ERR_clear_error(); /* SSL_get_error would take an old error for this call's. */
}

static enum tls_status fail(struct tls_session *session, const char *problem)
{
    session->problem = problem;
    session->ending = TLS_FAILED;
    return session->ending;
}

static enum tls_status fail_by_library(struct tls_session *session)
{
    unsigned long error = ERR_peek_error();
    const char *reason = ERR_reason_error_string(error);
    bool is_http = ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_HTTP_REQUEST;
    fail(session, reason != NULL ? reason : "unknown");
    if (is_http)
        session->ending = TLS_PLAIN_HTTP;
    return session->ending;
}

/* Ends a call of OpenSSL that returned `result`. */
static enum tls_status end(struct tls_session *session, int result)
{
    enum tls_status status;
    switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_NONE:
        status = TLS_OK;
        break;
    case SSL_ERROR_WANT_READ:
        status = session->wire->in.len == 0 ? TLS_MORE : fail(session, "bytes were left unread");
        break;
    case SSL_ERROR_WANT_WRITE:
        status = TLS_FULL;
        break;
    case SSL_ERROR_ZERO_RETURN:
        status = TLS_ENDED;
        break;
    default:
        status = fail_by_library(session);
        break;
    }
    ERR_clear_error();
    session->wire = NULL;
    return status;
}

enum tls_status tls_session_handshake(struct tls_session *session, struct tls_wire *wire)
{
    if (session->ending != TLS_OK)
        return session->ending;
    begin(session, wire);
    enum tls_status status = end(session, SSL_do_handshake(session->ssl));
    session->established = status == TLS_OK;
    return status;
}

enum tls_status tls_session_read(struct tls_session *session, struct tls_wire *wire, uint8_t *plain,
                                 size_t capacity, size_t *len)
{
    *len = 0;
    if (session->ending != TLS_OK)
        return session->ending;
    assert(capacity > 0 && session->established);
    begin(session, wire);
    int ok = 1;
    while (ok == 1 && *len < capacity) {
        size_t read = 0;
        ok = SSL_read_ex(session->ssl, plain + *len, capacity - *len, &read);
        *len += read;
    }
    return end(session, ok);
}

enum tls_status tls_session_write(struct tls_session *session, struct tls_wire *wire,
                                  struct bytes plain)
{
    if (session->ending != TLS_OK)
        return session->ending;
    assert(plain.len > 0 && plain.len <= TLS_SESSION_PLAIN_MAX && session->established);
    size_t written;
    begin(session, wire);
    enum tls_status status =
        end(session, SSL_write_ex(session->ssl, plain.data, plain.len, &written));
    /* OpenSSL writes nothing while half a message has arrived. Honest clients send such messages
     * (key updates) in one record. */
    return status == TLS_MORE ? fail(session, "half a message") : status;
}

void tls_session_end(struct tls_session *session, struct tls_wire *wire)
{
    if (session->ending != TLS_OK || !session->established)
        return;
    begin(session, wire);
    SSL_shutdown(session->ssl); /* An error no longer matters. */
    ERR_clear_error();
    session->wire = NULL;
}

const char *tls_session_problem(const struct tls_session *session)
{
    return session->problem;
}
