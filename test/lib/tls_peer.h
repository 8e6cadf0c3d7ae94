/* tls_peer.h -- the client's end of a TLS connection, over bytes in memory, for tests.
 *
 * What it wants to send is taken from it, and what has arrived is given to it, by the test, which
 * may cut it to pieces or spoil it on the way.
 */
#ifndef STATOR_TEST_TLS_PEER_H
#define STATOR_TEST_TLS_PEER_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct tls_peer;
struct tls_files;

enum { TLS_PEER_1_0 = 0x0301, TLS_PEER_1_1, TLS_PEER_1_2, TLS_PEER_1_3 };

struct tls_peer_options {
    const struct tls_files *files;
    const char *trusted; /* "server.pem"; NULL: whatever the server shows is fine. */
    const char *name;    /* "client": shows client.pem; NULL: shows none. */
    int version_max;     /* TLS_PEER_1_2 and so on; 0: the newest. */
    const char *suites;  /* Of TLS 1.2; NULL: the usual ones. */
    const char *alpn;    /* As on the wire: "\x02h2"; NULL: none. */
};

struct tls_peer *tls_peer_create(const struct tls_peer_options *options);
void tls_peer_destroy(struct tls_peer *peer); /* Destroying NULL is allowed. */

/* Goes as far with the handshake as it can. True once it is over. */
bool tls_peer_shake(struct tls_peer *peer);
bool tls_peer_failed(const struct tls_peer *peer);
/* Encrypts. */
void tls_peer_write(struct tls_peer *peer, struct bytes plain);
/* Decrypts what was given: the number of bytes, 0 if there is nothing. */
size_t tls_peer_read(struct tls_peer *peer, void *out, size_t capacity);
/* Has the server said that it will send no more? */
bool tls_peer_is_ended(const struct tls_peer *peer);
/* Says so itself. */
void tls_peer_end(struct tls_peer *peer);
/* Asks for new keys on both sides (TLS 1.3), or for a new handshake (1.2). */
void tls_peer_renew(struct tls_peer *peer);

/* What the server sent. */
void tls_peer_give(struct tls_peer *peer, struct bytes sent);
/* What is to be sent to the server; valid until the next call. */
struct bytes tls_peer_take(struct tls_peer *peer);

/* "TLSv1.3", and what was agreed on by ALPN, empty if nothing. */
const char *tls_peer_version(const struct tls_peer *peer);
struct bytes tls_peer_protocol(const struct tls_peer *peer);
/* The server's certificate as its file has it, in PEM; valid until the next call. */
struct bytes tls_peer_server_cert(struct tls_peer *peer);
/* Why it failed, in OpenSSL's words. */
const char *tls_peer_problem(const struct tls_peer *peer);

#endif
