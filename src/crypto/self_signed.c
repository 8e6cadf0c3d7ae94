/* self_signed.c -- see self_signed.h. Only a lack of memory can make this fail. */
#include "crypto/self_signed.h"
#include <arpa/inet.h>
#include <assert.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/clock.h"
#include "crypto/require.h"
#include "crypto/seal.h"

enum {
    SERIAL_SIZE = 16,
    LABEL_SIZE_MAX = 63,
    ADDRESS_SIZE_MAX = 16,
    COMMON_NAME_SIZE_MAX = 64, /* X.520's bound. */
    HOUR_SECONDS = 3600,
    DAY_SECONDS = 24 * HOUR_SECONDS,
    VERSION_3 = 2,
};

/* --- Names --- */

/* The address in network order and its size; 0 if the text is none. */
static int parse_address(const char *host, uint8_t out[ADDRESS_SIZE_MAX])
{
    if (inet_pton(AF_INET, host, out) == 1)
        return sizeof(struct in_addr);
    return inet_pton(AF_INET6, host, out) == 1 ? (int)sizeof(struct in6_addr) : 0;
}

static bool is_label(const char *text, size_t size)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return size > 0 && size <= LABEL_SIZE_MAX && strspn(text, letters) >= size && text[0] != '-' &&
           text[size - 1] != '-';
}

bool self_signed_accepts(const char *host)
{
    uint8_t address[ADDRESS_SIZE_MAX];
    if (parse_address(host, address) > 0)
        return true;
    if (strlen(host) > SELF_SIGNED_HOST_SIZE_MAX)
        return false;
    if (strncmp(host, "*.", 2) == 0)
        host += 2;
    for (;;) {
        size_t size = strcspn(host, ".");
        if (!is_label(host, size))
            return false;
        if (host[size] == '\0')
            return true;
        host += size + 1;
    }
}

static GENERAL_NAME *create_name(const char *host)
{
    uint8_t address[ADDRESS_SIZE_MAX];
    int address_size = parse_address(host, address);
    bool is_address = address_size > 0;
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *text = ASN1_STRING_type_new(is_address ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
    require(name != NULL && text != NULL);
    require(ASN1_STRING_set(text, is_address ? (const void *)address : host,
                            is_address ? address_size : (int)strlen(host)) == 1);
    GENERAL_NAME_set0_value(name, is_address ? GEN_IPADD : GEN_DNS, text);
    return name;
}

/* --- The certificate --- */

static void add_names(X509 *cert, const struct self_signed_options *options)
{
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    require(names != NULL);
    for (size_t i = 0; i < options->host_count; i++)
        require(sk_GENERAL_NAME_push(names, create_name(options->hosts[i])) > 0);
    require(X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1);
    GENERAL_NAMES_free(names);
}

static void add_extension(X509 *cert, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, cert, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    require(extension != NULL && X509_add_ext(cert, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

static void set_serial(X509 *cert)
{
    uint8_t bytes[SERIAL_SIZE];
    seal_random(bytes, sizeof bytes);
    bytes[0] = (uint8_t)((bytes[0] & 0x3F) | 0x40); /* Positive, and of full length. */
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    require(number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL);
    BN_free(number);
}

static void set_subject(X509 *cert, const char *host)
{
    X509_NAME *name = X509_get_subject_name(cert);
    const char *text = strlen(host) <= COMMON_NAME_SIZE_MAX ? host : "stator";
    require(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)text, -1,
                                       -1, 0) == 1);
    require(X509_set_issuer_name(cert, name) == 1);
}

/* Certificates have no years after 9999. */
static void set_time(ASN1_TIME *out, int64_t second)
{
    struct tm parts = clock_utc(second);
    require(ASN1_TIME_set(out, timegm(&parts)) != NULL);
}

static X509 *create_cert(const struct self_signed_options *options, EVP_PKEY *key)
{
    int64_t now = clock_second_of_ms(options->now_ms);
    X509 *cert = X509_new();
    require(cert != NULL && X509_set_version(cert, VERSION_3) == 1);
    set_serial(cert);
    set_subject(cert, options->hosts[0]);
    set_time(X509_getm_notBefore(cert), now - HOUR_SECONDS);
    set_time(X509_getm_notAfter(cert), now + (int64_t)options->days * DAY_SECONDS);
    require(X509_set_pubkey(cert, key) == 1);
    add_extension(cert, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(cert, NID_key_usage, "critical,digitalSignature");
    add_extension(cert, NID_ext_key_usage, "serverAuth");
    add_extension(cert, NID_subject_key_identifier, "hash");
    add_names(cert, options);
    require(X509_sign(cert, key, EVP_sha256()) > 0);
    return cert;
}

static struct bytes take_text(struct arena *arena, BIO *bio)
{
    char *text;
    long size = BIO_get_mem_data(bio, &text);
    require(size > 0);
    struct bytes copy = arena_copy(arena, bytes_of(text, (size_t)size));
    BIO_free(bio);
    return copy;
}

void self_signed_create(struct arena *arena, const struct self_signed_options *options,
                        struct bytes *cert, struct bytes *key)
{
    assert(options->host_count > 0 && options->host_count <= SELF_SIGNED_HOSTS_MAX);
    assert(options->days > 0 && options->days <= SELF_SIGNED_DAYS_MAX);
    EVP_PKEY *pair = EVP_EC_gen("P-256");
    require(pair != NULL);
    X509 *made = create_cert(options, pair);
    BIO *cert_text = BIO_new(BIO_s_mem()), *key_text = BIO_new(BIO_s_secmem());
    require(cert_text != NULL && key_text != NULL);
    require(PEM_write_bio_X509(cert_text, made) == 1);
    require(PEM_write_bio_PrivateKey(key_text, pair, NULL, NULL, 0, NULL, NULL) == 1);
    *cert = take_text(arena, cert_text);
    *key = take_text(arena, key_text);
    X509_free(made);
    EVP_PKEY_free(pair);
}
