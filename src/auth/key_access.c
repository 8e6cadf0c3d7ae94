/* key_access.c -- see key_access.h. */
#include "auth/key_access.h"
#include <errno.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "base/byte_order.h"

/* The kernel's form of an ACL (linux/posix_acl_xattr.h): a version, then entries of a tag, the
 * permissions and an id, all little-endian. */
enum {
    ACL_VERSION = 2,
    ACL_HEAD_SIZE = 4,
    ACL_ENTRY_SIZE = 8,
    ACL_OWNER = 0x01,
    ACL_NAMED_USER = 0x02,
    ACL_MASK = 0x10,
    ACL_SIZE_MAX = 4096, /* Some 500 entries; a file with more is not a private one. */
};

static unsigned load_u16_le(const uint8_t *at)
{
    return (unsigned)at[0] | (unsigned)at[1] << 8;
}

/* The mask is ignored: an entry that it makes void today is one chmod away from counting. */
bool key_access_acl_is_private(struct bytes acl, uid_t user)
{
    if (acl.len < ACL_HEAD_SIZE || (acl.len - ACL_HEAD_SIZE) % ACL_ENTRY_SIZE != 0 ||
        load_u32_le(acl.data) != ACL_VERSION)
        return false;
    for (size_t i = ACL_HEAD_SIZE; i < acl.len; i += ACL_ENTRY_SIZE) {
        unsigned tag = load_u16_le(acl.data + i);
        unsigned permissions = load_u16_le(acl.data + i + 2);
        uid_t id = load_u32_le(acl.data + i + 4);
        bool is_ours = tag == ACL_OWNER || tag == ACL_MASK ||
                       (tag == ACL_NAMED_USER && (id == user || id == 0));
        if (!is_ours && permissions != 0)
            return false;
    }
    return true;
}

enum key_access key_access_of(int descriptor, uid_t other_owner)
{
    struct stat state;
    uint8_t acl[ACL_SIZE_MAX];
    if (fstat(descriptor, &state) != 0)
        return KEY_ACCESS_UNKNOWN;
    if (state.st_uid != 0 && state.st_uid != geteuid() && state.st_uid != other_owner)
        return KEY_ACCESS_FOREIGN;
    if ((state.st_mode & (S_IRWXG | S_IRWXO)) == 0)
        return KEY_ACCESS_OK;
    ssize_t size = fgetxattr(descriptor, "system.posix_acl_access", acl, sizeof acl);
    bool is_private = size > 0 && (state.st_mode & S_IRWXO) == 0 &&
                      key_access_acl_is_private(bytes_of(acl, (size_t)size), geteuid());
    return is_private ? KEY_ACCESS_OK : KEY_ACCESS_OTHERS;
}
