/* key_file.h -- the access keys in their file, sealed under the master key.
 *
 * The file KEYS lies in the data directory, the master key does not: a copy of the data directory
 * gives nobody a secret, and a policy in it cannot be changed unnoticed. Whoever changes the file
 * holds its lock and replaces it as a whole, so that readers need no lock. Layout:
 * doc/disk-format.md, "Access keys".
 */
#ifndef STATOR_AUTH_KEY_FILE_H
#define STATOR_AUTH_KEY_FILE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "crypto/seal.h"

struct arena;
struct key_ring;
struct stat;

enum {
    KEY_FILE_SIZE_MAX = 64 * 1024 * 1024,
    KEY_FILE_MESSAGE_MAX = 512,
};

struct key_file {
    const char *directory; /* Borrowed. */
    uint8_t master[SEAL_KEY_SIZE];
};

/* The master key: 64 hexadecimal digits in a file outside of the directory, which only its owner
 * may open (key_access.h). False with one line for people. */
MUST_CHECK bool key_file_init(struct key_file *file, const char *directory, const char *master_path,
                              char message[KEY_FILE_MESSAGE_MAX]);

/* What the file holds; a file that is missing is an empty ring. `state` is that of the file as
 * read, or all zero. False with one line for people if it cannot be read or opened, or if others
 * than its owner may open it. */
MUST_CHECK bool key_file_read(struct arena *arena, const struct key_file *file,
                              struct key_ring *out, struct stat *state,
                              char message[KEY_FILE_MESSAGE_MAX]);

/* Is the file in the directory whole? Without its master key (`file` NULL) that is its form and its
 * checksum; with it, that it opens and can be read. True if there is none. False with one line for
 * people. */
MUST_CHECK bool key_file_verify(struct arena *arena, const char *directory,
                                const struct key_file *file, char message[KEY_FILE_MESSAGE_MAX]);

/* Waits for whoever changes the file now. The caller owes a key_file_unlock. -1 with one line for
 * people if that fails. Creates the directory if it is missing. */
MUST_CHECK int key_file_lock(const struct key_file *file, char message[KEY_FILE_MESSAGE_MAX]);
void key_file_unlock(int lock);
/* On disk when this returns true. The lock is held. */
MUST_CHECK bool key_file_write(struct arena *arena, const struct key_file *file,
                               const struct key_ring *ring, char message[KEY_FILE_MESSAGE_MAX]);

/* Where the file is, for whoever watches it. */
MUST_CHECK bool key_file_stat(const struct key_file *file, struct stat *out);

#endif
