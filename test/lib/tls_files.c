/* tls_files.c -- see tls_files.h. */
#include "tls_files.h"
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "crypto/self_signed.h"

enum { HOUR_SECONDS = 3600, SMALL_KEY_BITS = 1024 };

static void require(bool ok)
{
    if (!ok) {
        fprintf(stderr, "the files of a test cannot be made\n");
        abort();
    }
}

static FILE *open_file(const struct tls_files *files, const char *name, const char *ending)
{
    char path[SCRATCH_PATH_MAX], full[64];
    snprintf(full, sizeof full, "%s%s", name, ending);
    scratch_join(path, files->directory, full);
    FILE *file = fopen(path, "wb");
    require(file != NULL);
    return file;
}

void tls_files_write(const struct tls_files *files, const char *name, const char *text)
{
    FILE *file = open_file(files, name, "");
    require(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void write_key(const struct tls_files *files, const char *name, EVP_PKEY *key,
                      const char *passphrase)
{
    FILE *file = open_file(files, name, ".key");
    require(PEM_write_PrivateKey(file, key, passphrase != NULL ? EVP_aes_128_cbc() : NULL,
                                 (const unsigned char *)passphrase,
                                 passphrase != NULL ? (int)strlen(passphrase) : 0, NULL,
                                 NULL) == 1);
    fclose(file);
}

static void write_cert(const struct tls_files *files, const char *name, X509 *cert)
{
    FILE *file = open_file(files, name, ".pem");
    require(PEM_write_X509(file, cert) == 1);
    fclose(file);
}

/* A certificate of `key` that was valid until `end_seconds` from now, signed by `issuer`, or by
 * itself if that is NULL. */
static X509 *create_cert(const char *name, EVP_PKEY *key, long end_seconds, X509 *issuer,
                         EVP_PKEY *issuer_key)
{
    X509 *cert = X509_new();
    bool is_own = issuer == NULL;
    require(cert != NULL && X509_set_version(cert, 2) == 1);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    require(X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                                       (const unsigned char *)name, -1, -1, 0) == 1);
    require(X509_set_issuer_name(cert, X509_get_subject_name(is_own ? cert : issuer)) == 1);
    require(X509_gmtime_adj(X509_getm_notBefore(cert), -2L * HOUR_SECONDS) != NULL);
    require(X509_gmtime_adj(X509_getm_notAfter(cert), end_seconds) != NULL);
    require(X509_set_pubkey(cert, key) == 1);
    if (is_own) {
        X509_EXTENSION *extension =
            X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
        require(extension != NULL && X509_add_ext(cert, extension, -1) == 1);
        X509_EXTENSION_free(extension);
    }
    require(X509_sign(cert, is_own ? key : issuer_key, EVP_sha256()) > 0);
    return cert;
}

/* An authority `authority`.pem, and `name` of it. */
static void create_client(const struct tls_files *files, const char *authority, const char *name)
{
    EVP_PKEY *authority_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
    require(authority_key != NULL && key != NULL);
    X509 *root = create_cert(authority, authority_key, HOUR_SECONDS, NULL, NULL);
    X509 *cert = create_cert(name, key, HOUR_SECONDS, root, authority_key);
    write_cert(files, authority, root);
    write_cert(files, name, cert);
    write_key(files, name, key, NULL);
    X509_free(cert);
    X509_free(root);
    EVP_PKEY_free(key);
    EVP_PKEY_free(authority_key);
}

static void write_bytes(const struct tls_files *files, const char *name, const char *ending,
                        struct bytes text)
{
    FILE *file = open_file(files, name, ending);
    require(fwrite(text.data, 1, text.len, file) == text.len && fclose(file) == 0);
}

static void create_server(const struct tls_files *files, const char *name)
{
    static const char *const hosts[] = { "localhost", "127.0.0.1" };
    struct self_signed_options options = { .hosts = hosts,
                                           .host_count = COUNT_OF(hosts),
                                           .days = 1,
                                           .now_ms = clock_wall_ms(&clock_system) };
    struct arena *arena = arena_create();
    struct bytes cert, key;
    self_signed_create(arena, &options, &cert, &key);
    write_bytes(files, name, ".pem", cert);
    write_bytes(files, name, ".key", key);
    arena_destroy(arena);
}

static EVP_PKEY *read_key(const struct tls_files *files, const char *name)
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, files->directory, name);
    FILE *file = fopen(path, "rb");
    require(file != NULL);
    EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    fclose(file);
    require(key != NULL);
    return key;
}

static void create_refused(const struct tls_files *files)
{
    EVP_PKEY *key = read_key(files, "server.key"), *small = EVP_RSA_gen(SMALL_KEY_BITS);
    require(small != NULL);
    X509 *expired = create_cert("expired", key, -HOUR_SECONDS, NULL, NULL);
    X509 *small_cert = create_cert("small", small, HOUR_SECONDS, NULL, NULL);
    write_cert(files, "expired", expired);
    write_key(files, "encrypted", key, "a passphrase");
    write_cert(files, "small", small_cert);
    write_key(files, "small", small, NULL);
    X509_free(small_cert);
    X509_free(expired);
    EVP_PKEY_free(small);
    EVP_PKEY_free(key);
}

void tls_files_create(struct tls_files *files)
{
    scratch_create(files->directory);
    create_server(files, "server");
    create_server(files, "other");
    create_client(files, "ca", "client");
    create_client(files, "stranger-ca", "stranger");
    create_refused(files);
}

void tls_files_destroy(struct tls_files *files)
{
    scratch_destroy(files->directory);
}

struct tls_context *tls_files_context(const struct tls_files *files, const char *cert,
                                      const char *key, const char *client_ca)
{
    char cert_path[SCRATCH_PATH_MAX], key_path[SCRATCH_PATH_MAX], ca_path[SCRATCH_PATH_MAX];
    char message[TLS_CONTEXT_MESSAGE_MAX];
    scratch_join(cert_path, files->directory, cert);
    scratch_join(key_path, files->directory, key);
    if (client_ca != NULL)
        scratch_join(ca_path, files->directory, client_ca);
    struct tls_context_options options = { cert_path, key_path,
                                           client_ca != NULL ? ca_path : NULL };
    struct tls_context *context = tls_context_create(&options, message);
    if (context == NULL)
        fprintf(stderr, "%s\n", message);
    require(context != NULL);
    return context;
}
