/* tls_session.h -- the server's end of one TLS connection, over bytes in memory.
 *
 * Does no input or output: each call borrows a wire, takes received bytes from it, and leaves bytes
 * to send there. Those must be sent whatever the call returns. Between calls a session keeps only
 * OpenSSL's state, less than two records of 16 KB.
 *
 * Belongs to one thread, whose queue of OpenSSL's errors is empty before and after each call.
 */
#ifndef STATOR_CRYPTO_TLS_SESSION_H
#define STATOR_CRYPTO_TLS_SESSION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct bio_method_st;
struct tls_context;
struct tls_session;

/* The bytes of a connection, lent to a session for one call. OpenSSL's own memory buffers grow
 * without a bound and stay with each connection. These belong to the caller, who can share them
 * among connections. */
struct tls_wire {
    struct bytes in; /* Received; bytes that were read are removed from its front. */
    uint8_t *out;    /* Bytes to send are appended here. */
    size_t out_len;
    size_t out_capacity;
};

enum {
    TLS_SESSION_PLAIN_MAX = 16 * 1024,                /* Of one record. */
    TLS_SESSION_RECORD_MAX = 16 * 1024 + 256 + 5 + 1, /* Its largest encrypted size. */
};

enum tls_status {
    TLS_OK,         /* Done. */
    TLS_MORE,       /* All of `in` was read, and more is needed. */
    TLS_FULL,       /* `out` is full: empty it, then repeat the call. */
    TLS_ENDED,      /* The peer will send no more; writing is still possible. */
    TLS_PLAIN_HTTP, /* The peer speaks plain HTTP. Final. */
    TLS_FAILED,     /* The peer violated the protocol. Final. */
};

/* Holds a reference to the context until it is destroyed. */
struct tls_session *tls_session_create(struct tls_context *context);
void tls_session_destroy(struct tls_session *session); /* Destroying NULL is allowed. */

/* To be called until it is TLS_OK, before anything is read or written. */
MUST_CHECK enum tls_status tls_session_handshake(struct tls_session *session,
                                                 struct tls_wire *wire);
/* Reads until `plain` is full (TLS_OK) or nothing more can be read. Either way it holds `*len`
 * bytes. */
MUST_CHECK enum tls_status tls_session_read(struct tls_session *session, struct tls_wire *wire,
                                            uint8_t *plain, size_t capacity, size_t *len);
/* Writes one record of at most TLS_SESSION_PLAIN_MAX bytes, and at least one. After
 * TLS_FULL, repeat the call with the same bytes, perhaps at another address. Never TLS_MORE. */
MUST_CHECK enum tls_status tls_session_write(struct tls_session *session, struct tls_wire *wire,
                                             struct bytes plain);
/* Sends the peer a close_notify, if that is still possible. */
void tls_session_end(struct tls_session *session, struct tls_wire *wire);

/* Why it failed, in OpenSSL's words. */
const char *tls_session_problem(const struct tls_session *session);

/* For tls_context.c: a BIO whose data is a `struct tls_wire **`. Free with BIO_meth_free. */
struct bio_method_st *tls_session_create_bio_method(void);

#endif
