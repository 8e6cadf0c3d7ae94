/* tls_session.h -- the server's end of one TLS connection, over bytes in memory.
 *
 * Does no input or output of its own: each call is lent a wire (tls_wire.h), takes what has arrived
 * from it and leaves there what is to be sent, which has to be sent whatever the call returns. All
 * that a session keeps between calls is OpenSSL's, and less than two records of 16 KB.
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
#include "crypto/tls_wire.h"

struct tls_context;
struct tls_session;

enum {
    TLS_SESSION_PLAIN_MAX = 16 * 1024,                /* Of one record. */
    TLS_SESSION_RECORD_MAX = 16 * 1024 + 256 + 5 + 1, /* What it becomes, at most. */
};

enum tls_status {
    TLS_OK,         /* All that was asked for is done. */
    TLS_MORE,       /* All of `in` was read, and more has to arrive. */
    TLS_FULL,       /* There is no room in `out`: empty it, then call the same again. */
    TLS_ENDED,      /* The other end will send no more; it can still be written to. */
    TLS_PLAIN_HTTP, /* The other end speaks HTTP and no TLS. Nothing else can be done. */
    TLS_FAILED,     /* The other end broke the rules. Nothing else can be done. */
};

/* Holds a reference to the context until it is destroyed. */
struct tls_session *tls_session_create(struct tls_context *context);
void tls_session_destroy(struct tls_session *session); /* Destroying NULL is allowed. */

/* To be called until it is TLS_OK, before anything is read or written. */
MUST_CHECK enum tls_status tls_session_handshake(struct tls_session *session,
                                                 struct tls_wire *wire);
/* Reads until `plain` is full (TLS_OK) or nothing more can be read. `*len` bytes are there in
 * either case. */
MUST_CHECK enum tls_status tls_session_read(struct tls_session *session, struct tls_wire *wire,
                                            uint8_t *plain, size_t capacity, size_t *len);
/* Writes one record of at most TLS_SESSION_PLAIN_MAX bytes, and at least one. If it is TLS_FULL the
 * same bytes have to be given again, though not at the same place. It is never TLS_MORE. */
MUST_CHECK enum tls_status tls_session_write(struct tls_session *session, struct tls_wire *wire,
                                             struct bytes plain);
/* Tells the other end, if it still can be told, that nothing more will be written. */
void tls_session_end(struct tls_session *session, struct tls_wire *wire);

/* Why it failed, in OpenSSL's words. */
const char *tls_session_problem(const struct tls_session *session);

#endif
