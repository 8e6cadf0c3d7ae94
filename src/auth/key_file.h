/* key_file.h -- the access keys in their file, sealed under the master key.
 *
 * The file KEYS is in the data directory; the master key is not. So a copy of the data directory
 * reveals no secret, and nobody can change a policy in it unnoticed. A writer holds the lock and
 * replaces the whole file, so readers need no lock. Layout: doc/disk-format.md, "Access keys".
 *
 * Functions that fail give one line for people in `message`.
 */
#ifndef STATOR_AUTH_KEY_FILE_H
#define STATOR_AUTH_KEY_FILE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/bytes.h"
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

/* Reads the master key: 64 hexadecimal digits in a file outside of the directory that only its
 * owner may open. */
MUST_CHECK bool key_file_init(struct key_file *file, const char *directory, const char *master_path,
                              char message[KEY_FILE_MESSAGE_MAX]);

/* Reads the keys; a missing file is an empty ring. `state` is that of the file read, or all zero.
 * False if the file cannot be read or unsealed, or if not only its owner may open it. */
MUST_CHECK bool key_file_read(struct arena *arena, const struct key_file *file,
                              struct key_ring *out, struct stat *state,
                              char message[KEY_FILE_MESSAGE_MAX]);

/* True if the directory's file is intact, or missing. Without the master key (`file` NULL), checks
 * format and checksum; with it, unseals and parses the file. */
MUST_CHECK bool key_file_verify(struct arena *arena, const char *directory,
                                const struct key_file *file, char message[KEY_FILE_MESSAGE_MAX]);

/* Waits for the lock; release it with key_file_unlock. -1 on failure. Creates a missing directory.
 */
MUST_CHECK int key_file_lock(const struct key_file *file, char message[KEY_FILE_MESSAGE_MAX]);
/* The same for at most so long. If others hold the lock all the while, `*is_busy` is true. */
MUST_CHECK int key_file_lock_within(const struct key_file *file, int64_t wait_ms, bool *is_busy,
                                    char message[KEY_FILE_MESSAGE_MAX]);
void key_file_unlock(int lock);
/* Returns true once the keys are on disk. The caller holds the lock. */
MUST_CHECK bool key_file_write(struct arena *arena, const struct key_file *file,
                               const struct key_ring *ring, char message[KEY_FILE_MESSAGE_MAX]);

/* For callers that watch the file for changes. */
MUST_CHECK bool key_file_stat(const struct key_file *file, struct stat *out);

/* --- Who may open a file that holds keys: its owner alone ---
 *
 * The owner is root, this process's user, or one that the caller names. Group and others must have
 * no permissions. If the file has a POSIX ACL, the group's permissions are the ACL's mask and say
 * nothing, so the ACL is read: systemd passes credentials as files of root with an ACL entry for
 * the service's user. */

enum key_access {
    KEY_ACCESS_OK,
    KEY_ACCESS_OTHERS,  /* Not only its owner may open it. */
    KEY_ACCESS_FOREIGN, /* Somebody else owns it. */
    KEY_ACCESS_UNKNOWN, /* The check failed; see errno. */
};

/* `other_owner` may own the file too; (uid_t)-1: no other user. */
MUST_CHECK enum key_access key_access_of(int descriptor, uid_t other_owner);

/* True if an ACL, as the kernel stores it in system.posix_acl_access, lets only the file's owner,
 * root and `user` open the file. False for bytes that are no ACL. */
bool key_access_acl_is_private(struct bytes acl, uid_t user);

#endif
