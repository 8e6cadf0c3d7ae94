/* test_tls_context.c -- which files make a context, and the messages about the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "crypto/tls_context.h"
#include "tls_files.h"

static int create_files(void **state)
{
    struct tls_files *files = malloc(sizeof *files);
    tls_files_create(files);
    tls_files_write(files, "text", "no certificate\n");
    tls_files_write(files, "empty", "");
    tls_files_write(files, "damaged",
                    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    *state = files;
    return 0;
}

static int destroy_files(void **state)
{
    tls_files_destroy(*state);
    free(*state);
    return 0;
}

/* $ stands for the directory. NULL: it works. */
static const struct {
    const char *name, *cert, *key, *client_ca, *message;
} cases[] = {
    { "a pair", "server.pem", "server.key", NULL, NULL },
    { "a pair, and clients need certificates", "server.pem", "server.key", "ca.pem", NULL },
    { "a chain: what follows is of others", "chain", "server.key", NULL, NULL },
    { "key and certificate in one file", "both", "both", NULL, NULL },
    { "an expired certificate is warned of", "expired.pem", "server.key", NULL, NULL },
    { "no certificate file", "none", "server.key", NULL, "$/none: No such file or directory" },
    { "no key file", "server.pem", "none", NULL, "$/none: No such file or directory" },
    { "no file of authorities", "server.pem", "server.key", "none",
      "$/none: No such file or directory" },
    { "a directory", ".", "server.key", NULL, "$/.: Is a directory" },
    { "a file of something else", "text", "server.key", NULL,
      "$/text: there is no certificate in PEM format" },
    { "an empty file", "empty", "server.key", NULL,
      "$/empty: there is no certificate in PEM format" },
    { "a key as certificate", "server.key", "server.key", NULL,
      "$/server.key: there is no certificate in PEM format" },
    { "a certificate as key", "server.pem", "server.pem", NULL,
      "$/server.pem: there is no private key in PEM format" },
    { "a damaged certificate", "damaged", "server.key", NULL,
      "$/damaged: the certificate cannot be read" },
    { "a damaged certificate in the chain", "damaged-chain", "server.key", NULL,
      "$/damaged-chain: a certificate of the chain cannot be read" },
    { "the key of another", "server.pem", "other.key", NULL,
      "$/other.key: not the key of the certificate in $/server.pem" },
    { "an encrypted key", "server.pem", "encrypted.key", NULL,
      "$/encrypted.key: the key is encrypted; it must be without a passphrase" },
    { "a small key", "small.pem", "small.key", NULL,
      "$/small.pem: the certificate cannot be used: ee key too small" },
    { "a key as authority", "server.pem", "server.key", "server.key",
      "$/server.key: there is no certificate in PEM format" },
    { "a damaged authority", "server.pem", "server.key", "damaged",
      "$/damaged: a certificate cannot be read" },
    { "a file of the largest size", "largest", "server.key", NULL, NULL },
    { "one byte more", "larger", "server.key", NULL, "$/larger: larger than 1048576 bytes" },
};

/* `out` := the two files in a row, and then `padding` spaces. */
static void append(const struct tls_files *files, const char *out, const char *first,
                   const char *second, size_t size)
{
    char path[SCRATCH_PATH_MAX];
    const char *const names[] = { first, second };
    scratch_join(path, files->directory, out);
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char text[8192];
        scratch_join(path, files->directory, names[i]);
        FILE *from = fopen(path, "rb");
        assert_non_null(from);
        size_t read = fread(text, 1, sizeof text, from);
        assert_int_equal(fwrite(text, 1, read, to), read);
        fclose(from);
    }
    while ((size_t)ftell(to) < size)
        fputc('\n', to);
    fclose(to);
}

static void expand(char out[TLS_CONTEXT_MESSAGE_MAX], const char *pattern, const char *directory)
{
    size_t size = 0;
    for (; *pattern != '\0'; pattern++)
        size +=
            (size_t)(*pattern == '$'
                         ? snprintf(out + size, TLS_CONTEXT_MESSAGE_MAX - size, "%s", directory)
                         : snprintf(out + size, TLS_CONTEXT_MESSAGE_MAX - size, "%c", *pattern));
}

static void files_are_taken_or_refused_by_name_and_reason(void **state)
{
    const struct tls_files *files = *state;
    append(files, "chain", "server.pem", "ca.pem", 0);
    append(files, "damaged-chain", "server.pem", "damaged", 0);
    append(files, "both", "server.key", "server.pem", 0);
    append(files, "largest", "server.pem", "empty", TLS_CONTEXT_FILE_SIZE_MAX);
    append(files, "larger", "server.pem", "empty", TLS_CONTEXT_FILE_SIZE_MAX + 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char cert[SCRATCH_PATH_MAX], key[SCRATCH_PATH_MAX], client_ca[SCRATCH_PATH_MAX] = "";
        char message[TLS_CONTEXT_MESSAGE_MAX] = "", want[TLS_CONTEXT_MESSAGE_MAX] = "";
        scratch_join(cert, files->directory, cases[i].cert);
        scratch_join(key, files->directory, cases[i].key);
        if (cases[i].client_ca != NULL)
            scratch_join(client_ca, files->directory, cases[i].client_ca);
        const struct tls_context_options options = { cert, key, client_ca };
        struct tls_context *context = tls_context_create(&options, message);
        if ((context != NULL) != (cases[i].message == NULL))
            fail_msg("%s: '%s'", cases[i].name, message);
        if (cases[i].message != NULL)
            expand(want, cases[i].message, files->directory);
        if (strcmp(message, want) != 0)
            fail_msg("%s: '%s' instead of '%s'", cases[i].name, message, want);
        tls_context_release(context);
    }
}

static void a_file_that_may_not_be_read_is_named(void **state)
{
    const struct tls_files *files = *state;
    char cert[SCRATCH_PATH_MAX], key[SCRATCH_PATH_MAX];
    char message[TLS_CONTEXT_MESSAGE_MAX], want[TLS_CONTEXT_MESSAGE_MAX];
    scratch_join(cert, files->directory, "server.pem");
    /* Root may read everything, so the path goes through something that is no directory. */
    scratch_join(key, files->directory, "server.pem/key");
    const struct tls_context_options options = { cert, key, NULL };
    assert_null(tls_context_create(&options, message));
    snprintf(want, sizeof want, "%s: Not a directory", key);
    assert_string_equal(message, want);
}

static void a_context_lives_as_long_as_somebody_holds_it(void **state)
{
    struct tls_context *context = tls_files_context(*state, "server.pem", "server.key", NULL);
    assert_ptr_equal(tls_context_acquire(context), context);
    tls_context_release(context);
    assert_non_null(tls_context_ssl(context)); /* ASan would know if it were gone. */
    tls_context_release(context);
    tls_context_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_taken_or_refused_by_name_and_reason),
        cmocka_unit_test(a_file_that_may_not_be_read_is_named),
        cmocka_unit_test(a_context_lives_as_long_as_somebody_holds_it),
    };
    return cmocka_run_group_tests(tests, create_files, destroy_files);
}
