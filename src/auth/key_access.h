/* key_access.h -- who may open a file that holds keys: its owner alone.
 *
 * The owner is root, this process's user, or one that the caller names. The bits of the mode for
 * group and others must be 0. On a file with a POSIX ACL the bits for the group are the ACL's mask
 * and say nothing by themselves, so the ACL is read: systemd hands credentials over as files of
 * root's with an entry for the service's user.
 */
#ifndef STATOR_AUTH_KEY_ACCESS_H
#define STATOR_AUTH_KEY_ACCESS_H
#include <stdbool.h>
#include <sys/types.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum key_access {
    KEY_ACCESS_OK,
    KEY_ACCESS_OTHERS,  /* Others than its owner may open it. */
    KEY_ACCESS_FOREIGN, /* Its owner is somebody else. */
    KEY_ACCESS_UNKNOWN, /* It cannot be found out; errno says why. */
};

/* `other_owner` may own the file too; (uid_t)-1: nobody else. */
MUST_CHECK enum key_access key_access_of(int descriptor, uid_t other_owner);

/* Does an ACL, as the kernel stores it in system.posix_acl_access, let only the file's owner, root
 * and `user` open the file? False for bytes that are no ACL. */
bool key_access_acl_is_private(struct bytes acl, uid_t user);

#endif
