/* credential_file.h -- the keys that requests to other servers are signed with, from a file in the
 * form of ~/.aws/credentials. */
#ifndef STATOR_OUTBOUND_CREDENTIAL_FILE_H
#define STATOR_OUTBOUND_CREDENTIAL_FILE_H
#include "base/compiler.h"

enum {
    CREDENTIAL_FILE_SIZE_MAX = 64 * 1024,
    CREDENTIAL_SIZE_MAX = 128,
    CREDENTIAL_TOKEN_SIZE_MAX = 4096,
};

/* Secrets: the owner wipes it with explicit_bzero. */
struct credentials {
    char access_key[CREDENTIAL_SIZE_MAX + 1];
    char secret[CREDENTIAL_SIZE_MAX + 1];
    char token[CREDENTIAL_TOKEN_SIZE_MAX + 1]; /* "": none. */
};

/* Reads the profile [default]. Only the file's owner may have access to it. Returns what is wrong,
 * for people, or NULL. May wait for the disk. */
MUST_CHECK const char *credential_file_read(const char *path, struct credentials *out);

#endif
