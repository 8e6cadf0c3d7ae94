/* tls_files.h -- keys and certificates for tests of TLS, as files in a directory.
 *
 *   server.pem, server.key   the server's, signed by itself, for localhost and 127.0.0.1
 *   other.pem, other.key     the same of another server
 *   ca.pem                   an authority, whose are
 *   client.pem, client.key
 *   stranger-ca.pem          an authority that nobody trusts, whose are
 *   stranger.pem, stranger.key
 *   expired.pem, encrypted.key, small.pem, small.key (RSA of 1024 bits)
 *                            what a server warns of or refuses; the first two fit to server's
 */
#ifndef STATOR_TEST_TLS_FILES_H
#define STATOR_TEST_TLS_FILES_H
#include "crypto/tls_context.h"
#include "scratch.h"

struct tls_files {
    char directory[SCRATCH_PATH_MAX];
};

void tls_files_create(struct tls_files *files);
void tls_files_destroy(struct tls_files *files);
/* Writes a text of the test's own. */
void tls_files_write(const struct tls_files *files, const char *name, const char *text);

/* A context of the named files; `client_ca` may be NULL. Aborts if there cannot be one. */
struct tls_context *tls_files_context(const struct tls_files *files, const char *cert,
                                      const char *key, const char *client_ca);

#endif
